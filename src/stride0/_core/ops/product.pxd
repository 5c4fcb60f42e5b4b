# Products of matrices: see `product.pyx`.

from stride0._core.array.array cimport Array
from stride0._core.memory.dtype cimport DType

cdef enum:
    SHORT = 16384       # elements of a dot product that the reduction "dot" makes, if there is but one

cdef Array usual_product(Array x1, Array x2)
cpdef Array multiply_stacks(Array x1, Array x2, tuple batch, DType dtype)
