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
        Array of an integer dtype and any shape. Negative indices count from the end.
    axis : int, optional
        The axis to index; optional if `x` has only one axis.

    Returns
    -------
    Array
        A new array of the dtype of `x`, whose shape has the shape of `indices` instead of the axis.

    Raises
    ------
    ShapeError
        If `x` has several axes and `axis` is not given, or if `x` is 0-d.
    """


@primitive
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Elements of an array at indices along an axis, with separate indices for each position on other axes.

    Parameters
    ----------
    indices : Array
        Array of an integer dtype with as many axes as `x`; except along `axis`, its shape broadcasts with the
        shape of `x`. Negative indices count from the end.
    axis : int
        The axis to index; by default the last.

    Returns
    -------
    Array
        A new array of the dtype of `x`. Along `axis` it has the size of `indices`, along other axes the
        broadcast size.

    Raises
    ------
    ShapeError
        If the numbers of axes differ.
    """
