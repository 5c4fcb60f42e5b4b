"""The loops of reductions, cumulative operations and arg-reductions.

Note [Order of a reduction]
    The order in which a run is folded depends on its length alone, never on the instruction set or on
    the number of threads. A block of BLOCK elements, or what there is, is folded by LANES accumulators
    side by side. These are halved, lane k with lane k + 16, then with k + 8, 4, 2 and 1. What is left
    of the block, r < LANES elements, is taken as groups of powers of two, the largest one first, and a
    group joins where there are as many lanes as it has elements, after they were halved; without a
    whole group of LANES the largest one is what the lanes begin with. Then the blocks one after the
    other. `folding.h` has this order too, for most loops of FOLDED.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from common import (
    ARGUMENTS,
    BLOCK,
    CODE,
    LANES,
    ROWS,
    Operand,
    Row,
    fill,
    function,
    indent,
    names_of,
    operations,
)

# The loops that `folding.h` and `finding.h` have, by reduction and layout, and of which dtypes.
FOLDED = {
    ("sum", 0): ("int64", "uint64", "float32", "float64", "complex64", "complex128"),
    ("sum", 2): ("float32",),
    ("dot", 0): ("float32", "float64"),
    ("vecdot", 0): ("float32", "float64"),
    ("any", 0): ("bool",),
    ("all", 0): ("bool",),
    **{(name, 0): ("int64", "float32", "float64") for name in ("max", "min")},
    **{(name, 2): ("float32", "float64") for name in ("max", "min")},
}

# What is the same there: integers add up as unsigned ones, and real numbers have no conjugates.
ALIKE = {("sum", "int64"): ("sum", "uint64"), **{("vecdot", t): ("dot", t) for t in FOLDED["vecdot", 0]}}

# Of `scanning.h`: scan, dtype, and what the loop is called there.
SCANNED = {("cumulative_sum", dtype): "s0_cumulative_sum_words" for dtype in ("int64", "uint64")}

# Runs whose extremes are looked for at once, at most, and bytes of them; elements of a block of a long one.
ARG_RUNS = 64
ARG_BYTES = 16384
ARG_BLOCK = 1024


def folded_declarations() -> str:
    """Those loops declared by the names of the generated ones, and where a value is in a run."""
    lines = ["cdef extern from *:", '    """']
    lines += [f"    #define S0_LANES {LANES}", f"    #define S0_BLOCK {BLOCK}"]
    lines += [f'    #include "{header}.h"' for header in ("folding", "finding", "scanning")] + ['    """']
    for (name, layout), dtypes in FOLDED.items():
        for dtype in dtypes:
            own = "_".join(ALIKE.get((name, dtype), (name, dtype)))
            lines.append(f'    void {name}_{dtype}_{layout} "s0_{own}_{layout}"{ARGUMENTS} noexcept nogil')
    for (name, dtype), own in SCANNED.items():
        lines.append(f'    void {name}_{dtype} "{own}"{ARGUMENTS} noexcept nogil')
    for row in ROWS:
        if row.letter != "c":
            wanted = f"(const {row.ctype}*, Py_ssize_t, {row.ctype})"
            lines.append(f"    Py_ssize_t s0_find_{row.name}{wanted} noexcept nogil")
    return "\n".join(lines) + "\n\n"


class Accumulator:
    """The accumulator of a reduction over operands of one dtype."""

    def __init__(self, red: Any, row: Row, acc_row: Row) -> None:
        found = operations.body_for(red.fold, acc_row.letter)
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


def reduction_loops(red: Any, row: Row, found: tuple[str, bool], acc_row: Row) -> Iterator[tuple[int, str]]:
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
        if row.name not in FOLDED.get((red.name, layout), ()):
            yield layout, run_loop(red, operands(how), acc, expression, names)
    for layout, how in {2: "c", 3: "v"}.items():
        if row.name not in FOLDED.get((red.name, layout), ()):
            yield layout, rows_loop(red, operands(how * red.nin), acc, expression, names, how)


def value_of(op: Operand, acc: Accumulator) -> str:
    """In which type a body computes: a product of float32 or int32 is one of the accumulator's type."""
    if acc.red.nin == 1 or op.complex:
        return op.value
    return acc.value


def run_loop(red: Any, inputs: list[Operand], acc: Accumulator, expression: str, names: list[str]) -> str:
    """A run of n elements folded into one accumulator; Note [Order of a reduction]."""

    def element(i: str) -> list[str]:
        return [f"{x} = {op.load(i)}" for op, x in zip(inputs, names, strict=True)]

    lane = "lane_n" if acc.narrow else "lane"
    declare = [line for op in inputs for line in (op.declare(), op.step())]
    declare += [acc.operand.declare(), "cdef Py_ssize_t k, stop, count", f"cdef {acc.value} acc, v"]
    declare += [f"cdef {value_of(op, acc)} {x}" for op, x in zip(inputs, names, strict=True)]
    lane_type = "uint8_t" if acc.narrow else acc.memory if not acc.operand.complex else "c128"
    declare += [f"cdef {lane_type} {lane}[{LANES}]", "cdef c128 z"]

    def keep(value: str) -> str:
        return f"{lane}[k] = {value}" if acc.operand.complex else f"{lane}[k] = <{lane_type}>({value})"

    def value(i: str) -> list[str]:
        result = expression if acc.operand.complex else f"<{acc.value}>({expression})"
        return [*element(i), f"v = {result}"]

    def over(count: str, body: list[str]) -> list[str]:
        return [f"for k in range({count}):", *indent(body)]

    join = keep(acc.folded(f"{lane}[k]", "v"))
    block = ["count = n - i if n - i < BLOCK else BLOCK", "if count >= LANES:"]
    block += indent(over("LANES", [f"{lane}[k] = {acc.identity}"]))
    block += ["    stop = i + count - count % LANES", "    while i < stop:"]
    block += indent([*over("LANES", [*value("i + k"), join]), "i += LANES"], 2)
    for w in (LANES >> level for level in range(1, LANES.bit_length())):
        halve = keep(acc.folded(f"{lane}[k]", f"{lane}[k + {w}]"))
        block += [f"if count >= {2 * w}:", *indent(over(str(w), [halve])), f"    if count & {w}:"]
        block += indent([*over(str(w), [*value("i + k"), join]), f"i += {w}"], 2)
        block += [f"elif count >= {w}:", *indent([*over(str(w), [*value("i + k"), keep("v")]), f"i += {w}"])]
    block += [f"acc = {acc.folded('acc', lane + '[0]')}"]
    if red.absorbing:
        block += [f"if acc == {red.absorbing}:", "    break"]
    once = [op.start(f"a[{op.index}] + j * t[{op.index}]") for op in inputs]
    once += [acc.operand.start(f"a[{red.nin}] + j * t[{red.nin}]"), f"acc = {acc.operand.load('0')}", "i = 0"]
    once += ["while i < n:", *indent(block), *acc.operand.store("0", "acc")]
    return function("NAME", declare, ["for j in range(m):", *indent(once)])


def rows_loop(
    red: Any, inputs: list[Operand], acc: Accumulator, expression: str, names: list[str], how: str
) -> str:
    """Rows of n elements folded into a row of n accumulators, a strip at a time, four rows at once."""
    out = Operand(red.nin, acc.row, how, acc.unsigned, name="q")
    four = [
        [Operand(op.index, op.row, how, op.unsigned, name=f"p{op.index}_{r}") for r in range(4)]
        for op in inputs
    ]
    declare = [
        line for op in (*(op for row in four for op in row), out) for line in (op.declare(), op.step())
    ]
    declare += ["cdef Py_ssize_t first, last", f"cdef {acc.value} acc, v, v0, v1, v2, v3", "cdef c128 z"]
    declare += [f"cdef {value_of(op, acc)} {x}" for op, x in zip(inputs, names, strict=True)]
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
    strip = ["last = first + BLOCK if n - first > BLOCK else n", "j = 0"]
    # Nested selections become branches in the compiler's hands, which it does not vectorise.
    if "imum_" not in acc.expression:
        strip += ["while j + 4 <= m:", *indent(rows(4)), "    j += 4"]
    strip += ["while j < m:", *indent(rows(1)), "    j += 1", "first = last"]
    return function("NAME", declare, body + indent(strip))


def scan_loop(name: str, red: Any, row: Row) -> str:
    """Every partial fold of a run, from the identity on; four runs at once, as each fold waits for one."""
    acc = Accumulator(red, row, ROWS[CODE[red.accumulator[row.letter]]])
    layouts = {
        how: [(Operand(0, row, how, name=f"p{r}"), Operand(1, row, how, name=f"q{r}")) for r in range(4)]
        for how in "cv"
    }
    declare = [line for pair in layouts["v"] for op in pair for line in (op.declare(), op.step())]
    declare += [f"cdef {acc.value} acc{r}" for r in range(4)] + ["cdef c128 z"]

    def runs(how: str, count: int) -> list[str]:
        lines, inner = [], []
        for r, (x, out) in enumerate(layouts[how][:count]):
            lines += [x.start(f"a[0] + (j + {r}) * t[0]"), out.start(f"a[1] + (j + {r}) * t[1]")]
            lines.append(f"acc{r} = {acc.identity}")
            inner += [f"acc{r} = {acc.folded(f'acc{r}', x.load('i'))}", *out.store("i", f"acc{r}")]
        return [*lines, "for i in range(n):", *indent(inner), f"j += {count}"]

    body = ["j = 0", f"if s0 == {row.itemsize} and s1 == {row.itemsize}:", "    while j + 4 <= m:"]
    body += [*indent(runs("c", 4), 2), "while j + 4 <= m:", *indent(runs("v", 4))]
    body += ["while j < m:", *indent(runs("v", 1))]
    return function(name, declare, body)


def scan_rows_loop(name: str, red: Any, row: Row) -> str:
    """The same along the m rows, for all n columns side by side, whose elements lie one behind the other."""
    acc = Accumulator(red, row, ROWS[CODE[red.accumulator[row.letter]]])
    x, out = Operand(0, row, "c"), Operand(1, row, "c")
    declare = [
        x.declare(),
        out.declare(),
        f"cdef {acc.value} acc[STRIP]",
        "cdef c128 z",
        "cdef Py_ssize_t first, n_strip",
    ]
    inner = [f"acc[i] = {acc.folded('acc[i]', x.load('i'))}", *out.store("i", "acc[i]")]
    body = [
        "for first from 0 <= first < n by STRIP:",
        "    n_strip = STRIP if n - first > STRIP else n - first",
    ]
    body += ["    for i in range(n_strip):", f"        acc[i] = {acc.identity}", "    for j in range(m):"]
    body += [
        f"        {op.start(f'a[{op.index}] + j * t[{op.index}] + first * {row.itemsize}')}"
        for op in (x, out)
    ]
    body += ["        for i in range(n_strip):", *indent(inner, 3)]
    return function(name, declare, body)


def arg_rows_loop(name: str, sign: str, row: Row) -> str:
    """Index along the m rows of the first extreme of each of n columns, whose elements lie side by side."""
    x = Operand(0, row, "c")
    index = "int64_t" if row.itemsize == 8 else "int32_t"
    better = f"best[i] {'<' if sign == '>' else '>'} v"
    if row.letter == "f":
        better = f"({better}) | ((v != v) & (best[i] == best[i]))"
    body = f"""
    cdef {x.memory}* p0
    cdef {x.value} best[STRIP]
    cdef {index} at[STRIP]
    cdef {x.value} v
    cdef bint better
    cdef Py_ssize_t first, n_strip
    for first from 0 <= first < n by STRIP:
        n_strip = STRIP if n - first > STRIP else n - first
        p0 = <{x.memory}*>(a[0] + first * {row.itemsize})
        for i in range(n_strip):
            best[i] = {x.load("i")}
            at[i] = 0
        for j in range(1, m):
            p0 = <{x.memory}*>(a[0] + j * t[0] + first * {row.itemsize})
            for i in range(n_strip):
                v = {x.load("i")}
                better = {better}
                best[i] = v if better else best[i]
                at[i] = <{index}>j if better else at[i]
        for i in range(n_strip):
            (<int64_t*>(a[1] + (first + i) * s[1]))[0] = at[i]
"""
    return f"cdef void {name}{ARGUMENTS} noexcept nogil:\n    cdef Py_ssize_t i, j" + body


def arg_loop(name: str, sign: str, row: Row) -> str:
    """Index of the first extreme of a run; the first NaN where there is one.

    Blocks are folded by the loop of `max` or `min`; only the one that holds the extreme is searched.
    """
    fold = "max" if sign == ">" else "min"
    x = Operand(0, row, "v")
    identity, farthest = (
        fill(
            next(
                text
                for key, text in next(r for r in operations.REDUCTIONS if r.name == which).identity.items()
                if row.letter in key
            ),
            row,
        )
        for which in (fold, "min" if fold == "max" else "max")
    )
    number = [red.name for red in operations.REDUCTIONS].index(fold)
    loops = f"reductions[{number}][{CODE[row.name]}]"
    better = f"best[k] {'<' if sign == '>' else '>'} v"
    nan = row.letter == "f"
    # NaN ends the search, and so does the greatest or least value of an integer dtype.
    stop = "best[0] != best[0]" if nan else f"best[0] == {farthest}"
    same = "(v == best[k]) | (v != v)" if nan else "v == best[k]"
    ordered = "best[k] == best[k]" if nan else "True"
    unordered = " or v != v" if nan else ""
    body = f"""
    cdef {x.memory}* p0
    cdef {x.memory} found[ARG_RUNS]
    cdef {x.value} best[ARG_RUNS]
    cdef Py_ssize_t where[ARG_RUNS]
    cdef {x.value} v
    cdef Py_ssize_t s0 = s[0], first, count, k, runs, most = 1
    cdef Py_ssize_t outer[2]
    cdef char* args[2]
    # Short runs several at once, so that no search waits for the extreme of its run; all in the first cache.
    if n <= ARG_BLOCK:
        most = {ARG_BYTES} // ({row.itemsize} * n)
        most = ARG_RUNS if most > ARG_RUNS else most
    outer[0] = t[0]
    outer[1] = {row.itemsize}
    for j from 0 <= j < m by most:
        runs = most if m - j > most else m - j
        first = 0
        while first < n and (first == 0 or not ({stop})):
            count = n - first if n - first < ARG_BLOCK else ARG_BLOCK
            for k in range(runs):
                found[k] = {identity}
            args[0] = a[0] + j * t[0] + first * s0
            args[1] = <char*>found
            if s0 == {row.itemsize}:
                TABLE.{loops}[0](args, s, outer, count, runs)
            else:
                TABLE.{loops}[1](args, s, outer, count, runs)
            for k in range(runs):
                v = found[k]
                if first == 0 or {better}{unordered}:
                    best[k] = v
                    where[k] = first
            first += count
        for k in range(runs):
            p0 = <{x.memory}*>(a[0] + (j + k) * t[0])
            i = where[k]
            if s0 == {row.itemsize} and {ordered}:
                i += s0_find_{row.name}(p0 + i, n - i, <{x.memory}>best[k])
            else:
                while i < n:
                    v = {x.load("i")}
                    if {same}:
                        break
                    i += 1
            (<int64_t*>(a[1] + (j + k) * t[1]))[0] = i
"""
    head = f"cdef void {name}_{row.name}{ARGUMENTS} noexcept nogil:\n    cdef Py_ssize_t i, j"
    return head + body
