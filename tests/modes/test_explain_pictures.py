"""The pictures of `explain`: valid documents in which nothing overlaps or is cut off."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp
from stride0 import strided
from stride0._explain import svg as _explain_svg
from stride0._explain.explain import explain

SVG = "{http://www.w3.org/2000/svg}"
X = xp.reshape(xp.arange(12.0), (3, 4))
CASES: dict[str, Any] = {
    "column and row": explain((4, 1), (3,), op="add"),
    "0-d": explain((), ()),
    "1-d": explain((3,), ()),
    "3-d": explain((2, 3, 1), (3,)),
    "4-d": explain((8, 1, 6, 1), (7, 1, 5)),
    "7-d": explain((2, 3, 4, 5, 1, 1, 1), (4, 1, 6, 7, 8)),
    "large": explain((8192, 1), (4096,), op="multiply"),
    "larger": explain((2**40, 1), (2**40,)),
    "empty": explain((0, 3), (1, 3)),
    "transposed": explain(X.T, xp.asarray([1, 2, 3], dtype=xp.int8)),
    "reversed": explain(X[::-1, ::2]),
    "window": explain(strided.as_strided(X, (4, 3), (1, 1))),
    "five operands": explain((4, 1), (3,), (1,), (4, 3), ()),
    "where": explain((3, 1), (4,), (), op=xp.where),
    "failing": explain((5, 6), (10,)),
    "failing in 3-d": explain((8, 3, 5), (8, 3), op="multiply"),
    "failing in front": explain((2, 3, 4), (5, 3, 4)),
    "many ways": explain((1, 2, 1, 3, 1, 4), (5,), (1, 1)),
    "no way": explain((2, 3), (2, 4)),
    "matmul": explain((3, 4), (4, 2), op="matmul"),
    "matmul of vectors": explain((3,), (3,), op="matmul"),
    "matmul with a vector": explain((5, 3, 4), (4,), op="matmul"),
    "matmul of stacks": explain((10, 1, 3, 4), (1, 20, 4, 5), op="matmul"),
    "matmul of stretched stacks": explain(xp.broadcast_to(X, (2, 3, 4)), (4, 1), op="matmul"),
    "matmul that fails": explain((3, 4), (3, 4), op="matmul"),
    "matmul that fails at 1": explain((3, 1), (4, 2), op="matmul"),
    "matmul of stacks that fail": explain((2, 3, 3), (4, 3, 3), op="matmul"),
    "matmul of a number": explain((), (3,), op="matmul"),
    "names to be escaped": explain((2,), (2,), op=lambda a, b: a),
}


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    what: str

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def read(e: Any) -> ET.Element:
    return ET.fromstring(e.svg())


def rects(root: ET.Element) -> list[Box]:
    found = []
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("class") != "s0-back":
            x, y, width, height = (float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
            found.append(Box(x, y, x + width, y + height, rect.get("class", "")))
    return found


def texts(root: ET.Element) -> list[Box]:
    """The boxes of texts in a font of the usual width: capitals of 0.73, characters of 0.602 of the size."""
    found = []
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size", ""))
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        width = len(text.text or "") * size * 0.602
        x -= {"start": 0.0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
        found.append(Box(x, y - 0.73 * size, x + width, y, text.text or ""))
    return found


@pytest.fixture(params=CASES, ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Any:
    return CASES[request.param]


def test_document(case: Any) -> None:
    root = read(case)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    width, height = root.get("width"), root.get("height")
    assert root.get("viewBox") == f"0 0 {width} {height}"
    title, description, style = (root.find(f"{SVG}{tag}") for tag in ("title", "desc", "style"))
    assert title is not None and description is not None and style is not None
    assert root.get("aria-labelledby") == title.get("id") and title.text
    assert root.get("aria-describedby") == description.get("id")
    assert description.text == str(case)
    assert "@media(prefers-color-scheme:dark)" in (style.text or "")
    # Nothing is loaded, nothing runs, and no style rule applies outside of such pictures.
    source = case.svg()
    assert source.count("http") == 1 and "url(" not in source and "<script" not in source
    rules = re.sub(r"@media\(prefers-color-scheme:dark\)\{(.*)\}$", r"\1", style.text or "")
    assert all(rule.startswith(".stride0 ") for rule in rules.split("}")[:-1])


def test_nothing_overlaps_or_is_cut_off(case: Any) -> None:
    root = read(case)
    page = Box(8, 8, float(root.get("width", "")) - 8, float(root.get("height", "")) - 8, "page")
    boxes, words = rects(root), texts(root)
    for box in (*boxes, *words):
        assert page.left <= box.left and page.top <= box.top, box
        assert box.right <= page.right and box.bottom <= page.bottom, box
    for one, two in combinations(boxes, 2):
        assert not one.meets(two), (one, two)
    for one, two in combinations(words, 2):
        assert not one.meets(two), (one, two)
    for word in words:
        for box in boxes:
            inside = box.left + 1 < word.left and word.right < box.right - 1
            assert not word.meets(box) or (inside and box.top < word.top and word.bottom < box.bottom), (
                word,
                box,
            )


def test_the_same_facts_give_the_same_bytes(case: Any) -> None:
    assert case.svg() == case.svg()
    assert explain((4, 1), (3,)).svg() == explain((4, 1), (3,)).svg() != explain((4, 1), (5,)).svg()


def cells(e: Any) -> dict[str, int]:
    """The number of cells of each kind in the grids; cells of the table are taller."""
    counts: dict[str, int] = {}
    for box in rects(read(e)):
        if box.bottom - box.top == 22:
            counts[box.what.replace("s0-", "")] = counts.get(box.what.replace("s0-", ""), 0) + 1
    return counts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("column and row", {"a": 4, "a again": 8, "b": 3, "b again": 9, "r": 12}),
        ("0-d", {"a": 1, "b": 1, "r": 1}),
        ("1-d", {"a": 3, "b": 1, "b again": 2, "r": 3}),
        ("3-d", {"a": 6, "a again": 12, "b": 3, "b again": 15, "r": 18}),
        ("large", {"a": 5, "a again": 20, "b": 5, "b again": 20, "r": 25}),
        ("window", {"a": 6, "a again": 6, "r": 12}),
        ("failing", {"a": 30, "b": 5}),
        ("matmul", {"a": 12, "b": 8, "r": 6}),
        ("matmul of vectors", {"a": 3, "b": 3, "r": 1}),
        ("matmul of stretched stacks", {"a": 1, "a again": 1, "b": 1, "b again": 1, "r": 2}),
        ("empty", {"a again": 1, "b again": 1, "r again": 1}),
    ],
)
def test_stored_cells_are_solid_and_repeated_ones_ghosts(name: str, expected: dict[str, int]) -> None:
    assert cells(CASES[name]) == expected


def test_numbers_are_places_in_the_storage() -> None:
    e = explain(X[1:, ::-2], op="abs")
    numbers = [box.what for box in texts(read(e)) if box.what.isdecimal() and box.top > 220]
    assert numbers == ["7", "5", "11", "9", "0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("failing", ["6", "10", "\u00d7"]),
        ("matmul that fails", ["4", "3"]),
        ("failing in front", ["2", "5", "\u00d7"]),
        ("matmul that fails at 1", ["1", "4"]),
        ("many ways", ["4", "5", "\u00d7"]),
    ],
)
def test_what_fails_is_marked(name: str, sizes: list[str]) -> None:
    root = read(CASES[name])
    marked = {text.text for text in root.iter(f"{SVG}text") if "s0-x" in text.get("class", "").split()}
    assert set(sizes) <= marked
    assert sum(box.what == "s0-x" for box in rects(root)) == len(sizes)
    assert not any(text.text == "= " for text in root.iter(f"{SVG}text"))


def test_in_a_notebook() -> None:
    shown = explain((2,), (2,), op=lambda a, b: a)._repr_html_()
    assert shown.startswith("<svg") and "<script" not in shown
    assert "&lt;lambda&gt;: (2,) with (2,) gives (2,)" in shown and "<lambda>" not in shown
    # Two pictures on one page have different names.
    names = set(re.findall(r'id="([^"]+)"', shown)) & set(
        re.findall(r'id="([^"]+)"', explain((2,), (3,))._repr_html_())
    )
    assert names == set()


def test_saved(tmp_path: Any) -> None:
    e = explain((4, 1), (3,))
    assert e.svg(tmp_path / "x.svg") is None
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == e.svg()


def luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("surroundings", "kinds"),
    [(_explain_svg._DAY, _explain_svg._LIGHT), (_explain_svg._NIGHT, _explain_svg._DARK)],
    ids=["light", "dark"],
)
def test_contrast(surroundings: tuple[str, ...], kinds: dict[str, tuple[str, str]]) -> None:
    """The contrast required by the guidelines for accessible pages: 4.5 for text, 3 for outlines."""
    back, _, words, quiet = surroundings
    assert contrast(words, back) >= 7 and contrast(quiet, back) >= 4.5
    for fill, stroke in kinds.values():
        assert contrast(words, fill) >= 7
        assert contrast(stroke, back) >= 4.5 and contrast(stroke, fill) >= 3
    fill, stroke = kinds["x"]
    assert contrast(stroke, fill) >= 4.5


@examples(60)
@given(
    st.lists(st.lists(st.sampled_from([0, 1, 1, 2, 3, 12]), max_size=4).map(tuple), min_size=1, max_size=3)
)
def test_any_shapes_can_be_drawn(shapes: list[tuple[int, ...]]) -> None:
    test_nothing_overlaps_or_is_cut_off(explain(*shapes))
    if len(shapes) == 2:
        test_nothing_overlaps_or_is_cut_off(explain(*shapes, op="matmul"))
