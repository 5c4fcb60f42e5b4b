"""`loop` and `scan`: loops whose body is recorded once within a recording, and otherwise runs as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    ShapeError,
    hide_frames,
    shown,
)
from stride0._base.shapes import normalize_index
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0._core.exchange.exchange import asarray
from stride0._replay.bodies import repeat
from stride0._replay.links import links_of
from stride0.autograd._tape import tape as _tape
from stride0.autograd._tape.tape import current_recorder
from stride0.autograd._tape.trees import flatten
from stride0.strided import contiguous

__all__ = ["loop", "scan"]


def loop(n: int, body: Callable[[int, Any], Any], state: Any) -> Any:
    """Call ``state = body(k, state)`` for k from 0 to n - 1.

    Within a function that `replay` records, the body is recorded once and repeated without Python.

    Parameters
    ----------
    n : int
        The number of steps.
    body : callable
        Takes the number of the step and the state; returns the next state, with the structure, shapes and
        dtypes of `state`.
    state : nested structure of arrays or Python numbers
        The first state.

    Returns
    -------
    nested structure of arrays
        The last state. It has the gradients of the Python loop.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `n` is not an integer, or is negative, or if the next state has another structure.
    ShapeError, DTypeError
        If the next state has other shapes or dtypes.

    Examples
    --------
    >>> halved = xp.replay(lambda x: xp.loop(10, lambda k, y: 0.5 * y + k, x))
    >>> halved(xp.asarray([0.0, 1024.0]))
    Array([16.00390625, 17.00390625], dtype=float64)
    """
    check_function("loop", body, "body")
    n = normalize_index("loop", "n", n)
    if n < 0:
        raise ArgumentValueError("loop", f"n is {n}", (), "pass 0 or more")
    return _scan("loop", lambda state, k: (body(k, state), ()), state, range(n), n)[0]


def scan(body: Callable[[Any, Any], tuple[Any, Any]], state: Any, xs: Any) -> tuple[Any, Any]:
    """Call ``state, y = body(state, x)`` for each x along the first axis of xs, and stack all y.

    Within a function that `replay` records, the body is recorded once and repeated without Python.

    Parameters
    ----------
    body : callable
        Takes the state and an item of `xs`; returns the next state, with the structure, shapes and dtypes of
        `state`, and an output: arrays, nested in any way, or `()`.
    state : nested structure of arrays or Python numbers
        The first state.
    xs : nested structure of arrays
        Arrays of equal size along the first axis. This size is at least 1.

    Returns
    -------
    state : nested structure of arrays
        The last state.
    ys : nested structure of arrays
        The outputs, stacked along a new first axis.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `xs` contains other objects than arrays, or if the structure of the state changes.
    ShapeError, DTypeError
        If the arrays of `xs` have no items or different lengths, or if the next state has other shapes or
        dtypes.

    Notes
    -----
    Within a recording, a gradient keeps the states of all steps and computes each step again. Contributions
    to arrays from outside the body are added step by step, so that their last bits may differ from the
    gradient of the Python loop. To keep fewer states, write
    ``checkpoint_loop(lambda y: loop(100, body, y), y, n // 100, snapshots=10)``.

    If the body draws random numbers or writes to arrays from outside, the loop is recorded step by step, like
    a Python loop. Loops within `vmap` are recorded step by step, too.

    Examples
    --------
    >>> def step(total, x):
    ...     return total + x, total * x
    >>> xp.scan(step, 0.0, xp.asarray([1.0, 2.0, 3.0]))
    (Array(6., dtype=float64), Array([0., 2., 9.], dtype=float64))
    """
    check_function("scan", body, "body")
    rows, _ = flatten(xs)
    if not rows or not all(isinstance(x, Array) and x.ndim for x in rows):
        problem = "xs must be a structure of arrays with at least one axis"
        raise ArgumentTypeError("scan", problem, (("xs", shown(xs)),), "pass arrays, or call loop")
    lengths = {x.shape[0] for x in rows}
    if len(lengths) != 1 or 0 in lengths:
        problem = f"the arrays of xs have the lengths {sorted(lengths)}"
        raise ShapeError("scan", problem, (), "pass arrays of equal length, at least 1")
    return _scan("scan", body, state, xs, lengths.pop())


def _scan(operation: str, body: Any, state: Any, xs: Any, n: int) -> tuple[Any, Any]:
    """Repeat a body of structures."""
    leaves, structure = flatten(state)
    rows, row_structure = flatten(xs)
    leaves = [contiguous(_array(x)) for x in leaves]
    found: list[Any] = [None]

    def step(states: list[Any], items: list[Any]) -> tuple[list[Any], list[Any]]:
        new, y = body(structure.rebuild(states), row_structure.rebuild(items))
        try:
            new_leaves = structure.leaves_of(new)
        except ValueError:
            new_leaves = []
        if len(new_leaves) != len(states) or any(isinstance(x, (tuple, list, dict)) for x in new_leaves):
            accepts = "return a state with the structure of the first state"
            raise ArgumentValueError(operation, "the next state has another structure", (), accepts)
        new_leaves = [_array(x) for x in new_leaves]
        for x, old in zip(new_leaves, states, strict=True):
            facts = (("state", f"{old.shape} {old.dtype.name}"), ("next state", f"{x.shape} {x.dtype.name}"))
            if x.shape != old.shape:
                accepts = "return the shape of the first state, or pass a first state of the new shape"
                raise ShapeError(operation, "the next state has another shape", facts, accepts)
            if x.dtype is not old.dtype:
                accepts = "cast the next state by astype, or pass a first state of the new dtype"
                raise DTypeError(operation, "the next state has another dtype", facts, accepts)
        outputs, found[0] = flatten(y)
        return new_leaves, [_array(x) for x in outputs]

    last, outputs = repeat(step, leaves, rows, n, False, lambda: links_of(body))
    return structure.rebuild(last), found[0].rebuild(outputs) if n else ()


def _array(x: Any) -> Array:
    """Return an array for a leaf; a recorded array within a recording."""
    recorder = current_recorder()
    is_plain = isinstance(x, Array) and _tape.slot_of(x) is None and not _tape.is_transformed(x)
    if recorder is not None and is_plain:
        found: Array = recorder.outside(x)
    else:
        found = _tape.lifted(asarray(x))
    return found


hide_frames()
