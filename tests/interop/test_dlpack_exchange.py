"""DLPack's exchange in C (DLPack 1.3): our functions, called by hand, and other libraries' functions."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from dlpack_tensors import (
    CODES,
    IS_COPIED,
    NEWEST,
    READ_ONLY,
    Deleter,
    ExchangeAPI,
    Producer,
    Tensor,
    Versioned,
    address,
    delete,
    exchange_api,
    exchange_capsule,
    live,
    name_of,
    read,
)
from helpers import DTYPES, LAYOUTS, assert_same, pair

import stride0 as xp
from stride0 import strided
from stride0.autograd import grad, vmap
from stride0.testing import flags

OURS = exchange_api(xp.Array)
FIELDS = [name for name, _ in Tensor._fields_ if name not in ("shape", "strides")]


def described(tensor):
    sizes = [[array[k] for k in range(tensor.ndim)] for array in (tensor.shape, tensor.strides)]
    return [getattr(tensor, name) for name in FIELDS], *sizes


def exported(x, api=OURS):
    """The tensor that an array exports; the caller deletes it."""
    out = ctypes.c_void_p()
    assert api.managed_tensor_from_py_object_no_sync(x, ctypes.byref(out)) == 0
    return Versioned.from_address(out.value)


def imported(managed, api=OURS):
    out = ctypes.py_object()
    assert api.managed_tensor_to_py_object_no_sync(ctypes.addressof(managed), ctypes.byref(out)) == 0
    x = out.value
    # The function returns a new reference, and so does `value`.
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(x))
    return x


def borrowed(x):
    tensor = Tensor()
    assert OURS.dltensor_from_py_object_no_sync(x, ctypes.byref(tensor)) == 0
    return tensor


# --- functions that the type offers


def test_the_capsule_is_the_types():
    capsule = xp.Array.__dlpack_c_exchange_api__
    assert name_of(capsule) == b"dlpack_exchange_api"
    assert xp.ones(3).__dlpack_c_exchange_api__ is capsule
    assert (OURS.major, OURS.minor, OURS.previous) == (*NEWEST, None)
    assert all(getattr(OURS, name) for name, _ in ExchangeAPI._fields_[3:])


def test_the_cpu_has_no_streams():
    out = ctypes.c_void_p(1)
    assert OURS.current_work_stream(1, 0, ctypes.byref(out)) == 0
    assert out.value is None


# --- export


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_are_those_of_the_method(dtype, layout):
    x, a = pair(dtype, layout)
    managed = exported(x)
    reference = read(capsule := x.__dlpack__(max_version=NEWEST))
    assert described(managed.tensor) == described(reference.tensor)
    assert (managed.major, managed.minor, managed.flags) == (*NEWEST, reference.flags)
    assert managed.tensor.code == CODES[a.dtype.kind]
    if strided.is_writable(x):
        assert described(borrowed(x)) == described(reference.tensor)
    delete(managed)
    del capsule


@pytest.mark.parametrize("ndim", [0, 1, 2, 3, 4, 5, 6, 64])
def test_strides_of_borrowed_tensors(ndim):
    several = [xp.ones(tuple(2 if k < 6 else 1 for k in range(ndim)), dtype=t) for t in (xp.int8, xp.float64)]
    several += [xp.permute_dims(x, tuple(range(ndim))[::-1]) for x in several]
    tensors = [borrowed(x) for x in several]
    for x, tensor in zip(several, tensors, strict=True):
        assert described(tensor)[1:] == (list(x.shape), list(strided.strides(x)))
        held = sys.getrefcount(x)
        borrowed(x)
        assert sys.getrefcount(x) == held
        assert x.shape == tuple(x.shape) and float(xp.sum(x)) == x.size


def test_tensors_keep_the_array():
    before = live()
    x = xp.full(1000, 7.0)
    seen = weakref.ref(x)
    managed = exported(x)
    del x
    gc.collect()
    assert (ctypes.c_double * 1000).from_address(managed.tensor.data)[999] == 7
    delete(managed)
    assert seen() is None
    assert live() == before


@pytest.mark.parametrize("export", [exported, borrowed])
def test_what_is_no_array_is_refused(export):
    for other in (None, 1, [1.0], np.ones(3), object()):
        with pytest.raises(xp.ArgumentTypeError, match="__dlpack_c_exchange_api__"):
            export(other)


@pytest.mark.parametrize("export", [exported, borrowed])
def test_tracked_and_batched_arrays_are_refused(export):
    def f(x):
        with pytest.raises(BufferError):
            export(x)
        return xp.sum(x)

    grad(f)(xp.ones(3))
    vmap(f)(xp.ones((2, 3)))


@pytest.mark.parametrize("export", [exported, borrowed])
def test_simulated_devices_and_lazy_arrays_are_refused(export):
    with flags(devices=("cpu", "gpu")):
        x = xp.ones(3, device="gpu")
        with pytest.raises(xp.DeviceError):
            export(x)
    with flags(lazy=True), pytest.raises(xp.StrictError):
        export(xp.ones(3))


def test_read_only_memory():
    a = np.ones(3)
    a.flags.writeable = False
    for x in (xp.asarray(a), xp.broadcast_to(xp.ones(1), (3,))):
        managed = exported(x)
        assert managed.flags == READ_ONLY
        delete(managed)
        with pytest.raises(xp.ExchangeError, match="read-only"):
            borrowed(x)
    with flags(writable=False):
        x = xp.ones(3)
        managed = exported(x)
        assert managed.flags == READ_ONLY
        delete(managed)


def test_deferred_arrays_are_computed():
    with xp.fused():
        x = xp.ones(100_000)
        y = x + 1
        managed, tensor = exported(y), borrowed(y * 2)
        assert ctypes.c_double.from_address(managed.tensor.data).value == 2
        assert tensor.data
        delete(managed)
        # A consumer may write to the memory, so results that read it are computed first.
        z = x * 3
        (ctypes.c_double * 1).from_address(borrowed(x).data)[0] = 5
        assert float(z[0]) == 3


# --- import


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_that_comes_back(layout):
    x, a = pair("float64", layout)
    a = a.copy()
    y = imported(exported(x))
    assert_same(y, a)
    assert strided.is_writable(y) == strided.is_writable(x)
    assert x.size == 0 or address(y) == address(x)
    if strided.is_writable(x):
        # Both arrays share a log of writes: a value saved for a gradient is copied before it is overwritten.
        def f(t):
            total = xp.sum(t * x)
            y[...] = 0.0
            return total

        assert_same(grad(f)(xp.ones(x.shape)), a)


def test_memory_of_others_is_released_once():
    before = live()
    producer = Producer(np.arange(6.0).reshape(2, 3), version=(1, 3))
    x = imported(producer.managed)
    assert_same(x, producer.array)
    assert address(x) == address(producer.array) and strided.is_writable(x)
    del x
    gc.collect()
    assert producer.released == 1
    assert live() == before


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"version": (2, 0)}, {}),
        ({}, {"code": 99}),
        ({}, {"bits": 7}),
        ({}, {"lanes": 2}),
        ({}, {"ndim": -1}),
        ({}, {"ndim": 65}),
        ({}, {"data": None}),
        ({}, {"device_type": 2}),
        ({}, {"shape": (-1, 3)}),
        ({}, {"shape": (2**62, 2**62)}),
        ({}, {"strides": (2**62, 1)}),
        ({"deleter": False}, {"code": 99}),
    ],
)
def test_wrong_tensors_are_refused_and_released(options, fields):
    producer = Producer(np.ones((2, 3)), **{"version": (1, 3), **options}, **fields)
    with pytest.raises(xp.ExchangeError, match="__dlpack_c_exchange_api__"):
        imported(producer.managed)
    assert producer.released == options.get("deleter", True)


def test_no_tensor():
    with pytest.raises(xp.ExchangeError, match="no tensor"):
        OURS.managed_tensor_to_py_object_no_sync(None, ctypes.byref(ctypes.py_object()))


def test_flags_of_tensors_of_others():
    for given, writable in ((0, True), (READ_ONLY, False), (IS_COPIED, True)):
        x = imported(Producer(np.ones(3), flags=given).managed)
        assert strided.is_writable(x) == writable


# --- the allocator


def allocated(shape, code=2, bits=64, **fields):
    """A tensor from the allocator, and the errors that it reported."""
    errors = []
    report = ExchangeAPI.SetError(lambda context, kind, text: errors.append((context, kind, text)))
    prototype = Tensor(device_type=1, ndim=len(shape), code=code, bits=bits, lanes=1)
    prototype.shape = (ctypes.c_int64 * len(shape))(*shape)
    for field, value in fields.items():
        setattr(prototype, field, value)
    out = ctypes.c_void_p()
    failed = OURS.managed_tensor_allocator(
        ctypes.byref(prototype), ctypes.byref(out), 77, ctypes.cast(report, ctypes.c_void_p)
    )
    assert failed == (-1 if errors else 0)
    return errors or Versioned.from_address(out.value)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,), (2, 3), (4, 0, 2), (1,) * 64, (5, 7, 11)])
def test_allocated_tensors(shape):
    for dtype in DTYPES:
        kind = np.dtype(dtype)
        managed = allocated(shape, CODES[kind.kind], 8 * kind.itemsize)
        assert described(managed.tensor)[1:] == (list(shape), list(strided.strides(xp.zeros(shape))))
        assert managed.tensor.data % 64 == 0
        x = imported(managed)
        assert (x.shape, x.dtype.name) == (shape, dtype)
        x[...] = xp.ones(shape, dtype=x.dtype)
        assert int(xp.count_nonzero(x)) == x.size
    delete(allocated(shape))


@pytest.mark.parametrize("shape", [(2**40, 2**40, 0), (0, 2**62, 2**62), (2**62, 0, 2**62, 2)])
def test_no_elements_of_any_size(shape):
    managed = allocated(shape)
    _, sizes, strides = described(managed.tensor)
    assert sizes == list(shape) and all(0 < stride <= 2**62 for stride in strides)
    delete(managed)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"shape": (3,), "code": 9}, b"BufferError"),
        ({"shape": (3,), "lanes": 4}, b"BufferError"),
        ({"shape": (3,), "device_type": 2}, b"BufferError"),
        ({"shape": (3,), "ndim": -1}, b"BufferError"),
        ({"shape": (3,), "ndim": 65}, b"BufferError"),
        ({"shape": (3, -1)}, b"BufferError"),
        ({"shape": (2**40, 2**40)}, b"MemoryError"),
        ({"shape": (2**59,)}, b"MemoryError"),
    ],
)
def test_errors_of_the_allocator(arguments, kind):
    [(context, found, text)] = allocated(**arguments)
    assert (context, found) == (77, kind)
    assert text.startswith(b"allocate: ")


def test_allocating_in_threads():
    def work():
        for _ in range(200):
            delete(allocated((10, 10)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- `from_dlpack` with functions of other libraries


class Source:
    """An array type with functions in C; it counts their calls."""

    def __init__(self, array=None, **options):
        self.producer = Producer(np.arange(6.0) if array is None else array, **options)
        self.methods = self.functions = 0

    def __dlpack__(self, **keywords):
        self.methods += 1
        return self.producer.capsule()

    def __dlpack_device__(self):
        return self.producer.device


def export_source(source, out):
    source.functions += 1
    out[0] = ctypes.addressof(source.producer.managed)
    return 0


API = ExchangeAPI(major=1, minor=3)
API.managed_tensor_from_py_object_no_sync = ExchangeAPI.Export(export_source)


def offering(api, name=b"dlpack_exchange_api"):
    return type("Offering", (Source,), {"__dlpack_c_exchange_api__": exchange_capsule(api, name)})


def test_from_dlpack_calls_the_functions():
    kind = offering(API)
    for copy in (None, False):
        source = kind()
        x = xp.from_dlpack(source, copy=copy)
        assert (source.functions, source.methods) == (1, 0)
        assert address(x) == address(source.producer.array)
        del x
        gc.collect()
        assert source.producer.released == 1
    assert not strided.is_writable(xp.from_dlpack(kind(flags=READ_ONLY)))
    with pytest.raises(xp.ExchangeError, match="made a copy"):
        xp.from_dlpack(kind(flags=IS_COPIED), copy=False)


@pytest.mark.parametrize("arguments", [{"copy": True}, {"device": "cpu"}, {"device": xp.Device("cpu")}])
def test_from_dlpack_calls_the_method_where_more_is_asked_for(arguments):
    source = offering(API)()
    xp.from_dlpack(source, **arguments)
    assert (source.functions, source.methods) == (0, 1)


def failing(source, out):
    source.functions += 1
    return -1


def silent(source, out):
    source.functions += 1
    return 0


def changed(**fields):
    api = ExchangeAPI(major=1, minor=3)
    api.managed_tensor_from_py_object_no_sync = ExchangeAPI.Export(export_source)
    for field, value in fields.items():
        setattr(api, field, value)
    return api


OTHERS = {
    "newer": (changed(major=2), 0),
    "older": (changed(major=0), 0),
    "without function": (changed(managed_tensor_from_py_object_no_sync=ExchangeAPI.Export()), 0),
    "failing": (changed(managed_tensor_from_py_object_no_sync=ExchangeAPI.Export(failing)), 1),
    "silent": (changed(managed_tensor_from_py_object_no_sync=ExchangeAPI.Export(silent)), 1),
}


@pytest.mark.parametrize("case", OTHERS)
def test_from_dlpack_calls_the_method_where_functions_do_not_serve(case):
    api, functions = OTHERS[case]
    source = offering(api)()
    assert_same(xp.from_dlpack(source), source.producer.array)
    assert (source.functions, source.methods) == (functions, 1)


def test_a_newer_version_leads_to_an_older_one():
    newer = changed(major=2, previous=ctypes.addressof(API))
    source = offering(newer)()
    xp.from_dlpack(source)
    assert (source.functions, source.methods) == (1, 0)


@pytest.mark.parametrize(
    "value", [None, 3, "dlpack_exchange_api", object(), exchange_capsule(API, b"dltensor")]
)
def test_what_is_no_capsule_of_functions(value):
    source = type("Odd", (Source,), {"__dlpack_c_exchange_api__": value})()
    xp.from_dlpack(source)
    assert (source.functions, source.methods) == (0, 1)


def test_a_derived_type_is_asked_by_its_method():
    source = type("Derived", (offering(API),), {})()
    xp.from_dlpack(source)
    assert (source.functions, source.methods) == (0, 1)


def test_tensors_of_functions_are_checked():
    kind = offering(API)
    for fields in ({"code": 99}, {"ndim": -1}, {"data": None}, {"shape": (-1,)}):
        source = kind(**fields)
        with pytest.raises(xp.ExchangeError):
            xp.from_dlpack(source)
        assert source.producer.released >= 1


# --- PyTorch, whose type offers functions from 2.10 on


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch")
    if "__dlpack_c_exchange_api__" not in vars(module.Tensor):
        pytest.skip("this PyTorch has no exchange in C")
    return module


def test_torch_to_us(torch, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "__dlpack__", None)
    for dtype in ("float32", "float64", "int8", "uint8", "bool", "complex64", "bfloat16"):
        t = torch.ones((2, 3), dtype=getattr(torch, dtype)).T
        x = xp.from_dlpack(t)
        assert (x.shape, x.dtype.name, strided.strides(x)) == ((3, 2), dtype, (1, 3))
        t[0, 0] = 0
        assert not bool(x[0, 0])


def test_what_torch_refuses_to_export_by_its_method(torch):
    for t in (torch.ones(3, requires_grad=True), torch.ones(3, dtype=torch.complex64).conj()):
        with pytest.raises(BufferError, match="Can't export"):
            xp.from_dlpack(t)
    with pytest.raises(Exception, match=r"layout|sparse|Sparse"):
        xp.from_dlpack(torch.ones(3).to_sparse())


def test_us_to_torch(torch):
    api = exchange_api(torch.Tensor)
    before = live()
    x = xp.full((4, 6), 2.5)
    t = imported(exported(x[::2].T), api)
    assert isinstance(t, torch.Tensor) and tuple(t.shape) == (6, 2) and t.stride() == (1, 12)
    t[1, 1] = 7
    assert float(x[2, 1]) == 7
    del x
    gc.collect()
    assert float(t.sum()) == 2.5 * 11 + 7
    del t
    gc.collect()
    assert live() == before


def test_torch_allocates_and_we_import(torch):
    api = exchange_api(torch.Tensor)
    x = imported(exported(torch.arange(6.0), api))
    assert_same(x, np.arange(6, dtype="float32"))


def test_deleters_without_the_gil():
    before = live()
    managed = [exported(xp.zeros(1000)) for _ in range(20)]
    threads = [threading.Thread(target=Deleter(m.deleter), args=(ctypes.addressof(m),)) for m in managed]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert live() == before


def test_draft_of_the_standard() -> None:
    x = xp.ones(2)
    assert x.__array_namespace__(api_version="draft") is xp
    assert xp.__array_api_version__ == "2025.12"
    with pytest.raises(xp.ArgumentValueError, match="or draft"):
        x.__array_namespace__(api_version="2099.12")
