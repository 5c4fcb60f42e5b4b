"""Note [Reflectors in panels]: orthogonal factors of matrices of any shape."""

from __future__ import annotations

import numpy as np
import pytest

import stride0 as xp

SHAPES = [
    (1, 1),
    (5, 3),
    (3, 5),
    (8, 9),
    (31, 31),
    (33, 32),
    (40, 70),
    (70, 40),
    (65, 65),
    (129, 129),
    (200, 150),
]


def factors(a, mode="reduced"):
    return [np.asarray(part) for part in xp.linalg.qr(xp.asarray(a), mode=mode)]


def errors(a, q, r):
    """The residual relative to the norm of each column, and the distance from orthogonality."""
    scale = np.linalg.norm(a / np.abs(a).max(), axis=0) * np.abs(a).max()
    residual = np.abs(q @ r - a) / np.where(scale == 0, 1, scale)
    return residual.max(), np.abs(q.conj().T @ q - np.eye(q.shape[1])).max()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("kind", ["random", "graded", "badly scaled", "nearly singular", "Vandermonde"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factors_are_as_close_as_those_of_lapack(shape, mode, kind, dtype):
    rng = np.random.default_rng(shape[0])
    a = rng.standard_normal(shape).astype(dtype)
    if dtype == "complex128":
        a += 1j * rng.standard_normal(shape)
    if kind == "graded":
        a *= np.logspace(0, -14, shape[0])[:, None]
    elif kind == "badly scaled":
        a *= 10.0 ** rng.integers(-140, 140, shape[1])
    elif kind == "nearly singular":
        a[:, -1] = a[:, 0] * (1 + 1e-15)
    elif kind == "Vandermonde":
        a = np.vander(np.linspace(-1, 1, shape[0]), shape[1]) * a[0, 0]
    own, lapack = factors(a, mode), np.linalg.qr(a, mode=mode)
    for found, expected in zip(own, lapack, strict=True):
        assert found.shape == expected.shape
    assert not np.tril(own[1], -1).any()
    for found, bound in zip(errors(a, *own), errors(a, *lapack), strict=True):
        assert found <= 2 * bound + 8 * 2.0**-53
    if kind == "random":
        np.testing.assert_allclose(own[1], lapack[1], rtol=0, atol=1e-11)
        np.testing.assert_allclose(own[0], lapack[0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("shape", [(20, 20), (70, 50), (50, 70)])
def test_signs_are_those_of_lapack(shape):
    """Where a column has nothing to eliminate, LAPACK leaves the sign of the diagonal."""
    triangle = np.triu(np.random.default_rng(1).standard_normal(shape))
    for a in (np.zeros(shape), -np.eye(*shape), triangle, triangle.astype("complex128")):
        for found, expected in zip(factors(a), np.linalg.qr(a), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scale", [1e-305, 1e-200, 1e200, 1e305])
def test_norms_neither_overflow_nor_underflow(scale):
    a = np.random.default_rng(2).standard_normal((60, 40))
    q, r = factors(a * scale)
    expected = np.linalg.qr(a)
    np.testing.assert_allclose(q, expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(r / scale, expected[1], rtol=0, atol=1e-12)


def test_layouts_stacks_and_dtypes_have_the_same_bits():
    a = np.random.default_rng(3).standard_normal((5, 60, 45))
    together = factors(a)
    x = xp.asarray(a.swapaxes(-1, -2).copy()).mT
    for found, expected in zip(xp.linalg.qr(x), together, strict=True):
        assert np.array_equal(np.asarray(found), expected)
    for k in range(5):
        for found, expected in zip(factors(a[k]), together, strict=True):
            assert np.array_equal(found, expected[k])
    single = a.astype("float32")
    for found, expected in zip(factors(single), factors(single.astype("float64")), strict=True):
        assert found.dtype == np.float32 and np.array_equal(found, expected.astype("float32"))


def test_one_kernel_and_products_in_panels_have_the_same_bits():
    """Further columns do not change the reflectors of the columns before, but are too many for the kernel."""
    a = np.random.default_rng(5).standard_normal((60, 400))
    assert np.array_equal(factors(a)[1][:, :60], factors(a[:, :60])[1])


def test_nan_goes_to_the_result():
    a = np.random.default_rng(4).standard_normal((50, 40))
    a[7, 20] = np.nan
    q, r = factors(a)
    assert np.isnan(q).any() and np.isnan(r).any()
    np.testing.assert_allclose(r[:20, :20], np.linalg.qr(a[:, :20])[1], rtol=0, atol=1e-12)
