"""The picture of docs/evidence/accuracy.md: largest errors of real functions of one number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {"stride0": "#1a7332", "NumPy": "#3b75af", "PyTorch": "#d1603d", "JAX": "#9a6fb0"}
MARKERS = {"stride0": "D", "NumPy": "o", "PyTorch": "s", "JAX": "^"}
MOST = 30.0  # units in the last place; larger errors and wrong results are drawn at the edge


def draw(rows: dict[str, Any], functions: list[str], path: Path) -> None:
    """Write the picture as SVG, the same bytes for the same measurements."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "accuracy", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    dtypes = ("float32", "float64")
    figure, panels = pyplot.subplots(
        1, 2, figsize=(9, 0.7 + 0.22 * len(functions)), sharey=True, layout="constrained"
    )
    for axes, dtype in zip(panels, dtypes, strict=True):
        axes.axvline(1, color="#888888", linewidth=0.8, zorder=0)
        for library, colour in COLOURS.items():
            points = [
                (min(MOST, worst) if not wrong else MOST, len(functions) - 1 - k)
                for k, name in enumerate(functions)
                if (row := rows.get(f"{name} {dtype}")) and library in row["errors"]
                for worst, wrong in [row["errors"][library]]
            ]
            axes.plot(
                *zip(*points, strict=True),
                MARKERS[library],
                color=colour,
                alpha=0.75,
                markersize=4.5,
                markeredgewidth=0,
                label=library,
            )
        axes.set_xscale("log")
        axes.set_xlim(0.45, MOST * 1.12)
        axes.set_xticks([0.5, 1, 2, 5, 10, MOST], ["0.5", "1", "2", "5", "10", f"{MOST:g}, or wrong"])
        axes.minorticks_off()
        axes.set_yticks(range(len(functions)), functions[::-1], family="monospace")
        axes.grid(color="#e4e4e4", linewidth=0.6, zorder=-1)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.set_title(dtype, fontsize=9)
        axes.set_xlabel("largest error, units in the last place")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    title = "Largest errors of functions of one real number"
    figure.savefig(path, format="svg", metadata={"Date": None, "Title": title})
    pyplot.close(figure)
