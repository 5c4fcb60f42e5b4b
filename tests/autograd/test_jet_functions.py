"""Taylor series of elementwise functions by `jet`, against mpmath."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stride0 as xp
from stride0 import special
from stride0.autograd import jet

ORDER = 6
CURVE = [0.7, -0.4, 0.3, 0.9, -1.1, 0.5]  # Taylor coefficients of the argument, from the first order on


def taylor(f, at, dtype=xp.float64):
    """Return the Taylor coefficients of a function along the curve."""
    rows = [xp.asarray(c * math.factorial(k + 1), dtype=dtype) for k, c in enumerate(CURVE)]
    y, found = jet(f, (xp.asarray(at, dtype=dtype),), (rows,))
    assert all(d.dtype == y.dtype and d.shape == y.shape for d in found)
    return np.asarray([complex(y), *(complex(d) / math.factorial(k + 1) for k, d in enumerate(found))])


def expected(f, at):
    """Return the coefficients by mpmath."""
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(30):
        outer = mp.taylor(f(mp), mp.mpmathify(at), ORDER)
        change = [mp.mpf(0), *map(mp.mpf, CURVE)]
        out, power = [outer[0]] + [mp.mpf(0)] * ORDER, [mp.mpf(1)] + [mp.mpf(0)] * ORDER
        for factor in outer[1:]:
            power = [sum(power[i] * change[k - i] for i in range(k + 1)) for k in range(ORDER + 1)]
            out = [a + factor * b for a, b in zip(out, power, strict=True)]
        return np.asarray([complex(c) for c in out])


def close(found, wanted, tolerance=1e-11):
    found, wanted = np.asarray(found), np.asarray(wanted)
    scale = tolerance * np.abs(wanted).max(initial=0)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-3 * scale)


def same(name):
    return lambda mp: getattr(mp, name)


FUNCTIONS = {
    "exp": (same("exp"), [0, 1.3, -30]),
    "expm1": (same("expm1"), [0, 1e-9, -40, 2]),
    "log": (same("log"), [0.3, 5]),
    "log1p": (same("log1p"), [0, -0.5, 1e-10]),
    "log2": (lambda mp: lambda x: mp.log(x, 2), [3]),
    "log10": (same("log10"), [3]),
    **{name: (same(name), [0, 1, -2]) for name in ("sin", "cos", "tan", "sinh", "cosh", "asinh", "atan")},
    "tanh": (same("tanh"), [0, 1, 15, -15]),
    "asin": (same("asin"), [0, 0.5, 0.999, -0.9]),
    "acos": (same("acos"), [0, 0.5, -0.999]),
    "acosh": (same("acosh"), [1.01, 3]),
    "atanh": (same("atanh"), [0, 0.5, -0.99]),
    "sqrt": (same("sqrt"), [0.25, 7]),
    "square": (lambda mp: lambda x: x * x, [0, 3]),
    "reciprocal": (lambda mp: lambda x: 1 / x, [0.5, -3]),
    "abs": (lambda mp: lambda x: -x, [-2]),
    "special.cbrt": (same("cbrt"), [2]),
    "special.exp2": (lambda mp: lambda x: mp.power(2, x), [0, 3]),
    "special.exp10": (lambda mp: lambda x: mp.power(10, x), [1]),
    "special.exprel": (lambda mp: lambda x: mp.hyp1f1(1, 2, x), [0, 1e-5, 3, -3, 20, -20]),
    "special.cosm1": (lambda mp: lambda x: mp.cos(x) - 1, [0, 1]),
    "special.cosdg": (lambda mp: lambda x: mp.cos(x * mp.pi / 180), [30]),
    "special.sindg": (lambda mp: lambda x: mp.sin(x * mp.pi / 180), [30]),
    "special.tandg": (lambda mp: lambda x: mp.tan(x * mp.pi / 180), [30]),
    "special.cotdg": (lambda mp: lambda x: mp.cot(x * mp.pi / 180), [30]),
    "special.sinc": (lambda mp: lambda x: mp.hyp0f1(1.5, -((mp.pi * x / 2) ** 2)), [0, 1e-6, 0.7, 2.1, 10.3]),
    "special.expit": (lambda mp: lambda x: 1 / (1 + mp.exp(-x)), [0, 40, -40, 2]),
    "special.logit": (lambda mp: lambda x: mp.log(x / (1 - x)), [0.3, 0.99]),
    "special.softplus": (lambda mp: lambda x: mp.log(1 + mp.exp(x)), [0, -30, 30]),
    "special.log_expit": (lambda mp: lambda x: -mp.log(1 + mp.exp(-x)), [0, -30, 30]),
    "special.entr": (lambda mp: lambda x: -x * mp.log(x), [0.4]),
    "special.erf": (same("erf"), [0, 1, -3]),
    "special.erfc": (same("erfc"), [0, 5]),
    "special.erfi": (same("erfi"), [0, 1]),
    "special.ndtr": (same("ncdf"), [0, 2]),
    "special.erfinv": (same("erfinv"), [0, 0.5, -0.9]),
    "special.erfcinv": (lambda mp: lambda x: mp.erfinv(1 - x), [0.5, 1.2]),
    "special.ndtri": (lambda mp: lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), [0.3, 0.9]),
    "special.lambertw": (same("lambertw"), [0, 1, 30]),
    "special.wrightomega": (lambda mp: lambda x: mp.lambertw(mp.exp(x)), [0, 2, -3]),
    "special.gamma": (same("gamma"), [1, 2.5, -0.5]),
    "special.rgamma": (same("rgamma"), [1, 2.5, -0.5, 0, -2, 1e-6, -0.001]),
    "special.gammaln": (same("loggamma"), [1, 2, 30]),
    "special.digamma": (same("digamma"), [1, 2.5, 40]),
    "special.exp1": (same("e1"), [0.5, 3, 20]),
    "special.expi": (same("ei"), [0.5, 3, 20]),
    "special.spence": (lambda mp: lambda x: mp.polylog(2, 1 - x), [1, 0.3, 3, 1.5, 1e-6]),
    "special.ellipk": (same("ellipk"), [0, 0.5, -2, 0.9]),
    "special.ellipe": (same("ellipe"), [0, 0.5, -2]),
    **{
        f"special.{letter}{order}": (
            lambda mp, kind=kind, order=order: lambda x: getattr(mp, f"bessel{kind}")(order, x),
            points,
        )
        for letter, kind, points in (
            ("j", "j", [0, 1, 20]),
            ("y", "y", [1]),
            ("i", "i", [0, 1]),
            ("k", "k", [1]),
        )
        for order in (0, 1)
    },
}
CASES = [(name, at) for name, (_, points) in FUNCTIONS.items() for at in points]


def named(name):
    owner, _, short = name.rpartition(".")
    return getattr(special if owner else xp, short)


@pytest.mark.parametrize(("name", "at"), CASES)
def test_elementwise_functions(name, at):
    close(taylor(named(name), at), expected(FUNCTIONS[name][0], at))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tan", "tanh", "asin", "atan", "acosh", "sqrt"])
def test_complex_arguments(name):
    at = 0.6 + 0.8j
    close(taylor(named(name), at, xp.complex128), expected(FUNCTIONS[name][0], at))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "asin", "special.erf", "special.gamma"])
def test_single_precision(name):
    found = taylor(named(name), 0.5, xp.float32)
    close(found, expected(FUNCTIONS[name][0], 0.5), 2e-5)
