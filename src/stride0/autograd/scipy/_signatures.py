"""Names, docstrings and shared parameters of generated functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from stride0._base.errors import ArgumentTypeError, ShapeError, shown
from stride0._chapters.data_types import astype
from stride0._core.array.array import Array
from stride0._core.memory import dtype as dtypes

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


def named(function: Any, name: str, doc: str) -> Any:
    """Set the name and the docstring of a generated function, and return it."""
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
    """Let a function take the parameters of `options`, which declares them, in the place of ``**options``.

    They may be positional, after the function's own parameters and before its keyword-only ones. The function
    gets all of them by name, except `output`, which is for `into_output`; `defaults` replace declared
    defaults.
    """
    declared = inspect.signature(options).parameters.values()
    given = [p.replace(default=defaults.get(p.name, p.default)) for p in declared]
    more_allowed = any(p.kind is p.VAR_KEYWORD for p in given)
    values = {p.name: p.default for p in given if p.kind is not p.VAR_KEYWORD}

    def decorator(function: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[:-1]
        order = [p for p in own if p.kind is not p.KEYWORD_ONLY]
        count = len(order)
        order += [p for p in given if p.kind is p.POSITIONAL_OR_KEYWORD]
        order += [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in own if p.kind is p.KEYWORD_ONLY]
        order += [p for p in given if p.kind is not p.POSITIONAL_OR_KEYWORD]
        known = {p.name for p in order}

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Result:
            if len(args) > len(names):
                problem = f"takes at most {len(names)} positional arguments, but {len(args)} were given"
                raise TypeError(f"{function.__name__}() {problem}")
            more = dict(zip(names[count:], args[count:], strict=False))
            for name in kwargs:
                if (name not in known and not more_allowed) or name in more:
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
    """Give a function a parameter `output` as `scipy.ndimage` has it.

    An array is written to and returned; a dtype is the dtype of the result. Values written to an array keep
    their gradient.
    """
    names = _by_position(function)
    # If it is keyword-only, it comes after all others.
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
            raise ShapeError(
                function.__name__,
                "output and the result have different shapes",
                facts,
                "pass an output of the shape of the result",
            )
        output[...] = astype(found, output.dtype, copy=False)
        return output

    return delivered  # type: ignore[return-value]


def dtype_of(operation: str, output: Any) -> Any:
    """Return a dtype, given as a stride0 dtype, a NumPy dtype or a name."""
    name = getattr(output, "__name__", None) or getattr(output, "name", None) or str(output)
    names = {"float": "float64", "int": "int64", "complex": "complex128"}
    found = getattr(dtypes, names.get(name, name), None)
    if found is None or not hasattr(found, "kind"):
        raise ArgumentTypeError(operation, f"output is {shown(output)}", accepts="pass an array or a dtype")
    return found
