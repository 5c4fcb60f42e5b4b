"""Shows the executed notebook of the examples on the page about notebooks, with its outputs.

It reads the file as JSON: neither Jupyter nor another extension of Sphinx is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "fit_a_filter.ipynb"
PAGE = "howto/notebook"


def cells(path: Path = NOTEBOOK) -> list[dict[str, Any]]:
    """Return the cells of a notebook."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def text(cell: dict[str, Any]) -> str:
    """Return the source of a cell."""
    return "".join(cell["source"])


def output(found: dict[str, Any]) -> str:
    """Return an output as Markdown."""
    if found["output_type"] == "error":
        return f"```text\n{found['ename']}: {found['evalue']}\n```\n"
    if found["output_type"] == "stream":
        return f"```text\n{''.join(found['text']).rstrip()}\n```\n"
    if "image/png" in found["data"]:
        code = "".join(found["data"]["image/png"]).replace("\n", "")
        about = "The recorded signal, and the model before and after the fit"
        return f'<img src="data:image/png;base64,{code}" alt="{about}">\n'
    return f"```text\n{''.join(found['data']['text/plain'])}\n```\n"


def markdown(path: Path = NOTEBOOK) -> str:
    """Return a notebook as Markdown, its headings one level deeper."""
    parts = []
    for cell in cells(path):
        if cell["cell_type"] == "markdown":
            parts.append(text(cell).replace("# ", "## ", 1) if text(cell).startswith("#") else text(cell))
        else:
            parts.append(f"```python\n{text(cell)}\n```\n")
            parts += [output(found) for found in cell["outputs"]]
    return "\n\n".join(parts)


def append(_: Any, name: str, source: list[str]) -> None:
    """Append the notebook to its page."""
    if name == PAGE:
        source[0] += f"\n{markdown()}\n"


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
