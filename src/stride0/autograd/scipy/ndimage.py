"""Differentiable forms of filters and interpolations of `scipy.ndimage`.

References
----------
SciPy 1.17, `scipy.ndimage`.
"""

from stride0.autograd.scipy._derivatives import (
    gaussian_gradient_magnitude,
    gaussian_laplace,
    laplace,
    prewitt,
    sobel,
)
from stride0.autograd.scipy._splines import (
    affine_transform,
    map_coordinates,
    shift,
    spline_filter,
    spline_filter1d,
    zoom,
)
from stride0.autograd.scipy._windows import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    uniform_filter,
    uniform_filter1d,
)

__all__ = [
    "affine_transform",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "laplace",
    "map_coordinates",
    "prewitt",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "uniform_filter",
    "uniform_filter1d",
    "zoom",
]
