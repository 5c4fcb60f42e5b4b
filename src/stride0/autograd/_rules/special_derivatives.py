"""Derivatives of special functions that take more than a line: gamma and error functions, integrals.

Note [Stable derivatives]
    The usual formulas of some derivatives are differences of nearly equal terms: ``2 * x * erfcx(x) - 2
    / sqrt(pi)``, ``i1e(x) - i0e(x)``. Beyond the argument at which they lose three digits, an asymptotic
    series in powers of ``1 / x`` replaces them; its derivatives are derivatives of a polynomial. The
    difference of two values of `psi` has no digits left if its arguments are nearly equal or large:
    `psi_apart` computes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0 import special
from stride0._base.errors import GradientError
from stride0._chapters import elementwise as el
from stride0._chapters.creation import arange
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0.autograd._rules.elementwise import is_complex, unless_zero
from stride0.autograd._rules.parts import conjugate, every, times
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
    x = el.real(x) if is_complex(x) else x
    return el.logical_and(el.less_equal(x, bound), el.equal(x, el.floor(x)))


def of_real(x: Any, op: str, argument: str) -> None:
    """Refuse complex arguments of a derivative that is known only for real arguments."""
    if is_complex(x):
        raise GradientError(op, f"the derivative with respect to a complex {argument} is not known")


def alternating(n: Any) -> Any:
    """Return 1 for even numbers, -1 for odd numbers."""
    return 1.0 - 2.0 * (n - 2.0 * el.floor(n / 2.0))


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
    lowest = el.equal(n, 0)
    return where(lowest, 0.0, f(where(lowest, 1, n) - 1))


# --- gamma functions


def cos_pi(x: Any) -> Any:
    nearest = el.round(x)
    return el.cos(math.pi * (x - nearest)) * alternating(nearest)


def sin_pi(x: Any) -> Any:
    nearest = el.round(x)
    return el.sin(math.pi * (x - nearest)) * alternating(nearest)


def _mirrored(x: Any) -> Any:
    """Return the derivative of ``1 / gamma(x)``, divided by ``gamma(1 - x)``.

    By reflection, ``1 / gamma(x)`` is ``sin(pi * x) * gamma(1 - x) / pi``, also at the poles.
    """
    return cos_pi(x) - sin_pi(x) * special.psi(1.0 - x) / math.pi


def rgamma(g: Array, x: Any, out: Array) -> LazyProduct:
    usual = -out * special.psi(x)
    if is_complex(x):
        return along(g, usual)
    return along(g, where(el.less(x, 0.5), _mirrored(x) * special.gamma(1.0 - x), usual))


def psi(g: Array, x: Any) -> LazyProduct:
    return along(g, polygamma_z(x) if is_complex(x) else special.polygamma(1, x))


# The least argument of Stirling's series for psi.
_FAR = 10


def psi_apart(x: Any, step: Any) -> Array:
    """Return ``psi(x + step) - psi(x)``, without cancellation for positive arguments.

    Note [Stable derivatives].
    """
    top = x + step
    positive = el.logical_and(el.greater(x, 0), el.greater(top, 0))
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
    found: Array = recurrence + el.log1p(share) + share * v * (0.5 + (u + v) * tail)
    return found


def poch(g: Array, z: Any, m: Any, out: Array) -> LazyProduct:
    top = z + m
    # Between poles of both gamma functions, use the quotient of their mirror images.
    mirrored = el.logical_and(el.logical_and(el.less(z, 0.5), el.less(top, 0.5)), el.equal(m, el.floor(m)))
    # Near a pole of the gamma function of z, differentiate its reciprocal.
    at_pole = el.logical_and(el.less(z, 0.25), el.less(el.abs(z - el.round(z)), 0.25))
    at_pole = el.logical_and(at_pole, el.logical_or(el.greater(z, -150), el.equal(z, el.floor(z))))
    near = special.gamma(top) * special.gamma(1.0 - z) * _mirrored(z) + out * special.psi(top)
    usual = where(at_pole, near, out * psi_apart(where(at_pole, 1.0, z), m))
    # pi (cot(pi z) - cot(pi (z + m))) is 0 for an integer m, but its derivative by m is not.
    reflected = math.pi * sin_pi(m) / unless_zero(sin_pi(z) * sin_pi(top))
    image = psi_apart(where(mirrored, 1.0 - z, 1.0), -m) + reflected
    return times(g, where(mirrored, out * image, usual))


def binom(n: Any, k: Any, out: Array, by: str) -> Array:
    apart, first = n - k + 1.0, k + 1.0
    positive = el.logical_and(el.greater(apart, 0), el.greater(first, 0))
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


def multigammaln(g: Array, a: Any, d: int) -> LazyProduct:
    terms = special.psi(a[..., None] - arange(d, dtype=a.dtype) / 2.0)
    return times(g, sum(terms, axis=-1))


# --- error functions

# (2k - 1)!! / (2x^2)^k, for k from 1
_DOUBLE_FACTORIALS = tuple(float(math.prod(range(1, 2 * k, 2))) for k in range(1, 19))


def _far_of_errors(out: Array) -> float:
    """Return the argument from which on eighteen terms of the series are exact in a dtype."""
    return 7.5 if out.dtype.itemsize == 8 else 4.0


def erfcx(g: Array, x: Any, out: Array) -> LazyProduct:
    usual = 2.0 * x * out - TWO_BY_ROOT_PI
    if is_complex(x):
        return along(g, usual)
    # Note [Stable derivatives]
    signed = tuple(c if k % 2 else -c for k, c in enumerate(_DOUBLE_FACTORIALS))
    far = TWO_BY_ROOT_PI * series(signed, el.square(math.sqrt(0.5) / x))
    return times(g, where(el.greater(x, _far_of_errors(out)), far, usual))


def dawsn(g: Array, x: Any, out: Array) -> LazyProduct:
    usual = 1.0 - 2.0 * x * out
    if is_complex(x):
        return along(g, usual)
    far = -series(_DOUBLE_FACTORIALS, el.square(math.sqrt(0.5) / x))
    return times(g, where(el.greater(el.abs(x), _far_of_errors(out)), far, usual))


def _mills_terms() -> tuple[float, ...]:
    """Return coefficients in powers of 1 / t of q: normal density / its integral up to -t, minus t.

    It solves ``q' = (t + q) * q - 1``. Even powers have the coefficient 0.
    """
    odd = [1.0]
    for k in range(1, 22):
        odd.append((1 - 2 * k) * odd[-1] - math.fsum(a * b for a, b in zip(odd, reversed(odd), strict=True)))
    return tuple(c for term in odd for c in (term, 0.0))


_MILLS = _mills_terms()


def log_ndtr(g: Array, x: Any, out: Array) -> LazyProduct:
    near = el.exp(-0.5 * x * x - out) / ROOT_2_PI
    if is_complex(x):
        return along(g, near)
    # The exponent is a difference of squares for a very negative x.
    below = math.sqrt(2 / math.pi) / special.erfcx(x * -math.sqrt(0.5))
    # Note [Stable derivatives]. Far below 0 it is -x minus a series in powers of 1 / x.
    far = -(x + series(_MILLS, 1.0 / x))
    below = where(el.less(x, -11.0 if out.dtype.itemsize == 8 else -8.0), far, below)
    return times(g, where(el.less(x, -1), below, near))


# --- integrals of exponentials and logarithms


def expn(g: Array, n: Any, x: Any, out: Array) -> LazyProduct:
    # SciPy has no negative orders; the recurrence gives the order before 0.
    before = where(el.greater_equal(n, 1), special.expn(el.maximum(n - 1.0, 0.0), x), (el.exp(-x) + out) / x)
    return times(g, -before)


def exp_by(x: Any) -> Any:
    """Return ``exp(x) / x``, which overflows later than ``exp(x)``."""
    root = el.exp(0.5 * x)
    return root / x * root


def cosh_by(x: Any) -> Any:
    """Return ``cosh(x) / x``."""
    return 0.5 * (exp_by(x) - exp_by(-x))


def sine_by(x: Any) -> Any:
    """Return ``sin(x) / x``."""
    if is_complex(x):
        return special.sinc(x / math.pi)
    near = el.less(el.abs(x), 1)
    return where(near, special.sinc(where(near, x, 0) / math.pi), el.sin(x) / where(near, 1, x))


def of_square(f: Callable[[Any], Any], f_pi: Callable[[Any], Any], z: Any) -> Any:
    """Return a sine or cosine of ``pi / 2 * z * z``."""
    return f(math.pi / 2 * z * z) if is_complex(z) else f_pi(0.5 * z * z)


def lambertw(g: Array, z: Any, out: Array) -> LazyProduct:
    # For large results, the quotient does not multiply their rounding error by the result.
    near = el.less(el.abs(out), 1)
    return along(g, where(near, el.exp(where(near, -out, 0)), out / where(near, 1, z)) / (1.0 + out))


def sinh_by(x: Any) -> Any:
    """Return ``sinh(x) / x``."""
    return el.sinh(x) / x if is_complex(x) else 0.5 * (special.exprel(x) + special.exprel(-x))


def spence(g: Array, z: Any) -> LazyProduct:
    near = el.less(el.abs(z - 1.0), 0.5)
    # log(z) / (1 - z) is 0 / 0 at 1.
    around = -special.hyp2f1(1.0, 1.0, 2.0, 1.0 - where(near, z, 1.0))
    return along(g, where(near, around, el.log(z) / (1.0 - where(near, 0.0, z))))


def ellipk(m: Any, below: Any) -> Any:
    """Return the derivative of the complete elliptic integral of the first kind; `below` is ``1 - m``."""
    return math.pi / 8 / below * special.hyp2f1(0.5, 0.5, 2.0, m)


def zeta_or_derivative(x: Any, q: Any, order: int) -> Any:
    return zeta_x(x, q, order) if order else special.zeta(x, q)


def of_shift(x: Any, q: Any, derivative: Any) -> Array:
    """Return a derivative of the Hurwitz zeta function by `q`; 0 where all its terms vanish."""
    return where(el.logical_and(el.equal(x, math.inf), el.greater(q, 1)), 0.0, derivative)


def zeta(g: Array, x: Any, q: Any) -> LazyProduct:
    of_real(x, "special.zeta", "x")
    if q is not None:
        # SciPy does not continue the Hurwitz zeta function to exponents below 1.
        return times(g, where(el.less_equal(x, 1), math.nan, zeta_x(x, q)))
    # By reflection, if the terms of the series would grow.
    below = el.less(x, -0.5)
    y = where(below, 1.0 - x, 2.0)
    size = 2.0 * el.exp(math.log(2 * math.pi) * (x - 1.0)) * special.gamma(y)
    s, c = sin_pi(0.5 * x), cos_pi(0.5 * x)
    slope = (math.log(2 * math.pi) - special.psi(y)) * s + math.pi / 2 * c
    mirrored = size * (slope * special.zeta(y) - s * zeta_x(y, 1.0))
    return times(g, where(below, mirrored, zeta_x(where(below, 2.0, x), 1.0)))


def lpmv(g: Array, m: Any, v: Any, x: Any, out: Array) -> LazyProduct:
    return times(g, (v * x * out - (v + m) * special.lpmv(m, v - 1.0, x)) / ((x - 1.0) * (x + 1.0)))
