"""Conversions and checks of arguments; quotients and roots with gradient 0 at 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError, shown
from stride0._base.shapes import normalize_index
from stride0._chapters.data_types import astype
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._core.memory.dtype import float64, promote
from stride0.autograd._tape.tape import detach, is_tracked


def floating(operation: str, name: str, x: Any) -> Array:
    """Return an argument as an array of a floating-point dtype."""
    found = asarray(x)
    if found.dtype.kind in ("real floating", "complex floating"):
        return found
    if found.dtype.kind in ("signed integer", "unsigned integer", "bool"):
        return astype(found, float64)
    raise ArgumentTypeError(operation, f"{name} is of dtype {found.dtype.name}", (), "pass numbers")


def line(operation: str, name: str, x: Any) -> Array:
    """Return an argument as a floating-point array that has one axis and is not empty."""
    found = floating(operation, name, x)
    require(found.ndim == 1 and found.size != 0, operation, name, found, "one axis, of size 1 or more")
    return found


def same_dtype(*arrays: Array) -> list[Array]:
    """Return arrays in their common dtype."""
    dtype = arrays[0].dtype
    for x in arrays[1:]:
        dtype = promote(dtype, x.dtype)
    return [astype(x, dtype, copy=False) for x in arrays]


def one_of(operation: str, name: str, value: Any, accepted: tuple[Any, ...]) -> Any:
    """Return the value of an option, or raise if it is not supported."""
    if value not in accepted:
        raise ArgumentValueError(
            operation, f"{name} is {shown(value)}", accepts=f"pass {name}={' or '.join(map(repr, accepted))}"
        )
    return value


def untracked(operation: str, name: str, value: Any) -> None:
    """Raise if an option without a derivative is tracked."""
    if isinstance(value, Array) and is_tracked(value):
        raise ArgumentTypeError(
            operation, f"{name} is tracked, but has no derivative", (), f"pass stop_gradient({name})"
        )


def count_of(operation: str, name: str, value: Any, least: int) -> int:
    """Return the value of an option that is an integer."""
    number = normalize_index(operation, name, value)
    if number < least:
        raise ArgumentValueError(operation, f"{name} is {number}", (), f"pass an integer of {least} or more")
    return number


def require(fits: bool, operation: str, name: str, x: Array, accepts: str = "", **others: Array) -> None:
    """Raise a `ShapeError` unless the shape of an argument fits.

    `accepts` continues "pass `name` with ..."; the shapes of `others` are shown.
    """
    if not fits:
        facts = [(other, f"{value.shape}") for other, value in others.items()]
        raise ShapeError(
            operation, f"{name} has shape {x.shape}", facts, accepts and f"pass {name} with {accepts}"
        )


def each(operation: str, name: str, value: Any, count: int) -> list[Any]:
    """Return the values of an option for several axes."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        raise ArgumentValueError(
            operation, f"{name} has {len(value)} values", accepts=f"pass one value, or {count} values"
        )
    return list(value)


def ratio(x: Array, y: Array) -> Array:
    """Return ``x / y``; where the divisor is 0, it and its gradient are 0."""
    none = y == 0
    return xp.where(none, 0.0, x / xp.where(none, 1.0, y))


def root(x: Array, power: float = 0.5) -> Array:
    """Return the square root, or another root; where it is 0, its gradient is 0: Note [Divided by zero]."""
    none = x == 0
    inside = xp.where(none, 1.0, x)
    return xp.where(none, 0.0, xp.sqrt(inside) if power == 0.5 else inside**power)


def item(x: Array) -> Any:
    """Return the values of a possibly tracked array as a NumPy array; use them only for decisions."""
    return to_numpy(detach(x))
