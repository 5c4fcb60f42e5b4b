"""Distributions of vectors and of counts in `stride0.autograd.scipy.stats`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import require
from stride0.autograd.scipy._distributions import real

__all__ = ["FAMILIES"]


class Family:
    """A distribution of vectors or counts; its functions are attributes."""

    def __init__(self, name: str, *functions: Callable[..., Array]) -> None:
        self.name = name
        self.__all__ = tuple(sorted(function.__name__ for function in functions))
        vars(self).update({function.__name__: function for function in functions})

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(self.__all__)
        raise AttributeError(f"{self.name} has no differentiable form of {name!r}: use one of {known}")


def _factor(cov: Any, d: int, allow_singular: bool) -> Array:
    """Return the Cholesky factor of a covariance matrix, in any form that SciPy takes."""
    operation = "multivariate_normal"
    if allow_singular:
        raise ArgumentValueError(operation, "allow_singular is true", accepts="pass a positive definite cov")
    cov = real(operation, "cov", cov)
    if cov.ndim < 2:
        cov = xp.eye(d, dtype=cov.dtype) * cov
    require(cov.shape == (d, d), operation, "cov", cov, f"shape ({d}, {d})")
    return xp.linalg.cholesky((cov + cov.T) / 2)


def _size(factor: Array) -> Array:
    return xp.sum(xp.log(xp.linalg.diagonal(factor))) + factor.shape[0] * math.log(2 * math.pi) / 2


def _dimension(mean: Any, cov: Any) -> int:
    """Return the number of variables, which SciPy takes from the parameters only."""
    shapes = [xp.asarray(x).shape for x in (mean, cov) if x is not None]
    return max((shape[-1] for shape in shapes if shape), default=1)


def _squeezed(found: Array, shape: tuple[int, ...]) -> Array:
    """Return a result in a shape without axes of length 1, as SciPy does."""
    return xp.reshape(found, tuple(n for n in shape if n != 1))


class _Normal:
    @staticmethod
    def logpdf(x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Array:
        """Return the logarithm of the density at points, whose last axis has the variables."""
        d = _dimension(mean, cov)
        x = real("multivariate_normal", "x", x)
        mean = real("multivariate_normal", "mean", 0.0 if mean is None else mean)
        if x.ndim == 0 or (d == 1 and x.ndim == 1):
            x = x[..., None]
        require(x.shape[-1] == d, "multivariate_normal", "x", x, f"shape (..., {d})")
        factor = _factor(cov, d, allow_singular)
        apart = xp.reshape(x - mean, (-1, d))
        whitened = xp.linalg.solve_triangular(factor, apart.T, upper=False)
        return _squeezed(-xp.sum(whitened * whitened, axis=0) / 2 - _size(factor), x.shape[:-1])

    @staticmethod
    def pdf(x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Array:
        """Return the density at points, whose last axis has the variables."""
        return xp.exp(_Normal.logpdf(x, mean, cov, allow_singular))

    @staticmethod
    def entropy(mean: Any = None, cov: Any = 1.0) -> Array:
        """Return the entropy; it does not depend on `mean`."""
        d = _dimension(mean, cov)
        return _size(_factor(cov, d, False)) + d / 2


class _Dirichlet:
    @staticmethod
    def logpdf(x: Any, alpha: Any) -> Array:
        """Return the logarithm of the density at points; the first axis has K or K - 1 shares of 1."""
        alpha, x = real("dirichlet", "alpha", alpha), real("dirichlet", "x", x)
        require(alpha.ndim == 1, "dirichlet", "alpha", alpha, "shape (K,)")
        k = alpha.shape[0]
        if x.ndim and x.shape[0] == k - 1:
            x = xp.concat([x, 1 - xp.sum(x, axis=0, keepdims=True)])
        require(x.ndim > 0 and x.shape[0] == k, "dirichlet", "x", x, f"shape ({k}, ...)")
        if bool(xp.any(alpha <= 0)) or bool(xp.any(x < 0)) or bool(xp.any(abs(xp.sum(x, axis=0) - 1) > 1e-8)):
            raise ArgumentValueError(
                "dirichlet",
                "alpha or x is not positive, or x does not sum to 1",
                accepts="pass positive numbers, and x / sum(x) for x",
            )
        powers = xp.reshape(alpha - 1, (k, *(1,) * (x.ndim - 1)))
        constant = xp.sum(xp.special.gammaln(alpha)) - xp.special.gammaln(xp.sum(alpha))
        return _squeezed(xp.sum(xp.special.xlogy(powers, x), axis=0) - constant, x.shape[1:])

    @staticmethod
    def pdf(x: Any, alpha: Any) -> Array:
        """Return the density at points, whose first axis has K or K - 1 parts of 1."""
        return xp.exp(_Dirichlet.logpdf(x, alpha))


class _Poisson:
    @staticmethod
    def logpmf(k: Any, mu: Any, loc: int = 0) -> Array:
        """Return the logarithm of the probability of a count; differentiable by `mu`."""
        k, mu = xp.autograd.stop_gradient(real("poisson", "k", k)) - loc, real("poisson", "mu", mu)
        possible, valid = (k >= 0) & (xp.floor(k) == k), mu >= 0
        count, mean = xp.where(possible, k, 0), xp.where(valid, mu, 1)
        found = xp.special.xlogy(count, mean) - mean - xp.special.gammaln(count + 1)
        return xp.where(valid, xp.where(possible, found, -math.inf), math.nan)

    @staticmethod
    def pmf(k: Any, mu: Any, loc: int = 0) -> Array:
        """Return the probability of a count; differentiable by `mu`."""
        return xp.exp(_Poisson.logpmf(k, mu, loc))

    @staticmethod
    def cdf(k: Any, mu: Any, loc: int = 0) -> Array:
        """Return the probability of at most a count; differentiable by `mu`."""
        k, mu = xp.floor(xp.autograd.stop_gradient(real("poisson", "k", k)) - loc), real("poisson", "mu", mu)
        valid = mu >= 0
        found = xp.special.gammaincc(xp.where(k >= 0, k, 0) + 1, xp.where(valid, mu, 1))
        return xp.where(valid, xp.where(k >= 0, found, 0), math.nan)


FAMILIES = {
    family.name: family
    for family in (
        Family("multivariate_normal", _Normal.logpdf, _Normal.pdf, _Normal.entropy),
        Family("dirichlet", _Dirichlet.logpdf, _Dirichlet.pdf),
        Family("poisson", _Poisson.logpmf, _Poisson.pmf, _Poisson.cdf),
    )
}
