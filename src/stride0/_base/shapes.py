"""Arithmetic of shapes, strides and axes, on tuples of Python integers.

No function here takes an array. Strides count elements, not bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

from stride0._base.errors import (
    ArgumentTypeError,
    AxisError,
    BatchingError,
    BroadcastError,
    ShapeError,
    brief,
    counted,
    shown,
)

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None
"""The type of a reduction's ``axis=`` argument."""

ShapeLike = int | tuple[int, ...]
"""The type of a ``shape`` argument."""

MAX_NDIM = 64
"""The largest number of axes an array can have."""

_MAX_SIZE = 2**63 - 1


def normalize_index(operation: str, name: str, value: object) -> int:
    """Return an argument as an integer, or raise an ArgumentTypeError that names it.

    Objects with ``__index__`` are accepted, except booleans, which are usually a mistake.
    """
    if type(value) is int:
        return value
    if not _is_boolean(value):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except BatchingError:
            raise not_static(operation, name) from None
        except TypeError:
            pass
    raise ArgumentTypeError(
        operation, f"{name} must be an integer, not {type(value).__name__}", [(name, shown(value))]
    )


def not_static(operation: str, name: str) -> BatchingError:
    """Return the error for a batched array passed as a parameter that must be the same for all examples."""
    return BatchingError(
        operation,
        f"{name} must be the same for all examples, and it is a batched array",
        accepts=f"pass {name} as a constant: in_axes=None for this argument; or loop over the examples",
    )


def _is_boolean(value: object) -> bool:
    # 0-d booleans of NumPy and stride0 have a bool dtype, but neither module may be imported here. Test the
    # kind of the dtype, not its name: NumPy builds the name on each read, which takes longer than the rest.
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") in ("b", "bool")


def normalize_axis(operation: str, axis: object, ndim: int) -> int:
    """Return an ``axis=`` argument as a non-negative integer, or raise AxisError if it is out of bounds."""
    number = normalize_index(operation, "axis", axis)
    if -ndim <= number < ndim:
        return number + ndim if number < 0 else number
    accepts = (
        f"pass an axis from {-ndim} to {ndim - 1}" if ndim else "leave axis out: a 0-d array has no axes"
    )
    raise AxisError(
        operation,
        f"axis {brief(number)} is out of bounds for array with {counted(ndim, 'axis', 'axes')}",
        accepts=accepts,
    )


def normalize_axes(operation: str, axis: object, ndim: int) -> tuple[int, ...]:
    """Return an ``axis=`` argument as a tuple of non-negative axes, in the given order; None means all axes.

    Raises AxisError if an axis does not exist or is named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        return (normalize_axis(operation, axis, ndim),)
    axes = tuple(normalize_axis(operation, a, ndim) for a in axis)
    if len(set(axes)) < len(axes):
        twice = next(a for i, a in enumerate(axes) if a in axes[:i])
        raise AxisError(
            operation,
            f"axis {twice} is named more than once",
            [("axis", shown(tuple(axis)))],
            "name each axis once",
        )
    return axes


def _sizes(operation: str, shape: object) -> list[int]:
    """Return an int or a sequence of ints as a list; signs are not checked."""
    if isinstance(shape, (tuple, list)):
        entries: Iterable[object] = shape
    elif isinstance(shape, int) or (hasattr(shape, "__index__") and not hasattr(shape, "__len__")):
        entries = (shape,)
    elif (
        isinstance(shape, Iterable) and not isinstance(shape, (str, bytes)) and getattr(shape, "ndim", 1) == 1
    ):
        entries = shape
    else:
        # 0-d arrays have both __len__ and __index__; treat them as integers.
        entries = (shape,)
    return [normalize_index(operation, "shape", size) for size in entries]


def check_ndim(operation: str, ndim: int) -> None:
    """Raise ShapeError if there are more axes than an array can have."""
    if ndim > MAX_NDIM:
        raise ShapeError(operation, f"{ndim} axes are too many", accepts=f"use at most {MAX_NDIM} axes")


def normalize_shape(operation: str, shape: object) -> Shape:
    """Return a ``shape`` argument, an integer or a sequence of integers, as a tuple.

    Raises ShapeError for negative sizes, more than 64 axes, or more elements than any memory could hold.
    """
    sizes = tuple(_sizes(operation, shape))
    for k, size in enumerate(sizes):
        if size < 0:
            raise ShapeError(
                operation,
                f"axis {k} has negative size {brief(size)}",
                [("shape", shown(sizes))],
                "pass sizes of 0 or more",
            )
    _check_limits(operation, sizes)
    return sizes


def _check_limits(operation: str, shape: Shape) -> None:
    check_ndim(operation, len(shape))
    # Omit sizes of 0 from the product: `c_strides` counts them as 1, and strides must not overflow, either.
    if size_of(tuple(size for size in shape if size)) > _MAX_SIZE:
        raise ShapeError(
            operation,
            "the shape has too many elements",
            [("shape", shown(shape))],
            "use at most 2**63 - 1 elements",
        )


def infer_shape(operation: str, size: int, shape: object) -> Shape:
    """Return the shape to which ``reshape`` changes `size` elements; a size of -1 is inferred.

    Raises ShapeError if the shape does not have `size` elements.
    """
    wanted = _sizes(operation, shape)
    facts = [("elements", str(size)), ("shape", shown(tuple(wanted)))]
    unknown = [k for k, n in enumerate(wanted) if n < 0]
    if any(wanted[k] != -1 for k in unknown):
        raise ShapeError(
            operation, "a size is negative", facts, "pass sizes of 0 or more, or one -1 to infer a size"
        )
    if len(unknown) > 1:
        raise ShapeError(
            operation, "more than one size is -1", facts, "write all sizes except one: one -1 is inferred"
        )
    known = size_of(tuple(n for n in wanted if n >= 0))
    if unknown:
        if known == 0:
            raise ShapeError(
                operation, "-1 cannot be inferred: another size is 0", facts, "write the size instead of -1"
            )
        if size % known:
            raise ShapeError(
                operation,
                f"{counted(size, 'element')} cannot be divided into rows of {brief(known)}",
                facts,
                f"pass sizes whose product divides {size}",
            )
        wanted[unknown[0]] = size // known
    elif known != size:
        raise ShapeError(
            operation,
            f"{counted(size, 'element')} {'does' if size == 1 else 'do'} not fill a shape of {brief(known)}",
            facts,
            f"pass sizes whose product is {size}, or -1 for one of them",
        )
    result = tuple(wanted)
    _check_limits(operation, result)
    return result


def size_of(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape; 1 for ``()``."""
    size = 1
    for n in shape:
        size *= n
    return size


def c_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a C-contiguous array.

    A size of 0 counts as 1.
    """
    strides = [0] * len(shape)
    stride = 1
    for k in range(len(shape) - 1, -1, -1):
        strides[k] = stride
        stride *= shape[k] or 1
    return tuple(strides)


def broadcast_shapes(operation: str, operands: Iterable[tuple[str, Shape]]) -> Shape:
    """Return the common shape of operands, given as pairs of name and shape, or raise BroadcastError.

    Sizes are aligned from the last axis. If one operand has size 1 along an axis, or lacks the axis, the
    result has the size of the other operand. Otherwise the sizes must be equal; 0 is an ordinary size.
    """
    operands = list(operands)
    ndim = max([len(shape) for _, shape in operands], default=0)
    result = [1] * ndim
    for _, shape in operands:
        for k in range(-1, -1 - len(shape), -1):
            size = shape[k]
            if size != result[k] and size != 1:
                if result[k] != 1:
                    raise BroadcastError(operation, operands)
                result[k] = size
    return tuple(result)
