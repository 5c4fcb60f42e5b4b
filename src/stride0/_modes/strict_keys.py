"""Strict mode: checks of index keys against the standard."""

from __future__ import annotations

import operator
from collections.abc import Sized
from typing import Any

from stride0._base.errors import StrictError, brief, counted
from stride0._core.array.array import Array
from stride0._core.elementwise.elementwise import is_numpy_scalar

__all__ = ["check_key"]


def check_key(x: Array, key: Any, assigning: bool) -> None:
    """Check a key of `x[key]`, or of an assignment to it."""
    op = "setitem" if assigning else "getitem"
    items = key if isinstance(key, tuple) else (key,)
    masks = [item for item in items if isinstance(item, Array) and item.dtype.kind == "bool"]
    if masks:
        if len(items) > 1:
            raise StrictError(op, "a mask with other indices", "Indexing: a boolean array is the sole index")
        return
    for item in items:
        _check_item(op, item, assigning)
    arrays = [item for item in items if isinstance(item, Array) and item.ndim]
    plain = [item for item in items if item is not None and item is not Ellipsis]
    if arrays and (len(plain) < len(items) or any(isinstance(item, slice) for item in items)):
        fact = "an array of indices with slices, ... or None"
        raise StrictError(
            op, fact, "Indexing: integer arrays are combined only with integers and integer arrays"
        )
    dots = [item is Ellipsis for item in items].count(True)
    if dots == 0 and len(plain) < x.ndim:
        fact = f"{counted(len(plain), 'index', 'indices')} for an array of {counted(x.ndim, 'axis', 'axes')}"
        raise StrictError(op, fact, "Indexing, multi-axis: one index per axis, or one ... for those left out")
    if dots <= 1 and len(plain) <= x.ndim:
        for item, size in zip(plain, _sizes_at(items, x), strict=True):
            if isinstance(item, slice):
                _check_slice(op, item, size)


def _check_item(op: str, item: Any, assigning: bool) -> None:
    if item is None:
        if assigning:
            raise StrictError(op, "None among the indices", "Array object, __setitem__: keys without None")
    elif isinstance(item, bool):
        raise StrictError(op, "a Python bool as index", "Indexing: integers, slices, ..., None and arrays")
    elif isinstance(item, Array):
        if assigning and "integer" in item.dtype.kind:
            raise StrictError(
                op, "assignment at an array of indices", "Array object, __setitem__: not specified"
            )
    elif not (item is Ellipsis or isinstance(item, slice) or _is_integer(item)):
        sentence = "Indexing: integers (objects with __index__), slices, ..., None and arrays of the library"
        raise StrictError(op, f"{_described(item)} as index", sentence)


def _is_integer(item: Any) -> bool:
    """Tell whether an object supports `operator.index`, as indices must; bools do not count."""
    if isinstance(item, Array):
        # By the dtype, because lazy and batched arrays have no value.
        return "integer" in item.dtype.kind
    # Arrays of other libraries are not indices, 0-d arrays included.
    if isinstance(item, (bool, Sized)):
        return False
    try:
        operator.index(item)
    except TypeError:
        return False
    return True


def _described(item: Any) -> str:
    return f"a {'NumPy scalar' if is_numpy_scalar(item) else type(item).__name__}"


def _sizes_at(items: tuple[Any, ...], x: Array) -> list[int]:
    """Return the sizes of the axes that the items of a key index, except ... and None."""
    after: list[int] = []
    count = sum(item is not None and item is not Ellipsis for item in items)
    before = 0
    for item in items:
        if item is Ellipsis:
            after = list(range(x.ndim - count + before, x.ndim))
            break
        before += item is not None
    return [x.shape[axis] for axis in [*range(before), *after]][:count]


def _check_slice(op: str, item: slice, size: int) -> None:
    for name, value in (("start", item.start), ("stop", item.stop), ("step", item.step)):
        if value is not None and not _is_integer(value):
            fact = f"{name} of a slice is {_described(value)}"
            sentence = f"Indexing, slice syntax: a {name} is an integer (an object with __index__) or None"
            raise StrictError(op, fact, sentence)
    step = 1 if item.step is None else item.step
    low, high = (-size, size) if operator.index(step) > 0 else (-size - 1, max(0, size - 1))
    for name, value, first, last in (("start", item.start, -size, size), ("stop", item.stop, low, high)):
        if value is not None and not first <= operator.index(value) <= last:
            fact = f"{name} {brief(operator.index(value))} of a slice of an axis of size {size}"
            sentence = (
                f"Indexing, slice syntax: a {name} from {first} to {last} here; beyond is not specified"
            )
            raise StrictError(op, fact, sentence)
