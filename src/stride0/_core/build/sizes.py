"""Writes the sizes of the tables and of blocks, for C. Run by the build.

Everything that has one place for each operation, reduction or dtype takes its size from here, so that a row
more is a row more everywhere.
"""

from __future__ import annotations

import pathlib
import sys

from common import BLOCK, LANES, ROWS, STRIP, operations

SIZES = {
    "DTYPES": len(ROWS),
    "OPS": len(operations.OPS),
    "REDUCTIONS": len(operations.REDUCTIONS),
    "SCANS": len(operations.SCANS),
    "ARG_REDUCTIONS": len(operations.ARG_REDUCTIONS),
    "LANES": LANES,
    "BLOCK": BLOCK,
    "STRIP": STRIP,
}

if __name__ == "__main__":
    lines = [f"#define S0_{name} {size}\n" for name, size in SIZES.items()]
    pathlib.Path(sys.argv[1]).write_text("".join(lines), encoding="utf-8")
