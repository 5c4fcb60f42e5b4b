"""Order, search and counts with NumPy's signatures."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.numpy._manipulation import ravel
from stride0.numpy._parts import array, common_dtype, refuse
from stride0.numpy._reductions import flat

# --- order


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Array:
    """Return sorted elements."""
    refuse("sort", order=order)
    a, axis = flat(a, axis)
    return xp.sort(a, axis=axis)


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Array:
    """Return the indices that sort an array; equal elements keep their order."""
    refuse("argsort", order=order)
    a, axis = flat(a, axis)
    return xp.argsort(a, axis=axis)


def lexsort(keys: Any, axis: int = -1) -> Array:
    """Return the indices that sort by several keys; the last key counts first."""
    keys = [array(key) for key in keys]
    order = xp.argsort(keys[0], axis=axis)
    for key in keys[1:]:
        order = xp.take_along_axis(
            order, xp.argsort(xp.take_along_axis(key, order, axis=axis), axis=axis), axis=axis
        )
    return order


def partition(a: Any, kth: Any, axis: Any = -1) -> Array:
    """Return the elements, partitioned so that the ranks `kth` are in sorted position."""
    a, axis = flat(a, axis)
    return xp.partition(a, kth, axis=axis)


def argpartition(a: Any, kth: Any, axis: Any = -1) -> Array:
    """Return the indices that partition an array."""
    a, axis = flat(a, axis)
    return xp.argpartition(a, kth, axis=axis)


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Array:
    """Return the indices at which elements would be inserted."""
    sorter = None if sorter is None else array(sorter)
    return xp.searchsorted(array(a), v if isinstance(v, (int, float)) else array(v), side=side, sorter=sorter)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Return the bin of each element."""
    x, bins = array(x), array(bins)
    falling = bins.size > 1 and bool(bins[0] > bins[-1])
    step = xp.diff(bins)
    if bins.size > 1 and not bool(xp.all(step <= 0 if falling else step >= 0)):
        raise ArgumentValueError("digitize", "bins are not sorted", (), "pass sort(bins)")
    side: Any = "left" if right else "right"
    if falling:
        return bins.size - xp.searchsorted(xp.flip(bins), x, side=side)
    return xp.searchsorted(bins, x, side=side)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Return the edges of the bins of a histogram."""
    found: Array = histogram(a, bins, range, False, weights)[1]
    return found


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None) -> Any:
    """Return counts in bins, and the edges of the bins."""
    bins = bins if isinstance(bins, (int, str, Array)) else array(bins)
    weights = None if weights is None else xp.reshape(array(weights), (-1,))
    a = ravel(a)
    if range is not None and any(hasattr(x, "dtype") for x in range):
        a, range = xp.astype(a, common_dtype(a, *range)), tuple(float(x) for x in range)
    counts, edges = xp.histogram(a, bins, range, density, weights)
    whole = weights is not None and not density and "floating" not in weights.dtype.kind
    return (xp.astype(counts, weights.dtype) if whole else counts), edges


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """Count how often each integer occurs."""
    x = array(x)
    return xp.bincount(
        x if x.size else xp.astype(x, xp.int64), None if weights is None else array(weights), minlength
    )
