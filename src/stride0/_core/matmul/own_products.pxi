# Products by kernels, and by vectors (`products.h`, `panels.h`, `vector_products.h`).
#
# Note [Products by vectors]
#     Floating-point matrix-vector, vector-matrix and dot products of LONG_TERMS terms or more. Each element is
#     defined as follows. The terms are added in blocks of BLOCK_FLOATS or BLOCK_DOUBLES numbers (half as many complex ones). In a
#     block, 16 or 8 accumulators (64 bytes) begin with -0.0. Term k is added to accumulator k modulo their number. The
#     second half of the accumulators is added to the first half until one is left. The blocks are added in float64, in order, and
#     the total is rounded once. Products of real numbers are rounded before they are added. A complex number fills two
#     accumulators, of products of equal and of different parts, which are added by fused multiply-add and joined for each block.
#
#     The definition fits contiguous rows, whose vectors are added directly, and contiguous columns, whose vectors hold elements of
#     several results. So no bit depends on the layout, on the instruction set or on threads. Matrices without contiguous rows or
#     columns, and vectors with gaps, are copied first. Threads share rows, or the blocks of a few long rows.
#
#     Speed as a multiple of NumPy's OpenBLAS, one thread, a busy AMD EPYC of the fifth generation: AVX2, AVX-512 for
#     contiguous rows; the same for contiguous columns:
#
#                         100x100              300x300              1000x1000              8x7680              dot of 10^5  2000x64 (columns)
#     float32             0.9, 0.9; 1.0, 1.1   0.9, 1.1; 0.8, 0.9   0.9, 0.9; 0.8, 0.9     1.1, 1.3; 1.3, 1.0  0.95, 0.95   0.7, 0.8
#     float64             1.1, 1.3; 1.0, 1.1   1.2, 1.1; 0.85, 0.9  1.0, 1.1; 0.9, 0.9     1.1, 1.3; 1.7, 2.2  1.1, 1.0     0.8, 0.95
#     complex128          1.0, 1.1; 1.0, 1.1   0.95, 1.0; 0.8, 1.0  1.0, 0.8; 0.8, 0.9     0.9, 1.0; 0.8, 0.8  0.6, 0.8     0.7, 0.9

cdef enum:
    FEW_ROWS = 8        # at most, for threads to share the blocks of their sums
    WIDE_COLUMNS = 48   # a multiple of three vectors, whatever they hold


cdef void run_product(void* context, int chunk) noexcept nogil:
    """A chunk: some matrices, or some rows or some columns of each matrix."""
    cdef Product* whole = <Product*>context
    cdef Py_ssize_t size = itemsize_at(whole.code), row = chunk * whole.rows, column = chunk * whole.columns, k
    cdef int status = 0
    if whole.matrices:
        k = chunk * whole.matrices
        status = run_part(whole, k, min(whole.matrices, whole.count - k), 0, whole.m, 0, whole.p)
    else:
        for k in range(whole.count):
            if whole.columns:
                status |= run_part(whole, k, 1, 0, whole.m, column, min(whole.columns, whole.p - column))
            else:
                status |= run_part(whole, k, 1, row, min(whole.rows, whole.m - row), 0, whole.p)
    if status:
        s0_write_int(whole.failed, True)


cdef int run_part(
    const Product* whole, Py_ssize_t matrix, Py_ssize_t count, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t column, Py_ssize_t columns
) noexcept nogil:
    """Compute some rows or columns of `count` matrices by the kernel, or by the direct kernel of panels if there is no other one."""
    cdef Py_ssize_t size = itemsize_at(whole.code)
    cdef const char* left = whole.left + matrix * whole.strides1[0] + row * whole.strides1[1]
    cdef const char* right = whole.right + matrix * whole.strides2[0] + column * whole.strides2[2]
    cdef char* out = whole.out + ((matrix * whole.m + row) * whole.p + column) * size
    if whole.kernel is not NULL:
        return whole.kernel(left, whole.strides1, right, whole.strides2, out, count, rows, whole.n, columns)
    return TABLE.direct_products[whole.code - FLOAT32](
        left, whole.strides1, right, whole.strides2, out, count, rows, whole.n, columns, whole.p * size)


cdef int run_products(Product* product, int code, int algorithm) except -1:
    """Compute the products, on several threads if that is faster: partitioned between matrices, else between rows or columns."""
    cdef int64_t work
    cdef int threads
    cdef Py_ssize_t chunks
    cdef bint done = True
    product.code, product.failed = code, False
    if algorithm == PANELS and not is_direct(product):
        return run_panels(product)
    if algorithm == SHORT_DOT:
        return run_shared(dot_shortly, product, &product.matrices, product.count, product.count * product.n)
    product.kernel = NULL if algorithm == PANELS else TABLE.products[code]
    work = time_of(product)
    if algorithm == BY_VECTOR and product.count == 1 and product.m <= FEW_ROWS and product.n >= 2 * block_terms(code):
        if chunks_for(work, threads_for(work)) > 1:
            return run_blocks(product)
    product.matrices, product.rows, product.columns = product.count, 0, 0
    if not is_long_run(work):
        run_product(product, 0)
    else:
        with nogil:
            threads = threads_for(work)
            chunks = chunks_for(work, threads)
            if chunks > 1:
                # Elements are independent: any partition gives the same bits.
                if product.count >= chunks:
                    product.matrices = (product.count + chunks - 1) // chunks
                    chunks = (product.count + product.matrices - 1) // product.matrices
                elif product.kernel is NULL and product.m < min(8 * chunks, product.p):
                    product.matrices = 0
                    product.columns = ((product.p + chunks - 1) // chunks + WIDE_COLUMNS - 1) // WIDE_COLUMNS * WIDE_COLUMNS
                    chunks = (product.p + product.columns - 1) // product.columns
                else:
                    product.matrices = 0
                    product.rows = ((product.m + chunks - 1) // chunks + 7) // 8 * 8
                    chunks = (product.m + product.rows - 1) // product.rows
            done = run_chunks(run_product, product, chunks, threads, True)
    if not done:
        return -1  # with the exception of a signal handler
    if product.failed:
        raise MemoryError("matmul: no memory for the blocks of a product")
    return 0


cdef inline Py_ssize_t block_terms(int code) noexcept nogil:
    """The terms of a block: Note [Products by vectors]."""
    return (BLOCK_FLOATS if code == FLOAT32 or code == COMPLEX64 else BLOCK_DOUBLES) // parts_of(code)


cdef int run_blocks(Product* product) except -1:
    """Few long sums by a vector: threads share their blocks, which are then added in order. Compute each block as a product of its own."""
    cdef Product part = product[0]
    cdef Py_ssize_t terms = block_terms(product.code), row = product.m * itemsize_at(product.code), blocks = product.n // terms
    cdef Py_ssize_t rest = product.n - blocks * terms, each = product.m * parts_of(product.code), count = (blocks + (rest > 0)) * each
    cdef Array sums = new_array(FLOAT32 if terms * parts_of(product.code) == BLOCK_FLOATS else FLOAT64, 1, &count, NULL, False)
    part.count, part.n, part.out = blocks, terms, data_of(sums)
    part.strides1[0], part.strides2[0] = terms * product.strides1[2], terms * product.strides2[1]
    run_products(&part, product.code, BY_VECTOR)
    if rest:
        part.count, part.n, part.out = 1, rest, part.out + blocks * row
        part.left, part.right = product.left + blocks * part.strides1[0], product.right + blocks * part.strides2[0]
        part.matrices = 1
        run_product(&part, 0)
    if sums.code == FLOAT32:
        add_blocks(<float*>product.out, <const float*>data_of(sums), each, count // each)
    else:
        add_blocks(<double*>product.out, <const double*>data_of(sums), each, count // each)
    return 0


cdef void add_blocks(Real* out, const Real* sums, Py_ssize_t each, Py_ssize_t blocks) noexcept:
    cdef Py_ssize_t k, j
    cdef double total
    for j in range(each):
        total = -0.0
        for k in range(blocks):
            total += sums[k * each + j]
        out[j] = <Real>total


cdef void dot_shortly(void* context, int chunk) noexcept nogil:
    cdef const Product* product = <const Product*>context
    cdef Py_ssize_t first = chunk * product.matrices, last = min(first + product.matrices, product.count)
    if product.code == FLOAT32:
        dot_in_double(product, <float*>product.out, first, last)
    else:
        dot_in_double(product, <double*>product.out, first, last)


cdef void dot_in_double(const Product* product, Real* out, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Dot products of real vectors, added in double, in order."""
    cdef Py_ssize_t k, j
    cdef double total
    for k in range(first, last):
        total = -0.0
        for j in range(product.n):
            total += <double>(<const Real*>(product.left + k * product.strides1[0] + j * product.strides1[2]))[0] * (
                <const Real*>(product.right + k * product.strides2[0] + j * product.strides2[1]))[0]
        out[k] = <Real>total


cdef Array own_product(Array x1, Array x2, int code, int algorithm):
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
    x1, x2 = as_operand(x1, code, False), as_operand(x2, code, False)
    if algorithm == BY_VECTOR:
        if x2.strides_[lead] != size:
            x2 = swapped_matrix(as_operand(swapped_matrix(x2), code, True))
        if x1.strides_[lead + 1] != size and (product.m == 1 or x1.strides_[lead] != size):
            x1 = packed(x1, code)
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
        run_products(&product, code, algorithm)
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
