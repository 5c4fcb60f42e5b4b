"""Loops within a recording: the body is recorded once, and a gradient is a loop in the opposite direction."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from stride0._base.errors import BatchingError, ReplayError, hide_frames
from stride0._chapters.creation import zeros_like
from stride0._chapters.manipulation import stack
from stride0._core.array.array import Array
from stride0._core.call.binding import FUNCTIONS
from stride0._core.replay.replay import Diverged, Links, Looped, Recording, Step, item_of, most_operands
from stride0._replay.links import name_of
from stride0._replay.recorder import OPERATORS, WRITES, Recorder
from stride0.autograd._custom import custom_vjp
from stride0.autograd._parts import FLOATING
from stride0.autograd._tape import tape as _tape
from stride0.autograd._tape.tape import RecorderBlock, current_recorder, detach, is_tracked
from stride0.autograd._transforms import vjp
from stride0.strided import contiguous

__all__ = ["repeat"]

# Takes two lists, the states and the items of rows. Returns two lists, the next states and the outputs.
Body = Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]]
Known = tuple[Links | None, list[Array]]


def repeat(
    body: Body, states: list[Any], rows: list[Any], n: int, reverse: bool, known: Callable[[], Known]
) -> tuple[list[Any], list[Any]]:
    """Repeat a body that takes and returns lists of leaves.

    `known` returns the variables that the body must not change, and the arrays from outside that it may use.
    """

    def step(states: list[Any], items: list[Any]) -> tuple[list[Any], list[Any]]:
        new, outputs = body(states, items)
        return [contiguous(x) for x in new], [contiguous(x) for x in outputs]

    recorder = current_recorder()
    if recorder is not None and n > 1:
        try:
            return _recorded(recorder, step, states, rows, n, reverse, *known())
        except (Unrolled, Diverged, BatchingError):
            pass  # BatchingError: the body writes to an array from outside
    found: list[list[Any]] = []
    for k in range(n - 1, -1, -1) if reverse else range(n):
        states, outputs = step(states, [x[k] for x in rows])
        found.append(outputs)
    return states, [stack(parts) for parts in zip(*(found[::-1] if reverse else found), strict=True)]


class Unrolled(Exception):
    """Raised if the steps of a loop must be recorded one by one."""


class Inner(Recorder):
    """Records the body of a loop: arrays of the outer recording become further inputs.

    Parameters
    ----------
    outer : Recorder
        Records the function that contains the loop.
    samples : list
        The states and items of the first step.
    known : list of Array
        Arrays of the outer recording that the body may use. An operand does not show which tapes track it.
    """

    def __init__(self, outer: Recorder, samples: list[Any], known: list[Array]) -> None:
        super().__init__(outer.operation, samples, [])
        self.outer, self.reachable = outer, known
        # A replay cannot undo its writes before the loop.
        self.writes = outer.writes
        self.taken: list[Array] = []
        self.inner: dict[int, Array] = {}

    def operand(self, x: Any) -> tuple[int, Any]:
        if isinstance(x, Array) and not self.level.has(x):
            x = self.lift(x)
        return super().operand(x)

    def lift(self, x: Array) -> Array:
        return self.take(x, self.outer.lift)

    def outside(self, x: Array) -> Array:
        return self.take(x, self.outer.outside)

    def take(self, x: Array, lift: Callable[[Array], Array]) -> Array:
        """Return the recorded array for an array; `lift` brings it to the outer recording."""
        is_plain = _tape.slot_of(x) is None
        if is_plain:
            if _tape.is_transformed(x):
                raise Unrolled
            x = lift(x)
        slot, value = self.outer.operand(x)
        if slot not in self.inner:
            same = {id(y): y for y in self.reachable if self.is_at(y, slot)}
            # An array and its copy may have different tapes.
            if len(same) > 1 and any(is_tracked(y) for y in same.values()):
                raise Unrolled
            # An operand does not show whether a tape tracks it.
            if not same and not is_plain:
                raise Unrolled
            self.taken.append(next(iter(same.values()), x))
            self.given.extend([value] if isinstance(value, Array) else [])
            place = self.recording.capture(value)
            self.inner[slot] = _tape.execute(self.level, _tape.recorded_array, self.level, value, place)
        return self.inner[slot]

    def is_at(self, x: Array, slot: int) -> bool:
        """Return whether an array of the outer recording has a slot."""
        try:
            return _tape.slot_of(x) is not None and self.outer.operand(x)[0] == slot
        except ReplayError:
            return False  # `x` is from an earlier call

    def check_write(self) -> None:
        """Record the steps of the loop one by one: the body writes to an array from outside."""
        raise Unrolled

    def call(
        self, kind: str, function: Any, name: str, args: tuple[Any, ...], kwnames: tuple[str, ...] = ()
    ) -> Any:
        if current_recorder() is self:
            writes = kind in ("in_place", "setitem") or name in (*WRITES, "setitem")
            if name.startswith("random.") or (writes and self.is_lasting(self.operand(args[0])[1])):
                raise Unrolled
        return super().call(kind, function, name, args, kwnames)


def _recorded(
    outer: Recorder,
    body: Body,
    states: list[Any],
    rows: list[Any],
    n: int,
    reverse: bool,
    links: Links | None,
    known: list[Array],
) -> tuple[list[Any], list[Any]]:
    """Record a body, and record the loop as one call of the outer recording."""
    states, rows = ([_tape.lifted(x) for x in part] for part in (states, rows))
    if any(isinstance(x, Array) and _tape.slot_of(x) is None for x in (*states, *rows)):
        raise Unrolled  # batched by `vmap`
    first = n - 1 if reverse else 0
    samples = [outer.operand(x)[1] for x in states]
    samples += [item_of(outer.operand(x)[1], first) for x in rows]
    inner = _tape.execute(outer.level, Inner, outer, samples, known)
    recording, taken = inner.recording, inner.taken
    try:
        with RecorderBlock(inner):
            new, outputs = body(inner.arguments[: len(states)], inner.arguments[len(states) :])
            slots = [inner.slot_of_result(x) for x in (*new, *outputs)]
        is_opaque = inner.is_opaque
        changed = None if links is None else links.changed()
        if changed is not None:
            outer.refuse(f"the body of a loop changes {name_of(changed)}", "keep it in the state", "loop")
    finally:
        inner.end()
    recording.finish(tuple(slots))
    if is_opaque:
        outer.is_opaque = True
        if any(isinstance(x, Array) and is_tracked(x) for x in (*states, *rows, *taken)):
            raise Unrolled
    looped = Looped(recording, n, len(states), len(rows), reverse, False)
    results = _looped(outer, looped, [*states, *rows, *taken])
    return results[: len(states)], results[len(states) :]


def _looped(outer: Recorder, looped: Looped, operands: list[Any]) -> list[Any]:
    """Call a loop within the outer recording, with its gradient."""
    if len(operands) > most_operands:
        raise Unrolled
    arrays = [k for k, x in enumerate(operands) if isinstance(x, Array)]

    def call(function: Looped, given: Sequence[Any]) -> tuple[Any, ...]:
        filled = list(operands)
        for k, x in zip(arrays, given, strict=True):
            filled[k] = detach(x)
        found: tuple[Any, ...] = outer.call("call", function, "scan", tuple(filled))
        return found

    given = [operands[k] for k in arrays]
    if not any(is_tracked(x) for x in given):
        return list(call(looped, given))
    if not all(_is_followed(step) for step, _ in looped.recording.running):
        raise Unrolled
    count = len(looped.recording.results)

    def forward(*given: Any) -> tuple[Any, Any]:
        # Call `whole`, so that derivatives of this gradient include how the states depend on the operands.
        found: Any = whole(*given)
        return found, (list(given), list(found[count:]))

    def backward(residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        again, saved = residuals
        filled = list(operands)
        for k, x in zip(arrays, again, strict=True):
            filled[k] = x
        found = _pulled(looped, filled, saved, list(cotangents))
        return tuple(found.get(k) for k in arrays)

    whole = custom_vjp(lambda *given: call(looped.saving(), given))
    whole.defvjp(forward, backward)
    return list(whole(*given)[:count])


def _pulled(looped: Looped, operands: list[Any], saved: list[Any], cotangents: list[Any]) -> dict[int, Any]:
    """Return the cotangents of operands, by position, computed by a loop in the opposite direction.

    `cotangents` belong to the results, and to the states `saved` before each step.
    """
    states, items = looped.states, looped.states + looped.rows
    recording, taken = looped.recording, operands[items:]
    # Cotangents that are zeros made by the package are constants of the recording.
    cotangents = [_tape.lifted(g) for g in cotangents]
    moving = [k for k, x in enumerate(operands) if _is_floating(x)]
    results = [k for k, g in enumerate(cotangents) if _is_floating(g)]
    # The state: cotangents of states, and sums of the cotangents of the arrays from outside.
    own, sums = [k for k in moving if k < states], [k for k in moving if k >= items]
    read = [k for k in moving if states <= k < items]

    def body(state: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        inputs = [*row[:items], *taken]

        def step(*given: Any) -> list[Any]:
            values = list(inputs)
            for k, x in zip(moving, given, strict=True):
                values[k] = x
            found = _followed(recording, values) + values[:states]
            return [found[k] for k in results]

        _, pull = vjp(step, *[inputs[k] for k in moving])
        parts = dict(zip(moving, pull([*state[: len(own)], *row[items:]]), strict=True))
        added = [old + parts[k] for old, k in zip(state[len(own) :], sums, strict=True)]
        return [parts[k] for k in own] + added, [parts[k] for k in read]

    first = [contiguous(cotangents[k]) for k in own] + [
        _tape.lifted(contiguous(zeros_like(operands[k]))) for k in sums
    ]
    rows = [*saved, *operands[states:items], *[cotangents[k] for k in results if k >= states]]
    last, stacked = repeat(body, first, rows, looped.n, not looped.reverse, lambda: (None, taken))
    return dict(zip([*own, *sums, *read], [*last, *stacked], strict=True))


def _is_floating(x: Any) -> bool:
    return isinstance(x, Array) and x.dtype.kind in FLOATING


def _is_followed(step: Step) -> bool:
    """Return whether a tape can follow a recorded call."""
    if step.kind != "call":
        return step.kind not in ("in_place", "setitem")
    function = step.function
    return (
        isinstance(function, Looped) or function in OPERATORS.values() or FUNCTIONS.get(step.name) is function
    )


def _followed(recording: Recording, inputs: list[Any]) -> list[Any]:
    """Make the calls of a recording with other inputs, which tapes may track."""
    recorder = current_recorder()
    values = [_fixed(recorder, x) for x in recording.initial]
    for slot, x in zip(recording.inputs, inputs, strict=True):
        values[slot] = x
    for step, _ in recording.running:
        out = _fixed(recorder, _followed_step(recorder, step, [values[slot] for slot in step.operands]))
        if step.result >= 0:
            values[step.result] = out
    return [values[slot] for slot in recording.results]


def _fixed(recorder: Any, x: Any) -> Any:
    """Return the recorded array for an array that is the same in every step."""
    return (
        recorder.constant(x)
        if isinstance(x, Array) and _tape.slot_of(x) is None and recorder is not None
        else x
    )


def _followed_step(recorder: Any, step: Step, args: list[Any]) -> Any:
    if step.kind == "getitem":
        return operator.getitem(*args)
    if step.kind == "guard":
        if recorder.decide(step.function, detach(args[0])) is not step.expected:
            raise Unrolled
        return None
    if step.kind != "call":
        return step.execute(args)
    if isinstance(step.function, Looped):
        return _looped(recorder, step.function, args)
    recorder.is_operator = step.function in OPERATORS.values()
    split = len(args) - len(step.kwnames)
    return step.function(*args[:split], **dict(zip(step.kwnames, args[split:], strict=True)))


hide_frames()
