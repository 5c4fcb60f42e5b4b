"""Differentiable forms of functions of `scipy.ndimage`.

A stride0 array passed as `output` is written to, and the written values keep their gradient.

Examples
--------
>>> from stride0.autograd.scipy import ndimage
>>> x = xp.asarray([0.0, 0.0, 3.0, 0.0, 0.0])
>>> xp.autograd.grad(lambda x: ndimage.uniform_filter1d(x, 3)[1])(x).round(6)
Array([0.333333, 0.333333, 0.333333, 0.      , 0.      ], dtype=float64)
"""

from stride0.autograd.scipy import (
    _derivatives,
    _images,
    _measurements,
    _morphology,
    _ranks,
    _splines,
    _windows,
)
from stride0.autograd.scipy._derivatives import *  # noqa: F403
from stride0.autograd.scipy._images import *  # noqa: F403
from stride0.autograd.scipy._measurements import *  # noqa: F403
from stride0.autograd.scipy._morphology import *  # noqa: F403
from stride0.autograd.scipy._ranks import *  # noqa: F403
from stride0.autograd.scipy._splines import *  # noqa: F403
from stride0.autograd.scipy._windows import *  # noqa: F403

__all__ = [
    *_derivatives.__all__,
    *_images.__all__,
    *_measurements.__all__,
    *_morphology.__all__,
    *_ranks.__all__,
    *_splines.__all__,
    *_windows.__all__,
]
