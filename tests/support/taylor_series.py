"""Arrays of truncated Taylor series in NumPy: derivatives of any order along a line, without a tape.

The coefficients of a series are along the first axis of an array. Functions compose with the Taylor
coefficients that mpmath computes at the value of each element; products are Cauchy products.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from mpmath import mp

NumPyArray = np.ndarray[Any, Any]

# As functions of mpmath, by the names of the namespace.
FUNCTIONS: dict[str, Any] = {
    **{name: getattr(mp, name) for name in ("sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh")},
    **{name: getattr(mp, name) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "sqrt")},
    **{name: getattr(mp, name) for name in ("expm1", "log1p")},
    "reciprocal": lambda x: 1 / x,
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "square": lambda x: x * x,
    "special.erf": mp.erf,
    "special.expit": lambda x: 1 / (1 + mp.exp(-x)),
}


@functools.cache
def coefficients(name: str, at: float, order: int) -> tuple[float, ...]:
    """The Taylor coefficients of a function; NaN if it has no Taylor series there."""
    with mp.workdps(40):
        try:
            return tuple(float(mp.re(c)) for c in mp.taylor(FUNCTIONS[name], mp.mpf(at), order))
        except (ValueError, ZeroDivisionError, mp.NoConvergence):
            return (math.nan,) * (order + 1)


class Series:
    """An array of Taylor series up to an order."""

    def __init__(self, c: NumPyArray) -> None:
        self.c = c

    @classmethod
    def along(cls, x: NumPyArray, v: NumPyArray, order: int) -> Series:
        """``x + t * v``."""
        return cls(np.stack([x, v, *[np.zeros_like(x)] * (order - 1)]))

    @property
    def order(self) -> int:
        return len(self.c) - 1

    def combined(self, other: Series, product: Any) -> Series:
        """A Cauchy product with a bilinear product of coefficients."""
        terms = [sum(product(self.c[i], other.c[k - i]) for i in range(k + 1)) for k in range(len(self.c))]
        return Series(np.stack([np.asarray(t) for t in terms]))

    def function(self, name: str) -> Series:
        flat = self.c[0].reshape(-1)
        outer = np.asarray([coefficients(name, float(a), self.order) for a in flat])
        outer = outer.T.reshape((self.order + 1, *self.c[0].shape))
        change = Series(self.c.copy())
        change.c[0] = 0
        out = Series(np.zeros_like(self.c))
        out.c[0] = outer[-1]
        for k in range(self.order - 1, -1, -1):
            out = out.combined(change, np.multiply)
            out.c[0] += outer[k]
        return out

    def derivatives(self) -> list[float]:
        """A function of a series of one number."""
        return [float(c) * math.factorial(k) for k, c in enumerate(self.c)]


class Machine:
    """The functions of programs, for series."""

    def __init__(self, order: int) -> None:
        self.order = order

    def constant(self, a: NumPyArray) -> Any:
        return Series.along(a, np.zeros_like(a), self.order) if a.dtype.kind == "f" else a

    def positive(self, x: Series) -> NumPyArray:
        return x.c[0] > 0

    def function(self, name: str, x: Series) -> Series:
        return x.function(name)

    def add(self, x: Series, y: Series) -> Series:
        return Series(x.c + y.c)

    def multiply(self, x: Series, y: Series) -> Series:
        return x.combined(y, np.multiply)

    def matmul(self, x: Series, y: Series) -> Series:
        return x.combined(y, np.matmul)

    def power(self, x: Series, n: int) -> Series:
        return functools.reduce(self.multiply, [x] * n)

    def where(self, mask: NumPyArray, x: Series, y: Series) -> Series:
        return Series(np.where(mask, x.c, y.c))

    def sum(self, x: Series) -> Series:
        return Series(x.c.reshape(len(x.c), -1).sum(axis=1))

    def prod(self, x: Series) -> Series:
        return functools.reduce(self.multiply, [Series(x.c[:, i]) for i in range(x.c.shape[1])])

    def cumulative_prod(self, x: Series) -> Series:
        parts = [self.prod(Series(x.c[:, : i + 1])) for i in range(x.c.shape[1])]
        return Series(np.stack([p.c for p in parts], axis=1))

    def cumulative_sum(self, x: Series) -> Series:
        return Series(np.cumsum(x.c, axis=1))

    def flip(self, x: Series) -> Series:
        return Series(x.c[:, ::-1])

    def take(self, x: Series, key: Any) -> Series:
        return Series(x.c[(slice(None), *key)] if isinstance(key, tuple) else x.c[:, key])

    def stretch(self, x: Series, n: int) -> Series:
        """Repeated along a new first axis."""
        return Series(np.broadcast_to(x.c[:, None], (len(x.c), n, *x.c.shape[1:])))

    def outer(self, x: Series, y: Series) -> Series:
        return x.combined(y, np.multiply.outer)

    def transpose(self, x: Series) -> Series:
        return Series(np.swapaxes(x.c, -1, -2))

    def written(self, x: Series, key: Any, value: Series) -> Series:
        out = x.c.copy()
        out[:, key] = value.c
        return Series(out)

    def det(self, x: Series) -> Series:
        def at(i: int, j: int) -> Series:
            return Series(x.c[:, i, j])

        total = self.constant(np.asarray(0.0))
        cyclic = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
        for (i, j, k), sign in [*((p, 1) for p in cyclic), *((p[::-1], -1) for p in cyclic)]:
            term = self.multiply(self.multiply(at(0, i), at(1, j)), at(2, k))
            total = Series(total.c + sign * term.c)
        return total

    def inv(self, x: Series) -> Series:
        first = np.linalg.inv(x.c[0])
        out = [first]
        for k in range(1, len(x.c)):
            out.append(-first @ sum(x.c[j] @ out[k - j] for j in range(1, k + 1)))
        return Series(np.stack(out))
