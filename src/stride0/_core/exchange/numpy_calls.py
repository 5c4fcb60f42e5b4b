"""Conversion to NumPy and back, for functions that NumPy computes.

NumPy is imported by the first function that needs it, not with the package: that would take most of the time
of ``import stride0``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import cache
from types import ModuleType
from typing import Any

from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray

__all__ = ["call_quietly", "from_numpy", "numpy", "quiet", "quiet_context", "to_numpy"]


@cache
def numpy() -> ModuleType:
    """Return the module ``numpy``."""
    import numpy as module

    return module


def to_numpy(x: Array) -> Any:
    """Return an ndarray that is a view of `x`."""
    return numpy().asarray(x)


def from_numpy(a: Any) -> Array:
    """Return an array that is a view of the ndarray (or a copy of the NumPy scalar) `a`."""
    return asarray(a)


def quiet() -> Any:
    """Return a context in which NumPy does not warn about overflow or similar: stride0 never does."""
    return numpy().errstate(all="ignore")


@cache
def quiet_context() -> Context:
    """Return a `contextvars` context in which NumPy does not warn; enter a copy of it."""
    context = Context()
    context.run(numpy().seterr, all="ignore")
    return context


def call_quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function without warnings; for one call this is faster than `quiet`."""
    # Only one thread at a time can enter a context, and a copy is cheap.
    return quiet_context().copy().run(function, *args, **kwargs)
