# See `modes.pyx`.

cimport cython
from cpython.object cimport PyObject

from stride0._core.memory.guards cimport s0_shared_flag, s0_shared_size

# Settings with a value per context: see `switches.pxi`.

# Whether any switch that checks calls is on in any context.
cdef s0_shared_flag guarding

# The device of all arrays while no test configuration is on, and its name.
cdef object CPU, CPU_NAME


cdef inline bint is_only_device(object device) noexcept:
    """Whether a ``device=`` argument is the CPU, and there is no other device."""
    return (device is CPU or device is CPU_NAME) and not guarding


cdef enum:
    DEFERRED_SIZE = 1 << 14     # default of the fewest elements of a deferred result

# Fewest elements of a result that may be deferred in some context: Note [Deferred results].
cdef s0_shared_size fused_from


@cython.final
cdef class ContextValue:
    cdef Switch switch
    cdef object value
    cdef ContextValue before
    cdef bint counted
    cdef bint ended  # whether `leave` was called in another context, which cannot reset this one
    cdef void uncount(self) noexcept


@cython.final
cdef class Switch:
    cdef s0_shared_flag used   # whether the switch is on in any context
    cdef readonly object off   # the value of a switch that is off
    cdef object default_
    cdef list defaults         # all values that have been the default
    cdef bint default_on
    cdef Py_ssize_t contexts   # number of contexts whose value is not off
    cdef object variable
    cdef bint guards          # whether calls are checked while the switch is on
    cdef ContextValue innermost(self)
    cdef object value(self)
    cdef void update(self) noexcept
    cpdef tuple enter(self, value)
    cpdef object leave(self, tuple entered)


cpdef int set_fused_from(Py_ssize_t size) except -1
cpdef tuple enter_fused(Py_ssize_t size)
cpdef int leave_fused(tuple entered, Py_ssize_t size) except -1
cdef bint is_reproducible() except -1
cpdef int refuse_library(str operation, str library, str instead=*) except -1
cdef object enter_package()
cdef int leave_package(object token) except -1


# A call that is not plain, Note [Calls] of `array/calls.pxi`. The references are borrowed.

cdef enum CallKind:
    CALL_FUNCTION
    CALL_OPERATOR
    CALL_IN_PLACE
    CALL_GETITEM
    CALL_SETITEM

cdef struct Call:
    CallKind kind
    int op                      # number of the operation in the table, or -1
    PyObject* name              # the name that the tape, the interceptor and messages use
    PyObject** args             # the positional arguments, then the named ones
    Py_ssize_t n                # number of positional arguments
    PyObject* kwnames           # tuple of the names of the named arguments, or NULL
    bint recorded               # whether an argument needs the tape
    object (*body)(Call* call)  # computes the result, neither recorded nor intercepted
    PyObject* function          # the function that the body calls; NULL if the body always calls the same function

ctypedef object (*Body)(Call* call)


# Checks of calls: see `interceptors.pxi`.

cdef int refuse_strictly(str name) except -1
cdef int refuse_method(str name) except -1
cdef int refuse_nonstandard(str operation, str fact, str sentence) except -1
cdef bint is_restricted() except -1
cdef int enforce_current_mode(str name, list pairs, tuple shape) except -1
cdef object test_configuration()
cdef object suspend_checks()
cdef int resume_checks(object token) except -1
cdef bint is_users_call() except -1
cdef bint exports_read_only() except -1
cdef int check_method_version(str method, dict given) except -1
cdef int refuse_lazy(str operation) except -1
cdef int refuse_reading(str operation) except -1
cdef object copy_of_view(object view)
cdef bint is_intercepted() except -1
cdef object intercept(Call* call, Body execute)


cdef inline int beyond_standard(str operation, str fact, str sentence) except -1:
    """
    StrictError if strict mode is on: the caller uses something that the standard does not define.

    For code in C, before it enters the package: calls within functions of the package are not checked. The texts must be
    constants, so that a call costs one test while no switch is on. For other texts, test `is_strict_call`.
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
    """LazyError if a test configuration has lazy arrays: the caller asks for the value of one."""
    if guarding:
        refuse_lazy(operation)
    return 0


cdef inline int reads_memory(str operation) except -1:
    """Raise if strict mode or a test configuration does not let other libraries read the memory of an array."""
    if guarding:
        refuse_reading(operation)
    return 0
