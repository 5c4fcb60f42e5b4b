"""How long SciPy's own tests take on array-api-strict, on stride0, and on stride0 in strict mode.

    python -m conformance strictness-speed                      all of SciPy's tests that take a namespace
    python -m conformance strictness-speed --only stats/tests   some of them
    python -m conformance strictness-speed --run strict         one run: array_api_strict, stride0 or strict

Each run is one of `python -m conformance downstream`, in one process and on one thread, one after the other.
Seconds and outcomes go to conformance/results/strictness.json, and from there to docs/evidence/strictness.md.
In strict mode tests end early where SciPy's code breaks a rule: the table shows how many.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from conformance import records
from conformance.strictness import page
from conformance.strictness.run import RECORD, read_lines

# The namespace of each run, and its environment.
RUNS: dict[str, tuple[str, dict[str, str]]] = {
    "array_api_strict": ("array_api_strict", {}),
    "stride0": ("stride0", {"STRIDE0_STRICT": "0"}),
    "strict": ("stride0", {"STRIDE0_STRICT": "1"}),
}


def timed(name: str, only: list[str]) -> dict[str, Any]:
    """Run SciPy's tests once, and return the seconds and the outcomes."""
    module, environment = RUNS[name]
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "conformance", "downstream", "scipy", "--module", module]
        command += ["--results", results, *(word for test in only for word in ("--only", test))]
        began = time.perf_counter()
        done = subprocess.run(
            command, env={**os.environ, **environment}, cwd=records.ROOT, capture_output=True, text=True
        )
        seconds = time.perf_counter() - began
        found = list(Path(results).glob("*.json"))
        if len(found) != 1:
            raise SystemExit(f"{name}: no summary\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        summary = records.read(found[0])
    total = summary["total"]
    return {
        "seconds": round(seconds, 1),
        "passed": total["passed"],
        "failed": total["failed"],
        "version": f"{summary['library_version']}, {summary['python']}, {summary['platform']}",
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="TESTS", help="of SciPy, repeatable")
    parser.add_argument("--run", action="append", choices=list(RUNS), help="repeatable (default: all)")
    options = parser.parse_args(arguments)
    record = records.read(RECORD)
    kept = record["speed"]
    runs = kept["runs"] if kept["only"] == options.only else {}
    for name in options.run or RUNS:
        runs[name] = timed(name, options.only)
        print(f"{name}: {runs[name]}", flush=True)
        record["speed"] = {"only": options.only, "runs": {key: runs[key] for key in RUNS if key in runs}}
        records.write(RECORD, record)
    if set(runs) == set(RUNS):
        page.write(read_lines())
    return 0
