"""Taylor series whose coefficients are arrays, and equations that determine them.

Note [Series]
    A series computes a coefficient when it is first read, from coefficients of lower orders. So a series
    may occur in its own definition: `solved` takes a function's differential equation, and most functions
    are one line. Sums of products of coefficients make the cost grow as the square of the order.

    The coefficient None is zero for all elements, as in the frequent case of a straight line. In a product
    with a coefficient that is zero for some elements, infinite factors do not
    count: Note [Zero in, zero out].
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from stride0._chapters.elementwise import add
from stride0.autograd._rules.parts import product

# All series of the running rule: their reference cycles are broken afterwards.
MADE: ContextVar[list[Series]] = ContextVar("stride0.series")


class Series:
    """A Taylor series: `rule` computes coefficient k for k >= 1; without a rule, the series is a constant."""

    __slots__ = ("known", "rule", "slopes")

    def __init__(self, first: Any, rule: Callable[[int], Any] | None = None) -> None:
        self.known, self.rule = [first], rule
        self.slopes: dict[int, Any] = {}
        MADE.get().append(self)

    def __getitem__(self, k: int) -> Any:
        while len(self.known) <= k:
            self.known.append(None if self.rule is None else self.rule(len(self.known)))
        return self.known[k]

    def slope(self, k: int) -> Any:
        """Return coefficient `k` times `k`: a coefficient of the derivative."""
        if k not in self.slopes:
            self.slopes[k] = self[k] if k == 1 else scaled(self[k], k)
        return self.slopes[k]

    def mapped(self, function: Callable[[Any], Any], first: Any = None) -> Series:
        """Apply a linear function to the coefficients."""

        def apply(x: Any) -> Any:
            return None if x is None else function(x)

        return Series(apply(self[0]) if first is None else first, lambda k: apply(self[k]))

    def starting(self, first: Any) -> Series:
        """Return the series with another first coefficient."""
        return Series(first, lambda k: self[k])

    def __neg__(self) -> Series:
        return self.mapped(operator.neg)

    def __add__(self, other: Any) -> Series:
        if not isinstance(other, Series):
            return self.starting(self[0] + other)
        return Series(total([self[0], other[0]]), lambda k: total([self[k], other[k]]))

    def __sub__(self, other: Any) -> Series:
        return self.__add__(-other)

    def __mul__(self, other: object) -> Series:
        if not isinstance(other, Series):
            return self.mapped(lambda c: c * other)
        first = None if self[0] is None or other[0] is None else self[0] * other[0]
        return Series(first, lambda k: total(_terms(self, other, k)))

    def __truediv__(self, other: Series) -> Series:
        return quotient(self[0] / other[0], self, other)


def _terms(x: Series, y: Series, k: int) -> Iterable[Any]:
    """Return the products of coefficients whose numbers add to k."""
    if x is y:
        yield from (times(scaled(x[k - j], 2), x[j]) for j in range((k + 1) // 2))
        yield times(x[k // 2], x[k // 2]) if k % 2 == 0 else None
    else:
        yield times(y[k], x[0])
        yield from (times(x[j], y[k - j]) for j in range(1, k + 1))


def times(x: Any, y: Any) -> Any:
    return None if x is None or y is None else product(x, y)


def scaled(x: Any, factor: Any) -> Any:
    return None if x is None else x * factor


def total(terms: Iterable[Any]) -> Any:
    """Return a sum; None is zero."""
    given = [term for term in terms if term is not None]
    return functools.reduce(add, given) if given else None


def solved(first: Any, xs: list[Series], slopes: Callable[[Series], list[Series]]) -> Series:
    """Return the series y with the derivative ``w1 * x1' + w2 * x2' + ...``; `slopes` maps y to all w."""
    y = Series(first)
    pairs = list(zip(xs, slopes(y), strict=True))

    def rule(k: int) -> Any:
        found = total(times(x.slope(j), w[k - j]) for x, w in pairs for j in range(1, k + 1))
        return found if found is None or k == 1 else found / k

    y.rule = rule
    return y


def quotient(first: Any, x: Series, y: Series) -> Series:
    out, by = Series(first), 1 / y[0]

    def rule(k: int) -> Any:
        used = total(times(y[j], out[k - j]) for j in range(1, k + 1))
        return times(total([x[k], scaled(used, -1)]), by)

    out.rule = rule
    return out


def inverse(x: Series, first: Any = None) -> Series:
    return quotient(1 / x[0] if first is None else first, Series(None), x)


def whole_power(x: Series, n: int, multiply: Callable[[Series, Series], Series] = operator.mul) -> Series:
    """Return a power with a whole exponent from 1 on, by squaring."""
    half = whole_power(x, n // 2, multiply) if n > 1 else x
    square = multiply(half, half) if n > 1 else x
    return multiply(square, x) if n > 1 and n % 2 else square


def composed(first: Any, x: Series, derivative: Callable[[int], Any]) -> Series:
    """Return f(x), given the derivatives of f at the first coefficient of x."""
    change, derivative = x.starting(None), functools.cache(derivative)
    powers = [change]

    def rule(k: int) -> Any:
        powers.extend(powers[-1] * change for _ in range(len(powers), k))
        pairs = ((powers[m - 1][k], m) for m in range(1, k + 1))
        return total(
            times(scaled(p, 1 / math.factorial(m)), derivative(m)) for p, m in pairs if p is not None
        )

    return Series(first, rule)
