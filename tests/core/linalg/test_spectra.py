"""Eigenvalues and singular values by our kernels, within `reproducible`, compared with LAPACK.

Note [Eigenvalues] of `linalg/spectra.pxi` has the algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp

EPSILON = np.finfo(float).eps
SIZES = [1, 2, 3, 5, 8, 9, 33, 100]
KINDS = [
    "random",
    "graded",
    "clustered",
    "repeated",
    "rows scaled",
    "columns scaled",
    "tiny",
    "huge",
    "rank 1",
    "zero",
]


@pytest.fixture(autouse=True)
def within_the_mode() -> Iterator[None]:
    with xp.reproducible():
        yield


def matrix(kind: str, m: int, n: int, dtype: str = "float64") -> Any:
    """A matrix of a kind. A complex matrix has rows and columns times numbers of absolute value 1."""
    a = real_matrix(kind, m, n)
    if dtype == "float64":
        return a
    angles = np.random.default_rng(m + n).random(m + n)
    return a * np.exp(6j * angles[:m, None]) * np.exp(6j * angles[m:])


def real_matrix(kind: str, m: int, n: int) -> Any:
    rng = np.random.default_rng(m + 100 * n)
    few = min(m, n)
    x = rng.standard_normal((m, n))
    u, v = np.linalg.qr(rng.standard_normal((m, few)))[0], np.linalg.qr(rng.standard_normal((n, few)))[0]
    values = {
        "graded": np.logspace(0, -16, few),
        "clustered": 1 + 1e-10 * rng.random(few),
        "repeated": np.repeat([1.0, 2.0], [few // 2, few - few // 2]),
    }
    if kind in values:
        return (u * values[kind]) @ v.T
    return {
        "random": x,
        "rows scaled": x * np.logspace(-150, 150, m)[:, None],
        "columns scaled": x * np.logspace(150, -150, n),
        "tiny": x * 1e-300,
        "huge": x * 1e306,
        "rank 1": np.ones((m, n)),
        "zero": np.zeros((m, n)),
    }[kind]


def error(product: Any, a: Any) -> float:
    """The distance from a matrix to its product of factors, in units of roundoff of its norm."""
    return float(np.linalg.norm(product - a) / (EPSILON * (np.linalg.norm(a, 2) or 1)))


def skewness(v: Any) -> float:
    """How far the columns are from orthonormal vectors, in units of roundoff."""
    return float(np.linalg.norm(v.conj().T @ v - np.eye(v.shape[1])) / EPSILON)


def assert_about(found: float, of_lapack: float, n: int) -> None:
    assert found <= 2.5 * of_lapack + 4 * n**0.5, (found, of_lapack)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors(n: int, kind: str, dtype: str) -> None:
    a = matrix(kind, n, n, dtype)
    a = a / 2 + a.conj().T / 2
    size = np.abs(a).max() or 1.0
    w, v = map(np.asarray, xp.linalg.eigh(xp.asarray(a)))
    expected, vectors = np.linalg.eigh(a)
    assert (np.diff(w) >= 0).all()
    np.testing.assert_array_equal(w, xp.linalg.eigvalsh(xp.asarray(a)))
    np.testing.assert_allclose(
        w / size, expected / size, rtol=0, atol=40 * n**0.5 * EPSILON * np.abs(expected / size).max()
    )
    scaled = a / size
    assert_about(
        error(v * (w / size) @ v.conj().T, scaled),
        error(vectors * (expected / size) @ vectors.conj().T, scaled),
        n,
    )
    assert_about(skewness(v), skewness(vectors), n)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m, n", [*zip(SIZES, SIZES, strict=True), (9, 2), (2, 9), (60, 40), (40, 60)])
def test_singular_vectors(m: int, n: int, kind: str, dtype: str) -> None:
    a, few = matrix(kind, m, n, dtype), min(m, n)
    size = np.abs(a).max() or 1.0
    expected = np.linalg.svd(a / size, full_matrices=True)
    for full in (True, False):
        u, s, vh = map(np.asarray, xp.linalg.svd(xp.asarray(a), full_matrices=full))
        assert (np.diff(s) <= 0).all() and not np.signbit(s).any()
        assert u.shape == (m, m if full else few) and vh.shape == (n if full else few, n)
        of_lapack = error(expected[0][:, :few] * expected[1] @ expected[2][:few], a / size)
        assert_about(error(u[:, :few] * (s / size) @ vh[:few], a / size), of_lapack, max(m, n))
        assert_about(skewness(u), skewness(expected[0]), m)
        assert_about(skewness(vh.conj().T), skewness(expected[2].conj().T), n)
    if m < 2 * n:  # taller matrices are reduced to squares first
        np.testing.assert_array_equal(s, xp.linalg.svdvals(xp.asarray(a)))
    np.testing.assert_allclose(
        s / size, expected[1], rtol=0, atol=40 * few**0.5 * EPSILON * expected[1].max(initial=0)
    )


def general(kind: str, n: int) -> Any:
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, n))
    powers = np.logspace(-10, 10, n)
    return {
        "random": x,
        "symmetric": x + x.T,
        "skew": x - x.T,
        "graded": x * np.logspace(0, -12, n)[:, None],
        "upper": np.triu(x),
        "lower": np.tril(x),
        "Jordan": 2 * np.eye(n) + np.eye(n, k=-1),
        "companion": np.vstack([-x[:1], np.eye(n)[:-1]]),
        "cyclic": np.roll(np.eye(n), 1, 0),
        "unbalanced": x * powers[:, None] / powers,
        "pairs": np.kron(np.eye((n + 1) // 2), [[1.0, 2.0], [-3.0, 1.0]])[:n, :n],
        "tiny": x * 1e-305,
        "huge": x * 1e306,
        "rank 1": np.ones((n, n)),
        "zero": np.zeros((n, n)),
    }[kind]


GENERAL = [
    "random",
    "symmetric",
    "skew",
    "graded",
    "upper",
    "lower",
    "Jordan",
    "companion",
    "cyclic",
    "unbalanced",
]


@pytest.mark.parametrize("kind", [*GENERAL, "pairs", "tiny", "huge", "rank 1", "zero"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_eigenvectors_of_any_matrix(n: int, kind: str, dtype: str) -> None:
    a = general(kind, n)
    size = np.abs(a).max() or 1.0
    if dtype == "complex128":
        a = a * np.exp(6j * np.random.default_rng(n).random((n, n)))
    w, v = map(np.asarray, xp.linalg.eig(xp.asarray(a)))
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1, rtol=0, atol=20 * EPSILON)
    if dtype == "float64":
        # Eigenvalues of a real matrix are real numbers and exact pairs.
        np.testing.assert_array_equal(np.sort_complex(w), np.sort_complex(w.conj()))
        pairs = np.flatnonzero(w.imag > 0)
        np.testing.assert_array_equal(v[:, pairs + 1], v[:, pairs].conj())
        assert not v[:, w.imag == 0].imag.any()
    expected, vectors = np.linalg.eig(a)
    scaled = a / size
    of_lapack = error(vectors * (expected / size), scaled @ vectors)
    found = np.linalg.norm(v * (w / size) - scaled @ v) / (EPSILON * (np.linalg.norm(scaled, 2) or 1))
    assert_about(found, of_lapack * np.linalg.norm(scaled @ vectors, 2) / (np.linalg.norm(scaled, 2) or 1), n)
    if kind in ("symmetric", "skew", "upper", "lower", "random"):
        # Without vectors, rows outside of a block are left as they are.
        only = np.asarray(xp.linalg.eigvals(xp.asarray(a)))
        for values in (only, expected):
            distance = np.abs(values[:, None] - w).min(axis=1).max()
            assert distance <= 1e-11 * np.abs(w).max(initial=0)


@pytest.mark.parametrize("factor", [1, 1j])
def test_eigenvalues_of_triangles_are_exact(factor: complex) -> None:
    """Balancing isolates them by exchanges of rows and columns."""
    rng = np.random.default_rng(3)
    order = rng.permutation(20)
    a = np.tril(rng.standard_normal((20, 20))) * factor
    found = np.asarray(xp.linalg.eigvals(xp.asarray(a[order][:, order])))
    np.testing.assert_array_equal(np.sort_complex(found), np.sort_complex(np.diagonal(a)))


def test_small_singular_values_of_a_bidiagonal_matrix() -> None:
    """Zero shifts keep the relative accuracy of tiny values: the product of all values is the determinant."""
    d = np.logspace(0, -120, 30)
    s = np.asarray(xp.linalg.svdvals(xp.asarray(np.diag(d) + np.diag(0.5 * d[:-1], 1))))
    np.testing.assert_allclose(np.log(s).sum(), np.log(d).sum(), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(
    "shape", [(0, 0), (0, 3, 3), (2, 0, 0), (3, 2, 5, 5), (4, 0, 3), (2, 3, 0), (6, 4, 2), (300, 4, 4)]
)
def test_stacks(shape: tuple[int, ...], dtype: str) -> None:
    """Each matrix of a stack, in any layout, has the bits that it has without the others."""
    rng, real = np.random.default_rng(1), np.finfo(dtype).dtype.name
    a = (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype[0] == "c" else 0)).astype(
        dtype
    )
    x = xp.asarray(np.asfortranarray(a))
    u, s, vh = xp.linalg.svd(x)
    assert [r.dtype.name for r in (u, s, vh)] == [dtype, real, dtype]
    expected = np.linalg.svd(a)
    assert (u.shape, s.shape, vh.shape) == tuple(r.shape for r in expected)
    for index in np.ndindex(shape[:-2]):
        alone = xp.linalg.svd(xp.asarray(a[index]))
        assert all(
            (np.asarray(r[index]) == np.asarray(one)).all() for r, one in zip((u, s, vh), alone, strict=True)
        )
    if shape[-1] == shape[-2]:
        wide = np.result_type(dtype, np.complex64)
        w, v = xp.linalg.eig(x)
        assert (w.dtype.name, v.dtype.name, w.shape, v.shape) == (wide, wide, shape[:-1], shape)
        for index in np.ndindex(shape[:-2]):
            assert (np.asarray(w[index]) == np.asarray(xp.linalg.eig(xp.asarray(a[index]))[0])).all()
        w, v = xp.linalg.eigh(x)
        assert (w.shape, v.shape, w.dtype.name, v.dtype.name) == (shape[:-1], shape, real, dtype)
        # Only lower triangles are read.
        lower = xp.linalg.eigh(xp.asarray(np.where(np.tri(shape[-1], dtype=bool), a, np.nan).astype(dtype)))
        assert (np.asarray(lower[0]) == np.asarray(w)).all() and (np.asarray(lower[1]) == np.asarray(v)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", ["eig", "eigvals", "eigh", "eigvalsh", "svd", "svdvals", "pinv"])
def test_elements_that_are_not_finite(name: str, dtype: str, value: float) -> None:
    a = np.ones((3, 4, 4), dtype)
    a[1, 2, 1] = value
    with pytest.raises(xp.linalg.LinAlgError, match=f"{name}: the matrix has NaN or infinity") as caught:
        getattr(xp.linalg, name)(xp.asarray(a))
    assert ("index", "(1,)") in caught.value.facts


@pytest.mark.parametrize("n", [13, 60, 140])
def test_outside_of_the_mode(n: int) -> None:
    """Our kernels and LAPACK agree, at sizes that either of them computes."""
    a = matrix("random", n, n)
    x, y = xp.asarray(a), xp.asarray(a + a.T)
    with xp.reproducible(False):
        found = [xp.linalg.eigh(y)[0], xp.linalg.svd(x)[1], xp.linalg.svdvals(x), xp.linalg.eigvalsh(y)]
        (w, v), only = map(np.asarray, xp.linalg.eig(x)), xp.linalg.eigvals(x)
    inside = [xp.linalg.eigh(y)[0], xp.linalg.svd(x)[1], xp.linalg.svdvals(x), xp.linalg.eigvalsh(y)]
    for one, other in zip(found, inside, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(a @ v, v * w, atol=1e-12 * n)
    np.testing.assert_array_equal(np.asarray(only).shape, w.shape)


def test_functions_made_of_them() -> None:
    a = matrix("random", 40, 30)
    x = xp.asarray(a)
    np.testing.assert_allclose(xp.linalg.pinv(x), np.linalg.pinv(a), atol=1e-13)
    np.testing.assert_allclose(float(xp.linalg.matrix_norm(x, ord=2)), np.linalg.norm(a, 2), rtol=1e-14)
    assert int(xp.linalg.matrix_rank(xp.asarray(a[:, :5] @ a[:5]))) == 5
    b = matrix("random", 40, 2)
    np.testing.assert_allclose(
        xp.linalg.lstsq(x, xp.asarray(b)).solution, np.linalg.lstsq(a, b)[0], atol=1e-13
    )
    gradient = xp.autograd.grad(lambda x: xp.sum(xp.linalg.svdvals(x) ** 2))(x)
    np.testing.assert_allclose(gradient, 2 * a, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [3, 8, 25, 26, 50, 100])
def test_signs_are_nearly_all_those_of_lapack(n: int, dtype: str) -> None:
    """Multiples of complex vectors, too."""
    agree = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        a = rng.standard_normal((n, n)).astype(dtype)
        if dtype == "complex128":
            a += 1j * rng.standard_normal((n, n))
        h = a + a.conj().T
        pairs = [(xp.linalg.eigh(xp.asarray(h))[1], np.linalg.eigh(h)[1])]
        for b in (a, np.vstack([a, a[: n // 3]]), np.hstack([a, a[:, : n // 3]])):
            u, _, vh = xp.linalg.svd(xp.asarray(b), full_matrices=False)
            expected = np.linalg.svd(b, full_matrices=False)
            pairs += [(u, expected[0]), (xp.conj(vh.mT), expected[2].conj().T)]
        agree += [np.sum(np.asarray(x).conj() * y, axis=0).real > 0.9 for x, y in pairs]
    assert np.concatenate(agree).mean() > 0.95


def test_vectors_of_diagonal_matrices_are_those_of_lapack() -> None:
    for a in (np.eye(50), -np.eye(30), np.diag(np.arange(5.0)), np.zeros((3, 3))):
        for found, expected in zip(xp.linalg.eigh(xp.asarray(a)), np.linalg.eigh(a), strict=True):
            np.testing.assert_array_equal(found, expected)
    for found, expected in zip(xp.linalg.svd(xp.eye(50)), np.linalg.svd(np.eye(50)), strict=True):
        np.testing.assert_array_equal(found, expected)
