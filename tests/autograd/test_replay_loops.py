"""`stride0.loop` and `stride0.scan`: the same as Python loops, eager, recorded, and differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from replayed import Function, numbers

import stride0 as xp
from stride0.autograd import checkpoint_loop, custom_vjp, grad, jvp, stop_gradient, value_and_grad, vmap
from stride0.autograd._tape.trees import flatten

W, S, XS = numbers(3, seed=1), numbers(3, seed=2), numbers(7, 3, seed=3)


def arrays(tree: Any) -> list[Any]:
    return [np.asarray(x) for x in flatten(tree)[0]]


def check(f: Function, *arguments: Any, rtol: float = 0.0, steps: int = 20) -> Any:
    """Compare three calls of a function and of its replay; the recording has at most `steps` steps."""
    replayed = xp.replay(f)
    for k in range(3):
        given = [x * (1 + 0.1 * k) if isinstance(x, xp.Array) else x for x in arguments]
        for found, expected in zip(arrays(replayed(*given)), arrays(f(*given)), strict=True):
            assert found.dtype == expected.dtype and found.strides == expected.strides
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)
    assert replayed.recordings == 1
    # The steps of bodies are further indented.
    assert (
        sum(line.startswith("    ") and line[4] != " " for line in replayed.explain().splitlines()) <= steps
    )
    return replayed


def sums(s: Any, x: Any) -> tuple[Any, Any]:
    s = xp.tanh(s * W + x)
    return s, {"sum": xp.sum(s), "all": (s, x)}


def rotated(state: Any, x: Any) -> tuple[Any, Any]:
    a, b, n = state
    return (b, a + x[0], n + 1), xp.stack([x * a, x + b]).T


@pytest.mark.parametrize(
    "f",
    [
        lambda s, xs: xp.scan(sums, s, xs),
        lambda s, xs: xp.scan(rotated, (s[0], 0.5, 0), xs),
        lambda s, xs: xp.scan(lambda m, x: (m @ m.T * 0.1 + x, m.T), xp.stack([s, s, s]).T, xs),
        lambda s, xs: xp.scan(lambda c, x: (c + x["a"], x["b"][0]), s, {"a": xs, "b": (xs * 2, xs)}),
        lambda s, xs: xp.loop(5, lambda k, y: xp.where(y > k, y * 0.5, y + k * s), s),
        lambda s, xs: xp.loop(7, lambda k, y: y + xs[k] * W[0], s),
        lambda s, xs: xp.loop(4, lambda k, y: xp.scan(lambda c, x: (xp.sin(c * x + k), ()), y, xs)[0], s),
        lambda s, xs: xp.loop(3, lambda k, y: y - 0.1 * grad(lambda z: xp.sum(xp.cos(z) * s))(y), s),
        lambda s, xs: (xp.loop(0, lambda k, y: y * 2, s), xp.loop(1, lambda k, y: y * 2, s)),
    ],
)
def test_loops(f: Function) -> None:
    check(f, S, XS)


@custom_vjp
def clipped(x: Any) -> Any:
    return x * x


clipped.defvjp(lambda x: (x * x, x), lambda x, g: (xp.clip(g * x, -0.1, 0.1),))


def loss(s: Any, xs: Any, w: Any) -> Any:
    def body(s: Any, x: Any) -> tuple[Any, Any]:
        s = xp.tanh(s * w + x) + xp.mean(s)
        return s, xp.sum(s * x)

    last, ys = xp.scan(body, s, xs)
    return xp.sum(last**2) + xp.sum(ys * xp.arange(7.0))


GRADIENTS: dict[str, tuple[Function, int]] = {
    "all arguments": (value_and_grad(loss, argnums=(0, 1, 2)), 60),
    "outside": (lambda s, xs, w: grad(lambda s: loss(s, xs, w))(s), 60),
    "closure": (lambda s, xs, w: grad(lambda v: loss(s, xs, v * 2))(w), 60),
    "matrices": (
        grad(lambda s, xs, w: xp.sum(xp.scan(lambda m, x: (xp.sin(m @ m) * x, x), w[:, None] * s, xs)[0])),
        60,
    ),
    "nested": (
        grad(
            lambda s, xs, w: xp.sum(
                xp.loop(3, lambda k, y: xp.scan(lambda c, x: (xp.sin(c * w + x), ()), y, xs)[0], s)
            ),
            argnums=(0, 2),
        ),
        60,
    ),
    "number of the step": (
        grad(lambda s, xs, w: xp.sum(xp.loop(6, lambda k, y: xp.sin(y) + k * w, s)), 2),
        60,
    ),
    "constants": (
        grad(
            lambda s, xs, w: xp.sum(
                xp.loop(4, lambda k, y: xp.sin(y * stop_gradient(w * y)) + clipped(y), s)
            ),
            argnums=(0, 2),
        ),
        5000,
    ),
    "second": (lambda s, xs, w: grad(lambda v: xp.sum(grad(loss, 2)(s, xs, v) ** 2))(w), 5000),
    "tangent": (lambda s, xs, w: jvp(lambda v: loss(s, xs, v), (w,), (s,)), 5000),
    "batch": (lambda s, xs, w: vmap(lambda v: grad(loss, 2)(s, xs, v))(xp.stack([w, 2 * w])), 5000),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    f, steps = GRADIENTS[name]
    check(f, S, XS, W, rtol=1e-12, steps=steps)


def test_values_that_are_not_finite() -> None:
    replayed = xp.replay(lambda x: grad(lambda y: xp.sum(xp.loop(4, lambda k, z: z @ z, y)))(x))
    for x in (xp.eye(2), xp.full((2, 2), 1e200), xp.eye(2) * xp.nan, xp.eye(2)):
        np.testing.assert_array_equal(arrays(replayed(x)), arrays(replayed._function(x)))


def test_bodies_that_run_as_python_loops() -> None:
    rng, twin = xp.random.default_rng(1), xp.random.default_rng(1)
    f = xp.replay(lambda x, rng: xp.loop(3, lambda k, y: y + rng.standard_normal(3), x))
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(f(S, rng)), np.asarray(f._function(S, twin)))
    total, plain = xp.zeros(3), xp.zeros(3)

    def add(total: Any, xs: Any) -> Any:
        def body(s: Any, x: Any) -> tuple[Any, Any]:
            nonlocal total
            total += x
            made = xp.zeros(3)
            made[0] = x[1]
            return s + made, total * 1

        return xp.scan(body, xp.zeros(3), xs)

    replayed = xp.replay(add)
    for _ in range(3):
        for found, expected in zip(arrays(replayed(total, XS)), arrays(add(plain, XS)), strict=True):
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.asarray(total), np.asarray(plain))


def test_checkpoints() -> None:
    def final(y: Any) -> Any:
        return xp.sum(checkpoint_loop(lambda z: xp.loop(5, lambda k, v: xp.sin(v * W) + z[0], z), y, 4, 2))

    check(grad(final), S, rtol=1e-12, steps=2000)


def test_explain() -> None:
    replayed = xp.replay(lambda x: xp.loop(4, lambda k, y: xp.sin(y) * W, x))
    replayed(S)
    lines = replayed.explain().splitlines()
    assert lines[2].split() == ["4", "times:"] and "loop $" in lines[3] and "= sin($0)" in lines[3]


def test_errors() -> None:
    with pytest.raises(xp.ShapeError, match="another shape"):
        xp.loop(3, lambda k, y: xp.stack([y, y]), S)
    with pytest.raises(xp.DTypeError, match="another dtype"):
        xp.loop(3, lambda k, y: y * 0.5, 1)
    with pytest.raises(xp.ArgumentValueError, match="another structure"):
        xp.scan(lambda s, x: ((s, s), x), S, XS)
    with pytest.raises(xp.ShapeError, match="lengths"):
        xp.scan(lambda s, x: (s, x), S, (XS, S))
    with pytest.raises(xp.ArgumentTypeError, match="at least one axis"):
        xp.scan(lambda s, x: (s, x), S, 3.0)
    with pytest.raises(xp.ArgumentValueError, match="n is -1"):
        xp.loop(-1, lambda k, y: y, S)
    for f in (
        lambda x: xp.loop(3, lambda k, y: y if y[0] > 0 else -y, x),
        lambda x: xp.loop(3, lambda k, y: y * float(y[0]), x),
    ):
        with pytest.raises(xp.ReplayError, match="is read"):
            xp.replay(f)(S)

    def counted(x: Any) -> Any:
        count = 0

        def body(k: Any, y: Any) -> Any:
            nonlocal count
            count += 1
            return y * count

        return xp.loop(3, body, x)

    with pytest.raises(xp.ReplayError, match="the body of a loop changes a variable"):
        xp.replay(counted)(S)
    replayed = xp.replay(lambda a: xp.loop(3, lambda k, b: xp.linalg.inv(b - k * xp.eye(2)), a))
    replayed(xp.asarray([[0.5, 0.2], [0.1, 0.3]]))
    with pytest.raises(xp.linalg.LinAlgError) as caught:
        replayed(xp.zeros((2, 2)))
    assert any(label == "recorded at" and __file__ in text for label, text in caught.value.facts)


def test_an_output_may_be_the_old_state() -> None:
    """The steps read and release states in an order in which no state is freed too early."""
    rows = xp.asarray(np.arange(24.0).reshape(4, 6)).T
    check(lambda s, xs: xp.scan(lambda a, b: (b, a), s, xs), numbers(4), rows)
    check(lambda s, xs: xp.scan(lambda a, b: (a + b, a), s, xs), numbers(4), rows)


def test_a_body_that_writes_only_to_arrays_from_outside() -> None:
    counter = xp.zeros(1)

    def body(_: Any, y: xp.Array) -> xp.Array:
        kept = counter
        kept += 1.0
        return y + kept

    replayed = xp.replay(lambda x: xp.loop(4, body, x))
    for _ in range(3):
        counter[...] = 0.0
        found = replayed(xp.ones(1))
        assert (float(found[0]), float(counter[0])) == (11.0, 4.0)


def test_a_number_of_another_type_is_refused() -> None:
    def powers(x: xp.Array, n: int) -> xp.Array:
        factor = 2**n
        return xp.loop(3, lambda _, y: y + factor, x)

    replayed = xp.replay(powers)
    assert int(replayed(xp.asarray([1]), 2)[0]) == 13
    with pytest.raises(xp.ReplayError, match="a Python scalar is now of type float"):
        replayed(xp.asarray([1]), -1)


def test_the_gradient_of_a_body_with_many_arrays_from_outside() -> None:
    """Too many for one call of the loop: the backward pass is recorded step by step."""
    scales = [xp.asarray(0.01 * k) for k in range(40)]

    def loss(x: xp.Array) -> xp.Array:
        def body(_: Any, y: xp.Array) -> xp.Array:
            for scale in scales:
                y = y * scale + y
            return y * xp.ones(3)

        return xp.sum(xp.loop(3, body, x))

    check(grad(loss), numbers(3), rtol=1e-14, steps=2000)
