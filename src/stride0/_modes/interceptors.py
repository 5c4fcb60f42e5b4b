"""The interceptor of calls: checks operands and results while strict mode or a test configuration is on."""

from __future__ import annotations

from typing import Any

from stride0._core.array.modes import is_strict, set_interceptor
from stride0._modes.configurations import Call, Configuration, current_configuration
from stride0._modes.strict_rules import check_call
from stride0._tables.standard import NEWEST

__all__ = ["enter", "leave"]


def enter(
    call_kind: str,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    configuration: Configuration | None = None,
) -> tuple[Configuration, Call] | None:
    """Check the operands of a call, in the current configuration by default; `leave` needs the result."""
    if configuration is None:
        configuration = current_configuration()
    if is_strict():
        version = NEWEST if configuration is None else configuration.api_version
        check_call(call_kind, name, args, kwargs, version)
    return (
        None if configuration is None else (configuration, configuration.enter(call_kind, name, args, kwargs))
    )


def leave(entered: tuple[Configuration, Call], out: Any) -> Any:
    """Return the result that the call's configuration would have computed."""
    configuration, call = entered
    return configuration.leave(call, out)


set_interceptor(enter, leave)
