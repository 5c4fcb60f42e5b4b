# cython: wraparound=True
"""Products of stacks of matrices: which algorithm computes them, and those of our own (`products.h`).

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
    5. all others use BLAS, into memory of ours: Note [Calls of BLAS]. Where the
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

Note [Products of our own]
    Integers: every product, except those by few columns with long sums, which are the reduction "dot". Real
    floating dtypes: where the call of BLAS takes longer than the product, and matrices by a vector of SHORT_SUM
    elements or more, whose time is that of reading the matrix. Complex numbers: none. One thread of an AVX-512
    server, NumPy 2.4, microseconds:

    1000 products of         2x2   3x3   4x4   8x8   4x4 by 4x1   8x8 by 8x1
    float64  these loops     2.1   6.1   5.5   190        3.5         17
             numpy.matmul     27    32    31    52         37         44
    float32  these loops     3.4    10    16    79        5.8         30
             numpy.matmul     26    31    31    52         28         31
    int64    these loops     2.7           5.4
             numpy.matmul     13            51

    One product of           128x128  300x300         A matrix by a vector  100x100  300x300  768x768  7680x8
    int64    these loops          90     1400         float64  these loops     1.2        8       60
             numpy.matmul       1700    18000                  numpy.matmul    1.8        8       58
    int8     these loops          23                  float32  these loops     1.2        6       31       22
             numpy.matmul       1250                           numpy.matmul    1.4        5       32        6
"""

from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy, memset

from stride0._core.memory.dtype cimport DType, arithmetic_code, dtype_at, is_stored, itemsize_at, letter_at
from stride0._core.plan.operations cimport OP_MULTIPLY
from stride0._core.plan.threads cimport run_chunks
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.table cimport TABLE
from stride0._core.plan.partition cimport LONG_RUN, chunks_for, threads_for
from stride0._core.array.array cimport Array, data_of, guard_gradient, new_array, swapped_matrix, view_of
from stride0._core.array.views cimport without_axes
from stride0._core.ops.copy cimport copy_array
from stride0._core.ops.elementwise cimport binary_raw
from stride0._core.ops.reduce cimport accumulate
from stride0._core.ops.gufuncs cimport run_matmul
from stride0._core.ops.blas cimport Product, as_matrix, as_operand, by_blas, in_c_order, multiply_by_blas, packed, time_of

from stride0._base.shapes import c_strides, check_ndim
from stride0._core.array.array import empty, zeros
from stride0._core.array.views import restride, strides, without_broadcast_axes
from stride0._core.ops.copy import copy
from stride0._core.ops.reduce import reduce2

cdef enum:
    SHORT_SUM = 32          # inner elements from which a product of reals is no longer summed up in order in double
    FEW_PRODUCTS = 256      # multiplications altogether, or
    TINY_PRODUCT = 64       # of each matrix of a stack
    LONG_SUM = 16           # inner elements from which a product of integers by
    FEW_COLUMNS = 4         # fewer columns is a reduction

# Note [Thresholds of matrix products]
cdef enum:
    FEW = 256           # multiplications of complex numbers altogether
    NARROW = 4          # elements of the result per matrix, with
    NARROW_INNER = 4    # K, from
    SEVERAL = 8         # matrices on
    TINY = 27           # multiplications per matrix, from
    MANY = 200          # matrices on

cdef enum:      # how products are computed: Note [Algorithms of matrix products]
    OWN
    DOT
    BATCH_INNERMOST
    BLAS

cdef enum:      # what is known of the operands' layout
    ANY_ORDER
    IN_ROWS     # rows of the first one are contiguous elements of the common dtype
    C_ORDER     # both


cdef int algorithm_of(const Product* product, int code, int layout) noexcept nogil:
    """Notes [Algorithms of matrix products] and [Thresholds of matrix products]."""
    cdef Py_ssize_t each = product.m * product.n * product.p, sums = product.count * product.m * product.p
    cdef char letter = letter_at(code)
    if sums == 1 and product.n <= SHORT and layout != C_ORDER:
        return DOT
    # BLAS reads a matrix without contiguous rows faster for long sums by one column.
    if of_our_own(product, code) and (layout != ANY_ORDER or letter != c"f" or product.p > 1 or product.n < SHORT_SUM):
        return OWN
    if letter == c"c":
        if sums * product.n <= FEW or (product.count >= SEVERAL and product.m * product.p <= NARROW and product.n <= NARROW_INNER):
            return DOT
        if product.count >= MANY and product.m > 1 and product.p > 1 and each <= TINY:
            return BATCH_INNERMOST
    elif letter != c"f":
        return DOT
    return DOT if is_stored(code) else BLAS


cdef bint of_our_own(const Product* product, int code) noexcept nogil:
    """Note [Products of our own]: whether a product of matrices in C order is one."""
    cdef Py_ssize_t work = product.m * product.n * product.p
    if TABLE.products[code] is NULL or product.n < 2:
        return False
    if letter_at(code) != c"f":
        return product.p >= FEW_COLUMNS or product.n < LONG_SUM
    # The reduction "dot" sums up in double.
    if product.count == 1 and product.m == 1 and product.p == 1:
        return product.n < SHORT_SUM
    if work <= TINY_PRODUCT or (product.p == 1 and product.n >= SHORT_SUM):
        return True
    return product.count * work <= FEW_PRODUCTS and product.n < SHORT_SUM


cdef Array one_product(Array x1, Array x2):
    """A row by a matrix, or a matrix by a matrix or column, in any layout; None where the general algorithms are needed."""
    cdef Py_ssize_t shape[2]
    cdef Product product
    cdef Array out, left, right
    cdef int algorithm
    if x1.ndim > 2 or x2.ndim > 2 or x1.ndim + x2.ndim == 2:
        return None
    product.count = 1
    product.m, product.n = x1.shape_[0] if x1.ndim == 2 else 1, x1.shape_[x1.ndim - 1]
    product.p = x2.shape_[1] if x2.ndim == 2 else 1
    algorithm = algorithm_of(&product, x1.code, ANY_ORDER)
    if algorithm != OWN and (product.n < 2 or not (algorithm == BLAS or (algorithm == DOT and letter_at(x1.code) == c"c"))):
        return None
    product.strides1[0] = product.strides2[0] = 0
    product.strides1[1], product.strides1[2] = x1.strides_[0] if x1.ndim == 2 else 0, x1.strides_[x1.ndim - 1]
    product.strides2[1], product.strides2[2] = x2.strides_[0], x2.strides_[1] if x2.ndim == 2 else 0
    if algorithm == DOT:
        left = matrix_view(x1, product.m, product.n, &product.strides1[1])
        out = by_dot(left, matrix_view(x2, product.n, product.p, &product.strides2[1]), x1.code)
        return out if x1.ndim == x2.ndim else without_axes(out, (0 if x1.ndim == 1 else 1,))
    if algorithm == BLAS:
        left, right = as_blas_reads(x1, product.m, product.n, &product.strides1[1]), as_blas_reads(x2, product.n, product.p, &product.strides2[1])
        if left is None or right is None:
            return None
        # Kernels of our own multiply contiguous rows by a vector, and a vector by contiguous columns.
        if letter_at(x1.code) == c"f" and product.n >= SHORT_SUM:
            if product.p == 1 and product.strides1[2] == itemsize_at(x1.code):
                return None
            if product.m == 1 and product.strides2[1] == itemsize_at(x1.code):
                return None
    shape[0] = product.m if x1.ndim == 2 else product.p
    shape[1] = product.p
    out = new_array(x1.code, x1.ndim + x2.ndim - 2, shape, NULL, False)
    if algorithm == BLAS:
        matrix = as_matrix(out, product.m, product.p)
        if not multiply_by_blas(left, right, matrix):
            run_matmul(left, right, matrix)
        return out
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    run_products(&product, x1.code)
    return out


cdef Array as_blas_reads(Array x, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t* strides):
    """A matrix, or a vector as one, if BLAS can read it, as `readable` says; else None."""
    cdef Py_ssize_t size = itemsize_at(x.code)
    # The stride of an axis of size 1 is arbitrary, so a valid one is chosen.
    if columns == 1:
        strides[1] = size
    if rows == 1:
        strides[0] = columns * size if strides[1] == size else size
    if not (strides[1] == size and strides[0] >= columns * size) and not (strides[0] == size and strides[1] >= rows * size):
        return None
    return matrix_view(x, rows, columns, strides)


cdef Array matrix_view(Array x, Py_ssize_t rows, Py_ssize_t columns, const Py_ssize_t* strides):
    cdef Py_ssize_t shape[2]
    shape[0], shape[1] = rows, columns
    return view_of(x, data_of(x), 2, shape, strides)


cdef Array usual_product(Array x1, Array x2):
    """
    Matrices in C order, or stacks of them, by as many, by one matrix, or by a vector; and `one_product`.

    The inner sizes are equal, and so are the dtypes. None where the general algorithms are needed.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int axis, lead, other, algorithm
    cdef Py_ssize_t count = 1
    cdef bint one = True
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
    algorithm = algorithm_of(&product, x1.code, C_ORDER)
    if algorithm != OWN and (algorithm != BLAS or product.n < 2 or count * product.m * product.p == 1):
        return one_product(x1, x2)
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    shape[lead + 1] = product.p
    out = new_array(x1.code, x1.ndim - 1 if x2.ndim == 1 else x1.ndim, shape, NULL, False)
    if algorithm == OWN:
        in_c_order(&product, itemsize_at(x1.code))
        product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
        run_products(&product, x1.code)
    else:
        by_blas(x1, x2, out, &product)
    return out


cpdef Array multiply_stacks(Array x1, Array x2, tuple batch, DType dtype):
    """
    The products of two stacks of matrices: a new array of shape (*batch, M, N), of `dtype`, to which theirs promote.

    Their shapes are (..., M, K) and (..., K, N), their dtypes numeric; the leading axes broadcast to `batch`.
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
    cdef int code = dtype.code, lead = x1.ndim - 2
    cdef int algorithm = algorithm_of_stacks(x1, x2, code)
    cdef Array out
    if algorithm == OWN:
        return own_product(x1, x2, code)
    if letter_at(code) == c"f" and x1.shape_[lead] == 1 and x2.shape_[lead + 1] > 1 and x2.strides_[lead] == itemsize_at(x2.code):
        # A vector by the columns of a matrix, each of which is contiguous.
        if algorithm_of_stacks(swapped_matrix(x2), swapped_matrix(x1), code) == OWN:
            out = own_product(swapped_matrix(x2), swapped_matrix(x1), code)
            return restride(out, (*x1.shape[:-1], x2.shape[-1]), (*strides(out)[:-2], x2.shape[-1], 1))
    if algorithm == BATCH_INNERMOST:
        return batch_innermost(x1, x2, dtype)
    if algorithm == DOT:
        if letter_at(code) == c"i" or letter_at(code) == c"u":
            x1 = as_operand(x1, x1.code, True)
            x2 = swapped_matrix(as_operand(swapped_matrix(x2), x2.code, True))
        return by_dot(x1, x2, code)
    out = empty((*x1.shape[:-1], x2.shape[-1]), dtype)
    x1, x2 = readable(x1, dtype), readable(x2, dtype)
    if not multiply_by_blas(x1, x2, out):
        run_matmul(x1, x2, out)
    return out


cdef int algorithm_of_stacks(Array x1, Array x2, int code) noexcept:
    cdef Product product
    cdef int axis, lead = x1.ndim - 2
    product.m, product.n, product.p, product.count = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1], 1
    for axis in range(lead):
        product.count *= x1.shape_[axis]
    return algorithm_of(&product, code, IN_ROWS if x1.code == code and x1.strides_[lead + 1] == itemsize_at(code) else ANY_ORDER)


cdef Array by_dot(Array x1, Array x2, int code):
    """Sum up products in the core: (..., M, 1, K) times (..., 1, N, K)."""
    cdef int lead = x1.ndim - 2
    left = beside_other_axis(x1, lead + 1, x1.strides_[lead], x1.strides_[lead + 1])
    right = beside_other_axis(x2, lead, x2.strides_[lead + 1], x2.strides_[lead])
    return accumulate("dot", 2, left, right, (lead + 2,), False, code, code)


cdef Array beside_other_axis(Array x, int axis, Py_ssize_t along, Py_ssize_t inner):
    """A view of a stack of matrices with an axis of size 1 in front of or behind that of the rows, or columns, and the inner one last."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int lead = x.ndim - 2, rows = lead + (axis == lead), is_right = axis == lead
    if x.ndim == MAX_NDIM:
        check_ndim("matmul", x.ndim + 1)
    memcpy(shape, x.shape_, lead * sizeof(Py_ssize_t))
    memcpy(strides, x.strides_, lead * sizeof(Py_ssize_t))
    shape[axis], strides[axis] = 1, 0
    shape[rows], strides[rows] = x.shape_[lead + is_right], along
    shape[lead + 2], strides[lead + 2] = x.shape_[lead + 1 - is_right], inner
    return view_of(x, data_of(x), x.ndim + 1, shape, strides)


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
    x = without_broadcast_axes(x, tuple(range(x.ndim - 2)))
    *sizes, rows, columns = x.shape
    *lead, down, across = strides(x)
    return copy(restride(x, (rows, columns, *sizes), (down, across, *lead)), None, "C")


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
    return restride(x, x.shape, (*lead, down, across)) if good and x.dtype is dtype else packed(x, dtype.code)


# --- kernels of our own


cdef void run_product(void* context, int chunk) noexcept nogil:
    cdef const Product* whole = <const Product*>context
    cdef Py_ssize_t size = itemsize_at(whole.code), first, k
    if whole.matrices:
        first = chunk * whole.matrices
        TABLE.products[whole.code](
            whole.left + first * whole.strides1[0], whole.strides1, whole.right + first * whole.strides2[0], whole.strides2,
            whole.out + first * whole.m * whole.p * size, min(whole.matrices, whole.count - first), whole.m, whole.n, whole.p)
        return
    first = chunk * whole.rows
    for k in range(whole.count):
        TABLE.products[whole.code](
            whole.left + k * whole.strides1[0] + first * whole.strides1[1], whole.strides1, whole.right + k * whole.strides2[0],
            whole.strides2, whole.out + (k * whole.m + first) * whole.p * size, 1, min(whole.rows, whole.m - first), whole.n,
            whole.p)


cdef int run_products(Product* product, int code) except -1:
    """Compute the products, on several threads where that is faster: partitioned between matrices, else between rows."""
    cdef int64_t work
    cdef int threads
    cdef Py_ssize_t chunks
    cdef bint done
    product.code = code
    work = time_of(product)
    product.matrices, product.rows = product.count, 0
    if work < LONG_RUN:
        run_product(product, 0)
        return 0
    with nogil:
        threads = threads_for(work)
        chunks = chunks_for(work, threads)
        if chunks > 1:
            # Elements do not depend on each other: any partition gives the same bits.
            if product.count >= chunks:
                product.matrices = (product.count + chunks - 1) // chunks
                chunks = (product.count + product.matrices - 1) // product.matrices
            else:
                product.matrices = 0
                product.rows = ((product.m + chunks - 1) // chunks + 7) // 8 * 8
                chunks = (product.m + product.rows - 1) // product.rows
        done = run_chunks(run_product, product, chunks, threads, True)
    return 0 if done else -1  # with the exception of a signal handler


cdef Array own_product(Array x1, Array x2, int code):
    """The products of two stacks with equal leading axes, by kernels of our own; a new array in C order."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int axis, lead = x1.ndim - 2
    cdef Py_ssize_t size = itemsize_at(code), outer = 1, k
    guard_gradient(x1, "matmul")
    guard_gradient(x2, "matmul")
    product.m, product.n, product.p = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1]
    product.count = x1.shape_[lead - 1] if lead else 1
    for axis in range(lead - 1):
        outer *= x1.shape_[axis]
    product.count *= outer
    if product.p == 1 and letter_at(code) == c"f" and product.n >= SHORT_SUM:
        x2 = as_operand(x2, code, False)
        if x2.strides_[lead] != size:
            x2 = swapped_matrix(as_operand(swapped_matrix(x2), code, True))
    x1, x2 = as_operand(x1, code, False), as_operand(x2, code, False)
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    shape[lead + 1] = product.p
    out = new_array(code, x1.ndim, shape, NULL, False)
    for k in range(3):
        product.strides1[k] = x1.strides_[lead - 1 + k] if lead or k else 0
        product.strides2[k] = x2.strides_[lead - 1 + k] if lead or k else 0
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    product.count //= outer
    # The leading axes but the last one.
    memset(position, 0, sizeof(position))
    while True:
        run_products(&product, code)
        product.out += product.count * product.m * product.p * size
        axis = lead - 2
        while axis >= 0:
            position[axis] += 1
            product.left += x1.strides_[axis]
            product.right += x2.strides_[axis]
            if position[axis] < x1.shape_[axis]:
                break
            product.left -= position[axis] * x1.strides_[axis]
            product.right -= position[axis] * x2.strides_[axis]
            position[axis] = 0
            axis -= 1
        if axis < 0:
            return out
