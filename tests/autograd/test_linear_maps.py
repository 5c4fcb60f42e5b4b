"""Derivatives as linear maps, in both modes: `linearize`, `linear_transpose`, `vhp`, modes of `jacobian`."""

from __future__ import annotations

import numpy as np
import pytest

import stride0 as xp
from stride0 import autograd

X = xp.asarray([0.3, -1.2, 2.0, 0.7])
MATRIX = xp.asarray([[2.0, 0.5, 0.1], [0.3, 3.0, 0.2], [0.1, 0.4, 1.5]])


def tall(x):
    return xp.concat([xp.sin(x) * x[0], xp.cumulative_sum(x**2), xp.sort(x)])


def wide(x):
    return xp.stack([xp.sum(x**3), xp.prod(x)])


def energy(x):
    return xp.sum(x**3) * x[0] + xp.exp(x[1] * x[2])


def close(found, expected, tolerance=1e-12):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("f", [tall, wide, xp.linalg.inv, xp.linalg.eigvalsh, lambda x: xp.fft.rfft(x)])
def test_columns_are_those_of_rows(f):
    x = MATRIX if f in (xp.linalg.inv, xp.linalg.eigvalsh) else X
    rows = autograd.jacobian(f, mode="reverse")(x)
    close(autograd.jacobian(f, mode="forward")(x), rows)
    close(autograd.jacobian(f)(x), rows)


@pytest.mark.parametrize("f", [lambda z: z**2, lambda z: xp.real(z * xp.conj(z)), lambda z: z[:1] * z])
def test_columns_of_complex_arguments(f):
    z = X * (1 + 0.5j)
    close(autograd.jacobian(f, mode="forward")(z), autograd.jacobian(f, mode="reverse")(z))


def test_columns_of_structures():
    def f(p, k):
        return {"a": p["x"] * p["y"], "b": [xp.sum(p["x"]) * k, p["x"] * (1 + 2j)]}

    p = {"x": X, "y": xp.asarray(2.0)}
    rows = autograd.jacobian(f, (0, 1), mode="reverse")(p, 3.0)
    columns = autograd.jacobian(f, (0, 1), mode="forward")(p, 3.0)
    assert columns.keys() == rows.keys()
    close(columns["a"][0]["y"], rows["a"][0]["y"])
    close(columns["b"][1][0]["x"], rows["b"][1][0]["x"])
    close(columns["b"][0][1], rows["b"][0][1])


def test_auto_takes_the_shorter_side():
    """A function that refuses one of the modes shows which one was used."""
    modes = []

    @autograd.custom_jvp
    def f(x):
        return xp.concat([x, x])

    @f.defjvp
    def rule(primals, tangents):
        modes.append(tangents[0].shape)
        return f(*primals), xp.concat([tangents[0], tangents[0]])

    assert autograd.jacobian(f)(xp.ones(2)).shape == (4, 2)
    forward = len(modes)
    assert autograd.jacobian(lambda x: xp.sum(f(x)))(xp.ones(2)).shape == (2,)
    assert forward == 1 and len(modes) == 2


def test_functions_without_batching_rule():
    @autograd.custom_vjp
    def f(x):
        return x * 2

    def backward(residuals, g):
        return (xp.asarray(2.0 * np.asarray(g)),)

    f.defvjp(lambda x: (x * 2, None), backward)
    close(autograd.jacobian(f)(X), 2 * np.eye(4))


def test_columns_in_chunks(monkeypatch):
    rows = autograd.jacobian(tall, mode="reverse")(X)
    monkeypatch.setattr("stride0.autograd._matrices.CHUNK", 24)
    close(autograd.jacobian(tall, mode="forward")(X), rows)
    close(autograd.jacobian(tall, mode="reverse")(X), rows)
    close(autograd.hessian_diag(energy)(X), np.diag(np.asarray(autograd.hessian(energy)(X))))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_empty_arrays(mode):
    assert autograd.jacobian(lambda x: x * 2, mode=mode)(xp.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert autograd.jacobian(lambda x: xp.sum(x), mode=mode)(xp.zeros((0,))).shape == (0,)
    assert autograd.jacobian(lambda x: x[:0], mode=mode)(X).shape == (0, 4)


def test_value_and_jacobian():
    calls = []

    def f(x, k):
        calls.append(k)
        return tall(x) * k, "more"

    (value, aux), matrix = autograd.value_and_jacobian(f, has_aux=True)(X, 2.0)
    assert calls == [2.0] and aux == "more"
    close(value, tall(X) * 2.0)
    close(matrix, autograd.jacobian(tall)(X) * 2.0)
    value, matrix = autograd.value_and_jacobian(wide, mode="forward")(X)
    close(value, wide(X))
    close(matrix, autograd.jacobian(wide)(X))


def test_errors_of_jacobian():
    with pytest.raises(xp.ArgumentValueError, match=r"^jacobian: mode is 'both'"):
        autograd.jacobian(tall, mode="both")
    with pytest.raises(xp.ArgumentTypeError, match=r"^value_and_jacobian: a result of dtype int64"):
        autograd.value_and_jacobian(lambda x: xp.argsort(x))(X)


def test_linearize():
    calls = []

    def f(x, y):
        calls.append(1)
        return {"a": tall(x) * y}, "more"

    value, derivative, aux = autograd.linearize(f, X, xp.asarray(2.0), has_aux=True)
    assert aux == "more" and isinstance(derivative, autograd.LinearMap)
    matrices = autograd.jacobian(lambda x, y: f(x, y)[0]["a"], (0, 1))(X, xp.asarray(2.0))
    calls.clear()
    v, w, g = X**2, xp.asarray(0.4), tall(X)
    close(value["a"], tall(X) * 2.0)
    for _ in range(2):
        close(derivative(v, w)["a"], matrices[0] @ v + matrices[1] * w)
        transposed = derivative.transpose({"a": g})
        close(transposed[0], g @ matrices[0])
        close(transposed[1], xp.sum(g * matrices[1]))
    assert calls == []


def test_linear_maps_compose():
    """Batches, and derivatives of the map by its argument and by the point."""
    _, derivative = autograd.linearize(tall, X)
    matrix = autograd.jacobian(tall)(X)
    close(autograd.vmap(derivative)(xp.eye(4)), matrix.T)
    close(autograd.jacobian(derivative)(X), matrix)
    close(autograd.jacobian(lambda g: derivative.transpose(g)[0])(tall(X)), matrix.T)

    def curvature(x):
        _, inner = autograd.linearize(autograd.grad(energy), x)
        return inner(X)

    third = autograd.jacobian(autograd.hessian(energy))(X)
    close(autograd.jacobian(curvature)(X), xp.tensordot(third, X, axes=((1,), (0,))))


def test_errors_of_linearize():
    _, derivative = autograd.linearize(tall, X)
    with pytest.raises(xp.ShapeError, match=r"^LinearMap"):
        derivative(X[:2])
    with pytest.raises(xp.ArgumentValueError, match=r"^LinearMap: the tangents"):
        derivative(X, X)
    with pytest.raises(xp.ShapeError, match=r"^LinearMap"):
        derivative.transpose(X)
    with pytest.raises(xp.ArgumentTypeError, match=r"^linearize: a result of dtype int64"):
        autograd.linearize(xp.argsort, X)


LINEAR = {
    "differences": lambda x: x[1:] - x[:-1],
    "product": lambda x: xp.reshape(x, (2, 2)) @ xp.asarray([[1.0, 2.0], [3.0, 4.0]]),
    "sums": lambda x: xp.cumulative_sum(x) * 3,
    "transform": lambda x: xp.fft.rfft(x),
    "part": lambda x: xp.real(xp.fft.fft(x)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_transpose(name):
    f = LINEAR[name]
    y, pull = autograd.vjp(f, X)
    g = y * 0.7 + 1
    close(autograd.linear_transpose(f, xp.zeros(4))(g)[0], pull(g)[0])


NOT_LINEAR = {
    "affine": lambda x: x + 1,
    "square": lambda x: x * x,
    "absolute value": lambda x: xp.abs(x),
    "ramp": lambda x: xp.maximum(x, 0.0),
    "constant": lambda x: xp.ones(3),
    "largest": lambda x: xp.max(x),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_functions_that_are_not_linear(name):
    with pytest.raises(xp.ArgumentValueError, match=r"^linear_transpose: the function is not linear"):
        autograd.linear_transpose(NOT_LINEAR[name], X)


def test_vhp_and_diagonal():
    matrix = autograd.hessian(energy)(X)
    close(autograd.vhp(energy, X, X**2), matrix @ X**2)
    close(autograd.vhp(lambda k, x: k * energy(x), (2.0, X), X, argnums=1), 2 * (matrix @ X))
    product, aux = autograd.vhp(lambda x: (energy(x), "more"), X, X, has_aux=True)
    assert aux == "more"
    close(product, matrix @ X)
    tree, scale = {"a": X, "b": xp.asarray(2.0)}, xp.asarray(3.0)
    product = autograd.vhp(lambda p: energy(p["a"]) * p["b"] ** 2, tree, tree)
    close(product["b"], 2 * 2 * xp.sum(autograd.grad(energy)(X) * X) + 2 * energy(X) * 2.0)
    close(autograd.hessian_diag(energy)(X), xp.linalg.diagonal(matrix))
    found = autograd.hessian_diag(lambda p, k: energy(p["a"]) * p["b"] ** 2 * k**3, (0, 1))(tree, scale)
    close(found[0]["a"], 4 * 27 * xp.linalg.diagonal(matrix))
    close(found[0]["b"], 2 * 27 * energy(X))
    close(found[1], 18 * 4 * energy(X))
    diagonal, aux = autograd.hessian_diag(lambda x: (energy(x), 5), has_aux=True)(X)
    assert aux == 5
    close(diagonal, xp.linalg.diagonal(matrix))
    third = autograd.jacobian(lambda x: xp.linalg.diagonal(autograd.hessian(energy)(x)))(X)
    close(autograd.jacobian(autograd.hessian_diag(energy))(X), third)
    with pytest.raises(xp.ArgumentTypeError, match=r"^hessian_diag: the Hessian with respect to a complex"):
        autograd.hessian_diag(lambda z: xp.real(xp.sum(z * xp.conj(z))))(X * 1j)


def test_against_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    with jax.enable_x64() if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        x = jnp.asarray(np.asarray(X))

        def theirs(x):
            return jnp.concatenate([jnp.sin(x) * x[0], jnp.cumsum(x**2), jnp.sort(x)])

        def their_energy(x):
            return jnp.sum(x**3) * x[0] + jnp.exp(x[1] * x[2])

        close(autograd.jacobian(tall)(X), jax.jacfwd(theirs)(x))
        close(autograd.hessian_diag(energy)(X), jnp.diag(jax.hessian(their_energy)(x)))
        _, push = jax.linearize(theirs, x)
        close(autograd.linearize(tall, X)[1](X), push(x))
