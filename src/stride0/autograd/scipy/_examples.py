"""Batches of calls that SciPy computes for one example: a loop over the examples."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from stride0._base.errors import BatchingError
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy
from stride0.autograd._custom import custom_vjp
from stride0.autograd._parts import FLOATING
from stride0.autograd._tape.tape import Level, newest_level
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import vjp
from stride0.autograd.implicit._calls import for_each, stacked

Function = TypeVar("Function", bound=Callable[..., Any])
Solve = Callable[..., list[Array]]


def each_example(function: Function) -> Function:
    """Let a form of `scipy.integrate` take batched arguments, by one call per example.

    If an integer or text in the result, such as `nfev`, differs between examples, it becomes a NumPy array.
    """
    name = f"scipy.integrate.{function.__name__}"

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten([list(args), kwargs])
        if newest_level(leaves) is None:
            return function(*args, **kwargs)
        at = [k for k, x in enumerate(leaves) if isinstance(x, Array)]
        examples: list[list[Any]] = []
        kind: Any = None

        def solve(*arrays: Array) -> list[Array]:
            nonlocal kind
            given = list(leaves)
            for k, x in zip(at, arrays, strict=True):
                given[k] = x
            again, named = structure.rebuild(given)
            found = function(*again, **named)
            results, shape = flatten(dict(found) if isinstance(found, dict) else found)
            results = [asarray(x) if isinstance(x, (float, numpy().ndarray)) else x for x in results]
            kind = type(found), shape
            examples.append(results)
            return [x for x in results if isinstance(x, Array)]

        batches = iter(_looped(name, solve, examples.clear)(*[leaves[k] for k in at]))
        if kind is None:
            raise BatchingError(
                name, "the batch has no examples", (), "pass a batch with at least one example"
            )
        combined: list[Any] = []
        for values in zip(*examples, strict=True):
            if isinstance(values[0], Array):
                combined.append(next(batches))
            elif isinstance(values[0], (int, str, numpy().generic)):
                equal = all(x == values[0] for x in values)
                combined.append(values[0] if equal else numpy().asarray(values))
            else:
                problem = f"within vmap, a result of type {type(values[0]).__name__} is not supported"
                raise BatchingError(name, problem, accepts="omit dense_output and full_output")
        made, shape = kind
        found = shape.rebuild(combined)
        return made(found) if isinstance(found, dict) else found

    return called  # type: ignore[return-value]


def _looped(name: str, solve: Solve, begin: Callable[[], None] = lambda: None) -> Solve:
    """Return a function of batches, which calls `solve` and its derivatives for each example.

    `begin` is called before each loop.
    """

    @custom_vjp
    def found(*arrays: Array) -> list[Array]:
        begin()
        results: list[Array] = for_each(solve, *arrays, join=functools.partial(_joined, name))
        return results

    def backward(arrays: tuple[Array, ...], cotangents: list[Array]) -> tuple[Array | None, ...]:
        at = [k for k, x in enumerate(arrays) if x.dtype.kind in FLOATING]

        def pulled(*given: Array) -> list[Array]:
            every = list(given[: len(arrays)])

            def of_floating(*chosen: Array) -> list[Array]:
                for k, x in zip(at, chosen, strict=True):
                    every[k] = x
                return solve(*every)

            return list(vjp(of_floating, *[every[k] for k in at])[1](list(given[len(arrays) :])))

        results: list[Array | None] = [None] * len(arrays)
        for k, x in zip(at, _looped(name, pulled)(*arrays, *cotangents), strict=True):
            results[k] = x
        return tuple(results)

    found.defvjp(lambda *arrays: (found(*arrays), arrays), backward)
    return found


def _joined(name: str, level: Level, examples: list[list[Array]]) -> list[Array]:
    """Return batches of the results of several examples."""
    for each in zip(*examples, strict=True):
        shapes = sorted({x.shape for x in each})
        if len(shapes) > 1:
            facts = [("shapes", ", ".join(map(str, shapes)))]
            problem = "results of the examples have different shapes"
            raise BatchingError(name, problem, facts, "pass t_eval, or loop over the examples")
    return [stacked(level, list(each)) for each in zip(*examples, strict=True)]
