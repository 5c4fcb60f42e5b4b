"""For tests: comparison of derivatives with finite differences, and test configurations of the library."""

from stride0._base.errors import hide_frames as _hide_frames
from stride0.testing._check_grad import check_grad
from stride0.testing._flags import flags

__all__ = ["check_grad", "flags"]

_hide_frames()
