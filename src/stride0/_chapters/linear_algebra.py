"""Linear algebra functions of the main namespace; `linalg` has them too, and the others."""

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
        Shape ``(..., M, K)`` or ``(K,)``. A vector is taken as a row.
    x2 : Array
        Shape ``(..., K, N)`` or ``(K,)``. A vector is taken as a column.

    Returns
    -------
    Array
        New array of shape ``(..., M, N)``, where the leading axes are those of `x1` and `x2` broadcast;
        without ``M`` where `x1` is a vector, without ``N`` where `x2` is one. Its dtype is the one that those
        of `x1` and `x2` promote to.

    Raises
    ------
    ShapeError
        If an array is 0-d, or the sizes ``K`` differ. They never broadcast.

    Notes
    -----
    Leading axes broadcast without copies. BLAS computes products of floats, summed up in their own dtype and
    in an order that may depend on the processor and on the number of threads. Two kinds of products of floats
    are computed without BLAS, and depend on neither: products of a handful of elements, summed up in order in
    64 bits; and products of a real matrix, whose rows are contiguous, with a vector of at least 32 elements,
    summed up in their own dtype into 32 accumulators, which are added up in 64 bits every 1024 elements
    (float64: 4096). Integers wrap around. The result of two bool arrays is bool: whether any of the products
    is true.
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
    """Multiply all pairs of elements and sum up along pairs of axes.

    Parameters
    ----------
    x1, x2 : Array
        Arrays of any dtypes.
    axes : int or pair of sequences of int
        The axes to sum along: as many of the last of `x1` and the first of `x2`, in order; or those of `x1`
        and those of `x2`, pair by pair.

    Returns
    -------
    Array
        New array with the other axes of `x1` followed by those of `x2`, of the dtype that theirs promote to;
        its axes may lie in memory in another order.

    Raises
    ------
    ShapeError
        If the axes of a pair differ in size. They never broadcast.
    ArgumentValueError
        If `axes` does not name equally many axes of both arrays.
    """


@primitive
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return dot products of vectors, the first one conjugated.

    Parameters
    ----------
    x1, x2 : Array
        Arrays with the same size along `axis`; the other axes broadcast.

    Returns
    -------
    Array
        New array without `axis`, of the dtype that those of `x1` and `x2` promote to.

    Raises
    ------
    ShapeError
        If the vectors differ in size. They never broadcast.

    Notes
    -----
    Products are summed up in 64 bits, in an order that depends on the size alone.
    """
