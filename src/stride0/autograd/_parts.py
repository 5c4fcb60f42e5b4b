"""Shared parts of transformations: tracked structures, `argnums`, matching structures."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd._tape import tape as _tape
from stride0.autograd._tape.tape import detach_closed, handed_out
from stride0.autograd._tape.trees import Structure, flatten, tree_map

__all__ = [
    "FLOATING",
    "TRACE",
    "Argnums",
    "Tracked",
    "detached_results",
    "matched",
    "numbers_of",
    "recording",
]

Argnums = int | tuple[int, ...] | list[int]
FLOATING = ("real floating", "complex floating")
# The `Trace` that is active while a pattern of derivatives is determined: Note [Patterns].
TRACE: ContextVar[Any] = ContextVar("stride0.trace", default=None)


@contextmanager
def recording() -> Iterator[_tape.Tape]:
    """Record the computations with arrays that the new tape tracks."""
    tape = _tape.Tape()
    tape.start()
    try:
        yield tape
    finally:
        tape.stop()


class Tracked:
    """A nested structure of arrays, and the same structure with every array tracked."""

    def __init__(self, operation: str, tree: Any, tape: _tape.Tape, aside: int = 1) -> None:
        leaves, self.structure = flatten(tree, aside)
        self.arrays, tracked, self.nodes = _tape.track_all(operation, leaves, tape)
        self.tree = self.structure.rebuild(tracked)

    def gradients(self, found: list[Array | None], cotangents: Sequence[Array] = ()) -> Any:
        """Return cotangents of the leaves in the original structure."""
        return self.structure.rebuild(handed_out(found, self.arrays, cotangents), False)


def detached_results(tree: Any) -> Any:
    """Return results, detached if no open tape tracks them."""
    return tree_map(detach_closed, tree)


def numbers_of(operation: str, argnums: Argnums, count: int, name: str = "argnums") -> tuple[int, ...]:
    try:
        numbers = tuple(map(operator.index, argnums if isinstance(argnums, (tuple, list)) else (argnums,)))
    except TypeError:
        raise ArgumentTypeError(
            operation, f"{name} is {argnums!r}", accepts=f"pass {name} as an integer or a tuple of integers"
        ) from None
    for n in numbers:
        if not -count <= n < count:
            raise ArgumentValueError(
                operation, f"{name} names argument {n} of a call with {count} positional arguments"
            )
    found = tuple(n % count for n in numbers)
    if len(set(found)) < len(found):
        raise ArgumentValueError(operation, f"{name} names an argument twice: {numbers}")
    return found


def matched(operation: str, structure: Structure, tree: Any, what: str) -> list[Any]:
    """Return the leaves of cotangents or tangents in the order of the leaves of `structure`."""
    try:
        return structure.leaves_of(tree)
    except ValueError as error:
        raise ArgumentValueError(operation, f"{what} have a different structure: {error}") from None
