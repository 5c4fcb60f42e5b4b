# The usual calls of functions that are written in Python, without Python. Included in `array.pyx`.
#
# Note [Shortcuts]
#     A chapter's function in Python costs a microsecond and more before anything is done. Its usual call has exact
#     types, fits, and asks for nothing special; for such calls the function here makes the result. For all others
#     it answers None before it has done anything, and the function in Python does the work: it alone knows the
#     rare cases and all the errors, so that there is one text of each. What both can do they do alike, down to
#     the strides; `tests/test_shortcuts.py` compares them. Followed arrays never come here, and while broadcasts are
#     guarded nothing does.

cdef extern from "Python.h":
    # Of an int it raises nothing.
    long long s0_value "PyLong_AsLongLongAndOverflow"(PyObject* x, int* overflow) noexcept

cdef enum:
    MODEST = 1 << 15  # elements up to which joined arrays are copied at once, without a plan

ctypedef object (*Shortcut)(PyObject* const* args, Py_ssize_t n, PyObject* kwnames)

# Names of parameters that a shortcut knows; None where an argument has no name.
cdef tuple X_AXIS = (None, "axis")
cdef tuple X_SHAPE = (None, "shape")
cdef tuple X_AXES = (None, "axes")
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
    """Whether an argument is an array whose gradient nobody asks for."""
    return x is not NULL and type(<object>x) is Array and not is_followed(<Array>x)


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
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t run, blocks = 1, j
    cdef int count, at = 0, axis, k
    cdef Array first, out
    cdef char* to
    if not bind(args, n, kwnames, X_AXIS, 1, given) or not joinable(given[0], &count):
        return None
    first = <Array>part(given[0], 0)
    if first.ndim >= MAX_NDIM or (given[1] is not NULL and not whole_axis(given[1], first.ndim + 1, &at)) or first.size > MANY_ELEMENTS // count:
        return None
    for k in range(1, count):
        if not same_shape(first, <Array>part(given[0], k)):
            return None
    for axis in range(first.ndim + 1):
        shape[axis] = count if axis == at else first.shape_[axis - (axis > at)]
        if axis < at:
            blocks *= shape[axis]
    out = new_array(first.code, first.ndim + 1, shape, NULL, False)
    if out.size > MODEST:
        for axis in range(first.ndim):
            steps[axis] = out.strides_[axis + (axis >= at)]
        for k in range(count):
            assign_array(view_of(out, out.data + k * out.strides_[at], first.ndim, first.shape_, steps), <Array>part(given[0], k), "stack")
    elif out.size:
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
        if x.ndim != first.ndim or total + x.shape_[at] > MANY_ELEMENTS:
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
    if s0_times(&run, blocks) or run > MANY_ELEMENTS:
        return None
    out = new_array(first.code, first.ndim, shape, NULL, False)
    to = out.data
    if run > MODEST:
        for k in range(count):
            x = <Array>part(given[0], k)
            if x.size:
                assign_array(view_of(out, to, out.ndim, x.shape_, out.strides_), x, "concat")
            to += x.shape_[at] * out.strides_[at]
    elif out.size:
        for j in range(blocks):
            for k in range(count):
                x = <Array>part(given[0], k)
                run = x.size // blocks * itemsize_at(x.code)
                memcpy(to, x.data + j * run, run)
                to += run
    return out
