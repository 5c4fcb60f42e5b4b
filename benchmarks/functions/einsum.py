"""`einsum` of stride0, NumPy, PyTorch and opt_einsum on NumPy: 30 expressions, three sizes, one thread each.

    python -m benchmarks einsum
    python -m benchmarks einsum --sizes 300 -k bhqd --rounds 25
    STRIDE0_ISA=v3 python -m benchmarks einsum --threads 2

All libraries run in one process, in alternating rounds, on the same float64 elements; results are compared
first. NumPy runs with `optimize=True` and, up to 10^8 products, also without; the faster counts. A figure
is the time of the fastest other library divided by the time of stride0 in a round; the table has medians,
and at the end their geometric mean over the expressions. At size `n` the largest operand has about `n` by
`n` elements.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common.machine import OURS, describe, limit_threads, load
from benchmarks.common.tables import heading, line, parser, write_json
from benchmarks.common.timing import duration, geometric_mean, interleave, ratio

EXPRESSIONS: tuple[tuple[str, str], ...] = (
    ("inner", "i,i->"),
    ("inner of matrices", "ij,ij->"),
    ("outer", "i,j->ij"),
    ("trace", "ii->"),
    ("diagonal", "ii->i"),
    ("transpose", "ij->ji"),
    ("permuted", "ijk->kij"),
    ("sum", "ij->"),
    ("sum of rows", "ij->i"),
    ("sum of columns", "ij->j"),
    ("product", "ij,jk->ik"),
    ("product, transposed", "ji,kj->ik"),
    ("Gram", "ki,kj->ij"),
    ("matrix by vector", "ij,j->i"),
    ("vector by matrix", "i,ij->j"),
    ("elementwise", "ij,ij->ij"),
    ("scaled rows", "ij,i->ij"),
    ("scaled columns, summed", "ij,j,j->i"),
    ("dots of rows", "ij,ij->i"),
    ("batched product", "bij,bjk->bik"),
    ("batched, batch last", "ijb,jkb->ikb"),
    ("batched matrix by vector", "bij,bj->bi"),
    ("two axes", "ijk,jkl->il"),
    ("two axes, swapped", "ijk,kjl->il"),
    ("bilinear form", "i,ij,j->"),
    ("batched bilinear form", "bi,ij,bj->b"),
    ("attention", "bhqd,bhkd->bhqk"),
    ("attention, heads third", "bqhd,bkhd->bhqk"),
    ("MTTKRP", "ijk,jr,kr->ir"),
    ("tensor train", "aib,bjc,ckd->aijkd"),
)
# The number of products from which NumPy without a path is left out: it takes a hundred times as long.
SLOW = 10**8
PEERS = ("numpy", "opt_einsum", "torch")


def shapes(expression: str, size: int) -> list[tuple[int, ...]]:
    """The shapes of the operands: the largest of them and of the result has about size * size elements."""
    terms, result = (part.split(",") for part in expression.split("->"))
    widest = max(len(term) for term in terms + result)
    length = max(2, round(size ** (2 / max(2, widest))))
    return [(length,) * len(term) for term in terms]


def naive_products(expression: str, size: int) -> int:
    """The number of products that NumPy computes without a path."""
    return int(math.prod([shapes(expression, size)[0][0]] * len(set(expression) - set(",->"))))


def calls(expression: str, size: int, libraries: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """The call of each library; NumPy has two."""
    numpy = libraries["numpy"]
    rng = numpy.random.default_rng(1)
    given = [rng.standard_normal(shape) for shape in shapes(expression, size)]
    found: dict[str, Callable[[], Any]] = {}
    for name, library in libraries.items():
        operands = given if name in ("numpy", "opt_einsum") else [library.asarray(x) for x in given]
        function = library.contract if name == "opt_einsum" else library.einsum
        found[name] = functools.partial(function, expression, *operands)
    if naive_products(expression, size) > SLOW:
        del found["numpy"]
    found["numpy, optimize"] = functools.partial(numpy.einsum, expression, *given, optimize=True)
    return found


def differ(numpy: Any, results: dict[str, Any]) -> list[str]:
    """The libraries whose results differ from NumPy's."""
    expected = results["numpy, optimize"]
    scale = float(numpy.max(numpy.abs(expected), initial=1e-300))
    return [
        name
        for name, result in results.items()
        if numpy.shape(result) != expected.shape
        or not numpy.allclose(numpy.asarray(result), expected, rtol=1e-9, atol=1e-9 * scale)
    ]


def main() -> int:
    command = parser(__doc__, rounds=11, only="expressions")
    command.add_argument("--sizes", type=int, nargs="+", default=[8, 64, 400], metavar="N")
    options = command.parse_args()
    limit_threads(options.threads)
    libraries = load([OURS, *PEERS])
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(
        f"{describe(libraries)}; {options.threads} thread(s). Time of the best other library / stride0's.\n"
    )
    print(heading(["expression", "best other", "size", OURS, "figure"], left=2))
    rows = []
    for name, expression in EXPRESSIONS:
        if options.k not in name and options.k not in expression:
            continue
        for size in options.sizes:
            found = calls(expression, size, libraries)
            if wrong := differ(libraries["numpy"], {label: call() for label, call in found.items()}):
                print(f"**{expression} at {size}: other values than NumPy's: {', '.join(wrong)}**")
                return 1
            timings = interleave(expression, found, options.rounds, clock=clock)
            ours = timings.pop(OURS)
            best = min(timings, key=lambda label: timings[label].quartiles[1])
            figure = ratio(timings[best], ours)
            rows.append({"expression": expression, "size": size, "best": best, "figure": figure})
            cells = [f"{name}: `{expression}`", best, size, duration(ours.quartiles[1]), f"{figure:.2f}"]
            print(line(cells), flush=True)
    print()
    for size in options.sizes:
        figures = [row["figure"] for row in rows if row["size"] == size]
        if figures:
            low = sum(figure < 0.9 for figure in figures)
            mean = geometric_mean(figures)
            print(f"{size}: geometric mean {mean:.2f}, least {min(figures):.2f}, below 0.9: {low}")
    write_json(options.json, {"described": describe(libraries), "threads": options.threads, "rows": rows})
    return 0
