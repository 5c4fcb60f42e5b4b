# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The executor: runs a prepared chain, tile by tile.

Note [Computed operands]
    A reduction of the result of a chain has the same bits as one that reads an array. That array, in the memory order of the
    plan's axes, is an operand of the reduction like any other, except that it has no memory: its addresses are byte offsets
    from 0. The reduction is ordered, partitioned and made of fixed chunks like one of an array; where it reads elements from
    an address on, these are computed: the offset gives their indices in the iteration space.
"""

from libc.stdlib cimport free, malloc

from stride0._core.memory.dtype cimport itemsize_at
from stride0._core.plan.chain cimport CALL_COMPUTE, CALL_STREAM, CALL_TRANSPOSE, INNER, OUTER, Call
from stride0._core.plan.plan cimport MAX_NDIM, MAX_OPERANDS, MAX_VIEWS, SHORTEST
from stride0._core.plan.table cimport FOLD_BLOCK, TABLE, s0_stream_end, width_of

cdef extern from *:
    """
    /* Into the second-level cache. Without the empty asm, GCC takes a function that only prefetches for one without
     * effects, and drops calls of it. */
    #define s0_prefetch(place) do { __builtin_prefetch(place, 0, 2); __asm__ volatile (""); } while (0)
    """
    void s0_prefetch(const char* place) nogil

cdef enum:
    CACHE_LINE = 64
    TILE_BYTES = 1 << 13    # of the widest value in a tile, so that the live ones stay in the L1 cache
    MOST_TILE = 1 << 12     # elements, at most
    LEAST_TILE = 1 << 10    # and at least
    FOLD_ROWS = 4           # and rows
    MOST_ROWS = 64          # of a tile whose slots have one row each
    FEW_ROWS = 4            # and where some of them have
    TRANSPOSED_BYTES = 1 << 14  # of the widest value in a tile with a transposed leaf; the most, but for folds
    SIDE = 128              # elements along the side of such a tile, at most
    ROW_BYTES = 256         # bytes of a row of the leaf that are read at once: some cache lines
    STACK = 2048            # bytes of slots on the stack, which may be small in a thread


cdef void tile_shape(const Program* program, Py_ssize_t n, Py_ssize_t m, Py_ssize_t* wide, Py_ssize_t* high) noexcept nogil:
    """Elements of a tile along its two axes, for a plan with n and m elements along them."""
    cdef Py_ssize_t limit = max(<Py_ssize_t>LEAST_TILE, min(<Py_ssize_t>MOST_TILE, TILE_BYTES // program.widest)), unit = 1
    if program.transposed and not program.folds:
        high[0] = min(<Py_ssize_t>SIDE, ROW_BYTES // program.widest)
        wide[0] = min(n, TRANSPOSED_BYTES // (high[0] * program.widest))
    elif program.folds:
        if program.rows:
            unit = FOLD_ROWS
        wide[0] = min(n, FOLD_BLOCK // unit)
        high[0] = FOLD_BLOCK // max(wide[0], <Py_ssize_t>1) // unit * unit
        if program.transposed:
            high[0] = max(high[0], <Py_ssize_t>SHORTEST)
    else:
        # Rows of slots are computed once per tile, for several of its rows.
        wide[0] = min(n, limit if program.flat or not program.has_rows else limit // FEW_ROWS)
        high[0] = MOST_ROWS if program.flat else limit // max(wide[0], <Py_ssize_t>1)
    high[0] = min(high[0], m)


cdef Py_ssize_t tile_rows(const Program* program, const Plan* plan) noexcept nogil:
    """Elements along the other axis of tiles with transposed leaves: the best extent of chunks is a multiple of it."""
    cdef Py_ssize_t wide, high
    tile_shape(program, plan.shape[0], plan.shape[program.axis], &wide, &high)
    return high


cdef inline Py_ssize_t slot_size(const Program* program, Py_ssize_t elements) noexcept nogil:
    """Bytes of a slot: whole cache lines."""
    return (elements * program.widest + 63) & ~<Py_ssize_t>63


cdef bint run_program(const Program* program, const Plan* plan) noexcept nogil:
    """
    Run a program over its plan or a chunk of it, on this thread.

    False, with nothing done, where there is no memory for the slots.
    """
    cdef Py_ssize_t n = plan.shape[0] if plan.ndim > 0 else 1
    cdef Py_ssize_t m = plan.shape[program.axis] if program.axis else 1
    cdef Py_ssize_t outer[MAX_VIEWS]
    cdef Py_ssize_t inner[MAX_VIEWS]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t wide = 0, high = 0, slot_bytes = 0, total
    cdef char* data[MAX_VIEWS]
    cdef char stack[STACK + 64]
    cdef char* memory = NULL
    cdef char* slots = NULL
    cdef int k, d
    for d in range(plan.ndim):
        if plan.shape[d] == 0:
            return True
        position[d] = 0
    for k in range(plan.nop):
        data[k] = plan.data[k]
        inner[k] = plan.strides[k][0] if plan.ndim else 0 if program.folds and k == plan.nop - 1 else itemsize_at(plan.code[k])
        outer[k] = plan.strides[k][program.axis] if program.axis else 0
    if not program.direct:
        tile_shape(program, n, m, &wide, &high)
        slot_bytes = slot_size(program, wide if program.flat else wide * high)
        total = program.slots * slot_bytes
        if program.inner is not NULL:
            total += program.inner.slots * <Py_ssize_t>TRANSPOSED_BYTES
        slots = stack
        if total > STACK:
            slots = memory = <char*>malloc(total + 64)
            if memory is NULL:
                return False
        slots += -<Py_ssize_t>(<size_t>slots) & 63
    while True:
        if program.direct:
            program.loop(data, inner, outer, n, m)
        else:
            run_tiles(program, slots, slot_bytes, data, inner, outer, n, m, wide, high)
        d = 1
        while d < plan.ndim:
            if d != program.axis:
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
    free(memory)
    if program.streams:
        s0_stream_end()
    return True


cdef void run_tiles(
    const Program* program, char* slots, Py_ssize_t slot_bytes, char** data, const Py_ssize_t* inner, const Py_ssize_t* outer,
    Py_ssize_t n, Py_ssize_t m, Py_ssize_t wide, Py_ssize_t high
) noexcept nogil:
    """Run all tiles of two axes, along the innermost one first: the memory order of the results."""
    cdef Py_ssize_t i, j, bn, bm, size
    cdef Py_ssize_t block_inner[MAX_OPERANDS]
    cdef Py_ssize_t block_outer[MAX_OPERANDS]
    cdef char* args[MAX_OPERANDS]
    cdef const Call* call
    cdef const Call* source
    cdef int c, q, place
    for j from 0 <= j < m by high:
        bm = min(high, m - j)
        for i from 0 <= i < n by wide:
            bn = min(wide, n - i)
            for c in range(program.count):
                call = &program.calls[c]
                for q in range(call.nop):
                    place = call.place[q]
                    if place < MAX_VIEWS:
                        args[q] = data[place] + i * inner[place] + j * outer[place]
                        block_inner[q], block_outer[q] = inner[place], outer[place]
                        continue
                    source = &program.calls[place - MAX_VIEWS]
                    size = source.size
                    args[q] = slots + source.slot * slot_bytes
                    block_inner[q] = size if source.varies & INNER else 0
                    block_outer[q] = (size * bn if source.varies & INNER else size) if source.varies & OUTER else 0
                run_call(program, call, slots + program.slots * slot_bytes, args, block_inner, block_outer, bn, bm)
                if program.ahead:
                    if i + wide < n:
                        prefetch(program, c, data, inner, outer, i + wide, j, min(wide, n - i - wide), bm)
                    elif j + high < m:
                        prefetch(program, c, data, inner, outer, 0, j + high, min(wide, n), min(high, m - j - high))
                    elif program.linear:
                        # What is computed next follows in memory.
                        prefetch(program, c, data, inner, outer, 0 if m > 1 else i + wide, j + high if m > 1 else j, bn, bm)


cdef void prefetch(
    const Program* program, int call, char** data, const Py_ssize_t* inner, const Py_ssize_t* outer,
    Py_ssize_t i, Py_ssize_t j, Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """Prefetch a part of a tile, which has as many parts as there are calls: Note [Prefetching]."""
    cdef int k, view
    cdef Py_ssize_t lines, line, row, end
    cdef const char* first
    for k in range(program.ahead):
        view = program.ahead_view[k]
        lines = (n * inner[view] + CACHE_LINE - 1) // CACHE_LINE
        line = lines * m * call // program.count
        end = lines * m * (call + 1) // program.count - line
        row = line // lines
        line -= row * lines
        first = data[view] + i * inner[view] + (j + row) * outer[view]
        while end > 0:
            s0_prefetch(first + line * CACHE_LINE)
            end -= 1
            line += 1
            if line == lines:
                line = 0
                first += outer[view]


cdef void run_call(
    const Program* program, const Call* call, char* more, char** args, Py_ssize_t* inner, Py_ssize_t* outer, Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """Run a call on a tile. `more` has the slots of the program that computes an operand."""
    cdef int q
    cdef Py_ssize_t j, count
    cdef char* first
    if call.kind == CALL_TRANSPOSE:
        # For an operand of negative stride, the last row of the tile comes first.
        first = args[0]
        count = n * call.size
        if outer[0] < 0:
            first += (m - 1) * outer[0]
            args[1] += (m - 1) * count
            count = -count
        TABLE.transpose[width_of(call.size)](first, inner[0], args[1], count, n, m)
        return
    if call.kind == CALL_COMPUTE:
        if m == 1 or outer[0] == n * call.size:
            compute(program.inner, program.space, more, args[1], <Py_ssize_t>args[0] // call.size, n * m)
        else:
            for j in range(m):
                compute(program.inner, program.space, more, args[1] + j * outer[1], (<Py_ssize_t>args[0] + j * outer[0]) // call.size, n)
        return
    if call.varies != (INNER | OUTER):
        if call.varies == OUTER:
            call.loop(args, outer, outer, m, 1)
        else:
            call.loop(args, inner, outer, n if call.varies else 1, 1)
        return
    if call.kind == CALL_STREAM:
        for j in range(m):
            TABLE.stream(args[1] + j * outer[1], args[0] + j * outer[0], n * call.size)
        return
    if m > 1 and (call.slot >= 0 or not program.folds):
        # Rows that are adjacent in all operands are one run.
        for q in range(call.nop):
            if outer[q] != n * inner[q]:
                break
        else:
            n, m = n * m, 1
    call.loop(args, inner, outer, n, m)


cdef void compute(const Program* inner, const Plan* space, char* slots, char* target, Py_ssize_t index, Py_ssize_t count) noexcept nogil:
    """Compute a range of elements of a computed operand, in the order of the axes of its plan."""
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_VIEWS]
    cdef Py_ssize_t outer[MAX_VIEWS]
    cdef Py_ssize_t n, m, wide, high, quotient, size, length = space.shape[0] if space.ndim else 1
    cdef char* data[MAX_VIEWS]
    cdef int d, k, result = space.nop - 1
    size = itemsize_at(space.code[result])
    while count > 0:
        quotient = index
        for k in range(space.nop):
            data[k] = space.data[k]
            strides[k] = space.strides[k][0] if space.ndim else itemsize_at(space.code[k])
            outer[k] = space.strides[k][1] if space.ndim > 1 else 0
        for d in range(space.ndim):
            position[d] = quotient % space.shape[d]
            quotient //= space.shape[d]
            for k in range(result):
                data[k] += position[d] * space.strides[k][d]
        # Complete rows if one starts here, else the remainder of one.
        n, m = length, 1
        if space.ndim > 1 and position[0] == 0 and count >= 2 * length:
            m = min(count // length, space.shape[1] - position[1])
        elif space.ndim:
            n = min(length - position[0], count)
        data[result], strides[result], outer[result] = target, size, n * size
        if inner.direct:
            inner.loop(data, strides, outer, n, m)
        else:
            tile_shape(inner, n, m, &wide, &high)
            run_tiles(inner, slots, TRANSPOSED_BYTES, data, strides, outer, n, m, wide, high)
        target += n * m * size
        index += n * m
        count -= n * m
