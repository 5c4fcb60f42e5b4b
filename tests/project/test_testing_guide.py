"""The guide to testing array-agnostic code: its files run, and its table is right."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import pytest_stride0
from stride0.testing import flags

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "testing.md").read_text(encoding="utf-8")
FILES = {
    name: text
    for name, text in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
}
COMMAND = re.search(r"`pytest (--xp-configs=(\S+)) test_draft\.py`", PAGE)


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the table whose heading begins so, by the text in the first column."""
    lines = PAGE[PAGE.index(heading) :].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    return {row[0].strip("`"): row[1:] for row in cells}


def run_tests(pytester, file: str, text: str, command: re.Match[str], count: int) -> dict[str, set[str]]:
    """The names of the tests of a file that fail, by configuration."""
    (pytester.path / file).write_text(text)
    result = pytester.runpytest_subprocess(
        "-p", "pytest_stride0", "-p", "no:cacheprovider", "-rA", command[1], file
    )
    found: dict[str, set[str]] = {name: set() for name in command[2].split(",")}
    ran = 0
    for line in result.outlines:
        match = re.match(r"(PASSED|FAILED) \w+\.py::(\w+)\[(.*?)\]", line)
        if match:
            ran += 1
            if match[1] == "FAILED":
                found[match[3]].add(match[2])
    assert ran == count * len(found)
    return found


@pytest.fixture
def failures(pytester, monkeypatch):
    """The names of the tests that fail, by configuration."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(module: str) -> dict[str, set[str]]:
        (pytester.path / "integrate_draft.py").write_text(FILES[module])
        return run_tests(pytester, "test_draft.py", FILES["test_draft.py"], COMMAND, 5)

    return run


def test_the_draft_has_the_bugs_of_the_table(failures):
    table = rows("| configuration | failing tests |")
    expected = {name: set(re.findall(r"`(\w+)`", cells[0])) for name, cells in table.items()}
    assert failures("integrate_draft.py") == expected
    assert not expected["default"] and all(found for name, found in expected.items() if name != "default")


def test_the_function_at_the_end_has_none(failures):
    assert set().union(*failures("integrate.py").values()) == set()


def test_functions_of_scipy(pytester, monkeypatch):
    pytest.importorskip("scipy", reason="this needs SciPy: pip install scipy")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    command = re.search(r"`SCIPY_ARRAY_API=1 pytest (--xp-configs=(\S+)) test_scipy\.py`", PAGE)
    text = FILES["test_scipy.py"]
    table = rows("| configuration | fails with SciPy 1.17 |")
    expected = {name: set(re.findall(r"`(\w+)`", cells[0])) for name, cells in table.items()}
    found = run_tests(pytester, "test_scipy.py", text, command, 3)
    assert {name: tests for name, tests in found.items() if tests} == expected
    # Without the transfer, and with the arrays on the CPU from the start.
    bare = text.replace("actual.to_device(cpu), desired.to_device(cpu)", "actual, desired")
    found = run_tests(pytester, "test_bare.py", bare, command, 3)
    assert {name for name, tests in found.items() if len(tests) == 3} == {"devices"}
    found = run_tests(pytester, "test_cpu.py", bare.replace("[-2:][0]", "[-1]"), command, 3)
    assert not found["devices"]


def test_the_configurations_are_those_of_the_plugin():
    table = rows("| configuration | flags |")
    versions = table.pop("2022.12`, `2023.12`, `2024.12")
    assert versions == ["`api_version` set to this version"]
    listed = {name: eval(f"dict({cells[0].strip('`')})") for name, cells in table.items()}
    listed |= {version: {"api_version": version} for version in ("2022.12", "2023.12", "2024.12")}
    assert listed == pytest_stride0.CONFIGURATIONS
    assert tuple(listed)[:6] == pytest_stride0.CHOSEN


def test_the_flags_are_all_there():
    named = [name for key in rows("| flag | default |") for name in re.findall(r"\w+", key)]
    assert named == list(inspect.signature(flags).parameters)
