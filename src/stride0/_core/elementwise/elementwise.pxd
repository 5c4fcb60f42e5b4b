# See `elementwise.pyx`.

from libc.stdint cimport int64_t, uint64_t

from stride0._core.memory.dtype cimport DType, dtype_at, itemsize_at
from stride0._core.plan.operations cimport OP_EQUAL, OP_NOT_EQUAL
from stride0._core.plan.plan cimport Kernel, cast_kernel, has_cast, tuning
from stride0._core.array.array cimport Array, data_of

# Operands: see `operands.pxi`.

# Names of the operands, for errors.
cdef tuple UNARY_NAMES
cdef tuple BINARY_NAMES

cdef object named_shapes(tuple names, Array x1, Array x2, Array x3)
cdef Array scalar_array(object value, int code, str operation)
cdef Array weak_array(object value, int code, str operation)
cdef Array weak_operand(Array a, object value, str name)
cpdef bint is_numpy_scalar(object value)
cdef bint is_known_foreign(object value)
cdef bint exports_buffer(object source)
cdef Array value_operand(Array dst, object src, str operation)


# How planned elementwise operations run: see `apply.pxi`.

cdef int check_writable(Array out, str operation) except -1
cdef bint overlaps(Array out, Array x) except -1
cdef Array select(Array condition, Array x1, Array x2, int code)
cdef Array apply(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names)


# Copies, casts and assignment: see `copies.pxi`.


ctypedef fused number:
    int64_t
    uint64_t


cpdef int check_cast(str operation, DType source, DType target) except -1
cdef Array copy_array(Array x, int code, bint c_order)
cdef Array broadcast_like(Array x, Array like)
cdef int check_assignment(Array target, Array source) except -1
cdef int assign_array(Array dst, Array src, str operation) except -1
cdef int fill(Array out, object value, str name) except -1
cdef int spread(Array out, double start, double step) except -1


cdef inline int check_codes(str operation, int source, int target) except -1:
    """`check_cast` of the dtypes of two codes."""
    return 0 if has_cast(source, target) else check_cast(operation, dtype_at(source), dtype_at(target))


cdef inline void count_up(number* out, Py_ssize_t n, number start, number step) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = start + <number>i * step


# Comparisons that no loop answers: see `comparisons.pxi`.

cdef inline bint is_equality(int op) noexcept:
    return op == OP_EQUAL or op == OP_NOT_EQUAL


# Elementwise operations: see `operations.pxi`.

cdef int loop_for(int op, int code, str name) except -1
cdef object unary(int op, object x, str name)
cdef object binary(int op, object x1, object x2, str name, bint is_operator)
cdef object in_place(int op, Array x, object other, str name)
cdef object ternary(int op, object x1, object x2, object x3, str name, tuple names)
cdef Array masked_product(Array g, Array d)
cdef object unary_raw(int op, Array a, str name)
cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator)
