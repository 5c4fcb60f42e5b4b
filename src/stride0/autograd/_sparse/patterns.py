"""Patterns of derivatives as SciPy's sparse arrays. This module needs SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from stride0._base.errors import ArgumentTypeError, BatchingError, ShapeError
from stride0._core.array.array import Array
from stride0._core.array.modes import CONFIGURATION
from stride0._core.exchange.exchange import asarray
from stride0._modes.switches import Setting
from stride0.autograd._parts import FLOATING, TRACE, Argnums, Tracked, numbers_of, recording
from stride0.autograd._sparse.sets import ALL, distinct
from stride0.autograd._sparse.tracing import Trace, tracing
from stride0.autograd._tape.tape import detach_closed, is_batched_array
from stride0.autograd._tape.trees import flatten, tree_map

__all__ = ["Arguments", "Patterns", "check_scalar", "ordered", "pattern_of"]


class Arguments:
    """The arguments of a call, with the chosen ones to differentiate by."""

    def __init__(
        self, operation: str, f: Callable[..., Any], argnums: Argnums, args: tuple[Any, ...], kwargs: Any
    ):
        self.operation, self.f, self.args, self.kwargs = operation, f, args, kwargs
        self.numbers = numbers_of(operation, argnums, len(args))
        self.points = [args[n] for n in self.numbers]
        self.leaves = flatten(self.points, 2)[0]
        for x in self.leaves:
            if isinstance(x, Array) and is_batched_array(x):
                raise BatchingError(
                    operation, "an argument is batched: sparse matrices have no batches", (), "write a loop"
                )

    def chosen(self, *xs: Any) -> Any:
        """Call the function with other values of the chosen arguments."""
        given = list(self.args)
        for n, x in zip(self.numbers, xs, strict=True):
            given[n] = x
        return self.f(*given, **self.kwargs)


class Patterns:
    """The patterns of a function's derivatives, from one traced call."""

    def __init__(self, arguments: Arguments) -> None:
        operation = arguments.operation
        with recording() as tape:
            chosen = Tracked(operation, [tree_map(_copied, x) for x in arguments.points], tape, 2)
            self.size = sum(x.size for x in chosen.arrays)
            self.trace = trace = Trace(self.size)
            start = 2
            for x in flatten(chosen.tree, 2)[0]:
                trace.write(x, np.arange(start, start + x.size).reshape(x.shape))
                start += x.size
            token = TRACE.set(trace)
            try:
                with Setting(CONFIGURATION, tracing(trace)):
                    out = arguments.chosen(*chosen.tree)
            finally:
                TRACE.reset(token)
            self.results = [asarray(y) for y in flatten(out, 1)[0]]
            self.numbers = [self._of_result(operation, y) for y in self.results]
        if trace.lost:
            trace.bend(np.asarray(ALL))

    def _of_result(self, operation: str, y: Array) -> Any:
        """Return the sets of a result's elements."""
        if y.dtype.kind not in FLOATING:
            raise ArgumentTypeError(
                operation, f"a result of dtype {y.dtype.name} has no derivative", (), "return floating arrays"
            )
        numbers, _ = self.trace.read(y)
        if numbers is None:
            return np.zeros(y.size, dtype=np.int64)
        return numbers.ravel()

    @property
    def is_scalar(self) -> bool:
        return len(self.results) == 1 and self.results[0].shape == ()

    def jacobian(self) -> Any:
        """Return the pattern of the Jacobian."""
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *self.numbers])
        return pattern_of(*self.trace.sets.expand(numbers), (len(numbers), self.size))

    def hessian(self, operation: str) -> Any:
        """Return the pattern of the Hessian of a function with one result."""
        check_scalar(operation, self.results)
        pairs = distinct(np.concatenate([np.zeros(0, dtype=np.int64), *self.trace.bent]))
        shape = (len(pairs), self.size)
        halves = (pairs >> 32, pairs & 0xFFFFFFFF)
        one, other = (pattern_of(*self.trace.sets.expand(numbers), shape) for numbers in halves)
        half = one.T @ other
        return ordered(half + half.T)


def _copied(x: Any) -> Any:
    return asarray(detach_closed(x), copy=True) if isinstance(x, Array) else x


def check_scalar(operation: str, results: list[Array]) -> None:
    """Refuse a function that has no Hessian."""
    for y in results:
        if len(results) != 1 or y.shape != () or y.dtype.kind != "real floating":
            found = (
                f"an array of shape {y.shape} and dtype {y.dtype.name}"
                if len(results) == 1
                else "several arrays"
            )
            raise ShapeError(operation, f"the function returned {found}", (), "return one number: sum(y)")


def pattern_of(rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """Return a pattern, given the positions of its entries."""
    return ordered(csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape))


def ordered(matrix: Any) -> Any:
    """Return the pattern of a sparse matrix, sorted and without duplicates."""
    pattern = csr_array(matrix, dtype=bool, copy=True)
    pattern.sum_duplicates()
    pattern.eliminate_zeros()
    pattern.sort_indices()
    return pattern
