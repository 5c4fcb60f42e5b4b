"""`numpy.lib` on stride0 arrays."""

from stride0.numpy.lib import stride_tricks

__all__ = ["stride_tricks"]
