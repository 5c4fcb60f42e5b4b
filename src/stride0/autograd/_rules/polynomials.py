"""Gradient rules of orthogonal polynomials: their derivatives are polynomials of the next lower degree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0 import special
from stride0.autograd._rules.special import COUNT, PARAMETER
from stride0.autograd._rules.special_derivatives import Rule, along, of_lower
from stride0.autograd._tape.tape import LazyProduct


def _gegenbauer(g: Any, n: Any, alpha: Any, x: Any) -> LazyProduct:
    return along(g, 2.0 * alpha * of_lower(n, lambda m: special.eval_gegenbauer(m, alpha + 1.0, x)))


def _laguerre(g: Any, n: Any, alpha: Any, x: Any) -> LazyProduct:
    return along(g, -of_lower(n, lambda m: special.eval_genlaguerre(m, alpha + 1.0, x)))


def _jacobi(g: Any, n: Any, alpha: Any, beta: Any, x: Any) -> LazyProduct:
    lower = of_lower(n, lambda m: special.eval_jacobi(m, alpha + 1.0, beta + 1.0, x))
    return along(g, 0.5 * (n + alpha + beta + 1.0) * lower)


def _appell(function: Callable[..., Any], factor: float) -> Rule:
    """Return the rule of polynomials whose derivative is the previous one, times a factor and the degree."""
    return lambda g, n, x: along(g, factor * n * of_lower(n, lambda m: function(m, x)))


VJP: dict[str, dict[str, Rule]] = {
    "special.eval_legendre": {"x": lambda g, n, x: _gegenbauer(g, n, 0.5, x)},
    "special.eval_chebyt": {"x": _appell(special.eval_chebyu, 1.0)},
    "special.eval_chebyu": {"x": lambda g, n, x: _gegenbauer(g, n, 1.0, x)},
    "special.eval_gegenbauer": {"x": _gegenbauer},
    "special.eval_jacobi": {"x": _jacobi},
    "special.eval_hermite": {"x": _appell(special.eval_hermite, 2.0)},
    "special.eval_hermitenorm": {"x": _appell(special.eval_hermitenorm, 1.0)},
    "special.eval_laguerre": {"x": lambda g, n, x: _laguerre(g, n, 0.0, x)},
    "special.eval_genlaguerre": {"x": _laguerre},
}

UNKNOWN: dict[str, dict[str, str]] = {
    name: {p: COUNT if p == "n" else PARAMETER for p in parameters}
    for name, parameters in {
        **{name: ("n",) for name in VJP},
        "special.eval_gegenbauer": ("n", "alpha"),
        "special.eval_genlaguerre": ("n", "alpha"),
        "special.eval_jacobi": ("n", "alpha", "beta"),
    }.items()
}
