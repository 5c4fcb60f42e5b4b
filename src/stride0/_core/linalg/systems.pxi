# Small systems of linear equations, inverses, determinants and triangular factors, by the kernels in `systems.h`.
#
# Note [Few rows]
#     Through NumPy's loops a LAPACK call takes 0.3 us or more per matrix, for work arrays, copies in Fortran order and blocked
#     functions. Matrices of float64 with at most S0_FEW_ROWS rows are eliminated here instead, and the threads of the pool share
#     the matrices of a stack. Times on one thread of an AVX-512 server with NumPy 2.4, in microseconds:
#
#                            3x3     5x5   100 of 4x4   100 of 8x8   100 of 16x16   100 of 32x32
#         inv    here        0.17    0.32      7.6          43           176            772
#                LAPACK      0.78    1.13     36           102           386           1744
#         solve  here        0.18    0.38      7.8          46           183            824
#                LAPACK      0.82    1.18     39           110           410           1796
#         det    here        0.22    0.25      5.7          19            64            290
#                LAPACK      0.37    0.46     14            38           141            499
#
#     LAPACK handles complex and larger matrices.

cdef struct Job:
    s0_systems all
    Py_ssize_t count        # number of all matrices
    Py_ssize_t matrices     # number of matrices in a chunk
    int (*run)(const s0_systems* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    int singular


cdef void solve_some(void* context, int chunk) noexcept nogil:
    cdef Job* job = <Job*>context
    cdef Py_ssize_t first = chunk * job.matrices
    if not job.run(&job.all, first, min(first + job.matrices, job.count)):
        s0_write_int(job.singular, True)


cdef bint are_few(Array x) noexcept:
    """Note [Few rows]: whether the square matrices of x are eliminated here."""
    return x.code == FLOAT64 and 0 < x.shape_[x.ndim - 1] <= S0_FEW_ROWS


cdef Array stack_of(Array x, Array like, Py_ssize_t* strides):
    """
    x, or a copy, broadcast to the leading axes of `like`, with one stride from matrix to matrix.

    The strides in bytes between matrices, rows and columns are written to `strides`.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t spread[MAX_NDIM]
    cdef int lead = like.ndim - 2, missing = like.ndim - x.ndim, axis, own
    cdef Py_ssize_t count = 1
    cdef bint even = True
    guard_gradient(x, "linalg")
    x = aligned_copy(x)
    strides[0] = 0
    for axis in range(lead - 1, -1, -1):
        own = axis - missing
        shape[axis] = like.shape_[axis]
        spread[axis] = 0 if own < 0 or x.shape_[own] == 1 else x.strides_[own]
        if shape[axis] == 1:
            continue
        if count == 1:
            strides[0] = spread[axis]
        even = even and spread[axis] == strides[0] * count
        count *= shape[axis]
    for axis in range(2):
        shape[lead + axis], spread[lead + axis] = x.shape_[x.ndim - 2 + axis], x.strides_[x.ndim - 2 + axis]
    if not even:
        x = copy_array(view_of(x, data_of(x), like.ndim, shape, spread), x.code, True)
        strides[0] = x.strides_[lead - 1]
    strides[1], strides[2] = x.strides_[x.ndim - 2], x.strides_[x.ndim - 1]
    return x


cdef bint run_systems(Job* job, Array a, Array like) except -1:
    """Run a job; False if a matrix is singular. Its determinant is 0."""
    cdef int64_t work
    a = stack_of(a, like, job.all.a_strides)
    job.all.a, job.all.n, job.singular = data_of(a), a.shape_[a.ndim - 1], False
    if job.count == 0:
        return True
    # A rough estimate, in nanoseconds.
    work = job.count * (40 + job.all.n * job.all.n * (job.all.n + 3 * job.all.columns) // 3)
    run_shared(solve_some, job, &job.matrices, job.count, work)
    return not job.singular


cdef bint solve_few(Array a, Array b, Array out) except -1:
    """
    Write the solutions of small systems to `out`, in C order; if `b` is None, the inverses.

    The leading axes broadcast to the leading axes of `out`. False if a matrix is singular.
    """
    cdef Job job
    cdef int axis
    job.run = TABLE.solve_systems
    job.all.b, job.all.x, job.all.factor, job.all.columns = NULL, <double*>data_of(out), NULL, out.shape_[out.ndim - 1]
    if b is not None:
        b = stack_of(b, out, job.all.b_strides)
        job.all.b = data_of(b)
    else:
        job.all.b_strides[0] = job.all.b_strides[1] = job.all.b_strides[2] = 0
    job.count = 1
    for axis in range(out.ndim - 2):
        job.count *= out.shape_[axis]
    return run_systems(&job, a, out)


cdef bint factor_few(Array a, Array out, bint upper) except -1:
    """
    Write the triangular factors of small positive definite matrices to `out`, in C order: upper factors from upper triangles, or lower from lower.

    False if a matrix is not positive definite.
    """
    cdef Job job
    cdef Py_ssize_t n = a.shape_[a.ndim - 1], size = itemsize_at(FLOAT64)
    job.run = TABLE.factor_definite
    job.all.b, job.all.x, job.all.factor, job.all.columns = NULL, <double*>data_of(out), NULL, 0
    # The kernel computes upper factors; the lower factor is its transpose.
    job.all.b_strides[0], job.all.b_strides[1], job.all.b_strides[2] = n * n * size, n * size if upper else size, size if upper else n * size
    job.count = out.size // (n * n)
    return run_systems(&job, a if upper else swapped_matrix(a), out)


cdef int determinants_of_few(Array a, Array factors, Array exponents) except -1:
    """Write the determinants of small matrices as factors from 0.7 to 1.5 and exponents of 2, to arrays in C order."""
    cdef Job job
    job.run = TABLE.solve_systems
    job.all.b, job.all.x, job.all.columns = NULL, NULL, 0
    job.all.b_strides[0] = job.all.b_strides[1] = job.all.b_strides[2] = 0
    job.all.factor, job.all.exponent = <double*>data_of(factors), <double*>data_of(exponents)
    job.count = factors.size
    run_systems(&job, a, a)
    return 0
