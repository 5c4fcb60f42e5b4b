"""Gradient rules of `einsum` and `tensordot`.

The cotangent of an operand is a contraction too: it contracts the result's cotangent with the other operand
to the labels of the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stride0._base.shapes import Shape
from stride0._base.subscripts import Labels, labels_of_tensordot
from stride0._chapters.contractions import einsum
from stride0._chapters.creation import arange
from stride0._chapters.elementwise import equal
from stride0._chapters.manipulation import broadcast_to, expand_dims, reshape
from stride0._core.array.array import Array
from stride0._core.elementwise.elementwise import conjugate
from stride0._core.elementwise.functions import where
from stride0._core.matmul.matmul import read_steps, read_subscripts
from stride0.autograd._rules.compiled import contract
from stride0.autograd._tape.tape import recorded

Labelled = tuple[Array, Labels]


class Cotangents(Sequence[Any]):
    """The cotangents of the operands, each computed when it is first read."""

    def __init__(self, g: Array, subscripts: Any, operands: tuple[Any, ...], optimize: Any) -> None:
        arrays, read = read_subscripts("einsum", subscripts, operands)
        self._g: Labelled = (g, read.output)
        self._operands: list[Labelled] = list(zip(arrays, read.inputs, strict=True))
        self._call = (subscripts, operands, optimize)
        self._all: list[Array] | None = None

    def __len__(self) -> int:
        return len(self._operands)

    def __getitem__(self, k: Any) -> Any:
        if len(self._operands) <= 2:
            x, labels = self._operands[k]
            return _cotangent(
                self._g, x.shape, labels, self._operands[1 - k] if len(self._operands) > 1 else None
            )
        if self._all is None:
            self._all = _backward(self._g, self._operands, read_steps("einsum", *self._call))
        return self._all[k]


def _cotangent(g: Labelled, shape: Shape, labels: Labels, other: Labelled | None) -> Array:
    """Return the cotangent of one of at most two operands. The other operand's axes may have size 1.

    Parameters
    ----------
    g : array and labels
        The cotangent of the result.
    shape, labels : tuple of int
        Shape and labels of the operand.
    other : array and labels, optional
        The other operand.
    """
    result, kept = g
    known = set(kept).union(other[1] if other else ())
    first = [k for k, label in enumerate(labels) if label not in labels[:k]]
    wanted = [labels[k] for k in first if labels[k] in known]
    if other is None:
        found = einsum(result, list(kept), wanted)
    else:
        theirs = other[1]
        found = contract(
            lambda g, d: einsum(g, list(kept), d, list(theirs), wanted), result, conjugate(other[0])
        )
    added = tuple(k for k in range(len(labels)) if k not in first or labels[k] not in known)
    if added:
        found = expand_dims(found, axis=added)
    # Along summed axes that only this operand has, or in which it is longer, all elements have the same
    # cotangent.
    sizes = tuple((found.shape[k] if n == 1 else n) if k in first else 1 for k, n in enumerate(shape))
    if sizes != found.shape:
        found = broadcast_to(found, sizes)
    for k, label in enumerate(labels):
        if k not in first:
            # Only the diagonal was read.
            found = where(equal(_places(shape, labels.index(label)), _places(shape, k)), found, 0)
    return found


def _places(shape: Shape, axis: int) -> Array:
    return reshape(arange(shape[axis]), (1,) * axis + (-1,) + (1,) * (len(shape) - axis - 1))


def _backward(g: Labelled, operands: list[Labelled], steps: Sequence[tuple[int, int, bytes]]) -> list[Array]:
    """Return the cotangents of several operands, in one backward pass through the contracted pairs."""
    values = list(operands)
    left = list(range(len(operands)))
    made: list[tuple[tuple[int, ...], int]] = []
    for first, second, output in steps:
        used = tuple(left.pop(place) for place in (second, first) if place >= 0)[::-1]
        given = [part for k in used for part in (values[k][0], list(values[k][1]))]
        left.append(len(values))
        made.append((used, len(values)))
        values.append((einsum(*given, list(output)), tuple(output)))
    found: dict[int, Array] = {made[-1][1]: g[0]}
    for used, result in reversed(made):
        of_result = (found.pop(result), values[result][1])
        for k in used:
            x, labels = values[k]
            other = values[sum(used) - k] if len(used) > 1 else None
            own = _cotangent(of_result, x.shape, labels, other)
            # Sum over broadcast axes of size 1.
            found[k] = own if own.shape == x.shape else recorded("sum_into", own, x.shape)
    return [found[k] for k in range(len(operands))]


def _first(g: Array, subscripts: Any, operands: Any, optimize: Any) -> Array:
    """Return the cotangent of the first operand in the interleaved form."""
    return Cotangents(g, subscripts, operands, optimize)[0]  # type: ignore[no-any-return]


def _others(g: Array, subscripts: Any, operands: Any, optimize: Any) -> Any:
    found = Cotangents(g, subscripts, operands, optimize)
    return found if isinstance(subscripts, str) else _Interleaved(found)


class _Interleaved(Sequence[Any]):
    """The cotangents after the first operand in the interleaved form, for lists and arrays in turn."""

    def __init__(self, found: Cotangents) -> None:
        self._found = found

    def __len__(self) -> int:
        return 2 * len(self._found)

    def __getitem__(self, k: Any) -> Any:
        return self._found[(k + 1) // 2]


def _of_tensordot(g: Array, shape: Shape, other: Array, axes: Any, first: bool) -> Array:
    ndims = (len(shape), other.ndim) if first else (other.ndim, len(shape))
    labels1, labels2, kept = labels_of_tensordot("tensordot", axes, *ndims)
    own, theirs = (labels1, labels2) if first else (labels2, labels1)
    return _cotangent((g, kept), shape, own, (other, theirs))


VJP: dict[str, dict[str, Callable[..., Any]]] = {
    "einsum": {"subscripts": _first, "operands": _others},
    "tensordot": {
        "x1": lambda g, x1_shape, x2, axes: _of_tensordot(g, x1_shape, x2, axes, True),
        "x2": lambda g, x2_shape, x1, axes: _of_tensordot(g, x2_shape, x1, axes, False),
    },
}
NO_GRAD: dict[str, str] = {"einsum_path": "takes no values, only shapes"}
