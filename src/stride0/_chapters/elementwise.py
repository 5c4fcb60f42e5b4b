"""The chapter "Element-wise Functions": all functions are compiled, most of them generated from the table."""

from __future__ import annotations

from stride0._core.ops import functions as _functions
from stride0._core.ops.functions import *  # noqa: F403

__all__ = list(_functions.__all__)
