"""The operands of rows, and the spelling of statements in each library."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Operand:
    """An array of a row: random numbers from `low` to `high`, or another kind of values.

    `values`: "uniform", "whole" (random integers), "distinct" (no two equal), "sorted", "mask" (half of it
    True), "false", "definite" (positive definite matrices), "identity", or one of them after "list": a Python
    list. `layout`: one of LAYOUTS.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    low: float = 1
    high: float = 100
    values: str = "uniform"
    layout: str = "contiguous"


# How the values of an operand are laid out, and the view that restores their order.
LAYOUTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "contiguous": (lambda values: values, lambda array: array),
    "transposed": (lambda values: values.mT.copy(), lambda array: array.mT),
    "sliced": (lambda values: values.repeat(2, -1), lambda array: array[..., ::2]),
}


# Statements that a library spells differently. No adaptor may run inside a timed statement, so its text is
# changed, by patterns and replacements that are applied in order.
SPELLED: dict[str, tuple[tuple[str, str], ...]] = {
    "numpy": (
        (r"\bcumulative_prod\(", "cumprod("),
        (r"\bastype\((\w+), (\w+)\)", r"\1.astype(\2)"),
        (r"\bcumulative_sum\(", "cumsum("),
        (r"\bcontiguous\(", "ascontiguousarray("),
        (r"\bunique_values\(", "unique("),
    ),
    "torch": (
        (r"\baxis=", "dim="),
        (r"\bmax\(", "amax("),
        (r"\bstd\(x", "std(x, correction=0"),
        (r"\bastype\((\w+), (\w+)\)", r"\1.to(\2)"),
        (r"\btake\((\w+), (\w+), dim=(\d)\)", r"index_select(\1, \3, \2)"),
        (r"\bcontiguous\((.+)\)", r"\1.contiguous()"),
        (r"\bcumulative_sum\(", "cumsum("),
        (r"\bcumulative_prod\(", "cumprod("),
        (r"\bpermute_dims\(", "permute("),
        (r"\bexpand_dims\(", "unsqueeze("),
        (r"\bunique_values\(", "unique("),
        (r"\bnonzero\((\w+)\)", r"nonzero(\1, as_tuple=True)"),
        (r"\bsort\((.+)\)", r"sort(\1)[0]"),
        (r"\baxes=", "dims="),
    ),
    "jax": ((r"\bcontiguous\(", "copy("),),
}


def spelled(statement: str, library: str) -> str:
    for pattern, replacement in SPELLED.get(library, ()):
        statement = re.sub(pattern, replacement, statement)
    return statement


def values(operand: Operand, seed: int) -> Any:
    """Return the values of an operand as a NumPy array, the same ones for the same seed."""
    import numpy

    rng = numpy.random.default_rng(seed)
    kind = operand.values.removeprefix("list ")
    if kind == "false":
        return numpy.zeros(operand.shape, bool)
    if kind == "mask" or operand.dtype == "bool":
        return rng.random(operand.shape) < 0.5
    if kind == "identity":
        return numpy.eye(operand.shape[-1], dtype=operand.dtype)
    if kind == "definite":
        array = values(replace(operand, values="uniform"), seed)
        # Symmetric, or Hermitian, and large enough on the diagonal.
        side = operand.shape[-1]
        return array + array.mT.conj() + numpy.eye(side, dtype=operand.dtype) * int(4 * operand.high * side)
    if kind == "turns":  # of modulus 1
        return numpy.exp(1j * rng.uniform(0.1, 1.5, operand.shape)).astype(operand.dtype)
    if kind == "distinct":
        size = int(numpy.prod(operand.shape))
        return rng.permutation(size).astype(operand.dtype).reshape(operand.shape)
    low, high = operand.low, operand.high

    def numbers() -> Any:
        if kind == "whole" or operand.dtype.startswith("int"):
            return rng.integers(int(low), max(int(high), int(low) + 1), operand.shape).astype(operand.dtype)
        return rng.uniform(low, high, operand.shape).astype(operand.dtype)

    array = numbers()
    # Where all numbers must be 1, so that products stay finite, imaginary parts are 0.
    if operand.dtype.startswith("complex") and high > low:
        array += 1j * numbers()
    return numpy.sort(array, axis=None) if kind == "sorted" else array
