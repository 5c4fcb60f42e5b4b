"""The recorder: turns the calls of a function into steps, Note [Recordings] of the tape."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

from stride0._base.errors import ReplayError
from stride0._core.array.array import Array, shares_storage
from stride0._core.array.modes import frame_of_caller
from stride0._core.exchange.exchange import asarray
from stride0._core.memory.dtype import DType
from stride0._core.replay.replay import Recording, Step
from stride0._tables.operations import OPS
from stride0._tables.standard import DATA_DEPENDENT
from stride0.autograd._tape import tape as _tape

__all__ = ["NUMBERS", "Recorder", "arrays_in", "line"]

SCALARS = (bool, int, float, complex)
# Functions whose results are facts of dtypes and shapes, not values.
FACTS = frozenset(
    {"can_cast", "isdtype", "result_type", "finfo", "iinfo", "broadcast_shapes", "promote_types"}
)
# The numbers of the table's operations by their names, also without the name of the extension.
NUMBERS = {name: k for k, op in enumerate(OPS) for name in (op.qualified, op.name)}
# Operators of Python scalars, by the names of the table.
OPERATORS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
}
WRITE = {
    "float": "where(condition, a, b) instead of a branch on a value",
    "bool": "where(condition, a, b) instead of a branch; or pass the flag to replay(f, static=...)",
    "int": "replay(f, static=...) for an argument that sets a shape or a number of steps",
    "index": "replay(f, static=...) for an argument that sets a shape or a number of steps",
    "branch": "call the function without replay: the operation decides by values how to compute",
}


def line() -> str:
    """Return the line of the caller's code."""
    frame = frame_of_caller()
    while (
        frame is not None
        and frame.f_back is not None
        and frame.f_globals.get("__name__", "").startswith("numpy.")
    ):
        frame = frame.f_back
    return "an unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def arrays_in(value: Any) -> list[Array]:
    """Return the arrays among arguments, also in sequences and dicts."""
    if isinstance(value, Array):
        return [value]
    found: list[Array] = []
    if isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, Array):
                found.append(item)
            elif isinstance(item, (tuple, list, dict)):
                found += arrays_in(item)
    return found


class Recorder:
    """Records one call of a function.

    Parameters
    ----------
    operation : str
        The name of the function, for errors.
    leaves : list
        The arrays and Python scalars among the arguments.
    known : list of Array
        The arrays from outside that the function can reach: later calls check that it still reaches them.
    """

    def __init__(self, operation: str, leaves: list[Any], known: list[Array]) -> None:
        self.operation = operation
        self.recording = Recording(leaves)
        self.level = _tape.Level(1, self)
        self.thread = threading.get_ident()
        self.known, self.given = known, arrays_in(leaves)
        # The recorded arrays for arrays from outside, which the recording keeps alive, by identity.
        self.lifted: dict[int, Array] = {}
        # Objects by identity, with the slots that the calls that made them have.
        self.objects: dict[int, int] = {}
        self.kept: list[Any] = []
        self.writes = False
        self.is_operator = False
        # Whether a call has other derivatives than its recorded steps.
        self.is_opaque = False
        self.arguments = [_tape.recorded_array(self.level, x, slot) for slot, x in enumerate(leaves)]

    # --- errors

    def refuse(self, problem: str, accepts: str, operation: str = "") -> NoReturn:
        raise ReplayError(operation or self.operation, problem, (("line", line()),), accepts)

    def refuse_reading(self, operation: str) -> NoReturn:
        accepts = WRITE.get(
            operation.strip("_"), "functions of stride0; at(x, index).set(y) and where for masks"
        )
        self.refuse(
            f"the value of an array is read while replay records {self.operation}, "
            "and later calls have other values",
            accepts,
            operation,
        )

    def refuse_late(self, operation: str) -> NoReturn:
        self.refuse(
            f"the array is from a call of {self.operation} that was recorded, and that has returned",
            "return the array from the function",
            operation,
        )

    # --- arrays from outside

    def outside(self, x: Array) -> Array:
        """Return the recorded array for an array that the function reaches without its arguments."""
        if id(x) not in self.lifted and not any(shares_storage(x, y) for y in self.known):
            self.refuse(
                "an array is used that is neither an argument nor a variable of the function",
                "pass the array as an argument",
            )
        return self.lift(x)

    def lift(self, x: Array) -> Array:
        """Return the recorded array for an array with memory of its own, which every call reads."""
        if threading.get_ident() != self.thread:
            self.refuse("another thread computes with an array of the recorded function", "one thread")
        if _tape.is_tracked(x):
            self.refuse(
                "a tape around the call tracks an array from outside", "pass the array as an argument"
            )
        found = self.lifted.get(id(x))
        if found is None:
            found = self.lifted[id(x)] = self.constant(x)
        return found

    def constant(self, x: Array) -> Array:
        """Return the recorded array for an array that no call changes."""
        return _tape.recorded_array(self.level, x, self.recording.constant(x))

    def check_write(self) -> None:
        """Accept a write whose operands are all from outside."""

    def check_target(self, x: Array) -> None:
        """Refuse a write to an array that only the recorded call has."""
        self.outside(x)

    def check_tracked_write(self, x: Array) -> None:
        """Refuse to write tracked values to memory that the function also reaches without the tape."""
        if any(shares_storage(x, y) for y in self.known):
            self.refuse(
                "values that a tape tracks are written to an array from outside",
                "pass the array as an argument, or write x = x + y instead of x += y",
            )

    def strong(self, x: Array) -> Array:
        """Return an array for an argument that is a Python scalar."""
        out: Array = self.call("call", asarray, "asarray", (x,))
        return out

    # --- calls

    def innermost(self) -> Recorder:
        """Return the recorder of the loop body that runs; outside of loops, this recorder."""
        found: Recorder | None = _tape.current_recorder()
        return self if found is None else found

    def call(
        self, kind: str, function: Any, name: str, args: tuple[Any, ...], kwnames: tuple[str, ...] = ()
    ) -> Any:
        """Run a call on what its recorded arrays stand for, and append it to the recording."""
        if (inner := self.innermost()) is not self:
            return inner.call(kind, function, name, args, kwnames)
        if threading.get_ident() != self.thread:
            self.refuse("another thread computes with an array of the recorded function", "one thread", name)
        self.check_shape_of_result(name, args)
        if name == "getitem" and kind == "call":
            kind = "getitem"
        elif name == "setitem" and kind == "call":
            kind = "setitem"
        if kind == "in_place" and function < 0:
            kind, function = "call", Array.__imatmul__
        scalars = [type(self.plain(x)) in SCALARS for x in args]
        if all(scalars) and kind in ("unary", "binary"):
            kind, function = self.scalar_call(kind, name)
        operands = [self.operand(x) for x in args]
        pure = kind in ("binary", "unary") and name in PURE and not self.may_fail(args)
        writes = kind in ("in_place", "setitem") or name in WRITES or name.startswith("random.")
        slots = tuple(slot for slot, _ in operands)
        step = Step(kind, function, name, slots, kwnames, line(), pure, writes=writes)
        out = _tape.execute(self.level, step.execute, [value for _, value in operands])
        if out is NotImplemented:
            return out
        if not writes:
            found = self.same_operand(out, args, operands)
            if found is not None:
                return found
        self.recording.append(step)
        self.writes = self.writes or (
            writes and (name.startswith("random.") or any(self.is_lasting(x) for _, x in operands))
        )
        return self.result(step, out, args, operands)

    def is_lasting(self, x: Any) -> bool:
        """Return whether an array may have memory that outlives the call."""
        return isinstance(x, Array) and any(shares_storage(x, y) for y in (*self.known, *self.given))

    def check_shape_of_result(self, name: str, args: tuple[Any, ...]) -> None:
        """Refuse a call whose result has a shape that depends on values."""
        masks = name == "getitem" and any(x.dtype.kind == "bool" for x in arrays_in(args[1]))
        counts = name == "repeat" and len(args) > 1 and isinstance(args[1], Array)
        if masks or counts or name in DATA_DEPENDENT:
            self.refuse(
                "the shape of the result depends on values, and later calls have other values",
                "where(mask, x, 0), or at(x, mask).set(y), which keep the shape",
                name,
            )

    def scalar_call(self, kind: str, name: str) -> tuple[str, Any]:
        """Return the call of an operation whose operands are Python scalars."""
        if kind == "binary" and self.is_operator and name in OPERATORS:
            return "call", OPERATORS[name]
        if self.is_operator or name in ("negative", "positive", "abs"):
            self.refuse(
                f"the operation {name} is applied to Python scalars only",
                "pass the number to replay(f, static=...), or pass asarray(number); write -1 * x for -x",
                name,
            )
        return kind, NUMBERS[name]

    @staticmethod
    def may_fail(args: tuple[Any, ...]) -> bool:
        """Return whether an operation may raise an error that depends on values."""
        return any(x.dtype.kind not in ("real floating", "complex floating") for x in arrays_in(args))

    def plain(self, x: Any) -> Any:
        """Return what a recorded array stands for; other values unchanged."""
        found = _tape.slot_of(x)
        return x if found is None else found[1]

    def operand(self, x: Any) -> tuple[int, Any]:
        """Return the slot and the value of an argument of a call."""
        found: tuple[int, Any] | None = _tape.slot_of(x)
        if found is not None:
            return found
        if isinstance(x, Array):
            return self.operand(self.lift(x))
        if type(x) in (tuple, list) and arrays_in(x):
            parts = [self.operand(item) for item in x]
            kind = "tuple" if type(x) is tuple else "list"
            step = Step(kind, None, kind, tuple(slot for slot, _ in parts), (), line(), True)
            self.recording.append(step)
            value = type(x)(value for _, value in parts)
            return self.recording.keep(step, value), value
        slot = self.objects.get(id(x))
        if slot is None:
            slot = self.recording.constant(x)
        return slot, x

    def same_operand(self, out: Any, args: tuple[Any, ...], operands: list[tuple[int, Any]]) -> Any:
        """Return the recorded array for a result that is an operand; None for any other result."""
        for x, (slot, value) in zip(args, operands, strict=True):
            if out is value and isinstance(out, Array):
                return x if _tape.slot_of(x) else _tape.recorded_array(self.level, value, slot)
        return None

    def result(self, step: Step, out: Any, args: tuple[Any, ...], operands: list[tuple[int, Any]]) -> Any:
        """Return the result of a step with recorded arrays."""
        if isinstance(out, Array):
            found = self.same_operand(out, args, operands)
            return self.kept_array(step, out, operands) if found is None else found
        if isinstance(out, (tuple, list)):
            whole = self.recording.keep(step, out)
            parts = [self.part(whole, k, item, step, operands) for k, item in enumerate(out)]
            return type(out)(*parts) if hasattr(out, "_fields") else type(out)(parts)
        if out is None or isinstance(out, (DType, str, type)) or step.name in FACTS:
            return out
        if type(out) in SCALARS:
            if step.kind == "call" and step.function in OPERATORS.values():
                return _tape.recorded_array(self.level, out, self.recording.keep(step, out))
            self.refuse_reading(step.name)
        self.objects[id(out)] = self.recording.keep(step, out)
        self.kept.append(out)
        return out

    def kept_array(self, step: Step, out: Array, operands: list[tuple[int, Any]]) -> Array:
        """Return the recorded array for the result of a step, which may be a view of an operand."""
        shown = [(slot, x) for slot, x in operands if isinstance(x, Array) and shares_storage(out, x)]
        # Of two operands that overlap in this call, either may be the one that is shown.
        base = shown[0] if len({slot for slot, _ in shown}) == 1 else (-1, None)
        if len(shown) > 1:
            step.touches_operands()
        return _tape.recorded_array(self.level, out, self.recording.keep(step, out, *base))

    def part(self, whole: int, k: int, item: Any, made_by: Step, operands: list[tuple[int, Any]]) -> Any:
        """Return a part of a result."""
        if not isinstance(item, Array):
            if type(item) in SCALARS and made_by.name not in FACTS:
                self.refuse_reading(made_by.name)
            return item
        step = Step("part", k, made_by.name, (whole,), (), made_by.where, True)
        self.recording.append(step)
        return self.kept_array(step, item, operands)

    def decide(self, function: Callable[[Any], bool], x: Array) -> bool:
        """Return what a function of the package decides by values; a replay checks that again."""
        if (inner := self.innermost()) is not self:
            return inner.decide(function, x)
        slot, value = self.operand(x)
        found: bool = _tape.execute(self.level, function, value)
        # After a write to memory that outlives the call, a replay cannot begin again.
        name = self.operation if self.writes else "guard"
        self.recording.append(Step("guard", function, name, (slot,), (), line(), False, found))
        return found

    # --- the end

    def end(self) -> None:
        """Drop everything except what errors about arrays of this call need."""
        self.level.close()
        operation = self.operation
        vars(self).clear()
        self.operation = operation

    def slot_of_result(self, x: Any) -> int:
        """Return the slot of a leaf of the function's result."""
        found: tuple[int, Any] | None = _tape.slot_of(x)
        if found is not None:
            return found[0]
        if isinstance(x, Array):
            return self.operand(self.outside(x))[0]
        return self.recording.constant(x)


# Functions that write to an argument.
WRITES = frozenset({"put_along_axis", "nan_to_num"})
PURE = {op.name for op in OPS} | {op.qualified for op in OPS}
