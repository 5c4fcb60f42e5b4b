"""The benchmark's machinery: figures computed from times, and equal results of its rows everywhere. No test
here depends on how long anything takes.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from benchmarks.__main__ import programs
from benchmarks.common import timing
from benchmarks.compare import cases, operands, report, worker
from benchmarks.compare import run as compare

TINY = cases.rows(cases.TINY)


def found(group: str, name: str, seconds: dict[str, float], **more: Any) -> dict[str, Any]:
    """A row as the worker reports it, with the same time in every round."""
    ours = seconds["stride0"]
    return {
        **{"key": f"{group}: {name}", "group": group, "name": name, "counts": True, "threads": 1},
        **{"wrong": {}, "unable": {}, "peak": {}, "disturbed": 0.0},
        "seconds": {library: [taken] * 3 for library, taken in seconds.items()},
        "speedups": {
            library: [taken / ours] * 3 for library, taken in seconds.items() if library != "stride0"
        },
        **more,
    }


def reported(*rows: dict[str, Any]) -> dict[str, Any]:
    made = {"title": "t", "quick": False, "threads": 2, "libraries": ["stride0", "numpy", "torch"]}
    return {**made, "rows": list(rows)}


def test_the_page_lists_every_program() -> None:
    """The table lists the modules with a function `main`, and no others."""
    folder = Path(compare.__file__).parents[1]
    listed = {module for module, _ in programs("benchmarks").values()}
    found = {
        ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if re.search(r"^def main\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert listed == found - {"benchmarks.__main__"} and len(listed) == len(programs("benchmarks"))


def test_goals_are_those_of_the_issues() -> None:
    goals = {group: (goal.mean, goal.floor, goal.threads) for group, goal in cases.GOALS.items()}
    assert goals == {
        "small": (4.0, 0.95, None),
        "mid": (1.6, 0.95, None),
        "large": (2.5, 0.95, None),
        "searching": (2.5, 0.95, None),
        "linalg": (1.5, 0.95, None),
        "vector-mid": (1.4, 0.6, 1),
        "vector-large": (2.5, None, None),
    }
    assert cases.GOALS["small"].of == cases.GOALS["vector-mid"].floor_of == ("numpy",)
    assert cases.GOALS["mid"].of == ("numpy", "torch")
    assert cases.GOALS["vector-mid"].of == cases.GOALS["vector-large"].of == ("numpy", "torch", "jax")


def test_every_group_has_rows_of_its_own() -> None:
    assert {row.group for row in TINY} == {*cases.GOALS}
    for scale in (cases.FULL, cases.QUICK):
        # Keys name the rows to other processes, and match rows of two runs.
        assert [row.key for row in cases.rows(scale)] == [row.key for row in TINY]
    vector = [row for row in TINY if row.group == "vector-mid"]
    assert len(vector) == 18 and all(row.counts for row in vector)
    # Transcendental functions have their own groups and do not count in the others.
    for row in TINY:
        if not row.group.startswith("vector"):
            function = row.statement.split("(")[0]
            assert row.counts == (function not in ("exp", "log", "sin", "tanh", "pow")), row.key


@pytest.mark.parametrize("group", list(cases.GOALS))
def test_rows_agree_with_numpy(group: str) -> None:
    wrong = {}
    for row in TINY:
        if row.group != group:
            continue
        results = []
        for name, library in (("stride0", xp), ("numpy", np)):
            once = worker.compiled(row, name, worker.namespace_of(row, name, library))[1]
            results.append([worker.as_numpy(part) for part in once()])
        wrong[row.key] = worker.difference_of(*results, row.compared)
    assert wrong and not {key: text for key, text in wrong.items() if text}


def test_wrong_results_are_found() -> None:
    expected = [np.asarray([1.0, 2.0, 1e6])]
    differs = worker.difference_of
    assert differs([np.asarray([1.0, 2.0, 1e6])], expected) == ""
    assert differs([np.asarray([1.0, 2.0, 1e6]) * (1 + 1e-12)], expected) == ""
    assert differs([np.asarray([1.0, 2.1, 1e6])], expected) == "other values than NumPy's"
    assert differs([np.asarray([1.0, 2.0, math.nan])], expected) == "other values than NumPy's"
    assert "float32" in differs([np.asarray([1.0, 2.0, 1e6], "float32")], expected)
    assert "(1, 3)" in differs([np.asarray([[1.0, 2.0, 1e6]])], expected)
    assert "2 arrays" in differs([*expected, *expected], expected)
    assert differs([np.asarray([1, 2])], [np.asarray([1, 3])]) == "other values than NumPy's"


@pytest.mark.parametrize(
    ("library", "statement", "expected"),
    [
        ("torch", "sum(x, axis=0)", "sum(x, dim=0)"),
        ("torch", "std(x, axis=1)", "std(x, correction=0, dim=1)"),
        ("torch", "argmax(x)", "argmax(x)"),
        ("torch", "max(x)", "amax(x)"),
        ("torch", "take(x, i, axis=1)", "index_select(x, 1, i)"),
        ("torch", "argsort(x, stable=True)", "argsort(x, stable=True)"),
        ("torch", "sort(x, axis=0)", "sort(x, dim=0)[0]"),
        ("torch", "contiguous(x.T)", "x.T.contiguous()"),
        ("numpy", "astype(x, float32)", "x.astype(float32)"),
        ("stride0", "astype(x, float32)", "astype(x, float32)"),
    ],
)
def test_spelling(library: str, statement: str, expected: str) -> None:
    assert operands.spelled(statement, library) == expected


def test_values() -> None:
    def values(*arguments: Any, **named: Any) -> Any:
        return operands.values(operands.Operand(*arguments, **named), 1)

    assert np.array_equal(values((9,)), values((9,)))
    assert len(np.unique(values((5, 5), "float32", values="distinct"))) == 25
    assert np.all(np.diff(values((50,), values="sorted")) >= 0)
    assert not values((5,), "bool", values="false").any()
    assert 0 < values((1000,), "bool").mean() < 1
    whole = values((1000,), "int64", low=2, high=5)
    assert whole.dtype == "int64" and {*whole.tolist()} == {2, 3, 4}
    assert values((4,), "complex64").dtype == "complex64"


def test_a_timer_runs_as_often_as_it_says() -> None:
    row = cases.Row("small", "count", "x += y", {})
    for number, expected in ((1, 1), (9, 9), (10, 10), (25, 20)):
        x, y = np.zeros(1), np.ones(1)
        timer, _ = worker.compiled(row, "numpy", {"x": x, "y": y})
        assert timer(number) > 0
        assert x[0] == expected  # whole turns of a loop with ten copies


def test_calibration_fills_a_sample() -> None:
    assert timing.calibrated(lambda number: 1.0) == 1
    number = timing.calibrated(lambda number: 1e-6)
    assert number * 1e-6 >= timing.SAMPLE_SECONDS > 0.5 * number * 1e-6


def timers(ran: list[str]) -> dict[str, Any]:
    def timer_of(name: str) -> Any:
        def timer(number: int) -> float:
            ran.append(name)
            return 0.01

        return timer

    return {name: timer_of(name) for name in "abc"}


def test_libraries_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "waited_for_cores", lambda: 0.0)
    ran: list[str] = []
    seconds, disturbed = timing.alternate(timers(ran), 4, 0, math.inf)
    assert seconds == dict.fromkeys("abc", [0.01] * 4) and disturbed == 0
    # One run each to calibrate; then samples; in the first round an untimed run comes before each.
    assert "".join(ran) == "abc" + "aabbcc" + "bca" + "cab" + "abc"
    seconds, _ = timing.alternate(timers([]), 50, 0, 0)  # no time at all
    assert {len(samples) for samples in seconds.values()} == {timing.LEAST_ROUNDS}


def measured(samples: dict[str, list[float]], **more: Any) -> dict[str, Any]:
    row = found("small", "x + y", {"stride0": 1.0})
    for name in ("seconds", "speedups"):
        del row[name]
    return {**row, "samples": samples, **more}


def test_rounds_of_all_processes_count_alike() -> None:
    first = measured({"stride0": [1.0, 2.0], "numpy": [3.0, 4.0], "torch": [9.0, 9.0]}, disturbed=0.5)
    second = measured({"stride0": [4.0], "numpy": [4.0]}, unable={"torch": "no"})
    row = compare.pooled([first, second])
    assert row["seconds"] == {"stride0": (1.5, 2.0, 3.0), "numpy": (3.5, 4.0, 4.0)}
    assert row["speedups"] == {"numpy": (1.5, 2.0, 2.5)}  # of 3/1, 4/2 and 4/4
    assert row["disturbed"] == 0.25 and row["unable"] == {"torch": "no"} and "samples" not in row
    wrong = compare.pooled([first, measured({"numpy": [1.0]}, wrong={"stride0": "other values"})])
    assert "stride0" not in wrong["seconds"] and wrong["speedups"] == {}


def test_processes_there_have_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        compare.parse(["--processes", "0"])
    assert "--processes" in capsys.readouterr().err


def test_disturbed_samples_are_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = iter(range(10**6))
    monkeypatch.setattr(timing, "waited_for_cores", lambda: float(next(waited)))
    ran: list[str] = []
    seconds, disturbed = timing.alternate(timers(ran), 2, 0, math.inf)
    assert disturbed == 1 and {len(samples) for samples in seconds.values()} == {2}
    # Calibration; then in each round every try, with an untimed run before each until there is a sample.
    assert ran.count("a") == 1 + timing.TRIES * 2 + timing.TRIES


def test_missing_libraries_are_told() -> None:
    libraries, missing = worker.load_all(["stride0", "numpy", "no_such_library"])
    assert [*libraries] == ["stride0", "numpy"] and "no_such_library" in missing["no_such_library"]


def test_speedup_is_over_the_fastest_peer() -> None:
    row = found("mid", "r", {"stride0": 2.0, "numpy": 3.0, "torch": 1.0})
    assert report.speedup(row, ("numpy", "torch")) == (0.5, "torch")
    assert report.speedup(row, ("numpy",)) == (1.5, "numpy")
    assert report.speedup(row, ("jax",)) is None
    assert timing.geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_verdicts() -> None:
    fast = found("mid", "fast", {"stride0": 1.0, "numpy": 4.0, "torch": 9.0})
    slow = found("mid", "slow", {"stride0": 1.0, "numpy": 0.5, "torch": 9.0})
    slower = found("mid", "slower", {"stride0": 1.0, "numpy": 9.0, "torch": 0.25})
    aside = found("mid", "aside", {"stride0": 1.0, "numpy": 0.01, "torch": 9.0}, counts=False)

    def verdict(*rows: dict[str, Any]) -> dict[str, Any]:
        summary: dict[str, Any] = report.group_summaries(reported(*rows))["mid"]
        return summary

    assert verdict(fast)["met"] and verdict(fast, aside)["met"]
    both = verdict(fast, slow, slower, aside)
    assert not both["met"] and both["rows"] == 4 and both["counted"] == 3
    assert both["geometric_mean"] == pytest.approx((4.0 * 0.5 * 0.25) ** (1 / 3))
    assert both["below"] == [(0.25, "torch", "mid: slower"), (0.5, "numpy", "mid: slow")]
    assert not verdict({**fast, "wrong": {"stride0": "other values than NumPy's"}})["met"]
    alone = found("mid", "alone", {"stride0": 1.0})
    assert not verdict(fast, alone)["met"] and verdict(fast, alone)["unjudged"] == ["mid: alone"]


def test_floor_and_mean_may_have_different_peers() -> None:
    row = found("vector-mid", "exp", {"stride0": 1.0, "numpy": 0.7, "torch": 0.5})
    summary = report.group_summaries(reported(row))["vector-mid"]
    assert summary["geometric_mean"] == pytest.approx(0.5) and summary["below"] == []
    assert summary["missing"] == ["jax"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="memory is measured in forks")
def test_whole_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written, chart = tmp_path / "run.json", tmp_path / "run.svg"
    options = ["--without", "torch", "--rounds", "2", "--threads", "1", "--json", str(written)]
    assert compare.main([*options, "-k", "mid: x + y float64, outer"]) == 0
    printed = capsys.readouterr().out
    assert "WITHOUT torch" in printed and "x + y float64, outer" in printed
    figures = json.loads(written.read_text(encoding="utf-8"))
    (row,) = figures["rows"]
    assert {*row["seconds"]} == {"stride0", "numpy", "limit"} and row["result_bytes"] == 300 * 300 * 8
    assert not row["wrong"] and not row["unable"]
    assert {*row["peak"]} == {"stride0", "numpy"}

    row["seconds"]["stride0"] = [second * 2 for second in row["seconds"]["stride0"]]
    row["speedups"]["numpy"] = [factor / 2 for factor in row["speedups"]["numpy"]]
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(figures), encoding="utf-8")
    again = ["--read", str(changed), "--against", str(written)]
    if importlib.util.find_spec("matplotlib") is not None:
        again += ["--chart", str(chart)]
    assert compare.main(again) == 0
    assert "* 0.50: mid: x + y float64, outer" in capsys.readouterr().out
    if "--chart" in again:
        assert chart.read_text(encoding="utf-8").startswith("<?xml")
