"""docs/evidence/accuracy.md is made of the measurements of conformance/accuracy, which keep the promise."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import sys
from types import ModuleType

import pytest

from stride0._tables.operations import OPS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "conformance" / "accuracy"


@pytest.fixture(scope="module")
def accuracy() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("accuracy", FOLDER / "accuracy.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def test_the_page_shows_what_was_measured(accuracy: ModuleType) -> None:
    rows = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "evidence" / "accuracy.md").read_text(encoding="utf-8") == accuracy.page(rows)


def test_every_function_was_measured_and_is_within_its_bound() -> None:
    rows = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    transcendental = [row.name for row in OPS if row.otherwise == "float64" and "c" in row.body]
    for name in (*transcendental, "pow", "abs"):
        for dtype in ("complex64", "complex128"):
            assert f"{name} {dtype}" in rows
    for row in OPS:
        if row.ulp > 0.5:
            assert {f"{row.name} float32", f"{row.name} float64"} <= rows.keys()
    special = {row.name for row in OPS if row.namespace}
    for key, row in rows.items():
        error, wrong = row["errors"]["stride0"]
        assert error <= (2 if key.split()[0] in special else 1) and wrong == 0, key
        assert row["inputs"] >= 1000 and row["shared"] >= 1000
        assert ("SciPy" if key.split()[0] in special else "NumPy") in row["errors"], key
