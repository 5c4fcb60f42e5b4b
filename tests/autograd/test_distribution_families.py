"""Distributions of vectors and counts in `stride0.autograd.scipy.stats`, compared with SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0 import ArgumentValueError, ShapeError
from stride0.autograd import grad, jacobian, vmap
from stride0.autograd.scipy import patched
from stride0.autograd.scipy import stats as ours
from stride0.testing import check_grad

theirs = pytest.importorskip("scipy.stats")

RNG = np.random.default_rng(5)
ROOT = RNG.normal(size=(3, 3))
COV = ROOT @ ROOT.T + 0.5 * np.eye(3)
MEAN, POINTS = RNG.normal(size=3), RNG.normal(size=(2, 4, 3))
ALPHA = np.asarray([1.5, 0.7, 3.0])
PARTS = RNG.dirichlet(np.full(3, 5.0), size=5).T
COUNTS = np.asarray([0.0, 1.0, 4.0, -1.0, 2.5])

NORMAL: list[tuple[Any, ...]] = [
    (POINTS, MEAN, COV),
    (POINTS[0, 0], MEAN, COV),
    (POINTS, None, COV),
    (POINTS, MEAN, 2.0),
    (POINTS, MEAN, np.asarray([0.5, 1.0, 2.0])),
    (POINTS[0, :, 0], 0.3, 1.5),
    (0.7, 0.3, 1.5),
    (POINTS[:1, :1], MEAN, COV),
]


def arrays(args: tuple[Any, ...]) -> list[Any]:
    return [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in args]


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-10, atol=1e-12)
    assert np.shape(found) == np.shape(expected)


@pytest.mark.parametrize("what", ["logpdf", "pdf"])
@pytest.mark.parametrize("args", NORMAL)
def test_normal_densities(what: str, args: tuple[Any, ...]) -> None:
    close(
        getattr(ours.multivariate_normal, what)(*arrays(args)),
        getattr(theirs.multivariate_normal, what)(*args),
    )


def test_normal_entropy() -> None:
    close(
        ours.multivariate_normal.entropy(xp.asarray(MEAN), xp.asarray(COV)),
        theirs.multivariate_normal(MEAN, COV).entropy(),
    )
    close(ours.multivariate_normal.entropy(None, 2.0), theirs.multivariate_normal(0, 2.0).entropy())


def test_gradients_of_normal_densities_have_closed_forms() -> None:
    x, mean, cov = xp.asarray(POINTS[0, 0]), xp.asarray(MEAN), xp.asarray(COV)
    found = grad(ours.multivariate_normal.logpdf, (0, 1, 2))(x, mean, cov)
    inverse = np.linalg.inv(COV)
    pulled = inverse @ (POINTS[0, 0] - MEAN)
    close(found[0], -pulled)
    close(found[1], pulled)
    close(found[2], (np.outer(pulled, pulled) - inverse) / 2)
    close(grad(lambda c: ours.multivariate_normal.entropy(None, c))(cov), inverse / 2)
    close(jacobian(grad(ours.multivariate_normal.logpdf))(x, mean, cov), -inverse)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "normal": (lambda x, m, r: ours.multivariate_normal.pdf(x, m, r @ r.T), (POINTS, MEAN, ROOT)),
    "normal, variances": (ours.multivariate_normal.logpdf, (POINTS, MEAN, np.asarray([0.5, 1.0, 2.0]))),
    "entropy": (lambda r: ours.multivariate_normal.entropy(None, r @ r.T), (ROOT,)),
    "dirichlet by parts": (lambda x, a: ours.dirichlet.pdf(x / xp.sum(x, axis=0), a), (PARTS, ALPHA)),
    "dirichlet by two parts": (ours.dirichlet.logpdf, (PARTS[:2], ALPHA)),
    "poisson": (lambda mu: ours.poisson.logpmf(xp.asarray(COUNTS[:3]), mu), (np.asarray([0.5, 2.0, 3.0]),)),
    "poisson pmf": (lambda mu: ours.poisson.pmf(xp.asarray(COUNTS), mu), (np.asarray(1.7),)),
    "poisson cdf": (lambda mu: ours.poisson.cdf(xp.asarray(COUNTS), mu), (np.asarray(1.7),)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_differences(name: str) -> None:
    f, args = FUNCTIONS[name]
    check_grad(f, *arrays(args), order=2)


@pytest.mark.parametrize("what", ["logpdf", "pdf"])
@pytest.mark.parametrize("x", [PARTS, PARTS[:, 0], PARTS[:2], PARTS[:2, 0]], ids=str)
def test_dirichlet_densities(what: str, x: Any) -> None:
    close(getattr(ours.dirichlet, what)(*arrays((x, ALPHA))), getattr(theirs.dirichlet, what)(x, ALPHA))


@pytest.mark.parametrize("what", ["logpmf", "pmf", "cdf"])
@pytest.mark.parametrize("mu", [0.0, 0.3, 12.0, -1.0])
@pytest.mark.parametrize("loc", [0, 2])
def test_poisson_probabilities(what: str, mu: float, loc: int) -> None:
    k = np.asarray([*COUNTS, 30.0, 2.0])
    close(getattr(ours.poisson, what)(xp.asarray(k), mu, loc), getattr(theirs.poisson, what)(k, mu, loc))


def test_the_derivative_of_a_count_of_zero_at_a_mean_of_zero() -> None:
    assert float(grad(lambda mu: ours.poisson.logpmf(0.0, mu))(xp.asarray(0.0))) == -1
    assert float(grad(lambda mu: ours.poisson.logpmf(-1.0, mu))(xp.asarray(2.0))) == 0
    assert math.isinf(float(ours.poisson.logpmf(-1.0, 2.0)))


def test_batches() -> None:
    x, cov = xp.asarray(POINTS[0]), xp.asarray(COV)
    close(
        vmap(lambda x: ours.multivariate_normal.logpdf(x, None, cov))(x),
        ours.multivariate_normal.logpdf(x, None, cov),
    )
    mu = xp.asarray([0.5, 2.0])
    close(vmap(lambda mu: ours.poisson.pmf(3.0, mu))(mu), ours.poisson.pmf(3.0, mu))


def test_patched_functions_are_differentiable() -> None:
    x, cov = xp.asarray(MEAN), xp.asarray(COV)
    with patched():
        close(grad(lambda mu: theirs.poisson.logpmf(3, mu))(xp.asarray(2.0)), 0.5)
        found = grad(theirs.multivariate_normal.logpdf)(x, None, cov)
        close(theirs.poisson.pmf(3, 2.0), np.exp(-2) * 8 / 6)
    close(found, -np.linalg.inv(COV) @ MEAN)


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="allow_singular"):
        ours.multivariate_normal.logpdf(xp.asarray(MEAN), None, xp.asarray(COV), allow_singular=True)
    with pytest.raises(ShapeError, match="cov"):
        ours.multivariate_normal.logpdf(xp.asarray(MEAN), None, xp.ones((2, 3)))
    with pytest.raises(xp.linalg.LinAlgError):
        ours.multivariate_normal.logpdf(xp.asarray(MEAN), None, -xp.asarray(COV))
    with pytest.raises(ArgumentValueError, match="dirichlet"):
        ours.dirichlet.logpdf(xp.asarray([0.5, 0.2, 0.2]), xp.asarray(ALPHA))
    with pytest.raises(AttributeError, match="poisson has no differentiable form of 'ppf'"):
        _ = ours.poisson.ppf
