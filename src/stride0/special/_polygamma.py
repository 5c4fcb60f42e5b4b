"""Derivatives of the digamma function of complex numbers, which SciPy does not have.

Note [Derivatives of digamma]
    In the right half-plane the first terms of the series in ``(z + k)**-(n + 1)`` are summed, and for the
    other terms the asymptotic series in Bernoulli numbers is used, which is accurate far from 0. In the left
    half-plane the function is reflected by the cotangent. Derivatives of the cotangent are ``1 / sin(pi *
    z)**2`` times polynomials in the cotangent. Both factors are computed from ``exp(2j * pi * z)``, minus 1
    if necessary, which neither cancels nor overflows.
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

# The start of the asymptotic series for the first derivative; higher orders need larger numbers.
_FAR = 14


@primitive_in("special")
def polygamma_z(z: Array, order: int = 1, /) -> Array:
    """Return a derivative of the digamma function of complex numbers: Note [Derivatives of digamma]."""
    at = astype(z, dt.complex128, copy=False)
    # The function of the conjugate is the conjugate of the function.
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
    # Times (order - 1)! and a power of that order.
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
    # Drop the integer part, which changes nothing. In the right half-plane any number may be used.
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
    """Return Q such that a derivative of the cotangent is ``Q(cot) / sin**2``."""
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
