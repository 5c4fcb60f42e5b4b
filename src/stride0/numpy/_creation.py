"""Creation of arrays, facts about them and index tricks, with NumPy's signatures."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0._core.memory.dtype import DType
from stride0.numpy._parts import (
    SCALARS,
    arrays,
    check_order,
    common_dtype,
    converted,
    dtype_of,
    named,
    refuse,
)
from stride0.numpy._parts import array as as_array


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Array:
    """Create an array; by default a copy."""
    check_order("array", order)
    refuse("array", like=like)
    found = xp.asarray(
        object, dtype=dtype_of("array", dtype), copy=copy or None if copy is not False else False
    )
    return found if found.ndim >= ndmin else xp.reshape(found, ((1,) * (ndmin - found.ndim) + found.shape))


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Array:
    """Convert to an array; an array is returned unchanged."""
    check_order("asarray", order)
    refuse("asarray", like=like)
    return xp.asarray(a, dtype=dtype_of("asarray", dtype), device=device, copy=copy)


asanyarray = asarray


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Array:
    """Convert to an array; raise an error if an element is infinite or NaN."""
    found = asarray(a, dtype, order)
    if "floating" in found.dtype.kind and not bool(xp.all(xp.isfinite(found))):
        accepts = "call asarray, or replace the elements by nan_to_num"
        raise ArgumentValueError("asarray_chkfinite", "an element is infinite or NaN", (), accepts)
    return found


def ascontiguousarray(a: Any, dtype: Any = None) -> Array:
    """Return an array in C order, with at least one axis."""
    found = xp.strided.contiguous(asarray(a, dtype))
    return xp.reshape(found, (1,)) if found.ndim == 0 else found


def asfortranarray(a: Any, dtype: Any = None) -> Array:
    """Return an array in Fortran order."""
    found, order = asarray(a, dtype), tuple(range(as_array(a).ndim))[::-1]
    return xp.permute_dims(xp.strided.contiguous(xp.permute_dims(found, order)), order)


def copy(a: Any, order: Any = "K", subok: bool = False) -> Array:
    """Return a copy."""
    check_order("copy", order)
    return xp.asarray(a, copy=True)


def _shape(shape: Any) -> Any:
    return (
        tuple(operator.index(n) for n in shape)
        if isinstance(shape, (list, Array)) and _axes(shape)
        else shape
    )


def _axes(shape: Any) -> bool:
    return not isinstance(shape, Array) or shape.ndim > 0


def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Array:
    """Return zeros."""
    check_order("zeros", order)
    return xp.zeros(_shape(shape), dtype=dtype_of("zeros", dtype), device=device)


def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Array:
    """Return ones."""
    check_order("ones", order)
    return xp.ones(_shape(shape), dtype=dtype_of("ones", dtype), device=device)


def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Array:
    """Return an uninitialised array."""
    check_order("empty", order)
    return xp.empty(_shape(shape), dtype=dtype_of("empty", dtype), device=device)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Array:
    """Return an array filled with a value."""
    check_order("full", order)
    wanted = dtype_of("full", dtype)
    if isinstance(fill_value, SCALARS):
        return xp.full(_shape(shape), fill_value, dtype=wanted, device=device)
    value = as_array(fill_value)
    found = xp.empty(_shape(shape), dtype=wanted or value.dtype, device=device)
    found[...] = converted("full", value, found.dtype)
    return found


def _like(name: str, a: Any, dtype: Any, order: Any, shape: Any, *value: Any) -> Array:
    check_order(name, order)
    a = as_array(a)
    wanted = dtype_of(name, dtype) or a.dtype
    maker: Any = {"zeros_like": zeros, "ones_like": ones, "empty_like": empty, "full_like": full}[name]
    made: Array = maker(a.shape if shape is None else shape, *value, dtype=wanted)
    return made


def zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Array:
    """Return zeros of the shape and dtype of an array."""
    return _like("zeros_like", a, dtype, order, shape)


def ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Array:
    """Return ones of the shape and dtype of an array."""
    return _like("ones_like", a, dtype, order, shape)


def empty_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Array:
    """Return an uninitialised array of the shape and dtype of an array."""
    return _like("empty_like", a, dtype, order, shape)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None
) -> Array:
    """Return an array filled with a value, of the shape and dtype of an array."""
    return _like("full_like", a, dtype, order, shape, fill_value)


def _number(x: Any) -> Any:
    """Return an argument as a Python number, or as an array if it has less than double precision."""
    if not hasattr(x, "item"):
        return x
    x = as_array(x)
    return x if x.dtype.itemsize < 8 and "floating" in x.dtype.kind else x.item()


def arange(
    *args: Any, start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, device: Any = None
) -> Array:
    """Return evenly spaced numbers: ``arange(stop)``, ``arange(start, stop, step, dtype)``."""
    given = [_number(x) for x in args]
    if len(given) == 4 and dtype is None:
        dtype = given.pop()
    if start is not None:
        given = [_number(start), *given]
    if stop is not None:
        given = [*(given or [0]), _number(stop)]
    if step is not None:
        given = [0, *given] if len(given) == 1 else given
        given.append(_number(step))
    wanted = dtype_of("arange", dtype)
    if any(isinstance(x, Array) for x in given):
        return converted("arange", _steps(*given), wanted)
    return xp.arange(*given, dtype=wanted, device=device)


def _steps(start: Any, stop: Any = None, step: Any = 1) -> Array:
    """Return evenly spaced numbers, with NumPy's rounding for float32 bounds."""
    start, stop = (0, start) if stop is None else (start, stop)
    count = math.ceil(float((stop - start) / step))
    first = float(start)
    return xp.arange(max(count, 0)) * (float(start + step) - first) + first


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return evenly spaced numbers; the ends may be arrays."""
    wanted = dtype_of("linspace", dtype)
    start, stop = _number_or_array(start), _number_or_array(stop)
    if isinstance(start, Array) or isinstance(stop, Array):
        common = common_dtype(start, stop, float(num))
        start, stop = xp.broadcast_arrays(*(xp.astype(as_array(x), common) for x in (start, stop)))
    steps = num - 1 if endpoint else num
    step = (stop - start) / steps if steps > 0 else math.nan
    if isinstance(start, Array) or isinstance(stop, Array):
        weights = xp.reshape(xp.arange(0.0, num, dtype=start.dtype), (-1, *(1,) * start.ndim))
        # A step that underflows to zero would lose all but the ends.
        uneven = steps > 0 and bool(xp.any((step == 0) & (stop != start)))
        found = (weights / steps * (stop - start) if uneven else weights * step) + start
        if endpoint and num > 1:
            found[-1, ...] = stop
        found = xp.moveaxis(converted("linspace", found, wanted), 0, axis)
    elif wanted is not None and "integer" in wanted.kind:
        found = converted("linspace", xp.floor(xp.linspace(start, stop, num, endpoint=endpoint)), wanted)
    else:
        found = xp.linspace(start, stop, num, dtype=wanted, device=device, endpoint=endpoint)
    return (found, step) if retstep else found


def _number_or_array(x: Any) -> Any:
    x = x if isinstance(x, SCALARS) else as_array(x)
    return x.item() if isinstance(x, Array) and x.ndim == 0 and x.dtype.itemsize in (8, 16) else x


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None
) -> Array:
    """Return powers of a base whose exponents are evenly spaced."""
    return converted(
        "logspace", xp.pow(float(base), linspace(start, stop, num, endpoint)), dtype_of("logspace", dtype)
    )


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Array:
    """Return numbers with a constant ratio between neighbours."""
    start, stop = (x.item() if hasattr(x, "item") else x for x in (start, stop))
    if isinstance(start, complex) or isinstance(stop, complex) or start * stop <= 0:
        raise ArgumentValueError("geomspace", f"ends are {start!r}, {stop!r}", (), "pass ends of one sign")
    sign = -1.0 if start < 0 else 1.0
    found = sign * logspace(math.log10(sign * start), math.log10(sign * stop), num, endpoint)
    if num > 0:
        found[0] = start
        if endpoint and num > 1:
            found[-1] = stop
    return converted("geomspace", found, dtype_of("geomspace", dtype))


def eye(
    N: int, M: Any = None, k: int = 0, dtype: Any = float, order: Any = "C", *, device: Any = None
) -> Array:
    """Return a matrix with ones on a diagonal."""
    check_order("eye", order)
    return xp.eye(N, M, k=k, dtype=dtype_of("eye", dtype), device=device)


def _reading(name: str) -> Callable[..., Any]:
    """Return a NumPy function that reads text, memory or a file, with stride0 arrays as results."""
    theirs = getattr(numpy(), name)

    @functools.wraps(theirs, assigned=())
    def function(*args: Any, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("dtype"), DType):
            kwargs["dtype"] = kwargs["dtype"].name
        found = theirs(*args, **kwargs)
        return xp.asarray(found) if isinstance(found, numpy().ndarray) else found

    return named(name, function)


loadtxt, genfromtxt, load = _reading("loadtxt"), _reading("genfromtxt"), _reading("load")
frombuffer, fromstring, fromfile = _reading("frombuffer"), _reading("fromstring"), _reading("fromfile")


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return the elements cast to a dtype."""
    return xp.astype(as_array(x), dtype_of("astype", dtype) or xp.float64, copy=copy, device=device)


def identity(n: int, dtype: Any = None) -> Array:
    """Return the identity matrix."""
    return xp.eye(n, dtype=dtype_of("identity", dtype))


def tri(N: int, M: Any = None, k: int = 0, dtype: Any = float) -> Array:
    """Return ones at and below a diagonal."""
    return xp.tril(xp.ones((N, N if M is None else M), dtype=dtype_of("tri", dtype)), k=k)


def tril(m: Any, k: int = 0) -> Array:
    """Return a copy without the elements above a diagonal."""
    return xp.tril(as_array(m), k=k)


def triu(m: Any, k: int = 0) -> Array:
    """Return a copy without the elements below a diagonal."""
    return xp.triu(as_array(m), k=k)


def diag(v: Any, k: int = 0) -> Array:
    """Return a diagonal, or a matrix with a diagonal."""
    return xp.diag(as_array(v), k=k)


def diagflat(v: Any, k: int = 0) -> Array:
    """Return a matrix with the elements on a diagonal."""
    return xp.diag(xp.reshape(as_array(v), (-1,)), k=k)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Return powers of a vector as columns."""
    x = as_array(x)
    n = x.size if N is None else N
    return x[:, None] ** (xp.arange(n) if increasing else xp.arange(n - 1, -1, -1))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: Any = "xy") -> tuple[Array, ...]:
    """Return the coordinates of a grid."""
    given = [xp.reshape(x, (-1,)) for x in arrays(xi)]
    if indexing not in ("xy", "ij"):
        raise ArgumentValueError("meshgrid", f"indexing is {indexing!r}", (), "pass indexing='xy' or 'ij'")
    parts = [along(given, k, indexing) for k in range(len(given))]
    parts = parts if sparse or not parts else list(xp.broadcast_arrays(*parts))
    return tuple(xp.asarray(part, copy=True) if copy else part for part in parts)


def along(given: list[Array], k: int, indexing: str) -> Array:
    """Return a vector, reshaped to lie along its axis of a grid."""
    axis = {0: 1, 1: 0}.get(k, k) if indexing == "xy" and len(given) > 1 else k
    return xp.reshape(given[k], tuple(-1 if j == axis else 1 for j in range(len(given))))


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the indices of a grid."""
    sizes = tuple(dimensions)
    parts = [xp.arange(n, dtype=dtype_of("indices", dtype)) for n in sizes]
    found = [along(parts, k, "ij") for k in range(len(parts))]
    if sparse:
        return tuple(found)
    return (
        xp.stack([xp.broadcast_to(part, sizes) for part in found])
        if found
        else xp.empty((0,), dtype=xp.int64)
    )


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """Call a function with the indices of a grid."""
    return function(*indices(shape, dtype=dtype), **kwargs)


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Array:
    """Create an array from the items of an iterator."""
    items = list(iter) if count < 0 else [item for item, _ in builtins.zip(iter, range(count), strict=False)]
    return xp.asarray(items, dtype=dtype_of("fromiter", dtype))
