"""Inspection: what the library supports."""

from __future__ import annotations

from stride0._base.devices import BY_NAME, CPU, Device, check_device
from stride0._base.shapes import MAX_NDIM
from stride0._core.array.modes import CONFIGURATION, check_standard
from stride0._core.call.binding import intercepted
from stride0._core.call.checks import kinds_named
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType

__all__ = ["__array_namespace_info__"]


class ArrayNamespaceInfo:
    """The result of :func:`__array_namespace_info__`."""

    __slots__ = ()

    def capabilities(self) -> dict[str, bool | int]:
        """Return what the library supports.

        Returns
        -------
        dict
            ``"boolean indexing"`` and ``"data-dependent shapes"``: True, unless a test configuration turns
            them off. ``"max dimensions"``: 64.
        """
        configuration = CONFIGURATION.current()
        return {
            "boolean indexing": configuration is None or configuration.boolean_indexing,
            "data-dependent shapes": configuration is None or configuration.data_dependent_shapes,
            "max dimensions": MAX_NDIM,
        }

    def default_device(self) -> Device:
        """Return the default device of new arrays.

        Returns
        -------
        Device
            ``Device("cpu")``.
        """
        return check_device("default_device", None)

    def default_dtypes(self, *, device: Device | str | None = None) -> dict[str, DType]:
        """Return the default dtypes of new arrays.

        Parameters
        ----------
        device : Device, optional
            The device; by default the default device. Only devices of a test configuration may differ.

        Returns
        -------
        dict
            Dtypes by ``"real floating"``, ``"complex floating"``, ``"integral"`` and ``"indexing"``.

        Raises
        ------
        DeviceError
            If the device does not exist.
        """
        number = _device_number("default_dtypes", device)
        if (configuration := CONFIGURATION.current()) is not None:
            defaults: dict[str, DType] = configuration.device_of(number).default_dtypes()
            return defaults
        return {
            "real floating": dt.float64,
            "complex floating": dt.complex128,
            "integral": dt.int64,
            "indexing": dt.int64,
        }

    def devices(self) -> tuple[Device, ...]:
        """Return all devices.

        Returns
        -------
        tuple of Device
            The CPU, unless a test configuration simulates more.
        """
        configuration = CONFIGURATION.current()
        return (CPU,) if configuration is None else tuple(Device(name) for name in configuration.devices)

    def dtypes(
        self, *, device: Device | str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the dtypes of one or several kinds.

        Parameters
        ----------
        device : Device, optional
            The device; by default the default device. Only devices of a test configuration may differ.
        kind : str or tuple of str, optional
            ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
            ``"complex floating"`` or ``"numeric"``; or a tuple of kinds, one of which must match. By default
            all.

        Returns
        -------
        dict
            Dtypes by name.

        Raises
        ------
        DeviceError
            If the device does not exist.
        ArgumentValueError
            If a kind is unknown.
        """
        number = _device_number("dtypes", device)
        configuration = CONFIGURATION.current()
        words = kind if isinstance(kind, tuple) else ("bool", "numeric") if kind is None else (kind,)
        kinds = {k for word in words for k in kinds_named("dtypes", word)}
        found = {d.name: d for d in dt.STANDARD_DTYPES if d.kind in kinds}
        if configuration is None:
            return found
        simulated = configuration.device_of(number)
        return {name: d for name, d in found.items() if simulated.has(d)}

    def __repr__(self) -> str:
        return (
            "<what stride0 can do: capabilities(), default_device(), default_dtypes(), devices(), dtypes()>"
        )


def _device_number(operation: str, device: Device | str | None) -> int:
    if isinstance(device, str):
        check_standard(operation, "device is a string", BY_NAME)
    return check_device(operation, device).number


@intercepted
def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Return an object that describes what the library supports.

    Returns
    -------
    ArrayNamespaceInfo
        With the methods ``capabilities``, ``default_device``, ``default_dtypes``, ``devices`` and ``dtypes``.
    """
    return ArrayNamespaceInfo()
