# Reductions, cumulative operations and arg-reductions: results that several elements accumulate in.
#
# Note [Repeated elements]
#     A broadcast axis of all inputs, with stride 0, repeats one element n times. No kernel runs along it. The result r
#     without this axis becomes n * r for a sum, r ** n for a product, and stays r for a minimum or maximum. So sums of
#     floating-point numbers are more accurate, and may differ in the last bit from sums of a copy. Apart from this, a kernel
#     would give the same result in 64 bits: integers wrap, and infinities, NaN and signed zeros are equal.


cdef dict REDUCTION_NUMBERS = {row.name: number for number, row in enumerate(operations.REDUCTIONS)}
cdef dict SCAN_NUMBERS = {row.name: number for number, row in enumerate(operations.SCANS)}
# The start values of reductions that do not begin with their first element.
cdef dict STARTS = {row.name: row.start for row in operations.REDUCTIONS if row.start is not None}
cdef dict COMPLEX_STARTS = {row.name: row.complex_start for row in operations.REDUCTIONS}
# The same as elements of each dtype.
cdef bint[S0_REDUCTIONS] HAS_START
cdef char[S0_REDUCTIONS][S0_DTYPES][LARGEST_ITEM] START


cdef object start_of(str name, int code):
    return COMPLEX_STARTS[name] if letter_at(code) == c"c" else STARTS[name]


cdef int fill_starts() except -1:
    cdef int number, code
    for name, number in REDUCTION_NUMBERS.items():
        HAS_START[number] = name in STARTS
        for code in range(S0_DTYPES if HAS_START[number] else 0):
            if start_of(name, code) is not None:
                write_scalar(start_of(name, code), code, START[number][code], name)
    return 0


fill_starts()


cdef const char* start_element(int number, int code) noexcept:
    """The element that a reduction of the table begins with, in the dtype of its accumulators; NULL if it begins with its first element."""
    return &START[number][code][0] if HAS_START[number] else NULL


cdef Array accumulate(str name, int nin, Array x, Array x2, tuple axes, bint keepdims, int loop, int out_code):
    """
    Run a reduction: the functions of the planner, with a result of size 1 along the reduced axes.

    Broadcast to the shape of the input, like any operand, the result has stride 0 along those axes, so that all
    elements along them are accumulated in one element.
    """
    cdef PyThreadState* thread
    cdef int number = REDUCTION_NUMBERS[name], acc_code = S0_ACCUMULATOR[number][loop]
    cdef Operand operands[3]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t kept[MAX_NDIM]
    cdef Array total, first
    cdef Py_ssize_t size = 1
    cdef int axis, ndim
    cdef bint empty = False, done
    cdef uint64_t times = 1
    guard_gradient(x, name)
    describe_operand(&operands[0], x)
    if nin > 1:
        guard_gradient(x2, name)
        describe_operand(&operands[1], x2)
    if acc_code < 0:
        raise DTypeError(name, f"Unsupported dtype {dtype_at(loop).name}")
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError(name, named_shapes(BINARY_NAMES, x, x2, None))
    for axis in range(ndim):
        kept[axis] = shape[axis]
    for axis in axes:
        if not 0 <= axis < ndim:
            raise AxisError(name, f"axis {axis} is out of bounds for array with {counted(ndim, 'axis', 'axes')}")
        kept[axis] = 1
        empty = empty or shape[axis] == 0
        if shape[axis] > 1 and is_broadcast_along(&operands[0], axis, ndim) and (nin == 1 or is_broadcast_along(&operands[1], axis, ndim)):
            # Note [Repeated elements]: one of them, multiplied by their number.
            times *= <uint64_t>shape[axis]
            shape[axis] = 1
    if (is_deferred(x) or (nin > 1 and is_deferred(x2))) and x.size and ndim <= MAX_PROGRAM_NDIM and (nin == 1 or same_shape(x, x2)):
        check_codes("copy", acc_code, out_code)
        total = try_to_defer_reduction(reduction_kernel(number, arithmetic_code(loop)), nin, x, x2, axes, keepdims, not HAS_START[number],
                                       &START[number][acc_code][0], out_code, name)
        if total is not None:
            return total
    total = new_array(acc_code, ndim, kept, NULL, False)
    if total.size:
        if name not in STARTS:
            if empty:
                raise ShapeError(name, "x has no elements to choose from", (("x", f"{shape_tuple(x)}"),), "pass an array with elements")
            # The first element along the reduced axes: folding it once more changes no extreme.
            assign_array(total, view_of(x, data_of(x), ndim, kept, x.strides_), name)
        else:
            start = start_of(name, acc_code)
            # Of nothing, -0.0 is 0.
            fill(total, 0 if empty and not start else start, name)
        if not empty:
            operands[0].data = data_of(x)
            if nin > 1:
                operands[1].data = data_of(x2)
            plan_totals(&plan, operands, nin, shape, ndim, total)
            for axis in range(ndim):
                size = size if is_long_run(size) else size * shape[axis]
            thread = release_lock(size)
            done = run_kernel(&plan, reduction_kernel(number, arithmetic_code(loop)), True)
            take_lock(thread)
            if not done:
                not_completed(name)
            if times > 1:
                repeat_total(name, operations.REDUCTIONS[number].repeated, total, times)
    if out_code != acc_code:
        total = copy_array(total, out_code, True)
    return total if keepdims else without_axes(total, axes)


cdef void plan_totals(Plan* plan, Operand* operands, int nin, const Py_ssize_t* shape, int ndim, Array total) noexcept:
    """Plan a reduction of `nin` operands, which broadcast to a shape, into the accumulators `total`."""
    set_strides(plan, operands, nin, shape, ndim)
    order_axes(plan, False)
    read_operand(&operands[nin], total)
    set_result(plan, &operands[nin], shape, ndim)
    coalesce(plan, 0)


cdef int repeat_total(str name, str repeated, Array total, uint64_t times) except -1:
    """Note [Repeated elements]: turn the result of a reduction into the result for elements that each occur `times` times."""
    cdef Array count, part
    cdef int half
    if repeated == "multiply":
        if letter_at(total.code) == c"c":
            # By components: in a complex product, infinity times the imaginary part 0 of the factor gives NaN.
            for half in range(2):
                part = component(total, 8 * half)
                in_place(OP_MULTIPLY, part, <double>times, name)
        elif letter_at(total.code) == c"f":
            in_place(OP_MULTIPLY, total, <double>times, name)
        else:
            count = new_array(UINT64, 0, NULL, NULL, False)
            (<uint64_t*>data_of(count))[0] = times
            in_place(OP_MULTIPLY, total, copy_array(count, total.code, True), name)
    elif repeated == "power":
        raise_total(total, times)
    return 0


cdef int raise_total(Array total, uint64_t times) except -1:
    """total **= times, by squaring: integers wrap; signs, infinities and NaN are as in a product of `times` factors."""
    cdef Array square = copy_array(total, total.code, True)
    cdef bint first = True
    while times:
        if times & 1:
            if first:
                assign_array(total, square, "prod")
            else:
                in_place(OP_MULTIPLY, total, square, "prod")
            first = False
        times >>= 1
        if times:
            square = <Array>binary(OP_MULTIPLY, square, square, "multiply", False)
    return 0


cdef Array reduce_array(str name, Array x, tuple axes, bint keepdims, object dtype):
    cdef int loop = x.code, number = REDUCTION_NUMBERS[name]
    cdef int out_code
    if dtype is None:
        out_code = S0_REDUCED[number][x.code]
    else:
        out_code = (<DType?>dtype).code
        if S0_ACCUMULATOR[number][out_code] != S0_ACCUMULATOR[number][x.code] and operations.REDUCTIONS[number].rounded:
            # Elements are cast before they are added; a bool has no sum of its own.
            loop = out_code if out_code != BOOL else x.code
            check_codes(name, x.code, loop)
    return accumulate(name, 1, x, None, axes, keepdims, loop, out_code)


def reduce(str name, Array x not None, tuple axes, bint keepdims, dtype=None):
    """
    Reduce x over axes, which are not negative, by an operation of the table of one operand.

    "min" and "max" need at least one element along the axes. With a dtype, elements are cast to it first.
    """
    return reduce_array(name, x, axes, keepdims, dtype)


cdef Py_ssize_t run_stride(Array x) noexcept:
    """The stride of all elements in the order in which a plan reads them, where that is one run of it; else 0."""
    if x.c_contiguous or is_f_contiguous(x):
        return itemsize_at(x.code)
    return x.strides_[0] if x.ndim == 1 else 0


cpdef Array reduce_whole(str name, Array x):
    """
    `reduce` of x over all axes, to the dtype that the standard gives such a result.

    One run needs no plan, as in Note [Trivial case].
    """
    cdef int number = REDUCTION_NUMBERS[name], code = arithmetic_code(x.code), acc_code = S0_ACCUMULATOR[number][x.code]
    cdef int out_code = S0_REDUCED[number][x.code]
    cdef Array total
    cdef Py_ssize_t strides[2]
    cdef char* args[2]
    cdef bint done
    strides[0], strides[1] = run_stride(x), 0
    # Note [Partitions]: from `long_run_elements` on, the partition decides the order of sums, and the planner the order of strided sums.
    if is_deferred(x) or x.size == 0 or acc_code < 0 or strides[0] == 0 or (is_long_run(x.size) and (code != x.code or strides[0] != itemsize_at(code))):
        return reduce_array(name, x, tuple(range(x.ndim)), False, None)
    guard_gradient(x, name)
    if code != x.code:
        x = copy_array(x, code, False)
        strides[0] = run_stride(x)
    total = new_array(acc_code, 0, NULL, NULL, False)
    # The first element, folded once more, changes no extreme.
    copy_item(data_of(total), start_element(number, acc_code) if HAS_START[number] else data_of(x), acc_code)
    args[0], args[1] = data_of(x), data_of(total)
    if not is_long_run(x.size):
        loops_of(reduction_kernel(number, code))[0 if strides[0] == itemsize_at(code) else 1](args, strides, strides, x.size, 1)
    else:
        # Not `run_contiguous`: fixed chunks have accumulators, for which there may be no memory.
        with nogil:
            done = run_axis(reduction_kernel(number, code), args, strides, x.size)
        if not done:
            not_completed(name)
    return total if out_code == acc_code else copy_array(total, out_code, True)


cpdef Array mean_of_total(Array total, double count, DType dtype=None):
    """
    Sums, fresh from a reduction and contiguous, divided in place by the number of elements of each.

    The sums are of float64 or complex128; the result is of that dtype, of the one of half its precision, which is infinite
    where the sum is, or of a storage dtype, which is rounded to once.
    """
    cdef Py_ssize_t n = total.size if total.code == FLOAT64 else 2 * total.size
    cdef int code = total.code if dtype is None else dtype.code
    cdef Array out = total
    if is_deferred(total) and divide_pending(total, count, code):
        return total
    if code != total.code and not is_stored(code):
        out = new_like(total, code)
    divide_sums(<double*>data_of(total), data_of(out), out.code != total.code, count, n)
    return out if out.code == code else copy_array(out, code, True)



# Deviations below the mean times this, and the root of their number, are such that the rounding of the mean shows in them.
OFF_CENTRE = 2.0**-20


def reduce2(str name, Array x not None, Array other not None, tuple axes, bint keepdims, dtype=None):
    """Reduce two operands, which broadcast, by an operation of the table."""
    cdef int code = promote_codes(x.code, other.code)
    cdef int acc = S0_ACCUMULATOR[<int>REDUCTION_NUMBERS[name]][code]
    return accumulate(name, 2, x, other, axes, keepdims, code, acc if dtype is None else (<DType?>dtype).code)


cdef int check_axis(Array x, int axis, str name) except -1:
    if not 0 <= axis < x.ndim:
        raise AxisError(name, f"axis {axis} is out of bounds for array with {counted(x.ndim, 'axis', 'axes')}")
    return 0


cpdef Array scan(str name, Array x, int axis, DType dtype, bint include_initial):
    """Cumulative operation along an axis; with the identity in front where `include_initial` asks for it."""
    cdef int number = SCAN_NUMBERS[name]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Array out, target
    cdef Operand operands[2]
    cdef Plan plan
    check_axis(x, axis, name)
    guard_gradient(x, name)
    if is_stored(dtype.code):
        # In the accumulator's dtype, so that each result is rounded once.
        return copy_array(scan(name, x, axis, dtype_at(FLOAT64), include_initial), dtype.code, False)
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    if include_initial:
        shape[axis] += 1
    out = new_array(dtype.code, x.ndim, shape, NULL, False)
    target = out
    if include_initial:
        shape[axis] = 1
        assign_array(view_of(out, data_of(out), out.ndim, shape, out.strides_),
                     scalar_array(1 if name == "cumulative_prod" else 0, dtype.code, name), name)
        target = view_of(out, data_of(out) + out.strides_[axis], out.ndim, x.shape_, out.strides_)
    if x.size == 0:
        return out
    if x.code != dtype.code or x.shape_[axis] == 1:
        # A cast goes to where the result comes, and is overwritten by that.
        assign_array(target, x, name)
        if x.shape_[axis] == 1:
            return out
        x = target
    read_operand(&operands[0], x)
    read_operand(&operands[1], target)
    run_on_axis(&plan, operands, x, axis, kernel_of(KIND_SCAN, number, dtype.code), kernel_of(KIND_SCAN_ROWS, number, dtype.code))
    return out


cdef int run_on_axis(Plan* plan, Operand* operands, Array x, int axis, Kernel kernel, Kernel rows) except -1:
    """
    Run a kernel along an axis of x that is longer than 1, for every position of the other axes.

    `rows` is the kernel that runs over rows along another axis, if that axis has smaller strides. For a cumulative operation, it
    runs only over contiguous rows.
    """
    cdef PyThreadState* thread
    cdef int whole = 1
    cdef bint done
    set_strides(plan, operands, 1, x.shape_, x.ndim)
    order_axes(plan, False)
    set_result(plan, &operands[1], x.shape_, x.ndim)
    if not as_rows(plan, axis, rows.kind == KIND_SCAN_ROWS):
        whole = 0
        innermost(plan, axis)
        coalesce(plan, 1)
    thread = release_lock(x.size)
    done = run_along(plan, rows if whole else kernel, whole)
    take_lock(thread)
    return 0 if done else -1  # with the exception of a signal handler


cpdef Array argreduce(str name, Array x, int axis, bint keepdims):
    """Index along an axis of the first extreme; of the first NaN where there is one."""
    cdef int which = 0 if name == "argmax" else 1
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t outer[2]
    cdef char* args[2]
    cdef Operand operands[2]
    cdef Plan plan
    cdef Array out
    cdef int k, kept = 0
    check_axis(x, axis, name)
    for k in range(x.ndim):
        if keepdims or k != axis:
            shape[kept] = 1 if k == axis else x.shape_[k]
            kept += 1
    out = new_array(INT64, kept, shape, NULL, True)
    # Along an axis of size 1 the index is 0, as initialised.
    if x.size and x.shape_[axis] > 1:
        if is_stored(x.code):
            x = copy_array(x, arithmetic_code(x.code), False)
        if x.strides_[axis] and ((x.ndim == 1 and not is_long_run(x.size)) or (x.ndim == 2 and x.size <= tuning.unplanned_arg_elements)):
            args[0], args[1] = data_of(x), data_of(out)
            byte_strides[0], byte_strides[1] = x.strides_[axis], 0
            outer[0], outer[1] = x.strides_[1 - axis] if x.ndim == 2 else 0, itemsize_at(INT64)
            loops_of(kernel_of(KIND_ARG, which, x.code))[0](args, byte_strides, outer, x.shape_[axis], x.size // x.shape_[axis])
            return out
        read_operand(&operands[0], x)
        if is_broadcast_along(&operands[0], axis, x.ndim):
            # The first of equal elements is at index 0.
            return out
        read_operand(&operands[1], out)
        memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
        shape[axis] = 1
        c_strides_of(itemsize_at(INT64), x.ndim, shape, byte_strides)
        operands[1].ndim, operands[1].shape, operands[1].strides = x.ndim, shape, byte_strides
        run_on_axis(&plan, operands, x, axis, kernel_of(KIND_ARG, which, x.code), kernel_of(KIND_ARG_ROWS, which, x.code))
    return out
