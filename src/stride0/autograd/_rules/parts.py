"""Building blocks of gradient rules: products with a cotangent, and adjoints of functions that move elements.

Every function here that computes has a rule in `INNER_VJP`, so that gradients can be differentiated
again.

Note [Zero factors]
    A product `g * d` of a cotangent and a derivative is 0 if `g` is 0, even if `d` is infinite or NaN.
    This masks only the value. Both derivatives, `d` and `g`, are kept: the cotangent of `x` in `x * x * x`
    is 0 only at 0. The derivative with respect to `d` is a product of `g` and a new cotangent, which may be
    infinite although `g` is 0. So that product is 0 if either factor is 0 (`multiply_nonzero`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.shapes import Axis, Shape, size_of
from stride0._chapters.elementwise import equal
from stride0._chapters.manipulation import broadcast_shapes, broadcast_to, reshape
from stride0._chapters.statistical import sum
from stride0._chapters.utility import every, some
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive
from stride0._core.elementwise.elementwise import conjugate, multiply_masked
from stride0._core.elementwise.functions import where
from stride0._core.index.index import put, unreduce
from stride0.autograd._tape.tape import LazyProduct

__all__ = [
    "conjugate",
    "count",
    "every",
    "kept",
    "product",
    "put",
    "reduced_axes",
    "some",
    "times",
    "unreduce",
]


# A cotangent times a factor, as the last step of a rule: the engine computes it and sums it to the operand's
# shape in one pass. The product is 0 wherever the cotangent is 0, even if the factor is infinite or NaN: a
# branch that `where` did not take has the cotangent 0, and must not contribute.
times = LazyProduct

# The same product, computed at once, for use within a larger expression.
product = multiply_masked


def reduced_axes(axis: Axis, ndim: int) -> Shape:
    """Return the axes that a reduction with this argument removes, as numbers from 0."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(k % ndim for k in axes)


def kept(shape: Shape, axis: Axis) -> Shape:
    """Return a shape with size 1 along the axes of a reduction."""
    axes = reduced_axes(axis, len(shape))
    return tuple(1 if k in axes else n for k, n in enumerate(shape))


def count(shape: Shape, axis: Axis) -> int:
    """Return the number of elements that a reduction combines into one."""
    return size_of([shape[k] for k in reduced_axes(axis, len(shape))])


@primitive
def multiply_nonzero(x1: Array, x2: Array) -> Array:
    """Return `x1 * x2`, and 0 where either factor is 0: Note [Zero factors]."""
    return multiply_masked(where(equal(x2, 0), 0, x1), x2)


# Rules of `dot_into`: `out` is the sum of a product `g * d`.
def _masked_x1(g: Array, x2: Any, x1_shape: Shape) -> LazyProduct:
    return times(broadcast_to(g, broadcast_shapes(g.shape, x1_shape)), conjugate(x2))


def _nonzero(g: Array, x: Array) -> Array:
    return multiply_nonzero(g, conjugate(x))


INNER_VJP: dict[str, dict[str, Callable[..., Any]]] = {
    "sum_into": {"x": lambda g, x_shape: broadcast_to(g, x_shape)},
    "dot_into": {"x1": _masked_x1, "x2": lambda g, x1: _nonzero(g, x1)},
    "multiply_masked": {"x1": _masked_x1, "x2": lambda g, x1: _nonzero(g, x1)},
    "multiply_nonzero": {"x1": lambda g, x2: _nonzero(g, x2), "x2": lambda g, x1: _nonzero(g, x1)},
    "unreduce": {"x": lambda g, x_shape, axis: reshape(sum(g, axis=axis), x_shape)},
    "put": {"g": lambda g, key: g[key]},
    "scatter_add": {"x": lambda g: g, "values": lambda g, key: g[key]},
    "watch": {"x": lambda g: g},
}
