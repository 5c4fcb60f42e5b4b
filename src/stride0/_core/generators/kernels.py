"""Writes the loops of every operation from the operation table, as C. Run by the build.

Note [Built once]
    A build for wider vectors pays only if the compiler vectorises, so only if it knows the stride between
    elements. With other strides, elements are loaded one by one, and the oldest instruction set is as fast.
    So loops over any strides, scans, and casts of one value are in the units of COMMON, which are compiled
    once. Exceptions are sums of 64-bit integers along runs, which are vectorised, loops that gather elements
    into a block first (`run` of a row), the dtypes in `gains` of a row, casts between floating point and the
    wide unsigned integers, for which AVX-512 has instructions, and reductions of complex numbers, whose two
    parts are a vector at any stride. docs/design/kernels.md has the measurements. A blockwise loop
    (`blockwise.h`) calls another loop of the table, which is built for every set. Blockwise are casts, loops
    of one operand of at most 4 bytes, loops of the dtypes in `gathered`, and, at some strides, most other
    loops. At some strides, moves are vectorised, too.

Note [Units]
    A unit is a C file. Several independent units keep all processors of a machine busy until the build ends.
    Their names are here, in the order of their compile time, and in `meson.build`. With S0_SPARE a unit omits
    loops that a loop over any strides can replace. The baseline set of x86-64, for processors from before
    2013, uses it: otherwise it would be a third of the build.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from common import (
    BITS,
    CODE,
    ELEMENTWISE_LAYOUTS,
    KERNEL_ROWS,
    MIDDLE,
    ROWS,
    SECONDS,
    Operand,
    Row,
    block,
    fill,
    function,
    map_loop,
    operations,
)
from loops import (
    NARROW,
    blockwise_loop,
    body_of,
    cast_expression,
    converted,
    fill_loop,
    has_seconds,
    inverted,
    mirrored_loop,
    moved_quickly,
    pair_body,
    past,
    rounding_loop,
    truncating_loop,
    whole_run,
)
from reductions import (
    Accumulator,
    arg_loop,
    arg_rows_function,
    arg_rows_loop,
    extreme_function,
    folded_name,
    parts_loop,
    reduction_loop,
    scan_loop,
    scan_rows_loop,
    tail_function,
)

# The units that are compiled for every instruction set, and those that are compiled once.
VECTORS = REDUCTIONS, ARITHMETIC, ALGORITHMS, SPECIAL, COMPLEX, MOVES, FUNCTIONS, FOURIER = (
    *(
        "reductions",
        "arithmetic",
        "algorithms",
        "special",
        "complex_functions",
        "moves",
        "functions",
        "fourier",
    ),
)
COMMON = STRIDED, STRIDED_REDUCTIONS = ("strided", "strided_reductions")


class Unit:
    """The loops of a file, and their places in the table."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.loops: dict[str, str] = {}  # names by text, with NAME in place of the name
        self.table: list[tuple[str, str]] = []
        self.spared: set[str] = set()

    def write(self, name: str, text: str, spared: bool = False) -> str:
        """Add a loop; return its name.

        Loops of equal text share the name of the first: signed and unsigned integers, `conj` and `positive`.
        """
        key = text.replace(f" {name}(", " NAME(")
        if key not in self.loops and spared:
            self.spared.add(name)
        elif not spared:
            self.spared.discard(self.loops.get(key, name))
        return self.loops.setdefault(key, name)

    def text(self) -> str:
        loops, rows = [], []
        for spared in (False, True):
            chosen = [
                key.replace(" NAME(", f" {name}(")
                for key, name in self.loops.items()
                if (name in self.spared) is spared
            ]
            filled = [
                f"table->{place} = {name};" for place, name in self.table if (name in self.spared) is spared
            ]
            loops += ["#ifndef S0_SPARE", *chosen, "#endif"] if spared else chosen
            rows += ["#ifndef S0_SPARE", *filled, "#endif"] if spared else filled
        filling = block(f"__attribute__((cold)) void s0_fill_{self.name}(s0_kernels *table)\n", rows)
        return "\n".join([PRELUDE, *HEADERS.get(self.name, []), *loops, *filling, ""])


class Emitter:
    """Collects, per unit, the loops and the assignments that enter them in the table."""

    def __init__(self) -> None:
        self.units = {name: Unit(name) for name in (*VECTORS, *COMMON)}

    def add(self, unit: str, places: list[str], name: str, text: str = "", spared: bool = False) -> str:
        """Enter a loop in the table, and return its name; a loop without a text is in a header."""
        if text:
            name = self.units[unit].write(name, text, spared)
        self.units[unit].table += [(place, name) for place in places]
        return name

    def elementwise(self) -> None:
        mirrored: list[tuple[str, Any, Row, bool]] = []
        for number, op in enumerate(operations.OPS):
            for row in ROWS:
                found = body_of(op, row)
                if found is None:
                    continue
                expression, unsigned = found
                # Loops on unsigned operands serve both signs.
                owner = ROWS[CODE["u" + row.name]] if unsigned and row.letter == "i" else row
                if op.bits:
                    owner = ROWS[CODE[f"int{8 * row.itemsize}"]]
                layouts = ELEMENTWISE_LAYOUTS[op.nin]
                one_loop = row.name in op.call or row.name in op.run
                places = [f"ops[{number}][{CODE[row.name]}][{layout}]" for layout in range(4)]
                streams = [place.replace("ops", "streams") for place in places]
                # A slow operation does not wait for memory, but its loads would wait for non-temporal stores.
                if one_loop or op.slow or not row.streamed or op.out != "same":
                    streams = []
                if expression == "x":
                    # The element itself: a move of its width, for any dtype.
                    self.add(MOVES, [*places[:1]], f"move_{row.itemsize}_0")
                    self.add(MOVES, [*places[1:], *streams[1:]], f"move_{row.itemsize}_2")
                    self.add(MOVES, streams[:1], f"move_{row.itemsize}_0_past")
                    continue
                # The loop over any strides serves all layouts until a special loop replaces it.
                name, text, home = self._elementwise(op, owner, expression, unsigned, 3, layouts[3])
                self.add(home, places + streams, name, text)
                for layout in () if one_loop else layouts.keys() - {3}:
                    if layout == 1 and op.name in operations.MIRRORED:
                        mirrored.append((places[1], op, owner, home == STRIDED))
                        continue
                    name, text, _ = self._elementwise(
                        op, owner, expression, unsigned, layout, layouts[layout]
                    )
                    spared = layout > 0 and home == STRIDED
                    name = self.add(ARITHMETIC, [places[layout]], name, text, spared)
                    if streams:
                        self.add(
                            ARITHMETIC,
                            [streams[layout]],
                            *past(name, [row] * (op.nin + 1), layouts[layout]),
                            spared,
                        )
                if not one_loop and has_seconds(op, row):
                    how = "d" * op.nin + "c"
                    name, text, _ = self._elementwise(op, owner, expression, unsigned, SECONDS, how)
                    place = f"ops[{number}][{CODE[row.name]}][{SECONDS}]"
                    self.add(ARITHMETIC, [place], name, text, spared=True)
        # One value compared with many is rare: Python calls the other operator for `1 < x`.
        numbers = [op.name for op in operations.OPS]
        for place, op, row, spared in mirrored:
            name, other = f"{op.name}_{row.name}_1", numbers.index(operations.MIRRORED[op.name])
            text = mirrored_loop(name, f"ops[{other}][{CODE[row.name]}][2]")
            self.add(ARITHMETIC, [place], name, text, spared)

    def _elementwise(
        self, op: Any, row: Row, expression: str, unsigned: bool, layout: int, how: str
    ) -> tuple[str, str, str]:
        """The name of a loop, its text, and its unit."""
        if (row.name, layout) in op.written:
            return op.written[row.name, layout], "", ARITHMETIC
        name = f"{op.name}_{row.name}_{layout}"
        if row.name in op.run:
            # There, each element of every layout goes through a block of neighbours.
            places = ", ".join(f"a[{k}] + j * t[{k}], s[{k}]" for k in range(op.nin + 1))
            loop = f"{'cv' if row.letter == 'c' else 'vm'}_{op.name}_{row.letter}{row.itemsize * 8}_run"
            body = block("for (Py_ssize_t j = 0; j < m; j++)", [f"{loop}({places}, n);"])
            unit = SPECIAL if op.namespace == SPECIAL else COMPLEX if row.letter == "c" else FUNCTIONS
            return name, function(name, [], body), unit
        inputs = [Operand(k, row, how[k], unsigned) for k in range(op.nin)]
        out_row = row
        if op.out == "bool":
            out_row = ROWS[0]
        elif op.out == "real" and row.letter == "c":
            out_row = ROWS[CODE[f"float{row.itemsize * 4}"]]
        out = Operand(op.nin, out_row, how[-1], unsigned and out_row is row)
        if layout != 3 or row.name in (*op.gains, *op.call):
            first: list[str] = []
            if op.name == "divide" and row.letter == "f" and how == "csc":
                number = [other.name for other in operations.OPS].index("multiply")
                first = inverted(row, 1, f"ops[{number}][{CODE[row.name]}][{layout}]")
            text = map_loop(name, inputs, out, fill(expression, row), first)
            return name, text, STRIDED if "v" in how and row.name not in op.gains else ARITHMETIC
        small = op.nin == 1 and row.itemsize <= 4
        each, text = "NULL", ""
        if not small and row.name not in op.gathered:
            each = f"{name}_each"
            # One by one, counting and three strides take as long as loads, operation and store.
            two = op.nin == 2 and op.out == "same" and row.name in ("float32", "complex128")
            text = map_loop(each, inputs, out, fill(expression, row), two_at_once=two)
        code = CODE[f"float{8 * row.itemsize}" if op.bits else row.name]
        loops = f"ops[{operations.OPS.index(op)}][{code}]"
        rows = [operand.row for operand in (*inputs, out)]
        return name, text + blockwise_loop(name, loops, rows, each), STRIDED

    def casts(self) -> None:
        for source in ROWS:
            for target in ROWS:
                expression = cast_expression(source, target)
                if expression is None:
                    continue
                place = f"casts[{CODE[source.name]}][{CODE[target.name]}]"
                stream = f"stream_casts[{CODE[source.name]}][{CODE[target.name]}]"
                # Dtypes of equal width move as bits.
                width = source.itemsize
                integers = source.letter in "iu" and target.letter in "iu" and width == target.itemsize
                moved = source is target or integers
                x, y = (BITS[width], BITS[width]) if moved else (source, target)
                name = f"move_{width}" if moved else f"cast_{x.name}_{y.name}"
                # Storage dtypes are mostly cast from and to their computation dtypes. Their other casts share
                # one loop for all layouts.
                seldom = {source.arithmetic, target.arithmetic} != {""} and not moved
                seldom = seldom and (source.letter != target.letter or source.itemsize == target.itemsize)
                for layout, how in enumerate(("vv",) * 4 if seldom else ("cc", "sc", "vv", "vv")):
                    number = 0 if seldom else min(layout, 2)
                    self._cast(f"{place}[{layout}]", f"{name}_{number}", x, y, how, expression)
                if source.name == "int64" and target.name in ("float32", "float64"):
                    how = "dc"
                    self._cast(f"{place}[{SECONDS}]", f"{name}_{SECONDS}", x, y, how, expression)
                if target.streamed and not seldom:
                    loop, text = past(f"{name}_0", [source, target], "cc")
                    self.add(MOVES, [stream], loop, f"S0_MOVE_PAST({name}_0, {width})\n" if moved else text)

    def _cast(self, place: str, name: str, source: Row, target: Row, how: str, expression: str) -> None:
        if how == "sc" and source is not target:
            self.add(STRIDED, [place], name, fill_loop(name, source, target, expression))
            return
        if how == "cc" and (run := whole_run(source, target)):
            call = f"{run}((const void *)(a[0] + j * t[0]), (void *)(a[1] + j * t[1]), n);"
            text = function(name, [], block("for (Py_ssize_t j = 0; j < m; j++)", [call]))
            self.add(MOVES, [place], name, text)
            return
        x, out = Operand(0, source, how[0]), Operand(1, target, how[1])
        if how == "cc" and source is target:
            call = f"s0_move(a[1] + j * t[1], a[0] + j * t[0], n * {source.itemsize});"
            text = function(name, [], block("for (Py_ssize_t j = 0; j < m; j++)", [call]))
            self.add(MOVES, [place], name, text)
            return
        if how == "cc" and source.letter == "f" and not source.arithmetic and target.letter in "iu":
            text = truncating_loop(name, x, out)
            if target.name not in NARROW:
                plain = map_loop(name, [x], out, expression)
                text = f"#if defined(__AVX512DQ__)\n{plain}\n#else\n{text}\n#endif\n"
            self.add(MOVES, [place], name, text)
            return
        if how in ("cc", "dc") and source.name == "int64" and target.name == "float32":
            self.add(MOVES, [place], name, rounding_loop(name, x, out))
            return
        if how == "vv" and name.endswith("_2") and source is not target and not converted(source, target):
            self.add(STRIDED, [place], name, blockwise_loop(name, place[:-3], [source, target]))
            return
        moves = source is target or converted(source, target)
        unit = STRIDED if how == "vv" and not moves else MOVES
        first = moved_quickly(source) if source is target else []
        self.add(unit, [place], name, map_loop(name, [x], out, expression, first))

    def pairs(self) -> None:
        numbers = {op.name: op for op in operations.OPS}
        for number, pair in enumerate(operations.PAIRS):
            first, second = numbers[pair.first], numbers[pair.second]
            nin = first.nin + second.nin - 1
            for row in (ROWS[CODE["float32"]], ROWS[CODE["float64"]]):
                expression = pair_body(pair, first, second, row)
                for layout, how in {**ELEMENTWISE_LAYOUTS[nin], **(MIDDLE if nin == 3 else {})}.items():
                    if layout == 3:
                        continue
                    name = f"{pair.first}_{pair.second}_{pair.at}_{row.name}_{layout}"
                    inputs = [Operand(k, row, how[k]) for k in range(nin)]
                    first_lines: list[str] = []
                    other = pair._replace(second="multiply")
                    if pair.second == "divide" and how[nin - 1] == "s" and other in operations.PAIRS:
                        loop = f"pairs[{operations.PAIRS.index(other)}][{CODE[row.name]}][{layout}]"
                        first_lines = inverted(row, nin - 1, loop)
                    text = map_loop(name, inputs, Operand(nin, row, "c"), expression, first_lines)
                    place = f"[{number}][{CODE[row.name]}][{layout}]"
                    self.add(ARITHMETIC, [f"pairs{place}"], name, text, spared=layout > 0)
                    loop, text = past(name, [row] * (nin + 1), how)
                    self.add(ARITHMETIC, [f"stream_pairs{place}"], loop, text, spared=layout > 0)

    def where(self) -> None:
        for number, (width, row) in enumerate(BITS.items()):
            places = [f"where[{number}][{layout}]" for layout in (*range(4), *MIDDLE)]
            for layout, how in reversed({**MIDDLE, **ELEMENTWISE_LAYOUTS[3]}.items()):
                inputs = [Operand(0, ROWS[0], how[0])] + [Operand(k, row, how[k]) for k in (1, 2)]
                name = f"where_{width}_{layout}"
                text = map_loop(name, inputs, Operand(3, row, how[3]), "x1 ? x2 : x3")
                if layout == 3:
                    self.add(STRIDED, places, name, text)
                else:
                    self.add(MOVES, [f"where[{number}][{layout}]"], name, text, spared=layout > 0)

    def reductions(self) -> None:
        for number, red in enumerate(operations.REDUCTIONS):
            for row in KERNEL_ROWS:
                found = operations.body_for(red.body, row.letter)
                if found is not None:
                    self._reduction(f"reductions[{number}][{CODE[row.name]}]", red, row, found)

    def _reduction(self, place: str, red: Any, row: Row, found: tuple[str, bool]) -> None:
        accumulator = red.accumulator[row.letter]
        acc = Accumulator(red, row if accumulator == "same" else ROWS[CODE[accumulator]])
        tail, tail_text = tail_function(acc)
        # Sums of words wrap, so they ignore the sign, unless the body of the sum depends on it.
        unsigned = acc.unsigned and row.name == "int64" and found == operations.body_for(red.body, "u")
        owner = ROWS[CODE["u" + row.name]] if unsigned else row
        once = acc.row.letter != "c" and row.name not in red.gains
        # Loops over any strides serve all layouts until special loops replace them. Loops of headers take any
        # strides, but rows of complex numbers take too long to copy.
        written = {layout for layout in (0, 2) if row.name in red.written.get(layout, ())}
        served = {layout + 1 for layout in written if layout == 0 or row.letter != "c"}
        for layout in (1, 3, 4 if red.constant_second else 0, 2):
            if layout in served:
                continue
            strided = layout in (1, 3)
            serves = (0, 1, 4) if layout == 1 else (2, 3) if layout == 3 else (layout,)
            if layout + 1 in served:
                serves = (0, 1, 4) if layout == 0 else (2, 3)
            places = [f"{place}[{k}]" for k in serves]
            if layout in written:
                self.add(REDUCTIONS, places, folded_name(red, row.name, layout))
                continue
            unit = STRIDED_REDUCTIONS if strided and once else REDUCTIONS
            name = f"{red.name}_{row.name}_{layout}"
            ending = "" if acc.exact or layout in (2, 3) else self.units[unit].write(tail, tail_text)
            text = reduction_loop(name, acc, owner, found, layout, ending)
            self.add(unit, places, name, text, spared=not strided)
            if layout == 2 and row.name in red.gathered:
                parts = f"{red.name}_{row.name}_parts"
                text = parts_loop(parts, name, row, acc.row)
                self.add(unit, [f"{place}[3]"], parts, text, spared=True)

    def scans(self) -> None:
        reductions = {red.name: red for red in operations.REDUCTIONS}
        for number, scan in enumerate(operations.SCANS):
            red = reductions[scan.reduction]
            for row in KERNEL_ROWS[1:]:
                owner = ROWS[CODE["uint64"]] if row.name == "int64" else row
                name, place = f"{scan.name}_{row.name}", f"[{number}][{CODE[row.name]}]"
                if row.name in scan.written:
                    self.add(REDUCTIONS, [f"scans{place}"], scan.written[row.name])
                else:
                    self.add(STRIDED_REDUCTIONS, [f"scans{place}"], name, scan_loop(name, red, owner))
                # Narrow integers are cast to wide integers first, unless a user gives another dtype.
                unit = REDUCTIONS if row.letter in "fc" or row.itemsize == 8 else STRIDED_REDUCTIONS
                name += "_rows"
                self.add(unit, [f"scan_rows{place}"], name, scan_rows_loop(name, red, owner))

    def arg_reductions(self) -> None:
        for row in KERNEL_ROWS:
            if row.letter == "c":
                continue
            unit = self.units[REDUCTIONS]
            runs, rows = (unit.write(*written(row)) for written in (extreme_function, arg_rows_function))
            for number, (name, sign) in enumerate(operations.ARG_REDUCTIONS.items()):
                loop, place = f"{name}_{row.name}", f"[{number}][{CODE[row.name]}]"
                self.add(REDUCTIONS, [f"arg_reductions{place}"], loop, arg_loop(loop, runs, sign, row))
                loop += "_rows"
                self.add(REDUCTIONS, [f"arg_rows{place}"], loop, arg_rows_loop(loop, rows, sign, row))

    def blocks(self) -> None:
        for number, width in enumerate(BITS):
            self.add(MOVES, [f"transpose[{number}]"], f"s0_transpose_{width}")
        self.add(MOVES, ["stream"], "s0_stream")
        self.add(ALGORITHMS, ["sorter"], "s0_make_sorter()")
        self.add(ALGORITHMS, ["vector"], "S0_VECTOR")
        for number, name in enumerate(("read", "copy", "copy_past", "add", "add_past", "fma")):
            self.add(MOVES, [f"limits[{number}]"], f"s0_limit_{name}")

    def products(self) -> None:
        for code, row in enumerate(KERNEL_ROWS):
            bits = 8 * row.itemsize
            if row.letter in "iu":
                self.add(ALGORITHMS, [f"products[{code}]"], f"s0_product_u{bits}")
            elif row.letter == "f":
                self.add(ALGORITHMS, [f"products[{code}]"], f"s0_vector_products_f{bits}")
            elif row.letter == "c":
                self.add(ALGORITHMS, [f"products[{code}]"], f"s0_complex_vector_products_f{bits // 2}")
        self.add(ALGORITHMS, ["solve_systems"], "s0_solve_systems")
        self.add(ALGORITHMS, ["factor_definite"], "s0_factor_definite")
        for step in ("factor", "join", "spread", "apply"):
            self.add(ALGORITHMS, [f"tall_{step}"], f"s0_tall_{step}")
        for name in ("symmetric", "singular", "general"):
            self.add(ALGORITHMS, [name], f"s0_{name}")
        for number, (prefix, bits) in enumerate((("", 32), ("", 64), ("complex_", 32), ("complex_", 64))):
            self.add(ALGORITHMS, [f"direct_products[{number}]"], f"s0_direct_{prefix}products_f{bits}")
            self.add(ALGORITHMS, [f"pack_panels[{number}]"], f"s0_pack_{prefix}panels_f{bits}")
            self.add(ALGORITHMS, [f"multiply_panels[{number}]"], f"s0_multiply_{prefix}panels_f{bits}")
        self.add(ALGORITHMS, ["block_steps"], "s0_the_block_steps")

    def fourier(self) -> None:
        for step in ("short", "columns", "rows", "convolve", "back", "untangle", "tangle", "copy"):
            self.add(FOURIER, [f"fourier_{step}"], f"s0_fourier_{step}")


PRELUDE = """\
/* Generated by src/stride0/_core/generators/kernels.py from src/stride0/_tables/operations.py: edit those. */
#include "unit.h"
"""


# Further includes of single units.
HEADERS = {
    unit: [f'#include "{header}.h"' for header in headers.split()] + [""]
    for unit, headers in {
        REDUCTIONS: "finding folding scanning",
        ALGORITHMS: "products real_products block_elements hermitian complex_singular complex_schur"
        " sorting systems tall_matrices",
        SPECIAL: "vecmath_special",
        MOVES: "tiles machine_limits",
        ARITHMETIC: "tiles",
        FOURIER: "fourier",
        STRIDED: "blockwise tiles",
        STRIDED_REDUCTIONS: "folding",
    }.items()
}


def main(targets: list[str]) -> None:
    emitter = Emitter()
    emitter.elementwise()
    emitter.casts()
    emitter.where()
    emitter.pairs()
    emitter.reductions()
    emitter.scans()
    emitter.arg_reductions()
    emitter.blocks()
    emitter.products()
    emitter.fourier()
    for unit, target in zip((*VECTORS, *COMMON), targets, strict=True):
        assert pathlib.Path(target).name == f"{unit}.c", target
        pathlib.Path(target).write_text(emitter.units[unit].text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
