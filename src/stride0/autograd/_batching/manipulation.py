"""Batching rules of manipulation, creation and conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.shapes import (
    broadcast_shapes,
    infer_shape,
    normalize_axes,
    normalize_axis,
    normalize_shape,
)
from stride0._chapters import creation
from stride0._chapters import elementwise as el
from stride0._chapters.creation import arange, full, linspace, meshgrid, tril, triu
from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import (
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from stride0._chapters.statistical import sum as _sum
from stride0._core.array.array import Array, reinterpret
from stride0._core.elementwise.functions import where
from stride0._core.exchange.exchange import asarray
from stride0._core.index.index import unreduce
from stride0._core.memory.dtype import int64
from stride0.autograd._batching.indexing import getitem
from stride0.autograd._batching.parts import (
    Level,
    Rule,
    along,
    along_all,
    flat,
    natural,
    of_matrices,
    refusal,
    shifted,
    shifted_all,
)
from stride0.autograd._tape.tape import recorded
from stride0.strided import contiguous


def _broadcast_to(level: Level, x: Array, shape: Any) -> Array:
    sizes = normalize_shape("broadcast_to", shape)
    if x.ndim > len(sizes):
        natural(broadcast_to, x, shape)
    return broadcast_to(level.aligned(x, len(sizes)), (level.size, *sizes))


def _broadcast_arrays(level: Level, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    shape = broadcast_shapes("broadcast_arrays", [(f"arrays[{k}]", x.shape) for k, x in enumerate(arrays)])
    return tuple(broadcast_to(level.aligned(x, len(shape)), (level.size, *shape)) for x in arrays)


def _concat(level: Level, arrays: Any, axis: Any) -> Array:
    if axis is None:
        return concat([flat(level, x) for x in arrays], axis=1)
    values = [level.spread(x) for x in arrays]
    return concat(values, axis=shifted("concat", axis, values[0].ndim - 1))


def _expand_dims(level: Level, x: Array, axis: Any) -> Array:
    ndim = x.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)
    return expand_dims(level.value(x), axis=shifted_all("expand_dims", axis, ndim))


def _moveaxis(level: Level, x: Array, source: Any, destination: Any) -> Array:
    there, to = (shifted_all("moveaxis", axes, x.ndim) for axes in (source, destination))
    return moveaxis(level.value(x), there, to)


def _permute_dims(level: Level, x: Array, axes: Any) -> Array:
    if len(axes) != x.ndim:
        natural(permute_dims, x, axes)
    return permute_dims(level.value(x), (0, *shifted_all("permute_dims", tuple(axes), x.ndim)))


def _repeat(level: Level, x: Array, repeats: Any, axis: Any) -> Array:
    if level.has(repeats):
        refusal("repeat", "repeats is batched, and the shape of the result depends on its values")(level)
    if axis is None:
        return repeat(flat(level, x), repeats, axis=1)
    return repeat(level.value(x), repeats, axis=shifted("repeat", axis, x.ndim))


def _reshape(level: Level, x: Array, shape: Any, copy: Any) -> Array:
    sizes = infer_shape("reshape", x.size, shape)
    return reshape(level.value(x), (level.size, *sizes), copy=copy)


def _roll(level: Level, x: Array, shift: Any, axis: Any) -> Array:
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if any(level.has(by) for by in shifts):
        return _rolled(level, x, shift, axis)
    if axis is None:
        if isinstance(shift, (tuple, list)):
            natural(roll, x, shift, axis=axis)
        return reshape(roll(flat(level, x), shift, axis=1), (level.size, *x.shape))
    if isinstance(axis, (tuple, list)):
        # An axis may be named twice.
        return roll(level.value(x), shift, axis=tuple(shifted("roll", k, x.ndim) for k in axis))
    return roll(level.value(x), shift, axis=shifted("roll", axis, x.ndim))


def _rolled(level: Level, x: Array, shift: Any, axis: Any) -> Array:
    """Return an array rolled by batched shifts, by gathering its elements."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for by in shifts:
        if len(shifts) != len(axes) or (
            isinstance(by, Array) and (by.ndim or "integer" not in by.dtype.kind)
        ):
            natural(roll, x, shift, axis=axis)
    if axis is None:
        return reshape(_rolled_along(level, level.wrap(flat(level, x)), shifts[0], 0), (level.size, *x.shape))
    for by, k in zip(shifts, [normalize_axis("roll", k, x.ndim) for k in axes], strict=True):
        x = level.wrap(_rolled_along(level, x, by, k))
    found: Array = level.value(x)
    return found


def _rolled_along(level: Level, x: Array, shift: Any, axis: int) -> Array:
    n = x.shape[axis]
    if not level.has(shift) or n == 0:
        return roll(level.spread(x), 0 if n == 0 else shift, axis=axis + 1)
    steps: Array = level.value(shift)
    # int64 holds all remainders of uint64 numbers.
    steps = el.remainder(steps, n) if steps.dtype.name == "uint64" else steps
    places = el.remainder(el.subtract(arange(n), expand_dims(astype(steps, int64), axis=1)), n)
    return getitem(level, x, (slice(None),) * axis + (level.wrap(places),))


def _stack(level: Level, arrays: Any, axis: Any) -> Array:
    values = [level.spread(x) for x in arrays]
    return stack(values, axis=shifted("stack", axis, values[0].ndim))


def _tile(level: Level, x: Array, repetitions: Any) -> Array:
    if not isinstance(repetitions, (tuple, list)):
        natural(tile, x, repetitions)
    counts = (1,) * (x.ndim - len(repetitions)) + tuple(repetitions)
    return tile(level.aligned(x, len(counts)), (1, *counts))


def _meshgrid(level: Level, arrays: tuple[Array, ...], indexing: str) -> tuple[Array, ...]:
    if indexing not in ("xy", "ij") or any(x.ndim != 1 for x in arrays):
        natural(meshgrid, *arrays, indexing=indexing)
    places = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        places[:2] = 1, 0
    sizes = [0] * len(arrays)
    for x, place in zip(arrays, places, strict=True):
        sizes[place] = x.shape[0]
    found = []
    for x, place in zip(arrays, places, strict=True):
        own = tuple(x.shape[0] if k == place else 1 for k in range(len(arrays)))
        found.append(
            asarray(
                broadcast_to(reshape(level.spread(x), (level.size, *own)), (level.size, *sizes)), copy=True
            )
        )
    return tuple(found)


def _linspace(level: Level, start: Any, stop: Any, num: Any, dtype: Any, device: Any, endpoint: Any) -> Array:
    if any(isinstance(end, Array) and end.ndim for end in (start, stop)):
        natural(linspace, start, stop, num)
    ends = [end if isinstance(end, Array) else asarray(end) for end in (start, stop)]
    is_complex = any(end.dtype.kind == "complex floating" for end in ends)
    # This call checks the other arguments, and gives the dtype of the result.
    example = linspace(0.0, 1j if is_complex else 1.0, num, dtype=dtype, endpoint=endpoint)
    firsts, lasts = (level.spread(end) for end in ends)
    if "integer" in example.dtype.kind and level.size:
        # One call per example: ends that float64 cannot hold stay exact, and each example has its own errors.
        pairs: list[tuple[Any, Any]] = [(firsts[k], lasts[k]) for k in range(level.size)]
        return stack([linspace(*pair, num, dtype=example.dtype, endpoint=endpoint) for pair in pairs])
    first, last = expand_dims(firsts, axis=1), expand_dims(lasts, axis=1)
    if is_complex:
        wide = example.dtype if example.dtype.itemsize == 16 else asarray(0j).dtype
        first, last = astype(first, wide), astype(last, wide)
        found = _spaced(el.real(first), el.real(last), num, endpoint) + 1j * _spaced(
            el.imag(first), el.imag(last), num, endpoint
        )
    else:
        wide = asarray(0.0).dtype
        found = _spaced(astype(first, wide), astype(last, wide), num, endpoint)
    return astype(found, example.dtype)


def _spaced(first: Array, last: Array, num: int, endpoint: bool) -> Array:
    """Return the same bits as `linspace` with these ends."""
    parts = num - 1 if endpoint else num
    if parts <= 0:
        return broadcast_to(first, (first.shape[0], num))
    at = arange(num, dtype=first.dtype)
    distance = last - first
    step = where(el.isinf(distance), last / parts - first / parts, distance / parts)
    step = where(el.equal(first, last), 0.0, step)
    # For a step that underflows although the interval is not empty.
    found = where(
        el.logical_and(el.equal(step, 0), el.not_equal(first, last)),
        at / parts * distance + first,
        first + at * step,
    )
    found = where(el.equal(at, 0), first, found)
    return where(el.equal(at, parts), last, found) if endpoint else found


def _full(level: Level, shape: Any, fill_value: Any, dtype: Any, device: Any) -> Array:
    sizes = normalize_shape("full", shape)
    if fill_value.ndim:
        natural(full, shape, fill_value)
    found = broadcast_to(
        reshape(level.value(fill_value), (level.size,) + (1,) * len(sizes)), (level.size, *sizes)
    )
    return asarray(found, dtype=dtype, copy=True)


def _full_like(level: Level, x: Array, fill_value: Any, dtype: Any, device: Any, shape: Any) -> Array:
    dtype = x.dtype if dtype is None else dtype
    sizes = x.shape if shape is None else normalize_shape("full_like", shape)
    if level.has(fill_value):
        return _full(level, sizes, fill_value, dtype, device)
    return full((level.size, *sizes), fill_value, dtype=dtype)


def _like(function: Callable[..., Array]) -> Rule:
    def rule(level: Level, x: Array, dtype: Any, device: Any, shape: Any) -> Array:
        sizes = x.shape if shape is None else normalize_shape(function.__name__, shape)
        return function(level.value(x), dtype=dtype, device=device, shape=(level.size, *sizes))

    return rule


def _view(level: Level, x: Array, dtype: Any) -> Array:
    if x.ndim == 0 and x.dtype.itemsize != dtype.itemsize:
        natural(reinterpret, x, dtype)
    return reinterpret(level.value(x), dtype)


def _contiguous(level: Level, x: Array) -> Array:
    value: Array = level.value(x)
    return value if level.is_contiguous(x) else contiguous(value)


# Building blocks of gradient rules


def _sum_into(level: Level, x: Array, shape: tuple[int, ...]) -> Array:
    value = level.value(x)
    missing = x.ndim - len(shape)
    # Sum along leading axes that are removed; the batch axis stays first.
    if missing:
        value = _sum(value, axis=tuple(range(1, missing + 1)))
    found: Array = recorded("sum_into", value, (level.size, *shape))
    return found


def _dot_into(level: Level, x1: Array, x2: Array, shape: tuple[int, ...]) -> Array:
    ndim = max(x1.ndim, x2.ndim)
    kept = (level.size, *(1,) * (ndim - len(shape)), *shape)
    value1, value2 = level.aligned(x1, ndim), level.aligned(x2, ndim)
    return reshape(recorded("dot_into", value1, value2, kept), (level.size, *shape))


def _unreduce(level: Level, x: Array, shape: tuple[int, ...], axis: Any) -> Array:
    axes = normalize_axes("unreduce", axis, len(shape))
    return unreduce(level.value(x), (level.size, *shape), tuple(k + 1 for k in axes))


DEPENDS = "the shape of the result depends on the values, which differ from example to example"

RULES: dict[str, Rule] = {
    # Manipulation
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_to": _broadcast_to,
    "concat": _concat,
    "expand_dims": _expand_dims,
    **{f.__name__: along_all(f) for f in (flip, squeeze)},
    "moveaxis": _moveaxis,
    "permute_dims": _permute_dims,
    "repeat": _repeat,
    "reshape": _reshape,
    "roll": _roll,
    "stack": _stack,
    "tile": _tile,
    "unstack": along(unstack),
    # Creation
    "full": _full,
    "full_like": _full_like,
    "linspace": _linspace,
    "meshgrid": _meshgrid,
    **{f.__name__: _like(f) for f in (creation.empty_like, creation.ones_like, creation.zeros_like)},
    **{f.__name__: of_matrices(f) for f in (tril, triu)},
    # Data types and memory
    "asarray": lambda level, obj, dtype, device, copy: asarray(level.value(obj), dtype=dtype, copy=copy),
    "astype": lambda level, x, dtype, copy, device: astype(level.value(x), dtype, copy=copy, device=device),
    "strided.contiguous": _contiguous,
    "view": _view,
    # Building blocks of gradient rules
    "dot_into": _dot_into,
    "sum_into": _sum_into,
    "unreduce": _unreduce,
}

REFUSED: dict[str, str] = {
    **dict.fromkeys(
        ("arange", "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"), DEPENDS
    ),
    "strided.as_strided": "a batched array has no memory",
}
