"""Keys, choices and writes with NumPy's signatures."""

from __future__ import annotations

import builtins
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.numpy._manipulation import ravel, resize
from stride0.numpy._parts import SCALARS, array, arrays, common_dtype, finish

# --- keys and choices


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Choose elements by a condition; with only a condition, return the indices at which it is true."""
    condition = array(condition)
    if x is None and y is None:
        return xp.nonzero(condition)
    if x is None or y is None:
        raise ArgumentValueError("where", "only one of x and y is given", (), "pass both, or neither")
    condition = condition if condition.dtype is xp.bool else xp.astype(condition, xp.bool)
    chosen = [v if isinstance(v, (Array, *SCALARS)) else array(v) for v in (x, y)]
    return xp.where(condition, *chosen)


def nonzero(a: Any) -> tuple[Array, ...]:
    """Return the indices of nonzero elements, an array per axis."""
    return xp.nonzero(array(a))


def flatnonzero(a: Any) -> Array:
    """Return the flat indices of nonzero elements, in C order."""
    return xp.nonzero(ravel(a))[0]


def argwhere(a: Any) -> Array:
    """Return the indices of nonzero elements, as rows."""
    a = array(a)
    if a.ndim == 0:
        return xp.zeros((int(bool(a)), 0), dtype=xp.int64)
    return xp.stack(xp.nonzero(a), axis=1)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Array:
    """Return elements at indices."""
    a, indices = array(a), array(indices)
    a, axis = (ravel(a), 0) if axis is None else (a, axis)
    if mode == "clip":
        indices = xp.clip(indices, 0, a.shape[axis] - 1)
    elif mode == "wrap":
        indices = indices % a.shape[axis]
    # With a single index xp.take returns a view; NumPy returns a copy.
    return finish("take", xp.asarray(xp.take(a, indices, axis=axis), copy=indices.ndim == 0 or None), out)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Array:
    """Return elements at the indices of each lane."""
    a, indices = array(arr), array(indices)
    return (
        xp.take_along_axis(ravel(a), indices, axis=0)
        if axis is None
        else xp.take_along_axis(a, indices, axis=axis)
    )


def put_along_axis(arr: Array, indices: Any, values: Any, axis: Any) -> None:
    """Write values at the indices of each lane."""
    xp.put_along_axis(arr, array(indices), values if isinstance(values, SCALARS) else array(values), axis)


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Array:
    """Return the slices for which a condition holds."""
    return take(a, flatnonzero(condition), axis, out)


def extract(condition: Any, arr: Any) -> Array:
    """Return the elements for which a condition holds."""
    return compress(ravel(condition), arr)


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Array:
    """Choose each element from one of several arrays."""
    index, parts = array(a), xp.broadcast_arrays(array(a), *_common(choices))[1:]
    if mode == "raise" and bool(xp.any((index < 0) | (index >= len(parts)))):
        raise ArgumentValueError("choose", "an index is out of bounds", (), "pass mode='clip' or 'wrap'")
    index = xp.clip(index, 0, len(parts) - 1) if mode == "clip" else index % len(parts)
    found = parts[0]
    for k, part in enumerate(parts):
        found = xp.where(index == k, part, found)
    return finish("choose", found, out)


def _common(values: Any) -> list[Array]:
    dtype = common_dtype(*values)
    return [xp.astype(array(x), dtype) for x in values]


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """Choose each element by the first condition that holds."""
    found = default
    for condition, value in reversed(list(zip(arrays(condlist), choicelist, strict=True))):
        if condition.dtype is not xp.bool:
            dtype = condition.dtype.name
            raise ArgumentTypeError("select", f"a condition is of dtype {dtype}", (), "pass bool conditions")
        found = where(condition, value, found)
    return array(found)


def copyto(dst: Array, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write values to an array."""
    source = array(src) if not isinstance(src, SCALARS) else xp.asarray(src, dtype=common_dtype(dst, src))
    finish("copyto", xp.broadcast_to(source, dst.shape), dst, where, casting)


def putmask(a: Array, mask: Any, values: Any) -> None:
    """Write values where a mask is true."""
    values = array(values)
    if values.shape != a.shape:
        values = resize(values, a.shape)
    finish("putmask", values, a, array(mask), "same_kind")


def put(a: Array, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write values at flat indices in C order; values are repeated as needed."""
    ind, values = ravel(ind), array(v)
    if mode == "clip":
        ind = xp.clip(ind, 0, a.size - 1)
    elif mode == "wrap":
        ind = ind % a.size
    if values.size and ind.size:
        changed = xp.asarray(ravel(a), copy=True)
        changed[ind] = xp.astype(resize(values, ind.shape), a.dtype)
        a[...] = xp.reshape(changed, a.shape)


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Write values where a mask is true; values are repeated as needed."""
    put(arr, flatnonzero(mask), vals)


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Write a value to the diagonal of an array."""
    if wrap or a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise ArgumentValueError("fill_diagonal", f"the shape is {a.shape}", (), "pass a matrix; omit wrap")
    k = xp.arange(builtins.min(a.shape))
    a[(k,) * a.ndim] = val


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Return the indices of a diagonal."""
    return (xp.arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Return the indices of the diagonal of an array with equal sizes."""
    arr = array(arr)
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        accepts = "pass an array with two or more axes of equal size"
        raise ArgumentValueError("diag_indices_from", f"the shape is {arr.shape}", (), accepts)
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[Array, ...]:
    """Return the indices of the nonzero elements after `mask_func`, such as `triu`, is applied to ones."""
    return nonzero(mask_func(xp.ones((n, n), dtype=xp.int64), k))


def tril_indices(n: int, k: int = 0, m: Any = None) -> tuple[Array, ...]:
    """Return the indices at and below a diagonal."""
    return xp.nonzero(xp.tril(xp.ones((n, n if m is None else m)), k=k))


def triu_indices(n: int, k: int = 0, m: Any = None) -> tuple[Array, ...]:
    """Return the indices at and above a diagonal."""
    return xp.nonzero(xp.triu(xp.ones((n, n if m is None else m)), k=k))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the indices at and below a diagonal of a matrix."""
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the indices at and above a diagonal of a matrix."""
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def ix_(*args: Any) -> tuple[Array, ...]:
    """Reshape index vectors, one per axis, so that they broadcast to a grid."""
    found = [xp.nonzero(a)[0] if a.dtype is xp.bool else a for a in arrays(args)]
    if any(a.ndim != 1 for a in found):
        raise ShapeError("ix_", "an argument does not have exactly one axis", (), "pass vectors")
    given = zip(args, found, strict=True)
    found = [a if a.size or hasattr(x, "dtype") else xp.astype(a, xp.int64) for x, a in given]
    return tuple(
        xp.reshape(a, tuple(-1 if j == k else 1 for j in range(len(found)))) for k, a in enumerate(found)
    )


def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Convert flat indices to a tuple of index arrays, one per axis."""
    found = numpy().unravel_index(numpy().asarray(indices), shape, order)
    return tuple(xp.asarray(part) for part in found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Array:
    """Convert a tuple of index arrays to flat indices."""
    given = tuple(numpy().asarray(part) for part in multi_index)
    return xp.asarray(numpy().ravel_multi_index(given, dims, mode, order))
