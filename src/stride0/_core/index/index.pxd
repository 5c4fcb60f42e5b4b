# See `index.pyx`.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.array cimport Array

# Keys of arrays: see `keys.pxi`.

cdef struct Selection:
    # The view that the items of a key have made so far.
    char* data
    int ndim
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t strides[MAX_NDIM]


# Fast gather: see `masks.pxi`.

cdef extern from "gathering.h":
    Py_ssize_t s0_count_true(const uint8_t* bits, Py_ssize_t n) noexcept nogil
    Py_ssize_t s0_true_indices(const uint8_t* bits, Py_ssize_t n, int64_t* out, Py_ssize_t capacity) noexcept nogil
    Py_ssize_t s0_gather_true(int itemsize, const uint8_t* bits, Py_ssize_t n, const char* source, Py_ssize_t stride, char* out, Py_ssize_t capacity) noexcept nogil
    void s0_fill(int itemsize, const uint8_t* bits, Py_ssize_t n, char* to, Py_ssize_t stride, const void* value, int vector) noexcept nogil
    void s0_scatter_true(int itemsize, const uint8_t* bits, Py_ssize_t n, char* to, Py_ssize_t stride, const void* source, Py_ssize_t count) noexcept nogil
    bint s0_are_within(const int64_t* indices, Py_ssize_t n, Py_ssize_t size) noexcept nogil
    bint s0_scatter(int itemsize, const int64_t* indices, Py_ssize_t n, char* to, Py_ssize_t stride, Py_ssize_t size, const void* source, Py_ssize_t step) noexcept nogil
    bint s0_gather(int itemsize, const int64_t* indices, Py_ssize_t n, const char* source, Py_ssize_t stride, Py_ssize_t size, char* out) noexcept nogil
    void s0_gather_lanes(int itemsize, const int64_t* indices, Py_ssize_t n, const char* source, Py_ssize_t lane_bytes, Py_ssize_t lanes, char* out) noexcept nogil
    bint s0_gather_along(
        int itemsize, const int64_t* indices, Py_ssize_t index_step, Py_ssize_t n, const char* source, Py_ssize_t step, Py_ssize_t stride, Py_ssize_t size, char* out
    ) noexcept nogil
    bint s0_scatter_along(
        int itemsize, const int64_t* indices, Py_ssize_t index_step, Py_ssize_t n, char* to, Py_ssize_t lane, Py_ssize_t stride, Py_ssize_t size, const void* source, Py_ssize_t step
    ) noexcept nogil
    bint s0_gather_runs(const int64_t* indices, Py_ssize_t n, const char* source, Py_ssize_t size, Py_ssize_t run, Py_ssize_t first, Py_ssize_t count, char* to) noexcept nogil


# Keys with arrays: see `gathering.pxi`.

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
cdef int move_gathered(Gathering where_, Array other, int mode) except -1
cpdef Array gather(Array x, Array indices, int axis)
cpdef object nonzero(Array x)


# Operations of backward passes: see `adjoint.pxi`.

cdef Array scaled(Array x, object factor)
cdef Array added(Array x1, Array x2)
cdef int add_at(Array x, key, Array values) except -1
cpdef Array sum_into(Array x, tuple shape)
cpdef Array dot_into(Array x1, Array x2, tuple shape)
