"""`flatten`: a nested structure as one array with one axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0.autograd._parts import FLOATING
from stride0.autograd._tape import trees
from stride0.autograd.hips._operators import arrays

__all__ = ["flatten", "flatten_func"]


def _sorted(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _sorted(tree[key]) for key in sorted(tree)}
    return type(tree)(map(_sorted, tree)) if type(tree) in (tuple, list) else tree


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Join the arrays of a nested structure in one array with one axis.

    Parameters
    ----------
    value : nested structure of arrays
        Tuples, lists, and dicts, whose keys are sorted.

    Returns
    -------
    flat : Array
        All elements.
    unflatten : callable
        Takes an array of this shape, returns a structure like `value`.

    Examples
    --------
    >>> from stride0.autograd.hips.misc import flatten
    >>> flat, unflatten = flatten({"b": 1.0, "a": np.asarray([2.0, 3.0])})
    >>> flat, unflatten(flat)["b"]
    (Array([2., 3., 1.], dtype=float64), Array(1., dtype=float64))
    """
    leaves, structure = trees.flatten(_sorted(arrays(value)))
    leaves = [xp.asarray(x) for x in leaves]
    facts = [(x.shape, x.dtype) for x in leaves]

    def unflatten(flat: Any) -> Any:
        given, start, parts = arrays(flat), 0, []
        for shape, dtype in facts:
            part = xp.reshape(given[start : start + math.prod(shape)], shape)
            start += math.prod(shape)
            if dtype.kind == "real floating" and part.dtype.kind == "complex floating":
                part = xp.real(part)
            parts.append(xp.astype(part, dtype, copy=False) if dtype.kind in FLOATING else part)
        return structure.rebuild(parts)

    return xp.concat([xp.reshape(x, (-1,)) for x in leaves] or [xp.zeros(0)]), unflatten


def flatten_func(
    func: Callable[..., Any], example: Any
) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Return a function of flat arrays, `unflatten`, and the flat example, as HIPS does."""
    flat, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, flat
