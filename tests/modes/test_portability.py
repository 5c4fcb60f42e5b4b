"""Portability bugs of other projects: outcomes are as recorded, and the page shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.portability import page as pages
from conformance.portability import run as portability

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cases() -> list[Any]:
    found: list[Any] = portability.read_cases()
    return found


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    found: dict[str, Any] = portability.read_record()
    return found


def test_each_case_cites_a_fix_once(cases: list[Any]) -> None:
    assert len(cases) == len({case.key for case in cases}) >= 100
    for case in cases:
        assert case.kind and case.title and case.check and case.before != case.after, case.key
        assert 2 <= len(case.before.splitlines()) + len(case.check.splitlines()) <= 10, case.key
        repository, number = case.address.removeprefix("https://github.com/").rsplit("/", 2)[::2]
        assert repository.count("/") == 1 and int(number, 16), case.key


def test_numpy_passes_before_and_after_the_fix(cases: list[Any]) -> None:
    """Every bug passes with NumPy, so it is a bug of portability; every check holds for NumPy."""
    runner = portability.Runner(portability.NUMPY, "default")
    for case in cases:
        assert runner.outcome(case, case.before) == runner.outcome(case, case.after) == "", case.key


def test_outcomes(cases: list[Any], record: dict[str, Any]) -> None:
    found = portability.run([portability.STRIDE0], cases)["stride0"]
    assert found == record["caught"]["stride0"]


def test_outcomes_of_array_api_strict(cases: list[Any], record: dict[str, Any]) -> None:
    library = portability.STRICT
    if not library.is_installed():
        pytest.skip(f"{library.name} is not installed")
    if (version := library.version()) != record["versions"][library.name]:
        pytest.skip(f"{library.name} is {version}; the outcomes are of {record['versions'][library.name]}")
    assert portability.run([library], cases)[library.name] == record["caught"][library.name]


def test_the_fixed_code_passes(cases: list[Any]) -> None:
    """It passes in every configuration, except the ones without a feature that it needs."""
    for case in cases:
        assert set(portability.refusals(portability.STRIDE0, case)) == set(case.without), case.key
        assert "strict" not in case.without and "devices" not in case.without, case.key


def test_a_case_that_is_not_caught_says_why(cases: list[Any], record: dict[str, Any]) -> None:
    for case in cases:
        assert bool(case.reason) == (not record["caught"]["stride0"][case.key]), case.key


def test_the_page_shows_what_is_recorded(cases: list[Any], record: dict[str, Any]) -> None:
    assert pages.PAGE.read_text(encoding="utf-8") == pages.page(cases, record)


@pytest.mark.parametrize("path", ["README.md", "docs/start/why.md", "docs/migrate/array-api-strict.md"])
def test_other_pages_name_the_figures(path: str, record: dict[str, Any]) -> None:
    text = " ".join((ROOT / path).read_text(encoding="utf-8").split())
    for library in (portability.STRIDE0, portability.STRICT):
        outcomes = record["caught"][library.name].values()
        assert str(len(outcomes)) in text and str(sum(map(bool, outcomes))) in text
