"""Options, Markdown tables and the JSON of the benchmarks."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.timing import Call, Timing, interleave, ratio, show

Found = dict[str, Any]  # a row: its "case", and by library "quartiles" (in seconds) and "ratios"


def parser(
    description: str | None,
    rounds: int = 0,
    only: str = "",
    threads: bool = True,
    without: Iterable[str] = (),
) -> argparse.ArgumentParser:
    """Return a parser with the options of most benchmarks; `only` names the things that `-k` selects."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if rounds:
        made.add_argument("--rounds", type=int, default=rounds, metavar="N", help=f"default: {rounds}")
    if threads:
        made.add_argument(
            "--threads", type=int, default=1, metavar="N", help="threads each library may use (1)"
        )
    if only:
        made.add_argument("-k", default="", metavar="TEXT", help=f"only {only} with this in their name")
    if without:
        known = ", ".join(without)
        made.add_argument("--without", nargs="*", default=[], metavar="NAME", help=f"of {known}")
    made.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    return made


def heading(cells: Sequence[str], left: int = 1) -> str:
    """Return the head of a table whose columns are numbers, except the first `left` ones."""
    return line(cells) + "\n|" + "---|" * left + "---:|" * (len(cells) - left)


def line(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def compare(
    title: str,
    cases: Iterable[tuple[str, Mapping[str, Call]]],
    names: Sequence[str],
    yardstick: str,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
    repeated: int = 1,
    more: Mapping[str, Callable[[Found], str]] | None = None,
) -> list[Found]:
    """
    Print a table of cases, each timed in all libraries that have a call for it, and return its rows.

    A ratio is the time of a library divided by the time of the yardstick. A call repeats its case `repeated`
    times. `more` has titles and texts of further columns.
    """
    others = [name for name in names if name != yardstick and yardstick in names]
    columns = more or {}
    print("\n" + heading([title, *names, *(f"{name} / {yardstick}" for name in others), *columns]))
    rows = []
    for case, calls in cases:
        found = interleave(case, calls, rounds, clock=clock)
        timings = {name: Timing([s / repeated for s in timing.seconds]) for name, timing in found.items()}
        ratios = {
            name: ratio(timings[name], timings[yardstick])
            for name in others
            if name in timings and yardstick in timings
        }
        row: Found = {
            "case": case,
            "quartiles": {n: t.quartiles for n, t in timings.items()},
            "ratios": ratios,
        }
        cells = [case, *(show(timings.get(name)) for name in names)]
        cells += [f"{ratios[name]:.2f}" if name in ratios else "" for name in others]
        print(line([*cells, *(text(row) for text in columns.values())]), flush=True)
        rows.append(row)
    return rows


def write_json(path: Path | None, content: dict[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
