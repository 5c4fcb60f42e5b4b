"""Checks a built site: `python docs/_ext/check.py build/site`.

Every internal link and anchor must exist, each page must have a title and one main heading, each picture an
alternative text, and nothing may be loaded from another host.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# Attributes that make a browser load a file, by element; a stylesheet or icon is a `link`.
LOADED = {
    ("audio", "src"),
    ("embed", "src"),
    ("iframe", "src"),
    ("img", "src"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("video", "src"),
}
# Relations of `link` elements that browsers follow only on request.
NOT_LOADED = {"author", "canonical", "copyright", "index", "next", "prev", "search"}
# Sphinx makes them from a template without a heading, or a script fills them in.
GENERATED = {"genindex.html", "search.html", "py-modindex.html"}


class Link(NamedTuple):
    """The targets of an attribute of an element."""

    element: str
    target: str
    loaded: bool


class Page(HTMLParser):
    """The checked parts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[Link] = []
        self.repeated: list[str] = []
        self.without_text: list[str] = []
        self.headings = 0
        self.title = ""
        self.language = ""
        self._in_title = False
        self._drawing = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self._in_title = tag == "title" and not self._drawing
        self._drawing += tag == "svg"
        self.headings += tag == "h1"
        if tag == "html":
            self.language = found.get("lang", "")
        if name := found.get("id"):
            if name in self.anchors:
                self.repeated.append(name)
            self.anchors.add(name)
        if tag == "img" and not found.get("alt", "").strip():
            self.without_text.append(found.get("src", ""))
        for attribute in ("href", "src", "data"):
            if attribute in found and tag != "use":
                relations = set(found.get("rel", "").split())
                loaded = (tag, attribute) in LOADED and not (tag == "link" and relations & NOT_LOADED)
                self.links.append(Link(tag, found[attribute], loaded))

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        self._drawing -= tag == "svg"

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data


def check(folder: Path) -> list[str]:
    """Return the errors of a site, a line for each."""
    pages = {
        file.resolve(): Page(file.read_text(encoding="utf-8"))
        for file in sorted(folder.rglob("*.html"))
        if "_static" not in file.relative_to(folder).parts
    }
    wrong = [] if pages else [f"{folder}: there are no pages"]
    for file, page in pages.items():
        name = file.relative_to(folder.resolve()).as_posix()
        if not page.title.strip():
            wrong.append(f"{name}: it has no title")
        if not page.language:
            wrong.append(f"{name}: it does not say its language")
        if page.headings != 1 and name not in GENERATED:
            wrong.append(f"{name}: {page.headings} main headings")
        wrong += [f"{name}: the anchor {anchor} is there twice" for anchor in page.repeated]
        wrong += [f"{name}: {picture} has no alternative text" for picture in page.without_text]
        for link in page.links:
            parts = urlsplit(link.target)
            if parts.scheme or parts.netloc:
                if link.loaded and parts.scheme != "data":
                    wrong.append(f"{name}: {link.element} loads {link.target}")
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{name}: {link.target} leads nowhere")
            elif target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name}: {link.target}: there is no such anchor")
    for file in sorted(folder.rglob("*.css")):
        text = file.read_text(encoding="utf-8")
        wrong += [
            f"{file.name}: it loads from another host"
            for mark in ("url(http", "url(//", "url('http", 'url("http', "@import")
            if mark in text
        ]
    return wrong


def main() -> int:
    """Check the folder that is named on the command line."""
    wrong = check(Path(sys.argv[1]))
    print("\n".join(wrong) or f"{sys.argv[1]}: nothing is wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
