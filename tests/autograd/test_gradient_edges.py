"""Gradients at poles, zeros and NaN, where a formula has no value of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, hessian, jvp, vmap

pytest.importorskip("mpmath")

from mpmath import mp

special = xp.special
nan, inf = math.nan, math.inf


def derivative(f: Callable[[Any], Any], order: int, x: float) -> float:
    for _ in range(order):
        f = grad(f)
    return float(f(xp.asarray(x)))


@pytest.mark.parametrize("x", [0.0, -1.0, -2.0, -5.0])
def test_rgamma_at_its_zeros(x: float) -> None:
    with mp.workdps(60):
        for order in range(1, 6):
            expected = float(mp.diff(mp.rgamma, x, order))
            assert derivative(special.rgamma, order, x) == pytest.approx(expected, rel=1e-11), order


@pytest.mark.parametrize("m", [1.0, 3.0, 4.0])
@pytest.mark.parametrize("z", [-6.0, -2.0, -2 + 1e-8, -1.0, 0.0, 0.3, 1.0])
def test_poch_of_a_whole_number_is_a_polynomial(z: float, m: float) -> None:
    polynomial = np.poly1d(-np.arange(int(m)), r=True)
    for order in range(1, 6):
        expected = float(polynomial.deriv(order)(z))
        assert derivative(lambda z: special.poch(z, m), order, z) == pytest.approx(
            expected, rel=1e-10, abs=1e-11
        ), order


def test_poch_between_poles() -> None:
    with mp.workdps(60):
        for order in (1, 2, 3):
            expected = float(mp.diff(lambda z: mp.rf(z, mp.mpf(0.5)), -2, order))
            found = derivative(lambda z: special.poch(z, 0.5), order, -2.0)
            assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("f", [xp.max, xp.min])
@pytest.mark.parametrize("dtype", [xp.float64, xp.float32, xp.float16])
def test_the_gradient_of_an_extreme_goes_to_nan(f: Callable[..., Any], dtype: Any) -> None:
    for x, expected in [([1, nan, 3], [0, 1, 0]), ([nan, 2, nan], [0.5, 0, 0.5]), ([1, 1, 1], [1 / 3] * 3)]:
        at = xp.asarray(x, dtype=dtype)
        found = np.asarray(grad(f)(at))
        np.testing.assert_allclose(found, expected, rtol=1e-3)
        np.testing.assert_array_equal(np.asarray(vmap(grad(f))(at[None])[0]), found)
        tangent = xp.asarray([1, 2, 4], dtype=dtype)
        assert float(jvp(f, (at,), (tangent,))[1]) == pytest.approx(float(found @ [1, 2, 4]), rel=1e-3)
    rows = xp.asarray([[1, nan, 3], [5, 4, 6]], dtype=dtype)
    best = [0, 0, 1] if f is xp.max else [0, 1, 0]
    found = np.asarray(grad(lambda x: xp.sum(f(x, axis=1)))(rows))
    np.testing.assert_array_equal(found, [[0, 1, 0], best])


@pytest.mark.parametrize("f", [xp.maximum, xp.minimum])
def test_the_gradient_of_a_choice_goes_to_nan(f: Callable[..., Any]) -> None:
    x1, x2 = xp.asarray([nan, 1.0, nan, 2.0]), xp.asarray([1.0, nan, nan, 2.0])
    found = grad(lambda a, b: xp.sum(f(a, b)), argnums=(0, 1))(x1, x2)
    np.testing.assert_array_equal(np.asarray(found[0]), [1, 0, 0.5, 0.5])
    np.testing.assert_array_equal(np.asarray(found[1]), [0, 1, 0.5, 0.5])


@pytest.mark.parametrize("f", [xp.std, xp.nanstd, xp.var, xp.nanvar])
def test_spread_of_equal_elements(f: Callable[..., Any]) -> None:
    for x in ([2.0, 2.0], [0.0, 0.0, 0.0], [1e-200, 1e-200]):
        at = xp.asarray(x)
        assert np.all(np.asarray(grad(f)(at)) == 0)
        assert np.all(np.isfinite(np.asarray(hessian(f)(at))))
    if f is xp.nanstd:
        assert np.asarray(grad(f)(xp.asarray([2.0, nan, 2.0]))).tolist() == [0, 0, 0]


def test_entropies_at_zero() -> None:
    zero = xp.asarray(0.0)
    by_both = {f: grad(f, argnums=(0, 1))(zero, zero) for f in (special.rel_entr, special.kl_div)}
    assert [float(g) for g in by_both[special.rel_entr]] == [0, 0]
    # Along x1 == x2 the function is 0.
    assert [float(g) for g in by_both[special.kl_div]] == [-1, 1]
    # The limits of the derivatives from the right
    assert derivative(lambda x: special.rel_entr(x, 1.0), 1, 0.0) == -inf
    assert derivative(lambda x: special.kl_div(x, 1.0), 1, 0.0) == -inf
    assert derivative(special.entr, 1, 0.0) == inf
    assert derivative(lambda y: special.xlogy(0.0, y), 1, 0.0) == 0
    assert derivative(lambda y: special.xlog1py(0.0, y), 1, -1.0) == 0


def test_powers_at_zero() -> None:
    assert derivative(lambda y: special.powm1(0.0, y), 1, 2.0) == 0
    for power, expected in ((0.5, inf), (1.0, 1.0), (2.0, 0.0)):
        assert derivative(lambda x, power=power: special.boxcox(x, power), 1, 0.0) == expected
        assert derivative(lambda y: special.boxcox(0.0, y), 1, power) == pytest.approx(power**-2)


def test_huber_at_its_edges() -> None:
    assert derivative(lambda r: special.huber(1.0, r), 1, 1.0) == 1
    assert derivative(lambda d: special.huber(d, 1.0), 1, 1.0) == 0
    assert derivative(lambda d: special.pseudo_huber(d, 0.0), 1, 0.0) == 0
    assert derivative(lambda r: special.pseudo_huber(0.0, r), 1, 0.0) == 0
    assert derivative(lambda r: special.pseudo_huber(0.0, r), 1, 2.0) == 0
    assert derivative(lambda d: special.pseudo_huber(d, 2.0), 1, 0.0) == 2
