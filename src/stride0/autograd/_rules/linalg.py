"""Gradient rules of matrix products, norms and other functions of linear algebra without a decomposition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._base.shapes import Shape
from stride0._chapters import elementwise as el
from stride0._chapters.creation import eye, zeros
from stride0._chapters.data_types import astype, finfo
from stride0._chapters.linear_algebra import matmul, matrix_transpose
from stride0._chapters.manipulation import concat, expand_dims, roll
from stride0._chapters.statistical import max, min, sum
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise.elementwise import conjugate
from stride0._core.elementwise.functions import where
from stride0._core.index.index import unreduce
from stride0._core.memory.dtype import bool as _bool
from stride0.autograd._rules.compiled import after, before
from stride0.autograd._rules.elementwise import is_complex, unless_zero
from stride0.autograd._rules.exponentials import without_share
from stride0.autograd._rules.parts import product, times
from stride0.linalg import inv, svd, vector_norm

Binary = Callable[[Array, Array], Array]


# Building blocks


def adjoint(x: Array) -> Array:
    """Return the conjugate transpose; a view for a real array."""
    return matrix_transpose(conjugate(x))


def per_matrix(x: Array) -> Array:
    """Return one number per matrix with two more axes, so that it broadcasts against the matrices: a view."""
    return expand_dims(x, axis=(-2, -1))


def tolerance(x: Array, rows: int, columns: int) -> float:
    """Return the relative difference up to which singular values or eigenvalues count as equal."""
    return 4 * (rows if rows > columns else columns) * float(finfo(x.dtype).eps)


# Products


def cross_product(g: Array, d: Array, axis: int, times: Binary = product) -> Array:
    """Return a cross product; by default its terms are 0 if elements of `g` are 0."""

    def rolled(x: Array, by: int) -> Array:
        return roll(x, -by, axis=axis)

    return el.subtract(times(rolled(g, 1), rolled(d, 2)), times(rolled(g, 2), rolled(d, 1)))


def _matrix_power(g: Array, x: Array, n: int) -> Array | None:
    """Return the sum of ``x^H**k @ g @ x^H**(n - 1 - k)``, by squaring."""
    if n == 0:
        return None
    base = adjoint(inv(x) if n < 0 else x)
    power, total = base, g
    bits = bin(n).lstrip("-0b")[1:]
    for k, bit in enumerate(bits, 1):
        # `total` is the sum for m and `power` is base**m: compute them for 2 m, then perhaps for 2 m + 1.
        total = before(total, power) + after(power, total)
        if bit == "1" or k < len(bits):
            power = matmul(power, power)
        if bit == "1":
            total = after(base, total) + before(g, power)
            if k < len(bits):
                power = matmul(power, base)
    return -before(after(base, total), base) if n < 0 else total


# Diagonals


def _diagonal(g: Array, x_shape: Shape, offset: int) -> Array:
    """Return zeros with `g` on a diagonal."""
    rows, columns = x_shape[-2:]
    here = eye(rows, columns, k=offset, dtype=_bool)
    # One element per row, or per column; the last ones are not used.
    size, axis = (rows, -1) if offset >= 0 else (columns, -2)
    missing = size - g.shape[-1]
    if missing:
        g = concat([g, zeros((*g.shape[:-1], missing), dtype=g.dtype)], axis=-1)
    return where(here, expand_dims(g, axis=axis), 0)


# Norms


@primitive_in("linalg")
def unit_vectors(x: Array, norm: Array, axis: Any) -> Array:
    """Return vectors divided by their norms; the result and all derivatives are 0 if the norm is 0."""
    return el.divide(x, unreduce(unless_zero(norm), x.shape, axis))


def _unit_vectors(g: Array, x: Array, axis: Any, out: Array) -> Array:
    # A derivative of the quotient would contain squares of the norm, which may overflow or underflow.
    if is_complex(x):
        g = g - out * el.real(sum(product(g, conjugate(out)), axis=axis, keepdims=True))
    else:
        g = without_share(g, out, out, axis)
    return product(g, el.reciprocal(unless_zero(vector_norm(x, axis=axis, keepdims=True))))


def _euclidean(g: Array, x: Array, out: Array, axis: Any) -> Any:
    """Return ``g * x / out``, the cotangent of a norm."""
    return times(unreduce(g, x.shape, axis), unit_vectors(x, out, axis))


def _contributions(x: Array, axis: int, largest: bool, slack: float = 0.0) -> Array:
    """Return the contribution of each element to the extreme along an axis, divided evenly among ties."""
    extreme = (max if largest else min)(x, axis=axis, keepdims=True)
    hits = el.less_equal(el.abs(x - extreme), slack * max(x, axis=axis, keepdims=True))
    weights = astype(hits, x.dtype)
    return weights / sum(weights, axis=axis, keepdims=True)


def _norm_power(x: Array, norm: Array, axis: Any, ord: float, exponent: float, signed: bool) -> Array:
    """Return ``(abs(x) / norm)**exponent``, with the sign of `x` if `signed`; 0 if the norm is 0."""
    nothing = el.equal(norm, 0)
    size = unreduce(where(nothing, 1, norm), x.shape, axis)
    if ord > 0 and ord % 2 == 0 and not is_complex(x):
        # A polynomial of each element, also at 0.
        powers = el.pow(x / size, exponent)
    else:
        # No powers of 0: they, or their derivatives, may be infinite.
        zero = el.equal(x, 0)
        magnitude = where(zero, size, el.abs(x))
        if math.fabs(exponent) <= 1:
            # The quotient may overflow or underflow.
            powers = el.pow(magnitude, exponent) / el.pow(size, exponent)
        else:
            powers = el.pow(magnitude / size, exponent)
        powers = el.sign(x) * powers if signed else where(zero, 0, powers)
    return where(unreduce(nothing, x.shape, axis), 0, powers)


@primitive_in("linalg")
def norm_slope(x: Array, norm: Array, axis: Any, ord: float) -> Array:
    """Return the derivative of a norm by each real element."""
    return _norm_power(x, norm, axis, ord, ord - 1, signed=True)


def _norm_slope(g: Array, x: Array, axis: Any, ord: float) -> Array:
    # With a unit vector e the slope is r * e; its derivative is (ord - 1) / norm * r * (1 - outer(e, e)) * r.
    norm = vector_norm(x, axis=axis, keepdims=True, ord=ord)
    r = _norm_power(x, norm, axis, ord, ord / 2 - 1, signed=False)
    e = _norm_power(x, norm, axis, ord, ord / 2, signed=True)
    rest = without_share(product(g, r), e, e, axis)
    return product(product(rest, (ord - 1) / unless_zero(norm)), r)


def _vector_norm(g: Array, x: Array, out: Array, axis: Any, ord: float) -> Any:
    if ord == 0 or x.size == 0:
        return None
    if ord == 2:
        return _euclidean(g, x, out, axis)
    if ord == 1:
        d = el.sign(x)
    elif math.isinf(ord):
        magnitudes = el.abs(x)
        hits = astype(el.equal(magnitudes, unreduce(out, x.shape, axis)), out.dtype)
        d = el.sign(x) * (hits / sum(hits, axis=axis, keepdims=True))
    else:
        if is_complex(x):
            d = _norm_power(x, out, axis, ord, ord - 1, signed=True)
        else:
            d = norm_slope(x, out, axis, ord)
    return times(unreduce(g, x.shape, axis), d)


def _matrix_norm(g: Array, x: Array, out: Array, ord: Any) -> Any:
    if x.size == 0:
        return None
    axes = (-2, -1)
    if ord is None or ord == "fro":
        return _euclidean(g, x, out, axes)
    if ord == "nuc" or ord in (2, -2):
        d = _spectral_norm(x, ord)
    else:
        summed, chosen = (-2, -1) if ord in (1, -1) else (-1, -2)
        d = el.sign(x) * _contributions(sum(el.abs(x), axis=summed, keepdims=True), chosen, ord > 0)
    return times(unreduce(g, x.shape, axes), d)


def _spectral_norm(x: Array, ord: Any) -> Array:
    """Return the derivative of a norm of the singular values.

    Ties contribute equally, so that the result does not depend on the choice of vectors. Singular values of 0
    contribute nothing, which is the smallest subgradient there.
    """
    u, s, vh = svd(x, full_matrices=False)
    slack = tolerance(s, *x.shape[-2:])
    if ord == "nuc":
        weights = astype(el.greater(s, slack * s[..., :1]), s.dtype)
    else:
        weights = where(el.equal(s, 0), 0, _contributions(s, -1, ord > 0, slack))
    return matmul(u * expand_dims(weights, axis=-2), vh)


VJP: dict[str, dict[str, Callable[..., Any]]] = {
    "vecdot": {
        "x1": lambda g, x2, axis: times(conjugate(expand_dims(g, axis=axis)), x2),
        "x2": lambda g, x1, axis: times(expand_dims(g, axis=axis), x1),
    },
    "linalg.cross": {
        "x1": lambda g, x2, axis: -cross_product(g, conjugate(x2), axis),
        "x2": lambda g, x1, axis: cross_product(g, conjugate(x1), axis),
    },
    "linalg.diagonal": {"x": _diagonal},
    "linalg.matrix_norm": {"x": _matrix_norm},
    "linalg.matrix_power": {"x": _matrix_power},
    "linalg.outer": {
        "x1": lambda g, x2: times(matrix_transpose(g), expand_dims(conjugate(x2), axis=-1)),
        "x2": lambda g, x1: times(g, expand_dims(conjugate(x1), axis=-1)),
    },
    "linalg.trace": {
        "x": lambda g, x_shape, offset: where(eye(*x_shape[-2:], k=offset, dtype=_bool), per_matrix(g), 0)
    },
    "linalg.vector_norm": {"x": _vector_norm},
}

# Rules of inner functions: rules call them, users do not.
INNER_VJP: dict[str, dict[str, Callable[..., Any]]] = {
    # No cotangent of the norm, which is a function of the vector.
    "linalg.norm_slope": {"x": _norm_slope, "norm": lambda g: None},
    "linalg.unit_vectors": {"x": _unit_vectors, "norm": lambda g: None},
}
