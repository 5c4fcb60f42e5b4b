# Operands of products: copies of operands that kernels cannot read.

cdef int64_t time_of(const Product* product) noexcept nogil:
    """A rough estimate of its time on one thread, in nanoseconds."""
    cdef int64_t work = product.count * product.m * product.n * product.p
    if product.m * product.n * product.p <= tuning.quick_products:
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
