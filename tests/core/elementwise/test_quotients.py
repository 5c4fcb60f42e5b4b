"""Quotients by a power of two, which loops compute as products: the bits of the quotient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import both

import stride0 as xp

BITS = {"float32": np.uint32, "float64": np.uint64}


def numbers(dtype: str, size: int) -> Any:
    """Numbers with random bits: also infinities, NaN, zeros of both signs and subnormal numbers."""
    rng = np.random.default_rng(11)
    bits = rng.integers(0, np.iinfo(BITS[dtype]).max, size, dtype=BITS[dtype], endpoint=True)
    tiny = np.finfo(dtype).smallest_subnormal * np.arange(40).astype(dtype)
    special = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    return np.concatenate([bits.view(dtype), tiny, -tiny, special])


def check(found: Any, expected: Any, what: str) -> None:
    found, bits = np.asarray(found), BITS[expected.dtype.name]
    assert found.dtype == expected.dtype
    # The sign and the payload of a NaN are those of the operand.
    assert np.array_equal(found.view(bits), expected.view(bits)), what


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_power_of_two(dtype: str) -> None:
    x, a = both(numbers(dtype, 200))
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        for exponent in range(info.minexp - info.nmant - 1, info.maxexp + 1):
            divisor = np.ldexp(np.asarray(1, dtype), exponent)
            for value in (divisor, -divisor, divisor * np.asarray(1.5, dtype)):
                check(x / float(value), a / value, f"{value!r}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("divisor", [2, -4.0, 0.125, 3.0, 0.0, float("inf"), float("nan"), True])
def test_ways_of_dividing(dtype: str, divisor: Any) -> None:
    """Scalars, arrays of one value, in place, temporaries, chains, rows with a divisor each, every layout."""
    x, a = both(numbers(dtype, 3000)[: 3 * 1020].reshape(3, 1020))
    value = np.asarray(divisor, dtype)
    with np.errstate(all="ignore"):
        expected = a / value
        check(x / divisor, expected, "scalar")
        check(x / xp.asarray(value), expected, "0-d")
        check((x + 0.0) / divisor, (a + np.asarray(0, dtype)) / value, "temporary")
        y = xp.asarray(a, copy=True)
        y /= divisor
        check(y, expected, "in place")
        check(x.T / divisor, expected.T, "transposed")
        check(x[:, ::-2] / divisor, expected[:, ::-2], "sliced")
        column = np.asarray([[2.0], [3.0], [-0.5]], dtype)
        check(x / xp.asarray(column), a / column, "column")
        check(divisor / x, value / a, "the other way")
        with xp.fused(size=1):
            chain = (x - 1.0) / divisor
            product = (x * x) / divisor * x
        check(chain, (a - np.asarray(1, dtype)) / value, "chain")
        check(product, (a * a) / value * a, "chain of products")


def test_long_results() -> None:
    """So many elements that the loop uses non-temporal stores."""
    a = np.random.default_rng(3).normal(size=1 << 22)
    x = xp.asarray(a)
    check(x / 8.0, a / 8.0, "stream")
