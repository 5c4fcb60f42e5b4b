"""Plans: pattern, colouring and compressed products of one function. This module needs SciPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError, ShapeError, shown
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0.autograd._parts import Argnums
from stride0.autograd._sparse.compressed import Split, hessian_split, jacobian_split, products
from stride0.autograd._sparse.patterns import Arguments, Patterns, check_scalar, ordered
from stride0.autograd._tape.tape import is_tracked
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import Linearized, grad

__all__ = ["MODES", "Plan", "matrix_of", "plan_for"]

MODES = ("auto", "both", "forward", "reverse")


class Plan:
    """The two matrices of a function: patterns, colourings and products."""

    def __init__(
        self, operation: str, f: Callable[..., Any], argnums: Argnums, mode: str, patterns: tuple[Any, Any]
    ) -> None:
        if not isinstance(mode, str) or mode not in MODES:
            raise ArgumentValueError(
                operation, f"mode is {shown(mode)}", accepts=f"pass mode={' or '.join(map(repr, MODES))}"
            )
        self._f, self._argnums, self._mode = f, argnums, mode
        self.patterns = patterns

    @cached_property
    def of_jacobian(self) -> Split:
        return jacobian_split(self.patterns[0], self._mode)

    @cached_property
    def of_hessian(self) -> Split:
        return hessian_split(self.patterns[1])

    def check_scalar(self, operation: str) -> None:
        """Refuse a function without a Hessian."""
        if self.patterns[1] is None:
            raise ShapeError(operation, "the function did not return a real 0-d array", (), "return sum(y)")

    def _recorded(self, operation: str, args: Any, kwargs: Any, of_gradient: bool) -> Linearized:
        return _call(Arguments(operation, self._f, self._argnums, args, kwargs), of_gradient)

    def jacobian(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute the Jacobian."""
        call = self._recorded(operation, args, kwargs, False)
        _check_shape(operation, self.patterns[0], (_size(call.values), _size(call.chosen.arrays)))
        split, largest = self.of_jacobian, call.largest()
        data = products(call.push, split.forward, call.chosen.arrays, largest)
        data += products(lambda seeds: flatten(call.pull(seeds))[0], split.reverse, call.values, largest)
        return _filled(self.patterns[0], data, split, call.values)

    def hessian(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute the Hessian."""
        self.check_scalar(operation)
        call = self._recorded(operation, args, kwargs, True)
        n = _size(call.chosen.arrays)
        _check_shape(operation, self.patterns[1], (n, n))
        data = products(call.push, self.of_hessian.forward, call.chosen.arrays, call.largest())
        return _filled(self.patterns[1], data, self.of_hessian, call.values)

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compare products of the matrices with products of the function's derivatives."""
        for name, of_gradient in (("Jacobian", False), ("Hessian", True)):
            if self.patterns[of_gradient] is None:
                continue
            matrix = (self.hessian if of_gradient else self.jacobian)("check", args, kwargs)
            call = self._recorded("check", args, kwargs, of_gradient)
            vector = np.arange(matrix.shape[1]) * 0.6180339887498949 % 1.0 + 0.5
            parts, start = [], 0
            for x in call.chosen.arrays:
                part = vector[start : start + x.size].reshape(x.shape)
                parts.append(asarray(part, dtype=x.dtype, copy=True))
                start += x.size
            expected = np.concatenate([to_numpy(y).ravel() for y in call.push(parts)])
            found, scale = matrix @ vector, abs(matrix) @ vector + np.abs(expected).max(initial=0.0)
            tolerance = float(np.finfo(expected.dtype).eps) ** 0.5
            bad = np.flatnonzero(~(np.abs(found - expected) <= tolerance * scale))
            if len(bad):
                raise GradientError(
                    "check",
                    f"the pattern of the {name} leaves out a derivative that is not 0",
                    [("row", str(int(bad[0])))],
                    "make a new plan at this point, or pass a pattern with more entries",
                )


def _call(arguments: Arguments, of_gradient: bool) -> Linearized:
    """Return a recorded call of the function, or of its gradient."""
    operation = arguments.operation
    for x in arguments.leaves:
        if isinstance(x, Array) and is_tracked(x):
            raise GradientError(
                operation,
                "an argument is tracked: sparse matrices have no gradients",
                accepts="call jacobian or hessian instead",
            )
    f = grad(arguments.chosen, tuple(range(len(arguments.points)))) if of_gradient else arguments.chosen
    call = Linearized(operation, f, arguments.points)
    for what, arrays in (("an argument", call.chosen.arrays), ("a result", call.values)):
        for x in arrays:
            if x.dtype.kind != "real floating":
                raise ArgumentTypeError(
                    operation,
                    f"{what} is of dtype {x.dtype.name}",
                    accepts="pass real floating-point arrays, or call jacobian",
                )
    return call


def _size(arrays: list[Array]) -> int:
    return sum(x.size for x in arrays)


def _check_shape(operation: str, pattern: Any, shape: tuple[int, int]) -> None:
    if pattern.shape != shape:
        facts = [("pattern", str(pattern.shape)), ("matrix", str(shape))]
        raise ShapeError(
            operation, "the shapes of pattern and matrix differ", facts, "make a new plan for these shapes"
        )


def _filled(pattern: Any, data: list[Any], split: Split, results: list[Array]) -> Any:
    """Return a matrix, given all its products, concatenated."""
    if not data:
        return csr_array(
            pattern.shape, dtype=np.result_type(*(str(y.dtype.name) for y in results), np.float32)
        )
    values = np.take(data[0] if len(data) == 1 else np.concatenate(data), split.places)
    return csr_array((values, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)


def given_pattern(operation: str, sparsity: Any) -> Any:
    """Convert a pattern given by the caller: the nonzero entries of a matrix."""
    if isinstance(sparsity, Array):
        sparsity = np.asarray(sparsity)
    if not issparse(sparsity) and not isinstance(sparsity, np.ndarray):
        raise ArgumentTypeError(
            operation,
            f"sparsity is of type {type(sparsity).__name__}",
            (),
            "pass a sparse array or a matrix",
        )
    if sparsity.ndim != 2:
        raise ShapeError(operation, f"sparsity has shape {sparsity.shape}", accepts="pass a matrix")
    return ordered(sparsity)


def plan_for(
    operation: str, f: Callable[..., Any], argnums: Argnums, mode: str, sparsity: Any, args: Any, kwargs: Any
) -> Plan:
    """Return a plan with both patterns; `sparsity` is a pattern of the Jacobian, or of a scalar's Hessian."""
    found = Patterns(Arguments(operation, f, argnums, args, kwargs))
    is_scalar = found.is_scalar and found.results[0].dtype.kind == "real floating"
    patterns = (found.jacobian(), found.hessian(operation) if is_scalar else None)
    if sparsity is not None:
        own = given_pattern(operation, sparsity)
        _check_shape(operation, own, (found.size, found.size) if is_scalar else patterns[0].shape)
        patterns = (patterns[0], own) if is_scalar else (own, None)
    return Plan(operation, f, argnums, mode, patterns)


def matrix_of(
    operation: str, f: Callable[..., Any], argnums: Argnums, mode: str, sparsity: Any, of_gradient: bool
) -> Callable[..., Any]:
    """Return the function that `sparse_jacobian` or `sparse_hessian` returns."""
    own = None if sparsity is None else given_pattern(operation, sparsity)
    last: Plan = Plan(operation, f, argnums, mode, (own, own))

    def matrix(*args: Any, **kwargs: Any) -> Any:
        nonlocal last
        plan = last
        if own is None:
            found = Patterns(Arguments(operation, f, argnums, args, kwargs))
            if of_gradient:
                check_scalar(operation, found.results)
            pattern = found.hessian(operation) if of_gradient else found.jacobian()
            known = plan.patterns[of_gradient]
            if known is None or not _is_same(known, pattern):
                # The plan is reused while the pattern is equal.
                plan = last = Plan(operation, f, argnums, mode, (pattern, pattern))
        return (plan.hessian if of_gradient else plan.jacobian)(operation, args, kwargs)

    return matrix


def _is_same(one: Any, other: Any) -> bool:
    return (
        one.shape == other.shape
        and one.nnz == other.nnz
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
    )
