"""Text of special loops, and the bodies of the loops of all operations."""

from __future__ import annotations

import re
from typing import Any

from common import (
    CODE,
    ROWS,
    STRIP,
    Operand,
    Row,
    block,
    elementwise,
    fill,
    function,
    map_loop,
    names_of,
    operations,
)

# Integers of values that 32 signed bits hold.
NARROW = ("int8", "int16", "int32", "uint8", "uint16")


def moved_quickly(row: Row) -> list[str]:
    """Vectorised loops that move every second element, or elements in reverse order. They are tried first."""
    if row.itemsize > 8:
        return []
    element = f"int{8 * row.itemsize}_t"
    lines = []
    for step in (2, -1):
        body = [f"const {element} *from = (const void *)(a[0] + j * t[0]);"]
        body.append(f"{element} *to = (void *)(a[1] + j * t[1]);")
        body += elementwise("0", "n", [f"to[i] = from[{step} * i];"])
        runs = block("for (Py_ssize_t j = 0; j < m; j++)", body)
        test = f"if (s[0] == {step * row.itemsize} && s[1] == {row.itemsize})"
        lines += block(test, [*runs, "return;"])
    return lines


def inverted(row: Row, divisor: int, loop: str) -> list[str]:
    """
    The faster loop of products, which a loop of quotients by one value runs if the inverse is exact.

    It is exact for powers of two. Then both loops round the same number once.
    """
    value = f"*(const {row.ctype} *)a[{divisor}]"
    places = ["(char *)&inverse" if k == divisor else f"a[{k}]" for k in range(divisor + 2)]
    test = f"(m == 1 || t[{divisor}] == 0) && s0_has_inverse_f{8 * row.itemsize}({value}, &inverse)"
    run = [f"char *args[] = {{{', '.join(places)}}};", f"s0_table->{loop}(args, s, t, n, m);", "return;"]
    return [f"{row.ctype} inverse;", *block(f"if ({test})", run)]


def mirrored_loop(name: str, loop: str) -> str:
    """A loop of two operands by another one that takes them the other way round."""
    types = {"a": "char *", "s": "const Py_ssize_t ", "t": "const Py_ssize_t "}
    swapped = [f"{kind}{x}_[] = {{{x}[1], {x}[0], {x}[2]}};" for x, kind in types.items()]
    return function(name, [], [*swapped, f"s0_table->{loop}(a_, s_, t_, n, m);"])


def blockwise_loop(name: str, loops: str, rows: list[Row], each: str = "NULL") -> str:
    """A loop over any strides that calls the table's loop over contiguous elements: Note [Blockwise]. `each`
    is the loop over single elements, for strides at which it is faster.
    """
    codes = ", ".join(str(CODE[row.name]) for row in rows)
    how = f"{{offsetof(s0_kernels, {loops}), {each}, {len(rows)}, {{{codes}}}}}"
    body = [f"static const s0_gathering how = {how};", "s0_blockwise(a, s, t, n, m, &how);"]
    return function(name, [], body)


def has_seconds(op: Any, row: Row) -> bool:
    """Whether there is a loop over every second element: Note [Blockwise]."""
    if row.itemsize != 8 or row.letter == "c" or op.slow or row.name in op.gains:
        return False
    return op.nin == 1 or (op.nin == 2 and op.out == "same" and op.public)


def body_of(op: Any, row: Row) -> tuple[str, bool] | None:
    """The body of an operation on a dtype or on its bits, and whether operands are unsigned."""
    if row.arithmetic:
        return (op.body["s"], False) if "s" in op.body else None
    found: tuple[str, bool] | None = operations.body_for(op.body, row.letter)
    return found


def pair_body(pair: Any, first: Any, second: Any, row: Row) -> str:
    """The second operation's body with the first body as operand, rounded as if it were stored."""
    names = names_of(first.nin + second.nin - 1)
    other = iter(names[first.nin :])
    inner = substituted(first, fill(first.body["f"], row), names[: first.nin])
    outer = [f"({row.ctype})({inner})" if k == pair.at else next(other) for k in range(second.nin)]
    return substituted(second, fill(second.body["f"], row), outer)


def substituted(op: Any, body: str, operands: list[str]) -> str:
    values = dict(zip(names_of(op.nin), operands, strict=True))
    return re.sub(r"\bx\d?\b", lambda found: values[found.group()], body)


def past(name: str, operands: list[Row], how: str) -> tuple[str, str]:
    """The variant of a loop with non-temporal stores, and its text."""
    strides = [0 if kind == "s" else row.itemsize for row, kind in zip(operands, how, strict=True)]
    return f"{name}_past", f"S0_PAST({name}, {len(how) - 1}, {', '.join(map(str, strides))})\n"


def fill_loop(name: str, source: Row, target: Row, expression: str) -> str:
    """A loop that casts one value, and repeats it by the loop that moves values."""
    x, y = Operand(0, source, "s"), Operand(1, target, "s", name="value")
    body = [
        x.start("a[0] + j * t[0]"),
        f"{y.memory} value[2];",
        x.let("x", "0"),
        *y.store("0", expression),
        "char *args[2] = {(char *)value, a[1] + j * t[1]};",
        f"s0_table->casts[{CODE[target.name]}][{CODE[target.name]}][1](args, s, t, n, 1);",
    ]
    return function(name, [], block("for (Py_ssize_t j = 0; j < m; j++)", body))


def truncating_loop(name: str, x: Operand, out: Operand) -> str:
    """Floating point to integers.

    Every instruction set has an instruction for values that fit 32 signed bits, and converts those below 2^51
    by an addition. Other values go through 64 bits one by one.
    """
    narrow = out.row.name in NARROW
    largest = ("0x1p31" if narrow else "0x1p51") + "f" * (x.row.itemsize == 4)
    absolute = "fabsf" if x.row.itemsize == 4 else "fabs"
    body = [x.start("a[0] + j * t[0]"), out.start("a[1] + j * t[1]")]

    def each(*lines: str) -> list[str]:
        return elementwise("first", "last", [x.let("x", "i"), *lines])

    blocks = [
        f"const Py_ssize_t last = n - first < {STRIP} ? n : first + {STRIP};",
        "int outside = 0;",
        *each(f"outside |= !({absolute}(x) < {largest});"),
        *block(
            "if (outside)", each(*out.store("i", "to_uint(x)" if out.row.name == "uint64" else "to_int(x)"))
        ),
        *block("else", each(*out.store("i", "(int32_t)x" if narrow else "s0_small_integer(trunc(x))"))),
    ]
    body += block(f"for (Py_ssize_t first = 0; first < n; first += {STRIP})", blocks)
    return function(name, [], block("for (Py_ssize_t j = 0; j < m; j++)", body))


def rounding_loop(name: str, x: Operand, out: Operand) -> str:
    """64-bit integers to float32. Integers below 2^51 are rounded from double; others are converted one by
    one.
    """

    def each(*lines: str) -> list[str]:
        return elementwise("first", "last", [x.let("x", "i"), *lines])

    blocks = [
        f"const Py_ssize_t last = n - first < {STRIP} ? n : first + {STRIP};",
        "uint64_t outside = 0;",
        *each("outside |= ((uint64_t)x + ((uint64_t)1 << 51)) >> 52;", *out.store("i", "s0_small_double(x)")),
        *block("if (outside)", each(*out.store("i", "x"))),
    ]
    body = [x.start("a[0] + j * t[0]"), out.start("a[1] + j * t[1]")]
    body += block(f"for (Py_ssize_t first = 0; first < n; first += {STRIP})", blocks)
    text = function(name, [], block("for (Py_ssize_t j = 0; j < m; j++)", body))
    plain = map_loop(name, [x], out, "x")
    return f"#if defined(S0_SPLIT_INTEGERS)\n{text}\n#else\n{plain}\n#endif\n"


def whole_run(source: Row, target: Row) -> str:
    """The name of the conversion of whole runs in `storage_dtypes.h`, or ""."""
    if source.arithmetic and source.run and source.arithmetic == target.name:
        return f"{source.name}_run_to_f32"
    return f"f32_run_to_{target.name}" if target.arithmetic == source.name and target.run else ""


def converted(source: Row, target: Row) -> bool:
    """Whether AVX-512 has an instruction for a cast: Note [Built once]."""
    wide = {"uint32", "uint64"}
    return (source.name in wide and target.letter in "fc") or (source.letter == "f" and target.name in wide)


def cast_expression(source: Row, target: Row) -> str | None:
    """The cast of one value; None if the standard permits no cast (complex to real)."""
    if source.arithmetic and source is not target:
        through = cast_expression(ROWS[CODE[source.arithmetic]], target)
        assert through is not None
        return re.sub(r"\bx\b", f"{source.name}_to_f32(x)", through)
    if target.arithmetic and source is not target and source.letter != "c":
        # A value that float32 does not hold is rounded to odd, so that it is rounded to nearest only once.
        wide = source.itemsize == 8 and source.letter in "iu"
        narrow = source.name == target.arithmetic or source.itemsize < 3
        value = f"odd_f64_{source.letter}(x)" if wide else "x"
        return f"f32_to_{target.name}({value if narrow else f'odd_f32({value})'})"
    if target.letter == "b":
        return {"b": "x", "c": "(x.re != 0) | (x.im != 0)"}.get(source.letter, "x != 0")
    if source.letter == "c":
        return "x" if target.letter == "c" else None
    if target.letter == "c":
        return "make_c(to_f64(x), 0)" if source.name == "int64" else "make_c(x, 0)"
    if source.letter == "f" and target.letter in "iu":
        return "to_uint(x)" if target.name == "uint64" else "to_int(x)"
    if (source.name, target.name) == ("int64", "float64"):
        return "to_f64(x)"
    return "x"
