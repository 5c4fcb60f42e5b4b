"""The methods of arrays that mirror functions of the namespace: a name, and what it takes by position.

The functions say what the methods do: ``x.sum(0)`` is ``sum(x, axis=0)``. NumPy and PyTorch let arguments be
given by position that the standard wants named; `POSITIONAL` lists them, in their order. NumPy functions
call methods with keywords of NumPy's (``np.sum(x)`` is ``x.sum(axis=None, out=None)``): `NEUTRAL` lists those
that a method takes as long as they ask for nothing, `WIDER` the methods that do more than their function.

`sort` is missing on purpose: of NumPy arrays it is a statement that sorts in place, of PyTorch's it gives a
pair.

Standard library only: the build loads this file by its path, to write the type stubs.
"""

# No annotations from `__future__` here: `NamedTuple` compiles those that are strings, at every import.
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

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
    "round": ("decimals",),
    "searchsorted": ("side", "sorter"),
}
"""Methods that are functions of the same name, and which keyword-only arguments they take by position too.
"""

ALIASES: Final = {"cumprod": "cumulative_prod", "cumsum": "cumulative_sum"}
"""NumPy's names of methods that the standard calls otherwise."""

WIDER: Final = ("cumprod", "cumsum", "round", "std", "take", "var")
"""Methods that take more than their function, as NumPy's do: see `stride0._compat.methods`."""

FLATTENING: Final = ("cumprod", "cumsum", "take")
"""Those of them that take the flattened array where no axis is named; their functions want one named."""


class Keyword(NamedTuple):
    """An argument of NumPy's methods that ours take only with a value that asks for nothing."""

    annotation: str
    default: str
    values: tuple[object, ...]


_OUT: Final = {"out": Keyword("None", "None", (None,))}
_WHERE: Final = {"where": Keyword("Literal[True]", "True", (True,))}
_ORDER: Final = {"order": Keyword("Literal['C']", "'C'", ("C",))}
_ALGORITHMS: Final = (None, "quicksort", "heapsort", "mergesort", "stable")

NEUTRAL: Final[dict[str, dict[str, Keyword]]] = {
    **dict.fromkeys(("all", "any", "max", "mean", "min", "prod", "std", "sum", "var"), _OUT | _WHERE),
    **dict.fromkeys(("argmax", "argmin", "clip", "cumprod", "cumsum", "round"), _OUT),
    **dict.fromkeys(("flatten", "ravel", "reshape"), _ORDER),
    "argsort": {
        # A stable order is what any algorithm may give.
        "kind": Keyword("str | None", "None", _ALGORITHMS),
        "order": Keyword("None", "None", (None,)),
        "stable": Keyword("bool | None", "True", (True, False, None)),
    },
    "take": _OUT | {"mode": Keyword("Literal['raise']", "'raise'", ("raise",))},
}
"""Keywords of NumPy that methods take beside their function's, and what may be given."""

OWN: Final = (
    *("conj", "conjugate", "copy", "flatten", "item", "permute_dims", "ravel", "reshape", "squeeze"),
    *("tolist", "transpose", "view"),
)
"""Methods that are more than a function with the array in front: `stride0._compat.methods` declares them."""


def mirrored(operations: Iterable[Any]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the methods that mirror functions: of each the function's name and its arguments by position.

    Functions of one operand in the operation table are methods, unless they are of a namespace within the
    namespace, but ``real`` and ``imag`` are attributes, and those of `OWN` do more.
    """
    unary = [op.name for op in operations if op.public and op.nin == 1 and not op.namespace]
    rows = [name for name in unary if name not in ("real", "imag", *OWN)]
    methods = {name: (name, POSITIONAL.get(name, ())) for name in (*rows, *POSITIONAL)}
    return methods | {name: methods[target] for name, target in ALIASES.items()}
