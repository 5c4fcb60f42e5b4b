"""Blocks, decorators and contexts of `strict`, `broadcasting` and `testing.flags`."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import inspect
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest
from free_threading import NO_FRAMES_OF_OTHERS, only_with_the_lock

import stride0 as xp
from stride0._core.array import modes as switches
from stride0.testing import flags

pytestmark = pytest.mark.usefixtures("eagerly")

Seen = list[bool]


def strictly() -> bool:
    """Whether strict mode holds, tested by a call."""
    try:
        xp.ones(2, dtype=xp.int64) + 1.5
    except xp.StrictError:
        return True
    return False


def narrow() -> bool:
    return xp.ones(2).dtype is xp.float32


def broadcast() -> bool:
    """Whether broadcasts are guarded."""
    try:
        xp.ones((2, 2)) + xp.ones(2)
    except xp.StretchError:
        return True
    return False


def deferring() -> bool:
    """Whether results get memory only when they are read."""
    x = xp.ones(100)
    before = xp.memory.stats()["live_bytes"]
    y = x + 1
    without = xp.memory.stats()["live_bytes"] == before
    assert float(y[7]) == 2
    return without


def refusing() -> bool:
    """Whether functions are refused whose bits depend on the machine."""
    try:
        xp.special.j0(xp.ones(2))
    except xp.ReproducibilityError:
        return True
    return False


SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[], bool]]] = {
    "strict": (xp.strict, strictly),
    "flags": (lambda: flags(default_float="float32"), narrow),
    "flags and strict": (lambda: flags(default_float="float32", strict=True), strictly),
    "broadcasting": (lambda: xp.broadcasting("exact"), broadcast),
    "fused": (lambda: xp.fused(size=50), deferring),
    "reproducible": (xp.reproducible, refusing),
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
    # Code that iterates over the generator is not affected.
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
        # A generator that is not closed: the event loop closes it, in another task.
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


@pytest.mark.parametrize(
    "thing",
    [int, xp.DType, 3, None, property(strictly)],
    ids=["class", "DType", "number", "None", "property"],
)
def test_what_cannot_be_decorated(thing: Any) -> None:
    for setting in (xp.strict(), flags(), xp.broadcasting("exact")):
        with pytest.raises(xp.ArgumentTypeError, match="decorate a function"):
            setting(thing)


# --- contexts that outlive a block


def is_off() -> bool:
    """Whether no switch is on in any thread, so that calls only test one flag."""
    gc.collect()
    return not switches.is_guarding()


@each
def test_a_task_that_runs_after_the_block(setting: Callable[[], Any], holds: Callable[[], bool]) -> None:
    async def work() -> Seen:
        before = holds()
        await asyncio.sleep(0)
        return [before, holds()]

    async def main() -> None:
        with setting():
            task = asyncio.create_task(work())
            assert holds()
        assert not holds()
        assert await task == [True, True] and not holds()

    asyncio.run(main())
    assert not holds() and is_off()


@each
def test_a_copied_context(setting: Callable[[], Any], holds: Callable[[], bool]) -> None:
    with setting():
        copied = contextvars.copy_context()
    # Also while other switches go on and off.
    for _ in range(3):
        assert copied.run(holds) and not holds()
        with xp.strict(False), flags(), xp.broadcasting("standard"):
            assert copied.run(holds)
    assert not is_off() or holds in (deferring, refusing)  # which check no calls
    del copied
    assert is_off()


def test_a_context_of_its_own_that_is_off() -> None:
    with xp.strict(False):
        copied = contextvars.copy_context()
        assert is_off()
    xp.strict.set_default(True)
    try:
        assert strictly() and not copied.run(strictly)
    finally:
        xp.strict.set_default(False)
    assert is_off()


@each
def test_left_in_another_context(setting: Callable[[], Any], holds: Callable[[], bool]) -> None:
    """A block of an asynchronous generator that the event loop closes, in a separate task."""

    async def items() -> AsyncIterator[bool]:
        with setting():
            yield holds()

    async def main() -> None:
        raised: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: raised.append(context))
        one = items()
        assert await anext(one) and holds()
        del one
        gc.collect()
        for _ in range(10):
            await asyncio.sleep(0)
        assert raised == [] and not holds()
        with setting():
            assert holds()

    asyncio.run(main())
    assert not holds() and is_off()


def test_left_in_another_thread() -> None:
    with xp.strict(False):
        setting = xp.strict()
        setting.__enter__()
        assert strictly()
        thread = threading.Thread(target=setting.__exit__)
        thread.start()
        thread.join(30)
        assert not strictly()
    assert not strictly() and is_off()


def test_blocks_left_by_errors_leave_nothing_on() -> None:
    for _ in range(20):
        with pytest.raises(ZeroDivisionError), xp.strict(), flags(strict=True, writable=False):
            1 / 0  # noqa: B018
    assert is_off()


@pytest.mark.parametrize("switch", [lambda on: xp.strict.set_default(on), None], ids=["strict", "flags"])
def test_calls_under_way_when_a_default_is_set(switch: Callable[[bool], Any] | None) -> None:
    """Calls within a function are not checked, also if checks begin while the function runs."""
    waiting, go = threading.Event(), threading.Event()
    found: list[Any] = []

    class Slow:
        """A size whose `__index__` runs in the middle of a call."""

        def __index__(self) -> int:
            waiting.set()
            assert go.wait(30)
            return 3

    def work() -> None:
        try:
            found.append(xp.eye(3, k=Slow()).shape)
            found.append(strictly())
            found.append(strictly())
        except Exception as error:
            found.append(error)

    configuration = flags(strict=True, writable=False, everywhere=True)
    thread = threading.Thread(target=work)
    thread.start()
    assert waiting.wait(30)
    if switch is None:
        with configuration:
            go.set()
            thread.join(30)
    else:
        switch(True)
        go.set()
        thread.join(30)
        switch(False)
    assert found == [(3, 3), True, True] and is_off()


def test_calls_under_way_keep_nothing_alive_when_they_are_over() -> None:
    """The thread of such a call may end, or wait forever, without calling the package again."""
    waiting, go, ended, over = (threading.Event() for _ in range(4))
    kept: list[weakref.ref[Any]] = []

    class Slow:
        def __index__(self) -> int:
            waiting.set()
            assert go.wait(30)
            return 3

    def call() -> None:
        memory = np.ones(1000)
        kept.append(weakref.ref(memory))
        xp.repeat(xp.asarray(memory), Slow())  # type: ignore[arg-type]

    def work() -> None:
        call()
        ended.set()
        assert over.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    assert waiting.wait(30)
    before = xp.strict.set_default(True)
    try:
        go.set()
        assert ended.wait(30)
        gc.collect()
        assert kept[0]() is None
    finally:
        over.set()
        thread.join(30)
        xp.strict.set_default(before)
    assert is_off()


def test_calls_after_those_under_way_are_looked_at() -> None:
    """A later call's frame may have the address of an earlier one, in the same thread at the same depth."""
    waiting, go = threading.Event(), threading.Event()
    found: list[Any] = []

    class Slow:
        def __index__(self) -> int:
            waiting.set()
            assert go.wait(30)
            return 0

    def work() -> None:
        for k in [Slow(), *[True] * 50]:
            try:
                xp.eye(2, k=k)  # type: ignore[arg-type]
                found.append("let through")
            except xp.StrictError:
                found.append("refused")

    thread = threading.Thread(target=work)
    thread.start()
    assert waiting.wait(30)
    before = xp.strict.set_default(True)
    try:
        go.set()
        thread.join(30)
    finally:
        xp.strict.set_default(before)
    assert found == ["let through"] + ["refused"] * 50 and is_off()


def test_code_without_a_name() -> None:
    for name in (None, 3, "stride0"):
        space: dict[str, Any] = {"__name__": name, "xp": xp, "found": []}
        exec(
            "xp.strict.set_default(True); found.append(xp.strict.current()); xp.strict.set_default(False)",
            space,
        )
        assert space["found"] == [True] and is_off()


@only_with_the_lock(NO_FRAMES_OF_OTHERS)
def test_defaults_that_come_and_go_beside_a_thread() -> None:
    x, s = xp.reshape(xp.arange(6.0), (2, 3)), xp.asarray([[4.0, 1.0], [1.0, 3.0]])
    calls = [
        lambda: xp.linalg.pinv(s), lambda: xp.unique_all(x), lambda: xp.linalg.matrix_rank(s),
        lambda: xp.std(x), lambda: xp.linspace(0, 1, 7), lambda: xp.diff(x), lambda: xp.tile(x, (2, 2)),
        lambda: xp.searchsorted(xp.asarray([1.0, 2.0]), x), lambda: xp.roll(x, 1),
    ]  # fmt: skip
    over = threading.Event()
    errors: list[Exception] = []

    def work() -> None:
        while not over.is_set():
            for call in calls:
                try:
                    call()
                except Exception as error:
                    errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3000):
            xp.strict.set_default(True)
            xp.strict.set_default(False)
    finally:
        over.set()
        thread.join(30)
        sys.setswitchinterval(interval)
    assert errors == [] and is_off()
