"""The goals of `compare`, and the rows of every group.

A row is one statement with the standard's names; SPELLED of `operands.py` has the other names of a library.
Other names in it than operands (`sum`, `float32`) are looked up in the library before the timing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.common.machine import OURS as OURS
from benchmarks.compare.operands import Operand

PEERS = ("numpy", "torch", "jax")
BEST = ("numpy", "torch")
LIMIT = "limit"  # stands among the libraries for the fastest loop of the processor that moves as many bytes


@dataclass(frozen=True)
class Goal:
    """The goal of a group: a geometric mean, and a floor for each row, as speedups over the fastest of some
    peers. `floor` None sets no floor.
    """

    mean: float
    of: tuple[str, ...]
    floor: float | None
    floor_of: tuple[str, ...]
    threads: int | None = None  # this number of threads instead of `--threads`


# The only table of goals, for every instruction set.
GOALS = {
    "small": Goal(4.0, ("numpy",), 0.95, ("numpy",)),
    "mid": Goal(1.6, BEST, 0.95, BEST),
    "large": Goal(2.5, BEST, 0.95, BEST),
    "searching": Goal(2.5, BEST, 0.95, BEST),
    "linalg": Goal(1.5, BEST, 0.95, BEST),
    "vector-mid": Goal(1.4, PEERS, 0.6, ("numpy",), threads=1),
    "vector-large": Goal(2.5, PEERS, None, PEERS),
}


@dataclass(frozen=True)
class Scale:
    """The sizes of the groups; smaller ones for a quick look and for the tests."""

    mid: int = 300
    large: int = 3200
    tall: int = 1_000_000  # rows of a tall and narrow matrix
    vector: int = 100_000  # elements that are sorted and searched
    long: int = 1_000_000  # elements that are gathered
    matrix: int = 768
    stack: int = 5000  # of 4x4 matrices
    image: tuple[int, int, int, int] = (8, 3, 224, 224)


FULL = Scale()
QUICK = Scale(large=1000, tall=100_000, long=200_000, matrix=384, image=(2, 3, 224, 224))
TINY = Scale(mid=6, large=8, tall=20, vector=40, long=50, matrix=12, stack=7, image=(2, 3, 4, 4))


@dataclass(frozen=True)
class Row:
    group: str
    name: str
    statement: str
    operands: dict[str, Operand] = field(hash=False)
    counts: bool = True  # in the group's mean and towards its floor
    compared: str = "values"  # what the results have in common: see `difference_of` in worker.py
    python: tuple[str, ...] = ()  # the names that are Python's own

    @property
    def key(self) -> str:
        return f"{self.group}: {self.name}"


def rows(scale: Scale = FULL) -> list[Row]:
    """Every row of every group."""
    found = [
        *small(),
        *square("mid", scale.mid),
        *transcendental("mid", scale.mid),
        *square("large", scale.large),
        *other_large(scale),
        *searching(scale),
        *linalg(scale),
        *vector("vector-mid", scale.mid),
        *vector("vector-large", scale.large),
    ]
    keys = [row.key for row in found]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"two rows of the same name: {twice}")
    return found


# The ranges of arguments of real functions: around their bends, with results finite in float32.
DOMAINS: dict[str, tuple[float, float]] = {
    "exp": (-5, 5),
    "log": (0.1, 100),
    "sin": (-20, 20),
    "cos": (-20, 20),
    "tanh": (-3, 3),
    "pow": (0.1, 10),
    "sqrt": (0, 100),
    "log1p": (-0.9, 10),
    "expm1": (-3, 3),
}


def function_row(group: str, name: str, shape: tuple[int, ...], dtype: str, counts: bool = True) -> Row:
    low, high = DOMAINS[name]
    operands = {"x": Operand(shape, dtype, low, high)}
    if name == "pow":
        operands["y"] = Operand(shape, dtype, -3, 3)
    what = f"{name}({', '.join(operands)})"
    size = f" {shape[0]}" if len(shape) == 1 else ""  # in the group of small rows, which has several
    return Row(group, f"{what} {dtype}{size}", what, operands, counts)


def vector(group: str, n: int) -> Iterator[Row]:
    for dtype in ("float32", "float64"):
        for name in DOMAINS:
            yield function_row(group, name, (n, n), dtype)


# Also shown in the groups of sizes, but judged in a separate group.
TRANSCENDENTAL = ("exp", "log", "sin", "tanh", "pow")


def transcendental(group: str, n: int) -> Iterator[Row]:
    for dtype in ("float32", "float64"):
        for name in TRANSCENDENTAL:
            yield function_row(group, name, (n, n), dtype, counts=False)
    yield function_row(group, "exp", (n, n), "complex128", counts=False)


def small() -> Iterator[Row]:
    def row(what: str, dtype: str, *shapes: tuple[int, ...], counts: bool = True, **more: Operand) -> Row:
        operands = {letter: Operand(shape, dtype) for letter, shape in zip("xyz", shapes, strict=False)}
        sizes = ", ".join("x".join(map(str, shape)) for shape in dict.fromkeys(shapes))
        return Row("small", f"{what} {dtype} {sizes}", what, operands | more, counts)

    for n in (3, 100):
        one = (n,)
        for dtype in ("float32", "float64", "int64", "complex128"):
            yield row("x + y", dtype, one, one)
        for what in ("x * y", "x - y", "x < y", "maximum(x, y)", "x += y", "x // y"):
            yield row(what, "float64", one, one)
        yield row("x * y + z", "float64", one, one, one)
        for what in ("x * 2.5", "x ** 2", "-x", "abs(x)", "floor(x)", "astype(x, float32)", "x < 50.0"):
            yield row(what, "float64", one)
        for what in ("x + 1", "x // 7", "astype(x, float64)"):
            yield row(what, "int64", one)
        yield row("x == y", "int64", one, one)
        yield row("x & y", "bool", one, one)
        yield row("~x", "bool", one)
        yield row("astype(x, float32)", "bool", one)
        yield row("where(m, x, y)", "float64", one, one, m=Operand(one, "bool"))
        yield row("concat([x, y])", "float64", one, one)
        yield row("cumulative_sum(x, axis=0)", "float64", one)
        yield function_row("small", "sqrt", one, "float64")
        for name in TRANSCENDENTAL:
            yield function_row("small", name, one, "float64", counts=False)
        for name in ("sum", "mean", "max", "argmax", "std"):
            yield row(f"{name}(x)", "float64", one)
        yield row("sum(x)", "float32", one)
        yield row("sum(x)", "int64", one)
        yield row("any(x)", "bool", one)
    for n in (3, 10):
        shape = (n, n)
        yield row("x + y", "float64", shape, shape)
        yield row("x + y", "float64", shape, (n,))
        yield row("x + y", "float64", shape, (n, 1))
        yield row("x * y", "float64", (n, 1), (1, n))
        yield row("x + y.T", "float64", shape, shape)
        yield row("x += y", "float64", shape, (n,))
        yield row("x + y", "float32", shape, (n,))
        yield row("contiguous(x.T)", "float64", shape)
        for axis in (0, 1):
            for name in ("sum", "mean", "max", "argmax", "std"):
                yield row(f"{name}(x, axis={axis})", "float64", shape)


def square(group: str, n: int) -> Iterator[Row]:
    """Rows on n x n matrices."""
    full, line, column, wide = (n, n), (n,), (n, 1), (n, 2 * n)
    f32, f64, i64, c64, c128 = "float32", "float64", "int64", "complex64", "complex128"
    mask = Operand(full, "bool")

    def row(what: str, dtype: str, *shapes: tuple[int, ...], how: str = "", **more: Operand) -> Row:
        operands = {letter: Operand(shape, dtype) for letter, shape in zip("xyz", shapes, strict=False)}
        return Row(group, f"{what} {dtype}{how and f', {how}'}", what, operands | more)

    for what, dtypes in {
        "x + y": (f32, f64, i64, c128),
        "x * y": (f32, f64, i64, c64, c128),
        "x / y": (f32, f64, c128),
        "maximum(x, y)": (f32, f64),
        "x < y": (f32, f64, i64),
        "x == y": (i64, "bool"),
        "x & y": ("bool",),
        "x // y": (f32, f64, i64),
        "x + y.T": (f32, f64, i64),
        "x.T + y.T": (f64,),
        "x += y": (f32, f64, i64),
    }.items():
        for dtype in dtypes:
            yield row(what, dtype, full, full)
    for dtype in (f32, f64):
        yield row("x * y + z", dtype, full, full, full)
        yield row("x[:, ::2] + y[:, ::2]", dtype, wide, wide)
        for how, shape in {"row": line, "column": column}.items():
            yield row("x + y", dtype, full, shape, how=how)
            yield row("x * y", dtype, full, shape, how=how)
            yield row("x += y", dtype, full, shape, how=how)
        yield row("x + y", dtype, column, (1, n), how="outer")
        yield row("x * y", dtype, column, (1, n), how="outer")
        yield row("x < y", dtype, column, (1, n), how="outer")
    yield row("x + y", i64, full, line, how="row")
    yield row("x + y", i64, column, (1, n), how="outer")
    yield row("x * y", c128, column, (1, n), how="outer")
    for what, dtypes in {
        "x * 2.5": (f32, f64, c128),
        "x + 1": (i64,),
        "x // 7": (i64,),
        "x ** 2": (f32, f64),
        "x += 1.5": (f32, f64),
        "x < 50.0": (f32, f64),
        "-x": (f32,),
        "abs(x)": (f64, c128),
        "sqrt(x)": (f32, f64),
        "floor(x)": (f32, f64),
        "round(x)": (f32, f64),
        "~x": ("bool",),
        "astype(x, float32)": (f64, i64, "bool"),
        "astype(x, float64)": (f32, i64),
        "astype(x, int64)": (f32, f64, "int32"),
        "astype(x, bool)": (f32,),
        "astype(x, complex128)": (c64, f64),
        "contiguous(x.T)": (f32, f64, c128),
        "cumulative_sum(x, axis=0)": (f32, f64),
        "cumulative_sum(x, axis=1)": (f32, f64, i64),
    }.items():
        for dtype in dtypes:
            yield row(what, dtype, full)
    for dtype in (f32, f64, i64):
        yield row("where(m, x, y)", dtype, full, full, m=mask)
    yield row("where(m, x, 0.0)", f64, full, m=mask)
    yield row("x + y", f64, full, y=Operand(full, i64), how="of int64")
    yield row("x + y", f64, full, y=Operand(line, f32), how="of a row of float32")
    for axis in (0, 1):
        yield row(f"concat([x, y], axis={axis})", f64, full, full)
    for dtype in (f32, f64):
        for name in ("sum", "mean", "max", "argmax", "std"):
            kind = "distinct" if name == "argmax" else "uniform"  # equal maxima: PyTorch may take any
            for options in ("", ", axis=0", ", axis=1"):
                yield row(f"{name}(x{options})", dtype, x=Operand(full, dtype, values=kind))
    for options in ("", ", axis=0", ", axis=1"):
        yield row(f"sum(x{options})", i64, full)
        yield row(f"max(x{options})", i64, full)
    yield row("sum(x)", c128, full)
    yield row("sum(x)", "bool", full)
    yield row("any(x)", "bool", x=Operand(full, "bool", values="false"), how="nothing True")
    yield row("any(x)", "bool", full, how="half True")


def other_large(scale: Scale) -> Iterator[Row]:
    tall = (scale.tall, 8)
    # NumPy adds float32 along axis 0 one by one: exact only while partial sums are whole numbers that float32
    # can represent.
    for axis in (0, 1):
        for dtype in ("float32", "float64"):
            yield Row(
                "large",
                f"sum(x, axis={axis}) {dtype}, tall",
                f"sum(x, axis={axis})",
                {"x": Operand(tall, dtype, 0, 16, "whole")},
            )
    batch, channels, height, width = scale.image
    for how, image, channel in (
        ("channels first", scale.image, (channels, 1, 1)),
        ("channels last", (batch, height, width, channels), (channels,)),
    ):
        operands = {
            letter: Operand(shape, "float32")
            for letter, shape in zip("xms", (image, channel, channel), strict=True)
        }
        yield Row("large", f"(x - m) / s float32, images, {how}", "(x - m) / s", operands)


def searching(scale: Scale) -> Iterator[Row]:
    def row(what: str, how: str, counts: bool = True, **operands: Operand) -> Row:
        return Row("searching", f"{what} {how}", what, operands, counts)

    for size, n in (("100", 100), ("vector", scale.vector)):
        for dtype in ("float32", "float64", "int64"):
            distinct = Operand((n,), dtype, values="distinct")
            yield row("sort(x)", f"{dtype} {size}", x=distinct)
        for what in ("argsort(x, stable=True)", "argsort(x, stable=False)"):
            for dtype in ("float64", "int64"):
                yield row(what, f"{dtype} {size}", x=Operand((n,), dtype, values="distinct"))
        for dtype in ("float64", "int64"):
            yield row(
                "searchsorted(x, y)",
                f"{dtype} {size}",
                x=Operand((n,), dtype, high=n, values="sorted"),
                y=Operand((n,), dtype, high=n),
            )
        few = Operand((n,), "int64", high=min(n, 1000))
        yield row("unique_values(x)", f"int64 {size}", x=few)
    square = (scale.mid, scale.mid)
    for axis in (0, 1):
        yield row(f"sort(x, axis={axis})", "float64 mid", x=Operand(square, values="distinct"))

    for size, n in (("100", 100), ("long", scale.long)):
        index = Operand((n,), "int64", low=0, high=n)
        for dtype in ("float32", "float64"):
            yield row("take(x, i, axis=0)", f"{dtype} {size}", x=Operand((n,), dtype), i=index)
            yield row("x[i]", f"{dtype} {size}", x=Operand((n,), dtype), i=index)
    for size, n in (("10x10", 10), ("mid", scale.mid), ("large", scale.large)):
        full, index = (n, n), Operand((n,), "int64", low=0, high=n)
        mask = Operand(full, "bool")
        for axis in (0, 1):
            yield row(f"take(x, i, axis={axis})", f"float32 {size}", x=Operand(full, "float32"), i=index)
        yield row("x[i, j]", f"float64 {size}", x=Operand(full), i=index, j=index)
        for dtype in ("float32", "float64", "bool"):
            yield row("x[m]", f"{dtype} {size}", x=Operand(full, dtype), m=mask)
        yield row("x[m] = 0.0", f"float64 {size}", x=Operand(full), m=mask)
        yield row("nonzero(m)", size, m=mask)
        yield row("count_nonzero(m)", size, m=mask)
        yield row("x[:, ::2] = y", f"float64 {size}", x=Operand((n, 2 * n)), y=Operand(full))
    vector, matrix = Operand((100,)), Operand((10, 10))
    for what in ("x[2]", "x[1:50]", "x[::2]", "x[None, :]"):
        yield row(what, "float64 100", x=vector)
    for what in ("x[1]", "x[:, 1]", "x[1, 2]", "x[2:8, 3]"):
        yield row(what, "float64 10x10", x=matrix)
    yield row("x[1:50] = 1.5", "float64 100", x=vector)


def linalg(scale: Scale) -> Iterator[Row]:
    def row(what: str, dtype: str, how: str, *shapes: tuple[int, ...]) -> Row:
        operands = {letter: Operand(shape, dtype) for letter, shape in zip("xy", shapes, strict=True)}
        return Row("linalg", f"{what} {dtype}, {how}", what, operands)

    n = scale.matrix
    for dtype in ("float32", "float64"):
        yield row("x @ y", dtype, "square", (n, n), (n, n))
        yield row("x @ y.T", dtype, "square", (n, n), (n, n))
        yield row("x @ y", dtype, "matrix by vector", (n, n), (n,))
        yield row("x @ y", dtype, "batched", (n // 12, 64, 64), (n // 12, 64, 64))
        yield row("x @ y", dtype, "folded", (n // 12, n // 6, n // 3), (n // 3, n // 12))
        yield row("x @ y", dtype, "stretched", (n // 12, 32, 32), (1, 32, 32))
        yield row("x @ y", dtype, "thousands of 4x4", (scale.stack, 4, 4), (scale.stack, 4, 4))
        yield row("x @ y", dtype, "thousands of 4x4 by vectors", (scale.stack, 4, 4), (scale.stack, 4, 1))
        yield row("x @ y", dtype, "4x4", (4, 4), (4, 4))
        yield row("x @ y", dtype, "thin", (n * 10, 8), (8, 8))
        yield row("vecdot(x, y)", dtype, "rows", (n, n), (n, n))
        yield row("vecdot(x, y)", dtype, "of 100", (100,), (100,))
        yield row(
            "tensordot(x, y, axes=1)",
            dtype,
            "a stack by a matrix",
            (n // 24, n // 12, n // 6),
            (n // 6, n // 3),
        )
    yield row("x @ y", "complex128", "square", (n // 3, n // 3), (n // 3, n // 3))
    yield row("x @ y", "int64", "square", (n // 6, n // 6), (n // 6, n // 6))
    squares = {
        "4x4": (4, 4),
        "100x4x4": (100, 4, 4),
        "50x50": (50, 50),
        "square": (n // 4, n // 4),
        "large": (n, n),
    }
    for label, shape in squares.items():
        x, how = Operand(shape, values="definite"), f"float64, {label}"
        for name in ("inv", "det", "cholesky"):
            yield Row("linalg", f"{name}(x) {how}", f"linalg.{name}(x)", {"x": x})
        yield Row("linalg", f"solve(x, y) {how}", "linalg.solve(x, y)", {"x": x, "y": Operand(shape)})
        yield Row("linalg", f"qr(x) {how}", "linalg.qr(x)", {"x": x}, compared="magnitudes")
    for dtype in ("float32", "float64"):
        for how, shape in (("of 100", (100,)), ("rows", (n, n))):
            options = ", axis=1" if len(shape) > 1 else ""
            what = f"linalg.vector_norm(x{options})"
            yield Row("linalg", f"vector_norm(x{options}) {dtype}, {how}", what, {"x": Operand(shape, dtype)})
        for what in ("qr(x)", "svd(x, full_matrices=False)", "svdvals(x)"):
            x = Operand((10 * n, 40), dtype)
            yield Row("linalg", f"{what} {dtype}, tall", f"linalg.{what}", {"x": x}, compared="magnitudes")
