"""Batching rules of products of matrices, of the extension `linalg`, and of Fourier transforms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from stride0 import fft, linalg
from stride0._base.subscripts import Labels, labels_of_tensordot
from stride0._chapters.contractions import einsum
from stride0._chapters.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from stride0._chapters.manipulation import expand_dims, moveaxis, reshape, squeeze
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import multiply
from stride0._core.matmul.matmul import read_steps, read_subscripts
from stride0.autograd._batching.parts import (
    Level,
    Rule,
    along,
    along_all,
    broadcast,
    natural,
    of_matrices,
    shifted_all,
)
from stride0.autograd._rules import inverses
from stride0.autograd._rules.linalg import norm_slope, unit_vectors
from stride0.linalg import _beyond

# Products


def _matmul(level: Level, x1: Array, x2: Array) -> Array:
    if x1.ndim == 0 or x2.ndim == 0:
        natural(matmul, x1, x2)
    if x1.ndim > 1 and x2.ndim > 1:
        broadcast("matmul", **{"leading axes of x1": x1.shape[:-2], "leading axes of x2": x2.shape[:-2]})
    value1, value2 = level.value(x1), level.value(x2)
    if not level.has(x2):
        if x2.ndim > 2 and x1.ndim == 1:
            rows = reshape(value1, (level.size,) + (1,) * (x2.ndim - 1) + x1.shape)
            return squeeze(matmul(rows, x2), axis=-2)
        # For vectors, or with a single matrix, the examples are rows of one product.
        return matmul(level.aligned(x1, x2.ndim) if x1.ndim > 1 else value1, x2)
    if not level.has(x1) and x2.ndim == 1:
        if x1.ndim == 1:
            return matmul(value2, x1)
        if x1.ndim == 2:
            return matmul(value2, matrix_transpose(x1))
    left = value1 if x1.ndim > 1 else expand_dims(value1, axis=-2)
    right = value2 if x2.ndim > 1 else expand_dims(value2, axis=-1)
    ndim = max(x1.ndim, x2.ndim, 2)
    if level.has(x1):
        left = _lengthened(left, ndim)
    right = _lengthened(right, ndim)
    found = matmul(left, right)
    dropped = ((-2,) if x1.ndim == 1 else ()) + ((-1,) if x2.ndim == 1 else ())
    return squeeze(found, axis=dropped) if dropped else found


def _lengthened(value: Array, ndim: int) -> Array:
    """Return a value with axes of size 1 after the batch axis, so that an example has `ndim` axes."""
    missing = ndim + 1 - value.ndim
    return expand_dims(value, axis=tuple(range(1, missing + 1))) if missing > 0 else value


def _vecdot(level: Level, x1: Array, x2: Array, axis: Any) -> Array:
    ndim = max(x1.ndim, x2.ndim)
    at = operator.index(axis)
    if not -min(x1.ndim, x2.ndim) <= at < 0:
        natural(vecdot, x1, x2, axis=axis)
    if x1.shape[at] != x2.shape[at]:
        natural(vecdot, x1, x2, axis=axis)
    broadcast("vecdot", x1=x1.shape, x2=x2.shape)
    return vecdot(level.aligned(x1, ndim), level.aligned(x2, ndim), axis=at)


def _einsum(level: Level, subscripts: Any, operands: tuple[Any, ...], optimize: Any) -> Array:
    arrays, read = read_subscripts("einsum", subscripts, operands)
    if len(arrays) > 2:
        # Find the steps for an example: the label of the batch could exceed the number of labels for paths.
        steps = read_steps("einsum", subscripts, operands, optimize)
        optimize = [(first,) if second < 0 else (first, second) for first, second, _ in steps]
    return _contraction(level, list(zip(arrays, read.inputs, strict=True)), read.output, optimize)


def _tensordot(level: Level, x1: Array, x2: Array, axes: Any) -> Array:
    labels1, labels2, kept = labels_of_tensordot("tensordot", axes, x1.ndim, x2.ndim)
    if any(n != x1.shape[k] for k, n in zip(labels2, x2.shape, strict=True) if k < x1.ndim):
        natural(tensordot, x1, x2, axes=axes)
    return _contraction(level, [(x1, labels1), (x2, labels2)], kept, False)


def _contraction(
    level: Level, operands: Sequence[tuple[Array, Labels]], output: Labels, optimize: Any
) -> Array:
    """Return a contraction in which the batch has a label, the first label of the result."""
    batch = 1 + max((label for _, labels in operands for label in labels), default=0)
    given: list[Any] = []
    for x, labels in operands:
        given += [level.value(x), [batch, *labels] if level.has(x) else list(labels)]
    return einsum(*given, [batch, *output], optimize=optimize)


def _outer(level: Level, x1: Array, x2: Array) -> Array:
    if x1.ndim != 1 or x2.ndim != 1:
        natural(linalg.outer, x1, x2)
    return multiply(level.value(x1)[..., :, None], level.value(x2)[..., None, :])


def _cross(level: Level, x1: Array, x2: Array, axis: Any) -> Array:
    ndim = max(x1.ndim, x2.ndim)
    at = operator.index(axis)
    if not -min(x1.ndim, x2.ndim) <= at < 0:
        natural(linalg.cross, x1, x2, axis=axis)
    broadcast("cross", x1=x1.shape, x2=x2.shape)
    return linalg.cross(level.aligned(x1, ndim), level.aligned(x2, ndim), axis=at)


# Matrices


def _with_tolerance(function: Callable[..., Any]) -> Rule:
    def rule(level: Level, x: Array, rtol: Any) -> Any:
        if x.ndim < 2:
            natural(function, x, rtol=rtol)
        if isinstance(rtol, Array):
            rtol = level.aligned(rtol, x.ndim - 2)
        return function(level.spread(x), rtol=rtol)

    return rule


def _system(function: Callable[..., Array], *options: str) -> Rule:
    """Return the rule of a function that solves systems, with the names of its other parameters."""

    def rule(level: Level, x1: Array, x2: Array, *given: Any) -> Array:
        more = dict(zip(options, given, strict=True))
        if x1.ndim < 2 or x2.ndim == 0:
            natural(function, x1, x2, **more)
        value1, value2 = level.value(x1), level.value(x2)
        if x2.ndim == 1:
            if not level.has(x1) and x1.ndim == 2:
                # The examples are columns of one right-hand side.
                return matrix_transpose(function(x1, matrix_transpose(value2), **more))
            columns = expand_dims(value2, axis=-1)
            if level.has(x2):
                columns = _lengthened(columns, x1.ndim)
            return squeeze(function(value1, columns, **more), axis=-1)
        if not level.has(x1) and x1.ndim == 2 and x2.ndim == 2:
            columns = reshape(moveaxis(value2, 0, 1), (x2.shape[0], level.size * x2.shape[1]))
            found = reshape(function(x1, columns, **more), (x1.shape[1], level.size, x2.shape[1]))
            return moveaxis(found, 1, 0)
        ndim = max(x1.ndim, x2.ndim)
        return function(level.aligned(x1, ndim), level.aligned(x2, ndim), **more)

    return rule


def _least_squares(level: Level, x1: Array, x2: Array, rtol: Any) -> Array:
    ndim = max(x1.ndim, x2.ndim)
    if isinstance(rtol, Array):
        rtol = level.aligned(rtol, ndim - 2)
    found: Array = _beyond._least_squares(level.aligned(x1, ndim), level.aligned(x2, ndim), rtol)
    return found


def _unit_vectors(level: Level, x: Array, norm: Array, axis: Any) -> Array:
    return unit_vectors(level.spread(x), level.spread(norm), shifted_all("unit_vectors", axis, x.ndim))


def _norm_slope(level: Level, x: Array, norm: Array, axis: Any, ord: float) -> Array:
    return norm_slope(level.spread(x), level.spread(norm), shifted_all("norm_slope", axis, x.ndim), ord)


def _vector_norm(level: Level, x: Array, axis: Any, keepdims: Any, ord: Any) -> Array:
    value = level.value(x)
    if x.ndim == 0 and axis in (None, ()):
        return linalg.vector_norm(expand_dims(value, axis=1), axis=1, ord=ord)
    axes = shifted_all("vector_norm", axis, x.ndim)
    return linalg.vector_norm(value, axis=axes, keepdims=keepdims, ord=ord)


def _cofactors_pullback(level: Level, h: Array, x: Array) -> Array:
    found: Array = inverses._cofactors_pullback(level.spread(h), level.spread(x))
    return found


# Fourier transforms


def _transform_nd(function: Callable[..., Array]) -> Rule:
    def rule(level: Level, x: Array, s: Any, axes: Any, norm: Any) -> Array:
        if (s is not None and axes is None) or x.ndim == 0:
            natural(function, x, s=s, axes=axes, norm=norm)
        along = shifted_all(function.__name__, axes if axes is None else tuple(axes), x.ndim)
        return function(level.value(x), s=s, axes=along, norm=norm)

    return rule


RULES: dict[str, Rule] = {
    "einsum": _einsum,
    "matmul": _matmul,
    "matrix_transpose": of_matrices(matrix_transpose),
    "tensordot": _tensordot,
    "vecdot": _vecdot,
    "linalg.cross": _cross,
    **{
        f"linalg.{f.__name__}": of_matrices(f)
        for f in (
            *(linalg.cholesky, linalg.det, linalg.diagonal, linalg.eig, linalg.eigh, linalg.eigvals),
            *(linalg.eigvalsh, linalg.expm, linalg.inv, linalg.matrix_norm, linalg.matrix_power, linalg.qr),
            *(linalg.slogdet, linalg.svd, linalg.svdvals, linalg.trace),
        )
    },
    "linalg.matrix_rank": _with_tolerance(linalg.matrix_rank),
    "linalg.outer": _outer,
    "linalg.pinv": _with_tolerance(linalg.pinv),
    "linalg.solve": _system(linalg.solve),
    "linalg.solve_triangular": _system(linalg.solve_triangular, "upper", "unit_diagonal"),
    "linalg.vector_norm": _vector_norm,
    "linalg.norm_slope": _norm_slope,
    "linalg.unit_vectors": _unit_vectors,
    **{f"fft.{f.__name__}": along(f) for f in (fft.fft, fft.ifft, fft.rfft, fft.irfft, fft.hfft, fft.ihfft)},
    **{f"fft.{f.__name__}": _transform_nd(f) for f in (fft.fftn, fft.ifftn, fft.rfftn, fft.irfftn)},
    **{f"fft.{f.__name__}": along_all(f) for f in (fft.fftshift, fft.ifftshift)},
    # Building blocks of gradient rules
    "_least_squares": _least_squares,
    "_cofactors": of_matrices(inverses._cofactors),
    "_cofactors_pullback": _cofactors_pullback,
    "_regular_shift": of_matrices(inverses._regular_shift),
    "_unit_of": of_matrices(inverses._unit_of),
}
