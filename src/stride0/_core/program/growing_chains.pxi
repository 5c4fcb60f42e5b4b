# Adding operations on deferred results: their chains are merged, and a step is appended.

cdef bint merge(PendingChain chain, PendingChain other):
    """Move the steps of another chain of the same shape to the end of a chain, if neither depends on a third one."""
    cdef int leaf[MOST_LEAVES]
    cdef int k, q, s, views = 0, constants = 0, step
    cdef Reduction* reduction
    cdef Storage storage
    if chain.dependent or other.dependent or chain.reductions + other.reductions > MOST_REDUCTIONS:
        return False
    for k in range(other.leaves):
        if find_leaf(chain, &other.leaf[k]) < 0:
            constants += other.leaf[k].storage is NULL
            views += other.leaf[k].storage is not NULL
    # Leave room for a reduction.
    if not has_room(chain, views, constants, other.count + 1):
        return False
    for k in range(other.leaves):
        leaf[k] = add_leaf(chain, &other.leaf[k])
    for s in range(other.count):
        step = chain.count + s
        chain.steps[step] = other.steps[s]
        for q in range(inputs_of(other.steps[s].kernel)):
            k = other.steps[s].inputs[q]
            chain.steps[step].inputs[q] = leaf[k] if k < MOST_LEAVES else k + chain.count
        memcpy(chain.strides[step], other.strides[s], chain.ndim * sizeof(Py_ssize_t))
        chain.results[step] = other.results[s]
        chain.names[step], other.names[s] = other.names[s], NULL
    for s in range(other.count):
        storage = <Storage>alive(other.results[s])
        if storage is None:
            chain.results[chain.count + s] = NULL
        else:
            storage.step += chain.count
            storage.pending = chain
    for k in range(other.reductions):
        reduction = &chain.reduction[chain.reductions]
        reduction[0] = other.reduction[k]
        for q in range(2):
            s = reduction.inputs[q]
            reduction.inputs[q] = s if s < 0 else leaf[s] if s < MOST_LEAVES else s + chain.count
        other.reduction[k].name = NULL
        storage = <Storage>alive(reduction.result)
        if storage is None:
            reduction.result = NULL
        else:
            storage.step = -1 - chain.reductions
            storage.pending = chain
        chain.reductions += 1
    chain.count += other.count
    chain.serial = min(chain.serial, other.serial)
    release(other)
    return True


cdef PendingChain chain_for(int nin, PyObject** operands, int ndim, const Py_ssize_t* shape):
    """
    The chain to which to append a step, with room for the step and its leaves: a chain of the operands, or a new one.

    Operands that can be neither in the chain nor its leaves are evaluated, one at a time, because that may evaluate others.
    """
    cdef PendingChain chain, other
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef int k, blocked = 0
    while blocked >= 0:
        chain, blocked = None, -1
        for k in range(nin):
            other = chain_of(<Array>operands[k])
            if other is None or (other is chain and step_of(<Array>operands[k]) >= 0):
                continue
            if other.evaluating or other.thread != thread:
                blocked = k
            elif step_of(<Array>operands[k]) >= 0 and other.ndim == ndim and memcmp(other.shape, shape, ndim * sizeof(Py_ssize_t)) == 0:
                if chain is None:
                    chain = other
                elif not merge(chain, other):
                    blocked = k
        if chain is not None:
            for k in range(nin):
                other = chain_of(<Array>operands[k])
                if other is not None and other.serial >= chain.serial and not is_step(<Array>operands[k], chain):
                    blocked = k
            if blocked < 0 and not has_room(chain, nin, nin, 3):
                evaluate_chain(chain)
                chain = None
        if blocked >= 0:
            data_of(<Array>operands[blocked])
    return new_chain(ndim, shape) if chain is None else chain


cdef int append(PendingChain chain, Kernel kernel, const int* inputs, const Py_ssize_t* strides, str name) noexcept:
    """Add a step; returns its number."""
    cdef int s = chain.count, q
    chain.steps[s].kernel = kernel
    for q in range(inputs_of(kernel)):
        chain.steps[s].inputs[q] = inputs[q]
    memcpy(chain.strides[s], strides, chain.ndim * sizeof(Py_ssize_t))
    chain.results[s] = NULL
    Py_INCREF(name)
    chain.names[s] = <PyObject*>name
    chain.count += 1
    return s


cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
):
    """
    Defer an elementwise operation; None if it must be computed now.

    The operands broadcast to `shape`; the result has `strides` and the dtype `out_code`.
    """
    enter_pending()
    try:
        return defer_step(kernel, out_code, nin, x1, x2, x3, ndim, shape, strides, name)
    finally:
        leave_pending()


cdef Array defer_step(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
):
    cdef PyObject* operands[3]
    cdef Array out
    cdef PendingChain chain
    cdef int inputs[3]
    cdef int k, step
    operands[0], operands[1], operands[2] = <PyObject*>x1, <PyObject*>x2, <PyObject*>x3
    if ndim > MOST_AXES:
        return None
    for k in range(nin):
        if not may_be_leaf(<Array>operands[k]):
            return None
    chain = chain_for(nin, operands, ndim, shape)
    for k in range(nin):
        if not may_be_leaf(<Array>operands[k]):
            return None     # a signal handler or another thread has exported its memory meanwhile
    for k in range(nin):
        inputs[k] = input_of(chain, <Array>operands[k])
    step = append(chain, kernel, inputs, strides, name)
    if result_code(kernel) != out_code:
        inputs[0] = MOST_LEAVES + step
        step = append(chain, cast_kernel(result_code(kernel), out_code), inputs, strides, name)
    out = pending_array(chain, step, out_code, ndim, shape, strides)
    chain.results[step] = <PyObject*>out.storage
    while (chains > tuning.max_pending_chains or pending_bytes > tuning.max_pending_bytes) and oldest is not <PyObject*>chain and (<PendingChain>oldest).evaluating == 0:
        first = alive(oldest)
        if first is None:
            break
        evaluate_chain(first)
    return out


cdef Array pending_array(PendingChain chain, int step, int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    """A new array that a step of a chain will compute."""
    global pending_bytes
    cdef Array out = blank(code)
    set_ndim(out, ndim)
    memcpy(out.shape_, shape, ndim * sizeof(Py_ssize_t))
    memcpy(out.strides_, strides, ndim * sizeof(Py_ssize_t))
    set_flags(out)
    out.storage = Storage.__new__(Storage)
    out.storage.nbytes = out.size * itemsize_at(code)
    out.storage.pending, out.storage.step = chain, step
    s0_enable_try_incref(<PyObject*>out.storage)
    pending_bytes += out.storage.nbytes
    return out


cdef bint replace_pending(Array x, Array other) noexcept:
    """
    Make x the deferred result `other`, for `x op= y` with a deferred x. False, with nothing done, if x is not deferred.

    The caller drops `other`. Results computed from x before read the old storage of x.
    """
    cdef bint done
    enter_pending()
    done = replace_locked(x, other)
    leave_pending()
    return done


cdef bint replace_locked(Array x, Array other) noexcept:
    if chain_of(other) is None or other.storage.step < 0 or chain_of(x) is None or other.code != x.code or other.ndim != x.ndim:
        return False
    # Another array on the same memory would see the change.
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
    """Move the deferred result of `other` to `storage`, whose own elements nothing else needs."""
    global pending_bytes
    cdef PendingChain chain = <PendingChain>other.pending
    forget_result(storage)
    storage.pending, storage.step = chain, other.step
    chain.results[other.step] = <PyObject*>storage
    other.pending = None
    return True
