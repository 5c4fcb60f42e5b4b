"""Manipulation functions: views where strides allow, else one pass that writes into the result."""

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
        A view of each argument, all of the common shape; broadcast axes have stride 0.
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
        Aligned from the last axis, sizes are equal, or one is 1 or missing and the other is taken.

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
        View of `x`. Broadcast axes have stride 0: their elements share one place in memory, so a view with
        such axes is read-only.

    Raises
    ------
    BroadcastError
        If `x` does not broadcast to the shape.
    """


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
        Axis ``i`` of the result is axis ``axes[i]`` of `x`; each axis occurs exactly once.

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
    DTypeError
        If `repeats` is an array of another dtype.
    """


@primitive
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Give an array another shape with the same elements in C order.

    Parameters
    ----------
    shape : tuple of int
        The new shape, with as many elements. One size may be -1: it is worked out.
    copy : bool, optional
        True copies always, False never; None only if strides cannot express the new shape.

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
