"""The FFT extension of the standard, as `_fft` defines it.

References
----------
Array API standard 2025.12, "FFT Extension".
"""

from stride0._fft import *  # noqa: F403
from stride0._fft import __all__ as __all__
