"""Python threads at once: with the GIL they take turns, without it they run in parallel.

In both cases threads may read shared arrays. Threads that write to one array may mix its values, but change
nothing else. Gradients: tests/autograd/test_gradient_threads.py.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pkgutil
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from free_threading import FREE_THREADED, ROUNDS, THREADS, in_each, needs_free_threads, together

import stride0 as xp
from stride0 import memory
from stride0._core.array import modes as switches


def run(script: str, **environment: str) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- the interpreter


@needs_free_threads
def test_no_extension_module_needs_the_lock() -> None:
    names = [
        found.name for found in pkgutil.walk_packages(xp.__path__, "stride0.") if "__main__" not in found.name
    ]
    # All builds of the kernels that this processor can run are imported, too.
    script = f"""
import importlib, sys
for name in {names!r}:
    try:
        importlib.import_module(name)
    except ImportError:
        assert "kernels._" in name, name
    assert not sys._is_gil_enabled(), name
"""
    run(script)


# --- memory


def test_live_arrays_of_all_threads_have_blocks_of_their_own() -> None:
    def work(number: int) -> None:
        rng = random.Random(number)
        held: list[tuple[Any, float]] = []
        for k in range(ROUNDS):
            # Small blocks, blocks that threads cache, and blocks in the common cache.
            size = rng.choice((1, 7, 100, 256, 257, 1000, 8000, 9000, 300_000 if k % 50 == 0 else 30))
            held.append((xp.full(size, number * 1e6 + k), number * 1e6 + k))
            if len(held) > 12:
                x, value = held.pop(rng.randrange(12))
                assert bool(xp.all(x == value))
        for x, value in held:
            assert bool(xp.all(x == value))

    in_each(work)


def test_arrays_that_other_threads_free() -> None:
    """A block goes to the thread that frees it; `zeros` gives zeros for any earlier use of the block."""
    passed: queue.Queue[Any] = queue.Queue(maxsize=64)

    def make() -> None:
        for k in range(4 * ROUNDS):
            passed.put(xp.full(k % 300, 3.0))
        passed.put(None)

    def free() -> None:
        while (x := passed.get()) is not None:
            assert bool(xp.all(x == 3.0))
            assert not bool(xp.any(xp.zeros(x.size)))

    together(make, make, free, free)


def test_what_threads_have_counted() -> None:
    before = memory.stats()

    def work(number: int) -> Any:
        kept = [xp.ones(50) for _ in range(ROUNDS)]
        return kept[0]

    kept = in_each(work)
    after = memory.stats()
    assert after["allocations"] - before["allocations"] >= THREADS * ROUNDS
    assert after["live_bytes"] - before["live_bytes"] == THREADS * 400
    assert after["peak_bytes"] >= after["live_bytes"]
    del kept
    assert memory.stats()["live_bytes"] == before["live_bytes"]


def test_threads_that_end_leave_no_blocks() -> None:
    memory.empty_cache()

    def work() -> None:
        held = [xp.ones(n) for n in range(1, 256)]
        del held

    for _ in range(5):
        together(work, work)
    assert memory.stats()["cached_blocks"] < (10 if FREE_THREADED else 1500)


def test_no_thread_caches_where_nothing_is_to_be_cached() -> None:
    barrier = threading.Barrier(2)

    def work() -> None:
        for n in (10, 1000):
            xp.ones(n)
        barrier.wait()
        barrier.wait()
        xp.ones(10)
        assert memory.stats()["cached_blocks"] == 0

    def limit() -> None:
        barrier.wait()
        memory.set_limit(0)
        barrier.wait()

    try:
        together(work, limit)
    finally:
        memory.set_limit(None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_other_threads_compute() -> None:
    script = """
import os, threading, warnings
import stride0 as xp
warnings.simplefilter("ignore")
stop = False
def work():
    while not stop:
        with xp.fused(size=1):
            x = xp.ones(40) + 1.0
            y = xp.ones(4000) * x[0]
            assert float(y[-1]) == 2
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        with xp.fused(size=1):
            x = (xp.ones(5000) + 1.0) * 2.0
            small = [xp.full(n, 2.0) for n in range(1, 200)]
            assert float(x[0]) == 4 and all(float(one[-1]) == 2 for one in small)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads:
    thread.join()
"""
    run(script)


# --- arrays that threads share


def test_shared_arrays_are_read() -> None:
    x = xp.reshape(xp.arange(600.0), (20, 30))
    a = np.asarray(x).copy()
    mask, indices = x > 100, xp.asarray([3, 1, 7])
    operations: list[Callable[[], Any]] = [
        lambda: x + x.T[:20, :20][:, :1],
        lambda: x[mask],
        lambda: x[indices, :],
        lambda: xp.sum(x, axis=0),
        lambda: xp.sort(x, axis=0, descending=True),
        lambda: x @ x.T,
        lambda: xp.concat([x, x]),
        lambda: xp.asarray(np.asarray(x)[::2]),
        lambda: x.dtype,
        lambda: x.mT[3],
    ]
    expected = [repr(operation()) for operation in operations]

    def work(number: int) -> None:
        for k in range(ROUNDS // 4):
            which = (number + k) % len(operations)
            assert repr(operations[which]()) == expected[which]

    in_each(work)
    assert np.array_equal(np.asarray(x), a)


def test_writes_to_one_array_harm_no_other() -> None:
    before, x, after = xp.zeros(33), xp.zeros(33), xp.zeros(33)

    def work(number: int) -> None:
        nonlocal x
        for k in range(ROUNDS):
            x[k % 33] = float(number)
            x[::2] = x[1::2][:1]
            y = x
            y += 1.0
            y *= 0.5
            x[x > 1e3] = 0.0

    in_each(work)
    assert not xp.any(before) and not xp.any(after)
    assert bool(xp.all(xp.isfinite(x)))


def test_the_first_products_of_several_threads() -> None:
    """The first product looks up NumPy's BLAS."""
    script = """
import sys, threading
import stride0 as xp
def work():
    barrier.wait()
    x = xp.ones((70, 70))
    assert float((x @ x)[0, 0]) == 70
barrier = threading.Barrier(6)
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import numpy
assert xp.asarray([1], dtype="int16").dtype == numpy.int16
"""
    run(script)


# --- settings


def test_settings_of_threads() -> None:
    def work(number: int) -> None:
        for k in range(ROUNDS):
            with xp.broadcasting("exact" if number % 2 else "standard"), xp.fused(size=number + 1):
                assert xp.fused.current() == number + 1
                with pytest.raises(xp.StretchError) if number % 2 else xp.strict(False):
                    xp.ones((3, 1)) + xp.ones((1, 2))
            if k % 10 == 0:
                xp.fused.set_default(k)

    before = xp.fused.set_default(0)
    try:
        in_each(work)
    finally:
        xp.fused.set_default(before)
    assert switches.is_guarding() is False


# --- deferred results


def test_one_chain_is_computed_by_several_threads() -> None:
    x = xp.arange(100.0)
    for _ in range(ROUNDS // 4):
        with xp.fused(size=1):
            y = x * 2.0
            z = y + 1.0
            total = xp.sum(z)
            found = together(
                lambda y=y: float(y[3]),
                lambda z=z: float(z[3]),
                lambda z=z: float((z * 2.0)[3]),
                lambda total=total: float(total),
            )
        assert found == [6.0, 7.0, 14.0, 10000.0]


def test_results_are_dropped_while_others_compute_them() -> None:
    """A chain only points to its results: a thread frees one while another one evaluates the chain."""
    slots: list[Any] = [None] * 8

    def work(number: int) -> None:
        rng = random.Random(number)
        for k in range(ROUNDS):
            with xp.fused(size=1):
                x = xp.full(20, float(number))
                slots[rng.randrange(8)] = y = x + 1.0
                slots[rng.randrange(8)] = y * 2.0
                other = slots[rng.randrange(8)]
                z = y * y if other is None else y * y + 0.0 * other
                if k % 3:
                    del y
                assert float(z[7]) == (number + 1.0) ** 2
                if other is not None and k % 5 == 0:
                    other += 0.0

    in_each(work)
    del slots[:]
    assert xp.fused.stats()["pending"] == 0


def test_writes_come_after_what_reads_the_array() -> None:
    """Writes to a leaf of pending results: these are computed first, or read the written values."""
    x = xp.zeros(50)

    def read() -> None:
        for _ in range(ROUNDS):
            with xp.fused(size=1):
                assert 0.0 <= float((x + 1.0)[3]) <= 1e9

    def write() -> None:
        for k in range(ROUNDS):
            x[:] = float(k)

    together(read, read, write)


def test_in_place_operators_on_one_deferred_array() -> None:
    for _ in range(ROUNDS // 8):
        with xp.fused(size=1):
            x = xp.ones(30) * 1.0

            def work(x: Any = x) -> None:
                with xp.fused(size=1):
                    y = x
                    y += 1.0

            together(*[work] * 4)
            assert 1.0 <= float(x[0]) <= 5.0 and bool(xp.all(xp.isfinite(x)))


# --- other objects that threads may share


def test_one_iterator() -> None:
    for _ in range(ROUNDS // 20):
        iterator = iter(xp.arange(200.0))
        found = together(*[lambda iterator=iterator: [float(x) for x in iterator]] * 4)
        assert sorted(itertools.chain(*found)) == list(range(200))


def test_a_list_of_arrays_that_changes() -> None:
    """A list that another thread changes during the call gives a result or an IndexError, and no crash."""
    parts = [xp.ones(3) for _ in range(4)]

    def join() -> None:
        for _ in range(ROUNDS):
            with contextlib.suppress(IndexError):
                assert bool(xp.all(xp.concat(parts) == 1.0))

    def change() -> None:
        for _ in range(ROUNDS):
            parts.append(xp.ones(2))
            parts[0] = xp.ones(5)
            del parts[1:2]

    together(join, join, change)
