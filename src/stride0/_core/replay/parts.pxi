# Calls of kernels with fixed strides. Included in `replay.pyx`.

cdef enum:
    SCALAR_ROOM = 16    # bytes of an element

# One call of a kernel: its operands and its result lie at addresses plus offsets in bytes. An address has the number of a slot,
# or follows the slots: Note [Prepared steps].
cdef struct Part:
    s0_loop loop                # NULL for a product of matrices
    Py_ssize_t n, m             # the elements along two axes, and the strides along them
    int count                   # the number of operands, including the result
    int algorithm
    int address[4]
    int offset[4]
    Py_ssize_t inner[4]
    Py_ssize_t outer[4]
    # The last fields are in other cache lines, because most parts do not read them.
    Py_ssize_t k                # the elements along a third axis, and the strides
    Py_ssize_t third[4]
    Product* product

# Memory without a slot: a Python scalar in a dtype, an element, or accumulators.
cdef struct Room:
    Py_ssize_t slot             # of the Python scalar; -1 for other memory
    PyObject* given             # the scalar's type if the scalar varies between calls; NULL for an element
    int code
    Py_ssize_t place            # in the block; -1 for `value`
    char value[SCALAR_ROOM]
    bint late                   # whether the scalar is the result of a step


cdef int run_part(Part* part, char** addresses) except -1:
    cdef char* args[4]
    cdef Product product
    cdef Py_ssize_t k
    cdef int j
    for j in range(part.count):
        args[j] = addresses[part.address[j]] + part.offset[j]
    if part.loop is NULL:
        product = part.product[0]
        product.left, product.right, product.out = args[0], args[1], args[2]
        return run_products(&product, product.code, part.algorithm)
    part.loop(args, part.inner, part.outer, part.n, part.m)
    for k in range(1, part.k):
        for j in range(part.count):
            args[j] += part.third[j]
        part.loop(args, part.inner, part.outer, part.n, part.m)
    return 0


cdef bint set_loop(Part* part, const Plan* plan, Kernel kernel, bint folds) noexcept:
    """Describe the call of a kernel that reads all operands directly; False if the plan has more than three axes."""
    cdef int k, last = plan.nop - 1
    # A fold of rows into several rows goes along the first axis only.
    cdef int axis = 1 if plan.ndim > 1 and not (folds and plan.strides[last][0] != 0 and plan.strides[last][1] != 0) else 0
    cdef int other = plan.ndim - 1 if plan.ndim > 1 + axis else 0
    if plan.ndim > 2 + axis:
        return False
    part.count = plan.nop
    part.n = plan.shape[0] if plan.ndim else 1
    part.m = plan.shape[axis] if axis else 1
    part.k = plan.shape[other] if other else 1
    for k in range(plan.nop):
        part.inner[k] = plan.strides[k][0] if plan.ndim else 0 if folds and k == last else itemsize_at(plan.code[k])
        part.outer[k] = plan.strides[k][axis] if axis else 0
        part.third[k] = plan.strides[k][other] if other else 0
    part.loop = loops_of(kernel)[layout_of(kernel, part.inner)]
    return part.loop is not NULL


cdef bint plan_loop(Part* part, Kernel kernel, Operand* operands, int nin) noexcept:
    """Plan a kernel whose operands and result have the dtypes of the kernel."""
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int ndim, k
    for k in range(nin + 1):
        operands[k].data = NULL
    if broadcast(operands, nin, shape, &ndim) != 0 or ndim != operands[nin].ndim:
        return False
    set_strides(&plan, operands, nin, shape, ndim)
    order_axes(&plan, False)
    set_result(&plan, &operands[nin], shape, ndim)
    coalesce(&plan, 0)
    return set_loop(part, &plan, kernel, False)


cdef bint plan_fold(Part* part, Kernel kernel, Operand* operands, int nin, tuple axes, Array total) except -1:
    """Plan a reduction into the accumulators `total`, with the axes that `accumulate` would pass to the kernel."""
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int ndim, k, axis
    for k in range(nin):
        operands[k].data = NULL
    if broadcast(operands, nin, shape, &ndim) != 0:
        return False
    for axis in axes:
        # Note [Repeated elements]
        if shape[axis] > 1 and is_broadcast_along(&operands[0], axis, ndim) and (nin == 1 or is_broadcast_along(&operands[1], axis, ndim)):
            return False
    plan_totals(&plan, operands, nin, shape, ndim, total)
    # Adjacent short rows are merged: see `widened`.
    if plan.ndim == 2 and plan.strides[nin][0] != 0 and plan.strides[nin][1] == 0 and plan.shape[1] >= 16:
        return False
    return set_loop(part, &plan, kernel, True)


cdef void fold_run(Part* part, Kernel kernel, Py_ssize_t stride, Py_ssize_t size, int code) noexcept:
    """Describe a reduction of one run, as `reduce_whole` calls the kernel."""
    part.count, part.n, part.m, part.k = 2, size, 1, 1
    part.inner[0] = part.outer[0] = stride
    part.inner[1] = part.outer[1] = 0
    part.loop = loops_of(kernel)[0 if stride == itemsize_at(code) else 1]


cdef Py_ssize_t[MAX_NDIM] NO_STRIDES
cdef char[SCALAR_ROOM] ZERO
memset(ZERO, 0, sizeof(ZERO))
memset(NO_STRIDES, 0, sizeof(NO_STRIDES))


cdef bint is_small_array(Array x) noexcept:
    return x is not None and x.size > 0 and not is_long_run(x.size)


cdef bint is_copied(int code, int target) noexcept:
    """Whether a cast is a plain copy or gives a floating-point number."""
    if is_stored(code) or is_stored(target):
        return False
    return code == target or (letter_at(target) == c"f" and letter_at(code) != c"c")


cdef bint is_basic(object key) noexcept:
    """Whether a key consists only of integers, slices, None and `...`."""
    if type(key) is tuple:
        return all([type(item) is not tuple and is_basic(item) for item in key])
    return type(key) is int or key is None or key is Ellipsis or (
        type(key) is slice and all([item is None or type(item) is int for item in (key.start, key.stop, key.step)]))
