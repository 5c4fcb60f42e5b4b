"""Errors of the functions of `stride0.special` that have kernels, of stride0 and of other libraries.

The reference is mpmath with 260 bits and more. Inputs: uniform in the function's range, of all sizes, near
zeros, poles, branch points and the ends of the range of results. For `gammaln` and `digamma` only positive
ones: near zeros between the poles no digit may be right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import mpmath as mp  # type: ignore[import-untyped, import-not-found, unused-ignore]
import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
Real = Any  # an mpf: mpmath has no types
DTYPES = ("float32", "float64")


class Case(NamedTuple):
    """A function: its exact values, and the source of its arguments."""

    exact: Callable[..., Any]
    # For each argument: the range of uniform numbers, and points near which others are drawn.
    ranges: tuple[tuple[float, float], ...]
    near: tuple[tuple[float, ...], ...] = ((0.0,),)
    # For each argument: the smallest and the largest number.
    domains: tuple[tuple[float, float], ...] = ((-math.inf, math.inf),)
    # Whether to add numbers of all sizes.
    wide: bool = True


def _entropy(x: Real, y: Real) -> Real:
    return x * mp.log(x / y)


def _erfc(x: Real) -> Real:
    """For a huge number, which mpmath cannot handle, infinitesimal; for a huge negative one 2."""
    return mp.erfc(x) if abs(x) < 1000 else mp.mpf(2) ** -2000 + (2 if x < 0 else 0)


def _erfcx(x: Real) -> Real:
    if x < 100:
        return mp.exp(x * x) * mp.erfc(x) if x > -1000 else mp.inf
    term = total = mp.mpf(1)
    for n in range(1, 12):
        term *= -(2 * n - 1) / (2 * x * x)
        total += term
    return total / (x * mp.sqrt(mp.pi))


def _erfinv(x: Real) -> Real:
    return mp.sign(x) * _erfcinv(1 - abs(x)) if abs(x) > 0.5 else mp.erfinv(x)


def _ratio(x: Real, y: Real) -> Real:
    return x / y if y else mp.inf


def _boxcox(x: Real, y: Real) -> Real:
    return mp.expm1(y * mp.log(x)) / y if y else mp.log(x)


def _boxcox1p(x: Real, y: Real) -> Real:
    return mp.expm1(y * mp.log1p(x)) / y if y else mp.log1p(x)


def _tail(x: Real) -> Real:
    """The logarithm of the normal distribution's lower tail."""
    a = -x / mp.sqrt(2)
    return mp.log(_erfcx(a) / 2) - a * a if x < 0 else mp.log1p(-_erfc(-a) / 2)


def _erfcinv(q: Real) -> Real:
    """By Newton's method on the logarithm of erfc."""
    if q > 0.5:
        return mp.erfinv(1 - q) if q <= 1.5 else -_erfcinv(2 - q)
    t = mp.sqrt(-mp.log(q))
    y = mp.sqrt(max(t * t - mp.log(t * mp.sqrt(mp.pi) + 1), mp.mpf("0.1")))
    for _ in range(60):
        e = _erfcx(y)
        step = (mp.log(e) - y * y - mp.log(q)) * e * mp.sqrt(mp.pi) / 2
        y += step
        if abs(step) < mp.mpf(2) ** -180 * y:
            break
    return y


def _gamma(x: Real) -> Real:
    """For numbers below -200 the result is zero."""
    if x < -200:
        return mp.mpf(0)
    return mp.gamma(min(x, mp.mpf(400)))


def _bessel_scaled(n: int, x: Real) -> Real:
    """exp(-|x|) * I_n(x), for large numbers by the asymptotic series."""
    a = abs(x)
    sign = mp.sign(x) if n else 1
    if a < 300:
        return sign * mp.exp(-a) * mp.besseli(n, a)
    term = total = mp.mpf(1)
    for k in range(1, 40):
        term *= -((4 * n * n - (2 * k - 1) ** 2) / (8 * a * k))
        total += term
    return sign * total / mp.sqrt(2 * mp.pi * a)


def _bessel(n: int, x: Real) -> Real:
    return _bessel_scaled(n, x) * mp.exp(min(abs(x), mp.mpf(2000)))


ALL = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)
ABOVE = (-1.0, math.inf)
UNIT = (0.0, 1.0)
DEGREES = (-1e14, 1e14)
LOSS: dict[str, Any] = {"ranges": ((0, 4), (-4, 4)), "near": ((0.0,), (0.0,)), "domains": (POSITIVE, ALL)}
ENTROPY: dict[str, Any] = {
    "ranges": ((0, 4), (0, 4)),
    "near": ((0.0, 1.0),) * 2,
    "domains": (POSITIVE, POSITIVE),
}
INVERSE: dict[str, Any] = {
    "ranges": ((0, 10), (0, 5)),
    "near": ((0.0,), (0.0,)),
    "domains": (POSITIVE, POSITIVE),
}

CASES: dict[str, Case] = {
    "expit": Case(lambda x: 1 / (1 + mp.exp(-x)), ((-40, 40),)),
    "logit": Case(lambda x: mp.log(x / (1 - x)), ((0, 1),), ((0.0, 0.5, 1.0),), (UNIT,)),
    "log_expit": Case(lambda x: -mp.log1p(mp.exp(-x)), ((-40, 40),)),
    "softplus": Case(lambda x: mp.log1p(mp.exp(x)), ((-40, 40),)),
    "xlogy": Case(lambda x, y: x * mp.log(y), ((-10, 10), (0, 10)), ((0.0,), (0.0, 1.0)), (ALL, POSITIVE)),
    "xlog1py": Case(lambda x, y: x * mp.log1p(y), ((-10, 10), (-1, 10)), ((0.0,), (-1.0, 0.0)), (ALL, ABOVE)),
    "entr": Case(lambda x: -x * mp.log(x), ((0, 10),), ((0.0, 1.0),), (POSITIVE,)),
    "rel_entr": Case(_entropy, **ENTROPY),
    "kl_div": Case(lambda x, y: _entropy(x, y) - x + y, **ENTROPY),
    "huber": Case(lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2), **LOSS),
    "pseudo_huber": Case(lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), **LOSS),
    "cbrt": Case(lambda x: mp.sign(x) * mp.cbrt(abs(x)), ((-30, 30),), ((0.0, 1.0, 8.0),)),
    "exp2": Case(lambda x: mp.mpf(2) ** x, ((-30, 30),), ((0.0, 127.9, -149.0, 1023.9, -1073.0),)),
    "exp10": Case(lambda x: mp.mpf(10) ** x, ((-30, 30),), ((0.0, 38.5, 308.2, -44.0, -323.0),)),
    "exprel": Case(lambda x: mp.expm1(x) / x, ((-30, 30),), ((0.0, 88.7, 709.7, 716.0),)),
    "boxcox": Case(_boxcox, ((0, 10), (-5, 5)), ((0.0, 1.0), (0.0,)), (POSITIVE, ALL)),
    "boxcox1p": Case(_boxcox1p, ((-1, 10), (-5, 5)), ((-1.0, 0.0), (0.0,)), (ABOVE, ALL)),
    "inv_boxcox": Case(lambda x, y: mp.exp(mp.log1p(x * y) / y), **INVERSE, wide=False),
    "inv_boxcox1p": Case(lambda x, y: mp.expm1(mp.log1p(x * y) / y), **INVERSE, wide=False),
    "sinc": Case(mp.sincpi, ((-20, 20),), ((0.0, 1.0, -3.0, 1000.0),), ((-1e6, 1e6),)),
    "cosm1": Case(lambda x: -2 * mp.sin(x / 2) ** 2, ((-20, 20),), ((0.0, 6.283185307179586, 1000.0),)),
    "sindg": Case(lambda x: mp.sinpi(x / 180), ((-720, 720),), ((0.0, 30.0, 180.0, -360.0),), (DEGREES,)),
    "cosdg": Case(lambda x: mp.cospi(x / 180), ((-720, 720),), ((0.0, 90.0, 60.0, -270.0),), (DEGREES,)),
    "tandg": Case(
        lambda x: _ratio(mp.sinpi(x / 180), mp.cospi(x / 180)),
        ((-720, 720),),
        ((0.0, 90.0, 45.0, -270.0),),
        (DEGREES,),
    ),
    "cotdg": Case(
        lambda x: _ratio(mp.cospi(x / 180), mp.sinpi(x / 180)),
        ((-720, 720),),
        ((0.0, 90.0, 45.0, -270.0),),
        (DEGREES,),
    ),
    "erf": Case(lambda x: mp.erf(x) if abs(x) < 100 else mp.sign(x), ((-6, 6),), ((0.0, 1.0),)),
    "erfc": Case(_erfc, ((-6, 28),), ((0.0, 9.2, 10.0, 26.5),)),
    "erfcx": Case(_erfcx, ((-26.5, 50),), ((0.0, -9.3, -26.6),)),
    "erfinv": Case(_erfinv, ((-1, 1),), ((0.0, 0.5, 1.0, -1.0),), ((-1.0, 1.0),)),
    "erfcinv": Case(_erfcinv, ((0, 2),), ((0.0, 0.5, 1.0, 2.0),), ((0.0, 2.0),)),
    "ndtr": Case(lambda x: _erfc(-x / mp.sqrt(2)) / 2, ((-40, 10),), ((0.0, -13.0, -38.0),)),
    "log_ndtr": Case(_tail, ((-40, 40),), ((0.0, 1.0, -1.0),)),
    "ndtri": Case(lambda p: -mp.sqrt(2) * _erfcinv(2 * p), ((0, 1),), ((0.0, 0.25, 0.5, 1.0),), (UNIT,)),
    "gamma": Case(_gamma, ((-20, 40),), ((0.0, 1.0, 35.0, 171.6, -3.5, -170.3),)),
    "gammaln": Case(lambda x: mp.loggamma(x).real, ((0, 20),), ((0.0, 1.0, 2.0, 8.0),), (POSITIVE,)),
    "digamma": Case(mp.digamma, ((0, 20),), ((0.0, 1.0, 1.461632144968362, 6.0),), (POSITIVE,)),
    "i0": Case(lambda x: _bessel(0, x), ((-20, 20),), ((0.0, 7.75, 90.0, 712.0),)),
    "i0e": Case(lambda x: _bessel_scaled(0, x), ((-20, 20),), ((0.0, 7.75),)),
    "i1": Case(lambda x: _bessel(1, x), ((-20, 20),), ((0.0, 7.75, 90.0, 712.0),)),
    "i1e": Case(lambda x: _bessel_scaled(1, x), ((-20, 20),), ((0.0, 7.75),)),
}


def operands(name: str, dtype: str, count: int) -> list[Numbers]:
    """Arguments that the dtype holds: half uniform, others of all sizes or near some points."""
    rng = np.random.default_rng(5)
    case, out = CASES[name], []
    signs = np.array([-1.0, 1.0])
    for k, (low, high) in enumerate(case.ranges):
        size = np.ldexp(1 + rng.random(count), rng.integers(-60, 30, count)) * rng.choice(signs, count)
        exponents = (-1040, 1020) if case.wide else (-60, 3)
        wide = np.ldexp(1 + rng.random(count), rng.integers(*exponents, count)) * rng.choice(signs, count)
        factor = 1 + np.ldexp(rng.random(count) - 0.5, rng.integers(-52, 0, count))
        point = rng.choice(case.near[k], count) * factor + (rng.random(count) < 0.3) * size * 2.0**-20
        kind = rng.integers(0, 8, count)
        x = np.select([kind < 4, kind < 5, kind < 6], [rng.uniform(low, high, count), size, wide], point)
        with np.errstate(all="ignore"):
            out.append(np.clip(x, *case.domains[k]).astype(dtype))
    # Exact results there are in the tests of special values.
    keep = np.all([np.isfinite(v) & (v != 0) for v in out], axis=0)
    for v, domain in zip(out, case.domains, strict=True):
        keep &= (v != domain[0]) & (v != domain[1])
    if name == "gamma":
        keep &= (out[0] > 0) | (out[0] != np.floor(out[0]))
    return [v[keep] for v in out]


def exact_results(name: str, given: list[Numbers]) -> Iterator[Real]:
    with mp.workprec(260):
        for numbers in zip(*(v.tolist() for v in given), strict=True):
            arguments = [mp.mpf(v) for v in numbers]
            # Arguments of different sizes cancel as many bits.
            sizes = [abs(mp.mag(v)) for v in arguments if v]
            with mp.workprec(min(260 + 3 * max(sizes, default=0), 4000)):
                yield CASES[name].exact(*arguments)


def split(exact: Real, real: Any) -> tuple[float, float]:
    """The nearest number and its error in ULP, which gives the exact result in double."""
    info = np.finfo(real)
    if abs(exact) > float(info.max):
        return math.copysign(math.inf, exact), 0.0
    nearest = float(np.dtype(real).type(float(exact)))
    exponent = max(int(mp.frexp(exact)[1]) if exact else -(2**20), int(info.minexp) + 1)
    return nearest, float((mp.mpf(nearest) - exact) / mp.mpf(2) ** (exponent - info.nmant - 1))


def measure(
    name: str, dtype: str, count: int, libraries: dict[str, Callable[..., Any]], error_of: Callable[..., Any]
) -> tuple[int, dict[str, Any]]:
    """The number of inputs, and by library the result of `error_of`."""
    given = operands(name, dtype, count)
    nearest, rest = np.array([split(exact, dtype) for exact in exact_results(name, given)]).T.copy()
    found: dict[str, Any] = {}
    for library, call in libraries.items():
        try:
            with np.errstate(all="ignore"):
                got = np.asarray(call(name, *given)).astype(np.float64)
        except (AttributeError, RuntimeError, TypeError, NotImplementedError):
            continue
        got = np.where((got == 0) & (nearest == 0), nearest, got)  # mpmath has no sign of zero
        size, count_wrong = error_of(got, nearest, rest, nearest, np.finfo(dtype).nmant + 1)
        found[library] = [round(size, 4), count_wrong]
    return len(given[0]), found
