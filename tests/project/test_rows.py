"""`python -m benchmarks rows`: its table has a row or a stated exception for every public name, and rows
agree. No test here depends on how long anything takes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from benchmarks.compare import worker
from benchmarks.compare.operands import Operand
from benchmarks.rows import cases, reasons
from benchmarks.rows import run as report

ROOT = Path(__file__).resolve().parents[2]
# Names that every class has, and no operation calls.
EVERY_CLASS = {"__doc__", "__init__", "__init_subclass__", "__new__", "__subclasshook__", "__sizeof__"}
SPACES = ("linalg", "fft", "strided")


def public_names() -> set[str]:
    """Every function, namespace and method that is public."""
    names = {name for name in xp.__all__ if name not in SPACES}
    names -= {name for name in names if isinstance(getattr(xp, name), type(xp.float64))}
    names -= {
        name
        for name in names
        if isinstance(getattr(xp, name), type) and issubclass(getattr(xp, name), BaseException | Warning)
    }
    for space in SPACES:
        names |= {f"{space}.{name}" for name in getattr(xp, space).__all__}
    there = [name for name in dir(xp.Array) if hasattr(xp.Array, name)]
    own = [name for name in there if getattr(xp.Array, name) is not getattr(object, name, None)]
    methods = [name for name in own if name not in EVERY_CLASS and (name[0] != "_" or name.startswith("__"))]
    return names | {f"Array.{name}" for name in methods}


def has_counterpart(name: str) -> bool:
    place: Any = np
    for part in name.replace("Array.", "ndarray.").split("."):
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True


COVERED = {case.name for case in cases.cases()}


def test_the_table_has_every_public_name_or_a_reason() -> None:
    names = public_names()
    assert names >= COVERED, "these do not exist"
    assert cases.EXCEPTIONS.keys() <= names, "these do not exist"
    assert not COVERED & cases.EXCEPTIONS.keys()
    left = {name for name in names - COVERED - cases.EXCEPTIONS.keys() if has_counterpart(name)}
    # Python 3.12 and newer give it to every type with the buffer protocol; it is no call of a user.
    assert left - {"Array.__buffer__"} == set()


def test_names_without_a_counterpart_have_none() -> None:
    """Methods neither measured nor excepted are those that NumPy's arrays lack."""
    left = public_names() - COVERED - cases.EXCEPTIONS.keys()
    assert [name for name in left if not name.startswith("Array.")] == []


@pytest.mark.parametrize("size", [10, 1000])
def test_rows_agree_with_numpy(size: int) -> None:
    """On float64 and int64; a run of the benchmark checks all."""
    wrong = {}
    count = 0
    for row in cases.rows((size,), ("float64", "int64")):
        results = []
        for name, library in (("stride0", xp), ("numpy", np)):
            once = worker.compiled(row, name, worker.namespace_of(row, name, library))[1]
            parts = once()
            results.append([*parts] if row.compared == "nothing" else [worker.as_numpy(p) for p in parts])
        wrong[row.key] = worker.difference_of(*results, row.compared)
        count += 1
    assert count > 1500 and not {key: text for key, text in wrong.items() if text}


def test_layouts_are_what_they_are_called() -> None:
    for layout, strides in (("contiguous", (24, 8)), ("transposed", (8, 16)), ("sliced", (48, 16))):
        operand = Operand((2, 3), "float64", layout=layout)
        array = worker.native_operand(operand, 1, "numpy", np)
        assert array.shape == (2, 3) and array.strides == strides
        ours = worker.native_operand(operand, 1, "stride0", xp)
        assert np.asarray(ours).strides == strides and np.array_equal(np.asarray(ours), array)
        assert np.array_equal(array, worker.values(operand, 1))


def test_what_is_compared() -> None:
    one, other = [np.asarray([1.0, -2.0])], [np.asarray([-1.0, 2.0])]
    assert worker.difference_of(one, other) == "other values than NumPy's"
    assert worker.difference_of(one, other, "magnitudes") == ""
    assert worker.difference_of(one, [np.asarray([1.0, 3.0])], "magnitudes") == "other values than NumPy's"
    assert worker.difference_of(one, [np.asarray([1.0, 3.0])], "shapes") == ""
    assert "(3,)" in worker.difference_of(one, [np.ones(3)], "shapes")
    assert worker.difference_of(one, ["anything"], "nothing") == ""


def test_whole_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written, made = tmp_path / "rows.json", tmp_path / "rows.md"
    options = ["--functions", "flip", "Array.__or__", "--sizes", "10", "50", "--dtypes", "int64"]
    assert report.main([*options, "--rounds", "1", "--json", str(written)]) == 0
    figures = json.loads(written.read_text(encoding="utf-8"))
    assert {row["function"] for row in figures["rows"]} == {"flip", "Array.__or__"}
    assert {row["size"] for row in figures["rows"]} == {10, 50}
    assert len(figures["rows"]) == 2 * 3 * (2 + 1 + 0) + 6  # flip(x), flip(a, axis=1), x | y and x | 3
    for row in figures["rows"]:
        row["speedups"]["numpy"] = 0.5 if row["statement"] == "x | y" else 2.0
    written.write_text(json.dumps(figures), encoding="utf-8")
    capsys.readouterr()
    assert report.main(["--read", str(written), "--page", str(made)]) == 0
    assert "* 0.50: Array.__or__: x | y int64 transposed 50" in capsys.readouterr().out
    text = made.read_text(encoding="utf-8")
    assert "| `flip` | 2.00 |" in text and "| `x \\| y` | 6 | 6 | 6 | 0.50 |" in text


def test_unknown_functions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        report.main(["--functions", "no_such_function"])
    assert "no_such_function" in capsys.readouterr().err


def test_reasons_are_of_measured_functions() -> None:
    for reason in reasons.REASONS:
        assert set(reason.names.split()) <= COVERED
        assert {*reason.dtypes.split()} <= {*cases.DTYPES} and {*reason.layouts.split()} <= {*cases.LAYOUTS}
        assert {*reason.sizes} <= {*cases.SIZES}


def test_a_reason_covers_the_rows_that_it_names() -> None:
    reason = reasons.Reason("flip sort", "because", kernels="v3", dtypes="int64 bool", sizes=(10,))
    row = {"function": "flip", "dtype": "bool", "layout": "sliced", "size": 10, "speedups": {"numpy": 0.5}}
    assert reason.covers(row, "v3") and reason.scope() == "v3; int64, bool; 10"
    assert not reason.covers(row, "v4")
    for part, other in (("function", "roll"), ("dtype", "float32"), ("size", 1000)):
        assert not reason.covers(row | {part: other}, "v3")
    assert reasons.unexplained([row], "v3") == [row]
    row["speedups"]["numpy"] = 0.96
    assert reasons.unexplained([row], "v3") == []


def test_the_page_has_every_function_that_is_measured() -> None:
    page_text = (ROOT / "docs" / "evidence" / "rows.md").read_text(encoding="utf-8")
    assert {name for name in COVERED if f"| `{name}` |" not in page_text} == set()
