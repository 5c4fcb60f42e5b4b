"""Errors of numbers in units in the last place (ULP) of the exact numbers."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np


def part_error(part: Any, exact: Any, real: Any) -> float:
    """Error of a number of the dtype `real` in ULP of the exact number.

    If the exact number is beyond the range, infinity of the same sign has no error. Every other infinity, and
    NaN, has an infinite error.
    """
    info, part = np.finfo(real), float(part)
    if abs(exact) > float(info.max):
        infinite = abs(exact) > mpmath.mpf(float(info.max)) * (1 + mpmath.mpf(2) ** -info.nmant)
        return math.inf if infinite and part != math.copysign(math.inf, exact) else 0.0
    if not math.isfinite(part):
        return math.inf
    if exact == 0:
        return 0.0 if part == 0 else math.inf
    exponent = max(int(mpmath.frexp(exact)[1]), int(info.minexp) + 1)
    return float(abs(mpmath.mpf(part) - exact) / mpmath.mpf(2) ** (exponent - info.nmant - 1))


def parts_error(got: Any, exact: Any, real: Any) -> float:
    """The larger error of the two parts of a complex number, each in its own ULP."""
    return max(part_error(got.real, exact.real, real), part_error(got.imag, exact.imag, real))
