"""Rules for tangents (directional derivatives), besides the gradient rules.

`LINEAR` lists functions that are linear in their array: the function itself gives the tangent. `JVP` has
other functions for which a direct formula is worthwhile: some products, sums and inverses. The parameters of
a rule are the tangent, values that the gradient rule of that argument saves, by the same names, and
`out_shape`. Elementwise functions need no line, because their gradient rules serve both directions. For all
other functions the tape transposes the gradient rule, so lines here are optional. Note [Tangents] in
`tape.pyx`.

If a tangent is 0, it contributes 0, as in gradient rules.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from stride0._base.shapes import Shape
from stride0._chapters.contractions import einsum
from stride0._chapters.creation import zeros
from stride0._chapters.data_types import astype
from stride0._chapters.elementwise import add, exp, greater, less, sign
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.linear_algebra import tensordot, vecdot
from stride0._chapters.manipulation import concat, expand_dims, reshape, stack
from stride0._chapters.sorting import argsort
from stride0._chapters.statistical import mean, sum
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0._core.matmul.matmul import read_subscripts
from stride0._tables.operations import OPS
from stride0.autograd._rules import compiled, distributions, elementwise, special
from stride0.autograd._rules.compiled import after, before, contract
from stride0.autograd._rules.exponentials import without_share
from stride0.autograd._rules.linalg import cross_product
from stride0.autograd._rules.manipulation import cleared
from stride0.autograd._rules.parts import conjugate, multiply_nonzero, product, put, times, unreduce
from stride0.autograd._rules.statistical import divisor, losers, other_factors, std_slope
from stride0.autograd._tape.tape import recorded

Rule = Callable[..., Any]


def _pieces(tangents: dict[int, Array], shapes: list[Shape]) -> list[Array]:
    """Return the tangents of all items of a sequence."""
    dtype = next(iter(tangents.values())).dtype
    return [tangents[k] if k in tangents else zeros(shape, dtype=dtype) for k, shape in enumerate(shapes)]


def _concat(tangents: dict[int, Array], arrays_shape: list[Shape], axis: int | None) -> Array:
    return concat(_pieces(tangents, arrays_shape), axis=axis)


def _stack(tangents: dict[int, Array], axis: int, out_shape: Shape) -> Array:
    shape = next(iter(tangents.values())).shape
    return stack(_pieces(tangents, [shape] * out_shape[axis]), axis=axis)


def _extreme(t: Array, x: Array, axis: Any, out: Array, loses: Rule) -> Array:
    lost, ties = losers(x, axis, out, loses)
    return sum(where(lost, 0, t / astype(ties, t.dtype)), axis=axis)


def _spread(t: Array, x: Array, axis: Any) -> Array:
    """Return the sum of tangents times deviations from the mean."""
    return sum(product(t, conjugate(x - mean(x, axis=axis, keepdims=True))), axis=axis)


# --- contractions: `contract` makes terms 0 if a factor is 0


def _tensordot(t: Array, other: Array, axes: Any, first: bool) -> Any:
    return contract(
        lambda t, d: tensordot(t, d, axes=axes) if first else tensordot(d, t, axes=axes), t, other
    )


def _vecdot(t: Array, other: Array, axis: int, first: bool) -> Any:
    return contract(lambda t, d: vecdot(t, d, axis=axis) if first else vecdot(d, t, axis=axis), t, other)


def _einsum(t: Array, k: int, subscripts: Any, operands: Any, optimize: Any) -> Any:
    """Return the contribution of the tangent of operand `k`."""
    arrays, read = read_subscripts("einsum", subscripts, operands)

    def call(*given: Array) -> Any:
        pairs = [part for x, labels in zip(given, read.inputs, strict=True) for part in (x, list(labels))]
        return einsum(*pairs, list(read.output), optimize=optimize)

    if len(arrays) != 2:
        return call(*arrays[:k], t, *arrays[k + 1 :])
    return contract(lambda t, d: call(t, d) if k == 0 else call(d, t), t, arrays[1 - k])


def _einsum_operands(tangents: dict[int, Array], subscripts: Any, operands: Any, optimize: Any) -> Any:
    # In the interleaved form, `subscripts` is the first array, and labels follow each array.
    places = {k: k if isinstance(subscripts, str) else (k + 1) // 2 for k in tangents}
    terms = [_einsum(t, places[k], subscripts, operands, optimize) for k, t in tangents.items()]
    return functools.reduce(add, terms)


def linear(function: Rule, gradient_rule: Rule) -> Rule:
    """Return the rule of a linear function: the function applied to the tangent, with the saved options.

    It is compiled from text, so that a call costs no more than a call of an explicit rule.
    """
    code = gradient_rule.__code__
    saved = [name for name in code.co_varnames[1 : code.co_argcount] if not name.endswith("_shape")]
    kinds = {name: p.kind for name, p in inspect.signature(function).parameters.items()}
    named = [name for name in saved if kinds[name] is inspect.Parameter.KEYWORD_ONLY]
    first = [name for name in kinds if name in saved and name not in named]
    call = f"function({', '.join(['t', *first, *(f'{name}={name}' for name in named)])})"
    names = ["t", *first, *named]
    if "keepdims" in kinds:
        # `keepdims` is not saved.
        call, names = f"reshape({call}, out_shape)", [*names, "out_shape"]
    rule: Rule = eval(f"lambda {', '.join(names)}: {call}", {"function": function, "reshape": reshape})
    return rule


def _same(t: Array) -> Array:
    return t


# Functions that are linear in their array. Their other arguments are saved, except `keepdims`.
LINEAR = {
    *("imag", "flip", "moveaxis", "permute_dims", "matrix_transpose", "repeat", "roll", "tile"),
    *("tril", "triu", "take", "take_along_axis", "sum", "mean", "cumulative_sum"),
    *("linalg.diagonal", "linalg.trace", "fft.fftshift", "fft.ifftshift", "fft.fft", "fft.ifft", "fft.fftn"),
    *("fft.ifftn", "fft.rfft", "fft.irfft", "fft.rfftn", "fft.irfftn", "fft.hfft", "fft.ihfft"),
}

JVP: dict[str, dict[str, Rule]] = {
    # --- complex numbers: the engine takes the real part if the result is real
    "abs": {"x": lambda t, x: times(t, conjugate(sign(x)))},
    "conj": {"x": lambda t: conjugate(t)},
    "real": {"x": _same},
    # --- manipulation, creation, indexing: the engine broadcasts and converts
    "asarray": {"obj": _same},
    **{name: {"x": _same} for name in ("astype", "broadcast_to", "strided.contiguous", "watch")},
    **{
        name: {"x": lambda t, out_shape: reshape(t, out_shape)}
        for name in ("expand_dims", "reshape", "squeeze")
    },
    "concat": {"arrays": _concat},
    "stack": {"arrays": _stack},
    "getitem": {"x": lambda t, key: t[key]},
    "setitem": {"x": lambda t, key: cleared(t, key)},
    # --- reductions, cumulative functions, order
    "prod": {
        "x": lambda t, x, axis, out, out_shape: reshape(
            sum(product(t, other_factors(x, axis, out)), axis=axis), out_shape
        )
    },
    "var": {
        "x": lambda t, x, axis, correction, out_shape: reshape(
            _spread(t, x, axis) * (2 / divisor(x.shape, axis, correction)), out_shape
        )
    },
    "std": {
        "x": lambda t, x, axis, correction, out, out_shape: reshape(
            sum(product(t, conjugate(std_slope(x, axis, correction, out))), axis=axis), out_shape
        )
    },
    "max": {"x": lambda t, x, axis, out, out_shape: reshape(_extreme(t, x, axis, out, less), out_shape)},
    "min": {"x": lambda t, x, axis, out, out_shape: reshape(_extreme(t, x, axis, out, greater), out_shape)},
    "sort": {
        "x": lambda t, x, axis, descending: take_along_axis(
            t, argsort(x, axis=axis, descending=descending), axis=axis
        )
    },
    # --- products and matrices
    "matmul": {"x1": lambda t, x2: before(t, x2), "x2": lambda t, x1: after(x1, t)},
    "tensordot": {
        "x1": lambda t, x2, axes: _tensordot(t, x2, axes, True),
        "x2": lambda t, x1, axes: _tensordot(t, x1, axes, False),
    },
    "vecdot": {
        "x1": lambda t, x2, axis: _vecdot(t, x2, axis, True),
        "x2": lambda t, x1, axis: _vecdot(t, x1, axis, False),
    },
    "einsum": {
        "subscripts": lambda t, subscripts, operands, optimize: _einsum(t, 0, subscripts, operands, optimize),
        "operands": _einsum_operands,
    },
    "linalg.cross": {
        "x1": lambda t, x2, axis: cross_product(t, x2, axis, multiply_nonzero),
        "x2": lambda t, x1, axis: -cross_product(t, x1, axis, multiply_nonzero),
    },
    "linalg.outer": {
        "x1": lambda t, x2: times(expand_dims(t, axis=-1), expand_dims(x2, axis=-2)),
        "x2": lambda t, x1: times(expand_dims(t, axis=-2), expand_dims(x1, axis=-1)),
    },
    "linalg.inv": {"x": lambda t, out: -before(after(out, t), out)},
    # --- logarithms of sums
    "special.log_softmax": {"x": lambda t, out, axis: without_share(t, None, exp(out), axis)},
    # --- building blocks of gradient rules
    "sum_into": {"x": lambda t, out_shape: recorded("sum_into", t, out_shape)},
    "unreduce": {"x": lambda t, axis, out_shape: unreduce(t, out_shape, axis)},
    "put": {"g": lambda t, key, out_shape: put(t, out_shape, key)},
    # The derivative by the second factor is 0 if the first factor is 0: Note [Zero factors].
    "multiply_masked": {"x1": lambda t, x2: times(t, x2), "x2": lambda t, x1: multiply_nonzero(t, x1)},
    "multiply_nonzero": {
        "x1": lambda t, x2: multiply_nonzero(t, x2),
        "x2": lambda t, x1: multiply_nonzero(t, x1),
    },
    "dot_into": {
        "x1": lambda t, x2, out_shape: recorded("dot_into", t, x2, out_shape),
        "x2": lambda t, x1, out_shape: recorded("sum_into", multiply_nonzero(t, x1), out_shape),
    },
}

# Functions whose Jacobian is symmetric, apart from broadcasting: their gradient rules give tangents.
_ELEMENTWISE = {op.name for op in OPS}
SYMMETRIC = {
    name
    for chapter in (compiled, elementwise, special, distributions)
    for name in {**chapter.VJP, **getattr(chapter, "INNER_VJP", {})}
    if (name in _ELEMENTWISE or chapter is not compiled) and name not in LINEAR | JVP.keys()
} | {"full", "full_like", "linspace", "special.softmax"}

# Among these, functions whose gradient rule gives tangents only for real arrays.
NOT_HOLOMORPHIC = {"sign"}
