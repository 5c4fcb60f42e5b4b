"""Functions of functions with NumPy's signatures: a Python function for each element or lane."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0._core.memory.dtype import DType
from stride0.numpy._parts import NOT_GIVEN, array, arrays, converted, dtype_of, refuse


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield the index and the value of each element."""
    arr = array(arr)
    for index in numpy().ndindex(arr.shape):
        yield index, arr[index]


class broadcast:
    """
    Arrays with a common shape; iteration yields one tuple of elements per position.

    Parameters
    ----------
    *args : array-like
        The arrays.
    """

    def __init__(self, *args: Any) -> None:
        self._arrays = arrays(args)
        self.shape = xp.broadcast_shapes(*[a.shape for a in self._arrays])
        self.ndim = self.nd = len(self.shape)
        self.size, self.numiter = math.prod(self.shape), len(args)

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        flat = [xp.reshape(xp.broadcast_to(a, self.shape), (-1,)) for a in self._arrays]
        return zip(*flat, strict=True)


def apply_over_axes(func: Any, a: Any, axes: Any) -> Array:
    """Apply a function of an array and an axis along each of the axes in turn, and keep the axes."""
    found = a = array(a)
    for axis in axes if hasattr(axes, "__iter__") else (axes,):
        axis = normalize_axis("apply_over_axes", int(axis), a.ndim)
        part = func(found, axis)
        found = part if part.ndim == a.ndim else xp.expand_dims(part, axis=axis)
        if found.ndim != a.ndim:
            problem = f"the function returns {part.ndim} axes"
            raise ArgumentValueError("apply_over_axes", problem, (), f"return {a.ndim} or {a.ndim - 1} axes")
    return found


def _is_number(x: Any) -> bool:
    return x.ndim == 0 if isinstance(x, Array) else not isinstance(x, (list, tuple))


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """Return values of the function whose condition holds, 0 without one; functions get their elements."""
    x = array(x)
    if _is_number(condlist) or (_is_number(condlist[0]) and x.ndim):
        condlist = [condlist]
    masks = [xp.astype(xp.broadcast_to(array(mask), x.shape), xp.bool) for mask in condlist]
    if len(masks) == len(funclist) - 1:
        masks.append(~functools.reduce(xp.logical_or, masks))
    if len(masks) != len(funclist):
        facts = [("conditions", str(len(masks))), ("functions", str(len(funclist)))]
        accepts = "a function for each condition, and at most one more"
        raise ArgumentValueError("piecewise", "conditions and functions differ in number", facts, accepts)
    found = xp.zeros_like(x)
    for mask, function in zip(masks, funclist, strict=True):
        value = function
        if callable(function):
            inner = x[mask]
            if not inner.size:
                continue
            value = function(inner, *args, **kw)
        found[mask] = converted("piecewise", array(value), x.dtype)
    return found


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """Return the results of a function of each lane, in place of the axis."""
    arr = array(arr)
    axis = normalize_axis("apply_along_axis", axis, arr.ndim)
    lanes = xp.moveaxis(arr, axis, -1)
    outer = lanes.shape[:-1]
    if 0 in outer:
        raise ArgumentValueError(
            "apply_along_axis", "there is no lane", [("shape", str(arr.shape))], "a larger array"
        )
    results = arrays([func1d(lanes[index], *args, **kwargs) for index in numpy().ndindex(outer)])
    inner = results[0].shape
    made = xp.reshape(xp.stack(results), (*outer, *inner))
    count = len(outer)
    order = (*range(axis), *range(count, count + len(inner)), *range(axis, count))
    return xp.permute_dims(made, order)


def _elements(x: Array) -> list[Any]:
    """Return the elements as NumPy scalars; as arrays if numbers would lose a gradient."""
    flat = xp.reshape(x, (-1,))
    try:
        return list(numpy().asarray(flat))
    except GradientError:
        return list(xp.unstack(flat))


def _number(x: Any) -> Any:
    """Return the Python number of a NumPy scalar."""
    return x if isinstance(x, Array) else x.item()


def _cast(item: Any, dtype: DType | None) -> Array:
    """Return a result as an array of a dtype; an integer beyond its bounds raises RangeError."""
    if type(item) is int and dtype is not None and dtype.kind.endswith("integer"):
        return xp.asarray(item, dtype=dtype)
    return converted("vectorize", array(item), dtype)


class vectorize:
    """A function of arrays that calls a Python function for each element."""

    def __init__(
        self,
        pyfunc: Any = NOT_GIVEN,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Collection[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        refuse("vectorize", signature=signature)
        self.otypes = [*otypes] if otypes is not None else None
        self.excluded = set() if excluded is None else {*excluded}
        self.cache = cache
        self._doc = doc
        self._take(pyfunc)

    def _take(self, pyfunc: Any) -> None:
        self.pyfunc = pyfunc
        if pyfunc is not NOT_GIVEN:
            self.__doc__ = pyfunc.__doc__ if self._doc is None else self._doc
            self.__name__ = getattr(pyfunc, "__name__", type(pyfunc).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.pyfunc is NOT_GIVEN:
            if len(args) != 1 or kwargs or not callable(args[0]):
                raise ArgumentTypeError("vectorize", "there is no function yet", (), "one function")
            self._take(args[0])
            return self
        given: dict[int | str, Any] = {}
        given.update(enumerate(args))
        given.update(kwargs)
        varied = [key for key in given if key not in self.excluded]
        operands = xp.broadcast_arrays(*[array(given[key]) for key in varied])
        shape = operands[0].shape if operands else ()
        calls = list(zip(*map(_elements, operands), strict=True)) if operands else [()]
        results = []
        # As in NumPy: the result of a NumPy scalar decides about the dtype, all others are of Python numbers.
        if calls and self.otypes is None:
            results.append(self._call(given | dict(zip(varied, calls[0], strict=True))))
        for values in calls[len(results) if self.cache else 0 :]:
            results.append(self._call(given | dict(zip(varied, map(_number, values), strict=True))))
        kept = 0 if self.cache or self.otypes is not None else 1
        return self._joined(results, shape, kept)

    def _call(self, given: dict[int | str, Any]) -> Any:
        positional = [value for key, value in given.items() if isinstance(key, int)]
        return self.pyfunc(*positional, **{key: v for key, v in given.items() if isinstance(key, str)})

    def _joined(self, results: list[Any], shape: tuple[int, ...], start: int) -> Any:
        if not results:
            if self.otypes is None:
                accepts = "otypes, the dtypes of the results"
                raise ArgumentValueError("vectorize", "there are no elements", (), accepts)
            empty = [xp.zeros(shape, dtype=dtype_of("vectorize", dtype)) for dtype in self.otypes]
            return empty[0] if len(empty) == 1 else tuple(empty)
        several = isinstance(results[0], tuple)
        columns = list(zip(*results, strict=True)) if several else [results]
        made = []
        for k, column in enumerate(columns):
            dtype = array(column[0]).dtype if self.otypes is None else dtype_of("vectorize", self.otypes[k])
            items = [_cast(item, dtype) for item in column[start:]]
            made.append(xp.reshape(xp.stack(items), shape))
        return tuple(made) if several else made[0]
