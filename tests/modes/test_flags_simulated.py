"""`stride0.testing.flags`: simulated devices with their own dtypes and DLPack numbers; no 64 bits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.testing import flags

NO_X64 = flags(float64=False, int64=False)
NARROW = {"bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "complex64"}
DEVICES: dict[str, dict[str, Any]] = {
    "cpu": {},
    "single": {"float64": False, "dlpack": (8, 0)},
    "small": {"float64": False, "int64": False, "dlpack": (2, 1)},
    "preferring": {"default_float": "float32", "default_int": xp.int32},
}

DEFAULTS: dict[str, tuple[Callable[[Any], Any], tuple[str, str, str]]] = {
    # The dtypes of results on the devices "single", "small" and "preferring".
    "ones": (lambda d: xp.ones(2, device=d), ("float32", "float32", "float32")),
    "arange": (lambda d: xp.arange(3, device=d), ("int64", "int32", "int32")),
    "asarray of floats": (lambda d: xp.asarray([0.5], device=d), ("float32", "float32", "float32")),
    "asarray of integers": (lambda d: xp.asarray([1], device=d), ("int64", "int32", "int32")),
    "complex": (lambda d: xp.full(2, 1j, device=d), ("complex64", "complex64", "complex64")),
    "argmax": (lambda d: xp.argmax(xp.ones(2, device=d)), ("int64", "int32", "int64")),
    "sum of bytes": (
        lambda d: xp.sum(xp.ones(2, dtype=xp.uint8, device=d)),
        ("uint64", "uint32", "uint32"),
    ),
    "unique": (lambda d: xp.unique_all(xp.ones(2, device=d)).inverse_indices, ("int64", "int32", "int64")),
}


@pytest.mark.parametrize("make, dtypes", DEFAULTS.values(), ids=DEFAULTS)
def test_defaults_of_a_device(make: Callable[[Any], Any], dtypes: tuple[str, str, str]) -> None:
    with flags(devices=DEVICES):
        for device, name in zip(("single", "small", "preferring"), dtypes, strict=True):
            found = make(device)
            assert (found.dtype.name, found.device.name) == (name, device)


def test_what_a_device_has() -> None:
    with flags(devices=DEVICES):
        info = xp.__array_namespace_info__()
        cpu, single, small, preferring = info.devices()
        assert set(info.dtypes(device=small)) == NARROW
        assert set(info.dtypes(device=single)) == NARROW | {"int64", "uint64"}
        assert info.dtypes(device=preferring) == info.dtypes(device=cpu) == info.dtypes()
        assert info.default_dtypes(device=small)["indexing"] is xp.int32
        assert info.default_dtypes(device=preferring)["integral"] is xp.int32
        assert info.default_dtypes()["real floating"] is xp.float64


REFUSED: dict[str, Callable[[], Any]] = {
    "float64": lambda: xp.ones(2, dtype=xp.float64, device="single"),
    "complex128": lambda: xp.zeros(2, dtype=xp.complex128, device="small"),
    "int64": lambda: xp.zeros(2, dtype=xp.int64, device="small"),
    "astype": lambda: xp.astype(xp.ones(2, device="single"), xp.float64),
    "moved": lambda: xp.ones(2).to_device(xp.Device("single")),
    "moved by asarray": lambda: xp.asarray(xp.ones(2), device="single"),
    "moved by astype": lambda: xp.astype(xp.ones(2), xp.float64, device="single"),
    "NumPy's": lambda: xp.asarray(np.ones(2), device="single"),
    "promoted": lambda: (
        xp.ones(2, dtype=xp.int32, device="small") + xp.ones(2, dtype=xp.uint32, device="small")
    ),
    "result of a function": lambda: xp.sum(xp.ones(2, device="single"), dtype=xp.float64),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_dtypes_that_a_device_does_not_have(call: Callable[[], Any]) -> None:
    with flags(devices=DEVICES), pytest.raises(xp.DTypeError, match="does not have") as caught:
        call()
    facts = dict(caught.value.facts)
    assert facts["device"] in ("'single'", "'small'") and facts["standard"].startswith("Inspection")
    assert "64=False" in facts["setting"]


def test_moving_between_them() -> None:
    with flags(devices=DEVICES):
        x = xp.ones(2, dtype=xp.float32).to_device("single")
        assert (x.dtype, x.device.name) == (xp.float32, "single")
        y = xp.astype(x.to_device("cpu"), xp.float64)
        assert y.dtype is xp.float64 and xp.astype(y, xp.float32, device="small").device.name == "small"
        z = x.to_device("small").to_device("preferring")
        assert (z.dtype, z.device.name, (z * 1.5).dtype) == (xp.float32, "preferring", xp.float32)
        with pytest.raises(xp.DeviceError, match="different devices") as caught:
            x + z
        assert dict(caught.value.facts)["standard"].startswith("Device support")


def test_dlpack_numbers() -> None:
    with flags(devices=DEVICES):
        numbers = {name: xp.ones(2, dtype=xp.float32, device=name).__dlpack_device__() for name in DEVICES}
        assert numbers["cpu"] == (1, 0) and numbers["single"] == (8, 0) and numbers["small"] == (2, 1)
        assert numbers["preferring"][0] == 12 and len(set(numbers.values())) == 4
        assert numbers["single"][0].name == "METAL" and numbers["small"][0].name == "CUDA"
        x = xp.ones(2, device="small")
        assert xp.from_dlpack(x).device == x.device
        with pytest.raises(BufferError, match="copy=False"):
            x.__dlpack__(dl_device=(1, 0), copy=False)
        copied = np.from_dlpack(x, device="cpu")
        assert copied.tolist() == [1.0, 1.0]
    # The array is used after the block of its configuration.
    assert x.__dlpack_device__()[0] == 12


def test_without_64_bits() -> None:
    wide = xp.arange(3)
    with NO_X64:
        info = xp.__array_namespace_info__()
        assert set(info.dtypes()) == NARROW
        assert {d.name for d in info.default_dtypes().values()} == {"float32", "complex64", "int32"}
        assert xp.arange(3).dtype is xp.int32 and xp.nonzero(xp.ones(2))[0].dtype is xp.int32
        assert xp.searchsorted(xp.ones(2), xp.ones(2)).dtype is xp.int32
        assert (xp.arange(3) * 1.5).dtype is xp.float32 and xp.result_type(xp.int32, 1) is xp.int32
        assert int(xp.sum(xp.ones(3, dtype=xp.int8))) == 3
        for call in (
            lambda: xp.zeros(2, dtype=xp.uint64),
            lambda: xp.astype(xp.arange(3), xp.int64),
            lambda: wide + 1,
            lambda: xp.asarray(np.arange(3)),
            lambda: xp.arange(3) + xp.ones(3, dtype=xp.uint32),
        ):
            with pytest.raises(xp.DTypeError, match="does not have"):
                call()
        with pytest.raises(xp.RangeError):
            xp.asarray(2**40)
        x = xp.asarray([1.0, 2.0, 3.0])
        assert float(x[xp.argmax(x)]) == 3.0 and xp.linalg.inv(xp.eye(2)).dtype is xp.float32
    assert xp.arange(3).dtype is xp.int64


@pytest.mark.parametrize(
    "given",
    [
        {"devices": {"cpu": {"colour": "red"}}},
        {"devices": {"cpu": None}},
        {"devices": {}},
        {"devices": {"gpu": {"dlpack": (99, 0)}}},
        {"devices": {"gpu": {"dlpack": 2}}},
        {"devices": {"gpu": {"dlpack": (2, -1)}}},
        {"devices": {"cpu": {"dlpack": (2, 0)}}},
        {"devices": {"gpu": {"float64": 1}}},
        {"devices": {"gpu": {"float64": False, "default_float": "float64"}}},
        {"devices": {"gpu": {"int64": False, "default_int": "int64"}}},
        {"int64": False, "default_int": "int64"},
        {"int64": None},
        {"lazy": 1},
        {"views": "no"},
        {"shuffled": None},
    ],
    ids=str,
)
def test_settings_that_are_none(given: dict[str, Any]) -> None:
    with pytest.raises((xp.ArgumentValueError, xp.ArgumentTypeError), match="flags"):
        flags(**given)


def test_each_thread_has_its_own() -> None:
    barrier, found = threading.Barrier(2), []

    def work(setting: dict[str, Any]) -> None:
        with flags(**setting):
            barrier.wait(30)
            found.append(xp.arange(2).dtype)
            barrier.wait(30)

    threads = [threading.Thread(target=work, args=(setting,)) for setting in ({"int64": False}, {})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert set(found) == {xp.int32, xp.int64}
