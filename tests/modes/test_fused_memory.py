"""`stride0.fused`: memory that other code writes to or frees while chains read it: invariants 2, 3, 6."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from program_helpers import live, numbers, same

import stride0 as xp
from stride0.autograd import Tape, vjp


@pytest.mark.parametrize("write", ["item", "all", "in place"])
def test_memory_that_a_tape_reads(write: str) -> None:
    """After a write, a tape reads and writes an array through other storages of the same memory."""
    x = numbers(30)
    expected = np.array(x) * 2
    with xp.fused(size=1), Tape() as tape:
        u = tape.watch(x) * 2
        u[0] = expected[0] = 5
        y = u * 3 + 1
        assert xp.fused.stats()["pending"] == 1
        if write == "item":
            u[1] = 7
        elif write == "all":
            u[...] = 7
        else:
            u *= 2
    assert same(y, expected * 3 + 1)


def test_memory_that_a_differentiated_function_overwrites() -> None:
    x = numbers(30)
    begin = np.array(x)

    def f(t: Any) -> Any:
        y = t * 2 + 1
        x[...] = 0
        return y * 3

    with xp.fused(size=1):
        y, pullback = vjp(f, x)
        (gradient,) = pullback(xp.ones(30))
    assert same(y, (begin * 2 + 1) * 3) and same(gradient, np.full(30, 6.0))


@pytest.mark.parametrize("write", ["all", "in place", "numpy"])
def test_memory_that_a_backward_pass_reads(write: str) -> None:
    """Saved values are other storages of the same memory."""
    x, seed = numbers(30), numbers(30, seed=4)
    _, pullback = vjp(lambda t: t * t * t, x)
    (expected,) = pullback(seed)
    _, pullback = vjp(lambda t: t * t * t, x)
    with xp.fused(size=1):
        (gradient,) = pullback(seed)
        if write == "all":
            x[...] = 0
        elif write == "in place":
            x *= 5
        else:
            np.asarray(x)[...] = 0
    assert same(gradient, expected)


def test_memory_that_a_tape_reads_is_lent() -> None:
    x = numbers(30)
    expected = np.array(x) * 2
    with xp.fused(size=1):
        with Tape() as tape:
            u = tape.watch(x) * 2
            u[0] = expected[0] = 5
            y = u * 3 + 1
        lent = np.asarray(u)
        z = u * 2
        lent[...] = 0
    assert same(y, expected * 3 + 1) and same(z, expected * 2)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_leaves_are_held_while_they_are_read() -> None:
    """A handler computes the chain that is being computed; then it has released its leaves."""
    script = """
import signal, time
import stride0 as xp
from stride0._core.plan import threads
xp.memory.set_limit(0)
xp.set_num_threads(1)  # so that no worker completes the pass while the handler runs
threads.check_signals_every(1_000_000)
met = 0
duration = 1e9  # processor time of the chain, independent of other processes
for part in (None, None, None, *(0.3, 0.5, 0.1, 0.7, 0.2) * 6):
    x = xp.full(1 << 20, 1.5 + 0.5j)
    with xp.fused(size=1):
        y = [x**0.7]
        while len(y) < 9:
            y.append((y[-1] + x) ** 0.7)
        del x
        when = []
        def read(number, frame):
            float(y[3][0].real)
            when.append(time.process_time())
        signal.signal(signal.SIGPROF, read)
        start = time.process_time()
        if part is not None:
            signal.setitimer(signal.ITIMER_PROF, part * duration)
        found = y[0][0]
        signal.setitimer(signal.ITIMER_PROF, 0)
        if part is None:
            duration = min(duration, time.process_time() - start)
        elif when and time.process_time() - when[0] > 0.02 * duration:
            met = 1
            break
expected = xp.full(1, 1.5 + 0.5j)**0.7
print(met, complex(found) == complex(expected[0]), bool(xp.all(y[0] == expected)))
"""
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "STRIDE0_FUSED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "True", "True"]


@pytest.mark.parametrize("write", ["assignment", "in place"])
@pytest.mark.parametrize("step", [1, 2])
def test_a_thread_writes_to_a_leaf_while_x_is_written(write: str, step: int) -> None:
    """x never has elements computed from both old and new values of the leaf."""
    n = 3_000_000
    for _ in range(4):
        a, x, ready = xp.ones(n), xp.zeros(step * n)[::step], threading.Event()

        def overwrite(a: Any = a, ready: threading.Event = ready) -> None:
            ready.wait()
            a[...] = -1.0

        writer = threading.Thread(target=overwrite)
        writer.start()
        with xp.fused(size=1):
            y = a * 2.0
            ready.set()
            if write == "assignment":
                x[...] = y + 1.0
            else:
                x += y
        writer.join()
        assert bool(xp.all(x == (3.0 if write == "assignment" else 2.0)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits its memory")
def test_an_assignment_without_memory_for_another_result() -> None:
    """The value keeps its strides, and does not get the strides of the array that the pass would write."""
    script = """
import resource
import stride0 as xp
n = 4_000_000
x, a = xp.zeros(2 * n)[::2], xp.ones(n)
used = lambda: int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
with xp.fused(size=1):
    y = a * 2.0
    value = y + 1.0
    values = [xp.from_dlpack(value)]
    resource.setrlimit(resource.RLIMIT_AS, (used() + (8 << 20), resource.RLIM_INFINITY))
    try:
        x[...] = values.pop()
    except MemoryError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(bool(xp.all(value == 3.0)), bool(xp.all(y == 2.0)), bool(xp.all(x == 0.0)))
"""
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "STRIDE0_FUSED": "0", "STRIDE0_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "multiply: no memory for the deferred result of shape (4000000,) and dtype float64",
        "True True True",
    ]


def test_operands_of_finished_reductions_are_freed() -> None:
    x = numbers(1000)
    with xp.fused(size=1):
        y = x + 1
        before = live()
        for k in range(40):
            factor = xp.full(1000, float(k), dtype=x.dtype)
            float(xp.sum(y * factor))
            del factor
            assert live() == before
        assert same(y, np.array(x) + 1)
