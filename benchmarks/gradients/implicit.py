"""Gradients of solutions: by the implicit function theorem, and through recorded steps of a solver.

Times are in milliseconds, of the value and its gradient: the fastest of several calls. The last column is the
largest difference of both gradients.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

from benchmarks.common.machine import limit_threads
from benchmarks.common.tables import heading, line, parser, write_json


def cases() -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]]:
    """By name: solution, solution by recorded steps, and parameter."""
    import numpy

    import stride0 as xp
    from stride0.autograd import implicit

    rng = numpy.random.default_rng(0)
    matrix = xp.asarray(rng.standard_normal((100, 100)) / 30)
    data, labels = xp.asarray(rng.standard_normal((200, 20))), xp.asarray(rng.standard_normal(200))
    start = xp.zeros(100)

    def layer(x: Any, b: Any) -> Any:
        return xp.tanh(matrix @ x + b)

    def steps(b: Any) -> Any:
        x = start
        for _ in range(60):
            x = layer(x, b)
        return x

    def loss(w: Any, k: Any) -> Any:
        return xp.sum((data @ w - labels) ** 2) + k * xp.sum(w**2)

    def descent(k: Any) -> Any:
        w = xp.zeros(20)
        for _ in range(200):
            w = w - 0.002 * (2 * (data.T @ (data @ w - labels)) + 2 * k * w)
        return w

    def newton(a: Any) -> Any:
        x = xp.ones(1000)
        for _ in range(12):
            x = x - (x**3 + x - a) / (3 * x**2 + 1)
        return x

    return {
        "fixed point of a layer, 100 elements": (
            lambda b: implicit.fixed_point(layer, start, b),
            steps,
            xp.asarray(rng.standard_normal(100)),
        ),
        "ridge regression, 200x20": (
            lambda k: implicit.minimize(loss, xp.zeros(20), k),
            descent,
            xp.asarray(1.0),
        ),
        "1000 cubic equations, GMRES": (
            lambda a: implicit.root(
                lambda x, a: x**3 + x - a, xp.ones(1000), a, method="krylov", linear="gmres"
            ),
            newton,
            xp.asarray(rng.uniform(1, 5, 1000)),
        ),
    }


def measured(f: Callable[[Any], Any], parameter: Any, rounds: int) -> tuple[float, Any]:
    """Return the time of the sum of squares with its gradient, and the gradient."""
    import stride0 as xp

    both = xp.autograd.value_and_grad(lambda p: xp.sum(f(p) ** 2))
    gradient = both(parameter)[1]
    return min(timeit.repeat(lambda: both(parameter), number=1, repeat=rounds)), gradient


def main() -> None:
    options = parser(__doc__, rounds=5, only="solutions").parse_args()
    limit_threads(options.threads)
    import stride0 as xp

    print(heading(["solution", "implicit", "recorded steps", "largest difference"]))
    rows = []
    for case, (solve, unrolled, parameter) in cases().items():
        if options.k not in case:
            continue
        found = [measured(f, parameter, options.rounds) for f in (solve, unrolled)]
        (ours, one), (theirs, other) = found
        difference = float(xp.max(xp.abs(one - other)))
        print(line([case, f"{ours * 1e3:.2f}", f"{theirs * 1e3:.2f}", f"{difference:.1e}"]), flush=True)
        rows.append({"case": case, "implicit": ours, "recorded": theirs, "difference": difference})
    write_json(options.json, {"title": "Gradients of solutions", "threads": options.threads, "rows": rows})
