# See `index.pyx`.

from libc.stdint cimport int64_t, uint8_t

from stride0._core.plan.loops cimport s0_loop
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.array cimport Array

# Keys of arrays: see `keys.pxi`.

cdef struct Selection:
    # The view that results from the items of a key so far.
    char* data
    int ndim
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t strides[MAX_NDIM]


# Lanes of gathers and scatters.

cdef extern from "index_loops.h":
    ctypedef struct s0_pick:
        Py_ssize_t size, stride
        int axis

    ctypedef struct s0_index_lanes:
        const char* indices
        char* here
        char* other
        Py_ssize_t n, m, index_step, index_lane, step, lane, other_step, other_lane, stride, size

    cdef enum:
        S0_READ, S0_WRITE, S0_ADD, S0_MAX_PICKS, S0_MAX_ROWS

    Py_ssize_t s0_count_true(const uint8_t* bits, Py_ssize_t n) noexcept nogil
    Py_ssize_t s0_true_indices(const uint8_t* bits, int ndim, const Py_ssize_t* shape, int64_t** columns, Py_ssize_t count) noexcept nogil
    Py_ssize_t s0_gather_true(int width, const uint8_t* bits, Py_ssize_t n, const char* source, Py_ssize_t stride, char* out, Py_ssize_t capacity) noexcept nogil
    Py_ssize_t s0_scatter_true(int width, const uint8_t* bits, Py_ssize_t n, char* to, Py_ssize_t stride, const char* source, Py_ssize_t count) noexcept nogil
    Py_ssize_t s0_fill_true(int width, const uint8_t* bits, Py_ssize_t n, char* to, Py_ssize_t stride, const char* value, int vector) noexcept nogil
    bint s0_are_within(const int64_t* indices, Py_ssize_t n, Py_ssize_t size) noexcept nogil
    bint s0_make_positive(int64_t* indices, Py_ssize_t n, Py_ssize_t size) noexcept nogil
    bint s0_gather_points(
        int ndim, int width, const int64_t** indices, const Py_ssize_t* sizes, const Py_ssize_t* strides, Py_ssize_t n, const char* source, char* out
    ) noexcept nogil
    bint s0_move_lanes(const s0_index_lanes* lanes, int mode, int width, Py_ssize_t run) noexcept nogil
    bint s0_move_picked(
        int mode, int width, Py_ssize_t run, const s0_pick* picks, int count, char** at, const Py_ssize_t* steps, const Py_ssize_t* lanes,
        Py_ssize_t n, Py_ssize_t m, s0_loop copy
    ) noexcept nogil


cdef Array get_item(Array x, object key)
cdef int set_item(Array x, object key, object value) except -1
cpdef Array gather(Array x, Array indices, int axis)
cpdef object nonzero(Array x)


# Operations of backward passes: see `adjoint.pxi`.

cdef Array scaled(Array x, object factor)
cdef Array added(Array x1, Array x2)
cdef int add_at(Array x, key, Array values) except -1
cpdef Array sum_into(Array x, tuple shape)
cpdef Array dot_into(Array x1, Array x2, tuple shape)
