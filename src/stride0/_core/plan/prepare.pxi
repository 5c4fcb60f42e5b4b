# Preparing a program: choose the loops, the operands and slots that they run on, and the layouts.
#
# Note [Tiles]
#     A single kernel that can read its operands directly runs on the two innermost axes at once. All other programs run in
#     tiles: a range along the innermost axis by a range along another axis. An operand that a kernel cannot read directly
#     is first written to a slot, a buffer of the size of a tile. A leaf of another dtype is cast. A leaf that is contiguous
#     along the tile's other axis is transposed: a loop along the innermost axis would read one element of every cache line,
#     and the line would be evicted before its next element is read. A copy is transposed into the result itself. If
#     another step reads the result of a step, that result is in a slot too. A slot is reused after the last step that reads it.
#
#     A value that does not vary along an axis of the tile (a broadcast leaf, or a value computed from such leaves only) has
#     one element along it in its slot.
#
#     Tiles change no bit: elementwise kernels may start at any element, and a folded tile has the elements that a
#     reduction folds at once, by Note [Order of a reduction]: whole blocks along a run, rows in fours.
#
# Note [Non-temporal stores]
#     A result that is larger than the last-level cache is written by stores that bypass the caches, if the kernel has a
#     loop for that: a cache line that is written completely need not be read before. For a transposed copy this pays for
#     smaller results too, since its lines are evicted before they are used. These stores are not used if
#
#     * the result is also an operand, because its line has just been read;
#     * the operation is slow: its loads would wait for the stores, so it has no such loop;
#     * the elements are not contiguous and do not fill cache lines;
#     * the program has many calls and its results are prefetched: computing takes longer than writing, and the stores would
#       only add copies.
#
# Note [Prefetching]
#     A tile alternates between calls that read or write memory and calls that compute in slots. The processor does not
#     look ahead far enough to overlap them: it would wait for the memory of a tile, then compute, then wait again. So each
#     call is followed by prefetching a part of the next tile's memory: the leaves that it reads and the outputs that it
#     writes. This pays for data outside of the second-level cache: from `prefetched_bytes` on. Non-temporal stores need
#     no prefetching.


cdef int layout_of(Kernel kernel, const Py_ssize_t* inner) noexcept nogil:
    """The layout of a kernel whose operands have the strides `inner`, by Note [Layouts] of the generator."""
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


ctypedef struct Preparation:
    # State of a program while its calls are made. Arrays are indexed by sources of values, or by operands of the plan.
    Program* program
    const Plan* plan
    int code[MAX_VALUES]
    int location[MAX_VALUES]
    int cast_code[MAX_VALUES]       # a dtype to which the value was cast, and the location of the cast value; or -1
    int cast_location[MAX_VALUES]
    int varies[MAX_VIEWS]           # axes of a tile along which each operand varies
    bint transposed[MAX_VIEWS]
    bint streamed[MAX_VIEWS]


cdef int other_axis(const Plan* plan, int k) noexcept nogil:
    """The axis of a plan, other than the innermost, along which an operand is contiguous; 0 if there is no such axis."""
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
    """Choose the leaves to transpose and the axes of tiles; returns whether any leaf is transposed."""
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
    """Whether a leaf that is contiguous along an axis may be transposed without changing the order of a reduction."""
    cdef const Py_ssize_t* result = plan.strides[plan.nop - 1]
    if not program.folds:
        return axis == 1 or not program.linear
    # Allowed for runs of different accumulators, and for complete runs one by one. Adding rows is fast without transposing.
    return not program.rows and (result[axis] != 0 or (axis == 1 and plan.shape[0] <= FOLD_BLOCK))


cdef bint streams(const Program* program, const Plan* plan, int k, int leaves, int64_t at_least) noexcept nogil:
    """Whether an output of `at_least` bytes or more is written by non-temporal stores."""
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
    """The loop to run: with non-temporal stores if `streamed` and the kernel has one for these strides."""
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


cdef void prepare(Program* program, const Plan* plan, Kernel kernel) noexcept nogil:
    """Prepare one kernel for the operands of the plan."""
    cdef int k, layout, result = plan.nop - 1, code
    cdef bint direct = True
    cdef bint transposed[MAX_VIEWS]
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef const s0_loop* loops
    begin(program, plan, kernel.kind == KIND_REDUCTION, False)
    code = result_code(kernel)
    if code >= 0:
        direct = plan.code[result] == code
        for k in range(result):
            if plan.code[k] != input_code(kernel, k):
                direct = False
        if choose_axis(program, plan, result, transposed):
            direct = False
    if not direct:
        make_single(program, plan, kernel)
        return
    for k in range(plan.nop):
        inner[k] = plan.strides[k][0] if plan.ndim else 0 if program.folds and k == result else itemsize_at(plan.code[k])
    program.direct, program.transposed, program.call_count, program.slots = True, 0, 0, 0
    program.axis = 1 if plan.ndim > 1 and not (program.rows and plan.strides[result][1] != 0) else 0
    loops = loops_for(kernel, inner, code >= 0 and streams(program, plan, result, result, tuning.streamed_bytes), &layout)
    program.loop = loops[layout]


cdef inline void begin(Program* program, const Plan* plan, bint folds, bint linear) noexcept nogil:
    program.calls, program.inner, program.streams, program.linear, program.folds = program.single, NULL, False, linear, folds
    program.rows = folds and plan.ndim > 0 and plan.strides[plan.nop - 1][0] != 0


cdef void prepare_computed(Program* program, const Plan* plan, Kernel kernel, const Program* inner, const Plan* space) noexcept nogil:
    """Prepare a reduction of one or two computed operands (Note [Computed operands]), which `inner` computes."""
    begin(program, plan, True, False)
    program.inner, program.space = inner, space
    make_single(program, plan, kernel)


cdef bint prepare_selected(Program* program, const Plan* plan, bint linear) noexcept nogil:
    """
    Prepare the selected steps. A `linear` program computes operands of a reduction.

    Returns False if memory cannot be allocated. `release_program` frees the memory of the calls.
    """
    cdef int s, calls = program.leaves + program.outputs
    begin(program, plan, False, linear)
    if program.step_count > 1 and plan.ndim:
        pair_steps(program, plan)
    # The maximum: each leaf is transposed, and each operand and each output is cast. A pair has the operands of both steps, minus one.
    for s in range(program.step_count):
        if is_run(program, s) or is_paired(program, FIRST_STEP + s):
            calls += inputs_of(program.steps[s].kernel) + (1 if is_run(program, s) else -1)
    if calls > SINGLE_CALLS:
        program.calls = <Call*>malloc(calls * sizeof(Call))
    if program.calls is NULL:
        program.calls = program.single
        return False
    make_calls(program, plan)
    return True


cdef void release_program(Program* program) noexcept nogil:
    if program.calls != program.single:
        free(program.calls)
