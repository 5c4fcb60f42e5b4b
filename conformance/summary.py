"""What a run found: outcomes counted, the table per chapter, and the recorded results of earlier runs."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import suite
from recorder import chapter_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
OUTCOMES = ("passed", "failed", "skipped", "xfailed")

_REASON_LENGTH = 200
_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?[/\\](?:[\w.+~-]+[/\\])+([\w.+-]+)")


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
    """Gather what the recorder wrote. A failure in any phase of a test outweighs what other phases say."""
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
            found.reasons[test] = one_line(entry["reason"])
    found.unfinished = running[-1] if running else None
    return found


def table(found: Outcomes) -> str:
    rows = [(chapter, *row.values()) for chapter, row in found.chapters().items()]
    rows.append(("total", *found.counts().values()))
    width = max(len(str(row[0])) for row in rows)
    lines = [f"{'chapter':<{width}}" + "".join(f"{outcome:>9}" for outcome in OUTCOMES)]
    lines += [f"{row[0]:<{width}}" + "".join(f"{count:>9}" for count in row[1:]) for row in rows]
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])


def source_hash() -> str:
    """A hash over what decides how the library behaves: src/stride0, and the build file with its flags."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "stride0"
    for path in sorted([*package.rglob("*"), ROOT / "meson.build"], key=lambda path: path.as_posix()):
        built = path.suffix in (".so", ".pyc", ".pyd", ".o") or "__pycache__" in path.parts
        if not path.is_file() or built:
            continue
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def installed_from_here(package: Path) -> bool:
    """Whether the installed package has this tree's Python files: no result is filed under other sources."""
    sources = ROOT / "src" / "stride0"
    # Scripts of the build are not installed.
    return all(
        (package / path.relative_to(sources)).is_file()
        and (package / path.relative_to(sources)).read_bytes() == path.read_bytes()
        for path in sources.rglob("*.py")
        if "generators" not in path.relative_to(sources).parts
    )


def file_name(
    module: str, isa: str | None, examples: int, seed: int, selection: dict[str, Any], version: str
) -> str:
    kind = "-partial" if selection["only"] or selection["k"] else ""
    kind = f"-{selection['chapters']}{kind}" if selection["chapters"] != "all" else kind
    kind += "" if version == suite.VERSION else f"-{version}"
    return f"{module}-{isa or 'default'}-{examples}-{seed}{kind}.json"


def environment() -> dict[str, str]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
    }


def recorded(
    module: str, isa: str | None, examples: int, seed: int, chapters: str, judge: dict[str, str]
) -> list[str]:
    """Names of the recorded results that can stand for a run: same sources, no failure, at least as much."""
    current = source_hash()
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            selection = result["selection"]
            same = (
                result["module"] == module
                and result["suite"] == judge
                and result["source_hash"] == current
                and (isa is None or result["instruction_set"] == isa)
                and result["examples"] >= examples
                and result["seed"] == seed
                and selection["chapters"] in ("all", chapters)
                and not (selection["only"] or selection["k"])
                and result["complete"]
                and result["total"]["failed"] == 0
                and result["total"]["passed"] > 0
            )
        except (ValueError, KeyError, TypeError):
            continue  # not a result of this runner
        if same:
            found.append(path.name)
    return found


def one_line(reason: str) -> str:
    """A reason fit to be recorded: one line, short, and without paths of the machine it ran on."""
    line = _ABSOLUTE_PATH.sub(r"\1", " ".join(reason.split()))
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"
