"""Densities of the gamma, the beta and Student's t distribution, and their logarithms.

The derivatives of incomplete functions and of distributions consist of these densities. The densities only
use public functions, so that they have derivatives too.

Note [Saddle points]
    ``exp(a * log(x) - x - gammaln(a))`` loses as many digits as `a` has, because large terms cancel. Loader's
    form has no large terms. It consists of Stirling's formula, whose error `_stirling_error` computes, and
    the deviance ``a * log(a / m) + m - a``, which is 0 if `m` is `a` and is computed from their difference.
    Both are valid for all positive parameters.

Note [Ends of the support]
    At 0, derivatives of ``x**(a - 1)`` are 0, finite or infinite. Loader's form has a factor ``1 / x``, so it
    cannot tell. Near 0 and for small parameters, if no terms are large, the power itself is used: its
    derivatives are powers again. Near 1, the beta distribution is mirrored. Where one form is used, the other
    form gets a harmless argument: otherwise infinite derivatives of values that are not selected would spoil
    products.

References
----------
C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000).
"""

from __future__ import annotations

import math
from typing import Any

from stride0._chapters.data_types import astype
from stride0._core.array.array import Array
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import multiply_masked
from stride0._core.elementwise.special import gammaln, xlogy
from stride0.special._scipy import floating_operands
from stride0.special._ufuncs import rgamma

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# Coefficients of the error's asymptotic series: of 1 / z**13, 1 / z**11, ..., 1 / z.
_STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
# From this argument on the series is exact in float64.
_LARGE = 10.0
# Up to here, powers and their products with `rgamma` stay within the range of float32.
_SMALL = 20.0
# Smaller x change no digit of a smooth function of x near 0; it is 0 in float32.
_TINY = 1e-100


def _operands(op: str, *operands: Any) -> tuple[Array, ...]:
    """Return operands in their common floating-point dtype."""
    found, target = floating_operands(op, operands)
    return tuple([astype(x, target, copy=False) for x in found])


def is_singular(exponent: Array, x: Array) -> Array:
    """Return a mask of `x` so near to 0 that smooth factors of ``x**exponent`` are constant.

    If the exponent is not an integer, derivatives of the power are 0 or infinite at 0. Derivatives of smooth
    factors do not change that, but their products with infinite derivatives may have the wrong sign.
    """
    return el.logical_and(el.less_equal(x, _TINY), el.not_equal(exponent, el.floor(exponent)))


def _power(x: Array, exponent: Array) -> Array:
    """Return ``x**exponent``; at 0**0, the derivative with respect to the exponent is minus infinity."""
    steep = el.logical_and(el.equal(x, 0), el.equal(exponent, 0))
    # `pow` treats powers of 0 as constant. This factor is 1 and has the infinite derivative.
    return el.pow(x, exponent) * el.exp(el.where(steep, xlogy(el.where(steep, exponent, 0), x), 0))


def _stirling_error(z: Array) -> Array:
    """Return the logarithm of ``gamma(z + 1)`` minus the logarithm of Stirling's formula."""
    direct = gammaln(z + 1.0) - (z + 0.5) * el.log(z) + z - _HALF_LOG_2PI
    inverse = 1.0 / z
    square = inverse * inverse
    series: Any = 0.0
    for coefficient in _STIRLING:
        series = series * square + coefficient
    return el.where(el.less(z, _LARGE), direct, series * inverse)


def _deviance(a: Array, m: Array) -> Array:
    """Return ``a * log(a / m) + m - a``, accurate also if `a` and `m` are nearly equal."""
    apart = a - m
    v = apart / (a + m)
    square = v * v
    series: Any = 0.0
    for k in range(7, 0, -1):
        series = (series + 1 / (2 * k + 1)) * square
    return el.where(el.less(el.abs(v), 0.1), apart * v + 2.0 * a * v * series, xlogy(a, a / m) - apart)


# --- the gamma distribution


def _gamma_forms(a: Any, x: Any) -> tuple[Array, Array, tuple[Array, Array], tuple[Array, Array]]:
    """Return two masks, of densities that are 0 and of the use of powers, and the arguments of both forms."""
    a, x = _operands("special.gammainc", a, x)
    positive = el.greater(a, 0)
    small = el.logical_or(el.less(x, 1.0), el.logical_and(el.less(a, _SMALL), el.less(x, _SMALL)))
    near = el.logical_and(small, el.logical_and(el.greater_equal(x, 0), positive))
    # If the parameter is 0, the density is 0.
    empty = el.equal(a, 0)
    none = el.logical_or(empty, el.isinf(x))
    powers = el.where(positive, a, 1), el.where(near, x, 1)
    return none, near, powers, (el.where(empty, 1, a), el.where(el.logical_or(near, none), 1, x))


def _gamma_exponent(a: Array, x: Array) -> Array:
    return -_stirling_error(a) - _deviance(a, x)


def gamma_density(a: Any, x: Any) -> Array:
    """Return ``x**(a - 1) * exp(-x) / gamma(a)``, the derivative of `gammainc` by `x`."""
    none, near, (a1, x1), (a2, x2) = _gamma_forms(a, x)
    powers = _power(x1, a1 - 1.0) * el.exp(-el.where(is_singular(a1, x1), 0, x1)) * rgamma(a1)
    far = el.sqrt(a2 / (2 * math.pi)) * el.exp(_gamma_exponent(a2, x2)) / x2
    return el.where(none, 0, el.where(near, powers, far))


def log_gamma_density(a: Any, x: Any) -> Array:
    """Return the logarithm of `gamma_density`."""
    none, near, (a1, x1), (a2, x2) = _gamma_forms(a, x)
    powers = xlogy(a1 - 1.0, x1) - x1 - gammaln(a1)
    far = 0.5 * el.log(a2) - _HALF_LOG_2PI + _gamma_exponent(a2, x2) - el.log(x2)
    return el.where(none, -math.inf, el.where(near, powers, far))


# --- the beta distribution


def _beta_forms(
    a: Any, b: Any, x: Any, y: Any
) -> tuple[tuple[Array, Array, Array], tuple[Array, Array], Array, tuple[Array, Array]]:
    """Return the masks and arguments of both forms of the density.

    Returns
    -------
    masks
        Where the density is 0, where powers are used, and where they are powers of `y` rather than of `x`.
    parameters
        The parameters, all positive.
    least
        The smaller of `x` and `y`, the base of the powers.
    far
        `x` and `y` for Loader's form.
    """
    a, b, x, y = _operands("special.betainc", a, b, x, y)
    # If a parameter is 0, the density is 0.
    none = el.logical_or(el.equal(a, 0), el.equal(b, 0))
    a, b = el.where(none, 1, a), el.where(none, 1, b)
    mirrored = el.less(y, x)
    least = el.where(mirrored, y, x)
    size = (a + b) * least
    small = el.logical_and(el.less(el.where(mirrored, b, a), _SMALL), el.less(size, _SMALL))
    near = el.logical_and(el.logical_or(el.less(size, 1.0), small), el.greater_equal(least, 0))
    least = el.where(near, least, 0.5 / (1.0 + a + b))
    return (none, near, mirrored), (a, b), least, (el.where(near, 0.5, x), el.where(near, 0.5, y))


def _power_exponent(a: Array, b: Array) -> Array:
    """Return the logarithm of ``n**-a * gamma(n) / gamma(b)``, where `n` is ``a + b``."""
    n = a + b
    return 0.5 * el.log(b / n) + _stirling_error(n) - _stirling_error(b) - _deviance(b, n)


def _power_factor(a: Array, b: Array) -> Array:
    """Return the factor of ``(n * x)**(a - 1) * y**(b - 1)``, with ``x`` instead of ``n * x`` if `n` < 1."""
    n = a + b
    return el.where(el.less(n, 1), el.pow(n, a), n) * rgamma(a) * el.exp(_power_exponent(a, b))


def _log_power_factor(a: Array, b: Array) -> Array:
    """Return the logarithm of the factor before ``x**(a - 1) * y**(b - 1)``."""
    return a * el.log(a + b) - gammaln(a) + _power_exponent(a, b)


def _beta_exponent(a: Array, b: Array, x: Array, y: Array) -> Array:
    n = a + b
    errors = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    return errors - _deviance(a, n * x) - _deviance(b, n * y)


def beta_density(a: Any, b: Any, x: Any, y: Any) -> Array:
    """Return ``x**(a - 1) * y**(b - 1) / beta(a, b)``, the derivative of `betainc`; `y` is ``1 - x``."""
    (none, near, mirrored), (a, b), least, (x, y) = _beta_forms(a, b, x, y)
    n = a + b
    first, second = el.where(mirrored, b, a), el.where(mirrored, a, b)
    # Where `least` is 0, derivatives of the power may be infinite: keep them out of the gradient of `n`.
    scaled = multiply_masked(least, el.where(el.less(n, 1), 1, n))
    smooth = el.where(is_singular(first, least), 0, least)
    powers = _power(scaled, first - 1.0) * el.exp((second - 1.0) * el.log1p(-smooth))
    powers = powers * el.where(mirrored, _power_factor(b, a), _power_factor(a, b))
    far = el.sqrt(a / n * b / (2 * math.pi)) * el.exp(_beta_exponent(a, b, x, y)) / (x * y)
    return el.where(none, 0, el.where(near, powers, far))


def log_beta_density(a: Any, b: Any, x: Any, y: Any) -> Array:
    """Return the logarithm of `beta_density`."""
    (none, near, mirrored), (a, b), least, (x, y) = _beta_forms(a, b, x, y)
    first, second = el.where(mirrored, b, a), el.where(mirrored, a, b)
    powers = xlogy(first - 1.0, least) + (second - 1.0) * el.log1p(-least)
    powers = powers + el.where(mirrored, _log_power_factor(b, a), _log_power_factor(a, b))
    far = 0.5 * el.log(a / (a + b) * b) - _HALF_LOG_2PI + _beta_exponent(a, b, x, y) - el.log(x) - el.log(y)
    return el.where(none, -math.inf, el.where(near, powers, far))


# --- Student's t distribution


def log1p_square(x: Any) -> Array:
    """Return ``log1p(x * x)``, also if the square overflows or underflows."""
    large = el.greater(el.abs(x), 1.0)
    inverse = 1.0 / el.where(large, x, 1)
    inside = el.where(large, 0, x)
    return el.where(
        large, el.log1p(inverse * inverse) - 2.0 * el.log(el.abs(inverse)), el.log1p(inside * inside)
    )


def log_t_density(df: Any, t: Any) -> Array:
    """Return the logarithm of the density of Student's t distribution with `df` degrees of freedom."""
    df, t = _operands("special.stdtr", df, t)
    normal = el.isinf(df)
    finite = el.where(normal, 1, df)
    a = 0.5 * finite
    # The logarithm of gamma(a + 1/2) / gamma(a).
    quotient = el.log(a / (a + 0.5)) + (a + 0.5) * el.log1p(0.5 / a) + 0.5 * el.log(a + 0.5) - 0.5
    quotient = quotient + _stirling_error(a + 0.5) - _stirling_error(a)
    found = quotient - (a + 0.5) * log1p_square(t / el.sqrt(finite)) - 0.5 * el.log(math.pi * finite)
    return el.where(normal, -0.5 * t * t - _HALF_LOG_2PI, found)


def t_density(df: Any, t: Any) -> Array:
    """Return the density of Student's t distribution with `df` degrees of freedom."""
    df, t = _operands("special.stdtr", df, t)
    # The density is 0 there; for an infinite `df` because it underflows.
    end = el.logical_or(el.isinf(t), el.logical_and(el.isinf(df), el.greater(el.abs(t), 100.0)))
    return el.where(end, 0, el.exp(log_t_density(df, el.where(end, 0, t))))
