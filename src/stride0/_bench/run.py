"""``python -m stride0 bench``: times of stride0 and its peers, and of the loops that limit them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from stride0._bench.rows import ROWS, Row, statement
from stride0._core.plan.plan import Limit

__all__ = ["bench"]

PEERS = ("stride0", "numpy", "torch", "jax.numpy")
ROUNDS = 15
SAMPLE = 0.002  # seconds
STARTED = "STRIDE0_BENCH_STARTED"
HEADING = """\
Microseconds, the least of several samples. Limit, as a percentage of stride0's time: the fastest loop that
moves the same bytes or multiplies as often; for 10 elements, an addition of two Python ints."""


def bench(threads: int) -> int:
    """Print the table, in a new process whose environment limits every library to `threads` threads."""
    if STARTED not in os.environ:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "STRIDE0_NUM_THREADS", "NPROC")
        flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
        jax = {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}
        environment = {**os.environ, **dict.fromkeys(names, str(threads)), **jax, STARTED: "1"}
        command = [sys.executable, "-m", "stride0", "bench", "--threads", str(threads)]
        return subprocess.run(command, env=environment, check=False).returncode
    found = [name for name in PEERS if importlib.util.find_spec(short(name))]
    libraries = {name: importlib.import_module(name) for name in found}
    if "torch" in libraries:
        libraries["torch"].set_num_threads(threads)
    versions = ", ".join(f"{short(name)} {version(short(name))}" for name in libraries)
    isa = libraries["stride0"]._instruction_set
    print(f"{versions}; kernels {isa}; Python {platform.python_version()}; {threads} thread(s)")
    print(HEADING)
    ratios: dict[str, list[float]] = {}
    for row in ROWS:
        if row.group not in ratios:
            print("\n" + cells(row.group, [*map(short, libraries), "best / ours", "limit"]))
        seconds = times_of(row, libraries, threads)
        ours, limit = seconds.pop("stride0"), seconds.pop("limit", None)
        ratio = min(seconds.values()) / ours
        ratios.setdefault(row.group, []).append(ratio)
        times = [f"{1e6 * time:,.2f}" for time in (ours, *seconds.values())]
        print(
            cells(f"  {row.text}", [*times, f"{ratio:.2f}", f"{limit / ours:.0%}" if limit else ""]),
            flush=True,
        )
    print("\nspeed as a multiple of the fastest peer's, geometric means")
    for name, values in ratios.items():
        print(f"  {name:26}{statistics.geometric_mean(values):6.2f}   least {min(values):.2f}")
    return 0


def short(name: str) -> str:
    """The name of a library's package."""
    return name.partition(".")[0]


def cells(first: str, others: list[str]) -> str:
    return f"{first:28}" + "".join(f"{text:>13}" for text in others)


def times_of(row: Row, libraries: dict[str, Any], threads: int) -> dict[str, float]:
    """The least seconds of a row by library, and of its limit; libraries alternate in every round."""
    timers = {name: timer_of(*statement(row, name, library)) for name, library in libraries.items()}
    if row.limit is not None:
        timers |= limit_timers(*row.limit, threads)
    numbers = {}
    for name, timer in timers.items():
        timer.timeit(1)  # fills caches, and runs late imports
        number, took = 1, timer.timeit(1)
        while took < SAMPLE / 2 and number < 1 << 20:
            number *= 2
            took = timer.timeit(number)
        numbers[name] = number
    samples: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            samples[name].append(timer.timeit(numbers[name]) / numbers[name])
    found = {name: min(values) for name, values in samples.items()}
    limits = [found.pop(name) for name in list(found) if name.startswith("limit")]
    return found | ({"limit": min(limits)} if limits else {})


def limit_timers(
    kind: str, size: int, threads: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, timeit.Timer]:
    """Timers of the loops of a kind: with stores into the caches, and with stores past them."""
    if kind == "call":
        return {"limit": timeit.Timer("x + y", "x, y = 1 << 40, 1 << 41", timer=clock)}
    kinds = (kind, f"{kind}_past") if kind in ("copy", "add") else (kind,)
    return {f"limit {name}": timeit.Timer(Limit(name, size, threads), timer=clock) for name in kinds}


def timer_of(text: str, names: dict[str, Any]) -> timeit.Timer:
    """A timer of a statement whose names are local, as in a user's function."""
    setup = "; ".join(f"{name} = names[{name!r}]" for name in names)
    return timeit.Timer(text, setup, globals={"names": names})
