"""Write the tables of docs/migrate/numpy.md, of NumPy's names: `python -m conformance numpy-names`."""

from __future__ import annotations

from pathlib import Path

from stride0._tables.numpy_methods import METHODS, Row
from stride0._tables.numpy_names import NAMES

PAGE = Path(__file__).parents[1] / "docs" / "migrate" / "numpy.md"

TITLES = {
    "": "Functions, dtypes and constants",
    "linalg": "`linalg`",
    "fft": "`fft`",
    "random": "`random`",
    "Array": "Attributes of arrays",
}


def line(name: str, row: Row) -> str:
    """Return the line of a name."""
    cells = (f"`{name}`", f"`{row.theirs}`", f"`{row.ours}`" if row.ours else "", row.remark)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page() -> str:
    """Return the text of the page: what stands there before the tables, and the tables."""
    text = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    for title, table in zip(TITLES.values(), (*NAMES.values(), METHODS), strict=True):
        rows = "\n".join(line(name, table[name]) for name in sorted(table, key=str.lower))
        text += f"\n## {title}\n\n| name | NumPy | stride0 | remark |\n|---|---|---|---|\n{rows}\n"
    return text


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
