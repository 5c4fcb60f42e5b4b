# How the work of a plan is partitioned: into chunks, for threads and for signals, and reductions into pieces.
# Included in `plan.pyx`.
#
# Note [Cuts]
#     No result depends on the number of threads, since work is only cut where results do not depend on the cut: an
#     elementwise loop anywhere; a reduction between the elements of its result. Where a result has few elements, the
#     reduced elements are cut into pieces that depend on the shape, the strides and the accumulator alone, whether there are
#     threads or not: each piece has accumulators of its own, and these are folded in the order of the pieces.

cdef enum:
    MOST_CHUNKS = 1 << 20
    LINE = 64               # elements; an innermost axis is cut at multiples of it, which keeps alignment,
    COLUMN_LINE = 16        # and that of a reduction at multiples of this
    WIDTH = 4096            # bytes of a row of the result that are worth a thread of their own, at least
    COLUMNS = 128           # columns to which rows are added that are worth a thread, at least
    PIECES = 64             # pieces of a reduction, at most
    FEW = 64                # results of runs from which a reduction is cut between them instead
    NARROW = 1024           # the same for rows: columns
    WIDE = 512              # columns to which rows that lie one behind the other are widened
    SLOTS = 4096            # results for which pieces keep accumulators, at most
    ROWS_LEAST = 32         # rows that share the accumulators of a piece, at least
    CHUNKS_PER_THREAD = 4   # the last thread to finish makes the others wait for a chunk, not for all that it has


cdef object last_cache():
    """
    Bytes of the last cache of a processor: by the kernel, by the C library, or a guess.

    In virtual machines the C library may report the caches of all processors of the host together.
    """
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index3/size") as file:
            size = int(file.read().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        try:
            size = os.sysconf("SC_LEVEL3_CACHE_SIZE")
        except (AttributeError, OSError, ValueError):
            size = 0
    return min(max(size, 1 << 22), 1 << 25) if size > 0 else 1 << 25


# What decides whether threads are worth it, by measurement (docs/design/threads.md); `tune` changes it for tests.
cdef struct Tuning:
    int64_t threads_from    # estimated nanoseconds of work from which workers that are awake take part
    int64_t wake_from       # and from which sleeping ones are woken
    int64_t per_thread      # nanoseconds of work that make one more thread worth it
    int64_t cached_to       # nanoseconds for each thread up to which all have one chunk, since it stays in their caches
    int64_t chunk_to        # nanoseconds of a chunk, at most, so that signals are seen between two
    int64_t pieces_from     # elements from which a reduction is cut into pieces; of rows that are added, 16 bytes of accumulators for each
    int64_t piece           # elements of a piece, at least
    int64_t turn_from       # elements from which operands are transposed in blocks
    int64_t stream_from     # bytes of a transposed copy from which it is written past the caches
    int64_t stream_runs_from    # and of other results

cdef Tuning tuning
tuning.threads_from, tuning.wake_from, tuning.per_thread, tuning.cached_to, tuning.chunk_to = 8000, 100000, 4000, 24000, 2000000
tuning.pieces_from, tuning.piece = 1 << 16, 1 << 13
tuning.turn_from, tuning.stream_from, tuning.stream_runs_from = 1 << 10, last_cache() // 4, last_cache()


def tune(**values):
    """Change thresholds, for tests and measurements; returns what they were."""
    global tuning
    cdef dict now = tuning
    if values.keys() - now.keys():
        raise TypeError(f"tune: {', '.join(values.keys() - now.keys())}")
    tuning = {**now, **values}
    return now


cdef int COSTS[S0_OPS][S0_DTYPES]      # sixteenths of a nanosecond per element beyond what memory takes, roughly
cdef int FOLDED_WITH[S0_REDUCTIONS]  # the reduction that folds the accumulators of another
cdef int ABSORBING[S0_REDUCTIONS]    # the accumulator that ends a reduction early, or -1


cdef int fill_tables() except -1:
    for number, row in enumerate(operations.OPS):
        for code, dtype in enumerate(ROWS):
            called = dtype.name in row.call
            COSTS[<int>number][<int>code] = 160 if called else 2 * dtype.itemsize if row.otherwise or row.run or row.name in SLOW else 0
    for number, row in enumerate(operations.REDUCTIONS):
        kind = max(row.accumulator)
        kind = kind if row.accumulator[kind] == "same" else row.accumulator[kind][0]
        FOLDED_WITH[<int>number] = next(k for k, other in enumerate(operations.REDUCTIONS) if folds_like(other, row, kind))
        ABSORBING[<int>number] = int(row.absorbing or -1)
    return 0


# Rows whose loops take half a nanosecond per element or more, though neither `otherwise` nor `call` says so.
SLOW = ("pow", "floor_divide", "remainder")


def folds_like(other, row, kind):
    """Whether a reduction folds plain elements as `row` folds accumulators of that kind."""
    found = operations.body_for(other.body, kind)
    fold = operations.body_for(other.fold, kind)
    return other.nin == 1 and found is not None and found[0] == "x" and fold == operations.body_for(row.fold, kind)


fill_tables()


cdef int64_t work_of(const Plan* plan, const s0_loop* loops) noexcept nogil:
    """A rough estimate of what a plan takes on one thread, in nanoseconds, if its operands are in a cache."""
    cdef int64_t total = 1, moved, work = 0
    cdef int k, d, each, row, code
    cdef bint strided = False
    for d in range(plan.ndim):
        total *= plan.shape[d]
    for k in range(plan.nop):
        moved = itemsize_at(plan.code[k]) * (1 if plan.code[k] == plan.loop_code[k] else 3)
        for d in range(plan.ndim):
            if plan.strides[k][d] != 0:
                moved *= plan.shape[d]
        work += moved
        if plan.ndim and plan.strides[k][0] != 0 and plan.strides[k][0] != itemsize_at(plan.code[k]):
            strided = True
    # Loops other than the elementwise ones fold, search or cast.
    each = COSTS[row][code] if row_of(loops, &TABLE.ops[0][0][0], S0_OPS, &row, &code) else 2
    return work // 64 + total * (each + (8 if strided else 0)) // 16


cdef bint takes_long(const s0_loop* loops, Py_ssize_t size) noexcept nogil:
    """Whether an elementwise loop computes so long, beyond what memory takes, that signals should be seen meanwhile."""
    cdef int row, code
    return row_of(loops, &TABLE.ops[0][0][0], S0_OPS, &row, &code) and size * COSTS[row][code] // 16 >= tuning.chunk_to


cdef int threads_for(int64_t work) noexcept nogil:
    """How many threads a call of so many nanoseconds is worth."""
    return threads_worth(work, tuning.wake_from, tuning.per_thread) if work >= tuning.threads_from else 1


cdef Py_ssize_t chunks_for(int64_t work, int threads) noexcept nogil:
    """
    Into how many chunks a call of so many nanoseconds is partitioned: 1 where one thread is not long at it.

    What a thread has of a call may be in its cache from the call before, if it is small enough, and is one chunk then.
    """
    cdef int64_t least = 1 if threads < 2 else threads if work <= threads * tuning.cached_to else threads * CHUNKS_PER_THREAD
    return <Py_ssize_t>min(max(least, work // tuning.chunk_to), <int64_t>MOST_CHUNKS)


ctypedef struct Split:
    const Plan* plan
    const s0_loop* loops
    bint reduction
    int axis
    Py_ssize_t extent       # of a chunk along the axis
    const Blocks* blocks    # NULL where the loop does not run in blocks
    bint failed
    # Of a reduction in pieces: where the accumulators of each are, and when nothing more can change.
    char* slots
    Py_ssize_t slot
    int absorbing
    bint stop


cdef bint run_one(const Plan* plan, const s0_loop* loops, bint reduction, const Blocks* blocks) noexcept nogil:
    """A plan, or a chunk of it, on one thread: in blocks or not."""
    cdef Blocks own
    if blocks is NULL:
        return walk(plan, loops, reduction)
    own = blocks[0]
    # Without memory for the buffers it goes without them.
    if not get_blocks(plan, &own):
        return walk(plan, loops, reduction)
    run_blocks(plan, loops, &own)
    free(own.memory)
    return True


cdef void run_chunk(void* context, int chunk) noexcept nogil:
    cdef Split* split = <Split*>context
    cdef Plan piece = split.plan[0]
    cdef Py_ssize_t first = chunk * split.extent
    cdef int k
    if split.stop:
        return
    piece.shape[split.axis] = min(split.extent, piece.shape[split.axis] - first)
    for k in range(piece.nop):
        piece.data[k] += first * piece.strides[k][split.axis]
    if split.slots is not NULL:
        piece.data[piece.nop - 1] = split.slots + chunk * split.slot
    if not run_one(&piece, split.loops, split.reduction, split.blocks):
        split.failed = True
    if split.absorbing >= 0 and split.slots[chunk * split.slot] == split.absorbing:
        split.stop = True


cdef bint run_split(const Plan* plan, const s0_loop* loops, bint reduction, int whole, bint interruptible) noexcept nogil:
    """
    `walk` in chunks, on several threads where that is worth it: cut along an axis that moves the result, other than `whole`.

    False where there was no memory for the buffers of a cast, or with an exception set, that of a signal.
    """
    cdef int64_t work = work_of(plan, loops)
    cdef int threads = threads_for(work), d, axis = -1, result = plan.nop - 1
    cdef Py_ssize_t chunks = chunks_for(work, threads), unit, most
    cdef Split split
    cdef Blocks blocks
    if chunks > 1:
        for d in range(plan.ndim - 1, -1, -1):
            if d == whole or (reduction and plan.strides[result][d] == 0):
                continue
            if axis < 0 or plan.shape[d] > plan.shape[axis]:
                axis = d
            if plan.shape[axis] >= max(chunks, threads * CHUNKS_PER_THREAD) and axis > 0:
                break
    split.blocks = NULL
    if not reduction and whole < 0:
        if in_blocks(plan, loops, &blocks):
            split.blocks = &blocks
        else:
            loops = past_caches(plan, loops)
    if axis < 0:
        return run_one(plan, loops, reduction, split.blocks)
    if axis == 0 and plan.ndim > 1:
        # Side by side in short rows, threads would wait for one another's lines of cache all the time.
        most = plan.shape[0] // COLUMNS if reduction else plan.shape[0] * itemsize_at(plan.code[result]) // WIDTH
        chunks = min(chunks, most)
        if chunks < 2:
            return run_one(plan, loops, reduction, split.blocks)
    unit = (COLUMN_LINE if reduction else LINE) if axis == 0 else blocks.high if split.blocks is not NULL and axis == blocks.axis else 1
    split.plan, split.loops, split.reduction, split.axis = plan, loops, reduction, axis
    split.extent = (plan.shape[axis] + chunks * unit - 1) // (chunks * unit) * unit
    split.failed, split.stop, split.absorbing, split.slots, split.slot = False, False, -1, NULL, 0
    chunks = (plan.shape[axis] + split.extent - 1) // split.extent
    return run_chunks(run_chunk, &split, chunks, threads, interruptible) and not split.failed


cdef bint run_elementwise(const Plan* plan, const s0_loop* loops, bint interruptible) noexcept nogil:
    """False where there is no memory for the buffers of a cast, or with an exception set: that of a signal's handler."""
    return run_split(plan, loops, False, -1, interruptible)


cdef bint run_along(const Plan* plan, s0_loop loop, int axis) noexcept nogil:
    """
    Run a loop that needs the whole of an axis of the plan at once, the innermost or the next one, whatever its layout.

    False with an exception set: that of a signal's handler.
    """
    cdef s0_loop loops[5]
    cdef int layout
    for layout in range(5):
        loops[layout] = loop
    return run_split(plan, loops, False, axis, True)


cdef bint as_rows(Plan* plan, int axis) noexcept nogil:
    """
    Bring a logical axis next to the innermost one, which takes in as many of the others as it can.

    False, with nothing done, where it is the innermost one itself, or the elements of some operand are not side by side
    along that: no rows then.
    """
    cdef int d, k, at = 0
    cdef Py_ssize_t size
    cdef Py_ssize_t steps[MAX_OPERANDS]
    for d in range(plan.ndim):
        if plan.axis[d] == axis:
            at = d
    for k in range(plan.nop):
        if plan.strides[k][0] != itemsize_at(plan.code[k]):
            return False
    # Indices within a row of indices have 32 bits where the elements are narrow.
    if at == 0 or plan.shape[0] < SHORTEST or plan.shape[at] > 0x7FFFFFFF:
        return False
    size = plan.shape[at]
    for d in range(at, plan.ndim - 1):
        swap_axes(plan, d, d + 1)
    plan.ndim -= 1
    for k in range(plan.nop):
        steps[k] = plan.strides[k][plan.ndim]
    coalesce(plan, 0)
    plan.axis[plan.ndim], plan.shape[plan.ndim] = axis, size
    for k in range(plan.nop):
        plan.strides[k][plan.ndim] = steps[k]
    plan.ndim += 1
    for d in range(plan.ndim - 1, 1, -1):
        swap_axes(plan, d, d - 1)
    return True


cdef bint widened(Plan* plan, Py_ssize_t* repeat) noexcept nogil:
    """
    Make short rows that lie one behind the other into rows of about WIDE columns, each several of the old ones.

    What is left over at the end is cut off; `repeat` says how many old rows make a new one.
    """
    cdef int k
    cdef Py_ssize_t g = WIDE // max(plan.shape[0], <Py_ssize_t>1)
    if plan.ndim != 2 or plan.strides[plan.nop - 1][0] == 0 or plan.strides[plan.nop - 1][1] != 0:
        return False
    if g < 2 or plan.shape[1] < 8 * g:
        return False
    for k in range(plan.nop - 1):
        if plan.strides[k][0] == 0 or plan.strides[k][1] != plan.shape[0] * plan.strides[k][0]:
            return False
    repeat[0] = g
    plan.shape[0] *= g
    plan.shape[1] //= g
    for k in range(plan.nop):
        plan.strides[k][1] *= g
    return True


cdef Py_ssize_t cut(const Plan* plan, int* axis, Py_ssize_t* extent) noexcept nogil:
    """Along which axis a reduction is cut into how many pieces of what extent; 1 where it stays whole."""
    cdef int d, result = plan.nop - 1
    cdef bint rows = plan.ndim > 0 and plan.strides[result][0] != 0
    cdef Py_ssize_t total = 1, slots = 1, unit, size, least, count, most = 1
    for d in range(plan.ndim):
        total *= plan.shape[d]
        if plan.strides[result][d] != 0:
            slots *= plan.shape[d]
    # Dtypes that have one accumulator are cut alike: a cast before a sum changes no bit.
    size = total * (itemsize_at(plan.code[result]) if rows else 16)
    if size < 16 * tuning.pieces_from or slots > SLOTS or (rows and plan.shape[0] >= NARROW) or (not rows and slots >= FEW):
        return 1
    for d in range(plan.ndim - 1, -1, -1):
        if plan.strides[result][d] != 0:
            continue
        # Loops fold blocks of runs, and rows by fours: a cut elsewhere would change what is folded with what.
        unit = FOLD_BLOCK if d == 0 else 4 if rows and d == 1 else 1
        least = tuning.piece // (total // plan.shape[d])
        if unit == 4:
            least = max(least, <Py_ssize_t>ROWS_LEAST)
        size = max(least, (plan.shape[d] + PIECES - 1) // PIECES)
        size = (size + unit - 1) // unit * unit
        count = (plan.shape[d] + size - 1) // size
        if count > most:
            most, axis[0], extent[0] = count, d, size
    return most


cdef bint stays(const Plan* plan, int k) noexcept nogil:
    """Whether an operand stands still along all axes."""
    cdef int d
    for d in range(plan.ndim):
        if plan.strides[k][d] != 0:
            return False
    return True


cdef bint run_reduction(const Plan* plan, const s0_loop* loops) noexcept nogil:
    """
    Accumulate into the result, whose step is 0 along the reduced axes; False as `run_elementwise`.

    The result holds the identity, or elements that are folded anyway: Note [Cuts] starts every piece from it.
    """
    cdef Plan whole = plan[0]
    cdef Plan fold
    cdef Py_ssize_t repeat = 1, old = plan.shape[0], count, extent = 0, rest, size, slot
    cdef int axis = 0, d, k, result = plan.nop - 1, number = <int>((loops - &TABLE.reductions[0][0][0]) // (S0_DTYPES * S0_REDUCE_LAYOUTS))
    cdef int code = plan.code[result]
    cdef Split split
    cdef char* memory
    cdef int64_t work
    cdef bint wide, done
    for d in range(plan.ndim):
        if plan.shape[d] == 0:
            return True
    if ABSORBING[number] >= 0 and stays(&whole, result):
        # Often the first elements tell. Folding them again changes nothing.
        whole.ndim = min(whole.ndim, 1)
        whole.shape[0] = min(whole.shape[0], <Py_ssize_t>FOLD_BLOCK)
        if walk(&whole, loops, True) and plan.data[result][0] == ABSORBING[number]:
            return True
        whole = plan[0]
    wide = widened(&whole, &repeat)
    count = cut(&whole, &axis, &extent)
    if count < 2:
        if not wide:
            return run_split(plan, loops, True, -1, True)
        axis, extent = 1, whole.shape[1]
    # The accumulators of all pieces, one behind the other, in the order of the plan's axes.
    size = itemsize_at(code)
    fold.nop, fold.ndim = 2, 0
    slot = size
    for d in range(whole.ndim):
        if d == 0 and repeat > 1:
            whole.strides[result][0] = size
            add_axis(&fold, old, size, plan.strides[result][0])
            add_axis(&fold, repeat, old * size, 0)
        elif plan.strides[result][d] != 0:
            whole.strides[result][d] = slot
            add_axis(&fold, whole.shape[d], slot, plan.strides[result][d])
        else:
            continue
        slot *= whole.shape[d]
    add_axis(&fold, count, slot, 0)
    # Next to the columns, the loop for rows takes the pieces too; other axes are walked.
    if fold.ndim > 2 and repeat == 1 and plan.strides[result][0] != 0:
        for d in range(fold.ndim - 1, 1, -1):
            swap_axes(&fold, d, d - 1)
    memory = <char*>malloc(count * slot)
    if memory is NULL:
        return False
    for k in range(2):
        fold.code[k] = fold.loop_code[k] = code
    # Forth with the start of every piece, and back with what it came to.
    swap_operands(&fold)
    fold.data[0], fold.data[1] = plan.data[result], memory
    walk(&fold, &TABLE.casts[code][code][0], False)
    split.plan, split.loops, split.reduction, split.axis, split.extent = &whole, loops, True, axis, extent
    split.blocks = NULL
    split.failed, split.stop, split.slots, split.slot = False, False, memory, slot
    split.absorbing = ABSORBING[number] if slot == 1 else -1
    work = work_of(plan, loops)
    done = run_chunks(run_chunk, &split, count, threads_for(work), True)
    swap_operands(&fold)
    fold.data[0], fold.data[1] = memory, plan.data[result]
    coalesce(&fold, 0)
    done = done and not split.failed and walk(&fold, &TABLE.reductions[FOLDED_WITH[number]][code][0], True)
    free(memory)
    rest = plan.shape[1] - whole.shape[1] * repeat if repeat > 1 else 0
    if done and rest:
        whole = plan[0]
        for k in range(plan.nop):
            whole.data[k] += (plan.shape[1] - rest) * plan.strides[k][1]
        whole.shape[1] = rest
        done = walk(&whole, loops, True)
    return done


cdef void add_axis(Plan* plan, Py_ssize_t size, Py_ssize_t step0, Py_ssize_t step1) noexcept nogil:
    plan.axis[plan.ndim] = plan.ndim
    plan.shape[plan.ndim] = size
    plan.strides[0][plan.ndim], plan.strides[1][plan.ndim] = step0, step1
    plan.ndim += 1


cdef void swap_operands(Plan* plan) noexcept nogil:
    cdef int d
    for d in range(plan.ndim):
        plan.strides[0][d], plan.strides[1][d] = plan.strides[1][d], plan.strides[0][d]
