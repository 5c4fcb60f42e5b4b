"""`stride0.fused`: which calls need a pass over memory. Elements are the same in each case."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from free_threading import FREE_THREADED
from helpers import function_of
from program_helpers import attempt, in_thread, live, numbers, same

import stride0 as xp
from stride0._core.plan.plan import counts
from stride0._tables import operations

DTYPES = list(xp.__array_namespace_info__().dtypes().values())


@pytest.fixture
def passes() -> Iterator[Callable[[], int]]:
    """Passes since the last call, within fused."""
    with xp.fused(size=1):
        last = [xp.fused.stats()["passes"]]

        def since() -> int:
            last.insert(0, xp.fused.stats()["passes"])
            return last[0] - last[1]

        yield since


Passes = Callable[[], int]


def test_in_place_operators_stay_deferred(passes: Passes) -> None:
    x = numbers(30)
    y = x * 2
    kept = y - 1
    y += 1
    y *= y
    y -= x[::-1]
    assert passes() == 0
    assert same(y, (np.array(x) * 2 + 1) ** 2 - np.array(x)[::-1]) and passes() == 1
    assert same(kept, np.array(x) * 2 - 1) and passes() == 0


def test_in_place_operators_with_a_reader(passes: Passes) -> None:
    x, cube = numbers(4, 5), numbers(3, 4, 5)
    y = x * 2
    reader = y + cube
    y += 1  # the reader keeps the old values
    # If another thread may read the storage of y, y keeps it and is computed.
    assert passes() == (2 if FREE_THREADED else 0)
    assert same(reader, np.array(x) * 2 + np.array(cube)) and same(y, np.array(x) * 2 + 1)
    passes()
    y = x * 2
    reader = y + cube
    del reader
    y += 1
    assert passes() == 0
    assert same(y, np.array(x) * 2 + 1)


def test_in_place_operators_that_cannot_stay_deferred(passes: Passes) -> None:
    """The result has other strides, another dtype before a cast, or an operand that is read at once."""
    x = numbers(4, 5)
    lent = np.asarray(numbers(4, 5, seed=4))
    for other in (numbers(5, 4, seed=5).T * 1, xp.asarray(lent, copy=False)):
        y = x * 2
        strides = xp.strided.strides(y)
        y += other
        y -= other[0, :]
        assert xp.strided.strides(y) == strides
        assert same(y, np.array(x) * 2 + np.array(other) - np.array(other)[0, :])
    y = xp.astype(x, xp.float32) * 2
    y += x
    assert y.dtype == xp.float32
    assert same(y, (np.array(x).astype("f4") * 2 + np.array(x)).astype("f4"))


def test_what_is_dropped_is_not_counted_as_pending(passes: Passes) -> None:
    x, y = numbers(30), numbers(20)
    for _ in range(3):
        huge = xp.broadcast_to(x[:1], (2**27,)) * 2  # as much memory as may be pending
        del huge
    kept = [x + 1, y + 1, x[:9] * 2]
    assert passes() == 0
    assert same(kept[0], np.array(x) + 1)


def test_what_is_computed_is_not_counted_as_pending(passes: Passes) -> None:
    x = xp.ones(2**20)
    for _ in range(140):
        assert float((x + 1)[0]) == 2
    passes()
    kept = [x + 1, numbers(20) + 1, numbers(9) * 2]
    assert passes() == 0
    del kept


def test_chains_and_bytes_are_bounded(passes: Passes) -> None:
    x = numbers(100)
    kept = [x[: k + 1] * 2 for k in range(80)]
    assert xp.fused.stats()["pending"] <= 64 and passes() >= 16
    byte, before = xp.asarray(1, dtype=xp.uint8), live()
    many = [xp.broadcast_to(byte, (2**27 + k,)) * 2 for k in range(9)]
    assert before + 2**27 <= live() < before + 2**29  # only as many of the oldest as necessary
    del many
    assert same(kept[79], np.array(x)[:80] * 2)


@pytest.mark.parametrize(("columns", "is_deferred"), [(2047, False), (2048, True)])
def test_few_results_of_deferred_operands_are_computed(columns: int, is_deferred: bool) -> None:
    x = numbers(5, columns)
    with xp.fused(size=5000):
        before = xp.fused.stats()["passes"]
        means = xp.mean(x - 1, axis=0) / 3
        assert (xp.fused.stats()["passes"] == before) is is_deferred
    assert same(means, np.array(xp.mean(x - 1, axis=0) / 3))


def test_a_smaller_bound_holds_for_few_results() -> None:
    x = numbers(30, 50)
    with xp.fused(size=50):
        before = xp.fused.stats()["passes"]
        means = xp.mean(x - 1, axis=0) / 3
        assert xp.fused.stats()["passes"] == before
    assert same(means, np.array(xp.mean(x - 1, axis=0) / 3))


ONE_STEP: dict[str, Callable[[Any, Any], Any]] = {
    "x + 1": lambda x, mask: x + 1,
    "1 - x": lambda x, mask: 1 - x,
    "x ** 2": lambda x, mask: x**2,
    "x * x": lambda x, mask: x * x,
    "x / x[:1]": lambda x, mask: x / x[:1],
    "where": lambda x, mask: xp.where(mask, x, 1.5),
    "of a copy": lambda x, mask: xp.asarray(x, copy=True) * 2,
    "of copies": lambda x, mask: 3 - xp.asarray(xp.asarray(x, copy=True), copy=True),
}


@pytest.mark.parametrize("name", ONE_STEP)
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_one_step_runs_without_tiles(name: str, layout: str) -> None:
    x = {"C": numbers(30, 50), "F": numbers(50, 30).T, "strided": numbers(30, 100)[:, ::2]}[layout]
    with xp.fused(size=0):
        mask = x > 0
        expected = ONE_STEP[name](x, mask)
    before, tiled = xp.fused.stats(), counts()["tiled"]
    with xp.fused(size=1):
        out = ONE_STEP[name](x, mask)
    after = xp.fused.stats()
    assert after["passes"] - before["passes"] == 1 and after["steps"] - before["steps"] == 1
    assert counts()["tiled"] == tiled
    assert same(out, expected) and xp.strided.strides(out) == xp.strided.strides(expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_who_reads_a_copy_reads_what_it_copies(order: str) -> None:
    x = numbers(30, 50) if order == "C" else numbers(50, 30).T
    with xp.fused(size=0):
        expected = xp.sum(xp.asarray(x, copy=True), axis=0), xp.sum(xp.asarray(x, copy=True) * 2)
    before = xp.fused.stats()
    with xp.fused(size=1):
        copy = xp.asarray(x, copy=True)
        total, twice = xp.sum(copy, axis=0), xp.sum(copy * 2)
        del copy
    after = xp.fused.stats()
    assert same(total, np.array(expected[0])) and same(twice, np.array(expected[1]))
    # Only the sums and the product.
    assert after["passes"] - before["passes"] == 2 and after["steps"] - before["steps"] == 3


def test_a_copy_keeps_what_was_there() -> None:
    x = numbers(30, 50)
    was = np.array(x).copy()
    with xp.fused(size=1):
        copy = xp.asarray(x, copy=True)
        y = copy + 1
        x += y
        z = copy - y
    assert same(copy, was) and same(y, was + 1) and same(z, was - (was + 1)) and same(x, was + (was + 1))


@pytest.mark.parametrize("count", [3, 4, 5, 9, 23])
def test_reductions_of_one_array(count: int, passes: Passes) -> None:
    x = numbers(6, 7)
    calls = [xp.sum, xp.max, xp.min, xp.prod, xp.any]
    y = x * 2
    found = [calls[k % 5](y, axis=k % 3 - 1) for k in range(count)]
    with xp.fused(size=0):
        expected = [calls[k % 5](x * 2, axis=k % 3 - 1) for k in range(count)]
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("reduces", [False, True])
@pytest.mark.parametrize("leaves", range(8, 20))
@pytest.mark.parametrize("count", [3, 4, 5, 8, 9, 12, 14])
def test_more_results_than_one_pass_stores(count: int, leaves: int, reduces: bool, passes: Passes) -> None:
    """With the largest number of leaves, values that later passes read again, and a reduction of all."""
    x = [numbers(6, 7, seed=k) for k in range(leaves)]

    def program() -> list[Any]:
        out = [a + b for a, b in itertools.pairwise(x)]
        out += [a - b for a, b in itertools.pairwise(x)]
        out = out[:count]
        last = x[-1] * x[0]
        for k in range(max(count, leaves)):
            last = last + out[k % count] * x[k % leaves]
        return [*out, xp.sum(last, axis=0)] if reduces else [*out, last]

    found = program()
    with xp.fused(size=0):
        expected = program()
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))


def test_later_passes_read_what_earlier_ones_stored(passes: Passes) -> None:
    x = numbers(50)
    before = xp.fused.stats()["steps"]
    out = [xp.sin(x) * x]
    while len(out) < 8:
        out.append(xp.sin(out[-1]) * x)
    float(out[0][0])
    assert 1 < passes() <= 4
    assert xp.fused.stats()["steps"] - before <= 18  # 16, and the steps of one result that is computed again
    with xp.fused(size=0):
        for k, y in enumerate(out):
            assert same(y, xp.sin(out[k - 1] if k else x) * x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_equal_steps_are_found_by_all_that_makes_them_equal(dtype: xp.DType, passes: Passes) -> None:
    """Casts to all dtypes, and operations next to a copy and a `where`: no two are confused."""
    x, y = xp.astype(numbers(40), dtype), xp.astype(numbers(40, seed=4), dtype)
    chains: list[list[tuple[Callable[..., Any], ...]]] = [[(xp.astype, x, to) for to in DTYPES]]
    for operation in operations.OPS:
        if operation.public:
            call = function_of(operation)
            chains.append(
                [(xp.astype, x, dtype), (xp.where, x == y, x, y), (call, x), (call, x, y), (call, y, x)]
            )
    for calls in chains:
        found = [attempt(functools.partial(*call)) for call in calls]
        with xp.fused(size=0):
            expected = [attempt(functools.partial(*call)) for call in calls]
        for a, b in zip(found, expected, strict=True):
            assert same(a, b) if isinstance(b, xp.Array) else a == b


def test_the_end_of_a_block_computes_what_its_thread_deferred() -> None:
    x = numbers(100)
    with xp.fused(size=1):
        elsewhere = in_thread(lambda: x * 2)
        with xp.fused(size=1):
            here = x + 1
            assert xp.fused.stats()["pending"] == 2
        assert xp.fused.stats()["pending"] == 1
        assert same(elsewhere, np.array(x) * 2) and same(here, np.array(x) + 1)


def test_other_threads_add_no_reduction(passes: Passes) -> None:
    x = numbers(1000)
    y = x * 2
    before = live()
    total = in_thread(lambda: xp.max(y))
    assert passes() > 0 and live() >= before + 8000
    assert float(total) == 2 * np.array(x).max()
