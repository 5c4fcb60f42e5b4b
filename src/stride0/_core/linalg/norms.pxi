# Norms of vectors and matrices, by reductions that read the operand once. Declared in `linalg/_functions.py`.
#
# If a sum of squares has overflowed, or if some squares may have underflowed, the sum is computed again from scaled elements.
# Other powers are always computed from scaled elements.

# In smaller sums of squares, some squares may have underflowed.
cdef double LEAST_SUM = 1e-280


cdef int real_code(int code) noexcept:
    return FLOAT64 if code == COMPLEX128 else FLOAT32 if code == COMPLEX64 else code


cdef Array magnitudes(Array x):
    return <Array>unary_raw(OP_ABS, x, "abs")


cdef Array over_axes(str reduction, Array x, tuple axes, int out_code):
    """Reduce over axes, which are kept with size 1."""
    return accumulate(reduction, 1, x, None, axes, True, x.code, out_code)


cdef object vector_norm(str name, PyObject** given):
    """`given`: x, axis, keepdims, ord."""
    cdef Array x = as_floating(array_argument(given[0], "vector_norm", "x")), out
    cdef bint whole = given[1] is <PyObject*>None and <object>given[2] is False, keepdims
    cdef tuple axes = axes_tuple(given[1], x.ndim, "vector_norm")
    cdef double p
    keepdims = flag_argument(given[2], "vector_norm", "keepdims")
    p = order_of(<object>given[3])
    # A reduction of all elements has a fast path.
    if p == 2:
        out = euclidean(x, axes, reduce_whole("sum_squares", x) if whole else over_axes("sum_squares", x, axes, FLOAT64))
    elif whole and letter_at(x.code) == c"f" and (p == 1 or p == INFINITY):
        out = reduce_whole("sum_abs" if p == 1 else "max_abs", x)
        if out.code != x.code:
            out = copy_array(out, x.code, True)
    elif p == 1:
        out = sum_of_magnitudes(x, axes)
    elif p == 0:
        out = copy_array(over_axes("count_nonzero", x, axes, INT64), real_code(x.code), True)
    elif isinf(p):
        out = extreme_magnitude("vector_norm", x, axes, p > 0)
    else:
        out = root_of_powers(x, axes, p)
    return out if keepdims or out.ndim == 0 else without_axes(out, axes)


cdef double order_of(object order) except? -1:
    """The `ord` argument of a vector norm as a number."""
    cdef double p
    given = order
    if type(order) is not int and type(order) is not float:
        order = as_scalar("vector_norm", "ord", order)
        if isinstance(order, (bool, complex)):
            raise ArgumentTypeError("vector_norm", "ord must be an int or a float", [("ord", shown(given))], "pass a number, for example ord=2")
    p = as_float("vector_norm", order) if type(order) is int else <double>order
    if isnan(p):
        raise ArgumentValueError("vector_norm", "ord must not be NaN", (), "pass a number, for example ord=2")
    return p


cdef Array sum_of_magnitudes(Array x, tuple axes):
    if letter_at(x.code) == c"f":
        return over_axes("sum_abs", x, axes, x.code)
    return over_axes("sum", magnitudes(x), axes, real_code(x.code))


cdef Array extreme_magnitude(str name, Array x, tuple axes, bint largest):
    if largest:
        if letter_at(x.code) == c"f":
            return over_axes("max_abs", x, axes, x.code)
        x = magnitudes(x)
        return over_axes("max_abs", x, axes, x.code)
    for axis in axes:
        if x.shape_[<int>axis] == 0:
            raise ShapeError(name, "x has no elements, so there is no smallest magnitude", [("x", f"{x.shape}")], "pass an array with elements")
    x = magnitudes(x)
    return over_axes("min", x, axes, x.code)


cdef Array euclidean(Array x, tuple axes, Array squares):
    """The square roots of `squares`, a new contiguous float64 array: in place, or in the real dtype of x."""
    cdef int real = real_code(x.code)
    cdef double* sums = <double*>data_of(squares)
    cdef double* scaled
    cdef double* scale
    cdef Py_ssize_t i
    cdef bint doubtful = False
    cdef Array out, parts, extreme
    if real == FLOAT32:
        out = new_like(squares, FLOAT32)
        for i in range(squares.size):
            (<float*>data_of(out))[i] = <float>sqrt(sums[i])
        return out
    for i in range(squares.size):
        doubtful = doubtful or is_doubtful(sums[i])
    if not doubtful or real != FLOAT64 or x.size == 0:
        for i in range(squares.size):
            sums[i] = sqrt(sums[i])
        return squares if real == FLOAT64 else copy_array(squares, real, True)
    parts = magnitudes(x)
    extreme = scale_of(parts, axes, True)
    parts = over_axes("sum_squares", <Array>binary_raw(OP_DIVIDE, parts, extreme, "divide", False), axes, FLOAT64)
    scaled, scale = <double*>data_of(parts), <double*>data_of(extreme)
    for i in range(squares.size):
        sums[i] = sqrt(scaled[i]) * scale[i] if is_doubtful(sums[i]) else sqrt(sums[i])
    return squares


cdef inline bint is_doubtful(double squares) noexcept:
    return squares < LEAST_SUM or squares == INFINITY


cdef Array scale_of(Array magnitudes, tuple axes, bint largest):
    """The largest or smallest magnitude along axes, in float64; 1 instead of 0, infinity and NaN."""
    cdef Array out = over_axes("max" if largest else "min", magnitudes, axes, FLOAT64)
    cdef double* scale = <double*>data_of(out)
    cdef Py_ssize_t i
    for i in range(out.size):
        if not isfinite(scale[i]) or scale[i] == 0:
            scale[i] = 1
    return out


cdef Array root_of_powers(Array x, tuple axes, double p):
    """The norm of order p, computed in float64."""
    cdef Array parts = copy_array(magnitudes(x), FLOAT64, False), scale = None, out
    cdef Py_ssize_t i
    if x.size:
        # After scaling the largest power is 1, so the sum can neither overflow nor underflow.
        scale = scale_of(parts, axes, p > 0)
        parts = <Array>binary_raw(OP_DIVIDE, parts, scale, "divide", False)
    parts = <Array>binary_raw(OP_POW, parts, p, "pow", False)
    out = <Array>binary_raw(OP_POW, over_axes("sum", parts, axes, FLOAT64), 1 / p, "pow", False)
    if scale is not None:
        for i in range(out.size):
            (<double*>data_of(out))[i] *= (<double*>data_of(scale))[i]
    return copy_array(out, real_code(x.code), True) if real_code(x.code) != FLOAT64 else out


cdef object matrix_norm(str name, PyObject** given):
    """`given`: x, keepdims, ord."""
    cdef Array x = as_floating(check_matrices("matrix_norm", <object>given[0])), out
    cdef bint keepdims = flag_argument(given[1], "matrix_norm", "keepdims")
    cdef int rows = x.ndim - 2, columns = x.ndim - 1
    order = <object>given[2]
    if order is None:
        order = "fro"
    elif not isinstance(order, str):
        order = as_scalar("matrix_norm", "ord", order)
    if order == "fro":
        out = euclidean(x, (rows, columns), over_axes("sum_squares", x, (rows, columns), FLOAT64))
    elif isinstance(order, bool) or order not in (1, -1, INFINITY, -INFINITY, "nuc", 2, -2):
        raise ArgumentValueError(
            "matrix_norm", f"unknown norm {shown(<object>given[2])}", (), "pass ord='fro', 'nuc', 1, 2, inf, -1, -2 or -inf")
    elif order in ("nuc", 2, -2):
        out = singular_values("matrix_norm", x)
        if order == "nuc":
            out = over_axes("sum", out, (rows,), out.code)
        else:
            out = extreme_magnitude("matrix_norm", out, (rows,), order == 2)
        return with_last_axis(out) if keepdims else without_axes(out, (rows,))
    else:
        out = sum_of_magnitudes(x, (rows if order in (1, -1) else columns,))
        out = extreme_magnitude("matrix_norm", out, (columns if order in (1, -1) else rows,), order > 0)
    return out if keepdims else without_axes(out, (rows, columns))


cdef Array with_last_axis(Array x):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int k
    for k in range(x.ndim):
        shape[k], strides[k] = x.shape_[k], x.strides_[k]
    shape[x.ndim], strides[x.ndim] = 1, itemsize_at(x.code)
    return view_of(x, data_of(x), x.ndim + 1, shape, strides)


implement("linalg.matrix_norm", matrix_norm)
implement("linalg.vector_norm", vector_norm)
