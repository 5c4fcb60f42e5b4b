# Products of matrices: see `product.pyx`.

from stride0._core.array.array cimport Array

cdef enum:
    SHORT_SUM = 32  # inner elements from which a product of reals is no longer summed up in order in double

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
    # A chunk: so many matrices, or so many rows of each. For BLAS each matrix is `blocks` blocks of `rows` rows, and
    # a chunk is `matrices` blocks.
    Py_ssize_t matrices
    Py_ssize_t rows
    Py_ssize_t blocks
    int code

cdef bint of_our_own(const Product* product, int code) noexcept nogil
cdef int by_blas(Array x1, Array x2, Array out, Product* product) except -1
cdef bint is_for_blas(const Product* product, int code) noexcept
cdef void in_c_order(Product* product, Py_ssize_t size) noexcept nogil
cdef int run_products(Product* product, int code) except -1
