"""Definitions of `stride0.strided`."""

from __future__ import annotations

from collections.abc import Sequence

from stride0._base.errors import OutOfBoundsError, ShapeError, counted
from stride0._base.shapes import normalize_index, normalize_shape
from stride0._core.array import array as _views
from stride0._core.array.array import Array, is_c_contiguous
from stride0._core.array.array import restride as _restride
from stride0._core.array.array import storage_bounds as _storage_bounds
from stride0._core.array.modes import CONFIGURATION
from stride0._core.call.binding import intercepted_in, primitive_in
from stride0._core.call.checks import check_array, check_sequence
from stride0._core.elementwise.elementwise import as_array
from stride0._core.memory.storage import memory_statistics

__all__ = [
    "as_strided",
    "contiguous",
    "is_contiguous",
    "is_writable",
    "memory_statistics",
    "offset",
    "shares_storage",
    "storage_nbytes",
    "strides",
]


@intercepted_in("strided")
def offset(x: Array) -> int:
    """Offset of the first element in its storage, in elements."""
    return int(_views.offset(check_array("offset", x)))


@intercepted_in("strided")
def shares_storage(x: Array, y: Array) -> bool:
    """Whether two arrays are views of one storage, or of storages that overlap in memory."""
    first, second = check_array("shares_storage", x), check_array("shares_storage", y, "y")
    return bool(_views.shares_storage(first, second))


@intercepted_in("strided")
def storage_nbytes(x: Array) -> int:
    """Size of the storage in bytes."""
    return int(_views.storage_nbytes(check_array("storage_nbytes", x)))


@intercepted_in("strided")
def strides(x: Array) -> tuple[int, ...]:
    """Stride of each axis in elements."""
    found: tuple[int, ...] = _views.strides(check_array("strides", x))
    return found


@intercepted_in("strided")
def is_writable(x: Array, /) -> bool:
    """Whether elements may be assigned.

    Returns
    -------
    bool
        False for read-only memory, for a view whose elements share memory, and in a test configuration of
        read-only arrays.
    """
    given, configuration = check_array("is_writable", x), CONFIGURATION.current()
    return _views.is_writable(given) and (configuration is None or configuration.writable)


@intercepted_in("strided")
def is_contiguous(x: Array, /) -> bool:
    """Whether the elements are contiguous in C order.

    Returns
    -------
    bool
        True for every empty array.
    """
    return is_c_contiguous(check_array("is_contiguous", x))


@primitive_in("strided")
def contiguous(x: Array, /) -> Array:
    """The array in C order.

    Returns
    -------
    Array
        `x` itself if it is contiguous, otherwise a copy.
    """


@primitive_in("strided")
def as_strided(x: Array, /, shape: Sequence[int], strides: Sequence[int], offset: int | None = None) -> Array:
    """A view on the storage of an array, with any shape and strides.

    Parameters
    ----------
    shape : sequence of int
        Shape of the view.
    strides : sequence of int
        Stride of each axis, in elements; zero and negative strides are allowed.
    offset : int, optional
        Offset of the view's first element in the storage, in elements; by default the offset of `x`.

    Returns
    -------
    Array
        A view. Writing to it is refused if several of its elements share one memory location.

    Raises
    ------
    ShapeError
        If shape and strides differ in length, or a size is negative.
    OutOfBoundsError
        If the view would reach outside the storage.
    """
    x = as_array(x, "as_strided")
    sizes = normalize_shape("as_strided", shape)
    given = check_sequence("as_strided", "strides", strides, "integers")
    view_strides = tuple(normalize_index("as_strided", "strides", stride) for stride in given)
    if len(sizes) != len(view_strides):
        raise ShapeError(
            "as_strided",
            f"{counted(len(sizes), 'size')} and {counted(len(view_strides), 'stride')}",
            (),
            "pass one stride per axis",
        )
    first, last = _storage_bounds(x)
    start = 0 if offset is None else normalize_index("as_strided", "offset", offset) + first
    if 0 not in sizes:
        reaches = [(size - 1) * stride for size, stride in zip(sizes, view_strides, strict=True)]
        low = start + sum(reach for reach in reaches if reach < 0)
        high = start + sum(reach for reach in reaches if reach > 0)
        if low < first or high > last:
            raise OutOfBoundsError(
                "as_strided",
                f"the view would reach from element {low - first} to element {high - first} of the storage",
                (("shape", str(sizes)), ("strides", str(view_strides))),
                f"choose a shape and strides that stay in elements 0 to {last - first}",
            )
    else:
        start = 0
    # The stride of an axis of size 1 is arbitrary, and may be too large for the core.
    view_strides = tuple(
        stride if size > 1 and 0 not in sizes else 1 for size, stride in zip(sizes, view_strides, strict=True)
    )
    return _restride(x, sizes, view_strides, start)
