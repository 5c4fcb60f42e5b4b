"""Chains of elementwise operations: `stride0.fused()`, eager calls, compilers and eager libraries.

One process, alternating in rounds. A figure beside the times is how many times as fast as that library
the fused call is. Its results are computed within the timed function, which leaves the scope. Then: scopes
around work too small to gain, the peak of memory, and a loop that never reads its array.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from chain_cases import CHAINS, Chain, arrays
from harness import describe, interleave, limit_threads, show, write_json

Call = Callable[[], Any]
SIDES = {"9e4": 300, "4e6": 2000}
OURS = "fused"
GOALS = {"jax.jit": 1.0, "numpy": 3.0}
SMALL = (10, 30, 100, 300, 1000)
REPEATED = 100  # expressions in one scope around small work


def ours_eager(chain: Chain, given: dict[str, Any]) -> Call:
    import stride0 as xp

    values = [xp.asarray(a, copy=True) for a in given.values()]
    return lambda: chain.expression(xp, _astype(xp), *values)


def ours_fused(chain: Chain, given: dict[str, Any]) -> Call:
    import stride0 as xp

    values, scope, cast = [xp.asarray(a, copy=True) for a in given.values()], xp.fused, _astype(xp)

    def run() -> Any:
        with scope():
            return chain.expression(xp, cast, *values)

    return run


def numpys(chain: Chain, given: dict[str, Any]) -> Call:
    import numpy as np

    values = list(given.values())
    return lambda: chain.expression(np, lambda x, dtype: x.astype(dtype), *values)


def torchs(chain: Chain, given: dict[str, Any]) -> Call:
    import array_api_compat.torch as xp
    import torch

    values = [torch.tensor(a) for a in given.values()]
    return lambda: chain.expression(xp, lambda x, dtype: x.to(getattr(torch, dtype)), *values)


def jaxs(chain: Chain, given: dict[str, Any]) -> Call:
    import jax

    values = [jax.numpy.array(a) for a in given.values()]
    compiled = jax.jit(lambda *x: chain.expression(jax.numpy, lambda y, dtype: y.astype(dtype), *x))
    return lambda: compiled(*values).block_until_ready()


def numexprs(chain: Chain, given: dict[str, Any]) -> Call | None:
    import numexpr

    if chain.numexpr is None or any(a.dtype == "complex64" for a in given.values()):
        return None

    # Constants are of double precision there, unless one is told otherwise.
    def evaluate(text: str, names: dict[str, Any]) -> Any:
        return numexpr.evaluate(text, names, {}, casting="same_kind", truediv=True)

    run = chain.numexpr
    return lambda: run(evaluate, given)


def _astype(xp: Any) -> Callable[..., Any]:
    return lambda x, dtype: xp.astype(x, getattr(xp, dtype))


LIBRARIES: dict[str, Callable[..., Call | None]] = {
    OURS: ours_fused,
    "eager": ours_eager,
    "jax.jit": jaxs,
    "numpy": numpys,
    "torch": torchs,
    "numexpr": numexprs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help=f"of {', '.join(LIBRARIES)}")
    parser.add_argument("--cpu-time", action="store_true", help="of all threads, where the machine is shared")
    parser.add_argument("--isa", metavar="NAME", help="kernels of this instruction set, as STRIDE0_ISA")
    parser.add_argument("-k", default="", metavar="TEXT", help="only rows with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    prepare(options)
    import stride0

    names = [name for name in LIBRARIES if name not in options.without and is_installed(name)]
    others = [name for name in names if name != OURS]
    setting = f"{describe({'stride0': stride0})}; {options.threads} thread(s), {options.rounds} rounds"
    clock = time.process_time if options.cpu_time else time.perf_counter
    print(f"{setting}{', processor time' if options.cpu_time else ''}.\n")
    header = ["chain", *names, *(f"times {name}" for name in others), "first / second call"]
    print("| " + " | ".join(header) + " |\n|---|" + "---:|" * (len(header) - 1), flush=True)
    rows = []
    for case, chain, given in cases(options.k):
        calls = {name: call for name in names if (call := LIBRARIES[name](chain, given)) is not None}
        first = first_call(chain, given, calls[OURS])
        timings = interleave(
            case, {name: timeit.Timer(call, timer=clock) for name, call in calls.items()}, options.rounds
        )
        speeds = {
            name: statistics.median(
                b / a for a, b in zip(timings[OURS].seconds, timings[name].seconds, strict=True)
            )
            for name in others
            if name in timings
        }
        cells = [case, *(show(timings.get(name)) for name in names)]
        cells += [f"{speeds[name]:.2f}" if name in speeds else "" for name in others]
        print("| " + " | ".join([*cells, f"{first:.2f}"]) + " |", flush=True)
        quartiles = {name: timing.quartiles for name, timing in timings.items()}
        kind = "transcendental" if chain.transcendental else "arithmetic"
        rows.append({"case": case, "kind": kind, "quartiles": quartiles, "speed": speeds, "first": first})
    content = {"title": "Chains", "setting": setting, "threads": options.threads, "rows": rows}
    if rows:
        print("\n" + summary(rows, others))
    if not options.k:
        content |= {"small": small_scopes(options.rounds), "memory": peaks(), "loop": endless()}
    write_json(options.json, content)


def prepare(options: argparse.Namespace) -> None:
    """Everything that libraries read when they are loaded."""
    import os

    limit_threads(options.threads)
    os.environ["NUMEXPR_NUM_THREADS"] = str(options.threads)
    os.environ["NUMEXPR_MAX_THREADS"] = str(options.threads)
    if options.isa:
        os.environ["STRIDE0_ISA"] = options.isa
    if "torch" not in options.without and is_installed("torch"):
        import torch

        torch.set_num_threads(options.threads)
    if "jax.jit" not in options.without and is_installed("jax.jit"):
        import jax

        jax.config.update("jax_enable_x64", True)


def is_installed(name: str) -> bool:
    import importlib.util

    found = name in (OURS, "eager") or importlib.util.find_spec(name.partition(".")[0]) is not None
    if not found:
        print(f"({name} is not installed)", file=sys.stderr)
    return found


def cases(part: str) -> Any:
    for size, side in SIDES.items():
        for name, chain in CHAINS.items():
            for dtype in chain.dtypes:
                case = f"{name}, {dtype}, {size}"
                if part in case:
                    yield case, chain, arrays(chain, dtype, side)


def first_call(chain: Chain, given: dict[str, Any], call: Call) -> float:
    """The time of the first call of an expression over that of the second; its operations ran before."""
    LIBRARIES[OURS](chain, {name: a[..., :1] for name, a in given.items()})()  # type: ignore[misc]
    call_eager = LIBRARIES["eager"](chain, given)
    call_eager()  # type: ignore[misc]
    return timeit.timeit(call, number=1) / timeit.timeit(call, number=1)


def summary(rows: Sequence[dict[str, Any]], others: Sequence[str]) -> str:
    lines = [
        "| fused is so many times as fast as | arithmetic rows | transcendental rows | all rows | worst row |"
    ]
    lines.append("|---|---:|---:|---:|---|")
    for name in others:
        speeds = {row["case"]: row["speed"][name] for row in rows if name in row["speed"]}
        if not speeds:
            continue
        kinds = [
            [row["speed"][name] for row in rows if name in row["speed"] and row["kind"] == kind]
            for kind in ("arithmetic", "transcendental")
        ]
        means = [f"{statistics.geometric_mean(k):.2f}" if k else "-" for k in (*kinds, list(speeds.values()))]
        worst = min(speeds, key=lambda case: speeds[case])
        lines.append("| " + " | ".join([name, *means, f"{speeds[worst]:.2f} ({worst})"]) + " |")
    return "\n".join(lines)


def small_scopes(rounds: int) -> list[dict[str, Any]]:
    """What a scope costs around arrays too small to gain: many expressions in one, and one in each."""
    import stride0 as xp

    header = ["small work", "eager", "many in a scope", "a scope around each", "many / eager"]
    print("\n| " + " | ".join(header) + " |\n|---|---:|---:|---:|---:|")
    rows = []
    for n in SMALL:
        x = xp.asarray([1 + k / n for k in range(n)], dtype=xp.float64)
        row = xp.asarray(x, copy=True)

        def work(x: Any = x, row: Any = row) -> Any:
            return (x - row) * (x - row) / (x + 1) + 2 * x

        def eager() -> None:
            for _ in range(REPEATED):
                work()

        def many() -> None:
            with xp.fused():
                for _ in range(REPEATED):
                    work()

        def each() -> None:
            for _ in range(REPEATED):
                with xp.fused():
                    work()

        calls = {"eager": eager, "many": many, "each": each}
        timers = {name: timeit.Timer(call) for name, call in calls.items()}
        timings = interleave(f"{n} elements", timers, 3 * rounds)
        pairs = zip(timings["many"].seconds, timings["eager"].seconds, strict=True)
        cost = statistics.median(a / b for a, b in pairs)
        cells = [f"{REPEATED} times, {n} elements", *(show(timings[name]) for name in calls), f"{cost:.3f}"]
        print("| " + " | ".join(cells) + " |", flush=True)
        rows.append({"elements": n, "quartiles": {k: t.quartiles for k, t in timings.items()}, "cost": cost})
    return rows


def peaks() -> list[dict[str, Any]]:
    """The peak of the memory that arrays own during a call, in results: 1 is the result alone."""
    import stride0 as xp

    print("\n| peak of memory, in results | eager | fused |\n|---|---:|---:|")
    rows = []
    for case, chain, given in cases("float32, 4e6"):
        calls = {"eager": ours_eager(chain, given), OURS: ours_fused(chain, given)}
        peak = {}
        for name, call in calls.items():
            before = xp.memory.stats(reset_peak=True)["live_bytes"]
            result = call()
            peak[name] = (xp.memory.stats()["peak_bytes"] - before) / max(result.nbytes, 1)
        print("| " + " | ".join([case, *(f"{peak[name]:.2f}" for name in calls)]) + " |", flush=True)
        rows.append({"case": case, **peak})
    return rows


def endless() -> dict[str, float]:
    """10^4 times `x = x * 0.99 + 0.01`, which nothing reads: seconds, and the most bytes that were owned."""
    import stride0 as xp

    x = xp.ones(10_000, dtype=xp.float32)
    before = xp.memory.stats(reset_peak=True)["live_bytes"]

    def run(x: Any = x) -> Any:
        with xp.fused():
            for _ in range(10**4):
                x = x * 0.99 + 0.01
        return x

    seconds = timeit.timeit(run, number=1)
    peak = (xp.memory.stats()["peak_bytes"] - before) / x.nbytes
    print(f"\n10^4 times x = x * 0.99 + 0.01, 10^4 float32: {seconds:.3f} s, peak of {peak:.1f} times x.")
    return {"seconds": seconds, "peak": peak}


if __name__ == "__main__":
    main()
