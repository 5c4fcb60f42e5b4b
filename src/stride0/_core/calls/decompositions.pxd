# Operands of decompositions, and singular values: see `decompositions.pyx`.

from stride0._core.array.array cimport Array

cpdef Array check_matrices(str op, object x, str name=*)
cpdef Array check_square(str op, object x, str name=*)
cpdef Array as_floating(Array x)
cpdef int refuse_storage_dtypes(str op, Array x) except -1
cpdef int check_rows(str op, Array x1, Array x2) except -1
cpdef Array singular_values(str op, Array x)
