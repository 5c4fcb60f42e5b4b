"""Differentiable forms of functions of `scipy.signal`.

References
----------
SciPy 1.17, `scipy.signal`.

Examples
--------
>>> from stride0.autograd.scipy import signal
>>> b, a, x = xp.asarray([1.0]), xp.asarray([1.0, -0.5]), xp.ones(3)
>>> xp.autograd.grad(lambda x: xp.sum(signal.lfilter(b, a, x)))(x)
Array([1.75, 1.5 , 1.  ], dtype=float64)
"""

from stride0.autograd.scipy._convolution import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    deconvolve,
    oaconvolve,
    wiener,
)
from stride0.autograd.scipy._designs import (
    bessel,
    butter,
    cheby1,
    cheby2,
    ellip,
    firls,
    firwin2,
    group_delay,
    iirfilter,
)
from stride0.autograd.scipy._polynomials import bilinear, sos2tf, tf2sos, zpk2sos, zpk2tf
from stride0.autograd.scipy._ranks import medfilt, medfilt2d, order_filter
from stride0.autograd.scipy._recursive import (
    filtfilt,
    lfilter,
    lfilter_zi,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from stride0.autograd.scipy._resampling import detrend, resample_poly, savgol_filter, upfirdn
from stride0.autograd.scipy._spectral import (
    coherence,
    csd,
    periodogram,
    welch,
)
from stride0.autograd.scipy._transforms import czt, istft, spectrogram, stft
from stride0.autograd.scipy._waveforms import (
    chirp,
    cspline1d,
    cspline1d_eval,
    qspline1d,
    qspline1d_eval,
    sawtooth,
)

__all__ = [
    "bessel",
    "bilinear",
    "butter",
    "cheby1",
    "cheby2",
    "chirp",
    "coherence",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "cspline1d",
    "cspline1d_eval",
    "czt",
    "deconvolve",
    "detrend",
    "ellip",
    "filtfilt",
    "firls",
    "firwin2",
    "group_delay",
    "iirfilter",
    "istft",
    "lfilter",
    "lfilter_zi",
    "medfilt",
    "medfilt2d",
    "oaconvolve",
    "order_filter",
    "periodogram",
    "qspline1d",
    "qspline1d_eval",
    "resample_poly",
    "savgol_filter",
    "sawtooth",
    "sos2tf",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "spectrogram",
    "stft",
    "tf2sos",
    "upfirdn",
    "welch",
    "wiener",
    "zpk2sos",
    "zpk2tf",
]
