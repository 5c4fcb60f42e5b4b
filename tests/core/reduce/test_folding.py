"""The loops of reductions, in all layouts, against a second program of Note [Order of a reduction].

Also tested: NaN and signed zeros in extremes, the index of a found value, and runs that are scanned together.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.strided import strides

LENGTHS = [*range(1, 70), 95, 100, 127, 300, 1000, 4095, 4096, 4097, 4111, 4127, 4128, 8191, 8200]


def in_order(values: list[Any], fold: Callable[[Any, Any], Any]) -> Any:
    """A run folded as the note says, without a start."""
    total: list[Any] = []
    for first in range(0, len(values), 4096):
        block = values[first : first + 4096]
        whole = len(block) - len(block) % 32
        lanes: list[Any] = []
        for i in range(0, whole, 32):
            group = block[i : i + 32]
            lanes = [fold(a, b) for a, b in zip(lanes, group, strict=True)] if lanes else group
        for width in (16, 8, 4, 2, 1):
            if lanes:
                lanes = [fold(lanes[k], lanes[k + width]) for k in range(width)]
            if (len(block) - whole) & width:
                group = block[len(block) - (len(block) - whole) % (2 * width) :][:width]
                lanes = [fold(a, b) for a, b in zip(lanes, group, strict=True)] if lanes else group
        total = [fold(total[0], lanes[0])] if total else lanes
    return total[0]


def greater(a: float, b: float) -> float:
    return b if b >= a or b != b else a


def less(a: float, b: float) -> float:
    return b if b <= a or b != b else a


def bits(x: Any) -> bytes:
    v = np.array(x)
    if v.dtype.kind == "f":
        v = np.where(np.isnan(v), np.nan, v).astype(v.dtype)  # which of several NaN is unspecified
    return v.tobytes()


def layouts(v: Any) -> list[Any]:
    """Views with the elements of v: contiguous, with steps, backwards, and as a row of several."""
    return [
        xp.asarray(v),
        xp.asarray(np.repeat(v, 2))[::2],
        xp.asarray(np.repeat(v, 3))[2::3],
        xp.asarray(v[::-1].copy())[::-1],
        xp.stack([xp.asarray(v)] * 3)[1, :],
    ]


def cases() -> list[Any]:
    rng = np.random.default_rng(11)
    ordinary = rng.normal(size=8200) * 10.0 ** rng.uniform(-9, 9, 8200)
    zeros = rng.choice([0.0, -0.0], 8200)
    return [ordinary, np.where(rng.random(8200) < 0.3, zeros, -abs(ordinary)), zeros]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums(dtype: str) -> None:
    data = cases()[0].astype(dtype)
    for n in LENGTHS:
        wanted = np.dtype(dtype).type(in_order(data[:n].tolist(), float.__add__))
        for x in layouts(data[:n]):
            assert bits(xp.sum(x)) == bits(xp.sum(x, axis=0)) == wanted.tobytes(), n


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_complex_sums(dtype: str) -> None:
    data = cases()[0]
    z = (data + 1j * data[::-1]).astype(dtype)
    for n in LENGTHS:
        parts = [
            in_order(part.astype("float64").tolist(), float.__add__) for part in (z[:n].real, z[:n].imag)
        ]
        wanted = np.asarray(complex(*parts)).astype(dtype)
        for x in layouts(z[:n]):
            assert bits(xp.sum(x)) == bits(xp.sum(x, axis=0)) == wanted.tobytes(), n


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_dots(dtype: str) -> None:
    """Loops of two operands, which the generator writes."""
    data = cases()[0].astype(dtype)
    other = data[::-1].copy()
    products = (data.astype("float64") * other.astype("float64")).tolist()
    for n in LENGTHS:
        wanted = np.dtype(dtype).type(in_order(products[:n], float.__add__))
        for x, y in zip(layouts(data[:n]), layouts(other[:n]), strict=True):
            assert bits(xp.vecdot(x, y)) == wanted.tobytes(), n


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint64", "complex128"])
def test_dots_of_two_layouts(dtype: str) -> None:
    data = cases()[0].astype(dtype) if dtype[0] in "fc" else np.arange(-4100, 4100).astype(dtype) ** 5
    other = data[::-1].copy()
    for n in [*LENGTHS[::7], 4096, 4097]:
        found = {bits(xp.vecdot(x, y)) for x in layouts(data[:n]) for y in layouts(other[:n])}
        assert len(found) == 1, n
        if dtype.endswith("int64"):
            with np.errstate(over="ignore"):
                assert found == {(data[:n] * other[:n]).sum().tobytes()}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128", "bool"])
@pytest.mark.parametrize("shape", [(5, 3), (70, 31), (9, 33), (40, 128), (6, 257), (3, 4097), (2, 5, 40)])
def test_several_runs_of_any_strides(shape: tuple[int, ...], dtype: str) -> None:
    """Along each axis of every second element, and backwards along the last one, as along that of a copy."""
    data = np.resize(cases()[1], shape)
    data = data > 0 if dtype == "bool" else np.floor(data * 100).clip(-1e9, 1e9).astype(dtype)
    copy = xp.asarray(data)
    names = ["sum", "prod", "count_nonzero", "all", "any"]
    names += ["max", "min", "argmax", "argmin"] if dtype[0] in "fi" else []
    for x in (xp.asarray(np.repeat(data, 2, -1))[..., ::2], xp.asarray(data[..., ::-1].copy())[..., ::-1]):
        for name in names:
            # Short adjacent rows are merged; backwards they are not adjacent.
            for axis in range(len(shape)) if strides(x)[-1] > 0 else (-1,):
                f = getattr(xp, name)
                assert bits(f(x, axis=axis)) == bits(f(copy, axis=axis)), (name, axis)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_rows_with_steps(name: str, dtype: str) -> None:
    """NaN and signed zeros where columns, or results, are far apart in memory."""
    rng = np.random.default_rng(3)
    for m, n in ((2, 9), (3, 255), (4, 256), (5, 257), (9, 600)):
        rows = rng.choice([0.0, -0.0, 1.5, -1.5, np.nan], (m, n), p=[0.3, 0.3, 0.19, 0.19, 0.02]).astype(
            dtype
        )
        reduce, find = getattr(xp, name), getattr(xp, "arg" + name)
        x = xp.asarray(np.repeat(rows, 2, 1))[:, ::2]
        assert bits(reduce(x, axis=0)) == bits(reduce(xp.asarray(rows), axis=0))
        assert np.asarray(find(x, axis=0)).tolist() == getattr(np, "arg" + name)(rows, axis=0).tolist()
        both = xp.asarray(np.stack([rows, -rows], axis=-1))
        assert bits(reduce(both, axis=0)[:, 0]) == bits(reduce(xp.asarray(rows), axis=0))


def test_counts_of_true() -> None:
    raw = np.random.default_rng(8).integers(0, 3, 40_000).astype("uint8")
    raw[raw == 2] = 0x80  # bytes that are neither 0 nor 1
    data = raw.view(bool)
    for n in [*range(1, 200), 255 * 64, 255 * 64 + 1, 30_011]:
        for step in (1, 2, -1, 3):
            part = data[: n * abs(step) : step] if step > 0 else data[n - 1 :: -1]
            if part.size == n:
                assert int(xp.count_nonzero(xp.asarray(part))) == int((part.view("uint8") != 0).sum()), (
                    n,
                    step,
                )
    assert int(xp.count_nonzero(xp.asarray(np.ones((300, 200), bool).T))) == 60_000


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_complex_dots(dtype: str) -> None:
    """With the conjugate of the first operand, as in `vecdot`, and without."""
    data = cases()[0]
    x, y = (data + 1j * data[::-1]).astype(dtype), (data[::-1] * 0.3 - 1j * np.roll(data, 7)).astype(dtype)
    a, b, c, d = (part.astype("float64") for part in (x.real, x.imag, y.real, y.imag))
    for conjugate in (True, False) if dtype == "complex128" else (True,):
        sign = -b if conjugate else b
        real, imag = (a * c + -sign * d).tolist(), (sign * c + a * d).tolist()
        for n in LENGTHS[::3] if conjugate else LENGTHS[:69:5]:
            parts = [in_order(part[:n], float.__add__) for part in (real, imag)]
            wanted = np.asarray(complex(*parts)).astype(dtype).tobytes()
            for u, v in zip(layouts(x[:n]), layouts(y[:n]), strict=True):
                assert bits(xp.vecdot(u, v) if conjugate else xp.einsum("i,i->", u, v)) == wanted, n


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_and_signed_zeros(name: str, dtype: str) -> None:
    fold = greater if name == "max" else less
    for case in cases():
        data = case.astype(dtype) if name == "max" else -case.astype(dtype)
        for n in LENGTHS:
            values = data[:n].tolist()
            # The result begins with the first element, which is then folded a second time.
            wanted = np.dtype(dtype).type(fold(values[0], in_order(values, fold)))
            for x in layouts(data[:n]):
                assert bits(getattr(xp, name)(x)) == wanted.tobytes(), n


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_a_nan_anywhere_is_found(name: str, dtype: str) -> None:
    for n in (1, 3, 31, 32, 45, 70, 130):
        rows = np.random.default_rng(n).normal(size=(n, n)).astype(dtype)
        rows[0, 0] = np.inf
        np.fill_diagonal(rows, np.nan)
        x = xp.asarray(rows)
        for y in (x, xp.asarray(np.asfortranarray(rows)), xp.asarray(np.repeat(rows, 2, 1))[:, ::2]):
            for axis in (0, 1):
                assert np.isnan(np.asarray(getattr(xp, name)(y, axis=axis))).all(), n
                assert np.asarray(getattr(xp, "arg" + name)(y, axis=axis)).tolist() == list(range(n)), n
    for at in (0, 31, 4095, 4096, 5000, 8199):
        data = cases()[0].astype(dtype)
        data[at] = np.nan
        data[-1] = np.nan
        assert math.isnan(float(getattr(xp, name)(xp.asarray(data))))
        assert int(getattr(xp, "arg" + name)(xp.asarray(data))) == at


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "uint16", "complex64"])
@pytest.mark.parametrize("n", [1, 3, 4, 15, 17, 30, 300, 4100])
@pytest.mark.parametrize("m", [2, 4, 7, 13])
def test_rows(m: int, n: int, dtype: str) -> None:
    """Rows added to a row: four at once, pairwise, then the remaining ones."""
    data = cases()[1][: m * 40]
    with np.errstate(invalid="ignore"):  # NumPy on aarch64 warns of negative numbers cast to uint16
        rows = np.resize(data, (m, n)).astype(dtype)
    wide = rows.astype({"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[rows.dtype.kind])
    total = np.full(n, -0.0, wide.dtype) if rows.dtype.kind in "fc" else np.zeros(n, wide.dtype)
    if rows.dtype.kind == "c":
        total.imag = -0.0
    j = 0
    while j + 4 <= m:
        total = total + ((wide[j] + wide[j + 1]) + (wide[j + 2] + wide[j + 3]))
        j += 4
    while j < m:
        total, j = total + wide[j], j + 1
    if n > 1:
        # Rows of a larger array, which are not processed several at once.
        x = xp.asarray(np.concatenate([rows, rows], axis=1))[:, :n]
        got = np.asarray(xp.sum(x, axis=0))
        assert np.array_equal(got, total.astype(got.dtype))
    if rows.dtype.kind != "c":
        for name in ("max", "min"):
            got = np.asarray(getattr(xp, name)(xp.asarray(rows), axis=0))
            assert np.array_equal(got, getattr(rows, name)(axis=0))


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"],
)
def test_where_extremes_are(dtype: str) -> None:
    """The first of equal values at every place in a run; several runs at once, and one of many blocks."""
    for n in [*range(2, 40), 64, 65, 127, 130, 257]:
        rows = np.full((n, n), 1 if dtype != "bool" else 0).astype(dtype)
        for k in range(n):
            rows[k, k:] = np.resize([3, 2, 3], n - k) if dtype != "bool" else np.resize([1, 0, 1], n - k)
        x = xp.asarray(rows)
        wanted = list(range(n))
        assert np.asarray(xp.argmax(x, axis=1)).tolist() == wanted, n
        assert np.asarray(xp.argmax(x[:, ::-1], axis=1)).tolist() == rows[:, ::-1].argmax(axis=1).tolist(), n
        lowest = xp.asarray(~rows if rows.dtype.kind in "biu" else -rows)
        assert np.asarray(xp.argmin(lowest, axis=1)).tolist() == wanted, n
    for at in (0, 1000, 1023, 1024, 4096, 9000, 9999):
        data = np.zeros(10_000, dtype)
        data[at:] = 1
        assert int(xp.argmax(xp.asarray(data))) == at
        assert int(xp.argmin(xp.asarray(1 - data if dtype != "bool" else ~data))) == at


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64"]
)
def test_places_of_extremes_among_few_elements(dtype: str) -> None:
    rng = np.random.default_rng(11)
    for n in range(1, 12):
        rows = rng.integers(0, 4, (200, n)).astype(dtype)
        if dtype[0] == "f":
            rows[rng.random(rows.shape) < 0.1] = np.nan
            rows[rng.random(rows.shape) < 0.1] = -0.0
        x = xp.asarray(rows)
        wide = xp.asarray(np.repeat(rows, 2, 1))[:, ::2]
        columns = xp.asarray(np.asfortranarray(rows))
        for name in ("argmax", "argmin"):
            wanted = getattr(np, name)(rows, axis=1).tolist()
            for y in (x, wide, columns, xp.asarray(rows[:, ::-1].copy())[:, ::-1]):
                assert np.asarray(getattr(xp, name)(y, axis=1)).tolist() == wanted, (name, n)


def test_any_and_all_of_bools() -> None:
    for n in [*range(1, 140), 300, 5000]:
        for at in {0, n // 2, n - 1}:
            data = np.zeros(n, bool)
            assert not xp.any(xp.asarray(data)) and xp.all(xp.asarray(~data))
            data[at] = True
            for x in layouts(data):
                assert xp.any(x) and xp.all(x) == (n == 1), (n, at)
                assert not xp.all(xp.logical_not(x)) and bool(xp.any(xp.logical_not(x))) == (n > 1), (n, at)
            for step in (2, 3):
                far = np.zeros(n * step, bool)
                far[at * step] = True
                assert xp.any(xp.asarray(far)[::step]) and not xp.any(xp.asarray(far)[1::step])
                assert not xp.all(xp.asarray(~far)[::step]) and xp.all(xp.asarray(~far)[1::step])
    # Views of other libraries' memory can hold bytes that are neither 0 nor 1.
    raw = np.frombuffer(struct.pack("130B", *([0] * 129 + [6])), np.bool_)
    assert xp.any(xp.asarray(raw)) and int(xp.argmax(xp.asarray(raw))) == 129
    assert xp.all(xp.asarray(np.full(130, 7, "uint8").view(bool)))


def test_many_bools() -> None:
    data = np.zeros(1_000_003, bool)
    assert not xp.any(xp.asarray(data)) and xp.all(xp.asarray(~data))
    for at in (0, 4095, 4096, 500_000, 1_000_002):
        data[at] = True
        assert xp.any(xp.asarray(data)) and not xp.all(xp.asarray(~data))
        assert xp.any(xp.asarray(data[::-1])) and xp.any(xp.asarray(np.repeat(data, 2))[::2])
        data[at] = False


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_runs_are_scanned_together_as_alone(name: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    scan = getattr(xp, name)
    for m in (1, 3, 4, 5, 9):
        rows = rng.normal(size=(m, 37)).astype(dtype) if dtype[0] in "fc" else rng.integers(0, 9, (m, 37))
        rows = rows.astype(dtype)
        for x in (xp.asarray(rows), xp.asarray(np.repeat(rows, 2, 1))[:, ::2], xp.asarray(rows)[::-1, ::-1]):
            whole = scan(x, axis=1)
            for k in range(m):
                assert bits(whole[k, :]) == bits(scan(x[k, :])), (m, k)
            turned = scan(x.mT, axis=0)
            assert bits(turned) == bits(whole.mT), m
