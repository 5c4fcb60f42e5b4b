"""DLPack by the text of the standard 2025.12: exports of our arrays to consumers made by hand.

The deleter of every tensor is called exactly once, for any consumer and after any error.
`test_dlpack_in.py` tests imports, `test_dlpack_libraries.py` both directions with other libraries.
"""

from __future__ import annotations

import ctypes
import enum
import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from dlpack_tensors import (
    CODES,
    CPU,
    CUDA,
    IS_COPIED,
    NEW,
    NEWEST,
    OLD,
    READ_ONLY,
    Device,
    Producer,
    address,
    delete,
    live,
    name_of,
    read,
    read_only,
    take,
)
from helpers import DTYPES, LAYOUTS, assert_same, pair, values

import stride0 as xp
from stride0 import strided


class PlainDevice(enum.Enum):
    """A device type as in the standard's signature: its members are not integers."""

    CPU = 1
    CUDA = 2


# --- export: contents of the capsule


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor(dtype, layout):
    x, a = pair(dtype, layout)
    for max_version in (None, (1, 0)):
        if max_version is None and not strided.is_writable(x):
            continue
        capsule = x.__dlpack__(max_version=max_version)
        managed = read(capsule)
        tensor = managed.tensor
        assert tensor.data == address(x)
        assert (tensor.device_type, tensor.device_id, tensor.byte_offset) == (1, 0, 0)
        assert (tensor.code, tensor.bits, tensor.lanes) == (CODES[a.dtype.kind], 8 * a.itemsize, 1)
        assert tuple(tensor.shape[: tensor.ndim]) == a.shape
        steps = tuple(tensor.strides[: tensor.ndim])
        assert a.size == 0 or steps == tuple(s // a.itemsize for s in a.strides)
        if max_version:
            assert (managed.major, managed.minor) >= (1, 0)
            assert managed.major == 1
            assert managed.flags == (0 if strided.is_writable(x) else READ_ONLY)


def test_device():
    assert xp.zeros(3).__dlpack_device__() == CPU
    assert all(isinstance(n, int) for n in xp.zeros(3).__dlpack_device__())


@pytest.mark.parametrize(
    ("max_version", "name"),
    [
        (None, OLD),
        ((0, 5), OLD),
        ((0, 8), OLD),
        ((1, 0), NEW),
        ((1, 1), NEW),
        ((1, 99), NEW),
        ((2, 0), NEW),
    ],
)
def test_version(max_version, name):
    x = xp.arange(3)
    assert name_of(x.__dlpack__(max_version=max_version)) == name
    assert name_of(x.__dlpack__(max_version=max_version, copy=True)) == name
    if name == NEW:
        assert read(x.__dlpack__(max_version=max_version)).major == 1


@pytest.mark.parametrize("max_version", [1, 1.0, "1.0", ("1", 0), object()])
def test_what_is_no_version(max_version):
    with pytest.raises((TypeError, ValueError)):
        xp.arange(3).__dlpack__(max_version=max_version)


@pytest.mark.parametrize(
    "dl_device", [None, (1, 0), (Device.CPU, 0), (PlainDevice.CPU, 0), (np.int32(1), np.int64(0))]
)
def test_the_device_that_is_asked_for(dl_device):
    x = xp.arange(3)
    for copy in (None, False, True):
        managed = read(x.__dlpack__(dl_device=dl_device, copy=copy))
        assert (managed.tensor.device_type, managed.tensor.device_id) == CPU
        assert (managed.tensor.data == address(x)) is (copy is not True)


@pytest.mark.parametrize(
    "dl_device",
    [(2, 0), (Device.CUDA, 0), (PlainDevice.CUDA, 0), (13, 0), (99, 0), (-1, 0), (1, 1), (2**40, 0)],
)
def test_a_device_that_there_is_no_way_to(dl_device):
    for copy in (None, False, True):
        with pytest.raises(BufferError, match="device"):
            xp.arange(3).__dlpack__(dl_device=dl_device, copy=copy)


@pytest.mark.parametrize("dl_device", [1, "cpu", ("1", "0"), (1.7, 0), (None, 0), (1, 0, 5), {}, object()])
def test_what_is_no_device(dl_device):
    with pytest.raises((TypeError, ValueError, BufferError)):
        xp.arange(3).__dlpack__(dl_device=dl_device)


@pytest.mark.parametrize("stream", [0, 1, -1, 2, "a", object()])
def test_streams_are_refused(stream):
    with pytest.raises(ValueError, match="stream"):
        xp.arange(3).__dlpack__(stream=stream)


@pytest.mark.parametrize("copy", [0, 1, "no", np.True_])
def test_what_is_no_copy(copy):
    x = xp.arange(3)
    with pytest.raises(TypeError):
        x.__dlpack__(copy=copy)
    with pytest.raises(TypeError):
        xp.from_dlpack(x, copy=copy)


def test_only_keywords():
    with pytest.raises(TypeError):
        xp.arange(3).__dlpack__(None)
    with pytest.raises(TypeError):
        xp.from_dlpack(xp.arange(3), "cpu")
    with pytest.raises(TypeError):
        xp.from_dlpack(x=xp.arange(3))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_say_so(layout):
    x, a = pair("float32", layout)
    for copy in (None, False, True):
        managed = read(capsule := x.__dlpack__(max_version=NEWEST, copy=copy))
        flags = managed.flags
        assert bool(flags & IS_COPIED) is (copy is True)
        assert bool(flags & READ_ONLY) is (copy is not True and not strided.is_writable(x))
        if a.size:
            assert (managed.tensor.data == address(x)) is (copy is not True)
        assert_same(xp.from_dlpack(Producer(np.empty(0), capsule=capsule)), a)


def test_memory_that_must_not_be_written():
    a = read_only(values("int32"))
    for x in (xp.asarray(a), xp.asarray(a)[1:, ::2], xp.broadcast_to(xp.arange(3), (4, 3))):
        assert read(x.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
        assert read(x.__dlpack__(max_version=(1, 0), copy=False)).flags == READ_ONLY
        for max_version in (None, (0, 8)):
            for copy in (None, False):
                with pytest.raises(BufferError, match="read-only or broadcast"):
                    x.__dlpack__(max_version=max_version, copy=copy)
            copied = read(x.__dlpack__(max_version=max_version, copy=True))
            assert copied.tensor.data != address(x)
        assert read(x.__dlpack__(max_version=(1, 0), copy=True)).flags == IS_COPIED


def test_64_axes():
    x = xp.zeros((1,) * 62 + (2, 3), dtype=xp.int16)
    tensor = read(x.__dlpack__()).tensor
    assert tensor.ndim == 64
    assert tuple(tensor.shape[:64]) == x.shape
    y = xp.from_dlpack(x)
    assert y.shape == x.shape
    y[(0,) * 63 + (1,)] = 5
    assert_same(x, np.asarray(y))
    assert_same(xp.from_dlpack(Producer(np.zeros((1,) * 64))), np.zeros((1,) * 64))


# --- export: release


def test_capsules_that_nobody_takes():
    before = live()
    x = xp.zeros(1000)
    held = sys.getrefcount(x)
    for max_version in (None, (1, 0)):
        for copy in (None, True):
            capsules = [x.__dlpack__(max_version=max_version, copy=copy) for _ in range(5)]
            assert sys.getrefcount(x) == held + (0 if copy else 5)
            assert live() - before == 8000 * (6 if copy else 1)
            del capsules
            assert sys.getrefcount(x) == held
            assert live() - before == 8000
    del x
    assert live() == before


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_tensors_outlive_the_capsule_and_the_array(max_version):
    before = live()
    x = xp.full(1000, 7.0)
    seen = weakref.ref(x)
    managed = take(x.__dlpack__(max_version=max_version))
    del x
    gc.collect()
    assert seen() is not None
    assert (ctypes.c_double * 1000).from_address(managed.tensor.data)[999] == 7
    delete(managed)
    assert seen() is None
    assert live() == before


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_views_hold_what_they_show(max_version):
    before = live()
    x = xp.arange(1000)[990:][::-2]
    managed = take(x.__dlpack__(max_version=max_version))
    del x
    assert live() - before == 8000
    assert managed.tensor.strides[0] == -2
    assert ctypes.c_int64.from_address(managed.tensor.data).value == 999
    delete(managed)
    assert live() == before


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_deleters_may_be_called_from_any_thread(max_version):
    before = live()
    managed = [take(xp.zeros(1000).__dlpack__(max_version=max_version, copy=True)) for _ in range(20)]
    threads = [threading.Thread(target=delete, args=(m,)) for m in managed]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert live() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pthread_create by name")
def test_deleters_may_be_called_from_threads_unknown_to_python():
    library = ctypes.CDLL(None)
    library.pthread_join.argtypes = (ctypes.c_ulong, ctypes.c_void_p)
    before = live()
    threads = []
    for _ in range(5):
        managed = take(xp.zeros(1000).__dlpack__(max_version=(1, 0)))
        number = ctypes.c_ulong()
        library.pthread_create(
            ctypes.byref(number),
            None,
            ctypes.c_void_p(managed.deleter),
            ctypes.c_void_p(ctypes.addressof(managed)),
        )
        threads.append(number)
    for number in threads:
        library.pthread_join(number, None)
    assert live() == before


def test_deleters_may_be_called_holding_the_gil():
    before = live()
    managed = take(xp.zeros(1000).__dlpack__())
    ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
    assert live() == before


def test_capsules_that_go_while_an_exception_passes():
    before = live()

    def fails():
        capsules = [
            xp.zeros(10).__dlpack__(max_version=v, copy=c) for v in (None, (1, 0)) for c in (None, True)
        ]
        raise KeyError(len(capsules))

    with pytest.raises(KeyError, match="4"):
        fails()
    assert live() == before


def test_a_refused_export_keeps_nothing():
    x = xp.zeros(1000)
    before, held = live(), sys.getrefcount(x)
    for keywords in ({"dl_device": CUDA}, {"stream": 1}, {"copy": 1}, {"dl_device": CUDA, "copy": True}):
        with pytest.raises((BufferError, ValueError, TypeError)):
            x.__dlpack__(**keywords)
    assert live() == before
    assert sys.getrefcount(x) == held
