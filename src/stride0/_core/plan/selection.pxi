# The selected steps of a program: Note [Programs].

cdef inline bint is_run(const Program* program, int s) noexcept nogil:
    """Whether a step runs by a call of its own."""
    return program.source[FIRST_STEP + s] == FIRST_STEP + s


cdef inline bint is_paired(const Program* program, int value) noexcept nogil:
    """Whether a value is the result of a paired step: a part of the step that reads it."""
    return value >= FIRST_STEP and PAIRED <= program.source[value] < UNUSED


cdef inline int source_of(const Program* program, int value) noexcept nogil:
    """The source of a value that a step reads; a paired step is its own source."""
    return value if is_paired(program, value) else program.source[value]


cdef int code_of(const Plan* plan, const Program* program, int source) noexcept nogil:
    """Code of the dtype of a source."""
    if source >= FIRST_STEP:
        return result_code(program.steps[source - FIRST_STEP].kernel)
    return plan.code[source] if source < FIRST_CONSTANT else <int>program.constants[source - FIRST_CONSTANT].code


cdef void selected_step(const Program* program, int s, Step* out) noexcept nogil:
    """Write step `s` to `out`, with sources as inputs. It is a pair if an earlier step is a part of it."""
    cdef int q, paired = -1
    out.kernel = program.steps[s].kernel
    for q in range(inputs_of(out.kernel)):
        out.inputs[q] = source_of(program, program.steps[s].inputs[q])
        if is_paired(program, out.inputs[q]):
            paired = q
    if paired >= 0:
        join(program, paired, program.source[out.inputs[paired]] == PAIRED_REVERSED, out)


cdef bint is_read(const Program* program, int source) noexcept nogil:
    """Whether a later step reads a source, or more than one output stores it."""
    cdef int s, q, held = 0
    for s in range(source - FIRST_STEP + 1, program.step_count):
        if is_run(program, s) or is_paired(program, FIRST_STEP + s):
            for q in range(inputs_of(program.steps[s].kernel)):
                if program.source[program.steps[s].inputs[q]] == source:
                    return True
    for s in range(program.outputs):
        held += program.stored[s] == source
    return held > 1
