"""Runs pytest in a process that may die or hang, and then in a new one, so every test has an outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from conformance import records

# In the order in which they are reported. "expected" is a failure listed in xfails.txt; "notrun" a test that
# was selected and never begun.
OUTCOMES = ("passed", "failed", "crashed", "hung", "notrun", "expected", "skipped", "xfailed", "xpassed")
BAD = ("failed", "crashed", "hung", "notrun")

_MOST_DEATHS = 50
_POLL_SECONDS = 0.25
_PROGRESS_SECONDS = 60


@dataclass(frozen=True)
class Limits:
    """Seconds that all tests together may take, and a single one."""

    budget: float
    test: float


@dataclass
class Found:
    """The tests that were selected, and the outcome of each that was begun."""

    outcomes: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    selected: list[str] = field(default_factory=list)
    trouble: str = ""
    _current: tuple[str, float] | None = None

    def take(self, event: dict[str, Any]) -> None:
        """Process one event. A failure in any phase of a test outweighs its other phases."""
        what = event["event"]
        if what == "selected":
            known = set(self.selected)
            self.selected += [test for test in event["tests"] if test not in known]
            return
        test = event["test"]
        if what == "start":
            self._current = (test, time.monotonic())
        elif what == "end":
            self._current = None
        elif self.outcomes.get(test) not in BAD:
            self.outcomes[test] = what
            self.reasons[test] = records.one_line(event.get("reason", ""))

    def running(self) -> tuple[str, float] | None:
        """The test that was begun last and has not ended, and for how many seconds it has been running."""
        return None if self._current is None else (self._current[0], time.monotonic() - self._current[1])

    def left(self) -> list[str]:
        return [test for test in self.selected if test not in self.outcomes]

    def excuse(self, expected: dict[str, str]) -> None:
        """Mark the failures that are expected, and fail the tests that pass although they are listed.

        A test is listed by its id, or for all its parameters by the id without them.
        """
        for test, outcome in list(self.outcomes.items()):
            name = test if test in expected else test.partition("[")[0]
            if name in expected and outcome == "failed":
                self.outcomes[test], self.reasons[test] = "expected", expected[name]
            elif name in expected and outcome == "passed":
                self.outcomes[test] = "failed"
                self.reasons[test] = "passes, although the list of expected failures names it"

    def miss(self, listed: list[str]) -> None:
        """Fail listed tests that the library does not ship: the list is for other versions."""
        known = {*self.selected, *(test.partition("[")[0] for test in self.selected)}
        for test in listed:
            if test not in known:
                self.outcomes[test] = "failed"
                self.reasons[test] = "the list of expected failures names it, and there is no such test"

    def clean(self) -> bool:
        counts = self.counts()
        return not self.trouble and counts["passed"] > 0 and not any(counts[outcome] for outcome in BAD)

    def counts(self) -> dict[str, int]:
        found = Counter(self.outcomes.values())
        found["notrun"] = len(self.left())
        return {outcome: found[outcome] for outcome in OUTCOMES}

    def by_module(self) -> dict[str, dict[str, int]]:
        """Counts by the part of the library: the folder below the package."""
        modules: dict[str, dict[str, int]] = {}
        for test, outcome in [*self.outcomes.items(), *((test, "notrun") for test in self.left())]:
            module = test.partition("::")[0].split("/")[1]
            modules.setdefault(module, dict.fromkeys(OUTCOMES, 0))[outcome] += 1
        return dict(sorted(modules.items()))

    def with_reasons(self, outcome: str) -> list[dict[str, str]]:
        tests = sorted(test for test, what in self.outcomes.items() if what == outcome)
        return [{"test": test, "reason": self.reasons.get(test, "")} for test in tests]

    def reasons_counted(self, outcome: str) -> dict[str, int]:
        """The number of tests for each reason, most frequent first."""
        given = (self.reasons.get(test, "") for test, what in self.outcomes.items() if what == outcome)
        return dict(sorted(Counter(given).items(), key=lambda entry: (-entry[1], entry[0])))


def watch(
    command: list[str],
    files: list[str],
    record: Path,
    environment: dict[str, str],
    limits: Limits,
    show: bool = False,
) -> Found:
    """Run pytest over `files` until every selected test has an outcome or the time is up.

    The plugin writes events to `record`; a test that was begun in one process is not begun in the next.
    """
    found = Found()
    record.touch()
    stop_at = time.monotonic() + limits.budget
    with record.open("rb") as events, tempfile.TemporaryFile("w+") as output:
        for _ in range(_MOST_DEATHS):
            code, killed = _run_once(
                command + files, events, environment, limits, stop_at, found, output, show
            )
            if found.running() is None:
                found.trouble = _trouble(code, killed, found, output)
                return found
            # The process ended inside a test: this one has failed, and the others continue.
            test = _spend(found, record, events, code, killed)
            if time.monotonic() >= stop_at:
                found.trouble = f"the time was up, {limits.budget:.0f} s, in {test}"
                return found
            if not found.left():
                return found
            files = _files_left(files, found.left())
    found.trouble = f"gave up after the process had ended inside a test {_MOST_DEATHS} times"
    return found


def _run_once(
    command: list[str],
    events: IO[bytes],
    environment: dict[str, str],
    limits: Limits,
    stop_at: float,
    found: Found,
    output: IO[str],
    show: bool,
) -> tuple[int, str]:
    """Run one process; return its exit code, and the reason if it was killed."""
    killed = ""
    with (
        tempfile.TemporaryDirectory() as elsewhere
    ):  # a folder where nothing shadows a module, and tests may leave files
        child = subprocess.Popen(
            command,
            cwd=elsewhere,
            env=environment,
            stdout=None if show else output,
            stderr=None if show else subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            next_report = time.monotonic() + _PROGRESS_SECONDS
            while child.poll() is None:
                time.sleep(_POLL_SECONDS)
                _read(events, found)
                running = found.running()
                if running is not None and running[1] > limits.test:
                    killed = f"longer than {limits.test:.0f} s"
                elif time.monotonic() > stop_at:
                    killed = f"the time was up, {limits.budget:.0f} s"
                if killed:
                    break
                if time.monotonic() > next_report:
                    next_report += _PROGRESS_SECONDS
                    done = len(found.selected) - len(found.left())
                    print(f"  {done} of {len(found.selected)} tests", flush=True)
        finally:
            # Kill its whole group: tests start processes, too.
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
    _read(events, found)
    return code, killed


def _read(events: IO[bytes], found: Found) -> None:
    while True:
        position = events.tell()
        line = events.readline()
        if not line.endswith(b"\n"):  # the rest of the line is not yet written, or never will be
            events.seek(position)
            return
        found.take(json.loads(line))


def _spend(found: Found, record: Path, events: IO[bytes], code: int, killed: str) -> str:
    """Record the outcome of the test in which a process ended; return its id."""
    running = found.running()
    assert running is not None
    test, _ = running
    hung = killed.startswith("longer")
    if hung or not killed:
        outcome = "hung" if hung else "crashed"
        reason = killed or (f"signal {-code}" if code < 0 else f"exit code {code}")
        found.take({"event": outcome, "test": test, "reason": reason})
    found.take({"event": "end", "test": test})
    # The last line may be incomplete; the next process must not continue it.
    _drop_unfinished_line(record, events)
    return test


def _drop_unfinished_line(record: Path, events: IO[bytes]) -> None:
    content = record.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(record, whole)
        events.seek(whole)


def _files_left(files: list[str], left: list[str]) -> list[str]:
    """Return the files and test ids with tests left to run: collecting the others again takes time."""
    wanted = {test.partition("::")[0] for test in left}
    return [file for file in files if any(file.partition("::")[0].endswith("/" + name) for name in wanted)]


def _trouble(code: int, killed: str, found: Found, output: IO[str]) -> str:
    """Return the error of a run that did not end inside a test, apart from failed tests, or ""."""
    if killed:
        return killed
    if code < 0:
        what = f"the process was ended by signal {-code} outside any test"
    elif code not in (0, 1):
        meaning = {2: "interrupted", 3: "internal error", 4: "usage", 5: "no tests found"}
        what = f"pytest ended with code {code} ({meaning.get(code, 'unknown')})"
    elif found.left():
        what = f"pytest ended with code {code} before it had run everything"
    else:
        return ""
    output.seek(0)
    tail = output.read()[-2000:]
    return f"{what}, which is a failed run" + (f":\n{tail}" if tail else "")
