"""Small operations in several Python threads at once, relative to one thread.

    python3.13t -m benchmarks python-threads                  stride0 and NumPy
    python -m benchmarks python-threads --libraries stride0   with the interpreter's lock: about 1

Each thread has arrays of its own, and repeats one operation on them; all start together. Each call runs on
one thread; for threads that compute large arrays see docs/design/threads.md. Runs on one thread and on
several alternate in rounds; the median of the ratios is reported. Functions that do nothing are the
reference: no operation can scale better. On a busy machine, the ratio also depends on the time left for the
second thread; `--cpu-time` excludes this. It shows losses by memory that threads write by turns (reference
counts) and by spinning, but not by sleeping; it shows less if threads rarely run at the same time.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common.machine import OURS, YARDSTICK, describe, limit_threads, load
from benchmarks.common.tables import heading, line, parser, write_json
from benchmarks.common.timing import Call

# Statements and sizes of their operands x and y; `column` is y as a column, `total` the function `sum`.
CASES = {
    "nothing": ("None", 1),
    "x + y, 4 elements": ("x + y", 4),
    "x + y, 100 elements": ("x + y", 100),
    "x + y, 1,000 elements": ("x + y", 1000),
    "(x + y) * 2.0 - x, 100 elements": ("(x + y) * 2.0 - x", 100),
    "exp(x), 100 elements": ("exp(x)", 100),
    "xp.sin(x), 100 elements": ("xp.sin(x)", 100),
    "sum(x), 100 elements": ("total(x)", 100),
    "x[1:3]": ("x[1:3]", 100),
    "x + column, 30 by 30": ("x + column", 30),
}


def call_of(statement: str, size: int, xp: Any) -> Call:
    """Return a function with the statement as its body and its operands as local names."""
    x, y = xp.asarray([1.5] * size), xp.asarray([0.5] * size)
    names = {"xp": xp, "x": x, "y": y, "column": xp.reshape(y, (size, 1)), "exp": xp.exp, "total": xp.sum}
    made: Call = eval(f"(lambda {', '.join(names)}: lambda: {statement})", {})(*names.values())
    return made


def per_second(
    make: Callable[[], Call], threads: int, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Operations per second, summed over the threads."""
    start = threading.Barrier(threads + 1)
    counts = [0] * threads
    times = [0.0] * threads
    stop = False

    def run(number: int) -> None:
        call = make()
        done = 0
        start.wait()
        began = clock()
        while not stop:
            for _ in range(200):
                call()
            done += 200
        times[number] = clock() - began
        counts[number] = done

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    start.wait()
    time.sleep(seconds)
    stop = True
    for worker in workers:
        worker.join()
    return sum(count / taken for count, taken in zip(counts, times, strict=True))


def main() -> None:
    command = parser(__doc__, rounds=7, only="cases", threads=False)
    command.add_argument("--threads", type=int, default=2, metavar="N", help="Python threads (2)")
    command.add_argument("--libraries", nargs="+", metavar="NAME", default=[OURS, YARDSTICK])
    command.add_argument("--seconds", type=float, default=0.15, help="of each run (0.15)")
    command.add_argument("--cpu-time", action="store_true", help="processor time of each thread")
    options = command.parse_args()

    limit_threads(1)
    libraries = {name: found for name, found in load(options.libraries).items() if name in options.libraries}
    clock = time.thread_time if options.cpu_time else time.perf_counter
    lock = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"
    print(f"## Small operations in {options.threads} Python threads, {lock} the interpreter's lock\n")
    print(f"{describe(libraries)}; {options.rounds} rounds.")
    if options.cpu_time:
        print("Processor time of the threads.")
    print(
        "Nanoseconds for each operation in one thread, and operations per second in all threads / in one.\n"
    )
    titles = [title for name in libraries for title in (f"{name}, ns", f"{name}, ratio")]
    print(heading(["case", *titles]), flush=True)
    rows = []
    for case, (statement, size) in CASES.items():
        if options.k not in case:
            continue
        single: dict[str, list[float]] = {name: [] for name in libraries}
        ratios: dict[str, list[float]] = {name: [] for name in libraries}
        for _ in range(options.rounds):
            for name, library in libraries.items():
                make = partial(call_of, statement, size, library)
                one = per_second(make, 1, options.seconds, clock)
                single[name].append(1e9 / one)
                ratios[name].append(per_second(make, options.threads, options.seconds, clock) / one)
        found = {
            name: (statistics.median(single[name]), statistics.median(ratios[name])) for name in libraries
        }
        cells = [text for ns, ratio in found.values() for text in (f"{ns:.0f}", f"{ratio:.2f}")]
        print(line([case, *cells]), flush=True)
        rows.append({"case": case, "found": found})
    write_json(options.json, {"threads": options.threads, "lock": lock, "rows": rows})
