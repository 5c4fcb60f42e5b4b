# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Computing deferred results: Note [Deferred results] of `deferred.pyx`."""

from cpython.pythread cimport PyThread_get_thread_ident
from libc.string cimport memcpy

from stride0._core.array.array cimport Array, hooks, not_completed, root_of
from stride0._core.memory.dtype cimport dtype_at, itemsize_at
from stride0._core.memory.storage cimport Storage, allocate_storage
from stride0._core.ops.deferred cimport (
    MOST_AXES, MOST_KNOWN, MOST_LEAVES, MOST_OUTPUTS, Leaf, PendingChain, Reduction, count_chains, forget_result, pending_chains, release,
)
from stride0._core.plan.chain cimport MAX_STEPS, Chain, Step
from stride0._core.plan.partition cimport LONG_RUN, run_chain
from stride0._core.plan.plan cimport MAX_VIEWS, Operand, Plan, coalesce, order_axes, set_result, set_strides
from stride0._core.plan.table cimport Kernel, inputs_of, result_code

cdef enum:
    FILL_BYTES = 1 << 14        # that are copied at once, from the first-level cache

# Statistics: passes over memory, steps in them, and bytes of results that were never written.
cdef Py_ssize_t passes = 0
cdef Py_ssize_t steps_run = 0
cdef Py_ssize_t bytes_saved = 0


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
    cdef bint found = True
    # Again: a signal handler or another thread may defer one more while a chain is evaluated.
    while root.readers and found:
        found = False
        for each in pending_chains():
            chain = <PendingChain>each
            for k in range(chain.leaves):
                if chain.leaf[k].storage is not NULL and root_of(<Storage>chain.leaf[k].storage) is root:
                    evaluate_chain(chain)
                    found = True
                    break
    return 0


def evaluate_pending(bint all_threads=False):
    """Compute what this thread has deferred, or all threads have: all that there is memory for, before MemoryError."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    failed = None
    for chain in pending_chains():
        if (all_threads or (<PendingChain>chain).thread == thread) and not (<PendingChain>chain).evaluating:
            try:
                evaluate_chain(chain)
            except MemoryError as error:
                failed = failed or error
    if failed is not None:
        raise failed


cdef int evaluate_chain(object given) except -1:
    """Compute all results of a chain that are still referenced: Note [Deferred results]."""
    cdef PendingChain chain = <PendingChain>given
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
            memory.append(memory_for(chain, <Storage>chain.results[s], chain.steps[s].kernel, chain.strides[s], <str>chain.names[s]))
    for k in range(chain.reductions):
        one = &chain.reduction[k]
        if one.result is not NULL:
            reduction = one if reduction is NULL else reduction
            results.append(<Storage>one.result)
            memory.append(memory_for(chain, <Storage>one.result, one.kernel, one.strides, <str>one.name))
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
    if storage.data is NULL:
        storage.block, storage.data, storage.capacity, storage.bin = fresh.block, fresh.data, fresh.capacity, fresh.bin
        fresh.block = NULL
        forget_result(storage)
        storage.pending = None
    return 0


cdef Storage memory_for(PendingChain chain, Storage storage, Kernel kernel, const Py_ssize_t* strides, str name):
    """Memory for a result of these strides along the axes of the chain."""
    try:
        return allocate_storage(storage.nbytes, False)
    except MemoryError:
        shape = tuple([chain.shape[k] for k in range(chain.ndim) if strides[k] or chain.shape[k] < 2])
        dtype = dtype_at(result_code(kernel)).name
        raise MemoryError(f"{name}: no memory for the deferred result of shape {shape} and dtype {dtype}") from None


cdef int run_pass(
    PendingChain chain, char** known, const int* outputs, int count, list memory, Reduction* reduction, Storage total
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


cdef int run_first(PendingChain chain, char** known, Reduction* reduction, Storage total) except -1:
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
    global passes, steps_run, bytes_saved
    cdef bint done
    cdef int s, o
    coalesce(plan, 0)
    passes += 1
    steps_run += program.count
    for s in range(program.count):
        bytes_saved += chain.size * itemsize_at(result_code(program.steps[s].kernel))
    for o in range(program.outputs):
        s = program.stored[o] - program.leaves
        if s >= 0:
            bytes_saved -= chain.size * itemsize_at(result_code(program.steps[s].kernel))
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
    Chain* program, PendingChain chain, char** known, const int* outputs, int count, Reduction* reduction, Operand* operands
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
    cdef Py_ssize_t filled = 0, more = itemsize
    # Twice as much each time, as far as it stays in the first-level cache.
    while filled < storage.nbytes:
        if filled:
            memcpy(storage.data + filled, storage.data, more)
        else:
            memcpy(storage.data, value, more)
        filled += more
        more = min(min(filled, <Py_ssize_t>FILL_BYTES), storage.nbytes - filled)
    return 0


cdef inline bint is_same_step(const Step* a, const Step* b) noexcept:
    cdef int q
    if a.kernel.kind != b.kernel.kind or a.kernel.row != b.kernel.row or a.kernel.code != b.kernel.code:
        return False
    for q in range(inputs_of(a.kernel)):
        if a.inputs[q] != b.inputs[q]:
            return False
    return True


def statistics():
    """
    What was deferred in this process so far.

    Returns
    -------
    dict
        ``pending``: chains that have not been computed; ``passes`` over memory that computed others, ``steps`` in these,
        and ``bytes_saved``: of results that were never written to memory.
    """
    return {"pending": count_chains(), "passes": passes, "steps": steps_run, "bytes_saved": bytes_saved}


hooks.evaluate = evaluate
hooks.evaluate_readers = evaluate_readers
hooks.evaluate_chain = evaluate_chain
