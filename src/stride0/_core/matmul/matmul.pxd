# See `matmul.pyx`.

from libc.stdint cimport int64_t

from stride0._core.memory.dtype cimport DType
from stride0._core.plan.loops cimport s0_panels, s0_product
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.array cimport Array

# Products of matrices: see `own_products.pxi`.

cdef struct Product:
    const char* left
    const char* right
    char* out               # in C order
    Py_ssize_t strides1[3]    # in bytes, from matrix to matrix, row to row and column to column
    Py_ssize_t strides2[3]
    Py_ssize_t count        # of matrices with
    Py_ssize_t m            # rows and
    Py_ssize_t n            # columns, times such of n rows and
    Py_ssize_t p            # columns
    # A chunk: the number of its matrices, or the number of rows or columns that it takes of each matrix.
    Py_ssize_t matrices
    Py_ssize_t rows
    Py_ssize_t columns
    int code
    s0_product kernel       # NULL: of direct products
    bint failed             # for lack of memory

cdef int product_without_copies(Product* product, Array x1, Array x2, bint* swapped) noexcept
cdef int run_products(Product* product, int code, int algorithm) except -1

# Products in panels: see `panels.pxi`.

cdef struct Panels:
    s0_panels block
    Py_ssize_t each         # units of a chunk
    Py_ssize_t units
    int64_t unchecked       # multiplications since the last check for signals
    int code
    bint upper              # whether only the upper triangle of the result is computed
    bint alone              # whether the calling thread computes, without checks for signals

cdef Py_ssize_t panel_bytes(int code, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p) noexcept nogil
cdef int panel_product(
    Panels* whole, const double* left, Py_ssize_t down, Py_ssize_t across, const double* right, Py_ssize_t line,
    double* out, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p, bint subtracts, bint conjugate) except -1 nogil
cdef Py_ssize_t parts_of(int code) noexcept nogil


cdef enum:
    MOST_CALLERS = 64       # threads for which OpenBLAS has buffers, in NumPy's builds


# Inner loops of NumPy's LAPACK: see `gufuncs.pxi`.

# In the order of `ROUTINES` in `numpy_loops.py`.
cdef enum Routine:
    EIG
    EIGH
    EIGVALS
    EIGVALSH
    LSTSQ
    QR_RAW          # leaves both factors in its operand
    QR_REDUCED
    QR_COMPLETE
    SVD
    SVD_REDUCED
    SVD_FULL
    N_ROUTINES

cdef bint has_loop(int routine, int code) except -1
cdef Array aligned_copy(Array x)
cdef bint run_lapack(int routine, tuple arrays) except -1


# Products of matrices: see `product.pxi`.


cpdef Array multiply_stacks(Array x1, Array x2, tuple batch, DType dtype)


# Contractions of labelled axes: see `contraction.pxi`.

cdef enum:
    MOST_LABELS = 2 * MAX_NDIM      # as in `_base/subscripts.py`: of two operands
