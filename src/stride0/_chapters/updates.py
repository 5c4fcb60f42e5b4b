"""Changed copies of arrays, and writes along an axis: beyond the standard."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentValueError, ShapeError, counted
from stride0._base.shapes import normalize_axis
from stride0._chapters.creation import arange
from stride0._chapters.data_types import astype, result_type
from stride0._chapters.manipulation import broadcast_to, reshape
from stride0._chapters.utility import any
from stride0._core.array.array import Array
from stride0._core.calls.checks import KINDS, check_array, refuse_dtype
from stride0._core.calls.primitive import intercepted
from stride0._core.exchange.convert import asarray
from stride0._core.memory import dtype as dt
from stride0._core.ops.adjoint import put, scatter_add
from stride0._core.ops.functions import (
    divide,
    floor_divide,
    greater,
    maximum,
    minimum,
    multiply,
    negative,
    pow,
    remainder,
    where,
)
from stride0._core.ops.operands import as_array

__all__ = ["at", "put_along_axis"]


@intercepted
def put_along_axis(x: Array, indices: Array, values: Array | complex, axis: int | None) -> None:
    """Write values to indices along an axis, into `x` itself: the inverse of `take_along_axis`.

    Parameters
    ----------
    x : Array
        The array to write to.
    indices : Array
        Array of an integer dtype with as many axes as `x`, which broadcasts against it beside the axis.
    values : Array or number
        What to write: broadcasts to the shape of the indices. Of several values for one element, the last
        one stays.
    axis : int or None
        None: `x` counts as one axis in C order, and so do the indices.

    Raises
    ------
    DTypeError
        If the indices are not of an integer dtype.
    ShapeError, BroadcastError
        If the shapes do not fit.
    OutOfBoundsError
        If an index is out of bounds.
    WriteError
        If `x` is read-only.
    """
    x, indices = check_array("put_along_axis", x), check_array("put_along_axis", indices, "indices")
    if indices.dtype.kind not in KINDS["integral"]:
        refuse_dtype("put_along_axis", indices.dtype, "an integer dtype", "indices")
    if axis is None:
        if indices.ndim != 1:
            raise ShapeError(
                "put_along_axis", "the indices must have one axis", [("indices", str(indices.shape))]
            )
        x[_unraveled(indices, x)] = values
        return
    at_axis = normalize_axis("put_along_axis", axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ShapeError(
            "put_along_axis",
            f"indices have {counted(indices.ndim, 'axis', 'axes')}, the array has {x.ndim}",
            [("x", str(x.shape)), ("indices", str(indices.shape))],
        )
    key = tuple(
        indices if k == at_axis else reshape(arange(n), tuple(n if j == k else 1 for j in range(x.ndim)))
        for k, n in enumerate(x.shape)
    )
    x[key] = values


def _unraveled(indices: Array, x: Array) -> tuple[Array, ...]:
    """Return the indices of each axis of elements that are numbered in C order."""
    if bool(any(greater(indices, x.size - 1))) or bool(any(indices < -x.size)):
        # The message of an array that has one axis.
        reshape(x, (-1,))[indices]
    left = where(indices < 0, astype(indices, dt.int64) + x.size, astype(indices, dt.int64))
    found = []
    for n in reversed(x.shape):
        found.append(remainder(left, n))
        left = floor_divide(left, n)
    return tuple(reversed(found))


class At:
    """What `at` returns: elements of an array that a changed copy replaces. See `at`."""

    def __init__(self, x: Array, key: Any) -> None:
        self._x, self._key = x, key

    def set(self, values: Array | complex) -> Array:
        """Return a copy with values in place of the elements."""
        copy = astype(self._x, self._x.dtype)
        copy[self._key] = values
        return copy

    def add(self, values: Array | complex) -> Array:
        """Return a copy with values added to the elements: all values, where the key repeats an element."""
        return scatter_add(self._x, self._key, self._cast("at.add", values))

    def subtract(self, values: Array | complex) -> Array:
        """Return a copy with values subtracted from the elements, all of them."""
        return scatter_add(self._x, self._key, negative(self._cast("at.subtract", values)))

    def multiply(self, values: Array | complex) -> Array:
        """Return a copy with the elements multiplied by values."""
        return self._changed("multiply", multiply, values)

    def divide(self, values: Array | complex) -> Array:
        """Return a copy with the elements divided by values."""
        return self._changed("divide", divide, values)

    def power(self, values: Array | complex) -> Array:
        """Return a copy with the elements raised to powers."""
        return self._changed("power", pow, values)

    def min(self, values: Array | complex) -> Array:
        """Return a copy with the lesser ones of elements and values."""
        return self._changed("min", minimum, values)

    def max(self, values: Array | complex) -> Array:
        """Return a copy with the greater ones of elements and values."""
        return self._changed("max", maximum, values)

    def _cast(self, operation: str, values: Array | complex) -> Array:
        """Return values in the dtype of the array, if they promote to it."""
        if self._x.dtype == dt.bool:
            refuse_dtype(operation, self._x.dtype, "a numeric dtype")
        given = as_array(values, operation, self._x.dtype)
        if result_type(self._x, given) != self._x.dtype:
            refuse_dtype(operation, given.dtype, f"a dtype that promotes to {self._x.dtype.name}", "values")
        return astype(given, self._x.dtype, copy=False)

    def _changed(self, name: str, function: Callable[..., Array], values: Array | complex) -> Array:
        copy = astype(self._x, self._x.dtype)
        old = copy[self._key]
        if _is_by_arrays(self._key):
            times = put(broadcast_to(asarray(1), old.shape), self._x.shape, self._key)
            if bool(any(greater(times, 1))):
                raise ArgumentValueError(
                    f"at.{name}",
                    "the key names an element several times",
                    (),
                    "at(x)[key].add adds up all values.",
                )
        copy[self._key] = function(old, values)
        return copy


def _is_by_arrays(key: Any) -> bool:
    """Return whether there are index arrays in a key: only these can name an element several times."""
    items = key if isinstance(key, tuple) else (key,)
    return builtins.any(isinstance(item, Array) and item.dtype.kind in KINDS["integral"] for item in items)


class Keyless:
    """What `at` returns without a key: indexing adds it."""

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> At:
        return At(self._x, key)


_UNSET = object()


@intercepted
def at(x: Array, key: Any = _UNSET, /) -> Any:
    """Return what makes changed copies of an array: ``at(x)[key].add(values)``, without a write to `x`.

    Parameters
    ----------
    x : Array
        The array; it is not changed.
    key : optional
        Instead of the brackets: ``at(x, key)``.

    Returns
    -------
    object
        Takes a key in brackets, any that `x` takes. That has the methods ``set``, ``add``, ``subtract``,
        ``multiply``, ``divide``, ``power``, ``min`` and ``max``, which take an array that broadcasts to the
        shape of ``x[key]``, or a number, and return a new array of the shape and dtype of `x`.

    Raises
    ------
    DTypeError
        If the values do not promote to the dtype of `x`.
    ArgumentValueError
        By all methods but ``set``, ``add`` and ``subtract``, if index arrays name an element several times.

    Notes
    -----
    The form is that of ``x.at[key].add(values)`` of JAX and of array-api-extra's ``at``. If the key names
    an element several times, ``add`` and ``subtract`` take all its values, in their order; of ``set`` the
    last one stays. Methods are differentiable by `x` and by the values.
    """
    given = check_array("at", x)
    return Keyless(given) if key is _UNSET else At(given, key)
