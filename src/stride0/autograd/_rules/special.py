"""Gradient rules of `stride0.special`: a table of formulas.

A rule calls public functions, which have rules themselves, so the table holds for derivatives of any order.
If no formula is known for an argument, `UNKNOWN` has the reason, and a tracked array is refused. Rules of the
incomplete gamma and beta functions and of distributions are in `distributions`, of Bessel functions in
`bessel`, of polynomials in `polynomials`, of `logsumexp` and `softmax` in `exponentials`.

Note [Stable derivatives]
    The usual formulas of some derivatives are differences of nearly equal terms: ``2 * x * erfcx(x) - 2
    / sqrt(pi)``, ``i1e(x) - i0e(x)``. Beyond the argument at which they lose three digits, an asymptotic
    series in powers of ``1 / x`` replaces them; its derivatives are derivatives of a polynomial. The
    difference of two values of `psi` has no digits left if its arguments are nearly equal or large:
    `psi_apart` computes it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from stride0 import special
from stride0._base.errors import GradientError
from stride0._chapters.creation import arange
from stride0._chapters.elementwise import (
    abs,
    add,
    cos,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    hypot,
    isinf,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_or,
    maximum,
    pow,
    real,
    reciprocal,
    round,
    sign,
    sin,
    sinh,
    square,
)
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0.autograd._rules.elementwise import LN2, LN10, is_complex, sech_squared, unless_zero
from stride0.autograd._rules.parts import conjugate, every, product, times
from stride0.autograd._tape.tape import LazyProduct
from stride0.special._polygamma import polygamma_z
from stride0.special._zeta import BERNOULLI, zeta_x

Rule = Callable[..., Any]

TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
ROOT_2_PI = math.sqrt(2 * math.pi)
DEGREE = math.pi / 180


def along(g: Array, derivative: Any) -> LazyProduct:
    """Return the cotangent of an argument, given the derivative by it (holomorphic, if complex)."""
    return times(g, conjugate(derivative))


def is_whole_up_to(x: Any, bound: float) -> Array:
    """Return a mask of real arguments that are integers up to a bound: the poles of gamma functions."""
    x = real(x) if is_complex(x) else x
    return logical_and(less_equal(x, bound), equal(x, floor(x)))


def of_real(x: Any, op: str, argument: str) -> None:
    """Refuse complex arguments of a derivative that is known only for real arguments."""
    if is_complex(x):
        raise GradientError(op, f"the derivative with respect to a complex {argument} is not known")


def alternating(n: Any) -> Any:
    """Return 1 for even numbers, -1 for odd numbers."""
    return 1.0 - 2.0 * (n - 2.0 * floor(n / 2.0))


def series(coefficients: tuple[float, ...], x: Any) -> Any:
    """Return a polynomial without a constant term: coefficients start with the first power."""
    if x.dtype.itemsize == 2:
        # float16 does not hold larger coefficients, and the first ones suffice for its digits.
        coefficients = tuple(c for c in coefficients if -6e4 < c < 6e4)
    out: Any = 0.0
    for c in reversed(coefficients):
        out = (out + c) * x
    return out


def of_lower(n: Any, f: Callable[[Any], Any]) -> Any:
    """Return ``f(n - 1)`` for a degree or an order, or 0 if that is 0."""
    if not isinstance(n, Array):
        return f(n - 1) if n else 0.0
    lowest = equal(n, 0)
    return where(lowest, 0.0, f(where(lowest, 1, n) - 1))


# --- gamma functions


def _cos_pi(x: Any) -> Any:
    nearest = round(x)
    return cos(math.pi * (x - nearest)) * alternating(nearest)


def _sin_pi(x: Any) -> Any:
    nearest = round(x)
    return sin(math.pi * (x - nearest)) * alternating(nearest)


def _mirrored(x: Any) -> Any:
    """Return the derivative of ``1 / gamma(x)``, divided by ``gamma(1 - x)``.

    By reflection, ``1 / gamma(x)`` is ``sin(pi * x) * gamma(1 - x) / pi``, also at the poles.
    """
    return _cos_pi(x) - _sin_pi(x) * special.psi(1.0 - x) / math.pi


def _rgamma(g: Array, x: Any, out: Array) -> LazyProduct:
    usual = -out * special.psi(x)
    if is_complex(x):
        return along(g, usual)
    return along(g, where(less(x, 0.5), _mirrored(x) * special.gamma(1.0 - x), usual))


def _psi(g: Array, x: Any) -> LazyProduct:
    return along(g, polygamma_z(x) if is_complex(x) else special.polygamma(1, x))


# The least argument of Stirling's series for psi.
_FAR = 10


def psi_apart(x: Any, step: Any) -> Array:
    """Return ``psi(x + step) - psi(x)``, without cancellation for positive arguments.

    Note [Stable derivatives].
    """
    top = x + step
    positive = logical_and(greater(x, 0), greater(top, 0))
    found = _psi_apart(x, top, step)
    return found if every(positive) else where(positive, found, special.psi(top) - special.psi(x))


def _psi_apart(x: Any, top: Any, step: Any) -> Array:
    """Return `psi_apart` for positive arguments: each term of recurrence and series has the factor `step`."""
    terms = arange(_FAR, dtype=top.dtype)
    x1, top1, step1 = (y[..., None] if isinstance(y, Array) else y for y in (x, top, step))
    recurrence = sum(step1 / (x1 + terms) / (top1 + terms), axis=-1)
    u, v = 1.0 / (x + _FAR), 1.0 / (top + _FAR)
    share = step * u
    # The quotient of u**2k - v**2k and u**2 - v**2.
    quotient, power, tail = 1.0, 1.0, 0.0
    for k, number in enumerate(BERNOULLI[:8], 1):
        tail = tail + number / (2 * k) * quotient
        power = power * v * v
        quotient = u * u * quotient + power
    found: Array = recurrence + log1p(share) + share * v * (0.5 + (u + v) * tail)
    return found


def _poch(g: Array, z: Any, m: Any, out: Array) -> LazyProduct:
    top = z + m
    # Between poles of both gamma functions, use the quotient of their mirror images.
    mirrored = logical_and(logical_and(less(z, 0.5), less(top, 0.5)), equal(m, floor(m)))
    # Near a pole of the gamma function of z, differentiate its reciprocal.
    at_pole = logical_and(less(z, 0.25), less(abs(z - round(z)), 0.25))
    at_pole = logical_and(at_pole, logical_or(greater(z, -150), equal(z, floor(z))))
    near = special.gamma(top) * special.gamma(1.0 - z) * _mirrored(z) + out * special.psi(top)
    usual = where(at_pole, near, out * psi_apart(where(at_pole, 1.0, z), m))
    # pi (cot(pi z) - cot(pi (z + m))) is 0 for an integer m, but its derivative by m is not.
    reflected = math.pi * _sin_pi(m) / unless_zero(_sin_pi(z) * _sin_pi(top))
    image = psi_apart(where(mirrored, 1.0 - z, 1.0), -m) + reflected
    return times(g, where(mirrored, out * image, usual))


def _binom(n: Any, k: Any, out: Array, by: str) -> Array:
    apart, first = n - k + 1.0, k + 1.0
    positive = logical_and(greater(apart, 0), greater(first, 0))
    if every(positive):
        return out * (psi_apart(apart, k) if by == "n" else psi_apart(first, n - 2.0 * k))
    # Where a reciprocal gamma function is 0, only the term with its derivative remains.
    of_apart = where(
        is_whole_up_to(apart, 0), special.beta(n + 1.0, k - n) * _mirrored(apart), -out * special.psi(apart)
    )
    if by == "n":
        return out * special.psi(n + 1.0) + of_apart
    of_first = where(
        is_whole_up_to(first, 0), special.beta(n + 1.0, -k) * _mirrored(first), -out * special.psi(first)
    )
    return of_first - of_apart


def _multigammaln(g: Array, a: Any, d: int) -> LazyProduct:
    terms = special.psi(a[..., None] - arange(d, dtype=a.dtype) / 2.0)
    return times(g, sum(terms, axis=-1))


# --- error functions

# (2k - 1)!! / (2x^2)^k, for k from 1
_DOUBLE_FACTORIALS = tuple(float(math.prod(range(1, 2 * k, 2))) for k in range(1, 19))


def _far_of_errors(out: Array) -> float:
    """Return the argument from which on eighteen terms of the series are exact in a dtype."""
    return 7.5 if out.dtype.itemsize == 8 else 4.0


def _erfcx(g: Array, x: Any, out: Array) -> LazyProduct:
    usual = 2.0 * x * out - TWO_BY_ROOT_PI
    if is_complex(x):
        return along(g, usual)
    # Note [Stable derivatives]
    signed = tuple(c if k % 2 else -c for k, c in enumerate(_DOUBLE_FACTORIALS))
    far = TWO_BY_ROOT_PI * series(signed, square(math.sqrt(0.5) / x))
    return times(g, where(greater(x, _far_of_errors(out)), far, usual))


def _dawsn(g: Array, x: Any, out: Array) -> LazyProduct:
    usual = 1.0 - 2.0 * x * out
    if is_complex(x):
        return along(g, usual)
    far = -series(_DOUBLE_FACTORIALS, square(math.sqrt(0.5) / x))
    return times(g, where(greater(abs(x), _far_of_errors(out)), far, usual))


def _mills_terms() -> tuple[float, ...]:
    """Return coefficients in powers of 1 / t of q: normal density / its integral up to -t, minus t.

    It solves ``q' = (t + q) * q - 1``. Even powers have the coefficient 0.
    """
    odd = [1.0]
    for k in range(1, 22):
        odd.append((1 - 2 * k) * odd[-1] - math.fsum(a * b for a, b in zip(odd, reversed(odd), strict=True)))
    return tuple(c for term in odd for c in (term, 0.0))


_MILLS = _mills_terms()


def _log_ndtr(g: Array, x: Any, out: Array) -> LazyProduct:
    near = exp(-0.5 * x * x - out) / ROOT_2_PI
    if is_complex(x):
        return along(g, near)
    # The exponent is a difference of squares for a very negative x.
    below = math.sqrt(2 / math.pi) / special.erfcx(x * -math.sqrt(0.5))
    # Note [Stable derivatives]. Far below 0 it is -x minus a series in powers of 1 / x.
    far = -(x + series(_MILLS, 1.0 / x))
    below = where(less(x, -11.0 if out.dtype.itemsize == 8 else -8.0), far, below)
    return times(g, where(less(x, -1), below, near))


# --- integrals of exponentials and logarithms


def _expn(g: Array, n: Any, x: Any, out: Array) -> LazyProduct:
    # SciPy has no negative orders; the recurrence gives the order before 0.
    before = where(greater_equal(n, 1), special.expn(maximum(n - 1.0, 0.0), x), (exp(-x) + out) / x)
    return times(g, -before)


def _exp_by(x: Any) -> Any:
    """Return ``exp(x) / x``, which overflows later than ``exp(x)``."""
    root = exp(0.5 * x)
    return root / x * root


def _cosh_by(x: Any) -> Any:
    """Return ``cosh(x) / x``."""
    return 0.5 * (_exp_by(x) - _exp_by(-x))


def _sine_by(x: Any) -> Any:
    """Return ``sin(x) / x``."""
    if is_complex(x):
        return special.sinc(x / math.pi)
    near = less(abs(x), 1)
    return where(near, special.sinc(where(near, x, 0) / math.pi), sin(x) / where(near, 1, x))


def _of_square(f: Callable[[Any], Any], f_pi: Callable[[Any], Any], z: Any) -> Any:
    """Return a sine or cosine of ``pi / 2 * z * z``."""
    return f(math.pi / 2 * z * z) if is_complex(z) else f_pi(0.5 * z * z)


def _lambertw(g: Array, z: Any, out: Array) -> LazyProduct:
    # For large results, the quotient does not multiply their rounding error by the result.
    near = less(abs(out), 1)
    return along(g, where(near, exp(where(near, -out, 0)), out / where(near, 1, z)) / (1.0 + out))


def _sinh_by(x: Any) -> Any:
    """Return ``sinh(x) / x``."""
    return sinh(x) / x if is_complex(x) else 0.5 * (special.exprel(x) + special.exprel(-x))


def _spence(g: Array, z: Any) -> LazyProduct:
    near = less(abs(z - 1.0), 0.5)
    # log(z) / (1 - z) is 0 / 0 at 1.
    around = -special.hyp2f1(1.0, 1.0, 2.0, 1.0 - where(near, z, 1.0))
    return along(g, where(near, around, log(z) / (1.0 - where(near, 0.0, z))))


def _ellipk(m: Any, below: Any) -> Any:
    """Return the derivative of the complete elliptic integral of the first kind; `below` is ``1 - m``."""
    return math.pi / 8 / below * special.hyp2f1(0.5, 0.5, 2.0, m)


def _zeta_or_derivative(x: Any, q: Any, order: int) -> Any:
    return zeta_x(x, q, order) if order else special.zeta(x, q)


def _of_shift(x: Any, q: Any, derivative: Any) -> Array:
    """Return a derivative of the Hurwitz zeta function by `q`; 0 where all its terms vanish."""
    return where(logical_and(equal(x, math.inf), greater(q, 1)), 0.0, derivative)


def _zeta(g: Array, x: Any, q: Any) -> LazyProduct:
    of_real(x, "special.zeta", "x")
    if q is not None:
        # SciPy does not continue the Hurwitz zeta function to exponents below 1.
        return times(g, where(less_equal(x, 1), math.nan, zeta_x(x, q)))
    # By reflection, if the terms of the series would grow.
    below = less(x, -0.5)
    y = where(below, 1.0 - x, 2.0)
    size = 2.0 * exp(math.log(2 * math.pi) * (x - 1.0)) * special.gamma(y)
    s, c = _sin_pi(0.5 * x), _cos_pi(0.5 * x)
    slope = (math.log(2 * math.pi) - special.psi(y)) * s + math.pi / 2 * c
    mirrored = size * (slope * special.zeta(y) - s * zeta_x(y, 1.0))
    return times(g, where(below, mirrored, zeta_x(where(below, 2.0, x), 1.0)))


def _lpmv(g: Array, m: Any, v: Any, x: Any, out: Array) -> LazyProduct:
    return times(g, (v * x * out - (v + m) * special.lpmv(m, v - 1.0, x)) / ((x - 1.0) * (x + 1.0)))


# --- elementary functions


def _log_ratio(x1: Any, x2: Any) -> Array:
    """Return ``log(x1 / x2)``, accurate for ratios near 1, without overflow for other ratios."""
    ratio = x1 / x2
    near = logical_and(greater(ratio, 0.5), less(ratio, 2))
    return where(near, log1p((x1 - x2) / x2), log(x1) - log(x2))


def _both_zero(x1: Any, x2: Any) -> Array:
    return logical_and(equal(x1, 0), equal(x2, 0))


def _by_zero(x1: Any, x2: Any) -> Any:
    """Return ``x1 / x2``, or 0 where both are 0."""
    return x1 / where(_both_zero(x1, x2), math.inf, x2)


def _huber_delta(g: Array, x1: Any, x2: Any) -> LazyProduct:
    size = abs(x2)
    return times(g, where(less(x1, 0), math.nan, where(less_equal(size, x1), 0, size - x1)))


def _huber_r(g: Array, x1: Any, x2: Any) -> LazyProduct:
    inner = where(less_equal(abs(x2), x1), x2, sign(x2) * x1)
    return times(g, where(less(x1, 0), math.nan, inner))


def _pseudo_huber_delta(g: Array, x1: Any, x2: Any) -> LazyProduct:
    h = unless_zero(hypot(x1, x2))
    # With s = h / x1, x1 * (s - 1)**2 / s, and s - 1 is (x2 / x1)**2 / (s + 1).
    share = x2 * (x2 / unless_zero(h + x1))
    return times(g, where(less(x1, 0), math.nan, share / h * share))


def _pseudo_huber_r(g: Array, x1: Any, x2: Any) -> LazyProduct:
    # x1 * x2 / hypot(x1, x2) from the quotient of the smaller and the larger number, so that nothing cancels.
    # The quotient keeps the sign of x2: a derivative by abs(x2) would be 0 at 0, and even powers have no
    # sign.
    inner, flat = less_equal(abs(x2), x1), equal(x1, 0)
    share = where(inner, x2 / where(flat, 1.0, x1), x1 / where(inner, 1.0, x2))
    smaller = where(inner, x2, sign(x2) * x1)
    return times(g, where(less(x1, 0), math.nan, smaller * reciprocal(hypot(1.0, share))))


def _boxcox(logarithm: Any, power: Any) -> Array:
    """Return the derivative of ``expm1(power * logarithm) / power`` by the power."""
    found = logarithm * logarithm * _exprel(logarithm * power)
    # For 0 to a positive power, which is 0, (0 - 1) / power remains.
    at_zero = logical_and(isinf(logarithm), greater(power, 0))
    return where(at_zero, reciprocal(power * power), found)


def _exprel(x: Any) -> Array:
    """Return the derivative of `exprel`."""
    return 0.5 * special.hyp1f1(2.0, 3.0, x)


def _inverse_boxcox(g: Array, out_minus_1: Array, power: Any) -> LazyProduct:
    logarithm = log1p(out_minus_1)
    return times(g, -_boxcox(logarithm, power) * exp((1.0 - power) * logarithm))


def _sinc(g: Array, x: Any, out: Array) -> LazyProduct:
    near = less(abs(x), 0.5)
    shape = (cos(math.pi * x) if is_complex(x) else _cos_pi(x)) - out
    # sinc(x) is 0F1(3/2, -(pi * x / 2)**2), whose derivative is not a difference.
    square = -((math.pi / 2) ** 2) * where(near, x * x, 0)
    around = -(math.pi**2) / 3 * x * special.hyp0f1(2.5, square)
    return along(g, where(near, around, shape / where(near, 1.0, x)))


def of_several(g: Any, *derivatives: Any) -> Any:
    """Return the cotangent of the argument of a function with several results, given their derivatives."""
    terms = [product(h, conjugate(d)) for h, d in zip(g, derivatives, strict=True) if h is not None]
    return functools.reduce(add, terms)


VJP: dict[str, dict[str, Rule]] = {
    # --- gamma functions
    "special.gamma": {"x": lambda g, x, out: along(g, out * special.psi(x))},
    "special.gammaln": {"x": lambda g, x: times(g, special.psi(x))},
    "special.loggamma": {"x": lambda g, x: along(g, special.psi(x))},
    "special.rgamma": {"x": _rgamma},
    "special.digamma": {"x": _psi},
    "special.polygamma": {"x": lambda g, n, x: times(g, special.polygamma(n + 1, x))},
    "special.multigammaln": {"a": _multigammaln},
    "special.factorial": {
        "n": lambda g, n: times(g, where(less(n, 0), 0, special.gamma(n + 1.0) * special.psi(n + 1.0)))
    },
    "special.poch": {"z": _poch, "m": lambda g, z, m, out: times(g, out * special.psi(z + m))},
    "special.binom": {
        "n": lambda g, n, k, out: times(g, _binom(n, k, out, "n")),
        "k": lambda g, n, k, out: times(g, _binom(n, k, out, "k")),
    },
    "special.beta": {
        "a": lambda g, a, b, out: times(g, -out * psi_apart(a, b)),
        "b": lambda g, a, b, out: times(g, -out * psi_apart(b, a)),
    },
    "special.betaln": {
        "a": lambda g, a, b: times(g, -psi_apart(a, b)),
        "b": lambda g, a, b: times(g, -psi_apart(b, a)),
    },
    # --- error functions
    "special.erf": {"x": lambda g, x: along(g, TWO_BY_ROOT_PI * exp(-x * x))},
    "special.erfc": {"x": lambda g, x: along(g, -TWO_BY_ROOT_PI * exp(-x * x))},
    "special.erfcx": {"x": _erfcx},
    "special.erfi": {"x": lambda g, x: along(g, TWO_BY_ROOT_PI * exp(x * x))},
    "special.erfinv": {"x": lambda g, out: times(g, exp(out * out) / TWO_BY_ROOT_PI)},
    "special.erfcinv": {"x": lambda g, out: times(g, exp(out * out) / -TWO_BY_ROOT_PI)},
    "special.dawsn": {"x": _dawsn},
    "special.ndtr": {"x": lambda g, x: along(g, exp(-0.5 * x * x) / ROOT_2_PI)},
    "special.log_ndtr": {"x": _log_ndtr},
    "special.ndtri": {"x": lambda g, out: times(g, ROOT_2_PI * exp(0.5 * out * out))},
    "special.owens_t": {
        "h": lambda g, h, a: times(
            g, exp(-0.5 * h * h) * special.erf(a * h * math.sqrt(0.5)) / (-2 * ROOT_2_PI)
        ),
        "a": lambda g, h, a: times(g, exp(-0.5 * h * h * (1.0 + a * a)) / (2 * math.pi * (1.0 + a * a))),
    },
    # --- hypergeometric, elliptic and Legendre functions
    "special.hyp0f1": {"z": lambda g, v, z: along(g, reciprocal(v) * special.hyp0f1(v + 1.0, z))},
    "special.hyp1f1": {"x": lambda g, a, b, x: along(g, divide(a, b) * special.hyp1f1(a + 1.0, b + 1.0, x))},
    "special.hyp2f1": {
        "z": lambda g, a, b, c, z: along(g, divide(a, c) * b * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z))
    },
    "special.ellipk": {"m": lambda g, m: times(g, _ellipk(m, 1.0 - m))},
    "special.ellipkm1": {"p": lambda g, p: times(g, -_ellipk(1.0 - p, p))},
    "special.ellipe": {"m": lambda g, m: times(g, -math.pi / 8 * special.hyp2f1(0.5, 1.5, 2.0, m))},
    "special.lpmv": {"x": _lpmv},
    # --- integrals of exponentials, logarithms and trigonometric functions
    "special.exp1": {"x": lambda g, x: along(g, _exp_by(-x))},
    "special.expi": {"x": lambda g, x: along(g, _exp_by(x))},
    "special.expn": {"x": _expn},
    "special.exprel": {"x": lambda g, x: times(g, _exprel(x))},
    "special.spence": {"z": _spence},
    "special.zeta": {"x": _zeta, "q": lambda g, x, q: times(g, _of_shift(x, q, -x * special.zeta(x + 1, q)))},
    "special.zetac": {"x": lambda g, x: _zeta(g, x, None)},
    "special.fresnel": {
        "z": lambda g, z: of_several(g, _of_square(sin, _sin_pi, z), _of_square(cos, _cos_pi, z))
    },
    "special.sici": {"x": lambda g, x: of_several(g, _sine_by(x), cos(x) / x)},
    "special.shichi": {"x": lambda g, x: of_several(g, _sinh_by(x), _cosh_by(x))},
    "special.wrightomega": {"z": lambda g, out: along(g, out / (1.0 + out))},
    "special.lambertw": {"z": _lambertw},
    # --- elementary functions
    "special.entr": {"x": lambda g, x: times(g, -log(x) - 1.0)},
    "special.rel_entr": {
        "x1": lambda g, x1, x2: times(g, where(_both_zero(x1, x2), 0.0, _log_ratio(x1, x2) + 1.0)),
        "x2": lambda g, x1, x2: times(g, -_by_zero(x1, x2)),
    },
    "special.kl_div": {
        # At (0, 0) these two values give the derivative 0 along x1 = x2, where the function is 0.
        "x1": lambda g, x1, x2: times(g, where(_both_zero(x1, x2), -1.0, _log_ratio(x1, x2))),
        "x2": lambda g, x1, x2: times(g, where(_both_zero(x1, x2), 1.0, (x2 - x1) / x2)),
    },
    "special.huber": {"x1": _huber_delta, "x2": _huber_r},
    "special.pseudo_huber": {"x1": _pseudo_huber_delta, "x2": _pseudo_huber_r},
    "special.xlogy": {
        "x1": lambda g, x2: along(g, log(x2)),
        "x2": lambda g, x1, x2: along(g, _by_zero(x1, x2)),
    },
    "special.xlog1py": {
        "x1": lambda g, x2: along(g, log1p(x2)),
        "x2": lambda g, x1, x2: along(g, _by_zero(x1, 1.0 + x2)),
    },
    "special.boxcox": {
        "x1": lambda g, x1, x2: times(g, pow(x1, x2 - 1.0)),
        "x2": lambda g, x1, x2: times(g, _boxcox(log(x1), x2)),
    },
    "special.boxcox1p": {
        "x1": lambda g, x1, x2: times(g, exp((x2 - 1.0) * log1p(x1))),
        "x2": lambda g, x1, x2: times(g, _boxcox(log1p(x1), x2)),
    },
    "special.inv_boxcox": {
        # The logarithm of the result would be inaccurate near 1.
        "x1": lambda g, x1, x2: times(g, exp((1.0 - x2) * log1p(special.inv_boxcox1p(x1, x2)))),
        "x2": lambda g, x1, x2: _inverse_boxcox(g, special.inv_boxcox1p(x1, x2), x2),
    },
    "special.inv_boxcox1p": {
        "x1": lambda g, x2, out: times(g, exp((1.0 - x2) * log1p(out))),
        "x2": lambda g, x2, out: _inverse_boxcox(g, out, x2),
    },
    # Not out * (1 - out), whose derivative cancels near 0.
    "special.expit": {"x": lambda g, x: along(g, 0.25 * sech_squared(0.5 * x))},
    "special.softplus": {"x": lambda g, x: times(g, special.expit(x))},
    "special.log_expit": {"x": lambda g, x: times(g, special.expit(-x))},
    "special.logit": {"x": lambda g, x: times(g, reciprocal(x * (1.0 - x)))},
    "special.powm1": {
        "x": lambda g, x, y: times(g, y * pow(x, y - 1.0)),
        # Not out + 1, which is 0 for a tiny power.
        "y": lambda g, x, y: times(g, product(pow(x, y), log(where(equal(x, 0), 1.0, x)))),
    },
    "special.cbrt": {"x": lambda g, out: times(g, reciprocal(3.0 * out * out))},
    "special.exp2": {"x": lambda g, out: times(g, out * LN2)},
    "special.exp10": {"x": lambda g, out: times(g, out * LN10)},
    "special.cosm1": {"x": lambda g, x: times(g, -sin(x))},
    "special.cosdg": {"x": lambda g, x: times(g, special.sindg(x) * -DEGREE)},
    "special.sindg": {"x": lambda g, x: times(g, special.cosdg(x) * DEGREE)},
    "special.tandg": {"x": lambda g, out: times(g, (1.0 + out * out) * DEGREE)},
    "special.cotdg": {"x": lambda g, out: times(g, (1.0 + out * out) * -DEGREE)},
    "special.radian": {
        "d": lambda g: times(g, DEGREE),
        "m": lambda g: times(g, DEGREE / 60),
        "s": lambda g: times(g, DEGREE / 3600),
    },
    "special.sinc": {"x": _sinc},
}

NO_GRAD: dict[str, str] = {"special.gammasgn": "piecewise constant"}

# Rules of inner functions: rules call them, users do not.
INNER_VJP: dict[str, dict[str, Rule]] = {
    "special.polygamma_z": {"z": lambda g, z, order: along(g, polygamma_z(z, order + 1))},
    "special.zeta_x": {
        "x": lambda g, x, q, order: times(g, zeta_x(x, q, order + 1)),
        "q": lambda g, x, q, order: times(
            g,
            _of_shift(
                x, q, -x * zeta_x(x + 1.0, q, order) - order * _zeta_or_derivative(x + 1.0, q, order - 1)
            ),
        ),
    },
}

PARAMETER = "no formula for the derivative by a parameter is implemented"
COUNT = "it is an integer count"

UNKNOWN: dict[str, dict[str, str]] = {
    **{f"special.{name}": {"n": COUNT} for name in ("expn", "polygamma")},
    "special.hyp0f1": {"v": PARAMETER},
    "special.hyp1f1": {"a": PARAMETER, "b": PARAMETER},
    "special.hyp2f1": {"a": PARAMETER, "b": PARAMETER, "c": PARAMETER},
    "special.lpmv": {"m": COUNT, "v": "no formula for the derivative by the degree is implemented"},
}
