# Comparisons that no loop answers: see `comparisons.pyx`.

from stride0._core.array.array cimport Array
from stride0._core.plan.operations cimport OP_EQUAL, OP_NOT_EQUAL

cdef object compare_beyond(int op, Array a, object value, bint reflected, str name)
cdef object compare_signs(int op, Array a, Array b, bint swapped, str name)
cdef object compare_other(int op, Array x, object value, str name)
cdef bint is_operand(object value) except -1


cdef inline bint is_equality(int op) noexcept:
    return op == OP_EQUAL or op == OP_NOT_EQUAL
