"""Differentiable forms of functions of `scipy.spatial`.

Examples
--------
>>> from stride0.autograd.scipy.spatial import distance
>>> x = xp.asarray([[0.0, 0.0], [3.0, 4.0]])
>>> xp.autograd.grad(lambda x: distance.pdist(x)[0])(x).round(6)
Array([[-0.6, -0.8],
       [ 0.6,  0.8]], dtype=float64)
"""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy import _distances as distance
from stride0.autograd.scipy._arguments import floating, item, same_dtype

__all__ = ["distance", "procrustes"]


def procrustes(data1: Any, data2: Any) -> tuple[Array, Array, Array]:
    """Align two sets of points by shift, rotation and scale: `scipy.spatial.procrustes`.

    Differentiable by `data1` and `data2`.
    """
    x, y = same_dtype(floating("procrustes", "data1", data1), floating("procrustes", "data2", data2))
    if x.ndim != 2 or x.shape != y.shape or x.size == 0:
        raise ShapeError(
            "procrustes",
            "the shapes do not fit",
            [("data1", f"{x.shape}"), ("data2", f"{y.shape}")],
            "pass two arrays of one shape (M, N)",
        )
    x, y = (a - xp.mean(a, axis=0) for a in (x, y))
    norms = [xp.linalg.vector_norm(a) for a in (x, y)]
    if not all(item(n) for n in norms):
        raise ArgumentValueError(
            "procrustes", "all points of one set are the same", accepts="pass at least two different points"
        )
    x, y = x / norms[0], y / norms[1]
    u, s, vh = xp.linalg.svd(xp.matmul(x.T, y), full_matrices=False)
    y = xp.matmul(y, xp.matmul(u, vh).T) * xp.sum(s)
    return x, y, xp.sum((x - y) ** 2)
