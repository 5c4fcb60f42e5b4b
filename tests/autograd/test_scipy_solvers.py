"""Forms of solvers of `scipy.optimize`: gradients against closed forms, by arguments and by closures."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from helpers import close

import stride0 as xp
from stride0 import autograd
from stride0.autograd import GradientError
from stride0.autograd.scipy import optimize, patched

theirs = pytest.importorskip("scipy.optimize", reason="the forms call SciPy")

T = xp.asarray([0.0, 1.0, 2.0, 3.0])
LINES = xp.stack([xp.ones(4), T], axis=1)
DESIGN = xp.asarray([[1.0, 0.2], [0.4, -1.0], [0.3, 0.8], [-0.9, 1.1]])


def pair(x, a):
    return [x[0] + x[1] - a, x[0] - x[1] ** 2]


def pair_exact(a):
    y = (xp.sqrt(1 + 4 * a) - 1) / 2
    return xp.stack([a - y, y])


def ridge(x, k):
    return xp.sum((DESIGN @ x - T) ** 2) + k * xp.sum(x**2)


def ridge_of(m, y, k=0.0):
    return xp.linalg.solve(m.T @ m + k * xp.eye(2), m.T @ y)


def ridge_exact(k):
    return ridge_of(DESIGN, T, k)


def line(x, a, b):
    return a + b * x


def weighted_exact(s):
    return ridge_of(LINES / s[:, None], T**2 / s)


def given(solver, f, *more, field=None, **options):
    """A problem whose function takes the parameter: by `args`, or by its closure if `args` is false."""

    def solve(a, args=True):
        function = f if args else lambda x: f(x, a)
        found = solver(function, *more, **({"args": (a,)} if args else {}), **options)
        return found if field is None else getattr(found, field)

    return solve


def fitted(model, item=0, **options):
    """A problem of `curve_fit`, whose parameters are data."""

    def solve(a, args=True):
        return optimize.curve_fit(model, **{k: f(a) for k, f in options.items()})[item]

    return solve


WEIGHTED = {"xdata": lambda s: T, "ydata": lambda s: T**2, "sigma": lambda s: s}
MIN = functools.partial(given, optimize.minimize, ridge, [0.0, 0.0], field="x")
SQUARE = functools.partial(given, f=lambda x, a: x**2 - a)
# By name: the solution, its closed form, and a parameter.
PROBLEMS = {
    **{
        name: (given(getattr(optimize, name), lambda x, a: x**2 - a, 0.0, 10.0), xp.sqrt, xp.asarray(4.0))
        for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
    },
    "secants": (given(optimize.newton, lambda x, a: xp.exp(x) - a, 1.0), xp.log, xp.asarray(3.0)),
    "newton": (
        given(optimize.newton, lambda x, a: x**3 - a, 1.0, lambda x, *a: 3 * x**2),
        lambda a: a ** (1 / 3),
        xp.asarray(5.0),
    ),
    "several roots": (given(optimize.newton, lambda x, a: x**2 - a, np.ones(2)), xp.sqrt, T[1:3] + 1),
    "root_scalar, bracket": (
        given(optimize.root_scalar, lambda x, a: xp.sin(x) - a, bracket=(0, 1.5), field="root"),
        xp.asin,
        xp.asarray(0.6),
    ),
    "root_scalar, newton": (
        given(
            optimize.root_scalar,
            lambda x, a: (xp.sinh(x) - a, xp.cosh(x)),
            x0=1.0,
            fprime=True,
            method="newton",
            field="root",
        ),
        xp.asinh,
        xp.asarray(2.5),
    ),
    "root": (given(optimize.root, pair, [1.0, 1.0], field="x"), pair_exact, xp.asarray(6.0)),
    "root by broyden1": (
        given(optimize.root, lambda x, a: x @ a - xp.eye(2), np.eye(2) / 3, method="broyden1", field="x"),
        xp.linalg.inv,
        xp.asarray([[3.0, 0.4], [0.1, 2.5]]),
    ),
    "root with its Jacobian": (
        given(
            optimize.root,
            lambda x, a: (
                xp.stack(pair(x, a)),
                xp.stack([xp.ones(2), xp.stack([x[1] ** 0, -2 * x[1]])]),
            ),
            [1.0, 1.0],
            jac=True,
            method="lm",
            field="x",
        ),
        pair_exact,
        xp.asarray(6.0),
    ),
    "fsolve": (given(optimize.fsolve, pair, [1.0, 1.0]), pair_exact, xp.asarray(6.0)),
    "minimize": (MIN(), ridge_exact, xp.asarray(0.3)),
    "minimize by simplex": (MIN(method="Nelder-Mead"), ridge_exact, xp.asarray(0.3)),
    "minimize by trust regions": (MIN(method="trust-exact"), ridge_exact, xp.asarray(0.3)),
    "minimize within bounds": (MIN(bounds=[(-9, 9), (None, 9)]), ridge_exact, xp.asarray(0.3)),
    "least value": (
        given(optimize.minimize, lambda x, a: xp.exp(x[0]) - a * x[0], 0.0, field="fun"),
        lambda a: a - a * xp.log(a),
        xp.asarray(2.5),
    ),
    "minimize_scalar": (
        given(optimize.minimize_scalar, lambda x, a: a[0] * xp.exp(-x) + a[1] * xp.exp(x), field="x"),
        lambda a: xp.log(a[0] / a[1]) / 2,
        xp.asarray([3.0, 0.4]),
    ),
    "minimize_scalar by integers": (
        given(optimize.minimize_scalar, lambda x, a: xp.cosh(x - a), (0, 1), field="x"),
        lambda a: 1.0 * a,
        xp.asarray(0.4),
    ),
    "minimize_scalar, bounded": (
        given(
            *(optimize.minimize_scalar, lambda x, p: xp.log1p(xp.exp(x)) - p * x),
            bounds=(-5, 5),
            method="bounded",
            field="x",
        ),
        lambda p: xp.log(p / (1 - p)),
        xp.asarray(0.7),
    ),
    "least_squares": (
        given(optimize.least_squares, lambda p, y: p[0] + p[1] * T - y, [0.0, 0.0], field="x"),
        lambda y: xp.linalg.pinv(LINES) @ y,
        xp.asarray([1.0, 3.0, 4.0, 4.5]),
    ),
    "least cost": (
        given(optimize.least_squares, lambda p, y: p[0] + p[1] * T - y, [0.0, 0.0], field="cost"),
        lambda y: xp.sum((LINES @ (xp.linalg.pinv(LINES) @ y) - y) ** 2) / 2,
        xp.asarray([1.0, 3.0, 4.0, 4.5]),
    ),
    "pseudo-Huber loss": (
        given(
            optimize.least_squares,
            lambda x, a: xp.stack([x[0] - a, x[0] + a]) / 0.3,
            0.5,
            loss="soft_l1",
            field="x",
        ),
        lambda a: 0.0 * xp.reshape(a, (1,)),
        xp.asarray(1.2),
    ),
    "curve_fit by y": (
        fitted(line, xdata=lambda y: T, ydata=lambda y: y),
        lambda y: xp.linalg.pinv(LINES) @ y,
        xp.asarray([1.0, 3.0, 4.0, 4.5]),
    ),
    "curve_fit by x": (
        fitted(lambda x, a: a * x, xdata=lambda x: x, ydata=lambda x: T),
        lambda x: xp.reshape(xp.sum(x * T) / xp.sum(x * x), (1,)),
        T + 0.5,
    ),
    "curve_fit by sigma": (
        fitted(line, **WEIGHTED),
        weighted_exact,
        T / 4 + 1,
    ),
    "curve_fit by the covariance of data": (
        fitted(line, xdata=lambda s: T, ydata=lambda s: T**2, sigma=lambda s: s @ s.T),
        lambda s: ridge_of(xp.linalg.inv(s) @ LINES, xp.linalg.inv(s) @ T**2),
        xp.eye(4) * (T + 1) + 0.1 * xp.reshape(xp.arange(16.0), (4, 4)),
    ),
    "covariance of parameters": (
        fitted(line, 1, **WEIGHTED, absolute_sigma=lambda s: True),
        lambda s: xp.linalg.inv((LINES / s[:, None]).T @ (LINES / s[:, None])),
        T / 4 + 1,
    ),
}


@pytest.mark.parametrize("args", [True, False], ids=["args", "closure"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_closed_forms(name, args):
    solve, exact, a = PROBLEMS[name]
    y, slope = autograd.value_and_jacobian(lambda a: solve(a, args=args))(a)
    close(y, exact(a), 1e-10)
    close(slope, autograd.jacobian(exact)(a))
    # Without a gradient, the numbers are SciPy's.
    close(solve(a, args=args), exact(a), 1e-3)


@pytest.mark.parametrize("args", [True, False], ids=["args", "closure"])
@pytest.mark.parametrize("name", ["brentq", "root", "minimize", "curve_fit by y"])
def test_second_derivatives(name, args):
    solve, exact, a = PROBLEMS[name]

    def loss(f):
        return lambda a: xp.sum(f(a) * xp.cos(f(a)))

    found = autograd.hessian(loss(lambda a: solve(a, args=args)))(a)
    close(found, autograd.hessian(loss(exact))(a), 1e-7)
    v = xp.ones_like(a)
    close(autograd.jvp(lambda a: solve(a, args=args), (a,), (v,))[1], autograd.jvp(exact, (a,), (v,))[1])


@pytest.mark.parametrize("name", ["brentq", "root", "minimize", "minimize_scalar", "least_squares"])
def test_batches(name):
    solve, exact, a = PROBLEMS[name]
    batch = xp.stack([a, a * 1.1, a * 0.95])
    close(autograd.vmap(solve)(batch), autograd.vmap(exact)(batch), 1e-9)
    close(autograd.vmap(autograd.jacobian(solve))(batch), autograd.vmap(autograd.jacobian(exact))(batch))


def test_results_are_those_of_scipy():
    found = optimize.minimize(ridge, [0.0, 0.0], args=(xp.asarray(0.3),))
    expected = theirs.minimize(lambda x: float(ridge(xp.asarray(x), 0.3)), [0.0, 0.0])
    assert found.success and found.keys() == expected.keys() and found.message == expected.message
    close(found.x, expected.x, 1e-6)
    value, facts = optimize.brentq(lambda x: x**2 - 2, 0.0, 2.0, full_output=True)
    assert isinstance(value, float) and facts.root == value == theirs.brentq(lambda x: x**2 - 2, 0.0, 2.0)
    t, y = np.arange(4.0), np.asarray([2.0, 1.2, 0.8, 0.4])
    found = optimize.curve_fit(lambda x, a, b: a * xp.exp(-b * x), T, y)
    for x, other in zip(found, theirs.curve_fit(lambda x, a, b: a * np.exp(-b * x), t, y), strict=True):
        close(x, other, 1e-6)


def test_covariance_with_the_scale_of_the_residuals():
    y = xp.asarray([1.0, 3.0, 4.0, 4.5])

    def exact(y):
        left = LINES @ (xp.linalg.pinv(LINES) @ y) - y
        return xp.linalg.inv(LINES.T @ LINES) * xp.sum(left**2) / 2

    found = autograd.jacobian(lambda y: optimize.curve_fit(line, T, y)[1])(y)
    close(found, autograd.jacobian(exact)(y))


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        (lambda a: optimize.root(lambda x: x**2 + a, [1.0]).x[0], r"root: the solver did not converge"),
        (
            lambda a: optimize.minimize(lambda x: a * x[0], 1.0, method="cobyla", options={"maxiter": 9}).fun,
            r"minimize: the solver did not converge",
        ),
        (
            lambda a: optimize.minimize(ridge, [0.0, 9.0], (a,), options={"maxiter": 1}).fun,
            r"minimize: the solver did not converge",
        ),
        (
            lambda a: optimize.newton(lambda x: x**2 + a, 1.0, disp=False, maxiter=9),
            r"newton: the solver did not converge",
        ),
        (
            lambda a: optimize.brentq(lambda x: (x - a) ** 3, 0.1, 3.0, xtol=1e-6),
            r"Jacobian at the solution is singular",
        ),
        (
            lambda a: optimize.minimize(lambda x: (x[0] + x[1] - a) ** 2, [1.0, 1.0]).x[0],
            r"singular|did not converge",
        ),
        (
            lambda a: optimize.minimize(lambda x: xp.sum((x - a) ** 2), [0.1], bounds=[(0, 0.5)]).x[0],
            r"minimize: the bound of element 0 is active",
        ),
        (
            lambda a: optimize.minimize(lambda x, a: xp.sum((x - a) ** 2), [0.1], a, bounds=[(0, 0.5)]).x[0],
            r"minimize: the bound of element 0 is active",
        ),
        (
            lambda a: optimize.least_squares(lambda x: x - a, [0.1], bounds=(0, 0.5)).x[0],
            r"least_squares: the bound of element 0 is active",
        ),
        (
            lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2, bounds=(2, 3), method="bounded").x,
            r"minimize_scalar: the bound of element 0 is active",
        ),
        (
            lambda a: optimize.linear_sum_assignment(a * xp.ones((2, 2)))[0][0],
            r"linear_sum_assignment: the assignment is integers",
        ),
        (
            lambda a: optimize.minimize(ridge, [0.0, 0.0], a, constraints=[{"type": "eq"}]).fun,
            r"minimize: a minimum with constraints has no gradient",
        ),
        (
            lambda a: optimize.fsolve(lambda x: x**2 - a, [1.0], full_output=True)[0],
            r"fsolve: full_output is not supported",
        ),
        (
            lambda a: optimize.curve_fit(line, T, T * a, full_output=True)[0][0],
            r"curve_fit: full_output is not supported",
        ),
    ],
)
def test_solutions_without_a_derivative_are_refused(solve, words):
    with pytest.raises(xp.Stride0Error, match=words):
        autograd.grad(solve)(xp.asarray(1.0))


def test_patched_solvers():
    """Closures are found by calling the function, with NumPy arrays or with stride0 arrays."""
    a = xp.asarray(1.5)
    with patched():
        for f in (
            lambda x, a: xp.sum((x - a) ** 2),
            lambda x, a: xp.sum((xp.asarray(x) - a) ** 2),
        ):
            for solve in (
                lambda a, f=f: theirs.minimize(lambda x: f(x, a), [0.0]).x[0] ** 2,
                lambda a, f=f: theirs.minimize(f, [0.0], args=(a,)).x[0] ** 2,
            ):
                close(autograd.grad(solve)(a), 3.0)
        assert isinstance(theirs.minimize(lambda x: np.sum(x**2), [0.5]).x, np.ndarray)
        popt = autograd.jacobian(lambda y: theirs.curve_fit(line, T, y)[0])(T)
        close(popt, xp.linalg.pinv(LINES))
        assert isinstance(theirs.curve_fit(line, np.asarray(T), np.asarray(T))[0], np.ndarray)
        rows, _ = theirs.linear_sum_assignment(np.eye(2))
        assert rows.tolist() == [0, 1]
        with pytest.raises(GradientError, match="the assignment is integers"):
            autograd.grad(lambda c: theirs.linear_sum_assignment(c)[0])(xp.eye(2))
        with pytest.raises(xp.BatchingError):
            autograd.vmap(lambda a: theirs.brentq(lambda x: x - a, 0.0, 9.0))(T)


@pytest.mark.parametrize("args", [True, False], ids=["args", "closure"])
@pytest.mark.parametrize("place", [0.501, 0.6, 3.0])
@pytest.mark.parametrize("method", ["trust-constr", "Powell", "trf", "bounded"])
def test_solvers_that_end_near_a_bound(method, place, args):
    def solve(a):
        if method == "bounded":
            solver = given(
                optimize.minimize_scalar, lambda x, a: (x - a) ** 2, bounds=(0, 0.5), method=method
            )
            return solver(a, args).x
        if method == "trf":
            solver = given(optimize.least_squares, lambda x, a: xp.exp(x) - xp.exp(a), 0.1, bounds=(0, 0.5))
        else:
            solver = given(
                optimize.minimize, lambda x, a: xp.sum((x - a) ** 2), 0.1, bounds=[(0, 0.5)], method=method
            )
        return solver(a, args).x[0]

    with pytest.raises(GradientError, match=r"the bound of element 0 is active"):
        autograd.grad(solve)(xp.asarray(place))
