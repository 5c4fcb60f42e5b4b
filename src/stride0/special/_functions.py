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
    "dawsn",
    "ellipe",
    "ellipk",
    "ellipkm1",
    "erfi",
    "exp1",
    "expi",
    "expn",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammasgn",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "iv",
    "j0",
    "j1",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kn",
    "kv",
    "loggamma",
    "lpmv",
    "owens_t",
    "poch",
    "radian",
    "rgamma",
    "spence",
    "y0",
    "y1",
    "yn",
    "yv",
    "zetac",
]


# --- gamma functions


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
def erfi(x: Operand, /) -> Array:
    """Return the imaginary error function, ``-1j * erf(1j * x)``."""
    return by_scipy("special.erfi", ("x",), x)


@primitive_in("special")
def dawsn(x: Operand, /) -> Array:
    """Return Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to `x`."""
    return by_scipy("special.dawsn", ("x",), x)


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
def spence(z: Operand, /) -> Array:
    """Return Spence's function: the integral of ``log(t) / (1 - t)`` from 1 to `z`."""
    return by_scipy("special.spence", ("z",), z)


@primitive_in("special")
def zetac(x: Operand, /) -> Array:
    """Return Riemann's zeta function minus 1."""
    return by_scipy("special.zetac", ("x",), x)


# --- elementary functions


@primitive_in("special")
def radian(d: Operand, m: Operand, s: Operand, /) -> Array:
    """Return the radians of an angle in degrees, minutes and seconds."""
    return by_scipy("special.radian", ("d", "m", "s"), d, m, s)
