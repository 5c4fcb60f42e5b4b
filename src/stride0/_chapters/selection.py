"""Selection by rank: partial sorts, and `top_k` of the draft of the standard.

The order is the order of `sort`, except that NaN is last in descending order too. Equal elements keep
their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from stride0._base.errors import ArgumentValueError, counted, shown
from stride0._base.shapes import normalize_axis, normalize_index
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted, primitive
from stride0._core.call.checks import check_array
from stride0._core.memory import dtype as dt

__all__ = ["argpartition", "partition", "top_k"]

STORAGE: Final = (dt.float16, dt.bfloat16)


class TopK(NamedTuple):
    """The result of `top_k`."""

    values: Array
    indices: Array


@primitive
def argselect(x: Array, first: int, last: int, /, *, axis: int = -1, descending: bool = False) -> Array:
    """Return the indices of an argsort at the positions from `first` to `last`, in order."""


@primitive
def argpartition(x: Array, kth: int | Sequence[int], axis: int = -1) -> Array:
    """Return indices that put the elements of given ranks at their sorted positions.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype.
    kth : int or sequence of int
        The ranks, from ``-n`` to ``n - 1``.
    axis : int
        The axis to select along, of size ``n``.

    Returns
    -------
    Array
        New int64 array of the shape of `x`. Along the axis, the element of rank `kth` is at its sorted
        position; no element before it is larger, and no element after it is smaller. With several ranks, the
        elements from the lowest to the highest rank are sorted.

    Raises
    ------
    AxisError
        If the axis does not exist.
    OutOfBoundsError
        If a rank is out of bounds.
    DTypeError
        If `x` is complex.

    See Also
    --------
    top_k
    """


@intercepted
def partition(x: Array, kth: int | Sequence[int], axis: int = -1) -> Array:
    """Return a copy of an array with the elements of given ranks at their sorted positions.

    Parameters
    ----------
    x, kth, axis
        As for `argpartition`.

    Returns
    -------
    Array
        New array of the shape and dtype of `x`: its elements at the indices of `argpartition`.

    Raises
    ------
    AxisError, OutOfBoundsError, DTypeError
        As for `argpartition`.
    """
    x = check_array("partition", x)
    return take_along_axis(x, argpartition(x, kth, axis), axis=axis)


@intercepted
def top_k(
    x: Array, k: int, /, *, axis: int | None = None, mode: Literal["largest", "smallest"] = "largest"
) -> TopK:
    """Return the largest or smallest elements, of an array or along an axis, and their indices.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype.
    k : int
        The number of elements, from 0 to the size of the axis.
    axis : int, optional
        The axis to select along; by default, all elements in C order.
    mode : {"largest", "smallest"}
        Whether to return the largest or the smallest elements.

    Returns
    -------
    values : Array
        New array of the shape of `x`, with size `k` along the axis, or of shape ``(k,)`` without an axis. The
        largest elements start with the largest, the smallest with the smallest.
    indices : Array
        New int64 array of the same shape: the indices of the elements along the axis, or in C order. Among
        equal elements, lower indices come first.

    Raises
    ------
    ArgumentValueError
        If `k` is negative or larger than the axis, or if `mode` is unknown.
    AxisError
        If the axis does not exist.
    DTypeError
        If `x` is complex.

    Notes
    -----
    NaN is selected only if there are not enough numbers, in both modes, as in NumPy. The draft of the
    standard leaves the order and NaN to the library. Strict mode accepts the function only within
    ``testing.flags(api_version="draft")``.
    """
    x = check_array("top_k", x)
    if mode not in ("largest", "smallest"):
        raise ArgumentValueError("top_k", f"unknown mode {shown(mode)}", (), "pass 'largest' or 'smallest'")
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    at, count = normalize_axis("top_k", axis, x.ndim), normalize_index("top_k", "k", k)
    if not 0 <= count <= x.shape[at]:
        raise ArgumentValueError(
            "top_k", f"k is {count}, the axis has {counted(x.shape[at], 'element')}", [("x", str(x.shape))]
        )
    indices = argselect(x, 0, count, axis=at, descending=mode == "largest")
    return TopK(take_along_axis(x, indices, axis=at), indices)
