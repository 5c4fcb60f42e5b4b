"""Memory of broadcasting: growth of the peak of resident memory, compared with the size of the result.

Every measurement has a fresh process. On Linux the peak is reset before the statement runs, so growth is
exact up to some pages (including code and allocator); elsewhere it is a lower bound.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.common.cases import Operand, make
from benchmarks.common.machine import PEERS, ROOT, installed, limit_threads, peak, reset_peak, worker
from benchmarks.common.tables import heading, line, parser, write_json

TITLE = "What broadcasting allocates"
N = 4000
WARM_UP = 8  # run on small operands first, so that code loaded at first use does not count

Case = tuple[Callable[..., Any], Callable[[int], list[Operand]], int]

# name: the statement, its operands for a given n, and the bytes its result needs for each of n * n elements
CASES: dict[str, Case] = {
    "x[:, None] + y[None, :]": (
        lambda xp, x, y: x[:, None] + y[None, :],
        lambda n: [Operand((n,)), Operand((n,))],
        8,
    ),
    "matrix + row": (
        lambda xp, x, y: x + y,
        lambda n: [Operand((n, n)), Operand((n,))],
        8,
    ),
    "matrix + column, float32": (
        lambda xp, x, y: x + y,
        lambda n: [Operand((n, n), "float32"), Operand((n, 1), "float32")],
        4,
    ),
    "matrix.T + row": (
        lambda xp, x, y: x.T + y,
        lambda n: [Operand((n, n)), Operand((n,))],
        8,
    ),
    "int32 + float64": (
        lambda xp, x, y: x + y,
        lambda n: [Operand((n, n), "int32"), Operand((n, n))],
        8,
    ),
    "x * y + z": (  # the sum may be written over the product
        lambda xp, x, y, z: x * y + z,
        lambda n: [Operand((n, n))] * 3,
        8,
    ),
    "matrix += row": (
        lambda xp, x, y: x.__iadd__(y),
        lambda n: [Operand((n, n)), Operand((n,))],
        0,
    ),
    "broadcast_to(row, (n, n))": (
        lambda xp, x: xp.broadcast_to(x, (x.shape[0], x.shape[0])),
        lambda n: [Operand((n,))],
        0,
    ),
}


def main() -> None:
    command = parser(TITLE, only="statements", threads=False)
    command.add_argument("--libraries", nargs="+", metavar="NAME", help=f"default: installed ones of {PEERS}")
    command.add_argument("--measure", nargs=2, metavar=("LIBRARY", "CASE"), help=argparse.SUPPRESS)
    options = command.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return

    limit_threads(1)
    libraries = options.libraries or installed(PEERS)
    print(f"## {TITLE}\n\nMiB by which the peak of resident memory grew while the statement ran, n = {N};")
    print(
        "before them what the result needs, and last what stride0 says is the size of its result's storage.\n"
    )
    print(heading(["statement", "needed", *libraries, "storage"]), flush=True)
    rows = []
    for name, (_, _, needed) in CASES.items():
        if options.k not in name:
            continue
        found = {library: in_fresh_process(library, name) for library in libraries}
        storage = found.get("stride0", {}).get("storage")
        growth = [found[library]["growth"] for library in libraries]
        print(line([name, *map(mebibytes, [needed * N * N, *growth, storage])]), flush=True)
        rows.append({"case": name, "needed": needed * N * N, **found})
    write_json(options.json, {"title": TITLE, "n": N, "rows": rows})


def in_fresh_process(library: str, name: str) -> dict[str, int | None]:
    command = worker("memory", "--measure", library, name)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        print(f"({library} cannot do {name}: {reason})", file=sys.stderr)
        return {"growth": None, "storage": None}
    found: dict[str, int | None] = json.loads(done.stdout)
    return found


def measure(library: str, name: str) -> dict[str, int | None]:
    limit_threads(1)
    xp = importlib.import_module(library)
    statement, operands, _ = CASES[name]
    statement(xp, *(make(operand, library, xp) for operand in operands(WARM_UP)))
    arrays = [make(operand, library, xp) for operand in operands(N)]
    before = reset_peak()
    result = statement(xp, *arrays)
    growth = None if before is None else (peak() or 0) - before
    storage_nbytes = getattr(getattr(xp, "strided", None), "storage_nbytes", None)
    return {"growth": growth, "storage": storage_nbytes(result) if storage_nbytes else None}


def mebibytes(size: int | None) -> str:
    return "-" if size is None else f"{size / 2**20:.1f}"
