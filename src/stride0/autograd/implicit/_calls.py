"""Calls between SciPy's solvers, functions of the caller and arrays."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, BatchingError, GradientError, shown
from stride0._chapters.manipulation import reshape, stack
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0.autograd._matrices import jacobian
from stride0.autograd._parts import FLOATING
from stride0.autograd._tape.tape import Level, is_batched_array, is_tracked, newest_level
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import stop_gradient

__all__ = [
    "LINEAR",
    "check_linear",
    "chosen",
    "detached_array",
    "flat",
    "for_each",
    "on_flat",
    "on_flat_matrix",
    "plain_array",
    "quietly",
    "scipy_module",
    "shaped",
    "stacked",
    "start_of",
]

LINEAR = ("dense", "cg", "gmres")


def chosen(f: Callable[..., Any], args: Any) -> tuple[list[int], Callable[..., Any]]:
    """Return the numbers of arguments with floating-point arrays, and `f` as a function of them."""
    at = [k for k, p in enumerate(args) if any(map(_is_floating, flatten(p)[0]))]

    def of_chosen(*given: Any) -> Any:
        every = list(args)
        for k, p in zip(at, given, strict=True):
            every[k] = p
        return f(*every)

    return at, of_chosen


def _is_floating(x: Any) -> bool:
    return isinstance(x, Array) and x.dtype.kind in FLOATING


def scipy_module(operation: str, name: str) -> Any:
    """Return a SciPy module."""
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError as error:
        problem = f"stride0.autograd.implicit.{operation} calls SciPy, which cannot be imported"
        raise ImportError(f"{problem}: pip install scipy") from error


def start_of(operation: str, x0: Any) -> Array:
    """Return the start of a search as an array of a real floating-point dtype without derivatives."""
    x = asarray(x0) if isinstance(x0, (float, int)) and not isinstance(x0, bool) else x0
    if not isinstance(x, Array):
        raise ArgumentTypeError(
            operation, f"x0 is of type {type(x0).__name__}", accepts="pass a stride0 array or a number"
        )
    if x.dtype.kind != "real floating":
        raise ArgumentTypeError(
            operation, f"x0 is of dtype {x.dtype.name}", accepts="pass a real floating-point array"
        )
    return stop_gradient(x)  # type: ignore[no-any-return]


def check_linear(operation: str, linear: object) -> None:
    if not isinstance(linear, str) or linear not in LINEAR:
        raise ArgumentValueError(
            operation, f"linear is {shown(linear)}", accepts=f"pass linear={' or '.join(map(repr, LINEAR))}"
        )


def plain_array(operation: str, x: Any) -> Any:
    """Return a result of the caller's function as a NumPy array; refuse a tracked or batched result."""
    if isinstance(x, Array) and (is_tracked(x) or is_batched_array(x)):
        kind, error = ("batched", BatchingError) if is_batched_array(x) else ("tracked", GradientError)
        problem = f"the function uses a {kind} array that is not one of its arguments"
        raise error(operation, problem, accepts="pass the array as an argument: f(x, parameter)")
    return to_numpy(asarray(x))


def detached_array(operation: str, x: Any) -> Any:
    """Return the values of a result as a NumPy array, even if the result is tracked."""
    return to_numpy(stop_gradient(asarray(x)))


def on_flat(
    operation: str, f: Callable[..., Any], like: Array, params: tuple[Any, ...]
) -> Callable[[Any], Any]:
    """Return `f` as a function of a NumPy vector, in double precision."""
    np = numpy()

    def flat(x: Any) -> Any:
        given = asarray(np.reshape(x, like.shape), dtype=like.dtype, copy=True)
        y = plain_array(operation, f(given, *params))
        return float(y) if y.ndim == 0 and like.ndim else np.asarray(y, dtype=np.float64).reshape(-1)

    return flat


def stacked(level: Level, found: list[Array]) -> Any:
    return level.wrap(stack(found))


def for_each(solve: Callable[..., Any], *args: Any, join: Callable[[Level, list[Any]], Any] = stacked) -> Any:
    """Call a solver for each example of a batch, and join the results; batches may be nested."""
    leaves, structure = flatten(list(args))
    level = newest_level(leaves)
    if level is None:
        return solve(*args)
    values = [level.value(x) if level.has(x) else None for x in leaves]
    found = []
    for k in range(level.size):
        one = [x if value is None else value[k] for x, value in zip(leaves, values, strict=True)]
        found.append(for_each(solve, *structure.rebuild(one), join=join))
    return join(level, found)


def flat(x: Array) -> Any:
    """Return the start of a search as a NumPy vector in double precision."""
    np = numpy()
    return np.array(to_numpy(x), dtype=np.float64).reshape(-1)


def on_flat_matrix(
    operation: str, f: Callable[..., Any], like: Array, params: tuple[Any, ...]
) -> Callable[[Any], Any]:
    """Return the Jacobian of `f` as a function of a NumPy vector."""
    np = numpy()
    matrix = jacobian(lambda x: reshape(asarray(f(x, *params)), (-1,)))

    def dense(x: Any) -> Any:
        given = asarray(np.reshape(x, like.shape), dtype=like.dtype, copy=True)
        found = plain_array(operation, matrix(given))
        return np.asarray(found, dtype=np.float64).reshape(found.shape[0], -1)

    return dense


def shaped(solver: Callable[..., Any]) -> Callable[..., Array]:
    """Return a solver whose result is an array of the shape and dtype of `x0`."""

    def found(x0: Array, *params: Any) -> Array:
        x = solver(x0, *params)
        return asarray(numpy().reshape(x, x0.shape), dtype=x0.dtype, copy=True)

    return found


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a SciPy solver without its warnings: its result is checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)
