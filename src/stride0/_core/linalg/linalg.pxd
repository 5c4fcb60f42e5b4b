# See `linalg.pyx`.

from stride0._core.plan.plan cimport s0_tall
from stride0._core.array.array cimport Array

# Systems of linear equations of few rows: see `systems.pxi`.


cdef bint are_few(Array x) noexcept
cdef Array stack_of(Array x, Array like, Py_ssize_t* strides)
cdef bint solve_few(Array a, Array b, Array out) except -1
cdef bint factor_few(Array a, Array out, bint upper) except -1
cdef int determinants_of_few(Array a, Array factors, Array exponents) except -1


# Orthogonal factors of matrices with many more rows than columns: see `tall_matrices.pxi`.



cdef class Tall:
    cdef s0_tall all
    cdef Py_ssize_t count           # of matrices
    cdef Array operand, memory, out
    cdef Array squares(self)
    cdef Array multiplied(self, Array by)

cdef bint is_tall(Array x, bint alone) noexcept
cdef Tall factor_tall(Array x, bint alone)


# Operands of decompositions, and singular values: see `decompositions.pxi`.


cpdef Array check_matrices(str op, object x, str name=*)
cpdef Array check_square(str op, object x, str name=*)
cpdef Array as_floating(Array x)
cpdef int refuse_storage_dtypes(str op, Array x) except -1
cpdef int check_rows(str op, Array x1, Array x2) except -1
cpdef Array singular_values(str op, Array x)
