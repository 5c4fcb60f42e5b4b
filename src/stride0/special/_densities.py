"""Densities of the gamma and the beta distribution, which derivatives of the incomplete functions are made
of.

They are made of public functions, so that they have derivatives themselves.

Note [Saddle points]
    ``exp(a * log(x) - x - gammaln(a))`` loses as many digits as `a` has: large terms cancel. Loader's form
    has none: Stirling's formula, whose error `stirling_error` computes, and the deviance ``a * log(a / m) + m
    - a``, which is 0 where `m` is `a` and is computed from their difference. Both hold for any positive
    parameters.

References
----------
C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000).
"""

from __future__ import annotations

import math
from typing import Any

from stride0._core.array.array import Array
from stride0._core.ops.functions import (
    abs,
    exp,
    isinf,
    less,
    less_equal,
    log,
    log1p,
    logical_or,
    sqrt,
    where,
)
from stride0._core.ops.special import gammaln, xlogy
from stride0.special._functions import betaln
from stride0.special._scipy import floating_operands

__all__ = ["beta_density", "gamma_density", "t_density"]

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# Of the asymptotic series of the error in powers of 1 / z**2, highest first: of 1 / z**13 down to 1 / z.
_STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
# From this argument on the series is exact in float64.
_LARGE = 10.0


def _stirling_error(z: Array) -> Array:
    """Return the logarithm of ``gamma(z + 1)`` minus that of Stirling's formula."""
    direct = gammaln(z + 1.0) - (z + 0.5) * log(z) + z - _HALF_LOG_2PI
    inverse = 1.0 / z
    square = inverse * inverse
    series: Any = 0.0
    for coefficient in _STIRLING:
        series = series * square + coefficient
    return where(less(z, _LARGE), direct, series * inverse)


def _deviance(a: Array, m: Array) -> Array:
    """Return ``a * log(a / m) + m - a``, accurately where the two are nearly equal."""
    apart = a - m
    v = apart / (a + m)
    square = v * v
    series: Any = 0.0
    for k in range(7, 0, -1):
        series = (series + 1 / (2 * k + 1)) * square
    return where(less(abs(v), 0.1), apart * v + 2.0 * a * v * series, xlogy(a, a / m) - apart)


def gamma_density(a: Any, x: Any) -> Array:
    """Return ``x**(a - 1) * exp(-x) / gamma(a)``, the derivative of `gammainc` by `x`."""
    (a, x), _ = floating_operands("special.gammainc", (a, x))
    usual = sqrt(a / (2 * math.pi)) * exp(-_stirling_error(a) - _deviance(a, x)) / x
    at_zero = exp(xlogy(a - 1.0, x) - gammaln(a))
    return where(isinf(x), 0, where(less_equal(abs(x), 0), at_zero, usual))


def beta_density(a: Any, b: Any, x: Any, y: Any) -> Array:
    """Return ``x**(a - 1) * y**(b - 1) / beta(a, b)``, that of `betainc` by `x`; `y` is ``1 - x``."""
    (a, b, x, y), _ = floating_operands("special.betainc", (a, b, x, y))
    n = a + b
    exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent = exponent - _deviance(a, n * x) - _deviance(b, n * y)
    usual = sqrt(a / n * b / (2 * math.pi)) * exp(exponent) / (x * y)
    at_ends = exp(xlogy(a - 1.0, x) + xlogy(b - 1.0, y) - betaln(a, b))
    return where(logical_or(less_equal(x, 0), less_equal(y, 0)), at_ends, usual)


def t_density(df: Any, t: Any) -> Array:
    """Return the density of Student's t distribution with `df` degrees of freedom."""
    (df, t), _ = floating_operands("special.stdtr", (df, t))
    a = 0.5 * df
    # The logarithm of gamma(a + 1/2) / gamma(a).
    quotient = log(a / (a + 0.5)) + (a + 0.5) * log1p(0.5 / a) + 0.5 * log(a + 0.5) - 0.5
    quotient = quotient + _stirling_error(a + 0.5) - _stirling_error(a)
    found = exp(quotient - (a + 0.5) * log1p(t * t / df)) / sqrt(math.pi * df)
    return where(isinf(df), exp(-0.5 * t * t) / math.sqrt(2 * math.pi), found)
