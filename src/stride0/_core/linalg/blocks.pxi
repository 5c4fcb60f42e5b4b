# Factors of square matrices, and solutions of systems, in blocks: by the kernels in `block_kernels.h`, and products in panels.
#
# Note [Blocked decompositions]
#     Real systems, inverses, determinants and triangular factors, instead of LAPACK. An element of a factor, or of a solution, is an
#     element of the operand less a sum of products, divided by a pivot. It is defined as follows. The terms of the sum are taken in
#     blocks of S0_BLOCK_ROWS, in order. The terms of a block are added in order from -0.0, each by a fused
#     multiply-add. Then the sum of the block is subtracted. A pivot is the first element of largest magnitude in its column.
#     Upper triangular systems are solved from the last row on, so blocks are counted from there. float32
#     matrices are computed in float64 and rounded once.
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
        bint unit
        double* x
        Py_ssize_t pitch, columns
    ctypedef struct s0_block_steps "struct s0_block_steps":
        void (*solve)(const s0_triangle* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        bint (*factor_definite)(double* a, Py_ssize_t pitch, Py_ssize_t n) noexcept nogil
        bint (*eliminate)(double* columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t* exchanges) noexcept nogil
        void (*exchange_rows)(double* a, Py_ssize_t pitch, const Py_ssize_t* exchanges, Py_ssize_t first, Py_ssize_t last, Py_ssize_t columns) noexcept nogil
        void (*reflect)(const s0_columns* all) noexcept nogil
        void (*apply)(const s0_reflectors* all, double* x, Py_ssize_t pitch, Py_ssize_t columns, bint inverse) noexcept nogil
    void s0_multiply_diagonal(const double* a, Py_ssize_t step, Py_ssize_t n, int sign, double* factor, double* exponent) noexcept nogil

cdef enum:
    STRIP = 24              # columns of right-hand sides that kernels process together
    DOUBLE = sizeof(double)

cdef struct Workspace:
    # Memory for decompositions of matrices of one size, and how products are computed.
    Panels panels
    double* a
    double* x
    double* columns         # of a block
    Py_ssize_t* exchanges
    Py_ssize_t pitch, x_pitch, line

cdef struct Strips:
    s0_triangle all
    Py_ssize_t each         # strips of a chunk
    Py_ssize_t count


cdef inline const s0_block_steps* steps() noexcept nogil:
    return <const s0_block_steps*>TABLE.block_steps


cdef Py_ssize_t padded(Py_ssize_t size) noexcept nogil:
    """At least `size` elements of float64, in an odd number of cache lines: rows so far apart fill all sets of a cache."""
    return ((size + 7) // 8 | 1) * 8


cdef Py_ssize_t half_of(Py_ssize_t size) noexcept nogil:
    """About half the size, in whole blocks."""
    return (size // 2 + BLOCK - 1) // BLOCK * BLOCK


# --- one matrix


cdef void solve_strips(void* context, int chunk) noexcept nogil:
    cdef const Strips* strips = <const Strips*>context
    cdef Py_ssize_t first = chunk * strips.each
    steps().solve(&strips.all, first * STRIP, min(min(first + strips.each, strips.count) * STRIP, strips.all.columns))


cdef int solve_lower(Workspace* work, s0_triangle* system, Py_ssize_t first, bint growing) except -1 nogil:
    """
    Replace right-hand sides by the solutions for a lower triangle, half of the rows after the other half.

    If `growing`, they are a lower triangle too, of which these are the rows from `first` on.
    """
    cdef Py_ssize_t n = system.n, half = half_of(n), columns = min(system.columns, first + n) if growing else system.columns
    cdef s0_triangle part = system[0]
    cdef Strips strips
    cdef int64_t work_ns
    if columns == 0:
        return 0
    if n <= BLOCK:
        part.columns = columns
        strips.all, strips.count = part, (columns + STRIP - 1) // STRIP
        work_ns = n * n * columns // 32
        if work.panels.alone or work_ns < tuning.threads_ns:
            steps().solve(&part, 0, columns)
        elif not run_equal_chunks(
                solve_strips, &strips, &strips.each, strips.count, min(chunks_for(work_ns, threads_for(work_ns)), strips.count), threads_for(work_ns)):
            return -1       # with the exception of a signal handler
        return 0
    part.n = half
    solve_lower(work, &part, first, growing)
    panel_product(
        &work.panels, part.a + half * part.down, part.down, part.across, part.x, part.pitch, 1, part.x + half * part.pitch, part.pitch,
        n - half, half, min(columns, first + half) if growing else columns, True)
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
    cdef double* right = a + half
    cdef int definite
    if n <= BLOCK:
        return steps().factor_definite(a, pitch, n)
    if not factor_definite(work, a, half):
        return 0
    system.a, system.down, system.across, system.n, system.unit = a, 1, pitch, half, False
    system.x, system.pitch, system.columns = right, pitch, n - half
    solve_lower(work, &system, 0, False)
    work.panels.upper = True
    panel_product(&work.panels, right, 1, pitch, right, pitch, 1, right + half * pitch, pitch, n - half, half, n - half, True)
    work.panels.upper = False
    return factor_definite(work, right + half * pitch, n - half)


cdef int eliminate(Workspace* work, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
    """Factor columns `first` to `last` of n rows, half of the columns after the other half. 0 if a pivot is 0."""
    cdef Py_ssize_t pitch = work.pitch, middle = first + half_of(last - first), k
    cdef double* a = work.a
    cdef double* corner = a + first * (pitch + 1)
    cdef s0_triangle system
    cdef int regular
    if last - first <= BLOCK:
        TABLE.transpose[3](<const char*>corner, pitch * DOUBLE, <char*>work.columns, work.line * DOUBLE, n - first, last - first)
        regular = steps().eliminate(work.columns, work.line, n - first, last - first, work.exchanges + first)
        TABLE.transpose[3](<const char*>work.columns, work.line * DOUBLE, <char*>corner, pitch * DOUBLE, last - first, n - first)
        for k in range(first, last):
            work.exchanges[k] += first
        steps().exchange_rows(a, pitch, work.exchanges, first, last, first)
        steps().exchange_rows(a + last, pitch, work.exchanges, first, last, n - last)
        return regular
    regular = eliminate(work, n, first, middle)
    system.a, system.down, system.across, system.n, system.unit = corner, pitch, 1, middle - first, True
    system.x, system.pitch, system.columns = a + first * pitch + middle, pitch, last - middle
    solve_lower(work, &system, 0, False)
    panel_product(
        &work.panels, a + middle * pitch + first, pitch, 1, system.x, pitch, 1, a + middle * (pitch + 1), pitch,
        n - middle, middle - first, last - middle, True)
    return eliminate(work, n, middle, last) and regular


# --- stacks of matrices


cdef Py_ssize_t workspace_bytes(Py_ssize_t n, Py_ssize_t columns) noexcept nogil:
    cdef Py_ssize_t numbers = n * (padded(n) + padded(columns) + 1) + (BLOCK + NARROW_COLUMNS) * padded(n)
    return numbers * DOUBLE + panel_bytes(FLOAT64, n, n, max(n, columns)) + 2 * ALIGNMENT


cdef void lay_out(Workspace* work, char* memory, Py_ssize_t n, Py_ssize_t columns, bint alone) noexcept nogil:
    """Divide memory of `workspace_bytes`."""
    memset(work, 0, sizeof(Workspace))
    work.pitch, work.x_pitch, work.line = padded(n), padded(columns), padded(n)
    work.a = <double*>aligned(memory)
    work.x = work.a + n * work.pitch
    work.columns = work.x + n * work.x_pitch
    work.exchanges = <Py_ssize_t*>(work.columns + (BLOCK + NARROW_COLUMNS) * work.line)
    work.panels.block.memory = aligned(<char*>(work.exchanges + n))
    work.panels.block.terms = BLOCK
    work.panels.alone = alone


cdef void read_matrix(const char* source, Py_ssize_t down, Py_ssize_t across, double* to, Py_ssize_t pitch, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """Copy a matrix of any layout to rows."""
    cdef Py_ssize_t i, j
    if across == DOUBLE:
        for i in range(rows):
            memcpy(to + i * pitch, source + i * down, columns * DOUBLE)
    elif down == DOUBLE:
        TABLE.transpose[3](source, across, <char*>to, pitch * DOUBLE, columns, rows)
    else:
        for i in range(rows):
            for j in range(columns):
                to[i * pitch + j] = (<const double*>(source + i * down + j * across))[0]


cdef int factor_one(Workspace* work, const s0_systems* all, Py_ssize_t matrix) except -1 nogil:
    """The triangular factor of a positive definite matrix, as `solve_systems` of the table of kernels. 0 if it is not positive definite."""
    cdef Py_ssize_t n = all.n, pitch = work.pitch, i, band, count
    cdef const char* a = all.a + matrix * all.a_strides[0]
    cdef double* out = all.x + matrix * n * n
    for band from 0 <= band < n by BLOCK:
        read_matrix(
            a + band * (all.a_strides[1] + all.a_strides[2]), all.a_strides[1], all.a_strides[2], work.a + band * (pitch + 1), pitch,
            min(<Py_ssize_t>BLOCK, n - band), n - band)
    if not factor_definite(work, work.a, n):
        return 0
    memset(out, 0, n * n * DOUBLE)
    for band from 0 <= band < n by BLOCK:
        count = min(<Py_ssize_t>BLOCK, n - band)
        for i in range(band, band + count):
            memset(work.a + i * pitch + band, 0, (i - band) * DOUBLE)
            if all.b_strides[2] == DOUBLE:
                memcpy(out + i * n + i, work.a + i * (pitch + 1), (n - i) * DOUBLE)
        if all.b_strides[2] != DOUBLE:
            TABLE.transpose[3](<const char*>(work.a + band * (pitch + 1)), pitch * DOUBLE, <char*>(out + band * (n + 1)), n * DOUBLE, count, n - band)
    return 1


cdef int solve_one(Workspace* work, const s0_systems* all, Py_ssize_t matrix) except -1 nogil:
    """A solution, an inverse or a determinant, as `solve_systems` of the table of kernels. 0 if a pivot is 0."""
    cdef Py_ssize_t n = all.n, p = all.columns, i, k
    cdef Py_ssize_t* exchanges = work.exchanges
    cdef const char* a = all.a + matrix * all.a_strides[0]
    cdef double* out = all.x + matrix * n * p
    cdef double* row
    cdef s0_triangle system
    cdef int regular, sign = 1
    read_matrix(a, all.a_strides[1], all.a_strides[2], work.a, work.pitch, n, n)
    regular = eliminate(work, n, 0, n)
    if all.factor is not NULL:
        for k in range(n):
            if exchanges[k] != k:
                sign = -sign
        s0_multiply_diagonal(work.a, work.pitch + 1, n, sign if regular else 0, all.factor + matrix, all.exponent + matrix)
        return 1
    if not regular:
        return 0
    if all.b is NULL:
        for i in range(n):
            memset(work.x + i * work.x_pitch, 0, p * DOUBLE)
            work.x[i * (work.x_pitch + 1)] = 1
    else:
        read_matrix(all.b + matrix * all.b_strides[0], all.b_strides[1], all.b_strides[2], work.x, work.x_pitch, n, p)
        steps().exchange_rows(work.x, work.x_pitch, exchanges, 0, n, p)
    system.a, system.down, system.across, system.n, system.unit = work.a, work.pitch, 1, n, True
    system.x, system.pitch, system.columns = work.x, work.x_pitch, p
    solve_lower(work, &system, 0, all.b is NULL)
    system.unit = False
    solve_upper(work, &system)
    for i in range(n):
        row = work.x + i * work.x_pitch
        if all.b is NULL:
            # The rows of the identity were not exchanged: exchange the columns of the inverse.
            for k in range(n - 1, -1, -1):
                row[k], row[exchanges[k]] = row[exchanges[k]], row[k]
        memcpy(out + i * p, row, p * DOUBLE)
    return 1


cdef int run_blocked(const s0_systems* all, bint definite, Py_ssize_t first, Py_ssize_t last, char* memory, bint alone) except -1 nogil:
    """Compute matrices `first` to `last` of a stack. 0 if one is singular or not positive definite."""
    cdef Workspace work
    cdef Py_ssize_t matrix
    lay_out(&work, memory, all.n, all.columns, alone)
    for matrix in range(first, last):
        if not (factor_one(&work, all, matrix) if definite else solve_one(&work, all, matrix)):
            return 0
    return 1
