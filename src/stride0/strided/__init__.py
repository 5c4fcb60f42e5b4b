"""The memory layout of arrays: strides, offset in the storage, and views with given strides.

Strides and offsets are in elements.
"""

from stride0.strided._functions import *  # noqa: F403
from stride0.strided._functions import __all__ as __all__
