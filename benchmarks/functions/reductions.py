"""Reductions over all axes, the first, the last, and two that are not adjacent."""

from __future__ import annotations

from benchmarks.common.cases import Case, Operand, run

DTYPES = {
    "sum": ("float64", "float32", "int32"),
    "max": ("float64", "float32", "int32"),
    "mean": ("float64", "float32"),
    "any": ("bool",),
}
AXES = {
    (1000,): (None,),
    (1000, 1000): (None, 0, 1),
    (100_000, 8): (0, 1),
    (64, 128, 64): (None, (0, 2), 1),
}

CASES = [
    Case(
        f"{function}, {'x'.join(map(str, shape))} {dtype}, {'all' if axis is None else f'axis {axis}'}",
        "f(x)" if axis is None else f"f(x, axis={axis})",
        [Operand(shape, dtype)],
        function,
    )
    for function, dtypes in DTYPES.items()
    for dtype in dtypes
    for shape, axes in AXES.items()
    for axis in axes
]

# Stretched rows, and for comparison the one row that they repeat.
CASES += [
    Case(f"{function}, {what}, axis 0", "f(x, axis=0)", [operand], function)
    for function in ("sum", "max", "mean", "std")
    for what, operand in (
        ("1x1000 float64", Operand((1, 1000))),
        ("1x1000 float64 stretched to 10000x1000", Operand((1, 1000), stretched=(10_000, 1000))),
    )
]


def main() -> None:
    run("Reductions", CASES)
