"""Loops that run in blocks: operands that are transposed while they are read, results that bypass the caches.

Thresholds are lowered, so that small arrays are handled as large ones; every test checks that they were.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from helpers import function_of

import stride0 as xp
from stride0._core.memory.dtype import STANDARD_DTYPES
from stride0._core.plan import plan
from stride0._core.plan import threads as pool
from stride0._tables import operations

NAMES = [dtype.name for dtype in STANDARD_DTYPES]


@pytest.fixture(autouse=True)
def low_thresholds() -> Iterator[None]:
    tuned, threads = (
        plan.tune(transposed_elements=0, streamed_copy_bytes=1, streamed_bytes=1),
        xp.get_num_threads(),
    )
    yield
    plan.tune(**tuned)
    xp.set_num_threads(threads)


def values(name: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Elements whose bytes all depend on the position; no NaN."""
    rng = np.random.default_rng(seed)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if "int" in name:
        info = np.iinfo(name)
        return rng.integers(info.min, info.max, shape, dtype=name, endpoint=True)
    return (rng.normal(size=shape) + (1j * rng.normal(size=shape) if "complex" in name else 0)).astype(name)


def check(turned: bool, streamed: bool, call: Callable[[], Any], expected: Any) -> None:
    """Compare the bytes of the result with NumPy's, at several numbers of threads."""
    for threads, threads_from in ((1, 1 << 62), (3, 0)):
        xp.set_num_threads(threads)
        tuned = plan.tune(threads_ns=threads_from, wake_ns=threads_from, per_thread_ns=1)
        backs_off = pool.back_off(False)
        before = plan.counts()
        result = np.array(call())
        after = plan.counts()
        plan.tune(**tuned)
        pool.back_off(backs_off)
        assert result.dtype == expected.dtype and result.shape == expected.shape
        assert result.tobytes() == np.ascontiguousarray(expected).tobytes()
        if turned:
            assert after["transposed"] > before["transposed"], "no operand was transposed"
        if streamed:
            assert after["streamed"] > before["streamed"], "nothing was streamed"


# Sides below, at and beyond squares of registers, lines of cache and blocks.
SIDES = (8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 130, 259)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stream_from", [1, 1 << 62])
def test_transposed_copies(name: str, stream_from: int) -> None:
    plan.tune(streamed_copy_bytes=stream_from)
    for m, n in itertools.product(SIDES, SIDES):
        a = values(name, (m, n))
        x = xp.asarray(a)
        # Small matrices are not transposed in blocks.
        check(m * n >= 512, False, lambda x=x: xp.reshape(x.T, (x.size,)), a.T.reshape(-1))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda v: v.T,
    "cut": lambda v: v[1:, 3:].T,
    "every second row": lambda v: v[::2, 5:].T,
    "rows reversed": lambda v: v[::-1, :].T,
    "columns reversed": lambda v: v[:, ::-1].T,
    "both reversed": lambda v: v[::-1, :0:-1].T,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("stream_from", [1, 1 << 62])
def test_views(name: str, view: str, stream_from: int) -> None:
    plan.tune(streamed_copy_bytes=stream_from)
    a, b = values(name, (203, 131), 1), values(name, (203, 131), 2)
    v, w = VIEWS[view](a), VIEWS[view](xp.asarray(a))
    other = np.ascontiguousarray(VIEWS[view](b))
    y = xp.asarray(other)
    check(True, False, lambda: xp.reshape(w, (w.size,)), v.reshape(-1))
    if name == "bool":
        check(True, False, lambda: y | w, other | v)
    else:
        check(True, False, lambda: y + w, other + v)
        # The result has the memory order of the first operand; a row has no order.
        check(False, False, lambda: w - y[:1, :], v - other[:1])
    check(True, False, lambda: xp.where(y != y[0, 0], w, y), np.where(other != other[0, 0], v, other))
    check(True, False, lambda: xp.equal(y, w), other == v)

    def assigned() -> Any:
        z = xp.asarray(np.zeros_like(other), copy=True)
        z[1:, :-1] = w[1:, :-1]
        return z

    expected = np.zeros_like(other)
    expected[1:, :-1] = v[1:, :-1]
    check(True, False, assigned, expected)


@pytest.mark.parametrize("target", NAMES)
def test_casts(target: str) -> None:
    for source in ("bool", "int8", "uint16", "int32", "int64", "float32", "float64", "complex64"):
        if source == "complex64" and "complex" not in target:
            continue
        if target.startswith("uint") and source.startswith("float"):
            continue  # negative numbers: NumPy's answer depends on the machine
        a = values(source, (77, 90))
        if source.startswith("float"):
            a = (a * 30).astype(source)
        z = np.zeros((90, 77), target)
        x = xp.asarray(a)

        def assigned(x: Any = x) -> Any:
            out = xp.zeros((90, 77), dtype=getattr(xp, target))
            out[...] = x.T
            return out

        z[...] = a.T
        check(True, False, assigned, z)


def test_more_axes() -> None:
    a = values("float32", (9, 20, 3, 33))
    x = xp.asarray(a)
    for order in itertools.permutations(range(4)):
        expected = a.transpose(order)
        turned = order[-1] != 3 and min(a.shape[order[-1]], a.shape[3]) >= 8
        check(
            turned, False, lambda o=order: xp.reshape(xp.permute_dims(x, o), (x.size,)), expected.reshape(-1)
        )
        shape = expected.shape
        b = values("float32", shape, 3)
        y = xp.asarray(b)
        check(turned, False, lambda o=order, y=y: y - xp.permute_dims(x, o), b - expected)


def test_two_operands_against_one() -> None:
    a, b, c = (values("float64", (150, 150), seed) for seed in range(3))
    x, y, z = map(xp.asarray, (a, b, c))
    check(True, False, lambda: xp.where(x > 0, y.T, z.T), np.where(a > 0, b.T, c.T))

    def in_place() -> Any:
        w = xp.asarray(a, copy=True)
        w += y.T
        w *= w.T
        return w

    expected = a + b.T
    check(True, False, in_place, expected * expected.T)


# The dtypes with loops that bypass the caches.
STREAMED = ("int64", "uint64", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("name", NAMES)
def test_streamed(name: str) -> None:
    for n in (8192, 8193, 8250, 16_384, 16_385, 50_001):
        a, b = values(name, (n,), 4), values(name, (n,), 5)
        x, y = xp.asarray(a), xp.asarray(b)
        check(False, name in STREAMED, lambda x=x: xp.asarray(x, copy=True), a)
        if name != "bool":
            check(False, name in STREAMED, lambda x=x, y=y: x - y, a - b)
            check(False, name in STREAMED, lambda x=x: x - 1, a - 1)


@pytest.mark.parametrize("name", STREAMED)
def test_streamed_operations(name: str) -> None:
    """Every operation gives the same bytes with streamed stores, in every layout and at any address."""
    a, b = values(name, (40, 613), 8), values(name, (40, 613), 9)
    x, y = xp.asarray(a), xp.asarray(b)
    if "int" in name:
        y = xp.where(y == 0, xp.asarray(3, dtype=y.dtype), y)
    streamed = 0
    for op in operations.OPS:
        if not op.public or name in op.call or op.nin > 2 or "shift" in op.name:
            continue
        function = function_of(op)
        pairs = (
            [(x,), (x[:, 1:],)] if op.nin == 1 else [(x, y), (x, y[:1]), (x[:, :1], y), (x[:, 2:], y[:, :-2])]
        )
        for operands in pairs:
            try:
                plain = function(*operands)
            except TypeError:
                break  # not of this dtype
            plan.tune(streamed_bytes=1 << 62)
            expected = np.asarray(function(*operands))
            before = plan.counts()["streamed"]
            plan.tune(streamed_bytes=1)
            found = np.asarray(function(*operands))
            streamed += plan.counts()["streamed"] > before
            assert found.tobytes() == expected.tobytes() == np.asarray(plain).tobytes(), (
                op.name,
                len(operands),
            )
    assert streamed >= (20 if "complex" in name else 40)


def test_streamed_casts() -> None:
    for source, target in itertools.product(NAMES, STREAMED):
        if "complex" in source and "complex" not in target:
            continue
        a = values(source, (9001,), 10)
        a = np.clip(a, 0, 100) if "int" in source else abs(a) if "float" in source else a
        for x, b in ((xp.asarray(a), a), (xp.asarray(a)[1:], a[1:])):
            check(False, True, lambda x=x, t=target: xp.astype(x, getattr(xp, t)), b.astype(target))


@pytest.mark.parametrize("name", ["int64", "float32", "float64", "complex128"])
def test_streamed_ends(name: str) -> None:
    """Targets that begin and end within a cache line, whose other elements must not change."""
    a, b = values(name, (9000,), 6), values(name, (9000,), 7)
    for start, stop in itertools.product((0, 1, 3, 31, 64), (9000, 8999, 8993, 8960)):

        def assigned(start: int = start, stop: int = stop) -> Any:
            z = xp.asarray(a, copy=True)
            z[start:stop] = xp.asarray(b)[start:stop]
            return z

        expected = a.copy()
        expected[start:stop] = b[start:stop]
        check(False, True, assigned, expected)


def test_streamed_rows_and_broadcasts() -> None:
    a, row, column = values("float32", (70, 1031)), values("float32", (1031,)), values("float32", (70, 1))
    x, r, c = map(xp.asarray, (a, row, column))
    check(False, True, lambda: x + r, a + row)
    check(False, True, lambda: x * c, a * column)
    check(False, True, lambda: x[:, :-3] * r[:-3] * 2, a[:, :-3] * row[:-3] * 2)
    check(False, True, lambda: x[::3, 2:] + x[1::3, 2:][:1, :], a[::3, 2:] + a[1::3, 2:][:1])
    check(False, True, lambda: r + c, row + column)
    check(
        True,
        True,
        lambda: xp.reshape(xp.asarray(np.tile(a, (5, 1))).T + 1, (-1,)),
        (np.tile(a, (5, 1)).T + 1).reshape(-1),
    )


def test_in_place_is_not_streamed() -> None:
    a = values("float64", (50_000,))
    x = xp.asarray(a, copy=True)
    y = xp.asarray(a)
    before = plan.counts()["streamed"]
    x += y
    x *= 2
    assert plan.counts()["streamed"] == before
    np.testing.assert_array_equal(np.asarray(x), (a + a) * 2)


@pytest.mark.usefixtures("eagerly")
def test_thresholds_are_as_documented() -> None:
    plan.tune(transposed_elements=1 << 10, streamed_copy_bytes=1 << 22, streamed_bytes=1 << 22)
    small, large = xp.ones((20, 20)), xp.ones((40, 40))
    before = plan.counts()
    _ = small + small.T
    assert plan.counts() == before
    _ = large + large.T
    between = plan.counts()
    assert between["transposed"] == before["transposed"] + 1 and between["streamed"] == before["streamed"]
    longer = xp.ones((1 << 19,))
    assert plan.counts()["streamed"] == before["streamed"]
    _ = longer + 1
    assert plan.counts()["streamed"] > before["streamed"]


def edges(bits: int) -> list[int]:
    """Integers next to the powers of two from which on a block uses another loop."""
    powers = [0, 1, 2, 3, 7, 1 << 31, 1 << 32, 1 << 50, 1 << 51, 1 << 52, 1 << 53, 1 << 62, (1 << 63) - 1]
    near = {sign * (power + k) for power in powers for k in (-2, -1, 0, 1, 2) for sign in (1, -1)}
    return sorted(x for x in near | {-(1 << 63)} if x >> (bits - 1) in (0, -1))


@pytest.mark.parametrize("layout", ["rows", "column", "scalar", "strided", "in place"])
def test_quotients_of_long_integers(layout: str) -> None:
    rng = np.random.default_rng(3)
    small = rng.integers(-(1 << 51) + 1, 1 << 51, 1100)
    for numbers in (
        np.asarray(edges(64)),
        small,
        np.concatenate([small, edges(64)]),
        rng.integers(-99, 99, 700),
    ):
        for divisor in [*edges(64)[::3], 3, -7]:
            x = np.resize(numbers, 1500)
            y = np.full(1500, divisor) if layout in ("column", "scalar") else rng.permutation(x)
            a, b = xp.asarray(x, copy=True), xp.asarray(y)
            if layout == "column":
                b = b[:1]
            elif layout == "scalar":
                b = divisor
            elif layout == "strided":
                x, y, a, b = x[::-2], y[::2], a[::-2], b[::2]
            # Exactly, by Python.
            pairs = [(int(p), int(q)) for p, q in zip(x, y, strict=True)]
            quotients = [((p // q if q else 0) + (1 << 63)) % (1 << 64) - (1 << 63) for p, q in pairs]
            if layout == "in place":
                c = xp.asarray(x, copy=True)
                c //= b
                np.testing.assert_array_equal(np.asarray(c), quotients)
                a %= b
                np.testing.assert_array_equal(np.asarray(a), [p % q if q else 0 for p, q in pairs])
                continue
            np.testing.assert_array_equal(np.asarray(a // b), quotients)
            np.testing.assert_array_equal(np.asarray(a % b), [p % q if q else 0 for p, q in pairs])


@pytest.mark.parametrize("target", ["int64", "uint64", "uint32", "int32", "uint8"])
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_casts_of_large_numbers_to_integers(source: str, target: str) -> None:
    rng = np.random.default_rng(4)
    numbers = np.asarray(edges(64), dtype=source)
    with np.errstate(over="ignore"):
        numbers = np.concatenate(
            [numbers, numbers + numbers.dtype.type(0.75), [np.nan, np.inf, -np.inf, -0.0, 0.9, -0.9]]
        )
    small = rng.uniform(-1e6, 1e6, 3000).astype(source)
    width = np.iinfo(target).bits
    for values in (
        numbers,
        small,
        rng.permutation(np.concatenate([small, numbers])),
        (numbers / 4096).astype(source),
    ):
        expected = []
        for value in values.tolist():
            # Numbers that do not fit 64 bits become the least integer, which is then taken modulo the width.
            fits = np.isfinite(value) and -(2**63) <= value < (2**64 if target == "uint64" else 2**63)
            whole = (int(value) if fits else -(2**63)) % 2**width
            expected.append(whole - 2**width if target[0] == "i" and whole >= 2 ** (width - 1) else whole)
        x = xp.asarray(values.astype(source))
        assert np.asarray(xp.astype(x, target)).tolist() == expected
        assert np.asarray(xp.astype(x[::-1], target)).tolist() == expected[::-1]
