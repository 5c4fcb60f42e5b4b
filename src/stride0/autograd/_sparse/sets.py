"""Sets of indices, each with a number: the inputs that the elements of arrays depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ALL", "EMPTY", "Sets", "distinct"]

EMPTY = 0
ALL = 1


class Sets:
    """
    A pool of sets of the integers below `size`. A set never changes, and arrays of numbers share it.

    Set 0 is empty, set 1 has all integers, and set ``2 + k`` has the integer `k` only.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.count = size + 2
        self.data = np.concatenate([np.arange(size, dtype=np.int64)] * 2)
        self.used = 2 * size
        first = np.asarray([0, 0], dtype=np.int64)
        self.start = np.concatenate([first, size + np.arange(size, dtype=np.int64)])
        self.length = np.concatenate([np.asarray([0, size]), np.ones(size, dtype=np.int64)])
        self._pairs: dict[tuple[int, int], int] = {}

    def expand(self, numbers: Any) -> tuple[Any, Any]:
        """Return the elements of sets, concatenated, and for each element the position of its set."""
        lengths = self.length[numbers]
        ends = np.cumsum(lengths)
        owner = np.repeat(np.arange(len(numbers)), lengths)
        offset = np.repeat(self.start[numbers] - (ends - lengths), lengths)
        return owner, self.data[offset + np.arange(len(owner))]

    def either(self, a: Any, b: Any) -> Any:
        """Return the unions of the sets of two arrays of numbers, which broadcast."""
        a, b = np.broadcast_arrays(a, b)
        if a.size == 1:
            return np.full(a.shape, self._union(int(a.flat[0]), int(b.flat[0])), dtype=np.int64)
        plain = (a == b) | (b == EMPTY)
        if plain.all():
            return a.copy()
        if not a.any():
            return b.copy()
        low, high = np.minimum(a, b).ravel(), np.maximum(a, b).ravel()
        pairs, inverse = np.unique(low * self.count + high, return_inverse=True)
        members = np.stack([pairs // self.count, pairs % self.count], axis=1)
        found = self.groups(members.ravel(), np.repeat(np.arange(len(pairs)), 2), len(pairs))
        return found[inverse].reshape(a.shape)

    def _union(self, a: int, b: int) -> int:
        if a == b or b == EMPTY:
            return a
        if a == EMPTY:
            return b
        key = (min(a, b), max(a, b))
        if key not in self._pairs:
            self._pairs[key] = int(self.groups(np.asarray(key), np.zeros(2, dtype=np.int64), 1)[0])
        return self._pairs[key]

    def groups(self, numbers: Any, group: Any, count: int) -> Any:
        """Return the union of the sets of each group; `group` holds the group of each number."""
        found = np.zeros(count, dtype=np.int64)
        chosen = numbers != EMPTY
        # Each set counts once in a group.
        keys = distinct(group[chosen] * self.count + numbers[chosen])
        group, numbers = keys // self.count, keys % self.count
        several = np.bincount(group, minlength=count) > 1
        found[group[~several[group]]] = numbers[~several[group]]
        whole = group[numbers == ALL]
        found[whole] = ALL
        several[whole] = False
        left = several[group]
        group, numbers = group[left], numbers[left]
        if not len(group):
            return found
        owner, elements = self.expand(numbers)
        keys = distinct(group[owner] * self.size + elements)
        owners, elements = keys // self.size, keys % self.size
        lengths = np.bincount(owners, minlength=count)
        # A group whose union is one of its sets, or has all elements, needs no new set.
        equal = self.length[numbers] == lengths[group]
        found[group[equal]] = numbers[equal]
        found[lengths == self.size] = ALL
        new = several & (found == EMPTY)
        elements = elements[new[owners]]
        made = np.flatnonzero(new)
        found[made] = self._add(elements, lengths[made])
        return found

    def _add(self, elements: Any, lengths: Any) -> Any:
        """Add sets, given by their concatenated elements; return their numbers."""
        self.data = _grown(self.data, self.used + len(elements))
        self.start = _grown(self.start, self.count + len(lengths))
        self.length = _grown(self.length, self.count + len(lengths))
        numbers = np.arange(self.count, self.count + len(lengths))
        self.data[self.used : self.used + len(elements)] = elements
        self.start[numbers] = self.used + np.cumsum(lengths) - lengths
        self.length[numbers] = lengths
        self.used += len(elements)
        self.count += len(lengths)
        return numbers

    def along(self, numbers: Any, axes: tuple[int, ...]) -> Any:
        """Return the union of the sets along axes, which are removed."""
        kept = [axis for axis in range(numbers.ndim) if axis not in axes]
        shape = tuple(numbers.shape[axis] for axis in kept)
        count = int(np.prod(shape, dtype=np.int64))
        moved = np.transpose(numbers, (*kept, *axes)).reshape(count, -1)
        group = np.repeat(np.arange(count), moved.shape[1])
        return self.groups(moved.ravel(), group, count).reshape(shape)

    def union(self, *arrays: Any) -> int:
        """Return the union of all sets of arrays."""
        numbers = distinct(np.concatenate([np.zeros(0, dtype=np.int64), *map(np.ravel, arrays)]))
        return int(self.groups(numbers, np.zeros(len(numbers), dtype=np.int64), 1)[0])


def distinct(keys: Any) -> Any:
    """Return the distinct integers of an array, sorted. `numpy.unique` hashes: 10 times as long."""
    keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def _grown(array: Any, size: int) -> Any:
    """Return an array with capacity for `size` elements."""
    if size <= len(array):
        return array
    found = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    found[: len(array)] = array
    return found
