"""The FFT extension of the standard: pocketfft, as NumPy brings it, called from C.

References
----------
Array API standard 2025.12, "FFT Extension".
"""

from stride0.fft._functions import *  # noqa: F403
from stride0.fft._functions import __all__ as __all__
