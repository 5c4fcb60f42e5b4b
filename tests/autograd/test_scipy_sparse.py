"""Forms of `scipy.sparse.linalg`: gradients by the elements of a matrix and by right-hand sides."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import stride0 as xp
from stride0 import autograd
from stride0.autograd.scipy import patched
from stride0.autograd.scipy.sparse import linalg
from stride0.testing import check_grad

sparse = pytest.importorskip("scipy.sparse", reason="the forms call SciPy")
theirs = importlib.import_module("scipy.sparse.linalg")

N = 6
RNG = np.random.default_rng(0)
COO = (sparse.random_array((N, N), density=0.4, rng=RNG) + 10 * sparse.eye_array(N)).tocoo()
CSR = COO.tocsr()
PLACES = (COO.row, COO.col)
DATA, B = xp.asarray(COO.data), xp.asarray(RNG.standard_normal(N))
SEVERAL = xp.asarray(RNG.standard_normal((N, 2)))
DENSE = xp.asarray(COO.toarray())


def by_gmres(a, b):
    return linalg.gmres(a, b, rtol=1e-14, atol=0.0)[0]


def by_cg(a, b):
    return linalg.cg((a + a.T) / 2, b, rtol=1e-14, atol=0.0)[0]


@pytest.mark.parametrize(
    ("solve", "arrays"),
    [
        (lambda d, b: linalg.spsolve((d, PLACES), b), (DATA, B)),
        (lambda d, b: linalg.spsolve((d, PLACES), b), (DATA, SEVERAL)),
        (lambda d, b: linalg.spsolve((d, CSR.indices, CSR.indptr), b), (xp.asarray(CSR.data), B)),
        (lambda b: linalg.spsolve(COO, b), (B,)),
        (lambda d, b: by_gmres((d, PLACES), b), (DATA, B)),
        (lambda d, b: linalg.bicgstab((d, PLACES), b, rtol=1e-14)[0], (DATA, B)),
        (lambda a, b: by_cg(a, b), (DENSE @ DENSE.T, B)),
        (lambda b: by_gmres(theirs.aslinearoperator(CSR), b), (B,)),
        (lambda b: linalg.gmres(CSR, b, rtol=1e-14, M=sparse.diags_array(1 / CSR.diagonal()))[0], (B,)),
    ],
)
def test_gradients(solve, arrays):
    check_grad(solve, *arrays, order=2)
    v = [xp.ones_like(x) for x in arrays]
    _, pull = autograd.vjp(solve, *arrays)
    y, forward = autograd.jvp(solve, arrays, v)
    back = sum(xp.sum(g) for g in pull(xp.ones_like(y)))
    assert abs(float(back - xp.sum(forward))) < 1e-12


def test_closed_form():
    """The gradient of one element of the solution by all elements of the matrix, against dense matrices."""
    found = autograd.jacobian(lambda d: linalg.spsolve((d, PLACES), SEVERAL))(DATA)
    expected = autograd.jacobian(lambda a: xp.linalg.solve(a, SEVERAL))(DENSE)
    np.testing.assert_allclose(found, np.asarray(expected)[:, :, COO.row, COO.col], rtol=1e-10, atol=1e-14)


def test_repeated_places_are_added():
    places = (np.asarray([0, 0, 1]), np.asarray([0, 0, 1]))
    found = autograd.grad(lambda d: linalg.spsolve((d, places), xp.ones(2))[0])(xp.asarray([1.0, 1.0, 3.0]))
    np.testing.assert_allclose(found, [-0.25, -0.25, 0.0])


def test_results_are_those_of_scipy():
    b = np.asarray(B)
    for found, expected in (
        (linalg.spsolve((DATA, PLACES), B[:, None]), theirs.spsolve(CSR, b[:, None])),
        (linalg.gmres(CSR, B)[0], theirs.gmres(CSR, b)[0]),
        (linalg.cg(CSR, B, x0=xp.ones(N), maxiter=2)[0], theirs.cg(CSR, b, x0=np.ones(N), maxiter=2)[0]),
    ):
        assert isinstance(found, xp.Array) and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert linalg.cg(CSR, B, maxiter=1, rtol=1e-15)[1] == theirs.cg(CSR, b, maxiter=1, rtol=1e-15)[1] == 1
    batch = autograd.vmap(lambda b: linalg.spsolve((DATA, PLACES), b))(SEVERAL.T)
    np.testing.assert_allclose(batch.T, linalg.spsolve((DATA, PLACES), SEVERAL), rtol=1e-12)


def test_patched():
    expected = autograd.grad(lambda d: linalg.spsolve((d, PLACES), B)[0])(DATA)
    with patched():
        found = autograd.grad(lambda d: theirs.spsolve((d, PLACES), B)[0])(DATA)
        assert theirs.spsolve((DATA, PLACES), B).shape == (N,)
        assert isinstance(theirs.spsolve(CSR, np.asarray(B)), np.ndarray)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        (lambda b: linalg.spsolve((DATA, (COO.row,)), b), r"spsolve: A is not a matrix of 6 rows"),
        (lambda b: linalg.spsolve((DATA[1:], PLACES), b), r"spsolve: A is not a matrix of 6 rows"),
        (lambda b: linalg.spsolve((DATA, PLACES), b[1:]), r"spsolve: A is not a matrix of 5 rows"),
        (lambda b: linalg.spsolve(xp.zeros((2, 3)), b), r"spsolve: A has shape \(2, 3\)"),
        (lambda b: linalg.cg((DATA, PLACES), b[:, None])[0], r"cg: b has shape \(6, 1\)"),
        (
            lambda b: linalg.gmres(CSR, b, rtol=1e-14, maxiter=1, restart=1)[0],
            r"gmres: the iteration did not",
        ),
    ],
)
def test_errors(solve, words):
    with pytest.raises(xp.Stride0Error, match=words):
        autograd.grad(lambda b: xp.sum(solve(b)))(B)
