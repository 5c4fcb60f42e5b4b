"""Text for the program that will compute a deferred array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["PendingSteps"]


@dataclass(frozen=True)
class PendingSteps:
    """The steps that will compute a deferred array, in one pass.

    Attributes
    ----------
    shape : tuple of int
        The iteration space of the pass.
    leaves : tuple
        Dtype and strides in bytes (or the value) of each array or scalar that the pass reads.
    steps : tuple
        Name, dtype, inputs and whether the result is written to memory. Inputs are numbers of leaves and
        then of steps.
    reductions : tuple
        Name, dtype, inputs and write flag of each reduction at the end.
    number : int
        Number of the array itself, among steps and then reductions.
    """

    shape: tuple[int, ...]
    leaves: tuple[Any, ...]
    steps: tuple[Any, ...]
    reductions: tuple[Any, ...]
    number: int

    def __str__(self) -> str:
        rows = []
        for number, (dtype, what) in enumerate(self.leaves):
            rows.append(
                (f"%{number}", "read" if isinstance(what, tuple) else "value", dtype, _leaf(what), "")
            )
        first = len(self.leaves)
        for number, (name, dtype, inputs, stored) in enumerate((*self.steps, *self.reductions)):
            operands = ", ".join(f"%{k}" for k in inputs)
            rows.append((f"%{first + number}", name, dtype, f"({operands})", self._place(number, stored)))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            "    " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False))
            for row in rows
        ]
        ends = [row[4] for row in rows]
        body = "\n".join(f"{line}  {end}".rstrip() for line, end in zip(lines, ends, strict=True))
        count = len(self.steps) + len(self.reductions)
        return f"deferred: {count} step{'s' if count != 1 else ''} over {self.shape}, tile by tile\n\n{body}"

    __repr__ = __str__

    def _place(self, number: int, stored: bool) -> str:
        if number == self.number:
            return "written: this array"
        return "written" if stored else "in a tile"


def _leaf(what: Any) -> str:
    return f"strides {what}" if isinstance(what, tuple) else f"{what}"
