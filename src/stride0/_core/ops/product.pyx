# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Products of matrices: by kernels of our own (`products.h`), for dtypes without BLAS and small products, or by BLAS.

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
    int64    these loops          90     1400         float64  these loops     1.6       10       63
             numpy.matmul       1700    18000                  numpy.matmul    1.8       10       65
    int8     these loops          23                  float32  these loops     1.6        8       38       22
             numpy.matmul       1250                           numpy.matmul    1.5        5       40        6

Note [Calls of BLAS]
    If the gemm functions of NumPy's BLAS are found, they are called from here, and NumPy computes the other products:
    with a row or a column, and of a matrix with its own transpose, for which BLAS has other functions; and complex ones,
    for which OpenBLAS uses threads of its own from 2^16 multiplications on, which would contend with ours. OpenBLAS
    computes a product of up to ALONE multiplications of real numbers on one thread, and NumPy calls it for the matrices of
    a stack one after the other; here the threads of the pool call it, each for a chunk of the stack: 64 products of 64x64,
    two threads, microseconds, 320 by `numpy.matmul` and 165 by the pool in float32, 850 and 370 in float64.

    Matrices with many rows of THIN elements are such stacks too, of blocks of GEMM_BLOCK multiplications and LEAST_ROWS rows.
    From 10^6 multiplications on OpenBLAS would copy to buffers first, which is slow where little is computed per element,
    and use threads of its own. One thread, called from C, and two of ours:

    M x K times K x N   7680x8 by 8x8  8000x16 by 16x16  2000x32 by 32x32  8000x32 by 32x32  8000x96 by 96x96
    float32  as one                21                59                47               193              1515
             in blocks             21                38                36               150              1303
    float64  as one                20               136               105               424              3436
             in blocks             20                78                74               300              2717

    A transposed second matrix is packed first, since OpenBLAS reads it slowly for each block (8000x96 by 96x96 of float32:
    2,900, and 1,290 when packed). The blocks depend on shapes and strides alone, so that no bit depends on the number
    of threads.
"""

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy, memset

from stride0._core.memory.dtype cimport FLOAT32, FLOAT64, DType, is_stored, itemsize_at, letter_at
from stride0._core.plan.threads cimport run_chunks, run_equal_chunks
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.table cimport TABLE
from stride0._core.plan.partition cimport LONG_RUN, chunks_for, threads_for
from stride0._core.array.array cimport Array, data_of, guard_gradient, new_array, shape_tuple, swapped_matrix, view_of
from stride0._core.array.views cimport c_strides_of
from stride0._core.ops.copy cimport copy_array

from stride0._core.array.views import without_broadcast_axes

cdef enum:
    FEW_PRODUCTS = 256      # multiplications altogether, or
    TINY_PRODUCT = 64       # of each matrix of a stack
    LONG_SUM = 16           # inner elements from which a product of integers by
    FEW_COLUMNS = 4         # fewer columns is a reduction
    ALONE = 1 << 18         # multiplications of a product for which BLAS has one thread
    GEMM_BLOCK = 1 << 16    # multiplications of a block of rows, if the rows of both matrices have at most
    THIN = 100              # elements; a block has at least
    LEAST_ROWS = 32         # rows
    MOST_CALLERS = 64       # threads for which OpenBLAS has buffers, in NumPy's builds

cdef enum:                  # of the interface to BLAS in C
    BY_ROWS = 101
    AS_IT_IS = 111
    TRANSPOSED = 112

ctypedef void (*Gemm32)(int order, int a_how, int b_how, int64_t m, int64_t p, int64_t n, float alpha, const char* a, int64_t a_step, const char* b, int64_t b_step, float beta, char* c, int64_t c_step) noexcept nogil

ctypedef void (*Gemm64)(int order, int a_how, int b_how, int64_t m, int64_t p, int64_t n, double alpha, const char* a, int64_t a_step, const char* b, int64_t b_step, double beta, char* c, int64_t c_step) noexcept nogil


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

cdef extern from "Python.h":
    object PyContext_Copy(object context)
    int PyContext_Enter(object context) except -1
    int PyContext_Exit(object context) except -1

# Set by `calls/linear_algebra`, a higher layer.
cdef object load_blas = None

# The objects that it loads: NumPy's array type, its matmul, its dtypes by our codes, and a context without warnings.
cdef object np_array = None
cdef object np_matmul = None
cdef tuple np_dtypes = ()
cdef object np_quiet = None

# The products of float32 and float64 in NumPy's BLAS, where they were found: Note [Calls of BLAS].
cdef Gemm32 gemm32 = NULL
cdef Gemm64 gemm64 = NULL


def set_blas(load):
    """
    Set the function that loads NumPy and its BLAS.

    Parameters
    ----------
    load : callable
        Called on first use; returns the objects of NumPy that the core calls.
    """
    global load_blas, np_array
    load_blas, np_array = load, None


cdef object as_ndarray(Array x):
    return np_array(shape_tuple(x), np_dtypes[x.code], x)


cdef int ask_for_blas() except -1:
    global np_array, np_matmul, np_dtypes, np_quiet, gemm32, gemm64
    np_matmul, np_dtypes, np_quiet, (single, double_), np_array = load_blas()
    gemm32, gemm64 = <Gemm32><uintptr_t>single, <Gemm64><uintptr_t>double_
    return 0


cdef int by_blas(Array x1, Array x2, Array out, Product* product) except -1:
    """Multiply matrices in C order, of one dtype, into a third array."""
    if np_array is None:
        ask_for_blas()
    in_c_order(product, itemsize_at(x1.code))
    product.left, product.right, product.out, product.code = data_of(x1), data_of(x2), data_of(out), x1.code
    if is_for_gemm(product):
        call_blas(product)
        return 0
    if product.count == 1:
        x1, x2 = as_matrix(x1, product.m, product.n), as_matrix(x2, product.n, product.p)
        out = as_matrix(out, product.m, product.p)
    a, b, c = as_ndarray(x1), as_ndarray(x2), as_ndarray(out)
    # A context can be entered by one thread at a time; a copy costs next to nothing.
    context = PyContext_Copy(np_quiet)
    PyContext_Enter(context)
    try:
        np_matmul(a, b, c)
    finally:
        PyContext_Exit(context)
    return 0


cdef bint is_for_blas(const Product* product, int code) noexcept:
    """Whether BLAS makes a product of matrices in C order, which is not ours; others are decided in `calls/linear_algebra`."""
    cdef bint floating = letter_at(code) == c"f" and not is_stored(code)
    if load_blas is None or not (floating or letter_at(code) == c"c"):
        return False
    if product.n < 2 or product.count * product.m * product.p == 1:
        return False
    return floating or (product.count == 1 and product.m * product.n * product.p > FEW_PRODUCTS)


cdef void in_c_order(Product* product, Py_ssize_t size) noexcept nogil:
    product.strides1[2] = product.strides2[2] = size
    product.strides1[1], product.strides2[1] = product.n * size, product.p * size
    product.strides1[0], product.strides2[0] = product.m * product.strides1[1], product.n * product.strides2[1]


cdef Py_ssize_t rows_of_block(const Product* product) noexcept nogil:
    cdef Py_ssize_t each = product.n * product.p
    if product.n > THIN or product.p > THIN:
        return product.m
    return min(product.m, max(8, min(max(LEAST_ROWS, GEMM_BLOCK // each), ALONE // each) // 8 * 8))


cdef bint is_for_gemm(const Product* product) noexcept nogil:
    """Note [Calls of BLAS]: whether gemm was found and computes this product."""
    if (gemm32 is NULL or product.code != FLOAT32) and (gemm64 is NULL or product.code != FLOAT64):
        return False
    if min(product.m, product.n, product.p) < 2:
        return False
    if product.left == product.right and product.m == product.p:
        if product.strides1[1] == product.strides2[2] and product.strides1[2] == product.strides2[1]:
            return False
    return True


cdef int call_blas(Product* product) except -1:
    cdef int threads = 1
    cdef int64_t work = time_of(product)
    cdef bint done
    product.rows = rows_of_block(product)
    product.blocks = (product.m + product.rows - 1) // product.rows
    with nogil:
        if product.rows * product.n * product.p <= ALONE:
            threads = min(threads_for(work), <int>MOST_CALLERS)
        done = run_equal_chunks(call_for_some, product, &product.matrices, product.count * product.blocks, chunks_for(work, threads), threads)
    return 0 if done else -1  # with the exception of a signal handler


cdef void call_for_some(void* context, int chunk) noexcept nogil:
    """A chunk of the calls, for matrices with contiguous rows or contiguous columns."""
    cdef const Product* whole = <const Product*>context
    cdef Py_ssize_t size = itemsize_at(whole.code), first = chunk * whole.matrices, k, matrix, row, m
    cdef bint transposed1 = whole.strides1[2] != size, transposed2 = whole.strides2[2] != size
    cdef int how1 = TRANSPOSED if transposed1 else AS_IT_IS, how2 = TRANSPOSED if transposed2 else AS_IT_IS
    cdef Py_ssize_t leading1 = whole.strides1[2 if transposed1 else 1] // size, leading2 = whole.strides2[2 if transposed2 else 1] // size
    cdef const char* a
    cdef const char* b
    cdef char* c
    for k in range(first, min(first + whole.matrices, whole.count * whole.blocks)):
        matrix, row = k // whole.blocks, k % whole.blocks * whole.rows
        m = min(whole.rows, whole.m - row)
        a = whole.left + matrix * whole.strides1[0] + row * whole.strides1[1]
        b = whole.right + matrix * whole.strides2[0]
        c = whole.out + (matrix * whole.m + row) * whole.p * size
        if whole.code == FLOAT32:
            gemm32(BY_ROWS, how1, how2, m, whole.p, whole.n, 1, a, leading1, b, leading2, 0, c, whole.p)
        else:
            gemm64(BY_ROWS, how1, how2, m, whole.p, whole.n, 1, a, leading1, b, leading2, 0, c, whole.p)


def multiply_by_blas(Array x1 not None, Array x2 not None, Array out not None):
    """
    Multiply stacks of matrices by functions of BLAS: Note [Calls of BLAS].

    Parameters
    ----------
    x1, x2 : Array
        Shapes ([L,] M, K) and ([L,] K, N), where either L may be 1, of one dtype. One of the last two axes of each has
        stride 1, and the other one a stride not less than the size of the first.
    out : Array
        Of shape ([L,] M, N), in C order.

    Returns
    -------
    bool
        Whether the product was computed. If not, `out` is unchanged.
    """
    cdef Product product
    cdef int lead = x1.ndim - 2
    if lead > 1:
        return False
    if np_array is None:
        ask_for_blas()
    product.code, product.count = x1.code, out.shape_[0] if lead else 1
    product.m, product.n, product.p = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1]
    matrix_strides(product.strides1, x1)
    matrix_strides(product.strides2, x2)
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    if not is_for_gemm(&product):
        return False
    if rows_of_block(&product) < product.m:
        x2 = as_operand(x2, x2.code, True)
        matrix_strides(product.strides2, x2)
        product.right = data_of(x2)
    call_blas(&product)
    return True


cdef void matrix_strides(Py_ssize_t* strides, Array x) noexcept:
    """The strides of a matrix, or of a stack with one leading axis: 0 along that if its size is 1."""
    strides[0] = x.strides_[0] if x.ndim == 3 and x.shape_[0] > 1 else 0
    strides[1], strides[2] = x.strides_[x.ndim - 2], x.strides_[x.ndim - 1]


cdef Array as_matrix(Array x, Py_ssize_t rows, Py_ssize_t columns):
    """A view of an array in C order."""
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    if x.ndim == 2 and x.shape_[1] == columns:
        return x
    shape[0], shape[1] = rows, columns
    c_strides_of(itemsize_at(x.code), 2, shape, strides)
    return view_of(x, data_of(x), 2, shape, strides)


cdef int64_t time_of(const Product* product) noexcept nogil:
    """A rough estimate of its time on one thread, in nanoseconds."""
    cdef int64_t work = product.count * product.m * product.n * product.p
    if product.m * product.n * product.p <= FEW_PRODUCTS:
        return work // 4
    return work // (8 if product.p == 1 else 128 // itemsize_at(product.code))


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


cdef Array as_operand(Array x, int code, bint in_rows):
    """A stack of matrices of a dtype; copied if needed, along broadcast axes only once."""
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int axis, last = x.ndim - 1
    cdef Array base
    if x.code == code and (not in_rows or x.shape_[last] == 1 or x.strides_[last] == itemsize_at(code)):
        return x
    base = without_broadcast_axes(x, tuple(range(x.ndim - 2)))
    base = copy_array(base, code, True)
    for axis in range(x.ndim):
        strides[axis] = base.strides_[axis] if base.shape_[axis] == x.shape_[axis] else 0
    return view_of(base, data_of(base), x.ndim, x.shape_, strides)


def own_product(Array x1 not None, Array x2 not None, DType dtype not None):
    """
    The products of two stacks of matrices, if kernels of our own compute them: Note [Products of our own].

    Parameters
    ----------
    x1, x2 : Array
        Shapes (..., M, K) and (..., K, N), with the same leading axes; no size is 0.
    dtype : DType
        The dtype to which theirs promote.

    Returns
    -------
    Array or None
        New array in C order, or None where another algorithm is faster.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int axis, lead = x1.ndim - 2, code = dtype.code
    cdef Py_ssize_t size = itemsize_at(code), outer = 1, k
    guard_gradient(x1, "matmul")
    guard_gradient(x2, "matmul")
    product.m, product.n, product.p = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1]
    product.count = x1.shape_[lead - 1] if lead else 1
    for axis in range(lead - 1):
        outer *= x1.shape_[axis]
    product.count *= outer
    if not of_our_own(&product, code):
        return None
    if product.p == 1 and letter_at(code) == c"f" and product.n >= SHORT_SUM:
        # BLAS reads a matrix without contiguous rows faster.
        if x1.code != code or x1.strides_[lead + 1] != size:
            return None
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
