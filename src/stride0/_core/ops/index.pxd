# Keys with arrays: see `index.pyx`.

cimport cython

from stride0._core.array.array cimport Array

cdef enum:
    # The modes of `move_gathered`.
    WRITE = 0
    READ = 1
    ADD = 2


@cython.final
cdef class Gathering:
    cdef Array base         # the axes that arrays do not index, as a view
    cdef Array offsets      # of the arrays' broadcast shape: bytes; or checked indices, times `scale`
    cdef Py_ssize_t wrap    # is added to negative indices
    cdef Py_ssize_t scale
    cdef int at             # the position of that shape among the axes of `base`
    cdef int axis           # the axis of a single index array


cdef Gathering gathering(Array x, list items, bint reading)
cdef Array checked_indices(Array index, Py_ssize_t size, int axis, bint check)
cdef Array empty_gathered(Gathering where_)
cdef int move_gathered(Gathering where_, Array other, int mode) except -1
cdef int count_arrays(list items)
cdef Array get_item(Array x, object key)
cdef int set_item(Array x, object key, object value) except -1
cpdef Array gather(Array x, Array indices, int axis)
cpdef object nonzero(Array x)
cdef bint has_batched(object key)
