# Comparisons that no loop answers: with integers that no dtype holds, and `==` and `!=` with what is no operand.
# Included in `array.pyx`.

# `value op x` as `x op value`.
cdef dict MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


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
        memset((<Array>out).data, answer, (<Array>out).size)
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
        return where(below, binary(op, high, low, name, False), binary(op, b, unsigned, name, False))
    return where(below, binary(op, low, high, name, False), binary(op, unsigned, b, name, False))


# --- `==` and `!=` with anything
#
# Note [Equality with anything]
#     `x == value` must not fall back to Python's comparison of identities, which is silently False. Python asks the
#     reflected comparison of the value only after ours answers NotImplemented, and then nobody is left to raise. So
#     the value is asked from here: mock.ANY, pytest.approx, and arrays of libraries that know ours keep their say. What
#     has none is compared as NumPy compares it: None is no element, what `asarray` takes is taken elementwise, the rest
#     is refused as an operand of `x + value` is. This comes before a door, Note [Doors]: the comparison of the value
#     is code of the caller's.

# The value whose own comparison runs.
cdef object ASKED = ContextVar("stride0.asked", default=None)


cdef inline bint is_equality(int op) noexcept:
    return op == OP_EQUAL or op == OP_NOT_EQUAL


cdef bint is_operand(object value) except -1:
    """Whether a binary operation takes a value, or refuses it as an array of another library."""
    return type(value) is Array or is_python_scalar(value) or is_numpy_scalar(value) or is_known_foreign(value)


cdef object compare_other(int op, Array x, object value, str name):
    """`x == value` or `x != value` for a value that is no operand; Note [Equality with anything]."""
    # Buffers would compare their bytes with those that an array lends.
    if value is not None and not isinstance(value, (bytearray, memoryview)):
        if ASKED.get() is value:
            # Its own comparison asks ours whether it is NotImplemented.
            return NotImplemented
        token = ASKED.set(value)
        try:
            out = type(value).__eq__(value, x) if op == OP_EQUAL else type(value).__ne__(value, x)
        finally:
            ASKED.reset(token)
        if out is not NotImplemented:
            return out
    if guarding and at_door():
        return compare_door(op, x, value, name)
    return compare_values(op, x, value, name)


cdef object compare_values(int op, Array x, object value, str name):
    cdef Array out
    if value is None:
        out = new_array(BOOL, x.ndim, x.shape_, NULL, False)
        memset(out.data, op == OP_NOT_EQUAL, out.size)
        return out
    try:
        out = asarray(value)
    except TypeError:
        refuse_operand(name, "x2", value)
    return binary(op, x, out, name, False)
