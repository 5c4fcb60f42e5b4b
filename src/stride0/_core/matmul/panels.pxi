# Products of real and complex matrices in panels (`real_products.h`).
#
# Note [Products in panels]
#     Products of floating-point matrices, instead of BLAS gemm and syrk. Each element of a product is defined as follows. The
#     terms of a sum are added in blocks of SUM_TERMS: in order from -0.0, each by a fused multiply-add. The sums
#     of the blocks are added in order. Every path below computes this definition, so that no bit depends on the layout of
#     the operands, on the instruction set, on the number of threads, or on a threshold. The error of a sum of n
#     terms is at most (256 + n / 256) units of roundoff times the sum of magnitudes. In a plain loop it is at most n units.
#
#     For complex matrices, each block has four sums: of products of real parts with real parts (RR), of imaginary parts with
#     imaginary parts (II), and RI and IR. The block adds RR - II to the real part and RI + IR to the imaginary part. The
#     definition is symmetric: a matrix times its conjugate transpose is exactly Hermitian. The real kernels compute it:
#     the parts of a left row are two rows, and their sums are joined when they leave the registers.
#
#     A tile of a product has 8 rows (AVX-512) or 4 rows, and as many columns as three vectors. Its sums stay in registers. A term
#     takes three loads from the right matrix, and for each row one broadcast load from the left matrix. There are two paths:
#
#     * `run_panels` follows Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008), and BLIS. Both
#       operands are copied to panels as wide as a tile, SUM_TERMS terms at a time. A panel of the right matrix stays in L1,
#       and PANEL_ROWS rows of the left matrix stay in L2. Threads share the copying, then the tiles, never a sum. If a
#       matrix is multiplied by its own transpose, only tiles on and above the diagonal are computed; `mirror` copies them.
#     * `is_direct`: small products, and products of few rows or few columns, are computed without copies of the operands. Threads
#       share matrices of a stack, rows, or the columns of a result with few rows.
#
#     If the processor has no fused multiply-add (before 2013), additions and products replace it, with the same bits:
#     1000x1000 matrices take 1.2 s in float32 and 5.6 s in float64, which is 17 and 36 times the time of BLAS.
#
#     Speed as a multiple of the speed of NumPy (OpenBLAS, which uses AVX2 on this processor), one thread, float64 and float32, on a
#     busy AMD EPYC of the fifth generation. If OpenBLAS is told to use AVX-512, the geometric means of 25 shapes are 1.3 and 1.1,
#     and the lowest ratio is 0.93.
#
#                       64x64      128x128    500x500    1000x1000  2048x2048  2000x2000 by 2000x100  100x2000 by 2000x2000
#     AVX-512           2.4, 2.1   2.0, 2.0   1.7, 1.9   2.0, 1.7   1.8, 1.8   1.6, 1.4               2.2, 1.4
#     AVX2              1.2, 1.2   1.1, 1.0   1.0, 1.0   1.0, 1.0   1.0, 1.0   1.0, 0.9               1.0, 0.9
#
#     On two threads, 20 shapes from 64 to 2000, in a process for each library: geometric means 3.0 and 7.1 with AVX-512, 1.3 and
#     3.6 with AVX2. NumPy's times include waits of OpenBLAS's threads for a processor.
#
#     Complex products on one thread, 26 shapes from 64 to 2048, square, tall, wide, transposed, complex128 and complex64: geometric
#     means 1.00 and 0.99 with AVX2 (lowest ratios 0.89 and 0.81), 1.8 and 1.9 with AVX-512.

ctypedef fused Real:
    float
    double

cdef enum:
    CACHE_LINE = 64             # bytes
    CHECKED_PRODUCTS = 1 << 29  # multiplications between two checks for signals, at most 30 ms on one thread


cdef bint is_by_own_transpose(const Product* product) noexcept nogil:
    return product.left == product.right and product.m == product.p and (
        product.count == 1 or product.strides1[0] == product.strides2[0]) and (
        product.strides1[1] == product.strides2[2] and product.strides1[2] == product.strides2[1])


cdef void mirror_result(const Product* product, char* c) noexcept nogil:
    """Copy the upper triangle of a product of real matrices to the lower triangle."""
    if product.code == FLOAT32:
        mirror(<float*>c, product.p)
    else:
        mirror(<double*>c, product.p)


cdef void mirror(Real* c, Py_ssize_t p) noexcept nogil:
    """Copy the upper triangle of a p x p matrix to the lower one. Each step reads one cache line of a row, and writes its elements to as many rows."""
    cdef Py_ssize_t side = CACHE_LINE // <Py_ssize_t>sizeof(Real), band, i, j
    for band in range((p + side - 1) // side):
        for i in range(min(band * side + side, p)):
            for j in range(max(band * side, i + 1), min(band * side + side, p)):
                c[j * p + i] = c[i * p + j]


cdef Py_ssize_t parts_of(int code) noexcept nogil:
    """The real numbers of an element."""
    return 2 if letter_at(code) == c"c" else 1


cdef bint is_direct(const Product* product) noexcept nogil:
    """Whether packing the operands of a product takes longer than it saves."""
    cdef Py_ssize_t parts = parts_of(product.code)
    return (
        product.m * product.n * product.p * itemsize_at(product.code) <= 8 * parts * tuning.direct_products
        or product.p * parts <= tuning.direct_columns or product.m <= (tuning.direct_rows if parts == 1 else tuning.direct_complex_rows))


cdef void pack_some(void* context, int chunk) noexcept nogil:
    cdef const Panels* whole = <const Panels*>context
    TABLE.pack_panels[whole.code - FLOAT32](&whole.block, chunk * whole.each, min((chunk + 1) * whole.each, whole.units))


cdef void multiply_some(void* context, int chunk) noexcept nogil:
    cdef const Panels* whole = <const Panels*>context
    TABLE.multiply_panels[whole.code - FLOAT32](&whole.block, chunk * whole.each, min((chunk + 1) * whole.each, whole.units))


cdef bint run_units(s0_chunk body, Panels* whole, Py_ssize_t units, int64_t work) noexcept nogil:
    cdef int threads
    whole.units = units
    if whole.alone:
        whole.each = units
        body(whole, 0)
        return True
    threads = threads_for(work)
    return run_equal_chunks(body, whole, &whole.each, units, min(chunks_for(work, threads), units), threads)


cdef Py_ssize_t even_side(Py_ssize_t size, Py_ssize_t multiple) noexcept nogil:
    """The size of blocks, about equal and of at most panel_side, of whole multiples."""
    cdef Py_ssize_t blocks = (size + tuning.panel_side - 1) // tuning.panel_side
    return ((size + blocks - 1) // blocks + multiple - 1) // multiple * multiple


cdef Py_ssize_t columns_of_panel(int code) noexcept nogil:
    """The columns of a panel, in real numbers."""
    return PANEL_VECTORS * TABLE.vector * parts_of(code) // itemsize_at(code)


cdef Py_ssize_t panel_bytes(int code, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p) noexcept nogil:
    """The size of the memory that `compute_panels` needs, for a product of these sizes or of smaller ones."""
    cdef Py_ssize_t parts = parts_of(code), most = tuning.panel_side, side = min(m, most) * parts + min(p * parts, most) + PANEL_ROWS + columns_of_panel(code)
    return side * min(n, <Py_ssize_t>SUM_TERMS) * itemsize_at(code) // parts


cdef int compute_panels(Panels* whole, const Product* product) except -1 nogil:
    """Compute each product a block at a time: threads pack its operands, then share its tiles. Columns are counted in real numbers."""
    cdef s0_panels* block = &whole.block
    cdef Py_ssize_t parts = parts_of(product.code), size = itemsize_at(product.code) // parts, columns = product.p * parts
    cdef Py_ssize_t group = PANEL_ROWS // parts, broad = columns_of_panel(product.code), matrix, i, j, k, panels, rows
    cdef Py_ssize_t height = even_side(product.m, group), width = even_side(columns, broad)
    whole.code = product.code
    block.left_strides[0], block.left_strides[1] = product.strides1[1], product.strides1[2]
    block.right_strides[0], block.right_strides[1] = product.strides2[1], product.strides2[2]
    for matrix in range(product.count):
        for j from 0 <= j < columns by width:
            for k from 0 <= k < product.n by SUM_TERMS:
                for i from 0 <= i < (min(product.m, (j + width) // parts) if whole.upper else product.m) by height:
                    block.left = product.left + matrix * product.strides1[0] + i * product.strides1[1] + k * product.strides1[2]
                    block.right = product.right + matrix * product.strides2[0] + k * product.strides2[1] + j // parts * product.strides2[2]
                    block.out = product.out + (matrix * product.m + i) * block.pitch + j * size
                    block.m, block.n, block.p = min(height, product.m - i), min(<Py_ssize_t>SUM_TERMS, product.n - k), min(width, columns - j)
                    block.below, block.fresh = i * parts - j if whole.upper else -product.m * parts - columns, k == 0 and not block.negates & NEGATES_REAL
                    panels, rows = (block.p + broad - 1) // broad, (block.m + group - 1) // group
                    if not run_units(pack_some, whole, panels + rows, (block.m * parts + block.p) * block.n * size // 16):
                        return -1    # with the exception of a signal handler
                    if not run_units(
                        multiply_some, whole, rows * ((panels + PANELS_TOGETHER - 1) // PANELS_TOGETHER),
                        block.m * parts * block.p * block.n * size // (256 if whole.upper else 128)):
                        return -1
                    # A block is too short for the pool to check for signals.
                    whole.unchecked += block.m * parts * block.n * block.p
                    if whole.unchecked >= CHECKED_PRODUCTS and not whole.alone:
                        whole.unchecked = 0
                        with gil:
                            PyErr_CheckSignals()
    return 0


cdef int run_panels(Product* product) except -1:
    cdef Panels whole
    cdef Py_ssize_t bytes = panel_bytes(product.code, product.m, product.n, product.p) + ALIGNMENT, k
    cdef Array memory = new_array(UINT8, 1, &bytes, NULL, False)
    memset(&whole, 0, sizeof(whole))
    whole.block.memory, whole.block.pitch, whole.block.terms = aligned(data_of(memory)), product.p * itemsize_at(product.code), SUM_TERMS
    whole.upper = parts_of(product.code) == 1 and is_by_own_transpose(product)
    with nogil:
        compute_panels(&whole, product)
        if whole.upper:
            for k in range(product.count):
                mirror_result(product, product.out + k * product.m * whole.block.pitch)
    return 0


cdef int panel_product(
        Panels* whole, const double* left, Py_ssize_t down, Py_ssize_t across, const double* right, Py_ssize_t line,
        double* out, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p, bint subtracts, bint conjugate) except -1 nogil:
    """
    Write the product of an m x n matrix and a matrix of n rows to `out`, or subtract the product. If `conjugate`, use the conjugate of `left`.

    Strides count numbers, and a row of the result has `p` numbers. Rows are contiguous, except rows of the left matrix. `whole` is zero,
    except for `code`, `block.memory`, `block.terms`, and its options.
    """
    cdef Product product
    cdef Py_ssize_t size = sizeof(double), parts = parts_of(whole.code)
    if m == 0 or n == 0 or p == 0:
        return 0
    product.code, product.count, product.m, product.n, product.p = whole.code, 1, m, n, p // parts
    product.left, product.right, product.out = <const char*>left, <const char*>right, <char*>out
    product.strides1[0], product.strides1[1], product.strides1[2] = 0, down * size, across * size
    product.strides2[0], product.strides2[1], product.strides2[2] = 0, line * size, parts * size
    whole.block.negates = NEGATES_REAL | NEGATES_IMAGINARY if subtracts else 0
    if conjugate and parts == 2:
        whole.block.negates ^= NEGATES_IMAGINARY
    whole.block.pitch = pitch * size
    return compute_panels(whole, &product)
