"""The configuration that shows the calls of a function to its recorder: Note [Interceptors]."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from stride0._core.array.array import Array
from stride0._core.call.binding import FUNCTIONS
from stride0._core.elementwise import functions
from stride0._core.exchange.exchange import asarray, from_dlpack
from stride0._core.replay.replay import Step
from stride0._modes.configurations import Configuration, current_configuration
from stride0._modes.simulated import Simulated
from stride0._replay.recorder import NUMBERS, Recorder, arrays_in, line
from stride0.autograd._tape import tape as _tape

__all__ = ["configuration_of"]

# Functions of the core that are intercepted without being objects of the namespace.
COMPILED = {"asarray": asarray, "from_dlpack": from_dlpack}


class Entered:
    """A call of the function's own code. It is not executed if `answer` has a tuple of the result."""

    answer: tuple[Any] | None = None

    def __init__(self, kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.kind, self.name, self.args, self.kwargs = kind, name, args, kwargs


class RecordedCalls(Configuration):
    """A test configuration that records the calls of a function, also those without recorded arrays."""

    outermost: Recorder

    @property
    def recorder(self) -> Recorder:
        """The recorder of the function, or of the body of a loop, that runs."""
        return self.outermost.innermost()

    def refuse_value(self, operation: str) -> NoReturn:
        """Refuse to read the value of an array."""
        self.recorder.refuse_reading(operation)

    def enter(self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call of the namespace, or note its operands."""
        recorder = self.recorder
        recorder.is_operator = call_kind in ("operator", "in-place")
        found = arrays_in((args, kwargs))
        for x in found:
            if _tape.slot_of(x) is None and not _tape.is_transformed(x):
                recorder.outside(x)
        entered = Entered(call_kind, name, args, kwargs)
        if call_kind == "function" and name in FUNCTIONS:
            function = FUNCTIONS[name]
            if any(_tape.is_transformed(x) for x in found):
                given = [_tape.lifted(x) for x in args]
                out = function(*given, **{key: _tape.lifted(x) for key, x in kwargs.items()})
            else:
                out = recorder.call("call", function, name, (*args, *kwargs.values()), tuple(kwargs))
            entered.answer = (out,)
        elif call_kind in ("setitem", "in-place") and not _tape.writes_on_tape(args[0], *found):
            # The interceptor is not told of the end of such a call.
            self._write(call_kind, name, args)
        return entered

    def _write(self, call_kind: str, name: str, args: tuple[Any, ...]) -> None:
        """Record a write whose operands are all from outside: it is about to be executed."""
        recorder = self.recorder
        recorder.check_write()
        kind: str
        function: Any
        kind, function = ("setitem", None) if call_kind == "setitem" else ("in_place", NUMBERS.get(name, -1))
        if function == -1:
            kind, function = "call", Array.__imatmul__
        slots = tuple(recorder.operand(x)[0] for x in args)
        recorder.recording.append(Step(kind, function, name, slots, (), line(), writes=True))
        recorder.writes = True

    def leave(self, entered: Any, out: Any) -> Any:
        """Record a call whose operands are all from outside, and make its results recorded arrays."""
        arrays = arrays_in(out)
        if (
            entered.answer is not None
            or not arrays
            or any(_tape.slot_of(x) or _tape.is_transformed(x) for x in arrays)
        ):
            return out
        recorder = self.recorder
        args, names = (*entered.args, *entered.kwargs.values()), tuple(entered.kwargs)
        kind, function = "call", cast(Any, COMPILED.get(entered.name))
        if entered.kind == "getitem":
            kind = "getitem"
            recorder.check_shape_of_result("getitem", args)
        elif function is None and not names and entered.name in NUMBERS:
            kind, function = ("unary" if len(args) == 1 else "binary"), NUMBERS[entered.name]
        elif function is None:
            function = getattr(functions, entered.name, None)
            if function is None:
                recorder.refuse(
                    "the call cannot be recorded", "call the function without replay", entered.name
                )
        operands = [recorder.operand(x) for x in args]
        step = Step(kind, function, entered.name, tuple(slot for slot, _ in operands), names, line())
        recorder.recording.append(step)
        return recorder.result(step, out, args, operands)


def configuration_of(recorder: Recorder) -> RecordedCalls:
    """Return the configuration in which a recorder sees the calls of a function."""
    assert current_configuration() is None
    found = RecordedCalls(devices=("cpu",), simulated={0: Simulated()}, lazy=True)
    found.outermost = recorder
    return found
