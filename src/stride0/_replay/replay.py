"""`replay`: records the calls of a function once, and repeats them without Python."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    ReplayError,
    counted,
    hide_frames,
    shown,
)
from stride0._core.array.array import Array
from stride0._core.array.modes import BROADCASTING, CONFIGURATION, STRICT, is_guarding
from stride0._core.call.checks import check_function
from stride0._core.replay.replay import (
    Diverged,
    Entry,
    Links,
    Looped,
    Recording,
    Repeating,
    read_arguments,
)
from stride0._replay.configuration import configuration_of
from stride0._replay.links import links_of, name_of
from stride0._replay.recorder import Recorder
from stride0.autograd._batching import table as _table
from stride0.autograd._tape.tape import RecorderBlock, current_recorder
from stride0.autograd._tape.trees import flatten

__all__ = ["Replayed", "replay"]

# Rules that recorded transformations need.
assert _table.BATCHING

# Types of arguments that may differ between calls of one recording.
LEAVES = (Array, bool, int, float, complex)
MOST_RECORDINGS = 128
MANY_RECORDINGS = 16
Function = TypeVar("Function", bound=Callable[..., Any])


class Replayed(Repeating):
    """A function made by `replay`."""

    def __init__(self, function: Callable[..., Any], static: tuple[str | int, ...]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._places, self._names = _static_of(function, static)
        self._recorded: dict[Any, list[Entry]] = {}
        self._lock = threading.Lock()
        self._made = 0

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call whose signature may differ from the last call's."""
        if current_recorder() is not None or (is_guarding() and _is_checked()):
            # An outer recording records the calls; modes check them.
            return self._function(*args, **kwargs)
        key, leaves, is_transformed = read_arguments(args, kwargs, self._places, self._names)
        if is_transformed:
            return self._function(*args, **kwargs)
        try:
            recorded = self._recorded.get(key)
        except TypeError as error:
            problem = f"a static argument is not hashable: {error}"
            raise ReplayError(self.__name__, problem, (), "pass a hashable object") from None
        for found in recorded or ():
            if found.links.changed() is None:
                if not found.recording.is_free():
                    return self._function(*args, **kwargs)
                if not found.is_applicable(leaves):
                    continue
                self.use(found)
                try:
                    return found.run(leaves)
                except Diverged:
                    # Nothing has been written yet.
                    continue
        return self._record(key, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"replay({self._function!r})"

    @property
    def recordings(self) -> int:
        """The number of recordings that are kept."""
        return sum(map(len, self._recorded.values()))

    def clear(self) -> None:
        """Drop all recordings."""
        with self._lock:
            self._recorded.clear()
            self.use(None)

    def explain(self) -> str:
        """Return a text that lists the steps of each recording, with shapes, dtypes and lines.

        Examples
        --------
        >>> step = xp.replay(lambda x: xp.sin(x) + 1)
        >>> y = step(xp.ones(3))
        >>> print(step.explain().splitlines()[0])
        recording 1: 2 steps, 1 argument, 64 bytes for results between steps
        """
        parts = [found for several in list(self._recorded.values()) for found in several]
        return "\n\n".join(_explained(k, found.recording) for k, found in enumerate(parts, 1))

    def _record(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function, and keep the recording."""
        objects = [x for x in flatten([list(args), kwargs])[0] if type(x) not in LEAVES]
        links, known = links_of(self._function, *objects)
        recorded, out = _recorded_call(self, links, known, args, kwargs)
        with self._lock:
            if self.recordings >= MOST_RECORDINGS:
                self._recorded.clear()
            self._recorded.setdefault(key, []).append(recorded)
            self.use(recorded)
            self._made += 1
            is_many = self._made == MANY_RECORDINGS + 1
        if is_many:
            warnings.warn(
                f"replay: {self.__name__} has been recorded {self._made} times, for different shapes, "
                "dtypes, static arguments or variables; a recording costs more than a call without replay",
                stacklevel=3,
            )
        return out


def _is_checked() -> bool:
    """Return whether a mode of this context checks calls."""
    return any(switch.current() != switch.off for switch in (STRICT, CONFIGURATION, BROADCASTING))


def _recorded_call(
    replayed: Replayed, links: Links, known: list[Array], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Entry, Any]:
    """Call a function while its calls are recorded."""
    places, names = replayed._places, replayed._names
    _, leaves, _ = read_arguments(args, kwargs, places, names)
    recorder = Recorder(replayed.__name__, leaves, known)
    recording, given = recorder.recording, iter(recorder.arguments)
    new_args = [x if k in places else _replaced(x, given) for k, x in enumerate(args)]
    new_kwargs = {k: kwargs[k] if k in names else _replaced(kwargs[k], given) for k in sorted(kwargs)}
    entered = CONFIGURATION.enter(configuration_of(recorder))
    try:
        with RecorderBlock(recorder):
            out = replayed._function(*new_args, **{k: new_kwargs[k] for k in kwargs})
            results, structure = flatten(out)
            slots = [recorder.slot_of_result(x) for x in results]
            values = [recorder.plain(x) for x in results]
        changed, writes = links.changed(), recorder.writes
        if changed is not None:
            raise ReplayError(
                replayed.__name__,
                f"the function changes {name_of(changed)}, which later calls could not repeat",
                (),
                "pass the object as an argument, and return its new value",
            )
    finally:
        CONFIGURATION.leave(entered)
        del entered  # a traceback would keep the switch on
        recorder.end()
    recording.finish(tuple(slots))
    is_single = type(out) in LEAVES
    positional = None if kwargs or places else args
    entry = Entry(recording, structure, links, leaves, positional, is_single, writes)
    return entry, structure.rebuild(values)


def _replaced(tree: Any, given: Any) -> Any:
    """Return an argument with recorded arrays instead of its arrays and Python scalars."""
    leaves, structure = flatten(tree)
    return structure.rebuild([next(given) if type(x) in LEAVES else x for x in leaves])


def _static_of(
    function: Callable[..., Any], static: tuple[str | int, ...]
) -> tuple[tuple[int, ...], frozenset[str]]:
    """Return the positions and the names of the static arguments of a function."""
    if not static:
        return (), frozenset()
    parameters = list(inspect.signature(function).parameters)
    places, names = [], set()
    for item in static:
        if isinstance(item, str) and item in parameters:
            places.append(parameters.index(item))
            names.add(item)
        elif isinstance(item, int) and 0 <= item < len(parameters):
            places.append(item)
            names.add(parameters[item])
        else:
            raise ArgumentValueError(
                "replay",
                f"static names {item!r}",
                (("parameters", ", ".join(parameters)),),
                "one of the parameters",
            )
    return tuple(places), frozenset(names)


def _explained(number: int, recording: Recording) -> str:
    steps = recording.running
    parts = [counted(len(steps), "step"), counted(recording.arguments, "argument")]
    lines = [f"recording {number}: {', '.join(parts)}, {recording.nbytes} bytes for results between steps"]
    return "\n".join(lines + _listed(recording, "    "))


def _listed(recording: Recording, indent: str) -> list[str]:
    """Return a line per step; the steps of a loop's body follow the loop."""
    lines = []
    for step, way in recording.running:
        operands = ", ".join(f"${slot}" for slot in step.operands)
        facts = "" if step.facts is None else f"  {step.facts[0]} {step.facts[1].name}"
        target = f"${step.result} = " if step.result >= 0 else ""
        lines.append(f"{indent}{way:<5}{target}{step.name}({operands}){facts}  {step.where}")
        if isinstance(step.function, Looped):
            lines.append(f"{indent}    {counted(step.function.n, 'time')}:")
            lines += _listed(step.function.recording, indent + 8 * " ")
    return lines


def replay(
    f: Function | None = None, /, static: str | int | Collection[str | int] = (), guard: bool = False
) -> Any:
    """
    Record the calls of a function once, and repeat them without Python.

    Parameters
    ----------
    f : callable
        Takes and returns arrays and Python numbers, also nested. Without `f`, `replay`
        returns a decorator.
    static : str, int, or collection of these
        Names or positions of arguments that are constants: each value has its own recording.
    guard : bool
        Reserved; only False is accepted.

    Returns
    -------
    callable
        Takes the arguments of `f`, and returns new arrays with the bits that `f` returns. It has the
        attributes ``recordings`` (how many are kept), ``clear()`` and ``explain()``.

    Raises
    ------
    ReplayError
        If the function reads the value of an array (``float``, a branch, a mask as an index, NumPy), changes
        variables, or uses an array that is neither an argument nor reached from its variables.

    Notes
    -----
    The first call with given structures, shapes, strides, dtypes and static arguments runs `f`; later calls
    run the recording. Python numbers are arguments: a new number needs no new recording. Variables of
    the function, and arrays reached by them, are compared at each call: if any is a new object,
    the function is recorded again. Writes to arguments and to arrays from outside are repeated in order.
    Random generators draw anew. All other side effects of `f` happen only when it is recorded.

    Transformations around the new function (``grad(replay(f))``) and modes such as `strict` call `f` itself.

    Examples
    --------
    >>> step = xp.replay(lambda x, dt: x + dt * xp.sin(x))
    >>> x = xp.ones(3)
    >>> for _ in range(100):
    ...     x = step(x, 0.01)
    >>> step.recordings
    1
    """
    names = tuple(static) if isinstance(static, Collection) and not isinstance(static, str) else (static,)
    if not all(isinstance(item, (str, int)) for item in names):
        raise ArgumentTypeError(
            "replay", f"static is {shown(static)}", (), "names or positions of parameters"
        )
    if guard is not False:
        raise ArgumentValueError(
            "replay", f"guard is {shown(guard)}", (), "False: branches on values cannot be recorded"
        )
    if f is None:
        return lambda function: replay(function, static=names)
    check_function("replay", f)
    return Replayed(f, names)


hide_frames()
