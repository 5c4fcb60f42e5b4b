"""Distributions of `stride0.autograd.scipy.stats`: formulas for standard ones, moved and scaled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._parts import floating

__all__ = ["DISTRIBUTIONS", "Distribution"]

Formula = Callable[..., Array]


class _Formulas(NamedTuple):
    """A standard distribution: functions of a value between the ends, and of the shapes."""

    logpdf: Formula
    cdf: Formula
    sf: Formula
    ppf: Formula | None  # of a probability
    shapes: int = 0
    low: float = -math.inf
    high: float = math.inf
    inside: float = 0.0  # a value between the ends
    logcdf: Formula | None = None
    logsf: Formula | None = None


special = xp.special
_ROOT = math.log(2 * math.pi) / 2

_TABLE: dict[str, _Formulas] = {
    "norm": _Formulas(
        lambda z: -z * z / 2 - _ROOT,
        lambda z: special.ndtr(z),
        lambda z: special.ndtr(-z),
        lambda p: special.ndtri(p),
        logcdf=lambda z: special.log_ndtr(z),
        logsf=lambda z: special.log_ndtr(-z),
    ),
    "expon": _Formulas(
        lambda z: -z,
        lambda z: -xp.expm1(-z),
        lambda z: xp.exp(-z),
        lambda p: -xp.log1p(-p),
        low=0.0,
        inside=1.0,
        logsf=lambda z: -z,
    ),
    "uniform": _Formulas(
        lambda z: 0 * z, lambda z: z, lambda z: 1 - z, lambda p: p, low=0.0, high=1.0, inside=0.5
    ),
    "logistic": _Formulas(
        lambda z: special.log_expit(z) + special.log_expit(-z),
        lambda z: special.expit(z),
        lambda z: special.expit(-z),
        lambda p: special.logit(p),
        logcdf=lambda z: special.log_expit(z),
        logsf=lambda z: special.log_expit(-z),
    ),
    "laplace": _Formulas(
        lambda z: -xp.abs(z) - math.log(2),
        lambda z: xp.where(z > 0, 1 - xp.exp(-xp.abs(z)) / 2, xp.exp(-xp.abs(z)) / 2),
        lambda z: xp.where(z > 0, xp.exp(-xp.abs(z)) / 2, 1 - xp.exp(-xp.abs(z)) / 2),
        None,
    ),
    "cauchy": _Formulas(
        lambda z: -xp.log1p(z * z) - math.log(math.pi),
        lambda z: xp.atan(z) / math.pi + 0.5,
        lambda z: 0.5 - xp.atan(z) / math.pi,
        lambda p: xp.tan(math.pi * (p - 0.5)),
    ),
    "lognorm": _Formulas(
        lambda z, s: -((xp.log(z) / s) ** 2) / 2 - xp.log(s * z) - _ROOT,
        lambda z, s: special.ndtr(xp.log(z) / s),
        lambda z, s: special.ndtr(-xp.log(z) / s),
        lambda p, s: xp.exp(s * special.ndtri(p)),
        shapes=1,
        low=0.0,
        inside=1.0,
    ),
    "gamma": _Formulas(
        lambda z, a: special.xlogy(a - 1, z) - z - special.gammaln(a),
        lambda z, a: special.gammainc(a, z),
        lambda z, a: special.gammaincc(a, z),
        lambda p, a: special.gammaincinv(a, p),
        shapes=1,
        low=0.0,
        inside=1.0,
    ),
    "chi2": _Formulas(
        lambda z, df: special.xlogy(df / 2 - 1, z) - z / 2 - special.gammaln(df / 2) - df * (math.log(2) / 2),
        lambda z, df: special.gammainc(df / 2, z / 2),
        lambda z, df: special.gammaincc(df / 2, z / 2),
        lambda p, df: 2 * special.gammaincinv(df / 2, p),
        shapes=1,
        low=0.0,
        inside=1.0,
    ),
    "beta": _Formulas(
        lambda z, a, b: special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b),
        lambda z, a, b: special.betainc(a, b, z),
        lambda z, a, b: special.betaincc(a, b, z),
        lambda p, a, b: special.betaincinv(a, b, p),
        shapes=2,
        low=0.0,
        high=1.0,
        inside=0.5,
    ),
    "t": _Formulas(
        lambda z, df: (
            special.gammaln((df + 1) / 2)
            - special.gammaln(df / 2)
            - xp.log(df * math.pi) / 2
            - (df + 1) / 2 * xp.log1p(z * z / df)
        ),
        lambda z, df: special.stdtr(df, z),
        lambda z, df: special.stdtr(df, -z),
        lambda p, df: special.stdtrit(df, p),
        shapes=1,
    ),
}


class Distribution:
    """
    A continuous distribution, with the functions of `scipy.stats` for it.

    They take a value, the shapes of the distribution, `loc` and `scale`, by which it is moved and scaled.
    All are
    differentiable where they are arrays.

    Examples
    --------
    >>> from stride0.autograd import grad
    >>> from stride0.autograd.scipy import stats
    >>> grad(lambda mean: stats.norm.logpdf(1.0, mean, 2.0))(xp.asarray(0.0))
    Array(0.25, dtype=float64)
    """

    __all__ = ("cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf")

    def __init__(self, name: str, formulas: _Formulas) -> None:
        self.name = name
        self._formulas = formulas

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def _standard(
        self, what: str, x: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Array, Any, Array]:
        """Return a value moved back and scaled back, the shapes, and the scale."""
        operation, count = f"{self.name}.{what}", self._formulas.shapes
        given = list(args)
        unknown = named.keys() - {"loc", "scale"}
        if unknown or not count <= len(given) <= count + 2:
            names = f"{count} shapes" if count else "no shapes"
            problem = (
                f"{min(unknown)} is not supported" if unknown else f"it is called with {len(given)} arguments"
            )
            raise ArgumentTypeError(operation, problem, accepts=f"a value, {names}, loc and scale")
        shapes = [floating(operation, "a shape", shape) for shape in given[:count]]
        place = dict(zip(("loc", "scale"), given[count:], strict=False)) | named
        loc = floating(operation, "loc", place.get("loc", 0.0))
        scale = floating(operation, "scale", place.get("scale", 1.0))
        value = floating(operation, "x", x)
        return value if what == "ppf" else (value - loc) / scale, (shapes, loc), scale

    def _masked(self, z: Array, formula: Formula, shapes: Any, below: float, above: float) -> Array:
        """Return a formula between the ends, and what is known beyond them."""
        low, high, inside = self._formulas.low, self._formulas.high, self._formulas.inside
        under, over = z < low, z > high
        found = formula(xp.where(under | over, inside, z), *shapes)
        return xp.where(under, below, xp.where(over, above, found))

    def logpdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the logarithm of the density."""
        z, (shapes, _), scale = self._standard("logpdf", x, args, named)
        found = self._masked(z, self._formulas.logpdf, shapes, -math.inf, -math.inf)
        return found - xp.log(scale)

    def pdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the density."""
        return xp.exp(self.logpdf(x, *args, **named))

    def cdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the probability of a smaller value."""
        z, (shapes, _), _ = self._standard("cdf", x, args, named)
        return self._masked(z, self._formulas.cdf, shapes, 0.0, 1.0)

    def sf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the probability of a larger value."""
        z, (shapes, _), _ = self._standard("sf", x, args, named)
        return self._masked(z, self._formulas.sf, shapes, 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the logarithm of the probability of a smaller value."""
        if self._formulas.logcdf is None:
            return xp.log(self.cdf(x, *args, **named))
        z, (shapes, _), _ = self._standard("logcdf", x, args, named)
        return self._masked(z, self._formulas.logcdf, shapes, -math.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the logarithm of the probability of a larger value."""
        if self._formulas.logsf is None:
            return xp.log(self.sf(x, *args, **named))
        z, (shapes, _), _ = self._standard("logsf", x, args, named)
        return self._masked(z, self._formulas.logsf, shapes, 0.0, -math.inf)

    def ppf(self, q: Any, *args: Any, **named: Any) -> Array:
        """Return the value that is larger than another one with a given probability."""
        if self._formulas.ppf is None:
            raise ArgumentTypeError(
                f"{self.name}.ppf", "it is not supported", accepts="cdf, and a root finder"
            )
        p, (shapes, loc), scale = self._standard("ppf", q, args, named)
        found: Array = self._formulas.ppf(p, *shapes) * scale + loc
        return found


DISTRIBUTIONS = {name: Distribution(name, formulas) for name, formulas in _TABLE.items()}
