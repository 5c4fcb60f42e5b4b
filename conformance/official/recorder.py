"""A pytest plugin, loaded by run.py.

It writes each test's outcome as a line of JSON as it happens, and deselects the tests of other chapters. Each
line is written before the test continues, so a process that dies leaves the name of its test.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

_LATER_FILES = ("linalg", "fft", "sorting_functions", "set_functions", "dlpack")
# Names as in the ids of test_has_names ("linalg-det", "array_method-__matmul__") and of test_signatures
# ("linalg.det", "sort", "__matmul__").
_LATER_CHAPTERS = re.compile(r"(linalg|fft|linear_algebra|sorting|set)[-.]")
_LATER_NAMES = re.compile(
    r"(array_method-|creation-|searching-)?"
    r"(matmul|matrix_transpose|tensordot|vecdot|argsort|sort|searchsorted|isin|unique_\w+|from_dlpack"
    r"|__dlpack__|__dlpack_device__|__[ri]?matmul__)"
)
_NODE = re.compile(r".*?test_(?P<file>\w+)\.py(::(?P<test>[^\[]*)(\[(?P<parameter>.*)\])?)?$", re.DOTALL)


def chapter_of(nodeid: str) -> str:
    """The chapter a test belongs to: the name of its file without `test_`."""
    match = _NODE.match(nodeid)
    return match["file"] if match else nodeid


def in_core(nodeid: str) -> bool:
    """Whether a test belongs to a chapter other than linear algebra, FFT, sorting, sets and DLPack."""
    match = _NODE.match(nodeid)
    if match is None:
        return True
    parameter = match["parameter"] or ""
    if match["file"] in ("has_names", "signatures"):
        return not (_LATER_CHAPTERS.match(parameter) or _LATER_NAMES.fullmatch(parameter))
    return match["file"] not in _LATER_FILES and not (match["test"] or "").startswith("test_searchsorted")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", help="file that receives the outcomes, one line of JSON for each test")
    parser.addoption("--chapters", default="all", choices=["all", "core"])


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--record")
    # With pytest-xdist only the controlling process, which gets the workers' reports, writes.
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(Path(path)), "stride0-recorder")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--chapters") == "core":
        later = [item for item in items if not in_core(item.nodeid)]
        items[:] = [item for item in items if in_core(item.nodeid)]
        config.hook.pytest_deselected(items=later)


def pytest_runtest_setup(item: pytest.Item) -> None:
    # The special-case tests draw values with `.example()`, which shuffles by the global generator: without
    # this, runs with the same seed would differ.
    random.seed(f"{item.config.getoption('--hypothesis-seed')} {item.nodeid}")


class _Recorder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def _write(self, event: str, test: str, reason: str = "") -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "test": test, "reason": reason}) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write("start", nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write("failed", report.nodeid, _reason(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        expected_failure = hasattr(report, "wasxfail")
        if report.failed:
            self._write("failed", report.nodeid, _reason(report))
        elif report.skipped:
            self._write("xfailed" if expected_failure else "skipped", report.nodeid, _reason(report))
        elif report.when == "call":
            if expected_failure:
                self._write("failed", report.nodeid, "passes, although xfails.txt lists it")
            else:
                self._write("passed", report.nodeid)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The first line of the error, or of the reason of a skip."""
    text: Any = report.longrepr
    if isinstance(text, tuple):  # a skip: path, line, message
        text = text[2]
    crash = getattr(text, "reprcrash", None)
    lines = str(crash.message if crash is not None else text).strip().splitlines() or [""]
    if crash is not None or isinstance(report, pytest.TestReport):
        return lines[0].removeprefix("Skipped: ")
    return lines[-1]  # in a traceback at collection the last line has the error
