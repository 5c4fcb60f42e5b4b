"""Batching rules of `x[key]`, `x[key] = value`, and of functions that index.

Note [Keys of batches]
    Integers, slices and masks that are the same for all examples index the values after one more slice. If
    index arrays are batched, the numbers of the examples become the first index array. Then all index arrays
    form one group in front, and the axes of their common shape are moved to where they would be for an
    example.
"""

from __future__ import annotations

import operator
import re
from functools import wraps
from typing import Any

from stride0._base.errors import BatchingError, BroadcastError, OutOfBoundsError, ShapeError, Stride0Error
from stride0._base.shapes import Shape, broadcast_shapes
from stride0._chapters.creation import arange, zeros
from stride0._chapters.indexing import take, take_along_axis
from stride0._chapters.manipulation import moveaxis, reshape
from stride0._chapters.searching import nonzero
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0._core.exchange.exchange import asarray
from stride0._core.index.index import put, scatter_add
from stride0.autograd._batching.parts import Level, Rule, broadcast, natural, shifted
from stride0.autograd._tape.tape import is_batched_array

ALL = slice(None)


class Key:
    """The key of an example, converted to a key of the values of a batch."""

    def __init__(self, level: Level, x: Array, key: Any) -> None:
        self.level, self.x = level, x
        self.items = [_classified(level, item) for item in (key if isinstance(key, tuple) else (key,))]
        self.is_basic = not any(isinstance(item, Array) for item in self.items)
        self.is_batched = any(level.has(item) for item in self.items)
        taken = sum(_axes_taken(item) for item in self.items)
        if taken > x.ndim or sum(item is Ellipsis for item in self.items) > 1:
            natural(lambda x: x[tuple(0 if isinstance(item, Array) else item for item in self.items)], x)
        if Ellipsis not in [item if item is Ellipsis else None for item in self.items]:
            self.items.append(Ellipsis)
        self._place(x.ndim - taken)
        self._check_masks(x.ndim - taken)

    def _check_masks(self, rest: int) -> None:
        axis = 0
        for item in self.items:
            if isinstance(item, Array) and item.dtype.name == "bool":
                check_mask(self.x.shape, item, axis)
            axis += rest if item is Ellipsis else _axes_taken(item)

    def _place(self, rest: int) -> None:
        """Find the position of the axes of index arrays in the result, and the result's number of axes."""
        groups, inside, axes, first = 0, False, 0, 0
        shapes = []
        for item in self.items:
            if isinstance(item, (int, Array)) and not self.is_basic:
                if not inside:
                    groups += 1
                    first = axes if groups == 1 else 0
                inside = True
                if isinstance(item, Array):
                    shapes.append(("index", (1,) if item.dtype.name == "bool" else item.shape))
                continue
            inside = False
            axes += 0 if isinstance(item, int) else rest if item is Ellipsis else 1
        self.first = first
        self.common = len(broadcast_shapes("index", shapes)) if shapes else 0
        self.ndim = axes + self.common
        # Whether the axes of index arrays stay at the position of the first index array.
        self.stays = groups == 1

    def of_values(self, batched: bool) -> tuple[Any, ...]:
        """Return the key for the values, or for the array that all examples share."""
        if (not self.is_batched and self.stays) or self.is_basic:
            return (ALL, *self.items)
        items: list[Any] = []
        if batched:
            items.append(reshape(arange(self.level.size), (self.level.size,) + (1,) * self.common))
        for item in self.items:
            if isinstance(item, Array) and item.dtype.name == "bool":
                items.extend(_places(self.x, item))
            else:
                items.append(self.level.aligned(item, self.common) if isinstance(item, Array) else item)
        return tuple(items)

    def arranged(self, found: Array, batched: bool) -> Array:
        """Return the elements at this key, batch axis first and the other axes in the order of an example."""
        if (not self.is_batched and self.stays) or self.is_basic:
            return found
        if not batched:
            return moveaxis(found, self.first, 0) if self.stays else found
        return moveaxis(found, *self._moves()) if self.stays and self.first else found

    def _moves(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        here = tuple(range(1, 1 + self.common))
        return here, tuple(k + self.first for k in here)

    def value(self, operation: str, value: Any) -> Any:
        """Convert a value written to an example to the value written to the values."""
        if not isinstance(value, Array):
            return value
        level = self.level
        if value.ndim > self.ndim:
            raise ShapeError(
                operation,
                f"a value of {value.ndim} axes is assigned to elements of {self.ndim}",
                [("value", str(value.shape))],
            )
        if (not self.is_batched and self.stays) or self.is_basic:
            return level.aligned(value, self.ndim)
        if not level.has(value):
            value = reshape(value, (1,) * (self.ndim + 1 - value.ndim) + value.shape)
        else:
            value = level.aligned(value, self.ndim)
        if self.stays and self.first:
            here, there = self._moves()
            value = moveaxis(value, there, here)
        return value


def _classified(level: Level, item: Any) -> Any:
    """Return an item of a key as an int, slice, None, Ellipsis or Array."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, Array):
        if item.dtype.name == "bool" and level.has(item):
            raise BatchingError(
                "index",
                "a mask is batched, and the shape of the result depends on its values",
                accepts="write where(mask, x, y); x[mask] = value works if value is one number",
            )
        is_number = item.ndim == 0 and item.dtype.name != "bool" and not is_batched_array(item)
        return int(item) if is_number else item
    if isinstance(item, bool) or not hasattr(type(item), "__index__") or hasattr(type(item), "__len__"):
        try:
            found = asarray(item)
        except Stride0Error:
            natural(lambda x: x[item], zeros((1,)))
        return (
            asarray(found, dtype=asarray(0).dtype)
            if found.size == 0 and isinstance(item, (list, tuple))
            else found
        )
    return operator.index(item)


def _axes_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, Array) and item.dtype.name == "bool" else 1


def _places(x: Array, mask: Array) -> tuple[Array, ...]:
    """Return the indices of the elements that a mask selects."""
    if mask.ndim == 0:
        raise BatchingError("index", "a 0-d mask is not allowed together with batched indices")
    return nonzero(mask)


def getitem(level: Level, x: Array, key: Any) -> Array:
    plan = Key(level, x, key)
    batched = level.has(x)
    found: Array = level.value(x)[plan.of_values(batched)]
    return plan.arranged(found, batched)


def setitem(level: Level, x: Array, key: Any, value: Any) -> None:
    target: Array = level.value(x)
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if level.has(mask) and mask.dtype.name == "bool":
        _fill(level, x, mask, value)
        return
    plan = Key(level, x, key)
    place = plan.of_values(True)
    if isinstance(value, Array) and plan.is_basic:
        shape = target[place].shape[1:]
        if broadcast("setitem", x=shape, value=value.shape) != shape:
            raise BroadcastError("setitem", [("x", shape), ("value", value.shape)], ("x", shape))
    target[place] = plan.value("setitem", value)


def check_mask(shape: Shape, mask: Array, axis: int) -> None:
    """Refuse a mask whose shape differs from the axes that it selects from, starting with `axis`."""
    if mask.shape != shape[axis : axis + mask.ndim]:
        raise OutOfBoundsError(
            "index", "the shapes of mask and array differ", [("array", str(shape)), ("mask", str(mask.shape))]
        )


def _fill(level: Level, x: Array, mask: Array, value: Any) -> None:
    """Write one number where a batched mask is true."""
    if isinstance(value, Array) and value.ndim:
        raise BatchingError(
            "setitem",
            "the number of elements that a batched mask selects differs from example to example",
            accepts="assign one number, or write where(mask, value, x)",
        )
    check_mask(x.shape, mask, 0)
    target = level.value(x)
    chosen = reshape(level.value(mask), (level.size, *mask.shape) + (1,) * (x.ndim - mask.ndim))
    number = level.aligned(value, x.ndim) if isinstance(value, Array) else value
    found = where(chosen, number, target)
    target[...] = found


def _put(level: Level, g: Array, shape: tuple[int, ...], key: Any) -> Array:
    plan = Key(level, _Shaped(shape), key)  # type: ignore[arg-type]
    return put(plan.value("put", g), (level.size, *shape), plan.of_values(True))


def _scatter_add(level: Level, x: Array, key: Any, values: Array) -> Array:
    plan = Key(level, x, key)
    return scatter_add(level.spread(x), plan.of_values(True), plan.value("scatter_add", values))


def key_of_values(level: Level, x: Array, key: Any, g: Array) -> tuple[Any, Array]:
    """Return the key for the values of `x`, and the cotangent `g` of ``x[key]`` in the shape of that key."""
    plan = Key(level, x, key)
    return plan.of_values(True), plan.value("put", g)


class _Shaped:
    """A shape that stands for an array."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.ndim = shape, len(shape)


def _take(level: Level, x: Array, indices: Any, axis: Any) -> Array:
    if axis is None:
        if x.ndim != 1:
            natural(take, x, indices, axis=axis)
        axis = 0
    at = shifted("take", axis, x.ndim)
    if not level.has(indices):
        return take(level.value(x), indices, axis=at)
    if indices.dtype.kind not in ("signed integer", "unsigned integer"):
        natural(take, x, indices, axis=axis)
    return getitem(level, x, (ALL,) * (at - 1) + (indices,))


def _take_along_axis(level: Level, x: Array, indices: Array, axis: Any) -> Array:
    at = shifted("take_along_axis", axis, x.ndim)
    return take_along_axis(level.spread(x), level.spread(indices), axis=at)


def _naming_axes(rule: Rule, spreads: bool = False) -> Rule:
    """Return a rule whose out-of-bounds errors name the axis of an example.

    With `spreads`, the rule repeats an array that is not batched for all examples.
    """

    @wraps(rule)
    def named(level: Level, x: Array, *arguments: Any) -> Any:
        try:
            return rule(level, x, *arguments)
        except OutOfBoundsError as error:
            if spreads or level.has(x):
                error.problem = re.sub(
                    r"(?<=for axis )\d+", lambda found: str(int(found[0]) - 1), error.problem
                )
                error.args = (error.operation, error.problem, error.facts, error.accepts)
            raise

    return named


RULES: dict[str, Rule] = {
    "getitem": _naming_axes(getitem),
    "put": _put,
    "scatter_add": _naming_axes(_scatter_add, spreads=True),
    "setitem": _naming_axes(setitem),
    "take": _naming_axes(_take),
    "take_along_axis": _naming_axes(_take_along_axis, spreads=True),
}
