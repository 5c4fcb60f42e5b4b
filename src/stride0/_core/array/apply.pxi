# The seam: every operation on arrays runs through one of the functions here.
# scalars -> plan -> run. Included in `array.pyx`.

cdef tuple ONE = ("x",)
cdef tuple TWO = ("x1", "x2")


cdef Array scalar_array(object value, int code, str operation):
    """An array without axes that holds a Python scalar."""
    cdef Array x = new_array(code, 0, NULL, NULL, False)
    write_scalar(value, code, x.data, operation)
    return x


cdef Array weak_array(object value, int code, str operation):
    """A Python scalar that an operand is made of: the guard of broadcasts takes no offence at it."""
    cdef Array x = scalar_array(value, code, operation)
    x.weak = True
    return x


cdef object named_shapes(tuple names, Array x1, Array x2, Array x3):
    return [(name, shape_tuple(x)) for name, x in zip(names, (x1, x2, x3))]


cdef int check_writable(Array out, str operation) except -1:
    """Refuse memory that must not be written to."""
    cdef Operand view = operand_of(out)
    if out.storage.readonly:
        raise WriteError(operation, "the array is read-only", (("shape", f"{shape_tuple(out)}"),),
                         "an array of its own memory: copy it first, asarray(x, copy=True)")
    if not out.c_contiguous and shares_location(&view):
        raise WriteError(operation, "several elements of the array share one memory location",
                         (("shape", f"{shape_tuple(out)}"), ("strides", f"{strides(out)}")),
                         "an array of its own memory: copy it first, asarray(x, copy=True)")
    return 0


cdef bint overlaps(Array out, Array x) noexcept:
    """Whether writing `out` element by element could change elements of x that are still to be read."""
    cdef Operand a = operand_of(out), b = operand_of(x)
    cdef char* low1
    cdef char* high1
    cdef char* low2
    cdef char* high2
    cdef int axis
    extent(&a, &low1, &high1)
    extent(&b, &low2, &high2)
    if low1 == high1 or low2 == high2 or high1 <= low2 or high2 <= low1:
        return False
    # The very same elements in the same places are read before they are written.
    if out.data != x.data or out.code != x.code or out.ndim != x.ndim:
        return True
    for axis in range(out.ndim):
        if out.shape_[axis] != x.shape_[axis] or (out.shape_[axis] > 1 and out.strides_[axis] != x.strides_[axis]):
            return True
    return False


cdef int not_completed(str name) except -1:
    """The error of a run that did not complete: what the handler of a signal raised, or that there was no memory."""
    if PyErr_Occurred() is NULL:
        raise MemoryError(f"{name}: no memory for the buffers that operands are cast or transposed in")
    return -1


cdef Array apply(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names):
    """
    Run an elementwise operation: the steps of the planner in their order.

    Operands of other dtypes than the kernel's are cast. `out_code` is the dtype of a new result, `out` the array to write to
    or None for a new one, `names` those of the operands.
    `keep` says that others see `out`, so that a signal must not leave it half written: what computes for long
    writes to a new array first.
    """
    cdef Operand operands[MAX_OPERANDS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int ndim
    cdef bint done
    cdef Array target = None
    if out is not None:
        check_writable(out, name)
        if overlaps(out, x1):
            x1 = copy_array(x1, x1.code, False)
        if nin > 1 and overlaps(out, x2):
            x2 = copy_array(x2, x2.code, False)
        if nin > 2 and overlaps(out, x3):
            x3 = copy_array(x3, x3.code, False)
    operands[0] = operand_of(x1)
    if nin > 1:
        operands[1] = operand_of(x2)
    if nin > 2:
        operands[2] = operand_of(x3)
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError(name, named_shapes(names, x1, x2, x3))
    if MODE.used and (nin > 1 or out is not None):
        check_guard(name, names, (x1, x2, x3)[:nin], ndim, shape)
    if out is not None and (ndim != out.ndim or memcmp(shape, out.shape_, ndim * sizeof(Py_ssize_t)) != 0):
        raise BroadcastError(name, named_shapes(names, x1, x2, x3), (names[0], shape_tuple(out)))
    if keep and out.size >= LONG_RUN and takes_long(kernel, out.size):
        try:
            target = new_array(out_code, ndim, shape, NULL, False)
        except MemoryError:  # then a signal waits for the end
            pass
        else:
            keep, target, out = False, out, target
    set_strides(&plan, operands, nin, shape, ndim)
    if out is None:
        checked_size(out_code, ndim, shape)
        order_axes(&plan, False)
        result_strides(&plan, shape, ndim, itemsize_at(out_code), steps)
        out = new_array(out_code, ndim, shape, steps, False)
        operands[nin] = operand_of(out)
        set_result(&plan, &operands[nin], shape, ndim)
    else:
        operands[nin] = operand_of(out)
        set_result(&plan, &operands[nin], shape, ndim)
        order_axes(&plan, True)
    coalesce(&plan, 0)
    if out.size < LONG_RUN:
        done = run_kernel(&plan, kernel, False)
    else:
        with nogil:
            done = run_kernel(&plan, kernel, not keep)
    if not done:
        not_completed(name)
    if target is not None:
        assign_array(target, out, name)
        return target
    return out


# --- dtypes and operands of the table's operations


cdef object refuse_dtype(int op, str name, int code):
    row = operations.OPS[op]
    accepts = f"{name} takes {row.on} dtypes"
    raise DTypeError(name, f"Unsupported dtype {dtype_at(code).name}", (), accepts)


cdef int loop_for(int op, int code, str name) except -1:
    """Dtype code of the loop that runs operands which combine to `code`."""
    cdef int loop = S0_LOOP[op][code]
    if loop < 0:
        refuse_dtype(op, name, code)
    return loop


cpdef bint is_numpy_scalar(object value):
    """Whether a value is a scalar object of NumPy's: it has a dtype, and unlike an array nothing can be assigned to it."""
    kind = type(value)
    return kind.__module__ == "numpy" and hasattr(kind, "dtype") and hasattr(kind, "item") and not hasattr(kind, "__setitem__")


cdef Array foreign_scalar(object value):
    """A scalar object of NumPy's as an array without axes; None for anything else."""
    return asarray(value) if is_numpy_scalar(value) else None


cdef object refuse_operand(str name, str argument, object value):
    kind = type(value)
    label = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
    raise ForeignArrayError(name, f"{argument} is of type {label}", (), "a stride0 array or a Python scalar; stride0.asarray converts arrays of other libraries")


# Arrays of these libraries would answer our NotImplemented with an array of their own.
cdef tuple FOREIGN_LIBRARIES = ("numpy", "torch", "jaxlib", "jax", "cupy", "dask", "tensorflow", "array_api_strict")


cdef tuple SEQUENCES = (list, tuple, range, str, bytes, bytearray)


cdef bint is_known_foreign(object value):
    for kind in type(value).__mro__:
        if (kind.__module__ or "").partition(".")[0] in FOREIGN_LIBRARIES:
            return True
    return False


def as_array(x, operation, like=None):
    """
    An operand as an array.

    Parameters
    ----------
    x : Array or Python scalar
        The operand; an array comes back as it is.
    operation : str
        Named in the error.
    like : DType, optional
        Dtype that a Python scalar takes part in; its default dtype where there is none.
    """
    if type(x) is Array:
        return x
    if is_python_scalar(x):
        return weak_array(x, scalar_code(x) if like is None else weak_code((<DType>like).code, x), operation)
    found = foreign_scalar(x)
    if found is not None:
        return found
    refuse_operand(operation, "x", x)


cdef object unary(int op, object x, str name):
    """A unary operation of the table."""
    cdef Array a
    if guarding and at_door():
        return unary_door(op, x, name)
    if type(x) is Array:
        a = <Array>x
        if is_followed(a):
            return tracer.unary(op, a, name)
        return unary_raw(op, a, name)
    if is_python_scalar(x):
        return unary_raw(op, scalar_array(x, scalar_code(x), name), name)
    a = foreign_scalar(x)
    if a is None:
        refuse_operand(name, "x", x)
    return unary_raw(op, a, name)


cdef object unary_raw(int op, Array a, str name):
    """The same, whether gradients take an interest or not."""
    cdef Array out
    cdef int loop
    cdef Py_ssize_t steps[MAX_OPERANDS]
    cdef char* args[MAX_OPERANDS]
    loop = loop_for(op, a.code, name)
    if loop == a.code and a.c_contiguous:
        out = new_like(a, S0_OUT[op][loop])
        # Note [Short path]: one run of one dtype needs no plan.
        args[0], args[1] = a.data, out.data
        steps[0], steps[1] = itemsize_at(a.code), itemsize_at(out.code)
        run_contiguous(op_kernel(op, loop), 0, args, steps, a.size)
        return out
    return apply(op_kernel(op, loop), S0_OUT[op][loop], 1, a, None, None, None, False, name, ONE)


cdef bint same_shape(Array a, Array b) noexcept:
    return a.ndim == b.ndim and memcmp(a.shape_, b.shape_, a.ndim * sizeof(Py_ssize_t)) == 0


cdef Array short_binary(int op, Array a, Array b):
    """Note [Short path]: same dtype, same shape, both contiguous; straight to the loop."""
    cdef Array out = new_like(a, S0_OUT[op][a.code])
    cdef Py_ssize_t steps[3]
    cdef char* args[3]
    args[0], args[1], args[2] = a.data, b.data, out.data
    steps[0] = steps[1] = itemsize_at(a.code)
    steps[2] = itemsize_at(out.code)
    run_contiguous(op_kernel(op, a.code), 0, args, steps, a.size)
    return out


cdef enum:
    FEW_CAST = 128  # elements that are cast on the stack


cdef Array short_mixed(int op, Array a, Array b, int loop):
    """Note [Short path] for a few elements of two dtypes, or of one that the loop does not run in."""
    cdef Array out = new_like(a, S0_OUT[op][loop])
    cdef char rooms[2][FEW_CAST * 16]
    cdef Py_ssize_t steps[3]
    cdef char* args[3]
    args[0], args[1], args[2] = cast_few(a, loop, rooms[0]), cast_few(b, loop, rooms[1]), out.data
    steps[0] = steps[1] = itemsize_at(loop)
    steps[2] = itemsize_at(out.code)
    run_contiguous(op_kernel(op, loop), 0, args, steps, a.size)
    return out


cdef char* cast_few(Array x, int code, char* room) except NULL:
    """The elements of x cast to a dtype in the room given, or where they are if they are of it."""
    cdef Py_ssize_t steps[2]
    cdef char* args[2]
    if x.code == code:
        return x.data
    args[0], args[1] = x.data, room
    steps[0], steps[1] = itemsize_at(x.code), itemsize_at(code)
    run_contiguous(cast_kernel(x.code, code), 0, args, steps, x.size)
    return room


cdef Array short_scalar(int op, Array a, object value, int code, bint reflected, str name):
    """Note [Short path] for a contiguous array with a Python scalar, which never becomes an array."""
    cdef Array out
    cdef Py_ssize_t steps[3]
    cdef char* args[3]
    cdef char place[16]
    write_scalar(value, code, place, name)
    out = new_like(a, S0_OUT[op][code])
    args[1 if reflected else 0] = a.data
    args[0 if reflected else 1] = place
    args[2] = out.data
    steps[1 if reflected else 0] = itemsize_at(code)
    steps[0 if reflected else 1] = 0
    steps[2] = itemsize_at(out.code)
    run_contiguous(op_kernel(op, code), 1 if reflected else 2, args, steps, a.size)
    return out


cdef Array weak_operand(Array a, object value, str name):
    """A Python scalar as an operand beside the array a."""
    return weak_array(value, weak_code(a.code, value), name)


cdef object binary(int op, object x1, object x2, str name, bint is_operator):
    """A binary operation of the table; an operator answers NotImplemented to operands it does not know."""
    if guarding and at_door():
        return binary_door(op, x1, x2, name, is_operator)
    if is_tracked(x1) or is_tracked(x2):
        # What is no operand at all gets its answer below.
        if (type(x1) is Array or is_python_scalar(x1)) and (type(x2) is Array or is_python_scalar(x2)):
            return tracer.binary(op, x1, x2, name)
    elif is_operator and (may_recycle(x1) or may_recycle(x2)):
        out = into_dying(op, x1, x2, name)
        if out is not None:
            return out
    return binary_raw(op, x1, x2, name, is_operator)


cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator):
    """The same, whether gradients take an interest or not."""
    cdef Array a = None, b = None
    cdef int loop, code
    if type(x1) is Array:
        a = <Array>x1
    if type(x2) is Array:
        b = <Array>x2
    if a is not None and b is not None:
        code = a.code if a.code == b.code else promote_codes(a.code, b.code)
        if S0_COMPARES[op] and a.code != b.code and (a.code == UINT64 or b.code == UINT64):
            if letter_at(a.code) == c"i":
                return compare_signs(op, a, b, False, name)
            if letter_at(b.code) == c"i":
                return compare_signs(op, b, a, True, name)
        loop = loop_for(op, code, name)
        if loop == a.code and a.code == b.code and a.c_contiguous and b.c_contiguous and same_shape(a, b):
            if S0_CHECK_EXPONENT[op]:
                check_exponent(a, b, loop, name)
            return short_binary(op, a, b)
    elif a is not None and is_python_scalar(x2):
        code = weak_code(a.code, x2)
        loop = loop_for(op, code, name)
        if op == OP_POW and loop == a.code and letter_at(loop) != c"c" and x2 == 2:
            # The loop of powers gives the same bits for the exponent 2, only later.
            return unary_raw(OP_SQUARE, a, name)
        try:
            if loop == a.code and a.c_contiguous:
                if S0_CHECK_EXPONENT[op] and letter_at(loop) == c"i" and x2 < 0 and a.size:
                    refuse_exponent(name)
                return short_scalar(op, a, x2, loop, False, name)
            b = weak_array(x2, loop, name)
        except RangeError:
            if not S0_COMPARES[op] or not isinstance(x2, int):
                raise
            return compare_beyond(op, a, x2, False, name)
    elif b is not None and is_python_scalar(x1):
        code = weak_code(b.code, x1)
        loop = loop_for(op, code, name)
        try:
            if loop == b.code and b.c_contiguous and not S0_CHECK_EXPONENT[op]:
                return short_scalar(op, b, x1, loop, True, name)
            a = weak_array(x1, loop, name)
        except RangeError:
            if not S0_COMPARES[op] or not isinstance(x1, int):
                raise
            return compare_beyond(op, b, x1, True, name)
    else:
        return binary_other(op, x1, x2, name, is_operator)
    if S0_CHECK_EXPONENT[op]:
        check_exponent(a, b, loop, name)
    if a.size <= FEW_CAST and a.c_contiguous and b.c_contiguous and same_shape(a, b):
        return short_mixed(op, a, b, loop)
    return apply(op_kernel(op, loop), S0_OUT[op][loop], 2, a, b, None, None, False, name, TWO)


cdef object binary_other(int op, object x1, object x2, str name, bint is_operator):
    """Two Python scalars, or operands that are neither arrays of ours nor Python scalars."""
    for argument, value in (("x1", x1), ("x2", x2)):
        if type(value) is Array or is_python_scalar(value):
            continue
        found = foreign_scalar(value)
        if found is not None:
            return binary(op, found if value is x1 else x1, found if value is x2 else x2, name, is_operator)
        if is_operator and is_equality(op) and not is_known_foreign(value):
            return compare_other(op, <Array>x1, value, name)
        # Left to Python, a product with a sequence would repeat it as often as an integer array says.
        if is_operator and not is_known_foreign(value) and not (op == OP_MULTIPLY and isinstance(value, SEQUENCES)):
            return NotImplemented
        refuse_operand(name, argument, value)
    # No array says what they take part in: their default dtypes do.
    return binary(op, scalar_array(x1, scalar_code(x1), name), scalar_array(x2, scalar_code(x2), name), name, is_operator)


cdef object refuse_exponent(str name):
    raise ArgumentValueError(name, "integers cannot be raised to negative integer powers", (), "exponents of 0 or more, or a floating-point dtype")


cdef int check_exponent(Array base, Array exponent, int loop, str name) except -1:
    """Refuse a negative exponent of an integer power, which has no integer result."""
    if base.size and letter_at(loop) == c"i" and letter_at(exponent.code) == c"i" and exponent.size:
        smallest = reduce_array("min", exponent, tuple(range(exponent.ndim)), False, None)
        if read_scalar((<Array>smallest).data, exponent.code) < 0:
            refuse_exponent(name)
    return 0


cdef inline bint is_same_kind(int source, int target) noexcept:
    """Whether a dtype that the dtype `target` was promoted to may be cast back to it: the size may change, the kind may not."""
    return letter_at(source) == letter_at(target) or (letter_at(source) == c"u" and letter_at(target) == c"i")


cdef object in_place(int op, Array x, object other, str name):
    """
    `x op= other`: keeps the shape and the dtype of x, or changes nothing and raises.

    A result of another dtype of the same kind is cast to that of x, as NumPy and PyTorch do.
    """
    cdef Array b
    cdef int code, loop
    cdef Py_ssize_t steps[3]
    cdef char* args[3]
    if guarding and at_door():
        return in_place_door(op, x, other, name)
    if x.storage.history is not None or is_tracked(other):
        return tracer.in_place(operations.OPS[op].name, x, other)
    if type(other) is Array:
        b = <Array>other
    elif is_python_scalar(other):
        b = weak_operand(x, other, name)
    else:
        b = foreign_scalar(other)
        if b is None:
            if not is_known_foreign(other):
                return NotImplemented
            refuse_operand(name, "x2", other)
    code = promote_codes(x.code, b.code)
    loop = loop_for(op, code, name)
    if not is_same_kind(S0_OUT[op][loop], x.code):
        raise DTypeError(
            name,
            f"the in-place result of dtype {dtype_at(S0_OUT[op][loop]).name} cannot be cast to the dtype of x1",
            (("x1", dtype_at(x.code).name), ("x2", dtype_at(b.code).name)),
            "operands that promote to a dtype of the kind of that of x1",
        )
    if S0_OUT[op][loop] != x.code:
        beyond_standard(name, "the operands promote to another dtype than that of x1",
                        "Array object, in-place operators: promotion must not change the dtype of the array")
    if S0_CHECK_EXPONENT[op]:
        check_exponent(x, b, loop, name)
    if loop == x.code == b.code and S0_OUT[op][loop] == loop and x.size < LONG_RUN and x.c_contiguous and b.c_contiguous and same_shape(x, b) and not overlaps(x, b):
        # Note [Short path]
        check_writable(x, name)
        args[0], args[1], args[2] = x.data, b.data, x.data
        steps[0] = steps[1] = steps[2] = itemsize_at(x.code)
        run_contiguous(op_kernel(op, loop), 0, args, steps, x.size)
        return x
    apply(op_kernel(op, loop), S0_OUT[op][loop], 2, x, b, None, x, True, name, TWO)
    return x


cdef object ternary(int op, object x1, object x2, object x3, str name, tuple names):
    """A ternary operation whose operands all combine to one dtype."""
    cdef list values = [x1, x2, x3]
    cdef list codes = []
    cdef int code = -1, k, loop
    for k in range(3):
        if type(values[k]) is Array:
            guard_gradient(<Array>values[k], name)
        elif not is_python_scalar(values[k]):
            found = foreign_scalar(values[k])
            if found is None:
                refuse_operand(name, names[k], values[k])
            values[k] = found
        if type(values[k]) is Array:
            codes.append((<Array>values[k]).code)
    # The highest kind first: an int8 and a uint16 fit into a float32, the int32 that they make does not.
    for k in sorted(codes, reverse=True):
        code = k if code < 0 else promote_codes(code, k)
    if code < 0:
        code = scalar_code(values[0])
    for k in range(3):
        if type(values[k]) is not Array:
            code = weak_code(code, values[k])
    loop = loop_for(op, code, name)
    for k in range(3):
        if type(values[k]) is not Array:
            values[k] = weak_array(values[k], code, name)
    return apply(op_kernel(op, loop), S0_OUT[op][loop], 3, <Array>values[0], <Array>values[1], <Array>values[2], None, False, name, names)
