"""Numbers of axes, keys and shapes along one axis, and arrays extended along it."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ShapeError
from stride0._base.shapes import Shape, normalize_axis
from stride0._core.array.array import Array


def axis_of(operation: str, x: Array, axis: Any) -> int:
    """Return the number of an axis, not negative."""
    if x.ndim == 0:
        raise ShapeError(operation, "x has no axes", accepts="pass an array with at least one axis")
    return normalize_axis(operation, axis, x.ndim)


def along(ndim: int, axis: int, key: Any) -> tuple[Any, ...]:
    """Return the key that selects along one axis: ``x[along(x.ndim, 1, slice(3))]``."""
    return (slice(None),) * axis + (key,) + (slice(None),) * (ndim - axis - 1)


def lane(x: Array, axis: int) -> Shape:
    """Return the shape in which values along one axis broadcast against an array."""
    return (*(1,) * axis, -1, *(1,) * (x.ndim - axis - 1))


def blank(x: Array, axis: int, count: int, value: float = 0.0) -> Array:
    """Return a filled array in the shape of `x`, except along one axis; by default it holds zeros."""
    return xp.full((*x.shape[:axis], count, *x.shape[axis + 1 :]), value, dtype=x.dtype)


def lengthened(x: Array, axis: int, n: int) -> Array:
    """Pad an array with zeros at the end of an axis, up to `n` elements."""
    missing = n - x.shape[axis]
    return xp.concat((x, blank(x, axis, missing)), axis=axis) if missing > 0 else x
