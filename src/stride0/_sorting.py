"""Sorting functions: `numpy.sort` and `numpy.argsort` on views of our memory.

Note [Order of NaN and zeros]
    NaN counts as larger than any number, as in `argmax` and `searchsorted`: it comes last in ascending order
    and first in descending order. -0.0 and 0.0 are equal, so that they keep the order they came in.

References
----------
Array API standard 2025.12, "Sorting Functions".
"""

from __future__ import annotations

from typing import Any

from ._core.array import Array, copy, equal, logical_and, logical_not, primitive, reduce, signbit
from ._data_types import check_array, check_bool, refuse_dtype
from ._numpy import from_numpy, numpy, to_numpy
from ._shapes import normalize_axis

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
    x, axis, descending, stable = _checked("argsort", x, axis, descending, stable)
    a = to_numpy(x)
    if not descending:
        return from_numpy(numpy().argsort(a, axis=axis, stable=stable))
    # Backwards twice: equal elements stay in order, which reversing the ascending order would not give.
    indices = numpy().argsort(_backwards(a, axis), axis=axis, stable=stable)
    return from_numpy(numpy().subtract(a.shape[axis] - 1, _backwards(indices, axis), order="C"))


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
    x, axis, descending, _ = _checked("sort", x, axis, descending, stable)
    result = copy(x, None, "C")
    sort_in_place(result, axis, descending)
    return result


def sort_in_place(x: Array, axis: int, descending: bool = False) -> None:
    """Sort an array of our own, of any dtype, stably."""
    a = to_numpy(x)
    # Without zeros of both signs nobody can tell whether it was stable; the other way is some times faster.
    (_backwards(a, axis) if descending else a).sort(axis=axis, stable=_has_both_zeros(x))


def _has_both_zeros(x: Array) -> bool:
    if x.dtype.kind == "complex floating":
        return True
    if x.dtype.kind != "real floating":
        return False
    every = tuple(range(x.ndim))
    zero = equal(x, 0)
    if not reduce("any", zero, every, False, None):
        return False
    negative = signbit(x)
    return all(
        bool(reduce("any", logical_and(zero, sign), every, False, None))
        for sign in (negative, logical_not(negative))
    )


def _checked(
    op: str, x: object, axis: object, descending: object, stable: object
) -> tuple[Array, int, bool, bool]:
    found = check_array(op, x)
    if found.dtype.kind == "complex floating":
        refuse_dtype(op, found.dtype, "a real dtype; complex numbers have no order")
    return (
        found,
        normalize_axis(op, axis, found.ndim),
        check_bool(op, "descending", descending),
        check_bool(op, "stable", stable),
    )


def _backwards(a: Any, axis: int) -> Any:
    return a[(slice(None),) * axis + (slice(None, None, -1),)]
