# See `fourier.pyx`.

from libc.stdint cimport int64_t

from stride0._core.plan.plan cimport s0_fourier, s0_fourier_kind, s0_passes
from stride0._core.array.array cimport Array

# Tables of Fourier transforms: see `twiddles.pxi`.



cdef enum:
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible


cdef class Tables:
    cdef s0_fourier all
    cdef Array memory

cdef int factor_into(Py_ssize_t n, s0_passes* passes) noexcept
cdef void find_roots(const int64_t* which, Py_ssize_t count, Py_ssize_t n, double* cosines, double* sines, double* angles) noexcept nogil
cdef Tables tables_of(Py_ssize_t n, bint of_real, bint beside)


# Fourier transforms of lanes by kernels of our own: see `transforms.pxi`.


cdef void mirror_spectra(int code, char* memory, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, bint inverse) noexcept nogil
cdef bint run_fourier(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1


# Fourier transforms of long lanes of any length: see `long_transforms.pxi`.


cdef enum:
    LEAST_LONG = 1 << 16    # numbers of a lane that pocketfft is not asked for

cdef int run_long(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1
