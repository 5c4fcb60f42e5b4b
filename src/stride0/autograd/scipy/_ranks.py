"""Rank filters of `ndimage` and `signal`, which choose one element of each window.

SciPy computes the values. The gradient goes to the first element of the window that equals the value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from stride0._base.shapes import normalize_axes
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import detach
from stride0.autograd.scipy._arguments import each, floating, item
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._linear import extended
from stride0.autograd.scipy._signatures import into_output, named, taking
from stride0.autograd.scipy._windows import lane_options

__all__ = [
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "rank_filter",
]


class Window:
    """The window around each element of an array, and how the array is extended beyond its ends."""

    def __init__(
        self,
        operation: str,
        x: Array,
        size: Any,
        footprint: Any,
        mode: Any,
        cval: float,
        origin: Any,
        axes: Any = None,
    ) -> None:
        numbers = normalize_axes(operation, axes, x.ndim)
        self.operation, self.cval, self.count = operation, cval, x.ndim
        if footprint is None:
            if size is None:
                raise ArgumentValueError(
                    operation, "neither size nor footprint is given", accepts="pass size or footprint"
                )
            sizes = [int(n) for n in each(operation, "size", listed(size), len(numbers))]
            self.marks = None
        else:
            self.marks = item(xp.asarray(footprint)).astype(bool)
            sizes = list(self.marks.shape)
        if len(sizes) != len(numbers) or min(sizes, default=1) < 1:
            raise ShapeError(
                operation,
                f"the window has shape {(*sizes,)}",
                [("input", f"{x.shape}")],
                "pass one positive size per axis",
            )
        origins = each(operation, "origin", listed(origin), len(numbers))
        modes = each(operation, "mode", mode, len(numbers))
        self.sizes, self.before, self.modes = [1] * x.ndim, [0] * x.ndim, ["reflect"] * x.ndim
        for axis, n, o, m in zip(numbers, sizes, origins, modes, strict=True):
            if not 0 <= n // 2 + o < n:
                raise ArgumentValueError(operation, "origin lies outside the window", accepts="pass origin=0")
            self.sizes[axis], self.before[axis], self.modes[axis] = n, n // 2 + o, m
        if self.marks is not None:
            self.marks = self.marks.reshape(self.sizes)

    def offsets(self) -> list[tuple[int, ...]]:
        every = itertools.product(*(range(n) for n in self.sizes))
        return [k for k in every if self.marks is None or self.marks[k]]

    def continued(self, x: Array, cval: float) -> Array:
        for axis, (n, before) in enumerate(zip(self.sizes, self.before, strict=True)):
            x = extended(self.operation, x, axis, before, n - 1 - before, self.modes[axis], cval)
        return x

    def places(self, shape: Sequence[int]) -> tuple[Array, list[tuple[slice, ...]]]:
        """Return the flat index of each element, extended beyond the ends, and the part of this array that
        each window offset reads. The constant beyond the ends has the number of elements as its index.
        """
        count = 1
        for n in shape:
            count *= n
        numbers = self.continued(xp.reshape(xp.arange(count), tuple(shape)), count)
        return numbers, [
            tuple(slice(k, k + n) for k, n in zip(offset, shape, strict=True)) for offset in self.offsets()
        ]

    def elements(self, x: Array) -> Array:
        """Return the elements of `x`, followed by the constant beyond its ends."""
        return xp.concat((xp.reshape(x, (-1,)), xp.full((1,), self.cval, dtype=x.dtype)))

    def chosen(self, x: Array, found: Any, structure: Any = None, sign: float = 1.0) -> Array:
        """Return, for each window, the first element of `x` that equals the element of `found`.

        `sign * structure` is added to the window before the comparison, and to the result.
        """
        values, wanted = detach(x), xp.asarray(found, dtype=x.dtype)
        numbers, parts = self.places(x.shape)
        elements = self.elements(values)
        place, slot = xp.full(x.shape, -1), xp.zeros(x.shape, dtype=xp.int64)
        flat = None if structure is None else xp.reshape(structure, (-1,))
        for k, (part, offset) in enumerate(zip(parts, self.offsets(), strict=True)):
            number = numbers[part]
            seen = xp.reshape(xp.take(elements, xp.reshape(number, (-1,))), x.shape)
            if structure is not None:
                seen = seen + sign * detach(structure)[offset]
            hit = (place < 0) & (seen == wanted)
            place = xp.where(hit, number, place)
            slot = xp.where(hit, k, slot)
        if bool(xp.any(place < 0)):
            raise ArgumentValueError(
                self.operation, "input contains NaN", accepts="replace NaN first: where(isnan(x), 0, x)"
            )
        result = xp.reshape(xp.take(self.elements(x), xp.reshape(place, (-1,))), x.shape)
        if flat is None:
            return result
        numbers_of = xp.asarray([_ravelled(offset, self.sizes) for offset in self.offsets()])
        added = xp.take(flat, xp.take(numbers_of, xp.reshape(slot, (-1,))))
        return result + sign * xp.reshape(added, x.shape)


def _ravelled(offset: tuple[int, ...], sizes: Sequence[int]) -> int:
    number = 0
    for k, n in zip(offset, sizes, strict=True):
        number = number * n + k
    return number


def listed(value: Any) -> Any:
    """Convert an option that is an array to a list or a number; return other options unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def real_input(operation: str, x: Any) -> Array:
    found = floating(operation, "input", x)
    if found.dtype.kind != "real floating":
        raise ArgumentTypeError(operation, f"input is of dtype {found.dtype.name}", (), "pass real numbers")
    return found


def window_options(
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> None:
    """Declare the options of window filters."""


def _filtered(name: str, x: Any, options: dict[str, Any], *own: Any) -> Array:
    """Apply a filter; `own` are its arguments that precede the window options."""
    x = real_input(name, x)
    given = ("size", "footprint", "mode", "cval", "origin", "axes")
    window = Window(name, x, *(options[key] for key in given))
    known = {key: options[key] for key in given if options[key] is not None}
    if "footprint" in known:
        known["footprint"] = item(xp.asarray(known["footprint"])).astype(bool)
    return window.chosen(x, original(f"ndimage.{name}")(item(x), *own, **known))


def _chooser(name: str, what: str) -> Any:
    """Return a filter whose only parameters are the input and the window options."""

    def filtered(input: Any, **options: Any) -> Array:
        return _filtered(name, input, options)

    return into_output(taking(window_options)(named(filtered, name, described(name, what))))


def described(name: str, what: str) -> str:
    """Return the docstring of a filter that chooses elements."""
    notes = "`input` must be real. Differentiable by `input` if no two elements of a window are equal."
    return f"{what}: `scipy.ndimage.{name}`.\n\n{notes}"


maximum_filter = _chooser("maximum_filter", "Take the largest element of each window")
minimum_filter = _chooser("minimum_filter", "Take the smallest element of each window")
median_filter = _chooser("median_filter", "Take the median of each window")


@into_output
@taking(window_options)
def rank_filter(input: Any, rank: int, **options: Any) -> Array:
    """Take the element of a given rank in each window: `scipy.ndimage.rank_filter`.

    `input` must be real. Differentiable by `input` if no two elements of a window are equal.
    """
    return _filtered("rank_filter", input, options, rank)


@into_output
@taking(window_options)
def percentile_filter(input: Any, percentile: float, **options: Any) -> Array:
    """Take a percentile of each window: `scipy.ndimage.percentile_filter`.

    `input` must be real. Differentiable by `input` if no two elements of a window are equal.
    """
    return _filtered("percentile_filter", input, options, percentile)


def _along(name: str, whole: Callable[..., Array], what: str) -> Any:
    def filtered(input: Any, size: int, **options: Any) -> Array:
        return whole(input, size, axes=options.pop("axis"), **options)

    doc = described(name, f"Take the {what} element of each window along an axis")
    return into_output(taking(lane_options)(named(filtered, name, doc)))


maximum_filter1d = _along("maximum_filter1d", maximum_filter, "largest")
minimum_filter1d = _along("minimum_filter1d", minimum_filter, "smallest")
