"""`vmap`: turns a function of one example into a function of a batch.

References
----------
Names and semantics follow JAX.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from stride0._base.callers import refusing_form
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, BatchingError, ShapeError
from stride0._base.shapes import normalize_axis
from stride0._chapters.manipulation import broadcast_to, moveaxis, stack
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0._core.elementwise.elementwise import as_array
from stride0._core.exchange.exchange import asarray
from stride0.autograd._batching import table as _table
from stride0.autograd._parts import TRACE
from stride0.autograd._tape.tape import Level
from stride0.autograd._tape.trees import Structure, flatten

__all__ = ["vmap"]

BATCHING, REFUSED = _table.BATCHING, _table.REFUSED


def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Make a function that applies `f` to all examples of a batch together.

    Parameters
    ----------
    f : callable
        A function of one example: takes and returns arrays, or nested structures of arrays.
    in_axes : int, None, or nested structure of these
        The axis of the examples in each argument; None if an argument is the same for all examples. One
        number applies to all arguments; otherwise there is one item per argument, and an item for a structure
        may be structured like it. Keyword arguments have their examples along axis 0.
    out_axes : int, None, or nested structure of these
        The axis of the examples in each result, in the same form; None only for results that do
        not depend on the example.

    Returns
    -------
    callable
        Takes the arguments of `f` with the additional axis, and returns the results of `f` with it. Leaves
        that are not arrays are passed on unchanged. If `f` returns a view of an argument, or writes to it, so
        does the new function.

    Raises
    ------
    ArgumentValueError
        If no argument has examples, or `in_axes` and `out_axes` do not fit the structures.
    ForeignArrayError
        If an argument that has examples is an array of another library.
    ShapeError
        If the numbers of examples differ.
    BatchingError
        If `f` calls a function that has no batching rule, or reads the value of a batched array.

    Notes
    -----
    `f` is called once, with arrays that have the shape of one example; each function that it calls computes
    all examples. So `f` must not branch on values: ``where`` selects. Transformations nest in any order.

    Examples
    --------
    >>> loss = lambda x, w: xp.sum(w * x) ** 2
    >>> gradients = xp.autograd.vmap(xp.autograd.grad(loss), in_axes=(0, None))
    >>> gradients(xp.asarray([[1.0], [2.0]]), xp.asarray([3.0]))
    Array([[18.],
           [36.]], dtype=float64)
    """
    check_function("vmap", f)

    @functools.wraps(f)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten([list(args), kwargs])
        axes = _axes_of([list(args), kwargs], [_per_argument(in_axes, len(args)), 0], "in_axes")
        axes = [
            axis if axis is not None and _is_array(x) else None for x, axis in zip(leaves, axes, strict=True)
        ]
        places = [
            None if axis is None else normalize_axis("vmap", axis, x.ndim)
            for x, axis in zip(leaves, axes, strict=True)
        ]
        size = _size(leaves, places)
        if TRACE.get() is not None and size:
            return _one_by_one(f, leaves, places, structure, size, out_axes)
        level = Level(size)
        try:
            given = [
                x if place is None else level.wrap(moveaxis(x, place, 0) if place else x)
                for x, place in zip(leaves, places, strict=True)
            ]
            positional, named = structure.rebuild(given)
            out = f(*positional, **named)
            results, shape = flatten(out)
            return shape.rebuild(
                [
                    _result(level, x, axis)
                    for x, axis in zip(results, _axes_of(out, out_axes, "out_axes"), strict=True)
                ]
            )
        except BatchingError as error:
            form = refusing_form(error.__traceback__)
            if form is not None and not error.operation.startswith("scipy."):
                error.operation, error.accepts = form, "loop over the examples"
                error.args = (form, error.problem, error.facts, error.accepts)
            raise
        finally:
            level.close()

    return batched


def _one_by_one(
    f: Callable[..., Any],
    leaves: list[Any],
    places: list[int | None],
    structure: Structure,
    size: int,
    out_axes: Any,
) -> Any:
    """Call a function for each example, because sparsity patterns are not traced through batches."""
    examples, out = [], None
    for k in range(size):
        given = [
            x if place is None else x[(slice(None),) * place + (k,)]
            for x, place in zip(leaves, places, strict=True)
        ]
        positional, named = structure.rebuild(given)
        out = f(*positional, **named)
        results, shape = flatten(out)
        examples.append(results)
    axes = _axes_of(out, out_axes, "out_axes")
    combined = [
        each[0] if axis is None or not _is_number(each[0]) else stack([asarray(x) for x in each], axis=axis)
        for each, axis in zip(zip(*examples, strict=True), axes, strict=True)
    ]
    return shape.rebuild(combined)


def _is_number(x: Any) -> bool:
    return _is_array(x) or isinstance(x, (bool, int, float, complex))


def _is_array(x: Any) -> bool:
    """Return whether a leaf is an array; raises ForeignArrayError for an array of another library."""
    if not isinstance(x, Array) and (hasattr(type(x), "__array__") or hasattr(type(x), "__dlpack__")):
        as_array(x, "vmap")
    return isinstance(x, Array)


def _per_argument(in_axes: Any, count: int) -> Any:
    """Return `in_axes` as one item for each positional argument, or one item for all."""
    if isinstance(in_axes, (tuple, list)):
        if len(in_axes) != count:
            raise ArgumentValueError("vmap", f"in_axes has {len(in_axes)} items for {count} arguments")
        return list(in_axes)
    return in_axes


def _axes_of(tree: Any, axes: Any, name: str) -> list[int | None]:
    """Return the axis of each leaf of a structure, given numbers or None for its parts."""
    found: list[int | None] = []
    _gather(tree, axes, name, found)
    return found


def _gather(tree: Any, axes: Any, name: str, found: list[int | None]) -> None:
    if not isinstance(axes, (tuple, list, dict)):
        if axes is not None:
            try:
                axes = operator.index(axes)
            except TypeError:
                raise ArgumentTypeError(
                    "vmap",
                    f"{name} has an item of type {type(axes).__name__}",
                    accepts=f"pass {name} as integers or None",
                ) from None
        found.extend([axes] * len(flatten(tree)[0]))
        return
    if isinstance(axes, dict):
        if not isinstance(tree, dict) or set(tree) != set(axes):
            raise ArgumentValueError(
                "vmap", f"{name} has a different structure: a dict with the keys {list(axes)}"
            )
        for key, part in tree.items():
            _gather(part, axes[key], name, found)
        return
    if not isinstance(tree, (tuple, list)) or len(tree) != len(axes):
        raise ArgumentValueError("vmap", f"{name} has a different structure: {len(axes)} items")
    for part, axis in zip(tree, axes, strict=True):
        _gather(part, axis, name, found)


def _size(leaves: list[Any], places: list[int | None]) -> int:
    """Return the number of examples."""
    sizes = [x.shape[place] for x, place in zip(leaves, places, strict=True) if place is not None]
    if not sizes:
        raise ArgumentValueError(
            "vmap", "no argument has an axis of examples", (), "pass in_axes=0 for an array with a batch axis"
        )
    if len(set(sizes)) > 1:
        facts = [
            (f"array {k}, axis {place}", str(x.shape))
            for k, (x, place) in enumerate(zip(leaves, places, strict=True))
            if place is not None
        ]
        raise ShapeError("vmap", "the numbers of examples differ", facts)
    return int(sizes[0])


def _result(level: Level, x: Any, axis: int | None) -> Any:
    """Return a result with the axis of its examples."""
    if not level.has(x):
        if axis is None or not _is_number(x):
            return x
        x = asarray(x)
        value = asarray(broadcast_to(x, (level.size, *x.shape)), copy=True)
    elif axis is None:
        raise BatchingError(
            "vmap",
            "out_axes is None for a result that differs between examples",
            (),
            "pass out_axes=0",
        )
    else:
        value = level.value(x)
    place = normalize_axis("vmap", axis, value.ndim)
    return moveaxis(value, 0, place) if place else value
