# Systems of linear equations with triangular matrices: substitution. Real ones in blocks, Note [Blocked decompositions].

ctypedef fused number:
    float complex
    double complex

cdef struct System:
    # A matrix, and right-hand sides that the solution overwrites; strides in bytes.
    const char* a
    char* x
    Py_ssize_t size, columns    # of the matrix; of the right-hand sides
    Py_ssize_t a_row, a_column, x_row
    bint upper, unit


cdef void solve_system(const System* system, number one) noexcept nogil:
    cdef const char* row
    cdef number* target
    cdef const number* known
    cdef number factor
    cdef Py_ssize_t i, r, c, j, first, last
    for i in range(system.size):
        r = system.size - 1 - i if system.upper else i
        row = system.a + r * system.a_row
        target = <number*>(system.x + r * system.x_row)
        first = r + 1 if system.upper else 0
        last = system.size if system.upper else r
        for c in range(first, last):
            factor = (<const number*>(row + c * system.a_column))[0]
            known = <const number*>(system.x + c * system.x_row)
            for j in range(system.columns):
                target[j] = target[j] - factor * known[j]
        if not system.unit:
            factor = (<const number*>(row + r * system.a_column))[0]
            for j in range(system.columns):
                target[j] = target[j] / factor


cdef int solve_real(Workspace* work, const System* system) except -1 nogil:
    cdef Py_ssize_t i
    cdef s0_triangle all
    all.a, all.down, all.across = <const double*>system.a, system.a_row // DOUBLE, system.a_column // DOUBLE
    all.n, all.unit, all.x, all.pitch, all.columns = system.size, system.unit, work.x, work.x_pitch, system.columns
    read_matrix(system.x, system.x_row, DOUBLE, work.x, work.x_pitch, system.size, system.columns)
    if system.upper:
        solve_upper(work, &all)
    else:
        solve_lower(work, &all, 0, False)
    for i in range(system.size):
        memcpy(system.x + i * system.x_row, work.x + i * work.x_pitch, system.columns * DOUBLE)
    return 0


def substitute(Array a not None, Array x not None, bint upper, bint unit):
    """
    Solve systems with triangular matrices by substitution, row by row.

    Parameters
    ----------
    a : Array
        Shape ``(..., M, M)``, of dtype float64, complex64 or complex128, in memory of its own. The other triangle is not read,
        and the diagonal is not read if `unit`.
    x : Array
        Right-hand sides, overwritten by the solutions: shape ``(..., M, K)``, of the dtype of `a`, with contiguous rows.
        The leading axes of `a` broadcast to the leading axes of `x`.
    upper, unit : bool
        Whether the upper triangle is read; whether the diagonal counts as 1.
    """
    cdef System system
    cdef Workspace work
    cdef Py_ssize_t index[MAX_NDIM]
    cdef Py_ssize_t a_strides[MAX_NDIM]
    cdef int axis, missing = x.ndim - a.ndim, lead = x.ndim - 2
    cdef const char* matrix = data_of(a)
    cdef char* sides = data_of(x)
    cdef Py_ssize_t bytes
    cdef Array memory
    if x.size == 0:
        return
    system.size, system.columns, system.upper, system.unit = x.shape_[lead], x.shape_[lead + 1], upper, unit
    system.a_row, system.a_column, system.x_row = a.strides_[a.ndim - 2], a.strides_[a.ndim - 1], x.strides_[lead]
    for axis in range(lead):
        index[axis] = 0
        a_strides[axis] = 0 if axis < missing or a.shape_[axis - missing] == 1 else a.strides_[axis - missing]
    bytes = workspace_bytes(system.size, system.columns) if x.code == FLOAT64 else 0
    memory = new_array(UINT8, 1, &bytes, NULL, False)
    lay_out(&work, data_of(memory), system.size, system.columns, False)
    with nogil:
        while True:
            system.a, system.x = matrix, sides
            if x.code == FLOAT64:
                solve_real(&work, &system)
            elif x.code == COMPLEX64:
                solve_system[floatcomplex](&system, 1)
            else:
                solve_system[doublecomplex](&system, 1)
            axis = lead - 1
            while axis >= 0:
                index[axis] += 1
                matrix += a_strides[axis]
                sides += x.strides_[axis]
                if index[axis] < x.shape_[axis]:
                    break
                matrix -= index[axis] * a_strides[axis]
                sides -= index[axis] * x.strides_[axis]
                index[axis] = 0
                axis -= 1
            if axis < 0:
                break
