"""The cost of threads on a busy machine: calls on the default number of threads and on one.

    python -m benchmarks busy                 as many busy processes as processors
    python -m benchmarks busy --busy 0        on an idle machine
    python -m benchmarks busy --libraries stride0 torch numpy

Calls on one thread and on the default number alternate in rounds, in one process, back to back and with
pauses; NumPy, whose number cannot be set, uses its default. The ratio of a case is the ratio of the medians
of all calls. With busy processes it must be at most `LIMIT`; the exit code is 1 if a case exceeds it.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.common.machine import cores
from benchmarks.common.tables import heading, line

LIMIT = 1.2
PAUSES = (0.0, 0.002)  # seconds before each call: none, and so long that idle threads sleep

# Name, shape, dtype, and the call; `xp` is the library's namespace.
CASES: tuple[tuple[str, tuple[int, ...], str, Callable[[Any, Any], Any]], ...] = (
    ("a + a, 10^6", (1_000_000,), "float64", lambda xp, a: a + a),
    ("a + a, 2 10^5", (200_000,), "float64", lambda xp, a: a + a),
    ("exp, 3 10^5", (300_000,), "float64", lambda xp, a: xp.exp(a)),
    ("sum, 4 10^6", (4_000_000,), "float64", lambda xp, a: xp.sum(a)),
    ("sort of rows, 300x1000", (300, 1000), "float64", lambda xp, a: xp.sort(a)),
    ("a + a, 300x300", (300, 300), "float64", lambda xp, a: a + a),
    ("a @ a, 300x300", (300, 300), "float64", lambda xp, a: a @ a),
    ("a.T @ a, 10000x40", (10_000, 40), "float64", lambda xp, a: a.T @ a),
    ("svdvals, 100x100", (100, 100), "float64", lambda xp, a: xp.linalg.svdvals(a)),
)


def keep_busy() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Start `count` processes that each keep a processor busy."""
    processes = [
        multiprocessing.get_context("spawn").Process(target=keep_busy, daemon=True) for _ in range(count)
    ]
    for process in processes:
        process.start()
    time.sleep(1 if count else 0)
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


def time_case(
    call: Callable[[], Any], xp: Any, seconds: float, pause: float
) -> tuple[list[float], list[float]]:
    """Seconds of each call on one thread and on the default number, in rounds of a tenth of a second each."""
    default = xp.get_num_threads() if hasattr(xp, "get_num_threads") else 0
    one: list[float] = []
    many: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for threads, times in ((1, one), (default, many)):
            if default:
                xp.set_num_threads(threads)
            elif threads == 1:
                continue
            until = time.perf_counter() + 0.1
            while True:
                time.sleep(pause)
                began = time.perf_counter()
                call()
                now = time.perf_counter()
                times.append(now - began)
                if now > until:
                    break
    return one, many


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    processors = cores()
    parser.add_argument(
        "--busy", type=int, default=processors, metavar="N", help=f"busy processes ({processors})"
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="for each case and library (6)")
    parser.add_argument(
        "--libraries", nargs="+", default=["stride0"], metavar="NAME", help="stride0, torch, numpy"
    )
    options = parser.parse_args()
    if processors < 2:
        print("One processor: the default is one thread.")
        return 0

    print(f"{options.busy} busy processes on {processors} processors, {options.seconds:g} s for each case\n")
    titles = [
        "case",
        "library",
        "pause, ms",
        "one thread, µs",
        "default, µs",
        "99 of 100",
        "ratio of medians",
    ]
    print(heading(titles, left=2))
    kept = True
    with busy(options.busy):
        for title, shape, dtype, function in CASES:
            for name, pause in itertools.product(options.libraries, PAUSES):
                xp = importlib.import_module(name)
                a = xp.linspace(0.1, 1.0, math.prod(shape), dtype=getattr(xp, dtype))
                times = time_case(partial(function, xp, xp.reshape(a, shape)), xp, options.seconds, pause)
                one, many = [statistics.median(part) if part else math.nan for part in times]
                tail = statistics.quantiles(times[1], n=100)[98]
                kept = kept and (name != "stride0" or many <= LIMIT * one)
                figures = [f"{1e6 * seconds:.1f}" for seconds in (one, many, tail)]
                print(line([title, name, f"{pause * 1e3:g}", *figures, f"{many / one:.2f}"]), flush=True)
    if not options.busy:
        return 0
    print(f"\nstride0 keeps to {LIMIT} of one thread: {'yes' if kept else 'NO'}")
    return 0 if kept else 1
