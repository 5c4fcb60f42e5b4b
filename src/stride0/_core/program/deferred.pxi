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
