# One pass over memory for deferred results: the executor runs steps that `evaluation.pxi` chooses.


# Statistics: passes over memory, steps in them, and bytes of results that were never written.
cdef Py_ssize_t passes = 0
cdef Py_ssize_t steps_run = 0
cdef Py_ssize_t bytes_saved = 0


cdef int run_pass(
    PendingChain chain, Pass* current, char** known, const int* outputs, int count, PyObject** memory, Reduction* reduction,
    Storage total, Array x
) except -1:
    """
    Run the steps that some outputs and a reduction need, as one chain of the executor.

    Parameters
    ----------
    chain : PendingChain
        Leaves and steps.
    current : pointer
        Scratch memory for the pass.
    known : pointer
        For each step, the address of its result or NULL; this sets the addresses of the outputs.
    outputs : pointer
        Numbers of `count` steps.
    memory : pointer
        A storage for each output.
    reduction : pointer
        The reduction, or NULL.
    total : Storage
        Memory for the accumulators of the reduction.
    x : Array
        Memory for the first output, written with the strides of x; or None. If x is given, the GIL is kept and no signal
        handler runs, so no other code reads x while a part of it is written, or writes to an operand of the pass.
    """
    cdef Chain* program = &current.program
    cdef Plan* plan = &current.plan
    cdef Operand* operands = current.operands
    cdef int s, k, o, found = 0
    # A reference, because another call may release the chain while this one runs.
    cdef str name = <str>(chain.names[outputs[count - 1]] if count else reduction.name)
    if reduction is not NULL and reduction.from_first:
        run_first(chain, current, known, reduction, total)
    describe_steps(program, chain, known, outputs, count, reduction, operands)
    for o in range(count):
        describe_result(&operands[program.leaves + o], chain, outputs[o], (<Storage>memory[o]).data)
    if x is not None:
        operands[program.leaves].strides = x.strides_
    program.outputs = count
    if reduction is not NULL:
        if not reduction.from_first:
            fill_with(total, reduction.start, itemsize_at(result_code(reduction.kernel)))
        # The order of the axes decides the order of additions, so it must depend only on the operands of the reduction.
        for k in range(inputs_of(reduction.kernel)):
            describe_value(&operands[program.leaves + count + k], chain, reduction.inputs[k], NULL)
        set_strides(plan, &operands[program.leaves + count], inputs_of(reduction.kernel), chain.shape, chain.ndim)
        order_axes(plan, False)
        plan.nop = 0
        for k in range(program.leaves + count):
            set_result(plan, &operands[k], chain.shape, chain.ndim)
        k = program.leaves + count
        operands[k].data, operands[k].code, operands[k].strides = total.data, result_code(reduction.kernel), reduction.strides
        set_result(plan, &operands[k], chain.shape, chain.ndim)
        program.stored[count] = program.leaves + program.constants + program.count - 1
        program.outputs += 1
    else:
        set_strides(plan, operands, program.leaves, chain.shape, chain.ndim)
        for o in range(count):
            set_result(plan, &operands[program.leaves + o], chain.shape, chain.ndim)
        order_axes(plan, True)
    run(chain, plan, program, name, x is None)
    for s in range(chain.count):
        found += known[s] is not NULL
    for o in range(min(count, MOST_KNOWN - found)):
        known[outputs[o]] = (<Storage>memory[o]).data
    return 0


cdef int run_first(PendingChain chain, Pass* current, char** known, Reduction* reduction, Storage total) except -1:
    """Copy the operand's first elements along the reduced axes to the accumulators, with a cast."""
    cdef Chain* program = &current.program
    cdef Plan* plan = &current.plan
    cdef Operand* operands = current.operands
    cdef Py_ssize_t shape[MOST_AXES]
    cdef int axis, k, step = reduction.inputs[0] - MOST_LEAVES
    for axis in range(chain.ndim):
        shape[axis] = 1 if reduction.strides[axis] == 0 else chain.shape[axis]
    describe_steps(program, chain, known, &step, 1, NULL, operands)
    k = program.leaves
    describe_result(&operands[k], chain, step, total.data)
    operands[k].code, operands[k].strides = result_code(reduction.kernel), reduction.strides
    program.outputs = 1
    set_strides(plan, operands, program.leaves, shape, chain.ndim)
    set_result(plan, &operands[k], shape, chain.ndim)
    order_axes(plan, True)
    return run(chain, plan, program, <str>reduction.name, True)


cdef int run(PendingChain chain, Plan* plan, const Chain* program, str name, bint interruptible) except -1:
    global passes, steps_run, bytes_saved
    cdef bint done
    cdef int s, o, depth
    coalesce(plan, 0)
    passes += 1
    steps_run += program.count
    for s in range(program.count):
        bytes_saved += chain.size * itemsize_at(result_code(program.steps[s].kernel))
    for o in range(program.outputs):
        s = program.stored[o] - program.leaves - program.constants
        if s >= 0:
            bytes_saved -= chain.size * itemsize_at(result_code(program.steps[s].kernel))
    if chain.size < tuning.long_run_elements or not interruptible:
        done = run_chain(plan, program, interruptible)
    else:
        # As with a released GIL, other threads may defer and evaluate meanwhile.
        depth = s0_pause_section(&pending_lock)
        with nogil:
            done = run_chain(plan, program, interruptible)
        s0_resume_section(&pending_lock, depth)
    return 0 if done else not_completed(name)


cdef int describe_value(Operand* operand, PendingChain chain, int value, char* data) noexcept:
    """Describe a leaf, or the result of a step, as an operand."""
    if value >= MOST_LEAVES:
        return describe_result(operand, chain, value - MOST_LEAVES, data)
    operand.data, operand.code, operand.ndim = data, chain.leaf[value].code, chain.ndim
    operand.shape, operand.strides = chain.shape, chain.leaf[value].strides
    return 0


cdef int describe_result(Operand* operand, PendingChain chain, int step, char* data) noexcept:
    operand.data, operand.code, operand.ndim = data, result_code(chain.steps[step].kernel), chain.ndim
    operand.shape, operand.strides = chain.shape, &chain.strides[step][0]
    return 0


cdef int describe_steps(
    Chain* program, PendingChain chain, char** known, const int* outputs, int count, Reduction* reduction, Operand* operands
) noexcept:
    """Fill in the leaves, steps and stored values that the outputs and the reduction need, and the operands of the leaves."""
    cdef bint live[MOST_LEAVES + MAX_STEPS]
    cdef bint stored[MAX_STEPS]     # whether a step is an output, or is read by a reduction in another order
    cdef int value[MOST_LEAVES + MAX_STEPS]
    cdef int s, q, k, o, run = 0
    cdef Leaf* leaf
    cdef Step* step
    for k in range(MOST_LEAVES + chain.count):
        live[k] = False
    for s in range(chain.count):
        stored[s] = False
    for o in range(count):
        live[MOST_LEAVES + outputs[o]] = stored[outputs[o]] = True
    if reduction is not NULL:
        for q in range(inputs_of(reduction.kernel)):
            k = reduction.inputs[q]
            live[k] = True
            if k >= MOST_LEAVES and not is_in_place(chain, k - MOST_LEAVES):
                stored[k - MOST_LEAVES] = True
    for s in range(chain.count - 1, -1, -1):
        if live[MOST_LEAVES + s] and known[s] is NULL:
            run += stored[s] or not is_copy(chain.steps[s].kernel)
            for q in range(inputs_of(chain.steps[s].kernel)):
                live[chain.steps[s].inputs[q]] = True
    program.leaves = program.constants = program.count = 0
    if run == 1 and count == 1 and reduction is NULL:
        return describe_one(program, chain, known, outputs[0], operands)
    for k in range(chain.leaves):
        if live[k]:
            leaf = &chain.leaf[k]
            if leaf.storage is NULL:
                continue
            describe_value(&operands[program.leaves], chain, k, leaf.data)
            value[k] = program.leaves
            program.leaves += 1
    for s in range(chain.count):
        if live[MOST_LEAVES + s] and known[s] is not NULL:
            describe_result(&operands[program.leaves], chain, s, known[s])
            value[MOST_LEAVES + s] = program.leaves
            program.leaves += 1
    for k in range(chain.leaves):
        leaf = &chain.leaf[k]
        if live[k] and leaf.storage is NULL:
            program.constant[program.constants], program.constant_code[program.constants] = leaf.value, leaf.code
            value[k] = program.leaves + program.constants
            program.constants += 1
    for s in range(chain.count):
        if not live[MOST_LEAVES + s] or known[s] is not NULL:
            continue
        if not stored[s] and is_copy(chain.steps[s].kernel):
            # Reads of a copy become reads of the original value.
            value[MOST_LEAVES + s] = value[chain.steps[s].inputs[0]]
            continue
        step = &program.steps[program.count]
        step.kernel = chain.steps[s].kernel
        for q in range(inputs_of(step.kernel)):
            step.inputs[q] = value[chain.steps[s].inputs[q]]
        # A value that occurs several times is computed once.
        k = 0
        while not is_same_step(&program.steps[k], step):
            k += 1
        value[MOST_LEAVES + s] = program.leaves + program.constants + k
        program.count += k == program.count
    for o in range(count):
        program.stored[o] = value[MOST_LEAVES + outputs[o]]
    if reduction is not NULL:
        step = &program.steps[program.count]
        step.kernel = reduction.kernel
        for q in range(inputs_of(reduction.kernel)):
            step.inputs[q] = value[reduction.inputs[q]]
        program.count += 1
    return 0


cdef inline bint is_copy(Kernel kernel) noexcept:
    return kernel.kind == KIND_CAST and kernel.row == kernel.code


cdef bint is_in_place(PendingChain chain, int s) noexcept:
    """Whether the result of a step has the layout of its first operand, so that a reduction reads both in the same order."""
    cdef int k = chain.steps[s].inputs[0]
    cdef const Py_ssize_t* strides = &chain.leaf[k].strides[0] if k < MOST_LEAVES else &chain.strides[k - MOST_LEAVES][0]
    return memcmp(strides, &chain.strides[s][0], chain.ndim * sizeof(Py_ssize_t)) == 0


cdef int describe_one(Chain* program, PendingChain chain, char** known, int s, Operand* operands) noexcept:
    """Describe one step whose operands are the leaves of the program in order."""
    cdef int q, k
    cdef Leaf* leaf
    program.steps[0].kernel = chain.steps[s].kernel
    program.leaves, program.count = inputs_of(chain.steps[s].kernel), 1
    for q in range(program.leaves):
        k = chain.steps[s].inputs[q]
        while k >= MOST_LEAVES and known[k - MOST_LEAVES] is NULL:
            k = chain.steps[k - MOST_LEAVES].inputs[0]      # a copy
        if k >= MOST_LEAVES:
            describe_result(&operands[q], chain, k - MOST_LEAVES, known[k - MOST_LEAVES])
        else:
            leaf = &chain.leaf[k]
            describe_value(&operands[q], chain, k, &leaf.value[0] if leaf.storage is NULL else leaf.data)
        program.steps[0].inputs[q] = q
    program.stored[0] = program.leaves
    return 0


cdef int fill_with(Storage storage, const char* value, int itemsize) noexcept:
    cdef Py_ssize_t filled = 0, more = itemsize
    # Double the copied bytes each time, up to the size of the first-level cache.
    while filled < storage.nbytes:
        if filled:
            memcpy(storage.data + filled, storage.data, more)
        else:
            memcpy(storage.data, value, more)
        filled += more
        more = min(min(filled, <Py_ssize_t>tuning.fill_bytes), storage.nbytes - filled)
    return 0


cdef inline bint is_same_step(const Step* a, const Step* b) noexcept:
    cdef int q
    if a.kernel.kind != b.kernel.kind or a.kernel.row != b.kernel.row or a.kernel.code != b.kernel.code:
        return False
    for q in range(inputs_of(a.kernel)):
        if a.inputs[q] != b.inputs[q]:
            return False
    return True


cdef extern from *:
    """
    /* Quotients of sums in float64, rounded to float32. If the sum overflows float32, the mean is the overflowed sum. */
    static void s0_means_f32(const double *total, float *out, double count, Py_ssize_t n) {
        for (Py_ssize_t i = 0; i < n; i++) {
            float sum = (float)total[i], mean = (float)(total[i] / count);
            out[i] = sum - sum == 0 ? mean : sum;
        }
    }
    """
    void s0_means_f32(const double* total, float* out, double count, Py_ssize_t n) noexcept nogil


cdef void divide_sums(double* total, char* out, bint is_single, double count, Py_ssize_t n) noexcept:
    """Means of sums: as float32 (`is_single`) at `out`, otherwise as float64 in place."""
    cdef Py_ssize_t i
    if is_single:
        s0_means_f32(total, <float*>out, count, n)
        return
    for i in range(n):
        total[i] = total[i] / count


cdef int finish_reduction(const Reduction* reduction, Storage total, Storage result) except -1:
    """Write the result of a reduction from its accumulators, which are separate memory if their dtype differs."""
    cdef int code = result_code(reduction.kernel)
    cdef char* args[2]
    cdef Py_ssize_t strides[2]
    cdef bint is_single = reduction.code == FLOAT32 or reduction.code == COMPLEX64
    if reduction.divisor:
        divide_sums(<double*>total.data, result.data, is_single, reduction.divisor, total.nbytes // <int>sizeof(double))
        if is_single:
            return 0
    if reduction.code == code:
        return 0
    args[0], args[1] = total.data, result.data
    strides[0], strides[1] = itemsize_at(code), itemsize_at(reduction.code)
    return run_contiguous(cast_kernel(code, reduction.code), args, strides, total.nbytes // itemsize_at(code))


def statistics():
    """
    Return counters of the deferred results in this process.

    Returns
    -------
    dict
        ``pending``: number of chains that are not computed; ``passes`` over memory that computed chains; ``steps`` in these
        passes; ``bytes_saved``: size of the results that were never written to memory.
    """
    enter_pending()
    try:
        return {"pending": len(pending_chains()), "passes": passes, "steps": steps_run, "bytes_saved": bytes_saved}
    finally:
        leave_pending()
