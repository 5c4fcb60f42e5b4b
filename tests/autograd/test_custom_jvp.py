"""`custom_jvp`: derivatives in a direction that the caller defines, and their transposes; against JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import (
    GradientError,
    Tape,
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
    vmap,
)
from stride0.testing import check_grad

X = [0.3, -1.2, 2.5]


def close(found: Any, expected: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=rtol, atol=1e-14)


def stable() -> Any:
    """log(1 + exp(x)), whose own derivative is NaN for a large x."""

    @custom_jvp
    def log1pexp(x: Any) -> Any:
        return xp.log1p(xp.exp(x))

    @log1pexp.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (v,) = primals, tangents
        return log1pexp(x), v * (1 - 1 / (1 + xp.exp(x)))

    return log1pexp


def mixed() -> Any:
    """A matrix and a vector in nested structures; the rule uses the result, whose derivative it defines."""

    @custom_jvp
    def f(p: Any, x: Any) -> Any:
        return {"y": xp.exp(p["w"] @ x), "n": xp.sum(x**3)}

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (p, x), (dp, dx) = primals, tangents
        out = f(p, x)
        return out, {"y": out["y"] * (p["w"] @ dx + dp["w"] @ x), "n": xp.sum(3 * x**2 * dx)}

    return f


def test_the_rule_is_used_and_stable() -> None:
    f = stable()
    assert float(grad(f)(xp.asarray(1000.0))) == 1.0
    x = xp.asarray(X)
    close(f(x), np.log1p(np.exp(X)))
    logistic = 1 / (1 + np.exp(-np.asarray(X)))
    close(grad(lambda x: xp.sum(f(x)))(x), logistic)
    close(jvp(f, (x,), (xp.asarray([1.0, 2.0, 3.0]),))[1], logistic * [1, 2, 3])
    close(vjp(f, x)[1](xp.asarray([1.0, 2.0, 3.0]))[0], logistic * [1, 2, 3])
    close(jacobian(f)(x), np.diag(logistic))
    close(value_and_grad(lambda x: xp.sum(f(x)))(x)[0], np.sum(np.log1p(np.exp(X))))
    with Tape() as tape:
        y = tape.watch(x)
        z = xp.sum(f(y) ** 2)
    close(tape.gradient(z, y), 2 * np.log1p(np.exp(X)) * logistic)


def test_higher_derivatives() -> None:
    f, x = stable(), xp.asarray(X)
    s = 1 / (1 + np.exp(-np.asarray(X)))
    close(vmap(grad(grad(f)))(x), s * (1 - s))
    close(vmap(grad(grad(grad(f))))(x), s * (1 - s) * (1 - 2 * s), 1e-10)
    close(hessian(lambda x: xp.sum(f(x)))(x), np.diag(s * (1 - s)))
    close(hvp(lambda x: xp.sum(f(x)), x, x), s * (1 - s) * X)
    check_grad(f, x, order=3)


def test_structures_and_composition() -> None:
    f = mixed()
    w, x = xp.reshape(xp.linspace(-1.0, 1.0, 6), (2, 3)), xp.asarray(X)

    def plain(p: Any, x: Any) -> Any:
        return {"y": xp.exp(p["w"] @ x), "n": xp.sum(x**3)}

    def loss(g: Any) -> Any:
        def h(p: Any, x: Any) -> Any:
            out = g({"w": p["w"] * 2}, x * x)
            return xp.sum(out["y"] ** 2) * out["n"]

        return h

    for transform in (
        lambda h: grad(h, argnums=(0, 1))({"w": w}, x),
        lambda h: grad(checkpoint(h), argnums=(0, 1))({"w": w}, x),
        lambda h: jvp(h, ({"w": w}, x), ({"w": w * w}, x + 1))[1],
        lambda h: hessian(lambda x: h({"w": w}, x))(x),
        lambda h: vmap(grad(h, argnums=1), in_axes=(None, 0))({"w": w}, xp.stack([x, x * 2])),
        lambda h: grad(lambda x: xp.sum(vmap(h, in_axes=(None, 0))({"w": w}, x)))(xp.stack([x, x * 2])),
        lambda h: jacobian(vmap(grad(h, argnums=1), in_axes=(None, 0)), argnums=1)({"w": w}, x[None, :]),
    ):
        found, expected = transform(loss(f)), transform(loss(plain))
        if isinstance(found, tuple):
            close(found[0]["w"], expected[0]["w"])
            found, expected = found[1], expected[1]
        close(found, expected)


def test_one_rule_for_each_argument() -> None:
    @custom_jvp
    def f(x: Any, n: Any, y: Any, z: Any) -> Any:
        return xp.sin(x) * n * y + 0 * z

    f.defjvps(
        lambda v, out, x, n, y, z: v * xp.cos(x) * n * y,
        None,
        lambda v, out, x, n, y, z: v * out / y,
        None,
    )
    x, y = xp.asarray([0.5, 1.5]), xp.asarray([2.0, 3.0])

    def g(x: Any, y: Any, z: Any) -> Any:
        return xp.sum(f(x, 3, y, z) ** 2)

    def plain(x: Any, y: Any, z: Any) -> Any:
        return xp.sum((xp.sin(x) * 3 * y + 0 * z) ** 2)

    for found, expected in zip(grad(g, (0, 1, 2))(x, y, y), grad(plain, (0, 1, 2))(x, y, y), strict=True):
        close(found, expected)
    close(hessian(g, (0, 1))(x, y, y)[0][1], hessian(plain, (0, 1))(x, y, y)[0][1])


def test_a_function_that_leaves_the_namespace() -> None:
    """The function itself gets arrays that are not tracked."""

    @custom_jvp
    def f(x: Any) -> Any:
        return xp.asarray(np.sinh(np.asarray(x)))

    f.defjvps(lambda v, out, x: v * xp.cosh(x))
    x = xp.asarray(X)
    close(grad(lambda x: xp.sum(f(x) ** 2))(x), 2 * np.sinh(X) * np.cosh(X))
    close(hessian(lambda x: xp.sum(f(x)))(x), np.diag(np.sinh(X)))


def test_arguments_that_are_not_differentiated_by() -> None:
    @custom_jvp
    def helped(g: Any, x: Any) -> Any:
        return g(x)

    scaled = custom_jvp(helped.__wrapped__, nondiff_argnums=(0,))

    @scaled.defjvp
    def rule(g: Any, primals: Any, tangents: Any) -> Any:
        out, d = jvp(g, primals, tangents)
        return out, 10 * d

    x = xp.asarray(X)
    close(grad(lambda x: xp.sum(scaled(xp.sin, x)))(x), 10 * np.cos(X))
    close(vmap(lambda x: grad(lambda x: scaled(xp.sin, x))(x))(x), 10 * np.cos(X))
    with pytest.raises(ValueError, match="without nondiff_argnums"):
        scaled.defjvps(None)


@pytest.mark.parametrize("number", [5, 2, -3])
def test_arguments_that_the_call_does_not_have(number: int) -> None:
    f = custom_jvp(lambda x, y: x * y, nondiff_argnums=(number,))
    f.defjvp(lambda y, primals, tangents: (primals[0] * y, tangents[0] * y))
    x = xp.asarray(1.0)
    with pytest.raises(ValueError, match=f"custom_jvp: nondiff_argnums names argument {number} of a call"):
        f(x, x)
    with pytest.raises(ValueError, match=f"custom_jvp: nondiff_argnums names argument {number} of a call"):
        grad(f)(x, x)
    g = custom_vjp(lambda x, y: x * y, nondiff_argnums=(number,))
    g.defvjp(lambda x, y: (x * y, y), lambda y, kept, c: (c * kept,))
    with pytest.raises(ValueError, match=f"custom_vjp: nondiff_argnums names argument {number} of a call"):
        g(x, x)


def test_terms_that_are_zero_for_one_result() -> None:
    @custom_jvp
    def f(x: Any, y: Any) -> Any:
        return xp.sin(x), x * y, y * 2.0

    f.defjvps(lambda v, out, x, y: (v * xp.cos(x), v * y, None), lambda v, out, x, y: (None, v * x, v * 2.0))
    x, y = xp.asarray(0.4), xp.asarray(1.7)

    def loss(x: Any, y: Any) -> Any:
        a, b, c = f(x, y)
        return a * b * c

    sine, cosine = np.sin(0.4), np.cos(0.4)
    close(grad(loss)(x, y), 2 * 1.7**2 * (cosine * 0.4 + sine))
    close(grad(loss, 1)(x, y), 4 * 1.7 * 0.4 * sine)
    f.defjvps(lambda v, out, x, y: (None, v * y, None), lambda v, out, x, y: (None, v * x, None))
    close(grad(lambda x, y: f(x, y)[2])(x, y), 0.0)


def test_integers_and_results_without_derivatives() -> None:
    @custom_jvp
    def f(x: Any, k: Any) -> Any:
        return x * k, xp.argmax(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        assert tangents[1] is None
        return f(*primals), (tangents[0] * primals[1], None)

    x, k = xp.asarray(X), xp.asarray([1, 2, 3])
    close(grad(lambda x: xp.sum(f(x, k)[0] ** 2))(x), 2 * np.asarray(X) * [1, 4, 9])
    assert int(f(x, k)[1]) == 2


def test_complex_arguments() -> None:
    @custom_jvp
    def f(z: Any) -> Any:
        return z * z

    f.defjvps(lambda v, out, z: 2 * z * v)
    z = xp.asarray([1.0 + 2.0j, -0.5 + 0.1j])
    check_grad(f, z, order=2)
    close(grad(lambda z: xp.sum(xp.abs(f(z)) ** 2))(z), grad(lambda z: xp.sum(xp.abs(z * z) ** 2))(z))


def test_errors() -> None:
    f = custom_jvp(lambda x: x)
    with pytest.raises(GradientError, match=r"custom_jvp: the function has no derivative"):
        f(xp.asarray(1.0))
    f.defjvp(lambda primals, tangents: primals[0])
    with pytest.raises(TypeError, match="custom_jvp: the rule must return a pair"):
        grad(f)(xp.asarray(1.0))
    f.defjvp(lambda primals, tangents: (primals[0], (tangents[0], tangents[0])))
    with pytest.raises(TypeError, match="custom_jvp: a derivative of the rule is of type tuple"):
        grad(f)(xp.asarray(1.0))
    f.defjvps(None, None)
    with pytest.raises(ValueError, match="2 rules for 1 argument"):
        grad(f)(xp.asarray(1.0))
    c = custom_jvp(lambda x: x)

    def closes_over(y: Any) -> Any:
        c = custom_jvp(lambda x: x * y)
        c.defjvps(lambda v, out, x: v * y)
        return c(y * 1.0)

    with pytest.raises(GradientError, match="custom_jvp: the function uses a tracked array that is not one"):
        grad(closes_over)(xp.asarray(1.0))
    c.defjvps(None)
    assert float(grad(lambda x: c(x) + x)(xp.asarray(2.0))) == 1.0


def test_within_custom_vjp() -> None:
    f = stable()
    outer = custom_vjp(lambda x: f(x) * 2)
    outer.defvjp(lambda x: (outer(x), x), lambda x, g: (g * vjp(f, x)[1](xp.ones_like(x))[0] * 2,))
    x = xp.asarray(X)
    s = 1 / (1 + np.exp(-np.asarray(X)))
    close(grad(lambda x: xp.sum(outer(x)))(x), 2 * s)
    close(vmap(grad(grad(outer)))(x), 2 * s * (1 - s))


def test_against_jax() -> None:
    """A rule that differs from the derivative shows which of the two is used, in first and second order."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def build(decorator: Any, np_like: Any) -> Any:
        @decorator
        def f(x: Any, y: Any) -> Any:
            return np_like.sin(x) * y

        @f.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            (x, y), (dx, dy) = primals, tangents
            return f(x, y), 7.0 * x * x * dx + 5.0 * f(x, y) * dy

        return f

    ours, theirs = build(custom_jvp, xp), build(jax.custom_jvp, jax.numpy)
    x, y = 0.7, 1.9
    given, wanted = (xp.asarray(x), xp.asarray(y)), (jax.numpy.asarray(x), jax.numpy.asarray(y))
    for n in (0, 1):
        close(grad(ours, n)(*given), jax.grad(theirs, n)(*wanted))
        for m in (0, 1):
            close(grad(grad(ours, n), m)(*given), jax.grad(jax.grad(theirs, n), m)(*wanted))
    close(
        jvp(ours, given, (xp.asarray(2.0), xp.asarray(3.0)))[1],
        jax.jvp(theirs, wanted, (jax.numpy.asarray(2.0), jax.numpy.asarray(3.0)))[1],
    )
