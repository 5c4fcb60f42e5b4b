"""Elementwise operations: the price of a small call, and the speed of broadcasting and of awkward layouts."""

from __future__ import annotations

from benchmarks.common.cases import Case, Operand, run

SYMBOL = {"add": "x + y", "multiply": "x * y", "divide": "x / y", "maximum": "f(x, y)", "less": "x < y"}
STRETCHED = {
    "same shape": ((300, 300), (300, 300)),
    "row": ((300, 300), (300,)),
    "column": ((300, 300), (300, 1)),
    "outer": ((300, 1), (1, 300)),
}
LENGTHS = (10, 1000, 100_000, 5_000_000)
SQUARE = (1000, 1000)

CASES = [Case("x + y, 3 float64", "x + y", [Operand((3,)), Operand((3,))])]

CASES += [
    Case(
        f"{name} 300x300 {dtype}, {how}",
        statement,
        [Operand(left, dtype), Operand(right, dtype)],
        function="maximum" if statement.startswith("f(") else "",
    )
    for dtype in ("float64", "float32")
    for name, statement in SYMBOL.items()
    for how, (left, right) in STRETCHED.items()
]

CASES += [Case(f"x + y, {n:,} float64", "x + y", [Operand((n,)), Operand((n,))]) for n in LENGTHS]

LAYOUTS = {
    "transposed + transposed": ("[...].T", "[...].T"),
    "transposed + contiguous": ("[...].T", ""),
    "every second column + contiguous": ("[:, ::2]", "[:, :500]"),
    "every second column of both": ("[:, ::2]", "[:, ::2]"),
}
CASES += [
    Case(f"x + y, 1000x1000, {name}", "x + y", [Operand(SQUARE, view=left), Operand(SQUARE, view=right)])
    for name, (left, right) in LAYOUTS.items()
]

CASES += [
    Case(f"int32 + float64, {n:,}", "x + y", [Operand((n,), "int32"), Operand((n,))])
    for n in (1000, 1_000_000)
]
CASES += [Case(f"x * 2.5, {n:,} float64", "x * 2.5", [Operand((n,))]) for n in (3, 1000, 1_000_000)]
# y is about 50, so x does not overflow in any number of rounds.
CASES += [
    Case(f"x += y, {n:,} float64", "x += y", [Operand((n,)), Operand((n,))]) for n in (3, 1000, 1_000_000)
]
CASES += [Case("x += row, 300x300 float64", "x += y", [Operand((300, 300)), Operand((300,))])]


def main() -> None:
    run("Elementwise operations", CASES)
