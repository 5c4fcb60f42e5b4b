# Operators that write to their first operand.

cdef bint broadcasts_to(Array b, Array x) noexcept:
    """Whether b broadcasts to the shape of x."""
    cdef int axis, lead = x.ndim - b.ndim
    for axis in range(b.ndim):
        if lead < 0 or (b.shape_[axis] != 1 and b.shape_[axis] != x.shape_[lead + axis]):
            return False
    return True


cdef object in_place(int op, Array x, object other, str name):
    """
    `x op= other`: keeps the shape and the dtype of x, or changes nothing and raises.

    A result of another dtype of the same kind is cast to the dtype of x, as in NumPy and PyTorch.
    """
    # Every write to a logged storage is recorded.
    cdef bint recorded = x.storage.logged or operand_needs_tape(other)
    if guarding or recorded:
        return call_in_place(op, x, other, name, recorded)
    return in_place_raw(op, x, other, name)


cdef object call_in_place(int op, Array x, object other, str name, bint recorded):
    """`in_place` for a call that may not be plain."""
    cdef PyObject* args[2]
    cdef Call call = Call(CALL_IN_PLACE, op, <PyObject*>name, &args[0], 2, NULL, recorded, in_place_body, NULL)
    args[0], args[1] = <PyObject*>x, <PyObject*>other
    return make_call(&call)


cdef object in_place_body(Call* call):
    return in_place_raw(call.op, <Array>call.args[0], <object>call.args[1], <str>call.name)


cdef object in_place_raw(int op, Array x, object other, str name):
    """`in_place` without the tape and without interceptors."""
    cdef Array b, result
    cdef Kernel kernel
    cdef int code, loop, out, operands = 2
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
    code = x.code if x.code == b.code else promote_codes(x.code, b.code)
    loop = loop_for(op, code, name)
    out = S0_OUT[op][code]
    if out != x.code:
        if letter_at(out) != letter_at(x.code):
            raise DTypeError(
                name,
                f"the in-place result of dtype {dtype_at(out).name} cannot be cast to the dtype of x1",
                (("x1", dtype_at(x.code).name), ("x2", dtype_at(b.code).name)),
                f"write {name}(x1, x2) to get the result in a new array, or cast x1 first: astype(x1, {dtype_at(out).name})",
            )
        beyond_standard(name, "the operands promote to a dtype that x1 does not have",
                        "Array object, in-place operators: promotion must not change the dtype of the array")
    if S0_CHECK_EXPONENT[op]:
        check_exponent(x.size, b, loop, name)
    if type(other) is not Array and is_square(op, x, loop, other):
        op, b, operands = OP_SQUARE, None, 1
    kernel = op_kernel(op, loop)
    if is_deferred(x) and (b is None or broadcasts_to(b, x)):
        result = apply(kernel, x.code, operands, x, b, None, None, False, name, BINARY_NAMES)
        if not replace_pending(x, result):
            # Not once more: a check of operands that warns would warn twice.
            apply(cast_kernel(x.code, x.code), x.code, 1, result, None, None, x, True, name, UNARY_NAMES)
        return x
    if b is not None and is_deferred(b) and not is_deferred(x) and type(other) is Array:
        if update_with_pending(kernel, x, b, s0_has_references(<PyObject*>b, 2), name):
            return x
    return apply(kernel, out, operands, x, b, None, x, True, name, BINARY_NAMES)


cdef bint update_with_pending(Kernel kernel, Array x, Array b, bint is_temporary, str name) except -1:
    """
    Compute `x op= b` in the pass that computes the deferred b. If that is not possible, do nothing and return False.

    `is_temporary`: only the caller seems to refer to b. Then b stays deferred, and its elements are not written.
    """
    cdef Array result
    if not same_shape(x, b) or not defers(x.size, True):
        return False
    check_writable(x, name)
    # If the program of b reads x, it has just been evaluated.
    if not is_deferred(b) or b.storage.data is not NULL or not may_be_leaf(x):
        return False
    result = apply(kernel, x.code, 2, x, b, None, None, False, name, BINARY_NAMES)
    if not store_result(result, x, b.storage if is_temporary else None):
        apply(cast_kernel(x.code, x.code), x.code, 1, result, None, None, x, True, name, UNARY_NAMES)
    return True
