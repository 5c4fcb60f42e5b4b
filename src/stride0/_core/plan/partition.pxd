# How the work of a chain is partitioned: into chunks, for threads and for signals, and reductions into fixed chunks.

from libc.stdint cimport int64_t, uintptr_t

from stride0._core.plan.chain cimport Chain
from stride0._core.plan.plan cimport Plan
from stride0._core.plan.table cimport Kernel, loops_of
from stride0._core.plan.threads cimport s0_chunk

cdef enum:
    # Elements from which the interpreter's lock is released and threads may be used; below, both cost more time than
    # they save.
    LONG_RUN = 1 << 13
    ALIGNMENT = 64      # of scratch memory for vectors, in bytes

cdef bint run_kernel(const Plan* plan, Kernel kernel, bint interruptible) noexcept nogil
cdef bint run_chain(const Plan* plan, const Chain* chain, bint interruptible) noexcept nogil
cdef bint run_along(const Plan* plan, Kernel kernel, int axis) noexcept nogil
cdef bint run_long(Kernel kernel, char** args, const Py_ssize_t* strides, Py_ssize_t n) noexcept nogil
cdef int threads_for(int64_t work) noexcept nogil
cdef Py_ssize_t chunks_for(int64_t work, int threads) noexcept nogil
cdef int run_shared(s0_chunk body, void* context, Py_ssize_t* each, Py_ssize_t count, int64_t work) except -1
cdef bint takes_long(Kernel kernel, Py_ssize_t size) noexcept nogil


cdef inline char* aligned(char* memory) noexcept nogil:
    """The first aligned byte of scratch memory, which has ALIGNMENT bytes more than are needed."""
    return memory + (-<uintptr_t>memory) % ALIGNMENT


cdef inline int run_contiguous(Kernel kernel, int layout, char** args, const Py_ssize_t* strides, Py_ssize_t n) except -1:
    """
    The fast path of an elementwise kernel, or one of a whole axis: one contiguous run of the dtypes that it reads and
    writes needs no plan.

    The stride of an operand is its item size, or 0: a broadcast scalar of at most 16 bytes, anywhere in memory. Fails
    with the exception of a signal handler.
    """
    cdef bint done
    if n >= LONG_RUN:
        with nogil:
            done = run_long(kernel, args, strides, n)
        return 0 if done else -1
    if n > 0:
        loops_of(kernel)[layout](args, strides, strides, n, 1)
    return 0
