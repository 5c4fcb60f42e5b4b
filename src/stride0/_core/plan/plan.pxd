# The planner: the iteration space of a call and the strides of its operands, by functions on plain C structs.

cdef enum:
    MAX_NDIM = 64
    MAX_OPERANDS = 4    # of a kernel
    MAX_VIEWS = 24      # of a chain: its leaves, then its outputs
    MAX_CHAIN_NDIM = 16 # axes of a chain of several kernels
    MAX_STRIDES = MAX_VIEWS * MAX_CHAIN_NDIM    # of a plan: a single kernel has fewer
    SHORTEST = 8        # elements along both axes from which transposing, or merging rows, is faster


ctypedef struct Operand:
    # Memory as an array sees it: logical axes, outermost first, strides in bytes.
    char* data
    int code        # dtype
    int ndim
    const Py_ssize_t* shape
    const Py_ssize_t* strides


ctypedef struct Plan:
    int nop         # the inputs, then the results
    int ndim
    int axis[MAX_NDIM]  # the logical axis that each axis of the plan came from; innermost first
    Py_ssize_t shape[MAX_NDIM]
    char* data[MAX_VIEWS]
    int code[MAX_VIEWS]
    # Of each operand along the axes: in `room`, which has `pitch` of them for each.
    Py_ssize_t* strides[MAX_VIEWS]
    int pitch
    Py_ssize_t room[MAX_STRIDES]


cdef inline void add_operand(Plan* plan, char* data, int code) noexcept nogil:
    """Add an operand, whose strides the caller sets."""
    cdef int k = plan.nop
    plan.data[k], plan.code[k], plan.strides[k] = data, code, &plan.room[k * plan.pitch]
    plan.nop += 1


cdef int broadcast(const Operand* operands, int nop, Py_ssize_t* shape, int* ndim) noexcept nogil
cdef void set_strides(Plan* plan, const Operand* operands, int nop, const Py_ssize_t* shape, int ndim) noexcept nogil
cdef void set_result(Plan* plan, const Operand* result, const Py_ssize_t* shape, int ndim) noexcept nogil
cdef void order_axes(Plan* plan, bint result_first) noexcept nogil
cdef void swap_axes(Plan* plan, int first, int second) noexcept nogil
cdef void innermost(Plan* plan, int axis) noexcept nogil
cdef bint as_rows(Plan* plan, int axis, bint contiguous) noexcept nogil
cdef void result_strides(const Plan* plan, const Py_ssize_t* shape, int ndim, Py_ssize_t itemsize, Py_ssize_t* strides) noexcept nogil
cdef void coalesce(Plan* plan, int first) noexcept nogil
cdef void copy_space(Plan* out, const Plan* plan) noexcept nogil
cdef void copy_plan(Plan* out, const Plan* plan) noexcept nogil
cdef void extent(const Operand* operand, char** low, char** high) noexcept nogil
cdef bint shares_location(const Operand* operand) noexcept nogil
