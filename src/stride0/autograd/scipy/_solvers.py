"""Solutions that SciPy finds, with derivatives by `stride0.autograd.implicit`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentTypeError, BatchingError, GradientError
from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0._core.memory.dtype import float64
from stride0.autograd._tape.tape import is_tracked, newest_level
from stride0.autograd._tape.trees import flatten, tree_map
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.implicit._solutions import Box, corrected, solution

# The derivative solves its linear system by a matrix up to this number of unknowns, by products above.
DENSE_MAX_UNKNOWNS = 1000


class Calls:
    """Functions of the caller as SciPy calls them: they get stride0 arrays, and return NumPy arrays."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Whether a function used a tracked array that is not among its arguments.
        self.closing = False

    def plain(self, f: Callable[..., Any], *given: Any) -> Callable[..., Any]:
        """Return `f` for SciPy, called with further arguments, which are not tracked."""

        def called(*xs: Any) -> Any:
            return tree_map(self.value, f(*[_ours(x) for x in xs], *given))

        return called

    def value(self, y: Any) -> Any:
        """Return a result as a NumPy array or a number."""
        if not isinstance(y, Array):
            return y
        self.closing |= is_tracked(y)
        try:
            found = to_numpy(stop_gradient(y))
        except BatchingError:
            problem = "the function uses a batched array that is not one of its arguments"
            raise BatchingError(f"scipy.{self.name}", problem, accepts="pass the array in args") from None
        return found if found.ndim else found[()]


def _ours(x: Any) -> Any:
    x = float(x) if isinstance(x, int) else x
    return asarray(numpy().array(x)) if isinstance(x, (float, numpy().ndarray)) else x


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Return further arguments of a function as a tuple; SciPy also takes a single argument."""
    return args if isinstance(args, tuple) else (args,)


def batched(args: Any) -> bool:
    """Return whether an array in a structure is batched."""
    return newest_level([x for x in flatten(args)[0] if isinstance(x, Array)]) is not None


def moving(args: Any) -> bool:
    """Return whether an array in a structure is tracked or batched."""
    return batched(args) or any(is_tracked(x) for x in flatten(args)[0] if isinstance(x, Array))


def started(x0: Any, flat: bool = True) -> Array:
    """Return the start of a search in double precision; as a vector, if `flat` is true."""
    x = astype(stop_gradient(asarray(x0)), float64)
    return reshape(x, (-1,)) if flat else x


def differentiated(
    name: str,
    run: Callable[..., Any],
    equation: Callable[..., Any],
    x0: Array,
    args: tuple[Any, ...] = (),
    large: str = "gmres",
    box: Box | None = None,
) -> tuple[Any, Array]:
    """Return the result of a solver of SciPy, and its solution with derivatives.

    `run` takes `Calls` and further arguments that are not tracked, and returns a result with a field `x`.
    `equation` takes the solution and `args`, and returns 0 at the solution. `large` says how the derivative
    solves a large linear system. `box` has the bounds of a minimum.
    """
    calls = Calls(f"optimize.{name}")
    last: list[Any] = []

    def solver(x0: Array, *given: Any) -> Array:
        last[:] = [run(calls, *given)]
        if differentiable or calls.closing:
            _check(name, last[0])
        return asarray(numpy().reshape(last[0].x, x0.shape), dtype=float64, copy=True)

    differentiable, several = moving(args), batched(args)
    if not several:
        found = solver(x0, *stop_gradient(args))
        if calls.closing:
            return last[0], corrected(name, equation, found, x0, args, box)
        if not differentiable:
            return last[0], found
    linear = "dense" if x0.size <= DENSE_MAX_UNKNOWNS else large
    x = solution(name, equation, solver if several else lambda *_: found, x0, args, linear, box)
    return last[0], x


def _check(name: str, result: Any) -> None:
    # Status 2 of `minimize` is a loss of precision near the minimum: the equation is checked instead.
    success = getattr(result, "converged", getattr(result, "success", True))
    if not success and not (name == "minimize" and result.status == 2):
        raise GradientError(
            name,
            "the solver did not converge, so its result has no gradient",
            [("message", str(getattr(result, "message", getattr(result, "flag", ""))))],
            "pass another start, another method, or more iterations",
        )


def refuse(name: str, options: dict[str, Any], *keys: str) -> None:
    """Raise if an option is given that the form does not support; drop it otherwise."""
    for key in keys:
        if options.pop(key, None):
            raise ArgumentTypeError(name, f"{key} is not supported", accepts=f"leave {key} out")


def updated(result: Any, **fields: Any) -> Any:
    """Return a SciPy result object with some fields replaced."""
    found = copy.copy(result)
    found.update(fields)
    return found
