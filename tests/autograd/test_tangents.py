"""Derivatives in a direction of every function that has a gradient, against its gradient and against JAX.

The product of a cotangent and the derivative in a direction equals the product of the gradient and that
direction. The gradients have separate tests.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradient_cases import Case
from gradient_cases_elementwise import CASES as ELEMENTWISE
from gradient_cases_fft import CASES as FFT
from gradient_cases_linalg import CASES as LINALG
from gradient_cases_manipulation import CASES as MANIPULATION
from gradient_cases_statistical import CASES as STATISTICAL

import stride0 as xp
from stride0.autograd import GradientError, checkpoint, custom_jvp, custom_vjp, grad, hvp, jvp, vjp, vmap
from stride0.autograd._rules.forward import JVP, LINEAR, NOT_HOLOMORPHIC, SYMMETRIC

CASES: list[Case] = [*ELEMENTWISE, *STATISTICAL, *MANIPULATION, *LINALG, *FFT]
each_case = pytest.mark.parametrize("case", CASES, ids=[f"{case.name}-{case.id}" for case in CASES])


def like(x: Any, rng: np.random.Generator) -> Any:
    a = np.asarray(x)
    found = rng.standard_normal(a.shape)
    if a.dtype.kind == "c":
        found = found + 1j * rng.standard_normal(a.shape)
    return xp.asarray(np.asarray(found, dtype=a.dtype))


def inner(xs: Any, ys: Any) -> float:
    pairs = zip(xs, ys, strict=True)
    return sum(float(np.sum(np.conj(np.asarray(x)) * np.asarray(y)).real) for x, y in pairs)


def floating(y: Any) -> list[Any]:
    return [x for x in (y if isinstance(y, (tuple, list)) else [y]) if "floating" in x.dtype.kind]


def compare(f: Callable[..., list[Any]], xs: list[Any], rng: np.random.Generator, tol: float) -> None:
    """Compare both derivatives of a function."""
    vs = [like(x, rng) for x in xs]
    ys, pullback = vjp(f, *xs)
    ws = [like(y, rng) for y in ys]
    again, dys = jvp(f, xs, vs)
    for y, other, dy in zip(ys, again, dys, strict=True):
        np.testing.assert_array_equal(np.asarray(y), np.asarray(other))
        assert dy.shape == y.shape and dy.dtype is y.dtype
    gs = pullback(ws)
    np.testing.assert_allclose(inner(ws, dys), inner(gs, vs), rtol=1e-9 * tol, atol=1e-9 * tol)


@each_case
def test_of_every_function(case: Case) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{case.name} {case.id}".encode()))
    xs = [xp.asarray(a, copy=True) for a in case.args(rng)]
    f = lambda *ys: floating(case.call(xp, *ys))  # noqa: E731
    compare(f, xs, rng, case.tol)
    if case.order < 2:
        return
    # Second derivatives use the rules of functions within rules.
    ws = [like(y, rng) for y in f(*xs)]
    vs = [like(x, rng) for x in xs]
    compare(lambda *ys: list(vjp(f, *ys)[1](ws)), xs, rng, 100 * case.tol)
    compare(lambda *ys: jvp(f, ys, vs)[1], xs, rng, 100 * case.tol)


def test_every_rule_has_a_case() -> None:
    inner = {"dot_into", "multiply_masked", "multiply_nonzero"}
    inner |= {"put", "sum_into", "unreduce", "watch", "asarray"}
    known = {case.name for case in CASES} | inner | {"special.log_softmax"}
    assert JVP.keys() | LINEAR <= known
    assert not JVP.keys() & SYMMETRIC and not LINEAR & (JVP.keys() | SYMMETRIC)
    assert NOT_HOLOMORPHIC <= SYMMETRIC


# --- functions without a rule for tangents: the transpose of the gradient rule


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-12, atol=1e-12)


X, V = xp.asarray([0.3, 0.8, 1.7]), xp.asarray([1.0, -2.0, 0.5])


def test_functions_of_the_caller() -> None:
    f = custom_vjp(lambda x, y: (x * y, xp.sin(y)))
    f.defvjp(
        lambda x, y: ((x * y, xp.sin(y)), (x, y)),
        lambda kept, g: (10 * g[0] * kept[1], g[0] * kept[0] + g[1] * xp.cos(kept[1])),
    )
    _, (first, second) = jvp(f, (X, 2 * X), (V, 3 * V))
    close(first, 10 * V * 2 * X + X * 3 * V)
    close(second, xp.cos(2 * X) * 3 * V)
    # One of two results, and a second derivative.
    close(jvp(lambda x: f(x, x)[1], (X,), (V,))[1], xp.cos(X) * V)
    _, twice = jvp(lambda x: jvp(lambda z: f(z, z)[0], (x,), (V,))[1], (X,), (V,))
    close(twice, 11 * V * V)
    close(jvp(checkpoint(lambda x: xp.exp(x) * x), (X,), (V,))[1], xp.exp(X) * (X + 1) * V)


def test_loaded_results_share_a_tangent() -> None:
    """The gradient of a decomposition uses several of its results, each more than once."""
    a = xp.asarray([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
    b = xp.asarray([[0.1, 0.7, 0.2], [0.7, -0.4, 0.5], [0.2, 0.5, 0.9]])
    f = grad(lambda m: xp.sum(xp.linalg.eigh(m)[1][0, :] ** 4))
    (expected,) = vjp(f, a)[1](b)
    # The Hessian is symmetric.
    close(jvp(f, (a,), (b,))[1], expected)


def test_writes_and_several_results() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y[1:] = y[:-1] * x[1:]
        y[0] += xp.sum(x)
        view = y[::2]
        view *= 3.0
        return y, xp.unstack(y)[2], xp.asarray(4.0)

    plain, dy = jvp(f, (X,), (V,))
    step = 1e-6
    for got, up, down in zip(dy, f(X + step * V), f(X - step * V), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray((up - down) / (2 * step)), atol=1e-8)
    assert float(dy[2]) == 0.0 and float(plain[2]) == 4.0


def test_zero_tangents_contribute_zero() -> None:
    inf = xp.asarray([xp.inf, 1.0])
    zero, one = xp.asarray([0.0, 0.0]), xp.asarray([0.0, 1.0])
    close(jvp(lambda x: x * inf, (one,), (one,))[1], [0.0, 1.0])
    close(jvp(lambda x: x @ inf, (one,), (one,))[1], 1.0)
    close(jvp(lambda x: xp.einsum("i,i", x, inf), (one,), (one,))[1], 1.0)
    close(jvp(lambda x: xp.where(x > 0, 1 / x, 0.0), (one,), (one,))[1], [0.0, -1.0])
    close(jvp(xp.sqrt, (zero,), (zero,))[1], zero)


def test_results_are_not_the_directions() -> None:
    v = xp.asarray([1.0, 2.0, 3.0])
    _, dy = jvp(lambda x: (x, x[:2], xp.reshape(x, (3, 1))), (X,), (v,))
    for each in dy:
        each += 1.0
    close(v, [1.0, 2.0, 3.0])
    close(dy[0], [2.0, 3.0, 4.0])


def test_complex_direction_of_a_real_argument() -> None:
    """Only the real part of the direction counts."""
    close(jvp(lambda x: 1j * x, (X,), (V * (1 + 2j),))[1], 1j * V)


def test_integers_have_no_derivative() -> None:
    with pytest.raises(TypeError, match="jvp: a result of dtype int64 has no derivative"):
        jvp(lambda x: (x, xp.argmax(x)), (X,), (V,))


def test_batches() -> None:
    points, directions = xp.stack([X, 2 * X]), xp.stack([V, -V])
    f = lambda x: xp.cumulative_sum(xp.sin(x)) / xp.linalg.vector_norm(x)  # noqa: E731
    got = vmap(lambda x, v: jvp(f, (x,), (v,))[1])(points, directions)
    close(got, xp.stack([jvp(f, (points[k, :],), (directions[k, :],))[1] for k in range(2)]))
    got = jvp(vmap(f), (points,), (directions,))[1]
    close(got, xp.stack([jvp(f, (points[k, :],), (directions[k, :],))[1] for k in range(2)]))


# --- against JAX

PROGRAMS: list[Callable[[Any, Any, Any], Any]] = [
    lambda n, x, y: n.sin(x) * y[0] + n.exp(-x / (1 + x**2)),
    lambda n, x, y: n.tanh(x @ y.T) @ y - n.max(x, axis=0),
    lambda n, x, y: n.concat([x, n.stack([y[0], y[1]])])[::2] / n.mean(n.abs(y)),
    lambda n, x, y: n.linalg.inv(x @ x.T + 2 * n.eye(2)) @ y,
    lambda n, x, y: n.where(x > y, x**3, y * x),
    lambda n, x, y: n.abs(n.fft.fft(x + 1j * y)) + n.real(n.fft.rfft(x))[..., :1],
    lambda n, x, y: n.linalg.cholesky(x @ x.T + n.eye(2)) @ y,
    lambda n, x, y: n.einsum("ij,kj->ik", x, n.exp(y)) + n.var(x) + n.std(y) + n.prod(x),
    lambda n, x, y: n.sort(x, axis=1) * n.maximum(x, y) + n.cumulative_sum(y, axis=1),
    lambda n, x, y: n.linalg.svd(x + y, full_matrices=False)[1] * n.linalg.det(x @ x.T),
    lambda n, x, y: n.conj(x * (1 + 2j)) * n.imag(n.exp(1j * y)) + n.log(2 + 1j * x),
    lambda n, x, y: n.permute_dims(n.expand_dims(n.roll(x, 1), axis=0), (2, 1, 0)) + n.sum(y**2, axis=0)[:1],
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_jax(number: int) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    program, rng = PROGRAMS[number], np.random.default_rng(number)
    for _ in range(5):
        x, y, v, w, u = (rng.standard_normal((2, 3)) for _ in range(5))

        def forms(n: Any, jvp: Any, call: Any = program) -> list[Callable[..., Any]]:
            """The derivative, and its derivative in other directions."""
            first = lambda *xs: jvp(lambda *ys: call(n, *ys), xs, (n.asarray(v), n.asarray(w)))[1]  # noqa: B023, E731
            return [first, lambda *xs: jvp(first, xs, (n.asarray(u), n.asarray(v)))[1]]  # noqa: B023

        for ours, theirs in zip(forms(xp, jvp), forms(jax.numpy, jax.jvp), strict=True):
            got = ours(xp.asarray(x), xp.asarray(y))
            expected = theirs(jax.numpy.asarray(x), jax.numpy.asarray(y))
            np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-9, atol=1e-9)


# --- hvp


def test_hvp_of_several_arguments() -> None:
    f = lambda k, x, y: k * xp.sum(x**2 * y)  # noqa: E731
    y, u = X + 1, V * 2
    close(hvp(f, (2.0, X, y), V, argnums=1), 4 * y * V)
    first, second = hvp(f, (2.0, X, y), (V, u), argnums=(1, -1))
    close(first, 4 * (y * V + X * u))
    close(second, 4 * X * V)
    (alone,) = hvp(f, (2.0, X, y), (V,), argnums=(1,))
    close(alone, 4 * y * V)
    product, aux = hvp(lambda k, x: (k * xp.sum(x**3), "kept"), [2.0, X], V, has_aux=True, argnums=1)
    close(product, 12 * X * V)
    assert aux == "kept"
    close(grad(lambda x: xp.sum(hvp(lambda k, x: k * xp.sum(x**3), (2.0, x), V, argnums=1)))(X), 12 * V)
    with pytest.raises(ValueError, match="hvp: argnums names argument 3 of a call with 2"):
        hvp(f, (X, y), V, argnums=3)
    with pytest.raises(ValueError, match="a different structure"):
        hvp(f, (2.0, X, y), (V,), argnums=(1, 2))


# --- closures


def test_closures_over_an_own_argument_are_refused() -> None:
    """Their part of the derivative would be lost, because no rule gives it."""

    def loss(x: Any, kind: Any) -> Any:
        f = kind(lambda y: y * x)
        if kind is custom_vjp:
            f.defvjp(lambda y: (y * x, None), lambda kept, g: (g * x,))
        else:
            f.defjvps(lambda v, out, y: v * x)
        return xp.sum(f(x))

    for kind in (custom_vjp, custom_jvp):
        with pytest.raises(GradientError, match=f"{kind.__name__}: .*an argument and in its closure, too"):
            grad(lambda x: loss(x, kind))(X)  # noqa: B023
        with pytest.raises(GradientError, match="in its closure"):
            jvp(lambda x: loss(x, kind), (X,), (V,))  # noqa: B023
    # Allowed: the same array as two arguments, and closures over untracked arrays.
    f = custom_vjp(lambda x, y: x * y * X)
    f.defvjp(lambda x, y: (x * y * X, (x, y)), lambda kept, g: (g * kept[1] * X, g * kept[0] * X))
    close(grad(lambda x: xp.sum(f(x, x)))(X), 2 * X * X)


def test_rules_of_the_caller_are_called_once() -> None:
    calls: list[int] = []
    f = custom_jvp(lambda x: x**2)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        calls.append(1)
        return primals[0] ** 2, 2 * primals[0] * tangents[0]

    close(jvp(f, (X,), (V,))[1], 2 * X * V)
    assert len(calls) == 1
    close(jvp(lambda x: jvp(f, (x,), (V,))[1], (X,), (V,))[1], 2 * V * V)
    with pytest.raises(ValueError, match="shape"):
        f.defjvp(lambda primals, tangents: (primals[0], xp.sum(tangents[0])))
        jvp(f, (X,), (V,))
