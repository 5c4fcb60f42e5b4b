"""How long other projects' tests take on array-api-strict, and on stride0 in its place.

    python -m conformance foreign-speed                  all of TIMED, three rounds
    python -m conformance foreign-speed --only glass     one of them

The libraries run in turn. The shortest processor time of all rounds goes to
conformance/results/foreign-speed.json, and from there to docs/evidence/foreign-suites.md.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import records
from conformance.foreign.run import PAGE, environment, fetch, site_packages
from conformance.foreign.suites import SUITES, Suite

RECORD: Final = records.RESULTS / "foreign-speed.json"
BEGIN, END = "<!-- table of conformance foreign-speed -->", "<!-- end of foreign-speed -->"
STRICT: Final = "array-api-strict==2.6.1"
NAMED: Final = ("-k", "array_api_strict")


class Timed(NamedTuple):
    """A suite, and the environment variables of its runs."""

    suite: Suite
    variables: dict[str, str]


TIMED: Final = {
    "array-api-extra": Timed(SUITES["array-api-extra"], {"STRIDE0_STRICT_MODULES": "array_api_extra"}),
    "glass": Timed(SUITES["glass"], {"STRIDE0_STRICT_MODULES": "glass", "ARRAY_BACKEND": "array_api_strict"}),
    "scikit-learn": Timed(
        Suite(
            "1.9.1",
            ("--pyargs", "sklearn.utils.tests.test_array_api"),
            ("scikit-learn==1.9.1", "scipy==1.17.1", "array-api-compat"),
            options=NAMED,
            installed=True,
        ),
        {"SCIPY_ARRAY_API": "1", "STRIDE0_STRICT_EXEMPT": "scipy,sklearn"},
    ),
    "scipy": Timed(
        Suite(
            "1.17.1",
            (
                "--pyargs",
                "scipy.stats.tests.test_entropy",
                "scipy.special.tests.test_logsumexp",
                "scipy.cluster.tests.test_vq",
            ),
            ("scipy==1.17.1", "hypothesis", "array-api-compat"),
            options=NAMED,
            installed=True,
        ),
        {"SCIPY_ARRAY_API": '["array_api_strict"]', "STRIDE0_STRICT_EXEMPT": "scipy"},
    ),
}


def seconds_of(python: Path, tests: Path, timed: Timed, ours: bool) -> tuple[float, dict[str, int]]:
    """Run a suite once; return its processor time and how many tests have each outcome."""
    plugin = ("-p", "stride0.strict") if ours else ()
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "-W", "default")
    words = (*command, *plugin, "--tb=no", "--no-summary", *timed.suite.options, *timed.suite.tests)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(word) for word in words],
        cwd=tests,
        # Both libraries are imported from compiled files, which the first round writes.
        env={
            **{name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            **timed.variables,
            "PYTHONPYCACHEPREFIX": str(python.parents[1] / "pycache"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    last = done.stdout.strip().rpartition("\n")[2]
    counts = {outcome: int(count) for count, outcome in re.findall(r"(\d+) (passed|failed)", last)}
    if "passed" not in counts:
        sys.exit(f"no test passed\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, counts


def measured(name: str, rounds: int) -> dict[str, Any]:
    """Return the shortest times and the outcomes of a suite on both libraries."""
    timed, counts = TIMED[name], {}
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        python = environment(timed.suite, Path(folder), STRICT)
        tests = site_packages(python) if timed.suite.installed else fetch(name, Path(folder))
        for _ in range(rounds):
            for library in ("stride0", "array-api-strict"):
                seconds, counts[library] = seconds_of(python, tests, timed, library == "stride0")
                best[library] = min(seconds, best.get(library, seconds))
    return {
        "version": timed.suite.version,
        **{library: {"seconds": round(best[library], 2), **counts[library]} for library in best},
    }


def page(results: dict[str, Any]) -> str:
    """Return the table of the page."""
    head = ("suite", "library", "passed", "failed", "seconds", "ratio")
    rows = []
    for name, result in sorted(results.items()):
        for library in ("stride0", "array-api-strict"):
            found = result[library]
            ratio = found["seconds"] / result["array-api-strict"]["seconds"]
            suite = f"{name} {result['version']}"
            counts = found["passed"], found.get("failed", 0)
            rows.append((suite, library, *counts, f"{found['seconds']:.1f}", f"{ratio:.2f}"))
    return records.table(head, rows).strip()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=[*TIMED], help="repeatable")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    results = records.read(RECORD) if RECORD.exists() else {}
    for name in options.only or TIMED:
        results[name] = measured(name, options.rounds)
        print(f"{name}: {results[name]}", flush=True)
        records.write(RECORD, results)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(results)}\n\n{END}{after}", encoding="utf-8")
    return 0
