# Pending results: freeing, listing, and describing them for `stride0.explain`.

cdef void forget_freed(Storage storage) noexcept:
    """Forget a result that is freed without having been computed."""
    enter_pending()
    forget_result(storage)
    leave_pending()


cdef void forget_result(Storage storage) noexcept:
    """Remove a result from its program."""
    global pending_bytes
    cdef PendingProgram pending = <PendingProgram>storage.pending
    # If another thread has noticed that the storage is being freed, another result may already have its place.
    cdef PyObject** place = &pending.results[storage.step] if storage.step >= 0 else &pending.reduction[-1 - storage.step].result
    if place[0] is <PyObject*>storage:
        place[0] = NULL
    pending_bytes -= storage.nbytes


cdef list pending_programs():
    """All programs, starting with the oldest."""
    cdef list out = []
    cdef PyObject* at = oldest
    while at is not NULL:
        pending = alive(at)
        if pending is not None:
            out.append(pending)
        at = (<PendingProgram>at).next
    return out


# --- for `stride0.explain`


cdef int number_of(PendingProgram pending, int value) noexcept:
    """The number of a value if leaves, constants and steps are counted without gaps."""
    if value >= FIRST_STEP:
        return value - FIRST_STEP + pending.leaves + pending.constants
    return value if value < FIRST_CONSTANT else value - FIRST_CONSTANT + pending.leaves


def describe_pending(Array x not None):
    """
    Describe the program that will compute a deferred array.

    Returns
    -------
    dict or None
        ``shape`` of the program. ``leaves``: (dtype, strides in bytes or value) of each. ``steps``: (name, dtype, inputs,
        whether the result is stored) of each; inputs are numbered leaves first, then steps. ``reductions``: (name, dtype,
        inputs, whether the result is stored). ``number`` of the array itself among steps and then reductions. None if the
        elements are computed.
    """
    cdef PendingProgram pending
    cdef Leaf* leaf
    cdef int k, s
    enter_pending()
    try:
        pending = pending_of(x)
        if pending is None:
            return None
        leaves, steps, reductions = [], [], []
        for k in range(pending.leaves):
            leaf = &pending.leaf[k]
            leaves.append((dtype_at(leaf.code).name, tuple([leaf.strides[axis] for axis in range(pending.ndim)])))
        for k in range(pending.constants):
            s = <int>pending.constant[k].code
            leaves.append((dtype_at(s).name, read_scalar(pending.constant[k].value, s)))
        for s in range(pending.count):
            inputs = [pending.steps[s].inputs[k] for k in range(inputs_of(pending.steps[s].kernel))]
            inputs = tuple([number_of(pending, value) for value in inputs])
            steps.append((<str>pending.names[s], dtype_at(result_code(pending.steps[s].kernel)).name, inputs, pending.results[s] is not NULL))
        for k in range(pending.reductions):
            reductions.append((<str>pending.reduction[k].name, dtype_at(pending.reduction[k].code).name,
                               tuple([number_of(pending, s) for s in pending.reduction[k].inputs[:2] if s >= 0]), pending.reduction[k].result is not NULL))
        s = step_of(x)
        return {
            "shape": tuple([pending.shape[k] for k in range(pending.ndim)]), "leaves": leaves, "steps": steps, "reductions": reductions,
            "number": s if s >= 0 else pending.count - 1 - s,
        }
    finally:
        leave_pending()


set_forget(forget_freed)
