"""Gradient rules of the chapters that move elements or create arrays.

Manipulation, creation, indexing, data types, inspection, and the memory layout (`stride0.strided`).
If a function only broadcasts, its rule returns `g`: the engine sums it to the operand's shape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from stride0._base.errors import GradientError
from stride0._base.shapes import Shape, size_of
from stride0._chapters.creation import arange, ones, tril, triu, zeros, zeros_like
from stride0._chapters.data_types import astype
from stride0._chapters.elementwise import equal
from stride0._chapters.manipulation import flip, moveaxis, permute_dims, repeat, reshape, roll, stack
from stride0._chapters.statistical import max as _max
from stride0._chapters.statistical import min as _min
from stride0._chapters.statistical import sum as _sum
from stride0._chapters.utility import any as _any
from stride0._core.array.array import Array, reinterpret
from stride0._core.call.checks import component_dtype
from stride0._core.elementwise.functions import where
from stride0._core.exchange.exchange import asarray
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType
from stride0.autograd._rules.parts import product, put, times
from stride0.autograd._tape.tape import is_batched_array
from stride0.strided import contiguous
from stride0.strided import offset as _offset
from stride0.strided import strides as _strides

Rule = Callable[..., Any]

# Functions whose adjoint is the same function with other arguments


def _negative(shift: Any) -> Any:
    """Return the negative shifts, of a signed dtype: the negative of an unsigned array would wrap around."""
    if isinstance(shift, (tuple, list)):
        return tuple(_negative(s) for s in shift)
    return -astype(shift, dt.int64) if is_batched_array(shift) else -operator.index(shift)


def _inverse(axes: Any) -> Shape:
    """Return the inverse permutation."""
    places = [0] * len(axes)
    for place, k in enumerate(axes):
        places[k] = place
    return tuple(places)


def _restack(g: tuple[Array | None, ...], axis: int) -> Array:
    """Return the cotangents of the results of `unstack` as one array."""
    like = next(part for part in g if part is not None)
    nothing = None
    if any(part is None for part in g):
        nothing = zeros(like.shape, dtype=like.dtype)
    return stack([nothing if part is None else part for part in g], axis=axis)  # type: ignore[misc]


def _ungrid(g: tuple[Array | None, ...], indexing: str) -> list[Array | None]:
    """Return the cotangents of `meshgrid`: the operand's axis last; the engine sums the other axes."""
    axes = list(range(len(g)))
    if indexing == "xy" and len(g) > 1:
        axes[:2] = 1, 0
    return [None if part is None else moveaxis(part, k, -1) for part, k in zip(g, axes, strict=True)]


# Functions that copy elements: their copies are summed


def _unrepeat(g: Array, shape: Shape, repeats: Any, axis: int | None) -> Array:
    """Return the sums over the copies of each element made by `repeat`."""
    place = len(shape) - 1 if axis is None else operator.index(axis) % len(shape)
    if isinstance(repeats, Array) and repeats.size != 1 and repeats.ndim:
        flat = (size_of(shape),) if axis is None else shape
        place = 0 if axis is None else place
        source = repeat(arange(flat[place]), repeats)
        return reshape(put(g, flat, (slice(None),) * place + (source,)), shape)
    count = int(repeats) if isinstance(repeats, Array) else operator.index(repeats)
    return _sum(reshape(g, (*shape[: place + 1], count, *shape[place + 1 :])), axis=place + 1)


def _untile(g: Array, shape: Shape, repetitions: Any) -> Array:
    """Return the sums over the copies of an array of `shape` made by `tile`."""
    counts = [operator.index(r) for r in repetitions]
    ndim = max(len(counts), len(shape))
    sizes: list[int] = []
    axes: list[int] = []
    for r, n in zip([1] * (ndim - len(counts)) + counts, (1,) * (ndim - len(shape)) + shape, strict=True):
        if r != 1:
            axes.append(len(sizes))
            sizes.append(r)
        # Axes of size 1 are dropped, so that the limit of 64 axes is not exceeded.
        if n != 1:
            sizes.append(n)
    return reshape(_sum(reshape(g, tuple(sizes)), axis=tuple(axes)) if axes else g, shape)


# Arguments of creation functions


def _along(g: Array, start: bool, num: int, endpoint: bool) -> Any:
    """Return the cotangent of an end of `linspace`: element i is ``start + i * (stop - start) / parts``."""
    num = operator.index(num)
    # A single element is the start, whatever `endpoint` says.
    weight = arange(num, dtype=component_dtype(g.dtype)) / max(num - 1 if endpoint else num, 1)
    return times(g, 1 - weight if start else weight)


# Indexing


def _take_key(indices: Any, axis: int | None, ndim: int) -> tuple[Any, ...]:
    return (slice(None),) * (0 if axis is None else operator.index(axis) % ndim) + (indices,)


def _grid(shape: Shape, indices: Array, axis: int) -> tuple[Any, ...]:
    """Return the key that reads the same elements as `take_along_axis` from an array of `shape`."""
    ndim = len(shape)
    axis = operator.index(axis) % ndim
    # Indices of 0 broadcast an axis of size 1 to the size of `indices`.
    return tuple(
        indices if k == axis else 0 if n == 1 else reshape(arange(n), (n,) + (1,) * (ndim - 1 - k))
        for k, n in enumerate(shape)
    )


def _zeros_for(key: Any, shape: Shape, dtype: DType) -> Array:
    """Return zeros that can be written to at a key: batched if the key is."""
    for item in key if isinstance(key, tuple) else (key,):
        if is_batched_array(item):
            return zeros_like(item, shape=shape, dtype=dtype)
    return zeros(shape, dtype=dtype)


def batched_mask(key: Any) -> Array | None:
    """Return the mask, if a key is one batched mask."""
    item = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    return item if is_batched_array(item) and item.dtype is dt.bool else None


def cleared(g: Array, key: Any) -> Array:
    """Return `g` with zeros at ``[key]``."""
    written = _zeros_for(key, g.shape, dt.bool)
    written[key] = True
    return where(written, 0, g)


def _written(g: Array, key: Any) -> Array:
    """Return the cotangent of the values written to ``[key]``; 0 where a later value overwrote them."""
    if (mask := batched_mask(key)) is not None:
        # One number was written to all elements.
        return where(reshape(mask, mask.shape + (1,) * (g.ndim - mask.ndim)), g, 0)
    last = _last_written(g.shape, key)
    return g[key] if last is None else where(last, g[key], 0)


def _last_written(shape: Shape, key: Any) -> Array | None:
    """Return a mask of the values written to ``[key]`` that later values do not overwrite; None: all of them.

    Only integer arrays can select an element twice. Each value writes its number, and the last one remains.
    Axes that no array indexes have size 1 here, and the result broadcasts along them.
    """
    entries = [_entry(item) for item in (key if isinstance(key, tuple) else (key,))]
    if not any(isinstance(item, Array) and item.dtype is not dt.bool and item.size > 1 for item in entries):
        return None
    taken = [_axes_taken(item) for item in entries]
    unindexed = len(shape) - sum(taken)
    sizes: list[int] = []
    items: list[Any] = []
    for item, n in zip(entries, taken, strict=True):
        if isinstance(item, Array):
            sizes += shape[len(sizes) : len(sizes) + n]
            items.append(item)
        else:
            sizes += [1] * (unindexed if item is Ellipsis else n)
            items.append(slice(None) if isinstance(item, slice) else 0 if n else item)
    place = tuple(items)
    owner = _zeros_for(key, (*sizes, *(1,) * (len(shape) - len(sizes))), dt.int64)
    room = owner[place].shape
    numbers = reshape(arange(size_of(room)), room)
    owner[place] = numbers
    return equal(owner[place], numbers)


def _entry(item: Any) -> Any:
    """Return an item of a key as None, Ellipsis, a slice, an array or (anything else) an integer."""
    return asarray(item) if isinstance(item, (bool, list)) else item


def _axes_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, Array) and item.dtype is dt.bool else 1


# Views with given strides


def _element_offsets(shape: Shape, strides: Any, start: int) -> Array:
    """Return the offsets of the elements of a strided array in its storage, as a one-dimensional array."""
    found = asarray(start)
    for k, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        found = found + reshape(arange(n) * operator.index(stride), (n,) + (1,) * (len(shape) - 1 - k))
    return reshape(found, (-1,))


def _unstride(g: Array, x: Array, shape: Any, strides: Any, offset: int | None) -> Array:
    """Return the cotangent of `x` from the cotangent of a view with given strides.

    Elements of `x` at the same offset get equal parts of the cotangent of that offset. Elements of the
    storage outside `x` have no node, so their gradient would be lost.
    """
    if not g.size:
        return zeros(x.shape, dtype=g.dtype)
    start = _offset(x)
    own = _element_offsets(x.shape, _strides(x), start)
    read = _element_offsets(tuple(shape), tuple(strides), start if offset is None else operator.index(offset))
    # Offsets are counted from the smallest one.
    ends = [(int(_min(at)), int(_max(at))) for at in (own, read) if at.size]
    first = min(low for low, _ in ends)
    size = max(high for _, high in ends) - first + 1
    own, read = own - first, read - first
    copies = put(ones(own.shape, dtype=component_dtype(g.dtype)), (size,), own)
    if _any(equal(copies[read], 0)):
        raise GradientError(
            "as_strided",
            "the view reads elements outside x, and their gradient would be lost",
            (("x", str(x.shape)), ("shape", str(tuple(shape))), ("strides", str(tuple(strides)))),
            "pass an x that holds all these elements, or write stop_gradient(x)",
        )
    found = put(reshape(g, (-1,)), (size,), read)[own]
    if _max(copies) > 1:
        found = product(found, 1 / copies[own])
    return reshape(found, x.shape)


def _same(g: Any) -> Any:
    return g


VJP: dict[str, dict[str, Rule]] = {
    # Manipulation
    "broadcast_arrays": {"arrays": lambda g: list(g)},
    "flip": {"x": lambda g, axis: flip(g, axis=axis)},
    "moveaxis": {"x": lambda g, source, destination: moveaxis(g, destination, source)},
    "permute_dims": {"x": lambda g, axes: permute_dims(g, _inverse(axes))},
    "repeat": {"x": lambda g, x_shape, repeats, axis: _unrepeat(g, x_shape, repeats, axis)},
    "roll": {"x": lambda g, shift, axis: roll(g, _negative(shift), axis=axis)},
    "tile": {"x": lambda g, x_shape, repetitions: _untile(g, x_shape, repetitions)},
    "unstack": {"x": lambda g, axis: _restack(g, axis)},
    # Creation
    "arange": {
        # A single argument is `stop`, on which no element depends.
        "start": lambda g, stop: None if stop is None else g,
        "step": lambda g: times(g, arange(g.shape[0], dtype=g.dtype)),
    },
    "full": {"fill_value": _same},
    "full_like": {"x": lambda g: None, "fill_value": _same},
    "linspace": {
        "start": lambda g, num, endpoint: _along(g, True, num, endpoint),
        "stop": lambda g, num, endpoint: _along(g, False, num, endpoint),
    },
    "meshgrid": {"arrays": lambda g, indexing: _ungrid(g, indexing)},
    "tril": {"x": lambda g, k: tril(g, k=k)},
    "triu": {"x": lambda g, k: triu(g, k=k)},
    # Indexing
    "setitem": {"x": lambda g, key: cleared(g, key), "value": lambda g, key: _written(g, key)},
    "take": {"x": lambda g, x_shape, indices, axis: put(g, x_shape, _take_key(indices, axis, len(x_shape)))},
    "take_along_axis": {
        "x": lambda g, x_shape, indices, axis: put(g, x_shape, _grid(x_shape, indices, axis))
    },
    # Data types
    "astype": {"x": _same},
    "view": {"x": lambda g, x_dtype: reinterpret(contiguous(g), x_dtype)},
    # Memory layout
    "strided.as_strided": {"x": lambda g, x, shape, strides, offset: _unstride(g, x, shape, strides, offset)},
    "strided.contiguous": {"x": _same},
}

NO_GRAD: dict[str, str] = {
    "broadcast_shapes": "takes no values, only shapes",
    **dict.fromkeys(
        ("empty", "empty_like", "eye", "ones", "ones_like", "zeros", "zeros_like"), "the result is a constant"
    ),
    **dict.fromkeys(("can_cast", "finfo", "iinfo", "isdtype", "result_type"), "takes no values, only dtypes"),
    "strided.memory_statistics": "counts bytes",
    **{
        f"strided.{name}": "depends on the memory layout, not on values"
        for name in ("is_contiguous", "is_writable", "offset", "shares_storage", "storage_nbytes", "strides")
    },
}
