"""Set functions, against NumPy and, for NaN and zeros, against Python."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from helpers import COMPLEX_FLOATING, DTYPES, FLOATING, LAYOUTS, assert_same, both, pair, values
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp


def check_unique(x, a, what=""):
    """Compare all functions with the definition: each NaN is a value, zeros of both signs are one value."""
    flat = a.reshape(-1)
    # The first of equal elements represents them; complex numbers are ordered by real part first.
    values_, firsts, inverse, counts = np.unique(
        flat, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    result = xp.unique_all(x)
    assert result._fields == ("values", "indices", "inverse_indices", "counts"), what
    assert_same(result.values, flat[firsts], what=what)
    np.testing.assert_array_equal(np.asarray(result.values), values_, what)
    assert_same(result.indices, firsts, what=what)
    assert_same(result.counts, counts, what=what)
    assert_same(result.inverse_indices, inverse.reshape(a.shape), what=what)
    rebuilt = np.asarray(result.values)[np.asarray(result.inverse_indices)]
    np.testing.assert_array_equal(rebuilt, a, what)

    other = xp.unique_inverse(x)
    assert other._fields == ("values", "inverse_indices")
    assert_same(other.values, np.asarray(result.values), what=what)
    assert_same(other.inverse_indices, np.asarray(result.inverse_indices), what=what)
    counted = xp.unique_counts(x)
    assert counted._fields == ("values", "counts")
    assert_same(counted.values, np.asarray(result.values), what=what)
    assert_same(counted.counts, counts, what=what)
    assert_same(xp.unique_values(x), np.asarray(result.values), what=what)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype):
    for layout, special in itertools.product(LAYOUTS, (False, True)):
        x, a = pair(dtype, layout, special)
        check_unique(x, a, f"{layout} {special}")
        doubled = np.concatenate([a.reshape(-1), a.reshape(-1)])
        check_unique(*both(doubled), f"{layout} {special} doubled")
    check_unique(*both(np.zeros((2, 0, 3), dtype)))
    check_unique(*both(np.zeros((2, 3), dtype)))
    check_unique(*both(np.resize(values(dtype, (5,)), (4, 25))))


@pytest.mark.parametrize("dtype", FLOATING)
def test_nans_are_distinct_and_zeros_are_not(dtype):
    a = np.asarray([math.nan, 0.0, 1.0, -0.0, math.nan, 0.0, -math.nan], dtype)
    result = xp.unique_all(xp.asarray(a))
    counts = np.asarray(result.counts).tolist()
    assert counts == [3, 1, 1, 1, 1]
    assert np.asarray(result.indices)[:2].tolist() == [1, 2]
    assert sorted(np.asarray(result.indices)[2:].tolist()) == [0, 4, 6]
    for name in ("unique_counts", "unique_inverse", "unique_all"):
        first = np.asarray(getattr(xp, name)(xp.asarray(a)).values)[0]
        assert not np.signbit(first.real)
    first = np.asarray(xp.unique_values(xp.asarray(a[::-1].copy() * 1)))[0]
    assert np.signbit(first.real) == np.signbit(a[::-1][1].real)
    assert_same(xp.unique_values(xp.asarray([-0.0, 0.0])), np.asarray([-0.0]))


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_complex_numbers_with_one_nan_are_distinct(dtype):
    nan = math.nan
    a = np.asarray(
        [complex(1, nan), 1j, complex(nan, 1), complex(1, nan), 1j, complex(nan, 1), 1 + 1j], dtype
    )
    result = xp.unique_all(xp.asarray(a))
    assert np.asarray(result.counts).tolist() == [2, 1, 1, 1, 1, 1]
    assert np.asarray(result.values)[:2].tolist() == [1j, 1 + 1j]
    zeros = np.asarray([complex(r, i) for r in (0.0, -0.0) for i in (0.0, -0.0)], dtype)
    assert np.asarray(xp.unique_counts(xp.asarray(zeros)).counts).tolist() == [4]


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf]), max_size=60))
def test_unique_of_anything(numbers):
    check_unique(*both(np.asarray(numbers, np.float64)))


def colliding(bits, count):
    """Different words of 32 or 64 bits for which the table of hashes of `distinct.h` has one entry."""
    words = np.random.default_rng(bits).integers(1, 2**31, 4_000_000).astype(f"uint{bits}")
    multiplier = {32: 0x9E3779B1, 64: 0x9E3779B97F4A7C15}[bits]
    hashes = ((words ^ (words >> (bits // 2))) * words.dtype.type(multiplier)) >> (bits - 12)
    return np.unique(words[hashes == 7])[:count]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64"])
def test_unique_values_that_are_few(dtype):
    rng = np.random.default_rng(5)
    for count, n in ((1, 256), (3, 255), (255, 1000), (256, 3000), (257, 3000), (900, 3000)):
        values = rng.permutation(10 * count)[:count].astype(dtype)
        a = np.concatenate([values, rng.choice(values, n - count if n > count else 0)])
        check_unique(*both(a), f"{count}")
        check_unique(*both(np.repeat(a, 2)[::2]), f"{count} of every second")
    alike = colliding(np.dtype(dtype).itemsize * 8, 200)
    alike = alike.view(dtype) if dtype.startswith("uint") else alike.astype(dtype)
    check_unique(*both(rng.choice(alike, 20_000)), "equal hashes")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_values_with_zeros_and_nan(dtype):
    for first in (0.0, -0.0):
        a = np.asarray([1, first, -first, 2, -first] * 100, dtype)
        for name in ("unique_values", "unique_counts"):
            found = getattr(xp, name)(xp.asarray(a))
            values = np.asarray(found if name == "unique_values" else found.values)
            assert values.tolist() == [0, 1, 2]
            assert np.signbit(values[0]) == np.signbit(first)
        assert np.asarray(xp.unique_counts(xp.asarray(a)).counts).tolist() == [300, 100, 100]
        a[400] = math.nan
        assert np.asarray(xp.unique_counts(xp.asarray(a)).counts).tolist() == [300, 99, 100, 1]


def test_unique_refuses():
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        for wrong in ([1, 2], np.ones(2), 1.0, None):
            with pytest.raises(TypeError):
                getattr(xp, name)(wrong)


# isin


@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(dtype):
    for layout, special, count in itertools.product(LAYOUTS, (False, True), (0, 1, 5, 8, 9, 24)):
        x, a = pair(dtype, layout, special)
        among = values(dtype, (24,), special)[:count]
        for invert in (False, True):
            # All pairs are compared, because NumPy's isin treats NaN differently.
            expected = (a[..., None] == among).any(-1) != invert
            result = xp.isin(x, xp.asarray(among), invert=invert)
            assert_same(result, expected, what=f"{layout} {special} {count} {invert}")
            reshaped = xp.asarray(np.ascontiguousarray(among.reshape(-1, 1)[::-1]))
            assert_same(xp.isin(x, reshaped[::-1, ...], invert=invert), expected)


def test_isin_of_mixed_dtypes():
    for dtype1, dtype2 in itertools.product(DTYPES, DTYPES):
        a, b = values(dtype1, (4, 6)), values(dtype2, (20,))
        for count in (3, 20):
            expected = (a[..., None] == b[:count]).any(-1)
            assert_same(xp.isin(xp.asarray(a), xp.asarray(b[:count])), expected, what=f"{dtype1} {dtype2}")


def test_isin_of_large_integers_is_exact():
    big = 2**62
    signed = xp.asarray([-1, big, big + 1, big + 3, 2**63 - 1])
    for extra in ([], list(range(20))):
        unsigned = xp.asarray([big, big + 2, 2**64 - 1, 2**63, *extra], dtype=xp.uint64)
        assert np.asarray(xp.isin(signed, unsigned)).tolist() == [False, True, False, False, False]
        assert np.asarray(xp.isin(unsigned, signed))[:4].tolist() == [True, False, False, False]
    beyond = xp.asarray([2**63 + k for k in range(20)], dtype=xp.uint64)
    assert not bool(xp.any(xp.isin(signed, beyond)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_isin_of_integers_that_lie_together(dtype):
    """A small range of integers is looked up in a table, without integers outside or that wrap around."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(3)
    for low in {int(limits.min), 0, min(int(limits.max), 1000) - 100}:
        b = (low + rng.integers(0, 60, 30)).astype(dtype)
        ends = [limits.min, limits.max, limits.max - 1, low]
        a = np.concatenate([np.asarray(ends, dtype), (low + rng.integers(0, 99, 96)).astype(dtype)])
        for wanted, among in ((a, b), (b, a), (a.reshape(4, 25)[:, ::-1], b.reshape(2, 3, 5))):
            expected = (wanted[..., None] == among.reshape(-1)).any(-1)
            assert_same(xp.isin(xp.asarray(wanted), xp.asarray(among)), expected, what=f"{low}")


def test_isin_with_scalars():
    x = xp.asarray([[1, 2], [3, 2]], dtype=xp.uint8)
    assert_same(xp.isin(x, 2), np.asarray([[False, True], [False, True]]))
    assert_same(xp.isin(x, 2, invert=True), np.asarray([[True, False], [True, False]]))
    assert_same(xp.isin(2, x), np.asarray(True))
    assert_same(xp.isin(5, x), np.asarray(False))
    assert_same(xp.isin(5, x, invert=True), np.asarray(True))
    assert_same(xp.isin(x, 300), np.zeros((2, 2), bool))
    assert_same(xp.isin(-1, x), np.asarray(False))
    assert_same(xp.isin(1, xp.zeros((0, 3))), np.asarray(False))
    assert_same(xp.isin(xp.asarray([1.5, math.nan]), math.nan), np.asarray([False, False]))
    assert_same(xp.isin(xp.asarray([0.0]), -0.0), np.asarray([True]))


def test_isin_refuses():
    x = xp.asarray([1, 2])
    with pytest.raises(TypeError, match="isin: neither x1 nor x2 is an array"):
        xp.isin(1, 2)
    for call in (
        lambda: xp.isin([1, 2], x),
        lambda: xp.isin([1], [2]),
        lambda: xp.isin(x, np.ones(2)),
        lambda: xp.isin(x, None),
        lambda: xp.isin(x, x, invert=1),
    ):
        with pytest.raises(TypeError, match="isin"):
            call()
