"""Timing libraries side by side: the cases of a file, one process, alternating in rounds.

A ratio is formed within each round, where both libraries ran within milliseconds of each other, and the
median of those ratios is reported: a machine that slows down for a while slows both, and the ratio stands.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import statistics
import sys
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

YARDSTICK = "numpy"
PEERS = ("stride0", YARDSTICK, "torch")
SAMPLE_SECONDS = 0.002

# Where a peer spells an operation otherwise than the standard does.
SPELLED = {
    ("torch", "max"): "amax",
    **{
        (library, f"a{name}"): f"arc{name}"
        for library in ("numpy", "jax.numpy")
        for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")
    },
}
JAX = "jax.numpy"  # compared where a file asks for it


@dataclass(frozen=True)
class Operand:
    """How an array of a case is made: random values of `shape`, then a `view`, such as "[::2]".

    Or they are stretched to a shape. The values are spread evenly from `low` to `high`.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    view: str = ""
    stretched: tuple[int, ...] = ()
    low: float = 1.0
    high: float = 100.0


@dataclass(frozen=True)
class Case:
    """A statement that is timed. In it stand `x`, `y` (the operands), and `f` (the library's `function`)."""

    name: str
    statement: str
    operands: Sequence[Operand]
    function: str = ""


# A line made of the rows: each has a "case", and by library "quartiles" (low, median, high, in seconds).
Summary = Callable[[Sequence[dict[str, Any]]], str]


@dataclass(frozen=True)
class Timing:
    seconds: list[float]  # of each round

    @property
    def quartiles(self) -> tuple[float, float, float]:
        if len(self.seconds) < 2:
            return (self.seconds[0],) * 3
        low, middle, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, middle, high


def main(
    title: str, cases: Sequence[Case], summary: Summary | None = None, peers: Sequence[str] = PEERS
) -> None:
    """Parse the command line, time the cases, print a markdown table and what `summary` makes of its rows."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--libraries", nargs="+", metavar="NAME", help=f"default: those installed of {peers}")
    parser.add_argument("--rounds", type=int, default=25, metavar="N")
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads each library may use (1)"
    )
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()

    limit_threads(options.threads)
    libraries = load(options.libraries, peers)
    print(f"## {title}\n")
    print(f"{describe(libraries)}; {options.threads} thread(s), {options.rounds} rounds.")
    print("Time: median (lower to upper quartile). Ratio: median over the rounds of time / NumPy's time.\n")
    others = [name for name in libraries if name != YARDSTICK]
    header = ["case", *libraries, *(f"{name} / {YARDSTICK}" for name in others)]
    print("| " + " | ".join(header) + " |\n|---|" + "---:|" * (len(header) - 1), flush=True)

    rows = []
    for case in cases:
        if options.k not in case.name:
            continue
        timings = time_case(case, libraries, options.rounds)
        ratios = {name: ratio(timings[name], timings[YARDSTICK]) for name in others if name in timings}
        cells = [show(timings.get(name)) for name in libraries]
        cells += [f"{ratios[name]:.2f}" if name in ratios else "" for name in others]
        print("| " + " | ".join([case.name, *cells]) + " |", flush=True)
        quartiles = {name: timing.quartiles for name, timing in timings.items()}
        rows.append({"case": case.name, "quartiles": quartiles, f"ratio_to_{YARDSTICK}": ratios})
    setting = {"libraries": describe(libraries), "threads": options.threads, "rounds": options.rounds}
    if summary is not None:
        print("\n" + summary(rows))
    write_json(options.json, {"title": title, **setting, "rows": rows})


def limit_threads(threads: int) -> None:
    """Set the variables that libraries read when they are loaded; so this comes before any of them is."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "STRIDE0_NUM_THREADS"):
        os.environ[variable] = str(threads)
    if threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def load(names: Sequence[str] | None, peers: Sequence[str] = PEERS) -> dict[str, Any]:
    """The libraries asked for (an absent one is an error), or those of `peers` installed; NumPy always."""
    libraries = {}
    for name in [*(names or peers), YARDSTICK]:
        try:
            libraries[name] = importlib.import_module(name)
        except ImportError as error:
            if names:
                raise SystemExit(f"{name} cannot be imported: {error}") from None
            print(f"({name} is not installed)", file=sys.stderr)
    if "torch" in libraries:
        libraries["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if JAX in libraries:
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    return libraries


def describe(libraries: dict[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {getattr(module, '__version__', '?')}" for name, module in libraries.items()
    )
    isa = getattr(libraries.get("stride0"), "_instruction_set", None)
    kernels = f" (kernels: {isa})" if isa else ""
    return f"{versions}{kernels}; Python {platform.python_version()}, {platform.machine()}"


def time_case(case: Case, libraries: dict[str, Any], rounds: int) -> dict[str, Timing]:
    timers: dict[str, timeit.Timer] = {}
    for name, library in libraries.items():
        names = names_of(case, name, library)
        # Local names, as in a function of a user's; and `x += y` could not assign to a global one.
        setup = "; ".join(f"{letter} = names['{letter}']" for letter in names)
        timers[name] = timeit.Timer(case.statement, setup, globals={"names": names})
    return interleave(case.name, timers, rounds)


def interleave(
    case: str, timers: dict[str, timeit.Timer], rounds: int, sample: float = SAMPLE_SECONDS
) -> dict[str, Timing]:
    """Run each library's timer once in every round, for at least `sample` seconds."""
    numbers: dict[str, int] = {}
    for name, timer in timers.items():
        try:
            timer.timeit(1)  # once unmeasured: pages are touched, caches and lazy imports filled
        except (TypeError, ValueError, RuntimeError) as error:  # a peer may lack a case
            print(f"({name} cannot do {case}: {type(error).__name__}: {error})", file=sys.stderr)
            continue
        numbers[name] = calibrated(timer, sample)
    seconds: dict[str, list[float]] = {name: [] for name in numbers}
    order = list(numbers)
    for _ in range(rounds):
        for name in order:
            seconds[name].append(timers[name].timeit(numbers[name]) / numbers[name])
        order = order[1:] + order[:1]  # nobody always runs after the same neighbour
    return {name: Timing(values) for name, values in seconds.items()}


def calibrated(timer: timeit.Timer, sample: float) -> int:
    """How many times the statement runs in a sample of so many seconds."""
    number = 1
    while (taken := timer.timeit(number)) < sample and number < 10_000_000:
        number = max(number + 1, min(number * 10, int(number * sample / max(taken, 1e-9)) + 1))
    return number


def names_of(case: Case, name: str, library: Any) -> dict[str, Any]:
    """The names a statement sees, with operands of the same values in every library."""
    names: dict[str, Any] = {}
    for letter, operand in zip("xyz", case.operands, strict=False):
        names[letter] = make(operand, name, library, seed=ord(letter))
    if case.function:
        function = getattr(library, SPELLED.get((name, case.function), case.function))
        # JAX returns before the result is there.
        names["f"] = (lambda *x: function(*x).block_until_ready()) if name == JAX else function
    return names


def make(operand: Operand, name: str, library: Any, seed: int = 0) -> Any:
    import numpy

    values = numpy.random.default_rng(seed).uniform(operand.low, operand.high, operand.shape)
    # False throughout, or `any` would be done at the first True.
    array: Any = values > operand.high if operand.dtype == "bool" else values.astype(operand.dtype)
    if name == "torch":
        array = library.tensor(array)
    elif name != YARDSTICK:
        array = library.asarray(array, copy=True)  # in memory of the library's own
    if operand.stretched:
        return library.broadcast_to(array, operand.stretched)
    return eval(f"array{operand.view}", {"array": array}) if operand.view else array


def ratio(timing: Timing, yardstick: Timing) -> float:
    return statistics.median(a / b for a, b in zip(timing.seconds, yardstick.seconds, strict=True))


def show(timing: Timing | None) -> str:
    if timing is None:
        return "-"
    low, middle, high = timing.quartiles
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
    scale, unit = next(((scale, unit) for scale, unit in units if middle >= scale), (1e-9, "ns"))
    return f"{middle / scale:.3g} {unit} ({low / scale:.3g} to {high / scale:.3g})"


def write_json(path: Path | None, content: dict[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
