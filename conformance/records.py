"""Recorded results: one file in `results` for each page that shows them, with a hash of the sources."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "conformance" / "results"
EVIDENCE = ROOT / "docs" / "evidence"

_REASON_LENGTH = 200
_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?[/\\](?:[\w.+~-]+[/\\])+([\w.+-]+)")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record as JSON with a line for each entry, and for each entry of a table in it."""
    path.write_text(_text(record, depth=2) + "\n", encoding="utf-8")


def _text(value: Any, depth: int) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if depth == 0 or not isinstance(value, dict | list) or len(text) < 500:
        return text
    if isinstance(value, list):
        return "[\n" + ",\n".join(_text(each, depth - 1) for each in value) + "\n]"
    lines = (
        f"{json.dumps(key, ensure_ascii=False)}: {_text(each, depth - 1)}" for key, each in value.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown; columns of numbers are aligned on the right."""
    body = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    cells = ["\n".join(row[k] for row in body) for k in range(len(head))]
    numeric = [re.fullmatch(r"[-\d.,\n]*\d[-\d.,\n]*", column) for column in cells]
    rule = f"|{'|'.join('---:' if right else '---' for right in numeric)}|"
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(row)} |" for row in body)]) + "\n"


def columns(
    title: str, rows: dict[str, dict[str, int]], total: dict[str, int], outcomes: Sequence[str]
) -> str:
    """Return counts as plain text: a line for each row, then the total."""
    width = max(map(len, (title, *rows)))
    lines = [f"{title:<{width}}" + "".join(f"{outcome:>10}" for outcome in outcomes)]
    for name, counts in [*rows.items(), ("total", total)]:
        lines.append(f"{name:<{width}}" + "".join(f"{counts[outcome]:>10}" for outcome in outcomes))
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])


def source_hash() -> str:
    """A hash of all that determines the library's behaviour: src/stride0, and the build file."""
    digest = hashlib.sha256()
    package = ROOT / "src" / "stride0"
    for path in sorted([*package.rglob("*"), ROOT / "meson.build"], key=lambda path: path.as_posix()):
        built = path.suffix in (".so", ".pyc", ".pyd", ".o") or "__pycache__" in path.parts
        if not path.is_file() or built:
            continue
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def installed_from_here(package: Path) -> bool:
    """Whether the installed package has this tree's Python files, so that results belong to them."""
    sources = ROOT / "src" / "stride0"
    # Scripts of the build are not installed.
    return all(
        (package / path.relative_to(sources)).is_file()
        and (package / path.relative_to(sources)).read_bytes() == path.read_bytes()
        for path in sources.rglob("*.py")
        if "generators" not in path.relative_to(sources).parts
    )


def hash_of(module: str, package: Path) -> str | None:
    """Return the hash of the sources if the module is stride0 and installed from them, else None."""
    if module != "stride0":
        return None
    if not installed_from_here(package):
        print("\nnote: the installed stride0 is not of this tree, so the summary names no source hash")
        return None
    return source_hash()


def environment() -> dict[str, str]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
    }


def one_line(reason: str) -> str:
    """A reason in the form of the record: one short line, without paths of this machine."""
    line = _ABSOLUTE_PATH.sub(r"\1", " ".join(reason.split()))
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"
