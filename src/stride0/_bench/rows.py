"""The rows of ``python -m stride0 bench``: a statement for each library, and the loop that limits it."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any, NamedTuple

__all__ = ["ROWS", "Row", "operands", "statement"]


class Row(NamedTuple):
    """
    A statement in the words of the standard, its operands, and its limit.

    The statement names `x` and `y` of `shape` and `dtype`, `row` (a row of `x` or `y`), `mask` (half True),
    `index` (1,000,000 positions), and functions of the library. `limit` is a kind of loop and its
    size: bytes of each operand, and for "fma" eight bytes for each multiplication.
    """

    group: str
    text: str
    shape: tuple[int, ...]
    dtype: str = "float64"
    limit: tuple[str, int] | None = None


MID, LARGE = (300, 300), (2000, 2000)
N, M = 8 * 300 * 300, 8 * 2000 * 2000
ROWS = (
    *(
        Row("10 elements", text, (10,), limit=("call", 0))
        for text in ("x + y", "x * 2.0", "x[2:5]", "sum(x)", "sin(x)")
    ),
    Row("300 x 300", "x + y", MID, limit=("add", N)),
    Row("300 x 300", "x + row", MID, limit=("copy", N)),
    Row("300 x 300", "sqrt(x)", MID, limit=("copy", N)),
    Row("300 x 300", "exp(x)", MID, limit=("copy", N)),
    Row("300 x 300", "where(mask, x, y)", MID, limit=("add", N)),
    Row("300 x 300", "sum(x)", MID, limit=("read", N)),
    Row("300 x 300", "sum(x, axis=0)", MID, limit=("read", N)),
    Row("300 x 300", "max(x, axis=1)", MID, limit=("read", N)),
    Row("300 x 300", "contiguous(x.mT)", MID, limit=("copy", N)),
    Row("2000 x 2000", "x + y", LARGE, limit=("add", M)),
    Row("2000 x 2000", "x + row", LARGE, limit=("copy", M)),
    Row("2000 x 2000", "exp(x)", LARGE, "float32", limit=("copy", M // 2)),
    Row("2000 x 2000", "sum(x, axis=1)", LARGE, limit=("read", M)),
    Row("2000 x 2000", "std(x)", LARGE, limit=("read", 2 * M)),
    Row("2000 x 2000", "cumulative_sum(x, axis=1)", LARGE, limit=("copy", M)),
    Row("search, linalg, fft", "sort(x)", (100_000,)),
    Row("search, linalg, fft", "take(x, index)", (1_000_000,)),
    Row("search, linalg, fft", "x @ y", (500, 500), limit=("fma", 8 * 500**3)),
    Row("search, linalg, fft", "x @ row", (1000, 1000), limit=("read", 8 * 1000**2)),
    # A transform of n = 2**16 complex numbers takes 5 n log2(n) additions and multiplications.
    Row(
        "search, linalg, fft",
        "fft.fft(x)",
        (1 << 16,),
        "complex128",
        limit=("fma", 8 * 5 * 16 * (1 << 16) // 2),
    ),
)

# Names of the statements' functions in each library.
SPELLED = {
    "stride0": {"contiguous": "strided.contiguous"},
    "numpy": {"cumulative_sum": "cumsum", "contiguous": "ascontiguousarray"},
    "torch": {"cumulative_sum": "cumsum", "max": "amax", "contiguous": "Tensor.contiguous"},
    "jax.numpy": {"contiguous": "copy"},
}


def operands(row: Row, name: str, library: Any) -> dict[str, Any]:
    """The operands of a row as arrays of a library; all libraries get the same values."""
    import numpy

    random = numpy.random.default_rng(7)
    x, y = (random.uniform(0.5, 2.0, row.shape).astype(row.dtype) for _ in "xy")
    values = {"x": x, "y": y, "row": x[-1:] if x.ndim == 1 else y[0], "mask": x > 1.25}
    if "index" in row.text:
        values["index"] = random.integers(0, x.size, 1_000_000)
    if name == "numpy":
        return values
    convert = library.tensor if name == "torch" else lambda array: library.asarray(array, copy=True)
    return {letter: convert(array) for letter, array in values.items()}


def statement(row: Row, name: str, library: Any) -> tuple[str, dict[str, Any]]:
    """The statement of a row for a library, and a dict of its names."""
    names = operands(row, name, library)
    for word in re.findall(r"[a-z_]+(?=[(.])", row.text):
        if word not in names:
            names[word] = attrgetter(SPELLED.get(name, {}).get(word, word))(library)
    # JAX returns before a result is computed.
    return (f"({row.text}).block_until_ready()" if name == "jax.numpy" else row.text), names
