"""Sentences of the standard on special cases that the official suite does not parse, and no table holds.

The suite reads the lists of the elementwise functions and omits prose: symmetries, "as if" definitions,
overflow, operators. It also omits all other functions, which are tested in `test_special_reductions.py`. The
rows of `test_special_cases.py` are the lists, including lists that the suite cannot read.
"""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest
from helpers import COMPLEX_FLOATING, FLOATING, INTEGERS, REAL_FLOATING, assert_same
from special_values import INF, NAN, PARTS, each_layout, specials

import stride0 as xp


def assert_bits(x, y, what=""):
    """Assert that two arrays of ours hold the same values: signs of zeros count, payloads of NaNs do not."""
    assert_same(x, np.asarray(y), what=what)


# --- definitions by other functions


@pytest.mark.parametrize("dtype", FLOATING)
def test_square_and_reciprocal(dtype):
    for x in each_layout(specials(dtype)):
        assert_bits(xp.square(x), xp.multiply(x, x))
        assert_bits(xp.reciprocal(x), xp.divide(1.0, x))
        for i in range(x.size):
            assert_bits(xp.square(x[i]), x[i] * x[i])
            assert_bits(xp.reciprocal(x[i]), 1.0 / x[i])


@pytest.mark.parametrize("dtype", FLOATING)
def test_positive_negative_and_subtract(dtype):
    for x in each_layout(specials(dtype)):
        assert_bits(+x, x)
        assert_bits(xp.negative(-x), x)
        y = xp.asarray(specials(dtype)[::-1].copy())
        assert_bits(x - y, x + (-y))


SYMMETRIES = {  # f(-x) is f(x), or -f(x)
    "cos": 1, "cosh": 1, "abs": 1, "square": 1,
    "sin": -1, "tan": -1, "asin": -1, "atan": -1, "sinh": -1, "tanh": -1, "asinh": -1, "atanh": -1,
}  # fmt: skip
CONJUGATES = (
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt square tan tanh "
    "sign"
)


def ordinary(dtype, size=301):
    rng = np.random.default_rng(4)
    v = rng.normal(0, 1, size) * 10.0 ** rng.integers(-5, 2, size)
    if dtype in COMPLEX_FLOATING:
        v = v + 1j * rng.normal(0, 1, size) * 10.0 ** rng.integers(-5, 2, size)
    return v.astype(dtype)


@pytest.mark.parametrize("name", SYMMETRIES)
def test_symmetries(name):
    function, sign = getattr(xp, name), SYMMETRIES[name]
    for dtype in FLOATING:
        for v in (ordinary(dtype), specials(dtype) if dtype in REAL_FLOATING else ordinary(dtype, 7)):
            x = xp.asarray(v)
            want = function(x) if sign > 0 else -function(x)
            got = function(-x)
            nan = np.isnan(v)  # the sign bit of NaN does not matter
            assert_same(got[xp.asarray(~nan)], np.asarray(want)[~nan], what=dtype)


@pytest.mark.parametrize("name", CONJUGATES.split())
def test_conjugates(name):
    """f(conj(z)) is conj(f(z)), on ordinary values; the tables test special values."""
    for dtype in COMPLEX_FLOATING:
        z = xp.asarray(ordinary(dtype))
        assert_bits(getattr(xp, name)(xp.conj(z)), xp.conj(getattr(xp, name)(z)), dtype)


@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_hypot(dtype):
    a, b = map(np.array, zip(*itertools.product(specials(dtype)[:40], repeat=2), strict=True))
    x, y = xp.asarray(a), xp.asarray(b)
    h = xp.hypot(x, y)
    for other in (xp.hypot(y, x), xp.hypot(x, -y), xp.hypot(-x, y), xp.hypot(-x, -y)):
        assert_bits(other, h)
    # For any unit, hypot of 3 and 4 units is 5 units: intermediate results do not underflow or overflow.
    for unit in (
        np.finfo(dtype).smallest_subnormal,
        np.finfo(dtype).smallest_normal,
        np.finfo(dtype).max / 8,
    ):
        sides = [np.full(9, factor, dtype=dtype) * unit for factor in (3, 4, 5)]
        assert_same(xp.hypot(xp.asarray(sides[0]), xp.asarray(sides[1])), sides[2])


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_trigonometry_by_hyperbolic_functions(dtype):
    z = ordinary(dtype)
    turned = 1j * z
    for name, hyperbolic in (("sin", "sinh"), ("tan", "tanh"), ("asin", "asinh"), ("atan", "atanh")):
        got, other = (
            getattr(xp, name)(xp.asarray(z)),
            getattr(xp, hyperbolic)(xp.asarray(turned.astype(dtype))),
        )
        np.testing.assert_allclose(
            np.asarray(got), -1j * np.asarray(other), rtol=1e-5 if "64" in dtype else 1e-13
        )
    cos, cosh = xp.cos(xp.asarray(z)), xp.cosh(xp.asarray(turned.astype(dtype)))
    np.testing.assert_allclose(np.asarray(cos), np.asarray(cosh), rtol=1e-5 if "64" in dtype else 1e-13)


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_logarithms_of_other_bases(dtype):
    """By the change of base: special values are quotients of `log`."""
    z = xp.asarray(specials(dtype))
    log = np.asarray(xp.log(z))
    for name, base in (("log2", 2), ("log10", 10)):
        got = np.asarray(getattr(xp, name)(z))
        for part in ("real", "imag"):
            want = getattr(log, part) / math.log(base)
            np.testing.assert_allclose(getattr(got, part), want, rtol=1e-6 if "64" in dtype else 1e-14)


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_complex_powers(dtype):
    rng = np.random.default_rng(8)
    z, w = ((rng.uniform(0.1, 3, 200) * np.exp(1j * rng.uniform(-3, 3, 200))).astype(dtype) for _ in range(2))
    got = np.asarray(xp.pow(xp.asarray(z), xp.asarray(w)))
    np.testing.assert_allclose(got, np.exp(w.astype(complex) * np.log(z.astype(complex))), rtol=2e-5)


# --- equality and signs of complex numbers: all combinations of special parts


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_complex_equality(dtype):
    pairs = list(itertools.product(specials(dtype)[: 3 * 49 : 3].tolist(), repeat=2))
    a, b = (np.array(column, dtype=dtype) for column in zip(*pairs, strict=True))
    want = np.array([u.real == w.real and u.imag == w.imag for u, w in zip(a, b, strict=True)])
    x, y = xp.asarray(a), xp.asarray(b)
    assert want.any()
    assert_same(x == y, want)
    assert_same(x != y, ~want)
    assert_same(xp.equal(x, y), want)
    assert_same(xp.not_equal(x, y), ~want)


def test_complex_addition_is_by_component():
    for dtype in COMPLEX_FLOATING:
        grid = itertools.product(itertools.product(PARTS, repeat=2), repeat=2)
        a, b = (np.array([complex(*v) for v in column], dtype=dtype) for column in zip(*grid, strict=True))
        x, y = xp.asarray(a), xp.asarray(b)
        for name in ("add", "subtract"):
            got, function = getattr(xp, name)(x, y), getattr(xp, name)
            assert_bits(xp.real(got), function(xp.real(x), xp.real(y)))
            assert_bits(xp.imag(got), function(xp.imag(x), xp.imag(y)))


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_complex_products_and_quotients(dtype):
    """By the textbook's formulas if all parts are finite; for the small numbers here they are exact."""
    rng = np.random.default_rng(9)
    a, b, c, d = rng.integers(-50, 50, (4, 300)).astype(float)
    d[c == 0] = 1
    z, w = ((u + 1j * v).astype(dtype) for u, v in ((a, b), (c, d)))
    product = xp.asarray(z) * xp.asarray(w)
    assert bool(xp.all(xp.real(product) == xp.asarray(a * c - b * d, dtype=xp.real(product).dtype)))
    assert bool(xp.all(xp.imag(product) == xp.asarray(b * c + a * d, dtype=xp.real(product).dtype)))
    size = c * c + d * d
    quotient = np.asarray(xp.asarray(z) / xp.asarray(w))
    np.testing.assert_allclose(quotient.real, (a * c + b * d) / size, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(quotient.imag, (b * c - a * d) / size, rtol=1e-5, atol=1e-6)
    everything_nan = xp.asarray([complex(NAN, NAN)] * 9, dtype=getattr(xp, dtype))
    for got in (everything_nan * everything_nan, everything_nan / everything_nan):
        assert bool(xp.all(xp.isnan(xp.real(got)) & xp.isnan(xp.imag(got))))


# --- overflow and underflow


@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_overflow_and_underflow(dtype):
    most, least = float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_subnormal)
    for s, t in itertools.product((1.0, -1.0), repeat=2):
        rows = [
            ("multiply", s * most, t * 2.0, s * t * INF),
            ("multiply", s * least, t * 0.25, s * t * 0.0),
            ("divide", s * most, t * 0.5, s * t * INF),
            ("divide", s * least, t * 4.0, s * t * 0.0),
            ("floor_divide", s * most, t * 0.5, s * t * INF),
            ("floor_divide", s * most, t * least, s * t * INF),
            ("floor_divide", s * least, t * 4.0, 0.0 if s == t else -1.0),
            ("pow", s * most, 3.0, s * INF),
            ("pow", s * most, -3.0, s * 0.0),
            ("add", s * most, s * most, s * INF),
            ("subtract", s * most, -s * most, s * INF),
        ]
        for name, a, b, want in rows:
            x, y = (xp.asarray([v] * 17, dtype=getattr(xp, dtype)) for v in (a, b))
            assert_same(getattr(xp, name)(x, y), np.full(17, want, dtype=dtype), what=f"{name} {a} {b}")


# --- clip, where, round


@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_clip(dtype):
    v = specials(dtype)
    nan = np.full(len(v), NAN, dtype=dtype)
    for x in each_layout(v):
        for low, high in ((NAN, None), (None, NAN), (NAN, 1.0), (0.0, NAN), (NAN, NAN)):
            assert_same(xp.clip(x, low, high), nan)
            bounds = [None if b is None else xp.asarray(b, dtype=x.dtype) for b in (low, high)]
            assert_same(xp.clip(x, *bounds), nan)
        assert_bits(xp.clip(x), x)
        assert_bits(xp.clip(x, None, None), x)
        for low, high in ((-INF, INF), (-1.0, 1.0), (-INF, -1.0), (2.0, 2.0)):
            kind = v.dtype.type
            want = np.array([e if e != e else min(max(e, kind(low)), kind(high)) for e in v], dtype=dtype)
            np.testing.assert_array_equal(np.asarray(xp.clip(x, low, high)), want)
    column = xp.asarray(np.array([[0.0], [NAN]], dtype=dtype))
    got = np.isnan(np.asarray(xp.clip(xp.asarray(v), column)))
    np.testing.assert_array_equal(got, np.stack([np.isnan(v), nan != nan]))


@pytest.mark.parametrize("dtype", FLOATING)
def test_where_moves_bits(dtype):
    v = specials(dtype)
    v[::2] = -v[::2]  # NaNs of both signs
    w = v[::-1].copy()
    mask = np.random.default_rng(3).integers(0, 2, len(v)).astype(bool)
    got = xp.where(xp.asarray(mask), xp.asarray(v), xp.asarray(w))
    assert np.asarray(got).tobytes() == np.where(mask, v, w).tobytes()
    for scalar in (NAN, -0.0, INF):
        want = np.where(mask, v, np.array(scalar, dtype=dtype))
        assert_same(xp.where(xp.asarray(mask), xp.asarray(v), scalar), want)
        assert_same(xp.where(xp.asarray(~mask), scalar, xp.asarray(v)), want)


@pytest.mark.parametrize("dtype", FLOATING)
def test_round_to_even(dtype):
    real = "float32" if dtype in ("float32", "complex64") else "float64"
    v = np.array(
        [k + 0.5 for k in range(-30, 30)] + [2.0**22 + 0.5, 2.0**22 + 1.5, 0.49999997, 2.0**60], dtype=real
    )
    want = np.array([math.copysign(round(float(e)), e) for e in v], dtype=real)
    if dtype in COMPLEX_FLOATING:
        real, whole = v, want
        v, want = np.empty(v.shape, dtype=dtype), np.empty(v.shape, dtype=dtype)
        v.real, v.imag, want.real, want.imag = real, real[::-1], whole, whole[::-1]
        v.imag[0] = want.imag[0] = NAN
        v.real[1] = want.real[1] = -INF
    assert_same(xp.round(xp.asarray(v)), want)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_whole(dtype):
    info = np.iinfo(dtype)
    v = np.array([info.min, info.max, info.max // 2 + 1, 0, 1, 7] * 5, dtype=dtype)
    for name in ("ceil", "floor", "round", "trunc"):
        assert_same(getattr(xp, name)(xp.asarray(v)), v)


# --- operators, as the functions


OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow,
}  # fmt: skip
COMPARISONS = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
IN_PLACE = {
    "add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul, "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv, "remainder": operator.imod, "pow": operator.ipow,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", [*OPERATORS, *COMPARISONS])
def test_operators(name, dtype):
    if dtype in COMPLEX_FLOATING and name in ("floor_divide", "remainder", *list(COMPARISONS)[2:]):
        return
    call, function = {**OPERATORS, **COMPARISONS}[name], getattr(xp, name)
    few = [*np.unique(specials(dtype)).tolist(), -0.0]
    a, b = (np.array(column, dtype=dtype) for column in zip(*itertools.product(few, repeat=2), strict=True))
    x, y = xp.asarray(a), xp.asarray(b)
    want = function(x, y)
    assert_bits(call(x, y), want)
    if name in IN_PLACE:
        assert_bits(IN_PLACE[name](xp.asarray(a, copy=True), y), want)
    row = xp.asarray(np.array(few, dtype=dtype))
    for i, value in enumerate(few):
        scalar = complex(value) if dtype in COMPLEX_FLOATING else float(value)
        one = xp.asarray(value, dtype=row.dtype)
        assert_bits(call(row, scalar), function(row, one), f"{scalar}")
        assert_bits(call(scalar, row), function(one, row), f"{scalar}")
        assert_bits(call(one, row), want[i * len(few) : (i + 1) * len(few)], f"{scalar}")
        if name in IN_PLACE:
            assert_bits(IN_PLACE[name](xp.asarray(row, copy=True), scalar), function(row, one), f"{scalar}")
