"""Operands at which finite differences are accurate, and the numbers in a result; tests use both, too."""

from __future__ import annotations

from typing import Any

import numpy as np


def apart(*shape: int, seed: int = 0) -> Any:
    """Return numbers between 0.3 and 2 in random order, far enough apart that differences change no order."""
    values = np.linspace(0.3, 2.0, int(np.prod(shape)))
    return np.random.default_rng(seed).permutation(values).reshape(shape)


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


A, B = apart(3, 8), apart(3, 8, seed=1)
X, Y = normal(3, 8), normal(3, 8, seed=1)
P = apart(3, 4) / 2.5  # probabilities
LINE = normal(24)
NUM, DEN = np.asarray([0.2, 0.5, 0.3]), np.asarray([1.3, -0.4, 0.1])
POLES = -apart(3)


def numbers(y: Any) -> list[Any]:
    """All arrays and floating-point numbers in what a function returned."""
    if isinstance(y, (np.ndarray, np.generic, float, complex)) or hasattr(y, "__array_namespace__"):
        return [y]
    if isinstance(y, dict):
        y = list(y.values())
    if not isinstance(y, (tuple, list)):
        y = list(vars(y).values()) if hasattr(y, "__dict__") else []
    return [x for item in y for x in numbers(item)]
