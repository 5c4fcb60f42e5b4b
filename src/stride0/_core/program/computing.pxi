# Computing the results of a program: which results are stored, in which memory, and by how many passes.

cdef bint compute(PendingProgram pending, Evaluation* evaluation, Storage result, Array x, Storage spared, bint leaves_steps) except -1:
    """
    Allocate memory for the results that are still referenced, run the steps, and publish the results.

    If `result` is not None, it is computed into the memory of x and no longer exists afterwards. If `spared` is not None,
    it stays deferred with everything that `result` does not depend on; `spared` may be `result` itself. With
    `leaves_steps`, everything except reductions stays deferred. False, with nothing done, if an event since `result` was
    deferred makes this impossible.
    """
    cdef bint needed[MAX_STEPS]
    cdef bint stays = result is not None and spared is result
    cdef PyObject** memory = evaluation.memory
    cdef char* known[MAX_STEPS]         # addresses of computed results
    cdef int outputs[MAX_STEPS]
    cdef int s, k, first = 0, count = 0
    cdef Storage storage, total
    cdef Reduction* reduction = NULL
    cdef Reduction* one
    for k in range(pending.leaves):
        if pending.leaf[k].storage is not NULL:
            Py_INCREF(<Storage>pending.leaf[k].storage)
            evaluation.leaf[evaluation.leaves] = pending.leaf[k].storage
            evaluation.leaves += 1
    if find_needed(pending, needed, result, spared) + stays > MAX_OUTPUTS:
        if stays:
            return False
        spared = None
        find_needed(pending, needed, result, None)
    if result is not None:
        if pending.count == 0 or result.data is not NULL or root_of(x.storage).readers > (0 if stays else 1) or root_of(x.storage).exports != 0:
            return False
        # A later pass could fail after x was written.
        if spared is None and takes_passes(pending):
            return False
        outputs[0], count, first = result.step, 1, 1
        add_result(evaluation, result, foreign_storage(x.address, 0, x.storage, False))
    for s in range(pending.count):
        known[s] = NULL
        if pending.results[s] is not NULL and needed[s] and not leaves_steps and not (count and s == outputs[0]) and pending.results[s] is not <PyObject*>spared:
            storage = <Storage>alive(pending.results[s])
            if storage is None:
                pending.results[s] = NULL
                continue
            outputs[count] = s
            count += 1
            add_result(evaluation, storage, memory_for(pending, storage, result_code(pending.steps[s].kernel), pending.strides[s], <str>pending.names[s]))
    if spared is None:
        count = store_shared(pending, evaluation, outputs, count)
    for k in range(pending.reductions if spared is None else 0):
        one = &pending.reduction[k]
        storage = <Storage>alive(one.result)
        if storage is None:
            one.result = NULL
        else:
            reduction = one if reduction is NULL else reduction
            add_result(evaluation, storage, memory_for(pending, storage, one.code, one.strides, <str>one.name))
    if first:
        # There is only one pass.
        first = count
        run_pass(pending, &evaluation.current, known, outputs, first, memory, NULL, None, x)
        if spared is not None:
            if result.data is NULL and not stays:   # otherwise another call has published it meanwhile
                drop_step(pending, result, root_of(x.storage))
                result.pending = None
            for k in range(1, count):
                publish(<Storage>evaluation.results[k], <Storage>memory[k])
            return True
    # Compute the outputs in passes, MAX_OUTPUTS at a time. The last of these passes also computes the first reduction.
    while (count - first > MAX_OUTPUTS or (count > first and (reduction is NULL or reduction.inputs[1] >= 0))) and pending.count:
        run_pass(pending, &evaluation.current, known, outputs + first, min(<int>MAX_OUTPUTS, count - first), memory + first, NULL, None, None)
        first += MAX_OUTPUTS
    s = count
    for k in range(pending.reductions):
        one = &pending.reduction[k]
        if one.result is not NULL:     # NULL if another call has published it meanwhile
            total = <Storage>memory[s]
            if one.code != result_code(one.kernel):
                total = allocate_storage(total.nbytes // itemsize_at(one.code) * itemsize_at(result_code(one.kernel)), False)
            run_pass(pending, &evaluation.current, known, outputs + first, max(0, count - first), memory + first, one, total, None)
            finish_reduction(one, total, <Storage>memory[s])
            first = max(first, count)
            s += 1
    for k in range(evaluation.count):
        if evaluation.results[k] is not NULL:
            publish(<Storage>evaluation.results[k], <Storage>memory[k])
    if not leaves_steps:
        release(pending)
    elif drop_reductions(pending):
        drop_unread(pending)
    return True


cdef int cost_to_compute(PendingProgram pending, const int* cost, int s, int64_t slot_cost) noexcept:
    """The cost of an element of a step with the steps that it reads, whose costs are given; at most `shared_step_cost`."""
    cdef int64_t total = cost_of(pending.steps[s].kernel) + slot_cost
    cdef int q, k
    for q in range(inputs_of(pending.steps[s].kernel)):
        k = pending.steps[s].inputs[q] - FIRST_STEP
        total += cost[k] if k >= 0 else 0
    return <int>min(total, tuning.shared_step_cost)


cdef int store_shared(PendingProgram pending, Evaluation* evaluation, int* outputs, int count) except -1:
    """
    Add values that several passes need, and that are faster to read than to compute again, to the outputs; returns their number.

    Each reduction takes a pass; the first pass computes the outputs, too.
    """
    cdef int needed[MAX_STEPS]          # bits of the passes that need a step
    cdef int cost[MAX_STEPS]
    cdef bint stored[MAX_STEPS]
    cdef int s, k, q, mask = 1
    if pending.reductions < 2:
        return count
    for s in range(pending.count):
        needed[s], stored[s] = 0, False
        cost[s] = cost_to_compute(pending, cost, s, 0)
    for k in range(count):
        needed[outputs[k]], stored[outputs[k]] = 1, True
    for k in range(pending.reductions):
        if pending.reduction[k].result is not NULL:
            for q in range(inputs_of(pending.reduction[k].kernel)):
                s = pending.reduction[k].inputs[q] - FIRST_STEP
                if s >= 0:
                    needed[s] |= mask
            mask <<= 1
    for s in range(pending.count - 1, -1, -1):
        if not stored[s] and needed[s] & (needed[s] - 1) and cost[s] == tuning.shared_step_cost and count < MAX_KNOWN and pending.results[s] is NULL:
            try:
                add_result(evaluation, None, allocate_storage(pending.size * itemsize_at(result_code(pending.steps[s].kernel)), False))
            except MemoryError:     # then each pass computes it again
                return count
            outputs[count], stored[s] = s, True
            count += 1
        for q in range(inputs_of(pending.steps[s].kernel)):
            k = pending.steps[s].inputs[q] - FIRST_STEP
            if k >= 0:
                needed[k] |= 1 if stored[s] else needed[s]
    return count


cdef bint takes_passes(PendingProgram pending) noexcept:
    """Whether the referenced results of a program take more than one pass, or a pass that checks for signals."""
    cdef int s, k, count = 0
    for k in range(pending.reductions):
        if pending.reduction[k].result is not NULL:
            return True
    for s in range(pending.count):
        count += pending.results[s] is not NULL
    return count > MAX_OUTPUTS


cdef int find_needed(PendingProgram pending, bint* needed, Storage result, Storage spared) noexcept:
    """Find the steps that a result depends on (all steps if nothing is spared); returns the number of outputs among them."""
    cdef int s, q, count = 0
    for s in range(pending.count):
        needed[s] = spared is None or s == result.step
    if spared is None:
        return 0
    for s in range(pending.count - 1, -1, -1):
        count += needed[s] and pending.results[s] is not NULL and pending.results[s] is not <PyObject*>spared
        for q in range(inputs_of(pending.steps[s].kernel) if needed[s] else 0):
            if pending.steps[s].inputs[q] >= FIRST_STEP:
                needed[pending.steps[s].inputs[q] - FIRST_STEP] = True
    return count


cdef int publish(Storage storage, Storage fresh) except -1:
    """Give a storage the memory of `fresh`, unless another call has computed its elements."""
    # A storage without a program was computed in place by another call, and is no longer used.
    if storage.data is NULL and storage.pending is not None:
        storage.block, storage.data, storage.capacity, storage.bin = fresh.block, fresh.data, fresh.capacity, fresh.bin
        fresh.block = NULL
        forget_result(storage)
        storage.pending = None
    return 0


cdef Storage memory_for(PendingProgram pending, Storage storage, int code, const Py_ssize_t* strides, str name):
    """Memory for a result with `strides` along the axes of the program."""
    try:
        return allocate_storage(storage.nbytes, False)
    except MemoryError:
        shape = tuple([pending.shape[k] for k in range(pending.ndim) if strides[k] or pending.shape[k] < 2])
        dtype = dtype_at(code).name
        raise MemoryError(f"{name}: no memory for the deferred result of shape {shape} and dtype {dtype}") from None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_other_threads)
hooks.evaluate = evaluate
