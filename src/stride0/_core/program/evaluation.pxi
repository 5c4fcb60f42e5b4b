# Computing deferred results: Note [Deferred results] of `deferred.pxi`. Each pass over memory is one of `passes.pxi`.

cdef enum:
    MOST_RESULTS = MAX_STEPS + MOST_REDUCTIONS + 1


ctypedef struct Evaluation:
    # A call that computes a chain, in a list of all.
    unsigned long thread
    PyObject* chain                     # not a reference: the call has one
    Evaluation* before
    Evaluation* after
    # References: the memory that is read, which another call may drop; the results, or NULL for what only this call reads;
    # and the memory of each.
    int leaves
    PyObject* leaf[MOST_LEAVES]
    int count
    PyObject* results[MOST_RESULTS]
    PyObject* memory[MOST_RESULTS]
    Pass current


cdef Evaluation* evaluations = NULL
cdef Evaluation* unused = NULL


cdef int evaluate(Array x) except -1:
    """Compute the elements of a deferred array; a batched one has none of its own."""
    refuse_batched(x, "array")
    enter_pending()
    try:
        return evaluate_array(x)
    finally:
        leave_pending()


cdef int evaluate_array(Array x) except -1:
    cdef Storage root = root_of(x.storage)
    # Again: a signal handler or another thread may give x another deferred result meanwhile.
    while root.data is NULL:
        evaluate_result(root)
        root = root_of(x.storage)
    # Others read it without the lock, as soon as an array on this storage has an address.
    if x.storage.data is NULL:
        x.storage.data = root.data
    s0_write(x.address, root.data)
    return 0


cdef int evaluate_readers(Storage storage) except -1:
    """Evaluate the chains that read a storage, which is about to be written to."""
    cdef Storage root = root_of(storage)
    if root.readers == 0:
        return 0
    enter_pending()
    try:
        return evaluate_readers_of(root)
    finally:
        leave_pending()


cdef int evaluate_readers_of(Storage root) except -1:
    cdef PendingChain chain
    cdef int k
    cdef bint found = True
    # Again: a signal handler or another thread may defer one more while a chain is evaluated.
    while root.readers != 0 and found:
        found = False
        for each in pending_chains():
            chain = <PendingChain>each
            for k in range(chain.leaves):
                if chain.leaf[k].storage is <PyObject*>root:
                    evaluate_chain(chain)
                    found = True
                    break
    return 0


cpdef int evaluate_pending() except -1:
    """Compute what this thread has deferred: all that there is memory for, before MemoryError."""
    enter_pending()
    try:
        return evaluate_own()
    finally:
        leave_pending()


cdef class FusedBlock:
    """A ``with`` block that defers results of `_value` elements or more, and computes at its end what is still referenced."""

    cdef public Py_ssize_t _value
    # What `leave_fused` needs, and the same of the block around this one, if that is of the same object.
    cdef tuple entered

    def __enter__(self):
        self.entered = (enter_fused(self._value), self.entered)
        return self

    def __exit__(self, kind, error, traceback):
        entered, self.entered = self.entered
        leave_fused(<tuple>entered, self._value)
        try:
            evaluate_pending()
        except MemoryError:
            # The error that ends the block is not replaced: who reads the array gets this one then.
            if kind is None:
                raise


cdef int evaluate_own() except -1:
    cdef unsigned long thread = PyThread_get_thread_ident()
    failed = None
    for chain in pending_chains():
        if (<PendingChain>chain).thread == thread and not (<PendingChain>chain).evaluating:
            try:
                evaluate_chain(chain)
            except MemoryError as error:
                failed = failed or error
    if failed is not None:
        raise failed
    return 0


cdef int evaluate_chain(object given) except -1:
    """Compute all results of a chain that are still referenced: Note [Deferred results]."""
    cdef PendingChain chain = <PendingChain>given
    enter_pending()
    try:
        if chain.count:
            begin_evaluation(chain, None, None, None, False)
    finally:
        leave_pending()
    return 0


cdef int evaluate_result(Storage storage) except -1:
    """Compute a result of a chain: with all others, or a reduction with its like, where the others are computed as fast as read."""
    cdef PendingChain chain = <PendingChain>storage.pending
    begin_evaluation(chain, None, None, None, storage.step < 0 and chain.evaluating == 0 and may_leave_steps(chain))
    return 0


cdef bint may_leave_steps(PendingChain chain) noexcept:
    """Whether all results of steps that are referenced are as fast to compute again as to write and to read."""
    cdef int cost[MAX_STEPS]
    cdef int s, q, k
    for s in range(chain.count):
        cost[s] = cost_of(chain.steps[s].kernel) + tuning.slot_step_cost
        for q in range(inputs_of(chain.steps[s].kernel)):
            k = chain.steps[s].inputs[q] - MOST_LEAVES
            cost[s] += cost[k] if k >= 0 else 0
        cost[s] = min(cost[s], <int>tuning.shared_step_cost)
        if chain.results[s] is not NULL and cost[s] == tuning.shared_step_cost:
            return False
    return True


cdef bint store_result(Array result, Array x, Storage spared) except -1:
    """
    Compute a deferred result of which x is an operand, and the only one on its memory, into x; drop the result.

    False, with nothing done, where that is not possible in one pass that no signal interrupts. `spared`: see `compute`.
    """
    enter_pending()
    try:
        return store_locked(result, x, spared)
    finally:
        leave_pending()


cdef bint store_locked(Array result, Array x, Storage spared) except -1:
    cdef PendingChain chain
    cdef int64_t cost = 0
    cdef int s
    if not is_deferred(result) or result.storage.data is not NULL:
        return False
    chain = <PendingChain>result.storage.pending
    for s in range(chain.count):
        cost += cost_of(chain.steps[s].kernel)
    return chain.size * cost // 16 < tuning.chunk_ns and begin_evaluation(chain, result.storage, x, spared, False)


cdef bint assign_pending(Array x, Array source) except -1:
    """
    `x[...] = source` of a deferred source, to which nothing else seems to refer, in the pass that computes it.

    False, with nothing done, where that is not possible. The source stays deferred; chains that read x have been evaluated.
    """
    if source.code != x.code or not same_shape(x, source) or source.storage.pending is None or source.storage.step < 0:
        return False
    return store_result(source, x, source.storage)


cdef bint copy_pending(Array out, Array source) except -1:
    """
    Compute a deferred source into new memory, in the pass that would read it; the source stays deferred.

    False, with nothing done, where that is not possible, or where results would be computed again that are faster to read.
    """
    cdef bint fast
    if source.storage.pending is None:
        return False
    enter_pending()
    fast = source.storage.pending is not None and may_leave_steps(<PendingChain>source.storage.pending)
    leave_pending()
    return fast and assign_pending(out, source)


cdef bint begin_evaluation(PendingChain chain, Storage result, Array x, Storage spared, bint leaves_steps) except -1:
    """Evaluate what a chain depends on, then the chain: see `compute`."""
    cdef Leaf* leaf
    cdef int k
    cdef bint done
    cdef Evaluation* evaluation = begin_call(chain)
    try:
        for k in range(chain.leaves):
            leaf = &chain.leaf[k]
            if leaf.storage is not NULL and leaf.data is NULL:
                if (<Storage>leaf.storage).data is NULL:
                    evaluate_result(<Storage>leaf.storage)
                if chain.count:     # else a signal handler evaluated this one, too
                    leaf.data = (<Storage>leaf.storage).data
        done = compute(chain, evaluation, result, x, spared, leaves_steps)
    finally:
        end_call(evaluation)
    return done


cdef Evaluation* begin_call(PendingChain chain) except NULL:
    global evaluations, unused
    cdef Evaluation* evaluation = unused
    unused = NULL
    if evaluation is NULL:
        evaluation = <Evaluation*>malloc(sizeof(Evaluation))
    if evaluation is NULL:
        raise MemoryError("fused: no memory to compute deferred operations")
    evaluation.thread, evaluation.chain = PyThread_get_thread_ident(), <PyObject*>chain
    evaluation.leaves = evaluation.count = 0
    evaluation.before, evaluation.after = NULL, evaluations
    if evaluations is not NULL:
        evaluations.before = evaluation
    evaluations = evaluation
    chain.evaluating += 1
    return evaluation


cdef int end_call(Evaluation* evaluation) noexcept:
    global unused
    cdef int k
    forget_call(evaluation)
    for k in range(evaluation.count):
        Py_DECREF(<Storage>evaluation.memory[k])
        if evaluation.results[k] is not NULL:
            Py_DECREF(<Storage>evaluation.results[k])
    for k in range(evaluation.leaves):
        drop_leaf(evaluation.leaf[k])
    free(unused)
    unused = evaluation
    return 0


cdef int forget_call(Evaluation* evaluation) noexcept:
    global evaluations
    if evaluation.before is NULL:
        evaluations = evaluation.after
    else:
        evaluation.before.after = evaluation.after
    if evaluation.after is not NULL:
        evaluation.after.before = evaluation.before
    (<PendingChain>evaluation.chain).evaluating -= 1
    return 0


cdef int add_result(Evaluation* evaluation, Storage result, Storage memory) noexcept:
    """Add a result, or None, and its memory."""
    cdef int k = evaluation.count
    evaluation.results[k] = NULL
    if result is not None:
        Py_INCREF(result)
        evaluation.results[k] = <PyObject*>result
    Py_INCREF(memory)
    evaluation.memory[k] = <PyObject*>memory
    evaluation.count += 1
    return 0


def forget_other_threads():
    """In a forked process, which has the thread that forked only: the others go on computing in their own process."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef Evaluation* at = evaluations
    s0_reset_section(&pending_lock)
    while at is not NULL:
        if at.thread != thread:
            forget_call(at)
        at = at.after


cdef bint compute(PendingChain chain, Evaluation* evaluation, Storage result, Array x, Storage spared, bint leaves_steps) except -1:
    """
    Allocate memory for the results that are still referenced, run the steps, and publish.

    `result`, if not None, is computed into the memory of x, and is gone then. If `spared` is not None, it stays deferred,
    and what `result` does not depend on; it may be `result` itself. With `leaves_steps`, all but reductions stays deferred.
    False, with nothing done, where what has happened since `result` was deferred forbids that.
    """
    cdef bint needed[MAX_STEPS]
    cdef bint stays = result is not None and spared is result
    cdef PyObject** memory = evaluation.memory
    cdef char* known[MAX_STEPS]         # where results lie that were computed
    cdef int outputs[MAX_STEPS]
    cdef int s, k, first = 0, count = 0
    cdef Storage storage, total
    cdef Reduction* reduction = NULL
    cdef Reduction* one
    for k in range(chain.leaves):
        if chain.leaf[k].storage is not NULL:
            Py_INCREF(<Storage>chain.leaf[k].storage)
            evaluation.leaf[evaluation.leaves] = chain.leaf[k].storage
            evaluation.leaves += 1
    if find_needed(chain, needed, result, spared) + stays > MOST_OUTPUTS:
        if stays:
            return False
        spared = None
        find_needed(chain, needed, result, None)
    if result is not None:
        if chain.count == 0 or result.data is not NULL or root_of(x.storage).readers > (0 if stays else 1) or root_of(x.storage).exports != 0:
            return False
        # A later pass could fail, with x written already.
        if spared is None and takes_passes(chain):
            return False
        outputs[0], count, first = result.step, 1, 1
        add_result(evaluation, result, foreign_storage(x.address, 0, x.storage, False))
    for s in range(chain.count):
        known[s] = NULL
        if chain.results[s] is not NULL and needed[s] and not leaves_steps and not (count and s == outputs[0]) and chain.results[s] is not <PyObject*>spared:
            storage = <Storage>alive(chain.results[s])
            if storage is None:
                chain.results[s] = NULL
                continue
            outputs[count] = s
            count += 1
            add_result(evaluation, storage, memory_for(chain, storage, result_code(chain.steps[s].kernel), chain.strides[s], <str>chain.names[s]))
    if spared is None:
        count = store_shared(chain, evaluation, outputs, count)
    for k in range(chain.reductions if spared is None else 0):
        one = &chain.reduction[k]
        storage = <Storage>alive(one.result)
        if storage is None:
            one.result = NULL
        else:
            reduction = one if reduction is NULL else reduction
            add_result(evaluation, storage, memory_for(chain, storage, one.code, one.strides, <str>one.name))
    if first:
        # It is the only pass.
        first = count
        run_pass(chain, &evaluation.current, known, outputs, first, memory, NULL, None, x)
        if spared is not None:
            if result.data is NULL and not stays:   # else another call has published it meanwhile
                drop_step(chain, result, root_of(x.storage))
                result.pending = None
            for k in range(1, count):
                publish(<Storage>evaluation.results[k], <Storage>memory[k])
            return True
    # Outputs in passes of as many as a chain may have, the first of the reductions with the last of these.
    while (count - first > MOST_OUTPUTS or (count > first and (reduction is NULL or reduction.inputs[1] >= 0))) and chain.count:
        run_pass(chain, &evaluation.current, known, outputs + first, min(<int>MOST_OUTPUTS, count - first), memory + first, NULL, None, None)
        first += MOST_OUTPUTS
    s = count
    for k in range(chain.reductions):
        one = &chain.reduction[k]
        if one.result is not NULL:     # NULL if another call has published it meanwhile
            total = <Storage>memory[s]
            if one.code != result_code(one.kernel):
                total = allocate_storage(total.nbytes // itemsize_at(one.code) * itemsize_at(result_code(one.kernel)), False)
            run_pass(chain, &evaluation.current, known, outputs + first, max(0, count - first), memory + first, one, total, None)
            finish_reduction(one, total, <Storage>memory[s])
            first = max(first, count)
            s += 1
    for k in range(evaluation.count):
        if evaluation.results[k] is not NULL:
            publish(<Storage>evaluation.results[k], <Storage>memory[k])
    if not leaves_steps:
        release(chain)
    elif drop_reductions(chain):
        drop_unread(chain)
    return True


cdef int store_shared(PendingChain chain, Evaluation* evaluation, int* outputs, int count) except -1:
    """
    Add to the outputs what several passes need and is faster to read than to compute again; the number of outputs then.

    Each reduction takes a pass, of which the first computes the outputs, too.
    """
    cdef int needed[MAX_STEPS]          # by which passes, in bits
    cdef int cost[MAX_STEPS]
    cdef bint stored[MAX_STEPS]
    cdef int s, k, q, mask = 1
    for s in range(chain.count):
        needed[s], stored[s] = 0, False
        cost[s] = cost_of(chain.steps[s].kernel)
        for q in range(inputs_of(chain.steps[s].kernel)):
            k = chain.steps[s].inputs[q] - MOST_LEAVES
            cost[s] += cost[k] if k >= 0 else 0
        cost[s] = min(cost[s], <int>tuning.shared_step_cost)
    for k in range(count):
        needed[outputs[k]], stored[outputs[k]] = 1, True
    for k in range(chain.reductions):
        if chain.reduction[k].result is not NULL:
            for q in range(inputs_of(chain.reduction[k].kernel)):
                s = chain.reduction[k].inputs[q] - MOST_LEAVES
                if s >= 0:
                    needed[s] |= mask
            mask <<= 1
    if mask <= 2:
        return count
    for s in range(chain.count - 1, -1, -1):
        if not stored[s] and needed[s] & (needed[s] - 1) and cost[s] == tuning.shared_step_cost and count < MOST_KNOWN and chain.results[s] is NULL:
            try:
                add_result(evaluation, None, allocate_storage(chain.size * itemsize_at(result_code(chain.steps[s].kernel)), False))
            except MemoryError:     # then it is computed again
                return count
            outputs[count], stored[s] = s, True
            count += 1
        for q in range(inputs_of(chain.steps[s].kernel)):
            k = chain.steps[s].inputs[q] - MOST_LEAVES
            if k >= 0:
                needed[k] |= 1 if stored[s] else needed[s]
    return count


cdef bint takes_passes(PendingChain chain) noexcept:
    """Whether all that is referenced of a chain takes more than one pass, or one that checks for signals."""
    cdef int s, k, count = 0
    for k in range(chain.reductions):
        if chain.reduction[k].result is not NULL:
            return True
    for s in range(chain.count):
        count += chain.results[s] is not NULL
    return count > MOST_OUTPUTS


cdef int find_needed(PendingChain chain, bint* needed, Storage result, Storage spared) noexcept:
    """The steps that a result depends on, and how many of them are outputs then; all if nothing is spared."""
    cdef int s, q, count = 0
    for s in range(chain.count):
        needed[s] = spared is None or s == result.step
    if spared is None:
        return 0
    for s in range(chain.count - 1, -1, -1):
        count += needed[s] and chain.results[s] is not NULL and chain.results[s] is not <PyObject*>spared
        for q in range(inputs_of(chain.steps[s].kernel) if needed[s] else 0):
            if chain.steps[s].inputs[q] >= MOST_LEAVES:
                needed[chain.steps[s].inputs[q] - MOST_LEAVES] = True
    return count


cdef int publish(Storage storage, Storage fresh) except -1:
    """Give a storage the memory of another one, unless another call has computed its elements."""
    # One without a chain was computed in place by another call, and is gone.
    if storage.data is NULL and storage.pending is not None:
        storage.block, storage.data, storage.capacity, storage.bin = fresh.block, fresh.data, fresh.capacity, fresh.bin
        fresh.block = NULL
        forget_result(storage)
        storage.pending = None
    return 0


cdef Storage memory_for(PendingChain chain, Storage storage, int code, const Py_ssize_t* strides, str name):
    """Memory for a result of these strides along the axes of the chain."""
    try:
        return allocate_storage(storage.nbytes, False)
    except MemoryError:
        shape = tuple([chain.shape[k] for k in range(chain.ndim) if strides[k] or chain.shape[k] < 2])
        dtype = dtype_at(code).name
        raise MemoryError(f"{name}: no memory for the deferred result of shape {shape} and dtype {dtype}") from None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_other_threads)
hooks.evaluate = evaluate
hooks.evaluate_readers = evaluate_readers
hooks.evaluate_chain = evaluate_chain
