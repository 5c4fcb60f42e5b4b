"""Functions of `stride0.special` that SciPy computes, elementwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stride0._core.array.array import Array
from stride0._core.calls.primitive import primitive_in
from stride0.special._scipy import by_scipy

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "cosdg",
    "cosm1",
    "cotdg",
    "dawsn",
    "ellipe",
    "ellipk",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expn",
    "exprel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "huber",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "iv",
    "j0",
    "j1",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "kn",
    "kv",
    "log_expit",
    "log_ndtr",
    "loggamma",
    "logit",
    "lpmv",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "pseudo_huber",
    "psi",
    "radian",
    "rel_entr",
    "rgamma",
    "sindg",
    "spence",
    "tandg",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "yv",
    "zetac",
]


# --- gamma functions


@primitive_in("special")
def gamma(x: Operand, /) -> Array:
    """Return the gamma function."""
    return by_scipy("special.gamma", ("x",), x)


@primitive_in("special")
def gammaln(x: Operand, /) -> Array:
    """Return the logarithm of the absolute value of the gamma function."""
    return by_scipy("special.gammaln", ("x",), x)


@primitive_in("special")
def loggamma(x: Operand, /) -> Array:
    """Return the principal branch of the logarithm of the gamma function; NaN for a negative real number."""
    return by_scipy("special.loggamma", ("x",), x)


@primitive_in("special")
def gammasgn(x: Operand, /) -> Array:
    """Return the sign of the gamma function."""
    return by_scipy("special.gammasgn", ("x",), x)


@primitive_in("special")
def rgamma(x: Operand, /) -> Array:
    """Return the reciprocal of the gamma function, 0 at its poles."""
    return by_scipy("special.rgamma", ("x",), x)


@primitive_in("special")
def psi(x: Operand, /) -> Array:
    """Return the digamma function: the derivative of the logarithm of the gamma function."""
    return by_scipy("special.psi", ("x",), x)


@primitive_in("special")
def poch(z: Operand, m: Operand, /) -> Array:
    """Return the rising factorial, ``gamma(z + m) / gamma(z)``."""
    return by_scipy("special.poch", ("z", "m"), z, m)


@primitive_in("special")
def beta(a: Operand, b: Operand, /) -> Array:
    """Return the beta function, ``gamma(a) * gamma(b) / gamma(a + b)``."""
    return by_scipy("special.beta", ("a", "b"), a, b)


@primitive_in("special")
def betaln(a: Operand, b: Operand, /) -> Array:
    """Return the logarithm of the absolute value of the beta function."""
    return by_scipy("special.betaln", ("a", "b"), a, b)


@primitive_in("special")
def binom(n: Operand, k: Operand, /) -> Array:
    """Return the binomial coefficient of real arguments, `n` over `k`."""
    return by_scipy("special.binom", ("n", "k"), n, k)


@primitive_in("special")
def gammainc(a: Operand, x: Operand, /) -> Array:
    """Return the regularized lower incomplete gamma function."""
    return by_scipy("special.gammainc", ("a", "x"), a, x)


@primitive_in("special")
def gammaincc(a: Operand, x: Operand, /) -> Array:
    """Return the regularized upper incomplete gamma function."""
    return by_scipy("special.gammaincc", ("a", "x"), a, x)


@primitive_in("special")
def gammaincinv(a: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``gammainc(a, x)`` is `y`."""
    return by_scipy("special.gammaincinv", ("a", "y"), a, y)


@primitive_in("special")
def gammainccinv(a: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``gammaincc(a, x)`` is `y`."""
    return by_scipy("special.gammainccinv", ("a", "y"), a, y)


@primitive_in("special")
def betainc(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the regularized incomplete beta function."""
    return by_scipy("special.betainc", ("a", "b", "x"), a, b, x)


@primitive_in("special")
def betaincc(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the complement of the regularized incomplete beta function."""
    return by_scipy("special.betaincc", ("a", "b", "x"), a, b, x)


@primitive_in("special")
def betaincinv(a: Operand, b: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``betainc(a, b, x)`` is `y`."""
    return by_scipy("special.betaincinv", ("a", "b", "y"), a, b, y)


# --- the error function and its kin


@primitive_in("special")
def erf(x: Operand, /) -> Array:
    """Return the error function."""
    return by_scipy("special.erf", ("x",), x)


@primitive_in("special")
def erfc(x: Operand, /) -> Array:
    """Return the complementary error function, ``1 - erf(x)``."""
    return by_scipy("special.erfc", ("x",), x)


@primitive_in("special")
def erfcx(x: Operand, /) -> Array:
    """Return the scaled complementary error function, ``exp(x**2) * erfc(x)``."""
    return by_scipy("special.erfcx", ("x",), x)


@primitive_in("special")
def erfi(x: Operand, /) -> Array:
    """Return the imaginary error function, ``-1j * erf(1j * x)``."""
    return by_scipy("special.erfi", ("x",), x)


@primitive_in("special")
def erfinv(x: Operand, /) -> Array:
    """Return the inverse of the error function."""
    return by_scipy("special.erfinv", ("x",), x)


@primitive_in("special")
def erfcinv(x: Operand, /) -> Array:
    """Return the inverse of the complementary error function."""
    return by_scipy("special.erfcinv", ("x",), x)


@primitive_in("special")
def dawsn(x: Operand, /) -> Array:
    """Return Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to `x`."""
    return by_scipy("special.dawsn", ("x",), x)


@primitive_in("special")
def ndtr(x: Operand, /) -> Array:
    """Return the distribution function of the standard normal distribution."""
    return by_scipy("special.ndtr", ("x",), x)


@primitive_in("special")
def log_ndtr(x: Operand, /) -> Array:
    """Return the logarithm of the distribution function of the standard normal distribution."""
    return by_scipy("special.log_ndtr", ("x",), x)


@primitive_in("special")
def ndtri(x: Operand, /) -> Array:
    """Return the inverse of `ndtr`: the quantiles of the standard normal distribution."""
    return by_scipy("special.ndtri", ("x",), x)


@primitive_in("special")
def owens_t(h: Operand, a: Operand, /) -> Array:
    """Return Owen's T function."""
    return by_scipy("special.owens_t", ("h", "a"), h, a)


# --- Bessel functions


@primitive_in("special")
def j0(x: Operand, /) -> Array:
    """Return the Bessel function of the first kind of order 0."""
    return by_scipy("special.j0", ("x",), x)


@primitive_in("special")
def j1(x: Operand, /) -> Array:
    """Return the Bessel function of the first kind of order 1."""
    return by_scipy("special.j1", ("x",), x)


@primitive_in("special")
def jv(v: Operand, z: Operand, /) -> Array:
    """Return the Bessel function of the first kind of real order `v`."""
    return by_scipy("special.jv", ("v", "z"), v, z)


@primitive_in("special")
def y0(x: Operand, /) -> Array:
    """Return the Bessel function of the second kind of order 0."""
    return by_scipy("special.y0", ("x",), x)


@primitive_in("special")
def y1(x: Operand, /) -> Array:
    """Return the Bessel function of the second kind of order 1."""
    return by_scipy("special.y1", ("x",), x)


@primitive_in("special")
def yn(n: Operand, x: Operand, /) -> Array:
    """Return the Bessel function of the second kind of integer order `n`."""
    return by_scipy("special.yn", ("n", "x"), n, x)


@primitive_in("special")
def yv(v: Operand, z: Operand, /) -> Array:
    """Return the Bessel function of the second kind of real order `v`."""
    return by_scipy("special.yv", ("v", "z"), v, z)


@primitive_in("special")
def i0(x: Operand, /) -> Array:
    """Return the modified Bessel function of the first kind of order 0."""
    return by_scipy("special.i0", ("x",), x)


@primitive_in("special")
def i0e(x: Operand, /) -> Array:
    """Return the exponentially scaled `i0`, ``exp(-abs(x)) * i0(x)``."""
    return by_scipy("special.i0e", ("x",), x)


@primitive_in("special")
def i1(x: Operand, /) -> Array:
    """Return the modified Bessel function of the first kind of order 1."""
    return by_scipy("special.i1", ("x",), x)


@primitive_in("special")
def i1e(x: Operand, /) -> Array:
    """Return the exponentially scaled `i1`, ``exp(-abs(x)) * i1(x)``."""
    return by_scipy("special.i1e", ("x",), x)


@primitive_in("special")
def iv(v: Operand, z: Operand, /) -> Array:
    """Return the modified Bessel function of the first kind of real order `v`."""
    return by_scipy("special.iv", ("v", "z"), v, z)


@primitive_in("special")
def k0(x: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of order 0."""
    return by_scipy("special.k0", ("x",), x)


@primitive_in("special")
def k0e(x: Operand, /) -> Array:
    """Return the exponentially scaled `k0`, ``exp(x) * k0(x)``."""
    return by_scipy("special.k0e", ("x",), x)


@primitive_in("special")
def k1(x: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of order 1."""
    return by_scipy("special.k1", ("x",), x)


@primitive_in("special")
def k1e(x: Operand, /) -> Array:
    """Return the exponentially scaled `k1`, ``exp(x) * k1(x)``."""
    return by_scipy("special.k1e", ("x",), x)


@primitive_in("special")
def kn(n: Operand, x: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of integer order `n`."""
    return by_scipy("special.kn", ("n", "x"), n, x)


@primitive_in("special")
def kv(v: Operand, z: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of real order `v`."""
    return by_scipy("special.kv", ("v", "z"), v, z)


# --- hypergeometric, elliptic and Legendre functions


@primitive_in("special")
def hyp0f1(v: Operand, z: Operand, /) -> Array:
    """Return the confluent hypergeometric limit function 0F1."""
    return by_scipy("special.hyp0f1", ("v", "z"), v, z)


@primitive_in("special")
def hyp1f1(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return Kummer's confluent hypergeometric function 1F1."""
    return by_scipy("special.hyp1f1", ("a", "b", "x"), a, b, x)


@primitive_in("special")
def hyp2f1(a: Operand, b: Operand, c: Operand, z: Operand, /) -> Array:
    """Return Gauss's hypergeometric function 2F1."""
    return by_scipy("special.hyp2f1", ("a", "b", "c", "z"), a, b, c, z)


@primitive_in("special")
def ellipk(m: Operand, /) -> Array:
    """Return the complete elliptic integral of the first kind of parameter `m`."""
    return by_scipy("special.ellipk", ("m",), m)


@primitive_in("special")
def ellipkm1(p: Operand, /) -> Array:
    """Return ``ellipk(1 - p)``, accurately for a small `p`."""
    return by_scipy("special.ellipkm1", ("p",), p)


@primitive_in("special")
def ellipe(m: Operand, /) -> Array:
    """Return the complete elliptic integral of the second kind of parameter `m`."""
    return by_scipy("special.ellipe", ("m",), m)


@primitive_in("special")
def lpmv(m: Operand, v: Operand, x: Operand, /) -> Array:
    """Return the associated Legendre function of integer order `m` and real degree `v`."""
    return by_scipy("special.lpmv", ("m", "v", "x"), m, v, x)


# --- integrals of exponentials, logarithms and trigonometric functions


@primitive_in("special")
def exp1(x: Operand, /) -> Array:
    """Return the exponential integral E1."""
    return by_scipy("special.exp1", ("x",), x)


@primitive_in("special")
def expi(x: Operand, /) -> Array:
    """Return the exponential integral Ei."""
    return by_scipy("special.expi", ("x",), x)


@primitive_in("special")
def expn(n: Operand, x: Operand, /) -> Array:
    """Return the generalized exponential integral of order `n`."""
    return by_scipy("special.expn", ("n", "x"), n, x)


@primitive_in("special")
def exprel(x: Operand, /) -> Array:
    """Return ``(exp(x) - 1) / x``, which is 1 where `x` is 0."""
    return by_scipy("special.exprel", ("x",), x)


@primitive_in("special")
def spence(z: Operand, /) -> Array:
    """Return Spence's function: the integral of ``log(t) / (1 - t)`` from 1 to `z`."""
    return by_scipy("special.spence", ("z",), z)


@primitive_in("special")
def zetac(x: Operand, /) -> Array:
    """Return Riemann's zeta function minus 1."""
    return by_scipy("special.zetac", ("x",), x)


# --- elementary functions


@primitive_in("special")
def entr(x: Operand, /) -> Array:
    """Return ``-x * log(x)``: 0 where `x` is 0, and minus infinity where it is negative."""
    return by_scipy("special.entr", ("x",), x)


@primitive_in("special")
def rel_entr(x1: Operand, x2: Operand, /) -> Array:
    """Return ``x1 * log(x1 / x2)``: 0 where `x1` is 0, and infinity outside of the domain."""
    return by_scipy("special.rel_entr", ("x1", "x2"), x1, x2)


@primitive_in("special")
def kl_div(x1: Operand, x2: Operand, /) -> Array:
    """Return ``x1 * log(x1 / x2) - x1 + x2``: `x2` where `x1` is 0, and infinity outside of the domain."""
    return by_scipy("special.kl_div", ("x1", "x2"), x1, x2)


@primitive_in("special")
def huber(x1: Operand, x2: Operand, /) -> Array:
    """Return Huber's loss of the residuals `x2`: quadratic up to `x1`, linear beyond."""
    return by_scipy("special.huber", ("x1", "x2"), x1, x2)


@primitive_in("special")
def pseudo_huber(x1: Operand, x2: Operand, /) -> Array:
    """Return ``x1**2 * (sqrt(1 + (x2 / x1)**2) - 1)``: a smooth form of `huber`."""
    return by_scipy("special.pseudo_huber", ("x1", "x2"), x1, x2)


@primitive_in("special")
def xlogy(x1: Operand, x2: Operand, /) -> Array:
    """Return ``x1 * log(x2)``, which is 0 where `x1` is 0."""
    return by_scipy("special.xlogy", ("x1", "x2"), x1, x2)


@primitive_in("special")
def xlog1py(x1: Operand, x2: Operand, /) -> Array:
    """Return ``x1 * log1p(x2)``, which is 0 where `x1` is 0."""
    return by_scipy("special.xlog1py", ("x1", "x2"), x1, x2)


@primitive_in("special")
def boxcox(x1: Operand, x2: Operand, /) -> Array:
    """Return the Box-Cox transform, ``(x1**x2 - 1) / x2``: ``log(x1)`` where `x2` is 0."""
    return by_scipy("special.boxcox", ("x1", "x2"), x1, x2)


@primitive_in("special")
def boxcox1p(x1: Operand, x2: Operand, /) -> Array:
    """Return the Box-Cox transform of ``1 + x1``."""
    return by_scipy("special.boxcox1p", ("x1", "x2"), x1, x2)


@primitive_in("special")
def inv_boxcox(x1: Operand, x2: Operand, /) -> Array:
    """Return the inverse of `boxcox` with respect to its first argument."""
    return by_scipy("special.inv_boxcox", ("x1", "x2"), x1, x2)


@primitive_in("special")
def inv_boxcox1p(x1: Operand, x2: Operand, /) -> Array:
    """Return the inverse of `boxcox1p` with respect to its first argument."""
    return by_scipy("special.inv_boxcox1p", ("x1", "x2"), x1, x2)


@primitive_in("special")
def log_expit(x: Operand, /) -> Array:
    """Return the logarithm of the logistic function."""
    return by_scipy("special.log_expit", ("x",), x)


@primitive_in("special")
def logit(x: Operand, /) -> Array:
    """Return the inverse of the logistic function, ``log(x / (1 - x))``."""
    return by_scipy("special.logit", ("x",), x)


@primitive_in("special")
def cbrt(x: Operand, /) -> Array:
    """Return the cube root."""
    return by_scipy("special.cbrt", ("x",), x)


@primitive_in("special")
def exp2(x: Operand, /) -> Array:
    """Return 2 to the power of each element."""
    return by_scipy("special.exp2", ("x",), x)


@primitive_in("special")
def exp10(x: Operand, /) -> Array:
    """Return 10 to the power of each element."""
    return by_scipy("special.exp10", ("x",), x)


@primitive_in("special")
def cosm1(x: Operand, /) -> Array:
    """Return ``cos(x) - 1``, accurately for a small `x`."""
    return by_scipy("special.cosm1", ("x",), x)


@primitive_in("special")
def cosdg(x: Operand, /) -> Array:
    """Return the cosine of an angle in degrees."""
    return by_scipy("special.cosdg", ("x",), x)


@primitive_in("special")
def sindg(x: Operand, /) -> Array:
    """Return the sine of an angle in degrees."""
    return by_scipy("special.sindg", ("x",), x)


@primitive_in("special")
def tandg(x: Operand, /) -> Array:
    """Return the tangent of an angle in degrees."""
    return by_scipy("special.tandg", ("x",), x)


@primitive_in("special")
def cotdg(x: Operand, /) -> Array:
    """Return the cotangent of an angle in degrees."""
    return by_scipy("special.cotdg", ("x",), x)


@primitive_in("special")
def radian(d: Operand, m: Operand, s: Operand, /) -> Array:
    """Return the radians of an angle in degrees, minutes and seconds."""
    return by_scipy("special.radian", ("d", "m", "s"), d, m, s)
