"""Methods of arrays: functions of the namespace with the array as first argument, and some of NumPy's.

`method_table` lists them. Importing this module adds them to the array type. The standard defines none of
them; `stride0.strict` hides them.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any, cast

from stride0._base.errors import ArgumentValueError, OutOfBoundsError, ShapeError, counted, shown
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
from stride0._core.array.array import Array
from stride0._core.array.views import reinterpret
from stride0._core.calls.checks import check_dtype, refuse_dtype, to_scalar
from stride0._core.calls.primitive import add_method, intercepted
from stride0._core.exchange.convert import asarray, nested_lists
from stride0._core.memory.dtype import DTypeLike, int64
from stride0._tables import methods as method_table
from stride0._tables import operations

CHAPTERS = (
    *(creation, data_types, elementwise, indexing, linear_algebra, manipulation, searching),
    *(sorting, statistical, utility),
)


def _one_tuple(operation: str, values: tuple[Any, ...]) -> Any:
    """Return the arguments of ``f(2, 3)``, ``f((2, 3))`` or ``f([2, 3])`` as a tuple."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


def copy(x: Array) -> Array:
    """Return a copy of the array, in the same memory order."""
    return asarray(x, copy=True)


def flatten(x: Array) -> Array:
    """Return a copy of the array with one axis, in C order."""
    return manipulation.reshape(x, (-1,), copy=True)


def ravel(x: Array) -> Array:
    """Return the array with one axis, in C order: a view where its memory allows."""
    return manipulation.reshape(x, (-1,))


def item(x: Array, *index: int) -> bool | int | float | complex:
    """Return an element as a Python scalar.

    Parameters
    ----------
    *index : int
        An index for each axis, or one into the flattened array; none where there is just one element.

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
    if not index and x.ndim == 0:
        return to_scalar(x)
    numbers = _one_tuple("item", index)
    if not numbers:
        if x.size != 1:
            raise ShapeError(
                "item", f"an array of {x.size} elements needs an index", [("shape", str(x.shape))]
            )
        numbers = (0,) * x.ndim
    elif len(numbers) == 1 and x.ndim != 1:
        numbers = _unravelled(x, operator.index(numbers[0]))
    if len(numbers) != x.ndim:
        raise ArgumentValueError(
            "item",
            f"{counted(len(numbers), 'index', 'indices')} for {counted(x.ndim, 'axis', 'axes')}",
            [("index", shown(numbers))],
        )
    return to_scalar(x[tuple(operator.index(number) for number in numbers)])


def _unravelled(x: Array, number: int) -> tuple[int, ...]:
    """Return the place of an element of the flattened array along each axis."""
    if not -x.size <= number < x.size:
        raise OutOfBoundsError("item", f"{number} is out of bounds for size {x.size}")
    places = []
    number %= x.size
    for size in reversed(x.shape):
        number, place = divmod(number, size)
        places.append(place)
    return tuple(reversed(places))


def permute_dims(x: Array, *axes: Any) -> Array:
    """Return the array with its axes in another order, given as one tuple or one by one: a view."""
    return manipulation.permute_dims(x, _one_tuple("permute_dims", axes))


def reshape(x: Array, *shape: Any, copy: bool | None = None) -> Array:
    """Return the elements in another shape, given as one tuple or one by one; a view where memory allows.

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
    return manipulation.reshape(x, _one_tuple("reshape", shape), copy=copy)


def squeeze(x: Array, axis: Axis = None) -> Array:
    """Return the array without axes of size 1, all of them or those named: a view."""
    if axis is None:
        axis = tuple([k for k, size in enumerate(x.shape) if size == 1])
    return manipulation.squeeze(x, axis)


@intercepted
def tolist(x: Array) -> Any:
    """Return the elements as Python scalars, in lists nested as deep as there are axes."""
    # An array on a simulated device does not refuse within this call: Python's numbers are on no device.
    return nested_lists(x)


def transpose(x: Array, *axes: Any) -> Array:
    """Return the array with its axes reversed, or in the order given as one tuple or one by one: a view."""
    order = _one_tuple("transpose", axes) if axes else axes
    if not order or order == (None,):
        order = tuple(reversed(range(x.ndim)))
    return manipulation.permute_dims(x, order)


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
    return reinterpret(x, x.dtype if dtype is None else check_dtype("view", dtype))


# Methods that take more than their functions: arguments of NumPy's, or no axis.


def _cumulative(function: Any, x: Array, axis: int | None, dtype: DTypeLike | None, initial: bool) -> Array:
    if axis is None:
        x, axis = ravel(x), 0
    return cast(Array, function(x, axis=axis, dtype=dtype, include_initial=initial))


def cumprod(
    x: Array, axis: int | None = None, *, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the products of all first elements along an axis, or of the flattened array."""
    return _cumulative(statistical.cumulative_prod, x, axis, dtype, include_initial)


def cumsum(
    x: Array, axis: int | None = None, *, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    """Return the sums of all first elements along an axis, or of the flattened array."""
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
    return indexing.take(ravel(x) if axis is None else x, indices, axis=0 if axis is None else axis)


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


def _plain(function: Any) -> int:
    """Return how many arguments a function takes by position."""
    return int(getattr(function, "declaration", function).__code__.co_argcount)


def _takes(function: Any) -> set[str]:
    code = getattr(function, "declaration", function).__code__
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _add(name: str, function: Any, plain: int, positional: tuple[str, ...]) -> None:
    wider = globals()[name] if name in method_table.WIDER else function
    keywords = frozenset(method_table.NEUTRAL.get(name, ())) | (_takes(wider) - _takes(function) - {"x"})
    add_method(
        name,
        function,
        plain,
        positional,
        _with_numpy_keywords(name, wider) if keywords else None,
        keywords,
        name in method_table.FLATTENING,
    )


def _add_all() -> None:
    functions = {name: getattr(chapter, name) for chapter in CHAPTERS for name in chapter.__all__}
    for name, (target, positional) in method_table.mirrored(operations.OPS).items():
        _add(name, functions[target], _plain(functions[target]), positional)
    for name in method_table.OWN:
        _add(name, globals()[name], -1, ())


_add_all()
