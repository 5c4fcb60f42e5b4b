"""Statistical functions: the core's reductions, with the standard's rules for dtypes and empty arrays."""

from __future__ import annotations

from stride0._base.shapes import Axis
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive
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
    """Return the cumulative products of the elements along an axis.

    Parameters
    ----------
    include_initial : bool
        Whether the results start with the empty product, 1.
    """


@primitive
def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the cumulative sums of the elements along an axis.

    Parameters
    ----------
    include_initial : bool
        Whether the results start with the empty sum, 0.
    """


@primitive
def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the largest element."""


@primitive
def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False, dtype: DTypeLike | None = None) -> Array:
    """Return the arithmetic mean.

    Parameters
    ----------
    dtype : DType, optional
        Floating-point dtype to which elements are cast first, as in NumPy and PyTorch; the standard has no
        such parameter.

    Returns
    -------
    Array
        New array of `dtype`; by default the dtype of `x`, or float64 for integers and bool. NaN if there are
        no elements.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point dtype.

    Notes
    -----
    float32 is summed and divided in float64, and rounded once. But if the sum overflows float32, the mean is
    infinite as in NumPy, PyTorch and JAX, because code that rescales its data tests for that.
    """


@primitive
def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the smallest element."""


@primitive
def prod(x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    """Return the product of the elements.

    Returns
    -------
    Array
        New array; 1 if there are no elements.
    """


@primitive
def std(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Array:
    """Return the standard deviation."""


@primitive
def sum(x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    """Return the sum of the elements.

    Returns
    -------
    Array
        New array; 0 if there are no elements.
    """


@primitive
def var(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Array:
    """Return the variance."""
