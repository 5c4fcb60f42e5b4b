"""Measurements of labelled regions in `stride0.autograd.scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import Level
from stride0.autograd.scipy._parts import (
    batched,
    dtype_of,
    floating,
    from_numpy,
    item,
    named,
    one_batch,
    original,
    recorded,
    rules,
    scipy,
    to_numpy,
)

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


@recorded("ndimage")
def _sums(x: Array, groups: Array, count: int) -> Array:
    """Return the sums of the elements of groups."""
    found = scipy("ndimage").sum_labels(to_numpy(x), to_numpy(groups), range(count))
    return from_numpy(found.astype(to_numpy(x).dtype))


rules(_sums, x=lambda g, groups: xp.take(g, groups))


def _sums_of_batch(level: Level, x: Array, groups: Array, count: int) -> Array:
    one_batch(_sums, level, {"x": x, "groups": groups}, "x")
    # The regions of each example have numbers of their own.
    own = xp.reshape(xp.arange(level.size) * count, (level.size,) + (1,) * groups.ndim) + groups
    return xp.reshape(_sums(level.value(x), own, level.size * count), (level.size, count))


batched(_sums, _sums_of_batch)


class _Regions:
    """The elements that count, and of which region each is."""

    def __init__(self, operation: str, x: Any, labels: Any, index: Any) -> None:
        self.operation = operation
        self.input = floating(operation, "input", x)
        if self.input.dtype.kind != "real floating":
            raise ArgumentTypeError(operation, "input is complex", accepts="real numbers")
        flat = xp.reshape(self.input, (-1,))
        if labels is None:
            # SciPy takes all elements as one region, however many are asked for.
            self.shape: tuple[int, ...] = () if index is None else xp.asarray(index).shape
            self.places = xp.arange(flat.shape[0])
            self.groups, self.count = xp.zeros_like(self.places), 1
            self.inverse = xp.zeros(self.shape, dtype=xp.int64)
        else:
            marks = xp.asarray(labels)
            if marks.shape != self.input.shape:
                try:
                    marks = xp.broadcast_to(marks, self.input.shape)
                except ValueError as error:
                    facts = [("input", f"{self.input.shape}"), ("labels", f"{marks.shape}")]
                    raise ShapeError(operation, "labels and input do not fit", facts) from error
            marks = xp.astype(xp.reshape(marks, (-1,)), xp.int64)
            if index is None:
                marks, index = xp.astype(marks > 0, xp.int64), 1
            wanted = xp.astype(xp.asarray(index), xp.int64)
            self.shape = wanted.shape
            values, inverse = xp.unique_inverse(xp.reshape(wanted, (-1,)))
            group = xp.clip(xp.searchsorted(values, marks), 0, values.shape[0] - 1)
            (self.places,) = xp.nonzero(xp.take(values, group) == marks)
            self.groups, self.count = xp.take(group, self.places), values.shape[0]
            self.inverse = xp.reshape(inverse, self.shape)
        self.elements = xp.take(flat, self.places)

    def spread(self, x: Array) -> Array:
        """Return a value for each region in the shape of `index`."""
        return xp.reshape(xp.take(x, xp.reshape(self.inverse, (-1,))), self.shape)

    def sums(self, x: Array) -> Array:
        return _sums(x, self.groups, self.count)

    def sizes(self) -> Array:
        return self.sums(xp.ones(self.groups.shape, dtype=self.elements.dtype))

    def means(self) -> Array:
        return self.sums(self.elements) / self.sizes()

    def variances(self) -> Array:
        apart = self.elements - xp.take(self.means(), self.groups)
        return self.sums(apart * apart) / self.sizes()

    def extremes(self, name: str) -> Array:
        """Return the largest or smallest elements: one of those that are equal."""
        places = original(f"ndimage.{name}_position")(
            item(self.elements), item(self.groups), range(self.count)
        )
        found = xp.take(self.elements, xp.asarray([int(place[0]) for place in places]))
        return xp.where(self.sizes() > 0, found, 0.0)

    def medians(self) -> Array:
        order = xp.argsort(self.elements)
        order = xp.take(order, xp.argsort(xp.take(self.groups, order), stable=True))
        sizes = xp.astype(self.sizes(), xp.int64)
        start = xp.cumulative_sum(sizes) - sizes
        low, high = (xp.take(order, start + k) for k in ((sizes - 1) // 2, sizes // 2))
        return (xp.take(self.elements, low) + xp.take(self.elements, high)) / 2


def _measured(name: str, what: str, made: Any) -> Any:
    def function(input: Any, labels: Any = None, index: Any = None) -> Array:
        regions = _Regions(name, input, labels, index)
        return regions.spread(made(regions))

    doc = f"""
    Compute the {what} of regions.

    Parameters
    ----------
    input : Array
        Real. Differentiable.
    labels : Array of integers, optional
        Of which region each element is; by default there is one.
    index : int or Array of integers, optional
        Which regions; by default the elements of all labels above 0 are one region.

    Returns
    -------
    Array
        New array of the shape of `index`, as `scipy.ndimage.{name}`.
    """
    return named(function, name, doc)


sum_labels = _measured("sum_labels", "sums", lambda r: r.sums(r.elements))
sum = _measured("sum", "sums", lambda r: r.sums(r.elements))
mean = _measured("mean", "means", _Regions.means)
variance = _measured("variance", "variances", _Regions.variances)
standard_deviation = _measured("standard_deviation", "standard deviations", lambda r: xp.sqrt(r.variances()))
maximum = _measured("maximum", "largest elements", lambda r: r.extremes("maximum"))
minimum = _measured("minimum", "smallest elements", lambda r: r.extremes("minimum"))
median = _measured("median", "medians", _Regions.medians)


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Any, ...]:
    """
    Compute the smallest and the largest elements of regions, and where they are.

    Parameters
    ----------
    input, labels, index
        As `mean` takes them.

    Returns
    -------
    tuple
        Minima, maxima, and the positions of both, as `scipy.ndimage.extrema`.
    """
    known = item(floating("extrema", "input", input))
    given = [x if x is None else item(xp.asarray(x)) for x in (labels, index)]
    _, _, *positions = original("ndimage.extrema")(known, *given)
    return minimum(input, labels, index), maximum(input, labels, index), *positions


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """
    Compute the centres of mass of regions.

    Parameters
    ----------
    input, labels, index
        As `mean` takes them.

    Returns
    -------
    tuple of Array, or a list of such
        The coordinates of each centre, as `scipy.ndimage.center_of_mass`.
    """
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
    """
    Apply a function to the elements of each region.

    Parameters
    ----------
    input, labels, index
        As `mean` takes them. Differentiable.
    func : callable
        Takes an array of one axis, and the numbers of the elements too with `pass_positions`; returns a
        number.
    out_dtype : dtype
        Of the result.
    default : number
        For regions without elements.
    pass_positions : bool
        Whether the function is given the numbers of the elements.

    Returns
    -------
    Array
        New array of the shape of `index`, as `scipy.ndimage.labeled_comprehension`.
    """
    regions = _Regions("labeled_comprehension", input, labels, index)
    dtype = dtype_of("labeled_comprehension", out_dtype)
    found = []
    for k in range(regions.count):
        (places,) = xp.nonzero(regions.groups == k)
        if places.size == 0:
            found.append(xp.asarray(default, dtype=dtype))
            continue
        given: tuple[Array, ...] = (xp.take(regions.elements, places),)
        given = (*given, xp.take(regions.places, places)) if pass_positions else given
        found.append(xp.astype(xp.asarray(func(*given)), dtype))
    return regions.spread(xp.stack(found))
