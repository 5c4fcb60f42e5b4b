"""The functions of `stride0.special` by mpmath, and points at which they are compared.

A reference takes and gives numbers of mpmath. Points are tuples of arguments inside of the domain, some of
them near its edges, where usual formulas lose digits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from mpmath import mp

Function = Callable[..., Any]


class Reference(NamedTuple):
    """A function by mpmath."""

    value: Function
    points: list[tuple[Any, ...]]
    # Relative tolerances of values, of first and of second derivatives.
    tolerances: tuple[float, float, float] = (1e-12, 1e-11, 1e-9)


def of_one(*xs: float) -> list[tuple[Any, ...]]:
    return [(x,) for x in xs]


def grid(*axes: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return list(product(*axes))


def degrees(f: Function) -> Function:
    return lambda x: f(x * mp.pi / 180)


def ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def scaled(f: Function, sign: int) -> Function:
    return lambda x: f(x) * mp.exp(sign * abs(x))


def boxcox(x: Any, power: Any) -> Any:
    return mp.log(x) if power == 0 else mp.expm1(power * mp.log(x)) / power


def inv_boxcox(y: Any, power: Any) -> Any:
    return mp.exp(y) if power == 0 else mp.exp(mp.log1p(power * y) / power)


def huber(delta: Any, r: Any) -> Any:
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def gammainc(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def betainc(a: Any, b: Any, x: Any) -> Any:
    # From the tail whose series is short.
    if mp.re(x) > mp.re(a / (a + b)):
        return 1 - mp.betainc(b, a, 0, 1 - x, regularized=True)
    return mp.betainc(a, b, 0, x, regularized=True)


def inverse(f: Function, guess: Function) -> Function:
    """The last argument of a function, found from its value by search."""

    def found(*arguments: Any) -> Any:
        *others, y = arguments
        return mp.findroot(lambda x: f(*others, x) - y, guess(*others, y), tol=mp.mpf(10) ** (-mp.dps))

    return found


def by_scipy(name: str) -> Function:
    """Starting points for the search: SciPy's values, which are corrected to full precision."""

    def guess(*arguments: Any) -> Any:
        import scipy.special

        # SciPy needs counts as integers.
        given = [int(x) if name.endswith("bdtri") and k < 2 else float(x) for k, x in enumerate(arguments)]
        return mp.mpf(float(getattr(scipy.special, name)(*given)))

    return guess


def bdtr(k: Any, n: Any, p: Any) -> Any:
    return betainc(n - mp.floor(k), mp.floor(k) + 1, 1 - p)


def nbdtr(k: Any, n: Any, p: Any) -> Any:
    return betainc(n, mp.floor(k) + 1, p)


def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    return betainc(dfn / 2, dfd / 2, dfn * x / (dfn * x + dfd))


def stdtr(df: Any, t: Any) -> Any:
    share = mp.betainc(mp.mpf(1) / 2, df / 2, 0, t * t / (t * t + df), regularized=True)
    return mp.mpf(1) / 2 + mp.sign(t) * share / 2


def lpmv(m: Any, v: Any, x: Any) -> Any:
    return mp.re(mp.legenp(v, m, x, type=2))


def owens_t(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a / 2, a]) / (2 * mp.pi)


def complement(f: Function) -> Function:
    return lambda *arguments: 1 - f(*arguments)


def spherical(f: Function) -> Function:
    return lambda n, x: mp.sqrt(mp.pi / 2 / x) * f(n + mp.mpf(1) / 2, x)


def polynomials(*parameters: float) -> list[tuple[Any, ...]]:
    """Degrees and points, with a parameter between them if the function has one."""
    return [(n, *p, x) for n in (0, 1, 2, 5) for p in of_one(*parameters) or [()] for x in (-0.7, 0.2, 0.9)]


REAL = (-3.7, -1.2, -0.3, 0.2, 0.9, 2.6)
POSITIVE = (1e-3, 0.2, 0.9, 1.0, 2.6, 11.0)
NEAR_ZERO = (-1e-7, 1e-9)
SHARES = (1e-6, 0.2, 0.5, 0.83, 0.999)

REFERENCES: dict[str, Reference] = {
    # --- gamma functions
    "gamma": Reference(mp.gamma, of_one(*REAL, 12.3, 80.0)),
    "gammaln": Reference(lambda x: mp.log(abs(mp.gamma(x))), of_one(*REAL, 12.3, 1e5)),
    "loggamma": Reference(mp.loggamma, of_one(*POSITIVE, 1e5)),
    "rgamma": Reference(mp.rgamma, of_one(*REAL, -3.0, 0.0, -1.0, 12.3), (1e-12, 1e-11, 1e-8)),
    "digamma": Reference(mp.digamma, of_one(*REAL, 12.3, 1e4)),
    "poch": Reference(
        lambda z, m: mp.rf(z, m),
        [*grid((0.3, 2.5, 11.0), (0.2, 1.0, 3.6)), (-1.3, 0.6), (-2.6, 3.0)],
        (1e-11, 1e-10, 1e-8),
    ),
    "beta": Reference(mp.beta, grid((0.3, 2.5, 11.0), (0.2, 1.0, 30.5))),
    "betaln": Reference(lambda a, b: mp.log(mp.beta(a, b)), grid((0.3, 2.5, 11.0), (0.2, 1.0, 30.5))),
    "binom": Reference(mp.binomial, [*grid((5.0, 7.3, 12.6), (0.4, 2.0, 3.7)), (3.0, 5.0), (4.0, 4.0)]),
    "gammainc": Reference(gammainc, grid((0.2, 1.0, 4.5, 30.0), (1e-3, 0.7, 4.0, 35.0))),
    "gammaincc": Reference(gammaincc, grid((0.2, 1.0, 4.5, 30.0), (1e-3, 0.7, 4.0, 35.0))),
    "gammaincinv": Reference(
        inverse(gammainc, by_scipy("gammaincinv")),
        grid((0.4, 1.0, 4.5, 30.0), (0.02, 0.4, 0.95)),
        (1e-10, 1e-9, 1e-8),
    ),
    "gammainccinv": Reference(
        inverse(gammaincc, by_scipy("gammainccinv")),
        grid((0.4, 1.0, 4.5, 30.0), (0.02, 0.4, 0.95)),
        (1e-10, 1e-9, 1e-8),
    ),
    "betainc": Reference(betainc, grid((0.3, 2.0, 14.5), (0.6, 3.5, 20.0), SHARES)),
    "betaincc": Reference(complement(betainc), grid((0.3, 2.0), (0.6, 3.5), (0.2, 0.5, 0.83))),
    "betaincinv": Reference(
        inverse(betainc, by_scipy("betaincinv")),
        grid((0.6, 2.0, 14.5), (0.6, 3.5), (0.05, 0.4, 0.9)),
        (1e-10, 1e-9, 1e-8),
    ),
    "betainccinv": Reference(
        inverse(complement(betainc), by_scipy("betainccinv")),
        grid((0.6, 2.0, 14.5), (0.6, 3.5), (0.05, 0.4, 0.9)),
        (1e-10, 1e-9, 1e-8),
    ),
    "multigammaln": Reference(
        lambda a, d: (
            d * (d - 1) / mp.mpf(4) * mp.log(mp.pi)
            + mp.fsum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(int(d)))
        ),
        [(2.3, 3), (11.5, 5), (0.4, 1)],
    ),
    "polygamma": Reference(
        lambda n, x: mp.psi(int(n), x), [(n, x) for n in (0, 1, 2, 5) for x in (0.2, 1.0, 3.7, 50.0)]
    ),
    "factorial": Reference(lambda n: mp.gamma(n + 1), of_one(0.0, 0.6, 3.0, 7.2)),
    # --- the error function and related functions
    "erf": Reference(mp.erf, of_one(*REAL, *NEAR_ZERO)),
    "erfc": Reference(mp.erfc, of_one(*REAL, 9.0, -9.0)),
    "erfcx": Reference(erfcx, of_one(*REAL, 9.0, 40.0, 1e3, 1e6), (1e-12, 2e-12, 1e-9)),
    "erfi": Reference(mp.erfi, of_one(*REAL)),
    "erfinv": Reference(mp.erfinv, of_one(-0.999, -0.3, 1e-9, 0.4, 0.97)),
    "erfcinv": Reference(lambda x: -mp.erfinv(x - 1), of_one(1e-3, 0.4, 1.2, 1.97)),
    "dawsn": Reference(
        lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        of_one(*REAL, 9.0, 40.0, 200.0),
        (1e-12, 1e-10, 1e-8),
    ),
    "ndtr": Reference(ndtr, of_one(*REAL, -12.0)),
    "log_ndtr": Reference(lambda x: mp.log(ndtr(x)), of_one(*REAL, -40.0, -1e4, 9.0), (1e-12, 1e-11, 1e-8)),
    "ndtri": Reference(
        lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), of_one(1e-8, 0.1, 0.47, 0.93), (1e-11, 1e-10, 1e-9)
    ),
    "owens_t": Reference(owens_t, grid((0.3, 1.2), (-0.7, 0.4, 2.5))),
    # --- Bessel functions
    "j0": Reference(mp.j0, of_one(*REAL, 17.0)),
    "j1": Reference(mp.j1, of_one(*REAL, 0.0, 17.0)),
    "jv": Reference(mp.besselj, grid((0.0, 0.6, 3.0), (0.4, 2.5, 17.0))),
    "y0": Reference(lambda x: mp.bessely(0, x), of_one(*POSITIVE)),
    "y1": Reference(lambda x: mp.bessely(1, x), of_one(*POSITIVE)),
    "yn": Reference(mp.bessely, [(n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 17.0)]),
    "yv": Reference(mp.bessely, grid((0.0, 0.6, 3.0), (0.4, 2.5, 17.0))),
    "i0": Reference(lambda x: mp.besseli(0, x), of_one(*REAL, 17.0)),
    "i0e": Reference(
        scaled(lambda x: mp.besseli(0, x), -1), of_one(*REAL, 60.0, 1e3, -1e5), (1e-12, 1e-11, 1e-8)
    ),
    "i1": Reference(lambda x: mp.besseli(1, x), of_one(*REAL, 0.0, 17.0)),
    "i1e": Reference(
        scaled(lambda x: mp.besseli(1, x), -1), of_one(*REAL, 60.0, 1e3, -1e5), (1e-12, 1e-11, 1e-8)
    ),
    "iv": Reference(mp.besseli, grid((0.0, 0.6, 3.0), (0.4, 2.5, 17.0))),
    "k0": Reference(lambda x: mp.besselk(0, x), of_one(*POSITIVE)),
    "k0e": Reference(
        scaled(lambda x: mp.besselk(0, x), 1), of_one(*POSITIVE, 60.0, 1e3), (1e-12, 1e-11, 1e-8)
    ),
    "k1": Reference(lambda x: mp.besselk(1, x), of_one(*POSITIVE)),
    "k1e": Reference(
        scaled(lambda x: mp.besselk(1, x), 1), of_one(*POSITIVE, 60.0, 1e3), (1e-12, 1e-11, 1e-8)
    ),
    "kn": Reference(mp.besselk, [(n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 17.0)]),
    "kv": Reference(mp.besselk, grid((0.0, 0.6, 3.0), (0.4, 2.5, 17.0))),
    "spherical_jn": Reference(spherical(mp.besselj), [(n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 17.0)]),
    "spherical_yn": Reference(spherical(mp.bessely), [(n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 17.0)]),
    "spherical_in": Reference(spherical(mp.besseli), [(n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 17.0)]),
    "spherical_kn": Reference(spherical(mp.besselk), [(n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 17.0)]),
    # --- hypergeometric, elliptic and Legendre functions
    "hyp0f1": Reference(mp.hyp0f1, grid((0.6, 2.0), (-3.0, 0.3, 4.0))),
    "hyp1f1": Reference(mp.hyp1f1, grid((0.6, 2.0), (1.5, 3.2), (-3.0, 0.3, 4.0))),
    "hyp2f1": Reference(mp.hyp2f1, grid((0.6, 2.0), (1.5,), (3.2,), (-3.0, 0.3, 0.7)), (1e-12, 1e-11, 1e-9)),
    "ellipk": Reference(mp.ellipk, of_one(-9.0, -0.5, 0.0, 1e-9, 0.4, 0.99)),
    "ellipkm1": Reference(lambda p: mp.ellipk(1 - p), of_one(1e-9, 0.4, 0.99, 1.0, 3.0)),
    "ellipe": Reference(mp.ellipe, of_one(-9.0, -0.5, 0.0, 1e-9, 0.4, 0.99)),
    "lpmv": Reference(lpmv, [(0, 2.0, -0.6), (1, 3.0, 0.3), (2, 4.5, 0.9)], (1e-11, 1e-10, 1e-8)),
    # --- integrals of exponentials, logarithms and trigonometric functions
    "exp1": Reference(mp.e1, of_one(*POSITIVE)),
    "expi": Reference(mp.ei, of_one(-2.3, -0.2, *POSITIVE)),
    "expn": Reference(mp.expint, [(n, x) for n in (0, 1, 2, 5) for x in (0.2, 1.0, 3.7, 20.0)]),
    "exprel": Reference(
        lambda x: mp.expm1(x) / x if x else mp.mpf(1), of_one(*REAL, *NEAR_ZERO, -60.0, 30.0)
    ),
    "spence": Reference(lambda z: mp.re(mp.polylog(2, 1 - z)), of_one(0.01, 0.4, 0.999999, 1.2, 7.0)),
    "zeta": Reference(mp.zeta, grid((1.2, 2.0, 5.5), (0.3, 1.0, 7.4))),
    "zetac": Reference(
        lambda x: mp.zeta(x) - 1,
        of_one(-20.3, -7.0, -4.0, -0.51, -0.49, 0.0, 0.3, 0.9, 1.2, 4.0, 30.0),
        (1e-12, 1e-11, 1e-10),
    ),
    "wrightomega": Reference(lambda z: mp.lambertw(mp.exp(z)), of_one(-3.0, -0.2, 1e-9, 1.0, 30.0)),
    "lambertw": Reference(mp.lambertw, of_one(-0.2, 1e-9, 0.4, 3.0, 1e4)),
    # --- elementary functions
    "entr": Reference(lambda x: -x * mp.log(x), of_one(*POSITIVE)),
    "rel_entr": Reference(
        lambda x, y: x * mp.log(x / y), [*grid((0.2, 1.0, 7.0), (0.3, 1.0, 6.9)), (1.0, 1.0 + 1e-9)]
    ),
    "kl_div": Reference(lambda x, y: x * mp.log(x / y) - x + y, grid((0.2, 1.0, 7.0), (0.3, 1.1, 6.0))),
    "huber": Reference(huber, grid((0.5, 2.0), (-3.0, -0.4, 0.3, 1.5))),
    "pseudo_huber": Reference(
        lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), grid((0.5, 2.0, 1e4), (-3.0, -0.4, 0.3, 1e-3))
    ),
    "xlogy": Reference(lambda x, y: x * mp.log(y), grid((-2.0, 0.0, 1.3), (0.2, 3.0))),
    "xlog1py": Reference(lambda x, y: x * mp.log1p(y), grid((-2.0, 0.0, 1.3), (-0.4, 1e-9, 3.0))),
    "boxcox": Reference(boxcox, grid((0.3, 1.0001, 4.0), (-1.3, 1e-9, 0.5, 2.0)), (1e-11, 1e-11, 1e-9)),
    "boxcox1p": Reference(
        lambda x, p: boxcox(1 + x, p), grid((-0.3, 1e-7, 4.0), (-1.3, 1e-9, 0.5, 2.0)), (1e-11, 1e-11, 1e-9)
    ),
    "inv_boxcox": Reference(
        inv_boxcox, grid((-0.4, 1e-7, 0.9), (-0.6, 1e-9, 0.5, 2.0)), (1e-11, 1e-11, 1e-8)
    ),
    "inv_boxcox1p": Reference(
        lambda y, p: mp.expm1(mp.log1p(p * y) / p),
        grid((-0.4, 1e-7, 0.9), (-0.6, 1e-9, 0.5, 2.0)),
        (1e-11, 1e-11, 1e-8),
    ),
    "expit": Reference(lambda x: 1 / (1 + mp.exp(-x)), of_one(*REAL, -40.0, 30.0)),
    "log_expit": Reference(lambda x: -mp.log1p(mp.exp(-x)), of_one(*REAL, -40.0, 30.0)),
    "logit": Reference(lambda x: mp.log(x / (1 - x)), of_one(1e-12, 0.2, 0.6, 0.97)),
    "powm1": Reference(lambda x, y: mp.expm1(y * mp.log(x)), grid((0.3, 1.0001, 4.0), (-1.3, 1e-9, 2.0))),
    "cbrt": Reference(lambda x: mp.sign(x) * mp.cbrt(abs(x)), of_one(*REAL)),
    "exp2": Reference(lambda x: mp.mpf(2) ** x, of_one(*REAL)),
    "exp10": Reference(lambda x: mp.mpf(10) ** x, of_one(*REAL)),
    "cosm1": Reference(lambda x: mp.cos(x) - 1, of_one(*REAL, 1e-7)),
    "cosdg": Reference(degrees(mp.cos), of_one(-75.0, 3.0, 200.0), (1e-12, 1e-11, 1e-10)),
    "sindg": Reference(degrees(mp.sin), of_one(-75.0, 3.0, 200.0), (1e-12, 1e-11, 1e-10)),
    "tandg": Reference(degrees(mp.tan), of_one(-75.0, 3.0, 200.0)),
    "cotdg": Reference(degrees(mp.cot), of_one(-75.0, 3.0, 200.0)),
    "radian": Reference(lambda d, m, s: (d + m / 60 + s / 3600) * mp.pi / 180, [(12.0, 30.0, 7.5)]),
    "sinc": Reference(mp.sincpi, of_one(*REAL, *NEAR_ZERO, 0.0, 0.5, 12.25), (1e-12, 1e-11, 1e-9)),
    # --- orthogonal polynomials
    "eval_legendre": Reference(mp.legendre, polynomials()),
    "eval_chebyt": Reference(mp.chebyt, polynomials()),
    "eval_chebyu": Reference(mp.chebyu, polynomials()),
    "eval_gegenbauer": Reference(mp.gegenbauer, polynomials(1.5, 0.3)),
    "eval_jacobi": Reference(mp.jacobi, [(n, 0.7, -0.4, x) for n, x in polynomials()]),
    "eval_hermite": Reference(mp.hermite, polynomials()),
    "eval_hermitenorm": Reference(
        lambda n, x: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n, polynomials()
    ),
    "eval_laguerre": Reference(lambda n, x: mp.laguerre(n, 0, x), polynomials()),
    "eval_genlaguerre": Reference(mp.laguerre, polynomials(1.5, -0.3)),
    # --- distributions
    "bdtr": Reference(bdtr, grid((0, 2, 4), (5, 9), (0.1, 0.6, 0.95))),
    "bdtrc": Reference(complement(bdtr), grid((0, 2, 4), (5, 9), (0.1, 0.6, 0.95))),
    "bdtri": Reference(
        inverse(bdtr, by_scipy("bdtri")), grid((0, 2), (5, 9), (0.1, 0.6)), (1e-10, 1e-9, 1e-8)
    ),
    "nbdtr": Reference(nbdtr, grid((0, 3), (1, 6), (0.1, 0.6, 0.95))),
    "nbdtrc": Reference(complement(nbdtr), grid((0, 3), (1, 6), (0.1, 0.6, 0.95))),
    "nbdtri": Reference(
        inverse(nbdtr, by_scipy("nbdtri")), grid((0, 3), (1, 6), (0.1, 0.6)), (1e-10, 1e-9, 1e-8)
    ),
    "pdtr": Reference(lambda k, m: gammaincc(mp.floor(k) + 1, m), grid((0.0, 2.0, 6.5), (0.3, 4.0))),
    "pdtrc": Reference(lambda k, m: gammainc(mp.floor(k) + 1, m), grid((0.0, 2.0, 6.5), (0.3, 4.0))),
    "pdtri": Reference(
        inverse(lambda k, m: gammaincc(mp.floor(k) + 1, m), lambda k, y: by_scipy("gammainccinv")(k + 1, y)),
        grid((0, 2, 6), (0.2, 0.9)),
        (1e-10, 1e-9, 1e-8),
    ),
    "chdtr": Reference(lambda v, x: gammainc(v / 2, x / 2), grid((0.5, 3.0, 12.0), (0.3, 4.0))),
    "chdtrc": Reference(lambda v, x: gammaincc(v / 2, x / 2), grid((0.5, 3.0, 12.0), (0.3, 4.0))),
    "chdtri": Reference(
        inverse(lambda v, x: gammaincc(v / 2, x / 2), by_scipy("chdtri")),
        grid((0.5, 3.0, 12.0), (0.2, 0.9)),
        (1e-10, 1e-9, 1e-8),
    ),
    "fdtr": Reference(fdtr, grid((1.5, 6.0), (2.5, 9.0), (0.3, 1.0, 4.0))),
    "fdtrc": Reference(complement(fdtr), grid((1.5, 6.0), (2.5, 9.0), (0.3, 1.0, 4.0))),
    "fdtri": Reference(
        inverse(fdtr, by_scipy("fdtri")), grid((1.5, 6.0), (2.5, 9.0), (0.3, 0.8)), (1e-10, 1e-9, 1e-8)
    ),
    "gdtr": Reference(lambda a, b, x: gammainc(b, a * x), grid((0.5, 2.0), (0.7, 5.0), (0.3, 3.0))),
    "gdtrc": Reference(lambda a, b, x: gammaincc(b, a * x), grid((0.5, 2.0), (0.7, 5.0), (0.3, 3.0))),
    "stdtr": Reference(stdtr, grid((0.8, 3.0, 25.0), (-2.4, -0.3, 0.2, 5.0)), (1e-12, 1e-11, 1e-8)),
    "stdtrit": Reference(
        inverse(stdtr, by_scipy("stdtrit")), grid((0.8, 3.0, 25.0), (0.1, 0.45, 0.9)), (1e-10, 1e-9, 1e-8)
    ),
}
