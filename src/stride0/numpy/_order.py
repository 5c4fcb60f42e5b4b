"""Order, search and counts with NumPy's signatures."""

from __future__ import annotations

import math
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


def sort_complex(a: Any) -> Array:
    """Return elements as complex numbers, sorted by real parts and then by imaginary parts."""
    a = array(a)
    if a.dtype.kind != "complex floating":
        small = a.dtype.itemsize <= 2 and a.dtype.kind in ("signed integer", "unsigned integer")
        return xp.astype(xp.sort(a), xp.complex64 if small else xp.complex128)
    return xp.take_along_axis(a, lexsort((xp.imag(a), xp.real(a))), axis=-1)


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


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Return counts of points in boxes, and the edges of the boxes along each axis."""
    if isinstance(sample, (list, tuple)):
        columns = [ravel(x) for x in sample]
    else:
        points = array(sample)
        columns = [points] if points.ndim == 1 else list(xp.unstack(points, axis=1))
    wanted = [bins] * len(columns) if isinstance(bins, int) else bins
    ranges = [None] * len(columns) if range is None else range
    for name, items in (("bins", wanted), ("range", ranges)):
        if len(items) != len(columns):
            facts = [("axes", str(len(columns))), (name, str(len(items)))]
            raise ArgumentValueError(
                "histogramdd", f"{name} has another length than a point", facts, "one for each axis"
            )
    edges = [histogram_bin_edges(*given) for given in zip(columns, wanted, ranges, strict=True)]
    inside: Any = True
    place: Any = 0
    shape = tuple(edge.size - 1 for edge in edges)
    for x, edge in zip(columns, edges, strict=True):
        box = xp.where(x == edge[-1], edge.size - 2, xp.searchsorted(edge, x, side="right") - 1)
        inside = (x >= edge[0]) & (x <= edge[-1]) & inside
        place = place * (edge.size - 1) + box
    weights = None if weights is None else ravel(weights)[inside]
    total = xp.bincount(place[inside], weights, math.prod(shape))
    counts = xp.reshape(xp.astype(total, xp.float64) if "floating" not in total.dtype.kind else total, shape)
    if density:
        for k, edge in enumerate(edges):
            counts = counts / xp.reshape(xp.diff(edge), (-1,) + (1,) * (len(edges) - 1 - k))
        counts = counts / xp.sum(xp.astype(total, counts.dtype))
    return counts, tuple(edges)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Return counts of points in rectangles, and the edges along both axes."""
    if len(x) != len(y):
        facts = [("x", str(len(x))), ("y", str(len(y)))]
        raise ArgumentValueError("histogram2d", "x and y differ in length", facts, "as many x as y")
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [array(bins)] * 2
    elif not isinstance(bins, int) and len(bins) == 1:
        bins = [*bins] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """Count how often each integer occurs."""
    x = array(x)
    return xp.bincount(
        x if x.size else xp.astype(x, xp.int64), None if weights is None else array(weights), minlength
    )
