"""Gradient rules of the Bessel and Airy functions of `stride0.special`."""

from __future__ import annotations

import math
from typing import Any

from stride0 import special
from stride0._chapters.elementwise import abs, exp, greater, less, sign, sqrt
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0.autograd._rules.elementwise import unless_zero
from stride0.autograd._rules.parts import times
from stride0.autograd._rules.special import COUNT, of_several
from stride0.autograd._rules.special_derivatives import Rule, along, of_lower, series
from stride0.autograd._tape.tape import LazyProduct


def _bessel_terms(order: int) -> tuple[float, ...]:
    """Return coefficients of the asymptotic series of modified Bessel functions, from the first power on."""
    terms, last = [], 1.0
    for k in range(1, 21):
        last *= (4 * order * order - (2 * k - 1) ** 2) / (8 * k)
        terms.append(last)
    return tuple(terms)


# For K1 - K0, in powers of 1 / x; for I0 - I1, in powers of -1 / x with the opposite sign.
_APART = tuple(b - a for a, b in zip(_bessel_terms(0), _bessel_terms(1), strict=True))


def _far(x: Array) -> float:
    """Return the argument from which on twenty terms of the series are exact in a dtype."""
    return 25.0 if x.dtype.itemsize == 8 else 10.0


def _i_apart(x: Any) -> Array:
    """Return ``i0e(x) - i1e(abs(x))``. Note [Stable derivatives]."""
    size = abs(x)
    far = -series(_APART, -1.0 / size) / sqrt(2 * math.pi * size)
    return where(greater(size, _far(x)), far, special.i0e(x) - special.i1e(size))


def _k_apart(x: Any) -> Array:
    """Return ``k1e(x) - k0e(x)``. Note [Stable derivatives]."""
    far = series(_APART, 1.0 / x) * sqrt(math.pi / 2 / x)
    return where(greater(x, _far(x)), far, special.k1e(x) - special.k0e(x))


def _i1e(g: Array, x: Any, out: Array) -> LazyProduct:
    size = abs(x)
    far = greater(size, _far(x))
    # i1'(x) is the mean of the functions of order 0 and 2.
    second = special.iv(2.0, where(far, 1.0, x)) * exp(-size)
    near = 0.5 * (special.i0e(x) + second) - sign(x) * out
    return times(g, where(far, _i_apart(x) - out / unless_zero(x), near))


def _k1e(g: Array, x: Any, out: Array) -> LazyProduct:
    # Near 0 all terms of the second derivative have the same sign, so infinities do not cancel.
    near = out * (1.0 - 1.0 / x) - special.k0e(x)
    return times(g, where(less(x, 1), near, _k_apart(x) - out / x))


def _bessel(name: str, g: Array, v: Any, z: Any, factor: float, plus: float) -> LazyProduct:
    """Return the cotangent of the argument `z` of a Bessel function, by the recurrence of its derivative."""
    function = getattr(special, name)
    return along(g, factor * (function(v - 1.0, z) + plus * function(v + 1.0, z)))


def _spherical(name: str, g: Array, n: Any, z: Any, before: float, after: float) -> LazyProduct:
    """Return the cotangent of the argument of a spherical Bessel function, without a division by `z`."""
    function = getattr(special, name)
    terms = before * n * of_lower(n, lambda m: function(m, z)) + after * (n + 1) * function(n + 1, z)
    return along(g, terms / (2.0 * n + 1.0))


def _airy(g: Any, z: Any) -> Any:
    ai, aip, bi, bip = special.airy(z)
    return of_several(g, aip, z * ai, bip, z * bi)


VJP: dict[str, dict[str, Rule]] = {
    "special.j0": {"x": lambda g, x: times(g, -special.j1(x))},
    "special.j1": {"x": lambda g, x: times(g, 0.5 * (special.j0(x) - special.jv(2.0, x)))},
    "special.jv": {"z": lambda g, v, z: _bessel("jv", g, v, z, 0.5, -1.0)},
    "special.y0": {"x": lambda g, x: times(g, -special.y1(x))},
    "special.y1": {"x": lambda g, x: times(g, 0.5 * (special.y0(x) - special.yn(2, x)))},
    "special.yn": {"x": lambda g, n, x: _bessel("yn", g, n, x, 0.5, -1.0)},
    "special.yv": {"z": lambda g, v, z: _bessel("yv", g, v, z, 0.5, -1.0)},
    "special.i0": {"x": lambda g, x: times(g, special.i1(x))},
    "special.i0e": {"x": lambda g, x: times(g, -sign(x) * _i_apart(x))},
    "special.i1": {"x": lambda g, x: times(g, 0.5 * (special.i0(x) + special.iv(2.0, x)))},
    "special.i1e": {"x": _i1e},
    "special.iv": {"z": lambda g, v, z: _bessel("iv", g, v, z, 0.5, 1.0)},
    "special.k0": {"x": lambda g, x: times(g, -special.k1(x))},
    "special.k0e": {"x": lambda g, x: times(g, -_k_apart(x))},
    "special.k1": {"x": lambda g, x: times(g, -0.5 * (special.k0(x) + special.kn(2, x)))},
    "special.k1e": {"x": _k1e},
    "special.kn": {"x": lambda g, n, x: _bessel("kn", g, n, x, -0.5, 1.0)},
    "special.kv": {"z": lambda g, v, z: _bessel("kv", g, v, z, -0.5, 1.0)},
    "special.spherical_jn": {"z": lambda g, n, z: _spherical("spherical_jn", g, n, z, 1.0, -1.0)},
    "special.spherical_yn": {"z": lambda g, n, z: _spherical("spherical_yn", g, n, z, 1.0, -1.0)},
    "special.spherical_in": {"z": lambda g, n, z: _spherical("spherical_in", g, n, z, 1.0, 1.0)},
    "special.spherical_kn": {"z": lambda g, n, z: _spherical("spherical_kn", g, n, z, -1.0, -1.0)},
    "special.airy": {"z": _airy},
}

_ORDER = "no formula for the derivative by the order is implemented"

UNKNOWN: dict[str, dict[str, str]] = {
    **{f"special.{name}": {"v": _ORDER} for name in ("iv", "jv", "kv", "yv")},
    **{f"special.{name}": {"n": COUNT} for name in ("kn", "yn")},
    **{f"special.spherical_{kind}n": {"n": COUNT} for kind in "jyik"},
}
