"""Compare stride0 with NumPy, PyTorch and JAX (`--jax`): groups of rows, and whether their goals are reached.

Times: all libraries in one process, a sample of each in every round. A speedup is computed within each round,
where the libraries run within milliseconds of each other. The median over the rounds of all processes is
reported. Several processes help, since the addresses of operands, constant in a process, change single rows
by a tenth and more. Before it is timed, a row runs once in each library, and all must agree. With one thread,
processor time is measured, which other programs disturb least.

Memory: the growth of the peak of resident memory while the statement runs once, in a process forked for this
row. The kernel's count is reset (/proc/self/clear_refs) when the operands exist. So no cache of blocks that
earlier rows freed hides the need of a row. Not measured for JAX, which does not survive forks.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common.machine import ROOT, cores, environment, worker
from benchmarks.common.tables import write_json
from benchmarks.common.timing import Timing
from benchmarks.compare.cases import FULL, GOALS, OURS, PEERS, QUICK, Row, rows
from benchmarks.compare.chart import draw
from benchmarks.compare.report import (
    Report,
    group_summaries,
    print_against,
    print_headline,
    print_row,
    print_summary,
)
from benchmarks.compare.worker import serve

TITLE = "stride0 beside its peers"
QUICK_ROUNDS = 5


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.worker:
        serve(json.load(sys.stdin))
        return 0
    if options.read:
        report: Report = json.loads(options.read.read_text(encoding="utf-8"))
        for group, found in itertools.groupby(report["rows"], lambda row: row["group"]):
            print_headline(group, report["libraries"])
            for row in found:
                print_row(row, report["libraries"])
    else:
        report = run(options)
    report["groups"] = group_summaries(report)
    print_summary(report)
    if options.against:
        print_against(report, json.loads(options.against.read_text(encoding="utf-8")))
    write_json(options.json, report)
    if options.chart:
        draw(report, options.chart)
    return 1 if any(row["wrong"] for row in report["rows"]) else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=TITLE)
    parser.add_argument(
        "--groups", nargs="+", choices=[*GOALS], metavar="GROUP", help=f"of {', '.join(GOALS)}"
    )
    parser.add_argument("-k", default="", metavar="TEXT", help="only rows with this in their name")
    parser.add_argument(
        "--threads", type=int, default=cores(), metavar="N", help="for every library (all cores)"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="default: 21, or 5 if quick")
    parser.add_argument(
        "--processes", type=int, default=1, metavar="N", help="measure so often, in new processes (1)"
    )
    parser.add_argument(
        "--budget", type=float, default=6, metavar="SECONDS", help="after which a row has fewer rounds (6)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few rounds, smaller arrays, no memory: a first look"
    )
    parser.add_argument("--jax", action="store_true", help="JAX too, every statement compiled by jax.jit")
    parser.add_argument("--without", nargs="+", default=[], choices=PEERS[1:], help="a peer to leave out")
    parser.add_argument("--no-memory", action="store_true", help="times only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the speedups, as SVG")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with the JSON of an earlier run"
    )
    parser.add_argument(
        "--read", type=Path, metavar="FILE", help="measure nothing, report an earlier run's JSON"
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.processes < 1:
        parser.error("--processes: at least 1")
    return options


def run(options: argparse.Namespace) -> Report:
    """Measure in processes of their own: one for each number of threads, then one per library for memory."""
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else 21)
    chosen = [row for row in rows(QUICK if options.quick else FULL) if selected(row, options)]
    left_out = [*options.without, *([] if options.jax else ["jax"])]
    libraries = [OURS, *(peer for peer in PEERS if peer not in left_out)]
    report: Report = {
        "title": TITLE,
        "quick": options.quick,
        "threads": options.threads,
        "rounds": rounds,
        "processes": options.processes,
        "load_before": os.getloadavg(),
        "libraries": libraries,
        "described": {},
        "rows": [],
    }
    request = {"quick": options.quick, "rounds": rounds, "budget": options.budget, "libraries": libraries}
    found: dict[str, dict[str, Any]] = {}
    for threads in sorted({GOALS[row.group].threads or options.threads for row in chosen}, reverse=True):
        last_group = ""
        earlier: dict[str, list[dict[str, Any]]] = {}
        keys = [row.key for row in chosen if (GOALS[row.group].threads or options.threads) == threads]
        for count in range(options.processes):
            for message in ask({**request, "what": "time", "threads": threads, "keys": keys}, threads):
                if "described" in message:
                    if count == 0:
                        describe(message, report, threads)
                    continue
                key = message["key"]
                earlier.setdefault(key, []).append(message)
                if count < options.processes - 1:
                    continue
                found[key] = pooled(earlier[key])
                if message["group"] != last_group:
                    print_headline(last_group := message["group"], report["libraries"])
                print_row(found[key], report["libraries"])
    for library in [] if options.quick or options.no_memory else report["libraries"]:
        if library == "jax":
            continue
        request |= {"libraries": [library], "what": "memory", "threads": options.threads, "keys": [*found]}
        for message in ask(request, options.threads):
            found[message["key"]]["peak"][library] = message["peak"]
    report["rows"] = [found[row.key] for row in chosen]
    report["load_after"] = os.getloadavg()
    return report


def describe(message: dict[str, Any], report: Report, threads: int) -> None:
    """Print and keep the description that a process gives of itself and of the libraries."""
    report["described"][str(threads)] = message["described"]
    report["libraries"] = message["libraries"]
    times = f", {report['processes']} times" if report["processes"] > 1 else ""
    print(f"\n{message['described']}; {report['rounds']} rounds{times}.", flush=True)
    for peer, reason in message["missing"].items():
        print(f"\n**MISSING PEER: {peer} ({reason}). Nothing below is compared with it.**\n")
    report["missing"] = message["missing"]


def pooled(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Combine the measurements of a row in several processes: quartiles over all rounds."""
    row = {**messages[0], "disturbed": sum(message["disturbed"] for message in messages) / len(messages)}
    del row["samples"]
    for what in ("wrong", "unable"):
        row[what] = {name: why for message in messages for name, why in message[what].items()}
    samples: dict[str, list[float]] = {}
    for message in messages:
        for name, seconds in message["samples"].items():
            if name not in row["wrong"] | row["unable"]:
                samples.setdefault(name, []).extend(seconds)
    row["seconds"] = {name: Timing(seconds).quartiles for name, seconds in samples.items()}
    row["speedups"] = {
        name: Timing([theirs / ours for theirs, ours in zip(seconds, samples[OURS], strict=True)]).quartiles
        for name, seconds in samples.items()
        if name != OURS and OURS in samples
    }
    return row


def selected(row: Row, options: argparse.Namespace) -> bool:
    return options.k in row.key and (not options.groups or row.group in options.groups)


def ask(request: dict[str, Any], threads: int) -> Iterator[dict[str, Any]]:
    """Start a process that measures, and yield its messages as they come."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = worker("compare", "--worker")
    with subprocess.Popen(command, env=environment(threads), cwd=ROOT, **pipes) as process:
        assert process.stdin is not None and process.stdout is not None
        json.dump(request, process.stdin)  # thousands of keys: too long for an argument
        process.stdin.close()
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise SystemExit(f"the process that measures ended with exit code {process.returncode}")
