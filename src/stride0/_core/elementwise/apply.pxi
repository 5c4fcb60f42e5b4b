# How planned elementwise operations run: into which memory, and by which functions of the planner.

cdef enum:
    MAX_ARGUMENTS = 8   # of `new_result`


cdef int check_guard(str name, tuple names, tuple arrays, int ndim, const Py_ssize_t* shape) except -1:
    """Check the operands of an elementwise operation, which broadcast to a shape, against the mode of broadcasting."""
    if is_restricted():
        # Python scalars have no shape to broadcast.
        pairs = [(label, shape_tuple(<Array>x)) for label, x in zip(names, arrays) if not (<Array>x).weak]
        enforce_current_mode(name, pairs, tuple([shape[axis] for axis in range(ndim)]))
    return 0


cdef int check_writable(Array out, str operation) except -1:
    """Refuse memory that must not be written to; nothing deferred reads it afterwards."""
    cdef Operand view
    if out.storage.batched:
        # The memory of the batch is checked when its rule writes to it.
        return 0
    before_write(out)
    if out.storage.readonly:
        raise WriteError(operation, "the array is read-only", (("shape", f"{shape_tuple(out)}"),),
                         "copy it first: x = asarray(x, copy=True)")
    if out.c_contiguous or (out.ndim == 1 and abs(out.strides_[0]) >= itemsize_at(out.code)):
        return 0
    read_operand(&view, out)
    if shares_location(&view):
        raise WriteError(operation, "several elements of the array share one memory location",
                         (("shape", f"{shape_tuple(out)}"), ("strides", f"{strides(out)}")),
                         "copy it first: x = asarray(x, copy=True)")
    return 0


cdef inline int find_extent(Array x, char** low, char** high) except -1:
    """The first byte of the elements of x, and the byte after the last one."""
    cdef Operand view
    if x.c_contiguous:
        low[0] = data_of(x)
        high[0] = low[0] + x.size * itemsize_at(x.code)
    else:
        read_operand(&view, x)
        extent(&view, low, high)
    return 0


cdef bint overlaps(Array out, Array x) except -1:
    """Whether writing `out` element by element could change elements of x that are still to be read."""
    cdef char* low1
    cdef char* high1
    cdef char* low2
    cdef char* high2
    cdef int axis
    if out.storage is not x.storage and out.storage.owner is None and x.storage.owner is None:
        return False
    find_extent(out, &low1, &high1)
    find_extent(x, &low2, &high2)
    if low1 == high1 or low2 == high2 or high1 <= low2 or high2 <= low1:
        return False
    # If x is the same view as `out`, each element is read before it is written.
    if data_of(out) != data_of(x) or out.code != x.code or out.ndim != x.ndim:
        return True
    for axis in range(out.ndim):
        if out.shape_[axis] != x.shape_[axis] or (out.shape_[axis] > 1 and out.strides_[axis] != x.strides_[axis]):
            return True
    return False


cdef Array copied(Array x, str name):
    """An operand in memory of its own."""
    return apply(cast_kernel(x.code, x.code), x.code, 1, x, None, None, None, False, name, UNARY_NAMES)


cdef inline Array apply_new(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, str name, tuple names):
    """`apply` with a new result, inline as `trivial` is."""
    cdef Array out = trivial(kernel, out_code, nin, x1, x2, x3, None)
    return apply_planned(kernel, out_code, nin, x1, x2, x3, None, False, name, names) if out is None else out


cdef Array apply(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names):
    """
    Run an elementwise operation: Note [Trivial case], or the planner.

    Operands of other dtypes than the kernel's are cast. `out_code` is the dtype of a new result, `out` the array to write to
    or None for a new array, `names` the names of the operands.
    `keep`: `out` is visible to others, so that a signal must not leave it half written: a long computation
    writes to a new array first.
    """
    cdef Array done
    if out is None:
        return apply_new(kernel, out_code, nin, x1, x2, x3, name, names)
    check_writable(out, name)
    if x1 is not out and overlaps(out, x1):
        x1 = copied(x1, name)
    if nin > 1 and overlaps(out, x2):
        x2 = copied(x2, name)
    if nin > 2 and overlaps(out, x3):
        x3 = copied(x3, name)
    done = trivial(kernel, out_code, nin, x1, x2, x3, out)
    return apply_planned(kernel, out_code, nin, x1, x2, x3, out, keep, name, names) if done is None else done


cdef Array apply_planned(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names):
    """`apply` by the functions of the planner in their order."""
    cdef Operand operands[MAX_OPERANDS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t size
    cdef int ndim
    cdef bint done, pending
    cdef PyThreadState* thread
    cdef Array target = None
    describe_operand(&operands[0], x1)
    if nin > 1:
        describe_operand(&operands[1], x2)
    if nin > 2:
        describe_operand(&operands[2], x3)
    if out is not None:
        describe_operand(&operands[nin], out)
    if broadcast(operands, nin + (out is not None), shape, &ndim) != 0:
        raise BroadcastError(name, named_shapes(names, x1, x2, x3))
    if guarding and nin > 1:
        check_guard(name, names, (x1, x2, x3)[:nin], ndim, shape)
    if out is not None and (ndim != out.ndim or memcmp(shape, out.shape_, ndim * sizeof(Py_ssize_t)) != 0):
        raise BroadcastError(name, named_shapes(names, x1, x2, x3), (names[0], shape_tuple(out)))
    if keep and takes_long(kernel, out.size):
        try:
            target = new_array(out_code, ndim, shape, NULL, False)
        except MemoryError:  # then a signal waits for the end
            pass
        else:
            keep, target, out = False, out, target
    if out is None:
        size = checked_size(out_code, ndim, shape)
        pending = is_deferred(x1) or (nin > 1 and is_deferred(x2)) or (nin > 2 and is_deferred(x3))
        if (pending or size >= fused_from) and size and defers(size, pending):
            set_strides(&plan, operands, nin, shape, ndim)
            order_axes(&plan, False)
            result_strides(&plan, shape, ndim, itemsize_at(out_code), byte_strides)
            out = defer(kernel, out_code, nin, x1, x2, x3, ndim, shape, byte_strides, name)
            if out is not None:
                return out
    operands[0].data = data_of(x1)
    if nin > 1:
        operands[1].data = data_of(x2)
    if nin > 2:
        operands[2].data = data_of(x3)
    set_strides(&plan, operands, nin, shape, ndim)
    if out is None:
        order_axes(&plan, False)
        result_strides(&plan, shape, ndim, itemsize_at(out_code), byte_strides)
        out = new_array(out_code, ndim, shape, byte_strides, False)
        read_operand(&operands[nin], out)
        set_result(&plan, &operands[nin], shape, ndim)
    else:
        # While operands were computed, a signal handler may have deferred what reads `out`.
        before_write(out)
        read_operand(&operands[nin], out)
        set_result(&plan, &operands[nin], shape, ndim)
        order_axes(&plan, True)
    coalesce(&plan, 0)
    thread = release_lock(out.size)
    done = run_kernel(&plan, kernel, thread is not NULL and not keep)
    take_lock(thread)
    if not done:
        not_completed(name)
    if target is not None:
        return apply(cast_kernel(out_code, out_code), out_code, 1, out, None, None, target, True, name, UNARY_NAMES)
    return out


cdef Array select(Array condition, Array x1, Array x2, int code):
    """`where` of the dtype `code`."""
    return apply_new(where_kernel(code), code, 3, condition, x1, x2, "where", SELECT_NAMES)


def new_result(str name, tuple names, tuple arrays, DType dtype):
    """
    A new array for the result of an elementwise operation that another library computes.

    It has the shape that the operands broadcast to, and their memory order. `names` are the names of the operands, for
    the BroadcastError. The mode of broadcasting is checked by the caller: `check_broadcasting`.
    """
    cdef Operand operands[MAX_ARGUMENTS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int ndim, k, nin = <int>len(arrays)
    if not 0 < nin <= MAX_ARGUMENTS:
        raise ArgumentValueError(name, f"{nin} operands", (), f"one to {MAX_ARGUMENTS}")
    for k in range(nin):
        describe_operand(&operands[k], <Array?>arrays[k])
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError(name, [(label, shape_tuple(<Array>x)) for label, x in zip(names, arrays)])
    # The first operands of a plan decide the order of its axes; more than a kernel has do not fit into one.
    set_strides(&plan, operands, min(nin, MAX_OPERANDS - 1), shape, ndim)
    order_axes(&plan, False)
    result_strides(&plan, shape, ndim, itemsize_at(dtype.code), byte_strides)
    checked_size(dtype.code, ndim, shape)
    return new_array(dtype.code, ndim, shape, byte_strides, False)


def plan_summary(tuple arrays):
    """
    The planner's decisions for one to three arrays whose shapes broadcast: for `stride0.explain`.

    A dict of ``shape`` of the result; ``result_strides`` in elements; ``order``: its axes of more than one element,
    innermost first; ``merged``: the axes after adjacent ones that are one run have been merged, each a
    dict of ``axes``, ``size`` and ``strides`` (in bytes, per operand and of the result); ``layout``: per operand
    and of the result, how the inner loop moves along it.
    """
    cdef Operand operands[MAX_OPERANDS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int ndim, k, d, at = 0, nin = <int>len(arrays), code = -1
    if not 0 < nin < MAX_OPERANDS:
        raise ArgumentValueError("plan_summary", f"{nin} operands", (), f"one to {MAX_OPERANDS - 1}")
    for k in range(nin):
        describe_operand(&operands[k], <Array?>arrays[k])
        code = operands[k].code if code < 0 else promote_codes(code, operands[k].code)
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError("plan_summary", [(f"x{k + 1}", shape_tuple(<Array>x)) for k, x in enumerate(arrays)])
    set_strides(&plan, operands, nin, shape, ndim)
    order_axes(&plan, False)
    result_strides(&plan, shape, ndim, itemsize_at(code), byte_strides)
    # The result is only described, so it has no memory of its own.
    operands[nin].data, operands[nin].code, operands[nin].ndim = NULL, code, ndim
    operands[nin].shape, operands[nin].strides = shape, byte_strides
    set_result(&plan, &operands[nin], shape, ndim)
    order = [plan.axis[d] for d in range(plan.ndim)]
    sizes = [plan.shape[d] for d in range(plan.ndim)]
    coalesce(&plan, 0)
    merged = []
    for d in range(plan.ndim):
        axes, size = [order[at]], sizes[at]
        at += 1
        while size != plan.shape[d]:
            axes.append(order[at])
            size *= sizes[at]
            at += 1
        merged.append({"axes": tuple(axes), "size": plan.shape[d], "strides": tuple([plan.strides[k][d] for k in range(plan.nop)])})
    layout = []
    for k in range(plan.nop):
        stride = plan.strides[k][0] if plan.ndim else itemsize_at(plan.code[k])
        layout.append("broadcast" if stride == 0 else "contiguous" if stride == itemsize_at(plan.code[k]) else "strided")
    return {
        "shape": tuple([shape[d] for d in range(ndim)]),
        "result_strides": tuple([byte_strides[d] // itemsize_at(code) for d in range(ndim)]),
        "order": tuple(order), "merged": merged, "layout": tuple(layout),
    }
