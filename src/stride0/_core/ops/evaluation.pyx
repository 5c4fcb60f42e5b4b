"""Computing deferred results: Note [Deferred results] of `deferred.pyx`."""

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from stride0._core.array.array cimport Array, hooks, is_deferred, not_completed, refuse_batched, root_of, same_shape
from stride0._core.array.switches cimport enter_fused, leave_fused
from stride0._core.memory.dtype cimport COMPLEX64, FLOAT32, dtype_at, itemsize_at
from stride0._core.memory.guards cimport s0_pause_section, s0_reset_section, s0_resume_section, s0_write
from stride0._core.memory.storage cimport Storage, allocate_storage, foreign_storage
from stride0._core.ops.deferred cimport (
    MOST_AXES, MOST_KNOWN, MOST_LEAVES, MOST_OUTPUTS, MOST_REDUCTIONS, Leaf, PendingChain, Reduction, alive, drop_reductions, drop_step, drop_unread,
    drop_leaf, enter_pending, forget_result, leave_pending, pending_chains, pending_lock, release,
)
from stride0._core.plan.chain cimport MAX_STEPS, Chain, Step
from stride0._core.plan.partition cimport LONG_RUN, run_chain, run_contiguous
from stride0._core.plan.plan cimport MAX_VIEWS, Operand, Plan, coalesce, order_axes, set_result, set_strides
from stride0._core.plan.table cimport KIND_CAST, Kernel, cast_kernel, cost_of, inputs_of, result_code
from stride0._core.plan.tuning cimport tuning

import os

cdef enum:
    FILL_BYTES = 1 << 14        # that are copied at once, from the first-level cache
    SHARED_COST = 10            # of an element that is stored for a later pass, in the unit of `cost_of`
    STEP_COST = 2               # of one in a slot, beside that
    MOST_RESULTS = MAX_STEPS + MOST_REDUCTIONS + 1

# Statistics: passes over memory, steps in them, and bytes of results that were never written.
cdef Py_ssize_t passes = 0
cdef Py_ssize_t steps_run = 0
cdef Py_ssize_t bytes_saved = 0


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
    # Of the pass that runs: some 10 KiB, which would be much of a thread's stack.
    Chain program
    Plan plan
    Operand operands[MAX_VIEWS + 1]


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
        cost[s] = cost_of(chain.steps[s].kernel) + STEP_COST
        for q in range(inputs_of(chain.steps[s].kernel)):
            k = chain.steps[s].inputs[q] - MOST_LEAVES
            cost[s] += cost[k] if k >= 0 else 0
        cost[s] = min(cost[s], <int>SHARED_COST)
        if chain.results[s] is not NULL and cost[s] == SHARED_COST:
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
    return chain.size * cost // 16 < tuning.chunk_to and begin_evaluation(chain, result.storage, x, spared, False)


cdef bint assign_pending(Array x, Array source) except -1:
    """
    `x[...] = source` of a deferred source, to which nothing else seems to refer, in the pass that computes it.

    False, with nothing done, where that is not possible. The source stays deferred; chains that read x have been evaluated.
    """
    if source.code != x.code or not same_shape(x, source) or source.storage.pending is None or source.storage.step < 0:
        return False
    return store_result(source, x, source.storage)


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
        run_pass(chain, evaluation, known, outputs, first, memory, NULL, None, x)
        if spared is not None:
            if result.data is NULL and not stays:   # else another call has published it meanwhile
                drop_step(chain, result, root_of(x.storage))
                result.pending = None
            for k in range(1, count):
                publish(<Storage>evaluation.results[k], <Storage>memory[k])
            return True
    # Outputs in passes of as many as a chain may have, the first of the reductions with the last of these.
    while (count - first > MOST_OUTPUTS or (count > first and (reduction is NULL or reduction.inputs[1] >= 0))) and chain.count:
        run_pass(chain, evaluation, known, outputs + first, min(<int>MOST_OUTPUTS, count - first), memory + first, NULL, None, None)
        first += MOST_OUTPUTS
    s = count
    for k in range(chain.reductions):
        one = &chain.reduction[k]
        if one.result is not NULL:     # NULL if another call has published it meanwhile
            total = <Storage>memory[s]
            if one.code != result_code(one.kernel):
                total = allocate_storage(total.nbytes // itemsize_at(one.code) * itemsize_at(result_code(one.kernel)), False)
            run_pass(chain, evaluation, known, outputs + first, max(0, count - first), memory + first, one, total, None)
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
        cost[s] = min(cost[s], <int>SHARED_COST)
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
        if not stored[s] and needed[s] & (needed[s] - 1) and cost[s] == SHARED_COST and count < MOST_KNOWN and chain.results[s] is NULL:
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


cdef extern from *:
    """
    /* Quotients of sums in float64, rounded to float32 where the sum itself does not overflow it. */
    static void s0_means_f32(const double *total, float *out, double count, Py_ssize_t n) {
        for (Py_ssize_t i = 0; i < n; i++) {
            float sum = (float)total[i], mean = (float)(total[i] / count);
            out[i] = sum - sum == 0 ? mean : sum;
        }
    }
    """
    void s0_means_f32(const double* total, float* out, double count, Py_ssize_t n) noexcept nogil


cdef void divide_sums(double* total, char* out, bint is_single, double count, Py_ssize_t n) noexcept:
    """Means of sums: in float32 (`is_single`) at `out`, else in float64 in place."""
    cdef Py_ssize_t i
    if is_single:
        s0_means_f32(total, <float*>out, count, n)
        return
    for i in range(n):
        total[i] = total[i] / count


cdef int finish_reduction(const Reduction* reduction, Storage total, Storage result) except -1:
    """The result of a reduction from its accumulators, which are other memory where they are of another dtype."""
    cdef int code = result_code(reduction.kernel)
    cdef char* args[2]
    cdef Py_ssize_t strides[2]
    cdef bint is_single = reduction.code == FLOAT32 or reduction.code == COMPLEX64
    if reduction.divisor:
        divide_sums(<double*>total.data, result.data, is_single, reduction.divisor, total.nbytes // <int>sizeof(double))
        if is_single:
            return 0
    if reduction.code == code:
        return 0
    args[0], args[1] = total.data, result.data
    strides[0], strides[1] = itemsize_at(code), itemsize_at(reduction.code)
    return run_contiguous(cast_kernel(code, reduction.code), 0, args, strides, total.nbytes // itemsize_at(code))


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


cdef int run_pass(
    PendingChain chain, Evaluation* evaluation, char** known, const int* outputs, int count, PyObject** memory, Reduction* reduction,
    Storage total, Array x
) except -1:
    """
    Run the steps that some outputs and a reduction need, as one chain of the executor.

    Parameters
    ----------
    chain : PendingChain
        Leaves and steps.
    evaluation : pointer
        The call.
    known : pointer
        For each step, its result in memory or NULL; those of the outputs are set.
    outputs : pointer
        Numbers of steps, `count` of them.
    memory : pointer
        A storage for each of them.
    reduction : pointer
        Or NULL.
    total : Storage
        For the result of the reduction.
    x : Array
        Where the first output is to be written, by strides of its own; else None. Then the interpreter's lock is kept, and no
        signal handler runs: nobody sees x half written, nor writes to what the pass reads.
    """
    cdef Chain* program = &evaluation.program
    cdef Plan* plan = &evaluation.plan
    cdef Operand* operands = evaluation.operands
    cdef int s, k, o, found = 0
    # A reference: another call may release the chain while this one runs.
    cdef str name = <str>(chain.names[outputs[count - 1]] if count else reduction.name)
    if reduction is not NULL and reduction.from_first:
        run_first(chain, evaluation, known, reduction, total)
    describe_steps(program, chain, known, outputs, count, reduction, operands)
    for o in range(count):
        describe_result(&operands[program.leaves + o], chain, outputs[o], (<Storage>memory[o]).data)
    if x is not None:
        operands[program.leaves].strides = x.strides_
    program.outputs = count
    if reduction is not NULL:
        if not reduction.from_first:
            fill_with(total, reduction.start, itemsize_at(result_code(reduction.kernel)))
        # The axes are ordered as those of the operands are: that decides the order of additions.
        for k in range(inputs_of(reduction.kernel)):
            describe_value(&operands[program.leaves + count + k], chain, reduction.inputs[k], NULL)
        set_strides(plan, &operands[program.leaves + count], inputs_of(reduction.kernel), chain.shape, chain.ndim)
        order_axes(plan, False)
        plan.nop = 0
        for k in range(program.leaves + count):
            set_result(plan, &operands[k], chain.shape, chain.ndim)
        k = program.leaves + count
        operands[k].data, operands[k].code, operands[k].strides = total.data, result_code(reduction.kernel), reduction.strides
        set_result(plan, &operands[k], chain.shape, chain.ndim)
        program.stored[count] = program.leaves + program.constants + program.count - 1
        program.outputs += 1
    else:
        set_strides(plan, operands, program.leaves, chain.shape, chain.ndim)
        for o in range(count):
            set_result(plan, &operands[program.leaves + o], chain.shape, chain.ndim)
        order_axes(plan, True)
    run(chain, plan, program, name, x is None)
    for s in range(chain.count):
        found += known[s] is not NULL
    for o in range(min(count, MOST_KNOWN - found)):
        known[outputs[o]] = (<Storage>memory[o]).data
    return 0


cdef int run_first(PendingChain chain, Evaluation* evaluation, char** known, Reduction* reduction, Storage total) except -1:
    """The first elements of the operand of a reduction along the reduced axes, cast to the accumulators, which are of the same size."""
    cdef Chain* program = &evaluation.program
    cdef Plan* plan = &evaluation.plan
    cdef Operand* operands = evaluation.operands
    cdef Py_ssize_t shape[MOST_AXES]
    cdef int axis, k, step = reduction.inputs[0] - MOST_LEAVES
    for axis in range(chain.ndim):
        shape[axis] = 1 if reduction.strides[axis] == 0 else chain.shape[axis]
    describe_steps(program, chain, known, &step, 1, NULL, operands)
    k = program.leaves
    describe_result(&operands[k], chain, step, total.data)
    operands[k].code, operands[k].strides = result_code(reduction.kernel), reduction.strides
    program.outputs = 1
    set_strides(plan, operands, program.leaves, shape, chain.ndim)
    set_result(plan, &operands[k], shape, chain.ndim)
    order_axes(plan, True)
    return run(chain, plan, program, <str>reduction.name, True)


cdef int run(PendingChain chain, Plan* plan, const Chain* program, str name, bint interruptible) except -1:
    global passes, steps_run, bytes_saved
    cdef bint done
    cdef int s, o, depth
    coalesce(plan, 0)
    passes += 1
    steps_run += program.count
    for s in range(program.count):
        bytes_saved += chain.size * itemsize_at(result_code(program.steps[s].kernel))
    for o in range(program.outputs):
        s = program.stored[o] - program.leaves - program.constants
        if s >= 0:
            bytes_saved -= chain.size * itemsize_at(result_code(program.steps[s].kernel))
    if chain.size < LONG_RUN or not interruptible:
        done = run_chain(plan, program, interruptible)
    else:
        # As where the interpreter's lock is released: others may defer and evaluate meanwhile.
        depth = s0_pause_section(&pending_lock)
        with nogil:
            done = run_chain(plan, program, interruptible)
        s0_resume_section(&pending_lock, depth)
    return 0 if done else not_completed(name)


cdef int describe_value(Operand* operand, PendingChain chain, int value, char* data) noexcept:
    """A leaf, or the result of a step, as an operand."""
    if value >= MOST_LEAVES:
        return describe_result(operand, chain, value - MOST_LEAVES, data)
    operand.data, operand.code, operand.ndim = data, chain.leaf[value].code, chain.ndim
    operand.shape, operand.strides = chain.shape, chain.leaf[value].strides
    return 0


cdef int describe_result(Operand* operand, PendingChain chain, int step, char* data) noexcept:
    operand.data, operand.code, operand.ndim = data, result_code(chain.steps[step].kernel), chain.ndim
    operand.shape, operand.strides = chain.shape, &chain.strides[step][0]
    return 0


cdef int describe_steps(
    Chain* program, PendingChain chain, char** known, const int* outputs, int count, Reduction* reduction, Operand* operands
) noexcept:
    """Fill in the leaves, steps and stored values that outputs, and a reduction after them, need; and operands for the leaves."""
    cdef bint live[MOST_LEAVES + MAX_STEPS]
    cdef bint stored[MAX_STEPS]     # an output, or what a reduction reads in an order of its own
    cdef int value[MOST_LEAVES + MAX_STEPS]
    cdef int s, q, k, o, run = 0
    cdef Leaf* leaf
    cdef Step* step
    for k in range(MOST_LEAVES + chain.count):
        live[k] = False
    for s in range(chain.count):
        stored[s] = False
    for o in range(count):
        live[MOST_LEAVES + outputs[o]] = stored[outputs[o]] = True
    if reduction is not NULL:
        for q in range(inputs_of(reduction.kernel)):
            k = reduction.inputs[q]
            live[k] = True
            if k >= MOST_LEAVES and not is_in_place(chain, k - MOST_LEAVES):
                stored[k - MOST_LEAVES] = True
    for s in range(chain.count - 1, -1, -1):
        if live[MOST_LEAVES + s] and known[s] is NULL:
            run += stored[s] or not is_copy(chain.steps[s].kernel)
            for q in range(inputs_of(chain.steps[s].kernel)):
                live[chain.steps[s].inputs[q]] = True
    program.leaves = program.constants = program.count = 0
    if run == 1 and count == 1 and reduction is NULL:
        return describe_one(program, chain, known, outputs[0], operands)
    for k in range(chain.leaves):
        if live[k]:
            leaf = &chain.leaf[k]
            if leaf.storage is NULL:
                continue
            describe_value(&operands[program.leaves], chain, k, leaf.data)
            value[k] = program.leaves
            program.leaves += 1
    for s in range(chain.count):
        if live[MOST_LEAVES + s] and known[s] is not NULL:
            describe_result(&operands[program.leaves], chain, s, known[s])
            value[MOST_LEAVES + s] = program.leaves
            program.leaves += 1
    for k in range(chain.leaves):
        leaf = &chain.leaf[k]
        if live[k] and leaf.storage is NULL:
            program.constant[program.constants], program.constant_code[program.constants] = leaf.value, leaf.code
            value[k] = program.leaves + program.constants
            program.constants += 1
    for s in range(chain.count):
        if not live[MOST_LEAVES + s] or known[s] is not NULL:
            continue
        if not stored[s] and is_copy(chain.steps[s].kernel):
            # Who reads the copy of a value reads the value.
            value[MOST_LEAVES + s] = value[chain.steps[s].inputs[0]]
            continue
        step = &program.steps[program.count]
        step.kernel = chain.steps[s].kernel
        for q in range(inputs_of(step.kernel)):
            step.inputs[q] = value[chain.steps[s].inputs[q]]
        # A value is computed once, however often it is asked for.
        k = 0
        while not is_same_step(&program.steps[k], step):
            k += 1
        value[MOST_LEAVES + s] = program.leaves + program.constants + k
        program.count += k == program.count
    for o in range(count):
        program.stored[o] = value[MOST_LEAVES + outputs[o]]
    if reduction is not NULL:
        step = &program.steps[program.count]
        step.kernel = reduction.kernel
        for q in range(inputs_of(reduction.kernel)):
            step.inputs[q] = value[reduction.inputs[q]]
        program.count += 1
    return 0


cdef inline bint is_copy(Kernel kernel) noexcept:
    return kernel.kind == KIND_CAST and kernel.row == kernel.code


cdef bint is_in_place(PendingChain chain, int s) noexcept:
    """Whether a step has elements that lie as those of its first operand do: a reduction reads both in the same order."""
    cdef int k = chain.steps[s].inputs[0]
    cdef const Py_ssize_t* strides = &chain.leaf[k].strides[0] if k < MOST_LEAVES else &chain.strides[k - MOST_LEAVES][0]
    return memcmp(strides, &chain.strides[s][0], chain.ndim * sizeof(Py_ssize_t)) == 0


cdef int describe_one(Chain* program, PendingChain chain, char** known, int s, Operand* operands) noexcept:
    """The same of one step, whose operands are leaves of the program in their order."""
    cdef int q, k
    cdef Leaf* leaf
    program.steps[0].kernel = chain.steps[s].kernel
    program.leaves, program.count = inputs_of(chain.steps[s].kernel), 1
    for q in range(program.leaves):
        k = chain.steps[s].inputs[q]
        while k >= MOST_LEAVES and known[k - MOST_LEAVES] is NULL:
            k = chain.steps[k - MOST_LEAVES].inputs[0]      # a copy
        if k >= MOST_LEAVES:
            describe_result(&operands[q], chain, k - MOST_LEAVES, known[k - MOST_LEAVES])
        else:
            leaf = &chain.leaf[k]
            describe_value(&operands[q], chain, k, &leaf.value[0] if leaf.storage is NULL else leaf.data)
        program.steps[0].inputs[q] = q
    program.stored[0] = program.leaves
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
    enter_pending()
    try:
        return {"pending": len(pending_chains()), "passes": passes, "steps": steps_run, "bytes_saved": bytes_saved}
    finally:
        leave_pending()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_other_threads)
hooks.evaluate = evaluate
hooks.evaluate_readers = evaluate_readers
hooks.evaluate_chain = evaluate_chain
