"""Solutions of equations and minima: derivatives of both modes to second order, against closed forms."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import stride0 as xp
from stride0 import autograd
from stride0.autograd import implicit

pytest.importorskip("scipy.optimize")

ONE = xp.asarray(1.0)
A = xp.asarray([[3.0, 0.4, -0.2], [0.1, 2.5, 0.3], [0.5, -0.6, 2.0]])
DATA = xp.asarray([[1.0, 0.2], [0.4, -1.0], [0.3, 0.8], [-0.9, 1.1]])
T = xp.asarray([0.0, 0.5, 1.0, 1.5])


def scalar(f, x0=ONE):
    return lambda a: implicit.root(f, x0, a)


def second_order(x, k):
    """The matrix of second differences plus a diagonal, times x."""
    zero = xp.zeros(1)
    return (2 + k) * x - xp.concat([x[1:], zero]) - xp.concat([zero, x[:-1]])


def second_order_matrix(k, n):
    return (2 + k) * xp.eye(n) - xp.eye(n, k=1) - xp.eye(n, k=-1)


@implicit.custom_root
def bisection(f, x0, *params, steps=60):
    low, high = x0 - 10.0, x0 + 10.0
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if f(middle, *params) > 0 else (middle, high)
    return middle


@implicit.custom_root
def newton(f, x0, *params):
    x = x0
    for _ in range(30):
        x = x - xp.linalg.solve(autograd.jacobian(f)(x, *params), f(x, *params))
    return x


def gaussian(x, y):
    return y.shape[0] * x[1] + xp.sum((y - x[0]) ** 2) / (2 * xp.exp(2 * x[1]))


# By name: the solution, its closed form, and a parameter.
PROBLEMS = {
    "square root": (scalar(lambda x, a: x**2 - a), xp.sqrt, xp.asarray(4.0)),
    "cube root": (scalar(lambda x, a: x**3 - a), lambda a: a ** (1 / 3), xp.asarray(5.0)),
    "logarithm": (scalar(lambda x, a: xp.exp(x) - a), xp.log, xp.asarray(3.0)),
    "exponential": (scalar(lambda x, a: xp.log(x) - a), xp.exp, xp.asarray(0.7)),
    "arcsine": (scalar(lambda x, a: xp.sin(x) - a, 0.1), xp.asin, xp.asarray(0.6)),
    "arctangent": (scalar(lambda x, a: xp.tan(x) - a, 0.1), xp.atan, xp.asarray(1.5)),
    "inverse hyperbolic sine": (scalar(lambda x, a: xp.sinh(x) - a), xp.asinh, xp.asarray(2.5)),
    "quadratic equation": (
        scalar(lambda x, a: x**2 + a[0] * x + a[1], 5.0),
        lambda a: (-a[0] + xp.sqrt(a[0] ** 2 - 4 * a[1])) / 2,
        xp.asarray([1.0, -3.0]),
    ),
    "linear system": (
        lambda b: implicit.root(lambda x, b: A @ x - b**2, xp.ones(3), b),
        lambda b: xp.linalg.solve(A, b**2),
        xp.asarray([1.0, 2.0, 0.5]),
    ),
    "linear system, by its matrix": (
        lambda a: implicit.root(lambda x, a: a @ x - xp.asarray([1.0, 2.0]), xp.ones(2), a),
        lambda a: xp.linalg.solve(a, xp.asarray([1.0, 2.0])),
        A[:2, :2],
    ),
    "two equations": (
        lambda a: implicit.root(lambda x, a: xp.stack([x[0] + x[1] - a, x[0] - x[1] ** 2]), xp.ones(2), a),
        lambda a: xp.stack([a - (xp.sqrt(1 + 4 * a) - 1) / 2, (xp.sqrt(1 + 4 * a) - 1) / 2]),
        xp.asarray(6.0),
    ),
    "inverse matrix": (
        lambda a: implicit.root(lambda x, a: x @ a - xp.eye(2), xp.eye(2) / 2, a),
        xp.linalg.inv,
        A[:2, :2],
    ),
    "elementwise equations by GMRES": (
        lambda a: implicit.root(lambda x, a: x**3 + x - a, xp.ones(3), a**3 + a, linear="gmres"),
        lambda a: a * 1.0,
        xp.asarray([1.0, 2.0, 0.5]),
    ),
    "symmetric equations by conjugate gradients": (
        lambda k: implicit.root(
            lambda x, k: second_order(x, k) - 1, xp.ones(4), k, method="krylov", linear="cg"
        ),
        lambda k: xp.linalg.solve(second_order_matrix(k, 4), xp.ones(4)),
        xp.asarray(0.5),
    ),
    "halving": (
        lambda a: implicit.fixed_point(lambda x, a: x / 2 + a, 0.0, a),
        lambda a: 2 * a,
        xp.asarray(1.5),
    ),
    "Babylonian root": (
        lambda a: implicit.fixed_point(lambda x, a: (x + a / x) / 2, 1.0, a),
        xp.sqrt,
        xp.asarray(7.0),
    ),
    "geometric series": (
        lambda a: implicit.fixed_point(lambda x, a: a * x + 1, 0.0, a),
        lambda a: 1 / (1 - a),
        xp.asarray(0.6),
    ),
    "continued fraction": (
        lambda a: implicit.fixed_point(lambda x, a: 1 / (a + x), 1.0, a),
        lambda a: (xp.sqrt(a**2 + 4) - a) / 2,
        xp.asarray(1.3),
    ),
    "affine iteration": (
        lambda b: implicit.fixed_point(lambda x, b: A @ x / 10 + xp.sin(b), xp.zeros(3), b),
        lambda b: xp.linalg.solve(xp.eye(3) - A / 10, xp.sin(b)),
        xp.asarray([1.0, 2.0, 0.5]),
    ),
    "fixed point by Powell's method": (
        lambda a: implicit.fixed_point(lambda x, a: a / x, 1.0, a, method="hybr"),
        xp.sqrt,
        xp.asarray(7.0),
    ),
    "weighted mean": (
        lambda a: implicit.minimize(lambda x, a: (x - a[0]) ** 2 + a[1] * x**2, 0.0, a),
        lambda a: a[0] / (1 + a[1]),
        xp.asarray([3.0, 0.5]),
    ),
    "Poisson likelihood": (
        lambda a: implicit.minimize(lambda x, a: xp.exp(x) - a * x, 0.0, a),
        xp.log,
        xp.asarray(2.5),
    ),
    "logistic likelihood": (
        lambda p: implicit.minimize(lambda x, p: xp.log1p(xp.exp(x)) - p * x, 0.0, p),
        lambda p: xp.log(p / (1 - p)),
        xp.asarray(0.7),
    ),
    "cost of an order": (
        lambda a: implicit.minimize(lambda x, a: a[0] * xp.exp(-x) + a[1] * xp.exp(x), 0.0, a),
        lambda a: xp.log(a[0] / a[1]) / 2,
        xp.asarray([3.0, 0.4]),
    ),
    "ridge regression": (
        lambda k: implicit.minimize(
            lambda x, k: xp.sum((DATA @ x - T) ** 2) + k * xp.sum(x**2), xp.zeros(2), k
        ),
        lambda k: xp.linalg.solve(DATA.T @ DATA + k * xp.eye(2), DATA.T @ T),
        xp.asarray(0.3),
    ),
    "ridge regression with bounds that are not active": (
        lambda k: implicit.minimize(
            lambda x, k: xp.sum((DATA @ x - T) ** 2) + k * xp.sum(x**2),
            xp.zeros(2),
            k,
            bounds=[(-9, 9), (None, 9)],
        ),
        lambda k: xp.linalg.solve(DATA.T @ DATA + k * xp.eye(2), DATA.T @ T),
        xp.asarray(0.3),
    ),
    "ridge regression by conjugate gradients": (
        lambda k: implicit.minimize(
            lambda x, k: xp.sum((DATA @ x - T) ** 2) + k * xp.sum(x**2), xp.zeros(2), k, linear="cg"
        ),
        lambda k: xp.linalg.solve(DATA.T @ DATA + k * xp.eye(2), DATA.T @ T),
        xp.asarray(0.3),
    ),
    "normal distribution": (
        lambda y: implicit.minimize(gaussian, xp.asarray([0.5, 0.1]), y),
        lambda y: xp.stack([xp.mean(y), xp.log(xp.std(y))]),
        xp.asarray([1.0, 2.0, 4.0, 0.5]),
    ),
    "Newton's method with Hessians": (
        lambda a: implicit.minimize(lambda x, a: xp.cosh(x - a), 0.0, a, method="trust-exact"),
        lambda a: a * 1.0,
        xp.asarray(0.8),
    ),
    "line": (
        lambda y: implicit.least_squares(lambda p, y: p[0] + p[1] * T - y, xp.zeros(2), y),
        lambda y: xp.linalg.pinv(xp.stack([xp.ones(4), T], axis=1)) @ y,
        xp.asarray([1.0, 3.0, 4.0, 4.5]),
    ),
    "weights": (
        lambda w: implicit.least_squares(lambda x, w: w * (x - T), 0.0, w, method="lm"),
        lambda w: xp.sum(w**2 * T) / xp.sum(w**2),
        xp.asarray([1.0, 3.0, 2.0, 0.5]),
    ),
    "decay": (
        lambda p: implicit.least_squares(
            lambda q, p: q[0] * xp.exp(-q[1] * T) - p[0] * xp.exp(-p[1] * T), xp.ones(2), p
        ),
        lambda p: p * 1.0,
        xp.asarray([2.0, 0.5]),
    ),
    "residuals that stay": (
        lambda a: implicit.least_squares(lambda x, a: xp.stack([x**2 - a, x - a]), 1.0, a, bounds=[(0, 9)]),
        lambda a: _cubic(a),
        xp.asarray(2.0),
    ),
    "matrix": (
        lambda a: implicit.linear_solve(a, xp.asarray([1.0, 2.0])),
        lambda a: xp.linalg.solve(a, xp.asarray([1.0, 2.0])),
        A[:2, :2],
    ),
    "conjugate gradients": (
        lambda k: implicit.linear_solve(second_order, xp.asarray([1.0, 2.0, -1.0]), k, method="cg"),
        lambda k: xp.linalg.solve(second_order_matrix(k, 3), xp.asarray([1.0, 2.0, -1.0])),
        xp.asarray(0.7),
    ),
    "GMRES": (
        lambda a: implicit.linear_solve(lambda x, a: a @ x, xp.sum(a, axis=0), a),
        lambda a: xp.linalg.solve(a, xp.sum(a, axis=0)),
        A,
    ),
    "right-hand side of GMRES": (
        lambda b: implicit.linear_solve(lambda x: A @ x, b**2),
        lambda b: xp.linalg.solve(A, b**2),
        xp.asarray([1.0, 2.0, 0.5]),
    ),
    "solver of the caller": (
        lambda a: bisection(lambda x, a: x**3 - a, xp.asarray(0.0), a),
        lambda a: a ** (1 / 3),
        xp.asarray(8.0),
    ),
    "solver of the caller for systems": (
        lambda a: newton(lambda x, a: xp.stack([x[0] * x[1] - a, x[0] - x[1]]), xp.asarray([1.0, 2.0]), a),
        lambda a: xp.stack([xp.sqrt(a), xp.sqrt(a)]),
        xp.asarray(3.0),
    ),
}


def _cubic(a):
    """The real root of 2 x (x**2 - a) + (x - a), by Cardano."""
    p, q = (1 - 2 * a) / 2, a / 2
    return 2 * xp.sqrt(-p / 3) * xp.cosh(xp.acosh(-1.5 * q / p * xp.sqrt(-3 / p)) / 3)


def close(found, expected, tolerance=1e-8):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROBLEMS)
def test_closed_forms(name):
    solve, exact, a = PROBLEMS[name]
    close(solve(a), exact(a), 1e-11)
    for mode in ("forward", "reverse"):
        close(autograd.jacobian(solve, mode=mode)(a), autograd.jacobian(exact)(a), 1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_second_derivatives(name):
    solve, exact, a = PROBLEMS[name]

    def loss(f):
        return lambda a: xp.sum(f(a) * xp.cos(f(a)))

    expected = autograd.hessian(loss(exact))(a)
    close(autograd.hessian(loss(solve))(a), expected)
    v = xp.ones_like(a)
    product = autograd.hvp(loss(exact), a, v)
    close(autograd.hvp(loss(solve), a, v), product)
    close(autograd.vhp(loss(solve), a, v), product)


@pytest.mark.parametrize("name", PROBLEMS)
def test_batches(name):
    solve, exact, a = PROBLEMS[name]
    batch = xp.stack([a, a * 1.1, a * 0.95])

    def loss(f):
        return lambda a: xp.sum(f(a) ** 2)

    close(autograd.vmap(solve)(batch), autograd.vmap(exact)(batch), 1e-10)
    close(autograd.vmap(autograd.grad(loss(solve)))(batch), autograd.vmap(autograd.grad(loss(exact)))(batch))
    close(
        autograd.grad(lambda b: xp.sum(autograd.vmap(loss(solve))(b)))(batch),
        autograd.vmap(autograd.grad(loss(exact)))(batch),
    )


def test_third_derivatives():
    third = autograd.grad(autograd.grad(autograd.grad(PROBLEMS["square root"][0])))
    close(third(xp.asarray(4.0)), xp.asarray(3 / 8 * 4**-2.5))


def test_structures_of_parameters_and_constants():
    def f(x, p, k, name):
        assert name == "name"
        return x**2 * p["scale"] - p["value"] * k

    def solve(p):
        return implicit.root(f, xp.ones(2), p, 2, "name")

    p = {"scale": xp.asarray(2.0), "value": xp.asarray([3.0, 5.0])}
    close(solve(p), xp.sqrt(p["value"]))
    found = autograd.jacobian(solve)(p)
    close(found["value"], xp.eye(2) * 0.5 / xp.sqrt(p["value"]))
    close(found["scale"], -0.5 * xp.sqrt(p["value"]) / 2)


def test_nested_solutions():
    """A bilevel problem: the weight that makes the ridge regression have norm 0.5."""

    def inner(k):
        return implicit.minimize(lambda x, k: xp.sum((DATA @ x - T) ** 2) + k * xp.sum(x**2), xp.zeros(2), k)

    def outer(norm):
        return implicit.root(lambda k, norm: xp.sum(inner(k) ** 2) - norm**2, 1.0, norm)

    k = outer(xp.asarray(0.5))
    close(xp.sum(inner(k) ** 2), xp.asarray(0.25))
    slope = autograd.grad(lambda k: xp.sqrt(xp.sum(PROBLEMS["ridge regression"][1](k) ** 2)))(k)
    close(autograd.grad(outer)(xp.asarray(0.5)), 1 / slope)


def test_the_start_has_no_derivative():
    slope = autograd.grad(lambda x0: implicit.root(lambda x: x**2 - 2, x0))(xp.asarray(1.0))
    assert slope == 0


def test_dtypes_and_shapes():
    x = implicit.root(
        lambda x, a: x**2 - a, xp.ones((2, 2), dtype=xp.float32), xp.asarray(2.0, dtype=xp.float32)
    )
    assert x.dtype == xp.float32 and x.shape == (2, 2)
    close(x, xp.full((2, 2), 2**0.5, dtype=xp.float32), 1e-6)
    assert implicit.root(lambda x: x * 2, xp.zeros(0)).shape == (0,)
    close(implicit.linear_solve(lambda x: 2 * x, xp.zeros((2, 2))), xp.zeros((2, 2)))


def test_the_solver_runs_once_for_a_value_and_its_gradient():
    calls = []

    @implicit.custom_root
    def solver(f, x0, a):
        calls.append(float(a))
        return xp.sqrt(a)

    autograd.value_and_grad(lambda a: solver(lambda x, a: x**2 - a, 1.0, a))(xp.asarray(9.0))
    assert calls == [9.0]


SINGULAR = {
    "double root": lambda a: implicit.root(lambda x, a: (x - a) ** 2, 1.5, a),
    "any solution": lambda a: implicit.root(lambda x, a: xp.stack([x[0] + x[1] - a] * 2), xp.ones(2), a),
    "valley": lambda a: xp.sum(implicit.minimize(lambda x, a: (x[0] + x[1] - a) ** 2, xp.ones(2), a)),
    "flat minimum": lambda a: implicit.minimize(lambda x, a: (x - a) ** 4, 1.0, a),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_jacobians(name):
    with pytest.raises(autograd.GradientError, match=r"singular|did not converge"):
        autograd.jacobian(SINGULAR[name])(xp.asarray(1.0))


def test_solvers_that_do_not_converge():
    a = xp.asarray(2.0)
    with pytest.raises(autograd.GradientError, match=r"^root: the solver did not converge"):
        implicit.root(lambda x, a: x**2 + a, 1.0, a)
    with pytest.raises(autograd.GradientError, match=r"^fixed_point: the solver did not converge"):
        implicit.fixed_point(lambda x, a: a * x + 1, 5.0, a, maxiter=20)
    with pytest.raises(autograd.GradientError, match=r"^minimize: the solver did not converge"):
        implicit.minimize(lambda x, a: a * x, 0.0, a)
    with pytest.raises(autograd.GradientError, match=r"^custom_root: the solver did not converge"):
        bisection(lambda x, a: x**3 - a, xp.asarray(0.0), a, steps=2)
    with pytest.raises(autograd.GradientError, match=r"^linear_solve: cg did not converge"):
        implicit.linear_solve(lambda x: A @ x, xp.ones(3), method="cg", maxiter=1)


def test_active_bounds():
    def solve(a):
        return implicit.minimize(lambda x, a: xp.sum((x - a) ** 2), xp.ones(2), a, bounds=[(0, 1), (0, 9)])

    a = xp.asarray([3.0, 2.0])
    close(solve(a), xp.asarray([1.0, 2.0]))
    with pytest.raises(autograd.GradientError, match=r"^minimize: the bound of element 0 is active"):
        autograd.jacobian(solve)(a)
    with pytest.raises(autograd.GradientError, match=r"^least_squares: the bound of element 1 is active"):
        autograd.jacobian(
            lambda a: implicit.least_squares(lambda x, a: x - a, xp.ones(2), a, bounds=[(0, 9), (0, 1.5)])
        )(a)


def test_minima_near_a_bound():
    """A solver of interior points ends near the bound, and the minimum without bounds is next to it."""

    def solve(a):
        bounds = [(0, 0.5)]
        return implicit.minimize(lambda x, a: (x - a) ** 2, 0.1, a, bounds=bounds, method="trust-constr")

    for a in (0.5001, 0.7, 3.0):
        close(solve(xp.asarray(a)), xp.asarray(0.5))
        with pytest.raises(autograd.GradientError, match=r"^minimize: the bound of element 0 is active"):
            autograd.grad(solve)(xp.asarray(a))


def test_tracked_closures_are_refused():
    with pytest.raises(autograd.GradientError, match=r"tracked array that is not one of its arguments"):
        autograd.grad(lambda a: implicit.root(lambda x: x**2 - a, 1.0))(xp.asarray(4.0))
    with pytest.raises(autograd.GradientError, match=r"tracked array that is not one of its arguments"):
        autograd.grad(lambda a: implicit.root(lambda x, b: x**2 - a * b, 1.0, a))(xp.asarray(4.0))


def test_errors():
    with pytest.raises(xp.ArgumentTypeError, match=r"^root: x0 is of type str"):
        implicit.root(lambda x: x, "a")
    with pytest.raises(xp.ArgumentTypeError, match=r"^root: x0 is of dtype int64"):
        implicit.root(lambda x: x, xp.asarray([1]))
    with pytest.raises(xp.ArgumentValueError, match=r"^root: linear is 'lu'"):
        implicit.root(lambda x: x, 1.0, linear="lu")
    with pytest.raises(
        xp.ArgumentValueError, match=r"^custom_root: f\(x\) and x have different numbers of elements"
    ):
        newton_like = implicit.custom_root(lambda f, x0: x0)
        newton_like(lambda x: x[:1], xp.ones(2))
    with pytest.raises(xp.ArgumentValueError, match=r"^custom_root: the solver's result and x0 have"):
        implicit.custom_root(lambda f, x0: x0[:1])(lambda x: x, xp.ones(2))
    with pytest.raises(xp.ArgumentValueError, match=r"^minimize: bounds must hold one pair"):
        implicit.minimize(lambda x: xp.sum(x**2), xp.ones(2), bounds=[(0, 1)])
    with pytest.raises(xp.ArgumentValueError, match=r"^linear_solve: parameters with a matrix"):
        implicit.linear_solve(A, xp.ones(3), ONE)
    with pytest.raises(xp.ArgumentValueError, match=r"^linear_solve: method is 'lu'"):
        implicit.linear_solve(lambda x: x, xp.ones(3), method="lu")
    with pytest.raises(xp.ArgumentTypeError, match=r"^linear_solve: b is of type list"):
        implicit.linear_solve(lambda x: x, [1.0])
    with pytest.raises(xp.linalg.LinAlgError):
        implicit.linear_solve(xp.zeros((2, 2)), xp.ones(2))


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"implicit.root calls SciPy.*pip install scipy"):
        implicit.root(lambda x: x, 1.0)
