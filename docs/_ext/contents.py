"""The chapters of the site: the tables of links below the headings of two pages, as trees of contents.

docs/index.md lists the pages for users and docs/contribute.md the design pages, each with the question that
it answers. These lists make the navigation.
"""

from __future__ import annotations

import re
from typing import Any

from namespace import chapters

SECTION = re.compile(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \[[^\]]+\]\(([\w/-]+)\.(?:md|rst)\)", re.MULTILINE)


def trees(text: str) -> list[tuple[str, list[str]]]:
    """Return the headings of the list of pages, each with its pages."""
    found = [(title, ROW.findall(body)) for title, body in SECTION.findall(text)]
    return [(title, pages) for title, pages in found if pages]


def tree(pages: list[str], *options: str) -> str:
    """Return a tree of contents in MyST's form."""
    return "\n".join(["", ":::{toctree}", *options, "", *pages, ":::", ""])


def complete(_: Any, name: str, source: list[str]) -> None:
    """Append trees of contents: to the first page, to the page for contributors, and to the reference."""
    if name == "index":
        source[0] += "".join(
            tree(pages, ":hidden:", f":caption: {title}") for title, pages in trees(source[0])
        )
    if name == "contribute":
        pages = [page for _, listed in trees(source[0]) for page in listed]
        source[0] += tree(pages, ":hidden:")
    if name == "reference":
        source[0] += tree([f"reference/{chapter.file}" for chapter in chapters()], ":maxdepth: 1")


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
