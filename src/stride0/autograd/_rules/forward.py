"""What functions do with tangents: rules of derivatives in a direction, beside those of gradients.

`JVP` has the functions for which a direct formula is worth its line: those that are linear in an argument,
for which it is a call of the function itself, and some products, sums and inverses. The parameters of a rule
are the tangent and what the gradient rule of that argument saves, by the same names, and `out_shape`.
Elementwise functions need no line: their gradient rules serve both ways. For everything else the tape
transposes the gradient rule, so a line here is never needed. Note [Tangents] in `tape.pyx`.

Where a tangent is 0, what it contributes is 0, as in the rules of gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from stride0 import fft, linalg
from stride0._base.shapes import Shape
from stride0._chapters.contractions import einsum
from stride0._chapters.creation import tril, triu, zeros
from stride0._chapters.data_types import astype
from stride0._chapters.elementwise import add, exp, greater, imag, less, sign
from stride0._chapters.indexing import take, take_along_axis
from stride0._chapters.linear_algebra import tensordot, vecdot
from stride0._chapters.manipulation import (
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    stack,
    tile,
)
from stride0._chapters.sorting import argsort
from stride0._chapters.statistical import cumulative_sum, mean, sum
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
    """Return the sum of the products of tangents and deviations from the mean."""
    return sum(product(t, conjugate(x - mean(x, axis=axis, keepdims=True))), axis=axis)


# --- contractions: terms are 0 where a factor is, by `contract`


def _tensordot(t: Array, other: Array, axes: Any, first: bool) -> Any:
    return contract(
        lambda t, d: tensordot(t, d, axes=axes) if first else tensordot(d, t, axes=axes), t, other
    )


def _vecdot(t: Array, other: Array, axis: int, first: bool) -> Any:
    return contract(lambda t, d: vecdot(t, d, axis=axis) if first else vecdot(d, t, axis=axis), t, other)


def _einsum(t: Array, k: int, subscripts: Any, operands: Any, optimize: Any) -> Any:
    """Return what the tangent of operand `k` contributes."""
    arrays, read = read_subscripts("einsum", subscripts, operands)

    def call(*given: Array) -> Any:
        pairs = [part for x, labels in zip(given, read.inputs, strict=True) for part in (x, list(labels))]
        return einsum(*pairs, list(read.output), optimize=optimize)

    if len(arrays) != 2:
        return call(*arrays[:k], t, *arrays[k + 1 :])
    return contract(lambda t, d: call(t, d) if k == 0 else call(d, t), t, arrays[1 - k])


def _einsum_operands(tangents: dict[int, Array], subscripts: Any, operands: Any, optimize: Any) -> Any:
    # In the interleaved form, `subscripts` is the first array, and labels lie between the others.
    places = {k: k if isinstance(subscripts, str) else (k + 1) // 2 for k in tangents}
    terms = [_einsum(t, places[k], subscripts, operands, optimize) for k, t in tangents.items()]
    return functools.reduce(add, terms)


# --- Fourier transforms: the result says how long they are


def _transform(function: Rule) -> dict[str, Rule]:
    def rule(t: Array, axis: int, norm: str, out_shape: Shape) -> Any:
        return function(t, n=out_shape[axis], axis=axis, norm=norm)

    return {"x": rule}


def _to_half(function: Rule) -> dict[str, Rule]:
    return {"x": lambda t, n, axis, norm: function(t, n=n, axis=axis, norm=norm)}


def _transform_nd(function: Rule) -> dict[str, Rule]:
    def rule(t: Array, axes: Any, norm: str, out_shape: Shape) -> Any:
        along = tuple(range(len(out_shape))) if axes is None else tuple(axes)
        return function(t, s=tuple(out_shape[k] for k in along), axes=along, norm=norm)

    return {"x": rule}


def _same(t: Array) -> Array:
    return t


def _reshaped(t: Array, out_shape: Shape) -> Array:
    return reshape(t, out_shape)


JVP: dict[str, dict[str, Rule]] = {
    # --- complex numbers: the engine takes the real part where the result is real
    "abs": {"x": lambda t, x: times(t, conjugate(sign(x)))},
    "conj": {"x": lambda t: conjugate(t)},
    "real": {"x": _same},
    "imag": {"x": lambda t: imag(t)},
    # --- manipulation, creation, indexing: the engine broadcasts and converts
    "asarray": {"obj": _same},
    **{name: {"x": _same} for name in ("astype", "broadcast_to", "strided.contiguous", "watch")},
    **{name: {"x": _reshaped} for name in ("expand_dims", "reshape", "squeeze")},
    "concat": {"arrays": _concat},
    "stack": {"arrays": _stack},
    "flip": {"x": lambda t, axis: flip(t, axis=axis)},
    "moveaxis": {"x": lambda t, source, destination: moveaxis(t, source, destination)},
    "permute_dims": {"x": lambda t, axes: permute_dims(t, axes)},
    "matrix_transpose": {"x": lambda t: t.mT},
    "repeat": {"x": lambda t, repeats, axis: repeat(t, repeats, axis=axis)},
    "roll": {"x": lambda t, shift, axis: roll(t, shift, axis=axis)},
    "tile": {"x": lambda t, repetitions: tile(t, repetitions)},
    "tril": {"x": lambda t, k: tril(t, k=k)},
    "triu": {"x": lambda t, k: triu(t, k=k)},
    "getitem": {"x": lambda t, key: t[key]},
    "setitem": {"x": lambda t, key: cleared(t, key)},
    "take": {"x": lambda t, indices, axis: take(t, indices, axis=axis)},
    "take_along_axis": {"x": lambda t, indices, axis: take_along_axis(t, indices, axis=axis)},
    # --- reductions, cumulative functions, order
    "sum": {"x": lambda t, axis, out_shape: reshape(sum(t, axis=axis), out_shape)},
    "mean": {"x": lambda t, axis, out_shape: reshape(mean(t, axis=axis), out_shape)},
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
    "cumulative_sum": {
        "x": lambda t, axis, include_initial: cumulative_sum(t, axis=axis, include_initial=include_initial)
    },
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
    "linalg.diagonal": {"x": lambda t, offset: linalg.diagonal(t, offset=offset)},
    "linalg.trace": {"x": lambda t, offset: linalg.trace(t, offset=offset)},
    "linalg.inv": {"x": lambda t, out: -before(after(out, t), out)},
    # --- Fourier transforms
    **{f"fft.{name}": _transform(getattr(fft, name)) for name in ("fft", "ifft", "irfft", "hfft")},
    **{f"fft.{name}": _to_half(getattr(fft, name)) for name in ("rfft", "ihfft")},
    **{f"fft.{name}": _transform_nd(getattr(fft, name)) for name in ("fftn", "ifftn", "irfftn")},
    "fft.rfftn": {"x": lambda t, s, axes, norm: fft.rfftn(t, s=s, axes=axes, norm=norm)},
    "fft.fftshift": {"x": lambda t, axes: fft.fftshift(t, axes=axes)},
    "fft.ifftshift": {"x": lambda t, axes: fft.ifftshift(t, axes=axes)},
    # --- logarithms of sums
    "special.log_softmax": {"x": lambda t, out, axis: without_share(t, None, exp(out), axis)},
    # --- building blocks of gradient rules
    "sum_into": {"x": lambda t, out_shape: recorded("sum_into", t, out_shape)},
    "unreduce": {"x": lambda t, axis, out_shape: unreduce(t, out_shape, axis)},
    "put": {"g": lambda t, key, out_shape: put(t, out_shape, key)},
    # The derivative by the second factor is 0 where the first factor is 0: Note [Zero factors].
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

# Functions whose matrix of derivatives is symmetric but for broadcasting: their gradient rules give tangents.
_ELEMENTWISE = {op.name for op in OPS}
SYMMETRIC = {
    name
    for chapter in (compiled, elementwise, special, distributions)
    for name in {**chapter.VJP, **getattr(chapter, "INNER_VJP", {})}
    if (name in _ELEMENTWISE or chapter is not compiled) and name not in JVP
} | {"full", "full_like", "linspace", "special.softmax"}

# Of these the gradient rule does so where everything is real.
NOT_HOLOMORPHIC = {"sign"}
