"""Writes `special/_ufuncs.py`: its template with declarations from the table's rows. Run by the build."""

from __future__ import annotations

import pathlib
import sys

from common import PACKAGE, load

HEADER = "# Generated from src/stride0/special/_ufuncs.py.in and src/stride0/_tables/ufuncs.py: edit these.\n"


def declaration(signature: str, doc: str) -> str:
    """The declaration of a function whose signature is like "beta(a, b)"."""
    name, _, parameters = signature.removesuffix(")").partition("(")
    typed = "".join(f"{parameter}: Operand, " for parameter in parameters.split(", "))
    return f'\n\n@declared_ufunc\ndef {name}({typed}/) -> Array:\n    """Return {doc}."""\n'


def main(output: str) -> None:
    rows = load("ufuncs").ROWS
    names = "".join(f'    "{name}",\n' for name in sorted(signature.partition("(")[0] for signature in rows))
    body = f"__all__ = [\n{names}]\n" + "".join(declaration(*row) for row in rows.items())
    template = (PACKAGE / "special" / "_ufuncs.py.in").read_text(encoding="utf-8")
    marker = next(line for line in template.splitlines(keepends=True) if "@FUNCTIONS@" in line)
    pathlib.Path(output).write_text(HEADER + template.replace(marker, body), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
