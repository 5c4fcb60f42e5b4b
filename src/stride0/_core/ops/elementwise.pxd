# Elementwise operations: see `elementwise.pyx`.

from stride0._core.array.array cimport Array

cdef int loop_for(int op, int code, str name) except -1
cdef object unary(int op, object x, str name)
cdef object binary(int op, object x1, object x2, str name, bint is_operator)
cdef object in_place(int op, Array x, object other, str name)
cdef object ternary(int op, object x1, object x2, object x3, str name, tuple names)
cdef Array masked_product(Array g, Array d)
cdef object unary_raw(int op, Array a, str name)
cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator)
