# See `fourier.pyx`.

from stride0._core.plan.plan cimport s0_fourier
from stride0._core.array.array cimport Array

# Tables of Fourier transforms: see `twiddles.pxi`.

cdef enum:
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible


cdef class Tables:
    cdef s0_fourier all
    cdef Array memory


# Fourier transforms of long lanes of any length: see `long_transforms.pxi`.


cdef enum:
    LEAST_LONG = 1 << 16    # numbers of a lane that pocketfft is not asked for
