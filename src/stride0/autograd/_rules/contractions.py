"""Gradient rules of `einsum`.

The cotangent of an operand is a contraction again: of that of the result and of the other operands, to the
labels of the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stride0._base.subscripts import Labels, find_path, steps_of
from stride0._chapters.contractions import einsum
from stride0._chapters.creation import arange
from stride0._chapters.elementwise import equal
from stride0._chapters.manipulation import broadcast_to, expand_dims, reshape
from stride0._core.array.array import Array
from stride0._core.calls.einsum import read_subscripts
from stride0._core.ops.elementwise import conjugate
from stride0._core.ops.functions import where

Labelled = tuple[Array, Labels]


class Cotangents(Sequence[Any]):
    """The cotangents of the operands, each computed when it is asked for."""

    def __init__(self, g: Array, subscripts: Any, operands: tuple[Any, ...], optimize: Any) -> None:
        arrays, read = read_subscripts("einsum", subscripts, operands)
        self._g: Labelled = (g, read.output)
        self._operands: list[Labelled] = list(zip(arrays, read.inputs, strict=True))
        self._path = steps_of(
            read.inputs, read.output, find_path("einsum", read, [x.shape for x in arrays], optimize)[0]
        )
        self._all: list[Array] | None = None

    def __len__(self) -> int:
        return len(self._operands)

    def __getitem__(self, k: Any) -> Any:
        if len(self._operands) <= 2:
            return _cotangent(self._g, self._operands[k], self._operands[:k] + self._operands[k + 1 :])
        if self._all is None:
            self._all = _backward(self._g, self._operands, self._path)
        return self._all[k]


def _cotangent(g: Labelled, own: Labelled, others: Sequence[Labelled]) -> Array:
    """Return the cotangent of an operand of a contraction, up to axes of size 1 that were stretched."""
    x, labels = own
    given: list[Any] = [g[0], list(g[1])]
    for other, theirs in others:
        given += [conjugate(other), list(theirs)]
    known = set(g[1]).union(*(theirs for _, theirs in others))
    first = [k for k, label in enumerate(labels) if label not in labels[:k]]
    # Along what the operand alone has, and was summed along, all elements have the same cotangent.
    found = einsum(*given, [labels[k] for k in first if labels[k] in known])
    added = tuple(k for k in range(len(labels)) if k not in first or labels[k] not in known)
    if added:
        found = expand_dims(found, axis=added)
    if any(size > found.shape[k] for k, size in enumerate(x.shape) if k in first):
        sizes = zip(x.shape, found.shape, strict=True)
        found = broadcast_to(found, tuple(max(own, n) if k in first else n for k, (own, n) in enumerate(sizes)))
    for k, label in enumerate(labels):
        if k not in first:
            # Only elements of the diagonal have been read.
            found = where(equal(_places(x, labels.index(label)), _places(x, k)), found, 0)
    return found


def _places(x: Array, axis: int) -> Array:
    return reshape(arange(x.shape[axis]), (1,) * axis + (-1,) + (1,) * (x.ndim - axis - 1))


def _backward(
    g: Labelled, operands: list[Labelled], steps: Sequence[tuple[int, int, Labels]]
) -> list[Array]:
    """Return the cotangents of several operands, in one pass back through the pairs that were contracted."""
    values = list(operands)
    left = list(range(len(operands)))
    made: list[tuple[tuple[int, ...], int]] = []
    for first, second, output in steps:
        used = tuple(left.pop(place) for place in (second, first) if place >= 0)[::-1]
        given = [part for k in used for part in (values[k][0], list(values[k][1]))]
        left.append(len(values))
        made.append((used, len(values)))
        values.append((einsum(*given, list(output)), output))
    found: dict[int, Array] = {made[-1][1]: g[0]}
    for used, result in reversed(made):
        of_result = (found.pop(result), values[result][1])
        for k in used:
            found[k] = _summed(_cotangent(of_result, values[k], [values[j] for j in used if j != k]), values[k][0])
    return [found[k] for k in range(len(operands))]


def _summed(g: Array, x: Array) -> Array:
    """Return a cotangent summed along axes of size 1 that were stretched."""
    stretched = [k for k in range(x.ndim) if g.shape[k] > x.shape[k]]
    if not stretched:
        return g
    return einsum(g, list(range(g.ndim)), [k for k in range(g.ndim) if k not in stretched]).reshape(x.shape)


def _first(g: Array, subscripts: Any, operands: Any, optimize: Any) -> Array:
    """Return the cotangent of the first operand of the interleaved form."""
    return Cotangents(g, subscripts, operands, optimize)[0]  # type: ignore[no-any-return]


def _others(g: Array, subscripts: Any, operands: Any, optimize: Any) -> Any:
    found = Cotangents(g, subscripts, operands, optimize)
    return found if isinstance(subscripts, str) else _Interleaved(found)


class _Interleaved(Sequence[Any]):
    """The cotangents of what stands behind the first operand of the interleaved form: lists, and arrays behind them."""

    def __init__(self, found: Cotangents) -> None:
        self._found = found

    def __len__(self) -> int:
        return 2 * len(self._found)

    def __getitem__(self, k: Any) -> Any:
        return self._found[(k + 1) // 2]


VJP: dict[str, dict[str, Callable[..., Any]]] = {"einsum": {"subscripts": _first, "operands": _others}}
NO_GRAD: dict[str, str] = {"einsum_path": "takes no values, only shapes"}
