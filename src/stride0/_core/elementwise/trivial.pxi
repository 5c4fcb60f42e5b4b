# The trivial case of an elementwise operation: one call of a kernel without a plan.
#
# Note [Trivial case]
#     For few elements, a plan costs more than the arithmetic. An operation needs no plan if each operand is a 0-d array
#     or has the shape of the result, and all operands of that shape are contiguous in one memory order. The kernel then
#     computes all elements as one run. It reads a 0-d operand with stride 0. With other strides, one axis is trivial, too. Two
#     axes are trivial if elements are few and `out` is given: a kernel takes rows. Up to FEW_CAST elements of other
#     dtypes than the kernel's are cast on the stack. Other operations go to the planner: with deferred operands,
#     results that may be deferred, or `long_run_elements` elements or more, for which it may use threads.
#
#     NumPy has the same distinction: `trivial_two_operand_loop`, otherwise NpyIter.

cdef enum:
    FEW_CAST = 128      # elements that are cast on the stack


ctypedef struct Run:
    # `m` rows of `n` elements. The operands of the kernel, then the result.
    Py_ssize_t n, m
    char* args[MAX_OPERANDS]
    Py_ssize_t strides[MAX_OPERANDS]
    Py_ssize_t row_strides[MAX_OPERANDS]
    int code[MAX_OPERANDS]
    int singles         # a bit for each operand that is one value
    int differ          # not 0 if a dtype differs from the kernel's
    bint by_axes        # whether the axes have any strides; otherwise the operands are one run


cdef inline void begin_run(Run* run, Array like, bint by_axes) noexcept:
    run.singles = run.differ = 0
    run.by_axes = by_axes
    run.n, run.m = like.size, 1
    if by_axes:
        run.n = like.shape_[like.ndim - 1]
        run.m = like.shape_[0] if like.ndim == 2 else 1


cdef inline void add_to_run(Run* run, int k, char* data, int code, int wanted, bint single) noexcept:
    """Add contiguous memory or one value; the kernel reads the dtype `wanted`."""
    run.args[k], run.code[k] = data, code
    run.strides[k] = run.row_strides[k] = 0 if single else itemsize_at(code)
    run.singles |= single << k
    run.differ |= code ^ wanted


cdef inline bint add_array(Run* run, int k, Array x, Array like, int wanted, bint by_axes) noexcept:
    """Add an operand of a result that has the shape of `like`; False if it does not fit into the run."""
    cdef char* data = s0_read(x.address)
    cdef bint single = x.ndim == 0 and like.ndim != 0
    if data is NULL:
        return False
    add_to_run(run, k, data, x.code, wanted, single)
    if single:
        return not guarding or x.weak   # a mode may refuse the broadcast
    if x is not like and not same_shape(x, like):
        return False
    if by_axes:
        run.strides[k], run.row_strides[k] = x.strides_[x.ndim - 1], x.strides_[0]
        return True
    return like.c_contiguous if x.c_contiguous else not like.c_contiguous and is_f_contiguous(x)


cdef inline bint is_short(Array x) noexcept:
    """Whether a result of the shape of x is computed at once, by one thread."""
    return not is_long_run(x.size) and x.size < fused_from


cdef inline Array trivial(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out):
    """
    Run an elementwise operation in the trivial case; otherwise None. The caller has checked `out` as `apply` does.

    Inline, so that the number of operands and the kind of the kernel are constants.
    """
    cdef Array like = out if out is not None else x1 if x1.ndim or nin == 1 else x2 if x2.ndim or nin == 2 else x3
    cdef Run run
    if not is_short(like) if out is None else is_long_run(out.size):
        return None
    begin_run(&run, like, False)
    if add_operands(&run, kernel, nin, x1, x2, x3, out, like, False):
        return run_trivial(&run, kernel, out_code, nin, like, out)
    if like.ndim == 1 or (like.ndim == 2 and out is not None and out.size < tuning.small_matrix_elements):
        return trivial_by_axes(kernel, out_code, nin, x1, x2, x3, out, like)
    return None


cdef Array trivial_by_axes(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, Array like):
    cdef Run run
    begin_run(&run, like, True)
    return run_trivial(&run, kernel, out_code, nin, like, out) if add_operands(&run, kernel, nin, x1, x2, x3, out, like, True) else None


cdef inline bint add_operands(Run* run, Kernel kernel, int nin, Array x1, Array x2, Array x3, Array out, Array like, bint by_axes) noexcept:
    """Add the operands, and `out` if it is given."""
    if not add_array(run, 0, x1, like, input_code(kernel, 0), by_axes):
        return False
    if nin > 1 and not add_array(run, 1, x2, like, kernel.code, by_axes):
        return False
    if nin > 2 and not add_array(run, 2, x3, like, kernel.code, by_axes):
        return False
    if out is x1:
        run.args[nin], run.code[nin], run.strides[nin], run.row_strides[nin] = run.args[0], run.code[0], run.strides[0], run.row_strides[0]
        run.differ |= out.code ^ result_code(kernel)
        return True
    return out is None or add_array(run, nin, out, like, result_code(kernel), by_axes)


cdef inline Array run_trivial(Run* run, Kernel kernel, int out_code, int nin, Array like, Array out):
    """Run a kernel, into `out` or a new array like `like`. None if too many elements would be cast."""
    cdef Array result = out
    if (run.differ or (out is None and out_code != result_code(kernel))) and (run.n > FEW_CAST or run.m > 1):
        return None
    if out is None:
        result = new_like(like, out_code)
        add_to_run(run, nin, result.address, out_code, result_code(kernel), False)
    run_loop(run, kernel, nin)
    return result


cdef inline int layout_in(const Run* run, Kernel kernel, int nin) noexcept:
    """`layout_of`, which takes longer."""
    return layout_of(kernel, run.strides) if run.by_axes or (nin > 2 and run.singles) else run.singles


cdef inline void run_loop(Run* run, Kernel kernel, int nin) noexcept:
    if run.n <= 0 or run.m <= 0:
        return
    if run.differ:
        run_cast(run, kernel, nin)
    else:
        loops_of(kernel)[layout_in(run, kernel, nin)](run.args, run.strides, run.row_strides, run.n, run.m)


cdef inline void cast_run(const Run* run, int k, char* source, Py_ssize_t stride, char* to, Py_ssize_t to_stride, int code, int to_code) noexcept:
    """Cast the elements of an operand, or its one value."""
    cdef Kernel kernel = cast_kernel(code, to_code)
    cdef bint single = run.singles >> k & 1
    cdef Py_ssize_t strides[2]
    cdef char* args[2]
    args[0], args[1], strides[0], strides[1] = source, to, stride, to_stride
    loops_of(kernel)[layout_of(kernel, strides) if run.by_axes else single](args, strides, strides, 1 if single else run.n, 1)


cdef void run_cast(Run* run, Kernel kernel, int nin) noexcept:
    """Run a kernel on operands that are cast on the stack, and cast its result."""
    cdef char buffers[MAX_OPERANDS][FEW_CAST * LARGEST_ITEM]
    cdef char* to = run.args[nin]
    cdef Py_ssize_t stride = run.strides[nin]
    cdef int k, code = kernel.code
    for k in range(nin + 1):
        code = input_code(kernel, k) if k < nin else result_code(kernel)
        if run.code[k] != code:
            if k < nin:
                cast_run(run, k, run.args[k], run.strides[k], buffers[k], itemsize_at(code), run.code[k], code)
            run.args[k] = buffers[k]
            run.strides[k] = 0 if run.singles >> k & 1 else itemsize_at(code)
    loops_of(kernel)[layout_in(run, kernel, nin)](run.args, run.strides, run.strides, run.n, 1)
    if run.code[nin] != code:
        cast_run(run, nin, buffers[nin], itemsize_at(code), to, stride, code, run.code[nin])
