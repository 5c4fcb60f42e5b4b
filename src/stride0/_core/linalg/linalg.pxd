# See `linalg.pyx`.

from stride0._core.plan.plan cimport s0_tall
from stride0._core.array.array cimport Array

# Orthogonal factors of matrices with many more rows than columns: see `tall_matrices.pxi`.


cdef class Tall:
    cdef s0_tall all
    cdef Py_ssize_t count           # of matrices
    cdef Array operand, memory, out
    cdef Array squares(self)
    cdef Array multiplied(self, Array by)


# Operands of decompositions, and singular values: see `decompositions.pxi`.

cpdef Array check_matrices(str op, object x, str name=*)
cpdef Array check_square(str op, object x, str name=*)
cpdef Array as_floating(Array x)
cpdef int refuse_storage_dtypes(str op, Array x) except -1
cpdef int check_rows(str op, Array x1, Array x2) except -1
cpdef Array singular_values(str op, Array x)
