"""Searching functions, except ``where``, which is elementwise.

References
----------
Array API standard 2025.12, "Searching Functions".
"""

from __future__ import annotations

from typing import Literal

from stride0._base.errors import ArgumentValueError, OutOfBoundsError, ShapeError, counted, shown
from stride0._base.shapes import normalize_axes, normalize_axis
from stride0._chapters.data_types import KINDS, check_array, check_bool, iinfo, refuse_dtype
from stride0._chapters.manipulation import _broadcast, reshape
from stride0._core.array.array import Array
from stride0._core.array.views import restride, without_broadcast_axes
from stride0._core.calls.primitive import primitive
from stride0._core.exchange.convert import asarray
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, promote
from stride0._core.ops.copy import as_array, copy
from stride0._core.ops.functions import greater, less, where
from stride0._core.ops.index import gather
from stride0._core.ops.index import nonzero as _nonzero
from stride0._core.ops.reduce import argreduce, reduce
from stride0._core.ops.sort import search_among

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted"]


@primitive
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the largest element, of several equal ones the first.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype.
    axis : int, optional
        The axis to search along; by default `x` is searched as if flattened in C order.
    keepdims : bool
        Whether to keep the searched axes, with size 1.

    Returns
    -------
    Array
        New int64 array. A NaN counts as larger than any number.

    Raises
    ------
    ShapeError
        If there is no element to choose from.
    DTypeError
        If `x` is complex.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``argmax``.
    """
    return _search("argmax", x, axis, keepdims)


@primitive
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the smallest element, of several equal ones the first.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype.
    axis : int, optional
        The axis to search along; by default `x` is searched as if flattened in C order.
    keepdims : bool
        Whether to keep the searched axes, with size 1.

    Returns
    -------
    Array
        New int64 array. A NaN counts as smaller than any number.

    Raises
    ------
    ShapeError
        If there is no element to choose from.
    DTypeError
        If `x` is complex.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``argmin``.
    """
    return _search("argmin", x, axis, keepdims)


def _search(op: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    x = check_array(op, x)
    keepdims = check_bool(op, "keepdims", keepdims)
    if x.dtype.kind == "complex floating":
        refuse_dtype(op, x.dtype, "a real dtype; complex numbers have no order")
    if axis is not None:
        axis = normalize_axis(op, axis, x.ndim)
    if (x.size if axis is None else x.shape[axis]) == 0:
        place = "x" if axis is None else f"axis {axis}"
        raise ShapeError(op, f"{place} has no elements to choose from", [("x", str(x.shape))])
    if axis is not None:
        return argreduce(op, x, axis, keepdims)
    base = without_broadcast_axes(x, tuple(range(x.ndim)))
    result = argreduce(op, reshape(base, (base.size,)), 0, False)
    if base.size != x.size:
        # Along broadcast axes the first of the equal elements is at index 0; the others keep their order.
        result = asarray(_flat_index(int(result), base.shape, x.shape), dtype=result.dtype)
    return restride(result, (1,) * x.ndim, (0,) * x.ndim) if keepdims else result


def _flat_index(index: int, shape: tuple[int, ...], target: tuple[int, ...]) -> int:
    """Return a flat index into `shape` as one into `target`, longer along axes where `shape` has size 1."""
    out, stride = 0, 1
    for size, full in zip(reversed(shape), reversed(target), strict=True):
        out += index % size * stride
        index //= size
        stride *= full
    return out


@primitive
def count_nonzero(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Count the elements that are not zero.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New int64 array. NaN is not zero.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``count_nonzero``.
    """
    x = check_array("count_nonzero", x)
    axes = normalize_axes("count_nonzero", axis, x.ndim)
    return reduce("count_nonzero", x, axes, check_bool("count_nonzero", "keepdims", keepdims), None)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Return where the elements are not zero.

    Parameters
    ----------
    x : Array
        Array with at least one axis, of any dtype.

    Returns
    -------
    tuple of Array
        For each axis a new int64 array of shape ``(n,)``: the indices of the ``n`` elements, in C order.

    Raises
    ------
    ShapeError
        If `x` is 0-d.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``nonzero``.
    """
    x = check_array("nonzero", x)
    if x.ndim == 0:
        raise ShapeError(
            "nonzero", "x must have at least one axis", [("x", "()")], "A 0-d array has no indices."
        )
    return _nonzero(x)


@primitive
def searchsorted(
    x1: Array,
    x2: Array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    """Find where in a sorted array elements would have to be put to keep it sorted.

    Parameters
    ----------
    x1 : Array
        Array of one axis, of bool or a real dtype, in ascending order unless there is a `sorter`.
    x2 : Array, int or float
        The elements to insert, of bool or a real dtype.
    side : {"left", "right"}
        Whether an element goes before those of `x1` that are equal to it, or behind them.
    sorter : Array, optional
        Indices that put `x1` in ascending order, as from ``argsort``: of the shape of `x1` and an integer
        dtype.

    Returns
    -------
    Array
        New int64 array of the shape of `x2`: indices from 0 to the number of elements of `x1`.

    Raises
    ------
    ShapeError
        If `x1` has not one axis, or `sorter` not its shape.
    DTypeError
        If a dtype is complex, or that of `sorter` not integer.
    OutOfBoundsError
        If an index in `sorter` is out of bounds.

    Notes
    -----
    Elements are compared in the dtype that those of `x1` and `x2` promote to; the order is that of ``sort``:
    NaN is larger than any number, and -0.0 is equal to 0.0. Whether `x1` is in order is not checked.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``searchsorted``.
    """
    op = "searchsorted"
    x1 = check_array(op, x1, "x1")
    beyond = _beyond(x1, x2)
    wanted = as_array(0 if beyond else x2, op, x1.dtype)
    for name, x in (("x1", x1), ("x2", wanted)):
        if x.dtype.kind == "complex floating":
            refuse_dtype(op, x.dtype, "a real dtype; complex numbers have no order", name)
    if x1.ndim != 1:
        raise ShapeError(op, "x1 must have one axis", [("x1", str(x1.shape))])
    if not isinstance(side, str) or side not in ("left", "right"):
        raise ArgumentValueError(op, f"unknown side {shown(side)}", (), "side must be 'left' or 'right'.")
    if sorter is not None:
        x1 = _put_in_order(x1, sorter)
    if beyond:
        return as_array(x1.size if beyond > 0 else 0, op, dt.int64)
    dtype = promote(x1.dtype, wanted.dtype)
    integral = KINDS["integral"]
    mixed = x1.dtype.kind in integral and wanted.dtype.kind in integral and dtype.kind not in integral
    if mixed:
        # uint64 and a signed dtype: float64 would make neighbours equal. Values outside x1's dtype are beyond
        # its ends.
        dtype = x1.dtype
    sought = wanted if wanted.dtype is dtype else copy(wanted, dtype)
    places = search_among(_as_dtype(x1, dtype), sought, side == "right")
    if mixed:
        places = where(less(wanted, iinfo(dtype).min), 0, places)
        places = where(greater(wanted, iinfo(dtype).max), x1.size, places)
    return places


def _beyond(x: Array, number: object) -> int:
    """Return 1 or -1 for a Python integer too large or too small for the dtype of `x`, else 0."""
    if isinstance(number, bool) or not isinstance(number, int) or x.dtype.kind not in KINDS["integral"]:
        return 0
    limits = iinfo(x.dtype)
    return int(number > limits.max) - int(number < limits.min)


def _as_dtype(x: Array, dtype: DType) -> Array:
    """Return an array of one axis in another dtype; a broadcast one remains one."""
    if x.dtype is dtype:
        return x
    stored = without_broadcast_axes(x, (0,))
    return _broadcast(copy(stored, dtype), x.shape)


def _put_in_order(x: Array, sorter: Array) -> Array:
    op = "searchsorted"
    sorter = check_array(op, sorter, "sorter")
    if sorter.dtype.kind not in KINDS["integral"]:
        refuse_dtype(op, sorter.dtype, "an integer dtype", "sorter")
    if sorter.shape != x.shape:
        shapes = [("x1", str(x.shape)), ("sorter", str(sorter.shape))]
        raise ShapeError(op, "sorter must have the shape of x1", shapes)
    if not x.size:
        return x
    stored = without_broadcast_axes(sorter, (0,))
    least, most = (int(reduce(name, stored, (0,), False, None)) for name in ("min", "max"))
    if least < 0 or most >= x.size:
        bad = least if least < 0 else most
        raise OutOfBoundsError(op, f"index {bad} in sorter is out of bounds for {counted(x.size, 'element')}")
    if without_broadcast_axes(x, (0,)).size < x.size:
        return x
    return _broadcast(gather(x, copy(stored, dt.int64), 0), x.shape)
