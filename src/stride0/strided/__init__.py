"""What lies beneath an array: its strides, its place in its storage, and views made by hand.

Strides and offsets are in elements.
"""

from stride0.strided._functions import *  # noqa: F403
from stride0.strided._functions import __all__ as __all__
