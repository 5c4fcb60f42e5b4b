"""Compare stride0 with NumPy, row by row: every public function and method that both have, on one thread.

    python -m benchmarks rows                                       # all of it
    python -m benchmarks rows --functions repeat tile linalg.svd    # seconds
    python -m benchmarks rows --sizes 10 --dtypes float64 --layouts contiguous --torch --jax
    python -m benchmarks rows --json v4.json; STRIDE0_ISA=v3 python -m benchmarks rows --json v3.json
    python -m benchmarks rows --read v4.json v3.json --page docs/evidence/rows.md

A row is a statement for a dtype, a layout and a size (`rows/cases.py`). It is measured like the rows of
`compare`: checked against NumPy's result, in alternating rounds, by processor time. The figure is NumPy's
time divided by ours, the median over the rounds. Rows below 1.0 are measured again, for longer, in a new
process; the rounds of both count. `--page` writes the page of the documentation.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common.tables import write_json
from benchmarks.common.timing import duration, geometric_mean
from benchmarks.compare.cases import OURS, Row
from benchmarks.compare.run import ask, pooled
from benchmarks.rows.cases import DTYPES, LAYOUTS, SIZES, rows
from benchmarks.rows.chart import draw
from benchmarks.rows.page import LEVEL, kernels, page

AGAIN = 3  # factor of rounds for rows below LEVEL


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.read:
        reports = [json.loads(path.read_text(encoding="utf-8")) for path in options.read]
    else:
        reports = [run(options)]
        write_json(options.json, reports[0])
    for report in reports:
        print_summary(report)
    if options.page:
        options.page.write_text(page(reports, options.page.stem), encoding="utf-8")
        draw(reports, [kernels(report) for report in reports], options.page.with_suffix(".svg"))
    return 1 if any(row["wrong"] for report in reports for row in report["rows"]) else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--functions", nargs="+", metavar="NAME", help="public names, such as Array.sum")
    parser.add_argument("--sizes", nargs="+", type=int, default=[*SIZES], metavar="N")
    parser.add_argument("--dtypes", nargs="+", default=[*DTYPES], choices=DTYPES, metavar="DTYPE")
    parser.add_argument("--layouts", nargs="+", default=[*LAYOUTS], choices=LAYOUTS, metavar="LAYOUT")
    parser.add_argument("-k", default="", metavar="TEXT", help="only rows with this in their name")
    parser.add_argument("--torch", action="store_true", help="PyTorch too, where the statement is its own")
    parser.add_argument("--jax", action="store_true", help="JAX too, every statement compiled by jax.jit")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--budget", type=float, default=1, metavar="SECONDS", help="of a row, as in compare")
    parser.add_argument(
        "--once", dest="again", action="store_false", help="do not measure rows below 1.0 again"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--read", nargs="+", type=Path, metavar="FILE", help="report earlier runs' JSON")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write the page of the documentation and, beside it, its chart",
    )
    options = parser.parse_args(arguments)
    unknown = {*(options.functions or ())} - {row.group for row in rows(SIZES[:1])}
    if unknown:
        parser.error(f"--functions: {', '.join(sorted(unknown))}: not in the table of rows/cases.py")
    return options


def chosen(options: argparse.Namespace) -> list[Row]:
    found = rows(tuple(options.sizes), tuple(options.dtypes), tuple(options.layouts))
    return [
        row
        for row in found
        if options.k in row.key and (not options.functions or row.group in options.functions)
    ]


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the chosen rows; then those below LEVEL again."""
    selected = chosen(options)
    libraries = [OURS, "numpy", *(name for name in ("torch", "jax") if getattr(options, name))]
    request = {
        **{"cases": ["benchmarks.rows.cases", {"sizes": options.sizes}], "what": "time", "threads": 1},
        **{"libraries": libraries, "rounds": options.rounds, "budget": options.budget},
    }
    keys = [row.key for row in selected]
    report: dict[str, Any] = {"rounds": options.rounds}
    found: dict[str, dict[str, Any]] = {}
    together: list[str] = []  # the rows of a line: a statement at all sizes
    for message in ask({**request, "keys": keys}, 1):
        if "described" in message:
            report |= {"described": message["described"], "libraries": message["libraries"]}
            print(f"{message['described']}; {options.rounds} rounds. NumPy's time / ours.\n")
            print(header(report["libraries"]))
            continue
        key = message["key"]
        found[key] = {"measured": message, **pooled([message])}
        together.append(key)
        if len(together) == len(options.sizes):
            print(line([found[key] for key in together], report["libraries"]), flush=True)
            together.clear()
    report["again"] = AGAIN * options.rounds if options.again else 0
    slow = [key for key in keys if options.again and 0 < speedup(found[key]) < LEVEL]
    if slow:
        print(f"\n{len(slow)} rows below {LEVEL} are measured again.", flush=True)
        longer = {"rounds": AGAIN * options.rounds, "budget": AGAIN * options.budget, "keys": slow}
        for message in ask({**request, **longer}, 1):
            if "key" in message:
                key = message["key"]
                found[key] = pooled([found[key]["measured"], message])
    report["rows"] = [compact(found[key]) for key in keys]
    return report


def speedup(row: dict[str, Any], peer: str = "numpy") -> float:
    """The median of a peer's time divided by ours; 0 where there is none."""
    quartiles = row["speedups"].get(peer)
    return quartiles[1] if quartiles else 0.0


def compact(row: dict[str, Any]) -> dict[str, Any]:
    """The record of a row: its name in parts, our seconds, speedups, and any error."""
    name, dtype, layout, size = row["name"].rsplit(" ", 3)
    return {
        **{"function": row["group"], "statement": name, "dtype": dtype, "layout": layout, "size": int(size)},
        "seconds": row["seconds"].get(OURS, [0, 0, 0])[1],
        "speedups": {peer: round(quartiles[1], 3) for peer, quartiles in row["speedups"].items()},
        "wrong": row["wrong"],
        "unable": sorted(row["unable"]),
    }


def header(libraries: list[str]) -> str:
    peers = " / ".join(name for name in libraries if name != OURS)
    return f"| row ({peers}) | ... size: our time, speedups |\n|---|---|"


def line(together: list[dict[str, Any]], libraries: list[str]) -> str:
    """A line of the table: a statement, dtype and layout at all sizes."""
    cells = [together[0]["key"].rpartition(" ")[0]]
    for row in together:
        size = row["key"].rpartition(" ")[2]
        if row["wrong"]:
            cells.append(f"{size}: **WRONG {row['wrong']}**")
            continue
        time = duration(row["seconds"][OURS][1])
        ratios = (f"{speedup(row, peer):.2f}" for peer in libraries if peer in row["speedups"])
        cells.append(f"{size}: {time}, {' / '.join(ratios)}")
    return f"| {' | '.join(cells)} |"


def print_summary(report: dict[str, Any]) -> None:
    """Print means, and every row below LEVEL, the worst first."""
    measured = [row for row in report["rows"] if "numpy" in row["speedups"]]
    print(f"\n## {report['described']}\n")
    for peer in report["libraries"]:
        judged = [row for row in measured if peer in row["speedups"]]
        if peer == OURS or not judged:
            continue
        print(f"| of {peer}'s speed | rows | geometric mean | below {LEVEL} | below 0.9 |")
        print("|---|---:|---:|---:|---:|")
        for part in ("size", "dtype", "layout"):
            for value in dict.fromkeys(row[part] for row in judged):
                print_mean(str(value), [row for row in judged if row[part] == value], peer)
        print_mean("all", judged, peer)
        print()
    slow = sorted((row for row in measured if row["speedups"]["numpy"] < LEVEL), key=numpy_speed)
    if slow:
        print(f"Below {LEVEL} of NumPy's speed, the worst first:\n")
    for row in slow:
        time = duration(row["seconds"])
        parts = f"{row['statement']} {row['dtype']} {row['layout']} {row['size']}"
        print(f"* {numpy_speed(row):.2f}: {row['function']}: {parts} ({time})")
    for row in report["rows"]:
        for library, why in row["wrong"].items():
            print(f"\n**WRONG: {library} in {row['function']}: {row['statement']} {row['dtype']}: {why}**")
    for peer in [name for name in report["libraries"] if name not in (OURS, "numpy")]:
        lacking = dict.fromkeys(row["function"] for row in report["rows"] if peer in row["unable"])
        print(f"\n{peer} was not compared in all or some rows of: {', '.join(lacking)}")


def numpy_speed(row: dict[str, Any]) -> float:
    return float(row["speedups"]["numpy"])


def print_mean(what: str, judged: list[dict[str, Any]], peer: str) -> None:
    speedups = [row["speedups"][peer] for row in judged]
    below: Callable[[float], int] = lambda level: sum(ratio < level for ratio in speedups)  # noqa: E731
    mean = geometric_mean(speedups)
    print(f"| {what} | {len(speedups)} | {mean:.2f} | {below(LEVEL)} | {below(0.9)} |")
