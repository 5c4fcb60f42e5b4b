"""Functions that count and interpolate: beyond the standard, with the meaning of NumPy's."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence

from stride0._base.errors import ArgumentValueError, ShapeError, shown
from stride0._base.shapes import normalize_index
from stride0._chapters.creation import linspace
from stride0._chapters.data_types import astype, result_type
from stride0._chapters.indexing import take
from stride0._chapters.manipulation import broadcast_to, concat, reshape, stack
from stride0._chapters.searching import searchsorted
from stride0._chapters.sorting import argsort
from stride0._chapters.statistical import max, min, sum
from stride0._chapters.utility import all, any, diff
from stride0._core.array.array import Array
from stride0._core.array.views import reinterpret
from stride0._core.calls.checks import KINDS, check_array, refuse_dtype
from stride0._core.calls.primitive import intercepted, primitive
from stride0._core.exchange.convert import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0._core.memory import dtype as dt
from stride0._core.ops.counts import counted
from stride0._core.ops.functions import (
    add,
    divide,
    equal,
    greater,
    greater_equal,
    imag,
    isfinite,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    multiply,
    real,
    remainder,
    subtract,
    where,
)
from stride0._core.ops.operands import as_array

__all__ = ["bincount", "histogram", "interp"]


@intercepted
def bincount(x: Array, /, weights: Array | None = None, minlength: int = 0) -> Array:
    """Count how often each number occurs, or sum the weights of its occurrences.

    Parameters
    ----------
    x : Array
        Array of one axis and an integer dtype; no element is negative.
    weights : Array, optional
        What each element counts, of the shape of `x`; by default 1.
    minlength : int
        The result has at least so many elements.

    Returns
    -------
    Array
        New array of one axis: element ``i`` belongs to the number ``i``, up to the largest in `x`. int64;
        with weights float64, or complex128 where they are complex.

    Raises
    ------
    DTypeError
        If `x` is not of an integer dtype.
    ShapeError
        If `x` has not one axis, or the weights another shape.
    ArgumentValueError
        If an element, or `minlength`, is negative.
    """


# --- histogram


@primitive
def intervals(x: Array, edges: Array, first: float, last: float, /) -> Array:
    """Return in which of the intervals from `first` to `last`, all equally wide, each element lies."""


@intercepted
def histogram(
    x: Array,
    bins: int | str | Array | Sequence[float] = 10,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """Count the elements in each of adjacent intervals.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype, of any shape.
    bins : int, str, Array or sequence of float
        How many intervals of equal width there are; or the name of a rule of NumPy's `histogram_bin_edges`
        that finds this; or their edges, in ascending order.
    range : pair of float, optional
        The first edge and the last one; by default the least element and the largest. What lies outside is
        not counted.
    density : bool
        Whether to divide the counts by the widths and by the sum of all counts.
    weights : Array, optional
        What each element counts, of the shape of `x`; by default 1.

    Returns
    -------
    hist : Array
        New array of one axis: int64, with weights float64 or complex128, float64 where `density` asks for
        it. An interval has its lower edge, the last one its upper edge, too.
    bin_edges : Array
        New array with one element more: of the dtype of `x` if that is floating-point, else float64; or the
        given edges.

    Raises
    ------
    DTypeError
        If `x` is complex.
    ArgumentValueError
        If the number of intervals is not positive, the range is not finite or its ends are exchanged, the
        dtype has too few numbers in it for the edges, or given edges are not in order.
    ShapeError
        If the edges have not one axis, or the weights another shape.
    """
    given = check_array("histogram", x)
    if given.dtype.kind in KINDS["complex floating"]:
        refuse_dtype("histogram", given.dtype, "a real-valued dtype")
    flat = reshape(given, (-1,))
    flat = astype(flat, dt.uint8) if flat.dtype == dt.bool else flat
    counted_by = None if weights is None else reshape(check_array("histogram", weights, "weights"), (-1,))
    if counted_by is not None and counted_by.shape != flat.shape:
        raise ShapeError(
            "histogram",
            "the weights have another shape",
            [("x", str(flat.shape)), ("weights", str(counted_by.shape))],
        )
    if isinstance(bins, str):
        if weights is not None:
            raise ArgumentValueError(
                "histogram", "rules for the number of bins take no weights", (), "bins=<int>"
            )
        try:
            found = numpy().histogram_bin_edges(to_numpy(flat), bins, range)
        except ValueError as error:
            raise ArgumentValueError("histogram", str(error), [("bins", shown(bins))]) from None
        bins = len(found) - 1
    if isinstance(bins, (Array, list, tuple)):
        edges = bins if isinstance(bins, Array) else asarray(list(bins))
        places = _within_edges(flat, edges)
    else:
        edges, places = _within_range(flat, normalize_index("histogram", "bins", bins), range)
    number = edges.size - 1
    # What lies outside has a place of its own, behind the last.
    hist = counted(places, counted_by, number + 1)[:number]
    if density:
        return divide(
            divide(astype(hist, _floating(hist)), astype(diff(edges), dt.float64)), sum(hist)
        ), edges
    return hist, edges


def _floating(x: Array) -> dt.DType:
    return x.dtype if x.dtype.kind in (*KINDS["real floating"], *KINDS["complex floating"]) else dt.float64


def _within_edges(x: Array, edges: Array) -> Array:
    if edges.ndim != 1 or not edges.size:
        raise ShapeError("histogram", "the edges must have one axis", [("bins", str(edges.shape))])
    if edges.dtype.kind in KINDS["complex floating"]:
        refuse_dtype("histogram", edges.dtype, "a real-valued dtype", "bins")
    if not bool(_ascending(edges)):
        raise ArgumentValueError(
            "histogram", "the edges are not in ascending order", [("bins", str(edges.shape))]
        )
    last = edges.size - 1
    places = subtract(searchsorted(edges, x, side="right"), 1)
    places = where(logical_and(equal(x, edges[-1]), last > 0), last - 1, places)
    return where(logical_and(greater_equal(x, edges[0]), less_equal(x, edges[-1])), places, last)


def _ascending(x: Array) -> Array:
    return logical_not(any(logical_not(greater_equal(x[1:], x[:-1]))))


def _within_range(x: Array, bins: int, range: tuple[float, float] | None) -> tuple[Array, Array]:
    """Return the edges of intervals of equal width, and in which each element lies; outside: `bins`."""
    if bins < 1:
        raise ArgumentValueError("histogram", "there must be at least one interval", [("bins", str(bins))])
    if range is not None:
        first, last = (float(end) for end in range)
        if first > last:
            raise ArgumentValueError(
                "histogram", "the range ends before it starts", [("range", shown(range))]
            )
    elif x.size:
        first, last = float(min(x)), float(max(x))
    else:
        first, last = 0.0, 1.0
    if not (-builtins.float("inf") < first <= last < builtins.float("inf")):
        raise ArgumentValueError("histogram", f"the range from {first} to {last} is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    floating = _floating(x)
    edges = linspace(first, last, bins + 1, dtype=floating)
    exact = astype(edges, dt.float64, copy=False)
    if last - first == math.inf or not bool(all(greater(diff(exact), 0))):
        raise ArgumentValueError(
            "histogram",
            f"{floating.name} has too few numbers from {first} to {last} for the edges",
            [("bins", str(bins))],
        )
    return edges, intervals(x, exact, first, last)


# --- interpolation


@intercepted
def interp(
    x: Array | float,
    xp: Array,
    fp: Array,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> Array:
    """Interpolate linearly between points of a curve.

    Parameters
    ----------
    x : Array or float
        Where to evaluate, of any shape and of bool or a real dtype.
    xp, fp : Array
        The coordinates of the points, each of one axis: `xp` in ascending order unless there is a period;
        `fp` may be complex.
    left, right : complex, optional
        The value before the first point and behind the last; by default those of these points.
    period : float, optional
        The period of the curve, for which `left` and `right` are not used and `xp` may be in any order.

    Returns
    -------
    Array
        New array of the shape of `x`, of the floating-point dtype that those of the arguments promote to.

    Raises
    ------
    ShapeError
        If `xp` and `fp` have not one axis and equally many elements, or none.
    ArgumentValueError
        If the period is 0.
    DTypeError
        If `x` or `xp` is complex.

    Notes
    -----
    Whether `xp` is in order is not checked. Differentiable by `x`, `xp` and `fp`; at a point, the slope by
    `x` is that of the segment behind it.
    """
    points, values = check_array("interp", xp, "xp"), check_array("interp", fp, "fp")
    at = as_array(x, "interp")
    for name, array in (("x", at), ("xp", points)):
        if array.dtype.kind in KINDS["complex floating"]:
            refuse_dtype("interp", array.dtype, "a real-valued dtype", name)
    if points.ndim != 1 or points.shape != values.shape or not points.size:
        raise ShapeError(
            "interp",
            "xp and fp must have one axis and equally many elements, at least one",
            [("xp", str(points.shape)), ("fp", str(values.shape))],
        )
    places = result_type(_floating(at), _floating(points))
    at, points = astype(at, places, copy=False), astype(points, places, copy=False)
    values = astype(values, result_type(places, _floating(values)), copy=False)
    if period is not None:
        if period == 0:
            raise ArgumentValueError("interp", "the period is 0", [("period", str(period))])
        length = builtins.abs(float(period))
        at, points, left, right = remainder(at, length), remainder(points, length), None, None
        order = argsort(points)
        points, values = take(points, order), take(values, order)
        points = concat((subtract(points[-1:], length), points, add(points[:1], length)))
        values = concat((values[-1:], values, values[:1]))
    if points.size == 1:
        found = broadcast_to(values[0], at.shape)
    elif values.dtype.kind in KINDS["complex floating"]:
        # Each component for itself: an infinite one leaves the other one as it is.
        components = _on_segments(at, points, real(values), imag(values))
        found = reshape(reinterpret(stack(components, axis=-1), values.dtype), at.shape)
    else:
        found = _on_segments(at, points, values)[0]
    result = where(
        less(at, points[0]), values[0] if left is None else as_array(left, "interp", values.dtype), found
    )
    result = where(
        greater(at, points[-1]),
        values[-1] if right is None else as_array(right, "interp", values.dtype),
        result,
    )
    return where(isnan(at), at, result)


def _on_segments(at: Array, points: Array, *curves: Array) -> list[Array]:
    """Return the values of several curves over the same points, whose segments are searched for once."""
    segment = subtract(searchsorted(points, at, side="right"), 1)
    segment = reshape(minimum(maximum(segment, 0), points.size - 2), (-1,))
    shape = at.shape
    behind = add(segment, 1)
    x0, x1 = (reshape(take(points, k), shape) for k in (segment, behind))
    results = []
    for values in curves:
        y0, y1 = (reshape(take(values, k), shape) for k in (segment, behind))
        slope = divide(subtract(y1, y0), subtract(x1, x0))
        found = add(multiply(slope, subtract(at, x0)), y0)
        found = where(equal(at, x1), y1, found)
        # From the other end, where this one is infinite; between equal values; at a point.
        found = where(isnan(found), add(multiply(slope, subtract(at, x1)), y1), found)
        found = where(logical_and(isnan(found), equal(y0, y1)), y0, found)
        at_a_point = logical_and(equal(at, x0), isfinite(x0))
        results.append(where(logical_and(isnan(found), at_a_point), y0, found))
    return results
