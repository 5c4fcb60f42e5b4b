"""The page on the tests of other projects shows the results, with a reason for each failure."""

from __future__ import annotations

import json
from collections import Counter

from conformance.foreign import run as foreign
from conformance.foreign import suites

RESULTS = json.loads(foreign.RESULTS.read_text(encoding="utf-8"))


def test_page() -> None:
    assert {*RESULTS} == {*suites.SUITES}
    assert {name: result["version"] for name, result in RESULTS.items()} == {
        name: suite.version for name, suite in suites.SUITES.items()
    }
    assert foreign.page(RESULTS) in foreign.PAGE.read_text(encoding="utf-8")


def test_each_failure_has_a_reason() -> None:
    for name, result in RESULTS.items():
        kinds = {reason for _, reason in suites.KINDS.get(name, ())}
        listed = {*foreign.listed(name).values()}
        assert listed <= {*result["reasons"]} <= listed | kinds
        assert sum(result["reasons"].values()) == result["failed"]
        counts = foreign.unpacked(result.get("functions", {}))
        assert foreign.packed(counts) == result.get("functions", {})
        # Reasons of tests that are listed by name may be the same.
        assert sum(counts.values()) <= sum(n for reason, n in result["reasons"].items() if reason in kinds)


def test_unlisted_failures_and_superfluous_lines_are_found() -> None:
    listed = foreign.listed("autoray")
    (pattern,) = listed
    failing = pattern.replace("[[]", "[").replace("*", "x")
    found = {failing: ("failed", "why"), "tests/a.py::test_a": ("passed", "")}
    assert foreign.judged("autoray", found) == ([], dict(Counter([listed[pattern]])), {})
    found["tests/a.py::test_a"] = "failed", "because"
    assert foreign.judged("autoray", found)[0] == ["FAILED tests/a.py::test_a: because"]
    del found[failing], found["tests/a.py::test_a"]
    assert foreign.judged("autoray", found)[0][0].startswith("no failing test is named")


def test_more_failures_of_a_function_than_recorded_are_found() -> None:
    found = {f"a.py::test_a[{k}]": ("failed", "Unsupported dtype object") for k in range(3)}

    def differences(**allowed: int) -> list[str]:
        wrong = foreign.judged("numpy", found, {f"a.py::{name}": count for name, count in allowed.items()})[0]
        return [text for text in wrong if not text.startswith("no failing test")]

    assert differences(test_a=3) == []
    assert differences(test_a=2) == ["3 tests of a.py::test_a fail, 2 are recorded"]
    found["a.py::test_a[3]"] = "failed", "AssertionError: 1 is not 2"
    assert differences(test_a=3) == ["FAILED a.py::test_a[3]: AssertionError: 1 is not 2"]
