# Operands of BLAS: their strides, and copies of operands that BLAS cannot read.

cdef void matrix_strides(Py_ssize_t* strides, Array x) noexcept:
    """The strides of a matrix, or of a stack with one leading axis: 0 along that if its size is 1."""
    strides[0] = x.strides_[0] if x.ndim == 3 and x.shape_[0] > 1 else 0
    strides[1], strides[2] = x.strides_[x.ndim - 2], x.strides_[x.ndim - 1]


cdef int64_t time_of(const Product* product) noexcept nogil:
    """A rough estimate of its time on one thread, in nanoseconds."""
    cdef int64_t work = product.count * product.m * product.n * product.p
    if product.m * product.n * product.p <= tuning.blas_quick_products:
        return work // 4
    if letter_at(product.code) == c"c":
        return work * itemsize_at(product.code) // 64
    if product.p == 1:
        return work * itemsize_at(product.code) // 100 if letter_at(product.code) == c"f" else work // 8
    return work * itemsize_at(product.code) // 128


cdef Array as_operand(Array x, int code, bint in_rows):
    """A stack of matrices of a dtype, with contiguous rows where that is asked for: x itself, or packed."""
    cdef int last = x.ndim - 1
    if x.code == code and (not in_rows or x.shape_[last] == 1 or x.strides_[last] == itemsize_at(code)):
        return x
    return packed(x, code)


cdef Array packed(Array x, int code):
    """A stack of matrices of a dtype in C order; along broadcast axes it is copied only once."""
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Array base
    cdef int axis
    if x.ndim == 2:
        return copy_array(x, code, True)
    base = copy_array(without_broadcast_axes(x, tuple(range(x.ndim - 2))), code, True)
    for axis in range(x.ndim):
        strides[axis] = base.strides_[axis] if base.shape_[axis] == x.shape_[axis] else 0
    return view_of(base, data_of(base), x.ndim, x.shape_, strides)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_other_threads)
