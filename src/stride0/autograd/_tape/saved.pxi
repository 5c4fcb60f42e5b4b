# The values that rules need, and copies of values that are overwritten. Included in `tape.pyx`.
# Note [Overwritten values]

@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Saved:
    """An array that a rule needs: its node, and its view of a storage; after the values are overwritten, the storage of a copy."""

    cdef Storage storage
    cdef PyObject* node        # a reference, or NULL
    cdef char* data            # NULL while deferred
    cdef int code
    cdef int ndim
    cdef int result            # 0: an operand, 1: the result, from 2 on: one of several results
    cdef Py_ssize_t dims[2 * FEW_AXES]  # sizes, strides
    cdef Array view            # the array, if it has more axes
    cdef PyObject* next        # next in a list of saved values on the same memory
    cdef PyObject** before     # the pointer to it in that list, or NULL

    def __dealloc__(self):
        s0_acquire(&listing)
        leave_list(self)
        s0_leave(&listing)
        release_node(self.node)
        free_waiting()


cdef inline void enlist(Saved saved, PyObject** first) noexcept:
    """Put a saved value into a list; the caller holds the lock."""
    saved.before, saved.next = first, first[0]
    if saved.next is not NULL:
        (<Saved>saved.next).before = &saved.next
    first[0] = <PyObject*>saved


cdef inline void leave_list(Saved saved) noexcept:
    """Take a saved value out of its list; the caller holds the lock, and may be freeing the value."""
    if saved.before is not NULL:
        saved.before[0] = saved.next
    if saved.next is not NULL:
        (<Saved>saved.next).before = saved.before
    saved.before, saved.next = NULL, NULL


cdef Saved save_array(Array x, int result):
    """Save an array."""
    cdef Saved saved = Saved.__new__(Saved)
    cdef Storage storage = x.storage
    cdef Node node
    s0_enable_try_incref(<PyObject*>saved)
    # An array that a rule got has a storage without a history, which does not log writes.
    if storage.owner is not None:
        storage = root_of(storage)
    saved.storage, saved.data, saved.code, saved.ndim, saved.result = storage, x.address, x.code, x.ndim, result
    if x.ndim > FEW_AXES:
        saved.view = plain_of(x)
    else:
        memcpy(saved.dims, x.shape_, 2 * x.ndim * sizeof(Py_ssize_t))
    # Tapes older than the recording tapes may also depend on it: Note [Levels].
    node = None if result else node_at(x)
    if node is not None and not is_any_open(node.tapes):
        node = None
    if node is not None:
        Py_INCREF(node)
        saved.node = <PyObject*>node
    storage = memory_of(storage)
    if start_history(storage):
        x.seen = clock
    s0_acquire(&listing)
    enlist(saved, <PyObject**>&storage.saved)
    s0_leave(&listing)
    return saved


cdef Array plain_array(Saved saved):
    """A saved array on a storage without a history."""
    with cython.critical_section(saved):
        return view_of_saved(saved)


cdef Array view_of_saved(Saved saved):
    cdef Storage storage = saved.storage
    cdef Array y
    if saved.view is not None:
        return saved.view
    y = blank(saved.code)
    set_ndim(y, saved.ndim)
    memcpy(y.shape_, saved.dims, 2 * saved.ndim * sizeof(Py_ssize_t))
    set_flags(y)
    if storage.batched:
        y.storage, y.is_view = storage, True
        return y
    if saved.data is NULL:
        # It is the whole storage, which may still be deferred.
        saved.data = storage.data
    y.storage = foreign_storage(storage.data, storage.nbytes, storage, storage.readonly)
    y.storage.device = storage.device
    y.address = saved.data
    y.is_view = True
    return y


cdef Array tracked_array(Saved saved, Node node):
    """A saved array, with its node."""
    cdef Array y = plain_array(saved)
    if y is saved.view:
        y = alias(y)
    restore_storage(y)
    start_history(y.storage)
    y.node, y.seen = node, clock
    return y


# --- copies


cdef struct Found:
    PyObject** items           # references to saved values
    Py_ssize_t count
    Py_ssize_t room
    bint failed                # whether there was no memory


cdef int copy_saved(Array region) except -1:
    """Copy the saved values that a write to a region is about to overwrite."""
    cdef Storage storage = memory_of(region.storage)
    cdef History history = None
    cdef Found found
    cdef list copies = []
    cdef uintptr_t low, high
    cdef Py_ssize_t i, length = 0
    if storage.owner is not None:
        storage = root_of(storage)
    storage = memory_of(storage)
    if storage.saved is NULL and not storage.logged:
        return 0
    reach(data_of(region), region.ndim, region.shape_, region.strides_, region.code, &low, &high)
    memset(&found, 0, sizeof(found))
    # Another thread may be creating the history with the sorted lists.
    with cython.critical_section(storage):
        if storage.logged:
            history = <History>storage.history
        s0_acquire(&listing)
        if history is not None and history.sorted is not NULL:
            sort_saved(history, storage)
            find_sorted(&found, history, storage, low, high)
        else:
            length = find_listed(&found, <PyObject*>storage.saved, low, high)
        s0_leave(&listing)
    try:
        if found.failed:
            raise MemoryError("allocate: no memory for values that are about to be overwritten")
        for i in range(found.count):
            move_saved(<Saved>found.items[i], region, copies)
    finally:
        for i in range(found.count):
            Py_DECREF(<Saved>found.items[i])
        free(found.items)
    if length > tuning.sorted_saved_values:
        start_sorting(storage)
    return 0


cdef bint has_range(Saved saved, uintptr_t* low, uintptr_t* high) noexcept:
    """The range of addresses of a saved value; False if it is not known."""
    if saved.storage.batched or saved.data is NULL or saved.view is not None:
        return False
    reach(saved.data, saved.ndim, saved.dims, saved.dims + saved.ndim, saved.code, low, high)
    return True


cdef Py_ssize_t find_listed(Found* found, PyObject* saved, uintptr_t low, uintptr_t high) noexcept:
    """Take references to the saved values in a list that may be in a range; returns the length of the list. The caller holds the lock."""
    cdef Py_ssize_t length = 0
    cdef uintptr_t first, last
    cdef PyObject** items
    while saved is not NULL:
        if not has_range(<Saved>saved, &first, &last) or (first < high and low < last):
            if found.count == found.room:
                items = <PyObject**>realloc(found.items, (16 + 2 * found.room) * sizeof(PyObject*))
                if items is NULL:
                    found.failed = True
                    return length
                found.items, found.room = items, 16 + 2 * found.room
            # Another thread may be freeing it.
            if s0_try_incref(saved):
                found.items[found.count] = saved
                found.count += 1
        length += 1
        saved = (<Saved>saved).next
    return length


cdef int move_saved(Saved saved, Array region, list copies) except -1:
    """Replace a saved value by a copy, if a write to a region is about to overwrite it."""
    cdef Storage before = None, memory
    cdef Array x = None, place, copy = None, view = None, earlier = None
    with cython.critical_section(saved):
        before = saved.storage
        x = view_of_saved(saved)
    place = ground(x)
    if x.storage.batched and not level_of(x).open:
        return 0
    data_of(place)
    if not overlap(place, region):
        return 0
    for known, made in copies:
        if (<Array>known).storage is saved.storage and (<Array>known).code == x.code and is_same_place(<Array>known, x):
            copy = <Array>made
    if copy is None:
        copy = copied(x)
        # Batched arrays have no memory.
        restore_storage(x)
        copies.append((x, copy))
    memory = memory_of(copy.storage)
    if saved.ndim > FEW_AXES:
        view = plain_of(copy)
    # `before` and `earlier` keep the replaced objects alive, so that nothing is freed while the lock is held. A thread that searches
    # the lists with the lock finds a saved value where it is listed. If another thread has moved it, it did so before its write.
    with cython.critical_section(saved):
        s0_acquire(&listing)
        if saved.storage is before:
            earlier = saved.view
            saved.storage, saved.data, saved.view = copy.storage, copy.address, view
            if view is None:
                memcpy(saved.dims, copy.shape_, 2 * copy.ndim * sizeof(Py_ssize_t))
            leave_list(saved)
            enlist(saved, <PyObject**>&memory.saved)
        s0_leave(&listing)
    return 0


cdef tuple COPY = ("copy",)


cdef Array copied(Array x):
    """A copy of the memory of x: broadcast axes stay broadcast. For a batched array, tapes below its level track the copy."""
    cdef Array value, y, base
    cdef int axis
    cdef bint repeats = False
    if x.storage.batched:
        if level_of(x).recorder is not None:
            return <Array>recorded_call(level_of(x), "call", asarray, "asarray", (x, True), COPY)
        value = (<Batch>x.storage.history).whole
        y = copied(value)
        if value.node is not None:
            start_history(y.storage)
            y.node, y.seen = node_at(value), clock
        return wrapped(level_of(x), y)
    base = without_history(x)
    for axis in range(x.ndim):
        if x.strides_[axis] == 0 and x.shape_[axis] > 1:
            base.shape_[axis], repeats = 1, True
    if not repeats:
        return <Array>asarray(base, copy=True)
    set_flags(base)
    y = <Array>asarray(base, copy=True)
    data_of(y)
    for axis in range(x.ndim):
        if y.shape_[axis] != x.shape_[axis]:
            y.shape_[axis], y.strides_[axis] = x.shape_[axis], 0
    set_flags(y)
    return y


# If a storage has many saved values, each part of the memory has a list, and values in several parts have another list. So a loop
# that saves and writes single elements looks at few values each time.

cdef enum:
    PARTS = 256


cdef int start_sorting(Storage storage) except -1:
    cdef History history = log_of(storage)
    cdef PyObject** lists = <PyObject**>PyMem_Calloc(PARTS + 1, sizeof(PyObject*))
    if lists is NULL:
        raise MemoryError("allocate: no memory for lists of saved values")
    s0_acquire(&listing)
    if history.sorted is NULL:
        history.sorted, lists = lists, NULL
    s0_leave(&listing)
    PyMem_Free(lists)
    return 0


cdef inline Py_ssize_t part_at(Storage storage, uintptr_t address) noexcept:
    return <Py_ssize_t>(address - <uintptr_t>storage.data) // (storage.nbytes // PARTS + 1)


cdef void sort_saved(History history, Storage storage) noexcept:
    """Put the saved values of a storage into the lists of its parts; the caller holds the lock."""
    cdef PyObject* saved
    cdef uintptr_t low, high
    cdef Py_ssize_t part
    while storage.saved is not NULL:
        saved = <PyObject*>storage.saved
        leave_list(<Saved>saved)
        part = PARTS
        if has_range(<Saved>saved, &low, &high) and low < high and part_at(storage, low) == part_at(storage, high - 1):
            part = part_at(storage, low)
        enlist(<Saved>saved, &history.sorted[part])


cdef void find_sorted(Found* found, History history, Storage storage, uintptr_t low, uintptr_t high) noexcept:
    cdef Py_ssize_t part
    find_listed(found, history.sorted[PARTS], low, high)
    if low < high:
        for part in range(part_at(storage, low), part_at(storage, high - 1) + 1):
            find_listed(found, history.sorted[part], low, high)


cdef object save(object value, int result):
    """Save a value: arrays become `Saved`."""
    cdef list parts
    if type(value) is Array:
        return save_array(<Array>value, result)
    if isinstance(value, (tuple, list)) and holds(value, Array):
        parts = []
        for item in value:
            parts.append(save(item, result))
            result += result != 0
        return tuple(parts)
    # The caller may change a list before the backward pass.
    return list(value) if type(value) is list else value


cdef bint holds(object items, object kind) except -1:
    """Whether an item of a tuple or list is of a type."""
    for item in items:
        if type(item) is kind:
            return True
    return False


cdef int save_values(Node node, PyObject** values, PyObject* out) except -1:
    """Save those arguments in `values` and results that the rules of the edges need."""
    cdef Rules rules = node.rules
    cdef int number, what, subject, r, k, e
    cdef object value, item
    if rules.needs == 0:
        return 0
    node.saved = node.few_saved
    if rules.needs > FEW_VALUES:
        node.saved = <PyObject**>PyMem_Malloc(rules.needs * sizeof(PyObject*))
        if node.saved is NULL:
            raise MemoryError("allocate: no memory for the saved values of a node")
        memset(node.saved, 0, rules.needs * sizeof(PyObject*))
    node.kept = rules.needs
    for e in range(node.count):
        r = node.edges[e].rule
        for k in range(rules.count[r]):
            number = rules.numbers[r][k]
            if node.saved[number] is not NULL:
                continue
            what, subject = rules.what[number], rules.subject[number]
            value = <object>(out if subject < 0 else values[subject])
            if what == VALUE:
                item = save(value, subject < 0)
            elif type(value) is Array:
                if what == OWN_SHAPE:
                    continue
                item = shape_tuple(<Array>value) if what == SHAPE else dtype_at((<Array>value).code)
            else:
                item = argument_facts(value, what)
            Py_INCREF(item)
            node.saved[number] = <PyObject*>item
    return 0


cdef object argument_facts(object value, int what):
    """The shape or the dtype of each array in a sequence; for other arguments an empty shape, or None."""
    if isinstance(value, (tuple, list)):
        return tuple([argument_facts(item, what) for item in value])
    if what == DTYPE:
        return (<Array>value).dtype if type(value) is Array else None
    return shape_tuple(<Array>value) if type(value) is Array else ()
