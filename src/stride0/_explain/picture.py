"""The picture of an explanation.

Above, a table with one column per axis and one row per operand; below, the operands as the loops see them,
cell by cell: solid for a stored element, dashed for a repeated one.
"""

from __future__ import annotations

from typing import NamedTuple

from stride0._base.shapes import Shape, c_strides, size_of
from stride0._explain.facts import Facts, accident, core_of, lead_of, lead_of_result
from stride0._explain.svg import SERIES, Canvas, width_of
from stride0._explain.text import headline, innermost, memory, result_memory, text
from stride0._tables import operations

__all__ = ["draw"]

_MARGIN = 24
_CHIP = 40  # height of an axis in the table
_CELL = 22  # height of a cell
_GAP = 3  # between cells
_SHOWN = 8  # most cells along an axis; longer axes are abbreviated
_DIGITS = 7  # most digits of a number in a cell; longer ones are omitted
_INSERTIONS = 6

_SYMBOLS = {
    row.qualified: {"-": "\u2212", "*": "\u00d7"}.get(row.operator, row.operator) for row in operations.OPS
}
_SYMBOLS["matmul"] = "@"


def draw(e: Facts) -> str:
    """Return the picture as an SVG document."""
    canvas = Canvas(_MARGIN)
    title = headline(e) if e.error is None else f"{e.operation}: {e.error.problem}"
    canvas.text(_MARGIN, _MARGIN + 13, title, 15, "bold")
    middle = _draw_table(canvas, e, _MARGIN + 36) + 20
    bottom = _draw_grids(canvas, e, middle + 20)
    bottom = _draw_notes(canvas, e, bottom + 14)
    canvas.rule(middle)
    return canvas.document(bottom, title, text(e))


def _series(k: int) -> str:
    return SERIES[k % len(SERIES)]


# --- the table of axes


class _Chip(NamedTuple):
    size: str
    stride: str
    kind: str


# The columns are the axes that broadcast, counted from the last (-1), then the axes of matrices.
_Column = int | str
_MATRIX = ("rows", "columns")


def _chips(e: Facts) -> dict[tuple[int, _Column], _Chip]:
    """Return the cells of the table; the row after the operands is for the result."""
    chips: dict[tuple[int, _Column], _Chip] = {}
    fits = e.result_shape is not None
    lead = lead_of_result(e.shapes, e.result_shape, e.core_ndim) if e.result_shape is not None else ()
    for k, shape in enumerate(e.shapes):
        own, core = lead_of(shape, e.core_ndim), core_of(shape, e.core_ndim)
        for axis in range(-max(len(lead), len(own)), 0):
            if -axis > len(own):
                chips[k, axis] = _Chip(f"new → {lead[axis]}", "stride 0", f"{_series(k)} again")
                continue
            size, stride = own[axis], e.strides[k][: len(own)][axis]
            if axis in e.stretched[k]:
                chips[k, axis] = _Chip(f"{size} → {lead[axis]}", "stride 0", f"{_series(k)} again")
            else:
                kind = _series(k) if stride or size == 1 else f"{_series(k)} again"
                # A size of 1 is not marked.
                kind = "x" if axis in e.clashes and size != 1 else kind
                chips[k, axis] = _Chip(str(size), f"stride {stride}", kind)
        columns = _MATRIX if len(core) == 2 else _MATRIX[1 - k : 2 - k]
        # If the leading axes fit, the inner sizes do not.
        inner = _MATRIX[1 - k] if not fits and not e.clashes else ""
        for column, size, stride in zip(columns, core, e.strides[k][len(own) :], strict=False):
            chips[k, column] = _Chip(str(size), f"stride {stride}", "x" if column == inner else "n")
    return chips | {(len(e.shapes), column): chip for column, chip in _result_chips(e, lead)}


def _result_chips(e: Facts, lead: Shape) -> list[tuple[_Column, _Chip]]:
    if e.result_shape is None:
        known: list[tuple[_Column, _Chip]] = []
        leads = [lead_of(shape, e.core_ndim) for shape in e.shapes]
        for axis in range(-max(map(len, leads)), 0):
            sizes = {own[axis] for own in leads if -axis <= len(own)} - {1}
            known.append(
                (
                    axis,
                    _Chip("\u00d7", "", "x")
                    if axis in e.clashes
                    else _Chip(str(max(sizes, default=1)), "", "r"),
                )
            )
        return known
    columns: list[_Column] = list(range(-len(lead), 0))
    if e.core_ndim:
        columns += [name for name, shape in zip(_MATRIX, e.shapes, strict=True) if len(shape) > 1]
    result_strides = (
        [""] * len(columns) if e.plan is None else [f"stride {stride}" for stride in e.plan["result_strides"]]
    )
    return [
        (column, _Chip(str(size), stride, "r"))
        for column, size, stride in zip(columns, e.result_shape, result_strides, strict=True)
    ]


def _draw_table(canvas: Canvas, e: Facts, top: float) -> float:
    chips = _chips(e)
    names = [*e.names, "result"]
    dtypes = [dtype.name for dtype in e.dtypes]
    used = {column for _, column in chips}
    axes = sorted(column for column in used if isinstance(column, int))
    columns: list[_Column] = [*axes, *(name for name in _MATRIX if name in used)]
    left = _MARGIN + max(width_of(word, 13) for word in (*names, *dtypes)) + 16
    places: dict[_Column, tuple[float, float]] = {}
    for column in columns:
        if axes and len(places) == len(axes):
            left += 14  # a gap before axes that do not broadcast
        found = [chip for (_, at), chip in chips.items() if at == column]
        width = max(
            [width_of(chip.size, 14) for chip in found] + [width_of(chip.stride, 10.5) for chip in found]
        )
        places[column] = (left, max(width + 14, 62))
        left += places[column][1] + 6
    for column, (x, width) in places.items():
        look = "x bold" if column in e.clashes else "quiet"
        label = column if isinstance(column, str) else f"{'leading' if e.core_ndim else 'axis'} {column}"
        canvas.text(x + width / 2, top + 10, label, 10.5, look, "middle")
    y = top + 18
    for k, name in enumerate(names):
        if k < len(e.names):
            canvas.text(_MARGIN, y + 18, name, 13, f"{_series(k)} bold")
            canvas.text(_MARGIN, y + 33, dtypes[k], 10.5, "quiet")
        else:
            canvas.text(_MARGIN, y + 25, name, 13, "r bold")
        for column, (x, width) in places.items():
            if (chip := chips.get((k, column))) is not None:
                canvas.rect(x, y, width, _CHIP, chip.kind, 6)
                middle = y + (17 if chip.stride else 25)
                look = "bold x" if chip.kind == "x" else "bold"
                canvas.text(x + width / 2, middle, chip.size, 14, look, "middle")
                if chip.stride:
                    look = "bold" if chip.stride == "stride 0" else ""
                    canvas.text(x + width / 2, y + 32, chip.stride, 10.5, look, "middle")
        lines: tuple[str, ...] = ("does not exist",)
        if k < len(e.names):
            lines = memory(e, k) if e.result_shape is not None else memory(e, k)[:1]
        elif e.result_shape is not None:
            lines = result_memory(e)
        for number, line in enumerate(lines):
            canvas.text(left + 12, y + (17 if len(lines) == 2 else 25) + 16 * number, line, 11.5, "quiet")
        y += _CHIP + 8
    return y - 8


# --- the grids


class _Grid(NamedTuple):
    name: str
    caption: str
    shape: Shape
    strides: Shape
    offset: int
    series: str
    clashes: tuple[int, ...]  # axes to mark


def _grids(e: Facts) -> list[_Grid]:
    """Return the grids: operands as they are read, or unbroadcast if the shapes do not fit."""
    if e.core_ndim:
        return _matrices(e) if all(len(shape) <= e.core_ndim for shape in e.shapes) else _stacks(e)
    if e.result_shape is None or e.stretched_strides is None:
        return [
            _Grid(name, f"shape {shape}", shape, own_strides, offset, _series(k), _at_fault(shape, e.clashes))
            for k, (name, shape, own_strides, offset) in enumerate(
                zip(e.names, e.shapes, e.strides, e.offsets, strict=True)
            )
        ]
    own_strides = c_strides(e.result_shape) if e.plan is None else e.plan["result_strides"]
    return [
        *[
            _Grid(name, f"strides {read}", e.result_shape, read, offset, _series(k), ())
            for k, (name, read, offset) in enumerate(
                zip(e.names, e.stretched_strides, e.offsets, strict=True)
            )
        ],
        _Grid("result", f"strides {own_strides}", e.result_shape, own_strides, 0, "r", ()),
    ]


def _stacks(e: Facts) -> list[_Grid]:
    """Return grids whose cells are matrices; equal numbers are the same matrix."""
    leads = [lead_of(shape, e.core_ndim) for shape in e.shapes]
    lead = None if e.result_shape is None else lead_of_result(e.shapes, e.result_shape, e.core_ndim)
    grids = []
    for k, own in enumerate(leads):
        shape, caption = own if lead is None else lead, _cells(core_of(e.shapes[k], e.core_ndim))
        # Along an axis of stride 0 the same matrix is repeated, broadcast by this operation or before it.
        read = e.strides[k] if e.stretched_strides is None else e.stretched_strides[k]
        whole = (*(0,) * (len(shape) - len(own)), *c_strides(own))
        own_strides = tuple(number if stride else 0 for number, stride in zip(whole, read, strict=False))
        grids.append(
            _Grid(e.names[k], caption, shape, own_strides, 0, _series(k), _at_fault(shape, e.clashes))
        )
    if e.result_shape is not None and lead is not None:
        caption = _cells(e.result_shape[len(lead) :])
        grids.append(_Grid("result", caption, lead, c_strides(lead), 0, "r", ()))
    return grids


def _at_fault(shape: Shape, clashes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in clashes if -axis <= len(shape) and shape[axis] != 1)


def _cells(shape: Shape) -> str:
    return f"{('numbers', 'vectors', 'matrices')[len(shape)]} {shape}"


def _matrices(e: Facts) -> list[_Grid]:
    """Return the matrices themselves, if each operand has one. A vector on the right is a column."""
    grids = []
    for k, (shape, own_strides) in enumerate(zip(e.shapes, e.strides, strict=True)):
        caption = f"strides {own_strides}"
        if k == 1 and len(shape) == 1:
            shape, own_strides = (*shape, 1), (*own_strides, 0)
        # The inner sizes clash, even if one of them is 1.
        clashes = () if e.error is None or not shape else ((-1,), (-2,))[k]
        grids.append(_Grid(e.names[k], caption, shape, own_strides, e.offsets[k], _series(k), clashes))
    if e.result_shape is not None:
        shape = e.result_shape
        if len(e.shapes[1]) == 1:
            shape = (*shape, 1)
        grids.append(_Grid("result", f"shape {e.result_shape}", shape, c_strides(shape), 0, "r", ()))
    return grids


def _shown(size: int, most: int, first: int) -> list[int | None]:
    """Return the shown indices of an axis; None stands for omitted indices."""
    return list(range(size)) if size <= most else [*range(first), None, size - 1]


def _slices(shape: Shape) -> list[tuple[int, ...] | None]:
    """Return the indices of the shown two-dimensional slices."""
    found: list[tuple[int, ...] | None] = []
    for number in _shown(size_of(shape[:-2]), 4, 2):
        index: list[int] = []
        remaining = number or 0
        for size in reversed(shape[:-2]):
            remaining, place = divmod(remaining, size)
            index.insert(0, place)
        found.append(None if number is None else tuple(index))
    return found


def _draw_grids(canvas: Canvas, e: Facts, top: float) -> float:
    grids = _grids(e)
    symbol = _SYMBOLS.get(e.operation, "")
    x, bottom = float(_MARGIN), top
    for k, grid in enumerate(grids):
        canvas.text(x, top + 10, grid.name, 13, f"{grid.series} bold")
        canvas.text(x, top + 26, grid.caption, 10.5, "quiet")
        width, down, middle = _draw_grid(canvas, grid, x, top + 36)
        width = max(width, width_of(grid.name, 13), width_of(grid.caption, 10.5))
        bottom = max(bottom, down)
        if k + 1 < len(grids):
            last = k + 1 == len(e.names)
            sign = "=" if last and symbol else "→" if last else symbol
            canvas.text(x + width + 21, middle + 6, sign, 17, "quiet", "middle")
        x += width + 42
    return bottom


def _draw_grid(canvas: Canvas, grid: _Grid, x: float, top: float) -> tuple[float, float, float]:
    """Draw the slices of a grid below each other; return its width, its lower end and its middle."""
    if 0 in grid.shape:
        canvas.rect(x, top, 84, _CELL, f"{grid.series} again")
        canvas.text(x + 42, top + 15, "no elements", 10.5, "quiet", "middle")
        return 84, top + _CELL, top + _CELL / 2
    shape = (1,) * (2 - len(grid.shape)) + grid.shape
    own_strides = (0,) * (2 - len(grid.shape)) + grid.strides
    reach = grid.offset + sum(
        (n - 1) * stride for n, stride in zip(shape, own_strides, strict=True) if stride > 0
    )
    digits = len(str(reach)) if len(str(reach)) <= _DIGITS else 0
    wide = max(_CELL + 4, width_of("0" * digits, 11) + 10)
    rows, columns = _shown(shape[-2], _SHOWN, 4), _shown(shape[-1], _SHOWN, 4)
    width, height = len(columns) * (wide + _GAP) - _GAP, len(rows) * (_CELL + _GAP) - _GAP
    indent = width_of(str(shape[-2]), 12) + 14 if -2 in grid.clashes else 0
    left, y, middle = x + indent, top, 0.0
    seen: set[int] = set()
    for index in _slices(shape):
        if index is None:
            canvas.dots(left + width / 2, y + 5, 0, 5)
            y += 24
            continue
        if index:
            failing = any(axis < -2 for axis in grid.clashes)
            label = f"[{', '.join([*map(str, index), ':', ':'])}]"
            canvas.text(left, y + 10, label, 10.5, "x bold" if failing else "quiet")
            y += 16
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                at = (left + j * (wide + _GAP), y + i * (_CELL + _GAP))
                if row is None or column is None:
                    dots = (5 * (column is None), 5 * (row is None))
                    canvas.dots(at[0] + wide / 2, at[1] + _CELL / 2, *dots)
                    continue
                places = zip((*index, row, column), own_strides, strict=True)
                place = grid.offset + sum(n * stride for n, stride in places)
                again = place in seen
                seen.add(place)
                canvas.rect(*at, wide, _CELL, f"{grid.series} again" if again else grid.series)
                if digits:
                    canvas.text(at[0] + wide / 2, at[1] + 15, str(place), 11, "quiet" * again, "middle")
        middle = middle or y + height / 2
        if indent:
            canvas.line(left - 8, y, left - 8, y + height, "bar")
            canvas.text(left - 14, y + height / 2 + 4, str(shape[-2]), 12, "x bold", "end")
        y += height
        if -1 in grid.clashes:
            canvas.line(left, y + 8, left + width, y + 8, "bar")
            canvas.text(left + width / 2, y + 23, str(shape[-1]), 12, "x bold", "middle")
            y += 24
        y += 12
    return width + indent, y - 12, middle


# --- notes


def _draw_notes(canvas: Canvas, e: Facts, top: float) -> float:
    y = top
    if e.result_shape is not None and 0 not in e.result_shape:
        x = float(_MARGIN)
        numbers = (
            "which matrix"
            if any(len(shape) > 2 for shape in e.shapes) and e.core_ndim
            else "place in the storage"
        )
        for kind, words in (("n", "stored"), ("n again", "the same again"), ("", f"number: {numbers}")):
            if kind:
                canvas.rect(x, y + 3, 18, 14, kind, 3)
                x += 25
            canvas.text(x, y + 14, words, 11, "quiet")
            x += width_of(words, 11) + 22
        y += 22
    notes = [innermost(e)]
    for insertion in e.insertions[:_INSERTIONS]:
        notes.append(f"{insertion.expression} would fit, and give {insertion.result_shape}")
    if len(e.insertions) > _INSERTIONS:
        notes.append(f"and {len(e.insertions) - _INSERTIONS} more")
    if e.error is not None and not e.insertions:
        notes.append("no single inserted axis makes them fit")
    for note in filter(None, notes):
        canvas.text(_MARGIN, y + 14, note, 11.5)
        y += 18
    if warning := accident(e):
        canvas.text(_MARGIN, y + 14, warning, 11.5, "x bold")
        y += 18
    return y
