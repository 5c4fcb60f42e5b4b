"""The memory that arrays own, and the freed blocks that wait to be used again (docs/design/memory.md)."""

from stride0._errors import hide_frames as _hide_frames
from stride0._memory import *  # noqa: F403
from stride0._memory import __all__ as __all__

_hide_frames()
