# Partitions of a plan: chunks for threads and signal checks, and fixed chunks of reductions.
#
# Note [Partitions]
#     No result depends on the number of threads. Elementwise work may be partitioned anywhere, because each element is
#     computed separately. A reduction is partitioned along the axes of its result, so one thread computes a whole element of
#     the result. If the result has few elements, the reduced elements are partitioned into fixed chunks, which depend on the
#     shape, the strides and the accumulator, but not on threads. Each chunk has its own accumulators, which are folded in
#     the order of the chunks.


cdef int64_t work_of(const Plan* plan, Kernel kernel, const Program* program) noexcept nogil:
    """
    A rough estimate of the time of a plan on one thread, in nanoseconds, with its operands in a cache.

    If `program` is NULL, the plan runs the single kernel.
    """
    cdef int64_t total = 1, moved, work = 0
    cdef int k, d, each = 0
    cdef bint strided = False
    if program is NULL:
        each = cost_of(kernel)
    else:
        # Each step reads and writes slots.
        for k in range(program.step_count):
            if is_run(program, k):
                each += cost_of(program.steps[k].kernel) + 2
        if program.reduces:
            each += cost_of(program.reduction.kernel) + 2
    for d in range(plan.ndim):
        total *= plan.shape[d]
    for k in range(plan.nop):
        moved = itemsize_at(plan.code[k])
        if program is NULL and kernel.kind <= KIND_REDUCTION and plan.code[k] != (input_code(kernel, k) if k < plan.nop - 1 else result_code(kernel)):
            moved *= 3
        for d in range(plan.ndim):
            if plan.strides[k][d] != 0:
                moved *= plan.shape[d]
        work += moved
        if plan.ndim and plan.strides[k][0] != 0 and plan.strides[k][0] != itemsize_at(plan.code[k]):
            strided = True
    return work // 64 + total * (each + (8 if strided else 0)) // 16


cdef bint is_short(const Plan* plan, Kernel kernel) noexcept nogil:
    """Whether a plan is so small that one thread runs it, without an estimate of its time."""
    cdef int64_t total = cost_of(kernel) + 64
    cdef int d
    for d in range(plan.ndim):
        total *= plan.shape[d]
    return total < 16 * min(tuning.threads_ns, tuning.chunk_ns)


cdef bint takes_long(Kernel kernel, Py_ssize_t size) noexcept nogil:
    """Whether an elementwise kernel computes for so long that signals must be checked in between."""
    return kernel.kind == KIND_OP and size * cost_of(kernel) // 16 >= tuning.chunk_ns


cdef int threads_for(int64_t work) noexcept nogil:
    """The number of threads for a call of `work` nanoseconds."""
    return threads_worth(work, tuning.wake_ns, tuning.per_thread_ns) if work >= tuning.threads_ns else 1


cdef Py_ssize_t chunks_for(int64_t work, int threads) noexcept nogil:
    """
    The number of chunks of a call of `work` nanoseconds: 1 if the call is short and uses one thread.

    If each thread's data may still be in its cache from the previous call, each thread has one chunk.
    """
    cdef int64_t least = 1 if threads < 2 else threads if work <= threads * tuning.cached_ns else threads * tuning.chunks_per_thread
    return <Py_ssize_t>min(max(least, work // tuning.chunk_ns), <int64_t>tuning.max_chunks)


cdef int share_run(int64_t run, int64_t work, Py_ssize_t* chunks) noexcept nogil:
    """Choose the number of threads and of chunks for a run of `run` elements that takes `work` nanoseconds. Both are 1 unless the run is long."""
    cdef int threads
    if not is_long_run(run):
        chunks[0] = 1
        return 1
    threads = threads_for(work)
    chunks[0] = chunks_for(work, threads)
    return threads


cdef int run_shared(s0_chunk body, void* context, Py_ssize_t* each, Py_ssize_t count, int64_t work) except -1:
    """
    Run `body` for `count` items that take `work` nanoseconds on one thread: at once, or in chunks of `each` on threads.

    Fails with the exception of a signal handler.
    """
    cdef Py_ssize_t chunks
    cdef int threads = share_run(work, work, &chunks)
    return run_in_chunks(body, context, each, count, chunks, threads, work)


cdef int run_in_chunks(s0_chunk body, void* context, Py_ssize_t* each, Py_ssize_t count, Py_ssize_t chunks, int threads, int64_t work) except -1:
    """`run_shared` for a caller that chooses the numbers of chunks and threads; short work is one chunk."""
    cdef bint done
    if not is_long_run(work):
        each[0] = count
        body(context, 0)
        return 0
    with nogil:
        done = run_equal_chunks(body, context, each, count, chunks, threads)
    return 0 if done else -1


ctypedef struct Split:
    const Plan* plan
    const Program* program
    int axis
    Py_ssize_t extent       # of a chunk along the axis
    bint failed
    # For a reduction in fixed chunks: the accumulators, and the element that ends the reduction early.
    char* accumulators
    Py_ssize_t size         # bytes of the accumulators of a fixed chunk
    int fixed               # number of fixed chunks
    int across              # an axis of the result along which fixed chunks are partitioned again, or -1
    Py_ssize_t breadth      # size of a part along it
    int absorbing
    bint stop


cdef void run_chunk(void* context, int chunk) noexcept nogil:
    cdef Split* split = <Split*>context
    cdef Plan part
    cdef int fixed = chunk % split.fixed
    if split.stop:
        return
    copy_plan(&part, split.plan)
    if split.accumulators is not NULL:
        part.data[part.nop - 1] = split.accumulators + fixed * split.size
    take_part(&part, split.axis, fixed * split.extent, split.extent)
    if split.across >= 0:
        take_part(&part, split.across, (chunk // split.fixed) * split.breadth, split.breadth)
    if not run_prepared(split.program, &part):
        split.failed = True
    if split.absorbing >= 0 and split.accumulators[fixed * split.size] == split.absorbing:
        split.stop = True


cdef void take_part(Plan* plan, int axis, Py_ssize_t first, Py_ssize_t extent) noexcept nogil:
    """Restrict a plan to a part of an axis."""
    cdef int k
    plan.shape[axis] = min(extent, plan.shape[axis] - first)
    for k in range(plan.nop):
        plan.data[k] += first * plan.strides[k][axis]


cdef bint run_split(const Plan* plan, const Program* program, int64_t work, int whole, bint interruptible) noexcept nogil:
    """
    Run in chunks along an axis of the result other than `whole`, on several threads if that is faster.

    False if there is no memory for slots, or if a signal handler raised, with the exception set.
    """
    cdef int threads = threads_for(work), d, axis = -1, result = plan.nop - 1
    cdef Py_ssize_t chunks = chunks_for(work, threads), unit, most
    cdef Split split
    if chunks > 1:
        for d in range(plan.ndim - 1, -1, -1):
            if d == whole or (program.folds and plan.strides[result][d] == 0):
                continue
            if axis < 0 or plan.shape[d] > plan.shape[axis]:
                axis = d
            if plan.shape[axis] >= max(chunks, threads * tuning.chunks_per_thread) and axis > 0:
                break
    if axis < 0:
        return run_prepared(program, plan)
    if axis == 0 and plan.ndim > 1:
        # Threads that write adjacent short rows would contend for cache lines.
        most = plan.shape[0] // tuning.thread_columns if program.folds else plan.shape[0] * itemsize_at(plan.code[result]) // tuning.thread_row_bytes
        chunks = min(chunks, most)
        if chunks < 2:
            return run_prepared(program, plan)
    unit = (tuning.chunk_multiple_columns if program.folds else tuning.chunk_multiple_elements) if axis == 0 else tile_rows(program, plan) if program.transposed and axis == program.axis else 1
    split.plan, split.program, split.axis = plan, program, axis
    split.extent = (plan.shape[axis] + chunks * unit - 1) // (chunks * unit) * unit
    split.failed, split.stop, split.absorbing, split.accumulators, split.size = False, False, -1, NULL, 0
    chunks = (plan.shape[axis] + split.extent - 1) // split.extent
    split.fixed, split.across = <int>chunks, -1
    return run_chunks(run_chunk, &split, chunks, threads, interruptible) and not split.failed


cdef bint run_kernel(const Plan* plan, Kernel kernel, bint interruptible) noexcept nogil:
    """
    Run one kernel on the operands of the plan.

    Operands of another dtype than the kernel's are cast. False if there is no memory for slots, or if a signal handler
    raised, with the exception set: an `interruptible` call checks for signals, and a reduction always does.
    """
    cdef Program program
    cdef int64_t work = 0 if is_short(plan, kernel) else work_of(plan, kernel, NULL)
    if kernel.kind == KIND_REDUCTION:
        return run_reduction(plan, kernel, NULL, NULL, work, True)
    prepare(&program, plan, kernel)
    return run_split(plan, &program, work, -1, interruptible) if work else run_prepared(&program, plan)


cdef bint run_along(const Plan* plan, Kernel kernel, int axis) noexcept nogil:
    """
    Run a kernel that needs a complete axis of the plan, the innermost or the next one, in any layout.

    False if a signal handler raised, with the exception set.
    """
    cdef Program program
    prepare(&program, plan, kernel)
    if is_short(plan, kernel):
        return run_prepared(&program, plan)
    return run_split(plan, &program, work_of(plan, kernel, NULL), axis, True)


cdef bint run_axis(Kernel kernel, char** args, const Py_ssize_t* strides, Py_ssize_t n) noexcept nogil:
    """`run_kernel` for operands of one axis, in the dtypes of the kernel. A stride is 0 for one value of at most 16 bytes, anywhere in memory."""
    cdef Plan plan
    cdef int k, nin = inputs_of(kernel)
    plan.nop, plan.ndim, plan.pitch, plan.shape[0], plan.axis[0] = 0, 1, 1, n, 0
    for k in range(nin + 1):
        add_operand(&plan, args[k], input_code(kernel, k) if k < nin else result_code(kernel))
        plan.strides[k][0] = strides[k]
    return run_kernel(&plan, kernel, True)


cdef bint run_program(const Plan* plan, Program* program, bint interruptible) noexcept nogil:
    """
    Prepare and run the selected steps and the reduction of a program: Note [Programs].

    The operands of the plan are the leaves, the outputs and, for a reduction, the accumulators. Returns False if
    `run_kernel` would return False, or if the program exceeds the limits.
    """
    cdef int64_t work = work_of(plan, kernel_of(KIND_OP, 0, 0), program)
    cdef bint done
    if program.reduces:
        return run_computed_reduction(plan, program, work)
    done = prepare_selected(program, plan, False) and run_split(plan, program, work, -1, interruptible)
    release_program(program)
    return done


cdef bint run_computed_reduction(const Plan* plan, Program* program, int64_t work) noexcept nogil:
    """Run a program with a reduction: Note [Computed operands]. Its steps write the operands of the reduction as their last outputs, which are dense."""
    cdef Plan space, reduced
    cdef Kernel kernel = program.reduction.kernel
    cdef const int* inputs = program.reduction.inputs
    cdef int d, k, nin = inputs_of(kernel), result = plan.nop - 1
    cdef bint done, early = program.outputs == 0
    if early and nin == program.leaves and inputs[0] == 0 and inputs[nin - 1] == nin - 1:
        return run_reduction(plan, kernel, NULL, NULL, work, True)
    copy_plan(&space, plan)
    space.nop = result
    if nin > 1 and inputs[0] == inputs[1]:
        nin = 1
    if not (nin == 1 and move_last(&space, program, inputs[0])):
        if result + nin > MAX_VIEWS:
            return False
        for k in range(nin - 1, -1, -1):
            add_operand(&space, NULL, code_of(plan, program, inputs[k]))
            set_dense(&space, space.nop - 1)
            program.stored[program.outputs] = <unsigned char>inputs[k]
            program.outputs += 1
    copy_space(&reduced, plan)
    for k in range(nin):
        add_operand(&reduced, space.data[space.nop - 1 - k], space.code[space.nop - 1 - k])
        set_dense(&reduced, k)
    add_operand(&reduced, plan.data[result], plan.code[result])
    for d in range(plan.ndim):
        reduced.strides[nin][d] = plan.strides[result][d]
    coalesce(&reduced, 0)
    coalesce(&space, 0)
    done = prepare_selected(program, &space, True) and run_reduction(&reduced, kernel, program, &space, work, early)
    release_program(program)
    return done


cdef void set_dense(Plan* plan, int k) noexcept nogil:
    """Give an operand the strides of a dense array in the order of the axes."""
    cdef Py_ssize_t stride = itemsize_at(plan.code[k])
    cdef int d
    for d in range(plan.ndim):
        plan.strides[k][d] = stride
        stride *= plan.shape[d]


cdef bint move_last(Plan* space, Program* program, int source) noexcept nogil:
    """Find an output that stores a source uncast and dense (see `set_dense`), and make it the last output. Returns False if there is no such output."""
    cdef int o, d, k, last = space.nop - 1
    cdef Py_ssize_t stride
    cdef bint dense
    for o in range(program.outputs):
        k = program.leaves + o
        if program.stored[o] != source or space.code[k] != code_of(space, program, source):
            continue
        stride, dense = itemsize_at(space.code[k]), True
        for d in range(space.ndim):
            dense = dense and space.strides[k][d] == stride
            stride *= space.shape[d]
        if dense:
            program.stored[o], program.stored[program.outputs - 1] = program.stored[program.outputs - 1], program.stored[o]
            space.data[k], space.data[last] = space.data[last], space.data[k]
            space.code[k], space.code[last] = space.code[last], space.code[k]
            space.strides[k], space.strides[last] = space.strides[last], space.strides[k]
            return True
    return False


# --- for tests


cdef int read_operand(Operand* operand, Py_ssize_t* room, tuple given) except -1:
    cdef int d
    address, dtype, shape, strides = given
    operand.data, operand.code, operand.ndim = <char*><uintptr_t>address, CODES[dtype], len(shape)
    for d in range(operand.ndim):
        room[d], room[MAX_NDIM + d] = shape[d], strides[d]
    operand.shape, operand.strides = room, room + MAX_NDIM
    return 0


def run_steps(leaves, steps, outputs, constants=()):
    """
    Run a program, for tests: the axes are ordered by the leaves.

    Parameters
    ----------
    leaves : sequence of tuple
        Address, dtype name, shape and strides in bytes of each leaf.
    steps : sequence of tuple
        Name of an operation or reduction of the table, or "where"; the dtype name; the numbers of the operands: first the
        leaves, then the constants, then the steps.
    outputs : sequence of tuple
        As for the leaves, and the number of the stored value.
    constants : sequence of tuple
        Address and dtype name of each constant.
    """
    cdef Operand operands[MAX_VIEWS]
    cdef Py_ssize_t layouts[MAX_VIEWS][2 * MAX_NDIM]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Plan plan
    cdef Program program
    cdef Step listed[MAX_STEPS]
    cdef Constant values[MAX_CONSTANTS]
    cdef int k, s, ndim
    cdef bint done
    if len(leaves) + len(outputs) > MAX_VIEWS or len(steps) > MAX_STEPS or len(constants) > MAX_CONSTANTS:
        raise ValueError("run_steps: beyond the limits of a program")
    ops = {row.name: number for number, row in enumerate(operations.OPS)}
    reductions = {row.name: number for number, row in enumerate(operations.REDUCTIONS)}
    numbers = [*range(len(leaves)), *range(FIRST_CONSTANT, FIRST_CONSTANT + len(constants)), *range(FIRST_STEP, FIRST_STEP + len(steps))]
    program.steps, program.step_count, program.constants, program.constant_count = listed, len(steps), values, len(constants)
    program.leaves, program.outputs, program.reduces = len(leaves), len(outputs), False
    for value in numbers:
        program.source[value] = value
    for k, (address, dtype) in enumerate(constants):
        values[k].code = CODES[dtype]
        memcpy(values[k].value, <char*><uintptr_t>address, itemsize_at(CODES[dtype]))
    for s, (name, dtype, inputs) in enumerate(steps):
        code = CODES[dtype]
        if name in ops:
            listed[s].kernel = kernel_of(KIND_OP, ops[name], code)
        elif name in reductions:
            listed[s].kernel, program.reduces = kernel_of(KIND_REDUCTION, reductions[name], code), True
        elif name == "where":
            listed[s].kernel = kernel_of(KIND_WHERE, 0, code)
        else:
            raise ValueError(f"run_steps: there is no kernel {name}")
        if loops_of(listed[s].kernel)[0] is NULL:
            raise ValueError(f"run_steps: there is no kernel {name} of {dtype}")
        for k, value in enumerate(inputs):
            listed[s].inputs[k] = numbers[value]
    for k, given in enumerate(leaves):
        read_operand(&operands[k], layouts[k], given)
    if broadcast(operands, len(leaves), shape, &ndim) != 0:
        raise ValueError("run_steps: shapes do not broadcast")
    if ndim > MAX_PROGRAM_NDIM:
        raise ValueError("run_steps: beyond the limits of a program")
    set_strides(&plan, operands, len(leaves), shape, ndim)
    order_axes(&plan, False)
    for k, (given, value) in enumerate(outputs):
        read_operand(&operands[plan.nop], layouts[plan.nop], given)
        set_result(&plan, &operands[plan.nop], shape, ndim)
        program.stored[k] = numbers[value]
    if program.reduces:
        program.step_count -= 1
        program.outputs -= 1
        program.reduction = listed[program.step_count]
    coalesce(&plan, 0)
    with nogil:
        done = run_program(&plan, &program, True)
    if not done:
        raise MemoryError("run_steps: no memory for slots, or beyond the limits of a program")
