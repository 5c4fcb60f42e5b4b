"""Manipulation functions: views where strides allow, else one pass that writes into the result."""

from __future__ import annotations

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    ShapeError,
    shown,
)
from stride0._base.shapes import (
    Axis,
    Shape,
    c_strides,
    normalize_axes,
    normalize_axis,
    normalize_index,
    normalize_shape,
)
from stride0._base.shapes import broadcast_shapes as _broadcast_shapes
from stride0._core.array.array import Array
from stride0._core.array.array import empty as _empty
from stride0._core.array.array import zeros as _zeros
from stride0._core.array.views import restride, strides
from stride0._core.calls.checks import KINDS, check_array, refuse_dtype
from stride0._core.calls.manipulation import roll_axes
from stride0._core.calls.primitive import intercepted, primitive
from stride0._core.memory import dtype as dt
from stride0._core.ops.copy import assign
from stride0._core.ops.copy import copy as _copy
from stride0._core.ops.index import gather, nonzero
from stride0._core.ops.reduce import reduce, scan

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


@primitive
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Broadcast arrays to their common shape.

    Parameters
    ----------
    *arrays : Array
        Arrays of any dtypes, whose shapes broadcast.

    Returns
    -------
    tuple of Array
        A view of each argument, all of the common shape; broadcast axes have stride 0.
    """
    named = [
        (f"arrays[{i}]", check_array("broadcast_arrays", x, f"arrays[{i}]")) for i, x in enumerate(arrays)
    ]
    shape = _broadcast_shapes("broadcast_arrays", [(name, x.shape) for name, x in named])
    return tuple(_broadcast(x, shape) for _, x in named)


@intercepted
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape of shapes that broadcast.

    Parameters
    ----------
    *shapes : tuple of int
        Any number of shapes.

    Returns
    -------
    tuple of int
        Aligned from the last axis, sizes are equal, or one is 1 or missing and the other is taken.

    References
    ----------
    Array API standard 2025.12, "Manipulation Functions", ``broadcast_shapes``, and "Broadcasting".
    """
    # Names with a space get no hint, which would insert an axis into a shape.
    named = [(f"shape {i}", normalize_shape("broadcast_shapes", shape)) for i, shape in enumerate(shapes)]
    return _broadcast_shapes("broadcast_shapes", named)


@primitive
def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """Broadcast an array to a shape, without copying.

    Parameters
    ----------
    shape : tuple of int
        The shape to broadcast to.

    Returns
    -------
    Array
        View of `x`. Broadcast axes have stride 0: their elements share one place in memory, so a view with
        such axes is read-only.

    Raises
    ------
    BroadcastError
        If `x` does not broadcast to the shape.
    """


def _broadcast(x: Array, shape: Shape) -> Array:
    """Return a view of `x` of a shape to which it is known to broadcast."""
    missing = len(shape) - x.ndim
    kept = (s if n == m else 0 for n, s, m in zip(x.shape, strides(x), shape[missing:], strict=True))
    return restride(x, shape, (0,) * missing + tuple(kept))


@primitive
def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis that they have.

    Parameters
    ----------
    arrays : tuple or list of Array
        Arrays of equal shapes but for `axis`.
    axis : int or None
        The axis to join along; None flattens all arrays first, in C order.

    Returns
    -------
    Array
        New array, of the dtype that those of the arrays promote to.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    AxisError
        If the first array has no such axis.
    """


@primitive
def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Insert axes of size 1.

    Parameters
    ----------
    axis : int or tuple of int
        Where the new axes are in the result.

    Returns
    -------
    Array
        View of `x` with as many more axes.

    Raises
    ------
    AxisError
        If the result has no such axis, or one is named twice.
    """


@primitive
def flip(x: Array, /, *, axis: Axis = None) -> Array:
    """Reverse the order of elements along axes.

    Parameters
    ----------
    axis : int or tuple of int, optional
        The axes to reverse; by default all.

    Returns
    -------
    Array
        View of `x`, whose strides along these axes are negated.
    """
    x = check_array("flip", x)
    x_strides, offset = list(strides(x)), 0
    for k in normalize_axes("flip", axis, x.ndim):
        if x.size:
            offset += (x.shape[k] - 1) * x_strides[k]
        x_strides[k] = -x_strides[k]
    return restride(x, x.shape, tuple(x_strides), offset)


@primitive
def moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """Move axes to other places; the others keep their order.

    Parameters
    ----------
    source : int or tuple of int
        The axes to move.
    destination : int or tuple of int
        Where each of them goes.

    Raises
    ------
    ArgumentValueError
        If `source` and `destination` do not name equally many axes.
    """


@primitive
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Put the axes of an array into another order.

    Parameters
    ----------
    axes : tuple of int
        For each axis of the result the axis of `x` that it is; each exactly once.

    Raises
    ------
    AxisError
        If `axes` is not a permutation of the axes of `x`.
    """


@primitive
def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Repeat each element a number of times.

    Parameters
    ----------
    repeats : int or Array
        How often. An array has an integer dtype and one number for each element along `axis`, or one for all.
    axis : int, optional
        The axis along which to repeat; by default `x` is flattened first, in C order.

    Raises
    ------
    ShapeError
        If there is neither one such number nor one for each element.
    """
    x = check_array("repeat", x)
    if axis is not None:
        axis = normalize_axis("repeat", axis, x.ndim)
    if not isinstance(repeats, Array):
        return _repeat_evenly(x, normalize_index("repeat", "repeats", repeats), axis)
    if repeats.dtype.kind not in KINDS["integral"]:
        refuse_dtype("repeat", repeats.dtype, "an integer dtype", "repeats")
    if repeats.ndim == 0 or repeats.shape == (1,):
        return _repeat_evenly(x, int(reshape(repeats, ())), axis)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    if repeats.shape != (x.shape[axis],):
        raise ShapeError(
            "repeat",
            "repeats must hold one number, or one for each element",
            [("repeats", str(repeats.shape)), ("elements", str(x.shape[axis]))],
        )
    return gather(x, _repeated_indices(repeats), axis)


def _repeat_evenly(x: Array, count: int, axis: int | None) -> Array:
    if count < 0:
        raise ArgumentValueError("repeat", "repeats must not be negative", [("repeats", str(count))])
    if axis is None:
        shape, place = normalize_shape("repeat", x.size * count), x.ndim
    else:
        shape = normalize_shape("repeat", (*x.shape[:axis], x.shape[axis] * count, *x.shape[axis + 1 :]))
        place = axis + 1
    result = _empty(shape, x.dtype)
    if result.size:
        # A new axis behind the repeated one: broadcast in x, with the copies of an element next to each
        # other.
        sizes, x_strides = list(x.shape), list(strides(x))
        sizes.insert(place, count)
        x_strides.insert(place, 0)
        _write_blocks("repeat", result, x, sizes, x_strides)
    return result


def _write_blocks(
    operation: str, result: Array, x: Array, sizes: list[int], source_strides: list[int]
) -> None:
    """Write the view of `x` with these sizes and strides into `result`, element after element in C order.

    Axes of size 1 are dropped, since those of `x` and the added ones may exceed the limit of 64 axes. The
    others cannot: their number of elements is limited.
    """
    kept = [k for k, n in enumerate(sizes) if n != 1]
    shape = tuple(sizes[k] for k in kept)
    source = restride(x, shape, tuple(source_strides[k] for k in kept))
    assign(restride(result, shape, c_strides(shape)), source, operation)


def _repeated_indices(repeats: Array) -> Array:
    """Return ``repeats[0]`` times 0, ``repeats[1]`` times 1, and so on, as one int64 array.

    The differences of neighbours are scattered into zeros, then summed up. Indices that are repeated 0 times
    are left out first, so that no two differences have the same position.
    """
    if repeats.size and int(reduce("min", repeats, (0,), False, None)) < 0:
        raise ArgumentValueError("repeat", "repeats must not be negative")
    # A float sum is exact below 2**53; more indices fit no memory.
    total = int(reduce("sum", repeats, (0,), False, dt.float64))
    result = _zeros(normalize_shape("repeat", total), dt.int64)
    counts = _copy(repeats, dt.int64)
    (used,) = nonzero(counts)
    if total:
        starts = scan("cumulative_sum", gather(counts, used, 0), 0, dt.int64, True)
        # used[k] - used[k - 1], with used[-1] taken as 0
        previous = _zeros(used.shape, dt.int64)
        n = used.size
        assign(restride(previous, (n - 1,), (1,), 1), restride(used, (n - 1,), strides(used)), "repeat")
        result[restride(starts, (n,), (1,))] = used - previous
    return scan("cumulative_sum", result, 0, dt.int64, False)


@primitive
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Give an array another shape with the same elements in C order.

    Parameters
    ----------
    shape : tuple of int
        The new shape, with as many elements. One size may be -1: it is worked out.
    copy : bool, optional
        True copies always, False never; None only where strides cannot express the new shape.

    Returns
    -------
    Array
        View of `x` where possible and unless `copy` is True, else a new array.

    Raises
    ------
    ShapeError
        If the shape has another number of elements, or `copy` is False and no view is possible.

    References
    ----------
    Array API standard 2025.12, "Manipulation Functions", ``reshape``, and "Copy keyword argument".
    """


@primitive
def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: Axis = None) -> Array:
    """Move elements along axes; elements that leave at one end enter at the other.

    Parameters
    ----------
    shift : int or tuple of int
        By how many places, towards larger indices if positive. A tuple needs as many axes; an integer holds
        for all.
    axis : int or tuple of int, optional
        The axes; by default `x` is rolled as if flattened in C order. An axis named twice is moved twice.

    Raises
    ------
    ArgumentValueError
        If there are not as many shifts as axes.
    """
    x = check_array("roll", x)
    shifts = [
        normalize_index("roll", "shift", s) for s in (shift if isinstance(shift, (tuple, list)) else (shift,))
    ]
    if axis is None:
        if len(shifts) != 1:
            raise ArgumentValueError(
                "roll", "a tuple of shifts needs a tuple of axes", [("shift", shown(shift))]
            )
        if x.ndim != 1:
            flat = reshape(x, (x.size,))
            return restride(_roll(flat, {0: shifts[0]}), x.shape, c_strides(x.shape))
        axes = [0]
    else:
        axes = [
            normalize_axis("roll", a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))
        ]
        if not isinstance(shift, (tuple, list)):
            shifts *= len(axes)
        if len(shifts) != len(axes):
            raise ArgumentValueError(
                "roll",
                "there must be as many shifts as axes",
                [("shift", shown(shift)), ("axis", shown(axis))],
            )
    moves: dict[int, int] = {}
    for a, s in zip(axes, shifts, strict=True):
        moves[a] = moves.get(a, 0) + s
    return _roll(x, moves)


def _roll(x: Array, moves: dict[int, int]) -> Array:
    return roll_axes(x, tuple(moves.get(k, 0) % n if n else 0 for k, n in enumerate(x.shape)))


@primitive
def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Remove axes of size 1.

    Parameters
    ----------
    axis : int or tuple of int
        The axes to remove. They must be named, so that a batch axis of size 1 is not removed by accident.

    Raises
    ------
    ShapeError
        If an axis has another size.
    """


@primitive
def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """Join arrays along a new axis.

    Parameters
    ----------
    arrays : tuple or list of Array
        Arrays of one shape.
    axis : int
        Where the new axis is in the result.

    Returns
    -------
    Array
        New array with one more axis, of the dtype that those of the arrays promote to.

    Raises
    ------
    ShapeError
        If the shapes differ.
    AxisError
        If the result has no such axis.
    """


@primitive
def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Lay copies of an array side by side.

    Parameters
    ----------
    repetitions : tuple of int
        How often along each axis, aligned from the last one; ones are put in front of the shorter of this and
        the shape of `x`.
    """
    x = check_array("tile", x)
    if not isinstance(repetitions, (tuple, list)):
        raise ArgumentTypeError(
            "tile", "repetitions must be a tuple of integers", [("repetitions", shown(repetitions))]
        )
    counts = [normalize_index("tile", "repetitions", r) for r in repetitions]
    if any(r < 0 for r in counts):
        raise ArgumentValueError(
            "tile", "repetitions must not be negative", [("repetitions", shown(repetitions))]
        )
    ndim = max(len(counts), x.ndim)
    counts = [1] * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - x.ndim) + x.shape
    result = _empty(
        normalize_shape("tile", tuple(r * n for r, n in zip(counts, shape, strict=True))), x.dtype
    )
    if result.size:
        sizes, x_strides = [], []
        for r, n, s in zip(counts, shape, (0,) * (ndim - x.ndim) + strides(x), strict=True):
            sizes += [r, n]
            x_strides += [0, s]
        _write_blocks("tile", result, x, sizes, x_strides)
    return result


@primitive
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array along an axis.

    Parameters
    ----------
    axis : int
        The axis to split along; the results do not have it.

    Returns
    -------
    tuple of Array
        As many views of `x` as the axis is long.
    """
