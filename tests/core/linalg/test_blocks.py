"""Note [Blocked decompositions]: the definition holds, and errors are about as small as in LAPACK."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg

import stride0 as xp

BLOCK = 64
SIZES = [33, 63, 64, 65, 130, 200]
DTYPES = ["float64", "complex128"]


def fused(x, y, z):
    """``z + x * y``, rounded once."""
    return float(Fraction(z) + Fraction(x) * Fraction(y))


def less_products(start, left, right):
    """An element less a sum of products, as the note defines it: a block of terms after the other."""
    for k in range(0, len(left), BLOCK):
        total = 0.0
        for x, y in zip(left[k : k + BLOCK], right[k : k + BLOCK], strict=True):
            total = fused(x, y, total)
        start -= total
    return start


def test_factors_are_as_defined():
    n = BLOCK + 9
    b = np.random.default_rng(1).standard_normal((n, n))
    a = b @ b.T
    u = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            value = less_products(a[i, j], u[:i, i], u[:i, j])
            u[i, j] = np.sqrt(value) if i == j else value / u[i, i]
    assert np.array_equal(np.asarray(xp.linalg.cholesky(xp.asarray(a), upper=True)), u)
    x = np.zeros(n)
    for i in range(n):
        x[i] = less_products(b[i, 0], u[:i, i], x[:i]) / u[i, i]
    assert np.array_equal(np.asarray(xp.linalg.solve_triangular(xp.asarray(u).T, xp.asarray(b[:, 0]))), x)
    # From the last row on, an upper triangle is a lower one.
    upper = xp.linalg.solve_triangular(xp.asarray(u.T[::-1, ::-1].copy()), xp.asarray(b[::-1, 0]), upper=True)
    assert np.array_equal(np.asarray(upper)[::-1], x)


def fused_quotient(x, d):
    """Smith's quotient of complex numbers, by multiply-adds."""
    if abs(d.real) >= abs(d.imag):
        near, far = 1.0, d.imag / d.real
        size = fused(d.imag, far, d.real)
    else:
        near, far = d.real / d.imag, 1.0
        size = fused(d.real, near, d.imag)
    return complex(fused(far, x.imag, near * x.real) / size, fused(far, -x.real, near * x.imag) / size)


def less_complex_products(start, left, right):
    """Four sums of products of parts in each block."""
    for k in range(0, len(left), BLOCK):
        rr = ii = ri = ir = 0.0
        for x, y in zip(left[k : k + BLOCK], right[k : k + BLOCK], strict=True):
            rr, ii = fused(x.real, y.real, rr), fused(x.imag, y.imag, ii)
            ri, ir = fused(x.real, y.imag, ri), fused(x.imag, y.real, ir)
        start -= complex(rr - ii, ri + ir)
    return start


def test_complex_factors_are_as_defined():
    rng = np.random.default_rng(9)
    n = BLOCK + 9
    t, b = rng.standard_normal((2, n, n)) + 1j * rng.standard_normal((2, n, n))
    x = np.zeros(n, complex)
    for i in range(n):
        x[i] = fused_quotient(less_complex_products(b[i, 0], t[i, :i], x[:i]), t[i, i])
    assert np.array_equal(np.asarray(xp.linalg.solve_triangular(xp.asarray(t), xp.asarray(b[:, 0]))), x)
    n = 13
    a = b[:n, :n] @ b[:n, :n].conj().T
    u = np.zeros((n, n), complex)
    for i in range(n):
        for j in range(i, n):
            value = less_complex_products(a[i, j], u[:i, i].conj(), u[:i, j])
            u[i, j] = np.sqrt(value.real) if i == j else fused_quotient(value, u[i, i])
    assert np.array_equal(np.asarray(xp.linalg.cholesky(xp.asarray(a), upper=True)), u)


def test_eliminations_are_as_defined():
    n = BLOCK + 9
    a = np.random.default_rng(2).standard_normal((n, n))
    given, factors, determinant, power = a.copy(), np.zeros((n, n)), 1.0, 0
    for j in range(n):
        for i in range(n):
            few = min(i, j)
            factors[i, j] = less_products(given[i, j], factors[i, :few], factors[:few, j])
        best = j + int(np.argmax(np.abs(factors[j:, j])))
        for m in (given, factors):
            m[[j, best]] = m[[best, j]]
        factors[j + 1 :, j] /= factors[j, j]
        determinant *= 1 if best == j else -1
    for pivot in np.diagonal(factors):
        determinant, more = np.frexp(determinant * pivot)
        power += int(more)
    assert float(xp.linalg.det(xp.asarray(a))) == np.ldexp(determinant, power)


@pytest.mark.parametrize("n", [3, 17, 32])
def test_one_block_and_small_kernels_give_the_same_bits(n):
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, 2))
    s = a @ a.T
    large, definite, sides = np.eye(BLOCK), np.eye(BLOCK), np.zeros((BLOCK, 2))
    large[:n, :n], definite[:n, :n], sides[:n] = a, s, b
    x, y = xp.asarray(a), xp.asarray(large)
    assert np.array_equal(np.asarray(xp.linalg.inv(y))[:n, :n], np.asarray(xp.linalg.inv(x)))
    assert np.array_equal(
        np.asarray(xp.linalg.solve(y, xp.asarray(sides)))[:n], np.asarray(xp.linalg.solve(x, xp.asarray(b)))
    )
    assert float(xp.linalg.det(y)) == float(xp.linalg.det(x))
    factor = np.asarray(xp.linalg.cholesky(xp.asarray(definite)))
    assert np.array_equal(factor[:n, :n], np.asarray(xp.linalg.cholesky(xp.asarray(s))))


def matrices(kind, n, dtype="float64"):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n))
    if dtype == "complex128":
        a = a + 1j * rng.standard_normal((n, n))
    if kind == "graded":
        return a * np.logspace(0, -14, n)[:, None]
    if kind == "badly scaled":
        return a * 10.0 ** rng.integers(-60, 60, (n, 1)) * 10.0 ** rng.integers(-60, 60, n)
    if kind == "nearly singular":
        u, _, v = np.linalg.svd(a)
        return u * np.logspace(0, -15, n) @ v
    if kind == "Vandermonde":
        return np.vander(np.linspace(-1, 1, n).astype(dtype) * (1 if dtype == "float64" else np.exp(0.3j)))
    return a


KINDS = ["random", "graded", "badly scaled", "nearly singular", "Vandermonde"]


def backward_error(a, x, b):
    """The largest componentwise ratio of a residual to its terms: Oettli and Prager."""
    residual = a.astype(np.clongdouble) @ x - b
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(residual) / (np.abs(a).astype(np.longdouble) @ np.abs(x) + np.abs(b))
    return float(np.nanmax(ratio))


def inverse_error(a, x):
    """The residual of an inverse, relative to the norms of the matrices."""
    return np.linalg.norm(a @ x - np.eye(len(a))) / np.linalg.norm(np.abs(a) @ np.abs(x))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_backward_errors_are_at_most_twice_those_of_lapack(kind, n, dtype):
    a = matrices(kind, n, dtype)
    b = np.random.default_rng(5).standard_normal((n, 8))
    own = np.asarray(xp.linalg.solve(xp.asarray(a), xp.asarray(b)))
    assert backward_error(a, own, b) <= 2 * backward_error(a, np.linalg.solve(a, b), b) + 4 * 2.0**-53
    errors = [inverse_error(a, np.asarray(xp.linalg.inv(xp.asarray(a)))), inverse_error(a, np.linalg.inv(a))]
    assert errors[0] <= 2 * errors[1] + 4 * 2.0**-53


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangular_factors_are_as_close_as_those_of_lapack(n, dtype):
    for kind in ("random", "graded"):
        b = matrices(kind, n, dtype)
        a = b @ b.conj().T
        a += np.diag(np.diagonal(a))
        scale = np.sqrt(np.outer(np.diagonal(a), np.diagonal(a)).real)
        errors = [
            np.abs((f @ f.conj().T - a) / scale).max()
            for f in (np.asarray(xp.linalg.cholesky(xp.asarray(a))), np.linalg.cholesky(a))
        ]
        assert errors[0] <= 2 * errors[1]


@pytest.mark.parametrize("n", [40, 100, 200])
@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_that_have_no_factors(n, dtype):
    a = matrices("random", n, dtype)
    singular = a.copy()
    singular[:, n // 2] = 0
    x = xp.asarray(singular)
    assert complex(xp.linalg.det(x)) == 0
    assert [complex(part) for part in xp.linalg.slogdet(x)] == [0, -np.inf]
    stack = xp.asarray(np.stack([a, a, singular, a]))
    for call in (
        xp.linalg.inv,
        lambda x: xp.linalg.solve(x, xp.zeros((n, 0))),
        lambda x: xp.linalg.solve(x, x),
    ):
        with pytest.raises(xp.linalg.LinAlgError, match="singular"):
            call(x)
        with pytest.raises(xp.linalg.LinAlgError, match=r"\(2,\)"):
            call(stack)
    definite = a @ a.conj().T
    for wrong, message in ((-1.0, "not positive definite"), (np.nan, "NaN or infinity")):
        definite[n - 2, n - 2] = wrong
        for upper in (False, True):
            with pytest.raises(xp.linalg.LinAlgError, match=message):
                xp.linalg.cholesky(xp.asarray(definite), upper=upper)


def test_nan_and_infinity_go_to_the_result():
    for special in (np.nan, np.inf):
        a = np.eye(70)
        a[3, 60] = special
        assert not np.isfinite(np.asarray(xp.linalg.inv(xp.asarray(a)))).all()
        assert not np.isfinite(np.asarray(xp.linalg.solve(xp.asarray(a), xp.ones(70)))).all()
    a = np.ones((70, 70))
    a[1, 1] = np.nan
    assert np.isnan(float(xp.linalg.det(xp.asarray(a))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1])
def test_matrices_without_rows_and_of_one_row(n, dtype):
    x = xp.ones((3, n, n), dtype=getattr(xp, dtype))
    assert np.asarray(xp.linalg.det(x)).tolist() == [1, 1, 1]
    assert [np.asarray(part).tolist() for part in xp.linalg.slogdet(x)] == [[1, 1, 1], [0, 0, 0]]
    for call in (xp.linalg.inv, xp.linalg.cholesky, lambda x: xp.linalg.solve(x, x)):
        assert np.array_equal(np.asarray(call(x)), np.asarray(x))


def test_determinants_of_complex_matrices_that_overflow():
    for n, size in ((40, 1e30), (40, 1e-30), (200, 1e300)):
        a = matrices("random", n, "complex128")
        sign, logarithm = xp.linalg.slogdet(xp.asarray(a * size))
        expected = np.linalg.slogdet(a)
        np.testing.assert_allclose(complex(sign), expected.sign, rtol=1e-12)
        np.testing.assert_allclose(float(logarithm), expected.logabsdet + n * np.log(size), rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_has_the_bits_that_it_has_in_a_stack(dtype):
    a = np.stack([matrices("random", 70, dtype) * (k + 1) + np.eye(70) for k in range(40)])
    b = np.random.default_rng(6).standard_normal((70, 3))
    x, y = xp.asarray(a), xp.asarray(b)
    together = np.asarray(xp.linalg.inv(x)), np.asarray(xp.linalg.solve(x, y)), np.asarray(xp.linalg.det(x))
    for k in (0, 17, 39):
        one = x[k, ...]
        assert np.array_equal(np.asarray(xp.linalg.inv(one)), together[0][k])
        assert np.array_equal(np.asarray(xp.linalg.solve(one, y)), together[1][k])
        assert complex(xp.linalg.det(one)) == together[2][k]


@pytest.mark.parametrize("n", [5, 64, 65, 200])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangular_systems(n, upper, unit, dtype):
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, 1, n, n)) / n + np.eye(n), rng.standard_normal((3, n, 5))
    if dtype == "complex128":
        a, b = a + 1j * rng.standard_normal(a.shape) / n, b - 1j * b[::-1]
    triangle = np.triu(a) if upper else np.tril(a)
    if unit:
        triangle = triangle * (1 - np.eye(n)) + np.eye(n)
    results = [
        np.asarray(xp.linalg.solve_triangular(x, xp.asarray(b), upper=upper, unit_diagonal=unit))
        for x in (xp.asarray(a), xp.asarray(a.swapaxes(-1, -2).copy()).mT)
    ]
    assert np.array_equal(*results)
    np.testing.assert_allclose(triangle @ results[0], np.broadcast_to(b, (2, 3, n, 5)), atol=1e-13)
    expected = linalg.solve_triangular(triangle[1, 0], b[2], lower=not upper)
    np.testing.assert_allclose(results[0][1, 2], expected, rtol=0, atol=1e-13)
