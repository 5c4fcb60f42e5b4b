"""Functions of `stride0.special` beside SciPy's ufuncs and PyTorch's, one thread each, in turns.

    python benchmarks/bench_special.py                  # 10, 1,000 and 100,000 elements, float64 and float32
    STRIDE0_ISA=v3 python benchmarks/bench_special.py erf ndtr

Nanoseconds of processor time per element, the best of many rounds; in every round each library has its turn.
A star marks where another library is faster by more than 3%. The last lines have the geometric means of the
other libraries' times in units of stride0's, and how often they are faster. With STRIDE0_ISA=v3 PyTorch is
held to AVX2, too.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

if os.environ.get("STRIDE0_ISA") == "v3":
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
import torch

import stride0 as xp
from stride0._core.elementwise import special
from stride0._core.plan import plan
from stride0._tables.operations import OPS

ROWS = [row for row in OPS if row.namespace == "special"]
TORCH: dict[str, Callable[..., Any]] = {
    "log_expit": torch.nn.functional.logsigmoid,
    "softplus": torch.nn.functional.softplus,
    "gammaln": torch.special.gammaln,
}
# Where the usual arguments lie, if not from 0.1 to 6.
RANGES = {"logit": (0.01, 0.99), "erfinv": (-0.99, 0.99), "erfcinv": (0.01, 1.99), "ndtri": (0.01, 0.99)}
LIBRARIES = ("stride0", "SciPy", "PyTorch")
NOTICED = 1.03


def best(calls: list[Callable[[], Any]], rounds: int, repeat: int) -> list[float]:
    """Seconds of one call, for each of several."""
    found = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.process_time()
            for _ in range(repeat):
                call()
            found[k] = min(found[k], (time.process_time() - start) / repeat)
    return found


def calls_of(name: str, nin: int, dtype: str, size: int) -> list[Callable[[], Any]]:
    """A call of each library that has the function."""
    rng = np.random.default_rng(1)
    given = [rng.uniform(*RANGES.get(name, (0.1, 6)), size).astype(dtype) for _ in range(nin)]
    ours, theirs = [xp.asarray(v) for v in given], [torch.from_numpy(v) for v in given]
    other = TORCH.get(name) or getattr(torch.special, name, None)
    pairs = [(getattr(special, name), ours), (getattr(scipy.special, name), given)]
    return [functools.partial(f, *v) for f, v in [*pairs, *([(other, theirs)] if other else [])]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("functions", nargs="*", help="which ones; all if none is named")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 1000, 100_000])
    options = parser.parse_args()
    xp.set_num_threads(1)
    torch.set_num_threads(1)
    print(f"kernels: {plan.instruction_set}; ns per element: {', '.join(LIBRARIES)}")
    ratios: dict[tuple[str, str, int], list[float]] = {}
    for row in ROWS:
        if options.functions and row.name not in options.functions:
            continue
        line = f"{row.name:13s}"
        for dtype in ("float64", "float32"):
            for size in options.sizes:
                repeat = max(1, min(200, 20_000 // size))
                times = best(calls_of(row.name, row.nin, dtype, size), options.rounds, repeat)
                for library, other in zip(LIBRARIES[1:], times[1:], strict=False):
                    ratios.setdefault((library, dtype, size), []).append(other / times[0])
                marks = ["*" if other * NOTICED < times[0] else "" for other in times]
                line += f"  {dtype} {size}: "
                line += " ".join(f"{1e9 * t / size:6.2f}{mark}" for t, mark in zip(times, marks, strict=True))
        print(line, flush=True)
    for (library, dtype, size), found in ratios.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        faster = sum(ratio * NOTICED < 1 for ratio in found)
        print(f"{library:8s} {dtype} {size:7d}: {mean:5.2f}, faster in {faster} of {len(found)}")


if __name__ == "__main__":
    main()
