"""The display of arrays in notebooks: `_repr_html_`."""

from __future__ import annotations

import html.parser

import numpy as np
import pytest
from helpers import DTYPES

import stride0 as xp
from stride0 import autograd, strided
from stride0.testing import flags


class Rows(html.parser.HTMLParser):
    """The rows of a table, each label with its text; every tag has to be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open
        self.rows = dict(zip(self.cells[::2], self.cells[1::2], strict=True))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        # The HTML loads nothing and runs no scripts.
        assert tag in ("table", "tr", "th", "td", "pre")
        assert {name for name, _ in attributes} <= {"class", "style"}
        assert not any("url" in (value or "") for _, value in attributes)
        self.open.append(tag)
        if tag in ("th", "td"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells[-1] += data


def shown(x: xp.Array) -> dict[str, str]:
    return Rows(x._repr_html_()).rows


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3), (2, 1, 2, 2)])
def test_facts_and_elements(dtype, shape):
    x = xp.ones(shape, dtype=getattr(xp, dtype))
    assert shown(x) == {"shape": str(shape), "dtype": dtype, "device": "cpu", "elements": str(x)}


def test_elements_are_summarised():
    x = xp.reshape(xp.arange(10**6), (1000, 1000))
    assert "..." in shown(x)["elements"] and len(x._repr_html_()) < 1000
    assert len(xp.broadcast_to(xp.asarray(1.0), (2**20, 2**20))._repr_html_()) < 1000


def test_strides_of_broadcast_arrays():
    x = xp.broadcast_to(xp.asarray([[1.0], [2.0]]), (2, 3))
    assert strided.strides(x) == (1, 0)
    assert shown(x)["strides"] == "(1, 0) elements: 0 broadcasts"
    for y in (x[:, :1], xp.ones((2, 3)).T, xp.ones(4)[::-2], xp.ones((1, 3))):
        assert "strides" not in shown(y)


def test_text_is_escaped():
    with flags(devices=("<b>&\"'", "cpu")):
        x = xp.ones(2)
        assert "<b>" not in x._repr_html_()
        assert shown(x)["device"] == "<b>&\"'"


def test_where_little_else_is_allowed():
    with xp.strict():
        assert shown(xp.ones((2, 3)))["shape"] == "(2, 3)"
    for flag in ({"devices": ("gpu", "cpu")}, {"writable": False}, {"strict_names": True, "strict": True}):
        with flags(**flag):
            assert shown(xp.ones((2, 3)))["elements"] == "[[1., 1., 1.],\n [1., 1., 1.]]"
    seen = []

    def watched(x):
        seen.append(shown(x * 2)["elements"])
        return xp.sum(x)

    autograd.grad(watched)(xp.ones(2))
    assert seen == ["[2., 2.]"]


def test_print_options_of_numpy_hold():
    with np.printoptions(precision=2, threshold=2, edgeitems=1):
        assert shown(xp.arange(3) / 3)["elements"] == "[0.  , ..., 0.67]"
