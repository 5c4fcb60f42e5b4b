"""What `broadcasting`, `strict` and `testing.flags` share: a value for a block, a function or the process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
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
    everywhere : bool
        Whether for every context that has no value of its own, instead of for this one.
    """

    def __init__(self, switch: Switch, value: Any, everywhere: bool = False) -> None:
        self._switch = switch
        self._value = value
        self._everywhere = everywhere
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        enter = self._switch.set_default if self._everywhere else self._switch.enter
        self._before.append(enter(self._value))
        return self

    def __exit__(self, *error: object) -> None:
        leave = self._switch.set_default if self._everywhere else self._switch.leave
        leave(self._before.pop())

    def _recreate_cm(self) -> Self:
        # A decorated function may run in several threads at once: each call sets and resets its own context.
        twin = type(self).__new__(type(self))
        Setting.__init__(twin, self._switch, self._value, self._everywhere)
        return twin

    def __call__(self, function: Callable[..., Any]) -> Any:
        return super().__call__(function)
