# Fourier transforms of lanes by kernels of our own: see `transforms.pyx`.

from stride0._core.plan.table cimport s0_fourier_kind
from stride0._core.array.array cimport Array

cdef void mirror_spectra(int code, char* memory, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, bint inverse) noexcept nogil
cdef bint run_fourier(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1
