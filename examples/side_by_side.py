"""Runs the same steps in two array libraries by turns, and compares the results. `sklearn_pipeline.py` and
`scipy_image.py` use it; it is not a program.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

Array = Any  # an array of any library that follows the standard
State = dict[str, Any]  # of one library: its namespace as "xp", its inputs, and the results by title


@dataclass(frozen=True)
class Step:
    """A computation, and the allowed difference of its result from NumPy's."""

    title: str
    run: Callable[[State], Any]
    tolerance: float = 0.0  # relative to the largest element; 0 means the same bits
    number: Callable[[numpy.ndarray], float] = lambda result: float(numpy.mean(result))  # shown in the table


@dataclass
class Row:
    """The results of a step in each library, the reference first."""

    step: Step
    results: list[Any] = field(default_factory=list)
    seconds: list[list[float]] = field(default_factory=list)

    @property
    def difference(self) -> float:
        """Largest difference from the reference, relative to its largest element; NaN is not equal to NaN."""
        reference, other = (numpy.asarray(result) for result in self.results)
        if reference.dtype.kind in "biu":
            wide = reference.astype(object) if reference.dtype.kind == "u" else reference.astype(numpy.int64)
            return float(numpy.max(numpy.abs(wide - other.astype(wide.dtype)), initial=0))
        largest = float(numpy.max(numpy.abs(reference), initial=0))
        difference = float(numpy.max(numpy.abs(reference - other), initial=0))
        return difference / largest if largest else difference

    def complaint(self, kinds: Sequence[type]) -> str | None:
        """Return a description of the error of a result; None if the result is right."""
        reference, other = self.results
        if isinstance(reference, kinds[0]) != isinstance(other, kinds[1]):
            return f"a {type(other).__name__}, not an array of the library"
        expected, found = numpy.asarray(reference), numpy.asarray(other)
        if (expected.shape, expected.dtype) != (found.shape, found.dtype):
            return f"{found.dtype} {found.shape}, not {expected.dtype} {expected.shape}"
        if not self.difference <= self.step.tolerance:
            return f"differs by {self.difference:.1e}, more than {self.step.tolerance:.0e}"
        return None


def run(
    steps: Sequence[Step],
    prepare: Callable[[Any], State],
    libraries: Sequence[str],
    repeat: int,
) -> tuple[list[Row], list[State]]:
    """Run all steps `repeat` times in both libraries, the first of which is the reference.

    The libraries take turns within each step, and in who begins, so that other programs disturb both equally.
    Before that each step runs once untimed, since the first call of a function may import modules.
    """
    from threadpoolctl import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        threadpool_limits,
    )
    from tqdm import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]

    states = [prepare(importlib.import_module(name)) for name in libraries]
    rows = [Row(step, [None] * len(states), [[] for _ in states]) for step in steps]
    # One thread: more are no faster for matrices of this size, and waiting makes times vary.
    with threadpool_limits(1), tqdm(total=(repeat + 1) * len(steps) * len(states), unit=" parts") as bar:
        for turn in range(repeat + 1):
            for row in rows:
                for k, state in list(enumerate(states))[:: -1 if turn % 2 else 1]:
                    bar.set_description(f"{libraries[k]:>8}", refresh=False)
                    began = time.perf_counter()
                    result = row.step.run(state)
                    if turn:
                        row.seconds[k].append(time.perf_counter() - began)
                    row.results[k] = state[row.step.title] = result
                    bar.update()
    return rows, states


def report(rows: Sequence[Row], states: Sequence[State], libraries: Sequence[str]) -> bool:
    """Print a row per step; return whether every result agrees with the reference."""
    width = max(len(row.step.title) for row in rows) + 2
    heads = [*libraries, "difference", "allowed", *(f"{name}, ms" for name in libraries)]
    print(f"\n{'':<{width}}" + "".join(f"{head:>13}" for head in heads))
    for row in rows:
        numbers = [f"{row.step.number(numpy.asarray(result)):.6g}" for result in row.results]
        times = [f"{1e3 * statistics.median(seconds):.1f}" for seconds in row.seconds]
        cells = [*numbers, f"{row.difference:.1e}", f"{row.step.tolerance:.0e}", *times]
        print(f"{row.step.title:<{width}}" + "".join(f"{cell:>13}" for cell in cells))
    totals = [1e3 * sum(statistics.median(row.seconds[k]) for row in rows) for k in range(len(libraries))]
    print(f"{'all of it':<{width}}" + " " * 52 + "".join(f"{total:>13.1f}" for total in totals))

    kinds = [type(state["xp"].asarray(0.0)) for state in states]
    complaints = [(row.step.title, row.complaint(kinds)) for row in rows]
    for title, complaint in complaints:
        if complaint is not None:
            print(f"\nNOT THE SAME: {title}: {complaint}")
    same = all(complaint is None for _, complaint in complaints)
    if same:
        print(f"\nThe same numbers in {' and '.join(libraries)}: {len(rows)} results within what is allowed.")
    return same
