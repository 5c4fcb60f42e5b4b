# The calls of a prepared chain, and the slots of their values.

cdef int code_of(const Plan* plan, const Chain* chain, int value) noexcept nogil:
    """Code of the dtype of a value."""
    if value < chain.leaves:
        return plan.code[value]
    value -= chain.leaves
    return chain.constant_code[value] if value < chain.constants else result_code(chain.steps[value - chain.constants].kernel)


cdef bint is_single(const Chain* chain) noexcept nogil:
    """Whether a chain is one kernel, which reads the leaves in their order and writes the output."""
    cdef int k
    if chain.count != 1 or chain.outputs != 1 or chain.constants or chain.stored[0] != chain.leaves or inputs_of(chain.steps[0].kernel) != chain.leaves:
        return False
    for k in range(chain.leaves):
        if chain.steps[0].inputs[k] != k:
            return False
    return True


cdef void prepare_computed(Program* program, const Plan* plan, Kernel kernel, const Program* inner, const Plan* space) noexcept nogil:
    """Prepare a reduction of one or two computed operands (Note [Computed operands]), which `inner` computes."""
    cdef Chain chain
    cdef int k
    begin_fold(program, plan, kernel)
    program.inner, program.space, program.streams, program.linear = inner, space, False, False
    program.calls = program.few
    chain.leaves, chain.constants, chain.count, chain.outputs = plan.nop - 1, 0, 1, 1
    chain.steps[0].kernel = kernel
    for k in range(inputs_of(kernel)):
        chain.steps[0].inputs[k] = min(k, chain.leaves - 1)
    chain.stored[0] = chain.leaves
    make(program, plan, &chain)


cdef inline int varies(const Maker* maker, int place) noexcept nogil:
    """Along which axes of a tile the elements of a place vary."""
    if place >= FIRST_SLOT:
        return maker.program.calls[place - FIRST_SLOT].varies
    return maker.varies[place] if place < FIRST_CONSTANT else 0


cdef Py_ssize_t stride_of(const Maker* maker, int place, bint outer) noexcept nogil:
    """Stride of a place along an axis of a tile, for the choice of a layout: a slot's item size, or 0."""
    cdef const Plan* plan = maker.plan
    if place >= FIRST_SLOT:
        return maker.program.calls[place - FIRST_SLOT].size if varies(maker, place) & (OUTER if outer else INNER) else 0
    if place >= FIRST_CONSTANT:
        return 0
    if outer:
        return plan.strides[place][maker.program.axis]
    return plan.strides[place][0] if plan.ndim else itemsize_at(plan.code[place])


cdef int emit(Maker* maker, int kind, Kernel kernel, int nin, const int* inputs, int result, bint streamed) noexcept nogil:
    """Add a call; `result` is a view, or -1 for a slot. Returns the place of the result."""
    cdef Program* program = maker.program
    cdef Call* call = &program.calls[program.count]
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef const s0_loop* loops
    cdef int k, layout, along = 0
    for k in range(nin):
        call.place[k] = inputs[k]
        along |= varies(maker, inputs[k])
    call.kind, call.nop, call.slot = kind, nin + 1, -1
    call.size = itemsize_at(result_code(kernel) if kind == CALL_LOOP else kernel.code)
    if result >= 0:
        along = INNER | OUTER
    else:
        result = FIRST_SLOT + program.count
        call.slot = 0
        program.widest = max(program.widest, call.size)
        program.flat = program.flat and not along & OUTER
        program.has_rows = program.has_rows or along == INNER
    call.place[nin] = result
    call.varies = along
    program.count += 1
    if kind == CALL_LOOP:
        for k in range(nin + 1):
            # A column: along the other axis of the tile.
            inner[k] = stride_of(maker, call.place[k], along == OUTER) if along else call.size if k == nin else itemsize_at(input_code(kernel, k))
        loops = loops_for(kernel, inner, streamed, &layout)
        call.loop = loops[layout]
        if loops != loops_of(kernel):
            program.streams = maker.streamed[result] = True
    return result


cdef int fetch(Maker* maker, int value, int code) noexcept nogil:
    """The place of a value in a dtype: its own, or a slot to which it is transposed or cast."""
    cdef int place = maker.place[value]
    if value < maker.leaves and place == value and maker.transposed[value]:
        place = maker.place[value] = emit(maker, CALL_TRANSPOSE, cast_kernel(maker.code[value], maker.code[value]), 1, &place, -1, False)
    if maker.code[value] == code:
        return place
    if maker.cast_code[value] != code:
        s0_count(counters.cast)
        maker.cast_place[value] = emit(maker, CALL_LOOP, cast_kernel(maker.code[value], code), 1, &place, -1, False)
        maker.cast_code[value] = code
    return maker.cast_place[value]


cdef bint is_read(const Chain* chain, int value, int after) noexcept nogil:
    """Whether a step after step `after` reads a value, or an output other than the first stores it."""
    cdef int s, k, held = 0
    for s in range(after + 1, chain.count):
        for k in range(inputs_of(chain.steps[s].kernel)):
            if chain.steps[s].inputs[k] == value:
                return True
    for k in range(chain.outputs):
        held += chain.stored[k] == value
    return held > 1


cdef void make(Program* program, const Plan* plan, const Chain* chain) noexcept nogil:
    cdef Maker maker
    cdef Kernel kernel
    cdef int s, k, o, value, view, place, leaves = chain.leaves
    cdef int inputs[MAX_OPERANDS]
    cdef bint written[MAX_VIEWS]
    cdef bint stream
    s0_count(counters.tiled)
    maker.program, maker.plan, maker.leaves = program, plan, leaves
    program.direct, program.count, program.slots, program.widest = False, 0, 0, 1
    program.flat, program.has_rows = not program.folds, False
    for k in range(leaves):
        maker.transposed[k] = False
    choose_axis(program, plan, leaves if program.inner is NULL else 0, maker.transposed)
    if program.rows and plan.ndim > 1 and plan.strides[plan.nop - 1][1] != 0:
        program.axis = 0
    for k in range(program.transposed):
        s0_count(counters.transposed)
    for k in range(plan.nop):
        maker.streamed[k] = False
        maker.varies[k] = INNER if plan.ndim and plan.strides[k][0] != 0 else 0
        if program.axis and plan.strides[k][program.axis] != 0:
            maker.varies[k] |= OUTER
    program.constant = &chain.constant[0]
    for value in range(leaves + chain.constants + chain.count):
        maker.place[value] = value if value < leaves else FIRST_CONSTANT + value - leaves
        maker.code[value], maker.cast_code[value] = code_of(plan, chain, value), -1
    for value in range(leaves):
        if maker.transposed[value]:
            program.widest = max(program.widest, itemsize_at(plan.code[value]))
    for o in range(chain.outputs):
        written[o] = False
    if program.inner is not NULL:
        s0_count(counters.computed)
        if leaves > 1:
            inputs[0] = 1
            maker.place[1] = inputs[1] = emit(&maker, CALL_RESERVE, cast_kernel(plan.code[1], plan.code[1]), 1, inputs, -1, False)
        inputs[0] = 0
        # Into a slot, or into the memory of the output that has the same elements.
        view = -1 if program.space.data[program.space.nop - 1] is NULL else 0
        maker.place[0] = emit(&maker, CALL_COMPUTE, cast_kernel(plan.code[0], plan.code[0]), leaves, inputs, view, False)
    for s in range(chain.count):
        kernel = chain.steps[s].kernel
        value = leaves + chain.constants + s
        for k in range(inputs_of(kernel)):
            inputs[k] = fetch(&maker, chain.steps[s].inputs[k], input_code(kernel, k))
        view = -1
        for o in range(chain.outputs):
            if chain.stored[o] == value and plan.code[leaves + o] == maker.code[value] and view < 0:
                view = leaves + o
                written[o] = True
        if view < 0:
            maker.place[value] = emit(&maker, CALL_LOOP, kernel, inputs_of(kernel), inputs, -1, False)
        else:
            emit_output(&maker, kernel, inputs, view, not is_read(chain, value, s))
            maker.place[value] = view
    for o in range(chain.outputs):
        if written[o]:
            continue
        value, view = chain.stored[o], leaves + o
        place = fetch(&maker, value, maker.code[value])
        if plan.code[view] != maker.code[value]:
            s0_count(counters.cast)
        emit_output(&maker, cast_kernel(maker.code[value], plan.code[view]), &place, view, True)
    if is_transposed_copy(&maker, chain):
        program.calls[0].place[1], program.calls[0].slot, program.count = program.calls[1].place[1], -1, 1
    take_slots(program)
    look_ahead(&maker)


cdef bint is_transposed_copy(const Maker* maker, const Chain* chain) noexcept nogil:
    """Whether a program only copies one transposed leaf from its slot to contiguous elements, by ordinary stores."""
    cdef const Call* calls = maker.program.calls
    cdef int view = maker.leaves
    if maker.leaves != 1 or chain.outputs != 1 or maker.program.count != 2 or maker.program.linear:
        return False
    if chain.count and (chain.steps[0].kernel.kind != KIND_CAST or chain.steps[0].kernel.row != chain.steps[0].kernel.code):
        return False
    return (
        calls[0].kind == CALL_TRANSPOSE and calls[1].kind == CALL_LOOP and calls[1].place[1] == view
        and maker.plan.code[view] == maker.plan.code[0] and maker.plan.strides[view][0] == calls[0].size
    )


cdef void look_ahead(Maker* maker) noexcept nogil:
    """Choose the views to prefetch: Note [Prefetching]."""
    cdef Program* program = maker.program
    cdef const Plan* plan = maker.plan
    cdef int k, d
    cdef int64_t each, total = 0
    program.ahead = 0
    if program.folds or program.count < 2:
        return
    for k in range(plan.nop):
        each = itemsize_at(plan.code[k])
        # An output that a linear program computes into a slot has no memory.
        if plan.data[k] is NULL or maker.streamed[k] or plan.ndim == 0 or plan.strides[k][0] != each or (program.axis and not maker.varies[k] & OUTER):
            continue
        for d in range(plan.ndim):
            if plan.strides[k][d] != 0:
                each *= plan.shape[d]
        total += each
        program.ahead_view[program.ahead] = k
        program.ahead += 1
    if total < tuning.prefetched_bytes:
        program.ahead = 0
    for k in range(program.ahead):
        s0_count(counters.prefetched)


cdef void emit_output(Maker* maker, Kernel kernel, const int* inputs, int view, bint may_stream) noexcept nogil:
    """Add the call that writes an output, by non-temporal stores if these are faster."""
    cdef const Program* program = maker.program
    cdef int source = inputs[0] - FIRST_SLOT
    cdef bint copy = kernel.kind == KIND_CAST and kernel.row == kernel.code and source >= 0 and program.calls[source].kind == CALL_TRANSPOSE
    cdef bint stream = may_stream and (copy or program.count < tuning.streamed_steps)
    stream = stream and streams(program, maker.plan, view, maker.leaves, tuning.streamed_copy_bytes if copy else tuning.streamed_bytes)
    if copy and stream:
        s0_count(counters.streamed)
        maker.program.streams = maker.streamed[view] = True
    emit(maker, CALL_STREAM if copy and stream else CALL_LOOP, kernel, inputs_of(kernel), inputs, view, stream)


cdef void take_slots(Program* program) noexcept nogil:
    """Assign slots to the results of calls; a slot is free after the last call that reads it."""
    cdef Call* calls = program.calls
    cdef int c, k, from_, count = 0
    for c in range(program.count):
        for k in range(calls[c].nop - 1):
            if calls[c].place[k] >= FIRST_SLOT:
                calls[calls[c].place[k] - FIRST_SLOT].last = c
    for c in range(program.count):
        if calls[c].slot >= 0:
            if count:
                count -= 1
                calls[c].slot = calls[count].idle
            else:
                calls[c].slot = program.slots
                program.slots += 1
        for k in range(calls[c].nop - 1):
            from_ = calls[c].place[k] - FIRST_SLOT
            if from_ >= 0 and calls[from_].last == c:
                calls[count].idle = calls[from_].slot
                count += 1
                calls[from_].last = -1  # an operand may occur twice
