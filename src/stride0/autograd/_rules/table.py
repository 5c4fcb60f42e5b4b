"""The table of gradients: functions that have rules, functions with constant results, functions that are
refused.

The rules are in a module per chapter; this module joins them and registers them with the tape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from stride0._core.array.array import reinterpret
from stride0._core.call.binding import PRIMITIVES
from stride0._core.elementwise import elementwise, functions, special
from stride0._core.exchange import exchange
from stride0._core.index import index
from stride0.autograd._rules import bessel as _bessel
from stride0.autograd._rules import compiled as _compiled
from stride0.autograd._rules import contractions as _contractions
from stride0.autograd._rules import decompositions as _decompositions
from stride0.autograd._rules import distributions as _distributions
from stride0.autograd._rules import elementwise as _elementwise
from stride0.autograd._rules import exponentials as _exponentials
from stride0.autograd._rules import fft as _fft
from stride0.autograd._rules import forward as _forward
from stride0.autograd._rules import linalg as _linalg
from stride0.autograd._rules import manipulation as _manipulation
from stride0.autograd._rules import parts as _parts
from stride0.autograd._rules import polynomials as _polynomials
from stride0.autograd._rules import special as _special
from stride0.autograd._rules import statistical as _statistical
from stride0.autograd._tape.tape import define, define_forward, define_repeats

Rules = dict[str, dict[str, Callable[..., Any]]]

CHAPTERS = (
    *(_compiled, _elementwise, _statistical, _manipulation, _linalg, _contractions, _decompositions, _fft),
    *(_special, _bessel, _polynomials, _distributions, _exponentials),
)

# Functions of the core that do not belong to a chapter of rules.
VJP: Rules = {"asarray": {"obj": lambda g: g}}
NO_GRAD: dict[str, str] = {}
REFUSED: dict[str, str] = {}
INNER_VJP: Rules = dict(_parts.INNER_VJP)
# For functions with rules: arguments that must not be tracked, and why.
UNKNOWN: dict[str, dict[str, str]] = {}

for _chapter in CHAPTERS:
    VJP |= _chapter.VJP
    NO_GRAD |= getattr(_chapter, "NO_GRAD", {})
    REFUSED |= getattr(_chapter, "REFUSED", {})
    INNER_VJP |= getattr(_chapter, "INNER_VJP", {})
    UNKNOWN |= getattr(_chapter, "UNKNOWN", {})

# Names in the core that are not functions.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "view": reinterpret,
    "watch": operator.pos,
}
# Modules of the core with functions under their own names.
_COMPILED = (functions, elementwise, index, exchange)
# Functions of inner namespaces: "special.expit".
_SPECIAL = {f"special.{name}": getattr(special, name) for name in special.__all__}


def _function(name: str) -> Callable[..., Any] | None:
    """Return the function for a name in the tables; None if it does not read elements of arrays."""
    found = PRIMITIVES.get(name) or _OPERATORS.get(name) or _SPECIAL.get(name)
    return found or next((getattr(module, name) for module in _COMPILED if hasattr(module, name)), None)


def _define_all() -> None:
    for name, rules in (VJP | INNER_VJP | {name: {} for name in NO_GRAD | REFUSED}).items():
        function = _function(name)
        if function is not None:
            define(name, function, rules, REFUSED.get(name), UNKNOWN.get(name, {}))
            if name in _forward.LINEAR:
                define_forward(name, {key: _forward.linear(function, rule) for key, rule in rules.items()})
            elif name in _forward.JVP:
                define_forward(name, _forward.JVP[name])
            elif name in _forward.SYMMETRIC and rules:
                define_forward(name, dict.fromkeys(rules), name not in _forward.NOT_HOLOMORPHIC)
        elif rules:
            raise ValueError(f"there is no function {name} for its gradient rules")
    for name, repeats in _decompositions.REPEATS.items():
        define_repeats(name, repeats)


_define_all()
