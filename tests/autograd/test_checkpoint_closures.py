"""`checkpoint`: arrays that the function closes over, and that are overwritten after the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import GradientError, checkpoint, grad, vmap

X = [1.0, 2.0]


class Layer:
    def __init__(self, c: Any) -> None:
        self.c = c

    def method(self, u: Any) -> Any:
        return u * self.c * u


def filled(u: Any, c: Any) -> Any:
    y = xp.zeros_like(u) * u
    y[...] = c
    return y


# Functions that take an untracked array and return a function of a tracked one that reads both.
CLOSURES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "product": lambda c: lambda u: u * c * u,
    "sum": lambda c: lambda u: (u + c) ** 2,
    "left operand": lambda c: lambda u: (c - u) ** 2,
    "matmul": lambda c: lambda u: xp.sin(xp.matmul(c, u)),
    "where": lambda c: lambda u: xp.where(xp.asarray([True, False]), c, u) ** 2 * u,
    "list": lambda c: lambda u: xp.stack([u, c]) ** 2,
    "list, first": lambda c: lambda u: xp.concat([c, u]) ** 2,
    "view": lambda c: lambda u: (u * c[:1]) ** 2,
    "written into another": lambda c: lambda u: filled(u, c) ** 2 * u,
    "added in place": lambda c: lambda u: (u * 1).__iadd__(c) ** 2,
    "attribute": lambda c: Layer(c).method,
    "function within": lambda c: lambda u: checkpoint(lambda v: v * c)(u) ** 2,
}


def overwrite(c: Any) -> None:
    c[0] = 100.0


def in_place(c: Any) -> None:
    c *= 2.0


def loss(c: Any, f: Any, write: Any, call: Any = checkpoint) -> Callable[[Any], Any]:
    def g(x: Any) -> Any:
        r = xp.sum(call(f)(x))
        if write is not None:
            write(c)
        return r

    return g


@pytest.mark.parametrize("write", [overwrite, in_place])
@pytest.mark.parametrize("name", CLOSURES)
def test_untracked_arrays_that_are_overwritten_are_refused(name: str, write: Any) -> None:
    x = xp.asarray(X)
    for _ in range(2):
        c = xp.asarray([3.0, 4.0])
        f = CLOSURES[name](c)
        expected = grad(loss(c, f, None, lambda f: f))(x)
        np.testing.assert_allclose(np.asarray(grad(loss(c, f, None))(x)), np.asarray(expected))
        with pytest.raises(
            GradientError, match="overwritten after the call that `checkpoint` makes"
        ) as caught:
            grad(loss(c, f, write))(x)
        assert f"{__file__}:" in str(caught.value)


def test_writes_of_other_elements_and_of_the_function_itself() -> None:
    c, buffer = xp.asarray([3.0, 4.0, 5.0, 6.0]), xp.zeros(2)

    def f(u: Any) -> Any:
        buffer[...] = c[:2]
        buffer[1] = 7.0
        return xp.sum(u * buffer * u)

    def g(x: Any) -> Any:
        r = checkpoint(f)(x) + checkpoint(f)(2 * x)
        c[2:] = 0.0
        return r

    assert grad(g)(xp.asarray(X)).tolist() == [2 * 1 * 3 * 5, 2 * 2 * 7 * 5]


def test_writes_before_the_call_and_after_the_gradient() -> None:
    c = xp.asarray([3.0, 4.0])
    f = checkpoint(lambda u: u * c * u)
    for k in range(3):
        c[0] = k + 1.0
        assert grad(lambda x: xp.sum(f(x)))(xp.asarray(X)).tolist() == [2.0 * (k + 1), 16.0]


def test_within_vmap_and_nested() -> None:
    c = xp.asarray([3.0, 4.0])
    inner = checkpoint(lambda u: u * c)

    def f(x: Any) -> Any:
        r = xp.sum(checkpoint(lambda u: inner(u) ** 2)(x))
        c[1] = 0.5
        return r

    with pytest.raises(GradientError, match="overwritten after the call"):
        grad(f)(xp.asarray(X))
    with pytest.raises(GradientError, match="overwritten after the call"):
        vmap(grad(f))(xp.asarray([X, X]))


def test_arguments_keep_their_values() -> None:
    """Constants that the function gets as arguments may be overwritten after the call."""

    def g(x: Any) -> Any:
        c = xp.asarray([3.0, 4.0])
        r = checkpoint(lambda u, c: u * (c + 1) * u)(x, c)
        c[...] = 100.0
        return xp.sum(r)

    assert grad(g)(xp.asarray(X)).tolist() == [8.0, 20.0]


def test_errors_end_the_first_call() -> None:
    """Logging ends with the call: arrays that are read later may be overwritten."""

    def fails(u: Any) -> Any:
        raise ZeroDivisionError

    def g(x: Any) -> Any:
        with pytest.raises(ZeroDivisionError):
            checkpoint(fails)(x)
        c = xp.asarray([3.0, 4.0])
        y = x * c
        c[...] = 0.0
        return xp.sum(y * x)

    assert grad(g)(xp.asarray(X)).tolist() == [6.0, 16.0]
