"""Writes sizes of the tables and of blocks, and codes and the stub of the dtypes. Run by the build.

Every array with one item per operation, reduction or dtype takes its size from here, so that a new row
extends all of them.
"""

from __future__ import annotations

import pathlib
import sys

from common import ACCUMULATORS, BLOCK, CODE, ROWS, STRIP, dtypes, operations
from operators import filled

SIZES = {
    "DTYPES": len(ROWS),
    "OPS": len(operations.OPS),
    "PAIRS": len(operations.PAIRS),
    "REDUCTIONS": len(operations.REDUCTIONS),
    "SCANS": len(operations.SCANS),
    "ARG_REDUCTIONS": len(operations.ARG_REDUCTIONS),
    "ACCUMULATORS": ACCUMULATORS,
    "BLOCK": BLOCK,
    "STRIP": STRIP,
}


def storage_dtypes() -> str:
    """The conversions of storage dtypes to and from float32, by their codes."""
    stored = [row for row in ROWS if row.arithmetic]
    reads = [
        f"    case {CODE[row.name]}: return {row.name}_to_f32(*(const {row.ctype} *)x);\n" for row in stored
    ]
    writes = [
        f"    case {CODE[row.name]}: *({row.ctype} *)out = f32_to_{row.name}(x); break;\n" for row in stored
    ]
    return (
        "static inline float s0_read_stored(const char *x, int code)\n{\n    switch (code) {\n"
        + "".join(reads)
        + "    default: return 0;\n    }\n}\n\n"
        + "static inline void s0_write_stored(float x, int code, char *out)\n{\n    switch (code) {\n"
        + "".join(writes)
        + "    }\n}\n"
    )


def codes() -> str:
    """The codes of the dtypes, and facts about each: its computation dtype and its promotions."""
    names = "".join(f"    S0_{row.name.upper()} = {code},\n" for code, row in enumerate(ROWS))
    names += f"    S0_LARGEST_ITEM = {max(row.itemsize for row in ROWS)},\n"
    facts = {
        "signed char S0_ARITHMETIC": [CODE[row.arithmetic or row.name] for row in ROWS],
        "signed char S0_ITEMSIZE": [row.itemsize for row in ROWS],
        "char S0_LETTER": [f"'{row.letter}'" for row in ROWS],
    }
    tables = "".join(
        f"static const {name}[S0_DTYPES] = {{{', '.join(map(str, column))}}};\n"
        for name, column in facts.items()
    )
    promoted = "".join(
        f"    {{{', '.join(str(CODE[dtypes.promote(row.name, other.name)]) for other in ROWS)}}},\n"
        for row in ROWS
    )
    tables += f"static const signed char S0_PROMOTE[S0_DTYPES][S0_DTYPES] = {{\n{promoted}}};\n"
    return (
        "#ifndef STRIDE0_DTYPES_H\n#define STRIDE0_DTYPES_H\n\n"
        '#include "storage_dtypes.h"\n#include "table_sizes.h"\n\n'
        f"enum {{\n{names}}};\n\n{tables}\n"
        f"{storage_dtypes()}\n#endif\n"
    )


if __name__ == "__main__":
    lines = [f"#define S0_{name} {size}\n" for name, size in SIZES.items()]
    pathlib.Path(sys.argv[1]).write_text("".join(lines), encoding="utf-8")
    pathlib.Path(sys.argv[2]).write_text(codes(), encoding="utf-8")
    stub = "".join(f"{row.name}: Final[DType]\n" for row in ROWS)
    listed = "".join(f'    "{row.name}",\n' for row in ROWS)
    stub += f'\n__all__ = [\n    "DType",\n{listed}]\n'
    pathlib.Path(sys.argv[3]).write_text(filled("memory/dtype.pyi.in", "@DTYPES@", stub), encoding="utf-8")
