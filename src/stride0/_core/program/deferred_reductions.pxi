# Reductions of deferred results.

cdef Array try_to_defer_reduction(
    Kernel kernel, int nin, Array x, Array x2, tuple axes, bint keepdims, bint from_first, const char* start, int code, str name
):
    """
    Defer a reduction of x, or of the product of two arrays, with a result of dtype `code`; None if it must be computed now.

    With `from_first` the accumulators start from the first elements along the axes, otherwise from the value at `start`.
    """
    enter_pending()
    try:
        if may_defer_reduction(nin, x, x2):
            return defer_reduction(kernel, nin, x, x2, axes, keepdims, from_first, start, code, name)
        return None
    finally:
        leave_pending()


cdef bint may_defer_reduction(int nin, Array x, Array x2) except -1:
    """Whether a reduction of x, or of the product of two arrays of one shape, may be deferred by a program."""
    cdef PyObject* operands[2]
    cdef PendingProgram pending
    if not defers(x.size, True):
        return False
    operands[0], operands[1] = <PyObject*>x, <PyObject*>x2
    if nin > 1 and not (may_be_leaf(x) and may_be_leaf(x2)):
        return False
    if nin > 1 and x is not x2:
        # Merge both into one program, or make one operand a leaf.
        program_for(2, operands, x.ndim, x.shape_)
        if not may_be_leaf(x) or not may_be_leaf(x2) or not is_same_order(x, x2):
            return False
    pending = pending_of(x)
    if pending is None and nin > 1:
        pending = pending_of(x2)
    return (pending is not None and (is_step(x, pending) or (nin > 1 and is_step(x2, pending))) and pending.reductions < MAX_REDUCTIONS
            and not pending.evaluating and pending.thread == PyThread_get_thread_ident())


cdef bint is_same_order(Array a, Array b) noexcept:
    """Whether two arrays of one shape have the same strides in elements."""
    cdef int axis
    for axis in range(a.ndim):
        if a.shape_[axis] > 1 and a.strides_[axis] * itemsize_at(b.code) != b.strides_[axis] * itemsize_at(a.code):
            return False
    return True


cdef Array defer_reduction(
    Kernel kernel, int nin, Array x, Array x2, tuple axes, bint keepdims, bint from_first, const char* start, int code, str name
):
    """Defer a reduction after `may_defer_reduction` returned True."""
    cdef PendingProgram pending = pending_of(x) if nin == 1 or (pending_of(x) is not None and step_of(x) >= 0) else pending_of(x2)
    cdef Reduction* reduction = &pending.reduction[pending.reductions]
    cdef Py_ssize_t shape[MAX_PROGRAM_NDIM]
    cdef Py_ssize_t strides[MAX_PROGRAM_NDIM]
    cdef Py_ssize_t stride = itemsize_at(result_code(kernel)), itemsize = itemsize_at(code)
    cdef int axis, ndim = 0
    cdef Array out
    reduction.inputs[0], reduction.inputs[1] = input_of(pending, x), input_of(pending, x2) if nin > 1 else -1
    for axis in range(x.ndim - 1, -1, -1):
        reduction.strides[axis] = 0
        if axis not in axes:
            reduction.strides[axis] = stride
            stride *= x.shape_[axis]
    for axis in range(x.ndim):
        if axis not in axes:
            shape[ndim] = x.shape_[axis]
            ndim += 1
        elif keepdims:
            shape[ndim] = 1
            ndim += 1
    for axis in range(ndim - 1, -1, -1):
        strides[axis] = itemsize
        itemsize *= shape[axis]
    out = pending_array(pending, -1 - pending.reductions, code, ndim, shape, strides)
    reduction.kernel, reduction.from_first = kernel, from_first
    reduction.divisor, reduction.code = 0, code
    reduction.result, reduction.name = <PyObject*>out.storage, <PyObject*>name
    Py_INCREF(name)
    memcpy(reduction.start, start, sizeof(reduction.start))
    pending.reductions += 1
    return out


cdef bint divide_pending(Array total, double divisor, int code) except -1:
    """Make unread deferred sums means, as `mean_of_total` would. False, with nothing done, if the sums must be computed now."""
    global pending_bytes
    cdef PendingProgram pending
    cdef Reduction* reduction
    cdef int axis
    enter_pending()
    try:
        pending = pending_of(total)
        if pending is None or total.storage.step >= 0 or pending.evaluating:
            return False
        reduction = &pending.reduction[-1 - total.storage.step]
        reduction.divisor, reduction.code = divisor, code
        Py_XDECREF(reduction.name)
        Py_INCREF(MEAN)
        reduction.name = <PyObject*>MEAN
        for axis in range(total.ndim):
            total.strides_[axis] = total.strides_[axis] // itemsize_at(total.code) * itemsize_at(code)
        total.code = code
        pending_bytes -= total.storage.nbytes
        total.storage.nbytes = total.size * itemsize_at(code)
        pending_bytes += total.storage.nbytes
        return True
    finally:
        leave_pending()
