"""Colourings of patterns: columns, rows or unknowns of one colour share one product with the matrix.

A set of colours is an integer with one bit per colour; the next colour is the lowest bit that no neighbour
has. So the time is proportional to the number of entries, for any number of colours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

__all__ = ["direct", "greedy", "star"]


def greedy(pattern: Any) -> Any:
    """
    Colour the columns of a pattern: columns of one colour have no row in common.

    Parameters
    ----------
    pattern : scipy.sparse.csr_array
        Sorted, without duplicates.

    Returns
    -------
    numpy.ndarray
        The colour of each column; -1 for an empty column.
    """
    by_column = pattern.tocsc()
    counts = np.diff(pattern.indptr)
    degrees = np.add.reduceat(np.append(counts[by_column.indices], 0), by_column.indptr[:-1])
    degrees[np.diff(by_column.indptr) == 0] = 0
    orders = [np.argsort(-degrees, kind="stable")]
    if (np.diff(degrees[orders[0]]) != 0).any():
        orders.append(np.arange(len(degrees)))
    found = [_first_fit(by_column, order, len(counts)) for order in orders]
    return min(found, key=lambda colours: int(colours.max(initial=-1)))


def _first_fit(by_column: Any, order: Any, rows: int) -> Any:
    pointers, indices = by_column.indptr.tolist(), by_column.indices.tolist()
    used = [0] * rows
    colours = np.full(len(pointers) - 1, -1, dtype=np.int64)
    for j in order.tolist():
        mine = indices[pointers[j] : pointers[j + 1]]
        if not mine:
            continue
        taken = 0
        for i in mine:
            taken |= used[i]
        bit = ~taken & (taken + 1)
        for i in mine:
            used[i] |= bit
        colours[j] = bit.bit_length() - 1
    return colours


def star(pattern: Any) -> Any:
    """
    Colour the unknowns of a symmetric pattern: neighbours differ, and each path of four has three colours.

    Then each entry is the only one in its row, or in its column, among the columns of its colour.
    """
    off = pattern.tocoo()
    chosen = off.row != off.col
    neighbours = _csr(off.row[chosen], off.col[chosen], pattern.shape)
    degrees = np.diff(neighbours.indptr)
    occupied = np.diff(pattern.indptr) > 0
    orders = [np.argsort(-degrees, kind="stable")]
    if (np.diff(degrees[orders[0]]) != 0).any():
        orders.append(np.arange(len(degrees)))
    found = [_star_fit(neighbours, order[occupied[order]]) for order in orders]
    return min(found, key=lambda colours: int(colours.max(initial=-1)))


def _csr(rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    found = csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
    found.sort_indices()
    return found


def _star_fit(neighbours: Any, order: Any) -> Any:
    pointers, indices = neighbours.indptr.tolist(), neighbours.indices.tolist()
    n = len(pointers) - 1
    colour, bits = [-1] * n, [0] * n
    # For each unknown: the colours among its neighbours; the colours of several neighbours; for each colour
    # the first neighbour that has it.
    near, several = [0] * n, [0] * n
    first: list[dict[int, int]] = [{} for _ in range(n)]
    # For w: the colours of neighbours that have a second neighbour with the colour of w. If a further
    # neighbour of w had such a colour, it would close a path of two colours.
    closed = [0] * n
    for v in order.tolist():
        mine = indices[pointers[v] : pointers[v + 1]]
        taken = near[v]
        for w in mine:
            if bits[w]:
                taken |= closed[w]
                if several[v] & bits[w]:
                    taken |= near[w]
        bit = ~taken & (taken + 1)
        c = bit.bit_length() - 1
        colour[v], bits[v] = c, bit
        for x in mine:
            if near[x] & bit:
                several[x] |= bit
                if bits[x]:
                    closed[v] |= bits[x]
                    closed[first[x][c]] |= bits[x]
            else:
                near[x] |= bit
                first[x][c] = v
            if bits[x] & several[v]:
                closed[x] |= bit
    return np.asarray(colour, dtype=np.int64)


def direct(rows: Any, columns: Any, colours: Any) -> Any:
    """Return a mask of the entries whose column is the only one of its colour in the row."""
    count = int(colours.max(initial=0)) + 1
    _, inverse, counts = np.unique(rows * count + colours[columns], return_inverse=True, return_counts=True)
    return counts[inverse] == 1
