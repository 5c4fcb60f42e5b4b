"""Differentiable forms of functions that SciPy computes with NumPy alone.

The modules have SciPy's names, the functions SciPy's parameters. Each function takes arrays, tracked or not,
and returns arrays. What a function does not support raises. SciPy is imported when a function needs it.
Functions of SciPy that compute with the functions of the namespace, `scipy.signal.fftconvolve` and
`scipy.integrate.trapezoid` for example, have gradients as they are and no counterpart here.

    >>> import stride0 as xp
    >>> from stride0.autograd import grad
    >>> from stride0.autograd.scipy import signal
    >>> b, a, x = xp.asarray([1.0]), xp.asarray([1.0, -0.5]), xp.ones(3)
    >>> grad(lambda x: xp.sum(signal.lfilter(b, a, x)))(x)
    Array([1.75, 1.5 , 1.  ], dtype=float64)
"""

from stride0._base.callers import FORMS as _FORMS
from stride0.autograd.scipy import fft, integrate, interpolate, linalg, ndimage, signal

# Functions of `scipy.linalg` that the namespace has under the same name.
_OWN = (
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "pinv",
    "qr",
    "solve",
    "svd",
)

for _module in (fft, integrate, interpolate, linalg, ndimage, signal):
    _part = _module.__name__.rpartition(".")[2]
    _FORMS.update({f"{_part}.{_name}": f"{_module.__name__}.{_name}" for _name in _module.__all__})
_FORMS.update({f"linalg.{_name}": f"stride0.linalg.{_name}" for _name in _OWN})

__all__ = ["fft", "integrate", "interpolate", "linalg", "ndimage", "signal"]
