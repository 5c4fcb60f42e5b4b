"""Definitions of the linear algebra extension, `stride0.linalg`.

Decompositions are in `_decompositions`, matrix products in the chapter `linear_algebra`; norms, powers,
diagonals and products of vectors are here.
"""

from __future__ import annotations

from typing import Literal

from stride0._base.errors import ShapeError
from stride0._base.shapes import Axis, normalize_index
from stride0._chapters.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from stride0._core.array.array import Array, empty, restride, strides, zeros
from stride0._core.call.binding import primitive_in
from stride0._core.call.checks import refuse_dtype
from stride0._core.elementwise.elementwise import assign, copy
from stride0._core.elementwise.functions import multiply, subtract
from stride0._core.linalg.linalg import as_floating, check_square, inverse
from stride0._core.manipulation.manipulation import diagonal_of
from stride0._core.matmul.matmul import check_broadcast, check_products, check_vectors
from stride0._core.memory.dtype import DTypeLike, promote
from stride0._core.reduce.reduce import reduce, sum_dtype

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


@primitive_in("linalg")
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return cross products of vectors with three elements.

    Parameters
    ----------
    x1, x2 : Array
        Arrays with size 3 along `axis`, at least one of a numeric dtype; the other axes broadcast.

    Returns
    -------
    Array
        New array of the promoted dtype of `x1` and `x2`.

    Raises
    ------
    ShapeError
        If the vectors do not have three elements.
    DTypeError
        If both arrays are bool, which cannot be subtracted.
    """
    x1, x2 = check_products("cross", x1, x2)
    if x1.dtype.kind == "bool":
        refuse_dtype("cross", x1.dtype, "a numeric dtype", "x1 or x2")
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
    """Return ``x[..., k, ...]`` at an axis counted from the last, as a view."""
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
        View of `x`, of shape ``(..., K)``; empty if the diagonal is outside of the matrix.
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
        largest singular value, largest sum of absolute values of a row; for negative numbers the smallest of
        these.

    Returns
    -------
    Array
        New real array of shape ``(...)``, of the precision of `x`. 0 for an empty matrix.

    Raises
    ------
    ArgumentValueError
        If `ord` is unknown.
    ShapeError
        If `x` has fewer than two axes, or if `ord` is negative and there is no column, row or singular value.
    LinAlgError
        If `ord` needs singular values and a matrix contains NaN or infinity.
    """


@primitive_in("linalg")
def matrix_power(x: Array, n: int, /) -> Array:
    """Return a power of a matrix.

    Parameters
    ----------
    x : Array
        Shape ``(..., M, M)``.
    n : int
        The exponent: 0 gives the identity, a negative exponent gives powers of the inverse.

    Returns
    -------
    Array
        New array of the shape and dtype of `x`; float64 if `n` is negative and `x` has an integer dtype or
        bool.

    Raises
    ------
    LinAlgError
        If `n` is negative and a matrix is singular.
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
        New array of shape ``(N, M)``, of the promoted dtype of `x1` and `x2`.

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
        New array of shape ``(...)``; 0 if the diagonal is outside of the matrix.
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
        The axes of a vector; by default all.
    keepdims : bool
        Whether to keep these axes, with size 1.
    ord : int or float
        The exponent p of the norm ``sum(abs(x)**p)**(1/p)``: any number. inf gives the largest and -inf the
        smallest absolute value; 0 gives the number of elements that are not 0.

    Returns
    -------
    Array
        New real array of the precision of `x`. For an empty array: 0, or infinity if `ord` is negative.

    Raises
    ------
    ShapeError
        If `ord` is -inf and there are no elements.

    Notes
    -----
    Elements are scaled if their powers would overflow or underflow: the norm of ``[3e200, 4e200]`` is 5e200.
    float32 is summed in float64.
    """
