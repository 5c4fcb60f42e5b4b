# The number of threads of a call, and the pool that runs its chunks.

from libc.stdint cimport int64_t

ctypedef void (*s0_chunk)(void* context, int chunk) noexcept nogil

cdef int threads_worth(int64_t work, int64_t wake_from, int64_t each) noexcept nogil
cdef bint run_chunks(s0_chunk body, void* context, Py_ssize_t chunks, int threads, bint interruptible) noexcept nogil
cdef bint run_equal_chunks(s0_chunk body, void* context, Py_ssize_t* extent, Py_ssize_t count, Py_ssize_t chunks, int threads) noexcept nogil
cdef bint may_raise() noexcept nogil
cdef bint is_stopped() noexcept nogil
