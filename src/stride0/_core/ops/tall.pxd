# Orthogonal factors of matrices with many more rows than columns: see `tall.pyx`.

from stride0._core.plan.table cimport s0_tall
from stride0._core.array.array cimport Array


cdef class Tall:
    cdef s0_tall all
    cdef Py_ssize_t count           # of matrices
    cdef Array operand, memory, out
    cdef Array squares(self)
    cdef Array multiplied(self, Array by)

cdef bint is_tall(Array x, bint alone) noexcept
cdef Tall factor_tall(Array x, bint alone)
