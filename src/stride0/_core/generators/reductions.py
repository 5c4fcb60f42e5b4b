"""The loops of reductions, cumulative operations and arg-reductions.

Note [Order of a reduction]
    The order in which a run is folded depends only on its length, never on the instruction set or the number
    of threads. A block of at most BLOCK elements is folded into 32 (ACCUMULATORS) accumulators. These are
    halved: accumulator k is folded with accumulator k + 16, then with k + 8, 4, 2 and 1. The remainder of the
    block, r < 32 elements, is divided into groups of powers of two, the largest group first; a group is
    folded in after the halving that leaves as many accumulators as the group has elements. Without a complete
    group of 32, the largest group initialises the accumulators. The blocks are folded one after the other.
    `folding.h` has the same order, in most of its loops. Integers give the same result in any order, so their
    loops are simple and the compiler vectorises them.
"""

from __future__ import annotations

import re
import string
from typing import Any

from common import (
    ACCUMULATORS,
    ARGUMENTS,
    CODE,
    ROWS,
    Operand,
    Row,
    block,
    elementwise,
    fill,
    function,
    names_of,
    operations,
)

FEW = 16  # lanes of runs that are folded in registers


def folded_name(red: Any, dtype: str, layout: int) -> str:
    """The name in `folding.h` or `finding.h` of a loop listed in `written`."""
    return f"s0_{'_'.join(red.alike.get(dtype, (red.name, dtype)))}_{layout}"


class Accumulator:
    """The accumulator of a reduction over operands of one dtype."""

    def __init__(self, red: Any, acc_row: Row) -> None:
        found = operations.body_for(red.fold, acc_row.letter)
        assert found is not None, (red.name, acc_row.name)
        self.expression, self.unsigned = found
        self.row = acc_row
        self.red = red
        self.operand = Operand(red.nin, acc_row, "c", self.unsigned, name="q")
        self.value = self.operand.value
        self.memory = self.operand.memory
        key = next(key for key in red.identity if acc_row.letter in key)
        self.identity = fill(red.identity[key], acc_row)

        self.exact = acc_row.letter in "biu"
        self.lane = "c128" if self.operand.complex else self.memory

    def cast(self, value: str) -> str:
        return value if self.operand.complex else f"({self.value})({value})"

    def kept(self, value: str) -> str:
        """The accumulator as it is stored in a lane."""
        return value if self.operand.complex else f"({self.lane})({value})"

    def folded(self, a: str, b: str) -> str:
        """The fold as one expression; operands are names or calls, both without side effects."""
        values = {"a": f"({self.cast(a)})", "b": f"({self.cast(b)})"}
        return re.sub(r"\b[ab]\b", lambda found: values[found[0]], fill(self.expression, self.row))


def reduction_loop(
    name: str, acc: Accumulator, row: Row, found: tuple[str, bool], layout: int, tail: str
) -> str:
    """The loop of one reduction over one dtype at one layout: Note [Layouts]."""
    expression, unsigned = fill(found[0], row), found[1]
    how = "cs" if layout == 4 else ("c" if layout in (0, 2) else "v") * acc.red.nin
    inputs = [Operand(k, row, how[k], unsigned) for k in range(acc.red.nin)]
    names = names_of(acc.red.nin)
    if layout in (2, 3):
        return rows_loop(name, inputs, acc, expression, names, how[0])
    return run_loop(name, inputs, acc, expression, names, tail)


def elements(inputs: list[Operand], acc: Accumulator, names: list[str], i: str) -> list[str]:
    """Name the elements i of all operands; products of float32 or int32 have the accumulator's type."""
    return [
        op.let(x, i) if len(inputs) == 1 or op.complex else f"const {acc.value} {x} = {op.load(i)};"
        for op, x in zip(inputs, names, strict=True)
    ]


def tail_function(acc: Accumulator) -> tuple[str, str]:
    """The function for the end of a block, and its name: Note [Order of a reduction].

    Elements with the same accumulator share it.
    """

    def over(width: int, value: str) -> list[str]:
        return block(f"for (int k = 0; k < {width}; k++)", [f"lane[k] = {value};"])

    body = []
    for w in (ACCUMULATORS >> level for level in range(1, ACCUMULATORS.bit_length())):
        join = [*over(w, acc.kept(acc.folded("lane[k]", "rest[k]"))), f"rest += {w};"]
        body += block(
            f"if (count >= {2 * w})",
            [*over(w, acc.kept(acc.folded("lane[k]", f"lane[k + {w}]"))), *block(f"if (count & {w})", join)],
        )
        body += block(f"else if (count >= {w})", [*over(w, "rest[k]"), f"rest += {w};"])
    name = f"{acc.red.name}_tail_{acc.row.name}"
    arguments = f"({acc.lane} *restrict lane, const {acc.lane} *restrict rest, Py_ssize_t count)"
    body.append("return lane[0];")
    head = f"static __attribute__((noinline)) {acc.lane} {name}{arguments}\n"
    return name, "\n".join(block(head, body)) + "\n"


def run_loop(
    name: str, inputs: list[Operand], acc: Accumulator, expression: str, names: list[str], tail: str
) -> str:
    """A run of n elements folded into one accumulator; Note [Order of a reduction]."""
    red = acc.red

    def value(i: str) -> list[str]:
        return [*elements(inputs, acc, names, i), f"const {acc.value} v = {acc.cast(expression)};"]

    def over(count: str, body: list[str]) -> list[str]:
        return block(f"for (Py_ssize_t k = 0; k < {count}; k++)", body)

    join = [*value("i + k"), f"lane[k] = {acc.kept(acc.folded('lane[k]', 'v'))};"]
    whole = over("S0_ACCUMULATORS", [f"lane[k] = {acc.kept(acc.identity)};"])
    whole += block("for (; i < stop; i += S0_ACCUMULATORS)", over("S0_ACCUMULATORS", join))
    # Fewer than 32 elements, as in rows of short axes, stay in registers.
    # GCC wrongly reports the lanes of complex numbers as uninitialised when they are read.
    few = [f"{acc.lane} lane[{FEW}]{' = {{0}}' if acc.operand.complex else ''};"]
    for w in (FEW >> level for level in range(FEW.bit_length())):
        first = [*over(str(w), [*value("i + k"), f"lane[k] = {acc.kept('v')};"]), f"i += {w};"]
        halve = over(str(w), [f"lane[k] = {acc.kept(acc.folded('lane[k]', f'lane[k + {w}]'))};"])
        if w < FEW:
            few += block(
                f"if (count >= {2 * w})",
                [*halve, *block(f"if (count & {w})", [*over(str(w), join), f"i += {w};"])],
            )
            few += block(f"else if (count >= {w})", first)
        else:
            few += block(f"if (count >= {FEW})", first)
    few += [f"acc = {acc.folded('acc', 'lane[0]')};"]
    many = [
        f"{acc.lane} lane[S0_ACCUMULATORS], rest[S0_ACCUMULATORS], *group = rest;",
        "const Py_ssize_t left = count & (S0_ACCUMULATORS - 1), stop = i + count - left;",
        *block("if (i < stop)", whole),
    ]
    # Stored in the groups in which they are read: a vector load just after single stores would stall.
    for w in (ACCUMULATORS >> level for level in range(1, ACCUMULATORS.bit_length())):
        group = over(str(w), [*value("i + k"), f"group[k] = {acc.kept('v')};"])
        many += block(f"if (left & {w})", [*group, f"i += {w}, group += {w};"])
    many += [f"const {acc.value} v = {tail}(lane, rest, count);", f"acc = {acc.folded('acc', 'v')};"]
    fold = ["const Py_ssize_t count = n - i < S0_BLOCK ? n - i : S0_BLOCK;"]
    if acc.exact:
        # In any order. The compiler's loop over bytes needs longer runs than short axes have.
        one = f"acc = {acc.folded('acc', 'v')};"
        fold += ["const Py_ssize_t stop = i + (count & ~(Py_ssize_t)(S0_ACCUMULATORS - 1)), end = i + count;"]
        lanes = over("S0_ACCUMULATORS", [f"acc = {acc.folded('acc', 'lane[k]')};"])
        fold += block("if (i < stop)", [f"{acc.lane} lane[S0_ACCUMULATORS];", *whole, *lanes])
        for w in (16, 8, 4) if inputs[0].row.itemsize == 1 else ():
            fold += block(f"if (count & {w})", [*over(str(w), [*value("i + k"), one]), f"i += {w};"])
        fold += block("for (; i < end; i++)", [*value("i"), one])
    else:
        fold += [*block(f"if (count < {2 * FEW})", few), *block("else", many)]
    if red.absorbing:
        fold += [f"if (acc == {red.absorbing})", "    break;"]
    once = [op.start(f"a[{op.index}] + j * t[{op.index}]") for op in inputs]
    once += [
        acc.operand.start(f"a[{red.nin}] + j * t[{red.nin}]"),
        f"{acc.value} acc = {acc.operand.load('0')};",
    ]
    once += [*block("for (Py_ssize_t i = 0; i < n;)", fold), *acc.operand.store("0", "acc")]
    return function(name, [op.step() for op in inputs], block("for (Py_ssize_t j = 0; j < m; j++)", once))


def rows_loop(
    name: str, inputs: list[Operand], acc: Accumulator, expression: str, names: list[str], how: str
) -> str:
    """Rows of n elements folded into a row of n accumulators, a strip at a time, four rows at once."""
    out = Operand(acc.red.nin, acc.row, how, acc.unsigned, name="q")
    four = [
        [Operand(op.index, op.row, how, op.unsigned, name=f"p{op.index}_{r}") for op in inputs]
        for r in range(4)
    ]

    def rows(count: int) -> list[str]:
        # Pointers are local variables: otherwise each store, which may alias the arguments, would reload
        # them.
        lines = [
            op.start(f"a[{op.index}] + (j + {r}) * t[{op.index}]") for r in range(count) for op in four[r]
        ]
        inner = [f"{acc.value} {', '.join(f'v{r}' for r in range(count))}, acc = {out.load('i')};"]
        for r in range(count):
            inner += block("", [*elements(four[r], acc, names, "i"), f"v{r} = {acc.cast(expression)};"])
        if count == 4:
            inner += [f"v{x} = {acc.folded(f'v{x}', f'v{y}')};" for x, y in ((0, 1), (2, 3), (0, 2))]
        inner += [f"acc = {acc.folded('acc', 'v0')};", *out.store("i", "acc")]
        return lines + elementwise("first", "last", inner)

    strip = ["const Py_ssize_t last = n - first > S0_BLOCK ? first + S0_BLOCK : n;", "Py_ssize_t j = 0;"]
    # The compiler turns nested selections into branches, which it does not vectorise.
    if "imum_" not in acc.expression:
        strip += block("for (; j + 4 <= m; j += 4)", rows(4))
    strip += [*block("for (; j < m; j++)", rows(1)), "first = last;"]
    body = [out.start(f"a[{acc.red.nin}]"), *block("for (Py_ssize_t first = 0; first < n;)", strip)]
    return function(name, [op.step() for op in (*inputs, out)], body)


def parts_loop(name: str, contiguous: str, row: Row, total: Row) -> str:
    """Rows over any strides, by the loop for contiguous rows: Note [Parts]."""
    codes = f"{CODE[row.name]}, {CODE[total.name]}"
    return function(name, [], [f"s0_reduce_rows({contiguous}, {codes}, a, s, t, n, m);"])


def scan_accumulator(red: Any, row: Row) -> Accumulator:
    return Accumulator(red, ROWS[CODE[red.accumulator[row.letter]]])


def scan_loop(name: str, red: Any, row: Row) -> str:
    """All partial folds of a run; four runs at once, because each fold depends on the previous one."""
    acc = scan_accumulator(red, row)

    def runs(how: str, count: int) -> list[str]:
        lines, inner = [], []
        for r in range(count):
            x, out = Operand(0, row, how, name=f"p{r}"), Operand(1, row, how, name=f"q{r}")
            lines += [x.start(f"a[0] + (j + {r}) * t[0]"), out.start(f"a[1] + (j + {r}) * t[1]")]
            lines.append(f"{acc.value} acc{r} = {acc.identity};")
            inner += [f"acc{r} = {acc.folded(f'acc{r}', x.load('i'))};", *out.store("i", f"acc{r}")]
        return lines + block("for (Py_ssize_t i = 0; i < n; i++)", inner)

    body = ["Py_ssize_t j = 0;", f"if (s0 == {row.itemsize} && s1 == {row.itemsize})"]
    body += ["    " + line for line in block("for (; j + 4 <= m; j += 4)", runs("c", 4))]
    body += [*block("for (; j + 4 <= m; j += 4)", runs("v", 4)), *block("for (; j < m; j++)", runs("v", 1))]
    return function(name, [Operand(k, row, "v").step() for k in (0, 1)], body)


STRIPS = "for (Py_ssize_t first = 0; first < n; first += S0_STRIP)"
STRIP_COUNT = "const Py_ssize_t count = n - first < S0_STRIP ? n - first : S0_STRIP;"
OVER_STRIP = "for (Py_ssize_t i = 0; i < count; i++)"


def scan_rows_loop(name: str, red: Any, row: Row) -> str:
    """All partial folds along the m rows, for all n adjacent columns at once."""
    acc = scan_accumulator(red, row)
    x, out = Operand(0, row, "c"), Operand(1, row, "c")
    inner = [f"acc[i] = {acc.folded('acc[i]', x.load('i'))};", *out.store("i", "acc[i]")]
    one = [op.start(f"a[{op.index}] + j * t[{op.index}] + first * {row.itemsize}") for op in (x, out)]
    body = [STRIP_COUNT, f"{OVER_STRIP} acc[i] = {acc.identity};"]
    body += block("for (Py_ssize_t j = 0; j < m; j++)", [*one, *block(OVER_STRIP, inner)])
    return function(name, [f"{acc.value} acc[S0_STRIP];"], block(STRIPS, body))


class Flipped:
    """Elements of an arg-reduction. They are flipped if the least one is wanted, which is then the greatest.

    The bits of integers are flipped, of unsigned ones the first bit too: so they are compared as signed ones,
    and eight dtypes have four functions.
    """

    def __init__(self, row: Row) -> None:
        width = 8 * row.itemsize
        self.row = row
        self.real = row.letter == "f"
        self.boolean = row.letter == "b"
        self.name = row.name if self.real or self.boolean else f"int{width}"
        self.type = row.ctype if self.real else f"int{width}_t"
        self.greatest = "INFINITY" if self.real else "1" if self.boolean else f"INT{width}_MAX"
        self.least = "-INFINITY" if self.real else "0" if self.boolean else f"INT{width}_MIN"
        # A new element replaces the best one so far; NaN is better than any other.
        self.better = " | ((v != v) & ({0} == {0}))" if self.real else ""

    def flip(self, sign: str) -> str:
        """What elements are flipped by, so that the greatest one (">") or the least one is the greatest."""
        if self.real:
            return "1" if sign == ">" else "-1"
        if self.boolean:
            return "0" if sign == ">" else "1"
        top = "0" if self.row.letter == "i" else self.least
        return top if sign == ">" else f"~{top}"

    def flipped(self, element: str) -> str:
        return f"({self.type})({element} {'*' if self.real else '^'} flip)"

    def load(self, place: str) -> str:
        return self.flipped(f"({place} != 0)" if self.boolean else place)


def arg_rows_function(row: Row) -> tuple[str, str]:
    """Index along the m rows of the first extreme of each of n columns, strip by strip."""
    x = Flipped(row)
    name = f"extreme_rows_{x.name}"
    index = "int64_t" if row.itemsize == 8 else "int32_t"

    def part(j: str) -> list[str]:
        """The elements of a strip, contiguous: Note [Parts]."""
        place = f"a[0] + {j} * t[0] + first * s[0]"
        part = f"s0_next_part(&from, s[0], {row.itemsize}, copy, count)"
        return [f"const char *from = {place};", f"const {x.type} *p = {part};"]

    first = [*part("0"), *block(OVER_STRIP, [f"best[i] = {x.load('p[i]')};", "at[i] = 0;"])]
    one = [f"const {x.type} v = {x.load('p[i]')};"]
    one += [f"const int better = (best[i] < v){x.better.format('best[i]')};"]
    one += ["best[i] = better ? v : best[i];", f"at[i] = better ? ({index})j : at[i];"]
    rows = [*part("j"), *block(OVER_STRIP, one)]
    body = [STRIP_COUNT, *block("", first), *block("for (Py_ssize_t j = 1; j < m; j++)", rows)]
    body += [f"{OVER_STRIP} *(int64_t *)(a[1] + (first + i) * s[1]) = at[i];"]
    kept = [f"{x.type} best[S0_STRIP];", f"{index} at[S0_STRIP];", f"char copy[S0_STRIP * {row.itemsize}];"]
    head = f"static S0_ONE_COPY void {name}{ARGUMENTS.rstrip(')')}, const {x.type} flip)\n"
    return name, "\n".join(block(head, [*kept, *block(STRIPS, body)])) + "\n"


def arg_rows_loop(name: str, function_name: str, sign: str, row: Row) -> str:
    return function(name, [], [f"{function_name}(a, s, t, n, m, {Flipped(row).flip(sign)});"])


def arg_loop(name: str, function_name: str, sign: str, row: Row) -> str:
    """Index of the first extreme of a run, or of the first NaN."""
    reductions = [red.name for red in operations.REDUCTIONS]
    fold = reductions.index("max" if sign == ">" else "min")
    loops = f"s0_table->reductions[{fold}][{CODE[row.name]}]"
    return function(name, [], [f"{function_name}(a, s, t, n, m, {loops}, {Flipped(row).flip(sign)});"])


def extreme_function(row: Row) -> tuple[str, str]:
    """The bodies of `argmax` and `argmin`, with the loops of `max` or `min`.

    Blocks are folded by the loop; only the block with the extreme is searched. A few elements are
    compared one by one.
    """
    x = Flipped(row)
    place = f"*(const {x.type} *)((const char *)p + i * s0)"
    name = f"extreme_{x.name}"
    # NaN ends the search, and so does the greatest value of an integer dtype.
    return name, EXTREME.substitute(
        ARGUMENTS=ARGUMENTS.rstrip(")"),
        type=x.type,
        size=row.itemsize,
        least=x.flipped(x.least),
        stop="best[0] != best[0]" if x.real else f"best[0] == {x.greatest}",
        better="best[k] < v" + (" || v != v" if x.real else ""),
        nan=NAN_FOUND.format(place=place) if x.real else "",
        first=x.load("p[0]"),
        next=x.load(place),
        nan_first=x.better.format("best[0]"),
        found=x.flipped("found[k]"),
        wanted=x.flipped("best[k]"),
        name=x.name,
    )


NAN_FOUND = """
            if (best[k] != best[k]) {{
                while ({place} == {place})
                    i++;
                *(int64_t *)(a[1] + (j + k) * t[1]) = i;
                continue;
            }}"""

EXTREME = string.Template("""\
static S0_ONE_COPY void extreme_$name$ARGUMENTS, const s0_loop *loops, const $type flip)
{
    enum { RUNS = 64, BYTES = 16384, SEARCHED = 1024, FEW = 8 };
    const Py_ssize_t s0 = s[0];
    $type found[RUNS], best[RUNS], v;
    Py_ssize_t where[RUNS], most = 1;
    if (n <= FEW) {
        for (Py_ssize_t j = 0; j < m; j++) {
            const $type *p = (const $type *)(a[0] + j * t[0]);
            best[0] = $first, where[0] = 0;
            for (Py_ssize_t i = 1; i < n; i++) {
                v = $next;
                const int better = (best[0] < v)$nan_first;
                best[0] = better ? v : best[0];
                where[0] = better ? i : where[0];
            }
            *(int64_t *)(a[1] + j * t[1]) = where[0];
        }
        return;
    }
    /* Short runs several at once, so that no search waits for the extreme of its run; all in the first
     * cache. */
    if (n <= SEARCHED) {
        most = BYTES / ($size * n);
        most = most > RUNS ? RUNS : most;
    }
    for (Py_ssize_t j = 0; j < m; j += most) {
        const Py_ssize_t runs = m - j > most ? most : m - j;
        for (Py_ssize_t first = 0; first < n && (first == 0 || !($stop)); first += SEARCHED) {
            const Py_ssize_t count = n - first < SEARCHED ? n - first : SEARCHED, outer[2] = {t[0], $size};
            char *args[2] = {a[0] + j * t[0] + first * s0, (char *)found};
            for (Py_ssize_t k = 0; k < runs; k++)
                found[k] = $least;
            loops[s0 == $size ? 0 : 1](args, s, outer, count, runs);
            for (Py_ssize_t k = 0; k < runs; k++) {
                v = $found;
                if (first == 0 || $better) {
                    best[k] = v;
                    where[k] = first;
                }
            }
        }
        for (Py_ssize_t k = 0; k < runs; k++) {
            const $type *p = (const $type *)(a[0] + (j + k) * t[0]);
            Py_ssize_t i = where[k];
            char copy[S0_PART * $size];
            const char *from = (const char *)p + i * s0;$nan
            for (Py_ssize_t at = 0, count = 0; at == count && i < n; i += at) {
                count = s0 == $size || n - i < S0_PART ? n - i : S0_PART;
                at = s0_find_$name(s0_next_part(&from, s0, $size, copy, count), count, $wanted);
            }
            *(int64_t *)(a[1] + (j + k) * t[1]) = i;
        }
    }
}
""")
