# See `program.pyx`.

from stride0._core.memory.guards cimport (
    FREE_THREADED, s0_drops, s0_enter_section, s0_has_drops, s0_is_last_leave, s0_leave_section, s0_section,
)
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.plan cimport Kernel
from stride0._core.array.array cimport Array

# Deferred results: see `deferred.pxi`.

cdef s0_section pending_lock
cdef s0_drops dropped

cdef void drop_and_leave() noexcept


cdef inline void enter_pending() noexcept:
    """Enter the (recursive) lock of programs in a free-threaded interpreter."""
    s0_enter_section(&pending_lock)


cdef inline void leave_pending() noexcept:
    if FREE_THREADED and s0_is_last_leave(&pending_lock) and s0_has_drops(&dropped):
        drop_and_leave()
    else:
        s0_leave_section(&pending_lock)


cdef bint defers(Py_ssize_t size, bint pending) except -1
cdef bint may_be_leaf(Array x) except -1
cdef bint replace_pending(Array x, Array other) noexcept
cdef Array try_to_defer_reduction(
    Kernel kernel, int nin, Array x, Array x2, tuple axes, bint keepdims, bint from_first, const char* start, int code, str name
)
cdef bint divide_pending(Array total, double divisor, int code) except -1
cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
)


# Passes over memory for deferred results: see `passes.pxi`.

cdef void divide_sums(double* total, char* out, bint is_single, double count, Py_ssize_t n) noexcept


# Computing deferred results: see `evaluation.pxi`.

cdef bint assign_pending(Array x, Array source) except -1
cdef bint store_result(Array result, Array x, Storage spared) except -1
cdef bint copy_pending(Array out, Array source) except -1
