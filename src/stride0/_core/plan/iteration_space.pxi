# The iteration space of a call and the strides of its operands in it, computed by functions on plain C structs.
#
# `broadcast` finds the common shape, `set_strides` gives each operand a stride per axis (0 where it is
# broadcast), `order_axes` puts the fastest-moving axis innermost, `result_strides` is the memory order of
# a new result, `coalesce` merges axes that are one contiguous run. None of them touches a Python object.

cdef int broadcast(const Operand* operands, int nop, Py_ssize_t* shape, int* ndim) noexcept nogil:
    """Write the common shape of the operands; returns 0, or the (negative) axis whose sizes do not broadcast."""
    cdef int k, back, deepest = 0
    cdef Py_ssize_t size, found
    for k in range(nop):
        if operands[k].ndim > deepest:
            deepest = operands[k].ndim
    for back in range(1, deepest + 1):
        size = 1
        for k in range(nop):
            if back <= operands[k].ndim:
                found = operands[k].shape[operands[k].ndim - back]
                if found != 1:
                    if size != 1 and size != found:
                        return -back
                    size = found
        shape[deepest - back] = size
    ndim[0] = deepest
    return 0


cdef Py_ssize_t stride_at(const Operand* operand, int back) noexcept nogil:
    """Stride of an operand along an axis counted from the last one; 0 if the axis is broadcast or missing."""
    if back > operand.ndim or operand.shape[operand.ndim - back] == 1:
        return 0
    return operand.strides[operand.ndim - back]


cdef void set_strides(Plan* plan, const Operand* operands, int nop, const Py_ssize_t* shape, int ndim) noexcept nogil:
    """Set the axes of more than one element, innermost first, and the strides of the first `nop` operands."""
    cdef int k, axis
    plan.nop = 0
    plan.ndim = 0
    for axis in range(ndim - 1, -1, -1):
        if shape[axis] != 1:
            plan.axis[plan.ndim] = axis
            plan.shape[plan.ndim] = shape[axis]
            plan.ndim += 1
    plan.pitch = plan.ndim
    for k in range(nop):
        set_result(plan, &operands[k], shape, ndim)


cdef void set_result(Plan* plan, const Operand* result, const Py_ssize_t* shape, int ndim) noexcept nogil:
    """Add the result as the last operand of a plan whose axes are already ordered."""
    cdef int d, k = plan.nop
    add_operand(plan, result.data, result.code)
    for d in range(plan.ndim):
        plan.strides[k][d] = stride_at(result, ndim - plan.axis[d])


cdef int compare_axes(const Plan* plan, int first, int second, bint result_first) noexcept nogil:
    """
    Whether an axis belongs outside (1) or inside (-1) of another axis; 0 if no operand decides.

    The first operand whose strides differ decides; a given result comes before the operands, since the
    memory order of writes matters most. A stride of 0 is compatible with any order.
    """
    cdef int turn, k
    cdef Py_ssize_t one, two
    for turn in range(plan.nop):
        k = turn
        if result_first:
            k = plan.nop - 1 if turn == 0 else turn - 1
        one, two = plan.strides[k][first], plan.strides[k][second]
        one = -one if one < 0 else one
        two = -two if two < 0 else two
        if one == 0 or two == 0 or one == two:
            continue
        return 1 if one > two else -1
    return 0


cdef void swap_axes(Plan* plan, int first, int second) noexcept nogil:
    cdef int k
    plan.axis[first], plan.axis[second] = plan.axis[second], plan.axis[first]
    plan.shape[first], plan.shape[second] = plan.shape[second], plan.shape[first]
    for k in range(plan.nop):
        plan.strides[k][first], plan.strides[k][second] = plan.strides[k][second], plan.strides[k][first]


cdef void order_axes(Plan* plan, bint result_first) noexcept nogil:
    """
    Order the axes, the axis with the smallest strides innermost: Note [Order of axes].

    An insertion sort, because the comparison is not transitive if strides are 0: an axis moves inwards past each axis that
    must be outside of it, and stops at an axis that must be inside of it.
    """
    cdef int start, there, here, order
    for start in range(1, plan.ndim):
        here = start
        for there in range(start - 1, -1, -1):
            order = compare_axes(plan, there, here, result_first)
            if order > 0:
                # The axes in between are undecided against both; swaps keep them in between.
                swap_axes(plan, there, here)
                here = there
            elif order < 0:
                break


cdef void innermost(Plan* plan, int axis) noexcept nogil:
    """Move a logical axis innermost, whatever its stride: kernels that run along an axis need it there."""
    cdef int d, at = -1
    for d in range(plan.ndim):
        if plan.axis[d] == axis:
            at = d
    for d in range(at, 0, -1):
        swap_axes(plan, d, d - 1)


cdef void result_strides(const Plan* plan, const Py_ssize_t* shape, int ndim, Py_ssize_t itemsize, Py_ssize_t* strides) noexcept nogil:
    """Strides of a new result whose memory order is the order of the plan's axes."""
    cdef int d, axis
    cdef Py_ssize_t stride = itemsize
    for d in range(plan.ndim):
        strides[plan.axis[d]] = stride
        stride *= plan.shape[d] if plan.shape[d] > 0 else 1
    # The stride of an axis of size 1 is arbitrary; use the stride in C order.
    stride = itemsize
    for axis in range(ndim - 1, -1, -1):
        if shape[axis] == 1:
            strides[axis] = stride
        elif shape[axis] * strides[axis] > stride:
            stride = shape[axis] * strides[axis]


cdef void coalesce(Plan* plan, int first) noexcept nogil:
    """Merge adjacent axes, from the axis `first` of the plan on, if they are one run in every operand."""
    cdef int d, k, last = first
    cdef bint one_run
    if plan.ndim <= first + 1:
        return
    for d in range(first + 1, plan.ndim):
        one_run = True
        for k in range(plan.nop):
            if plan.strides[k][d] != plan.shape[last] * plan.strides[k][last]:
                one_run = False
                break
        if one_run:
            plan.shape[last] *= plan.shape[d]
        else:
            last += 1
            plan.axis[last] = plan.axis[d]
            plan.shape[last] = plan.shape[d]
            for k in range(plan.nop):
                plan.strides[k][last] = plan.strides[k][d]
    plan.ndim = last + 1


cdef bint as_rows(Plan* plan, int axis, bint contiguous) noexcept nogil:
    """
    Move a logical axis next to the innermost axis; merge as many other axes as possible with the innermost one.

    False, with nothing done, if the axis is the innermost one, or if rows have to be `contiguous` but are not in some
    operand.
    """
    cdef int d, k, at = 0
    cdef Py_ssize_t size
    cdef Py_ssize_t saved[MAX_VIEWS]
    for d in range(plan.ndim):
        if plan.axis[d] == axis:
            at = d
    for k in range(plan.nop):
        if contiguous and plan.strides[k][0] != itemsize_at(plan.code[k]):
            return False
    # Kernels with narrow elements use 32-bit indices within a row.
    if at == 0 or plan.shape[0] < tuning.transposed_side or plan.shape[at] > 0x7FFFFFFF:
        return False
    size = plan.shape[at]
    for d in range(at, plan.ndim - 1):
        swap_axes(plan, d, d + 1)
    plan.ndim -= 1
    for k in range(plan.nop):
        saved[k] = plan.strides[k][plan.ndim]
    coalesce(plan, 0)
    plan.axis[plan.ndim], plan.shape[plan.ndim] = axis, size
    for k in range(plan.nop):
        plan.strides[k][plan.ndim] = saved[k]
    plan.ndim += 1
    for d in range(plan.ndim - 1, 1, -1):
        swap_axes(plan, d, d - 1)
    return True


cdef void extent(const Operand* operand, char** low, char** high) noexcept nogil:
    """The first byte of the memory of an operand, and the byte past its last; equal if the operand is empty."""
    cdef int axis
    cdef Py_ssize_t reach
    low[0] = operand.data
    high[0] = operand.data
    for axis in range(operand.ndim):
        if operand.shape[axis] == 0:
            return
    high[0] += itemsize_at(operand.code)
    for axis in range(operand.ndim):
        reach = (operand.shape[axis] - 1) * operand.strides[axis]
        if reach > 0:
            high[0] += reach
        else:
            low[0] += reach


cdef bint shares_location(const Operand* operand) noexcept nogil:
    """
    Whether two elements may share memory.

    False if each stride, in ascending order, is not less than the extent of the axes of smaller strides. This is
    exact for every view that indexing, permuting and broadcasting make; for other strides it may be True
    although no two elements overlap.
    """
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t stride, size, reach = itemsize_at(operand.code)
    cdef int axis, count = 0, at
    for axis in range(operand.ndim):
        size = operand.shape[axis]
        if size == 0:
            return False
        if size == 1:
            continue
        stride = operand.strides[axis]
        stride = -stride if stride < 0 else stride
        at = count
        while at > 0 and strides[at - 1] > stride:
            strides[at], sizes[at] = strides[at - 1], sizes[at - 1]
            at -= 1
        strides[at], sizes[at] = stride, size
        count += 1
    for axis in range(count):
        if strides[axis] < reach:
            return True
        reach += (sizes[axis] - 1) * strides[axis]
    return False


cdef void copy_plan(Plan* out, const Plan* plan) noexcept nogil:
    """Copy the used parts of a plan."""
    cdef int k
    copy_space(out, plan)
    for k in range(plan.nop):
        add_operand(out, plan.data[k], plan.code[k])
        memcpy(out.strides[k], plan.strides[k], plan.ndim * sizeof(Py_ssize_t))


cdef void copy_space(Plan* out, const Plan* plan) noexcept nogil:
    """Copy the axes of a plan, without its operands."""
    out.nop, out.ndim, out.pitch = 0, plan.ndim, plan.ndim
    memcpy(out.axis, plan.axis, plan.ndim * sizeof(int))
    memcpy(out.shape, plan.shape, plan.ndim * sizeof(Py_ssize_t))
