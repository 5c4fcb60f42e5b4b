"""Base of `broadcasting`, `strict`, `fused` and `testing.flags`: a value for a block, function or process."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ContextDecorator
from typing import Any, Self, TypeVar, cast

from stride0._base.errors import ArgumentTypeError, shown
from stride0._core.array.modes import Switch

__all__ = ["Setting", "refuse_function"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Setting(ContextDecorator):
    """Sets a switch for a ``with`` block or a decorated function.

    In a decorated coroutine function the value applies while the coroutine runs. In a generator function it
    applies while the generator computes an item, but not in the code that consumes the items.

    Parameters
    ----------
    switch : Switch
        The switch.
    value : object
        The value to set.
    everywhere : bool
        Whether to set it for all contexts that have no value, instead of for this context.
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

    def __call__(self, function: Function) -> Function:
        name = type(self).__name__
        if isinstance(function, (staticmethod, classmethod)):
            return cast(Function, type(function)(self(function.__func__)))
        if not callable(function) or isinstance(function, type):
            problem = f"{shown(function)} is decorated"
            raise ArgumentTypeError(name, problem, (), "decorate a function or method")
        import inspect  # takes long to import

        for test, surround in SURROUND.items():
            is_one = getattr(inspect, test)
            # The `__call__` of a callable object is looked up in its class.
            if is_one(function) or is_one(type(function).__call__):
                return cast(Function, functools.wraps(function)(surround(self._recreate_cm, function)))
        return super().__call__(function)


def refuse_function(name: str, value: object, example: str) -> None:
    """Raise ArgumentTypeError if `value` is a function that is decorated without parentheses: ``@fused``."""
    if callable(value):
        accepts = f"write {example} above the function"
        raise ArgumentTypeError(name, f"{shown(value)} is decorated without parentheses", (), accepts)


# --- functions whose bodies do not run at the call
#
# Each call sets and resets its own context: several may be active together, in one or several threads.

Anew = Callable[[], Setting]


def _coroutine(anew: Anew, function: Callable[..., Any]) -> Callable[..., Any]:
    async def inner(*args: Any, **kwargs: Any) -> Any:
        with anew():
            return await function(*args, **kwargs)

    return inner


def _generator(anew: Anew, function: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        body = function(*args, **kwargs)
        step, value = body.send, None
        try:
            while True:
                try:
                    with anew():
                        item = step(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    step, value = body.send, (yield item)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step, value = body.throw, error
        finally:
            with anew():
                body.close()

    return inner


def _async_generator(anew: Anew, function: Callable[..., Any]) -> Callable[..., Any]:
    async def inner(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        body = function(*args, **kwargs)
        step, value = body.asend, None
        try:
            while True:
                try:
                    with anew():
                        item = await step(value)
                except StopAsyncIteration:
                    return
                try:
                    step, value = body.asend, (yield item)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step, value = body.athrow, error
        finally:
            with anew():
                await body.aclose()

    return inner


# By the function of `inspect` that recognises the kind of function.
SURROUND: dict[str, Callable[[Anew, Callable[..., Any]], Callable[..., Any]]] = {
    "iscoroutinefunction": _coroutine,
    "isgeneratorfunction": _generator,
    "isasyncgenfunction": _async_generator,
}
