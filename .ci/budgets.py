"""Measures the cost of build and tests, and compares it with the limits of budgets.toml.

    budgets.py FIGURES run NAME COMMAND...   runs a command, and adds its processor time
    budgets.py FIGURES wheel FILE            adds the size of a wheel
    budgets.py FIGURES import PYTHON         adds the instructions of `import stride0`
    budgets.py FIGURES check                 adds the lines of src, prints the table, fails above a limit

FIGURES is a file with a line for each figure. Processor time includes all processes of the command. It is
scaled to the machine of budgets.toml by the time that a reference takes to compile here.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = tomllib.loads((ROOT / ".ci" / "budgets.toml").read_text(encoding="utf-8"))
REFERENCE = BUDGETS.pop("reference")["seconds"]


def add(figures: Path, name: str, value: float) -> None:
    if name not in BUDGETS:
        raise SystemExit(f"budgets: budgets.toml has no limit for {name}")
    with figures.open("a", encoding="utf-8") as file:
        file.write(f"{name} {value}\n")


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reference() -> float:
    """Return the processor time of compiling a fixed program, the shorter of two."""
    loop = (
        "double f{0}(double *x, const double *y, long n) {{ double s = {0}; for (long i = 0; i < n; i++) "
        "{{ if (y[i] > s) x[i] = y[i] * s + x[n - i]; else s += x[i] / (y[i] - {0}); }} return s; }}\n"
    )
    text = "".join(loop.format(k) for k in range(400))
    compiler = (os.environ.get("CC") or "cc").split()
    found = []
    for _ in range(2):
        before = processor_time()
        command = [*compiler, "-O3", "-x", "c", "-c", "-o", os.devnull, "-"]
        subprocess.run(command, input=text, text=True, check=True)
        found.append(processor_time() - before)
    return min(found)


def instructions(python: str, code: str) -> float:
    """Return how many instructions Python executes for a program, in millions."""
    # Hashes of strings change the number; valgrind knows no AVX-512.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "STRIDE0_ISA": "baseline"}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", python, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        raise SystemExit(f"budgets: valgrind failed:\n{done.stderr}")
    return int(found[1]) / 1e6


def lines_of_source() -> int:
    kinds = {".py", ".pyi", ".pyx", ".pxd", ".pxi", ".in", ".h", ".c", ".build"}
    files = [path for path in (ROOT / "src").rglob("*") if path.suffix in kinds]
    return sum(path.read_bytes().count(b"\n") for path in files)


def check(figures: Path) -> int:
    """Print the table; return 1 if a figure is above its limit or missing."""
    add(figures, "lines", lines_of_source())
    lines = figures.read_text(encoding="utf-8").splitlines()
    found = {name: float(value) for name, value in map(str.split, lines)}
    slower = reference() / REFERENCE
    print(f"this machine takes {slower:.2f} times as long as the machine of budgets.toml")
    failed = False
    for name, budget in BUDGETS.items():
        value, limit = found.get(name), budget["limit"]
        if value is not None and budget["unit"] == "s":
            value /= slower
        over = value is None or value > limit
        failed |= over
        shown = "not measured" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
        verdict = "OVER" if over else "ok"
        print(f"{shown:>14} of {limit:>10,} {budget['unit']:22}{verdict:6}{budget['what']}")
    return int(failed)


def main(path: str, action: str, *arguments: str) -> int:
    figures = Path(path)
    if action == "run":
        name, *command = arguments
        code = subprocess.run(command).returncode
        add(figures, name, processor_time())
        return code
    if action == "wheel":
        add(figures, "wheel", Path(arguments[0]).stat().st_size / 1e6)
    elif action == "import":
        if shutil.which("valgrind") is None:
            raise SystemExit("budgets: instructions are counted by valgrind: apt-get install valgrind")
        python = arguments[0]
        add(figures, "import", instructions(python, "import stride0") - instructions(python, "pass"))
    elif action == "check":
        return check(figures)
    else:
        raise SystemExit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
