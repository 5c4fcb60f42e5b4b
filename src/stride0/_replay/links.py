"""The variables, items and attributes through which a function reaches objects besides its arguments.

A recording holds only for these objects. So the links are noted before the function is recorded, and compared
afterwards and before each later call.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from stride0._base.errors import shown
from stride0._core.array.array import Array
from stride0._core.replay.replay import Links

__all__ = ["links_of", "name_of"]

# Holder, key (None for a cell), and the object that is found there.
Link = tuple[Any, Any, Any]
MOST_LINKS = 4096
# Values whose change makes a recording invalid; containers, functions and objects are followed instead.
COMPARED = (Array, bool, int, float, complex, str, bytes, type(None))
LIBRARIES = frozenset(sys.stdlib_module_names) | {"stride0", "numpy", "scipy"}


def links_of(*roots: Any) -> tuple[Links, list[Array]]:
    """Return the links of a function and of its arguments, and the arrays that they reach."""
    held = list(roots)
    found: list[Link] = [(held, k, root) for k, root in enumerate(roots)]
    arrays: list[Array] = []
    seen: set[int] = set()
    waiting: list[tuple[Any, frozenset[str]]] = [(root, frozenset()) for root in roots]
    while waiting and len(found) < MOST_LINKS:
        holder, names = waiting.pop(0)
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        for link in _from(holder, names):
            value = link[2]
            found.append(link)
            if isinstance(value, Array):
                arrays.append(value)
            elif not isinstance(value, COMPARED):
                waiting.append((value, names | _names(holder)))
    return Links(found), arrays


def name_of(link: Link) -> str:
    """Return what a link starts from, for errors."""
    return "a variable of an enclosing function" if link[1] is None else shown(link[1])


def _from(holder: Any, names: frozenset[str]) -> Iterator[Link]:
    """Yield the links that start at an object; of a module only those with one of `names`."""
    if isinstance(holder, FunctionType):
        for cell in holder.__closure__ or ():
            try:
                yield cell, None, cell.cell_contents
            except ValueError:
                continue  # not assigned yet
        yield from _items(holder.__globals__, _names(holder))
        for value in (*(holder.__defaults__ or ()), *(holder.__kwdefaults__ or {}).values()):
            yield [value], 0, value
        yield from _items(vars(holder), None)
    elif isinstance(holder, MethodType):
        yield [holder.__func__, holder.__self__], 0, holder.__func__
        yield [holder.__func__, holder.__self__], 1, holder.__self__
    elif isinstance(holder, functools.partial):
        held = [holder.func, *holder.args, *holder.keywords.values()]
        for k, value in enumerate(held):
            yield held, k, value
    elif isinstance(holder, ModuleType):
        if holder.__name__.partition(".")[0] not in LIBRARIES:
            yield from _items(vars(holder), names)
    elif isinstance(holder, dict):
        yield from _items(holder, None)
    elif isinstance(holder, (list, tuple)):
        held = holder if type(holder) is list else list(holder)
        for k, value in enumerate(held):
            yield held, k, value
    elif isinstance(holder, SimpleNamespace) or type(holder).__module__.partition(".")[0] not in LIBRARIES:
        if not isinstance(holder, type):
            yield from _items(getattr(holder, "__dict__", {}), None)
            for value in vars(type(holder)).values():
                if isinstance(value, FunctionType):
                    yield [value], 0, value
    elif _is_transformation(holder):
        yield from _items(vars(holder), None)


def _is_transformation(holder: Any) -> bool:
    return hasattr(holder, "__wrapped__") and hasattr(holder, "__dict__")


def _items(held: dict[Any, Any], names: frozenset[str] | None) -> Iterator[Link]:
    for key in list(held) if names is None else sorted(names & held.keys()):
        yield held, key, held[key]


@functools.cache
def _names_in(code: CodeType) -> frozenset[str]:
    inner = [_names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return frozenset(code.co_names).union(*inner)


def _names(holder: Any) -> frozenset[str]:
    return _names_in(holder.__code__) if isinstance(holder, FunctionType) else frozenset()
