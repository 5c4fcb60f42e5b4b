"""Test configurations: behaviour of the library in a test, implemented by checks of calls.

Functions and kernels do not know of configurations: the interceptor checks the operands before a call and
converts the result after it, Note [Interceptors].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple, NoReturn

from stride0._base.devices import DLDeviceType, check_device, device_numbered
from stride0._base.errors import (
    ArgumentValueError,
    BatchingError,
    DeviceError,
    LazyError,
    RangeError,
    StrictError,
    WriteError,
)
from stride0._chapters.data_types import astype, iinfo_object
from stride0._core.array.array import Array, shares_storage
from stride0._core.array.modes import CONFIGURATION
from stride0._core.call.checks import KINDS, promotes
from stride0._core.exchange.exchange import asarray, device_number, put_on
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, known_dtype, promote
from stride0._core.reduce.reduce import reduce_whole
from stride0._modes.orders import reordered
from stride0._modes.simulated import Simulated
from stride0._tables.standard import (
    COMPLEX_SINCE,
    DATA_DEPENDENT,
    DRAFT,
    EXTENSIONS,
    METHODS_LATER,
    NEWEST,
    ROWS,
    VERSIONS,
    row_of,
)

__all__ = ["Call", "Configuration", "current_configuration", "current_devices"]

# Functions with results of the default index dtype.
INDICES = frozenset(
    {
        *("argmax", "argmin", "argpartition", "argsort", "count_nonzero", "nonzero", "searchsorted", "top_k"),
        *("unique_all", "unique_counts", "unique_inverse"),
    }
)
# Functions whose results are of the default dtype, or a wider one, before version 2023.12.
SUMS = ("sum", "prod", "linalg.trace")
# Functions whose result need not be on the device of their operand.
MOVING = ("asarray", "astype", "from_dlpack")
# Forms of arguments that a later version added, by their description in messages.
FORMS: dict[str, Callable[[Any], bool]] = {
    "is a tuple": lambda value: isinstance(value, tuple),
    "holds a negative axis": lambda value: isinstance(value, tuple) and any(item < 0 for item in value),
    "is of a complex dtype": lambda value: _is_of(value, "complex floating"),
    "is of a real dtype": lambda value: isinstance(value, Array) and not _is_of(value, "complex floating"),
    "is a Python scalar": lambda values: any(isinstance(x, (bool, int, float, complex)) for x in values),
}
DOUBLE = (dt.float64, dt.complex128)
# Intercepted methods that return Python numbers.
VALUES = ("tolist",)


# Sentences of the standard, shortened.
LAZY = "Lazy vs. eager execution: bool, int, float, complex and index of an array may raise a ValueError"
IS_LAZY = "stride0.testing.flags(lazy=True) is on."
DEVICES = "Device support: operands are on one device; nothing is moved implicitly"
MUTATION = "Copy-view behavior and mutability: some libraries cannot write to an array"


class Configuration(NamedTuple):
    """The settings of `stride0.testing.flags`; the fields are its parameters."""

    devices: tuple[str, ...]
    # By device number, in the same order.
    simulated: Mapping[int, Simulated]
    writable: bool = True
    views: bool = True
    lazy: bool = False
    shuffled: bool = False
    data_dependent_shapes: bool = True
    boolean_indexing: bool = True
    api_version: str = NEWEST
    extensions: tuple[str, ...] = tuple(EXTENSIONS)
    strict_names: bool = False
    # Devices by number whose results stay as stride0 computes them.
    unchanged: frozenset[int] = frozenset()

    def check_version(self, version: object) -> None:
        """Refuse a version of the standard that is newer than the configuration's."""
        if version in (*VERSIONS, DRAFT) and str(version) > self.api_version:
            accepts = f"pass one of {', '.join(v for v in VERSIONS if v <= self.api_version)}"
            problem = f"version {version} is newer than the test configuration"
            raise ArgumentValueError("__array_namespace__", problem, (), accepts)

    def device_of(self, number: int) -> Simulated:
        """Return the properties of a device by number (defaults for a device of another configuration)."""
        return self.simulated.get(number) or next(iter(self.simulated.values()))

    def dlpack_device(self, number: int) -> tuple[DLDeviceType, int]:
        """Return DLPack's type and number for a device number."""
        return self.device_of(number).dlpack_device(number)

    def refuse_value(self, operation: str) -> NoReturn:
        """Raise the error of an operation that reads the value of a lazy array."""
        raise LazyError(operation, "the call reads the value of a lazy array", LAZY, IS_LAZY)

    def copied(self, view: Array) -> Array:
        """Return a copy of a view, on its device."""
        return asarray(view, copy=True)

    # --- before a call

    def enter(self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Check a call of the user's code; returns the argument for `leave`."""
        self._check_function(call_kind, name, args, kwargs)
        if not self.writable and _writes(call_kind, name, args, kwargs):
            problem = "arrays are read-only in this test configuration"
            raise WriteError(name, problem, [("standard", MUTATION)], "build a new array instead")
        arrays: list[Array] = []
        for value in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(value, Array):
                arrays.append(value)
            elif isinstance(value, (tuple, list, dict)):
                arrays.extend(_arrays(value))
        number = -1
        for x in arrays:
            if number not in (-1, device_number(x)):
                self._refuse_devices(name, arrays)
            number = device_number(x)
        device = kwargs.get("device")
        if device is not None:
            number = check_device(name, device).number
        elif not arrays:
            number = next(iter(self.simulated))
        return Call(name, arrays, number, args, kwargs)

    def _refuse_devices(self, name: str, arrays: list[Array]) -> NoReturn:
        facts = [(f"array {k + 1}", repr(x.device)) for k, x in enumerate(arrays)]
        problem = "the arrays are on different devices"
        accepts = "write x.to_device(device) to move an array"
        raise DeviceError(name, problem, [*facts, ("standard", DEVICES)], accepts)

    def _check_function(
        self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Refuse what this configuration does not have."""
        restricted = not (self.boolean_indexing and self.data_dependent_shapes)
        masked = restricted and call_kind in ("getitem", "setitem") and _has_mask(args[1])
        if masked and not self.boolean_indexing:
            raise self._missing(
                name, "a mask as index", "Boolean array indexing: may be left out", "boolean_indexing"
            )
        with_counts = name == "repeat" and len(args) > 1 and isinstance(args[1], Array)
        with_mask = masked and call_kind == "getitem"
        if not self.data_dependent_shapes and (with_mask or with_counts or name in DATA_DEPENDENT):
            sentence = "Data-dependent output shapes: a library may leave such functions out"
            fact = "the shape of the result depends on values"
            if self.lazy:
                raise LazyError(name, fact, sentence, IS_LAZY)
            raise self._missing(name, fact, sentence, "data_dependent_shapes")
        if self.lazy:
            self._check_values(call_kind, name, args, kwargs)
        extension = name.partition(".")[0] if "." in name else ""
        if extension in EXTENSIONS and extension not in self.extensions:
            raise self._missing(
                name, f"the extension {extension}", "Extensions: may be left out", "extensions"
            )
        if self.api_version < NEWEST:
            self._check_since(call_kind, name, args, kwargs)

    def _check_values(self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse arrays where a call needs a Python number: as sizes, axes and bounds, and in slices."""
        if call_kind in ("getitem", "setitem"):
            items = args[1] if isinstance(args[1], tuple) else (args[1],)
            slices = [item for item in items if isinstance(item, slice)]
            needed: Any = [part for item in slices for part in (item.start, item.stop, item.step)]
        elif name in VALUES:
            needed = args[:1]
        else:
            row = ROWS.get(name)
            if row is None or call_kind != "function" or not row.parameters:
                return
            given = {**dict(zip(row.parameters, args, strict=False)), **kwargs}
            free = {*row.arrays, *(p for function, p in ELEMENTS | TYPES if function == name)}
            needed = [value for parameter, value in given.items() if parameter not in free]
        for _ in _arrays(needed):
            self.refuse_value(name)

    def _check_since(self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for x in _arrays((args, kwargs)):
            self._check_dtype(name, "an operand", x.dtype)
        row = row_of(name, self.api_version)
        indices = [x for x in _arrays(args[1]) if x.ndim] if call_kind == "getitem" else []
        if self.api_version < "2024.12" and any(x.dtype.kind in KINDS["integral"] for x in indices):
            raise self._newer(name, "an array of indices", "2024.12")
        mixed = call_kind == "operator" and complex in map(type, args)
        if mixed and self.api_version < "2024.12" and any(_is_of(x, "real floating") for x in args):
            raise self._newer(name, "a Python complex for a real array", "2024.12")
        if row is None or call_kind != "function":
            return
        if row.since > self.api_version:
            raise self._newer(name, "the function is called", row.since)
        given = {"": args, **dict(zip(row.parameters, args, strict=False)), **kwargs}
        for parameter, since in row.later.items():
            if since > self.api_version and given.get(parameter) is not None:
                raise self._newer(name, f"{parameter} is given", since)
        for parameter, (form, since) in row.wider.items():
            if since > self.api_version and FORMS[form](given.get(parameter)):
                raise self._newer(name, f"{parameter or 'an argument'} {form}", since)
        if row.scalars_since > self.api_version:
            for parameter in row.scalars:
                if isinstance(given.get(parameter), (bool, int, float, complex)):
                    raise self._newer(name, f"{parameter} is a Python scalar", row.scalars_since)

    def _check_dtype(self, name: str, what: str, dtype: DType) -> None:
        """Refuse dtypes that an older version of the standard does not have."""
        if self.api_version < COMPLEX_SINCE and dtype.kind == "complex floating":
            raise self._newer(name, f"{what} is of dtype {dtype.name}", COMPLEX_SINCE)

    def check_method(self, name: str, given: dict[str, Any]) -> None:
        """Refuse arguments of a method of arrays that are newer than the configuration's version."""
        for parameter, since in METHODS_LATER[name].items():
            if since > self.api_version and given[parameter] is not None:
                raise self._newer(name, f"{parameter} is given", since)

    def _missing(self, name: str, fact: str, sentence: str, flag: str) -> StrictError:
        shown = {"extensions": self.extensions}.get(flag, False)
        return StrictError(name, fact, sentence, f"stride0.testing.flags({flag}={shown!r}) is on.")

    def _newer(self, name: str, fact: str, since: str) -> StrictError:
        setting = f'stride0.testing.flags(api_version="{self.api_version}") is on.'
        return StrictError(name, fact, f"in it since version {since}", setting)

    # --- after a call

    def leave(self, call: Call, out: Any) -> Any:
        """Return the result that this configuration would have computed."""
        if call.number in self.unchanged and isinstance(out, Array) and device_number(out) == call.number:
            return out
        if self.shuffled:
            out = reordered(call.name, call.args, call.kwargs, out)
        if isinstance(out, Array):
            return self._result(call, out)
        if isinstance(out, (tuple, list)) and any(isinstance(x, Array) for x in out):
            items = [self._result(call, x) if isinstance(x, Array) else x for x in out]
            return type(out)(*items) if hasattr(out, "_fields") else type(out)(items)
        if isinstance(out, DType) and call.name == "result_type":
            return self._result_dtype(call, out)
        return out

    def _result(self, call: Call, out: Array) -> Array:
        target = self._result_dtype(call, out.dtype)
        if target is not out.dtype:
            if target.kind in KINDS["integral"]:
                _check_range(call.name, out, target)
            out = astype(out, target)
        self._check_dtype(call.name, "the result", out.dtype)
        self.device_of(call.number).check(call.name, out.dtype, device_numbered(call.number)._name)
        if not self.views and call.is_view(out):
            out = asarray(out, copy=True)
        if device_number(out) != call.number:
            if call.shares(out):
                if call.kwargs.get("copy") is False and call.name != "astype":
                    problem = f"copy=False, and the array is on the device {out.device.name!r}"
                    raise ArgumentValueError(call.name, problem, (), "pass copy=None")
                # An ordinary call, so that the tape records it and the copy is on the array's device.
                out = asarray(out, copy=True)
            put_on(out, call.number)
        return out

    def _result_dtype(self, call: Call, found: DType) -> DType:
        """Return the dtype of a result, given its dtype with stride0's defaults."""
        own = self.device_of(call.number)
        if self.api_version < "2023.12" and call.name in SUMS and not call.names_dtype():
            widest = {"real floating": own.real, "complex floating": own.complex}.get(found.kind, found)
            found = promote(found, widest)
        if found in DOUBLE:
            default = own.real if found is dt.float64 else own.complex
            wide: tuple[DType, ...] = DOUBLE
        elif found is dt.int64:
            default, wide = own.indexing if call.name in INDICES else own.integral, (dt.int64,)
        elif found is dt.uint64:
            default, wide = own.unsigned, (dt.uint64,)
        else:
            return found
        return found if default is found or call.mentions(wide) else default


class Call:
    """A call: its operands, its arguments and the device of its result."""

    def __init__(
        self, name: str, arrays: list[Array], number: int, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.name = name
        self.arrays = arrays
        self.number = number
        self.args = args
        self.kwargs = kwargs

    def shares(self, out: Array) -> bool:
        """Tell whether a result may share memory with an operand, so that its device must not be changed."""
        foreign = self.name in MOVING and not isinstance(self.args[0], Array)
        return foreign or any(shares_storage(out, x) for x in self.arrays)

    def is_view(self, out: Array) -> bool:
        """Tell whether a result is a view, of a function that may return either a view or a copy."""
        # Functions in MOVING return the array itself if possible; functions of `strided` are for views.
        if self.kwargs.get("copy") is False or self.name in MOVING or self.name.startswith("strided."):
            return False
        try:
            return self.shares(out)
        except BatchingError:
            return False  # within `autograd.vmap`: batched arrays have no memory

    def mentions(self, dtypes: tuple[DType, ...]) -> bool:
        """Tell whether an operand has one of the dtypes, or the caller named one; if not, it is a default."""
        if self.names_dtype() or any(x.dtype in dtypes for x in self.arrays):
            return True
        # In the standard int8 and uint32 promote to int64, which is not a default either.
        operands = {x.dtype for x in self.arrays} | {x for x in self.args if isinstance(x, DType)}
        if any(promotes(a, b) and promote(a, b) in dtypes for a, b in combinations(operands, 2)):
            return True
        # Arrays of other libraries have their own dtypes.
        return self.name == "from_dlpack" or any(_has_dtype(x, dtypes) for x in self.data())

    def names_dtype(self) -> bool:
        """Tell whether the caller named a dtype for the result."""
        positional = ROWS[self.name].parameters if self.name in ROWS else ()
        place = positional.index("dtype") if "dtype" in positional else len(self.args)
        given = self.args[place] if place < len(self.args) else self.kwargs.get("dtype")
        return given is not None

    def data(self) -> Iterator[Any]:
        """Yield the arguments that hold elements; sizes and axes do not."""
        row = ROWS.get(self.name)
        if row is None or not row.parameters:
            yield from self.args
            return
        for parameter, value in (*zip(row.parameters, self.args, strict=False), *self.kwargs.items()):
            if parameter in row.arrays or (self.name, parameter) in ELEMENTS:
                yield value


# Functions that write to their first array.
WRITES = frozenset({"put_along_axis", "random.shuffle"})
# Parameters that hold elements and need not be arrays.
ELEMENTS = frozenset({("asarray", "obj"), ("full", "fill_value"), ("full_like", "fill_value")})
# Parameters that take arrays but only read their dtype, or pass their memory on.
TYPES = frozenset({("can_cast", "from_"), ("finfo", "type"), ("iinfo", "type"), ("from_dlpack", "x")})


def _has_dtype(value: Any, dtypes: tuple[DType, ...]) -> bool:
    """Tell whether a value, or an item of a sequence, has one of the dtypes."""
    if isinstance(value, (list, tuple)):
        return any(_has_dtype(item, dtypes) for item in value)
    if isinstance(value, (DType, type, str)):
        return known_dtype(value) in dtypes
    if type(value) in (bool, int, float, complex):
        return False
    if type(value).__module__.partition(".")[0] in ("stride0", "numpy"):
        return known_dtype(getattr(value, "dtype", value)) in dtypes
    return _exports_dtype(value)


def _exports_dtype(value: Any) -> bool:
    """Tell whether a value exports memory with a dtype, which becomes the dtype of the result."""
    try:
        memoryview(value)
    except (TypeError, ValueError):
        return hasattr(value, "dtype")
    return True


def _is_of(value: Any, kind: str) -> bool:
    return isinstance(value, Array) and value.dtype.kind == kind


def _has_mask(key: Any) -> bool:
    """Tell whether a key is or contains a mask, in any form that indexing accepts."""
    return any(_is_mask(item) for item in (key if isinstance(key, tuple) else (key,)))


def _is_mask(item: Any) -> bool:
    if isinstance(item, (list, tuple)):
        # A sequence is a mask if all its items are.
        return len(item) > 0 and all(_is_mask(part) for part in item)
    return isinstance(item, bool) or str(getattr(item, "dtype", "")).endswith("bool")


def _arrays(value: Any) -> Iterator[Array]:
    """Yield the arrays among arguments, also in sequences and keys."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)


def _writes(call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether a call writes into an array of the caller."""
    if name == "nan_to_num":
        return (args[1] if len(args) > 1 else kwargs.get("copy", True)) is False
    return call_kind in ("in-place", "setitem") or name in WRITES or isinstance(kwargs.get("out"), Array)


def _check_range(name: str, x: Array, dtype: DType) -> None:
    """Refuse integers that do not fit the default integer dtype."""
    limits = iinfo_object(dtype)
    for extreme in ("min", "max") if x.size else ():
        value = int(reduce_whole(extreme, x))
        if not limits.min <= value <= limits.max:
            raise RangeError(
                name, f"{value} does not fit {dtype.name}, the default dtype", (), "pass dtype=stride0.int64"
            )


def current_configuration() -> Configuration | None:
    """Return the configuration of this context."""
    found: Configuration | None = CONFIGURATION.current()
    return found


def current_devices() -> tuple[str, ...]:
    """Return the names of the devices of this context."""
    configuration = current_configuration()
    return ("cpu",) if configuration is None else configuration.devices
