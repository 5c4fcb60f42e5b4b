"""Definitions of the linear algebra extension, `stride0.linalg`.

Decompositions are in `_decompositions`, matrix products in the chapter `linear_algebra`; norms, powers,
diagonals and products of vectors are here.
"""

from __future__ import annotations

import math
from typing import Literal

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError, shown
from stride0._base.shapes import Axis, normalize_axes, normalize_index
from stride0._chapters.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from stride0._chapters.manipulation import squeeze
from stride0._core.array.array import Array, empty, zeros
from stride0._core.array.views import restride, strides
from stride0._core.calls.checks import (
    as_float,
    as_scalar,
    check_array,
    check_bool,
    component_dtype,
    refuse_dtype,
)
from stride0._core.calls.decompositions import (
    as_floating,
    check_matrices,
    check_square,
    inverse,
    singular_values,
)
from stride0._core.calls.linear_algebra import check_broadcast, check_products, check_vectors
from stride0._core.calls.manipulation import diagonal_of
from stride0._core.calls.primitive import primitive_in
from stride0._core.calls.statistical import sum_dtype
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DTypeLike, promote
from stride0._core.ops.copy import assign, copy
from stride0._core.ops.functions import (
    abs,
    divide,
    equal,
    isfinite,
    less,
    logical_and,
    logical_or,
    multiply,
    not_equal,
    pow,
    sqrt,
    subtract,
    where,
)
from stride0._core.ops.reduce import reduce, reduce2
from stride0.linalg._decompositions import (
    LinAlgError,
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_rank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svdvals,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


@primitive_in("linalg")
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return cross products of vectors of three elements.

    Parameters
    ----------
    x1, x2 : Array
        Arrays with size 3 along `axis`, one of them of a numeric dtype; the other axes broadcast.

    Returns
    -------
    Array
        New array of the dtype that those of `x1` and `x2` promote to.

    Raises
    ------
    ShapeError
        If the vectors do not have three elements.
    DTypeError
        If both arrays are of bool, which cannot be subtracted.
    """
    x1, x2 = check_products("cross", x1, x2)
    if x1.dtype.kind == "bool":
        refuse_dtype("cross", x1.dtype, "a numeric dtype in one of the arrays at least", "both arrays")
    axis = check_vectors("cross", x1, x2, axis)
    for name, x in (("x1", x1), ("x2", x2)):
        if x.shape[axis] != 3:
            raise ShapeError(
                "cross",
                f"axis {axis} of {name} has size {x.shape[axis]}, not 3",
                [("x1", str(x1.shape)), ("x2", str(x2.shape))],
            )
    shape = check_broadcast("cross", x1, x2)
    result = empty(shape, promote(x1.dtype, x2.dtype))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        product = multiply(_component(x1, axis, i), _component(x2, axis, j))
        other = multiply(_component(x1, axis, j), _component(x2, axis, i))
        assign(_component(result, axis, k), subtract(product, other), "cross")
    return result


def _component(x: Array, axis: int, k: int) -> Array:
    """Return ``x[..., k, ...]`` at an axis counted from the last one, as a view."""
    sizes, x_strides = list(x.shape), list(strides(x))
    del sizes[axis]
    start = k * x_strides.pop(axis)
    return restride(x, tuple(sizes), tuple(x_strides), start if x.size else 0)


@primitive_in("linalg")
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Return the diagonal of a matrix.

    Returns
    -------
    Array
        View of `x`, of shape ``(..., K)``; empty where there is no such diagonal.
    """


@primitive_in("linalg")
def matrix_norm(
    x: Array, /, *, keepdims: bool = False, ord: int | float | Literal["fro", "nuc"] | None = "fro"
) -> Array:
    """Return the norm of a matrix.

    Parameters
    ----------
    keepdims : bool
        Whether to keep the last two axes, with size 1.
    ord : {"fro", "nuc", 1, 2, inf, -1, -2, -inf}
        Frobenius norm (also None); sum of the singular values; largest sum of absolute values of a column,
        largest singular value, largest such sum of a row; and the smallest of each.

    Returns
    -------
    Array
        New array of shape ``(...)``, real, of the precision of `x`. 0 where a matrix is empty.

    Raises
    ------
    ArgumentValueError
        If there is no such norm.
    ShapeError
        If `x` has fewer than two axes, or there is no column, row or singular value to take the smallest of.
    LinAlgError
        If singular values are asked for and a matrix has NaN or infinity in it.
    """
    op = "matrix_norm"
    x = as_floating(check_matrices(op, x))
    keepdims = check_bool(op, "keepdims", keepdims)
    kind = "fro" if ord is None else ord if isinstance(ord, str) else as_scalar(op, "ord", ord)
    rows, columns = x.ndim - 2, x.ndim - 1
    if kind == "fro":
        result = _euclidean_norm(x, (rows, columns))
    elif kind in (1, -1, math.inf, -math.inf) and not isinstance(kind, bool):
        summed, chosen = (rows, columns) if kind in (1, -1) else (columns, rows)
        sums = reduce("sum", abs(x), (summed,), True, component_dtype(x.dtype))
        result = _extreme(op, sums, (chosen,), kind in (1, math.inf))
    elif kind in ("nuc", 2, -2):
        s = singular_values(op, x)
        if kind == "nuc":
            result = reduce("sum", s, (rows,), True, s.dtype)
        else:
            result = _extreme(op, s, (rows,), kind == 2)
        result = restride(result, (*result.shape, 1), (*strides(result), 1))
    else:
        raise ArgumentValueError(
            op, f"unknown norm {shown(ord)}", (), "ord must be 'fro', 'nuc', 1, 2, inf, -1, -2 or -inf."
        )
    return result if keepdims else squeeze(result, (rows, columns))


@primitive_in("linalg")
def matrix_power(x: Array, n: int, /) -> Array:
    """Return a power of a matrix.

    Parameters
    ----------
    x : Array
        Shape ``(..., M, M)``.
    n : int
        The exponent: 0 gives the identity, a negative one powers of the inverse.

    Returns
    -------
    Array
        New array of the shape and dtype of `x`; float64 if `n` is negative and `x` of integers or bool.

    Raises
    ------
    LinAlgError
        If `n` is negative and a matrix singular.
    """
    x = check_square("matrix_power", x)
    n = normalize_index("matrix_power", "n", n)
    if n == 0:
        result = zeros(x.shape, x.dtype)
        assign(diagonal_of("matrix_power", result, 0), 1, "matrix_power")
        return result
    square = inverse("matrix_power", as_floating(x)) if n < 0 else x
    left = -n if n < 0 else n
    power: Array | None = None
    while True:
        if left & 1:
            power = square if power is None else matmul(power, square)
        left >>= 1
        if not left:
            break
        square = matmul(square, square)
    assert power is not None
    return copy(power) if n == 1 else power


@primitive_in("linalg")
def outer(x1: Array, x2: Array, /) -> Array:
    """Return the products of all pairs of elements of two vectors.

    Parameters
    ----------
    x1, x2 : Array
        Shapes ``(N,)`` and ``(M,)``, of any dtype.

    Returns
    -------
    Array
        New array of shape ``(N, M)``, of the dtype that those of `x1` and `x2` promote to.

    Raises
    ------
    ShapeError
        If an array is not one-dimensional.
    """
    x1, x2 = check_products("outer", x1, x2)
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim != 1:
            raise ShapeError(
                "outer", f"{name} must have one axis", [("x1", str(x1.shape)), ("x2", str(x2.shape))]
            )
    return multiply(restride(x1, (*x1.shape, 1), (*strides(x1), 1)), x2)


@primitive_in("linalg")
def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Return the sum of the diagonal of a matrix.

    Returns
    -------
    Array
        New array of shape ``(...)``; 0 where there is no such diagonal.
    """
    elements = diagonal_of("trace", x, offset)
    return reduce("sum", elements, (elements.ndim - 1,), False, sum_dtype("trace", elements, dtype))


@primitive_in("linalg")
def vector_norm(x: Array, /, *, axis: Axis = None, keepdims: bool = False, ord: int | float = 2) -> Array:
    """Return the norm of a vector.

    Parameters
    ----------
    x : Array
        Array of a floating-point dtype; integers and bool become float64.
    axis : int or tuple of int, optional
        The axes that make up a vector; by default all.
    keepdims : bool
        Whether to keep these axes, with size 1.
    ord : int or float
        p of the p-norm ``sum(abs(x)**p)**(1/p)``, any number. inf is the largest and -inf the smallest
        absolute value, 0 the number of elements that are not 0.

    Returns
    -------
    Array
        New array, real, of the precision of `x`. Of no elements: 0, or infinity if `ord` is negative.

    Raises
    ------
    ShapeError
        If `ord` is -inf and there are no elements.

    Notes
    -----
    Elements are scaled where their powers would overflow or underflow: the norm of ``[3e200, 4e200]`` is
    5e200. float32 is summed up in float64.
    """
    op = "vector_norm"
    x = as_floating(check_array(op, x))
    axes = normalize_axes(op, axis, x.ndim)
    keepdims = check_bool(op, "keepdims", keepdims)
    p = as_scalar(op, "ord", ord)
    if isinstance(p, (bool, complex)):
        raise ArgumentTypeError(op, "ord must be an int or a float", [("ord", shown(ord))])
    p = as_float(op, p)
    if math.isnan(p):
        raise ArgumentValueError(op, "ord must not be NaN")
    if p == 2:
        result = _euclidean_norm(x, axes)
    elif math.isinf(p):
        result = _extreme(op, abs(x), axes, p > 0)
    elif p == 0:
        result = copy(reduce("count_nonzero", x, axes, True, None), component_dtype(x.dtype))
    elif p == 1:
        result = reduce("sum", abs(x), axes, True, component_dtype(x.dtype))
    else:
        result = _p_norm(x, axes, p)
    return result if keepdims else squeeze(result, axes)


# Norms over axes, which are kept with size 1


def _has_elements(x: Array, axes: tuple[int, ...]) -> bool:
    return all(x.shape[k] for k in axes)


def _extreme(op: str, x: Array, axes: tuple[int, ...], largest: bool) -> Array:
    """Return the largest element, none of which is negative, or the smallest one."""
    if _has_elements(x, axes):
        return reduce("max" if largest else "min", x, axes, True, None)
    if not largest:
        raise ShapeError(op, "there are no elements to choose the smallest of", [("x", str(x.shape))])
    return reduce("sum", x, axes, True, x.dtype)


def _euclidean_norm(x: Array, axes: tuple[int, ...]) -> Array:
    # A zero of float64 makes the core compute the squares in float64, where no float32 overflows.
    squares = reduce2("sum_squared_deviation", x, zeros((), dt.float64), axes, True, dt.float64)
    result = sqrt(squares)
    real = component_dtype(x.dtype)
    if real is not dt.float64:
        return copy(result, real)
    # Beyond these bounds squares have overflowed, or some of them have underflowed.
    doubtful = logical_or(less(squares, 1e-280), equal(squares, math.inf))
    if x.size and reduce("any", doubtful, tuple(range(x.ndim)), False, None):
        scale = _scale(abs(x), axes, True)
        scaled = reduce2("sum_squared_deviation", divide(abs(x), scale), zeros((), real), axes, True, real)
        result = where(doubtful, multiply(sqrt(scaled), scale), result)
    return result


def _p_norm(x: Array, axes: tuple[int, ...], p: float) -> Array:
    magnitudes = abs(x) if component_dtype(x.dtype) is dt.float64 else copy(abs(x), dt.float64)
    if _has_elements(x, axes):
        # The largest power is 1, so that the sum can neither overflow nor underflow.
        scale = _scale(magnitudes, axes, p > 0)
        total = reduce("sum", pow(divide(magnitudes, scale), p), axes, True, dt.float64)
        result = multiply(pow(total, 1 / p), scale)
    else:
        result = pow(reduce("sum", magnitudes, axes, True, dt.float64), 1 / p)
    return result if component_dtype(x.dtype) is dt.float64 else copy(result, component_dtype(x.dtype))


def _scale(magnitudes: Array, axes: tuple[int, ...], largest: bool) -> Array:
    """Return the largest or the smallest magnitude; 1 where one cannot divide by it."""
    extreme = reduce("max" if largest else "min", magnitudes, axes, True, None)
    return where(logical_and(isfinite(extreme), not_equal(extreme, 0)), extreme, 1.0)
