"""Functions of `stride0.special` beside SciPy's ufuncs and PyTorch's, one thread each, in turns.

    python benchmarks/bench_special.py                  # 1,000 and 100,000 elements, float64 and float32
    STRIDE0_ISA=v3 python benchmarks/bench_special.py erf ndtr

Nanoseconds per element, the best of many rounds; in every round each library has its turn.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
import torch

import stride0 as xp
from stride0._core.ops import special
from stride0._core.plan import table
from stride0._tables.operations import OPS

ROWS = [row for row in OPS if row.namespace == "special"]
TORCH: dict[str, Callable[..., Any]] = {
    "log_expit": torch.nn.functional.logsigmoid,
    "softplus": torch.nn.functional.softplus,
    "gammaln": torch.special.gammaln,
}
# Where the usual arguments lie, if not from 0.1 to 6.
RANGES = {"logit": (0.01, 0.99), "erfinv": (-0.99, 0.99), "erfcinv": (0.01, 1.99), "ndtri": (0.01, 0.99)}


def best(calls: list[Callable[[], Any]], rounds: int, repeat: int) -> list[float]:
    """Seconds of one call, for each of several."""
    found = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            found[k] = min(found[k], (time.perf_counter() - start) / repeat)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("functions", nargs="*", help="which ones; all if none is named")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    xp.set_num_threads(1)
    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    print(f"kernels: {table.instruction_set}; ns per element: stride0, SciPy, PyTorch")
    for row in ROWS:
        if options.functions and row.name not in options.functions:
            continue
        line = f"{row.name:13s}"
        for dtype in ("float64", "float32"):
            for size in (1000, 100_000):
                given = [
                    rng.uniform(*RANGES.get(row.name, (0.1, 6)), size).astype(dtype) for _ in range(row.nin)
                ]
                ours, theirs = [xp.asarray(v) for v in given], [torch.from_numpy(v) for v in given]
                other = TORCH.get(row.name) or getattr(torch.special, row.name, None)
                pairs = [(getattr(special, row.name), ours), (getattr(scipy.special, row.name), given)]
                calls = [functools.partial(f, *v) for f, v in [*pairs, *([(other, theirs)] if other else [])]]
                times = best(calls, options.rounds, 20 if size == 1000 else 1)
                line += f"  {dtype} {size}: " + " ".join(f"{1e9 * t / size:6.2f}" for t in times)
        print(line, flush=True)


if __name__ == "__main__":
    main()
