"""Second derivatives at eigenvalues and singular values that are close to each other.

A loss that depends on the choice of vectors has second derivatives that grow with 1 / gap**2. A loss that
does not depend on it has the derivatives of a function of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import Tape, grad, hvp, jvp
from stride0.linalg import LinAlgError

GAPS = [1e-2, 1e-3, 1e-5, 1e-6, 1e-7, 1e-9, 1e-11]
RNG = np.random.default_rng(71)
WEIGHTS = np.array([1.0, 2.0, 3.0])
STEP = RNG.normal(size=(3, 3))
SYMMETRIC = (STEP + STEP.T) / 2


def by_tape(f: Callable[[Any], Any], a: Any, step: Any) -> Any:
    with Tape() as tape:
        x = tape.watch(a)
        y = xp.sum(tape.gradient(f(x), x) * step)
    return tape.gradient(y, x)


SECOND: dict[str, Callable[[Any, Any, Any], Any]] = {
    "hvp": hvp,
    "gradient of a gradient": lambda f, a, step: grad(lambda x: xp.sum(grad(f)(x) * step))(a),
    "jvp of a gradient": lambda f, a, step: jvp(grad(f), (a,), (step,))[1],
    "tape": by_tape,
}


def quartic(a: Any) -> Any:
    return xp.sum(xp.linalg.eigh(a)[1][0, :] ** 4 * xp.asarray(WEIGHTS, dtype=a.dtype))


def quartic_hvp(w: Any, step: Any) -> Any:
    """At a diagonal matrix: v_0j is x_0j / (w_j - w_0) + ..., and v_00**4 is 1 - 2 * sum of v_0j**2 + ..."""
    found = np.zeros((3, 3))
    found[0, 1:] = -2 * WEIGHTS[0] * step[0, 1:] / (w[1:] - w[0]) ** 2
    return found + found.T


@pytest.mark.parametrize("mode", SECOND)
@pytest.mark.parametrize("gap", GAPS)
def test_eigenvectors(gap: float, mode: str) -> None:
    w = np.array([1.0, 1.0 + gap, 2.0])
    got = np.asarray(SECOND[mode](quartic, xp.asarray(np.diag(w)), xp.asarray(SYMMETRIC)))
    expected = quartic_hvp(w, SYMMETRIC)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12 * np.max(np.abs(expected)))


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-4, 1e-5])
def test_eigenvectors_in_single_precision(gap: float) -> None:
    w = np.array([1.0, 1.0 + gap, 2.0], dtype=np.float32)
    step = SYMMETRIC.astype(np.float32)
    expected = quartic_hvp(w.astype(float), step.astype(float))
    got = np.asarray(hvp(quartic, xp.asarray(np.diag(w)), xp.asarray(step)))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.max(np.abs(expected)))


@pytest.mark.parametrize("gap", GAPS)
def test_a_factor_that_is_zero_at_the_matrix(gap: float) -> None:
    """If f(w) is 0, the gradient of f(w) * g(v) is g(v) times the gradient of f(w)."""
    w = np.array([1.0, 1.0 + gap, 2.0])
    turn = np.eye(3)
    turn[:2, :2] = [[0.6, -0.8], [0.8, 0.6]]
    a = (turn * w) @ turn.T
    values, vectors = np.linalg.eigh(a)

    def loss(a: Any) -> Any:
        w, v = xp.linalg.eigh(a)
        return (w[2] - xp.asarray(values[2])) * v[0, 0] ** 4

    # A step that changes the last value but no vector.
    step = np.zeros((3, 3))
    step[2, 2] = 1.0
    x, y = vectors[0, 0], vectors[0, 1]
    pair = 4 * x**3 * y / (values[0] - values[1])
    inner = np.zeros((3, 3))
    inner[0, 1] = inner[1, 0] = pair / 2
    expected = vectors @ inner @ vectors.T
    got = np.asarray(hvp(loss, xp.asarray(a), xp.asarray(step)))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7 * np.max(np.abs(expected)) + 1e-9)


@pytest.mark.parametrize("mode", SECOND)
@pytest.mark.parametrize("gap", GAPS)
def test_singular_vectors(gap: float, mode: str) -> None:
    """Of u_00**4 at a diagonal matrix: u_01 is (s_1 x_01 + s_0 x_10) / (s_1**2 - s_0**2) + ..."""
    s = np.array([4.0, 2.0 + gap, 2.0])

    def loss(a: Any) -> Any:
        return xp.linalg.svd(a)[0][1, 1] ** 4

    a = np.diag(s)
    got = np.asarray(SECOND[mode](loss, xp.asarray(a), xp.asarray(STEP)))
    expected = np.zeros((3, 3))
    for j in (0, 2):
        # (s_j - s_1) (s_j + s_1) keeps the digits of the gap.
        over = (s[j] - s[1]) * (s[j] + s[1])
        turn = (s[j] * STEP[1, j] + s[1] * STEP[j, 1]) / over
        expected[1, j] -= 4 * turn * s[j] / over
        expected[j, 1] -= 4 * turn * s[1] / over
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("decomposition", ["eigh", "eig", "svd"])
def test_functions_of_the_matrix(decomposition: str, gap: float) -> None:
    """They keep their digits: the limit replaces the quotient."""
    turn = np.linalg.qr(STEP)[0]
    a = (turn * np.array([1.0, 1.0 + gap, 2.0])) @ turn.T
    a = xp.asarray((a + a.T) / 2)

    def cube(a: Any) -> Any:
        if decomposition == "svd":
            u, s, vh = xp.linalg.svd(a)
            return (u * s**3) @ vh
        b = (a + a.mT) / 2
        if decomposition == "eigh":
            w, v = xp.linalg.eigh(b)
            return (v * w**3) @ v.mT
        w, v = xp.linalg.eig(b)
        return xp.real((v * w**3) @ xp.linalg.inv(v))

    def exact(a: Any) -> Any:
        b = a if decomposition == "svd" else (a + a.mT) / 2
        return b @ b.mT @ b

    def loss(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda a: xp.sum((f(a) - xp.asarray(STEP)) ** 2)

    got, expected = (np.asarray(hvp(loss(f), a, xp.asarray(STEP))) for f in (cube, exact))
    # The quotient loses digits with 1 / gap, and its derivative with 1 / gap**2.
    tolerance = 1e-9 if gap < 5e-6 else 1e-15 / gap**2 + 1e-11
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.max(np.abs(expected)))


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
def test_the_nuclear_norm_has_no_second_derivative_at_singular_matrices(values: list[float]) -> None:
    """Along a line it is the absolute value of a number."""
    a = xp.asarray(np.diag(values))
    for loss in (lambda a: xp.sum(xp.linalg.svd(a)[1]), lambda a: xp.sum(xp.linalg.svdvals(a))):
        assert np.all(np.isfinite(np.asarray(grad(loss)(a))))
        with pytest.raises(LinAlgError, match=r"repeat or are 0.*not differentiable here"):
            hvp(loss, a, xp.asarray(STEP))
