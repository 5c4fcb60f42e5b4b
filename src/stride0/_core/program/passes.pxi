# One pass over memory for deferred results: the executor runs steps that `evaluation.pxi` chooses.


ctypedef struct Pass:
    # Scratch memory of a pass: about 6 KiB, too much for a thread's stack.
    Program program
    const Kernel* single            # if not NULL, the pass runs this kernel instead of the program
    Plan plan
    Operand operands[MAX_VIEWS + 1]


# Statistics: passes over memory, steps in them, and bytes of results that were never written.
cdef Py_ssize_t passes = 0
cdef Py_ssize_t steps_run = 0
cdef Py_ssize_t bytes_saved = 0


cdef int run_pass(
    PendingProgram pending, Pass* current, char** known, const int* outputs, int count, PyObject** memory, Reduction* reduction,
    Storage total, Array x
) except -1:
    """
    Run the steps that some outputs and a reduction need, as one program of the executor.

    Parameters
    ----------
    pending : PendingProgram
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
    cdef Plan* plan = &current.plan
    cdef Operand* operands = current.operands
    cdef int s, k, o, found = 0
    # A reference, because another call may release the program while this one runs.
    cdef str name = <str>(pending.names[outputs[count - 1]] if count else reduction.name)
    if reduction is not NULL and reduction.from_first:
        run_first(pending, current, known, reduction, total)
    k = select_steps(pending, current, known, outputs, count, reduction)
    for o in range(count):
        describe_value(&operands[k + o], pending, FIRST_STEP + outputs[o], (<Storage>memory[o]).data)
    if x is not None:
        operands[k].strides = x.strides_
    if reduction is not NULL:
        k += count
        if not reduction.from_first:
            fill_with(total, reduction.start, itemsize_at(result_code(reduction.kernel)))
        # The order of the axes decides the order of additions, so it must depend only on the operands of the reduction.
        for s in range(inputs_of(reduction.kernel)):
            describe_value(&operands[k + s], pending, reduction.inputs[s], NULL)
        set_strides(plan, &operands[k], inputs_of(reduction.kernel), pending.shape, pending.ndim)
        order_axes(plan, False)
        plan.nop = 0
        operands[k].data, operands[k].code, operands[k].ndim = total.data, result_code(reduction.kernel), pending.ndim
        operands[k].shape, operands[k].strides = pending.shape, reduction.strides
        for o in range(k + 1):
            set_result(plan, &operands[o], pending.shape, pending.ndim)
    else:
        set_strides(plan, operands, k + count, pending.shape, pending.ndim)
        order_axes(plan, True)
    run(pending, current, name, x is None)
    for s in range(pending.count):
        found += known[s] is not NULL
    for o in range(min(count, MAX_KNOWN - found)):
        known[outputs[o]] = (<Storage>memory[o]).data
    return 0


cdef int run_first(PendingProgram pending, Pass* current, char** known, Reduction* reduction, Storage total) except -1:
    """Copy the operand's first elements along the reduced axes to the accumulators, with a cast."""
    cdef Operand* operands = current.operands
    cdef Py_ssize_t shape[MAX_PROGRAM_NDIM]
    cdef int axis, k, step = reduction.inputs[0] - FIRST_STEP
    for axis in range(pending.ndim):
        shape[axis] = 1 if reduction.strides[axis] == 0 else pending.shape[axis]
    k = select_steps(pending, current, known, &step, 1, NULL)
    describe_value(&operands[k], pending, reduction.inputs[0], total.data)
    operands[k].code, operands[k].strides = result_code(reduction.kernel), reduction.strides
    set_strides(&current.plan, operands, k + 1, shape, pending.ndim)
    order_axes(&current.plan, True)
    return run(pending, current, <str>reduction.name, True)


cdef int run(PendingProgram pending, Pass* current, str name, bint interruptible) except -1:
    global passes
    cdef bint done
    cdef int depth
    coalesce(&current.plan, 0)
    passes += 1
    if not is_long_run(pending.size) or not interruptible:
        done = run_selected(current, interruptible)
    else:
        # As with a released GIL, other threads may defer and evaluate meanwhile.
        depth = s0_pause_section(&pending_lock)
        with nogil:
            done = run_selected(current, interruptible)
        s0_resume_section(&pending_lock, depth)
    return 0 if done else not_completed(name)


cdef bint run_selected(Pass* current, bint interruptible) noexcept nogil:
    if current.single is not NULL:
        return run_kernel(&current.plan, current.single[0], interruptible)
    return run_program(&current.plan, &current.program, interruptible)


cdef int describe_value(Operand* operand, PendingProgram pending, int value, char* data) noexcept:
    """Describe a value at an address as an operand."""
    operand.data, operand.ndim, operand.shape = data, pending.ndim, pending.shape
    if value >= FIRST_STEP:
        operand.code, operand.strides = result_code(pending.steps[value - FIRST_STEP].kernel), &pending.strides[value - FIRST_STEP][0]
    elif value >= FIRST_CONSTANT:
        operand.code, operand.ndim = <int>pending.constant[value - FIRST_CONSTANT].code, 0
    else:
        operand.code, operand.strides = pending.leaf[value].code, pending.leaf[value].strides
    return 0


cdef int select_steps(
    PendingProgram pending, Pass* current, char** known, const int* outputs, int count, const Reduction* reduction
) noexcept:
    """Select what the outputs and the reduction need, and describe the leaves of the pass as operands; returns their number."""
    global steps_run, bytes_saved
    cdef Program* program = &current.program
    cdef unsigned char* source = program.source
    cdef bint stored[MAX_STEPS]     # whether a step is an output, or is read by a reduction in another order
    cdef int s, q, k, o, run = 0
    memset(source, UNUSED, FIRST_STEP + pending.count)
    memset(stored, 0, sizeof(stored))
    for o in range(count):
        source[FIRST_STEP + outputs[o]], stored[outputs[o]] = FIRST_STEP + outputs[o], True
    if reduction is not NULL:
        for q in range(inputs_of(reduction.kernel)):
            k = reduction.inputs[q]
            source[k] = k
            if k >= FIRST_STEP and not is_in_place(pending, k - FIRST_STEP):
                stored[k - FIRST_STEP] = True
    for s in range(pending.count - 1, -1, -1):
        if source[FIRST_STEP + s] != UNUSED and known[s] is NULL:
            run += stored[s] or not is_copy(pending.steps[s].kernel)
            for q in range(inputs_of(pending.steps[s].kernel)):
                k = pending.steps[s].inputs[q]
                source[k] = k
    current.single = NULL
    if run == 1 and count == 1 and reduction is NULL:
        steps_run += 1
        return select_single(pending, current, known, outputs[0])
    program.steps, program.step_count = pending.steps, pending.count
    program.constants, program.constant_count = pending.constant, pending.constants
    program.leaves, program.outputs, program.reduces = 0, count, reduction is not NULL
    for k in range(pending.leaves):
        if source[k] != UNUSED:
            add_operand(pending, current, k, pending.leaf[k].data)
    for s in range(pending.count):
        if source[FIRST_STEP + s] == UNUSED:
            continue
        if known[s] is not NULL:
            add_operand(pending, current, FIRST_STEP + s, known[s])
        elif not stored[s] and is_copy(pending.steps[s].kernel):
            # Reads of a copy become reads of the original value.
            source[FIRST_STEP + s] = source[pending.steps[s].inputs[0]]
        else:
            # A value that occurs several times is computed once.
            k = 0
            while not is_same_step(program, k, s):
                k += 1
            source[FIRST_STEP + s] = FIRST_STEP + k
            if k == s:
                steps_run += 1
                bytes_saved += pending.size * itemsize_at(result_code(pending.steps[s].kernel))
    for o in range(count):
        program.stored[o] = source[FIRST_STEP + outputs[o]]
        if program.stored[o] >= FIRST_STEP:
            bytes_saved -= pending.size * itemsize_at(result_code(pending.steps[outputs[o]].kernel))
    if reduction is not NULL:
        steps_run += 1
        program.reduction.kernel = reduction.kernel
        for q in range(inputs_of(reduction.kernel)):
            program.reduction.inputs[q] = source[reduction.inputs[q]]
    return program.leaves


cdef int add_operand(PendingProgram pending, Pass* current, int value, char* data) noexcept:
    """Add the value at an address as a leaf of the pass."""
    cdef int k = current.program.leaves
    describe_value(&current.operands[k], pending, value, data)
    current.program.source[value] = k
    current.program.leaves += 1
    return 0


cdef bint is_in_place(PendingProgram pending, int s) noexcept:
    """Whether the result of a step has the layout of its first operand, so that a reduction reads both in the same order."""
    cdef int k = pending.steps[s].inputs[0]
    cdef const Py_ssize_t* strides
    if FIRST_CONSTANT <= k < FIRST_STEP:
        return False
    strides = &pending.leaf[k].strides[0] if k < FIRST_CONSTANT else &pending.strides[k - FIRST_STEP][0]
    return memcmp(strides, &pending.strides[s][0], pending.ndim * sizeof(Py_ssize_t)) == 0


cdef int select_single(PendingProgram pending, Pass* current, char** known, int s) noexcept:
    """Select a single step, and describe its operands, which may be constants; returns their number."""
    cdef int q, k
    cdef char* data
    current.single = &pending.steps[s].kernel
    for q in range(inputs_of(current.single[0])):
        k = pending.steps[s].inputs[q]
        while k >= FIRST_STEP and known[k - FIRST_STEP] is NULL:
            k = pending.steps[k - FIRST_STEP].inputs[0]      # this step is a copy
        if k >= FIRST_STEP:
            data = known[k - FIRST_STEP]
        else:
            data = &pending.constant[k - FIRST_CONSTANT].value[0] if k >= FIRST_CONSTANT else pending.leaf[k].data
        describe_value(&current.operands[q], pending, k, data)
    return inputs_of(current.single[0])


cdef inline bint is_same_step(const Program* program, int a, int b) noexcept:
    """Whether step `a` runs, and computes the same as step `b`."""
    cdef const Step* first = &program.steps[a]
    cdef const Step* second = &program.steps[b]
    cdef int q
    if first.kernel.row != second.kernel.row or first.kernel.kind != second.kernel.kind or first.kernel.code != second.kernel.code:
        return False
    for q in range(inputs_of(first.kernel)):
        if program.source[first.inputs[q]] != program.source[second.inputs[q]]:
            return False
    return program.source[FIRST_STEP + a] == FIRST_STEP + a


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
        ``pending``: number of programs that are not computed; ``passes`` over memory that computed programs; ``steps`` in these
        passes; ``bytes_saved``: size of the results that were never written to memory.
    """
    enter_pending()
    try:
        return {"pending": len(pending_programs()), "passes": passes, "steps": steps_run, "bytes_saved": bytes_saved}
    finally:
        leave_pending()
