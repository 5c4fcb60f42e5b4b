"""`custom_vjp` and `checkpoint`: user-defined gradients, and recomputation instead of storage."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn

from stride0._base.errors import ArgumentTypeError, BatchingError, GradientError, counted
from stride0._chapters.creation import zeros
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function, check_sequence
from stride0._core.exchange.exchange import asarray
from stride0.autograd._parts import FLOATING, TRACE, Tracked, matched, numbers_of, recording
from stride0.autograd._tape.opaque import hide_derivatives
from stride0.autograd._tape.tape import (
    Level,
    Node,
    Noticing,
    backward,
    close,
    current_node,
    custom_node,
    detach,
    frontier,
    held,
    is_tracked,
    is_tracked_below,
    like,
    newest_level,
    node_of,
    recalled,
    reopen,
    written_so_far,
)
from stride0.autograd._tape.trees import Structure, flatten, tree_map

__all__ = ["checkpoint", "custom_vjp"]

# The `custom_vjp` functions whose `forward` is running.
_FORWARDS: ContextVar[tuple[custom_vjp, ...]] = ContextVar("stride0.forwards", default=())


# Takes the constant arguments, the residuals, the directions, and structure and facts of the result.
Derivative = Callable[[list[Any], Any, Any, Structure, list[Any]], list[Array | None]]


def _floating(x: Any) -> bool:
    return isinstance(x, Array) and x.dtype.kind in FLOATING


class _Recorded:
    """A call recorded on its own tape: its results, the nodes that it depends on, and how to call again."""

    def __init__(
        self, operation: str, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None
    ) -> None:
        leaves, structure = flatten([list(args), kwargs or {}])
        self.at = [k for k, x in enumerate(leaves) if _floating(x)]
        # Writes to arguments through other arrays belong to the arguments, not to the call.
        for k in self.at:
            current_node(leaves[k])
        with recording() as tape:
            inner = Tracked(operation, [leaves[k] for k in self.at], tape)
            for k, x in zip(self.at, inner.tree, strict=True):
                leaves[k] = x
            given, named = structure.rebuild(leaves)
            self.value = f(*given, **named)
        self.tape, self.inner = tape, inner
        # The graph ends at these leaves: a rule of the caller, or a second call, replaces the recorded one.
        self.own = {
            k: node for k, x in enumerate(inner.arrays) if (node := node_of(x)) is not None and is_tracked(x)
        }

    def older(self, results: list[Any]) -> list[Node]:
        """Return the nodes, older than the call, of arguments and closures that results depend on."""
        return frontier([current_node(x) for x in results], self.tape)

    def closed_over(self, results: list[Any]) -> list[Node]:
        """Return such nodes on which results depend without going through the passed arguments."""
        return frontier([current_node(x) for x in results], self.tape, self.inner.nodes)


class custom_vjp:
    """Decorator for a function whose gradient the caller defines.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or nested structures of arrays.
    nondiff_argnums : sequence of int
        Arguments that are not arrays, or by which the function is not differentiated.

    Examples
    --------
    >>> @xp.autograd.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, g: (xp.clip(g, -1.0, 1.0),))
    >>> xp.autograd.grad(lambda x: xp.sum(5 * clipped(x)))(xp.asarray([1.0, 2.0]))
    Array([1., 1.], dtype=float64)
    """

    operation = "custom_vjp"

    def __init__(self, f: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        check_function(self.operation, f)
        self.f = f
        numbers = check_sequence(self.operation, "nondiff_argnums", nondiff_argnums, "integers")
        self.nondiff_argnums = tuple(numbers)
        self.forward: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        # For `custom_jvp`: computes the tangents of the results from the tangents of the arguments.
        self.derivative: Derivative | None = None
        # The function of one example, if this object is a function of batches.
        self.original = self
        functools.update_wrapper(self, f)

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Define the gradient.

        Parameters
        ----------
        forward : callable
            Takes the arguments, returns a pair: the result, and residuals for `backward`. It may call the
            function itself.
        backward : callable
            Takes the arguments of `nondiff_argnums`, the residuals, and the cotangent of the result;
            returns a tuple with a cotangent for each other argument, or None for zero.

        Examples
        --------
        >>> @xp.autograd.custom_vjp
        ... def scaled(x, factor):
        ...     return x * factor
        >>> scaled.defvjp(lambda x, factor: (x * factor, factor), lambda factor, g: (g * factor, None))
        >>> xp.autograd.grad(scaled, argnums=(0, 1))(xp.asarray(2.0), xp.asarray(5.0))
        (Array(5., dtype=float64), Array(0., dtype=float64))
        """
        self.forward, self.backward = forward, backward

    def __call__(self, *args: Any) -> Any:
        """Call the function, or its `forward` if an argument is tracked."""
        if self.forward is None or self.backward is None:
            raise GradientError(
                self.operation, "the function has no gradient", (), "call defvjp(forward, backward)"
            )
        hide_derivatives()
        numbers = numbers_of(self.operation, self.nondiff_argnums, len(args), "nondiff_argnums")
        fixed = {k: args[k] for k in numbers}
        moving = [x for k, x in enumerate(args) if k not in fixed]
        level = newest_level(flatten(moving)[0])
        if level is not None:
            # Make all arguments batched arrays of one level, so that each tape is older or newer than all of
            # them.
            moving = tree_map(lambda x: level.lifted(x) if _floating(x) else x, moving)
        if not any(_floating(x) and is_tracked(x) for x in flatten(moving)[0]):
            if level is not None:
                return self._of_batch(level, fixed, moving, len(args))
            return self.f(*args)
        forward, backward_rule, count = self.forward, self.backward, len(args)

        def placed(given: Sequence[Any]) -> list[Any]:
            return _placed(fixed, given, count)

        def run(*given: Any) -> Any:
            token = _FORWARDS.set((*_FORWARDS.get(), self.original))
            try:
                return forward(*placed(given))
            finally:
                _FORWARDS.reset(token)

        # A `forward` that calls the function itself needs only its values. The backward pass calls `forward`
        # again if a derivative of the tangents is needed.
        later = self.original in _FORWARDS.get()
        call = _Recorded(
            self.operation, (lambda *given: (self.f(*placed(given)), given)) if later else run, moving
        )
        value, residuals = call.value
        results, structure = flatten(value)
        mine = list(call.own.values())
        if closed_over := call.closed_over(results):
            # The caller's gradient has no cotangent for it.
            problem = (
                "an argument and in its closure, too"
                if closed_over[0] in mine
                else "not one of its arguments"
            )
            raise GradientError(
                self.operation,
                f"the function uses a tracked array that is {problem}",
                accepts="pass the array as an argument, and use only the argument",
            )
        outputs = [detach(x) if isinstance(x, Array) else x for x in results]
        if any(_floating(x) and is_tracked_below(x) for x in flatten(moving)[0]):
            # Tapes older than the batch also use the caller's gradient, not the gradient of `forward`.
            plain = tree_map(lambda x: detach(x) if _floating(x) else x, moving)
            outputs = flatten(self(*_placed(fixed, plain, len(args))))[0]
        # The node must not hold the outputs, nor the graph of this call.
        facts = [(x.shape, x.dtype) if isinstance(x, Array) else None for x in outputs]
        at, tracked = call.at, list(call.own)
        expected = [(x.shape, x.dtype) for x in call.inner.arrays]
        given_leaves, arguments = flatten(list(moving))
        number, leaf_count = len(moving), len(given_leaves)
        constants = list(fixed.values())
        parents = list(call.own.values())
        saved, kept = flatten(residuals)
        saved = [held(x) for x in saved]
        places, trace = call.at, TRACE.get()
        if trace is not None:
            # The caller's derivative may use elements that `f` does not use.
            outputs = [asarray(x, copy=True) if isinstance(x, Array) else x for x in outputs]
            trace.opaque([given_leaves[k] for k in places], outputs)
        del call, value, results, residuals, moving, given_leaves

        def recall() -> Any:
            again = kept.rebuild([recalled(x) for x in saved])
            return run(*again)[1] if later else again

        def pull(g: Any) -> list[Array | None]:
            given = structure.rebuild(_filled(g, facts))
            again = recall()
            found = backward_rule(*constants, again, given)
            if not isinstance(found, (tuple, list)) or len(found) != number:
                count = f"a tuple of {counted(number, 'cotangent')}"
                raise ArgumentTypeError(self.operation, f"backward must return {count}")
            leaves = matched(self.operation, arguments, list(found), "the cotangents that backward returned")
            picked = [(leaves[at[k]], expected[k]) for k in tracked]
            return [None if c is None else like(self.operation, c, *fact) for c, fact in picked]

        push = None
        if self.derivative is not None:
            derivative = self.derivative

            def push(tangents: list[Array | None]) -> list[Array | None]:
                known = dict(zip(tracked, tangents, strict=True))
                moved: list[Any] = [None] * leaf_count
                for k, (shape, dtype) in enumerate(expected):
                    t = known.get(k)
                    moved[places[k]] = zeros(shape, dtype=dtype) if t is None else t
                found = derivative(constants, recall(), arguments.rebuild(moved), structure, facts)
                return [
                    None if t is None or fact is None else like(self.operation, t, *fact)
                    for t, fact in zip(found, facts, strict=True)
                ]

        _attach(self.operation, parents, pull, outputs, push)
        return structure.rebuild(outputs)

    def _of_batch(self, level: Level, fixed: dict[int, Any], moving: list[Any], count: int) -> Any:
        """Call the function on batched arrays that no newer tape tracks.

        The call becomes a call on the values, which older tapes may track.
        """
        leaves, structure = flatten(moving)
        at = [k for k, x in enumerate(leaves) if level.has(x)]
        size, forward, backward_rule = level.size, self.forward, self.backward
        shapes: dict[str, Structure] = {}

        def wrapped(inner: Level, values: Sequence[Array]) -> list[Any]:
            given = list(leaves)
            for k, value in zip(at, values, strict=True):
                given[k] = inner.wrap(value)
            return list(structure.rebuild(given))

        if any(level.has(x) for x in flatten(list(fixed.values()))[0]):
            refuse_closure(self.operation, "an argument of nondiff_argnums is batched")

        def own(x: Any) -> Any:
            # A batched array from a closure would wrongly count as one example here.
            return (
                refuse_closure(
                    self.operation, "the function uses a batched array that is not one of its arguments"
                )
                if level.has(x)
                else x
            )

        def outputs(inner: Level, out: Any) -> list[Any]:
            results, shapes["out"] = flatten(out)
            return [own(inner.spread(own(x))) if isinstance(x, Array) else x for x in results]

        def run(*values: Array) -> list[Any]:
            inner = Level(size)
            return outputs(inner, self.f(*_placed(fixed, wrapped(inner, values), count)))

        def run_forward(*values: Array) -> tuple[list[Any], Any]:
            inner = Level(size)
            out, residuals = forward(*_placed(fixed, wrapped(inner, values), count))  # type: ignore[misc]
            kept, shapes["residuals"] = flatten(residuals)
            batched = [inner.has(x) for x in kept]
            return outputs(inner, out), ([own(inner.value(x)) for x in kept], batched)

        def run_backward(residuals: Any, cotangents: list[Array]) -> tuple[Array | None, ...]:
            inner = Level(size)
            kept = [inner.wrap(x) if batched else x for x, batched in zip(*residuals, strict=True)]
            given = [inner.wrap(g) if isinstance(g, Array) else g for g in cotangents]
            again = shapes["residuals"].rebuild(kept)
            found = backward_rule(*fixed.values(), again, shapes["out"].rebuild(given))  # type: ignore[misc]
            if not isinstance(found, (tuple, list)) or len(found) != len(moving):
                problem = f"a tuple of {counted(len(moving), 'cotangent')}"
                raise ArgumentTypeError(self.operation, f"backward must return {problem}")
            pulled = matched(self.operation, structure, list(found), "the cotangents that backward returned")
            return tuple(None if pulled[k] is None else own(inner.spread(asarray(pulled[k]))) for k in at)

        whole = custom_vjp(run)
        whole.original, whole.operation = self.original, self.operation
        whole.defvjp(run_forward, run_backward)
        found = whole(*[level.value(leaves[k]) for k in at])
        return shapes["out"].rebuild([level.wrap(x) if isinstance(x, Array) else x for x in found])


def _placed(fixed: dict[int, Any], given: Sequence[Any], count: int) -> list[Any]:
    """Return all arguments, given the `fixed` ones and the others."""
    others = iter(given)
    return [fixed[k] if k in fixed else next(others) for k in range(count)]


def refuse_closure(operation: str, problem: str) -> NoReturn:
    raise BatchingError(operation, problem, accepts="pass it as an argument outside nondiff_argnums")


def _attach(
    name: str,
    parents: list[Node],
    pull: Callable[[Any], Any],
    outputs: list[Any],
    push: Callable[[list[Array | None]], list[Array | None]] | None = None,
) -> None:
    """Attach a node to the arrays among the results; `push` maps the parents' tangents to theirs."""
    if any(isinstance(x, Array) for x in outputs):
        custom_node(name, parents, pull, outputs[0] if len(outputs) == 1 else tuple(outputs), push)


def _filled(g: Any, facts: list[Any]) -> list[Any]:
    """Return the cotangent of each result: zeros if the result has no cotangent."""
    given = [g] if len(facts) == 1 else list(g)
    return [
        zeros(fact[0], dtype=fact[1]) if c is None and fact else c
        for c, fact in zip(given, facts, strict=True)
    ]


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function save only its arguments for its gradient: the backward pass calls it again.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or nested structures of arrays. Each call must return the same result.

    Returns
    -------
    callable
        Computes the same results as `f`, with the same gradients.

    Raises
    ------
    GradientError
        In the backward pass, if an array from the closure of `f` was overwritten after the call, and is
        tracked or is an operand together with a tracked array. Computations with untracked arrays only are
        not checked: pass arrays that you overwrite as arguments, whose values are kept.

    Examples
    --------
    >>> calls = []
    >>> @xp.autograd.checkpoint
    ... def f(x):
    ...     calls.append("f")
    ...     return xp.sum(xp.exp(x) ** 2)
    >>> xp.autograd.grad(f)(xp.asarray([0.0]))
    Array([2.], dtype=float64)
    >>> calls
    ['f', 'f']
    """

    check_function("checkpoint", f)

    @functools.wraps(f)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        leaves, arguments = flatten([list(args), kwargs])
        kept = [held(x) for x in leaves]
        with Noticing():
            call = _Recorded("checkpoint", f, args, kwargs)
        results, structure = flatten(call.value)
        parents = call.older(results)
        outputs = [detach(x) if isinstance(x, Array) else x for x in results]
        # Free the record of the first call.
        del call, results
        written = written_so_far()
        if parents:
            several = len(outputs) != 1

            def pull(g: Any) -> list[Array | None]:
                # The tapes that track the arguments and the closure have ended.
                opened = reopen(parents, written)
                try:
                    again = arguments.rebuild([recalled(x) for x in kept])
                    second = _Recorded("checkpoint", f, *again)
                finally:
                    close(opened)
                found, _ = flatten(second.value)
                cotangents = list(g) if several else [g]
                return backward([current_node(x) for x in found], cotangents, parents, second.tape, False)

            _attach("checkpoint", parents, pull, outputs)
        return structure.rebuild(outputs)

    return recomputed
