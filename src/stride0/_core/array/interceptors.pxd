# Checks of calls: see `interceptors.pyx`.

from stride0._core.array.switches cimport guarding

cdef int judge(int mode, str name, list pairs, tuple shape) except -1
cdef int refuse_attribute(str name) except -1
cdef int refuse_method(str name) except -1
cdef int refuse_beyond(str operation, str fact, str sentence) except -1
cdef bint is_restricted() except -1
cdef int judge_here(str name, list pairs, tuple shape) except -1
cdef object test_configuration()
cdef object step_through()
cdef int step_back(object token) except -1
cdef tuple enter_call(str way, str name, tuple args, dict kwargs)
cdef object leave_call(tuple entered, object out)
cdef int abandon_call(tuple entered) except -1
cdef bint is_callers_own() except -1
cdef bint exports_read_only() except -1
cdef int refuse_later(str method, dict given) except -1
cdef bint is_intercepted() except -1
cdef object intercept(str way, str name, function, tuple args, dict kwargs)


cdef inline int beyond_standard(str operation, str fact, str sentence) except -1:
    """
    Something that the standard does not define is about to happen: StrictError where strict mode is on.

    For code in C, before it steps inside: what functions of the package do is their business. The texts must be
    constants, so that a call costs one test while no switch is on. Those that name facts: see `strictly`.
    """
    if guarding:
        refuse_beyond(operation, fact, sentence)
    return 0
