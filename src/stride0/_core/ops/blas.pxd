# Products of matrices by BLAS: see `blas.pyx`.

from libc.stdint cimport int64_t

from stride0._core.array.array cimport Array

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
    # A chunk: so many matrices, or so many rows of each. For BLAS each matrix is `blocks` blocks of `rows` rows in `parts`
    # sums of `length` elements, `step` of them in a call, and a chunk is `matrices` of these.
    Py_ssize_t matrices
    Py_ssize_t rows
    Py_ssize_t blocks
    Py_ssize_t length
    Py_ssize_t step
    Py_ssize_t parts
    char* sums              # a result for each part, where there are several
    int code
    bint failed             # for lack of memory

cdef enum:
    MOST_CALLERS = 64       # threads for which OpenBLAS has buffers, in NumPy's builds

cdef bint begin_alone() except -1
cdef void end_alone() noexcept
cdef bint multiply_by_blas(Array x1, Array x2, Array out) except -1
cdef int64_t time_of(const Product* product) noexcept nogil
cdef Array as_operand(Array x, int code, bint in_rows)
cdef Array packed(Array x, int code)
