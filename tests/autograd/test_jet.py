"""Derivatives of any order along a curve: `jet` and `derivatives`, against nested `jvp` and JAX."""

from __future__ import annotations

import functools
import gc

import numpy as np
import pytest
from jet_programs import PROGRAMS, SPECIAL, compare, nested

import stride0 as xp
from stride0 import autograd, special
from stride0.autograd import derivatives, grad, jet, jvp, vmap
from stride0.strided import memory_statistics


def close(found, wanted, tolerance=1e-11):
    found, wanted = np.asarray(found), np.asarray(wanted)
    scale = tolerance * np.abs(wanted).max(initial=0)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-3 * scale)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, *points = PROGRAMS[name]
    compare(f, *points)


WRITTEN = {"writes", "updates by keys", "updates", "writes through views", "view made before"}


def orders(f, points, rows):
    y, found = jet(f, points, rows)
    return [y, *found]


def lines(points):
    return [[xp.asarray(x) * 0.5 + 0.1, xp.asarray(x) * -0.3] for x in points]


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - WRITTEN - {"keys"}))
def test_programs_in_batches(name):
    f, *points = PROGRAMS[name]
    points = [xp.asarray(x) for x in points]
    rows = lines(points)
    pairs = [xp.stack([x * 2, x]) for x in points], [[xp.stack([v, v]) for v in row] for row in rows]
    found = vmap(functools.partial(orders, f))(*pairs)
    for a, b in zip(found, orders(f, points, rows), strict=True):
        close(a[1], b, 1e-9)


@pytest.mark.parametrize(
    "name", sorted(k for k, (_, x, *_) in PROGRAMS.items() if x.dtype.kind == "f" and k != "extremes")
)
def test_gradients_of_programs(name):
    f, *points = PROGRAMS[name]
    points = [xp.asarray(x) for x in points]
    rows = lines(points)

    def loss(by, x):
        return sum(xp.sum(xp.real(y * y)) for y in by(f, [x, *points[1:]], rows))

    found, wanted = (grad(functools.partial(loss, by))(points[0]) for by in (orders, nested))
    close(found, wanted, 1e-7)


def test_in_blocks_of_fused():
    for f, *points in PROGRAMS.values():
        points = [xp.asarray(x) for x in points]
        expected = orders(f, points, lines(points))
        with xp.fused(size=1):
            found = orders(f, points, lines(points))
        for a, b in zip(found, expected, strict=True):
            close(a, b)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_of_several_operands(name):
    f, *points = SPECIAL[name]
    compare(f, *points)


# --- transformations, structures and modes


def loss(x, w):
    return xp.sum(xp.sin(w * x) * xp.exp(x) @ xp.asarray([[1.0, 2.0], [3.0, 4.0]]))


def second(x, w):
    return jet(lambda x: loss(x, w), (x,), ([xp.ones(2), xp.zeros(2), xp.zeros(2)],))[1][1]


def second_by_jvp(x, w):
    slope = lambda x: jvp(lambda x: loss(x, w), (x,), (xp.ones(2),))[1]  # noqa: E731
    return jvp(slope, (x,), (xp.ones(2),))[1]


X, W = xp.asarray([0.3, 0.5]), xp.asarray([1.0, 2.0])


def test_gradients_of_derivatives():
    for a, b in zip(
        grad(second, argnums=(0, 1))(X, W), grad(second_by_jvp, argnums=(0, 1))(X, W), strict=True
    ):
        close(a, b)
    close(jvp(lambda w: second(X, w), (W,), (X,))[1], jvp(lambda w: second_by_jvp(X, w), (W,), (X,))[1])


def test_batches():
    rows = xp.asarray([[0.3, 0.5], [1.0, -2.0], [0.0, 0.1]])
    close(vmap(second, in_axes=(0, None))(rows, W), [second(row, W) for row in rows])
    found = vmap(grad(second, argnums=1), in_axes=(0, None))(rows, W)
    close(found, [np.asarray(grad(second, argnums=1)(row, W)) for row in rows])
    total = grad(lambda w: xp.sum(vmap(second, in_axes=(0, None))(rows, w)))(W)
    close(total, np.asarray(found).sum(axis=0))


def test_updates_of_batches():
    def f(x):
        y = x * 1
        y *= x
        y += W
        y **= 2
        return y

    rows = xp.asarray([[0.3, 0.5], [1.0, -2.0]])
    found = vmap(lambda x: orders(f, (x,), lines([x])))(rows)
    for k, row in enumerate(rows):
        for a, b in zip(found, orders(f, (row,), lines([row])), strict=True):
            close(a[k], b)
    with pytest.raises(xp.GradientError, match="setitem writes into an array"):
        vmap(lambda x: orders(PROGRAMS["writes through views"][0], (x,), lines([x])))(xp.ones((2, 4)))


def test_exponents_of_the_caller():
    """They are constants of `jet`, and the caller differentiates by them, or has a batch of them."""

    def third(p):
        return derivatives(lambda x: x**p + special.boxcox(x, p), xp.asarray(1.3), 3)[3]

    def by_hand(p):
        return p * (p - 1) * (p - 2) * 1.3 ** (p - 3) + (p - 1) * (p - 2) * 1.3 ** (p - 3)

    exponents = xp.asarray([2.0, 0.5, 3.0, 1.7])
    close(vmap(third)(exponents), by_hand(exponents))
    close(vmap(grad(third))(exponents), vmap(grad(by_hand))(exponents))
    close(grad(third)(xp.asarray(2.0)), grad(by_hand)(xp.asarray(2.0)))


def test_masks_of_the_caller():
    def second(w, by):
        def f(x):
            y = x * w
            y[w * 2 > 1] = xp.sin(x)[w * 2 > 1]
            y = y * xp.where(w > 1, w, x)
            return xp.sum(y)

        return by(f, (X,), [[X, W]])[2]

    w = xp.asarray([0.2, 1.5])
    close(grad(lambda w: second(w, orders))(w), grad(lambda w: second(w, nested))(w))


def test_gradients_of_writes_through_views():
    def f(x, w):
        y = xp.zeros(4)
        y[1:3] += x * w
        half = y[2:]
        half *= w
        return xp.sum(y**3 * 2)

    def second(by):
        return lambda w: by(lambda x: f(x, w), (X,), [[X, W]])[2]

    close(grad(second(orders))(W), grad(second(nested))(W))


def test_structures():
    def f(p, q):
        return {"a": p["x"] * q, "b": [xp.sum(p["x"]), "text"]}

    zero = xp.zeros(2)
    y, (first, last) = jet(f, ({"x": X}, W), ([{"x": W}, {"x": zero}], [X, zero]))
    close(y["a"], X * W)
    close(first["a"], W * W + X * X)
    close(last["a"], 2 * W * X)
    assert first["b"][1] is None and float(last["b"][0]) == 0.0


def test_results_are_new_and_arguments_stay():
    row = xp.asarray([1.0, 2.0])

    def f(x):
        y = +x
        y[0] = 5.0
        return y

    _, (found,) = jet(f, (X,), ([row],))
    close(found, [0.0, 2.0])
    close(row, [1.0, 2.0])
    zeros = jet(lambda x: xp.ones(3), (X,), ([row, row],))[1]
    assert [d.shape for d in zeros] == [(3,), (3,)] and not any(xp.any(d) for d in zeros)
    assert jet(lambda x: x * 2, (X,), ([],))[1] == []


def test_modes_of_the_caller():
    with xp.strict(), xp.broadcasting("exact"):
        found = jet(lambda x: xp.linalg.vector_norm(x) ** 3 * xp.prod(x), (X,), ([W, W],))[1]
    close(found[1], jet(lambda x: xp.linalg.vector_norm(x) ** 3 * xp.prod(x), (X,), ([W, W],))[1][1])
    f = lambda x: xp.sum(xp.reshape(x, (1, 2)).T * x)  # noqa: E731
    with xp.testing.flags(views=False, devices=("cpu", "other")):
        found = jet(f, (X,), ([W],))[1][0]
    close(found, jet(f, (X,), ([W],))[1][0])


REFUSED = {
    "linalg.eigh has no rule": lambda x: xp.linalg.eigh(xp.linalg.outer(x, x))[0],
    "special.dawsn has no rule": special.dawsn,
    "median has no rule": xp.median,
    "v has no gradient": lambda x: special.jv(x, x),
    "gammainc has no rule for its argument 1": lambda x: special.gammainc(x + 1, x),
    "linalg.matrix_norm has no rule for these": lambda x: xp.linalg.matrix_norm(x[None] * x, ord=2),
    "has no Taylor series: a function of autograd": lambda x: 2 * grad(lambda y: xp.sum(y**3))(x),
    "has no Taylor series": lambda x: jet(xp.sin, (x,), ([W],))[1][0],
    "an operand of multiply has no Taylor series": lambda x: vmap(lambda y: y * y)(x),
    "has no Taylor series: a function": lambda x: vmap(xp.sin)(xp.stack([x, x])),
    "an operand of multiply has no": lambda x: autograd.checkpoint(xp.sin)(x) * 2,
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_by_name(message):
    with pytest.raises(xp.GradientError, match=message):
        jet(REFUSED[message], (X,), ([W, W],))


def test_components_see_writes():
    def f(x):
        y = x * (1 + 2j)
        part = y.imag
        z = part * 2
        y[0] = xp.sin(x[0]) * 3j
        return part * z + y.real

    compare(f, [0.3, -1.2, 2.0, 0.7])


def test_writes_that_views_see():
    def f(x):
        y = xp.reshape(x * x, (2, 2))
        columns, diagonal, rows = y.T, xp.linalg.diagonal(y), [y[0], y[1]]
        y[0, 1] = xp.sin(x[0])
        columns[0, 0] = xp.exp(x[1])
        rows[1] @= xp.reshape(x, (2, 2))
        return columns @ y + diagonal * rows[0]

    compare(f, [0.3, -1.2, 2.0, 0.7])


def test_refused_writes():
    def components(x):
        y = x * (1 + 2j)
        part = y.real
        z = part * 2
        part[0] = xp.sin(x[0])
        return y * z

    with pytest.raises(xp.GradientError, match="a view of components is written to"):
        jet(components, (X,), ([W],))


def test_wrong_arguments():
    with pytest.raises(xp.ArgumentValueError, match="series needs 1 sequences of equal length"):
        jet(xp.sin, (X,), ([W], [W]))
    with pytest.raises(xp.ShapeError, match=r"^jet: "):
        jet(xp.sin, (X,), ([xp.ones(3)],))
    with pytest.raises(xp.ArgumentTypeError, match="a result of dtype int64"):
        jet(xp.argmax, (X,), ([W],))
    with pytest.raises(xp.ArgumentValueError, match="order is -1"):
        derivatives(xp.sin, X, -1)
    with pytest.raises(xp.ShapeError, match="not elementwise"):
        derivatives(xp.sum, X, 2)


def test_derivatives():
    found = derivatives(lambda x: xp.exp(2 * x), X, 10)
    close([np.asarray(d) for d in found], [2.0**k * np.exp(2 * np.asarray(X)) for k in range(11)])
    close(derivatives(lambda x: xp.stack([x**3, 1 / x]), xp.asarray(2.0), 2)[2], [12.0, 0.25])
    assert len(derivatives(xp.sin, X, 0)) == 1


def test_cost_grows_as_the_square():
    """Count the products of coefficients."""
    from stride0.autograd._jets import series

    counts = []
    original = series.product

    def counted(*args):
        counts[-1] += 1
        return original(*args)

    for order in (8, 16, 32):
        counts.append(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(series, "product", counted)
            derivatives(lambda x: xp.exp(xp.sin(x)) / (1 + x * x), xp.asarray(0.3), order)
    assert counts[0] > 8 and counts[2] / counts[1] < 4.5 and counts[1] / counts[0] < 4.5


def test_coefficients_are_freed_without_the_garbage_collector():
    def f(x):
        return xp.tan(x) * xp.asin(x / 9) + special.erfinv(x / 9) + special.softmax(x)

    def run():
        derivatives(f, xp.linspace(0.0, 1.0, 10_000), 5)
        return memory_statistics()["live_bytes"]

    with xp.fused(size=0):
        run()
        gc.collect()
        gc.disable()
        try:
            before = run()
            assert run() - before < 10_000 and run() - before < 10_000
        finally:
            gc.enable()


def test_against_jax():
    jax = pytest.importorskip("jax")
    experimental = pytest.importorskip("jax.experimental.jet")
    jnp = jax.numpy
    rows = [[1.0, 0.5], [0.3, -0.2], [0.1, 2.0]]
    f = lambda m, x: m.tanh(x) * m.exp(x) / (1 + x * x) + m.sin(x) ** 3  # noqa: E731
    given = [jnp.asarray(row, dtype=jnp.float32) for row in rows]
    x = jnp.asarray([0.3, 0.5], dtype=jnp.float32)
    y, wanted = experimental.jet(lambda x: f(jnp, x), (x,), (given,))
    z, found = jet(lambda x: f(xp, x), (X,), ([xp.asarray(row) for row in rows],))
    for a, b in zip([z, *found], [y, *wanted], strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4)
