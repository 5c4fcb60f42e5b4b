"""Writes `kernels.pyx`, the loops of every operation, from the operation table. Run by the build.

Note [Layouts]
    A loop is written once per layout, so that the compiler sees constant steps and vectorises:
    elementwise 0 all contiguous; 1 and 2 with operands of stride 0, whose value is read once per run;
    3 any strides. Reductions 0 a contiguous run into one accumulator, 1 a strided one, 2 contiguous rows
    into a row of accumulators, 3 strided ones, 4 a contiguous run whose second operand has stride 0.

Note [Order of a reduction]
    The order in which a run is folded depends on its length alone, never on the instruction set or on
    the number of threads: LANES accumulators side by side over blocks of BLOCK elements, folded
    pairwise, then the blocks one after the other, then the tail.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from collections.abc import Iterator
from types import ModuleType

HERE = pathlib.Path(__file__).resolve().parent
LANES = 32
BLOCK = 4096


def load(name: str) -> ModuleType:
    """Load a table by its path: the package itself cannot be imported before it is built."""
    spec = importlib.util.spec_from_file_location(name, HERE.parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


optable = load("_optable")
dtypetable = load("_dtypetable")
ROWS = dtypetable.ROWS
CODE = dtypetable.CODES

UNSIGNED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
# What unsigned arithmetic runs in, so that C's promotion to (signed) int cannot overflow.
ARITHMETIC = {1: "unsigned int", 2: "unsigned int", 4: "uint32_t", 8: "uint64_t"}


def fill(expression: str, row) -> str:
    """Replace the placeholders of Note [Bodies]."""
    signed = row.letter == "i"
    bits = 8 * row.itemsize
    top = f"((<{UNSIGNED.get(row.itemsize, '')}>1 << {bits - 1}) - 1)" if signed else f"(<{row.ctype}>-1)"
    low = f"(-<{row.ctype}>{top} - 1)" if signed else "0"
    for key, text in {
        "{t}": "f32" if row.ctype == "float" else "f64",
        "{T}": row.ctype,
        "{U}": UNSIGNED.get(row.itemsize, ""),
        "{W}": str(bits),
        "{MAX}": top,
        "{MIN}": low,
    }.items():
        expression = expression.replace(key, text)
    return expression


class Operand:
    """How a loop reads or writes one operand of a dtype at one layout ('c'ontiguous, 's'calar, 'v'aried)."""

    def __init__(self, index: int, row, how: str, unsigned: bool = False, name: str | None = None):
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

    def declare(self) -> str:
        return f"cdef {self.memory}* {self.pointer}"

    def step(self) -> str:
        return f"cdef Py_ssize_t s{self.index} = s[{self.index}]" if self.how == "v" else ""

    def start(self, base: str) -> str:
        return f"{self.pointer} = <{self.memory}*>({base})"

    def at(self, i: str) -> str:
        """Pointer to the element i of the run."""
        if self.how == "v":
            return f"(<{self.memory}*>(<char*>{self.pointer} + ({i}) * s{self.index}))"
        if self.how == "s":
            return self.pointer
        return f"({self.pointer} + {'2 * ' if self.complex else ''}({i}))"

    def load(self, i: str) -> str:
        place = self.at(i)
        if self.complex:
            return f"make_c({place}[0], {place}[1])"
        if self.row.letter == "b":
            return f"{place}[0] != 0"
        return f"{place}[0]"

    def store(self, i: str, value: str) -> list[str]:
        place = self.at(i)
        if self.complex:
            return [f"z = {value}", f"{place}[0] = <{self.memory}>z.re", f"{place}[1] = <{self.memory}>z.im"]
        return [f"{place}[0] = <{self.memory}>({value})"]


def function(name: str, declarations: list[str], body: list[str]) -> str:
    """One loop of the signature of `s0_loop`, for every j of the m runs."""
    lines = [
        f"cdef void {name}(char** a, const Py_ssize_t* s, const Py_ssize_t* t, Py_ssize_t n, Py_ssize_t m) noexcept nogil:",
        "    cdef Py_ssize_t i, j",
        *(f"    {line}" for line in dict.fromkeys(declarations) if line),
        *(f"    {line}" for line in body),
    ]
    return "\n".join(lines) + "\n"


def indent(lines: list[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]


def map_loop(name: str, inputs: list[Operand], out: Operand, expression: str, names: list[str]) -> str:
    """Elementwise loop: out = expression(inputs)."""
    declarations = [line for op in (*inputs, out) for line in (op.declare(), op.step())]
    declarations += [f"cdef {op.value} {x}" for op, x in zip(inputs, names, strict=True)]
    if out.complex:
        declarations.append("cdef c128 z")
    body = ["for j in range(m):"]
    body += indent([op.start(f"a[{op.index}] + j * t[{op.index}]") for op in (*inputs, out)])
    # A value of stride 0 is read once per run; the planner has made sure that the run does not write it.
    body += indent([f"{x} = {op.load('0')}" for op, x in zip(inputs, names, strict=True) if op.how == "s"])
    inner = [f"{x} = {op.load('i')}" for op, x in zip(inputs, names, strict=True) if op.how != "s"]
    inner += out.store("i", expression)
    body += [*indent(["for i in range(n):"]), *indent(inner, 2)]
    return function(name, declarations, body)


ELEMENTWISE_LAYOUTS = {
    1: {0: "cc", 3: "vv"},
    2: {0: "ccc", 1: "scc", 2: "csc", 3: "vvv"},
    3: {0: "cccc", 1: "cssc", 2: "ccsc", 3: "vvvv"},
}


def names_of(nin: int) -> list[str]:
    return ["x"] if nin == 1 else [f"x{k + 1}" for k in range(nin)]


class Emitter:
    """Collects the loops and the assignments that put them into the table."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.table: list[str] = []

    def add(self, text: str) -> None:
        self.functions.append(text)

    def entry(self, place: str, name: str) -> None:
        self.table.append(f"    TABLE.{place} = {name}")

    def elementwise(self) -> None:
        for number, op in enumerate(optable.OPS):
            for row in ROWS:
                found = optable.body_for(op.body, row.letter)
                if found is None:
                    continue
                expression, unsigned = found
                shared = unsigned and row.letter == "i"
                owner = dtypetable.ROWS[CODE["u" + row.name]] if shared else row
                layouts = {3: "v" * (op.nin + 1)} if op.call else ELEMENTWISE_LAYOUTS[op.nin]
                for layout in range(4):
                    own = layout if layout in layouts else 3
                    name = f"{op.name}_{owner.name}_{own}"
                    self.entry(f"ops[{number}][{CODE[row.name]}][{layout}]", name)
                    if own != layout or shared:
                        continue
                    self.add(self._elementwise(op, row, expression, unsigned, layouts[own], name))

    def _elementwise(self, op, row, expression: str, unsigned: bool, how: str, name: str) -> str:
        inputs = [Operand(k, row, how[k], unsigned) for k in range(op.nin)]
        out_row = row
        if op.out == "bool":
            out_row = ROWS[0]
        elif op.out == "real" and row.letter == "c":
            out_row = ROWS[CODE[f"float{row.itemsize * 4}"]]
        out = Operand(op.nin, out_row, how[-1], unsigned and out_row is row)
        return map_loop(name, inputs, out, fill(expression, row), names_of(op.nin))

    def casts(self) -> None:
        for source in ROWS:
            for target in ROWS:
                expression = cast_expression(source, target)
                if expression is None:
                    continue
                same = source is target
                # Equal widths move as bits, whatever they mean.
                width = source.itemsize
                layouts = {0: "cc", 1: "sc", 3: "vv"}
                for layout in (0, 1, 2, 3):
                    own = layout if layout in layouts else 3
                    name = f"move_{width}_{own}" if same else f"cast_{source.name}_{target.name}_{own}"
                    self.entry(f"casts[{CODE[source.name]}][{CODE[target.name]}][{layout}]", name)
                    if own == layout and not same:
                        how = layouts[own]
                        self.add(
                            map_loop(
                                name,
                                [Operand(0, source, how[0])],
                                Operand(1, target, how[1]),
                                expression,
                                ["x"],
                            )
                        )
        for width in (1, 2, 4, 8, 16):
            row = BITS[width]
            for layout, how in {0: "cc", 1: "sc", 3: "vv"}.items():
                self.add(
                    map_loop(
                        f"move_{width}_{layout}",
                        [Operand(0, row, how[0])],
                        Operand(1, row, how[1]),
                        "x",
                        ["x"],
                    )
                )

    def where(self) -> None:
        for number, width in enumerate((1, 2, 4, 8, 16)):
            row = BITS[width]
            for layout, how in ELEMENTWISE_LAYOUTS[3].items():
                inputs = [Operand(0, ROWS[0], how[0])] + [Operand(k, row, how[k]) for k in (1, 2)]
                name = f"where_{width}_{layout}"
                self.add(map_loop(name, inputs, Operand(3, row, how[3]), "x2 if x1 else x3", names_of(3)))
                self.entry(f"where[{number}][{layout}]", name)

    def reductions(self) -> None:
        for number, red in enumerate(optable.REDUCTIONS):
            for row in ROWS:
                found = optable.body_for(red.body, row.letter)
                if found is None:
                    continue
                accumulator = red.accumulator[row.letter]
                acc = row if accumulator == "same" else ROWS[CODE[accumulator]]
                for layout, text in reduction_loops(red, row, found, acc):
                    name = f"{red.name}_{row.name}_{layout}"
                    self.add(text.replace("NAME", name))
                    self.entry(f"reductions[{number}][{CODE[row.name]}][{layout}]", name)

    def scans(self) -> None:
        reductions = {red.name: red for red in optable.REDUCTIONS}
        for number, scan in enumerate(optable.SCANS):
            red = reductions[scan.reduction]
            for row in ROWS[1:]:
                acc = Accumulator(red, row, ROWS[CODE[red.accumulator[row.letter]]])
                x, out = Operand(0, row, "v"), Operand(1, row, "v")
                name = f"{scan.name}_{row.name}"
                body = ["for j in range(m):"]
                body += indent(
                    [x.start("a[0] + j * t[0]"), out.start("a[1] + j * t[1]"), f"acc = {acc.identity}"]
                )
                inner = [f"acc = {acc.folded('acc', x.load('i'))}", *out.store("i", "acc")]
                body += [*indent(["for i in range(n):"]), *indent(inner, 2)]
                declare = [
                    x.declare(),
                    x.step(),
                    out.declare(),
                    out.step(),
                    f"cdef {acc.value} acc",
                    "cdef c128 z",
                ]
                self.add(function(name, declare, body))
                self.entry(f"scans[{number}][{CODE[row.name]}]", name)

    def arg_reductions(self) -> None:
        for number, (name, sign) in enumerate(optable.ARG_REDUCTIONS.items()):
            for row in ROWS:
                if row.letter != "c":
                    self.add(arg_loop(name, sign, row))
                    self.entry(f"arg_reductions[{number}][{CODE[row.name]}]", f"{name}_{row.name}")

    def text(self) -> str:
        return (
            PRELUDE
            + "\n\n".join(self.functions)
            + "\n\ncdef void fill_table() noexcept nogil:\n"
            + "\n".join(self.table)
            + CLOSE
        )


class _Bits:
    """A row of a width and no meaning: what moving and selecting need."""

    def __init__(self, itemsize: int):
        self.itemsize = itemsize
        self.letter = "bits"
        self.ctype = "s0_bits16" if itemsize == 16 else UNSIGNED[itemsize]


BITS = {width: _Bits(width) for width in (1, 2, 4, 8, 16)}


def cast_expression(source, target) -> str | None:
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


class Accumulator:
    """The accumulator of a reduction over operands of one dtype."""

    def __init__(self, red, row, acc_row):
        found = optable.body_for(red.fold, acc_row.letter)
        assert found is not None, (red.name, acc_row.name)
        self.expression, self.unsigned = found
        self.row = acc_row
        self.red = red
        self.operand = Operand(red.nin, acc_row, "c", self.unsigned, name="q")
        self.value = self.operand.value
        self.memory = self.operand.memory
        key = next(key for key in red.identity if acc_row.letter in key)
        self.identity = fill(red.identity[key], acc_row).replace("c128(", "make_c(")
        self.narrow = acc_row.letter == "b"

    def folded(self, a: str, b: str) -> str:
        """The fold as one expression; operands are names or calls, both without side effects."""
        text = fill(self.expression, self.row)
        out = "".join(
            f"(<{self.value}>({a}))" if token == "a" else f"(<{self.value}>({b}))" if token == "b" else token
            for token in _tokens(text)
        )
        return out.replace("<c128>", "")


def _tokens(text: str) -> Iterator[str]:
    """Split into words and single other characters, so that names can be replaced whole."""
    word = ""
    for ch in text:
        if ch.isalnum() or ch == "_":
            word += ch
            continue
        if word:
            yield word
            word = ""
        yield ch
    if word:
        yield word


def reduction_loops(red, row, found: tuple[str, bool], acc_row) -> Iterator[tuple[int, str]]:
    """The loops of one reduction over one dtype, by Note [Layouts]."""
    expression, unsigned = fill(found[0], row), found[1]
    acc = Accumulator(red, row, acc_row)
    names = names_of(red.nin)

    def operands(how: str) -> list[Operand]:
        return [Operand(k, row, how[k], unsigned) for k in range(red.nin)]

    layouts = {0: "c" * red.nin, 1: "v" * red.nin}
    if red.nin == 2:
        layouts[4] = "cs"
    for layout, how in layouts.items():
        yield layout, run_loop(red, operands(how), acc, expression, names)
    yield 2, rows_loop(red, operands("c" * red.nin), acc, expression, names, "c")
    yield 3, rows_loop(red, operands("v" * red.nin), acc, expression, names, "v")


def run_loop(red, inputs: list[Operand], acc: Accumulator, expression: str, names: list[str]) -> str:
    """A run of n elements folded into one accumulator; Note [Order of a reduction]."""

    def element(i: str) -> list[str]:
        return [f"{x} = {op.load(i)}" for op, x in zip(inputs, names, strict=True)]

    lane = "lane_n" if acc.narrow else "lane"
    declare = [line for op in inputs for line in (op.declare(), op.step())]
    declare += [acc.operand.declare(), "cdef Py_ssize_t k, w, stop", f"cdef {acc.value} acc, v"]
    declare += [f"cdef {op.value} {x}" for op, x in zip(inputs, names, strict=True)]
    lane_type = "uint8_t" if acc.narrow else acc.memory if not acc.operand.complex else "c128"
    declare += [f"cdef {lane_type} {lane}[{LANES}]", "cdef c128 z"]
    block = ["for k in range(LANES):", f"    {lane}[k] = {acc.identity}"]
    step = [
        *element("i + k"),
        f"v = <{acc.value}>({expression})",
        f"{lane}[k] = <{lane_type}>({acc.folded(lane + '[k]', 'v')})",
    ]
    if acc.operand.complex:
        step[-2] = f"v = {expression}"
        step[-1] = f"{lane}[k] = {acc.folded(lane + '[k]', 'v')}"
    block += ["while i < stop:", "    for k in range(LANES):", *indent(step, 2), "    i += LANES"]
    combine = f"{lane}[k] = " + (
        acc.folded(f"{lane}[k]", f"{lane}[k + w]")
        if acc.operand.complex
        else f"<{lane_type}>({acc.folded(f'{lane}[k]', f'{lane}[k + w]')})"
    )
    block += ["w = LANES // 2", "while w > 0:", "    for k in range(w):", f"        {combine}", "    w >>= 1"]
    block += [f"acc = {acc.folded('acc', lane + '[0]')}"]
    if red.absorbing:
        block += [f"if acc == {red.absorbing}:", "    break"]
    tail_value = f"v = {expression}" if acc.operand.complex else f"v = <{acc.value}>({expression})"
    tail = [*element("i"), tail_value, f"acc = {acc.folded('acc', 'v')}", "i += 1"]
    once = [op.start(f"a[{op.index}] + j * t[{op.index}]") for op in inputs]
    once += [acc.operand.start(f"a[{red.nin}] + j * t[{red.nin}]"), f"acc = {acc.operand.load('0')}", "i = 0"]
    once += [
        "while n - i >= LANES:",
        f"    stop = i + (BLOCK if n - i >= BLOCK else (n - i) // LANES * LANES)",
        *indent(block),
    ]
    if red.absorbing:
        once += [f"if acc != {red.absorbing}:", "    while i < n:", *indent(tail, 2)]
    else:
        once += ["while i < n:", *indent(tail)]
    once += acc.operand.store("0", "acc")
    return function("NAME", declare, ["for j in range(m):", *indent(once)])


def rows_loop(
    red, inputs: list[Operand], acc: Accumulator, expression: str, names: list[str], how: str
) -> str:
    """m rows of n elements folded into a row of n accumulators, a strip of them at a time, four rows at once."""
    out = Operand(red.nin, acc.row, how, acc.unsigned, name="q")
    four = [
        [Operand(op.index, op.row, how, op.unsigned, name=f"p{op.index}_{r}") for r in range(4)]
        for op in inputs
    ]
    declare = [
        line for op in (*(op for row in four for op in row), out) for line in (op.declare(), op.step())
    ]
    declare += ["cdef Py_ssize_t first, last", f"cdef {acc.value} acc, v, v0, v1, v2, v3", "cdef c128 z"]
    declare += [f"cdef {op.value} {x}" for op, x in zip(inputs, names, strict=True)]
    result = expression if acc.operand.complex else f"<{acc.value}>({expression})"

    def rows(count: int) -> list[str]:
        # Pointers in locals: a store through a pointer that may alias the arguments would reload them.
        lines = []
        for r in range(count):
            lines += [
                f"{row[r].pointer} = <{row[r].memory}*>(a[{row[r].index}] + (j + {r}) * t[{row[r].index}])"
                for row in four
            ]
        lines.append("for i in range(first, last):")
        for r in range(count):
            lines += [f"    {x} = {row[r].load('i')}" for row, x in zip(four, names, strict=True)]
            lines.append(f"    v{r} = {result}")
        lines.append(f"    acc = {out.load('i')}")
        if count == 4:
            lines += [
                f"    v0 = {acc.folded('v0', 'v1')}",
                f"    v2 = {acc.folded('v2', 'v3')}",
                f"    v0 = {acc.folded('v0', 'v2')}",
            ]
        lines.append(f"    acc = {acc.folded('acc', 'v0')}")
        return lines + indent(out.store("i", "acc"))

    body = [out.start(f"a[{red.nin}]"), "first = 0", "while first < n:"]
    strip = ["last = first + 1024 if n - first > 1024 else n", "j = 0"]
    # Nested selections become branches in the compiler's hands, which it does not vectorise.
    if " if " not in acc.expression and "imum_" not in acc.expression:
        strip += ["while j + 4 <= m:", *indent(rows(4)), "    j += 4"]
    strip += ["while j < m:", *indent(rows(1)), "    j += 1", "first = last"]
    return function("NAME", declare, body + indent(strip))


def arg_loop(name: str, sign: str, row) -> str:
    """Index of the first extreme of a run; the first NaN where there is one.

    Blocks are folded by the vectorised loop of `max` or `min`; only the block that holds the extreme is
    searched.
    """
    fold = "max" if sign == ">" else "min"
    x = Operand(0, row, "v")
    identity = fill(
        next(
            text
            for key, text in next(r for r in optable.REDUCTIONS if r.name == fold).identity.items()
            if row.letter in key
        ),
        row,
    )
    better = f"best {'<' if sign == '>' else '>'} v"
    nan = row.letter == "f"
    stop = "best != best" if nan else "False"
    same = "(v == best) | (v != v)" if nan else "v == best"
    unordered = " or v != v" if nan else ""
    body = f"""
    cdef {x.memory}* p0
    cdef {x.memory} found
    cdef {x.value} best, v
    cdef int64_t* q
    cdef Py_ssize_t s0 = s[0], first, where, count, none[2]
    cdef char* args[2]
    none[0] = 0
    none[1] = 0
    for j in range(m):
        q = <int64_t*>(a[1] + j * t[1])
        p0 = <{x.memory}*>(a[0] + j * t[0])
        best = {x.load("0")}
        where = 0
        first = 0
        while first < n and not ({stop}):
            count = n - first if n - first < BLOCK else BLOCK
            found = {identity}
            args[0] = a[0] + j * t[0] + first * s0
            args[1] = <char*>&found
            if s0 == {row.itemsize}:
                {fold}_{row.name}_0(args, s, none, count, 1)
            else:
                {fold}_{row.name}_1(args, s, none, count, 1)
            v = found
            if {better}{unordered}:
                best = v
                where = first
            first += count
        for i in range(where, n):
            v = {x.load("i")}
            if {same}:
                where = i
                break
        q[0] = where
"""
    head = f"cdef void {name}_{row.name}(char** a, const Py_ssize_t* s, const Py_ssize_t* t, Py_ssize_t n, Py_ssize_t m) noexcept nogil:\n    cdef Py_ssize_t i, j"
    return head + body


PRELUDE = f'''# Generated by src/stride0/_core/generate_kernels.py from src/stride0/_optable.py: edit those.
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: cpow=True, binding=False

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from stride0._core.complexmath cimport *
from stride0._core.realmath cimport *
from stride0._core.scalars cimport *

cdef extern from *:
    """
    typedef struct {{ unsigned long long low, high; }} s0_bits16;
    """
    ctypedef struct s0_bits16:
        unsigned long long low
        unsigned long long high

cdef extern from "kernels.h":
    ctypedef void (*s0_loop)(char**, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef struct s0_kernels:
        s0_loop ops[96][13][4]
        s0_loop casts[13][13][4]
        s0_loop where[5][4]
        s0_loop reductions[16][13][5]
        s0_loop scans[4][13]
        s0_loop arg_reductions[2][13]

cdef enum:
    LANES = {LANES}
    BLOCK = {BLOCK}

cdef s0_kernels TABLE

'''

CLOSE = """


fill_table()
table = PyCapsule_New(&TABLE, "stride0.kernels", NULL)
"""


def main(target: str) -> None:
    emitter = Emitter()
    emitter.elementwise()
    emitter.casts()
    emitter.where()
    emitter.reductions()
    emitter.scans()
    emitter.arg_reductions()
    pathlib.Path(target).write_text(emitter.text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
