"""The methods of arrays that mirror functions of the namespace: a name, and what it takes by position.

The functions say what the methods do: ``x.sum(0)`` is ``sum(x, axis=0)``. NumPy and PyTorch let arguments be
given by position that the standard wants named; `POSITIONAL` lists them, in their order.

`sort` is missing on purpose: of NumPy's arrays it is a statement that sorts in place, of PyTorch's it gives a
pair.

Standard library only: the build loads this file by its path, to write the type stubs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

_AXIS: Final = ("axis",)

POSITIONAL: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        (
            *("all", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumulative_prod"),
            *("cumulative_sum", "flip", "max", "mean", "min", "prod", "repeat", "roll", "std", "sum"),
            *("take", "take_along_axis", "unstack", "var"),
        ),
        _AXIS,
    ),
    **dict.fromkeys(
        (
            *("astype", "broadcast_to", "clip", "diff", "expand_dims", "matrix_transpose", "moveaxis"),
            *("nonzero", "tile"),
        ),
        (),
    ),
    **dict.fromkeys(("tril", "triu"), ("k",)),
    "searchsorted": ("side", "sorter"),
}
"""Methods that are functions of the same name, and which keyword-only arguments they take by position too.
"""

ALIASES: Final = {"conjugate": "conj", "cumprod": "cumulative_prod", "cumsum": "cumulative_sum"}
"""NumPy's names of methods that the standard calls otherwise."""

OWN: Final = (
    *("copy", "flatten", "item", "permute_dims", "ravel", "reshape", "squeeze", "tolist"),
    *("transpose", "view"),
)
"""Methods that are more than a function with the array in front: `stride0._methods` defines them."""


def mirrored(operations: Iterable[Any]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the methods that mirror functions: of each the function's name and its arguments by position.

    Parameters
    ----------
    operations : iterable of Op
        Rows of the operation table. Its functions of one operand are methods but for ``real`` and ``imag``,
        which are attributes.
    """
    rows = [op.name for op in operations if op.public and op.nin == 1 and op.name not in ("real", "imag")]
    methods = {name: (name, POSITIONAL.get(name, ())) for name in (*rows, *POSITIONAL)}
    return methods | {name: methods[target] for name, target in ALIASES.items()}
