"""docs/evidence/portability.md, made of the cases in `cases` and their recorded outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conformance import records
from conformance.portability.run import CONFIGURATIONS, FLOAT32, Case
from conformance.records import table
from conformance.strictness.page import CONFIGURATIONS as FLAGS
from conformance.strictness.run import LIBRARIES, STRICT, STRIDE0

PAGE = records.EVIDENCE / "portability.md"
NAMES = [library.name for library in LIBRARIES]
BOTH = OURS, THEIRS = STRIDE0.name, STRICT.name
NOT_RUN = "not run: it has no such flag"
TEXTS = FLAGS | {FLOAT32: ('`default_float="float32"`', NOT_RUN)}
TEXTS |= {name: (FLAGS[name][0], NOT_RUN) for name in ("lazy", "readonly", "copies", "shuffled")}

HEAD = """\
# Portability bugs of other projects

This page takes real fixes from the history of SciPy, scikit-learn, array-api-extra, xarray and cubed. Each
fix made code work on more than one array library. The page counts how many of the bugs stride0 and other
libraries catch. `python -m conformance portability --record` writes the page from the cases in
`conformance/portability/cases`. A test compares both. [Testing array-agnostic code](../guides/testing.md)
explains the configurations.
"""

SELECTION = """\
A case cites its pull request or commit and reduces the fix to a few lines, written for this page: the code
before the fix, the code after it, and the check of a test. Each case was written before it ran on stride0 or
array-api-strict, and no case was left out because of its outcome there. Fixes were read in the order in which
they were found:

* SciPy: 182 commits, from August 2026 back to August 2023, whose messages name the array API, a library,
  devices or dtypes, and a fix, support or an adaptation.
* array-api-extra, xarray and cubed: commits whose subjects name a fix, the array API, dtypes, devices or duck
  arrays.
* scikit-learn: merged pull requests found by 27 searches for fixes of its array API support, if their
  discussion or published versions of the file show the changed lines.

Left out: changes of numerics, tests and documentation, changes for one library by name, bugs that NumPy shows
as well, repetitions, and fixes that make no sense without their project. This is one reader's judgement. A
commit gives at most three cases.

A case runs in each configuration of a library. The library catches the bug if, in one configuration, the
code before the fix raises an error or fails the check, and the fixed code passes. NumPy passes all code,
before and after the fix. PyTorch and JAX have one configuration each, on the CPU.
"""


def page(cases: Sequence[Case], record: dict[str, Any]) -> str:
    """Return the text of the page."""
    caught: dict[str, dict[str, list[str]]] = record["caught"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    kinds = sorted({case.kind for case in cases})
    missed = {name: [case for case in cases if not caught[name][case.key]] for name in BOTH}
    refused = record["alarms"][THEIRS]
    parts = [
        HEAD,
        f"Versions: {versions}; PyTorch through array-api-compat, JAX with 64-bit dtypes.\n",
        "## In short\n",
        table(
            ("kind of bug", "cases", *NAMES),
            [
                (kind, *counts([case for case in cases if case.kind == kind], caught))
                for kind in sorted(kinds, key=lambda kind: -sum(case.kind == kind for case in cases))
            ]
            + [("together", *counts(cases, caught))],
        ),
        f"The fixed code of all {len(cases)} cases passes in each configuration of stride0 that has the\n"
        "features it needs. There are no false alarms. array-api-strict refuses the fixed code of\n"
        f"{len(refused)} cases: on its device `no_x64`, functions that return indices ask for `int64`.\n",
        "## How cases were selected\n",
        SELECTION,
        "## Configurations\n",
        "The columns with numbers count the bugs that one configuration catches.\n",
        table(
            ("configuration", "flags of stride0", "array-api-strict", OURS, THEIRS),
            [
                (
                    f"`{config}`",
                    *TEXTS[config],
                    *(str(caught_by(caught[name], config)) for name in (OURS, THEIRS)),
                )
                for config in (*CONFIGURATIONS[OURS], *sorted({case.version for case in cases} - {""}))
            ],
        ),
        f"## Not caught by {OURS}\n",
        "".join(f"* {linked(case)}, {case.title}. {case.reason}\n" for case in missed[OURS]),
        f"## Not caught by {THEIRS}\n",
        "It has no flags for arrays that are read-only, lazy or copied by every operation.\n",
        "".join(f"* {linked(case)}, {case.title}\n" for case in missed[THEIRS]),
        "## All cases\n",
        "The last two columns name the configurations that catch the bug.\n",
        table(
            ("fix", "kind", "bug", OURS, THEIRS),
            [
                (
                    linked(case),
                    case.kind,
                    case.title,
                    *(shown(caught[name][case.key]) for name in (OURS, THEIRS)),
                )
                for case in cases
            ],
        ),
    ]
    return "\n".join(parts)


def counts(cases: Sequence[Case], caught: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return how many cases there are, and how many of them each library catches."""
    return [str(len(cases)), *(str(sum(bool(caught[name][case.key]) for case in cases)) for name in NAMES)]


def caught_by(outcomes: dict[str, list[str]], config: str) -> str:
    return str(sum(config in configs for configs in outcomes.values()))


def linked(case: Case) -> str:
    name = case.source.partition("/")[2]
    return f"[{name}]({case.address})"


def shown(configs: Iterable[str]) -> str:
    return ", ".join(configs) or "no"
