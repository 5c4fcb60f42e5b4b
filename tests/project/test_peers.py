"""The rows of `python -m benchmarks peers`: libraries compute the same, and the page says who wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0
from benchmarks.peers import run
from benchmarks.peers.cases import LIBRARIES, ROWS, Row

INSTALLED: dict[str, Any] = {"stride0": stride0, "numpy": np}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_results_agree(row: Row) -> None:
    assert {*row.statements} <= {*LIBRARIES} and "stride0" in row.statements
    sizes = {size: min(size, 7) for shape in row.shapes.values() for size in shape}
    small = row._replace(
        shapes={name: tuple(sizes[n] for n in shape) for name, shape in row.shapes.items()},
        statements={name: text for name, text in row.statements.items() if name in INSTALLED},
    )
    found = run.measure(small, INSTALLED, 1)
    assert found["wrong"] == {} and {*found["seconds"]} == {*small.statements}


def test_another_result_is_not_timed() -> None:
    row = Row("group", "sum", {"x": (3,)}, {"stride0": "lib.sum(x)", "numpy": "lib.sum(x) + 1"})
    found = run.measure(row, INSTALLED, 1)
    assert {*found["wrong"]} == {"numpy"} and {*found["seconds"]} == {"stride0"}


def test_page() -> None:
    rows = [
        {"group": "sums", "name": "long", "seconds": {"stride0": 1e-6, "numpy": 4e-6, "torch": 2e-6}},
        {"group": "sums", "name": "short", "seconds": {"stride0": 2e-6, "numpy": 1e-6}},
    ]
    report = {
        **{"date": "2026-01-02", "machine": "a processor", "isa": "v3", "python": "3.11", "threads": 1},
        **{"versions": {"stride0": "1", "numpy": "2"}, "rows": rows, "rounds": 3},
    }
    text = run.page(report)
    assert "## sums" in text and "fastest in 1 of 2 rows" in text and "1.00 times the fastest peer" in text
    assert "Faster peers: numpy (short)." in text and "2.00 (torch)" in text and "0.50 (numpy)" in text
