"""`stride0.testing.flags`: simulated devices."""

from __future__ import annotations

import copy
import pickle
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


def test_only_the_cpu_without_a_configuration() -> None:
    with DEVICES:
        x = xp.ones(3, device=LEFT)
        assert x.device == xp.Device(LEFT) != xp.Device("cpu")
    with pytest.raises(xp.DeviceError):
        xp.ones(3, device=LEFT)
    with pytest.raises(xp.DeviceError):
        xp.Device("no such device")
    assert xp.__array_namespace_info__().devices() == (xp.Device("cpu"),)
    # After the block, an array of the configuration can be moved like any other.
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


def test_other_libraries_get_nothing_from_a_simulated_device() -> None:
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
        # Text and Python numbers do not depend on devices.
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
    # Without that device the array cannot be moved there.
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
