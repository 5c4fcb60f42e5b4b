"""Searching functions, except ``where``, which is elementwise."""

from __future__ import annotations

from typing import Literal

from stride0._base.shapes import Axis
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted"]


@primitive
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the largest element, of several equal ones the first.

    Returns
    -------
    Array
        New int64 array. A NaN counts as larger than any number.
    """


@primitive
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the smallest element, of several equal ones the first.

    Returns
    -------
    Array
        New int64 array. A NaN counts as smaller than any number.
    """


@primitive
def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Count the elements that are not zero.

    Returns
    -------
    Array
        New int64 array. NaN is not zero.
    """


@primitive
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Return where the elements are not zero.

    Returns
    -------
    tuple of Array
        For each axis a new int64 array of shape ``(n,)``: the indices of the ``n`` elements, in C order.

    Raises
    ------
    ShapeError
        If `x` is 0-d.
    """


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
    ArgumentValueError
        If `side` is another.

    Notes
    -----
    Elements are compared in the dtype that those of `x1` and `x2` promote to; the order is that of ``sort``:
    NaN is larger than any number, and -0.0 is equal to 0.0. Whether `x1` is in order is not checked.
    """
