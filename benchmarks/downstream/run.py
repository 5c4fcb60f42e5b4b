"""scikit-learn and SciPy on stride0 arrays, eager and within `fused()`, compared with NumPy and PyTorch.

    python -m benchmarks downstream
    python -m benchmarks downstream -k PCA --rounds 25
    python -m benchmarks downstream --threads 1 2 --json now.json --page docs/evidence/downstream.md

Each case is measured in a new process, so that other cases do not change the state of its allocators
(`--shared`: one process for all). All libraries run in it in alternating rounds, with SCIPY_ARRAY_API=1 and
scikit-learn's `array_api_dispatch`: on one thread by processor time, on several by elapsed time. Each result
is first compared with NumPy's. A speedup is computed within each round; the median over the rounds is
reported.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common.machine import OURS, ROOT, describe, limit_threads, load, worker
from benchmarks.common.tables import heading, line, write_json
from benchmarks.common.timing import duration, geometric_mean, interleave, ratio

FUSED = "stride0 fused"
# The largest difference from NumPy's result, relative to the largest element.
TOLERANCE = 1e-9
LOOSE = {"StandardScaler float32": 1e-4}
OF_PEERS = 1e-6  # some return a Python float for float32

HEAD = """\
# scikit-learn and SciPy on stride0

This page compares 61 calls of scikit-learn and SciPy with stride0 arrays, NumPy arrays and PyTorch tensors,
at realistic sizes. "fused" is stride0 within [`fused()`](../guides/fusing.md). A figure is NumPy's time
divided by the time of the library: above 1 the library is faster than NumPy.

Each call has a process of its own. In the process all libraries run in alternating rounds of at least 50
ms, with `SCIPY_ARRAY_API=1` and scikit-learn's `array_api_dispatch`. All results are compared with NumPy's.

The array library computes only a part of a call. Sampled by `perf` with NumPy arrays, NumPy takes 63 % of
the time of the median call, and less than 20 % in 14 of the 61 calls. The rest is code of scikit-learn,
SciPy and Python, which takes equally long with any array. SciPy's Fourier transforms are the exception:
with stride0 arrays SciPy calls the transforms of stride0.

scikit-learn computes `laplacian_kernel` of NumPy arrays by a C++ function of SciPy, and of other arrays by
`sum(abs(x - y))`. This expression passes over memory three times, and once within `fused()`.

The page is written by

    python -m benchmarks downstream --threads 1 2 --json now.json --page docs/evidence/downstream.md
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases with this in their name")
    parser.add_argument("--rounds", type=int, default=11, metavar="N")
    parser.add_argument(
        "--threads",
        type=int,
        nargs="+",
        default=[1],
        metavar="N",
        help="for every library (1); one run for each",
    )
    parser.add_argument("--samples", type=int, metavar="N", help="of the data (10,000)")
    parser.add_argument("--without", nargs="+", default=[], choices=("torch",), help="a peer to leave out")
    parser.add_argument(
        # Several calls: before the first one another library used the caches.
        "--sample",
        type=float,
        default=0.05,
        metavar="SECONDS",
        help="that a library runs in a round",
    )
    parser.add_argument("--shared", action="store_true", help="one process for all cases")
    parser.add_argument("--case", default="", help=argparse.SUPPRESS)  # measured in this process
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--read", type=Path, metavar="FILE", help="report an earlier run's JSON")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page of the documentation")
    options = parser.parse_args(arguments)
    if options.read:
        report = json.loads(options.read.read_text(encoding="utf-8"))
    else:
        report = run(options)
        write_json(options.json, report)
    if not options.case:
        print(f"\n{means(report)}")
    if options.page:
        options.page.write_text(page(report), encoding="utf-8")
    return 1 if any(row["wrong"] for row in report["rows"]) else 0


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the chosen cases, each in a new process unless all share this one."""
    limit_threads(options.threads[0])
    os.environ["SCIPY_ARRAY_API"] = "1"  # read by SciPy when it is loaded
    libraries = load([OURS, *(name for name in ("torch",) if name not in options.without)])
    importlib.import_module("sklearn").set_config(array_api_dispatch=True)
    cases = importlib.import_module("benchmarks.downstream.cases")
    versions = {name: importlib.import_module(name) for name in ("scipy", "sklearn")}
    report: dict[str, Any] = {
        "described": describe({**libraries, **versions}),
        "rounds": options.rounds,
        "shared": options.shared,
        "rows": [],
    }
    if not options.case:
        print(f"{report['described']}; {options.rounds} rounds. NumPy's time / the library's.\n\n{header()}")
    chosen = [
        (threads, group, name)
        for threads in options.threads
        for group, members in cases.CASES.items()
        for name in members
        if (name == options.case if options.case else options.k in name)
    ]
    made = {}
    if options.shared or options.case:
        if len(options.threads) > 1:
            raise SystemExit("one process has one number of threads")
        samples = options.samples or cases.SAMPLES
        made = {name: cases.data(maker(name, library), samples) for name, library in libraries.items()}
    for threads, group, name in chosen:
        if made:
            row = measure(name, cases.CASES[group][name], made, libraries, options)
        else:
            row = measure_apart(name, threads, options)
        report["rows"].append({"group": group, "threads": threads, **row})
        if not options.case:
            print(line_of(row), flush=True)
        for label, why in row["wrong"].items():
            print(f"\n**WRONG: {label} in {name}: {why}**\n", flush=True, file=sys.stderr)
    return report


def measure_apart(name: str, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measure a case in a new process."""
    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "row.json"
        passed = ["--case", name, "--json", str(written), "--rounds", str(options.rounds)]
        passed += ["--threads", str(threads), "--sample", str(options.sample)]
        passed += ["--samples", str(options.samples)] if options.samples else []
        passed += ["--without", *options.without] if options.without else []
        done = subprocess.run(worker("downstream", *passed), stdout=subprocess.DEVNULL, cwd=ROOT)
        if not written.exists():
            raise SystemExit(f"{name}: the process ended with {done.returncode}")
        found: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))["rows"][0]
        del found["group"], found["threads"]
        return found


def maker(name: str, library: Any) -> Callable[[Any], Any]:
    """Return a function that copies an array of NumPy into an array of the library."""
    makers = {"numpy": lambda array: array.copy(), "torch": getattr(library, "tensor", None)}
    return makers.get(name) or (lambda array: library.asarray(array, copy=True))


def measure(
    name: str,
    case: Any,
    made: dict[str, Any],
    libraries: dict[str, Any],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Check that the libraries agree on a case, then time it in those that do."""
    import numpy

    calls: dict[str, Callable[[], Any]] = {}
    wrong: dict[str, str] = {}
    unable: dict[str, str] = {}
    expected = numpy.asarray(case(made["numpy"]))
    for label in (OURS, FUSED, *(other for other in libraries if other != OURS)):
        library = OURS if label == FUSED else label
        calls[label] = call_of(case, made[library], libraries[OURS].fused if label == FUSED else None)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                difference = difference_of(
                    numpy.asarray(calls[label]()),
                    expected,
                    max(LOOSE.get(name, TOLERANCE), OF_PEERS if library == "torch" else 0),
                )
        except Exception as error:  # a peer may lack a case; stride0 must not
            difference = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if difference:
            (wrong if library == OURS else unable)[label] = difference
            del calls[label]
    clock = time.process_time if options.threads == [1] else time.perf_counter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        timings = interleave(name, calls, options.rounds, options.sample, clock)
    return {
        **{"name": name, "wrong": wrong, "unable": unable},
        "seconds": {label: timing.quartiles[1] for label, timing in timings.items()},
        "speedups": {
            label: ratio(timings["numpy"], timing) for label, timing in timings.items() if label != "numpy"
        },
    }


def call_of(case: Any, data: Any, mode: Any = None) -> Callable[[], Any]:
    """A call of a case on data, within the context that `mode` makes."""
    if mode is None:
        return lambda: case(data)

    def call() -> Any:
        # As users write it: an ExitStack takes longer than the block itself.
        with mode():
            return case(data)

    return call


def difference_of(result: Any, expected: Any, tolerance: float) -> str:
    """A description of the error of a result; empty if the result is right."""
    import numpy

    if result.shape != expected.shape:
        return f"shape {result.shape}, NumPy has {expected.shape}"
    scale = float(numpy.max(numpy.abs(expected), initial=0))
    same = numpy.allclose(result, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return "" if same else "other values than NumPy's"


def header() -> str:
    return heading(["call", "time, NumPy", OURS, FUSED, "torch"])


def line_of(row: dict[str, Any]) -> str:
    """Return a line of the table."""
    cells = [
        f"{row['speedups'][label]:.2f}" if label in row["speedups"] else "-"
        for label in (OURS, FUSED, "torch")
    ]
    return line([row["name"], duration(row["seconds"]["numpy"]), *cells])


def means(report: dict[str, Any]) -> str:
    """A table of the geometric means of each group and of all cases."""
    lines = [heading(["calls", "", "threads", OURS, FUSED, "torch"]).replace("|  |", "| |")]
    groups = [*dict.fromkeys(row["group"] for row in report["rows"])]
    for threads in counts(report):
        for group in [*groups, "all"]:
            rows = chosen_rows(report, threads, group)
            found = [
                [row["speedups"][label] for row in rows if label in row["speedups"]]
                for label in (OURS, FUSED, "torch")
            ]
            cells = [f"{geometric_mean(speedups):.2f}" if speedups else "-" for speedups in found]
            lines.append(f"| {group} | {len(rows)} | {threads} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def counts(report: dict[str, Any]) -> list[int]:
    """The numbers of threads of a run."""
    return [*dict.fromkeys(row["threads"] for row in report["rows"])]


def chosen_rows(report: dict[str, Any], threads: int, group: str) -> list[dict[str, Any]]:
    return [row for row in report["rows"] if row["threads"] == threads and group in (row["group"], "all")]


def page(report: dict[str, Any]) -> str:
    """Return the page of a run."""
    parts = [HEAD, f"\nMeasured with {report['described']}; {report['rounds']} rounds.\n"]
    parts += [f"\n## Geometric means\n\n{means(report)}"]
    for threads in counts(report):
        for group in dict.fromkeys(row["group"] for row in report["rows"]):
            lines = [line_of(row) for row in chosen_rows(report, threads, group)]
            title = f"{group[0].upper()}{group[1:]}, {threads} thread{'s' if threads > 1 else ''}"
            parts.append(f"\n## {title}\n\n{header()}\n" + "\n".join(lines) + "\n")
    unable = [
        f"* {row['name']}: {label}: {why}\n" for row in report["rows"] for label, why in row["unable"].items()
    ]
    if unable:
        parts += ["\n## What a peer cannot do\n\n", *dict.fromkeys(unable)]
    return "".join(parts)
