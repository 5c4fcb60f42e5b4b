"""Lines that break the standard: outcomes are as recorded, and docs/evidence/strictness.md shows them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.strictness import page
from conformance.strictness import run as strictness


@pytest.fixture(scope="module")
def lines() -> list[Any]:
    return strictness.read_lines()


@pytest.fixture(scope="module")
def record(lines: list[Any]) -> dict[str, Any]:
    return strictness.read_record(lines)


def test_each_line_is_there_once_with_a_rule(lines: list[Any]) -> None:
    broken = [line.key for line in lines if line.config != strictness.LEGAL]
    assert len(broken) == len(set(broken)) >= 660
    assert all(
        line.rule and line.config in (strictness.LEGAL, *strictness.STRIDE0.SETTINGS) for line in lines
    )
    assert all(set(line.without) <= set(strictness.STRIDE0.SETTINGS) for line in lines)


def test_each_line_passes_somewhere(lines: list[Any], record: dict[str, Any]) -> None:
    """Each line is accepted by some library, so none fails because of a mistake in it."""
    columns = [column for name, column in record["outcomes"].items() if name != strictness.STRIDE0.name]
    for line in lines:
        if line.config != strictness.LEGAL:
            assert any(column[line.key] == strictness.PASSED for column in columns), line.key


@pytest.mark.parametrize("column", ["stride0", "stride0 by default"])
def test_outcomes(column: str, lines: list[Any], record: dict[str, Any]) -> None:
    run = strictness.run([strictness.STRIDE0], lines)["stride0"]
    found = run if column == "stride0" else strictness.lenient(lines)
    assert found == record["outcomes"][column]


def test_outcomes_of_array_api_strict(lines: list[Any], record: dict[str, Any]) -> None:
    name = strictness.STRICT.name
    if not strictness.STRICT.is_installed():
        pytest.skip(f"{name} is not installed")
    if (version := strictness.STRICT.version()) != record["versions"][name]:
        pytest.skip(f"{name} is {version}; the outcomes are of {record['versions'][name]}")
    found = strictness.run([strictness.STRICT], lines)[name]
    caught = {key for key, outcome in found.items() if outcome != strictness.PASSED}
    recorded = record["outcomes"][name]
    assert caught == {key for key, outcome in recorded.items() if outcome != strictness.PASSED}


def test_nothing_that_array_api_strict_catches_is_let_through(record: dict[str, Any]) -> None:
    ours, theirs = record["outcomes"]["stride0"], record["outcomes"][strictness.STRICT.name]
    passed = strictness.PASSED
    assert [key for key in ours if ours[key] == passed != theirs[key]] == []


def test_lines_that_the_standard_defines_pass(lines: list[Any]) -> None:
    """In strict mode and with every flag, except for features that the flag removes."""
    assert list(strictness.false_alarms(lines)) == []
    assert not any("strict" in line.without for line in lines)


def test_the_page_shows_what_is_recorded(lines: list[Any], record: dict[str, Any]) -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(lines, record, page.read_speed())
