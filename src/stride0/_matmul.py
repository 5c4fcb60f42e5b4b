"""The engine of matrix products: which way a stack of them takes.

Note [Ways of a matrix product]
    The batch is first merged into as few axes as strides allow, and folded: an axis that `x2` does not move
    along goes into the rows of `x1`, one that `x1` does not move along into the columns of `x2`. Axes that
    stay stretched keep the stride 0 and are never materialised. Then

    1. a column times a row (K = 1) is a broadcast multiplication;
    2. few or short sums of products (`FEW`, `SHORT`, `NARROW`) are the core's reduction "dot" over views of
       shape (..., M, 1, K) and (..., 1, N, K): nothing is copied, NumPy is not even imported;
    3. many tiny matrices (`MANY`, `TINY`) are the same reduction with the batch as the innermost axis, so
       that one vector operation serves many matrices;
    4. long sums of integers (`LONG`) are "dot" on operands packed so that both are read in a row. Short ones
       go through NumPy's loops, which are as fast there; BLAS knows no integers;
    5. all else is `numpy.matmul` on views. Where the batch is folded away, that is one BLAS call; otherwise
       NumPy loops over the stack, in place. Operands that BLAS cannot read as they lie are packed first.

Note [Thresholds of matrix products]
    Measured on two cores of an AVX-512 server with NumPy 2.4, in microseconds. To get to NumPy and back
    costs 1.7 more than what is shown for it.

    1000 products of                2x2  3x3  4x4  8x8  16x16  2x2 times 2x1  4x8 times 8x1  1x128 times 128x2
    float64     numpy.matmul         27   32   33   50    190             31             73                 78
                dot in place (2)     29   56   78  424   3047             13             22                185
                batch innermost (3)  16   44   68  416   4990
    complex128  numpy.matmul         60   79   86  210   1150             32             45                167
                dot in place (2)     31   66  113  676   4973             15             34                537
                batch innermost (3)  23   57  116  803   7090
    int64       numpy.matmul         13   27   50  324   2478
                dot, packed (4)      33   58   83  300   1360

    One product of int64 100x100: numpy.matmul 895, dot in place 1191, packed 328; 300x300: 36052, 32740, 7023;
    int8 16x16 (100 of them): numpy.matmul 250, packed 319; 300x300: 16123, packed 4274.
    One dot product of float64: 0.6 against 0.8 (1000 elements), 1.5 against 1.6 (10,000), 9.6 against 5.8
    (100,000).

    So a call of BLAS costs some 30 ns per matrix, and it is only the very smallest ones that are faster
    without it.
"""

from __future__ import annotations

from ._core.array import Array, copy, multiply, reduce2, restride, strides, zeros
from ._core.dtype import DType
from ._numpy import from_numpy, numpy, quiet, to_numpy
from ._shapes import c_strides, size_of

__all__ = ["multiply_stacks"]

# Note [Thresholds of matrix products]
FEW = 256  # multiplications altogether
SHORT = 16384  # elements of a dot product, if there is but one
NARROW = 4, 8  # elements of the result per matrix, and K; from
SEVERAL = 8  # matrices on
TINY = {"real floating": 8, "complex floating": 27}  # multiplications per matrix; from
MANY = 200  # matrices on
LONG = 24  # K

Shape = tuple[int, ...]


def multiply_stacks(x1: Array, x2: Array, batch: Shape, dtype: DType) -> Array:
    """Return the products of two stacks of matrices.

    Parameters
    ----------
    x1, x2 : Array
        Shapes (..., M, K) and (..., K, N), of numeric dtypes; the leading axes broadcast to `batch`.
    batch : tuple of int
        Leading axes of the result.
    dtype : DType
        What the two dtypes promote to.

    Returns
    -------
    Array
        New array of shape (*batch, M, N), of `dtype`.
    """
    rows, inner = x1.shape[-2:]
    columns = x2.shape[-1]
    shape = (*batch, rows, columns)
    if not inner or 0 in shape:
        return zeros(shape, dtype)
    if inner == 1:
        return multiply(x1, x2)
    if not batch:
        return _multiply(x1, x2, dtype)
    x1, x2 = _merge(x1, x2, batch)
    if x1.ndim == 3 and _steps(x1)[0] == 0 and _steps(x2)[0] != 0:
        # The columns of all matrices of x2 beside each other; as rows, for the result to have the batch in front.
        folded = _fold(restride(x2, *_swapped(x2)))
        if folded is not None:
            plain = restride(x1, *_swapped(restride(x1, x1.shape[1:], strides(x1)[1:])))
            result = _multiply(folded, plain, dtype)
            steps = (*(rows * columns * s for s in c_strides(batch)), 1, rows)
            return restride(_in_c_order(result), shape, steps)
    while x1.ndim > 2 and strides(x2)[-3] == 0:
        folded = _fold(x1)
        if folded is None:
            break
        x1 = folded
        x2 = restride(x2, (*x2.shape[:-3], *x2.shape[-2:]), (*strides(x2)[:-3], *strides(x2)[-2:]))
    return restride(_in_c_order(_multiply(x1, x2, dtype)), shape, c_strides(shape))
