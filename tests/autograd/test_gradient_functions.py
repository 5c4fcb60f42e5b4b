"""Transformations as in JAX: several arguments at once, and gradients defined by the caller."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0.autograd import GradientError, Tape, custom_vjp, grad, hessian, jacobian, value_and_grad, vjp
from stride0.testing import check_grad


def arr(*values: Any) -> Any:
    return xp.asarray(list(values))


# --- several arguments


def coupled(x: Any, y: Any) -> Any:
    return xp.sum(x**2 * xp.sum(y)) + y[0] ** 3 * y[1] * x[0]


X, Y = arr(1.0, 2.0, -1.0), arr(0.5, 3.0)


def joined(z: Any) -> Any:
    return coupled(z[:3], z[3:])


def blocks(whole: Any, order: int) -> Any:
    """The parts of a derivative with respect to (x, y) as one array, as nested tuples."""
    if order == 0:
        return np.asarray(whole)
    axis = whole.ndim - order
    first, second = np.split(np.asarray(whole), [3], axis=axis)
    return blocks(first, order - 1), blocks(second, order - 1)


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            same(f, e)
    else:
        assert_allclose(np.asarray(found), expected, atol=1e-12)


@pytest.mark.parametrize("argnums", [(0, 1), [0, 1]])
def test_jacobian_of_several_arguments(argnums: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return xp.linalg.outer(x, y) * xp.sum(x)

    whole = jacobian(lambda z: f(z[:3], z[3:]))(xp.concat((X, Y)))
    found = jacobian(f, argnums=argnums)(X, Y)
    assert [j.shape for j in found] == [(3, 2, 3), (3, 2, 2)]
    same(found, blocks(whole, 1))


def test_jacobian_of_one_argument_in_a_tuple() -> None:
    (found,) = jacobian(lambda k, x: k * x, argnums=(1,))(2.0, X)
    assert_allclose(np.asarray(found), 2 * np.eye(3))
    found = jacobian(lambda x, k: k * x, argnums=(-1, 0))(X, xp.asarray(3.0))
    same(found, (np.asarray(X), 3 * np.eye(3)))


def test_hessian_of_several_arguments() -> None:
    z = xp.concat((X, Y))
    found = hessian(coupled, argnums=(0, 1))(X, Y)
    assert [[part.shape for part in row] for row in found] == [[(3, 3), (3, 2)], [(2, 3), (2, 2)]]
    same(found, blocks(hessian(joined)(z), 2))
    same(
        jacobian(hessian(coupled, argnums=(0, 1)), argnums=(0, 1))(X, Y),
        blocks(jacobian(hessian(joined))(z), 3),
    )
    ((found,),) = hessian(coupled, argnums=(1,))(X, Y)
    same(found, np.asarray(hessian(coupled, argnums=1)(X, Y)))


def test_gradients_of_several_arguments_nest() -> None:
    def first(x: Any, y: Any) -> Any:
        gx, gy = grad(coupled, argnums=(0, 1))(x, y)
        return xp.sum(gx**2) + xp.sum(gy**2)

    value, (gx, gy) = value_and_grad(first, argnums=(0, 1))(X, Y)
    assert value.ndim == 0
    whole = grad(lambda z: xp.sum(grad(joined)(z) ** 2))(xp.concat((X, Y)))
    same((gx, gy), blocks(whole, 1))


def test_jacobian_of_nested_structures() -> None:
    found = jacobian(lambda p: {"s": p["a"] * xp.sum(p["b"]), "t": p["b"]})({"a": X, "b": Y})
    same(found["s"]["a"], np.eye(3) * 3.5)
    same(found["s"]["b"], np.asarray(X)[:, None] * np.ones((1, 2)))
    same(found["t"]["a"], np.zeros((2, 3)))
    same(found["t"]["b"], np.eye(2))


def test_jacobian_of_several_arguments_mixed_complex() -> None:
    z = arr(1 + 1j, 2 - 1j)
    found = jacobian(lambda x, z: x[:2] * z, argnums=(0, 1))(X, z)
    same(found, (np.asarray(z)[:, None] * np.eye(2, 3), np.diag([1.0 + 0j, 2.0])))


def test_jacobian_refuses() -> None:
    with pytest.raises(ArgumentTypeError, match="int64"):
        jacobian(lambda x, k: x * k, argnums=(0, 1))(X, xp.asarray(2))
    with pytest.raises(ArgumentTypeError, match="int64"):
        jacobian(lambda x: xp.argsort(x))(X)
    with pytest.raises(ValueError, match="twice"):
        jacobian(coupled, argnums=(0, 0))(X, Y)


@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_jax_agrees_about_several_arguments(argnums: Any) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def theirs(x: Any, y: Any) -> Any:
        return jnp.sum(x**2 * jnp.sum(y)) + y[0] ** 3 * y[1] * x[0]

    expected = jax.hessian(theirs, argnums=argnums)(jnp.asarray(np.asarray(X)), jnp.asarray(np.asarray(Y)))
    found = hessian(coupled, argnums=argnums)(X, Y)
    same(found, jax.tree.map(np.asarray, expected))


# --- custom_vjp: a forward that calls the function itself


def product(namespace: Any, custom: Any) -> Any:
    """JAX's documented example, with a wrong factor that distinguishes the rule from the derivative."""

    @custom
    def f(x: Any, y: Any) -> Any:
        return namespace.sin(x) * y

    def forward(x: Any, y: Any) -> Any:
        return f(x, y), (namespace.cos(x), namespace.sin(x), y)

    def backward(kept: Any, g: Any) -> Any:
        cos, sin, y = kept
        return 3 * cos * g * y, sin * g

    f.defvjp(forward, backward)
    return f


def own_residual(namespace: Any, custom: Any) -> Any:
    """A rule that keeps the result, whose derivative is the rule again."""

    @custom
    def f(x: Any, y: Any) -> Any:
        return namespace.round(x * 4) / 4 + 0 * y

    def forward(x: Any, y: Any) -> Any:
        out = f(x, y)
        return out, (out, y)

    f.defvjp(forward, lambda kept, g: (g * kept[0] * kept[1], 2 * g * kept[0]))
    return f


def elsewhere(namespace: Any, custom: Any) -> Any:
    """A forward that calls the function at another point."""

    @custom
    def f(x: Any, y: Any) -> Any:
        return namespace.exp(x) * y

    def forward(x: Any, y: Any) -> Any:
        half = f(x / 2, y * 0 + 1)
        return half * half * y, (half, y)

    f.defvjp(forward, lambda kept, g: (g * kept[0] ** 2 * kept[1], g * kept[0] ** 2))
    return f


def test_forward_that_calls_the_function() -> None:
    f = product(xp, custom_vjp)
    x, y = xp.asarray(0.7), xp.asarray(1.3)
    assert_allclose(float(f(x, y)), np.sin(0.7) * 1.3)
    gx, gy = grad(f, argnums=(0, 1))(x, y)
    assert_allclose([float(gx), float(gy)], [3 * np.cos(0.7) * 1.3, np.sin(0.7)])
    # The flag that marks a running forward is reset.
    assert_allclose(float(grad(f)(x, y)), 3 * np.cos(0.7) * 1.3)


def test_forward_that_calls_the_function_has_right_higher_orders() -> None:
    f = elsewhere(xp, custom_vjp)
    check_grad(f, xp.asarray(0.7), xp.asarray(1.3), order=3)


@pytest.mark.parametrize("make", [product, own_residual, elsewhere])
def test_jax_agrees_about_forwards_that_call_the_function(make: Any) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    ours, theirs = make(xp, custom_vjp), make(jax.numpy, jax.custom_vjp)
    point = (0.7, 1.3)
    for order in (1, 2, 3):
        for k in range(2 if order < 3 else 1):
            f = lambda x, y: ours(x, y) * x * y  # noqa: E731
            g = lambda x, y: theirs(x, y) * x * y  # noqa: E731
            for _ in range(order):
                f, g = grad(f, argnums=k), jax.grad(g, argnums=k)
            assert_allclose(
                float(f(*map(xp.asarray, point))), float(g(*point)), rtol=1e-10, err_msg=f"{order}"
            )


@pytest.mark.parametrize("order", [1, 2])
def test_fixed_point(order: int) -> None:
    """The other example of JAX's documentation: forward and backward rule call the function."""

    def fixed_point(f: Any, a: Any, guess: Any) -> Any:
        x = guess
        for _ in range(60):
            x = f(a, x)
        return x

    fixed_point = custom_vjp(fixed_point, nondiff_argnums=(0,))

    def forward(f: Any, a: Any, guess: Any) -> Any:
        x = fixed_point(f, a, guess)
        return x, (a, x)

    def backward(f: Any, kept: Any, g: Any) -> Any:
        a, x = kept
        _, pull_a = vjp(lambda a: f(a, x), a)

        def iterated(packed: Any, u: Any) -> Any:
            a, x, g = packed
            _, pull_x = vjp(lambda x: f(a, x), x)
            return g + pull_x(u)[0]

        (found,) = pull_a(fixed_point(iterated, (a, x, g), g))
        return found, xp.zeros_like(x)

    fixed_point.defvjp(forward, backward)

    def root(a: Any) -> Any:
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, a * 0 + 1.0)

    f, expected = root, 2.0**0.5
    for k in range(order):
        f, expected = grad(f), expected * (0.5 - k) / 2.0
    assert_allclose(float(f(xp.asarray(2.0))), expected, rtol=1e-10)


def test_forward_that_calls_the_function_refuses_closures() -> None:
    def total(w: Any) -> Any:
        f = custom_vjp(lambda x: x * w)
        f.defvjp(lambda x: (f(x), None), lambda kept, g: (g,))
        return f(w * 1)

    with pytest.raises(GradientError, match="not one of its arguments"):
        grad(total)(xp.asarray(1.0))


def test_forward_that_fails_leaves_nothing() -> None:
    f = product(xp, custom_vjp)
    g = custom_vjp(lambda x: f(x, x))
    calls = []

    def forward(x: Any) -> Any:
        calls.append(x)
        if len(calls) == 1:
            raise RuntimeError("once")
        return g(x), x

    g.defvjp(forward, lambda x, c: (5 * c * x,))
    with pytest.raises(RuntimeError, match="once"):
        grad(g)(xp.asarray(2.0))
    assert float(grad(g)(xp.asarray(2.0))) == 10
    assert len(calls) == 2


# --- constants while a tape exists


def python_functions(call: Any, *operands: Any) -> int:
    """The number of Python functions that run in a call; on the fast path only `call`."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        call(*operands)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "call",
    [
        lambda b, z: b @ z,
        lambda b, z: xp.sum(b),
        lambda b, z: b.T,
        lambda b, z: xp.reshape(b, (9,)),
    ],
    ids=["matmul", "sum", "transpose", "reshape"],
)
def test_saved_constants_stay_fast(call: Any) -> None:
    """Constants that a live tape has saved are not tracked: calls with them take the fast path."""

    functions = functools.partial(python_functions, call)

    operands = xp.reshape(xp.arange(9.0), (3, 3)), xp.ones(3)
    others = [xp.asarray(x, copy=True) for x in operands]
    b, z = operands
    with Tape() as tape:
        x = tape.watch(xp.ones(3))
        y = xp.sum((b @ (x * z)) * z) + xp.sum(b * x)
        assert functions(b, z) == functions(*others)
        # Recorded calls take it as well.
        assert functions(tape.watch(xp.ones((3, 3))), x) == functions(*others) == 1
    # Arrays that were tracked while the tape was open take the fast path too.
    assert functions(b, x) == functions(*others)
    assert_allclose(np.asarray(tape.gradient(y, x)), 2 * np.sum(np.asarray(b), axis=0))


@pytest.mark.parametrize(
    "call",
    [
        lambda m, v: m @ v,
        lambda m, v: v @ m,
        lambda m, v: m @ m,
        lambda m, v: m.T @ m,
        lambda m, v: xp.reshape(m, (9,)),
        lambda m, v: xp.reshape(m, shape=(3, 1, 3)),
        lambda m, v: xp.stack([v, v])[0],
        lambda m, v: xp.stack((m, m), axis=1)[1:],
        lambda m, v: xp.concat([v, v, v])[1:],
        lambda m, v: xp.concat((m, m), axis=-1),
        lambda m, v: xp.unstack(m)[1],
        lambda m, v: xp.permute_dims(m, (1, 0)),
        lambda m, v: xp.expand_dims(m, axis=-1),
        lambda m, v: xp.sum(m, axis=0),
        lambda m, v: m[1:, ::2],
    ],
)
def test_recorded_calls_take_the_fast_path(call: Any) -> None:
    """Recording a call runs no further Python function and changes no value."""

    functions = functools.partial(python_functions, call)

    m, v = xp.reshape(xp.arange(9.0), (3, 3)) - 4.5, xp.asarray([0.5, -2.0, 3.0])
    with Tape() as tape:
        watched = tape.watch(m), tape.watch(v)
        assert functions(*watched) == functions(m, v) == 1
        y = call(*watched)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(call(m, v)))
    check_grad(call, m, v, order=2)


def test_saved_constants_that_are_written_are_copied() -> None:
    """Saved constants are copied before any write, also through a view."""
    for through in (lambda b: b, lambda b: b[1:], lambda b: xp.reshape(b, (3,)).view()):
        b = arr(1.0, 2.0, 3.0)
        with Tape() as tape:
            x = tape.watch(arr(1.0, 1.0, 1.0))
            y = xp.sum(x * b)
            part = through(b)
        assert float(xp.sum(b)) == 6
        part[-1] = 7.0
        assert float(xp.sum(b)) == 10
        assert tape.gradient(y, x).tolist() == [1, 2, 3]


def test_tracked_writes_to_constants_are_not_lost() -> None:
    """An array into which tracked values were written is not read as a constant."""
    for read in (
        lambda b: b * 1,
        xp.sum,
        lambda b: b[0],
        lambda b: b @ b,
        lambda b: xp.strided.as_strided(b, (2,), (1,)),
    ):
        b = xp.zeros(4)
        view = b[:2]
        with Tape() as tape:
            x = tape.watch(arr(1.0, 2.0))
            y = xp.sum(x * b[:2])
            b[:2] = x
            seen, expected = xp.sum(read(view)), xp.sum(read(x * 1))
            b[2:] = x * 3
            z = xp.sum(b)
        assert_allclose(np.asarray(tape.gradient(seen, x)), np.asarray(tape.gradient(expected, x)))
        assert_allclose(np.asarray(tape.gradient(z, x)), [4, 4])
        assert tape.gradient(y, x).tolist() == [0, 0]
