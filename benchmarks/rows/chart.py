"""The chart of `rows`: how many rows have which speedup, for each size and run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

COLOURS = ("#3b75af", "#1a7332", "#d1603d")
ENDS = -3.0, 5.0  # powers of two; values beyond count in the end bars
PER_DOUBLING = 4  # bars


def draw(reports: list[dict[str, Any]], titles: list[str], path: Path) -> None:
    """Write the chart as SVG, the same bytes for the same reports."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "rows", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(reports), figsize=(4.4 * len(reports), 3), sharey=True, squeeze=False, layout="constrained"
    )
    edges = [ENDS[0] + k / PER_DOUBLING for k in range(int((ENDS[1] - ENDS[0]) * PER_DOUBLING) + 1)]
    for axes, report, title in zip(panels[0], reports, titles, strict=True):
        sizes = sorted({row["size"] for row in report["rows"]})
        for size, colour in zip(sizes, COLOURS, strict=False):
            found = [row["speedups"].get("numpy") for row in report["rows"] if row["size"] == size]
            powers = [min(max(math.log2(value), ENDS[0]), ENDS[1] - 1e-9) for value in found if value]
            counts = [sum(low <= power < low + 1 / PER_DOUBLING for power in powers) for low in edges[:-1]]
            axes.stairs(counts, edges, color=colour, linewidth=1.3, label=f"{size:,} elements")
        axes.axvline(0, color="#888888", linewidth=0.8, zorder=0)
        places = range(int(ENDS[0]), int(ENDS[1]) + 1)
        axes.set_xticks([*places], [f"{2.0**place:g}" for place in places])
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.6, zorder=-1)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("NumPy's time / that of stride0")
    panels[0][0].set_ylabel("rows")
    figure.legend(
        *panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    figure.savefig(path, format="svg", metadata={"Date": None, "Title": "Rows by speedup"})
    pyplot.close(figure)
