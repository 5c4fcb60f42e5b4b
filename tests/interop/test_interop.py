"""Memory of other libraries, and our memory in other libraries: NumPy, buffers, `__array__`, PyTorch."""

from __future__ import annotations

import array
import ctypes
import gc
import weakref

import numpy as np
import pytest
from helpers import DTYPES, LAYOUTS, assert_same, values
from hypothesis import given
from strategies import drawn_arrays, examples

import stride0 as xp
from stride0 import strided

SETTINGS = examples(150)


def address(a):
    return a.__array_interface__["data"][0]


# --- NumPy arrays, without copying


@SETTINGS
@given(drawn_arrays(special=True))
def test_numpy_sees_the_same_memory(d):
    a = np.asarray(d.x)
    assert_same(d.x, d.a)
    assert (a.dtype, a.shape) == (d.a.dtype, d.a.shape)
    assert a.flags.writeable is strided.is_writable(d.x)
    if a.size:
        steps = tuple(s // a.itemsize for s in a.strides)
        assert all(n == 1 or s == t for n, s, t in zip(a.shape, steps, strided.strides(d.x), strict=True))
        assert np.shares_memory(a, np.asarray(d.x_memory))
    if a.flags.writeable:
        a[...] = 1
        d.a[...] = 1
        d.assert_same_memory()
        d.x[...] = 0
        assert not a.any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_stride0_sees_the_same_memory(dtype, layout):
    a = LAYOUTS[layout](np, values(dtype, special=True))
    for copy_argument in (None, False):
        x = xp.asarray(a, copy=copy_argument)
        assert_same(x, a)
        back = np.asarray(x)
        assert address(back) == address(a)
        if a.size:
            assert all(n == 1 or s == t for n, s, t in zip(a.shape, back.strides, a.strides, strict=True))
        if a.flags.writeable:
            x[...] = 1
            assert (a == 1).all()
            a[...] = 0
            assert not np.asarray(x).any()
    own = xp.asarray(a, copy=True)
    assert_same(own, a)
    assert address(np.asarray(own)) != address(a)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0)])
def test_read_only_arrays_are_shared_and_stay_read_only(shape):
    a = np.zeros(shape)
    a.flags.writeable = False
    for x in (xp.asarray(a), xp.asarray(a, copy=False), xp.asarray(a)[...]):
        assert address(np.asarray(x)) == address(a)
        assert not strided.is_writable(x)
        assert not np.asarray(x).flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            x[...] = 1
        with pytest.raises(ValueError, match="read-only"):
            x += 1
    own = xp.asarray(a, copy=True)
    own[...] = 1
    assert not a.any()


def test_broadcast_arrays_are_exported_read_only():
    broadcast = xp.broadcast_to(xp.arange(3), (4, 3))
    a = np.asarray(broadcast)
    assert a.strides == (0, 8)
    assert not a.flags.writeable
    assert np.asarray(broadcast[1]).flags.writeable
    twice = xp.asarray(np.broadcast_to(np.arange(3), (4, 3)))
    assert strided.strides(twice) == (0, 1)
    assert not strided.is_writable(twice)


def test_round_trips_end_at_the_same_memory():
    a = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(a.T)
    for _ in range(5):
        x = xp.asarray(np.asarray(x))
    x[0, 1] = 99
    assert a[1, 0] == 99


def test_memory_lives_as_long_as_anyone_looks_at_it():
    class Watched(np.ndarray):
        pass

    a = np.arange(1000.0).view(Watched)
    seen = weakref.ref(a)
    x = xp.asarray(a)[::-2]
    del a
    gc.collect()
    assert seen() is not None
    assert_same(x, np.arange(1000.0)[::-2])
    y = x[1:3]
    del x
    gc.collect()
    assert seen() is not None
    del y
    gc.collect()
    assert seen() is None

    before = strided.memory_statistics()["live_bytes"]
    x = xp.asarray(np.arange(1000.0), copy=True)
    a = np.asarray(x[10:])
    del x
    gc.collect()
    assert strided.memory_statistics()["live_bytes"] == before + 8000
    assert (a == np.arange(10.0, 1000)).all()
    b = a[::7]
    del a
    assert (b == np.arange(10.0, 1000)[::7]).all()
    del b
    gc.collect()
    assert strided.memory_statistics()["live_bytes"] == before


# --- memory that the kernels cannot use


SWAPPED = [np.dtype(name).newbyteorder(">") for name in DTYPES if np.dtype(name).itemsize > 1]


@pytest.mark.parametrize("dtype", SWAPPED, ids=str)
def test_swapped_bytes_are_copied_or_refused(dtype):
    a = values(dtype.newbyteorder("=").name, special=True)
    for b in (
        a.astype(dtype),
        a.astype(dtype)[::-1, ::2],
        a.astype(dtype).T,
        a.astype(dtype)[0, 0, ...],
        a.astype(dtype)[:0],
    ):
        for copy_argument in (None, True):
            x = xp.asarray(b, copy=copy_argument)
            assert_same(x, b.astype(dtype.newbyteorder("=")))
            assert not np.shares_memory(np.asarray(x), b)
            assert strided.is_writable(x)
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(b, copy=False)


def test_bytes_of_one_have_no_order():
    a = np.zeros(3, ">i1")
    assert np.shares_memory(np.asarray(xp.asarray(a, copy=False)), a)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if np.dtype(name).itemsize > 1])
def test_unaligned_elements_are_copied_or_refused(dtype):
    a = values(dtype)
    raw = np.zeros(a.nbytes + 64, np.uint8)
    begin = 1 - address(raw) % 64  # one byte above a multiple of 64
    unaligned = raw[begin % 64 :][: a.nbytes].view(dtype).reshape(a.shape)
    unaligned[...] = a
    assert not unaligned.flags.aligned
    packed = np.zeros(5, np.dtype([("pad", "i1"), ("value", dtype)]))["value"]  # odd strides
    packed[...] = a.ravel()[:5]
    for b in (unaligned, unaligned[::-1, ::2], packed, packed[::-1]):
        for copy_argument in (None, True):
            x = xp.asarray(b, copy=copy_argument)
            assert_same(x, np.array(b))
            assert not np.shares_memory(np.asarray(x), b)
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(b, copy=False)


def test_complex_elements_aligned_like_their_parts_are_shared():
    raw = np.zeros(9, np.float64)
    a = raw[1:].view(np.complex128)
    assert np.shares_memory(np.asarray(xp.asarray(a, copy=False)), a)


UNSUPPORTED = {
    "longdouble": np.zeros(2, np.longdouble),
    "clongdouble": np.zeros(2, np.clongdouble),
    "object": np.zeros(2, object),
    "objects without axes": np.array(None),
    "str": np.asarray(["a", "bc"]),
    "bytes": np.asarray([b"a", b"bc"]),
    "void": np.zeros(2, "V4"),
    "structured": np.zeros(2, [("a", "i4"), ("b", "f8")]),
    "datetime64": np.zeros(2, "M8[s]"),
    "timedelta64": np.zeros(2, "m8[ns]"),
    "datetime64 scalar": np.datetime64("2020-01-01"),
    "timedelta64 scalar": np.timedelta64(3, "s"),
    "longdouble scalar": np.longdouble(1),
    "str scalar": np.str_("a"),
    "void scalar": np.void(b"abcd"),
    "memoryview of characters": memoryview(b"ab").cast("c"),
    "str itself": "abc",
    "bytes itself": b"abc",
    "None": None,
    "dict": {},
    "set": {1},
    "object itself": object(),
    "generator": (i for i in range(2)),
    "type": float,
    "module": np,
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_things(name):
    value = UNSUPPORTED[name]
    for copy_argument in (None, True, False):
        with pytest.raises(TypeError, match="Unsupported"):
            xp.asarray(value, copy=copy_argument)
    for dtype in (xp.float64, xp.int8):
        with pytest.raises(TypeError, match="Unsupported"):
            xp.asarray(value, dtype=dtype)
    for nested in ([value], [[value], [value]], [1.0, value]):
        with pytest.raises(TypeError, match="Unsupported"):
            xp.asarray(nested)


# --- other owners of memory


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_array_module(code):
    memory = array.array(code, [1, 2, 3])
    x = xp.asarray(memory)
    assert_same(x, np.asarray(memory))
    x[1] = 77
    assert memory[1] == 77
    with pytest.raises(BufferError):
        memory.append(1)  # the memory is exported
    del x
    memory.append(1)


def test_bytearray_and_memoryview():
    memory = bytearray(b"abcdef")
    x = xp.asarray(memory)
    assert_same(x, np.frombuffer(b"abcdef", np.uint8))
    x[0] = 65
    assert memory == b"Abcdef"
    with pytest.raises(BufferError):
        memory.extend(b"g")
    y = x[1:]
    del x
    with pytest.raises(BufferError):
        memory.extend(b"g")
    del y
    memory.extend(b"g")
    readonly = xp.asarray(memoryview(b"abc"))
    assert_same(readonly, np.frombuffer(b"abc", np.uint8))
    assert not strided.is_writable(readonly)
    view = memoryview(bytearray(range(24))).cast("h", (3, 4))
    assert_same(xp.asarray(view), np.asarray(view))
    assert_same(xp.asarray(memoryview(bytearray(range(6)))[::-2]), np.asarray([5, 3, 1], np.uint8))
    view = memoryview(bytearray(4))
    x = xp.asarray(view)
    view.release()
    x[3] = 7  # the export lasts longer than the view
    assert_same(x, np.asarray([0, 0, 0, 7], np.uint8))
    with pytest.raises((ValueError, TypeError)):
        xp.asarray(view)


def test_ctypes():
    memory = ((ctypes.c_double * 3) * 2)()
    x = xp.asarray(memory)
    assert (x.shape, x.dtype) == ((2, 3), xp.float64)
    x[1, 2] = 5
    assert memory[1][2] == 5
    with pytest.raises(TypeError, match="Unsupported"):
        xp.asarray((ctypes.c_char * 3)())
    swapped = (ctypes.c_int32.__ctype_be__ * 2)(1, 2)
    assert_same(xp.asarray(swapped), np.asarray([1, 2], np.int32))


def test_indirect_buffers_are_not_read_as_if_they_were_direct():
    testbuffer = pytest.importorskip("_testbuffer")
    rows = testbuffer.ndarray(list(range(12)), shape=[3, 4], format="q", flags=testbuffer.ND_PIL)
    try:
        x = xp.asarray(rows)
    except (BufferError, ValueError, TypeError):
        return
    assert_same(x, np.arange(12).reshape(3, 4))


class Provider:
    """An object that has only ``__array__``."""

    def __init__(self, a):
        self.a = a
        self.asked = []

    def __array__(self, dtype=None, copy=None):
        self.asked.append(copy)
        return self.a


def test_objects_with_array_only():
    provider = Provider(np.arange(3))
    x = xp.asarray(provider)
    assert_same(x, np.arange(3))
    x[0] = 9
    assert provider.a[0] == 9
    own = xp.asarray(provider, copy=True)
    own[0] = 1
    assert provider.a[0] == 9
    assert_same(xp.asarray(provider, dtype=xp.float32), np.asarray([9, 1, 2], np.float32))
    assert_same(xp.asarray([provider, provider]), np.asarray([[9, 1, 2]] * 2))
    with pytest.raises(TypeError, match="Unsupported"):
        xp.asarray(Provider(np.zeros(2, object)))
    with pytest.raises((TypeError, ValueError)):
        xp.asarray(Provider("no array"))

    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("no array today")

    with pytest.raises(RuntimeError, match="no array today"):
        xp.asarray(Broken())


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    for dtype in (
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "bool",
    ):
        tensor = torch.ones((3, 4), dtype=getattr(torch, dtype))
        for view in (
            tensor,
            tensor.T,
            tensor[1:, ::2],
            tensor[0],
            tensor[0, 0],
            tensor[:, :0],
            tensor[:1].expand(3, 4),
        ):
            x = xp.asarray(view)
            assert (x.shape, x.dtype.name) == (tuple(view.shape), dtype)
            assert_same(x, view.numpy())
            assert strided.strides(x) == view.stride() or x.size < 2 or 1 in x.shape
    tensor = torch.arange(6.0).reshape(2, 3)
    x = xp.asarray(tensor.T)
    tensor[1, 2] = 50
    assert float(x[2, 1]) == 50
    own = xp.asarray(tensor, copy=True)
    tensor[0, 0] = -1
    assert float(own[0, 0]) == 0
    for unsupported in (torch.zeros(2).to(torch.float8_e5m2), torch.zeros(2).to(torch.float8_e4m3fn)):
        with pytest.raises(TypeError):
            xp.asarray(unsupported)
    with pytest.raises((TypeError, ValueError, BufferError)):
        xp.asarray(torch.zeros(2, requires_grad=True))
    back = torch.as_tensor(np.asarray(xp.arange(3)))
    assert back.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_have_the_types_of_numpys_scalars(dtype):
    """`scipy.optimize.minimize` makes numbers by ``x.dtype.type(number)``."""
    assert getattr(xp, dtype).type is np.dtype(dtype).type
    assert xp.zeros(2, dtype=getattr(xp, dtype)).dtype.type(1) == 1
