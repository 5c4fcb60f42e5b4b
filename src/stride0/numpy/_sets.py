"""Sets with NumPy's signatures."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import from_numpy, numpy, to_numpy
from stride0.numpy._manipulation import concatenate, ravel
from stride0.numpy._parts import array, common_dtype


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:
    """Return a mask of elements that occur in another array."""
    if kind not in (None, "sort", "table"):
        raise ArgumentValueError("isin", f"kind is {kind!r}", (), "pass kind=None, 'sort' or 'table'")
    return xp.isin(array(element), array(test_elements), invert=invert)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """Remove zeros at the front (`f`) and the back (`b`) of axes."""
    a = array(filt)
    axes = range(a.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ArgumentValueError("trim_zeros", f"trim is {trim!r}", (), "pass trim='f', 'b' or 'fb'")
    key: list[Any] = [slice(None)] * a.ndim
    for places, k in ((xp.nonzero(a)[k], k) for k in axes):
        first, last = (int(xp.min(places)), int(xp.max(places)) + 1) if places.size else (a.shape[k], 0)
        front = first if "f" in trim.lower() else 0
        key[k] = slice(front, max(last, front) if "b" in trim.lower() else None)
    return a[tuple(key)]


def unique_values(x: Any, /) -> Array:
    """Return the distinct elements; each NaN counts as distinct."""
    return xp.unique_values(array(x))


def unique_counts(x: Any, /) -> Any:
    """Return the distinct elements, and how often each occurs."""
    return xp.unique_counts(array(x))


def unique_inverse(x: Any, /) -> Any:
    """Return the distinct elements, and the indices that restore the array."""
    return xp.unique_inverse(array(x))


def unique_all(x: Any, /) -> Any:
    """Return the distinct elements, their first indices, inverse indices and counts."""
    return xp.unique_all(array(x))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return the sorted elements that occur in exactly one of two arrays."""
    dtype = common_dtype(ar1, ar2)
    a, b = (xp.astype(ravel(x) if assume_unique else unique(x), dtype) for x in (ar1, ar2))
    return xp.sort(xp.concat([a[~xp.isin(a, b)], b[~xp.isin(b, a)]]))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return the elements of one array that are not in another; sorted unless `assume_unique`."""
    found = ravel(ar1) if assume_unique else unique(ar1)
    return found[~xp.isin(found, array(ar2))]


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the sorted elements that are in both arrays."""
    dtype = common_dtype(ar1, ar2)
    found = xp.astype(unique(ar1), dtype)
    return found[xp.isin(found, xp.astype(array(ar2), dtype))]


def union1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted distinct elements of two arrays."""
    return unique(concatenate((ar1, ar2), axis=None))


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the distinct elements, sorted."""
    if axis is not None:
        axis = normalize_axis("unique", axis, array(ar).ndim)
        # NumPy computes the indices.
        found = numpy().unique(to_numpy(array(ar)), True, True, True, axis, equal_nan=equal_nan)
        asked = zip((return_index, return_inverse, return_counts), found[1:], strict=True)
        parts = [xp.take(array(ar), xp.asarray(found[1]), axis=axis), *(from_numpy(x) for k, x in asked if k)]
        return parts[0] if len(parts) == 1 else tuple(parts)
    found = xp.unique_all(array(ar))
    values, first, inverse, counts = found
    order = xp.argsort(values)
    back = xp.argsort(order)
    values, first, inverse, counts = values[order], first[order], back[inverse], counts[order]
    count = int(xp.count_nonzero(values != values)) - 1 if equal_nan else 0
    if count > 0:
        # NaNs come last, and each counts as distinct.
        last = values.size - count - 1
        inverse, values = xp.minimum(inverse, last), values[: last + 1]
        first = xp.concat([first[:last], xp.min(first[last:], keepdims=True)])
        counts = xp.concat([counts[:last], xp.sum(counts[last:], keepdims=True)])
    asked = zip((return_index, return_inverse, return_counts), (first, inverse, counts), strict=True)
    parts = [values, *(x for k, x in asked if k)]
    return parts[0] if len(parts) == 1 else tuple(parts)
