# Deferred results of `stride0.fused`: chains of elementwise steps that are computed when the elements are needed.
#
# Note [Deferred results]
#     Where `fused` holds, the result of an elementwise operation has its shape, dtype and strides, and all errors have been
#     raised, but its storage has no memory: it names a chain (`PendingChain`) and a step of that. The chain is computed
#     in one pass (`evaluate`), by the executor and the kernels that would have run before, so that all bits are the same.
#     What holds:
#
#     1. Elements that are pending cannot be read: `Array.address` is NULL, and every reader gets it from `data_of`, which
#        evaluates. A view has an address, so that whoever makes one evaluates first; only a view of all elements as they
#        are (`alias`, `without_history`) may be pending as well.
#     2. Who writes to memory evaluates the chains that read it first: `before_write`, which every writer calls, asks
#        `Storage.readers`.
#     3. Memory that others may write to is no leaf: memory of other libraries (`Storage.owner`), unless nothing else refers to
#        it (`is_sole_owner`), and memory of stride0 while it is exported (`Storage.exports`). One value is copied into the chain.
#     4. What is still referenced becomes an output: a result's storage tells its chain when it is freed (`forget`). All
#        other values stay in slots. A chain whose results nothing refers to any more is freed with the last of their storages and never computed.
#     5. Memory is allocated when a chain is evaluated. Where there is none, MemoryError names the operation, and everything
#        is as before.
#     6. Several threads, or a signal handler inside of a call, may evaluate one chain at once: each computes into memory of
#        its own, the first to end publishes its results, and the others discard their own. A chain that is being computed takes no more steps.
#     7. A leaf may be deferred by another chain, which is evaluated first. Chains are numbered, and depend on chains of
#        smaller numbers only, so that there is no circle.
#     8. A chain belongs to the thread that began it; other threads evaluate it.
#     9. In a free-threaded interpreter one lock, `pending_lock`, stands for the interpreter's: it is held wherever chains or what
#        refers to them are read or changed, and released where the other would be, while elements are computed. What only
#        points to a result or a chain may be about to be freed by another thread: `alive` tells. What has no chain needs no lock.
#
#     A reduction of a deferred result, or of the product of one and another array, is deferred as well, and computed in one pass with its operand, which nothing may refer
#     to by then. The storage of its result has a number below 0.
#
#     A chain is bounded by MOST_VIEWS, MAX_CONSTANTS and MAX_STEPS, all of them by max_pending_chains and max_pending_bytes: then the oldest are evaluated.


cdef Switch FUSING = FUSED
cdef str MEAN = "mean"

cdef s0_section pending_lock
# References that are dropped once nobody holds the lock: the owners of foreign memory may run any code.
cdef s0_drops dropped

# The chains that are pending, from the oldest on.
cdef PyObject* oldest = NULL
cdef PyObject* youngest = NULL
cdef int chains = 0
cdef Py_ssize_t serials = 0
cdef Py_ssize_t pending_bytes = 0
cdef Places* unused_places = NULL


@cython.final
@cython.no_gc
@cython.freelist(8)
cdef class PendingChain:
    """Elementwise steps over one iteration space that have not been computed."""

    def __dealloc__(self):
        enter_pending()
        release(self)
        give_places(self.places)
        leave_pending()


cdef void drop_and_leave() noexcept:
    """Leave the lock, which this thread entered once, and drop what is to be dropped then."""
    global dropped
    cdef s0_drops found = dropped
    memset(&dropped, 0, sizeof(dropped))
    s0_leave_section(&pending_lock)
    s0_drop_all(&found)


cdef object alive(PyObject* pointer):
    """A result or a chain that is only pointed to; None where there is none, or another thread is about to free it."""
    if pointer is NULL or not s0_try_incref(pointer):
        return None
    found = <object>pointer
    Py_DECREF(found)
    return found


cdef bint defers(Py_ssize_t size, bint pending) except -1:
    """Whether a result of so many elements is deferred here; `pending`: one of its operands is."""
    cdef Py_ssize_t least
    # Compiled code of others may go on after an exception; no context can be asked for its value then.
    if not FUSING.used or PyErr_Occurred() is not NULL:
        return False
    least = FUSING.value()
    return least != 0 and size >= (min(least, <Py_ssize_t>tuning.chained_elements) if pending else least)


cdef Places* take_places() noexcept:
    global unused_places
    cdef Places* places = unused_places
    if places is NULL:
        return <Places*>malloc(sizeof(Places))
    unused_places = NULL
    return places


cdef int give_places(Places* places) noexcept:
    """Free the places of a chain, or keep them for the next one: what was written last is in a cache."""
    global unused_places
    free(unused_places)
    unused_places = places
    return 0


cdef PendingChain new_chain(int ndim, const Py_ssize_t* shape):
    global oldest, youngest, chains, serials
    cdef PendingChain chain = PendingChain.__new__(PendingChain)
    cdef Places* places = take_places()
    cdef int axis
    if places is NULL:
        raise MemoryError("fused: no memory for deferred operations")
    chain.places, chain.leaf, chain.steps, chain.strides = places, places.leaf, places.steps, places.strides
    chain.results, chain.names, chain.reduction = places.results, places.names, places.reduction
    chain.ndim, chain.size = ndim, 1
    for axis in range(ndim):
        chain.shape[axis] = shape[axis]
        chain.size *= shape[axis]
    serials += 1
    chain.serial, chain.thread = serials, PyThread_get_thread_ident()
    s0_enable_try_incref(<PyObject*>chain)
    chain.before, chain.after = youngest, NULL
    if youngest is NULL:
        oldest = <PyObject*>chain
    else:
        (<PendingChain>youngest).after = <PyObject*>chain
    youngest = <PyObject*>chain
    chains += 1
    return chain


cdef int release(PendingChain chain) noexcept:
    """Remove a chain from the list, and drop what it refers to. Its results are published or forgotten."""
    global oldest, youngest, chains
    cdef int k
    if chain.before is not NULL:
        (<PendingChain>chain.before).after = chain.after
    elif oldest is <PyObject*>chain:
        oldest = chain.after
    else:
        return 0    # released before
    if chain.after is not NULL:
        (<PendingChain>chain.after).before = chain.before
    else:
        youngest = chain.before
    chain.before = chain.after = NULL
    chains -= 1
    for k in range(chain.leaves):
        release_leaf(&chain.leaf[k])
    for k in range(chain.count):
        Py_XDECREF(chain.names[k])
    for k in range(chain.reductions):
        Py_XDECREF(chain.reduction[k].name)
    chain.leaves = chain.constants = chain.count = chain.reductions = 0
    return 0


cdef int release_leaf(Leaf* leaf) noexcept:
    if leaf.storage is not NULL:
        (<Storage>leaf.storage).readers -= 1
        drop_leaf(leaf.storage)
        leaf.storage = NULL
    return 0


cdef int drop_leaf(PyObject* storage) noexcept:
    """Drop a reference to memory that is read."""
    if FREE_THREADED:
        s0_drop_later(&dropped, storage)
    else:
        Py_DECREF(<Storage>storage)
    return 0


cdef bint drop_reductions(PendingChain chain) noexcept:
    """Make room for reductions after all have been published or forgotten; whether nothing reads them."""
    cdef int k
    # Others that compute the chain read them.
    if chain.evaluating > 1:
        return False
    for k in range(chain.reductions):
        if chain.reduction[k].result is not NULL:
            return False
    for k in range(chain.reductions):
        Py_XDECREF(chain.reduction[k].name)
    chain.reductions = 0
    return True


cdef int drop_unread(PendingChain chain) noexcept:
    """Drop steps at the end whose results nothing refers to, and leaves at the end that no other step reads: reductions read them."""
    cdef Leaf leaf
    cdef int s, q
    while chain.count and chain.results[chain.count - 1] is NULL:
        chain.count -= 1
        Py_XDECREF(chain.names[chain.count])
    if chain.count == 0:
        return release(chain)
    while chain.leaves:
        for s in range(chain.count):
            for q in range(inputs_of(chain.steps[s].kernel)):
                if chain.steps[s].inputs[q] == chain.leaves - 1:
                    return 0
        chain.leaves -= 1
        leaf = chain.leaf[chain.leaves]
        chain.constants -= leaf.storage is NULL
        release_leaf(&leaf)
    return 0


cdef int drop_step(PendingChain chain, Storage result, Storage root) noexcept:
    """Forget a result, and the leaf on the storage `root` that only its step reads, or the one whose result this casts."""
    cdef int k, steps
    forget_result(result)
    if chain.evaluating > 1 or result.step != chain.count - 1:
        return 0    # another call computes the step, too
    steps = 2 if chain.steps[result.step].kernel.kind == KIND_CAST else 1
    for k in range(steps):
        chain.count -= 1
        Py_XDECREF(chain.names[chain.count])
    for k in range(chain.leaves):
        if chain.leaf[k].storage is <PyObject*>root:
            release_leaf(&chain.leaf[k])
            if k == chain.leaves - 1:
                chain.leaves -= 1
            else:
                # A constant, which nothing reads.
                memset(chain.leaf[k].value, 0, sizeof(chain.leaf[k].value))
                memset(chain.leaf[k].strides, 0, sizeof(chain.leaf[k].strides))
                chain.constants += 1
    return 0


cdef bint may_be_leaf(Array x) except -1:
    """Whether only this library can write to the memory of x, or x is one value."""
    cdef Storage root = root_of(x.storage)
    if is_deferred(x):
        if root.data is NULL:
            return True
        data_of(x)      # another array on its memory has been evaluated
    if x.size == 1:
        return True
    return root.exports == 0 and (root.owner is None or hooks.is_sole_owner(root))


cdef int find_leaf(PendingChain chain, const Leaf* leaf) noexcept:
    """The number of an equal leaf of a chain, or -1."""
    cdef int k
    cdef const Leaf* other
    for k in range(chain.leaves):
        other = &chain.leaf[k]
        if other.storage is not leaf.storage or other.code != leaf.code:
            continue
        if leaf.storage is NULL:
            if memcmp(other.value, leaf.value, itemsize_at(leaf.code)) == 0:
                return k
        elif other.data == leaf.data and memcmp(other.strides, leaf.strides, chain.ndim * sizeof(Py_ssize_t)) == 0:
            return k
    return -1


cdef int add_leaf(PendingChain chain, const Leaf* leaf) noexcept:
    """The number of a leaf, which the caller has made sure that there is a place for."""
    cdef int k = find_leaf(chain, leaf)
    if k >= 0:
        return k
    k = chain.leaves
    chain.leaf[k] = leaf[0]
    chain.leaves += 1
    chain.constants += leaf.storage is NULL
    if leaf.storage is not NULL:
        Py_INCREF(<Storage>leaf.storage)
        (<Storage>leaf.storage).readers += 1
        chain.dependent = chain.dependent or leaf.data is NULL
    return k


cdef int make_leaf(Leaf* leaf, Array x, int ndim, const Py_ssize_t* shape) except -1:
    """Describe an operand of a chain of a shape."""
    cdef int axis, lead = ndim - x.ndim
    cdef Storage root
    leaf.code, leaf.storage, leaf.data = x.code, NULL, NULL
    for axis in range(ndim):
        leaf.strides[axis] = 0 if axis < lead or x.shape_[axis - lead] == 1 else x.strides_[axis - lead]
    if not is_deferred(x) and x.size == 1:
        copy_item(leaf.value, data_of(x), x.code)
        return 0
    root = root_of(x.storage)
    leaf.storage, leaf.data = <PyObject*>root, x.address
    return 0


cdef inline bint has_room(PendingChain chain, int views, int constants, int steps) noexcept:
    """Whether a chain may have so many more leaves in memory, constants and steps."""
    return (chain.leaves - chain.constants + views <= MOST_VIEWS and chain.constants + constants <= MAX_CONSTANTS
            and chain.count + steps <= MAX_STEPS)


cdef inline PendingChain chain_of(Array x):
    """The chain that x is a result of; None where its elements are there."""
    cdef Storage root
    if not is_deferred(x):
        return None
    root = root_of(x.storage)
    return None if root.data is not NULL else <PendingChain>root.pending


cdef inline int step_of(Array x):
    """The step of its chain that computes x; below 0 a reduction."""
    return root_of(x.storage).step


cdef inline bint is_step(Array x, PendingChain chain):
    """Whether a step of a chain computes x."""
    return chain_of(x) is chain and step_of(x) >= 0


cdef bint merge(PendingChain chain, PendingChain other):
    """Move the steps of another chain of the same shape to the end of a chain, if neither depends on a third one."""
    cdef int leaf[MOST_LEAVES]
    cdef int k, q, s, views = 0, constants = 0, step
    cdef Reduction* reduction
    cdef Storage storage
    if chain.dependent or other.dependent or chain.reductions + other.reductions > MOST_REDUCTIONS:
        return False
    for k in range(other.leaves):
        if find_leaf(chain, &other.leaf[k]) < 0:
            constants += other.leaf[k].storage is NULL
            views += other.leaf[k].storage is not NULL
    # And a reduction.
    if not has_room(chain, views, constants, other.count + 1):
        return False
    for k in range(other.leaves):
        leaf[k] = add_leaf(chain, &other.leaf[k])
    for s in range(other.count):
        step = chain.count + s
        chain.steps[step] = other.steps[s]
        for q in range(inputs_of(other.steps[s].kernel)):
            k = other.steps[s].inputs[q]
            chain.steps[step].inputs[q] = leaf[k] if k < MOST_LEAVES else k + chain.count
        memcpy(chain.strides[step], other.strides[s], chain.ndim * sizeof(Py_ssize_t))
        chain.results[step] = other.results[s]
        chain.names[step], other.names[s] = other.names[s], NULL
    for s in range(other.count):
        storage = <Storage>alive(other.results[s])
        if storage is None:
            chain.results[chain.count + s] = NULL
        else:
            storage.step += chain.count
            storage.pending = chain
    for k in range(other.reductions):
        reduction = &chain.reduction[chain.reductions]
        reduction[0] = other.reduction[k]
        for q in range(2):
            s = reduction.inputs[q]
            reduction.inputs[q] = s if s < 0 else leaf[s] if s < MOST_LEAVES else s + chain.count
        other.reduction[k].name = NULL
        storage = <Storage>alive(reduction.result)
        if storage is None:
            reduction.result = NULL
        else:
            storage.step = -1 - chain.reductions
            storage.pending = chain
        chain.reductions += 1
    chain.count += other.count
    chain.serial = min(chain.serial, other.serial)
    release(other)
    return True


cdef PendingChain chain_for(int nin, PyObject** operands, int ndim, const Py_ssize_t* shape):
    """
    The chain that a step is appended to, with places for it and its leaves: that of its operands, or a new one.

    Operands that cannot be in it, nor leaves of it, are evaluated: one at a time, since that may evaluate others.
    """
    cdef PendingChain chain, other
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef int k, blocked = 0
    while blocked >= 0:
        chain, blocked = None, -1
        for k in range(nin):
            other = chain_of(<Array>operands[k])
            if other is None or (other is chain and step_of(<Array>operands[k]) >= 0):
                continue
            if other.evaluating or other.thread != thread:
                blocked = k
            elif step_of(<Array>operands[k]) >= 0 and other.ndim == ndim and memcmp(other.shape, shape, ndim * sizeof(Py_ssize_t)) == 0:
                if chain is None:
                    chain = other
                elif not merge(chain, other):
                    blocked = k
        if chain is not None:
            for k in range(nin):
                other = chain_of(<Array>operands[k])
                if other is not None and other.serial >= chain.serial and not is_step(<Array>operands[k], chain):
                    blocked = k
            if blocked < 0 and not has_room(chain, nin, nin, 3):
                hooks.evaluate_chain(chain)
                chain = None
        if blocked >= 0:
            data_of(<Array>operands[blocked])
    return new_chain(ndim, shape) if chain is None else chain


cdef int append(PendingChain chain, Kernel kernel, const int* inputs, const Py_ssize_t* strides, str name) noexcept:
    """Add a step; its number."""
    cdef int s = chain.count, q
    chain.steps[s].kernel = kernel
    for q in range(inputs_of(kernel)):
        chain.steps[s].inputs[q] = inputs[q]
    memcpy(chain.strides[s], strides, chain.ndim * sizeof(Py_ssize_t))
    chain.results[s] = NULL
    Py_INCREF(name)
    chain.names[s] = <PyObject*>name
    chain.count += 1
    return s


cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
):
    """
    The deferred result of an elementwise operation; None where it has to be computed now.

    The operands broadcast to `shape`; `strides` are those of the result, and `out_code` its dtype.
    """
    enter_pending()
    try:
        return defer_step(kernel, out_code, nin, x1, x2, x3, ndim, shape, strides, name)
    finally:
        leave_pending()


cdef Array defer_step(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
):
    cdef PyObject* operands[3]
    cdef Array out
    cdef PendingChain chain
    cdef int inputs[3]
    cdef int k, step
    operands[0], operands[1], operands[2] = <PyObject*>x1, <PyObject*>x2, <PyObject*>x3
    if ndim > MOST_AXES:
        return None
    for k in range(nin):
        if not may_be_leaf(<Array>operands[k]):
            return None
    chain = chain_for(nin, operands, ndim, shape)
    for k in range(nin):
        if not may_be_leaf(<Array>operands[k]):
            return None     # exported by a signal handler or another thread, while chains were evaluated
    for k in range(nin):
        inputs[k] = input_of(chain, <Array>operands[k])
    step = append(chain, kernel, inputs, strides, name)
    if result_code(kernel) != out_code:
        inputs[0] = MOST_LEAVES + step
        step = append(chain, cast_kernel(result_code(kernel), out_code), inputs, strides, name)
    out = pending_array(chain, step, out_code, ndim, shape, strides)
    chain.results[step] = <PyObject*>out.storage
    while (chains > tuning.max_pending_chains or pending_bytes > tuning.max_pending_bytes) and oldest is not <PyObject*>chain and (<PendingChain>oldest).evaluating == 0:
        first = alive(oldest)
        if first is None:
            break
        hooks.evaluate_chain(first)
    return out


cdef Array pending_array(PendingChain chain, int step, int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    """An array whose elements a step of a chain will compute."""
    global pending_bytes
    cdef Array out = blank(code)
    set_ndim(out, ndim)
    memcpy(out.shape_, shape, ndim * sizeof(Py_ssize_t))
    memcpy(out.strides_, strides, ndim * sizeof(Py_ssize_t))
    set_flags(out)
    out.storage = Storage.__new__(Storage)
    out.storage.nbytes = out.size * itemsize_at(code)
    out.storage.pending, out.storage.step = chain, step
    s0_enable_try_incref(<PyObject*>out.storage)
    pending_bytes += out.storage.nbytes
    return out


cdef bint replace_pending(Array x, Array other) noexcept:
    """
    Make x the deferred result that `other` is: `x op= y` of a deferred x. False, with nothing done, where that is not one.

    `other` is dropped by the caller. What was computed from x before reads the storage that x had.
    """
    cdef bint done
    enter_pending()
    done = replace_locked(x, other)
    leave_pending()
    return done


cdef bint replace_locked(Array x, Array other) noexcept:
    if chain_of(other) is None or other.storage.step < 0 or chain_of(x) is None or other.code != x.code or other.ndim != x.ndim:
        return False
    # Another array on its memory would see the change.
    if x.storage.owner is not None or not s0_has_references(<PyObject*>x.storage, 1 + x.storage.readers):
        return False
    if memcmp(other.shape_, x.shape_, x.ndim * sizeof(Py_ssize_t)) != 0 or memcmp(other.strides_, x.strides_, x.ndim * sizeof(Py_ssize_t)) != 0:
        return False
    if FREE_THREADED:
        # Another thread may be about to read the storage of x, which therefore stays.
        return x.storage.readers == 0 and take_over(x.storage, other.storage)
    other.storage.device = x.storage.device
    x.storage = other.storage
    return True


cdef bint take_over(Storage storage, Storage other) noexcept:
    """Make a storage, whose elements nothing else asks for, the result that another one is, which then is none."""
    global pending_bytes
    cdef PendingChain chain = <PendingChain>other.pending
    forget_result(storage)
    storage.pending, storage.step = chain, other.step
    chain.results[other.step] = <PyObject*>storage
    other.pending = None
    return True


cdef Array try_to_defer_reduction(
    Kernel kernel, int nin, Array x, Array x2, tuple axes, bint keepdims, bint from_first, const char* start, int code, str name
):
    """
    The deferred result, of a dtype, of a reduction of x or of the product of two arrays; None where it has to be computed now.

    `from_first`: the accumulators start from the first elements along the axes, else from the value at `start`.
    """
    enter_pending()
    try:
        if may_defer_reduction(nin, x, x2):
            return defer_reduction(kernel, nin, x, x2, axes, keepdims, from_first, start, code, name)
        return None
    finally:
        leave_pending()


cdef bint may_defer_reduction(int nin, Array x, Array x2) except -1:
    """Whether a reduction of x, or of the product of two arrays of one shape, is deferred: a result of a chain that takes one more."""
    cdef PyObject* operands[2]
    cdef PendingChain chain
    if not defers(x.size, True):
        return False
    operands[0], operands[1] = <PyObject*>x, <PyObject*>x2
    if nin > 1 and not (may_be_leaf(x) and may_be_leaf(x2)):
        return False
    if nin > 1 and x is not x2:
        # One chain for both, or one of them is a leaf.
        chain_for(2, operands, x.ndim, x.shape_)
        if not may_be_leaf(x) or not may_be_leaf(x2) or not is_same_order(x, x2):
            return False
    chain = chain_of(x)
    if chain is None and nin > 1:
        chain = chain_of(x2)
    return (chain is not None and (is_step(x, chain) or (nin > 1 and is_step(x2, chain))) and chain.reductions < MOST_REDUCTIONS
            and not chain.evaluating and chain.thread == PyThread_get_thread_ident())


cdef bint is_same_order(Array a, Array b) noexcept:
    """Whether two arrays of one shape have the same strides in elements."""
    cdef int axis
    for axis in range(a.ndim):
        if a.shape_[axis] > 1 and a.strides_[axis] * itemsize_at(b.code) != b.strides_[axis] * itemsize_at(a.code):
            return False
    return True


cdef int input_of(PendingChain chain, Array x) except -1:
    """The number of an operand of a step or reduction: a step of the chain, or else a leaf, which is added."""
    cdef Leaf leaf
    if is_step(x, chain):
        return MOST_LEAVES + step_of(x)
    make_leaf(&leaf, x, chain.ndim, chain.shape)
    return add_leaf(chain, &leaf)


cdef Array defer_reduction(
    Kernel kernel, int nin, Array x, Array x2, tuple axes, bint keepdims, bint from_first, const char* start, int code, str name
):
    """The deferred result of a reduction for which `may_defer_reduction` said so."""
    cdef PendingChain chain = chain_of(x) if nin == 1 or (chain_of(x) is not None and step_of(x) >= 0) else chain_of(x2)
    cdef Reduction* reduction = &chain.reduction[chain.reductions]
    cdef Py_ssize_t shape[MOST_AXES]
    cdef Py_ssize_t strides[MOST_AXES]
    cdef Py_ssize_t stride = itemsize_at(result_code(kernel)), itemsize = itemsize_at(code)
    cdef int axis, ndim = 0
    cdef Array out
    reduction.inputs[0], reduction.inputs[1] = input_of(chain, x), input_of(chain, x2) if nin > 1 else -1
    for axis in range(x.ndim - 1, -1, -1):
        reduction.strides[axis] = 0
        if axis not in axes:
            reduction.strides[axis] = stride
            stride *= x.shape_[axis]
    for axis in range(x.ndim):
        if axis not in axes:
            shape[ndim] = x.shape_[axis]
            ndim += 1
        elif keepdims:
            shape[ndim] = 1
            ndim += 1
    for axis in range(ndim - 1, -1, -1):
        strides[axis] = itemsize
        itemsize *= shape[axis]
    out = pending_array(chain, -1 - chain.reductions, code, ndim, shape, strides)
    reduction.kernel, reduction.from_first = kernel, from_first
    reduction.divisor, reduction.code = 0, code
    reduction.result, reduction.name = <PyObject*>out.storage, <PyObject*>name
    Py_INCREF(name)
    memcpy(reduction.start, start, sizeof(reduction.start))
    chain.reductions += 1
    return out


cdef bint divide_pending(Array total, double divisor, int code) except -1:
    """
    Make deferred sums, which nothing has seen, means of a dtype: `mean_of_total` of later. False, with nothing done, where they are computed now.
    """
    enter_pending()
    try:
        return divide_locked(total, divisor, code)
    finally:
        leave_pending()


cdef bint divide_locked(Array total, double divisor, int code) except -1:
    global pending_bytes
    cdef PendingChain chain = chain_of(total)
    cdef Reduction* reduction
    cdef int axis
    if chain is None or total.storage.step >= 0 or chain.evaluating:
        return False
    reduction = &chain.reduction[-1 - total.storage.step]
    reduction.divisor, reduction.code = divisor, code
    Py_XDECREF(reduction.name)
    Py_INCREF(MEAN)
    reduction.name = <PyObject*>MEAN
    for axis in range(total.ndim):
        total.strides_[axis] = total.strides_[axis] // itemsize_at(total.code) * itemsize_at(code)
    total.code = code
    pending_bytes -= total.storage.nbytes
    total.storage.nbytes = total.size * itemsize_at(code)
    pending_bytes += total.storage.nbytes
    return True


cdef void forget_freed(Storage storage) noexcept:
    """A result is freed that was never computed."""
    enter_pending()
    forget_result(storage)
    leave_pending()


cdef void forget_result(Storage storage) noexcept:
    """A result is not that of a chain any more."""
    global pending_bytes
    cdef PendingChain chain = <PendingChain>storage.pending
    # Where another thread has found it about to be freed, another result may have its place by now.
    cdef PyObject** place = &chain.results[storage.step] if storage.step >= 0 else &chain.reduction[-1 - storage.step].result
    if place[0] is <PyObject*>storage:
        place[0] = NULL
    pending_bytes -= storage.nbytes


cdef list pending_chains():
    """All chains, from the oldest on."""
    cdef list out = []
    cdef PyObject* at = oldest
    while at is not NULL:
        chain = alive(at)
        if chain is not None:
            out.append(chain)
        at = (<PendingChain>at).after
    return out


# --- for `stride0.explain`


cdef int number_of(PendingChain chain, int value) noexcept:
    return value if value < MOST_LEAVES else value - MOST_LEAVES + chain.leaves


def describe_pending(Array x not None):
    """
    The chain that will compute a deferred array.

    Returns
    -------
    dict or None
        ``shape`` of the chain; ``leaves``: (dtype, strides in bytes or value) of each; ``steps``: (name, dtype, inputs, whether
        the result is stored) of each, the inputs as numbers of leaves and then of steps; ``reductions``: (name, dtype, the numbers
        of what is reduced, whether it is stored); ``number`` of the array itself among steps and then reductions. None where the
        elements are there.
    """
    enter_pending()
    try:
        return describe_chain(x)
    finally:
        leave_pending()


cdef dict describe_chain(Array x):
    cdef PendingChain chain = chain_of(x)
    cdef Leaf* leaf
    cdef int k, s
    if chain is None:
        return None
    leaves, steps, reductions = [], [], []
    for k in range(chain.leaves):
        leaf = &chain.leaf[k]
        what = read_scalar(leaf.value, leaf.code) if leaf.storage is NULL else tuple([leaf.strides[axis] for axis in range(chain.ndim)])
        leaves.append((dtype_at(leaf.code).name, what))
    for s in range(chain.count):
        inputs = [chain.steps[s].inputs[k] for k in range(inputs_of(chain.steps[s].kernel))]
        inputs = tuple([number_of(chain, value) for value in inputs])
        steps.append((<str>chain.names[s], dtype_at(result_code(chain.steps[s].kernel)).name, inputs, chain.results[s] is not NULL))
    for k in range(chain.reductions):
        reductions.append((<str>chain.reduction[k].name, dtype_at(chain.reduction[k].code).name,
                           tuple([number_of(chain, s) for s in chain.reduction[k].inputs[:2] if s >= 0]), chain.reduction[k].result is not NULL))
    s = step_of(x)
    return {
        "shape": tuple([chain.shape[k] for k in range(chain.ndim)]), "leaves": leaves, "steps": steps, "reductions": reductions,
        "number": s if s >= 0 else chain.count - 1 - s,
    }


set_forget(forget_freed)
