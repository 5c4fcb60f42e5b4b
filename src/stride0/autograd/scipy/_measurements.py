"""Measurements of labelled regions in `stride0.autograd.scipy.ndimage`."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._base.shapes import broadcast_shapes
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import Level
from stride0.autograd.scipy._arguments import floating, item, root
from stride0.autograd.scipy._calls import batched, from_numpy, one_batch, original, recorded, rules, to_numpy
from stride0.autograd.scipy._signatures import dtype_of, named

__all__ = [
    "center_of_mass",
    "extrema",
    "labeled_comprehension",
    "maximum",
    "mean",
    "median",
    "minimum",
    "standard_deviation",
    "sum",
    "sum_labels",
    "variance",
]

_WHOLE = ("signed integer", "unsigned integer", "bool")


@recorded("ndimage")
def _sums(x: Array, groups: Array, count: int) -> Array:
    """Return the sums of the elements of groups."""
    if x.size == 0 or count == 0:
        return xp.zeros((count,), dtype=x.dtype)
    found = original("ndimage.sum_labels")(to_numpy(x), to_numpy(groups), range(count))
    return from_numpy(found.astype(to_numpy(x).dtype))


rules(_sums, x=lambda g, groups: xp.take(g, groups))


def _sums_of_batch(level: Level, x: Array, groups: Array, count: int) -> Array:
    one_batch(_sums, level, {"x": x, "groups": groups}, "x")
    # The regions of each example get their own numbers.
    own = xp.reshape(xp.arange(level.size) * count, (level.size,) + (1,) * groups.ndim) + groups
    return xp.reshape(_sums(level.value(x), own, level.size * count), (level.size, count))


batched(_sums, _sums_of_batch)


class _Regions:
    """The elements that count, and the region of each."""

    def __init__(self, operation: str, x: Any, labels: Any, index: Any) -> None:
        self.operation = operation
        self.input = floating(operation, "input", x)
        if self.input.dtype.kind != "real floating":
            raise ArgumentTypeError(operation, "input is complex", accepts="pass real numbers")
        # True for one region. With several regions, some may be empty.
        self.single = labels is None or index is None or not hasattr(index, "__len__")
        if labels is None:
            # SciPy treats all elements as one region, whatever the number of indices.
            index, marks = 1, xp.ones(self.input.shape, dtype=xp.int64)
        else:
            marks = xp.asarray(labels)
            shapes = [("input", self.input.shape), ("labels", marks.shape)]
            shape = broadcast_shapes(operation, shapes)
            # One by one: all examples of a batch share the labels.
            self.input, marks = xp.broadcast_to(self.input, shape), xp.broadcast_to(marks, shape)
            if index is None:
                index, marks = 1, marks > 0
        wanted = xp.asarray(index)
        # Labels may be floating-point numbers.
        whole = all(x.dtype.kind in _WHOLE for x in (wanted, marks)) or wanted.size == 0
        wanted, marks = (xp.astype(x, xp.int64 if whole else xp.float64) for x in (wanted, marks))
        self.shape: tuple[int, ...] = wanted.shape
        values, inverse = xp.unique_inverse(xp.reshape(wanted, (-1,)))
        self.count = values.shape[0]
        self.inverse = xp.reshape(inverse, self.shape)
        marks = xp.reshape(marks, (-1,))
        if self.count:
            group = xp.clip(xp.searchsorted(values, marks), 0, self.count - 1)
            (self.places,) = xp.nonzero(xp.take(values, group) == marks)
        else:
            group, self.places = xp.zeros_like(marks), xp.zeros((0,), dtype=xp.int64)
        self.groups = xp.take(group, self.places)
        self.elements = xp.take(xp.reshape(self.input, (-1,)), self.places)

    def spread(self, x: Array) -> Array:
        """Return a value for each region in the shape of `index`."""
        return xp.reshape(xp.take(x, xp.reshape(self.inverse, (-1,))), self.shape)

    def sums(self, x: Array) -> Array:
        return _sums(x, self.groups, self.count)

    def sizes(self) -> Array:
        return xp.bincount(self.groups, minlength=self.count)

    def mean_of(self, x: Array) -> Array:
        return self.sums(x) / xp.astype(self.sizes(), x.dtype)

    def means(self) -> Array:
        return self.mean_of(self.elements)

    def variances(self) -> Array:
        apart = self.elements - xp.take(self.means(), self.groups)
        return self.mean_of(apart * apart)

    def chosen(self, places: Array, absent: float) -> Array:
        """Return one element of each region, and `absent` for empty regions."""
        if self.elements.size == 0:
            return xp.full((self.count,), absent, dtype=self.elements.dtype)
        found = xp.take(self.elements, xp.clip(places, 0, self.elements.size - 1))
        return xp.where(self.sizes() > 0, found, absent)

    def extremes(self, name: str) -> Array:
        """Return the largest or smallest elements; among equal elements, one of them."""
        known = item(self.elements)
        if self.single:
            if not known.size:
                raise ArgumentValueError(
                    self.operation, "the region has no elements", accepts="pass an index in labels"
                )
            # The place of a NaN, if there is one.
            place = known.argmax() if name == "maximum" else known.argmin()
            return self.chosen(xp.asarray([int(place)]), 0.0)
        if not known.size:
            return self.chosen(self.places, 0.0)
        places = original(f"ndimage.{name}_position")(known, item(self.groups), range(self.count))
        return self.chosen(xp.asarray([int(place[0]) for place in places], dtype=xp.int64), 0.0)

    def medians(self) -> Array:
        order = xp.argsort(self.elements)
        order = xp.take(order, xp.argsort(xp.take(self.groups, order), stable=True))
        sizes, last = self.sizes(), max(self.elements.size - 1, 0)
        start = xp.cumulative_sum(sizes) - sizes

        def ranked(k: Array) -> Array:
            places = xp.take(order, xp.clip(start + k, 0, last)) if self.elements.size else order
            # SciPy returns an arbitrary element if one of several labels is absent.
            return self.chosen(places, math.nan)

        if self.single and bool(xp.any(xp.isnan(self.elements))):
            # NaNs are last in order. If there are several regions, SciPy treats NaNs as large numbers.
            return ranked(sizes - 1)
        return (ranked((sizes - 1) // 2) + ranked(sizes // 2)) / 2


def _measured(name: str, what: str, made: Any, more: str = "") -> Any:
    def function(input: Any, labels: Any = None, index: Any = None) -> Array:
        regions = _Regions(name, input, labels, index)
        return regions.spread(made(regions))

    doc = f"Compute the {what} of regions: `scipy.ndimage.{name}`. Differentiable by `input`.{more}"
    return named(function, name, doc)


sum_labels = _measured("sum_labels", "sums", lambda r: r.sums(r.elements))
sum = _measured("sum", "sums", lambda r: r.sums(r.elements))
mean = _measured("mean", "means", _Regions.means)
variance = _measured("variance", "variances", _Regions.variances)
standard_deviation = _measured("standard_deviation", "standard deviations", lambda r: root(r.variances()))
maximum = _measured("maximum", "largest elements", lambda r: r.extremes("maximum"))
minimum = _measured("minimum", "smallest elements", lambda r: r.extremes("minimum"))
median = _measured("median", "medians", _Regions.medians, " The median of an absent label is NaN.")


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Any, ...]:
    """Compute the extreme elements of regions, and where they are: `scipy.ndimage.extrema`.

    The elements are differentiable by `input`.
    """
    smallest, largest = minimum(input, labels, index), maximum(input, labels, index)
    known = item(floating("extrema", "input", input))
    given = [item(xp.asarray(x)) if hasattr(x, "__len__") else x for x in (labels, index)]
    _, _, *positions = original("ndimage.extrema")(known, *given)
    return smallest, largest, *positions


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Compute the centres of mass of regions: `scipy.ndimage.center_of_mass`. Differentiable by `input`."""
    regions = _Regions("center_of_mass", input, labels, index)
    total = regions.sums(regions.elements)
    grids = xp.meshgrid(*(xp.arange(n, dtype=total.dtype) for n in regions.input.shape), indexing="ij")
    parts = []
    for grid in grids:
        weights = xp.take(xp.reshape(grid, (-1,)), regions.places)
        parts.append(regions.spread(regions.sums(regions.elements * weights) / total))
    if regions.shape == ():
        return tuple(parts)
    return [tuple(part[k] for part in parts) for k in range(regions.shape[0])]


def labeled_comprehension(
    input: Any, labels: Any, index: Any, func: Any, out_dtype: Any, default: Any, pass_positions: bool = False
) -> Array:
    """Apply a function to the elements of each region: `scipy.ndimage.labeled_comprehension`.

    Differentiable by `input`. `func` takes stride0 arrays.
    """
    if labels is None and index is not None:
        raise ArgumentValueError("labeled_comprehension", "index is given without labels", (), "pass labels")
    regions = _Regions("labeled_comprehension", input, labels, index)
    dtype = dtype_of("labeled_comprehension", out_dtype)

    def called(places: Array) -> Array:
        given = (xp.take(regions.elements, places), xp.take(regions.places, places))
        return xp.asarray(func(*given if pass_positions else given[:1]))

    if labels is None or index is None:
        # One region, of any dtype and size.
        return called(xp.arange(regions.elements.size))
    found = []
    for k in range(regions.count):
        (places,) = xp.nonzero(regions.groups == k)
        found.append(xp.astype(called(places), dtype) if places.size else xp.asarray(default, dtype=dtype))
    return regions.spread(xp.stack(found))
