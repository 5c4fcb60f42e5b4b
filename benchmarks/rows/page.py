"""Write docs/evidence/rows.md: means, a line per function, and the rows below 1.0."""

from __future__ import annotations

from typing import Any

from benchmarks.common.timing import geometric_mean
from benchmarks.rows.cases import EXCEPTIONS, LAYOUTS, SIZES
from benchmarks.rows.reasons import NOISE, REASONS, unexplained

LEVEL = 1.0  # rows below it are listed

EXPLAINED = {"sliced": "sliced (`x[::2]`)"}

HEAD = """\
# Row by row

This page compares the functions and methods that stride0 and NumPy share, on one thread. It covers
{sizes} elements, every supported dtype among {dtypes}, and operands that are {layouts}.
A figure is NumPy's time divided by stride0's time: above 1, stride0 is faster. To write the page:

    python -m benchmarks rows --json v4.json
    STRIDE0_ISA=v3 NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL" python -m benchmarks rows --json v3.json
    python -m benchmarks rows --read v4.json v3.json --page docs/evidence/rows.md

The second command restricts NumPy to AVX2, too. `--functions`, `--sizes`, `--dtypes`, `--layouts`,
`--torch` and `--jax` select the rows. The first two commands list every row below 1.0.

The libraries run in alternating rounds. The clock measures processor time. Each result is compared with
NumPy's result. The position of operands in memory changes a row by about 10 %.
"""

WHY = f"""\
A row from {NOISE} to {LEVEL} may be above or below {LEVEL} in the next run. The columns
"unexplained" above count the rows below {NOISE} without a reason in this table.
"""


def page(reports: list[dict[str, Any]], name: str) -> str:
    """Return the page of several runs, for example for two instruction sets; `name` is the chart file."""
    measured = {
        part: [*dict.fromkeys(row[part] for report in reports for row in report["rows"])]
        for part in ("size", "dtype", "layout")
    }
    parts = [
        HEAD.format(
            sizes=listed([f"{size:,}" for size in measured["size"]]),
            dtypes=listed(measured["dtype"]),
            layouts=listed([EXPLAINED.get(layout, layout) for layout in measured["layout"]]),
        )
    ]
    parts += [f"\nMeasured with {report['described']}; {rounds(report)}.\n" for report in reports]
    parts += [f"\n![How many rows have which speedup, for each size]({name}.svg)\n"]
    parts += [f"\n## Means: {kernels(report)}\n\n{means(report)}" for report in reports]
    parts += [f"\n## Functions: {kernels(report)}\n\n{functions(report)}" for report in reports]
    parts += [f"\n## Rows below {LEVEL}: {kernels(report)}\n\n{below(report)}" for report in reports]
    parts += [f"\n## Why some stay below\n\n{WHY}\n"]
    parts += ["| rows | condition | why, and what it would cost |\n|---|---|---|\n"]
    parts += [
        f"| {', '.join(f'`{name}`' for name in reason.names.split())} | {reason.scope()} | {reason.why} |\n"
        for reason in REASONS
    ]
    parts += ["\n## What is not measured\n\n| names | why |\n|---|---|\n"]
    parts += [
        f"| {', '.join(f'`{name}`' for name in names)} | {why} |\n" for names, why in grouped(EXCEPTIONS)
    ]
    return "".join(parts)


def grouped(reasons: dict[str, str]) -> list[tuple[list[str], str]]:
    """Group the names by their reason."""
    whys = dict.fromkeys(reasons.values())
    return [([name for name, reason in reasons.items() if reason == why], why) for why in whys]


def listed(words: list[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])


def rounds(report: dict[str, Any]) -> str:
    """How many rounds a run had."""
    again = f", and {report['again']} more for rows below {LEVEL}" if report.get("again") else ""
    return f"{report['rounds']} rounds{again}"


def instruction_set(report: dict[str, Any]) -> str:
    """The instruction set of the kernels of a run."""
    return str(report["described"]).partition("kernels: ")[2].partition(")")[0]


def kernels(report: dict[str, Any]) -> str:
    return f"kernels {instruction_set(report)}"


def judged(report: dict[str, Any], **parts: Any) -> list[dict[str, Any]]:
    """The rows of a report that were compared with NumPy and have these parts."""
    return [
        row
        for row in report["rows"]
        if "numpy" in row["speedups"] and all(row[part] == value for part, value in parts.items())
    ]


def mean(rows: list[dict[str, Any]]) -> str:
    return f"{geometric_mean([row['speedups']['numpy'] for row in rows]):.2f}" if rows else ""


def means(report: dict[str, Any]) -> str:
    heads = [f"{size:,}" for size in SIZES]
    lines = [
        f"| layout | {' | '.join(heads)} | rows | below {LEVEL} | below 0.9 | unexplained |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for layout in (*LAYOUTS, "all"):
        parts = {} if layout == "all" else {"layout": layout}
        rows = judged(report, **parts)
        if not rows:
            continue
        cells = [mean(judged(report, size=size, **parts)) for size in SIZES]
        counts = [len([row for row in rows if row["speedups"]["numpy"] < level]) for level in (LEVEL, 0.9)]
        counts.append(len(unexplained(rows, instruction_set(report))))
        lines.append(f"| {layout} | {' | '.join(map(str, [*cells, len(rows), *counts]))} |")
    return "\n".join(lines) + "\n"


def functions(report: dict[str, Any]) -> str:
    heads = [f"{size:,}" for size in SIZES]
    lines = [f"| function | {' | '.join(heads)} | least |", "|---|---:|---:|---:|---:|"]
    for name in dict.fromkeys(row["function"] for row in report["rows"]):
        rows = judged(report, function=name)
        if not rows:
            lines.append(f"| `{name}` |  |  |  | not compared |")
            continue
        cells = [mean([row for row in rows if row["size"] == size]) for size in SIZES]
        least = min(row["speedups"]["numpy"] for row in rows)
        lines.append(f"| `{name}` | {' | '.join(cells)} | {least:.2f} |")
    return "\n".join(lines) + "\n"


def below(report: dict[str, Any]) -> str:
    """Return a line for each statement with rows below LEVEL, sorted by its worst row."""
    slow: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(judged(report), key=lambda row: float(row["speedups"]["numpy"])):
        if row["speedups"]["numpy"] < LEVEL:
            slow.setdefault(row["statement"], []).append(row)
    left = {id(row) for row in unexplained(judged(report), instruction_set(report))}
    lines = ["| statement | rows below | of | unexplained | least | where |", "|---|---:|---:|---:|---:|---|"]
    for statement, rows in slow.items():
        number = len(judged(report, statement=statement))
        worst = rows[0]
        where = f"{worst['dtype']}, {worst['layout']}, {worst['size']:,}"
        code = statement.replace("|", "\\|")
        unclear = sum(id(row) in left for row in rows) or ""
        least = f"{worst['speedups']['numpy']:.2f}"
        lines.append(f"| `{code}` | {len(rows)} | {number} | {unclear} | {least} | {where} |")
    return "\n".join(lines) + "\n"
