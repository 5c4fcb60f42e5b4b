"""The memory that arrays own, and the cached blocks (docs/design/memory.md)."""

from stride0._base.errors import hide_frames as _hide_frames
from stride0.memory._functions import *  # noqa: F403
from stride0.memory._functions import __all__ as __all__

_hide_frames()
