"""The tests of other projects: the page shows the results, and each failure has a reason."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance"))
try:
    import foreign
finally:
    sys.path.pop(0)

RESULTS = json.loads(foreign.RESULTS.read_text(encoding="utf-8"))


def test_page() -> None:
    assert {*RESULTS} == {*foreign.SUITES}
    assert {name: result["version"] for name, result in RESULTS.items()} == {
        name: suite.version for name, suite in foreign.SUITES.items()
    }
    assert foreign.page(RESULTS) in foreign.PAGE.read_text(encoding="utf-8")


def test_each_failure_has_a_reason() -> None:
    for name, result in RESULTS.items():
        assert {*result["reasons"]} == {*foreign.listed(name).values()}
        assert sum(result["reasons"].values()) == result["failed"]


def test_unlisted_failures_and_superfluous_lines_are_found() -> None:
    listed = foreign.listed("autoray")
    (pattern,) = listed
    failing = pattern.replace("[[]", "[").replace("*", "x")
    found = {failing: ("failed", "why"), "tests/a.py::test_a": ("passed", "")}
    assert foreign.judged("autoray", found) == ([], dict(Counter([listed[pattern]])))
    found["tests/a.py::test_a"] = "failed", "because"
    assert foreign.judged("autoray", found)[0] == ["FAILED tests/a.py::test_a: because"]
    del found[failing], found["tests/a.py::test_a"]
    assert foreign.judged("autoray", found)[0][0].startswith("no failing test is named")
