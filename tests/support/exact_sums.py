"""Sums of products as the notes on products define them, each step exact and rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np


def fused(x: Any, y: Any, z: Any) -> Any:
    """The fused multiply-add x * y + z."""
    kind = type(z)
    if not math.isfinite(x) or not math.isfinite(y):
        return x * y + z
    if not math.isfinite(z):
        return z
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        return kind(np.copysign(kind(0), x) * np.copysign(kind(0), y) + z) if 0 in (x, y) else kind(0)
    return rounded(exact, kind)


def fused_sum(x: Any, y: Any) -> Any:
    """The sum of products as Note [Products in panels] defines it."""
    kind = x.dtype.type
    total = None
    for start in range(0, len(x), 256):
        part = kind(-0.0)
        for u, v in zip(x[start : start + 256], y[start : start + 256], strict=True):
            part = fused(u, v, part)
        total = part if total is None else kind(total + part)
    return total


def rounded(exact: Fraction, kind: Any) -> Any:
    """A fraction in a dtype; of float32 the nearest neighbour of what float64 gives."""
    try:
        near = float(exact)
    except OverflowError:
        return kind(math.inf if exact > 0 else -math.inf)
    if kind is np.float64:
        return kind(near)
    narrow = kind(near)
    around = [narrow, np.nextafter(narrow, kind(np.inf)), np.nextafter(narrow, kind(-np.inf))]
    return min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))
