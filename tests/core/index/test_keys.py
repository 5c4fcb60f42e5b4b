"""Keys of other types: subclasses of tuple, ranges, and objects with the buffer protocol."""

from __future__ import annotations

import operator
from array import array
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers import assert_same, both

import stride0 as xp
from stride0 import strided
from stride0.autograd import grad


class Place(NamedTuple):
    """A subclass of tuple, like PyTorch's ``torch.Size``; NumPy treats it as a tuple."""

    row: Any
    column: Any


class Reversed(tuple):
    """A tuple whose iterator returns other items than it holds."""

    __slots__ = ()

    def __iter__(self):
        return iter(self[::-1])


def error_of(call):
    """Return the built-in exception that describes what a call raises, or None."""
    try:
        call()
    except (IndexError, ValueError, TypeError) as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins")
    return None


PLACES = [
    (1, 2), (-1, 0), (slice(None), 1), (0, slice(None, None, -2)), (..., 1), (None, 1), ([0, 2], [1, 3]),
    ([2, 0], slice(1, 3)), (np.asarray([True, False, True]), 1), (range(2), [0]), (0, 9), (9, 0), (0, "a"),
]  # fmt: skip


@pytest.mark.parametrize("items", PLACES, ids=str)
@pytest.mark.parametrize("make", [lambda pair: Place(*pair), Reversed], ids=["namedtuple", "subclass"])
def test_tuples_of_a_subclass_are_tuples(items, make):
    x, a = both(np.arange(12.0).reshape(3, 4))
    key = make(items)
    error = error_of(lambda: a[items])
    if error is not None:
        for call in (lambda: x[key], lambda: operator.setitem(x, key, 0.0)):
            with pytest.raises(error):
                call()
        return
    assert_same(x[key], a[items])
    assert strided.shares_storage(x[key], x) == np.shares_memory(a[items], a) or not x[key].ndim
    for value in (5.0, xp.asarray(6.0)):
        x[key], a[items] = value, float(value)
        assert_same(x, a)
    x[key] += 1
    a[items] += 1
    assert_same(x, a)


@pytest.mark.parametrize("items", PLACES[:10], ids=str)
def test_gradients_by_tuples_of_a_subclass(items):
    weights, w = both(np.arange(12.0).reshape(3, 4))
    key = Place(*items)
    expected = np.zeros((3, 4))
    expected[items] = w[items]
    assert_same(grad(lambda v: xp.sum(v[key] * weights[key]))(xp.ones((3, 4))), expected)

    def written(v):
        y = xp.zeros((3, 4))
        y[key] = v
        return xp.sum(y * weights)

    assert_same(grad(written)(xp.ones(weights[key].shape)), w[items])


def test_tuples_of_a_subclass_in_strict_mode():
    x = xp.reshape(xp.arange(6.0), (2, 3))
    with xp.strict():
        assert float(x[Place(1, 2)]) == 5.0
        assert x[Place(slice(None), 1)].shape == (2,)
        x[Place(1, 2)] = 7.0
        assert float(x[1, 2]) == 7.0


def test_sizes_of_torch():
    torch = pytest.importorskip("torch")
    x = xp.reshape(xp.arange(6.0), (2, 3))
    assert float(x[torch.Size((1, 2))]) == 5.0
    x[torch.Size((1, 2))] = 8.0
    assert_same(x[1, :], np.asarray([3.0, 4.0, 8.0]))


SEQUENCES = {
    "range": range(3), "empty range": range(0), "range back": range(2, 0, -1),
    "memory of int64": memoryview(array("q", [0, 2])), "memory of bytes": memoryview(b"\x01\x00"),
    "empty memory": memoryview(b""), "array of int32": array("i", [1, -1]), "empty doubles": array("d"),
    "bytearray": bytearray(b"\x01"), "memory of bool": memoryview(np.asarray([True, False, True, True])),
    "memory without axes": memoryview(np.asarray(1)), "strided memory": memoryview(np.arange(8)[::-3]),
    "beyond": range(5), "memory beyond": memoryview(array("q", [7])),
}  # fmt: skip


@pytest.mark.parametrize("index", SEQUENCES.values(), ids=SEQUENCES)
def test_ranges_and_memory_as_indices(index):
    x, a = both(np.arange(4 * 4 * 4).reshape(4, 4, 4) % 17)
    for key in (index, (index,), (0, index), (index, 1), (slice(None), index, None), (index, [1])):
        error = error_of(lambda key=key: a[key])
        if error is not None:
            for call in (lambda key=key: x[key], lambda key=key: operator.setitem(x, key, 0)):
                with pytest.raises(error):
                    call()
            continue
        assert_same(x[key], a[key])
        x[key] = a[key] = 3
        assert_same(x, a)


@pytest.mark.parametrize("index", SEQUENCES.values(), ids=SEQUENCES)
def test_strict_mode_refuses_ranges_and_memory(index):
    x = xp.reshape(xp.arange(64), (4, 4, 4))
    with xp.strict():
        for call in (lambda: x[index], lambda: x[index, ...], lambda: operator.setitem(x, index, 1)):
            with pytest.raises(xp.StrictError):
                call()


@pytest.mark.parametrize("index", [range(3), range(0), array("i", [1, -1, 1]), array("d")], ids=str)
def test_gradients_by_ranges_and_memory(index):
    expected = np.zeros((4, 2))
    np.add.at(expected, np.asarray(index, dtype=int), 1.0)
    assert_same(grad(lambda v: xp.sum(v[index]))(xp.ones((4, 2))), expected)

    def written(v):
        y = xp.zeros((4, 2))
        y[index] = v
        return xp.sum(y)

    assert_same(grad(written)(xp.ones(())), np.asarray(2.0 * len(set(map(int, index)))))


OTHERS = {
    "array of double": array("d", [1.0]), "memory of float": memoryview(array("f", [1.0])),
    "memory of characters": memoryview(b"1").cast("c"), "bytes": b"1",
}  # fmt: skip


@pytest.mark.parametrize("index", OTHERS.values(), ids=OTHERS)
def test_memory_that_is_no_index(index):
    x = xp.arange(3)
    for call in (lambda: x[index], lambda: x[0, index], lambda: operator.setitem(x, index, 1)):
        with pytest.raises(IndexError):
            call()
    assert_same(x, np.arange(3))
