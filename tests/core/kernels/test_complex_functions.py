"""Complex functions, part by part: at most 1 ULP, also where terms cancel; branch cuts; exact cases.

The reference is mpmath with enough digits that cancellation in its formulas does no harm. Special
values are in `test_special_cases.py` and `test_special_sentences.py`, symmetries in the latter.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers import COMPLEX_FLOATING
from ulp import parts_error

import stride0 as xp

EXACT = {
    name: getattr(mpmath, name)
    for name in (
        *("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "log"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
    )
}
EXACT["expm1"] = lambda z: mpmath.exp(z) - 1
EXACT["log1p"] = lambda z: mpmath.log(1 + z)
EXACT["log2"] = lambda z: mpmath.log(z) / mpmath.log(2)
EXACT["log10"] = lambda z: mpmath.log(z) / mpmath.log(10)
EXACT["reciprocal"] = lambda z: 1 / z

HALF_TURN = math.pi / 2


def wide(rng, count, exponent):
    """Numbers of any size between 2**-exponent and 2**exponent."""
    return rng.choice([-1.0, 1.0], count) * np.ldexp(
        1 + rng.random(count), rng.integers(-exponent, exponent, count)
    )


def ordinary(rng, count):
    return rng.normal(0, 2, count) + 1j * rng.normal(0, 2, count)


def of_all_sizes(rng, count):
    return wide(rng, count, 60) + 1j * wide(rng, count, 60)


def near_the_unit_circle(rng, count):
    angle, radius = rng.uniform(0, 2 * np.pi, count), 1 + wide(rng, count, 25) * 2.0**-26
    return radius * np.cos(angle) + 1j * radius * np.sin(angle)


def near_branch_points(rng, count):
    point = rng.choice([1, -1, 1j, -1j, 0, -2, HALF_TURN, HALF_TURN * 1j, np.pi, np.pi * 1j], count)
    off = wide(rng, count, 28) * 2.0**-29 * rng.choice([0, 1], count)
    return point + off + 1j * wide(rng, count, 28) * 2.0**-29


def near_quarter_turns(rng, count):
    multiple = rng.integers(-40, 40, count) * HALF_TURN * (1 + wide(rng, count, 40) * 2.0**-52)
    other = rng.normal(0, 3, count)
    return np.where(rng.random(count) < 0.5, multiple + 1j * other, other + 1j * multiple)


def near_the_zeros_of_expm1(rng, count):
    y = np.clip(wide(rng, count, 8), -1.4, 1.4)
    return -np.log(np.cos(y)) * (1 + wide(rng, count, 12) * 2.0**-14) + 1j * y


def with_huge_angles(rng, count):
    angle = 10.0 ** rng.uniform(5, 22, count)
    other = rng.normal(0, 3, count)
    return np.where(rng.random(count) < 0.5, angle + 1j * other, other + 1j * angle)


PLACES = (
    ordinary,
    of_all_sizes,
    near_the_unit_circle,
    near_branch_points,
    near_quarter_turns,
    near_the_zeros_of_expm1,
    with_huge_angles,
)


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("name", EXACT)
def test_both_parts_are_within_one_ulp(name, place, dtype):
    z = place(np.random.default_rng(len(name)), 60).astype(dtype)
    if name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
        bad = (np.abs(z.real) > 1e3) & (np.abs(z.imag) > 1e3)  # beyond all exponents, slow in mpmath
        growing = z.imag if name in ("sin", "cos", "tan") else z.real
        z = z[~bad & (np.abs(growing) < 1e3)]
        assert len(z) > 10
    if name in CUTS:
        z = z[(z.real != 0) & (z.imag != 0)]  # mpmath has no signed zeros to distinguish the sides of a cut
    got = np.asarray(getattr(xp, name)(xp.asarray(z)))
    assert got.dtype == z.dtype
    with mpmath.workprec(700):
        for given, result in zip(z.tolist(), got, strict=True):
            error = parts_error(result, EXACT[name](mpmath.mpc(given)), z.real.dtype)
            assert error <= 1, f"{name}({given}) = {result} is off by {error} ULP"


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_quotients(dtype):
    rng = np.random.default_rng(1)
    z, w = (np.concatenate([f(rng, 150) for f in (ordinary, of_all_sizes)]).astype(dtype) for _ in range(2))
    # Quotients whose real or imaginary part almost cancels.
    z = np.concatenate([z, (w.conj() * (1 + 1e-6j * rng.normal(size=300))).astype(dtype)])
    w = np.concatenate([w, w.conj()])
    got = np.asarray(xp.divide(xp.asarray(z), xp.asarray(w)))
    with mpmath.workprec(700):
        for a, b, result in zip(z.tolist(), w.tolist(), got, strict=True):
            error = parts_error(result, mpmath.mpc(a) / mpmath.mpc(b), z.real.dtype)
            assert error <= 1, f"{a} / {b} is off by {error} ULP"


def power_cases(rng):
    yield ordinary(rng, 100), ordinary(rng, 100) * 3
    yield wide(rng, 100, 60) + 1j * wide(rng, 100, 60), ordinary(rng, 100)
    yield ordinary(rng, 100), rng.choice([*range(-20, 2), *range(3, 60)], 100) + 0j
    yield ordinary(rng, 100), rng.normal(0, 5, 100) + 0j
    yield near_the_unit_circle(rng, 100), wide(rng, 100, 14) + 1j * rng.normal(size=100)


def units_of_roundoff(got, exact):
    """How far float32 numbers are from rational ones, relative to these."""
    return max(
        abs(Fraction(float(z)) - e) / abs(e) * 2**24 for z, e in zip(got, exact, strict=True) if e != 0
    )


@pytest.mark.parametrize("cancels", [False, True])
def test_products_of_complex64_do_not_cancel(cancels):
    rng = np.random.default_rng(9)
    x = ordinary(rng, 4001).astype(np.complex64)
    y = ordinary(rng, 4001).astype(np.complex64)
    if cancels:  # nearly x times its conjugate, or i times that
        y = (np.conj(x) * rng.choice([1, 1j], x.size) * (1 + rng.normal(0, 1e-7, x.size))).astype(
            np.complex64
        )
    a, b, c, d = ([Fraction(float(part)) for part in half] for z in (x, y) for half in (z.real, z.imag))
    re = [p * r - q * s for p, q, r, s in zip(a, b, c, d, strict=True)]
    im = [q * r + p * s for p, q, r, s in zip(a, b, c, d, strict=True)]
    found = np.asarray(xp.asarray(x) * xp.asarray(y))
    assert units_of_roundoff(found.real, re) <= 2
    assert units_of_roundoff(found.imag, im) <= 2
    if cancels:  # the textbook's formula loses all digits
        assert max(units_of_roundoff((x * y).real, re), units_of_roundoff((x * y).imag, im)) > 100
    # The same for either order of operands, at every position, and with any strides.
    assert np.array_equal(np.asarray(xp.asarray(y) * xp.asarray(x)), found)
    for n in (1, 2, 3, 5, 7, 8, 9, 15, 16, 17):
        assert np.array_equal(
            np.asarray(xp.asarray(x[n : 2 * n]) * xp.asarray(y[n : 2 * n])), found[n : 2 * n]
        )
    assert np.array_equal(np.asarray(xp.asarray(x)[::-2] * xp.asarray(y)[::-2]), found[::-2])
    assert np.array_equal(np.asarray(xp.asarray(x) * xp.asarray(y[7])), np.asarray(xp.asarray(x) * y[7]))


def test_products_of_complex64_beyond_the_range_are_the_textbooks():
    """Infinities, NaN, overflow, underflow, and the signs of zeros."""
    values = [0.0, -0.0, 1.0, -2.5, 3e38, -3e38, 1e-30, -1e-42, math.inf, -math.inf, math.nan]
    parts = np.asarray(np.meshgrid(values, values, values, values), dtype=np.float32).reshape(4, -1)
    x, y = np.empty((2, parts.shape[1]), np.complex64)
    x.real, x.imag, y.real, y.imag = parts
    found = np.asarray(xp.asarray(x) * xp.asarray(y))
    with np.errstate(all="ignore"):
        a, b, c, d = parts
        for got, first, second in ((found.real, (a, c), (-b, d)), (found.imag, (b, c), (a, d))):
            p, q = (left * right for left, right in (first, second))
            want = p + q
            exact = sum(left.astype(float) * right for left, right in (first, second))
            finite = np.isfinite(want)
            assert np.array_equal(got[~finite], want[~finite], equal_nan=True)
            got, want, exact = got[finite], want[finite], exact[finite]
            assert np.all(np.abs(got - exact) <= 2**-149 + 2**-23 * np.abs(exact))
            assert np.array_equal(np.signbit(got[exact == 0]), np.signbit(want[exact == 0]))


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
@pytest.mark.parametrize("case", range(5))
def test_powers(case, dtype):
    """Both parts within 1 ULP, if neither is negligible."""
    z, w = (v.astype(dtype) for v in list(power_cases(np.random.default_rng(2)))[case])
    got = np.asarray(xp.pow(xp.asarray(z), xp.asarray(w)))
    tested = 0
    with mpmath.workprec(700):
        for a, b, result in zip(z.tolist(), w.tolist(), got, strict=True):
            exact = mpmath.exp(mpmath.mpc(b) * mpmath.log(mpmath.mpc(a)))
            small = np.finfo(dtype).tiny
            if min(abs(exact.real), abs(exact.imag)) < max(2.0**-24 * abs(exact), small):
                continue
            tested += 1
            error = parts_error(result, exact, z.real.dtype)
            assert error <= 1, f"{a} ** {b} is off by {error} ULP"
    assert tested > 60


def test_exact_results():
    n = np.arange(-12, 13)
    a, b = (v.ravel() for v in np.meshgrid(n, n))
    z = a + 1j * b
    z = z[z != 0]
    x = xp.asarray(z)
    principal = np.where((z.real > 0) | ((z.real == 0) & (z.imag > 0)), z, -z)
    assert (np.asarray(xp.sqrt(x * x + 0.0)) == principal).all()
    assert (np.asarray(x * x[::-1] / x) == z[::-1]).all()
    for power in range(3, 9):
        exact = [complex(1)] * len(z)
        for _ in range(power):
            exact = [p * q for p, q in zip(exact, z.tolist(), strict=True)]  # small integers: exact
        assert np.asarray(x**power).tolist() == exact
    k = xp.arange(-500.0, 501.0)
    powers = xp.pow(xp.asarray(2.0), k)
    assert (xp.log2(xp.astype(powers, xp.complex128)) == xp.astype(k, xp.complex128)).__array__().all()
    tens = xp.asarray([10.0**k + 0j for k in range(23)])
    assert np.asarray(xp.log10(tens)).tolist() == [complex(k) for k in range(23)]
    assert complex(xp.sqrt(xp.asarray(-4.0 + 0j))) == 2j
    assert complex(xp.sqrt(xp.asarray(complex(-4.0, -0.0)))) == -2j


# name: points on a cut, as real numbers, and whether they lie on the imaginary axis
CUTS = {
    "sqrt": ((-1e-30, -0.5, -1.0, -7.0, -1e30), False),
    "log": ((-1e-30, -0.5, -1.0, -7.0, -1e30), False),
    "log2": ((-0.5, -7.0), False),
    "log10": ((-0.5, -7.0), False),
    "log1p": ((-1.5, -7.0, -1e30), False),
    "acosh": ((-1e30, -7.0, -1.5, -0.5, 0.25, 0.999), False),
    "acos": ((-1e30, -7.0, -1.5, 1.5, 7.0, 1e30), False),
    "asin": ((-1e30, -7.0, -1.5, 1.5, 7.0, 1e30), False),
    "atanh": ((-1e30, -7.0, -1.5, 1.5, 7.0, 1e30), False),
    "asinh": ((-1e30, -7.0, -1.5, 1.5, 7.0, 1e30), True),
    "atan": ((-1e30, -7.0, -1.5, 1.5, 7.0, 1e30), True),
}


@pytest.mark.parametrize("name", CUTS)
def test_the_sign_of_zero_tells_the_side_of_a_cut(name):
    function = getattr(xp, name)
    points, imaginary = CUTS[name]
    for x in points:
        for side in (1.0, -1.0):
            zero, little = math.copysign(0.0, side), side * 1e-200
            on, beside = (complex(d, x) if imaginary else complex(x, d) for d in (zero, little))
            got, limit = (complex(function(xp.asarray(v))) for v in (on, beside))
            assert got == pytest.approx(limit, rel=1e-13, abs=1e-13), f"{name}({on})"
            # The two sides differ, so the cut exists.
        other = complex(function(xp.asarray(complex(-0.0, x) if imaginary else complex(x, -0.0))))
        first = complex(function(xp.asarray(complex(0.0, x) if imaginary else complex(x, 0.0))))
        assert abs(first - other) > 1e-16 * abs(first)


def test_absolute_values_neither_overflow_nor_vanish():
    for size in (1e-320, 1e-200, 1.0, 1e200, 3e307):
        z = xp.asarray([complex(3 * size, 4 * size), complex(-4 * size, 3 * size)])
        assert np.asarray(xp.abs(z)).tolist() == pytest.approx(
            [5 * size] * 2, rel=1e-3 if size < 1e-300 else 4e-16
        )


def test_magnitudes_of_complex64_next_to_the_middle_of_two_floats():
    """Each is rounded from 53 bits, also if rounding to float64 first would cross a midpoint."""
    rng = np.random.default_rng(0)
    re = (1 + rng.integers(0, 1 << 23, 60_000) / 2**23).astype(np.float32)
    middle = re.astype(np.float64) + 2.0**-24
    im = np.sqrt(middle**2 - re.astype(np.float64) ** 2).astype(np.float32)
    im[::3] = np.nextafter(im[::3], np.float32(2))
    z = np.empty((2, re.size), np.complex64)
    z[0].real, z[0].imag = re * np.float32(2.0**20), im * np.float32(2.0**20)
    z[1].real, z[1].imag = im * np.float32(1e-38), re * np.float32(1e-38)
    special = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, 1e-45, 3e38], np.float32)
    z[1, :64] = (special[:, None] + 0j).repeat(8, 1).ravel()
    z[1, :64].imag = np.tile(special, 8)
    x = xp.asarray(z.ravel())
    every_second = xp.zeros(2 * x.size, dtype=x.dtype)[::2]  # the loop over any strides also rounds once
    every_second[...] = x
    found = np.asarray(xp.abs(x))
    assert found.tobytes() == np.array(xp.abs(every_second)).tobytes()
    for k in range(0, 60_000, 997):
        exact = mpmath.sqrt(mpmath.mpf(float(z[0, k].real)) ** 2 + mpmath.mpf(float(z[0, k].imag)) ** 2)
        assert abs(mpmath.mpf(float(found[k])) - exact) <= 0.5001 * np.spacing(found[k])
    assert np.isinf(found[60_000 + 8 * 3 + 5]) and np.isnan(found[60_000 + 8 * 2 + 5])


def test_tangents_far_from_the_axis():
    for x in (25.0, 400.0, 1e300):
        assert complex(xp.tanh(xp.asarray(complex(x, 1.0)))).real == 1.0
        assert complex(xp.tan(xp.asarray(complex(1.0, -x)))).imag == -1.0
    # 4 sin(1) cos(1) exp(-2 * 360) is subnormal
    assert complex(xp.tanh(xp.asarray(360.0 + 1j))).imag == pytest.approx(
        1.8185948536513634 * math.exp(-720), rel=1e-9
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_blocks_of_real_numbers_and_of_one_base_have_the_bits_of_others(dtype):
    """They have separate loops; complex numbers and other bases use the general loop."""
    rng = np.random.default_rng(3)
    values = [*wide(rng, 300, 60), 0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 5e-324, 1e300]
    with np.errstate(over="ignore"):
        re = np.array(values).astype(np.empty(0, dtype).real.dtype)
    for zero in (0.0, -0.0):
        z = np.empty(re.size, dtype)
        z.real, z.imag = re, zero
        mixed = np.insert(z, np.arange(0, z.size, 50), 1 + 1j)
        for name in ("sqrt", "reciprocal"):
            function = getattr(xp, name)
            found = np.asarray(function(xp.asarray(mixed)))
            among = np.delete(found, np.arange(0, mixed.size, 51)[: -(-z.size // 50)])
            assert same_parts(np.asarray(function(xp.asarray(z))), among), name
    exponents = xp.asarray((rng.normal(size=300) + 1j * rng.normal(size=300)).astype(dtype))
    for base in (3 + 0j, -2.5 + 1.25j, 1 + 1e-9j, 0j, complex(math.inf, 1), 1e30 - 2j):
        bases = np.full(300, base, dtype)
        bases[::100] = 2 + 3j
        one = np.asarray(xp.pow(xp.asarray(base, dtype=getattr(xp, dtype)), exponents))
        among = np.asarray(xp.pow(xp.asarray(bases), exponents))
        kept = np.arange(300) % 100 != 0
        assert same_parts(one[kept], among[kept]), base


def same_parts(x, y):
    """Whether complex arrays have the same bits, every NaN being the same."""
    x, y = (z.copy().view(z.real.dtype) for z in (x, y))
    x[np.isnan(x)] = y[np.isnan(y)] = math.nan
    return x.tobytes() == y.tobytes()
