"""Set functions, computed by the core; NumPy sorts complex numbers.

Note [Unique elements]
    Elements are sorted stably and compared with their neighbours, because equal elements are then adjacent.
    NaN is equal to nothing, so each NaN is a distinct value. If an array has -0.0 and 0.0, the one that comes
    first is returned. If an array has few distinct values, a hash table finds them, and only these are
    sorted.
"""

from __future__ import annotations

from typing import NamedTuple

from stride0._base.errors import ForeignArrayError
from stride0._chapters.data_types import iinfo
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array, empty, reinterpret, restride, strides, zeros
from stride0._core.call.binding import primitive
from stride0._core.call.checks import Scalar, check_array, check_bool
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import as_array, assign, copy
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import from_numpy, numpy, to_numpy
from stride0._core.index.index import gather, nonzero
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import promote
from stride0._core.order.order import few_counts, search_among, sort_along
from stride0._core.reduce.reduce import reduce, scan

__all__ = [
    "UniqueAllResult",
    "UniqueCountsResult",
    "UniqueInverseResult",
    "isin",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

_INTEGERS = ("signed integer", "unsigned integer")
_COMPLEX = "complex floating"

# Up to this number of elements, each is compared with all elements of the other array, without sorting.
FEW = 8
# Integers are looked up in a table if it has at most this many entries per element of both arrays.
ENTRIES = 6


class UniqueAllResult(NamedTuple):
    """The result of :func:`unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The result of :func:`unique_counts`."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The result of :func:`unique_inverse`."""

    values: Array
    inverse_indices: Array


@primitive
def isin(x1: Array | Scalar, x2: Array | Scalar, /, *, invert: bool = False) -> Array:
    """Tell for each element of an array whether another array contains it.

    Parameters
    ----------
    x1 : Array or number
        The elements to look for, of any dtype.
    x2 : Array or number
        The elements to look among. At least one of `x1` and `x2` must be an array. A list, as in NumPy,
        becomes an array.
    invert : bool
        Whether to invert the result.

    Returns
    -------
    Array
        New bool array of the shape of `x1`.

    Notes
    -----
    Elements are compared as by ``equal``, in the promoted dtype of `x1` and `x2`. NaN is never
    found, and -0.0 is equal to 0.0.
    """
    invert = check_bool("isin", "invert", invert)
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        raise ForeignArrayError(
            "isin", "neither x1 nor x2 is an array", (), "pass an array for one of them: stride0.asarray(x1)"
        )
    # NumPy users write isin(x, [1, 2]).
    if isinstance(x2, (list, tuple, range)) and isinstance(x1, Array):
        x2 = asarray(x2)
    for name, x in (("x1", x1), ("x2", x2)):
        if not isinstance(x, (Array, bool, int, float, complex)):
            as_array(x, "isin", None, name)  # refuses arrays of other libraries
    if not isinstance(x2, Array):
        found = el.equal(x1, x2)
    elif not isinstance(x1, Array):
        found = reduce("any", el.equal(x1, x2), tuple(range(x2.ndim)), False, None)
    elif x2.size <= FEW:
        found = zeros(x1.shape, dt.bool)
        flat = reshape(x2, (x2.size,))
        for k in range(x2.size):
            found = el.logical_or(found, el.equal(x1, restride(flat, (), (), k * strides(flat)[0])))
    else:
        found = _is_among(x1, x2)
    return el.logical_not(found) if invert else found


def _is_among(x1: Array, x2: Array) -> Array:
    dtype = promote(x1.dtype, x2.dtype)
    if dtype.kind == "real floating" and x1.dtype.kind in _INTEGERS and x2.dtype.kind in _INTEGERS:
        # uint64 with a signed dtype: float64 would make neighbours equal. Values outside the range of x1's
        # dtype do not occur in it.
        dtype = x1.dtype
        limits = iinfo(dtype)
        x2 = x2[el.logical_and(el.greater_equal(x2, limits.min), el.less_equal(x2, limits.max))]
        if not x2.size:
            return zeros(x1.shape, dt.bool)
    wanted = x1 if x1.dtype is dtype else copy(x1, dtype)
    among = x2 if x2.dtype is dtype else copy(x2, dtype)
    if dtype.kind in _INTEGERS and dtype is not dt.uint64:
        axes = tuple(range(among.ndim))
        low, high = (int(reduce(name, among, axes, False, None)) for name in ("min", "max"))
        if high - low < ENTRIES * (wanted.size + among.size):
            return _is_in_table(wanted, among, low, high)
    among = _sorted(among)
    if dtype.kind == _COMPLEX:
        places = from_numpy(numpy().searchsorted(to_numpy(among), to_numpy(wanted)))
    else:
        places = search_among(among, wanted, False)
    # An index beyond the end belongs to a value above all elements, which differs from the last element.
    nearest = gather(among, reshape(el.minimum(places, among.size - 1), (places.size,)), 0)
    return el.equal(reshape(nearest, x1.shape), wanted)


def _is_in_table(wanted: Array, among: Array, low: int, high: int) -> Array:
    """Look up integers in a table for `low` to `high`, whose last entry is for all other integers."""
    table = zeros((high - low + 2,), dt.bool)
    table[reshape(el.subtract(copy(among, dt.int64), low), (among.size,))] = True
    # As unsigned distances, integers below `low` are far above `high`.
    distances = reinterpret(el.subtract(copy(wanted, dt.int64), low), dt.uint64)
    places = reinterpret(el.minimum(distances, high - low + 1), dt.int64)
    return reshape(gather(table, reshape(places, (places.size,)), 0), wanted.shape)


@primitive
def unique_all(x: Array, /) -> UniqueAllResult:
    """Return the distinct elements of an array, their positions and their counts.

    Parameters
    ----------
    x : Array
        Array of any shape and dtype; it is flattened in C order.

    Returns
    -------
    UniqueAllResult
        ``values`` of shape ``(n,)``; ``indices`` of their first occurrences in `x`; ``inverse_indices`` of
        the shape of `x`, with ``values[inverse_indices]`` equal to `x`; and ``counts``. The last three are
        int64.
    """
    x = check_array("unique_all", x)
    order, ordered = _ordered(x)
    first = _first_of_equals(ordered)
    (starts,) = nonzero(first)
    return UniqueAllResult(
        gather(ordered, starts, 0),
        gather(order, starts, 0),
        _inverse(x, order, first),
        _counts(starts, x.size),
    )


@primitive
def unique_counts(x: Array, /) -> UniqueCountsResult:
    """Return the distinct elements of an array and their counts.

    Returns
    -------
    UniqueCountsResult
        ``values`` of shape ``(n,)``, and int64 ``counts``.
    """
    few = few_counts(check_array("unique_counts", x))
    if few is not None:
        order = sort_along(few[0], 0, False, True)
        return UniqueCountsResult(gather(few[0], order, 0), gather(few[1], order, 0))
    ordered = _sorted(x)
    (starts,) = nonzero(_first_of_equals(ordered))
    return UniqueCountsResult(gather(ordered, starts, 0), _counts(starts, ordered.size))


@primitive
def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """Return the distinct elements of an array, and for each element the index of its value.

    Returns
    -------
    UniqueInverseResult
        ``values`` of shape ``(n,)``, and int64 ``inverse_indices`` of the shape of `x`, with
        ``values[inverse_indices]`` equal to `x`.
    """
    x = check_array("unique_inverse", x)
    order, ordered = _ordered(x)
    first = _first_of_equals(ordered)
    return UniqueInverseResult(gather(ordered, nonzero(first)[0], 0), _inverse(x, order, first))


@primitive
def unique_values(x: Array, /) -> Array:
    """Return the distinct elements of an array.

    Returns
    -------
    Array
        New array of shape ``(n,)``.
    """


def _sorted(x: Array) -> Array:
    """Return the elements of `x` in order, sorted stably."""
    if x.dtype.kind != _COMPLEX:
        return sort_along(reshape(x, (x.size,)), 0, False, False)
    ordered = reshape(copy(x, None, "C"), (x.size,))
    to_numpy(ordered).sort(stable=True)
    return ordered


def _ordered(x: Array) -> tuple[Array, Array]:
    """Return the indices that sort the flattened `x`, and its elements in that order."""
    flat = reshape(x, (x.size,))
    if x.dtype.kind == _COMPLEX:
        order = from_numpy(numpy().argsort(to_numpy(flat), stable=True))
    else:
        order = sort_along(flat, 0, False, True)
    return order, gather(flat, order, 0)


def _first_of_equals(ordered: Array) -> Array:
    """Return a mask of elements that differ from the previous one."""
    first = empty(ordered.shape, dt.bool)
    n = ordered.size
    if n:
        assign(restride(first, (1,), (1,)), True)
        (stride,) = strides(ordered)
        later, earlier = (
            restride(ordered, (n - 1,), (stride,), stride if n > 1 else 0),
            restride(ordered, (n - 1,), (stride,)),
        )
        assign(restride(first, (n - 1,), (1,), 1 if n > 1 else 0), el.not_equal(later, earlier))
    return first


def _counts(starts: Array, size: int) -> Array:
    """Return the distance from each start to the next start, or to the end."""
    ends = empty(starts.shape, dt.int64)
    n = starts.size
    if n:
        assign(restride(ends, (n - 1,), (1,)), restride(starts, (n - 1,), strides(starts), 1 if n > 1 else 0))
        assign(restride(ends, (1,), (1,), n - 1), size)
    return el.subtract(ends, starts)


def _inverse(x: Array, order: Array, first: Array) -> Array:
    inverse = empty((x.size,), dt.int64)
    # The sum counts the distinct values up to each element.
    inverse[order] = el.subtract(scan("cumulative_sum", first, 0, dt.int64, False), 1)
    return reshape(inverse, x.shape)
