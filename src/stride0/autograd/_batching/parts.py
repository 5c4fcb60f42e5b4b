"""Building blocks of batching rules.

Note [Batching rules]
    A rule takes the level, then the arguments of its function, one for each parameter. Batched arrays among
    them have the shape of one example; `level.value(x)` is the array of all examples, batch axis first. The
    rule calls public functions on the values, so that older tapes record these calls, and returns results
    with the batch axis first.

    `static` refuses batched options (`axis`, `k`, `num`) before a rule sees them: a rule that passed one on
    would call itself again.

    An axis given by the caller is checked against the axes of an example before it is shifted. If a call is
    invalid for an example but would be valid for the values, `natural` raises the error of the function.

    Most rules are one word: `along` and `along_all` for functions along one or several axes,
    `of_matrices` for functions of the last two axes, and `elementwise`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, NoReturn

from stride0._base.errors import BatchingError
from stride0._base.shapes import Shape, broadcast_shapes, normalize_axes, normalize_axis, not_static
from stride0._chapters.creation import zeros
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.array.modes import check_broadcasting
from stride0._core.call.binding import PRIMITIVES
from stride0.autograd._tape.tape import Level as Level
from stride0.autograd._tape.tape import is_batched_array

Rule = Callable[..., Any]


def broadcast(operation: str, **shapes: Shape) -> Shape:
    """Return the shape to which the operands of an example broadcast, given by parameter name.

    Raises if they do not broadcast, or if the caller's mode of broadcasting forbids it: the values may have
    other numbers of axes, and functions do not check the broadcasts of calls by the package.
    """
    pairs = list(shapes.items())
    shape = broadcast_shapes(operation, pairs)
    check_broadcasting(operation, pairs, shape)
    return shape


def shifted(operation: str, axis: Any, ndim: int) -> int:
    """Convert an axis of an example to an axis of the values."""
    return normalize_axis(operation, axis, ndim) + 1


def shifted_all(operation: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Convert axes of an example (None: all) to axes of the values."""
    return tuple(k + 1 for k in normalize_axes(operation, axis, ndim))


def check(function: Callable[..., Any], *arguments: Any, **more: Any) -> None:
    """Raise the error, if any, that a function raises for examples of these shapes."""

    def plain(x: Any) -> Any:
        return zeros(x.shape, dtype=x.dtype) if isinstance(x, Array) else x

    function(*map(plain, arguments), **{name: plain(x) for name, x in more.items()})


def natural(function: Callable[..., Any], *arguments: Any, **more: Any) -> NoReturn:
    """Raise the error that a function raises for examples of these shapes."""
    check(function, *arguments, **more)
    raise BatchingError(function.__name__, "there is no batching rule for these arguments")


@cache
def _compiled(function: Callable[..., Any], least: int, shift: Callable[[str, Any, int], Any]) -> Rule:
    """Return the rule of a function of one array, with at least `least` axes, and options.

    It is compiled from text, so that a call costs no more than a call of an explicit rule.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]

    def call(called: str, x: str, axis: str) -> str:
        """Return the text of a call, with another value for the axis parameter."""
        given = [x]
        for p in parameters:
            value = axis.format(p.name) if p.name in ("axis", "axes") else p.name
            given.append(value if p.kind is p.POSITIONAL_ONLY else f"{p.name}={value}")
        return f"{called}({', '.join(given)})"

    text = call("function", "level.value(x)", f"shift({function.__name__!r}, {{}}, x.ndim)")
    text += f" if x.ndim >= {least} else {call('natural', 'function, x', '{}')}"
    names = ", ".join(["level", "x", *(p.name for p in parameters)])
    rule: Rule = eval(f"lambda {names}: {text}", {"function": function, "shift": shift, "natural": natural})
    return rule


def _shifting(function: Callable[..., Any], least: int, shift: Callable[[str, Any, int], Any]) -> Rule:
    # Read the signature at the first call, because that takes long.
    return lambda *arguments: _compiled(function, least, shift)(*arguments)


def along(function: Callable[..., Any]) -> Rule:
    """Return the rule of a function along one axis."""
    return _shifting(function, 1, shifted)


def along_all(function: Callable[..., Any]) -> Rule:
    """Return the rule of a function along several axes, or all."""
    return _shifting(function, 0, shifted_all)


def of_matrices(function: Callable[..., Any]) -> Rule:
    """Return the rule of a function of stacks of matrices."""
    return _shifting(function, 2, shifted)


def flat(level: Level, x: Array) -> Array:
    """Return the value of an array with the axes of an example flattened."""
    value: Array = level.spread(x)
    return reshape(value, (level.size, x.size))


def refusal(name: str, reason: str) -> Rule:
    """Return a rule that raises."""

    def refuse(level: Level, *arguments: Any) -> NoReturn:
        raise BatchingError(name, reason)

    return refuse


# Parameters annotated as numbers whose rules accept a batched array.
_NUMBERS = frozenset({"fill_value", "shift", "start", "stop"})
_OPERANDS = ("Any", "Array", "Operand")


@cache
def _static_parameters(name: str) -> tuple[tuple[int, str], ...]:
    """Return position and name of the parameters that must be the same for all examples."""
    function = PRIMITIVES.get(name)
    if function is None:
        return ()
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        (k, p.name)
        for k, p in enumerate(parameters)
        if p.name not in _NUMBERS and not any(word in str(p.annotation) for word in _OPERANDS)
    )


def static(name: str, rule: Rule) -> Rule:
    """Return a rule that refuses batched arrays as options, which all examples share."""

    @wraps(rule)
    def checked(level: Level, *arguments: Any) -> Any:
        for k, parameter in _static_parameters(name):
            given = arguments[k]
            # Also batched arrays of older levels, which the rule would read as numbers.
            items = given if isinstance(given, (tuple, list)) else (given,)
            if any(map(is_batched_array, items)):
                raise not_static(name, parameter)
        return rule(level, *arguments)

    return checked
