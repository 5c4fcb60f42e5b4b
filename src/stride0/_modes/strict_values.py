"""Strict mode: values of integer and `clip` arguments for which the standard does not specify the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.errors import StrictError, Stride0Error
from stride0._chapters.elementwise import equal, greater, less
from stride0._core.array.array import Array
from stride0._core.reduce.reduce import reduce_whole
from stride0._tables.standard import ELEMENTWISE

__all__ = ["CHECKS"]


def _any(condition: Callable[[Any, Any], Any], x1: Any, x2: Any) -> bool:
    """Tell whether a comparison is true for any element, as far as the values can be read."""
    try:
        return bool(reduce_whole("any", condition(x1, x2)))
    except Stride0Error:
        # Within `autograd.vmap` arrays have no values. The function itself refuses other operands.
        return False


def _is_integer(x: object) -> bool:
    if isinstance(x, Array):
        return "integer" in x.dtype.kind
    return isinstance(x, int) and not isinstance(x, bool)


def _check_divisor(name: str, given: dict[str, Any]) -> None:
    x1, x2 = given.get("x1"), given.get("x2")
    if _is_integer(x1) and _is_integer(x2) and _is_somewhere(equal, x2, 0):
        sentence = f"{ELEMENTWISE}: of integers, {name} by 0 is not specified"
        raise StrictError(name, "x2 has an element 0", sentence)


def _check_shift(name: str, given: dict[str, Any]) -> None:
    if _is_integer(given.get("x2")) and _is_somewhere(less, given["x2"], 0):
        sentence = f"{ELEMENTWISE}: elements of x2 of {name} are 0 or more"
        raise StrictError(name, "x2 has a negative element", sentence)


def _is_somewhere(condition: Callable[[Any, Any], Any], x: Any, value: int) -> bool:
    if isinstance(x, Array):
        return _any(condition, x, value)
    return bool(x == 0 if condition is equal else x < 0)


def _check_bounds(name: str, given: dict[str, Any]) -> None:
    low, high = given.get("min"), given.get("max")
    if low is None or high is None:
        return
    if isinstance(low, Array) or isinstance(high, Array):
        crossed = _any(greater, low, high)
    else:
        crossed = isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high
    if crossed:
        sentence = f"{ELEMENTWISE}: clip with min above max is not specified"
        raise StrictError(name, "min is greater than max for at least one element", sentence)


CHECKS: dict[str, Callable[[str, dict[str, Any]], None]] = {
    **dict.fromkeys(("floor_divide", "remainder"), _check_divisor),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _check_shift),
    "clip": _check_bounds,
}
