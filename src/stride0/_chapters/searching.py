"""Searching functions, except ``where``, which is elementwise."""

from __future__ import annotations

from typing import Literal

from stride0._base.shapes import Axis
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted"]


@primitive
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the (first) largest element.

    Returns
    -------
    Array
        New int64 array. A NaN counts as larger than any number.
    """


@primitive
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the (first) smallest element.

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
    """Return the indices of the elements that are not zero.

    Returns
    -------
    tuple of Array
        For each axis, a new int64 array of shape ``(n,)``: the indices of the ``n`` elements, in C order.

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
    """Find the indices at which elements must be inserted into a sorted array to keep it sorted.

    Parameters
    ----------
    x1 : Array
        One-dimensional array of bool or a real dtype, in ascending order unless `sorter` is given.
    x2 : Array, int or float
        The elements to insert, of bool or a real dtype.
    side : {"left", "right"}
        Whether an element is inserted before (left) or after (right) equal elements of `x1`.
    sorter : Array, optional
        Indices that sort `x1` in ascending order, as from ``argsort``: an integer array with the shape of
        `x1`.

    Returns
    -------
    Array
        New int64 array of the shape of `x2`: indices from 0 to the number of elements of `x1`.

    Raises
    ------
    ShapeError
        If `x1` is not one-dimensional, or if `sorter` does not have its shape.
    DTypeError
        If a dtype is complex, or if the dtype of `sorter` is not an integer dtype.
    OutOfBoundsError
        If an index in `sorter` is out of bounds.
    ArgumentValueError
        If `side` is unknown.

    Notes
    -----
    Elements are compared in the promoted dtype of `x1` and `x2`, in the order of ``sort``: NaN is larger than
    any number, and -0.0 is equal to 0.0. The order of `x1` is not checked.
    """
