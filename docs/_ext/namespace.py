"""The public names, by chapters: the entries of the reference.

Walks the namespace and the tables of the standard; Sphinx is not needed.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import stride0 as xp
from stride0._base import errors
from stride0._tables.standard import CONSTANTS, ROWS


class Entry(NamedTuple):
    """One public name: its path after `stride0.`, its object, and the directive of Sphinx's Python domain."""

    path: str
    thing: Any
    kind: str
    members: tuple[Entry, ...] = ()


class Chapter(NamedTuple):
    """One page: a module, or a chapter of the main namespace."""

    file: str
    title: str
    about: str
    entries: tuple[Entry, ...]
    module: str = ""


# Pages of the main namespace, in the order of the standard: file, title, and text above the entries.
STANDARD = {
    "Constants": ("constants", "Constants", "Python floats and None, and the versions."),
    "Creation Functions": (
        "creation",
        "Creation functions",
        "All of them make arrays in C order on the device that is asked for.",
    ),
    "Data Type Functions": ("data-types", "Data types and their functions", ""),
    "Element-wise Functions": (
        "elementwise",
        "Element-wise functions",
        "Operands broadcast: [Broadcasting](../guides/broadcasting.md). Python scalars are weak. Within "
        "[`fused`](../guides/fusing.md) results are deferred.",
    ),
    "Indexing Functions": ("indexing", "Indexing functions", ""),
    "Inspection": ("inspection", "Inspection", ""),
    "Linear Algebra Functions": (
        "linear-algebra",
        "Linear algebra functions",
        "More are in the extension, [`stride0.linalg`](linalg.rst).",
    ),
    "Manipulation Functions": ("manipulation", "Manipulation functions", ""),
    "Searching Functions": ("searching", "Searching functions", ""),
    "Set Functions": ("sets", "Set functions", ""),
    "Sorting Functions": ("sorting", "Sorting functions", ""),
    "Statistical Functions": (
        "statistical",
        "Statistical functions",
        "Error bounds are in [How accurate sums are](../design/summation.md).",
    ),
    "Utility Functions": ("utility", "Utility functions", ""),
}
MODES = (
    "broadcasting",
    "fused",
    "reproducible",
    "strict",
    "explain",
    "replay",
    "loop",
    "scan",
    "get_num_threads",
    "set_num_threads",
)
MODULES = {
    "linalg": ("linear algebra extension", ""),
    "fft": ("Fourier transforms", ""),
    "special": ("special functions", "The guide is [Special functions](../special.md)."),
    "random": ("random numbers", ""),
    "strided": ("memory layout", "Pictures and rules are in [Broadcasting](../guides/broadcasting.md)."),
    "memory": ("memory of the process", "The design note is [Memory](../design/memory.md)."),
    "autograd": ("automatic differentiation", "The guide is [Gradients](../guides/gradients.md)."),
    "autograd.implicit": (
        "solutions of equations and minima",
        "The guide is [Implicit functions and solvers](../guides/implicit-functions.md).",
    ),
    "autograd.scipy": (
        "differentiable forms of SciPy's functions",
        "The guide is [Gradients through SciPy](../guides/scipy.md); "
        "[Gradients through SciPy, call by call](../evidence/scipy-gradients.md) lists 593 calls.",
    ),
    "autograd.hips": ("HIPS/autograd's names", "The guide is [From HIPS/autograd](../migrate/autograd.md)."),
    "optim": ("optimisers", "The guide is [Gradient recipes](../guides/gradient-recipes.md#optimisers)."),
    "testing": (
        "derivatives and test configurations",
        "The guide is [Testing array-agnostic code](../guides/testing.md), with the pytest plugin.",
    ),
}


# Modules that belong to another page, or whose names are Python's.
HIDDEN = ("builtins", "extend", "numpy")


def _kind(thing: Any) -> str:
    if isinstance(thing, type):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if callable(thing) else "data"


def _members(path: str, cls: type) -> Iterator[Entry]:
    """Yield public methods and attributes that a class defines, or inherits from a class of the package."""
    for name in dir(cls):
        origin = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or origin is None or not origin.__module__.startswith("stride0"):
            continue
        # An attribute of NumPy's arrays, whose error names the replacement.
        if type(inspect.getattr_static(cls, name)).__name__ == "_Missing":
            continue
        member = getattr(cls, name)
        yield Entry(f"{path}.{name}", member, "method" if callable(member) else "attribute")


def entry(path: str, thing: Any) -> Entry:
    """Return the entry of a name, with the members of a class."""
    kind = _kind(thing)
    members: tuple[Entry, ...] = ()
    if kind == "class":
        members = tuple(_members(path, thing))
    elif kind == "data" and type(thing).__name__ in ("Distribution", "Family"):
        members = tuple(Entry(f"{path}.{name}", getattr(thing, name), "function") for name in thing.__all__)
    return Entry(path, thing, kind, members)


def _main() -> Iterator[Chapter]:
    """Yield the chapters of the main namespace."""
    names = [name for name in dir(xp) if not name.startswith("_")]
    left = {name for name in names if not isinstance(getattr(xp, name), ModuleType)}
    left |= {"__array_api_version__", "__array_namespace_info__", "__version__"}
    raised = {name for name in errors.__all__}
    array = entry("Array", xp.Array)
    yield Chapter("array", "The array object", "", (array,))
    left -= {"Array", *raised}
    chosen: dict[str, list[str]] = {chapter: [] for chapter in STANDARD}
    for name in sorted(left):
        if name in ROWS:
            chosen[ROWS[name].chapter].append(name)
        elif name in CONSTANTS or name.endswith("version__"):
            chosen["Constants"].append(name)
        elif isinstance(getattr(xp, name), xp.DType) or name in ("DType", "Device"):
            chosen["Data Type Functions"].append(name)
    for chapter, (file, title, about) in STANDARD.items():
        left.difference_update(chosen[chapter])
        entries = tuple(entry(name, getattr(xp, name)) for name in chosen[chapter])
        yield Chapter(file, title, about, entries)
    about = "Each is a context manager, a decorator and a default of the process, or a function beside them."
    modes = tuple(entry(name, getattr(xp, name)) for name in MODES)
    yield Chapter("modes", "Modes and threads", about, modes)
    left.difference_update(MODES)
    about = (
        "Names of NumPy and of its neighbours that array code reaches for next. "
        "[Strict mode](../guides/testing.md#strict-mode) refuses them."
    )
    beyond = tuple(entry(name, getattr(xp, name)) for name in sorted(left))
    yield Chapter("beyond", "Beyond the standard", about, beyond)
    about = "What raises them, and what their texts show, is in [Errors](../errors.md)."
    yield Chapter(
        "errors", "Exceptions", about, tuple(entry(name, getattr(xp, name)) for name in sorted(raised))
    )


def module(path: str, title: str, about: str) -> Chapter:
    """Return the page of a module, with its submodules that have no page of their own."""
    found = importlib.import_module(f"stride0.{path}")
    entries: list[Entry] = []

    def collect(prefix: str, inner: ModuleType) -> None:
        for name in sorted(inner.__all__):
            thing = getattr(inner, name)
            if not isinstance(thing, ModuleType):
                entries.append(entry(f"{prefix}.{name}", thing))
            elif f"{prefix}.{name}" not in MODULES and path != "autograd.scipy" and name not in HIDDEN:
                entries.append(Entry(f"{prefix}.{name}", thing, "module"))
                collect(f"{prefix}.{name}", thing)

    collect(path, found)
    about = "\n\n".join(part for part in (inspect.getdoc(found) or "", about) if part)
    return Chapter(path.replace(".", "-"), title, about, tuple(entries), path)


def chapters() -> Iterator[Chapter]:
    """Yield all pages of the reference, in their order."""
    yield from _main()
    for path, (title, about) in MODULES.items():
        yield module(path, title, about)
        if path == "autograd.scipy":
            for name in sorted(xp.autograd.scipy.__all__):
                if isinstance(getattr(xp.autograd.scipy, name), ModuleType):
                    yield module(f"{path}.{name}", f"forms of scipy.{name}", "")
