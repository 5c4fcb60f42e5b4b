"""README's chart has the recorded figures, and rows that other libraries win."""

from __future__ import annotations

from pathlib import Path

from benchmarks.compare import speed_chart as chart

ROOT = Path(__file__).resolve().parents[2]


def test_bars_have_means_first_and_losses_last() -> None:
    bars = chart.bars()
    means, losses = len(chart.GROUPS) + 1, len(chart.LOSSES) + len(chart.TORCH)
    assert len(bars) == means + losses
    assert all(bar.factor > 1 for bar in bars[:means]) and all(0 < bar.factor < 1 for bar in bars[means:])


def test_the_drawn_chart_is_the_current_one() -> None:
    """Every label and factor of the current pages is in the picture."""
    drawn = (ROOT / "docs" / "speed.svg").read_text(encoding="utf-8")
    for bar in chart.bars():
        assert f">{bar.label}</text>" in drawn, bar
        assert f">{chart.factor(bar)}</text>" in drawn, bar
