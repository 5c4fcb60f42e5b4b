"""Statistical functions: the core's reductions, with the standard's rules for dtypes and empty arrays.

References
----------
Array API standard 2025.12, "Statistical Functions".
"""

from __future__ import annotations

import math

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError, shown
from stride0._base.shapes import Axis, normalize_axes, normalize_axis, size_of
from stride0._chapters.data_types import (
    as_scalar,
    check_array,
    check_bool,
    check_cast,
    check_dtype,
    refuse_dtype,
)
from stride0._core.array.array import Array
from stride0._core.array.interceptors import check_standard
from stride0._core.array.views import restride, strides, without_broadcast_axes
from stride0._core.calls.primitive import primitive
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, DTypeLike
from stride0._core.ops.copy import copy
from stride0._core.ops.functions import abs, divide, less, maximum, multiply, sqrt, subtract
from stride0._core.ops.reduce import OFF_CENTRE, mean_of_total, reduce, reduce2, reduce_whole, scan

__all__ = [
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


@primitive
def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the products of all first elements along an axis.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int, optional
        The axis; it may be left out if there is only one.
    dtype : DType, optional
        Dtype of the result, to which elements are cast first. By default that of `x`; int64 or uint64 for
        smaller integers, int64 for bool.
    include_initial : bool
        Whether to put the empty product, 1, in front.

    Returns
    -------
    Array
        New array of the shape of `x`, longer by one along `axis` if `include_initial`.

    Raises
    ------
    ArgumentValueError
        If `axis` is left out and there are several.

    Notes
    -----
    A 0-d array is taken as one with a single axis of size 1.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``cumulative_prod``.
    """
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


@primitive
def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the sums of all first elements along an axis.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int, optional
        The axis; it may be left out if there is only one.
    dtype : DType, optional
        Dtype of the result, to which elements are cast first. By default that of `x`; int64 or uint64 for
        smaller integers, int64 for bool.
    include_initial : bool
        Whether to put the empty sum, 0, in front.

    Returns
    -------
    Array
        New array of the shape of `x`, longer by one along `axis` if `include_initial`.

    Raises
    ------
    ArgumentValueError
        If `axis` is left out and there are several.

    Notes
    -----
    A 0-d array is taken as one with a single axis of size 1.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``cumulative_sum``.
    """
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def _cumulative(op: str, x: Array, axis: int | None, dtype: DTypeLike | None, include_initial: bool) -> Array:
    x = check_array(op, x)
    target = _sum_dtype(op, x, dtype)
    if x.ndim == 0:
        x = restride(x, (1,), (1,))
    if axis is None:
        if x.ndim > 1:
            raise ArgumentValueError(
                op, f"axis must be given for an array with {x.ndim} axes", [("x", str(x.shape))]
            )
        axis = 0
    return scan(
        op, x, normalize_axis(op, axis, x.ndim), target, check_bool(op, "include_initial", include_initial)
    )


@primitive
def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the largest element.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New array of the dtype of `x`. NaN where there is a NaN.

    Raises
    ------
    ShapeError
        If there is no element to choose from.
    DTypeError
        If `x` is complex.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``max``.
    """
    return _extreme("max", x, axis, keepdims)


@primitive
def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False, dtype: DTypeLike | None = None) -> Array:
    """Return the arithmetic mean.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.
    dtype : DType, optional
        Floating-point dtype that elements are cast to first, as NumPy and PyTorch have it; the standard has
        no such parameter.

    Returns
    -------
    Array
        New array of `dtype`, by default that of `x`, float64 for integers and bool. NaN where there is no
        element.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point one.
    CastError
        If `x` is complex and `dtype` is real.

    Notes
    -----
    float32 is summed up and divided in float64, and rounded once. Where the sum overflows float32, the mean
    is infinite all the same, as in NumPy, PyTorch and JAX: code that rescales its data asks for that.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``mean``.
    """
    x = check_array("mean", x)
    if dtype is not None:
        check_standard("mean", "a dtype is given", "Statistical functions: mean has no parameter dtype")
        x = _cast_for_mean(x, check_dtype("mean", dtype))
    axes = normalize_axes("mean", axis, x.ndim)
    total, count = _wide_sum(x, axes, check_bool("mean", "keepdims", keepdims))
    return mean_of_total(total, count, _floating(x.dtype))


def _cast_for_mean(x: Array, dtype: DType) -> Array:
    if dtype.kind not in ("real floating", "complex floating"):
        refuse_dtype("mean", dtype, "a floating-point dtype", "the result")
    check_cast("mean", x.dtype, dtype)
    return x if x.dtype is dtype else copy(x, dtype)


def _wide_sum(x: Array, axes: tuple[int, ...], keepdims: bool) -> tuple[Array, float]:
    """Return the sum in float64 or complex128, and of how many elements."""
    wide = dt.complex128 if x.dtype.kind == "complex floating" else dt.float64
    # Along broadcast axes the mean is that of the stored elements, without the overflow of n equal summands.
    x = without_broadcast_axes(x, axes)
    total = reduce("sum", x, axes, keepdims, wide)
    return total, float(size_of([x.shape[k] for k in axes]))


def _wide_mean(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return the mean in float64 or complex128."""
    return mean_of_total(*_wide_sum(x, axes, keepdims))


def _floating(dtype: DType) -> DType:
    return dtype if dtype.kind in ("real floating", "complex floating") else dt.float64


def _as_dtype(x: Array, dtype: DType) -> Array:
    return x if x.dtype is dtype else copy(x, dtype)


@primitive
def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the smallest element.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New array of the dtype of `x`. NaN where there is a NaN.

    Raises
    ------
    ShapeError
        If there is no element to choose from.
    DTypeError
        If `x` is complex.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``min``.
    """
    return _extreme("min", x, axis, keepdims)


def _extreme(op: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    x = check_array(op, x)
    if x.dtype.kind == "complex floating":
        refuse_dtype(op, x.dtype, "a real dtype; complex numbers have no order")
    axes = normalize_axes(op, axis, x.ndim)
    empty = next((k for k in axes if x.shape[k] == 0), None)
    if empty is not None:
        raise ShapeError(op, f"axis {empty} has no elements to choose from", [("x", str(x.shape))])
    return reduce(op, x, axes, check_bool(op, "keepdims", keepdims), None)


@primitive
def prod(x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    """Return the product of the elements.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : DType, optional
        Dtype of the result, to which elements are cast first. By default that of `x`; int64 or uint64 for
        smaller integers, int64 for bool.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New array; 1 where there is no element.

    Raises
    ------
    CastError
        If `x` is complex and `dtype` is real.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``prod``.
    """
    return _total("prod", x, axis, dtype, keepdims)


def _total(op: str, x: Array, axis: Axis, dtype: DTypeLike | None, keepdims: bool) -> Array:
    x = check_array(op, x)
    target = _sum_dtype(op, x, dtype)
    return reduce(op, x, normalize_axes(op, axis, x.ndim), check_bool(op, "keepdims", keepdims), target)


def _sum_dtype(op: str, x: Array, dtype: DTypeLike | None) -> DType:
    """Return the dtype of sums and products: small integers are widened, since their sums overflow."""
    if dtype is None:
        if x.dtype.kind == "unsigned integer":
            return dt.uint64
        return dt.int64 if x.dtype.kind in ("signed integer", "bool") else x.dtype
    target = check_dtype(op, dtype)
    if target.kind == "bool":
        refuse_dtype(op, target, "a numeric dtype", "the result")
    check_cast(op, x.dtype, target)
    return target


@primitive
def std(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Array:
    """Return the standard deviation.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    correction : int or float
        The sum of squares is divided by the number of elements less this: 0 for a population, 1 for a sample.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New array of the dtype of `x`; float64 for integers and bool, the components' dtype for complex ones.
        NaN where there are no more elements than `correction`.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``std``.
    """
    variance, dtype = _wide_variance("std", x, axis, correction, keepdims)
    return _as_dtype(sqrt(variance), dtype)


@primitive
def sum(x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    """Return the sum of the elements.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    dtype : DType, optional
        Dtype of the result, to which elements are cast first. By default that of `x`; int64 or uint64 for
        smaller integers, int64 for bool.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New array; 0 where there is no element.

    Raises
    ------
    CastError
        If `x` is complex and `dtype` is real.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``sum``.
    """
    if axis is None and dtype is None and keepdims is False and isinstance(x, Array):
        return reduce_whole("sum", x)
    return _total("sum", x, axis, dtype, keepdims)


@primitive
def var(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Array:
    """Return the variance.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    correction : int or float
        The sum of squares is divided by the number of elements less this: 0 for a population, 1 for a sample.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.

    Returns
    -------
    Array
        New array of the dtype of `x`; float64 for integers and bool, the components' dtype for complex ones.
        NaN where there are no more elements than `correction`.

    References
    ----------
    Array API standard 2025.12, "Statistical Functions", ``var``.
    """
    variance, dtype = _wide_variance("var", x, axis, correction, keepdims)
    return _as_dtype(variance, dtype)


def _wide_variance(
    op: str, x: Array, axis: Axis, correction: int | float, keepdims: bool
) -> tuple[Array, DType]:
    """Return the variance in float64, and the dtype that the result is to have."""
    x = check_array(op, x)
    axes = normalize_axes(op, axis, x.ndim)
    less_by = as_scalar(op, "correction", correction)
    if isinstance(less_by, (bool, complex)):
        raise ArgumentTypeError(
            op, "correction must be an int or a float", [("correction", shown(correction))]
        )
    keepdims = check_bool(op, "keepdims", keepdims)
    middle = _wide_mean(x, axes, True)
    squares = reduce2("sum_squared_deviation", x, middle, axes, True, dt.float64)
    count = size_of([x.shape[k] for k in axes])
    if squares.size and count > 1 and _is_off_centre(squares, middle, count):
        # The rounding error of the mean is in every deviation; its square is subtracted.
        error = abs(_wide_mean(subtract(without_broadcast_axes(x, axes), middle), axes, True))
        squares = maximum(subtract(squares, multiply(multiply(error, error), float(count))), 0.0)
    if not keepdims:
        squares = restride(squares, *_kept(squares, axes))
    divisor = count - less_by
    # NumPy divides by 0 here, which gives inf where the sum of squares is not 0; the standard says NaN.
    result = divide(squares, float(divisor) if divisor > 0 else math.nan)
    dtype = {dt.complex64: dt.float32, dt.complex128: dt.float64}.get(x.dtype)
    return result, dtype or _floating(x.dtype)


def _kept(x: Array, axes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides of `x` without some axes of size 1."""
    kept = [k for k in range(x.ndim) if k not in axes]
    x_strides = strides(x)
    return tuple(x.shape[k] for k in kept), tuple(x_strides[k] for k in kept)


def _is_off_centre(squares: Array, middle: Array, count: int) -> bool:
    """Whether any deviation is so small that the rounding error of the mean matters."""
    off = less(sqrt(squares), multiply(abs(middle), OFF_CENTRE * math.sqrt(count)))
    return bool(reduce_whole("any", off))
