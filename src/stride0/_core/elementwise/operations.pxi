# Elementwise operations of the table: operands, dtypes, fast paths, in place.

cdef tuple SEQUENCES = (list, tuple, range, str, bytes, bytearray)


# --- dtypes and operands of the table's operations


cdef int loop_for(int op, int code, str name) except -1:
    """Dtype code of the kernel for operands that promote to `code`."""
    cdef int loop = S0_LOOP[op][code]
    if loop < 0:
        refuse_dtype(name, dtype_at(code), f"{operations.OPS[op].on} dtypes", "")
    return loop


cdef object unary(int op, object x, str name):
    """A unary operation of the table."""
    cdef Array a
    if guarding and is_intercepted():
        return intercept_unary(op, x, name)
    if type(x) is Array:
        if needs_tape(<Array>x):
            return (<Tracer>hooks.tracer).unary(op, <Array>x, name)
        return unary_raw(op, <Array>x, name)
    if is_python_scalar(x):
        return unary_raw(op, scalar_array(x, scalar_code(x), name), name)
    a = foreign_scalar(x)
    if a is None:
        refuse_operand(name, "x", x)
    return unary_raw(op, a, name)


cdef object unary_raw(int op, Array a, str name):
    """The same without the tape and without interceptors."""
    cdef int loop = loop_for(op, a.code, name)
    if a.c_contiguous and not may_defer(a.size, a):
        if loop == a.code:
            return fast_unary(op, loop, a, data_of(a))
        if a.size <= FEW_CAST:
            return few_unary(op, a, loop)
    if loop != a.code and loop == BOOL and not may_defer(a.size, a):
        return of_truth(op, a, name)
    return apply(op_kernel(op, loop), S0_OUT[op][a.code], 1, a, None, None, None, False, name, UNARY_NAMES)


cdef Array of_truth(int op, Array a, str name):
    """An operation on whether each element is true: cast to the result, which the loop for bool then reads and writes."""
    cdef Array out = apply(cast_kernel(a.code, BOOL), BOOL, 1, a, None, None, None, False, name, UNARY_NAMES)
    cdef Py_ssize_t strides[2]
    cdef char* args[2]
    args[0] = args[1] = data_of(out)
    strides[0] = strides[1] = 1
    run_contiguous(op_kernel(op, BOOL), 0, args, strides, out.size)
    return out


cdef inline Array fast_unary(int op, int loop, Array like, char* x):
    """Note [Fast path] of one operand that lies as `like` does, a contiguous array: straight to the loop."""
    cdef Array out = new_like(like, S0_OUT[op][loop])
    cdef Py_ssize_t strides[2]
    cdef char* args[2]
    args[0], args[1] = x, data_of(out)
    strides[0], strides[1] = itemsize_at(loop), itemsize_at(out.code)
    run_contiguous(op_kernel(op, loop), 0, args, strides, like.size)
    return out


cdef inline Array fast_binary(int op, int loop, Array like, char* first, char* second, int scalar):
    """
    Note [Fast path] of two operands that lie as `like` does, a contiguous array: straight to the loop.

    `scalar` says which of them is a single value, the first (1) or the second (2), if any: it is the number of the layout, too.
    """
    cdef Array out = new_like(like, S0_OUT[op][loop])
    run_binary(op, loop, first, second, scalar, out)
    return out


cdef inline int run_binary(int op, int loop, char* first, char* second, int scalar, Array out) except -1:
    """Run the loop over contiguous operands, all of the size of `out`, the result, but for a single value."""
    cdef Py_ssize_t strides[3]
    cdef char* args[3]
    args[0], args[1], args[2] = first, second, data_of(out)
    strides[0] = 0 if scalar == 1 else itemsize_at(loop)
    strides[1] = 0 if scalar == 2 else itemsize_at(loop)
    strides[2] = itemsize_at(out.code)
    run_contiguous(op_kernel(op, loop), scalar, args, strides, out.size)
    return 0

cdef enum:
    FEW_CAST = 128  # elements that are cast on the stack


cdef Array few_unary(int op, Array a, int loop):
    """Note [Fast path] for a few elements of a dtype that the loop does not run in."""
    cdef char buffer[FEW_CAST * LARGEST_ITEM]
    return in_dtype(fast_unary(op, loop, a, cast_few(a, loop, buffer)), S0_OUT[op][a.code])


cdef Array few_binary(int op, Array a, Array b, int loop, int code):
    """The same for two operands, which combine to the dtype `code`; one of them may be a Python scalar."""
    cdef char buffers[2][FEW_CAST * LARGEST_ITEM]
    cdef char* first = cast_few(a, loop, buffers[0])
    cdef char* second = cast_few(b, loop, buffers[1])
    cdef int scalar = 1 if a.weak else 2 if b.weak else 0
    return in_dtype(fast_binary(op, loop, b if scalar == 1 else a, first, second, scalar), S0_OUT[op][code])


cdef inline Array in_dtype(Array x, int code):
    return x if x.code == code else copy_array(x, code, True)


cdef Array fast_scalar(int op, Array a, object value, int code, bint reflected, str name):
    """Note [Fast path] for a contiguous array with a Python scalar, which never becomes an array."""
    cdef char place[LARGEST_ITEM]
    write_scalar(value, code, place, name)
    if reflected:
        return fast_binary(op, code, a, place, data_of(a), 1)
    return fast_binary(op, code, a, data_of(a), place, 2)


cdef object binary(int op, object x1, object x2, str name, bint is_operator):
    """A binary operation of the table; an operator answers NotImplemented to operands it does not know."""
    if guarding and is_intercepted():
        return intercept_binary(op, x1, x2, name, is_operator)
    if operand_needs_tape(x1) or operand_needs_tape(x2):
        # Other objects are refused below.
        if (type(x1) is Array or is_python_scalar(x1)) and (type(x2) is Array or is_python_scalar(x2)):
            return (<Tracer>hooks.tracer).binary(op, x1, x2, name)
    return binary_raw(op, x1, x2, name, is_operator)


cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator):
    """The same without the tape and without interceptors."""
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
        if loop == a.code and a.code == b.code and a.c_contiguous and b.c_contiguous and same_shape(a, b) and not may_defer_two(a.size, a, b):
            if S0_CHECK_EXPONENT[op]:
                check_exponent(a, b, loop, name)
            return fast_binary(op, loop, a, data_of(a), data_of(b), 0)
    elif a is not None and is_python_scalar(x2):
        code = weak_code(a.code, x2)
        loop = loop_for(op, code, name)
        if is_square(op, a, loop, x2):
            return unary_raw(OP_SQUARE, a, name)
        try:
            if loop == a.code and a.c_contiguous and not may_defer(a.size, a):
                if S0_CHECK_EXPONENT[op] and letter_at(loop) == c"i" and x2 < 0 and a.size:
                    refuse_exponent(name)
                return fast_scalar(op, a, x2, loop, False, name)
            b = weak_array(x2, code if is_stored(code) else loop, name)
        except RangeError:
            if not S0_COMPARES[op] or not isinstance(x2, int):
                raise
            return compare_beyond(op, a, x2, False, name)
    elif b is not None and is_python_scalar(x1):
        code = weak_code(b.code, x1)
        loop = loop_for(op, code, name)
        try:
            if loop == b.code and b.c_contiguous and not S0_CHECK_EXPONENT[op] and not may_defer(b.size, b):
                return fast_scalar(op, b, x1, loop, True, name)
            a = weak_array(x1, code if is_stored(code) else loop, name)
        except RangeError:
            if not S0_COMPARES[op] or not isinstance(x1, int):
                raise
            return compare_beyond(op, b, x1, True, name)
    else:
        return binary_other(op, x1, x2, name, is_operator)
    if S0_CHECK_EXPONENT[op]:
        check_exponent(a, b, loop, name)
    if a.size <= FEW_CAST >= b.size and a.c_contiguous and b.c_contiguous and (same_shape(a, b) or a.weak or b.weak) and not may_defer_two(b.size if a.weak else a.size, a, b):
        return few_binary(op, a, b, loop, code)
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
    raise ArgumentValueError(name, "integers cannot be raised to negative integer powers", (), "exponents of 0 or more, or a floating-point dtype")


cdef bint is_any_negative(const char* data, Py_ssize_t n, int width) noexcept nogil:
    """Whether one of adjacent signed integers is negative."""
    cdef Py_ssize_t i
    cdef int64_t signs = 0
    if width == 8:
        for i in range(n):
            signs |= (<const int64_t*>data)[i]
    elif width == 4:
        for i in range(n):
            signs |= (<const int32_t*>data)[i]
    elif width == 2:
        for i in range(n):
            signs |= (<const int16_t*>data)[i]
    else:
        for i in range(n):
            signs |= (<const int8_t*>data)[i]
    return signs < 0


cdef int check_exponent(Array base, Array exponent, int loop, str name) except -1:
    """Refuse a negative exponent of an integer power, which has no integer result."""
    if base.size and letter_at(loop) == c"i" and letter_at(exponent.code) == c"i" and exponent.size:
        if exponent.c_contiguous and exponent.size <= tuning.searched_exponents:
            if is_any_negative(data_of(exponent), exponent.size, itemsize_at(exponent.code)):
                refuse_exponent(name)
            return 0
        smallest = hooks.reduce_whole("min", exponent)
        if read_scalar(data_of(<Array>smallest), exponent.code) < 0:
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
    """`multiply_masked` of two arrays; the fast path of small arrays in backward passes."""
    if g.code == d.code and not is_stored(g.code) and not may_defer_two(g.size, g, d) and g.c_contiguous and d.c_contiguous and same_shape(g, d) and not needs_tape(g) and not needs_tape(d):
        return fast_binary(OP_MULTIPLY_MASKED, g.code, g, data_of(g), data_of(d), 0)
    return <Array>binary(OP_MULTIPLY_MASKED, g, d, "multiply_masked", False)


def conjugate(x):
    """The complex conjugate; real arrays are returned without a copy."""
    if type(x) is Array:
        return unary(OP_CONJ, x, "conj") if letter_at((<Array>x).code) == c"c" else x
    return x.conjugate()


# --- intercepted calls: Note [Interceptors]


cdef object intercept_unary(int op, object x, str name):
    entered = enter_call("function", name, (x,), {})
    try:
        out = unary(op, x, name)
    finally:
        end_call(entered)
    return result_of_call(entered, out)


cdef object intercept_binary(int op, object x1, object x2, str name, bint is_operator):
    if is_operator and is_equality(op) and not is_operand(x2):
        return compare_other(op, <Array>x1, x2, name)
    entered = enter_call("operator" if is_operator else "function", name, (x1, x2), {})
    try:
        out = binary(op, x1, x2, name, is_operator)
    finally:
        end_call(entered)
    return result_of_call(entered, out)


cdef object intercept_in_place(int op, Array x, object other, str name):
    entered = enter_call("in-place", name, (x, other), {})
    try:
        return in_place(op, x, other, name)
    finally:
        end_call(entered)


hooks.unary = unary
hooks.binary = binary
hooks.in_place = in_place
