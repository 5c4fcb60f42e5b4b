"""Sparse Jacobians and Hessians: patterns, colours and times of stride0, and of asdex and sparsejac on JAX.

Each pattern and size has the number of colours, the time to find pattern and colouring (`plan`), the time of
one matrix with a plan (`warm`) or with a replayed plan (`replay`), and the time of the dense matrix if it
fits into memory. asdex finds the pattern of a JAX function; sparsejac gets the pattern that stride0 found.
Both are compiled by `jax.jit`.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

from benchmarks.common.machine import installed, limit_threads
from benchmarks.common.tables import heading, line, parser, write_json
from benchmarks.common.timing import duration

SIZES = (1_000, 10_000, 100_000)
DENSE = 1_000  # the largest size whose dense matrix is computed: 10,000 takes some 20 s and 800 MB


def tridiagonal(xp: Any, x: Any) -> Any:
    inner = 2 * x[1:-1] ** 2 - x[:-2] * x[2:]
    return xp.concat([x[:1] ** 2 - x[1:2], inner, x[-1:] ** 2 - x[-2:-1]])


def stencil(xp: Any, x: Any) -> Any:
    """The five-point stencil on a square grid."""
    side = int(x.shape[0] ** 0.5)
    u = xp.reshape(x[: side * side], (side, side))
    inner = 4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    return xp.reshape(inner + u[1:-1, 1:-1] ** 3, (-1,))


def arrow(xp: Any, x: Any) -> Any:
    return xp.concat([xp.reshape(xp.sum(x**2), (1,)), x[1:] * x[0] + x[1:] ** 2])


def blocks(xp: Any, x: Any) -> Any:
    """Blocks of five on the diagonal."""
    u = xp.reshape(x, (-1, 5))
    return xp.reshape(u * xp.sum(u**2, axis=1, keepdims=True), (-1,))


def scattered(xp: Any, x: Any) -> Any:
    """Three random columns in each row."""
    import numpy

    n = x.shape[0]
    places = numpy.random.default_rng(0).integers(0, n, (3, n))
    parts = [xp.take(x, xp.asarray(p), axis=0) for p in places]
    return parts[0] * parts[1] + xp.sin(parts[2])


def scalar(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda xp, x: xp.sum(function(xp, x) ** 2)


CASES: dict[str, tuple[Callable[..., Any], str]] = {
    "tridiagonal": (tridiagonal, "jacobian"),
    "five-point stencil": (stencil, "jacobian"),
    "arrow": (arrow, "jacobian"),
    "blocks of five": (blocks, "jacobian"),
    "random, three a row": (scattered, "jacobian"),
    "Hessian of a sum of squares, tridiagonal": (scalar(tridiagonal), "hessian"),
    "Hessian of a sum of squares, blocks of five": (scalar(blocks), "hessian"),
}
# asdex colours rows or columns only: arrow patterns need as many colours as columns, and random patterns of
# 10^5 take minutes.
LEFT_OUT = {("asdex", "arrow"), ("sparsejac", "arrow")}


def fastest(function: Callable[[], Any], seconds: float) -> float:
    """Return the time of the fastest call."""
    function()
    best, spent = float("inf"), 0.0
    while spent < seconds:
        took = timeit.timeit(function, number=1)
        best, spent = min(best, took), spent + took
    return best


def ours(function: Callable[..., Any], kind: str, numbers: Any, seconds: float) -> dict[str, Any]:
    import stride0 as xp

    x = xp.asarray(numbers)
    plan: Any = None

    def make() -> None:
        nonlocal plan
        plan = xp.autograd.sparse_plan(lambda x: function(xp, x), x)
        _ = getattr(plan, f"{kind}_colors")

    made = timeit.timeit(make, number=1)
    pattern = getattr(plan, f"{kind}_sparsity")
    warm = fastest(lambda: getattr(plan, kind)(x), seconds)
    recorded = xp.autograd.sparse_plan(lambda x: function(xp, x), x, replay=True)
    getattr(recorded, kind)(x)
    replay = fastest(lambda: getattr(recorded, kind)(x), seconds)
    found = {
        "plan": made,
        "warm": warm,
        "replay": replay,
        "colors": getattr(plan, f"{kind}_colors"),
        "nnz": pattern.nnz,
    }
    if len(numbers) <= DENSE:
        dense = getattr(xp.autograd, kind)(lambda x: function(xp, x))
        found["dense"] = timeit.timeit(lambda: dense(x), number=1)
    return {**found, "pattern": pattern}


def asdexs(
    function: Callable[..., Any], kind: str, numbers: Any, seconds: float, pattern: Any
) -> dict[str, Any]:
    import asdex
    import jax

    x = jax.numpy.asarray(numbers)
    coloring: Any = None

    def make() -> None:
        nonlocal coloring
        coloring = getattr(asdex, f"{kind}_coloring")(lambda x: function(NAMESPACE(), x), x)

    made = timeit.timeit(make, number=1)
    compiled = jax.jit(getattr(asdex, f"{kind}_from_coloring")(lambda x: function(NAMESPACE(), x), coloring))
    warm = fastest(lambda: jax.block_until_ready(compiled(x).data), seconds)
    return {"plan": made, "warm": warm, "colors": coloring.num_colors}


def sparsejacs(
    function: Callable[..., Any], kind: str, numbers: Any, seconds: float, pattern: Any
) -> dict[str, Any]:
    import jax
    import sparsejac
    from jax.experimental.sparse import BCOO

    x = jax.numpy.asarray(numbers)
    own = BCOO.from_scipy_sparse(pattern.tocoo().astype("float64"))
    compiled: Any = None

    def make() -> None:
        nonlocal compiled
        compiled = jax.jit(sparsejac.jacfwd(lambda x: function(NAMESPACE(), x), own))
        jax.block_until_ready(compiled(x).data)

    made = timeit.timeit(make, number=1)
    return {
        "plan": made,
        "warm": fastest(lambda: jax.block_until_ready(compiled(x).data), seconds),
        "colors": None,
    }


def NAMESPACE() -> Any:
    import jax

    return jax.numpy


def main() -> None:
    others = {"asdex": asdexs, "sparsejac": sparsejacs}
    command = parser(__doc__, only="cases", without=others)
    command.add_argument("--sizes", type=int, nargs="*", default=SIZES, metavar="N")
    command.add_argument("--seconds", type=float, default=0.5, help="for each warm time")
    options = command.parse_args()
    limit_threads(options.threads)
    import numpy

    others = {name: others[name] for name in installed([*others], options.without)}
    heads = ["matrix", "n", "entries", "stride0: colours", "plan", "warm", "replay", "dense / warm"]
    for name in others:
        heads += [f"{name}: colours", "plan", "warm", "warm / stride0", "warm / replay"]
    print(heading(heads), flush=True)
    rows = []
    for case, (function, kind) in CASES.items():
        if options.k not in case:
            continue
        for n in options.sizes:
            numbers = numpy.random.default_rng(0).uniform(0.5, 1.5, n)
            mine = ours(function, kind, numbers, options.seconds)
            pattern = mine.pop("pattern")
            ratio = f"{mine['dense'] / mine['warm']:.0f}" if "dense" in mine else ""
            cells = [case, f"{n:,}", f"{mine['nnz']:,}", str(mine["colors"])]
            cells += [*(duration(mine[key]) for key in ("plan", "warm", "replay")), ratio]
            row = {"case": case, "n": n, "stride0": mine}
            for name, run in others.items():
                if (name, case) in LEFT_OUT or (name == "sparsejac" and (kind == "hessian" or n > DENSE)):
                    cells += [""] * 5
                    continue
                found = row[name] = run(function, kind, numbers, options.seconds, pattern)
                cells += [str(found["colors"] or ""), duration(found["plan"]), duration(found["warm"])]
                cells += [f"{found['warm'] / mine[key]:.2f}" for key in ("warm", "replay")]
            print(line(cells), flush=True)
            rows.append(row)
    write_json(options.json, {"title": "Sparse derivatives", "threads": options.threads, "rows": rows})
