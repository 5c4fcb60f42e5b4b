"""Gradients at poles, zeros and NaN, at which the formula of the derivative is undefined."""

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


@pytest.mark.parametrize("delta", [1.0, 2.0])
@pytest.mark.parametrize("r", [0.0, 0.3, -0.3, 2.0, -3.0])
def test_high_derivatives_of_pseudo_huber(delta: float, r: float) -> None:
    for by_delta, by_r in [(0, 2), (0, 3), (0, 4), (0, 6), (1, 2), (1, 4), (2, 4), (4, 0)]:
        with mp.workdps(600):
            orders, at = (by_delta, by_r), (mp.mpf(delta), mp.mpf(r))
            expected = mp.diff(lambda d, x: d * d * (mp.hypot(1, x / d) - 1), at, orders, h=mp.mpf(10) ** -60)

        def inner(d: Any, by_r: int = by_r) -> Any:
            f: Callable[[Any], Any] = lambda x: special.pseudo_huber(d, x)  # noqa: E731
            for _ in range(by_r):
                f = grad(f)
            return f(xp.asarray(r))

        found = derivative(inner, by_delta, delta)
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-12), orders


@pytest.mark.parametrize(("dtype", "tiny"), [(xp.float64, 1e-200), (xp.float32, 1e-30), (xp.float16, 1e-4)])
def test_hessian_of_atan2_near_zero(dtype: Any, tiny: float) -> None:
    def found(x1: float, x2: float) -> list[list[float]]:
        return np.asarray(hessian(lambda z: xp.atan2(z[0], z[1]))(xp.asarray([x1, x2], dtype=dtype))).tolist()

    assert found(tiny, 2 * tiny) == [[-inf, -inf], [-inf, inf]]
    assert found(2 * tiny, tiny) == [[-inf, inf], [inf, inf]]
    assert found(-tiny, 0.0) == [[0, inf], [inf, 0]]
    assert found(0.0, 0.0) == [[0, 0], [0, 0]]
    np.testing.assert_allclose(
        found(1.0, 2.0), [[-0.16, -0.12], [-0.12, 0.16]], rtol=4 * float(xp.finfo(dtype).eps)
    )


def test_k1e_near_zero() -> None:
    for x in (1e-300, 1e-200):
        assert [derivative(special.k1e, order, x) for order in (1, 2, 3)] == [-inf, inf, -inf]
