"""Plans: pattern, colouring and compressed products of one function. This module needs SciPy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError, ShapeError, shown
from stride0._chapters.creation import zeros
from stride0._chapters.data_types import result_type
from stride0._chapters.indexing import take
from stride0._chapters.manipulation import concat
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._core.memory.dtype import float32
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
        self,
        operation: str,
        f: Callable[..., Any],
        argnums: Argnums,
        mode: str,
        patterns: tuple[Any, Any],
        replay: Callable[..., Any] | None = None,
    ) -> None:
        if not isinstance(mode, str) or mode not in MODES:
            raise ArgumentValueError(
                operation, f"mode is {shown(mode)}", accepts=f"pass mode={' or '.join(map(repr, MODES))}"
            )
        self._f, self._argnums, self._mode = f, argnums, mode
        self.patterns = patterns
        # The functions that compute the entries of both matrices; `replay` is None or `stride0.replay`.
        self._replay, self._entries = replay, dict[bool, Callable[..., Any]]()

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

    def _entries_of(self, operation: str, of_gradient: bool) -> Callable[..., Array]:
        """Return a function of the arguments that computes the entries of a matrix, in their order."""
        split = self.of_hessian if of_gradient else self.of_jacobian
        # `replay` compares what these variables refer to.
        f, places = self._f, split.places
        kept: tuple[dict[Any, Any], ...] = ({}, {})

        def entries(*args: Any, **kwargs: Any) -> Array:
            call = _call(Arguments(operation, f, self._argnums, args, kwargs), of_gradient)
            given, results, largest = call.chosen.arrays, call.values, call.largest()
            _check_shape(operation, self.patterns[of_gradient], (_size(results), _size(given)))
            data = products(call.push, split.forward.seeds(given, largest, kept[0]), given)
            data += products(
                lambda seeds: flatten(call.pull(seeds))[0],
                split.reverse.seeds(results, largest, kept[1]),
                results,
            )
            if not data:
                return zeros(0, dtype=result_type(float32, *(y.dtype for y in results)))
            return take(data[0] if len(data) == 1 else concat(data), places)

        return entries

    def _matrix(self, operation: str, of_gradient: bool, args: Any, kwargs: Any) -> Any:
        """Compute a matrix."""
        known = self._entries.get(of_gradient)
        entries = known or self._entries_of(operation, of_gradient)
        data = entries(*args, **kwargs)
        if known is None:
            # Record the second call, because the first call makes the seeds.
            self._entries[of_gradient] = self._replay(entries) if self._replay else entries
        return self._filled(of_gradient, data)

    def _filled(self, of_gradient: bool, data: Array) -> Any:
        """Return a matrix, given its entries."""
        # SciPy's constructor would check the indices again.
        found = copy.copy(self.patterns[of_gradient])
        found.data, found.indices, found.indptr = to_numpy(data), found.indices.copy(), found.indptr.copy()
        return found

    def jacobian(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute the Jacobian."""
        return self._matrix(operation, False, args, kwargs)

    def hessian(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute the Hessian."""
        self.check_scalar(operation)
        return self._matrix(operation, True, args, kwargs)

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compare products of the matrices with products of the function's derivatives."""
        for name, of_gradient in (("Jacobian", False), ("Hessian", True)):
            if self.patterns[of_gradient] is None:
                continue
            matrix = self._filled(of_gradient, self._entries_of("check", of_gradient)(*args, **kwargs))
            call = _call(Arguments("check", self._f, self._argnums, args, kwargs), of_gradient)
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
    operation: str,
    f: Callable[..., Any],
    argnums: Argnums,
    mode: str,
    sparsity: Any,
    args: Any,
    replay: Any,
) -> Plan:
    """Return a plan with both patterns; `sparsity` is a pattern of the Jacobian, or of a scalar's Hessian."""
    found = Patterns(Arguments(operation, f, argnums, args, {}))
    is_scalar = found.is_scalar and found.results[0].dtype.kind == "real floating"
    patterns = (found.jacobian(), found.hessian(operation) if is_scalar else None)
    if sparsity is not None:
        own = given_pattern(operation, sparsity)
        _check_shape(operation, own, (found.size, found.size) if is_scalar else patterns[0].shape)
        patterns = (patterns[0], own) if is_scalar else (own, None)
    return Plan(operation, f, argnums, mode, patterns, replay)


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
