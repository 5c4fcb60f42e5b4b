"""Derivatives of any order along a curve, in one pass: `jet` and `derivatives`."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from stride0._base.shapes import normalize_index
from stride0._chapters.creation import ones_like, zeros_like
from stride0._chapters.utility import any as any_of
from stride0._core.array.array import Array
from stride0._core.array.modes import CONFIGURATION
from stride0._core.call.checks import check_array, check_function, check_sequence
from stride0._core.exchange.exchange import asarray
from stride0._modes.switches import Setting
from stride0.autograd._parts import FLOATING, Tracked, matched, recording
from stride0.autograd._tape.tape import (
    Deferring,
    all_like,
    detach_closed,
    facts_of,
    is_batched_array,
    is_tracked,
)
from stride0.autograd._tape.trees import flatten

__all__ = ["derivatives", "jet"]


def jet(f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """Compute derivatives of a function along a curve, up to any order, in one pass.

    Parameters
    ----------
    f : callable
        Returns arrays of floating-point dtypes, in any nested structure.
    primals : sequence of nested structures of arrays
        The arguments: the point of the curve at t = 0.
    series : sequence of sequences
        One sequence for each argument: the first, second, ... derivative of the curve by t at 0, each
        structured like the argument. All have the same length: the order.

    Returns
    -------
    y : nested structure of arrays
        What `f` returned.
    derivatives : list of nested structures of arrays
        The first, second, ... derivative of ``f(curve(t))`` by t at 0, each structured like `y`. Divide
        derivative k by k! for Taylor coefficient k.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ShapeError
        If an argument, a derivative or a result is of a wrong dtype, structure or shape.
    GradientError
        If `f` calls a function that has no rule for Taylor series: the message names it.

    Notes
    -----
    Names and meaning as in `jax.experimental.jet`. The time grows as the square of the order; each order of
    nested `jvp` doubles the time. The derivatives have gradients, and `vmap` of `jet` works. `f` must
    not call `grad` or `vmap`. A complex result is a function of the real number t.

    Examples
    --------
    >>> x, v, zero = xp.asarray(0.0), xp.asarray(1.0), xp.asarray(0.0)
    >>> y, derivatives = xp.autograd.jet(xp.exp, (x,), ([v, zero, zero],))
    >>> [float(d) for d in derivatives]
    [1.0, 1.0, 1.0]
    """
    points = check_sequence("jet", "primals", primals, "arguments")
    rows = [
        check_sequence("jet", "series", row, "derivatives")
        for row in check_sequence("jet", "series", series, "sequences, one for each argument")
    ]
    if len(rows) != len(points) or len({len(row) for row in rows}) > 1:
        facts = [(f"argument {k + 1}", f"{len(row)} derivatives") for k, row in enumerate(rows)]
        problem = f"series needs {len(points)} sequences of equal length"
        raise ArgumentValueError("jet", problem, facts, "write zeros_like(x) for a derivative that is zero")
    return _along_curve("jet", f, points, rows)


def _along_curve(operation: str, f: Callable[..., Any], points: Any, rows: Any) -> tuple[Any, Any]:
    """Return what `jet` returns; errors name `operation`."""
    check_function(operation, f)
    with Deferring():
        return _run(operation, f, points, rows)


def _run(operation: str, f: Callable[..., Any], points: Any, rows: Any) -> tuple[Any, Any]:
    order = len(rows[0]) if rows else 0
    tracing = importlib.import_module("stride0.autograd._jets.tracing")
    given = [x for x in flatten([points, rows])[0] if isinstance(x, Array)]
    with recording() as tape:
        is_outer = any(map(is_tracked, given))
        chosen = Tracked(operation, points, tape, 2)
        facts = facts_of(chosen.arrays)
        terms: list[list[Any]] = [[] for _ in facts]
        for k in range(order):
            leaves = matched(operation, chosen.structure, [row[k] for row in rows], "the derivatives")
            for place, v in zip(terms, all_like(operation, leaves, facts), strict=True):
                is_zero = not is_tracked(v) and not is_batched_array(v) and not any_of(v)
                place.append(None if is_zero else v * (1 / math.factorial(k + 1)))
        jets = tracing.jets(order, tape)
        for x, row in zip(flatten(chosen.tree, 2)[0], terms, strict=True):
            jets.put(x, row, is_outer)
        with Setting(CONFIGURATION, jets):
            out = f(*chosen.tree)
        leaves, structure = flatten(out, 1)
        values = [asarray(y) for y in leaves]
        found: list[list[Any]] = []
        for y in values:
            if y.dtype.kind not in FLOATING:
                problem = f"a result of dtype {y.dtype.name} has no derivative"
                raise ArgumentTypeError(operation, problem, accepts="return floating-point arrays")
            entry = jets.entry("return", y)
            found.append([None] * order if entry is None else entry.terms)
        # Break the reference cycle: entries refer to the dictionary that holds them.
        jets.known.clear()
    derivatives = [
        structure.rebuild(
            [
                zeros_like(y) if row[k] is None else detach_closed(row[k] * math.factorial(k + 1))
                for y, row in zip(values, found, strict=True)
            ],
            False,
        )
        for k in range(order)
    ]
    return structure.rebuild([detach_closed(y) for y in values]), derivatives


def derivatives(f: Callable[[Any], Any], x: Any, order: int) -> list[Any]:
    """Compute all derivatives of a scalar or elementwise function up to an order, in one pass.

    Parameters
    ----------
    f : callable
        Takes one array. If the array has axes, `f` is elementwise: element k of the result depends only on
        element k of the array.
    x : array
        Of a floating-point dtype.
    order : int
        The highest derivative, at least 0.

    Returns
    -------
    list of arrays
        ``[f(x), f'(x), f''(x), ...]``: ``order + 1`` arrays of the shape of ``f(x)``.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, GradientError
        As `jet`, and if the order is negative.
    ShapeError
        If `x` has axes, and the result has another shape.

    Examples
    --------
    >>> [float(d) for d in xp.autograd.derivatives(lambda x: x**3, xp.asarray(2.0), 4)]
    [8.0, 12.0, 12.0, 6.0, 0.0]
    """
    order = normalize_index("derivatives", "order", order)
    if order < 0:
        raise ArgumentValueError("derivatives", f"order is {order}", accepts="pass an order of 0 or more")
    x = check_array("derivatives", x)
    rows = [[ones_like(x) if k == 0 else zeros_like(x) for k in range(order)]]
    y, found = _along_curve("derivatives", f, [x], rows)
    if x.ndim and (not isinstance(y, Array) or y.shape != x.shape):
        facts = [("x", str(x.shape)), ("result", str(getattr(y, "shape", type(y).__name__)))]
        raise ShapeError("derivatives", "the function is not elementwise", facts, "call it within vmap")
    return [y, *found]
