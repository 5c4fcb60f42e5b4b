"""Methods of arrays: functions of the namespace with the array as first argument, and some of NumPy's.

`method_table` lists them. Importing this module adds them to the array type. The standard defines none of
them; `stride0.strict` hides them.
"""

from __future__ import annotations

import builtins
import math
import operator
from functools import cache
from typing import Any, cast

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


# Methods that are more than a function with the array in front, implemented in `_core/call/methods.pyx`.


def conj(x: Array) -> Array:
    """Return the complex conjugate of each element; of a real array, the array itself."""


def conjugate(x: Array) -> Array:
    """Return the complex conjugate of each element; of a real array, the array itself."""


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
        An index for each axis, or one into the flattened array; none if there is just one element.

    Returns
    -------
    bool, int, float or complex
        The element.

    Raises
    ------
    ShapeError
        If no index is given and there is not just one element.
    OutOfBoundsError
        (An IndexError.) If there is no such element.
    """


def permute_dims(x: Array, *axes: Any) -> Array:
    """Return the array with its axes in another order, given as one tuple or one by one: a view."""


def reshape(x: Array, *shape: Any, copy: bool | None = None) -> Array:
    """Return the elements in another shape, given as one tuple or one by one; a view if memory allows.

    Parameters
    ----------
    *shape : int or tuple of int
        The sizes; one may be -1, which is worked out.
    copy : bool, optional
        True always copies, False never does.

    Returns
    -------
    Array
        Of that shape, in C order of the elements.

    Raises
    ------
    ShapeError
        If the number of elements differs.
    """


def squeeze(x: Array, axis: Axis = None) -> Array:
    """Return the array without axes of size 1, all of them or those named: a view."""


@intercepted
def tolist(x: Array) -> Any:
    """Return the elements as Python scalars, in lists nested as deep as there are axes."""


def transpose(x: Array, *axes: Any) -> Array:
    """Return the array with its axes reversed, or in the order given as one tuple or one by one: a view."""


def view(x: Array, dtype: Any = None) -> Array:
    """Return a view of the array; with `dtype`, its bytes as elements of that dtype.

    Parameters
    ----------
    dtype : DType, optional
        Of an element size other than the array's: the last axis, which has to be contiguous, changes its
        size.

    Returns
    -------
    Array
        On the same memory.

    Raises
    ------
    ShapeError
        If the last axis is not contiguous, or its bytes are no whole number of elements.
    DTypeError
        If `dtype` is bool and the array is not.
    """


# Methods that take more than their functions: arguments of NumPy's, or no axis.


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
    """Return the elements rounded to that many decimals, halves to even: in the arithmetic of NumPy."""
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
        raise ArgumentValueError(name, "ddof and correction are two names of one argument")
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
    """Whether a value is NumPy's mark for an argument that was not given."""
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
                    f"{key} is taken only with a neutral value, as NumPy's functions pass it",
                    [(key, shown(value))],
                    f"Leave it out, or give {' or '.join(map(repr, keyword.values))}.",
                )
        return function(x, *args, **named)

    return call


def _method(name: str) -> Any:
    """Return a function that calls a method."""
    return lambda x, *args, **named: getattr(x, name)(*args, **named)


def _plain(function: Any) -> int:
    """Return how many arguments a function takes by position."""
    return int(getattr(function, "declaration", function).__code__.co_argcount)


def _takes(function: Any) -> set[str]:
    code = getattr(function, "declaration", function).__code__
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _add(name: str, function: Any, plain: int, positional: tuple[str, ...]) -> None:
    wider = globals()[name] if name in method_table.WIDER else function
    # What an own method does without NumPy's keywords does the method.
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
    """An attribute of NumPy arrays that arrays lack: who asks for it learns what to write instead.

    Not a `__getattr__` of the type: Python calls methods of types that have one more slowly.
    """

    def __init__(self, name: str, row: Row) -> None:
        self.name, self.__doc__ = name, advice(row)

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"'stride0.Array' object has no attribute {self.name!r}. {self.__doc__}")


def _names(x: Array) -> list[str]:
    """Return the names of attributes that there are: those of the type, to which higher layers add some."""
    return [*_names_of_type(len(Array.__dict__))]


@cache
def _names_of_type(count: int) -> list[str]:
    """Return them in order, given how many the type has itself."""
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
