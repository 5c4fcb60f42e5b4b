"""Gradients of the chapter "Element-wise Functions", and of `where`.

Note [Zero in, zero out]
    If the cotangent is 0, the result of every rule is 0, whatever its derivative is. `times` and `product`
    guarantee this, and elements are chosen by `where`, never by multiplication with 0 or 1, which would turn
    an infinite cotangent into NaN. So a branch that is not taken contributes nothing, in derivatives of any
    order.

Note [Divided by zero]
    `x / unless_zero(r)` is 0 where `r` is 0, and so are its derivatives with respect to both operands. This
    defines the gradient of functions with a corner at 0, such as `hypot`.

Note [Derivatives near both ends]
    ``1 - x*x`` loses half of its digits if `x` is nearly 1, and overflows if `x` is large. Then the factors
    ``1 - x`` and ``1 + x`` are used separately. But if `x` is nearly 0, the derivatives of the factors
    cancel. So `where` chooses between the two forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._chapters import elementwise as el
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive
from stride0._core.elementwise.functions import where
from stride0._core.elementwise.special import expit
from stride0._tables.operations import OPS
from stride0.autograd._rules.parts import conjugate, product, some, times
from stride0.autograd._tape.tape import LazyProduct

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def unless_zero(x: Array) -> Array:
    """Return `x`, and infinity where it is 0. See Note [Divided by zero]."""
    return where(el.equal(x, 0), math.inf, x)


@primitive
def cosine(x1: Any, x2: Any, length: Array) -> Array:
    """Return ``x1 / hypot(x1, x2)``, given the length; 0 where the length is 0: Note [Divided by zero]."""
    quotient: Array = x1 / unless_zero(length)
    return quotient


def _cosine_x1(g: Array, x1: Any, x2: Any) -> LazyProduct:
    # Use the sine: 1 - cosine**2 cancels if x1 is much larger than x2.
    length = el.hypot(x1, x2)
    sine = cosine(x2, x1, length)
    return times(g, sine / unless_zero(length) * sine)


def _cosine_x2(g: Array, x1: Any, x2: Any, out: Array) -> LazyProduct:
    length = el.hypot(x1, x2)
    return times(g, -out / unless_zero(length) * cosine(x2, x1, length))


@primitive
def inverse_part(x1: Any, x2: Any) -> Array:
    """Return ``x1 / (x1**2 + x2**2)``, a part of the inverse of a complex number; 0 where both are 0.

    Divides twice, because the square of a tiny length underflows.
    """
    length = unless_zero(el.hypot(x1, x2))
    part: Array = x1 / length / length
    return part


def _inverse_part_x1(g: Array, x1: Any, x2: Any, out: Array) -> LazyProduct:
    # As products of its parts, the derivatives of the inverse contain no difference of infinities.
    other = inverse_part(x2, x1)
    return times(g, (other - out) * (other + out))


def _sign(g: Array, x: Array, out: Array) -> LazyProduct | None:
    if out.dtype.kind != "complex floating":
        return None
    # z / abs(z) has constant length: only the component of `g` orthogonal to `out` in the complex plane
    # matters.
    return times(el.imag(product(g, conjugate(out))), 1j * out / unless_zero(el.abs(x)))


def _winner(g: Array, x1: Any, x2: Any, loses: Callable[..., Array]) -> Array:
    """Return the cotangent of an operand of `maximum` or `minimum`: half of `g` if the operands are equal.

    If the result is NaN, an operand that is not NaN gets 0.
    """
    lost, ties = loses(x1, x2), el.equal(x1, x2)
    if isinstance(x1, Array) and isinstance(x2, Array):
        absent, other = el.not_equal(x1, x1), el.not_equal(x2, x2)
        if some(absent) or some(other):
            lost = el.logical_or(lost, el.logical_and(other, el.logical_not(absent)))
            ties = el.logical_or(ties, el.logical_and(other, absent))
    return where(lost, 0, where(ties, g * 0.5, g) if some(ties) else g)


def _logaddexp(g: Array, x1: Any, x2: Any) -> LazyProduct:
    """Return the cotangent of `x1`."""
    apart = x1 - x2
    if some(el.isnan(apart)):
        # inf - inf: equal operands share the cotangent.
        apart = where(el.logical_and(el.equal(x1, x2), el.isinf(x1 + x2)), 0, apart)
    return times(g, expit(apart))


def is_complex(x: Any) -> bool:
    """Tell whether an array or a Python scalar is complex."""
    return isinstance(x, complex) or (isinstance(x, Array) and x.dtype.kind == "complex floating")


# --- derivatives of inverse functions: Note [Derivatives near both ends]


def _root_below(x: Array) -> Array:
    """Return ``sqrt(1 - x*x)``."""
    return where(el.less(el.abs(x), 0.5), el.sqrt(1 - x * x), el.sqrt(1 - x) * el.sqrt(1 + x))


def _acosh(x: Array) -> Array:
    # A product of two roots, because the root of a complex product may have the wrong sign.
    found = el.sqrt(x - 1) * el.sqrt(x + 1)
    if is_complex(x):
        found = where(el.less(el.abs(x), 0.5), el.copysign(1.0, el.imag(x)) * 1j * el.sqrt(1 - x * x), found)
    return el.reciprocal(found)


def _asinh(x: Array) -> Array:
    if not is_complex(x):
        return el.reciprocal(el.hypot(x, 1.0))
    # The root is an even function; in the right half-plane it is a product of two roots.
    right = where(el.less(el.copysign(1.0, el.real(x)), 0), -x, x)
    return el.reciprocal(
        where(el.less(el.abs(x), 0.5), el.sqrt(x * x + 1), el.sqrt(right - 1j) * el.sqrt(right + 1j))
    )


def _atan(x: Array) -> Array:
    if not is_complex(x):
        return el.square(el.reciprocal(el.hypot(x, 1.0)))
    return where(
        el.less(el.abs(x), 0.5), el.reciprocal(x * x + 1), el.reciprocal(x - 1j) * el.reciprocal(x + 1j)
    )


def _atanh(x: Array) -> Array:
    return where(
        el.less(el.abs(x), 0.5), el.reciprocal(1 - x * x), el.reciprocal(1 - x) * el.reciprocal(1 + x)
    )


# --- the derivative of `tanh`


@primitive
def sech_squared(x: Array) -> Array:
    """Return ``1 / cosh(x)**2``. Not ``1 - tanh(x)**2``, which loses all digits if `tanh` is nearly 1."""
    return el.square(el.reciprocal(el.cosh(x)))


def _tan(x: Array) -> Array:
    # 1 + tan(x)**2 cancels far from the real axis.
    return sech_squared(1j * x) if is_complex(x) else el.square(el.reciprocal(el.cos(x)))


def _clip_x(g: Array, x: Array, min: Any, max: Any) -> Array:
    if min is not None:
        g = where(el.less(x, min), 0, g)
    return g if max is None else where(el.greater(x, max), 0, g)


def _clip_min(g: Array, x: Array, min: Any, max: Any) -> Array:
    used = el.less(x, min)
    if max is not None:
        used = el.logical_and(used, el.logical_not(el.greater(min, max)))
    return where(used, g, 0)


def _clip_max(g: Array, x: Array, min: Any, max: Any) -> Array:
    used = el.greater(x, max)
    if min is not None:
        used = el.logical_or(used, el.greater(min, max))
    return where(used, g, 0)


Rule = Callable[..., Any]

VJP: dict[str, dict[str, Rule]] = {
    # --- arithmetic
    "remainder": {"x1": lambda g: g, "x2": lambda g, x1, x2: times(g, -el.floor_divide(x1, x2))},
    "positive": {"x": lambda g: g},
    "reciprocal": {"x": lambda g, out: times(g, -conjugate(out * out))},
    # --- magnitudes and signs
    "abs": {"x": lambda g, x: times(g, el.sign(x))},
    "sign": {"x": _sign},
    "hypot": {
        "x1": lambda g, x1, x2, out: times(g, cosine(x1, x2, out)),
        "x2": lambda g, x1, x2, out: times(g, cosine(x2, x1, out)),
    },
    # sign(x1) * sign(out) is the sign of x2, or 0 where x1 is 0.
    "copysign": {"x1": lambda g, x1, out: times(g, el.sign(x1) * el.sign(out)), "x2": lambda g: None},
    # The next number is x1 plus a step, which is constant nearly everywhere.
    "nextafter": {"x1": lambda g: g, "x2": lambda g: None},
    # --- choices
    "maximum": {
        "x1": lambda g, x1, x2: _winner(g, x1, x2, el.less),
        "x2": lambda g, x1, x2: _winner(g, x2, x1, el.less),
    },
    "minimum": {
        "x1": lambda g, x1, x2: _winner(g, x1, x2, el.greater),
        "x2": lambda g, x1, x2: _winner(g, x2, x1, el.greater),
    },
    # On a bound, x gets the whole gradient.
    "clip": {"x": _clip_x, "min": _clip_min, "max": _clip_max},
    "where": {
        "x1": lambda g, condition: where(condition, g, 0),
        "x2": lambda g, condition: where(condition, 0, g),
    },
    # --- complex numbers
    "conj": {"x": lambda g: conjugate(g)},
    "real": {"x": lambda g: g},
    "imag": {"x": lambda g: 1j * g},
    # --- exponentials and logarithms
    # Not out + 1, which is 0 for a very negative x.
    "expm1": {"x": lambda g, x: times(g, conjugate(el.exp(x)))},
    "log1p": {"x": lambda g, x: times(g, el.reciprocal(conjugate(x + 1)))},
    "log2": {"x": lambda g, x: times(g, 1 / LN2 / conjugate(x))},
    "log10": {"x": lambda g, x: times(g, 1 / LN10 / conjugate(x))},
    "logaddexp": {"x1": _logaddexp, "x2": lambda g, x1, x2: _logaddexp(g, x2, x1)},
    # --- trigonometric and hyperbolic functions
    "tan": {"x": lambda g, x: times(g, conjugate(_tan(x)))},
    "asin": {"x": lambda g, x: times(g, conjugate(1 / _root_below(x)))},
    "acos": {"x": lambda g, x: times(g, conjugate(-1 / _root_below(x)))},
    "atan": {"x": lambda g, x: times(g, conjugate(_atan(x)))},
    "atan2": {
        "x1": lambda g, x1, x2: times(g, inverse_part(x2, x1)),
        "x2": lambda g, x1, x2: times(g, -inverse_part(x1, x2)),
    },
    "sinh": {"x": lambda g, x: times(g, conjugate(el.cosh(x)))},
    "cosh": {"x": lambda g, x: times(g, conjugate(el.sinh(x)))},
    "asinh": {"x": lambda g, x: times(g, conjugate(_asinh(x)))},
    "acosh": {"x": lambda g, x: times(g, conjugate(_acosh(x)))},
    "atanh": {"x": lambda g, x: times(g, conjugate(_atanh(x)))},
}

# Rules of inner functions: rules call them, users do not.
INNER_VJP: dict[str, dict[str, Rule]] = {
    # No cotangent of the length: it is a function of x1 and x2, whose rules include it.
    "cosine": {"x1": _cosine_x1, "x2": _cosine_x2, "length": lambda g: None},
    "inverse_part": {
        "x1": _inverse_part_x1,
        "x2": lambda g, x1, x2, out: times(g, -2.0 * out * inverse_part(x2, x1)),
    },
    "sech_squared": {"x": lambda g, x, out: times(g, conjugate(-2 * out * el.tanh(x)))},
}

NO_GRAD: dict[str, str] = {
    **dict.fromkeys(("ceil", "floor", "floor_divide", "round", "trunc"), "piecewise constant"),
    **{op.name: "the result is boolean" for op in OPS if op.out == "bool"},
    **{op.name: "integers and booleans have no gradient" for op in OPS if op.name.startswith("bitwise_")},
}
