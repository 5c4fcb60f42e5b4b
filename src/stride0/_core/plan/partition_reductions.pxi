# Parts of reductions for threads: Note [Partitions].

cdef Py_ssize_t widened(const Plan* plan) noexcept nogil:
    """How many adjacent short rows are merged into a row of about `merged_row_columns` columns; 1 without merging."""
    cdef int k
    cdef Py_ssize_t several
    if plan.ndim != 2 or plan.strides[plan.nop - 1][0] == 0 or plan.strides[plan.nop - 1][1] != 0:
        return 1
    several = tuning.merged_row_columns // max(plan.shape[0], <Py_ssize_t>1)
    if several < 2 or plan.shape[1] < 8 * several:
        return 1
    for k in range(plan.nop - 1):
        if plan.strides[k][0] == 0 or plan.strides[k][1] != plan.shape[0] * plan.strides[k][0]:
            return 1
    return several


cdef Py_ssize_t fixed_chunks_of(const Plan* plan, int* axis, Py_ssize_t* extent) noexcept nogil:
    """The number of fixed chunks of a reduction, their axis and extent; 1 if it is not partitioned."""
    cdef int d, result = plan.nop - 1
    cdef bint rows = plan.ndim > 0 and plan.strides[result][0] != 0
    cdef Py_ssize_t total = 1, results = 1, unit, size, least, count, most = 1
    for d in range(plan.ndim):
        total *= plan.shape[d]
        if plan.strides[result][d] != 0:
            results *= plan.shape[d]
    # The dtype of the accumulator decides: a cast before a sum changes no bit.
    size = total * (itemsize_at(plan.code[result]) if rows else 16)
    if size < 16 * tuning.fixed_elements or results > tuning.max_fixed_results or (rows and plan.shape[0] >= tuning.max_fixed_columns) or (not rows and results >= tuning.max_fixed_runs):
        return 1
    for d in range(plan.ndim - 1, -1, -1):
        if plan.strides[result][d] != 0:
            continue
        # Loops fold runs in blocks, and rows in fours. Fixed chunks start at multiples of these, which keeps the order.
        unit = FOLD_BLOCK if d == 0 else 4 if rows and d == 1 else 1
        least = tuning.fixed_chunk_elements // (total // plan.shape[d])
        if unit == 4:
            least = max(least, <Py_ssize_t>tuning.fixed_chunk_rows)
        size = max(least, (plan.shape[d] + tuning.max_fixed_chunks - 1) // tuning.max_fixed_chunks)
        size = (size + unit - 1) // unit * unit
        count = (plan.shape[d] + size - 1) // size
        if count > most:
            most, axis[0], extent[0] = count, d, size
    return most


cdef Py_ssize_t partition_results(Split* split, int threads) noexcept nogil:
    """
    Partition fixed chunks along the outermost axis of the result, as elementwise operations are; the number of parts.

    So each thread reads the elements that it has written: reading from another processor's cache takes several times as long.
    """
    cdef const Plan* plan = split.plan
    cdef int d = plan.ndim - 1
    split.across = -1
    if threads < 2 or d <= split.axis or plan.strides[plan.nop - 1][d] == 0 or plan.shape[d] < threads * tuning.chunks_per_thread:
        return 1
    split.across = d
    split.breadth = (plan.shape[d] + threads - 1) // threads
    return (plan.shape[d] + split.breadth - 1) // split.breadth


cdef bint is_broadcast(const Plan* plan, int k) noexcept nogil:
    """Whether the stride of an operand is 0 along all axes."""
    cdef int d
    for d in range(plan.ndim):
        if plan.strides[k][d] != 0:
            return False
    return True


cdef void make_ready(Program* program, const Plan* plan, Kernel kernel, const Program* inner, const Plan* space) noexcept nogil:
    if inner is NULL:
        prepare(program, plan, kernel)
    else:
        prepare_computed(program, plan, kernel, inner, space)


cdef bint run_alone(const Plan* plan, Kernel kernel) noexcept nogil:
    """Run one kernel on this thread."""
    cdef Program program
    prepare(&program, plan, kernel)
    return run_prepared(&program, plan)


cdef bint run_reduction(const Plan* plan, Kernel kernel, const Program* inner, const Plan* space, int64_t work, bint early) noexcept nogil:
    """
    Accumulate into the result, whose stride is 0 along the reduced axes; False as from `run_kernel`.

    The result holds the identity, or elements that may be folded again: every fixed chunk starts from its elements, by
    Note [Partitions]. `inner`, if not NULL, computes the operand over the plan `space`. With `early`, the reduction may
    end before it has read all elements.
    """
    cdef Plan whole
    cdef Plan fold
    cdef Program program
    cdef Py_ssize_t several = widened(plan) if merges_rows(kernel) else 1, old = plan.shape[0], count, extent = 0, remainder, size, each
    cdef int axis = 0, d, k, threads, result = plan.nop - 1, end = absorbing(kernel) if early else -1
    cdef int code = plan.code[result]
    cdef Split split
    cdef char* memory
    cdef bint done
    for d in range(plan.ndim):
        if plan.shape[d] == 0:
            return True
    if end >= 0 and is_broadcast(plan, result):
        # Often the first elements decide. Folding them again later changes nothing.
        copy_plan(&whole, plan)
        whole.ndim = min(whole.ndim, 1)
        whole.shape[0] = min(whole.shape[0], <Py_ssize_t>FOLD_BLOCK)
        make_ready(&program, &whole, kernel, inner, space)
        if run_prepared(&program, &whole) and plan.data[result][0] == end:
            return True
    count = 1 if several > 1 else fixed_chunks_of(plan, &axis, &extent)
    if count < 2 and several < 2:
        make_ready(&program, plan, kernel, inner, space)
        return run_split(plan, &program, work, -1, True) if work else run_prepared(&program, plan)
    copy_plan(&whole, plan)
    if several > 1:
        # The remainder at the end is added afterwards.
        whole.shape[0] *= several
        whole.shape[1] //= several
        for k in range(plan.nop):
            whole.strides[k][1] *= several
        count = fixed_chunks_of(&whole, &axis, &extent)
        if count < 2:
            axis, extent = 1, whole.shape[1]
    # The accumulators of all fixed chunks are adjacent, in the order of the plan's axes.
    size = itemsize_at(code)
    fold.nop, fold.ndim, fold.pitch = 0, 0, whole.ndim + 2
    add_operand(&fold, NULL, code)
    add_operand(&fold, plan.data[result], code)
    each = size
    for d in range(whole.ndim):
        if d == 0 and several > 1:
            whole.strides[result][0] = size
            add_axis(&fold, old, size, plan.strides[result][0])
            add_axis(&fold, several, old * size, 0)
        elif plan.strides[result][d] != 0:
            whole.strides[result][d] = each
            add_axis(&fold, whole.shape[d], each, plan.strides[result][d])
        else:
            continue
        each *= whole.shape[d]
    add_axis(&fold, count, each, 0)
    # The kernel for rows also iterates over the fixed chunks; the loop here iterates over other axes.
    if fold.ndim > 2 and several == 1 and plan.strides[result][0] != 0:
        for d in range(fold.ndim - 1, 1, -1):
            swap_axes(&fold, d, d - 1)
    memory = <char*>malloc(count * each)
    if memory is NULL:
        return False
    # Copy the result's initial elements into the accumulators of every fixed chunk; fold these into the result at the end.
    fold.data[0] = memory
    swap_operands(&fold)
    run_alone(&fold, cast_kernel(code, code))
    make_ready(&program, &whole, kernel, inner, space)
    split.plan, split.program, split.axis, split.extent = &whole, &program, axis, extent
    split.failed, split.stop, split.accumulators, split.size = False, False, memory, each
    split.absorbing = end if each == 1 else -1
    split.fixed, threads = <int>count, threads_for(work)
    count *= partition_results(&split, threads)
    done = run_chunks(run_chunk, &split, count, threads, True)
    swap_operands(&fold)
    coalesce(&fold, 0)
    done = done and not split.failed and run_alone(&fold, fold_of(kernel))
    free(memory)
    remainder = plan.shape[1] - whole.shape[1] * several if several > 1 else 0
    if done and remainder:
        copy_plan(&whole, plan)
        for k in range(plan.nop):
            whole.data[k] += (plan.shape[1] - remainder) * plan.strides[k][1]
        whole.shape[1] = remainder
        make_ready(&program, &whole, kernel, inner, space)
        done = run_prepared(&program, &whole)
    return done


cdef void add_axis(Plan* plan, Py_ssize_t size, Py_ssize_t step0, Py_ssize_t step1) noexcept nogil:
    plan.axis[plan.ndim] = plan.ndim
    plan.shape[plan.ndim] = size
    plan.strides[0][plan.ndim], plan.strides[1][plan.ndim] = step0, step1
    plan.ndim += 1


cdef void swap_operands(Plan* plan) noexcept nogil:
    plan.data[0], plan.data[1] = plan.data[1], plan.data[0]
    plan.strides[0], plan.strides[1] = plan.strides[1], plan.strides[0]
