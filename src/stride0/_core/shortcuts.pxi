# The usual calls of functions that are written in Python, without Python. Included in `array.pyx`.
#
# Note [Shortcuts]
#     A chapter's function in Python costs a microsecond and more before anything is done. Its usual call has exact
#     types, fits, and asks for nothing special; for such calls the function here makes the result. For all others
#     it answers None before it has done anything, and the function in Python does the work: it alone knows the
#     rare cases and all the errors, so that there is one text of each. What both can do they do alike, down to
#     the strides; `tests/test_shortcuts.py` compares them. Followed arrays never come here, and while broadcasts are
#     guarded nothing does.
#
# Note [Tiny products]
#     Products of matrices with fewer than 32 inner elements (the lanes of a reduction) and few multiplications are
#     summed up in order, in 64 bits, by loops of our own, on every instruction set alike. One product up to FEW_PRODUCTS multiplications,
#     a stack of them up to TINY_PRODUCT each: beyond that BLAS is faster.

cdef extern from "products.h":
    void s0_products_f32(const void* a, const void* b, void* out, Py_ssize_t count, int m, int n, int p) noexcept nogil
    void s0_products_f64(const void* a, const void* b, void* out, Py_ssize_t count, int m, int n, int p) noexcept nogil

cdef extern from "Python.h":
    # Of an int it raises nothing.
    long long s0_value "PyLong_AsLongLongAndOverflow"(PyObject* x, int* overflow) noexcept

cdef enum:
    MODEST = 1 << 15  # elements up to which joining arrays needs no other threads to run meanwhile
    FEW_PRODUCTS = 256
    TINY_PRODUCT = 125

ctypedef object (*Shortcut)(PyObject* const* args, Py_ssize_t n, PyObject* kwnames)

cdef struct Listed:
    const char* name
    Shortcut function

# Names of parameters that a shortcut knows; None where an argument has no name.
cdef tuple X = (None,)
cdef tuple X_AXIS = (None, "axis")
cdef tuple X_SHAPE = (None, "shape")
cdef tuple X_AXES = (None, "axes")
cdef tuple SHAPE_DTYPE = ("shape", "dtype")
cdef tuple SHAPE_VALUE = ("shape", "fill_value")
cdef Py_ssize_t MANY_ELEMENTS = <Py_ssize_t>1 << 40


cdef bint bind(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, tuple names, Py_ssize_t most, PyObject** out) noexcept:
    """Sort arguments by the names of parameters, of which `most` may go without; False where they do not fit."""
    cdef Py_ssize_t k, j, total = len(names)
    cdef PyObject* name
    if n > most:
        return False
    for k in range(total):
        out[k] = args[k] if k < n else NULL
    if kwnames is not NULL:
        for j in range(len(<tuple>kwnames)):
            name = <PyObject*>(<tuple>kwnames)[j]
            for k in range(total):
                # Names in code are interned; of another one the function in Python knows what to say.
                if <PyObject*>names[k] is name and out[k] is NULL:
                    out[k] = args[n + j]
                    break
            else:
                return False
    return True


cdef inline bint is_plain(PyObject* x) noexcept:
    """Whether an argument is an array that gradients take no interest in."""
    return x is not NULL and type(<object>x) is Array and (<Array>x).node is None


cdef inline bint whole(PyObject* x, Py_ssize_t* out) noexcept:
    """The value of an int of Python's own."""
    cdef int overflow = 0
    if x is NULL or type(<object>x) is not int:
        return False
    out[0] = s0_value(x, &overflow)
    return overflow == 0


cdef inline bint whole_axis(PyObject* x, int ndim, int* out) noexcept:
    """An axis of `ndim`, not negative."""
    cdef Py_ssize_t axis
    if not whole(x, &axis) or axis < -ndim or axis >= ndim:
        return False
    out[0] = <int>(axis + ndim if axis < 0 else axis)
    return True


cdef bint whole_sizes(PyObject* x, Py_ssize_t* out, int* ndim, Py_ssize_t* size, Py_ssize_t least) noexcept:
    """A shape as a tuple; the product of its sizes, but for -1 where `least` allows for it."""
    cdef Py_ssize_t k
    size[0] = 1
    if x is NULL or type(<object>x) is not tuple or len(<tuple>x) > MAX_NDIM:
        return False
    ndim[0] = <int>len(<tuple>x)
    for k in range(ndim[0]):
        if not whole(<PyObject*>(<tuple>x)[k], &out[k]) or out[k] < least:
            return False
        if out[k] >= 0 and (s0_times(size, out[k]) or size[0] > MANY_ELEMENTS):
            return False
    return True


cdef bint made_sizes(PyObject* x, Py_ssize_t* out, int* ndim) noexcept:
    """The shape of an array that is to be made: a tuple, or one size."""
    cdef Py_ssize_t size
    if whole(x, out):
        ndim[0] = 1
        return 0 <= out[0] <= MANY_ELEMENTS
    return whole_sizes(x, out, ndim, &size, 0)


cdef void c_steps(int itemsize, int ndim, const Py_ssize_t* shape, Py_ssize_t* out) noexcept:
    cdef Py_ssize_t step = itemsize
    cdef int axis
    for axis in range(ndim - 1, -1, -1):
        out[axis] = step
        step *= shape[axis]


# --- views


cdef object short_reshape(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t size
    cdef int ndim, axis, unknown = -1
    cdef Array x
    if not bind(args, n, kwnames, X_SHAPE, 2, given) or not is_plain(given[0]) or not whole_sizes(given[1], shape, &ndim, &size, -1):
        return None
    x = <Array>given[0]
    if not x.c_contiguous or x.size == 0 or size == 0:
        return None
    for axis in range(ndim):
        if shape[axis] < 0:
            if unknown >= 0:
                return None
            unknown = axis
    if unknown >= 0:
        if x.size % size:
            return None
        shape[unknown] = x.size // size
    elif size != x.size:
        return None
    c_steps(itemsize_at(x.code), ndim, shape, steps)
    return view_of(x, x.data, ndim, shape, steps)


cdef object short_broadcast_to(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t size
    cdef int ndim, axis, own
    cdef Array x
    if not bind(args, n, kwnames, X_SHAPE, 2, given) or not is_plain(given[0]) or not whole_sizes(given[1], shape, &ndim, &size, 0):
        return None
    x = <Array>given[0]
    if x.ndim > ndim:
        return None
    for axis in range(ndim):
        own = axis - (ndim - x.ndim)
        if own >= 0 and x.shape_[own] == shape[axis]:
            steps[axis] = x.strides_[own]
        elif own < 0 or x.shape_[own] == 1:
            steps[axis] = 0
        else:
            return None
    return view_of(x, x.data, ndim, shape, steps)


cdef object short_expand_dims(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int at, axis
    cdef Array x
    if not bind(args, n, kwnames, X_AXIS, 2, given) or not is_plain(given[0]):
        return None
    x = <Array>given[0]
    if x.ndim >= MAX_NDIM or not whole_axis(given[1], x.ndim + 1, &at):
        return None
    for axis in range(x.ndim + 1):
        shape[axis] = 1 if axis == at else x.shape_[axis - (axis > at)]
        steps[axis] = 0 if axis == at else x.strides_[axis - (axis > at)]
    return view_of(x, x.data, x.ndim + 1, shape, steps)


cdef object short_squeeze(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int at, axis
    cdef Array x
    if not bind(args, n, kwnames, X_AXIS, 2, given) or not is_plain(given[0]):
        return None
    x = <Array>given[0]
    if not whole_axis(given[1], x.ndim, &at) or x.shape_[at] != 1:
        return None
    for axis in range(x.ndim - 1):
        shape[axis] = x.shape_[axis + (axis >= at)]
        steps[axis] = x.strides_[axis + (axis >= at)]
    return view_of(x, x.data, x.ndim - 1, shape, steps)


cdef object short_permute_dims(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef uint64_t seen = 0
    cdef int axis, k
    cdef Array x
    if not bind(args, n, kwnames, X_AXES, 2, given) or not is_plain(given[0]) or given[1] is NULL or type(<object>given[1]) is not tuple:
        return None
    x = <Array>given[0]
    if len(<tuple>given[1]) != x.ndim:
        return None
    for k in range(x.ndim):
        if not whole_axis(<PyObject*>(<tuple>given[1])[k], x.ndim, &axis) or seen >> axis & 1:
            return None
        seen |= <uint64_t>1 << axis
        shape[k], steps[k] = x.shape_[axis], x.strides_[axis]
    return view_of(x, x.data, x.ndim, shape, steps)


cdef object short_moveaxis(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int source, target, k, own = 0
    cdef Array x
    if n != 3 or kwnames is not NULL or not is_plain(args[0]):
        return None
    x = <Array>args[0]
    if not whole_axis(args[1], x.ndim, &source) or not whole_axis(args[2], x.ndim, &target):
        return None
    for k in range(x.ndim):
        if k == target:
            shape[k], steps[k] = x.shape_[source], x.strides_[source]
            continue
        own += own == source
        shape[k], steps[k] = x.shape_[own], x.strides_[own]
        own += 1
    return view_of(x, x.data, x.ndim, shape, steps)


cdef object short_matrix_transpose(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or (<Array>args[0]).ndim < 2:
        return None
    return swapped_matrix(<Array>args[0])


# --- arrays that are joined


cdef bint joinable(PyObject* parts, int* count) noexcept:
    """Whether arrays in a list or tuple are plain, contiguous and of one dtype."""
    cdef int k
    if parts is NULL or (type(<object>parts) is not list and type(<object>parts) is not tuple):
        return False
    if Py_SIZE(<object>parts) == 0 or Py_SIZE(<object>parts) > MODEST:
        return False
    count[0] = <int>Py_SIZE(<object>parts)
    for k in range(count[0]):
        if not is_plain(part(parts, k)) or not (<Array>part(parts, k)).c_contiguous or (<Array>part(parts, k)).code != (<Array>part(parts, 0)).code:
            return False
    return True


cdef inline PyObject* part(PyObject* parts, int k) noexcept:
    return <PyObject*>(<list>parts)[k] if type(<object>parts) is list else <PyObject*>(<tuple>parts)[k]


cdef object short_stack(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t run, blocks = 1, j
    cdef int count, at = 0, axis, k
    cdef Array first, out
    cdef char* to
    if not bind(args, n, kwnames, X_AXIS, 1, given) or not joinable(given[0], &count):
        return None
    first = <Array>part(given[0], 0)
    if first.ndim >= MAX_NDIM or (given[1] is not NULL and not whole_axis(given[1], first.ndim + 1, &at)) or first.size * count > MODEST:
        return None
    for k in range(1, count):
        if not same_shape(first, <Array>part(given[0], k)):
            return None
    for axis in range(first.ndim + 1):
        shape[axis] = count if axis == at else first.shape_[axis - (axis > at)]
        if axis < at:
            blocks *= shape[axis]
    out = new_array(first.code, first.ndim + 1, shape, NULL, False)
    if out.size:
        run = first.size // blocks * itemsize_at(first.code)
        to = out.data
        for j in range(blocks):
            for k in range(count):
                memcpy(to, (<Array>part(given[0], k)).data + j * run, run)
                to += run
    return out


cdef object short_concat(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t run, blocks = 1, j, total = 0
    cdef int count, at = 0, axis, k
    cdef Array first, x, out
    cdef char* to
    if not bind(args, n, kwnames, X_AXIS, 1, given) or not joinable(given[0], &count):
        return None
    first = <Array>part(given[0], 0)
    if first.ndim == 0 or (given[1] is not NULL and not whole_axis(given[1], first.ndim, &at)):
        return None
    for k in range(count):
        x = <Array>part(given[0], k)
        if x.ndim != first.ndim or total + x.shape_[at] > MODEST:
            return None
        for axis in range(x.ndim):
            if axis != at and x.shape_[axis] != first.shape_[axis]:
                return None
        total += x.shape_[at]
    memcpy(shape, first.shape_, first.ndim * sizeof(Py_ssize_t))
    shape[at] = total
    for axis in range(at):
        blocks *= shape[axis]
    run = total
    for axis in range(at + 1, first.ndim):
        if s0_times(&run, shape[axis]):
            return None
    if s0_times(&run, blocks) or run > MODEST:
        return None
    out = new_array(first.code, first.ndim, shape, NULL, False)
    to = out.data
    if out.size:
        for j in range(blocks):
            for k in range(count):
                x = <Array>part(given[0], k)
                run = x.size // blocks * itemsize_at(x.code)
                memcpy(to, x.data + j * run, run)
                to += run
    return out


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
    run_briefly(K.casts[x.code][code][0], places, steps, x.size)
    return out


# --- reductions of everything


cdef object short_reduction(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or not (<Array>args[0]).c_contiguous or (<Array>args[0]).size == 0:
        return None
    return reduce_whole(name, <Array>args[0])


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
    cdef int number
    if n != 1 or kwnames is not NULL or not is_plain(args[0]):
        return None
    x = <Array>args[0]
    number = REDUCTION_NUMBERS[name]
    if not x.c_contiguous or x.size == 0 or x.size >= LONG_RUN or letter_at(x.code) == c"c" or S0_ACCUMULATOR[number][x.code] != x.code:
        return None
    out = new_array(x.code, 0, NULL, NULL, False)
    memcpy(out.data, x.data, itemsize_at(x.code))
    places[0], places[1] = x.data, out.data
    steps[0], steps[1] = itemsize_at(x.code), 0
    run_briefly(K.reductions[number][x.code][0], places, steps, x.size)
    return out


cdef object short_max(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_extreme(args, n, kwnames, "max")


cdef object short_min(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_extreme(args, n, kwnames, "min")


cdef object short_place(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    cdef Py_ssize_t step
    cdef Array x
    if n != 1 or kwnames is not NULL or not is_plain(args[0]):
        return None
    x = <Array>args[0]
    if not x.c_contiguous or x.size == 0 or letter_at(x.code) == c"c":
        return None
    step = itemsize_at(x.code)
    return argreduce(name, x if x.ndim == 1 else view_of(x, x.data, 1, &x.size, &step), 0, False)


cdef object short_argmax(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_place(args, n, kwnames, "argmax")


cdef object short_argmin(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_place(args, n, kwnames, "argmin")


# --- products


cdef object short_matmul(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    """Note [Tiny products]."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t count = 1, rows, inner, columns, work
    cdef Array x1, x2, out
    cdef int axis
    if n != 2 or kwnames is not NULL or not is_plain(args[0]) or not is_plain(args[1]):
        return None
    x1, x2 = <Array>args[0], <Array>args[1]
    if x1.code != x2.code or (x1.code != FLOAT64 and x1.code != FLOAT32) or not x1.c_contiguous or not x2.c_contiguous:
        return None
    if x1.ndim != x2.ndim or x1.ndim < 2 or x1.size == 0 or x2.size == 0:
        return None
    rows, inner, columns = x1.shape_[x1.ndim - 2], x1.shape_[x1.ndim - 1], x2.shape_[x2.ndim - 1]
    if x2.shape_[x2.ndim - 2] != inner or not 2 <= inner < 32 or rows > FEW_PRODUCTS or columns > 64:
        return None
    for axis in range(x1.ndim - 2):
        if x1.shape_[axis] != x2.shape_[axis]:
            return None
        count *= x1.shape_[axis]
    work = rows * inner * columns
    if work > (FEW_PRODUCTS if count == 1 else TINY_PRODUCT):
        return None
    memcpy(shape, x1.shape_, x1.ndim * sizeof(Py_ssize_t))
    shape[x1.ndim - 1] = columns
    out = new_array(x1.code, x1.ndim, shape, NULL, False)
    if count * work < LONG_RUN:
        tiny_products(x1, x2, out, count, <int>rows, <int>inner, <int>columns)
    else:
        with nogil:
            tiny_products(x1, x2, out, count, <int>rows, <int>inner, <int>columns)
    return out


cdef inline void tiny_products(Array x1, Array x2, Array out, Py_ssize_t count, int m, int n, int p) noexcept nogil:
    if x1.code == FLOAT64:
        s0_products_f64(x1.data, x2.data, out.data, count, m, n, p)
    else:
        s0_products_f32(x1.data, x2.data, out.data, count, m, n, p)


# --- which function has one

cdef Listed[32] SHORTCUTS
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
enlist(b"sum", short_sum)
enlist(b"all", short_all)
enlist(b"any", short_any)
enlist(b"max", short_max)
enlist(b"min", short_min)
enlist(b"argmax", short_argmax)
enlist(b"argmin", short_argmin)
enlist(b"matmul", short_matmul)


cdef Shortcut shortcut_for(str name) noexcept:
    cdef bytes text = name.encode()
    cdef int k
    for k in range(listed):
        if SHORTCUTS[k].name == text:
            return SHORTCUTS[k].function
    return NULL
