"""Differentiable forms of functions of `scipy.ndimage`.

References
----------
SciPy 1.17, `scipy.ndimage`.

Examples
--------
>>> from stride0.autograd.scipy import ndimage
>>> x = xp.asarray([0.0, 0.0, 3.0, 0.0, 0.0])
>>> xp.autograd.grad(lambda x: ndimage.uniform_filter1d(x, 3)[1])(x).round(6)
Array([0.333333, 0.333333, 0.333333, 0.      , 0.      ], dtype=float64)
"""

from stride0.autograd.scipy._derivatives import (
    gaussian_gradient_magnitude,
    gaussian_laplace,
    generic_gradient_magnitude,
    generic_laplace,
    laplace,
    prewitt,
    sobel,
)
from stride0.autograd.scipy._images import (
    distance_transform_bf,
    distance_transform_edt,
    fourier_ellipsoid,
    fourier_gaussian,
    fourier_shift,
    fourier_uniform,
    generic_filter,
    generic_filter1d,
    geometric_transform,
    rotate,
    vectorized_filter,
)
from stride0.autograd.scipy._measurements import (
    center_of_mass,
    extrema,
    labeled_comprehension,
    maximum,
    mean,
    median,
    minimum,
    standard_deviation,
    sum,
    sum_labels,
    variance,
)
from stride0.autograd.scipy._morphology import (
    black_tophat,
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    morphological_gradient,
    morphological_laplace,
    white_tophat,
)
from stride0.autograd.scipy._ranks import (
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    rank_filter,
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
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "distance_transform_bf",
    "distance_transform_edt",
    "extrema",
    "fourier_ellipsoid",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_filter",
    "generic_filter1d",
    "generic_gradient_magnitude",
    "generic_laplace",
    "geometric_transform",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "labeled_comprehension",
    "laplace",
    "map_coordinates",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "standard_deviation",
    "sum",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "variance",
    "vectorized_filter",
    "white_tophat",
    "zoom",
]
