"""`python -m benchmarks NAME [options]` runs a benchmark; `python -m benchmarks` lists all of them."""

from __future__ import annotations

import importlib
import sys
from typing import NamedTuple


class Benchmark(NamedTuple):
    """A benchmark: its module, a line that says what it measures, its peers, its time, and its page."""

    module: str
    measures: str
    peers: str
    time: str
    page: str = ""


BENCHMARKS = {
    "compare": Benchmark(
        "compare.run",
        "seven groups of calls, with a goal for each mean; `--quick` first, `--against before.json`",
        "NumPy, PyTorch, JAX",
        "1 h; `--quick` 5 min",
        "evidence/performance.md",
    ),
    "ab": Benchmark(
        "compare.ab",
        "two builds: `ab BEFORE/bin/python AFTER/bin/python`; exit code 1 if a group is slower",
        "a build of stride0",
        "1 h",
    ),
    "rows": Benchmark(
        "rows.run",
        "every public function and method that NumPy has too, at three sizes",
        "NumPy, PyTorch, JAX",
        "1 h",
        "evidence/rows.md",
    ),
    "downstream": Benchmark(
        "downstream.run",
        "61 calls of scikit-learn and SciPy, eager and within `fused()`",
        "NumPy, PyTorch",
        "20 min",
        "evidence/downstream.md",
    ),
    "speed-chart": Benchmark(
        "compare.speed_chart",
        "draws README's chart from the figures of these three pages",
        "",
        "1 s",
        "speed.svg",
    ),
    "elementwise": Benchmark(
        "functions.elementwise",
        "small calls, broadcasting, layouts, mixed dtypes, writes in place",
        "NumPy, PyTorch",
        "5 min",
    ),
    "reductions": Benchmark(
        "functions.reductions", "sum, max, mean and any over all axes and some", "NumPy, PyTorch", "5 min"
    ),
    "vecmath": Benchmark(
        "functions.vecmath", "transcendental functions of 300 by 300 elements", "NumPy, PyTorch, JAX", "5 min"
    ),
    "special": Benchmark(
        "functions.special", "functions of `stride0.special`, at three sizes", "SciPy, PyTorch", "10 min"
    ),
    "einsum": Benchmark(
        "functions.einsum", "30 expressions, at three sizes", "NumPy, opt_einsum, PyTorch", "3 min"
    ),
    "chains": Benchmark(
        "functions.chains",
        "expressions in one pass (`fused`), eager and compiled",
        "jax.jit, NumPy, PyTorch, numexpr",
        "10 min",
    ),
    "gradients": Benchmark(
        "gradients.gradients",
        "forward and backward passes, Jacobians, Hessians, small calls",
        "PyTorch, jax.jit",
        "3 min",
    ),
    "sparse": Benchmark("gradients.sparse", "sparse Jacobians and Hessians", "asdex, sparsejac", "5 min"),
    "implicit": Benchmark(
        "gradients.implicit", "gradients of solutions", "gradients through recorded steps", "10 s"
    ),
    "allocation": Benchmark(
        "system.allocation",
        "results in cached blocks, in fresh blocks, and in memory that exists",
        "NumPy, PyTorch",
        "5 min",
    ),
    "memory": Benchmark(
        "system.memory", "memory that broadcasting allocates beyond its result", "NumPy, PyTorch", "1 min"
    ),
    "busy": Benchmark(
        "system.busy",
        "threads on a busy machine; exit code 1 if they are slower than one thread",
        "NumPy, PyTorch",
        "5 min",
    ),
    "python-threads": Benchmark(
        "system.python_threads", "small calls in several Python threads", "NumPy", "1 min"
    ),
    "dlpack": Benchmark(
        "system.dlpack", "exchanges by DLPack, in C and from Python", "NumPy, PyTorch", "1 min"
    ),
    "import": Benchmark("system.imports", "import time in fresh interpreters", "NumPy", "10 s"),
    "instructions": Benchmark(
        "system.instructions",
        "instructions of small calls, counted by valgrind, of one build or two",
        "a build of stride0",
        "2 min",
    ),
}


def listing() -> str:
    """Return the table of all benchmarks; README.md shows it."""
    lines = ["| name | measures | compared with | time | writes |", "|---|---|---|---|---|"]
    for name, row in BENCHMARKS.items():
        page = f"[{row.page}](../docs/{row.page})" if row.page else ""
        lines.append(f"| `{name}` | {row.measures} | {row.peers} | {row.time} | {page} |")
    return "\n".join(lines)


def main() -> int | str:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in BENCHMARKS:
        print(f"{__doc__}\n\n{listing()}")
        wrong = f"\nno benchmark is named {name}: take a name from the table"
        return 0 if name in ("", "-h", "--help") else wrong
    sys.argv = [f"python -m benchmarks {name}", *sys.argv[2:]]
    code: int | None = importlib.import_module(f"benchmarks.{BENCHMARKS[name].module}").main()
    return code or 0


if __name__ == "__main__":
    sys.exit(main())
