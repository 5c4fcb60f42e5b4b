# The planner: from operands to loops, in small steps on plain C structs.

from libc.stdint cimport int64_t

cdef extern from "kernels.h":
    ctypedef void (*s0_loop)(char**, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_transpose)(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_copy)(char*, const char*, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_product)(const char*, const Py_ssize_t*, const char*, const Py_ssize_t*, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    void s0_stream_end() noexcept nogil
    enum:
        S0_OPS
        S0_DTYPES
        S0_REDUCTIONS
        S0_SCANS
        S0_ARG_REDUCTIONS
        S0_LAYOUTS
        S0_REDUCE_LAYOUTS
        S0_WIDTHS
    ctypedef struct s0_kernels:
        s0_loop ops[S0_OPS][S0_DTYPES][S0_LAYOUTS]
        s0_loop casts[S0_DTYPES][S0_DTYPES][S0_LAYOUTS]
        s0_loop where[S0_WIDTHS][S0_LAYOUTS]
        s0_loop reductions[S0_REDUCTIONS][S0_DTYPES][S0_REDUCE_LAYOUTS]
        s0_loop scans[S0_SCANS][S0_DTYPES]
        s0_loop arg_reductions[S0_ARG_REDUCTIONS][S0_DTYPES]
        s0_loop scan_rows[S0_SCANS][S0_DTYPES]
        s0_loop arg_rows[S0_ARG_REDUCTIONS][S0_DTYPES]
        s0_transpose transpose[S0_WIDTHS]
        s0_copy stream
        s0_loop streams[S0_OPS][S0_DTYPES][S0_LAYOUTS]
        s0_loop stream_casts[S0_DTYPES][S0_DTYPES]
        s0_product products[S0_DTYPES]

cdef enum:
    MAX_NDIM = 64
    MAX_OPERANDS = 4


ctypedef struct Operand:
    # Memory as an array sees it: logical axes, outermost first, steps in bytes.
    char* data
    int code        # dtype in memory
    int loop_code   # dtype in the loop; differs where the planner has to cast
    int ndim
    const Py_ssize_t* shape
    const Py_ssize_t* strides


ctypedef struct Plan:
    int nop         # the inputs, then the result
    int ndim
    int axis[MAX_NDIM]  # the logical axis that each axis of the plan came from; innermost first
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t strides[MAX_OPERANDS][MAX_NDIM]
    char* data[MAX_OPERANDS]
    int code[MAX_OPERANDS]
    int loop_code[MAX_OPERANDS]


cdef s0_kernels* kernels() noexcept nogil
cdef int broadcast(const Operand* operands, int nop, Py_ssize_t* shape, int* ndim) noexcept nogil
cdef void set_strides(Plan* plan, const Operand* operands, int nop, const Py_ssize_t* shape, int ndim) noexcept nogil
cdef void set_result(Plan* plan, const Operand* result, const Py_ssize_t* shape, int ndim) noexcept nogil
cdef void order_axes(Plan* plan, bint result_first) noexcept nogil
cdef void innermost(Plan* plan, int axis) noexcept nogil
cdef void result_strides(const Plan* plan, const Py_ssize_t* shape, int ndim, Py_ssize_t itemsize, Py_ssize_t* strides) noexcept nogil
cdef void coalesce(Plan* plan, int first) noexcept nogil
cdef bint run_elementwise(const Plan* plan, const s0_loop* loops, bint interruptible) noexcept nogil
cdef bint run_reduction(const Plan* plan, const s0_loop* loops) noexcept nogil
cdef bint as_rows(Plan* plan, int axis) noexcept nogil
cdef bint run_along(const Plan* plan, s0_loop loop, int axis) noexcept nogil
cdef int threads_for(int64_t work) noexcept nogil
cdef Py_ssize_t chunks_for(int64_t work, int threads) noexcept nogil
cdef bint takes_long(const s0_loop* loops, Py_ssize_t size) noexcept nogil
cdef void extent(const Operand* operand, char** low, char** high) noexcept nogil
cdef bint shares_location(const Operand* operand) noexcept nogil
