# The log of writes, and checks against it: Note [Overwritten values]. Included in `tape.pyx`.

@cython.final
cdef class Write:
    cdef int64_t time
    cdef uintptr_t data
    cdef tuple shape, strides, key
    cdef Py_ssize_t itemsize
    cdef uintptr_t low, high   # address of the first byte, and of the byte behind the last one
    cdef bint solid            # whether all bytes between were written
    cdef str where
    cdef tuple tapes           # of the written value, if that is tracked


@cython.final
cdef class History:
    cdef list writes
    cdef int keyed             # how many of them have a key
    cdef s0_shared_long last
    cdef s0_shared_flag has_tracked  # whether one of the written values was tracked
    cdef object times          # the last write to each element, of the writes that are no longer in the list
    cdef tuple tapes           # of those
    cdef str where             # of the last of those
    cdef bint folding          # whether a thread moves writes there

    def __cinit__(self):
        self.writes = []
        self.tapes = ()

cdef History CLEAN = History()


cdef inline History history_of(Storage storage):
    """The log of writes to a storage, or None."""
    storage = memory_of(storage)
    if not storage.logged:
        return None
    with cython.critical_section(storage):
        return <History>storage.history


cdef inline History log_of(Storage storage):
    """The log that a write to a storage is listed in: one for all threads that write to it."""
    with cython.critical_section(storage):
        if not storage.logged or storage.history is CLEAN:
            storage.history, storage.logged = History(), True
        return <History>storage.history


cdef inline bint start_history(Storage storage) except -1:
    """Begin to log writes to a storage; False where they are logged already."""
    # Without the lock of the interpreter, another thread may be about to remove it: see `untrack`.
    if not FREE_THREADED and storage.logged:
        return False
    with cython.critical_section(storage):
        if storage.logged:
            return False
        storage.history, storage.logged = CLEAN, True
    return True


cdef tuple byte_strides(Array x):
    cdef int axis
    return tuple([x.strides_[axis] for axis in range(x.ndim)])


cdef str line_of_caller():
    frame = frame_of_caller()
    return "an unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


cdef int log_write(Array x, Array region, tuple key, Node node) except -1:
    """Log a write to elements of x: those of `region`, or of those the ones that `key` selects."""
    cdef Write write = Write()
    cdef Node older
    cdef list seen = [x]
    cdef Storage storage = memory_of(x.storage)
    cdef History history = log_of(storage)
    write.tapes = () if node is None else node.tapes
    while x.storage.batched:
        x = (<Batch>x.storage.history).value
        seen.append(x)
        older = node_at(x)
        if node is not None and older is not None:
            # Older tapes have recorded what was written, too.
            write.tapes += older.tapes
    region = ground(region)
    write.data, write.itemsize = <uintptr_t>data_of(region), itemsize_at(region.code)
    write.shape, write.strides, write.key = shape_tuple(region), byte_strides(region), key
    reach(region, &write.low, &write.high)
    write.solid = key is None and region.c_contiguous
    write.where = line_of_caller()
    with cython.critical_section(history):
        list_write(history, write, storage, region, seen)
    return 0


cdef int list_write(History history, Write write, Storage storage, Array region, list seen) except -1:
    """List a write, which the arrays in `seen` have then seen."""
    cdef Write old
    cdef Array x
    # In the order of the list, whatever the order in which threads come here.
    history.last = write.time = s0_count_up(clock, 1)
    for x in seen:
        s0_put_long(x.seen, write.time)
    if len(write.tapes):
        history.has_tracked = True
    if write.key is None:
        # A region that is written repeatedly has one entry.
        history.writes = [old for old in history.writes if not is_region(old, region)]
    history.writes.append(write)
    history.keyed += write.key is not None
    if not history.folding and (len(history.writes) > MANY_WRITES or history.keyed > MANY_KEYS):
        history.folding = True
        try:
            fold_writes(history, storage)
        finally:
            history.folding = False
    return 0

# Limits of the list of writes; entries with index arrays and masks hold copies of them.
cdef enum:
    MANY_WRITES = 64
    MANY_KEYS = 8


cdef int fold_writes(History history, Storage storage) except -1:
    """
    Replace all but the last entry of the list by an array of fixed size: the time of the last write to each element.

    Others come into the critical section of the history where NumPy lets them: what they list stays, and what is replaced is in
    the list until it is in the array.
    """
    cdef Write write
    # The assignment of `y[i] += a` may still accept the last one.
    cdef list folded = history.writes[:len(history.writes) - 1]
    import numpy

    if history.times is None:
        history.times = numpy.zeros(storage.nbytes // 4 + 2, dtype=numpy.int64)
    for write in folded:
        places = granules(numpy, write.data, write.shape, write.strides, write.itemsize, write.key)
        history.times[(places - <int64_t>storage.data) // 4] = write.time
        for tape in write.tapes:
            if tape not in history.tapes:
                history.tapes += (tape,)
        history.where = write.where
    history.writes = [write for write in history.writes if write not in folded]
    history.keyed = 0
    for write in history.writes:
        history.keyed += write.key is not None
    return 0


cdef bint were_written(History history, Storage storage, Array x, int64_t seen) except -1:
    """Whether a write that is no longer in the list overwrote elements of x after `seen`."""
    if history.times is None or x.size == 0:
        return False
    if x.c_contiguous:
        first = (<uintptr_t>data_of(x) - <uintptr_t>storage.data) // 4
        return bool((history.times[first:first + (x.size * itemsize_at(x.code) + 3) // 4] > seen).any())
    import numpy

    places = granules(numpy, <uintptr_t>data_of(x), shape_tuple(x), byte_strides(x), itemsize_at(x.code), None)
    return bool((history.times[(places - <int64_t>storage.data) // 4] > seen).any())


cdef int reach(Array x, uintptr_t* low, uintptr_t* high) except -1:
    """The range of addresses of the elements of x."""
    cdef int axis
    cdef Py_ssize_t span
    low[0] = high[0] = <uintptr_t>data_of(x)
    if x.size == 0:
        return 0
    for axis in range(x.ndim):
        span = (x.shape_[axis] - 1) * x.strides_[axis]
        if span < 0:
            low[0] += span
        else:
            high[0] += span
    high[0] += itemsize_at(x.code)
    return 0


cdef bint is_region(Write write, Array x):
    return write.key is None and write.data == <uintptr_t>data_of(x) and write.itemsize == itemsize_at(x.code) and write.shape == shape_tuple(x) and write.strides == byte_strides(x)


cdef bint touches(Write write, Array x) except -1:
    """Whether a write overwrote elements of x."""
    cdef uintptr_t low, high

    if x.size == 0 or write.low == write.high:
        return False
    reach(x, &low, &high)
    if high <= write.low or write.high <= low:
        return False
    if write.solid and x.c_contiguous:
        return True
    import numpy

    mine = granules(numpy, <uintptr_t>data_of(x), shape_tuple(x), byte_strides(x), itemsize_at(x.code), None)
    theirs = granules(numpy, write.data, write.shape, write.strides, write.itemsize, write.key)
    if theirs.size == 0 or mine.max() < theirs.min() or theirs.max() < mine.min():
        return False
    return bool(numpy.isin(mine, theirs).any())


cdef object granules(object numpy, uintptr_t data, tuple shape, tuple strides, Py_ssize_t itemsize, tuple key):
    """Addresses of all elements in units of four bytes, the size of the smallest floating-point component."""
    cdef object found = numpy.asarray(<int64_t>data, dtype=numpy.int64)
    cdef Py_ssize_t axis, ndim = len(shape)
    for axis in range(ndim):
        offsets = numpy.arange(shape[axis], dtype=numpy.int64) * strides[axis]
        found = found + offsets.reshape([-1 if k == axis else 1 for k in range(ndim)])
    found = numpy.broadcast_to(found, shape)
    if key is not None:
        found = found[tuple([numpy.asarray(item) if type(item) is Array else item for item in key])]
    return (found.reshape(-1, 1) + numpy.arange(0, itemsize, 4)).reshape(-1)


cdef int untrack(object x) except -1:
    """Remove node and history of an array, if no tape exists any more: another thread may have made one that tracks it."""
    cdef object history = None, node = None     # freed outside
    cdef Array array
    cdef Storage storage
    if type(x) is Array and not (<Array>x).storage.batched:
        array, storage = <Array>x, (<Array>x).storage
        with cython.critical_section(storage):
            if live_tapes == 0:
                history, storage.history, storage.logged = storage.history, None, False
        with cython.critical_section(array):
            if live_tapes == 0:
                node = replaced_node(array, None)
    return 0


cdef Node enter(Array x, str name, Array overwritten):
    """
    The node of an operand on a logged storage, None if the operand is not tracked.

    Raises if the array is stale; writes to exactly the region `overwritten` are accepted.
    """
    cdef Node node
    cdef History history = history_of(x.storage)
    if live_tapes == 0:
        untrack(x)
        return None
    if history is None:
        if x.storage.batched:
            return open_node(x)
        if not FREE_THREADED:
            set_node(x, None)
        return None
    node = open_node(x)
    if FREE_THREADED and node is not None:
        check_thread(node, name)
    if history.last > s0_peek_long(x.seen):
        with cython.critical_section(history):
            check_writes(history, x, node, name, overwritten)
    return node


cdef int check_writes(History history, Array x, Node node, str name, Array overwritten) except -1:
    cdef Write write
    # What others list during the checks is not seen by them.
    cdef int64_t last = history.last, seen = s0_peek_long(x.seen)
    cdef Array whole = ground(x)
    if last > seen:
        for write in history.writes:
            if write.time <= seen or (node is None and not is_any_seen(write.tapes)):
                continue
            if overwritten is not None and is_region(write, overwritten):
                continue
            if touches(write, whole):
                refuse_stale(x, name, write.where)
        if (node is not None or is_any_seen(history.tapes)) and were_written(history, whole.storage, whole, seen):
            refuse_stale(x, name, history.where)
        # A closed tape may be opened again (`reopen`), and must find the array stale then.
        if not has_node(x) or node is not None:
            s0_put_long(x.seen, last)
    return 0


cdef int refuse_stale(Array x, str name, str where) except -1:
    raise GradientError(
        name, "the array was overwritten through another one that shares its memory, and its gradient is not known",
        (("shape", f"{shape_tuple(x)}"), ("written at", where)),
        "write through the array itself, x[key] = value, or take the view after the write")
