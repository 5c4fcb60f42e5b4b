"""Numbers at equal distances: `arange` and `linspace` of floats, and of integers at the ends of dtypes."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import vmap

STEPS = (0.01, 0.1, 0.25, 1 / 3, 0.3, -0.1, -0.01, 1.0, -1, 2, 7e-3)


def test_arange_has_no_element_too_many() -> None:
    x = xp.arange(0, 12.89, 0.01)
    assert x.shape == (1289,) == np.arange(0, 12.89, 0.01).shape
    assert float(x[-1]) < 12.885


def _typical(rng: random.Random) -> tuple[float, ...]:
    def decimal() -> float:
        return round(rng.uniform(-20, 20), rng.randrange(4))

    way = rng.randrange(4)
    if way == 0:
        return (decimal(),)
    if way == 1:
        return (decimal(), decimal())
    if way == 2:
        return (rng.choice([0, 0.0, decimal()]), decimal(), rng.choice(STEPS))
    start, step = decimal(), rng.choice(STEPS)
    return (start, start + rng.randrange(200) * step + rng.choice([0, 0, 1e-9, -1e-9, 1e-17]), step)


def test_arange_of_typical_floats_counts_as_numpy() -> None:
    rng = random.Random(0)
    dtypes = [None, xp.float64, xp.float32, xp.float16, xp.bfloat16, xp.complex64]
    for k in range(12_000):
        arguments = _typical(rng)
        wanted, x = np.arange(*arguments), xp.arange(*arguments, dtype=dtypes[k % len(dtypes)])
        assert x.shape == wanted.shape, arguments
        if x.dtype == xp.float64:
            start, step = (*arguments, 1)[::2] if len(arguments) > 1 else (0, 1)
            assert np.array_equal(np.asarray(x), start + np.arange(x.size) * float(step)), arguments


@pytest.mark.parametrize(
    "arguments",
    [
        *((0, 5e-324, 1e300), (5e-324, 0, 1e300), (0, -1e-300, 1e300), (0.0, -5e-324, -1e300)),
        *((-1e-310, 1e-310, 1e-311), (0.5, 1e300, 1e299), (1e300, 0.5, -1e299), (0.5, -1e300, 1e299)),
        *((2**53 + 1, 2**53 + 4, 1.0), (2**60 + 1, 2**60 + 3000, 512.5), (-0.5, 2**60, 2.0**57)),
    ],
)
def test_arange_of_extreme_floats_counts_as_numpy(arguments: Any) -> None:
    assert xp.arange(*arguments, dtype=xp.float64).shape == np.arange(*arguments).shape


@pytest.mark.parametrize("kind", [int, float])
def test_arange_counts_integers_beyond_float64_exactly(kind: type) -> None:
    for start, stop, step in ((0, 108086391056891904, 1080863910568919), (-(2**60), 2**60, 2**53 + 2)):
        x = xp.arange(kind(start), kind(stop), kind(step))
        assert x.shape == (-((start - stop) // step),)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int8"])
def test_arange_of_integers_up_to_a_fraction(dtype: str) -> None:
    kind = getattr(xp, dtype)
    for arguments in ((2.5,), (0, 2.5), (0.0, 99.99, 3.0), (5, 0.5, -1), (4.5,), (7, 2.5)):
        x = xp.arange(*arguments, dtype=kind)
        assert x.dtype == kind and x.tolist() == np.arange(*arguments).tolist()
    for arguments in ((0.5, 3), (0, 3, 0.5)):
        with pytest.raises(xp.ArgumentValueError, match="start or step has a fraction"):
            xp.arange(*arguments, dtype=kind)


# --- linspace


def _end(rng: random.Random, least: int, most: int) -> float:
    way = rng.randrange(5)
    if way == 0:
        return rng.choice([least, most, least + 1, most - 1])
    if way == 1:
        return rng.randint(least, most)
    if way == 2:
        return rng.uniform(max(least, -100), 100)
    if way == 3:
        return rng.randint(max(least, -100), 100)
    number = float(rng.randint(least, most))
    return number if least <= number <= most else 0.0


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint8"])
def test_linspace_of_integers(dtype: str) -> None:
    """By exact fractions if float64 does not hold the ends; otherwise as NumPy, which computes in float64."""
    rng, info = random.Random(0), np.iinfo(dtype)
    for _ in range(2000):
        start, stop = (_end(rng, int(info.min), int(info.max)) for _ in range(2))
        num, endpoint = rng.choice([0, 1, 2, 3, 7, 50]), rng.random() < 0.7
        x = xp.linspace(start, stop, num, dtype=getattr(xp, dtype), endpoint=endpoint)
        found, parts = x.tolist(), max(num - endpoint, 1)
        facts = f"{start}, {stop}, {num}, {endpoint}"
        assert x.dtype.name == dtype and len(found) == num
        if max(abs(start), abs(stop)) <= 2**53:
            wanted = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype).tolist()
            assert found == wanted, facts
        elif start == int(start) and stop == int(stop):
            distance = int(stop) - int(start)
            assert found == [int(start) + k * distance // parts for k in range(num)], facts
        if num:
            assert found[0] == math.floor(start), facts
        if num > 1 and endpoint:
            assert found[-1] == math.floor(stop), facts


def test_linspace_refuses_numbers_beyond_the_dtype() -> None:
    for stop, dtype in (
        (300, xp.uint8),
        (2**63, xp.int64),
        (math.inf, xp.int8),
        (-1, xp.uint64),
        (math.nan, xp.int8),
    ):
        with pytest.raises(OverflowError, match=r"linspace: .* does not fit"):
            xp.linspace(0, stop, 4, dtype=dtype)
    assert xp.linspace(0, 256, 4, endpoint=False, dtype=xp.uint8).tolist() == [0, 64, 128, 192]
    assert xp.linspace(0, 2**64, 2, endpoint=False, dtype=xp.uint64).tolist() == [0, 2**63]


def test_linspace_of_infinite_ends() -> None:
    assert xp.linspace(math.inf, math.inf, 3).tolist() == [math.inf] * 3
    assert xp.linspace(0, math.inf, 3).tolist() == [0, math.inf, math.inf]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_linspace_of_random_floats(dtype: str) -> None:
    rng = random.Random(1)
    for _ in range(1000):
        start, stop = (rng.uniform(-1, 1) * 10.0 ** rng.randrange(-30, 30) for _ in range(2))
        num, endpoint = rng.randrange(30), rng.random() < 0.6
        x = xp.linspace(start, stop, num, endpoint=endpoint, dtype=getattr(xp, dtype))
        parts = max(num - endpoint, 1)
        exact = [float(Fraction(start) + k * (Fraction(stop) - Fraction(start)) / parts) for k in range(num)]
        largest = max(abs(start), abs(stop))
        np.testing.assert_allclose(
            np.asarray(x, dtype=float),
            exact,
            rtol=1e-14 if dtype == "float64" else 1e-7,
            atol=1e-15 * largest,
        )


@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_of_batched_ends(endpoint: bool) -> None:
    """A batch equals a loop: exact integers, infinite ends and errors."""
    starts, stops = [0, 2**63 - 1, -5, 2**53 + 1], [2**63 - 1, -(2**63), 7, 2**60 + 1]
    pairs = list(zip(starts, stops, strict=True))
    for num in (0, 1, 2, 3, 7):
        wanted = [xp.linspace(*pair, num, dtype=xp.int64, endpoint=endpoint).tolist() for pair in pairs]
        found = vmap(lambda x, y, n=num: xp.linspace(x, y, n, dtype=xp.int64, endpoint=endpoint))(
            xp.asarray(starts), xp.asarray(stops)
        )
        assert found.tolist() == wanted
    ends = xp.asarray([math.inf, 0.0, 1.0]), xp.asarray([math.inf, math.inf, 1.0])
    found = vmap(lambda x, y: xp.linspace(x, y, 4, endpoint=endpoint))(*ends)
    for row, *pair in zip(found, *(end.tolist() for end in ends), strict=True):
        assert row.tolist() == xp.linspace(*pair, 4, endpoint=endpoint).tolist()
    with pytest.raises(xp.RangeError, match="300 does not fit uint8"):
        vmap(lambda y: xp.linspace(300, y, 3, dtype=xp.uint8, endpoint=endpoint))(xp.asarray([3, 4]))


@pytest.mark.parametrize("num", [2, 3, 5, 9])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_of_ends_whose_distance_overflows(num: int, endpoint: bool) -> None:
    found = np.asarray(xp.linspace(-1.7e308, 1.7e308, num, endpoint=endpoint))
    expected = np.linspace(-1.7, 1.7, num, endpoint=endpoint)
    np.testing.assert_allclose(found / 1e308, expected, rtol=1e-15, atol=1e-15)
