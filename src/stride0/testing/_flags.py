"""`stride0.testing.flags`: test configurations of the library."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Self

import stride0._modes.interceptors  # noqa: F401 - registers the interceptor
from stride0 import fft, linalg
from stride0._base.devices import DLDeviceType, number_names, number_of, only_the_cpu, set_current_devices
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, StrictAttributeError, shown
from stride0._core.array.modes import CONFIGURATION, STRICT
from stride0._core.exchange.exchange import namespace_for
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType
from stride0._modes.configurations import Configuration, current_configuration, current_devices
from stride0._modes.simulated import Simulated
from stride0._modes.strict import strict as strict_mode
from stride0._modes.switches import Setting
from stride0._tables.standard import (
    COMPLEX_SINCE,
    DRAFT,
    DTYPES,
    EXTENSIONS,
    NEWEST,
    ROWS,
    SHARED,
    VERSIONS,
    names_of,
    row_of,
)

__all__ = ["flags"]

FILTERED = (namespace_for(None), linalg, fft)


class flags(Setting):
    """
    Make stride0 behave like another library, to test array-agnostic code: a context manager and decorator.

    Parameters
    ----------
    devices : sequence of str, or mapping of str to mapping
        The available devices, starting with the default; ``"cpu"`` is real, others are simulated. Operands on
        different devices are refused, `to_device` and ``device=`` copy to a device, results are on the device
        of their operands, and only arrays on the CPU export their memory to NumPy or by DLPack. A mapping
        gives the settings of a device that differ: flags about dtypes, which otherwise apply to all devices,
        and ``dlpack``, its ``(device_type, device_id)``: ``{"cpu": {}, "mps": {"float64": False}}``.
    default_float, default_int, default_complex : DType or str, optional
        The default dtypes. `default_complex` by default has the precision of `default_float`.
    float64 : bool
        False simulates a library without ``float64`` and ``complex128``: results of these dtypes raise
        `DTypeError`. The default dtypes are then ``float32`` and ``complex64``.
    int64 : bool
        False simulates a library without ``int64`` and ``uint64``, whose indices are ``int32``. With
        ``float64=False`` it behaves like JAX with default settings.
    writable : bool
        False makes in-place operators and assignments raise `WriteError`. Memory that an array exports then
        is read-only too.
    views : bool
        False returns copies instead of views: from indexing, `reshape`, `permute_dims`, ``x.T``.
    lazy : bool
        True refuses to return the value of an array: ``bool(x)``, ``int(x)``, ``float(x)``, ``complex(x)``,
        its use as an index of Python sequences, as a size or bound, and its export. It also refuses shapes
        that depend on values.
    shuffled : bool
        True changes the order of results whose order the standard leaves open: of ``unique_*``, of `argsort`
        with ``stable=False`` (equal elements), and of eigenvalues.
    data_dependent_shapes : bool
        False refuses `nonzero`, ``unique_*``, `repeat` with an array, and reading with masks.
    boolean_indexing : bool
        False refuses masks in assignments as well.
    api_version : str
        An older version of the standard: names and arguments that came later do not exist, and before
        2023.12 sums and products of ``float32`` have the default dtype. ``"draft"`` is the next one.
    extensions : sequence of str
        The available extensions, out of ``"linalg"`` and ``"fft"``.
    strict_names : bool
        True hides all names of the namespace that the standard does not have.
    strict : bool or stride0.strict, optional
        Also sets strict mode; a `stride0.strict` limits it to modules by name. By default it does not change.
    everywhere : bool
        True sets the flags for all threads and tasks that have not set flags, instead of for this context.

    Raises
    ------
    ArgumentValueError
        If a dtype, a version, an extension or a setting of a device is unknown, or no device is given.

    Notes
    -----
    A call that a flag refuses raises `StrictError`, unless another error is named above. Like
    `stride0.strict`, the flags apply only to the caller's code. A nested block sets all flags anew.

    Results are computed in stride0's default dtype and then cast to the default dtype of the configuration.

    Examples
    --------
    >>> with xp.testing.flags(devices=("cpu", "other"), default_float="float32"):
    ...     x = xp.ones(3, device="other")
    >>> x.dtype, x.device
    (stride0.float32, Device('other'))
    >>> with xp.testing.flags(writable=False):
    ...     x += 1
    Traceback (most recent call last):
        ...
    stride0.WriteError: add: arrays are read-only in this test configuration
    ...
    """

    def __init__(
        self,
        *,
        devices: Sequence[str] | Mapping[str, Mapping[str, Any]] = ("cpu",),
        default_float: DType | str | None = None,
        default_int: DType | str | None = None,
        default_complex: DType | str | None = None,
        float64: bool = True,
        int64: bool = True,
        writable: bool = True,
        views: bool = True,
        lazy: bool = False,
        shuffled: bool = False,
        data_dependent_shapes: bool = True,
        boolean_indexing: bool = True,
        api_version: str = NEWEST,
        extensions: Sequence[str] = tuple(EXTENSIONS),
        strict_names: bool = False,
        strict: bool | strict_mode | None = None,
        everywhere: bool = False,
    ) -> None:
        yes_or_no = {
            "writable": writable,
            "views": views,
            "lazy": lazy,
            "shuffled": shuffled,
            "data_dependent_shapes": data_dependent_shapes,
            "boolean_indexing": boolean_indexing,
            "strict_names": strict_names,
        }
        for name, value in {**yes_or_no, "everywhere": everywhere}.items():
            _check_bool(name, value)
        if strict is not None and not isinstance(strict, strict_mode):
            _check_bool("strict", strict)
        if isinstance(devices, str) or not devices:
            raise ArgumentValueError("flags", f"devices is {shown(devices)}", (), "pass at least one name")
        if len(set(devices)) < len(devices):
            raise ArgumentValueError("flags", f"devices is {shown(devices)}", (), "name each device once")
        if api_version not in (*VERSIONS, DRAFT):
            raise ArgumentValueError(
                "flags",
                f"api_version is {shown(api_version)}",
                (),
                f"pass one of {', '.join(VERSIONS)}, or {DRAFT}",
            )
        for name in extensions:
            if name not in EXTENSIONS:
                raise ArgumentValueError("flags", f"unknown extension {shown(name)}", (), "use linalg or fft")
        dtypes = {
            "default_float": default_float,
            "default_int": default_int,
            "default_complex": default_complex,
            "float64": float64,
            "int64": int64,
        }
        own = dict(devices) if isinstance(devices, Mapping) else {name: {} for name in devices}
        _simulated("flags", dtypes)
        number_names(tuple(own))
        simulated = {
            number_of(name): _simulated(name, {**dtypes, **_settings(name, settings)})
            for name, settings in own.items()
        }
        yes_or_no["data_dependent_shapes"] = data_dependent_shapes and not lazy
        plain = views and not shuffled and api_version >= "2023.12"  # when sums got their dtype of today
        usual = {number for number, device in simulated.items() if device[:-1] == Simulated()[:-1]}
        configuration = Configuration(
            devices=tuple(own),
            unchanged=frozenset(usual if plain else ()),
            simulated=simulated,
            api_version=api_version,
            extensions=tuple(name for name in EXTENSIONS if name in extensions),
            **yes_or_no,
        )
        super().__init__(CONFIGURATION, configuration, everywhere)
        if isinstance(strict, strict_mode):
            strict = strict._value
        self._strictness = None if strict is None else Setting(STRICT, strict, everywhere)

    def __enter__(self) -> Self:
        _open()
        super().__enter__()
        if self._strictness is not None:
            self._strictness.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._strictness is not None:
            self._strictness.__exit__()
        super().__exit__()
        _close()

    def _recreate_cm(self) -> Self:
        twin = type(self).__new__(type(self))
        Setting.__init__(twin, self._switch, self._value, self._everywhere)
        twin._strictness = self._strictness
        if twin._strictness is not None:
            twin._strictness = twin._strictness._recreate_cm()
        return twin


def _check_bool(parameter: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ArgumentTypeError("flags", f"{parameter} is {shown(value)}", (), "pass True or False")


# Settings that a device may have.
OWN = ("default_float", "default_int", "default_complex", "float64", "int64", "dlpack")


def _settings(device: str, settings: object) -> dict[str, Any]:
    """Return the settings of a device, by the names of the flags."""
    if not isinstance(settings, Mapping):
        problem = f"the settings of the device {device!r} are {shown(settings)}"
        raise ArgumentTypeError("flags", problem, (), 'pass a dict: {"float64": False}')
    for name in settings:
        if name not in OWN:
            raise ArgumentValueError(
                "flags",
                f"the device {device!r} has an unknown setting {shown(name)}",
                (),
                f"use only {', '.join(OWN)}",
            )
    return dict(settings)


def _simulated(device: str, given: Mapping[str, Any]) -> Simulated:
    """Return a device, given flags about its dtypes; missing flags follow from the others."""
    has_double, has_long, dlpack = given["float64"], given["int64"], given.get("dlpack")
    _check_bool("float64", has_double)
    _check_bool("int64", has_long)
    real = _dtype("default_float", given["default_float"], (dt.float64, dt.float32), has_double)
    integral = _dtype("default_int", given["default_int"], (dt.int64, dt.int32), has_long)
    doubled = real is dt.float64
    imaginary = _dtype("default_complex", given["default_complex"], (dt.complex128, dt.complex64), doubled)
    if not has_double and (real is dt.float64 or imaginary is dt.complex128):
        raise ArgumentValueError(
            "flags",
            "a default dtype is double, and float64 is False",
            (),
            "pass float64=True or default_float='float32'",
        )
    if not has_long and integral is dt.int64:
        raise ArgumentValueError(
            "flags",
            "the default integer dtype is int64, and int64 is False",
            (),
            "pass int64=True or default_int='int32'",
        )
    if dlpack is not None:
        numbers = isinstance(dlpack, Sequence) and all(type(part) is int and part >= 0 for part in dlpack)
        if not numbers or len(dlpack) != 2 or dlpack[0] not in tuple(DLDeviceType):
            accepts = "pass a device type and a device number: (2, 0)"
            raise ArgumentValueError(
                "flags", f"dlpack of the device {device!r} is {shown(dlpack)}", (), accepts
            )
        dlpack = (dlpack[0], dlpack[1])
    if (device == "cpu") and dlpack not in (None, (DLDeviceType.CPU, 0)):
        raise ArgumentValueError("flags", '"cpu" is the real device', (), "set dlpack for another device")
    return Simulated(real, integral, imaginary, has_double, has_long, dlpack)


def _dtype(parameter: str, value: object, allowed: tuple[DType, DType], wide: bool) -> DType:
    """Return a default dtype, wide or narrow: the given dtype, or the choice of `wide`."""
    if value is None:
        return allowed[0 if wide else 1]
    for dtype in allowed:
        if value is dtype or value == dtype.name:
            return dtype
    names = " or ".join(dtype.name for dtype in allowed)
    raise ArgumentValueError("flags", f"{parameter} is {shown(value)}", (), f"pass {names}")


# --- names: while a configuration is on, attribute access to the public modules is filtered

_lock = threading.Lock()
_open_count = 0


def _open() -> None:
    global _open_count
    with _lock:
        _open_count += 1
        set_current_devices(current_devices)
        for module in FILTERED:
            module.__class__ = Filtered


def _close() -> None:
    global _open_count
    with _lock:
        _open_count -= 1
        if _open_count == 0:
            set_current_devices(only_the_cpu)
            for module in FILTERED:
                module.__class__ = ModuleType


class Filtered(ModuleType):
    """A public module without the names that the test configuration hides."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") or name in ("__array_api_version__", "__array_namespace_info__"):
            configuration = current_configuration()
            if configuration is not None:
                if name == "__array_api_version__":
                    return configuration.api_version
                if reason := _reason(configuration, ModuleType.__getattribute__(self, "__name__"), name):
                    setting = f"stride0.testing.flags({reason[1]}) is on."
                    raise StrictAttributeError(name, "it is looked up in the namespace", reason[0], setting)
        # Not `super()`: another thread may end the last configuration, which changes the module's class back.
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        configuration = current_configuration()
        module = self.__name__
        names = list(ModuleType.__dir__(self))
        return (
            names
            if configuration is None
            else [name for name in names if not _reason(configuration, module, name)]
        )


def _since(name: str, version: str) -> str:
    """Return the version that added a name; "" if the standard does not have it."""
    if row := row_of(name, version):
        return row.since
    return COMPLEX_SINCE if name in DTYPES and name.startswith("complex") else EXTENSIONS.get(name, "")


def _reason(configuration: Configuration, module: str, name: str) -> tuple[str, str] | None:
    """Return why a name is hidden, and the flag that hides it; None if it is visible."""
    extension = module.partition(".")[2]
    full = f"{extension}.{name}" if extension and name not in SHARED else name
    since = _since(full, configuration.api_version) if not extension or full in ROWS else ""
    version = f'api_version="{configuration.api_version}"'
    if extension:
        since = max(since, EXTENSIONS[extension])
    if since > configuration.api_version:
        return f"in it since version {since}", version
    if name in EXTENSIONS and not extension and name not in configuration.extensions:
        return "Extensions: may be left out", f"extensions={configuration.extensions!r}"
    if configuration.strict_names and not name.startswith("_"):
        known = (
            full in ROWS
            if extension
            else name in names_of(configuration.api_version, configuration.extensions)
        )
        return None if known else ("it has no such name", "strict_names=True")
    return None
