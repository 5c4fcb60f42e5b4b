# The log of writes, and checks against it: Note [Overwritten values]. Included in `tape.pyx`.

@cython.final
@cython.no_gc
cdef class Source:
    """An array through which memory was written: what its elements depend on since the last such write."""
    cdef Node node
    cdef Array place           # location of the whole array
    cdef int lead              # number of its batch axes
    cdef bint exact            # whether the written elements are known


@cython.final
cdef class Write:
    cdef int64_t time
    cdef Array place           # location of the written array
    cdef tuple key             # the written elements in it; None for all
    cdef int64_t level         # level of the array written through; 0 if it was not batched
    cdef str where
    cdef Source source         # None if neither the array nor the value was tracked


@cython.final
cdef class Folded:
    """The last write to each element, among the writes through arrays of one level that are no longer in the list."""
    cdef int64_t last
    cdef object times
    cdef object owners         # index of each element's source
    cdef list sources          # None (for constants), then sources
    cdef Py_ssize_t most       # number of sources at which unused ones are dropped
    cdef str where             # line of the last of these writes


@cython.final
cdef class History:
    cdef list writes
    cdef int keyed             # number of writes with a key
    cdef s0_shared_long last
    cdef s0_shared_flag has_tracked  # whether one of the written values was tracked
    cdef dict folded           # `Folded` by level
    cdef bint folding          # whether a thread is moving writes to `folded`
    cdef PyObject** sorted     # lists of the values on this memory that tapes saved, or NULL

    def __cinit__(self):
        self.writes = []
        self.folded = {}

    def __dealloc__(self):
        cdef Py_ssize_t part
        if self.sorted is not NULL:
            s0_acquire(&listing)
            for part in range(PARTS + 1):
                while self.sorted[part] is not NULL:
                    leave_list(<Saved>self.sorted[part])
            s0_leave(&listing)
            PyMem_Free(self.sorted)

cdef History CLEAN = History()


cdef inline History history_of(Storage storage):
    """The log of writes to a storage, or None."""
    storage = memory_of(storage)
    if not storage.logged:
        return None
    with cython.critical_section(storage):
        return <History>storage.history


cdef inline History log_of(Storage storage):
    """The log for writes to a storage, shared by all threads that write to it."""
    with cython.critical_section(storage):
        if not storage.logged or storage.history is CLEAN:
            storage.history, storage.logged = History(), True
        return <History>storage.history


cdef inline bint start_history(Storage storage) except -1:
    """Begin to log writes to a storage; False if they are logged already."""
    # Without the GIL, another thread may be about to remove the history: see `untrack`.
    if not FREE_THREADED and storage.logged:
        return False
    with cython.critical_section(storage):
        if storage.logged:
            return False
        storage.history, storage.logged = CLEAN, True
    return True


cdef str line_of_caller():
    frame = frame_of_caller()
    return "an unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


cdef int log_write(Array x, Array region, tuple key, bint exact, Node node) except -1:
    """Log a write to elements of x, whose new node is given: the elements of `region`, or the elements that `key` selects from it."""
    cdef Write write = Write()
    cdef list seen = [x]
    cdef Array below = x
    cdef Storage storage = memory_of(x.storage)
    cdef History history = log_of(storage)
    while below.storage.batched:
        below = (<Batch>below.storage.history).whole
        seen.append(below)
    write.level = level_of(x).serial if x.storage.batched else 0
    write.place, write.key = outline(region), key
    write.where = line_of_caller()
    if node is not None:
        write.source = Source()
        write.source.node, write.source.place, write.source.lead, write.source.exact = node, outline(x), below.ndim - x.ndim, exact
    with cython.critical_section(history):
        list_write(history, write, storage, node_at(x), exact, seen)
    return 0


cdef int list_write(History history, Write write, Storage storage, Node before, bint exact, list seen) except -1:
    """List a write, and mark it as seen by the arrays in `seen`; the first array had the node `before`."""
    cdef Write old
    cdef Array x
    cdef Source source
    # Number writes in the order of the list, whatever the order of the threads.
    history.last = write.time = s0_count_up(clock, 1)
    for x in seen:
        s0_put_long(x.seen, write.time)
    if write.source is not None:
        history.has_tracked = True
        for old in reversed(history.writes):
            source = old.source
            if source is not None and source.node is before and source.exact == exact and is_same_place(source.place, write.source.place):
                # The same array is written repeatedly: its last node includes all writes.
                source.node = write.source.node
                write.source = source
                break
    if write.key is None:
        # A repeatedly written region has one entry.
        history.writes = [old for old in history.writes if old.level != write.level or not is_region(old, write.place)]
    history.writes.append(write)
    history.keyed += write.key is not None
    if not history.folding and (len(history.writes) > tuning.folded_writes or history.keyed > tuning.folded_key_writes):
        history.folding = True
        try:
            fold_writes(history, storage)
        finally:
            history.folding = False
    return 0

# Limits of the list of writes; entries with index arrays and masks hold copies of them.
cdef enum:
    GRANULE = 2                # bytes of the smallest floating-point type


cdef int fold_writes(History history, Storage storage) except -1:
    """
    Replace all entries of the list except the last by arrays of fixed size, with time and source of the last write to each element.

    Other threads may enter the critical section of the history while NumPy runs: entries that they add stay, and replaced entries
    remain in the list until they are in the arrays.
    """
    cdef Write write
    cdef Folded folded
    cdef Source source
    # The assignment in `y[i] += a` may still use the last entry.
    cdef list done = history.writes[:len(history.writes) - 1]
    import numpy

    for write in done:
        folded = <Folded>history.folded.get(write.level)
        if folded is None:
            folded = Folded()
            folded.times = numpy.zeros(storage.nbytes // GRANULE + 2, dtype=numpy.int64)
            folded.owners = numpy.zeros(storage.nbytes // GRANULE + 2, dtype=numpy.int32)
            folded.sources, folded.most = [None], tuning.folded_sources
            history.folded[write.level] = folded
        places = (granules(numpy, write.place, write.key, GRANULE) - <int64_t>storage.data) // GRANULE
        source = write.source
        if source is not None and source is not folded.sources[len(folded.sources) - 1]:
            if len(folded.sources) > folded.most:
                drop_sources(numpy, folded)
            folded.sources.append(source)
        folded.times[places] = folded.last = write.time
        folded.owners[places] = 0 if source is None else len(folded.sources) - 1
        folded.where = write.where
    history.writes = [write for write in history.writes if write not in done]
    history.keyed = 0
    for write in history.writes:
        history.keyed += write.key is not None
    return 0


cdef int drop_sources(object numpy, Folded folded) except -1:
    """Drop the sources that no element refers to."""
    cdef list kept = [0] + [int(k) for k in numpy.unique(folded.owners) if k]
    indices = numpy.zeros(len(folded.sources), dtype=numpy.int32)
    indices[kept] = numpy.arange(len(kept), dtype=numpy.int32)
    folded.owners = indices[folded.owners]
    folded.sources = [folded.sources[k] for k in kept]
    folded.most = tuning.folded_sources + 2 * len(kept)
    return 0

cdef inline bint is_region(Write write, Array place):
    return write.key is None and is_same_place(write.place, place)


cdef bint touches(Write write, Array place) except -1:
    """Whether a write overwrote elements of an array."""
    if not overlap(write.place, place):
        return False
    if write.key is None:
        return True
    import numpy

    return bool(numpy.isin(granules(numpy, place, None, GRANULE), granules(numpy, write.place, write.key, GRANULE)).any())


cdef object granules(object numpy, Array place, tuple key, Py_ssize_t unit):
    """Addresses of all elements, in units of `unit` bytes."""
    cdef object found = numpy.asarray(<int64_t>place.address, dtype=numpy.int64)
    cdef int axis, k
    for axis in range(place.ndim):
        offsets = numpy.arange(place.shape_[axis], dtype=numpy.int64) * place.strides_[axis]
        found = found + offsets.reshape([-1 if k == axis else 1 for k in range(place.ndim)])
    found = numpy.broadcast_to(found, shape_tuple(place))
    if key is not None:
        found = found[tuple([numpy.asarray(item) if type(item) is Array else item for item in key])]
    return (found.reshape(-1, 1) + numpy.arange(0, itemsize_at(place.code), unit)).reshape(-1)


cdef int untrack(object x) except -1:
    """Remove node and history of an array if no tape exists any more; another thread may have created a tape that tracks it."""
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
    The node of an operand on a logged storage; None if the operand is not tracked.

    Writes through other arrays are replayed, except writes to exactly the region `overwritten`.
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
    if s0_first_ended >= 0 and history.last > s0_first_ended and overwritten is None:
        check_unchanged(history, x, name)
    if history.last > s0_peek_long(x.seen):
        replay(history, x, name, overwritten, False)
    node = open_node(x)
    if FREE_THREADED and node is not None:
        check_thread(node, name)
    return node


# The numbers of the last writes before the first call of a function ended, and before its second call began: `reopen`.
cdef extern from *:
    """
    S0_PER_THREAD long long s0_first_ended = -1;
    S0_PER_THREAD long long s0_second_began = -1;
    /* Whether a function runs that will be called again, and must then read the same values. */
    S0_PER_THREAD int s0_noticing = 0;
    #define s0_set_noticing(value) (s0_noticing = (value))
    #define s0_set_calls(first, second) (s0_first_ended = (first), s0_second_began = (second))
    """
    long long s0_first_ended
    long long s0_second_began
    int s0_noticing
    void s0_set_noticing(int value) noexcept
    void s0_set_calls(long long first, long long second) noexcept


cdef inline Array noticed(Array x):
    """An untracked operand next to tracked ones. If the function that reads it will be called again, writes to it are logged."""
    if s0_noticing and start_history(memory_of(root_of(x.storage))):
        s0_put_long(x.seen, clock)
    return x


@cython.final
cdef class Noticing:
    """A block in which a function runs that will be called again."""

    cdef int before

    def __enter__(self):
        self.before = s0_noticing
        s0_set_noticing(1)

    def __exit__(self, kind, error, traceback):
        s0_set_noticing(self.before)


cdef int check_unchanged(History history, Array x, str name) except -1:
    """Refuse an array that the second call of a function reads, and that was written to after the first one."""
    cdef Write write
    cdef Folded folded
    cdef Array place = outline(x)
    cdef int64_t after = s0_first_ended, until = s0_second_began
    cdef list writes, found
    with cython.critical_section(history):
        writes, found = list(history.writes), list(history.folded.values())
    for write in reversed(writes):
        if write.time <= after:
            break
        if write.time <= until and touches(write, place):
            refuse_changed(x, name, write.where)
    for folded in found:
        if folded.last > after:
            import numpy
            if were_written(numpy, folded, memory_of(x.storage), place, after, until):
                refuse_changed(x, name, folded.where)
    return 0


cdef int refuse_changed(Array x, str name, str where) except -1:
    raise GradientError(
        name, "the array was overwritten after the call that `checkpoint` makes again",
        (("shape", f"{shape_tuple(x)}"), ("written at", where)), "an argument of the function, or a copy: their values are kept")


cdef int refuse_stale(Array x, str name, str where) except -1:
    raise GradientError(
        name, "the array was overwritten through another one that shares its memory, and its gradient is not known",
        (("shape", f"{shape_tuple(x)}"), ("written at", where)),
        "write through the array itself, x[key] = value, or take the view after the write")
