# Inner loops of NumPy's LAPACK and FFT: see `gufuncs.pyx`.

from stride0._core.array.array cimport Array

# In the order of `ROUTINES` in `exchange/numpy_calls.py`.
cdef enum Routine:
    CHOLESKY_LOWER
    CHOLESKY_UPPER
    DET
    EIG
    EIGH
    EIGVALS
    EIGVALSH
    INV
    LSTSQ
    QR_RAW          # leaves both factors in its operand
    QR_REDUCED
    QR_COMPLETE
    SLOGDET
    SOLVE
    SVD
    SVD_REDUCED
    SVD_FULL
    FFT
    IFFT
    RFFT_EVEN
    RFFT_ODD
    IRFFT
    MATMUL
    N_ROUTINES

cdef bint has_loop(int routine, int code) except -1
cdef Array readable(Array x)
cdef bint run_lapack(int routine, tuple arrays) except -1
cdef int run_fft(int routine, Array x, double factor, Array out) except -1
cdef int run_matmul(Array x1, Array x2, Array out) except -1
