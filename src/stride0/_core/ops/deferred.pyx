# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Deferred results of `stride0.fused`: chains of elementwise steps that are computed when the elements are needed.

Note [Deferred results]
    Where `fused` holds, the result of an elementwise operation has its shape, dtype and strides, and all errors have been
    raised, but its storage has no memory: it names a chain (`PendingChain`) and a step of that. The chain is computed
    in one pass (`evaluate`), by the executor and the kernels that would have run before, so that all bits are the same.
    What holds:

    1. Elements that are pending cannot be read: `Array.address` is NULL, and every reader gets it from `data_of`, which
       evaluates. A view has an address, so that whoever makes one evaluates first.
    2. Who writes to memory evaluates the chains that read it first: `before_write`, which every writer calls, asks
       `Storage.readers`.
    3. Memory that others may write to is no leaf: that of other libraries (`Storage.owner`), and ours while it is
       exported (`Storage.exports`). One value is copied into the chain.
    4. What is still referenced becomes an output: a result's storage tells its chain when it is freed (`forget`). All
       other values stay in slots. A chain that nobody can see any more is freed with its last storage and never computed.
    5. Memory is allocated when a chain is evaluated. Where there is none, MemoryError names the operation, and everything
       is as before.
    6. Several threads, or a signal handler inside of a call, may evaluate one chain at once: each computes into memory of
       its own, the first one to end publishes, the others discard theirs. A chain that is being computed takes no more steps.
    7. A leaf may be deferred by another chain, which is evaluated first. Chains are numbered, and depend on chains of
       smaller numbers only, so that there is no circle.
    8. A chain belongs to the thread that began it; other threads evaluate it.

    A reduction of a deferred result is deferred as well, and computed in one pass with its operand: by then nobody may see
    that any more. The storage of its result has a negative step.

    A chain is bounded by MOST_LEAVES and MAX_STEPS, all of them by MOST_CHAINS and MOST_BYTES: then the oldest are evaluated.
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
    MOST_KNOWN = 3              # results of a pass that later ones read
    MOST_OUTPUTS = 4            # of a pass; the views of a chain are leaves, known results, outputs and a reduction's result

cdef Switch FUSING = FUSED

# The chains that are pending, from the oldest on.
cdef PyObject* oldest = NULL
cdef PyObject* youngest = NULL
cdef int chains = 0
cdef Py_ssize_t serials = 0
cdef Py_ssize_t pending_bytes = 0

cdef Py_ssize_t passes = 0          # statistics
cdef Py_ssize_t steps_run = 0


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
    for k in range(chain.reductions):
        Py_XDECREF(chain.reduction[k].name)
    chain.leaves = chain.count = chain.reductions = 0
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
    return root.owner is None and root.exports == 0


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


cdef inline bint is_step(Array x, PendingChain chain):
    """Whether a step of a chain computes x."""
    return chain_of(x) is chain and x.storage.step >= 0


cdef bint merge(PendingChain chain, PendingChain other):
    """Move the steps of another chain of the same shape to the end of a chain, if neither depends on a third one."""
    cdef int leaf[MOST_LEAVES]
    cdef int k, q, s, more = 0, step
    cdef Reduction* reduction
    cdef Storage storage
    if chain.dependent or other.dependent or chain.count + other.count >= MAX_STEPS or chain.reductions + other.reductions > MOST_REDUCTIONS:
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
    for k in range(other.reductions):
        reduction = &chain.reduction[chain.reductions]
        reduction[0] = other.reduction[k]
        reduction.step += chain.count
        other.reduction[k].name = NULL
        if reduction.result is not NULL:
            storage = <Storage>reduction.result
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
            if other is None or (other is chain and (<Array>operands[k]).storage.step >= 0):
                continue
            if other.evaluating or other.thread != thread:
                blocked = k
            elif (<Array>operands[k]).storage.step >= 0 and other.ndim == ndim and memcmp(other.shape, shape, ndim * sizeof(Py_ssize_t)) == 0:
                if chain is None:
                    chain = other
                elif not merge(chain, other):
                    blocked = k
        if chain is not None:
            for k in range(nin):
                other = chain_of(<Array>operands[k])
                if other is not None and other.serial >= chain.serial and not is_step(<Array>operands[k], chain):
                    blocked = k
            if blocked < 0 and (chain.leaves + nin > MOST_LEAVES or chain.count + 2 > MAX_STEPS):
                evaluate_chain(chain)
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
        if is_step(<Array>operands[k], chain):
            inputs[k] = MOST_LEAVES + (<Array>operands[k]).storage.step
        else:
            make_leaf(&leaf, <Array>operands[k], ndim, shape)
            inputs[k] = add_leaf(chain, &leaf)
    step = append(chain, kernel, inputs, strides, name)
    if result_code(kernel) != out_code:
        inputs[0] = MOST_LEAVES + step
        step = append(chain, cast_kernel(result_code(kernel), out_code), inputs, strides, name)
    out = pending_array(chain, step, out_code, ndim, shape, strides)
    chain.results[step] = <PyObject*>out.storage
    while (chains > MOST_CHAINS or pending_bytes > MOST_BYTES) and oldest is not <PyObject*>chain and (<PendingChain>oldest).evaluating == 0:
        evaluate_chain(<PendingChain>oldest)
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
    pending_bytes += out.storage.nbytes
    return out


cdef bint replace_pending(Array x, Array other) noexcept:
    """
    Make x the deferred result that `other` is: `x op= y` of a deferred x. False, with nothing done, where that is not one.

    `other` is dropped by the caller. What was computed from x before has its own step.
    """
    global pending_bytes
    cdef PendingChain chain = chain_of(other)
    if chain is None or other.storage.step < 0 or chain_of(x) is None or x.storage.readers or other.code != x.code or other.ndim != x.ndim:
        return False
    if memcmp(other.shape_, x.shape_, x.ndim * sizeof(Py_ssize_t)) != 0 or memcmp(other.strides_, x.strides_, x.ndim * sizeof(Py_ssize_t)) != 0:
        return False
    forget_result(x.storage)
    x.storage.pending, x.storage.step = chain, other.storage.step
    chain.results[x.storage.step] = <PyObject*>x.storage
    other.storage.pending = None
    return True


cdef bint may_defer_reduction(Array x) except -1:
    """Whether a reduction of x is deferred: x is a result of a chain that takes one more."""
    cdef PendingChain chain = chain_of(x)
    return (chain is not None and x.storage.step >= 0 and chain.reductions < MOST_REDUCTIONS and not chain.evaluating
            and chain.thread == PyThread_get_thread_ident() and defers(x.size, True))


cdef Array defer_reduction(
    Kernel kernel, Array x, tuple axes, bint keepdims, bint from_first, const char* start, str name
):
    """
    The deferred accumulators of a reduction of a deferred array.

    `from_first`: they start from the first elements along the axes, else from the value at `start`.
    """
    cdef PendingChain chain = chain_of(x)
    cdef Reduction* reduction = &chain.reduction[chain.reductions]
    cdef Py_ssize_t shape[MOST_AXES]
    cdef Py_ssize_t strides[MOST_AXES]
    cdef Py_ssize_t stride = itemsize_at(result_code(kernel))
    cdef int axis, ndim = 0
    cdef Array out
    for axis in range(x.ndim - 1, -1, -1):
        reduction.strides[axis] = 0
        if axis not in axes:
            reduction.strides[axis] = stride
            stride *= x.shape_[axis]
    for axis in range(x.ndim):
        if axis not in axes:
            shape[ndim], strides[ndim] = x.shape_[axis], reduction.strides[axis]
            ndim += 1
        elif keepdims:
            shape[ndim], strides[ndim] = 1, itemsize_at(result_code(kernel)) * following(x, axes, axis)
            ndim += 1
    out = pending_array(chain, -1 - chain.reductions, result_code(kernel), ndim, shape, strides)
    reduction.kernel, reduction.step, reduction.from_first = kernel, x.storage.step, from_first
    reduction.result, reduction.name = <PyObject*>out.storage, <PyObject*>name
    Py_INCREF(name)
    memcpy(reduction.start, start, sizeof(reduction.start))
    chain.reductions += 1
    return out


cdef Py_ssize_t following(Array x, tuple axes, int first):
    """Elements of a C-contiguous result along the axes after one that is kept with size 1."""
    cdef Py_ssize_t out = 1
    cdef int axis
    for axis in range(first + 1, x.ndim):
        if axis not in axes:
            out *= x.shape_[axis]
    return out


cdef void forget_result(Storage storage) noexcept:
    """A result is freed that was never computed."""
    global pending_bytes
    cdef PendingChain chain = <PendingChain>storage.pending
    if storage.step >= 0:
        chain.results[storage.step] = NULL
    else:
        chain.reduction[-1 - storage.step].result = NULL
    pending_bytes -= storage.nbytes


# --- computing


cdef int evaluate(Array x) except -1:
    """Compute the elements of a deferred array."""
    if x.storage.data is NULL:
        evaluate_chain(<PendingChain>x.storage.pending)
    x.address = x.storage.data
    return 0


cdef int evaluate_readers(Storage storage) except -1:
    """Evaluate the chains that read a storage, which is about to be written to."""
    cdef Storage root = root_of(storage)
    cdef PendingChain chain
    cdef int k
    if root.readers == 0:
        return 0
    for found in pending_chains():
        chain = <PendingChain>found
        for k in range(chain.leaves):
            if chain.leaf[k].storage is not NULL and root_of(<Storage>chain.leaf[k].storage) is root:
                evaluate_chain(chain)
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


def evaluate_pending(bint all_threads=False):
    """Compute what this thread has deferred, or all threads have: all that there is memory for, before MemoryError."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    failed = None
    for chain in pending_chains():
        if (all_threads or (<PendingChain>chain).thread == thread) and not (<PendingChain>chain).evaluating:
            try:
                evaluate_chain(<PendingChain>chain)
            except MemoryError as error:
                failed = failed or error
    if failed is not None:
        raise failed


cdef int evaluate_chain(PendingChain chain) except -1:
    """Compute all results of a chain that are still referenced: Note [Deferred results]."""
    cdef Leaf* leaf
    cdef int k
    if chain.count == 0:
        return 0
    chain.evaluating += 1
    try:
        for k in range(chain.leaves):
            leaf = &chain.leaf[k]
            if leaf.storage is not NULL and leaf.data is NULL:
                if (<Storage>leaf.storage).data is NULL:
                    evaluate_chain(<PendingChain>(<Storage>leaf.storage).pending)
                if chain.count:     # else a signal handler evaluated this one, too
                    leaf.data = (<Storage>leaf.storage).data
        compute(chain)
    finally:
        chain.evaluating -= 1
    return 0


cdef int compute(PendingChain chain) except -1:
    """Allocate memory for the results that are still referenced, run the steps, and publish."""
    cdef list results = [], memory = [], held = []
    cdef char* known[MAX_STEPS]         # where results lie that were computed
    cdef int outputs[MAX_STEPS]
    cdef int s, k, first, count = 0
    cdef Storage storage
    cdef Reduction* reduction = NULL
    cdef Reduction* one
    for k in range(chain.leaves):
        if chain.leaf[k].storage is not NULL:
            held.append(<Storage>chain.leaf[k].storage)
    for s in range(chain.count):
        known[s] = NULL
        if chain.results[s] is not NULL:
            outputs[count] = s
            count += 1
            results.append(<Storage>chain.results[s])
            memory.append(memory_for(chain, <Storage>chain.results[s], <str>chain.names[s]))
    for k in range(chain.reductions):
        one = &chain.reduction[k]
        if one.result is not NULL:
            reduction = one if reduction is NULL else reduction
            results.append(<Storage>one.result)
            memory.append(memory_for(chain, <Storage>one.result, <str>one.name))
    # Outputs in passes of as many as a chain may have, the first of the reductions with the last of these.
    first = 0
    while (count - first > MOST_OUTPUTS or (count > first and reduction is NULL)) and chain.count:
        run_pass(chain, known, outputs + first, min(<int>MOST_OUTPUTS, count - first), memory[first:], NULL, None)
        first += MOST_OUTPUTS
    s = count
    for k in range(chain.reductions):
        one = &chain.reduction[k]
        if one.result is not NULL:     # NULL if another call has published it meanwhile
            run_pass(chain, known, outputs + first, max(0, count - first), memory[first:], one, <Storage>memory[s])
            first = max(first, count)
            s += 1
    for storage, fresh in zip(results, memory):
        publish(storage, <Storage>fresh)
    release(chain)
    return 0


cdef int publish(Storage storage, Storage fresh) except -1:
    """Give a storage the memory of another one, unless another call has computed its elements."""
    global pending_bytes
    if storage.data is NULL:
        storage.block, storage.data, storage.capacity, storage.bin = fresh.block, fresh.data, fresh.capacity, fresh.bin
        fresh.block = NULL
        forget_result(storage)
        storage.pending = None
    return 0


cdef Storage memory_for(PendingChain chain, Storage storage, str name):
    try:
        return allocate_storage(storage.nbytes, False)
    except MemoryError:
        shape = tuple([chain.shape[k] for k in range(chain.ndim)])
        raise MemoryError(f"{name}: no memory for the {storage.nbytes} bytes of a deferred result, of operands of shape {shape}") from None


cdef int run_pass(
    PendingChain chain, char** known, const int* outputs, int count, list memory, const Reduction* reduction, Storage total
) except -1:
    """
    Run the steps that some outputs and a reduction need, as one chain of the executor.

    Parameters
    ----------
    chain : PendingChain
        Leaves and steps.
    known : pointer
        For each step, its result in memory or NULL; those of the outputs are set.
    outputs : pointer
        Numbers of steps, `count` of them.
    memory : list of Storage
        For each of them.
    reduction : pointer
        Or NULL.
    total : Storage
        For the result of the reduction.
    """
    cdef Chain program
    cdef Plan plan
    cdef Operand operands[MAX_VIEWS]
    cdef int s, k, o, found = 0
    # A reference: another call may release the chain while this one runs.
    cdef str name = <str>(chain.names[outputs[count - 1]] if count else reduction.name)
    describe_steps(&program, chain, known, outputs, count, reduction, operands)
    for o in range(count):
        describe_result(&operands[program.leaves + o], chain, outputs[o], (<Storage>memory[o]).data)
    program.outputs = count
    if reduction is not NULL:
        if reduction.from_first:
            run_first(chain, known, reduction, total)
        else:
            fill_with(total, reduction.start, itemsize_at(result_code(reduction.kernel)))
        # The axes are ordered as those of the operand are: that decides the order of additions.
        describe_result(&operands[program.leaves + count], chain, reduction.step, NULL)
        set_strides(&plan, &operands[program.leaves + count], 1, chain.shape, chain.ndim)
        order_axes(&plan, False)
        plan.nop = 0
        for k in range(program.leaves + count):
            set_result(&plan, &operands[k], chain.shape, chain.ndim)
        k = program.leaves + count
        operands[k].data, operands[k].code, operands[k].strides = total.data, result_code(reduction.kernel), reduction.strides
        set_result(&plan, &operands[k], chain.shape, chain.ndim)
        program.stored[count] = program.leaves + program.count - 1
        program.outputs += 1
    else:
        set_strides(&plan, operands, program.leaves, chain.shape, chain.ndim)
        for o in range(count):
            set_result(&plan, &operands[program.leaves + o], chain.shape, chain.ndim)
        order_axes(&plan, True)
    run(chain, &plan, &program, name)
    for s in range(chain.count):
        found += known[s] is not NULL
    for o in range(min(count, MOST_KNOWN - found)):
        known[outputs[o]] = (<Storage>memory[o]).data
    return 0


cdef int run_first(PendingChain chain, char** known, const Reduction* reduction, Storage total) except -1:
    """The first elements of the operand of a reduction along the reduced axes, cast to the accumulators, which are of the same size."""
    cdef Chain program
    cdef Plan plan
    cdef Operand operands[MAX_VIEWS]
    cdef Py_ssize_t shape[MOST_AXES]
    cdef int axis, k
    for axis in range(chain.ndim):
        shape[axis] = 1 if reduction.strides[axis] == 0 else chain.shape[axis]
    describe_steps(&program, chain, known, &reduction.step, 1, NULL, operands)
    k = program.leaves
    describe_result(&operands[k], chain, reduction.step, total.data)
    operands[k].code, operands[k].strides = result_code(reduction.kernel), reduction.strides
    program.outputs = 1
    set_strides(&plan, operands, program.leaves, shape, chain.ndim)
    set_result(&plan, &operands[k], shape, chain.ndim)
    order_axes(&plan, True)
    return run(chain, &plan, &program, <str>reduction.name)


cdef int run(PendingChain chain, Plan* plan, const Chain* program, str name) except -1:
    global passes, steps_run
    cdef bint done
    coalesce(plan, 0)
    passes += 1
    steps_run += program.count
    if chain.size < LONG_RUN:
        done = run_chain(plan, program, True)
    else:
        with nogil:
            done = run_chain(plan, program, True)
    return 0 if done else not_completed(name)


cdef int describe_result(Operand* operand, PendingChain chain, int step, char* data) noexcept:
    operand.data, operand.code, operand.ndim = data, result_code(chain.steps[step].kernel), chain.ndim
    operand.shape, operand.strides = chain.shape, chain.strides[step]
    return 0


cdef int describe_steps(
    Chain* program, PendingChain chain, char** known, const int* outputs, int count, const Reduction* reduction, Operand* operands
) noexcept:
    """Fill in the leaves, steps and stored values that outputs, and a reduction after them, need; and operands for the leaves."""
    cdef bint live[MOST_LEAVES + MAX_STEPS]
    cdef int value[MOST_LEAVES + MAX_STEPS]
    cdef int s, q, k, o
    cdef Leaf* leaf
    cdef Step* step
    for k in range(MOST_LEAVES + chain.count):
        live[k] = False
    for o in range(count):
        live[MOST_LEAVES + outputs[o]] = True
    if reduction is not NULL:
        live[MOST_LEAVES + reduction.step] = True
    for s in range(chain.count - 1, -1, -1):
        if live[MOST_LEAVES + s] and known[s] is NULL:
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
        if live[MOST_LEAVES + s] and known[s] is not NULL:
            describe_result(&operands[program.leaves], chain, s, known[s])
            value[MOST_LEAVES + s] = program.leaves
            program.leaves += 1
    for s in range(chain.count):
        if not live[MOST_LEAVES + s] or known[s] is not NULL:
            continue
        step = &program.steps[program.count]
        step.kernel = chain.steps[s].kernel
        for q in range(inputs_of(step.kernel)):
            step.inputs[q] = value[chain.steps[s].inputs[q]]
        # A value is computed once, however often it is asked for.
        k = 0
        while not is_same_step(&program.steps[k], step):
            k += 1
        value[MOST_LEAVES + s] = program.leaves + k
        program.count += k == program.count
    for o in range(count):
        program.stored[o] = value[MOST_LEAVES + outputs[o]]
    if reduction is not NULL:
        step = &program.steps[program.count]
        step.kernel, step.inputs[0] = reduction.kernel, value[MOST_LEAVES + reduction.step]
        program.count += 1
    return 0


cdef int fill_with(Storage storage, const char* value, int itemsize) noexcept:
    cdef Py_ssize_t at
    for at in range(0, storage.nbytes, itemsize):
        memcpy(storage.data + at, value, itemsize)
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
hooks.evaluate = evaluate
hooks.evaluate_readers = evaluate_readers
