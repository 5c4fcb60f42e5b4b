# Fourier transforms of long lanes of any length: see `long_transforms.pyx`.

from stride0._core.plan.table cimport s0_fourier_kind
from stride0._core.array.array cimport Array

cdef enum:
    LEAST_LONG = 1 << 16    # numbers of a lane that pocketfft is not asked for

cdef int run_long(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1
