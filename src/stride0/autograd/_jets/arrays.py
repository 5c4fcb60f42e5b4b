"""The Taylor series of linear functions, products and reductions.

A rule takes the call and its results, and returns a series for each result; None if it does not know the form
of the call.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from stride0._chapters.creation import ones_like, zeros_like
from stride0._chapters.data_types import astype
from stride0._chapters.elementwise import conj, equal, exp, greater, isnan, less, logical_or, real
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.manipulation import concat, moveaxis, permute_dims, reshape
from stride0._chapters.sorting import argsort
from stride0._chapters.statistical import mean, sum
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0._core.exchange.exchange import asarray
from stride0.autograd._jets.elementwise import absolute, chosen, direction
from stride0.autograd._jets.series import Series, solved, times, total
from stride0.autograd._rules.compiled import contract
from stride0.autograd._rules.elementwise import is_complex
from stride0.autograd._rules.parts import kept, reduced_axes
from stride0.autograd._rules.statistical import divisor
from stride0.autograd._rules.table import VJP
from stride0.autograd._rules.table import _function as _differentiable
from stride0.autograd._sparse.rules import MOVING_PADS, _function
from stride0.autograd._tape.trees import flatten

__all__ = ["RULES", "Call", "Found", "Rule", "along_axes", "function_of"]

Found = list[Series] | None


def function_of(name: str) -> Callable[..., Any]:
    return operator.getitem if name == "getitem" else _differentiable(name) or _function(name)


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(function_of(name))


class Call:
    """A call, and the series of its operands, by their identity."""

    def __init__(self, name: str, args: Any, kwargs: Any) -> None:
        self.name, self.args, self.kwargs = name, args, kwargs
        self.series: dict[int, Series] = {}

    def bound(self) -> inspect.BoundArguments:
        given = _signature(self.name).bind(*self.args, **self.kwargs)
        given.apply_defaults()
        return given

    def of(self, x: Any) -> Series:
        """Return the series of an operand, which may be a constant."""
        return self.series.get(id(x)) or Series(x)

    def one(self) -> tuple[Series, dict[str, Any]]:
        """Return the series of the first argument, and the other arguments."""
        given = dict(self.bound().arguments)
        return self.of(given.pop(next(iter(given)))), given


Rule = Callable[[Call, list[Any]], Found]


# --- linear functions


def _linear(call: Call, outs: list[Any]) -> Found:
    given = call.bound()
    names = [next(iter(given.arguments))] if call.name in ("getitem", "pad", *_NAN) else list(VJP[call.name])
    used: list[Series] = []

    def replaced(x: Any, k: int) -> Any:
        if isinstance(x, (tuple, list)):
            return type(x)(replaced(item, k) for item in x)
        if isinstance(x, Array):
            series = call.series.get(id(x))
            term = None if series is None else series[k]
            if term is not None and call.name in _NAN:
                term = where(isnan(series[0]), series[0], term)  # type: ignore[index]
            return zeros_like(x) if term is None else term
        return x if x is None or isinstance(x, (str, bool)) else 0

    for x in flatten([given.arguments[name] for name in names])[0]:
        if id(x) in call.series:
            used.append(call.series[id(x)])
    if call.name == "pad":
        if given.arguments["mode"] not in MOVING_PADS:
            return None
        given.arguments["constant_values"] = 0

    @cache
    def part(k: int) -> list[Any]:
        if all(series[k] is None for series in used):
            return [None] * len(outs)
        again = inspect.BoundArguments(given.signature, given.arguments.copy())
        for name in names:
            again.arguments[name] = replaced(given.arguments[name], k)
        out = function_of(call.name)(*again.args, **again.kwargs)
        return [out] if isinstance(out, Array) else list(out)

    return [Series(out, lambda k, i=i: part(k)[i]) for i, out in enumerate(outs)]  # type: ignore[misc]


def _sum(call: Call, outs: list[Any]) -> Found:
    x, z, *alpha = (call.of(v) for v in (*call.args, *call.kwargs.values()))
    second = z * alpha[0] if alpha else z
    return [(x + second if call.name == "add" else x - second).starting(outs[0])]


def _clip(call: Call, outs: list[Any]) -> Found:
    x, low, high = (call.of(v) for v in call.bound().arguments.values())

    def rule(k: int) -> Any:
        found = x[k]
        if low[0] is not None:
            found = chosen(less(x[0], low[0]), low[k], found)
        if high[0] is not None:
            over = greater(x[0], high[0])
            if low[0] is not None:
                over = logical_or(over, greater(asarray(low[0]), high[0]))
            found = chosen(over, high[k], found)
        return found

    return [Series(outs[0], rule)]


# --- products


def _compositions(series: list[Series], k: int) -> Iterator[tuple[int, ...]]:
    """Yield tuples of coefficient numbers, one per series, whose sum is k."""
    if len(series) == 1:
        if k == 0 or series[0][k] is not None:
            yield (k,)
        return
    for j in range(k + 1):
        if j == 0 or series[0][j] is not None:
            yield from ((j, *rest) for rest in _compositions(series[1:], k - j))


def _multilinear(call: Call, outs: list[Any]) -> Found:
    leaves, structure = flatten([list(call.args), call.kwargs])
    arrays = [i for i, x in enumerate(leaves) if isinstance(x, Array)]
    at = [i for i in arrays if id(leaves[i]) in call.series]
    series = [call.of(leaves[i]) for i in at]
    function = function_of(call.name)

    def term(numbers: tuple[int, ...]) -> Any:
        def run(*given: Any) -> Any:
            again = list(leaves)
            for i, x in zip(arrays, given, strict=True):
                again[i] = x
            args, kwargs = structure.rebuild(again)
            return function(*args, **kwargs)

        terms = dict(zip(at, (s[j] for s, j in zip(series, numbers, strict=True)), strict=True))
        given = [terms.get(i, leaves[i]) for i in arrays]
        return contract(run, *given) if len(given) == 2 else run(*given)

    return [Series(outs[0], lambda k: total(map(term, _compositions(series, k))))]


def _joined(x: Series, y: Series) -> Series:
    """Concatenate two series along the last axis."""

    def rule(k: int) -> Any:
        parts = [(s[k], s[0]) for s in (x, y)]
        if all(term is None for term, _ in parts):
            return None
        return concat([zeros_like(first) if term is None else term for term, first in parts], axis=-1)

    return Series(concat([x[0], y[0]], axis=-1), rule)


def _part(x: Series, start: int, stop: int | None = None) -> Series:
    return x.mapped(lambda c: c[..., start:stop])


def _product(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    (out,) = outs
    axes = reduced_axes(given["axis"], x[0].ndim)
    rest = [axis for axis in range(x[0].ndim) if axis not in axes]
    if not x[0].size:
        return [Series(out)]
    shape = (*(x[0].shape[axis] for axis in rest), -1)
    s = x.mapped(lambda c: reshape(permute_dims(astype(c, out.dtype), (*rest, *axes)), shape))
    while (n := s[0].shape[-1]) > 1:
        half = _part(s, 0, n // 2) * _part(s, n // 2, n // 2 * 2)
        s = _joined(half, _part(s, -1)) if n % 2 else half
    return [s.mapped(lambda c: reshape(c, out.shape), out)]


def _products(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    (out,) = outs
    axis = -1 if given["axis"] is None or not x[0].ndim else given["axis"]
    if not x[0].ndim:
        x = x.mapped(lambda c: reshape(c, (1,)))
    s = x.mapped(lambda c: moveaxis(astype(c, out.dtype), axis, -1))
    step = 1
    while step < s[0].shape[-1]:
        s, step = _joined(_part(s, 0, step), _part(s, step) * _part(s, 0, -step)), 2 * step
    if given["include_initial"]:
        s = _joined(Series(ones_like(s[0][..., :1])), s)
    return [s.mapped(lambda c: reshape(moveaxis(c, -1, axis), out.shape), out)]


# --- reductions


def along_axes(y: Any, x: Series, slopes: Callable[[Series], Series], axis: Any) -> Series:
    """Solve ``y' = sum(slopes(y) * x')``: a sum over axes. `slopes` gets a series that has these axes."""
    out, shape = Series(y), kept(x[0].shape, axis)
    slope = slopes(out.mapped(lambda c: reshape(c, shape)))

    def rule(k: int) -> Any:
        found = total(times(x.slope(j), slope[k - j]) for j in range(1, k + 1))
        if found is None:
            return None
        found = found if is_complex(y) or not is_complex(found) else real(found)
        return reshape(sum(found, axis=axis), y.shape) / k

    out.rule = rule
    return out


def _spread(call: Call, outs: list[Any]) -> Found:
    """Return the variance, or the standard deviation."""
    x, given = call.one()
    axis = given["axis"]
    apart = x.mapped(lambda c: c - mean(c, axis=axis, keepdims=True))
    by = 2 / divisor(x[0].shape, axis, given["correction"])
    if call.name == "var":
        return [along_axes(outs[0], x, lambda y: apart.mapped(lambda c: conj(c) * by), axis)]
    # Use the deviation itself: its square could leave the range.
    return [
        along_axes(outs[0], x, lambda y: direction(apart, y).mapped(lambda c: conj(c) * (by * 0.5)), axis)
    ]


def _norm(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    axis, order = given.get("axis", (-2, -1)), given["ord"]
    if order == 1 and call.name == "linalg.vector_norm":
        size = absolute(x)
        return [size.mapped(lambda c: reshape(sum(c, axis=axis), outs[0].shape), outs[0])]
    if order not in (2, "fro") or (order == 2) != (call.name == "linalg.vector_norm"):
        return None
    return [along_axes(outs[0], x, lambda y: direction(x, y).mapped(conj), axis)]


def _extreme(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    axis, out = given["axis"], outs[0]
    ties = equal(x[0], reshape(out, kept(x[0].shape, axis)))
    count = sum(astype(ties, out.dtype), axis=axis)
    return [
        x.mapped(
            lambda c: reshape(sum(where(ties, c, 0), axis=axis) / count, out.shape),
            out,
        )
    ]


def _sort(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    order = argsort(x[0], **given)
    return [x.mapped(lambda c: take_along_axis(c, order, axis=given["axis"]), outs[0])]


def _exponentials(call: Call, outs: list[Any]) -> Found:
    """Return `logsumexp`, `softmax` or `log_softmax`; shares solve ``p' = p * (x' - y')``."""
    x, given = call.one()
    axis, (out,) = given["axis"], outs
    if given.get("b") is not None or given.get("return_sign"):
        return None
    if call.name == "special.logsumexp":
        first = exp(x[0] - reshape(out, kept(x[0].shape, axis)))
    else:
        first = out if call.name == "special.softmax" else exp(out)
    shares: list[Series] = []
    wide: list[Series] = []

    def slopes(y: Series) -> Series:
        wide.append(y)
        shares.append(solved(first, [x, y], lambda p: [p, -p]))
        return shares[0]

    if call.name == "special.logsumexp":
        return [along_axes(out, x, slopes, axis)]
    # Its first coefficient is unused: shares depend only on the derivatives.
    along_axes(sum(first, axis=axis), x, slopes, axis)
    found = shares[0] if call.name == "special.softmax" else x - wide[0]
    return [found.starting(out)]


_NAN = ("nansum", "nanmean")
_LINEAR = (
    *("asarray", "astype", "broadcast_arrays", "broadcast_to", "concat", "conj", "cumulative_sum", "diff"),
    *("expand_dims", "flip", "full", "full_like", "getitem", "imag", "linspace", "matrix_transpose", "mean"),
    *("meshgrid", "moveaxis", "negative", "pad", "permute_dims", "positive", "real", "repeat", "reshape"),
    *("roll", "special.radian", "squeeze", "stack", "strided.contiguous", "sum", "take", "take_along_axis"),
    *("tile", "tril", "triu", "unstack", "where", "linalg.diagonal", "linalg.trace", *_NAN),
    *(name for name in VJP if name.startswith("fft.")),
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(_LINEAR, _linear),
    **dict.fromkeys(("add", "subtract"), _sum),
    "clip": _clip,
    **dict.fromkeys(
        ("matmul", "tensordot", "vecdot", "einsum", "linalg.outer", "linalg.cross"), _multilinear
    ),
    "prod": _product,
    "cumulative_prod": _products,
    **dict.fromkeys(("var", "std"), _spread),
    **dict.fromkeys(("max", "min"), _extreme),
    "sort": _sort,
    **dict.fromkeys(("linalg.vector_norm", "linalg.matrix_norm"), _norm),
    **dict.fromkeys(("special.logsumexp", "special.softmax", "special.log_softmax"), _exponentials),
}
