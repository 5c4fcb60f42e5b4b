"""Functions of `stride0.special` that SciPy computes, elementwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stride0._core.array.array import Array
from stride0.special._scipy import declared_ufunc

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
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
    "powm1",
    "radian",
    "rgamma",
    "spence",
    "wrightomega",
    "y0",
    "y1",
    "yn",
    "yv",
    "zetac",
]


# --- gamma functions


@declared_ufunc
def loggamma(x: Operand, /) -> Array:
    """Return the principal branch of the logarithm of the gamma function; NaN for a negative real number."""


@declared_ufunc
def gammasgn(x: Operand, /) -> Array:
    """Return the sign of the gamma function."""


@declared_ufunc
def rgamma(x: Operand, /) -> Array:
    """Return the reciprocal of the gamma function, 0 at its poles."""


@declared_ufunc
def poch(z: Operand, m: Operand, /) -> Array:
    """Return the rising factorial, ``gamma(z + m) / gamma(z)``."""


@declared_ufunc
def beta(a: Operand, b: Operand, /) -> Array:
    """Return the beta function, ``gamma(a) * gamma(b) / gamma(a + b)``."""


@declared_ufunc
def betaln(a: Operand, b: Operand, /) -> Array:
    """Return the logarithm of the absolute value of the beta function."""


@declared_ufunc
def binom(n: Operand, k: Operand, /) -> Array:
    """Return the binomial coefficient of real arguments, `n` over `k`."""


@declared_ufunc
def gammainc(a: Operand, x: Operand, /) -> Array:
    """Return the regularized lower incomplete gamma function."""


@declared_ufunc
def gammaincc(a: Operand, x: Operand, /) -> Array:
    """Return the regularized upper incomplete gamma function."""


@declared_ufunc
def gammaincinv(a: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``gammainc(a, x)`` is `y`."""


@declared_ufunc
def gammainccinv(a: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``gammaincc(a, x)`` is `y`."""


@declared_ufunc
def betainc(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the regularized incomplete beta function."""


@declared_ufunc
def betaincc(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the complement of the regularized incomplete beta function."""


@declared_ufunc
def betaincinv(a: Operand, b: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``betainc(a, b, x)`` is `y`."""


@declared_ufunc
def betainccinv(a: Operand, b: Operand, y: Operand, /) -> Array:
    """Return the `x` at which ``betaincc(a, b, x)`` is `y`."""


# --- the error function and its kin


@declared_ufunc
def erfi(x: Operand, /) -> Array:
    """Return the imaginary error function, ``-1j * erf(1j * x)``."""


@declared_ufunc
def dawsn(x: Operand, /) -> Array:
    """Return Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to `x`."""


@declared_ufunc
def owens_t(h: Operand, a: Operand, /) -> Array:
    """Return Owen's T function."""


# --- Bessel functions


@declared_ufunc
def j0(x: Operand, /) -> Array:
    """Return the Bessel function of the first kind of order 0."""


@declared_ufunc
def j1(x: Operand, /) -> Array:
    """Return the Bessel function of the first kind of order 1."""


@declared_ufunc
def jv(v: Operand, z: Operand, /) -> Array:
    """Return the Bessel function of the first kind of real order `v`."""


@declared_ufunc
def y0(x: Operand, /) -> Array:
    """Return the Bessel function of the second kind of order 0."""


@declared_ufunc
def y1(x: Operand, /) -> Array:
    """Return the Bessel function of the second kind of order 1."""


@declared_ufunc
def yn(n: Operand, x: Operand, /) -> Array:
    """Return the Bessel function of the second kind of integer order `n`."""


@declared_ufunc
def yv(v: Operand, z: Operand, /) -> Array:
    """Return the Bessel function of the second kind of real order `v`."""


@declared_ufunc
def iv(v: Operand, z: Operand, /) -> Array:
    """Return the modified Bessel function of the first kind of real order `v`."""


@declared_ufunc
def k0(x: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of order 0."""


@declared_ufunc
def k0e(x: Operand, /) -> Array:
    """Return the exponentially scaled `k0`, ``exp(x) * k0(x)``."""


@declared_ufunc
def k1(x: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of order 1."""


@declared_ufunc
def k1e(x: Operand, /) -> Array:
    """Return the exponentially scaled `k1`, ``exp(x) * k1(x)``."""


@declared_ufunc
def kn(n: Operand, x: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of integer order `n`."""


@declared_ufunc
def kv(v: Operand, z: Operand, /) -> Array:
    """Return the modified Bessel function of the second kind of real order `v`."""


# --- hypergeometric, elliptic and Legendre functions


@declared_ufunc
def hyp0f1(v: Operand, z: Operand, /) -> Array:
    """Return the confluent hypergeometric limit function 0F1."""


@declared_ufunc
def hyp1f1(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return Kummer's confluent hypergeometric function 1F1."""


@declared_ufunc
def hyp2f1(a: Operand, b: Operand, c: Operand, z: Operand, /) -> Array:
    """Return Gauss's hypergeometric function 2F1."""


@declared_ufunc
def ellipk(m: Operand, /) -> Array:
    """Return the complete elliptic integral of the first kind of parameter `m`."""


@declared_ufunc
def ellipkm1(p: Operand, /) -> Array:
    """Return ``ellipk(1 - p)``, accurately for a small `p`."""


@declared_ufunc
def ellipe(m: Operand, /) -> Array:
    """Return the complete elliptic integral of the second kind of parameter `m`."""


@declared_ufunc
def lpmv(m: Operand, v: Operand, x: Operand, /) -> Array:
    """Return the associated Legendre function of integer order `m` and real degree `v`."""


# --- integrals of exponentials, logarithms and trigonometric functions


@declared_ufunc
def exp1(x: Operand, /) -> Array:
    """Return the exponential integral E1."""


@declared_ufunc
def expi(x: Operand, /) -> Array:
    """Return the exponential integral Ei."""


@declared_ufunc
def expn(n: Operand, x: Operand, /) -> Array:
    """Return the generalized exponential integral of order `n`."""


@declared_ufunc
def spence(z: Operand, /) -> Array:
    """Return Spence's function: the integral of ``log(t) / (1 - t)`` from 1 to `z`."""


@declared_ufunc
def zetac(x: Operand, /) -> Array:
    """Return Riemann's zeta function minus 1."""


@declared_ufunc
def wrightomega(z: Operand, /) -> Array:
    """Return Wright's omega function, the `w` with ``w + log(w) == z``."""


# --- elementary functions


@declared_ufunc
def powm1(x: Operand, y: Operand, /) -> Array:
    """Return ``x**y - 1``, accurately where the power is near 1."""


@declared_ufunc
def radian(d: Operand, m: Operand, s: Operand, /) -> Array:
    """Return the radians of an angle in degrees, minutes and seconds."""
