"""Benchmarks that are tables of statements, each timed in every library on operands of the same values."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.common.machine import JAX, PEERS, YARDSTICK, describe, limit_threads, load
from benchmarks.common.tables import Found, compare, parser, write_json

# Names of operations that differ between a peer and the standard.
SPELLED = {
    ("torch", "max"): "amax",
    **{
        (library, f"a{name}"): f"arc{name}"
        for library in ("numpy", "jax.numpy")
        for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")
    },
}


@dataclass(frozen=True)
class Operand:
    """
    How an array of a case is made: random values of `shape`, then a `view`, such as "[::2]".

    Or the array is stretched to a shape. The values are spread evenly from `low` to `high`.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    view: str = ""
    stretched: tuple[int, ...] = ()
    low: float = 1.0
    high: float = 100.0


@dataclass(frozen=True)
class Case:
    """A statement that is timed. It names `x`, `y` (the operands), and `f` (the library's `function`)."""

    name: str
    statement: str
    operands: Sequence[Operand]
    function: str = ""


def run(
    title: str,
    cases: Sequence[Case],
    summary: Callable[[Sequence[Found]], str] | None = None,
    peers: Sequence[str] = PEERS,
) -> None:
    """Parse the command line, time the cases, print a markdown table and the summary of its rows."""
    command = parser(title, rounds=25, only="cases")
    command.add_argument("--libraries", nargs="+", metavar="NAME", help=f"default: installed ones of {peers}")
    options = command.parse_args()
    limit_threads(options.threads)
    libraries = load(options.libraries, peers)
    print(f"## {title}\n")
    print(f"{describe(libraries)}; {options.threads} thread(s), {options.rounds} rounds.")
    print("Time: median (lower to upper quartile). Ratio: median over the rounds of time / NumPy's time.")

    def calls() -> Iterator[tuple[str, dict[str, Any]]]:
        for case in cases:
            if options.k in case.name:
                yield case.name, {name: timer(case, name, library) for name, library in libraries.items()}

    rows = compare("case", calls(), [*libraries], YARDSTICK, options.rounds)
    setting = {"libraries": describe(libraries), "threads": options.threads, "rounds": options.rounds}
    if summary is not None:
        print("\n" + summary(rows))
    write_json(options.json, {"title": title, **setting, "rows": rows})


def timer(case: Case, name: str, library: Any) -> timeit.Timer:
    names = names_of(case, name, library)
    # Local names, as in a user's function; and `x += y` could not assign to a global one.
    setup = "; ".join(f"{letter} = names['{letter}']" for letter in names)
    return timeit.Timer(case.statement, setup, globals={"names": names})


def names_of(case: Case, name: str, library: Any) -> dict[str, Any]:
    """Return the names in a statement, with operands of the same values in every library."""
    names: dict[str, Any] = {}
    for letter, operand in zip("xyz", case.operands, strict=False):
        names[letter] = make(operand, name, library, seed=ord(letter))
    if case.function:
        function = getattr(library, SPELLED.get((name, case.function), case.function))
        # JAX returns before the result is there.
        names["f"] = (lambda *x: function(*x).block_until_ready()) if name == JAX else function
    return names


def make(operand: Operand, name: str, library: Any, seed: int = 0) -> Any:
    import numpy

    values = numpy.random.default_rng(seed).uniform(operand.low, operand.high, operand.shape)
    # False throughout, or `any` would be done at the first True.
    array: Any = values > operand.high if operand.dtype == "bool" else values.astype(operand.dtype)
    if name == "torch":
        array = library.tensor(array)
    elif name != YARDSTICK:
        array = library.asarray(array, copy=True)  # in the library's own memory
    if operand.stretched:
        return library.broadcast_to(array, operand.stretched)
    return eval(f"array{operand.view}", {"array": array}) if operand.view else array
