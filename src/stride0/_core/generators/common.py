"""Common parts of the generators: tables, loop operands, and the text of loops.

Note [Layouts]
    A loop is written once per layout, so that the compiler sees constant strides and vectorises:
    elementwise 0 all contiguous; 1, 2 and 4 with operands of stride 0, whose value is read once per run;
    3 any strides, which pairs do not have; 5 every second element of each operand, into a contiguous result,
    which the loop of layout 3 calls (Note [Blockwise]). Reductions 0 a contiguous run into one accumulator,
    1 a strided one, 2 contiguous rows into a row of accumulators, 3 strided ones, 4 a contiguous run whose
    second operand has stride 0, which has a loop of its own only for sums of squared deviations.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
ARGUMENTS = "(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)"
ACCUMULATORS = 32
BLOCK = 4096
STRIP = 1024  # columns per strip of a loop over rows that keeps a value for each column

Row = Any  # a row of the dtype table, which is loaded by its path


def load(name: str) -> ModuleType:
    """Load a table by its path: the package itself cannot be imported before it is built."""
    spec = importlib.util.spec_from_file_location(name, PACKAGE / "_tables" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # Here and in the tests, not at every import.
    if hasattr(module, "check"):
        module.check()
    return module


operations = load("operations")
dtypes = load("dtypes")
ROWS = dtypes.ROWS
KERNEL_ROWS = dtypes.KERNEL_ROWS
CODE = dtypes.CODES

UNSIGNED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
# The type for unsigned arithmetic, in which C's promotion to (signed) int cannot overflow.
ARITHMETIC = {1: "unsigned int", 2: "unsigned int", 4: "uint32_t", 8: "uint64_t"}


def fill(expression: str, row: Row) -> str:
    """Replace the placeholders of Note [Bodies]."""
    signed = row.letter == "i"
    bits = 8 * row.itemsize
    top = f"((({UNSIGNED.get(row.itemsize, '')})1 << {bits - 1}) - 1)" if signed else f"(({row.ctype})-1)"
    low = f"(-({row.ctype}){top} - 1)" if signed else "0"
    for key, text in {
        "{t}": row.name if row.arithmetic else "f32" if row.ctype == "float" else "f64",
        "{T}": row.ctype,
        "{U}": UNSIGNED.get(row.itemsize, ""),
        "{W}": str(bits),
        "{MAX}": top,
        "{MIN}": low,
    }.items():
        expression = expression.replace(key, text)
    return expression


class _Bits:
    """A dtype row with only a width, for moves and selections."""

    def __init__(self, itemsize: int):
        self.itemsize = itemsize
        self.name = f"bits{8 * itemsize}"
        self.letter = "bits"
        self.arithmetic, self.run = "", False
        self.ctype = "s0_sixteen" if itemsize == 16 else UNSIGNED[itemsize]


BITS = {width: _Bits(width) for width in (1, 2, 4, 8, 16)}


class Operand:
    """How a loop reads or writes one operand of a dtype at one layout.

    'c'ontiguous, 'd'ouble stride, 's'calar, 'v'aried.
    """

    def __init__(self, index: int, row: Row, how: str, unsigned: bool = False, name: str | None = None):
        self.index, self.row, self.how, self.unsigned = index, row, how, unsigned
        self.memory = UNSIGNED[row.itemsize] if unsigned else row.ctype
        self.pointer = f"p{index}" if name is None else name
        self.complex = row.letter == "c"
        self.value = (
            "c128"
            if self.complex
            else "int"
            if row.letter == "b"
            else ARITHMETIC[row.itemsize]
            if unsigned
            else row.ctype
        )

    def step(self) -> str:
        return f"const Py_ssize_t s{self.index} = s[{self.index}];" if self.how == "v" else ""

    def start(self, base: str) -> str:
        return f"{self.memory} *{self.pointer} = ({self.memory} *)({base});"

    def at(self, i: str) -> str:
        """Pointer to element i of the run."""
        if self.how == "v":
            return f"(({self.memory} *)((char *){self.pointer} + ({i}) * s{self.index}))"
        if self.how == "s":
            return self.pointer
        return f"({self.pointer} + {'2 * ' if self.complex or self.how == 'd' else ''}({i}))"

    def load(self, i: str) -> str:
        place = self.at(i)
        if self.complex:
            return f"make_c({place}[0], {place}[1])"
        if self.row.letter == "b":
            return f"({place}[0] != 0)"
        return f"{place}[0]"

    def let(self, name: str, i: str) -> str:
        """The statement that names an element."""
        return f"const {self.value} {name} = {self.load(i)};"

    def store(self, i: str, value: str) -> list[str]:
        place = self.at(i)
        if self.complex:
            parts = f"{place}[0] = ({self.memory})z.re; {place}[1] = ({self.memory})z.im;"
            return [f"{{ const c128 z = {value}; {parts} }}"]
        return [f"{place}[0] = ({self.memory})({value});"]


def function(name: str, declarations: list[str], body: list[str], first: Sequence[str] = ()) -> str:
    """One loop with the signature of `s0_loop`, over the m runs (index j), after the statements `first`."""
    lines = [line for line in (*first, *dict.fromkeys(declarations), *body) if line]
    return f"static void {name}{ARGUMENTS}\n{{\n" + "\n".join(indent(lines)) + "\n}\n"


def indent(lines: list[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]


def block(head: str, lines: list[str]) -> list[str]:
    """A compound statement."""
    return [f"{head} {{", *indent(lines), "}"]


def elementwise(start: str, stop: str, lines: list[str], two_at_once: bool = False) -> list[str]:
    """A loop over contiguous elements i. A result may be the same element as its operand. No other memory
    overlaps, because the planner has copied such operands; so the compiler need not test for overlap.
    """
    head = "S0_TWO_AT_ONCE S0_ELEMENTWISE" if two_at_once else "S0_ELEMENTWISE"
    return [head, *block(f"for (Py_ssize_t i = {start}; i < {stop}; i++)", lines)]


def map_loop(
    name: str,
    inputs: list[Operand],
    out: Operand,
    expression: str,
    first: Sequence[str] = (),
    two_at_once: bool = False,
) -> str:
    """
    Elementwise loop: out = expression(inputs).

    The expression has the names of `names_of`. The statements `first` may run another loop, and return.
    """
    names = names_of(len(inputs))
    steps = [op.step() for op in (*inputs, out)]
    body = [op.start(f"a[{op.index}] + j * t[{op.index}]") for op in (*inputs, out)]
    # A value of stride 0 is read once per run; the planner guarantees that the run does not write it.
    body += [op.let(x, "0") for op, x in zip(inputs, names, strict=True) if op.how == "s"]
    inner = [op.let(x, "i") for op, x in zip(inputs, names, strict=True) if op.how != "s"]
    packed = packed_flags(inputs, out, expression, names)
    if packed:
        body += ["Py_ssize_t first = 0;", *packed]
    stores = [*inner, *out.store("i", expression)]
    body += elementwise("first" if packed else "0", "n", stores, two_at_once)
    return function(name, steps, block("for (Py_ssize_t j = 0; j < m; j++)", body), first)


def packed_flags(inputs: list[Operand], out: Operand, expression: str, names: list[str]) -> list[str]:
    """The loop over groups of a comparison, whose flags `flags.h` packs; empty for bodies without vectors."""
    size = inputs[0].row.itemsize
    if (
        out.row.letter != "b"
        or inputs[0].row.letter not in "iuf"
        or size not in (4, 8)
        or "v" in {op.how for op in (*inputs, out)}
        or not re.search(r"\bx", expression)
        or re.search(r"\w\(", expression)
    ):
        return []
    step, lines = 32 // size, []
    for op, x in zip(inputs, names, strict=True):
        if op.how == "s":
            continue
        place = f"{op.pointer} + first + {step} * k"
        if op.how == "d":
            lines.append(f"const lanes {x} = S0_EVERY_SECOND({op.pointer} + 2 * first + {2 * step} * k);")
        else:
            lines += [f"lanes {x};", f"memcpy(&{x}, {place}, sizeof({x}));"]
    lines.append(f"said[k] = (__m256i)({expression});")
    groups = [f"__m256i said[{size}];", *block(f"S0_FOR_ALL({size})", lines)]
    groups.append(f"s0_store_flags_{size}({out.pointer} + first, said);")
    # A vector of every second element would read one element beyond the end.
    before = "<" if "d" in {op.how for op in inputs} else "<="
    return [
        "#if S0_VECTOR == 32",
        f"typedef {inputs[0].memory} lanes __attribute__((vector_size(32)));",
        *block(f"for (; first + 32 {before} n; first += 32)", groups),
        "#endif",
    ]


ELEMENTWISE_LAYOUTS = {
    1: {0: "cc", 3: "vv"},
    2: {0: "ccc", 1: "scc", 2: "csc", 3: "vvv"},
    3: {0: "cccc", 1: "cssc", 2: "ccsc", 3: "vvvv"},
}
# A single value as the second of three operands: in `where` and in pairs.
MIDDLE = {4: "cscc"}
# Every second element.
SECONDS = 5


def names_of(nin: int) -> list[str]:
    return ["x"] if nin == 1 else [f"x{k + 1}" for k in range(nin)]
