"""DLPack by the text of the standard 2025.12: imports from producers made by hand.

The deleter of every tensor is called exactly once, after any error. `test_dlpack.py` tests exports,
`test_dlpack_libraries.py` both directions with other libraries.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest
from dlpack_tensors import (
    CPU,
    CUDA,
    IS_COPIED,
    NEWEST,
    OLD,
    READ_ONLY,
    Deleter,
    Device,
    OldProducer,
    Producer,
    Versioned,
    address,
    live,
    name_of,
    started,
)
from helpers import DTYPES, assert_same, values

import stride0 as xp
from stride0 import strided

# --- import: the elements


VIEWS = {
    "C": lambda v: v,
    "transposed": lambda v: v.T,
    "sliced": lambda v: v[1:, ::2],
    "negative": lambda v: v[::-1, ::-2],
    "broadcast": lambda v: np.broadcast_to(v[1:2], (3, 6)),
    "size 0": lambda v: v[:, :0],
    "0-d": lambda v: v[2, 3, ...],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements(dtype, view):
    a = VIEWS[view](values(dtype))
    for version in (None, (1, 0), (1, 1), (1, 7)):
        for copy in (None, False, True):
            producer = Producer(a, version=version)
            x = xp.from_dlpack(producer, copy=copy)
            assert_same(x, a)
            if a.size:
                assert (address(x) == address(a)) is (copy is not True)
                if copy is not True:
                    assert tuple(s * a.itemsize for s in strided.strides(x)) == a.strides
            assert producer.released == (copy is True)
            del x
            assert producer.released == 1


def test_writing_reaches_the_producer():
    a = values("int16")
    x = xp.from_dlpack(Producer(a[::-1, ::2]))
    assert strided.is_writable(x)
    x[0, 1] = 77
    assert a[3, 2] == 77
    a[0, 0] = -5
    assert int(x[3, 0]) == -5
    broadcast = xp.from_dlpack(Producer(np.broadcast_to(a[0], (3, 6))))
    with pytest.raises(ValueError, match="share one memory location"):
        broadcast[0, 0] = 1


def test_overlap_is_seen_across_libraries():
    x = xp.arange(6)
    x[1:] = xp.from_dlpack(x)[:-1]
    assert_same(x, np.array([0, 0, 1, 2, 3, 4]))
    y = xp.from_dlpack(x)
    y += xp.from_dlpack(x)[::-1]
    assert_same(x, np.array([4, 3, 3, 3, 3, 4]))


def test_the_flag_for_read_only_memory():
    a = values("float64")
    x = xp.from_dlpack(Producer(a, flags=READ_ONLY))
    assert address(x) == address(a)
    assert not strided.is_writable(x)
    for write in (lambda: x.__setitem__(0, 1.0), lambda: x.__iadd__(1.0), lambda: x[1:].__setitem__(0, 1.0)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert strided.is_writable(xp.from_dlpack(Producer(a, flags=READ_ONLY), copy=True))
    assert strided.is_writable(xp.from_dlpack(Producer(a, flags=IS_COPIED)))
    assert strided.is_writable(xp.from_dlpack(Producer(a, flags=1 << 40)))


def test_tensors_that_cannot_say_whether_they_are_read_only_are():
    a = values("float64")
    for producer in (Producer(a, version=None), OldProducer(a, version=None)):
        assert not strided.is_writable(xp.from_dlpack(producer))
        assert strided.is_writable(xp.from_dlpack(producer, copy=True))


def test_copies_of_the_producer_are_not_copied_again():
    a = values("int8")
    x = xp.from_dlpack(Producer(a, flags=IS_COPIED), copy=True)
    assert address(x) == address(a)
    # Nothing else refers to the copy, so it may be written to.
    assert strided.is_writable(xp.from_dlpack(Producer(a, flags=IS_COPIED | READ_ONLY), copy=True))


def test_copies_of_the_producer_where_none_was_allowed():
    producer = Producer(values("int8"), flags=IS_COPIED)
    with pytest.raises(BufferError, match="cop"):
        xp.from_dlpack(producer, copy=False)
    assert producer.released == 1


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_without_strides_memory_is_in_c_order(version):
    for shape in ((4, 6), (2, 3, 4), (0, 3), (24,), (1, 1, 24), ()):
        a = np.arange(24, dtype=np.uint16)[: int(np.prod(shape))].reshape(shape)
        x = xp.from_dlpack(Producer(a, version=version, strides=None))
        assert_same(x, a)
        assert strided.is_contiguous(x)


def test_byte_offset():
    a = np.arange(24, dtype=np.int32)
    assert_same(xp.from_dlpack(Producer(a, byte_offset=40, shape=(14,))), a[10:])
    assert_same(xp.from_dlpack(Producer(a, byte_offset=92, shape=(24,), strides=(-1,))), a[::-1])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).itemsize > 1])
@pytest.mark.parametrize("flags", [0, READ_ONLY])
def test_unaligned_memory(dtype, flags):
    a = values(dtype, (5,))
    block = np.zeros(a.nbytes + 16, dtype=np.uint8)
    block[1 : 1 + a.nbytes] = a.view(np.uint8)
    made = block[: a.nbytes].view(dtype)
    for copy in (None, True):
        producer = Producer(made, flags=flags, byte_offset=1)
        x = xp.from_dlpack(producer, copy=copy)
        assert_same(x, a)
        assert strided.is_writable(x)
        assert producer.released == 1
    producer = Producer(made, flags=flags, byte_offset=1)
    with pytest.raises(BufferError, match="unaligned"):
        xp.from_dlpack(producer, copy=False)
    assert producer.released == 1
    assert_same(xp.from_dlpack(Producer(made, byte_offset=1, shape=(0,)), copy=False), a[:0])


def test_no_memory_for_no_elements():
    for shape in ((0,), (3, 0), (0, 2**40)):
        x = xp.from_dlpack(Producer(np.zeros(shape), data=None), copy=False)
        assert_same(xp.asarray(x, copy=True), np.zeros(shape))
    x = xp.from_dlpack(Producer(np.array(2.5), shape=None, strides=None))
    assert_same(x, np.array(2.5))


# --- import: arguments to the producer


def test_what_producers_are_asked():
    a = values("int8")
    for copy in (None, False, True):
        producer = Producer(a)
        xp.from_dlpack(producer, copy=copy)
        (asked,) = producer.asked
        assert asked["max_version"] >= (1, 0)
        assert asked.get("copy") is copy
        assert asked.get("dl_device") is None
        assert asked.get("stream") is None
    for device in ("cpu", xp.Device("cpu"), xp.arange(3).device):
        producer = Producer(a)
        xp.from_dlpack(producer, device=device)
        assert producer.asked[0]["dl_device"] == CPU


@pytest.mark.parametrize("device", ["gpu", 0, (1, 0), object()])
def test_unknown_devices(device):
    producer = Producer(values("int8"))
    with pytest.raises(ValueError, match="device"):
        xp.from_dlpack(producer, device=device)
    assert producer.asked == []


def test_producers_without_keywords():
    a = values("int8")
    for version in (None, (1, 0)):
        for device in (None, "cpu"):
            for copy in (None, False, True):
                producer = OldProducer(a, version=version)
                x = xp.from_dlpack(producer, copy=copy, device=device)
                assert_same(x, a)
                assert (address(x) == address(a)) is (copy is not True)
                del x
                assert producer.released == 1


def test_producers_with_some_keywords():
    class OnlyVersion(Producer):
        def __dlpack__(self, *, stream=None, max_version=None):
            return super().__dlpack__(max_version=max_version)

    a = values("int8")
    for copy in (None, True):
        producer = OnlyVersion(a, flags=READ_ONLY)
        x = xp.from_dlpack(producer, copy=copy)
        assert (address(x) == address(a)) is (copy is None)
        # Without the version the producer might export the old layout, which has no read-only flag.
        assert producer.asked[-1]["max_version"] is not None
        assert strided.is_writable(x) is (copy is True)


def test_memory_elsewhere():
    a = values("int8")
    for device in (CUDA, (Device.CUDA, 1), (10, 0)):
        with pytest.raises(BufferError, match="device"):
            xp.from_dlpack(Producer(a, device=device))
        # If a device is given, the producer is asked for it.
        producer = Producer(a, device=device, flags=IS_COPIED)
        assert_same(xp.from_dlpack(producer, device="cpu"), a)
        assert producer.asked[0]["dl_device"] == CPU
    for version in (None, (1, 0)):
        for keywords in ({"device": CUDA}, {"device": CPU}):
            producer = Producer(a, version=version, device_type=2, **keywords)
            with pytest.raises(BufferError, match="CPU"):
                xp.from_dlpack(producer, device="cpu")
            assert producer.released == 1


class Fails(Producer):
    error: BaseException

    def __dlpack__(self, **keywords):
        raise self.error


@pytest.mark.parametrize("kind", [BufferError, RuntimeError, MemoryError, ValueError, TypeError])
def test_errors_of_the_producer_pass(kind):
    producer = Fails(values("int8"))
    producer.error = error = kind("cannot")
    with pytest.raises(type(error), match="cannot"):
        xp.from_dlpack(producer)
    if isinstance(error, BufferError):
        with pytest.raises(type(error), match="cannot"):
            xp.from_dlpack(producer, copy=False, device="cpu")


@pytest.mark.parametrize(
    "value", [None, [1, 2], "text", 3, 2.5, object(), np.dtype, xp.float64, {}, Device.CPU]
)
def test_what_does_not_speak_dlpack(value):
    # The standard requires AttributeError; code may catch that or TypeError.
    with pytest.raises((AttributeError, TypeError)):
        xp.from_dlpack(value)


def test_capsules_themselves_are_not_taken():
    capsule = xp.arange(3).__dlpack__()
    with pytest.raises((AttributeError, TypeError)):
        xp.from_dlpack(capsule)
    assert name_of(capsule) == OLD


# --- import: release


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_the_last_view_releases(version):
    producer = Producer(values("int32"), version=version)
    x = xp.from_dlpack(producer)
    y = xp.permute_dims(x[1:, ::2], (1, 0))
    lent = memoryview(y)
    capsule = y.__dlpack__(max_version=NEWEST)
    for name in ("x", "y"):
        assert producer.released == 0, name
    del x
    assert producer.released == 0
    del y
    assert producer.released == 0
    lent.release()
    del lent
    assert producer.released == 0
    del capsule
    gc.collect()
    assert producer.released == 1


def test_there_may_be_no_deleter():
    for version in (None, (1, 0)):
        x = xp.from_dlpack(Producer(a := values("int8"), version=version, deleter=False))
        assert_same(x, a)
        del x


def test_tensors_in_a_cycle_are_released():
    class Box:
        pass

    producer = Producer(values("int8"))
    box = Box()
    box.array, box.itself = xp.from_dlpack(producer), box
    del box
    gc.collect()
    assert producer.released == 1


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_is_taken_once(version):
    first = Producer(values("int8"), version=version)
    again = Producer(first.array, capsule=first.capsule())
    x = xp.from_dlpack(again)
    assert name_of(again._made).startswith(b"used_")
    with pytest.raises(BufferError, match="capsule"):
        xp.from_dlpack(again)
    assert first.released == 0
    assert_same(x, first.array)
    del x
    assert first.released == 1
    with pytest.raises(BufferError, match="capsule"):
        xp.from_dlpack(again)
    assert first.released == 1


def test_an_array_of_our_own():
    before = live()
    x = xp.arange(1000)
    y = xp.from_dlpack(x)
    assert address(x) == address(y)
    assert strided.is_writable(y)
    z = xp.from_dlpack(x, copy=True)
    assert address(x) != address(z)
    assert strided.is_writable(z)
    seen = weakref.ref(x)
    del x, z
    assert live() - before == 8000
    del y
    gc.collect()
    assert seen() is None
    assert live() == before


def test_threads_importing():
    a = values("int64", (100,))
    producers = [Producer(a, deleter=False) for _ in range(4)]
    failures = []

    def work(producer):
        try:
            for _ in range(200):
                x = xp.from_dlpack(producer)
                assert int(x[99]) == int(a[99])
                assert xp.from_dlpack(x[::-1]).shape == (100,)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(p,)) for p in producers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


# --- import: tensors that are refused, and released


REFUSED = {
    "version 2": {"version": (2, 0)},
    "version far off": {"version": (99, 3)},
    "unknown kind": {"code": 99},
    "opaque": {"code": 3},
    "bfloat32": {"code": 4, "bits": 32},
    "float8": {"code": 2, "bits": 8},
    "float128": {"code": 2, "bits": 128},
    "complex32": {"code": 5, "bits": 32},
    "int4": {"bits": 4},
    "bool of 32 bits": {"code": 6},
    "two lanes": {"lanes": 2},
    "no lanes": {"lanes": 0},
    "on another device": {"device_type": 2},
    "65 axes": {"ndim": 65, "shape": (1,) * 65, "strides": (1,) * 65},
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    for copy in (None, False, True):
        for layout in ({}, {"version": None}):
            if layout and "version" in REFUSED[what]:
                continue
            producer = Producer(np.arange(4, dtype=np.int32), **{**layout, **REFUSED[what]})
            with pytest.raises(BufferError) as caught:
                xp.from_dlpack(producer, copy=copy)
            assert str(caught.value).startswith("from_dlpack: ")
            assert producer.released == 1


@pytest.mark.parametrize("made", [None, 5, "dltensor", object()])
def test_what_is_no_capsule(made):
    class Odd(Producer):
        def __dlpack__(self, **keywords):
            return made

    with pytest.raises(BufferError, match="capsule"):
        xp.from_dlpack(Odd(values("int8")))


@pytest.mark.parametrize("name", [b"", b"dltensor_", b"used_dltensor", b"used_dltensor_versioned", b"foo"])
def test_capsules_of_other_names(name):
    producer = Producer(values("int8"))
    capsule = producer.capsule(name) if name else producer.capsule(b" ")
    with pytest.raises(BufferError, match="capsule"):
        xp.from_dlpack(Producer(values("int8"), capsule=capsule))
    assert producer.released == 0


def test_the_layouts_are_not_mixed_up():
    """The capsule's name decides the layout, because the structures begin differently."""
    assert ctypes.sizeof(Versioned) == 80
    assert Versioned.flags.offset == 24
    assert Versioned.tensor.offset == 32
    assert ctypes.sizeof(Deleter) == 8


# Broken producers that crashed earlier versions. The cases run in another process; all in one test, because
# starting Python takes longer than a case.

BROKEN = {
    "no shape": "Producer(a, shape=None)",
    "no data": "Producer(a, data=None)",
    "-1 axes": "Producer(a, ndim=-1)",
    "a negative size": "Producer(a, shape=(-2, 3))",
    "more elements than numbers": "Producer(a, shape=(2**40, 2**40))",
    "more bytes than numbers": "Producer(a, shape=(2**61, 1))",
    "strides beyond all memory": "Producer(a, strides=(2**62, 1))",
    "no device": "Producer(a, device=())",
    "half a device": "Producer(a, device=(1,))",
    "None for a device": "Producer(a, device=None)",
    "a number for a device": "Producer(a, device=1)",
    "a text for a device": "Producer(a, device='cpu')",
}
ODD_ARGUMENTS = {
    "no version": "xp.arange(3).__dlpack__(max_version=())",
    "no device is asked for": "xp.arange(3).__dlpack__(dl_device=())",
    "half a device is asked for": "xp.arange(3).__dlpack__(dl_device=(1,))",
}
PROGRAM = """
import sys
import numpy as np
import stride0 as xp
from dlpack_tensors import Producer
a = np.arange(6, dtype=np.int32).reshape(2, 3)
for copy in (None, False, True):
    producer = {case}
    try:
        x = xp.from_dlpack(producer, copy=copy)
    except (BufferError, TypeError, ValueError):
        assert producer.released == bool(producer.asked), producer.released
    else:
        raise AssertionError(f"an array of shape {{x.shape}}")
"""
ODD_PROGRAM = """
import stride0 as xp
try:
    {case}
except (BufferError, TypeError, ValueError):
    pass
else:
    raise AssertionError("accepted")
"""


def test_broken_producers_and_consumers():
    programs = {what: PROGRAM.format(case=case) for what, case in BROKEN.items()}
    programs |= {what: ODD_PROGRAM.format(case=case) for what, case in ODD_ARGUMENTS.items()}
    running = {what: started(program) for what, program in programs.items()}
    failures = []
    for what, process in running.items():
        _, errors = process.communicate(timeout=120)
        if process.returncode:
            failures.append(f"{what}: exit {process.returncode} {errors.strip().splitlines()[-1:]}")
    assert not failures, "\n".join(failures)
