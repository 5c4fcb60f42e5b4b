# Elementwise operations of the table: operands and dtypes.

cdef tuple SEQUENCES = (list, tuple, range, str, bytes, bytearray)


# --- dtypes and operands of the table's operations


cdef int loop_for(int op, int code, str name) except -1:
    """Dtype code of the kernel for operands that promote to `code`."""
    cdef int loop = S0_LOOP[op][code]
    return loop if loop >= 0 else refuse_loop(op, code, name)


cdef int refuse_loop(int op, int code, str name) except -1:
    refuse_dtype(name, dtype_at(code), f"{operations.OPS[op].on} dtypes", "")
    return -1


cdef object unary(int op, object x, str name):
    """A unary operation of the table."""
    cdef bint recorded = operand_needs_tape(x)
    if guarding or recorded:
        return call_unary(op, x, name, recorded)
    return unary_raw(op, <Array>x if type(x) is Array else scalar_operand(x, name), name)


cdef object call_unary(int op, object x, str name, bint recorded):
    """`unary` for a call that may not be plain."""
    cdef PyObject* args[1]
    cdef Call call = Call(CALL_FUNCTION, op, <PyObject*>name, &args[0], 1, NULL, recorded, unary_body, NULL)
    args[0] = <PyObject*>x
    return make_call(&call)


cdef object unary_body(Call* call):
    x, name = <object>call.args[0], <str>call.name
    return unary_raw(call.op, <Array>x if type(x) is Array else scalar_operand(x, name), name)


cdef Array scalar_operand(object x, str name):
    """The operand of a unary operation that is not an array: a Python scalar in its default dtype, or a NumPy scalar."""
    cdef Array a = scalar_array(x, scalar_code(x), name) if is_python_scalar(x) else foreign_scalar(x)
    if a is None:
        refuse_operand(name, "x", x)
    return a


cdef object unary_raw(int op, Array a, str name):
    """The same without the tape and without interceptors."""
    cdef int loop = loop_for(op, a.code, name)
    if loop == BOOL and a.code != BOOL and a.size > FEW_CAST and not may_defer(a.size, a):
        # Whether each element is true, in the result. For 1,000 elements the planner, which casts tile by tile, takes 1.8 times as long.
        a = apply(cast_kernel(a.code, BOOL), BOOL, 1, a, None, None, None, False, name, UNARY_NAMES)
        return apply(op_kernel(op, BOOL), BOOL, 1, a, None, None, a, False, name, UNARY_NAMES)
    return apply_new(op_kernel(op, loop), S0_OUT[op][a.code], 1, a, None, None, name, UNARY_NAMES)


cdef object binary(int op, object x1, object x2, str name, bint is_operator):
    """A binary operation of the table; an operator answers NotImplemented to operands it does not know."""
    cdef bint recorded = operand_needs_tape(x1) or operand_needs_tape(x2)
    if guarding or recorded:
        return call_binary(op, x1, x2, name, is_operator, recorded)
    return binary_raw(op, x1, x2, name, is_operator)


cdef object call_binary(int op, object x1, object x2, str name, bint is_operator, bint recorded):
    """`binary` for a call that may not be plain."""
    cdef PyObject* args[2]
    cdef Call call = Call(CALL_OPERATOR if is_operator else CALL_FUNCTION, op, <PyObject*>name, &args[0], 2, NULL, False, binary_body, NULL)
    if guarding and is_operator and is_equality(op) and not is_operand(x2):
        return compare_other(op, <Array>x1, x2, name)
    args[0], args[1] = <PyObject*>x1, <PyObject*>x2
    # The body converts or refuses objects other than arrays and Python scalars.
    if recorded and (type(x1) is Array or is_python_scalar(x1)) and (type(x2) is Array or is_python_scalar(x2)):
        call.recorded = True
    return make_call(&call)


cdef object binary_body(Call* call):
    return binary_raw(call.op, <object>call.args[0], <object>call.args[1], <str>call.name, call.kind == CALL_OPERATOR)


cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator):
    """The same without the tape and without interceptors."""
    cdef Array a, b
    cdef int loop, code
    if type(x1) is not Array:
        if type(x2) is Array and is_python_scalar(x1):
            return with_scalar(op, <Array>x2, x1, True, name)
        return binary_other(op, x1, x2, name, is_operator)
    if type(x2) is not Array:
        if is_python_scalar(x2):
            return with_scalar(op, <Array>x1, x2, False, name)
        return binary_other(op, x1, x2, name, is_operator)
    a, b = <Array>x1, <Array>x2
    code = a.code if a.code == b.code else promote_codes(a.code, b.code)
    if S0_COMPARES[op] and a.code != b.code and (a.code == UINT64 or b.code == UINT64):
        if letter_at(a.code) == c"i":
            return compare_signs(op, a, b, False, name)
        if letter_at(b.code) == c"i":
            return compare_signs(op, b, a, True, name)
    loop = loop_for(op, code, name)
    if S0_CHECK_EXPONENT[op]:
        check_exponent(a.size, b, loop, name)
    return apply_new(op_kernel(op, loop), S0_OUT[op][code], 2, a, b, None, name, BINARY_NAMES)


cdef object with_scalar(int op, Array a, object value, bint reflected, str name):
    """A binary operation of an array and a Python scalar, which becomes an array only if the operation is not trivial."""
    cdef char place[LARGEST_ITEM]
    cdef Run run
    cdef Array b, out
    cdef int code = weak_code(a.code, value), loop = loop_for(op, code, name), own = code if is_stored(code) else loop
    # `square` has the same bits as the loop of powers, and takes a tenth of its time.
    if not reflected and is_square(op, a, loop, value):
        return unary_raw(OP_SQUARE, a, name)
    if S0_CHECK_EXPONENT[op] and not reflected and letter_at(loop) == c"i" and value < 0 and a.size:
        refuse_exponent(name)
    try:
        write_scalar(value, own, place, name)
    except RangeError:
        if not S0_COMPARES[op] or not isinstance(value, int):
            raise
        return compare_beyond(op, a, value, reflected, name)
    if S0_CHECK_EXPONENT[op] and reflected:
        check_exponent(1, a, loop, name)
    if is_short(a) and not is_deferred(a) and (a.c_contiguous or is_f_contiguous(a)):
        begin_run(&run, a, False)
        add_to_run(&run, reflected, s0_read(a.address), a.code, loop, False)
        add_to_run(&run, 1 - reflected, place, own, loop, True)
        out = run_trivial(&run, op_kernel(op, loop), S0_OUT[op][code], 2, a, None)
        if out is not None:
            return out
    b = new_array(own, 0, NULL, NULL, False)
    b.weak = True
    copy_item(data_of(b), place, own)
    a, b = (b, a) if reflected else (a, b)
    return apply(op_kernel(op, loop), S0_OUT[op][code], 2, a, b, None, None, False, name, BINARY_NAMES)


cdef inline bint is_square(int op, Array a, int loop, object scalar) except -1:
    """Whether an operation with a Python scalar is `square`: the loop of powers gives the same bits for the exponent 2, only later."""
    return op == OP_POW and loop == a.code and scalar == 2


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
        # After NotImplemented, Python would repeat a sequence as often as an integer array says.
        if is_operator and not is_known_foreign(value) and not (op == OP_MULTIPLY and isinstance(value, SEQUENCES)):
            return NotImplemented
        refuse_operand(name, argument, value)
    # Without an array, the default dtypes of the scalars are used.
    return binary(op, scalar_array(x1, scalar_code(x1), name), scalar_array(x2, scalar_code(x2), name), name, is_operator)


cdef object refuse_exponent(str name):
    raise ArgumentValueError(name, "integers cannot be raised to negative integer powers", (), "pass exponents of 0 or more, or cast first: astype(x1, float64)")


cdef extern from *:
    """
    /* Whether one of adjacent signed integers of some bytes is negative. */
    static int s0_any_negative(const char *x, Py_ssize_t n, int width)
    {
        typedef uint64_t words __attribute__((vector_size(16), aligned(1), may_alias));
        words all[4] = {{0}};
        Py_ssize_t i, size = n * width;
        unsigned char bytes[16], signs = 0;
        for (i = 0; i + 64 <= size; i += 64) {
            const words *part = (const words *)(x + i);
            all[0] |= part[0];
            all[1] |= part[1];
            all[2] |= part[2];
            all[3] |= part[3];
        }
        all[0] |= all[1] | all[2] | all[3];
        memcpy(bytes, all, 16);
        for (; i < size; i++)
            bytes[i % 16] |= x[i];
        for (i = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? width - 1 : 0; i < 16; i += width)
            signs |= bytes[i];
        return signs >> 7;
    }
    """
    bint s0_any_negative(const char* x, Py_ssize_t n, int width) noexcept nogil


cdef int check_exponent(Py_ssize_t bases, Array exponent, int loop, str name) except -1:
    """Refuse a negative exponent of an integer power, which has no integer result."""
    cdef bint refused
    cdef const char* data
    cdef PyThreadState* thread
    if bases and letter_at(loop) == c"i" and letter_at(exponent.code) == c"i" and exponent.size:
        if not exponent.c_contiguous:
            exponent = copy_array(exponent, exponent.code, True)
        data = data_of(exponent)
        thread = release_lock(exponent.size)
        refused = s0_any_negative(data, exponent.size, itemsize_at(exponent.code))
        take_lock(thread)
        if refused:
            refuse_exponent(name)
    return 0


cdef object ternary(int op, object x1, object x2, object x3, str name, tuple names):
    """A ternary operation whose operands all promote to one dtype."""
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
    # The highest kinds first: an int8 and a uint16 fit into a float32, the int32 that they make does not.
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
    return apply(op_kernel(op, loop), S0_OUT[op][code], 3, <Array>values[0], <Array>values[1], <Array>values[2], None, False, name, names)


# --- operations of backward passes


def multiply_masked(x1, x2, /):
    """`x1 * x2`, and `x1` wherever it is 0, even where `x2` is infinite or NaN. A new array."""
    return binary(OP_MULTIPLY_MASKED, x1, x2, "multiply_masked", False)


cdef Array masked_product(Array g, Array d):
    return <Array>binary(OP_MULTIPLY_MASKED, g, d, "multiply_masked", False)


def conjugate(x):
    """The complex conjugate; real arrays are returned without a copy."""
    if type(x) is Array:
        return unary(OP_CONJ, x, "conj") if letter_at((<Array>x).code) == c"c" else x
    return x.conjugate()

