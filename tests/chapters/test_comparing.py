"""`isclose`, `allclose`, `nan_to_num`, `cov`, `corrcoef` and `kron`, against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.testing import check_grad

RNG = np.random.default_rng(0)
NAN, INF = float("nan"), float("inf")


def same(found: xp.Array, wanted: Any, rtol: float = 0.0) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=1e-15 if rtol else 0)


def test_isclose() -> None:
    values = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1.0 + 1e-4, INF, -INF, NAN, 1e-9, 1e300]
    a = np.array(values)
    x = xp.asarray(a)
    for equal_nan in (False, True):
        wanted = np.isclose(a[:, None], a, equal_nan=equal_nan)
        same(xp.isclose(x[:, None], x, equal_nan=equal_nan), wanted)
        assert xp.allclose(x, x, equal_nan=equal_nan) is bool(np.allclose(a, a, equal_nan=equal_nan))
    same(xp.isclose(x[:, None], x, rtol=1e-3, atol=0), np.isclose(a[:, None], a, rtol=1e-3, atol=0))
    tolerances = np.linspace(0, 1e-3, a.size)
    same(xp.isclose(x[:, None], x, xp.asarray(tolerances)), np.isclose(a[:, None], a, tolerances))
    z = np.array([1 + 1j, complex(INF, 0), complex(NAN, 1)])
    same(xp.isclose(xp.asarray(z)[:, None], xp.asarray(z)), np.isclose(z[:, None], z))
    bytes_ = np.array([0, 1, 255], np.uint8)
    same(xp.isclose(xp.asarray(bytes_)[:, None], xp.asarray(bytes_)), np.isclose(bytes_[:, None], bytes_))
    same(xp.isclose(xp.asarray([True, False]), 1.0), [True, False])
    assert xp.allclose(xp.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0 + 1e-9]))
    assert not xp.allclose(1.0, xp.asarray([1.0, 2.0]))
    assert xp.allclose(xp.zeros(0), xp.zeros(0))
    with pytest.raises(xp.BroadcastError):
        xp.isclose(xp.ones(2), xp.ones(3))
    with pytest.raises(xp.Stride0Error):
        xp.isclose([1.0], xp.ones(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64", "int64", "bool"])
def test_nan_to_num(dtype: str) -> None:
    a = np.array([[1, NAN, INF], [-INF, -0.0, 7]])
    if dtype[0] == "c":
        a = np.stack([a, a[::-1, ::-1]], axis=-1).view(np.complex128)[..., 0]
    elif dtype in ("int64", "bool"):
        a = np.nan_to_num(a, posinf=3, neginf=4)
    a = a.astype(dtype)
    for b in (a, a.T, a[:, ::-1], a[:, :0]):
        x = xp.asarray(b)
        same(xp.nan_to_num(x), np.nan_to_num(b))
        same(xp.nan_to_num(x, nan=5, posinf=6, neginf=-6), np.nan_to_num(b, nan=5, posinf=6, neginf=-6))
    x = xp.asarray(a, copy=True)
    assert xp.nan_to_num(x) is not x
    assert xp.nan_to_num(x, copy=False) is x
    same(x, np.nan_to_num(a))


def test_cov_and_corrcoef() -> None:
    a, b = RNG.standard_normal((3, 8)), RNG.standard_normal((2, 8))
    x, y = xp.asarray(a), xp.asarray(b)
    for rows in (True, False):
        for given, wanted in (((x,), (a,)), ((x[0],), (a[0],)), ((x[0], x[1]), (a[0], a[1]))):
            same(xp.cov(*given, rowvar=rows), np.cov(*wanted, rowvar=rows), 1e-13)
            same(xp.corrcoef(*given, rowvar=rows), np.corrcoef(*wanted, rowvar=rows), 1e-12)
    same(xp.cov(x, y), np.cov(a, b), 1e-13)
    same(xp.cov(x.T, y.T, rowvar=False), np.cov(a.T, b.T, rowvar=False), 1e-13)
    same(xp.cov(x, bias=True), np.cov(a, bias=True), 1e-13)
    same(xp.cov(x, ddof=3), np.cov(a, ddof=3), 1e-13)
    counts, weights = RNG.integers(1, 5, 8), RNG.random(8)
    for ddof in (None, 0, 2):
        for f in (None, counts):
            for w in (None, weights):
                given_f, given_w = (None if v is None else xp.asarray(v) for v in (f, w))
                found = xp.cov(x, ddof=ddof, fweights=given_f, aweights=given_w)
                same(found, np.cov(a, ddof=ddof, fweights=f, aweights=w), 1e-12)
    z = a + 1j * RNG.standard_normal((3, 8))
    same(xp.cov(xp.asarray(z)), np.cov(z), 1e-13)
    same(xp.corrcoef(xp.asarray(z)), np.corrcoef(z), 1e-12)
    same(xp.cov(xp.asarray(a.astype("f4")), dtype=xp.float32), np.cov(a.astype("f4"), dtype=np.float32), 1e-4)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        one = np.cov(a[:, :1])
    assert np.array_equal(np.isfinite(one), np.isfinite(np.asarray(xp.cov(x[:, :1]))))


def test_errors_of_cov() -> None:
    x = xp.ones((2, 4))
    for keywords, error in (
        ({"ddof": 0.5}, xp.ArgumentTypeError),
        ({"fweights": xp.asarray([1.0, 2.0, 0.5, 1.0])}, xp.ArgumentValueError),
        ({"aweights": xp.asarray([1.0, -2.0, 0.5, 1.0])}, xp.ArgumentValueError),
        ({"aweights": xp.ones(3)}, xp.ShapeError),
        ({"y": xp.ones((2, 3))}, xp.ShapeError),
        ({"y": [1.0, 2.0]}, xp.ForeignArrayError),
    ):
        with pytest.raises(error):
            xp.cov(x, **keywords)  # type: ignore[arg-type]
    with pytest.raises(xp.ShapeError):
        xp.cov(xp.ones((1, 2, 3)))


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
def test_kron(dtype: str) -> None:
    for first, second in (
        ((2,), (3,)),
        ((2, 3), (3, 1)),
        ((2,), (2, 2)),
        ((2, 1, 3), (2, 2)),
        ((), (3,)),
        ((0, 2), (3, 2)),
    ):
        a, b = ((RNG.standard_normal(shape) * 9).astype(dtype) for shape in (first, second))
        same(xp.kron(xp.asarray(a), xp.asarray(b)), np.kron(a, b))
    same(xp.kron(xp.asarray([1.0, 2.0]), 3), [3.0, 6.0])
    with pytest.raises(xp.ArgumentTypeError):
        xp.kron(2, 3)


def test_gradients() -> None:
    x = xp.asarray(RNG.standard_normal((2, 5)))
    check_grad(lambda x: xp.sum(xp.cov(x) ** 2), x)
    check_grad(lambda x: xp.sum(xp.corrcoef(x) ** 2), x)
    check_grad(lambda x, w: xp.sum(xp.cov(x, aweights=w) ** 2), x, xp.asarray(RNG.random(5) + 0.5))
    check_grad(lambda x: xp.sum(xp.kron(x, x) ** 2), x)
    check_grad(lambda x: xp.sum(xp.nan_to_num(x) ** 2), x)
    assert xp.autograd.grad(lambda x: xp.sum(xp.nan_to_num(x)))(xp.asarray([1.0, NAN, INF])).tolist() == [
        1,
        0,
        0,
    ]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_scalars_are_weak(dtype: str) -> None:
    x = xp.asarray([0.1], dtype=getattr(xp, dtype))
    a = np.asarray([0.1], dtype=dtype)
    for tolerances in ({}, {"rtol": 0.0, "atol": 0.0}):
        assert bool(xp.isclose(x, 0.1, **tolerances)[0]) == bool(np.isclose(a, 0.1, **tolerances)[0]) is True
        assert xp.allclose(0.1, x, **tolerances)
    assert xp.isclose(xp.asarray([2, 3]), 2.5, atol=0.5, rtol=0.0).tolist() == [True, True]


def test_weights_that_are_all_zero() -> None:
    x = xp.ones((2, 3))
    for weights in ({"fweights": xp.zeros(3)}, {"aweights": xp.zeros(3)}):
        with pytest.raises(xp.ArgumentValueError, match="all weights are 0"):
            xp.cov(x, **weights)
