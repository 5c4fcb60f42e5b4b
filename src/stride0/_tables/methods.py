"""The methods of arrays that mirror functions of the namespace: their names, and their positional arguments.

The functions document the methods: ``x.sum(0)`` is ``sum(x, axis=0)``. NumPy and PyTorch accept positional
arguments that are keyword-only in the standard; `POSITIONAL` lists them, in order. NumPy functions call
methods with NumPy's keywords (``np.sum(x)`` is ``x.sum(axis=None, out=None)``): `NEUTRAL` lists keywords that
methods accept with a neutral value, and `WIDER` lists methods that do more than their function.

`sort` is missing on purpose: the method of NumPy arrays sorts in place, the method of PyTorch tensors returns
a pair.

Standard library only: the build loads this file by its path, to write the type stubs.
"""

# No annotations from `__future__` here: `NamedTuple` compiles annotations that are strings, at every import.
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
"""Methods that are functions of the same name; the keyword-only arguments that they also take by position."""

ALIASES: Final = {"cumprod": "cumulative_prod", "cumsum": "cumulative_sum"}
"""NumPy's names of methods that have another name in the standard."""

WIDER: Final = ("astype", "cumprod", "cumsum", "round", "std", "take", "var")
"""Methods that accept more than their function, as in NumPy: see `stride0._compat.methods`."""

FLATTENING: Final = ("cumprod", "cumsum", "take")
"""Methods among these that flatten the array if no axis is given; their functions require an axis."""


class Keyword(NamedTuple):
    """An argument of NumPy methods that stride0's methods accept only with a neutral value."""

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
        # Any algorithm may return a stable order.
        "kind": Keyword("str | None", "None", _ALGORITHMS),
        "order": Keyword("None", "None", (None,)),
        "stable": Keyword("bool | None", "True", (True, False, None)),
    },
    "take": _OUT | {"mode": Keyword("Literal['raise']", "'raise'", ("raise",))},
}
"""NumPy keywords that methods accept besides the function's parameters, with the accepted values."""

OWN: Final = (
    *("conj", "conjugate", "copy", "flatten", "item", "permute_dims", "ravel", "reshape", "squeeze"),
    *("tolist", "transpose", "view"),
)
"""Methods that do more than pass the array to a function: `stride0._compat.methods` declares them."""


def mirrored(operations: Iterable[Any]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the methods that mirror functions: the function's name and its positional arguments for each.

    Functions of one operand in the operation table are methods, unless they belong to an inner namespace. But
    ``real`` and ``imag`` are attributes, and methods in `OWN` do more.
    """
    unary = [op.name for op in operations if op.public and op.nin == 1 and not op.namespace]
    rows = [name for name in unary if name not in ("real", "imag", *OWN)]
    methods = {name: (name, POSITIONAL.get(name, ())) for name in (*rows, *POSITIONAL)}
    return methods | {name: methods[target] for name, target in ALIASES.items()}
