"""Derivatives of norms of high order, and for elements that are 0 or differ much in size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, hessian, hvp, vmap
from stride0.testing import check_grad

pytest.importorskip("mpmath")

from mpmath import mp


@pytest.mark.parametrize("ord", [2, 4, 6])
def test_even_norms_are_smooth_where_an_element_is_0(ord: int) -> None:
    def norm(t: Any) -> Any:
        return xp.linalg.vector_norm(xp.stack([t, xp.asarray(1.0)]), ord=ord)

    # The series of (1 + t**ord)**(1 / ord)
    terms = {ord: 1 / ord, 2 * ord: (1 / ord) * (1 / ord - 1) / 2}
    slope = norm
    for order in range(1, min(3 * ord, 9)):
        slope = grad(slope)
        expected = terms.get(order, 0) * math.factorial(order)
        assert float(slope(xp.asarray(0.0))) == pytest.approx(expected, rel=1e-12, abs=1e-12), order


def _exact_hessian(x: list[float], ord: float) -> np.ndarray:
    with mp.workdps(700):
        n = mp.fsum([abs(mp.mpf(v)) ** ord for v in x]) ** (1 / mp.mpf(ord))
        u = [mp.mpf(v) / n for v in x]
        q = [abs(v) ** mp.mpf(ord - 2) for v in u]
        k = range(len(x))
        return np.array(
            [[float((ord - 1) / n * q[i] * ((i == j) - u[i] * q[j] * u[j])) for j in k] for i in k]
        )


@pytest.mark.parametrize("ord", [-2, -1, -0.5, 0.5, 1.25, 1.5, 2.5, 3, 4, 6])
@pytest.mark.parametrize(
    "x", [[1e-170, 3, 2], [1e170, 3, 2], [1e-170, 3e-170, -2e-170], [1e200, 3e200, 2e200], [1.0, -3, 2]]
)
def test_second_derivatives_of_norms(x: list[float], ord: float) -> None:
    def norm(x: Any) -> Any:
        return xp.linalg.vector_norm(x, ord=ord)

    at, expected = xp.asarray(x), _exact_hessian(x, ord)
    # Products of factors of very different size may underflow.
    atol = 2e-170 if min(x) == 1e-170 and ord <= -1 else 1e-250
    along = [np.asarray(hvp(norm, at, xp.asarray(row))) for row in np.eye(3)]
    batched = vmap(hessian(norm))(at[None])[0]
    for found in (np.asarray(hessian(norm)(at)), np.stack(along), np.asarray(batched)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=atol)


@pytest.mark.parametrize("ord", [-1, 1.5, 3, 4])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_third_derivatives_of_norms(ord: float, axis: Any) -> None:
    def bent(x: Any) -> Any:
        slope = grad(lambda x: xp.sum(xp.linalg.vector_norm(x, axis=axis, ord=ord)))
        return xp.sum(grad(lambda x: xp.sum(slope(x) ** 2))(x) ** 2)

    check_grad(bent, xp.asarray([[0.5, -1.5, 2.0], [1.25, 0.75, -1.0]]))
