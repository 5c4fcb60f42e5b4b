"""The chapter "Indexing Functions"."""

from __future__ import annotations

from stride0._base.errors import BroadcastError, DTypeError, ShapeError, counted
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0._core.array.array import empty as _empty
from stride0._core.array.interceptors import check_broadcasting
from stride0._core.array.views import restride, strides
from stride0._core.calls.primitive import primitive
from stride0._core.memory.dtype import int64
from stride0._core.ops.copy import iota
from stride0._core.ops.operands import as_array

__all__ = ["take", "take_along_axis"]


def _check_indices(operation: str, indices: object) -> Array:
    found = as_array(indices, operation)
    if "integer" not in found.dtype.kind:
        raise DTypeError(
            operation, f"Unsupported dtype {found.dtype.name} of indices", (), "indices take integer dtypes"
        )
    return found


@primitive
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Elements of an array at indices along an axis.

    Parameters
    ----------
    indices : Array
        Of an integer dtype and any shape. Negative indices count from the end.
    axis : int, optional
        The axis that is indexed; may be left out where `x` has one axis only.

    Returns
    -------
    Array
        A new array of the dtype of `x`, with the shape of `indices` in the place of the axis.

    Raises
    ------
    ShapeError
        If `x` has several axes and none is named, or `x` has none.
    """


@primitive
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Elements of an array at indices along an axis, with indices of their own for every other position.

    Parameters
    ----------
    indices : Array
        Of an integer dtype, with as many axes as `x`; except along `axis`, its shape broadcasts with
        that of `x`. Negative indices count from the end.
    axis : int
        The axis that is indexed. Default: the last.

    Returns
    -------
    Array
        A new array of the dtype of `x`; along `axis` it has the size of `indices`, elsewhere the size to
        which both broadcast.

    Raises
    ------
    ShapeError
        If the numbers of axes differ.
    """
    x = as_array(x, "take_along_axis")
    found = _check_indices("take_along_axis", indices)
    axis = normalize_axis("take_along_axis", axis, x.ndim)
    if x.ndim != found.ndim:
        raise ShapeError(
            "take_along_axis",
            f"indices have {counted(found.ndim, 'axis', 'axes')}, the array has {x.ndim}",
            (("x", str(x.shape)), ("indices", str(found.shape))),
            "as many axes in both",
        )
    lead = (x.shape[:axis] + x.shape[axis + 1 :], found.shape[:axis] + found.shape[axis + 1 :])
    if lead[0] != lead[1] and 0 not in lead[0] + lead[1]:
        pairs = [("x beside the axis", lead[0]), ("indices beside it", lead[1])]
        check_broadcasting("take_along_axis", pairs, tuple(map(max, *lead)))
    x_strides = list(strides(x))
    shape = list(x.shape)
    grid: list[Array] = []
    for other, (size, count) in enumerate(zip(x.shape, found.shape, strict=True)):
        if other == axis:
            grid.append(found)
            continue
        if size != count and 1 not in (size, count):
            raise BroadcastError("take_along_axis", [("x", x.shape), ("indices", found.shape)])
        # Where `indices` is larger, x is broadcast: a stride of 0 and no copy.
        if size == 1:
            x_strides[other], shape[other] = 0, count
        positions = _empty((shape[other],), int64)
        iota(positions, 0, 1)
        grid.append(
            restride(
                positions,
                tuple(shape[other] if k == other else 1 for k in range(x.ndim)),
                tuple(1 if k == other else 0 for k in range(x.ndim)),
            )
        )
    return restride(x, tuple(shape), tuple(x_strides))[tuple(grid)]
