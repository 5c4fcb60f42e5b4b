"""What `strict`, `broadcasting` and `testing.flags` share: blocks, decorators, contexts."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import stride0 as xp
from stride0.testing import flags

Seen = list[bool]


def strictly() -> bool:
    """Whether strict mode holds, by what it does."""
    try:
        xp.ones(2, dtype=xp.int64) + 1.5
    except xp.StrictError:
        return True
    return False


def narrow() -> bool:
    return xp.ones(2).dtype is xp.float32


def stretched() -> bool:
    """Whether broadcasts are guarded."""
    try:
        xp.ones((2, 2)) + xp.ones(2)
    except xp.StretchError:
        return True
    return False


SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[], bool]]] = {
    "strict": (xp.strict, strictly),
    "flags": (lambda: flags(default_float="float32"), narrow),
    "flags and strict": (lambda: flags(default_float="float32", strict=True), strictly),
    "broadcasting": (lambda: xp.broadcasting("exact"), stretched),
}
each = pytest.mark.parametrize("setting, holds", SETTINGS.values(), ids=SETTINGS)


# --- decorators


@each
def test_coroutines(setting: Callable[[], Any], holds: Callable[[], bool]) -> None:
    @setting()
    async def work() -> Seen:
        """Said twice."""
        before = holds()
        await asyncio.sleep(0)
        return [before, holds()]

    async def others() -> Seen:
        return [holds() for _ in range(5) if await asyncio.sleep(0) is None]

    async def main() -> None:
        found = await asyncio.gather(work(), others(), work())
        assert found == [[True, True], [False] * 5, [True, True]]
        assert await work() == [True, True] and not holds()

    assert inspect.iscoroutinefunction(work) and work.__doc__ == "Said twice."
    asyncio.run(main())
    assert not holds()


@each
def test_generators(setting: Callable[[], Any], holds: Callable[[], bool]) -> None:
    closed: Seen = []

    @setting()
    def items(n: int) -> Iterator[Any]:
        try:
            for _ in range(n):
                try:
                    sent = yield holds()
                    if sent:
                        yield sent, holds()
                except KeyError:
                    yield "caught", holds()
        finally:
            closed.append(holds())
        return "done"

    assert inspect.isgeneratorfunction(items)
    # Whoever asks for items is not concerned.
    assert [(inside, holds()) for inside in items(3)] == [(True, False)] * 3
    one, other = items(2), items(2)
    assert next(one) and next(other) and not holds()
    assert one.send("sent") == ("sent", True) and other.throw(KeyError()) == ("caught", True)
    assert not holds()
    with pytest.raises(ValueError, match="out"):
        one.throw(ValueError("out"))
    other.close()
    assert closed == [True] * 3 and not holds()

    def around() -> Iterator[Any]:
        yield (yield from items(1))

    assert list(around()) == [True, "done"]


@each
def test_async_generators(setting: Callable[[], Any], holds: Callable[[], bool]) -> None:
    closed: Seen = []

    @setting()
    async def items(n: int) -> AsyncIterator[Any]:
        try:
            for _ in range(n):
                await asyncio.sleep(0)
                try:
                    yield holds()
                except KeyError:
                    yield "caught", holds()
        finally:
            await asyncio.sleep(0)
            closed.append(holds())

    async def main() -> None:
        assert [(inside, holds()) async for inside in items(3)] == [(True, False)] * 3
        one: Any = items(3)
        assert await anext(one) and not holds()
        assert await one.athrow(KeyError()) == ("caught", True)
        await one.aclose()
        assert closed == [True, True] and not holds()
        # One that nobody closes: the loop does, in a task of its own.
        assert await anext(items(2))
        for _ in range(10):
            await asyncio.sleep(0)
        assert closed == [True] * 3 and not holds()

    assert inspect.isasyncgenfunction(items)
    asyncio.run(main())
    assert not holds()


def test_methods_and_objects_that_are_called() -> None:
    class Work:
        @xp.strict()
        def method(self) -> bool:
            return strictly()

        @xp.strict()
        @staticmethod
        def static() -> bool:
            return strictly()

        @xp.strict()
        @classmethod
        async def of_the_class(cls) -> bool:
            return cls is Work and strictly()

    class Called:
        async def __call__(self, value: int) -> tuple[int, bool]:
            return value, strictly()

    async def add(a: int, b: int) -> tuple[int, bool]:
        return a + b, strictly()

    assert Work().method() and Work.static() and asyncio.run(Work.of_the_class())
    assert asyncio.run(xp.strict()(Called())(3)) == (3, True)
    assert asyncio.run(xp.strict()(functools.partial(add, 1))(2)) == (3, True)


@pytest.mark.parametrize("thing", [int, xp.DType, 3, None, property(strictly)], ids=repr)
def test_what_cannot_be_decorated(thing: Any) -> None:
    for setting in (xp.strict(), flags(), xp.broadcasting("exact")):
        with pytest.raises(xp.ArgumentTypeError, match="a function or method"):
            setting(thing)
