"""Searching functions, but for ``searchsorted`` (which sorts) and ``where`` (which is elementwise).

References
----------
Array API standard 2025.12, "Searching Functions".
"""

from __future__ import annotations

from ._core.array import Array, argreduce, reduce, restride
from ._core.array import nonzero as _nonzero
from ._data_types import check_array, check_bool, refuse_dtype
from ._errors import ShapeError
from ._manipulation import reshape
from ._shapes import normalize_axes, normalize_axis

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero"]


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
    result = argreduce(op, reshape(x, (x.size,)), 0, False)
    return restride(result, (1,) * x.ndim, (0,) * x.ndim) if keepdims else result


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
