"""Every polynomial of vecmath_special.h and of the headers that it includes; `coefficients` prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp  # type: ignore[import-untyped, import-not-found, unused-ignore]

from conformance.accuracy.minimax import BITS, as_c, fit, fit_rational, rounded

Real = Any  # an mpf: mpmath has no types
Function = Callable[[Real], Real]
Found = tuple[str, list[str], float | None]

ONE = mp.mpf(1)
TINY = mp.mpf(2) ** -60


def erfcx(x: Real) -> Real:
    """exp(x**2) * erfc(x); by the asymptotic series where a factor would be huge."""
    if x < 60:
        with mp.workdps(mp.mp.dps + 10):
            return mp.exp(x * x) * mp.erfc(x)
    term = total = ONE
    for n in range(1, 30):
        term *= -(2 * n - 1) / (2 * x * x)
        total += term
    return total / (x * mp.sqrt(mp.pi))


def scaled_erfcx(q: Real) -> Real:
    """(1 + 2x) * erfcx(x) as a function of q = (x - 3) / (x + 3)."""
    if 1 - q < mp.mpf(10) ** -40:
        return 2 / mp.sqrt(mp.pi)
    x = 3 * (1 + q) / (1 - q)
    return (1 + 2 * x) * erfcx(x)


def erf_excess(z: Real) -> Real:
    """erf(x) / x - 1 for z = x**2."""
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erfcinv(q: Real) -> Real:
    """The inverse of erfc for q < 0.6, by Newton's method on the logarithm."""
    t = mp.sqrt(-mp.log(q))
    y = mp.sqrt(max(t * t - mp.log(t * mp.sqrt(mp.pi) + 1), mp.mpf("0.1")))
    for _ in range(60):
        e = mp.erfc(y)
        step = (mp.log(e) - mp.log(q)) * e * mp.sqrt(mp.pi) / (2 * mp.exp(-y * y))
        y += step
        if abs(step) < mp.mpf(10) ** -50 * y:
            break
    return y


def erfcinv_tail(u: Real) -> Real:
    """erfcinv(exp(-t**2)) / t as a function of u = (t - 3) / (t + 3)."""
    t = 3 * (1 + u) / (1 - u)
    return erfcinv(mp.exp(-t * t)) / t


MIDDLE_END = ONE * 9 / 4
"""Half of the largest -log(1 - x**2) in the middle of erfinv, which is up to x = 0.9944"""


def erfinv_middle(u: Real) -> Real:
    """erfinv(x) / x as a function of u = -log(1 - x**2) - MIDDLE_END."""
    x = mp.sqrt(-mp.expm1(-(u + MIDDLE_END)))
    return (erfcinv(1 - x) if x > 0.5 else mp.erfinv(x)) / x


def ndtri_middle(u: Real) -> Real:
    return mp.sqrt(2) * erfinv_middle(u)


def atanh_tail(z: Real) -> Real:
    """(2 * atanh(s) - 2 * s) / s**3 for z = s**2."""
    s = mp.sqrt(z)
    return 2 * (mp.atanh(s) - s) / s**3


def sinc_tail(z: Real) -> Real:
    """(sin(pi * r) / (pi * r) - 1) / z for z = r**2."""
    return (mp.sinc(mp.pi * mp.sqrt(z)) - 1) / z


def at(t: Any) -> Real:
    return (mp.mpf(t) - 3) / (mp.mpf(t) + 3)


def exp_tail(x: Real) -> Real:
    return (mp.exp(x) - 1 - x - x * x / 2) / x**3


def gamma_excess(u: Real) -> Real:
    """gamma(3 + u) minus the line through gamma(2) and gamma(3), divided by u * (u + 1)."""
    with mp.workdps(mp.mp.dps + 30):
        return (mp.gamma(u + 3) - (u + 2)) / (u * (u + 1))


def lgamma_quotient(t: Real) -> Real:
    """loggamma(1 + t) / (t * (t - 1))."""
    near = next((end for end in (0, 1) if abs(t - end) < mp.mpf(10) ** -25), None)
    if near is not None:
        return (-1 if near == 0 else 1) * mp.digamma(1 + near) + (t - near)
    return mp.loggamma(1 + t) / (t * (t - 1))


def stirling_rest(z: Real) -> Real:
    """loggamma(x) minus Stirling's formula, times x, for z = 1 / x**2."""
    x = 1 / mp.sqrt(z)
    with mp.workdps(mp.mp.dps + 30):
        return (mp.loggamma(x) - (x - ONE / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def digamma_rest(z: Real) -> Real:
    """(log(x) - 1 / (2x) - digamma(x)) / z for z = 1 / x**2."""
    x = 1 / mp.sqrt(z)
    with mp.workdps(mp.mp.dps + 30):
        return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / z


DIGAMMA_ROOT = mp.findroot(mp.digamma, mp.mpf("1.46"))


def bessel_near(n: int) -> Function:
    """I_n(x) without its first terms for z = x**2 / 4: (I_0 - 1) / z, (2 * I_1 / x - 1 - z / 2) / z**2."""
    if n == 0:
        return lambda z: (mp.besseli(0, 2 * mp.sqrt(z)) - 1) / z
    return lambda z: (mp.besseli(1, 2 * mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def bessel_far(n: int) -> Function:
    """sqrt(x) * exp(-x) * I_n(x) for q = 15.5 / x - 1."""

    def f(q: Real) -> Real:
        x = mp.mpf("15.5") / (1 + q) if 1 + q > mp.mpf(10) ** -30 else mp.mpf(10) ** 30
        if x < 3000:
            return mp.sqrt(x) * mp.exp(-x) * mp.besseli(n, x)
        term = total = ONE
        for k in range(1, 25):
            term *= -((4 * n * n - (2 * k - 1) ** 2) / (8 * x * k))
            total += term
        return total / mp.sqrt(2 * mp.pi)

    return f


BESSEL_END = mp.mpf("7.75") ** 2 / 4 * 1.001
BELOW_ONE = (-ONE, ONE * 1.001)

EXP_END = mp.log(2) / 2 * (1 + mp.mpf(2) ** -12)

# Name, function, powers, interval, weight, letter.
FITS: tuple[tuple[str, Function, range, tuple[Real, Real], Function, str], ...] = (
    ("cbrt", lambda m: 1 / mp.cbrt(m), range(5), (ONE, 2 * ONE), mp.cbrt, "d"),
    ("exp short", exp_tail, range(4), (-EXP_END, EXP_END), lambda x: x**3 / mp.exp(x), "d"),
    ("erfcx f64", scaled_erfcx, range(25), (-ONE, ONE), lambda q: 1 / scaled_erfcx(q), "d"),
    ("erfcx f32", scaled_erfcx, range(12), (-ONE, ONE), lambda q: 1 / scaled_erfcx(q), "d"),
    ("erf near f64", erf_excess, range(12), (TINY, ONE * 1.0001), lambda z: 1 / (1 + erf_excess(z)), "d"),
    ("erf near f32", erf_excess, range(7), (TINY, ONE * 1.0001), lambda z: 1 / (1 + erf_excess(z)), "f"),
    (
        "erf far f64",
        lambda u: -mp.log(mp.erfc(u + 1.5)),
        range(18),
        (-0.5 * ONE, 4.45 * ONE),
        lambda u: mp.erfc(u + 1.5),
        "d",
    ),
    (
        "erf far f32",
        lambda u: -mp.log(mp.erfc(u + 1.5)),
        range(8),
        (-0.5 * ONE, 2.5 * ONE),
        lambda u: mp.erfc(u + 1.5),
        "f",
    ),
    (
        "erfinv middle f64",
        erfinv_middle,
        range(22),
        (-MIDDLE_END, MIDDLE_END),
        lambda u: 1 / erfinv_middle(u),
        "d",
    ),
    (
        "ndtri middle f64",
        ndtri_middle,
        range(22),
        (-MIDDLE_END, MIDDLE_END),
        lambda u: 1 / ndtri_middle(u),
        "d",
    ),
    (
        "erfinv middle f32",
        erfinv_middle,
        range(10),
        (-MIDDLE_END, MIDDLE_END),
        lambda u: 1 / erfinv_middle(u),
        "f",
    ),
    (
        "ndtri middle f32",
        ndtri_middle,
        range(10),
        (-MIDDLE_END, MIDDLE_END),
        lambda u: 1 / ndtri_middle(u),
        "f",
    ),
    (
        "exp2",
        lambda r: mp.expm1(r * mp.log(2)) / r,
        range(11),
        (-ONE * 0.5001, ONE * 0.5001),
        lambda r: r / mp.power(2, r),
        "d",
    ),
    ("logit f64", atanh_tail, range(10), (TINY, ONE * 0.0627), lambda z: z / (1 + z / 3), "d"),
    ("logit f32", atanh_tail, range(4), (TINY, ONE * 0.0627), lambda z: z / (1 + z / 3), "f"),
    ("entropy f32", atanh_tail, range(4), (TINY, ONE * 0.0523), lambda z: z / (1 + z / 3), "d"),
    ("sinc f32", sinc_tail, range(4), (TINY, ONE * 0.2501), lambda z: z / (1 + z * sinc_tail(z)), "f"),
    (
        "erfcinv tail f64",
        erfcinv_tail,
        range(34),
        (at("0.832"), at("27.35")),
        lambda u: 1 / erfcinv_tail(u),
        "d",
    ),
    (
        "erfcinv tail f32",
        erfcinv_tail,
        range(16),
        (at("0.832"), at("10.2")),
        lambda u: 1 / erfcinv_tail(u),
        "d",
    ),
)


def gammaln_near(count: int) -> Any:
    """The quotient for u = t - 5/8."""

    def f(u: Real) -> Real:
        return lgamma_quotient(u + ONE * 5 / 8)

    return f, range(count), (-ONE * 5 / 8, ONE * 5 / 8), lambda u: 1 / f(u), "d"


FITS += (
    ("gamma near f64", gamma_excess, range(21), (-ONE, ONE), lambda u: u * (u + 1) / mp.gamma(u + 3), "d"),
    ("gamma near f32", lambda u: mp.gamma(u + 3), range(11), (-ONE, ONE), lambda u: 1 / mp.gamma(u + 3), "d"),
    ("gammaln near", *gammaln_near(24)),
    ("gammaln near short", *gammaln_near(12)),
    ("gammaln far", stirling_rest, range(8), (mp.mpf(10) ** -9, ONE / 36), lambda z: ONE, "d"),
    ("gammaln far short", stirling_rest, range(4), (mp.mpf(10) ** -9, ONE / 36), lambda z: ONE, "d"),
    ("digamma far", digamma_rest, range(8), (mp.mpf(10) ** -9, ONE / 36), lambda z: z, "d"),
    (
        "i0 near",
        bessel_near(0),
        range(15),
        (TINY, BESSEL_END),
        lambda z: z / mp.besseli(0, 2 * mp.sqrt(z)),
        "d",
    ),
    (
        "i1 near",
        bessel_near(1),
        range(15),
        (TINY, BESSEL_END),
        lambda z: z * mp.sqrt(z) / mp.besseli(1, 2 * mp.sqrt(z)),
        "d",
    ),
    (
        "i0 near short",
        bessel_near(0),
        range(10),
        (TINY, BESSEL_END),
        lambda z: z / mp.besseli(0, 2 * mp.sqrt(z)),
        "d",
    ),
    (
        "i1 near short",
        bessel_near(1),
        range(10),
        (TINY, BESSEL_END),
        lambda z: z * mp.sqrt(z) / mp.besseli(1, 2 * mp.sqrt(z)),
        "d",
    ),
    ("i0 far", bessel_far(0), range(23), BELOW_ONE, lambda q: 1 / bessel_far(0)(q), "d"),
    ("i1 far", bessel_far(1), range(23), BELOW_ONE, lambda q: 1 / bessel_far(1)(q), "d"),
    ("i0 far short", bessel_far(0), range(9), BELOW_ONE, lambda q: 1 / bessel_far(0)(q), "d"),
    ("i1 far short", bessel_far(1), range(9), BELOW_ONE, lambda q: 1 / bessel_far(1)(q), "d"),
)


DIGAMMA_LINE = ONE * 5 / 2


def digamma_quotient(x: Real) -> Real:
    """digamma(x) * (x + 1) / (x - root) without DIGAMMA_LINE."""
    return mp.digamma(x) * (x + 1) / (x - DIGAMMA_ROOT) - DIGAMMA_LINE


# Name, function, degrees of numerator and denominator, interval, weight; denominators end in 1.
RATIONALS: tuple[tuple[str, Function, tuple[int, int], tuple[Real, Real], Function], ...] = tuple(
    (name, digamma_quotient, degrees, (ONE, 6 * ONE), lambda x: 1 / (digamma_quotient(x) + DIGAMMA_LINE))
    for name, degrees in (("digamma near f64", (7, 8)), ("digamma near f32", (4, 4)))
)


TWO_NUMBERS = (
    "erfcx f64",
    "erfinv middle f64",
    "ndtri middle f64",
    "erfinv middle f32",
    "ndtri middle f32",
    "exp2",
    "erfcinv tail f64",
    "gammaln near",
    "i0 far",
    "i1 far",
)


def polynomials(words: list[str] | None = None) -> Iterator[Found]:
    """Name, coefficients and log2 of the largest weighted error of every polynomial."""
    for name, f, powers, interval, weight, letter in FITS:
        if words and not any(word in name for word in words):
            continue
        both = interval[0] < 0 < interval[1]
        found, error = fit(f, powers, interval, weight, ("x" if both else letter) * len(powers))
        values = [as_c(rounded(c, BITS[letter]), letter) for c in found]
        if both and name in TWO_NUMBERS:
            # Without one of the powers others may vanish too often for a fit that makes up for its rounding.
            # Instead, some functions have the first coefficient in two numbers.
            values.insert(1, as_c(rounded(found[0] - rounded(found[0], BITS[letter]), BITS[letter]), letter))
        yield name, values, float(mp.log(error, 2))
    for name, f, degrees, interval, weight in RATIONALS:
        if words and not any(word in name for word in words):
            continue
        top, below, error = fit_rational(f, degrees, interval, weight)
        both_parts = {"numerator": top, "denominator": below}
        for part, found in both_parts.items():
            yield f"{name} {part}", [as_c(rounded(c, BITS["d"]), "d") for c in found], float(mp.log(error, 2))
