# The ids of kernels: kind, row and dtype.

cdef enum:
    KIND_OP             # row of OPS
    KIND_CAST           # row: the code of the source dtype
    KIND_WHERE
    KIND_PAIR           # row of PAIRS: Note [Pairs of steps] of `pairs.pxi`
    KIND_REDUCTION      # row of REDUCTIONS
    # These need a complete axis, and have one loop for all layouts.
    KIND_SCAN
    KIND_SCAN_ROWS
    KIND_ARG
    KIND_ARG_ROWS


# The id of a kernel: its index in the table.
ctypedef struct Kernel:
    short kind
    short row
    short code      # dtype that the kernel reads; of a cast, the target; of a `where`, the dtype of the selected operands


cdef inline Kernel kernel_of(int kind, int row, int code) noexcept nogil:
    cdef Kernel kernel
    kernel.kind, kernel.row, kernel.code = <short>kind, <short>row, <short>code
    return kernel


cdef inline Kernel op_kernel(int op, int code) noexcept nogil:
    return kernel_of(KIND_OP, op, code)


cdef inline Kernel cast_kernel(int source, int target) noexcept nogil:
    return kernel_of(KIND_CAST, source, target)


cdef inline bint is_copy(Kernel kernel) noexcept nogil:
    return kernel.kind == KIND_CAST and kernel.row == kernel.code


cdef inline Kernel where_kernel(int code) noexcept nogil:
    return kernel_of(KIND_WHERE, 0, code)


cdef inline Kernel pair_kernel(int pair, int code) noexcept nogil:
    return kernel_of(KIND_PAIR, pair, code)


cdef inline Kernel reduction_kernel(int reduction, int code) noexcept nogil:
    return kernel_of(KIND_REDUCTION, reduction, code)
