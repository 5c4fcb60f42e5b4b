"""For tests: comparison of derivatives, test configurations, and a replacement for array-api-strict."""

from stride0._base.errors import hide_frames as _hide_frames
from stride0.testing._array_api_strict import as_array_api_strict
from stride0.testing._check_grad import check_grad
from stride0.testing._flags import flags

__all__ = ["as_array_api_strict", "check_grad", "flags"]

_hide_frames()
