"""Writes the loops of every operation from the operation table, in three files. Run by the build.

Note [Built once]
    A build of the loops for wider vectors pays where there are vectors: where the step from one element to
    the next is known to the compiler. With any other steps elements are fetched one by one, and a loop is as
    fast in the oldest instruction set. So loops over any strides, scans, and casts of one value stand in
    `kernels_common.pyx`, which is compiled once. Not among them are sums of 64-bit integers along runs, which
    have vectors, loops that gather elements into a block first (`run` of a row), what a row names in `gains`,
    casts between floating point and the wide unsigned integers, for which AVX-512 has instructions, and
    reductions of complex numbers, whose two parts are a vector, whatever the stride. docs/design/kernels.md
    has the measurements.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from common import (
    ARGUMENTS,
    BITS,
    BLOCK,
    CODE,
    ELEMENTWISE_LAYOUTS,
    LANES,
    ROWS,
    STRIP,
    Operand,
    Row,
    fill,
    function,
    indent,
    map_loop,
    names_of,
    operations,
    stream_loop,
)
from reductions import (
    ARG_BLOCK,
    ARG_RUNS,
    FOLDED,
    SCANNED,
    arg_loop,
    arg_rows_loop,
    folded_declarations,
    reduction_loops,
    scan_loop,
    scan_rows_loop,
)

# The files: two that are compiled for every instruction set, side by side, and one that is compiled once.
ELEMENTWISE, FOLDS, COMMON = PARTS = ("elementwise", "reductions", "common")


# The dtypes of results for which there are loops that write past the caches: those of most large arrays.
STREAMING = ("int64", "uint64", "float32", "float64", "complex64", "complex128")


# Elementwise loops that a header has, and what they are called there: operation, dtype, layout.
WRITTEN = {("multiply", "complex64", 0): "s0_multiply_complex64"}


class Emitter:
    """Collects the loops and the assignments that put them into the table, by the files they go to."""

    def __init__(self) -> None:
        self.functions: dict[str, list[str]] = {part: [] for part in PARTS}
        self.part: dict[str, str] = {}  # of each loop
        self.table: list[tuple[str, str]] = []

    def add(self, name: str, text: str, part: str) -> None:
        self.functions[part].append(text)
        self.part[name] = part

    def entry(self, place: str, name: str) -> None:
        self.table.append((place, name))

    def _home(self, place: str, name: str) -> str:
        """The file that an entry stands in. What is no loop of these files is a function of a header."""
        written = FOLDS if place.startswith(("reductions", "scan", "arg_")) else ELEMENTWISE
        return self.part.get(name, written)

    def elementwise(self) -> None:
        for number, op in enumerate(operations.OPS):
            for row in ROWS:
                found = operations.body_for(op.body, row.letter)
                if found is None:
                    continue
                expression, unsigned = found
                shared = unsigned and row.letter == "i"
                owner = ROWS[CODE["u" + row.name]] if shared else row
                one_loop = row.name in op.call or row.name in op.run
                layouts = {3: "v" * (op.nin + 1)} if one_loop else ELEMENTWISE_LAYOUTS[op.nin]
                for layout in range(4):
                    own = layout if layout in layouts else 3
                    name = WRITTEN.get((op.name, owner.name, own), f"{op.name}_{owner.name}_{own}")
                    self.entry(f"ops[{number}][{CODE[row.name]}][{layout}]", name)
                    if own != layout or shared or name in WRITTEN.values():
                        continue
                    text = self._elementwise(op, row, expression, unsigned, layouts[own], name)
                    vectors = row.name in op.run or row.name in op.gains
                    self.add(name, text, ELEMENTWISE if vectors else part_of(layouts[own]))
                if row.name in STREAMING and not one_loop and op.out == "same":
                    self._streams(number, op, row, owner, expression, unsigned, layouts)

    def _streams(
        self,
        number: int,
        op: Any,
        row: Row,
        owner: Row,
        expression: str,
        unsigned: bool,
        layouts: dict[int, str],
    ) -> None:
        """The loops whose results go past the caches, one for every layout in which they lie side by side."""
        for layout in range(4):
            own = layout if layout in layouts else 3
            name = f"{op.name}_{owner.name}_{own}"
            if own != 3:
                name += "_past"
                if owner is row:
                    text = self._elementwise(op, row, expression, unsigned, layouts[own], name, stream_loop)
                    self.add(name, text, ELEMENTWISE)
            self.entry(f"streams[{number}][{CODE[row.name]}][{layout}]", name)

    def _elementwise(
        self, op: Any, row: Row, expression: str, unsigned: bool, how: str, name: str, loop_of: Any = map_loop
    ) -> str:
        if row.name in op.run:
            # Each element of every layout goes through a block of neighbours there.
            places = ", ".join(f"a[{k}] + j * t[{k}], s[{k}]" for k in range(op.nin + 1))
            call = f"{whole_loop(op, row)}({places}, n)"
            loop = f"    cdef Py_ssize_t j\n    for j in range(m):\n        {call}"
            return f"cdef void {name}{ARGUMENTS} noexcept nogil:\n{loop}"
        inputs = [Operand(k, row, how[k], unsigned) for k in range(op.nin)]
        out_row = row
        if op.out == "bool":
            out_row = ROWS[0]
        elif op.out == "real" and row.letter == "c":
            out_row = ROWS[CODE[f"float{row.itemsize * 4}"]]
        out = Operand(op.nin, out_row, how[-1], unsigned and out_row is row)
        return str(loop_of(name, inputs, out, fill(expression, row), names_of(op.nin)))

    def casts(self) -> None:
        for source in ROWS:
            for target in ROWS:
                expression = cast_expression(source, target)
                if expression is None:
                    continue
                # Equal widths move as bits, whatever they mean.
                width = source.itemsize
                integers = source.letter in "iu" and target.letter in "iu" and width == target.itemsize
                same = source is target or integers
                layouts = {0: "cc", 1: "sc", 3: "vv"}
                for layout in (0, 1, 2, 3):
                    own = layout if layout in layouts else 3
                    name = f"move_{width}_{own}" if same else f"cast_{source.name}_{target.name}_{own}"
                    self.entry(f"casts[{CODE[source.name]}][{CODE[target.name]}][{layout}]", name)
                    if own == layout and not same:
                        self.add(name, *self._cast(name, source, target, layouts[own], expression))
                if target.name in STREAMING:
                    name = f"move_{width}_past" if same else f"cast_{source.name}_{target.name}_past"
                    self.entry(f"stream_casts[{CODE[source.name]}][{CODE[target.name]}]", name)
                    if not same:
                        x, out = Operand(0, source, "c"), Operand(1, target, "c")
                        self.add(name, stream_loop(name, [x], out, expression, ["x"]), ELEMENTWISE)
        for width in (1, 2, 4, 8, 16):
            row = BITS[width]
            for layout, how in {0: "cc", 1: "sc", 3: "vv"}.items():
                name = f"move_{width}_{layout}"
                text = map_loop(name, [Operand(0, row, how[0])], Operand(1, row, how[1]), "x", ["x"])
                self.add(name, text, part_of(how))
            name = f"move_{width}_past"
            self.add(
                name, stream_loop(name, [Operand(0, row, "c")], Operand(1, row, "c"), "x", ["x"]), ELEMENTWISE
            )

    def _cast(self, name: str, source: Row, target: Row, how: str, expression: str) -> tuple[str, str]:
        """The loop of a cast, and its file."""
        if how == "sc":
            return fill_loop(name, source, target, expression), COMMON
        x, out = Operand(0, source, how[0]), Operand(1, target, how[1])
        part = ELEMENTWISE if converted(source, target) else part_of(how)
        return map_loop(name, [x], out, expression, ["x"]), part

    def where(self) -> None:
        for number, width in enumerate((1, 2, 4, 8, 16)):
            row = BITS[width]
            for layout, how in ELEMENTWISE_LAYOUTS[3].items():
                inputs = [Operand(0, ROWS[0], how[0])] + [Operand(k, row, how[k]) for k in (1, 2)]
                name = f"where_{width}_{layout}"
                text = map_loop(name, inputs, Operand(3, row, how[3]), "x2 if x1 else x3", names_of(3))
                self.add(name, text, part_of(how))
                self.entry(f"where[{number}][{layout}]", name)

    def reductions(self) -> None:
        for number, red in enumerate(operations.REDUCTIONS):
            for row in ROWS:
                found = operations.body_for(red.body, row.letter)
                if found is None:
                    continue
                accumulator = red.accumulator[row.letter]
                acc = row if accumulator == "same" else ROWS[CODE[accumulator]]
                for layout, text in reduction_loops(red, row, found, acc):
                    name = f"{red.name}_{row.name}_{layout}"
                    once = layout in (1, 3) and acc.letter != "c" and row.name not in red.gains
                    self.add(name, text.replace("NAME", name), COMMON if once else FOLDS)
                    self.entry(f"reductions[{number}][{CODE[row.name]}][{layout}]", name)
        numbers = {red.name: number for number, red in enumerate(operations.REDUCTIONS)}
        for (name, layout), dtypes in FOLDED.items():
            for dtype in dtypes:
                place = f"reductions[{numbers[name]}][{CODE[dtype]}][{layout}]"
                self.entry(place, f"{name}_{dtype}_{layout}")

    def scans(self) -> None:
        reductions = {red.name: red for red in operations.REDUCTIONS}
        for number, scan in enumerate(operations.SCANS):
            red = reductions[scan.reduction]
            for row in ROWS[1:]:
                name = f"{scan.name}_{row.name}"
                if (scan.name, row.name) not in SCANNED:
                    self.add(name, scan_loop(name, red, row), COMMON)
                self.entry(f"scans[{number}][{CODE[row.name]}]", name)
                self.add(f"{name}_rows", scan_rows_loop(f"{name}_rows", red, row), FOLDS)
                self.entry(f"scan_rows[{number}][{CODE[row.name]}]", f"{name}_rows")

    def arg_reductions(self) -> None:
        for number, (name, sign) in enumerate(operations.ARG_REDUCTIONS.items()):
            for row in ROWS:
                if row.letter != "c":
                    loop, rows = f"{name}_{row.name}", f"{name}_{row.name}_rows"
                    self.add(loop, arg_loop(name, sign, row), FOLDS)
                    self.entry(f"arg_reductions[{number}][{CODE[row.name]}]", loop)
                    self.add(rows, arg_rows_loop(rows, sign, row), FOLDS)
                    self.entry(f"arg_rows[{number}][{CODE[row.name]}]", rows)

    def blocks(self) -> None:
        for number, width in enumerate((1, 2, 4, 8, 16)):
            self.entry(f"transpose[{number}]", f"<void*>s0_transpose_{width}")
        self.entry("stream", "<void*>s0_stream")

    def products(self) -> None:
        for code, row in enumerate(ROWS):
            if row.letter in "iu":
                self.entry(f"products[{code}]", f"<void*>s0_product_u{8 * row.itemsize}")
            elif row.letter == "f":
                self.entry(f"products[{code}]", f"<void*>s0_floating_f{8 * row.itemsize}")

    def text(self, part: str) -> str:
        rows = [
            f"    TABLE.{place} = {name}" for place, name in self.table if self._home(place, name) == part
        ]
        return (
            PRELUDE
            + declarations()
            + folded_declarations()
            + "\n\n".join(self.functions[part])
            + "\n\ncdef void fill_table() noexcept nogil:\n"
            + "\n".join(rows)
            + CLOSE
        )


def part_of(how: str) -> str:
    """The file of an elementwise loop, by the steps that it takes: Note [Built once]."""
    return COMMON if "v" in how else ELEMENTWISE


def fill_loop(name: str, source: Row, target: Row, expression: str) -> str:
    """One value is cast, and repeated by the loop that moves it."""
    x, y = Operand(0, source, "s"), Operand(1, target, "s", name="value")
    declarations = [x.declare(), f"cdef {x.value} x", f"cdef {y.memory} value[2]", "cdef char* args[2]"]
    if y.complex:
        declarations.append("cdef c128 z")
    move = f"TABLE.casts[{CODE[target.name]}][{CODE[target.name]}][1]"
    body = [
        x.start("a[0] + j * t[0]"),
        f"x = {x.load('0')}",
        *y.store("0", expression),
        "args[0] = <char*>value",
        "args[1] = a[1] + j * t[1]",
        f"{move}(args, s, t, n, 1)",
    ]
    return function(name, declarations, ["for j in range(m):", *indent(body)])


def converted(source: Row, target: Row) -> bool:
    """Whether a cast is one for which AVX-512 has an instruction of its own: Note [Built once]."""
    wide = {"uint32", "uint64"}
    return (source.name in wide and target.letter in "fc") or (source.letter == "f" and target.name in wide)


def whole_loop(op: Any, row: Row) -> str:
    """The name of the loop that `vecmath.h` or `cvecmath.h` has for a row of `run`."""
    return f"{'cv' if row.letter == 'c' else 'vm'}_{op.name}_{row.letter}{row.itemsize * 8}_run"


def declarations() -> str:
    """Those loops, declared. Each operand is the address of its first element and a step in bytes."""
    lines = ['cdef extern from "cvecmath.h" nogil:']
    for op in operations.OPS:
        operands = "const char*, Py_ssize_t, " * op.nin + "char*, Py_ssize_t, Py_ssize_t"
        lines += [f"    void {whole_loop(op, ROWS[CODE[name]])}({operands})" for name in op.run]
    return "\n".join(lines) + "\n\n"


def cast_expression(source: Row, target: Row) -> str | None:
    """How one value is cast; None where the standard permits no cast (complex to real)."""
    if target.letter == "b":
        return {"b": "x", "c": "(x.re != 0) | (x.im != 0)"}.get(source.letter, "x != 0")
    if source.letter == "c":
        return "x" if target.letter == "c" else None
    if target.letter == "c":
        return "make_c(x, 0)"
    if source.letter == "f" and target.letter in "iu":
        return "to_uint(x)" if target.name == "uint64" else "to_int(x)"
    return "x"


PRELUDE = f'''# Generated by src/stride0/_core/build/kernels.py from src/stride0/_tables/operations.py: edit those.
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: cpow=True, binding=False

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from stride0._core.math.complexmath cimport *
from stride0._core.math.realmath cimport *
from stride0._core.math.scalars cimport *

cdef extern from *:
    """
    typedef struct {{ unsigned long long low, high; }} s0_bits16;
    """
    ctypedef struct s0_bits16:
        unsigned long long low
        unsigned long long high

cdef extern from "kernels.h":
    ctypedef void (*s0_loop){ARGUMENTS} noexcept nogil
    void s0_stream_end() noexcept nogil
    ctypedef struct s0_kernels:
        s0_loop ops[96][13][4]
        s0_loop casts[13][13][4]
        s0_loop where[5][4]
        s0_loop reductions[16][13][5]
        s0_loop scans[4][13]
        s0_loop arg_reductions[2][13]
        s0_loop scan_rows[4][13]
        s0_loop arg_rows[2][13]
        void* transpose[5]
        void* stream
        s0_loop streams[96][13][4]
        s0_loop stream_casts[13][13]
        void* products[13]

cdef extern from "tiles.h" nogil:
    Py_ssize_t s0_stream_head(const void* target, Py_ssize_t itemsize, Py_ssize_t n)
    void s0_stream_lines(void* target, const void* block)
    void s0_transpose_1()
    void s0_transpose_2()
    void s0_transpose_4()
    void s0_transpose_8()
    void s0_transpose_16()
    void s0_stream()

cdef extern from "products.h":
    void s0_product_u8()
    void s0_product_u16()
    void s0_product_u32()
    void s0_product_u64()
    void s0_floating_f32()
    void s0_floating_f64()

cdef extern from "cproduct.h":
    void s0_multiply_complex64{ARGUMENTS} noexcept nogil

cdef enum:
    LANES = {LANES}
    BLOCK = {BLOCK}
    STRIP = {STRIP}
    ARG_RUNS = {ARG_RUNS}
    ARG_BLOCK = {ARG_BLOCK}

cdef s0_kernels* TABLE = NULL

'''

CLOSE = '''


def fill(table):
    """Put these loops into the table that the capsule holds."""
    global TABLE
    TABLE = <s0_kernels*>PyCapsule_GetPointer(table, "stride0.kernels")
    fill_table()
'''


# The room in the table of kernels.h.
ROOM = {"OPS": 96, "REDUCTIONS": 16, "SCANS": 4, "ARG_REDUCTIONS": 2}


def main(targets: list[str]) -> None:
    for name, room in ROOM.items():
        assert len(getattr(operations, name)) <= room, f"{name} outgrows the table in kernels.h"
    emitter = Emitter()
    emitter.elementwise()
    emitter.casts()
    emitter.where()
    emitter.reductions()
    emitter.scans()
    emitter.arg_reductions()
    emitter.blocks()
    emitter.products()
    for part, target in zip(PARTS, targets, strict=True):
        pathlib.Path(target).write_text(emitter.text(part), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
