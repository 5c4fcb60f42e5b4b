# Products of stacks of matrices: which algorithm computes them, and the products of stride0's own kernels (`products.h`).
#
# Note [Algorithms of matrix products]
#     The batch is first merged into as few axes as strides allow, and folded: an axis that is broadcast in `x2` goes into the
#     rows of `x1`, and an axis that is broadcast in `x1` into the columns of `x2`. If each matrix of one stack is multiplied by
#     each matrix of the other, one of the two axes is folded, so that BLAS is called for fewer and larger products. Other
#     broadcast axes keep the stride 0 and are never copied. Then
#
#     1. a column times a row (K = 1) is a broadcast multiplication;
#     2. integers, few or tiny products of real numbers, and matrices by vectors use kernels of our own, which
#        read any layout: Note [Products of our own]. NumPy is not even imported;
#     3. the core's reduction "dot", over views of shape (..., M, 1, K) and (..., 1, N, K), computes: one dot product (of complex
#        numbers up to `dot_elements`), few or narrow products of complex numbers (`complex_dot_products`,
#        `complex_dot_results`), and long sums of integers. Integers that are read repeatedly are copied if they are not
#        contiguous along K;
#     4. all other products of matrices are computed in panels, from any layout: Note [Products in panels];
#     5. all other products of complex matrices and vectors use BLAS, into memory of ours: Note [Calls of BLAS]. Operands whose
#        strides BLAS cannot read are packed first.
#
# Note [Thresholds of matrix products]
#     Measured on an AVX-512 server with NumPy 2.4, in microseconds. NumPy's times do not
#     include conversion to NumPy and back, which costs some 4 more.
#
#     1000 products of                2x2  3x3  4x4  8x8  16x16  2x2 times 2x1  2x8 times 8x1  1x128 times 128x2
#     complex128  numpy.matmul         60   79   86  210   1150             32             38                167
#                 dot in place (3)     31   66  113  676   4973             15             23                537
#
#     One dot product of float64: 0.6 against 0.8 (1000 elements), 1.5 against 1.6 (10,000), 9.6 against 5.8
#     (100,000).
#
# Note [Products of our own]
#     Integers: every product, except long sums of few columns, which are the reduction "dot". Real
#     floating dtypes: tiny products, whose sums are added up in float64, and matrices by a vector of real_sum_elements
#     elements or more, if the matrix has contiguous rows, or contiguous columns that are long or few. They take as long as
#     reading the matrix. No complex product is computed here. One thread of an AVX-512 server, NumPy 2.4, microseconds:
#
#     1000 products of         2x2   3x3   4x4   8x8   4x4 by 4x1   8x8 by 8x1
#     float64  these loops     2.1   6.1   5.5   190        3.5         17
#              numpy.matmul     27    32    31    52         37         44
#     float32  these loops     3.4    10    16    79        5.8         30
#              numpy.matmul     26    31    31    52         28         31
#     int64    these loops     2.7           5.4
#              numpy.matmul     13            51
#
#     One product of           128x128  300x300         A matrix by a vector  100x100  300x300  768x768  7680x8
#     int64    these loops          90     1400         float64  these loops     1.0        9       64
#              numpy.matmul       1700    18000                  numpy.matmul    1.8       10       72
#     int8     these loops          23                  float32  these loops     0.7        4       28       22
#              numpy.matmul       1250                           numpy.matmul    1.4        5       33        6
#
#     Large products of int64 and uint64 are computed in double if their elements are small enough for exact sums
#     (`integer_products.h`). A product of 128x128 with AVX2 takes 119 µs in double. Other elements are split into halves of 32
#     bits, which takes 194 µs.


# Note [Thresholds of matrix products]

cdef enum:      # how products are computed: Note [Algorithms of matrix products]
    OWN
    DOT
    PANELS
    BLAS

cdef enum:      # what is known of the operands' layout
    ANY_ORDER
    IN_COLUMNS  # columns of the first operand are contiguous elements of the common dtype
    IN_ROWS     # rows of the first operand are contiguous elements of the common dtype
    C_ORDER     # both operands are in C order


cdef int algorithm_of(const Product* product, int code, int layout) noexcept nogil:
    """Notes [Algorithms of matrix products] and [Thresholds of matrix products]."""
    cdef Py_ssize_t sums = product.count * product.m * product.p
    cdef char letter = letter_at(code)
    cdef bint own = of_our_own(product, code)
    # A dot product of floats must have the bits of the reduction in every layout.
    if sums == 1 and (letter == c"f" or product.n <= tuning.dot_elements) and not (own and layout == C_ORDER and letter != c"f"):
        return DOT
    if own and (letter != c"f" or product.p > 1 or product.n < tuning.real_sum_elements or may_read(product.m, product.n, layout)):
        return OWN
    if letter == c"c" and product.m > 1 and product.p > 1:
        return PANELS
    if letter == c"c":
        if sums * product.n <= tuning.complex_dot_products or (product.count >= tuning.complex_dot_matrices and product.m * product.p <= tuning.complex_dot_results and product.n <= tuning.complex_dot_elements):
            return DOT
        return BLAS
    return PANELS if letter == c"f" and not is_stored(code) else DOT


cdef inline bint may_read(Py_ssize_t rows, Py_ssize_t columns, int layout) noexcept nogil:
    """Whether our kernels multiply a matrix by a vector as fast as BLAS does, for long sums."""
    if layout != IN_COLUMNS:
        return layout != ANY_ORDER
    return rows >= tuning.vector_rows or (rows >= tuning.small_vector_rows and rows * columns <= tuning.small_vector_elements)


cdef bint of_our_own(const Product* product, int code) noexcept nogil:
    """Whether stride0's own kernels compute a product of matrices in C order: Note [Products of our own]."""
    cdef Py_ssize_t work = product.m * product.n * product.p
    if TABLE.products[code] is NULL or product.n < 2:
        return False
    if letter_at(code) != c"f":
        return product.p >= tuning.integer_columns or product.n < tuning.integer_sum_elements
    # The reduction "dot" sums up in double.
    if product.count == 1 and product.m == 1 and product.p == 1:
        return product.n < tuning.real_sum_elements
    if work <= tuning.own_matrix_products or (product.p == 1 and product.n >= tuning.real_sum_elements):
        return True
    return product.count * work <= tuning.own_products and product.n < tuning.real_sum_elements


cdef Array usual_product(Array x1, Array x2):
    """
    Multiply a matrix or a stack x1 by a matrix, a stack of equal length or a vector x2, or a row x1 by a matrix, in any layout.

    The inner sizes must be equal, and the dtypes must be equal. Returns None if the general algorithms are needed.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int algorithm, layout, ndim
    cdef Py_ssize_t size = itemsize_at(x1.code)
    if x1.size == 0 or x2.size == 0 or not describe(&product, x1, x2) or product.n < 2 or is_stored(x1.code):
        return None
    ndim = x1.ndim - 1 if x2.ndim == 1 else x1.ndim
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    if x2.ndim > 1:
        shape[ndim - 1] = product.p
    if product.m == 1 and product.p > 1 and product.n >= tuning.real_sum_elements and letter_at(x1.code) == c"f":
        # A vector times a matrix with contiguous columns equals the transposed matrix times the vector: our kernels compute it.
        if may_read(product.p, product.n, order_of(product.strides2[2], product.strides2[1], size)):
            transpose(&product)
            x1, x2 = x2, x1
    layout = C_ORDER if x1.c_contiguous and x2.c_contiguous else order_of(product.strides1[1], product.strides1[2], size)
    algorithm = algorithm_of(&product, x1.code, layout)
    if algorithm == DOT:
        x1 = stack_view(x1, product.count, product.m, product.n, product.strides1)
        x2 = stack_view(x2, product.count, product.n, product.p, product.strides2)
        return view_in_c_order(by_dot(x1, x2, x1.code), ndim, shape)
    out = new_array(x1.code, ndim, shape, NULL, False)
    if algorithm == OWN or algorithm == PANELS:
        if algorithm == OWN and product.p == 1 and product.n >= tuning.real_sum_elements and letter_at(x1.code) == c"f" and product.strides2[1] != size:
            x2 = as_packed(x2, product.strides2, product.n, product.p)
        product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
        run_products(&product, x1.code, algorithm)
        return out
    if not is_readable(product.strides1, product.m, product.n, size):
        x1 = as_packed(x1, product.strides1, product.m, product.n)
    if not is_readable(product.strides2, product.n, product.p, size):
        x2 = as_packed(x2, product.strides2, product.n, product.p)
    x1 = stack_view(x1, product.count, product.m, product.n, product.strides1)
    x2 = stack_view(x2, product.count, product.n, product.p, product.strides2)
    in_rows_of(product.strides1, product.m, product.p, size)
    matrices = stack_view(out, product.count, product.m, product.p, product.strides1)
    if not multiply_by_blas(x1, x2, matrices):
        run_matmul(x1, x2, matrices)
    return out


cdef bint describe(Product* product, Array x1, Array x2) noexcept:
    """
    Set the sizes and strides of a product of the matrices of x1 and x2. If all matrices of x1 have one right matrix and their
    rows merge, the whole stack becomes one product.

    Returns False if the leading axes do not merge into one axis, or if x2 has more leading axes than x1.
    """
    cdef int axis, own, lead = max(x1.ndim - 2, 0), other = max(x2.ndim - 2, 0)
    cdef Py_ssize_t size, stride1, stride2
    if other > lead or x1.ndim + x2.ndim == 2:
        return False
    product.count, product.strides1[0], product.strides2[0] = 1, 0, 0
    product.m, product.strides1[1] = 1, 0
    if x1.ndim > 1:
        product.m, product.strides1[1] = x1.shape_[lead], x1.strides_[lead]
    product.n, product.strides1[2] = x1.shape_[x1.ndim - 1], x1.strides_[x1.ndim - 1]
    product.strides2[1], product.p, product.strides2[2] = x2.strides_[other], 1, 0
    if x2.ndim > 1:
        product.p, product.strides2[2] = x2.shape_[other + 1], x2.strides_[other + 1]
    for axis in range(lead - 1, -1, -1):
        own = axis - lead + other
        size, stride1, stride2 = x1.shape_[axis], x1.strides_[axis], 0
        if own >= 0 and x2.shape_[own] != 1:
            if x2.shape_[own] != size:
                return False
            stride2 = x2.strides_[own]
        if size == 1:
            continue
        if product.count == 1:
            product.strides1[0], product.strides2[0] = stride1, stride2
        elif stride1 != product.count * product.strides1[0] or stride2 != product.count * product.strides2[0]:
            return False
        # Broadcast matrices are for the general algorithms.
        if stride1 == 0:
            return False
        product.count *= size
    if product.count > 1 and product.strides2[0] == 0:
        if product.m == 1:
            product.strides1[1] = product.strides1[0]
        elif product.strides1[0] != product.m * product.strides1[1]:
            return True
        product.m *= product.count
        product.count = 1
    return True


cdef int order_of(Py_ssize_t down, Py_ssize_t across, Py_ssize_t size) noexcept:
    """What is known of the layout of matrices by their strides."""
    return IN_ROWS if across == size else IN_COLUMNS if down == size else ANY_ORDER


cdef void transpose(Product* product) noexcept:
    """Replace the product x1 @ x2 by its transpose: x2.mT @ x1.mT."""
    cdef Py_ssize_t k
    product.m, product.p = product.p, product.m
    for k in range(3):
        product.strides1[k], product.strides2[(3 - k) % 3] = product.strides2[(3 - k) % 3], product.strides1[k]


cdef bint is_readable(Py_ssize_t* strides, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t size) noexcept:
    """Whether BLAS can read matrices, by the rule of `readable`. Arbitrary strides of axes of size 1 are set to valid strides."""
    if columns == 1:
        strides[2] = size
    if rows == 1:
        strides[1] = columns * size if strides[2] == size else size
    return (strides[2] == size and strides[1] >= columns * size) or (strides[1] == size and strides[2] >= rows * size)


cdef void in_rows_of(Py_ssize_t* strides, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t size) noexcept:
    """The strides of matrices in C order."""
    strides[0], strides[1], strides[2] = rows * columns * size, columns * size, size


cdef Array as_packed(Array x, Py_ssize_t* strides, Py_ssize_t rows, Py_ssize_t columns):
    """Copy a stack of matrices, or one matrix for all products, to C order; `strides` becomes the strides of the copy."""
    cdef bint one = strides[0] == 0
    x = copy_array(x, x.code, True)
    in_rows_of(strides, rows, columns, itemsize_at(x.code))
    if one:
        strides[0] = 0
    return x


cdef Array stack_view(Array x, Py_ssize_t count, Py_ssize_t rows, Py_ssize_t columns, const Py_ssize_t* strides):
    """The memory of x as a matrix, or as a stack of several with one leading axis."""
    cdef Py_ssize_t shape[3]
    cdef int ndim = 2 if count == 1 else 3
    shape[0], shape[1], shape[2] = count, rows, columns
    return view_of(x, data_of(x), ndim, &shape[3 - ndim], &strides[3 - ndim])


cdef Array view_in_c_order(Array x, int ndim, const Py_ssize_t* shape):
    """An array in C order in another shape."""
    cdef Py_ssize_t strides[MAX_NDIM]
    if x.ndim == ndim and memcmp(x.shape_, shape, ndim * sizeof(Py_ssize_t)) == 0:
        return x
    c_strides_of(itemsize_at(x.code), ndim, shape, strides)
    return view_of(x, data_of(x), ndim, shape, strides)
