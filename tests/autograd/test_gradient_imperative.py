"""`Tape`: the array with respect to which gradients are taken, after it has been overwritten in place."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import GradientError, Tape, grad, stop_gradient, vmap

Write = Callable[[Any, Any, Any], Any]
X = [0.7, -1.3, 2.1]


def through_itself(x: Any, a: Any, part: Any) -> None:
    x *= 2.0


def elements(x: Any, a: Any, part: Any) -> None:
    x[1] = x[0] * x[2]


def all_by_constants(x: Any, a: Any, part: Any) -> None:
    x[...] = 1.5


def through_the_original(x: Any, a: Any, part: Any) -> None:
    a[0] = 5.0


def through_a_view(x: Any, a: Any, part: Any) -> None:
    part *= x[:2]


def all_through_a_view(x: Any, a: Any, part: Any) -> None:
    x[::-1][...] = x * 3


def often(x: Any, a: Any, part: Any) -> None:
    for k in range(100):
        part[k % 2] *= 1.1


WRITES: list[Write] = [
    through_itself,
    elements,
    all_by_constants,
    through_the_original,
    through_a_view,
    all_through_a_view,
    often,
]


def loss(x: Any, a: Any, write: Write, read: bool) -> Any:
    y = xp.sum(x**2)
    write(x, a, x[1:])
    if read:
        x + 0.0
    return y, y + xp.sum(x**3)


@pytest.mark.parametrize("write", WRITES)
def test_what_was_tracked_stands_for_its_values_then(write: Write) -> None:
    """The same holds for an argument of `grad`, whether or not the array was read after the write."""
    for read, number in itertools.product((False, True), (0, 1)):
        a = xp.asarray(X)
        with Tape() as tape:
            x = tape.watch(a)
            y = loss(x, a, write, read)[number]
            within = tape.gradient(y, x)
        found = tape.gradient(y, x)
        a = xp.asarray(X)
        expected = grad(lambda x, a=a, read=read, number=number: loss(x, a, write, read)[number])(a)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-14)
        np.testing.assert_allclose(np.asarray(within.round(12)), np.asarray(expected.round(12)))
        if number == 0:
            np.testing.assert_allclose(np.asarray(found), 2 * np.asarray(X))


def test_constants_have_no_gradient() -> None:
    for read in (False, True):
        with Tape() as tape:
            y = tape.watch(xp.asarray(X)) * 1.0
            z = xp.sum(y**2)
            stop_gradient(y)[...] = 1.5
            if read:
                y + 0.0
        with pytest.raises(GradientError, match="not tracked any more: it was overwritten") as caught:
            tape.gradient(z, y)
        assert f"{__file__}:" in str(caught.value)


@pytest.mark.parametrize("write", WRITES)
def test_any_other_array_stands_for_what_it_holds(write: Write) -> None:
    for read in (False, True):
        a = xp.asarray(X)
        with Tape() as tape:
            y = tape.watch(a) * 1.0
            first = xp.sum(y**2)
            write(y, y[:], y[1:])
            if read:
                y + 0.0
            second = first + xp.sum(y**3)
        with pytest.raises(GradientError, match="was overwritten, and the result does not depend") as caught:
            tape.gradient(first, y)
        assert f"{__file__}:" in str(caught.value)
        np.testing.assert_allclose(np.asarray(tape.gradient(second, y)), 3 * np.asarray(y) ** 2, rtol=1e-14)


def test_writes_after_the_block() -> None:
    """Gradients by watched arrays do not change; other arrays that are written to have no gradient."""
    for write in WRITES:
        a = xp.asarray(X)
        with Tape() as tape:
            x = tape.watch(a)
            y = x * 2
            z = xp.sum(x * y)
        write(x, a, x[1:])
        x + 0.0
        np.testing.assert_allclose(np.asarray(tape.gradient(z, x)), 4 * np.asarray(X))
        np.testing.assert_allclose(np.asarray(tape.gradient(z, y)), X)
    y += 1.0
    with pytest.raises(GradientError, match="overwritten"):
        tape.gradient(z, y)


def test_arrays_without_a_path_have_the_gradient_zero() -> None:
    with Tape() as tape:
        x, other = tape.watch((xp.asarray(X), xp.asarray(X)))
        y = other * 2
        view = y[1:]
        z = xp.sum(x)
        other *= 2.0
    for array in (other, y, view):
        assert not xp.any(tape.gradient(z, array) != 0)


def test_second_order_and_nested_tapes() -> None:
    def f(x: Any) -> Any:
        y = xp.sum(x**3)
        x *= x
        return y + xp.sum(x)

    with Tape() as outer:
        x = outer.watch(xp.asarray(X))
        with Tape() as inner:
            u = inner.watch(x)
            y = f(u)
        g = xp.sum(inner.gradient(y, u) ** 2)
    expected = grad(lambda x: xp.sum((3 * x**2 + 2 * x) ** 2))(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(outer.gradient(g, x)), np.asarray(expected), rtol=1e-13)


def test_within_vmap() -> None:
    def f(a: Any) -> Any:
        with Tape() as tape:
            x = tape.watch(a + 0.0)
            y = xp.sum(x**2)
            part = x[1:]
            part *= 3.0
        return tape.gradient(y, x)

    a = xp.asarray([X, [1.0, 2.0, 3.0]])
    np.testing.assert_allclose(np.asarray(vmap(f)(a)), 2 * np.asarray(a))


def test_a_tape_keeps_no_array_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        tape = Tape()
        with tape:
            for _ in range(3):
                x = tape.watch(xp.asarray(X))
            known = weakref.ref(x)
            y = xp.sum(x)
            assert len(tape._leaves) == 1
            del x
            assert known() is None
            assert not tape._leaves
        with tape:
            kept = tape.watch(xp.asarray(X))
        here = weakref.ref(tape)
        del tape, y
        assert here() is None
        assert kept.tolist() == X
    finally:
        gc.enable()
