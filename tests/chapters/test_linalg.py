"""The linear algebra extension without products (see test_matmul), against NumPy over dtypes and layouts."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from helpers import (
    DTYPES,
    FLOATING,
    LAYOUTS,
    NUMERIC,
    assert_same,
    both,
    pair,
    quietly,
    same,
    values,
)
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp
from stride0 import autograd, strided

EPS = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-10, "complex128": 1e-10}
STACKS = [(), (1,), (3,), (2, 0), (2, 1, 2)]
DECOMPOSITIONS = ["cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet"]
DECOMPOSITIONS += ["matrix_rank", "pinv", "qr", "svd", "svdvals"]


def layouts(a):
    """Stacks of matrices in other layouts: columns first, every second element, reversed stack."""
    yield both(a)
    columns = np.ascontiguousarray(a.swapaxes(-1, -2))
    yield xp.matrix_transpose(xp.asarray(columns)), columns.swapaxes(-1, -2)
    wide = np.repeat(np.repeat(a, 2, axis=-1), 2, axis=-2)
    yield xp.asarray(wide)[..., ::2, ::2], wide[..., ::2, ::2]
    flipped = np.ascontiguousarray(np.flip(a))
    yield xp.flip(xp.asarray(flipped)), np.flip(flipped)


def definite(dtype, *shape):
    """Symmetric or Hermitian positive definite matrices."""
    a = values(dtype, shape)
    return (a @ a.conj().swapaxes(-1, -2) + 10 * np.eye(shape[-1], dtype=dtype)).astype(dtype)


def linalg(name, **options):
    """A linalg function of ours and of NumPy, with NumPy's tuples instead of ours."""
    return lambda ns, *arrays: getattr(ns.linalg, name)(*arrays, **options)


def compare(name, dtype, *arrays, **options):
    # NumPy runs the same LAPACK on the same strides, so even results that are not unique are equal.
    what = f"{name} {arrays[0][1].shape} {options}"
    same(linalg(name, **options), *arrays, rtol=EPS[dtype], what=what)


def eigh_magnitudes(ns, a):
    """Eigenvalues, and magnitudes of elements of eigenvectors, whose signs are not LAPACK's."""
    found = ns.linalg.eigh(a)
    return found[0], abs(found[1])


# Decompositions


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("size", [0, 1, 2, 5, 17])
def test_square_matrices(dtype, size):
    for stack in STACKS:
        for x, a in layouts(values(dtype, (*stack, size, size))):
            for name in ("det", "inv", "slogdet", "eigvalsh"):
                compare(name, dtype, (x, a))
            same(eigh_magnitudes, (x, a), rtol=EPS[dtype], what=f"eigh {a.shape}")
        for x, a in layouts(definite(dtype, *stack, size, size)):
            compare("cholesky", dtype, (x, a))
            compare("cholesky", dtype, (x, a), upper=True)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    ("rows", "columns"), [(0, 0), (0, 3), (3, 0), (1, 1), (3, 5), (5, 3), (4, 4), (1, 6)]
)
def test_matrices(dtype, rows, columns):
    for stack in STACKS:
        for x, a in layouts(values(dtype, (*stack, rows, columns))):
            compare("svdvals", dtype, (x, a))
            compare("svd", dtype, (x, a))
            compare("svd", dtype, (x, a), full_matrices=False)
            compare("qr", dtype, (x, a))
            compare("qr", dtype, (x, a), mode="complete")
            compare("pinv", dtype, (x, a))
            assert_same(xp.linalg.matrix_rank(x), np.asarray(np.linalg.matrix_rank(a)))


@pytest.mark.parametrize("dtype", FLOATING)
def test_eig(dtype):
    wide = np.result_type(dtype, np.complex64)
    for size, stack in itertools.product((0, 1, 2, 5), STACKS):
        # Symmetric ones too, whose eigenvalues NumPy returns as reals.
        for a in (values(dtype, (*stack, size, size)), definite(dtype, *stack, size, size)):
            for x, b in layouts(a):
                expected = np.linalg.eig(b)
                result = xp.linalg.eig(x)
                assert_same(result.eigenvalues, expected.eigenvalues.astype(wide), EPS[dtype])
                assert_same(result.eigenvectors, expected.eigenvectors.astype(wide), EPS[dtype])
                assert_same(xp.linalg.eigvals(x), np.linalg.eigvals(b).astype(wide), EPS[dtype])


@pytest.mark.parametrize("dtype", FLOATING)
def test_decompositions_put_together_again(dtype):
    def close(x, a):
        np.testing.assert_allclose(np.asarray(x), a, rtol=EPS[dtype] * 10, atol=EPS[dtype] * 10)

    ns = xp.linalg
    for shape in ((4, 4), (2, 3, 4, 4), (5, 3), (2, 3, 5), (3, 0), (0, 2)):
        x, a = both(values(dtype, shape))
        u, s, vh = ns.svd(x, full_matrices=False)
        close(u * xp.astype(s, x.dtype)[..., None, :] @ vh, a)
        q, r = ns.qr(x)
        close(q @ r, a)
        close(xp.tril(r, k=-1), 0)
        full, triangle = ns.qr(x, mode="complete")
        close(full @ triangle, a)
        close(xp.conj(xp.matrix_transpose(full)) @ full, np.broadcast_to(np.eye(shape[-2]), full.shape))
        p = ns.pinv(x)
        close(x @ p @ x, a)
        close(p @ x @ p, np.asarray(p))
    for shape in ((4, 4), (2, 3, 4, 4), (0, 0)):
        x, a = both(definite(dtype, *shape))
        lower, upper = ns.cholesky(x), ns.cholesky(x, upper=True)
        close(lower @ xp.conj(xp.matrix_transpose(lower)), a)
        close(xp.conj(xp.matrix_transpose(upper)) @ upper, a)
        close(xp.triu(lower, k=1), 0)
        eigenvalues, eigenvectors = ns.eigh(x)
        close(x @ eigenvectors, np.asarray(eigenvectors) * np.asarray(eigenvalues)[..., None, :])
        sign, logabsdet = ns.slogdet(x)
        np.testing.assert_allclose(
            np.asarray(sign) * np.exp(np.asarray(logabsdet)), np.asarray(ns.det(x)), rtol=1e-4
        )
        x, a = both(values(dtype, shape))
        general = ns.eig(x)
        close(x @ general.eigenvectors, np.asarray(general.eigenvectors * general.eigenvalues[..., None, :]))
        if shape[-1]:
            close(ns.inv(x) @ x, np.broadcast_to(np.eye(shape[-1]), shape))


def test_fields():
    x = xp.eye(2)
    for name, fields in {
        "eig": ("eigenvalues", "eigenvectors"),
        "eigh": ("eigenvalues", "eigenvectors"),
        "qr": ("Q", "R"),
        "slogdet": ("sign", "logabsdet"),
        "svd": ("U", "S", "Vh"),
    }.items():
        result = getattr(xp.linalg, name)(x)
        assert isinstance(result, tuple)
        assert result._fields == fields


def test_determinants_that_overflow():
    x = xp.eye(200) * 100.0
    assert float(xp.linalg.det(x)) == math.inf
    sign, logabsdet = xp.linalg.slogdet(x)
    assert float(sign) == 1.0
    assert float(logabsdet) == pytest.approx(200 * math.log(100))
    sign, logabsdet = xp.linalg.slogdet(xp.zeros((2, 2), dtype=xp.complex64))
    assert complex(sign) == 0
    assert float(logabsdet) == -math.inf
    assert math.isnan(float(xp.linalg.det(xp.full((2, 2), xp.nan))))


# solve


@pytest.mark.parametrize("dtype", FLOATING)
def test_solve(dtype):
    for shape1, shape2 in (
        ((3, 3), (3,)),
        ((3, 3), (3, 1)),
        ((3, 3), (3, 4)),
        ((3, 3), (3, 0)),
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (2, 3, 1)),
        ((2, 3, 3), (3, 4)),
        ((2, 3, 3), (2, 3)),  # a matrix of two rows: only a 1-d array is a vector
        ((3, 3), (5, 3, 2)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((0, 0), (0,)),
        ((0, 0), (0, 2)),
        ((2, 0, 0), (0, 2)),
        ((0, 3, 3), (3,)),
        ((0, 3, 3), (1, 3, 2)),
        ((3, 3), (4,)),
        ((3, 3), (4, 3)),
        ((3, 3), ()),
        ((2, 3, 3), (3, 3, 1)),
        ((3, 4), (3,)),
        ((3,), (3,)),
    ):
        for (x1, a1), (x2, a2) in zip(
            layouts(values(dtype, shape1)) if len(shape1) > 1 else [both(values(dtype, shape1))],
            layouts(values(dtype, shape2)) if len(shape2) > 1 else [both(values(dtype, shape2))] * 4,
            strict=False,
        ):
            compare("solve", dtype, (x1, a1), (x2, a2))


def test_solve_promotes():
    for dtype1, dtype2 in itertools.product(FLOATING, FLOATING):
        x1, x2 = both(values(dtype1, (2, 3, 3))), both(values(dtype2, (3,)))
        result = xp.linalg.solve(x1[0], x2[0])
        assert result.dtype is xp.result_type(x1[0], x2[0])
        assert_same(result, np.linalg.solve(x1[1], x2[1]), 1e-4)


def test_solve_refuses():
    with pytest.raises(xp.ShapeError, match="x1 has 3 equations and x2 has 4 rows"):
        xp.linalg.solve(xp.eye(3), xp.ones(4))
    with pytest.raises(xp.ShapeError, match="x1 must be square"):
        xp.linalg.solve(xp.ones((3, 4)), xp.ones(3))
    with pytest.raises(xp.BroadcastError, match="leading axes of x2"):
        xp.linalg.solve(xp.ones((2, 3, 3)), xp.ones((3, 3, 1)))
    with pytest.raises(TypeError):
        xp.linalg.solve(xp.eye(3), np.ones(3))


# Failures


def test_singular_matrices_are_named():
    x = xp.zeros((4, 5, 2, 2)) + xp.eye(2)
    x[2, 3, ...] = 1.0
    x[3, 1, ...] = 0.0
    for name, arguments in (("inv", ()), ("matrix_power", (-3,)), ("solve", (xp.ones(2),))):
        with pytest.raises(xp.linalg.LinAlgError, match="the matrix is singular") as caught:
            getattr(xp.linalg, name)(x, *arguments)
        assert str(caught.value).startswith(f"{name}: the matrix is singular\n\n")
        assert caught.value.facts[-1] == ("index", "(2, 3)")
        assert isinstance(caught.value, ValueError)
        assert caught.value.__cause__ is None and caught.value.__suppress_context__ is False
        assert caught.value.__context__ is None
    with pytest.raises(xp.linalg.LinAlgError) as caught:
        xp.linalg.inv(xp.zeros((2, 2), dtype=xp.float32))
    assert caught.value.facts == (("x", "(2, 2)"),)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)


def test_matrices_that_are_not_positive_definite():
    x = xp.zeros((3, 2, 2)) + xp.eye(2)
    x[1, 0, 0] = -1.0
    for upper in (False, True):
        with pytest.raises(xp.linalg.LinAlgError, match="cholesky: the matrix is not positive definite") as e:
            xp.linalg.cholesky(x, upper=upper)
        assert e.value.facts[-1] == ("index", "(1,)")


@pytest.mark.parametrize("special", [math.nan, math.inf])
def test_matrices_that_are_not_finite(special):
    x = xp.zeros((3, 2, 2)) + xp.eye(2)
    x[1, 1, 0] = special
    names = ["eig", "eigvals", "svd", "svdvals", "pinv", "matrix_rank"]
    for name in names:
        with pytest.raises(xp.linalg.LinAlgError, match=f"{name}: the matrix has NaN or infinity in it") as e:
            getattr(xp.linalg, name)(x)
        assert e.value.facts[-1] == ("index", "(1,)")
    for order in ("nuc", 2, -2):
        with pytest.raises(xp.linalg.LinAlgError, match="matrix_norm: the matrix has NaN or infinity"):
            xp.linalg.matrix_norm(x, ord=order)


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_decompositions_refuse(name):
    function = getattr(xp.linalg, name)
    for shape in ((), (3,)):
        with pytest.raises(xp.ShapeError, match=f"{name}: x must be a matrix or a stack of them"):
            function(xp.ones(shape))
    if name in ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet"):
        with pytest.raises(xp.ShapeError, match=f"{name}: x must be square, and its matrices are 2 by 3"):
            function(xp.ones((4, 2, 3)))
    for wrong in (np.eye(2), [[1.0]], 1.0, None):
        with pytest.raises(TypeError):
            function(wrong)


def test_options_are_checked():
    x = xp.eye(2)
    for mode in ("r", None, x):
        with pytest.raises(ValueError, match="unknown mode"):
            xp.linalg.qr(x, mode=mode)
    with pytest.raises(OverflowError, match="bits does not fit float64"):
        xp.linalg.pinv(x, rtol=10**400)
    for call in (
        lambda: xp.linalg.cholesky(x, upper=1),
        lambda: xp.linalg.svd(x, full_matrices=None),
        lambda: xp.linalg.matrix_rank(x, rtol=True),
        lambda: xp.linalg.matrix_rank(x, rtol=1j),
        lambda: xp.linalg.pinv(x, rtol="1"),
        lambda: xp.linalg.pinv(x, rtol=xp.asarray(1)),
        lambda: xp.linalg.pinv(x, rtol=np.ones(2)),
    ):
        with pytest.raises(TypeError):
            call()


# Rank and pseudo-inverse


@pytest.mark.parametrize("dtype", FLOATING)
def test_rtol(dtype):
    diagonal = np.asarray([[100.0, 1.0, 0.01], [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    a = (diagonal[:, None, :] * np.eye(3)).astype(dtype)
    x = xp.asarray(a)
    rank, pinv = xp.linalg.matrix_rank, xp.linalg.pinv

    def counts(result):
        return np.asarray(result).tolist()

    assert counts(rank(x)) == [3, 2, 0]
    assert rank(x).dtype is xp.int64
    assert counts(rank(x, rtol=0.1)) == [1, 2, 0]
    assert counts(rank(x, rtol=0)) == [3, 2, 0]
    assert counts(rank(x, rtol=1.0)) == [0, 0, 0]  # all values are within the tolerance
    assert counts(rank(x, rtol=xp.asarray([1e-3, 0.7, 0.0]))) == [2, 1, 0]
    assert counts(rank(x, rtol=xp.asarray(0.1, dtype=xp.float32))) == [1, 2, 0]
    tolerances = xp.asarray([[1e-3], [0.7]])
    assert counts(rank(x, rtol=tolerances)) == [[2, 2, 0], [1, 1, 0]]
    assert counts(rank(xp.zeros((2, 0, 3)), rtol=0.1)) == [0, 0]
    with pytest.raises(xp.BroadcastError, match="rtol"):
        rank(x, rtol=xp.asarray([0.1, 0.2]))

    assert_same(pinv(x, rtol=0.1), np.linalg.pinv(a, rtol=0.1), EPS[dtype])
    several = np.asarray([1e-3, 0.7, 0.0])
    expected = np.stack([np.linalg.pinv(m, rtol=t) for m, t in zip(a, several, strict=True)])
    assert_same(pinv(x, rtol=xp.asarray(several)), expected, EPS[dtype])
    assert pinv(x[0, ...], rtol=tolerances[:, 0]).shape == (2, 3, 3)


def test_default_rtol_is_that_of_the_precision():
    for dtype, tiny in (("float32", 1e-6), ("float64", 1e-15), ("complex64", 1e-6)):
        x = xp.astype(xp.asarray([[1.0, 0.0, 0.0], [0.0, tiny / 10, 0.0]]), getattr(xp, dtype))
        assert int(xp.linalg.matrix_rank(x)) == 1
        x = xp.astype(xp.asarray([[1.0, 0.0, 0.0], [0.0, tiny * 10, 0.0]]), getattr(xp, dtype))
        assert int(xp.linalg.matrix_rank(x)) == 2


# Norms


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf, None, 1.0, 2.0])
def test_matrix_norm(dtype, order):
    for shape in ((3, 4), (1, 1), (2, 3, 4), (2, 0, 3, 3), (3, 0), (0, 3), (2, 0, 0)):
        for x, a in layouts(values(dtype, shape)):
            for keepdims in (False, True):
                if order is None:
                    expected = np.linalg.matrix_norm(a, keepdims=keepdims)
                    got = xp.linalg.matrix_norm(x, ord=None, keepdims=keepdims)
                    assert_same(got, expected, EPS[dtype])
                else:
                    compare("matrix_norm", dtype, (x, a), ord=order, keepdims=keepdims)


def test_matrix_norm_default_is_frobenius():
    assert float(xp.linalg.matrix_norm(xp.asarray([[3.0, 0.0], [0.0, 4.0]]))) == 5.0


def test_matrix_norm_refuses():
    x = xp.ones((2, 2))
    for order in ("f", 0, 3, 0.5, math.nan):
        with pytest.raises(ValueError, match="unknown norm"):
            xp.linalg.matrix_norm(x, ord=order)
    with pytest.raises(xp.ShapeError, match="x has no elements"):
        xp.linalg.matrix_norm(xp.ones((0, 2)), ord=-2)
    with pytest.raises(xp.ShapeError, match="x must be a matrix"):
        xp.linalg.matrix_norm(xp.ones(2))
    for call in (
        lambda: xp.linalg.matrix_norm(x, ord=[1]),
        lambda: xp.linalg.matrix_norm(x, keepdims=1),
        lambda: xp.linalg.matrix_norm(np.ones((2, 2))),
    ):
        with pytest.raises(TypeError):
            call()
    for order in (True, False):
        with pytest.raises(ValueError, match="unknown norm"):
            xp.linalg.matrix_norm(x, ord=order)


ORDERS = [0, 1, 2, 3, 0.5, -1, -2, -0.5, 2.5, 1.0, 2.0, math.inf, -math.inf]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("order", ORDERS)
def test_vector_norm(dtype, order):
    for layout in LAYOUTS:
        x, a = pair(dtype, layout)
        axes = [None, *range(-a.ndim, a.ndim)]
        axes += [(0, 1), (-1, 0), (1,)] if a.ndim > 1 else []
        for axis, keepdims in itertools.product(axes, (False, True)):
            same(
                linalg("vector_norm", ord=order, axis=axis, keepdims=keepdims),
                (x, a),
                rtol=EPS[dtype],
                what=f"{layout} {axis} {keepdims}",
            )


def test_vector_norm_over_no_axes_is_the_absolute_value():
    x, a = both([[3.0, -4.0], [0.0, -1e200]])
    for order in (1, 2, 3, -2, math.inf, -math.inf):
        assert_same(xp.linalg.vector_norm(x, axis=(), ord=order), np.abs(a), 1e-14)
    assert_same(xp.linalg.vector_norm(x, axis=(), ord=0), (a != 0).astype(float))


def test_vector_norm_of_special_values():
    norm = xp.linalg.vector_norm
    for order in ORDERS:
        for special in ([0.0, 0.0], [0.0, 3.0], [math.inf, 1.0], [-math.inf, 0.0], [math.nan, 1.0], [-0.0]):
            x, a = both(special)
            expected = quietly(lambda a=a, k=order: np.linalg.vector_norm(a, ord=k))
            assert_same(norm(x, ord=order), np.asarray(expected), 1e-14, f"{special} {order}")
    assert math.isnan(float(norm(xp.asarray([math.nan, math.inf]))))


@pytest.mark.parametrize("scale", [1e300, 1e200, 1.0, 1e-160, 1e-200, 1e-310])
def test_vector_norm_neither_overflows_nor_vanishes(scale):
    for order in (1, 2, 3, 10.5, 0.5, -1, -2, -3):
        expected = sum(v**order for v in (3.0, 4.0, 12.0)) ** (1 / order)
        x = xp.asarray([3.0, 4.0, 12.0]) * scale
        got = float(xp.linalg.vector_norm(x, ord=order))
        if expected * scale < 1.7e308:
            assert got == pytest.approx(expected * scale, rel=1e-13 if scale > 1e-300 else 1e-9)
        z = xp.asarray([3j, 4.0, -12j]) * scale
        assert float(xp.linalg.vector_norm(z, ord=order)) == pytest.approx(got, rel=1e-12)
    m = xp.reshape(xp.asarray([3.0, 4.0, 12.0, 0.0]) * scale, (2, 2))
    assert float(xp.linalg.matrix_norm(m)) == pytest.approx(13 * scale, rel=1e-9)


def test_a_norm_does_not_depend_on_its_neighbours():
    rows = np.asarray([[0.1, 0.7, 0.3], [1e200, 1e200, 0.0], [1e-200, 0.0, 0.0], [0.0, 0.0, 0.0]])
    together = np.asarray(xp.linalg.vector_norm(xp.asarray(rows), axis=1))
    alone = [float(xp.linalg.vector_norm(xp.asarray(row))) for row in rows]
    assert together.tolist() == alone
    assert alone[1:] == [pytest.approx(math.sqrt(2) * 1e200), 1e-200, 0.0]


def test_float32_norms_do_not_overflow():
    x = xp.asarray([3e38, 1e38], dtype=xp.float32)
    assert float(xp.linalg.vector_norm(x)) == pytest.approx(math.hypot(3e38, 1e38), rel=1e-6)
    assert float(xp.linalg.vector_norm(x, ord=3)) == pytest.approx(28 ** (1 / 3) * 1e38, rel=1e-6)
    tiny = xp.asarray([3e-45, 0.0], dtype=xp.float32)
    assert float(xp.linalg.vector_norm(tiny)) == float(tiny[0])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_euclidean_norm_of_anything(numbers):
    expected = math.hypot(*numbers)
    got = float(xp.linalg.vector_norm(xp.asarray(numbers, dtype=xp.float64)))
    assert got == pytest.approx(expected, rel=1e-13, abs=1e-322) or (math.isinf(got) and expected > 1.7e308)


def test_vector_norm_refuses():
    x = xp.ones((2, 3))
    with pytest.raises(ValueError, match="out of bounds"):
        xp.linalg.vector_norm(x, axis=2)
    with pytest.raises(ValueError, match="more than once"):
        xp.linalg.vector_norm(x, axis=(0, -2))
    with pytest.raises(OverflowError, match="bits does not fit float64"):
        xp.linalg.vector_norm(x, ord=10**400)
    with pytest.raises(ValueError, match="must not be NaN"):
        xp.linalg.vector_norm(x, ord=math.nan)
    with pytest.raises(xp.ShapeError, match="x has no elements"):
        xp.linalg.vector_norm(xp.ones(0), ord=-math.inf)
    assert float(xp.linalg.vector_norm(xp.ones(0), ord=-1)) == math.inf
    for call in (
        lambda: xp.linalg.vector_norm(x, ord="fro"),
        lambda: xp.linalg.vector_norm(x, ord=True),
        lambda: xp.linalg.vector_norm(x, ord=1j),
        lambda: xp.linalg.vector_norm(x, keepdims=None),
        lambda: xp.linalg.vector_norm(np.ones(2)),
    ):
        with pytest.raises(TypeError):
            call()


# Powers


@pytest.mark.parametrize("dtype", FLOATING)
def test_matrix_power(dtype):
    for size, stack in itertools.product((0, 1, 3), STACKS):
        for x, a in layouts(values(dtype, (*stack, size, size)) / 4):
            for n in (0, 1, 2, 3, 5, 8, -1, -2):
                same(linalg_power(n), (x, a), rtol=EPS[dtype] * 100, what=f"{a.shape} {n}")


def linalg_power(n):
    return lambda ns, a: ns.linalg.matrix_power(a, n)


def test_matrix_power_is_always_new():
    x = xp.eye(2)
    assert not strided.shares_storage(xp.linalg.matrix_power(x, 1), x)
    for call in (
        lambda: xp.linalg.matrix_power(x, 1.0),
        lambda: xp.linalg.matrix_power(x, True),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(xp.ShapeError, match="x must be square"):
        xp.linalg.matrix_power(xp.ones((2, 3)), 2)


# Diagonals


@pytest.mark.parametrize("dtype", DTYPES)
def test_diagonal_and_trace(dtype):
    for shape in ((3, 4), (4, 3), (2, 3, 3), (0, 3), (3, 0), (2, 0, 2, 2), (1, 1)):
        for x, a in layouts(values(dtype, shape)):
            for offset in (0, 1, -1, 3, -2, 4, -5, 100):
                same(linalg("diagonal", offset=offset), (x, a), what=f"{shape} {offset}")
                same(
                    linalg("trace", offset=offset),
                    (x, a),
                    rtol=EPS.get(dtype, 0.0),
                    what=f"{shape} {offset}",
                )


def test_diagonal_is_a_view():
    x = xp.zeros((2, 3, 4))
    d = xp.linalg.diagonal(x, offset=1)
    d[...] = 1.0
    assert_same(xp.sum(x, axis=0), 2 * np.eye(3, 4, k=1))
    assert strided.shares_storage(d, x)


def test_trace_dtype():
    x = xp.full((300, 300), 100, dtype=xp.uint8)
    assert xp.linalg.trace(x).dtype is xp.uint64
    assert int(xp.linalg.trace(x)) == 30000
    assert int(xp.linalg.trace(x, dtype=xp.uint8)) == 30000 % 256
    assert xp.linalg.trace(xp.ones((2, 2), dtype=xp.float32)).dtype is xp.float32
    assert_same(xp.linalg.trace(x, dtype=xp.complex64), np.asarray(30000, np.complex64))
    assert float(xp.linalg.trace(xp.ones((0, 0)))) == 0.0
    with pytest.raises(TypeError, match="trace: cannot cast complex"):
        xp.linalg.trace(xp.ones((2, 2), dtype=xp.complex64), dtype=xp.float32)


def test_diagonal_and_trace_refuse():
    for name in ("diagonal", "trace"):
        function = getattr(xp.linalg, name)
        with pytest.raises(xp.ShapeError, match=f"{name}: x must be a matrix"):
            function(xp.ones(3))
        for call in (
            lambda f=function: f(np.ones((2, 2))),
            lambda f=function: f(xp.ones((2, 2)), offset=0.0),
        ):
            with pytest.raises(TypeError):
                call()


# Products of vectors


@pytest.mark.parametrize("dtype", NUMERIC)
def test_outer(dtype):
    for size1, size2 in ((3, 4), (0, 3), (1, 1)):
        x, y = both(values(dtype, (size1,))), both(values(dtype, (size2,)))
        same(linalg("outer"), x, y, rtol=EPS.get(dtype, 0.0))
        same(linalg("outer"), (xp.flip(x[0]), np.flip(x[1])), y, rtol=EPS.get(dtype, 0.0))
    assert xp.linalg.outer(xp.ones(2, dtype=xp.int8), xp.ones(3)).dtype is xp.float64
    with pytest.raises(xp.ShapeError, match="x2 must have one axis"):
        xp.linalg.outer(xp.ones(2), xp.ones((2, 1)))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_cross(dtype):
    for shape1, shape2, axis in (
        ((3,), (3,), -1),
        ((2, 3), (2, 3), -1),
        ((3, 2), (3, 2), -2),
        ((2, 3), (3,), -1),
        ((5, 1, 3), (4, 3), -1),
        ((2, 3, 1), (3, 4), -2),
        ((3, 2, 4), (3, 1, 4), -3),
        ((0, 3), (1, 3), -1),
        ((3, 0), (3, 0), -2),
    ):
        x, y = both(values(dtype, shape1)), both(values(dtype, shape2)[..., ::-1])
        if y[1].shape[axis] != 3:
            continue
        expected = quietly(np.cross, x[1], y[1], axis, axis, axis)
        assert_same(
            xp.linalg.cross(x[0], y[0], axis=axis), expected, EPS.get(dtype, 0.0), f"{shape1} {shape2}"
        )


def test_cross_refuses():
    cross = xp.linalg.cross
    with pytest.raises(xp.ShapeError, match="axis -1 of x2 has size 1, not 3"):
        cross(xp.ones(3), xp.ones(1))
    with pytest.raises(xp.ShapeError, match="axis -1 of x1 has size 2, not 3"):
        cross(xp.ones(2), xp.ones(2))
    with pytest.raises(xp.AxisError, match="axis 0 is not counted from the last one"):
        cross(xp.ones((3, 3)), xp.ones((3, 3)), axis=0)
    with pytest.raises(xp.AxisError):
        cross(xp.ones((3, 3)), xp.ones(3), axis=-2)
    with pytest.raises(xp.BroadcastError, match="cross"):
        cross(xp.ones((2, 3)), xp.ones((4, 3)))
    with pytest.raises(TypeError, match="Unsupported dtype bool of x1 or x2"):
        cross(xp.ones(3, dtype=xp.bool), xp.ones(3, dtype=xp.bool))
    with pytest.raises(TypeError):
        cross(xp.ones(3), np.ones(3))
    assert_same(cross(xp.asarray([1, 0, 0]), xp.asarray([0.0, 1.0, 0.0])), np.asarray([0.0, 0.0, 1.0]))


def test_everything_is_there():
    decompositions = [*DECOMPOSITIONS, "solve", "matrix_power"]
    products = ["cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]
    rest = ["diagonal", "matrix_norm", "trace", "vector_norm", "LinAlgError"]
    rest += ["LstsqResult", "expm", "lstsq", "solve_triangular"]
    assert sorted(xp.linalg.__all__) == sorted(decompositions + products + rest)
    assert len(xp.linalg.__all__) == 25 + 1 + 4


# Integers and bool, which the standard leaves out; they count as float64, as in NumPy

WHOLE = {
    "bool": np.asarray([[True, True, False], [False, True, True], [True, False, True]]),
    "int8": np.asarray([[4, 1, 2], [1, 5, 3], [2, 3, 6]], np.int8),
    "uint64": np.asarray([[4, 1, 2], [1, 5, 3], [2, 3, 6]], np.uint64),
    "int64": np.asarray([[4, -1, 2], [-1, 5, 3], [2, 3, 6]]),
}


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize(
    "call",
    [
        lambda linalg, x: linalg.cholesky(x),
        lambda linalg, x: linalg.det(x),
        lambda linalg, x: linalg.eig(x).eigenvalues,
        lambda linalg, x: linalg.eigh(x).eigenvalues,
        lambda linalg, x: linalg.eigvals(x),
        lambda linalg, x: linalg.eigvalsh(x),
        lambda linalg, x: linalg.inv(x),
        lambda linalg, x: linalg.matrix_rank(x),
        lambda linalg, x: linalg.pinv(x),
        lambda linalg, x: linalg.qr(x)[1],
        lambda linalg, x: linalg.slogdet(x)[1],
        lambda linalg, x: linalg.solve(x, x[:, :2]),
        lambda linalg, x: linalg.solve(x, x[0, :]),
        lambda linalg, x: linalg.svd(x)[0],
        lambda linalg, x: linalg.svdvals(x),
        lambda linalg, x: linalg.matrix_norm(x),
        lambda linalg, x: linalg.matrix_norm(x, ord=1),
        lambda linalg, x: linalg.matrix_norm(x, ord=2),
        lambda linalg, x: linalg.vector_norm(x),
        lambda linalg, x: linalg.vector_norm(x, axis=0, ord=3),
        lambda linalg, x: linalg.vector_norm(x, axis=1, ord=math.inf),
        lambda linalg, x: linalg.vector_norm(x, ord=1, keepdims=True),
        lambda linalg, x: linalg.vector_norm(x, ord=0),
        *(lambda linalg, x, n=n: linalg.matrix_power(x, n) for n in (-2, 0, 1, 2, 5)),
        lambda linalg, x: linalg.cross(x, linalg.inv(x)),
    ],
)
def test_integers_and_bool(call, dtype):
    n = WHOLE[dtype]
    try:
        wanted = np.asarray(call(np.linalg, n))
    except np.linalg.LinAlgError:  # the mask is not positive definite
        with pytest.raises(xp.linalg.LinAlgError):
            call(xp.linalg, xp.asarray(n))
        return
    if wanted.dtype.kind == "f" and np.iscomplexobj(np.asarray(call(xp.linalg, xp.asarray(n)))):
        wanted = wanted.astype(complex)  # eigenvalues that happen to be real
    found = np.asarray(call(xp.linalg, xp.asarray(n)))
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14, strict=True)


def test_gradients_beside_integers():
    n, b = xp.asarray(WHOLE["int64"]), xp.asarray([1.0, -2.0, 0.5])
    whole = autograd.grad(lambda b: xp.sum(xp.linalg.solve(n, b) ** 2))(b)
    floats = autograd.grad(lambda b: xp.sum(xp.linalg.solve(xp.astype(n, xp.float64), b) ** 2))(b)
    assert whole.tolist() == floats.tolist()
    x = xp.asarray([[2.0, 1.0], [0.0, 3.0]])
    whole = autograd.grad(lambda x: xp.sum(xp.linalg.solve(x, xp.asarray([1, 2]))))(x)
    floats = autograd.grad(lambda x: xp.sum(xp.linalg.solve(x, xp.asarray([1.0, 2.0]))))(x)
    assert whole.tolist() == floats.tolist()


def test_strict_mode_refuses_integers_and_bool():
    with xp.strict():
        for dtype, name in itertools.product(
            ("bool", "int64"), (*DECOMPOSITIONS, "matrix_norm", "vector_norm")
        ):
            with pytest.raises(xp.StrictError):
                getattr(xp.linalg, name)(xp.ones((2, 2), dtype=getattr(xp, dtype)))
        with pytest.raises(xp.StrictError):
            xp.linalg.matrix_power(xp.ones((2, 2), dtype=xp.int64), 2)
        with pytest.raises(xp.StrictError):
            xp.linalg.solve(xp.ones((1, 1)), xp.ones(1, dtype=xp.int64))


@pytest.mark.parametrize(
    "diagonal", [(np.inf,), (-np.inf,), (2.0, -np.inf), (np.inf, 2.0), (-np.inf, -np.inf)]
)
def test_slogdet_of_infinite_determinants(diagonal: tuple[float, ...]) -> None:
    sign, logarithm = xp.linalg.slogdet(xp.asarray(np.diag(diagonal)))
    expected = np.linalg.slogdet(np.diag(diagonal))
    assert (float(sign), float(logarithm)) == (expected.sign, np.inf)
