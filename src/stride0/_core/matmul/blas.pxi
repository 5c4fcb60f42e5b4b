# Products of complex matrices by BLAS: by its functions, or by the loops of NumPy's `matmul`, which call it.
#
# Note [Calls of BLAS]
#     Products of complex matrices. If the functions of NumPy's BLAS are found, this file calls gemm. Otherwise, and for products
#     with a single row or column and a matrix times its own transpose, the loops of `numpy.matmul` choose the function of
#     BLAS (Note [Loops of NumPy]). Real products never call BLAS: Note [Products in panels].
#
#     OpenBLAS uses one thread for up to blas_alone_products / 4 complex multiplications. NumPy multiplies the matrices of a
#     stack in turn; here the threads of the pool share the stack.
#
#     OpenBLAS copies operands of large products to buffers, which is slow if little is computed per element, and
#     uses threads of its own, which wait for each other in loops. If other threads run as well, such as the threads of a second
#     OpenBLAS in SciPy, the product takes several times as long. So some large products are split into small calls:
#
#     * If the second matrix has at most blas_thin_elements elements, the first matrix is split into blocks of rows: about
#       blas_thin_products multiplications and at least blas_thin_rows rows, but at most 2 blas_alone_products multiplications.
#       A transposed second matrix is packed first, since OpenBLAS reads it slowly for each block.
#     * Other products of up to blas_shared_products multiplications are split into blocks of rows, too; BLAS computes each block
#       on one thread (Note [One thread of BLAS]). In single precision a transposed second matrix is packed first.
#     * Sums of at least blas_sum_elements elements are split into parts if the result has at most blas_sum_side rows and
#       columns. Each part has a buffer of its own. The buffers are added in order.
#
#     Blocks and parts depend only on shapes and strides, so that no bit depends on the number of threads.
#
# Note [One thread of BLAS]
#     The threads of OpenBLAS wait for each other in loops, after each step of a decomposition that is long enough for several
#     threads (a matrix by a vector from 10^4 elements on). On busy processors each step may cost a time slice: on two busy
#     processors, `eigh` of a 40x40 matrix took 90 ms with OpenBLAS's threads and 1 ms on one thread. So LAPACK computes
#     matrices of few rows or few columns on the calling thread. `begin_alone` sets the number of OpenBLAS's threads to 1;
#     `end_alone` restores it unless other code has changed it. The number is global to the process, so that NumPy calls in
#     other threads run on one thread meanwhile. Threads of the pool may share a stack of such matrices.


cdef enum:                  # of the interface to BLAS in C
    BY_ROWS = 101
    AS_IT_IS = 111
    TRANSPOSED = 112
    CACHE_LINE = 64         # bytes

ctypedef void (*GemmComplex)(int order, int a_how, int b_how, int64_t m, int64_t p, int64_t n, const void* alpha, const char* a, int64_t a_step, const char* b, int64_t b_step, const void* beta, char* c, int64_t c_step) noexcept nogil

ctypedef fused Real:
    float
    double

ctypedef int (*CountThreads)() noexcept nogil

ctypedef void (*LimitThreads)(int threads) noexcept nogil

cdef s0_lock loading_blas = 0
cdef bint has_blas = False

cdef object load_blas = functions_of_blas

# The products in NumPy's BLAS, where they were found: Note [Calls of BLAS].
cdef GemmComplex gemm_complex64 = NULL
cdef GemmComplex gemm_complex128 = NULL

# Note [One thread of BLAS]: the calls that compute alone now, and the threads that there are otherwise.
cdef CountThreads count_threads = NULL
cdef LimitThreads limit_threads = NULL
cdef int alone = 0
cdef int usual_threads = 1


def set_blas(load):
    """
    Replace the function that loads NumPy and its BLAS. For tests.

    Parameters
    ----------
    load : callable
        Called on first use; returns the addresses of gemm for complex64 and complex128, and of the functions that return and set
        the number of threads, or zeros.
    """
    global load_blas, has_blas
    load_blas, has_blas = load, False


cdef int ask_for_blas() except -1:
    global gemm_complex64, gemm_complex128, count_threads, limit_threads, has_blas
    single, double_, count, limit = load_blas()
    # Of several threads that ask at once, the first one sets them: what is set is never replaced, as others read it.
    s0_acquire(&loading_blas)
    if not has_blas:
        gemm_complex64, gemm_complex128 = <GemmComplex><uintptr_t>single, <GemmComplex><uintptr_t>double_
        if count and limit:
            count_threads, limit_threads = <CountThreads><uintptr_t>count, <LimitThreads><uintptr_t>limit
        s0_write_int(has_blas, True)
    s0_leave(&loading_blas)
    return 0


cdef bint begin_alone() except -1:
    """
    Have BLAS compute on the threads that call it, until `end_alone`: Note [One thread of BLAS].

    False, with nothing to end, where it is not known how.
    """
    global alone, usual_threads
    if not s0_read_int(has_blas):
        ask_for_blas()
    if limit_threads is NULL:
        return False
    s0_acquire(&loading_blas)
    if alone == 0:
        usual_threads = count_threads()
        if usual_threads > 1:
            limit_threads(1)
    alone += 1
    s0_leave(&loading_blas)
    return True


cdef void end_alone() noexcept:
    global alone
    s0_acquire(&loading_blas)
    # 0 where a signal handler has forked meanwhile, in the child.
    if alone:
        alone -= 1
        if alone == 0:
            restore_threads()
    s0_leave(&loading_blas)


cdef void restore_threads() noexcept:
    if usual_threads > 1 and count_threads() == 1:
        limit_threads(usual_threads)


def forget_other_threads():
    """In a forked process, which has the thread that forked only."""
    global alone
    s0_leave(&loading_blas)
    if alone:
        alone = 0
        restore_threads()


cdef void split(Product* product) noexcept nogil:
    """Choose how many rows, and how many terms of each sum, one call of BLAS computes; by shapes and strides only: Note [Calls of BLAS]."""
    cdef Py_ssize_t m = product.m, n = product.n, p = product.p
    # Blocks are for BLAS on one thread anyway.
    cdef Py_ssize_t most = 2 * tuning.blas_alone_products
    cdef bint is_long = False
    product.rows, product.length, product.step = m, n, n
    if n * p <= tuning.blas_thin_elements:
        product.rows = min(m, max(8, min(max(tuning.blas_thin_rows, tuning.blas_thin_products // (n * p)), most // (n * p)) // 8 * 8))
    elif n >= tuning.blas_sum_elements and p <= tuning.blas_sum_side and m <= tuning.blas_sum_side and m * n * p > tuning.blas_alone_products:
        is_long = True
        product.rows = min(m, tuning.blas_sum_rows)
    elif limit_threads is not NULL and tuning.blas_alone_products < m * n * p <= tuning.blas_shared_products:
        # As many blocks as a power of two: for any such number of threads.
        product.blocks = 1
        while product.blocks < tuning.blas_shared_blocks and 2 * product.blocks * tuning.blas_shared_rows <= m:
            product.blocks *= 2
        product.rows = (m + product.blocks - 1) // product.blocks
    product.blocks = (m + product.rows - 1) // product.rows
    if product.blocks > 1:
        # Of about the same size, and of whole vectors.
        product.rows = ((m + product.blocks - 1) // product.blocks + 7) // 8 * 8
        product.blocks = (m + product.rows - 1) // product.rows
    if is_long:
        product.step = min(tuning.blas_sum_step_elements, tuning.blas_alone_products // (product.rows * p) // 8 * 8)
        product.length = max(tuning.blas_sum_part_steps * product.step, ((n + tuning.blas_sum_parts - 1) // tuning.blas_sum_parts + product.step - 1) // product.step * product.step)
    product.parts = (n + product.length - 1) // product.length


cdef bint is_known(const Product* product) noexcept nogil:
    """Note [Calls of BLAS]: whether the function of BLAS that computes this product was found."""
    if min(product.m, product.n, product.p) < 2 or is_by_own_transpose(product):
        return False
    if product.code == COMPLEX64:
        return gemm_complex64 is not NULL
    return product.code != FLOAT32 and product.code != FLOAT64 and gemm_complex128 is not NULL


cdef int call_blas(Product* product) except -1:
    cdef Product one = product[0]
    cdef Py_ssize_t each = one.m * one.p * itemsize_at(one.code), k
    if product.parts == 1:
        return call_in_chunks(product)
    one.count = 1
    one.sums = <char*>malloc(one.parts * each)
    if one.sums is NULL:
        raise MemoryError("matmul: no memory for partial sums")
    try:
        for k in range(product.count):
            one.left, one.right = product.left + k * product.strides1[0], product.right + k * product.strides2[0]
            one.out = product.out + k * each
            call_in_chunks(&one)
            if one.code == COMPLEX64:
                add_parts(<float*>one.out, <float*>one.sums, each // <int>sizeof(float), one.parts)
            else:
                add_parts(<double*>one.out, <double*>one.sums, each // <int>sizeof(double), one.parts)
    finally:
        free(one.sums)
    return 0


cdef int call_in_chunks(Product* product) except -1:
    cdef int threads = 1
    cdef int64_t work = time_of(product)
    cdef Py_ssize_t calls = product.count * product.blocks * product.parts
    cdef bint done, is_small = product.rows * product.step * product.p <= tuning.blas_alone_products // 4
    cdef bint limited = not is_small and calls > 1 and begin_alone()
    with nogil:
        if is_small or limited:
            threads = min(threads_for(work), <int>MOST_CALLERS)
        done = run_equal_chunks(call_for_some, product, &product.matrices, calls, chunks_for(work, threads), threads)
    if limited:
        end_alone()
    return 0 if done else -1  # with the exception of a signal handler


cdef void call_for_some(void* context, int chunk) noexcept nogil:
    """A chunk of the calls, for matrices with contiguous rows or contiguous columns."""
    cdef const Product* whole = <const Product*>context
    cdef Py_ssize_t size = itemsize_at(whole.code), first = chunk * whole.matrices, k, matrix, row, m, part, at, end
    cdef bint transposed1 = whole.strides1[2] != size, transposed2 = whole.strides2[2] != size
    cdef int how1 = TRANSPOSED if transposed1 else AS_IT_IS, how2 = TRANSPOSED if transposed2 else AS_IT_IS
    cdef Py_ssize_t leading1 = whole.strides1[2 if transposed1 else 1] // size, leading2 = whole.strides2[2 if transposed2 else 1] // size
    cdef const char* a
    cdef const char* b
    cdef char* c
    for k in range(first, min(first + whole.matrices, whole.count * whole.blocks * whole.parts)):
        matrix, part, row = k // (whole.blocks * whole.parts), k // whole.blocks % whole.parts, k % whole.blocks * whole.rows
        m = min(whole.rows, whole.m - row)
        a = whole.left + matrix * whole.strides1[0] + row * whole.strides1[1]
        b = whole.right + matrix * whole.strides2[0]
        c = (whole.out + matrix * whole.m * whole.p * size if whole.parts == 1 else whole.sums + part * whole.m * whole.p * size) + row * whole.p * size
        end = min(part * whole.length + whole.length, whole.n)
        for at from part * whole.length <= at < end by whole.step:
            multiply(
                whole, how1, how2, m, min(whole.step, end - at), a + at * whole.strides1[2], leading1, b + at * whole.strides2[1], leading2,
                c, at > part * whole.length)


cdef inline void multiply(
    const Product* product, int how1, int how2, Py_ssize_t m, Py_ssize_t n, const char* a, Py_ssize_t leading1, const char* b,
    Py_ssize_t leading2, char* c, bint adds
) noexcept nogil:
    """One call of gemm, which adds to what is at `c`, or replaces it."""
    cdef float[2] one32 = [1, 0]
    cdef float[2] beta32 = [adds, 0]
    cdef double[2] one64 = [1, 0]
    cdef double[2] beta64 = [adds, 0]
    if product.code == COMPLEX64:
        gemm_complex64(BY_ROWS, how1, how2, m, product.p, n, one32, a, leading1, b, leading2, beta32, c, product.p)
    else:
        gemm_complex128(BY_ROWS, how1, how2, m, product.p, n, one64, a, leading1, b, leading2, beta64, c, product.p)


cdef void add_parts(Real* out, const Real* sums, Py_ssize_t size, Py_ssize_t parts) noexcept nogil:
    cdef Py_ssize_t part, i
    for i in range(size):
        out[i] = sums[i]
    for part in range(1, parts):
        for i in range(size):
            out[i] += sums[part * size + i]


cdef bint multiply_by_blas(Array x1, Array x2, Array out) except -1:
    """
    Multiply stacks of complex matrices by functions of BLAS, Note [Calls of BLAS], or return False.

    Their shapes are ([L,] M, K) and ([L,] K, N), where either L may be 1, their dtypes equal. One of the last two axes of
    each has stride 1, and the other one a stride not less than the size of the first. `out`, of shape ([L,] M, N), is in
    C order.
    """
    cdef Product product
    cdef int lead = x1.ndim - 2
    cdef bint is_single
    refuse_within_mode(<int>MATMUL)
    if lead > 1:
        return False
    if not s0_read_int(has_blas):
        ask_for_blas()
    product.code, product.count = x1.code, out.shape_[0] if lead else 1
    product.m, product.n, product.p = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1]
    matrix_strides(product.strides1, x1)
    matrix_strides(product.strides2, x2)
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    if not is_known(&product):
        return False
    split(&product)
    # Those of double precision are read as fast.
    is_single = product.code == COMPLEX64
    if product.rows < product.m and (product.n * product.p <= tuning.blas_thin_elements or (is_single and product.step == product.n)):
        x2 = as_operand(x2, x2.code, True)
        matrix_strides(product.strides2, x2)
        product.right = data_of(x2)
    call_blas(&product)
    return True
