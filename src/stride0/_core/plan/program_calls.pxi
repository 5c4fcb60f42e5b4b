# The calls of a prepared program, and the slots of their values.

cdef inline int varies(const Preparation* state, int location) noexcept nogil:
    """The axes of a tile along which the elements of a location vary."""
    if location >= FIRST_SLOT:
        return state.program.calls[location - FIRST_SLOT].varies
    return state.varies[location] if location < FIRST_CONSTANT else 0


cdef Py_ssize_t stride_of(const Preparation* state, int location, bint outer) noexcept nogil:
    """Stride of a location along an axis of a tile, for the choice of a layout: a slot's item size, or 0."""
    cdef const Plan* plan = state.plan
    if location >= FIRST_SLOT:
        return state.program.calls[location - FIRST_SLOT].size if varies(state, location) & (OUTER if outer else INNER) else 0
    if location >= FIRST_CONSTANT:
        return 0
    if outer:
        return plan.strides[location][state.program.axis]
    return plan.strides[location][0] if plan.ndim else itemsize_at(plan.code[location])


cdef int emit(Preparation* state, int kind, Kernel kernel, int nin, const int* inputs, int result, bint streamed) noexcept nogil:
    """Add a call; `result` is an output, or -1 for a slot. Returns the location of the result."""
    cdef Program* program = state.program
    cdef Call* call = &program.calls[program.call_count]
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef const s0_loop* loops
    cdef int k, layout, axes = 0
    for k in range(nin):
        call.location[k] = inputs[k]
        axes |= varies(state, inputs[k])
    call.kind, call.nop, call.slot = kind, nin + 1, -1
    call.size = itemsize_at(result_code(kernel) if kind == CALL_LOOP else kernel.code)
    if result >= 0:
        axes = INNER | OUTER
    else:
        result = FIRST_SLOT + program.call_count
        call.slot = 0
        program.widest = max(program.widest, call.size)
        program.flat = program.flat and not axes & OUTER
        program.has_rows = program.has_rows or axes == INNER
    call.location[nin] = result
    call.varies = axes
    program.call_count += 1
    if kind == CALL_LOOP:
        for k in range(nin + 1):
            # A column: along the other axis of the tile.
            inner[k] = stride_of(state, call.location[k], axes == OUTER) if axes else call.size if k == nin else itemsize_at(input_code(kernel, k))
        loops = loops_for(kernel, inner, streamed, &layout)
        call.loop = loops[layout]
        if loops != loops_of(kernel):
            program.streams = state.streamed[result] = True
    return result


cdef int fetch(Preparation* state, int source, int code) noexcept nogil:
    """The location of a source in the dtype `code`: its own location, or a slot to which it is transposed or cast."""
    cdef int location = state.location[source]
    if source < FIRST_CONSTANT and location == source and state.transposed[source]:
        location = state.location[source] = emit(state, CALL_TRANSPOSE, cast_kernel(state.code[source], state.code[source]), 1, &location, -1, False)
    if state.code[source] == code:
        return location
    if state.cast_code[source] != code:
        s0_count(counters.cast)
        state.cast_location[source] = emit(state, CALL_LOOP, cast_kernel(state.code[source], code), 1, &location, -1, False)
        state.cast_code[source] = code
    return state.cast_location[source]


cdef inline void begin_source(Preparation* state, int source) noexcept nogil:
    state.location[source], state.cast_code[source] = source, -1
    state.code[source] = code_of(state.plan, state.program, source)


cdef void make_calls(Program* program, const Plan* plan) noexcept nogil:
    """Make the calls of all selected steps."""
    cdef Preparation state
    cdef Step step
    cdef int s, k, o, source, view, location, leaves = program.leaves
    cdef int inputs[MAX_OPERANDS]
    cdef bint written[MAX_VIEWS]
    state.program, state.plan = program, plan
    program.call_count, program.slots, program.widest = 0, 0, 1
    program.flat, program.has_rows = not program.folds, False
    for k in range(leaves):
        state.transposed[k] = False
    choose_axis(program, plan, leaves if program.inner is NULL else 0, state.transposed)
    if program.rows and plan.ndim > 1 and plan.strides[plan.nop - 1][1] != 0:
        program.axis = 0
    for k in range(program.transposed):
        s0_count(counters.transposed)
    for k in range(plan.nop):
        state.streamed[k] = False
        state.varies[k] = INNER if plan.ndim and plan.strides[k][0] != 0 else 0
        if program.axis and plan.strides[k][program.axis] != 0:
            state.varies[k] |= OUTER
    for k in range(program.constant_count):
        begin_source(&state, FIRST_CONSTANT + k)
    for k in range(leaves):
        begin_source(&state, k)
        if state.transposed[k]:
            program.widest = max(program.widest, itemsize_at(plan.code[k]))
    for o in range(program.outputs):
        written[o] = False
    if program.inner is not NULL:
        s0_count(counters.computed)
        if leaves > 1:
            inputs[0] = 1
            state.location[1] = inputs[1] = emit(&state, CALL_RESERVE, cast_kernel(plan.code[1], plan.code[1]), 1, inputs, -1, False)
        inputs[0] = 0
        # Into a slot, or into the memory of the output that has the same elements.
        view = -1 if program.space.data[program.space.nop - 1] is NULL else 0
        state.location[0] = emit(&state, CALL_COMPUTE, cast_kernel(plan.code[0], plan.code[0]), leaves, inputs, view, False)
    for s in range(program.step_count):
        if not is_run(program, s):
            continue
        selected_step(program, s, &step)
        source = FIRST_STEP + s
        begin_source(&state, source)
        for k in range(inputs_of(step.kernel)):
            inputs[k] = fetch(&state, step.inputs[k], input_code(step.kernel, k))
        view = -1
        for o in range(program.outputs):
            if program.stored[o] == source and plan.code[leaves + o] == state.code[source] and view < 0:
                view = leaves + o
                written[o] = True
        if view < 0:
            state.location[source] = emit(&state, CALL_LOOP, step.kernel, inputs_of(step.kernel), inputs, -1, False)
        else:
            emit_output(&state, step.kernel, inputs, view, not is_read(program, source))
            state.location[source] = view
    for o in range(program.outputs):
        if written[o]:
            continue
        source, view = program.stored[o], leaves + o
        location = fetch(&state, source, state.code[source])
        if plan.code[view] != state.code[source]:
            s0_count(counters.cast)
        emit_output(&state, cast_kernel(state.code[source], plan.code[view]), &location, view, True)
    if is_transposed_copy(&state):
        program.calls[0].location[1], program.calls[0].slot, program.call_count = program.calls[1].location[1], -1, 1
    take_slots(program)
    choose_prefetched(&state)
    program.direct, program.loop = is_direct(program, plan), program.calls[0].loop
    if not program.direct:
        s0_count(counters.tiled)


cdef bint is_direct(const Program* program, const Plan* plan) noexcept nogil:
    """Whether one loop reads the leaves in their order and writes the output."""
    cdef const Call* call = &program.calls[0]
    cdef int k
    if program.call_count != 1 or call.kind != CALL_LOOP or call.nop != plan.nop:
        return False
    for k in range(call.nop):
        if call.location[k] != k:
            return False
    return True


cdef void make_single(Program* program, const Plan* plan, Kernel kernel) noexcept nogil:
    """Make the calls of one kernel, whose operands are the leaves. The last leaf may be used for several operands."""
    cdef Step step
    cdef int k
    step.kernel = kernel
    program.leaves, program.outputs = plan.nop - 1, 1
    program.steps, program.step_count, program.constant_count = &step, 1, 0
    for k in range(inputs_of(kernel)):
        step.inputs[k] = min(k, program.leaves - 1)
        program.source[k] = k
    program.source[FIRST_STEP] = program.stored[0] = FIRST_STEP
    make_calls(program, plan)
    program.steps = NULL


cdef bint is_transposed_copy(const Preparation* state) noexcept nogil:
    """Whether a program only copies one transposed leaf from its slot to contiguous elements, by ordinary stores."""
    cdef const Program* program = state.program
    cdef const Call* calls = program.calls
    cdef int view = program.leaves, s
    if view != 1 or program.outputs != 1 or program.call_count != 2 or program.linear:
        return False
    for s in range(program.step_count):
        if is_run(program, s) and not is_copy(program.steps[s].kernel):
            return False
    return (
        calls[0].kind == CALL_TRANSPOSE and calls[1].kind == CALL_LOOP and calls[1].location[1] == view
        and state.plan.code[view] == state.plan.code[0] and state.plan.strides[view][0] == calls[0].size
    )


cdef void choose_prefetched(Preparation* state) noexcept nogil:
    """Choose the operands to prefetch: Note [Prefetching]."""
    cdef Program* program = state.program
    cdef const Plan* plan = state.plan
    cdef int k, d
    cdef int64_t each, total = 0
    program.prefetched = 0
    if program.folds or program.call_count < 2:
        return
    for k in range(plan.nop):
        each = itemsize_at(plan.code[k])
        # An output that a linear program computes into a slot has no memory.
        if plan.data[k] is NULL or state.streamed[k] or plan.ndim == 0 or plan.strides[k][0] != each or (program.axis and not state.varies[k] & OUTER):
            continue
        for d in range(plan.ndim):
            if plan.strides[k][d] != 0:
                each *= plan.shape[d]
        total += each
        program.prefetched_view[program.prefetched] = k
        program.prefetched += 1
    if total < tuning.prefetched_bytes:
        program.prefetched = 0
    for k in range(program.prefetched):
        s0_count(counters.prefetched)


cdef void emit_output(Preparation* state, Kernel kernel, const int* inputs, int view, bint may_stream) noexcept nogil:
    """Add the call that writes an output, by non-temporal stores if these are faster."""
    cdef const Program* program = state.program
    cdef int source = inputs[0] - FIRST_SLOT
    cdef bint copy = is_copy(kernel) and source >= 0 and program.calls[source].kind == CALL_TRANSPOSE
    cdef bint stream = may_stream and (copy or program.call_count < tuning.streamed_steps)
    stream = stream and streams(program, state.plan, view, state.program.leaves, tuning.streamed_copy_bytes if copy else tuning.streamed_bytes)
    if copy and stream:
        s0_count(counters.streamed)
        state.program.streams = state.streamed[view] = True
    emit(state, CALL_STREAM if copy and stream else CALL_LOOP, kernel, inputs_of(kernel), inputs, view, stream)


cdef void take_slots(Program* program) noexcept nogil:
    """Assign slots to the results of calls; a slot is free after the last call that reads it."""
    cdef Call* calls = program.calls
    cdef int c, k, from_, count = 0
    for c in range(program.call_count):
        for k in range(calls[c].nop - 1):
            if calls[c].location[k] >= FIRST_SLOT:
                calls[calls[c].location[k] - FIRST_SLOT].last = c
    for c in range(program.call_count):
        if calls[c].slot >= 0:
            if count:
                count -= 1
                calls[c].slot = calls[count].idle
            else:
                calls[c].slot = program.slots
                program.slots += 1
        for k in range(calls[c].nop - 1):
            from_ = calls[c].location[k] - FIRST_SLOT
            if from_ >= 0 and calls[from_].last == c:
                calls[count].idle = calls[from_].slot
                count += 1
                calls[from_].last = -1  # an operand may occur twice
