"""Errors of refused calls while stride0 replaces array-api-strict: they have its types, too."""

from __future__ import annotations

from typing import Any, Final

from stride0._base.errors import DTypeError, StrictError
from stride0._modes.configurations import Call, Configuration, current_configuration
from stride0._modes.interceptors import enter, leave

__all__ = ["StrictRuntimeError", "chosen", "enter_as_theirs", "leave_as_theirs"]


class StrictIndexError(StrictError, IndexError):
    """A key that the standard does not define."""


class StrictRuntimeError(StrictError, RuntimeError):
    """A feature that a flag turns off."""


class StrictValueError(StrictError, ValueError):
    """A value that the standard does not define, or a name for a device or a dtype."""


class DeviceDTypeError(DTypeError, ValueError):
    """A dtype that a device does not have."""


# Parts of messages for which array-api-strict raises a ValueError.
VALUES: Final = ("device is a string", "not an object of the namespace", "has a negative element")
BY_VALUE: Final = ("__dlpack__", "meshgrid")


def chosen(operation: str, problem: str, sentence: str, setting: str = "") -> type[StrictError]:
    """Return the class of a StrictError by its arguments."""
    if operation in BY_VALUE or any(part in problem for part in VALUES):
        return StrictValueError
    if "testing.flags" in setting:
        return StrictRuntimeError
    # In an assignment, problems of the value do not concern the key.
    key = operation in ("getitem", "setitem") and "value" not in problem and "assigned" not in problem
    return (
        StrictIndexError if key and "Python" not in problem.replace("a Python bool as", "") else StrictError
    )


def enter_as_theirs(
    call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Configuration, Call] | None:
    """Check the operands of a call, as `enter` does; masks have a separate flag."""
    configuration = current_configuration()
    if call_kind == "getitem" and configuration is not None and not configuration.data_dependent_shapes:
        configuration = configuration._replace(data_dependent_shapes=configuration.boolean_indexing)
    return enter(call_kind, name, args, kwargs, configuration)


def leave_as_theirs(entered: tuple[Configuration, Call], out: Any) -> Any:
    """Return the result of a call, as `leave` does; a dtype that a device lacks also is a ValueError."""
    try:
        return leave(entered, out)
    except DTypeError as error:
        raise DeviceDTypeError(error.operation, error.problem, error.facts, error.accepts) from None
