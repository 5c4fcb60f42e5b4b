"""`stride0.strided`: strides, offsets, storages, windows by `as_strided`, and memory in use."""

from __future__ import annotations

import gc
import itertools
import pickle

import numpy as np
import pytest
from helpers import DTYPES, assert_same, both, pairs, values
from hypothesis import given
from hypothesis import strategies as st
from strategies import drawn_arrays, examples

import stride0 as xp
from stride0 import strided

SETTINGS = examples(250)


def test_the_names():
    assert set(strided.__all__) >= {
        "as_strided",
        "contiguous",
        "is_contiguous",
        "is_writable",
        "memory_statistics",
        "offset",
        "shares_storage",
        "storage_nbytes",
        "strides",
    }


# --- the memory of an array


def test_an_array_is_storage_offset_shape_strides():
    x = xp.asarray([[10, 11, 12], [20, 21, 22]])
    assert (x.shape, strided.strides(x), strided.offset(x)) == ((2, 3), (3, 1), 0)
    assert strided.storage_nbytes(x) == 6 * 8
    flat = strided.as_strided(x, (6,), (1,))
    for i, j in itertools.product(range(2), range(3)):
        assert int(x[i, j]) == int(flat[strided.offset(x) + 3 * i + 1 * j])
    part = x[1:, ::-2]
    assert (part.shape, strided.strides(part), strided.offset(part)) == ((1, 2), (3, -2), 5)
    assert strided.storage_nbytes(part) == 6 * 8
    assert strided.strides(xp.zeros((2, 3, 4))) == (12, 4, 1)
    assert strided.strides(xp.zeros(())) == ()


@SETTINGS
@given(drawn_arrays())
def test_strides_are_those_of_the_memory(d):
    steps = tuple(s // d.a.itemsize for s in d.a.strides)
    for n, ours, theirs in zip(d.a.shape, strided.strides(d.x), steps, strict=True):
        assert n <= 1 or d.a.size == 0 or ours == theirs
    assert strided.is_contiguous(d.x) is d.a.flags.c_contiguous
    assert strided.is_writable(d.x) is not d.broadcast
    assert strided.shares_storage(d.x, d.x)
    plain = strided.contiguous(d.x)
    assert_same(plain, d.a)
    assert strided.is_contiguous(plain)
    assert (plain is d.x) is strided.is_contiguous(d.x)
    assert strided.shares_storage(plain, d.x) is strided.is_contiguous(d.x)


def test_contiguous_of_all_layouts():
    for what, (x, a) in pairs():
        y = strided.contiguous(x)
        assert_same(y, a, what=what)
        assert np.asarray(y).flags.c_contiguous, what


def test_shares_storage():
    x = xp.arange(6)
    assert strided.shares_storage(x, x[::-1])
    assert strided.shares_storage(x[:2], x[4:])  # one storage, although they have no element in common
    assert not strided.shares_storage(x, xp.arange(6))
    assert not strided.shares_storage(x, x + 0)
    a = np.arange(6.0)
    assert strided.shares_storage(xp.asarray(a), xp.asarray(a[::2]))
    assert strided.shares_storage(xp.asarray(a[:4]), xp.asarray(a[2:]))
    assert not strided.shares_storage(xp.asarray(a[:3]), xp.asarray(a[3:]))
    z = xp.zeros(3, dtype=xp.complex64)
    assert strided.shares_storage(xp.real(z), xp.imag(z))
    for view in (xp.real(z), xp.imag(z)):
        assert (strided.strides(view), strided.storage_nbytes(view)) == ((2,), 24)
    assert [strided.offset(v) for v in (xp.real(z), xp.imag(z))] == [0, 1]


def test_writable():
    x = xp.zeros((2, 3))
    assert strided.is_writable(x)
    assert not strided.is_writable(xp.broadcast_to(x, (2, 2, 3)))
    assert strided.is_writable(xp.broadcast_to(x, (1, 2, 3)))
    a = np.zeros(3)
    a.flags.writeable = False
    assert not strided.is_writable(xp.asarray(a))
    assert strided.is_writable(xp.asarray(a, copy=True))
    assert not strided.is_writable(strided.as_strided(xp.asarray(a), (3,), (1,)))


@pytest.mark.parametrize(
    "name",
    sorted(set(strided.__all__) - {"memory_statistics", "as_strided", "shares_storage"}),
)
@pytest.mark.parametrize("value", [None, [1, 2], "a", np.zeros(3)], ids=["None", "list", "str", "ndarray"])
def test_only_arrays(name, value):
    with pytest.raises(TypeError):
        getattr(strided, name)(value)


# --- windows by `as_strided`


@st.composite
def requests(draw):
    """Shapes, strides and offsets that fit into 12 elements about half of the time."""
    ndim = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0, 5)) for _ in range(ndim))
    strides = tuple(
        draw(st.integers(-6, 6) | st.sampled_from([2**31, 2**61, -(2**62), 2**80])) for _ in range(ndim)
    )
    return shape, strides, draw(st.none() | st.integers(-3, 14) | st.sampled_from([2**62, -(2**62), 2**80]))


@pytest.mark.parametrize("dtype", ["int8", "float64", "complex128"])
@examples(400)
@given(requests(), st.sampled_from([slice(None), slice(3, None, 2), slice(None, None, -1), slice(5, 5)]))
def test_windows_never_reach_outside(dtype, request, key):
    shape, strides, offset = request
    base, memory = both(values(dtype, (12,)))
    x = base[key]
    start = strided.offset(x) if offset is None else offset
    reached = [
        start + sum(i * step for i, step in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, shape))
    ]
    if all(0 <= place < 12 for place in reached):
        window = strided.as_strided(x, shape, strides, offset)
        assert window.shape == shape
        assert strided.shares_storage(window, base)
        assert_same(window, memory[reached].reshape(shape) if reached else np.zeros(shape, dtype))
        if strided.is_writable(window):
            assert len(set(reached)) == len(reached)
    else:
        with pytest.raises(xp.OutOfBoundsError, match="would reach"):
            strided.as_strided(x, shape, strides, offset)
    assert_same(base, memory)


def test_windows_into_foreign_memory_stay_inside_the_view_that_was_lent():
    a = np.arange(10)
    x = xp.asarray(a[2:8:2])  # elements 2 to 6 of the buffer
    assert_same(strided.as_strided(x, (5,), (1,)), np.arange(2, 7))
    for shape, strides, offset in (((6,), (1,), 0), ((2,), (-1,), 0), ((1,), (1,), 5), ((1,), (1,), -1)):
        with pytest.raises(IndexError):
            strided.as_strided(x, shape, strides, offset)
    backwards = xp.asarray(a[7:1:-1])
    assert_same(strided.as_strided(backwards, (6,), (1,), 0), np.arange(2, 8))
    with pytest.raises(IndexError):
        strided.as_strided(backwards, (7,), (1,), 0)


def test_windows_of_parts_of_complex_numbers():
    z, a = both(values("complex64", (4,)))
    parts = strided.as_strided(xp.real(z), (4, 2), (2, 1))
    assert_same(parts, a.view(np.float32).reshape(4, 2))
    assert_same(strided.as_strided(xp.imag(z), (4,), (2,)), a.imag)
    with pytest.raises(IndexError):
        strided.as_strided(xp.imag(z), (5,), (2,))


def test_sliding_window():
    x = xp.arange(7)
    assert_same(
        strided.as_strided(x, (5, 3), (1, 1)), np.lib.stride_tricks.sliding_window_view(np.arange(7), 3)
    )
    with pytest.raises(xp.WriteError):
        strided.as_strided(x, (5, 3), (1, 1))[...] = 0


def test_windows_refused():
    x = xp.zeros((2, 3))
    with pytest.raises(ValueError, match="pass one stride per axis"):
        strided.as_strided(x, (2, 3), (1,))
    with pytest.raises(ValueError, match="negative"):
        strided.as_strided(x, (-1,), (1,))
    with pytest.raises(ValueError):
        strided.as_strided(x, (1,) * 65, (0,) * 65)
    for shape, strides, offset in (
        ((1.0,), (1,), 0),
        ((1,), (1.5,), 0),
        ((1,), ("1",), 0),
        ((1,), (1,), 0.5),
        ((1,), (1,), "0"),
        ((1,), (None,), 0),
        (None, (1,), 0),
        ((1,), None, 0),
    ):
        with pytest.raises(TypeError):
            strided.as_strided(x, shape, strides, offset)
    for value in (None, [1, 2], np.zeros(3)):
        with pytest.raises(TypeError):
            strided.as_strided(value, (1,), (1,))
    with pytest.raises(ValueError, match="too many elements"):
        strided.as_strided(x, (2**40, 2**40), (0, 0))
    many = strided.as_strided(x, (2**50,), (0,))
    assert (many.size, strided.strides(many), strided.storage_nbytes(many)) == (2**50, (0,), 48)


# --- memory in use


def live():
    gc.collect()
    return strided.memory_statistics()["live_bytes"]


def test_statistics_count_what_arrays_own():
    before = strided.memory_statistics(reset_peak=True)
    assert set(before) >= {"live_bytes", "peak_bytes", "allocations"}
    x = xp.zeros((100, 100))
    during = strided.memory_statistics()
    assert during["live_bytes"] - before["live_bytes"] == 80_000
    assert during["peak_bytes"] - before["live_bytes"] == 80_000
    assert during["allocations"] - before["allocations"] == 1
    view = x[::2]
    del x
    assert strided.memory_statistics()["live_bytes"] == during["live_bytes"]  # the view keeps it
    del view
    after = strided.memory_statistics(reset_peak=True)
    assert after["live_bytes"] == before["live_bytes"]
    assert after["peak_bytes"] == during["peak_bytes"]
    assert strided.memory_statistics()["peak_bytes"] == before["live_bytes"]


def test_foreign_memory_is_not_counted():
    before = live()
    xs = [xp.asarray(np.zeros(1000)) for _ in range(3)]
    assert live() == before
    assert [strided.storage_nbytes(x) for x in xs] == [8000] * 3


def test_views_own_nothing():
    x = xp.asarray(np.arange(24.0).reshape(2, 3, 4), copy=True)
    before = strided.memory_statistics()
    views = [
        x[0],
        x[:, ::-1, ::2],
        x[None, ..., None],
        xp.permute_dims(x, (2, 0, 1)),
        x.mT,
        xp.reshape(x, (6, 4)),
        xp.broadcast_to(x, (1000, 2, 3, 4)),
        xp.flip(x),
        xp.moveaxis(x, 0, -1),
        xp.expand_dims(x, axis=0),
        xp.squeeze(x[:1], axis=0),
        *xp.unstack(x),
        *iter(x),
        strided.as_strided(x, (3,), (1,)),
    ]
    assert strided.memory_statistics() == before
    assert all(strided.shares_storage(view, x) for view in views)


IMPOSSIBLE = {
    "empty": lambda: xp.empty((2**45,)),
    "empty of many": lambda: xp.empty((2**62,)),
    "zeros": lambda: xp.zeros((2**45,)),
    "ones": lambda: xp.ones((2**45, 2)),
    "full": lambda: xp.full(2**46, 1, dtype=xp.float32),
    "eye": lambda: xp.eye(2**31),
    "arange": lambda: xp.arange(2**50),
    "linspace": lambda: xp.linspace(0, 1, 2**50),
    "repeat": lambda: xp.repeat(xp.arange(3), 2**50),
    "tile": lambda: xp.tile(xp.arange(3), (2**50,)),
    "outer": lambda: xp.broadcast_to(xp.zeros(1), (2**30, 1)) + xp.broadcast_to(xp.zeros(1), (1, 2**30)),
    "add": lambda: xp.broadcast_to(xp.zeros(1), (2**45,)) + 1,
    "copy": lambda: xp.asarray(xp.broadcast_to(xp.zeros(1), (2**45,)), copy=True),
    "cast": lambda: xp.astype(xp.broadcast_to(xp.zeros(1), (2**45,)), xp.float32),
    "reshape": lambda: xp.reshape(xp.broadcast_to(xp.zeros((2, 1)), (2, 2**45)).T, (-1,)),
    "take": lambda: xp.zeros(3)[xp.broadcast_to(xp.zeros(1, dtype=xp.int64), (2**45,))],
    "nonzero": lambda: xp.nonzero(xp.broadcast_to(xp.zeros(1), (2**47,))),
    "cumulative_sum": lambda: xp.cumulative_sum(xp.broadcast_to(xp.zeros(1), (2**45,))),
    "compare": lambda: xp.broadcast_to(xp.arange(1), (2**48,)) == 2**70,
    "contiguous": lambda: strided.contiguous(xp.broadcast_to(xp.zeros(1), (2**45,))),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
@pytest.mark.usefixtures("eagerly")
def test_results_larger_than_any_memory(name):
    before = live()
    for _ in range(3):
        with pytest.raises(MemoryError):
            IMPOSSIBLE[name]()
    assert live() == before


def test_more_elements_than_can_be_counted():
    for shape in ((2**40, 2**40), (2**63,), (2**70,), (2**32, 2**32, 2)):
        for create in (xp.empty, xp.zeros, xp.ones):
            with pytest.raises((MemoryError, ValueError)):
                create(shape)
    # With an axis of size 0 there are no elements, for any other sizes.
    assert xp.empty((0, 2**40)).shape == (0, 2**40)


FAILURES = {
    "broadcast": lambda x: x + xp.ones((3, 4)),
    "dtype": lambda x: x & x,
    "foreign": lambda x: xp.add(x, np.ones(5)),
    "range": lambda x: xp.astype(x, xp.int8) + 300,
    "index": lambda x: x[[0, 1, 7]],
    "setitem": lambda x: x.__setitem__([0, 1, 7], xp.ones(3)),
    "setitem, cast": lambda x: x.__setitem__([0, 1], xp.full(2, 1j)),
    "setitem, shape": lambda x: x.__setitem__([0, 1], xp.ones(3)),
    "mask": lambda x: x[xp.ones((5, 2), dtype=xp.bool)],
    "ragged": lambda x: xp.asarray([[1.0, 2.0], [3.0]]),
    "a string at the end": lambda x: xp.asarray([1.0] * 1000 + ["a"]),
    "an integer too large at the end": lambda x: xp.asarray([1] * 1000 + [2**70]),
    "arrays of two shapes": lambda x: xp.asarray([x, x[:2]]),
    "reshape": lambda x: xp.reshape(x, (2, 3)),
    "concat": lambda x: xp.concat([x, xp.ones((2, 2))]),
    "pow": lambda x: xp.astype(x, xp.int64) ** xp.asarray([-1] * 5),
    "sum": lambda x: xp.sum(x, axis=3),
    "max": lambda x: xp.max(x[:0]),
    "write": lambda x: xp.broadcast_to(x, (2, 5)).__setitem__(..., 1),
    "where": lambda x: xp.where(x, x, x),
    "take": lambda x: xp.take(x, xp.asarray([5])),
}


@pytest.mark.parametrize("name", FAILURES)
def test_nothing_is_leaked_where_a_call_fails(name):
    x = xp.asarray(np.arange(5.0), copy=True)
    before = live()
    for _ in range(5):
        with pytest.raises((ValueError, TypeError, IndexError, OverflowError)):
            FAILURES[name](x)
    assert live() == before
    assert_same(x, np.arange(5.0))


def test_nothing_is_leaked_where_calls_succeed():
    def everything():
        x = xp.asarray(np.arange(24.0).reshape(4, 6), copy=True)
        y = (x + x.T[:4, :4][:, :1]) * 2 - xp.mean(x, axis=0)
        y[y > 3] = 0
        y[[0, 1], ::2] = x[[1, 0], ::2]
        xp.concat([x, y])[::-1].T + xp.broadcast_to(x[0, 0], (6, 8))
        pickle.loads(pickle.dumps(x.T))
        np.asarray(x) + np.asarray(y.T).T
        (
            repr(x),
            list(x),
            xp.asarray([x, x]),
            xp.asarray([[1, 2.5], [3, 4j]]),
            float(x[0, 0]),
            xp.astype(x, xp.int8),
        )
        xp.nonzero(x), xp.argmax(x), xp.cumulative_sum(x, axis=0), xp.var(x), xp.where(x > 0, x, 1)

    everything()
    before = live()
    for _ in range(20):
        everything()
    assert live() == before


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_aligned(dtype):
    for n in (0, 1, 3, 17, 1000, 100_000):
        for x in (xp.zeros(n, dtype=getattr(xp, dtype)), xp.asarray(values(dtype, (n,)), copy=True)):
            assert np.asarray(x).__array_interface__["data"][0] % 64 == 0 or n == 0
