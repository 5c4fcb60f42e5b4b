"""Loops that are differentiated in reverse with few states in memory."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

from stride0._base.errors import ArgumentValueError
from stride0._base.shapes import normalize_index
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0.autograd._custom import _attach, _Recorded
from stride0.autograd._tape.tape import (
    Node,
    Noticing,
    backward,
    close,
    current_node,
    custom_node,
    detach,
    held,
    is_tracked,
    recalled,
    reopen,
    written_so_far,
)
from stride0.autograd._tape.trees import flatten

__all__ = ["checkpoint_loop"]

State = Any


def checkpoint_loop(step: Callable[[Any], Any], state: Any, n: int, snapshots: int) -> Any:
    """Call ``state = step(state)`` n times; the gradient keeps few states and computes the others again.

    Parameters
    ----------
    step : callable
        Takes a state, returns the next state: arrays, or a nested structure of them. For equal states it must
        do the same.
    state : nested structure of arrays
        The first state.
    n : int
        How many steps.
    snapshots : int
        How many states are kept at the same time, at least 1; the first state counts.

    Returns
    -------
    nested structure of arrays
        The last state. It has the gradients of the plain loop: for the first state, and for tracked arrays
        that `step` closes over.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `n` or `snapshots` is not an integer, or is too small.
    GradientError
        As `checkpoint`, if an array that `step` closes over was overwritten.

    Notes
    -----
    The schedule is binomial, which needs the fewest calls: with 20 snapshots, 1,000 steps and their
    gradient make 3,751 calls of `step`. The backward pass also keeps what one step records. Gradients
    of gradients keep all steps.

    Source: Griewank and Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000).

    Examples
    --------
    >>> def final(rate):
    ...     return xp.autograd.checkpoint_loop(lambda y: y + rate * y, xp.asarray(1.0), 100, snapshots=5)
    >>> xp.autograd.grad(final)(xp.asarray(0.0))
    Array(100., dtype=float64)
    """
    check_function("checkpoint_loop", step, "step")
    n, snapshots = (
        normalize_index("checkpoint_loop", name, x) for name, x in (("n", n), ("snapshots", snapshots))
    )
    for name, value, least in (("n", n, 0), ("snapshots", snapshots, 1)):
        if value < least:
            raise ArgumentValueError("checkpoint_loop", f"{name} is {value}", (), f"pass {least} or more")
    return _Loop(step, n, snapshots).run(state) if n else state


def next_snapshot(start: int, stop: int, free: int) -> int | None:
    """Return the state to keep next to reverse steps `start` to `stop`, or None to keep no state."""
    steps = stop - start
    if free <= 0 or steps <= 1:
        return None
    # With s snapshots and r sweeps, comb(s + r, s) steps can be reversed.
    s, r = free + 1, 1
    while comb(s + r, s) < steps:
        r += 1
    first = max(comb(s + r - 2, s) if r > 1 else 1, steps - comb(s + r - 1, s - 1), 1)
    return start + min(first, steps - 1)


class _Loop:
    """A loop, and the states that it keeps: step numbers, and leaves saved in the way a tape saves values."""

    def __init__(self, step: Callable[[Any], Any], n: int, snapshots: int) -> None:
        self.step, self.n, self.snapshots = step, n, snapshots
        self.kept: list[tuple[int, State]] = []
        # The nodes of the leaves of the first state, and of arrays that the step closes over.
        self.own: dict[int, Node] = {}
        self.closed: list[Node] = []

    def keep(self, number: int, state: State) -> None:
        leaves, structure = flatten(state)
        self.kept.append((number, (structure, [held(x) for x in leaves])))

    def state(self, with_nodes: bool = False) -> State:
        """Return the newest state that is kept."""
        structure, leaves = self.kept[-1][1]
        found = map(recalled, leaves)
        return structure.rebuild(list(found if with_nodes else map(_detached, found)))

    def next(self, stop: int) -> int | None:
        return next_snapshot(self.kept[-1][0], stop, self.snapshots - len(self.kept))

    def run(self, state: State) -> State:
        """Return the last state, with a node."""
        self.keep(0, state)
        at = self.next(self.n)
        with Noticing():
            for number in range(self.n):
                if number == at:
                    self.keep(number, state)
                    at = self.next(self.n)
                call = _Recorded("checkpoint_loop", self.step, [state])
                if number == 0:
                    self.own = {call.at[k]: node for k, node in call.own.items()}
                leaves, structure = flatten(call.value)
                self.closed += [x for x in call.closed_over(leaves) if x not in self.closed]
                leaves = list(map(_detached, leaves))
                state = structure.rebuild(leaves)
                del call
        written = written_so_far()
        parents = list(dict.fromkeys([*self.own.values(), *self.closed]))
        if parents:
            several = len(leaves) != 1
            _attach(
                "checkpoint_loop",
                parents,
                lambda g: self.pull(list(g) if several else [g], parents, written),
                leaves,
            )
        return structure.rebuild(leaves)

    def pull(self, cotangents: list[Any], parents: list[Node], written: int) -> list[Array | None]:
        """Return the cotangents of the nodes that the loop depends on."""
        # If an open tape tracks an array with these parents, it records the backward pass.
        probe = detach(next(g for g in cotangents if g is not None))
        custom_node("checkpoint_loop", parents, lambda g: [None] * len(parents), probe)
        is_recorded = is_tracked(probe)
        first, opened = self.kept[0], reopen(parents, written)
        try:
            if is_recorded:
                del self.kept[1:]
                call = _Recorded("checkpoint_loop", self._all, [self.state(True)])
                nodes = [current_node(x) for x in flatten(call.value)[0]]
                return backward(nodes, cotangents, parents, call.tape, False)
            return self._reverse(cotangents, parents)
        finally:
            close(opened)
            # A further call of `pull` starts from the first state.
            self.kept = [first]

    def _all(self, state: State) -> State:
        for _ in range(self.n):
            state = self.step(state)
        return state

    def _reverse(self, cotangents: list[Any], parents: list[Node]) -> list[Array | None]:
        found: dict[Node, Any] = dict.fromkeys(parents)
        for stop in range(self.n, 0, -1):
            state, number = self.state(), self.kept[-1][0]
            while number < stop - 1:
                at = self.next(stop)
                target = stop - 1 if at is None else at
                for _ in range(target - number):
                    leaves, structure = flatten(self.step(state))
                    state = structure.rebuild(list(map(_detached, leaves)))
                number = target
                if at is not None:
                    self.keep(at, state)
            if number == self.kept[-1][0]:
                self.kept.pop()
            call = _Recorded("checkpoint_loop", self.step, [state])
            nodes = [current_node(x) for x in flatten(call.value)[0]]
            targets = [*call.inner.nodes, *self.closed]
            parts = backward(nodes, cotangents, targets, call.tape, False)
            cotangents = [None] * len(flatten(state)[0])
            for k, part in zip(call.at, parts[: len(call.at)], strict=True):
                cotangents[k] = part
            pairs = list(zip(self.closed, parts[len(call.at) :], strict=True))
            if stop == 1:
                pairs += [(node, cotangents[k]) for k, node in self.own.items()]
            for node, part in pairs:
                old = found[node]
                found[node] = part if old is None else old if part is None else old + part
        return list(found.values())


def _detached(x: Any) -> Any:
    return detach(x) if isinstance(x, Array) else x
