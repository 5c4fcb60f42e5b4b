"""`python -m conformance downstream`, which runs other libraries' tests, counts crashes, hangs and failures.

Programs replace pytest: they write what the plugin writes, and then crash, hang or end.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conformance import records
from conformance.downstream import plugin, watch
from conformance.downstream import run as downstream
from conformance.official import outcomes, report

# Runs the tests a to e of a file as pytest with the plugin does; some tests crash or hang on purpose. Tests
# that were begun earlier are read from the record, not begun again.
PROGRAM = """
import json, os, signal, sys, time
record, plan = sys.argv[1], json.loads(sys.argv[2])
begun = {json.loads(line).get("test") for line in open(record)}
out = open(record, "a", buffering=1)
def write(event, **facts):
    out.write(json.dumps({"event": event, **facts}) + "\\n")
tests = [f"lib/part/tests/test_it.py::test_{letter}" for letter in "abcde"]
write("selected", tests=tests)
failed = False
for test in tests:
    if test in begun:
        continue
    write("start", test=test)
    what = plan.get(test[-1], "passed")
    if what == "crash":
        out.write('{"event": "passed", "te')  # it dies while it writes
        out.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "leave":
        os._exit(0)
    elif what == "hang":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
        time.sleep(600)
    else:
        failed = failed or what == "failed"
        write(what, test=test, reason="because" if what != "passed" else "")
    write("end", test=test)
if plan.get("at the end"):
    os.kill(os.getpid(), signal.SIGABRT)
sys.exit(1 if failed else 0)
"""


def watched(tmp_path: Path, plan: dict[str, Any], budget: float = 60.0, limit: float = 30.0) -> Any:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    record = tmp_path / "events"
    command = [sys.executable, str(program), str(record), json.dumps(plan)]
    return watch.watch(command, ["part/tests/test_it.py"], record, {}, watch.Limits(budget, limit))


def found_of(outcomes: dict[str, str]) -> Any:
    """The outcomes that a run would have found."""
    found = watch.Found(selected=list(outcomes))
    for test, outcome in outcomes.items():
        found.take({"event": outcome, "test": test, "reason": "signal 11" if outcome == "crashed" else ""})
    return found


def bad(found: Any) -> dict[str, str]:
    return {test[-1]: outcome for test, outcome in found.outcomes.items() if outcome != "passed"}


def test_all_pass(tmp_path: Path) -> None:
    found = watched(tmp_path, {})
    assert found.clean()
    assert bad(found) == {}
    assert found.counts()["passed"] == 5
    assert found.by_module()["part"]["passed"] == 5


def test_failures_and_skips(tmp_path: Path) -> None:
    found = watched(tmp_path, {"b": "failed", "c": "skipped", "d": "xfailed"})
    assert not found.clean()
    assert bad(found) == {"b": "failed", "c": "skipped", "d": "xfailed"}
    assert found.with_reasons("failed") == [
        {"test": "lib/part/tests/test_it.py::test_b", "reason": "because"}
    ]
    assert found.reasons_counted("skipped") == {"because": 1}


def test_a_crash_costs_one_test(tmp_path: Path) -> None:
    found = watched(tmp_path, {"b": "crash", "d": "leave"})
    assert bad(found) == {"b": "crashed", "d": "crashed"}
    assert found.counts()["passed"] == 3
    assert not found.left()
    assert not found.clean()
    reasons = {entry["test"][-1]: entry["reason"] for entry in found.with_reasons("crashed")}
    assert reasons == {"b": "signal 11", "d": "exit code 0"}


def test_a_hang_costs_one_test(tmp_path: Path) -> None:
    found = watched(tmp_path, {"c": "hang"}, limit=2.0)
    assert bad(found) == {"c": "hung"}
    assert found.counts()["passed"] == 4
    assert not found.clean()


def test_time_that_is_up_leaves_tests_over(tmp_path: Path) -> None:
    for budget in (2.0, 8.0, 32.0):  # a busy machine may take longer to start the program
        folder = tmp_path / str(budget)
        folder.mkdir()
        found = watched(folder, {"b": "hang"}, budget=budget, limit=1000.0)
        assert "time was up" in found.trouble
        assert not found.clean()
        if found.outcomes:
            break
    assert found.counts()["passed"] == 1
    assert found.counts()["notrun"] == 4  # the running test has no outcome


def test_a_death_outside_tests_is_a_failed_run(tmp_path: Path) -> None:
    found = watched(tmp_path, {"at the end": True})
    assert found.counts()["passed"] == 5
    assert "signal 6 outside any test" in found.trouble
    assert not found.clean()


def test_expected_failures(tmp_path: Path) -> None:
    expected = {f"lib/part/tests/test_it.py::test_{letter}": "cannot" for letter in "bc"}
    found = watched(tmp_path, {"b": "failed", "c": "failed"})
    found.excuse(expected)
    assert found.clean()
    assert bad(found) == {"b": "expected", "c": "expected"}
    (tmp_path / "again").mkdir()
    found = watched(tmp_path / "again", {"b": "failed"})
    found.excuse(expected)
    assert not found.clean()  # c passes, although it is listed
    assert bad(found) == {"b": "expected", "c": "failed"}
    found = found_of({"lib/t.py::test_a[1]": "failed", "lib/t.py::test_a[2]": "failed"})
    found.excuse({"lib/t.py::test_a[2]": "cannot"})
    assert found.counts()["failed"] == found.counts()["expected"] == 1
    found.miss(["lib/t.py::test_a", "lib/t.py::test_a[1]"])
    assert found.counts()["failed"] == 1
    found.miss(["lib/t.py::test_b"])  # of another version of the library
    assert found.counts()["failed"] == 2
    (tmp_path / "crashing").mkdir()
    found = watched(tmp_path / "crashing", {"b": "crash", "c": "failed"})
    found.excuse(expected)
    assert not found.clean()  # no crash is ever excused


def test_what_is_recorded_shows_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (library, *_) = downstream.LIBRARIES
    tests = {
        "scipy/fft/tests/test_it.py::test_a": "passed",
        "scipy/io/tests/test_it.py::test_b": "crashed",
    }
    found = found_of(tests)
    about = {"version": "9.9", "instruction_set": "v3", "package": "nowhere"}
    record, written = tmp_path / "record.json", tmp_path / "page.md"
    monkeypatch.setattr(report, "RECORD", record)
    monkeypatch.setattr(report, "PAGE", written)
    records.write(record, {"official": {}, "downstream": {}})
    for arguments in (["--quick"], ["--results", str(tmp_path / "summaries")]):
        kept = downstream.write_summary(downstream.parse(arguments), library, "1.2.3", about, found)
        assert records.read(record)["downstream"] == {}
    assert records.read(Path(kept.removeprefix("summary in ")))["clean"] is False
    downstream.write_summary(downstream.parse([]), library, "1.2.3", about, found)
    page = written.read_text(encoding="utf-8")
    assert "| scipy 1.2.3 | stride0 9.9, v3 | 1 | 1 |" in page
    assert "| fft | 1 | 0 |" in page and "| io | 0 | 1 |" in page
    assert "`scipy/io/tests/test_it.py::test_b`: signal 11" in page


def test_the_conformance_page_shows_the_record() -> None:
    assert report.PAGE.read_text(encoding="utf-8") == report.text_of(records.read(report.RECORD))


def test_a_recorded_run_stands_for_a_smaller_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only for the same sources, and without failures."""
    run = {"suite": "s", "module": "stride0", "instruction_set": "v3", "examples": 100, "seed": 0}
    run |= {"total": {"passed": 5, "failed": 0}, "source_hash": records.source_hash()}
    other, failed = {**run, "source_hash": "0"}, {**run, "total": {"passed": 5, "failed": 1}}
    monkeypatch.setattr(outcomes, "RECORD", tmp_path / "record.json")
    records.write(outcomes.RECORD, {"official": {"run": run, "other": other, "failed": failed}})
    assert outcomes.recorded("stride0", None, 20, 0, "s") == ["run"]
    assert outcomes.recorded("stride0", "v4", 20, 0, "s") == []
    assert outcomes.recorded("stride0", "v3", 1000, 0, "s") == []


class Item(NamedTuple):
    """The facts about a test that sampling needs."""

    path: str
    nodeid: str


def test_a_sample_has_every_function_and_small_files_whole() -> None:
    sample = plugin.sample
    small = [Item("small.py", f"small.py::test_{number}") for number in range(30)]
    large = [
        Item("large.py", f"large.py::test_{name}[{number}]")
        for name, count in (("a", 900), ("b", 90), ("c", 1))
        for number in range(count)
    ]
    chosen = sample([*small, *large], 100)
    assert chosen == sample([*small, *large], 100)
    assert [item for item in chosen if item.path == "small.py"] == small
    functions = Counter(item.nodeid.partition("[")[0] for item in chosen if item.path == "large.py")
    assert functions == {"large.py::test_a": 90, "large.py::test_b": 9, "large.py::test_c": 1}


def test_the_list_of_expected_failures() -> None:
    entries = downstream.expected_failures()
    assert entries, "the list is empty: remove it, and what reads it"
    for test, reason in entries.items():
        assert test.partition("/")[0] in {library.package for library in downstream.LIBRARIES}
        assert "::" in test and reason
