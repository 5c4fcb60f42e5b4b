"""Backward passes that share nodes, what they may overwrite, and what a recorded call costs in objects."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from free_threading import ONE_THREAD_FOR_A_TAPE, only_with_the_lock
from numpy.testing import assert_array_equal

import stride0 as xp
from stride0.autograd import Tape, custom_vjp, grad, vjp

X = xp.asarray([0.5, -1.25, 2.0])


def probed(during: Callable[[], None]) -> tuple[Any, Callable[[Any], Any], Any]:
    """Value, pullback and expected gradient of a function whose backward pass calls `during` halfway."""

    @custom_vjp
    def probe(x: Any) -> Any:
        return x * 1

    def backward(_: None, g: Any) -> tuple[Any]:
        during()
        return (g,)

    probe.defvjp(lambda x: (x * 1, None), backward)
    value, pullback = vjp(lambda x: xp.sum(xp.sin(probe(x * x) + x) * x), X)
    x = np.asarray(X)
    return value, pullback, np.cos(x * x + x) * (2 * x + 1) * x + np.sin(x * x + x)


def test_a_pass_within_a_pass_through_the_same_nodes() -> None:
    found: list[Any] = []
    depth = 0

    def during() -> None:
        nonlocal depth
        depth += 1
        if depth < 4:
            found.append(pullback(xp.asarray(1.0))[0])

    _, pullback, expected = probed(during)
    found.append(pullback(xp.asarray(1.0))[0])
    depth = 4
    found.append(pullback(xp.asarray(1.0))[0])
    assert len(found) == 5
    for g in found:
        np.testing.assert_allclose(np.asarray(g), expected, rtol=1e-14)


@only_with_the_lock(ONE_THREAD_FOR_A_TAPE)
def test_passes_of_two_threads_through_the_same_nodes() -> None:
    """The first pass waits in the middle until the second and the third have ended."""
    entered, done = threading.Event(), threading.Event()
    first = threading.get_ident()

    def during() -> None:
        if threading.get_ident() == first:
            entered.set()
            assert done.wait(30)

    _, pullback, expected = probed(during)
    others: list[Any] = []

    def run() -> None:
        assert entered.wait(30)
        others.extend(pullback(xp.asarray(1.0))[0] for _ in range(2))
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    mine = pullback(xp.asarray(1.0))[0]
    thread.join()
    assert len(others) == 2
    for g in (mine, *others):
        np.testing.assert_allclose(np.asarray(g), expected, rtol=1e-14)


def test_a_pass_that_ends_in_an_exception_leaves_no_trace() -> None:
    fails = True

    def during() -> None:
        if fails:
            raise RuntimeError("from the rule")

    _, pullback, expected = probed(during)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="from the rule"):
            pullback(xp.asarray(1.0))
    fails = False
    np.testing.assert_allclose(np.asarray(pullback(xp.asarray(1.0))[0]), expected, rtol=1e-14)


def test_a_tape_that_is_freed_during_a_pass_of_another_one() -> None:
    """Its nodes are still needed, because they lie on the path."""
    tapes = [Tape()]

    @custom_vjp
    def probe(x: Any) -> Any:
        return x * 1

    def backward(_: None, g: Any) -> tuple[Any]:
        tapes.clear()
        return (g,)

    probe.defvjp(lambda x: (x * 1, None), backward)
    tapes[0].start()
    with Tape() as inner:
        a = inner.watch(X)
        y = a * tapes[0].watch(X * 2)
    # Recorded only for the outer tape.
    z = xp.sum(probe(xp.sin(y)))
    found = inner.gradient(z, a)
    assert not tapes
    x = np.asarray(X)
    np.testing.assert_allclose(np.asarray(found), np.cos(2 * x * x) * 2 * x, rtol=1e-14)


def test_sums_of_cotangents_overwrite_nothing_that_the_caller_has() -> None:
    """Cotangents are added in place only if just the pass refers to them; the caller's stay unchanged."""
    kept: list[tuple[Any, Any]] = []

    @custom_vjp
    def keeping(x: Any) -> Any:
        return x * 2

    def backward(_: None, g: Any) -> tuple[Any]:
        out = g * 2
        kept.extend((a, np.array(a)) for a in (g, out))
        return (out,)

    keeping.defvjp(lambda x: (x * 2, None), backward)

    def f(x: Any) -> Any:
        y = x * 1
        return y, keeping(y) + y * 3 + keeping(y) - y / 4 + y

    seeds = (xp.asarray([1.0, 2.0, 3.0]), xp.asarray([0.5, 0.25, 7.0]))
    copies = [np.array(s) for s in seeds]
    _, pullback = vjp(f, X)
    for _ in range(2):
        (g,) = pullback(seeds)
        np.testing.assert_allclose(np.asarray(g), copies[0] + 7.75 * copies[1], rtol=1e-15)
    for seed, copy in zip(seeds, copies, strict=True):
        assert_array_equal(np.asarray(seed), copy)
    assert len(kept) == 8
    for array, copy in kept:
        assert_array_equal(np.asarray(array), copy)


def test_the_same_cotangent_in_two_places() -> None:
    """`x + y` gives both operands one cotangent, `x + x` has one operand twice: no addition is in place."""

    def f(x: Any, y: Any) -> Any:
        a, b = x * 1, y * 1
        c = a + b
        return xp.sum(c + c + a * 3 + b * 5)

    found = grad(f, argnums=(0, 1))(X, X * 2)
    assert_array_equal(np.asarray(found[0]), [5, 5, 5])
    assert_array_equal(np.asarray(found[1]), [7, 7, 7])


def test_cotangents_of_elements_are_added_to_that_of_the_array() -> None:
    """In any order of the reads, and also for elements that are read more than once."""
    x = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    index, mask = xp.asarray([1, 0, 1]), xp.asarray([[True, False, True], [False, False, True]])
    reads: list[Callable[[Any], Any]] = [
        lambda x: x[0, 1] * 3,
        lambda x: xp.sum(x[1] * X),
        lambda x: xp.sum(x[:, ::2] * 5),
        lambda x: xp.sum(x[index] ** 2),
        lambda x: xp.sum(x[mask] * 7),
        lambda x: xp.sum(x * x),
        lambda x: x[-1, -1],
    ]
    expected = sum(np.asarray(grad(read)(x)) for read in reads)
    for first in range(len(reads)):
        order = reads[first:] + reads[:first]
        found = grad(lambda x, order=order: sum(read(x) for read in order))(x)
        assert_array_equal(np.asarray(found), expected)
        # In the second derivative the cotangents are tracked, which takes another path.
        second = grad(lambda x, order=order: xp.sum(grad(lambda x: sum(read(x) for read in order))(x)))(x)
        np.testing.assert_array_equal(np.asarray(second), [[4, 4, 4], [6, 6, 6]])


A = xp.asarray([[0.5, 0.2, 0.1], [0.1, 0.7, -0.4], [1.0, -0.3, 0.25]])
SHAPE, KEY = (3, 1), (slice(None), 0)
STEPS: dict[str, Callable[[Any], Any]] = {
    "x * y + 2": lambda x: x * X + 2,
    "x / y - x": lambda x: x / X - x,
    "-sin(x)": lambda x: -xp.sin(x),
    "exp(cos(x))": lambda x: xp.exp(xp.cos(x)),
    "reshape": lambda x: xp.reshape(xp.reshape(x, SHAPE), (3,)),
    "key": lambda x: x[KEY[0]],
    "slice of reshape": lambda x: xp.reshape(x, SHAPE)[KEY],
    "sum": lambda x: x - xp.sum(x),
    "A @ x": lambda x: A @ x,
    "stack": lambda x: xp.stack([x[0], x[1], x[2]]),
}


@pytest.mark.parametrize("name", STEPS)
def test_recorded_calls_make_nothing_for_the_garbage_collector(name: str) -> None:
    """Its passes over the objects of long graphs took a third of the time of a gradient."""
    step, counts = STEPS[name], []

    def f(x: Any) -> Any:
        for _ in range(400):
            x = step(x)
        counts.append(len(gc.get_objects()))
        return xp.sum(x)

    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        vjp(f, X)
    finally:
        gc.enable()
    assert counts[0] - before < 100
