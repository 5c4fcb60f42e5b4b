"""Forms of calls in strict mode: most checks depend on types and dtypes, and run once for each form."""

from __future__ import annotations

from types import NoneType
from typing import Any

from stride0._base.devices import Device
from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType

__all__ = ["form_of"]

# The checks see only the type of such a value, except of integers in comparisons.
PLAIN = frozenset({bool, int, float, complex, NoneType, Device})
NAMED = frozenset({DType, str})
SEQUENCES = frozenset({tuple, list})
# The checks of these functions depend on whether an array has one axis.
RANKED = frozenset({"cumulative_prod", "cumulative_sum", "take"})


def form_of(
    call_kind: str, name: str, version: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Return all that the checks of a call depend on; None if an argument is not of a simple type."""
    form: list[Any] = [call_kind, name, version]
    for value in args:
        kind = type(value)
        part = value.dtype if kind is Array else kind if kind in PLAIN else _part(value)
        if part is None:
            return None
        form.append(part)
    for key, value in kwargs.items():
        kind = type(value)
        part = value.dtype if kind is Array else kind if kind in PLAIN else _part(value)
        if part is None:
            return None
        form += key, part
    if name in RANKED:
        form += [value.ndim for value in (*args, *kwargs.values()) if type(value) is Array]
    return tuple(form)


def _part(value: Any) -> Any:
    """Return the part of a form for a dtype, a string, a sequence of arrays, or nested numbers."""
    kind = type(value)
    if kind in NAMED:
        return (value,)  # unlike an array of this dtype, and unlike the name of an argument
    if kind not in SEQUENCES:
        return None
    if {*map(type, value)} == {Array}:
        return (kind, *[item.dtype for item in value])
    return _numbers(value)


def _numbers(value: Any) -> Any:
    """Return the part of a form for a sequence of numbers, or for nested sequences of them."""
    parts: set[Any] = {*map(type, value)}
    if parts <= SEQUENCES:
        parts = {_numbers(item) for item in value}
        return None if None in parts else (type(value), frozenset(parts))
    return (type(value), frozenset(parts)) if parts <= PLAIN else None
