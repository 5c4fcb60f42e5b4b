"""The text of an explanation, and the phrases that its picture uses too."""

from __future__ import annotations

from collections.abc import Sequence

from stride0._base.errors import BroadcastError, brief, drawing
from stride0._base.shapes import Shape, size_of
from stride0._explain.facts import Facts, accident, core_of, lead_of, lead_of_result

__all__ = ["headline", "innermost", "memory", "result_memory", "text"]

_INDENT = " " * 4
_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")


def text(e: Facts) -> str:
    """Return the whole text."""
    return "\n".join(_fitting(e) if e.error is None else _failing(e))


# --- phrases


def headline(e: Facts) -> str:
    """Return the operation, the shapes and the shape of the result."""
    shapes = f"{e.operation}: {' with '.join(map(str, e.shapes))}"
    return shapes if len(e.shapes) == 1 else f"{shapes} gives {e.result_shape}"


def memory(e: Facts, k: int) -> tuple[str, str]:
    """Return the stored and the addressed size of an operand."""
    stored, addressed = e.stored_nbytes[k], e.addressed_nbytes[k]
    times = addressed // stored if stored and addressed % stored == 0 else 0
    often = f" ({_count(times)} times)" if times > 1 else ""
    return f"{_bytes(stored)} stored", f"{_bytes(addressed)} addressed{often}"


def result_memory(e: Facts) -> tuple[str, ...]:
    """Return the number of elements of the result and, if it is known, their size in bytes."""
    assert e.result_shape is not None
    size, dtype = size_of(e.result_shape), e.result_dtype
    count = f"{_count(size)} element{'s' * (size != 1)}"
    return (count,) if dtype is None else (count, f"{_bytes(size * dtype.itemsize)} of {dtype.name}")


def innermost(e: Facts) -> str:
    """Return the layout of each operand in the innermost loop; nothing if there is no plan or no loop."""
    if e.plan is None or not e.plan["merged"] or 0 in e.plan["shape"]:
        return ""
    pairs = zip([*e.names, "result"], e.plan["layout"], strict=True)
    return "innermost loop: " + ", ".join(f"{name} {layout}" for name, layout in pairs)


def _count(number: int) -> str:
    return f"{number:,}" if number.bit_length() < 256 else brief(number)


def _bytes(number: int) -> str:
    """Write a number of bytes with up to three digits, or exactly if it is small."""
    if number < 10_000:
        return f"{number:,} B"
    if number >= 1000 << 80:
        return "more than 1,000 YiB"
    power = 1
    while number >= 1000 << 10 * power:
        power += 1
    value = number / (1 << 10 * power)
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{float(f'{value:.{digits}f}'):g} {_UNITS[power - 1]}"


# --- shapes that fit


def _fitting(e: Facts) -> list[str]:
    assert e.result_shape is not None
    names = [*e.names, "result"]
    remarks = [", ".join(memory(e, k)) for k in range(len(e.shapes))]
    lines = [headline(e), "", *_shapes(e), "", *_strides(e), "", "memory", ""]
    lines += _columns(names, [*remarks, ", ".join(result_memory(e))])
    if e.plan is not None:
        lines += ["", *_plan(e)]
    if warning := accident(e):
        lines += ["", warning]
    return lines


def _shapes(e: Facts) -> list[str]:
    """Return the aligned shapes, with the broadcast axes of each."""
    assert e.result_shape is not None
    names = [*e.names, "result"]
    lead = lead_of_result(e.shapes, e.result_shape, e.core_ndim)
    remarks = [*[_remarks(e, k, lead) for k in range(len(e.shapes))], ""]
    if e.core_ndim:
        leads = [*[lead_of(shape, e.core_ndim) for shape in e.shapes], lead]
        cores = [*[core_of(shape, e.core_ndim) for shape in e.shapes], e.result_shape[len(lead) :]]
        heads = ("", "leading axes", "matrices", "")
        columns = (names, _aligned(leads), _aligned(cores), remarks)
        return _columns(*[[head, *column] for head, column in zip(heads, columns, strict=True)])
    drawn = drawing(list(zip(names, [*e.shapes, e.result_shape], strict=True)), None)
    width = max(map(len, drawn))
    return [f"{line:<{width}}   {remark}".rstrip() for line, remark in zip(drawn, remarks, strict=True)]


def _remarks(e: Facts, k: int, lead: Shape) -> str:
    own = len(lead_of(e.shapes[k], e.core_ndim))
    kind = "leading axis" if e.core_ndim else "axis"
    parts = []
    for axis in range(-len(lead), 0):
        new = " (new)" * (-axis > own)
        if axis in e.stretched[k]:
            parts.append(f"{kind} {axis}{new} to {lead[axis]}")
        elif new:
            parts.append(f"{kind} {axis}{new}")
    return f"broadcast: {', '.join(parts)}" if parts else ""


def _strides(e: Facts) -> list[str]:
    """Return the strides before and after broadcasting, and the result's strides if these are known."""
    assert e.result_shape is not None and e.stretched_strides is not None
    lead = lead_of_result(e.shapes, e.result_shape, e.core_ndim)
    seen = [(*lead, *core_of(shape, e.core_ndim)) for shape in e.shapes]
    before = [_starred(own_strides, shape) for own_strides, shape in zip(e.strides, e.shapes, strict=True)]
    after = [
        _starred(own_strides, shape) for own_strides, shape in zip(e.stretched_strides, seen, strict=True)
    ]
    names, left = list(e.names), [f"{own_strides}  ->  " for own_strides in _aligned(before)]
    if e.plan is not None:
        names.append("result")
        left.append(" " * len(left[0]))
        after.append([str(stride) for stride in e.plan["result_strides"]])
    star = "; at 0* the same element comes again" if any("0*" in own_strides for own_strides in after) else ""
    both = [a + b for a, b in zip(left, _aligned(after), strict=True)]
    return [f"strides, in elements{star}", "", *_columns(names, both)]


def _starred(strides: Shape, shape: Shape) -> list[str]:
    return [
        "0*" if stride == 0 and size != 1 else str(stride)
        for stride, size in zip(strides, shape, strict=True)
    ]


def _plan(e: Facts) -> list[str]:
    """Return the loops, innermost first: their axes, outermost first, sizes, and strides."""
    assert e.plan is not None and e.result_shape is not None
    if 0 in e.result_shape:
        return ["plan: no elements, nothing to do"]
    rows = []
    for loop in e.plan["merged"]:
        loop_strides = [
            stride // dtype.itemsize for stride, dtype in zip(loop["strides"][:-1], e.dtypes, strict=True)
        ]
        # A new result has no negative strides: the smallest of the merged axes' strides is the loop's.
        loop_strides.append(min(e.plan["result_strides"][axis] for axis in loop["axes"]))
        axes = [axis - len(e.result_shape) for axis in reversed(loop["axes"])]
        rows.append([", ".join(map(str, axes)), str(loop["size"]), *map(str, loop_strides)])
    if not rows:
        return ["plan: one element, no loop"]
    rows.insert(0, ["axes", "size", *e.names, "result"])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    table = [_INDENT + "   ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    many = "1 loop" if len(rows) == 2 else f"{len(rows) - 1} loops, innermost first"
    return [f"plan: {many}; strides in elements", "", *table, "", _INDENT + innermost(e)]


# --- shapes that do not fit


def _failing(e: Facts) -> list[str]:
    assert e.error is not None
    hint = e.error.hint() if isinstance(e.error, BroadcastError) else ""
    # Remove the hint, because its insertion is listed below.
    lines = [str(e.error).removesuffix(hint).rstrip()]
    if len(e.clashes) > 1:
        others = ", ".join(map(str, e.clashes[1:]))
        lines.append(f"{_INDENT}sizes clash at {'axis' if len(e.clashes) == 2 else 'the axes'} {others} too.")
    if not e.insertions:
        return [*lines, "", "no single inserted axis makes them fit"]
    found = []
    for insertion in e.insertions:
        certain = ", where equal sizes meet" if hint.endswith(f" {insertion.expression}") else ""
        found.append(f"gives {insertion.result_shape}{certain}")
    expressions = [insertion.expression for insertion in e.insertions]
    return [*lines, "", "one inserted axis makes them fit", "", *_columns(expressions, found)]


# --- columns


def _aligned(tuples: Sequence[Sequence[object]]) -> list[str]:
    """Return tuples as strings of equal width, aligned axis by axis from the right."""
    ndim = max(map(len, tuples), default=0)
    entries = [[str(value) for value in row] for row in tuples]
    widths = [max(len(row[k]) for row in entries if -k <= len(row)) for k in range(-ndim, 0)]
    lines = []
    for row in entries:
        cells = [value.rjust(widths[k - len(row)]) for k, value in enumerate(row)]
        body = "(" + ", ".join([cells[0].lstrip(), *cells[1:]]) if cells else "("
        # The comma after a single entry sticks out to the right, as in error messages.
        lines.append((body, ",)" if len(row) == 1 else ")"))
    width = max((len(body) for body, _ in lines), default=0)
    texts = [body.rjust(width) + close for body, close in lines]
    return [line.ljust(max(map(len, texts))) for line in texts]


def _columns(*columns: Sequence[str]) -> list[str]:
    """Return the lines of a table without trailing spaces."""
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        (_INDENT + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]
