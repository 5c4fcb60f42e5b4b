"""Spherical Bessel functions of `stride0.special` at negative real arguments and at the ends of the range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0 import special
from stride0.autograd import grad, vmap
from stride0.testing import check_grad

scipy_special = pytest.importorskip("scipy.special", reason="the functions are SciPy's")
kinds = pytest.mark.parametrize("kind", "jyik")
ORDERS = [0, 1, 2, 3, 6, 11]
POINTS = [-120.0, -60.0, -7.5, -2.5, -1.25, -0.3, -1e-3, 0.3, 2.5, 60.0]


def function(kind: str) -> Any:
    return getattr(special, f"spherical_{kind}n")


def by_scipy(kind: str, n: Any, z: Any, **options: Any) -> Any:
    with np.errstate(all="ignore"):
        return getattr(scipy_special, f"spherical_{kind}n")(n, z, **options)


@kinds
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_negative_arguments_are_reflected(kind: str, dtype: str) -> None:
    z = xp.asarray(POINTS[3:], dtype=getattr(xp, dtype))
    n = xp.asarray(ORDERS[:4], dtype=xp.int8)[:, None]
    found = function(kind)(n, z)
    assert found.dtype.name == dtype
    exact = by_scipy(kind, np.asarray(n).astype(int), np.asarray(xp.astype(z, xp.float64)))
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-12}[dtype]
    with np.errstate(over="ignore"):
        held = np.isfinite(np.asarray(xp.astype(xp.asarray(exact), getattr(xp, dtype)).astype(xp.float64)))
    rounded = np.asarray(xp.astype(found, xp.float64))
    assert np.allclose(rounded[held], exact[held], rtol=tolerance, atol=tolerance * 1e-2)


@kinds
def test_values_and_derivatives_are_scipys(kind: str) -> None:
    z = np.asarray(POINTS)
    for n in ORDERS:
        assert np.allclose(
            np.asarray(function(kind)(n, xp.asarray(z))), by_scipy(kind, n, z), rtol=1e-11, atol=0
        )
        slope = grad(lambda z, n=n: xp.sum(function(kind)(n, z)))(xp.asarray(z))
        assert np.allclose(np.asarray(slope), by_scipy(kind, n, z, derivative=True), rtol=1e-9, atol=1e-300)


@kinds
def test_gradients_to_second_order(kind: str) -> None:
    n = xp.asarray([[0], [1], [4]])
    check_grad(lambda z: function(kind)(n, z), xp.asarray([-3.0, -1.5, -0.75, 2.0]), order=2)


@kinds
def test_the_ends_of_the_range(kind: str) -> None:
    z = np.asarray([-0.0, 0.0, -np.inf, np.inf, np.nan])
    for n in (0, 1, 2, 3):
        assert np.array_equal(
            np.asarray(function(kind)(n, xp.asarray(z))), by_scipy(kind, n, z), equal_nan=True
        )


def test_where_scipys_are_nan_by_overflow() -> None:
    z = xp.asarray([-800.0, -1e300])
    for n in (0, 1, 2):
        assert function("k")(n, z).tolist() == [-np.inf, -np.inf]
        assert function("k")(n, xp.asarray(-1e-200)).tolist() == (
            np.inf if n == 1 else -np.inf if n else -np.pi / 2 * 1e200
        )


@kinds
def test_scalars_integers_and_complex_numbers(kind: str) -> None:
    f = function(kind)
    assert float(f(1, -2)) == float(f(1, -2.0)) == float(f(1, xp.asarray(-2, dtype=xp.int8)))
    assert (
        f(1, -2).dtype == xp.float64 and f(xp.asarray(1), xp.asarray(-128, dtype=xp.int8)).dtype == xp.float64
    )
    assert np.allclose(float(f(1, xp.asarray(-128, dtype=xp.int8))), by_scipy(kind, 1, -128.0), rtol=1e-11)
    z = np.asarray([-2.5, -2.5 + 1j, 1 - 2j])
    assert np.allclose(np.asarray(f(2, xp.asarray(z))), by_scipy(kind, 2, z), rtol=1e-13)
    assert f(2, xp.zeros((0, 3))).shape == (0, 3)


@kinds
def test_layouts_and_batches(kind: str) -> None:
    f, z = function(kind), np.linspace(-4.0, 3.0, 12).reshape(3, 4)
    whole = np.asarray(f(3, xp.asarray(z)))
    assert np.array_equal(np.asarray(f(3, xp.asarray(z).T)), whole.T)
    assert np.array_equal(np.asarray(f(3, xp.asarray(z)[::-1, ::2])), whole[::-1, ::2])
    assert np.array_equal(np.asarray(vmap(lambda z: f(3, z))(xp.asarray(z))), whole)
    with xp.fused():
        assert np.array_equal(np.asarray(f(3, xp.asarray(z) * 1.0)), whole)
    spread = f(3, xp.broadcast_to(xp.asarray([[-1.5], [2.0], [-0.5]]), (3, 4)))
    assert np.array_equal(np.asarray(spread), np.repeat(np.asarray(spread)[:, :1], 4, axis=1))
