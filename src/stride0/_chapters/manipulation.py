"""Manipulation functions: views if strides allow, otherwise one pass that writes the result."""

from __future__ import annotations

from stride0._base.shapes import Axis
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted, primitive

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
        A view of each argument with the common shape; broadcast axes have stride 0.
    """


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
        The common shape. Sizes are aligned from the last axis; they are equal, or one is 1 or missing.

    References
    ----------
    Array API standard 2025.12, "Manipulation Functions", ``broadcast_shapes``, and "Broadcasting".
    """


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
        View of `x`. Broadcast axes have stride 0: their elements share memory, so a view with
        such axes is read-only.

    Raises
    ------
    BroadcastError
        If `x` does not broadcast to the shape.
    """


@primitive
def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : tuple or list of Array
        Arrays whose shapes are equal except along `axis`.
    axis : int or None
        The axis to join along; None flattens all arrays first, in C order.

    Returns
    -------
    Array
        New array of the promoted dtype of the arrays.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    AxisError
        If `axis` does not exist in the first array.
    """


@primitive
def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Insert axes of size 1.

    Parameters
    ----------
    axis : int or tuple of int
        The positions of the new axes in the result.

    Returns
    -------
    Array
        View of `x` with the additional axes.

    Raises
    ------
    AxisError
        If an axis is out of bounds for the result, or is named twice.
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
        View of `x` with negated strides along these axes.
    """


@primitive
def moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """Move axes to other positions; the other axes keep their order.

    Parameters
    ----------
    source : int or tuple of int
        The axes to move.
    destination : int or tuple of int
        The new position of each axis.

    Raises
    ------
    ArgumentValueError
        If `source` and `destination` have different numbers of axes.
    """


@primitive
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Put the axes of an array into another order.

    Parameters
    ----------
    axes : tuple of int
        Axis ``i`` of the result is axis ``axes[i]`` of `x`; each axis occurs exactly once.

    Raises
    ------
    AxisError
        If `axes` is not a permutation of the axes of `x`.
    """


@primitive
def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Repeat elements.

    Parameters
    ----------
    repeats : int or Array
        The number of repetitions; or an integer array with one number per element along `axis`, or one for
        all.
    axis : int, optional
        The axis along which to repeat; by default `x` is flattened first, in C order.

    Raises
    ------
    ShapeError
        If `repeats` has neither one element nor one for each element along `axis`.
    DTypeError
        If `repeats` is an array whose dtype is not an integer dtype.
    """


@primitive
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Give an array another shape with the same elements in C order.

    Parameters
    ----------
    shape : tuple of int
        The new shape, with the same number of elements. One size may be -1: it is inferred.
    copy : bool, optional
        True always copies, False never does, None copies only if strides cannot express the new shape.

    Returns
    -------
    Array
        View of `x` if possible and `copy` is not True; otherwise a new array.

    Raises
    ------
    ShapeError
        If the number of elements differs, or if `copy` is False and a view is not possible.

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
        The number of places, towards larger indices if positive. A tuple needs a tuple of axes; an integer
        applies to all axes.
    axis : int or tuple of int, optional
        The axes; by default `x` is rolled as if flattened in C order. An axis named twice is rolled twice.

    Raises
    ------
    ArgumentValueError
        If the numbers of shifts and axes differ.
    """


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
        If the size of an axis is not 1.
    """


@primitive
def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """Join arrays along a new axis.

    Parameters
    ----------
    arrays : tuple or list of Array
        Arrays with equal shapes.
    axis : int
        The position of the new axis in the result.

    Returns
    -------
    Array
        New array with one more axis, of the promoted dtype of the arrays.

    Raises
    ------
    ShapeError
        If the shapes differ.
    AxisError
        If `axis` is out of bounds for the result.
    """


@primitive
def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Join copies of an array along its axes.

    Parameters
    ----------
    repetitions : tuple of int
        The number of copies along each axis, aligned from the last axis. The shorter of `repetitions` and the
        shape of `x` is extended by ones in front.
    """


@primitive
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array along an axis.

    Parameters
    ----------
    axis : int
        The axis to split along; the results do not have this axis.

    Returns
    -------
    tuple of Array
        One view of `x` for each index along the axis.
    """
