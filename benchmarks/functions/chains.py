"""Chains of elementwise operations: `stride0.fused()`, eager calls, compilers and eager libraries.

One process, alternating in rounds. A ratio is the time of a library divided by the time of the fused call.
Its results are computed within the timed function, which leaves the scope. Then follow scopes around work too
small to gain, the peak of memory, and a loop that never reads its array.
"""

from __future__ import annotations

import os
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.common.machine import describe, installed, limit_threads
from benchmarks.common.tables import Found, compare, heading, line, parser, write_json
from benchmarks.common.timing import Call, geometric_mean
from benchmarks.functions.chain_cases import CHAINS, Chain, arrays

SIDES = {"9e4": 300, "4e6": 2000}
OURS = "fused"
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

    # Constants are double precision there by default.
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
    command = parser(__doc__, rounds=15, only="rows", without=LIBRARIES)
    command.add_argument("--cpu-time", action="store_true", help="of all threads, if the machine is shared")
    command.add_argument("--isa", metavar="NAME", help="kernels of this instruction set, as STRIDE0_ISA")
    options = command.parse_args()
    limit_threads(options.threads)
    if options.isa:
        os.environ["STRIDE0_ISA"] = options.isa
    import stride0

    names = installed([*LIBRARIES], options.without)
    setting = f"{describe({'stride0': stride0})}; {options.threads} thread(s), {options.rounds} rounds"
    clock = time.process_time if options.cpu_time else time.perf_counter
    print(f"{setting}{', processor time' if options.cpu_time else ''}.")
    first: list[float] = []

    def calls() -> Iterator[tuple[str, dict[str, Call]]]:
        for case, chain, given in cases(options.k):
            found = {name: call for name in names if (call := LIBRARIES[name](chain, given)) is not None}
            first.append(first_call(chain, given, found[OURS]))
            yield case, found

    more = {"first / second call": lambda row: f"{first[-1]:.2f}"}
    rows = compare("chain", calls(), names, OURS, options.rounds, clock, more=more)
    for row, each in zip(rows, first, strict=True):
        chain = CHAINS[row["case"].rpartition(", ")[0].rpartition(", ")[0]]
        row |= {"kind": "transcendental" if chain.transcendental else "arithmetic", "first": each}
    content = {"title": "Chains", "setting": setting, "threads": options.threads, "rows": rows}
    if rows:
        print("\n" + summary(rows, [name for name in names if name != OURS]))
    if not options.k:
        content |= {"small": small_scopes(options.rounds), "memory": peaks(), "loop": endless()}
    write_json(options.json, content)


def cases(part: str) -> Any:
    for size, side in SIDES.items():
        for name, chain in CHAINS.items():
            for dtype in chain.dtypes:
                case = f"{name}, {dtype}, {size}"
                if part in case:
                    yield case, chain, arrays(chain, dtype, side)


def first_call(chain: Chain, given: dict[str, Any], call: Call) -> float:
    """The time of the first call of an expression, divided by the time of the second call."""
    LIBRARIES[OURS](chain, {name: a[..., :1] for name, a in given.items()})()  # type: ignore[misc]
    call_eager = LIBRARIES["eager"](chain, given)
    call_eager()  # type: ignore[misc]
    return timeit.timeit(call, number=1) / timeit.timeit(call, number=1)


def summary(rows: Sequence[Found], others: Sequence[str]) -> str:
    titles = ["time / time of the fused call", "arithmetic rows", "transcendental rows", "all rows", "least"]
    lines = [heading(titles)]
    for name in others:
        ratios = {row["case"]: row["ratios"][name] for row in rows if name in row["ratios"]}
        if not ratios:
            continue
        means = []
        for kind in ("arithmetic", "transcendental", ""):
            chosen = [ratios[r["case"]] for r in rows if r["case"] in ratios and kind in r["kind"]]
            means.append(f"{geometric_mean(chosen):.2f}" if chosen else "-")
        worst = min(ratios, key=ratios.__getitem__)
        lines.append(line([name, *means, f"{ratios[worst]:.2f} ({worst})"]))
    return "\n".join(lines)


def small_scopes(rounds: int) -> list[Found]:
    """Time arrays too small to gain: eagerly, many expressions in a scope, and a scope around each one."""
    return compare("small work", small_work(), ("eager", "many", "each"), "eager", 3 * rounds)


def small_work() -> Iterator[tuple[str, dict[str, Call]]]:
    import stride0 as xp

    for n in SMALL:
        x = xp.asarray([1 + k / n for k in range(n)], dtype=xp.float64)
        row = xp.asarray(x, copy=True)

        def work(x: Any = x, row: Any = row) -> Any:
            return (x - row) * (x - row) / (x + 1) + 2 * x

        def eager(work: Call = work) -> None:
            for _ in range(REPEATED):
                work()

        def many(eager: Call = eager) -> None:
            with xp.fused():
                eager()

        def each(work: Call = work) -> None:
            for _ in range(REPEATED):
                with xp.fused():
                    work()

        yield f"{REPEATED} times, {n} elements", {"eager": eager, "many": many, "each": each}


def peaks() -> list[dict[str, Any]]:
    """The peak of the memory that arrays own during a call, in sizes of the result."""
    import stride0 as xp

    print("\n" + heading(["peak of memory, in results", "eager", OURS]))
    rows = []
    for case, chain, given in cases("float32, 4e6"):
        calls = {"eager": ours_eager(chain, given), OURS: ours_fused(chain, given)}
        peak = {}
        for name, call in calls.items():
            before = xp.memory.stats(reset_peak=True)["live_bytes"]
            result = call()
            peak[name] = (xp.memory.stats()["peak_bytes"] - before) / max(result.nbytes, 1)
        print(line([case, *(f"{peak[name]:.2f}" for name in calls)]), flush=True)
        rows.append({"case": case, **peak})
    return rows


def endless() -> dict[str, float]:
    """10^4 times `x = x * 0.99 + 0.01`, which nothing reads: seconds, and the peak of owned bytes."""
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
