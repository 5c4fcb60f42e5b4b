"""Special values through every elementwise function of the standard: infinities, NaN, signed zeros.

A row has the alternatives for each operand, then the result of every combination: a number, a pair (real,
imaginary), or a function of the operands. Zeros compare with their sign, NaN equals NaN, other numbers may
differ by a few units in the last place. `Either(v)` accepts both signs of v. Rows run in float32 and float64
(complex64 and complex128) on arrays long enough for the vector body and its tail, in every memory layout.
"""

from __future__ import annotations

import itertools
import math
import operator
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import stride0 as xp

INF, NAN, PI = math.inf, math.nan, math.pi
MINUS_NAN = math.copysign(NAN, -1.0)
POS = (2.0**-149, 0.75, 1.0, 3.0, 2.0**100)  # all exact in float32
NEG = tuple(-v for v in POS)
NONZERO = POS + NEG
ZERO = (0.0, -0.0)
FINITE = NONZERO + ZERO
INFS = (INF, -INF)
NUMBERS = FINITE + INFS  # everything but NaN
ANY = (*NUMBERS, NAN)
INTEGERS = (1.0, 2.0, 7.0, -1.0, -2.0, -7.0, 2.0**24, -(2.0**60))
LENGTH = 19


SINGLE_EPS, DOUBLE_EPS = 2.0**-23, 2.0**-52


class Either(NamedTuple):
    """A value whose sign is not specified."""

    value: float


def _half_even(v: float) -> float:
    return math.copysign(round(v), v) if math.isfinite(v) else v


class SignedNaN(NamedTuple):
    """NaN with a specified sign bit."""

    negative: bool


def matches(got: float, want: Any, eps: float) -> bool:
    if isinstance(want, SignedNaN):
        return math.isnan(got) and (math.copysign(1.0, got) < 0) == want.negative
    if isinstance(want, Either):
        return matches(abs(got), abs(want.value), eps)
    want = single(want) if eps == SINGLE_EPS else float(want)
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if want == 0 or math.isinf(want):
        return got == want and math.copysign(1.0, got) == math.copysign(1.0, want)
    return math.isclose(got, want, rel_tol=4 * eps)


def single(v: float) -> float:
    """The float32 nearest to v."""
    try:
        return float(struct.unpack("f", struct.pack("f", v))[0])
    except OverflowError:
        return math.copysign(INF, v)


def signed(size: float, *factors: float) -> float:
    return math.copysign(size, math.prod(math.copysign(1.0, f) for f in factors))


def is_odd(v: float) -> bool:
    return math.isfinite(v) and v % 2 == 1


def alternatives(v: Any) -> tuple[Any, ...]:
    return v if isinstance(v, tuple) else (v,)


def keep(x: float, *_: float) -> float:
    return x


def second(_: float, y: float) -> float:
    return y


# -- real, one operand ---------------------------------------------------------------------------------------

ROUNDING = [(INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (NAN, NAN), (INTEGERS, keep)]
ODD_AT_ZERO = [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0)]
LOGARITHM = [(NAN, NAN), ((*NEG, -INF), NAN), (ZERO, -INF), (1.0, 0.0), (INF, INF)]
OUTSIDE_ONE = [((1.5, 2.0**100, INF), NAN), ((-1.5, -(2.0**100), -INF), NAN)]

REAL_UNARY: dict[str, list[tuple[Any, Any]]] = {
    "abs": [(NAN, NAN), (-0.0, 0.0), (0.0, 0.0), (-INF, INF), (INF, INF), (NEG, lambda x: -x)],
    "acos": [(NAN, NAN), *OUTSIDE_ONE, (1.0, 0.0), (-1.0, PI), (ZERO, PI / 2)],
    "acosh": [(NAN, NAN), ((0.5, 0.0, -0.0, -3.0, -INF), NAN), (1.0, 0.0), (INF, INF)],
    "asin": [*ODD_AT_ZERO, *OUTSIDE_ONE, (1.0, PI / 2)],
    "asinh": [*ODD_AT_ZERO, (INF, INF), (-INF, -INF)],
    "atan": [*ODD_AT_ZERO, (INF, PI / 2), (-INF, -PI / 2)],
    "atanh": [*ODD_AT_ZERO, *OUTSIDE_ONE, (1.0, INF), (-1.0, -INF)],
    "ceil": [*ROUNDING, (-0.5, -0.0), (0.5, 1.0)],
    "cos": [(NAN, NAN), (ZERO, 1.0), (INFS, NAN)],
    "cosh": [(NAN, NAN), (ZERO, 1.0), (INFS, INF)],
    "exp": [(NAN, NAN), (ZERO, 1.0), (INF, INF), (-INF, 0.0)],
    "expm1": [*ODD_AT_ZERO, (INF, INF), (-INF, -1.0)],
    "floor": [*ROUNDING, (-0.5, -1.0), (0.5, 0.0)],
    "isfinite": [((*INFS, NAN), False), (FINITE, True)],
    "isinf": [(INFS, True), ((*FINITE, NAN), False)],
    "isnan": [((NAN, MINUS_NAN), True), (NUMBERS, False)],
    "log": LOGARITHM,
    "log10": [*LOGARITHM, (1000.0, 3.0)],
    "log1p": [*ODD_AT_ZERO, ((-1.5, -INF), NAN), (-1.0, -INF), (INF, INF)],
    "log2": [*LOGARITHM, (8.0, 3.0)],
    "negative": [(ANY, lambda x: -x)],
    "positive": [(ANY, keep)],
    "reciprocal": [(NAN, NAN), (0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (4.0, 0.25)],
    "round": [
        *ROUNDING,
        ((-0.5, -0.25), -0.0),
        (0.5, 0.0),
        ((1.5, 2.5), 2.0),
        ((-1.5, -2.5), -2.0),
        (3.5, 4.0),
    ],
    "sign": [((*NEG, -INF), -1.0), (ZERO, 0.0), ((*POS, INF), 1.0), (NAN, NAN)],
    "signbit": [((0.0, INF, *POS, abs(NAN)), False), ((-0.0, -INF, *NEG, MINUS_NAN), True)],
    "sin": [*ODD_AT_ZERO, (INFS, NAN)],
    "sinh": [*ODD_AT_ZERO, (INF, INF), (-INF, -INF)],
    "sqrt": [*ODD_AT_ZERO, ((*NEG, -INF), NAN), (INF, INF)],
    "square": [(NAN, NAN), (ZERO, 0.0), (INFS, INF), (-3.0, 9.0)],
    "tan": [*ODD_AT_ZERO, (INFS, NAN)],
    "tanh": [*ODD_AT_ZERO, (INF, 1.0), (-INF, -1.0)],
    "trunc": [*ROUNDING, (-0.5, -0.0), (0.5, 0.0)],
}

# -- real, two operands --------------------------------------------------------------------------------------

NAN_IN_EITHER = [(NAN, ANY, NAN), (ANY, NAN, NAN)]
QUOTIENT = [  # divide and floor_divide alike: the floors below are the same zeros and infinities
    *NAN_IN_EITHER,
    (INFS, INFS, NAN),
    (ZERO, ZERO, NAN),
    (ZERO, NONZERO + INFS, lambda x, y: signed(0.0, x, y)),
    (NONZERO + INFS, ZERO, lambda x, y: signed(INF, x, y)),
    (INFS, NONZERO, lambda x, y: signed(INF, x, y)),
    (NONZERO, INFS, lambda x, y: signed(0.0, x, y)),
]
ADDITION = [
    *NAN_IN_EITHER,
    (INF, -INF, NAN),
    (-INF, INF, NAN),
    (INFS, FINITE, keep),
    (FINITE, INFS, second),
    (INF, INF, INF),
    (-INF, -INF, -INF),
    (-0.0, -0.0, -0.0),
    (-0.0, 0.0, 0.0),
    (0.0, ZERO, 0.0),
    (ZERO, NONZERO, second),
    (NONZERO, ZERO, keep),
    *((v, -v, 0.0) for v in NONZERO),
    (0.75, 3.0, 3.75),
]
EQUALITY = [
    (NAN, ANY, False),
    (ANY, NAN, False),
    (INF, INF, True),
    (-INF, -INF, True),
    (ZERO, ZERO, True),
    (FINITE, FINITE, lambda x, y: x == y),
    (INFS, FINITE, False),
    (FINITE, INFS, False),
    (INF, -INF, False),
    (-INF, INF, False),
]
ORDER = [(NAN, ANY), (ANY, NAN)]


def _power(x: float, y: float) -> float:
    """Powers of zeros and infinities: the result depends only on size, sign and oddness."""
    grows = (abs(x) > 1) == (y > 0)
    return math.copysign(INF if grows else 0.0, x if is_odd(y) else 1.0)


def _of_negated(want: Any) -> Any:
    return (lambda x, y: want(x, -y)) if callable(want) else want


REAL_BINARY: dict[str, list[tuple[Any, Any, Any]]] = {
    "add": ADDITION,
    "atan2": [
        *NAN_IN_EITHER,
        (NONZERO, ZERO, lambda y, x: signed(PI / 2, y)),
        (ZERO, (*POS, 0.0, INF), keep),
        (ZERO, (*NEG, -0.0, -INF), lambda y, x: signed(PI, y)),
        (NONZERO, INF, lambda y, x: signed(0.0, y)),
        (NONZERO, -INF, lambda y, x: signed(PI, y)),
        (INFS, FINITE, lambda y, x: signed(PI / 2, y)),
        (INFS, INF, lambda y, x: signed(PI / 4, y)),
        (INFS, -INF, lambda y, x: signed(3 * PI / 4, y)),
    ],
    "copysign": [
        (NUMBERS, (*NUMBERS, abs(NAN), MINUS_NAN), lambda x, y: math.copysign(x, y)),
        ((abs(NAN), MINUS_NAN), (*NEG, -0.0, -INF, MINUS_NAN), SignedNaN(True)),
        ((abs(NAN), MINUS_NAN), (*POS, 0.0, INF, abs(NAN)), SignedNaN(False)),
    ],
    "divide": [
        *QUOTIENT,
        (POS, POS, lambda x, y: 1.0 if x == y else None),
        ((6.0, -6.0), (4.0, -4.0), lambda x, y: x / y),
    ],
    "equal": EQUALITY,
    "floor_divide": [
        *QUOTIENT,
        (7.0, 2.0, 3.0),
        (-7.0, 2.0, -4.0),
        (7.0, -2.0, -4.0),
        (-7.0, -2.0, 3.0),
        ((-(2.0**-149), -0.75), (1.0, 2.0**100), -1.0),  # not -0: the floor of the exact quotient
        ((2.0**-149, 0.75), (1.0, 2.0**100), 0.0),
        ((2.0**-149, 0.75), -(2.0**100), -1.0),
    ],
    "greater": [(*r, False) for r in ORDER] + [(FINITE, FINITE, lambda x, y: x > y), (INF, FINITE, True)],
    "greater_equal": [(*r, False) for r in ORDER] + [(FINITE, FINITE, lambda x, y: x >= y), (INF, INF, True)],
    "hypot": [
        (INFS, ANY, INF),
        (ANY, INFS, INF),
        (ZERO, FINITE, lambda x, y: abs(y)),
        (FINITE, ZERO, lambda x, y: abs(x)),
        ((*FINITE, NAN), NAN, NAN),
        (NAN, (*FINITE, NAN), NAN),
        ((3.0, -3.0), (4.0, -4.0), 5.0),
        (3 * 2.0**120, 4 * 2.0**120, 5 * 2.0**120),  # no intermediate overflow in float32
        (3 * 2.0**-140, 4 * 2.0**-140, 5 * 2.0**-140),
    ],
    "less": [(*r, False) for r in ORDER] + [(FINITE, FINITE, lambda x, y: x < y), (FINITE, INF, True)],
    "less_equal": [(*r, False) for r in ORDER] + [(FINITE, FINITE, lambda x, y: x <= y), (-INF, -INF, True)],
    "logaddexp": [
        *NAN_IN_EITHER,
        (INF, NUMBERS, INF),
        (NUMBERS, INF, INF),
        (-INF, (*FINITE, -INF), lambda x, y: Either(0.0) if y == 0 else y),
        ((0.0, -0.0), (0.0, -0.0), math.log(2)),
    ],
    "maximum": [*NAN_IN_EITHER, (NUMBERS, NUMBERS, lambda x, y: Either(0.0) if x == y == 0 else max(x, y))],
    "minimum": [*NAN_IN_EITHER, (NUMBERS, NUMBERS, lambda x, y: Either(0.0) if x == y == 0 else min(x, y))],
    "multiply": [
        *NAN_IN_EITHER,
        (INFS, ZERO, NAN),
        (ZERO, INFS, NAN),
        (INFS, NONZERO + INFS, lambda x, y: signed(INF, x, y)),
        (NONZERO, INFS, lambda x, y: signed(INF, x, y)),
        (ZERO, FINITE, lambda x, y: signed(0.0, x, y)),
        (FINITE, ZERO, lambda x, y: signed(0.0, x, y)),
        ((3.0, -3.0), (0.75, -0.75), lambda x, y: x * y),
        ((2.0**-149, -(2.0**-149)), (2.0**-149, -(2.0**-149)), lambda x, y: x * y),
    ],
    "nextafter": [
        *NAN_IN_EITHER,
        (0.0, -0.0, -0.0),
        (-0.0, 0.0, 0.0),
        (INF, INF, INF),
        (FINITE, FINITE, lambda x, y: y if x == y else None),
    ],
    "not_equal": [(a, b, (lambda x, y: x != y)) for a, b, _ in EQUALITY],
    "pow": [
        (ANY, ZERO, 1.0),
        ((*(v for v in NUMBERS if v != 1), NAN), NAN, NAN),
        (NAN, NONZERO + INFS, NAN),
        ((1.5, -1.5, *INFS, 0.5, -0.5, *ZERO), INFS, lambda x, y: INF if (abs(x) > 1) == (y > 0) else 0.0),
        ((1.0, -1.0), INFS, 1.0),
        (1.0, NUMBERS, 1.0),
        (INFS + ZERO, (*NONZERO, 2.0, -2.0, -3.0, 0.5, -0.5), _power),
        ((-0.75, -3.0, -(2.0**100)), (0.5, -0.75, 2.5), NAN),
        ((-3.0, 0.75), 2.0, lambda x, y: x * x),
    ],
    "remainder": [
        *NAN_IN_EITHER,
        (INFS, NUMBERS, NAN),
        (FINITE, ZERO, NAN),
        (ZERO, NONZERO + INFS, lambda x, y: signed(0.0, y)),
        (NONZERO, INFS, lambda x, y: x if (x > 0) == (y > 0) else y),
        ((7.0, -7.0, 0.75), (2.0, -2.0), lambda x, y: x % y),
        ((6.0, -6.0), (2.0, -2.0), lambda x, y: signed(0.0, y)),
    ],
}
REAL_BINARY["subtract"] = [  # x - y is x + (-y)
    (x, tuple(-v for v in alternatives(y)), _of_negated(want)) for x, y, want in ADDITION
]

# -- complex: rows of (real alternatives, imaginary alternatives, (real, imaginary) of the result) -----------

NAN2 = (NAN, NAN)
LARGE_PART_NAN = [(INFS, NAN, (INF, NAN)), (NAN, INF, (INF, NAN)), (NAN, FINITE, NAN2), (NAN, NAN, NAN2)]
LOG_FAR_OUT = [
    (FINITE, INF, (INF, PI / 2)),
    (FINITE, NAN, NAN2),
    (-INF, POS, (INF, PI)),
    (INF, POS, (INF, 0.0)),
    (-INF, INF, (INF, 3 * PI / 4)),
    (INF, INF, (INF, PI / 4)),
    *LARGE_PART_NAN,
]


def cis(size: float) -> Callable[[float, float], tuple[float, float]]:
    return lambda _, b: (size * math.cos(b), size * math.sin(b))


COMPLEX_UNARY: dict[str, list[tuple[Any, Any, Any]]] = {
    "acos": [
        (ZERO, 0.0, (PI / 2, -0.0)),
        (ZERO, NAN, (PI / 2, NAN)),
        (FINITE, INF, (PI / 2, -INF)),
        (NONZERO, NAN, NAN2),
        (-INF, POS, (PI, -INF)),
        (INF, POS, (0.0, -INF)),
        (-INF, INF, (3 * PI / 4, -INF)),
        (INF, INF, (PI / 4, -INF)),
        (INFS, NAN, (NAN, Either(INF))),
        (NAN, FINITE, NAN2),
        (NAN, INF, (NAN, -INF)),
        (NAN, NAN, NAN2),
    ],
    "acosh": [
        (ZERO, 0.0, (0.0, PI / 2)),
        (FINITE, INF, (INF, PI / 2)),
        (NONZERO, NAN, NAN2),
        (0.0, NAN, (NAN, Either(PI / 2))),
        *LOG_FAR_OUT[2:],
    ],
    "asinh": [
        (0.0, 0.0, (0.0, 0.0)),
        (POS, INF, (INF, PI / 2)),
        (FINITE, NAN, NAN2),
        (INF, POS, (INF, 0.0)),
        (INF, INF, (INF, PI / 4)),
        (INF, NAN, (INF, NAN)),
        (NAN, 0.0, (NAN, 0.0)),
        (NAN, NONZERO, NAN2),
        (NAN, INF, (Either(INF), NAN)),
        (NAN, NAN, NAN2),
    ],
    "atanh": [
        (0.0, 0.0, (0.0, 0.0)),
        (0.0, NAN, (0.0, NAN)),
        (1.0, 0.0, (INF, 0.0)),
        (POS, INF, (0.0, PI / 2)),
        (NONZERO, NAN, NAN2),
        (INF, (*POS, INF), (0.0, PI / 2)),
        (INF, NAN, (0.0, NAN)),
        (NAN, FINITE, NAN2),
        (NAN, INF, (Either(0.0), PI / 2)),
        (NAN, NAN, NAN2),
    ],
    "cosh": [
        (0.0, 0.0, (1.0, 0.0)),
        (0.0, (INF, NAN), (NAN, Either(0.0))),
        (NONZERO, (INF, NAN), NAN2),
        (INF, 0.0, (INF, 0.0)),
        (INF, NONZERO, cis(INF)),
        (INF, INF, (Either(INF), NAN)),
        (INF, NAN, (INF, NAN)),
        (NAN, ZERO, (NAN, Either(0.0))),
        (NAN, (*NONZERO, NAN), NAN2),
    ],
    "exp": [
        (ZERO, 0.0, (1.0, 0.0)),
        (FINITE, (INF, NAN), NAN2),
        (INF, 0.0, (INF, 0.0)),
        (-INF, FINITE, cis(0.0)),
        (INF, NONZERO, cis(INF)),
        (-INF, (INF, NAN), (Either(0.0), Either(0.0))),
        (INF, (INF, NAN), (Either(INF), NAN)),
        (NAN, 0.0, (NAN, 0.0)),
        (NAN, (*NONZERO, *INFS, NAN), NAN2),
    ],
    "expm1": [
        (ZERO, 0.0, (0.0, 0.0)),
        (FINITE, (INF, NAN), NAN2),
        (INF, 0.0, (INF, 0.0)),
        (-INF, FINITE, lambda _, b: (-1.0, 0.0 * math.sin(b))),
        (INF, NONZERO, cis(INF)),
        (-INF, (INF, NAN), (-1.0, Either(0.0))),
        (INF, (INF, NAN), (Either(INF), NAN)),
        (NAN, 0.0, (NAN, 0.0)),
        (NAN, (*NONZERO, *INFS, NAN), NAN2),
    ],
    "log": [(-0.0, 0.0, (-INF, PI)), (0.0, 0.0, (-INF, 0.0)), *LOG_FAR_OUT],
    "log1p": [(-1.0, 0.0, (-INF, 0.0)), *LOG_FAR_OUT],
    "round": [
        ((1.5, -0.5, 0.0, INF, NAN), (2.5, -0.25, -INF, NAN), lambda a, b: tuple(map(_half_even, (a, b))))
    ],
    "sign": [
        (ZERO, ZERO, (0.0, 0.0)),
        (NAN, ANY, NAN2),
        (ANY, NAN, NAN2),
        ((3.0, -3.0), (4.0, -4.0), lambda a, b: (a / 5, b / 5)),
        (INFS, FINITE, lambda a, b: (NAN, signed(0.0, b))),  # parts divided by abs(z): inf / inf
        (FINITE, INFS, lambda a, b: (signed(0.0, a), NAN)),
        (2.0**-149, 0.0, (1.0, 0.0)),
    ],
    "sinh": [
        (0.0, 0.0, (0.0, 0.0)),
        (0.0, (INF, NAN), (Either(0.0), NAN)),
        (POS, (INF, NAN), NAN2),
        (INF, 0.0, (INF, 0.0)),
        (INF, POS, cis(INF)),
        (INF, (INF, NAN), (Either(INF), NAN)),
        (NAN, 0.0, (NAN, 0.0)),
        (NAN, (*NONZERO, NAN), NAN2),
    ],
    "sqrt": [
        (ZERO, 0.0, (0.0, 0.0)),
        (ANY, INF, (INF, INF)),
        (FINITE, NAN, NAN2),
        (-INF, POS, (0.0, INF)),
        (INF, POS, (INF, 0.0)),
        (-INF, NAN, (NAN, Either(INF))),
        (INF, NAN, (INF, NAN)),
        (NAN, (*FINITE, NAN), NAN2),
    ],
    "tanh": [
        (0.0, 0.0, (0.0, 0.0)),
        (NONZERO, (INF, NAN), NAN2),
        (0.0, (INF, NAN), (0.0, NAN)),
        (INF, POS, (1.0, 0.0)),  # C99 has the sign of sin(2b) here, the standard a plus
        (INF, (INF, NAN), (1.0, Either(0.0))),
        (NAN, 0.0, (NAN, 0.0)),
        (NAN, (*NONZERO, INF, NAN), NAN2),
    ],
    "abs": [
        (INFS, ANY, INF),
        (ANY, INFS, INF),
        (ZERO, FINITE, lambda _, b: abs(b)),
        (FINITE, ZERO, lambda a, _: abs(a)),
        (NAN, (*FINITE, NAN), NAN),
        ((*FINITE, NAN), NAN, NAN),
        (3 * 2.0**120, 4 * 2.0**120, 5 * 2.0**120),
    ],
    "isfinite": [(ANY, ANY, lambda a, b: math.isfinite(a) and math.isfinite(b))],
    "isinf": [(ANY, ANY, lambda a, b: math.isinf(a) or math.isinf(b))],
    "isnan": [(ANY, ANY, lambda a, b: math.isnan(a) or math.isnan(b))],
    "conj": [(ANY, ANY, lambda a, b: (a, -b))],
    "positive": [(ANY, ANY, lambda a, b: (a, b))],
    "negative": [(ANY, ANY, lambda a, b: (-a, -b))],
    "real": [(ANY, ANY, lambda a, b: a)],
    "imag": [(ANY, ANY, lambda a, b: b)],
    "square": [
        (FINITE, FINITE, lambda a, b: (a * a - b * b, 2 * a * b) if abs(a) == abs(b) else None),
        (NAN, NAN, NAN2),
    ],
    "reciprocal": [
        ((2.0, -2.0), 0.0, lambda a, _: (1 / a, 0.0 / a)),
        (0.0, 2.0, (0.0, -0.5)),
        (NAN, NAN, NAN2),
    ],
}


def _turned(rows: list[tuple[Any, Any, Any]], turn_back: bool) -> list[tuple[Any, Any, Any]]:
    """Rows of f(z) = fh(1j*z), or of -1j * fh(1j*z), from the rows of the hyperbolic fh."""

    def result(want: Any, a: float, b: float) -> Any:
        re, im = want(-b, a) if callable(want) else want
        return (im, Either(-re.value) if isinstance(re, Either) else -re) if turn_back else (re, im)

    def row(a: Any, b: Any, want: Any) -> tuple[Any, Any, Any]:
        return b, tuple(-v for v in alternatives(a)), lambda x, y: result(want, x, y)

    return [row(*r) for r in rows]


def _rebased(rows: list[tuple[Any, Any, Any]], base: float) -> list[tuple[Any, Any, Any]]:
    return [(a, b, tuple(v / math.log(base) for v in want)) for a, b, want in rows]


for _name in ("sin", "tan", "asin", "atan", "cos"):
    _hyperbolic = "cosh" if _name == "cos" else _name.replace("sin", "sinh").replace("tan", "tanh")
    COMPLEX_UNARY[_name] = _turned(COMPLEX_UNARY[_hyperbolic], _name != "cos")
COMPLEX_UNARY["log2"] = [
    *_rebased(COMPLEX_UNARY["log"], 2),
    ((8.0, -8.0), 0.0, lambda a, _: (3.0, Either(0.0) if a > 0 else PI / math.log(2))),
]
COMPLEX_UNARY["log10"] = [*_rebased(COMPLEX_UNARY["log"], 10), (0.0, 1000.0, (3.0, PI / 2 / math.log(10)))]

ODD = {"asinh", "atanh", "sinh", "tanh", "sin", "tan", "asin", "atan"}
CONJUGATE = ODD | {"acos", "acosh", "cosh", "cos", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt"}

# Rows of two complex operands, written as complex numbers.
COMPLEX_BINARY: dict[str, list[tuple[complex, complex, Any]]] = {
    "add": [
        (complex(-0.0, 0.0), complex(-0.0, -0.0), (-0.0, 0.0)),
        (complex(INF, 1), complex(1, -INF), (INF, -INF)),
    ],
    "subtract": [
        (complex(-0.0, 0.0), complex(0.0, 0.0), (-0.0, 0.0)),
        (complex(INF, 1), complex(1, INF), (INF, -INF)),
    ],
    "multiply": [
        (complex(NAN, NAN), complex(NAN, NAN), NAN2),
        (1 + 2j, 3 - 4j, (11.0, 2.0)),
        (1j, 1j, (-1.0, 0.0)),
    ],
    "divide": [
        (complex(NAN, NAN), complex(NAN, NAN), NAN2),
        (11 + 2j, 3 - 4j, (1.0, 2.0)),
        (1 + 2j, 2 + 0j, (0.5, 1.0)),
        (1 + 2j, 2j, (1.0, -0.5)),
        (1 + 1j, 0j, (INF, INF)),
        (0j, 0j, NAN2),
        (complex(INF, 1), 2 + 0j, (INF, 0.5)),
        (complex(INF, 1), 2 + 2j, (INF, -INF)),
        (1 + 1j, complex(INF, INF), (0.0, 0.0)),
        (complex(2.0**120, 2.0**120), complex(2.0**120, 2.0**120), (1.0, 0.0)),
        (complex(2.0**-140, 2.0**-140), complex(2.0**-140, -(2.0**-140)), (0.0, 1.0)),
    ],
    "equal": [
        *((z, complex(1, 2), False) for z in (complex(NAN, 2), complex(1, NAN), 1 + 3j, 2 + 2j)),
        (complex(NAN, 2), complex(NAN, 2), False),
        (complex(0.0, -0.0), complex(-0.0, 0.0), True),
        (complex(INF, 1), complex(INF, 1), True),
    ],
    "pow": [
        (0j, 0j, (1.0, 0.0)),
        (complex(NAN, 1), 0j, (1.0, 0.0)),
        (0j, 2 + 0j, (0.0, 0.0)),
        (1j, 2 + 0j, (-1.0, 0.0)),
        (2 + 0j, -1 + 0j, (0.5, Either(0.0))),
        (4 + 0j, 0.5 + 0j, (2.0, 0.0)),
        (complex(NAN, NAN), complex(NAN, NAN), NAN2),
    ],
}
COMPLEX_BINARY["not_equal"] = [(x, y, not want) for x, y, want in COMPLEX_BINARY["equal"]]

# -- integers and booleans: the operands, the exact result (wrapped to the dtype) ----------------------------

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
INTEGER: dict[str, Callable[..., int | None]] = {
    "abs": abs,
    "add": lambda x, y: x + y,
    "bitwise_invert": lambda x: ~x,
    "bitwise_left_shift": lambda x, y: x << y if 0 <= y < 8 else None,
    "bitwise_right_shift": lambda x, y: x // 2**y if 0 <= y < 8 else None,
    "ceil": lambda x: x,
    "floor": lambda x: x,
    "floor_divide": lambda x, y: x // y if y else 0,  # by zero: our choice
    "multiply": lambda x, y: x * y,
    "negative": lambda x: -x,
    "pow": lambda x, y: x**y if 0 <= y < 130 else None,
    "remainder": lambda x, y: x % y if y else 0,
    "round": lambda x: x,
    "sign": lambda x: (x > 0) - (x < 0),
    "square": lambda x: x * x,
    "subtract": lambda x, y: x - y,
    "trunc": lambda x: x,
}


# -- running -------------------------------------------------------------------------------------------------


def arrays(values: tuple[Any, ...], dtype: Any, decoy: Any = 1) -> Iterator[tuple[Any, ...]]:
    """The operands as arrays in each layout: contiguous, strided, and with one of two broadcast."""
    yield tuple(xp.asarray([v] * LENGTH, dtype=dtype) for v in values)
    yield tuple(xp.asarray([v, decoy] * LENGTH, dtype=dtype)[::2] for v in values)
    yield tuple(xp.asarray([decoy, v] * LENGTH, dtype=dtype)[::-2] for v in values)
    if len(values) == 2:
        x, y = values
        yield xp.asarray([x] * LENGTH, dtype=dtype), xp.asarray(y, dtype=dtype)
        yield xp.asarray(x, dtype=dtype), xp.asarray([y] * LENGTH, dtype=dtype)


def wrong(name: str, values: tuple[Any, ...], dtype: Any, want: Any, eps: float) -> Iterator[str]:
    for operands in arrays(values, dtype):
        out = getattr(xp, name)(*operands)
        assert out.shape == (LENGTH,)
        for i in range(LENGTH):
            if isinstance(want, tuple) and not isinstance(want, Either | SignedNaN):
                got: Any = complex(out[i])
                good = matches(got.real, want[0], eps) and matches(got.imag, want[1], eps)
            else:
                got = float(out[i])
                good = matches(got, want, eps)
            if not good:
                yield f"{name}{values} at {i} is {got}, not {want}"
                break


def reals() -> list[Any]:
    tables = itertools.chain(REAL_UNARY.items(), REAL_BINARY.items())
    return [pytest.param(name, rows, id=name) for name, rows in tables]


@pytest.mark.parametrize(("dtype", "eps"), [("float32", SINGLE_EPS), ("float64", DOUBLE_EPS)])
@pytest.mark.parametrize(("name", "rows"), reals())
def test_real(name: str, rows: list[tuple[Any, ...]], dtype: str, eps: float) -> None:
    failures: list[str] = []
    for *operands, want in rows:
        for values in itertools.product(*map(alternatives, operands)):
            result = want(*values) if callable(want) else want
            if result is not None:
                failures += wrong(name, values, getattr(xp, dtype), result, eps)
    assert not failures, "\n".join(failures)


def reflections(name: str, z: complex, want: Any) -> Iterator[tuple[complex, Any]]:
    """The row, and the rows that follow by symmetries of the function."""
    yield z, want
    if name not in CONJUGATE:
        return
    re, im = want

    def minus(v: Any) -> Any:
        return v if isinstance(v, Either) else -v

    yield complex(z.real, -z.imag), (re, minus(im))
    if name in ODD:
        yield complex(-z.real, -z.imag), (minus(re), minus(im))
    if name in {"cos", "cosh"}:
        yield complex(-z.real, -z.imag), want


COMPLEX = pytest.mark.parametrize(("dtype", "eps"), [("complex64", SINGLE_EPS), ("complex128", DOUBLE_EPS)])


@COMPLEX
@pytest.mark.parametrize("name", COMPLEX_UNARY)
def test_complex(name: str, dtype: str, eps: float) -> None:
    failures: list[str] = []
    for real, imag, want in COMPLEX_UNARY[name]:
        for a, b in itertools.product(alternatives(real), alternatives(imag)):
            result = want(a, b) if callable(want) else want
            if result is not None:
                for z, reflected in reflections(name, complex(a, b), result):
                    failures += wrong(name, (z,), getattr(xp, dtype), reflected, eps)
    assert not failures, "\n".join(failures)


@COMPLEX
@pytest.mark.parametrize("name", COMPLEX_BINARY)
def test_complex_pairs(name: str, dtype: str, eps: float) -> None:
    failures: list[str] = []
    for x, y, want in COMPLEX_BINARY[name]:
        failures += wrong(name, (x, y), getattr(xp, dtype), want, eps)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
@pytest.mark.parametrize("name", INTEGER)
def test_integer(name: str, dtype: str) -> None:
    bits, negatives = int(dtype.lstrip("uint")), dtype in SIGNED
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if negatives else (0, 2**bits - 1)
    samples = [v for v in (least, least + 1, -7, -2, -1, 0, 1, 2, 3, 7, 100, most - 1, most) if least <= v]
    count = INTEGER[name].__code__.co_argcount if name != "abs" else 1
    for values in itertools.product(samples, repeat=count):
        want = INTEGER[name](*values)
        if want is None:
            continue
        want = (want - least) % 2**bits + least
        for operands in arrays(values, getattr(xp, dtype)):
            out = getattr(xp, name)(*operands)
            assert [int(out[i]) for i in range(LENGTH)] == [want] * LENGTH, f"{name}{values}"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clip_passes_nan_of_any_operand(dtype: str) -> None:
    kind = getattr(xp, dtype)
    x, low, high = (xp.asarray([v] * LENGTH, dtype=kind) for v in (0.5, 0.0, 1.0))
    nan = xp.asarray([NAN] * LENGTH, dtype=kind)
    for out in (xp.clip(nan, low, high), xp.clip(x, nan, high), xp.clip(x, low, nan), xp.clip(nan)):
        assert all(math.isnan(float(out[i])) for i in range(LENGTH))


@pytest.mark.parametrize(
    "name", ["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"]
)
def test_truth_tables(name: str) -> None:
    python = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}[name.split("_")[1]]
    for values in itertools.product((False, True), repeat=2):
        for operands in arrays(values, xp.bool, decoy=True):
            out = getattr(xp, name)(*operands)
            assert [bool(out[i]) for i in range(LENGTH)] == [python(*values)] * LENGTH
