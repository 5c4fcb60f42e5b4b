# Checks of calls: see `interceptors.pyx`.

from stride0._core.array.switches cimport guarding

cdef int refuse_strictly(str name) except -1
cdef int refuse_method(str name) except -1
cdef int refuse_nonstandard(str operation, str fact, str sentence) except -1
cdef bint is_restricted() except -1
cdef int enforce_current_mode(str name, list pairs, tuple shape) except -1
cdef object test_configuration()
cdef object suspend_checks()
cdef int resume_checks(object token) except -1
cdef tuple enter_call(str call_kind, str name, tuple args, dict kwargs)
cdef object result_of_call(tuple entered, object out)
cdef int end_call(tuple entered) except -1
cdef bint is_users_call() except -1
cdef bint exports_read_only() except -1
cdef int check_method_version(str method, dict given) except -1
cdef int refuse_lazy(str operation) except -1
cdef int refuse_reading(str operation) except -1
cdef object copy_of_view(object view)
cdef bint is_intercepted() except -1
cdef object intercept(str call_kind, str name, function, tuple args, dict kwargs)


cdef inline int beyond_standard(str operation, str fact, str sentence) except -1:
    """
    StrictError where strict mode is on: the caller uses something that the standard does not define.

    For code in C, before it enters the package: calls that functions of the package make for themselves are not
    checked. The texts must be constants, so that a call costs one test while no switch is on; others: `is_strict_call`.
    """
    if guarding:
        refuse_nonstandard(operation, fact, sentence)
    return 0


cdef inline int refuse_attribute(str name) except -1:
    """StrictAttributeError in a strict call: the standard's arrays do not have the attribute."""
    if guarding:
        refuse_strictly(name)
    return 0


cdef inline int reads_value(str operation) except -1:
    """LazyError where a test configuration has lazy arrays: the caller asks for the value of one."""
    if guarding:
        refuse_lazy(operation)
    return 0


cdef inline int reads_memory(str operation) except -1:
    """An error where strict mode or a test configuration refuses that others read the memory of an array."""
    if guarding:
        refuse_reading(operation)
    return 0
