"""The data types and their promotion: the single place for these facts.

Thirteen are the standard's. Storage dtypes follow: their elements have fewer bits than the dtype of their
computations. They are cast to it before each operation, and each result is rounded once. Their only kernels
are casts.

Standard library only, since the build loads this file by its path (`_core/generators/`), before the
package exists, and `_core/memory/dtype.pyx` fills its C tables from it when it is imported.
"""

# No `from __future__ import annotations`: `NamedTuple` would compile the strings at every import.
from typing import Final, NamedTuple


class Row(NamedTuple):
    """Facts about a data type."""

    name: str
    kind: str  # in the standard's words
    letter: str  # the key of kernel bodies in the operation table
    itemsize: int  # bytes
    ctype: str  # as the generated kernels spell it
    format: str  # as PEP 3118 spells it; "" if it has no letter
    # For a storage dtype: the name of the dtype of its computations, which is float32.
    # `math/storage_dtypes.h` has its conversions `<name>_to_f32` and `f32_to_<name>`.
    arithmetic: str = ""
    # Whether that header also converts whole runs: `<name>_run_to_f32`, `f32_run_to_<name>`.
    run: bool = False
    # Bits of the fraction and largest exponent, for real floating-point dtypes.
    fraction: int = 0
    exponent: int = 0
    dlpack: int = -1  # DLPack's code, if it is not the kind's
    numpy: str = "numpy"  # the module that has its NumPy dtype
    # Whether its arrays are usually so large that kernels with non-temporal stores pay.
    streamed: bool = False


# The order is the order of the dtype codes in the core. New rows go to the end.
ROWS: Final = (
    Row("bool", "bool", "b", 1, "uint8_t", "?"),
    Row("int8", "signed integer", "i", 1, "int8_t", "b"),
    Row("int16", "signed integer", "i", 2, "int16_t", "h"),
    Row("int32", "signed integer", "i", 4, "int32_t", "i"),
    Row("int64", "signed integer", "i", 8, "int64_t", "l", streamed=True),
    Row("uint8", "unsigned integer", "u", 1, "uint8_t", "B"),
    Row("uint16", "unsigned integer", "u", 2, "uint16_t", "H"),
    Row("uint32", "unsigned integer", "u", 4, "uint32_t", "I"),
    Row("uint64", "unsigned integer", "u", 8, "uint64_t", "L", streamed=True),
    Row("float32", "real floating", "f", 4, "float", "f", fraction=23, exponent=127, streamed=True),
    Row("float64", "real floating", "f", 8, "double", "d", fraction=52, exponent=1023, streamed=True),
    Row("complex64", "complex floating", "c", 8, "float", "Zf", streamed=True),
    Row("complex128", "complex floating", "c", 16, "double", "Zd", streamed=True),
    Row("float16", "real floating", "f", 2, "uint16_t", "e", "float32", run=True, fraction=10, exponent=15),
    Row(
        "bfloat16",
        "real floating",
        "f",
        2,
        "uint16_t",
        "",
        "float32",
        fraction=7,
        exponent=127,
        dlpack=4,
        numpy="ml_dtypes",
    ),
)

CODES: Final = {row.name: code for code, row in enumerate(ROWS)}

# The dtypes with kernels, which are the dtypes of the standard.
KERNEL_ROWS: Final = tuple(row for row in ROWS if not row.arithmetic)


def promote(name1: str, name2: str) -> str:
    """Name of the dtype to which two dtypes promote.

    By the standard's table, or by NumPy's rules for pairs that the standard leaves out: an integer and a
    floating dtype, a signed integer and uint64, bool and any other dtype.

    References
    ----------
    Array API standard 2025.12, "Type Promotion Rules".
    """
    if name1 == name2:
        return name1
    first, second = sorted(
        (ROWS[CODES[name1]], ROWS[CODES[name2]]), key=lambda row: "biufc".index(row.letter)
    )
    pair = first.letter + second.letter
    if first.letter == "b":
        return second.name
    if pair in ("ii", "uu", "cc"):
        return first.name if first.itemsize > second.itemsize else second.name
    if pair == "ff":
        if first.arithmetic and second.arithmetic:
            # Neither storage dtype need hold the other, but the dtype of their computations holds both.
            return promote(first.arithmetic, second.arithmetic)
        return first.name if first.itemsize > second.itemsize else second.name
    if pair == "iu":
        if first.itemsize > second.itemsize:
            return first.name
        return f"int{16 * second.itemsize}" if second.itemsize < 8 else "float64"
    if pair == "fc":
        single = "float32" in (first.name, first.arithmetic) and second.name == "complex64"
        return "complex64" if single else "complex128"
    # An integer with a floating dtype: the smallest dtype that holds both. float32 holds integers of 16 bits;
    # a storage dtype holds integers of 8 bits, as in NumPy.
    if second.arithmetic:
        return second.name if first.itemsize == 1 else promote(first.name, second.arithmetic)
    precise = first.itemsize > 2 or second.name in ("float64", "complex128")
    if second.letter == "f":
        return "float64" if precise else "float32"
    return "complex128" if precise else "complex64"


def check() -> None:
    """Check that sizes are consistent and that promotion is symmetric and closed."""
    assert len({row.name for row in ROWS}) == len(ROWS), "names are unique"
    for row in ROWS:
        bits = row.name.partition("_")[0].lstrip("abcdefghijklmnopqrstuvwxyz")
        assert row.name == "bool" or int(bits) == 8 * row.itemsize, row
        assert bool(row.fraction) == bool(row.exponent) == (row.letter == "f"), row
        assert row.arithmetic in ("", "float32"), row
        for other in ROWS:
            assert promote(row.name, other.name) == promote(other.name, row.name), (row, other)
            assert promote(row.name, other.name) in CODES
