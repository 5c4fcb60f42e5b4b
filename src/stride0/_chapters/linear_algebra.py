"""Linear algebra functions of the main namespace; `linalg` has these and all others."""

from __future__ import annotations

from collections.abc import Sequence

from stride0._core.array.array import Array
from stride0._core.call.binding import primitive

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@primitive
def matmul(x1: Array, x2: Array, /) -> Array:
    """Return the matrix product; also spelled ``x1 @ x2``.

    Parameters
    ----------
    x1 : Array
        Shape ``(..., M, K)`` or ``(K,)``. A vector counts as a row.
    x2 : Array
        Shape ``(..., K, N)`` or ``(K,)``. A vector counts as a column.

    Returns
    -------
    Array
        New array of shape ``(..., M, N)``; the leading axes of `x1` and `x2` broadcast. Without ``M`` if `x1`
        is a vector, and without ``N`` if `x2` is a vector. Its dtype is the promoted dtype of `x1` and `x2`.

    Raises
    ------
    ShapeError
        If an array is 0-d, or the sizes ``K`` differ. They never broadcast.

    Notes
    -----
    Leading axes broadcast without copies. Products of floats do not call BLAS. The order of their sums
    depends on shapes only, not on the memory layout, the processor or the number of threads. Products of
    matrices are summed in their own dtype, in blocks of 256 terms. Products by a vector of at least 32
    elements are summed in their own dtype in blocks of 512 real numbers (float64: 1024), which are added in
    64 bits.
    Integers wrap around. The result of two bool arrays is bool: whether any of the products is true.
    """


@primitive
def matrix_transpose(x: Array, /) -> Array:
    """Swap rows and columns of a matrix, or of each matrix of a stack.

    Returns
    -------
    Array
        View of `x`, of shape ``(..., N, M)``.
    """


@primitive
def tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """Multiply all pairs of elements, and sum along pairs of axes.

    Parameters
    ----------
    x1, x2 : Array
        Arrays of any dtypes.
    axes : int or pair of sequences of int
        The axes to sum along: the number of last axes of `x1` and first axes of `x2`, in order; or a sequence
        of axes of `x1` and a sequence of axes of `x2`, which are paired.

    Returns
    -------
    Array
        New array with the other axes of `x1` followed by the other axes of `x2`, of their promoted dtype. Its
        memory order may differ from C order.

    Raises
    ------
    ShapeError
        If the axes of a pair differ in size. They never broadcast.
    ArgumentValueError
        If `axes` names different numbers of axes for the two arrays.
    """


@primitive
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return dot products of vectors; the first vector is conjugated.

    Parameters
    ----------
    x1, x2 : Array
        Arrays with the same size along `axis`; the other axes broadcast.

    Returns
    -------
    Array
        New array without `axis`, of the promoted dtype of `x1` and `x2`.

    Raises
    ------
    ShapeError
        If the vectors differ in size. They never broadcast.

    Notes
    -----
    Products are summed in 64 bits, in an order that depends only on the size.
    """
