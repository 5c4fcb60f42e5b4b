# Two steps of a program in one loop.
#
# Note [Pairs of steps]
#     A step in a slot writes and reads each element in the L1 cache, which takes longer than an addition. So the table has
#     loops of two steps, for pairs that are frequent in floating point: the first result is an operand of the second step.
#     It is rounded as it would be in memory, and never contracted into fma, so the bits are the same except for the sign
#     and payload of NaNs (Note [Same bits]). Two steps are paired if nothing else reads the first result, if both results
#     vary along the same axes (otherwise the first would be computed more often), and if there is a loop for the strides.


ctypedef struct Uses:
    # Facts about the sources of values, before steps are paired.
    int reads[MAX_VALUES]       # how often a source is read
    int axes[MAX_VALUES]        # bits of the axes along which it varies
    bint stored[MAX_VALUES]
    bint pairs[MAX_STEPS]       # whether a step contains an earlier step


cdef void pair_steps(Program* program, const Plan* plan) noexcept nogil:
    """Merge steps into the later steps that read them: Note [Pairs of steps]."""
    cdef Uses uses
    cdef int k, s, q, d
    for k in range(program.leaves):
        uses.reads[k] = uses.axes[k] = 0
        for d in range(plan.ndim):
            uses.axes[k] |= (plan.strides[k][d] != 0) << d
    for k in range(program.constant_count):
        uses.reads[FIRST_CONSTANT + k] = uses.axes[FIRST_CONSTANT + k] = 0
    for k in range(FIRST_STEP, FIRST_STEP + program.step_count):
        uses.reads[k], uses.axes[k], uses.stored[k] = 0, 0, False
    for k in range(program.outputs):
        uses.stored[program.stored[k]] = True
    for s in range(program.step_count):
        uses.pairs[s] = False
        if is_run(program, s):
            for q in range(inputs_of(program.steps[s].kernel)):
                k = program.source[program.steps[s].inputs[q]]
                uses.reads[k] += 1
                uses.axes[FIRST_STEP + s] |= uses.axes[k]
    for s in range(program.step_count):
        if is_run(program, s):
            for q in range(inputs_of(program.steps[s].kernel)):
                k = program.source[program.steps[s].inputs[q]]
                if k >= FIRST_STEP and pair_step(program, plan, &uses, s, q, k):
                    s0_count(counters.paired)
                    break


cdef bint join(const Program* program, int at, bint is_reversed, Step* step) noexcept nogil:
    """
    Merge the step that computes operand `at` into `step`. The operands of the merged step may be reversed.

    Returns False and changes nothing if the table has no such pair.
    """
    cdef const Step* first = &program.steps[step.inputs[at] - FIRST_STEP]
    cdef int row = step.kernel.row, count = inputs_of(first.kernel), other = -1, q
    if inputs_of(step.kernel) == 2:
        other = step.inputs[1 - at]
        if other == step.inputs[at]:
            if row != OP_MULTIPLY:
                return False
            row, at, other = OP_SQUARE, 0, -1
    if FACTS.pair[first.kernel.row][row][at] < 0:
        return False
    step.kernel = pair_kernel(FACTS.pair[first.kernel.row][row][at], step.kernel.code)
    for q in range(count):
        step.inputs[count - 1 - q if is_reversed else q] = program.source[first.inputs[q]]
    if other >= 0:
        step.inputs[count] = other
    return True


cdef bint is_in_runs(const Program* program, const Plan* plan, int source) noexcept nogil:
    """Whether every output that stores a source is contiguous along the innermost axis."""
    cdef int o
    for o in range(program.outputs):
        if program.stored[o] == source and plan.strides[program.leaves + o][0] != itemsize_at(plan.code[program.leaves + o]):
            return False
    return True


cdef bint pair_step(Program* program, const Plan* plan, Uses* uses, int s, int at, int source) noexcept nogil:
    """Merge the step that computes `source`, operand `at` of step `s`, into step `s`. Returns False and changes nothing if that is impossible."""
    cdef int q, k, o, axes = uses.axes[FIRST_STEP + s], count = inputs_of(program.steps[s].kernel), size
    cdef Kernel kernel = program.steps[s].kernel
    cdef const Step* first = &program.steps[source - FIRST_STEP]
    cdef Step step
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef bint is_reversed
    if uses.pairs[source - FIRST_STEP] or uses.stored[source] or uses.axes[source] != axes or not axes & 1:
        return False
    if kernel.kind != KIND_OP or first.kernel.kind != KIND_OP or kernel.code != first.kernel.code or result_code(first.kernel) != kernel.code:
        return False
    selected_step(program, s, &step)
    if count > 2 or uses.reads[source] != (2 if count == 2 and step.inputs[0] == step.inputs[1] else 1):
        return False
    for q in range(inputs_of(first.kernel)):
        k = program.source[first.inputs[q]]
        # An output in between overwrites this leaf.
        for o in range(program.outputs):
            if k < FIRST_CONSTANT and source < program.stored[o] < FIRST_STEP + s and plan.data[k] == plan.data[program.leaves + o]:
                return False
    is_reversed = FACTS.commutes[first.kernel.row] and not uses.axes[program.source[first.inputs[0]]] & 1
    if not join(program, at, is_reversed, &step):
        return False
    count, size = inputs_of(step.kernel), itemsize_at(kernel.code)
    for q in range(count):
        k = step.inputs[q]
        inner[q] = plan.strides[k][0] if k < FIRST_CONSTANT else size if uses.axes[k] & 1 else 0
        if code_of(plan, program, k) != kernel.code and inner[q] != 0:
            # The operand is cast into a slot.
            inner[q] = size
        if not is_in_runs(program, plan, k):
            return False
    inner[count] = size
    if not is_in_runs(program, plan, FIRST_STEP + s) or loops_of(step.kernel)[layout_of(step.kernel, inner)] is NULL:
        return False
    program.source[source] = PAIRED_REVERSED if is_reversed else PAIRED
    uses.pairs[s] = True
    return True
