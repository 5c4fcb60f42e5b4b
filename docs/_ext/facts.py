"""Facts on functions in the reference, from the tables of the standard, gradients and batching rules."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy

import stride0
from stride0._tables.standard import CONSTANTS, DRAFT, DTYPES, NEWEST, ROWS
from stride0.autograd._batching import table as batching
from stride0.autograd._rules import table as rules

SPECIFICATION = f"https://data-apis.org/array-api/{NEWEST}/API_specification"
DRAFTED = f"https://data-apis.org/array-api/{DRAFT}/"
NUMPY = "https://numpy.org/doc/stable/reference"
SCIPY = "https://docs.scipy.org/doc/scipy/reference/generated"

OWN_PAGES = {
    "__array_namespace_info__": "inspection.html",
    **dict.fromkeys(CONSTANTS, "constants.html"),
    **dict.fromkeys(DTYPES, "data_types.html"),
}
# Methods and attributes of arrays in the standard, other than operators.
ARRAY = ("T", "mT", "device", "dtype", "ndim", "shape", "size", "to_device")
THROUGH = "through the functions that it calls"


def link(text: str, address: str) -> str:
    """Return an anonymous link of reStructuredText."""
    return f"`{text} <{address}>`__"


def standard(path: str) -> str:
    """Return where the standard defines a name, or that it does not."""
    name = path.removeprefix("Array.")
    if name in OWN_PAGES:
        return link(name, f"{SPECIFICATION}/{OWN_PAGES[name]}")
    if path.startswith("Array.") and (name in ARRAY or name.startswith("__")):
        return link(name, f"{SPECIFICATION}/generated/array_api.array.{name}.html")
    if path in ROWS and ROWS[path].since == DRAFT:
        return link("draft of the next version", DRAFTED)
    if path in ROWS:
        return link(path, f"{SPECIFICATION}/generated/array_api.{path}.html") + f", since {ROWS[path].since}"
    return ""


def counterpart(path: str) -> str:
    """Return a link to the function of SciPy or NumPy that a function beyond the standard is named after."""
    if path.startswith("special."):
        return link(f"scipy.{path}", f"{SCIPY}/scipy.{path}.html")
    if path.startswith("autograd.scipy.") and path.count(".") > 2:
        name = path.removeprefix("autograd.")
        return link(name, f"{SCIPY}/{name}.html")
    if path.startswith("random.Generator."):
        return link(f"numpy.{path}", f"{NUMPY}/random/generated/numpy.{path}.html")
    if "." not in path and path not in ROWS and hasattr(numpy, path) and callable(getattr(stride0, path)):
        return link(f"numpy.{path}", f"{NUMPY}/generated/numpy.{path}.html")
    return ""


def _parameters(thing: Any) -> dict[str, str]:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return {}
    return {name: str(parameter.annotation) for name, parameter in signature.parameters.items()}


def takes_arrays(thing: Any) -> bool:
    """Whether a parameter is an array, by its annotation."""
    return any(re.search(r"Array\b|Operand", kind) for kind in _parameters(thing).values())


def gradient(path: str, thing: Any) -> str:
    """Return the arguments by which a function is differentiable, or the reason why it is not."""
    if path in rules.REFUSED:
        return f"refused: {rules.REFUSED[path]}"
    if path in rules.NO_GRAD:
        return f"none: {rules.NO_GRAD[path]}"
    if path in rules.VJP:
        kinds = _parameters(thing)
        names = [name for name in rules.VJP[path] if not re.fullmatch(r"'?str'?", kinds.get(name, ""))]
        text = "rule by " + ", ".join(f"``{name}``" for name in names)
        refused = rules.UNKNOWN.get(path, {})
        return text + "".join(f"; by ``{name}`` refused: {reason}" for name, reason in refused.items())
    if path == "from_dlpack":
        return "refused: the memory of a tracked array is not exported"
    return THROUGH if takes_arrays(thing) else ""


def batches(path: str, thing: Any) -> str:
    """Return how `vmap` treats a function."""
    if path in batching.REFUSED:
        return f"refused: {batching.REFUSED[path]}"
    if path in batching.BATCHING:
        return "batching rule"
    return THROUGH if takes_arrays(thing) and path not in rules.VJP else ""


def returns(thing: Any) -> str:
    """Return the text of the section Returns."""
    found = re.search(r"^Returns\n-+\n(.*?)(?=\n\n\w+\n-{3}|\Z)", inspect.getdoc(thing) or "", re.M | re.S)
    return found[1] if found else ""


def memory(path: str, thing: Any) -> str:
    """Return whether the result is a view, according to the docstring's section Returns."""
    text = returns(thing)
    kind, _, about = text.partition("\n")
    if not text:
        elementwise = path.startswith("special.") and takes_arrays(thing)
        return "new array" if elementwise or (path.startswith("nan") and callable(thing)) else ""
    if kind.endswith("Result"):
        return "new arrays"
    if not re.search(r"Array|array", kind):
        return ""
    if re.search(r"never a view", about, re.I):
        return "new array"
    if re.search(r"\bviews?\b", about, re.I):
        only = not re.search(r"\bnew\b|\bcopy\b|\belse\b|\bwhere (it|possible)\b|itself", about, re.I)
        return "view" if only else "a view where memory allows: see what it returns"
    if re.search(r"itself|else a copy", about):
        return "the array itself where possible, else a new one"
    return "new array" if re.search(r"\bnew\b", about, re.I) else ""


def facts(path: str, thing: Any) -> dict[str, str]:
    """Return the known facts on a function, in order."""
    found = {
        "Standard": standard(path),
        "Named after": counterpart(path),
        "Memory": memory(path, thing),
        "Gradient": gradient(path, thing),
        "vmap": batches(path, thing),
    }
    if not found["Standard"] and ("." not in path or path.startswith(("linalg.", "fft."))):
        found["Standard"] = "not in it"
    return {name: text for name, text in found.items() if text}
