"""What gradient rules are built from: products with a cotangent, and the adjoints of moving elements.

Every function here that computes has a rule of its own in `INNER_VJP`, so that gradients can be differentiated
again.
"""

from __future__ import annotations

from typing import Any

from stride0._core.array import Array, add_at, conj, multiply_masked, primitive
from stride0._creation import zeros
from stride0._manipulation import broadcast_to, reshape
from stride0.autograd._tape import Product

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None

# A cotangent times a factor, as the last step of a rule: the engine sums it into the shape of the operand, in
# one pass. The product is zero wherever the cotangent is, even where the factor is infinite or NaN: what
# `where` did not take has the cotangent zero, and nothing of it may come through.
times = Product

# The same within a larger expression, evaluated.
product = multiply_masked


def conjugate(x: Any) -> Any:
    """Return the complex conjugate; what is real comes back as it is."""
    if isinstance(x, Array):
        return conj(x) if x.dtype.kind == "complex floating" else x
    return x.conjugate()


def reduced_axes(axis: Axis, ndim: int) -> Shape:
    """Return the axes that a reduction with this argument takes away, none of them negative."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(k % ndim for k in axes)


def kept(shape: Shape, axis: Axis) -> Shape:
    """Return a shape with size 1 along the axes of a reduction."""
    axes = reduced_axes(axis, len(shape))
    return tuple(1 if k in axes else n for k, n in enumerate(shape))


def count(shape: Shape, axis: Axis) -> int:
    """Return how many elements a reduction combines into one."""
    total = 1
    for k in reduced_axes(axis, len(shape)):
        total *= shape[k]
    return total


def unreduce(x: Array, shape: Shape, axis: Axis) -> Array:
    """Return what a reduction of an array of `shape` left, stretched back to that shape: a view."""
    return broadcast_to(reshape(x, kept(shape, axis)) if axis is not None else x, shape)


@primitive
def put(g: Array, shape: Shape, key: Any) -> Array:
    """Return zeros of `shape` to whose elements `[key]` those of `g` were added: the adjoint of indexing."""
    out = zeros(shape, dtype=g.dtype)
    add_at(out, key, g)
    return out


INNER_VJP = {
    "sum_into": {"x": lambda g, x_shape: broadcast_to(g, x_shape)},
    "dot_into": {
        "x1": lambda g, x2: times(g, conjugate(x2)),
        # The cotangent that was the first factor still decides what comes through.
        "x2": lambda g, x1: times(conjugate(x1), g),
    },
    "multiply_masked": {
        "x1": lambda g, x2: times(g, conjugate(x2)),
        "x2": lambda g, x1: times(conjugate(x1), g),
    },
    "put": {"g": lambda g, key: g[key]},
    "watch": {"x": lambda g: g},
}
