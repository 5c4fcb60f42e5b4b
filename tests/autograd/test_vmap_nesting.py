"""Every order of a few transformations, with `vmap` and with a loop instead of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import stride0 as xp
from stride0.autograd import checkpoint, custom_vjp, grad, hvp, jacobian, jvp, vmap

Function = Callable[[Any], Any]
W = xp.asarray([0.7, -0.4, 1.1])


def looped(f: Function) -> Function:
    return lambda x: xp.stack([f(x[i, ...]) for i in range(x.shape[0])])


def weighted(y: Any) -> Any:
    return xp.sum(y * xp.asarray(np.cos(1.0 + np.arange(y.size)).reshape(y.shape)))


@custom_vjp
def odd(x: Any) -> Any:
    return xp.sin(x) * 0.5


# Different from the derivative, so that a test shows where the rule is used.
odd.defvjp(lambda x: (xp.sin(x) * 0.5, x), lambda x, g: (g * xp.cos(x) * x,))


def base(x: Any) -> Any:
    y = xp.sin(x) + 0.1 * x * xp.sum(x * x)
    y[..., 0] *= 0.5
    return y + odd(x)


def by_closure(f: Function) -> Function:
    """A gradient by an array that the function closes over, which is the same for all examples."""
    return lambda x: x * xp.sum(grad(lambda w: weighted(f(x * w[0]) * w[1] + w[2]))(W))


def pushed(f: Function) -> Function:
    return lambda x: jvp(f, [x], [xp.cos(x)])[1]


def rows(f: Function) -> Function:
    def g(x: Any) -> Any:
        matrix = xp.reshape(jacobian(f)(x), (x.size, x.size))
        return xp.reshape(xp.reshape(x, (-1,)) @ matrix, x.shape)

    return g


STEPS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda f: grad(lambda x: weighted(f(x))),
    "closure": by_closure,
    "jvp": pushed,
    "jacobian": rows,
    "hvp": lambda f: lambda x: hvp(lambda z: weighted(f(z)), x, x * x),
    "checkpoint": checkpoint,
}


def built(names: tuple[str, ...], batch: Callable[[Function], Function]) -> Function:
    f: Function = base
    for name in names:
        f = batch(f) if name == "vmap" else STEPS[name](f)
    return f


def orders() -> list[tuple[str, ...]]:
    """All orders of up to three steps with a vmap, and of four steps with two vmaps that are not adjacent."""
    names = ["vmap", *STEPS]
    found = [p for n in (1, 2, 3) for p in itertools.product(names, repeat=n) if "vmap" in p]
    for first, second, third in itertools.product(STEPS, repeat=3):
        found += [
            ("vmap", first, "vmap", second),
            (first, "vmap", second, "vmap"),
            (first, "vmap", second, third),
        ]
    return list(dict.fromkeys(found))


ORDERS = orders()


@pytest.mark.parametrize("part", range(8))
def test_orders(part: int) -> None:
    for names in ORDERS[part::8]:
        shape = (2,) * names.count("vmap") + (3,)
        x = xp.asarray(np.random.default_rng(len(names)).uniform(-1, 1, shape))
        found, expected = built(names, vmap)(x), built(names, looped)(x)
        assert found.shape == expected.shape
        scale = float(xp.max(xp.abs(expected)))
        assert_allclose(
            np.asarray(found), np.asarray(expected), rtol=1e-8, atol=1e-9 * scale, err_msg=f"{names}"
        )
