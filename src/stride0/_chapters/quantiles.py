"""The median and quantiles, by selection of the elements with the ranks that they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from stride0._base.errors import ArgumentValueError, ShapeError, shown
from stride0._base.shapes import Axis, normalize_axes, size_of
from stride0._chapters.creation import full, ones_like
from stride0._chapters.data_types import astype
from stride0._chapters.indexing import take, take_along_axis
from stride0._chapters.manipulation import broadcast_to, concat, expand_dims, moveaxis, permute_dims, reshape
from stride0._chapters.searching import count_nonzero, searchsorted
from stride0._chapters.selection import STORAGE, argselect
from stride0._chapters.sorting import argsort
from stride0._chapters.statistical import cumulative_sum
from stride0._chapters.utility import any, every, some
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted
from stride0._core.call.checks import KINDS, check_array, refuse_dtype
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import is_recorded
from stride0._core.elementwise.functions import round as nearest
from stride0._core.exchange.exchange import asarray
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType

__all__ = ["median", "percentile", "quantile"]

# Up to this number of ranges of ranks, each range is selected; for more ranges, all elements are sorted.
FEW = 4


@intercepted
def median(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Return the median: the middle element, or the mean of the two middle elements.

    Returns
    -------
    Array
        New array; NaN if an element is NaN, or if there are no elements.

    See Also
    --------
    nanmedian, quantile
    """
    lanes, kept, shape = _lanes("median", x, axis)
    count = lanes.shape[-1]
    if lanes.dtype.kind not in KINDS["real floating"]:
        lanes = astype(lanes, dt.float64)
    if not count:
        result = full(lanes.shape[:-1], math.nan, dtype=lanes.dtype)
    else:
        middle = _at_ranks(lanes, [(count - 1) // 2, count // 2])
        result = middle[..., 0] if count % 2 else mean_of_two(middle[..., 0], middle[..., 1])
        result = el.where(any(el.isnan(lanes), axis=-1), math.nan, result)
    return reshape(result, shape if keepdims else kept)


def mean_of_two(x: Array, y: Array) -> Array:
    """Return ``(x + y) / 2``, even if the sum overflows."""
    total = el.add(x, y)
    return el.where(el.isinf(total), el.add(el.divide(x, 2), el.divide(y, 2)), el.divide(total, 2))


def _lanes(operation: str, x: object, axis: Axis) -> tuple[Array, tuple[int, ...], tuple[int, ...]]:
    """Return an array with `axis` merged into its last axis; the shape without it, and with size 1."""
    given = check_array(operation, x)
    if given.dtype.kind in KINDS["complex floating"]:
        refuse_dtype(operation, given.dtype, "a real-valued dtype")
    axes = normalize_axes(operation, axis, given.ndim)
    others = [k for k in range(given.ndim) if k not in axes]
    kept = tuple(given.shape[k] for k in others)
    lanes = reshape(permute_dims(given, (*others, *axes)), (*kept, size_of([given.shape[k] for k in axes])))
    return lanes, kept, tuple(1 if k in axes else n for k, n in enumerate(given.shape))


def _at_ranks(lanes: Array, ranks: Sequence[int]) -> Array:
    """Return the elements with given ranks along the last axis, in ascending order of ranks."""
    if not ranks:
        return lanes[..., :0]
    ranges: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if ranges and ranges[-1][1] == rank:
            ranges[-1][1] = rank + 1
        else:
            ranges.append([rank, rank + 1])
    if len(ranges) > FEW:
        chosen = asarray([rank for first, last in ranges for rank in range(first, last)])
        return take_along_axis(lanes, take(argsort(lanes, axis=-1), chosen, axis=-1), axis=-1)
    found = [argselect(lanes, first, last, axis=-1) for first, last in ranges]
    return take_along_axis(lanes, found[0] if len(found) == 1 else concat(found, axis=-1), axis=-1)


# The parameters alpha and beta of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The
# American Statistician 50 (4), 1996.
_CONTINUOUS: Final = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _discrete(place: Array, is_before: Callable[[Array, Array], Array]) -> Array:
    """Return one of the two ranks next to a position."""
    before = el.floor(place)
    return el.maximum(el.where(is_before(el.subtract(place, before), before), before, el.add(before, 1)), 0)


# Methods that select one element: the rank, given the number of elements and the fraction.
_DISCRETE: Final[dict[str, Callable[[int, Array], Array]]] = {
    "inverted_cdf": lambda n, q: _discrete(
        el.subtract(el.multiply(q, n), 1), lambda part, _: el.equal(part, 0)
    ),
    "closest_observation": lambda n, q: _discrete(
        el.subtract(el.multiply(q, n), 1.5),
        lambda part, before: el.logical_and(el.equal(part, 0), el.equal(el.remainder(before, 2), 1)),
    ),
    "lower": lambda n, q: el.floor(el.multiply(q, n - 1)),
    "higher": lambda n, q: el.ceil(el.multiply(q, n - 1)),
    "nearest": lambda n, q: nearest(el.multiply(q, n - 1)),
}


def _places(method: str, n: int, q: Array) -> tuple[Array, Array]:
    """Return the position of a quantile between two ranks, and the weight of the upper rank."""
    if method == "averaged_inverted_cdf":
        place = el.subtract(el.multiply(q, n), 1)
        return place, el.where(el.equal(place, el.floor(place)), 0.5, ones_like(q))
    if method == "midpoint":
        place = el.multiply(q, n - 1)
        place = el.multiply(el.add(el.floor(place), el.ceil(place)), 0.5)
        return place, el.subtract(place, el.floor(place))
    alpha, beta = _CONTINUOUS[method]
    if method == "linear":
        # The same as below, with less rounding.
        place = el.multiply(q, n - 1)
    else:
        place = el.subtract(el.add(el.multiply(q, n), el.add(el.multiply(q, 1 - alpha - beta), alpha)), 1)
    return place, el.subtract(place, el.floor(place))


_METHODS: Final = (*_DISCRETE, "averaged_inverted_cdf", *_CONTINUOUS, "midpoint")


@intercepted
def quantile(
    x: Array,
    q: Array | float | Sequence[float],
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array | None = None,
) -> Array:
    """Return the values below which given fractions of the elements lie.

    Parameters
    ----------
    x : Array
        Array of bool or a real dtype, with at least one element along the axes.
    q : Array, float or sequence of float
        The fractions, from 0 to 1.
    method : str
        How to choose a value between two elements, with NumPy's names: the nine methods of Hyndman and Fan
        (``"linear"``, ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``,
        ``"inverted_cdf"``, ``"averaged_inverted_cdf"``, ``"closest_observation"``,
        ``"interpolated_inverted_cdf"``), ``"lower"``, ``"higher"``, ``"midpoint"`` and ``"nearest"``.
    weights : Array, optional
        The weight of each element: not negative, of the shape of `x`, or one-dimensional if `axis` is one
        axis. Only for the method ``"inverted_cdf"``.

    Returns
    -------
    Array
        New array with the axes of `q`, then the remaining axes of `x`. NaN if an element is NaN.

    Raises
    ------
    ArgumentValueError
        If a fraction is out of range, if `method` is unknown, if a weight is negative, NaN or infinite, or if
        all weights are 0.
    DTypeError
        If `x` or `q` is complex.
    ShapeError
        If there are no elements, or if the weights have another shape.

    References
    ----------
    R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (4),
    1996.
    """
    return _quantile("quantile", x, q, axis, method, keepdims, weights, 1)


@intercepted
def percentile(
    x: Array,
    q: Array | float | Sequence[float],
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array | None = None,
) -> Array:
    """Return the values below which given percentages of the elements lie.

    Parameters
    ----------
    q : Array, float or sequence of float
        The percentages, from 0 to 100.
    x, axis, method, keepdims, weights
        As for `quantile`.

    Returns
    -------
    Array
        New array, as for `quantile`.

    Raises
    ------
    ArgumentValueError, AxisError, DTypeError, ShapeError
        As for `quantile`.
    """
    return _quantile("percentile", x, q, axis, method, keepdims, weights, 100)


def _quantile(
    operation: str, x: object, q: object, axis: Axis, method: str, keepdims: bool, weights: object, whole: int
) -> Array:
    lanes, kept, shape = _lanes(operation, x, axis)
    count = lanes.shape[-1]
    if method not in _METHODS:
        raise ArgumentValueError(
            operation, f"method is {shown(method)}", (), f"pass one of {', '.join(_METHODS)}"
        )
    fractions, weight = _fractions(operation, q, lanes, whole)
    if not count:
        raise ShapeError(operation, "there are no elements", [("x", str(shape))])
    flat = reshape(fractions, (-1,))
    if weights is not None:
        found = _weighted(operation, lanes, flat, _weights_of(operation, x, weights, axis, method, lanes))
    elif method in _DISCRETE:
        ranks = _DISCRETE[method](count, flat)
        found = _chosen(lanes, ranks, ranks)[0]
    else:
        place, part = _places(method, count, flat)
        found = _between(lanes, place, astype(part, weight, copy=False))
    found = (
        el.where(any(el.isnan(lanes), axis=-1, keepdims=True), math.nan, found) if _has_nan(lanes) else found
    )
    ahead = fractions.ndim
    result = reshape(moveaxis(found, -1, 0), (*fractions.shape, *kept))
    if keepdims:
        result = reshape(result, (*result.shape[:ahead], *shape))
    return result


def _has_nan(lanes: Array) -> bool:
    return lanes.dtype.kind in KINDS["real floating"]


def _fractions(operation: str, q: object, lanes: Array, whole: int) -> tuple[Array, DType]:
    """Return the fractions, and the dtype of the weights that are computed from them."""
    if isinstance(q, Array):
        if q.dtype.kind in KINDS["complex floating"]:
            refuse_dtype(operation, q.dtype, "a real-valued dtype", "q")
        given = q if q.dtype.kind in KINDS["real floating"] else astype(q, dt.float64)
        weight = given.dtype
    elif isinstance(q, (list, tuple)) or not _has_nan(lanes):
        given = asarray(q, dtype=dt.float64)
        weight = dt.float64
    else:
        # A Python number has no dtype.
        given = asarray(q, dtype=dt.float64 if lanes.dtype in STORAGE else lanes.dtype)
        weight = lanes.dtype
    # Storage dtypes have too few digits for ranks.
    given = astype(given, dt.float64) if given.dtype in STORAGE else given
    given = given if whole == 1 else el.divide(given, whole)
    if not every(el.logical_and(el.greater_equal(given, 0), el.less_equal(given, 1))):
        raise ArgumentValueError(
            operation, "a fraction is out of range", [("q", shown(q))], f"pass fractions from 0 to {whole}"
        )
    return given, weight


def _chosen(lanes: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the elements at two arrays of ranks along the last axis; ranks outside are clipped."""
    last = lanes.shape[-1] - 1
    low, high = (astype(el.clip(ranks, 0, last), dt.int64) for ranks in (low, high))
    if is_recorded(low):
        # The ranks differ from example to example: sort all elements.
        values = take_along_axis(lanes, argsort(lanes, axis=-1), axis=-1)
        return take(values, low, axis=-1), take(values, high, axis=-1)
    ranks = sorted({*low.tolist(), *high.tolist()})
    values = _at_ranks(lanes, ranks)
    below, above = (take(values, searchsorted(asarray(ranks), k), axis=-1) for k in (low, high))
    return below, above


def _between(lanes: Array, place: Array, part: Array) -> Array:
    """Return values between the two elements next to each position; `part` is the upper one's weight."""
    if not _has_nan(lanes):
        lanes = astype(lanes, dt.float64)
    before = el.floor(place)
    below, above = _chosen(lanes, before, el.add(before, 1))
    step, rest = el.subtract(above, below), el.subtract(1, part)
    nearer = el.where(
        el.greater_equal(part, 0.5),
        el.subtract(above, el.multiply(step, rest)),
        el.add(below, el.multiply(step, part)),
    )
    # The step to an infinite element is infinite, and the difference of two finite elements may overflow.
    nearer = el.where(el.isfinite(step), nearer, el.add(el.multiply(below, rest), el.multiply(above, part)))
    nearer = el.where(el.equal(part, 1), above, nearer)
    # Between equal (also infinite) elements, the value is the element.
    return el.where(el.logical_or(el.equal(below, above), el.equal(part, 0)), below, nearer)


def _weights_of(operation: str, x: object, weights: object, axis: Axis, method: str, lanes: Array) -> Array:
    """Return the weights in the shape of the lanes."""
    if method != "inverted_cdf":
        raise ArgumentValueError(
            operation, f"method {shown(method)} takes no weights", (), "pass method='inverted_cdf'"
        )
    given, array = check_array(operation, weights, "weights"), check_array(operation, x)
    if given.shape == array.shape:
        spread = _lanes(operation, given, axis)[0]
    elif isinstance(axis, int) and given.ndim == 1 and given.shape[0] == lanes.shape[-1]:
        spread = broadcast_to(given, lanes.shape)
    else:
        raise ShapeError(
            operation,
            "the weights fit neither the shape of x nor its axis",
            [("x", str(array.shape)), ("weights", str(given.shape))],
        )
    if some(el.less(given, 0)):
        raise ArgumentValueError(operation, "a weight is negative", [("weights", str(given.shape))])
    return astype(spread, dt.float64)


def _weighted(operation: str, lanes: Array, fractions: Array, weights: Array) -> Array:
    order = argsort(lanes, axis=-1)
    sums = cumulative_sum(take_along_axis(weights, order, axis=-1), axis=-1)
    total = sums[..., -1:]
    if not every(el.logical_and(total > 0, el.less(total, math.inf))):
        raise ArgumentValueError(
            operation, "a weight is NaN or infinite, or all are 0", [("weights", str(weights.shape))]
        )
    # Elements of weight 0 at the start are not selected for the fraction 0 either.
    below = el.divide(sums, total)
    below = el.where(el.equal(below, 0), -1, below)
    if fractions.dtype != below.dtype:
        below = astype(below, fractions.dtype)
    passed = count_nonzero(el.less(expand_dims(below, axis=-2), expand_dims(fractions, axis=-1)), axis=-1)
    ranks = el.where(passed < lanes.shape[-1], passed, lanes.shape[-1] - 1)
    return take_along_axis(lanes, take_along_axis(order, ranks, axis=-1), axis=-1)
