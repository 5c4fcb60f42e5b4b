"""Reductions, scans, statistics and order with NumPy's signatures."""

from __future__ import annotations

import builtins
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._core.array.array import Array
from stride0.numpy._parts import array, common_dtype, converted, dtype_of, finish, refuse


def _masked(a: Array, where: Any, neutral: Any) -> Array:
    return a if where is None or where is True else xp.where(array(where), a, neutral)


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Sum elements along axes."""
    a = _masked(array(a), where, 0)
    result = xp.sum(a, axis=axis, dtype=dtype_of("sum", dtype), keepdims=keepdims)
    return finish("sum", result if initial is None else result + initial, out, casting="same_kind")


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Multiply elements along axes."""
    a = _masked(array(a), where, 1)
    result = xp.prod(a, axis=axis, dtype=dtype_of("prod", dtype), keepdims=keepdims)
    return finish("prod", result if initial is None else result * initial, out)


def _extreme(name: str, a: Any, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    a = array(a)
    initial = None if initial is None else xp.asarray(initial, dtype=a.dtype)
    if where is not None and where is not True:
        if initial is None:
            raise ArgumentValueError(
                name, "where is given without initial", (), f"initial=..., the {name} of nothing"
            )
        a = xp.where(array(where), a, initial)
    better = xp.maximum if name == "max" else xp.minimum
    if initial is not None and a.size == 0:
        shape = xp.sum(a, axis=axis, keepdims=keepdims).shape
        return finish(name, xp.asarray(xp.broadcast_to(initial, shape), copy=True), out)
    result = getattr(xp, name)(a, axis=axis, keepdims=keepdims)
    return finish(name, result if initial is None else better(result, initial), out)


def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the largest element along axes."""
    return _extreme("max", a, axis, out, keepdims, initial, where)


def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the smallest element along axes."""
    return _extreme("min", a, axis, out, keepdims, initial, where)


amax, amin = max, min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the largest minus the smallest element."""
    result = xp.max(array(a), axis=axis, keepdims=keepdims) - xp.min(array(a), axis=axis, keepdims=keepdims)
    return finish("ptp", result, out)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Return whether all elements are true."""
    a = _masked(xp.astype(array(a), xp.bool), where, True)
    return finish("all", xp.all(a, axis=axis, keepdims=keepdims), out)


def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Return whether some element is true."""
    a = _masked(xp.astype(array(a), xp.bool), where, False)
    return finish("any", xp.any(a, axis=axis, keepdims=keepdims), out)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Return the mean along axes."""
    a = array(a)
    if where is not None and where is not True:
        mask = xp.broadcast_to(array(where), a.shape)
        total = sum(a, axis, dtype, None, keepdims, None, mask)
        found = total / xp.sum(xp.astype(mask, xp.int64), axis=axis, keepdims=keepdims)
        wanted = dtype_of("mean", dtype) or (a.dtype if "floating" in a.dtype.kind else None)
        return finish("mean", converted("mean", found, wanted), out)
    return finish("mean", xp.mean(a, axis=axis, dtype=dtype_of("mean", dtype), keepdims=keepdims), out)


def _spread(name: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool) -> Any:
    a = converted(name, array(a), dtype_of(name, dtype))
    option = "ddof" if name.startswith("nan") else "correction"
    return finish(name, getattr(xp, name)(a, axis=axis, keepdims=keepdims, **{option: ddof}), out)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Return the variance along axes."""
    refuse("var", where=where, mean=mean)
    return _spread("var", a, axis, dtype, out, ddof if correction is None else correction, keepdims)


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Return the standard deviation along axes."""
    refuse("std", where=where, mean=mean)
    return _spread("std", a, axis, dtype, out, ddof if correction is None else correction, keepdims)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return where the largest element is."""
    return finish("argmax", xp.argmax(array(a), axis=axis, keepdims=keepdims), out)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return where the smallest element is."""
    return finish("argmin", xp.argmin(array(a), axis=axis, keepdims=keepdims), out)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return how many elements are not zero."""
    return xp.count_nonzero(array(a), axis=axis, keepdims=keepdims)


def flat(a: Any, axis: Any) -> tuple[Array, int]:
    """Return an array in one axis, if no axis is given."""
    a = array(a)
    return (xp.reshape(a, (-1,)), 0) if axis is None else (a, axis)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Return sums up to each element, of the array in one axis by default."""
    a, axis = flat(a, axis)
    return finish("cumsum", xp.cumulative_sum(a, axis=axis, dtype=dtype_of("cumsum", dtype)), out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Return products up to each element, of the array in one axis by default."""
    a, axis = flat(a, axis)
    return finish("cumprod", xp.cumulative_prod(a, axis=axis, dtype=dtype_of("cumprod", dtype)), out)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Return sums up to each element, as in the standard."""
    found = xp.cumulative_sum(
        array(x), axis=axis, dtype=dtype_of("cumulative_sum", dtype), include_initial=include_initial
    )
    return finish("cumulative_sum", found, out)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Return products up to each element, as in the standard."""
    found = xp.cumulative_prod(
        array(x), axis=axis, dtype=dtype_of("cumulative_prod", dtype), include_initial=include_initial
    )
    return finish("cumulative_prod", found, out)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return a weighted mean."""
    a = array(a)
    if weights is None:
        found = xp.mean(a, axis=axis, keepdims=keepdims)
        total = xp.full(found.shape, float(a.size // builtins.max(found.size, 1)), dtype=found.dtype)
        return (found, total) if returned else found
    weights = array(weights)
    if weights.shape != a.shape:
        if weights.ndim != 1 or not isinstance(axis, int):
            raise ArgumentTypeError(
                "average", "the weights have another shape", (), "an axis, and a vector of weights"
            )
        weights = xp.reshape(weights, tuple(-1 if k == axis % a.ndim else 1 for k in range(a.ndim)))
        weights = xp.broadcast_to(weights, a.shape)
    dtype = (
        common_dtype(a, weights, xp.ones((), dtype=xp.float64)) if "floating" not in a.dtype.kind else None
    )
    weights = weights if dtype is None else xp.astype(weights, dtype)
    total = xp.sum(weights, axis=axis, keepdims=keepdims)
    if bool(xp.any(total == 0)):
        raise ZeroDivisionError("average: the weights sum to zero")
    found = xp.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """Return the median along axes."""
    return finish("median", xp.median(array(a), axis, keepdims=keepdims), out)


def _quantile(
    name: str, a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weights: Any
) -> Any:
    q = q if isinstance(q, (int, float)) else array(q)
    weights = None if weights is None else array(weights)
    found = getattr(xp, name)(array(a), q, axis, method=method, keepdims=keepdims, weights=weights)
    return finish(name, found, out)


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Return quantiles along axes."""
    return _quantile("quantile", a, q, axis, out, method, keepdims, weights)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Return percentiles along axes."""
    return _quantile("percentile", a, q, axis, out, method, keepdims, weights)


def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Sum elements that are not NaN."""
    return finish("nansum", xp.nansum(array(a), axis, dtype_of("nansum", dtype), keepdims=keepdims), out)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Multiply elements that are not NaN."""
    return finish("nanprod", xp.nanprod(array(a), axis, dtype_of("nanprod", dtype), keepdims=keepdims), out)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the mean of elements that are not NaN."""
    a = converted("nanmean", array(a), dtype_of("nanmean", dtype))
    return finish("nanmean", xp.nanmean(a, axis, keepdims=keepdims), out)


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the largest element that is not NaN."""
    return finish("nanmax", xp.nanmax(array(a), axis, keepdims=keepdims), out)


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the smallest element that is not NaN."""
    return finish("nanmin", xp.nanmin(array(a), axis, keepdims=keepdims), out)


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
) -> Any:
    """Return the variance of elements that are not NaN."""
    return _spread("nanvar", a, axis, dtype, out, ddof, keepdims)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
) -> Any:
    """Return the standard deviation of elements that are not NaN."""
    return _spread("nanstd", a, axis, dtype, out, ddof, keepdims)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """Return the median of elements that are not NaN."""
    return finish("nanmedian", xp.nanmedian(array(a), axis, keepdims=keepdims), out)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return where the largest element is that is not NaN."""
    return finish("nanargmax", xp.nanargmax(array(a), axis, keepdims=keepdims), out)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return where the smallest element is that is not NaN."""
    return finish("nanargmin", xp.nanargmin(array(a), axis, keepdims=keepdims), out)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Return the covariance matrix."""
    given = [None if x is None else array(x) for x in (y, fweights, aweights)]
    return xp.cov(array(m), given[0], rowvar, bias, ddof, given[1], given[2], dtype=dtype_of("cov", dtype))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Return the matrix of correlation coefficients."""
    return xp.corrcoef(array(x), None if y is None else array(y), rowvar, dtype=dtype_of("corrcoef", dtype))
