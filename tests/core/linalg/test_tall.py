"""Orthogonal factors of matrices with more rows than columns: the kernels of `tall_matrices.h`."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
import pytest

import stride0 as xp
from stride0._core.matmul import numpy_loops

EPS = 2.0**-52
# Below and at the bounds of blocks and of sections, and columns that fill units of 8 and do not.
SHAPES = [
    (6, 3),
    (8, 4),
    (41, 9),
    (255, 8),
    (257, 33),
    (513, 5),
    (600, 128),
    (1023, 15),
    (1024, 16),
    (1025, 3),
    (2500, 64),
    (9000, 7),
]


def random(*shape, dtype="float64", seed=5):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def wide(x):
    return np.asarray(x).astype("float64")


def orthogonality(q):
    return np.abs(np.swapaxes(q, -1, -2) @ q - np.eye(q.shape[-1])).max()


def check_qr(a):
    """Q has orthonormal columns, R is a triangle, and each column of their product is near the matrix's."""
    q, r = map(wide, xp.linalg.qr(xp.asarray(a)))
    eps = np.finfo(a.dtype).eps
    assert q.shape == a.shape and r.shape == (*a.shape[:-2], a.shape[-1], a.shape[-1])
    assert not np.tril(r, -1).any()
    assert orthogonality(q) <= 100 * EPS + 8 * eps * (a.dtype == "float32")
    largest = np.abs(a).max(axis=-2, keepdims=True)
    size = np.linalg.norm(a / np.where(largest > 0, largest, 1), axis=-2, keepdims=True) * largest
    assert (np.abs(q @ r - a) <= 16 * eps * size).all()
    return q, r


def check_svd(a):
    u, s, vh = map(wide, xp.linalg.svd(xp.asarray(a), full_matrices=False))
    eps = np.finfo(a.dtype).eps
    expected = np.linalg.svd(a.astype("float64"), compute_uv=False)
    for part in (u, np.swapaxes(vh, -1, -2)):
        assert orthogonality(part) <= 200 * EPS + 8 * eps * (a.dtype == "float32")
    largest = expected.max(axis=-1, keepdims=True, initial=0)
    assert (np.abs(s - expected) <= 32 * eps * largest).all()
    assert (np.abs((u * s[..., None, :]) @ vh - a) <= 32 * eps * largest[..., None]).all()
    alone = wide(xp.linalg.svdvals(xp.asarray(a)))
    assert (np.abs(alone - expected) <= 32 * eps * largest).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_are_those_of_numpy(shape, dtype):
    """The factors agree with LAPACK's to rounding, including signs."""
    a = random(*shape, dtype=dtype)
    q, r = check_qr(a)
    expected = np.linalg.qr(a)
    assert xp.linalg.qr(xp.asarray(a)).Q.dtype == getattr(xp, dtype)
    eps = np.finfo(dtype).eps
    assert (np.sign(np.diag(r)) == np.sign(np.diag(expected.R))).all()
    assert np.abs(q - expected.Q).max() <= 500 * EPS + 4 * eps
    assert np.abs(r - expected.R).max() <= (500 * EPS + 4 * eps) * np.linalg.norm(a)
    check_svd(a)


@pytest.mark.parametrize("shape", [(5, 1), (3000, 1), (5, 2), (3000, 2), (3000, 130), (260, 129), (20, 15)])
def test_other_shapes(shape):
    """Matrices of which LAPACK computes some columns or all."""
    check_qr(random(*shape))
    check_svd(random(*shape))


def test_blocks_are_really_used():
    """The bits differ from LAPACK's, so the tests do test our kernels."""
    a = random(3000, 20)
    assert not np.array_equal(np.asarray(xp.linalg.qr(xp.asarray(a)).R), np.linalg.qr(a).R)
    assert not np.array_equal(np.asarray(xp.linalg.svdvals(xp.asarray(a))), np.linalg.svdvals(a))


def special_matrices():
    rows, n = 3000, 12
    a = random(rows, n)
    yield "graded columns", a * 10.0 ** np.arange(-60, 60, 10), True
    yield "graded columns, descending", a * 10.0 ** np.arange(60, -60, -10), True
    yield "graded rows", a * np.logspace(-6, 6, rows)[:, None], True
    yield "graded rows, descending", a * np.logspace(6, -6, rows)[:, None], True
    yield "first rows that vanish beside the others", a * np.logspace(-20, 20, rows)[:, None], True
    yield "huge", a * 1e300, True
    yield "tiny", a * 1e-300, True
    yield "squares overflow in one column", a * np.where(np.arange(n) == 3, 1e160, 1), True
    yield "squares underflow in one column", a * np.where(np.arange(n) == 3, 1e-170, 1), True
    yield "integers, the first of which is 0", np.round(a) * (np.arange(rows) > 0)[:, None], True
    yield "first row of negative zeros", a * np.where(np.arange(rows) > 0, 1, -0.0)[:, None] + -0.0, True
    yield "first rows of zeros", np.where(np.arange(rows)[:, None] >= 5, a, 0), True
    yield "first rows of zeros of both signs", a * (np.arange(rows) >= 5)[:, None], True
    yield "zeros below the first rows", a * (np.arange(rows) < 40)[:, None], True
    yield "a constant and a range", np.column_stack([np.ones(rows), np.arange(rows), a]), True
    yield "identity", np.eye(rows, n), True
    yield "its negative", -np.eye(rows, n), True
    yield "a triangle above zeros", np.triu(a), True
    yield "columns of a triangle, and others", np.column_stack([np.triu(a)[:, :3], a[:, 3:]]), True
    one_hot = np.zeros((rows, n))
    one_hot[np.arange(rows), np.random.default_rng(1).integers(0, n, rows)] = 1
    yield "one-hot rows", one_hot, True
    # Some factors are not unique.
    yield "a column of zeros", np.where(np.arange(n) == 4, 0, a), False
    yield "first column of zeros", np.where(np.arange(n) == 0, 0, a), False
    yield "a repeated column", a[:, [0, 1, 2, 3, 4, 5, 6, 7, 2, 9, 10, 11]], False
    yield "zeros", np.zeros((rows, n)), False
    yield (
        "nearly singular",
        a @ random(n, n) @ np.diag(10.0 ** -np.arange(0, 24, 2.0)) @ random(n, n, seed=6),
        False,
    )


SPECIAL = {what: (a, determined) for what, a, determined in special_matrices()}


@pytest.mark.parametrize("what", SPECIAL)
def test_special_matrices(what):
    a, determined = SPECIAL[what]
    _, r = check_qr(a)
    if determined:
        expected = np.linalg.qr(a).R
        assert (np.sign(np.diag(r)) == np.sign(np.diag(expected))).all()
    check_svd(a)


def test_residuals_that_vanish():
    """Columns of a constant matrix become rounding errors of earlier columns, until squares underflow."""
    check_qr(np.ones((3000, 12)))
    a = np.full((3000, 12), 2.0**-66)
    q, r = (np.asarray(part) for part in xp.linalg.qr(xp.asarray(a)))
    assert np.abs(q.T @ q - np.eye(12)).max() < 4e-14
    assert np.linalg.norm(q @ r - a) < 1e-14 * np.linalg.norm(a)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (0, 11), (11, 0), (1300, 5), (2999, 11)])
def test_what_is_not_finite_is_left_to_lapack(wrong, place):
    a = random(3000, 12)
    a[place] = wrong
    with np.errstate(all="ignore"):
        expected = np.linalg.qr(a)
    for got, wanted in zip(xp.linalg.qr(xp.asarray(a)), expected, strict=True):
        assert np.array_equal(np.asarray(got), wanted, equal_nan=True)
    stack = xp.stack([xp.asarray(random(3000, 12))] * 2 + [xp.asarray(a)])
    for call in (
        lambda x: xp.linalg.svd(x, full_matrices=False),
        xp.linalg.svdvals,
        xp.linalg.pinv,
        lambda x: xp.linalg.lstsq(x, xp.ones(3000)),
    ):
        with pytest.raises(xp.linalg.LinAlgError, match="NaN or infinity"):
            call(xp.asarray(a))
        with pytest.raises(xp.linalg.LinAlgError, match=r"\(2,\)"):
            call(stack)


def results(x):
    yield from xp.linalg.qr(x)
    yield from xp.linalg.svd(x, full_matrices=False)
    yield xp.linalg.svdvals(x)


def layouts(a):
    """The same matrices: columns first, with gaps, reversed, not aligned, in a larger array."""
    yield np.ascontiguousarray(np.swapaxes(a, -1, -2)).swapaxes(-1, -2)
    yield np.repeat(np.repeat(a, 2, axis=-1), 3, axis=-2)[..., ::3, ::2]
    yield np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1]
    yield np.ascontiguousarray(a[..., ::-1, :])[..., ::-1, :]
    memory = np.zeros(a.nbytes + 1, dtype="uint8")
    unaligned = memory[1:].view(a.dtype).reshape(a.shape)
    unaligned[...] = a
    yield unaligned
    padded = np.full((*a.shape[:-1], a.shape[-1] + 3), np.nan, dtype=a.dtype)
    padded[..., 1:-2] = a
    yield padded[..., 1:-2]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(600, 13), (2100, 24), (3, 700, 9), (2, 2, 40, 4)])
def test_bits_depend_on_neither_layout_nor_threads(shape, dtype):
    a = random(*shape, dtype=dtype)
    expected = [np.asarray(part) for part in results(xp.asarray(a))]
    for view in layouts(a):
        for got, wanted in zip(results(xp.asarray(view)), expected, strict=True):
            assert np.array_equal(np.asarray(got), wanted)
    before = xp.get_num_threads()
    try:
        for threads in (1, 2, 3):
            xp.set_num_threads(threads)
            for got, wanted in zip(results(xp.asarray(a)), expected, strict=True):
                assert np.array_equal(np.asarray(got), wanted)
    finally:
        xp.set_num_threads(before)


@pytest.mark.parametrize("lead", [(5,), (2, 3), (1, 4, 1), (0,), (2, 0)])
def test_a_matrix_has_the_bits_that_it_has_in_a_stack(lead):
    a = random(*lead, 1100, 6)
    together = [np.asarray(part) for part in results(xp.asarray(a))]
    assert [part.shape for part in together] == [
        (*lead, *tail) for tail in ((1100, 6), (6, 6), (1100, 6), (6,), (6, 6), (6,))
    ]
    for index in np.ndindex(*lead):
        for got, wanted in zip(results(xp.asarray(a[index])), together, strict=True):
            assert np.array_equal(np.asarray(got), wanted[index])
    if a.size:
        check_qr(a)
        check_svd(a)


def test_broadcast_stacks_and_many_small_matrices():
    a = random(90, 5)
    spread = xp.broadcast_to(xp.asarray(a), (3, 90, 5))
    for got, wanted in zip(results(spread), results(xp.asarray(a)), strict=True):
        assert all(np.array_equal(np.asarray(got[k, ...]), np.asarray(wanted)) for k in range(3))
    check_qr(random(2000, 20, 5))
    check_svd(random(2000, 20, 5))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(2000, 10), (900, 60), (3, 700, 8)])
@pytest.mark.parametrize("sides", [None, 1, 5])
def test_least_squares(shape, dtype, sides):
    a = random(*shape, dtype=dtype)
    b = (
        random(shape[-2] if sides is None else 1, sides or 1, dtype=dtype, seed=8)[:, 0]
        if sides is None
        else random(*shape[:-1], sides, dtype=dtype, seed=8)
    )
    found = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b))
    columns = b[:, None] if sides is None else b
    expected = np.linalg.pinv(a.astype("float64")) @ columns
    got = wide(found.solution)
    got = got[..., None] if sides is None else got
    eps = np.finfo(dtype).eps
    assert found.solution.dtype == getattr(xp, dtype)
    assert np.abs(got - expected).max() <= 50 * eps
    assert (np.asarray(found.rank) == shape[-1]).all()
    np.testing.assert_allclose(
        wide(found.singular_values), np.linalg.svdvals(a.astype("float64")), rtol=50 * eps
    )
    residuals = ((columns - a.astype("float64") @ expected) ** 2).sum(axis=-2)
    np.testing.assert_allclose(wide(found.residuals).reshape(residuals.shape), residuals, rtol=100 * eps)


def test_least_squares_of_less_than_full_rank():
    a = random(2000, 6)
    a[:, 4] = a[:, 0] + a[:, 1]
    b = random(2000, 2)
    found = xp.linalg.lstsq(xp.asarray(a), xp.asarray(b))
    expected = np.linalg.lstsq(a, b, rcond=None)
    assert int(found.rank) == expected[2] == 5
    np.testing.assert_allclose(np.asarray(found.solution), expected[0], atol=1e-13)
    # Right-hand sides for all matrices of a stack.
    stack = xp.asarray(random(3, 700, 8))
    shared = xp.asarray(random(700, 2))
    got = xp.linalg.lstsq(stack, shared).solution
    for k in range(3):
        np.testing.assert_allclose(
            np.asarray(got[k, ...]), np.asarray(xp.linalg.lstsq(stack[k, ...], shared).solution), rtol=1e-12
        )


def test_pseudo_inverses_and_ranks():
    a = random(1500, 9)
    a[:, 3] = 2 * a[:, 5]
    x = xp.asarray(a)
    np.testing.assert_allclose(np.asarray(xp.linalg.pinv(x)), np.linalg.pinv(a), rtol=0, atol=1e-14)
    assert int(xp.linalg.matrix_rank(x)) == 8


def test_operands_are_left_alone():
    a = random(1500, 9)
    x = xp.asarray(a.copy())
    list(results(x))
    xp.linalg.lstsq(x, xp.ones(1500))
    assert np.array_equal(np.asarray(x), a)


def test_gradients():
    """Gradients of the factors, against finite differences."""
    a, direction = random(300, 4), random(300, 4, seed=9)
    weights = xp.asarray(random(300, 4, seed=10))

    def loss(x):
        q, r = xp.linalg.qr(x)
        u, s, vh = xp.linalg.svd(x, full_matrices=False)
        low_rank = (u[:, :2] * s[:2]) @ vh[:2, :]
        return (
            xp.sum(weights * q)
            + xp.sum(xp.sin(r))
            + xp.sum(xp.linalg.svdvals(x) ** 3)
            + xp.sum(weights * low_rank)
        )

    gradient = np.asarray(xp.autograd.grad(loss)(xp.asarray(a)))
    step = 1e-6
    difference = float(loss(xp.asarray(a + step * direction)) - loss(xp.asarray(a - step * direction))) / (
        2 * step
    )
    assert float((gradient * direction).sum()) == pytest.approx(difference, rel=1e-6)


def test_without_the_loops_of_numpy():
    """Only the decomposition of the triangle uses LAPACK."""
    from stride0._core.matmul.matmul import set_gufuncs

    a = random(700, 10)
    expected = [np.asarray(part) for part in results(xp.asarray(a))]
    set_gufuncs(lambda: [None] * len(numpy_loops.ROUTINES), numpy_loops.compute)
    try:
        found = [np.asarray(part) for part in results(xp.asarray(a))]
    finally:
        set_gufuncs(numpy_loops.load_gufuncs, numpy_loops.compute)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)


def between_guards(a, at_end):
    """The elements at the end or the beginning of separate memory, between pages that cannot be read."""
    protect = ctypes.CDLL(None).mprotect
    page = mmap.PAGESIZE
    size = -(-a.nbytes // page) * page
    memory = mmap.mmap(-1, size + 2 * page)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert protect(ctypes.c_void_p(first), page, 0) == 0
    assert protect(ctypes.c_void_p(first + page + size), page, 0) == 0
    start = page + size - a.nbytes if at_end else page
    out = np.frombuffer(memory, dtype=a.dtype, count=a.size, offset=start).reshape(a.shape)
    out[...] = a
    return out


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect of the C library")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(6, 3), (300, 9), (1500, 13), (700, 1), (515, 100)])
def test_no_element_of_others_is_read(shape, dtype):
    a = random(*shape, dtype=dtype)
    expected = [np.asarray(part) for part in results(xp.asarray(a))]
    for at_end in (False, True):
        for view in (
            between_guards(a, at_end),
            between_guards(a[::-1], at_end)[::-1],
            between_guards(a[:, ::-1], at_end)[:, ::-1],
            between_guards(np.ascontiguousarray(a.T), at_end).T,
        ):
            for got, wanted in zip(results(xp.asarray(view)), expected, strict=True):
                assert np.array_equal(np.asarray(got), wanted)
