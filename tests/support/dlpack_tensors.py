"""DLPack tensors made and read by hand, through ctypes, as producers and consumers do."""

from __future__ import annotations

import ctypes
import enum
import gc
import subprocess
import sys
from typing import Any

import numpy as np

from stride0 import strided

CPU, CUDA = (1, 0), (2, 0)
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
READ_ONLY, IS_COPIED = 1, 2
OLD, NEW = b"dltensor", b"dltensor_versioned"

Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

# Producers are never freed: a failing test may leave an array that calls a deleter very late.
_producers: list[Producer] = []


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Unversioned(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class ExchangeAPI(ctypes.Structure):
    """DLPackExchangeAPI. Its functions keep the GIL, except the allocator, so ctypes raises their errors."""

    Allocate = ctypes.CFUNCTYPE(
        ctypes.c_int,
        ctypes.POINTER(Tensor),
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.c_void_p,
        ctypes.c_void_p,
    )
    Export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
    Import = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.py_object))
    Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
    Stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("managed_tensor_allocator", Allocate),
        ("managed_tensor_from_py_object_no_sync", Export),
        ("managed_tensor_to_py_object_no_sync", Import),
        ("dltensor_from_py_object_no_sync", Borrow),
        ("current_work_stream", Stream),
    )


def _api(name: str, result: Any, *arguments: Any) -> Any:
    # Not through the attributes of pythonapi: other code may have set their signatures.
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_name = _api("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
_pointer = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)


EXCHANGE = b"dlpack_exchange_api"


def exchange_api(kind: type) -> Any:
    """Return the functions that an array type offers."""
    capsule = kind.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    return ExchangeAPI.from_address(_pointer(capsule, EXCHANGE))


def exchange_capsule(api: ExchangeAPI, name: bytes = EXCHANGE) -> Any:
    """Return a capsule of such functions; they must live as long as it."""
    return _new(ctypes.addressof(api), name, None)


def name_of(capsule: Any) -> bytes:
    """Return the name of a capsule."""
    return _name(capsule)


def read(capsule: Any) -> Any:
    """Return the managed tensor in a fresh capsule, which keeps owning it."""
    kind = {OLD: Unversioned, NEW: Versioned}[name_of(capsule)]
    managed = kind.from_address(_pointer(capsule, name_of(capsule)))
    managed.capsule = capsule  # keeps the capsule, and so the tensor, alive
    return managed


def take(capsule: Any) -> Any:
    """Take the managed tensor from a fresh capsule; the caller must call its deleter."""
    managed = read(capsule)
    _rename(capsule, b"used_dltensor" if name_of(capsule) == OLD else b"used_dltensor_versioned")
    return managed


def delete(managed: Any) -> None:
    """Call the deleter of a taken tensor, without the GIL."""
    Deleter(managed.deleter)(ctypes.addressof(managed))


class Producer:
    """An object that exports the memory of a NumPy array and counts the releases.

    Keywords overwrite fields of the exported structures; `version` is None for
    the layout from before 1.0. `asked` are the keywords of each call of ``__dlpack__``.
    """

    def __init__(
        self,
        array: Any,
        *,
        version: tuple[int, int] | None = (1, 0),
        device: Any = CPU,
        flags: int = 0,
        deleter: bool = True,
        capsule: Any = None,
        **fields: Any,
    ) -> None:
        self.array = array
        self.device = device
        self.released = 0
        self.asked: list[dict[str, Any]] = []
        self._made = capsule
        _producers.append(self)
        self._shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self._strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        self._call = Deleter(self._release)
        managed = Unversioned() if version is None else Versioned()
        if version is not None:
            managed.major, managed.minor = version
            managed.flags = flags
        managed.deleter = ctypes.cast(self._call, ctypes.c_void_p).value if deleter else None
        tensor = managed.tensor
        tensor.data = array.__array_interface__["data"][0]
        tensor.device_type, tensor.device_id = CPU
        tensor.ndim = array.ndim
        tensor.code, tensor.bits, tensor.lanes = CODES[array.dtype.kind], 8 * array.itemsize, 1
        tensor.shape, tensor.strides = self._shape, self._strides
        for field, value in fields.items():
            if field in ("shape", "strides") and value is not None:
                value = (ctypes.c_int64 * len(value))(*value)
            setattr(tensor, field, value)
        self.managed = managed
        self.name = OLD if version is None else NEW

    def _release(self, address: int) -> None:
        assert address == ctypes.addressof(self.managed)
        self.released += 1

    def capsule(self, name: bytes | None = None) -> Any:
        """Return a capsule without a destructor: if no consumer takes the tensor, it is not released."""
        return _new(ctypes.addressof(self.managed), name or self.name, None)

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        return self._made if self._made is not None else self.capsule()

    def __dlpack_device__(self) -> Any:
        return self.device


class OldProducer(Producer):
    """A producer without the keywords of 2023.12."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
        return super().__dlpack__()


def address(a: Any) -> int:
    """Return the address of the first element of an object with the buffer protocol."""
    return int(np.asarray(a).__array_interface__["data"][0])


def started(program: str) -> subprocess.Popen[str]:
    """Start a program that may crash in another interpreter, with the path of this one."""
    path = [entry for entry in sys.path if entry]
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys\nsys.path[:0] = {path!r}\n{program}"],
        stderr=subprocess.PIPE,
        text=True,
    )


# The newest version that stride0 supports.
NEWEST = (1, 3)


def live() -> int:
    gc.collect()
    return strided.memory_statistics()["live_bytes"]


def read_only(a):
    a.flags.writeable = False
    return a


class Device(enum.IntEnum):
    CPU = 1
    CUDA = 2
