# How operations run on arrays: see `copy.pyx`.

from libc.stdint cimport int64_t, uint64_t

from stride0._core.array.array cimport Array
from stride0._core.memory.dtype cimport letter_at
from stride0._core.plan.table cimport Kernel

# Whether kernels may use vectors of 512 bits.
cdef bint WIDE

# Names of the operands, for errors.
cdef tuple UNARY_NAMES
cdef tuple BINARY_NAMES

ctypedef fused number:
    int64_t
    uint64_t
    double


cdef int check_assignment(Array target, Array source) except -1
cdef Array scalar_array(object value, int code, str operation)
cdef Array weak_array(object value, int code, str operation)
cdef object named_shapes(tuple names, Array x1, Array x2, Array x3)
cdef int check_writable(Array out, str operation) except -1
cdef bint overlaps(Array out, Array x) except -1
cdef Array apply(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names)
cpdef bint is_numpy_scalar(object value)
cdef Array foreign_scalar(object value)
cdef object refuse_operand(str name, str argument, object value)
cdef bint is_known_foreign(object value)
cdef Array weak_operand(Array a, object value, str name)
cdef int check_cast(int source, int target, str operation) except -1
cdef Array copy_array(Array x, int code, bint c_order)
cdef int assign_array(Array dst, Array src, str operation) except -1
cdef Array value_operand(Array dst, object src, str operation)
cdef bint exports_buffer(object source)
cdef int fill(Array out, object value, str name) except -1


cdef inline void count_up(number* out, Py_ssize_t n, number start, number step) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = start + <number>i * step


cdef inline bint is_same_kind(int source, int target) noexcept:
    """Whether a dtype that the dtype `target` was promoted to may be cast back to it: the size may change, the kind may not."""
    return letter_at(source) == letter_at(target) or (letter_at(source) == c"u" and letter_at(target) == c"i")
