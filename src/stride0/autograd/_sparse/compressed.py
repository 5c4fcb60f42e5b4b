"""Sparse derivative matrices from few products.

Colours give seeds, one batched pass multiplies the seeds, and the products hold the entries of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stride0._chapters.manipulation import concat, reshape
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0.autograd._matrices import CHUNK, batched
from stride0.autograd._sparse.colours import direct, greedy, star
from stride0.autograd._tape.tape import current_recorder

__all__ = ["Side", "Split", "hessian_split", "jacobian_split", "products"]


class Side:
    """Products from one side of a matrix.

    `colours` holds the colour of each column (or row), or -1 if it has no colour. `count` is the number of
    colours.
    """

    def __init__(self, colours: Any, count: int) -> None:
        self.colours, self.count = colours, count

    def seeds(
        self, given: list[Array], largest: int, kept: dict[Any, list[dict[int, Array]]]
    ) -> Iterable[dict[int, Array]]:
        """Return batches of seeds, split into parts shaped like the `given` arrays.

        A seed is 1 at the columns of one colour, and 0 elsewhere. A batch with all seeds is cached in `kept`.
        """
        step = max(1, CHUNK // max(largest, len(self.colours), 1))
        if step < self.count:
            return (self._batch(given, k, min(k + step, self.count)) for k in range(0, self.count, step))
        facts = tuple((x.shape, x.dtype) for x in given)
        found = kept.get(facts)
        if found is None:
            found = [self._batch(given, 0, self.count)] if self.count else []
            # Arrays created during a recording live only as long as the recording.
            if current_recorder() is None:
                kept.clear()
                kept[facts] = found
        return found

    def _batch(self, given: list[Array], start: int, stop: int) -> dict[int, Array]:
        seeds = np.zeros((stop - start, len(self.colours)))
        at = np.flatnonzero((self.colours >= start) & (self.colours < stop))
        seeds[self.colours[at] - start, at] = 1
        first, batch = 0, {}
        for k, x in enumerate(given):
            part = seeds[:, first : first + x.size].reshape(stop - start, *x.shape)
            batch[k] = asarray(part, dtype=x.dtype, copy=True)
            first += x.size
        return batch


class Split(NamedTuple):
    """How to compute a matrix from products.

    `forward` multiplies from the right, `reverse` from the left. `places` holds the position of each matrix
    entry in the products.
    """

    forward: Side
    reverse: Side
    places: Any

    @property
    def colors(self) -> int:
        """The number of products."""
        return self.forward.count + self.reverse.count


def _side(pattern: Any) -> Side:
    colours = greedy(pattern)
    return Side(colours, int(colours.max(initial=-1)) + 1)


def jacobian_split(pattern: Any, mode: str) -> Split:
    """
    Return the split with the fewest products.

    "both" tries two variants. Either products from the left compute the fullest rows, and products from the
    right compute the other rows. Or products from the right compute the fullest columns, and products from
    the left compute the other columns. So an arrow matrix of any size takes three products.
    """
    if not pattern.nnz:
        empty = Side(np.zeros(0, dtype=np.int64), 0)
        return Split(empty, empty, asarray(np.zeros(0, dtype=np.int64)))
    kinds = {
        "forward": (True, False),
        "reverse": (False, False),
        "both": (True, True),
        "both, transposed": (False, True),
    }
    if mode in ("forward", "reverse"):
        kinds = {mode: kinds[mode]}
    transposed = ordered_transpose(pattern)
    bounds = []
    for by_columns, is_split in kinds.values():
        counts = np.sort(np.diff((pattern if by_columns else transposed).indptr))[::-1]
        # A lower bound for the number of colours: the entries of the fullest remaining row, plus one for each
        # removed row.
        left = np.append(counts, 0) + np.arange(len(counts) + 1)
        most = int(left.argmin()) if is_split else 0
        if most or not is_split or mode == "both":
            bounds.append((int(left[most]), is_split, by_columns, most))
    best: Split | None = None
    for bound, _, by_columns, most in sorted(bounds, key=lambda item: (item[0], item[1], not item[2])):
        if best is not None and best.colors <= bound:
            break
        found = (
            _split(pattern, by_columns, most)
            if by_columns
            else _flipped(_split(transposed, True, most), pattern)
        )
        if best is None or found.colors < best.colors:
            best = found
    assert best is not None
    return best._replace(places=asarray(best.places))


def ordered_transpose(pattern: Any) -> Any:
    found = csr_array(pattern.T)
    found.sort_indices()
    return found


def _split(pattern: Any, by_columns: bool, most: int) -> Split:
    """Return the split in which products from the left compute the `most` fullest rows."""
    m, n = pattern.shape
    counts = np.diff(pattern.indptr)
    full = np.zeros(m, dtype=bool)
    full[np.argsort(-counts, kind="stable")[:most]] = True
    rows, columns = np.repeat(np.arange(m), counts), pattern.indices.astype(np.int64)
    of_full = full[rows]
    if most:
        shape = pattern.shape
        rest = csr_array(
            (np.ones((~of_full).sum(), dtype=bool), (rows[~of_full], columns[~of_full])), shape=shape
        )
        thick = csr_array(
            (np.ones(of_full.sum(), dtype=bool), (columns[of_full], rows[of_full])), shape=shape[::-1]
        )
        forward, reverse = _side(rest), _side(thick)
    else:
        forward, reverse = _side(pattern), Side(np.full(m, -1, dtype=np.int64), 0)
    places = forward.colours[columns] * m + rows
    places[of_full] = forward.count * m + reverse.colours[rows[of_full]] * n + columns[of_full]
    return Split(forward, reverse, places)


def _flipped(split: Split, pattern: Any) -> Split:
    """Return the split of `pattern`, given the split of its transpose."""
    m, n = pattern.shape
    # `split` has the forward products of the transpose first (n elements each), then its reverse products (m
    # elements each).
    size = split.forward.count * n
    places = np.where(split.places < size, split.places + split.reverse.count * m, split.places - size)
    # `split` orders the entries of `pattern` column by column.
    rows = np.repeat(np.arange(m), np.diff(pattern.indptr))
    order = np.lexsort((rows, pattern.indices))
    found = np.empty_like(places)
    found[order] = places
    return Split(split.reverse, split.forward, found)


def hessian_split(pattern: Any) -> Split:
    """Return the split of a symmetric matrix, computed by a star colouring."""
    n = pattern.shape[0]
    colours = star(pattern)
    count = int(colours.max(initial=-1)) + 1
    rows, columns = np.repeat(np.arange(n), np.diff(pattern.indptr)), pattern.indices.astype(np.int64)
    places = np.where(
        direct(rows, columns, colours), colours[columns] * n + rows, colours[rows] * n + columns
    )
    # Use backward passes: they write into one array, but forward passes would add arrays of zeros.
    return Split(Side(np.full(n, -1, dtype=np.int64), 0), Side(colours, count), asarray(places))


def products(
    apply: Callable[[Any], list[Array]], seeds: Iterable[dict[int, Array]], given: list[Array]
) -> list[Array]:
    """Apply a linear map to batches of seeds; return a vector per batch, with the products in seed order."""
    found = []
    for batch in seeds:
        rows = [reshape(y, (y.shape[0], -1)) for y in batched(apply, given, batch)]
        found.append(reshape(rows[0] if len(rows) == 1 else concat(rows, axis=1), (-1,)))
    return found
