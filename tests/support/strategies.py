"""Strategies of property tests: arrays of every dtype and layout with up to five axes, and keys.

Each drawn array is a pair of a stride0 array and a NumPy array, on two buffers with equal bytes. A comparison
of the *buffers* after a write also finds writes to bytes outside the array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers import DTYPES, values
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import stride0 as xp
from stride0 import strided

ROOM = 3  # elements around the array in its buffer, which must not change


def examples(count: int) -> settings:
    """Return settings for `count` examples in a full run, and fewer in a quick run."""
    count = max(5, count * settings().max_examples // 100)
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass
class Drawn:
    """An array of stride0 and one of NumPy with equal shape and strides, and their buffers."""

    x: Any
    a: Any
    x_memory: Any
    a_memory: Any
    broadcast: bool

    def __repr__(self) -> str:
        steps = tuple(s // self.a.itemsize for s in self.a.strides)
        return f"{self.a.dtype} array, shape {self.a.shape}, strides {steps}, broadcast: {self.broadcast}"

    def assert_same_memory(self) -> None:
        """Assert that both buffers hold the same bytes, NaNs included."""
        assert np.asarray(self.x_memory).tobytes() == self.a_memory.tobytes()


def shapes(max_axes: int = 5) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes with few elements, including 0-d and sizes 0 and 1."""
    return st.integers(0, max_axes).flatmap(
        lambda n: st.tuples(*[st.integers(0, 5 if n <= 2 else 4 if n == 3 else 3)] * n)
    )


@st.composite
def drawn_arrays(
    draw: Any, dtypes: list[str] = DTYPES, max_axes: int = 5, stretch: bool = True, special: bool = False
) -> Drawn:
    """Arrays in any memory order, with gaps, reversed axes and broadcast ones, on own or foreign memory."""
    shape = draw(shapes(max_axes))
    dtype = draw(st.sampled_from(dtypes))
    ways = ["whole", "whole", "gaps", "reversed"] + (["broadcast"] if stretch else [])
    way = [draw(st.sampled_from(ways)) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    strides, first, length = [0] * len(shape), 0, 1
    for axis in order:
        if way[axis] == "broadcast":
            continue
        step = 2 * length if way[axis] == "gaps" else length
        strides[axis] = step
        length = step * max(shape[axis], 1)
        if way[axis] == "reversed":
            strides[axis] = -step
            first += step * (max(shape[axis], 1) - 1)
    a_memory = values(dtype, (length + 2 * ROOM,), special=special)
    itemsize = a_memory.itemsize
    a = np.lib.stride_tricks.as_strided(
        a_memory[ROOM + first :], shape, [s * itemsize for s in strides], writeable=True
    )
    broadcast = any(w == "broadcast" and n > 1 for w, n in zip(way, shape, strict=True)) and 0 not in shape
    if broadcast:
        a = np.lib.stride_tricks.as_strided(a, writeable=False)
    x_memory = a_memory.copy()
    if draw(st.booleans()):
        # Foreign memory: stride0 borrows a NumPy array.
        x = xp.asarray(
            np.lib.stride_tricks.as_strided(
                x_memory[ROOM + first :], shape, [s * itemsize for s in strides], writeable=not broadcast
            )
        )
    else:
        x_memory = xp.asarray(x_memory, copy=True)
        x = strided.as_strided(x_memory, shape, strides, offset=ROOM + first)
    return Drawn(x, a, x_memory, a_memory, broadcast)


# --- keys: pairs, for stride0 and for NumPy


def _bound(size: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(-size - 2, size + 2)


def slices(size: int) -> st.SearchStrategy[slice]:
    """Slices with any bounds and any step but 0."""
    steps = st.none() | st.integers(-size - 2, size + 2).filter(bool) | st.sampled_from([2**62, -(2**62)])
    return st.builds(slice, _bound(size), _bound(size), steps)


@st.composite
def integer_items(draw: Any, size: int, wrong: bool) -> tuple[Any, Any]:
    """An integer of Python or NumPy, or a 0-d array."""
    reach = 1 if wrong else 0
    low, high = -size - reach, size - 1 + reach
    index = draw(st.integers(low, high))
    form = draw(st.sampled_from(["int", "int", "int8", "int64", "uint8", "array", "0-d"]))
    if form == "int" or (form == "uint8" and index < 0):
        return index, index
    if form == "array":
        return xp.asarray(index, dtype=draw(st.sampled_from([xp.int8, xp.int32, xp.int64]))), index
    if form == "0-d":
        return np.asarray(index), np.asarray(index)
    scalar = np.dtype(form).type(index)
    return scalar, scalar


@st.composite
def integer_arrays(draw: Any, size: int, shape: tuple[int, ...], wrong: bool) -> tuple[Any, Any]:
    """Integer arrays and lists with a shape that broadcasts to `shape`."""
    own = tuple(n if n == 0 or draw(st.booleans()) else 1 for n in shape)
    own = own[draw(st.integers(0, len(own))) if 0 not in own else 0 :]
    count = int(np.prod(own))
    reach = 1 if wrong else 0
    low, high = -size - reach, size - 1 + reach
    numbers = draw(st.lists(st.integers(low, high), min_size=count, max_size=count)) if count else []
    a = np.asarray(numbers, dtype=np.int64).reshape(own)
    form = draw(st.sampled_from(["list", "stride0", "numpy", "transposed", "broadcast"]))
    if form == "list" and a.size:
        return a.tolist(), a
    if form == "numpy":
        return a, a
    if form == "broadcast" and a.ndim and a.shape[0]:
        a = np.broadcast_to(a[:1], a.shape)
        return xp.asarray(a), a
    dtypes = ["int8", "int16", "int32", "int64"]
    if not a.size or a.min() >= 0:
        dtypes += ["uint8", "uint16", "uint32", "uint64"]
    return xp.asarray(
        np.array(a, draw(st.sampled_from(dtypes)), order="F" if form == "transposed" else "C")
    ), a


@st.composite
def masks(draw: Any, shape: tuple[int, ...], counts: list[int], wrong: bool) -> tuple[Any, Any]:
    """Boolean masks over some axes, with one of `counts` true elements; of another shape if `wrong`."""
    if wrong and shape:
        axis = draw(st.integers(0, len(shape) - 1))
        shape = (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])
    size = int(np.prod(shape))
    count = draw(st.sampled_from([n for n in counts if n <= size] or [min(size, 1)]))
    a = np.zeros(size, dtype=bool)
    a[draw(st.permutations(range(size)))[:count]] = True
    a = a.reshape(shape)
    form = draw(st.sampled_from(["list", "stride0", "numpy", "transposed"]))
    if form == "list" and a.size:
        return a.tolist(), a
    if form == "numpy":
        return a, a
    return xp.asarray(np.array(a, order="F" if form == "transposed" else "C")), a


@st.composite
def keys(draw: Any, shape: tuple[int, ...], advanced: bool = True, wrong: bool = False) -> tuple[Any, Any]:
    """Keys into an array of that shape, as pairs for stride0 and NumPy; with `wrong` they may not fit."""
    kinds = ["stop", "int", "int", "slice", "slice", "slice", "none"]
    if advanced:
        kinds += ["array", "array", "mask", "0-d mask"]
    # All arrays of a key broadcast: the elements that masks select are one axis, of size `width` or 1.
    width = draw(st.sampled_from([2, 3, 1, 0]))
    index_shape = draw(st.sampled_from([(width,), (), (2, width)] + ([(width, 1)] if width != 1 else [])))
    counts = [width if index_shape[1:] != (1,) and index_shape else 1, 1 if width else 0]
    if 0 in index_shape:
        counts = [0]
    items: list[tuple[Any, Any]] = []
    axis = 0
    while len(items) < 8:
        kind = draw(st.sampled_from(kinds))
        flaw = wrong and draw(st.integers(0, 9)) == 0
        size = shape[axis] if axis < len(shape) else 0
        if kind == "stop":
            break
        if kind == "none":
            items.append((None, None))
        elif kind == "0-d mask":
            bit = bool(draw(st.sampled_from(counts)))
            items.append((draw(st.sampled_from([bit, xp.asarray(bit), np.bool_(bit), np.asarray(bit)])), bit))
        elif axis >= len(shape) and not flaw:
            break
        elif kind == "slice":
            item = draw(slices(size))
            items.append((item, item))
            axis += 1
        elif kind == "mask":
            taken = draw(st.integers(1, max(1, min(3, len(shape) - axis))))
            over = shape[axis : axis + taken] or (2,)
            if 0 in over and 0 not in counts and not wrong:
                break
            items.append(draw(masks(over, counts, flaw)))
            axis += taken
        elif size == 0 and not flaw and (kind == "int" or 0 not in index_shape):
            break
        elif kind == "int":
            items.append(draw(integer_items(size, flaw)))
            axis += 1
        else:
            items.append(draw(integer_arrays(size, index_shape, flaw)))
            axis += 1
    if draw(st.booleans()):
        # Before other items, `...` would move them to axes of other sizes.
        at = draw(st.integers(0, len(items))) if wrong or axis == len(shape) else len(items)
        items.insert(at, (..., ...))
    if wrong and draw(st.integers(0, 9)) == 0:
        items.insert(draw(st.integers(0, len(items))), (..., ...))
    if len(items) == 1 and draw(st.booleans()):
        return items[0]
    return tuple(item for item, _ in items), tuple(item for _, item in items)


def is_basic(key: Any) -> bool:
    """Whether a NumPy key holds only integers, slices, ``...`` and None, and so makes a view."""
    items = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(item, (bool, np.bool_, list, np.ndarray)) for item in items)
