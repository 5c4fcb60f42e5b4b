# The operators of arrays.

cdef object matmul_operator(object x1, object x2, bint is_in_place):
    """`x1 @ x2`, or `x1 @= x2`."""
    cdef PyObject* operands[2]
    cdef Call call
    for value in (x1, x2):
        if type(value) is not Array and not is_known_foreign(value):
            return NotImplemented
    operands[0], operands[1] = <PyObject*>x1, <PyObject*>x2
    if not is_in_place:
        out = <object>call_primitive(<PyObject*>matmul, operands, 2, NULL)
        Py_DECREF(out)
        return out
    check_writable(<Array>x1, "matmul")
    call = Call(CALL_IN_PLACE, -1, <PyObject*>"matmul", &operands[0], 2, NULL, False, matmul_in_place, NULL)
    call.recorded = (<Array>x1).storage.logged or operand_needs_tape(x2)
    return make_call(&call)


cdef object matmul_in_place(Call* call):
    """`x1 @= x2`: raises, and changes nothing, if the result does not have the shape and dtype of x1."""
    cdef Array target = <Array>call.args[0], out
    result = <object>call_primitive(<PyObject*>matmul, call.args, 2, NULL)
    Py_DECREF(result)
    out = <Array>result
    if out.code != target.code:
        raise DTypeError("matmul", f"the in-place result of dtype {out.dtype.name} cannot be cast to the dtype of x1",
                         (("x1", target.dtype.name), ("x2", (<Array>call.args[1]).dtype.name)),
                         "write x1 = x1 @ x2, or cast x2 first: astype(x2, x1.dtype)")
    if not same_shape(out, target):
        raise ShapeError("matmul", "the in-place result does not have the shape of x1",
                         (("x1", f"{target.shape}"), ("result", f"{out.shape}")), "write x1 = x1 @ x2")
    assign_array(target, out, "matmul")
    return target


cdef object operate(int op, object x1, object x2, str name, Form form):
    if form == BINARY:
        return binary(op, x1, x2, name, True)
    if form == UNARY:
        return unary(op, x1, name)
    if form == IN_PLACE:
        return in_place(op, <Array>x1, x2, name)
    return matmul_operator(x1, x2, form == MATMUL_IN_PLACE)


hooks.operate = operate
