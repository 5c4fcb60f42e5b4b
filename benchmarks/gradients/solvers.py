"""Gradients through SciPy's solvers, compared with differences of SciPy's solutions.

Times are in milliseconds, the fastest of several calls: SciPy's solution of a function of NumPy arrays; value
and gradient in stride0; and differences in SciPy, which solve once more for each parameter. The error of the
differences is relative to the largest element of the gradient.
"""

from __future__ import annotations

import functools
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.common.machine import limit_threads
from benchmarks.common.tables import heading, line, parser, write_json


class Problem(NamedTuple):
    """
    A number that depends on parameters.

    `value(scipy, xp, parameters)` calls a solver of `scipy`, which is SciPy or `stride0.autograd.scipy`, on
    arrays of `xp`.
    """

    value: Callable[[Any, Any, Any], Any]
    parameters: list[float]


def volterra(scipy: Any, xp: Any, p: Any) -> Any:
    def slope(t: Any, y: Any, p: Any) -> Any:
        return xp.stack([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[2] * y[0] - p[3])])

    start = xp.asarray([2.0, 1.0])
    return xp.sum(
        scipy.integrate.solve_ivp(slope, (0.0, 10.0), start, args=(p,), rtol=1e-8, atol=1e-10).y[:, -1]
    )


def stiff(scipy: Any, xp: Any, p: Any, method: str = "Radau") -> Any:
    def slope(t: Any, y: Any, p: Any) -> Any:
        a, b, c = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] ** 2
        return xp.stack([b - a, a - b - c, c])

    start = xp.asarray([1.0, 0.0, 0.0])
    found = scipy.integrate.solve_ivp(
        slope, (0.0, 100.0), start, args=(p,), method=method, rtol=1e-8, atol=1e-10
    )
    return found.y[0, -1]


def pendulum(scipy: Any, xp: Any, p: Any) -> Any:
    def slope(y: Any, t: Any, p: Any) -> Any:
        return xp.stack([y[1], -p[0] * y[1] - p[1] * xp.sin(y[0])])

    times = xp.linspace(0.0, 5.0, 3)
    return xp.sum(
        scipy.integrate.odeint(slope, xp.asarray([1.0, 0.0]), times, args=(p,), rtol=1e-9, atol=1e-10)[-1]
    )


def fit(scipy: Any, xp: Any, p: Any) -> Any:
    t = xp.linspace(0.0, 4.0, p.shape[0])
    found = scipy.optimize.curve_fit(lambda t, a, k: a * xp.exp(-k * t), t, p, p0=[1.0, 1.0])[0]
    return found[0] + found[1]


def ridge(scipy: Any, xp: Any, p: Any) -> Any:
    t = xp.linspace(0.0, 1.0, 30)
    design = xp.stack([t**k for k in range(6)], axis=1)

    def loss(w: Any, p: Any) -> Any:
        return xp.sum((design @ w - xp.sin(6 * t)) ** 2) + xp.exp(p[0]) * xp.sum(w**2)

    return scipy.optimize.minimize(loss, xp.zeros(6), args=(p,), tol=1e-12).x[0]


def system(scipy: Any, xp: Any, p: Any) -> Any:
    return xp.sum(scipy.optimize.root(lambda x, p: x**3 + x - p, xp.ones(p.shape[0]), args=(p,), tol=1e-12).x)


PROBLEMS = {
    "solve_ivp, RK45, 4 parameters": Problem(volterra, [1.1, 0.4, 0.1, 0.4]),
    "solve_ivp, Radau, 3 parameters": Problem(stiff, [0.04, 1e4, 3e7]),
    "solve_ivp, BDF, 3 parameters": Problem(functools.partial(stiff, method="BDF"), [0.04, 1e4, 3e7]),
    "odeint, 2 parameters": Problem(pendulum, [0.25, 5.0]),
    "curve_fit, 50 values": Problem(fit, [2.0 * 0.92**k + 0.01 * (-1) ** k for k in range(50)]),
    "minimize, 1 parameter": Problem(ridge, [-2.0]),
    "root, 40 parameters": Problem(system, [1.0 + 0.1 * k for k in range(40)]),
}


def measured(problem: Problem, rounds: int) -> dict[str, float]:
    """Return the seconds of a solution, a gradient and differences, and the error of the differences."""
    import numpy
    import scipy.integrate
    import scipy.optimize

    import stride0 as xp
    from stride0.autograd import scipy as tracked

    plain = numpy.asarray(problem.parameters)
    ours = xp.autograd.value_and_grad(lambda p: problem.value(tracked, xp, p))

    def solution(p: Any = plain) -> float:
        return float(problem.value(scipy, numpy, p))

    def differences() -> Any:
        step = 1e-6 * numpy.abs(plain)
        first = solution()
        rows = numpy.eye(plain.size)
        return numpy.asarray([(solution(plain + step * e) - first) / (step @ e) for e in rows])

    given = xp.asarray(plain)
    gradient = numpy.asarray(ours(given)[1])
    error = numpy.max(numpy.abs(differences() - gradient)) / numpy.max(numpy.abs(gradient))
    calls = {"scipy": solution, "gradient": lambda: ours(given), "differences": differences}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=1))
    return {**best, "error": float(error)}


def main() -> None:
    options = parser(__doc__, rounds=5, only="problems").parse_args()
    limit_threads(options.threads)
    print(heading(["problem", "SciPy's solution", "value and gradient", "differences", "their error"]))
    rows = []
    for case, problem in PROBLEMS.items():
        if options.k in case:
            found = measured(problem, options.rounds)
            times = [f"{found[name] * 1e3:.2f}" for name in ("scipy", "gradient", "differences")]
            print(line([case, *times, f"{found['error']:.0e}"]), flush=True)
            rows.append({"case": case, **found})
    write_json(options.json, {"title": "Gradients of solvers", "threads": options.threads, "rows": rows})
