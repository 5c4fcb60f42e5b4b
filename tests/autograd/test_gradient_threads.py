"""Gradients in several Python threads at once: shared arrays, and tapes, which have one thread each.

Threads without gradients: tests/core/plan/test_free_threading.py.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import queue
from typing import Any

import numpy as np
import pytest
from free_threading import (
    FREE_THREADED,
    ONE_THREAD_FOR_A_TAPE,
    ROUNDS,
    THREADS,
    in_each,
    needs_free_threads,
    only_with_the_lock,
    together,
)

import stride0 as xp
from stride0 import memory
from stride0.autograd import GradientError, Tape, checkpoint, grad, value_and_grad, vjp, vmap


def test_gradients_of_shared_parameters() -> None:
    w, b = xp.arange(12.0).reshape(3, 4), xp.ones(4)

    def loss(w: Any, b: Any, x: Any) -> Any:
        y = x @ w + b
        y[0] *= 2.0
        return xp.sum(xp.tanh(y))

    x = xp.full((5, 3), 0.01)
    expected = [np.asarray(g) for g in value_and_grad(loss, argnums=(0, 1))(w, b, x)[1]]

    def work(number: int) -> None:
        for _ in range(ROUNDS // 8):
            found = value_and_grad(loss, argnums=(0, 1))(w, b, x)[1]
            for g, other in zip(found, expected, strict=True):
                assert np.array_equal(np.asarray(g), other)

    in_each(work)


def test_writes_to_a_saved_array_of_another_thread() -> None:
    """In the other thread the array is untracked; the gradient uses the values that were read."""
    x = xp.ones(10)

    def differentiate() -> None:
        for _ in range(ROUNDS):
            g = grad(lambda y: xp.sum(y * x * y))(xp.ones(10))
            assert bool(xp.all((g == 2.0) | (g == 3.0) | (g == 4.0)))

    def write() -> None:
        for k in range(ROUNDS):
            x[k % 10] = 2.0
            y = x
            y *= 1.0

    together(differentiate, differentiate, write, write)


@pytest.mark.parametrize(("size", "each"), [(8, 1), (1600, 40)])
def test_no_write_of_several_threads_is_forgotten(size: int, each: int) -> None:
    """Threads write to separate elements; saved values are copied before the first write."""
    threads = size // each if each == 1 else THREADS
    for _ in range(ROUNDS // 4 if each == 1 else ROUNDS // 50):
        x = xp.ones(size)
        tape = Tape()
        with tape:
            w = tape.watch(xp.ones(1))
            products = [xp.sum(w * x[k : k + 1]) for k in range(threads * each)]

        def work(number: int, x: Any = x) -> None:
            for k in range(number * each, (number + 1) * each):
                x[k] = 2.0

        in_each(work, threads)
        for product in products:
            assert tape.gradient(product, w).tolist() == [1.0]


def test_a_value_that_several_threads_overwrite_is_copied_before_the_first_of_them() -> None:
    for _ in range(ROUNDS // 10):
        x = xp.ones(4096)
        tape = Tape()
        with tape:
            w = tape.watch(xp.ones(1))
            products = [xp.sum(w * x), xp.sum(w * x[::2])]

        def work(number: int, x: Any = x) -> None:
            x[number * 512 : (number + 1) * 512] = 2.0

        in_each(work)
        assert [tape.gradient(product, w).tolist() for product in products] == [[4096.0], [2048.0]]


def recorded() -> tuple[Tape, Any, Any]:
    tape = Tape()
    with tape:
        x = tape.watch(xp.ones(3))
        y = xp.sum(xp.sin(x) * x)
    return tape, x, y


def test_a_tape_goes_from_thread_to_thread() -> None:
    tape, x, y = recorded()
    expected = np.sin(1) + np.cos(1)
    (found,) = together(lambda: tape.gradient(y, x))
    np.testing.assert_allclose(np.asarray(found), expected)
    _, pullback = vjp(lambda x: xp.sum(xp.sin(x) * x), xp.ones(3))
    (found,) = together(lambda: pullback(xp.asarray(1.0))[0])
    np.testing.assert_allclose(np.asarray(found), expected)


@needs_free_threads
def test_an_open_tape_belongs_to_one_thread() -> None:
    tape = Tape()
    with tape:
        x = tape.watch(xp.ones(3))
        y = xp.sum(x * x)
        for call in (lambda: x + 1.0, lambda: xp.sum(x), lambda: tape.gradient(y, x)):
            with pytest.raises(GradientError, match="another thread uses the tape"):
                together(call)
        # Other threads may compute with untracked arrays.
        together(lambda: xp.ones(3) * 2.0)
    np.testing.assert_allclose(np.asarray(tape.gradient(y, x)), 2)


def test_a_tape_that_another_thread_stops_is_free() -> None:
    def open_one() -> tuple[Tape, Any, Any]:
        tape = Tape()
        tape.start()
        x = tape.watch(xp.ones(3))
        return tape, x, xp.sum(x * x)

    ((tape, x, y),) = together(open_one)
    together(tape.stop)
    np.testing.assert_allclose(np.asarray(tape.gradient(y, x)), 2)
    (found,) = together(lambda: tape.gradient(y, x))
    np.testing.assert_allclose(np.asarray(found), 2)


def test_what_a_tape_keeps_is_freed_wherever_its_last_reference_is_dropped() -> None:
    """This also holds if another thread opened it, and its results still exist."""

    def open_one() -> list[Any]:
        tape = Tape()
        tape.start()
        # Saved values are computed at once, for any default of the process.
        with xp.fused(size=1 << 40):
            y = tape.watch(xp.ones(1000)) + 0.0
            for _ in range(8):
                y = xp.sin(y) * y
        return [tape, y]

    together(open_one)
    before = memory.stats()["live_bytes"]
    (held,) = together(open_one)
    assert memory.stats()["live_bytes"] - before > 80_000
    del held[0]
    assert memory.stats()["live_bytes"] - before <= 8000


def test_what_tapes_keep_is_freed_while_other_tapes_track_the_same_arrays() -> None:
    before = memory.stats()["live_bytes"]
    for _ in range(ROUNDS // 10):
        outer = Tape()
        with outer:
            x = outer.watch(xp.ones(300))

            def differentiate(x: Any = x) -> Any:
                with contextlib.suppress(GradientError):
                    return value_and_grad(lambda w: xp.sum(xp.sin(w) * x))(xp.ones(300))

            kept = [differentiate(), xp.sum(x * x)]
        together(*[differentiate] * 3, lambda kept=kept: kept[0] is None)
        together(functools.partial(kept.clear), differentiate)
        del outer, x, kept, differentiate
    assert memory.stats()["live_bytes"] == before


def test_histories_are_kept_for_the_tapes_of_other_threads() -> None:
    """One thread finds no tape and removes histories, while another opens a tape for the same array."""
    shared = xp.ones(4)

    def differentiate() -> None:
        for _ in range(2 * ROUNDS):
            np.testing.assert_array_equal(np.asarray(grad(lambda x: xp.sum(x * x))(shared)), 2)

    def read() -> None:
        for _ in range(4 * ROUNDS):
            shared + 1.0

    together(differentiate, read, read)


@only_with_the_lock(ONE_THREAD_FOR_A_TAPE)
def test_with_the_lock_other_threads_record_too() -> None:
    tape = Tape()
    with tape:
        x = tape.watch(xp.ones(3))
        (y,) = together(lambda: xp.sum(x * x))
    np.testing.assert_allclose(np.asarray(tape.gradient(y, x)), 2)


def test_passes_of_several_threads_over_one_tape() -> None:
    """They run one after the other; in a free-threaded interpreter they may be refused."""
    tape, x, y = recorded()
    expected = np.sin(1) + np.cos(1)
    refused = itertools.count()

    def work(number: int) -> None:
        for _ in range(ROUNDS // 4):
            try:
                found = tape.gradient(y, x)
            except GradientError as error:
                assert FREE_THREADED and "another thread uses the tape" in str(error)
                next(refused)
            else:
                np.testing.assert_allclose(np.asarray(found), expected)

    in_each(work)
    np.testing.assert_allclose(np.asarray(tape.gradient(y, x)), expected)


def test_long_graphs_that_other_threads_free() -> None:
    """Nodes are freed without recursion there too: the C stack of a thread is short."""

    def make() -> Any:
        tape = Tape()
        with tape:
            y = tape.watch(xp.ones(2))
            for _ in range(30_000):
                y = y * 1.0
        return tape, y

    ((tape, y),) = together(make)
    del tape, y
    held = [make()]
    together(held.clear)


def test_arrays_of_a_tape_are_freed_by_other_threads_while_it_records() -> None:
    passed: queue.Queue[Any] = queue.Queue(maxsize=32)

    def record() -> None:
        def f(x: Any) -> Any:
            y = x
            for _ in range(ROUNDS):
                y = y * 1.0
                passed.put(y + 1.0)
            return xp.sum(y)

        np.testing.assert_allclose(np.asarray(grad(f)(xp.ones(4))), 1)
        passed.put(None)

    def free() -> None:
        while passed.get() is not None:
            pass

    together(record, record, free, free)


def test_threads_take_turns_within_a_batched_gradient() -> None:
    """This matters with the GIL too: a thread may lose it between any two operations of a pass."""
    rng = np.random.default_rng(5)
    x, w = xp.asarray(rng.standard_normal((8, 4))), xp.asarray(rng.standard_normal((5, 4)))
    gradient = vmap(grad(lambda a: xp.sum(xp.tanh(w @ a) ** 2)))
    expected = np.asarray(gradient(x)).tobytes()

    def wrong(number: int) -> int:
        return sum(np.asarray(gradient(x)).tobytes() != expected for _ in range(150))

    assert in_each(wrong, threads=4) == [0, 0, 0, 0]


def test_threads_take_turns_within_checkpoints() -> None:
    """Writes of one thread are not taken for writes to arrays that another thread's function has read."""
    x = xp.asarray([0.3, -0.8])
    expected = np.asarray(grad(lambda a: xp.sum(xp.sin(a) * a))(x))

    def work(number: int) -> None:
        for _ in range(100):
            own = xp.asarray([2.0, 1.0])

            def f(a: Any, own: Any = own) -> Any:
                return xp.sin(a) * a * own / own

            g = grad(lambda a, f=f: xp.sum(checkpoint(f)(a)))(x)
            own[0] = 3.0
            np.testing.assert_allclose(np.asarray(g), expected, rtol=1e-5, atol=1e-8)

    in_each(work, threads=4)
