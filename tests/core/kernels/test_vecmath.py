"""Vector math: float32 within 1 ULP on a stride through all inputs, and no result depends on its neighbours.

A loop runs a block of elements with a body that is right for ordinary arguments. If the block has other
arguments, it runs again with a body that is right for all (Note [Fast and rare]). The bits must be equal.

The largest errors, over all inputs, are measured by the programs in conformance/accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import function_of

import stride0 as xp
from stride0._tables.operations import OPS

ROWS = [op for op in OPS if "float64" in op.run]
UNARY = [op for op in ROWS if op.nin == 1]
NUMPY = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
STRIDE = 100_003
RARE = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    -1.0,
    1.0,
    1e-42,
    -1e-42,
    3e38,
    -3e38,
    100.0,
    -150.0,
    1e9,
    -3e7,
    40.0,
    2.0,
    3.0,
]
DTYPES = ("float32", "float64")


def bits(x: Any) -> Any:
    """The bytes of an array as integers, every NaN being the same NaN."""
    a = np.array(x)
    a[np.isnan(a)] = np.nan
    return a.view(f"u{a.itemsize}")


def test_every_transcendental_function_of_real_arguments_has_a_loop():
    assert {op.name for op in ROWS} >= {"exp", "log1p", "sin", "tanh", "pow", "atan2", "hypot", "logaddexp"}
    assert not [op.name for op in ROWS if not set(op.run) >= set(DTYPES)]


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.name)
def test_float32_is_within_its_bound(op):
    """Errors against the exact result: NumPy's float64 function, or ours for `stride0.special`."""
    x = np.arange(0, 2**32, STRIDE, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        got = np.array(function_of(op)(xp.asarray(x))).astype(np.float64)
        wide = x.astype(np.float64)
        if op.namespace:
            want = np.array(function_of(op)(xp.asarray(wide)))
        else:
            want = getattr(np, NUMPY.get(op.name, op.name))(wide)
        nearest = want.astype(np.float32).astype(np.float64)
    assert np.array_equal(np.isnan(got), np.isnan(nearest))
    sure = np.isfinite(got) & np.isfinite(nearest)
    # Between the largest number and infinity, either may be the result.
    edge = ~sure & ~np.isnan(got) & (got != nearest)
    assert np.all(np.abs(np.abs(want[edge]) - 2.0**128) <= 2.0**104)
    _, exponent = np.frexp(np.where(sure, want, 1.0))
    ulp = np.ldexp(1.0, np.maximum(exponent, -125) - 24)
    # For the standard's functions also if the table allows 2.
    most = op.ulp if op.namespace else 1.0
    assert np.max(np.abs(np.where(sure, got, 0.0) - np.where(sure, want, 0.0)) / ulp) <= most


def ordinary(op: Any, dtype: str, n: int) -> list[Any]:
    """Operands for which the fast bodies are right."""
    rng = np.random.default_rng(7)
    low, high = max(op.samples.low, -15.0), min(op.samples.high, 15.0)
    return [rng.uniform(low, high, n).astype(dtype) for _ in range(op.nin)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_no_result_depends_on_its_neighbours(op, dtype):
    call = function_of(op)
    operands = ordinary(op, dtype, 3500)
    alone = bits(call(*(xp.asarray(a) for a in operands)))
    for value in RARE:
        for k in range(op.nin):
            given = [a.copy() for a in operands]
            given[k][[3, 700, 3499]] = value  # one block of 1024 has no such value
            got = bits(call(*(xp.asarray(a) for a in given)))
            kept = np.ones(3500, bool)
            kept[[3, 700, 3499]] = False
            assert np.array_equal(got[kept], alone[kept])
            # A rare argument has the same bits as in a separate call.
            single = bits(call(*(xp.asarray(a[[3]]) for a in given)))
            assert got[3] == single[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_may_take_the_place_of_rare_arguments(dtype):
    # A block that runs twice reads its arguments again: they must not be overwritten.
    (op,) = (op for op in ROWS if op.name == "pow")
    left, right = ordinary(op, dtype, 1200)
    left[[5, 600]] = 1e-42, np.inf
    want = bits(xp.pow(xp.asarray(left), xp.asarray(right)))
    x = xp.asarray(left, copy=True)
    x **= xp.asarray(right)
    assert np.array_equal(bits(x), want)
    y = xp.asarray(left, copy=True)[::2]
    y **= xp.asarray(right)[::2]
    assert np.array_equal(bits(y), want[::2])


@pytest.mark.parametrize("dtype", DTYPES)
def test_remainders_are_those_of_fmod(dtype: str) -> None:
    """Exact: quotients next to integers, long quotients, subnormal and infinite operands, also single."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=400).astype(dtype)
    factors = rng.integers(1, 1 << rng.integers(1, 20, 400)).astype(dtype)
    near = np.nextafter(y * factors, rng.choice([-1, 1], 400).astype(dtype) * np.inf)
    long = (rng.normal(size=400) * 2.0 ** rng.integers(0, 100, 400)).astype(dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    pairs = [(near, y), (long, y), (np.arange(-200, 200) * tiny, (np.arange(400) % 7 + 1) * tiny)]
    pairs += [(near, np.where(rng.random(400) < 0.1, rng.choice(RARE, 400), y)), (rng.choice(RARE, 400), y)]
    for a, b in ((np.asarray(a, dtype), np.asarray(b, dtype)) for a, b in pairs):
        found = xp.remainder(xp.asarray(a), xp.asarray(b))
        with np.errstate(all="ignore"):
            left = np.fmod(a, b)
            moved = np.where((left < 0) != (b < 0), left + b, left)
            wanted = np.where(left == 0, np.copysign(np.asarray(0, dtype), b), moved)
        assert (bits(found) == bits(wanted.astype(dtype))).all()
        alone = [xp.remainder(xp.asarray(a[i : i + 1]), xp.asarray(b[i : i + 1])) for i in range(0, 400, 13)]
        assert (bits(xp.concat(alone)) == bits(found)[::13]).all()
