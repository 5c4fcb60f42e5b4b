# Settings with a value per context: see `switches.pyx`.

cimport cython

from stride0._core.memory.guards cimport s0_shared_flag, s0_shared_size

# Whether any switch is on in any context.
cdef s0_shared_flag guarding

# The device of all arrays while no test configuration is on, and its name.
cdef object CPU, CPU_NAME


cdef inline bint is_only_device(object device) noexcept:
    """Whether a ``device=`` argument is the CPU, and there is no other device."""
    return (device is CPU or device is CPU_NAME) and not guarding


cdef enum:
    DEFERRED_SIZE = 1 << 14     # fewest elements of a result that is deferred, if nobody says another number

# Fewest elements of a result that may be deferred in some context: Note [Deferred results].
cdef s0_shared_size fused_from


@cython.final
cdef class ContextValue:
    cdef Switch switch
    cdef object value
    cdef ContextValue before
    cdef bint counted
    cdef bint ended  # `leave` was called in another context, which cannot reset this one
    cdef void uncount(self) noexcept


@cython.final
cdef class Switch:
    cdef s0_shared_flag used   # whether it is on in any context
    cdef readonly object off   # the value of a switch that is off
    cdef object default_
    cdef list defaults         # all values that were the default
    cdef bint default_on
    cdef Py_ssize_t contexts   # values of contexts that are not off
    cdef object variable
    cdef bint guards          # whether calls are checked while it is on
    cdef ContextValue innermost(self)
    cdef object value(self)
    cdef void update(self) noexcept
    cpdef tuple enter(self, value)
    cpdef object leave(self, tuple entered)


cpdef int set_fused_from(Py_ssize_t size) except -1
cpdef tuple enter_fused(Py_ssize_t size)
cpdef int leave_fused(tuple entered, Py_ssize_t size) except -1
cdef object enter_package()
cdef int leave_package(object token) except -1
cdef Py_ssize_t package_depth() except -1
cdef bint is_package_frame(frame) except -1
cdef str module_of(frame)
