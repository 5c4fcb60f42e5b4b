"""A search for sums whose error exceeds the bounds of docs/design/summation.md.

Exact sums are fractions. The data cancel, grow, or differ so much in size that small terms vanish, and
hypothesis varies them; along every axis, in every memory order, with strides, in every floating dtype.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp

U, V = Fraction(1, 2**53), Fraction(1, 2**24)
REALS = ("float32", "float64")


def g(k):
    return k * U / (1 - k * U)


def height(n, one_run):
    """The number of roundings that an element among n passes: in one run of memory, or in any layout."""
    return min(n - 1, 135 + -(-n // 4096)) if one_run else n - 1


def rounding(dtype):
    return V if dtype in ("float32", "complex64") else Fraction(0)


def whole(v):
    """A double as an integer multiple of the smallest double."""
    top, below = v.as_integer_ratio()
    return top * (2**1074 // below)


def total(values):
    """The exact sum of doubles. Integers add up much faster than fractions."""
    return Fraction(sum(map(whole, values)), 2**1074)


def sum_bound(values, depth, dtype):
    exact, sizes = total(values), total(map(abs, values))
    least = (
        Fraction(1, 2**149) if dtype == "float32" else 0
    )  # sums of subnormal numbers in float64 may need rounding
    return exact, rounding(dtype) * abs(exact) + (1 + V) * g(depth) * sizes + least


def kinds(rng, n):
    """Arrays of n elements that are hard to add."""
    plain = rng.normal(size=n)
    yield plain
    yield rng.random(n) + 1
    yield plain * 10.0 ** rng.uniform(-12, 12, n)
    half = rng.normal(size=n // 2) * 10.0 ** rng.uniform(0, 10, n // 2)
    yield rng.permutation(np.concatenate([half, -half, rng.normal(size=n - 2 * (n // 2))]))
    yield np.concatenate([[2.0**40], np.full(n - 1, 2.0**-14 * 1.999)])  # each rounds down to 0
    yield np.where(np.arange(n) % 2, -1.0, 1.0) * (1 + np.arange(n) / n)
    yield np.sort(np.abs(plain))[::-1] ** 8
    yield np.full(n, 0.1)


def check(x, exact_of, got, bound, what):
    assert abs(Fraction(float(got)) - exact_of) <= bound, what


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 127, 1000, 4095, 4096, 4097, 8300, 40_000])
def test_one_run(n, dtype):
    for number, data in enumerate(kinds(np.random.default_rng(n), n)):
        v = data.astype(dtype)
        exact, bound = sum_bound(v.tolist(), height(n, True), dtype)
        for x in (xp.asarray(v), xp.asarray(v)[::-1], xp.asarray(np.repeat(v, 2))[::2]):
            check(x, exact, xp.sum(x), bound, (number, n, dtype))
            check(x, exact, xp.sum(x, axis=0), bound, (number, n, dtype))


def arrangements(v):
    """Views of a 3-d NumPy array and the same elements in NumPy, in any order and with any steps."""
    padded = np.zeros([2 * k for k in v.shape], v.dtype)
    padded[::2, ::2, ::2] = v
    yield xp.asarray(v)
    yield xp.asarray(padded)[::2, ::2, ::2]
    yield xp.asarray(np.asfortranarray(v))
    yield xp.permute_dims(xp.asarray(np.ascontiguousarray(v.transpose(1, 2, 0))), (2, 0, 1))
    yield xp.asarray(np.ascontiguousarray(v[::-1, :, ::-1]))[::-1, :, ::-1]


@pytest.mark.parametrize("dtype", [*REALS, "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(7, 5, 33), (40, 3, 2), (2, 150, 4), (3, 2, 300)])
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2), None])
def test_any_axis_and_order(shape, axis, dtype):
    rng = np.random.default_rng(3)
    size = math.prod(shape)
    all_axes = (0, 1, 2) if axis is None else (axis,) if isinstance(axis, int) else axis
    depth = height(math.prod(shape[k] for k in all_axes), False)
    for data in list(kinds(rng, size))[2:5]:
        real = rng.permutation(data).reshape(shape)
        v = real.astype(dtype) if dtype in REALS else (real + 1j * real[::-1]).astype(dtype)
        moved = np.moveaxis(v, all_axes, range(-len(all_axes), 0)).reshape(
            -1, math.prod(shape[k] for k in all_axes)
        )
        bounds = []
        for part in (moved.real, moved.imag) if dtype not in REALS else (moved,):
            base = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
            bounds.append([sum_bound(row.tolist(), depth, base) for row in part])
        for x in arrangements(v):
            got = np.asarray(xp.sum(x, axis=axis)).ravel()
            for part, rows in zip((got.real, got.imag), bounds, strict=False):
                for value, (exact, bound) in zip(part.tolist(), rows, strict=True):
                    assert abs(Fraction(value) - exact) <= bound, (shape, axis, dtype)


@examples(150)
@given(
    st.lists(st.floats(-1e300, 1e300, allow_subnormal=True), min_size=1, max_size=80),
    st.integers(1, 3),
    st.sampled_from(["sum", "mean", "cumulative_sum"]),
)
def test_whatever_hypothesis_finds(values, step, what):
    v = np.array(values)
    x = xp.asarray(np.repeat(v, step))[::step]
    exact = v.tolist()
    got = np.asarray(getattr(xp, what)(x)).ravel().tolist()
    tiny = Fraction(2) ** -1074
    if what == "cumulative_sum":
        for k, value in enumerate(got):
            if math.isfinite(value):
                bound = g(k) * total(map(abs, exact[: k + 1]))
                assert abs(Fraction(value) - total(exact[: k + 1])) <= bound
        return
    n = len(exact)
    if math.isfinite(got[0]):
        sizes = total(map(abs, exact))
        wanted = total(exact) / (n if what == "mean" else 1)
        bound = g(n - 1) * sizes if what == "sum" else g(n) * sizes / n + tiny
        assert abs(Fraction(got[0]) - wanted) <= bound


# -- statistics ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("n", [2, 33, 1000, 5000])
def test_means(n, dtype):
    for data in kinds(np.random.default_rng(n), n):
        v = data.astype(dtype)
        values = v.tolist()
        exact = total(values) / n
        sizes = total(map(abs, values)) / n
        bound = rounding(dtype) * abs(exact) + (1 + V) * g(height(n, True) + 1) * sizes
        check(v, exact, xp.mean(xp.asarray(v)), bound, (n, dtype))


def spreads(rng, n):
    yield rng.normal(size=n)
    yield rng.normal(size=n) * 10.0 ** rng.uniform(-8, 8, n)
    for mean in (1e3, -1e8, 1e12, 1e15, -3e300):
        yield mean * (1 + rng.normal(size=n) * 2.0**-50)
        yield mean + np.abs(mean) * 1e-7 * rng.normal(size=n)
        yield mean + np.where(np.arange(n) % 2, -1, 1) * np.spacing(mean) * rng.integers(0, 3, n)
    yield np.full(n, 0.1)
    yield np.concatenate([[1e10], np.full(n - 1, 1.0)])


def exact_variance(values):
    n, wholes = len(values), list(map(whole, values))
    middle = sum(wholes)
    return Fraction(sum((n * v - middle) ** 2 for v in wholes), n**3 * 2**2148)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("n", [2, 5, 100, 4500])
def test_variances_of_data_with_a_large_mean(n, dtype):
    depth = height(n, True)
    with np.errstate(over="ignore"):
        for data in spreads(np.random.default_rng(n), n):
            if np.abs(data).max() > (1e18 if dtype == "float32" else 1e150):
                data = data / 1e295 if dtype == "float64" else data / 1e290
            v = data.astype(dtype)
            exact = exact_variance(v.tolist())
            relative = g(depth + 4) + Fraction(depth**2, 2**62)
            bound = rounding(dtype) * exact * (1 + relative) + relative * exact
            x = xp.asarray(v)
            for y in (x, x[::-1], xp.stack([x, x], axis=1)[:, 0]):
                got = Fraction(float(xp.var(y)))
                assert abs(got - exact) <= bound, (n, dtype, float(exact), float(got))
                # sqrt(1 + r) is within r of 1, and its square within 3 r
                root = Fraction(float(xp.std(y)))
                slack = relative + 2 * U + 2 * rounding(dtype)
                assert abs(root * root - exact) <= 3 * slack * exact, (n, dtype)


def test_complex_variances_of_data_with_a_large_mean():
    rng = np.random.default_rng(2)
    for centre in (1e8 + 1j, 1e12 - 1e12j, 3j):
        z = centre + 1e-3 * (rng.normal(size=700) + 1j * rng.normal(size=700))
        exact = exact_variance(z.real.tolist()) + exact_variance(z.imag.tolist())
        got = Fraction(float(xp.var(xp.asarray(z))))
        assert abs(got - exact) <= (g(170) + Fraction(170**2, 2**62)) * exact


def test_variances_along_axes():
    rng = np.random.default_rng(4)
    v = 1e9 + rng.normal(size=(30, 41))
    for x in (xp.asarray(v), xp.asarray(np.asfortranarray(v)), xp.asarray(np.repeat(v, 2, 1))[:, ::2]):
        for axis in (0, 1):
            columns = np.moveaxis(v, axis, 0)
            got = np.asarray(xp.var(x, axis=axis)).tolist()
            for k, value in enumerate(got):
                exact = exact_variance(columns[:, k].tolist())
                relative = g(len(columns) + 4) + Fraction(len(columns) ** 2, 2**62)
                assert abs(Fraction(value) - exact) <= relative * exact


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("n", [1, 40, 4500])
def test_norms(n, dtype):
    for number, data in enumerate(kinds(np.random.default_rng(n), n)):
        for scale in (1.0, 1e30) if dtype == "float32" else (1.0, 1e200, 1e-200):
            v = (data / np.abs(data).max() * scale).astype(dtype)
            values = v.tolist()
            squares = Fraction(sum(whole(a) ** 2 for a in values), 2**2148)
            got = Fraction(float(xp.linalg.vector_norm(xp.asarray(v))))
            relative = g(height(n, True) // 2 + 8) + rounding(dtype)
            assert abs(got * got - squares) <= 2 * relative * (1 + relative) * squares, (
                number,
                n,
                dtype,
                scale,
            )
            sizes = total(map(abs, values))
            got = Fraction(float(xp.linalg.vector_norm(xp.asarray(v), ord=1)))
            assert abs(got - sizes) <= (g(height(n, True)) + rounding(dtype) * (1 + V)) * sizes


@pytest.mark.parametrize("dtype", REALS)
def test_cumulative_sums(dtype):
    for data in kinds(np.random.default_rng(1), 700):
        v = data.astype(dtype)
        got = np.asarray(xp.cumulative_sum(xp.asarray(v))).tolist()
        exact = sizes = Fraction(0)
        for k, value in enumerate(v.tolist()):
            exact += Fraction(value)
            sizes += abs(Fraction(value))
            bound = rounding(dtype) * abs(exact) + (1 + V) * g(k) * sizes
            assert abs(Fraction(got[k]) - exact) <= bound, k
