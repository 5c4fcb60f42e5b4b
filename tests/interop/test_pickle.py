"""Pickling: every protocol, every layout, out-of-band buffers, and invalid pickles."""

from __future__ import annotations

import copy
import operator
import pickle
import sys
import weakref

import numpy as np
import pytest
from helpers import DTYPES

import stride0 as xp
from stride0._core.exchange import exchange as core

BASE = np.arange(24.0).reshape(2, 3, 4)
LAYOUTS = {
    "plain": lambda x: x,
    "transposed": lambda x: xp.permute_dims(x, (2, 0, 1)),
    "reversed": lambda x: x[::-1, :, ::-1],
    "sliced": lambda x: x[:, 1:, ::2],
    "broadcast": lambda x: xp.broadcast_to(x[:, :1, :], (5, 2, 3, 4)),
    "broadcast and transposed": lambda x: xp.permute_dims(xp.broadcast_to(x, (5, 2, 3, 4)), (3, 0, 2, 1)),
    "0-d": lambda x: x[1, 2, 3],
    "empty": lambda x: x[:0],
    "empty and broadcast": lambda x: xp.broadcast_to(x[:0], (7, 0, 3, 4)),
    "one element": lambda x: x[:1, :1, :1],
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_round_trips(layout: str, protocol: int) -> None:
    x = LAYOUTS[layout](xp.asarray(BASE))
    y = pickle.loads(pickle.dumps(x, protocol))
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x), strict=True)
    assert type(y) is xp.Array and not xp.strided.shares_storage(x, y)
    if "broadcast" not in layout:
        y[...] = 1  # it may be written to, as x may


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    a = np.arange(6).reshape(2, 3).astype(dtype)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(xp.asarray(a), protocol))
        np.testing.assert_array_equal(np.asarray(y), a, strict=True)
        made = pickle.loads(pickle.dumps(getattr(xp, dtype), protocol))
        assert made is getattr(xp, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_of_band(layout: str) -> None:
    x = LAYOUTS[layout](xp.asarray(BASE))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 250
    (buffer,) = buffers
    if "broadcast" in layout:
        assert buffer.raw().nbytes == np.unique(np.asarray(x)).size * 8  # each element once
    y = pickle.loads(data, buffers=buffers)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x), strict=True)
    # Nothing is copied if the elements are contiguous in some order of axes.
    shared = layout in ("plain", "transposed", "broadcast and transposed", "0-d", "one element")
    assert xp.strided.shares_storage(x, y) is shared


def test_a_broadcast_array_stays_broadcast() -> None:
    x = xp.broadcast_to(xp.asarray([1.0, 2.0]), (1_000_000, 2))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(x, protocol)
        assert len(data) < 300
        assert xp.strided.strides(pickle.loads(data)) == (0, 1)


def test_read_only_buffers_make_read_only_arrays() -> None:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(xp.asarray(BASE.copy()), protocol=5, buffer_callback=buffers.append)
    y = pickle.loads(data, buffers=[bytes(buffers[0].raw())])
    assert not xp.strided.is_writable(y)
    with pytest.raises(xp.WriteError):
        y[0] = 1
    y = pickle.loads(data, buffers=[bytearray(buffers[0].raw())])
    y[0] = 1


@pytest.mark.parametrize(
    "arguments",
    [
        ((4,), xp.float64, None, b"1234567"),
        ((4,), xp.float64, None, bytes(24)),
        ((2, 2), xp.float64, (2,), bytes(32)),
        ((2, 2), xp.float64, (3, 1), bytes(32)),
        ((2, 2), xp.float64, (-1, 1), bytes(32)),
        ((2, 2), xp.float64, (1.0, 1), bytes(32)),
        ((2, -2), xp.float64, None, bytes(32)),
        ((2**62, 2**62), xp.float64, (0, 0), bytes(8)),
        ((2**62, 2**62), xp.float64, None, bytes(8)),
        (("2", 2), xp.float64, None, bytes(32)),
        ((2,), xp.float64, None, "text"),
        ((2,), "float64", None, bytes(16)),
        ([2], xp.float64, None, bytes(16)),
    ],
)
def test_pickles_that_lie(arguments: tuple) -> None:
    """No array reaches outside the bytes that it was given."""
    with pytest.raises((ValueError, TypeError, MemoryError, OverflowError)):
        core._rebuild(*arguments)


def test_unaligned_bytes_are_copied() -> None:
    memory = bytearray(b"\0" + np.asarray([1.0, 2.0]).tobytes())
    y = core._rebuild((2,), xp.float64, None, memoryview(memory)[1:])
    assert y.tolist() == [1.0, 2.0]


def test_tracked_arrays_are_not_pickled() -> None:
    with pytest.raises(xp.GradientError):
        xp.autograd.grad(lambda x: xp.sum(pickle.loads(pickle.dumps(x))))(xp.ones(2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(layout: str) -> None:
    x = LAYOUTS[layout](xp.asarray(BASE))
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x, x])[0]):
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x), strict=True)
        assert not xp.strided.shares_storage(x, y)


def test_weak_references() -> None:
    x = xp.ones(3)
    reference, gone = weakref.ref(x), []
    weakref.finalize(x, gone.append, True)
    assert reference() is x
    del x
    assert reference() is None and gone == [True]


def test_size_in_memory() -> None:
    small, large = xp.zeros(0), xp.zeros(10_000)
    assert sys.getsizeof(large) - sys.getsizeof(small) == 80_000
    # A view owns only its object; many axes need additional memory.
    for view in (large[1:], large[:], large[::-1], xp.reshape(large, (100, 100)), large[None, :]):
        assert sys.getsizeof(view) == sys.getsizeof(small)
    # A view that outlives its base keeps all of the memory alive.
    del view
    last = large[1:]
    del large
    assert sys.getsizeof(last) == sys.getsizeof(small) + 80_000
    large = xp.zeros(10_000)
    assert sys.getsizeof(xp.asarray(np.zeros(1000))) == sys.getsizeof(small)
    assert sys.getsizeof(xp.zeros((0,) * 6)) == sys.getsizeof(small) + 144
    assert large.nbytes == 80_000 and large.itemsize == 8
    assert xp.broadcast_to(xp.ones(2), (1000, 2)).nbytes == 16_000


def test_memoryviews() -> None:
    x = xp.asarray(np.arange(6).reshape(2, 3).copy())
    view = memoryview(x)
    assert (view.format, view.shape, view.strides, view.readonly) == ("l", (2, 3), (24, 8), False)
    view[1, 2] = 50
    assert x[1, 2] == 50
    assert np.asarray(x).dtype == np.int64 and np.asarray(x).dtype.char == "l"


def test_dtypes_beside_numpys() -> None:
    for name in DTYPES:
        ours, theirs = getattr(xp, name), np.dtype(name)
        assert np.dtype(ours) == theirs and ours == theirs and theirs == ours
        assert theirs in (xp.int8, ours) and not operator.ne(ours, theirs)
        assert ours not in (np.dtype("U3"), object, str, "x")
        for stands in (theirs, theirs.type, name):
            assert xp.zeros(2, dtype=stands).dtype is ours
    for builtin in (bool, int, float, complex):
        assert xp.ones(1, dtype=builtin).dtype == np.dtype(builtin)


def test_attributes_can_be_asked_for() -> None:
    """Protocols with attributes use hasattr, which catches only AttributeError."""
    for name in DTYPES:
        x = xp.ones((1, 1), dtype=getattr(xp, name))
        for attribute in dir(x):
            assert hasattr(x, attribute), attribute
        np.testing.assert_array_equal(np.asarray(x.real), np.ones((1, 1), name).real)
        np.testing.assert_array_equal(np.asarray(x.imag), np.ones((1, 1), name).imag)
