"""Recorded calls of SciPy, and their gradient and batching rules."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from stride0._base.errors import BatchingError
from stride0._core.call.binding import PRIMITIVES, primitive_in
from stride0._core.exchange.numpy_calls import from_numpy as from_numpy
from stride0._core.exchange.numpy_calls import to_numpy as to_numpy
from stride0.autograd._tape.tape import Level, define, define_batching

Function = TypeVar("Function", bound=Callable[..., Any])


def scipy(module: str) -> Any:
    """Return a module of SciPy, ``scipy("signal")``."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        raise ImportError(
            f"stride0.autograd.scipy.{module} calls SciPy, which cannot be imported: pip install scipy"
        ) from error


def original(name: str) -> Any:
    """Return SciPy's own function, "signal.lfilter", even if `patched` has replaced it."""
    module, _, attribute = name.rpartition(".")
    found = getattr(scipy(module), attribute)
    return getattr(found, "stride0_original", found)


def as_event(function: Any, event: Any) -> Any:
    """Copy `terminal` and `direction` from an event of `solve_ivp` to a function; return the function."""
    for key in ("terminal", "direction"):
        # Do not read `vars(event)`: the attributes may belong to the event's class.
        if hasattr(event, key):
            setattr(function, key, getattr(event, key))
    return function


def found_by(name: str) -> Any:
    """Return a function of this package by its name, "signal.lfilter"."""
    parts = name.split(".")
    found = importlib.import_module(f"stride0.autograd.scipy.{parts[0]}")
    return functools.reduce(getattr, parts[1:], found)


def recorded(module: str) -> Callable[[Function], Function]:
    """Let the tape record a function. It is called with untracked arrays, and needs `rules`."""
    return primitive_in(f"scipy.{module}")


def rules(function: Callable[..., Any], **by_parameter: Callable[..., Any]) -> None:
    """Define the gradient rules of a recorded function, written like the rules of `stride0.autograd.VJP`.

    They call recorded functions, so that derivatives of any order exist.
    """
    define(_name_of(function), function, by_parameter)


def batched(function: Callable[..., Any], rule: Callable[..., Any]) -> None:
    """Define the batching rule of a recorded function: Note [Batching rules]."""
    define_batching(_name_of(function), rule)


def by_lanes(function: Callable[..., Any], array: str) -> None:
    """Define the batching rule of a function of the lanes of one array. Only this array may be batched."""
    names = list(inspect.signature(function).parameters)

    def rule(level: Level, *values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        one_batch(function, level, given, array)
        return function(**{**given, array: level.value(given[array]), "axis": given["axis"] + 1})

    batched(function, rule)


def one_batch(function: Callable[..., Any], level: Level, given: dict[str, Any], array: str) -> None:
    """Raise if an argument other than the array is batched."""
    for name, value in given.items():
        if name != array and level.has(value):
            raise BatchingError(
                _name_of(function),
                f"{name} is batched, and SciPy cannot take one {name} per example",
                accepts=f"loop over the examples, or pass one {name} for all",
            )


def _name_of(function: Callable[..., Any]) -> str:
    return next(name for name, found in PRIMITIVES.items() if found is function)
