"""Helpers of the programs of `random_programs.py` and of the tests of `stride0.fused`."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import os
import pickle
import signal
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import stride0 as xp
from stride0 import strided


def elements(seed: int, shape: tuple[int, ...], dtype: str) -> Any:
    """Random elements, some with NaN, infinities and both zeros, or the extreme integers."""
    rng, kind = np.random.default_rng(seed), np.dtype(dtype).kind
    size = int(np.prod(shape))
    if kind == "b":
        return (rng.integers(0, 2, size) > 0).reshape(shape)
    if kind in "iu":
        info = np.iinfo(dtype)
        out = rng.integers(max(info.min, -9), 10, size).astype(dtype)
        special: list[Any] = [info.min, info.max, 0, 1]
    else:
        out = rng.normal(0, 3, size).astype(dtype)
        if kind == "c":
            out += (1j * rng.normal(0, 3, size)).astype(dtype)
        special = [np.nan, np.inf, -np.inf, -0.0, 0.0]
    if size > 20 and seed % 2:
        out[rng.integers(0, size, len(special))] = special
    return out.reshape(shape)


def make(seed: int, shape: tuple[int, ...], dtype: str, layout: str) -> Any:
    """An array of our own memory in a layout."""
    if layout == "T":
        whole = xp.asarray(elements(seed, shape[::-1], dtype), copy=True)
        return xp.permute_dims(whole, tuple(range(len(shape)))[::-1])
    if layout == "sliced":
        whole = xp.asarray(elements(seed, tuple(2 * n for n in shape), dtype), copy=True)
        return whole[(*[slice(None, None, 2)] * len(shape), ...)]
    whole = xp.asarray(elements(seed, shape, dtype), copy=True)
    if layout == "negative":
        return xp.flip(whole)
    if layout == "broadcast" and shape:
        return xp.broadcast_to(whole[:1], shape)
    return whole


def live() -> int:
    """Bytes of all arrays; a deferred array has none yet."""
    return int(xp.memory.stats()["live_bytes"])


def numbers(*shape: int, dtype: str = "float64", seed: int = 3) -> Any:
    """An array of our own memory."""
    return xp.asarray(np.random.default_rng(seed).normal(0, 3, shape).astype(dtype), copy=True)


def same(x: Any, expected: Any) -> bool:
    """Whether all bits are equal."""
    return bool(np.array(x).tobytes() == np.array(expected).tobytes())


def in_thread(call: Callable[[], Any]) -> Any:
    """The result of a call in another thread that has the settings of this thread."""
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,))
    thread.start()
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def attempt(call: Callable[[], Any]) -> Any:
    """The result of a call, or its error."""
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """The results of calls that run at the same time, each in its thread."""
    found: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def work(number: int) -> None:
        barrier.wait()
        found[number] = attempt(calls[number])

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, k)) for k in range(len(calls))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def during(call: Callable[[], Any], handle: Callable[[], Any], after: float) -> list[Any]:
    """The results of a call and of a function that a signal handler calls during or after it."""
    found: list[Any] = []

    def handler(number: int, frame: Any) -> None:
        if not found:
            found.append(None)
            found[0] = attempt(handle)

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return [attempt(call), attempt(handle)]
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        out = attempt(call)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        handler(0, None)
        signal.signal(signal.SIGALRM, before)
    return [out, found[0]]


def in_child(call: Callable[[], str]) -> str:
    """The result of a call in a fork of this process."""
    if not hasattr(os, "fork"):
        return call()
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which the child does not use
        child = os.fork()
    if child == 0:
        try:
            os.close(read)
            os.write(write, str(attempt(call)).encode()[:4000])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        shown = pipe.read().decode()
    os.waitpid(child, 0)
    return shown


def namespace(scope: Callable[..., Any]) -> dict[str, Any]:
    """The global names of a program whose scopes are these."""

    def stream(a: Any, b: Any) -> Iterator[Any]:
        with scope():
            t = a + b
            yield t * 2
            t += 1
            yield t
            yield a - t

    def nested(a: Any, b: Any) -> Iterator[Any]:
        """A generator that is suspended and resumed inside scopes of several sizes."""
        with scope(20):
            t = a - b
            with scope(0):
                u = t * 2
                yield u
                with scope(2):
                    t *= 3
                    try:
                        yield t + u
                    except KeyError:
                        t = t - u
                yield t
            u[...] = t
            yield u + a

    async def step(a: Any, b: Any) -> Any:
        with scope():
            t = a * b
            await asyncio.sleep(0)
            t = t + a
            await asyncio.sleep(0)
            return t - 1

    async def both(a: Any, b: Any) -> Any:
        first, second = await asyncio.gather(step(a, b), step(b, a))
        return first + second

    def together(a: Any, b: Any) -> Any:
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(both(a, b))
        finally:
            loop.close()

    def decorated(a: Any, b: Any) -> Any:
        with scope():
            return [a * b - 1, a + b][a.ndim % 2]

    return {
        "xp": xp, "np": np, "strided": strided, "copy": copy, "pickle": pickle, "weakref": weakref,
        "scope": scope, "make": make, "in_thread": in_thread, "stream": stream, "together": together,
        "decorated": decorated, "nested": nested, "at_once": at_once, "during": during, "in_child": in_child,
        "contextlib": contextlib,
    }  # fmt: skip
