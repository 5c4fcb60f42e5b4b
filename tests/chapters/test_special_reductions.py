"""Sentences of the standard on special cases that the official suite does not parse.

Reductions, conversions, creation, linear algebra. `test_special_sentences.py` has the elementwise functions.
"""

from __future__ import annotations

import itertools
import math
import operator
from functools import reduce

import numpy as np
import pytest
from helpers import COMPLEX_FLOATING, DTYPES, FLOATING, INTEGERS, REAL, REAL_FLOATING, assert_same
from special_values import INF, NAN, each_layout, specials

import stride0 as xp

# --- reductions

SUMMANDS = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0)


def rows(lengths=(17, 64, 200)):
    """All short sequences of special values, and some long ones."""
    for n in (1, 2, 3):
        yield from map(list, itertools.product(SUMMANDS, repeat=n))
    rng = np.random.default_rng(6)
    for n in lengths:
        yield [-0.0] * n
        yield [0.0] + [-0.0] * n
        yield [1.0] * n + [INF] + [1.0] * n + [-INF]
        for _ in range(10):
            yield rng.choice([0.0, -0.0, 1.0, -1.0], n).tolist()
            yield rng.choice([INF, 1.0, -1.0], n).tolist()
            yield [*rng.choice([0.0, 1.0, INF], n).tolist(), NAN, *rng.choice([0.0, 1.0], n).tolist()]


@pytest.mark.parametrize("dtype", REAL_FLOATING)
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_successive_application(name, dtype):
    """By `add` and `multiply`: the sum of -0.0 and -0.0 is -0.0, of infinities of both signs NaN."""
    call = operator.add if "sum" in name else operator.mul
    for row in rows():
        v = np.array(row, dtype=dtype)
        steps = np.array(list(itertools.accumulate(row, call)), dtype=dtype)
        for x in each_layout(v):
            got = getattr(xp, name)(x)
            assert_same(got, steps if "cumulative" in name else steps[-1], what=f"{row}")
        if "cumulative" in name and math.copysign(1, row[0]) > 0:
            start = 0.0 if "sum" in name else 1.0
            want = np.concatenate([np.array([start], dtype=dtype), steps])
            assert_same(getattr(xp, name)(xp.asarray(v), include_initial=True), want)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    "name", ["sum", "prod", "cumulative_sum", "cumulative_prod", "mean", "max", "min", "std", "var"]
)
def test_special_values_stay_on_their_axis(name, dtype):
    if dtype in COMPLEX_FLOATING and name in ("max", "min", "std", "var"):
        return
    v = np.ones((5, 6, 7), dtype=dtype)
    v[1, 2, 3] = NAN
    v[4, 0, 0] = -0.0 if name == "prod" else 1.0
    for x, a in (
        (xp.asarray(v), v),
        (xp.asarray(v).mT, v.swapaxes(1, 2)),
        (xp.asarray(v)[:, ::-1], v[:, ::-1]),
    ):
        for axis in range(3):
            got = np.asarray(getattr(xp, name)(x, axis=axis))
            nan = np.isnan(got)
            if name.startswith("cumulative"):
                want = np.isnan(np.cumsum(a, axis=axis))
            else:
                want = np.isnan(a).any(axis=axis)
            np.testing.assert_array_equal(nan, want)
            assert np.isfinite(got[~nan]).all()


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_complex_sums_and_means_are_by_component(dtype):
    for n in (1, 2, 5, 40):
        for a, b in itertools.product((NAN, INF, 1.0), repeat=2):
            v = np.ones(n, dtype=dtype) * (1 + 1j)
            v[n // 2] = complex(a, b)
            for x in each_layout(v):
                for name, size in (("sum", 1), ("mean", n)):
                    got = complex(getattr(xp, name)(x))
                    for part, special in ((got.real, a), (got.imag, b)):
                        want = n / size if special == 1 else special
                        assert part == want or (math.isnan(part) and math.isnan(want)), (name, v)
                steps = np.asarray(xp.cumulative_sum(x))
                np.testing.assert_array_equal(steps.real, np.cumsum(v.real))
                np.testing.assert_array_equal(steps.imag, np.cumsum(v.imag))


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_complex_products(dtype):
    rng = np.random.default_rng(1)
    for n in (1, 2, 9, 20):
        v = rng.choice([1, 1j, -1, -1j, 1 + 1j], n).astype(dtype)
        want = reduce(operator.mul, v.tolist())
        assert complex(xp.prod(xp.asarray(v))) == want
        assert complex(xp.cumulative_prod(xp.asarray(v))[n - 1]) == want
        v[n // 2] = complex(NAN, NAN)
        got = complex(xp.prod(xp.asarray(v)))
        assert math.isnan(got.real) and math.isnan(got.imag)


@pytest.mark.parametrize("dtype", FLOATING)
def test_reductions_of_no_elements(dtype):
    kind = getattr(xp, dtype)
    nan = complex(NAN, NAN) if dtype in COMPLEX_FLOATING else NAN
    identities = {"sum": 0, "prod": 1, "mean": nan}
    if dtype in REAL_FLOATING:
        identities |= {"std": nan, "var": nan}
    for name, value in identities.items():
        function = getattr(xp, name)
        assert_same(function(xp.zeros(0, dtype=kind)), np.array(value, dtype=dtype))
        assert_same(function(xp.zeros((3, 0), dtype=kind), axis=1), np.full(3, value, dtype=dtype))
        assert_same(function(xp.zeros((3, 0), dtype=kind), axis=0), np.zeros(0, dtype=dtype))
        assert_same(function(xp.zeros((3, 0, 2), dtype=kind), axis=(0, 1)), np.full(2, value, dtype=dtype))


@pytest.mark.parametrize("dtype", REAL_FLOATING)
@pytest.mark.parametrize("name", ["std", "var"])
def test_spread(name, dtype):
    function = getattr(xp, name)
    for n in (1, 2, 3, 10):
        x = xp.asarray(np.arange(n, dtype=dtype))
        for correction in (n, n + 1, n + 0.5, 10**6, 1e6):
            assert math.isnan(float(function(x, correction=correction))), (n, correction)
        for correction in (n - 1, n - 0.5, 0, -1):
            got = float(function(x, correction=correction))
            want = sum((k - (n - 1) / 2) ** 2 for k in range(n)) / (n - correction)
            assert math.isclose(got, want**0.5 if name == "std" else want, rel_tol=1e-6, abs_tol=1e-12)
        for special in (NAN, INF, -INF):
            for place in range(n):
                y = xp.asarray(np.where(np.arange(n) == place, special, 1.0).astype(dtype))
                assert math.isnan(float(function(y)))
    grid = xp.zeros((2, 3), dtype=getattr(xp, dtype))
    assert bool(xp.all(xp.isnan(function(grid, axis=0, correction=2))))
    assert not bool(xp.any(xp.isnan(function(grid, axis=1, correction=2))))


@pytest.mark.parametrize("dtype", DTYPES)
def test_truth(dtype):
    """NaN and infinities are true, zeros of either sign are not; a complex number is true if one part is."""
    if dtype in FLOATING:
        v = specials(dtype)
        truth = np.array([bool(e.real != 0 or e.imag != 0) for e in v.tolist()])
    else:
        v = np.array([0, 1] * 20, dtype=dtype)
        truth = v.astype(bool)
    x = xp.asarray(v)
    assert_same(xp.astype(x, xp.bool), truth)
    for i in range(len(v)):
        assert bool(x[i]) is bool(truth[i])
        for n in (1, 40):
            alike = xp.asarray(np.full(n, v[i]))
            assert bool(xp.all(alike)) is bool(xp.any(alike)) is bool(truth[i])
            assert int(xp.count_nonzero(alike)) == n * truth[i]
            assert xp.nonzero(alike)[0].shape == (n * truth[i],)
    assert bool(xp.all(x)) is bool(truth.all())
    assert bool(xp.any(x)) is bool(truth.any())
    for shape in ((0,), (3, 0)):
        empty = xp.zeros(shape, dtype=x.dtype)
        assert bool(xp.all(empty)) is True
        assert bool(xp.any(empty)) is False


def test_differences():
    for dtype in REAL_FLOATING:
        v = specials(dtype)
        with np.errstate(all="ignore"):
            want = v
            for n in range(4):
                assert_same(xp.diff(xp.asarray(v), n=n), want)
                want = want[1:] - want[:-1]


# --- conversions


def test_conversions_to_python():
    for dtype in REAL_FLOATING:
        kind = getattr(xp, dtype)
        for value in (0.0, -0.0, 2.75, -2.75, 1e30, -1e30, 2.0**-126):
            value = float(np.array(value, dtype=dtype))
            x = xp.asarray(value, dtype=kind)
            assert (float(x), math.copysign(1, float(x))) == (value, math.copysign(1, value))
            assert int(x) == int(value)
            assert type(int(x)) is int
            assert complex(x) == complex(value, 0)
            assert math.copysign(1, complex(x).real) == math.copysign(1, value)
            assert bool(x) is (value != 0)
        for value in (INF, -INF):
            x = xp.asarray(value, dtype=kind)
            assert complex(x) == complex(value, 0)
            assert bool(x) is True
            with pytest.raises(OverflowError):
                int(x)
        x = xp.asarray(NAN, dtype=kind)
        assert math.isnan(float(x))
        assert bool(x) is True
        with pytest.raises(ValueError):
            int(x)
        with pytest.raises(TypeError):
            operator.index(x)


@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_complex_of_nan(dtype):
    """NaN + NaN j, says the standard; Python has NaN + 0j."""
    got = complex(xp.asarray(NAN, dtype=getattr(xp, dtype)))
    assert math.isnan(got.real)
    assert math.isnan(got.imag)


def test_conversions_of_booleans_and_integers():
    for value in (True, False):
        x = xp.asarray(value)
        assert (float(x), int(x), complex(x), bool(x)) == (float(value), int(value), complex(value), value)
        assert type(int(x)) is int
        for dtype in [*REAL, *COMPLEX_FLOATING]:
            got = xp.astype(xp.asarray([value] * 20), getattr(xp, dtype))
            assert_same(got, np.full(20, value, dtype=dtype))
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        for value in (info.min, info.max, 0, 1):
            x = xp.asarray(int(value), dtype=getattr(xp, dtype))
            assert int(x) == operator.index(x) == value
            assert float(x) == float(value)


def test_conversions_of_complex_numbers():
    for dtype in COMPLEX_FLOATING:
        for z in (complex(NAN, 1), complex(0.0, -0.0), complex(-0.0, NAN), complex(INF, -INF), 1j):
            x = xp.asarray(z, dtype=getattr(xp, dtype))
            got = complex(x)
            assert str(got) == str(z)
            assert bool(x) is (bool(z.real) or bool(z.imag))
            for convert in (float, int, operator.index):
                with pytest.raises(TypeError):
                    convert(x)
        for real in [*REAL, "bool"]:
            x = xp.ones(3, dtype=getattr(xp, dtype))
            if real == "bool":
                assert_same(xp.astype(x, xp.bool), np.ones(3, dtype=bool))
                continue
            with pytest.raises(TypeError):
                xp.astype(x, getattr(xp, real))


# --- creation, linear algebra


@pytest.mark.parametrize("dtype", FLOATING)
def test_ends_of_linspace(dtype):
    kind = getattr(xp, dtype)
    ends = [(0.1, 0.7), (-0.0, 1.0), (1e10, 1e-10), (5.0, 5.0), (-3.0, 3.0), (1e38, -1e38), (0.0, -0.0)]
    for (a, b), num in itertools.product(ends, (1, 2, 3, 7, 50, 1000)):
        start, stop = (a, b) if dtype in REAL_FLOATING else (complex(a, b), complex(b, a))
        x = xp.linspace(start, stop, num, dtype=kind)
        assert x.shape == (num,)
        first, last = (np.array(v, dtype=dtype) for v in (start, stop))
        assert complex(x[0]) == complex(first)
        if num > 1:
            assert complex(x[num - 1]) == complex(last)
            half_open = np.asarray(xp.linspace(start, stop, num - 1, endpoint=False, dtype=kind))
            np.testing.assert_allclose(
                half_open, np.asarray(x)[:-1], rtol=1e-5, atol=1e-5 * abs(last - first)
            )
        for part in (np.real, np.imag):
            steps = np.diff(part(np.asarray(x)))
            assert (steps >= 0).all() or (steps <= 0).all()
    for endpoint in (True, False):
        assert xp.linspace(0, 1, 0, endpoint=endpoint, dtype=kind).shape == (0,)
        assert complex(xp.linspace(2.5, 7, 1, endpoint=endpoint, dtype=kind)[0]) == 2.5


def test_length_of_arange():
    for start, stop, step in itertools.product((-3, 0, 2, 0.5), (-3, 0, 4, 7.5), (-2, -0.25, 0.25, 1, 3)):
        length = max(0, math.ceil((stop - start) / step))
        x = xp.arange(start, stop, step)
        assert x.shape == (length,)
        assert np.asarray(x).tolist() == [start + k * step for k in range(length)]
        whole = all(isinstance(v, int) for v in (start, stop, step))
        assert x.dtype is (xp.int64 if whole else xp.float64)
    for bad in ((0, 5, 0), (0, 5, 0.0), (0, INF), (NAN, 5), (0, 5, NAN), (-INF, 0)):
        with pytest.raises((ValueError, OverflowError)):
            xp.arange(*bad)


@pytest.mark.parametrize("dtype", FLOATING)
def test_linear_algebra(dtype):
    kind = getattr(xp, dtype)
    for diagonal in ([INF, -INF, 1.0], [NAN, 1.0, 1.0], [-0.0, -0.0, -0.0], [INF, 1.0, 2.0]):
        matrix = xp.asarray(np.diag(diagonal).astype(dtype))
        want = reduce(operator.add, diagonal)
        got = complex(xp.linalg.trace(matrix)).real
        assert got == want or (math.isnan(got) and math.isnan(want))
        # A sum of complex negative zeros is 0, as NumPy's is.
        sign = 1 if want == 0 and dtype.startswith("complex") else math.copysign(1, want)
        assert math.isnan(want) or math.copysign(1, got) == sign
    for singular in (xp.zeros((3, 3), dtype=kind), xp.ones((2, 2), dtype=kind)):
        sign, size = xp.linalg.slogdet(singular)
        assert complex(sign) == 0
        assert float(size) == -INF
    sign, size = xp.linalg.slogdet(xp.zeros((0, 0), dtype=kind))
    assert (complex(sign), float(size)) == (1, 0)
