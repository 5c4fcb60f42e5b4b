"""Gradient rules of statistical, sorting, searching, set and utility functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._base.shapes import Axis, Shape
from stride0._chapters import elementwise as el
from stride0._chapters.creation import ones_like, zeros, zeros_like
from stride0._chapters.data_types import astype, finfo
from stride0._chapters.indexing import take, take_along_axis
from stride0._chapters.manipulation import concat, flip, moveaxis, reshape, roll
from stride0._chapters.searching import count_nonzero
from stride0._chapters.set import unique_all, unique_counts
from stride0._chapters.sorting import argsort
from stride0._chapters.statistical import cumulative_prod, cumulative_sum, mean
from stride0._chapters.utility import diff
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive
from stride0._core.elementwise.elementwise import is_recorded
from stride0._core.elementwise.functions import where
from stride0.autograd._rules.elementwise import unless_zero
from stride0.autograd._rules.parts import conjugate, count, every, kept, product, reduced_axes, some, times
from stride0.autograd._tape.tape import LazyProduct
from stride0.linalg import vector_norm

# The squares of smaller numbers lose digits in float64, the widest dtype.
_SMALL = 1e-140


def _slice(x: Array, axis: int, start: int | None, stop: int | None) -> Array:
    """Return the elements from `start` to `stop` along a non-negative axis."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _normalized_axis(axis: int | None, shape: Shape) -> int:
    """Return the axis of a cumulative function as a non-negative number."""
    return axis % len(shape) if axis and shape else 0


def with_kept_axes(x: Array, shape: Shape, axis: Axis) -> Array:
    """Return the result of a reduction of an array of `shape`, with size 1 along the reduced axes."""
    wanted = kept(shape, axis)
    return x if x.shape == wanted else reshape(x, wanted)


# --- reductions


def is_in_range(x: Array) -> bool:
    """Return whether all elements are normal numbers."""
    size = el.abs(x)
    return every(
        el.logical_and(el.greater_equal(size, finfo(x.dtype).smallest_normal), el.less(size, math.inf))
    )


def other_factors(x: Array, axis: Axis, out: Array) -> Array:
    """Return for each element the product of all other elements along the axes.

    This is `out` divided by the element, if `out` is within the range of the dtype and is not differentiated
    again: the derivative with respect to the element itself is 0, which quotients give only by cancellation.
    """
    if not is_recorded(x) and is_in_range(out):
        return with_kept_axes(out, x.shape, axis) / x
    x = astype(x, out.dtype, copy=False)
    axes = reduced_axes(axis, x.ndim)
    if not axes or not x.size:
        return ones_like(x)
    at = x.ndim - len(axes)
    last = tuple(range(at, x.ndim))
    moved = moveaxis(x, axes, last)
    flat = reshape(moved, (*moved.shape[:at], -1))
    behind = flip(_product_before(flip(flat, axis=at), at), axis=at)
    return moveaxis(reshape(_product_before(flat, at) * behind, moved.shape), last, axes)


def _product_before(x: Array, axis: int) -> Array:
    """Return for each element the product of the elements before it along a non-empty axis."""
    return cumulative_prod(_slice(x, axis, None, -1), axis=axis, include_initial=True)


def _var(g: Array, x: Array, axis: Axis, correction: float) -> LazyProduct:
    weight = 2 / divisor(x.shape, axis, correction)
    return times(with_kept_axes(product(g, weight), x.shape, axis), x - mean(x, axis=axis, keepdims=True))


def std_slope(x: Array, axis: Axis, correction: float, out: Array) -> Array:
    """Return the derivative of `std` by each element; 0 if all elements are equal: Note [Divided by zero]."""
    freedom = divisor(x.shape, axis, correction)
    apart, size = x - mean(x, axis=axis, keepdims=True), with_kept_axes(out, x.shape, axis)
    if not every(el.logical_and(el.greater(size, _SMALL), el.less(size, math.inf))):
        # The squares of the deviations may overflow or underflow.
        size = vector_norm(apart, axis=axis, keepdims=True) / math.sqrt(freedom)
    return apart / unless_zero(size) / freedom


def divisor(shape: Shape, axis: Axis, correction: float) -> float:
    """Return the divisor of the sum of squares."""
    found = count(shape, axis) - correction
    return found if found > 0 else math.nan


def _extreme(g: Array, x: Array, axis: Axis, out: Array, loses: Callable[[Array, Array], Array]) -> Array:
    """Return the cotangent of `max` or `min`, divided evenly among equal elements."""
    lost, ties = losers(x, axis, out, loses)
    return where(lost, 0, with_kept_axes(g, x.shape, axis) / astype(ties, g.dtype))


def losers(x: Array, axis: Axis, out: Array, loses: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """Return a mask of elements that are not the extreme along an axis, and the number of extremes."""
    best = with_kept_axes(out, x.shape, axis)
    lost, unknown = loses(x, best), el.isnan(best)
    if some(unknown):
        # Comparisons with NaN are false. If the extreme is NaN, all elements that are not NaN lose.
        lost = el.logical_or(lost, el.logical_and(unknown, el.logical_not(el.isnan(x))))
    return lost, count(x.shape, axis) - count_nonzero(lost, axis=axis, keepdims=True)


# --- cumulative functions


def _cumulative_sum(g: Array, x_shape: Shape, axis: int | None, include_initial: bool) -> Array:
    axis = _normalized_axis(axis, x_shape)
    return _reverse_cumulative_sum(_slice(g, axis, 1, None) if include_initial else g, axis)


def _reverse_cumulative_sum(x: Array, axis: int) -> Array:
    """Return for each element the sum of the element and all later elements."""
    return flip(cumulative_sum(flip(x, axis=axis), axis=axis), axis=axis)


def _cumulative_prod(g: Array, x: Array, axis: int | None, include_initial: bool, out: Array) -> LazyProduct:
    axis = _normalized_axis(axis, x.shape)
    if include_initial:
        g, out = (_slice(y, axis, 1, None) for y in (g, out))
    if not x.shape:
        x = reshape(x, (1,))
    x = astype(x, out.dtype, copy=False)
    # The product of the previous elements is a factor of all results that an element contributes to.
    return times(recurrence(g, conjugate(x), axis), conjugate(_product_before(x, axis)))


@primitive
def recurrence(g: Array, x: Array, axis: int) -> Array:
    """Return `s` with ``s[i] = g[i] + x[i + 1] * s[i + 1]`` along a non-negative axis."""
    # The first factor occurs in no result.
    products = cumulative_prod(_slice(x, axis, 1, None), axis=axis, include_initial=True)
    if is_in_range(products):
        terms = product(g, products)
        sums = _reverse_cumulative_sum(terms, axis)
        if is_in_range(where(el.equal(g, 0), 1, terms)) and every(el.less(el.abs(sums), math.inf)):
            return sums / products
    return _by_doubling(g, x, axis)


def _by_doubling(g: Array, x: Array, axis: int) -> Array:
    """Return `recurrence` without divisions.

    After each round ``total[i]`` holds the terms of the next `step` results, and ``s[i]`` is ``total[i] +
    factor[i] * s[i + step]``.
    """
    n = x.shape[axis]
    total, factor, step = g, _slice(x, axis, 1, None), 1
    while step < n:
        # `factor` is shorter than `total` by `step`: beyond the end there is nothing to add.
        longer = _slice(total, axis, None, n - step) + product(_slice(total, axis, step, None), factor)
        total = concat((longer, _slice(total, axis, n - step, None)), axis=axis)
        factor = _slice(factor, axis, None, max(n - 2 * step, 0)) * _slice(factor, axis, step, None)
        step *= 2
    return total


def _recurrence_g(g: Array, x: Array, axis: int) -> Array:
    # The adjoint runs in the opposite direction: s[i] = g[i] + x[i] * s[i - 1].
    factors = roll(flip(conjugate(x), axis=axis), 1, axis=axis)
    return flip(recurrence(flip(g, axis=axis), factors, axis), axis=axis)


def _recurrence_x(g: Array, x: Array, axis: int, out: Array) -> LazyProduct:
    adjoint = _recurrence_g(g, x, axis)
    first = zeros_like(_slice(adjoint, axis, None, 1))
    before = concat((first, _slice(adjoint, axis, None, -1)), axis=axis)
    return times(before, conjugate(out))


# --- order


def _sort(g: Array, x: Array, axis: int, descending: bool) -> Array:
    order = argsort(x, axis=axis, descending=descending)
    return take_along_axis(g, argsort(order, axis=axis), axis=axis)


def _unique(g: Array | None, counts: Array, inverse: Array) -> Array | None:
    """Divide the cotangents of the distinct values of an array among equal elements."""
    if g is None:
        return None
    return take(g / astype(counts, g.dtype), inverse, axis=0)


def _unique_values(g: Array | None, x: Array) -> Array | None:
    found = unique_all(x)
    return _unique(g, found.counts, found.inverse_indices)


# --- differences


def _diff(g: Array, axis: int, n: int, before: int, length: int) -> Array | None:
    """Return the cotangent of `length` elements after the first `before` elements."""
    axis %= g.ndim
    if g.shape[axis] == 0:
        return None
    if n:
        # The adjoint of x[i + 1] - x[i] is g[i - 1] - g[i].
        edge = zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), dtype=g.dtype)
        g = diff(g, axis=axis, n=n, prepend=edge, append=edge)
    part = g if g.shape[axis] == length else _slice(g, axis, before, before + length)
    return -part if n % 2 else part


def _length(shape: Shape | None, axis: int) -> int:
    """Return the length along an axis; 0 if the array was not given."""
    return shape[axis] if shape else 0


VJP: dict[str, dict[str, Callable[..., Any]]] = {
    # --- statistical functions
    "prod": {
        "x": lambda g, x, axis, out: times(
            with_kept_axes(g, x.shape, axis), conjugate(other_factors(x, axis, out))
        )
    },
    "var": {"x": _var},
    "std": {
        "x": lambda g, x, axis, correction, out: times(
            with_kept_axes(g, x.shape, axis), std_slope(x, axis, correction, out)
        )
    },
    "max": {"x": lambda g, x, axis, out: _extreme(g, x, axis, out, el.less)},
    "min": {"x": lambda g, x, axis, out: _extreme(g, x, axis, out, el.greater)},
    "cumulative_sum": {"x": _cumulative_sum},
    "cumulative_prod": {"x": _cumulative_prod},
    # --- sorting and set functions
    "sort": {"x": _sort},
    "unique_all": {"x": lambda g, out: _unique(g[0], out[3], out[2])},
    "unique_counts": {"x": lambda g, x: _unique_values(g[0], x)},
    "unique_inverse": {"x": lambda g, out: _unique(g[0], unique_counts(out[1]).counts, out[1])},
    "unique_values": {"x": _unique_values},
    # --- utility functions
    "diff": {
        "x": lambda g, x_shape, axis, n, prepend_shape: _diff(
            g, axis, n, _length(prepend_shape, axis), x_shape[axis]
        ),
        "prepend": lambda g, axis, n, prepend_shape: _diff(g, axis, n, 0, prepend_shape[axis]),
        "append": lambda g, x_shape, axis, n, prepend_shape, append_shape: _diff(
            g, axis, n, _length(prepend_shape, axis) + x_shape[axis], append_shape[axis]
        ),
    },
}

# Rules of inner functions: rules call them, users do not.
INNER_VJP: dict[str, dict[str, Callable[..., Any]]] = {"recurrence": {"g": _recurrence_g, "x": _recurrence_x}}

NO_GRAD: dict[str, str] = {
    **dict.fromkeys(
        (
            *("argmax", "argmin", "argpartition", "argselect", "argsort", "count_nonzero", "intervals"),
            *("nonzero", "searchsorted"),
        ),
        "the result is integer",
    ),
    **dict.fromkeys(("all", "any", "isin"), "the result is boolean"),
}
