# Loops over elements at indices: the engine of all functions that read, write or add elements at indices.
#
# Note [Gather and scatter]
#     A gather is a loop over the elements of its result in C order. Its operands are the array, the result and each index
#     array: the array has stride 0 along the axes of the index arrays, an index array along the other axes, and along axes
#     that it is broadcast along. Axes that are one run in all operands are merged, and contiguous elements at one index
#     are one run of bytes. A scatter is the same loop: it writes to the array, or adds to it, from an operand that may be
#     broadcast.
#
#     The indices of several arrays, and of a scatter, are checked before any element is copied. The user's index
# array is read without a copy, and another thread may write to it at the same time. So the kernels check it again,
# and never access memory outside of the array. A gather by one index array has only this check; its result is
# discarded if the check fails.

ctypedef struct Lanes:
    # A loop over elements in C order: lanes along its innermost axis, which is the first here. Strides in bytes.
    int ndim
    int rows                # number of operands: the indexed array, the array of values, each index array
    Py_ssize_t run          # bytes that are moved at each index; 0: axes are not merged into runs
    int mode
    int width
    s0_loop copy            # of elements at one index; NULL for runs
    Py_ssize_t count, each  # of all elements or runs of a chunk
    int failed
    Py_ssize_t shape[MAX_NDIM]
    char* at[S0_MAX_ROWS]
    s0_pick picks[S0_MAX_PICKS]
    Py_ssize_t strides[MAX_NDIM][S0_MAX_ROWS]


cdef inline void no_lanes(Lanes* lanes, int rows, Py_ssize_t run) noexcept nogil:
    lanes.ndim, lanes.rows, lanes.run = 0, rows, run


cdef inline void add_axis(Lanes* lanes, int rows, Py_ssize_t size, const Py_ssize_t* strides) noexcept nogil:
    """Add the next axis outwards: to the run or to the axis inside of it, if they are one run in all operands."""
    cdef int k, last = lanes.ndim - 1
    cdef bint merged = True
    if size == 1:
        return
    if last >= 0:
        for k in range(rows):
            merged = merged and strides[k] == lanes.strides[last][k] * lanes.shape[last]
        if merged:
            lanes.shape[last] *= size
            return
    elif lanes.run and strides[0] == lanes.run and strides[1] == lanes.run:
        for k in range(2, rows):
            merged = merged and strides[k] == 0
        if merged:
            lanes.run *= size
            return
    lanes.ndim = last + 2
    lanes.shape[last + 1] = size
    for k in range(rows):
        lanes.strides[last + 1][k] = strides[k]


cdef inline void end_axes(Lanes* lanes, int rows) noexcept nogil:
    """Add axes of size 1 until there are two: a lane, and an axis of lanes."""
    cdef int k
    while lanes.ndim < 2:
        lanes.shape[lanes.ndim] = 1
        for k in range(rows):
            lanes.strides[lanes.ndim][k] = 0
        lanes.ndim += 1


cdef bint next_lanes(const Lanes* lanes, Py_ssize_t* position, char** at, Py_ssize_t m) noexcept nogil:
    """Advance the operands by m lanes, to the beginning of a lane; False after the last one."""
    cdef int d = 1, k
    if lanes.ndim == 2 and position[1] + m == lanes.shape[1]:
        return False
    for k in range(lanes.rows):
        at[k] += m * lanes.strides[1][k] - position[0] * lanes.strides[0][k]
    position[0] = 0
    position[1] += m
    while position[d] == lanes.shape[d]:
        if d + 1 == lanes.ndim:
            return False
        for k in range(lanes.rows):
            at[k] += lanes.strides[d + 1][k] - position[d] * lanes.strides[d][k]
        position[d] = 0
        d += 1
        position[d] += 1
    return True


cdef void move_chunk(void* context, int chunk) noexcept nogil:
    cdef Lanes* lanes = <Lanes*>context
    cdef Py_ssize_t position[MAX_NDIM]
    cdef char* at[S0_MAX_ROWS]
    cdef Py_ssize_t rest = chunk * lanes.each, left = min(lanes.each, lanes.count - rest), n, m
    cdef int d, k, rows = lanes.rows
    cdef bint valid = True
    for k in range(rows):
        at[k] = lanes.at[k]
    for d in range(lanes.ndim):
        position[d] = rest % lanes.shape[d] if rest else 0
        rest = rest // lanes.shape[d] if rest else 0
        for k in range(rows):
            at[k] += position[d] * lanes.strides[d][k]
    while True:
        n, m = min(lanes.shape[0] - position[0], left), 1
        if n == lanes.shape[0]:
            m = min(lanes.shape[1] - position[1], left // n)
        valid = s0_move_picked(
            lanes.mode, lanes.width, lanes.run, lanes.picks, rows - 2, at, lanes.strides[0], lanes.strides[1], n, m, lanes.copy) and valid
        left -= n * m
        if left == 0:
            break
        next_lanes(lanes, position, at, m)
    if not valid:
        s0_write_int(lanes.failed, True)


cdef inline int width_of_run(Py_ssize_t run) noexcept nogil:
    """The item size if runs are moved as single elements, otherwise 0."""
    return <int>run if run <= 16 and run & (run - 1) == 0 else 0


cdef bint move_lanes(Lanes* lanes, int code, int mode) except -1:
    """Read, write or add in all lanes; return whether all indices were valid. A gather is shared between threads."""
    cdef int d, itemsize = itemsize_at(code)
    cdef int64_t work
    lanes.mode, lanes.failed, lanes.count = mode, False, lanes.shape[0] * lanes.shape[1]
    for d in range(2, lanes.ndim):
        lanes.count *= lanes.shape[d]
    lanes.width = width_of_run(lanes.run)
    if mode == S0_ADD:
        lanes.width = -itemsize if letter_at(code) == c"f" else -itemsize // 2 if letter_at(code) == c"c" else itemsize
    lanes.copy = loops_of(cast_kernel(code, code))[3] if lanes.run == itemsize and mode != S0_ADD else NULL
    # Reading an element from a cache takes a nanosecond.
    work = lanes.count * (1 if lanes.width else tuning.gathered_run_ns + lanes.run // tuning.gathered_bytes_per_ns)
    if lanes.ndim == 2 and not is_long_run(work):
        # A small call: one block of lanes.
        return s0_move_picked(
            mode, lanes.width, lanes.run, lanes.picks, lanes.rows - 2, lanes.at, lanes.strides[0], lanes.strides[1], lanes.shape[0], lanes.shape[1], lanes.copy)
    if mode == S0_READ:
        run_shared(move_chunk, lanes, &lanes.each, lanes.count, work)
    else:
        run_in_chunks(move_chunk, lanes, &lanes.each, lanes.count, 1, 1, work)
    return not lanes.failed
