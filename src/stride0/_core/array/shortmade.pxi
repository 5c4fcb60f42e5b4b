# Shortcuts of functions that make new arrays: creation, casts, reductions, products; and the list of them all.
# Note [Shortcuts] is in `shortcuts.pxi`. Included in `array.pyx`.

cdef tuple SHAPE_DTYPE = ("shape", "dtype")
cdef tuple SHAPE_VALUE = ("shape", "fill_value")


# --- arrays that are made


cdef object short_made(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, bint zeroed):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int ndim, code = FLOAT64
    if not bind(args, n, kwnames, SHAPE_DTYPE, 1, given) or not made_sizes(given[0], shape, &ndim):
        return None
    if given[1] is not NULL and <object>given[1] is not None:
        if type(<object>given[1]) is not DType:
            return None
        code = (<DType>given[1]).code
    return new_array(code, ndim, shape, NULL, zeroed)


cdef object short_zeros(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_made(args, n, kwnames, True)


cdef object short_empty(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_made(args, n, kwnames, False)


cdef object short_ones(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    found = short_made(args, n, kwnames, False)
    if found is not None:
        fill(<Array>found, 1, "ones")
    return found


cdef object short_full(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t value
    cdef int ndim, code
    cdef Array out
    if not bind(args, n, kwnames, SHAPE_VALUE, 2, given) or given[1] is NULL or not made_sizes(given[0], shape, &ndim):
        return None
    if type(<object>given[1]) is float:
        code = FLOAT64
    elif type(<object>given[1]) is bool:
        code = BOOL
    elif whole(given[1], &value):
        code = INT64
    else:
        return None
    out = new_array(code, ndim, shape, NULL, False)
    fill(out, <object>given[1], "full")
    return out


cdef int fill(Array out, object value, str name) except -1:
    """Write a value that the dtype holds to every element of a new array."""
    cdef Py_ssize_t i
    cdef int itemsize = itemsize_at(out.code)
    if out.size == 0:
        return 0
    if out.size > 64:
        return assign_array(out, scalar_array(value, out.code, name), name)
    write_scalar(value, out.code, out.data, name)
    for i in range(1, out.size):
        memcpy(out.data + i * itemsize, out.data, itemsize)
    return 0


cdef object short_arange(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Py_ssize_t start = 0, stop, size
    cdef Array out
    if kwnames is not NULL or not (1 <= n <= 2) or not whole(args[n - 1], &stop) or (n == 2 and not whole(args[0], &start)):
        return None
    if not (-MANY_ELEMENTS < start < MANY_ELEMENTS and -MANY_ELEMENTS < stop < MANY_ELEMENTS):
        return None
    size = stop - start if stop > start else 0
    out = new_array(INT64, 1, &size, NULL, False)
    count_up[int64_t](<int64_t*>out.data, size, start, 1)
    return out


cdef object short_astype(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Py_ssize_t steps[MAX_OPERANDS]
    cdef char* places[MAX_OPERANDS]
    cdef Array x, out
    cdef int code
    if n != 2 or kwnames is not NULL or not is_plain(args[0]) or type(<object>args[1]) is not DType:
        return None
    x, code = <Array>args[0], (<DType>args[1]).code
    # From there on several threads may share the work.
    if not x.c_contiguous or x.size >= LONG_RUN or K.casts[x.code][code][0] is NULL:
        return None
    out = new_like(x, code)
    places[0], places[1] = x.data, out.data
    steps[0], steps[1] = itemsize_at(x.code), itemsize_at(code)
    run_contiguous(cast_kernel(x.code, code), 0, places, steps, x.size)
    return out


cdef object short_contiguous(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Array x
    if n != 1 or kwnames is not NULL or not is_plain(args[0]):
        return None
    x = <Array>args[0]
    return x if x.c_contiguous else copy_array(x, x.code, True)


# --- reductions


cdef bint reducible(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, int* axis) noexcept:
    """Whether a reduction is asked for of everything (axis -1) or along one axis, and there is something to reduce."""
    cdef PyObject* given[2]
    if not bind(args, n, kwnames, X_AXIS, 1, given) or not is_plain(given[0]) or (<Array>given[0]).size == 0:
        return False
    axis[0] = -1
    return given[1] is NULL or whole_axis(given[1], (<Array>given[0]).ndim, axis)


cdef object short_reduction(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    cdef int axis
    cdef Array x
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    if axis >= 0:
        # The sum of bools is one of integers, which the function in Python sees to.
        return None if x.code == BOOL and name == "sum" else reduce_array(name, x, (axis,), False, None)
    return reduce_whole(name, x) if x.c_contiguous else None


cdef object short_sum(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_reduction(args, n, kwnames, "sum")


cdef object short_all(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_reduction(args, n, kwnames, "all")


cdef object short_any(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_reduction(args, n, kwnames, "any")


cdef object short_extreme(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    cdef Py_ssize_t steps[2]
    cdef char* places[2]
    cdef Array x, out
    cdef int number, axis
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    number = REDUCTION_NUMBERS[name]
    if letter_at(x.code) == c"c" or S0_ACCUMULATOR[number][x.code] != x.code:
        return None
    if axis >= 0:
        return reduce_array(name, x, (axis,), False, None)
    if not x.c_contiguous or x.size >= LONG_RUN:
        return None
    out = new_array(x.code, 0, NULL, NULL, False)
    memcpy(out.data, x.data, itemsize_at(x.code))
    places[0], places[1] = x.data, out.data
    steps[0], steps[1] = itemsize_at(x.code), 0
    run_contiguous(reduction_kernel(number, x.code), 0, places, steps, x.size)
    return out


cdef object short_max(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_extreme(args, n, kwnames, "max")


cdef object short_min(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_extreme(args, n, kwnames, "min")


cdef object short_place(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    cdef Py_ssize_t step
    cdef int axis
    cdef Array x
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    if letter_at(x.code) == c"c":
        return None
    if axis >= 0:
        return argreduce(name, x, axis, False)
    if not x.c_contiguous:
        return None
    step = itemsize_at(x.code)
    return argreduce(name, x if x.ndim == 1 else view_of(x, x.data, 1, &x.size, &step), 0, False)


cdef object short_argmax(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_place(args, n, kwnames, "argmax")


cdef object short_argmin(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_place(args, n, kwnames, "argmin")


cdef object short_mean(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef int axis
    cdef Array x, total
    if not reducible(args, n, kwnames, &axis) or (<Array>args[0]).code != FLOAT64 or not (<Array>args[0]).c_contiguous:
        return None
    x = <Array>args[0]
    total = reduce_array("sum", x, (axis,), False, None) if axis >= 0 else reduce_whole("sum", x)
    return mean_of_total(total, <double>(x.size // total.size))


cdef object short_deviation(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, bint root):
    """Variance or standard deviation, by the steps of `_wide_variance`."""
    cdef int axis, k
    cdef Py_ssize_t i
    cdef Array x, middle, squares
    cdef double* total
    cdef double count, limit
    cdef tuple axes
    if not reducible(args, n, kwnames, &axis) or (<Array>args[0]).code != FLOAT64 or not (<Array>args[0]).c_contiguous:
        return None
    x = <Array>args[0]
    axes = (axis,) if axis >= 0 else tuple([k for k in range(x.ndim)])
    middle = reduce_array("sum", x, axes, True, None)
    count = <double>(x.size // middle.size)
    middle = mean_of_total(middle, count)
    squares = accumulate("sum_squared_deviation", 2, x, middle, axes, True, FLOAT64, FLOAT64)
    total = <double*>squares.data
    limit = <double>OFF_CENTRE * c_sqrt(count)
    for i in range(squares.size):
        # Where the rounding of the mean shows, the function in Python corrects for it.
        if count > 1 and c_sqrt(total[i]) < c_fabs((<double*>middle.data)[i]) * limit:
            return None
    mean_of_total(squares, count)
    if root:
        for i in range(squares.size):
            total[i] = c_sqrt(total[i])
    return without_axes(squares, axes)


cdef object short_std(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_deviation(args, n, kwnames, True)


cdef object short_var(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_deviation(args, n, kwnames, False)


cdef object short_cumulative_sum(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef int axis
    cdef Array x
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    if letter_at(x.code) != c"f" or (axis < 0 and x.ndim != 1):
        return None
    return scan("cumulative_sum", x, 0 if axis < 0 else axis, dtype_at(x.code), False)


# --- products


cdef object short_vecdot(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Array x1, x2
    if n != 2 or kwnames is not NULL or not is_plain(args[0]) or not is_plain(args[1]):
        return None
    x1, x2 = <Array>args[0], <Array>args[1]
    if x1.code != x2.code or x1.ndim == 0 or not same_shape(x1, x2) or (letter_at(x1.code) != c"f" and letter_at(x1.code) != c"c"):
        return None
    return accumulate("vecdot", 2, x1, x2, (x1.ndim - 1,), False, x1.code, x1.code)


cdef object short_matmul(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    """Matrices in C order, or stacks of them, one after the other in memory: by as many, by one matrix, or by a vector."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Product product
    cdef Array x1, x2, out
    cdef int axis, lead, other
    cdef Py_ssize_t count = 1
    cdef bint one = True, own
    if n != 2 or kwnames is not NULL or not is_plain(args[0]) or not is_plain(args[1]):
        return None
    x1, x2 = <Array>args[0], <Array>args[1]
    if x1.code != x2.code or not x1.c_contiguous or not x2.c_contiguous or x1.size == 0 or x2.size == 0:
        return None
    if x1.ndim < 2 or x2.ndim == 0 or x2.ndim > x1.ndim:
        return None
    lead, other = x1.ndim - 2, x2.ndim - 2
    product.m, product.n = x1.shape_[lead], x1.shape_[lead + 1]
    product.p = x2.shape_[other + 1] if x2.ndim > 1 else 1
    if x2.shape_[other if x2.ndim > 1 else 0] != product.n:
        return None
    for axis in range(lead):
        count *= x1.shape_[axis]
    for axis in range(other):
        one = one and x2.shape_[axis] == 1
    if one:
        # One matrix for all of them: as many rows of one product.
        product.m *= count
        count = 1
    elif other != lead or memcmp(x1.shape_, x2.shape_, lead * sizeof(Py_ssize_t)) != 0:
        return None
    product.count = count
    own = of_our_own(&product, x1.code)
    if not own and not is_for_blas(&product, x1.code):
        return None
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    shape[lead + 1] = product.p
    out = new_array(x1.code, x1.ndim - 1 if x2.ndim == 1 else x1.ndim, shape, NULL, False)
    if own:
        in_c_order(&product, itemsize_at(x1.code))
        product.left, product.right, product.out = x1.data, x2.data, out.data
        run_products(&product, x1.code)
    else:
        by_blas(x1, x2, out, &product)
    return out


# --- which function has one

cdef struct Listed:
    const char* name
    Shortcut function

cdef Listed[48] SHORTCUTS
cdef int listed = 0


cdef void enlist(const char* name, Shortcut function) noexcept:
    global listed
    SHORTCUTS[listed].name = name
    SHORTCUTS[listed].function = function
    listed += 1


enlist(b"reshape", short_reshape)
enlist(b"broadcast_to", short_broadcast_to)
enlist(b"expand_dims", short_expand_dims)
enlist(b"squeeze", short_squeeze)
enlist(b"permute_dims", short_permute_dims)
enlist(b"moveaxis", short_moveaxis)
enlist(b"matrix_transpose", short_matrix_transpose)
enlist(b"stack", short_stack)
enlist(b"concat", short_concat)
enlist(b"zeros", short_zeros)
enlist(b"empty", short_empty)
enlist(b"ones", short_ones)
enlist(b"full", short_full)
enlist(b"arange", short_arange)
enlist(b"astype", short_astype)
enlist(b"strided.contiguous", short_contiguous)
enlist(b"sum", short_sum)
enlist(b"all", short_all)
enlist(b"any", short_any)
enlist(b"max", short_max)
enlist(b"min", short_min)
enlist(b"mean", short_mean)
enlist(b"std", short_std)
enlist(b"var", short_var)
enlist(b"cumulative_sum", short_cumulative_sum)
enlist(b"argmax", short_argmax)
enlist(b"argmin", short_argmin)
enlist(b"matmul", short_matmul)
enlist(b"vecdot", short_vecdot)
enlist(b"sort", short_sort)
enlist(b"argsort", short_argsort)
enlist(b"searchsorted", short_searchsorted)
enlist(b"unique_values", short_unique_values)
enlist(b"take", short_take)
enlist(b"count_nonzero", short_count_nonzero)


cdef Shortcut shortcut_for(str name) noexcept:
    cdef bytes text = name.encode()
    cdef int k
    for k in range(listed):
        if SHORTCUTS[k].name == text:
            return SHORTCUTS[k].function
    return NULL
