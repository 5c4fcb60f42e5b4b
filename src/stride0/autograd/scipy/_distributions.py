"""Distributions of `stride0.autograd.scipy.stats`: formulas of standard distributions, shifted and scaled.

Note [Parameters of distributions]
    Functions of `scipy.stats` return NaN where a parameter is invalid: a `scale` or a shape that is 0,
    negative or NaN. The formulas get valid parameters instead, and the result is masked at the end. Otherwise
    infinite derivatives of masked values would spoil products in further derivatives.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0._core.array.array import Array
from stride0._core.elementwise.elementwise import multiply_masked
from stride0.autograd.scipy._arguments import floating
from stride0.special import _densities as densities

__all__ = ["DISTRIBUTIONS", "Distribution", "real"]

Formula = Callable[..., Array]


class _Formulas(NamedTuple):
    """A standard distribution: functions of a value within the support, and of the shape parameters.

    `ppf` and `isf` are functions of a probability.
    """

    logpdf: Formula
    cdf: Formula
    sf: Formula
    ppf: Formula
    isf: Formula
    shapes: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    pdf: Formula | None = None
    logcdf: Formula | None = None
    logsf: Formula | None = None


special = xp.special
_LOG_2 = math.log(2)
_ROOT = math.log(2 * math.pi) / 2


def _mirrored(formula: Formula) -> Formula:
    return lambda z, *shapes: formula(-z, *shapes)


def _symmetric(
    logpdf: Formula,
    cdf: Formula,
    ppf: Formula,
    shapes: tuple[str, ...] = (),
    pdf: Formula | None = None,
    logcdf: Formula | None = None,
) -> _Formulas:
    """Return the formulas of a distribution that is symmetric about 0."""
    return _Formulas(
        logpdf,
        cdf,
        _mirrored(cdf),
        ppf,
        lambda p, *shapes: -ppf(p, *shapes),
        shapes,
        pdf=pdf,
        logcdf=logcdf,
        logsf=None if logcdf is None else _mirrored(logcdf),
    )


class _Parameters(NamedTuple):
    """Parameters of a distribution; invalid parameters are replaced by 1."""

    shapes: tuple[Array, ...]
    loc: Array
    scale: Array
    valid: Array

    def where_valid(self, found: Array) -> Array:
        """Return a result, with NaN where a parameter is invalid."""
        return xp.where(self.valid, found, math.nan)


def real(operation: str, name: str, x: Any) -> Array:
    """Return an argument as a float64 array: SciPy computes in float64."""
    found = floating(operation, name, x)
    if found.dtype.kind == "complex floating":
        raise ArgumentTypeError(operation, f"{name} is complex", accepts="pass an array of real numbers")
    return xp.astype(found, xp.float64, copy=False)


def _divided(x: Array, scale: Array) -> Array:
    """Return ``x / scale``, which does not depend on the scale where `x` is 0."""
    zero = x == 0
    # Derivatives of densities may be infinite there. The product keeps them out of the scale's gradient.
    at_zero = multiply_masked(xp.where(zero, x, 0), 1 / scale)
    return xp.where(zero, at_zero, xp.where(zero, 1, x) / scale)


def _logarithm(p: Array, q: Array) -> Array:
    """Return the logarithm of `p`, given `q`: ``1 - p``, accurate where `p` is near 1."""
    near_one = q < 0.5
    return xp.where(near_one, xp.log1p(-xp.where(near_one, q, 0)), xp.log(xp.where(near_one, 1, p)))


def _positive(z: Array) -> Array:
    """Return values with 1 in place of 0, for logarithms of values that are masked later."""
    return xp.where(z == 0, 1, z)


def _by_sides(z: Array, below: Formula, above: Formula) -> Array:
    """Return `below` of values up to 0, and `above` of values greater than 0."""
    right = z > 0
    return xp.where(right, above(xp.where(right, z, 0)), below(xp.where(right, 0, z)))


def _laplace_quantile(p: Array) -> Array:
    right = p > 0.5
    return xp.where(right, -xp.log(2 * xp.where(right, 1 - p, 1)), xp.log(2 * xp.where(right, 1, p)))


def _cauchy_quantile(p: Array) -> Array:
    """Return ``tan(pi * (p - 1/2))``, accurate near 0 and 1."""
    near = xp.abs(p - 0.5) < 0.25
    # The distance from the nearest end, with the sign of the quantile.
    apart = xp.where(near, 0.25, xp.where(p > 0.5, 1 - p, -p))
    return xp.where(near, xp.tan(math.pi * (xp.where(near, p, 0.5) - 0.5)), 1 / xp.tan(math.pi * apart))


def _log_beta_tail(p: Array, a: Array, b: Array | float) -> tuple[Array, Array]:
    """Return the logarithm of the quantile of the beta distribution near 0, and a mask of valid results.

    There, the probability is ``x**a / (a * beta(a, b))`` to all digits. The inverse functions of
    `scipy.special` return NaN, infinity or a wrong number for such probabilities.
    """
    # a * beta(a, b) is (a + b) * beta(a + 1, b), whose logarithm loses no digits if a is small.
    found = (xp.log(_positive(p)) + special.betaln(a + 1, b) + xp.log(a + b)) / a
    return found, (p < 1e-10) & (found + xp.log1p(a * 0 + b) < -40) | (found < -300)


def _beta_quantile(p: Array, a: Array, b: Array) -> Array:
    tail, far = _log_beta_tail(p, a, b)
    return xp.where(far, xp.exp(tail), special.betaincinv(a, b, xp.where(far, 0.5, p)))


def _t_quantile(p: Array, df: Array) -> Array:
    # The beta distribution has df / (df + t**2).
    tail, far = _log_beta_tail(2 * p, df / 2, 0.5)
    found = special.stdtrit(df, xp.where(far, 0.5, p))
    return xp.where(far, -xp.exp((xp.log(df) - tail) / 2), found)


def _steep(here: Array, apart: Array) -> Array:
    """Return 0 where `here` is true, with an infinite derivative with respect to the distance `apart`."""
    return xp.sqrt(xp.where(here, apart, 1))


def _lognormal_quantile(p: Array, s: Array, side: int) -> Array:
    """Return the quantile of a probability below (`side` is 1) or above (-1)."""
    apart = p if side > 0 else 1 - p
    at_end = apart == 0
    found = xp.exp(side * s * special.ndtri(xp.where(at_end, 0.5, p)))
    return xp.where(at_end, _steep(at_end, apart), found)


def _lognormal_density(z: Array, s: Array) -> Array:
    inside = _positive(z)
    found = -((xp.log(inside) / s) ** 2) / 2 - xp.log(s) - xp.log(inside) - _ROOT
    return xp.where(z == 0, -math.inf, found)


def _of_logarithm(f: Formula, at_zero: float) -> Formula:
    """Return a function of ``log(z) / s``, for the lognormal distribution."""
    return lambda z, s: xp.where(z == 0, at_zero, f(xp.log(_positive(z)) / s))


_TABLE: dict[str, _Formulas] = {
    "norm": _symmetric(lambda z: -z * z / 2 - _ROOT, special.ndtr, special.ndtri, logcdf=special.log_ndtr),
    "expon": _Formulas(
        lambda z: -z,
        lambda z: -xp.expm1(-z),
        lambda z: xp.exp(-z),
        lambda p: -xp.log1p(-p),
        lambda p: -xp.log(p),
        low=0.0,
        logsf=lambda z: -z,
    ),
    "uniform": _Formulas(
        lambda z: z - z, lambda z: z, lambda z: 1 - z, lambda p: p, lambda p: 1 - p, low=0.0, high=1.0
    ),
    "logistic": _symmetric(
        lambda z: special.log_expit(z) + special.log_expit(-z),
        special.expit,
        special.logit,
        logcdf=special.log_expit,
    ),
    "laplace": _symmetric(
        lambda z: -xp.abs(z) - _LOG_2,
        lambda z: _by_sides(z, lambda z: xp.exp(z) / 2, lambda z: 1 - xp.exp(-z) / 2),
        _laplace_quantile,
        logcdf=lambda z: _by_sides(z, lambda z: z - _LOG_2, lambda z: xp.log1p(-xp.exp(-z) / 2)),
    ),
    "cauchy": _symmetric(
        lambda z: -densities.log1p_square(z) - math.log(math.pi),
        lambda z: xp.atan2(xp.ones_like(z), -z) / math.pi,
        _cauchy_quantile,
        pdf=lambda z: 1 / (math.pi * (1 + z * z)),
    ),
    "lognorm": _Formulas(
        _lognormal_density,
        _of_logarithm(special.ndtr, 0.0),
        _of_logarithm(_mirrored(special.ndtr), 1.0),
        lambda p, s: _lognormal_quantile(p, s, 1),
        lambda p, s: _lognormal_quantile(p, s, -1),
        ("s",),
        low=0.0,
        logcdf=_of_logarithm(special.log_ndtr, -math.inf),
        logsf=_of_logarithm(_mirrored(special.log_ndtr), 0.0),
    ),
    "gamma": _Formulas(
        lambda z, a: densities.log_gamma_density(a, z),
        lambda z, a: special.gammainc(a, z),
        lambda z, a: special.gammaincc(a, z),
        lambda p, a: special.gammaincinv(a, p),
        lambda p, a: special.gammainccinv(a, p),
        ("a",),
        low=0.0,
        pdf=lambda z, a: densities.gamma_density(a, z),
    ),
    "chi2": _Formulas(
        lambda z, df: densities.log_gamma_density(df / 2, z / 2) - _LOG_2,
        lambda z, df: special.gammainc(df / 2, z / 2),
        lambda z, df: special.gammaincc(df / 2, z / 2),
        lambda p, df: 2 * special.gammaincinv(df / 2, p),
        lambda p, df: 2 * special.gammainccinv(df / 2, p),
        ("df",),
        low=0.0,
        pdf=lambda z, df: densities.gamma_density(df / 2, z / 2) / 2,
    ),
    "beta": _Formulas(
        lambda z, a, b: densities.log_beta_density(a, b, z, 1 - z),
        lambda z, a, b: special.betainc(a, b, z),
        lambda z, a, b: special.betaincc(a, b, z),
        _beta_quantile,
        lambda p, a, b: special.betainccinv(a, b, p),
        ("a", "b"),
        low=0.0,
        high=1.0,
        pdf=lambda z, a, b: densities.beta_density(a, b, z, 1 - z),
    ),
    "t": _symmetric(
        lambda z, df: densities.log_t_density(df, z), lambda z, df: special.stdtr(df, z), _t_quantile, ("df",)
    ),
}


class Distribution:
    """A continuous distribution, with its functions in `scipy.stats`.

    They take a value, the shapes of the distribution, and `loc` and `scale`, which shift and scale it. All
    arrays among these arguments are differentiable. Results are float64, and NaN where a shape or `scale`
    is not positive: Note [Parameters of distributions].

    Examples
    --------
    >>> from stride0.autograd import grad
    >>> from stride0.autograd.scipy import stats
    >>> grad(lambda mean: stats.norm.logpdf(1.0, mean, 2.0))(xp.asarray(0.0))
    Array(0.25, dtype=float64)
    """

    __all__ = ("cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf")

    def __init__(self, name: str, formulas: _Formulas) -> None:
        self.name = name
        self._formulas = formulas

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def _parameters(self, operation: str, args: tuple[Any, ...], named: dict[str, Any]) -> _Parameters:
        """Return the shape parameters, `loc` and `scale`: Note [Parameters of distributions]."""
        names = self._formulas.shapes
        order = (*names, "loc", "scale")
        given = dict(zip(order, args, strict=False))
        missing = [name for name in names if name not in given and name not in named]
        wrong = [name for name in named if name in given or name not in order]
        if missing or wrong or len(args) > len(order):
            problem = f"it is called with {len(args)} parameters by position"
            if wrong:
                problem = f"{wrong[0]} is {'given twice' if wrong[0] in given else 'not supported'}"
            elif missing:
                problem = f"{missing[0]} is missing"
            raise ArgumentTypeError(operation, problem, accepts=f"pass a value, then {', '.join(order)}")
        found = {"loc": 0.0, "scale": 1.0} | given | named
        values = {name: real(operation, name, found[name]) for name in order}
        loc = values.pop("loc")
        valid = functools.reduce(operator.and_, [value > 0 for value in values.values()])
        safe = {name: xp.where(value > 0, value, 1) for name, value in values.items()}
        scale = safe.pop("scale")
        return _Parameters(tuple(safe.values()), loc, scale, valid)

    def _at(
        self, what: str, x: Any, args: Any, named: Any, below: float, above: float, scaled: Any = None
    ) -> Array:
        """Return a formula at a shifted and scaled value, or its value beyond the ends."""
        operation = f"{self.name}.{what}"
        parameters = self._parameters(operation, args, named)
        z = _divided(real(operation, "x", x) - parameters.loc, parameters.scale)
        low, high = self._formulas.low, self._formulas.high
        under, over = (z < low) | (z == -math.inf), (z > high) | (z == math.inf)
        # A value between the ends.
        inside = min(max(low, 0.0) + 0.5, high)
        formula = getattr(self._formulas, what) or getattr(self, f"_{what}")
        found = formula(xp.where(under | over, inside, z), *parameters.shapes)
        found = xp.where(under, below, xp.where(over, above, found))
        return parameters.where_valid(scaled(found, parameters.scale) if scaled else found)

    def _pdf(self, z: Array, *shapes: Array) -> Array:
        return xp.exp(self._formulas.logpdf(z, *shapes))

    def _logcdf(self, z: Array, *shapes: Array) -> Array:
        return _logarithm(self._formulas.cdf(z, *shapes), self._formulas.sf(z, *shapes))

    def _logsf(self, z: Array, *shapes: Array) -> Array:
        return _logarithm(self._formulas.sf(z, *shapes), self._formulas.cdf(z, *shapes))

    def pdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the density."""
        return self._at("pdf", x, args, named, 0.0, 0.0, operator.truediv)

    def logpdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the logarithm of the density."""
        return self._at("logpdf", x, args, named, -math.inf, -math.inf, lambda y, scale: y - xp.log(scale))

    def cdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the probability of a smaller value."""
        return self._at("cdf", x, args, named, 0.0, 1.0)

    def sf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the probability of a larger value."""
        return self._at("sf", x, args, named, 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the logarithm of the probability of a smaller value."""
        return self._at("logcdf", x, args, named, -math.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **named: Any) -> Array:
        """Return the logarithm of the probability of a larger value."""
        return self._at("logsf", x, args, named, 0.0, -math.inf)

    def _quantile(
        self, what: str, q: Any, args: tuple[Any, ...], named: dict[str, Any], ends: tuple[float, float]
    ) -> Array:
        """Return the inverse of a probability: NaN if it is not between 0 and 1, inclusive."""
        operation = f"{self.name}.{what}"
        parameters = self._parameters(operation, args, named)
        p = real(operation, "q", q)
        at_ends = ((p == 0, p, ends[0]), (p == 1, 1 - p, ends[1]))
        taken = xp.where((p > 0) & (p < 1), p, math.nan)
        for here, _, end in at_ends:
            taken = xp.where(here, p if math.isfinite(end) else 0.5, taken)
        found = getattr(self._formulas, what)(taken, *parameters.shapes)
        for here, apart, end in at_ends:
            if math.isinf(end):
                found = xp.where(here, end - math.copysign(1, end) * _steep(here, apart), found)
        return parameters.where_valid(found * parameters.scale + parameters.loc)

    def ppf(self, q: Any, *args: Any, **named: Any) -> Array:
        """Return the value below which a given probability lies."""
        return self._quantile("ppf", q, args, named, (self._formulas.low, self._formulas.high))

    def isf(self, q: Any, *args: Any, **named: Any) -> Array:
        """Return the value above which a given probability lies."""
        return self._quantile("isf", q, args, named, (self._formulas.high, self._formulas.low))


DISTRIBUTIONS = {name: Distribution(name, formulas) for name, formulas in _TABLE.items()}
