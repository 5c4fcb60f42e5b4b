"""`checkpoint_loop`: the schedule, the states that it keeps, and gradients, against the plain loop."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import (
    Tape,
    checkpoint,
    checkpoint_loop,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from stride0.autograd._loops import next_snapshot
from stride0.strided import memory_statistics

X, C = xp.asarray([1.0, 2.0]), xp.asarray([0.5, 0.3])


def plain(step, state, n, snapshots):
    for _ in range(n):
        state = step(state)
    return state


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-12)


# --- the schedule


@functools.cache
def fewest(steps, snapshots):
    """Return the fewest calls that advance, over all schedules."""
    if steps <= 1 or snapshots == 1:
        return steps * (steps - 1) // 2
    return min(k + fewest(steps - k, snapshots - 1) + fewest(k, snapshots) for k in range(1, steps))


@functools.cache
def used(steps, snapshots):
    if steps <= 1 or snapshots == 1:
        return steps * (steps - 1) // 2
    k = next_snapshot(0, steps, snapshots - 1)
    return k + used(steps - k, snapshots - 1) + used(k, snapshots)


def test_the_schedule_is_optimal():
    for steps in range(1, 80):
        for snapshots in range(1, 9):
            assert used(steps, snapshots) == fewest(steps, snapshots), (steps, snapshots)
    assert used(1000, 20) == 2747


@pytest.mark.parametrize(("n", "snapshots"), [(1000, 20), (100, 5), (40, 3), (12, 1), (1, 1), (7, 100)])
def test_calls_of_step(n, snapshots):
    calls = 0

    def step(y):
        nonlocal calls
        calls += 1
        return y + 0.01 * xp.sin(y * C)

    found = grad(lambda x: xp.sum(checkpoint_loop(step, x, n, snapshots) ** 2))(X)
    # Calls that advance, and one for each step that is reversed. The forward pass may add a sweep to the end.
    optimum = used(n, min(n, snapshots)) + n
    assert optimum <= calls <= (optimum * 1.05 if n >= 100 else optimum + n)
    close(found, grad(lambda x: xp.sum(plain(step, x, n, snapshots) ** 2))(X))


def test_states_in_memory():
    size, snapshots = 100_000, 6
    x = xp.full((size,), 0.3)

    def peak(loop):
        def loss(x):
            return xp.sum(loop(lambda y: y + 0.01 * y * y, x, 60, snapshots))

        memory_statistics(reset_peak=True)
        before = memory_statistics()["live_bytes"]
        grad(loss)(x)
        return (memory_statistics()["peak_bytes"] - before) / (8 * size)

    with xp.fused(size=0):
        assert peak(plain) > 50
        assert peak(checkpoint_loop) < snapshots + 8


# --- gradients


def loss(loop, x, c, n=12, snapshots=3):
    def step(state):
        y, t, count = state["y"], state["t"], state["count"]
        return {"y": y + 0.1 * xp.sin(y * c) * t, "t": t + 0.5 * c[0], "count": count + 1}

    state = loop(step, {"y": x, "t": x[1] * 1.0, "count": 0}, n, snapshots)
    assert state["count"] == n
    return xp.sum(state["y"] ** 2) * state["t"] + xp.sum(x)


ours, reference = functools.partial(loss, checkpoint_loop), functools.partial(loss, plain)


@pytest.mark.parametrize(("n", "snapshots"), [(0, 1), (1, 1), (2, 1), (9, 1), (9, 2), (30, 4), (5, 50)])
def test_states_and_closures(n, snapshots):
    options = {"n": n, "snapshots": snapshots}
    value, found = value_and_grad(ours, argnums=(0, 1))(X, C, **options)
    wanted, expected = value_and_grad(reference, argnums=(0, 1))(X, C, **options)
    close(value, wanted)
    for a, b in zip(found, expected, strict=True):
        close(a, b)
    close(grad(ours)(X, C, **options), expected[0])
    close(grad(lambda c: ours(X, c, **options))(C), expected[1])


def test_second_order():
    close(hessian(ours)(X, C), hessian(reference)(X, C))
    close(hessian(lambda c: ours(X, c))(C), hessian(lambda c: reference(X, c))(C))
    mixed = [grad(lambda c, f=f: xp.sum(grad(lambda x: f(x, c))(X) ** 2))(C) for f in (ours, reference)]
    close(*mixed)


def test_closures_of_some_steps_only():
    """The tape of second derivatives tracks an array that only the first steps use."""

    def f(loop, c):
        count = []

        def step(y):
            y, k = y
            count.append(k)
            return (y * c if k < 2 else xp.sin(y)), k + 1

        return lambda x: xp.sum(loop(step, (x, 0), 6, 2)[0])

    found = [grad(lambda c, loop=loop: xp.sum(grad(f(loop, c))(X)))(C) for loop in (checkpoint_loop, plain)]
    close(*found)


def test_forward_mode_and_batches():
    for a, b in zip(jvp(ours, (X, C), (C, X)), jvp(reference, (X, C), (C, X)), strict=True):
        close(a, b)
    rows = xp.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = vmap(grad(ours), in_axes=(0, None))(rows, C)
    close(found, [np.asarray(grad(reference)(row, C)) for row in rows])
    sums = [
        grad(lambda c, f=f: xp.sum(vmap(grad(f), in_axes=(0, None))(rows, c)))(C) for f in (ours, reference)
    ]
    close(*sums)
    close(vmap(ours, in_axes=(0, None))(rows, C), [float(reference(row, C)) for row in rows])


def step(y):
    return y + 0.1 * xp.sin(y * C) * y


def rotated(z):
    return z * (1 + 0.1j) + 0.1 * z * z


def gradient_of_gradient(loop):
    with Tape() as tape:
        x = tape.watch(X)
        g = tape.gradient(xp.sum(loop(step, x, 7, 2) ** 2), x)
        y = xp.sum(g**2)
    return tape.gradient(y, x)


FORMS = {
    "rows": lambda loop: jacobian(lambda x: loop(step, x, 7, 2))(X),
    "columns": lambda loop: jacobian(lambda x: loop(step, x, 7, 2), mode="forward")(X),
    "hvp": lambda loop: hvp(lambda x: xp.sum(loop(step, x, 7, 2) ** 2), X, C),
    "linear map": lambda loop: linearize(lambda x: loop(step, x, 7, 2), X)[1](C),
    "tape within": gradient_of_gradient,
    "nested": lambda loop: grad(lambda x: xp.sum(loop(lambda y: loop(step, y, 5, 2) * 0.9, x, 6, 2)))(X),
    "checkpoint in the step": lambda loop: grad(lambda x: xp.sum(loop(checkpoint(step), x, 6, 2) ** 2))(X),
    "third order": lambda loop: hessian(
        lambda x: xp.sum(grad(lambda x: xp.sum(loop(step, x, 5, 2) ** 3))(x))
    )(X),
    "complex": lambda loop: grad(lambda z: xp.sum(abs(loop(rotated, z, 6, 2)) ** 2))(X * (1 + 0.2j)),
    "state in the closure": lambda loop: grad(lambda x: xp.sum(loop(lambda y: y * x + 1, x, 6, 2)))(X),
    "constant state": lambda loop: grad(lambda c: xp.sum(loop(lambda y: y * c + 1, X, 6, 2)))(C),
    "growing state": lambda loop: grad(
        lambda x: xp.sum(loop(lambda y: xp.concat([y, y[-1:] ** 2]), x * 0.3, 5, 2))
    )(X),
    "unused state": lambda loop: grad(lambda x: xp.sum(loop(lambda y: xp.ones(2), x, 5, 2)) + xp.sum(x))(X),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    close(FORMS[form](checkpoint_loop), FORMS[form](plain))


def test_a_pullback_may_be_called_again():
    y, pull = vjp(lambda x: checkpoint_loop(lambda y: xp.sin(y * C) + y, x, 20, 4), X)
    z, expected = vjp(lambda x: plain(lambda y: xp.sin(y * C) + y, x, 20, 4), X)
    close(y, z)
    for _ in range(3):
        close(pull(C)[0], expected(C)[0])


def test_an_error_in_the_backward_pass_leaves_the_loop_usable():
    fails = [False]

    def step(y):
        if fails[0]:
            raise ZeroDivisionError
        return xp.sin(y) + y

    _, pull = vjp(lambda x: checkpoint_loop(step, x, 20, 4), X)
    fails[0] = True
    with pytest.raises(ZeroDivisionError):
        pull(C)
    fails[0] = False
    close(pull(C)[0], vjp(lambda x: plain(step, x, 20, 4), X)[1](C)[0])


def in_place(y):
    y *= 1.1
    y += xp.sin(y)
    return y


@pytest.mark.parametrize("step", [in_place, lambda y: in_place(y) * 1, lambda y: in_place(y)[::-1]])
def test_steps_that_write_to_their_state(step):
    found = [
        grad(lambda x, loop=loop: xp.sum(loop(step, x * 1, 9, 3) ** 2))(X)
        for loop in (checkpoint_loop, plain)
    ]
    close(*found)


def test_a_buffer_that_steps_write_to():
    def f(loop):
        buffer = xp.zeros(2)

        def step(y):
            buffer[...] = y
            return y + 0.1 * buffer * C

        return lambda x: xp.sum(loop(step, x, 9, 3) ** 2)

    close(grad(f(checkpoint_loop))(X), grad(f(plain))(X))


def test_closures_that_are_overwritten_are_refused():
    def f(x):
        c = xp.asarray([3.0, 4.0])
        y = checkpoint_loop(lambda y: y * c, x, 4, 2)
        c[0] = 100.0
        return xp.sum(y)

    with pytest.raises(xp.GradientError, match="overwritten after the call"):
        grad(f)(X)


def test_without_gradient():
    close(checkpoint_loop(lambda y: y * C, X, 3, 1), X * C**3)
    assert checkpoint_loop(lambda k: k + 1, 0, 5, 1) == 5


def test_wrong_arguments():
    with pytest.raises(xp.ArgumentValueError, match="snapshots is 0"):
        checkpoint_loop(xp.sin, X, 3, 0)
    with pytest.raises(xp.ArgumentValueError, match="n is -1"):
        checkpoint_loop(xp.sin, X, -1, 3)
    with pytest.raises(xp.ArgumentTypeError, match="n must be an integer"):
        checkpoint_loop(xp.sin, X, 1.5, 3)


def test_against_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def f(x):
        y, _ = jax.lax.scan(lambda y, _: (y + 0.1 * jnp.sin(y), None), x, None, length=25)
        return jnp.sum(y**2)

    wanted = jax.grad(f)(jnp.asarray([1.0, 2.0], dtype=jnp.float32))
    found = grad(lambda x: xp.sum(checkpoint_loop(lambda y: y + 0.1 * xp.sin(y), x, 25, 3) ** 2))(X)
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5)
