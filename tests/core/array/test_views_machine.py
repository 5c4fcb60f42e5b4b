"""A state machine: random views of random storages, written to in place, compared with NumPy.

If operands share memory, the result is the same as with a copy. A refused write changes nothing, and no write
reaches an element outside the written view. After every step all memory is compared.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from strategies import examples

import stride0 as xp
from stride0 import strided

SHAPES = [(6,), (3, 4), (2, 3, 2), (1, 5), (4, 1), ()]
DTYPES = ["int64", "int64", "int16", "float64"]
OPERATORS = [operator.iadd, operator.isub, operator.imul]
SLICES = st.builds(
    slice,
    st.one_of(st.none(), st.integers(-4, 4)),
    st.one_of(st.none(), st.integers(-4, 4)),
    st.sampled_from([None, 1, 2, -1, -2]),
)


def aliased(a: Any) -> bool:
    """Whether two elements of a NumPy array have the same address."""
    places = np.zeros((), np.int64)
    for size, step in zip(a.shape, a.strides, strict=True):
        places = places[..., None] + np.arange(size) * step
    return bool(np.unique(places).size < a.size)


class Views(RuleBasedStateMachine):
    """Pairs of a stride0 array and a NumPy array: the same view of blocks of memory with equal contents."""

    pairs: Bundle[tuple[Any, Any]] = Bundle("pairs")

    def __init__(self) -> None:
        super().__init__()
        self.storages: list[tuple[Any, Any]] = []
        self.refused = 0

    def fresh(self, shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
        # All elements are different; the first view does not contain them all.
        room = np.arange(int(np.prod(shape)) + 4).astype(dtype)
        x = xp.asarray(room, copy=True)
        self.storages.append((x, room))
        return xp.reshape(x[2:-2], shape), room[2:-2].reshape(shape)

    @initialize(target=pairs)
    def start(self) -> Any:
        return multiple(self.fresh((3, 4), "int64"), self.fresh((6,), "int64"))

    @rule(target=pairs, shape=st.sampled_from(SHAPES), dtype=st.sampled_from(DTYPES))
    def storage(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self.fresh(shape, dtype)

    # --- views

    @rule(target=pairs, pair=pairs, keys=st.lists(SLICES, max_size=3))
    def slices(self, pair: Any, keys: list[slice]) -> Any:
        x, a = pair
        key = tuple(keys[: a.ndim])
        return x[(*key, ...)], a[(*key, ...)]

    @rule(target=pairs, pair=pairs, index=st.integers(-2, 1))
    def item(self, pair: Any, index: int) -> Any:
        x, a = pair
        if a.ndim == 0 or a.shape[0] < 2:
            return pair
        return x[index, ...], a[index, ...]

    @rule(target=pairs, pair=pairs, seed=st.integers(0, 5))
    def permuted(self, pair: Any, seed: int) -> Any:
        x, a = pair
        order = tuple(int(k) for k in np.random.default_rng(seed).permutation(a.ndim))
        return xp.permute_dims(x, order), np.transpose(a, order)

    @rule(target=pairs, pair=pairs)
    def flipped(self, pair: Any) -> Any:
        x, a = pair
        return xp.flip(x), a[(*(slice(None, None, -1),) * a.ndim, ...)]

    @rule(target=pairs, pair=pairs, count=st.integers(1, 3))
    def broadcast(self, pair: Any, count: int) -> Any:
        x, a = pair
        if a.ndim > 3:
            return pair
        shape = (count, *a.shape)
        return xp.broadcast_to(x, shape), np.lib.stride_tricks.as_strided(a, shape, (0, *a.strides))

    @rule(target=pairs, pair=pairs, width=st.integers(1, 3))
    def windows(self, pair: Any, width: int) -> Any:
        """Windows that share elements; and the diagonal of a matrix."""
        x, a = pair
        if a.ndim == 2 and min(a.shape) > 0:
            n = min(a.shape)
            steps = strided.strides(x)
            view = strided.as_strided(x, (n,), (steps[0] + steps[1],))
            return view, np.lib.stride_tricks.as_strided(a, (n,), (a.strides[0] + a.strides[1],))
        if a.ndim != 1 or a.size < width:
            return pair
        (step,) = strided.strides(x)
        shape = (a.size - width + 1, width)
        return strided.as_strided(x, shape, (step, step)), np.lib.stride_tricks.as_strided(
            a, shape, (a.strides[0],) * 2
        )

    @rule(pair=consumes(pairs))
    def forget(self, pair: Any) -> None:
        """Views may be freed before their base."""

    # --- writes

    def write(self, pair: Any, ours: Any, numpys: Any) -> None:
        """Write with both libraries; if stride0 refuses, NumPy does not write either."""
        x, a = pair
        try:
            ours(x)
        except (ValueError, TypeError, IndexError):
            self.refused += 1
            # A refusal has a reason: elements that share an address, another dtype, an error of NumPy.
            copy = a.copy()
            try:
                with np.errstate(all="ignore"):
                    numpys(copy)
            except (ValueError, TypeError, IndexError):
                return
            assert aliased(a) or copy.dtype != np.int64, "refused what NumPy does"
            return
        assert not aliased(a), "wrote to elements that share a place"
        with np.errstate(all="ignore"):
            numpys(a)

    @rule(pair=pairs, other=pairs, op=st.sampled_from(OPERATORS))
    def in_place(self, pair: Any, other: Any, op: Any) -> None:
        y, b = other
        # NumPy reads operands that overlap as if they were copied before; broadcast ones too.
        self.write(pair, lambda x: op(x, y), lambda a: op(a, b.copy()))

    @rule(pair=pairs, value=st.integers(-3, 3), op=st.sampled_from(OPERATORS))
    def in_place_scalar(self, pair: Any, value: int, op: Any) -> None:
        self.write(pair, lambda x: op(x, value), lambda a: op(a, value))

    @rule(pair=pairs, other=pairs, keys=st.lists(SLICES, max_size=2))
    def assign_slices(self, pair: Any, other: Any, keys: list[slice]) -> None:
        y, b = other
        key = (*keys[: pair[1].ndim], ...)

        def numpys(a: Any) -> None:
            # The standard's broadcasting: the value must not have more axes than the assigned view.
            if b.ndim > a[key].ndim:
                raise ValueError
            a[key] = b.copy()

        self.write(pair, lambda x: x.__setitem__(key, y), numpys)

    @rule(pair=pairs, value=st.integers(-9, 9), threshold=st.integers(-5, 5))
    def assign_masked(self, pair: Any, value: int, threshold: int) -> None:
        self.write(
            pair,
            lambda x: x.__setitem__(x > threshold, value),
            lambda a: a.__setitem__(a > threshold, value),
        )

    @rule(pair=pairs, indices=st.lists(st.integers(-2, 1), min_size=1, max_size=3))
    def assign_indices(self, pair: Any, indices: list[int]) -> None:
        """Assign an array to itself with the first axis in another order, by an integer array."""
        if pair[1].ndim == 0:
            return
        self.write(
            pair,
            lambda x: x.__setitem__((xp.asarray(indices), ...), x[xp.asarray(indices[::-1]), ...]),
            lambda a: a.__setitem__((indices, ...), a[indices[::-1], ...]),
        )

    @invariant()
    def memory_is_equal(self) -> None:
        for x, room in self.storages:
            np.testing.assert_array_equal(np.asarray(x), room)


TestViews = Views.TestCase
TestViews.settings = settings(examples(150), stateful_step_count=40)
