"""The thirteen data types of the standard and how they combine: the one place for these facts.

Standard library only, since the build loads this file by its path (`_core/build/`), before the
package exists, and `_core/dtype.pyx` fills its C tables from it when it is imported.
"""

# No annotations from `__future__` here: `NamedTuple` compiles those that are strings, at every import.
from typing import Final, NamedTuple


class Row(NamedTuple):
    """What is known of one data type."""

    name: str
    kind: str  # the standard's word
    letter: str  # the key of kernel bodies in the operation table
    itemsize: int  # bytes
    ctype: str  # as the generated kernels spell it
    format: str  # as PEP 3118 spells it


# The order is the order of the dtype codes in the core.
ROWS: Final = (
    Row("bool", "bool", "b", 1, "uint8_t", "?"),
    Row("int8", "signed integer", "i", 1, "int8_t", "b"),
    Row("int16", "signed integer", "i", 2, "int16_t", "h"),
    Row("int32", "signed integer", "i", 4, "int32_t", "i"),
    Row("int64", "signed integer", "i", 8, "int64_t", "l"),
    Row("uint8", "unsigned integer", "u", 1, "uint8_t", "B"),
    Row("uint16", "unsigned integer", "u", 2, "uint16_t", "H"),
    Row("uint32", "unsigned integer", "u", 4, "uint32_t", "I"),
    Row("uint64", "unsigned integer", "u", 8, "uint64_t", "L"),
    Row("float32", "real floating", "f", 4, "float", "f"),
    Row("float64", "real floating", "f", 8, "double", "d"),
    Row("complex64", "complex floating", "c", 8, "float", "Zf"),
    Row("complex128", "complex floating", "c", 16, "double", "Zd"),
)

CODES: Final = {row.name: code for code, row in enumerate(ROWS)}


def promote(name1: str, name2: str) -> str:
    """
    Name of the dtype that two dtypes combine to.

    The standard's table where it has an entry; NumPy's where it has none (an integer with a floating
    dtype, a signed 64-bit with an unsigned 64-bit integer, bool with anything).

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
    if pair in ("ii", "uu", "ff", "cc"):
        return first.name if first.itemsize > second.itemsize else second.name
    if pair == "iu":
        if first.itemsize > second.itemsize:
            return first.name
        return f"int{16 * second.itemsize}" if second.itemsize < 8 else "float64"
    if pair == "fc":
        return "complex64" if first.name == "float32" and second.name == "complex64" else "complex128"
    # An integer with a floating dtype: the least one that holds both, where 16 bits fit a float32.
    precise = first.itemsize > 2 or second.name in ("float64", "complex128")
    if second.letter == "f":
        return "float64" if precise else "float32"
    return "complex128" if precise else "complex64"


def check() -> None:
    """Check what the rest relies on: sizes, and that promotion is symmetric and closed."""
    assert len({row.name for row in ROWS}) == len(ROWS), "names are unique"
    for row in ROWS:
        bits = "".join(ch for ch in row.name if ch.isdigit())
        assert row.name == "bool" or int(bits) == 8 * row.itemsize, row
        for other in ROWS:
            assert promote(row.name, other.name) == promote(other.name, row.name), (row, other)
            assert promote(row.name, other.name) in CODES
