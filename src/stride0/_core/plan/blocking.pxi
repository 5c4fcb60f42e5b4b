# Loops that run block by block: operands that disagree about memory order, and results past the caches.
# Included in `plan.pyx`.
#
# Note [Blocks]
#     Where an operand's elements lie side by side along another axis than the innermost one, a loop would take one
#     element from every line of cache and come back for the next one when the line has long gone. Such an operand is
#     taken a block at a time, over both axes, and transposed into a buffer, on which the ordinary loop runs.
#
#     A large transposed copy goes from that buffer past the caches: lines that are written as a whole need not be read
#     first, and would be gone before they are used. The same goes for other results that no cache can hold, for which
#     there are loops of their own; but not where the result is an operand: that line has just been read.

cdef enum:
    BYTES = 1 << 14         # of a block, which stays in the first cache
    SIDE = 128              # elements along the side of a block that is transposed, at most
    LINES = 256             # bytes of a row that are taken at once: some lines of cache
    SHORTEST = 8            # elements along both axes from which turning is worth it
    RUN = 1024              # bytes of a run from which it is streamed

cdef extern from *:
    """
    static long long s0_turned = 0, s0_streamed = 0;
    #define s0_count(counter) ((void)__atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED))
    """
    int64_t s0_turned
    int64_t s0_streamed
    void s0_count(int64_t counter) nogil


def counts():
    """How many runs of loops have transposed an operand so far, and how many wrote past the caches: for tests."""
    return s0_turned, s0_streamed


ctypedef struct Blocks:
    int axis                # beside the innermost one, the axis along which turned operands lie
    bint turned[MAX_OPERANDS]
    bint stream             # whether a transposed copy goes past the caches
    Py_ssize_t wide         # elements of a block along the innermost axis
    Py_ssize_t high         # and along the other one
    char* memory
    char* of_operand[MAX_OPERANDS]


cdef int width_of(Py_ssize_t itemsize) noexcept nogil:
    return 0 if itemsize == 1 else 1 if itemsize == 2 else 2 if itemsize == 4 else 3 if itemsize == 8 else 4


cdef bint streams(const Plan* plan, int64_t at_least) noexcept nogil:
    """Whether the result, if it has so many bytes, goes past the caches."""
    cdef int k, d, result = plan.nop - 1
    cdef int64_t size = itemsize_at(plan.code[result])
    for d in range(plan.ndim):
        size *= plan.shape[d]
    if size < at_least:
        return False
    for k in range(result):
        if plan.data[k] == plan.data[result]:
            return False
    return plan.ndim > 0 and plan.strides[result][0] == itemsize_at(plan.code[result]) and plan.shape[0] * plan.strides[result][0] >= RUN


cdef bint in_blocks(const Plan* plan, const s0_loop* loops, Blocks* blocks) noexcept nogil:
    """Whether a loop runs in blocks, and in which; their memory is not there yet."""
    cdef int k, d, size, result = plan.nop - 1, widest = itemsize_at(plan.code[plan.nop - 1])
    cdef Py_ssize_t step, total = 1
    blocks.axis = 0
    for k in range(plan.nop):
        blocks.turned[k] = False
        if plan.code[k] != plan.loop_code[k]:
            return False
    for d in range(plan.ndim):
        total *= plan.shape[d]
    if plan.ndim > 1 and plan.shape[0] >= SHORTEST and total >= tuning.turn_from:
        for k in range(result):
            size = itemsize_at(plan.code[k])
            step = plan.strides[k][0]
            if -2 * size < step < 2 * size:
                continue
            for d in range(1, plan.ndim):
                step = plan.strides[k][d]
                if (step == size or step == -size) and plan.shape[d] >= SHORTEST and (blocks.axis == 0 or blocks.axis == d):
                    blocks.axis, blocks.turned[k] = d, True
                    widest = max(widest, size)
                    break
    if not blocks.axis:
        return False
    blocks.stream = (
        blocks.turned[0] and plan.nop == 2 and loops == &TABLE.casts[plan.code[0]][plan.code[0]][0]
        and streams(plan, tuning.stream_from))
    blocks.high = min(plan.shape[blocks.axis], min(<Py_ssize_t>SIDE, LINES // widest))
    blocks.wide = BYTES // (min(<Py_ssize_t>SIDE, LINES // widest) * widest)
    return True


cdef bint row_of(const s0_loop* loops, const s0_loop* table, int rows, int* row, int* code) noexcept nogil:
    """Whether loops stand in a part of the table that has four for every row and dtype, and where."""
    cdef Py_ssize_t at = <Py_ssize_t>(loops - table)
    if not 0 <= at < rows * S0_DTYPES * S0_LAYOUTS:
        return False
    row[0], code[0] = <int>(at // (S0_DTYPES * S0_LAYOUTS)), <int>(at // S0_LAYOUTS % S0_DTYPES)
    return True


cdef const s0_loop* past_caches(const Plan* plan, const s0_loop* loops) noexcept nogil:
    """The loops to run: such as write past the caches, where there are some and the result is for them."""
    cdef const s0_loop* found
    cdef int k, row, code
    if not streams(plan, tuning.stream_runs_from):
        return loops
    if row_of(loops, &TABLE.ops[0][0][0], S0_OPS, &row, &code):
        found = &TABLE.streams[row][code][0]
    elif row_of(loops, &TABLE.casts[0][0][0], S0_DTYPES, &row, &code) and plan.strides[0][0] != 0:
        found = &TABLE.stream_casts[row][code]
    else:
        return loops
    if found[0] is NULL:
        return loops
    for k in range(plan.nop):
        if plan.code[k] != plan.loop_code[k]:
            return loops
        # Other steps have no loop of this kind.
        if plan.strides[k][0] != 0 and plan.strides[k][0] != itemsize_at(plan.code[k]):
            return loops
    s0_count(s0_streamed)
    return found


cdef bint get_blocks(const Plan* plan, Blocks* blocks) noexcept nogil:
    """Memory for the buffers of transposed operands, at lines of cache."""
    cdef Py_ssize_t room = 64, count = blocks.wide * blocks.high
    cdef int k
    for k in range(plan.nop):
        if blocks.turned[k]:
            room += count * itemsize_at(plan.code[k]) + 64
    blocks.memory = <char*>malloc(room)
    if blocks.memory is NULL:
        return False
    room = -<Py_ssize_t>(<size_t>blocks.memory) & 63
    for k in range(plan.nop):
        if blocks.turned[k]:
            blocks.of_operand[k] = blocks.memory + room
            room += (count * itemsize_at(plan.code[k]) + 63) & ~<Py_ssize_t>63
    return True


cdef void run_blocks(const Plan* plan, const s0_loop* loops, const Blocks* blocks) noexcept nogil:
    """Run a loop block by block over the innermost axis and that of the blocks, for every position of the others."""
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef Py_ssize_t n = plan.shape[0], m = plan.shape[blocks.axis] if blocks.axis else 1
    cdef char* data[MAX_OPERANDS]
    cdef int k, d, layout
    for k in range(plan.nop):
        data[k] = plan.data[k]
        inner[k] = itemsize_at(plan.code[k]) if blocks.turned[k] else plan.strides[k][0]
    for d in range(plan.ndim):
        if plan.shape[d] == 0:
            return
        position[d] = 0
    layout = pick_elementwise(plan, inner)
    while True:
        run_block_rows(plan, loops[layout], blocks, data, inner, n, m)
        d = 1
        while d < plan.ndim:
            if d != blocks.axis:
                position[d] += 1
                for k in range(plan.nop):
                    data[k] += plan.strides[k][d]
                if position[d] < plan.shape[d]:
                    break
                for k in range(plan.nop):
                    data[k] -= position[d] * plan.strides[k][d]
                position[d] = 0
            d += 1
        if d >= plan.ndim:
            break
    if blocks.stream:
        s0_stream_end()
        s0_count(s0_streamed)
    for k in range(plan.nop):
        if blocks.turned[k]:
            s0_count(s0_turned)


cdef void run_block_rows(
    const Plan* plan, s0_loop loop, const Blocks* blocks, char** data, const Py_ssize_t* inner, Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """All blocks of two axes: along the innermost one first, since the result lies in its order."""
    cdef Py_ssize_t i, j, r, wide, high, line
    cdef Py_ssize_t outer[MAX_OPERANDS]
    cdef char* args[MAX_OPERANDS]
    cdef int k, size, result = plan.nop - 1
    cdef char* first
    for j from 0 <= j < m by blocks.high:
        high = min(blocks.high, m - j)
        for i from 0 <= i < n by blocks.wide:
            wide = min(blocks.wide, n - i)
            for k in range(plan.nop):
                outer[k] = plan.strides[k][blocks.axis] if blocks.axis else 0
                args[k] = data[k] + i * plan.strides[k][0] + j * outer[k]
                size = itemsize_at(plan.code[k])
                line = wide * size
                if blocks.turned[k]:
                    # Of an operand that runs backwards, the last line of the block comes first.
                    first = args[k] if outer[k] > 0 else args[k] + (high - 1) * outer[k]
                    args[k] = blocks.of_operand[k]
                    TABLE.transpose[width_of(size)](
                        first, plan.strides[k][0], args[k] if outer[k] > 0 else args[k] + (high - 1) * line,
                        line if outer[k] > 0 else -line, wide, high)
                    outer[k] = line
            if not blocks.stream:
                loop(args, inner, outer, wide, high)
                continue
            # The transposed block is what the copy is to be.
            for r in range(high):
                TABLE.stream(args[result] + r * outer[result], args[0] + r * line, line)
