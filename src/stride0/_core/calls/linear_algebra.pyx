# cython: language_level=3, boundscheck=False, wraparound=True, cdivision=True, initializedcheck=False
"""Products of vectors, matrices and stacks of matrices. Declared in `_chapters/linear_algebra.py`.

Note [Algorithms of matrix products]
    The batch is first merged into as few axes as strides allow, and folded: an axis that is broadcast in `x2`
    goes into the rows of `x1`, one that is broadcast in `x1` into the columns of `x2`. Other broadcast
    axes keep the stride 0 and are never copied. Then

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

from cpython.object cimport PyObject
from libc.string cimport memcmp, memcpy

from stride0._core.memory.dtype cimport (
    BOOL, DType, FLOAT32, arithmetic_code, dtype_at, itemsize_at, letter_at, promote_codes,
)
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.switches cimport guarding
from stride0._core.array.array cimport Array, data_of, new_array, same_shape, swapped_matrix, view_of
from stride0._core.plan.operations cimport OP_MULTIPLY, OP_NOT_EQUAL
from stride0._core.ops.copy cimport copy_array
from stride0._core.ops.elementwise cimport binary_raw
from stride0._core.ops.product cimport Product, SHORT_SUM, by_blas, in_c_order, is_for_blas, of_our_own, run_products
from stride0._core.ops.reduce cimport accumulate
from stride0._core.calls.arguments cimport array_argument, implement

from stride0._base.errors import AxisError, ShapeError, brief
from stride0._base.shapes import broadcast_shapes, c_strides, normalize_axis, normalize_index, size_of
from stride0._core.array.array import empty, zeros
from stride0._core.array.interceptors import check_broadcasting
from stride0._core.array.views import restride, strides
from stride0._core.calls.checks import check_array
from stride0._core.exchange.numpy_calls import call_quietly, numpy, quiet_context, to_numpy
from stride0._core.memory.dtype import STANDARD_DTYPES
from stride0._core.ops.copy import copy
from stride0._core.ops.product import multiply_by_blas, own_product, set_blas
from stride0._core.ops.reduce import reduce2

# Note [Thresholds of matrix products]
cdef enum:
    SHORT = 16384       # elements of a dot product, if there is but one
    FEW = 256           # multiplications of complex numbers altogether
    NARROW = 4          # elements of the result per matrix, with
    NARROW_INNER = 4    # K, from
    SEVERAL = 8         # matrices on
    TINY = 27           # multiplications per matrix, from
    MANY = 200          # matrices on


cdef object matmul(PyObject** given):
    cdef Array x1 = array_argument(given[0], "matmul", "x1"), x2 = array_argument(given[1], "matmul", "x2")
    cdef Array a, b, out
    cdef int code
    if x1.code == BOOL or x2.code == BOOL:
        if x1.code == x2.code:
            return of_bools(matmul_of, x1, x2)
        x1, x2 = as_numbers(x1, x2), as_numbers(x2, x1)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ShapeError("matmul", f"{'x2' if x1.ndim else 'x1'} must have at least one axis", shapes_of(x1, x2), "Numbers are multiplied with *.")
    if x1.shape_[x1.ndim - 1] != x2.shape_[x2.ndim - 2 if x2.ndim > 1 else 0]:
        raise ShapeError(
            "matmul", f"the inner sizes differ: {x1.shape[-1]} in x1 and {x2.shape[-2 if x2.ndim > 1 else 0]} in x2", shapes_of(x1, x2),
            "The last axis of x1 must be as long as the last but one of x2 (the only one of a vector).")
    code = x1.code
    if x1.code == x2.code and (not guarding or x2.ndim <= 2 >= x1.ndim):
        out = usual_product(x1, x2)
        if out is not None:
            return out
    else:
        code = promote_codes(x1.code, x2.code)
    if x1.ndim == 1 and x2.ndim == 1 and x1.size <= SHORT:
        return accumulate("dot", 2, x1, x2, (0,), False, code, code)
    a = x1 if x1.ndim > 1 else with_axis(x1, 0)
    b = x2 if x2.ndim > 1 else with_axis(x2, 1)
    batch = broadcast_batches("matmul", a, b) if a.ndim > 2 or b.ndim > 2 else ()
    out = multiply_stacks(a, b, batch, dtype_at(code))
    # Remove the axes that were added to vectors.
    if x2.ndim == 1:
        out = without_axis(out, out.ndim - 1)
    if x1.ndim == 1:
        out = without_axis(out, out.ndim - (1 if x2.ndim == 1 else 2))
    return out


cdef object matmul_of(Array x1, Array x2, axis):
    cdef PyObject* given[2]
    given[0], given[1] = <PyObject*>x1, <PyObject*>x2
    return matmul(given)


cdef list shapes_of(Array x1, Array x2):
    return [("x1", f"{x1.shape}"), ("x2", f"{x2.shape}")]


cdef Array with_axis(Array x, int at):
    """A vector as a matrix: an axis of size 1 in front of its own, or behind."""
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t byte_strides[2]
    shape[at], byte_strides[at] = 1, 0
    shape[1 - at], byte_strides[1 - at] = x.shape_[0], x.strides_[0]
    return view_of(x, data_of(x), 2, shape, byte_strides)


cdef Array without_axis(Array x, int at):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axis
    for axis in range(x.ndim - 1):
        shape[axis], byte_strides[axis] = x.shape_[axis + (axis >= at)], x.strides_[axis + (axis >= at)]
    return view_of(x, data_of(x), x.ndim - 1, shape, byte_strides)


cdef Array as_numbers(Array x, Array other):
    """Beside numbers, True counts as 1."""
    return copy_array(x, other.code, False) if x.code == BOOL else x


def check_products(op, x1, x2):
    """Two arrays to be multiplied and summed; beside numbers, True counts as 1."""
    check_array(op, x1, "x1")
    check_array(op, x2, "x2")
    if (x1.dtype.kind == "bool") != (x2.dtype.kind == "bool"):
        return as_numbers(x1, x2), as_numbers(x2, x1)
    return x1, x2


ctypedef object (*ProductOf)(Array x1, Array x2, axis)


cdef object of_bools(ProductOf product, Array x1, Array x2, axis=None):
    """Where any of the products that would be summed up is true."""
    # Counted in float32 by BLAS: a count stops growing at 2**24, but never returns to 0.
    counts = product(copy_array(x1, FLOAT32, False), copy_array(x2, FLOAT32, False), axis)
    return binary_raw(OP_NOT_EQUAL, counts, 0, "not_equal", False)


def broadcast_batches(str op, Array x1, Array x2):
    """The common shape of the leading axes of two stacks of matrices."""
    lead1, lead2 = x1.shape[:-2], x2.shape[:-2]
    if lead1 == lead2:
        return lead1
    pairs = [("leading axes of x1", lead1), ("leading axes of x2", lead2)]
    shape = broadcast_shapes(op, pairs)
    check_broadcasting(op, pairs, shape)
    return shape


# --- vecdot


cdef object vecdot(PyObject** given):
    """`given`: x1, x2, axis."""
    return vecdot_of(array_argument(given[0], "vecdot", "x1"), array_argument(given[1], "vecdot", "x2"), <object>given[2])


cdef object vecdot_of(Array x1, Array x2, axis):
    cdef int code = x1.code, last
    cdef Py_ssize_t place
    if x1.code == x2.code and x1.ndim and type(axis) is int and axis == -1 and x1.code != BOOL and same_shape(x1, x2):
        return accumulate("vecdot", 2, x1, x2, (x1.ndim - 1,), False, code, code)
    if x1.code == BOOL or x2.code == BOOL:
        if x1.code == x2.code:
            return of_bools(vecdot_of, x1, x2, axis)
        x1, x2 = as_numbers(x1, x2), as_numbers(x2, x1)
    place = check_vectors("vecdot", x1, x2, axis)
    if x1.shape[place] != x2.shape[place]:
        raise ShapeError("vecdot", f"axis {place} has size {x1.shape[place]} in x1 and {x2.shape[place]} in x2", shapes_of(x1, x2),
                         "Vectors must be of the same size; they do not broadcast.")
    check_broadcast("vecdot", x1, x2)
    code = promote_codes(x1.code, x2.code)
    return accumulate("vecdot", 2, x1, x2, (max(x1.ndim, x2.ndim) + place,), False, code, code)


def check_broadcast(str op, Array x1, Array x2):
    """The common shape of two arrays, if the mode of `broadcasting` allows it."""
    pairs = [("x1", x1.shape), ("x2", x2.shape)]
    shape = broadcast_shapes(op, pairs)
    check_broadcasting(op, pairs, shape)
    return shape


def check_vectors(str op, Array x1, Array x2, axis):
    """The axis of the vectors: negative, as the two arrays may have different numbers of axes."""
    number = normalize_index(op, "axis", axis)
    fewest = min(x1.ndim, x2.ndim)
    if number >= 0 and fewest:
        raise AxisError(op, f"axis {brief(number)} is not counted from the last one", shapes_of(x1, x2),
                        f"axis must be from {-fewest} to -1: the arrays are aligned from the right.")
    return normalize_axis(op, number, fewest) - fewest


# --- products of stacks


cdef Array one_product(Array x1, Array x2):
    """A row by a matrix, or a matrix by a matrix or column, in any layout; None where kernels of our own cannot."""
    cdef Py_ssize_t shape[2]
    cdef Product product
    cdef Array out
    if x1.ndim > 2 or x2.ndim > 2 or x1.ndim + x2.ndim == 2:
        return None
    product.count = 1
    product.m, product.n = x1.shape_[0] if x1.ndim == 2 else 1, x1.shape_[x1.ndim - 1]
    product.p = x2.shape_[1] if x2.ndim == 2 else 1
    # A single sum is the reduction "dot"; long sums, by one column, read rows that are contiguous.
    if product.m * product.p == 1 or (product.p == 1 and product.n >= SHORT_SUM):
        return None
    if not of_our_own(&product, x1.code):
        return None
    product.strides1[0] = product.strides2[0] = 0
    product.strides1[1], product.strides1[2] = x1.strides_[0] if x1.ndim == 2 else 0, x1.strides_[x1.ndim - 1]
    product.strides2[1], product.strides2[2] = x2.strides_[0], x2.strides_[1] if x2.ndim == 2 else 0
    shape[0] = product.m if x1.ndim == 2 else product.p
    shape[1] = product.p
    out = new_array(x1.code, x1.ndim + x2.ndim - 2, shape, NULL, False)
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    run_products(&product, x1.code)
    return out


cdef Array usual_product(Array x1, Array x2):
    """
    Matrices in C order, or stacks of them, by as many, by one matrix, or by a vector; and `one_product`.

    The inner sizes are equal, and so are the dtypes. None where the general algorithms are needed.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int axis, lead, other
    cdef Py_ssize_t count = 1
    cdef bint one = True, own
    if x1.size == 0 or x2.size == 0:
        return None
    if x1.ndim == 1 or not x1.c_contiguous or not x2.c_contiguous:
        return one_product(x1, x2)
    if x2.ndim > x1.ndim:
        return None
    lead, other = x1.ndim - 2, x2.ndim - 2
    product.m, product.n = x1.shape_[lead], x1.shape_[lead + 1]
    product.p = x2.shape_[other + 1] if x2.ndim > 1 else 1
    for axis in range(lead):
        count *= x1.shape_[axis]
    for axis in range(other):
        one = one and x2.shape_[axis] == 1
    if one:
        # One matrix for all of them: as many rows of one product.
        product.m *= count
        count = 1
    elif other != lead or memcmp(x1.shape_, x2.shape_, lead * sizeof(Py_ssize_t)) != 0:
        return None
    product.count = count
    own = of_our_own(&product, x1.code)
    if not own and not is_for_blas(&product, x1.code):
        return None
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    shape[lead + 1] = product.p
    out = new_array(x1.code, x1.ndim - 1 if x2.ndim == 1 else x1.ndim, shape, NULL, False)
    if own:
        in_c_order(&product, itemsize_at(x1.code))
        product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
        run_products(&product, x1.code)
    else:
        by_blas(x1, x2, out, &product)
    return out


cpdef Array multiply_stacks(Array x1, Array x2, tuple batch, DType dtype):
    """
    The products of two stacks of matrices.

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
    cdef int code = arithmetic_code(dtype.code)
    if code != dtype.code:
        return copy_array(multiply_stacks(copy_array(x1, code, False), copy_array(x2, code, False), batch, dtype_at(code)), dtype.code, False)
    rows, inner = x1.shape[-2:]
    columns = x2.shape[-1]
    shape = (*batch, rows, columns)
    if not inner or 0 in shape:
        return zeros(shape, dtype)
    if inner == 1:
        return <Array>binary_raw(OP_MULTIPLY, x1, x2, "matmul", False)
    plain = x1.ndim == x2.ndim == 2 or (x1.c_contiguous and x2.c_contiguous)
    if len(batch) <= 1 and x1.shape[:-2] == x2.shape[:-2] and plain:
        return multiply_alike(x1, x2, dtype)
    strides1, strides2 = batch_strides(x1, batch), batch_strides(x2, batch)
    x1, x2 = merged_batch(x1, x2, batch, strides1, strides2)
    # Along an axis that is broadcast in both operands, one product is computed for all indices.
    moving = tuple([n if s1 or s2 else 1 for n, s1, s2 in zip(batch, strides1, strides2)])
    if x1.ndim == 3 and strides(x1)[0] == 0 and (folded := folded_rows(swapped_matrix(x2))) is not None:
        # Computed transposed, so that the batch is the first axis in memory.
        result = multiply_alike(folded, swapped_matrix(restride(x1, x1.shape[1:], strides(x1)[1:])), dtype)
        result_strides = (*[rows * columns * s for s in c_strides(moving)], 1, rows)
    else:
        while x1.ndim > 2 and strides(x2)[-3] == 0 and (folded := folded_rows(x1)) is not None:
            x1 = folded
            x2 = restride(x2, (*x2.shape[:-3], *x2.shape[-2:]), (*strides(x2)[:-3], *strides(x2)[-2:]))
        result = multiply_alike(x1, x2, dtype)
        result_strides = c_strides((*moving, rows, columns))
    if moving == batch:
        return restride(result, shape, result_strides)
    broadcast_strides = [s if n == m else 0 for s, n, m in zip(result_strides, batch, moving)]
    return copy(restride(result, shape, (*broadcast_strides, *result_strides[-2:])), None, "C")


cdef tuple batch_strides(Array x, tuple batch):
    """The strides of the leading axes of `x` when it is broadcast to `batch`."""
    missing = len(batch) - x.ndim + 2
    own = zip(x.shape, strides(x), batch[missing:])
    return (*(0,) * missing, *[s if n == m else 0 for n, s, m in own])


cdef tuple merged_batch(Array x1, Array x2, tuple batch, tuple strides1, tuple strides2):
    """Both operands with the same batch axes: merged, without axes that are broadcast in both."""
    cdef list merged = []
    for n, s1, s2 in zip(batch, strides1, strides2):
        if n == 1 or not (s1 or s2):
            continue
        if merged and merged[-1][1:] == (n * s1, n * s2):
            merged[-1] = (merged[-1][0] * n, s1, s2)
        else:
            merged.append((n, s1, s2))
    sizes = [n for n, _, _ in merged]
    return (
        restride(x1, (*sizes, *x1.shape[-2:]), (*[s for _, s, _ in merged], *strides(x1)[-2:])),
        restride(x2, (*sizes, *x2.shape[-2:]), (*[s for _, _, s in merged], *strides(x2)[-2:])),
    )


cdef Array folded_rows(Array x):
    """A stack (..., n, R, C) as (..., n * R, C), or None where that is no view."""
    *lead, n, rows, columns = x.shape
    *lead_strides, stride, down, across = strides(x)
    if rows == 1:
        down = stride
    elif stride != rows * down:
        return None
    return restride(x, (*lead, n * rows, columns), (*lead_strides, down, across))


cdef Array multiply_alike(Array x1, Array x2, DType dtype):
    """The products of stacks with equal leading axes, in C order."""
    *lead, rows, inner = x1.shape
    columns = x2.shape[-1]
    count = size_of(lead)
    sums = count * rows * columns
    if sums == 1 and inner <= SHORT:
        return by_dot(x1, x2, dtype)
    if (own := own_product(x1, x2, dtype)) is not None:
        return own
    if rows == 1 and columns > 1 and letter_at(dtype.code) == c"f" and strides(x2)[-2] == 1:
        # A vector by the columns of a matrix, each of which is contiguous.
        own = own_product(swapped_matrix(x2), swapped_matrix(x1), dtype)
        if own is not None:
            return restride(own, (*lead, 1, columns), (*strides(own)[:-2], columns, 1))
    if letter_at(dtype.code) == c"c":
        if sums * inner <= FEW or (count >= SEVERAL and rows * columns <= NARROW and inner <= NARROW_INNER):
            return by_dot(x1, x2, dtype)
        if count >= MANY and rows > 1 < columns and rows * columns * inner <= TINY:
            return batch_innermost(x1, x2, dtype)
    if letter_at(dtype.code) == c"i" or letter_at(dtype.code) == c"u":
        in_rows = x1 if strides(x1)[-1] == 1 else packed(x1)
        in_columns = x2 if strides(x2)[-2] == 1 else swapped_matrix(packed(swapped_matrix(x2)))
        return by_dot(in_rows, in_columns, dtype)
    result = empty((*lead, rows, columns), dtype)
    x1, x2 = readable(x1, dtype), readable(x2, dtype)
    if not multiply_by_blas(x1, x2, result):
        call_quietly(numpy().matmul, to_numpy(x1), to_numpy(x2), out=to_numpy(result))
    return result


cdef Array by_dot(Array x1, Array x2, DType dtype):
    """Sum up products in the core: (..., M, 1, K) times (..., 1, N, K)."""
    *lead1, rows, inner = x1.shape
    *lead2, _, columns = x2.shape
    *strides1, down1, across1 = strides(x1)
    *strides2, down2, across2 = strides(x2)
    left = restride(x1, (*lead1, rows, 1, inner), (*strides1, down1, 0, across1))
    right = restride(x2, (*lead2, 1, columns, inner), (*strides2, 0, across2, down2))
    return reduce2("dot", left, right, (len(lead1) + 2,), False, dtype)


cdef Array batch_innermost(Array x1, Array x2, DType dtype):
    """Sum up products in the core: (M, 1, K, ...) times (1, N, K, ...), both copied to that order."""
    left = batch_last(x1)
    right = batch_last(swapped_matrix(x2))
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


cdef Array batch_last(Array x):
    x = without_broadcast_batch(x)
    *sizes, rows, columns = x.shape
    *lead, down, across = strides(x)
    return copy(restride(x, (rows, columns, *sizes), (down, across, *lead)), None, "C")


cdef Array without_broadcast_batch(Array x):
    """A stack with size 1 along its broadcast leading axes, so that copies are small."""
    x_strides = strides(x)
    lead = [n if s else 1 for n, s in zip(x.shape[:-2], x_strides)]
    return restride(x, (*lead, *x.shape[-2:]), x_strides)


cdef Array packed(Array x, DType dtype=None):
    return copy(without_broadcast_batch(x), dtype, "C")


cdef Array readable(Array x, DType dtype):
    """A stack of `dtype` whose matrices BLAS can read: `x` itself, or packed.

    One of the two axes must have stride 1, the other one at least the size of the first. (NumPy would take
    any matrix, but multiply it without BLAS, a hundred times slower.)
    """
    if x.dtype is dtype and x.c_contiguous:
        return x
    rows, columns = x.shape[-2:]
    *lead, down, across = strides(x)
    # The stride of an axis of size 1 is arbitrary, so a valid one is chosen.
    if columns == 1:
        across = 1
    if rows == 1:
        down = columns if across == 1 else 1
    good = (across == 1 and down >= columns) or (down == 1 and across >= rows)
    return restride(x, x.shape, (*lead, down, across)) if good and x.dtype is dtype else packed(x, dtype)


def load_numpy():
    """The loader that `set_blas` calls."""
    module = numpy()
    dtypes = tuple([module.dtype(d.name) for d in STANDARD_DTYPES])
    return module.matmul, dtypes, quiet_context(), functions_of_blas(), module.ndarray


def functions_of_blas():
    """Addresses of sgemm and dgemm in the BLAS that NumPy's wheels contain; zeros elsewhere.

    The suffix of the names means that sizes have 64 bits. A name is also found in the libraries that a
    library is linked with.
    """
    try:
        import ctypes

        library = ctypes.CDLL(numpy()._core._multiarray_umath.__file__)
        found = [library[f"scipy_cblas_{letter}gemm64_"] for letter in "sd"]
        return tuple([ctypes.cast(function, ctypes.c_void_p).value or 0 for function in found])
    except (ImportError, OSError, AttributeError):
        return 0, 0


set_blas(load_numpy)


implement("matmul", matmul)
implement("vecdot", vecdot)
