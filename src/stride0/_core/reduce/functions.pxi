# Functions that reduce arrays. Declared in `_chapters/`: `statistical.py`, `utility.py`, `searching.py`.

cdef double FAR_OFF_CENTRE = OFF_CENTRE


cdef object reduce_axes(str name, Array x, PyObject* axis, PyObject* keepdims, object dtype):
    """A reduction over the axes that are named, or over all."""
    cdef bint keep
    if axis is <PyObject*>None and <object>keepdims is False and dtype is None:
        return reduce_whole(name, x)
    axes = axes_tuple(axis, x.ndim, name)
    keep = flag_argument(keepdims, name, "keepdims")
    return reduce_array(name, x, axes, keep, dtype)


cdef object over_axes_or_all(str name, PyObject** given):
    """`given`: x, axis, keepdims."""
    return reduce_axes(name, array_argument(given[0], name, "x"), given[1], given[2], None)


# --- sums and products


cpdef DType sum_dtype(str operation, Array x, object dtype):
    """The dtype of sums and products: small integers are widened, since their sums overflow."""
    cdef char letter = letter_at(x.code)
    cdef int code
    if dtype is None:
        return dtype_at(UINT64 if letter == c"u" else INT64 if letter == c"i" or letter == c"b" else x.code)
    code = dtype_code_argument(<PyObject*>dtype, operation, -1)
    if code == BOOL:
        refuse_dtype(operation, dtype_at(code), "a numeric dtype", "the result")
    if letter == c"c" and letter_at(code) != c"c":
        check_cast(operation, x.dtype, dtype_at(code))
    return dtype_at(code)


cdef object reduce_in_dtype(str name, PyObject** given):
    """A sum or a product; `given`: x, axis, dtype, keepdims."""
    cdef Array x = array_argument(given[0], name, "x")
    return reduce_axes(name, x, given[1], given[3], None if given[2] is <PyObject*>None else sum_dtype(name, x, <object>given[2]))


cdef object scan_axis(str name, PyObject** given):
    """`given`: x, axis, dtype, include_initial."""
    cdef Py_ssize_t one = 1, stride
    cdef Array x = array_argument(given[0], name, "x")
    cdef DType target = sum_dtype(name, x, <object>given[2])
    cdef int axis = 0
    if x.ndim == 0:
        stride = itemsize_at(x.code)
        x = view_of(x, data_of(x), 1, &one, &stride)
    if given[1] is <PyObject*>None:
        if x.ndim > 1:
            raise ArgumentValueError(name, f"axis must be given for an array with {x.ndim} axes", [("x", f"{x.shape}")],
                                     f"pass an axis from {-x.ndim} to {x.ndim - 1}")
    elif not read_axis(given[1], x.ndim, &axis):
        axis = convert_axis(given[1], x.ndim, name)
    return scan(name, x, axis, target, flag_argument(given[3], name, "include_initial"))


# --- extremes


cdef object find_extreme(str name, PyObject** given):
    """`given`: x, axis, keepdims."""
    cdef Array x = array_argument(given[0], name, "x")
    refuse_complex(x, name, "x")
    if x.size == 0:
        for axis in axes_tuple(given[1], x.ndim, name):
            if x.shape_[<int>axis] == 0:
                raise ShapeError(name, f"axis {axis} has no elements to choose from", [("x", f"{x.shape}")], "pass an array with elements")
    return reduce_axes(name, x, given[1], given[2], None)


cdef Array without_repeats(Array x, tuple axes):
    """x with size 1 along broadcast axes: the same mean, without the overflow of n equal summands."""
    # A deferred array has none.
    if x.c_contiguous or is_deferred(x):
        return x
    return without_broadcast_axes(x, axes)


cdef Array flatten(Array x):
    """The elements in C order along one axis; a view where strides allow."""
    cdef Py_ssize_t stride
    if x.ndim == 1:
        return x
    if not strides_for_shape(x, 1, &x.size, &stride):
        x = copy_array(x, x.code, True)
        stride = itemsize_at(x.code)
    return view_of(x, data_of(x), 1, &x.size, &stride)


cdef object find_extreme_index(str name, PyObject** given):
    """The index of an extreme; `given`: x, axis, keepdims."""
    cdef Py_ssize_t ones[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Py_ssize_t index, found = 0, stride = 1
    cdef Array x = array_argument(given[0], name, "x"), base, out
    cdef bint keepdims = flag_argument(given[2], name, "keepdims")
    cdef int axis = -1, k
    refuse_complex(x, name, "x")
    if given[1] is not <PyObject*>None and not read_axis(given[1], x.ndim, &axis):
        axis = convert_axis(given[1], x.ndim, name)
    if (x.size if axis < 0 else x.shape_[axis]) == 0:
        where = "x" if axis < 0 else f"axis {axis}"
        raise ShapeError(name, f"{where} has no elements to choose from", [("x", f"{x.shape}")], "pass an array with elements")
    if axis >= 0:
        return argreduce(name, x, axis, keepdims)
    # Along broadcast axes the first of the equal elements is at index 0; the others keep their order.
    base = x if x.c_contiguous or (x.ndim == 1 and x.strides_[0]) else <Array>without_broadcast_axes(x, tuple(range(x.ndim)))
    out = argreduce(name, base if base.ndim == 1 else flatten(base), 0, False)
    if base.size != x.size:
        index = (<int64_t*>data_of(out))[0]
        for k in range(x.ndim - 1, -1, -1):
            found += index % base.shape_[k] * stride
            index //= base.shape_[k]
            stride *= x.shape_[k]
        (<int64_t*>data_of(out))[0] = found
    if not keepdims:
        return out
    for k in range(x.ndim):
        ones[k], strides[k] = 1, 0
    return view_of(out, data_of(out), x.ndim, ones, strides)


# --- means and variances


cdef int wide_code(int code) noexcept:
    return COMPLEX128 if letter_at(code) == c"c" else FLOAT64


cdef Array wide_mean(Array x, tuple axes, bint keepdims, DType dtype):
    """The mean, summed up in float64 or complex128; of that dtype where none is given."""
    cdef int code = wide_code(x.code)
    cdef Array total
    x = without_repeats(x, axes)
    total = reduce_array("sum", x, axes, keepdims, dtype_at(code))
    return mean_of_total(total, <double>(x.size // total.size if total.size else 0), dtype)


cdef object mean(str name, PyObject** given):
    cdef Array x = array_argument(given[0], "mean", "x")
    cdef DType dtype = None
    if given[3] is not <PyObject*>None:
        check_standard("mean", "a dtype is given", "Statistical functions: mean has no parameter dtype")
        dtype = dtype_at(dtype_code_argument(given[3], "mean", -1))
        if letter_at(dtype.code) != c"f" and letter_at(dtype.code) != c"c":
            refuse_dtype("mean", dtype, "a floating-point dtype", "the result")
        check_cast("mean", x.dtype, dtype)
        if x.code != dtype.code:
            x = copy_array(x, dtype.code, False)
    if x.code == FLOAT64 and x.c_contiguous and given[1] is <PyObject*>None and <object>given[2] is False:
        return mean_of_total(reduce_whole("sum", x), <double>x.size)
    axes = axes_tuple(given[1], x.ndim, "mean")
    if dtype is None:
        dtype = dtype_at(x.code if letter_at(x.code) == c"f" or letter_at(x.code) == c"c" else FLOAT64)
    return wide_mean(x, axes, flag_argument(given[2], "mean", "keepdims"), dtype)


cdef Array magnitudes(Array x):
    if x.code != COMPLEX128:
        return x
    return <Array>unary_raw(OP_ABS, x, "abs")


cdef object deviation(str name, PyObject** given):
    """The variance in the dtype of x, computed in float64, or its root; `given`: x, axis, correction, keepdims."""
    cdef Array x = array_argument(given[0], name, "x"), middle, squares, centre, error
    cdef tuple axes = axes_tuple(given[1], x.ndim, name)
    cdef Py_ssize_t i
    cdef double* values
    cdef double count, divisor, limit
    cdef bint keepdims, is_off = False
    correction = <object>given[2]
    if type(correction) is not float and type(correction) is not int:
        correction = as_scalar(name, "correction", correction)
        if isinstance(correction, (bool, complex)):
            raise ArgumentTypeError(name, "correction must be an int or a float", [("correction", shown(<object>given[2]))], "pass a number, for example correction=1")
    keepdims = flag_argument(given[3], name, "keepdims")
    middle = wide_mean(x, axes, True, None)
    squares = accumulate("sum_squared_deviation", 2, x, middle, axes, True, wide_code(x.code), FLOAT64)
    values = <double*>data_of(squares)
    count = <double>(x.size // squares.size if squares.size else 0)
    if squares.size and count > 1:
        centre = magnitudes(middle)
        limit = FAR_OFF_CENTRE * sqrt(count)
        for i in range(squares.size):
            is_off = is_off or sqrt(values[i]) < fabs((<double*>data_of(centre))[i]) * limit
    if is_off:
        # The rounding error of the mean is in every deviation; its square is subtracted.
        error = <Array>binary_raw(OP_SUBTRACT, without_repeats(x, axes), middle, "subtract", False)
        error = magnitudes(wide_mean(error, axes, True, None))
        for i in range(squares.size):
            limit = fabs((<double*>data_of(error))[i])
            limit = values[i] - limit * limit * count
            values[i] = limit if limit > 0 or isnan(limit) else 0.0
    # NumPy divides by 0 here, which gives inf where the sum of squares is not 0; the standard says NaN.
    if type(correction) is float:
        divisor = count - <double>correction
    else:
        difference = int(count) - correction
        divisor = as_float(name, difference) if difference > 0 else 0
    if not divisor > 0:
        divisor = NAN
    for i in range(squares.size):
        values[i] = values[i] / divisor
    for i in range(squares.size if name == "std" else 0):
        values[i] = sqrt(values[i])
    if not keepdims:
        squares = without_axes(squares, axes)
    if x.code == FLOAT32 or x.code == COMPLEX64:
        squares = copy_array(squares, FLOAT32, True)
    elif is_stored(x.code):
        squares = copy_array(squares, x.code, True)
    return squares


implement("all", over_axes_or_all)
implement("any", over_axes_or_all)
implement("argmax", find_extreme_index)
implement("argmin", find_extreme_index)
implement("count_nonzero", over_axes_or_all)
implement("cumulative_prod", scan_axis)
implement("cumulative_sum", scan_axis)
implement("max", find_extreme)
implement("mean", mean)
implement("min", find_extreme)
implement("prod", reduce_in_dtype)
implement("std", deviation)
implement("sum", reduce_in_dtype)
implement("var", deviation)
