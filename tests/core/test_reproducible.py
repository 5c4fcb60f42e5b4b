"""`reproducible`: every public function has the same bits in each process, or raises ReproducibilityError.

Processes differ by instruction set and number of threads; `support/machine_bits.py` calls the functions.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import machine_bits
import pytest

import stride0 as xp
from stride0._core.kernels import _dispatch

PROGRAM = pathlib.Path(machine_bits.__file__)
SETS = [name for name in reversed(_dispatch.BUILDS) if name in _dispatch.supported()]
FULL = [(name, threads, rows) for rows in (5, 40, 150) for name in SETS for threads in (1, 2, 8)]
QUICK = [(SETS[0], 1, 40), (SETS[-1], 2, 40)]


def reported(name: str, threads: int, rows: int) -> dict[str, str]:
    environment = {**os.environ, "STRIDE0_ISA": name, "STRIDE0_NUM_THREADS": str(threads)}
    command = [sys.executable, str(PROGRAM), str(rows), "7"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_every_public_function(request: pytest.FixtureRequest) -> None:
    first: dict[int, dict[str, str]] = {}
    for name, threads, rows in FULL if request.config.getoption("full") else QUICK:
        found = reported(name, threads, rows)
        known = first.setdefault(rows, found)
        different = [key for key, value in found.items() if known[key] != value]
        assert not different and found.keys() == known.keys(), (name, threads, rows, different)
        hashes = [value for value in found.values() if len(value) == 16]
        assert len(hashes) > 700, "too few calls succeed"


def test_refused_functions() -> None:
    """Each function that a library computes is refused, and a block within the mode permits it."""
    found = machine_bits.report(40, 7)
    refused = {name for name, value in found.items() if value == machine_bits.REFUSED}
    assert not {name for name in refused if name.startswith("linalg.")}
    assert {"special.j0", "special.betainc"} <= refused
    with xp.reproducible(), xp.reproducible(False):
        assert xp.special.j0(xp.asarray([0.0])).tolist() == [1.0]
    with xp.reproducible(), pytest.raises(xp.ReproducibilityError, match=r"^histogram: NumPy") as caught:
        xp.histogram(xp.ones(3), "auto")
    assert caught.value.accepts.startswith(
        "write bins as an integer, or write `with stride0.reproducible(False):`"
    )
