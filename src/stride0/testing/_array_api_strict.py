"""`stride0.testing.as_array_api_strict`: a replacement for array-api-strict with its public interface."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

import stride0.testing._strict_metadata as metadata
from stride0._base.devices import Device, device_numbered, number_of
from stride0._base.environment import read_names
from stride0._base.errors import ArgumentValueError, DeviceError, StrictError, shown
from stride0._core.array.array import Array, set_attribute
from stride0._core.array.modes import set_interceptor
from stride0._core.exchange.exchange import namespace_for
from stride0._core.memory.dtype import DType
from stride0._modes.interceptors import enter, leave
from stride0._modes.strict import EXEMPT, MODULES, strict
from stride0._tables.standard import DRAFT, EXTENSIONS, NEWEST, ROWS, SHARED, VERSIONS, names_of
from stride0.testing._flags import flags
from stride0.testing._strict_errors import chosen, enter_as_theirs, leave_as_theirs
from stride0.testing._strict_inspection import StrictInspection

__all__ = ["as_array_api_strict"]

Flags = dict[str, Any]
NAME: Final = "array_api_strict"
# The release of array-api-strict whose interface this module has.
VERSION: Final = "2.6.1"
NEXT: Final = "2026.12"
"""array-api-strict's name for the draft of the standard."""
SAME: Final = {VERSIONS[0]: VERSIONS[1], NEXT: DRAFT}
"""Versions of array-api-strict that stride0 runs under another version, and that version."""
DEVICES: Final[dict[str, dict[str, Any]]] = {
    "cpu": {},
    "device1": {},
    "device2": {"default_float": "float32"},
    "no_float64": {"float64": False},
    "no_x64": {"float64": False, "int64": False},
}
CPU_NAME: Final = "CPU_DEVICE"
# Modules of array-api-strict from which users import names.
PARTS: Final = (
    *("_array_object", "_constants", "_creation_functions", "_data_type_functions", "_devices", "_dtypes"),
    *("_elementwise_functions", "_flags", "_indexing_functions", "_info", "_linear_algebra_functions"),
    *("_manipulation_functions", "_searching_functions", "_set_functions", "_sorting_functions"),
    *("_statistical_functions", "_utility_functions"),
)
DEFAULTS: Final[Flags] = {
    "api_version": NEWEST,
    "boolean_indexing": True,
    "data_dependent_shapes": True,
    "enabled_extensions": tuple(EXTENSIONS),
}


def as_array_api_strict(
    on: bool = True, *, modules: Collection[str] | None = None, exempt: Collection[str] = ()
) -> ModuleType:
    """
    Let ``import array_api_strict`` import stride0 in strict mode, with the interface of array-api-strict.

    Call it before anything imports ``array_api_strict``: at the top of the first ``conftest.py``, by
    ``pytest -p stride0.strict``, or by ``STRIDE0_AS_ARRAY_API_STRICT=1`` with ``pytest -p pytest_stride0``.

    Parameters
    ----------
    on : bool
        False removes the module and restores what it changed.
    modules, exempt : collection of str, optional
        The modules to check, and the modules to exempt, as for `stride0.strict`. By default the names in
        ``STRIDE0_STRICT_MODULES`` and ``STRIDE0_STRICT_EXEMPT``. If neither is set, all code is checked.

    Returns
    -------
    module
        The module that ``import array_api_strict`` imports now: the names of the standard, ``Array``,
        ``Device``, ``ALL_DEVICES``, ``ArrayAPIStrictFlags``, ``set_array_api_strict_flags``,
        ``get_array_api_strict_flags``, ``reset_array_api_strict_flags`` and ``__version__``. With
        ``on=False``, the removed module.

    Raises
    ------
    ArgumentValueError
        If array-api-strict itself has already been imported.
    ArgumentTypeError
        If `on` is not a bool, or `modules` or `exempt` is not a collection of names.

    Notes
    -----
    The flags, the five devices and the changed ``__array_namespace__`` apply to the whole process: the method
    returns the module for every array. Environment variables are read, too, such as
    ``ARRAY_API_STRICT_API_VERSION``.

    A refused call raises a `StrictError`, which is a TypeError. The error also has the type of the error that
    array-api-strict raises: IndexError for keys, RuntimeError for names that a flag turns off. A dtype
    that a device lacks raises a ValueError.

    Examples
    --------
    >>> xp.testing.as_array_api_strict().__name__
    'array_api_strict'
    >>> import array_api_strict
    >>> x = array_api_strict.ones((2, 3), device=array_api_strict.Device("no_float64"))
    >>> x.dtype, x.__array_namespace__() is array_api_strict
    (stride0.float32, True)
    >>> x[0]
    Traceback (most recent call last):
        ...
    stride0.testing._strict_errors.StrictIndexError: getitem: 1 index for an array of 2 axes
    ...
    >>> taken_away = xp.testing.as_array_api_strict(False)
    """
    found = sys.modules.get(NAME)
    if on is False:
        if isinstance(found, _Module):
            found._remove()
        return found or ModuleType(NAME)
    if isinstance(found, _Module):
        found._remove()
    elif found is not None:
        facts = [("module", shown(getattr(found, "__file__", NAME)))]
        accepts = "call as_array_api_strict() first in conftest.py, or run pytest -p stride0.strict"
        problem = "array_api_strict is already imported"
        raise ArgumentValueError("as_array_api_strict", problem, facts, accepts)
    if modules is None and not exempt:
        modules, exempt = read_names(MODULES) or None, read_names(EXEMPT)
    return _Module(strict(on, modules=modules, exempt=exempt))


class _Module(ModuleType):
    """The module `array_api_strict`, which is active until `_remove` is called."""

    def __init__(self, strictness: strict) -> None:
        super().__init__(NAME, "stride0 in strict mode, with the interface of array-api-strict.")
        self._strictness = strictness
        self._setting: flags | None = None
        self._settings: dict[tuple[Any, ...], flags] = {}
        self._namespace = vars(Array)["__array_namespace__"]
        self._state: Flags = dict(DEFAULTS)
        self.__spec__ = ModuleSpec(NAME, None)
        self._extensions = {name: self._extension(name) for name in EXTENSIONS}
        inner = vars(namespace_for(None))
        members = {name: inner[name] for name in names_of() if name in inner and name not in EXTENSIONS}
        del members["__array_api_version__"]
        members |= {"Device": _Device, "ArrayAPIStrictFlags": _flags_class(self)}
        members["__array_namespace_info__"] = self._inspection
        for function in (self.set, self.get, self.reset):
            members[f"{function.__name__}_array_api_strict_flags"] = function
        self._public = sorted({*members, "__array_api_version__", "__version__"})
        self.__dict__.update(members, Array=Array, __version__=VERSION)
        sys.modules[NAME] = self
        metadata.install(VERSION)
        set_interceptor(enter_as_theirs, leave_as_theirs)
        StrictError.choose = chosen
        set_attribute("__array_namespace__", lambda x, /, *, api_version=None: self._of(api_version))
        try:
            self._apply(_from_environment())
        except ValueError:
            self._remove()
            raise
        devices = tuple(device_numbered(number_of(name)) for name in DEVICES)
        self.__dict__.update(ALL_DEVICES=devices, CPU_DEVICE=devices[0])
        for part in PARTS:
            inside = sys.modules[f"{NAME}.{part}"] = ModuleType(f"{NAME}.{part}")
            inside.__dict__.update(self._shared())
            self.__dict__[part] = inside

    def _shared(self) -> dict[str, Any]:
        names = (*self._public, "ALL_DEVICES", "Array", "CPU_DEVICE")
        return {name: getattr(self, name) for name in names if name != "__array_api_version__"} | {
            "DType": DType
        }

    def _extension(self, extension: str) -> ModuleType:
        """Return an extension with the names of the standard only."""
        made = sys.modules[f"{NAME}._{extension}"] = ModuleType(f"{NAME}._{extension}")
        inner = vars(getattr(namespace_for(None), extension))
        names = {name.partition(".")[2] for name in ROWS if name.startswith(f"{extension}.")}
        if extension == "linalg":
            names |= {*SHARED}
        made.__dict__.update({name: inner[name] for name in names}, __all__=sorted(names))
        return made

    def _inspection(self) -> Any:
        """Return the inspection API, if the version of the standard has it."""
        return StrictInspection(lambda: str(self._state["api_version"]))

    def _remove(self) -> None:
        if self._setting is not None:
            self._setting.__exit__(None, None, None)
        metadata.uninstall()
        set_interceptor(enter, leave)
        StrictError.choose = None
        set_attribute("__array_namespace__", self._namespace)
        for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}._")]:
            del sys.modules[name]

    def _of(self, api_version: str | None) -> ModuleType:
        """Return the module; if a version is given, set it, like array-api-strict."""
        if api_version is not None:
            self.set(api_version=api_version)
        return self

    def _apply(self, wanted: Flags) -> None:
        if self._setting is not None and wanted == self._state:
            return
        version: str = wanted["api_version"]
        # Test suites set the same few flags thousands of times: cache the settings.
        setting = self._settings.get(key := tuple(wanted.values()))
        if setting is None:
            setting = self._settings[key] = flags(
                devices=DEVICES,
                api_version=SAME.get(version, version),
                boolean_indexing=wanted["boolean_indexing"],
                data_dependent_shapes=wanted["data_dependent_shapes"],
                extensions=wanted["enabled_extensions"],
                strict=self._strictness,
                everywhere=True,
            )
        if self._setting is not None:
            self._setting.__exit__(None, None, None)
        self._setting = setting
        setting.__enter__()
        self._state = wanted
        extensions = wanted["enabled_extensions"]
        self.__dict__["__array_api_version__"] = version
        self.__dict__["__all__"] = sorted({*self._public, *extensions})
        for name, extension in self._extensions.items():
            if name in extensions:
                self.__dict__[name] = extension
            else:
                self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name in EXTENSIONS:
            raise AttributeError(
                f"module {NAME!r} has no attribute {name!r}: add the extension to enabled_extensions"
            )
        raise AttributeError(f"module {NAME!r} has no attribute {name!r}")

    def set(
        self,
        *,
        api_version: str | None = None,
        boolean_indexing: bool | None = None,
        data_dependent_shapes: bool | None = None,
        enabled_extensions: Collection[str] | None = None,
    ) -> None:
        """Set flags; flags that are None do not change."""
        wanted = dict(self._state)
        if api_version is not None:
            _check_version(api_version)
            wanted["api_version"] = api_version
        if boolean_indexing is not None:
            wanted["boolean_indexing"] = boolean_indexing
        if data_dependent_shapes is not None:
            wanted["data_dependent_shapes"] = data_dependent_shapes
        version = wanted["api_version"]
        if enabled_extensions is not None:
            _check_extensions(enabled_extensions, version)
            wanted["enabled_extensions"] = tuple(enabled_extensions)
        else:
            kept = (name for name in wanted["enabled_extensions"] if EXTENSIONS[name] <= version)
            wanted["enabled_extensions"] = tuple(kept)
        self._apply(wanted)

    def get(self) -> Flags:
        """Return the flags."""
        return dict(self._state)

    def reset(self) -> None:
        """Set the flags to their defaults."""
        self._apply(dict(DEFAULTS))


def _check_version(version: object) -> None:
    if version == VERSIONS[0]:
        message = f"version {VERSIONS[0]} is treated as {VERSIONS[1]} without the extension fft"
        warnings.warn(message, UserWarning, stacklevel=4)
    elif version == NEXT:
        message = f"version {NEXT} is a draft: its names may change"
        warnings.warn(message, UserWarning, stacklevel=4)
    elif version not in VERSIONS:
        problem = f"api_version is {shown(version)}"
        raise ArgumentValueError(
            "set_array_api_strict_flags", problem, (), f"pass one of {', '.join((*VERSIONS, NEXT))}"
        )


def _check_extensions(names: Collection[str], version: str) -> None:
    for name in names:
        if name not in EXTENSIONS:
            problem = f"there is no extension {shown(name)}"
            raise ArgumentValueError("set_array_api_strict_flags", problem, (), "pass linalg or fft")
        if EXTENSIONS[name] > version:
            problem = f"the extension {name} came with version {EXTENSIONS[name]}"
            raise ArgumentValueError(
                "set_array_api_strict_flags", problem, (), f'pass api_version="{EXTENSIONS[name]}" or later'
            )


def _from_environment() -> Flags:
    """Return the flags set by array-api-strict's environment variables."""
    wanted = dict(DEFAULTS)
    for flag in DEFAULTS:
        text = os.environ.get(f"ARRAY_API_STRICT_{flag.upper()}")
        if text is None:
            continue
        if flag == "enabled_extensions":
            wanted[flag] = tuple(name for name in text.split(",") if name)
        else:
            wanted[flag] = text if flag == "api_version" else text.lower() == "true"
    _check_version(wanted["api_version"])
    version = wanted["api_version"]
    wanted["enabled_extensions"] = tuple(
        n for n in wanted["enabled_extensions"] if EXTENSIONS.get(n, "") <= version
    )
    _check_extensions(wanted["enabled_extensions"], version)
    return wanted


def _flags_class(module: _Module) -> type:
    """Return the class `ArrayAPIStrictFlags` for a module."""

    class ArrayAPIStrictFlags:
        """Sets flags for a ``with`` block; the flags apply to the process."""

        def __init__(
            self,
            *,
            api_version: str | None = None,
            boolean_indexing: bool | None = None,
            data_dependent_shapes: bool | None = None,
            enabled_extensions: Collection[str] | None = None,
        ) -> None:
            self._wanted: Flags = {
                "api_version": api_version,
                "boolean_indexing": boolean_indexing,
                "data_dependent_shapes": data_dependent_shapes,
                "enabled_extensions": enabled_extensions,
            }
            # As in array-api-strict, each block restores the flags that were set when this object was made.
            self._before = module.get()

        def __enter__(self) -> None:
            module.set(**self._wanted)

        def __exit__(self, *error: object) -> None:
            module._apply(self._before)

    return ArrayAPIStrictFlags


class _DeviceType(type):
    """Makes `Device` accept array-api-strict's device names and return devices of stride0."""

    def __call__(cls, device: str = CPU_NAME) -> Device:
        if device == CPU_NAME or (device != "cpu" and device in DEVICES):
            return Device("cpu" if device == CPU_NAME else device)
        names = ", ".join((CPU_NAME, *list(DEVICES)[1:]))
        raise DeviceError("Device", f"unknown device {shown(device)}", (), f"pass one of {names}")

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Device)


class _Device(metaclass=_DeviceType):
    """A device, created from a device name of array-api-strict."""
