"""The time of an exchange by DLPack: in C by the functions of the types, in Python by `from_dlpack`."""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import sysconfig
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common.machine import PEERS, ROOT, limit_threads, load
from benchmarks.common.tables import heading, line, parser, write_json

TITLE = "Exchange by DLPack"
HEADERS = ROOT / "src" / "stride0" / "_core" / "exchange"
COUNT = 20_000
SHAPES = ((3,), (4, 5), (2, 3, 4, 5), (2, 1, 2, 1, 2, 1))


def compiled() -> Any:
    """Return the loops in C; they need a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("a C compiler is needed")
    library = Path(tempfile.mkdtemp()) / "dlpack_loops.so"
    includes = [f"-I{HEADERS}", f"-I{sysconfig.get_path('include')}"]
    source = str(Path(__file__).with_name("dlpack_loops.c"))
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", *includes, "-o", str(library), source], check=True)
    loops = ctypes.PyDLL(str(library))
    loops.exchange.restype = ctypes.c_double
    loops.exchange.argtypes = (ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_int)
    return loops


def by_statement(take: Callable[[Any], Any], x: Any) -> float:
    return timeit.timeit(lambda: take(x), number=COUNT) / COUNT


def cases(modules: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Callable[[], float]]:
    """Return the timed functions, which return the seconds of one exchange."""
    loops = compiled()
    arrays = {name: module.ones(shape) for name, module in modules.items()}
    ours = arrays["stride0"]
    found: dict[str, Callable[[], float]] = {}
    for name, x in arrays.items():
        if hasattr(type(x), "__dlpack_c_exchange_api__"):
            for which, what in enumerate(("export and delete", "borrow", "export and import")):
                found[f"C: {name}, {what}"] = lambda x=x, w=which: loops.exchange(x, x, w, COUNT)
            if name != "stride0":
                found[f"C: stride0 to {name}"] = lambda x=x: loops.exchange(ours, x, 2, COUNT)
                found[f"C: {name} to stride0"] = lambda x=x: loops.exchange(x, ours, 2, COUNT)
    for name, x in arrays.items():
        for target, module in modules.items():
            if name != target:
                take = module.from_dlpack
                found[f"Python: {target}.from_dlpack of {name}"] = lambda t=take, x=x: by_statement(t, x)
    return found


def main() -> None:
    options = parser(TITLE, rounds=9, only="exchanges", threads=False).parse_args()
    limit_threads(1)
    modules = load(None, PEERS)
    print(f"## {TITLE}\n\nNanoseconds of one exchange, median of {options.rounds} rounds.\n")
    rows: dict[str, list[float]] = {}
    for shape in SHAPES:
        timed = {name: run for name, run in cases(modules, shape).items() if options.k in name}
        taken: dict[str, list[float]] = {name: [] for name in timed}
        for _ in range(options.rounds):
            for name, run in timed.items():
                taken[name].append(run() * 1e9)
        for name, values in taken.items():
            rows.setdefault(name, []).append(statistics.median(values))
    print(heading(["exchange", *map(str, SHAPES)]))
    for name, figures in rows.items():
        print(line([name, *(f"{figure:.0f}" for figure in figures)]))
    write_json(options.json, {"title": TITLE, "rounds": options.rounds, "shapes": SHAPES, "rows": rows})
