# Tables of Fourier transforms: see `twiddles.pyx`.

from stride0._core.plan.table cimport s0_fourier
from stride0._core.array.array cimport Array

cdef enum:
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible


cdef class Tables:
    cdef s0_fourier all
    cdef Array memory

cdef Tables tables_of(Py_ssize_t n, bint of_real, bint beside)
