"""Exports of arrays: pickles, copies, text, Python numbers, buffers; and properties of every array."""

from __future__ import annotations

import copy
import ctypes
import gc
import itertools
import math
import pickle
import struct
import threading
import weakref

import numpy as np
import pytest
from helpers import DTYPES, LAYOUTS, assert_same, pair, pairs, values

import stride0 as xp
from stride0 import strided

# --- pickle, copy, text


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for what, (x, a) in pairs(special=True):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert_same(y, a, what=what)
        # In memory order, with broadcast axes: tests/interop/test_pickle.py.
        assert strided.is_writable(y) or "broadcast" in what, what
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


@pytest.mark.parametrize("dtype", DTYPES)
def test_text_of_arrays_without_axes(dtype):
    """The digits that distinguish an element from its neighbours, as NumPy's scalars print them."""
    kind = np.dtype(dtype).kind
    numbers = [0, 1, 100, 127]
    if kind in "fc":
        numbers += [0.1234567890123456, 1 / 3, 1e16, 1e-5, -0.0, math.inf, math.nan]
        component = np.float32 if dtype in ("float32", "complex64") else np.float64
        numbers += [np.nextafter(component(number), component(0)) for number in (0.1, 1)]
    for number in numbers:
        value = np.asarray(complex(number, 0.1) if kind == "c" else number).astype(dtype)[()]
        x = xp.asarray(value)
        assert x.dtype.name == dtype
        assert str(x) == f"{x}" == format(x) == str(value)
        if kind in "fc":
            read = np.asarray(complex(str(x)) if kind == "c" else float(str(x))).astype(dtype)
            assert np.array_equal(read, value, equal_nan=True)
    assert f"{xp.asarray(0.1, dtype=xp.float32)!s:>5}|{xp.asarray(1 / 3):.3}" == "  0.1|0.333"
    assert repr(xp.asarray(0.1234567890123)) == "Array(0.12345679, dtype=float64)"  # like NumPy's arrays


def as_numpy_writes(a):
    """NumPy's `repr` with the dtype that it omits for default dtypes."""
    options = np.get_printoptions()
    text = f"Array({np.array2string(a, separator=', ', prefix='Array(', suffix=')')},"
    more = f"shape={a.shape}, " if a.size > options["threshold"] else ""
    more += f"dtype={a.dtype.name})"
    fits = len(text.splitlines()[-1]) + 1 + len(more) <= options["linewidth"]
    return f"{text} {more}" if fits else f"{text}\n{' ' * 6}{more}"


@pytest.mark.parametrize("shape", [(1000,), (1001,), (40, 26), (1000, 1000), (2, 3, 700), (9,), (12,)])
def test_layout_of_a_repr(shape):
    for dtype in ("int64", "float64", "complex64", "bool"):
        a = np.broadcast_to(np.arange(shape[-1]) / 7, shape).astype(dtype)
        text = repr(xp.asarray(a))
        assert text == as_numpy_writes(a)
        assert (f"shape={shape}" in text) is (a.size > 1000)
        assert max(map(len, text.splitlines())) <= 76
        # NumPy prints the dtype of this array and, from 2.2 on, the shape.
        theirs = repr(a)
        if "shape=" in theirs and dtype == "complex64":
            assert text.replace("\n", " ").split() == theirs.replace("array(", "Array(").split()


@pytest.mark.parametrize("shape", [(2000,), (200, 200), (2**40,), (5, 2**30), (4, 5, 6, 9)])
def test_large_arrays_are_summarised(shape):
    x = xp.broadcast_to(xp.zeros(1), shape)
    for text in (repr(x), str(x), f"{x}"):
        assert "..." in text
        assert len(text) < 6000
    assert f"shape={shape}" in repr(x) and "shape" not in str(x)


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
    """Ask for the memory of x with the given flags; return the buffer, or None if it is refused."""
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
