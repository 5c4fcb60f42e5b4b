# Systems of linear equations with triangular matrices, in blocks: Note [Blocked decompositions].

def substitute(Array a not None, Array x not None, bint upper, bint unit):
    """
    Solve systems with triangular matrices by substitution.

    Parameters
    ----------
    a : Array
        Shape ``(..., M, M)``, cast to the dtype of `x`. The other triangle is not read, and the diagonal is not read if `unit`.
    x : Array
        Right-hand sides, overwritten by the solutions: shape ``(..., M, K)``, of dtype float64 or complex128, in C order.
        The leading axes of `a` broadcast to the leading axes of `x`.
    upper, unit : bool
        Whether the upper triangle is read; whether the diagonal counts as 1.
    """
    cdef Workspace work
    cdef s0_triangle all
    cdef Py_ssize_t strides[3]
    cdef Py_ssize_t size, columns, bytes, matrix, i
    cdef const char* triangle
    cdef char* sides = data_of(x)
    cdef Array memory
    if x.size == 0:
        return
    size, columns = x.shape_[x.ndim - 2], x.shape_[x.ndim - 1] * parts_of(x.code)
    a = stack_of(widened(a, x.code), x, strides)
    triangle = data_of(a)
    bytes = workspace_bytes(x.code, size, x.shape_[x.ndim - 1])
    memory = new_array(UINT8, 1, &bytes, NULL, False)
    lay_out(&work, data_of(memory), x.code, size, x.shape_[x.ndim - 1], False)
    all.down, all.across, all.n, all.unit, all.conjugate = strides[1] // DOUBLE, strides[2] // DOUBLE, size, unit, False
    all.x, all.pitch, all.columns = work.x, work.x_pitch, columns
    with nogil:
        for matrix in range(x.size * work.parts // (size * columns)):
            all.a = <const double*>(triangle + matrix * strides[0])
            for i in range(size):
                memcpy(work.x + i * work.x_pitch, sides + i * columns * DOUBLE, columns * DOUBLE)
            if upper:
                solve_upper(&work, &all)
            else:
                solve_lower(&work, &all, 0, False)
            for i in range(size):
                memcpy(sides + i * columns * DOUBLE, work.x + i * work.x_pitch, columns * DOUBLE)
            sides += size * columns * DOUBLE
