"""`stride0.testing.flags`: the test bench."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad
from stride0.testing import flags

DEVICES = flags(devices=("cpu", "left", "right"))
LEFT, RIGHT = "left", "right"


def names(x: Any) -> Any:
    """The device of an array, or of each array of a tuple, by name."""
    return tuple(names(part) for part in x) if isinstance(x, tuple) else x.device.name


# --- devices


def test_only_the_cpu_without_a_bench() -> None:
    with DEVICES:
        x = xp.ones(3, device=LEFT)
        assert x.device == xp.Device(LEFT) != xp.Device("cpu")
    with pytest.raises(xp.DeviceError):
        xp.ones(3, device=LEFT)
    with pytest.raises(xp.DeviceError):
        xp.Device("no such device")
    assert xp.__array_namespace_info__().devices() == (xp.Device("cpu"),)
    # What an array of a bench is afterwards: an array, moved like any other.
    assert x.to_device("cpu").device.name == "cpu"


CREATED: dict[str, Callable[[Any], Any]] = {
    "arange": lambda d: xp.arange(3, device=d),
    "asarray": lambda d: xp.asarray([1.0, 2.0], device=d),
    "asarray of NumPy": lambda d: xp.asarray(np.ones(3), device=d),
    "empty": lambda d: xp.empty(3, device=d),
    "eye": lambda d: xp.eye(3, device=d),
    "full": lambda d: xp.full(3, 1.5, device=d),
    "linspace": lambda d: xp.linspace(0, 1, 3, device=d),
    "ones": lambda d: xp.ones((), device=d),
    "zeros": lambda d: xp.zeros((2, 0), device=d),
    "zeros_like": lambda d: xp.zeros_like(xp.ones(2), device=d),
    "full_like": lambda d: xp.full_like(xp.ones(2), 2, device=d),
    "astype": lambda d: xp.astype(xp.ones(2), xp.int8, device=d),
    "asarray of an array": lambda d: xp.asarray(xp.ones(2), device=d),
    "from_dlpack": lambda d: xp.from_dlpack(xp.ones(2), device=d),
    "from_dlpack of NumPy": lambda d: xp.from_dlpack(np.ones(2), device=d),
    "fftfreq": lambda d: xp.fft.fftfreq(4, device=d),
    "to_device": lambda d: xp.ones(2).to_device("cpu" if d is None else d),
}


@pytest.mark.parametrize("make", CREATED.values(), ids=CREATED)
def test_creation_functions(make: Callable[[Any], Any]) -> None:
    with DEVICES:
        for device in (LEFT, xp.Device(RIGHT), "cpu"):
            assert make(device).device == (xp.Device(device) if isinstance(device, str) else device)
        assert make(None).device.name == "cpu"
        for device in ("nowhere", 1, ""):
            with pytest.raises(xp.DeviceError):
                make(device)
    with pytest.raises(xp.DeviceError):
        make(LEFT)


def test_the_first_device_is_the_default() -> None:
    with flags(devices=(LEFT, "cpu")):
        assert xp.ones(3).device.name == LEFT and xp.asarray([1]).device.name == LEFT
        info = xp.__array_namespace_info__()
        assert info.default_device() == xp.Device(LEFT)
        assert info.devices() == (xp.Device(LEFT), xp.Device("cpu"))


def results(x: Any, m: Any) -> dict[str, Any]:
    """One call of each kind of function, on arrays of one device."""
    return {
        "operator": (x + x, 2.0 * x, x - 1, -x, x == x, x @ x, abs(x)),
        "elementwise": (xp.exp(x), xp.hypot(x, x), xp.where(x > 0, x, 0.0), xp.clip(x, 0, 1), xp.real(x)),
        "view": (x[1:], m.T, m.mT, xp.reshape(m, (-1,)), xp.broadcast_to(x, (2, 3)), m[0, :], xp.flip(x)),
        "key": (x[x > 0], m[xp.asarray([0], device=x.device), 1], x[None, :]),
        "reduction": (xp.sum(x), xp.mean(m, axis=0), xp.max(x), xp.any(x > 0), xp.cumulative_sum(x)),
        "search": (xp.argmax(x), *xp.nonzero(x), xp.searchsorted(x, x), xp.sort(x), xp.argsort(x)),
        "set": (*xp.unique_all(x), xp.isin(x, x)),
        "joined": (xp.concat([x, x]), xp.stack((x, x)), *xp.meshgrid(x, x), *xp.unstack(m)),
        "linalg": (xp.linalg.inv(m), *xp.linalg.eigh(m), xp.linalg.vector_norm(x), xp.linalg.solve(m, x)),
        "fft": (xp.fft.rfft(x),),
        "like": (
            xp.zeros_like(x),
            xp.full_like(x, 1),
            xp.astype(x, xp.int8),
            xp.asarray(x),
            x.to_device(x.device),
        ),
        "iteration": tuple(x),
    }


@pytest.mark.parametrize("kind", results(xp.ones(3), xp.eye(3)))
def test_results_stay_where_the_operands_are(kind: str) -> None:
    with DEVICES:
        for device in ("cpu", LEFT):
            x, m = xp.asarray([3.0, 1.0, 2.0], device=device), 2 * xp.eye(3, device=device)
            assert set(names(results(x, m)[kind])) == {device}


MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "operator": lambda x, y: x + y,
    "reflected": lambda x, y: y - x,
    "in-place": lambda x, y: x.__iadd__(y),
    "matmul": lambda x, y: x @ y,
    "in-place matmul": lambda x, y: xp.ones((3, 3)).__imatmul__(xp.ones((3, 3), device=LEFT)),
    "comparison": lambda x, y: x == y,
    "function": lambda x, y: xp.hypot(x, y),
    "alpha": lambda x, y: xp.add(x, x, alpha=y[0]),
    "where": lambda x, y: xp.where(x > 0, x, y),
    "clip": lambda x, y: xp.clip(x, y, None),
    "concat": lambda x, y: xp.concat([x, y]),
    "meshgrid": lambda x, y: xp.meshgrid(x, y),
    "take": lambda x, y: xp.take(x, xp.asarray([0], device=LEFT)),
    "key": lambda x, y: x[xp.asarray([0], device=LEFT)],
    "mask": lambda x, y: x[y > 0],
    "value": lambda x, y: x.__setitem__(..., y),
    "key of an assignment": lambda x, y: x.__setitem__(y > 0, 1.0),
    "diff": lambda x, y: xp.diff(x, prepend=y),
    "solve": lambda x, y: xp.linalg.solve(xp.eye(3), y),
    "searchsorted": lambda x, y: xp.searchsorted(x, y),
    "asarray of both": lambda x, y: xp.asarray([x, y]),
    "asarray of both to a device": lambda x, y: xp.asarray([x[0], y[0]], device=LEFT),
}


@pytest.mark.parametrize("call", MIXED.values(), ids=MIXED)
def test_devices_do_not_mix(call: Callable[[Any, Any], Any]) -> None:
    with DEVICES:
        x, y = xp.ones(3), xp.ones(3, device=LEFT)
        with pytest.raises(xp.DeviceError, match="different devices"):
            call(x, y)
        assert bool(xp.all(x == xp.ones(3)))


def test_moving_copies() -> None:
    with DEVICES:
        x = xp.ones(3)
        for y in (
            x.to_device(LEFT),
            xp.asarray(x, device=LEFT),
            xp.from_dlpack(x, device=LEFT),
            xp.astype(x, xp.float64, copy=False, device=LEFT),
        ):
            y[0] = 5.0
            assert y.device.name == LEFT and float(x[0]) == 1.0 and float(y[0]) == 5.0
            z = xp.from_dlpack(y, device="cpu")
            assert z.device.name == "cpu" and float(z[0]) == 5.0
            assert y.to_device(LEFT) is y and xp.asarray(y, device=LEFT) is y
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(x, device=LEFT, copy=False)
        memory = np.ones(3)
        xp.asarray(memory, device=LEFT)[0] = 7.0
        assert memory[0] == 1.0


def test_other_libraries_get_nothing_from_a_virtual_device() -> None:
    with DEVICES:
        x = xp.ones(3, device=LEFT)
        for call in (
            lambda: np.asarray(x),
            lambda: np.from_dlpack(x),
            lambda: memoryview(x),
            lambda: x.__array__(),
            lambda: x.__dlpack__(),
        ):
            with pytest.raises((xp.DeviceError, BufferError)):
                call()
        assert x.__dlpack_device__()[0] != 1
        assert np.asarray(x.to_device("cpu")).tolist() == [1.0, 1.0, 1.0]
        # What people look at, and Python's numbers, are no matter of devices.
        assert (float(x[0]), bool(x[0] > 0), str(x)) == (1.0, True, "[1., 1., 1.]")
        assert x.tolist() == [x[0].tolist(), x.item(1), 1.0]
        assert (
            xp.asarray([x, x]).device.name == LEFT and xp.asarray([x, x], device=RIGHT).device.name == RIGHT
        )
        assert repr(x) == "Array([1., 1., 1.], dtype=float64, device='left')"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_array_is_pickled_with_its_device(protocol: int) -> None:
    with DEVICES:
        x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=LEFT)
        text = pickle.dumps(x.T, protocol)
        y = pickle.loads(text)
        assert y.device.name == LEFT and bool(xp.all(y == x.T))
        y[0, 0] = 9.0
        assert float(x[0, 0]) == 1.0
        assert copy.copy(x).device.name == copy.deepcopy(x).device.name == LEFT
        assert pickle.loads(pickle.dumps(x.to_device("cpu"), protocol)).device.name == "cpu"
    # Without that device there is no place for it.
    with pytest.raises(xp.DeviceError, match="unknown device 'left'"):
        pickle.loads(text)
    with flags(devices=("cpu", "right")), pytest.raises(xp.DeviceError):
        pickle.loads(text)


def test_methods_called_with_none_for_their_array() -> None:
    for call in (lambda: xp.Array.to_device(None, "cpu"), lambda: xp.Array.__dlpack_device__(None)):
        with pytest.raises(TypeError):
            call()


def test_gradients_are_taken_there() -> None:
    with DEVICES:
        x = xp.asarray([1.0, 2.0], device=LEFT)
        slope = grad(lambda x: xp.sum(x * x * xp.ones(2, device=LEFT)))(x)
        assert slope.device.name == LEFT and [float(s) for s in slope] == [2.0, 4.0]
        assert float((x - 0.5 * slope)[1]) == 0.0
        with pytest.raises(xp.DeviceError):
            grad(lambda x: xp.sum(x * xp.ones(2)))(x)


# --- dtypes


DEFAULTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "zeros": (lambda: xp.zeros(2), xp.float32),
    "ones": (lambda: xp.ones(2), xp.float32),
    "eye": (lambda: xp.eye(2), xp.float32),
    "empty": (lambda: xp.empty(2), xp.float32),
    "full of a float": (lambda: xp.full(2, 1.5), xp.float32),
    "full of an integer": (lambda: xp.full(2, 1), xp.int32),
    "full of a bool": (lambda: xp.full(2, True), xp.bool),
    "full of a complex": (lambda: xp.full(2, 1j), xp.complex64),
    "arange": (lambda: xp.arange(3), xp.int32),
    "arange of floats": (lambda: xp.arange(3.0), xp.float32),
    "linspace": (lambda: xp.linspace(0, 1, 3), xp.float32),
    "linspace, complex": (lambda: xp.linspace(0, 1j, 3), xp.complex64),
    "asarray of a float": (lambda: xp.asarray(1.5), xp.float32),
    "asarray of integers": (lambda: xp.asarray([1, 2]), xp.int32),
    "asarray of complex": (lambda: xp.asarray([1, 2j]), xp.complex64),
    "fftfreq": (lambda: xp.fft.fftfreq(4), xp.float32),
    "sum of int8": (lambda: xp.sum(xp.ones(2, dtype=xp.int8)), xp.int32),
    "sum of uint8": (lambda: xp.sum(xp.ones(2, dtype=xp.uint8)), xp.uint32),
    "cumulative sum of int16": (lambda: xp.cumulative_sum(xp.ones(2, dtype=xp.int16)), xp.int32),
    "sum of float32": (lambda: xp.sum(xp.ones(2)), xp.float32),
    "mean of integers": (lambda: xp.mean(xp.arange(3)), xp.float32),
    "exp of integers": (lambda: xp.exp(xp.arange(3)), xp.float32),
    "integers divided": (lambda: xp.arange(3) / xp.ones(3, dtype=xp.int32), xp.float32),
    "integers and a float": (lambda: xp.arange(3) + 1.5, xp.float32),
    # What was asked for stays.
    "zeros of float64": (lambda: xp.zeros(2, dtype=xp.float64), xp.float64),
    "astype": (lambda: xp.astype(xp.ones(2), xp.float64), xp.float64),
    "arange of int64": (lambda: xp.arange(3, dtype=xp.int64), xp.int64),
    "float64 computed with": (lambda: xp.exp(xp.zeros(2, dtype=xp.float64)) + 1, xp.float64),
    "sum of int64": (lambda: xp.sum(xp.ones(2, dtype=xp.int64)), xp.int64),
    "sum to float64": (lambda: xp.sum(xp.ones(2), dtype=xp.float64), xp.float64),
    "NumPy's float64": (lambda: xp.asarray(np.ones(2)), xp.float64),
    "DLPack of float64": (lambda: xp.from_dlpack(np.ones(2)), xp.float64),
    "full_like float64": (lambda: xp.full_like(xp.zeros(2, dtype=xp.float64), 1.0), xp.float64),
    # Indices have a default of their own.
    "argmax": (lambda: xp.argmax(xp.ones(2)), xp.int64),
    "nonzero": (lambda: xp.nonzero(xp.ones(2))[0], xp.int64),
    "unique counts": (lambda: xp.unique_counts(xp.ones(2)).counts, xp.int64),
}


@pytest.mark.parametrize("call, dtype", DEFAULTS.values(), ids=DEFAULTS)
def test_default_dtypes(call: Callable[[], Any], dtype: Any) -> None:
    plain = call()
    with flags(default_float="float32", default_int=xp.int32):
        found = call()
        assert found.dtype is dtype
    assert plain.shape == found.shape
    assert call().dtype is plain.dtype


def test_default_dtypes_have_the_same_values() -> None:
    with flags(default_float="float32", default_int="int32"):
        assert [int(n) for n in xp.arange(-2, 3)] == [-2, -1, 0, 1, 2]
        assert float(xp.asarray(0.1)) == float(np.float32(0.1))
        assert [float(n) for n in xp.linspace(0, 1, 3)] == [0.0, 0.5, 1.0]


def test_integers_that_do_not_fit_the_default() -> None:
    with flags(default_int="int32"):
        for call in (
            lambda: xp.asarray(2**31),
            lambda: xp.arange(2**31, 2**31 + 2),
            lambda: xp.full(2, -(2**40)),
        ):
            with pytest.raises(xp.RangeError, match="default dtype"):
                call()
        assert int(xp.asarray(2**31 - 1)) == 2**31 - 1
        assert xp.asarray(2**31, dtype=xp.int64).dtype is xp.int64


def test_inspection_shows_the_defaults() -> None:
    with flags(default_float="float32", default_int="int32"):
        assert xp.__array_namespace_info__().default_dtypes() == {
            "real floating": xp.float32,
            "complex floating": xp.complex64,
            "integral": xp.int32,
            "indexing": xp.int64,
        }


def test_without_float64() -> None:
    double = xp.ones(2)
    with flags(float64=False):
        assert xp.ones(2).dtype is xp.float32 and (xp.ones(2) * 1j).dtype is xp.complex64
        info = xp.__array_namespace_info__()
        assert not {"float64", "complex128"} & info.dtypes().keys() and "float32" in info.dtypes()
        assert info.dtypes(kind="real floating") == {"float32": xp.float32}
        for call in (
            lambda: xp.ones(2, dtype=xp.float64),
            lambda: xp.astype(xp.ones(2), xp.complex128),
            lambda: xp.asarray(np.ones(2)),
            lambda: double + 1,
            lambda: xp.sum(xp.ones(2), dtype=xp.float64),
            lambda: xp.linalg.eigh(xp.eye(2, dtype=xp.float32) * xp.asarray(1, dtype=xp.float64)),
        ):
            with pytest.raises(xp.DTypeError, match="without"):
                call()
        # What functions compute inside is their business.
        assert xp.var(xp.ones(3)).dtype is xp.float32 and xp.linalg.inv(xp.eye(2)).dtype is xp.float32


# --- writing, shapes, versions, names


def test_read_only_arrays() -> None:
    with flags(writable=False):
        x = xp.ones(3)
        for call in (
            lambda: x.__iadd__(1),
            lambda: x.__setitem__(0, 1.0),
            lambda: x.__setitem__(x > 0, 1.0),
            lambda: xp.ones((2, 2)).__imatmul__(xp.ones((2, 2))),
        ):
            with pytest.raises(xp.WriteError, match="read-only"):
                call()
        # Functions write to what they make.
        assert float(xp.sum(xp.tril(xp.ones((2, 2))))) == 3.0 and float(xp.linspace(0, 1, 3)[1]) == 0.5
    x += 1
    assert float(x[0]) == 2.0


def test_memory_of_read_only_arrays() -> None:
    """Whoever is lent it cannot write to it either; a copy of one's own is one's own."""
    x = xp.ones(3)
    with flags(writable=False):
        for lent in (np.asarray(x), x.__array__(), np.asarray(memoryview(x)), np.from_dlpack(x)):
            assert not lent.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                lent[0] = 5.0
        assert memoryview(x).readonly and not xp.strided.is_writable(x)
        with pytest.raises(BufferError):
            x.__dlpack__()  # the layout before 1.0 cannot say that nobody may write
        with pytest.raises((BufferError, TypeError)):
            io.BytesIO(bytes(24)).readinto(x)
        for own in (np.array(x), np.asarray(x, copy=True), np.from_dlpack(x, copy=True)):
            own[0] = 5.0
        for protocol in (4, 5):
            y = pickle.loads(pickle.dumps(x, protocol))
            assert not xp.strided.is_writable(y)
    assert float(x[0]) == 1.0
    # And afterwards they are what they were.
    y[0] = 2.0
    np.asarray(x)[0] = 3.0
    assert float(x[0]) == 3.0 and xp.strided.is_writable(x) and not memoryview(x).readonly


def test_functions_may_write_inside_to_read_only_arrays() -> None:
    with flags(writable=False):
        x = xp.asarray([3.0, 1.0, 2.0])
        assert xp.sort(x).tolist() == [1.0, 2.0, 3.0]
        assert xp.from_dlpack(x).shape == (3,) and float(xp.linalg.inv(xp.eye(2))[0, 0]) == 1.0
        assert [float(value) for value in xp.fft.rfft(x).real] and x.tolist() == [3.0, 1.0, 2.0]


def test_no_data_dependent_shapes() -> None:
    x = xp.asarray([1.0, 0.0])
    with flags(data_dependent_shapes=False):
        for call in (
            lambda: xp.nonzero(x),
            lambda: xp.unique_all(x),
            lambda: xp.unique_counts(x),
            lambda: xp.unique_inverse(x),
            lambda: xp.unique_values(x),
            lambda: xp.repeat(x, xp.asarray([1, 2])),
            lambda: x[x > 0],
            lambda: x[(x > 0,)],
        ):
            with pytest.raises(xp.StrictError, match="data_dependent_shapes=False"):
                call()
        assert xp.repeat(x, 2).shape == (4,)
        y = xp.asarray(x, copy=True)
        y[y > 0] = 5.0
        assert float(y[0]) == 5.0
        assert not xp.__array_namespace_info__().capabilities()["data-dependent shapes"]
    with flags(boolean_indexing=False):
        for call in (lambda: x[x > 0], lambda: y.__setitem__(y > 0, 1.0)):
            with pytest.raises(xp.StrictError, match="boolean_indexing=False"):
                call()
        assert len(xp.nonzero(x)) == 1
        assert not xp.__array_namespace_info__().capabilities()["boolean indexing"]


MASKS: dict[str, Any] = {
    "array": xp.asarray([True, False, True]),
    "array in a tuple": (xp.asarray([True, False, True]),),
    "array without axes": xp.asarray(True),
    "array beside an index": (xp.asarray([True, False, True]), ...),
    "list": [True, False, True],
    "tuple in a tuple": ((True, False, True),),
    "list beside dots": ([True, False, True], ...),
    "list of arrays": [xp.asarray(True), xp.asarray(False), xp.asarray(True)],
    "list of NumPy's bools": [np.True_, np.False_, np.True_],
    "NumPy array": np.asarray([True, False, True]),
    "bool": True,
    "NumPy's bool": np.False_,
}
NO_MASKS: dict[str, Any] = {
    "integers": [0, 2],
    "an integer among bools": [True, 2, 0],
    "no index": [],
    "NumPy's integers": np.asarray([0, 1]),
    "slice and None": (None, slice(0, 2)),
}


@pytest.mark.parametrize("key", MASKS.values(), ids=MASKS)
def test_masks_of_all_sorts(key: Any) -> None:
    x = xp.ones(3)
    expected = x[key]
    for name in ("data_dependent_shapes", "boolean_indexing"):
        with flags(**{name: False}), pytest.raises(xp.StrictError, match=f"{name}=False"):
            x[key]
    with flags(boolean_indexing=False), pytest.raises(xp.StrictError, match="boolean_indexing=False"):
        x[key] = 0.0
    assert bool(xp.all(x == 1.0)) and x[key].shape == expected.shape
    with flags(data_dependent_shapes=False):
        x[key] = 0.0
    assert not bool(xp.any(x[key] > 0.0))


@pytest.mark.parametrize("key", NO_MASKS.values(), ids=NO_MASKS)
def test_keys_without_masks(key: Any) -> None:
    x = xp.ones(3)
    with flags(boolean_indexing=False, data_dependent_shapes=False):
        x[key] = x[key]


NEW = {
    "isdtype": "2022.12", "take": "2022.12", "real": "2022.12", "fft": "2022.12",
    "clip": "2023.12", "hypot": "2023.12", "cumulative_sum": "2023.12", "unstack": "2023.12",
    "__array_namespace_info__": "2023.12", "count_nonzero": "2024.12", "diff": "2024.12",
    "nextafter": "2024.12", "take_along_axis": "2024.12", "isin": "2025.12", "broadcast_shapes": "2025.12",
}  # fmt: skip
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_version(version: str) -> None:
    with flags(api_version=version):
        assert xp.__array_api_version__ == version
        for name, since in NEW.items():
            assert hasattr(xp, name) is (since <= version), name
            assert (name in dir(xp)) is (since <= version), name
        assert xp.ones(1).__array_namespace__(api_version=version) is xp
        if version < "2025.12":
            with pytest.raises(ValueError, match="newer"):
                xp.ones(1).__array_namespace__(api_version="2025.12")
    assert xp.__array_api_version__ == "2025.12" and all(hasattr(xp, name) for name in NEW)


def test_what_came_later_is_refused_where_it_is_called() -> None:
    isin, diff, eig = xp.isin, xp.diff, xp.linalg.eig
    x = xp.ones(2)
    with flags(api_version="2023.12"):
        for call in (
            lambda: isin(xp.ones(2, dtype=xp.int64), 1),
            lambda: diff(x),
            lambda: eig(xp.eye(2)),
            lambda: xp.add(x, 1.0),
            lambda: xp.where(x > 0, x, 0.0),
            lambda: x[xp.asarray([0])],
            lambda: xp.fft.fftfreq(4, dtype=xp.float32),
        ):
            with pytest.raises(xp.StrictError, match="since version"):
                call()
        assert float((x + 1.0)[0]) == 2.0 and float(xp.sum(xp.clip(x, 0, 0.5))) == 1.0
    with flags(api_version="2022.12"):
        with pytest.raises(xp.StrictError):
            xp.astype(x, xp.float32, device=x.device)
        with pytest.raises(xp.StrictAttributeError):
            xp.clip  # noqa: B018
    assert float(diff(x)[0]) == 0.0


LATER: dict[str, tuple[str, Callable[[], Any], Callable[[], Any]]] = {
    "several new axes": (
        "2025.12",
        lambda: xp.expand_dims(xp.ones(2), axis=(0, 1)),
        lambda: xp.expand_dims(xp.ones(2), axis=-1),
    ),
    "negative axes permuted": (
        "2025.12",
        lambda: xp.permute_dims(xp.eye(2), (-1, 0)),
        lambda: xp.permute_dims(xp.eye(2), (1, 0)),
    ),
    "result_type with scalars": (
        "2024.12",
        lambda: xp.result_type(xp.float32, 1.0),
        lambda: xp.result_type(xp.float32, xp.ones(2)),
    ),
    "copy by DLPack": (
        "2023.12",
        lambda: xp.ones(2).__dlpack__(copy=True),
        lambda: xp.ones(2).__dlpack__(stream=None),
    ),
    "version of DLPack": ("2023.12", lambda: xp.ones(2).__dlpack__(max_version=(1, 0)), lambda: None),
    "device of DLPack": ("2023.12", lambda: xp.ones(2).__dlpack__(dl_device=(1, 0)), lambda: None),
    "complex results": ("2022.12", lambda: xp.ones(2) * 1j, lambda: xp.ones(2) * 2),
    "complex dtype": ("2022.12", lambda: xp.zeros(2, dtype=COMPLEX), lambda: xp.zeros(2)),
    "complex operands": ("2022.12", lambda: abs(COMPLEX_ARRAY), lambda: abs(xp.ones(2))),
}
COMPLEX = xp.complex64
COMPLEX_ARRAY = xp.zeros(2, dtype=COMPLEX)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("since, call, before", LATER.values(), ids=LATER)
def test_forms_of_arguments_that_came_later(
    version: str, since: str, call: Callable[[], Any], before: Callable[[], Any]
) -> None:
    with flags(api_version=version):
        before()
        if version >= since:
            call()
        else:
            with pytest.raises(xp.StrictError, match=f"since version {since}"):
                call()


def test_other_libraries_manage_with_an_older_dlpack() -> None:
    with flags(api_version="2022.12"):
        x = xp.ones(2)
        assert np.from_dlpack(x).tolist() == [1.0, 1.0] and xp.from_dlpack(x).shape == (2,)


def test_extensions() -> None:
    inverse = xp.linalg.inv
    with flags(extensions=("fft",)):
        assert not hasattr(xp, "linalg") and hasattr(xp, "fft")
        with pytest.raises(xp.StrictError, match="extension"):
            inverse(xp.eye(2))
        assert (xp.eye(2) @ xp.ones(2)).shape == (2,)
    assert inverse(xp.eye(2)).shape == (2, 2)


def test_strict_names() -> None:
    with flags(strict_names=True):
        shown = {name for name in dir(xp) if not name.startswith("_")}
        assert {"add", "linalg", "float32", "pi", "newaxis"} <= shown
        assert not {"strided", "autograd", "explain", "Array", "StrictError", "testing"} & shown
        for name in ("strided", "autograd", "broadcasting", "Array"):
            with pytest.raises(AttributeError):
                getattr(xp, name)
        assert not hasattr(xp.linalg, "LinAlgError") and hasattr(xp.linalg, "inv")
        assert all(hasattr(xp, name) for name in shown)
    assert hasattr(xp, "strided")


def test_strict_as_a_flag() -> None:
    x = xp.ones(3, dtype=xp.int64)
    with flags(strict=True):
        with pytest.raises(xp.StrictError):
            x + 1.5
        with xp.strict(False):
            x + 1.5
    with xp.strict(), flags(strict=False):
        x + 1.5
    x + 1.5


# --- the block itself


def test_blocks_replace_each_other() -> None:
    with flags(float64=False):
        with flags(writable=False):
            assert xp.ones(2).dtype is xp.float64
        assert xp.ones(2).dtype is xp.float32
    assert xp.ones(2).dtype is xp.float64


def test_left_by_an_exception() -> None:
    with pytest.raises(KeyError), flags(float64=False, api_version="2022.12", strict=True):
        raise KeyError
    assert xp.ones(2).dtype is xp.float64 and hasattr(xp, "clip") and not xp.strict.current()
    assert type(xp) is type(sys)


def test_decorator_and_threads() -> None:
    barrier = threading.Barrier(3)
    found = []

    @flags(default_float="float32", strict=True)
    def work() -> None:
        barrier.wait(30)
        found.append((xp.ones(2).dtype, xp.strict.current()))
        barrier.wait(30)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [(xp.float32, True)] * 3
    assert xp.ones(2).dtype is xp.float64 and type(xp) is type(sys)


@pytest.mark.parametrize("everywhere", [False, True])
def test_other_threads(everywhere: bool) -> None:
    found = []
    with flags(float64=False, strict=True, everywhere=everywhere):
        thread = threading.Thread(target=lambda: found.append((xp.ones(2).dtype, xp.strict.current())))
        thread.start()
        thread.join(30)
        assert xp.ones(2).dtype is xp.float32
    assert found == [(xp.float32, True) if everywhere else (xp.float64, False)]
    assert xp.ones(2).dtype is xp.float64 and not xp.strict.current()


@pytest.mark.parametrize(
    "given",
    [
        {"devices": ()},
        {"devices": "cpu"},
        {"devices": ("",)},
        {"devices": ("cpu", "cpu")},
        {"default_float": "float16"},
        {"default_int": xp.int8},
        {"default_complex": xp.float32},
        {"float64": False, "default_float": "float64"},
        {"api_version": "2020.12"},
        {"extensions": ("random",)},
        {"writable": None},
        {"strict": "yes"},
        {"everywhere": 1},
    ],
    ids=str,
)
def test_flags_that_are_none(given: dict[str, Any]) -> None:
    with pytest.raises((xp.ArgumentValueError, xp.ArgumentTypeError), match="flags"):
        flags(**given)


def test_a_bench_costs_nothing_before_it_is_used() -> None:
    """The modules that make it are not even asked for; the namespace is a plain module."""
    program = (
        "import sys, stride0 as xp; assert type(xp) is type(sys); "
        "assert 'stride0._flags' not in sys.modules; print(xp.ones(2).device.name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "cpu"
