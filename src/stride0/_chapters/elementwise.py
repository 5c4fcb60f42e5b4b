"""The chapter "Element-wise Functions": all functions are compiled, most of them generated from the table."""

from __future__ import annotations

from stride0._core.elementwise.functions import *  # noqa: F403
from stride0._core.elementwise.functions import __all__ as __all__
