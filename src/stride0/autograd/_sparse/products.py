"""Patterns of products of matrices and of other contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0._core.matmul.matmul import read_subscripts
from stride0.autograd._sparse.sets import EMPTY

__all__ = ["product", "products_of"]

Labels = list[int]


def products_of(call: Any) -> tuple[list[Any], list[Labels], Labels] | None:
    """Return a call as operands, labels of their axes, and labels of the result; None for other forms."""
    given = call.bound()
    if call.name == "einsum":
        arrays, read = read_subscripts("einsum", given["subscripts"], given["operands"])
        return list(arrays), [list(labels) for labels in read.inputs], list(read.output)
    x, y = given["x1"], given["x2"]
    if not isinstance(x, Array) or not isinstance(y, Array):
        return None
    one, other = list(range(x.ndim)), list(range(x.ndim, x.ndim + y.ndim))
    if call.name == "linalg.outer":
        return [x, y], [one, other], one + other
    if call.name == "tensordot":
        axes = given["axes"]
        pairs = axes if isinstance(axes, (tuple, list)) else (range(x.ndim - axes, x.ndim), range(axes))
        for a, b in zip(*pairs, strict=True):
            other[normalize_axis("tensordot", b, y.ndim)] = one[normalize_axis("tensordot", a, x.ndim)]
        joined = set(one) & set(other)
        return [x, y], [one, other], [k for k in (*one, *other) if k not in joined]
    # Broadcast axes share a label, counted from the last axis.
    if call.name == "vecdot":
        axis = given["axis"]
        one, other = _aligned(x.ndim, y.ndim)
        output = [k for k in range(max(x.ndim, y.ndim)) if k != axis % max(x.ndim, y.ndim)]
        return [x, y], [one, other], output
    batch = max(x.ndim, y.ndim, 2) - 2
    i, j, k = batch, batch + 1, batch + 2
    stacks = _aligned(max(x.ndim - 2, 0), max(y.ndim - 2, 0))
    one = [*stacks[0], *([i] if x.ndim > 1 else []), k]
    other = [*stacks[1], k, *([j] if y.ndim > 1 else [])]
    rest = [*([i] if x.ndim > 1 else []), *([j] if y.ndim > 1 else [])]
    longest = max(stacks, key=len)
    return [x, y], [one, other], [*longest, *rest]


def _aligned(n: int, m: int) -> tuple[Labels, Labels]:
    most = max(n, m)
    return list(range(most - n, most)), list(range(most - m, most))


def product(call: Any, operands: list[Any], labels: list[Labels], output: Labels) -> Any:
    """Return the sets of a sum of products; add the pairs of factors to the second derivatives."""
    sizes: dict[int, int] = {}
    for x, names in zip(operands, labels, strict=True):
        for name, n in zip(names, x.shape, strict=True):
            sizes[name] = max(n, sizes.get(name, 1))
    sets = call.trace.sets
    active = [k for k, x in enumerate(operands) if call.is_active(x)]
    if len(operands) == 2 and len(active) == 1:
        # Use the zeros of a constant factor.
        k = active[0]
        factor = call.constant(operands[1 - k])
        if factor is not None and not np.all(factor):
            found = _with_constant(call, operands[k], labels[k], factor, labels[1 - k], output, sizes)
            if found is not None:
                return found
    total: Any = np.zeros([sizes[name] for name in output], dtype=np.int64)
    for k in active:
        total = sets.either(total, _spread(sets, call.numbers(operands[k]), labels[k], output))
    if len(active) == 2 == len(operands):
        # A term has one factor from each operand, at equal labels.
        shared = [name for name in dict.fromkeys(labels[0]) if name in labels[1]]
        one, other = (
            _spread(sets, call.numbers(x), names, shared) for x, names in zip(operands, labels, strict=True)
        )
        call.trace.bend(*np.broadcast_arrays(one, other))
    elif len(active) > 1:
        call.trace.bend(total)
    return total


def _distinct(numbers: Any, labels: Labels) -> tuple[Any, Labels]:
    """Return an operand without repeated labels: its diagonals."""
    names = list(dict.fromkeys(labels))
    return (np.einsum(numbers, labels, names), names) if len(names) < len(labels) else (numbers, labels)


def _spread(sets: Any, numbers: Any, labels: Labels, output: Labels) -> Any:
    """Return the sets of an operand, united along summed labels, in a shape that broadcasts to the output."""
    numbers, labels = _distinct(numbers, labels)
    summed = tuple(axis for axis, name in enumerate(labels) if name not in output)
    if summed:
        numbers = sets.along(numbers, summed)
        labels = [name for name in labels if name in output]
    order = sorted(range(len(labels)), key=lambda axis: output.index(labels[axis]))
    numbers = np.transpose(numbers, order)
    sizes = dict(zip([labels[axis] for axis in order], numbers.shape, strict=True))
    return numbers.reshape([sizes.get(name, 1) for name in output])


# The most terms that are listed one by one.
MOST_TERMS = 1 << 24


def _with_constant(
    call: Any, x: Any, own: Labels, factor: Any, others: Labels, output: Labels, sizes: dict[int, int]
) -> Any:
    """Return the sets of a product with a constant: only terms whose constant factor is not 0 count."""
    numbers, own = _distinct(call.numbers(x), own)
    factor, others = _distinct(np.asarray(factor != 0), others)
    # All labels, with the constant's labels first: one row of terms for each nonzero of the constant.
    free = [name for name in own if name not in others]
    places = np.nonzero(factor)
    terms = len(places[0]) if places else 1
    rest = int(np.prod([sizes[name] for name in free], dtype=np.int64))
    if terms * rest > MOST_TERMS:
        return None
    known = dict(zip(others, places, strict=True))
    grids = np.meshgrid(*[np.arange(sizes[name]) for name in free], indexing="ij")
    index = {name: np.repeat(at, rest) for name, at in known.items()}
    index |= {name: np.tile(grid.ravel(), terms) for name, grid in zip(free, grids, strict=True)}
    if any(
        name not in index or factor.shape[others.index(name)] != sizes[name]
        for name in output
        if name in others
    ):
        return None
    if any(name in others and factor.shape[others.index(name)] != sizes[name] for name in own):
        return None
    here = tuple(
        index[name] if n > 1 else 0 * index[name] for name, n in zip(own, numbers.shape, strict=True)
    )
    found = numbers[here] if here else np.full(terms * rest, numbers)
    shape = [sizes[name] for name in output]
    if any(name not in index for name in output):
        return None
    there = (
        np.ravel_multi_index([index[name] for name in output], shape) if output else np.zeros(len(found), int)
    )
    count = int(np.prod(shape, dtype=np.int64))
    result = call.trace.sets.groups(np.where(found < 0, EMPTY, found), there, count)
    return result.reshape(shape)
