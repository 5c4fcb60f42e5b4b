"""The Taylor series of elementwise functions, by their differential equations: Note [Series]."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from stride0 import special
from stride0._chapters import elementwise as el
from stride0._chapters.utility import some
from stride0._core.elementwise.functions import where
from stride0.autograd._jets.series import Series, inverse, quotient, solved, total, whole_power
from stride0.autograd._rules import elementwise as first_slopes
from stride0.autograd._rules.elementwise import LN2, LN10, is_complex, sech_squared, unless_zero
from stride0.autograd._tape.tape import is_batched_array, is_tracked

Rule = Callable[..., Series]

# The largest exponent for which a power is computed by squaring.
LARGEST_SQUARED = 64


def along(y: Any, x: Series, slope: Series | Callable[[Series], Series]) -> Series:
    """Return the function of x with this derivative, which may be a function of the result."""
    return solved(y, [x], lambda out: [slope if isinstance(slope, Series) else slope(out)])


def exponential(x: Series, y: Any = None) -> Series:
    return along(el.exp(x[0]) if y is None else y, x, lambda out: out)


def logarithm(x: Series, y: Any = None) -> Series:
    return along(el.log(x[0]) if y is None else y, x, inverse(x))


def wave(x: Series, y: Any, other: Any, signs: tuple[int, int]) -> Series:
    """Return the y of ``y' = signs[0] * z * x'`` and ``z' = signs[1] * y * x'``; `other` is the first z."""
    z = Series(other)
    out = along(y, x, z * signs[0])
    z.rule = along(other, x, out * signs[1]).rule
    return out


def tangent(x: Series, y: Any, slope: Any, factor: int) -> Series:
    """Solve ``y' = 1 + factor * y**2``, whose first slope is given."""
    return along(y, x, lambda out: (out * out * factor).starting(slope))


def root_slope(x: Series, first: Any, factor: int) -> Series:
    """Solve ``w' = factor * x * w**3``, as ``1 / sqrt(1 - factor * x**2)`` does."""
    return along(first, x, lambda w: x * (w * w * w) * factor)


def ratio_slope(x: Series, first: Any, factor: int) -> Series:
    """Return ``1 / (1 - factor * x**2)``."""
    return along(first, x, lambda w: x * (w * w) * (2 * factor))


def expit(x: Series, y: Any = None) -> Series:
    y = special.expit(x[0]) if y is None else y
    return along(y, x, lambda out: (out - out * out).starting(y * special.expit(-x[0])))


def chosen(condition: Any, x: Any, y: Any) -> Any:
    return None if x is None and y is None else where(condition, number(x), number(y))


def number(x: Any) -> Any:
    return 0.0 if x is None else x


def power(x: Series, n: Series, y: Any) -> Series:
    is_known = n.rule is None and len(n.known) == 1 and n[0].size == 1
    if is_known and not is_batched_array(n[0]) and not is_tracked(n[0]):
        value = complex(n[0]) if is_complex(n[0]) else float(n[0])
        if value == 0:
            return Series(y)
        if abs(value) <= LARGEST_SQUARED and value == int(value.real):
            size = whole_power(x, int(max(value.real, -value.real)))
            return size.starting(y) if value.real > 0 else inverse(size, y)
        if value in (0.5, -0.5):
            root = along(el.sqrt(x[0]), x, lambda out: inverse(out) * 0.5)
            return root.starting(y) if value == 0.5 else inverse(root, y)
    logs = Series(el.log(x[0]), logarithm(x).rule)
    usual = solved(y, [n, x], lambda out: [out * logs, out * quotient(n[0] / x[0], n, x)])
    at_zero = el.equal(x[0], 0)
    if not some(at_zero):
        return usual
    return Series(y, lambda k: _power_at_zero(x, n, usual[k], at_zero, k))


def _power_at_zero(x: Series, n: Series, usual: Any, at_zero: Any, k: int) -> Any:
    """Return a coefficient of a power with some bases 0: NaN there unless the power is a polynomial."""

    def flat(s: Series) -> Any:
        """Return a mask: where a base is 0 and a series is constant."""
        terms = [s[j] for j in range(1, k + 1) if s[j] is not None]
        return functools.reduce(operator.and_, (el.equal(term, 0) for term in terms), at_zero)

    exponent = el.real(n[0]) if is_complex(n[0]) else n[0]
    is_zero = el.logical_or(el.greater(exponent, k), el.equal(n[0], 0))
    found = where(at_zero, where(flat(n) & is_zero, 0.0, math.nan), number(usual))
    for m in range(1, k + 1):
        here = flat(n) & el.equal(n[0], m)
        found = where(here, number(whole_power(x, m)[k]), found)
    return where(flat(x) & el.greater(exponent, 0), 0.0, found)


def length_of(x: Series, z: Series, y: Any) -> Series:
    return solved(y, [x, z], lambda out: [direction(x, out), direction(z, out)])


def direction(x: Series, length: Series) -> Series:
    """Return ``x / length``, which is 0 where the length is 0."""
    by = unless_zero(length[0])
    return quotient(x[0] / by, x, length.starting(by))


def _angle(x: Series, z: Series, y: Any) -> Series:
    length = length_of(x, z, el.hypot(x[0], z[0]))
    s, c = direction(x, length), direction(z, length)
    return solved(y, [x, z], lambda _: [direction(c, length), -direction(s, length)])


def absolute(x: Series, y: Any = None) -> Series:
    y = abs(x[0]) if y is None else y
    if is_complex(x[0]):
        return length_of(x.mapped(el.real), x.mapped(el.imag), y)
    return x.mapped(lambda c: c * el.sign(x[0]), y)


def _logaddexp(x: Series, z: Series, y: Any) -> Series:
    return solved(y, [x, z], lambda _: [expit(x - z), expit(z - x)])


def _extreme(x: Series, z: Series, y: Any, wins: Callable[..., Any]) -> Series:
    def rule(k: int) -> Any:
        mean = total([x[k], z[k]])
        tie = None if mean is None else mean * 0.5
        return chosen(wins(x[0], z[0]), x[k], chosen(wins(z[0], x[0]), z[k], tie))

    return Series(y, rule)


# Rules take the series of the operands, and the result.
RULES: dict[str, Rule] = {
    # --- arithmetic
    "multiply": lambda x, z, y: (x * z).starting(y),
    "divide": lambda x, z, y: quotient(y, x, z),
    "reciprocal": lambda x, y: inverse(x, y),
    "square": lambda x, y: (x * x).starting(y),
    "pow": power,
    "sqrt": lambda x, y: along(y, x, lambda out: inverse(out) * 0.5),
    "hypot": length_of,
    "remainder": lambda x, z, y: (x - z * el.floor_divide(x[0], z[0])).starting(y),
    # --- magnitudes, signs and choices
    "abs": absolute,
    "sign": lambda x, y: direction(x, absolute(x)) if is_complex(x[0]) else Series(y),
    "copysign": lambda x, z, y: x.mapped(lambda c: c * (el.sign(x[0]) * el.sign(y)), y),
    "nextafter": lambda x, z, y: x.starting(y),
    "maximum": lambda x, z, y: _extreme(x, z, y, el.greater),
    "minimum": lambda x, z, y: _extreme(x, z, y, el.less),
    "nan_to_num": lambda x, y: x.mapped(lambda c: where(el.isfinite(x[0]), c, 0), y),
    # --- exponentials and logarithms
    "exp": exponential,
    "expm1": lambda x, y: along(y, x, exponential(x)),
    "log": logarithm,
    "log1p": lambda x, y: logarithm(x + 1.0, y),
    "log2": lambda x, y: along(y, x, inverse(x * LN2)),
    "log10": lambda x, y: along(y, x, inverse(x * LN10)),
    "logaddexp": _logaddexp,
    # --- trigonometric and hyperbolic functions
    "sin": lambda x, y: wave(x, y, el.cos(x[0]), (1, -1)),
    "cos": lambda x, y: wave(x, y, el.sin(x[0]), (-1, 1)),
    "tan": lambda x, y: tangent(x, y, first_slopes._tan(x[0]), 1),
    "sinh": lambda x, y: wave(x, y, el.cosh(x[0]), (1, 1)),
    "cosh": lambda x, y: wave(x, y, el.sinh(x[0]), (1, 1)),
    "tanh": lambda x, y: tangent(x, y, sech_squared(x[0]), -1),
    "asin": lambda x, y: along(y, x, root_slope(x, 1 / first_slopes._root_below(x[0]), 1)),
    "acos": lambda x, y: along(y, x, -root_slope(x, 1 / first_slopes._root_below(x[0]), 1)),
    "atan": lambda x, y: along(y, x, ratio_slope(x, first_slopes._atan(x[0]), -1)),
    "asinh": lambda x, y: along(y, x, root_slope(x, first_slopes._asinh(x[0]), -1)),
    "acosh": lambda x, y: along(y, x, root_slope(x, first_slopes._acosh(x[0]), -1)),
    "atanh": lambda x, y: along(y, x, ratio_slope(x, first_slopes._atanh(x[0]), 1)),
    "atan2": _angle,
}
