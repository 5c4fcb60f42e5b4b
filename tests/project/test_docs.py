"""Sessions, links, notes, and the lists of exceptions and names in the documentation are correct."""

from __future__ import annotations

import io
import re
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import stride0 as xp
from stride0._base import errors as _errors
from stride0._tables.thresholds import THRESHOLDS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "benchmarks", "conformance", "examples", ".github")
PAGES = sorted([*ROOT.glob("*.md"), *(page for name in FOLDERS for page in (ROOT / name).rglob("*.md"))])
TEXT = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Prose: code contains no links and no headings.
PROSE = {page: re.sub(r"`[^`\n]*`", "", FENCE.sub("", text)) for page, text in TEXT.items()}
# Written by `python -m conformance official`, from results of whole runs: it may not be there yet.
GENERATED = ROOT / "docs" / "evidence" / "conformance.md"


# --- sessions


class Statement(NamedTuple):
    source: str
    expected: str
    line: int


def statements(page: str) -> Iterator[Statement]:
    """Yield the statements of a page's ```pycon blocks, each with what it shows.

    doctest's parser ends the output at an empty line; our errors contain empty lines.
    """
    for fence in FENCE.finditer(TEXT[page]):
        if fence[1] != "pycon":
            continue
        first = TEXT[page].count("\n", 0, fence.start(2)) + 1
        lines = fence[2].splitlines()
        assert lines and lines[0].startswith(">>> "), f"{page}:{first}: a session begins with >>>"
        starts = [k for k, line in enumerate(lines) if line.startswith(">>> ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            stop = start + 1
            while stop < end and re.match(r"\.\.\.( |$)", lines[stop]):
                stop += 1
            source = "\n".join(line[4:] for line in lines[start:stop])
            yield Statement(source, "\n".join(lines[stop:end]).rstrip(), first + start)


def outcome(statement: Statement, names: dict[str, object]) -> str:
    """The output of a statement in a session; of a traceback only its first line and the exception."""
    shown = io.StringIO()
    try:
        with redirect_stdout(shown):
            exec(compile(statement.source + "\n", "<docs>", "single"), names)
    except Exception as error:
        text = "".join(traceback.format_exception_only(error))
        return f"Traceback (most recent call last):\n  ...\n{text}".rstrip()
    return shown.getvalue().rstrip()


# It shows the allocations of one call; with STRIDE0_FUSED=1 they come later, and may be fewer.
EAGER = "docs/design/memory.md"


@pytest.mark.parametrize("page", [page for page in TEXT if "```pycon" in TEXT[page]])
def test_sessions(
    page: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    if page == EAGER:
        request.getfixturevalue("eagerly")
    names: dict[str, object] = {"__name__": "__main__"}
    for statement in statements(page):
        got = outcome(statement, names)
        where = f"{page}:{statement.line}\n{statement.source}"
        assert got == statement.expected, (
            f"{where}\n--- shows\n{got}\n--- the page says\n{statement.expected}"
        )


def test_readme_shows_a_gradient_through_scipy_and_both_errors() -> None:
    shown = [statement.expected for statement in statements("README.md")]
    errors = [re.search(r"^stride0\.(\w+): ", text, re.MULTILINE) for text in shown]
    assert [error[1] for error in errors if error] == ["StrictAttributeError", "BroadcastError"]
    assert any("scipy.signal" in statement.source for statement in statements("README.md"))


# --- links


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: str) -> set[str]:
    return {slug(found) for found in re.findall(r"^#+ (.*)$", FENCE.sub("", TEXT[page]), re.MULTILINE)}


@pytest.mark.parametrize("page", TEXT)
def test_links(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", PROSE[page]):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
        assert file.exists() or file == GENERATED, f"{page}: {target} leads nowhere"
        assert file.is_relative_to(ROOT), f"{page}: {target} leads out of the repository"
        if anchor:
            assert anchor in anchors(file.relative_to(ROOT).as_posix()), f"{page}: {target}: no such heading"


def test_every_page_is_reached_from_the_landing_page() -> None:
    reached, waiting = set(), ["docs/index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page not in TEXT:
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#:]+)[^)]*\)", PROSE[page]):
            file = (ROOT / page).parent.joinpath(target).resolve()
            waiting.append(file.relative_to(ROOT).as_posix())
    assert {page for page in TEXT if page.startswith("docs/")} - reached == set()


def test_no_machine_paths() -> None:
    for page, text in TEXT.items():
        assert not re.search(r"(?<![\w.:/])/(home|work|tmp|opt|root|Users)/", text), page


# --- notes

SUFFIXES = {".py", ".pyx", ".pxd", ".pxi", ".in", ".h", ".pyi", ".build"}
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("src", "conformance", "benchmarks", "examples")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file() and path.suffix in SUFFIXES
}
CITED = re.compile(r"Note \[([^\]]+)\]")
# A note begins with a line that has only its name; its text is indented. `#` may precede both; in a
# comment of C, three spaces.
DEFINED = re.compile(r"^(?:# ?| {3}|/\* )?Note \[([^\]]+)\]\n(?:# ?| {3})? {4}\S", re.MULTILINE)
HEADING = re.compile(r"^#+ Note \[([^\]]+)\]$", re.MULTILINE)
DIRECTORY = "docs/design/overview.md"


def definitions() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for files, pattern in ((SOURCES, DEFINED), (TEXT, HEADING)):
        for file, text in files.items():
            for name in pattern.findall(text):
                found.setdefault(name, []).append(file)
    return found


def test_every_cited_note_is_defined_once() -> None:
    found = definitions()
    cited = {name for text in [*SOURCES.values(), *TEXT.values()] for name in CITED.findall(text)}
    assert cited - found.keys() == set()
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_the_directory_lists_every_note_where_it_is() -> None:
    listed = {}
    for name, where in table(DIRECTORY, "note"):
        link = re.fullmatch(r"\[.*\]\((.*)\)", where)
        file = (ROOT / DIRECTORY).parent / link[1] if link else ROOT / where.strip("`")
        listed[CITED.fullmatch(name)[1]] = file.resolve().relative_to(ROOT).as_posix()
    found = {name: files[0] for name, files in definitions().items()}
    assert listed == found, f"the table of notes in {DIRECTORY}"


# --- lists


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the table whose first column is headed so, as lists of cells."""
    lines = TEXT[page].splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_exceptions() -> None:
    rows = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in table("docs/errors.md", "exception")}
    assert rows.keys() == set(_errors.__all__)
    for name, bases in rows.items():
        cls = getattr(_errors, name)
        assert bases == [base.__name__ for base in cls.__bases__ if base is not _errors.Stride0Error], name
        assert getattr(xp, name) is cls


def test_each_exception_has_an_example() -> None:
    shown = "\n".join(statement.expected for statement in statements("docs/errors.md"))
    for name in set(_errors.__all__) - {"Stride0Error"}:
        assert f".{name}: " in shown, name


def test_names_of_our_own() -> None:
    """The names of the namespace beyond the standard; NumPy has the standard's names."""
    listed = {row[0].split("`")[1] for row in table("docs/namespace.md", "name")} | set(_errors.__all__)
    standard = (set(np.__dict__) | set(dir(np))) - {"testing"}
    own = {name for name in dir(xp) if not name.startswith("_")} - standard
    assert own == listed
    strided = next(row[1] for row in table("docs/namespace.md", "name") if row[0] == "`strided`")
    assert set(re.findall(r"`(\w+)`", strided)) == set(xp.strided.__all__)


# --- the overview names only existing files and functions

OVERVIEW = "docs/design/overview.md"
LISTED = SOURCES["src/stride0/_core/meson.build"].partition("\nmodules = [")[2].partition("]")[0]
COMPILED = re.findall(r"'([a-z]+\.[a-z_]+)'", LISTED)
# How names are defined in Python, Cython and C.
DEFINITIONS = (
    r"^ *(?:@\w+ *)?(?:def|cdef|cpdef|class|ctypedef)\b[^=(:]*?\b(\w+) *[(:]",
    r"^ *(?:cdef|cpdef|ctypedef) [^=(]*?\b(\w+)(?: *=.*)?$",
    r"^ *([A-Za-z_]\w*)(?:: [^=]+)? = ",
    r"^#define (\w+)|^.*\bcdef enum (\w+)",
    r"^static [^(=]*?\b(\w+)(?:\[|\()",
)


def defined_names() -> set[str]:
    found: set[str] = set()
    for text in SOURCES.values():
        for pattern in DEFINITIONS:
            found.update(
                *(
                    filter(None, (m if isinstance(m, tuple) else (m,)))
                    for m in re.findall(pattern, text, re.MULTILINE)
                )
            )
    return found


def test_the_overview_lists_each_module_of_the_core_with_its_tests() -> None:
    listed = []
    for modules, _, tests in table(OVERVIEW, "module"):
        listed += [name.replace("/", ".") for name in re.findall(r"`([\w/]+)`", modules)]
        files = re.findall(r"`([\w/]+/test_\w+)`", tests)
        assert files, modules
        assert [file for file in files if not (ROOT / "tests" / f"{file}.py").exists()] == [], modules
    compiled = [name for name in listed if name in COMPILED]
    assert compiled == COMPILED and len(set(listed)) == len(listed)
    for name in set(listed) - set(COMPILED):
        assert (ROOT / "src/stride0/_core" / f"{name.replace('.', '/')}.py").exists(), name


def test_the_lives_of_calls_name_functions_that_exist() -> None:
    """The names in the sections that follow a call through the core exist."""
    text = TEXT[OVERVIEW]
    section = text[text.index("## The life of one call") : text.index("## Where the notes are")]
    names = set(re.findall(r"`([A-Za-z_]{3,}\w*)`", section))
    for fence in FENCE.finditer(section):
        for line in fence[2].splitlines():
            names |= set(re.findall(r"\w+", line.partition("  ")[0]))
    assert names
    thresholds = {threshold.name for threshold in THRESHOLDS}
    public = {*dir(xp), *dir(xp.Array), *thresholds, "self", "int", "fused"}
    files = {Path(file).stem.partition(".")[0] for file in SOURCES}
    assert names - defined_names() - public - files == set()
