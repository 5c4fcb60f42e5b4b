"""Sorting functions: kernels of the core, which are always stable.

Note [Order of NaN and zeros]
    NaN counts as larger than any number, as in `argmax` and `searchsorted`: it comes last in ascending order
    and first in descending order. -0.0 and 0.0 are equal, so that they keep the order they came in.

References
----------
Array API standard 2025.12, "Sorting Functions".
"""

from __future__ import annotations

from stride0._base.shapes import normalize_axis
from stride0._chapters.data_types import check_array, check_bool, refuse_dtype
from stride0._core.array.array import Array
from stride0._core.calls.primitive import primitive
from stride0._core.ops.sort import sort_along

__all__ = ["argsort", "sort"]


@primitive
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that put an array in order.

    Parameters
    ----------
    x : Array
        Array with at least one axis, of bool or a real dtype.
    axis : int
        The axis to sort along.
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements must keep their order, in descending order too.

    Returns
    -------
    Array
        New int64 array of the shape of `x`.

    Raises
    ------
    AxisError
        If there is no such axis.
    DTypeError
        If `x` is complex.

    Notes
    -----
    NaN counts as larger than any number: it comes last in ascending and first in descending order.

    References
    ----------
    Array API standard 2025.12, "Sorting Functions", ``argsort``.
    """
    return sort_along(*_checked("argsort", x, axis, descending, stable), True)


@primitive
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return a sorted copy of an array.

    Parameters
    ----------
    x : Array
        Array with at least one axis, of bool or a real dtype.
    axis : int
        The axis to sort along.
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements must keep their order, in descending order too. Only -0.0 and 0.0 are equal and
        can be told apart.

    Returns
    -------
    Array
        New array of the shape and dtype of `x`.

    Raises
    ------
    AxisError
        If there is no such axis.
    DTypeError
        If `x` is complex.

    Notes
    -----
    NaN counts as larger than any number: it comes last in ascending and first in descending order.

    References
    ----------
    Array API standard 2025.12, "Sorting Functions", ``sort``.
    """
    return sort_along(*_checked("sort", x, axis, descending, stable), False)


def _checked(op: str, x: object, axis: object, descending: object, stable: object) -> tuple[Array, int, bool]:
    found = check_array(op, x)
    if found.dtype.kind == "complex floating":
        refuse_dtype(op, found.dtype, "a real dtype; complex numbers have no order")
    axis, descending = normalize_axis(op, axis, found.ndim), check_bool(op, "descending", descending)
    check_bool(op, "stable", stable)
    return found, axis, descending
