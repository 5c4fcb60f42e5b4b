"""Derivatives of the digamma function of complex numbers, which SciPy does not have.

Note [Derivatives of digamma]
    On the right, the first terms of the series in ``(z + k)**-(n + 1)``, and for the others the asymptotic
    series in Bernoulli's numbers, which serves far from 0. On the left, the reflection by the cotangent. Its
    derivatives are ``1 / sin(pi * z)**2`` times polynomials in the cotangent, and both factors are computed
    from ``exp(2j * pi * z)``, less 1 where it has to be, which neither cancels nor overflows.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from stride0._chapters.data_types import astype
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise.functions import conj, exp, expm1, imag, less, real, reciprocal, round, where
from stride0._core.memory import dtype as dt
from stride0.special._zeta import BERNOULLI

__all__ = ["polygamma_z"]

# Where the asymptotic series begins for the first derivative; those of higher orders need larger numbers.
_FAR = 14


@primitive_in("special")
def polygamma_z(z: Array, order: int = 1, /) -> Array:
    """Return a derivative of the digamma function of complex numbers: Note [Derivatives of digamma]."""
    at = astype(z, dt.complex128, copy=False)
    # The function of the conjugate is the conjugate.
    below = less(imag(at), 0)
    at = where(below, conj(at), at)
    left = less(real(at), 0.5)
    found = _on_the_right(where(left, 1.0 - at, at), order)
    if order % 2:
        found = where(left, -found, found)
    found = found + where(left, _reflected(at, order), 0.0)
    return astype(where(below, conj(found), found), z.dtype, copy=False)


def _on_the_right(z: Array, order: int) -> Array:
    steps = _FAR + order
    far = reciprocal(z + float(steps))
    square = far * far
    # Times the factorial of order - 1, and the power of that order.
    tail: Any = 0.0
    for j in range(len(BERNOULLI), 0, -1):
        tail = (tail + BERNOULLI[j - 1] * math.comb(2 * j + order - 1, 2 * j)) * square
    total: Any = math.factorial(order - 1) * far**order * (1.0 + 0.5 * order * far + tail)
    factor = float(math.factorial(order))
    for k in range(steps - 1, -1, -1):
        total = total + factor * reciprocal(z + float(k)) ** (order + 1)
    found: Array = total if order % 2 else -total
    return found


def _reflected(z: Array, order: int) -> Array:
    """Return a derivative of ``-pi / tan(pi * z)`` on the upper half-plane."""
    # Without the whole part, which changes nothing. On the right any number serves.
    left = less(real(z), 0.5)
    z = where(left, z - round(real(z)), 0.25)
    turn = 2j * math.pi * z
    q, q1 = exp(turn), expm1(turn)
    cot = 1j * (q + 1.0) / q1
    out: Any = 0.0
    for c in reversed(_cotangent(order)):
        out = out * cot + float(c)
    found: Array = -(math.pi ** (order + 1)) * out * (-4.0 * q / (q1 * q1))
    return found


@cache
def _cotangent(order: int) -> list[int]:
    """Return Q, in which a derivative of the cotangent by its argument is ``Q(cot) / sin**2``."""
    if order == 1:
        return [-1]
    q = _cotangent(order - 1)
    slope = [k * c for k, c in enumerate(q)][1:]
    out = [0] * (len(q) + 1)
    for k, c in enumerate(q):
        out[k + 1] -= 2 * c
    for k, c in enumerate(slope):
        out[k] -= c
        out[k + 2] -= c
    return out
