# Fast gather: see `select.pyx`.

from libc.stdint cimport int64_t, uint8_t, uint64_t

from stride0._core.array.array cimport Array

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

cdef Array gather_fast(Array x, object key)
cdef void truncate(Array x, Py_ssize_t n) noexcept
cdef bint write_fast(Array x, object key, Array value) except -1
cdef bint assign_few(Array target, Array value) except -1
cdef Array gather_by_indices(Array x, Array index, int axis)
cdef tuple true_indices(Array mask)
cdef int refuse_changed_indices(Array index, Py_ssize_t size, int axis) except -1
cdef int refuse_indices(Array index, Py_ssize_t size, int axis) except -1
cdef Array index_offsets(Array index, Py_ssize_t size, Py_ssize_t stride)
