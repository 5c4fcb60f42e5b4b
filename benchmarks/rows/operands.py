"""The operands that letters of `rows` stand for, for each size, dtype and layout."""

from __future__ import annotations

import math
from typing import Any, Final

from benchmarks.compare.operands import Operand

# Ranges in which every result is finite and exact enough to be compared. Other operands are from 1 to 100.
DOMAINS: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("acos", "asin", "atanh"), (-0.9, 0.9)),
    **dict.fromkeys(("exp", "expm1", "sinh", "cosh", "tanh", "logaddexp", "atan", "asinh", "atan2"), (-5, 5)),
    **dict.fromkeys(("sin", "cos", "tan", "round", "floor", "ceil", "trunc", "sign", "abs"), (-20, 20)),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift", "pow"), (1, 5)),
    **dict.fromkeys(("Array.__lshift__", "Array.__rshift__", "Array.__pow__"), (1, 5)),
    **dict.fromkeys(("Array.__rlshift__", "Array.__rrshift__", "Array.__rpow__"), (1, 5)),
    # Statements repeated on the same array, whose values must neither grow nor shrink.
    **dict.fromkeys(
        ("Array.__imul__", "Array.__itruediv__", "Array.__ipow__", "Array.__ifloordiv__"), (1, 1)
    ),
    **dict.fromkeys(("Array.__ilshift__", "Array.__irshift__"), (0, 1)),
    **dict.fromkeys(
        ("prod", "cumulative_prod", "nanprod", "nancumprod", "Array.prod", "Array.cumprod"), (1, 1)
    ),
}


# Repeated on the same array: complex numbers have modulus 1, so that they neither grow nor shrink.
REPEATED: Final = ("Array.__imul__", "Array.__itruediv__", "Array.__ipow__")

# Equal numbers have no unique order, and whole numbers from 1 to 100 sort faster than others.
DISTINCT: Final = ("sort", "argsort", "Array.argsort")


def shape_of(n: int) -> tuple[int, int]:
    """The shape of a matrix of about `n` elements."""
    rows = {10: 2, 1_000: 25, 100_000: 250}.get(n) or math.isqrt(n)
    return rows, n // rows


def operand(letter: str, name: str, n: int, dtype: str, layout: str) -> Operand:
    """Return the operand of a letter in a statement that measures `name`."""
    low, high = DOMAINS.get(name, (1, 100))
    rows, columns = shape_of(n)
    side = math.isqrt(n)
    matrix, square = (rows, columns), (side, side)
    # Whole numbers, whose sums do not depend on the order of addition.
    kind = "distinct" if name in DISTINCT else "whole" if (low, high) == (1, 100) else "uniform"
    if name in REPEATED and dtype == "complex128":
        kind = "turns"

    def made(shape: tuple[int, ...], **more: Any) -> Operand:
        options: dict[str, Any] = {"low": low, "high": high, "values": kind} | more
        turned = layout == "transposed" and len(shape) < 2
        return Operand(shape, dtype, **({"layout": "contiguous" if turned else layout} | options))

    whole = matrix if layout == "transposed" else (n,)
    match letter:
        case "x" | "y":
            return made(whole)
        case "z":  # what a loop assigns to
            return made((1,), layout="contiguous")
        case "m":
            return Operand(whole, "bool", values="mask", layout=layout)
        case "v" | "u":
            return made((n,))
        case "a" | "b":
            return made(matrix)
        case "w":
            return made((columns,))
        case "f":
            return made((side,))
        case "d":
            return made((max(1, n // 3), 3))
        case "s" | "t":
            return made(square)
        case "r":
            return made(square, values="identity")
        case "p":
            return made(square, values="definite")
        case "g":
            return made((max(1, n // 16), 4, 4), values="definite")
        case "o":
            return made((n,), values="sorted", high=1000)
        case "e":
            return made((), layout="contiguous", values="uniform")
        case "l":
            return made((n,), layout="contiguous", values=f"list {kind}")
        case "i" | "j" | "k":
            size = {"i": n, "j": rows, "k": columns}[letter]
            return Operand((size,), "int64", 0, size, "whole")
        case "h":
            return Operand(matrix, "int64", 0, columns, "whole")
    raise ValueError(letter)
