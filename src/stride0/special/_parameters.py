"""Derivatives of the incomplete gamma and beta functions by their parameters.

Note [Derivatives by parameters]
    The derivative of ``gammainc(a, x)`` by `a` is the integral of ``density(t) * (log(t) - psi(a))`` from 0
    to `x`. It is also minus the integral from `x` to infinity, because both integrals together are 0. The
    second factor changes its sign at ``exp(psi(a))``. The integral that does not contain this point has an
    integrand of constant sign, so nothing cancels. For a small `a` the density is concentrated near 0, so the
    recurrence from `a` to ``a + 1`` splits off a term, and the integral is computed for ``a + 1``. `betainc`
    has the same structure, with ``psi(a) - psi(a + b)``; its derivative by `b` is the derivative of the
    mirrored function by the first parameter.

    A further derivative multiplies the density by a Bell polynomial in the derivatives of its logarithm, and
    changes nothing else. The terms of the polynomial differ in sign, so the result is as accurate as its
    largest term.

    With ``t = x * exp(-u)``, or ``x * exp(u)``, or ``1 - t = (1 - x) * exp(-u)``, the integrand is
    ``exp(-E(u))`` times a linear or logarithmic factor, from 0 to infinity, where E is convex or at first
    grows like a logarithm. Its scales near 0 are known, and beyond some `U` it is 0 in float64. Substituting
    ``u = m * expm1(T * s)``, with the smallest scale as `m`, makes it smooth in `s` from 0 to 1. A
    Gauss-Legendre rule with enough nodes for the worst case is then exact to nearly all digits. Each element
    has its own scales, so its result does not depend on other elements.
"""

from __future__ import annotations

import functools
import math
import operator
from functools import cache
from typing import TYPE_CHECKING, Any

from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import expand_dims
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.array.modes import refuse_library
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import as_array
from stride0._core.elementwise.special import digamma as psi
from stride0._core.exchange.numpy_calls import from_numpy, numpy
from stride0._core.memory import dtype as dt
from stride0._modes.fused import fused
from stride0.special._composed import polygamma
from stride0.special._densities import beta_density, gamma_density
from stride0.special._scipy import floating_operands
from stride0.special._ufuncs import betaln

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

# Integrands below exp(-_END) are negligible.
_END = 45.0


def _nodes(count: int) -> tuple[Array, Array]:
    """Return nodes in the interval from 0 to 1, and their weights. Refused within `reproducible`."""
    refuse_library("special", "numpy.polynomial.legendre.leggauss")
    return _cached_nodes(count)


@cache
def _cached_nodes(count: int) -> tuple[Array, Array]:
    x, w = numpy().polynomial.legendre.leggauss(count)
    return from_numpy((x + 1) / 2), from_numpy(w / 2)


def _doubles(op: str, *operands: Operand) -> tuple[Any, ...]:
    """Return operands in float64, and the dtype of the result."""
    found, target = floating_operands(op, operands)
    return *(astype(x, dt.float64, copy=False) for x in found), target


def _bell(first: Any, higher: list[Any]) -> Any:
    """Return the factor of a density in its derivative by a parameter, of order ``len(higher) + 1``.

    `first` and `higher` are the derivatives of its logarithm; the factor is a complete Bell polynomial.
    """
    return _bell_of_two(first, None, [[None], [None], *([each] for each in higher)])


def gamma_factor(a: Any, x: Any, order: int) -> Any:
    """Return the derivative of `gamma_density` by `a`, of a given order, divided by the density."""
    return _bell(el.log(x) - psi(a), [-polygamma(i, a) for i in range(1, order)])


@primitive_in("special")
def gammainc_a(a: Operand, x: Operand, order: int = 1, /) -> Array:
    """Return a derivative of `gammainc` by `a`, by default the first: Note [Derivatives by parameters]."""
    first, last, target = _doubles("special.gammainc_a", a, x)
    return astype(_gammainc_a(first, last, order), target, copy=False)


def _gammainc_a(a: Array, x: Array, order: int) -> Array:
    """Return the same for float64 arrays."""
    centre = psi(a + 1.0)
    below = el.less(x, el.exp(centre))
    k = el.log(x) - centre
    alpha = el.where(below, a + 1.0, a)
    side = el.where(below, -1.0, 1.0)
    scale = 1.0 / el.maximum(side * (x - alpha), el.sqrt(x))
    # Above, exp(u) limits the interval too.
    end = el.where(below, _END * scale, el.minimum(_END * scale, 1.0 + el.log1p(_END / x)))
    length = el.log1p(end / scale)
    s, weights = _nodes(48)
    # psi(a) is psi(a + 1) - 1 / a.
    inner = [el.where(below, k, k + 1.0 / a), *(-polygamma(i, alpha) for i in range(1, order))]
    column = [expand_dims(each, axis=-1) for each in (length, scale * side, x, alpha, *inner)]
    with fused(1):
        steps = el.expm1(column[0] * s)
        u = column[1] * steps
        powers = el.exp(column[3] * u - column[2] * el.expm1(u)) * (steps + 1.0) * weights
        integral = sum(powers * _bell(column[4] + u, column[5:]), axis=-1)
    integral = integral * (scale * length)
    outer = _bell(k, [-polygamma(i, a + 1.0) for i in range(1, order)])
    total = el.where(below, outer + x * integral, -(a * integral))
    found = el.where(el.logical_or(el.equal(x, 0), el.isinf(x)), 0, gamma_density(a + 1.0, x) * total)
    return el.where(el.logical_or(el.less(a, 0), el.less(x, 0)), math.nan, found)


def _psi_difference(a: Array, b: Array | float) -> Array:
    """Return ``psi(a + b) - psi(a)``, by a Taylor series for small `b`."""
    series = b * (
        polygamma(1, a) + b / 2 * (polygamma(2, a) + b / 3 * (polygamma(3, a) + b / 4 * polygamma(4, a)))
    )
    return el.where(el.less(b, 1e-3 * a), series, psi(a + b) - psi(a))


def _log_moments(
    a: Array | float, b: Array, orders: tuple[int, int], lower: Array | float
) -> list[list[Any]]:
    """Return the derivatives of ``gammaln(a + b) - gammaln(lower) - gammaln(b)``, except the first ones.

    `lower` is `a` plus a constant. Item ``[i][j]`` is the derivative of order `i` in `a` and `j` in `b`.
    """
    found: list[list[Any]] = [[None] * (orders[1] + 1) for _ in range(orders[0] + 1)]
    for i in range(orders[0] + 1):
        for j in range(orders[1] + 1):
            if i + j >= 2:
                value = polygamma(i + j - 1, a + b)
                if j == 0:
                    value = value - polygamma(i - 1, lower)
                if i == 0:
                    value = value - polygamma(j - 1, b)
                found[i][j] = value
    return found


def _bell_of_two(by_a: Any, by_b: Any, higher: list[list[Any]]) -> Any:
    """Return what `_bell` returns, for two parameters; `higher` has all derivatives except the first."""
    orders = len(higher) - 1, len(higher[0]) - 1
    found: list[list[Any]] = [[1.0] * (orders[1] + 1) for _ in range(orders[0] + 1)]

    def cumulant(i: int, j: int) -> Any:
        return higher[i][j] if i + j > 1 else by_a if i else by_b

    for i in range(orders[0] + 1):
        for j in range(orders[1] + 1):
            if i + j == 0:
                continue
            # Split off one derivative, by a if possible.
            n, m = (i - 1, j) if i else (i, j - 1)
            found[i][j] = functools.reduce(
                operator.add,
                [
                    math.comb(n, p)
                    * math.comb(m, q)
                    * found[n - p][m - q]
                    * (cumulant(p + 1, q) if i else cumulant(p, q + 1))
                    for p in range(n + 1)
                    for q in range(m + 1)
                ],
            )
    return found[-1][-1]


def beta_factor(a: Any, b: Any, x: Any, y: Any, orders: tuple[int, int]) -> Any:
    """Return the derivative of `beta_density` by `a` and `b`, of given orders, divided by the density."""
    common = psi(a + b)
    return _bell_of_two(
        el.log(x) - psi(a) + common, el.log(y) - psi(b) + common, _log_moments(a, b, orders, a)
    )


def _by_parameters(a: Array, b: Array, x: Array, y: Array, orders: tuple[int, int]) -> Array:
    """Return the derivative of `betainc` by `a` (at least once) and by `b`; all in float64."""
    difference = _psi_difference(a + 1.0, b)
    n = a + b
    below = el.less(x, el.exp(-difference))
    k = el.log(x) + difference
    # E(u) = p * u - q * log(1 + r * (1 - exp(-u)))
    p, q = el.where(below, a + 1.0, b), el.where(below, b, a) - 1.0
    r = el.where(below, x / y, y / x)
    slope = p - q * r
    curvature = el.abs(q) * r * (1.0 + r)
    # If E is concave, its slope at 0 is not a bound.
    end = el.minimum(
        el.where(el.less(q, 0), math.inf, _END / slope), (_END + el.maximum(q, 0) * el.log1p(r)) / p
    )
    scale = 1.0 / (1.0 + r + slope + el.sqrt(curvature))
    length = el.log1p(end / scale)
    s, weights = _nodes(128)
    # By psi(z + 1) - psi(z) = 1 / z: from parameters a + 1 and b to a and b.
    by_a = el.where(below, k, k + b / (a * n))
    by_b = el.log(y) + _psi_difference(b, a)
    alpha = el.where(below, a + 1.0, a)
    higher = _log_moments(alpha, b, orders, alpha)
    column = [expand_dims(each, axis=-1) for each in (scale, length, p, q, r, below, by_a)]
    wide = [[None if each is None else expand_dims(each, axis=-1) for each in row] for row in higher]
    by_b_inside = expand_dims(el.where(below, by_b + 1.0 / n, by_b), axis=-1) if orders[1] else None
    with fused(1):
        steps = el.expm1(column[1] * s)
        u = column[0] * steps
        rise = el.log1p(-column[4] * el.expm1(-u))
        powers = el.exp(column[3] * rise - column[2] * u) * (steps + 1.0) * weights
        first = column[6] + el.where(column[5], -u, rise)
        second = None if by_b_inside is None else by_b_inside + el.where(column[5], rise, -u)
        integral = sum(powers * _bell_of_two(first, second, wide), axis=-1)
    integral = integral * (scale * length)
    outer = _bell_of_two(k - 1.0 / n, by_b, _log_moments(a, b, orders, a + 1.0))
    total = el.where(below, outer + n * r * integral, -(a * integral) / x)
    found = beta_density(a + 1.0, b, x, y) * y / n * total
    found = el.where(el.logical_or(el.equal(x, 0), el.equal(y, 0)), 0, found)
    outside = el.logical_or(
        el.logical_or(el.less(a, 0), el.less(b, 0)), el.logical_or(el.less(x, 0), el.less(y, 0))
    )
    return el.where(outside, math.nan, found)


@primitive_in("special")
def betainc_ab(a: Operand, b: Operand, x: Operand, y: Operand, by_a: int, by_b: int, /) -> Array:
    """
    Return a derivative of `betainc` by its parameters; `y` is ``1 - x``. Note [Derivatives by parameters].

    Its orders are `by_a` in `a` and `by_b` in `b`; they are not both 0.
    """
    first, second, share, other, target = _doubles("special.betainc_ab", a, b, x, y)
    if by_a >= by_b:
        found = _by_parameters(first, second, share, other, (by_a, by_b))
    else:
        found = -_by_parameters(second, first, other, share, (by_b, by_a))
    return astype(found, target, copy=False)


@primitive_in("special")
def odd_betainc_b(b: Operand, u: Operand, y: Operand, order: int, /) -> Array:
    """Return a derivative of ``sign(u) * betainc(1/2, b, u**2)`` with respect to `b`; `y` is ``1 - u**2``.

    The function is smooth at 0, but its parts are not. Student's t distribution consists of it.
    """
    second, root, other, target = _doubles("special.stdtr", b, u, y)
    found = -el.sign(root) * _by_parameters(
        second, as_array(0.5, "special.stdtr"), other, root * root, (order, 0)
    )
    return astype(found, target, copy=False)


def odd_beta_density(b: Any, u: Any, y: Any, order: int) -> Any:
    """Return the derivative of `odd_betainc_b` with respect to `u`."""
    square = u * u
    small = el.less(square, 0.5)
    logarithm = el.where(small, el.log1p(-el.where(small, square, 0)), el.log(el.where(small, 1, y)))
    by_b = logarithm + _psi_difference(b, 0.5)
    factor = _bell_of_two(None, by_b, _log_moments(0.5, b, (0, order), 0.5))
    return 2.0 * el.exp((b - 1.0) * logarithm - betaln(0.5, b)) * factor
