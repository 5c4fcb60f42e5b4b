"""Devices of arrays. There is only the CPU; a test configuration can simulate more devices."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

from stride0._base.errors import ArgumentValueError, DeviceError, shown


class DLDeviceType(IntEnum):
    """Types of devices, with DLPack's numbers."""

    CPU = 1
    CUDA = 2
    CUDA_PINNED = 3
    OPENCL = 4
    VULKAN = 7
    METAL = 8
    VPI = 9
    ROCM = 10
    EXT_DEV = 12
    CUDA_MANAGED = 13
    ONE_API = 14


# Names of devices by number. Names of simulated devices are never removed: arrays store the number.
_NAMES = ["cpu"]
_ONLY = ("cpu",)


def only_the_cpu() -> tuple[str, ...]:
    """Return the names of the devices without a test configuration."""
    return _ONLY


# Returns the names of the devices of this context, starting with the default device.
_current_devices: Callable[[], tuple[str, ...]] = only_the_cpu


def set_current_devices(names: Callable[[], tuple[str, ...]]) -> None:
    """Set the function that returns the names of the devices of a context."""
    global _current_devices
    _current_devices = names


def number_names(names: tuple[str, ...]) -> None:
    """Give simulated devices their numbers."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise ArgumentValueError("flags", f"{shown(name)} is not a device name", (), "pass strings")
        if name not in _NAMES:
            _NAMES.append(name)


def number_of(name: str) -> int:
    """Return the number of a simulated device, or 0 for the CPU."""
    return _NAMES.index(name)


class Device:
    """A device that holds arrays.

    Parameters
    ----------
    name : str
        ``"cpu"`` is the only device, unless a test configuration simulates others.

    Raises
    ------
    DeviceError
        For any other name.

    Examples
    --------
    >>> xp.Device("cpu"), xp.ones(3).device == xp.Device("cpu")
    (Device('cpu'), True)
    >>> xp.Device("gpu")
    Traceback (most recent call last):
        ...
    stride0.DeviceError: Device: unknown device 'gpu'
    ...
    """

    __slots__ = ("_name",)
    _name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or name not in _current_devices():
            raise DeviceError("Device", f"unknown device {shown(name)}", accepts='write Device("cpu")')
        object.__setattr__(self, "_name", name)

    if TYPE_CHECKING:
        # The core replaces it by a version that checks strict mode first.
        @property
        def name(self) -> str: ...

    @property
    def number(self) -> int:
        """The device's number; the CPU is 0."""
        return number_of(self._name)

    def __setattr__(self, attribute: str, value: object) -> NoReturn:
        raise AttributeError(f"Device objects cannot be changed: {shown(attribute)}")

    def __delattr__(self, attribute: str) -> NoReturn:
        raise AttributeError(f"Device objects cannot be changed: {shown(attribute)}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return self._name == other._name
        return NotImplemented

    def __hash__(self) -> int:
        return hash((Device, self._name))

    def __repr__(self) -> str:
        return f"Device({shown(self._name)})"

    def __str__(self) -> str:
        return self._name

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        # The default would set the slot, which is refused above.
        return Device, (self._name,)


BY_NAME = "Device support: a device is an object of the library"
"""The sentence of the standard by which strict mode refuses names of devices."""

DeviceLike = Device | str | None
"""The type of a ``device=`` argument."""

CPU = Device("cpu")


def device_numbered(number: int) -> Device:
    """Return the device with a number."""
    # Not by its name, because an array may outlive the test configuration that created it.
    device = Device.__new__(Device)
    object.__setattr__(device, "_name", _NAMES[number])
    return device


def check_device(operation: str, device: object) -> Device:
    """Return the device for a ``device=`` argument (None: the default device), or raise DeviceError."""
    if device is None and _current_devices is only_the_cpu:
        return CPU
    names = _current_devices()
    if device is None:
        return Device(names[0])
    name = device._name if isinstance(device, Device) else device
    if isinstance(name, str) and name in names:
        return CPU if name == "cpu" else Device(name)
    raise DeviceError(operation, f"unknown device {shown(device)}", accepts=_accepted(names))


def _accepted(names: tuple[str, ...]) -> str:
    if names == _ONLY:
        return 'pass device=None, "cpu" or Device("cpu")'
    return f"pass device=None or one of {', '.join(map(repr, names))}"
