"""Records runs, and writes docs/evidence/conformance.md: stride0, its peers, and downstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance import records
from conformance.official import suite
from conformance.official.outcomes import OUTCOMES, RECORD

PAGE = records.EVIDENCE / "conformance.md"

HEAD = f"""# Conformance

Written by `python -m conformance official` and `python -m conformance downstream` from
`conformance/results/conformance.json`. Do not edit it by hand.

The judge is [data-apis/array-api-tests]({suite.URL}) at commit
`{suite.COMMIT}`, version {suite.VERSION} of the standard,
all chapters and both extensions. There is no list of skipped tests or expected failures. The same
runner measures every library.
"""

DOWNSTREAM = """\
SciPy and scikit-learn ship their tests. `python -m conformance downstream` runs the tests that take an
array namespace on stride0. "expected" counts failures that `conformance/downstream/xfails.txt` lists.
SciPy and scikit-learn themselves mark tests as skipped, xfailed or xpassed. A crash or a test without an
end would have a column of its own.
"""

Result = dict[str, Any]


def keep(path: Path, content: Result) -> str:
    """Write the full summary of a run; return where it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return f"summary in {path}"


def record(kind: str, name: str, run: Result) -> str:
    """Record a whole run, "official" or "downstream", and write the page; return where it is."""
    found = records.read(RECORD)
    found[kind] = dict(sorted({**found[kind], name: run}.items()))
    records.write(RECORD, found)
    PAGE.write_text(text_of(found), encoding="utf-8")
    return f"recorded in {RECORD}"


def whole_runs(found: Result, version: str = suite.VERSION) -> list[Result]:
    """The recorded runs at the pinned commit, for a version."""
    return sorted(
        (run for run in found["official"].values() if run["suite"] == suite.judge(version)),
        key=lambda run: (run["module"] != "stride0", run["module"], -run["examples"]),
    )


def runs_of_stride0(results: list[Result]) -> str:
    rows = [
        [
            f"{result['instruction_set']}",
            result["examples"],
            result["seed"],
            *(result["total"][outcome] for outcome in OUTCOMES),
        ]
        for result in results
        if result["module"] == "stride0"
    ]
    return records.table(["instruction set", "examples", "seed", *OUTCOMES], rows)


def beside_peers(results: list[Result]) -> str:
    """Failures per chapter, in each library's run with the most examples."""
    chosen: dict[str, Result] = {}
    for result in results:
        chosen.setdefault(result["module"], result)
    chapters = sorted({chapter for result in chosen.values() for chapter in result["failed"]})
    rows: list[list[Any]] = [
        [chapter, *(result["failed"].get(chapter, "not there") for result in chosen.values())]
        for chapter in chapters
    ]
    rows.append(["**failed**", *(result["total"]["failed"] for result in chosen.values())])
    rows.append(["passed", *(result["total"]["passed"] for result in chosen.values())])
    rows.append(["skipped", *(result["total"]["skipped"] for result in chosen.values())])
    rows.append(["version", *(result["module_version"] for result in chosen.values())])
    rows.append(["examples", *(result["examples"] for result in chosen.values())])
    return records.table(["failed tests", *chosen], rows)


def skipped_tests(results: list[Result]) -> str:
    """The tests that did not run, with reasons; a single list if all runs of stride0 agree."""
    entries = {
        entry for result in results if result["module"] == "stride0" for entry in result["skipped"].items()
    }
    return "".join(f"* `{test}`: {reason}\n" for test, reason in sorted(entries)) or "None.\n"


def downstream_runs(found: Result) -> list[Result]:
    """The recorded runs over all tests that a library ships for namespaces."""
    return sorted(
        found["downstream"].values(),
        key=lambda run: (run["library"], run["module"] != "stride0", run["module"]),
    )


def downstream(results: list[Result]) -> str:
    """For each library, a row for each namespace, then stride0's rows for the parts of the library."""
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
    parts = ["## Downstream\n", DOWNSTREAM, records.table(["tests of", "on", *outcomes], rows)]
    for result in results:
        if result["module"] == "stride0":
            rows = [
                [module, *(counts[outcome] for outcome in outcomes)]
                for module, counts in result["modules"].items()
            ]
            parts += [f"{rows_title(result)}\n", records.table([result["library"], *outcomes], rows)]
    listed = {
        entry for result in results if result["module"] == "stride0" for entry in result["not passed"].items()
    }
    if listed:
        parts.append("Not passed on stride0:\n")
        parts.append("".join(f"* `{test}`: {reason}\n" for test, reason in sorted(listed)))
    return "\n".join(parts)


def rows_title(result: Result) -> str:
    isa = result["instruction_set"]
    return f"### {result['library']} on stride0, {isa}" if isa else f"### {result['library']} on stride0"


def text_of(found: Result) -> str:
    """Return the text of the page."""
    results, draft = whole_runs(found), whole_runs(found, suite.DRAFT)
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
        downstream(downstream_runs(found)),
    ]
    return "\n".join(part for part in parts if part)
