"""`stride0.fused`: calls that take part in a pass (in-place operators, reductions, products), and memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from program_helpers import live, numbers, same

import stride0 as xp
from stride0 import strided
from stride0._core.program.program import describe_pending

# The tests choose what is deferred, and compare with eager results.
pytestmark = pytest.mark.usefixtures("eagerly")


class Passes:
    """Counts passes over memory, and bytes of arrays."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.first, self.bytes = xp.fused.stats()["passes"], live()

    def __call__(self) -> tuple[int, int]:
        return xp.fused.stats()["passes"] - self.first, live() - self.bytes


# --- x op= y of a deferred y


def update(x: Any, y: Any) -> None:
    x -= 0.5 * y * y


def update_by_name(x: Any, y: Any) -> None:
    z = y * y + 1
    x *= z
    del z


def update_view(x: Any, y: Any) -> None:
    x[1:-1, ::2] += y[1:-1, ::2] * 3


def update_transposed(x: Any, y: Any) -> None:
    z = x.T
    z += y.T * 2


def update_all(x: Any, y: Any) -> None:
    x[...] += xp.abs(y)


def update_single(x: Any, y: Any) -> None:
    x += xp.astype(y, xp.float32) * 2


UPDATES: dict[str, tuple[int, Callable[[Any, Any], None]]] = {
    "temporary": (1, update),
    "name": (1, update_by_name),
    "view": (1, update_view),
    "transposed": (1, update_transposed),
    "all": (1, update_all),
    "dtype": (1, update_single),
}


@pytest.mark.parametrize("name", UPDATES)
def test_a_computed_array_is_updated_in_the_pass_of_the_operand(name: str) -> None:
    passes, call = UPDATES[name]
    x, y = numbers(60, 40), numbers(60, 40, seed=4)
    expected = xp.asarray(x, copy=True)
    call(expected, y)
    with xp.fused(size=1):
        count = Passes()
        call(x, y)
        assert count()[0] == passes
        assert count()[1] == 0
        assert same(x, expected)


def test_an_update_leaves_what_was_deferred_before() -> None:
    x, y = numbers(500), numbers(500, seed=4)
    a, b = np.array(x), np.array(y)
    with xp.fused(size=1):
        before, later = x * 2, y + 1
        z = y * 3
        x += z
        w = z - later
        x -= x * 0.5
        assert same(before, a * 2)
        a += b * 3
        a -= a * 0.5
        assert same(x, a) and same(w, b * 3 - (b + 1)) and same(z, b * 3) and same(later, b + 1)


def test_a_step_that_is_computed_leaves_its_chain_with_its_cast() -> None:
    a, x = numbers(500), xp.ones(500, dtype=xp.float32)
    with xp.fused(size=1):
        b = xp.exp(a)
        kept = b * 3
        x += b * 2
        steps = [step[0] for step in describe_pending(kept)["steps"]]
        assert steps == ["exp", "multiply", "multiply"]
        del b
        y = xp.sin(a) + kept
        total, most, squares = xp.sum(y), xp.max(y), xp.sum(y * y)
        assert same(y, np.array(xp.sin(a)) + np.array(xp.exp(a)) * 3)
    assert same(total, np.array(xp.sum(y))) and same(most, np.array(xp.max(y)))
    assert same(squares, np.array(xp.sum(y * y)))


def test_an_operand_with_a_name_is_computed_once() -> None:
    x, targets = numbers(500), [numbers(500, seed=k) for k in range(6)]
    expected = [np.array(t) + np.array(xp.exp(x) * 0.5) * (k + 1) for k, t in enumerate(targets)]
    with xp.fused(size=1):
        count, before = Passes(), xp.fused.stats()["steps"]
        y = xp.exp(x) * 0.5
        for k, target in enumerate(targets):
            target += y * (k + 1)
        assert count() == (6, y.nbytes)
        assert xp.fused.stats()["steps"] - before == 2 + 2 * 6
    assert all(same(a, b) for a, b in zip(targets, expected, strict=True))


def test_an_update_that_is_refused_changes_nothing() -> None:
    x, y = numbers(30, 20), numbers(30, 20, seed=4)
    begin = np.array(x)
    locked = xp.asarray(np.frombuffer(begin.tobytes()).reshape(30, 20))
    wide = xp.broadcast_to(x[:1], (30, 20))
    with xp.fused(size=1):
        for target, operand in [(locked, y * 2), (wide, y * 2), (x[0], y * 2), (x, (y > 0) * 1j)]:
            with pytest.raises((TypeError, ValueError)):
                target += operand
        assert same(x, begin) and same(locked, begin)


def test_an_update_of_lent_memory() -> None:
    x, y = numbers(500), numbers(500, seed=4)
    e, expected = np.asarray(x), np.array(x) + np.array(y) * 2
    with xp.fused(size=1):
        x += y * 2
        assert np.array_equal(e, expected)
        e[...] = 0
        assert same(x, np.zeros(500))


def test_a_deferred_array_is_updated_while_others_read_it() -> None:
    x = numbers(20, 30)
    a = np.array(x) * 2
    with xp.fused(size=1):
        y = x * 2
        total = xp.sum(y, axis=1, keepdims=True)
        row = y - total
        y += 1
        z = y * row
        y *= y
        assert same(row, a - np.array(total)) and np.allclose(np.array(total), a.sum(axis=1, keepdims=True))
        assert same(z, (a + 1) * np.array(row)) and same(y, (a + 1) * (a + 1))


# --- x[...] = y of a deferred y


def assign_all(x: Any, y: Any) -> None:
    x[...] = 0.5 * y * y


def assign_view(x: Any, y: Any) -> None:
    x[1:-1, ::2] = y[1:-1, ::2] * 3 + 1


def assign_transposed(x: Any, y: Any) -> None:
    x.T[...] = (y * 2 - 1).T


def assign_order(x: Any, y: Any) -> None:
    x[::-1] = y * 2


ASSIGNMENTS = {"all": assign_all, "view": assign_view, "order": assign_order}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_temporary_is_computed_where_it_is_assigned(name: str) -> None:
    x, y = numbers(60, 40), numbers(60, 40, seed=4)
    expected = xp.asarray(x, copy=True)
    ASSIGNMENTS[name](expected, y)
    with xp.fused(size=1):
        count = Passes()
        xp.memory.stats(reset_peak=True)
        before = live()
        ASSIGNMENTS[name](x, y)
        assert count() == (1, 0) and xp.memory.stats()["peak_bytes"] - before < 100
        assert xp.fused.stats()["pending"] == 0
        assert same(x, expected)


def test_an_assignment_of_what_reads_the_target_or_has_a_name() -> None:
    x, y = numbers(60, 40), numbers(60, 40, seed=4)
    a, b = np.array(x), np.array(y)
    with xp.fused(size=1):
        x[...] = x[::-1] * 2 - x
        a[...] = a[::-1] * 2 - a
        assert same(x, a)
        before, z = x + 1, y * 3
        x[...] = z
        assert same(before, a + 1) and same(x, b * 3)
        x[...] = z - 1
        assert same(z, b * 3) and same(x, b * 3 - 1)
        held = [y - 2]
        x[...] = held[0]
        y[...] = held[0] + x
        assert same(x, b - 2) and same(held[0], b - 2) and same(y, (b - 2) + (b - 2))
        # A part that other code reads is computed too, and keeps its strides.
        part = x.T * 2
        total = part + 1
        x.T[...] = total + part
        assert strided.strides(part) == (1, 40)
        assert same(part, ((b - 2) * 2).T) and same(total, ((b - 2) * 2).T + 1)
        assert same(x, ((b - 2) * 2) + 1 + (b - 2) * 2)


def test_assignments_that_take_no_pass() -> None:
    """Values of another dtype or shape, reductions, and writes to exported or read-only memory."""
    x, y = numbers(60, 40), numbers(60, 40, seed=4)
    b = np.array(y)
    single, lent = xp.zeros((60, 40), dtype=xp.float32), numbers(60, 40)
    e = np.asarray(lent)
    locked = xp.asarray(np.frombuffer(b.tobytes()).reshape(60, 40))
    with xp.fused(size=1):
        single[...] = y * 2
        x[...] = xp.sum(y * 2, axis=0)
        assert same(x, np.broadcast_to(np.array(xp.sum(y * 2, axis=0)), (60, 40)))
        x[0] = xp.sum(y * 2, axis=0)
        lent[...] = y + 1
        with pytest.raises(ValueError, match="read-only"):
            locked[...] = y + 1
        with pytest.raises(ValueError, match="setitem"):
            x[...] = y[:2] * 2
    assert same(single, (b * 2).astype("f4")) and np.array_equal(e, b + 1) and same(locked, b)
    assert same(x[0], np.array(xp.sum(y * 2, axis=0)))


# --- copies to new memory


def test_a_reshape_that_copies_computes_what_it_copies() -> None:
    """The operand stays deferred if computing it again takes no longer than reading it."""
    x = numbers(60, 70)
    b = np.array(x)
    with xp.fused(size=1):
        y = (x - 1.5).T
        passes = Passes()
        y = y * 2
        flat = xp.reshape(y, (-1,))
        assert passes()[0] == 1 and describe_pending(y) is not None and describe_pending(flat) is None
        assert same(flat, ((b - 1.5).T * 2).reshape(-1))
        flat[0] = 7
        assert same(xp.sum(y, axis=0), np.array(xp.sum(xp.asarray((b - 1.5).T * 2), axis=0)))
        assert same(y, (b - 1.5).T * 2)
        costly = xp.exp(y)
        flat = xp.reshape(costly, (-1,))
        assert describe_pending(costly) is None
        assert same(flat, np.array(costly).reshape(-1))


@pytest.mark.parametrize("axis", [0, 1])
def test_joined_results_are_computed_where_they_are_joined(axis: int) -> None:
    x = numbers(60, 70)
    b = np.array(x)
    with xp.fused(size=1):
        y, z = x + 1, x * 2
        passes = Passes()
        joined = xp.concat([y, -y, z], axis=axis)
        assert passes()[0] == 3
        assert same(joined, np.concatenate([b + 1, -(b + 1), b * 2], axis=axis))
        stacked = xp.stack([z - 1, x, z], axis=axis)
        assert same(stacked, np.stack([b * 2 - 1, b, b * 2], axis=axis))
        x += 1
        assert same(y, b + 1) and same(z, b * 2) and same(joined[:60, :70], b + 1)


# --- reductions


def test_what_is_cheap_is_computed_again_rather_than_stored() -> None:
    """A reduction that is needed leaves differences deferred, and computes functions with it."""
    x = numbers(70, 300)

    def normalised(x: Any) -> Any:
        d = x - xp.mean(x, axis=1, keepdims=True)
        return d / xp.sqrt(xp.mean(d * d, axis=1, keepdims=True) + 1e-5)

    expected, d = normalised(x), x - 1
    with xp.fused(size=1):
        count = Passes()
        xp.memory.stats(reset_peak=True)
        before = live()
        found = normalised(x)
        assert same(found, expected)
        assert xp.memory.stats()["peak_bytes"] - before < 1.2 * x.nbytes
        count.restart()
        kept = x - 1
        total, most = float(xp.sum(kept)), float(xp.max(kept * 2))
        assert count()[0] == 3 and count()[1] < 100  # the maximum starts from the first elements
        with xp.fused(size=0):
            assert total == float(xp.sum(d)) and most == float(xp.max(d * 2))
        # Several at once, more than a chain can hold.
        for k in range(9):
            first, second = xp.sum(kept * k, axis=0), xp.sum(kept + k)
            assert float(second) == float(xp.sum(d + k)) and same(first, xp.sum(d * k, axis=0))
        assert same(kept, d)
        count.restart()
        e = xp.exp(x)
        total = float(xp.sum(e))
        assert count()[0] == 1 and count()[1] >= e.nbytes
        with xp.fused(size=0):
            assert total == float(xp.sum(xp.exp(x)))


def test_a_loop_of_reductions_stores_now_and_then() -> None:
    x = numbers(50, 60)

    def program(x: Any) -> Any:
        for _ in range(40):
            x = x - xp.mean(x, axis=1, keepdims=True) * 0.5
        return x

    expected = program(x)
    with xp.fused(size=1):
        before = xp.fused.stats()["steps"]
        found = program(x)
        assert same(found, expected)
        # 40 differences, products and means, and differences that are computed again.
        assert xp.fused.stats()["steps"] - before < 40 * 8


@pytest.mark.parametrize(
    ("shape", "axis"), [((50, 30), 1), ((50, 30), 0), ((3, 70, 200), -1), ((70_000,), 0), ((300, 400), None)]
)
def test_an_array_is_written_and_reduced_in_one_pass(shape: tuple[int, ...], axis: int | None) -> None:
    x = numbers(*shape)
    expected = xp.exp(x - 1)
    total = xp.sum(expected, axis=axis, keepdims=True)
    with xp.fused(size=1):
        count = Passes()
        e = xp.exp(x - 1)
        s = xp.sum(e, axis=axis, keepdims=True)
        assert same(s, total)
        assert count() == (1, e.nbytes + s.nbytes)
        assert same(e, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
def test_a_mean_and_a_narrower_sum_belong_to_their_pass(dtype: str) -> None:
    x = xp.asarray(numbers(90, 40), dtype=getattr(xp, dtype), copy=True)
    expected = [xp.mean(x * 3, axis=0), xp.sum(x * 3, axis=1), xp.mean(x * 3)]
    with xp.fused(size=1):
        count = Passes()
        found = [xp.mean(x * 3, axis=0), xp.sum(x * 3, axis=1), xp.mean(x * 3)]
        assert count() == (0, 0)
        for a, b in zip(found, expected, strict=True):
            assert same(a, b) and a.dtype == b.dtype and strided.strides(a) == strided.strides(b)
        assert count()[0] == 3


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "both": lambda x, y: xp.vecdot(x + 1, y * 2),
    "one array": lambda x, y: xp.vecdot(x + 1, x + 1),
    "first computed": lambda x, y: xp.vecdot(x, y * 2),
    "second computed": lambda x, y: xp.vecdot(y - x, x),
    "other axis": lambda x, y: xp.vecdot(x - 1, y * x, axis=-2),
    "two dtypes": lambda x, y: xp.vecdot(xp.astype(x, xp.float32) * 3, y * 2),
    "transposed": lambda x, y: xp.vecdot(x.T + 1, y.T * 2),
    "complex": lambda x, y: xp.vecdot(x * 1j + y, y - 2j),
}


@pytest.mark.parametrize("shape", [(40, 60), (3, 9000), (9000, 3), (300, 400), (1, 70_000), (2, 5)])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_summed_up_in_one_pass(name: str, shape: tuple[int, ...]) -> None:
    x, y = numbers(*shape), numbers(*shape, seed=4)
    expected = PRODUCTS[name](x, y)
    with xp.fused(size=1):
        count = Passes()
        found = PRODUCTS[name](x, y)
        assert count() == (0, 0)
        assert same(found, expected)
        assert count() == (1, found.nbytes)
    assert found.dtype == expected.dtype and strided.strides(found) == strided.strides(expected)


def test_products_of_what_is_not_in_one_order() -> None:
    x, y = numbers(40, 60), numbers(60, 40, seed=4)
    wide = numbers(40, 120, seed=5)
    calls: list[Callable[[], Any]] = [
        lambda: xp.vecdot(x + 1, y.T * 2),
        lambda: xp.vecdot(x + 1, y.T),
        lambda: xp.vecdot(x + 1, wide[:, ::2]),
        lambda: xp.vecdot(x + 1, x[0]),
        lambda: xp.vecdot(x + 1, xp.sum(x * y.T, axis=0)),
        lambda: xp.vecdot(xp.sum(x * 2, axis=0), xp.sum(x * y.T, axis=0)),
    ]
    for call in calls:
        expected = call()
        with xp.fused(size=1):
            assert same(call(), expected)


def test_many_reductions_of_one_chain() -> None:
    x, y = numbers(200, 300), numbers(200, 300, seed=4)

    def program() -> list[Any]:
        d = x - y
        out = [xp.sum(d * d, axis=1), xp.max(d, axis=0), xp.vecdot(d, y), xp.mean(d), xp.vecdot(d, d * 2)]
        return [*out, d, xp.any(d > 9), xp.min(d * y, axis=1), xp.prod(d, axis=(0, 1))]

    expected = program()
    with xp.fused(size=1):
        for order in (1, -1):
            found = program()
            assert all(same(a, b) for a, b in zip(found[::order], expected[::order], strict=True))


# --- memory


def test_the_peak_of_a_chain_is_its_operands_and_results() -> None:
    x, y = numbers(300, 1000), numbers(300, 1000, seed=4)
    each = x.nbytes

    def peak(call: Callable[[], Any]) -> float:
        with xp.fused():
            before = xp.memory.stats(reset_peak=True)["live_bytes"]
            kept = call()
            float(kept[0, 0])
        return float(xp.memory.stats()["peak_bytes"] - before) / each

    def softmax() -> Any:
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    def norms() -> Any:
        return xp.sum((x - y) ** 2 * xp.exp(x), axis=1, keepdims=True)

    assert peak(lambda: (x - y) * (x + y) / (x * x + 1) + xp.sqrt(xp.abs(x)) * y) < 1.01
    assert peak(lambda: [x + y, x - y][0] * 2) < 1.01
    assert peak(softmax) < 2.02
    assert peak(norms) < 0.02


def test_loops_are_bounded_whatever_they_update() -> None:
    for dtype in ("float64", "float32"):
        x, y = numbers(10_000, dtype=dtype), numbers(10_000, dtype=dtype)
        begin = np.array(x)
        with xp.fused():
            before = xp.memory.stats(reset_peak=True)["live_bytes"]
            for _ in range(10**4):
                x = x * 0.99 + 0.01
            for _ in range(1000):
                y *= 0.99
                y += x * 0.01
            assert xp.memory.stats()["peak_bytes"] - before <= 5 * x.nbytes
        one, other = type(begin[0])(0.99), type(begin[0])(0.01)
        for _ in range(10**4):
            begin = begin * one + other
        assert same(x, begin)


# --- processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_what_the_parent_computes() -> None:
    """A chain that another thread of the parent computes takes further steps in the child."""
    x = numbers(400_000, dtype="complex128")
    small = numbers(1000)
    met = False
    for _ in range(5):
        with xp.fused(size=1):
            y = (x + 1) ** 0.7
            for _ in range(5):
                y = (y + x) ** 0.7
            worker = threading.Thread(target=lambda y=y: y[0])
            worker.start()
            time.sleep(0.005)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    before = live()
                    z = y + 1
                    code = 0 if live() == before else 2
                    code = code if same(small * 2, np.array(small) * 2) else 3
                    del z
                finally:
                    os._exit(code)
            alive = worker.is_alive()
            _, status = os.waitpid(child, 0)
            worker.join()
            if alive:
                met = True
                assert os.waitstatus_to_exitcode(status) == 0
        if met:
            break
    assert met
