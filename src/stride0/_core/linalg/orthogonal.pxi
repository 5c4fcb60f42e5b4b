# Orthogonal and upper triangular factors of matrices of any shape, in panels: by the kernels in `reflector_kernels.h`.
#
# Note [Reflectors in panels]
#     A panel of S0_PANEL_COLUMNS columns is eliminated by reflectors with the signs that LAPACK chooses. They are applied to all
#     other columns together, as I - V T V' with two products in panels (R. Schreiber, C. Van Loan, "A storage-efficient WY
#     representation for products of Householder transformations", 1989). T is not computed: the inverse of T has the products of
#     the reflectors above and 1 / tau on its diagonal (C. Puglisi, "Modification of the Householder method based on the compact
#     WY representation", 1992), so T' is applied by the kernel for triangular systems. In the same way, S0_NARROW_COLUMNS columns
#     of a panel are eliminated one by one, and applied to the rest of the panel together. The orthogonal factor is the product of
#     the panels' reflectors, from the last panel to the first, applied to columns of the identity.
#
#     Sums are as in Note [Blocked decompositions], in blocks of S0_BLOCK_ROWS terms. But norms, products of two reflectors, and
#     products with columns of a group of S0_NARROW_COLUMNS are added in 32 lanes, and the lanes in pairs. Panels depend only on
#     shapes. So no bit depends on the instruction set, on the number of threads, or on the layout of the operand. If squares would
#     overflow or underflow, a column is scaled by a power of 2. LAPACK factors matrices that are not finite, except within `reproducible`.
#
#     Speed as a multiple of the speed of NumPy and of PyTorch, one thread, square matrices, on a busy AMD EPYC of the fifth generation.
#     NumPy and stride0 use float64 for float32, PyTorch uses float32:
#
#                     n = 4       50         200        500        1000       1000 of 8x8
#     float64 AVX-512  8.3  2.8   1.9  1.8   2.2  2.3   3.2  2.6   2.0  1.8   1.5  1.0
#             AVX2                1.2  1.2   1.4  1.5   1.5  1.3   1.3  1.1
#     float32 AVX-512             1.8  1.4   2.0  1.6   2.3  1.3   2.2  1.1
#             AVX2                1.2  0.9   1.3  1.0   1.4  0.5   1.2  0.6

cdef enum:
    KERNEL_PRODUCTS = 1 << 17   # multiplications of a product that panels do not make faster

cdef struct Reflection:
    const char* a           # matrices of m x n, in any layout
    Py_ssize_t strides[3]
    double* q               # factors of m x kept and kept x n, in C order
    double* r
    Py_ssize_t m, n, kept
    int code
    Py_ssize_t count, each  # number of all matrices, and of the matrices in a chunk
    int no_memory


cdef Py_ssize_t reflection_bytes(const Reflection* all) noexcept nogil:
    cdef Py_ssize_t few = min(all.m, all.n), wide = max(all.n, all.kept), parts = parts_of(all.code)
    cdef Py_ssize_t numbers = (all.m + PANEL_COLUMNS) * padded(wide * parts) + few * (padded(all.m * parts) + PANEL_COLUMNS * parts)
    return numbers * DOUBLE + panel_bytes(all.code, all.m, all.m, max(wide, <Py_ssize_t>PANEL_COLUMNS)) + 2 * ALIGNMENT


cdef int apply_panel(Workspace* work, const s0_reflectors* panel, double* x, Py_ssize_t columns, bint inverse) except -1 nogil:
    """Apply the product of reflectors to columns, or its inverse: by one kernel, or by products in panels, which have the same bits."""
    cdef s0_triangle system
    cdef Py_ssize_t parts = work.parts
    if panel.m * panel.count * columns * parts <= KERNEL_PRODUCTS:
        work.steps.apply(panel, x, work.pitch, columns, inverse)
        return 0
    panel_product(
        &work.panels, panel.v, panel.line, parts, x, work.pitch, work.x, work.x_pitch, panel.count, panel.m, columns, False, True)
    system.a, system.down, system.across, system.n = panel.gram, PANEL_COLUMNS * parts, parts, panel.count
    system.unit, system.conjugate = False, not inverse
    system.x, system.pitch, system.columns = work.x, work.x_pitch, columns
    if inverse:
        solve_lower(work, &system, 0, False)
    else:
        system.down, system.across = parts, PANEL_COLUMNS * parts
        solve_upper(work, &system)
    return panel_product(
        &work.panels, panel.v, parts, panel.line, work.x, work.x_pitch, x, work.pitch, panel.m, panel.count, columns, True, False)


cdef int reflect_one(const Reflection* all, Py_ssize_t matrix, char* memory, bint alone) except -1 nogil:
    """Write both factors of a matrix."""
    cdef Py_ssize_t m = all.m, n = all.n, few = min(m, n), wide = max(n, all.kept), parts = parts_of(all.code), c, i
    cdef Py_ssize_t r_row = n * parts, q_row = all.kept * parts, diagonal
    cdef double taus[2 * PANEL_COLUMNS]
    cdef double* r = all.r + matrix * all.kept * r_row
    cdef double* q = all.q + matrix * m * q_row
    cdef double* grams
    cdef Workspace work
    cdef s0_columns panel
    cdef s0_reflectors reflectors
    prepare(&work, all.code, alone)
    work.pitch = work.x_pitch = padded(wide * parts)
    work.line = padded(m * parts)
    work.a = <double*>aligned(memory)
    work.x = work.a + m * work.pitch
    work.columns = work.x + PANEL_COLUMNS * work.x_pitch
    grams = work.columns + few * work.line
    work.panels.block.memory = aligned(<char*>(grams + few * PANEL_COLUMNS * parts))
    diagonal = work.pitch + parts
    read_matrix(&work, all.a + matrix * all.strides[0], all.strides[1], all.strides[2], work.a, work.pitch, m, n)
    panel.pitch, panel.line, panel.taus = work.pitch, work.line, taus
    reflectors.line = work.line
    for c from 0 <= c < few by PANEL_COLUMNS:
        panel.a, panel.reflectors, panel.gram = work.a + c * diagonal, work.columns + c * (work.line + parts), grams + c * PANEL_COLUMNS * parts
        panel.m, panel.n = m - c, min(<Py_ssize_t>PANEL_COLUMNS, few - c)
        reflectors.v, reflectors.gram, reflectors.m, reflectors.count = panel.reflectors, panel.gram, panel.m, panel.n
        work.steps.reflect(&panel)
        apply_panel(&work, &reflectors, panel.a + panel.n * parts, (n - c - panel.n) * parts, True)
    memset(r, 0, all.kept * r_row * DOUBLE)
    for i in range(few):
        memcpy(r + i * (r_row + parts), work.a + i * diagonal, (n - i) * parts * DOUBLE)
    memset(work.a, 0, m * work.pitch * DOUBLE)
    for i in range(all.kept):
        work.a[i * diagonal] = 1
    for c from (few - 1) // PANEL_COLUMNS * PANEL_COLUMNS >= c >= 0 by PANEL_COLUMNS:
        reflectors.v, reflectors.gram = work.columns + c * (work.line + parts), grams + c * PANEL_COLUMNS * parts
        reflectors.m, reflectors.count = m - c, min(<Py_ssize_t>PANEL_COLUMNS, few - c)
        apply_panel(&work, &reflectors, work.a + c * diagonal, (all.kept - c) * parts, False)
    for i in range(m):
        memcpy(q + i * q_row, work.a + i * work.pitch, q_row * DOUBLE)
    return 0


cdef void reflect_some(void* context, int chunk) noexcept nogil:
    cdef Reflection* all = <Reflection*>context
    cdef Py_ssize_t matrix
    cdef char* memory = <char*>malloc(reflection_bytes(all))
    if memory is NULL:
        s0_write_int(all.no_memory, True)
        return
    for matrix in range(chunk * all.each, min((chunk + 1) * all.each, all.count)):
        reflect_one(all, matrix, memory, True)
    free(memory)


cdef tuple orthogonal_factors(Array x, bint complete):
    """Q and R of matrices of float64 or complex128."""
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1], bytes, matrix
    cdef int axis
    cdef Reflection all
    cdef Array operand = stack_of(x, x, all.strides), q, r, memory
    cdef char* workspace
    all.a, all.m, all.n, all.kept, all.no_memory = data_of(operand), rows, columns, rows if complete else min(rows, columns), False
    all.code, all.count = x.code, 1
    for axis in range(x.ndim - 2):
        all.count *= x.shape_[axis]
    q, r = per_matrix(x, x.code, 2, rows, all.kept), per_matrix(x, x.code, 2, all.kept, columns)
    all.q, all.r = <double*>data_of(q), <double*>data_of(r)
    if all.count == 1 or min(rows, columns) >= SHARED_ROWS:
        bytes = reflection_bytes(&all)
        memory = new_array(UINT8, 1, &bytes, NULL, False)
        workspace = data_of(memory)
        with nogil:
            for matrix in range(all.count):
                reflect_one(&all, matrix, workspace, False)
    else:
        # A rough estimate, in nanoseconds.
        run_shared(reflect_some, &all, &all.each, all.count, all.count * (2000 + parts_of(x.code) ** 2 * rows * columns * all.kept // 4))
        if all.no_memory:
            raise MemoryError()
    return q, r
