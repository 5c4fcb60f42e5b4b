"""Products of stacks of matrices: choice and execution of an algorithm.

Note [Algorithms of matrix products]
    The batch is first merged into as few axes as strides allow, and folded: an axis that `x2` does not move
    along goes into the rows of `x1`, one that `x1` does not move along into the columns of `x2`. Axes that
    are still broadcast keep the stride 0 and are never materialised. Then

    1. a column times a row (K = 1) is a broadcast multiplication;
    2. integers, few or tiny products of real numbers, and matrices by vectors use kernels of our own, which
       read any layout: Note [Products of our own]. NumPy is not even imported;
    3. one dot product (`SHORT`), few or narrow products of complex numbers (`FEW`, `NARROW`) and long sums of
       integers are the core's reduction "dot" over views of shape (..., M, 1, K) and (..., 1, N, K), copied
       only where integers are not contiguous along K;
    4. many tiny complex matrices (`MANY`, `TINY`) use the same reduction with the batch as the innermost
       axis, so that one vector instruction computes many matrices;
    5. all others use BLAS: Note [Calls of BLAS], or `numpy.matmul` on views, into memory of ours. Where the
       batch is folded away, that is one call; otherwise one call per matrix. Operands whose strides BLAS
       cannot read are packed first.

Note [Thresholds of matrix products]
    Measured on an AVX-512 server with NumPy 2.4, in microseconds. NumPy's times do not
    include conversion to NumPy and back, which costs some 4 more.

    1000 products of                2x2  3x3  4x4  8x8  16x16  2x2 times 2x1  2x8 times 8x1  1x128 times 128x2
    complex128  numpy.matmul         60   79   86  210   1150             32             38                167
                dot in place (3)     31   66  113  676   4973             15             23                537
                batch innermost (4)  23   57  116  803   7090

    One dot product of float64: 0.6 against 0.8 (1000 elements), 1.5 against 1.6 (10,000), 9.6 against 5.8
    (100,000).
"""

from __future__ import annotations

from typing import Any

from stride0._base.shapes import c_strides, size_of
from stride0._chapters._numpy import call_quietly, numpy, quiet_context, to_numpy
from stride0._core.array.array import Array, empty, zeros
from stride0._core.array.views import is_c_contiguous, restride, strides
from stride0._core.memory.dtype import STANDARD_DTYPES, DType, arithmetic_dtype
from stride0._core.ops.copy import copy
from stride0._core.ops.functions import multiply
from stride0._core.ops.product import multiply_by_blas, own_product, set_blas
from stride0._core.ops.reduce import reduce2

__all__ = ["multiply_stacks"]

# Note [Thresholds of matrix products]
SHORT = 16384  # elements of a dot product, if there is but one
FEW = 256  # multiplications of complex numbers altogether
NARROW = 4  # elements of the result per matrix, with
NARROW_INNER = 4  # K, from
SEVERAL = 8  # matrices on
TINY = 27  # multiplications per matrix, from
MANY = 200  # matrices on

INTEGERS = ("signed integer", "unsigned integer")

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
    wide = arithmetic_dtype(dtype)
    if wide is not dtype:
        return copy(multiply_stacks(copy(x1, wide), copy(x2, wide), batch, wide), dtype)
    rows, inner = x1.shape[-2:]
    columns = x2.shape[-1]
    shape = (*batch, rows, columns)
    if not inner or 0 in shape:
        return zeros(shape, dtype)
    if inner == 1:
        return multiply(x1, x2)
    plain = x1.ndim == x2.ndim == 2 or (is_c_contiguous(x1) and is_c_contiguous(x2))
    if len(batch) <= 1 and x1.shape[:-2] == x2.shape[:-2] and plain:
        return _multiply(x1, x2, dtype)
    strides1, strides2 = _batch_strides(x1, batch), _batch_strides(x2, batch)
    x1, x2 = _merge(x1, x2, batch, strides1, strides2)
    # Along an axis that is broadcast in both operands, one product is computed for all indices.
    moving = tuple(n if s1 or s2 else 1 for n, s1, s2 in zip(batch, strides1, strides2, strict=True))
    if x1.ndim == 3 and strides(x1)[0] == 0 and (folded := _fold(_transpose(x2))) is not None:
        # Computed transposed, so that the batch is in front in memory.
        result = _multiply(folded, _transpose(restride(x1, x1.shape[1:], strides(x1)[1:])), dtype)
        result_strides = (*(rows * columns * s for s in c_strides(moving)), 1, rows)
    else:
        while x1.ndim > 2 and strides(x2)[-3] == 0 and (folded := _fold(x1)) is not None:
            x1 = folded
            x2 = restride(x2, (*x2.shape[:-3], *x2.shape[-2:]), (*strides(x2)[:-3], *strides(x2)[-2:]))
        result = _multiply(x1, x2, dtype)
        result_strides = c_strides((*moving, rows, columns))
    if moving == batch:
        return restride(result, shape, result_strides)
    repeated = (s if n == m else 0 for s, n, m in zip(result_strides, batch, moving, strict=False))
    return copy(restride(result, shape, (*repeated, *result_strides[-2:])), None, "C")


def _batch_strides(x: Array, batch: Shape) -> Shape:
    """Return the strides of the leading axes of `x` when it is broadcast to `batch`."""
    missing = len(batch) - x.ndim + 2
    own = zip(x.shape, strides(x), batch[missing:], strict=False)
    return (*(0,) * missing, *[s if n == m else 0 for n, s, m in own])


def _merge(x1: Array, x2: Array, batch: Shape, strides1: Shape, strides2: Shape) -> tuple[Array, Array]:
    """Return both operands with the same batch axes: merged, without axes that are broadcast in both."""
    merged: list[tuple[int, int, int]] = []
    for n, s1, s2 in zip(batch, strides1, strides2, strict=True):
        if n == 1 or not (s1 or s2):
            continue
        if merged and merged[-1][1:] == (n * s1, n * s2):
            merged[-1] = (merged[-1][0] * n, s1, s2)
        else:
            merged.append((n, s1, s2))
    sizes = [n for n, _, _ in merged]
    return (
        restride(x1, (*sizes, *x1.shape[-2:]), (*(s for _, s, _ in merged), *strides(x1)[-2:])),
        restride(x2, (*sizes, *x2.shape[-2:]), (*(s for _, _, s in merged), *strides(x2)[-2:])),
    )


def _transpose(x: Array) -> Array:
    *lead, down, across = strides(x)
    return restride(x, (*x.shape[:-2], x.shape[-1], x.shape[-2]), (*lead, across, down))


def _fold(x: Array) -> Array | None:
    """Return a stack (..., n, R, C) as (..., n * R, C), or None where that is no view."""
    *lead, n, rows, columns = x.shape
    *lead_strides, stride, down, across = strides(x)
    if rows == 1:
        down = stride
    elif stride != rows * down:
        return None
    return restride(x, (*lead, n * rows, columns), (*lead_strides, down, across))


def _multiply(x1: Array, x2: Array, dtype: DType) -> Array:
    """Return the products of stacks with equal leading axes, in C order."""
    *lead, rows, inner = x1.shape
    columns = x2.shape[-1]
    count = size_of(lead)
    sums = count * rows * columns
    if sums == 1 and inner <= SHORT:
        return _dot(x1, x2, dtype)
    if (own := own_product(x1, x2, dtype)) is not None:
        return own
    if rows == 1 and columns > 1 and dtype.kind == "real floating" and strides(x2)[-2] == 1:
        # A vector by the columns of a matrix, each of which is contiguous.
        own = own_product(_transpose(x2), _transpose(x1), dtype)
        if own is not None:
            return restride(own, (*lead, 1, columns), (*strides(own)[:-2], columns, 1))
    if dtype.kind == "complex floating":
        if sums * inner <= FEW or (count >= SEVERAL and rows * columns <= NARROW and inner <= NARROW_INNER):
            return _dot(x1, x2, dtype)
        if count >= MANY and rows > 1 < columns and rows * columns * inner <= TINY:
            return _batch_innermost(x1, x2, dtype)
    if dtype.kind in INTEGERS:
        in_rows = x1 if strides(x1)[-1] == 1 else _pack(x1)
        in_columns = x2 if strides(x2)[-2] == 1 else _transpose(_pack(_transpose(x2)))
        return _dot(in_rows, in_columns, dtype)
    result = empty((*lead, rows, columns), dtype)
    x1, x2 = _readable(x1, dtype), _readable(x2, dtype)
    if not multiply_by_blas(x1, x2, result):
        call_quietly(numpy().matmul, to_numpy(x1), to_numpy(x2), out=to_numpy(result))
    return result


def _dot(x1: Array, x2: Array, dtype: DType) -> Array:
    """Sum up products in the core: (..., M, 1, K) times (..., 1, N, K)."""
    *lead1, rows, inner = x1.shape
    *lead2, _, columns = x2.shape
    *strides1, down1, across1 = strides(x1)
    *strides2, down2, across2 = strides(x2)
    left = restride(x1, (*lead1, rows, 1, inner), (*strides1, down1, 0, across1))
    right = restride(x2, (*lead2, 1, columns, inner), (*strides2, 0, across2, down2))
    return reduce2("dot", left, right, (len(lead1) + 2,), False, dtype)


def _batch_innermost(x1: Array, x2: Array, dtype: DType) -> Array:
    """Sum up products in the core: (M, 1, K, ...) times (1, N, K, ...), both copied to that order."""
    left = _batch_last(x1)
    right = _batch_last(_transpose(x2))
    strides1, strides2 = strides(left), strides(right)
    result = reduce2(
        "dot",
        restride(left, (left.shape[0], 1, *left.shape[1:]), (strides1[0], 0, *strides1[1:])),
        restride(right, (1, *right.shape), (0, *strides2)),
        (2,),
        False,
        dtype,
    )
    down, across, *lead = strides(result)
    rows, columns, *sizes = result.shape
    return copy(restride(result, (*sizes, rows, columns), (*lead, down, across)), None, "C")


def _batch_last(x: Array) -> Array:
    x = _without_broadcast_axes(x)
    *sizes, rows, columns = x.shape
    *lead, down, across = strides(x)
    return copy(restride(x, (rows, columns, *sizes), (down, across, *lead)), None, "C")


def _without_broadcast_axes(x: Array) -> Array:
    """Return a stack with size 1 along its broadcast leading axes, so that copies are small."""
    x_strides = strides(x)
    lead = (n if s else 1 for n, s in zip(x.shape[:-2], x_strides, strict=False))
    return restride(x, (*lead, *x.shape[-2:]), x_strides)


def _pack(x: Array, dtype: DType | None = None) -> Array:
    return copy(_without_broadcast_axes(x), dtype, "C")


def _readable(x: Array, dtype: DType) -> Array:
    """Return a stack of `dtype` whose matrices BLAS can read: `x` itself, or packed.

    One of the two axes must have stride 1, the other one at least the size of the first. (NumPy would take
    any matrix, but multiply it in loops without BLAS, a hundred times slower.)
    """
    if x.dtype is dtype and is_c_contiguous(x):
        return x
    rows, columns = x.shape[-2:]
    *lead, down, across = strides(x)
    # The stride of an axis of size 1 is arbitrary, so a valid one is chosen.
    if columns == 1:
        across = 1
    if rows == 1:
        down = columns if across == 1 else 1
    good = (across == 1 and down >= columns) or (down == 1 and across >= rows)
    return restride(x, x.shape, (*lead, down, across)) if good and x.dtype is dtype else _pack(x, dtype)


def _load() -> tuple[Any, ...]:
    """The loader that `set_blas` calls."""
    module = numpy()
    dtypes = tuple(module.dtype(d.name) for d in STANDARD_DTYPES)
    return module.matmul, dtypes, quiet_context(), _products_of_blas(), module.ndarray


def _products_of_blas() -> tuple[int, ...]:
    """Addresses of sgemm and dgemm in the BLAS that NumPy's wheels contain; zeros elsewhere.

    The suffix of the names means that sizes have 64 bits. A name is also found in the libraries that a
    library is linked with.
    """
    try:
        import ctypes

        library = ctypes.CDLL(numpy()._core._multiarray_umath.__file__)
        found = [library[f"scipy_cblas_{letter}gemm64_"] for letter in "sd"]
        return tuple(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in found)
    except (ImportError, OSError, AttributeError):
        return 0, 0


set_blas(_load)
