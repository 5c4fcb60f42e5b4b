"""`solve_ivp` and `odeint` on tracked arrays: the gradient of the numbers, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import close

import stride0 as xp
from stride0 import autograd
from stride0.autograd import GradientError
from stride0.autograd.scipy import integrate, linalg, patched

theirs = pytest.importorskip("scipy.integrate", reason="the forms call SciPy")

EXACT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
ONE = xp.asarray(1.0)
MATRIX = xp.asarray([[-0.5, 1.0], [-2.0, 0.3]])
# Steps of equal sizes, whose number does not depend on the values.
EQUAL = {"rtol": 1e3, "atol": 1e3, "first_step": 0.05, "max_step": 0.05}


def end(f, t_span, y0, a, **options):
    return integrate.solve_ivp(f, t_span, y0, args=(a,), **{**EXACT, **options}).y[:, -1]


def oscillator(t, y, a):
    return [y[1], -(a**2) * y[0]]


def falling(t, y, p):
    return [y[1], -p[2] + 0.0 * y[0]]


def ground(t, y, p):
    return y[0]


ground.terminal = True


def fall(p, field):
    found = integrate.solve_ivp(falling, (0, 99), [p[0], p[1]], args=(p,), events=ground, **EXACT)
    return {"t": found.t[-1], "y": found.y[:, -1], "t_events": found.t_events[0]}[field]


def fall_exact(p):
    return (p[1] + xp.sqrt(p[1] ** 2 + 2 * p[2] * p[0])) / p[2]


FALL = xp.asarray([2.0, 3.0, 9.81])
# By name: the solution, its closed form, and a parameter.
PROBLEMS = {
    "decay": (
        lambda a: end(lambda t, y, a: -a * y, (0, 2), [1.5], a),
        lambda a: 1.5 * xp.exp(-2 * a[None]),
        ONE,
    ),
    "decay by RK45": (
        lambda a: end(lambda t, y, a: -a * y, (0, 2), [1.5], a, method="RK45"),
        lambda a: 1.5 * xp.exp(-2 * a[None]),
        ONE,
    ),
    "decay by RK23": (
        lambda a: end(lambda t, y, a: -a * y, (0, 0.1), [1.5], a, method="RK23"),
        lambda a: 1.5 * xp.exp(-0.1 * a[None]),
        ONE,
    ),
    "closure": (
        lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 2), [1.5], **EXACT).y[:, -1],
        lambda a: 1.5 * xp.exp(-2 * a[None]),
        ONE,
    ),
    "logistic growth": (
        lambda p: end(lambda t, y, p: p[0] * y * (1 - y / p[1]), (0, 3), p[2:], p),
        lambda p: p[1:2] / (1 + (p[1:2] / p[2:] - 1) * xp.exp(-3 * p[0])),
        xp.asarray([1.2, 2.0, 0.1]),
    ),
    "oscillator": (
        lambda a: end(oscillator, (0, 2), [1.0, 0.0], a),
        lambda a: xp.stack([xp.cos(2 * a), -a * xp.sin(2 * a)]),
        xp.asarray(1.7),
    ),
    "tangent": (
        lambda a: end(lambda t, y, a: 1 + a * y**2, (0, 0.7), [0.0], a),
        lambda a: xp.tan(xp.sqrt(a[None]) * 0.7) / xp.sqrt(a),
        xp.asarray(1.3),
    ),
    "linear system": (
        lambda m: end(lambda t, y, m: m @ y, (0, 1), [1.0, -0.5], m),
        lambda m: linalg.expm(m) @ xp.asarray([1.0, -0.5]),
        MATRIX,
    ),
    "initial values": (
        lambda y0: end(lambda t, y, m: m @ y, (0, 1), y0, MATRIX),
        lambda y0: linalg.expm(MATRIX) @ y0,
        xp.asarray([0.4, 0.7]),
    ),
    "coefficients that depend on the time": (
        lambda a: end(lambda t, y, a: -2 * a * t * y, (0.2, 1.5), [1.0], a),
        lambda a: xp.exp(-a[None] * (1.5**2 - 0.2**2)),
        xp.asarray(0.8),
    ),
    "backwards": (
        lambda a: end(lambda t, y, a: -a * y, (2, 0), [1.5], a),
        lambda a: 1.5 * xp.exp(2 * a[None]),
        xp.asarray(0.6),
    ),
    "ends of the interval": (
        lambda t: end(lambda t, y, a: -2 * a * t * y, (t[0], t[1]), [1.0], ONE),
        lambda t: xp.exp(t[:1] ** 2 - t[1:] ** 2),
        xp.asarray([0.2, 1.5]),
    ),
    "times": (
        lambda t: integrate.solve_ivp(oscillator, (0, 2), [1.0, 0.0], t_eval=t, args=(2.0,), **EXACT).y[0],
        lambda t: xp.cos(2 * t),
        xp.asarray([0.0, 0.3, 0.35, 1.0, 2.0]),
    ),
    "dense output": (
        lambda t: integrate.solve_ivp(
            oscillator, (0, 2), [1.0, 0.0], dense_output=True, args=(t[0],), **EXACT
        ).sol(t[1:])[0, :],
        lambda t: xp.cos(t[0] * t[1:]),
        xp.asarray([2.0, 1.7, 0.3, 0.9]),
    ),
    "time of a fall": (lambda p: fall(p, "t_events"), lambda p: fall_exact(p)[None], FALL),
    "end at an event": (lambda p: fall(p, "t"), fall_exact, FALL),
    "speed at an event": (
        lambda p: fall(p, "y"),
        lambda p: xp.stack([0.0 * p[0], -xp.sqrt(p[1] ** 2 + 2 * p[2] * p[0])]),
        FALL,
    ),
    "stiff equation": (
        lambda a: end(
            *(lambda t, y, a: -1e3 * (y - xp.cos(a * t)), (0, 1), [1.0], a),
            method="Radau",
            rtol=1e-11,
            atol=1e-12,
        ),
        lambda a: (
            1e3 / (1e6 + a**2) * (1e3 * xp.cos(a[None]) + a * xp.sin(a[None]))
            + (1 - 1e6 / (1e6 + a**2)) * np.exp(-1e3)
        ),
        xp.asarray(1.4),
    ),
    "odeint": (
        lambda p: integrate.odeint(lambda y, t, a: -a * y, [1.5], p[1:], (p[0],), rtol=1e-12, atol=1e-13)[
            :, 0
        ],
        lambda p: 1.5 * xp.exp(-p[0] * (p[1:] - p[1])),
        xp.asarray([0.7, 0.0, 0.5, 2.0]),
    ),
    "odeint, time first": (
        lambda p: integrate.odeint(
            lambda t, y: -p[0] * y, [1.5], [0, 1], tfirst=True, rtol=1e-12, atol=1e-13
        )[1],
        lambda p: 1.5 * xp.exp(-p[:1]),
        xp.asarray([0.7]),
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_closed_forms(name):
    solve, exact, a = PROBLEMS[name]
    y, slope = autograd.value_and_jacobian(solve)(a)
    close(y, exact(a), 1e-9)
    close(slope, autograd.jacobian(exact)(a))
    close(solve(a), exact(a), 1e-9)


@pytest.mark.parametrize("name", ["decay", "closure", "time of a fall", "stiff equation", "dense output"])
def test_second_derivatives_and_forward_mode(name):
    solve, exact, a = PROBLEMS[name]

    def loss(f):
        return lambda a: xp.sum(f(a) * xp.cos(f(a)))

    close(autograd.hessian(loss(solve))(a), autograd.hessian(loss(exact))(a), 1e-7)
    v = xp.ones_like(a)
    close(autograd.jvp(solve, (a,), (v,))[1], autograd.jvp(exact, (a,), (v,))[1])


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF"])
def test_the_gradient_is_the_one_of_the_numbers_computed(method):
    """With coarse steps, whose numbers are far from the solution of the equation."""
    t_eval = np.asarray([0.0, 0.11, 0.12, 0.47, 0.5])

    def f(t, y, a):
        return xp.stack([y[0] * (a - y[1]), xp.sin(t) + y[0] * y[1]])

    def solve(a, **options):
        found = integrate.solve_ivp(f, (0, 0.5), [1.0, a], method, args=(a,), **{**EQUAL, **options})
        return found.y

    a, eps = xp.asarray(1.1), 1e-5
    for options in ({}, {"t_eval": t_eval}):
        found = autograd.jacobian(lambda a, options=options: solve(a, **options))(a)
        difference = (solve(a + eps, **options) - solve(a - eps, **options)) / (2 * eps)
        # Implicit methods solve equations to their tolerance, which is coarse here.
        close(found, difference, 1e-3 if method in ("Radau", "BDF") else 1e-8)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF"])
def test_values_are_scipys(method):
    def f(t, y):
        return xp.stack([y[1], 2 * (1 - y[0] ** 2) * y[1] - y[0]])

    def leaves(t, y, *more):
        return y[0] - 0.5

    def never(t, y, *more):
        return y[0] + 99

    t_eval, times = np.linspace(0, 5, 11), np.asarray([4.0, 0.1, 0.1, 5.0])
    given = ((0, 5), [1.0, 0.3], method)
    tape = autograd.Tape()
    for options in ({}, {"t_eval": t_eval}, {"events": [leaves, ground_2, never], "dense_output": True}):
        with tape:
            shift = tape.watch(xp.asarray(0.0))
            found = integrate.solve_ivp(lambda t, y, c: f(t, y) + c, *given, args=(shift,), **options)
        plain = integrate.solve_ivp(f, *given, **options)
        expected = theirs.solve_ivp(lambda t, y: np.asarray(f(t, xp.asarray(y))), *given, **options)
        assert found.keys() == expected.keys() == plain.keys()
        for mine in (found, plain):
            assert (mine.nfev, mine.status, mine.message) == (
                expected.nfev,
                expected.status,
                expected.message,
            )
            for key in ("t", "y"):
                assert isinstance(mine[key], xp.Array)
                close(autograd.stop_gradient(mine[key]), expected[key], 1e-11)
            for key in ("t_events", "y_events"):
                for x, other in zip(mine[key] or [], expected[key] or [], strict=True):
                    close(autograd.stop_gradient(x), other, 1e-11)
            if expected.sol is not None:
                close(autograd.stop_gradient(mine.sol(times)), expected.sol(times), 1e-11)
                close(autograd.stop_gradient(mine.sol(2.0)), expected.sol(2.0), 1e-11)


def ground_2(t, y, *more):
    return y[1]


ground_2.terminal, ground_2.direction = 3, -1


def test_complex_values_and_empty_intervals():
    a = xp.asarray(0.7)

    def solve(a):
        return integrate.solve_ivp(lambda t, y: 1j * a * y, (0, 1), [1.0 + 0j], **EXACT).y[0, -1]

    close(solve(a), np.exp(0.7j))
    close(autograd.grad(lambda a: xp.real(solve(a)))(a), -np.sin(0.7))
    for options in ({}, {"dense_output": True}):
        found = autograd.grad(
            lambda a, options=options: xp.sum(
                integrate.solve_ivp(lambda t, y: -y, (1, 1), [a], **options).y[:, -1]
            )
        )(a)
        close(found, 1.0)
    close(
        integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0, 2.0], vectorized=True, **EXACT).y[1, -1], 2 / np.e
    )


def test_many_steps_take_little_memory():
    size, calls = 10_000, []

    def loss(a, n):
        def f(t, y):
            calls.append(None)
            return -a * xp.sin(y)

        options = {**EQUAL, "first_step": 1 / n, "max_step": 1 / n, "t_eval": [1.0]}
        return xp.sum(integrate.solve_ivp(f, (0, 1), xp.ones(size), "RK23", **options).y)

    peaks = []
    for n in (50, 400):
        before = xp.memory.stats(reset_peak=True)["live_bytes"]
        autograd.grad(lambda a, n=n: loss(a, n))(ONE)
        peaks.append(xp.memory.stats()["peak_bytes"] - before)
    # Eight times the steps; a tape of all of them would take more than 400 times 6 vectors.
    assert peaks[1] < 2 * peaks[0] < 400 * 6 * size * 8
    # SciPy's steps, the recorded steps, and the recorded steps once more in the backward pass.
    assert len(calls) < 3 * 3 * (50 + 400) * 1.1 + 40


def test_patched_solvers():
    a = xp.asarray(0.7)
    expected = -2 * np.exp(-1.4)
    with patched():
        for solve in (
            lambda a: theirs.solve_ivp(lambda t, y, a: -a * y, (0, 2), [1.0], args=(a,), **EXACT).y[0, -1],
            lambda a: theirs.solve_ivp(lambda t, y: -a * y, (0, 2), [1.0], **EXACT).y[0, -1],
            lambda a: theirs.solve_ivp(lambda t, y: -a * xp.asarray(y), (0, 2), [1.0], **EXACT).y[0, -1],
            lambda a: theirs.odeint(lambda y, t: -a * y, [1.0], [0.0, 2.0], rtol=1e-12)[1, 0],
        ):
            close(autograd.grad(solve)(a), expected)
        assert isinstance(theirs.solve_ivp(lambda t, y: -y, (0, 2), [1.0]).y, np.ndarray)
        assert isinstance(theirs.odeint(lambda y, t: -y, [1.0], [0, 1]), np.ndarray)

        class Event:
            terminal = True

            def __call__(self, t, y):
                return y[0] - 0.5

        found = theirs.solve_ivp(lambda t, y: -y, (0, 2), [1.0], events=Event(), **EXACT)
        assert found.status == 1 and isinstance(found.t, np.ndarray)
        close(found.t[-1], np.log(2))
        with pytest.raises(xp.Stride0Error, match="full_output is not supported"):
            autograd.grad(lambda a: theirs.odeint(lambda y, t: -y, [a], [0, 1], full_output=True)[0][1, 0])(a)


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        (
            lambda a: integrate.solve_ivp(lambda t, y, a: -a * y, (0, 1), [1.0], "LSODA", args=(a,)).y[0, -1],
            r"solve_ivp: the steps of LSODA have no gradient[\s\S]*method='BDF'",
        ),
        (
            lambda a: integrate.solve_ivp(lambda t, y: a * y**2, (0, 9), [1.0]).y[0, -1],
            r"solve_ivp: the solver failed[\s\S]*message",
        ),
        (
            lambda a: integrate.solve_ivp(
                lambda t, y: a + 0 * y, (0, 2), [0.0], events=lambda t, y: xp.sign(y[0] - 1)
            ).t_events[0][0],
            r"solve_ivp: the Jacobian at the solution is singular|solve_ivp: the solver did not converge",
        ),
        (lambda a: integrate.odeint(lambda y, t: -a * y, [1.0], 1.0)[0, 0], r"odeint: t has shape \(\)"),
    ],
)
def test_refusals(solve, words):
    with pytest.raises(xp.Stride0Error, match=words):
        autograd.grad(solve)(ONE)


def decay_at(a, y0, t=(0.5, 1.0), method="RK45"):
    t = xp.stack([xp.asarray(x) for x in t])
    found = integrate.solve_ivp(
        *(lambda t, y, a: -a * y, (0, t[-1]), xp.stack([y0]), method, t), args=(a,), rtol=1e-9, atol=1e-10
    )
    return found.y[0, :]


BATCHED = {
    "value": lambda f: f,
    "gradient": lambda f: autograd.grad(lambda a: xp.sum(f(a))),
    "second derivative": lambda f: autograd.grad(autograd.grad(lambda a: xp.sum(f(a)))),
    "tangent of the gradient": lambda f: (
        lambda a: autograd.jvp(autograd.grad(lambda a: xp.sum(f(a))), (a,), (a,))[1]
    ),
}


@pytest.mark.parametrize("method", ["RK45", "BDF"])
@pytest.mark.parametrize("name", BATCHED)
def test_batches_are_solved_one_by_one(name, method):
    """Parameters, initial values and times with a value per example, up to the order of two sums."""

    def f(a):
        return decay_at(a, 2 * a, (0.3, a), method)

    derivative, a = BATCHED[name](f), xp.asarray([0.5, 1.0, 4.0])
    expected = np.stack([np.asarray(derivative(a[k])) for k in range(3)])
    close(autograd.vmap(derivative)(a), expected, 1e-14)


def test_derivatives_of_batches():
    def several(a):
        return autograd.vmap(decay_at, in_axes=(0, None))(a, ONE)

    a = xp.asarray([0.5, 1.0, 4.0])
    t = np.asarray([0.5, 1.0])
    slope = -t * np.exp(-np.asarray(a)[:, None] * t)
    expected = np.einsum("kt,kj->ktj", slope, np.eye(3))
    for mode in ("forward", "reverse"):
        close(autograd.jacobian(several, mode=mode)(a), expected, 1e-7)
    nested = autograd.vmap(lambda a: autograd.vmap(lambda y: decay_at(a, y))(xp.asarray([1.0, 3.0])))(a)
    close(nested, np.exp(-np.asarray(a)[:, None, None] * t) * np.asarray([1.0, 3.0])[:, None], 1e-8)


def test_fields_of_batches():
    found = None

    def solve(y0):
        nonlocal found
        found = integrate.solve_ivp(falling, (0, 99), [y0, 0.0], args=(FALL,), events=ground, **EXACT)
        return found.t_events[0][0]

    y0 = xp.asarray([1.0, 1.0])
    close(autograd.vmap(solve)(y0), np.sqrt(2 / 9.81) * np.ones(2))
    close(autograd.vmap(autograd.grad(solve))(y0), np.sqrt(2 / 9.81) / 2 * np.ones(2))
    assert found.success is True and found.status == 1 and isinstance(found.nfev, int)


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        (lambda a: decay_at(a, a, method="LSODA")[0], "LSODA"),
        (lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]).y[0, 0], "pass the array in args"),
        (lambda a: integrate.solve_ivp(lambda t, y: -y, (0, a), [1.0]).y[0, -1], "pass t_eval"),
        (
            lambda a: integrate.solve_ivp(lambda t, y: -y, (0, a), [1.0], "RK45", [0.1], True).y[0, 0],
            "dense_output",
        ),
    ],
)
def test_batches_are_refused(solve, words):
    with pytest.raises(xp.Stride0Error, match=words):
        autograd.vmap(autograd.grad(solve))(xp.asarray([1.0, 9.0]))


def robertson(t, y, p):
    slow, fast, middle = p[0] * y[0], p[2] * y[1] ** 2, p[1] * y[1] * y[2]
    return [middle - slow, slow - middle - fast, fast]


def robertson_slopes(y, p):
    by_y = [[-p[0], p[1] * y[2], p[1] * y[1]], [p[0], -p[1] * y[2] - 2 * p[2] * y[1], -p[1] * y[1]]]
    by_p = [[-y[0], y[1] * y[2], 0], [y[0], -y[1] * y[2], -(y[1] ** 2)], [0, 0, y[1] ** 2]]
    return np.asarray([*by_y, [0, 2 * p[2] * y[1], 0]]), np.asarray(by_p)


def oscillating(t, y, p):
    return [y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]


def oscillating_slopes(y, p):
    by_y = [[0, 1], [-2 * p[0] * y[0] * y[1] - 1, p[0] * (1 - y[0] ** 2)]]
    return np.asarray(by_y), np.asarray([[0], [(1 - y[0] ** 2) * y[1]]])


STIFF = {
    "Robertson": (robertson, robertson_slopes, [1.0, 0.0, 0.0], [0.04, 1e4, 3e7], 40.0, 1e-16),
    "van der Pol": (oscillating, oscillating_slopes, [2.0, 0.0], [100.0], 50.0, 1e-13),
}


@pytest.mark.parametrize("name", STIFF)
def test_stiff_equations_by_bdf(name):
    """Against SciPy's solution of the equation together with the equation of its sensitivities."""
    f, slopes, y0, p, end, atol = STIFF[name]
    n, k = len(y0), len(p)

    def both(t, z):
        y, s = z[:n], z[n:].reshape(n, k)
        by_y, by_p = slopes(y, p)
        return np.concatenate([f(t, y, p), (by_y @ s + by_p).ravel()])

    z0 = np.concatenate([y0, np.zeros(n * k)])
    z = theirs.solve_ivp(both, (0, end), z0, "Radau", rtol=1e-12, atol=1e-3 * atol).y[:, -1]

    def solve(p):
        found = integrate.solve_ivp(f, (0, end), y0, "BDF", [end], args=(p,), rtol=1e-11, atol=atol)
        return found.y[:, -1]

    found, slope = autograd.value_and_jacobian(solve)(xp.asarray(p))
    close(found, z[:n])
    close(np.asarray(slope) * p, z[n:].reshape(n, k) * p)


def test_bdf_is_differentiated_exactly():
    """The Jacobian is constant: Newton's iteration is exact, however coarse the tolerance is."""

    def solve(a, t_eval=None):
        def f(t, y, a):
            return xp.stack([y[1], xp.sin(t) - a * y[0] - 0.3 * y[1]])

        def jac(t, y, a):
            return xp.stack([xp.asarray([0.0, 1.0]), xp.stack([-a, -0.3 * xp.ones(())])])

        options = {"jac": jac, "first_step": 0.1, "max_step": 0.1, "rtol": 1e-2, "atol": 1e-2}
        return integrate.solve_ivp(f, (0, 2.03), xp.stack([a, a**2]), "BDF", t_eval, args=(a,), **options).y

    a, eps = xp.asarray(1.1), 1e-5
    for t_eval in (None, [0.05, 0.72, 1.9]):
        found = autograd.jacobian(lambda a, t_eval=t_eval: solve(a, t_eval))(a)
        difference = (solve(a + eps, t_eval) - solve(a - eps, t_eval)) / (2 * eps)
        close(found, difference, 1e-8)


def test_other_methods_without_a_gradient():
    found = integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], "LSODA", rtol=1e-9, atol=1e-9)
    assert isinstance(found.y, xp.Array)
    close(found.y[0, -1], np.exp(-1.0), 1e-7)
    with pytest.raises(GradientError, match="LSODA"):
        autograd.grad(
            lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], theirs.LSODA).y[0, 0]
        )(ONE)
