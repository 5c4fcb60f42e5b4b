"""Whether the interpreter has a GIL, and helpers that call functions in several threads at once."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()

# A thread begins with the context of the one that starts it, and so with its settings; by default in 3.14t.
INHERITS_CONTEXT = bool(getattr(sys.flags, "thread_inherit_context", False))

THREADS = 8
# ThreadSanitizer is slow but also finds races without visible effects: fewer rounds suffice.
ROUNDS = int(os.environ.get("STRIDE0_TEST_ROUNDS") or (1000 if FREE_THREADED else 60))

ONE_THREAD_FOR_A_TAPE = "without the interpreter's lock a tape belongs to one thread"
NO_FRAMES_OF_OTHERS = "without the interpreter's lock the calls of other threads are not found"
needs_free_threads = pytest.mark.skipif(not FREE_THREADED, reason="the interpreter has its lock")


def only_with_the_lock(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(FREE_THREADED, reason=reason)


def together(*functions: Callable[[], Any]) -> list[Any]:
    """Call functions at once, each in its thread; return their results, or raise the first exception."""
    barrier = threading.Barrier(len(functions))
    results: list[Any] = [None] * len(functions)
    errors: list[BaseException] = []

    def run(number: int, function: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[number] = function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(functions)]
    # With the GIL, threads take turns as often as possible.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]
    return results


def in_each(function: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Call a function with its thread's number in several threads at once; results as in `together`."""
    return together(*(functools.partial(function, number) for number in range(threads)))
