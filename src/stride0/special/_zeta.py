"""Derivatives of the Hurwitz zeta function by its exponent.

Note [Derivatives of zeta]
    The formula of Euler and Maclaurin: the first terms of the series, the integral of the other terms, half
    of the first of these terms, and a series in Bernoulli numbers. It is also valid for exponents below 1,
    where it is the analytic continuation, but loses digits there as the terms of the series grow. Each part
    is a power of ``n + q`` times a rational function of the exponent. It is computed as a polynomial in a
    small change of the exponent, whose coefficients are its derivatives divided by factorials.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from stride0._chapters.data_types import astype
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise import functions as el
from stride0._core.memory import dtype as dt
from stride0.special._scipy import floating_operands

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = ["BERNOULLI", "zeta_x"]

# Number of summed terms of the series.
_TERMS = 16
# Bernoulli numbers of order 2, 4, ...
BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798),
    *(-174611 / 330, 854513 / 138, -236364091 / 2730, 8553103 / 6, -23749461029 / 870),
)


@primitive_in("special")
def zeta_x(x: Operand, q: Operand, order: int = 1, /) -> Array:
    """Return a derivative of ``zeta(x, q)`` by `x`, by default the first: Note [Derivatives of zeta].

    For a positive `q`; if `x` is below 1, the derivative of the analytic continuation.
    """
    (given, shift), target = floating_operands("special.zeta_x", (x, q), ("x", "q"))
    s, at = (astype(each, dt.float64, copy=False) for each in (given, shift))
    found = el.where(el.less_equal(at, 0), math.nan, _zeta_x(s, at, order))
    # The limit if terms would be infinity times zero.
    found = el.where(el.logical_and(el.equal(at, math.inf), el.greater(s, 1)), 0.0, found)
    return astype(found, target, copy=False)


def _zeta_x(s: Array, q: Array, order: int) -> Array:
    """Return the same for float64 arrays."""
    total: Any = 0.0
    for n in range(_TERMS):
        base = q + float(n)
        total = total + (-el.log(base)) ** order * el.pow(base, -s)
    end = q + float(_TERMS)
    size = el.log(end)
    # The coefficients, in powers of a change of s, of the factor of end**-s.
    apart = el.reciprocal(s - 1.0)
    factors: list[Any] = [end * apart * (-apart) ** k for k in range(order + 1)]
    factors[0] = factors[0] + 0.5
    rising: list[Any] = [s, 1.0, *[0.0] * order][: order + 1]
    power = el.reciprocal(end)
    for j, bernoulli in enumerate(BERNOULLI, 1):
        number = bernoulli / math.factorial(2 * j)
        for k in range(order + 1):
            factors[k] = factors[k] + number * power * rising[k]
        for shift in (2.0 * j - 1.0, 2.0 * j):
            rising = [(s + shift) * rising[k] + (rising[k - 1] if k else 0.0) for k in range(order + 1)]
        power = power / (end * end)
    tail: Any = 0.0
    for k in range(order + 1):
        tail = tail + factors[k] * (-size) ** (order - k) / math.factorial(order - k)
    share = el.pow(end, -s)
    # For a large exponent this part is 0, while the polynomials overflow.
    rest = el.where(el.equal(share, 0), 0.0, math.factorial(order) * share * tail)
    found: Array = total + rest
    return found
