# The executor: runs a prepared program, tile by tile.
#
# Note [Computed operands]
#     A reduction of the result of a program has the same bits as a reduction that reads the result from
#     an array. The operand of the reduction is such an array, in the memory order of the plan's axes, but without memory: its
#     addresses are byte offsets from 0. (If an
#     output holds the same elements in the same order, the operand is the output, written before it is read.) The reduction
#     is ordered, partitioned and made of fixed chunks as for an array. When it reads elements from an address on, these are
#     computed: the offset gives their indices in the iteration space.

cdef extern from *:
    """
    /* Into the second-level cache. Without the empty asm, GCC assumes that a function that only prefetches has no effect, and
     * drops its calls. */
    #define s0_prefetch(place) do { __builtin_prefetch(place, 0, 2); __asm__ volatile (""); } while (0)
    """
    void s0_prefetch(const char* place) nogil

cdef enum:
    CACHE_LINE = 64
    PAGE = 4096
    FOLD_ROWS = 4           # loops fold rows in fours
    STACK = 4096            # bytes of slots and calls that fit the stack, which may be small in a thread


ctypedef struct CallArguments:
    # The arguments of a prepared call, for tiles of one size.
    s0_loop loop                # NULL: by `run_special`
    int nop
    int view[MAX_OPERANDS]      # view of the plan, or -1 if the argument is the same for each tile
    Py_ssize_t n
    Py_ssize_t m
    Py_ssize_t inner[MAX_OPERANDS]
    Py_ssize_t outer[MAX_OPERANDS]
    char* args[MAX_OPERANDS]


ctypedef struct PrefetchPosition:
    # What is prefetched next: Note [Prefetching].
    int view                    # index into `prefetched_view`
    Py_ssize_t row
    Py_ssize_t line
    Py_ssize_t quota            # cache lines to prefetch after each call
    Py_ssize_t i                # position and size of the tile
    Py_ssize_t j
    Py_ssize_t n
    Py_ssize_t m


cdef void tile_shape(const Program* program, Py_ssize_t n, Py_ssize_t m, Py_ssize_t* width, Py_ssize_t* height) noexcept nogil:
    """Elements of a tile along its two axes, for a plan with n and m elements along them."""
    cdef Py_ssize_t limit = max(<Py_ssize_t>tuning.min_tile_elements, min(<Py_ssize_t>tuning.max_tile_elements, tuning.tile_bytes // program.widest)), unit = 1
    if program.prefetched:
        limit //= tuning.prefetched_tile_parts
    if program.slots == 0 and not program.folds and not program.transposed:
        # Tiles keep slots in the cache. A program without slots is faster with complete runs.
        width[0], height[0] = n, m
    elif program.transposed and not program.folds:
        height[0] = min(<Py_ssize_t>tuning.max_transposed_side, tuning.transposed_row_bytes // program.widest)
        width[0] = min(n, tuning.transposed_tile_bytes // (height[0] * program.widest))
    elif program.folds:
        if program.rows:
            unit = FOLD_ROWS
        width[0] = min(n, FOLD_BLOCK // unit)
        height[0] = max((FOLD_BLOCK if program.transposed else limit) // max(width[0], <Py_ssize_t>1) // unit * unit, unit)
        if program.transposed:
            height[0] = max(height[0], <Py_ssize_t>tuning.transposed_side)
    else:
        # A row slot is computed once per tile, for several rows of the tile.
        width[0] = min(n, limit if program.flat or not program.has_rows else limit // tuning.tile_row_parts)
        height[0] = tuning.max_tile_rows if program.flat else limit // max(width[0], <Py_ssize_t>1)
    height[0] = min(height[0], m)


cdef Py_ssize_t tile_rows(const Program* program, const Plan* plan) noexcept nogil:
    """Elements along the other axis of tiles with transposed leaves: extents of chunks should be multiples of it."""
    cdef Py_ssize_t width, height
    tile_shape(program, plan.shape[0], plan.shape[program.axis], &width, &height)
    return height


cdef inline Py_ssize_t slot_size(const Program* program, Py_ssize_t elements) noexcept nogil:
    """Bytes of a slot: whole cache lines, or pages, since a load from one slot after stores to another would be 4K aliasing."""
    cdef Py_ssize_t size = elements * program.widest, unit = PAGE if size > PAGE // 2 else CACHE_LINE
    return (size + unit - 1) & ~(unit - 1)


cdef bint run_prepared(const Program* program, const Plan* plan) noexcept nogil:
    """
    Run a program over its plan or a chunk of it, on this thread.

    False, with nothing done, if there is no memory for the slots.
    """
    cdef Py_ssize_t n = plan.shape[0] if plan.ndim > 0 else 1
    cdef Py_ssize_t m = plan.shape[program.axis] if program.axis else 1
    cdef Py_ssize_t outer[MAX_VIEWS]
    cdef Py_ssize_t inner[MAX_VIEWS]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t width = 0, height = 0, slot_bytes = 0, total, calls, unit = CACHE_LINE
    cdef CallArguments* arguments = NULL
    cdef char* data[MAX_VIEWS]
    cdef char stack[STACK + CACHE_LINE]
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
        tile_shape(program, n, m, &width, &height)
        slot_bytes = slot_size(program, width if program.flat else width * height)
        total, calls = program.slots * slot_bytes, program.call_count
        if program.inner is not NULL:
            total += program.inner.slots * <Py_ssize_t>tuning.transposed_tile_bytes
            calls += program.inner.call_count
        slots = stack
        # Arguments of each call for complete tiles, and arguments for tiles at the end of a run.
        calls *= 2 * <Py_ssize_t>sizeof(CallArguments)
        if total + calls > STACK:
            unit = PAGE
            slots = memory = <char*>malloc(total + calls + PAGE)
            if memory is NULL:
                return False
        # Page-aligned, as large arrays are, so that loads stay ahead of stores: Note [Alignment].
        slots += -<Py_ssize_t>(<size_t>slots) & (unit - 1)
        arguments = <CallArguments*>(slots + total)
    while True:
        if program.direct:
            program.loop(data, inner, outer, n, m)
        else:
            run_tiles(program, arguments, slots, slot_bytes, data, inner, outer, n, m, width, height)
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


cdef void bind(
    const Program* program, CallArguments* arguments, char* slots, Py_ssize_t slot_bytes, const Py_ssize_t* inner, const Py_ssize_t* outer,
    Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """Describe all calls for tiles of n elements by m."""
    cdef const Call* call
    cdef const Call* source
    cdef CallArguments* bound
    cdef Py_ssize_t size
    cdef int c, q, location
    for c in range(program.call_count):
        call, bound = &program.calls[c], &arguments[c]
        bound.nop, bound.n, bound.m = call.nop, n, m
        bound.loop = call.loop if call.kind == CALL_LOOP else NULL
        for q in range(call.nop):
            location = call.location[q]
            bound.view[q] = -1
            if location < FIRST_CONSTANT:
                bound.view[q], bound.inner[q], bound.outer[q] = location, inner[location], outer[location]
            elif location < FIRST_SLOT:
                bound.args[q] = <char*>program.constants[location - FIRST_CONSTANT].value
                bound.inner[q] = bound.outer[q] = 0
            else:
                source = &program.calls[location - FIRST_SLOT]
                size = source.size
                bound.args[q] = slots + source.slot * slot_bytes
                bound.inner[q] = size if source.varies & INNER else 0
                bound.outer[q] = (size * n if source.varies & INNER else size) if source.varies & OUTER else 0
        if call.kind != CALL_LOOP:
            continue
        if call.varies != (INNER | OUTER):
            bound.m = 1
            if call.varies == OUTER:
                bound.n = m
                for q in range(call.nop):
                    bound.inner[q] = bound.outer[q]
            elif call.varies == 0:
                bound.n = 1
        elif m > 1 and (call.slot >= 0 or not program.folds):
            # Rows that are adjacent in all operands are one run.
            for q in range(call.nop):
                if bound.outer[q] != n * bound.inner[q]:
                    break
            else:
                bound.n, bound.m = n * m, 1


cdef void run_tiles(
    const Program* program, CallArguments* arguments, char* slots, Py_ssize_t slot_bytes, char** data, const Py_ssize_t* inner,
    const Py_ssize_t* outer, Py_ssize_t n, Py_ssize_t m, Py_ssize_t width, Py_ssize_t height
) noexcept nogil:
    """Run all tiles of two axes, first along the innermost axis, which is the memory order of the results."""
    cdef Py_ssize_t i, j, bn, bm
    cdef Py_ssize_t[2] bound_m = [-1, -1]
    cdef CallArguments* first
    cdef CallArguments* bound
    cdef PrefetchPosition position
    cdef int c, q, view, edge
    for j from 0 <= j < m by height:
        bm = min(height, m - j)
        for i from 0 <= i < n by width:
            bn = min(width, n - i)
            edge = bn < width
            first = arguments + edge * program.call_count
            if bm != bound_m[edge]:
                bind(program, first, slots, slot_bytes, inner, outer, bn, bm)
                bound_m[edge] = bm
            if program.prefetched:
                prefetch_next(program, &position, inner, outer, n, m, i, j, width, height)
            for c in range(program.call_count):
                bound = first + c
                for q in range(bound.nop):
                    view = bound.view[q]
                    if view >= 0:
                        bound.args[q] = data[view] + i * inner[view] + j * outer[view]
                if bound.loop is not NULL:
                    bound.loop(bound.args, bound.inner, bound.outer, bound.n, bound.m)
                else:
                    run_special(program, &program.calls[c], arguments + 2 * program.call_count, slots + program.slots * slot_bytes, bound)
                if program.prefetched:
                    prefetch(program, &position, data, inner, outer)


cdef void prefetch_next(
    const Program* program, PrefetchPosition* at, const Py_ssize_t* inner, const Py_ssize_t* outer,
    Py_ssize_t n, Py_ssize_t m, Py_ssize_t i, Py_ssize_t j, Py_ssize_t width, Py_ssize_t height
) noexcept nogil:
    """Find the next tile, and how much of it to prefetch after each call."""
    cdef Py_ssize_t lines = 0
    cdef int k
    at.view, at.row, at.line, at.quota = program.prefetched, 0, 0, 0
    if i + width < n:
        at.i, at.j, at.n, at.m = i + width, j, min(width, n - i - width), min(height, m - j)
    elif j + height < m:
        at.i, at.j, at.n, at.m = 0, j + height, min(width, n), min(height, m - j - height)
    elif program.linear:
        # The next elements to compute follow in memory.
        at.i, at.j, at.n, at.m = 0 if m > 1 else i + width, j + height if m > 1 else j, min(width, n), min(height, m)
    else:
        return
    at.view = 0
    for k in range(program.prefetched):
        lines += (at.n * inner[program.prefetched_view[k]] + CACHE_LINE - 1) // CACHE_LINE
    at.quota = (lines * at.m + program.call_count - 1) // program.call_count


cdef void prefetch(const Program* program, PrefetchPosition* at, char** data, const Py_ssize_t* inner, const Py_ssize_t* outer) noexcept nogil:
    """Prefetch the next lines."""
    cdef int view
    cdef Py_ssize_t lines, count, left = at.quota
    cdef const char* first
    while at.view < program.prefetched and left > 0:
        view = program.prefetched_view[at.view]
        lines = (at.n * inner[view] + CACHE_LINE - 1) // CACHE_LINE - at.line
        count = min(lines, left)
        first = data[view] + at.i * inner[view] + (at.j + at.row) * outer[view] + at.line * CACHE_LINE
        left -= count
        at.line += count
        if count == lines:
            at.line = 0
            at.row += 1
            if at.row == at.m:
                at.row = 0
                at.view += 1
        while count > 0:
            s0_prefetch(first)
            first += CACHE_LINE
            count -= 1


cdef void run_special(const Program* program, const Call* call, CallArguments* inner_arguments, char* inner_slots, CallArguments* bound) noexcept nogil:
    """Run a call that is not a loop. `inner_arguments` and `inner_slots` belong to the program that computes an operand."""
    cdef char* source = bound.args[0]
    cdef char* target = bound.args[1]
    cdef char* second = NULL
    cdef Py_ssize_t n = bound.n, m = bound.m, j, index, count = n * call.size, line
    cdef int result
    if call.kind == CALL_TRANSPOSE:
        # For an operand of negative stride, the last row of the tile comes first.
        line = bound.outer[1]
        if bound.outer[0] < 0:
            source += (m - 1) * bound.outer[0]
            target += (m - 1) * line
            line = -line
        TABLE.transpose[width_of(call.size)](source, bound.inner[0], target, line, n, m)
    elif call.kind == CALL_STREAM:
        for j in range(m):
            TABLE.stream(target + j * bound.outer[1], source + j * bound.outer[0], count)
    elif call.kind != CALL_RESERVE:
        # If two operands are computed, the second one is the argument before the result.
        result = call.nop - 1
        target = bound.args[result]
        if result > 1:
            second = bound.args[1]
        index = source - program.space.data[program.space.nop - 1]
        if m == 1 or bound.outer[0] == count:
            compute(program.inner, program.space, inner_arguments, inner_slots, target, second, index // call.size, n * m)
            return
        for j in range(m):
            compute(program.inner, program.space, inner_arguments, inner_slots, target, second, index // call.size, n)
            target += bound.outer[result]
            index += bound.outer[0]
            if second is not NULL:
                second += bound.outer[1]


cdef void compute(
    const Program* inner, const Plan* space, CallArguments* arguments, char* slots, char* target, char* second, Py_ssize_t index, Py_ssize_t count
) noexcept nogil:
    """Compute a range of elements of a computed operand, and of a second one if not NULL, in the order of the axes of their plan."""
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_VIEWS]
    cdef Py_ssize_t outer[MAX_VIEWS]
    cdef Py_ssize_t n, m, width, height, quotient, size, other = 0, length = space.shape[0] if space.ndim else 1
    cdef char* data[MAX_VIEWS]
    cdef int d, k, result = space.nop - 1
    size = itemsize_at(space.code[result])
    if second is not NULL:
        other = itemsize_at(space.code[result - 1])
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
        # Complete rows if a row starts here, else the remainder of a row.
        n, m = length, 1
        if space.ndim > 1 and position[0] == 0 and count >= 2 * length:
            m = min(count // length, space.shape[1] - position[1])
        elif space.ndim:
            n = min(length - position[0], count)
        data[result], strides[result], outer[result] = target, size, n * size
        if second is not NULL:
            data[result - 1], strides[result - 1], outer[result - 1] = second, other, n * other
            second += n * m * other
        if inner.direct:
            inner.loop(data, strides, outer, n, m)
        else:
            tile_shape(inner, n, m, &width, &height)
            run_tiles(inner, arguments, slots, tuning.transposed_tile_bytes, data, strides, outer, n, m, width, height)
        target += n * m * size
        index += n * m
        count -= n * m
