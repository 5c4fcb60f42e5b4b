"""The number of instructions of a small call, counted by valgrind: the same in every run.

    python -m benchmarks instructions                                  # of the stride0 of this Python
    python -m benchmarks instructions BEFORE/bin/python AFTER/bin/python

The time of a small call varies more between runs than by most changes of the code. The number of instructions
does not vary. The kernels are the baseline's, since valgrind does not know AVX-512.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common.tables import heading, line

CALLS = 400
# At each call of getppid valgrind writes its counts and starts again.
MARK = "getppid"

SETUP = """
import numpy as np
import stride0 as xp
from stride0 import autograd
x = xp.asarray([1.0, 2.0, 3.0]); y = xp.asarray([4.0, 5.0, 6.0]); i = xp.asarray([2, 0])
m = xp.reshape(xp.arange(6.0), (2, 3)); a = np.ones(3)
b = x > 1.5
g = autograd.grad(lambda x: xp.sum(xp.sin(x) * x))
"""
STATEMENTS = (
    "x + y",
    "x * 2.0",
    "m + x",
    "xp.sin(x)",
    "x += y",
    "xp.sum(m, axis=1)",
    "xp.max(x)",
    "x[1]",
    "m[:, 1:]",
    "x[i]",
    "x[b]",
    "x[1] = 2.0",
    "xp.where(b, x, y)",
    "xp.zeros(3)",
    "xp.asarray(a)",
    "xp.reshape(m, (3, 2))",
    "xp.astype(x, xp.float32)",
    "xp.concat([x, y])",
    "m @ x",
    "xp.sort(x)",
    "float(x[0])",
    "np.asarray(x)",
    "g(x)",
)

PROGRAM = f"""
import gc, os
{SETUP}
gc.disable()
for statement in {("pass", *STATEMENTS)!r}:
    exec("def call(calls):\\n    global x\\n    for _ in calls:\\n        " + statement)
    call(range(50))
    os.{MARK}()
    call(range({CALLS}))
    os.{MARK}()
"""


def counted(python: str) -> dict[str, float]:
    """Return the instructions of each statement; the instructions of an empty loop are subtracted."""
    # Hashes of strings change the number.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "STRIDE0_ISA": "baseline", "STRIDE0_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--dump-before={MARK}",
            f"--callgrind-out-file={folder}/out",
        ]
        done = subprocess.run(
            [*command, python, "-c", PROGRAM], capture_output=True, text=True, env=environment, cwd=folder
        )
        if done.returncode:
            raise SystemExit(f"instructions: {python} under valgrind:\n{done.stderr}")
        parts = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in parts]
    totals = [int(re.findall(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)[-1]) for text in texts]
    # The count up to the first mark, then a count for each loop, each followed by one for the code before the
    # next loop.
    loops = totals[1 : 2 * len(STATEMENTS) + 2 : 2]
    return {name: (count - loops[0]) / CALLS for name, count in zip(STATEMENTS, loops[1:], strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON", help="one or two")
    pythons = parser.parse_args().pythons
    if len(pythons) > 2:
        parser.error(f"{len(pythons)} builds, give one or two")
    found = [counted(python) for python in pythons]
    print(heading(["statement", *(["before", "after", "ratio"] if len(found) == 2 else ["instructions"])]))
    for name in STATEMENTS:
        counts = [each[name] for each in found]
        ratio = [f"{counts[1] / counts[0]:.3f}"] if len(counts) == 2 else []
        print(line([f"`{name}`", *(f"{count:,.0f}" for count in counts), *ratio]))
