# Products of stacks of matrices, for `matmul` and contractions.

cpdef Array multiply_stacks(Array x1, Array x2, tuple batch, DType dtype):
    """
    The products of two stacks of matrices: a new array of shape (*batch, M, N), of `dtype`, to which theirs promote.

    Their shapes are (..., M, K) and (..., K, N), their dtypes numeric; the leading axes broadcast to `batch`.
    """
    cdef int code = arithmetic_code(dtype.code)
    if code != dtype.code:
        return copy_array(multiply_stacks(copy_array(x1, code, False), copy_array(x2, code, False), batch, dtype_at(code)), dtype.code, False)
    rows, inner = x1.shape[-2:]
    columns = x2.shape[-1]
    shape = (*batch, rows, columns)
    if not inner or 0 in shape:
        return zeros(shape, dtype)
    if inner == 1:
        return <Array>binary_raw(OP_MULTIPLY, x1, x2, "matmul", False)
    plain = x1.ndim == x2.ndim == 2 or (x1.c_contiguous and x2.c_contiguous)
    if len(batch) <= 1 and x1.shape[:-2] == x2.shape[:-2] and plain:
        return multiply_alike(x1, x2, dtype)
    strides1, strides2 = batch_strides(x1, batch), batch_strides(x2, batch)
    x1, x2 = merged_batch(x1, x2, batch, strides1, strides2)
    # Along an axis that is broadcast in both operands, one product is computed for all indices.
    moving = tuple([n if s1 or s2 else 1 for n, s1, s2 in zip(batch, strides1, strides2)])
    order = list(range(len(batch)))
    if x1.ndim == 4 and strides(x1)[1] == 0 and strides(x2)[0] == 0:
        # Multiply each matrix of x1 by each matrix of x2. If the axis of x1's matrices comes second, they are the rows of one matrix.
        order = [axis for axis in order if strides1[axis] == 0] + [axis for axis in order if strides1[axis] != 0]
        x1, x2 = exchanged(x1), exchanged(x2)
    sizes = [moving[axis] for axis in order]
    if x1.ndim == 3 and strides(x1)[0] == 0 and (folded := folded_rows(swapped_matrix(x2))) is not None:
        # Computed transposed, so that the batch is the first axis in memory.
        result = multiply_alike(folded, swapped_matrix(restride(x1, x1.shape[1:], strides(x1)[1:])), dtype)
        result_strides = (*[rows * columns * s for s in c_strides(sizes)], 1, rows)
    else:
        while x1.ndim > 2 and strides(x2)[-3] == 0 and (folded := folded_rows(x1)) is not None:
            x1 = folded
            x2 = restride(x2, (*x2.shape[:-3], *x2.shape[-2:]), (*strides(x2)[:-3], *strides(x2)[-2:]))
        result = multiply_alike(x1, x2, dtype)
        result_strides = c_strides((*sizes, rows, columns))
    result_strides = (*[result_strides[order.index(axis)] for axis in range(len(batch))], *result_strides[-2:])
    if moving == batch:
        return restride(result, shape, result_strides)
    broadcast_strides = [s if n == m else 0 for s, n, m in zip(result_strides, batch, moving)]
    return copy(restride(result, shape, (*broadcast_strides, *result_strides[-2:])), None, "C")


cdef Array exchanged(Array x):
    """A stack with its two leading axes exchanged."""
    return restride(x, (x.shape[1], x.shape[0], *x.shape[2:]), (strides(x)[1], strides(x)[0], *strides(x)[2:]))


cdef tuple batch_strides(Array x, tuple batch):
    """The strides of the leading axes of `x` when it is broadcast to `batch`."""
    missing = len(batch) - x.ndim + 2
    own = zip(x.shape, strides(x), batch[missing:])
    return (*(0,) * missing, *[s if n == m else 0 for n, s, m in own])


cdef tuple merged_batch(Array x1, Array x2, tuple batch, tuple strides1, tuple strides2):
    """Both operands with the same batch axes: merged, without axes that are broadcast in both."""
    cdef list merged = []
    for n, s1, s2 in zip(batch, strides1, strides2):
        if n == 1 or not (s1 or s2):
            continue
        if merged and merged[-1][1:] == (n * s1, n * s2):
            merged[-1] = (merged[-1][0] * n, s1, s2)
        else:
            merged.append((n, s1, s2))
    sizes = [n for n, _, _ in merged]
    return (
        restride(x1, (*sizes, *x1.shape[-2:]), (*[s for _, s, _ in merged], *strides(x1)[-2:])),
        restride(x2, (*sizes, *x2.shape[-2:]), (*[s for _, _, s in merged], *strides(x2)[-2:])),
    )


cdef Array folded_rows(Array x):
    """A stack (..., n, R, C) as (..., n * R, C), or None where that is no view."""
    *lead, n, rows, columns = x.shape
    *lead_strides, stride, down, across = strides(x)
    if rows == 1:
        down = stride
    elif stride != rows * down:
        return None
    return restride(x, (*lead, n * rows, columns), (*lead_strides, down, across))


cdef Array multiply_alike(Array x1, Array x2, DType dtype):
    """The products of stacks with equal leading axes, in C order."""
    cdef int code = dtype.code, lead = x1.ndim - 2
    cdef int algorithm = algorithm_of_stacks(x1, x2, code)
    cdef Array out
    if algorithm == DOT:
        return by_dot(x1, x2, code)
    if algorithm == BY_VECTOR and x2.shape_[lead + 1] > 1:
        # A vector times a matrix equals the transposed matrix times the vector.
        out = own_product(swapped_matrix(x2), swapped_matrix(x1), code, algorithm)
        return restride(out, (*x1.shape[:-1], x2.shape[-1]), (*strides(out)[:-2], x2.shape[-1], 1))
    return own_product(x1, x2, code, algorithm)


cdef int algorithm_of_stacks(Array x1, Array x2, int code) noexcept:
    cdef Product product
    cdef int axis, lead = x1.ndim - 2
    product.m, product.n, product.p, product.count = x1.shape_[lead], x1.shape_[lead + 1], x2.shape_[lead + 1], 1
    for axis in range(lead):
        product.count *= x1.shape_[axis]
    return algorithm_of(&product, code, False)


cdef Array by_dot(Array x1, Array x2, int code):
    """Sum up products in the core: (..., M, 1, K) times (..., 1, N, K). Integers that are read repeatedly are packed first."""
    cdef int lead = x1.ndim - 2
    if letter_at(code) == c"i" or letter_at(code) == c"u":
        if x2.shape_[lead + 1] > 1:
            x1 = as_operand(x1, x1.code, True)
        if x1.shape_[lead] > 1:
            x2 = swapped_matrix(as_operand(swapped_matrix(x2), x2.code, True))
    left = beside_other_axis(x1, lead + 1, x1.strides_[lead], x1.strides_[lead + 1])
    right = beside_other_axis(x2, lead, x2.strides_[lead + 1], x2.strides_[lead])
    return accumulate("dot", 2, left, right, (lead + 2,), False, code, code)


cdef Array beside_other_axis(Array x, int axis, Py_ssize_t along, Py_ssize_t inner):
    """A view of a stack of matrices: an axis of size 1 before or after the rows (or columns), and the inner axis last."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int lead = x.ndim - 2, rows = lead + (axis == lead), is_right = axis == lead
    if x.ndim == MAX_NDIM:
        check_ndim("matmul", x.ndim + 1)
    memcpy(shape, x.shape_, lead * sizeof(Py_ssize_t))
    memcpy(strides, x.strides_, lead * sizeof(Py_ssize_t))
    shape[axis], strides[axis] = 1, 0
    shape[rows], strides[rows] = x.shape_[lead + is_right], along
    shape[lead + 2], strides[lead + 2] = x.shape_[lead + 1 - is_right], inner
    return view_of(x, data_of(x), x.ndim + 1, shape, strides)
