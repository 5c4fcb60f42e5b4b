"""To and from NumPy, the buffer protocol, PyTorch, pickle and text."""

from __future__ import annotations

import array
import copy
import ctypes
import gc
import itertools
import pickle
import threading
import weakref

import numpy as np
import pytest
from helpers import DTYPES, LAYOUTS, assert_same, both, pair, pairs, values
from hypothesis import given, settings
from strategies import drawn_arrays

import stride0 as xp
from stride0 import strided

SETTINGS = settings(max_examples=150, deadline=None)


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


def test_stretched_arrays_are_lent_read_only():
    stretched = xp.broadcast_to(xp.arange(3), (4, 3))
    a = np.asarray(stretched)
    assert a.strides == (0, 8)
    assert not a.flags.writeable
    assert np.asarray(stretched[1]).flags.writeable
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
    for b in (a.astype(dtype), a.astype(dtype)[::-1, ::2], a.astype(dtype).T, a.astype(dtype)[0, 0, ...], a.astype(dtype)[:0]):
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
    begin = 1 - address(raw) % 64  # one byte beyond a multiple of 64
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
    "float16": np.zeros(2, np.float16),
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
    "float16 scalar": np.float16(1),
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
        memory.append(1)  # the memory is lent
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
    x[3] = 7  # what was lent is lent, whatever becomes of the view
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
    """Has nothing but ``__array__``."""

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
    for dtype in ("uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128", "bool"):
        tensor = torch.ones((3, 4), dtype=getattr(torch, dtype))
        for view in (tensor, tensor.T, tensor[1:, ::2], tensor[0], tensor[0, 0], tensor[:, :0], tensor[:1].expand(3, 4)):
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
    for unsupported in (torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.float16)):
        with pytest.raises(TypeError):
            xp.asarray(unsupported)
    with pytest.raises((TypeError, ValueError, BufferError)):
        xp.asarray(torch.zeros(2, requires_grad=True))
    back = torch.as_tensor(np.asarray(xp.arange(3)))
    assert back.tolist() == [0, 1, 2]


# --- copy=


def test_copy_of_arrays():
    x = xp.arange(6)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, dtype=xp.int64, copy=False) is x
    for made in (xp.asarray(x, copy=True), xp.asarray(x, dtype=xp.int64, copy=True)):
        assert_same(made, np.arange(6))
        assert not strided.shares_storage(made, x)
    for copy_argument in (None, True):
        assert_same(xp.asarray(x, dtype=xp.float32, copy=copy_argument), np.arange(6, dtype=np.float32))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype=xp.float32, copy=False)


def test_copy_of_numpy_arrays():
    a = np.arange(6)
    assert np.shares_memory(np.asarray(xp.asarray(a, dtype=xp.int64)), a)
    assert not np.shares_memory(np.asarray(xp.asarray(a, copy=True)), a)
    assert_same(xp.asarray(a, dtype=xp.int8), a.astype(np.int8))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(a, dtype=xp.int8, copy=False)


@pytest.mark.parametrize("value", [1, 1.5, True, 1j, [1, 2], [], (1.5,), [[1], [2]], range(3), [np.arange(2)]], ids=repr)
def test_copy_of_what_has_no_memory_of_its_own(value):
    for copy_argument in (None, True):
        assert_same(xp.asarray(value, copy=copy_argument), np.asarray(value))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(value, copy=False)


@pytest.mark.parametrize("value", [0, 1, "no", [], np.True_])
def test_copy_takes_true_false_and_none(value):
    with pytest.raises(TypeError):
        xp.asarray([1], copy=value)


def test_numpy_scalars_become_arrays_of_their_own():
    for scalar in (np.float32(1.5), np.int8(-3), np.True_, np.complex64(1j), np.uint64(2**64 - 1)):
        x = xp.asarray(scalar)
        assert_same(x, scalar)
        x[...] = 0
        assert strided.is_writable(x)
        assert_same(xp.asarray(scalar, copy=True), scalar)


# --- nested sequences


NESTED = [
    [],
    [[], []],
    [[[]], [[]]],
    (),
    [True, False],
    [1, 2],
    [1, True],
    [1, 2.5],
    [1, 2.5, True],
    [1, 2j],
    [[1, 2], (3, 4)],
    [range(3), range(3)],
    [[[1]]],
    [2**63 - 1, -(2**63)],
    [1e300, -0.0, float("nan"), float("inf")],
    [np.float32(1), 2],
    [np.int8(1), np.int16(300)],
    [np.int8(1), 2.5],
    [np.uint8(1), np.int8(-1)],
    [np.True_, 1],
    [np.arange(3), np.arange(3.0)],
    [np.arange(3), [4, 5, 6]],
    [[np.arange(2)], [np.arange(2)]],
    [np.zeros((0, 2)), np.zeros((0, 2))],
    [array.array("f", [1, 2]), [3, 4]],
]


@pytest.mark.parametrize("nested", NESTED, ids=repr)
def test_nested_sequences(nested):
    assert_same(xp.asarray(nested), np.asarray(nested))
    for dtype in ("complex128", "float32", "bool"):
        if dtype == "complex128" or np.asarray(nested).dtype.kind != "c":
            with np.errstate(all="ignore"):
                assert_same(xp.asarray(nested, dtype=getattr(xp, dtype)), np.asarray(nested).astype(dtype))


def test_integers_beyond_all_dtypes_beside_floats():
    assert_same(xp.asarray([10**30, 1.5]), np.asarray([1e30, 1.5]))
    assert_same(xp.asarray([[10**30], [1j]]), np.asarray([[1e30], [1j]]))


def test_arrays_in_sequences():
    x, a = both(np.arange(3, dtype=np.int16))
    assert_same(xp.asarray([x, x]), np.asarray([a, a]))
    assert_same(xp.asarray([[x, a], [x[::-1], [7, 8, 9]]]), np.asarray([[a, a], [a[::-1], [7, 8, 9]]]))
    assert_same(xp.asarray([x[0], x[1], 5]), np.asarray([0, 1, 5]))
    assert_same(xp.asarray([x[0], x[1]]), np.asarray([0, 1], dtype=np.int16))
    made = xp.asarray([x])
    assert not strided.shares_storage(made, x)


RAGGED = [
    [[1, 2], [3]],
    [[1], 2],
    [1, [2]],
    [[], [1]],
    [[], [[]]],
    [[[]], []],
    [[1], []],
    [1, []],
    [[], 1],
    [[1, 2], [[3], [4]]],
    [np.arange(2), np.arange(3)],
    [np.arange(2), 1],
    [1, np.arange(2)],
    [[1, 2], np.arange(3)],
    [np.zeros((2, 2)), np.zeros(2)],
]


@pytest.mark.parametrize("nested", RAGGED, ids=repr)
def test_ragged_sequences(nested):
    with pytest.raises(ValueError):
        xp.asarray(nested)


def test_depth():
    nested = 1.0
    for depth in range(1, 65):
        nested = [nested]
        assert xp.asarray(nested).ndim == depth
    with pytest.raises(ValueError):
        xp.asarray([nested])
    with pytest.raises(ValueError):
        xp.asarray([xp.zeros((1,) * 64)])
    itself = []
    itself.append(itself)
    with pytest.raises(ValueError):
        xp.asarray(itself)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError):
        xp.asarray(deep)
    while deep:  # by hand: the interpreter's own way to free it would recurse
        deep = deep[0]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400])
def test_integers_that_no_default_dtype_holds(value):
    for nested in (value, [value], [[1], [value]]):
        with pytest.raises(OverflowError):
            xp.asarray(nested)
    if value == 2**63:
        assert_same(xp.asarray([value], dtype=xp.uint64), np.asarray([value], np.uint64))
    with pytest.raises(OverflowError):
        xp.asarray([value], dtype=xp.int8)
    if value < 10**300:
        assert_same(xp.asarray([value], dtype=xp.float64), np.asarray([float(value)]))
    else:
        with pytest.raises(OverflowError):
            xp.asarray([value], dtype=xp.float64)


def test_complex_into_real():
    for value in (1j, [1j], [[1], [1j]], np.ones(2, complex), xp.ones(2, dtype=xp.complex64)):
        for dtype in (xp.float64, xp.int8):
            with pytest.raises(TypeError, match="cast"):
                xp.asarray(value, dtype=dtype)


def test_subclasses_and_sequences_of_other_types():
    class MyList(list):
        pass

    class MyFloat(float):
        pass

    class MyInt(int):
        pass

    assert_same(xp.asarray(MyList([1, 2])), np.asarray([1, 2]))
    assert_same(xp.asarray([MyFloat(1.5), MyInt(3)]), np.asarray([1.5, 3.0]))
    assert_same(xp.asarray(MyInt(3)), np.asarray(3))
    class MyArray(np.ndarray):
        pass

    assert_same(xp.asarray(np.arange(3).view(MyArray)), np.arange(3))


# --- arguments


def test_device_and_dtype_arguments():
    cpu = xp.zeros(1).device
    for device in (None, "cpu", cpu, xp.Device("cpu")):
        assert xp.asarray([1], device=device).device == cpu
    for device in ("gpu", 0, "CPU", object()):
        with pytest.raises(ValueError):
            xp.asarray([1], device=device)
    for dtype in (float, "float64", np.float64, np.dtype("f8"), 3, object()):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            xp.asarray([1], dtype=dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_understands_the_dtypes(name):
    assert np.dtype(getattr(xp, name)) == np.dtype(name)
    assert np.zeros(2, dtype=getattr(xp, name)).dtype == np.dtype(name)
    assert pickle.loads(pickle.dumps(getattr(xp, name))) is getattr(xp, name)
    assert copy.deepcopy(getattr(xp, name)) is getattr(xp, name)


# --- pickle, copy, text


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for what, (x, a) in pairs(special=True):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert_same(y, a, what=what)
        assert strided.is_contiguous(y) and strided.is_writable(y), what
        assert not strided.shares_storage(x, y)


def test_pickling_a_window_takes_no_more_than_the_window():
    x = xp.zeros(100_000)
    assert len(pickle.dumps(x[:10])) < 1000


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_copies(how):
    for what, (x, a) in pairs(special=True):
        y = how(x)
        assert_same(y, a, what=what)
        assert not strided.shares_storage(x, y)
        assert strided.is_writable(y)
    shared = xp.zeros(3)
    first, second = copy.deepcopy([shared, shared])
    assert first is second


def test_repr_and_str():
    assert repr(xp.asarray([1, 2])) == "Array([1, 2], dtype=int64)"
    assert repr(xp.asarray(1.5)) == "Array(1.5, dtype=float64)"
    assert str(xp.asarray([[1, 2], [3, 4]])) == "[[1, 2],\n [3, 4]]"
    assert str(xp.asarray(True)) == "True"
    for what, (x, a) in pairs(special=True):
        assert x.dtype.name in repr(x), what
        assert repr(x).startswith("Array("), what
        if a.size:
            assert str(x.shape) not in repr(x), what
    for shape in ((0,), (2, 0), (0, 0, 3)):
        text = repr(xp.zeros(shape, dtype=xp.int8))
        assert "int8" in text
        assert shape == (0,) or str(shape) in text


@pytest.mark.parametrize("shape", [(2000,), (200, 200), (2**40,), (5, 2**30), (4, 5, 6, 9)])
def test_large_arrays_are_summarised(shape):
    x = xp.broadcast_to(xp.zeros(1), shape)
    for text in (repr(x), str(x), f"{x}"):
        assert "..." in text
        assert len(text) < 6000


def test_format():
    assert f"{xp.asarray(3.14159):.2f}" == "3.14"
    assert f"{xp.asarray(255):#x}" == "0xff"
    assert f"{xp.asarray([1, 2])}" == "[1, 2]"
    assert f"{xp.asarray(2j)}" == "2j"
    with pytest.raises(TypeError):
        f"{xp.asarray([1.0]):.2f}"
    with pytest.raises(ValueError):
        f"{xp.asarray(1):q}"


def test_scalar_conversions():
    for dtype in DTYPES:
        x, a = pair(dtype, "0-d")
        assert bool(x) is bool(a)
        assert complex(x) == complex(a)
        if not dtype.startswith("complex"):
            assert (float(x), int(x)) == (float(a), int(a))
        else:
            with pytest.raises(TypeError):
                float(x)
            with pytest.raises(TypeError):
                int(x)
        if np.dtype(dtype).kind in "iu":
            assert list(range(5))[: x % 3] == list(range(5))[: int(a) % 3]
        else:
            with pytest.raises(TypeError):
                [1, 2][x]
    for convert in (bool, int, float, complex):
        for shape in ((2,), (0,), (2, 2)):
            with pytest.raises((TypeError, ValueError)):
                convert(xp.zeros(shape))
    with pytest.raises(OverflowError):
        int(xp.asarray(float("inf")))
    with pytest.raises(ValueError):
        int(xp.asarray(float("nan")))
    with pytest.raises(TypeError):
        hash(xp.zeros(2))


# --- the buffer protocol


class Buffer(ctypes.Structure):
    """CPython's Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


WRITABLE, FORMAT, ND, STRIDES = 0x1, 0x4, 0x8, 0x18
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x20 | STRIDES, 0x40 | STRIDES, 0x80 | STRIDES


def lent(x, flags):
    """Ask for the memory of x with those flags; what is lent, or None where that is refused with BufferError."""
    buffer = Buffer()
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    get.argtypes = (ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int)
    release.argtypes = (ctypes.POINTER(Buffer),)
    try:
        get(x, ctypes.byref(buffer), flags)
    except BufferError:
        assert not buffer.obj
        return None
    found = {
        "len": buffer.len,
        "itemsize": buffer.itemsize,
        "readonly": bool(buffer.readonly),
        "format": buffer.format,
        "shape": tuple(buffer.shape[: buffer.ndim]) if buffer.shape else None,
        "strides": tuple(buffer.strides[: buffer.ndim]) if buffer.strides else None,
        "suboffsets": buffer.suboffsets,
    }
    release(ctypes.byref(buffer))
    return found


FLAGS = [
    base | extra | writable
    for base, extra, writable in itertools.product(
        (0, ND, STRIDES, C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS), (0, FORMAT), (0, WRITABLE)
    )
]


@pytest.mark.parametrize("layout", [*LAYOUTS, "Fortran", "read-only"])
def test_requests_for_buffers(layout):
    if layout in LAYOUTS:
        x = pair("int32", layout)[0]
    else:
        a = np.array(values("int32"), order="F" if layout == "Fortran" else "C")
        a.flags.writeable = layout == "Fortran"
        x = xp.asarray(a)
    a = np.asarray(x)
    c, f = a.flags.c_contiguous, a.flags.f_contiguous
    for flags in FLAGS:
        kind = flags & ~(FORMAT | WRITABLE)
        possible = {
            0: c,
            ND: c,
            STRIDES: True,
            C_CONTIGUOUS: c,
            F_CONTIGUOUS: f,
            ANY_CONTIGUOUS: c or f,
        }[kind] and (strided.is_writable(x) or not flags & WRITABLE)
        found = lent(x, flags)
        assert (found is not None) is possible, f"flags {flags:#x}"
        if found is None:
            continue
        assert (found["len"], found["itemsize"], found["suboffsets"]) == (a.nbytes, 4, None)
        assert found["readonly"] is not strided.is_writable(x)
        assert found["format"] == (b"i" if flags & FORMAT else None)
        assert found["shape"] == (a.shape if flags & ND and a.ndim else None if not flags & ND else ())
        if found["strides"] is not None and a.size:
            assert all(n == 1 or s == t for n, s, t in zip(a.shape, found["strides"], a.strides, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_memoryview(dtype):
    for layout in LAYOUTS:
        x, a = pair(dtype, layout)
        view, expected = memoryview(x), memoryview(a)
        assert np.dtype(np.asarray(view).dtype) == a.dtype
        assert (view.shape, view.ndim, view.itemsize, view.nbytes) == (a.shape, a.ndim, a.itemsize, a.nbytes)
        assert view.readonly is not strided.is_writable(x)
        if not dtype.startswith("complex"):
            assert view.tolist() == expected.tolist()
        assert view.tobytes() == expected.tobytes()
    x = xp.zeros(2, dtype=getattr(xp, dtype))
    if not dtype.startswith("complex"):
        memoryview(x)[0] = True if dtype == "bool" else 1
        assert complex(x[0]) == 1


def test_struct_unpacks_what_is_lent():
    x = xp.asarray([1.5, 2.5], dtype=xp.float32)
    import struct

    assert struct.unpack("2f", x) == (1.5, 2.5)
    struct.pack_into("f", x, 4, 9.0)
    assert float(x[1]) == 9


# --- limits, references, threads


def test_64_axes():
    x = xp.zeros((1,) * 62 + (2, 3))
    assert (x.ndim, np.asarray(x).ndim, memoryview(x).ndim) == (64, 64, 64)
    x[(0,) * 64] = 5
    assert_same(xp.asarray(np.asarray(x)), np.asarray(x))
    assert float(xp.sum(x)) == 5
    assert (x + x[..., :1]).ndim == 64
    assert repr(x).startswith("Array(")
    assert_same(pickle.loads(pickle.dumps(x)), np.asarray(x))
    for call in (
        lambda: xp.zeros((1,) * 65),
        lambda: xp.expand_dims(x, axis=0),
        lambda: xp.stack([x]),
        lambda: xp.broadcast_to(x, (1,) * 65),
        lambda: xp.reshape(x, (1,) * 63 + (2, 3)),
        lambda: xp.asarray([x]),
        lambda: x[None],
    ):
        with pytest.raises((ValueError, IndexError)):
            call()


def test_weak_references():
    x = xp.zeros(3)
    seen = weakref.ref(x)
    assert seen() is x
    del x
    assert seen() is None


def test_threads_reading_one_array():
    x = xp.asarray(np.arange(200_000.0).reshape(400, 500), copy=True)
    total = float(xp.sum(x))
    failures = []

    def read(number):
        try:
            for _ in range(20):
                assert float(xp.sum(x)) == total
                assert float(xp.sum(x.T, axis=0)[number]) == float(np.sum(np.asarray(x)[number]))
                y = x + x[number]
                assert float(y[0, 0]) == number * 500
                z = x[[number, 0], ::2]
                assert z.shape == (2, 250)
                assert len(list(x[number, :50])) == 50
                xp.asarray(np.asarray(y))[0] = 0
        except BaseException as error:
            failures.append(error)

    gc.collect()
    before = strided.memory_statistics()["live_bytes"]
    threads = [threading.Thread(target=read, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    gc.collect()
    assert strided.memory_statistics()["live_bytes"] == before
