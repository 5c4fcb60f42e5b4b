"""Differentiable forms of functions of `scipy.signal`.

Examples
--------
>>> from stride0.autograd.scipy import signal
>>> b, a, x = xp.asarray([1.0]), xp.asarray([1.0, -0.5]), xp.ones(3)
>>> xp.autograd.grad(lambda x: xp.sum(signal.lfilter(b, a, x)))(x)
Array([1.75, 1.5 , 1.  ], dtype=float64)
"""

from stride0.autograd.scipy import (
    _convolution,
    _designs,
    _polynomials,
    _recursive,
    _resampling,
    _spectral,
    _transforms,
    _waveforms,
)
from stride0.autograd.scipy._convolution import *  # noqa: F403
from stride0.autograd.scipy._designs import *  # noqa: F403
from stride0.autograd.scipy._polynomials import *  # noqa: F403
from stride0.autograd.scipy._recursive import *  # noqa: F403
from stride0.autograd.scipy._resampling import *  # noqa: F403
from stride0.autograd.scipy._spectral import *  # noqa: F403
from stride0.autograd.scipy._transforms import *  # noqa: F403
from stride0.autograd.scipy._waveforms import *  # noqa: F403

__all__ = [
    *_convolution.__all__,
    *_designs.__all__,
    *_polynomials.__all__,
    *_recursive.__all__,
    *_resampling.__all__,
    *_spectral.__all__,
    *_transforms.__all__,
    *_waveforms.__all__,
]
