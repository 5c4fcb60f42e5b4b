"""Small programs that run many times: eager, replayed by `stride0.replay`, and compiled by `jax.jit`.

A row has the time of one call in microseconds, and the speed of the replay compared with eager and compiled
calls. It also has the time of the first call, which records, as a multiple of an eager call. Compile times
are not counted. JAX is left out if it is not installed. The programs of a row run in turn, and the fastest of
many short runs counts.
"""

from __future__ import annotations

import argparse
import functools
import math
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common.machine import limit_threads

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def matrix(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape) / math.sqrt(shape[-1])


def programs(
    xp: Any, value_and_grad: Callable[..., Any], grad: Callable[..., Any], scan: Any, loop: Any
) -> dict[str, Program]:
    """Return the programs in a namespace, each with NumPy arrays and numbers as arguments."""

    def sines(x: Any) -> Any:
        for _ in range(50):
            x = xp.sin(x)
        return xp.sum(x)

    def polynomial(x: Any) -> Any:
        return xp.sum(((((0.3 * x + 1.2) * x - 0.7) * x + 0.1) * x + 2.0) * x)

    def runge_kutta(y: Any, h: Any) -> Any:
        def slope(y: Any) -> Any:
            return xp.stack([y[1], -xp.sin(y[0])])

        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3))

    def kinematics(angles: Any, lengths: Any) -> Any:
        turn = position_x = position_y = 0.0 * angles[0]
        for k in range(7):
            turn = turn + angles[k]
            position_x = position_x + lengths[k] * xp.cos(turn)
            position_y = position_y + lengths[k] * xp.sin(turn)
        return position_x**2 + position_y**2

    def bodies(x: Any, v: Any, m: Any, h: Any) -> Any:
        between = x[None, :, :] - x[:, None, :]
        squared = xp.sum(between * between, axis=-1) + 0.01
        pull = xp.sum(m[None, :, None] * between * (1.0 / (squared * xp.sqrt(squared)))[:, :, None], axis=1)
        v = v + h * pull
        return x + h * v, v

    def kalman(mean: Any, spread: Any, seen: Any, step: Any, noise: Any, view: Any, error: Any) -> Any:
        mean, spread = step @ mean, step @ spread @ step.T + noise
        gain = spread @ view.T @ xp.linalg.inv(view @ spread @ view.T + error)
        return mean + gain @ (seen - view @ mean), spread - gain @ view @ spread

    def filtered(mean: Any, spread: Any, seen: Any, *model: Any) -> Any:
        def body(state: Any, seen: Any) -> Any:
            state = kalman(*state, seen, *model)
            return state, state[0]

        return scan(body, (mean, spread), seen)[1]

    def integrated(y: Any, h: Any) -> Any:
        return xp.sum(loop(10_000, lambda k, y: runge_kutta(y, h), y) ** 2)

    def qubits(angles: Any, state: Any, signs: Any, weights: Any) -> Any:
        for k in range(8):
            pairs = xp.reshape(state, (2**k, 2, -1))
            c, s = xp.cos(angles[k]) + 0j, 1j * xp.sin(angles[k])
            zero, one = pairs[:, 0], pairs[:, 1]
            state = xp.reshape(xp.stack([c * zero - s * one, c * one - s * zero], axis=1), (-1,)) * signs
        return xp.sum(xp.real(state * xp.conj(state)) * weights)

    def cell(x: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> Any:
        gates = w @ x + u @ h + b
        one, two, three, four = (gates[32 * k : 32 * k + 32] for k in range(4))
        c = c / (1 + xp.exp(-two)) + xp.tanh(three) / (1 + xp.exp(-one))
        return xp.tanh(c) / (1 + xp.exp(-four)), c

    def network(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
        out = xp.tanh(x @ w1 + b1) @ w2 + b2
        return xp.mean((out - y) ** 2)

    x = np.linspace(0.1, 1.0, 10)
    model = (np.eye(4), 0.1 * np.eye(4), matrix(2, 4), np.eye(2))
    lstm = (matrix(32), matrix(32), matrix(32), matrix(128, 32), matrix(128, 32), matrix(128))
    state, bits = np.eye(1, 256, dtype=complex)[0], np.arange(256)
    return {
        "50 sines, value and gradient": (value_and_grad(sines), (x,)),
        "polynomial, gradient": (grad(polynomial), (x,)),
        "Runge-Kutta step": (runge_kutta, (np.asarray([1.0, 0.0]), 0.01)),
        "7 joints, gradient": (grad(kinematics), (np.linspace(0.1, 0.7, 7), np.ones(7))),
        "5 bodies, step": (bodies, (matrix(5, 3), matrix(5, 3, seed=1), np.ones(5), 0.01)),
        "Kalman filter, step": (
            kalman,
            (matrix(4), np.eye(4), matrix(2), *model),
        ),
        "Kalman filter, 200 steps": (filtered, (matrix(4), np.eye(4), matrix(200, 2), *model)),
        "Runge-Kutta, 10,000 steps": (integrated, (np.asarray([1.0, 0.0]), 0.001)),
        "Runge-Kutta, 10,000 steps, gradient": (grad(integrated), (np.asarray([1.0, 0.0]), 0.001)),
        "LSTM cell of 32": (cell, lstm),
        "LSTM cell of 32, gradient": (grad(lambda *x: xp.sum(cell(*x)[0])), lstm),
        "8 qubits": (
            qubits,
            (np.linspace(0.1, 0.8, 8), state, 1.0 - 2.0 * (bits & bits >> 1 != 0), 1.0 - 2.0 * (bits % 2)),
        ),
        "784-256-10, 32 rows, gradient": (
            value_and_grad(network),
            (matrix(784, 256), matrix(256), matrix(256, 10), matrix(10), matrix(32, 784), matrix(32, 10)),
        ),
    }


def compiled() -> tuple[dict[str, Program], Callable[[Any], Any]] | None:
    """Return the programs compiled by JAX, and what waits for a result."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    loop = functools.partial(jax.lax.fori_loop, 0)
    found = programs(jax.numpy, jax.value_and_grad, jax.grad, jax.lax.scan, loop)

    def arrays(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(jax.numpy.asarray(x) if isinstance(x, np.ndarray) else x for x in arguments)

    return {name: (jax.jit(f), arrays(args)) for name, (f, args) in found.items()}, jax.block_until_ready


def fastest(calls: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Return the time of each call in microseconds: the fastest of short runs that take turns."""
    numbers = []
    for call in calls:
        call()
        numbers.append(max(1, int(2e-3 / max(timeit.timeit(call, number=3) / 3, 1e-7))))
    best, spent = [math.inf] * len(calls), 0.0
    while spent < seconds:
        for k, (call, number) in enumerate(zip(calls, numbers, strict=True)):
            took = timeit.timeit(call, number=number)
            best[k], spent = min(best[k], took / number), spent + took
    return [1e6 * time for time in best]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks replay", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="time of each row")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="rows whose names contain this text")
    args = parser.parse_args()
    limit_threads(args.threads)
    import stride0 as xp

    others = compiled()
    print(
        f"{'':36s}{'eager':>11s}{'replay':>10s}{'jit':>10s}{'eager/replay':>14s}{'jit/replay':>12s}{'first/eager':>13s}"
    )
    ratios: list[float] = []
    for name, (f, numbers) in programs(
        xp, xp.autograd.value_and_grad, xp.autograd.grad, xp.scan, xp.loop
    ).items():
        if args.only not in name:
            continue
        given = tuple(xp.asarray(x) if isinstance(x, np.ndarray) else x for x in numbers)
        replayed = xp.replay(f)
        calls: list[Callable[[], Any]] = [functools.partial(f, *given), functools.partial(replayed, *given)]
        if others is not None:
            jitted, wait = others[0][name], others[1]
            calls.append(functools.partial(lambda f, x, wait: wait(f(*x)), *jitted, wait))
        eager, again, *jit = fastest(calls, args.seconds)
        first = 1e6 * min(timeit.timeit(functools.partial(xp.replay(f), *given), number=1) for _ in range(3))
        found = f"{jit[0]:10.2f}" if jit else f"{'-':>10s}"
        ratio = f"{jit[0] / again:12.2f}" if jit else f"{'-':>12s}"
        ratios += [jit[0] / again] if jit else []
        print(f"{name:36s}{eager:11.2f}{again:10.2f}{found}{eager / again:14.2f}{ratio}{first / eager:13.1f}")
    if ratios:
        print(f"geometric mean of jit/replay: {math.prod(ratios) ** (1 / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
