"""Complex numbers whose parts differ far in size, to the ends of the range: either part within 1 ULP."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers import COMPLEX_FLOATING
from ulp import part_error, parts_error

import stride0 as xp

Numbers = np.ndarray[Any, Any]
EXPONENTS = {"complex64": (-149, 128), "complex128": (-1074, 1024)}
# Ends of the range, of squares and products, and of the ordinary numbers of the loops.
SPECIAL = {
    "complex64": (1e-45, 1e-40, 1.2e-38, 1e-25, 1e-10, 1.0, 1.9e19, 1e25, 3e38),
    "complex128": (5e-324, 1e-310, 2.3e-308, 1e-200, 1e-160, 1e-100, 1.0, 1.5e154, 1e200, 1.79e308),
}


def parts(rng: np.random.Generator, dtype: str, count: int) -> Numbers:
    """Real numbers of all exponents and of ordinary size, and special ones."""
    sign = rng.choice([-1.0, 1.0], count)
    wide = sign * np.ldexp(1 + rng.random(count), rng.integers(*EXPONENTS[dtype], count))
    special = sign * rng.choice(SPECIAL[dtype], count)
    return np.choose(rng.integers(0, 3, count), [wide, special, rng.normal(size=count)])


def numbers(dtype: str, count: int, seed: int) -> Numbers:
    """Finite complex numbers without a zero; a quarter have parts of about one size."""
    rng = np.random.default_rng(seed)
    z = np.empty(count, dtype)
    z.real, z.imag = parts(rng, dtype, count), parts(rng, dtype, count)
    with np.errstate(over="ignore"):
        z.imag[::4] = z.real[::4] * (1 + rng.random(z[::4].size))
    return z[np.isfinite(z) & (z.real != 0) & (z.imag != 0)]


def quotient(z: Any, w: Any) -> Any:
    """By the textbook's formula, whose products and sums are exact with 7000 bits."""
    size = w.real * w.real + w.imag * w.imag
    return mpmath.mpc((z.real * w.real + z.imag * w.imag) / size, (z.imag * w.real - z.real * w.imag) / size)


def root(z: Any) -> Any:
    size = mpmath.sqrt((abs(z.real) + mpmath.sqrt(z.real * z.real + z.imag * z.imag)) / 2)
    other = z.imag / (2 * size)
    return mpmath.mpc(abs(other), mpmath.sign(z.imag) * size) if z.real < 0 else mpmath.mpc(size, other)


def assert_parts(got: Any, operands: tuple[Numbers, ...], exact: Any, what: str) -> None:
    with mpmath.workprec(7000):
        for *given, result in zip(*(v.tolist() for v in operands), np.asarray(got), strict=True):
            error = parts_error(result, exact(*map(mpmath.mpc, given)), result.real.dtype)
            assert error <= 1, f"{what} of {given} is {result}, off by {error} ULP"


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (1e200 + 1e-130j, 1e130 + 1e-280j),
        (1e-160 - 9.5e299j, 1e100 + 1e-310j),
        (-8.25e-113 - 9.71e205j, -7.87e-119 + 9.26e199j),
        (-5.4e-306 + 1.05e22j, -5.14e-312 - 1e16j),
        (1j, 5e-324 + 1e-323j),
        (1e300 + 1e-300j, 1e300 + 1e-300j),
    ],
)
def test_quotients_of_few(x: complex, y: complex) -> None:
    got = complex(xp.asarray(x) / xp.asarray(y))
    assert got == complex(xp.asarray(x) / y) == complex(x / xp.asarray(y))
    assert_parts([np.complex128(got)], (np.array([x]), np.array([y])), quotient, "quotient")


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_quotients(dtype: str) -> None:
    x, y = numbers(dtype, 1000, 1)[:800], numbers(dtype, 1000, 2)[:800]
    # In some quotients one part almost cancels.
    with np.errstate(all="ignore"):
        across = (y.conj() * np.array(1j, dtype))[::3]
    x[::3] = np.where(np.isfinite(across) & (across.real != 0) & (across.imag != 0), across, x[::3])
    assert_parts(xp.asarray(x) / xp.asarray(y), (x, y), quotient, "quotient")
    assert_parts(xp.reciprocal(xp.asarray(x)), (x,), lambda z: quotient(mpmath.mpc(1), z), "reciprocal")
    one = np.full(x.size, y[5])
    assert_parts(xp.asarray(x) / complex(y[5]), (x, one), quotient, "quotient by a scalar")
    assert_parts(complex(y[5]) / xp.asarray(x), (one, x), quotient, "quotient of a scalar")


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_square_roots(dtype: str) -> None:
    x = np.concatenate([numbers(dtype, 1000, 3), np.array([1e-160 + 5e-324j, -1e-100 + 5e-324j], dtype)])
    x = x[x != 0]
    assert_parts(xp.sqrt(xp.asarray(x)), (x,), root, "sqrt")


@pytest.mark.parametrize("power", [-1, -2, 3, 5, -7, 20, 100])
@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_integer_powers(dtype: str, power: int) -> None:
    """The signs of infinite parts must be right too."""
    x = numbers(dtype, 60, power + 200)
    got = xp.asarray(x) ** power
    assert_parts(got, (x,), lambda z: z**power, f"power {power}")
    mixed = np.full(x.size, power, dtype)
    mixed[::20] = 0.5 + 1j  # a block of several exponents
    among = np.asarray(xp.pow(xp.asarray(x), xp.asarray(mixed)))
    kept = np.arange(x.size) % 20 != 0
    assert among[kept].tobytes() == np.asarray(got)[kept].tobytes()


@pytest.mark.parametrize(
    "name",
    [
        *("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "log1p"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
    ],
)
def test_other_functions(name: str) -> None:
    x = numbers("complex128", 60, len(name))
    if name in ("exp", "expm1", "sinh", "cosh", "tanh"):
        x = x[np.abs(x.real) < 1e3]
    elif name in ("sin", "cos", "tan"):
        x = x[np.abs(x.imag) < 1e3]
    x = x[:20]
    assert len(x) == 20
    exact = {"expm1": lambda z: mpmath.exp(z) - 1, "log1p": lambda z: mpmath.log(1 + z)}
    assert_parts(getattr(xp, name)(xp.asarray(x)), (x,), exact.get(name) or getattr(mpmath, name), name)


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_absolute_values_and_signs(dtype: str) -> None:
    x = numbers(dtype, 600, 8)
    size, sign = np.asarray(xp.abs(xp.asarray(x))), np.asarray(xp.sign(xp.asarray(x)))
    with mpmath.workprec(5000):
        for z, r, s in zip(x.tolist(), size, sign, strict=True):
            exact = mpmath.sqrt(mpmath.mpf(z.real) ** 2 + mpmath.mpf(z.imag) ** 2)
            assert part_error(r, exact, r.dtype) <= 1, z
            # Divided by a rounded absolute value.
            assert parts_error(s, mpmath.mpc(z) / exact, r.dtype) <= 1.5, z


@pytest.mark.parametrize("dtype", COMPLEX_FLOATING)
def test_every_layout_has_the_same_bits(dtype: str) -> None:
    """Strides, positions, in place, scalars, chains."""
    a, b = numbers(dtype, 1500, 5)[:1200], numbers(dtype, 1500, 6)[:1200]
    x, y = xp.asarray(a), xp.asarray(b)
    for name, operands in [("divide", (x, y)), ("reciprocal", (x,)), ("sqrt", (x,)), ("pow", (x, 3 + 0 * y))]:
        function = getattr(xp, name)
        found = np.asarray(function(*operands)).tobytes()
        columns = [xp.reshape(v, (30, 40)) for v in operands]
        turned = np.asarray(function(*(v.T for v in columns))).T
        assert turned.tobytes() == found, name
        stretched = [xp.zeros(2 * v.size, dtype=v.dtype)[::-2] for v in operands]
        for s, v in zip(stretched, operands, strict=True):
            s[...] = v
        assert np.asarray(function(*stretched)).tobytes() == found, name
        for k in (0, 1, 17, 1199):
            alone = np.asarray(function(*(v[k] for v in operands)))
            assert alone.tobytes() == found[k * x.itemsize : (k + 1) * x.itemsize], name
        with xp.fused(size=1):
            chain = function(*(xp.negative(-v) for v in operands))
        assert np.asarray(chain).tobytes() == found, name
    z = xp.asarray(a, copy=True)
    z /= y
    assert np.asarray(z).tobytes() == np.asarray(x / y).tobytes()
    for k in (3, 700):
        row = xp.asarray(np.full(b.size, b[k]))
        assert np.asarray(x / complex(b[k])).tobytes() == np.asarray(x / row).tobytes()
        assert np.asarray(complex(b[k]) / x).tobytes() == np.asarray(row / x).tobytes()


def test_ends_of_the_range() -> None:
    """Parts beyond the range are infinities and zeros of the right sign."""
    for x, y, want in [
        (1e300 - 1e-300j, 1e-300 + 1e-320j, complex(math.inf, -math.inf)),
        (1e-300 - 1e-310j, 1e300 + 1e290j, complex(0.0, -0.0)),
        (-1e-300 - 1e-310j, 1e300 + 1e290j, complex(-0.0, 0.0)),
        (1e308 + 1e308j, 1e308 + 1e308j, 1 + 0j),
        (5e-324 + 5e-324j, 5e-324 + 5e-324j, 1 + 0j),
        (5e-324 + 0j, 0.5 + 5e-324j, complex(1e-323, -0.0)),
    ]:
        got = np.asarray(xp.asarray(x) / xp.asarray(y))
        assert got.tobytes() == np.complex128(want).tobytes(), f"{x} / {y} is {got}"
    cube = complex(xp.asarray(-1e154 + 1e300j) ** 3)
    assert cube == complex(math.inf, -math.inf)
