"""Counts of `histogram` agree with the edges that it returns: for every dtype, compared exactly."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.testing import check_grad

LAYOUTS: tuple[Any, ...] = (
    lambda x: x,
    lambda x: x[::-1],
    lambda x: xp.repeat(x, 2)[::2],
    lambda x: xp.reshape(xp.concat([x, x]), (2, -1)).T[:, 0],
)


def counts_between(elements: list[Any], edges: list[Any]) -> list[int]:
    """Count the elements in each interval, with its lower edge; the last one also has its upper edge."""
    counts = [0] * (len(edges) - 1)
    for number in elements:
        # Python compares integers and floats exactly.
        if counts and edges[0] <= number <= edges[-1]:
            place = max(k for k, edge in enumerate(edges) if edge <= number)
            counts[min(place, len(counts) - 1)] += 1
    return counts


def _check(x: xp.Array, bins: Any, limits: Any = None) -> None:
    counts, edges = xp.histogram(x, bins, limits)
    elements = [int(v) if isinstance(v, bool) else v for v in x.tolist()]
    wanted = counts_between(elements, edges.tolist())
    facts = f"{elements}, {edges}"
    assert counts.tolist() == wanted, facts
    if limits is None and isinstance(bins, int):
        assert sum(wanted) == x.size, facts
    weights = xp.asarray([0.5, 2.0, -1.0, 4.0] * (x.size // 4 + 1))[: x.size]
    weighed = xp.histogram(x, bins, limits, weights=weights)[0]
    for k in range(len(wanted)):
        part = edges.tolist()[k : k + 2]
        inside = [
            weight
            for number, weight in zip(elements, weights.tolist(), strict=True)
            if counts_between([number], part)[0] and (k == len(wanted) - 1 or number < part[1])
        ]
        assert float(weighed[k]) == sum(inside), facts


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_an_element_at_the_last_edge(dtype: str) -> None:
    x = xp.asarray([0.1, 0.05, 0.0], dtype=getattr(xp, dtype))
    for limits in ((0, 0.1), (0.0, float(x[0])), None):
        _check(x, 2, limits)
    counts, edges = xp.histogram(x, 2, (0, 0.1))
    assert edges.dtype == x.dtype and edges[-1] == x[0] and int(xp.sum(counts)) == 3


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_elements_at_edges_of_floats(dtype: str) -> None:
    rng = random.Random(0)
    for _ in range(150):
        step = rng.choice([0.1, 0.05, 1 / 3, 0.7])
        values = [rng.randrange(-6, 12) * step for _ in range(rng.randrange(1, 30))]
        values += [math.nan, math.inf, -math.inf] * (rng.random() < 0.2)
        x = rng.choice(LAYOUTS)(xp.asarray(values, dtype=getattr(xp, dtype)))
        limits = tuple(sorted(rng.randrange(-6, 12) * 0.1 for _ in range(2)))
        is_finite = bool(xp.all(xp.isfinite(x)))
        _check(x, rng.randrange(1, 12), limits if rng.random() < 0.6 or not is_finite else None)
        edges = sorted(rng.choice(values[:1] * 2 + [0.0, 0.1, 0.3]) for _ in range(rng.randrange(1, 5)))
        _check(x, edges)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "int8", "uint8", "bool"])
def test_elements_at_edges_of_integers(dtype: str) -> None:
    """Also for integers above 2**53: they are compared with floats exactly."""
    rng, kind = random.Random(1), getattr(xp, dtype)
    bases = {
        "int64": [0, 2**53, 2**62, 2**63 - 40, -(2**53), -(2**63) + 9],
        "uint64": [0, 2**53, 2**63, 2**64 - 40],
    }
    for _ in range(150):
        base, most = rng.choice(bases.get(dtype, [0])), 2 if dtype == "bool" else 30
        values = [base + rng.randrange(most) for _ in range(rng.randrange(1, 20))]
        x = rng.choice(LAYOUTS)(xp.asarray(values, dtype=kind))
        limits = (min(values) - rng.randrange(5), max(values) + rng.randrange(5))
        try:
            _check(x, rng.randrange(1, 9), limits if rng.random() < 0.5 else None)
        except xp.ArgumentValueError as error:
            assert "too few numbers" in str(error) and abs(base) >= 2**53
        edges = sorted(rng.choice(values) + rng.randrange(-2, 3) for _ in range(rng.randrange(1, 6)))
        for given in (list(map(float, edges)), xp.asarray([max(edge, 0) for edge in edges], dtype=xp.uint64)):
            _check(x, given)
        if max(edges) < 2**63:
            _check(x, edges)


def test_integer_edges_of_floats() -> None:
    x = xp.asarray(
        [2.0**53, 2.0**53 + 2, 2.0**62, 2.5, -3.5, math.nan, math.inf, -math.inf, 2.0**63, -(2.0**63)]
    )
    for edges in (
        [2**53 - 1, 2**53 + 1, 2**53 + 2],
        [-4, 2, 3],
        [-(2**63), 0, 2**62 - 1, 2**63 - 1],
        [3, 3],
        [7],
    ):
        _check(x, edges)
        _check(xp.astype(x, xp.float32), edges)
    _check(x, xp.asarray([0, 2**63, 2**64 - 1], dtype=xp.uint64))
    _check(x, [-math.inf, 0.0, math.inf])
    _check(xp.asarray([-(2**63), 0, 2**63 - 1]), [-math.inf, 0.0, math.inf])
    _check(xp.asarray([5, 2**63 - 1]), [1e30, 1e31])


def test_density_agrees_with_the_edges() -> None:
    x = xp.asarray([0.1, 0.05, 0.0, 0.1], dtype=xp.float32)
    density, edges = xp.histogram(x, 2, (0, 0.1), density=True)
    widths = np.diff(np.asarray(edges, dtype=float))
    np.testing.assert_allclose(np.asarray(density) * widths, [0.25, 0.75], rtol=1e-15)


def test_bins_of_any_sequence() -> None:
    x = xp.asarray([0, 1, 2, 3])
    for bins in (range(4), (0, 1, 2, 3), [0, 1, 2, 3]):
        assert xp.histogram(x, bins)[0].tolist() == np.histogram(np.arange(4), bins)[0].tolist()


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_density_has_derivatives_by_the_edges(dtype: str) -> None:
    x, edges = xp.asarray([0, 1, 2, 3], dtype=getattr(xp, dtype)), xp.asarray([0.0, 1.5, 3.5])
    check_grad(lambda edges: xp.sum(xp.histogram(x, edges, density=True)[0] ** 2), edges + 0.1)
