"""Windows for spectra with NumPy's signatures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._core.array.array import Array
from stride0.numpy._parts import named


def _window(name: str, formula: Callable[..., Array]) -> Callable[[Any], Array]:
    """Return a function of the window length; `formula` takes positions from -1 to 1."""

    def function(M: Any) -> Array:
        M = float(M)
        n = xp.arange(1 - M, M, 2)
        return formula(n / (M - 1)) if M > 1 else xp.ones_like(n)

    return named(name, function)


hanning = _window("hanning", lambda x: 0.5 + 0.5 * xp.cos(math.pi * x))
hamming = _window("hamming", lambda x: 0.54 + 0.46 * xp.cos(math.pi * x))
blackman = _window("blackman", lambda x: 0.42 + 0.5 * xp.cos(math.pi * x) + 0.08 * xp.cos(2.0 * math.pi * x))
bartlett = _window("bartlett", lambda x: 1 - xp.abs(x))


def kaiser(M: Any, beta: Any) -> Array:
    """Return the Kaiser window."""
    i0, M = xp.special.i0, float(M)
    n = xp.arange(1 - M, M, 2)
    return (
        i0(beta * xp.sqrt(1 - (n / (M - 1)) ** 2)) / i0(xp.asarray(float(beta))) if M > 1 else xp.ones_like(n)
    )
