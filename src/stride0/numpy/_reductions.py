"""Reductions, scans, statistics and order with NumPy's signatures."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from math import inf
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, DTypeError
from stride0._base.shapes import normalize_axes
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.numpy._parts import array, common_dtype, converted, dtype_of, finish, floating, named, refuse


def _masked(a: Array, where: Any, neutral: Any) -> Array:
    return a if where is None or where is True else xp.where(array(where), a, neutral)


def _total(name: str, start: int, joined: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        a = _masked(array(a), where, start)
        result = getattr(xp, name)(a, axis=axis, dtype=dtype_of(name, dtype), keepdims=keepdims)
        return finish(name, result if initial is None else joined(result, initial), out)

    return named(name, function)


sum, prod = _total("sum", 0, operator.add), _total("prod", 1, operator.mul)


def _extreme(name: str, a: Any, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    a = array(a)
    initial = None if initial is None else xp.asarray(initial, dtype=a.dtype)
    if where is not None and where is not True:
        if initial is None:
            raise ArgumentValueError(
                name, "where is given without initial", (), f"pass initial, the {name} of no elements"
            )
        a = xp.where(array(where), a, initial)
    better = xp.maximum if name == "max" else xp.minimum
    if initial is not None and a.size == 0:
        shape = xp.sum(a, axis=axis, keepdims=keepdims).shape
        return finish(name, xp.asarray(xp.broadcast_to(initial, shape), copy=True), out)
    result = getattr(xp, name)(a, axis=axis, keepdims=keepdims)
    return finish(name, result if initial is None else better(result, initial), out)


def _largest(name: str) -> Callable[..., Any]:
    def function(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        return _extreme(name, a, axis, out, keepdims, initial, where)

    return named(name, function)


max, min = _largest("max"), _largest("min")
amax, amin = max, min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the largest minus the smallest element."""
    result = xp.max(array(a), axis=axis, keepdims=keepdims) - xp.min(array(a), axis=axis, keepdims=keepdims)
    return finish("ptp", result, out)


def _truth(name: str, neutral: bool) -> Callable[..., Any]:
    def function(
        a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
    ) -> Any:
        a = _masked(xp.astype(array(a), xp.bool), where, neutral)
        return finish(name, getattr(xp, name)(a, axis=axis, keepdims=keepdims), out)

    return named(name, function)


all, any = _truth("all", True), _truth("any", False)


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
    wanted = _inexact(name, dtype)
    a = converted(name, array(a), wanted)
    option = "ddof" if name.startswith("nan") else "correction"
    found = getattr(xp, name)(a, axis=axis, keepdims=keepdims, **{option: ddof})
    return finish(name, converted(name, found, wanted), out)


def _inexact(name: str, dtype: Any) -> Any:
    """Return the dtype of a statistic; an integer dtype, with which NumPy truncates, is refused."""
    wanted = dtype_of(name, dtype)
    if wanted is not None and "floating" not in wanted.kind:
        raise DTypeError(name, f"the dtype is {wanted.name}", (), "pass a floating-point dtype")
    return wanted


def _deviation(name: str) -> Callable[..., Any]:
    def function(
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
        refuse(name, where=where, mean=mean)
        if ddof != 0 and correction is not None:
            raise ArgumentValueError(name, "ddof and correction are given", (), "pass only one of them")
        return _spread(name, a, axis, dtype, out, ddof if correction is None else correction, keepdims)

    return named(name, function)


var, std, nanvar, nanstd = map(_deviation, ("var", "std", "nanvar", "nanstd"))


def _place(name: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        return finish(name, getattr(xp, name)(array(a), axis=axis, keepdims=keepdims), out)

    return named(name, function)


argmax, argmin, nanargmax, nanargmin = map(_place, ("argmax", "argmin", "nanargmax", "nanargmin"))


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Count the nonzero elements."""
    return xp.count_nonzero(array(a), axis=axis, keepdims=keepdims)


def flat(a: Any, axis: Any) -> tuple[Array, int]:
    """Flatten an array if no axis is given."""
    a = array(a)
    return (xp.reshape(a, (-1,)), 0) if axis is None else (a, axis)


def _scan(name: str, ours: str, nan: float | None = None) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a, axis = flat(a, axis)
        a = a if nan is None else xp.nan_to_num(a, nan=nan, posinf=inf, neginf=-inf)
        return finish(name, getattr(xp, ours)(a, axis=axis, dtype=dtype_of(name, dtype)), out)

    return named(name, function)


cumsum, nancumsum = _scan("cumsum", "cumulative_sum"), _scan("nancumsum", "cumulative_sum", 0.0)
cumprod, nancumprod = _scan("cumprod", "cumulative_prod"), _scan("nancumprod", "cumulative_prod", 1.0)


def _cumulative(name: str) -> Callable[..., Any]:
    def function(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        wanted = dtype_of(name, dtype)
        found = getattr(xp, name)(array(x), axis=axis, dtype=wanted, include_initial=include_initial)
        return finish(name, found, out)

    return named(name, function)


cumulative_sum, cumulative_prod = _cumulative("cumulative_sum"), _cumulative("cumulative_prod")


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
                "average", "the shapes of weights and a differ", (), "pass an axis and a vector of weights"
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


_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def _with_numpys_signature(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the signature of NumPy quantiles, which calls `compute` by position."""

    def function(
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
        return compute(a, q, axis, out, method, keepdims, weights)

    return named(name, function)


def _quantile(name: str) -> Callable[..., Any]:
    def function(a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weights: Any) -> Any:
        q, a = q if type(q) in (int, float) else array(q), array(a)
        weights = None if weights is None else array(weights)
        if isinstance(q, Array) and "floating" in a.dtype.kind and method not in _DISCRETE:
            # Only Python numbers are weak, not NumPy scalars or sequences.
            a = xp.astype(a, common_dtype(a, q, 1.0))
        found = getattr(xp, name)(a, q, axis, method=method, keepdims=keepdims, weights=weights)
        return finish(name, found, out, exact=False)

    return _with_numpys_signature(name, function)


quantile, percentile = _quantile("quantile"), _quantile("percentile")


def _nan_quantile(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weights: Any) -> Any:
        refuse(name, weights=weights)
        a = array(a)
        if a.dtype.kind != "real floating":
            return plain(a, q, axis, out, method=method, keepdims=keepdims)
        axes = tuple(range(a.ndim)) if axis is None else normalize_axes(name, axis, a.ndim)
        others = tuple(k for k in range(a.ndim) if k not in axes)
        size = math.prod(a.shape[k] for k in axes)
        rows = math.prod(a.shape[k] for k in others)
        lanes = xp.sort(xp.reshape(xp.permute_dims(a, (*others, *axes)), (rows, size)), axis=1)
        # Lanes with equal counts of numbers in one call; NaN comes last.
        counts = numpy().asarray(xp.count_nonzero(~xp.isnan(lanes), axis=1))
        parts, order = [plain(lanes[:0, :1], q, 1, method=method)] if size else [], []
        for count in dict.fromkeys(counts.tolist()):
            places = numpy().flatnonzero(counts == count)
            part = xp.take(lanes, xp.asarray(places), axis=0)
            parts.append(plain(part[:, : count or 1], q, 1, method=method))
            order.extend(places.tolist())
        found = (
            xp.concat(parts, axis=-1) if parts else xp.full((*array(q).shape, rows), xp.nan, dtype=a.dtype)
        )
        if order:
            found = xp.take(found, xp.argsort(xp.asarray(order)), axis=-1)
        shape = tuple(1 if k in axes else n for k, n in enumerate(a.shape) if keepdims or k in others)
        return finish(name, xp.reshape(found, (*found.shape[:-1], *shape)), out, exact=False)

    return _with_numpys_signature(name, function)


nanquantile = _nan_quantile("nanquantile", quantile)
nanpercentile = _nan_quantile("nanpercentile", percentile)


nansum, nanprod = _total("nansum", 0, operator.add), _total("nanprod", 1, operator.mul)


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Any:
    """Return the mean of elements that are not NaN."""
    a = _masked(floating(converted("nanmean", array(a), _inexact("nanmean", dtype))), where, xp.nan)
    return finish("nanmean", xp.nanmean(a, axis, keepdims=keepdims), out)


def _nan_extreme(name: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return finish(name, getattr(xp, name)(array(a), axis, keepdims=keepdims), out)

    return named(name, function)


nanmax, nanmin = _nan_extreme("nanmax"), _nan_extreme("nanmin")


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """Return the median of elements that are not NaN."""
    return finish("nanmedian", xp.nanmedian(array(a), axis, keepdims=keepdims), out)


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
