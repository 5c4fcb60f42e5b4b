"""Arguments of forms: checks, options that several functions share, and keys along an axis."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError, shown
from stride0._base.shapes import Shape, normalize_axis, normalize_index
from stride0._chapters.data_types import astype
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._core.memory import dtype as dtypes
from stride0._core.memory.dtype import float64, promote
from stride0.autograd._tape.tape import detach, is_tracked

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


def floating(operation: str, name: str, x: Any) -> Array:
    """Return an argument as an array of a floating-point dtype."""
    found = asarray(x)
    if found.dtype.kind in ("real floating", "complex floating"):
        return found
    if found.dtype.kind in ("signed integer", "unsigned integer", "bool"):
        return astype(found, float64)
    raise ArgumentTypeError(
        operation, f"{name} is of dtype {found.dtype.name}", accepts="an array of numbers"
    )


def same_dtype(*arrays: Array) -> list[Array]:
    """Return arrays in their common dtype."""
    dtype = arrays[0].dtype
    for x in arrays[1:]:
        dtype = promote(dtype, x.dtype)
    return [astype(x, dtype, copy=False) for x in arrays]


def one_of(operation: str, name: str, value: Any, accepted: tuple[Any, ...]) -> Any:
    """Return the value of an option, or raise where it is not supported."""
    if value not in accepted:
        raise ArgumentValueError(
            operation, f"{name} is {shown(value)}", accepts=f"one of {', '.join(map(repr, accepted))}"
        )
    return value


def untracked(operation: str, name: str, value: Any) -> None:
    """Raise where an option is tracked that has no derivative."""
    if isinstance(value, Array) and is_tracked(value):
        raise ArgumentTypeError(
            operation, f"{name} is tracked, and has no derivative", accepts=f"stop_gradient({name})"
        )


def count_of(operation: str, name: str, value: Any, least: int) -> int:
    """Return the value of an option that is an integer."""
    number = normalize_index(operation, name, value)
    if number < least:
        raise ArgumentValueError(operation, f"{name} is {number}", accepts=f"an integer, {least} or more")
    return number


def axis_of(operation: str, x: Array, axis: Any) -> int:
    """Return the number of an axis, not negative."""
    if x.ndim == 0:
        raise ShapeError(operation, "x has no axes", accepts="an array with one axis or more")
    return normalize_axis(operation, axis, x.ndim)


def along(ndim: int, axis: int, key: Any) -> tuple[Any, ...]:
    """Return the key that selects along one axis: ``x[along(x.ndim, 1, slice(3))]``."""
    return (slice(None),) * axis + (key,) + (slice(None),) * (ndim - axis - 1)


def each(operation: str, name: str, value: Any, count: int) -> list[Any]:
    """Return the values of an option for several axes."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        raise ArgumentValueError(operation, f"{name} has {len(value)} values", accepts=f"one, or {count}")
    return list(value)


def named(function: Any, name: str, doc: str) -> Any:
    """Give a function that another one made its name and its docstring, and return it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _by_position(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that may be given by position."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def taking(
    options: Callable[..., Any], **defaults: Any
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """
    Let a function take the parameters of `options`, which declares them, in the place of ``**options``.

    They may be given by position, behind the function's own parameters and in front of those that are
    keyword-only in its definition. The function gets all of them by name, but for `output`, which is for
    `into_output`; `defaults` replace declared ones.
    """
    declared = inspect.signature(options).parameters.values()
    given = [p.replace(default=defaults.get(p.name, p.default)) for p in declared]
    values = {p.name: p.default for p in given}

    def decorator(function: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[:-1]
        order = [p for p in own if p.kind is not p.KEYWORD_ONLY]
        count = len(order)
        order += [p for p in given if p.kind is not p.KEYWORD_ONLY]
        order += [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in own if p.kind is p.KEYWORD_ONLY]
        order += [p for p in given if p.kind is p.KEYWORD_ONLY]
        known = {p.name for p in order}

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Result:
            if len(args) > len(names):
                problem = f"takes at most {len(names)} positional arguments, but {len(args)} were given"
                raise TypeError(f"{function.__name__}() {problem}")
            more = dict(zip(names[count:], args[count:], strict=False))
            for name in kwargs:
                if name not in known or name in more:
                    problem = "multiple values for" if name in more else "an unexpected"
                    raise TypeError(f"{function.__name__}() got {problem} keyword argument {name!r}")
            found = {**values, **more, **kwargs}
            found.pop("output", None)
            return function(*args[:count], **found)

        called.__signature__ = signature.replace(parameters=order)  # type: ignore[attr-defined]
        names = _by_position(called)
        return called

    return decorator


def into_output(function: Function) -> Function:
    """
    Give a function a parameter `output` as `scipy.ndimage` has it.

    An array is written to, and returned; a dtype is that of the result. What is written to an array has
    its gradient.
    """
    names = _by_position(function)
    # Where it is a keyword alone, behind all others.
    place = names.index("output") if "output" in names else len(names)

    @functools.wraps(function)
    def delivered(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place:
            output, args = args[place], (*args[:place], None, *args[place + 1 :])
        else:
            output = kwargs.pop("output", None)
        found = function(*args, **kwargs)
        if output is None:
            return found
        if not isinstance(output, Array):
            return astype(found, dtype_of(function.__name__, output))
        if output.shape != found.shape:
            facts = [("output", f"{output.shape}"), ("result", f"{found.shape}")]
            raise ShapeError(function.__name__, "output has another shape than the result", facts)
        output[...] = astype(found, output.dtype, copy=False)
        return output

    return delivered  # type: ignore[return-value]


def dtype_of(operation: str, output: Any) -> Any:
    """Return a dtype that was given as one of ours, as one of NumPy, or by its name."""
    name = getattr(output, "__name__", None) or getattr(output, "name", None) or str(output)
    names = {"float": "float64", "int": "int64", "complex": "complex128"}
    found = getattr(dtypes, names.get(name, name), None)
    if found is None or not hasattr(found, "kind"):
        raise ArgumentTypeError(
            operation, f"output is {shown(output)}", accepts="an array of stride0, or a dtype"
        )
    return found


def lane(x: Array, axis: int) -> Shape:
    """Return the shape in which values along one axis broadcast against an array."""
    return (*(1,) * axis, -1, *(1,) * (x.ndim - axis - 1))


def root(x: Array) -> Array:
    """Return the square root; where it is 0, its gradient is 0: Note [Divided by zero]."""
    flat = x == 0
    return xp.where(flat, 0.0, xp.sqrt(xp.where(flat, 1.0, x)))


def item(x: Array) -> Any:
    """Return a view of the values of an array that may be tracked, as one of NumPy: for decisions alone."""
    return to_numpy(detach(x))
