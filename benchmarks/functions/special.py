"""Functions of `stride0.special`, SciPy and PyTorch, one thread each, in alternating rounds.

    python -m benchmarks special                        # 10, 1,000 and 100,000 elements, float64 and float32
    STRIDE0_ISA=v3 python -m benchmarks special erf ndtr

Times are processor time. The last lines have the geometric mean of a library's time divided by the time of
stride0, and the number of rows where the library is faster by more than 3 %. With STRIDE0_ISA=v3 PyTorch is
held to AVX2, too.
"""

from __future__ import annotations

import functools
import importlib
import os
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.common.machine import OURS, limit_threads
from benchmarks.common.tables import compare, parser, write_json
from benchmarks.common.timing import Call, geometric_mean

# PyTorch's functions with other names, or in another module.
TORCH = {
    "log_expit": "nn.functional.logsigmoid",
    "softplus": "nn.functional.softplus",
    "gammaln": "special.gammaln",
}
# The usual arguments, if they are not from 0.1 to 6.
RANGES = {"logit": (0.01, 0.99), "erfinv": (-0.99, 0.99), "erfcinv": (0.01, 1.99), "ndtri": (0.01, 0.99)}
LIBRARIES = (OURS, "scipy", "torch")
DTYPES = ("float64", "float32")
NOTICED = 1.03


def calls_of(name: str, nin: int, dtype: str, size: int) -> dict[str, Call]:
    """Return a call of each library that has the function."""
    import numpy as np
    import scipy.special
    import torch

    import stride0 as xp
    from stride0._core.elementwise import special

    rng = np.random.default_rng(1)
    given = [rng.uniform(*RANGES.get(name, (0.1, 6)), size).astype(dtype) for _ in range(nin)]
    found: dict[str, Call] = {
        OURS: functools.partial(getattr(special, name), *map(xp.asarray, given)),
        "scipy": functools.partial(getattr(scipy.special, name), *given),
    }
    place: Any = torch
    for part in TORCH.get(name, f"special.{name}").split("."):
        place = getattr(place, part, None)
    return {**found, **({"torch": functools.partial(place, *map(torch.from_numpy, given))} if place else {})}


def main() -> None:
    command = parser(__doc__, rounds=15)
    command.add_argument("functions", nargs="*", help="names of functions (default: all)")
    command.add_argument("--sizes", type=int, nargs="+", default=[10, 1000, 100_000])
    options = command.parse_args()
    limit_threads(options.threads)
    if os.environ.get("STRIDE0_ISA") == "v3":
        os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
    from stride0._tables.operations import OPS

    importlib.import_module("torch").set_num_threads(options.threads)
    print(f"kernels: {importlib.import_module('stride0._core.plan.plan').instruction_set}")
    rows = []
    for dtype in DTYPES:
        for size in options.sizes:

            def calls(dtype: str = dtype, size: int = size) -> Iterator[tuple[str, dict[str, Call]]]:
                for row in OPS:
                    if row.namespace == "special" and row.name in (options.functions or row.name):
                        yield row.name, calls_of(row.name, row.nin, dtype, size)

            title = f"{dtype}, {size:,} elements"
            found = compare(title, calls(), LIBRARIES, OURS, options.rounds, time.process_time)
            rows += [{"dtype": dtype, "size": size, **row} for row in found]
            for library in LIBRARIES[1:]:
                ratios = [row["ratios"][library] for row in found if library in row["ratios"]]
                if ratios:
                    faster = sum(ratio * NOTICED < 1 for ratio in ratios)
                    mean = geometric_mean(ratios)
                    print(f"\n{library} {title}: {mean:.2f}, faster in {faster} of {len(ratios)}")
    write_json(options.json, {"title": "Special functions", "threads": options.threads, "rows": rows})
