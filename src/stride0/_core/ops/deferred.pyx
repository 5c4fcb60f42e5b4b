# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Deferred results of `stride0.fused`: chains of elementwise steps that are computed when somebody needs the elements.

Note [Deferred results]
    Where `fused` holds, the result of an elementwise operation has its shape, dtype and strides, and all errors have been
    raised, but its storage has no memory: it names a chain (`PendingChain`) and a step of that. The chain is computed
    in one pass (`settle`), by the executor and the kernels that would have run before, so that all bits are the same.
    What holds:

    1. Elements that are pending cannot be read: `Array.address` is NULL, and every reader gets it from `data_of`, which
       settles. A view has an address, so that whoever makes one settles first.
    2. Who writes to memory settles the chains that read it first: `before_write`, which every writer calls, asks
       `Storage.readers`.
    3. Memory that others may write to is no leaf: that of other libraries (`Storage.owner`), and ours while it is
       exported (`Storage.lent`). One value is copied into the chain.
    4. What is still referenced becomes an output: a result's storage tells its chain when it is freed (`forget`). All
       other values stay in slots. A chain that nobody can see any more is freed with its last storage and never computed.
    5. Memory is allocated when a chain is settled. Where there is none, MemoryError names the operation, and everything
       is as before.
    6. Several threads, or a signal handler inside of a call, may settle one chain at once: each computes into memory of
       its own, the first one to end publishes, the others discard theirs. A chain that is being computed takes no more steps.
    7. A leaf may be deferred by another chain, which is settled first. Chains are numbered, and depend on chains of
       smaller numbers only, so that there is no circle.
    8. A chain belongs to the thread that began it; other threads settle it.

    A chain is bounded by MOST_LEAVES and MAX_STEPS, all of them by MOST_CHAINS and MOST_BYTES: then the oldest are settled.
"""

cimport cython
from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.string cimport memcmp, memcpy

from stride0._core.array.array cimport Array, blank, data_of, hooks, not_completed, root_of, set_flags, set_ndim, shape_tuple
from stride0._core.array.switches cimport Switch
from stride0._core.array.switches import FUSED
from stride0._core.memory.dtype cimport dtype_at, itemsize_at
from stride0._core.memory.storage cimport Storage, allocate_storage, set_forget
from stride0._core.plan.chain cimport MAX_STEPS, Chain, Step
from stride0._core.plan.partition cimport LONG_RUN, run_chain
from stride0._core.plan.plan cimport MAX_VIEWS, Operand, Plan, coalesce, order_axes, set_result, set_strides
from stride0._core.plan.table cimport Kernel, cast_kernel, inputs_of, result_code

cdef enum:
    MOST_CHAINS = 64            # that are pending
    MOST_BYTES = 1 << 30        # of results that are pending

cdef Switch FUSING = FUSED

# The chains that are pending, from the oldest on.
cdef PyObject* oldest = NULL
cdef PyObject* youngest = NULL
cdef int chains = 0
cdef Py_ssize_t serials = 0
cdef Py_ssize_t pending_bytes = 0

cdef Py_ssize_t passes = 0          # statistics
cdef Py_ssize_t steps_run = 0
cdef Py_ssize_t bytes_saved = 0


@cython.final
@cython.no_gc
@cython.freelist(8)
cdef class PendingChain:
    """Elementwise steps over one iteration space that have not been computed."""

    def __dealloc__(self):
        release(self)


cdef bint defers(Py_ssize_t size, bint pending) except -1:
    """Whether a result of so many elements is deferred here; `pending`: one of its operands is."""
    cdef Py_ssize_t least
    # Compiled code of others may go on after an exception; no context can be asked for its value then.
    if not FUSING.used or PyErr_Occurred() is not NULL:
        return False
    least = FUSING.value()
    return least != 0 and (pending or size >= least)


cdef PendingChain new_chain(int ndim, const Py_ssize_t* shape):
    global oldest, youngest, chains, serials
    cdef PendingChain chain = PendingChain.__new__(PendingChain)
    cdef int axis
    chain.ndim, chain.size = ndim, 1
    for axis in range(ndim):
        chain.shape[axis] = shape[axis]
        chain.size *= shape[axis]
    serials += 1
    chain.serial, chain.thread = serials, PyThread_get_thread_ident()
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
    chain.leaves = chain.count = 0
    return 0


cdef int release_leaf(Leaf* leaf) noexcept:
    cdef Storage root
    if leaf.storage is not NULL:
        root = root_of(<Storage>leaf.storage)
        root.readers -= 1
        Py_DECREF(<Storage>leaf.storage)
        leaf.storage = NULL
    return 0


cdef bint may_be_leaf(Array x):
    """Whether nobody outside can write to the memory of x."""
    cdef Storage root
    if x.address is NULL or x.size == 1:
        return True
    root = root_of(x.storage)
    return root.owner is None and root.lent == 0


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
    cdef Storage root
    if k >= 0:
        return k
    k = chain.leaves
    chain.leaf[k] = leaf[0]
    chain.leaves += 1
    if leaf.storage is not NULL:
        Py_INCREF(<Storage>leaf.storage)
        root = root_of(<Storage>leaf.storage)
        root.readers += 1
        chain.dependent = chain.dependent or leaf.data is NULL
    return k


cdef int make_leaf(Leaf* leaf, Array x, int ndim, const Py_ssize_t* shape) except -1:
    """Describe an operand of a chain of a shape."""
    cdef int axis, lead = ndim - x.ndim
    leaf.code, leaf.storage, leaf.data = x.code, NULL, NULL
    for axis in range(ndim):
        leaf.strides[axis] = 0 if axis < lead or x.shape_[axis - lead] == 1 else x.strides_[axis - lead]
    if x.address is not NULL and x.size == 1:
        memcpy(leaf.value, data_of(x), itemsize_at(x.code))
        return 0
    leaf.storage, leaf.data = <PyObject*>x.storage, x.address
    return 0


cdef inline PendingChain chain_of(Array x):
    """The chain that x is a result of; None where its elements are there."""
    return None if x.address is not NULL or x.storage.data is not NULL else <PendingChain>x.storage.pending


cdef bint merge(PendingChain chain, PendingChain other):
    """Move the steps of another chain of the same shape to the end of a chain, if neither depends on a third one."""
    cdef int leaf[MOST_LEAVES]
    cdef int k, q, s, more = 0, step
    cdef Storage storage
    if chain.dependent or other.dependent or chain.count + other.count >= MAX_STEPS:
        return False
    for k in range(other.leaves):
        more += find_leaf(chain, &other.leaf[k]) < 0
    if chain.leaves + more > MOST_LEAVES:
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
        if other.results[s] is not NULL:
            storage = <Storage>other.results[s]
            storage.step += chain.count
            storage.pending = chain
    chain.count += other.count
    chain.serial = min(chain.serial, other.serial)
    release(other)
    return True


cdef PendingChain chain_for(int nin, PyObject** operands, int ndim, const Py_ssize_t* shape):
    """
    The chain that a step is appended to, with places for it and its leaves: that of its operands, or a new one.

    Operands that cannot be in it, nor leaves of it, are settled: one at a time, since that may settle others.
    """
    cdef PendingChain chain, other
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef int k, blocked = 0
    while blocked >= 0:
        chain, blocked = None, -1
        for k in range(nin):
            other = chain_of(<Array>operands[k])
            if other is None or other is chain:
                continue
            if other.settling or other.thread != thread:
                blocked = k
            elif other.ndim == ndim and memcmp(other.shape, shape, ndim * sizeof(Py_ssize_t)) == 0:
                if chain is None:
                    chain = other
                elif not merge(chain, other):
                    blocked = k
        if chain is not None:
            for k in range(nin):
                other = chain_of(<Array>operands[k])
                if other is not None and other is not chain and other.serial >= chain.serial:
                    blocked = k
            if blocked < 0 and (chain.leaves + nin > MOST_LEAVES or chain.count + 2 > MAX_STEPS):
                settle_chain(chain)
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
    global pending_bytes
    cdef PyObject* operands[3]
    cdef Array out
    cdef PendingChain chain
    cdef Leaf leaf
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
            return None     # lent by a signal handler or another thread, while chains were settled
    for k in range(nin):
        if chain_of(<Array>operands[k]) is chain:
            inputs[k] = MOST_LEAVES + (<Array>operands[k]).storage.step
        else:
            make_leaf(&leaf, <Array>operands[k], ndim, shape)
            inputs[k] = add_leaf(chain, &leaf)
    step = append(chain, kernel, inputs, strides, name)
    if result_code(kernel) != out_code:
        inputs[0] = MOST_LEAVES + step
        step = append(chain, cast_kernel(result_code(kernel), out_code), inputs, strides, name)
    out = blank(out_code)
    set_ndim(out, ndim)
    memcpy(out.shape_, shape, ndim * sizeof(Py_ssize_t))
    memcpy(out.strides_, strides, ndim * sizeof(Py_ssize_t))
    set_flags(out)
    out.storage = Storage.__new__(Storage)
    out.storage.nbytes = out.size * itemsize_at(out_code)
    out.storage.pending, out.storage.step = chain, step
    chain.results[step] = <PyObject*>out.storage
    pending_bytes += out.storage.nbytes
    while (chains > MOST_CHAINS or pending_bytes > MOST_BYTES) and oldest is not <PyObject*>chain and (<PendingChain>oldest).settling == 0:
        settle_chain(<PendingChain>oldest)
    return out


cdef void forget_result(Storage storage) noexcept:
    """A result is freed that was never computed."""
    global pending_bytes
    (<PendingChain>storage.pending).results[storage.step] = NULL
    pending_bytes -= storage.nbytes


# --- computing


cdef int settle(Array x) except -1:
    """Compute the elements of a deferred array."""
    if x.storage.data is NULL:
        settle_chain(<PendingChain>x.storage.pending)
    x.address = x.storage.data
    return 0


cdef int settle_readers(Storage storage) except -1:
    """Settle the chains that read a storage, which is about to be written to."""
    cdef Storage root = root_of(storage)
    cdef PendingChain chain
    cdef int k
    cdef bint found = True
    # Again: a signal handler or another thread may defer one more while a chain is settled.
    while root.readers and found:
        found = False
        for each in pending_chains():
            chain = <PendingChain>each
            for k in range(chain.leaves):
                if chain.leaf[k].storage is not NULL and root_of(<Storage>chain.leaf[k].storage) is root:
                    settle_chain(chain)
                    found = True
                    break
    return 0


cdef list pending_chains():
    """All chains, from the oldest on."""
    cdef list out = []
    cdef PyObject* at = oldest
    while at is not NULL:
        out.append(<PendingChain>at)
        at = (<PendingChain>at).after
    return out


def settle_pending(bint all_threads=False):
    """Compute what this thread has deferred, or all threads have: all that there is memory for, before MemoryError."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    failed = None
    for chain in pending_chains():
        if (all_threads or (<PendingChain>chain).thread == thread) and not (<PendingChain>chain).settling:
            try:
                settle_chain(<PendingChain>chain)
            except MemoryError as error:
                failed = failed or error
    if failed is not None:
        raise failed


cdef int settle_chain(PendingChain chain) except -1:
    """Compute all results of a chain that somebody can see: Note [Deferred results]."""
    cdef Leaf* leaf
    cdef int k
    if chain.count == 0:
        return 0
    chain.settling += 1
    try:
        for k in range(chain.leaves):
            leaf = &chain.leaf[k]
            if leaf.storage is not NULL and leaf.data is NULL:
                if (<Storage>leaf.storage).data is NULL:
                    settle_chain(<PendingChain>(<Storage>leaf.storage).pending)
                if chain.count:     # else a signal handler settled this one, too
                    leaf.data = (<Storage>leaf.storage).data
        compute(chain)
    finally:
        chain.settling -= 1
    return 0


cdef int compute(PendingChain chain) except -1:
    """Allocate memory for the results that are still referenced, run the steps, and publish."""
    global pending_bytes
    cdef list results = [], memory = [], held = []
    cdef int outputs[MAX_STEPS]
    cdef int s, k, first, count = 0, most = MAX_VIEWS - chain.leaves
    cdef Storage storage, fresh
    for k in range(chain.leaves):
        if chain.leaf[k].storage is not NULL:
            held.append(<Storage>chain.leaf[k].storage)
    for s in range(chain.count):
        if chain.results[s] is not NULL:
            storage = <Storage>chain.results[s]
            outputs[count] = s
            count += 1
            results.append(storage)
            memory.append(memory_for(chain, s, storage.nbytes))
    for first in range(0, count, most):
        if chain.count == 0:
            return 0    # another call has published them meanwhile
        run_steps(chain, outputs + first, min(most, count - first), memory[first:first + most])
    for storage, fresh in zip(results, memory):
        if storage.data is NULL:
            storage.block, storage.data, storage.capacity, storage.bin = fresh.block, fresh.data, fresh.capacity, fresh.bin
            fresh.block = NULL
            pending_bytes -= storage.nbytes
            chain.results[storage.step] = NULL
            storage.pending = None
    release(chain)
    return 0


cdef Storage memory_for(PendingChain chain, int step, Py_ssize_t nbytes):
    try:
        return allocate_storage(nbytes, False)
    except MemoryError:
        shape = tuple([chain.shape[k] for k in range(chain.ndim)])
        dtype = dtype_at(result_code(chain.steps[step].kernel)).name
        raise MemoryError(f"{<str>chain.names[step]}: no memory for the deferred result of shape {shape} and dtype {dtype}") from None


cdef int run_steps(PendingChain chain, const int* outputs, int count, list memory) except -1:
    """Run the steps that some results need, as one chain of the executor."""
    global passes, steps_run, bytes_saved
    cdef Chain program
    cdef Plan plan
    cdef Operand operands[MAX_VIEWS]
    cdef bint live[MOST_LEAVES + MAX_STEPS]
    cdef int value[MOST_LEAVES + MAX_STEPS]
    cdef int s, q, k, o
    cdef bint done
    cdef Leaf* leaf
    cdef Step* step
    cdef str name = <str>chain.names[outputs[count - 1]]    # held: another call may release the chain
    for k in range(MOST_LEAVES + chain.count):
        live[k] = False
    for o in range(count):
        live[MOST_LEAVES + outputs[o]] = True
    for s in range(chain.count - 1, -1, -1):
        if live[MOST_LEAVES + s]:
            for q in range(inputs_of(chain.steps[s].kernel)):
                live[chain.steps[s].inputs[q]] = True
    program.leaves = program.count = 0
    for k in range(chain.leaves):
        if live[k]:
            leaf = &chain.leaf[k]
            operands[program.leaves].data = &leaf.value[0] if leaf.storage is NULL else leaf.data
            operands[program.leaves].code, operands[program.leaves].ndim = leaf.code, chain.ndim
            operands[program.leaves].shape, operands[program.leaves].strides = chain.shape, leaf.strides
            value[k] = program.leaves
            program.leaves += 1
    for s in range(chain.count):
        if not live[MOST_LEAVES + s]:
            continue
        step = &program.steps[program.count]
        step.kernel = chain.steps[s].kernel
        for q in range(inputs_of(step.kernel)):
            step.inputs[q] = value[chain.steps[s].inputs[q]]
        # A value is computed once, however often it is asked for.
        for k in range(program.count + 1):
            if is_same_step(&program.steps[k], step):
                break
        value[MOST_LEAVES + s] = program.leaves + k
        program.count += k == program.count
    set_strides(&plan, operands, program.leaves, chain.shape, chain.ndim)
    program.outputs = count
    for o in range(count):
        k = program.leaves + o
        operands[k].data, operands[k].code, operands[k].ndim = (<Storage>memory[o]).data, result_code(chain.steps[outputs[o]].kernel), chain.ndim
        operands[k].shape, operands[k].strides = chain.shape, chain.strides[outputs[o]]
        set_result(&plan, &operands[k], chain.shape, chain.ndim)
        program.stored[o] = value[MOST_LEAVES + outputs[o]]
    order_axes(&plan, True)
    coalesce(&plan, 0)
    passes += 1
    steps_run += program.count
    bytes_saved += (program.count - count) * chain.size
    if chain.size < LONG_RUN:
        done = run_chain(&plan, &program, True)
    else:
        with nogil:
            done = run_chain(&plan, &program, True)
    if not done:
        not_completed(name)
    return 0


cdef inline bint is_same_step(const Step* a, const Step* b) noexcept:
    cdef int q
    if a.kernel.kind != b.kernel.kind or a.kernel.row != b.kernel.row or a.kernel.code != b.kernel.code:
        return False
    for q in range(inputs_of(a.kernel)):
        if a.inputs[q] != b.inputs[q]:
            return False
    return True


set_forget(forget_result)
hooks.settle = settle
hooks.settle_readers = settle_readers
