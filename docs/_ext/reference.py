"""Writes the pages of the reference during the build, from the namespace, its docstrings and its tables.

`pages` makes the text of all pages with a given function that renders docstrings, and needs neither Sphinx
nor numpydoc; `setup`, the extension of Sphinx, writes them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import facts
from namespace import Chapter, Entry, chapters

import stride0
from stride0._base import errors
from stride0._tables.methods import ALIASES
from stride0._tables.operations import OPS

FOLDER = "reference"
Render = Callable[[str], str]

# Operators of Python, by the names of their methods; those of the table of operations and `@`.
SYMBOLS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"},
    **{"matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
OTHERS = (
    *("abs", "neg", "pos", "invert", "getitem", "setitem", "bool", "int", "float", "complex", "index"),
    *("array_namespace", "dlpack", "dlpack_device"),
)
FUNCTIONS = {op.operator: op.name for op in OPS if op.operator} | {"@": "matmul"}


class _Text:
    """A text that is written as it is, where `inspect` would write a repr."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(thing: Any, bound: bool = False) -> str:
    """Return the signature of a callable, annotations without quotes; empty for a class without one.

    With `bound` it leaves out the first parameter, as in a call of a method.
    """
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = []
    for parameter in list(found.parameters.values())[bound:]:
        if parameter.annotation is not parameter.empty:
            parameter = parameter.replace(annotation=_Text(_annotation(parameter.annotation)))
        if parameter.default is not parameter.empty and "<" in repr(parameter.default):
            parameter = parameter.replace(default=_Text("..."))
        parameters.append(parameter)
    result = found.return_annotation
    if isinstance(thing, type):
        result = found.empty
    if result is not found.empty:
        result = _Text(_annotation(result))
    return str(found.replace(parameters=parameters, return_annotation=result))


def _annotation(kind: Any) -> str:
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    text = re.sub(r"ForwardRef\('([^']+)'\)", r"\1", text)
    return text.replace("_typing.", "").replace("typing.", "")


def rest(text: str) -> str:
    """Return a text with its Markdown links converted to reStructuredText."""

    def link(found: re.Match[str]) -> str:
        address = re.sub(r"\.(md|rst)\b", ".html", found[2])
        return f"`{found[1].replace('`', '')} <{address}>`__"

    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text)


def summary(thing: Any) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _constant(entry: Entry) -> str:
    return f"``{entry.thing!r}``." if not isinstance(entry.thing, dict) else ""


TABLES = {
    "autograd.VJP": "Functions with gradient rules, each with the parameters that it is differentiable by.",
    "autograd.NO_GRAD": "Functions whose results are constants, each with the reason.",
    "autograd.REFUSED": "Functions that refuse tracked arrays, each with the reason.",
}


def _body(entry: Entry, render: Render, first: str) -> Iterator[str]:
    """Yield the paragraphs of an entry: its docstring and its facts."""
    path, thing = entry.path, entry.thing
    if path != first:
        yield f"The same as :py:obj:`stride0.{first}`."
        return
    if entry.kind == "class" and thing.__module__.startswith("numpy."):
        address = f"{facts.NUMPY}/random/bit_generators/generated/numpy.{path}.html"
        yield f"NumPy's {facts.link(f'numpy.{path}', address)}."
        return
    if entry.kind == "exception":
        bases = ", ".join(base.__name__ for base in thing.__bases__)
        yield render(inspect.getdoc(thing) or "")
        yield f"Derived from {bases}."
    elif entry.kind in ("data", "attribute") and isinstance(thing, (float, int, str, dict, type(None))):
        yield TABLES.get(path) or _constant(entry)
    elif isinstance(thing, stride0.DType):
        yield f"{thing.kind.capitalize()}, {thing.itemsize} bytes.".replace(" 1 bytes", " 1 byte")
    elif isinstance(thing, ModuleType):
        yield f"Functions of :py:mod:`stride0.{path}`."
    elif type(thing).__name__ != "_tuplegetter":  # a field of a named tuple: Python says "Alias for ..."
        yield render(inspect.getdoc(thing) or "")
    # The standard has only the array class; methods of other classes are described by their docstrings.
    told = entry.kind in ("function", "data") or path.startswith(("Array.", "random.Generator."))
    found = facts.facts(path, thing) if told else {}
    if path.startswith("Array.") and hasattr(stride0, path[6:]) and entry.kind == "method":
        found = {"Function": f":py:func:`stride0.{path[6:]}`"}
    elif path.startswith("Array.") and path[6:] in ALIASES:
        found = {"Function": f":py:func:`stride0.{ALIASES[path[6:]]}`"}
    if found:
        fields = "\n".join(f":{name}: {text}" for name, text in found.items())
        yield ".. container:: facts\n\n" + indent(fields, "   ")


def written(entry: Entry, render: Render, first: dict[int, str], module: str) -> str:
    """Return the directive of an entry of a module, with its members."""
    path, thing = entry.path, entry.thing
    head = path.removeprefix(f"{module}.")
    if entry.kind in ("function", "class", "method"):
        first_name = next(iter(inspect.signature(thing).parameters), "") if entry.kind == "method" else ""
        bound = first_name == "self" or path.startswith("Array.")
        head += signature(thing, bound) or ("()" if entry.kind != "class" else "")
    origin = first.get(id(thing), path) if entry.kind in ("function", "class", "exception") else path
    if entry.kind == "module":
        title = f"{path}\n{'-' * len(path)}"
        about = render(inspect.getdoc(thing) or "")
        return f"{title}\n\n.. py:module:: stride0.{path}\n\n{about}\n"
    parts = [*_body(entry, render, origin)]
    if path == "Array":
        parts.append(operators())
    if origin == path:
        # A method of an array does the same as its function: link to it.
        short = summary if path == "Array" else None
        parts += [member(each, render, first, module, short) for each in entry.members]
    return f".. py:{entry.kind}:: {head}\n\n" + indent("\n\n".join(filter(None, parts)), "   ") + "\n"


def member(
    entry: Entry, render: Render, first: dict[int, str], module: str, short: Callable[[Any], str] | None
) -> str:
    """Return the directive of a method or attribute."""
    if short is not None and hasattr(stride0, entry.path.rpartition(".")[2]):
        return written(entry, lambda _: short(entry.thing), first, module)
    return written(entry, render, first, module)


def operators() -> str:
    """Return the table of operators and other special methods of arrays that the standard has."""
    title = ".. rubric:: Operators and special methods of the standard"
    lines = [title, "", ".. list-table::", "   :header-rows: 1", ""]
    rows = [("method", "operator", "reflected and in place", "function")]
    for name in (*SYMBOLS, *OTHERS):
        more = [f"__{letter}{name}__" for letter in "ri" if hasattr(stride0.Array, f"__{letter}{name}__")]
        symbol = SYMBOLS.get(name, "")
        function = FUNCTIONS.get(symbol or name)
        rows.append(
            (
                facts.standard(f"Array.__{name}__"),
                f"``{symbol}``" if symbol else "",
                ", ".join(f"``{each}``" for each in more),
                f":py:func:`~stride0.{function}`" if function else "",
            )
        )
    for row in rows:
        lines += [f"   {'*' if k == 0 else ' '} - {cell}" for k, cell in enumerate(row)]
    return "\n".join(lines)


def overview(chapter: Chapter) -> str:
    """Return the table of a page: its names and their first sentences."""
    prefix = f"{chapter.module}."
    rows = [
        f"   * - :py:obj:`{each.path.removeprefix(prefix)} <stride0.{each.path}>`\n"
        f"     - {summary(each.thing)}"
        for each in chapter.entries
        if each.kind in ("function", "class") and each.path != "Array"
    ]
    if len(rows) < 3:
        return ""
    return "\n".join([".. list-table::", "   :class: overview", "   :widths: 30 70", "", *rows]) + "\n"


def page(chapter: Chapter, render: Render, first: dict[int, str]) -> str:
    """Return the page of a chapter."""
    title = f"{chapter.module}: {chapter.title}" if chapter.module else chapter.title
    parts = [f"{title}\n{'=' * len(title)}\n"]
    if chapter.module:
        parts.append(f".. py:module:: stride0.{chapter.module}\n")
    elif chapter.file == "array":
        parts.append(".. py:module:: stride0\n")
    else:
        parts.append(".. py:currentmodule:: stride0\n")
    if chapter.about:
        parts.append(render(rest(chapter.about)) + "\n")
    parts.append(overview(chapter))
    inner = [each.path for each in chapter.entries if each.kind == "module"]
    current = chapter.module
    for each in chapter.entries:
        module = each.path.rpartition(".")[0]
        if module != current and each.kind != "module":
            parts.append(f".. py:currentmodule:: stride0.{module}\n")
        parts.append(written(each, render, first, module))
        current = each.path if each.path in inner else module
    return "\n".join(filter(None, parts))


def pages(render: Render) -> dict[str, str]:
    """Return the texts of all pages, by their file names without suffix."""
    found = list(chapters())
    first: dict[int, str] = {}
    for chapter in found:
        for each in chapter.entries:
            first.setdefault(id(each.thing), each.path)
    return {chapter.file: page(chapter, render, first) for chapter in found}


# --- Sphinx


RAISED = {name: name for name in errors.__all__} | {"LinAlgError": "linalg.LinAlgError"}


def _exceptions(text: str) -> str:
    """Return a list of exceptions, those of the package as references."""
    return re.sub(
        r"\b[A-Z]\w+",
        lambda found: f":py:exc:`~stride0.{RAISED[found[0]]}`" if found[0] in RAISED else found[0],
        text,
    )


def quoted(doc: str) -> str:
    """Return a docstring where text in single quotes that is not a name is marked as code: `...`, `x**2`."""
    # Match literals, roles and links first: text between two of them is not in quotes.
    spans = r"``.*?``|:[\w:]+:`[^`]*`|`[^`]*`__?|`(?P<plain>[^`\n]+)`"

    def code(found: re.Match[str]) -> str:
        plain = found["plain"]
        return found[0] if plain is None or re.fullmatch(r"[A-Za-z_][\w.]*", plain) else f"``{plain}``"

    return re.sub(spans, code, doc)


def by_numpydoc(doc: str) -> str:
    """Return a numpydoc docstring as reStructuredText."""
    from numpydoc.docscrape_sphinx import SphinxDocString

    parsed = SphinxDocString(quoted(doc))
    # The link to the standard replaces it.
    if parsed["References"] and parsed["References"][0].startswith("Array API standard"):
        parsed["References"] = []
    raised = parsed["Raises"]
    parsed["Raises"] = []
    text = str(parsed)
    if raised:
        rows = []
        for each in raised:
            about = " ".join(line.strip() for line in each.desc)
            rows.append(f"* {_exceptions(each.type or each.name)}: {about}")
        section = ":Raises:\n\n" + indent("\n".join(rows), "    ") + "\n"
        place = re.search(r"^\.\. rubric::", text, re.MULTILINE)
        at = place.start() if place else len(text)
        text = f"{text[:at].rstrip()}\n\n{section}\n{text[at:]}"
    return text.strip() + "\n"


def write(source: Path) -> None:
    """Write the pages that changed, and remove old ones."""
    folder = source / FOLDER
    folder.mkdir(exist_ok=True)
    texts = pages(by_numpydoc)
    for file in folder.glob("*.rst"):
        if file.stem not in texts:
            file.unlink()
    for name, text in texts.items():
        file = folder / f"{name}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
