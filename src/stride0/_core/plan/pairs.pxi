# Two steps of a chain in one loop.
#
# Note [Pairs of steps]
#     A step in a slot writes and reads each element in the L1 cache, which takes longer than an addition. So the table has
#     loops of two steps, for pairs that are frequent in floating point: the first result is an operand of the second step.
#     It is rounded as it would be in memory, and never contracted into fma, so the bits are the same except for the sign
#     and payload of NaNs (Note [Same bits]). Two steps are paired if nothing else reads the first result, if both results
#     vary along the same axes (otherwise the first would be computed more often), and if there is a loop for the strides.


cdef void copy_chain(Chain* out, const Chain* chain) noexcept nogil:
    """Copy the used parts of a chain."""
    out.leaves, out.constants, out.count, out.outputs = chain.leaves, chain.constants, chain.count, chain.outputs
    memcpy(out.steps, chain.steps, chain.count * sizeof(Step))
    memcpy(out.stored, chain.stored, chain.outputs * sizeof(int))
    memcpy(out.constant_code, chain.constant_code, chain.constants * sizeof(int))
    memcpy(out.constant, chain.constant, chain.constants * sizeof(void*))


ctypedef struct Uses:
    # Facts about the values of a chain, before its steps are paired.
    int reads[MAX_VALUES]       # how often a value is read or stored
    int along[MAX_VALUES]       # bits of the axes along which a value varies
    bint stored[MAX_VALUES]
    bint paired[MAX_STEPS]      # whether a step contains an earlier step,
    bint gone[MAX_STEPS]        # or is contained in a later one


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
    """Make one step of step `s` and the step that computes its operand `at`; False, with nothing done, if impossible."""
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
        # An output in between overwrites this leaf.
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
            # The operand is cast into a slot.
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
