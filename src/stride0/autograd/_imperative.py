"""`Tape`: differentiation of what a block of code computes."""

from __future__ import annotations

from typing import Any

from stride0._base.errors import GradientError
from stride0._chapters.creation import ones
from stride0.autograd._parts import Tracked, matched
from stride0.autograd._tape import tape as _tape
from stride0.autograd._tape.tape import (
    Node,
    all_like,
    backward,
    current_node,
    facts_of,
    handed_out,
    node_of,
    scalar_result,
)
from stride0.autograd._tape.trees import flatten

__all__ = ["Tape"]


class Tape(_tape.Tape):
    """
    The imperative form: records what is computed from tracked arrays in its block.

    A gradient that is taken within the block is recorded as well, and can be differentiated again; one that
    is taken after it is not. Tapes nest. After the block, and unless another open tape tracks them, its
    arrays are ordinary arrays again.

    Examples
    --------
    >>> import stride0 as xp
    >>> from stride0.autograd import Tape
    >>> with Tape() as t:
    ...     a = t.watch(xp.asarray([1.0, 2.0]))
    ...     y = xp.sum(a**2)
    >>> t.gradient(y, a)
    Array([2., 4.], dtype=float64)
    """

    def __enter__(self) -> Tape:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def watch(self, x: Any) -> Any:
        """
        Return tracked arrays.

        Parameters
        ----------
        x : nested structure of arrays
            Of floating-point dtypes.

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
        """
        if not self.open:
            raise GradientError("watch", "the tape is not recording", accepts="with Tape() as t: ...")
        return Tracked("watch", x, self).tree

    def gradient(self, y: Any, xs: Any, cotangent: Any = None) -> Any:
        """
        Return the gradient of a result.

        Parameters
        ----------
        y : nested structure of arrays
            What to differentiate: one real array without axes, or anything with a `cotangent`.
        xs : nested structure of arrays
            What to differentiate by: tracked arrays that `y` was computed from.
        cotangent : nested structure of arrays, optional
            Structured like `y`. Default: 1.

        Returns
        -------
        nested structure of arrays
            Structured like `xs`: new arrays of their shapes and dtypes.

        Raises
        ------
        GradientError
            If one of `xs` is not tracked.
        """
        if cotangent is None:
            y = scalar_result("gradient", y)
            cotangent = ones((), dtype=y.dtype)
        results, outputs = flatten(y)
        seeds = matched("gradient", outputs, cotangent, "the cotangents")
        leaves, structure = flatten(xs)
        nodes: list[Node] = []
        for x in leaves:
            node = node_of(x)
            if node is None:
                raise GradientError(
                    "gradient", "an array of xs is not tracked", accepts="what watch() returned"
                )
            nodes.append(node)
        if results and all(current_node(r) is None for r in results):
            raise GradientError(
                "gradient",
                "the result was not computed from tracked arrays while the tape was recording",
                accepts="a result that is computed in the block of the tape",
            )
        given = all_like("gradient", seeds, facts_of(results))
        found = backward([current_node(r) for r in results], given, nodes, self)
        return structure.rebuild(handed_out(found, leaves, given))
