"""Medians and quantiles of huge and infinite elements, against exact means and NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._chapters.quantiles import _CONTINUOUS, _METHODS
from stride0.autograd import grad, vmap

INF, NAN = math.inf, math.nan
MEDIANS: dict[str, Callable[[Any], Any]] = {
    "median": xp.median,
    "nanmedian": xp.nanmedian,
    "quantile": lambda x: xp.quantile(x, 0.5),
    "percentile": lambda x: xp.percentile(x, 50),
    "midpoint": lambda x: xp.quantile(x, 0.5, method="midpoint"),
    "averaged": lambda x: xp.quantile(x, 0.5, method="averaged_inverted_cdf"),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", MEDIANS)
def test_medians_of_huge_elements(name: str, dtype: str) -> None:
    kind = getattr(xp, dtype)
    largest, ulp = float(xp.finfo(kind).max), float(xp.finfo(kind).eps)
    for parts in ((1.0, 0.9), (-1.0, -0.8), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (0.5, 1.0, 0.7, 0.9)):
        x = xp.asarray([largest * part for part in parts], dtype=kind)
        middle = sorted(x.tolist())[len(parts) // 2 - 1 : len(parts) // 2 + 1]
        exact = float(sum(map(Fraction, middle)) / 2)
        found = MEDIANS[name](x)
        assert found.dtype == kind and abs(float(found) - exact) <= ulp * abs(exact)
        rows = xp.stack([x, x[::-1]])
        assert vmap(MEDIANS[name])(rows).tolist() == [float(found)] * 2
        weights = grad(MEDIANS[name])(x).tolist() if dtype.startswith("float") else None
        if weights is not None and parts[0] != parts[1] and dtype != "float16":
            assert sorted(weights) == [0.0] * (len(parts) - 2) + [0.5, 0.5]


def test_the_examples() -> None:
    assert float(xp.median(xp.asarray([1.6e308, 1.7e308]))) == float(
        Fraction(1.6e308) / 2 + Fraction(1.7e308) / 2
    )
    assert float(xp.quantile(xp.asarray([0, INF]), 0.6)) == INF


INFINITE = [
    # elements, fraction, quantile
    *(([0.0, INF], q, INF if q else 0.0) for q in (0.0, 0.25, 0.5, 0.6, 1.0)),
    *(([-INF, 0.0], q, -INF if q < 1 else 0.0) for q in (0.0, 0.25, 0.5, 0.6, 1.0)),
    *(([-INF, INF], q, wanted) for q, wanted in ((0.0, -INF), (0.25, NAN), (0.75, NAN), (1.0, INF))),
    *(([INF, INF], q, INF) for q in (0.0, 0.3, 1.0)),
    *(([-INF, -INF, 3.0], q, wanted) for q, wanted in ((0.2, -INF), (0.5, -INF), (0.7, -INF), (1.0, 3.0))),
    *(([1.0, 2.0, INF, INF], q, wanted) for q, wanted in ((0.25, 1.75), (0.5, INF), (0.9, INF))),
    *(
        ([-INF, 1.0, 2.0, 4.0, INF], q, wanted)
        for q, wanted in ((0.25, 1.0), (0.5, 2.0), (0.75, 4.0), (0.625, 3.0))
    ),
    ([1.0, NAN, INF], 0.5, NAN),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("elements", "q", "wanted"), INFINITE)
def test_quantiles_between_infinite_elements(
    dtype: str, elements: list[float], q: float, wanted: float
) -> None:
    x = xp.asarray(elements, dtype=getattr(xp, dtype))
    for found in (
        xp.quantile(x, q),
        xp.percentile(x, 100 * q),
        xp.quantile(x, [q, 0.5])[0],
        xp.quantile(xp.stack([x, x]), q, axis=1)[1],
        vmap(lambda x: xp.quantile(x, q))(xp.stack([x, x]))[0],
    ):
        np.testing.assert_equal(float(found), wanted)


@pytest.mark.parametrize("method", _METHODS)
def test_methods_beside_an_infinite_element(method: str) -> None:
    """If NumPy's quantile depends on the size of a huge element, it is infinite for an infinite element."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        a = np.sort(rng.standard_normal(rng.integers(2, 9)))
        q = [0.0, 0.5, 1.0, float(rng.random()), float(rng.integers(0, 11)) / 10]
        place, sign = (-1, 1.0) if rng.random() < 0.5 else (0, -1.0)
        found = []
        for size in (2.0**30, 2.0**40):
            a[place] = sign * size
            found.append(np.quantile(a, q, method=method))
        a[place] = sign * INF
        wanted = np.where(found[0] == found[1], found[0], sign * INF)
        np.testing.assert_allclose(
            np.asarray(xp.quantile(xp.asarray(a), q, method=method)), wanted, rtol=1e-13
        )


@pytest.mark.parametrize("method", _CONTINUOUS)
def test_quantiles_of_elements_of_opposite_ends(method: str) -> None:
    x = np.asarray([-1.7e308, -1e308, 1e308, 1.7e308])
    for q in (0.1, 0.3, 0.5, 0.61, 0.95):
        wanted = 8 * np.quantile(x / 8, q, method=method)
        assert float(xp.quantile(xp.asarray(x), q, method=method)) == pytest.approx(wanted, rel=1e-14)


def test_gradients_beside_infinite_elements() -> None:
    x = xp.asarray([0.0, 1.0, 3.0, INF])
    np.testing.assert_allclose(np.asarray(grad(lambda x: xp.quantile(x, 0.4))(x)), [0.0, 0.8, 0.2, 0.0])
    assert float(grad(lambda q: xp.quantile(x, q))(xp.asarray(0.4))) == 6.0
    assert grad(xp.median)(x).tolist() == grad(xp.nanmedian)(x).tolist() == [0.0, 0.5, 0.5, 0.0]


def test_integers_at_their_ends() -> None:
    for dtype, most in (("uint8", 255), ("int64", 2**63 - 1), ("uint64", 2**64 - 1)):
        x = xp.asarray([most, most - 2], dtype=getattr(xp, dtype))
        for name, median in MEDIANS.items():
            assert float(median(x)) == float(most - 1), name
