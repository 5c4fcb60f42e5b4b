"""The chart of `compare`: a dot for each row, on a line for each group."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from benchmarks.compare.cases import GOALS, Goal
from benchmarks.compare.report import Report, speedup, spell

COLOURS = {"numpy": "#3b75af", "torch": "#d1603d", "jax": "#6a9f58"}


def draw(report: Report, path: Path) -> None:
    """Write the chart as SVG, the same bytes for the same report."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "compare", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, NullFormatter

    groups = [*report["groups"]]
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.62 * len(groups)), layout="constrained")
    for place, group in enumerate(groups):
        draw_group(axes, len(groups) - 1 - place, report, group)
    axes.set_yticks(range(len(groups)), [label(group, report, GOALS[group]) for group in reversed(groups)])
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}\N{MULTIPLICATION SIGN}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axvline(1, color="#888888", linewidth=0.8, zorder=0)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.6, zorder=-1)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(groups) - 0.4)
    axes.set_xlabel(f"times as fast as the fastest peer (threads: {report['threads']} where none are named)")
    handles = [
        Line2D(
            [],
            [],
            marker="o",
            linestyle="",
            color=COLOURS[peer],
            alpha=0.6,
            label=f"a row; fastest peer {peer}",
        )
        for peer in COLOURS
        if peer in report["libraries"]
    ]
    handles += [
        Line2D(
            [], [], marker="o", linestyle="", color="#bbbbbb", markerfacecolor="none", label="does not count"
        ),
        Line2D([], [], marker="D", linestyle="", color="black", label="geometric mean"),
        Line2D([], [], marker="|", markersize=12, linestyle="", color="#2a8a3e", label="goal of the mean"),
        Line2D([], [], marker="|", markersize=12, linestyle="", color="#c02020", label="floor of every row"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Title": report["title"]})
    pyplot.close(figure)


def draw_group(axes: Any, y: int, report: Report, group: str) -> None:
    goal, found = GOALS[group], report["groups"][group]
    spread = random.Random(0)  # moved up or down, so that dots do not cover each other
    for row in report["rows"]:
        judged = speedup(row, goal.of)
        if row["group"] != group or judged is None:
            continue
        factor, peer = judged
        height = y + spread.uniform(-0.26, 0.26)
        if row["counts"]:
            axes.plot(factor, height, "o", color=COLOURS[peer], alpha=0.6, markersize=4, markeredgewidth=0)
        else:
            axes.plot(factor, height, "o", color="#bbbbbb", markerfacecolor="none", markersize=4)
    axes.plot([goal.mean] * 2, [y - 0.36, y + 0.36], color="#2a8a3e", linewidth=2)
    if goal.floor is not None:
        axes.plot([goal.floor] * 2, [y - 0.36, y + 0.36], color="#c02020", linewidth=1)
    if found["geometric_mean"]:
        axes.plot(found["geometric_mean"], y, "D", color="black", markersize=6, zorder=5)


def label(group: str, report: Report, goal: Goal) -> str:
    present = tuple(peer for peer in goal.of if peer in report["libraries"])
    threads = f", {goal.threads} thread" if goal.threads == 1 else ""
    return f"{group}{threads}\nagainst {spell(present)}"
