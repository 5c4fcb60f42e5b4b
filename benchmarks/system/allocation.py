"""The cost of fresh memory: results into cached blocks, fresh blocks, and existing memory.

The columns alternate in one process. `fresh` is stride0 with limit 0, which caches nothing; `out=` is NumPy
writing to an existing array, the fastest possible.
"""

from __future__ import annotations

import timeit
from typing import Any

from benchmarks.common.cases import Operand, make
from benchmarks.common.machine import limit_threads, load
from benchmarks.common.tables import heading, line, parser, write_json
from benchmarks.common.timing import interleave, ratio, show

TITLE = "What fresh memory costs"

# statement, and for NumPy the same with an existing result (`o`), if it has one
STATEMENTS = {
    "a + b": "np.add(a, b, out=o)",
    "a * b + c": "np.multiply(a, b, out=o); np.add(o, c, out=o)",
    "a * b + c * a - b": "",
    "sqrt(a)": "np.sqrt(a, out=o)",
    "zeros": "",
    "zeros, then += a": "o[...] = 0; o += a",
}
SIDES = (30, 100, 300, 700, 1000, 1600, 3200)


def main() -> None:
    command = parser(TITLE, rounds=15, only="statements")
    command.add_argument("--sides", nargs="+", type=int, default=SIDES, metavar="N")
    options = command.parse_args()
    limit_threads(options.threads)
    libraries = load(None)
    columns = ["stride0", "fresh", "numpy", "out=", *(["torch"] if "torch" in libraries else [])]
    print(f"## {TITLE}\n\nfloat32, n * n elements; medians (and quartiles) of {options.rounds} rounds.\n")
    print(heading(["statement", "n", *columns, "numpy / stride0"]), flush=True)
    rows = []
    for n in options.sides:
        for statement, into in STATEMENTS.items():
            if options.k not in statement:
                continue
            timings = interleave(statement, timers(libraries, columns, n, statement, into), options.rounds)
            gain = ratio(timings["numpy"], timings["stride0"])
            cells = [show(timings.get(column)) for column in columns]
            print(line([statement, n, *cells, f"{gain:.2f}"]), flush=True)
            found = {column: timing.quartiles for column, timing in timings.items()}
            rows.append({"n": n, "statement": statement, "quartiles": found, "numpy / stride0": gain})
    write_json(options.json, {"title": TITLE, "threads": options.threads, "rows": rows})


def timers(
    libraries: dict[str, Any], columns: list[str], n: int, statement: str, into: str
) -> dict[str, timeit.Timer]:
    memory = libraries["stride0"].memory
    out = {}
    for column in columns:
        name = {"fresh": "stride0", "out=": "numpy"}.get(column, column)
        library = libraries[name]
        names = {
            letter: make(Operand((n, n), "float32"), name, library, seed=ord(letter)) for letter in "abco"
        }
        names |= {"xp": library, "np": libraries["numpy"], "memory": memory, "n": n}
        code = {
            "sqrt(a)": "xp.sqrt(a)",
            "zeros": "xp.zeros((n, n), dtype=xp.float32)",
            "zeros, then += a": "z = xp.zeros((n, n), dtype=xp.float32); z += a",
        }.get(statement, statement)
        if column == "out=":
            if not into:
                continue
            code = into
        limit = "0" if column == "fresh" else "None"
        setup = "; ".join(
            [f"names['memory'].set_limit({limit})", *(f"{letter} = names['{letter}']" for letter in names)]
        )
        out[column] = timeit.Timer(code, setup, globals={"names": names})
    return out
