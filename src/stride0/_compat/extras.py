"""Functions beyond the standard, implemented with functions of the standard.

Some array-agnostic libraries change their behaviour if a namespace has certain names: such names must not be
added here. xarray's reductions look for all functions that skip NaN, and use NumPy's if one is missing. The
functions behave like NumPy's, without warnings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from stride0._base.devices import DeviceLike
from stride0._base.errors import ArgumentValueError, ShapeError, counted, shown
from stride0._base.shapes import Axis, normalize_axes, normalize_index, normalize_shape, size_of
from stride0._chapters.creation import full, linspace, ones_like, zeros, zeros_like
from stride0._chapters.data_types import astype
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.manipulation import concat, expand_dims, permute_dims, reshape
from stride0._chapters.quantiles import mean_of_two
from stride0._chapters.searching import argmax, argmin, count_nonzero
from stride0._chapters.sorting import sort
from stride0._chapters.statistical import cumulative_prod, cumulative_sum, max, min, prod, sum
from stride0._chapters.utility import all, any, every, some
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted
from stride0._core.call.checks import (
    KINDS,
    as_real,
    as_scalar,
    check_array,
    check_dtype,
    check_fill,
    refuse_dtype,
)
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import assign, is_recorded
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, DTypeLike
from stride0.linalg import diagonal, vector_norm

__all__ = [
    "diag",
    "logspace",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "pad",
]


@intercepted
def diag(x: Array, /, *, k: int = 0) -> Array:
    """Return a diagonal of a matrix, or a matrix with a vector on a diagonal.

    Parameters
    ----------
    x : Array
        A matrix or a vector, of any dtype.
    k : int
        The diagonal: 0 is the main diagonal, positive numbers lie above it, negative numbers below.

    Returns
    -------
    Array
        For a matrix, a view of shape ``(n,)``; for a vector, a new matrix with zeros elsewhere.

    Raises
    ------
    ShapeError
        If `x` has neither one nor two axes.
    """
    x, k = check_array("diag", x), normalize_index("diag", "k", k)
    if x.ndim == 2:
        return diagonal(x, offset=k)
    if x.ndim != 1:
        raise ShapeError("diag", "x is neither a vector nor a matrix", [("x", str(x.shape))])
    size = x.size + (k if k >= 0 else -k)
    # Made like `x`, so that within `vmap` there is one for each example.
    flat = zeros_like(x, shape=(size * size,))
    start = k if k >= 0 else -k * size
    # Not by assignment to a view of the matrix, which would lose the gradient of the matrix.
    flat[start : start + x.size * (size + 1) : size + 1] = x
    return reshape(flat, (size, size))


@intercepted
def logspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int = 50,
    *,
    base: int | float = 10.0,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    endpoint: bool = True,
) -> Array:
    """Return numbers whose logarithms are evenly spaced, so that the ratio of neighbours is constant.

    Parameters
    ----------
    start, stop : int, float or complex
        The ends, as powers of `base`.
    base : int or float
        The base of the powers.
    dtype : DType, optional
        By default complex128 if an end is complex, otherwise float64. For an integer dtype the numbers are
        rounded towards zero.
    endpoint : bool
        Whether ``base**stop`` is the last number.

    Returns
    -------
    Array
        New array of shape ``(num,)``.
    """
    target = None if dtype is None else check_dtype("logspace", dtype)
    if not isinstance(base, Array):
        as_scalar("logspace", "base", base)
    powers = el.pow(base, linspace(start, stop, num, device=device, endpoint=endpoint))
    return powers if target is None else astype(powers, target, copy=False)


@intercepted
def pad(
    x: Array, pad_width: Any, mode: Literal["constant"] = "constant", *, constant_values: Any = 0
) -> Array:
    """Return an array padded along its axes.

    Parameters
    ----------
    pad_width : int, pair of int, or sequence of pairs of int
        The numbers of elements before and after: a pair for each axis, one pair for all, or one number.
    mode : {"constant"}
        NumPy has more modes.
    constant_values : bool, int, float, complex, pair of them, or sequence of pairs
        The padding values, in the same forms. Corners get the value of the last axis.

    Raises
    ------
    ArgumentValueError
        If `mode` is unknown, a width is negative, or the number of pairs differs from the number of axes.
    """
    x = check_array("pad", x)
    if mode != "constant":
        raise ArgumentValueError(
            "pad", f"unknown mode {shown(mode)}", (), "pass mode='constant', or call stride0.numpy.pad"
        )
    widths = [
        [normalize_index("pad", "pad_width", width) for width in pair]
        for pair in _pairs("pad_width", pad_width, x.ndim)
    ]
    if [pair for pair in widths if pair[0] < 0 or pair[1] < 0]:
        raise ArgumentValueError("pad", "a width must not be negative", [("pad_width", shown(pad_width))])
    normalize_shape("pad", tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)))
    values = _pairs("constant_values", constant_values, x.ndim)
    padded = [axis for axis in range(x.ndim) if widths[axis] != [0, 0]]
    result = x if padded else astype(x, x.dtype)  # padding an axis makes a copy
    for axis in padded:
        parts = [
            full(
                (*result.shape[:axis], number, *result.shape[axis + 1 :]),
                _padding(value, x.dtype),
                dtype=x.dtype,
            )
            for number, value in zip(widths[axis], values[axis], strict=True)
        ]
        result = concat((parts[0], result, parts[1]), axis=axis)
    return result


def _padding(value: Any, dtype: DType) -> Any:
    """Return the padding value as a scalar of `dtype`, if that can hold it."""
    checked, _ = check_fill("pad", "constant_values", value, dtype)
    if not isinstance(checked, Array):
        assign(zeros((), dtype=dtype), checked, "pad")
    return checked


def _pairs(name: str, given: Any, count: int) -> list[tuple[Any, Any]]:
    """Return a pair for each axis, given one value, one pair or a pair for each axis."""
    items = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(items) in (1, 2) and not {type(item) for item in items} & {tuple, list}:
        return [(items[0], items[-1])] * count
    pairs = [tuple(item) if isinstance(item, (tuple, list)) else (item,) for item in items]
    if len(pairs) == 1:
        pairs = pairs * count
    if len(pairs) != count or not {len(pair) for pair in pairs} <= {1, 2}:
        raise ArgumentValueError(
            "pad", f"{name} has to be a number, a pair or {counted(count, 'pair')}", [(name, shown(given))]
        )
    return [(pair[0], pair[-1]) for pair in pairs]


# --- without NaN


def _filled(operation: str, x: object, value: float) -> tuple[Array, Array | None]:
    """Return `x` with a number instead of NaN, and a mask of NaN; if there is no NaN, `x` and None."""
    given = check_array(operation, x)
    if not _may_be_nan(given):
        return given, None
    missing = el.isnan(given)
    if not is_recorded(given) and not any(missing):
        return given, None
    return el.where(missing, value, given), missing


def _may_be_nan(x: Array) -> bool:
    return x.dtype.kind in KINDS["real floating"] + KINDS["complex floating"]


def _count(x: Array, missing: Array | None, axis: Axis, keepdims: bool = False) -> Array:
    """Return the number of elements that are not missing, in the dtype of real results."""
    there = ones_like(x, dtype=dt.bool) if missing is None else el.logical_not(missing)
    return astype(count_nonzero(there, axis=axis, keepdims=keepdims), el.real(x).dtype)


def _floating(x: object, operation: str, dtype: DTypeLike | None) -> Array:
    given = check_array(operation, x)
    if dtype is not None:
        return astype(given, check_dtype(operation, dtype), copy=False)
    return given if given.dtype.kind.endswith("floating") else astype(given, dt.float64)


@intercepted
def nansum(x: Array, axis: Axis = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Return the sum of the elements that are not NaN; 0 if all are NaN."""
    return _total("nansum", sum, x, axis, dtype, keepdims, 0.0)


@intercepted
def nanprod(x: Array, axis: Axis = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Return the product of the elements that are not NaN; 1 if all are NaN."""
    return _total("nanprod", prod, x, axis, dtype, keepdims, 1.0)


def _total(
    operation: str,
    reduce: Callable[..., Array],
    x: object,
    axis: Axis,
    dtype: DTypeLike | None,
    keepdims: bool,
    value: float,
) -> Array:
    given = check_array(operation, x)
    # After a cast to integers there is no NaN.
    if not is_recorded(given) and (dtype is None or not _may_be_nan(given)):
        # The total is NaN if an element is. Usually there is no NaN, and this is the result.
        result = reduce(given, axis=axis, dtype=dtype, keepdims=keepdims)
        if not _may_be_nan(result) or not any(el.isnan(result)):
            return result
    return reduce(_filled(operation, given, value)[0], axis=axis, dtype=dtype, keepdims=keepdims)


@intercepted
def nancumsum(x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Return the cumulative sums of the elements, with NaN counted as 0."""
    filled = _filled("nancumsum", x, 0.0)[0]
    if axis is None:
        filled, axis = reshape(filled, (-1,)), 0
    return cumulative_sum(filled, axis=axis, dtype=dtype)


@intercepted
def nancumprod(x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Return the cumulative products of the elements, with NaN counted as 1."""
    filled = _filled("nancumprod", x, 1.0)[0]
    if axis is None:
        filled, axis = reshape(filled, (-1,)), 0
    return cumulative_prod(filled, axis=axis, dtype=dtype)


@intercepted
def nanmean(x: Array, axis: Axis = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Return the mean of the elements that are not NaN; NaN if all are NaN."""
    given = _floating(x, "nanmean", dtype)
    filled, missing = _filled("nanmean", given, 0.0)
    return el.divide(sum(filled, axis=axis, keepdims=keepdims), _count(given, missing, axis, keepdims))


@intercepted
def nanmedian(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Return the median of the elements that are not NaN; NaN if all are NaN.

    For an even number of elements it is the mean of the two middle elements.

    Returns
    -------
    Array
        New array.
    """
    given = _floating(x, "nanmedian", None)
    if given.dtype.kind == "complex floating":
        refuse_dtype("nanmedian", given.dtype, "a real-valued dtype")
    axes = normalize_axes("nanmedian", axis, given.ndim)
    kept = [k for k in range(given.ndim) if k not in axes]
    lead = tuple(given.shape[k] for k in kept)
    count = size_of([given.shape[k] for k in axes])
    if not count:
        result = full(lead, math.nan, dtype=given.dtype)
    else:
        # NaN comes last.
        ordered = sort(reshape(permute_dims(given, (*kept, *axes)), (*lead, count)), axis=-1)
        there = count_nonzero(el.logical_not(el.isnan(ordered)), axis=-1, keepdims=True)
        low, high = el.maximum(el.floor_divide(el.subtract(there, 1), 2), 0), el.floor_divide(there, 2)
        below, above = take_along_axis(ordered, low, axis=-1), take_along_axis(ordered, high, axis=-1)
        result = reshape(mean_of_two(below, above), lead)
    return expand_dims(result, axis=axes) if keepdims else result


@intercepted
def nanvar(
    x: Array, axis: Axis = None, dtype: DTypeLike | None = None, ddof: float = 0, *, keepdims: bool = False
) -> Array:
    """Return the variance of the elements that are not NaN."""
    deviations, freedom = _deviations("nanvar", x, axis, dtype, ddof)
    squares = el.multiply(el.real(deviations), el.real(deviations))
    if deviations.dtype.kind == "complex floating":
        squares = el.add(squares, el.multiply(el.imag(deviations), el.imag(deviations)))
    total = sum(squares, axis=axis, keepdims=keepdims)
    return el.divide(total, reshape(freedom, total.shape))


def _deviations(
    operation: str, x: Array, axis: Axis, dtype: DTypeLike | None, ddof: float
) -> tuple[Array, Array]:
    """Return deviations from the mean, 0 for NaN, and the divisor of their squares: NaN unless positive."""
    given, less = _floating(x, operation, dtype), as_real(operation, "ddof", ddof)
    filled, missing = _filled(operation, given, 0.0)
    count = _count(given, missing, axis, keepdims=True)
    deviations = el.subtract(filled, el.divide(sum(filled, axis=axis, keepdims=True), count))
    enough = el.subtract(count, less) > 0
    if is_recorded(deviations) and not every(enough):
        # A single element equals its mean: without this, its derivative would be 0 although the result is
        # NaN.
        deviations = el.where(enough, deviations, el.multiply(filled, math.nan))
    if missing is not None:
        deviations = el.where(missing, 0.0, deviations)
    return deviations, el.where(enough, el.subtract(count, less), math.nan)


@intercepted
def nanstd(
    x: Array, axis: Axis = None, dtype: DTypeLike | None = None, ddof: float = 0, *, keepdims: bool = False
) -> Array:
    """Return the standard deviation of the elements that are not NaN."""
    deviations, freedom = _deviations("nanstd", x, axis, dtype, ddof)
    # Squares of deviations may overflow or underflow. As in `std`, the gradient is 0 if all elements are
    # equal.
    size = vector_norm(deviations, axis=axis, keepdims=keepdims)
    return el.divide(size, el.sqrt(reshape(freedom, size.shape)))


def _extreme(
    operation: str, reduce: Callable[..., Array], x: Array, axis: Axis, keepdims: bool, worst: float
) -> Array:
    given = check_array(operation, x)
    if given.size and not is_recorded(given):
        # The extreme is NaN if an element is. Usually there is no NaN, and this is the result.
        result = reduce(given, axis=axis, keepdims=keepdims)
        if result.dtype.kind not in KINDS["real floating"] or not any(el.isnan(result)):
            return result
    filled, missing = _filled(operation, given, worst)
    result = reduce(filled, axis=axis, keepdims=keepdims)
    return (
        result if missing is None else el.where(all(missing, axis=axis, keepdims=keepdims), math.nan, result)
    )


@intercepted
def nanmin(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Return the smallest element that is not NaN; NaN if all elements are NaN."""
    return _extreme("nanmin", min, x, axis, keepdims, math.inf)


@intercepted
def nanmax(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Return the largest element that is not NaN; NaN if all elements are NaN."""
    return _extreme("nanmax", max, x, axis, keepdims, -math.inf)


def _place(
    operation: str, search: Callable[..., Array], x: Array, axis: int | None, keepdims: bool, worst: float
) -> Array:
    given = check_array(operation, x)
    if given.size and _may_be_nan(given) and not is_recorded(given):
        # The result is the index of a NaN if there is a NaN, which is rare.
        result = search(given, axis=axis, keepdims=keepdims)
        if not any(el.isnan(_found(given, result, axis, keepdims))):
            return result
    filled, missing = _filled(operation, given, worst)
    if missing is not None and some(all(missing, axis=axis)):
        raise ArgumentValueError(operation, "a slice holds only NaN", [("x", str(x.shape))])
    return search(filled, axis=axis, keepdims=keepdims)


def _found(x: Array, indices: Array, axis: int | None, keepdims: bool) -> Array:
    """Return the elements that `argmin` or `argmax` has found."""
    if axis is not None:
        return take_along_axis(x, indices if keepdims else expand_dims(indices, axis=axis), axis=axis)
    at, key = int(reshape(indices, ())), []
    for n in reversed(x.shape):
        at, position = divmod(at, n)
        key.append(position)
    return x[tuple(reversed(key))]


@intercepted
def nanargmin(x: Array, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Return the index of the (first) smallest element that is not NaN."""
    return _place("nanargmin", argmin, x, axis, keepdims, math.inf)


@intercepted
def nanargmax(x: Array, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Return the index of the (first) largest element that is not NaN."""
    return _place("nanargmax", argmax, x, axis, keepdims, -math.inf)
