# Tables of Fourier transforms: see `twiddles.pyx`.

from libc.stdint cimport int64_t

from stride0._core.plan.table cimport s0_fourier, s0_passes
from stride0._core.array.array cimport Array

cdef enum:
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible


cdef class Tables:
    cdef s0_fourier all
    cdef Array memory

cdef int factor_into(Py_ssize_t n, s0_passes* passes) noexcept
cdef void find_roots(const int64_t* which, Py_ssize_t count, Py_ssize_t n, double* cosines, double* sines, double* angles) noexcept nogil
cdef Tables tables_of(Py_ssize_t n, bint of_real, bint beside)
