"""The chapter "Indexing Functions"."""

from __future__ import annotations

from stride0._core.array.array import Array
from stride0._core.call.binding import primitive

__all__ = ["take", "take_along_axis"]


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
