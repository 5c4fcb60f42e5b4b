"""The table of gradients: which functions have rules, which are constant, which must not be asked.

The rules themselves stand in a module per chapter; here they meet, and the tape is told.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import stride0
from stride0._core.array import PRIMITIVES, dot_into, multiply_masked, sum_into, unreduce
from stride0.autograd import _decompositions, _elementwise, _fft, _linalg, _manipulation, _parts, _statistical
from stride0.autograd._tape import define

Rules = dict[str, dict[str, Callable[..., Any]]]

CHAPTERS = (_elementwise, _statistical, _manipulation, _linalg, _decompositions, _fft)

# Of functions that the core has itself, and that belong to no chapter of rules.
VJP: Rules = {"asarray": {"obj": lambda g: g}}
NO_GRAD: dict[str, str] = {}
REFUSED: dict[str, str] = {}
INNER_VJP: Rules = dict(_parts.INNER_VJP)

for _chapter in CHAPTERS:
    VJP |= _chapter.VJP
    NO_GRAD |= getattr(_chapter, "NO_GRAD", {})
    REFUSED |= getattr(_chapter, "REFUSED", {})
    INNER_VJP |= getattr(_chapter, "INNER_VJP", {})

# Functions that the namespace does not have under their names.
_OTHERS: dict[str, Callable[..., Any]] = {
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "sum_into": sum_into,
    "dot_into": dot_into,
    "multiply_masked": multiply_masked,
    "unreduce": unreduce,
    "watch": operator.pos,
}


def _function(name: str) -> Callable[..., Any]:
    """Return the function of a name of the table, as it is without gradients."""
    found = PRIMITIVES.get(name) or _OTHERS.get(name)
    return found if found is not None else operator.attrgetter(name)(stride0)  # type: ignore[no-any-return]


for _name, _rules in (VJP | INNER_VJP).items():
    define(_name, _function(_name), _rules)
for _name in NO_GRAD:
    define(_name, _function(_name), {})
for _name, _why in REFUSED.items():
    define(_name, _function(_name), {}, _why)
