# Deferred results of `stride0.fused`: programs of elementwise steps that are computed when the elements are needed.
#
# Note [Deferred results]
#     Within `fused`, an elementwise operation raises its errors at once and returns an array with its shape, dtype and strides.
#     The storage has no memory yet: it names a program (`PendingProgram`) and a step of the program. The program is computed in one
#     pass (`evaluate`) by the executor, with the kernels of eager code, so that all bits are the same. These rules hold:
#
#     1. Pending elements cannot be read: `Array.address` is NULL. Every reader gets the address from `data_of`, which
#        evaluates the program. A view needs an address, so making a view evaluates the program, too. Only a view of all
#        elements in the same layout (`alias`, `without_history`) may stay pending.
#     2. Before memory is written, the programs that read it are evaluated: every writer calls `before_write`, which checks
#        `Storage.readers`.
#     3. Memory that other code may write to cannot be a leaf: memory of other libraries (`Storage.owner`, unless
#        `is_sole_owner`) and exported memory of stride0 (`Storage.exports`). A single value is copied into the program instead.
#     4. Results that are still referenced at evaluation become outputs; all other values stay in slots. When the storage of a
#        result is freed, it tells its program (`forget`). When the last of these storages is freed, the program is freed
#        without being computed.
#     5. Memory is allocated when a program is evaluated. If the allocation fails, MemoryError names the operation, and no state
#        changes.
#     6. Several threads, or a signal handler inside a call, may evaluate one program at once. Each call computes into its own
#        memory. The call that ends first publishes its results; other calls discard their results. No step is added to a
#        program that is being computed.
#     7. A leaf may be deferred by another program, which is evaluated first. Programs are numbered, and depend only on programs
#        with smaller numbers, so there is no cycle.
#     8. A program belongs to the thread that began it; other threads evaluate it.
#     9. A free-threaded interpreter uses `pending_lock` in place of the GIL. A thread holds it while it reads or changes
#        programs and objects that refer to them, and releases it while elements are computed. Another thread may be about to
#        free a result or program that we hold only a pointer to: `alive` checks. Arrays without a program need no lock.
#
#     A reduction of a deferred result, or of its product with another array, is deferred, too. It is computed in one pass
#     with its operand if nothing else refers to the operand at that time. Its result has a negative `step`.
#
#     MAX_LEAVES, MAX_CONSTANTS and MAX_STEPS limit one program. The thresholds max_pending_chains and max_pending_bytes limit all
#     programs together: beyond them, the oldest program is evaluated.


cdef enum:
    MAX_LEAVES = 16
    MAX_REDUCTIONS = 4
    MAX_KNOWN = 3               # results of earlier passes that a pass reads
    MAX_OUTPUTS = 4             # of a pass; its MAX_VIEWS operands are leaves, known results, outputs and accumulators


ctypedef struct Leaf:
    PyObject* storage                   # a reference; NULL once nothing reads the leaf
    char* data                          # the first element; NULL while the leaf is deferred itself
    int code
    Py_ssize_t strides[MAX_PROGRAM_NDIM]  # in bytes, along the axes of the program


ctypedef struct Reduction:
    Kernel kernel
    int inputs[2]                       # numbers of values; -1 if there is no second input
    PyObject* result                    # a storage, without a reference: NULL if nothing else refers to it
    PyObject* name                      # a reference
    Py_ssize_t strides[MAX_PROGRAM_NDIM]  # of the result along the axes of the program: 0 along reduced axes
    bint from_first                     # whether it starts from the first elements along the reduced axes
    char start[16]                      # otherwise the value to start from
    double divisor                      # divide the accumulators by this, unless it is 0
    int code                            # dtype of the result, to which the (divided) accumulators are cast


ctypedef Py_ssize_t AxisStrides[MAX_PROGRAM_NDIM]


ctypedef struct PendingMemory:
    # The arrays of a program: about 19 KiB. Most programs use only a part, so the memory is not cleared.
    Leaf leaf[MAX_LEAVES]
    Constant constant[MAX_CONSTANTS]
    Step steps[MAX_STEPS]
    AxisStrides strides[MAX_STEPS]
    PyObject* results[MAX_STEPS]
    PyObject* names[MAX_STEPS]
    Reduction reduction[MAX_REDUCTIONS]


cdef Switch FUSING = FUSED
cdef str MEAN = "mean"

cdef s0_section pending_lock
# References to drop when this thread no longer holds the lock: the owners of foreign memory may run any code.
cdef s0_drops dropped

# The pending programs, starting with the oldest.
cdef PyObject* oldest = NULL
cdef PyObject* youngest = NULL
cdef int pending_count = 0
cdef Py_ssize_t serials = 0
cdef Py_ssize_t pending_bytes = 0
cdef void* unused_memory = NULL


@cython.final
@cython.no_gc
@cython.freelist(8)
cdef class PendingProgram:
    """A program that is built while Python runs (Note [Programs]), and the objects that it refers to."""

    cdef int ndim
    cdef Py_ssize_t shape[MAX_PROGRAM_NDIM]
    cdef Py_ssize_t size
    cdef int leaves
    cdef int constants
    cdef int count                      # number of steps
    cdef int reductions
    cdef int evaluating                 # number of calls that are computing the program now
    cdef bint dependent                 # whether a leaf is deferred
    cdef Py_ssize_t serial              # leaves may be deferred only by programs with smaller serials
    cdef unsigned long thread
    cdef PendingMemory* memory          # holds the arrays of the following fields
    cdef Leaf* leaf
    cdef Constant* constant
    cdef Step* steps
    cdef AxisStrides* strides           # of the result of each step
    cdef PyObject** results             # storages, without references: NULL if nothing else refers to the result
    cdef PyObject** names               # references: the names of the operations
    cdef Reduction* reduction
    cdef PyObject* previous             # neighbours in the list of all programs, without references
    cdef PyObject* next

    def __dealloc__(self):
        enter_pending()
        release(self)
        keep(&unused_memory, self.memory)
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


cdef void* take_kept(void** kept, size_t size) noexcept:
    """The memory that `keep` has kept, or new memory; NULL if the allocation fails."""
    cdef void* memory = kept[0]
    kept[0] = NULL
    return malloc(size) if memory is NULL else memory


cdef int keep(void** kept, void* memory) noexcept:
    """Keep memory for the next use, and free the memory kept before, because the memory written last is still in a cache."""
    free(kept[0])
    kept[0] = memory
    return 0


cdef PendingProgram new_program(int ndim, const Py_ssize_t* shape):
    global oldest, youngest, pending_count, serials
    cdef PendingProgram pending = PendingProgram.__new__(PendingProgram)
    cdef PendingMemory* memory = <PendingMemory*>take_kept(&unused_memory, sizeof(PendingMemory))
    cdef int axis
    if memory is NULL:
        raise MemoryError("fused: no memory for deferred operations")
    pending.memory, pending.leaf, pending.constant, pending.steps = memory, memory.leaf, memory.constant, memory.steps
    pending.strides, pending.results, pending.names, pending.reduction = memory.strides, memory.results, memory.names, memory.reduction
    pending.ndim, pending.size = ndim, 1
    for axis in range(ndim):
        pending.shape[axis] = shape[axis]
        pending.size *= shape[axis]
    serials += 1
    pending.serial, pending.thread = serials, PyThread_get_thread_ident()
    s0_enable_try_incref(<PyObject*>pending)
    pending.previous, pending.next = youngest, NULL
    if youngest is NULL:
        oldest = <PyObject*>pending
    else:
        (<PendingProgram>youngest).next = <PyObject*>pending
    youngest = <PyObject*>pending
    pending_count += 1
    return pending


cdef int release(PendingProgram pending) noexcept:
    """Remove a program from the list, and drop what it refers to. Its results are published or forgotten."""
    global oldest, youngest, pending_count
    cdef int k
    if pending.previous is not NULL:
        (<PendingProgram>pending.previous).next = pending.next
    elif oldest is <PyObject*>pending:
        oldest = pending.next
    else:
        return 0    # already released
    if pending.next is not NULL:
        (<PendingProgram>pending.next).previous = pending.previous
    else:
        youngest = pending.previous
    pending.previous = pending.next = NULL
    pending_count -= 1
    for k in range(pending.leaves):
        release_leaf(&pending.leaf[k])
    for k in range(pending.count):
        Py_XDECREF(pending.names[k])
    for k in range(pending.reductions):
        Py_XDECREF(pending.reduction[k].name)
    pending.leaves = pending.constants = pending.count = pending.reductions = 0
    return 0


cdef int release_leaf(Leaf* leaf) noexcept:
    cdef PyObject* storage = leaf.storage
    leaf.storage = NULL
    if storage is not NULL:
        (<Storage>storage).readers -= 1
        drop_leaf(storage)
    return 0


cdef int drop_leaf(PyObject* storage) noexcept:
    """Drop a program's reference to memory that it reads."""
    if FREE_THREADED:
        s0_drop_later(&dropped, storage)
    else:
        Py_DECREF(<Storage>storage)
    return 0


cdef bint drop_reductions(PendingProgram pending) noexcept:
    """If all reductions are published or forgotten and nothing reads them, remove them; returns whether."""
    cdef int k
    # Other threads that compute the program read the reductions.
    if pending.evaluating > 1:
        return False
    for k in range(pending.reductions):
        if pending.reduction[k].result is not NULL:
            return False
    for k in range(pending.reductions):
        Py_XDECREF(pending.reduction[k].name)
    pending.reductions = 0
    return True


cdef bint is_input(PendingProgram pending, int value) noexcept:
    """Whether a step reads a value."""
    cdef int s, q
    for s in range(pending.count):
        for q in range(inputs_of(pending.steps[s].kernel)):
            if pending.steps[s].inputs[q] == value:
                return True
    return False


cdef int drop_unread(PendingProgram pending) noexcept:
    """Drop trailing steps whose results nothing refers to, then trailing leaves and constants that no remaining step reads."""
    while pending.count and pending.results[pending.count - 1] is NULL:
        pending.count -= 1
        Py_XDECREF(pending.names[pending.count])
    if pending.count == 0:
        return release(pending)
    while pending.constants and not is_input(pending, FIRST_CONSTANT + pending.constants - 1):
        pending.constants -= 1
    while pending.leaves and not is_input(pending, pending.leaves - 1):
        pending.leaves -= 1
        release_leaf(&pending.leaf[pending.leaves])
    return 0


cdef int drop_step(PendingProgram pending, Storage result, Storage root) noexcept:
    """Drop a result and its step; for a cast also the step that it casts. Drop the leaf on `root` if only these steps read it."""
    cdef int k, steps
    forget_result(result)
    if pending.evaluating > 1 or result.step != pending.count - 1:
        return 0    # another call computes the step, too
    steps = 2 if pending.steps[result.step].kernel.kind == KIND_CAST else 1
    for k in range(steps):
        pending.count -= 1
        Py_XDECREF(pending.names[pending.count])
    for k in range(pending.leaves):
        if pending.leaf[k].storage is <PyObject*>root:
            pending.leaves -= k == pending.leaves - 1
            release_leaf(&pending.leaf[k])
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


cdef int find_leaf(PendingProgram pending, const Leaf* leaf) noexcept:
    """The number of an equal leaf of a program, or -1."""
    cdef int k
    cdef const Leaf* other
    for k in range(pending.leaves):
        other = &pending.leaf[k]
        if (other.storage is leaf.storage and other.code == leaf.code and other.data == leaf.data
                and memcmp(other.strides, leaf.strides, pending.ndim * sizeof(Py_ssize_t)) == 0):
            return k
    return -1


cdef int find_constant(PendingProgram pending, const Constant* constant) noexcept:
    """The number of an equal constant of a program, or -1."""
    cdef int k
    for k in range(pending.constants):
        if pending.constant[k].code == constant.code and memcmp(pending.constant[k].value, constant.value, itemsize_at(<int>constant.code)) == 0:
            return FIRST_CONSTANT + k
    return -1


cdef int add_leaf(PendingProgram pending, const Leaf* leaf) noexcept:
    """The number of a leaf, which is added if it is new. The caller guarantees room for it."""
    cdef int k = find_leaf(pending, leaf)
    if k >= 0:
        return k
    k = pending.leaves
    pending.leaf[k] = leaf[0]
    pending.leaves += 1
    if leaf.storage is not NULL:
        Py_INCREF(<Storage>leaf.storage)
        (<Storage>leaf.storage).readers += 1
        pending.dependent = pending.dependent or leaf.data is NULL
    return k


cdef int add_constant(PendingProgram pending, const Constant* constant) noexcept:
    """The number of a constant, which is added if it is new. The caller guarantees room for it."""
    cdef int k = find_constant(pending, constant)
    if k < 0:
        k = FIRST_CONSTANT + pending.constants
        pending.constant[pending.constants] = constant[0]
        pending.constants += 1
    return k


cdef int input_of(PendingProgram pending, Array x) except -1:
    """The number of an operand of a step or reduction: a step of the program, or a leaf or constant, which is added if it is new."""
    cdef Leaf leaf
    cdef Constant constant
    cdef Storage root
    cdef int axis, lead = pending.ndim - x.ndim
    if is_step(x, pending):
        return FIRST_STEP + step_of(x)
    if not is_deferred(x) and x.size == 1:
        constant.code = x.code
        copy_item(constant.value, data_of(x), x.code)
        return add_constant(pending, &constant)
    root = root_of(x.storage)
    leaf.code, leaf.storage, leaf.data = x.code, <PyObject*>root, x.address
    for axis in range(pending.ndim):
        leaf.strides[axis] = 0 if axis < lead or x.shape_[axis - lead] == 1 else x.strides_[axis - lead]
    return add_leaf(pending, &leaf)


cdef inline bint has_room(PendingProgram pending, int leaves, int constants, int steps) noexcept:
    """Whether a program can take more leaves, constants and steps."""
    return (pending.leaves + leaves <= MAX_LEAVES and pending.constants + constants <= MAX_CONSTANTS
            and pending.count + steps <= MAX_STEPS)


cdef inline PendingProgram pending_of(Array x):
    """The program that x is a result of; None if its elements have been computed."""
    cdef Storage root
    if not is_deferred(x):
        return None
    root = root_of(x.storage)
    return None if root.data is not NULL else <PendingProgram>root.pending


cdef inline int step_of(Array x):
    """The number of the step that computes x; negative for a reduction."""
    return root_of(x.storage).step


cdef inline bint is_step(Array x, PendingProgram pending):
    """Whether a step of a program computes x."""
    return pending_of(x) is pending and step_of(x) >= 0
