"""Systems of linear equations and determinants of few rows: the kernels of `systems.h`."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import stride0 as xp

SIZES = [1, 2, 3, 4, 5, 8, 15, 16, 32]
EPS = 2.0**-53


def whole(n, seed=3, *lead):
    """Matrices of small whole numbers, some with zeros as first pivots."""
    a = np.random.default_rng(seed).integers(-4, 5, (*lead, n, n)).astype(float)
    a[..., 0, 0] = 0 if n > 1 else 3
    return a


def exact_determinant(a):
    rows = [[Fraction(v) for v in row] for row in a.tolist()]
    out = Fraction(1)
    for j in range(len(rows)):
        best = next((i for i in range(j, len(rows)) if rows[i][j]), None)
        if best is None:
            return Fraction(0)
        if best != j:
            rows[j], rows[best] = rows[best], rows[j]
            out = -out
        out *= rows[j][j]
        for i in range(j + 1, len(rows)):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [v - factor * w for v, w in zip(rows[i], rows[j], strict=True)]
    return out


@pytest.mark.parametrize("n", SIZES)
def test_determinants_are_those_of_exact_arithmetic(n):
    for seed in range(5):
        a = whole(n, seed)
        expected = float(exact_determinant(a))
        # Rounding errors are relative to Hadamard's bound.
        size = np.prod(np.linalg.norm(a, axis=1))
        x = xp.asarray(a)
        assert abs(float(xp.linalg.det(x)) - expected) <= 4 * n * n * EPS * size
        sign, log = xp.linalg.slogdet(x)
        if abs(expected) > 1e-3 * size:
            assert float(sign) == np.sign(expected)
            assert float(log) == pytest.approx(np.log(abs(expected)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", [None, 1, 2, 3, 4, 9])
def test_residuals_are_small_whatever_the_layout(n, columns):
    rng = np.random.default_rng(n)
    for lead in ((), (5,), (2, 3)):
        a = rng.standard_normal((*lead, n, n))
        b = rng.standard_normal((n,) if columns is None else (*lead, n, columns))
        for turned, apart in itertools.product((False, True), repeat=2):
            x, y = xp.asarray(a), xp.asarray(b)
            if turned:
                x = xp.asarray(a.swapaxes(-1, -2).copy()).mT
            if apart:
                x = xp.repeat(x, 2, axis=-1)[..., ::2]
                y = xp.repeat(y, 2, axis=-1)[..., ::2]
            found = np.asarray(xp.linalg.solve(x, y))
            sides = b[..., None] if columns is None else b
            solution = found[..., None] if columns is None else found
            bound = 8 * n * EPS * (np.abs(a).max() * np.abs(solution).max() * n + np.abs(b).max())
            assert np.abs(a @ solution - sides).max() <= bound
            inverse = np.asarray(xp.linalg.inv(x))
            assert (
                np.abs(a @ inverse - np.eye(n)).max()
                <= 8 * n * n * EPS * np.abs(a).max() * np.abs(inverse).max()
            )


def test_leading_axes_broadcast():
    rng = np.random.default_rng(1)
    assert xp.linalg.solve(xp.eye(3), xp.zeros((2, 3, 0))).shape == (2, 3, 0)
    for lead1, lead2 in (((), (2, 3)), ((2, 1), (3,)), ((4, 1, 2), (3, 1)), ((0,), ()), ((2,), ())):
        a, b = rng.standard_normal((*lead1, 3, 3)), rng.standard_normal((*lead2, 3, 2))
        got = np.asarray(xp.linalg.solve(xp.asarray(a), xp.asarray(b)))
        expected = np.linalg.solve(a, b)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_a_matrix_has_the_bits_that_it_has_in_a_stack():
    # Long enough for threads to share it.
    a = np.random.default_rng(2).standard_normal((5000, 4, 4))
    x = xp.asarray(a)
    together = [np.asarray(f(x)) for f in (xp.linalg.inv, xp.linalg.det)]
    for k in (0, 1, 2499, 4999):
        assert np.array_equal(np.asarray(xp.linalg.inv(x[k, ...])), together[0][k])
        assert float(xp.linalg.det(x[k, ...])) == together[1][k]


def test_determinants_do_not_overflow_on_the_way():
    x = xp.asarray([[1e200, 0.0, 0.0], [0.0, 1e200, 0.0], [0.0, 0.0, 1e-300]])
    assert float(xp.linalg.det(x)) == pytest.approx(1e100, rel=1e-14)
    y = xp.asarray([[1e-200, 0.0, 0.0], [0.0, 1e-200, 0.0], [0.0, 0.0, -1e300]])
    sign, log = xp.linalg.slogdet(y)
    assert float(sign) == -1
    assert float(log) == pytest.approx(-100 * np.log(10), rel=1e-14)
    assert float(xp.linalg.det(x * 1e200)) == np.inf
    # Near 1 the logarithm is near 0.
    near = xp.asarray([[1 + 1e-12, 0.0], [0.0, 1.0]])
    assert float(xp.linalg.slogdet(near)[1]) == pytest.approx(1e-12, rel=1e-3)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 16])
def test_singular_matrices(n):
    a = np.random.default_rng(n).standard_normal((n, n))
    a[:, 1] = 0
    x = xp.asarray(a)
    assert float(xp.linalg.det(x)) == 0
    assert [float(part) for part in xp.linalg.slogdet(x)] == [0, -np.inf]
    with pytest.raises(xp.linalg.LinAlgError, match="singular"):
        xp.linalg.inv(x)
    for sides in (x, x[:, 0], xp.zeros((n, 0))):
        with pytest.raises(xp.linalg.LinAlgError, match="singular"):
            xp.linalg.solve(x, sides)
    stack = xp.stack([xp.eye(n)] * 40 + [x] + [xp.eye(n)] * 40)
    with pytest.raises(xp.linalg.LinAlgError, match=r"\(40,\)"):
        xp.linalg.inv(stack)


def test_nan_and_infinity_go_to_the_result():
    for special in (np.nan, np.inf):
        a = np.eye(3)
        a[0, 1] = special
        assert not np.isfinite(np.asarray(xp.linalg.inv(xp.asarray(a)))).all()
    a = np.ones((3, 3))
    a[1, 1] = np.nan
    assert np.isnan(float(xp.linalg.det(xp.asarray(a))))


def definite(n, seed, *lead):
    """Matrices that are products of a triangle of whole numbers with its transpose, and that triangle."""
    rng = np.random.default_rng(seed)
    triangle = np.tril(rng.integers(-3, 4, (*lead, n, n)), -1) + np.eye(n) * rng.integers(1, 5, (*lead, 1, n))
    return triangle @ np.swapaxes(triangle, -1, -2), triangle


@pytest.mark.parametrize("n", SIZES)
def test_factors_of_definite_matrices(n):
    """If every step is exact, the factor is exact: in any layout, and only one triangle is read."""
    for lead in ((), (3,), (2, 5)):
        a, triangle = definite(n, n, *lead)
        upper = np.swapaxes(triangle, -1, -2)
        wide = np.repeat(np.repeat(a, 2, -1), 3, -2)
        views = [xp.asarray(a), xp.asarray(np.swapaxes(a, -1, -2).copy()).mT, xp.asarray(wide)[..., ::3, ::2]]
        for x in views:
            assert np.array_equal(np.asarray(xp.linalg.cholesky(x)), triangle)
            assert np.array_equal(np.asarray(xp.linalg.cholesky(x, upper=True)), upper)
        assert np.array_equal(
            np.asarray(xp.linalg.cholesky(xp.asarray(np.tril(a) + np.triu(a + 7, 1)))), triangle
        )
        single = xp.linalg.cholesky(xp.asarray(a.astype("float32")))
        assert single.dtype == xp.float32 and np.array_equal(np.asarray(single), triangle)


def test_factors_are_close_and_the_same_in_a_stack():
    b = np.random.default_rng(4).standard_normal((3000, 6, 9))
    a = b @ np.swapaxes(b, -1, -2)
    together = np.asarray(xp.linalg.cholesky(xp.asarray(a)))
    np.testing.assert_allclose(together, np.linalg.cholesky(a), rtol=1e-9, atol=1e-11)
    for k in (0, 1, 1499, 2999):
        assert np.array_equal(np.asarray(xp.linalg.cholesky(xp.asarray(a[k]))), together[k])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 32])
@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, -np.inf])
def test_matrices_that_are_not_definite(n, wrong):
    a, _ = definite(n, 1)
    a[n - 1, n - 1] = wrong
    message = "not positive definite" if np.isfinite(wrong) else "NaN or infinity"
    for upper in (False, True):
        with pytest.raises(xp.linalg.LinAlgError, match=message):
            xp.linalg.cholesky(xp.asarray(a), upper=upper)
        with pytest.raises(xp.linalg.LinAlgError, match=r"\(2,\)" if np.isfinite(wrong) else message):
            xp.linalg.cholesky(xp.asarray(np.stack([np.eye(n)] * 2 + [a])), upper=upper)
