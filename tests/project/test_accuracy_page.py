"""docs/evidence/accuracy.md equals the recorded measurements, which are within the promised errors."""

from __future__ import annotations

from conformance import records
from conformance.accuracy import run as accuracy
from stride0._tables.operations import OPS


def test_the_page_shows_what_was_measured() -> None:
    assert accuracy.PAGE.read_text(encoding="utf-8") == accuracy.page(records.read(accuracy.RECORD))


def test_every_function_was_measured_and_is_within_its_bound() -> None:
    rows = records.read(accuracy.RECORD)
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
