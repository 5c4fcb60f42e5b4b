# Products by kernels of our own (`products.h`).

cdef void run_product(void* context, int chunk) noexcept nogil:
    cdef Product* whole = <Product*>context
    cdef Py_ssize_t size = itemsize_at(whole.code), first, k
    cdef int status = 0
    if whole.matrices:
        first = chunk * whole.matrices
        status = whole.kernel(
            whole.left + first * whole.strides1[0], whole.strides1, whole.right + first * whole.strides2[0], whole.strides2,
            whole.out + first * whole.m * whole.p * size, min(whole.matrices, whole.count - first), whole.m, whole.n, whole.p)
    else:
        first = chunk * whole.rows
        for k in range(whole.count):
            status |= whole.kernel(
                whole.left + k * whole.strides1[0] + first * whole.strides1[1], whole.strides1, whole.right + k * whole.strides2[0],
                whole.strides2, whole.out + (k * whole.m + first) * whole.p * size, 1, min(whole.rows, whole.m - first), whole.n,
                whole.p)
    if status:
        s0_write_int(whole.failed, True)


cdef int run_products(Product* product, int code, int algorithm) except -1:
    """Compute the products by OWN or PANELS, on several threads where that is faster: partitioned between matrices, else between rows."""
    cdef int64_t work
    cdef int threads
    cdef Py_ssize_t chunks
    cdef bint done = True
    product.code, product.failed = code, False
    if algorithm == PANELS and not is_direct(product):
        return run_panels(product)
    product.kernel = TABLE.direct_products[code - FLOAT32] if algorithm == PANELS else TABLE.products[code]
    work = time_of(product)
    product.matrices, product.rows = product.count, 0
    if work < tuning.long_run_elements:
        run_product(product, 0)
    else:
        with nogil:
            threads = threads_for(work)
            chunks = chunks_for(work, threads)
            if chunks > 1:
                # Elements are independent: any partition gives the same bits.
                if product.count >= chunks:
                    product.matrices = (product.count + chunks - 1) // chunks
                    chunks = (product.count + product.matrices - 1) // product.matrices
                else:
                    product.matrices = 0
                    product.rows = ((product.m + chunks - 1) // chunks + 7) // 8 * 8
                    chunks = (product.m + product.rows - 1) // product.rows
            done = run_chunks(run_product, product, chunks, threads, True)
    if not done:
        return -1  # with the exception of a signal handler
    if product.failed:
        raise MemoryError("matmul: no memory for the blocks of a product")
    return 0


cdef Array own_product(Array x1, Array x2, int code, int algorithm):
    """The products of two stacks with equal leading axes, by kernels of our own; a new array in C order."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Product product
    cdef Array out
    cdef int axis, lead = x1.ndim - 2
    cdef Py_ssize_t size = itemsize_at(code), outer = 1, k
    guard_gradient(x1, "matmul")
    guard_gradient(x2, "matmul")
    product.m, product.n, product.p = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1]
    product.count = x1.shape_[lead - 1] if lead else 1
    for axis in range(lead - 1):
        outer *= x1.shape_[axis]
    product.count *= outer
    if algorithm == OWN and product.p == 1 and letter_at(code) == c"f" and product.n >= tuning.real_sum_elements:
        x2 = as_operand(x2, code, False)
        if x2.strides_[lead] != size:
            x2 = swapped_matrix(as_operand(swapped_matrix(x2), code, True))
    x1, x2 = as_operand(x1, code, False), as_operand(x2, code, False)
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    shape[lead + 1] = product.p
    out = new_array(code, x1.ndim, shape, NULL, False)
    for k in range(3):
        product.strides1[k] = x1.strides_[lead - 1 + k] if lead or k else 0
        product.strides2[k] = x2.strides_[lead - 1 + k] if lead or k else 0
    product.left, product.right, product.out = data_of(x1), data_of(x2), data_of(out)
    product.count //= outer
    # The leading axes but the last one.
    memset(position, 0, sizeof(position))
    while True:
        run_products(&product, code, algorithm)
        product.out += product.count * product.m * product.p * size
        axis = lead - 2
        while axis >= 0:
            position[axis] += 1
            product.left += x1.strides_[axis]
            product.right += x2.strides_[axis]
            if position[axis] < x1.shape_[axis]:
                break
            product.left -= position[axis] * x1.strides_[axis]
            product.right -= position[axis] * x2.strides_[axis]
            position[axis] = 0
            axis -= 1
        if axis < 0:
            return out
