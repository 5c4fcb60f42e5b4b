"""Writes docs/evidence/conformance.md from the recorded results: stride0, its peers, and downstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import suite
import summary

# The results of downstream.py, which lie beside those of run.py.
DOWNSTREAM_FILES = "downstream-*.json"
PAGE = summary.ROOT / "docs" / "evidence" / "conformance.md"

HEAD = f"""# Conformance

Written by `python conformance/run.py` and `python conformance/downstream.py` from the files in
`conformance/results/`. Do not edit it by hand.

The judge is [data-apis/array-api-tests]({suite.URL}) at commit
`{suite.COMMIT}`, version {suite.VERSION} of the standard,
all chapters and both extensions. There is no list of skipped tests or expected failures. The same
runner measures every library.
"""

DOWNSTREAM = """\
SciPy and scikit-learn ship their tests. The tests that take an array namespace run on stride0 (`python
conformance/downstream.py`). "expected" counts failures that `conformance/downstream-xfails.txt` lists.
SciPy and scikit-learn themselves mark tests as skipped, xfailed or xpassed. A crash or a test without an
end would have a column of its own.
"""

Result = dict[str, Any]


def whole_runs(folder: Path, version: str = suite.VERSION) -> list[Result]:
    """The recorded results of complete runs over all chapters at the pinned commit, for a version."""
    found = []
    for path in sorted(set(folder.glob("*.json")) - set(folder.glob(DOWNSTREAM_FILES))):
        result: Result = json.loads(path.read_text(encoding="utf-8"))
        if "suite" not in result:  # the record of scipy_gradients.py
            continue
        selection = result["selection"]
        partial = selection["only"] or selection["k"] or selection["chapters"] != "all"
        if result["complete"] and not partial and result["suite"] == suite.judge(version):
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


def downstream_runs(folder: Path) -> list[Result]:
    """The recorded results of complete runs over all tests that a library ships for namespaces."""
    found: list[Result] = [
        json.loads(path.read_text(encoding="utf-8")) for path in folder.glob(DOWNSTREAM_FILES)
    ]
    whole = [result for result in found if result["complete"] and not any(result["selection"].values())]
    return sorted(
        whole, key=lambda result: (result["library"], result["module"] != "stride0", result["module"])
    )


def downstream(results: list[Result]) -> str:
    """Of each library a row for each namespace, then stride0's rows for the parts of the library."""
    if not results:
        return ""
    outcomes = [outcome for outcome in results[0]["total"] if any(each["total"][outcome] for each in results)]
    rows = [
        [
            f"{result['library']} {result['library_version']}",
            f"{result['module']} {result['module_version']}"
            + (f", {result['instruction_set']}" if result["instruction_set"] else ""),
            *(result["total"][outcome] for outcome in outcomes),
        ]
        for result in results
    ]
    parts = ["## Downstream\n", DOWNSTREAM, table(["tests of", "on", *outcomes], rows)]
    for result in results:
        if result["module"] == "stride0":
            rows = [
                [module, *(counts[outcome] for outcome in outcomes)]
                for module, counts in result["modules"].items()
            ]
            parts += [f"{rows_title(result)}\n", table([result["library"], *outcomes], rows)]
    listed = {
        (entry["test"], entry["reason"])
        for result in results
        for outcome in ("failed", "crashed", "hung", "expected")
        if result["module"] == "stride0"
        for entry in result[outcome]
    }
    if listed:
        parts.append("Not passed on stride0:\n")
        parts.append("".join(f"* `{test}`: {reason}\n" for test, reason in sorted(listed)))
    return "\n".join(parts)


def rows_title(result: Result) -> str:
    isa = result["instruction_set"]
    return f"### {result['library']} on stride0, {isa}" if isa else f"### {result['library']} on stride0"


def write(folder: Path = summary.RESULTS, page: Path = PAGE) -> None:
    """Write the page from all results in a folder."""
    results = whole_runs(folder)
    draft = whole_runs(folder, suite.DRAFT)
    parts = [
        HEAD,
        "## stride0, run by run\n",
        runs_of_stride0(results),
        "With the draft of the next version instead (`--api-version draft`):\n" if draft else "",
        runs_of_stride0(draft) if draft else "",
        "Skipped, in the suite itself:\n",
        skipped_tests(results),
        "## Beside the peers\n",
        "Of each library the recorded run with the most examples.\n",
        beside_peers(results),
        downstream(downstream_runs(folder)),
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")
