"""Real functions on 300x300 numbers, compared with NumPy, PyTorch and JAX.

The lines below the table are geometric means over its rows: the time of the fastest other library divided by
ours. They use lower quartiles, since other programs only slow calls down, fast ones more than slow ones. For
one thread of JAX as well, run it on one processor (`taskset -c 0`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.common.cases import Case, Operand, run
from benchmarks.common.machine import JAX, OURS, PEERS, YARDSTICK
from benchmarks.common.timing import geometric_mean

SHAPE = (300, 300)
# The functions, and the ranges of their operands.
RANGES = {
    "exp": (-10, 10),
    "expm1": (-2, 2),
    "log": (0.01, 100),
    "log1p": (-0.9, 10),
    "log2": (0.01, 100),
    "log10": (0.01, 100),
    "sqrt": (0.01, 100),
    "sin": (-20, 20),
    "cos": (-20, 20),
    "tan": (-20, 20),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-10, 10),
    "sinh": (-5, 5),
    "cosh": (-5, 5),
    "tanh": (-5, 5),
    "asinh": (-10, 10),
    "acosh": (1, 100),
    "atanh": (-1, 1),
}
PAIRS = {"pow": ((0.1, 10), (-5, 5)), "atan2": ((-5, 5), (-5, 5)), "hypot": ((-5, 5), (-5, 5))}
PAIRS["logaddexp"] = PAIRS["hypot"]
CORE = ("exp", "log", "sin", "cos", "tanh", "pow", "sqrt", "log1p", "expm1")


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Geometric means over all rows and over the rows of CORE, and the slowest row relative to NumPy."""
    gains = {row["case"]: gain(row["quartiles"], row["quartiles"]) for row in rows}
    to_numpy = {row["case"]: gain(row["quartiles"], [YARDSTICK]) for row in rows}
    core = [value for case, value in gains.items() if case.split()[0] in CORE]
    mean = geometric_mean(gains.values())
    lines = [f"Best of the others / ours, geometric mean of all {len(gains)} rows: {mean:.3f}."]
    if core:
        lines.append(f"Of the {len(core)} rows of {', '.join(CORE)}: {geometric_mean(core):.3f}.")
    lines.append(f"NumPy / ours, least: {min((value, case) for case, value in to_numpy.items())}.")
    return "\n".join(lines)


def gain(quartiles: dict[str, Any], among: Any) -> float:
    """The speedup of ours over the fastest of the libraries `among`."""
    others = [quartiles[name][0] for name in among if name != OURS and name in quartiles]
    return float(min(others) / quartiles[OURS][0])


def operand(dtype: str, low: float, high: float) -> Operand:
    return Operand(SHAPE, dtype, low=low, high=high)


CASES = [
    Case(f"{name} {dtype}", "f(x)", [operand(dtype, *ends)], function=name)
    for name, ends in RANGES.items()
    for dtype in ("float32", "float64")
]
CASES += [
    Case(f"{name} {dtype}", "f(x, y)", [operand(dtype, *left), operand(dtype, *right)], function=name)
    for name, (left, right) in PAIRS.items()
    for dtype in ("float32", "float64")
]


def main() -> None:
    run("Vector math", CASES, summary, (*PEERS, JAX))
