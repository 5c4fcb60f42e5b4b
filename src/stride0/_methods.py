"""Methods of arrays: functions of the namespace with the array in front, and some that NumPy's users expect.

`_methodtable` says which there are. Importing this module gives them to the array type. Strictly after the
standard an array has none; see `stride0.strict`.
"""

from __future__ import annotations

import operator
from typing import Any

from . import (
    _creation,
    _data_types,
    _elementwise,
    _indexing,
    _linear_algebra,
    _manipulation,
    _methodtable,
    _optable,
    _searching,
    _sorting,
    _statistical,
    _utility,
)
from ._core.array import Array, add_method, asarray, door, reinterpret
from ._data_types import to_scalar
from ._errors import ArgumentValueError, OutOfBoundsError, ShapeError, shown

CHAPTERS = (
    *(_creation, _data_types, _elementwise, _indexing, _linear_algebra, _manipulation, _searching),
    *(_sorting, _statistical, _utility),
)


def _one_tuple(operation: str, values: tuple[Any, ...]) -> Any:
    """Return what was given as ``f(2, 3)``, ``f((2, 3))`` or ``f([2, 3])``, as a tuple."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


def copy(x: Array) -> Array:
    """Return a copy of the array, on memory of its own and in the order of its memory."""
    return asarray(x, copy=True)


def flatten(x: Array) -> Array:
    """Return a copy of the array with one axis, in C order."""
    return _manipulation.reshape(x, (-1,), copy=True)


def ravel(x: Array) -> Array:
    """Return the array with one axis, in C order: a view where its memory allows."""
    return _manipulation.reshape(x, (-1,))


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
    numbers = _one_tuple("item", index)
    if not numbers:
        if x.size != 1:
            raise ShapeError(
                "item", f"an array of {x.size} elements is no single one", [("shape", str(x.shape))]
            )
        numbers = (0,) * x.ndim
    elif len(numbers) == 1 and x.ndim != 1:
        numbers = _unravelled(x, operator.index(numbers[0]))
    if len(numbers) != x.ndim:
        raise ArgumentValueError(
            "item", f"{len(numbers)} indices for {x.ndim} axes", [("index", shown(numbers))]
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
    return _manipulation.permute_dims(x, _one_tuple("permute_dims", axes))


def reshape(x: Array, *shape: Any, copy: bool | None = None) -> Array:
    """Return the elements in another shape, given as one tuple or one by one; a view where memory allows.

    Parameters
    ----------
    *shape : int or tuple of int
        The sizes; one may be -1, which stands for what is left.
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
    return _manipulation.reshape(x, _one_tuple("reshape", shape), copy=copy)


def squeeze(x: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """Return the array without axes of size 1, all of them or those named: a view."""
    if axis is None:
        axis = tuple(k for k, size in enumerate(x.shape) if size == 1)
    return _manipulation.squeeze(x, axis)


@door
def tolist(x: Array) -> Any:
    """Return the elements as Python scalars, in lists nested as deep as there are axes."""
    if x.ndim == 0:
        return to_scalar(x)
    # NumPy walks the buffer; an array whose gradient would be lost refuses to lend it. Behind the door, one
    # on a virtual device does not: Python's numbers are on none.
    import numpy

    return numpy.asarray(x).tolist()


def transpose(x: Array, *axes: Any) -> Array:
    """Return the array with its axes reversed, or in the order given as one tuple or one by one: a view."""
    order = _one_tuple("transpose", axes)
    if not order or order == (None,):
        order = tuple(reversed(range(x.ndim)))
    return _manipulation.permute_dims(x, order)


def view(x: Array, dtype: Any = None) -> Array:
    """Return a view of the array: another array on the same memory, with `dtype` of its bytes as that dtype.

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
        If the bytes along the last axis do not lie side by side or are no whole number of elements.
    DTypeError
        If `dtype` is bool and the array is not.
    """
    return reinterpret(x, x.dtype if dtype is None else _data_types.check_dtype("view", dtype))


def _plain(function: Any) -> int:
    """Return how many arguments a function takes by position."""
    return int(getattr(function, "__wrapped__", function).__code__.co_argcount)


def _add_all() -> None:
    functions = {name: getattr(chapter, name) for chapter in CHAPTERS for name in chapter.__all__}
    for name, (target, positional) in _methodtable.mirrored(_optable.OPS).items():
        add_method(name, functions[target], _plain(functions[target]), positional)
    for name in _methodtable.OWN:
        add_method(name, globals()[name], -1)


_add_all()
