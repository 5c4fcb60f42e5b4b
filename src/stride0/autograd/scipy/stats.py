"""Differentiable forms of functions of `scipy.stats`.

Examples
--------
>>> from stride0.autograd.scipy import stats
>>> x = xp.asarray([1.0, 3.0])
>>> xp.autograd.grad(lambda mean: xp.sum(stats.norm.logpdf(x, mean)))(xp.asarray(0.0)).round(6)
Array(4., dtype=float64)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import floating, line, one_of, require, same_dtype
from stride0.autograd.scipy._calls import batched, from_numpy, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._distributions import DISTRIBUTIONS
from stride0.autograd.scipy._families import FAMILIES

__all__ = ["boxcox", "cramervonmises", "gaussian_kde", "ks_1samp", *DISTRIBUTIONS]
__all__ += FAMILIES

norm, expon, uniform = (DISTRIBUTIONS[name] for name in ("norm", "expon", "uniform"))
logistic, laplace, cauchy = (DISTRIBUTIONS[name] for name in ("logistic", "laplace", "cauchy"))
lognorm, gamma, chi2 = (DISTRIBUTIONS[name] for name in ("lognorm", "gamma", "chi2"))
beta, t = DISTRIBUTIONS["beta"], DISTRIBUTIONS["t"]
multivariate_normal, dirichlet, poisson = FAMILIES.values()


def boxcox(x: Any, lmbda: Any = None, alpha: None = None) -> Array:
    """Transform by a power: `scipy.stats.boxcox`.

    Differentiable by `x`, and by `lmbda` if it is an array. `alpha` is not supported.
    """
    if lmbda is None or alpha is not None:
        raise ArgumentValueError(
            "boxcox", "lmbda is None, and an lmbda chosen from x has no derivative", accepts="pass lmbda"
        )
    x = floating("boxcox", "x", x)
    return xp.special.boxcox(x, xp.asarray(lmbda, dtype=x.dtype))


class gaussian_kde:
    """Estimate a density by a sum of Gaussians: `scipy.stats.gaussian_kde`.

    Differentiable by `dataset`, `weights` and an array `bw_method`. Has `evaluate`, `pdf` and `logpdf`.
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        x = floating("gaussian_kde", "dataset", dataset)
        x = x[None, :] if x.ndim == 1 else x
        require(
            x.ndim == 2 and x.shape[1] >= 2, "gaussian_kde", "dataset", x, "shape (D, N), and N of 2 or more"
        )
        self.dataset = x
        self.d, self.n = x.shape
        if weights is None:
            self.weights = xp.full((self.n,), 1 / self.n, dtype=x.dtype)
        else:
            w = floating("gaussian_kde", "weights", weights)
            require(w.shape == (self.n,), "gaussian_kde", "weights", w, f"shape ({self.n},)")
            self.weights = w / xp.sum(w)
        self.neff = 1 / xp.sum(self.weights * self.weights)
        if bw_method is None or isinstance(bw_method, str):
            one_of("gaussian_kde", "bw_method", bw_method, (None, "scott", "silverman"))
            count = self.neff * ((self.d + 2) / 4) if bw_method == "silverman" else self.neff
            self.factor = count ** (-1 / (self.d + 4))
        elif callable(bw_method):
            self.factor = xp.asarray(bw_method(self))
        else:
            self.factor = floating("gaussian_kde", "bw_method", bw_method)
        apart = x - xp.sum(self.weights * x, axis=1, keepdims=True)
        spread = xp.matmul(self.weights * apart, apart.T) / (1 - xp.sum(self.weights * self.weights))
        self.covariance = spread * self.factor**2

    def logpdf(self, x: Any) -> Array:
        """Return the logarithm of the density at points, of shape (D, M)."""
        points, data = same_dtype(floating("gaussian_kde", "x", x), self.dataset)
        points = xp.reshape(points, (1, -1)) if points.ndim < 2 else points
        if points.shape[0] != self.d:
            # SciPy treats an array in the shape of one point as one point.
            require(points.shape == (1, self.d), "gaussian_kde", "x", points, f"shape ({self.d}, M)")
            points = points.T
        factor = xp.linalg.cholesky(self.covariance)
        apart = points[:, :, None] - data[:, None, :]
        whitened = xp.linalg.solve_triangular(factor, xp.reshape(apart, (self.d, -1)), upper=False)
        energy = xp.reshape(xp.sum(whitened * whitened, axis=0), apart.shape[1:]) / 2
        size = xp.sum(xp.log(xp.linalg.diagonal(factor))) + self.d * math.log(2 * math.pi) / 2
        return xp.special.logsumexp(xp.log(self.weights) - energy, axis=1) - size

    def evaluate(self, points: Any) -> Array:
        """Return the density at points, of shape (D, M)."""
        return xp.exp(self.logpdf(points))

    __call__ = pdf = evaluate


# --- tests of one sample


class TestResult(NamedTuple):
    """Result of a test."""

    statistic: Array
    pvalue: Array


class _WithoutProbability:
    """Result of a test whose p-value has no derivative."""

    def __init__(self, operation: str, statistic: Array) -> None:
        self._operation, self.statistic = operation, statistic

    @property
    def pvalue(self) -> Array:
        raise GradientError(
            self._operation,
            "the p-value has no derivative, because SciPy computes it by a series",
            accepts="use the statistic, or pass stop_gradient(x)",
        )


def _sample(operation: str, x: Any, cdf: Any, args: Any) -> tuple[Array, Array]:
    """Return a sorted sample, and the distribution function there."""
    x = line(operation, "x", x)
    if isinstance(cdf, str):
        cdf = DISTRIBUTIONS[one_of(operation, "cdf", cdf, tuple(DISTRIBUTIONS))].cdf
    x = xp.sort(x)
    return x, xp.asarray(cdf(x, *args))


@recorded("stats")
def _of_distribution(x: Array, what: str, name: str, args: tuple[int, ...]) -> Array:
    """Return the probability of a larger value, "sf", or the density, "pdf"."""
    return from_numpy(getattr(getattr(scipy("stats"), name), what)(to_numpy(x), *args))


def _of_density(g: Array, x: Array, what: str, name: str, args: tuple[int, ...]) -> Array:
    if what == "pdf":
        raise GradientError("ks_1samp", "the p-value has no second derivative", accepts="use the statistic")
    return -g * _of_distribution(x, "pdf", name, args)


rules(_of_distribution, x=_of_density)
batched(_of_distribution, lambda level, x, *given: _of_distribution(level.value(x), *given))


def _tail(x: Array, name: str, *args: int) -> Array:
    return _of_distribution(x, "sf", name, args)


def ks_1samp(
    x: Any, cdf: Any, args: tuple[Any, ...] = (), alternative: str = "two-sided", method: str = "auto"
) -> TestResult:
    """Run the Kolmogorov-Smirnov test of a sample against a distribution: `scipy.stats.ks_1samp`.

    Differentiable by `x` and `args`; the p-value has a first derivative only. `cdf` may be the name of a
    distribution of this module.
    """
    one_of("ks_1samp", "method", method, ("auto", "exact", "approx", "asymp"))
    side = one_of("ks_1samp", "alternative", alternative, ("two-sided", "less", "greater"))
    x, values = _sample("ks_1samp", x, cdf, args)
    n = x.shape[0]
    steps = xp.arange(n, dtype=values.dtype) / n
    above, below = xp.max(steps + 1 / n - values), xp.max(values - steps)
    if side != "two-sided":
        found = above if side == "greater" else below
        return TestResult(found, _tail(found, "ksone", n))
    found = xp.maximum(above, below)
    if method == "approx":
        return TestResult(found, xp.clip(2 * _tail(found, "ksone", n), 0.0, 1.0))
    if method == "asymp":
        return TestResult(found, _tail(found * math.sqrt(n), "kstwobign"))
    return TestResult(found, xp.clip(_tail(found, "kstwo", n), 0.0, 1.0))


def cramervonmises(rvs: Any, cdf: Any, args: tuple[Any, ...] = ()) -> Any:
    """Run the Cramér-von Mises test of a sample against a distribution: `scipy.stats.cramervonmises`.

    ``statistic`` is differentiable by `rvs` and `args`. Reading ``pvalue``, which has no derivative, raises a
    `GradientError`.
    """
    x, values = _sample("cramervonmises", rvs, cdf, args)
    n = x.shape[0]
    if n < 2:
        raise ArgumentTypeError("cramervonmises", "there is only one observation", (), "pass at least two")
    middles = (2 * xp.arange(n, dtype=values.dtype) + 1) / (2 * n)
    return _WithoutProbability("cramervonmises", 1 / (12 * n) + xp.sum((middles - values) ** 2))
