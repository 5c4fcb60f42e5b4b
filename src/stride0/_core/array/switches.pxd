# Settings with a value per context: see `switches.pyx`.

cimport cython

# Whether a switch is on anywhere.
cdef bint guarding


@cython.final
cdef class Held:
    cdef Switch switch
    cdef object value
    cdef Held before
    cdef bint counted
    cdef bint over  # left from another context, which could not set this one back
    cdef void uncount(self) noexcept


@cython.final
cdef class Switch:
    cdef bint used             # whether it is on anywhere
    cdef readonly object off   # the value that changes nothing
    cdef object default_
    cdef bint default_on
    cdef Py_ssize_t contexts   # values that contexts hold and that are not off
    cdef object variable
    cdef Held held(self)
    cdef object value(self)
    cdef void notice(self) noexcept


cdef object step_inside()
cdef int step_outside(object token) except -1
cdef Py_ssize_t depth_inside() except -1
cdef bint is_ours(frame) except -1
cdef str module_of(frame)
