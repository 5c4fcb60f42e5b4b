"""What `broadcasting`, `strict` and `testing.flags` share: a value for a block, a function or the process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import Token
from typing import Any, Self

from stride0._core.array import Switch

__all__ = ["Setting"]


class Setting(ContextDecorator):
    """
    Sets a switch for a ``with`` block or a decorated function.

    Parameters
    ----------
    switch : Switch
        Which.
    value : object
        To what.
    """

    def __init__(self, switch: Switch, value: Any) -> None:
        self._switch = switch
        self._value = value
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> Self:
        self._tokens.append(self._switch.enter(self._value))
        return self

    def __exit__(self, *error: object) -> None:
        self._switch.leave(self._tokens.pop())

    def _recreate_cm(self) -> Setting:
        # A decorated function may run in several threads at once: each call sets and resets its own context.
        return Setting(self._switch, self._value)

    def __call__(self, function: Callable[..., Any]) -> Any:
        return super().__call__(function)
