"""Batching rules of `stride0.special`: nearly all of its functions are elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0 import special
from stride0._base.errors import BatchingError
from stride0._core.array.array import Array
from stride0.autograd._batching.elementwise import aligned, elementwise
from stride0.autograd._batching.parts import Level, Rule, along_all, shifted_all
from stride0.autograd._rules.exponentials import exp_shares
from stride0.special._parameters import betainc_ab, gammainc_a, odd_betainc_b
from stride0.special._polygamma import polygamma_z
from stride0.special._zeta import zeta_x


def _logsumexp(level: Level, a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool) -> Any:
    ndim = max(x.ndim for x in (a, b) if isinstance(x, Array))
    a, b = aligned("special.logsumexp", level, a=a, b=b)
    axes = shifted_all("special.logsumexp", axis, ndim)
    function: Callable[..., Any] = special.logsumexp
    return function(a, axes, b, keepdims, return_sign)


def _multigammaln(level: Level, a: Array, d: Any) -> Array:
    if level.has(d):
        raise BatchingError(
            "special.multigammaln", "d is batched, but sets the number of terms", (), "pass an integer d"
        )
    return special.multigammaln(level.value(a), d)


def _exp_shares(level: Level, a: Array, b: Any, axis: Any) -> Array:
    axes = shifted_all("special.exp_shares", axis, a.ndim)
    a, b = aligned("special.exp_shares", level, a=a, b=b)
    return exp_shares(a, b, axes)


OTHERS: dict[str, Rule] = {
    "log_softmax": along_all(special.log_softmax),
    "logsumexp": _logsumexp,
    "multigammaln": _multigammaln,
    "softmax": along_all(special.softmax),
}

RULES: dict[str, Rule] = {
    f"special.{name}": OTHERS.get(name) or elementwise(getattr(special, name), f"special.{name}")
    for name in special.__all__
    if not isinstance(getattr(special, name), type)
}
RULES["special.exp_shares"] = _exp_shares
RULES |= {
    f"special.{f.__name__}": elementwise(f)
    for f in (gammainc_a, betainc_ab, odd_betainc_b, polygamma_z, zeta_x)
}
