# Calls that are recorded, intercepted or plain. Included in `array.pyx`.
#
# Note [Calls]
#     A call enters the core at an operator (`operate`), a key (`get_item`, `set_item`), an operation of the table (`unary`,
#     `binary`, `in_place`), a function of the namespace (`Primitive`) or one of a few compiled functions. The call is plain if
#     every switch is off, Note [Switches], and if no operand needs the tape, Note [Logged storages]. The entry point tests
#     this inline (one flag, and one pointer per operand) and runs the body of a plain call. It passes any other call as a `Call`
#     to `make_call`. If the user's code makes the call, it is intercepted, Note [Interceptors]. Then a call whose `recorded` is
#     set goes to the tracer, and any other call runs its body.
#
#     Some bodies learn only from their arguments whether the tape has to record them: `asarray` makes a copy or returns its
#     argument. These bodies call `traced`.


cdef object make_call(Call* call):
    """Make a call that may not be plain."""
    if guarding and is_intercepted():
        return intercept(call, execute)
    return execute(call)


cdef object execute(Call* call):
    """Record a call by the tracer, or run its body."""
    cdef Tracer tracer = <Tracer>hooks.tracer
    if not call.recorded:
        return call.body(call)
    if call.kind == CALL_IN_PLACE:
        # The tracer needs the operation's name. `call.name` may name a function that uses the operation.
        name = <str>call.name if call.op < 0 else operations.OPS[call.op].name
        return tracer.in_place(name, <Array>call.args[0], <object>call.args[1])
    if call.op < 0:
        return tracer.call(<str>call.name, call.args, call.n, call.kwnames)
    if call.n == 1:
        return tracer.unary(call.op, <Array>call.args[0], <str>call.name)
    return tracer.binary(call.op, <object>call.args[0], <object>call.args[1], <str>call.name)


cdef object call_function(str name, tuple args, tuple kwnames, bint recordable, Body body):
    """
    Call a compiled function if the call may not be plain. `args` ends with the named arguments.

    If `recordable` is true, the call is recorded if an argument needs the tape.
    """
    cdef Py_ssize_t n = len(args) - (0 if kwnames is None else len(kwnames))
    cdef PyObject* names = NULL if kwnames is None else <PyObject*>kwnames
    cdef Call call = Call(CALL_FUNCTION, -1, <PyObject*>name, s0_tuple_items(args), n, names, False, body, NULL)
    for x in args:
        call.recorded = call.recorded or (recordable and operand_needs_tape(x))
    return make_call(&call)


cdef object traced(str name, tuple args, dict kwargs=None):
    """Record a call of a function."""
    cdef Py_ssize_t n = len(args)
    cdef tuple names = None
    if kwargs:
        names = tuple(kwargs)
        args += tuple(kwargs.values())
    return (<Tracer>hooks.tracer).call(name, s0_tuple_items(args), n, NULL if names is None else <PyObject*>names)
