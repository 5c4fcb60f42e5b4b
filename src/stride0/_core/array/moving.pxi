# Moving elements as they are or cast: copies, assignment, counting up. Included in `array.pyx`.


cdef int check_cast(int source, int target, str operation) except -1:
    if K.casts[source][target][0] is NULL:
        raise CastError(operation, f"{dtype_at(source).name} cannot be cast to {dtype_at(target).name}", (),
                        "a complex dtype; real(x) or abs(x) give real values")
    return 0


cdef enum:
    SMALL_MATRIX = 512  # elements; larger ones are transposed in blocks


cdef Array copy_array(Array x, int code, bint c_order):
    """A new array of the elements of x, cast; in their memory order, or in C order."""
    cdef Array out = None
    cdef Py_ssize_t inner[2]
    cdef Py_ssize_t outer[2]
    cdef char* args[2]
    guard_gradient(x, "copy")
    check_cast(x.code, code, "copy")
    if c_order and not x.c_contiguous:
        out = new_array(code, x.ndim, x.shape_, NULL, False)
        if x.ndim == 2 and x.size < SMALL_MATRIX:
            # The rows and columns of a small matrix are what a loop takes: there is nothing to plan.
            args[0], inner[0], outer[0] = x.data, x.strides_[1], x.strides_[0]
            args[1], inner[1], outer[1] = out.data, out.strides_[1], out.strides_[0]
            K.casts[x.code][code][3](args, inner, outer, x.shape_[1], x.shape_[0])
            return out
    return apply(cast_kernel(x.code, code), code, 1, x, None, None, out, False, "copy", ONE)


cdef int assign_array(Array dst, Array src, str operation) except -1:
    """`dst[...] = src`: broadcasts and casts."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Operand operands[2]
    cdef int ndim
    guard_gradient(dst, operation)
    guard_gradient(src, operation)
    check_cast(src.code, dst.code, operation)
    operands[0], operands[1] = operand_of(dst), operand_of(src)
    if broadcast(operands, 2, shape, &ndim) != 0 or ndim != dst.ndim or memcmp(shape, dst.shape_, ndim * sizeof(Py_ssize_t)) != 0:
        raise BroadcastError(operation, [("x", shape_tuple(dst)), ("value", shape_tuple(src))], ("x", shape_tuple(dst)))
    if not same_shape(dst, src):
        src = stretched(src, dst)
    apply(cast_kernel(src.code, dst.code), dst.code, 1, src, None, None, dst, True, operation, ONE)
    return 0


cdef Array stretched(Array x, Array like):
    """x broadcast to the shape of `like`, as a view; the caller knows that it fits."""
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int axis, own
    for axis in range(like.ndim):
        own = axis - (like.ndim - x.ndim)
        steps[axis] = 0 if own < 0 or x.shape_[own] == 1 else x.strides_[own]
    return view_of(x, x.data, like.ndim, like.shape_, steps)


def assign(Array dst not None, src, str operation="assign"):
    """`dst[...] = src` for an array or a Python scalar; broadcasts, casts, and copes with shared memory."""
    assign_array(dst, value_operand(dst, src, operation), operation)


cdef Array value_operand(Array dst, object src, str operation):
    """What is assigned, as an array; a Python scalar takes the dtype of the target."""
    if type(src) is Array:
        return <Array>src
    if is_python_scalar(src):
        return weak_array(src, dst.code, operation)
    if isinstance(src, (list, tuple, range)):
        # Python scalars in a sequence must fit the target, as one alone must.
        return from_sequence(src, dst.code, 0)
    return asarray(src)


def copy(Array x not None, dtype=None, str order="K"):
    """A new array of the elements of x, cast where a dtype is given; memory order kept ("K") or "C"."""
    return copy_array(x, x.code if dtype is None else (<DType?>dtype).code, order == "C")


def plan_summary(tuple arrays):
    """
    What the planner does with the operands of an elementwise operation: for `stride0.explain`.

    Parameters
    ----------
    arrays : tuple of Array
        At most three, whose shapes broadcast.

    Returns
    -------
    dict
        ``shape`` of the result; ``result_strides`` in elements; ``order``: its axes of more than one element,
        innermost first; ``merged``: what is left of them when neighbours that are one run are merged, each a
        dict of ``axes``, ``size`` and ``strides`` (in bytes, per operand and of the result); ``layout``: per operand
        and of the result, how the inner loop moves along it.
    """
    cdef Operand operands[MAX_OPERANDS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int ndim, k, d, at = 0, nin = <int>len(arrays), code = -1
    cdef Array result
    if not 0 < nin < MAX_OPERANDS:
        raise ArgumentValueError("plan_summary", f"{nin} operands", (), f"one to {MAX_OPERANDS - 1}")
    for k in range(nin):
        operands[k] = operand_of(<Array?>arrays[k])
        code = operands[k].code if code < 0 else promote_codes(code, operands[k].code)
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError("plan_summary", [(f"x{k + 1}", shape_tuple(<Array>x)) for k, x in enumerate(arrays)])
    set_strides(&plan, operands, nin, shape, ndim)
    order_axes(&plan, False)
    result_strides(&plan, shape, ndim, itemsize_at(code), steps)
    # A result that is only looked at needs no memory of its own.
    result = view_of(new_array(code, 0, NULL, NULL, True), NULL, 0, NULL, NULL)
    operands[nin] = operand_of(result)
    operands[nin].ndim, operands[nin].shape, operands[nin].strides = ndim, shape, steps
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
        step = plan.strides[k][0] if plan.ndim else itemsize_at(plan.code[k])
        layout.append("stretched" if step == 0 else "contiguous" if step == itemsize_at(plan.code[k]) else "strided")
    return {
        "shape": tuple([shape[d] for d in range(ndim)]),
        "result_strides": tuple([steps[d] // itemsize_at(code) for d in range(ndim)]),
        "order": tuple(order), "merged": merged, "layout": tuple(layout),
    }


ctypedef fused number:
    int64_t
    uint64_t
    double


cdef void count_up(number* out, Py_ssize_t n, number start, number step) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = start + <number>i * step


def iota(Array out not None, start, step):
    """Fill a one-dimensional array with `start + i * step`: integers modulo their width, floats in float64."""
    cdef Array work = out
    if out.ndim != 1:
        raise ShapeError("iota", f"the array has {counted(out.ndim, 'axis', 'axes')}", (), "an array of one axis")
    cdef char letter = letter_at(out.code)
    cdef uint64_t first, by
    if letter == c"i" or letter == c"u" or letter == c"b":
        if out.code != UINT64 or not out.c_contiguous:
            work = new_array(UINT64, 1, out.shape_, NULL, False)
        first, by = int(start) & 0xFFFFFFFFFFFFFFFF, int(step) & 0xFFFFFFFFFFFFFFFF
        count_up[uint64_t](<uint64_t*>work.data, work.size, first, by)
    else:
        if out.code != FLOAT64 or not out.c_contiguous:
            work = new_array(FLOAT64, 1, out.shape_, NULL, False)
        count_up[double](<double*>work.data, work.size, start, step)
    if work is not out:
        assign_array(out, work, "iota")
