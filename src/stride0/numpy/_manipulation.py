"""Shapes, joins, parts, keys and writes with NumPy's signatures."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, AxisError, ShapeError
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.numpy._creation import linspace
from stride0.numpy._parts import array, arrays, check_order, converted, dtype_of, finish

# NumPy's parameters have these names.
_array, _arrays = array, arrays


def reshape(a: Any, /, shape: Any = None, order: Any = "C", *, copy: Any = None) -> Array:
    """Return elements in another shape, in C or Fortran order."""
    check_order("reshape", order, "CAF")
    a = array(a)
    sizes = shape if isinstance(shape, (tuple, list)) or getattr(shape, "ndim", 0) == 1 else (shape,)
    wanted = tuple(operator.index(n) for n in sizes)
    if order != "F":
        return xp.reshape(a, wanted, copy=copy)
    return _reversed(xp.reshape(_reversed(a), wanted[::-1], copy=copy))


def _reversed(a: Array) -> Array:
    return xp.permute_dims(a, tuple(range(a.ndim))[::-1])


def ravel(a: Any, order: Any = "C") -> Array:
    """Return elements along one axis."""
    return reshape(a, (-1,), "C" if order == "K" else order)


def transpose(a: Any, axes: Any = None) -> Array:
    """Permute axes, by default reverse them."""
    a = array(a)
    return _reversed(a) if axes is None else xp.permute_dims(a, tuple(axis % a.ndim for axis in axes))


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Exchange two axes."""
    a = array(a)
    order = list(range(a.ndim))
    first, second = (normalize_axis("swapaxes", axis, a.ndim) for axis in (axis1, axis2))
    order[first], order[second] = second, first
    return xp.permute_dims(a, tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Move axes to other positions."""
    pair = [tuple(x) if isinstance(x, list) else x for x in (source, destination)]
    return xp.moveaxis(array(a), *pair)


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Move an axis back to a position."""
    a = array(a)
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return xp.moveaxis(a, axis, start - 1 if axis < start else start)


def squeeze(a: Any, axis: Any = None) -> Array:
    """Remove axes of size 1."""
    a = array(a)
    return xp.squeeze(a, tuple(k for k, n in enumerate(a.shape) if n == 1) if axis is None else axis)


def expand_dims(a: Any, axis: Any) -> Array:
    """Insert axes of size 1."""
    return xp.expand_dims(array(a), tuple(axis) if isinstance(axis, list) else axis)


def atleast_1d(*arys: Any) -> Any:
    """Return arrays with at least one axis."""
    found = tuple(xp.reshape(a, (1,)) if a.ndim == 0 else a for a in arrays(arys))
    return found[0] if len(found) == 1 else found


def atleast_2d(*arys: Any) -> Any:
    """Return arrays with at least two axes; vectors become rows."""
    found = tuple(xp.reshape(a, (1, a.size)) if a.ndim < 2 else a for a in arrays(arys))
    return found[0] if len(found) == 1 else found


def atleast_3d(*arys: Any) -> Any:
    """Return arrays with at least three axes."""
    # Vectors become (1, n, 1), matrices (m, n, 1).
    found = tuple(
        a if a.ndim > 2 else xp.reshape(a, (*(1,) * (2 - max(a.ndim, 1)), *(a.shape or (1,)), 1))
        for a in arrays(arys)
    )
    return found[0] if len(found) == 1 else found


# --- joins


def concatenate(
    arrays_: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Array:
    """Join arrays along an axis."""
    parts, wanted = arrays(arrays_), dtype_of("concatenate", dtype)
    if any(part.ndim == 0 for part in parts) and axis is not None:
        raise ShapeError("concatenate", "a 0-d array is given", (), "call stack, or pass reshape(x, (1,))")
    parts = [converted("concatenate", part, wanted, casting) for part in parts]
    return finish("concatenate", xp.concat(parts, axis=axis), out, casting=casting)


concat = concatenate


def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Array:
    """Join arrays along a new axis."""
    parts = [converted("stack", part, dtype_of("stack", dtype), casting) for part in _arrays(arrays)]
    return finish("stack", xp.stack(parts, axis=axis), out, casting=casting)


def _list(found: Any) -> list[Array]:
    return list(found) if isinstance(found, tuple) else [found]


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Join arrays along the first axis; vectors are rows."""
    return concatenate(_list(atleast_2d(*tup)), 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Join arrays along the second axis; vectors along their only axis."""
    parts = _list(atleast_1d(*tup))
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Array:
    """Join arrays along the third axis."""
    return concatenate(_list(atleast_3d(*tup)), 2)


def column_stack(tup: Any) -> Array:
    """Join arrays along the second axis; vectors are columns."""
    return concatenate([xp.reshape(a, (-1, 1)) if a.ndim < 2 else a for a in arrays(tup)], 1)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into its parts along an axis, without that axis."""
    return xp.unstack(array(x), axis=axis)


def block(arrays: Any) -> Array:
    """Join nested lists of blocks; the innermost lists are joined along the last axis."""

    def depth(part: Any) -> int:
        if isinstance(part, tuple):
            raise ArgumentTypeError("block", "a tuple is given", (), "pass lists or arrays")
        depths = {depth(x) for x in part} if isinstance(part, list) else {-1}
        if not depths:
            raise ArgumentValueError("block", "a list is empty", (), "pass at least one block in each list")
        if len(depths) > 1:
            raise ArgumentValueError("block", "lists are not equally deep", (), "nest blocks equally deep")
        return depths.pop() + 1

    def axes(part: Any) -> int:
        return builtins.max(axes(x) for x in part) if isinstance(part, list) else _array(part).ndim

    levels = depth(arrays)
    ndim = builtins.max(levels, axes(arrays))

    def join(part: Any, level: int) -> Array:
        if not isinstance(part, list):
            a = _array(part)
            return xp.reshape(a, (1,) * (ndim - a.ndim) + a.shape)
        return concatenate([join(x, level + 1) for x in part], level - levels)

    return xp.asarray(join(arrays, 0), copy=True if levels == 0 else None)


def append(arr: Any, values: Any, axis: Any = None) -> Array:
    """Append values to an array."""
    if axis is None:
        return concatenate((ravel(arr), ravel(values)))
    return concatenate((arr, values), axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array into equal parts, or at indices; the parts are views."""
    a = array(ary)
    if isinstance(indices_or_sections, int) and a.shape[axis] % indices_or_sections:
        facts = [("size", str(a.shape[axis])), ("parts", str(indices_or_sections))]
        raise ArgumentValueError("split", "the axis has no such equal parts", facts, "call array_split")
    return array_split(a, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array into almost equal parts, or at indices; the parts are views."""
    a = array(ary)
    axis = normalize_axis("array_split", axis, a.ndim)
    size = a.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise ArgumentValueError("array_split", "the number of parts is below 1", (), "pass 1 or more")
        each, more = builtins.divmod(size, indices_or_sections)
        sizes = [each + 1] * more + [each] * (indices_or_sections - more)
        ends = [builtins.sum(sizes[:k]) for k in range(1, len(sizes))]
    else:
        ends = [operator.index(k) for k in indices_or_sections]
    before = (slice(None),) * axis
    return [a[(*before, slice(i, j))] for i, j in zip([0, *ends], [*ends, size], strict=True)]


def _split(name: str, ary: Any, parts: Any, axis: int, least: int) -> list[Array]:
    a = array(ary)
    if a.ndim < least:
        raise ShapeError(name, f"ary has fewer than {least} axes", [("ary", str(a.shape))], "call split")
    return split(a, parts, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split along the second axis; a vector along its only axis."""
    return _split("hsplit", ary, indices_or_sections, 0 if array(ary).ndim == 1 else 1, 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split along the first axis."""
    return _split("vsplit", ary, indices_or_sections, 0, 2)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split along the third axis."""
    return _split("dsplit", ary, indices_or_sections, 2, 3)


# --- repetition and order


def tile(A: Any, reps: Any) -> Array:
    """Repeat an array as a whole."""
    return xp.tile(array(A), (operator.index(reps),) if not isinstance(reps, (tuple, list)) else tuple(reps))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Array:
    """Repeat elements."""
    repeats = repeats if isinstance(repeats, int) else array(repeats)
    if isinstance(repeats, Array) and repeats.size == 1:
        repeats = int(repeats)
    return xp.repeat(array(a), repeats, axis=axis)


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Roll elements along axes."""
    a = array(a)
    shift = tuple(int(k) for k in shift) if isinstance(shift, (tuple, list)) else int(shift)
    if isinstance(axis, (tuple, list)) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    if isinstance(axis, int) and isinstance(shift, tuple):
        axis = (axis,) * len(shift)
    return xp.roll(a, shift, axis=tuple(axis) if isinstance(axis, list) else axis)


def flip(m: Any, axis: Any = None) -> Array:
    """Reverse the order along axes."""
    return xp.flip(array(m), axis=axis)


def fliplr(m: Any) -> Array:
    """Reverse the order of columns."""
    return xp.flip(array(m), axis=1)


def flipud(m: Any) -> Array:
    """Reverse the order of rows."""
    return xp.flip(array(m), axis=0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotate by 90 degrees."""
    m = array(m)
    first, second = (axis % m.ndim for axis in axes)
    if first == second:
        raise AxisError("rot90", "both axes are the same", (), "pass two different axes")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return xp.flip(m, axis=(first, second))
    if k == 1:
        return swapaxes(xp.flip(m, axis=second), first, second)
    return xp.flip(swapaxes(m, first, second), axis=second)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Array:
    """Return a view of another shape."""
    return xp.broadcast_to(_array(array), (shape,) if isinstance(shape, int) else tuple(shape))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Array, ...]:
    """Return views of one shape."""
    return tuple(xp.broadcast_arrays(*arrays(args)))


def resize(a: Any, new_shape: Any) -> Array:
    """Return elements in another shape, repeated as often as needed."""
    a, shape = ravel(a), (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    size = math.prod(shape)
    if a.size == 0 or size == 0:
        return xp.zeros(shape, dtype=a.dtype)
    return xp.reshape(xp.tile(a, (-(-size // a.size),))[:size], shape)


_STATISTICS: dict[str, Any] = {"maximum": xp.max, "minimum": xp.min, "mean": xp.mean, "median": xp.median}


def pad(
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = 0,
    stat_length: Any = None,
    end_values: Any = 0,
) -> Array:
    """Add elements around an array, in each of NumPy's modes."""
    a = _array(array)
    if mode in ("constant", "empty"):
        return xp.pad(a, pad_width, constant_values=constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", *_STATISTICS):
        accepts = (
            f"pass constant, empty, edge, reflect, symmetric, wrap, linear_ramp, {', '.join(_STATISTICS)}"
        )
        raise ArgumentValueError("pad", f"mode is {mode!r}", (), accepts)
    widths, lengths, ends = (
        numpy().broadcast_to(numpy().asarray(x), (a.ndim, 2)).tolist()
        for x in (pad_width, a.size if stat_length is None else stat_length, end_values)
    )
    for axis, width in enumerate(widths):
        if a.shape[axis] == 0 and any(width):
            raise ArgumentValueError("pad", f"axis {axis} is empty", (), "pass mode='constant' or 'empty'")
        if mode in _STATISTICS or mode == "linear_ramp":
            parts = [_beyond(a, axis, k, width[k], mode, lengths[axis][k], ends[axis][k]) for k in (0, 1)]
            a = xp.concat([parts[0], a, parts[1]], axis=axis)
        else:
            # NumPy pads the indices, by which the elements are then taken.
            picked = numpy().pad(numpy().arange(a.shape[axis]), width, mode=mode)
            a = xp.take(a, xp.asarray(picked), axis=axis)
    return a


def _beyond(a: Array, axis: int, side: int, width: Any, mode: str, length: Any, end: Any) -> Array:
    """Return the elements that `pad` adds before (side 0) or after an axis (side 1)."""
    width, length = operator.index(width), operator.index(length)
    if min(width, length) < 0:
        raise ArgumentValueError("pad", f"a width is {width}, a length {length}", (), "pass 0 or more")
    before, size = (slice(None),) * axis, a.shape[axis]
    if mode == "linear_ramp":
        edge = a[(*before, 0 if side == 0 else size - 1)]
        ramp: Array = linspace(xp.full_like(edge, end), edge, width, False, dtype=a.dtype, axis=axis)
        return xp.flip(ramp, axis=axis) if side else ramp
    kept = min(length, size)
    if not kept and mode in ("maximum", "minimum"):
        raise ArgumentValueError("pad", "a statistic has no elements", (), "pass stat_length=1 or more")
    part = a[(*before, slice(0, kept) if side == 0 else slice(size - kept, size))]
    part = (
        part
        if "floating" in a.dtype.kind or (mode[0] == "m" and mode[1] in "ai")
        else xp.astype(part, xp.float64)
    )
    found: Array = _STATISTICS[mode](part, axis=axis, keepdims=True)
    found = xp.astype(found if "floating" in a.dtype.kind else xp.round(found), a.dtype)
    return xp.broadcast_to(found, (*a.shape[:axis], width, *a.shape[axis + 1 :]))


def delete(arr: Any, obj: Any, axis: Any = None) -> Array:
    """Return an array without some indices."""
    a, axis = (ravel(arr), 0) if axis is None else (array(arr), axis)
    obj = numpy().asarray(obj) if isinstance(obj, Array) else obj
    kept = numpy().delete(numpy().arange(a.shape[axis]), obj)
    return xp.take(a, xp.asarray(kept), axis=axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Array:
    """Return an array with values before an index."""
    a, axis = (ravel(arr), 0) if axis is None else (array(arr), axis)
    axis = normalize_axis("insert", axis, a.ndim)
    obj = operator.index(obj)
    if not -a.shape[axis] <= obj <= a.shape[axis]:
        raise IndexError(f"insert: index {obj} is out of bounds for size {a.shape[axis]}")
    obj = obj % (a.shape[axis] + 1) if obj >= 0 else obj + a.shape[axis]
    values = converted("insert", array(values), a.dtype)
    values = xp.reshape(values, (1,) * (a.ndim - values.ndim) + values.shape)
    values = xp.moveaxis(values, 0, axis)
    shape = (*a.shape[:axis], values.shape[axis], *a.shape[axis + 1 :])
    before = (slice(None),) * axis
    parts = [a[(*before, slice(0, obj))], xp.broadcast_to(values, shape), a[(*before, slice(obj, None))]]
    return xp.concat(parts, axis=axis)
