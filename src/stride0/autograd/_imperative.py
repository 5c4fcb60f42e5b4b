"""`Tape`: differentiation of a block of code."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from stride0._base.errors import GradientError
from stride0._chapters.creation import ones
from stride0._core.array.array import Array
from stride0.autograd._parts import Tracked, matched
from stride0.autograd._tape import tape as _tape
from stride0.autograd._tape.tape import (
    Node,
    all_like,
    backward,
    current_node,
    facts_of,
    handed_out,
    scalar_result,
    written_at,
)
from stride0.autograd._tape.trees import flatten

__all__ = ["Tape"]


def _forget(tape: weakref.ref[Tape], key: int, _: object) -> None:
    """Drop the node of an array that has been freed."""
    known = tape()
    if known is not None:
        del known._leaves[key]


class Tape(_tape.Tape):
    """Record the computations with tracked arrays in a block, to differentiate them.

    A gradient that is taken within the block is recorded as well, and can be differentiated again; a gradient
    taken after the block is not recorded. Tapes nest. After the block its arrays are ordinary arrays again,
    unless another open tape tracks them.

    Examples
    --------
    >>> with xp.autograd.Tape() as tape:
    ...     x = tape.watch(xp.asarray([1.0, 2.0]))
    ...     y = xp.sum(x**2)
    >>> tape.gradient(y, x)
    Array([2., 4.], dtype=float64)
    """

    def __init__(self) -> None:
        # The first nodes of the arrays that watch() returned, while these exist: a write changes the node.
        self._leaves: dict[int, tuple[weakref.ref[Array], Node]] = {}

    def __enter__(self) -> Tape:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def watch(self, x: Any) -> Any:
        """Return tracked arrays.

        Parameters
        ----------
        x : nested structure of arrays
            Arrays of floating-point dtypes.

        Returns
        -------
        nested structure of arrays
            Views of the same memory.

        Raises
        ------
        GradientError
            Outside of the block of the tape.
        ArgumentTypeError
            If a leaf is not an array of a floating-point dtype.

        Examples
        --------
        >>> parameters = {"w": xp.asarray([1.0, 2.0]), "b": xp.asarray(3.0)}
        >>> with xp.autograd.Tape() as tape:
        ...     tracked = tape.watch(parameters)
        ...     y = xp.sum(tracked["w"] * tracked["b"])
        >>> tape.gradient(y, tracked)
        {'w': Array([3., 3.], dtype=float64), 'b': Array(3., dtype=float64)}
        """
        if not self.open:
            raise GradientError(
                "watch",
                "the tape is not recording",
                accepts="call watch() in the block: with Tape() as tape: x = tape.watch(x)",
            )
        tracked = Tracked("watch", x, self)
        leaves, _ = flatten(tracked.tree, 1)
        for leaf, node in zip(leaves, tracked.nodes, strict=True):
            forget = functools.partial(_forget, weakref.ref(self), id(leaf))
            self._leaves[id(leaf)] = weakref.ref(leaf, forget), node
        return tracked.tree

    def _node(self, x: Any) -> Node:
        """Return the node of an array to differentiate by."""
        if id(x) in self._leaves:
            return self._leaves[id(x)][1]
        node = current_node(x)
        if node is None:
            where = written_at(x) if isinstance(x, Array) else None
            raise GradientError(
                "gradient",
                "an array of xs is not tracked"
                if where is None
                else "an array of xs is not tracked any more: it was overwritten",
                () if where is None else (("written at", where),),
                "pass the arrays that watch() returned",
            )
        return node

    def gradient(self, y: Any, xs: Any, cotangent: Any = None) -> Any:
        """Return the gradient of a result.

        Parameters
        ----------
        y : nested structure of arrays
            What to differentiate: a real 0-d array, or with a `cotangent` any structure of arrays.
        xs : nested structure of arrays
            Differentiate by these tracked arrays, from which `y` was computed. An array stands for its
            current values, or its values at the end of the block. But an array returned by watch() stands for
            its values at that time, even if it was written to since, like an argument in `grad`.
        cotangent : nested structure of arrays, optional
            Structured like `y`. Default: 1.

        Returns
        -------
        nested structure of arrays
            Structured like `xs`: new arrays of their shapes and dtypes.

        Raises
        ------
        GradientError
            If an array of `xs` is not tracked, or if it was overwritten and `y` does not depend on the new
            values.

        Examples
        --------
        >>> with xp.autograd.Tape() as tape:
        ...     x = tape.watch(xp.asarray([1.0, 2.0]))
        ...     y = x**2
        >>> tape.gradient(y, x, cotangent=xp.asarray([1.0, 10.0]))
        Array([ 2., 40.], dtype=float64)
        """
        if cotangent is None:
            y = scalar_result("gradient", y)
            cotangent = ones((), dtype=y.dtype)
        results, outputs = flatten(y)
        seeds = matched("gradient", outputs, cotangent, "the cotangents")
        leaves, structure = flatten(xs)
        nodes = [self._node(x) for x in leaves]
        if results and all(current_node(r) is None for r in results):
            raise GradientError(
                "gradient",
                "the result was not computed from tracked arrays while the tape was recording",
                accepts="compute the result inside the block of the tape",
            )
        given = all_like("gradient", seeds, facts_of(results))
        found = backward([current_node(r) for r in results], given, nodes, self)
        for x, g in zip(leaves, found, strict=True):
            if g is None and id(x) not in self._leaves and (where := written_at(x)) is not None:
                raise GradientError(
                    "gradient",
                    "an array of xs was overwritten, and the result does not depend on its new values",
                    (("written at", where),),
                    "pass the array that watch() returned, or a copy made before the write",
                )
        return structure.rebuild(handed_out(found, leaves, given))
