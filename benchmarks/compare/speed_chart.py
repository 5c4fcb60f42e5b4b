"""Draw docs/speed.svg, the bar chart of README, from the recorded figures of the documentation:

    python -m benchmarks speed-chart

The bars compare stride0 with the fastest other library that was measured. The means and the slowest rows are
read from the pages on which the runs are recorded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.machine import ROOT
from benchmarks.common.timing import geometric_mean

DOCS = ROOT / "docs"
PERFORMANCE = "evidence/performance.md"
ROWS = "evidence/rows.md"
DOWNSTREAM = "evidence/downstream.md"

# Groups of `compare`, by the first words of their rows in PERFORMANCE, with their labels.
GROUPS = {
    "small": "3 to 100 elements",
    "mid": "300\N{MULTIPLICATION SIGN}300",
    "large": "3200\N{MULTIPLICATION SIGN}3200",
    "sorting": "sorting, searching, indexing",
    "linear algebra": "linear algebra",
}
# Statements of ROWS that NumPy computes faster: the slowest row of each on the newest kernels.
LOSSES = ("vecdot(v, u)", "pow(x, y)", "log10(x)")
# A row of PERFORMANCE that PyTorch computes faster, by its first words; the lower end of its range counts.
TORCH = {"`eig`, `qr` and `svdvals` of stacks": "stacks of 4\N{MULTIPLICATION SIGN}4: eig, qr, svdvals"}
BOTH = "the faster of NumPy and PyTorch"
FASTER, SLOWER = "#3b75af", "#d1603d"


class Bar(NamedTuple):
    """A bar: the operation, the library it is compared with, and the speedup of stride0."""

    label: str
    other: str
    factor: float


def tables(page: str) -> list[list[str]]:
    """Return the rows of all tables of a page, as lists of cells."""
    text = (DOCS / page).read_text(encoding="utf-8").replace("\\|", "/")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(cell: str) -> float:
    """Return the first number of a cell."""
    found = re.search(r"\d+(?:\.\d+)?", cell)
    assert found, cell
    return float(found[0])


def downstream(threads: int) -> tuple[int, float]:
    """Return the number of calls of SciPy and scikit-learn, and the geometric mean of their speedups.

    The baseline of each call is the faster of NumPy, whose figure is 1, and PyTorch.
    """
    text = (DOCS / DOWNSTREAM).read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for section in re.split(r"^## ", text, flags=re.MULTILINE)
        if re.match(rf".*, {threads} threads?\n", section)
        for line in section.splitlines()
        if line.startswith("|")
    ]
    factors = [float(row[2]) / max(1.0, float(row[4])) for row in rows if re.match(r"[\d.]+$", row[2])]
    return len(factors), geometric_mean(factors)


def bars() -> list[Bar]:
    """Return all bars: means first, then single rows that another library wins."""
    performance, rows = tables(PERFORMANCE), tables(ROWS)
    found = []
    for start, label in GROUPS.items():
        cells = next(row for row in performance if row[0].startswith(start))
        other = "NumPy" if cells[2].endswith("NumPy") else BOTH
        found.append(Bar(f"{label} ({cells[1]} rows)", other, number(cells[2])))
    count, mean = downstream(2)
    found.append(Bar(f"{count} calls of SciPy, scikit-learn", BOTH, mean))
    for statement in LOSSES:
        cells = next(row for row in rows if row[0] == f"`{statement}`" and len(row) == 6)
        dtype = cells[5].partition(",")[0]
        found.append(Bar(f"{statement}, {dtype}", "NumPy", number(cells[4])))
    for start, label in TORCH.items():
        cells = next(row for row in performance if row[0].startswith(start))
        found.append(Bar(label, "PyTorch", number(cells[1])))
    return found


def factor(bar: Bar) -> str:
    """Return the text at a bar; it names the other library if only one was measured."""
    baseline = "" if bar.other == BOTH else f" {bar.other}"
    return f"{bar.factor:.{1 if bar.factor >= 1 else 2}f}\N{MULTIPLICATION SIGN}{baseline}"


def draw(path: Path) -> None:
    """Write the chart as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "speed", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    shown = bars()[::-1]
    figure, axes = pyplot.subplots(figsize=(5.6, 0.22 * len(shown) + 0.7), layout="constrained")
    axes.barh(
        range(len(shown)),
        [bar.factor - 1 for bar in shown],
        left=1,
        color=[FASTER if bar.factor >= 1 else SLOWER for bar in shown],
        height=0.62,
    )
    for place, bar in enumerate(shown):
        axes.annotate(
            factor(bar),
            (max(bar.factor, 1), place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.42, 11)
    axes.set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.axvline(1, color="#888888", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [bar.label for bar in shown])
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("speed compared with the faster of NumPy and PyTorch")
    figure.savefig(path, format="svg", metadata={"Date": None, "Title": "Speed of stride0"})
    pyplot.close(figure)


def main() -> None:
    draw(DOCS / "speed.svg")
