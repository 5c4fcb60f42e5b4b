# Deferred results of `stride0.fused`: chains of elementwise steps that are computed when the elements are needed.
#
# Note [Deferred results]
#     Within `fused`, an elementwise operation raises its errors at once and returns an array with its shape, dtype and strides.
#     The storage has no memory yet: it names a chain (`PendingChain`) and a step of the chain. The chain is computed in one
#     pass (`evaluate`) by the executor, with the kernels of eager code, so that all bits are the same. These rules hold:
#
#     1. Pending elements cannot be read: `Array.address` is NULL. Every reader gets the address from `data_of`, which
#        evaluates the chain. A view needs an address, so making a view evaluates the chain, too. Only a view of all
#        elements in the same layout (`alias`, `without_history`) may stay pending.
#     2. Before memory is written, the chains that read it are evaluated: every writer calls `before_write`, which checks
#        `Storage.readers`.
#     3. Memory that other code may write to cannot be a leaf: memory of other libraries (`Storage.owner`, unless
#        `is_sole_owner`) and exported memory of stride0 (`Storage.exports`). A single value is copied into the chain instead.
#     4. Results that are still referenced at evaluation become outputs; all other values stay in slots. When the storage of a
#        result is freed, it tells its chain (`forget`). When the last of these storages is freed, the chain is freed
#        without being computed.
#     5. Memory is allocated when a chain is evaluated. If the allocation fails, MemoryError names the operation, and no state
#        changes.
#     6. Several threads, or a signal handler inside of a call, may evaluate one chain at once: each computes into memory of
#        its own, the first to end publishes its results, and the others discard their own. A chain that is being computed
#        takes no more steps.
#     7. A leaf may be deferred by another chain, which is evaluated first. Chains are numbered, and depend only on chains
#        with smaller numbers, so there is no cycle.
#     8. A chain belongs to the thread that began it; other threads evaluate it.
#     9. A free-threaded interpreter uses `pending_lock` in place of the GIL. A thread holds it while it reads or changes
#        chains and objects that refer to them, and releases it while elements are computed. Another thread may be about to
#        free a result or chain that we hold only a pointer to: `alive` checks. Arrays without a chain need no lock.
#
#     A reduction of a deferred result, or of its product with another array, is deferred, too. It is computed in one pass
#     with its operand if nothing else refers to the operand at that time. Its result has a negative `step`.
#
#     MOST_VIEWS, MAX_CONSTANTS and MAX_STEPS limit one chain. The thresholds max_pending_chains and max_pending_bytes limit all
#     chains together: beyond them, the oldest chain is evaluated.


cdef Switch FUSING = FUSED
cdef str MEAN = "mean"

cdef s0_section pending_lock
# References to drop when this thread no longer holds the lock: the owners of foreign memory may run any code.
cdef s0_drops dropped

# The pending chains, starting with the oldest.
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
    """Leave the lock, which this thread entered once, then drop the references in `dropped`."""
    global dropped
    cdef s0_drops found = dropped
    memset(&dropped, 0, sizeof(dropped))
    s0_leave_section(&pending_lock)
    s0_drop_all(&found)


cdef object alive(PyObject* pointer):
    """The object of a pointer that is not a reference; None if the pointer is NULL or another thread is about to free the object."""
    if pointer is NULL or not s0_try_incref(pointer):
        return None
    found = <object>pointer
    Py_DECREF(found)
    return found


cdef bint defers(Py_ssize_t size, bint pending) except -1:
    """Whether a result of `size` elements is deferred here; `pending`: whether an operand is deferred."""
    cdef Py_ssize_t least
    # Compiled code of other libraries may continue after an exception; a context variable cannot be read then.
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
    """Keep the places of a chain for the next chain, and free the kept ones: the last written memory is still in a cache."""
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
        return 0    # already released
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
    """Drop a chain's reference to memory that it reads."""
    if FREE_THREADED:
        s0_drop_later(&dropped, storage)
    else:
        Py_DECREF(<Storage>storage)
    return 0


cdef bint drop_reductions(PendingChain chain) noexcept:
    """If all reductions are published or forgotten and nothing reads them, remove them; returns whether."""
    cdef int k
    # Other threads that compute the chain read them.
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
    """Drop trailing steps whose results nothing refers to, then trailing leaves that no remaining step reads."""
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
    """Drop a result and its step; for a cast also the step that it casts. Drop the leaf on `root` if only these steps read it."""
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
                # The leaf becomes a constant that nothing reads.
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
        data_of(x)      # another array on the same memory has been evaluated
    if x.size == 1:
        return True
    return root.exports == 0 and (root.owner is None or is_sole_owner(root))


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
    """The number of a leaf, which is added if it is new. The caller guarantees room for it."""
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
    """Describe an operand of a chain with the given shape."""
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
    """Whether a chain can take more leaves in memory, constants and steps."""
    return (chain.leaves - chain.constants + views <= MOST_VIEWS and chain.constants + constants <= MAX_CONSTANTS
            and chain.count + steps <= MAX_STEPS)


cdef inline PendingChain chain_of(Array x):
    """The chain that x is a result of; None if its elements have been computed."""
    cdef Storage root
    if not is_deferred(x):
        return None
    root = root_of(x.storage)
    return None if root.data is not NULL else <PendingChain>root.pending


cdef inline int step_of(Array x):
    """The step of its chain that computes x; negative for a reduction."""
    return root_of(x.storage).step


cdef inline bint is_step(Array x, PendingChain chain):
    """Whether a step of a chain computes x."""
    return chain_of(x) is chain and step_of(x) >= 0
