# Stacks of systems of linear equations, inverses, determinants and triangular factors.
#
# Note [Few rows]
#     Real matrices of at most S0_FEW_ROWS rows are eliminated by the kernels in `systems.h`, others in blocks (`blocks.pxi`). Both
#     compute what Note [Blocked decompositions] defines, with the same bits. The threads of the pool share the matrices of a stack,
#     or each matrix if it has SHARED_ROWS rows.

cdef enum:
    SHARED_ROWS = 256       # of a matrix from which threads share it, rather than the matrices of a stack

cdef struct Job:
    s0_systems all
    Py_ssize_t count        # number of all matrices
    Py_ssize_t matrices     # number of matrices in a chunk
    int code                # float64 or complex128
    bint definite           # whether triangular factors of positive definite matrices are computed
    int singular, no_memory


cdef bint has_few_rows(const Job* job) noexcept nogil:
    return job.code == FLOAT64 and job.all.n <= S0_FEW_ROWS


cdef void compute_some(void* context, int chunk) noexcept nogil:
    cdef Job* job = <Job*>context
    cdef Py_ssize_t first = chunk * job.matrices, last = min(first + job.matrices, job.count)
    cdef char* memory
    cdef bint done
    if has_few_rows(job):
        done = (TABLE.factor_definite if job.definite else TABLE.solve_systems)(&job.all, first, last)
    else:
        memory = <char*>malloc(workspace_bytes(job.code, job.all.n, job.all.columns))
        if memory is NULL:
            s0_write_int(job.no_memory, True)
            return
        done = run_blocked(&job.all, job.code, job.definite, first, last, memory, True)
        free(memory)
    if not done:
        s0_write_int(job.singular, True)


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
    cdef Py_ssize_t n = a.shape_[a.ndim - 1], bytes, parts = parts_of(a.code)
    cdef int64_t work
    cdef Array memory
    cdef char* workspace
    a = stack_of(a, like, job.all.a_strides)
    job.all.a, job.all.n, job.code, job.singular, job.no_memory = data_of(a), n, a.code, False, False
    if job.count == 0:
        return True
    if n >= SHARED_ROWS or (job.count == 1 and not has_few_rows(job)):
        bytes = workspace_bytes(job.code, n, job.all.columns)
        memory = new_array(UINT8, 1, &bytes, NULL, False)
        workspace = data_of(memory)
        with nogil:
            return run_blocked(&job.all, job.code, job.definite, 0, job.count, workspace, False)
    # A rough estimate, in nanoseconds.
    work = job.count * (40 + n * n * (n + 3 * job.all.columns) // (3 if has_few_rows(job) else 48)) * parts * parts
    run_shared(compute_some, job, &job.matrices, job.count, work)
    if job.no_memory:
        raise MemoryError()
    return not job.singular


cdef bint solve_systems(Array a, Array b, Array out) except -1:
    """
    Write the solutions of systems to `out`, in C order; if `b` is None, the inverses.

    The leading axes broadcast to the leading axes of `out`. False if a matrix is singular.
    """
    cdef Job job
    cdef int axis
    job.definite = False
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


cdef bint triangular_factors(Array a, Array out, bint upper) except -1:
    """
    Write the triangular factors of positive definite matrices to `out`, in C order: upper factors from upper triangles, or lower from lower.

    False if a matrix is not positive definite.
    """
    cdef Job job
    cdef Py_ssize_t n = a.shape_[a.ndim - 1], size = itemsize_at(a.code)
    if out.size == 0:
        return True
    job.definite = True
    job.all.b, job.all.x, job.all.factor, job.all.columns = NULL, <double*>data_of(out), NULL, 0
    # The kernels compute upper factors; the lower factor is its transpose.
    job.all.b_strides[0], job.all.b_strides[1], job.all.b_strides[2] = n * n * size, n * size if upper else size, size if upper else n * size
    job.count = out.size // (n * n)
    return run_systems(&job, a if upper else swapped_matrix(a), out)


cdef int determinants(Array a, Array factors, Array exponents) except -1:
    """Write determinants to two arrays in C order: factors with magnitudes from 0.7 to 1.5, and exponents of 2."""
    cdef Job job
    job.definite = False
    job.all.b, job.all.x, job.all.columns = NULL, NULL, 0
    job.all.b_strides[0] = job.all.b_strides[1] = job.all.b_strides[2] = 0
    job.all.factor, job.all.exponent = <double*>data_of(factors), <double*>data_of(exponents)
    job.count = factors.size
    run_systems(&job, a, a)
    return 0
