"""Compare stride0 with the newest releases of libraries that compete with it, each in its own field.

The first run makes an environment, installs the clone and the newest release of each library in it, and
measures there. It names libraries that cannot be installed. `--with torch==2.13.0` installs another release.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import textwrap
import timeit
import venv
from pathlib import Path
from typing import Any

from benchmarks.common.machine import ROOT, environment
from benchmarks.common.tables import heading, line, parser, write_json
from benchmarks.common.timing import alternate, duration, geometric_mean
from benchmarks.peers.cases import CONVERT, LIBRARIES, ROWS, Row

OURS = "stride0"
INTRODUCTION = """\
This page compares stride0 with the newest releases of libraries that compete with it in one field each.
Measured on {date}, {where}, with {threads} thread(s) for every library: {versions}. The libraries of a
row ran in turn, in one process, on the same values, and their results agree. A time is the median of
{rounds} rounds. Compiled functions (Numba, `torch.compile`, `jax.jit`, CasADi) and plans (pyFFTW) were
made before the clock ran. The page is written by
"""
HEAD = """\
# Comparison with its peers

{introduction}

    python -m benchmarks peers --page docs/evidence/peers.md
"""


def main() -> int:
    command = parser(__doc__, rounds=15, only="rows")
    command.add_argument(
        "--environment", type=Path, default=ROOT / "build" / "peers", metavar="FOLDER", help="build/peers"
    )
    command.add_argument(
        "--with", nargs="+", default=[], dest="releases", metavar="SPEC", help="other releases"
    )
    command.add_argument("--page", type=Path, metavar="FILE", help="write the page of the documentation")
    command.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = command.parse_args()
    if options.measure:
        print(json.dumps(measured(options)))
        return 0
    python = installed(options.environment, options.releases)
    arguments = [
        "--threads",
        str(options.threads),
        "--rounds",
        str(options.rounds),
        "-k",
        options.k,
        "--measure",
    ]
    limits = {
        **environment(options.threads),
        "POLARS_MAX_THREADS": str(options.threads),
        "BLOSC_NTHREADS": str(options.threads),
    }
    done = subprocess.run(
        [python, "-m", "benchmarks", "peers", *arguments],
        env=limits,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    report = json.loads(done.stdout)
    print(text := page(report))
    write_json(options.json, report)
    if options.page:
        options.page.write_text(text, encoding="utf-8")
    return 1 if any(row["wrong"] for row in report["rows"]) else 0


def installed(folder: Path, releases: list[str]) -> Path:
    """Return the interpreter of the environment; make it and install the libraries if it does not exist."""
    python = folder.resolve() / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet"]
        chosen = {spec.partition("=")[0]: spec for spec in releases}
        subprocess.run([*install, str(ROOT)], check=True)
        for name, (_, package) in LIBRARIES.items():
            if package and subprocess.run([*install, chosen.get(package, package)], check=False).returncode:
                print(f"({name} cannot be installed)", file=sys.stderr)
    return python


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Measure in this process, which runs in the environment."""
    libraries = {}
    for name, (module, _) in LIBRARIES.items():
        if importlib.util.find_spec(module.partition(".")[0]):
            libraries[name] = importlib.import_module(module)
    if "torch" in libraries:
        libraries["torch"].set_num_threads(options.threads)
    packages = {name: LIBRARIES[name][0].partition(".")[0] for name in libraries}
    versions = {name: importlib.metadata.version(package) for name, package in packages.items()}
    rows = [
        measure(row, libraries, options.rounds) for row in ROWS if options.k in f"{row.group}: {row.name}"
    ]
    return {
        **{
            "date": datetime.date.today().isoformat(),
            "versions": versions,
            "rows": rows,
            "rounds": options.rounds,
        },
        **{"threads": options.threads, "python": platform.python_version(), "machine": processor()},
        "isa": libraries[OURS]._instruction_set,
    }


def processor() -> str:
    """The name of the processor and its cores."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def measure(row: Row, libraries: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Time a row in every library whose result agrees with the first one."""
    timers, found, expected = {}, {"group": row.group, "name": row.name, "wrong": {}}, None
    for name, statement in row.statements.items():
        if name not in libraries:
            continue
        try:
            names, text = prepared(row, name, libraries[name], statement)
            result = eval(text, names)
            result = numbers(result)
        except Exception as error:
            print(f"({name} cannot do {row.name}: {type(error).__name__}: {error})", file=sys.stderr)
            continue
        expected = result if expected is None else expected
        if not agree(result, expected, row.tolerance):
            found["wrong"][name] = "another result"
            continue
        setup = "; ".join(
            f"{local} = names[{local!r}]"
            for local in names
            if local.isidentifier() and local != "__builtins__"
        )
        timer = timeit.Timer(text, setup, globals={"names": names})
        timers[name] = lambda number, timer=timer: timer.timeit(number) / number
    samples, _ = alternate(timers, rounds, tries=1)
    return {**found, "seconds": {name: sorted(values)[len(values) // 2] for name, values in samples.items()}}


def prepared(
    row: Row, name: str, library: Any, statement: str | tuple[str, str]
) -> tuple[dict[str, Any], str]:
    """Return the names in a statement, after its preparation, and the statement."""
    import numpy

    preparation, text = ("", statement) if isinstance(statement, str) else statement
    random = numpy.random.default_rng(3)
    names: dict[str, Any] = {"lib": library, "np": numpy, "repeated": repeated}
    for letter, shape in row.shapes.items():
        values = random.uniform(0.1, 1.0, shape)
        if row.dtype == "complex128":
            values = values + 1j * random.uniform(0.1, 1.0, shape)
        names[letter] = eval(CONVERT.get(name, "x"), {"lib": library, "x": values})
    exec(preparation, names)
    return names, text


def repeated(f: Any, x: Any) -> Any:
    for _ in range(50):
        x = f(x)
    return x


def numbers(result: Any) -> Any:
    """A result as an array of NumPy, without axes of one element."""
    import numpy

    return numpy.squeeze(numpy.asarray(result))


def agree(result: Any, expected: Any, tolerance: float) -> bool:
    import numpy

    scale = float(numpy.max(numpy.abs(expected)))
    return result.shape == expected.shape and numpy.allclose(
        result, expected, rtol=tolerance, atol=tolerance * scale
    )


def page(report: dict[str, Any]) -> str:
    """Return the text of the page: a table and a sentence for each group."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    where = f"{report['machine']} (kernels {report['isa']}), Python {report['python']}"
    introduction = INTRODUCTION.format(**{**report, "versions": versions, "where": where})
    texts = [HEAD.format(introduction=textwrap.fill(introduction, 108))]
    for group in dict.fromkeys(row["group"] for row in report["rows"]):
        rows = [row for row in report["rows"] if row["group"] == group]
        names = list(dict.fromkeys(name for row in rows for name in row["seconds"]))
        table = [heading(["", *names, "speed as a multiple of the fastest peer's"])]
        ratios = []
        for row in rows:
            seconds = row["seconds"]
            peer = min((time, name) for name, time in seconds.items() if name != OURS)
            ratios.append((peer[0] / seconds[OURS], peer[1], row["name"]))
            cells = [duration(seconds[name]) if name in seconds else "" for name in names]
            table.append(line([row["name"], *cells, f"{ratios[-1][0]:.2f} ({peer[1]})"]))
        texts.append(f"## {group}\n\n{verdict(ratios)}\n\n" + "\n".join(table) + "\n")
    return "\n".join(texts)


def verdict(ratios: list[tuple[float, str, str]]) -> str:
    """A sentence that says who wins."""
    ahead = [name for ratio, _, name in ratios if ratio >= 1]
    mean = geometric_mean([ratio for ratio, _, _ in ratios])
    text = f"stride0 is the fastest in {len(ahead)} of {len(ratios)} rows. Its speed is "
    text += f"{mean:.2f} times the fastest peer's in the geometric mean."
    behind = [f"{peer} ({name})" for ratio, peer, name in ratios if ratio < 1]
    return text + (f" Faster peers: {'; '.join(behind)}." if behind else "")
