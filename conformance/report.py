"""Writes the page docs/conformance.md from the recorded results: stride0's runs, and the peers beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import suite
import summary

PAGE = summary.ROOT / "docs" / "conformance.md"

HEAD = f"""# Conformance

Written by `python conformance/run.py` from the files in `conformance/results/`; edit neither by hand.

The judge is [data-apis/array-api-tests]({suite.URL}) at commit
`{suite.COMMIT}`, version {suite.VERSION} of the standard,
all chapters and both extensions, without a list of tests to skip or to excuse. The same runner
measures every library.
"""

Result = dict[str, Any]


def whole_runs(folder: Path) -> list[Result]:
    """The recorded results of complete runs over all chapters at the pinned commit."""
    found = []
    for path in sorted(folder.glob("*.json")):
        result: Result = json.loads(path.read_text(encoding="utf-8"))
        selection = result["selection"]
        partial = selection["only"] or selection["k"] or selection["chapters"] != "all"
        if result["complete"] and not partial and result["suite"]["commit"] == suite.COMMIT:
            found.append(result)
    return sorted(
        found, key=lambda result: (result["module"] != "stride0", result["module"], -result["examples"])
    )


def table(header: list[str], rows: list[list[Any]]) -> str:
    """A table in Markdown, numbers to the right."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def runs_of_stride0(results: list[Result]) -> str:
    rows = [
        [
            f"{result['instruction_set']}",
            result["examples"],
            result["seed"],
            *(result["total"][outcome] for outcome in summary.OUTCOMES),
        ]
        for result in results
        if result["module"] == "stride0"
    ]
    return table(["instruction set", "examples", "seed", *summary.OUTCOMES], rows)


def beside_peers(results: list[Result]) -> str:
    """Failures per chapter; of each library the run with the most examples."""
    chosen: dict[str, Result] = {}
    for result in results:
        chosen.setdefault(result["module"], result)
    chapters = sorted({chapter for result in chosen.values() for chapter in result["chapters"]})
    rows: list[list[Any]] = [
        [chapter, *(_failures(result["chapters"].get(chapter)) for result in chosen.values())]
        for chapter in chapters
    ]
    rows.append(["**failed**", *(result["total"]["failed"] for result in chosen.values())])
    rows.append(["passed", *(result["total"]["passed"] for result in chosen.values())])
    rows.append(["skipped", *(result["total"]["skipped"] for result in chosen.values())])
    rows.append(["version", *(result["module_version"] for result in chosen.values())])
    rows.append(["examples", *(result["examples"] for result in chosen.values())])
    return table(["failed tests", *chosen], rows)


def _failures(counts: dict[str, int] | None) -> str:
    return "not there" if counts is None else str(counts["failed"])


def skipped_tests(results: list[Result]) -> str:
    """What did not run, and why; the same in every run of stride0, or each run would be listed."""
    entries = {
        (entry["test"], entry["reason"])
        for result in results
        if result["module"] == "stride0"
        for entry in result["skipped"]
    }
    return "".join(f"* `{test}`: {reason}\n" for test, reason in sorted(entries)) or "None.\n"


def write(folder: Path = summary.RESULTS, page: Path = PAGE) -> None:
    """Write the page from all results in a folder."""
    results = whole_runs(folder)
    parts = [
        HEAD,
        "## stride0, run by run\n",
        runs_of_stride0(results),
        "Skipped, in the suite itself:\n",
        skipped_tests(results),
        "## Beside the peers\n",
        "Of each library the recorded run with the most examples.\n",
        beside_peers(results),
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
