"""The outcomes of a run of the official suite, and the recorded runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import records
from conformance.official import suite
from conformance.official.recorder import chapter_of

RECORD = records.RESULTS / "conformance.json"
OUTCOMES = ("passed", "failed", "skipped", "xfailed")


@dataclass
class Outcomes:
    """The outcome of every test that ran, and the test in which the process died, if it did."""

    by_test: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    unfinished: str | None = None

    def of(self, outcome: str) -> list[str]:
        return sorted(test for test, what in self.by_test.items() if what == outcome)

    def counts(self) -> dict[str, int]:
        return {outcome: len(self.of(outcome)) for outcome in OUTCOMES}

    def chapters(self) -> dict[str, dict[str, int]]:
        table: dict[str, dict[str, int]] = {}
        for test, outcome in self.by_test.items():
            row = table.setdefault(chapter_of(test), dict.fromkeys(OUTCOMES, 0))
            row[outcome] += 1
        return dict(sorted(table.items()))

    def with_reasons(self, outcome: str) -> list[dict[str, str]]:
        return [{"test": test, "reason": self.reasons.get(test, "")} for test in self.of(outcome)]


def read_record(path: Path) -> Outcomes:
    """Collect the recorder's lines. A failure in any phase of a test outweighs its other phases."""
    found = Outcomes()
    running: list[str] = []
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the last line of a process that died while writing it
            break
        test, event = entry["test"], entry["event"]
        if event == "start":
            running.append(test)
            continue
        if test in running:
            running.remove(test)
        if found.by_test.get(test) != "failed":
            found.by_test[test] = event
            found.reasons[test] = records.one_line(entry["reason"])
    found.unfinished = running[-1] if running else None
    return found


def file_name(
    module: str, isa: str | None, examples: int, seed: int, selection: dict[str, Any], version: str
) -> str:
    kind = "-partial" if selection["only"] or selection["k"] else ""
    kind = f"-{selection['chapters']}{kind}" if selection["chapters"] != "all" else kind
    kind += "" if version == suite.VERSION else f"-{version}"
    return f"{module}-{isa or 'default'}-{examples}-{seed}{kind}"


def recorded(module: str, isa: str | None, examples: int, seed: int, judge: str) -> list[str]:
    """Names of the recorded runs that can replace a run: same sources, no failure, at least as many tests."""
    current = records.source_hash()
    return [
        name
        for name, run in records.read(RECORD)["official"].items()
        if run["module"] == module
        and run["suite"] == judge
        and run["source_hash"] == current
        and isa in (None, run["instruction_set"])
        and run["examples"] >= examples
        and run["seed"] == seed
        and run["total"]["failed"] == 0 < run["total"]["passed"]
    ]
