"""Derivatives of the incomplete gamma and beta functions by their parameters.

Note [Derivatives by parameters]
    The derivative of ``gammainc(a, x)`` by `a` is the integral of ``density(t) * (log(t) - psi(a))`` from 0
    to `x`, and minus that from `x` to infinity, since both together are 0. The second factor changes its sign
    at ``exp(psi(a))``: the one of the two integrals that does not contain this point has an integrand of one
    sign, so nothing cancels. For a small `a` the density is nearly a point at 0, so a term is split off by
    the recurrence from `a` to ``a + 1``, and the integral is that of ``a + 1``. `betainc` has the same
    structure, with ``psi(a) - psi(a + b)``, and its derivative by `b` is that by the first parameter of the
    mirrored function.

    With ``t = x * exp(-u)``, or ``x * exp(u)``, or ``1 - t = (1 - x) * exp(-u)``, the integrand is
    ``exp(-E(u))`` times a linear or logarithmic factor, from 0 to infinity, where E is convex or grows like a
    logarithm first. Its scales near 0 are known, and beyond some `U` it is 0 in float64. Substituting ``u = m
    * expm1(T * s)``, with the smallest scale for `m`, makes it smooth in `s` from 0 to 1, and a rule of Gauss
    and Legendre with as many nodes as the worst case needs is exact to nearly all digits. Each element has
    its own scales, so its result depends on no other element.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import expand_dims
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.calls.primitive import primitive_in
from stride0._core.exchange.numpy_calls import from_numpy, numpy
from stride0._core.memory import dtype as dt
from stride0._core.ops.functions import (
    abs,
    equal,
    exp,
    expm1,
    isinf,
    less,
    log,
    log1p,
    logical_or,
    maximum,
    minimum,
    sqrt,
    where,
)
from stride0._core.ops.special import digamma as psi
from stride0._modes.fused import fused
from stride0.special._composed import polygamma
from stride0.special._densities import beta_density, gamma_density
from stride0.special._scipy import floating_operands

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = ["betainc_a", "betainc_b", "gammainc_a"]

# Beyond exp(-_END) nothing counts.
_END = 45.0


@cache
def _nodes(count: int) -> tuple[Array, Array]:
    """Return nodes in the interval from 0 to 1, and their weights."""
    x, w = numpy().polynomial.legendre.leggauss(count)
    return from_numpy((x + 1) / 2), from_numpy(w / 2)


def _doubles(op: str, *operands: Operand) -> tuple[Any, ...]:
    """Return operands in float64, and the dtype of the result."""
    found, target = floating_operands(op, operands)
    return *(astype(x, dt.float64, copy=False) for x in found), target


@primitive_in("special")
def gammainc_a(a: Operand, x: Operand, /) -> Array:
    """Return the derivative of `gammainc` by `a`: Note [Derivatives by parameters]."""
    doubles: tuple[Any, ...] = _doubles("special.gammainc_a", a, x)
    return astype(_gammainc_a(*doubles[:2]), doubles[2], copy=False)


def _gammainc_a(a: Array, x: Array) -> Array:
    """Return the same of arrays of float64."""
    centre = psi(a + 1.0)
    below = less(x, exp(centre))
    k = log(x) - centre
    alpha = where(below, a + 1.0, a)
    side = where(below, -1.0, 1.0)
    scale = 1.0 / maximum(side * (x - alpha), sqrt(x))
    # Above, exp(u) makes an end of its own.
    end = where(below, _END * scale, minimum(_END * scale, 1.0 + log1p(_END / x)))
    length = log1p(end / scale)
    s, weights = _nodes(48)
    column = [expand_dims(each, axis=-1) for each in (length, scale * side, x, alpha)]
    with fused(1):
        steps = expm1(column[0] * s)
        u = column[1] * steps
        powers = exp(column[3] * u - column[2] * expm1(u)) * (steps + 1.0) * weights
        zeroth, first = sum(powers, axis=-1), sum(powers * u, axis=-1)
    factor = scale * length
    zeroth, first = zeroth * factor, first * factor
    inner = k * zeroth + first
    total = where(below, k + x * inner, -(zeroth + a * inner))
    found = where(logical_or(equal(x, 0), isinf(x)), 0, gamma_density(a + 1.0, x) * total)
    return where(logical_or(less(a, 0), less(x, 0)), math.nan, found)


def _psi_difference(a: Array, b: Array) -> Array:
    """Return ``psi(a + b) - psi(a)``, by Taylor's series where `b` is small."""
    series = b * (
        polygamma(1, a) + b / 2 * (polygamma(2, a) + b / 3 * (polygamma(3, a) + b / 4 * polygamma(4, a)))
    )
    return where(less(b, 1e-3 * a), series, psi(a + b) - psi(a))


def _by_first(a: Array, b: Array, x: Array, y: Array) -> Array:
    """Return the derivative of ``betainc(a, b, x)`` by `a`, all in float64; `y` is ``1 - x``."""
    difference = _psi_difference(a + 1.0, b)
    below = less(x, exp(-difference))
    k = log(x) + difference
    # E(u) = p * u - q * log(1 + r * (1 - exp(-u)))
    p, q = where(below, a + 1.0, b), where(below, b, a) - 1.0
    r = where(below, x / y, y / x)
    slope = p - q * r
    curvature = abs(q) * r * (1.0 + r)
    # Of a concave E, the slope at 0 is no bound.
    end = minimum(where(less(q, 0), math.inf, _END / slope), (_END + maximum(q, 0) * log1p(r)) / p)
    scale = 1.0 / (1.0 + r + slope + sqrt(curvature))
    length = log1p(end / scale)
    s, weights = _nodes(128)
    column = [expand_dims(each, axis=-1) for each in (scale, length, p, q, r, below)]
    with fused(1):
        steps = expm1(column[1] * s)
        u = column[0] * steps
        rise = log1p(-column[4] * expm1(-u))
        powers = exp(column[3] * rise - column[2] * u) * (steps + 1.0) * weights
        zeroth, first = sum(powers, axis=-1), sum(powers * where(column[5], -u, rise), axis=-1)
    factor = scale * length
    zeroth, first = zeroth * factor, first * factor
    inner = k * zeroth + first
    n = a + b
    total = where(below, k - 1.0 / n + n * r * inner, -(a * inner + b / n * zeroth) / x)
    found = beta_density(a + 1.0, b, x, y) * y / n * total
    found = where(logical_or(equal(x, 0), equal(y, 0)), 0, found)
    outside = logical_or(logical_or(less(a, 0), less(b, 0)), logical_or(less(x, 0), less(y, 0)))
    return where(outside, math.nan, found)


@primitive_in("special")
def betainc_a(a: Operand, b: Operand, x: Operand, y: Operand, /) -> Array:
    """Return the derivative of `betainc` by `a`, `y` being ``1 - x``: Note [Derivatives by parameters]."""
    *given, target = _doubles("special.betainc_a", a, b, x, y)
    return astype(_by_first(*given), target, copy=False)


@primitive_in("special")
def betainc_b(a: Operand, b: Operand, x: Operand, y: Operand, /) -> Array:
    """Return the derivative of `betainc` by `b`, `y` being ``1 - x``."""
    first, second, *ends, target = _doubles("special.betainc_b", a, b, x, y)
    return astype(-_by_first(second, first, ends[1], ends[0]), target, copy=False)
