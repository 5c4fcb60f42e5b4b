"""Derivatives of high order where values, cotangents and tangents are exactly 0, in every mode.

They are compared with arithmetic of Taylor series in NumPy, which has no cotangents.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import Tape, checkpoint, grad, hessian, hvp, jacobian, jvp, vjp, vmap

pytest.importorskip("mpmath")

from taylor_series import FUNCTIONS, Machine, Series, coefficients
from zero_programs import N, Stride, draw_program, sparse

Slope = Callable[..., Any]


def inner(gs: Any, vs: Any) -> Any:
    return sum((xp.sum(g * v) for g, v in zip(gs[1:], vs[1:], strict=True)), xp.sum(gs[0] * vs[0]))


def by_gradient(f: Slope, vs: Any) -> Slope:
    return lambda *xs: inner(grad(f, argnums=tuple(range(len(xs))))(*xs), vs)


def by_tangent(f: Slope, vs: Any) -> Slope:
    return lambda *xs: jvp(f, list(xs), list(vs))[1]


def by_tape(f: Slope, vs: Any) -> Slope:
    def slope(*xs: Any) -> Any:
        with Tape() as tape:
            watched = tape.watch(list(xs))
            # A tape refuses results that depend on nothing.
            y = f(*watched) + 0.0 * inner(watched, vs)
            return inner(tape.gradient(y, watched), vs)

    return slope


def by_batch(f: Slope, vs: Any) -> Slope:
    """The second of two equal examples."""

    def slope(*xs: Any) -> Any:
        pairs = [xp.broadcast_to(x, (2, *x.shape)) for x in xs]
        return vmap(by_gradient(f, vs))(*pairs)[1]

    return slope


def by_checkpoint(f: Slope, vs: Any) -> Slope:
    return by_gradient(checkpoint(f), vs)


def deferred(f: Slope, vs: Any) -> Slope:
    slope = by_gradient(f, vs)

    def run(*xs: Any) -> Any:
        with xp.fused(size=1):
            return slope(*xs)

    return run


MODES: dict[str, list[Callable[[Slope, Any], Slope]]] = {
    "grad": [by_gradient] * 3,
    "jvp": [by_tangent] * 3,
    "jvp of grad": [by_gradient, by_tangent, by_tangent],
    "grad of jvp": [by_tangent, by_gradient, by_gradient],
    "grad of jvp of grad": [by_gradient, by_tangent, by_gradient],
    "Tape": [by_tape] * 3,
    "vmap": [by_gradient, by_gradient, by_batch],
    "vmap of jvp": [by_tangent, by_tangent, by_batch],
    "checkpoint": [by_checkpoint, by_gradient, by_tangent],
    "fused": [by_gradient, by_gradient, deferred],
}


def check_program(seed: int) -> None:
    rng = random.Random(seed)
    program = draw_program(rng)
    xs = [sparse(rng, N), sparse(rng, N), sparse(rng, N, N)]
    vs = [np.asarray([rng.uniform(-1, 1) for _ in range(x.size)]).reshape(x.shape) for x in xs]
    with np.errstate(all="ignore"):
        series = program(Machine(3), *[Series.along(x, v, 3) for x, v in zip(xs, vs, strict=True)])
    expected = series.derivatives()
    size = max(map(abs, expected))
    if not size < 1e8:
        return
    stride = Stride()
    arrays, directions = [xp.asarray(x) for x in xs], [xp.asarray(v) for v in vs]
    for mode, ways in MODES.items():
        f: Slope = lambda x, y, w: program(stride, x, y, w)  # noqa: E731
        for order, way in enumerate(ways, 1):
            f = way(f, directions)
            got = float(f(*arrays))
            assert abs(got - expected[order]) <= 1e-9 * (1 + size), (seed, mode, order, got, expected)


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 10):
        check_program(seed)


# --- elementwise functions at 0, to order 5

# Points for functions that are not smooth at 0.
ELSEWHERE = {"log": 1.0, "sqrt": 1.0, "reciprocal": 1.0, "log2": 1.0, "log10": 1.0, "acosh": 2.0}


def derivatives_by(way: Any, f: Slope, x: Any, order: int) -> list[float]:
    found = []
    one = [xp.ones(())]
    for _ in range(order):
        f = way(f, one)
        found.append(float(f(x)))
    return found


@pytest.mark.parametrize("way", [by_gradient, by_tangent, by_tape, deferred])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_at_zero(name: str, way: Any) -> None:
    """Derivatives of `f(x)`, `x * f(x)`, `f(x) ** 2` and `f(x) * f(x)`; `x` and mostly `f(x)` are 0."""
    at = ELSEWHERE.get(name, 0.0)
    of = functools.partial(Stride().function, name)
    taylor = np.asarray(coefficients(name, at, 5))

    def times(a: Any, b: Any) -> Any:
        return np.convolve(a, b)[:6]

    factor = np.asarray([at, 1.0, 0, 0, 0, 0])
    for f, c in (
        (of, taylor),
        (lambda x: x * of(x), times(factor, taylor)),
        (lambda x: of(x) ** 2, times(taylor, taylor)),
        (
            lambda x: of(x) * of(x) * x,
            times(factor, times(taylor, taylor)),
        ),
    ):
        expected = [c[k] * math.factorial(k) for k in range(1, 6)]
        got = derivatives_by(way, f, xp.asarray(at), 5)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("way", [by_gradient, by_tangent])
@pytest.mark.parametrize("power", [2, 3, 4, 5, 2.0, "array", "integers"])
def test_powers_of_zero(power: Any, way: Any) -> None:
    n = 3 if isinstance(power, str) else int(power)
    exponent = {"array": xp.asarray(3.0), "integers": xp.asarray(3)}.get(power, power)
    got = derivatives_by(way, lambda x: x**exponent, xp.asarray(0.0), 5)
    assert got == [float(math.factorial(n)) if k == n else 0.0 for k in range(1, 6)]


# --- single cases


def test_layer_initialised_with_zeros_learns() -> None:
    """The weights of the last layer are 0, and so are the cotangents of all layers below."""
    w, b = xp.asarray([0.3, -0.7, 1.1]), xp.asarray([0.1, 0.2, -0.4])

    def loss(v: Any) -> Any:
        def u(t: Any) -> Any:
            return xp.sum(v * xp.tanh(w * t + b))

        return (grad(grad(u))(xp.asarray(0.5)) + 1.0) ** 2

    # u'' is linear in v, with the factors w**2 * tanh''.
    h = np.tanh(np.asarray(w) * 0.5 + np.asarray(b))
    np.testing.assert_allclose(
        np.asarray(grad(loss)(xp.zeros(3))), 2 * np.asarray(w) ** 2 * -2 * h * (1 - h * h), rtol=1e-13
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (4,), (200, 200)])
def test_zeros_of_every_dtype_and_size(dtype: str, shape: tuple[int, ...]) -> None:
    """Derivatives if passes defer, and if arrays are sliced."""
    x = xp.zeros((*shape, 2), dtype=getattr(xp, dtype))[..., 0]
    cube = lambda x: xp.sum(xp.real(x * x * x))  # noqa: E731
    third = grad(lambda x: xp.sum(xp.real(grad(lambda x: xp.sum(xp.real(grad(cube)(x))))(x))))(x)
    assert np.all(np.asarray(third) == 6)


def test_vjp_at_a_zero_cotangent_and_jvp_at_a_zero_tangent() -> None:
    x = xp.asarray([0.5, -0.2])
    f = lambda x: xp.sin(x) * x[::-1]  # noqa: E731
    zero = xp.zeros(2)
    by_cotangent = jacobian(lambda g: vjp(f, x)[1](g)[0])(zero)
    by_direction = jacobian(lambda v: jvp(f, [x], [v])[1])(zero)
    matrix = np.asarray(jacobian(f)(x))
    np.testing.assert_allclose(np.asarray(by_cotangent), matrix.T, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(by_direction), matrix, rtol=1e-14)
    mixed = hessian(lambda z: xp.sum(vjp(f, z[:2])[1](z[2:])[0]))(xp.concat([x, zero]))
    # Derivatives of sin(x0) * x1 and sin(x1) * x0, by the weight of each and by x.
    c, s = np.cos(np.asarray(x)), np.sin(np.asarray(x))
    expected = [[-s[0] * x[1] + c[0], c[1]], [c[0], -s[1] * x[0] + c[1]]]
    np.testing.assert_allclose(np.asarray(mixed)[:2, 2:], np.asarray(expected, dtype=float), rtol=1e-13)


UNTAKEN: dict[str, Callable[[Any], Any]] = {
    "log": xp.log,
    "sqrt": xp.sqrt,
    "reciprocal": lambda x: 1 / x,
    "divide": lambda x: xp.sin(x) / x,
    "pow": lambda x: x**0.5,
    "pow of arrays": lambda x: x**x,
    "log of log": lambda x: xp.log(xp.log(x + 1)),
    "product": lambda x: xp.log(x) * xp.sqrt(x),
    "product with a column": lambda x: (xp.log(x) * xp.ones((3, 1)))[0],
    "norm": lambda x: xp.stack([xp.linalg.vector_norm(xp.sqrt(xp.stack([x[0], x[0]]))), *xp.unstack(x[1:])]),
    "vecdot": lambda x: xp.vecdot(xp.sqrt(x[:, None]), xp.log(x[:, None])),
    "diagonal matrix": lambda x: xp.eye(3) @ xp.sqrt(x),
    "matrix": lambda x: xp.linalg.diagonal(xp.sqrt(x)[:, None] @ xp.log(x)[None, :]),
    "einsum": lambda x: xp.einsum("i,i->i", xp.sqrt(x), xp.log(x)),
    "outer": lambda x: xp.linalg.diagonal(xp.linalg.outer(xp.sqrt(x), 1 / x)),
    "atan2": lambda x: xp.atan2(x, x) * x**-0.5,
    "asin": lambda x: xp.asin(1 - x),
    "acosh": lambda x: xp.acosh(1 + x),
    "atanh": lambda x: xp.atanh(1 - x),
    "log1p": lambda x: xp.log1p(x - 1),
    "xlogy": lambda x: xp.special.xlogy(xp.sqrt(x), x),
    "gammaln": xp.special.gammaln,
    "logit": xp.special.logit,
    "erfinv": lambda x: xp.special.erfinv(1 - x),
}


@pytest.mark.parametrize("mode", ["hvp", "jvp of grad", "grad of grad", "grad of jvp", "jvp of jvp"])
@pytest.mark.parametrize("name", UNTAKEN)
def test_branch_that_where_does_not_take(name: str, mode: str) -> None:
    """Its derivatives are infinite or NaN, and contribute 0 to every order."""
    inside = UNTAKEN[name]

    def f(x: Any) -> Any:
        return xp.sum(xp.where(x > 0, inside(x), 0))

    def without(x: Any) -> Any:
        return xp.sum(inside(x)[1:])

    def second(f: Any, x: Any, v: Any) -> Any:
        if mode == "hvp":
            return hvp(f, x, v)
        if mode == "jvp of grad":
            return jvp(grad(f), [x], [v])[1]
        if mode == "grad of grad":
            return grad(lambda x: xp.sum(grad(f)(x) * v))(x)
        if mode == "grad of jvp":
            return grad(lambda x: jvp(f, [x], [v])[1])(x)
        return jvp(lambda x: jvp(f, [x], [v])[1], [x], [v])[1]

    v = xp.asarray([0.7, -0.4, 1.3])
    found = np.asarray(second(f, xp.asarray([0.0, 0.3, 0.6]), v))
    expected = np.asarray(second(without, xp.asarray([0.5, 0.3, 0.6]), v))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if found.ndim:
        assert found[0] == 0
