"""Differentiable forms of functions of `scipy.cluster`.

References
----------
SciPy 1.17, `scipy.cluster`.
"""

from stride0.autograd.scipy import _linkage as hierarchy
from stride0.autograd.scipy import _vq as vq

__all__ = ["hierarchy", "vq"]
