"""Functions of `linalg` beyond the standard: triangular systems, least squares, exponentials of matrices."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers import FLOATING

import stride0 as xp

EPS = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}
SIZES = (0, 1, 2, 5, 63, 64, 65, 130, 200)


def random(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    a = rng.standard_normal(shape)
    return np.asarray(a + 1j * rng.standard_normal(shape) if "complex" in dtype else a).astype(dtype)


def assert_close(x: Any, expected: Any, dtype: str) -> None:
    found = np.asarray(x)
    assert found.dtype == np.dtype(dtype) and found.shape == expected.shape
    scale = float(np.max(np.abs(expected), initial=0)) or 1.0
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=EPS[dtype])


# --- triangular systems


def triangular(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    """Matrices whose triangles are well conditioned and different, so that a use of the wrong one shows."""
    return (random(rng, dtype, *shape) / shape[-1] + 3 * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("size", SIZES)
def test_triangular_systems(dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = triangular(rng, dtype, max(size, 1), max(size, 1))[:size, :size], random(rng, dtype, size, 3)
    for upper, unit in itertools.product((False, True), repeat=2):
        used = np.triu(a) if upper else np.tril(a)
        if unit:
            used = used - np.diag(np.diag(a)) + np.eye(size)
        expected = np.linalg.solve(used.astype(complex), b.astype(complex))
        expected = expected if "complex" in dtype else expected.real
        options = {"upper": upper, "unit_diagonal": unit}
        # In C order, transposed, reversed, with gaps.
        wide = np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)
        for x in (
            xp.asarray(a),
            xp.asarray(np.asfortranarray(a)),
            xp.flip(xp.asarray(np.flip(a).copy())),
            xp.asarray(wide)[::2, ::2],
        ):
            assert_close(xp.linalg.solve_triangular(x, xp.asarray(b), **options), expected, dtype)
        y = xp.matrix_transpose(xp.asarray(b.T.copy()))
        assert_close(xp.linalg.solve_triangular(xp.asarray(a), y, **options), expected, dtype)
        vector = xp.linalg.solve_triangular(xp.asarray(a), xp.asarray(b)[:, 1], **options)
        assert_close(vector, expected[:, 1], dtype)
        # The order in memory does not matter, to the last bit.
        same = xp.linalg.solve_triangular(xp.asarray(a), xp.asarray(b), **options)
        assert (
            np.asarray(same).tobytes()
            == np.asarray(xp.linalg.solve_triangular(xp.asarray(a), y, **options)).tobytes()
        )


@pytest.mark.parametrize(
    ("s1", "s2"),
    [
        ((2, 3, 4, 4), (4,)),
        ((3, 1, 4, 4), (2, 4, 2)),
        ((4, 4), (5, 4, 1)),
        ((0, 4, 4), (4, 2)),
        ((2, 1, 80, 80), (3, 80, 2)),
    ],
)
def test_stacks_of_triangular_systems(s1: tuple[int, ...], s2: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    a, b = triangular(rng, "float64", *s1), rng.standard_normal(s2)
    sides = b[:, None] if b.ndim == 1 else b
    expected = np.linalg.solve(np.tril(a), sides)
    found = xp.linalg.solve_triangular(xp.asarray(a), xp.asarray(b))
    assert_close(found, expected[..., 0] if b.ndim == 1 else expected, "float64")
    assert np.array_equal(np.asarray(xp.asarray(b)), b)


def test_triangular_systems_of_several_dtypes() -> None:
    a = xp.asarray([[2, 0], [1, 4]])
    assert xp.linalg.solve_triangular(a, xp.asarray([2, 9])).dtype == xp.float64
    assert (
        xp.linalg.solve_triangular(xp.astype(a, xp.float32), xp.asarray([2j, 1], dtype=xp.complex64)).dtype
        == xp.complex64
    )
    found = xp.linalg.solve_triangular(xp.astype(a, xp.float32), xp.asarray([2j, 1], dtype=xp.complex128))
    assert found.dtype == xp.complex128 and complex(found[0]) == 1j


def test_what_is_not_read_may_be_anything() -> None:
    a = xp.asarray([[xp.nan, xp.inf], [3.0, xp.nan]])
    found = xp.linalg.solve_triangular(a, xp.asarray([1.0, 5.0]), unit_diagonal=True)
    assert [float(x) for x in found] == [1.0, 2.0]
    assert not xp.any(xp.isfinite(xp.linalg.solve_triangular(a, xp.asarray([1.0, 5.0]))))


def test_errors_of_triangular_systems() -> None:
    with pytest.raises(xp.linalg.LinAlgError, match=r"its diagonal has a 0[\s\S]*index +\(1,\)"):
        xp.linalg.solve_triangular(xp.stack([xp.eye(2), xp.zeros((2, 2))]), xp.ones(2))
    for x1, x2, error in [
        (xp.ones((2, 3)), xp.ones(2), xp.ShapeError),
        (xp.ones((3, 3)), xp.ones(2), xp.ShapeError),
        (xp.ones((2, 3, 3)), xp.ones((4, 3, 1)), xp.BroadcastError),
        (xp.ones((3, 3)), xp.asarray(1.0), xp.ShapeError),
        (xp.ones((3, 3), dtype=xp.float16), xp.ones(3), xp.DTypeError),
        ([[1.0]], xp.ones(1), xp.ForeignArrayError),
    ]:
        with pytest.raises(error):
            xp.linalg.solve_triangular(x1, x2)
    with pytest.raises(xp.ArgumentTypeError, match="upper"):
        xp.linalg.solve_triangular(xp.eye(2), xp.ones(2), upper=1)


# --- least squares


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    ("s1", "s2"), [((7, 4), (7, 2)), ((4, 7), (4,)), ((5, 5), (5, 1)), ((0, 3), (0,)), ((3, 0), (3, 2))]
)
def test_least_squares(dtype: str, s1: tuple[int, ...], s2: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    a, b = random(rng, dtype, *s1), random(rng, dtype, *s2)
    found = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b))
    solution, _, rank, values = np.linalg.lstsq(a, b)
    assert_close(found.solution, solution, dtype)
    assert int(found.rank) == rank
    np.testing.assert_allclose(np.asarray(found.singular_values), values, rtol=EPS[dtype])
    residuals = np.sum(np.abs(b - a @ solution) ** 2, axis=0)
    np.testing.assert_allclose(np.asarray(found.residuals), residuals, atol=10 * EPS[dtype])


def test_least_squares_of_lower_rank_has_the_least_norm() -> None:
    rng = np.random.default_rng(4)
    a = rng.standard_normal((2, 6, 2)) @ rng.standard_normal((2, 2, 4))
    b = rng.standard_normal((6, 3))
    found = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b), rtol=1e-10)
    expected = np.stack([np.linalg.lstsq(matrix, b, rcond=1e-10)[0] for matrix in a])
    assert_close(found.solution, expected, "float64")
    assert [int(n) for n in found.rank] == [2, 2]
    assert found.residuals.shape == (2, 3) and found.singular_values.shape == (2, 4)
    # An array has one tolerance for each matrix.
    one = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b), rtol=xp.asarray([1e-10, 0.999]))
    assert [int(n) for n in one.rank] == [2, 1]
    # SciPy passes `rcond` to any namespace that has the function.
    same = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b), rcond=1e-10)
    assert np.array_equal(np.asarray(same.solution), np.asarray(found.solution))
    with pytest.raises(xp.ArgumentValueError, match="both rtol and rcond"):
        xp.linalg.lstsq(xp.asarray(a), xp.asarray(b), rtol=1e-10, rcond=1e-10)


def test_errors_of_least_squares() -> None:
    with pytest.raises(xp.linalg.LinAlgError, match=r"^lstsq: the matrix has NaN"):
        xp.linalg.lstsq(xp.asarray([[xp.nan], [1.0]]), xp.ones(2))
    with pytest.raises(xp.ShapeError, match=r"^lstsq: x1 has 3 equations"):
        xp.linalg.lstsq(xp.ones((3, 2)), xp.ones(2))
    with pytest.raises(xp.ArgumentTypeError, match="rtol"):
        xp.linalg.lstsq(xp.ones((3, 2)), xp.ones(3), rtol="small")


# --- the exponential


def exact(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with mpmath.workdps(60):
        found = mpmath.expm(mpmath.matrix(a.astype(complex).tolist()), method="taylor")
        return np.asarray(found.tolist(), dtype=complex).reshape(a.shape)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("norm", [1e-9, 0.3, 3.0, 30.0])
def test_exponentials(dtype: str, size: int, norm: float) -> None:
    rng = np.random.default_rng(size)
    a = (random(rng, dtype, size, size) * norm / size).astype(dtype)
    expected = exact(a)
    error = np.max(np.abs(np.asarray(xp.linalg.expm(xp.asarray(a))) - expected)) / np.max(np.abs(expected))
    # The condition number is at least the norm.
    assert error < EPS[dtype] / 20 * max(norm, 1)


def test_each_matrix_of_a_stack_is_scaled_by_itself() -> None:
    rng = np.random.default_rng(8)
    a = rng.standard_normal((4, 3, 3)) * np.asarray([1e-3, 1.0, 20.0, 300.0])[:, None, None]
    together = np.asarray(xp.linalg.expm(xp.asarray(a)))
    for matrix, found in zip(a, together, strict=True):
        assert np.asarray(xp.linalg.expm(xp.asarray(matrix))).tobytes() == found.tobytes()


def test_special_exponentials() -> None:
    nilpotent = xp.asarray([[0, 1, 2], [0, 0, 3], [0, 0, 0]])
    third = float(Fraction(3, 2) + 2)
    assert xp.linalg.expm(nilpotent).dtype == xp.float64
    np.testing.assert_allclose(
        np.asarray(xp.linalg.expm(nilpotent)), [[1, 1, third], [0, 1, 3], [0, 0, 1]], atol=1e-15
    )
    assert xp.linalg.expm(xp.zeros((2, 0, 0))).shape == (2, 0, 0)
    assert np.array_equal(np.asarray(xp.linalg.expm(xp.zeros((2, 2)))), np.eye(2))
    bad = xp.stack([xp.eye(2), xp.full((2, 2), xp.inf), xp.full((2, 2), xp.nan)])
    found = np.asarray(xp.linalg.expm(bad))
    np.testing.assert_allclose(found[0], np.e * np.eye(2), rtol=1e-15)
    assert np.isnan(found[1:]).all()
    assert float(xp.linalg.expm(xp.asarray([[-50.0]]))[0, 0]) == float(xp.exp(-50.0))
    with pytest.raises(xp.ShapeError, match="square"):
        xp.linalg.expm(xp.ones((2, 3)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(50, 50), (70, 45), (45, 70), (3, 50, 45), (2, 2, 46, 46)])
def test_lstsq_of_larger_matrices_by_one_function_of_lapack(shape: tuple[int, ...], dtype: str) -> None:
    """The solution equals the decomposition's, up to rounding; several matrices use the decomposition."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape).astype(dtype)
    a[..., -1] = a[..., 0]  # singular
    for lead in ((), shape[:-2]):
        for columns in (1, 3):
            b = rng.standard_normal((*lead, shape[-2], columns)).astype(dtype)
            for rtol in (None, 1e-3, xp.asarray(np.full(shape[:-2], 1e-3), dtype=xp.float32)):
                found = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b), rtol=rtol)
                wanted = np.linalg.pinv(a.astype("c16"), rcond=1e-5) @ b
                error = 2e-3 if dtype in ("float32", "complex64") else 1e-10
                np.testing.assert_allclose(np.asarray(found.solution), wanted, rtol=error, atol=error)
                assert np.all(np.asarray(found.rank) == min(shape[-2:]) - (shape[-2] >= shape[-1]))
                values = np.linalg.svd(a, compute_uv=False)
                np.testing.assert_allclose(np.asarray(found.singular_values), values, rtol=error, atol=error)
                with xp.autograd.Tape() as tape:
                    x = xp.asarray(a)
                    tape.watch(x)
                    recorded = xp.linalg.lstsq(x, xp.asarray(b), rtol=rtol).solution
                plain = np.asarray(xp.autograd.stop_gradient(recorded))
                assert np.array_equal(plain, np.asarray(found.solution))


def test_lstsq_of_larger_matrices_that_are_not_finite() -> None:
    for value in (np.nan, np.inf):
        a = np.eye(50)
        a[3, 4] = value
        with pytest.raises(xp.linalg.LinAlgError, match="lstsq"):
            xp.linalg.lstsq(xp.asarray(a), xp.ones(50))
    assert xp.linalg.lstsq(xp.zeros((50, 50)), xp.ones(50)).rank == 0
