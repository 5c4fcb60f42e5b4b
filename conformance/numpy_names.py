"""Write the tables of docs/migrate/numpy.md, of NumPy's names: `python -m conformance numpy-names`."""

from __future__ import annotations

from conformance import records
from stride0._tables.numpy_methods import METHODS
from stride0._tables.numpy_names import NAMES

PAGE = records.ROOT / "docs" / "migrate" / "numpy.md"

TITLES = {
    "": "Functions, dtypes and constants",
    "linalg": "`linalg`",
    "fft": "`fft`",
    "random": "`random`",
    "Array": "Attributes of arrays",
}


def page() -> str:
    """Return the text of the page: its text before the tables, and the tables."""
    text = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    for title, table in zip(TITLES.values(), (*NAMES.values(), METHODS), strict=True):
        rows = [
            (f"`{name}`", f"`{row.theirs}`", f"`{row.ours}`" if row.ours else "", row.remark)
            for name, row in sorted(table.items(), key=lambda item: item[0].lower())
        ]
        text += f"\n## {title}\n\n{records.table(('name', 'NumPy', 'stride0', 'remark'), rows)}"
    return text


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
