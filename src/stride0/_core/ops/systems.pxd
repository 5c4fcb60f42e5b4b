# Systems of linear equations of few rows: see `systems.pyx`.

from stride0._core.array.array cimport Array

cdef bint are_few(Array x) noexcept
cdef Array stack_of(Array x, Array like, Py_ssize_t* strides)
cdef bint solve_few(Array a, Array b, Array out) except -1
cdef bint factor_few(Array a, Array out, bint upper) except -1
cdef int determinants_of_few(Array a, Array factors, Array exponents) except -1
