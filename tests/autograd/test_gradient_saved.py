"""Values that gradients need and that are overwritten: copied before, or refused; never another value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from program_helpers import live
from written_arrays import Function, X, arr, squared

import stride0 as xp
from stride0.autograd import (
    GradientError,
    Tape,
    checkpoint,
    grad,
    vjp,
)
from stride0.testing import check_grad


def test_overwritten_saved_value() -> None:
    def f(x: Any) -> Any:
        y = xp.exp(x)
        z = y * y
        y[1] = 0.0
        return y + z

    check_grad(f, arr(1.0, 2.0), order=3)


@pytest.mark.parametrize(
    "write",
    [
        lambda c, x: c.__setitem__(0, 5.0),
        lambda c, x: c.__iadd__(1.0),
        lambda c, x: c[1:].__imul__(2.0),
        lambda c, x: c.__setitem__(xp.asarray([True, False]), 9.0),
        lambda c, x: c.__setitem__(xp.asarray([1]), 9.0),
        lambda c, x: c.__setitem__(..., x),
        lambda c, x: xp.flip(c).__iadd__(1.0),
    ],
)
def test_overwritten_constants(write: Function) -> None:
    def f(x: Any) -> Any:
        c = arr(3.0, 4.0)
        y = xp.sum(c * x * x)
        write(c, x)
        return y

    assert grad(f)(arr(1.0, 2.0)).tolist() == [6, 16]


def test_values_are_copied_where_they_are_written_over_and_once() -> None:
    def f(x: Any, write: Function | None) -> tuple[int, list[float]]:
        with Tape() as tape:
            x = tape.watch(x)
            c, row = xp.ones((3, 500, 500)), xp.broadcast_to(xp.full((1, 500), 2.0), (500, 500))
            y = xp.sum(x * c[0]) + xp.sum(x * c[0]) + xp.sum(x * c[1]) + xp.sum(x * row)
            before = live()
            if write is not None:
                write(c, row)
            after = live()
        return after - before, tape.gradient(y, x).tolist()

    x, size = xp.asarray(1.0), 8 * 250_000
    expected = f(x, None)[1]
    for write, copies in [
        (lambda c, row: c[2].__setitem__(..., 5.0), 0),
        (lambda c, row: c[0].__setitem__((3, 3), 5.0), 1),
        (lambda c, row: c.__setitem__(..., 5.0), 2),
    ]:
        found, gradient = f(x, write)
        assert copies * size <= found < (copies + 0.5) * size
        assert gradient == expected
    # Values that no gradient can need any more are not copied.
    c = xp.ones((500, 500))
    grad(lambda x: xp.sum(x * c))(x)
    with Tape():
        before = live()
        c[...] = 2.0
        assert live() - before < size / 2


@pytest.mark.parametrize("count", [10, 200, 1000])
def test_many_saved_values_of_one_array(count: int) -> None:
    """From a certain number on, saved values are sorted by address."""

    def f(x: Any, write: bool) -> Any:
        c = xp.arange(1.0, 3.0 * count + 1)
        total = xp.sum(x) * 0
        for k in range(count):
            total = total + x * c[3 * k] * c[k]
            if write:
                c[2 * k] = -5.0
                c[k : k + 4] += 0.5
                c[k : k + 4] -= 0.5
        return total

    def expected() -> float:
        c, total = np.arange(1.0, 3.0 * count + 1), 0.0
        for k in range(count):
            total += c[3 * k] * c[k]
            c[2 * k] = -5.0
        return float(total)

    assert float(grad(f)(xp.asarray(2.0), True)) == pytest.approx(expected())
    assert float(grad(f)(xp.asarray(2.0), False)) == pytest.approx(
        float(np.sum(np.arange(1.0, 3 * count + 1)[::3] * np.arange(1.0, count + 1)))
    )


def test_masks_and_indices_are_saved_too() -> None:
    def f(x: Any) -> Any:
        mask, index = xp.asarray([True, False]), xp.asarray([1, 1])
        y = xp.where(mask, x, 2 * x)
        z = x[index] + x[mask]
        mask[0], index[0] = False, 0
        return xp.sum(y), xp.sum(z)

    assert_allclose(np.asarray(grad(lambda x: f(x)[0])(arr(1.0, 2.0))), [1, 2])
    assert_allclose(np.asarray(grad(lambda x: f(x)[1])(arr(1.0, 2.0))), [2, 2])


@pytest.mark.parametrize(
    "f",
    [
        lambda x, order: xp.permute_dims(xp.reshape(x, (2, 2)), order),
        lambda x, order: xp.roll(xp.reshape(x, (2, 2)), [1, 0], axis=order),
        lambda x, order: xp.stack([x, x * 2])[order],
        lambda x, order: xp.moveaxis(xp.reshape(x, (2, 2)), [0, 1], order),
    ],
)
def test_lists_may_change_afterwards(f: Function) -> None:
    """The rules see arguments as they were in the call."""

    def loss(x: Any, change: bool) -> Any:
        order = [1, 0]
        try:
            y = f(x, order)
        except TypeError:
            y = f(x, tuple(order))
        if change:
            order[:] = [0, 1]
        return xp.sum(y * xp.reshape(xp.arange(float(y.size)), y.shape))

    x = arr(*X)
    assert_allclose(np.asarray(grad(loss)(x, True)), np.asarray(grad(loss)(x, False)))


def test_disjoint_writes_are_no_error() -> None:
    def f(x: Any) -> Any:
        z = xp.zeros((4, 4))
        z[:, 0] = x
        y = xp.exp(z[:, 0])
        z[:, 1] = y
        z[::2, 2::2] = 1.0
        return xp.sum(y * z[:, 0])

    assert_allclose(np.asarray(grad(f)(arr(*X))), np.exp(X) * (1 + np.asarray(X)))


def test_results_overwritten_before_the_backward_pass() -> None:
    x = arr(1.0, 2.0)
    y, pullback = vjp(xp.exp, x)
    y += 1
    assert_allclose(np.asarray(pullback(arr(1.0, 1.0))[0]), np.exp([1, 2]))
    _, pullback = vjp(xp.sin, x)
    x[0] = 7.0
    assert_allclose(np.asarray(pullback(arr(1.0, 1.0))[0]), np.cos([1, 2]))


def test_constants_saved_by_a_backward_pass() -> None:

    def f(x: Any) -> Any:
        c = arr(3.0, 3.0)
        _, pullback = vjp(lambda y: y * c, arr(1.0, 1.0))
        (g,) = pullback(x)
        c[...] = 100.0
        return xp.sum(g)

    assert grad(f)(arr(1.0, 2.0)).tolist() == [3, 3]


@pytest.mark.parametrize("what", ["argument", "constant"])
@pytest.mark.parametrize(
    "call", [checkpoint(lambda x, c: c * x**2), squared], ids=["checkpoint", "custom_vjp"]
)
def test_arguments_overwritten_after_the_call(call: Function, what: str) -> None:
    """checkpoint and custom_vjp do not use the new values."""

    def f(x: Any) -> Any:
        y, c = x * 1, arr(3.0, 3.0)
        z = call(y, c)
        if what == "argument":
            y[...] = 0.0
        else:
            c[...] = 0.0
        return xp.sum(z)

    assert grad(f)(arr(1.0, 2.0)).tolist() == [6, 12]


def test_checkpointed_function_that_writes_to_its_argument() -> None:
    """The second run starts from the original argument, not from the overwritten one."""

    def inner(u: Any) -> Any:
        u *= 2
        return xp.sum(u**2)

    assert grad(lambda x: checkpoint(inner)(x * 1))(arr(1.0, 2.0)).tolist() == [8, 16]


@pytest.mark.parametrize(
    "write",
    [
        lambda c, v, r: v.__setitem__(..., 0.0),
        lambda c, v, r: c.__setitem__(..., 0.0),
        lambda c, v, r: c.__iadd__(1.0),
        lambda c, v, r: c.__setitem__(slice(1), r),
        lambda c, v, r: [c.__setitem__(0, 2.0) for _ in range(300)],
    ],
)
def test_what_a_checkpointed_function_closes_over_is_overwritten(write: Function) -> None:
    def f(x: Any) -> Any:
        c = x * 2
        v = c[1:]
        r = checkpoint(lambda u: xp.sum(u * c * u))(x)
        write(c, v, r)
        return r + xp.sum(c)

    x = xp.asarray([0.7, -1.3, 2.1, 0.4])
    with pytest.raises(GradientError, match="after the call that `checkpoint` makes again"):
        grad(f)(x)
    with Tape() as tape:
        y = tape.watch(x)
        c = y * 2
        r = checkpoint(lambda u: xp.sum(u * c * u))(y)
        write(c, c[1:], r)
        with pytest.raises(GradientError, match="after the call that `checkpoint` makes again"):
            tape.gradient(r, y)
    assert_allclose(np.asarray(grad(lambda x: xp.sum(x * x))(x)), 2 * np.asarray(x))


def test_what_a_checkpointed_function_writes_itself() -> None:
    def inner(c: Any, u: Any) -> Any:
        w = c * u
        w[0] = 3.0
        w[1:] *= u[1:]
        # A write next to the elements that are read.
        return checkpoint(lambda t: xp.sum(t * t * c[:2]))(w[:2]) + xp.sum(w)

    def f(call: Any) -> Any:
        def g(x: Any) -> Any:
            c = x * 2
            r = call(lambda u: inner(c, u))(x)
            d = c[3:]
            d *= 1.0
            return r

        return g

    x = xp.asarray([0.7, -1.3, 2.1])
    for order in (1, 2):
        a, b = f(checkpoint), f(lambda h: h)
        if order == 2:
            a, b = (lambda x, h=h: xp.sum(grad(h)(x) ** 2) for h in (a, b))
        assert_allclose(np.asarray(grad(a)(x)), np.asarray(grad(b)(x)), rtol=1e-12)
