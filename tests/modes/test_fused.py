"""`stride0.fused`: deferred results equal eager results; each invariant of Note [Deferred results] holds.

STRIDE0_FUZZ_PROGRAMS is the number of random programs; before a release, many thousands are run.
"""

from __future__ import annotations

import copy
import os
import pickle
import random
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import random_programs
from program_helpers import live, numbers, same

import stride0 as xp
from stride0 import strided

PROGRAMS = int(os.environ.get("STRIDE0_FUZZ_PROGRAMS", 400))
BATCHES = 8
LINUX = sys.platform == "linux"


# --- random programs


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_show_the_same(batch: int) -> None:
    large = batch == BATCHES - 1
    sizes = [5000, 70000, 300000] if large else [1, 7, 60, 1000]
    count = PROGRAMS // BATCHES // (4 if large else 1)
    first = 1_000_000 * (batch + 1)
    assert not list(random_programs.report(first, first + count, sizes))


STEPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a * b - 1,
    xp.maximum,
    lambda a, b: xp.sin(a),
    lambda a, b: xp.where(a > b, xp.sum(a, axis=-1, keepdims=True), b),
    lambda a, b: xp.max(a * b, axis=0, keepdims=True),
]


@pytest.mark.parametrize("seed", range(60))
def test_chains_on_chains(seed: int) -> None:
    """Chains of several shapes read each other's results, and nothing is read until the end: invariant 7."""

    def program() -> list[Any]:
        rng = random.Random(seed)
        shapes = [(5, 1), (1, 6), (5, 6), (6,), (4, 5, 6), (1, 1, 6), (4, 1, 1)]
        values = [numbers(*shape, seed=k) for k, shape in enumerate(shapes)]
        for _ in range(70):
            a, b = rng.choice(values), rng.choice(values)
            out = rng.choice(STEPS)(a, b)
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
    assert (
        same(first, np.array(small) + 1)
        and same(second, np.array(large) + 1)
        and same(third, np.array(large) + 2)
    )
    with pytest.raises(ValueError, match="size is -1"):
        xp.fused(size=-1)


# --- 1: pending results have no memory to read

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


# --- 2: a write evaluates the readers of the memory first


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
    "contiguous in place": lambda x: x.__isub__(xp.ones((8, 8))),
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
    """The leaf is an array, a view, or deferred; the result has the values from before the write."""

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
    """The copy of an overlapping operand is deferred too, and reads memory that is about to be written."""
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


# --- 3: memory that other code may write to is read at once


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


@pytest.mark.parametrize("size", [1, 1000])
def test_lent_memory_is_no_leaf_of_another_array_on_it(size: int) -> None:
    x = numbers(size)
    with xp.fused(size=1):
        y = x + 1
        other = xp.from_dlpack(y)
        e = np.asarray(y)
        z = other * 2
        e[...] = 0
        assert same(z, (np.array(x) + 1) * 2)


def test_a_dlpack_export_ends_with_its_tensor() -> None:
    x = numbers(1000)
    for version in (None, (1, 0)):
        for consume in (True, False):
            held = np.from_dlpack(x) if consume else x.__dlpack__(max_version=version)
            with xp.fused(size=1):
                before = live()
                first = x + 1
                assert live() == before + 8000
                del held
                second = x + 1
                assert live() == before + 8000
            assert same(first, second)
            del first, second


def test_memory_of_numpy_that_nothing_else_refers_to_is_a_leaf() -> None:
    own = np.random.default_rng(1).normal(0, 1, (50, 20))
    kept, locked = own.copy(), own.copy()
    locked.flags.writeable = False
    view = memoryview(own.copy())
    text = own.tobytes()
    weak, cached = own.copy(), own.copy()
    alone: dict[str, tuple[bool, Any]] = {
        "new": (True, xp.asarray(own.copy())),
        "views of it": (True, xp.asarray(own.copy().T[::2])),
        "bytes": (True, xp.asarray(np.frombuffer(text).reshape(50, 20))),
        "memory of bytes": (True, xp.asarray(memoryview(text).cast("d", [50, 20]))),
        "a copy": (True, xp.asarray(own, copy=True)),
        "a name": (False, xp.asarray(kept)),
        "a name, read-only": (False, xp.asarray(locked)),
        "a name for the base": (False, xp.asarray(own[:, ::2])),
        "a name for the memoryview": (False, xp.asarray(view)),
        "a subclass": (False, xp.asarray(np.ma.masked_array(own.copy()))),
        "a bytearray": (False, xp.asarray(memoryview(bytearray(text)).cast("d", [50, 20]))),
        "DLPack": (False, xp.from_dlpack(own.copy())),
        "an iterator": (False, xp.asarray(weak)),
        "a weak reference": (False, xp.asarray(cached)),
    }
    rows, found = iter(weak), weakref.ref(cached)
    del weak, cached
    for name, (deferred, x) in alone.items():
        expected = np.array(x) * 2
        with xp.fused(size=1):
            before = live()
            y = x * 2
            assert (live() == before) == deferred, name
            assert same(y, expected), name
        del y
    next(rows)[...] = 5
    assert float(alone["an iterator"][1][0, 0]) == 5
    assert found() is not None


def test_memory_of_numpy_changes_hands() -> None:
    """Each operation tests whether NumPy can write to the memory."""
    n = np.arange(2000.0)
    x = xp.asarray(n)
    with xp.fused(size=1):
        before = live()
        first = x + 1
        assert live() == before + 16000
        del n
        before = live()
        second = x + 1
        assert live() == before
        e = np.asarray(x)
        third = x + 2
        e[...] = -1
        assert same(second, first) and same(third, np.array(first) + 1)
