"""Colourings: no two columns of a colour share a row, no path of four has two colours."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

sparse = pytest.importorskip("scipy.sparse")
from stride0.autograd._sparse.colours import direct, greedy, star  # noqa: E402
from stride0.autograd._sparse.compressed import hessian_split, jacobian_split  # noqa: E402
from stride0.autograd._sparse.patterns import ordered  # noqa: E402


def drawn(seed, m, n):
    rng = np.random.default_rng(seed)
    return ordered(sparse.csr_array(rng.random((m, n)) < rng.uniform(0.02, 0.4)))


@pytest.mark.parametrize("seed", range(20))
def test_columns_of_a_colour_share_no_row(seed):
    pattern = drawn(seed, 15, 12)
    colours, matrix = greedy(pattern), pattern.toarray()
    assert ((colours == -1) == ~matrix.any(axis=0)).all()
    for i, j in itertools.combinations(np.flatnonzero(colours >= 0), 2):
        assert colours[i] != colours[j] or not (matrix[:, i] & matrix[:, j]).any()


@pytest.mark.parametrize("seed", range(20))
def test_star_colouring(seed):
    half = drawn(seed, 12, 12)
    pattern = ordered(half + half.T)
    colours, matrix = star(pattern), pattern.toarray()
    n = len(colours)
    edges = [[j for j in range(n) if matrix[i, j] and j != i] for i in range(n)]
    for a in range(n):
        for b in edges[a]:
            assert colours[a] != colours[b]
            for c in edges[b]:
                for d in edges[c]:
                    if len({a, b, c, d}) == 4:
                        assert len({colours[k] for k in (a, b, c, d)}) > 2
    rows, columns = pattern.nonzero()
    assert (direct(rows, columns, colours) | direct(columns, rows, colours)).all()


@pytest.mark.parametrize("mode", ["auto", "both", "forward", "reverse"])
@pytest.mark.parametrize("seed", range(10))
def test_entries_come_back(seed, mode):
    """Each entry is found in the products of a matrix with the seeds."""
    pattern = drawn(seed, 14, 9)
    matrix = pattern.toarray() * np.random.default_rng(seed).standard_normal((14, 9))
    split = jacobian_split(pattern, mode)
    parts = []
    for side, whole in ((split.forward, matrix.T), (split.reverse, matrix)):
        seeds = (side.colours[None, :] == np.arange(side.count)[:, None]).astype(float)
        parts.append((seeds @ whole).ravel() if side.count else np.zeros(0))
    np.testing.assert_allclose(np.concatenate(parts)[split.places], matrix[pattern.nonzero()], atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_symmetric_entries_come_back(seed):
    half = drawn(seed, 10, 10)
    pattern = ordered(half + half.T)
    values = np.random.default_rng(seed).standard_normal((10, 10))
    matrix = pattern.toarray() * (values + values.T)
    split = hessian_split(pattern)
    assert split.forward.count == 0
    seeds = (split.reverse.colours[None, :] == np.arange(split.colors)[:, None]).astype(float)
    np.testing.assert_allclose((seeds @ matrix).ravel()[split.places], matrix[pattern.nonzero()], atol=1e-12)


def test_known_numbers_of_colours():
    n = 40
    band = ordered(sparse.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]))
    assert greedy(band).max() + 1 == 3 and star(band).max() + 1 == 3
    arrow = np.eye(n)
    arrow[0] = arrow[:, 0] = 1
    assert star(ordered(sparse.csr_array(arrow))).max() + 1 == 2
    assert jacobian_split(ordered(sparse.csr_array(arrow)), "auto").colors == 3
    full = ordered(sparse.csr_array(np.ones((5, 7))))
    assert jacobian_split(full, "auto").colors == 5
