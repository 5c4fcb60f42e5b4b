"""Writes `array.pyi`: its template with the operators and the methods of the array type. Run by the build.

A method has the parameters of the function that it mirrors, whose source is read, not imported.
"""

from __future__ import annotations

import ast
import pathlib
import sys
from typing import Any

from common import PACKAGE, load, operations
from operators import BINARY, COMPARE, UNARY

method_table = load("methods")

HEADER = "# Generated from src/stride0/_core/array/array.pyi.in: edit that.\n"


def definitions(paths: list[str]) -> dict[str, ast.FunctionDef]:
    """The functions that are defined in files of the package."""
    found: dict[str, ast.FunctionDef] = {}
    for path in paths:
        tree = ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))
        found |= {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return found


def neutral(name: str) -> list[tuple[ast.arg, ast.expr | None]]:
    """NumPy's arguments, which a method accepts for NumPy's functions."""
    return [
        (ast.arg(arg=key, annotation=parsed(keyword.annotation)), parsed(keyword.default))
        for key, keyword in method_table.NEUTRAL.get(name, {}).items()
    ]


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def stub(name: str, function: ast.FunctionDef, positional: tuple[str, ...] = ()) -> str:
    """The line of a method; `positional` parameters move in front of the asterisk."""
    old = function.args
    named = list(zip(old.kwonlyargs, old.kw_defaults, strict=True))
    given = {pair[0].arg for pair in named}
    named += [pair for pair in neutral(name) if pair[0].arg not in given]
    moved = [next(pair for pair in named if pair[0].arg == wanted) for wanted in positional]
    left = [pair for pair in named if pair not in moved]
    plain = [*old.posonlyargs, *old.args]
    plain[0].annotation = None
    plain[0].arg = "self"
    defaults = [*old.defaults, *(default for _, default in moved)]
    args = ast.arguments(
        posonlyargs=[],
        args=[*plain, *(arg for arg, _ in moved)],
        vararg=old.vararg,
        kwonlyargs=[arg for arg, _ in left],
        kw_defaults=[default for _, default in left],
        kwarg=None,
        # A parameter without default after one with a default does not parse; the standard has no such
        # signature.
        defaults=defaults,
    )
    returns = ast.unparse(function.returns) if function.returns else "Array"
    return f"def {name}({ast.unparse(args)}) -> {returns}: ...\n"


def methods(paths: list[str]) -> str:
    paths = [*paths, str(PACKAGE / "_core" / "elementwise" / "functions.pyi.in")]
    of_table = {op.name for op in operations.OPS if op.public and op.nin == 1 and not op.namespace}
    functions = definitions(paths)
    own = definitions([str(PACKAGE / "_compat" / "methods.py")])
    text = ""
    for name, (target, positional) in method_table.mirrored(operations.OPS).items():
        if name in method_table.WIDER:
            text += stub(name, own[name])
        elif target in functions:
            text += stub(name, functions[target], positional)
            functions = definitions(paths)
        elif target in of_table:
            text += f"def {name}(self) -> Array: ...\n"
        else:
            raise SystemExit(f"methods.py: no signature of {target}")
    return text + "".join(stub(name, own[name]) for name in method_table.OWN)


def operator_stubs() -> str:
    """The operators of the array type."""
    text = ""
    for op in operations.OPS:
        sign: Any = op.operator
        if sign in UNARY:
            text += f"def __{UNARY[sign]}__(self) -> Array: ...\n"
        elif sign in COMPARE:
            equality = sign in ("==", "!=")
            ignore = "  # type: ignore[override]" if equality else ""
            other = "Elements | None" if equality else "Operand"
            text += f"def __{COMPARE[sign]}__(self, other: {other}) -> Array: ...{ignore}\n"
        elif sign in BINARY:
            for prefix in ("", "r", "i"):
                text += f"def __{prefix}{BINARY[sign]}__(self, other: Operand) -> Array: ...\n"
    return text


def main(output: str, *chapters: str) -> None:
    template = (PACKAGE / "_core" / "array" / "array.pyi.in").read_text(encoding="utf-8")
    marker = next(line for line in template.splitlines() if "@METHODS@" in line)
    body = "".join(f"    {line}\n" for line in (operator_stubs() + methods(list(chapters))).splitlines())
    pathlib.Path(output).write_text(HEADER + template.replace(marker + "\n", body), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
