"""Methods of arrays: functions of the namespace with the array as first argument, and some NumPy methods.

`method_table` lists them. Importing this module adds them to the array type. The standard does not define
them; `stride0.strict` hides them.
"""

from __future__ import annotations

import builtins
import math
import operator
from functools import cache
from typing import Any, cast

from stride0._base.devices import Device
from stride0._base.errors import ArgumentValueError, shown
from stride0._base.shapes import Axis
from stride0._chapters import (
    creation,
    data_types,
    elementwise,
    indexing,
    linear_algebra,
    manipulation,
    searching,
    sorting,
    statistical,
    utility,
)
from stride0._core.array.array import Array, reinterpret, set_attribute
from stride0._core.call.binding import intercepted
from stride0._core.call.checks import check_dtype, refuse_dtype
from stride0._core.call.methods import add_method
from stride0._core.exchange.exchange import asarray
from stride0._core.memory.dtype import DTypeLike, int64
from stride0._tables import methods as method_table
from stride0._tables import operations
from stride0._tables.numpy_methods import METHODS, Row, advice

CHAPTERS = (
    *(creation, data_types, elementwise, indexing, linear_algebra, manipulation, searching),
    *(sorting, statistical, utility),
)


# Methods that do more than pass the array to a function, implemented in `_core/call/methods.pyx`.


def conj(x: Array) -> Array:
    """Return the complex conjugate of each element; for a real array, the array itself."""


def conjugate(x: Array) -> Array:
    """Return the complex conjugate of each element; for a real array, the array itself."""


def copy(x: Array) -> Array:
    """Return a copy of the array, in the same memory order."""


def flatten(x: Array) -> Array:
    """Return a copy of the array with one axis, in C order."""


def ravel(x: Array) -> Array:
    """Return the array with one axis, in C order: a view if its memory allows."""


def item(x: Array, *index: int) -> bool | int | float | complex:
    """Return an element as a Python scalar.

    Parameters
    ----------
    *index : int
        An index for each axis, or one index into the flattened array; empty if the size is 1.

    Returns
    -------
    bool, int, float or complex
        The element.

    Raises
    ------
    ShapeError
        If no index is given and the size is not 1.
    OutOfBoundsError
        (An IndexError.) If the index is out of bounds.
    """


def permute_dims(x: Array, *axes: Any) -> Array:
    """Return a view with the axes in another order, given as one tuple or as separate arguments."""


def reshape(x: Array, *shape: Any, copy: bool | None = None) -> Array:
    """Return the array in another shape, given as a tuple or as separate arguments; a view if possible.

    Parameters
    ----------
    *shape : int or tuple of int
        The sizes; one size may be -1 and is inferred.
    copy : bool, optional
        True always copies, False never does.

    Returns
    -------
    Array
        The array in the new shape, with its elements in C order.

    Raises
    ------
    ShapeError
        If the number of elements differs.
    """


def squeeze(x: Array, axis: Axis = None) -> Array:
    """Return a view without axes of size 1: all of them, or the given axes."""


@intercepted
def tolist(x: Array) -> Any:
    """Return the elements as Python scalars, in lists nested as deep as there are axes."""


def transpose(x: Array, *axes: Any) -> Array:
    """Return a view with reversed axes, or in the order given as one tuple or as separate arguments."""


def view(x: Array, dtype: Any = None) -> Array:
    """Return a view of the array; with `dtype`, its bytes as elements of that dtype.

    Parameters
    ----------
    dtype : DType, optional
        If its item size differs from the array's, the size of the last axis, which must be contiguous,
        changes.

    Returns
    -------
    Array
        A view on the same memory.

    Raises
    ------
    ShapeError
        If the last axis is not contiguous, or its bytes are not a whole number of elements.
    DTypeError
        If `dtype` is bool and the array is not.
    """


# Methods that accept more than their functions: NumPy's arguments, or no axis.


def astype(x: Array, dtype: DTypeLike, *, copy: bool = True, device: Device | None = None) -> Array:
    """Return the elements cast to a dtype; `copy=False` returns the array itself if it has that dtype."""
    return data_types.astype(x, dtype, copy=copy, device=device)


def _cumulative(function: Any, x: Array, axis: int | None, dtype: DTypeLike | None, initial: bool) -> Array:
    if axis is None:
        x, axis = manipulation.reshape(x, (-1,)), 0
    return cast(Array, function(x, axis=axis, dtype=dtype, include_initial=initial))


def cumprod(
    x: Array, axis: int | None = None, *, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the cumulative products of the elements along an axis, or of the flattened array."""
    return _cumulative(statistical.cumulative_prod, x, axis, dtype, include_initial)


def cumsum(
    x: Array, axis: int | None = None, *, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the cumulative sums of the elements along an axis, or of the flattened array."""
    return _cumulative(statistical.cumulative_sum, x, axis, dtype, include_initial)


def round(x: Array, decimals: int = 0) -> Array:
    """Return the elements rounded to `decimals` decimals, halves to even, with NumPy's arithmetic."""
    places = operator.index(decimals)
    if places == 0 or (places > 0 and x.dtype.kind in ("signed integer", "unsigned integer")):
        return elementwise.round(x)
    if x.dtype.kind == "complex floating":
        real, imag = round(elementwise.real(x), places), round(elementwise.imag(x), places)
        # The sum of a real and an imaginary number would turn -0.0 into 0.0.
        parts = manipulation.stack((real, imag), axis=-1)
        return reinterpret(parts, x.dtype)[..., 0]
    if x.dtype.kind == "bool":
        return elementwise.round(x)
    # Repeated multiplication, as in NumPy; from 10**23 on it differs from the power.
    power = math.prod([10.0] * builtins.min(builtins.abs(places), 400))
    if places > 0:
        return elementwise.divide(elementwise.round(elementwise.multiply(x, power)), power)
    rounded = elementwise.multiply(elementwise.round(elementwise.divide(x, power)), power)
    return rounded if rounded.dtype is x.dtype else data_types.astype(rounded, x.dtype)


def _deviation(
    function: Any,
    x: Array,
    axis: Axis,
    dtype: DTypeLike | None,
    ddof: int | float | None,
    correction: int | float | None,
    keepdims: bool,
) -> Array:
    name = function.__name__
    if ddof is not None and correction is not None:
        raise ArgumentValueError(name, "ddof and correction name the same argument")
    less = next((number for number in (ddof, correction) if number is not None), 0.0)
    if dtype is not None:
        target = check_dtype(name, dtype)
        if target.kind != "real floating":
            refuse_dtype(name, target, "a real floating-point dtype", "the result")
        x = data_types.astype(x, target, copy=False)
    return cast(Array, function(x, axis=axis, correction=less, keepdims=keepdims))


def std(
    x: Array,
    axis: Axis = None,
    *,
    dtype: DTypeLike | None = None,
    ddof: int | float | None = None,
    correction: int | float | None = None,
    keepdims: bool = False,
) -> Array:
    """Return the standard deviation of the elements cast to `dtype`; `ddof` is NumPy's `correction`."""
    return _deviation(statistical.std, x, axis, dtype, ddof, correction, keepdims)


def take(x: Array, indices: Any, axis: int | None = None) -> Array:
    """Return elements at indices along an axis, or of the flattened array."""
    if not isinstance(indices, Array):
        indices = asarray(indices)
        if not indices.size:  # an empty list has no integer dtype
            indices = data_types.astype(indices, int64)
    if axis is None:
        x, axis = manipulation.reshape(x, (-1,)), 0
    return indexing.take(x, indices, axis=axis)


def var(
    x: Array,
    axis: Axis = None,
    *,
    dtype: DTypeLike | None = None,
    ddof: int | float | None = None,
    correction: int | float | None = None,
    keepdims: bool = False,
) -> Array:
    """Return the variance of the elements cast to `dtype`; `ddof` is NumPy's `correction`."""
    return _deviation(statistical.var, x, axis, dtype, ddof, correction, keepdims)


def _is_missing(value: object) -> bool:
    """Whether a value is NumPy's marker for a missing argument."""
    return type(value).__name__ == "_NoValueType"


def _with_numpy_keywords(name: str, function: Any) -> Any:
    """Wrap a method to accept NumPy's keyword arguments with neutral values and to refuse other values."""
    neutral = method_table.NEUTRAL.get(name, {})

    def call(x: Array, *args: Any, **named: Any) -> Any:
        for key in [key for key, value in named.items() if _is_missing(value)]:
            del named[key]
        for key, keyword in neutral.items():
            if key not in named:
                continue
            value = named.pop(key)
            if not any(value is one or (isinstance(one, str) and one == value) for one in keyword.values):
                raise ArgumentValueError(
                    name,
                    f"{key} is accepted only with its neutral value, as NumPy functions pass it",
                    [(key, shown(value))],
                    f"leave it out, or pass {' or '.join(map(repr, keyword.values))}",
                )
        return function(x, *args, **named)

    return call


def _method(name: str) -> Any:
    """Return a function that calls a method."""
    return lambda x, *args, **named: getattr(x, name)(*args, **named)


def _plain(function: Any) -> int:
    """Return the number of positional arguments of a function."""
    return int(getattr(function, "declaration", function).__code__.co_argcount)


def _takes(function: Any) -> set[str]:
    """Return the arguments that a function takes by name."""
    code = getattr(function, "declaration", function).__code__
    return set(code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount])


def _add(name: str, function: Any, plain: int, positional: tuple[str, ...]) -> None:
    wider = globals()[name] if name in method_table.WIDER else function
    # Without NumPy's keywords, the method itself runs.
    runs = _method(name) if name in method_table.OWN else wider
    keywords = frozenset(method_table.NEUTRAL.get(name, ())) | (_takes(wider) - _takes(function) - {"x"})
    add_method(
        name,
        function,
        plain,
        positional,
        _with_numpy_keywords(name, runs) if keywords else None,
        keywords,
        name in method_table.FLATTENING,
    )


class _Missing:
    """An attribute of NumPy arrays that stride0 arrays lack: the error says what to write instead.

    Not by `__getattr__`, because Python calls methods of types with a `__getattr__` more slowly.
    """

    def __init__(self, name: str, row: Row) -> None:
        self.name, self.__doc__ = name, advice(row)

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"'stride0.Array' object has no attribute {self.name!r}. {self.__doc__}")


def _names(x: Array) -> list[str]:
    """Return the attributes of the type, including additions by higher layers."""
    return [*_names_of_type(len(Array.__dict__))]


@cache
def _names_of_type(count: int) -> list[str]:
    """Return the sorted names; `count` is the number of names in the type's dictionary, for the cache."""
    return sorted({name for cls in Array.__mro__ for name in vars(cls)} - METHODS.keys())


def _add_all() -> None:
    functions = {name: getattr(chapter, name) for chapter in CHAPTERS for name in chapter.__all__}
    for name, (target, positional) in method_table.mirrored(operations.OPS).items():
        _add(name, functions[target], _plain(functions[target]), positional)
    for name in method_table.OWN:
        _add(name, globals()[name], -1, ())
    for name, row in METHODS.items():
        set_attribute(name, _Missing(name, row))
    set_attribute("__dir__", _names)


_add_all()
