# Adding operations on deferred results: their programs are merged, and a step is appended.

cdef bint merge(PendingProgram pending, PendingProgram other):
    """Append the steps of `other`, a program of the same shape. Returns False if there is no room, or if a program depends on a third program."""
    cdef int number[FIRST_STEP]     # of each leaf and constant
    cdef int k, q, s, leaves = 0, constants = 0, step
    cdef Reduction* reduction
    cdef Storage storage
    if pending.dependent or other.dependent or pending.reductions + other.reductions > MAX_REDUCTIONS:
        return False
    for k in range(other.leaves):
        leaves += find_leaf(pending, &other.leaf[k]) < 0
    for k in range(other.constants):
        constants += find_constant(pending, &other.constant[k]) < 0
    # Leave room for a reduction.
    if not has_room(pending, leaves, constants, other.count + 1):
        return False
    for k in range(other.leaves):
        number[k] = add_leaf(pending, &other.leaf[k])
    for k in range(other.constants):
        number[FIRST_CONSTANT + k] = add_constant(pending, &other.constant[k])
    for s in range(other.count):
        step = pending.count + s
        pending.steps[step] = other.steps[s]
        for q in range(inputs_of(other.steps[s].kernel)):
            k = other.steps[s].inputs[q]
            pending.steps[step].inputs[q] = number[k] if k < FIRST_STEP else k + pending.count
        memcpy(pending.strides[step], other.strides[s], pending.ndim * sizeof(Py_ssize_t))
        pending.results[step] = other.results[s]
        pending.names[step], other.names[s] = other.names[s], NULL
    for s in range(other.count):
        storage = <Storage>alive(other.results[s])
        if storage is None:
            pending.results[pending.count + s] = NULL
        else:
            storage.step += pending.count
            storage.pending = pending
    for k in range(other.reductions):
        reduction = &pending.reduction[pending.reductions]
        reduction[0] = other.reduction[k]
        for q in range(2):
            s = reduction.inputs[q]
            reduction.inputs[q] = s if s < 0 else number[s] if s < FIRST_STEP else s + pending.count
        other.reduction[k].name = NULL
        storage = <Storage>alive(reduction.result)
        if storage is None:
            reduction.result = NULL
        else:
            storage.step = -1 - pending.reductions
            storage.pending = pending
        pending.reductions += 1
    pending.count += other.count
    pending.serial = min(pending.serial, other.serial)
    release(other)
    return True


cdef PendingProgram program_for(int nin, PyObject** operands, int ndim, const Py_ssize_t* shape):
    """
    Return a program with room for another step and its leaves: a program of the operands, or a new program.

    Operands that can be neither results nor leaves of this program are evaluated, one at a time, because evaluating an operand may
    evaluate other operands.
    """
    cdef PendingProgram pending, other
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef int k, blocked = 0
    while blocked >= 0:
        pending, blocked = None, -1
        for k in range(nin):
            other = pending_of(<Array>operands[k])
            if other is None or (other is pending and step_of(<Array>operands[k]) >= 0):
                continue
            if other.evaluating or other.thread != thread:
                blocked = k
            elif step_of(<Array>operands[k]) >= 0 and other.ndim == ndim and memcmp(other.shape, shape, ndim * sizeof(Py_ssize_t)) == 0:
                if pending is None:
                    pending = other
                elif not merge(pending, other):
                    blocked = k
        if pending is not None:
            for k in range(nin):
                other = pending_of(<Array>operands[k])
                if other is not None and other.serial >= pending.serial and not is_step(<Array>operands[k], pending):
                    blocked = k
            if blocked < 0 and not has_room(pending, nin, nin, 3):
                evaluate_program(pending)
                pending = None
        if blocked >= 0:
            data_of(<Array>operands[blocked])
    return new_program(ndim, shape) if pending is None else pending


cdef int append(PendingProgram pending, Kernel kernel, const int* inputs, const Py_ssize_t* strides, str name) noexcept:
    """Add a step; returns its number."""
    cdef int s = pending.count, q
    pending.steps[s].kernel = kernel
    for q in range(inputs_of(kernel)):
        pending.steps[s].inputs[q] = inputs[q]
    memcpy(pending.strides[s], strides, pending.ndim * sizeof(Py_ssize_t))
    pending.results[s] = NULL
    Py_INCREF(name)
    pending.names[s] = <PyObject*>name
    pending.count += 1
    return s


cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
):
    """
    Defer an elementwise operation; None if it must be computed now.

    The operands broadcast to `shape`; the result has `strides` and the dtype `out_code`.
    """
    cdef PyObject* operands[3]
    cdef Array out
    cdef PendingProgram pending
    cdef int inputs[3]
    cdef int k, step
    enter_pending()
    try:
        operands[0], operands[1], operands[2] = <PyObject*>x1, <PyObject*>x2, <PyObject*>x3
        if ndim > MAX_PROGRAM_NDIM:
            return None
        for k in range(nin):
            if not may_be_leaf(<Array>operands[k]):
                return None
        pending = program_for(nin, operands, ndim, shape)
        for k in range(nin):
            if not may_be_leaf(<Array>operands[k]):
                return None     # a signal handler or another thread has exported its memory meanwhile
        for k in range(nin):
            inputs[k] = input_of(pending, <Array>operands[k])
        step = append(pending, kernel, inputs, strides, name)
        if result_code(kernel) != out_code:
            inputs[0] = FIRST_STEP + step
            step = append(pending, cast_kernel(result_code(kernel), out_code), inputs, strides, name)
        out = pending_array(pending, step, out_code, ndim, shape, strides)
        pending.results[step] = <PyObject*>out.storage
        while (pending_count > tuning.max_pending_chains or pending_bytes > tuning.max_pending_bytes) and oldest is not <PyObject*>pending and (<PendingProgram>oldest).evaluating == 0:
            first = alive(oldest)
            if first is None:
                break
            evaluate_program(first)
        return out
    finally:
        leave_pending()


cdef Array pending_array(PendingProgram pending, int step, int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    """A new array that a step of a program will compute."""
    global pending_bytes
    cdef Array out = blank(code)
    set_ndim(out, ndim)
    memcpy(out.shape_, shape, ndim * sizeof(Py_ssize_t))
    memcpy(out.strides_, strides, ndim * sizeof(Py_ssize_t))
    set_flags(out)
    out.storage = Storage.__new__(Storage)
    out.storage.nbytes = out.size * itemsize_at(code)
    out.storage.pending, out.storage.step = pending, step
    s0_enable_try_incref(<PyObject*>out.storage)
    pending_bytes += out.storage.nbytes
    return out


cdef bint replace_pending(Array x, Array other) noexcept:
    """
    Replace the deferred result of x by the deferred result `other`, for `x op= y`. Returns False and changes nothing if that is impossible.

    The caller drops `other`. Earlier results computed from x read the old storage of x.
    """
    cdef bint done
    enter_pending()
    done = replace_locked(x, other)
    leave_pending()
    return done


cdef bint replace_locked(Array x, Array other) noexcept:
    if pending_of(other) is None or other.storage.step < 0 or pending_of(x) is None or other.code != x.code or other.ndim != x.ndim:
        return False
    # Another array on the same memory must see the change, so x has to be the only array.
    if x.storage.owner is not None or not s0_has_references(<PyObject*>x.storage, 1 + x.storage.readers):
        return False
    if memcmp(other.shape_, x.shape_, x.ndim * sizeof(Py_ssize_t)) != 0 or memcmp(other.strides_, x.strides_, x.ndim * sizeof(Py_ssize_t)) != 0:
        return False
    if FREE_THREADED:
        # The storage of x stays, because another thread may be about to read it.
        return x.storage.readers == 0 and take_over(x.storage, other.storage)
    other.storage.device = x.storage.device
    x.storage = other.storage
    return True


cdef bint take_over(Storage storage, Storage other) noexcept:
    """Move the deferred result of `other` to `storage`. Nothing else may need the elements of `storage`."""
    global pending_bytes
    cdef PendingProgram pending = <PendingProgram>other.pending
    forget_result(storage)
    storage.pending, storage.step = pending, other.step
    pending.results[other.step] = <PyObject*>storage
    other.pending = None
    return True
