"""Differentiable forms of functions of `scipy.sparse`.

Examples
--------
>>> from stride0.autograd.scipy.sparse import linalg
>>> solve = lambda b: linalg.cg(xp.asarray([[2.0, 1.0], [1.0, 3.0]]), b, rtol=1e-12)[0][0]
>>> xp.autograd.grad(solve)(xp.ones(2)).round(6)
Array([ 0.6, -0.2], dtype=float64)
"""

from stride0.autograd.scipy import _sparse_systems as linalg

__all__ = ["linalg"]
