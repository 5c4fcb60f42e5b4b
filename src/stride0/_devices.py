"""Devices: where the memory of an array lies. There is one, the processor's own memory."""

from __future__ import annotations

from enum import IntEnum
from typing import NoReturn

from ._errors import DeviceError, shown

__all__ = ["CPU", "DLDeviceType", "Device", "DeviceLike", "check_device"]


class DLDeviceType(IntEnum):
    """Kinds of devices, as DLPack numbers them."""

    CPU = 1


class Device:
    """A place where arrays live.

    Parameters
    ----------
    name : str
        ``"cpu"`` is the only one there is.

    Raises
    ------
    DeviceError
        For any other name.
    """

    __slots__ = ("_name",)
    _name: str

    def __init__(self, name: str) -> None:
        if name != "cpu":
            raise DeviceError("Device", f"unknown device {shown(name)}", accepts='The only device is "cpu".')
        object.__setattr__(self, "_name", "cpu")

    @property
    def name(self) -> str:
        """The device's name."""
        return self._name

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


DeviceLike = Device | str | None
"""What a ``device=`` argument may be."""

CPU = Device("cpu")


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
        Always :data:`CPU`.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    if (
        device is None
        or device is CPU
        or isinstance(device, Device)
        or (isinstance(device, str) and device == "cpu")
    ):
        return CPU
    raise DeviceError(
        operation, f"unknown device {shown(device)}", accepts='device must be None, "cpu" or Device("cpu").'
    )
