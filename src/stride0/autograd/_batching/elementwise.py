"""Batching rules of elementwise functions, reductions, scans, sorting and searching."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from stride0._chapters import statistical, utility
from stride0._chapters.counting import intervals
from stride0._chapters.elementwise import equal, logical_not, subtract
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.manipulation import concat, reshape
from stride0._chapters.searching import argmax, argmin, count_nonzero, searchsorted
from stride0._chapters.selection import argpartition, argselect
from stride0._chapters.set import isin
from stride0._chapters.sorting import argsort, sort
from stride0._chapters.statistical import cumulative_prod, cumulative_sum
from stride0._chapters.utility import any as _any
from stride0._chapters.utility import diff
from stride0._core.array.array import Array
from stride0._core.elementwise import functions
from stride0._core.elementwise.elementwise import multiply_masked
from stride0._core.exchange.exchange import asarray
from stride0._tables.operations import OPS
from stride0.autograd._batching.parts import (
    Level,
    Rule,
    along,
    along_all,
    broadcast,
    check,
    flat,
    natural,
    shifted,
)
from stride0.autograd._rules.elementwise import cosine, inverse_part, sech_squared
from stride0.autograd._rules.parts import multiply_nonzero
from stride0.autograd._rules.statistical import recurrence

# Operations of the table that are functions of the namespace without further parameters.
PLAIN = [
    op.name for op in OPS if op.public and not op.namespace and op.name not in ("add", "subtract", "clip")
]


def aligned(operation: str, level: Level, **operands: Any) -> list[Any]:
    """Return the values of operands, reshaped so that they broadcast; parameter names are for errors."""
    shapes = {name: x.shape for name, x in operands.items() if isinstance(x, Array)}
    ndim = len(broadcast(operation, **shapes)) if len(shapes) > 1 else max(map(len, shapes.values()))
    return [level.aligned(x, ndim) if isinstance(x, Array) else x for x in operands.values()]


@cache
def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameter names of a function. Reading them takes long: the first call does it."""
    return tuple(inspect.signature(function).parameters)


def elementwise(function: Callable[..., Any], operation: str = "") -> Rule:
    """Return the rule of a function whose operands broadcast."""
    known = operation or function.__name__

    def rule(level: Level, *operands: Any) -> Any:
        return function(*aligned(known, level, **dict(zip(names_of(function), operands, strict=True))))

    return rule


def scaled(function: Callable[..., Any]) -> Rule:
    """Return the rule of `add` and `subtract`."""

    def rule(level: Level, x1: Any, x2: Any, alpha: Any) -> Array:
        x1, x2, alpha = aligned(function.__name__, level, x1=x1, x2=x2, alpha=alpha)
        found: Array = function(x1, x2, alpha=alpha)
        return found

    return rule


def position(function: Callable[..., Any]) -> Rule:
    """Return the rule of `argmax` and `argmin`."""

    def rule(level: Level, x: Array, axis: Any, keepdims: bool) -> Array:
        if x.size == 0:
            check(function, x, axis=axis, keepdims=keepdims)
        found: Array
        if axis is not None:
            found = function(level.value(x), axis=shifted(function.__name__, axis, x.ndim), keepdims=keepdims)
        else:
            found = function(flat(level, x), axis=1)
            if keepdims:
                found = reshape(found, (level.size,) + (1,) * x.ndim)
        return found

    return rule


def scan(function: Callable[..., Any]) -> Rule:
    """Return the rule of a cumulative function."""

    def rule(level: Level, x: Array, axis: Any, dtype: Any, include_initial: bool) -> Array:
        value = level.value(x)
        if x.ndim == 0 and axis in (None, 0, -1):
            value, axis = reshape(value, (level.size, 1)), 1
        elif axis is None and x.ndim == 1:
            axis = 1
        elif axis is None:
            natural(function, x, axis=axis)
        else:
            axis = shifted(function.__name__, axis, x.ndim)
        found: Array = function(value, axis=axis, dtype=dtype, include_initial=include_initial)
        return found

    return rule


def ranks(x: Array) -> Array:
    """Return the rank of each element in its row."""
    return argsort(argsort(x, axis=-1), axis=-1)


def search(level: Level, x1: Array, x2: Any, side: str, sorter: Any) -> Array:
    """Return `searchsorted` of each row, by sorting both rows together; `side` orders equal elements."""
    if not level.has(x1) and not level.has(sorter):
        return searchsorted(x1, level.value(x2), side=side, sorter=sorter)  # type: ignore[arg-type]
    wanted = x2 if isinstance(x2, Array) else asarray(x2)
    if x1.ndim != 1 or side not in ("left", "right") or (sorter is not None and sorter.shape != x1.shape):
        natural(searchsorted, x1, wanted, side=side, sorter=sorter)
    among = level.spread(x1)
    if sorter is not None:
        among = take_along_axis(among, level.spread(sorter), axis=1)
    row = flat(level, wanted)
    n, m = x1.shape[0], wanted.size
    both = concat([row, among] if side == "left" else [among, row], axis=1)
    found = ranks(both)
    found = found[:, :m] if side == "left" else found[:, n:]
    return reshape(subtract(found, ranks(row)), (level.size, *wanted.shape))


def membership(level: Level, x1: Any, x2: Any, invert: bool) -> Array:
    if not level.has(x2):
        return isin(level.value(x1), x2, invert=invert)
    x1 = x1 if isinstance(x1, Array) else asarray(x1)
    row = reshape(level.value(x2), (level.size,) + (1,) * x1.ndim + (x2.size,))
    found = _any(equal(level.spread(x1)[..., None], row), axis=-1)
    return logical_not(found) if invert else found


def differences(level: Level, x: Array, axis: Any, n: int, prepend: Any, append: Any) -> Array:
    at = shifted("diff", axis, x.ndim)
    ends = [part if part is None else level.spread(part) for part in (prepend, append)]
    return diff(level.spread(x), axis=at, n=n, prepend=ends[0], append=ends[1])


def _recurrence(level: Level, g: Array, x: Array, axis: int) -> Array:
    return recurrence(level.spread(g), level.spread(x), axis + 1)


RULES: dict[str, Rule] = {
    **{name: elementwise(getattr(functions, name)) for name in PLAIN},
    "clip": elementwise(functions.clip),
    "where": elementwise(functions.where),
    "real": elementwise(functions.real),
    "imag": elementwise(functions.imag),
    "multiply_masked": elementwise(multiply_masked),
    "multiply_nonzero": elementwise(multiply_nonzero),
    "cosine": elementwise(cosine),
    "inverse_part": elementwise(inverse_part),
    "sech_squared": elementwise(sech_squared),
    "recurrence": _recurrence,
    "add": scaled(functions.add),
    "subtract": scaled(functions.subtract),
    **{
        f.__name__: along_all(f)
        for f in (
            *(statistical.sum, statistical.prod, statistical.max, statistical.min, statistical.mean),
            *(statistical.std, statistical.var, utility.all, utility.any, count_nonzero),
        )
    },
    **{f.__name__: along(f) for f in (sort, argsort, argpartition, argselect)},
    "argmax": position(argmax),
    "argmin": position(argmin),
    "cumulative_sum": scan(cumulative_sum),
    "cumulative_prod": scan(cumulative_prod),
    "searchsorted": search,
    "intervals": lambda level, x, edges, first, last: intervals(level.value(x), edges, first, last),
    "isin": membership,
    "diff": differences,
}
