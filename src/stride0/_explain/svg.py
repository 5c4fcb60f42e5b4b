"""An SVG document that is readable everywhere: without scripts, external fonts or files.

It has its own background, with styles for light and dark pages. The same facts give the same bytes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from html import escape

__all__ = ["SERIES", "Canvas", "width_of"]

SERIES = "abcd"

# Fill and stroke of each kind of element, light and dark: a to d for operands, r for a result, n for neutral,
# x for failures. The stroke is also the text colour: its contrast to the background is at least 4.5.
_LIGHT = {
    "a": ("#d9e8ff", "#1f66c7"),
    "b": ("#ffe3c8", "#a64b00"),
    "c": ("#eadfff", "#6f3fc0"),
    "d": ("#cdeeea", "#0b6b63"),
    "r": ("#d6f2dc", "#1a7332"),
    "n": ("#e9ecf0", "#59636e"),
    "x": ("#ffe1de", "#c01f2a"),
}
_DARK = {
    "a": ("#1d3a63", "#79b0ff"),
    "b": ("#55330f", "#f2a65e"),
    "c": ("#40296a", "#bd9bf8"),
    "d": ("#0f4742", "#5fd0c5"),
    "r": ("#1b4728", "#63d07e"),
    "n": ("#30363d", "#9aa4af"),
    "x": ("#5a1e1f", "#ff8a80"),
}
# Background and its border, text, quiet text.
_DAY = ("#ffffff", "#d0d7de", "#1f2328", "#59636e")
_NIGHT = ("#161b22", "#3d444d", "#e6edf3", "#9aa4af")

_FIXED = (
    'text{white-space:pre;font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}',
    "text.s0-bold{font-weight:600}",
    ".s0-rule{stroke-width:1}",
    ".s0-bar{stroke-width:2.5;stroke-linecap:round}",
    "rect.s0-again{stroke-dasharray:3 2.5}",
)


def width_of(words: str, size: float) -> float:
    """Return an upper bound of a text's width: 0.61 of the font size per character, in the widest font."""
    return math.ceil(len(words) * size * 0.61)


class Canvas:
    """Elements of a document, and their extent to the right."""

    def __init__(self, margin: float) -> None:
        self.margin = margin
        self.right = 0.0
        self.parts: list[str] = []

    def text(
        self, x: float, y: float, words: str, size: float, kind: str = "", anchor: str = "start"
    ) -> None:
        """Write a line of the given kinds (classes without their prefix)."""
        self._reach(x + width_of(words, size) * {"start": 1, "middle": 0.5, "end": 0}[anchor])
        aligned = "" if anchor == "start" else f' text-anchor="{anchor}"'
        place = f'x="{x:g}" y="{y:g}" font-size="{size:g}"'
        self.parts.append(f"<text{_classes(kind)} {place}{aligned}>{escape(words)}</text>")

    def rect(self, x: float, y: float, width: float, height: float, kind: str, radius: float = 4) -> None:
        """Draw a box."""
        self._reach(x + width)
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"'
        self.parts.append(f"<rect{_classes(kind)} {place}/>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a straight line."""
        self._reach(x2)
        self.parts.append(f'<path{_classes(kind)} d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/>')

    def dots(self, x: float, y: float, right: float, down: float) -> None:
        """Draw an ellipsis of three dots around a point, in a direction."""
        for k in (-1, 0, 1):
            self.parts.append(
                f'<circle class="s0-dot" cx="{x + k * right:g}" cy="{y + k * down:g}" r="1.3"/>'
            )

    def rule(self, y: float) -> None:
        """Draw a line from margin to margin, as wide as the document so far."""
        self.line(self.margin, y, self.right, y, "rule")

    def document(self, bottom: float, title: str, description: str) -> str:
        """Return the document, with a title and a description for screen readers."""
        width, height = math.ceil(self.right + self.margin), math.ceil(bottom + self.margin)
        body = "\n".join(self.parts)
        name = f"stride0-{zlib.crc32((title + body).encode()):08x}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="stride0" role="img" '
            f'aria-labelledby="{name}-t" aria-describedby="{name}-d" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" style="max-width:100%;height:auto">\n'
            f'<title id="{name}-t">{escape(title)}</title>\n'
            f'<desc id="{name}-d">{escape(description)}</desc>\n'
            f"<style>{_style()}</style>\n"
            f'<rect class="s0-back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
            f"{body}\n</svg>\n"
        )

    def _reach(self, x: float) -> None:
        self.right = max(self.right, x)


def _classes(kind: str) -> str:
    return f' class="{" ".join(f"s0-{word}" for word in kind.split())}"' if kind else ""


def _style() -> str:
    # In a notebook a style applies to the whole page, so every rule is limited to these documents.
    def scoped(rules: Iterator[str] | Sequence[str]) -> str:
        return "".join(f".stride0 {rule}" for rule in rules)

    night = f"@media(prefers-color-scheme:dark){{{scoped(_colours(_NIGHT, _DARK))}}}"
    return scoped(_FIXED) + scoped(_colours(_DAY, _LIGHT)) + night


def _colours(surroundings: tuple[str, str, str, str], kinds: dict[str, tuple[str, str]]) -> Iterator[str]:
    back, border, words, quiet = surroundings
    yield f".s0-back{{fill:{back};stroke:{border}}}"
    yield f".s0-rule{{stroke:{border}}}"
    yield f"text{{fill:{words}}}"
    yield f"text.s0-quiet{{fill:{quiet}}}"
    yield f".s0-dot{{fill:{quiet}}}"
    for name, (fill, stroke) in kinds.items():
        yield f"rect.s0-{name}{{fill:{fill};stroke:{stroke}}}"
        yield f"rect.s0-{name}.s0-again{{fill:{back}}}"
        yield f"text.s0-{name}{{fill:{stroke}}}"
    yield f".s0-bar{{stroke:{kinds['x'][1]}}}"
