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
from stride0._chapters.utility import some
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted, intercepted_in
from stride0._core.call.checks import KINDS, check_array, refuse_dtype
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import as_array
from stride0._core.exchange.exchange import asarray
from stride0._core.index.index import is_spread_by, put, scatter_add
from stride0._core.memory import dtype as dt

__all__ = ["at", "put_along_axis"]


@intercepted
def put_along_axis(x: Array, indices: Array, values: Array | complex, axis: int | None) -> None:
    """Write values to indices along an axis of `x`, in place: the inverse of `take_along_axis`.

    Parameters
    ----------
    x : Array
        The array to write to.
    indices : Array
        Array of an integer dtype with as many axes as `x`; except along `axis`, it broadcasts against `x`.
    values : Array or number
        What to write; it broadcasts to the shape of the indices. If an element gets several values, the last
        one remains.
    axis : int or None
        The axis. None flattens `x` and the indices in C order.

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
    """Convert indices in C order to indices along each axis."""
    if some(el.greater(indices, x.size - 1)) or some(indices < -x.size):
        # Raise the error for a one-dimensional array.
        reshape(x, (-1,))[indices]
    left = el.where(indices < 0, astype(indices, dt.int64) + x.size, astype(indices, dt.int64))
    found = []
    for n in reversed(x.shape):
        found.append(el.remainder(left, n))
        left = el.floor_divide(left, n)
    return tuple(reversed(found))


class At:
    """The result of `at`: elements of an array that a changed copy replaces."""

    def __init__(self, x: Array, key: Any) -> None:
        self._x, self._key = x, key

    def set(self, values: Array | complex) -> Array:
        """Return a copy with values instead of the elements."""
        return _METHODS["set"](self._x, self._key, values)

    def add(self, values: Array | complex) -> Array:
        """Return a copy with values added to the elements; a repeated element gets all its values."""
        return _METHODS["add"](self._x, self._key, values)

    def subtract(self, values: Array | complex) -> Array:
        """Return a copy with values subtracted from the elements; for a repeated element, all its values."""
        return _METHODS["subtract"](self._x, self._key, values)

    def multiply(self, values: Array | complex) -> Array:
        """Return a copy with the elements multiplied by values."""
        return _METHODS["multiply"](self._x, self._key, values)

    def divide(self, values: Array | complex) -> Array:
        """Return a copy with the elements divided by values; `x` must have a floating-point dtype."""
        return _METHODS["divide"](self._x, self._key, values)

    def power(self, values: Array | complex) -> Array:
        """Return a copy with the elements raised to powers."""
        return _METHODS["power"](self._x, self._key, values)

    def min(self, values: Array | complex) -> Array:
        """Return a copy with the minimum of elements and values."""
        return _METHODS["min"](self._x, self._key, values)

    def max(self, values: Array | complex) -> Array:
        """Return a copy with the maximum of elements and values."""
        return _METHODS["max"](self._x, self._key, values)


def _method(name: str, compute: Callable[[Array, Any, Array], Array]) -> Callable[[Array, Any, Any], Array]:
    """Return a method of `At` as one call: test configurations check its operands, but not its steps."""

    def method(x: Array, key: Any, values: Array | complex) -> Array:
        return compute(x, key, _cast(f"at.{name}", x, values))

    method.__name__ = name
    return intercepted_in("at")(method)


def _cast(operation: str, x: Array, values: Array | complex) -> Array:
    """Return values in the dtype of the array, if they promote to it."""
    if x.dtype == dt.bool and operation != "at.set":
        refuse_dtype(operation, x.dtype, "a numeric dtype")
    if operation == "at.divide" and x.dtype.kind in KINDS["integral"]:
        refuse_dtype(operation, x.dtype, "a floating-point dtype")
    given = as_array(values, operation, x.dtype, "values")
    if result_type(x, given) != x.dtype:
        refuse_dtype(operation, given.dtype, f"a dtype that promotes to {x.dtype.name}", "values")
    return astype(given, x.dtype, copy=False)


def _set(x: Array, key: Any, values: Array) -> Array:
    copy = _copied(x, key, values)
    copy[key] = values
    return copy


def _by(name: str, function: Callable[[Array, Array], Array]) -> Callable[[Array, Any, Array], Array]:
    """Return a function that replaces elements by a function of the elements and values."""

    def changed(x: Array, key: Any, values: Array) -> Array:
        old = x[key]
        if _may_repeat(key):
            times = put(broadcast_to(asarray(1), old.shape), x.shape, key)
            if some(el.greater(times, 1)):
                raise ArgumentValueError(
                    f"at.{name}",
                    "the key names an element several times",
                    (),
                    "write at(x)[key].add(value), which adds up all values",
                )
        return _set(x, key, function(old, values))

    return changed


def _copied(x: Array, key: Any, values: Array) -> Array:
    """Return a copy of x for values: one for each example, if these or the key are batched."""
    if not is_spread_by(x, key, values):
        return astype(x, x.dtype)
    if x.dtype == dt.bool:
        return astype(_copied(astype(x, dt.uint8), key, astype(values, dt.uint8)), dt.bool)
    # The added values do not matter, because they are overwritten.
    return scatter_add(x, key, el.subtract(values, values))


def _may_repeat(key: Any) -> bool:
    """Return whether a key may select an element several times: it has index arrays or sequences."""
    items = key if isinstance(key, tuple) else (key,)
    return not builtins.all(
        item is None
        or item is ...
        or isinstance(item, (int, slice))
        or (isinstance(item, Array) and item.dtype == dt.bool)
        for item in items
    )


_METHODS = {
    name: _method(name, compute)
    for name, compute in {
        "set": _set,
        "add": scatter_add,
        "subtract": lambda x, key, values: scatter_add(x, key, el.negative(values)),
        "multiply": _by("multiply", el.multiply),
        "divide": _by("divide", el.divide),
        "power": _by("power", el.pow),
        "min": _by("min", el.minimum),
        "max": _by("max", el.maximum),
    }.items()
}


class Keyless:
    """The result of `at` without a key: indexing adds the key."""

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> At:
        return At(self._x, key)


_UNSET = object()


@intercepted
def at(x: Array, key: Any = _UNSET, /) -> Any:
    """Return an object for changed copies of an array: ``at(x)[key].add(values)`` does not write to `x`.

    Parameters
    ----------
    x : Array
        The array; it is not changed.
    key : optional
        The key, instead of brackets: ``at(x, key)``.

    Returns
    -------
    object
        Takes any key of `x` in brackets. The result has the methods ``set``, ``add``, ``subtract``,
        ``multiply``, ``divide``, ``power``, ``min`` and ``max``. They take a number, or an array that
        broadcasts to the shape of ``x[key]``, and return a new array of the shape and dtype of `x`.

    Raises
    ------
    DTypeError
        If the values do not promote to the dtype of `x`, or if ``divide`` is used with an integer dtype.
    ArgumentValueError
        If index arrays repeat an element, from all methods except ``set``, ``add`` and ``subtract``.

    Notes
    -----
    The form follows ``x.at[key].add(values)`` of JAX and ``at`` of array-api-extra. If the key repeats an
    element, ``add`` and ``subtract`` apply all its values in order; ``set`` keeps the last value. Methods are
    differentiable with respect to `x` and the values.
    """
    given = check_array("at", x)
    return Keyless(given) if key is _UNSET else At(given, key)
