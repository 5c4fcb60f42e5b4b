"""Gradient rules of inverses, determinants and `expm`, and functions for the rules of decompositions.

Note [Derivatives of the determinant]
    The derivative of det(x) is the matrix of cofactors; if x is regular, it is det(x) inv(x)^T. Cofactors are
    polynomials in x, so they and their derivatives exist for singular x too. With x = U diag(s) V^H and

        det(x + dx) = det(U) det(V^H) det(diag(s) + U^H dx V),

    the first derivative needs the products of all s except one, and the second derivative the products of all
    except two: no division by 0, and no difference. These formulas are used if x is not safely regular.

    Derivatives of higher order are derivatives of the second one, D(x). It is a polynomial, so its value at x
    is the mean of its values around x: D(x + w Y) for the roots of unity w of an order above its degree.
    There is a Y, the same for all w, for which these matrices are regular and D can be computed from their
    inverses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._base.shapes import Shape
from stride0._chapters import elementwise as el
from stride0._chapters.creation import arange, eye, tril, triu, zeros_like
from stride0._chapters.data_types import finfo
from stride0._chapters.linear_algebra import matmul, matrix_transpose
from stride0._chapters.manipulation import concat, expand_dims, reshape, squeeze
from stride0._chapters.statistical import max, mean, prod, sum
from stride0._chapters.utility import all, any
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive
from stride0._core.elementwise.elementwise import conjugate
from stride0._core.elementwise.functions import where
from stride0._core.memory.dtype import bool as _bool
from stride0.autograd._rules.compiled import after, before, matmul_x1
from stride0.autograd._rules.linalg import adjoint, per_matrix, tolerance
from stride0.autograd._rules.parts import every, product, some, times
from stride0.linalg import det, diagonal, expm, inv, pinv, solve, solve_triangular, svd, trace
from stride0.linalg._decompositions import LinAlgError, relative_tolerance, significant

# Building blocks


def diagonal_mask(size: int) -> Array:
    return eye(size, dtype=_bool)


def hermitian(x: Array) -> Array:
    return (x + adjoint(x)) / 2


def with_diagonal(x: Any, d: Array | None) -> Any:
    """Return ``x + diag(d)``, one of which may be missing."""
    if d is None:
        return x
    diagonals = where(diagonal_mask(d.shape[-1]), expand_dims(d, axis=-1), 0)
    return diagonals if x is None else x + diagonals


def reciprocals(x: Array, slack: Array) -> Array:
    """Return 1 / x; where `x` counts as 0, the result and all its derivatives are 0."""
    return el.reciprocal(where(el.less_equal(el.abs(x), slack), math.inf, x))


def differences(x: Array) -> Array:
    """Return ``x[j] - x[i]`` at i, j."""
    return el.subtract(expand_dims(x, axis=-2), expand_dims(x, axis=-1))


def slack_of(values: Array, *shape: int) -> Array:
    """Return the largest difference at which values of a decomposition count as equal."""
    largest = max(el.abs(values), axis=-1, keepdims=True)
    return tolerance(values, *shape) * expand_dims(largest, axis=-1)


def solved(a: Array, g: Array) -> Array:
    """Return ``inv(a) @ g``, and 0 for columns of `g` that are 0, whatever `a` is."""
    try:
        result = solve(a, g)
    except LinAlgError:
        # A singular matrix matters only if the cotangent is not 0.
        idle = all(el.equal(g, 0), axis=(-2, -1), keepdims=True)
        if not some(idle):
            raise
        result = solve(where(idle, eye(a.shape[-1], dtype=a.dtype), a), g)
    if every(el.isfinite(result)):
        return result
    return where(any(el.not_equal(g, 0), axis=-2, keepdims=True), result, 0)


# Inverses


def _inv(g: Array, out: Array) -> Array:
    h = adjoint(out)
    return -after(h, before(g, h))


def _solve_x2(g: Array, x1: Array, x2_shape: Shape) -> Array:
    if len(x2_shape) == 1:
        return squeeze(solved(adjoint(x1), expand_dims(g, axis=-1)), axis=-1)
    return solved(adjoint(x1), g)


def _solve_x1(g: Array, x1: Array, x2_shape: Shape, out: Array) -> Any:
    if len(x2_shape) == 1:
        g, out = expand_dims(g, axis=-1), expand_dims(out, axis=-1)
    # x1 @ out = x2
    return matmul_x1(-solved(adjoint(x1), g), out, x1.shape)


def _pinv(g: Array, x: Array, rtol: Any, out: Array) -> Array | None:
    if x.size == 0:
        return None
    dropped = x - matmul(matmul(x, out), x)
    limit = math.sqrt(finfo(x.dtype).eps) * max(el.abs(x), axis=(-2, -1))
    if some(el.greater(max(el.abs(dropped), axis=(-2, -1)), limit)):
        return _truncated_pinv(g, x, rtol)
    h, gh = adjoint(out), adjoint(g)
    left = matmul(matmul(gh, out), h)
    right = matmul(h, matmul(out, gh))
    left = left - matmul(x, matmul(out, left))
    right = right - matmul(matmul(right, out), x)
    return left + right - matmul(matmul(h, g), h)


def _truncated_pinv(g: Array, x: Array, rtol: Any) -> Array:
    """Return the cotangent if singular values other than 0 are below `rtol`.

    Their vectors appear in the differential of the other vectors: Note [Differential of the SVD].
    """
    u, s, vh = svd(x, full_matrices=False)
    kept = significant(s, relative_tolerance("pinv", x, rtol))
    d = el.reciprocal(where(kept, s, math.inf))
    uh, v, gh = adjoint(u), adjoint(vh), adjoint(g)
    inner = matmul(matmul(vh, g), u)
    rows, columns = expand_dims(d, axis=-1), expand_dims(d, axis=-2)
    slack = slack_of(s, *x.shape[-2:])
    alike = el.equal(expand_dims(kept, axis=-1), expand_dims(kept, axis=-2))
    slopes = where(alike, -rows * columns, (columns - rows) * reciprocals(differences(s), slack))
    means = (rows + columns) * reciprocals(expand_dims(s, axis=-2) + expand_dims(s, axis=-1), slack)
    even = hermitian(inner)
    result = matmul(matmul(u, slopes * even - means * (inner - even)), vh)
    squares = expand_dims(d * d, axis=-2)
    left = matmul(gh, v) * squares
    right = adjoint(matmul(g, u) * squares)
    result = result + matmul(left - matmul(u, matmul(uh, left)), vh)
    return result + matmul(u, right - matmul(matmul(right, v), vh))


# Triangular systems, least squares


def _substituted(a: Array, g: Array, upper: bool, unit_diagonal: bool) -> Array:
    """Return ``inv(adjoint(a)) @ g`` for a triangular matrix; columns of `g` that are 0 give 0."""
    result = solve_triangular(adjoint(a), g, upper=not upper, unit_diagonal=unit_diagonal)
    if every(el.isfinite(result)):
        return result
    return where(any(el.not_equal(g, 0), axis=-2, keepdims=True), result, 0)


def _triangular_x2(g: Array, x1: Array, x2_shape: Shape, upper: bool, unit_diagonal: bool) -> Array:
    if len(x2_shape) == 1:
        return squeeze(_substituted(x1, expand_dims(g, axis=-1), upper, unit_diagonal), axis=-1)
    return _substituted(x1, g, upper, unit_diagonal)


def _triangular_x1(
    g: Array, x1: Array, x2_shape: Shape, upper: bool, unit_diagonal: bool, out: Array
) -> Array:
    if len(x2_shape) == 1:
        g, out = expand_dims(g, axis=-1), expand_dims(out, axis=-1)
    # The adjoint of `x1 @ out = x2`, in the triangle that is read.
    whole = before(-_substituted(x1, g, upper, unit_diagonal), adjoint(out))
    return triu(whole, k=int(unit_diagonal)) if upper else tril(whole, k=-int(unit_diagonal))


def _least_squares_x1(g: Array, x1: Array, x2: Array, rtol: Any, out: Array) -> Array:
    """Return the cotangent if the rank does not change: Golub and Pereyra (1973), theorem 4.3."""
    inverse = pinv(x1, rtol=rtol)
    h = adjoint(inverse)
    w = matmul(h, g)
    off_rows = g - matmul(adjoint(x1), w)
    total = matmul(x2 - matmul(x1, out), adjoint(matmul(inverse, w))) - matmul(w, adjoint(out))
    return total + matmul(matmul(h, out), adjoint(off_rows))


# The exponential


def _expm(g: Array, x: Array) -> Array:
    """Return the adjoint of the differential: a block of the exponential of a matrix twice as large."""
    if g.size == 0:
        return g
    h = adjoint(x)
    # It is linear in g. If both blocks have about the same norm, `expm` scales the large matrix as it scales
    # x.
    unit = _unit_of(g)
    rows = concat([h, g / unit], axis=-1)
    rows = concat([rows, concat([zeros_like(h), h], axis=-1)], axis=-2)
    n = x.shape[-1]
    result = expm(rows)[..., :n, n:] * unit
    return (
        result
        if every(el.isfinite(result))
        else where(any(el.not_equal(g, 0), axis=(-2, -1), keepdims=True), result, 0)
    )


@primitive
def _unit_of(g: Array) -> Array:
    """Return the largest sum of absolute values of a column, for each matrix; 1 for 0, infinity and NaN."""
    norm = max(sum(el.abs(g), axis=-2, keepdims=True), axis=-1, keepdims=True)
    return where(el.logical_and(el.greater(norm, 0), el.isfinite(norm)), norm, 1)


# Determinants


def _det(g: Array, x: Array, out: Array) -> Any:
    if x.size == 0:
        return None
    if every(el.logical_and(el.isfinite(out), el.not_equal(out, 0))):
        inverse = inv(x)
        # Note [Derivatives of the determinant]. Each order of derivative loses about as many digits as this
        # number has.
        condition = max(el.abs(x), axis=(-2, -1)) * max(el.abs(inverse), axis=(-2, -1))
        if every(el.less_equal(condition, finfo(x.dtype).eps ** (-1 / 6))):
            return times(per_matrix(g), conjugate(per_matrix(out) * matrix_transpose(inverse)))
    return times(per_matrix(g), conjugate(_cofactors(x)))


@primitive
def _cofactors(x: Array) -> Array:
    """Return the derivative of the determinant of any matrix; NaN for a matrix that is not finite."""
    finite = all(el.isfinite(x), axis=(-2, -1), keepdims=True)
    u, s, vh = svd(where(finite, x, 0))
    singles, _ = _products_of_others(s)
    unit = per_matrix(det(u) * det(vh))
    return where(finite, unit * conjugate(matmul(u * expand_dims(singles, axis=-2), vh)), math.nan)


@primitive
def _cofactors_pullback(h: Array, x: Array) -> Array:
    """Return the cotangent of `x` in ``_cofactors(x)``, whose own cotangent is `h`."""
    finite = all(el.isfinite(x), axis=(-2, -1), keepdims=True)
    u, s, vh = svd(where(finite, x, 0))
    _, pairs = _products_of_others(s)
    unit = conjugate(det(u) * det(vh))
    inner = matmul(matmul(matrix_transpose(u), h), matrix_transpose(vh))
    traces = squeeze(matmul(pairs, expand_dims(diagonal(inner), axis=-1)), axis=-1)
    inner = with_diagonal(-pairs * matrix_transpose(inner), traces)
    return where(finite, per_matrix(unit) * matmul(matmul(u, inner), vh), product(h, math.nan))


def _cofactors_pullback_x(g: Array, h: Array, x: Array) -> Array:
    """Return the cotangent of `x` in it, from the second derivative of det(x) along `a` and `b`."""
    a, b = conjugate(h), g
    n = x.shape[-1]
    x = where(all(el.isfinite(x), axis=(-2, -1), keepdims=True), x, 0)
    roots = el.exp(arange(n + 1) * complex(0, 2 * math.pi / (n + 1)))
    nodes = x + reshape(roots, (n + 1, *(1,) * x.ndim)) * _regular_shift(x)
    inverse = inv(nodes)
    ia, ib = matmul(inverse, a), matmul(inverse, b)
    iab, iba = matmul(ia, ib), matmul(ib, ia)
    trace_a, trace_b = per_matrix(trace(ia)), per_matrix(trace(ib))
    factor = (trace_a * trace_b - per_matrix(trace(iab))) * eye(n) - trace_a * ib - trace_b * ia
    total = per_matrix(det(nodes)) * matmul(factor + iab + iba, inverse)
    return adjoint(mean(total, axis=0))


@primitive
def _regular_shift(x: Array) -> Array:
    """Return a matrix Y such that ``x + w * Y`` is safely regular for all w of absolute value 1."""
    u, s, vh = svd(x)
    largest = s[..., :1]
    small = el.less_equal(s, finfo(x.dtype).eps ** (1 / 6) * largest)
    return matmul(u * expand_dims(where(small, where(el.equal(largest, 0), 1, largest), 0), axis=-2), vh)


def _products_of_others(s: Array) -> tuple[Array, Array]:
    """Return the products of all singular values except one, of shape (..., N), and except two, (..., N, N).

    If such a product is not 0, only the last two (smallest) values can be 0; the others are divided out.
    """
    n = s.shape[-1]
    place = arange(n)
    low, last = el.equal(place, n - 2), el.equal(place, n - 1)
    large = where(el.logical_or(low, last), 1, s)
    total = prod(large, axis=-1, keepdims=True)
    inverses = el.reciprocal(where(el.equal(large, 0), math.inf, large))
    second = prod(where(low, s, 1), axis=-1, keepdims=True)
    smallest = prod(where(last, s, 1), axis=-1, keepdims=True)
    singles = total * inverses * where(low, 1, second) * where(last, 1, smallest)

    def outer(mask: Array, factor: Array) -> Array:
        """Return 1 in the row and column of the mask, and the factor elsewhere."""
        cross = el.logical_or(expand_dims(mask, axis=-1), expand_dims(mask, axis=-2))
        return where(cross, 1, expand_dims(factor, axis=-1))

    pairs = expand_dims(total, axis=-1) * expand_dims(inverses, axis=-1) * expand_dims(inverses, axis=-2)
    pairs = pairs * outer(low, second) * outer(last, smallest)
    return singles, where(diagonal_mask(n), 0, pairs)


def _slogdet(g: tuple[Array | None, Array | None], x: Array, out: Any) -> Any:
    gsign, glog = g
    total = glog
    if gsign is not None and x.dtype.kind == "complex floating":
        # The differential of the sign is tangential to the unit circle: it is the imaginary part of the
        # differential of the logarithm.
        phase = el.imag(product(gsign, conjugate(out[0]))) * 1j
        total = phase if total is None else total + phase
    if total is None:
        return None
    regular = el.greater(el.abs(out[0]), 0)
    if every(regular):
        inverse = inv(x)
    else:
        regular = per_matrix(regular)
        inverse = inv(where(regular, x, eye(x.shape[-1], dtype=x.dtype)))
        inverse = where(regular, inverse, math.nan)
    return times(per_matrix(total), adjoint(inverse))


VJP: dict[str, dict[str, Callable[..., Any]]] = {
    "linalg.det": {"x": _det},
    "linalg.expm": {"x": _expm},
    "linalg.inv": {"x": _inv},
    "linalg.pinv": {"x": _pinv, "rtol": lambda g: None},
    "linalg.slogdet": {"x": _slogdet},
    "linalg.solve": {"x1": _solve_x1, "x2": _solve_x2},
    "linalg.solve_triangular": {"x1": _triangular_x1, "x2": _triangular_x2},
}

# Rules of inner functions that are differentiated as one operation.
INNER_VJP: dict[str, dict[str, Callable[..., Any]]] = {
    "_cofactors": {"x": lambda g, x: _cofactors_pullback(g, x)},
    "_cofactors_pullback": {
        "h": lambda g, x: conjugate(_cofactors_pullback(conjugate(g), x)),
        "x": _cofactors_pullback_x,
    },
    "_least_squares": {
        "x1": _least_squares_x1,
        "x2": lambda g, x1, rtol: matmul(adjoint(pinv(x1, rtol=rtol)), g),
        "rtol": lambda g: None,
    },
    "_regular_shift": {"x": lambda g: None},
    "_unit_of": {"g": lambda g: None},
}
