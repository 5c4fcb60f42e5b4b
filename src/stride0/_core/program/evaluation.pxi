# Computing deferred results: Note [Deferred results] of `deferred.pxi`. `passes.pxi` runs the passes over memory.

cdef enum:
    MAX_RESULTS = MAX_STEPS + MAX_REDUCTIONS + 1


ctypedef struct Evaluation:
    # A call that computes a program. All calls in progress form a linked list.
    unsigned long thread
    PyObject* pending                     # borrowed: the caller owns a reference
    Evaluation* previous
    Evaluation* next
    # These pointers own references. Of the leaves: another call may drop the array whose memory this call reads. Of the
    # results, and of the memory of each result; a result that only this call reads is NULL.
    int leaves
    PyObject* leaf[MAX_LEAVES]
    int count
    PyObject* results[MAX_RESULTS]
    PyObject* memory[MAX_RESULTS]
    Pass current


cdef Evaluation* evaluations = NULL
cdef void* unused_evaluation = NULL


cdef int evaluate(Array x, bint readers) except -1:
    """Compute the elements of a deferred array, or the deferred results that read its memory; a batched array has no elements."""
    cdef Storage root
    if readers:
        return evaluate_readers(x.storage)
    refuse_batched(x, "array")
    enter_pending()
    try:
        root = root_of(x.storage)
        # In a loop, because a signal handler or another thread may give x another deferred result meanwhile.
        while root.data is NULL:
            evaluate_result(root)
            root = root_of(x.storage)
        # As soon as an array on this storage has an address, other threads read it without the lock.
        if x.storage.data is NULL:
            x.storage.data = root.data
        s0_write(x.address, root.data)
        return 0
    finally:
        leave_pending()


cdef int evaluate_readers(Storage storage) except -1:
    """Evaluate the programs that read a storage, before it is written to."""
    cdef Storage root = root_of(storage)
    cdef PendingProgram pending
    cdef int k
    cdef bint found = True
    if root.readers == 0:
        return 0
    enter_pending()
    try:
        # In a loop, because a signal handler or another thread may defer another result while a program is evaluated.
        while root.readers != 0 and found:
            found = False
            for each in pending_programs():
                pending = <PendingProgram>each
                for k in range(pending.leaves):
                    if pending.leaf[k].storage is <PyObject*>root:
                        evaluate_program(pending)
                        found = True
                        break
        return 0
    finally:
        leave_pending()


cpdef int evaluate_pending() except -1:
    """Compute the results that this thread has deferred. If memory runs out, compute as many as possible, then raise MemoryError."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    enter_pending()
    try:
        failed = None
        for pending in pending_programs():
            if (<PendingProgram>pending).thread == thread and not (<PendingProgram>pending).evaluating:
                try:
                    evaluate_program(pending)
                except MemoryError as error:
                    failed = failed or error
        if failed is not None:
            raise failed
        return 0
    finally:
        leave_pending()


cdef class FusedBlock:
    """A ``with`` block that defers results of `_value` elements or more, and computes the referenced ones at its end."""

    cdef public Py_ssize_t _value
    # The state for `leave_fused`, and the state of the surrounding block if it uses the same object.
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
            # Do not replace the error that ends the block: a later read of the array raises this one.
            if kind is None:
                raise


cdef int evaluate_program(object given) except -1:
    """Compute all results of a program that are still referenced: Note [Deferred results]."""
    cdef PendingProgram pending = <PendingProgram>given
    enter_pending()
    try:
        if pending.count:
            begin_evaluation(pending, None, None, None, False)
    finally:
        leave_pending()
    return 0


cdef int evaluate_result(Storage storage) except -1:
    """Compute a result and all other results of its program. If the results of steps are as fast to compute again as to read, compute only the reductions."""
    cdef PendingProgram pending = <PendingProgram>storage.pending
    begin_evaluation(pending, None, None, None, storage.step < 0 and pending.evaluating == 0 and may_leave_steps(pending))
    return 0


cdef bint may_leave_steps(PendingProgram pending) noexcept:
    """Whether all referenced results of steps are as fast to compute again as to write and read."""
    cdef int cost[MAX_STEPS]
    cdef int s
    for s in range(pending.count):
        cost[s] = cost_to_compute(pending, cost, s, tuning.slot_step_cost)
        if pending.results[s] is not NULL and cost[s] == tuning.shared_step_cost:
            return False
    return True


cdef bint store_result(Array result, Array x, Storage spared) except -1:
    """
    Compute a deferred result into x, an operand of the result and the only array on its memory; drop the result.

    False, with nothing done, if this takes more than one pass, or if a signal may interrupt it. `spared`: see `compute`.
    """
    cdef PendingProgram pending
    cdef int64_t cost = 0
    cdef int s
    enter_pending()
    try:
        if not is_deferred(result) or result.storage.data is not NULL:
            return False
        pending = <PendingProgram>result.storage.pending
        for s in range(pending.count):
            cost += cost_of(pending.steps[s].kernel)
        return pending.size * cost // 16 < tuning.chunk_ns and begin_evaluation(pending, result.storage, x, spared, False)
    finally:
        leave_pending()


cdef bint assign_pending(Array x, Array source) except -1:
    """
    `x[...] = source` in the pass that computes the deferred source, if nothing else seems to refer to the source.

    If this is not possible, returns False. Then the source stays deferred, and programs that read x have been evaluated.
    """
    if source.code != x.code or not same_shape(x, source) or source.storage.pending is None or source.storage.step < 0:
        return False
    return store_result(source, x, source.storage)


cdef bint copy_pending(Array out, Array source) except -1:
    """
    Compute a deferred source into new memory, in the pass that would read it; the source stays deferred.

    False, with nothing done, if this is not possible, or if it would recompute results that are faster to read.
    """
    cdef bint fast
    if source.storage.pending is None:
        return False
    enter_pending()
    fast = source.storage.pending is not None and may_leave_steps(<PendingProgram>source.storage.pending)
    leave_pending()
    return fast and assign_pending(out, source)


cdef bint begin_evaluation(PendingProgram pending, Storage result, Array x, Storage spared, bint leaves_steps) except -1:
    """Evaluate the programs that a program depends on, then the program: see `compute`."""
    cdef Leaf* leaf
    cdef int k
    cdef bint done
    cdef Evaluation* evaluation = begin_call(pending)
    try:
        for k in range(pending.leaves):
            leaf = &pending.leaf[k]
            if leaf.storage is not NULL and leaf.data is NULL:
                if (<Storage>leaf.storage).data is NULL:
                    evaluate_result(<Storage>leaf.storage)
                if pending.count:     # otherwise a signal handler has evaluated this program, too
                    leaf.data = (<Storage>leaf.storage).data
        done = compute(pending, evaluation, result, x, spared, leaves_steps)
    finally:
        end_call(evaluation)
    return done


cdef Evaluation* begin_call(PendingProgram pending) except NULL:
    global evaluations
    cdef Evaluation* evaluation = <Evaluation*>take_kept(&unused_evaluation, sizeof(Evaluation))
    if evaluation is NULL:
        raise MemoryError("fused: no memory to compute deferred operations")
    evaluation.thread, evaluation.pending = PyThread_get_thread_ident(), <PyObject*>pending
    evaluation.leaves = evaluation.count = 0
    evaluation.previous, evaluation.next = NULL, evaluations
    if evaluations is not NULL:
        evaluations.previous = evaluation
    evaluations = evaluation
    pending.evaluating += 1
    return evaluation


cdef int end_call(Evaluation* evaluation) noexcept:
    cdef int k
    forget_call(evaluation)
    for k in range(evaluation.count):
        Py_DECREF(<Storage>evaluation.memory[k])
        if evaluation.results[k] is not NULL:
            Py_DECREF(<Storage>evaluation.results[k])
    for k in range(evaluation.leaves):
        drop_leaf(evaluation.leaf[k])
    keep(&unused_evaluation, evaluation)
    return 0


cdef int forget_call(Evaluation* evaluation) noexcept:
    global evaluations
    if evaluation.previous is NULL:
        evaluations = evaluation.next
    else:
        evaluation.previous.next = evaluation.next
    if evaluation.next is not NULL:
        evaluation.next.previous = evaluation.previous
    (<PendingProgram>evaluation.pending).evaluating -= 1
    return 0


cdef int add_result(Evaluation* evaluation, Storage result, Storage memory) noexcept:
    """Add a result (or None) and its memory."""
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
    """For a forked process, which has only the thread that forked: other threads continue in the parent."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef Evaluation* at = evaluations
    s0_reset_section(&pending_lock)
    while at is not NULL:
        if at.thread != thread:
            forget_call(at)
        at = at.next
