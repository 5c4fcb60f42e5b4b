"""Explanations of `einsum`: a table of labels and strides, and the contracted pairs."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import NamedTuple

from stride0._base.shapes import Shape, c_strides, size_of
from stride0._base.subscripts import (
    Labels,
    Subscripts,
    common_sizes,
    find_path,
    parse_string,
    sizes_of,
    steps_of,
)
from stride0._core.array.array import Array, strides
from stride0._explain.facts import shape_of

__all__ = ["Contraction", "ContractionStep", "describe"]

_OPERATION = "einsum"


class ContractionStep(NamedTuple):
    """A product of two operands, or the sum of one operand.

    Attributes
    ----------
    operands : tuple of str
        Names of the operands.
    subscripts : str
        Subscripts of this step.
    result : str
        Name of its result.
    products : int
        The number of products that it sums or copies.
    """

    operands: tuple[str, ...]
    subscripts: str
    result: str
    products: int


@dataclass(frozen=True)
class Contraction:
    """A contraction of operands with labelled axes: a text when printed, a table in a notebook.

    Attributes
    ----------
    subscripts : str
        The given subscripts.
    labels : tuple of str
        Names of the labels; the labels of the result come first.
    sizes : tuple of int
        Size of each label.
    summed : tuple of bool
        Whether each label is summed, because the result lacks it.
    strides : tuple of tuple of int
        For each operand, its stride along each label, in elements; 0 if it lacks the label.
    result_strides : tuple of int
        Strides of a result in C order.
    steps : tuple of ContractionStep
        The pairs in which the operands are contracted.
    """

    subscripts: str
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    summed: tuple[bool, ...]
    strides: tuple[tuple[int, ...], ...]
    result_strides: tuple[int, ...]
    steps: tuple[ContractionStep, ...]

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        table = "\n".join(
            "    " + "   ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        )
        notes = "\n".join(f"    {note}" for note in self._notes())
        return f'einsum: "{self.subscripts}"\n\n{table}\n\n{notes}'

    __repr__ = __str__

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            ("label", *self.labels),
            ("size", *map(str, self.sizes)),
            *((f"strides of operands[{k}]", *map(str, own)) for k, own in enumerate(self.strides)),
            ("strides of the result", *map(str, self.result_strides)),
        ]

    def _notes(self) -> list[str]:
        summed = [label for label, gone in zip(self.labels, self.summed, strict=True) if gone]
        notes = []
        if any(0 in own for own in self.strides):
            notes.append("Stride 0 on an operand repeats its elements.")
        if summed:
            notes.append(f"Stride 0 on the result sums up: along {', '.join(summed)}.")
        for step in self.steps:
            done = " times ".join(step.operands)
            notes.append(
                f"{step.result} = {done}: {step.subscripts}, {step.products:,} elements of the space"
            )
        return notes

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        lines = [f"<tr>{_cells(head, 'th')}</tr>"]
        lines += [f"<tr>{_cells(row, 'td', 'strides' in row[0])}</tr>" for row in rows]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self._notes())
        title = f"<p><code>{html.escape(self.subscripts)}</code></p>"
        return f'{title}<table class="stride0-einsum">{"".join(lines)}</table><ul>{notes}</ul>'


def _cells(row: tuple[str, ...], tag: str, marks: bool = False) -> str:
    """The cells of a row; with `marks`, strides of 0 are highlighted."""
    first = f'<th style="text-align:left">{html.escape(row[0])}</th>'
    style = "text-align:right;font-family:monospace"
    return first + "".join(
        f'<{tag} style="{style}{";background:#f6c89f;color:#000" if marks and cell == "0" else ""}">'
        f"{html.escape(cell)}</{tag}>"
        for cell in row[1:]
    )


def describe(subscripts: str, operands: tuple[object, ...]) -> Contraction:
    """Describe a contraction by `einsum` of operands, which are arrays or shapes.

    Raises
    ------
    ArgumentTypeError
        If an operand is neither an array nor a shape.
    ArgumentValueError, ShapeError
        As for `einsum`.
    """
    shapes = [shape_of(f"operands[{k}]", x) for k, x in enumerate(operands)]
    read = parse_string(_OPERATION, subscripts, [len(shape) for shape in shapes])
    sizes_of(_OPERATION, read, shapes)
    sizes = common_sizes(read, shapes)
    order = (*read.output, *(label for label in range(len(read.names)) if label not in read.output))
    own = [
        strides(x) if isinstance(x, Array) else c_strides(shape)
        for x, shape in zip(operands, shapes, strict=True)
    ]
    result = c_strides(tuple(sizes[label] for label in read.output))
    return Contraction(
        subscripts,
        tuple(read.names[label] for label in order),
        tuple(sizes[label] for label in order),
        tuple(label not in read.output for label in order),
        tuple(
            _along(labels, shape, steps, order)
            for labels, shape, steps in zip(read.inputs, shapes, own, strict=True)
        ),
        tuple(result[read.output.index(label)] if label in read.output else 0 for label in order),
        _steps(read, shapes, sizes),
    )


def _along(labels: Labels, shape: Shape, steps: tuple[int, ...], order: Labels) -> tuple[int, ...]:
    """Return the stride of an operand along each label: the sum over its axes with that label."""
    return tuple(
        sum(step for own, size, step in zip(labels, shape, steps, strict=True) if own == label and size != 1)
        for label in order
    )


def _steps(read: Subscripts, shapes: list[Shape], sizes: list[int]) -> tuple[ContractionStep, ...]:
    names = [f"operands[{k}]" for k in range(len(read.inputs))]
    left = list(read.inputs)
    path = find_path(_OPERATION, read, shapes, "auto")[0] if len(left) > 2 else [tuple(range(len(left)))]
    found: list[ContractionStep] = []
    for first, second, output in steps_of(read.inputs, read.output, path):
        places = (first,) if second < 0 else (first, second)
        terms = [left[place] for place in places]
        written = ",".join(_written(read, term) for term in terms) + "->" + _written(read, output)
        space = size_of([sizes[label] for label in {label for term in terms for label in term}])
        used = tuple(names[place] for place in places)
        for place in reversed(places):
            del left[place], names[place]
        result = f"t{len(found)}" if left else "result"
        found.append(ContractionStep(used, written, result, space))
        left.append(output)
        names.append(result)
    return tuple(found)


def _written(read: Subscripts, labels: Labels) -> str:
    """Write labels as in subscripts; an axis of an ellipsis as its number."""
    words = [read.names[label] for label in labels]
    return "".join(word if len(word) == 1 else f"({word.removesuffix(' of the ellipsis')})" for word in words)
