# Preparing a chain: which kernels run on which views and slots, in which layouts.
#
# Note [Tiles]
#     A single kernel that can read its operands directly runs on the two innermost axes at once. All other chains run in
#     tiles: some elements along the innermost axis by some along another one. An operand that a kernel cannot read directly
#     is first written to a slot, a buffer of the size of a tile: a leaf of another dtype is cast; one that is contiguous
#     along the tile's other axis is transposed, since a loop along the innermost axis would read one element of every cache
#     line and need the next one after the line has been evicted. A copy is transposed into the result itself. The result of a step that another step reads is in a slot
#     too. A slot is reused after the last step that reads it.
#
#     A value that does not vary along an axis of the tile (a broadcast leaf, or a value computed from such leaves only) has
#     one element along it in its slot.
#
#     Tiles change no bit: elementwise kernels may start at any element, and a tile that is folded has the elements that a
#     reduction folds at once, by Note [Order of a reduction]: whole blocks along a run, rows in fours.
#
# Note [Non-temporal stores]
#     A result that is larger than the last cache is written by stores that bypass the caches, if the kernel has a loop for
#     that: a cache line that is written completely need not be read before. For a transposed copy this pays for smaller
#     results, since its lines are evicted before they are used. Not where the result is also an operand, whose line has just
#     been read. Slow operations have no such loops: their loads would wait for the stores. Only contiguous elements fill cache lines. A chain of many calls computes for longer than its results take to
#     be written, if they are prefetched: there, these stores would only cost their own copies of each line.
#
# Note [Prefetching]
#     A tile alternates between calls that read or write memory and calls that compute in slots, and the processor does not
#     look so far ahead that these overlap: it would wait for the memory of a tile, then compute, then wait again. So after each
#     call a part of the memory of the next tile, the leaves that it reads and the outputs that it writes, is prefetched. This pays
#     for data that is not in the second-level cache: from `prefetched_bytes` on. Non-temporal stores need no prefetching.
#
# Note [Pairs of steps]
#     A step in a slot writes and reads each element in the L1 cache, which takes longer than an addition. So the table has loops
#     of two steps, for pairs that are frequent in floating point: the second one's operand is the first one's result, rounded as
#     it would be in memory, and no contraction into fma is allowed, so that the bits are the same, except for the sign and payload
#     of NaNs (Note [Same bits]). Two steps are paired where nothing
#     else reads the result of the first; where both results vary along the same axes, or the first would be computed more often;
#     and where there is a loop for the strides of the operands.



cdef int layout_of(Kernel kernel, const Py_ssize_t* inner) noexcept nogil:
    """Layout of a kernel for such strides of its operands, by Note [Layouts] of the generator."""
    cdef int k, nin = inputs_of(kernel), size, broadcasts = 0
    cdef bint rows, contiguous
    if kernel.kind == KIND_REDUCTION:
        rows = inner[nin] != 0
        contiguous = not rows or inner[nin] == itemsize_at(result_code(kernel))
        for k in range(nin):
            if inner[k] != itemsize_at(kernel.code):
                if nin == 2 and k == 1 and inner[1] == 0 and contiguous and not rows:
                    return 4
                contiguous = False
        return (2 if contiguous else 3) if rows else 0 if contiguous else 1
    if kernel.kind != KIND_OP and kernel.kind != KIND_CAST and kernel.kind != KIND_WHERE and kernel.kind != KIND_PAIR:
        return 0
    for k in range(nin + 1):
        size = itemsize_at(input_code(kernel, k) if k < nin else result_code(kernel))
        if inner[k] == 0 and k < nin:
            broadcasts |= 1 << k
        elif inner[k] != size:
            return 3
    if broadcasts == 0:
        return 0
    if nin == 1:
        return 1
    if nin == 2:
        return 1 if broadcasts == 1 else 2 if broadcasts == 2 else 3
    if broadcasts == 2 and kernel.kind != KIND_OP:
        return 4
    return 1 if broadcasts == 6 else 2 if broadcasts == 4 else 3


ctypedef struct Maker:
    # The values of a chain while it is prepared.
    Program* program
    const Plan* plan
    int leaves
    int code[MAX_VALUES]
    int place[MAX_VALUES]
    int cast_code[MAX_VALUES]       # a dtype to which the value was cast, and the place of that; -1 for none
    int cast_place[MAX_VALUES]
    int varies[MAX_VIEWS]           # of the views
    bint transposed[MAX_VIEWS]
    bint streamed[MAX_VIEWS]


cdef int other_axis(const Plan* plan, int k) noexcept nogil:
    """The axis of a plan along which an operand is contiguous, where the innermost one is not it; or 0."""
    cdef int d, size = itemsize_at(plan.code[k])
    cdef Py_ssize_t stride = plan.strides[k][0]
    if -2 * size < stride < 2 * size:
        return 0
    for d in range(1, plan.ndim):
        stride = plan.strides[k][d]
        if (stride == size or stride == -size) and plan.shape[d] >= tuning.transposed_side:
            return d
    return 0


cdef bint choose_axis(Program* program, const Plan* plan, int leaves, bint* transposed) noexcept nogil:
    """Which leaves are transposed and along which axes tiles extend; whether there are such leaves."""
    cdef int k, d, axis = 0
    cdef Py_ssize_t total = 1
    program.axis = 1 if plan.ndim > 1 else 0
    program.transposed = 0
    for k in range(leaves):
        transposed[k] = False
    if plan.ndim < 2 or plan.shape[0] < tuning.transposed_side:
        return False
    for d in range(plan.ndim):
        total *= plan.shape[d]
    if total < tuning.transposed_elements:
        return False
    for k in range(leaves):
        d = other_axis(plan, k)
        if d and (axis == 0 or d == axis) and may_transpose(program, plan, d):
            axis = d
            transposed[k] = True
            program.transposed += 1
    if axis:
        program.axis = axis
    return axis != 0


cdef bint may_transpose(const Program* program, const Plan* plan, int axis) noexcept nogil:
    """Whether a leaf that is contiguous along an axis is transposed: not where that changes the order of a reduction."""
    cdef const Py_ssize_t* result = plan.strides[plan.nop - 1]
    if not program.folds:
        return axis == 1 or not program.linear
    # Runs of different accumulators, or complete runs one after the other. Rows that are added are fast without it.
    return not program.rows and (result[axis] != 0 or (axis == 1 and plan.shape[0] <= FOLD_BLOCK))


cdef bint streams(const Program* program, const Plan* plan, int k, int leaves, int64_t at_least) noexcept nogil:
    """Whether an output, if it has so many bytes, is written by non-temporal stores."""
    cdef int d, size = itemsize_at(plan.code[k])
    cdef int64_t total = size
    if program.linear or program.folds or plan.ndim == 0 or plan.strides[k][0] != size or plan.shape[0] * size < tuning.streamed_run_bytes:
        return False
    for d in range(plan.ndim):
        total *= plan.shape[d]
    if total < at_least:
        return False
    for d in range(leaves):
        if plan.data[d] == plan.data[k]:
            return False
    return True


cdef const s0_loop* loops_for(Kernel kernel, const Py_ssize_t* inner, bint streamed, int* layout) noexcept nogil:
    """The loop to run: with non-temporal stores if these are chosen and there is such a loop for these strides."""
    cdef const s0_loop* found
    cdef int k
    layout[0] = layout_of(kernel, inner)
    if streamed:
        found = stream_loops_of(kernel)
        for k in range(inputs_of(kernel)):
            if inner[k] != itemsize_at(input_code(kernel, k)) and (inner[k] != 0 or kernel.kind == KIND_CAST):
                found = NULL
                break
        if found is not NULL and found[0 if kernel.kind == KIND_CAST else layout[0]] is not NULL:
            s0_count(counters.streamed)
            if kernel.kind == KIND_CAST:
                layout[0] = 0
            return found
    return loops_of(kernel)


cdef void prepare(Program* program, const Plan* plan, Kernel kernel, bint linear) noexcept nogil:
    """Prepare one kernel, whose operands are those of the plan; a `linear` program is for `compute`."""
    cdef int k, layout, result = plan.nop - 1, code
    cdef bint direct = True
    cdef bint transposed[MAX_VIEWS]
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef const s0_loop* loops
    cdef Chain chain
    program.inner, program.streams, program.linear = NULL, False, linear
    begin_fold(program, plan, kernel)
    code = result_code(kernel)
    if code >= 0:
        direct = plan.code[result] == code
        for k in range(result):
            if plan.code[k] != input_code(kernel, k):
                direct = False
        if choose_axis(program, plan, result, transposed):
            direct = False
    program.calls = program.few
    if not direct:
        chain.leaves, chain.constants, chain.count, chain.outputs = result, 0, 1, 1
        chain.steps[0].kernel = kernel
        for k in range(result):
            chain.steps[0].inputs[k] = k
        chain.stored[0] = result
        make(program, plan, &chain)
        return
    for k in range(plan.nop):
        inner[k] = plan.strides[k][0] if plan.ndim else 0 if program.folds and k == result else itemsize_at(plan.code[k])
    program.direct, program.transposed, program.count, program.slots = True, 0, 0, 0
    program.axis = 1 if plan.ndim > 1 and not (program.rows and plan.strides[result][1] != 0) else 0
    loops = loops_for(kernel, inner, code >= 0 and streams(program, plan, result, result, tuning.streamed_bytes), &layout)
    program.loop = loops[layout]


cdef void begin_fold(Program* program, const Plan* plan, Kernel kernel) noexcept nogil:
    program.folds = kernel.kind == KIND_REDUCTION
    program.rows = program.folds and plan.ndim > 0 and plan.strides[plan.nop - 1][0] != 0


cdef bint prepare_chain(Program* program, const Plan* plan, const Chain* chain, bint linear) noexcept nogil:
    """
    Prepare a chain; its reduction, if it has one, reads leaves only.

    `release_program` frees its memory. False, with nothing to free, where there is none.
    """
    cdef int s, calls = chain.leaves + chain.outputs
    cdef Chain shorter
    cdef const Chain* given = chain
    if chain.count > 1 and plan.ndim:
        pair_steps(plan, chain, &shorter)
        chain = &shorter
    if is_single(chain):
        prepare(program, plan, chain.steps[0].kernel, linear)
        return True
    # At most: each leaf transposed, each operand and each output cast.
    for s in range(chain.count):
        calls += inputs_of(chain.steps[s].kernel) + 1
    program.calls = <Call*>malloc(calls * sizeof(Call))
    if program.calls is NULL:
        return False
    program.inner, program.streams, program.linear, program.folds, program.rows = NULL, False, linear, False, False
    if chain.count:
        begin_fold(program, plan, chain.steps[chain.count - 1].kernel)
    make(program, plan, chain)
    program.constant = &given.constant[0]
    return True


cdef void copy_chain(Chain* out, const Chain* chain) noexcept nogil:
    """Copy what is used of a chain."""
    out.leaves, out.constants, out.count, out.outputs = chain.leaves, chain.constants, chain.count, chain.outputs
    memcpy(out.steps, chain.steps, chain.count * sizeof(Step))
    memcpy(out.stored, chain.stored, chain.outputs * sizeof(int))
    memcpy(out.constant_code, chain.constant_code, chain.constants * sizeof(int))
    memcpy(out.constant, chain.constant, chain.constants * sizeof(void*))


ctypedef struct Uses:
    # Of the values of a chain, before its steps are paired.
    int reads[MAX_VALUES]       # how often it is read or stored
    int along[MAX_VALUES]       # axes of the plan along which it varies, in bits
    bint stored[MAX_VALUES]
    bint paired[MAX_STEPS]      # a step with one before it
    bint gone[MAX_STEPS]        # and that one


cdef void pair_steps(const Plan* plan, const Chain* chain, Chain* out) noexcept nogil:
    """A chain that computes the same with fewer steps: Note [Pairs of steps]."""
    cdef Uses uses
    cdef int value[MAX_VALUES]
    cdef int k, s, q, d, first = chain.leaves + chain.constants
    for k in range(first + chain.count):
        uses.reads[k], uses.along[k], uses.stored[k], value[k] = 0, 0, False, k
    for k in range(chain.leaves):
        for d in range(plan.ndim):
            uses.along[k] |= (plan.strides[k][d] != 0) << d
    for k in range(chain.outputs):
        uses.stored[chain.stored[k]] = True
    for s in range(chain.count):
        uses.gone[s] = uses.paired[s] = False
        for q in range(inputs_of(chain.steps[s].kernel)):
            uses.reads[chain.steps[s].inputs[q]] += 1
            uses.along[first + s] |= uses.along[chain.steps[s].inputs[q]]
    copy_chain(out, chain)
    for s in range(chain.count):
        for q in range(inputs_of(chain.steps[s].kernel)):
            if pair_step(plan, chain, &uses, s, q, &out.steps[s]):
                s0_count(counters.paired)
                break
    out.count = 0
    for s in range(chain.count):
        if uses.gone[s]:
            continue
        value[first + s] = first + out.count
        out.steps[out.count].kernel = out.steps[s].kernel
        for q in range(inputs_of(out.steps[s].kernel)):
            out.steps[out.count].inputs[q] = value[out.steps[s].inputs[q]]
        out.count += 1
    for k in range(chain.outputs):
        out.stored[k] = value[chain.stored[k]]


cdef bint is_in_runs(const Plan* plan, const Chain* chain, int value) noexcept nogil:
    """Whether the outputs that hold a value, if there are any, are contiguous along the innermost axis."""
    cdef int o
    for o in range(chain.outputs):
        if chain.stored[o] == value and plan.strides[chain.leaves + o][0] != itemsize_at(plan.code[chain.leaves + o]):
            return False
    return True


cdef bint pair_step(const Plan* plan, const Chain* chain, Uses* uses, int s, int at, Step* out) noexcept nogil:
    """Make a step of one and that which computes its operand `at`; False, with nothing done, where that is not possible."""
    cdef int first = chain.leaves + chain.constants, value = chain.steps[s].inputs[at], p = value - first
    cdef int q, k, o, count = 0, stored, second
    cdef Kernel kernel = chain.steps[s].kernel
    cdef const Step* before
    cdef Step made
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef bint twice
    if p < 0 or uses.gone[p] or uses.paired[p] or uses.stored[value] or uses.along[value] != uses.along[first + s] or not uses.along[value] & 1:
        return False
    before = &chain.steps[p]
    if kernel.kind != KIND_OP or before.kernel.kind != KIND_OP or kernel.code != before.kernel.code or result_code(before.kernel) != kernel.code:
        return False
    twice = inputs_of(kernel) == 2 and chain.steps[s].inputs[0] == chain.steps[s].inputs[1]
    if inputs_of(kernel) > 2 or uses.reads[value] != (2 if twice else 1):
        return False
    second = kernel.row
    if twice:
        if second != OP_MULTIPLY:
            return False
        second, at = OP_SQUARE, 0
    if FACTS.pair[before.kernel.row][second][at] < 0:
        return False
    made.kernel = pair_kernel(FACTS.pair[before.kernel.row][second][at], kernel.code)
    for q in range(inputs_of(before.kernel)):
        made.inputs[count] = before.inputs[q]
        count += 1
        # The memory of this leaf is written in between.
        for o in range(chain.outputs):
            stored = chain.stored[o] - first
            if before.inputs[q] < chain.leaves and p < stored < s and plan.data[before.inputs[q]] == plan.data[chain.leaves + o]:
                return False
    if FACTS.commutes[before.kernel.row] and not uses.along[made.inputs[0]] & 1:
        made.inputs[0], made.inputs[1] = made.inputs[1], made.inputs[0]
    if inputs_of(made.kernel) > count:
        made.inputs[count] = chain.steps[s].inputs[1 - at]
        count += 1
    for q in range(count):
        k = made.inputs[q]
        inner[q] = plan.strides[k][0] if k < chain.leaves else itemsize_at(kernel.code) if uses.along[k] & 1 else 0
        if code_of(plan, chain, k) != kernel.code and inner[q] != 0:
            # It is cast into a slot.
            inner[q] = itemsize_at(kernel.code)
        if not is_in_runs(plan, chain, k):
            return False
    if not is_in_runs(plan, chain, first + s):
        return False
    inner[count] = itemsize_at(kernel.code)
    if loops_of(made.kernel)[layout_of(made.kernel, inner)] is NULL:
        return False
    uses.gone[p] = uses.paired[s] = True
    out[0] = made
    return True


cdef void release_program(Program* program) noexcept nogil:
    if program.calls != program.few:
        free(program.calls)


cdef int code_of(const Plan* plan, const Chain* chain, int value) noexcept nogil:
    """Code of the dtype of a value."""
    if value < chain.leaves:
        return plan.code[value]
    value -= chain.leaves
    return chain.constant_code[value] if value < chain.constants else result_code(chain.steps[value - chain.constants].kernel)


cdef bint is_single(const Chain* chain) noexcept nogil:
    """Whether a chain is one kernel, whose operands are the leaves in their order, and its result the output."""
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
    """Add a call; `result` is a view, or -1 for a slot. Returns the place."""
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
    """Whether a step after another one reads a value, or an output other than the first stores it."""
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
    """Whether a program copies one transposed leaf, from its slot to contiguous elements that are written by ordinary stores."""
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
    """Which views are prefetched: Note [Prefetching]."""
    cdef Program* program = maker.program
    cdef const Plan* plan = maker.plan
    cdef int k, d
    cdef int64_t each, total = 0
    program.ahead = 0
    if program.folds or program.count < 2:
        return
    for k in range(plan.nop):
        each = itemsize_at(plan.code[k])
        # What a linear program computes into a slot has no memory.
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
    """Add the call that writes an output, by non-temporal stores where these are faster."""
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
