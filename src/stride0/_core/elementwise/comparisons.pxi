# Comparisons that no loop answers: with integers that no dtype holds, and `==` and `!=` with what is no operand.
#
# Note [Equality with anything]
#     `x == value` must not fall back to Python's comparison of identities, which is silently False. Python calls the
#     reflected comparison of the value only after the array's comparison returns NotImplemented, and then stride0 cannot raise. So
#     the comparison of the value is called from here first: mock.ANY, pytest.approx, and arrays of libraries that support
#     stride0 arrays decide themselves. Other values are compared as in NumPy: None is equal to no element, what `asarray` converts
#     is compared elementwise, and all others are refused like an operand of `x + value`. This comes before
#     interception, Note [Interceptors]: the comparison of the value is the user's code.

# `value op x` as `x op value`.
cdef dict MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

# The value whose own comparison runs.
cdef object ASKED = ContextVar("stride0.asked", default=None)


cdef object compare_beyond(int op, Array a, object value, bint reflected, str name):
    """
    Comparison with a Python integer that the dtype cannot hold.

    All finite elements lie on one side of it; only an infinity can lie on the other.
    """
    cdef bint above = value > 0
    sign = operations.OPS[op].operator
    sign = MIRRORED[sign] if reflected else sign
    if sign in ("==", "!=") or letter_at(a.code) not in b"fc":
        answer = sign == "!=" or (sign in ("<", "<=")) == above and sign != "=="
        out = new_array(BOOL, a.ndim, a.shape_, NULL, False)
        memset(data_of(<Array>out), answer, (<Array>out).size)
        return out
    infinity = math.inf if above else -math.inf
    if sign in ("<", "<="):
        return binary(OP_LESS if above else OP_LESS_EQUAL, a, infinity, name, False)
    return binary(OP_GREATER_EQUAL if above else OP_GREATER, a, infinity, name, False)


cdef object compare_signs(int op, Array a, Array b, bint swapped, str name):
    """
    Comparison of signed integers `a` with unsigned 64-bit ones `b`, which no dtype holds both of.

    A negative element is less than any unsigned one, as -1 is less than 0; the others fit into uint64.
    """
    below = binary(OP_LESS, a, 0, name, False)
    # -1 and 0 as unsigned operands in the same order: 0 and 1.
    low, high = scalar_array(0, UINT64, name), scalar_array(1, UINT64, name)
    unsigned = copy_array(a, UINT64, False)
    if swapped:
        negative, other = binary(op, high, low, name, False), binary(op, b, unsigned, name, False)
    else:
        negative, other = binary(op, low, high, name, False), binary(op, unsigned, b, name, False)
    return apply(where_kernel(BOOL), BOOL, 3, below, negative, other, None, False, name, SELECT_NAMES)


cdef bint is_operand(object value) except -1:
    """Whether a binary operation takes a value, or refuses it as an array of another library."""
    return type(value) is Array or is_python_scalar(value) or is_numpy_scalar(value) or is_known_foreign(value)


cdef object compare_other(int op, Array x, object value, str name):
    """`x == value` or `x != value` for a value that is no operand; Note [Equality with anything]."""
    cdef PyObject* args[2]
    cdef Call call = Call(CALL_OPERATOR, op, <PyObject*>name, &args[0], 2, NULL, False, compare_body, NULL)
    args[0], args[1] = <PyObject*>x, <PyObject*>value
    # A bytearray or memoryview would compare its bytes with the bytes that the array exports.
    if value is not None and not isinstance(value, (bytearray, memoryview)):
        if ASKED.get() is value:
            # Its own comparison may call ours, which then returns NotImplemented.
            return NotImplemented
        token = ASKED.set(value)
        try:
            out = type(value).__eq__(value, x) if op == OP_EQUAL else type(value).__ne__(value, x)
        finally:
            ASKED.reset(token)
        if out is not NotImplemented:
            return out
    if guarding:
        return make_call(&call)
    return compare_values(op, x, value, name)


cdef object compare_body(Call* call):
    return compare_values(call.op, <Array>call.args[0], <object>call.args[1], <str>call.name)


cdef object compare_values(int op, Array x, object value, str name):
    cdef Array out
    if value is None:
        out = new_array(BOOL, x.ndim, x.shape_, NULL, False)
        memset(data_of(out), op == OP_NOT_EQUAL, out.size)
        return out
    try:
        out = hooks.convert(value, NO_DTYPE)
    except TypeError:
        refuse_operand(name, "x2", value)
    return binary(op, x, out, name, False)
