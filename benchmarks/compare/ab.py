"""Compare two builds of stride0: every group of the rows of `compare`, in one run.

    python -m benchmarks ab BEFORE/bin/python AFTER/bin/python
    python -m benchmarks ab BEFORE/bin/python AFTER/bin/python --groups small mid --threads 1 --isa v3

Each build has its own environment and is measured in its own process, which sleeps while the other one runs.
Samples alternate in rounds; a ratio is the first build's time divided by the second's in a round: above 1 the
second is faster. A row has the median over the rounds, a group the geometric mean of its rows. Rows are
measured again in new processes (--processes), since the addresses of operands change single rows by a tenth.
The exit code is 1 where a group is below --least.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.common.machine import ROOT, cores, environment, worker
from benchmarks.common.timing import calibrated, geometric_mean
from benchmarks.compare.cases import FULL, GOALS, OURS, QUICK, Row, rows
from benchmarks.compare.worker import OTHER_PAUSE_SECONDS, PAUSE_SECONDS, compiled, load, namespace_of

LEAST = 0.98
WORST = 0.95  # rows below it are listed


class Build:
    """The process that measures one build: it gets a row, and then numbers of runs."""

    def __init__(self, python: str, options: argparse.Namespace, threads: int) -> None:
        isa = {"STRIDE0_ISA": options.isa} if options.isa else {}
        request = json.dumps({"quick": options.quick, "threads": threads})
        self.process = subprocess.Popen(
            worker("ab", "--worker", request, python=os.path.abspath(python) if os.sep in python else python),
            cwd=ROOT,
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True},
            env={**environment(threads), **isa},
        )
        self.described = self.read()

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process that measures ended with exit code {self.process.wait()}")
        return json.loads(line)

    def ask(self, message: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def serve(request: dict[str, Any]) -> None:
    """Answer `Build`: a row's key with a number of runs, a number of runs with seconds."""
    library = load(OURS)
    library.set_num_threads(request["threads"])
    by_key = {row.key: row for row in rows(QUICK if request["quick"] else FULL)}
    clock = time.process_time if request["threads"] == 1 else time.perf_counter
    print(json.dumps(f"{OURS} {library._instruction_set} at {library.__file__}"), flush=True)
    timer = None
    for line in sys.stdin:
        message = json.loads(line)
        if isinstance(message, str):
            row = by_key[message]
            try:
                timer, once = compiled(row, OURS, namespace_of(row, OURS, library), clock)
                once()
                answer: float = calibrated(timer)
            except Exception as error:  # a build may lack a row
                print(f"({message}: {type(error).__name__}: {error})", file=sys.stderr, flush=True)
                answer = 0
        else:
            assert timer is not None
            timer(max(1, message // 8))  # caches and sleeping threads
            answer = timer(message)
        print(json.dumps(answer), flush=True)


def ratios(row: Row, builds: list[Build], rounds: int, threads: int) -> list[float]:
    """The first build's time divided by the second's, in every round; empty if one lacks the row."""
    numbers = [build.ask(row.key) for build in builds]
    if 0 in numbers:
        return []
    pause = PAUSE_SECONDS.get(row.group, OTHER_PAUSE_SECONDS) if threads > 1 else 0
    found = []
    for count in range(rounds):
        seconds = {}
        for k in (0, 1) if count % 2 == 0 else (1, 0):
            time.sleep(pause)
            seconds[k] = builds[k].ask(max(numbers))
        found.append(seconds[0] / seconds[1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="interpreters of the two environments")
    parser.add_argument("--groups", nargs="+", choices=[*GOALS], metavar="GROUP", default=[*GOALS])
    parser.add_argument("-k", default="", metavar="TEXT", help="only rows with this in their name")
    parser.add_argument("--threads", type=int, default=cores(), metavar="N")
    parser.add_argument("--rounds", type=int, default=11, metavar="N")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="measure so often (2)")
    parser.add_argument("--isa", default="", help="instruction set of both (STRIDE0_ISA)")
    parser.add_argument("--quick", action="store_true", help="smaller arrays")
    parser.add_argument("--least", type=float, default=LEAST, help=f"of a group's mean ({LEAST})")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve(json.loads(options.worker))
        return 0
    if len(options.pythons) != 2:
        parser.error("two interpreters are needed")
    chosen = [row for row in rows(QUICK if options.quick else FULL) if row.group in options.groups]
    chosen = [row for row in chosen if options.k in row.key and row.counts]
    found: dict[str, list[float]] = {row.key: [] for row in chosen}
    for count in range(options.processes):
        for threads in sorted({GOALS[row.group].threads or options.threads for row in chosen}):
            builds = [Build(python, options, threads) for python in options.pythons]
            if count == 0:
                print(*(f"{threads} thread(s): {build.described}" for build in builds), sep="\n", flush=True)
            for row in chosen:
                if (GOALS[row.group].threads or options.threads) == threads:
                    found[row.key] += ratios(row, builds, options.rounds, threads)
            for build in builds:
                build.close()
    return report(chosen, found, options.least)


def report(chosen: list[Row], found: dict[str, list[float]], least: float) -> int:
    print(f"\nload {os.getloadavg()[0]:.1f}; time of the first build / time of the second\n")
    print("| group | rows | geometric mean | worst row | verdict |\n|---|---:|---:|---:|---|")
    slow: list[tuple[float, str]] = []
    below = 0
    for group in dict.fromkeys(row.group for row in chosen):
        medians = [
            (statistics.median(found[row.key]), row.key)
            for row in chosen
            if row.group == group and found[row.key]
        ]
        if not medians:
            continue
        mean = geometric_mean([ratio for ratio, _ in medians])
        below += mean < least
        slow += [item for item in medians if item[0] < WORST]
        verdict = "kept" if mean >= least else f"BELOW {least}"
        print(f"| {group} | {len(medians)} | {mean:.3f} | {min(medians)[0]:.2f} | {verdict} |")
    if slow:
        print(f"\nRows below {WORST}, the worst first:\n")
    for ratio, key in sorted(slow):
        print(f"* {ratio:.2f}: {key}")
    return 1 if below else 0
