"""Functions of `stride0.special` with further parameters, or with several results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from stride0._base.errors import ArgumentValueError, brief
from stride0._base.shapes import broadcast_shapes, normalize_index
from stride0._chapters.creation import arange
from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import expand_dims
from stride0._chapters.statistical import sum
from stride0._chapters.utility import any
from stride0._core.array.array import Array
from stride0._core.array.modes import check_broadcasting
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.functions import expm1, log1p
from stride0._core.elementwise.special import digamma, gamma, gammaln
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import arithmetic_dtype, promote
from stride0.special._scipy import by_scipy, floating_operands, several_by_scipy

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = [
    "airy",
    "expm1",
    "factorial",
    "fresnel",
    "lambertw",
    "log1p",
    "multigammaln",
    "polygamma",
    "psi",
    "shichi",
    "sici",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "zeta",
]

# SciPy and PyTorch have both names.
psi = digamma


class AiryResult(NamedTuple):
    """Result of `airy`: the functions Ai and Bi, each with its derivative."""

    ai: Array
    aip: Array
    bi: Array
    bip: Array


class FresnelResult(NamedTuple):
    """Result of `fresnel`."""

    sine: Array
    cosine: Array


class ShichiResult(NamedTuple):
    """Result of `shichi`."""

    sinh: Array
    cosh: Array


class SiciResult(NamedTuple):
    """Result of `sici`."""

    sine: Array
    cosine: Array


@primitive_in("special")
def polygamma(n: Operand, x: Operand, /) -> Array:
    """Return the polygamma function: derivative `n` of the digamma function.

    Parameters
    ----------
    n : Array or Python scalar
        Integers from 0 on; its shape broadcasts with the shape of `x`.
    x : Array or Python scalar
        Operand of a real dtype. Integers and bool count as float64.
    """
    if type(n) is int and n == 0:
        return digamma(x)
    if type(n) is int and 0 < n <= 170:
        found, target = floating_operands("special.polygamma", (x,), ("x",))
        scaled = zeta(n + 1, found[0])
        return el.multiply(scaled, math.copysign(float(math.factorial(n)), 1 if n % 2 else -1))
    (orders, found_x), target = floating_operands("special.polygamma", (n, x), ("n", "x"))
    pairs = [("n", orders.shape), ("x", found_x.shape)]
    check_broadcasting("special.polygamma", pairs, broadcast_shapes("special.polygamma", pairs))
    following = el.add(astype(orders, target, copy=False), 1)
    positive = el.multiply(el.multiply(el.pow(-1.0, following), gamma(following)), zeta(following, x))
    return el.where(el.equal(orders, 0), astype(digamma(x), target, copy=False), positive)


@primitive_in("special")
def zeta(x: Operand, q: Operand | None = None, /) -> Array:
    """Return the Hurwitz zeta function; by default `q` is 1, which is the Riemann zeta function.

    Parameters
    ----------
    x : Array or Python scalar
        Operand of a real dtype; without `q`, also of a complex dtype. Integers and bool count as float64.
    q : Array or Python scalar, optional
        Operand of a real dtype; its shape broadcasts with the shape of `x`.
    """
    if q is None:
        return by_scipy("special.zeta", ("x",), x, ufunc="zeta of one argument")
    return by_scipy("special.zeta", ("x", "q"), x, q)


@primitive_in("special")
def lambertw(z: Operand, /, k: Operand = 0, tol: float = 1e-8) -> Array:
    """Return Lambert's W function: the complex `w` with ``w * exp(w) == z``.

    Parameters
    ----------
    z : Array or Python scalar
        Operand of any numeric dtype.
    k : Array or Python scalar
        The branch: 0 is the principal branch.
    tol : float
        Relative tolerance at which the iteration ends.

    Returns
    -------
    Array
        New array of the complex dtype of the precision of `z`.
    """
    (found,), target = floating_operands("special.lambertw", (z,), ("z",))
    return by_scipy(
        "special.lambertw",
        ("z", "k", "tol"),
        astype(found, promote(target, dt.complex64), copy=False),
        k,
        tol,
    )


@primitive_in("special")
def factorial(n: Operand, /) -> Array:
    """Return the factorial, ``gamma(n + 1)``; 0 where `n` is negative.

    Parameters
    ----------
    n : Array or Python scalar
        Operand of a real dtype and any shape.

    Returns
    -------
    Array
        New array of the floating-point dtype of `n`; float64 for integers and bool.
    """
    (found,), target = floating_operands("special.factorial", (n,), ("n",))
    return el.where(el.less(found, 0), 0, gamma(el.add(astype(found, target, copy=False), 1)))


@primitive_in("special")
def multigammaln(a: Operand, d: int, /) -> Array:
    """Return the logarithm of the multivariate gamma function of dimension `d`.

    Parameters
    ----------
    a : Array or Python scalar
        Operand of a real dtype, greater than ``(d - 1) / 2``.
    d : int
        The dimension, at least 1.

    Returns
    -------
    Array
        New array of the floating-point dtype of `a`; float64 for integers.

    Raises
    ------
    ArgumentValueError
        If `d` is less than 1, or an element is not greater than ``(d - 1) / 2``.
    """
    op = "special.multigammaln"
    (found,), target = floating_operands(op, (a,), ("a",))
    count = normalize_index(op, "d", d)
    if count < 1:
        raise ArgumentValueError(op, "d must be at least 1", [("d", brief(count))])
    if any(el.less_equal(found, (count - 1) / 2)):
        raise ArgumentValueError(op, "a must be greater than (d - 1) / 2", [("d", brief(count))])
    steps = arange(count, dtype=target) / 2
    terms = gammaln(el.subtract(expand_dims(astype(found, target, copy=False), axis=-1), steps))
    return el.add(sum(terms, axis=-1), count * (count - 1) / 4 * math.log(math.pi))


@primitive_in("special")
def fresnel(z: Operand, /) -> FresnelResult:
    """Return the Fresnel integrals, of ``sin(pi * t**2 / 2)`` and ``cos(pi * t**2 / 2)`` from 0 to `z`.

    Returns
    -------
    FresnelResult
        Named tuple of the arrays `sine` and `cosine`.
    """
    return FresnelResult(*several_by_scipy("special.fresnel", ("z",), z))


@primitive_in("special")
def sici(x: Operand, /) -> SiciResult:
    """Return the sine and the cosine integral.

    Returns
    -------
    SiciResult
        Named tuple of the arrays `sine` and `cosine`.
    """
    return SiciResult(*several_by_scipy("special.sici", ("x",), x))


@primitive_in("special")
def shichi(x: Operand, /) -> ShichiResult:
    """Return the hyperbolic sine and cosine integral.

    Returns
    -------
    ShichiResult
        Named tuple of the arrays `sinh` and `cosh`.
    """
    return ShichiResult(*several_by_scipy("special.shichi", ("x",), x))


@primitive_in("special")
def airy(z: Operand, /) -> AiryResult:
    """Return Airy's functions and their derivatives.

    Returns
    -------
    AiryResult
        Named tuple of the arrays `ai`, `aip`, `bi` and `bip`.
    """
    return AiryResult(*several_by_scipy("special.airy", ("z",), z))


# The order, modulo 2, for which a spherical Bessel function is odd in a real argument.
_ODD_FUNCTIONS = {"spherical_in": 1, "spherical_jn": 1, "spherical_kn": 0, "spherical_yn": 0}


def _spherical(name: str, n: Operand, z: Operand) -> Array:
    """Return a spherical Bessel function; reflect negative real arguments: DLMF 10.47(v).

    SciPy's ufuncs return NaN for negative arguments.
    """
    op, names = f"special.{name}", ("n", "z")
    (order, x), target = floating_operands(op, (n, z), names)
    if x.dtype.kind == "complex floating":
        return by_scipy(op, names, n, z)
    x = astype(x, arithmetic_dtype(target), copy=False)
    size, beyond = el.abs(x), el.less(x, 0)
    found = by_scipy(op, names, n, size)
    if any(beyond):
        parity = el.remainder(astype(order, dt.int64, copy=False), 2)
        flipped = el.where(el.equal(parity, _ODD_FUNCTIONS[name]), el.negative(found), found)
        if name == "spherical_kn":
            growing = by_scipy(op, names, n, size, ufunc="spherical_in")
            flipped = el.subtract(flipped, el.multiply(growing, math.pi))
        found = el.where(beyond, flipped, found)
    return astype(found, target, copy=False)


@primitive_in("special")
def spherical_jn(n: Operand, z: Operand, /) -> Array:
    """Return the spherical Bessel function of the first kind of integer order `n`."""
    return _spherical("spherical_jn", n, z)


@primitive_in("special")
def spherical_yn(n: Operand, z: Operand, /) -> Array:
    """Return the spherical Bessel function of the second kind of integer order `n`."""
    return _spherical("spherical_yn", n, z)


@primitive_in("special")
def spherical_in(n: Operand, z: Operand, /) -> Array:
    """Return the modified spherical Bessel function of the first kind of integer order `n`."""
    return _spherical("spherical_in", n, z)


@primitive_in("special")
def spherical_kn(n: Operand, z: Operand, /) -> Array:
    """Return the modified spherical Bessel function of the second kind of integer order `n`."""
    return _spherical("spherical_kn", n, z)
