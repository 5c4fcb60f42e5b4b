"""Checks of arguments for all chapters, in Python: conversion of unusual types, and errors.

See Note [Declarations].
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any, Final

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CastError,
    ForeignArrayError,
    RangeError,
    ShapeError,
    shown,
)
from stride0._core.array.array import Array
from stride0._core.elementwise.elementwise import check_cast as check_cast
from stride0._core.elementwise.elementwise import is_numpy_scalar
from stride0._core.elementwise.elementwise import refuse_dtype as refuse_dtype
from stride0._core.exchange.exchange import asarray, dtype_argument
from stride0._core.exchange.exchange import to_scalar as to_scalar
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, known_dtype
from stride0._core.memory.dtype import promote_all as promote_all

Scalar = bool | int | float | complex

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("bool",),
    "signed integer": ("signed integer",),
    "unsigned integer": ("unsigned integer",),
    "integral": ("signed integer", "unsigned integer"),
    "real floating": ("real floating",),
    "complex floating": ("complex floating",),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}
"""The standard's names of dtype kinds, and the kinds that each name includes."""


def check_array(operation: str, x: object, name: str = "x") -> Array:
    """Return `x` if it is a stride0 array, else raise ForeignArrayError."""
    # Not `isinstance`, because an object may define `__class__`.
    if type(x) is Array:
        return x
    raise ForeignArrayError(
        operation,
        f"{name} must be a stride0 array, not {type_name(x)}",
        (),
        "write stride0.asarray(x)",
    )


def check_function(operation: str, f: object, name: str = "f") -> None:
    """Raise ArgumentTypeError unless `f` can be called."""
    if not callable(f):
        raise ArgumentTypeError(
            operation,
            f"{name} must be a function, not {type_name(f)}",
            [(name, shown(f))],
            "pass a function or another callable",
        )


def check_sequence(operation: str, name: str, value: object, of: str) -> list[Any]:
    """Return an iterable as a list; refuse strings."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return list(value)
    raise ArgumentTypeError(
        operation, f"{name} must be a tuple or a list of {of}, not {type_name(value)}", [(name, shown(value))]
    )


def check_arrays(operation: str, arrays: object) -> list[Array]:
    """Return a tuple or list of arrays as a list."""
    if not isinstance(arrays, (tuple, list)):
        raise ArgumentTypeError(
            operation, f"arrays must be a tuple or a list of arrays, not {type_name(arrays)}"
        )
    if not arrays:
        raise ArgumentValueError(operation, "at least one array is needed")
    return [check_array(operation, x, f"arrays[{i}]") for i, x in enumerate(arrays)]


def check_dtype(operation: str, dtype: object, default: DType | None = None) -> DType:
    """Return a ``dtype=`` argument; None gives `default`, if it is not None."""
    return default if dtype is None and default is not None else dtype_argument(operation, dtype)


def check_kind(operation: str, x: Array, kind: str, wanted: str = "") -> None:
    """Raise DTypeError unless the dtype of `x` is of `kind`, one of :data:`KINDS`."""
    if x.dtype.kind not in KINDS[kind]:
        refuse_dtype(operation, x.dtype, wanted or f"a {kind} dtype")


def check_bool(operation: str, name: str, value: object) -> bool:
    """Return a flag; refuse other objects than booleans."""
    if isinstance(value, bool):
        return value
    if _dtype_name(value) == "bool" and getattr(value, "shape", None) == ():
        return bool(value)
    raise ArgumentTypeError(operation, f"{name} must be a bool, not {type_name(value)}")


def as_scalar(operation: str, name: str, value: object) -> Scalar:
    """Return a number as a Python scalar: Python's own, NumPy scalars, and 0-d stride0 arrays."""
    if isinstance(value, bool):
        return value
    # Instances of subclasses (numpy.float64, enums) become plain numbers.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, complex):
        return complex(value)
    if type(value) is Array:
        if value.ndim == 0:
            return to_scalar(value)
    elif _dtype_name(value) == "bool" and getattr(value, "shape", None) == ():
        return bool(value)
    elif isinstance(value, numbers.Integral):
        return int(value)
    elif isinstance(value, numbers.Real):
        return float(value)
    elif isinstance(value, numbers.Complex):
        return complex(value)
    elif is_numpy_scalar(value):
        return to_scalar(asarray(value))
    described = f"an array of shape {value.shape}" if type(value) is Array else type_name(value)
    raise ArgumentTypeError(operation, f"{name} must be a number or a 0-d array, not {described}")


def as_real(operation: str, name: str, value: object) -> float:
    """Return a Python number, NumPy scalar or 0-d array as a float; refuse complex numbers and bools."""
    if not isinstance(value, bool):
        try:
            scalar = as_scalar(operation, name, value)
        except ArgumentTypeError:
            scalar = True
        if not isinstance(scalar, (bool, complex)):
            return as_float(operation, scalar)
    raise ArgumentTypeError(
        operation, f"{name} must be a real number, not {type_name(value)}", [(name, shown(value))]
    )


def dtype_of(operation: str, x: object, name: str = "the argument") -> DType:
    """Return a dtype, or the dtype of an array."""
    # Not `isinstance`, as in `check_array`.
    if type(x) is DType:
        return x
    if type(x) is Array:
        return x.dtype
    if known_dtype(x) is not None:
        return dtype_argument(operation, x)
    raise ForeignArrayError(operation, f"{name} must be a dtype or an array of stride0, not {type_name(x)}")


def component_dtype(dtype: DType) -> DType:
    """Return the dtype of the components of a complex dtype; other dtypes unchanged."""
    return {dt.complex64: dt.float32, dt.complex128: dt.float64}.get(dtype, dtype)


def promotes(dtype1: DType, dtype2: DType) -> bool:
    """Tell whether the standard defines the promotion of two dtypes."""
    if dtype1 is dtype2:
        return True
    if dtype1.kind in KINDS["integral"] and dtype2.kind in KINDS["integral"]:
        # No dtype holds both uint64 and a signed integer.
        return dtype1.kind == dtype2.kind or dt.uint64 not in (dtype1, dtype2)
    floating = ("real floating", "complex floating")
    return dtype1.kind in floating and dtype2.kind in floating


def kinds_named(operation: str, kind: object) -> tuple[str, ...]:
    """Return the dtype kinds that one of the standard's names includes."""
    if not isinstance(kind, str):
        raise ArgumentTypeError(
            operation, f"kind must be a str, a dtype or a tuple of them, not {type_name(kind)}"
        )
    if kind not in KINDS:
        raise ArgumentValueError(
            operation, f"unknown kind {shown(kind)}", accepts="pass one of " + ", ".join(map(repr, KINDS))
        )
    return KINDS[kind]


def type_name(x: object) -> str:
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _dtype_name(x: object) -> str:
    return str(getattr(getattr(x, "dtype", None), "name", ""))


def check_fill(op: str, name: str, value: object, dtype: object) -> tuple[Array | Scalar, DType]:
    """Return a value to fill an array with, and the dtype of that array."""
    if type(value) is Array:
        if value.ndim:
            raise ShapeError(
                op,
                f"{name} must be one number",
                [(name, f"array of shape {value.shape}")],
                "pass a Python number or a 0-d array",
            )
        target = check_dtype(op, dtype, value.dtype)
        check_cast(op, value.dtype, target)
        return value, target
    scalar = as_scalar(op, name, value)
    target = check_dtype(op, dtype, _default_dtype(scalar))
    if isinstance(scalar, complex) and target.kind not in ("complex floating", "bool"):
        raise CastError(op, f"cannot cast a complex number to {target.name}", [(name, shown(scalar))])
    return scalar, target


def _default_dtype(scalar: Scalar) -> DType:
    if isinstance(scalar, bool):
        return dt.bool
    if isinstance(scalar, int):
        return dt.int64
    return dt.float64 if isinstance(scalar, float) else dt.complex128


def as_float(op: str, number: int | float) -> float:
    """Return a number as a float; RangeError if an integer is too large."""
    try:
        return float(number)
    except OverflowError:
        raise RangeError(op, f"an integer of {number.bit_length()} bits does not fit float64") from None  # type: ignore[union-attr]


def limits_of(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest number of an integer dtype."""
    bits = 8 * dtype.itemsize
    if dtype.kind == "signed integer":
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1
