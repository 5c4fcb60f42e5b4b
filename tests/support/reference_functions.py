"""Python versions of the compiled functions of the namespace, for comparison in `test_compiled.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from stride0._base.devices import Device, DeviceLike, check_device
from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    AxisError,
    BroadcastError,
    DTypeError,
    OutOfBoundsError,
    RangeError,
    ShapeError,
    brief,
    counted,
    shown,
)
from stride0._base.shapes import (
    Axis,
    broadcast_shapes,
    c_strides,
    check_ndim,
    infer_shape,
    normalize_axes,
    normalize_axis,
    normalize_index,
    normalize_shape,
    size_of,
)
from stride0._chapters.data_types import iinfo, iinfo_object
from stride0._core.array.array import Array, is_c_contiguous, restride, strides, without_broadcast_axes
from stride0._core.array.array import empty as _empty
from stride0._core.array.array import zeros as _zeros
from stride0._core.array.modes import check_broadcasting, check_standard
from stride0._core.call.checks import (
    KINDS,
    as_float,
    as_scalar,
    check_array,
    check_arrays,
    check_bool,
    check_cast,
    check_dtype,
    check_fill,
    promote_all,
    refuse_dtype,
)
from stride0._core.elementwise.elementwise import as_array, assign, copy, iota
from stride0._core.elementwise.elementwise import copy as _copy
from stride0._core.elementwise.functions import (
    abs as abs_,
)
from stride0._core.elementwise.functions import (
    add,
    divide,
    greater,
    less,
    maximum,
    multiply,
    not_equal,
    sqrt,
    subtract,
    where,
)
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._core.index.index import gather, nonzero
from stride0._core.matmul.matmul import multiply_stacks
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, DTypeLike, promote
from stride0._core.order.order import search_among, sort_along
from stride0._core.reduce.reduce import (
    OFF_CENTRE,
    argreduce,
    mean_of_total,
    reduce,
    reduce2,
    reduce_whole,
    scan,
)

# Elements of the longest dot product that the core sums itself.
SHORT = 16384


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    x = check_array("reshape", x)
    new = infer_shape("reshape", x.size, shape)
    if copy is not None:
        copy = check_bool("reshape", "copy", copy)
    if copy is not True:
        new_strides = view_strides(x.shape, strides(x), new)
        if new_strides is not None:
            return restride(x, new, new_strides)
        if copy is False:
            raise ShapeError(
                "reshape",
                "a view is not possible, and copy=False forbids a copy",
                [("x", str(x.shape)), ("strides", str(strides(x))), ("shape", str(new))],
                "write copy=None: it copies only if a view is not possible",
            )
    return restride(_copy(x, None, "C"), new, c_strides(new))


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    x = check_array("broadcast_to", x)
    target = normalize_shape("broadcast_to", shape)
    aligned = target[len(target) - x.ndim :] if x.ndim <= len(target) else ()
    if x.ndim > len(target) or any((n not in (1, m) for n, m in zip(x.shape, aligned, strict=True))):
        operands = [("x", x.shape), ("the shape", target)]
        raise BroadcastError("broadcast_to", operands, grow=("the shape", target))
    return _broadcast(x, target)


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    x = check_array("expand_dims", x)
    if isinstance(axis, (tuple, list)):
        axis = tuple(axis)
    ndim = x.ndim + (len(axis) if isinstance(axis, tuple) else 1)
    if axis is None:
        raise ArgumentTypeError("expand_dims", "axis must be an integer or a tuple of integers, not None")
    axes = normalize_axes("expand_dims", axis, ndim)
    check_ndim("expand_dims", ndim)
    old = iter(zip(x.shape, strides(x), strict=True))
    both = [(1, 0) if k in axes else next(old) for k in range(ndim)]
    return restride(x, tuple((n for n, _ in both)), tuple((s for _, s in both)))


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    x = check_array("squeeze", x)
    if axis is None:
        raise ArgumentTypeError("squeeze", "axis must be an integer or a tuple of integers, not None")
    axes = normalize_axes("squeeze", axis, x.ndim)
    for k in axes:
        if x.shape[k] != 1:
            raise ShapeError("squeeze", f"axis {k} has size {x.shape[k]}, not 1", [("x", str(x.shape))])
    x_strides = strides(x)
    kept = [k for k in range(x.ndim) if k not in axes]
    return restride(x, tuple(x.shape[k] for k in kept), tuple(x_strides[k] for k in kept))


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    x = check_array("permute_dims", x)
    if not isinstance(axes, (tuple, list)):
        raise ArgumentTypeError("permute_dims", "axes must be a tuple of integers", [("axes", shown(axes))])
    order = normalize_axes("permute_dims", axes, x.ndim)
    if len(order) != x.ndim:
        raise AxisError(
            "permute_dims",
            "axes must name each axis of x once",
            [("x", str(x.shape)), ("axes", shown(tuple(axes)))],
        )
    return _permuted(x, order)


def moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    x = check_array("moveaxis", x)
    if source is None or destination is None:
        raise ArgumentTypeError("moveaxis", "source and destination must be integers or tuples of integers")
    sources = normalize_axes("moveaxis", source, x.ndim)
    destinations = normalize_axes("moveaxis", destination, x.ndim)
    if len(sources) != len(destinations):
        raise ArgumentValueError(
            "moveaxis",
            "source and destination must name equal numbers of axes",
            [("source", shown(source)), ("destination", shown(destination))],
        )
    order = [k for k in range(x.ndim) if k not in sources]
    for at, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(at, axis)
    return _permuted(x, tuple(order))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    x = check_array("unstack", x)
    axis = normalize_axis("unstack", axis, x.ndim)
    x_strides = strides(x)
    shape, other_strides = (x.shape[:axis] + x.shape[axis + 1 :], x_strides[:axis] + x_strides[axis + 1 :])
    stride = x_strides[axis] if x.size else 0
    return tuple(restride(x, shape, other_strides, i * stride) for i in range(x.shape[axis]))


def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    parts = check_arrays("stack", arrays)
    shape = parts[0].shape
    for i, x in enumerate(parts):
        if x.shape != shape:
            raise ShapeError(
                "stack",
                f"the shapes of arrays[{i}] and arrays[0] differ",
                [("arrays[0]", str(shape)), (f"arrays[{i}]", str(x.shape))],
                "pass arrays of one shape, or call concat",
            )
    axis = normalize_axis("stack", axis, len(shape) + 1)
    whole = normalize_shape("stack", (*shape[:axis], len(parts), *shape[axis:]))
    # In Fortran order if all parts are, with the new axis as the slowest.
    slow = [axis, *(k for k in reversed(range(len(whole))) if k != axis)]
    result = _in_order(parts, whole, promote_all(x.dtype for x in parts), slow)
    result_strides = strides(result)
    for i, x in enumerate(parts if result.size else ()):
        assign(
            restride(
                result, shape, result_strides[:axis] + result_strides[axis + 1 :], i * result_strides[axis]
            ),
            x,
            "stack",
        )
    return result


def _in_order(parts: Sequence[Array], shape: Shape, dtype: DType, slow: list[int]) -> Array:
    """A new array; if all parts are in Fortran order, its axes are `slow`, from the slowest on."""
    for x in parts:
        if (
            not x.size
            or is_c_contiguous(x)
            or not is_c_contiguous(_permuted(x, tuple(reversed(range(x.ndim)))))
        ):
            return _empty(shape, dtype)
    found = _empty(tuple(shape[axis] for axis in slow), dtype)
    return _permuted(found, tuple(slow.index(axis) for axis in range(len(shape))))


def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    parts = check_arrays("concat", arrays)
    dtype = promote_all(x.dtype for x in parts)
    if axis is None:
        result = _empty(normalize_shape("concat", sum(x.size for x in parts)), dtype)
        start = 0
        for x in parts:
            assign(restride(result, x.shape, c_strides(x.shape), start), x, "concat")
            start += x.size
        return result
    first = parts[0].shape
    axis = normalize_axis("concat", axis, len(first))
    for i, x in enumerate(parts):
        if x.ndim != len(first) or x.shape[:axis] != first[:axis] or x.shape[axis + 1 :] != first[axis + 1 :]:
            raise ShapeError(
                "concat",
                f"arrays[{i}] does not fit arrays[0]",
                [("arrays[0]", str(first)), (f"arrays[{i}]", str(x.shape))],
                f"pass arrays with equal sizes on all axes except {axis}, "
                "or call stack to join along a new axis",
            )
    total = sum(x.shape[axis] for x in parts)
    whole = normalize_shape("concat", (*first[:axis], total, *first[axis + 1 :]))
    result = _in_order(parts, whole, dtype, list(reversed(range(len(whole)))))
    result_strides, start = (strides(result), 0)
    for x in parts:
        if x.size:
            assign(restride(result, x.shape, result_strides, start * result_strides[axis]), x, "concat")
        start += x.shape[axis]
    return result


def _broadcast(x: Array, shape: Shape) -> Array:
    missing = len(shape) - x.ndim
    kept = (s if n == m else 0 for n, s, m in zip(x.shape, strides(x), shape[missing:], strict=True))
    return restride(x, shape, (0,) * missing + tuple(kept))


def _permuted(x: Array, order: Shape) -> Array:
    x_strides = strides(x)
    return restride(x, tuple(x.shape[k] for k in order), tuple(x_strides[k] for k in order))


Shape = tuple[int, ...]


def zeros(
    shape: int | tuple[int, ...], *, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Array:
    check_device("zeros", device)
    return _zeros(normalize_shape("zeros", shape), check_dtype("zeros", dtype, dt.float64))


def empty(
    shape: int | tuple[int, ...], *, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Array:
    check_device("empty", device)
    return _empty(normalize_shape("empty", shape), check_dtype("empty", dtype, dt.float64))


def ones(shape: int | tuple[int, ...], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    check_device("ones", device)
    return _full("ones", normalize_shape("ones", shape), 1, check_dtype("ones", dtype, dt.float64))


def full(
    shape: int | tuple[int, ...],
    fill_value: bool | int | float | complex,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    check_device("full", device)
    return _full("full", normalize_shape("full", shape), fill_value, dtype)


def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    op = "arange"
    check_device(op, device)
    numbers = [
        _real(op, "start", start),
        0 if stop is None else _real(op, "stop", stop),
        _real(op, "step", step),
    ]
    if stop is None:
        numbers[:2] = (0, numbers[0])
    whole = all(isinstance(n, int) for n in numbers)
    target = check_dtype(op, dtype, dt.int64 if whole else dt.float64)
    if target.kind == "bool":
        refuse_dtype(op, target, "a numeric dtype", "the result")
    if not all(isinstance(n, int) or math.isfinite(n) for n in numbers):
        raise ArgumentValueError(op, "start, stop and step must be finite", _named(numbers))
    if numbers[2] == 0:
        raise ArgumentValueError(op, "step must not be 0", _named(numbers))
    if target.kind in KINDS["integral"] and (not whole):
        if not all(n == int(n) for n in numbers):
            raise ArgumentValueError(
                op, f"a number has a fraction and the dtype is {target.name}", _named(numbers)
            )
        numbers, whole = ([int(n) for n in numbers], True)
    count = _count(*numbers)
    if count >= 2**63:
        raise ShapeError(op, "the result would have too many elements", _named(numbers))
    (count,) = normalize_shape(op, count)
    if target.kind in KINDS["integral"]:
        return _arange_integers(op, count, int(numbers[0]), int(numbers[2]), target)
    return _arange_floats(op, count, numbers[0], numbers[2], target)


def _full(op: str, shape: tuple[int, ...], value: object, dtype: object) -> Array:
    checked, target = check_fill(op, "fill_value", value, dtype)
    result = _empty(shape, target)
    assign(result, checked, op)
    return result


def _count(start: int | float, stop: int | float, step: int | float) -> int:
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))
    (a, b), (c, d), (e, f) = (start.as_integer_ratio(), stop.as_integer_ratio(), step.as_integer_ratio())
    return max(0, -((a * d - c * b) * f // (b * d * e)))


def _arange_floats(op: str, count: int, start: int | float, step: int | float, dtype: DType) -> Array:
    first, distance = (as_float(op, start), as_float(op, step))
    remainder = start - int(first) if isinstance(start, int) else 0
    scale = 2 if math.isinf(count * distance) else 1
    if isinstance(start, int) and isinstance(step, int):
        last = start + (count - 1) * step
        if not -(2**53) <= start <= 2**53 or not -(2**53) <= last <= 2**53:
            wide = dt.int64 if start < 0 or last < 0 else dt.uint64
            limits = iinfo_object(wide)
            if all(limits.min <= end <= limits.max for end in (start, last)):
                return copy(_arange_integers(op, count, start, step, wide), dtype)
    if dtype.kind == "real floating" and (not remainder) and (scale == 1):
        result = _empty((count,), dtype)
        iota(result, first, distance)
        return result
    result = _empty((count,), dt.float64)
    iota(result, (remainder or first) / scale, distance / scale)
    if remainder:
        result = add(result, first / scale)
    return copy(multiply(result, scale) if scale > 1 else result, dtype)


def _real(op: str, name: str, value: object) -> int | float:
    number = as_scalar(op, name, value)
    if isinstance(number, complex):
        raise ArgumentTypeError(op, f"{name} must be a real number, not complex", [(name, shown(number))])
    return int(number) if isinstance(number, bool) else number


def _arange_integers(op: str, count: int, start: int, step: int, dtype: DType) -> Array:
    limits = iinfo_object(dtype)
    if count:
        for number in (start, start + (count - 1) * step):
            if not limits.min <= number <= limits.max:
                raise RangeError(
                    op, f"{number} does not fit {dtype.name}", accepts=f"From {limits.min} to {limits.max}."
                )
    result = _empty((count,), dtype)
    iota(result, start, step)
    return result


def _named(numbers: list[int | float]) -> list[tuple[str, str]]:
    return [(name, shown(n)) for name, n in zip(("start", "stop", "step"), numbers, strict=True)]


def astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: Device | str | None = None) -> Array:
    x = check_array("astype", x)
    target = check_dtype("astype", dtype)
    check_device("astype", device)
    if not check_bool("astype", "copy", copy) and x.dtype is target:
        return x
    check_cast("astype", x.dtype, target)
    return _copy(x, target)


def sum_(x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    if axis is None and dtype is None and (keepdims is False) and isinstance(x, Array):
        return reduce_whole("sum", x)
    return _total("sum", x, axis, dtype, keepdims)


def prod(x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _total("prod", x, axis, dtype, keepdims)


def max_(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    return _extreme("max", x, axis, keepdims)


def min_(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    return _extreme("min", x, axis, keepdims)


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False, dtype: DTypeLike | None = None) -> Array:
    x = check_array("mean", x)
    if dtype is not None:
        check_standard("mean", "a dtype is given", "Statistical functions: mean has no parameter dtype")
        x = _cast_for_mean(x, check_dtype("mean", dtype))
    axes = normalize_axes("mean", axis, x.ndim)
    total, count = _wide_sum(x, axes, check_bool("mean", "keepdims", keepdims))
    return mean_of_total(total, count, _floating(x.dtype))


def std(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Array:
    variance, dtype = _wide_variance("std", x, axis, correction, keepdims)
    return _as_dtype(sqrt(variance), dtype)


def var(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Array:
    variance, dtype = _wide_variance("var", x, axis, correction, keepdims)
    return _as_dtype(variance, dtype)


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


def _total(op: str, x: Array, axis: Axis, dtype: DTypeLike | None, keepdims: bool) -> Array:
    x = check_array(op, x)
    target = _sum_dtype(op, x, dtype)
    return reduce(op, x, normalize_axes(op, axis, x.ndim), check_bool(op, "keepdims", keepdims), target)


def _extreme(op: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    x = check_array(op, x)
    if x.dtype.kind == "complex floating":
        refuse_dtype(op, x.dtype, "a real dtype; complex numbers have no order")
    axes = normalize_axes(op, axis, x.ndim)
    empty = next((k for k in axes if x.shape[k] == 0), None)
    if empty is not None:
        raise ShapeError(
            op,
            f"axis {empty} has no elements to choose from",
            [("x", str(x.shape))],
            "pass an array with elements",
        )
    return reduce(op, x, axes, check_bool(op, "keepdims", keepdims), None)


def _wide_sum(x: Array, axes: tuple[int, ...], keepdims: bool) -> tuple[Array, float]:
    wide = dt.complex128 if x.dtype.kind == "complex floating" else dt.float64
    x = without_broadcast_axes(x, axes)
    total = reduce("sum", x, axes, keepdims, wide)
    return (total, float(size_of([x.shape[k] for k in axes])))


def _cast_for_mean(x: Array, dtype: DType) -> Array:
    if dtype.kind not in ("real floating", "complex floating"):
        refuse_dtype("mean", dtype, "a floating-point dtype", "the result")
    check_cast("mean", x.dtype, dtype)
    return x if x.dtype is dtype else copy(x, dtype)


def _floating(dtype: DType) -> DType:
    return dtype if dtype.kind in ("real floating", "complex floating") else dt.float64


def _wide_variance(
    op: str, x: Array, axis: Axis, correction: int | float, keepdims: bool
) -> tuple[Array, DType]:
    x = check_array(op, x)
    axes = normalize_axes(op, axis, x.ndim)
    less_by = as_scalar(op, "correction", correction)
    if isinstance(less_by, (bool, complex)):
        raise ArgumentTypeError(
            op, "correction must be an int or a float", [("correction", shown(correction))]
        )
    keepdims = check_bool(op, "keepdims", keepdims)
    middle = _wide_mean(x, axes, True)
    squares = reduce2("sum_squared_deviation", x, middle, axes, True, dt.float64)
    count = size_of([x.shape[k] for k in axes])
    if squares.size and count > 1 and _is_off_centre(squares, middle, count):
        error = abs_(_wide_mean(subtract(without_broadcast_axes(x, axes), middle), axes, True))
        squares = maximum(subtract(squares, multiply(multiply(error, error), float(count))), 0.0)
    if not keepdims:
        squares = restride(squares, *_kept(squares, axes))
    divisor = count - less_by
    result = divide(squares, float(divisor) if divisor > 0 else math.nan)
    dtype = {dt.complex64: dt.float32, dt.complex128: dt.float64}.get(x.dtype)
    return (result, dtype or _floating(x.dtype))


def _as_dtype(x: Array, dtype: DType) -> Array:
    return x if x.dtype is dtype else copy(x, dtype)


def _cumulative(op: str, x: Array, axis: int | None, dtype: DTypeLike | None, include_initial: bool) -> Array:
    x = check_array(op, x)
    target = _sum_dtype(op, x, dtype)
    if x.ndim == 0:
        x = restride(x, (1,), (1,))
    if axis is None:
        if x.ndim > 1:
            raise ArgumentValueError(
                op,
                f"axis must be given for an array with {x.ndim} axes",
                [("x", str(x.shape))],
                f"pass an axis from {-x.ndim} to {x.ndim - 1}",
            )
        axis = 0
    return scan(
        op, x, normalize_axis(op, axis, x.ndim), target, check_bool(op, "include_initial", include_initial)
    )


def _sum_dtype(op: str, x: Array, dtype: DTypeLike | None) -> DType:
    if dtype is None:
        if x.dtype.kind == "unsigned integer":
            return dt.uint64
        return dt.int64 if x.dtype.kind in ("signed integer", "bool") else x.dtype
    target = check_dtype(op, dtype)
    if target.kind == "bool":
        refuse_dtype(op, target, "a numeric dtype", "the result")
    check_cast(op, x.dtype, target)
    return target


def _wide_mean(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return mean_of_total(*_wide_sum(x, axes, keepdims))


def _is_off_centre(squares: Array, middle: Array, count: int) -> bool:
    off = less(sqrt(squares), multiply(abs_(middle), OFF_CENTRE * math.sqrt(count)))
    return bool(reduce_whole("any", off))


def _kept(x: Array, axes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    kept = [k for k in range(x.ndim) if k not in axes]
    x_strides = strides(x)
    return (tuple(x.shape[k] for k in kept), tuple(x_strides[k] for k in kept))


def all_(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    x = check_array("all", x)
    return reduce(
        "all", x, normalize_axes("all", axis, x.ndim), check_bool("all", "keepdims", keepdims), None
    )


def any_(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    x = check_array("any", x)
    return reduce(
        "any", x, normalize_axes("any", axis, x.ndim), check_bool("any", "keepdims", keepdims), None
    )


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    return _search("argmax", x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    return _search("argmin", x, axis, keepdims)


def count_nonzero(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    x = check_array("count_nonzero", x)
    axes = normalize_axes("count_nonzero", axis, x.ndim)
    return reduce("count_nonzero", x, axes, check_bool("count_nonzero", "keepdims", keepdims), None)


def searchsorted(
    x1: Array,
    x2: Array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    op = "searchsorted"
    x1 = check_array(op, x1, "x1")
    beyond = _beyond(x1, x2)
    wanted = as_array(0 if beyond else x2, op, x1.dtype, "x2")
    for name, x in (("x1", x1), ("x2", wanted)):
        if x.dtype.kind == "complex floating":
            refuse_dtype(op, x.dtype, "a real dtype; complex numbers have no order", name)
    if x1.ndim != 1:
        raise ShapeError(op, "x1 must have one axis", [("x1", str(x1.shape))])
    if not isinstance(side, str) or side not in ("left", "right"):
        raise ArgumentValueError(op, f"unknown side {shown(side)}", (), "pass side='left' or side='right'")
    if sorter is not None:
        x1 = _put_in_order(x1, sorter)
    if beyond:
        return as_array(x1.size if beyond > 0 else 0, op, dt.int64)
    dtype = promote(x1.dtype, wanted.dtype)
    integral = KINDS["integral"]
    mixed = x1.dtype.kind in integral and wanted.dtype.kind in integral and (dtype.kind not in integral)
    if mixed:
        dtype = x1.dtype
    sought = wanted if wanted.dtype is dtype else copy(wanted, dtype)
    places = search_among(_as_dtype(x1, dtype), sought, side == "right")
    if mixed:
        places = where(less(wanted, iinfo(dtype).min), 0, places)
        places = where(greater(wanted, iinfo(dtype).max), x1.size, places)
    return places


def _search(op: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    x = check_array(op, x)
    keepdims = check_bool(op, "keepdims", keepdims)
    if x.dtype.kind == "complex floating":
        refuse_dtype(op, x.dtype, "a real dtype; complex numbers have no order")
    if axis is not None:
        axis = normalize_axis(op, axis, x.ndim)
    if (x.size if axis is None else x.shape[axis]) == 0:
        place = "x" if axis is None else f"axis {axis}"
        raise ShapeError(
            op,
            f"{place} has no elements to choose from",
            [("x", str(x.shape))],
            "pass an array with elements",
        )
    if axis is not None:
        return argreduce(op, x, axis, keepdims)
    base = without_broadcast_axes(x, tuple(range(x.ndim)))
    result = argreduce(op, reshape(base, (base.size,)), 0, False)
    if base.size != x.size:
        result = asarray(_flat_index(int(result), base.shape, x.shape), dtype=result.dtype)
    return restride(result, (1,) * x.ndim, (0,) * x.ndim) if keepdims else result


def _beyond(x: Array, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or x.dtype.kind not in KINDS["integral"]:
        return 0
    limits = iinfo(x.dtype)
    return int(number > limits.max) - int(number < limits.min)


def _put_in_order(x: Array, sorter: Array) -> Array:
    op = "searchsorted"
    sorter = check_array(op, sorter, "sorter")
    if sorter.dtype.kind not in KINDS["integral"]:
        refuse_dtype(op, sorter.dtype, "an integer dtype", "sorter")
    if sorter.shape != x.shape:
        shapes = [("x1", str(x.shape)), ("sorter", str(sorter.shape))]
        raise ShapeError(op, "sorter must have the shape of x1", shapes)
    if not x.size:
        return x
    stored = without_broadcast_axes(sorter, (0,))
    least, most = (int(reduce(name, stored, (0,), False, None)) for name in ("min", "max"))
    if least < 0 or most >= x.size:
        bad = least if least < 0 else most
        raise OutOfBoundsError(op, f"index {bad} in sorter is out of bounds for {counted(x.size, 'element')}")
    if without_broadcast_axes(x, (0,)).size < x.size:
        return x
    return _broadcast(gather(x, copy(stored, dt.int64), 0), x.shape)


def _flat_index(index: int, shape: tuple[int, ...], target: tuple[int, ...]) -> int:
    out, stride = (0, 1)
    for size, full in zip(reversed(shape), reversed(target), strict=True):
        out += index % size * stride
        index //= size
        stride *= full
    return out


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    return sort_along(*_checked("sort", x, axis, descending, stable), False)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    return sort_along(*_checked("argsort", x, axis, descending, stable), True)


def _checked(op: str, x: object, axis: object, descending: object, stable: object) -> tuple[Array, int, bool]:
    found = check_array(op, x)
    if found.dtype.kind == "complex floating":
        refuse_dtype(op, found.dtype, "a real dtype; complex numbers have no order")
    axis, descending = (normalize_axis(op, axis, found.ndim), check_bool(op, "descending", descending))
    check_bool(op, "stable", stable)
    return (found, axis, descending)


def unique_values(x: Array, /) -> Array:
    x = check_array("unique_values", x)
    ordered = _sorted(x)
    return gather(ordered, nonzero(_first_of_equals(ordered))[0], 0)


_COMPLEX = "complex floating"


def _sorted(x: Array) -> Array:
    if x.dtype.kind != _COMPLEX:
        return sort_along(reshape(x, (x.size,)), 0, False, False)
    ordered = reshape(copy(x, None, "C"), (x.size,))
    to_numpy(ordered).sort(stable=True)
    return ordered


def _first_of_equals(ordered: Array) -> Array:
    first = _empty(ordered.shape, dt.bool)
    n = ordered.size
    if n:
        assign(restride(first, (1,), (1,)), True)
        (stride,) = strides(ordered)
        later, earlier = (
            restride(ordered, (n - 1,), (stride,), stride if n > 1 else 0),
            restride(ordered, (n - 1,), (stride,)),
        )
        assign(restride(first, (n - 1,), (1,), 1 if n > 1 else 0), not_equal(later, earlier))
    return first


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    x = as_array(x, "take")
    found = _check_indices("take", indices)
    if axis is None:
        if x.ndim != 1:
            raise ShapeError(
                "take",
                f"the array has {x.ndim} axes, and axis is not given",
                (("shape", str(x.shape)),),
                "pass axis, or an array with one axis",
            )
        axis = 0
    taken = gather(x, found, normalize_axis("take", axis, x.ndim))
    return taken if found.ndim else contiguous(asarray(taken, copy=True))


def _check_indices(operation: str, indices: object) -> Array:
    found = as_array(indices, operation, None, "indices")
    if "integer" not in found.dtype.kind:
        raise DTypeError(
            operation,
            f"Unsupported dtype {found.dtype.name} of indices",
            (),
            "pass integers: astype(indices, int64)",
        )
    return found


def matmul(x1: Array, x2: Array, /) -> Array:
    x1, x2 = check_products("matmul", x1, x2)
    if x1.dtype.kind == "bool":
        return _of_bools(matmul, x1, x2)
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim == 0:
            facts = [("x1", str(x1.shape)), ("x2", str(x2.shape))]
            raise ShapeError(
                "matmul", f"{name} must have at least one axis", facts, "multiply by a number with *: x1 * x2"
            )
    shape1, shape2 = (x1.shape, x2.shape)
    inner = shape2[-2] if x2.ndim > 1 else shape2[0]
    if shape1[-1] != inner:
        raise ShapeError(
            "matmul",
            f"the inner sizes differ: {shape1[-1]} in x1 and {inner} in x2",
            [("x1", str(shape1)), ("x2", str(shape2))],
            "make the inner sizes equal, for example by matrix_transpose(x2)",
        )
    dtype = x1.dtype if x1.dtype is x2.dtype else promote(x1.dtype, x2.dtype)
    if len(shape1) == len(shape2) == 1 and inner <= SHORT:
        return reduce2("dot", x1, x2, (0,), False, dtype)
    a = x1 if x1.ndim > 1 else restride(x1, (1, *shape1), (0, *strides(x1)))
    b = x2 if x2.ndim > 1 else restride(x2, (*shape2, 1), (*strides(x2), 0))
    batch: tuple[int, ...] = ()
    if a.ndim > 2 or b.ndim > 2:
        batch = broadcast_batches("matmul", a, b)
    result = multiply_stacks(a, b, batch, dtype)
    if x1.ndim > 1 < x2.ndim:
        return result
    sizes, result_strides = (list(result.shape), list(strides(result)))
    if x2.ndim == 1:
        del sizes[-1], result_strides[-1]
    if x1.ndim == 1:
        at = -1 if x2.ndim == 1 else -2
        del sizes[at], result_strides[at]
    return restride(result, tuple(sizes), tuple(result_strides))


def matrix_transpose(x: Array, /) -> Array:
    check_matrices("matrix_transpose", x)
    *lead, rows, columns = x.shape
    *lead_strides, down, across = strides(x)
    return restride(x, (*lead, columns, rows), (*lead_strides, across, down))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    op = "vecdot"
    x1, x2 = check_products(op, x1, x2)
    if x1.dtype.kind == "bool":
        return _of_bools(vecdot, x1, x2, axis=axis)
    axis = check_vectors(op, x1, x2, axis)
    if x1.shape[axis] != x2.shape[axis]:
        raise ShapeError(
            op,
            f"axis {axis} has size {x1.shape[axis]} in x1 and {x2.shape[axis]} in x2",
            [("x1", str(x1.shape)), ("x2", str(x2.shape))],
            "pass vectors of equal size: they do not broadcast",
        )
    check_broadcast(op, x1, x2)
    place = max(x1.ndim, x2.ndim) + axis
    return reduce2(op, x1, x2, (place,), False, promote(x1.dtype, x2.dtype))


def check_products(op: str, x1: Array, x2: Array) -> tuple[Array, Array]:
    check_array(op, x1, "x1")
    check_array(op, x2, "x2")
    if (x1.dtype.kind == "bool") != (x2.dtype.kind == "bool"):
        return (copy(x1, x2.dtype), x2) if x1.dtype.kind == "bool" else (x1, copy(x2, x1.dtype))
    return (x1, x2)


def _of_bools(product: Callable[..., Array], x1: Array, x2: Array, **options: Any) -> Array:
    counts = product(copy(x1, dt.float32), copy(x2, dt.float32), **options)
    return not_equal(counts, 0)


def broadcast_batches(op: str, x1: Array, x2: Array) -> tuple[int, ...]:
    lead1, lead2 = (x1.shape[:-2], x2.shape[:-2])
    if lead1 == lead2:
        return lead1
    pairs = [("leading axes of x1", lead1), ("leading axes of x2", lead2)]
    shape = broadcast_shapes(op, pairs)
    check_broadcasting(op, pairs, shape)
    return shape


def check_matrices(op: str, x: object, name: str = "x") -> Array:
    found = check_array(op, x, name)
    if found.ndim < 2:
        raise ShapeError(op, f"{name} must be a matrix or a stack of them", [(name, str(found.shape))])
    return found


def check_vectors(op: str, x1: Array, x2: Array, axis: object) -> int:
    number = normalize_index(op, "axis", axis)
    fewest = min(x1.ndim, x2.ndim)
    if number >= 0 and fewest:
        raise AxisError(
            op,
            f"axis {brief(number)} is not counted from the last one",
            [("x1", str(x1.shape)), ("x2", str(x2.shape))],
            f"pass an axis from {-fewest} to -1: the arrays are aligned from the right",
        )
    return normalize_axis(op, number, fewest) - fewest


def check_broadcast(op: str, x1: Array, x2: Array) -> tuple[int, ...]:
    pairs = [("x1", x1.shape), ("x2", x2.shape)]
    shape = broadcast_shapes(op, pairs)
    check_broadcasting(op, pairs, shape)
    return shape


def view_strides(
    shape: Sequence[int], strides: Sequence[int], new_shape: Sequence[int]
) -> tuple[int, ...] | None:
    """Return strides with which the same memory reads as `new_shape`, or None if a copy is necessary.

    Parameters
    ----------
    shape, strides : sequence of int
        The array as it is; strides in elements, any sign, 0 along broadcast axes.
    new_shape : sequence of int
        The new shape, with as many elements, in C order.

    Returns
    -------
    tuple of int or None
        Strides of the view; its offset is that of the array.

    Notes
    -----
    Axes of size 1 never move the pointer, so they are dropped first, whatever their stride. The others are
    merged: neighbours ``(n, s), (m, t)`` with ``s == m * t`` are one axis ``(n * m, t)``. The new axes then
    split the merged axes, from the last one on; a new axis may never span two merged ones.
    """
    if 0 in new_shape:
        return c_strides(new_shape)
    merged: list[list[int]] = []
    for n, s in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if merged and merged[-1][1] == n * s:
            merged[-1] = [merged[-1][0] * n, s]
        else:
            merged.append([n, s])
    result = [0] * len(new_shape)
    stride = 1  # of an axis of size 1 at the end
    k = len(new_shape) - 1
    while merged:
        left, stride = merged.pop()
        while left > 1:
            # The sizes have the same product, so while merged axes remain, new axes remain too.
            size = new_shape[k]
            if left % size:
                return None
            result[k] = stride
            stride *= size
            left //= size
            k -= 1
    for axis in range(k, -1, -1):
        result[axis] = stride
    return tuple(result)


def contiguous(x: Array, /) -> Array:
    x = as_array(x, "contiguous")
    return x if is_c_contiguous(x) else copy(x, order="C")


def of(name: str) -> Callable[..., Any]:
    """Return the function of a public name; names of builtins have an underscore at the end here."""
    return globals().get(f"{name}_") or globals()[name]
