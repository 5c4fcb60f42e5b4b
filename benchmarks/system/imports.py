"""The time of `import` in fresh interpreters, libraries alternating."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from benchmarks.common.machine import OURS, YARDSTICK
from benchmarks.common.tables import heading, line, parser, write_json
from benchmarks.common.timing import Timing, ratio, show

TITLE = "Import time"
_IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def main() -> None:
    command = parser(TITLE, rounds=25, threads=False)
    command.add_argument("--libraries", nargs="+", default=[OURS, YARDSTICK], metavar="NAME")
    options = command.parse_args()
    missing = [name for name in options.libraries if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}")

    libraries = list(dict.fromkeys([*options.libraries, YARDSTICK]))
    for name in libraries:
        seconds(name)  # one untimed run: bytecode is compiled, files are read from disk
    taken: dict[str, list[float]] = {name: [] for name in libraries}
    for _ in range(options.rounds):
        for name in libraries:
            taken[name].append(seconds(name))
    timings = {name: Timing(values) for name, values in taken.items()}

    print(
        f"## {TITLE}\n\nTime of the import statement in a fresh interpreter, {options.rounds} rounds: median"
    )
    print(f"(lower to upper quartile). Ratio: median over the rounds of time / {YARDSTICK}'s time.\n")
    print(heading(["library", "time", f"/ {YARDSTICK}"]))
    rows = {}
    for name, timing in timings.items():
        rows[name] = {"quartiles": timing.quartiles, "ratio": ratio(timing, timings[YARDSTICK])}
        print(line([name, show(timing), f"{rows[name]['ratio']:.2f}"]))
    write_json(options.json, {"title": TITLE, "rounds": options.rounds, "rows": rows})


def seconds(name: str) -> float:
    command = [sys.executable, "-c", _IMPORT.format(name)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
