"""The site of the documentation: the reference has every public name, the contents list every page, and the
checker of built pages finds errors. `.ci/run` builds it; here neither Sphinx nor numpydoc is needed.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stride0 as xp
from stride0._tables.standard import DRAFT, ROWS
from stride0.autograd import NO_GRAD, VJP

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.append(str(DOCS / "_ext"))

import check  # noqa: E402 - their folder is no package
import contents  # noqa: E402
import facts  # noqa: E402
import notebook  # noqa: E402
import reference  # noqa: E402

PAGES = reference.pages(lambda text: text)
DIRECTIVE = re.compile(r"^ *\.\. py:(\w+):: ([\w.]+)(.*)$", re.MULTILINE)


def entries() -> Iterator[tuple[str, str, str]]:
    """The names of the reference, with the rest of their signatures and their texts."""
    for text in PAGES.values():
        module = ""
        found = list(DIRECTIVE.finditer(text))
        for match, following in zip(found, [*found[1:], None], strict=True):
            kind, name, after = match.groups()
            body = text[match.end() : following.start() if following else None]
            if kind in ("module", "currentmodule"):
                module = name
                if kind == "module" and name != "stride0":
                    yield name, "", body
            else:
                yield f"{module}.{name}", after, body


ENTRIES = {name.removeprefix("stride0."): (signature, text) for name, signature, text in entries()}


def public(path: str, module: ModuleType) -> Iterator[str]:
    """The public names of a module, and of the modules within it, without the prefix `stride0.`."""
    names = [name for name in dir(xp) if not name.startswith("_")] if module is xp else module.__all__
    for name in names:
        thing = getattr(module, name)
        yield f"{path}{name}"
        if isinstance(thing, ModuleType):
            yield from public(f"{path}{name}.", thing)


def find(path: str) -> Any:
    thing: Any = xp
    for part in path.split("."):
        thing = getattr(thing, part)
    return thing


def test_every_public_name_is_in_the_reference() -> None:
    names = {*public("", xp), *xp.__all__, "__array_namespace_info__"}
    assert len(names) > 600
    assert names - ENTRIES.keys() == set()


def test_methods_and_attributes_are_in_the_reference() -> None:
    for path in ("Array", "DType", "Device", "fused", "autograd.Tape", "random.Generator"):
        own = {name: value for name, value in vars(find(path)).items() if not name.startswith("_")}
        # Names of NumPy that only raise an error are left out.
        names = {name for name, value in own.items() if type(value).__name__ != "_Missing"}
        assert names or path == "Device"
        assert {f"{path}.{name}" for name in names} - ENTRIES.keys() == set()
    assert "Array.sum" in ENTRIES and "Array.shape" in ENTRIES and "Array.backward" not in ENTRIES


def test_the_reference_has_no_other_names() -> None:
    for name in ENTRIES:
        find(name)


def test_no_name_has_two_entries() -> None:
    names = [name for name, _, _ in entries()]
    assert sorted(names) == sorted(set(names))


def test_functions_have_signatures() -> None:
    without = [
        name
        for name, (signature, _) in ENTRIES.items()
        if name.count(".") < 2 and callable(find(name)) and not isinstance(find(name), type) and not signature
    ]
    assert without == [] and ENTRIES["sum"][0].startswith("(x: Array, /, *, axis: Axis = None")


def test_methods_are_shown_as_they_are_called() -> None:
    assert ENTRIES["Array.sum"][0].startswith("(*, axis: Axis = None")
    assert ENTRIES["random.Generator.normal"][0].startswith("(loc: ")
    assert ENTRIES["fused.set_default"][0].startswith("(size: int = ")


def test_what_is_no_name_is_code() -> None:
    text = "`x` and `...`, `x**2`, ``y``, :py:obj:`z+` and `a link <b.html>`__"
    assert reference.quoted(text) == text.replace("`...`", "``...``").replace("`x**2`", "``x**2``")


def test_operators_are_listed_with_their_functions() -> None:
    rows = re.split(r"\n +\* - ", reference.operators())
    added = next(row for row in rows if "`__add__ <" in row)
    assert "``+``" in added and "``__radd__``, ``__iadd__``" in added and "stride0.add`" in added
    named = {name for name in re.findall(r"`(__\w+__)[ `]", "".join(rows))}
    special = {name for name in dir(xp.Array) if re.fullmatch(r"__[a-z_]+__", name)}
    assert named <= special and {"__matmul__", "__rpow__", "__dlpack_device__"} <= named


@pytest.mark.parametrize("name", ROWS)
def test_functions_of_the_standard_link_to_it(name: str) -> None:
    page = "inspection" if name.startswith("__") else f"generated/array_api.{name}"
    address = f"API_specification/{page}.html>`__"
    if ROWS[name].since == DRAFT:
        address = "`draft of the next version <https://data-apis.org/array-api/draft/>`__"
    assert address in ENTRIES[name][1]


def test_gradients_are_told() -> None:
    """The gradient section of every public function in the tables of gradients."""
    told = {name: text for name, (_, text) in ENTRIES.items() if ":Gradient:" in text}
    for name in ENTRIES.keys() & VJP.keys():
        arguments = re.search(r":Gradient: rule by (.*)", told[name])
        assert arguments is not None, name
        assert set(re.findall(r"``(\w+)``", arguments[1])) >= {*VJP[name]} - {"subscripts"}, name
    for name in ENTRIES.keys() & NO_GRAD.keys():
        assert f":Gradient: none: {NO_GRAD[name]}" in told[name]
    assert "by ``v`` refused: no formula" in told["special.jv"]


X = xp.reshape(xp.arange(1.0, 13.0) / 16, (3, 4))
Z = xp.asarray([1.0 + 2.0j])
# A call of each function whose result is always a view.
VIEWS: dict[str, Callable[[], Any]] = {
    "Array.view": lambda: X.view(xp.int64),
    "autograd.stop_gradient": lambda: xp.autograd.stop_gradient(X),
    "broadcast_arrays": lambda: xp.broadcast_arrays(X, X[:1, :])[0],
    "broadcast_to": lambda: xp.broadcast_to(X, (2, 3, 4)),
    "expand_dims": lambda: xp.expand_dims(X, axis=0),
    "flip": lambda: xp.flip(X),
    "imag": lambda: xp.imag(Z),
    "linalg.diagonal": lambda: xp.linalg.diagonal(X),
    "matrix_transpose": lambda: xp.matrix_transpose(X),
    "moveaxis": lambda: xp.moveaxis(X, 0, 1),
    "permute_dims": lambda: xp.permute_dims(X, (1, 0)),
    "strided.as_strided": lambda: xp.strided.as_strided(X, (2,), (4,)),
    "squeeze": lambda: xp.squeeze(X[:1, :], axis=0),
    "unstack": lambda: xp.unstack(X)[0],
}


def test_views_are_views() -> None:
    told = {name for name, (_, text) in ENTRIES.items() if re.search(r":Memory: view$", text, re.MULTILINE)}
    assert {name for name in told if name.count(".") < 2 and callable(find(name))} == VIEWS.keys()
    for name, call in VIEWS.items():
        assert any(xp.strided.shares_storage(call(), array) for array in (X, Z)), name


@pytest.mark.filterwarnings("ignore")  # SciPy warns about the values
def test_new_arrays_share_nothing() -> None:
    called = 0
    for name, (_, text) in ENTRIES.items():
        if ":Memory: new array\n" not in f"{text}\n" or name.startswith("autograd"):
            continue
        for operands in ((X,), (X, X), (X[:, :3], X[:, :3]), (X, X, X)):
            try:
                result = find(name)(*operands)
            except (TypeError, ValueError, IndexError, ImportError):  # no SciPy, or other arguments needed
                continue
            called += 1
            parts = result if isinstance(result, (list, tuple)) else (result,)
            assert not any(xp.strided.shares_storage(part, X) for part in parts), name
    assert called > 150


def test_views_where_memory_allows_say_so() -> None:
    for name in ("reshape", "asarray", "einsum", "from_dlpack"):
        assert facts.memory(name, getattr(xp, name)).startswith("a view where memory allows")
    assert facts.memory("sum", xp.sum) == "new array"
    assert facts.memory("linalg.svd", xp.linalg.svd) == "new arrays"
    assert facts.memory("get_num_threads", xp.get_num_threads) == ""


def test_the_contents_have_every_page_once() -> None:
    listed = [
        page
        for name in ("index.md", "contribute.md")
        for _, pages in contents.trees((DOCS / name).read_text(encoding="utf-8"))
        for page in pages
    ]
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")} - {"index"}
    assert sorted(listed) == sorted(pages)


def test_the_notebook_is_shown_with_its_outputs() -> None:
    source = ["# Work in a notebook\n"]
    notebook.append(None, notebook.PAGE, source)
    code = [notebook.text(cell) for cell in notebook.cells() if cell["cell_type"] == "code"]
    assert all(f"```python\n{text}\n```" in source[0] for text in code)
    assert "(True, 0.8, 0.12)" in source[0] and "GradientError: " in source[0]
    assert re.search(r'<img src="data:image/png;base64,[\w+/=]+" alt="[^"]+">', source[0])
    assert len(re.findall(r"^# ", source[0].split("```")[0], re.MULTILINE)) == 1
    other = ["# Another page\n"]
    notebook.append(None, "index", other)
    assert other == ["# Another page\n"]


@pytest.mark.parametrize("wanted", [False, True])
def test_inventories_are_fetched_on_request_only(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIDE0_INTERSPHINX", str(int(wanted)))
    monkeypatch.setattr(sys, "path", [*sys.path])
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert ("sphinx.ext.intersphinx" in settings["extensions"]) == wanted
    assert ("intersphinx_mapping" in settings) == wanted
    assert settings["release"] == xp.__version__


# --- the checker

GOOD = """<!doctype html><html lang="en"><head><title>A page</title>
<link rel="stylesheet" href="a.css"><link rel="canonical" href="https://elsewhere.org/"></head>
<body><svg><title>drawn</title></svg><h1 id="top">A page</h1>
<a href="#top">up</a> <a href="two.html#b%20c">b</a> <a href="https://elsewhere.org/">elsewhere</a>
<img src="a.svg" alt="a picture"></body></html>"""
FINDINGS = {
    '"#top"': ('"#nowhere"', "no such anchor"),
    "two.html#b%20c": ("two.html#d", "no such anchor"),
    "two.html": ("three.html", "leads nowhere"),
    "<title>A page</title>": ("", "no title"),
    "<h1 ": ("<h2 ", "0 main headings"),
    ' alt="a picture"': ("", "no alternative text"),
    ' alt="a picture">': (' alt=""><script src="//cdn.org/x.js"></script>', "script loads //cdn.org/x.js"),
    'href="a.css"': ('href="https://fonts.org/a.css"', "link loads https://fonts.org/a.css"),
    'src="a.svg"': ('src="b.svg"', "leads nowhere"),
    ' lang="en"': ("", "language"),
    "<svg>": ('<svg id="top">', "twice"),
}


def site(folder: Path, page: str, style: str = "") -> list[str]:
    folder.joinpath("one.html").write_text(page, encoding="utf-8")
    folder.joinpath("two.html").write_text(
        '<html lang="en"><title>2</title><h1 id="b c">2</h1></html>', encoding="utf-8"
    )
    folder.joinpath("a.css").write_text(style, encoding="utf-8")
    folder.joinpath("a.svg").write_text("<svg/>", encoding="utf-8")
    return check.check(folder)


def test_a_good_site_passes(tmp_path: Path) -> None:
    assert site(tmp_path, GOOD) == []


@pytest.mark.parametrize("old", FINDINGS)
def test_what_is_wrong_is_found(old: str, tmp_path: Path) -> None:
    new, finding = FINDINGS[old]
    assert old in GOOD
    assert any(finding in line for line in site(tmp_path, GOOD.replace(old, new)))


def test_styles_and_empty_sites_are_checked(tmp_path: Path) -> None:
    assert "another host" in site(tmp_path, GOOD, "a { background: url(https://elsewhere.org/a.png) }")[0]
    (tmp_path / "empty").mkdir()
    assert "no pages" in check.check(tmp_path / "empty")[0]
