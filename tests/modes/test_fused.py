"""`stride0.fused`: deferred results show what eager ones do, and each invariant of Note [Deferred results] holds.

STRIDE0_FUZZ_PROGRAMS is how many random programs are run; in the longest runs of a release, many thousands.
"""

from __future__ import annotations

import contextvars
import copy
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import random_programs

import stride0 as xp
from stride0 import memory, strided

PROGRAMS = int(os.environ.get("STRIDE0_FUZZ_PROGRAMS", 400))
BATCHES = 8
LINUX = sys.platform == "linux"


def live() -> int:
    return int(memory.stats()["live_bytes"])


def numbers(*shape: int, dtype: str = "float64", seed: int = 3) -> Any:
    """An array of our own memory."""
    return xp.asarray(np.random.default_rng(seed).normal(0, 3, shape).astype(dtype), copy=True)


def same(x: Any, expected: Any) -> bool:
    return bool(np.array(x).tobytes() == np.array(expected).tobytes())


def in_thread(call: Callable[[], Any]) -> Any:
    return random_programs.program_helpers.in_thread(call)


def run(script: str, **environment: str) -> str:
    """What a script prints in a process of its own."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- random programs


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_show_the_same(batch: int) -> None:
    large = batch == BATCHES - 1
    sizes = [5000, 70000, 300000] if large else [1, 7, 60, 1000]
    count = PROGRAMS // BATCHES // (4 if large else 1)
    first = 1_000_000 * (batch + 1)
    assert not list(random_programs.report(first, first + count, sizes))


@pytest.mark.parametrize("seed", range(60))
def test_chains_on_chains(seed: int) -> None:
    """Chains of several shapes read each other's results, and nothing is read until the end: invariant 7."""

    def program() -> list[Any]:
        rng = random.Random(seed)
        shapes = [(5, 1), (1, 6), (5, 6), (6,), (4, 5, 6), (1, 1, 6), (4, 1, 1)]
        values = [numbers(*shape, seed=k) for k, shape in enumerate(shapes)]
        for _ in range(70):
            a, b = rng.choice(values), rng.choice(values)
            out = rng.choice([lambda: a + b, lambda: a * b - 1, lambda: xp.maximum(a, b), lambda: xp.sin(a)])()
            if rng.random() < 0.4:
                values[rng.randrange(len(values))] = out
            else:
                values.append(out)
        rng.shuffle(values)
        return values

    expected = program()
    with xp.fused(size=1):
        found = program()
        assert all(same(x, y) for x, y in zip(found[::2], expected[::2], strict=True))
    assert all(same(x, y) for x, y in zip(found, expected, strict=True))


def test_what_is_known_at_once_computes_nothing() -> None:
    x = numbers(300, 200)
    y, before = (x + 1).T * 2, live()
    expected = (y.shape, y.dtype, strided.strides(y), y.size, y.ndim)
    del y
    with xp.fused(size=1):
        before = live()
        y = xp.where(x.T > 0, (x.T + 1) * 2, 0)
        assert (y.shape, y.dtype, strided.strides(y), y.size, y.ndim) == expected
        assert live() == before
        float(y[0, 0])
        assert live() == before + x.size * 8


def test_the_threshold() -> None:
    small, large = numbers(9), numbers(11)
    with xp.fused(size=10):
        before = live()
        first = small + 1
        assert live() > before
        before = live()
        second = large + 1
        assert live() == before
        with xp.fused(size=0):
            assert xp.fused.current() == 0
            third = large + 2
            assert live() > before
        assert xp.fused.current() == 10
    assert live() > before
    assert same(first, np.array(small) + 1) and same(second, np.array(large) + 1) and same(third, np.array(large) + 2)
    with pytest.raises(ValueError, match="size is -1"):
        xp.fused(size=-1)


# --- 1: what is pending cannot be read

READERS: dict[str, Callable[[Any], Any]] = {
    "item": lambda y: float(y[3, 4]),
    "slice": lambda y: y[1:3, ::-2],
    "mask": lambda y: y[y > 0],
    "indices": lambda y: y[xp.asarray([1, 2]), xp.asarray([0, 3])],
    "repr": repr,
    "str": str,
    "in": lambda y: 3.5 in y,
    "truth": lambda y: bool(y[0, 0] > 0),
    "iteration": lambda y: [row for row in y],
    "transpose": lambda y: y.T,
    "reshape": lambda y: xp.reshape(y, (-1,)),
    "broadcast": lambda y: xp.broadcast_to(y, (2, *y.shape)),
    "flip": xp.flip,
    "astype": lambda y: xp.astype(y, xp.int64),
    "sum": lambda y: xp.sum(y, axis=0),
    "mean": lambda y: xp.mean(y, axis=1, keepdims=True),
    "argmax": xp.argmax,
    "cumulative_sum": lambda y: xp.cumulative_sum(y, axis=0),
    "matmul": lambda y: y @ y.T,
    "vecdot": lambda y: xp.vecdot(y, y),
    "sort": xp.sort,
    "unique": lambda y: xp.unique_values(y),
    "concat": lambda y: xp.concat([y, y]),
    "stack": lambda y: xp.stack([y, y]),
    "take": lambda y: xp.take(y, xp.asarray([2, 1]), axis=0),
    "searchsorted": lambda y: xp.searchsorted(xp.asarray([-1.0, 0.0, 1.0]), y),
    "fft": xp.fft.fft,
    "inverse": lambda y: xp.linalg.inv(y[:5, :5]),
    "buffer": lambda y: bytes(memoryview(y)),
    "numpy": lambda y: np.asarray(y).tobytes(),
    "dlpack": lambda y: np.from_dlpack(y).tobytes(),
    "own dlpack": xp.from_dlpack,
    "pickle": lambda y: pickle.loads(pickle.dumps(y)),
    "deepcopy": copy.deepcopy,
    "copy": lambda y: xp.asarray(y, copy=True),
    "complex": lambda y: xp.imag(y + 1j),
    "contiguous": strided.contiguous,
    "as_strided": lambda y: strided.as_strided(y, (3, 3), (1, 1), 0),
}


@pytest.mark.parametrize("name", READERS)
def test_readers_compute(name: str) -> None:
    x = numbers(6, 8)
    read = READERS[name]
    expected = read(xp.abs(x * 2) + 0.5)
    with xp.fused(size=1):
        before = live()
        y = xp.abs(x * 2) + 0.5
        assert live() == before
        found = read(y)
    if isinstance(expected, list):
        assert all(same(a, b) for a, b in zip(found, expected, strict=True))
    elif isinstance(expected, xp.Array):
        assert found.dtype == expected.dtype and strided.strides(found) == strided.strides(expected)
        assert same(found, expected)
    else:
        assert found == expected
    assert same(y, np.abs(np.array(x) * 2) + 0.5)


# --- 2: who writes evaluates its readers first


def through(export: Callable[[Any], Any]) -> Callable[[Any], None]:
    def write(x: Any) -> None:
        export(x)[...] = 7

    return write


def iadd(x: Any) -> None:
    x += x[::-1, :]


def imatmul(x: Any) -> None:
    x @= xp.ones((8, 8))


def iteration(x: Any) -> None:
    for row in x:
        row *= 2


WRITERS: dict[str, Callable[[Any], None]] = {
    "all": lambda x: x.__setitem__(..., 0),
    "part": lambda x: x.__setitem__((slice(2, 3), slice(None, None, 2)), -5),
    "one": lambda x: x.__setitem__((3, 3), 1),
    "lane": lambda x: x[2, :].__setitem__(..., 4.0),
    "mask": lambda x: x.__setitem__(x > 0, 0),
    "mask of values": lambda x: x.__setitem__(x > 0, x[x > 0] + 1),
    "indices": lambda x: x.__setitem__(xp.asarray([0, 2]), 9),
    "points": lambda x: x.__setitem__((xp.asarray([0, 2]), xp.asarray([1, 3])), 9),
    "itself": lambda x: x.__setitem__(..., x[::-1, ::-1]),
    "in place": iadd,
    "scalar in place": lambda x: x.__imul__(3),
    "power in place": lambda x: x.__ipow__(2),
    "matrix in place": imatmul,
    "view": lambda x: x.T[::2, :].__iadd__(1),
    "rows": iteration,
    "view of a view": lambda x: xp.reshape(x, (-1,))[::3].__setitem__(..., 1),
    "as_strided": lambda x: strided.as_strided(x, (4,), (3,), 2).__setitem__(..., 8),
    "numpy": through(np.asarray),
    "memoryview": through(lambda x: np.asarray(memoryview(x))),
    "dlpack": through(np.from_dlpack),
    "own dlpack": through(xp.from_dlpack),
    "from numpy": through(lambda x: xp.asarray(np.asarray(x), copy=False)),
}


@pytest.mark.parametrize("leaf", ["whole", "view", "chain"])
@pytest.mark.parametrize("name", WRITERS)
def test_writers_evaluate_what_reads(name: str, leaf: str) -> None:
    """The leaf is an array, a view of it, or deferred itself; after the write, the result is as before it."""

    def make() -> tuple[Any, Any]:
        x = numbers(8, 8)
        if leaf == "chain":
            x = x * 2 - 1
        return x, (x if leaf != "view" else x[1:, ::-1].T)

    x, part = make()
    expected = [xp.sin(part) * 2, part + xp.ones((3, 1, 1))]
    WRITERS[name](x)
    after = np.array(x)
    with xp.fused(size=1):
        x, part = make()
        found = [xp.sin(part) * 2, part + xp.ones((3, 1, 1))]
        WRITERS[name](x)
        assert same(x, after)
        assert all(same(a, b) for a, b in zip(found, expected, strict=True))


def test_writes_elsewhere_leave_chains_alone() -> None:
    x, z = numbers(1000), numbers(1000)
    with xp.fused(size=1):
        before = live()
        y = x + 1
        z[...] = 0
        z += 1
        assert live() == before
        x[0] = 0
        assert live() == before + 8000
    assert same(y[1:], np.array(x)[1:] + 1)


def test_an_operand_of_an_in_place_operation_is_read_before() -> None:
    """The copy of an overlapping operand is deferred too, and reads what is about to be written."""
    for size in (9, 70_000):
        x, a = numbers(size), np.array(numbers(size))
        with xp.fused(size=1):
            x += x[::-1]
            x[1:] = x[:-1] * 2
            x[...] = xp.where(x > 0, x[::-1], x)
            y = x[::-1] + 0
            x -= y
        a += a[::-1].copy()
        a[1:] = a[:-1] * 2
        a = np.where(a > 0, a[::-1], a)
        assert same(x, a - a[::-1])


# --- 3: memory that others may write to is read at once


def test_foreign_memory_is_read_at_once() -> None:
    for convert in (lambda n: xp.asarray(n, copy=False), xp.from_dlpack, lambda n: xp.asarray(memoryview(n))):
        n = np.arange(2000.0)
        x = convert(n)
        with xp.fused(size=1):
            found = [x + 1, x[::2] * 3, xp.broadcast_to(x[:1], (2000,)) - n[5].item(), x[7] + 1]
            later = found[0] * 2
            n[...] = -1
            assert same(found[0], np.arange(2000.0) + 1) and same(later, (np.arange(2000.0) + 1) * 2)
            assert same(found[1], np.arange(2000.0)[::2] * 3)
            assert same(found[2], np.full(2000, -5.0)) and float(found[3]) == 8


def test_lent_memory_is_read_at_once() -> None:
    for lend in (np.asarray, np.from_dlpack, memoryview, lambda x: np.asarray(x[::2])):
        x = numbers(1000)
        expected = np.array(x) * 2
        e = np.asarray(lend(x))
        with xp.fused(size=1):
            y = x * 2
            e[...] = 5
            assert same(y, expected)


def test_a_loan_ends() -> None:
    x = numbers(1000)
    with memoryview(x) as m, xp.fused(size=1):
        before = live()
        first = x + 1
        assert live() == before + 8000
        m.release()
        second = x + 1
        assert live() == before + 8000
    assert same(first, second)


def test_a_deferred_result_that_is_lent_becomes_no_leaf() -> None:
    x = numbers(1000)
    with xp.fused(size=1):
        y, z = x + 1, x * 3
        e = np.asarray(y)
        w = y + z
        e[...] = 0
        assert same(w, (np.array(x) + 1) + np.array(x) * 3)
        assert same(y, np.zeros(1000))


# --- 4: what is referenced becomes an output, all other values stay in slots


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


def test_what_nobody_can_see_is_never_computed() -> None:
    x = numbers(1000)
    with xp.fused(size=1):
        before = live()
        y = [x * k + 1 for k in range(5)]
        y.append(xp.broadcast_to(x[:1], (2**45,)) * 2)  # which no memory could hold
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


# --- 5: memory that is missing


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
    for read in (lambda: float(big[0]), lambda: memoryview(big), lambda: big.__dlpack__(), lambda: big + 1, lambda: repr(big)):
        try:
            read()
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
print(float(later[7]))
limit(1024)
print(float(big[5]), float(xp.sum(big)) == 2.0 * (1 << 24))
x[...] = 4
print(float(big[5]))
"""
    lines = run(script, STRIDE0_FUSED="").split("\n")
    message = "add: no memory for the deferred result of shape (16777216,) and dtype float64"
    assert lines[:7] == ["'mine'", "3.0", *[message] * 5]
    assert lines[:21] == lines[:7] * 3
    assert lines[21:] == ["no memory", "4.0"][:0] + [lines[21], "4.0", "2.0 True", "2.0"]
    assert "no memory for the deferred result of shape (16777216,)" in lines[21]


# --- 6: several threads, or a handler, evaluate one chain at once


class Stop(BaseException):
    pass


@pytest.fixture
def timer() -> Iterator[Callable[[Callable[[], None], float], None]]:
    """Calls a function from a signal handler, some time later."""
    before = signal.getsignal(signal.SIGALRM)

    def start(call: Callable[[], None], after: float) -> None:
        signal.signal(signal.SIGALRM, lambda number, frame: call())
        signal.setitimer(signal.ITIMER_REAL, after)

    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


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


needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")


def powers(x: Any) -> list[Any]:
    """More results than one pass stores, which take long."""
    return [x ** (0.5 + k) for k in range(12)]


@needs_timer
@pytest.mark.parametrize("what", ["reads", "writes", "reads another", "continues", "raises", "forgets"])
def test_a_handler_meets_a_chain_that_is_computed(what: str, timer: Any) -> None:
    x = numbers(20_000, dtype="complex128")
    begin = np.array(x)
    expected = [np.array(y) for y in powers(x)]
    met = 0
    for after in (0.001, 0.01, 0.025, 0.04):
        x[...] = xp.asarray(begin)
        seen: list[Any] = []
        with xp.fused(size=1):
            found = powers(x)

            def call(seen: Any = seen, found: Any = found) -> None:
                if what == "reads":
                    seen.append(np.array(found[3]))
                elif what == "reads another":
                    seen.append(np.array(found[11] + 0))
                elif what == "writes":
                    x[...] = 0
                elif what == "continues":
                    seen.append(found[0] + found[1])
                elif what == "forgets":
                    found[5] = found[6] = None
                    gc.collect()
                else:
                    raise Stop

            timer(call, after)
            try:
                np.array(found[0])
            except Stop:
                met += 1
            timer(lambda: None, 10)
            for k in range(12):
                if found[k] is not None:
                    assert same(found[k], expected[k]), k
            if seen:
                met += 1
                wanted = {"reads": expected[3], "reads another": expected[11] + 0, "continues": expected[0] + expected[1]}
                assert same(seen[0], wanted[what])
    assert met or what in ("writes", "forgets")


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


# --- 7: no circle, and bounds


def test_many_operands_steps_results_and_chains() -> None:
    leaves = [numbers(100, seed=k) for k in range(40)]

    def values() -> Iterator[Any]:
        yield sum(leaves[1:], leaves[0])
        halves = [sum(leaves[k + 1 : k + n], leaves[k]) for n in (6, 8, 11, 12) for k in (0, 12, 24)]
        yield from [a * b + c for a, b, c in zip(halves, halves[1:], halves[2:], strict=False)]
        yield from [xp.where(a > b, a, b) for a, b in zip(halves, halves[1:], strict=False)]
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
        assert same(in_thread(lambda: y * 2), a * 2)      # deferred there, of an array that is deferred here
        z = in_thread(lambda: x + 1)                      # the thread ends before it is computed
        w = z * 3
        v = in_thread(lambda: x * 2) + in_thread(lambda: y + z)
        assert same(w, a * 3) and same(z, a) and same(v, np.array(x) * 2 + (a + a))
        u, expected = x - 1, np.array(x) - 1
        threading.Thread(target=lambda: x.__setitem__(..., 0)).start()
        while float(x[0]) != 0:
            pass
        assert same(u, expected)


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
    """SciPy's compiled code calls a function again after it raised; no context has a value then."""
    optimize = pytest.importorskip("scipy.optimize")
    x, seen = numbers(100), []

    def f(t: float) -> float:
        seen.append(xp.sin(x + t) * 2)
        raise KeyError(t)

    with xp.fused(size=1), pytest.raises(KeyError):
        optimize.brentq(f, 0.0, 1.0)
    assert same(seen[0], np.array(xp.sin(x + 0.0) * 2))
    assert len(seen) == 1 or same(seen[1], np.array(xp.sin(x + 1.0) * 2))


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


@pytest.mark.skipif(xp.fused.current() != 0, reason="another default is set")
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
