# NumPy's LAPACK: the inner loops of NumPy's generalised ufuncs, called from C.
#
# Note [Loops of NumPy]
#     `numpy.linalg` is Python around generalised ufuncs, each of which has one inner loop for each dtype: a
#     C function that takes pointers, sizes and strides. `PyUFuncObject`, the public structure of a ufunc, points to these
#     loops. Called from here they compute the same bits on views of our memory, with NumPy's LAPACK, whichever that is
#     (OpenBLAS, Accelerate, MKL, its own `lapack_lite`), and without NumPy's Python, which takes ten times as long as
#     a small matrix. The functions of the LAPACK library itself have other names, sizes of integers and orders of memory in
#     every build of NumPy, and each would need workspaces and copies, which these loops make.
#
#     The modules that have the ufuncs are private, so nothing is taken on trust: a loop is used where the ufunc has the
#     expected number of operands and axes, the expected types among its `types`, and the structure says what its
#     attributes say. Otherwise the public functions are called on views (`numpy_loops.py`), which is slower.
#
#     A loop of LAPACK reports failure by the floating-point status "invalid", as it does to NumPy, and writes NaN.
#
#     The threads of the pool share a stack of many matrices of at most shared_loop_side rows and columns. Each result has the same
#     bits as a call with one matrix. For 100 matrices of 4x4, eigh takes 149 microseconds on one thread and 85 on two threads, and
#     eigvalsh takes 80 and 51 microseconds. Larger matrices with few rows or columns are shared only if OpenBLAS can be kept from
#     waking its own threads, which would contend with the threads of the pool: Note [One thread of BLAS].

cdef extern from *:
    """
    #include <fenv.h>
    typedef void (*s0_gufunc_loop)(char **args, const Py_ssize_t *sizes, const Py_ssize_t *strides, void *data);
    /* The first fields of PyUFuncObject in numpy/ufuncobject.h. */
    typedef struct {
        PyObject_HEAD
        int nin, nout, nargs, identity;
        s0_gufunc_loop *functions;
        void **data;
        int ntypes;
    } s0_ufunc;
    #define s0_as_ufunc(object) ((s0_ufunc *)(object))
    """
    ctypedef void (*s0_gufunc_loop)(char** args, const Py_ssize_t* sizes, const Py_ssize_t* strides, void* data) noexcept nogil
    ctypedef struct s0_ufunc:
        int nin, nout, nargs
        s0_gufunc_loop* functions
        void** data
        int ntypes
    s0_ufunc* s0_as_ufunc(object ufunc) noexcept
    int FE_INVALID
    int feclearexcept(int excepts) noexcept nogil
    int fetestexcept(int excepts) noexcept nogil

cdef enum:
    MOST_OPERANDS = 7
    MOST_AXES = 2           # of an operand that a loop computes with: its last ones
    REFUSED = 1 << 30       # status of a loop that lacks memory
    DTYPES = 4

cdef struct Loop:
    s0_gufunc_loop function         # NULL where it was not found
    void* data
    int operands
    int axes[MOST_OPERANDS]         # of each operand: how many sizes it has, and which of them
    int which[MOST_OPERANDS][MOST_AXES]

# By routine, and by the dtype of the first operand: float32, float64, complex64, complex128.
cdef Loop[N_ROUTINES][DTYPES] LOOPS

cdef s0_lock loading_routines = 0
cdef bint has_routines = False

# What loads the ufuncs, and what computes without them.
cdef object load_gufuncs = load_ufuncs
cdef object compute = compute_by_functions


def set_gufuncs(load, by_functions):
    """
    Replace the functions that load the ufuncs of NumPy, and that compute without them. For tests.

    Parameters
    ----------
    load : callable
        Called on first use; returns for each routine None or ``(ufunc, axes, types)``: which sizes the axes of each
        operand have, and the types of its loops.
    by_functions : callable
        Called with the number of a routine, and a list of operands and results; returns whether LAPACK failed.
    """
    global load_gufuncs, compute, has_routines
    load_gufuncs, compute, has_routines = load, by_functions, False


cdef int slot_of(int code) noexcept nogil:
    return 0 if code == FLOAT32 else 1 if code == FLOAT64 else 2 if code == COMPLEX64 else 3


cdef int read_loop(Loop* loop, object ufunc, tuple axes, str types) except -1:
    """Note [Loops of NumPy]: write the loop of a ufunc for certain types, if it has one."""
    cdef s0_ufunc* fields = s0_as_ufunc(ufunc)
    cdef int k, i
    cdef Py_ssize_t place
    if fields.nin != ufunc.nin or fields.nout != ufunc.nout or fields.nargs != len(axes) or fields.ntypes != ufunc.ntypes:
        return 0
    if types not in ufunc.types:
        return 0
    place = ufunc.types.index(types)
    loop.data = NULL if fields.data is NULL else fields.data[place]
    loop.function = fields.functions[place]
    loop.operands = fields.nargs
    for k in range(loop.operands):
        loop.axes[k] = <int>len(axes[k])
        for i in range(loop.axes[k]):
            loop.which[k][i] = axes[k][i]
    return 0


cdef int ask_for_gufuncs() except -1:
    global has_routines
    cdef Loop[N_ROUTINES][DTYPES] found
    cdef int routine, slot
    listed = load_gufuncs()
    if len(listed) != N_ROUTINES:
        raise SystemError(f"set_gufuncs: {len(listed)} routines instead of {N_ROUTINES}")
    for routine in range(N_ROUTINES):
        for slot in range(DTYPES):
            found[routine][slot].function = NULL
            if listed[routine] is not None:
                ufunc, axes, types = listed[routine]
                for name in types:
                    if name[0] == "fdFD"[slot]:
                        read_loop(&found[routine][slot], ufunc, axes, name)
    # Of several threads that ask at once, the first one sets them: what is set is never replaced, as others read it.
    s0_acquire(&loading_routines)
    if not has_routines:
        for routine in range(N_ROUTINES):
            for slot in range(DTYPES):
                LOOPS[routine][slot] = found[routine][slot]
        s0_write_int(has_routines, True)
    s0_leave(&loading_routines)
    return 0


cdef bint has_loop(int routine, int code) except -1:
    """Whether the loop of a routine for a dtype was found."""
    if not s0_read_int(has_routines):
        ask_for_gufuncs()
    return LOOPS[routine][slot_of(code)].function is not NULL


cdef struct Batch:
    const Loop* loop
    char** first            # the operands
    const Py_ssize_t* sizes
    const Py_ssize_t* strides
    # The axes of the batch, the innermost one first, which a loop takes: strides of each operand, and sizes.
    Py_ssize_t steps[MOST_OPERANDS][MAX_NDIM]
    Py_ssize_t counts[MAX_NDIM]
    int outer
    Py_ssize_t extent       # of a chunk along the last of these axes
    char* left              # by chunk: whether it is left to the caller
    int failed
    int refused


cdef int run_items(const Batch* batch, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Call the loop for the items of a range along the outermost axis; whether LAPACK failed for one of them."""
    cdef const Loop* loop = batch.loop
    cdef Py_ssize_t sizes[1 + MOST_OPERANDS * MOST_AXES]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef char* first[MOST_OPERANDS]
    cdef char* args[MOST_OPERANDS]
    cdef int k, axis, last = batch.outer - 1
    memcpy(sizes, batch.sizes, sizeof(sizes))
    sizes[0] = stop - start if last <= 0 else batch.counts[0]
    for axis in range(batch.outer):
        position[axis] = 0
    for k in range(loop.operands):
        first[k] = batch.first[k]
        if last >= 0:
            first[k] += start * batch.steps[k][last]
    if last > 0:
        position[last] = start
    feclearexcept(FE_INVALID)
    while True:
        # Loops move the pointers.
        memcpy(args, first, sizeof(args))
        loop.function(args, sizes, batch.strides, loop.data)
        axis = 1
        while axis <= last:
            position[axis] += 1
            for k in range(loop.operands):
                first[k] += batch.steps[k][axis]
            if position[axis] < (stop if axis == last else batch.counts[axis]):
                break
            if axis == last:
                return fetestexcept(FE_INVALID)
            for k in range(loop.operands):
                first[k] -= position[axis] * batch.steps[k][axis]
            position[axis] = 0
            axis += 1
        if axis > last:
            return fetestexcept(FE_INVALID)


cdef void run_some(void* context, int chunk) noexcept nogil:
    """A chunk of a batch."""
    cdef Batch* batch = <Batch*>context
    cdef Py_ssize_t each = batch.extent
    # A loop that gets no memory raises an error in the thread that runs it.
    batch.left[chunk] = not may_raise()
    if batch.left[chunk]:
        return
    if run_items(batch, chunk * each, min(chunk * each + each, batch.counts[batch.outer - 1])):
        s0_write_int(batch.failed, True)
    with gil:
        if PyErr_Occurred() is not NULL:
            PyErr_Clear()
            s0_write_int(batch.refused, True)


cdef int run_loop(
    const Loop* loop, const Operand* operands, int lead, const Py_ssize_t* shape, int64_t time, bint shared
) noexcept nogil:
    """
    Call a loop for all matrices of a batch of `shape`, to which the leading axes of the operands broadcast.

    `time` is an estimate for one matrix, in nanoseconds. Signals are checked between matrices. If the batch may be `shared`, threads
    share it. Returns a status: whether LAPACK failed for a matrix, or REFUSED.
    """
    cdef Batch batch
    cdef Py_ssize_t sizes[1 + MOST_OPERANDS * MOST_AXES]
    cdef Py_ssize_t strides[MOST_OPERANDS * (1 + MOST_AXES)]
    cdef char* first[MOST_OPERANDS]
    cdef const Operand* operand
    cdef Py_ssize_t chunks
    cdef int k, i, axis, own, threads, place = loop.operands, outer = 0
    cdef bint merged, done
    for k in range(loop.operands):
        operand = &operands[k]
        first[k] = operand.data
        for i in range(loop.axes[k]):
            own = operand.ndim - loop.axes[k] + i
            sizes[1 + loop.which[k][i]] = operand.shape[own]
            strides[place] = operand.strides[own]
            place += 1
    # Merged where every operand allows it.
    for axis in range(lead - 1, -1, -1):
        if shape[axis] == 1:
            continue
        if shape[axis] == 0:
            return 0
        merged = outer > 0
        time *= shape[axis]
        for k in range(loop.operands):
            own = axis - lead + operands[k].ndim - loop.axes[k]
            batch.steps[k][outer] = 0 if own < 0 or operands[k].shape[own] == 1 else operands[k].strides[own]
            merged = merged and batch.steps[k][outer] == batch.steps[k][outer - 1] * batch.counts[outer - 1]
        if merged:
            batch.counts[outer - 1] *= shape[axis]
        else:
            batch.counts[outer] = shape[axis]
            outer += 1
    for k in range(loop.operands):
        strides[k] = batch.steps[k][0] if outer else 0
    batch.loop, batch.first, batch.sizes, batch.strides, batch.outer = loop, first, sizes, strides, outer
    threads = min(threads_for(time), <int>MOST_CALLERS) if outer and shared else 1
    chunks = chunks_for(time, threads) if outer else 1
    if chunks < 2:
        return run_items(&batch, 0, batch.counts[outer - 1] if outer else 1)
    batch.failed = batch.refused = False
    batch.left = <char*>calloc(chunks, 1)
    if batch.left is NULL:
        return REFUSED
    done = run_equal_chunks(run_some, &batch, &batch.extent, batch.counts[outer - 1], chunks, threads)
    for k in range(<int>chunks):
        if done and batch.left[k]:
            run_some(&batch, k)
    free(batch.left)
    # If a part is left, a signal handler has raised an error.
    return 0 if not done else REFUSED if batch.refused else batch.failed


cdef bint call_loop(const Loop* loop, const Operand* operands, Py_ssize_t heavy, int64_t time, bint shared) except -1:
    """`run_loop`, for the batch of the last operand."""
    cdef const Operand* last = &operands[loop.operands - 1]
    cdef int lead = last.ndim - loop.axes[loop.operands - 1]
    cdef int status
    if heavy >= tuning.released_loop_elements:
        with nogil:
            status = run_loop(loop, operands, lead, last.shape, time, shared)
    else:
        status = run_loop(loop, operands, lead, last.shape, 0, False)
    # That memory was refused, or that of a signal handler.
    if PyErr_Occurred() is not NULL:
        return -1
    if status == REFUSED:
        raise MemoryError()
    return status != 0


cdef bint call_lapack(int routine, const Operand* operands, Array a) except -1:
    """Call the loop of a routine for matrices `a`: on one thread each if they have few rows or columns, which several threads share."""
    cdef const Loop* loop = &LOOPS[routine][slot_of(a.code)]
    cdef Py_ssize_t rows = a.shape_[a.ndim - 2], columns = a.shape_[a.ndim - 1], side = max(rows, columns)
    # A rough estimate for the routines that are fast, in nanoseconds.
    cdef int64_t time = 25 * side + side * min(rows, columns) * min(rows, columns) // 2
    # Too few elements for more than one thread of OpenBLAS anyway.
    if side <= tuning.shared_loop_side:
        return call_loop(loop, operands, a.size, time, True)
    if min(rows, columns) > tuning.lapack_alone_side or not begin_alone():
        return call_loop(loop, operands, a.size, time, False)
    try:
        return call_loop(loop, operands, a.size, time, True)
    finally:
        end_alone()


cdef Array aligned_copy(Array x):
    """x, or a copy of it where loops that take aligned elements could not read them."""
    return x if is_aligned(x) else copy_array(x, x.code, True)


cdef bint run_lapack(int routine, tuple arrays) except -1:
    """
    Compute the results of a routine, which are the last of the arrays.

    Whether LAPACK failed for one of the matrices. The operands have the dtypes of a loop; their leading axes broadcast to
    those of the results. For `LSTSQ` `has_loop` must hold: a, b, for each matrix or for all a number, such that singular values
    not larger than it times the largest one count as 0; then the solutions, residuals, ranks and singular values.
    """
    cdef Operand operands[MOST_OPERANDS]
    cdef Array each
    cdef list held = []     # the copies
    cdef int k
    if is_reproducible():
        refuse(routine)
    if not has_loop(routine, (<Array>arrays[0]).code):
        return compute(routine, list(arrays))
    for k, each in enumerate(arrays):
        guard_gradient(each, "linalg")
        each = aligned_copy(each)
        held.append(each)
        read_operand(&operands[k], each)
    return call_lapack(routine, operands, <Array>held[0])
