"""Gradients of standard deviations and covariances for squares that overflow and for results that are NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, jvp, vmap

nan = math.nan


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        (xp.float64, 1e200),
        (xp.float64, 1e-200),
        (xp.float32, 1e30),
        (xp.float16, 1e4),
        (xp.complex128, 1e200j),
    ],
)
def test_deviations_whose_squares_leave_the_range(dtype: Any, scale: complex) -> None:
    at = xp.asarray([1, nan, 3, 2], dtype=dtype) * scale
    tangent = xp.asarray([1, 7, 2, 5], dtype=dtype)
    found = np.asarray(grad(xp.nanstd)(at))
    turn = scale / abs(scale)
    expected = np.array([-1, 0, 1, 0]) / math.sqrt(6)
    np.testing.assert_allclose(found, expected * turn, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(np.asarray(vmap(grad(xp.nanstd))(at[None])[0]), found)
    value, slope = jvp(xp.nanstd, (at,), (tangent,))
    assert float(value) == pytest.approx(abs(scale) * math.sqrt(2 / 3), rel=1e-3)
    assert float(slope) == pytest.approx((expected @ [1, 7, 2, 5] * np.conj(turn)).real, rel=2e-3, abs=1e-3)


def _nanstd_1(x: Any) -> Any:
    return xp.nanstd(x, ddof=1)


def _total(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: xp.sum(f(x))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (xp.cov, [1.0]),
        (xp.corrcoef, [1.0]),
        (xp.corrcoef, [2.0, 2.0, 2.0]),
        (_total(xp.cov), [[2.0], [1.0]]),
        (_total(xp.corrcoef), [[2.0], [1.0]]),
        (_total(xp.corrcoef), [[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]]),
        (lambda x: xp.cov(x, fweights=xp.asarray([1])), [1.0]),
        (lambda x: xp.std(x, correction=1), [1.0]),
        (lambda x: xp.nanvar(x, ddof=1), [1.0]),
        (_nanstd_1, [1.0]),
    ],
)
def test_no_derivative_where_the_result_is_nan(f: Callable[..., Any], x: Any) -> None:
    at = xp.asarray(x)
    assert math.isnan(float(f(at)))
    assert np.all(np.isnan(np.asarray(grad(f)(at))))
    assert math.isnan(float(jvp(f, (at,), (xp.ones_like(at),))[1]))
    assert np.all(np.isnan(np.asarray(vmap(grad(f))(at[None]))))


def test_only_undefined_entries_have_no_derivative() -> None:
    assert math.isnan(float(grad(_nanstd_1)(xp.asarray([1.0, nan]))[0]))
    rows = xp.asarray([[1.0, nan, nan], [1.0, 2.0, nan]])
    found = np.asarray(grad(lambda x: xp.sum(xp.nanvar(x, axis=1, ddof=1)))(rows))
    np.testing.assert_array_equal(found, [[nan, 0, 0], [-1, 1, 0]])
    rows = xp.asarray([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0], [1.0, 3.0, 2.0]])
    found = np.asarray(grad(lambda x: xp.corrcoef(x)[1, 2])(rows))
    alone = np.asarray(grad(lambda x: xp.corrcoef(x)[0, 1])(rows[1:]))
    np.testing.assert_allclose(found, [[0, 0, 0], *alone], rtol=1e-14)
