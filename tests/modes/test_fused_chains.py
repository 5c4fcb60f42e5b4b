"""`stride0.fused`: invariants 4 to 8 of Note [Deferred results], and the scope of fused."""

from __future__ import annotations

import contextvars
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from program_helpers import in_thread, live, numbers, same

import stride0 as xp
from stride0 import strided
from stride0.autograd import Tape

LINUX = sys.platform == "linux"


def run(script: str, **environment: str) -> str:
    """The output of a script in a separate process."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- 4: referenced results become outputs, all other values stay in slots


def test_only_what_can_be_seen_is_written() -> None:
    x = numbers(1000)
    with xp.fused(size=1):
        before = live()
        y = x * 2
        z = xp.sin(y) + xp.cos(y) * y - 1
        w = z * z
        del z
        assert live() == before
        float(w[0])
        assert live() == before + 2 * 8000
    a = np.array(x) * 2
    assert same(y, a)
    z = xp.sin(xp.asarray(a)) + xp.cos(xp.asarray(a)) * xp.asarray(a) - 1
    assert same(w, np.array(z) * np.array(z))


def test_what_nothing_refers_to_is_never_computed() -> None:
    x = numbers(1000)
    with xp.fused(size=1):
        before = live()
        y = [x * k + 1 for k in range(5)]
        y.append(xp.broadcast_to(x[:1], (2**45,)) * 2)  # too large for any memory
        y.clear()
        x[...] = 0
        assert live() == before
    kept = weakref.ref(x)
    with xp.fused(size=1):
        y = [x + 1]
        alive = weakref.ref(y[0])
        y.clear()
        assert alive() is None
        del x
        assert kept() is None


def test_loops_do_not_grow() -> None:
    x = numbers(1000)
    expected = x
    for _ in range(2000):
        expected = expected * 0.99 + 0.01
    before = live()
    with xp.fused(size=1):
        most = 0
        for _ in range(2000):
            x = x * 0.99 + 0.01
            most = max(most, live())
    assert same(x, expected)
    assert most - before <= 4 * 8000


# --- 5: out of memory


@pytest.mark.skipif(not LINUX, reason="limits on the address space are Linux's to keep")
def test_missing_memory_names_the_operation() -> None:
    script = """
import resource
import numpy
import stride0 as xp
xp.set_num_threads(1)
x = xp.ones(1 << 24)
small = xp.ones(1000)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
def limit(more):
    resource.setrlimit(resource.RLIMIT_AS, (used + (more << 20), resource.RLIM_INFINITY))
limit(64)
for attempt in range(3):
    try:
        with xp.fused(size=1):
            big, little = xp.sqrt(x) + 1, small * 3
            raise KeyError("mine")
    except KeyError as error:
        print(error)
    print(float(little[7]))
    for read in ("big[0]", "memoryview(big)", "big.__dlpack__()", "big + 1", "repr(big)"):
        try:
            eval(read)
        except MemoryError as error:
            print(error)
try:
    with xp.fused(size=1):
        other = big * 2
        later = small * 4
except MemoryError as error:
    print(error)
else:
    print("no error")
print(xp.fused.stats()["pending"], float(later[7]))
limit(1024)
print(float(big[5]), float(xp.sum(big)) == 2.0 * (1 << 24))
x[...] = 4
print(float(big[5]))
"""
    lines = run(script, STRIDE0_FUSED="").split("\n")
    message = "add: no memory for the deferred result of shape (16777216,) and dtype float64"
    assert lines[:21] == ["'mine'", "3.0", *[message] * 5] * 3
    # The end of a block evaluates all results for which there is memory, and names the first other one.
    assert "no memory for the deferred result of shape (16777216,)" in lines[21]
    assert lines[22:] == ["1 4.0", "2.0 True", "2.0"]


# --- 6: several threads, or a handler, evaluate one chain at once


class Stop(BaseException):
    pass


@pytest.fixture
def timer(signals_often: None) -> Iterator[Callable[[Callable[[], None], float], None]]:
    """Calls a function from a signal handler, after some processor time of this process."""
    before, threads = signal.getsignal(signal.SIGPROF), xp.get_num_threads()
    xp.set_num_threads(1)  # so that no worker completes a pass while the handler runs

    def start(call: Callable[[], None], after: float) -> None:
        signal.signal(signal.SIGPROF, lambda number, frame: call())
        signal.setitimer(signal.ITIMER_PROF, after)

    yield start
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    xp.set_num_threads(threads)


@pytest.mark.parametrize("size", [100, 200_000])
def test_threads_evaluate_one_chain(size: int) -> None:
    x, shift = numbers(size), 0.5
    expected = [np.array(xp.exp(xp.sin(x + k) * shift)) for k in range(20)]
    for _ in range(3):
        with xp.fused(size=1):
            found = [xp.exp(xp.sin(x + k) * shift) for k in range(20)]
            wrong: list[int] = []
            barrier = threading.Barrier(4)

            def read(first: int, found: Any = found, wrong: Any = wrong, barrier: Any = barrier) -> None:
                barrier.wait()
                for k in range(20):
                    k = (k + first) % 20
                    if not same(found[k], expected[k]):
                        wrong.append(k)

            workers = [threading.Thread(target=read, args=(5 * k,)) for k in range(4)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert not wrong


def test_threads_evaluate_a_chain_while_an_update_computes_a_part_of_it() -> None:
    """A race, in a separate process: it used to crash within seconds."""
    assert (
        run("""
import sys, threading, time
import stride0 as xp
sys.setswitchinterval(1e-5)
a, x, given, ended = xp.arange(1 << 18, dtype=xp.float64), xp.zeros(1 << 18), [], []
def read():
    while not ended:
        if given:
            float(given.pop()[0])
reader = threading.Thread(target=read)
reader.start()
end = time.monotonic() + 5
with xp.fused(size=1):
    while time.monotonic() < end:
        b = a + 1
        c = b * 2
        for _ in range(3):
            c = c * 1.5 + b
        given.append(c)
        x += b * 1.5
        del b, c
ended.append(True)
reader.join()
print("done")
""")
        == "done"
    )


# Several delays, until a handler runs in the middle of a call, which checks for signals.
DELAYS = (0.01, 0.05, 0.001, 0.1, 0.02, 0.2) * 6
needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")


def powers(x: Any) -> list[Any]:
    """A chain that takes long, with more results than one pass stores."""
    base = x + 0
    out = [base**0.7]
    while len(out) < 14:
        out.append((out[-1] + base) ** 0.7)
    return out


@needs_timer
@pytest.mark.parametrize(
    "what", ["reads", "writes", "reads another", "continues", "reduces", "raises", "forgets"]
)
def test_a_handler_meets_a_chain_that_is_computed(what: str, timer: Any) -> None:
    x = numbers(150_000, dtype="complex128")
    begin = np.array(x)
    expected = [np.array(y) for y in powers(x)]
    total = np.array(xp.sum(xp.asarray(expected[13], copy=True)))
    gc.collect()
    at_first, met = live(), 0
    for after in DELAYS:
        if met:
            break
        x[...] = xp.asarray(begin)
        inside, when, seen = [False], [], []
        with xp.fused(size=1):
            found = powers(x)

            def call(inside: Any = inside, when: Any = when, seen: Any = seen, found: Any = found) -> None:
                if not inside[0]:
                    return
                when.append(time.perf_counter())
                if what == "reads":
                    seen.append(np.array(found[3]))
                elif what == "reads another":
                    seen.append(np.array(found[13] + 0))
                elif what == "writes":
                    x[...] = 0
                elif what == "continues":
                    seen.append(found[0] + found[1])
                elif what == "reduces":
                    seen.append(xp.sum(found[13], axis=0))
                elif what == "forgets":
                    found[5] = found[6] = None
                else:
                    raise Stop

            timer(call, after)
            try:
                inside[0] = True
                float(found[0][0].real)
                inside[0] = False
            except Stop:
                inside[0] = False
            # Not if the handler ran after the last pass.
            met += bool(when) and (what == "raises" or time.perf_counter() - when[0] > 0.005)
            wrong = [k for k in range(14) if found[k] is not None and not same(found[k], expected[k])]
            wanted = {
                "reads": expected[3],
                "reads another": expected[13] + 0,
                "continues": expected[0] + expected[1],
                "reduces": total,
            }
            assert not wrong
            assert all(same(item, wanted[what]) for item in seen)
        del found, call, seen
    assert met
    gc.collect()
    timer(lambda: None, 10)
    assert live() == at_first


def reader(x: Any) -> tuple[list[Any], list[float], Callable[[], None]]:
    """A signal handler that defers `x + 1`, its results, and the times of its calls."""
    seen: list[Any] = []
    when: list[float] = []

    def call() -> None:
        when.append(time.perf_counter())
        seen.append(x + 1)

    return seen, when, call


@needs_timer
@pytest.mark.parametrize("write", ["in place", "all", "indices", "mask"])
def test_a_handler_defers_what_reads_while_an_operand_is_computed(write: str, timer: Any) -> None:
    x, other = numbers(150_000, dtype="complex128"), numbers(150_000, dtype="complex128", seed=4)
    begin, met = np.array(x), 0
    where = xp.asarray(np.arange(150_000))
    mask = xp.ones(150_000, dtype=xp.bool)
    for after in DELAYS:
        if met:
            break
        x[...] = xp.asarray(begin)
        seen, when, handler = reader(x)
        with xp.fused(size=1):
            y = powers(other)[-1]
            timer(handler, after)
            if write == "in place":
                x += y
            elif write == "all":
                x[...] = y
            elif write == "indices":
                x[where] = y
            else:
                x[mask] = y
            if when and time.perf_counter() - when[0] > 0.005:
                met += 1
                assert same(seen[0], begin + 1)
            timer(lambda: None, 10)
    assert met


@needs_timer
@pytest.mark.parametrize("then", ["writes", "exports"])
def test_a_handler_defers_what_reads_while_readers_are_evaluated(then: str, timer: Any) -> None:
    x, met = numbers(150_000, dtype="complex128"), 0
    begin = np.array(x)
    for after in DELAYS:
        if met:
            break
        x[...] = xp.asarray(begin)
        seen, when, handler = reader(x)
        with xp.fused(size=1):
            y = powers(x)[-1]
            timer(handler, after)
            if then == "writes":
                x[...] = 0
            else:
                e = np.asarray(x)
                found = bool(when) and time.perf_counter() - when[0] > 0.005
                e[...] = 0
                del e
            if when and (time.perf_counter() - when[0] > 0.005 if then == "writes" else found):
                met += 1
                assert same(seen[0], begin + 1)
            timer(lambda: None, 10)
        del y
    assert met


@needs_timer
def test_a_handler_lends_an_operand(timer: Any) -> None:
    """The handler runs while an operation evaluates a full chain, before the operation is deferred."""
    rng = np.random.default_rng(8)
    x = xp.asarray(rng.uniform(0.5, 1, 60_000) + 0j, copy=True)
    begin = np.array(x)

    def program(lent: list[Any]) -> list[Any]:
        out = [x + 0]
        while len(out) < 120 and not lent:
            out.append(out[-1] ** x)
        return out

    expected, met = [np.array(r) for r in program([])], 0
    for after in DELAYS:
        if met:
            break
        x[...] = xp.asarray(begin)
        lent: list[Any] = []
        with xp.fused(size=1):
            timer(lambda lent=lent: lent.append(np.asarray(x)), after)
            found = program(lent)
            met += bool(lent)
            timer(lambda: None, 10)
            for e in lent:
                e[...] = 0
            if lent:
                assert same(found[-1], expected[len(found) - 1])
    assert met


@needs_timer
def test_an_interrupt_at_the_end_of_a_block(timer: Any) -> None:
    x = numbers(20_000, dtype="complex128")
    expected = [np.array(y) for y in powers(x)]

    def stop() -> None:
        raise Stop

    for after in (0.002, 0.02, 0.03):
        found: list[Any] = []
        timer(stop, after)
        try:
            with xp.fused(size=1):
                found += powers(x)
        except Stop:
            pass
        timer(lambda: None, 10)
        assert all(same(a, b) for a, b in zip(found, expected[: len(found)], strict=True))


# --- 7: no cycles, and limits


def test_many_operands_steps_results_and_chains() -> None:
    leaves = [numbers(100, seed=k) for k in range(40)]

    def values() -> Iterator[Any]:
        yield sum(leaves[1:], leaves[0])
        halves = [sum(leaves[k + 1 : k + n], leaves[k]) for n in (6, 8, 11, 12) for k in (0, 12, 24)]
        yield from [a * b + c for a, b, c in zip(halves, halves[1:], halves[2:], strict=False)]
        yield from [xp.where(a > b, a, b) for a, b in itertools.pairwise(halves)]
        yield from [xp.where(leaves[k] > leaves[k + 1], leaves[k + 2], leaves[k + 3]) for k in range(30)]
        x = leaves[0]
        for _ in range(100):
            x = xp.sin(x) + 1
        yield x
        yield from [x + k for k in range(50)]
        yield from [leaves[0][:k] * 2 for k in range(1, 90)]

    expected = list(values())
    with xp.fused(size=1):
        found = list(values())
        assert all(same(a, b) for a, b in zip(found[::-1], expected[::-1], strict=True))


def test_a_reduction_after_as_many_steps_as_there_may_be() -> None:
    """Sums of float16 take two steps: the addition, and the cast of its result."""
    x = xp.asarray(numbers(1000), dtype=xp.float16, copy=True)
    for count in range(24, 72):
        y, z = x, x
        for _ in range(count):
            y = y + x
        with xp.fused(size=1):
            for _ in range(count):
                z = z + x
            total = xp.max(z)
        assert same(total, np.array(xp.max(y))) and same(z, np.array(y))


def test_a_long_expression_is_one_pass() -> None:
    """With the maximum of leaves, constants and steps, in a thread with a small stack."""
    leaves = [xp.reshape(numbers(2000, seed=k), (40, 50)) for k in range(16)]

    def value() -> Any:
        x = leaves[0] * 1.5
        for k, leaf in enumerate(leaves[1:]):
            x = x + (leaf * (k + 2.5) - (k + 0.25))
        for k in range(45):
            x = abs(x) if k % 2 else xp.sin(x)
        return xp.sum(x, axis=0)

    def compute() -> None:
        with xp.fused(size=1):
            total = value()
            before = xp.fused.stats()["passes"]
            found.append((np.array(total), xp.fused.stats()["passes"] - before))

    found: list[Any] = []
    size = threading.stack_size(65536)
    try:
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert same(value(), found[0][0])
    assert found[0][1] == 1


def test_equal_steps_are_one_value_with_two_places() -> None:
    x = numbers(1000)
    with xp.fused(size=1):
        a, b = x + 1, x + 1
        c = a * b
        a_again = c - c
    assert same(a, b) and not strided.shares_storage(a, b)
    a[...] = 0
    assert same(b, np.array(x) + 1) and same(c, np.array(b) ** 2) and same(a_again, np.zeros(1000))


# --- 8: other threads


def test_other_threads_evaluate_and_continue() -> None:
    x = numbers(1000)
    a = np.array(x) + 1
    with xp.fused(size=1):
        y = x + 1
        before = live()
        v = in_thread(lambda: y * 2)
        assert live() == before + 8000  # another thread does not add to this thread's chain
        assert same(v, a * 2)
        z = in_thread(lambda: x + 1)  # the thread ends before it is computed
        w = z * 3
        v = in_thread(lambda: x * 2) + in_thread(lambda: y + z)
        assert same(w, a * 3) and same(z, a) and same(v, np.array(x) * 2 + (a + a))
        u, expected = x - 1, np.array(x) - 1
        threading.Thread(target=lambda: x.__setitem__(..., 0)).start()
        while float(x[0]) != 0:
            pass
        assert same(u, expected)


@pytest.mark.usefixtures("eagerly")
def test_a_context_elsewhere_is_eager() -> None:
    x = numbers(1000)
    empty = contextvars.Context()
    with xp.fused(size=1):
        before = live()
        y = x + 1
        z = empty.run(lambda: y + 1)
        assert live() >= before + 2 * 8000
    assert same(z, (np.array(x) + 1) + 1)


def test_calls_while_an_exception_is_raised() -> None:
    """SciPy's compiled code calls a function again after an error; then no context variable can be read."""
    optimize = pytest.importorskip("scipy.optimize")
    with xp.fused(size=1), Tape() as tape:
        x = tape.watch(xp.asarray(0.5))
        # While it is tracked, the result of the function cannot become a number.
        with pytest.raises(xp.GradientError, match=r"optimize\.brentq: the array is tracked"):
            optimize.brentq(lambda t: t * t - x, 0, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork() -> None:
    script = """
import os, sys
import stride0 as xp
x = xp.ones(100_000)
with xp.fused(size=1):
    y = xp.sqrt(x * 4) + 1
    z = y * 2
    child = os.fork()
    x[...] = 100
    good = float(xp.sum(y)) == 300_000 and float(z[5]) == 6 and float((y + z)[7]) == 9
    if child == 0:
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    print(good, os.waitstatus_to_exitcode(status))
"""
    assert run(script, OMP_NUM_THREADS="1", STRIDE0_NUM_THREADS="1") == "True 0"


def test_the_environment_sets_the_default() -> None:
    script = "import stride0 as xp; print(xp.fused.current())"
    assert run(script, STRIDE0_FUSED="1", STRIDE0_FUSED_SIZE="77") == "77"
    assert run(script, STRIDE0_FUSED="0", STRIDE0_FUSED_SIZE="77") == "0"
    assert int(run(script, STRIDE0_FUSED="1", STRIDE0_FUSED_SIZE="8192")) == 8192


@pytest.mark.usefixtures("eagerly")
def test_the_default_of_the_process() -> None:
    x = numbers(1000)
    assert xp.fused.set_default(100) == 0
    try:
        before = live()
        y = x + 1
        assert live() == before and xp.fused.current() == 100
    finally:
        assert xp.fused.set_default(0) == 100
    assert live() == before + 8000
    assert same(y, np.array(x) + 1)
