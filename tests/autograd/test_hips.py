"""`stride0.autograd.hips`: closed forms, and HIPS/autograd itself if it is installed."""

from __future__ import annotations

import functools
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
import stride0.testing
from stride0 import ArgumentTypeError, ArgumentValueError, GradientError
from stride0.autograd import hips
from stride0.autograd.hips.misc import flatten, optimizers
from stride0.autograd.hips.misc.fixed_points import fixed_point

X, V = np.asarray([0.3, -0.7, 1.1]), np.asarray([1.0, 2.0, -0.5])
MATRIX = np.asarray([[1.0, 2.0, 0.5], [-1.0, 0.3, 2.0]])
SQUARES = np.sum(X**2)


def curve(x: Any) -> Any:
    return hips.numpy.tanh(hips.numpy.dot(MATRIX, x))


def loss(x: Any) -> Any:
    return hips.numpy.sum(x**2) ** 2


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-13)


JACOBIAN = (1 - np.tanh(MATRIX @ X) ** 2)[:, None] * MATRIX
HESSIAN = 8 * np.outer(X, X) + 4 * SQUARES * np.eye(3)


def test_operators_have_closed_forms_on_numpy_arrays() -> None:
    close(hips.grad(loss)(X), 4 * SQUARES * X)
    value, gradient = hips.value_and_grad(loss)(X)
    close(value, SQUARES**2)
    close(gradient, 4 * SQUARES * X)
    close(hips.elementwise_grad(hips.numpy.sin)(X), np.cos(X))
    close(hips.deriv(hips.numpy.sin)(X), np.cos(X))
    close(hips.jacobian(curve)(X), JACOBIAN)
    close(hips.hessian(loss)(X), HESSIAN)
    pull, value = hips.make_vjp(curve)(X)
    close(value, np.tanh(MATRIX @ X))
    close(pull(V[:2]), V[:2] @ JACOBIAN)
    close(hips.make_jvp(curve)(X)(V)[1], JACOBIAN @ V)
    product, gradient = hips.make_hvp(loss)(X)
    close(gradient, 4 * SQUARES * X)
    close(product(V), HESSIAN @ V)
    close(hips.hessian_vector_product(loss)(X, V), HESSIAN @ V)
    close(hips.tensor_jacobian_product(curve)(X, V[:2]), V[:2] @ JACOBIAN)
    close(
        hips.vector_jacobian_product(lambda x: hips.numpy.outer(x, x))(X, V),
        np.outer(X, V) + (V @ X) * np.eye(3),
    )
    close(hips.make_ggnvp(curve)(X)(V), JACOBIAN.T @ JACOBIAN @ V)
    weights = hips.numpy.asarray([2.0, 3.0])
    quartic = hips.make_ggnvp(curve, lambda y: hips.numpy.sum(weights * y**2))
    close(quartic(X)(V), JACOBIAN.T @ (2 * np.asarray(weights) * (JACOBIAN @ V)))
    gradient, aux = hips.grad_and_aux(lambda x: (loss(x), x**2))(X)
    close(gradient, 4 * SQUARES * X)
    close(aux, X**2)


def test_arguments_are_chosen_by_number_and_by_name() -> None:
    def scaled(x: Any, w: Any, *, power: int = 2) -> Any:
        return hips.numpy.sum(w * x**power)

    close(hips.grad(scaled, 1)(X, V, power=3), X**3)
    both = hips.grad(scaled, argnum=[1, 0])(X, V)
    close(both[0], X**2)
    close(both[1], 2 * V * X)
    close(hips.grad_named(scaled, "w")(X, V), X**2)
    found = hips.multigrad_dict(lambda x, w=V, *more, name="no", **rest: scaled(x, w) * more[0] * rest["y"])
    gradients = found(X, V, 2.0, y=5.0)
    assert list(gradients) == ["x", "w", "more", "name", "rest"]
    assert gradients["name"] is None
    close(gradients["w"], 10 * X**2)
    close(gradients["more"][0], 5 * np.sum(V * X**2))
    close(gradients["rest"]["y"], 2 * np.sum(V * X**2))


def test_gradients_go_through_containers() -> None:
    found = hips.grad(lambda p: hips.numpy.sum(p["a"] ** 2) + p["b"][1] * 3.0)({"a": X, "b": (1.0, 2.0)})
    close(found["a"], 2 * X)
    close(found["b"][0], 0)
    close(found["b"][1], 3)
    assert hips.tuple is tuple
    assert hips.builtins.dict is dict


def test_complex_arguments_follow_the_convention_of_hips() -> None:
    z = np.asarray([1 + 2j, 0.5 - 1j])
    close(hips.grad(lambda z: hips.numpy.sum(hips.numpy.real(z**2)))(z), 2 * z)
    close(hips.holomorphic_grad(lambda z: hips.numpy.sum(z**3))(z), 3 * z**2)
    close(hips.jacobian(lambda z: hips.numpy.real(z**2))(z), np.diag(2 * z))
    close(hips.make_vjp(lambda z: z**2)(z)[0](1j * z), 2j * z**2)
    with pytest.warns(UserWarning, match="not complex"):
        hips.holomorphic_grad(lambda x: x**2)(2.0)
    for operator in (hips.grad, hips.value_and_grad, hips.elementwise_grad, hips.jacobian):
        with pytest.raises(ArgumentTypeError, match=operator.__name__):
            operator(lambda z: z * z)(1 + 1j)
    with pytest.raises(ArgumentTypeError, match="make_ggnvp"):
        hips.make_ggnvp(lambda z: z)(z)


def test_results_that_are_not_one_real_number_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="grad: the result is not a real number"):
        hips.grad(hips.numpy.sin)(X)
    with pytest.raises(ArgumentValueError, match="argnum"):
        hips.grad(loss, 1)(X)
    close(hips.grad(lambda x: hips.numpy.sum(x, keepdims=True))(X), np.ones(3))


def logsumexp() -> Any:
    """A primitive that computes by NumPy; its rule uses the result."""

    @hips.primitive
    def made(x: Any, scale: Any = 1.0, *, sign: float = 1.0) -> Any:
        return sign * scale * np.log(np.sum(np.exp(np.asarray(x))))

    return made


def exact(x: Any) -> Any:
    return xp.log(xp.sum(xp.exp(x)))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_rules_of_primitives_are_differentiated_themselves(order: int) -> None:
    ours = logsumexp()
    hips.defvjp(ours, lambda ans, x, scale=1.0, sign=1.0: lambda g: g * sign * hips.numpy.exp(x - sign * ans))
    forward = logsumexp()
    hips.defjvp(
        forward, lambda v, ans, x, sign=1.0: hips.numpy.sum(v * sign * hips.numpy.exp(x - sign * ans))
    )
    for f in (ours, forward):
        for sign in (1.0, -1.0):
            one, two = functools.partial(f, sign=sign), lambda x, sign=sign: sign * exact(x)
            for _ in range(order):
                one, two = hips.jacobian(one), hips.jacobian(two)
            close(one(X), np.asarray(two(X)))


def test_rules_of_both_modes_are_used() -> None:
    calls: list[str] = []
    f = hips.primitive(lambda x: x**2)
    hips.defvjp(f, lambda ans, x: lambda g: calls.append("vjp") or 2 * x * g)
    hips.defjvp(f, lambda v, ans, x: calls.append("jvp") or 2 * x * v)
    close(hips.grad(f)(3.0), 6)
    close(hips.deriv(f)(3.0), 6)
    assert calls == ["vjp", "jvp"]


def test_primitives_without_a_rule_raise() -> None:
    f = hips.primitive(lambda x, y: x * y)
    close(f(2.0, 3.0), 6)
    with pytest.raises(GradientError, match="argument 0 of <lambda> has no rule"):
        hips.grad(f)(2.0, 3.0)
    hips.defvjp(f, lambda ans, x, y: lambda g: g * x, None, argnums=(1, 0))
    close(hips.grad(f, 1)(2.0, 3.0), 2)
    close(hips.grad(f, 0)(2.0, 3.0), 0)
    g = hips.primitive(lambda x, y: x * y)
    hips.defvjp(g, lambda ans, x, y: lambda g: g * y)
    with pytest.raises(GradientError, match="argument 1"):
        hips.grad(g, 1)(2.0, 3.0)


def test_missing_rules_are_no_zeros_in_the_other_mode_or_within_vmap() -> None:
    f = hips.primitive(lambda x, y: x * y)
    hips.defvjp(f, lambda ans, x, y: lambda g: g * y, lambda ans, x, y: lambda g: g * x)
    hips.defjvp(f, lambda v, ans, x, y: v * y)
    close(hips.deriv(f)(2.0, 3.0), 3)
    close(hips.grad(f, 1)(2.0, 3.0), 2)
    with pytest.raises(GradientError, match="argument 1"):
        hips.deriv(f, 1)(2.0, 3.0)
    g = hips.primitive(lambda x, y: x * y)
    hips.defvjp(g, lambda ans, x, y: lambda g: g * y)
    with pytest.raises(GradientError, match="argument 1"):
        hips.grad(lambda y: xp.sum(xp.autograd.vmap(lambda y: g(2.0, y))(y)))(X)
    close(hips.grad(lambda x: xp.sum(xp.autograd.vmap(lambda x: g(x, 2.0))(x)))(X), [2, 2, 2])


def test_primitives_have_rules_for_complex_cotangents_of_hips() -> None:
    f = hips.primitive(lambda z: z**2)
    hips.defvjp(f, lambda ans, z: lambda g: g * 2 * z)
    close(hips.grad(lambda z: hips.numpy.real(f(z)))(1 + 2j), 2 + 4j)
    close(xp.autograd.grad(lambda z: xp.real(f(z)))(xp.asarray(1 + 2j)), 2 - 4j)


def test_flatten_sorts_keys_and_is_differentiable() -> None:
    flat, unflatten = flatten({"b": [1.0, np.ones((2, 1), dtype=np.float32)], "a": (X,)})
    close(flat, [*X, 1, 1, 1])
    tree = unflatten(flat * 2)
    assert tree["b"][1].shape == (2, 1) and tree["b"][1].dtype == xp.float32
    close(hips.grad(lambda v: unflatten(v)["b"][0] ** 2)(flat), [0, 0, 0, 2, 0, 0])
    close(hips.grad(lambda t: xp.sum(flatten(t)[0] ** 2))({"x": X})["x"], 2 * X)
    close(flatten([])[0], [])


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimizers_minimize_and_call_back(name: str) -> None:
    seen: list[tuple[float, int, float]] = []
    found = getattr(optimizers, name)(
        lambda p, i: {"x": 2 * (p["x"] - 3)},
        {"x": 1.0},
        callback=lambda p, i, g: seen.append((float(p["x"]), i, float(g["x"]))),
        num_iters=3000,
        step_size=0.01,
    )
    assert abs(float(found["x"]) - 3) < 0.02
    assert seen[0] == (1.0, 0, -4.0)
    assert [i for _, i, _ in seen] == list(range(3000))


def test_fixed_points_have_derivatives_to_second_order() -> None:
    def root(a: Any) -> Any:
        return fixed_point(lambda a: lambda x: (x + a / x) / 2, a, 1.0, lambda x, y: abs(x - y), 1e-10)

    close(root(2.0), 2**0.5)
    close(hips.grad(root)(2.0), 0.5 / 2**0.5)
    close(hips.grad(hips.grad(root))(2.0), -0.25 / 2**1.5)


@pytest.mark.parametrize("order", [1, 2])
def test_eigh_of_the_triangle_that_is_read_has_the_gradient_of_differences(order: int) -> None:
    """HIPS differentiates by one triangle; the test builds the Hermitian matrix that stride0 needs."""
    values = np.asarray([[2.0, 0.3, -0.5], [0.7, -1.0, 0.2], [0.4, 1.1, 0.5]])

    def spectrum(x: Any) -> Any:
        low = xp.tril(x, k=-1)
        found = hips.numpy.linalg.eigh(low + low.T + xp.eye(3) * xp.linalg.diagonal(x))
        return xp.sum(found[0] ** 3) + xp.sum(xp.abs(found[1]) * xp.asarray(values))

    stride0.testing.check_grad(spectrum, xp.asarray(values), order=order)


def test_the_module_is_imported_on_request() -> None:
    code = "import sys, stride0.autograd; print('stride0.autograd.hips' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- HIPS/autograd

CASES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda a: a.grad(lambda x: a.numpy.sum(a.numpy.tanh(x) ** 3))(X),
    "grad of a grad": lambda a: a.elementwise_grad(a.elementwise_grad(a.numpy.exp))(X),
    "complex grad": lambda a: a.grad(lambda z: a.numpy.sum(a.numpy.abs(z**3)))(X + 1j * V),
    "complex vjp": lambda a: a.make_vjp(lambda z: z**2 + a.numpy.conj(z))(X + 1j * V)[0](V - 2j * X),
    "complex jvp": lambda a: a.make_jvp(lambda z: z**2 + a.numpy.conj(z))(X + 1j * V)(V - 2j * X)[1],
    "holomorphic": lambda a: a.holomorphic_grad(lambda z: a.numpy.sum(a.numpy.sin(z)))(X + 1j * V),
    "real to complex": lambda a: a.grad(lambda x: a.numpy.sum(a.numpy.imag(a.numpy.exp(1j * x) ** 2)))(X),
    "jacobian": lambda a: a.jacobian(lambda x: a.numpy.outer(a.numpy.sin(x), x))(X),
    "hessian": lambda a: a.hessian(lambda x: a.numpy.prod(x))(X),
    "hessian tensor": lambda a: a.hessian_tensor_product(lambda x: a.numpy.sum(x**2) ** 2)(MATRIX, MATRIX),
    "tensor jacobian": lambda a: a.tensor_jacobian_product(lambda x: a.numpy.outer(x, x))(X, V),
    "ggnvp": lambda a: a.make_ggnvp(lambda x: a.numpy.tanh(a.numpy.dot(MATRIX, x)))(X)(V),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_autograd(name: str) -> None:
    theirs = pytest.importorskip("autograd")
    pytest.importorskip("autograd.numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(CASES[name](hips), CASES[name](theirs))


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_steps_are_those_of_autograd(name: str) -> None:
    theirs = pytest.importorskip("autograd.misc.optimizers")
    for steps in (1, 2, 10):
        arguments = (lambda x, i: x**3 + i * 0.1, X)
        close(
            getattr(optimizers, name)(*arguments, num_iters=steps),
            getattr(theirs, name)(*arguments, num_iters=steps),
        )
