# Products of stacks of matrices: which algorithm computes them.
#
# Note [Algorithms of matrix products]
#     The batch is first merged into as few axes as strides allow, and folded: an axis that is broadcast in `x2` goes into the
#     rows of `x1`, and an axis that is broadcast in `x1` into the columns of `x2`. If each matrix of one stack is multiplied by
#     each matrix of the other, one of the two axes is folded, for fewer and larger products. Other broadcast axes keep the
#     stride 0 and are never copied. Then
#
#     1. a column times a row (K = 1) is a broadcast multiplication;
#     2. matrices by vectors and dot products, of LONG_TERMS floating-point terms or more: Note [Products by vectors];
#     3. all other floating-point products are computed in panels, from any layout: Note [Products in panels]. Shorter dot products
#        of real numbers are added in float64, in order;
#     4. integers use kernels of their own, which read any layout: Note [Products of integers]. Long sums of few columns, and dot
#        products of up to `dot_elements` elements, are the core's reduction "dot" over views of shape (..., M, 1, K) and
#        (..., 1, N, K). Integers that are read repeatedly are copied if they are not contiguous along K.
#
#     A floating-point element depends on its terms and on the sizes of the folded matrices only. A stack of rows times one matrix
#     is folded to one product of matrices: it can differ in last digits from the product of a single row.
#
# Note [Products of integers]
#     One thread of an AVX-512 server, NumPy 2.4, microseconds:
#
#     1000 products of         2x2   4x4          One product of           128x128  300x300
#     int64    these loops     2.7   5.4          int64    these loops          90     1400
#              numpy.matmul     13    51                   numpy.matmul       1700    18000
#                                                 int8     these loops          23
#                                                          numpy.matmul       1250
#
#     Large products of int64 and uint64 are computed in double if their elements are small enough for exact sums
#     (`integer_products.h`). A product of 128x128 with AVX2 takes 119 µs in double. Other elements are split into halves of 32
#     bits, which takes 194 µs.


cdef enum:      # how products are computed: Note [Algorithms of matrix products]
    OWN         # integers
    DOT
    BY_VECTOR
    SHORT_DOT
    PANELS


cdef int algorithm_of(const Product* product, int code, bint in_c_order) noexcept nogil:
    """Note [Algorithms of matrix products]."""
    cdef Py_ssize_t sums = product.count * product.m * product.p
    cdef char letter = letter_at(code)
    cdef bint own = TABLE.products[code] is not NULL and product.n > 1 and (product.p >= tuning.integer_columns or product.n < tuning.integer_sum_elements)
    if letter == c"f" or letter == c"c":
        if (product.m == 1 or product.p == 1) and product.n >= LONG_TERMS:
            return BY_VECTOR
        return SHORT_DOT if letter == c"f" and product.m == 1 and product.p == 1 else PANELS
    if sums == 1 and product.n <= tuning.dot_elements and not (own and in_c_order):
        return DOT
    return OWN if own else DOT


cdef Array usual_product(Array x1, Array x2):
    """
    Multiply a matrix or a stack x1 by a matrix, a stack of equal length or a vector x2, or a row x1 by a matrix, in any layout.

    The inner sizes must be equal, and the dtypes must be equal. Returns None if the general algorithms are needed.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int algorithm, ndim
    if x1.size == 0 or x2.size == 0 or not describe(&product, x1, x2) or product.n < 2 or is_stored(x1.code):
        return None
    ndim = x1.ndim - 1 if x2.ndim == 1 else x1.ndim
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    if x2.ndim > 1:
        shape[ndim - 1] = product.p
    algorithm = algorithm_of(&product, x1.code, x1.c_contiguous and x2.c_contiguous)
    if algorithm == DOT:
        x1 = stack_view(x1, product.count, product.m, product.n, product.strides1)
        x2 = stack_view(x2, product.count, product.n, product.p, product.strides2)
        return view_in_c_order(by_dot(x1, x2, x1.code), ndim, shape)
    if algorithm == BY_VECTOR:
        x1 = as_readable(x1, product.strides1, product.m, product.n)
        x2 = as_readable(x2, product.strides2, product.n, product.p)
        if product.p > 1:
            # A vector times a matrix equals the transposed matrix times the vector.
            transpose(&product)
            x1, x2 = x2, x1
    out = new_array(x1.code, ndim, shape, NULL, False)
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    run_products(&product, x1.code, algorithm)
    return out


cdef int product_without_copies(Product* product, Array x1, Array x2, bint* swapped) noexcept:
    """
    Describe a product for `run_products`, from shapes and strides, if `usual_product` would compute it without copying an operand.

    Returns the algorithm, or -1 for any other product. `swapped` tells whether x2 is the left operand.
    """
    cdef int algorithm
    swapped[0] = False
    if x1.code != x2.code or is_stored(x1.code) or not (x1.size and x2.size and x1.ndim and x2.ndim) or not describe(product, x1, x2) or product.n < 2:
        return -1
    algorithm = algorithm_of(product, x1.code, x1.c_contiguous and x2.c_contiguous)
    if algorithm == BY_VECTOR:
        if not (is_readable(x1, product.strides1, product.m, product.n) and is_readable(x2, product.strides2, product.n, product.p)):
            return -1
        if product.p > 1:
            transpose(product)
            swapped[0] = True
    return -1 if algorithm == DOT else algorithm


cdef bint describe(Product* product, Array x1, Array x2) noexcept:
    """
    Set the sizes and strides of a product of the matrices of x1 and x2. If all matrices of x1 have one right matrix and their
    rows merge, the whole stack becomes one product.

    Returns False if the leading axes do not merge into one axis, or if x2 has more leading axes than x1.
    """
    cdef int axis, own, lead = max(x1.ndim - 2, 0), other = max(x2.ndim - 2, 0)
    cdef Py_ssize_t size, stride1, stride2
    if other > lead:
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


cdef void transpose(Product* product) noexcept:
    """Replace the product x1 @ x2 by its transpose: x2.mT @ x1.mT."""
    cdef Py_ssize_t k
    product.m, product.p = product.p, product.m
    for k in range(3):
        product.strides1[k], product.strides2[(3 - k) % 3] = product.strides2[(3 - k) % 3], product.strides1[k]


cdef bint is_readable(Array x, const Py_ssize_t* strides, Py_ssize_t rows, Py_ssize_t columns) noexcept:
    """Whether matrices have contiguous rows or contiguous columns, and vectors are contiguous."""
    cdef Py_ssize_t size = itemsize_at(x.code)
    return (columns > 1 and strides[2] == size) or (rows > 1 and strides[1] == size)


cdef Array as_readable(Array x, Py_ssize_t* strides, Py_ssize_t rows, Py_ssize_t columns):
    """x if `is_readable` is true for it. Otherwise a copy of x; `strides` are set to the strides of the copy."""
    return x if is_readable(x, strides, rows, columns) else as_packed(x, strides, rows, columns)


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
