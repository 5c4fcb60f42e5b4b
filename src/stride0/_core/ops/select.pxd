# Direct selection: see `select.pyx`.

from libc.stdint cimport int64_t, uint8_t, uint64_t

from stride0._core.array.array cimport Array

cdef extern from "gathering.h":
    Py_ssize_t s0_count_true(const uint8_t* bits, Py_ssize_t n) noexcept nogil
    Py_ssize_t s0_places(const uint8_t* bits, Py_ssize_t n, int64_t* out, Py_ssize_t room) noexcept nogil
    Py_ssize_t s0_select(int width, const uint8_t* bits, Py_ssize_t n, const char* source, Py_ssize_t step, char* out, Py_ssize_t room) noexcept nogil
    void s0_fill(int width, const uint8_t* bits, Py_ssize_t n, char* to, Py_ssize_t step, const void* value, int wide) noexcept nogil
    bint s0_pick(int width, const int64_t* indices, Py_ssize_t n, const char* source, Py_ssize_t step, Py_ssize_t size, char* out) noexcept nogil
    void s0_pick_lines(int width, const int64_t* indices, Py_ssize_t n, const char* source, Py_ssize_t line, Py_ssize_t lines, char* out) noexcept nogil
    bint s0_pick_runs(const int64_t* indices, Py_ssize_t n, const char* source, Py_ssize_t size, Py_ssize_t run, Py_ssize_t lines, char* out) noexcept nogil

cdef Array gather_directly(Array x, object key)
cdef void shorten(Array x, Py_ssize_t n) noexcept
cdef bint fill_by_mask(Array x, object key, Array value) except -1
cdef bint fill_lane(Array target, Array value) noexcept
cdef Array by_indices(Array x, Array index, int axis)
cdef tuple true_places(Array mask)
cdef int refuse_indices(Array index, Py_ssize_t size, int axis) except -1
cdef Array index_offsets(Array index, Py_ssize_t size, Py_ssize_t step)
