"""Linear algebra functions of the main namespace; `linalg` has them too, and the others."""

from __future__ import annotations

from collections.abc import Sequence

from stride0._base.errors import ArgumentValueError, AxisError, ShapeError, brief, counted, shown
from stride0._base.shapes import (
    normalize_axes,
    normalize_index,
    normalize_shape,
    size_of,
)
from stride0._chapters.manipulation import permute_dims, reshape
from stride0._core.array.array import Array
from stride0._core.calls.linear_algebra import check_products
from stride0._core.calls.primitive import primitive
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import promote
from stride0._core.ops.copy import copy
from stride0._core.ops.functions import not_equal
from stride0._core.ops.product import multiply_stacks

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
    Leading axes broadcast without being materialised. BLAS computes products of floats, summed up in their
    own dtype and in an order that may depend on the processor and on the number of threads. Two kinds are
    not, and depend on neither: those of a handful of elements, summed up in order in 64 bits, and those of
    real matrices whose rows are contiguous by a vector of at least 32 elements, summed up in their own dtype
    into 32 accumulators, which are added up in 64 bits every 1024 elements (float64: 4096). Integers wrap
    around. The result of two bool arrays is bool: whether any of the products is true.
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
        New array with the other axes of `x1` followed by those of `x2`, of the dtype that theirs promote to.

    Raises
    ------
    ShapeError
        If the axes of a pair differ in size. They never broadcast.
    """
    op = "tensordot"
    x1, x2 = check_products(op, x1, x2)
    if x1.dtype.kind == "bool":
        # Where any of the products that would be summed up is true: they are counted, as in `matmul`.
        return not_equal(tensordot(copy(x1, dt.float32), copy(x2, dt.float32), axes=axes), 0)
    summed1, summed2 = _contracted(axes, x1, x2)
    for k1, k2 in zip(summed1, summed2, strict=True):
        if x1.shape[k1] != x2.shape[k2]:
            raise ShapeError(
                op,
                f"axis {k1} of x1 has size {x1.shape[k1]} and axis {k2} of x2 has size {x2.shape[k2]}",
                [("x1", str(x1.shape)), ("x2", str(x2.shape)), ("axes", shown(axes))],
                "Axes that are summed along must be equal; they do not broadcast.",
            )
    free1 = [k for k in range(x1.ndim) if k not in summed1]
    free2 = [k for k in range(x2.ndim) if k not in summed2]
    shape = normalize_shape(op, (*(x1.shape[k] for k in free1), *(x2.shape[k] for k in free2)))
    inner = size_of([x1.shape[k] for k in summed1])
    a = reshape(permute_dims(x1, (*free1, *summed1)), (size_of([x1.shape[k] for k in free1]), inner))
    b = reshape(permute_dims(x2, (*summed2, *free2)), (inner, size_of([x2.shape[k] for k in free2])))
    return reshape(multiply_stacks(a, b, (), promote(x1.dtype, x2.dtype)), shape)


def _contracted(axes: object, x1: Array, x2: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes of both arrays that ``axes=`` means."""
    op = "tensordot"
    given = [("axes", brief(axes) if isinstance(axes, int) else shown(axes))]
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2 or axes[0] is None or axes[1] is None:
            raise ArgumentValueError(op, "axes must be an integer or a pair of sequences", given)
        # Any sequences; `normalize_axes` takes tuples.
        pair = [tuple(part) if isinstance(part, Sequence) else part for part in axes]
        summed1, summed2 = normalize_axes(op, pair[0], x1.ndim), normalize_axes(op, pair[1], x2.ndim)
        if len(summed1) != len(summed2):
            raise ArgumentValueError(
                op,
                f"{counted(len(summed1), 'axis', 'axes')} of x1 and {len(summed2)} of x2 are no pairs",
                given,
            )
        return summed1, summed2
    count = normalize_index(op, "axes", axes)
    if count < 0:
        raise ArgumentValueError(op, "a number of axes must not be negative", given)
    if count > min(x1.ndim, x2.ndim):
        shapes = [("x1", str(x1.shape)), ("x2", str(x2.shape))]
        raise AxisError(op, f"there are fewer than {counted(count, 'axis', 'axes')} to sum along", shapes)
    return tuple(range(x1.ndim - count, x1.ndim)), tuple(range(count))


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
