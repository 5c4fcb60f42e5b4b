"""Gradients of the chapter "Element-wise Functions", and of `where`.

Note [Zero in, zero out]
    Where the cotangent is 0, the result of every rule is 0, whatever its derivative is: `times` and `product`
    guarantee it, and elements are chosen by `where`, never by multiplication with 0 or 1, which would turn an
    infinite cotangent into NaN. So a branch not taken contributes nothing, in derivatives of any order.

Note [Divided by zero]
    `x / unless_zero(r)` is 0 where `r` is 0, and so are its derivatives with respect to both operands. This
    defines the gradient of functions with a corner at 0, such as `hypot`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._chapters.elementwise import (
    abs,
    cosh,
    equal,
    exp,
    floor_divide,
    greater,
    hypot,
    imag,
    isinf,
    less,
    logical_and,
    logical_not,
    logical_or,
    reciprocal,
    sign,
    sinh,
    sqrt,
)
from stride0._core.array.array import Array
from stride0._core.ops.functions import where
from stride0._tables.operations import OPS
from stride0.autograd._rules.parts import conjugate, product, some, times
from stride0.autograd._tape.tape import LazyProduct

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def unless_zero(x: Array) -> Array:
    """Return `x`, and infinity where it is 0. See Note [Divided by zero]."""
    return where(equal(x, 0), math.inf, x)


def _sign(g: Array, x: Array, out: Array) -> LazyProduct | None:
    if out.dtype.kind != "complex floating":
        return None
    # z / abs(z) has constant length: only the component of `g` orthogonal to `out` in the complex plane
    # matters.
    return times(imag(product(g, conjugate(out))), 1j * out / unless_zero(abs(x)))


def _winner(g: Array, loses: Array, ties: Array) -> Array:
    """Return the contribution to an operand of `maximum` or `minimum`: half of it where the operands tie."""
    return where(loses, 0, where(ties, g * 0.5, g) if some(ties) else g)


def _logaddexp(g: Array, x1: Any, x2: Any, out: Array) -> LazyProduct:
    """Return the cotangent of `x1`."""
    weight = exp(x1 - out)
    endless = isinf(out)
    if some(endless):
        # inf - inf: there the function is the larger one of its operands.
        weight = where(endless, where(less(x1, x2), 0, where(equal(x1, x2), 0.5, 1.0)), weight)
    return times(g, weight)


def _clip_x(g: Array, x: Array, min: Any, max: Any) -> Array:
    if min is not None:
        g = where(less(x, min), 0, g)
    return g if max is None else where(greater(x, max), 0, g)


def _clip_min(g: Array, x: Array, min: Any, max: Any) -> Array:
    used = less(x, min)
    if max is not None:
        used = logical_and(used, logical_not(greater(min, max)))
    return where(used, g, 0)


def _clip_max(g: Array, x: Array, min: Any, max: Any) -> Array:
    used = greater(x, max)
    if min is not None:
        used = logical_or(used, greater(min, max))
    return where(used, g, 0)


Rule = Callable[..., Any]

VJP: dict[str, dict[str, Rule]] = {
    # --- arithmetic
    "remainder": {"x1": lambda g: g, "x2": lambda g, x1, x2: times(g, -floor_divide(x1, x2))},
    "positive": {"x": lambda g: g},
    "reciprocal": {"x": lambda g, out: times(g, -conjugate(out * out))},
    # --- magnitudes and signs
    "abs": {"x": lambda g, x: times(g, sign(x))},
    "sign": {"x": _sign},
    "hypot": {
        "x1": lambda g, x1, out: times(g, x1 / unless_zero(out)),
        "x2": lambda g, x2, out: times(g, x2 / unless_zero(out)),
    },
    # sign(x1) * sign(out) is the sign of x2, and 0 where x1 is 0.
    "copysign": {"x1": lambda g, x1, out: times(g, sign(x1) * sign(out)), "x2": lambda g: None},
    # The next number is x1 and a step that is the same nearly everywhere.
    "nextafter": {"x1": lambda g: g, "x2": lambda g: None},
    # --- choices
    "maximum": {
        "x1": lambda g, x1, x2: _winner(g, less(x1, x2), equal(x1, x2)),
        "x2": lambda g, x1, x2: _winner(g, less(x2, x1), equal(x1, x2)),
    },
    "minimum": {
        "x1": lambda g, x1, x2: _winner(g, greater(x1, x2), equal(x1, x2)),
        "x2": lambda g, x1, x2: _winner(g, greater(x2, x1), equal(x1, x2)),
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
    "expm1": {"x": lambda g, x: times(g, conjugate(exp(x)))},
    "log1p": {"x": lambda g, x: times(g, reciprocal(conjugate(x + 1)))},
    "log2": {"x": lambda g, x: times(g, reciprocal(conjugate(x) * LN2))},
    "log10": {"x": lambda g, x: times(g, reciprocal(conjugate(x) * LN10))},
    "logaddexp": {"x1": _logaddexp, "x2": lambda g, x1, x2, out: _logaddexp(g, x2, x1, out)},
    # --- trigonometric and hyperbolic functions
    "tan": {"x": lambda g, out: times(g, conjugate(out * out + 1))},
    "asin": {"x": lambda g, x: times(g, conjugate(1 / (sqrt(1 - x) * sqrt(1 + x))))},
    "acos": {"x": lambda g, x: times(g, conjugate(-1 / (sqrt(1 - x) * sqrt(1 + x))))},
    "atan": {"x": lambda g, x: times(g, reciprocal(conjugate(x * x + 1)))},
    # Divided twice, since the square of a tiny length underflows.
    "atan2": {
        "x1": lambda g, x1, x2: times(g, x2 / (r := unless_zero(hypot(x1, x2))) / r),
        "x2": lambda g, x1, x2: times(g, -x1 / (r := unless_zero(hypot(x1, x2))) / r),
    },
    "sinh": {"x": lambda g, x: times(g, conjugate(cosh(x)))},
    "cosh": {"x": lambda g, x: times(g, conjugate(sinh(x)))},
    "asinh": {"x": lambda g, x: times(g, conjugate(1 / sqrt(x * x + 1)))},
    # Two roots: the root of a complex product can have the other sign.
    "acosh": {"x": lambda g, x: times(g, conjugate(1 / (sqrt(x - 1) * sqrt(x + 1))))},
    "atanh": {"x": lambda g, x: times(g, reciprocal(conjugate(1 - x * x)))},
}

NO_GRAD: dict[str, str] = {
    **dict.fromkeys(("ceil", "floor", "floor_divide", "round", "trunc"), "piecewise constant"),
    **{op.name: "the result is boolean" for op in OPS if op.out == "bool"},
    **{op.name: "integers and booleans have no gradient" for op in OPS if op.name.startswith("bitwise_")},
}
