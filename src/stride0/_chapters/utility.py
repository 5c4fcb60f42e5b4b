"""Utility functions."""

from __future__ import annotations

from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._base.shapes import Axis, normalize_axis, normalize_index
from stride0._chapters.manipulation import concat
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive
from stride0._core.call.checks import check_array
from stride0._core.elementwise.elementwise import copy, decided
from stride0._core.elementwise.functions import not_equal, subtract

__all__ = ["all", "any", "diff"]


@primitive
def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Tell whether all elements are true.

    Returns
    -------
    Array
        New bool array; True if there is no element.
    """


@primitive
def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Tell whether any element is true.

    Returns
    -------
    Array
        New bool array; False if there is no element.
    """


@primitive
def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: Array | None = None
) -> Array:
    """Return the differences of adjacent elements along an axis.

    Parameters
    ----------
    axis : int
        The axis.
    n : int
        The order of the differences: how often to take differences of the previous result.
    prepend, append : Array, optional
        Arrays to join to the ends of `x` first; their shapes equal the shape of `x` except along `axis`.

    Returns
    -------
    Array
        New array, shorter by `n` along `axis` (at least 0). For bool it tells whether neighbours differ.

    Raises
    ------
    ArgumentValueError
        If `n` is negative.
    ShapeError
        If `prepend` or `append` does not fit.
    """
    x = check_array("diff", x)
    axis = normalize_axis("diff", axis, x.ndim)
    n = normalize_index("diff", "n", n)
    if n < 0:
        raise ArgumentValueError("diff", "n must not be negative", [("n", str(n))])
    result = x
    if prepend is not None or append is not None:
        joined = []
        for name, part in (("prepend", prepend), ("x", x), ("append", append)):
            if part is None:
                continue
            shape = check_array("diff", part, name).shape
            if (
                shape[:axis] + shape[axis + 1 :] != x.shape[:axis] + x.shape[axis + 1 :]
                or len(shape) != x.ndim
            ):
                raise ShapeError(
                    "diff",
                    f"{name} does not fit x",
                    [("x", str(x.shape)), (name, str(shape))],
                    f"pass an array with the sizes of x on all axes except {axis}",
                )
            joined.append(part)
        result = concat(joined, axis=axis)
    subtraction = not_equal if result.dtype.kind == "bool" else subtract
    axes_before = (slice(None),) * axis
    for _ in range(n):
        if result.shape[axis] == 0:
            break
        result = subtraction(result[(*axes_before, slice(1, None))], result[(*axes_before, slice(-1))])
    return result if result is not x else copy(x)


def some(condition: Array) -> bool:
    """Return whether a condition is true for any element; for a batched array, in any example."""
    return decided(lambda x: bool(any(x)), condition)


def every(condition: Array) -> bool:
    """Return whether a condition is true for all elements; for a batched array, in all examples."""
    return decided(lambda x: bool(all(x)), condition)
