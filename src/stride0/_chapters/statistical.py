"""Statistical functions: the core's reductions, with the standard's rules for dtypes and empty arrays.

References
----------
Array API standard 2025.12, "Statistical Functions".
"""

from __future__ import annotations

from stride0._base.shapes import Axis
from stride0._core.array.array import Array
from stride0._core.calls.primitive import primitive
from stride0._core.memory.dtype import DTypeLike

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
    """


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
    """


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
    """


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
    """


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
    """


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
    """


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
    """


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
    """


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
    """
