"""Differentiable forms of functions of `scipy.signal`.

References
----------
SciPy 1.17, `scipy.signal`.
"""

from stride0.autograd.scipy._convolution import convolve, correlate, oaconvolve
from stride0.autograd.scipy._recursive import filtfilt, lfilter, lfilter_zi, sosfilt, sosfiltfilt
from stride0.autograd.scipy._resampling import detrend, resample_poly, savgol_filter, upfirdn

__all__ = [
    "convolve",
    "correlate",
    "detrend",
    "filtfilt",
    "lfilter",
    "lfilter_zi",
    "oaconvolve",
    "resample_poly",
    "savgol_filter",
    "sosfilt",
    "sosfiltfilt",
    "upfirdn",
]
