"""Devices: where the memory of an array lies. There is one, the processor's; a test bench has more."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

from stride0._base.errors import ArgumentValueError, DeviceError, shown

__all__ = [
    "BY_NAME",
    "CPU",
    "DLDeviceType",
    "Device",
    "DeviceLike",
    "check_device",
    "device_numbered",
    "number_names",
    "only_the_cpu",
    "set_devices_here",
]


class DLDeviceType(IntEnum):
    """Kinds of devices, as DLPack numbers them."""

    CPU = 1
    EXT_DEV = 12


# Names of devices by their number. Virtual devices of test benches join it and stay: arrays remember numbers.
_NAMES = ["cpu"]
_ONLY = ("cpu",)


def only_the_cpu() -> tuple[str, ...]:
    """Return the names of the devices where there is no test bench."""
    return _ONLY


# The names of the devices that there are in this context, the default one first.
_devices_here: Callable[[], tuple[str, ...]] = only_the_cpu


def set_devices_here(names: Callable[[], tuple[str, ...]]) -> None:
    """Let a test bench say which devices there are in a context."""
    global _devices_here
    _devices_here = names


def number_names(names: tuple[str, ...]) -> None:
    """Give virtual devices their numbers."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise ArgumentValueError("flags", f"{shown(name)} is no name of a device", (), "strings")
        if name not in _NAMES:
            _NAMES.append(name)


class Device:
    """A place where arrays live.

    Parameters
    ----------
    name : str
        ``"cpu"`` is the only one there is, but for those of a test bench.

    Raises
    ------
    DeviceError
        For any other name.
    """

    __slots__ = ("_name",)
    _name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or name not in _devices_here():
            raise DeviceError("Device", f"unknown device {shown(name)}", accepts='The only device is "cpu".')
        object.__setattr__(self, "_name", name)

    if TYPE_CHECKING:
        # Put here by the core, which asks strict mode first.
        @property
        def name(self) -> str: ...

    @property
    def number(self) -> int:
        """The device's number; 0 is the CPU's."""
        return _NAMES.index(self._name)

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
"""Why strict mode refuses names of devices."""

DeviceLike = Device | str | None
"""What a ``device=`` argument may be."""

CPU = Device("cpu")


def device_numbered(number: int) -> Device:
    """Return the device of a number."""
    # Not by its name: an array may outlive the test bench that it was made in.
    device = Device.__new__(Device)
    object.__setattr__(device, "_name", _NAMES[number])
    return device


def check_device(operation: str, device: object) -> Device:
    """Return the device that a ``device=`` argument names.

    Parameters
    ----------
    operation : str
        Name of the function, for the error.
    device : None, Device or str
        None stands for the default device.

    Returns
    -------
    Device
        :data:`CPU`, or one of a test bench.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    if device is None and _devices_here is only_the_cpu:
        return CPU
    names = _devices_here()
    if device is None:
        return Device(names[0])
    name = device._name if isinstance(device, Device) else device
    if isinstance(name, str) and name in names:
        return CPU if name == "cpu" else Device(name)
    raise DeviceError(operation, f"unknown device {shown(device)}", accepts=_accepted(names))


def _accepted(names: tuple[str, ...]) -> str:
    if names == _ONLY:
        return 'device must be None, "cpu" or Device("cpu").'
    return f"device must be None or one of {', '.join(map(repr, names))}."
