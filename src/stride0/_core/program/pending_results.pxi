# Pending results: freeing, listing, and describing them for `stride0.explain`.

cdef void forget_freed(Storage storage) noexcept:
    """Forget a result that is freed without having been computed."""
    enter_pending()
    forget_result(storage)
    leave_pending()


cdef void forget_result(Storage storage) noexcept:
    """Remove a result from its chain."""
    global pending_bytes
    cdef PendingChain chain = <PendingChain>storage.pending
    # If another thread has noticed that the storage is being freed, another result may already have its place.
    cdef PyObject** place = &chain.results[storage.step] if storage.step >= 0 else &chain.reduction[-1 - storage.step].result
    if place[0] is <PyObject*>storage:
        place[0] = NULL
    pending_bytes -= storage.nbytes


cdef list pending_chains():
    """All chains, starting with the oldest."""
    cdef list out = []
    cdef PyObject* at = oldest
    while at is not NULL:
        chain = alive(at)
        if chain is not None:
            out.append(chain)
        at = (<PendingChain>at).after
    return out


# --- for `stride0.explain`


cdef int number_of(PendingChain chain, int value) noexcept:
    return value if value < MOST_LEAVES else value - MOST_LEAVES + chain.leaves


def describe_pending(Array x not None):
    """
    Describe the chain that will compute a deferred array.

    Returns
    -------
    dict or None
        ``shape`` of the chain. ``leaves``: (dtype, strides in bytes or value) of each. ``steps``: (name, dtype, inputs,
        whether the result is stored) of each; inputs are numbered leaves first, then steps. ``reductions``: (name, dtype,
        inputs, whether the result is stored). ``number`` of the array itself among steps and then reductions. None if the
        elements are computed.
    """
    enter_pending()
    try:
        return describe_chain(x)
    finally:
        leave_pending()


cdef dict describe_chain(Array x):
    cdef PendingChain chain = chain_of(x)
    cdef Leaf* leaf
    cdef int k, s
    if chain is None:
        return None
    leaves, steps, reductions = [], [], []
    for k in range(chain.leaves):
        leaf = &chain.leaf[k]
        what = read_scalar(leaf.value, leaf.code) if leaf.storage is NULL else tuple([leaf.strides[axis] for axis in range(chain.ndim)])
        leaves.append((dtype_at(leaf.code).name, what))
    for s in range(chain.count):
        inputs = [chain.steps[s].inputs[k] for k in range(inputs_of(chain.steps[s].kernel))]
        inputs = tuple([number_of(chain, value) for value in inputs])
        steps.append((<str>chain.names[s], dtype_at(result_code(chain.steps[s].kernel)).name, inputs, chain.results[s] is not NULL))
    for k in range(chain.reductions):
        reductions.append((<str>chain.reduction[k].name, dtype_at(chain.reduction[k].code).name,
                           tuple([number_of(chain, s) for s in chain.reduction[k].inputs[:2] if s >= 0]), chain.reduction[k].result is not NULL))
    s = step_of(x)
    return {
        "shape": tuple([chain.shape[k] for k in range(chain.ndim)]), "leaves": leaves, "steps": steps, "reductions": reductions,
        "number": s if s >= 0 else chain.count - 1 - s,
    }


set_forget(forget_freed)
