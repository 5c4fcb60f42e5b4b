"""Reductions over broadcast axes skip the repetitions, with the result of a full loop."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from helpers import DTYPES, REAL, both, values

import stride0 as xp

inf, nan = np.inf, np.nan

# Shapes of a (2, 3) array broadcast along new axes, and the axes that are reduced.
STRETCHES = [
    ((5, 2, 3), (2, 3), [0, (0, 1), (0, 2), None, 1, ()]),
    ((2, 7, 3), (2, 1, 3), [1, (1, 2), (0, 1), None, 0]),
    ((4, 2, 3, 6), (2, 3, 1), [0, 3, (0, 3), (1, 3), None, 2]),
]
SMALL = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-13}


def broadcast(a: Any, kept: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A broadcast stride0 array, and a NumPy array that holds every element."""
    x = xp.broadcast_to(xp.reshape(xp.asarray(a, copy=True), kept), shape)
    return x, np.broadcast_to(a.reshape(kept), shape).copy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "min", "max", "any", "all", "count_nonzero", "var", "std"]
)
def test_like_a_copy(name: str, dtype: str) -> None:
    if dtype not in REAL and name in ("min", "max") and dtype != "bool":
        return
    a = values(dtype, (2, 3))
    for shape, kept, axes in STRETCHES:
        x, full = broadcast(a, kept, shape)
        copied = xp.asarray(full, copy=True)
        for axis, keepdims in itertools.product(axes, (False, True)):
            got = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
            expected = getattr(xp, name)(copied, axis=axis, keepdims=keepdims)
            assert got.dtype == expected.dtype and got.shape == expected.shape
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(
                    np.asarray(got), np.asarray(expected), rtol=SMALL.get(got.dtype.name, 0), atol=1e-13
                )


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["bool", *REAL])
def test_arguments_of_extremes(name: str, dtype: str) -> None:
    a = values(dtype, (2, 3), special=True)
    for shape, kept, _ in STRETCHES:
        x, full = broadcast(a, kept, shape)
        for axis in (None, *range(len(shape))):
            got, expected = getattr(xp, name)(x, axis=axis), getattr(np, name)(full, axis=axis)
            assert np.array_equal(np.asarray(got), expected), (shape, axis)
    x = xp.broadcast_to(xp.asarray(a, copy=True), (5, 2, 3))
    assert getattr(xp, name)(x, keepdims=True).shape == (1, 1, 1)


@pytest.mark.parametrize("n", [2, 3, 64, 1001])
@pytest.mark.parametrize("value", [0.0, -0.0, inf, -inf, nan, 1e308, -1e-300, 1.0 + 2**-52])
def test_special_values(value: float, n: int) -> None:
    x = xp.broadcast_to(xp.asarray([value, 1.0]), (n, 2))
    full = np.broadcast_to(np.asarray([value, 1.0]), (n, 2)).copy()
    with np.errstate(all="ignore"):
        for name in ("sum", "prod", "max", "min"):
            got, expected = np.asarray(getattr(xp, name)(x, axis=0)), getattr(np, name)(full, axis=0)
            np.testing.assert_allclose(got, expected, rtol=1e-12)
            if not np.isnan(value) and not (name == "sum" and value == 0):
                assert np.array_equal(np.signbit(got), np.signbit(expected)), name
    # NumPy starts sums at 0.0; in stride0 a sum of only negative zeros is a negative zero.
    assert np.signbit(np.asarray(xp.sum(x, axis=0))[0]) == np.signbit(value) or np.isnan(value)
    if abs(value) < inf:
        assert float(xp.mean(x, axis=0)[0]) == value
        assert float(xp.var(x, axis=0)[0]) == 0


@pytest.mark.parametrize(
    "value", [complex(inf, 1), complex(nan, 1), complex(1, -inf), complex(-0.0, 2), 3 - 4j]
)
def test_complex_values(value: complex) -> None:
    x = xp.broadcast_to(xp.asarray([value]), (6, 1))
    full = xp.asarray(np.full((6, 1), value))
    for name in ("sum", "prod"):
        got, expected = getattr(xp, name)(x, axis=0), getattr(xp, name)(full, axis=0)
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_integers_wrap(dtype: str) -> None:
    info = np.iinfo(dtype)
    for value, n in itertools.product((info.min, info.max, info.max // 3, 1, 0, 7), (2, 63, 1000)):
        x, a = both(np.asarray([value], dtype))
        x, a = xp.broadcast_to(x, (n, 1)), np.broadcast_to(a, (n, 1))
        with np.errstate(over="ignore"):
            assert int(xp.sum(x)) == int(np.sum(a)), (value, n)
            assert int(xp.prod(x)) == int(np.prod(a)), (value, n)


def test_products_of_two_operands() -> None:
    row = values("float64", (1, 3))
    x = xp.broadcast_to(xp.asarray(row), (1000, 3))
    np.testing.assert_allclose(float(xp.vecdot(x.T, x.T)[1]), 1000 * row[0, 1] ** 2, rtol=1e-13)
    one = xp.broadcast_to(xp.asarray(2.0), (50,))
    assert float(one @ one) == 200.0


def test_astronomical_sizes() -> None:
    """Reductions whose full loop would take years."""
    x = xp.broadcast_to(xp.asarray([1.5, -2.0]), (10**15, 2))
    assert float(xp.sum(x)) == -0.5e15 and float(xp.max(x)) == 1.5 and float(xp.mean(x)) == -0.25
    assert int(xp.count_nonzero(x)) == 2 * 10**15 and bool(xp.all(x)) and int(xp.argmin(x)) == 1
    assert float(xp.var(x)) == 1.75**2 and float(xp.std(x, axis=0)[1]) == 0
    assert int(xp.sum(xp.broadcast_to(xp.asarray(40), (2**58,)))) == 40 * 2**58 - 2**64
    assert int(xp.argmax(x, axis=0)[0]) == 0


def test_no_elements() -> None:
    x = xp.broadcast_to(xp.ones((1, 0)), (5, 0))
    assert float(xp.sum(x)) == 0 and float(xp.prod(x)) == 1 and not np.signbit(float(xp.sum(x)))
    assert xp.sum(x, axis=0).shape == (0,)
    with pytest.raises(ValueError, match="no elements"):
        xp.max(x)
    with pytest.raises(ValueError, match="no elements"):
        xp.argmax(x)
