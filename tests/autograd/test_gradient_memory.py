"""The tape frees what it keeps alive without the garbage collector and without recursion."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from free_threading import together
from numpy.testing import assert_allclose

import stride0 as xp
from stride0.autograd import (
    Tape,
    checkpoint,
    custom_vjp,
    grad,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from stride0.autograd._tape import tape as _tape
from stride0.strided import memory_statistics

Function = Callable[..., Any]
N = 10_000  # elements of an array whose memory is counted


@pytest.fixture(autouse=True)
def without_garbage_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture(autouse=True)
def computed_at_once() -> Iterator[None]:
    """If the process defers by default, pending results would keep their operands alive."""
    before = xp.fused.set_default(0)
    try:
        yield
    finally:
        xp.fused.set_default(before)


def live() -> int:
    return int(memory_statistics()["live_bytes"])


def peak_of(call: Callable[[], Any]) -> int:
    """The peak of allocated bytes during a call, above the bytes before it."""
    memory_statistics(reset_peak=True)
    before = live()
    call()
    return int(memory_statistics()["peak_bytes"]) - before


@custom_vjp
def squared(x: Any) -> Any:
    return x**2


squared.defvjp(lambda x: (x**2, x), lambda x, g: (2 * x * g,))


@custom_vjp
def two_results(x: Any) -> Any:
    return x * 2, x * 3


two_results.defvjp(lambda x: ((x * 2, x * 3), x), lambda x, g: (g[0] * 2 + g[1] * 3,))


def in_place(x: Any) -> Any:
    y = x * 1
    y += x
    y[1:] *= 2
    y *= y[::-1]
    return xp.sum(y)


def with_tape(x: Any) -> Any:
    with Tape() as t:
        a = t.watch(x)
        y = xp.sum(xp.exp(a))
        t.gradient(t.gradient(y, a)[0], a)
    return t.gradient(y, a)


LOOPS: dict[str, Function] = {
    "grad": grad(lambda x: xp.sum(xp.exp(x) * x)),
    "second": grad(lambda x: xp.sum(grad(lambda y: xp.sum(y**3))(x))),
    "vjp": lambda x: vjp(xp.sin, x)[1](x),
    "jvp": lambda x: jvp(xp.sin, (x,), (x,)),
    "hvp": lambda x: hvp(lambda y: xp.sum(y**3), x, x),
    "jacobian": lambda x: jacobian(lambda y: xp.sum(y**2))(x),
    "several results": grad(lambda x: xp.sum(xp.unstack(xp.stack([x, x * 2]))[1])),
    "in place": grad(in_place),
    "Tape": with_tape,
    "custom_vjp": grad(lambda x: xp.sum(squared(x))),
    "custom_vjp of two results": grad(lambda x: xp.sum(two_results(x)[1])),
    "checkpoint": grad(lambda x: xp.sum(checkpoint(lambda u: xp.sin(u) * u)(x))),
    "checkpoint of two results": grad(lambda x: xp.sum(checkpoint(lambda u: (xp.sin(u), u * 2))(x)[0])),
    "second of checkpoint": grad(lambda x: xp.sum(grad(lambda y: xp.sum(checkpoint(xp.sin)(y)))(x))),
}


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_is_left(name: str) -> None:
    x = xp.ones(N)
    LOOPS[name](x)
    before = live()
    for _ in range(3):
        LOOPS[name](x)
    assert live() == before


def test_arrays_die_with_their_last_name() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        y = x * 2
        z = xp.sin(y)
        seen.extend(weakref.ref(v) for v in (x, y, z))
        z[0] = 5.0
        return xp.sum(x) + xp.sum(z[1:])

    grad(f)(xp.ones(3))
    assert len(seen) == 3 and all(r() is None for r in seen)


def test_intermediate_values_without_a_use_are_freed_at_once() -> None:
    def f(x: Any) -> Any:
        before = live()
        for _ in range(5):
            xp.exp(x) * xp.sin(x)
        assert live() == before
        return xp.sum(x)

    grad(f)(xp.ones(N))


@pytest.mark.parametrize("function", [grad, value_and_grad, vjp])
def test_exceptions_leave_nothing(function: Function) -> None:
    x, kept = xp.ones(N), xp.zeros(N)

    def f(x: Any) -> Any:
        y = xp.exp(x) * x
        kept[...] = y
        raise ArithmeticError(y.shape)

    def call() -> None:
        with pytest.raises(ArithmeticError):
            if function is vjp:
                vjp(f, x)
            else:
                function(f)(x)

    call()
    kept[...] = 0.0  # the argument keeps its history until it is overwritten
    before = live()
    for _ in range(3):
        call()
        kept[...] = 0.0
    assert live() == before
    # Recording has ended: conversions are allowed, and gradients ignore earlier writes.
    assert float(kept[0]) == 0.0
    assert_allclose(np.asarray(grad(lambda x: xp.sum(x * kept))(x)), 0)


def test_exceptions_in_the_backward_pass() -> None:
    def fail(kept: Any, g: Any) -> Any:
        raise ArithmeticError

    failing = custom_vjp(lambda x: x * 1)
    failing.defvjp(lambda x: (x * 1, None), fail)
    x = xp.ones(N)

    def call() -> None:
        with pytest.raises(ArithmeticError):
            grad(lambda x: xp.sum(xp.exp(failing(x) * x)))(x)

    call()
    before = live()
    for _ in range(3):
        call()
    assert live() == before


# --- long ones


def test_deep_chains() -> None:
    """A million operations: neither the backward pass nor the release of the graph recurses."""

    def f(x: Any) -> Any:
        for _ in range(10**6):
            x = -x
        return x

    assert float(grad(f)(xp.asarray(1.0))) == 1


def test_deep_chains_that_nobody_differentiates() -> None:
    before = live()
    with Tape() as t:
        x = t.watch(xp.asarray(0.5))
        for _ in range(200_000):
            x = xp.sin(x)
    assert live() > before + 10**5
    del x
    assert live() <= before + 100


@pytest.mark.parametrize(
    "step",
    [
        lambda x: xp.unstack(xp.stack([x, x]))[0],
        checkpoint(lambda x: x + 1.0),
        lambda x: xp.broadcast_arrays(x, x)[1],
        lambda x: x[...],
        lambda x: x.__imul__(1.0),
        lambda x: x.__setitem__(0, x[0] * 1) or x,
    ],
    ids=["several results", "checkpoint", "broadcast_arrays", "views", "in place", "items"],
)
def test_deep_chains_of_other_nodes(step: Function) -> None:
    def f(x: Any) -> Any:
        x = x * 1
        for _ in range(5_000):
            x = step(x)
        return xp.sum(x)

    assert_allclose(np.asarray(grad(f)(xp.ones(1))), [1])


def test_wide_graphs_are_walked_once() -> None:
    """Each node of a graph with 2**200 paths is visited once."""

    def f(x: Any) -> Any:
        for _ in range(200):
            x = 0.5 * (x + x)
        return x

    assert float(grad(f)(xp.asarray(1.0))) == 1


def test_in_place_loops_keep_nothing() -> None:
    def f(x: Any) -> Any:
        total = xp.zeros(N)
        for _ in range(100):
            total += x
        return xp.sum(total)

    assert peak_of(lambda: grad(f)(xp.ones(N))) < 8 * 8 * N


def test_writes_to_a_constant_are_not_collected() -> None:
    """The log of writes does not grow with their number, although masks are copied into it."""

    def f(x: Any, count: int) -> Any:
        y = xp.sum(x * 2)
        other, mask = xp.zeros(N), xp.ones(N, dtype=xp.bool)
        z = xp.sum(x * other[:1])  # from here on writes are logged
        for _ in range(count):
            other[mask] = 1.0
        return y + 0 * z

    def peak(count: int) -> int:
        return peak_of(lambda: vjp(lambda x: f(x, count), xp.ones(N)))

    assert peak(40) < peak(4) + 10 * N


def test_recurrences_are_not_quadratic_in_memory() -> None:
    """Cotangents of x[k] are freed during the pass; each is a view that keeps all of z alive."""
    n = 200

    def f(x: Any) -> Any:
        z = xp.zeros(N)
        for k in range(1, n):
            z[k] = z[k - 1] * 0.5 + x[k]
        return xp.sum(z)

    assert peak_of(lambda: grad(f)(xp.ones(N))) < 20 * 8 * N


def test_values_are_freed_while_the_backward_pass_runs() -> None:
    """Cotangents of a chain are not kept: the peak does not grow with its length."""

    def f(x: Any) -> Any:
        for _ in range(50):
            x = x + 1.0
        return xp.sum(x)

    assert peak_of(lambda: grad(f)(xp.ones(N))) < 8 * 8 * N


def test_checkpoint_keeps_only_its_arguments() -> None:
    """The record of the first run is not kept."""

    def deep(u: Any) -> Any:
        for _ in range(20):
            u = xp.sin(u)
        return u

    def kept(f: Function) -> int:
        x = xp.ones(N)
        before = live()
        result = vjp(f, x)
        assert result is not None
        return live() - before

    assert kept(deep) > 19 * 8 * N
    assert kept(checkpoint(deep)) <= 3 * 8 * N


@pytest.mark.usefixtures("eagerly")  # with STRIDE0_FUSED=1 there is no product of (n, m) to compare with
def test_outer_product_has_no_large_temporary() -> None:
    """The gradient of sum(a * b) for (n, 1) and (1, m) needs O(n + m) memory more than the (n, m) product."""
    n, m = 500, 400
    a, b = xp.ones((n, 1)), xp.ones((1, m))
    both = grad(lambda a, b: xp.sum(a * b), argnums=(0, 1))
    both(a, b)
    forward = peak_of(lambda: xp.sum(a * b))
    assert forward >= 8 * n * m
    assert peak_of(lambda: both(a, b)) < forward + 4 * 8 * (n + m)
    # Only the backward pass, with an untracked cotangent.
    _, pullback = vjp(lambda a, b: a * b, a, b)
    c = xp.ones((n, m))
    assert peak_of(lambda: pullback(c)) < 4 * 8 * (n + m)


# --- untracked arrays have no overhead


class Watcher:
    """Counts how often the tape asks for the line of a write."""

    def __init__(self, function: Function) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self.function(*args)


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Watcher:
    # A tape of another test may be in a cycle that is not freed yet; while a tape exists, writes are logged.
    gc.collect()
    out = Watcher(_tape.frame_of_caller)
    monkeypatch.setattr(_tape, "frame_of_caller", out)
    return out


def test_writes_are_logged_while_it_matters(watcher: Watcher) -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y[0] = 0.0
        return xp.sum(y)

    grad(f)(xp.ones(3))
    assert watcher.calls == 1


def test_writes_elsewhere_are_not_logged(watcher: Watcher) -> None:
    def f(x: Any) -> Any:
        y = xp.ones(3)
        y[0] = 5.0
        y += 1
        return xp.sum(x)

    grad(f)(xp.ones(3))
    assert watcher.calls == 0


def test_storages_are_ordinary_again_when_the_last_tape_is_gone(watcher: Watcher) -> None:
    """A write does not start to log a storage again whose log has ended."""
    x, c = xp.ones(3), xp.ones(3)
    value, g = value_and_grad(lambda x: xp.sum(x * c))(x)
    for a in (x, c, g, value):
        for _ in range(3):
            a[...] = 2.0
            a += 1
            a[...] = g[:1] * 1 if a.ndim else 3.0
    assert watcher.calls == 0


# --- tapes in cycles


TAPE_IN_CYCLE = """
    t = Tape()
    t.me = [t]
    with t:
        a = t.watch(xp.ones(N))
        y = xp.sum(a * a)
    del t
"""

# The traceback of an exception holds the frame with the tape.
EXCEPTION_IN_CYCLE = """
    try:
        grad(lambda x: fail(xp.exp(x)))(xp.ones(N))
    except ArithmeticError as error:
        error.me = error
"""

PROGRAM = """
import gc
import stride0 as xp
from stride0.autograd import Tape, grad

N = 10_000
gc.disable()

def fail(x):
    raise ArithmeticError

def once():
{body}

before = xp.strided.memory_statistics()["live_bytes"]
for _ in range(5):
    once()
    gc.collect()
assert xp.strided.memory_statistics()["live_bytes"] == before
"""


@pytest.mark.parametrize("body", [TAPE_IN_CYCLE, EXCEPTION_IN_CYCLE], ids=["tape", "exception"])
def test_tapes_in_cycles_are_collected(body: str) -> None:
    """In a separate process, because a failure was a segmentation fault."""
    command = [sys.executable, "-c", PROGRAM.format(body=body)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_results_outlive_their_tapes() -> None:
    """When the tape is freed, recorded arrays are untracked and keep nothing else alive."""
    kept = []
    before = live()
    for _ in range(3):
        t = Tape()
        with t:
            a = t.watch(xp.ones(N))
            kept.append(xp.sum(xp.exp(a) * a))
        del t, a
    assert live() - before < 3 * 64
    assert float(kept[0]) == pytest.approx(N * np.e)


def test_tapes_end_and_go_in_any_order() -> None:
    tapes = [Tape() for _ in range(4)]
    x = xp.ones(2)
    for t in tapes:
        t.__enter__()
        x = t.watch(x) * 2
    y = xp.sum(x * x)
    for k in (1, 3, 0, 2):
        tapes[k].__exit__()
    kept = tapes.pop(2)
    del tapes[1], tapes[0]
    assert_allclose(np.asarray(kept.gradient(y, x)), 32)
    tapes.clear()
    assert_allclose(np.asarray(kept.gradient(y, x)), 32)


# --- threads


def test_threads() -> None:
    rng = np.random.default_rng(0)
    constants = [xp.asarray(rng.normal(size=500)) for _ in range(3)]
    copies = [np.array(c) for c in constants]

    def work(k: int) -> None:
        for i in range(40):
            x = xp.full((500,), float(k + 1))
            a, b = i % 3, (i + 1) % 3

            def f(x: Any, a: int = a, b: int = b) -> Any:
                y = xp.sin(x * constants[a])
                y += constants[b]
                y[::2] *= constants[b][::2]
                return xp.sum(y * constants[b])

            expected = np.cos((k + 1) * copies[a]) * copies[a] * copies[b]
            expected[::2] *= copies[b][::2]
            assert_allclose(np.asarray(grad(f)(x)), expected, rtol=1e-10)
            if i % 5 == 0:
                assert_allclose(np.asarray(hvp(lambda x: xp.sum(x**3), x, x)), 6.0 * (k + 1) ** 2)

    together(*(partial(work, k) for k in range(4)))


def test_pullbacks_in_another_thread() -> None:
    _, pullback = vjp(lambda x: xp.exp(x), xp.zeros(3))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(pullback(xp.ones(3))[0]))
    thread.start()
    thread.join()
    assert_allclose(np.asarray(found[0]), 1)


def test_tapes_of_other_threads_do_not_matter() -> None:
    """While one thread records, arrays of another are ordinary: they may be converted and written."""
    inside, done = threading.Event(), threading.Event()

    def f(x: Any) -> Any:
        y = x * 2
        inside.set()
        done.wait(10)
        return xp.sum(y)

    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(grad(f)(xp.ones(2))))
    thread.start()
    assert inside.wait(10)
    z = xp.ones(2) * 3
    z[0] = 1.0
    assert np.asarray(z).tolist() == [1, 3]
    assert float(grad(lambda x: x * x)(xp.asarray(2.0))) == 4
    done.set()
    thread.join()
    assert_allclose(np.asarray(found[0]), 2)


def test_a_pullback_does_not_keep_the_auxiliary_value() -> None:
    class Kept:
        """Neither an array nor a structure, so it is passed through."""

    y, pullback, aux = vjp(lambda x: (xp.sum(x * x), Kept()), xp.asarray([1.0, 2.0]), has_aux=True)
    seen = weakref.ref(aux)
    del aux
    gc.collect()
    assert seen() is None
    assert pullback(xp.ones_like(y))[0].tolist() == [2.0, 4.0]
