"""The FFT extension of the standard: `numpy.fft` on views of our memory.

References
----------
Array API standard 2025.12, "FFT Extension".
"""

from stride0.fft._functions import *  # noqa: F403
from stride0.fft._functions import __all__ as __all__
