"""docs/guides/broadcasting.md: its tables are right, and its pictures are drawn by `explain`."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._explain.explain import explain

DOCS = Path(__file__).resolve().parents[2] / "docs" / "guides"
GUIDE = (DOCS / "broadcasting.md").read_text(encoding="utf-8")

PICTURES: dict[str, Any] = {
    "column-and-row": explain((4, 1), (3,), op="add"),
    "stack": explain((2, 3, 1), (3,), op="add"),
    "does-not-fit": explain((5, 6), (10,)),
    "accident": explain((4, 1), (4,), op="subtract"),
    "stacks-of-matrices": explain((10, 1, 3, 4), (1, 20, 4, 5), op="matmul"),
}


def rows(heading: str, page: str = GUIDE) -> list[list[str]]:
    """The rows of the table whose first line is `heading`."""
    lines = page.split(f"{heading}\n", 1)[1].splitlines()[1:]
    table = lines[: next(k for k, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


SHAPES = rows("| first | second | result | |")
MIGRATE = DOCS.parent / "migrate"
NAMES = {
    library: rows(f"| {library} | stride0 |", (MIGRATE / f"{library.lower()}.md").read_text(encoding="utf-8"))
    for library in ("NumPy", "PyTorch")
}


def described(svg: str) -> str:
    """The alternative text of a picture: the complete text of `explain`."""
    return re.findall(r"<desc[^>]*>(.*)</desc>", svg, re.DOTALL)[0]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(name: str) -> None:
    """To draw the pictures again: `PICTURES[name].svg(DOCS / "pictures" / f"{name}.svg")`."""
    file = DOCS / "pictures" / f"{name}.svg"
    assert described(file.read_text(encoding="utf-8")) == described(PICTURES[name].svg())


def test_every_picture_is_shown() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(pictures/([\w-]+)\.svg\)", GUIDE)
    assert sorted(shown) == sorted(PICTURES) == sorted(file.stem for file in (DOCS / "pictures").iterdir())


@pytest.mark.parametrize("row", SHAPES, ids=[" with ".join(row[:2]) for row in SHAPES])
def test_shapes(row: list[str]) -> None:
    one, two = (ast.literal_eval(cell.strip("`")) for cell in row[:2])
    for first, second in ((one, two), (two, one)):
        if row[2] == "error":
            with pytest.raises(xp.BroadcastError):
                xp.add(xp.ones(first), xp.ones(second))
        else:
            assert xp.add(xp.ones(first), xp.ones(second)).shape == ast.literal_eval(row[2].strip("`"))


def test_modes() -> None:
    modes = [row[0].strip('`"') for row in rows("| mode | what it does |")]
    for mode in modes:
        with xp.broadcasting(mode):  # type: ignore[arg-type]
            assert xp.broadcasting.current() == mode
    with pytest.raises(ValueError) as caught:
        xp.broadcasting("loud").__enter__()  # type: ignore[arg-type]
    assert all(mode in str(caught.value) for mode in modes)


def resolve(names: dict[str, Any], path: str) -> None:
    found = names[path.partition(".")[0]]
    for name in path.split(".")[1:]:
        found = getattr(found, name)


@pytest.mark.parametrize("library", NAMES)
def test_names(library: str) -> None:
    """Every name of the tables exists, on both sides, and the calls on the right side work."""
    torch = pytest.importorskip("torch") if library == "PyTorch" else None
    theirs: dict[str, Any] = {"np": np, "a": np.ones((2, 3)), "torch": torch}
    if torch is not None:
        theirs["x"] = torch.ones((2, 3))
    x, y = xp.ones((1, 3)), xp.ones((4, 3))
    ours = {"xp": xp, "x": x, "y": y, "shape": (3, 1), "axes": (1, 0), "strides": (1, 0), "a": 2.0}
    ours |= {"i": xp.asarray([0]), "j": xp.asarray([0, 2])}
    for left, right in NAMES[library]:
        for path in re.findall(r"`(?=(?:np|torch|a|x)\.)([\w.]+)", left):
            resolve(theirs, path)
        for code in re.findall(r"`([^`]+)`", right):
            if re.fullmatch(r"[\w.]+", code):
                resolve({**ours, "None": None}, code)
            elif "=" in code and re.match(r"x(\[\.\.\.\])? ?\+?= ", code):
                exec(code, {"x": xp.ones((4, 3)), "y": y})
            elif code != "@":
                vectors = {"x": xp.ones(3), "y": xp.ones(3)} if "outer" in code or "None" in code else {}
                eval(code, {**ours, **vectors})


def test_what_the_guide_says_of_others() -> None:
    torch = pytest.importorskip("torch")
    a = torch.arange(6.0).reshape(2, 3)
    a -= a[:, :1]
    assert a.tolist() == [[0, 1, 2], [0, 4, 5]]
    b = torch.arange(5)
    with pytest.raises(RuntimeError, match="single memory location"):
        b[1:] = b[:-1]
    first, _ = np.broadcast_arrays(np.zeros((2, 1)), np.zeros(3))
    with pytest.warns(DeprecationWarning):
        first[0, 0] = 1
    stretched, _ = xp.broadcast_arrays(xp.zeros((2, 1)), xp.zeros(3))
    with pytest.raises(xp.WriteError):
        stretched[0, 0] = 1
