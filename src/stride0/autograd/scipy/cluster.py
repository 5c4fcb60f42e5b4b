"""Differentiable forms of functions of `scipy.cluster`.

Examples
--------
>>> from stride0.autograd.scipy.cluster import vq
>>> x, centers = xp.asarray([[0.0], [1.0], [5.0]]), xp.asarray([[0.0], [4.0]])
>>> xp.autograd.grad(lambda centers: xp.sum(vq.vq(x, centers)[1]))(centers)
Array([[-1.],
       [-1.]], dtype=float64)
"""

from stride0.autograd.scipy import _linkage as hierarchy
from stride0.autograd.scipy import _vq as vq

__all__ = ["hierarchy", "vq"]
