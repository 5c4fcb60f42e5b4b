# Factors of square matrices, and solutions of systems, in blocks: by the kernels in `block_kernels.h`, and products in panels.
#
# Note [Blocked decompositions]
#     Systems, inverses, determinants and triangular factors, instead of LAPACK. An element of a factor, or of a solution, is an
#     element of the operand less a sum of products, divided by a pivot. It is defined as follows. The terms of the sum are taken in
#     blocks of S0_BLOCK_ROWS, in order. The terms of a block are added in order from -0.0, each by a fused
#     multiply-add. Then the sum of the block is subtracted. A pivot is the first element of largest magnitude in its column.
#     Upper triangular systems are solved from the last row on, so blocks are counted from there. float32
#     matrices are computed in float64 and rounded once, complex64 in complex128. A complex sum is four sums of products of parts,
#     joined for each block, as in Note [Products in panels].
#
#     Every path below computes this definition, so that no bit depends on the instruction set, on the number of threads, on
#     the layout of an operand, or on a threshold:
#
#     * `eliminate`, `factor_definite` and `solve_lower` halve a matrix until one block is left (S. Toledo, "Locality of reference in LU
#       decomposition with partial pivoting", 1997; E. Elmroth, F. Gustavson, "Recursive blocked algorithms", 2004; E. Peise, P.
#       Bientinesi, "Recursive algorithms for dense linear algebra: the ReLAPACK collection", 2017). Nearly all operations are in
#       `panel_product`, Note [Products in panels], which threads share. It adds the sums of blocks to the result in order.
#     * The kernels of a block keep sums in registers. A tile of a triangular system adds its sums, then solves its own triangle
#       before it is stored. A block of columns is transposed before it is eliminated, so that a search for a pivot, a quotient
#       and a multiple of a column are loops over contiguous elements. An upper triangle is a lower triangle with negative strides.
#     * The inverse is the solution for the identity. L is inverted in the lower triangle only. U is then applied, and
#       the exchanges of rows become exchanges of columns: 2 n^3 operations, as LAPACK's getri.
#
#     The error of a sum of n terms is at most (64 + n / 64) units of roundoff times the sum of magnitudes. In a plain loop it is n
#     units (N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, chapters 3, 9, 10).
#
#     Speed as a multiple of the speed of NumPy and of PyTorch, one thread, on a busy AMD EPYC of the fifth generation:
#
#                                cholesky             solve, 1 column      inv                  det
#     float64  AVX-512  n = 50   2.7   3.0            1.9   2.6            2.6   3.1            1.8   2.6
#                       200      2.0   2.4            1.5   1.8            2.4   2.8            1.9   2.1
#                       500      2.6   3.3            1.8   2.0            3.3   3.5            1.9   2.0
#                       1000     2.9   3.0            1.3   1.7            2.8   2.7            1.8   1.7
#              AVX2     50       2.2   2.4            1.5   2.1            1.6   1.9            1.4   2.1
#                       200      1.2   1.5            1.0   1.2            1.5   1.6            1.2   1.3
#                       500      2.3   2.2            1.1   1.2            1.7   1.7            1.2   1.2
#                       1000     1.5   1.2            1.1   1.2            1.3   1.4            1.2   1.1
#     float32  AVX-512  200      1.9   1.4            1.6   1.7            2.4   3.1            1.8   1.8
#                       1000     3.7   1.7            2.1   1.3            2.5   1.7            1.9   1.1
#              AVX2     200      1.2   0.9            1.0   1.1            1.3   1.7            1.2   1.2
#                       1000     1.1   0.6            1.2   0.7            1.4   1.0            1.1   0.6
#
#     NumPy computes float32 in float64 as well; PyTorch computes it in float32, which is faster and less accurate.
#
#     Speed in complex128 as a multiple of the speed of NumPy (for solve_triangular, of SciPy), one thread:
#
#                           solve, 1 column   inv     det     cholesky   qr      solve_triangular, n columns
#     AVX-512  n = 50       1.3               2.1     1.2     2.3        1.3     2.3
#              200          1.5               2.2     1.6     1.9        2.2     2.0
#              500          2.1               2.2     2.1     2.0        2.1     2.9
#     AVX2     50           1.0               1.1     0.9     1.3        0.8     1.1
#              200          0.8               1.1     0.85    0.9        1.2     0.95
#              500          1.1               1.2     1.0     1.0        1.1     1.2
#     1000 of  8x8, AVX-512 0.85              1.3     0.8     1.2        0.95

cdef extern from "block_steps.h":
    enum:
        BLOCK "S0_BLOCK_ROWS"
        NARROW_COLUMNS "S0_NARROW_COLUMNS"
        PANEL_COLUMNS "S0_PANEL_COLUMNS"
    ctypedef struct s0_columns:
        double* a
        double* reflectors
        double* gram
        double* taus
        Py_ssize_t pitch, line, m, n
    ctypedef struct s0_reflectors:
        const double* v
        Py_ssize_t line
        const double* gram
        Py_ssize_t m, count
    ctypedef struct s0_triangle:
        const double* a
        Py_ssize_t down, across, n
        bint unit, conjugate
        double* x
        Py_ssize_t pitch, columns
    ctypedef struct s0_block_steps "struct s0_block_steps":
        void (*solve)(const s0_triangle* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        bint (*factor_definite)(double* a, Py_ssize_t pitch, Py_ssize_t n) noexcept nogil
        bint (*eliminate)(double* columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t* exchanges) noexcept nogil
        void (*exchange_rows)(double* a, Py_ssize_t pitch, const Py_ssize_t* exchanges, Py_ssize_t first, Py_ssize_t last, Py_ssize_t numbers) noexcept nogil
        void (*reflect)(const s0_columns* all) noexcept nogil
        void (*apply)(const s0_reflectors* all, double* x, Py_ssize_t pitch, Py_ssize_t columns, bint inverse) noexcept nogil
    void s0_multiply_diagonal(const double* a, Py_ssize_t step, Py_ssize_t n, int sign, double* factor, double* exponent) noexcept nogil
    void s0_multiply_complex_diagonal(const double* a, Py_ssize_t step, Py_ssize_t n, int sign, double* factor, double* exponent) noexcept nogil

cdef enum:
    STRIP = 24              # numbers of a right-hand side that kernels process together
    DOUBLE = sizeof(double)

cdef struct Workspace:
    # Memory for decompositions of matrices of one size, and how products are computed. Pitches count numbers.
    Panels panels
    const s0_block_steps* steps
    double* a
    double* x
    double* columns         # of a block
    Py_ssize_t* exchanges
    Py_ssize_t pitch, x_pitch, line
    Py_ssize_t parts        # numbers in an element: 1 if it is real, 2 if it is complex

cdef struct Strips:
    s0_triangle all
    const s0_block_steps* steps
    Py_ssize_t each         # strips of a chunk
    Py_ssize_t count


cdef Py_ssize_t padded(Py_ssize_t size) noexcept nogil:
    """`size` numbers of float64, rounded up to an odd number of cache lines: rows at this distance use all sets of a cache."""
    return ((size + 7) // 8 | 1) * 8


cdef Py_ssize_t half_of(Py_ssize_t size) noexcept nogil:
    """About half the size, in whole blocks."""
    return (size // 2 + BLOCK - 1) // BLOCK * BLOCK


# --- one matrix


cdef void solve_strips(void* context, int chunk) noexcept nogil:
    cdef const Strips* strips = <const Strips*>context
    cdef Py_ssize_t first = chunk * strips.each
    strips.steps.solve(&strips.all, first * STRIP, min(min(first + strips.each, strips.count) * STRIP, strips.all.columns))


cdef int solve_lower(Workspace* work, s0_triangle* system, Py_ssize_t first, bint growing) except -1 nogil:
    """
    Replace right-hand sides by the solutions for a lower triangle, half of the rows after the other half.

    If `growing`, they are a lower triangle too, of which these are the rows from `first` on.
    """
    cdef Py_ssize_t n = system.n, half = half_of(n), columns = system.columns
    cdef s0_triangle part = system[0]
    cdef Strips strips
    cdef int64_t work_ns
    if growing:
        columns = min(columns, (first + n) * work.parts)
    if columns == 0:
        return 0
    if n <= BLOCK:
        part.columns = columns
        strips.all, strips.steps, strips.count = part, work.steps, (columns + STRIP - 1) // STRIP
        work_ns = n * n * columns * work.parts // 32
        if work.panels.alone or work_ns < tuning.threads_ns:
            work.steps.solve(&part, 0, columns)
        elif not run_equal_chunks(
                solve_strips, &strips, &strips.each, strips.count, min(chunks_for(work_ns, threads_for(work_ns)), strips.count), threads_for(work_ns)):
            return -1       # with the exception of a signal handler
        return 0
    part.n = half
    solve_lower(work, &part, first, growing)
    panel_product(
        &work.panels, part.a + half * part.down, part.down, part.across, part.x, part.pitch, part.x + half * part.pitch, part.pitch,
        n - half, half, min(columns, (first + half) * work.parts) if growing else columns, True, part.conjugate)
    part.a += half * (part.down + part.across)
    part.x += half * part.pitch
    part.n = n - half
    return solve_lower(work, &part, first + half, growing)


cdef int solve_upper(Workspace* work, s0_triangle* system) except -1 nogil:
    """Replace right-hand sides by the solutions for an upper triangle: a lower one, in the reverse order of rows and columns."""
    cdef s0_triangle turned = system[0]
    turned.a += (system.n - 1) * (system.down + system.across)
    turned.x += (system.n - 1) * system.pitch
    turned.down, turned.across, turned.pitch = -system.down, -system.across, -system.pitch
    return solve_lower(work, &turned, 0, False)


cdef int factor_definite(Workspace* work, double* a, Py_ssize_t n) except -1 nogil:
    """Replace the upper triangle of a matrix by its factor: the upper half, then the lower one. 0 if it is not positive definite."""
    cdef Py_ssize_t half = half_of(n), pitch = work.pitch
    cdef s0_triangle system
    cdef double* right = a + half * work.parts
    cdef Py_ssize_t columns = (n - half) * work.parts
    if n <= BLOCK:
        return work.steps.factor_definite(a, pitch, n)
    if not factor_definite(work, a, half):
        return 0
    system.a, system.down, system.across, system.n, system.unit, system.conjugate = a, work.parts, pitch, half, False, True
    system.x, system.pitch, system.columns = right, pitch, columns
    solve_lower(work, &system, 0, False)
    work.panels.upper = True
    panel_product(&work.panels, right, work.parts, pitch, right, pitch, right + half * pitch, pitch, n - half, half, columns, True, True)
    work.panels.upper = False
    return factor_definite(work, right + half * pitch, n - half)


cdef int eliminate(Workspace* work, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
    """Factor columns `first` to `last` of n rows, half of the columns after the other half. 0 if a pivot is 0."""
    cdef Py_ssize_t pitch = work.pitch, parts = work.parts, middle = first + half_of(last - first), columns = (last - middle) * parts, k
    cdef double* a = work.a
    cdef double* corner = a + first * (pitch + parts)
    cdef s0_transpose transpose = TABLE.transpose[2 + parts]
    cdef s0_triangle system
    cdef int regular
    if last - first <= BLOCK:
        transpose(<const char*>corner, pitch * DOUBLE, <char*>work.columns, work.line * DOUBLE, n - first, last - first)
        regular = work.steps.eliminate(work.columns, work.line, n - first, last - first, work.exchanges + first)
        transpose(<const char*>work.columns, work.line * DOUBLE, <char*>corner, pitch * DOUBLE, last - first, n - first)
        for k in range(first, last):
            work.exchanges[k] += first
        work.steps.exchange_rows(a, pitch, work.exchanges, first, last, first * parts)
        work.steps.exchange_rows(a + last * parts, pitch, work.exchanges, first, last, (n - last) * parts)
        return regular
    regular = eliminate(work, n, first, middle)
    system.a, system.down, system.across, system.n, system.unit, system.conjugate = corner, pitch, parts, middle - first, True, False
    system.x, system.pitch, system.columns = a + first * pitch + middle * parts, pitch, columns
    solve_lower(work, &system, 0, False)
    panel_product(
        &work.panels, a + middle * pitch + first * parts, pitch, parts, system.x, pitch, a + middle * (pitch + parts), pitch,
        n - middle, middle - first, columns, True, False)
    return eliminate(work, n, middle, last) and regular


# --- stacks of matrices


cdef Py_ssize_t workspace_bytes(int code, Py_ssize_t n, Py_ssize_t columns) noexcept nogil:
    """The number of bytes that `lay_out` needs for matrices of n rows and for right-hand sides with `columns` elements in a row."""
    cdef Py_ssize_t parts = parts_of(code)
    cdef Py_ssize_t numbers = n * (padded(n * parts) + padded(columns * parts) + 1) + (BLOCK + NARROW_COLUMNS * parts) * padded(n * parts)
    return numbers * DOUBLE + panel_bytes(code, n, n, max(n, columns)) + 2 * ALIGNMENT


cdef void prepare(Workspace* work, int code, bint alone) noexcept nogil:
    """Clear `work`, and set the fields that depend on the dtype."""
    memset(work, 0, sizeof(Workspace))
    work.parts = parts_of(code)
    work.steps = <const s0_block_steps*>TABLE.block_steps + (work.parts - 1)
    work.panels.code, work.panels.block.terms, work.panels.alone = code, BLOCK, alone


cdef void lay_out(Workspace* work, char* memory, int code, Py_ssize_t n, Py_ssize_t columns, bint alone) noexcept nogil:
    """Divide memory of `workspace_bytes` bytes among the arrays of `work`."""
    prepare(work, code, alone)
    work.pitch = work.line = padded(n * work.parts)
    work.x_pitch = padded(columns * work.parts)
    work.a = <double*>aligned(memory)
    work.x = work.a + n * work.pitch
    work.columns = work.x + n * work.x_pitch
    work.exchanges = <Py_ssize_t*>(work.columns + (BLOCK + NARROW_COLUMNS * work.parts) * work.line)
    work.panels.block.memory = aligned(<char*>(work.exchanges + n))


cdef void read_matrix(
    const Workspace* work, const char* source, Py_ssize_t down, Py_ssize_t across, double* to, Py_ssize_t pitch, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    """Copy a matrix of any layout to rows."""
    cdef Py_ssize_t size = work.parts * DOUBLE, i, j
    if across == size:
        for i in range(rows):
            memcpy(to + i * pitch, source + i * down, columns * size)
    elif down == size:
        TABLE.transpose[2 + work.parts](source, across, <char*>to, pitch * DOUBLE, columns, rows)
    else:
        for i in range(rows):
            for j in range(columns):
                memcpy(to + i * pitch + j * work.parts, source + i * down + j * across, size)


cdef int factor_one(Workspace* work, const s0_systems* all, Py_ssize_t matrix) except -1 nogil:
    """The triangular factor of a positive definite matrix, as `solve_systems` of the table of kernels. 0 if it is not positive definite."""
    cdef Py_ssize_t n = all.n, pitch = work.pitch, parts = work.parts, row = n * parts, i, band, count
    cdef const char* a = all.a + matrix * all.a_strides[0]
    cdef double* out = all.x + matrix * n * row
    cdef bint is_upper = all.b_strides[2] == parts * DOUBLE
    for band from 0 <= band < n by BLOCK:
        read_matrix(
            work, a + band * (all.a_strides[1] + all.a_strides[2]), all.a_strides[1], all.a_strides[2], work.a + band * (pitch + parts), pitch,
            min(<Py_ssize_t>BLOCK, n - band), n - band)
    if not factor_definite(work, work.a, n):
        return 0
    memset(out, 0, n * row * DOUBLE)
    for band from 0 <= band < n by BLOCK:
        count = min(<Py_ssize_t>BLOCK, n - band)
        for i in range(band, band + count):
            memset(work.a + i * pitch + band * parts, 0, (i - band) * parts * DOUBLE)
            if is_upper:
                memcpy(out + i * (row + parts), work.a + i * (pitch + parts), (n - i) * parts * DOUBLE)
        if not is_upper:
            TABLE.transpose[2 + parts](
                <const char*>(work.a + band * (pitch + parts)), pitch * DOUBLE, <char*>(out + band * (row + parts)), row * DOUBLE, count, n - band)
    return 1


cdef int solve_one(Workspace* work, const s0_systems* all, Py_ssize_t matrix) except -1 nogil:
    """A solution, an inverse or a determinant, as `solve_systems` of the table of kernels. 0 if a pivot is 0."""
    cdef Py_ssize_t n = all.n, parts = work.parts, p = all.columns * parts, i, k, c
    cdef Py_ssize_t* exchanges = work.exchanges
    cdef const char* a = all.a + matrix * all.a_strides[0]
    cdef double* out = all.x + matrix * n * p
    cdef double* row
    cdef s0_triangle system
    cdef int regular, sign = 1
    read_matrix(work, a, all.a_strides[1], all.a_strides[2], work.a, work.pitch, n, n)
    regular = eliminate(work, n, 0, n)
    if all.factor is not NULL:
        for k in range(n):
            if exchanges[k] != k:
                sign = -sign
        (s0_multiply_diagonal if parts == 1 else s0_multiply_complex_diagonal)(
            work.a, work.pitch + parts, n, sign if regular else 0, all.factor + matrix * parts, all.exponent + matrix)
        return 1
    if not regular:
        return 0
    if all.b is NULL:
        for i in range(n):
            memset(work.x + i * work.x_pitch, 0, p * DOUBLE)
            work.x[i * (work.x_pitch + parts)] = 1
    else:
        read_matrix(work, all.b + matrix * all.b_strides[0], all.b_strides[1], all.b_strides[2], work.x, work.x_pitch, n, all.columns)
        work.steps.exchange_rows(work.x, work.x_pitch, exchanges, 0, n, p)
    system.a, system.down, system.across, system.n, system.unit, system.conjugate = work.a, work.pitch, parts, n, True, False
    system.x, system.pitch, system.columns = work.x, work.x_pitch, p
    solve_lower(work, &system, 0, all.b is NULL)
    system.unit = False
    solve_upper(work, &system)
    for i in range(n):
        row = work.x + i * work.x_pitch
        if all.b is NULL:
            # The rows of the identity were not exchanged: exchange the columns of the inverse.
            for k in range(n - 1, -1, -1):
                for c in range(parts):
                    row[k * parts + c], row[exchanges[k] * parts + c] = row[exchanges[k] * parts + c], row[k * parts + c]
        memcpy(out + i * p, row, p * DOUBLE)
    return 1


cdef int run_blocked(const s0_systems* all, int code, bint definite, Py_ssize_t first, Py_ssize_t last, char* memory, bint alone) except -1 nogil:
    """Compute matrices `first` to `last` of a stack. 0 if one is singular or not positive definite."""
    cdef Workspace work
    cdef Py_ssize_t matrix
    lay_out(&work, memory, code, all.n, all.columns, alone)
    for matrix in range(first, last):
        if not (factor_one(&work, all, matrix) if definite else solve_one(&work, all, matrix)):
            return 0
    return 1
