"""Derivatives of high order, and gradients of long loops.

First table: all derivatives up to an order, in milliseconds: stride0's `derivatives`, nested `jvp`, and
`jax.experimental.jet` if JAX is installed: uncompiled, and compiled by `jax.jit` (without compile time).
Second table: a gradient through a loop by `checkpoint_loop` and through the plain loop: times, calls of the
step, and the most memory in megabytes.
"""

from __future__ import annotations

import argparse
import math
import timeit
from collections.abc import Callable
from typing import Any

from benchmarks.common.machine import limit_threads

ORDERS = (2, 4, 6, 8)
NESTED = 6  # the highest order of nested `jvp`, whose time grows tenfold every two orders


def function(xp: Any, x: Any) -> Any:
    return xp.tanh(x) * xp.exp(-x * x) / (1 + x * x) + xp.sin(x) ** 3


def fastest(call: Callable[[], Any], seconds: float) -> float:
    """Return the time of the fastest call, in milliseconds."""
    call()
    best, spent = math.inf, 0.0
    while spent < seconds:
        took = timeit.timeit(call, number=1)
        best, spent = min(best, took), spent + took
    return best * 1e3


def nested(f: Callable[[Any], Any], x: Any, order: int) -> list[Any]:
    import stride0 as xp

    out, one = [], xp.ones_like(x)
    for _ in range(order + 1):
        out.append(f(x))
        f = (lambda g: lambda x: xp.autograd.jvp(g, (x,), (one,))[1])(f)
    return out


def jaxs(numbers: Any, order: int) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    try:
        import jax
        from jax.experimental.jet import jet
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.asarray(numbers)
    row = [jax.numpy.ones_like(x), *[jax.numpy.zeros_like(x)] * (order - 1)]

    def run(x: Any) -> Any:
        return jet(lambda x: function(jax.numpy, x), (x,), (row,))

    compiled = jax.jit(run)
    return lambda: jax.block_until_ready(run(x)), lambda: jax.block_until_ready(compiled(x))


def orders(size: int, seconds: float) -> None:
    import numpy

    import stride0 as xp

    numbers = numpy.linspace(-1, 1, size)
    x = xp.asarray(numbers)

    def f(x: Any) -> Any:
        return function(xp, x)

    for order in ORDERS:
        cells = [fastest(lambda k=order: xp.autograd.derivatives(f, x, k), seconds)]
        cells.append(fastest(lambda k=order: nested(f, x, k), seconds) if order <= NESTED else math.nan)
        others = jaxs(numbers, order)
        cells += [math.nan] * 2 if others is None else [fastest(call, seconds) for call in others]
        row = " | ".join("-" if math.isnan(t) else f"{t:.2f}" for t in cells)
        print(f"| {order} | {size:,} | {row} |", flush=True)


def loops(n: int, size: int) -> None:
    import stride0 as xp
    from stride0.strided import memory_statistics

    x = xp.linspace(0.0, 1.0, size)
    calls = 0

    def step(y: Any) -> Any:
        nonlocal calls
        calls += 1
        return y + 0.001 * xp.sin(y) * xp.cos(y)

    def plain(x: Any) -> Any:
        for _ in range(n):
            x = step(x)
        return x

    cases: dict[str, Callable[[Any], Any]] = {"plain loop": plain}
    for s in (100, 20, 5):
        cases[f"{s} snapshots"] = lambda x, s=s: xp.autograd.checkpoint_loop(step, x, n, s)
    for name, loop in cases.items():
        calls = 0
        gradient = xp.autograd.grad(lambda x, loop=loop: xp.sum(loop(x) ** 2))
        before = memory_statistics(reset_peak=True)["live_bytes"]
        took = timeit.timeit(lambda g=gradient: g(x), number=1)
        peak = (memory_statistics()["peak_bytes"] - before) / 1e6
        print(f"| {name} | {took * 1e3:.0f} | {calls:,} | {peak:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="for each measurement")
    options = parser.parse_args()
    limit_threads(options.threads)
    print("| order | elements | derivatives | nested jvp | JAX jet | JAX jet, compiled |")
    print("|---:|---:|---:|---:|---:|---:|")
    for size in (1, 100_000):
        orders(size, options.seconds)
    print("\n| loop of 1,000 steps | ms | calls of the step | MB |\n|---|---:|---:|---:|")
    loops(1000, 10_000)


if __name__ == "__main__":
    main()
