# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The usual calls of functions that are written in Python, without Python.

Note [Fast paths]
    A chapter's function in Python costs a microsecond and more before anything is done. Its usual call has exact
    types, fits, and asks for nothing special; for such calls the function here makes the result. For all others
    it answers None before it has done anything, and the function in Python does the work: it alone knows the
    rare cases and all the errors, so that there is one text of each. What both can do they do alike, down to
    the strides; `tests/test_fast_paths.py` compares them. Tracked arrays never come here, and while broadcasts are
    guarded nothing does.
"""

from cpython.object cimport Py_SIZE, PyObject
from libc.math cimport fabs as c_fabs, sqrt as c_sqrt
from libc.stdint cimport int64_t, uint64_t, uint8_t
from libc.string cimport memcmp, memcpy

from stride0._core.ops.tables cimport S0_ACCUMULATOR
from stride0._core.memory.dtype cimport BOOL, FLOAT64, INT64, DType, dtype_at, itemsize_at, letter_at
from stride0._core.plan.plan cimport MAX_NDIM, MAX_OPERANDS
from stride0._core.plan.table cimport cast_kernel, kernels, reduction_kernel, s0_kernels
from stride0._core.plan.partition cimport LONG_RUN, run_contiguous
from stride0._core.array.array cimport (
    Array, is_followed, new_array, new_like, s0_times, same_shape, swapped_matrix, view_of,
)
from stride0._core.array.views cimport c_strides_of, without_axes
from stride0._core.ops.copy cimport assign_array, copy_array, count_up, fill
from stride0._core.ops.reduce cimport (
    accumulate, argreduce, mean_of_total, reduce_array, reduce_whole, reduction_number, scan,
)
from stride0._core.ops.product cimport SHORT_SUM, Product, by_blas, in_c_order, is_for_blas, of_our_own, run_products
from stride0._core.ops.keys cimport whole, whole_axis
from stride0._core.ops.select cimport by_indices, s0_count_true
from stride0._core.ops.sort cimport distinct_values, is_flag, places_among, sorted_lanes

from stride0._core.ops.reduce import OFF_CENTRE

cdef s0_kernels* K = kernels()
cdef tuple X_INDICES = (None, None, "axis")
cdef tuple X_SORT = (None, "axis", "descending", "stable")
cdef tuple X_SEARCH = (None, None, "side")
cdef double FAR_OFF_CENTRE = OFF_CENTRE


cdef object fast_take(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[3]
    cdef Array x
    cdef int axis = 0
    if not bind(args, n, kwnames, X_INDICES, 2, given) or not is_plain(given[0]) or not is_plain(given[1]):
        return None
    x = <Array>given[0]
    if given[2] is NULL or <object>given[2] is None:
        if x.ndim != 1:
            return None
    elif not whole_axis(given[2], x.ndim, &axis):
        return None
    return by_indices(x, <Array>given[1], axis)


cdef object fast_count_nonzero(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Array x, out
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or (<Array>args[0]).code != BOOL:
        return fast_reduction(args, n, kwnames, "count_nonzero")
    x = <Array>args[0]
    if not x.c_contiguous or x.size == 0:
        return None
    out = new_array(INT64, 0, NULL, NULL, False)
    if x.size < LONG_RUN:
        (<int64_t*>out.data)[0] = s0_count_true(<const uint8_t*>x.data, x.size)
    else:
        with nogil:
            (<int64_t*>out.data)[0] = s0_count_true(<const uint8_t*>x.data, x.size)
    return out


cdef object fast_ordered(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, bint places):
    cdef PyObject* given[4]
    cdef Array x
    cdef int axis
    if not bind(args, n, kwnames, X_SORT, 1, given) or not is_plain(given[0]) or not is_flag(given[2]) or not is_flag(given[3]):
        return None
    x = <Array>given[0]
    axis = x.ndim - 1
    if x.ndim == 0 or letter_at(x.code) == c"c" or (given[1] is not NULL and not whole_axis(given[1], x.ndim, &axis)):
        return None
    return sorted_lanes(x, axis, given[2] is <PyObject*>True, places)


cdef object fast_sort(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_ordered(args, n, kwnames, False)


cdef object fast_argsort(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_ordered(args, n, kwnames, True)


cdef object fast_searchsorted(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[3]
    cdef Array among, wanted
    cdef bint right = False
    if not bind(args, n, kwnames, X_SEARCH, 2, given) or not is_plain(given[0]) or not is_plain(given[1]):
        return None
    among, wanted = <Array>given[0], <Array>given[1]
    if among.ndim != 1 or among.code != wanted.code or letter_at(among.code) == c"c":
        return None
    if given[2] is not NULL:
        if type(<object>given[2]) is not str or (<object>given[2] != "left" and <object>given[2] != "right"):
            return None
        right = <object>given[2] == "right"
    return places_among(among, wanted, right)


cdef object fast_unique_values(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or letter_at((<Array>args[0]).code) == c"c":
        return None
    return distinct_values(<Array>args[0])

cdef enum:
    MODEST = 1 << 15  # elements up to which joined arrays are copied at once, without a plan

# Names of parameters that a fast path knows; None where an argument has no name.
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


# --- views


cdef object fast_reshape(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t size, step, run = 1
    cdef int ndim, axis, unknown = -1
    cdef Array x
    if not bind(args, n, kwnames, X_SHAPE, 2, given) or not is_plain(given[0]) or not whole_sizes(given[1], shape, &ndim, &size, -1):
        return None
    x = <Array>given[0]
    if x.size == 0 or size == 0:
        return None
    step = itemsize_at(x.code)
    if not x.c_contiguous:
        # One run of elements with another step between them; 0 where all are the same one, as in the cotangent of a sum.
        for axis in range(x.ndim - 1, -1, -1):
            if x.shape_[axis] == 1:
                continue
            if run == 1:
                step = x.strides_[axis]
            elif x.strides_[axis] != run * step:
                return None
            run *= x.shape_[axis]
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
    c_strides_of(step, ndim, shape, steps)
    return view_of(x, x.data, ndim, shape, steps)


cdef object fast_broadcast_to(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_expand_dims(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_squeeze(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_permute_dims(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_moveaxis(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_matrix_transpose(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or (<Array>args[0]).ndim < 2:
        return None
    return swapped_matrix(<Array>args[0])


cdef object fast_unstack(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[2]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t k
    cdef int at = 0, axis
    cdef Array x
    cdef list out = []
    if not bind(args, n, kwnames, X_AXIS, 1, given) or not is_plain(given[0]):
        return None
    x = <Array>given[0]
    if x.size == 0 or x.ndim == 0 or (given[1] is not NULL and not whole_axis(given[1], x.ndim, &at)):
        return None
    for axis in range(x.ndim - 1):
        shape[axis], steps[axis] = x.shape_[axis + (axis >= at)], x.strides_[axis + (axis >= at)]
    for k in range(x.shape_[at]):
        out.append(view_of(x, x.data + k * x.strides_[at], x.ndim - 1, shape, steps))
    return tuple(out)


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


cdef object fast_stack(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_concat(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef tuple SHAPE_DTYPE = ("shape", "dtype")
cdef tuple SHAPE_VALUE = ("shape", "fill_value")


# --- arrays that are made


cdef object fast_made(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, bint zeroed):
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


cdef object fast_zeros(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_made(args, n, kwnames, True)


cdef object fast_empty(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_made(args, n, kwnames, False)


cdef object fast_ones(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    found = fast_made(args, n, kwnames, False)
    if found is not None:
        fill(<Array>found, 1, "ones")
    return found


cdef object fast_full(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_arange(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_astype(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_contiguous(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
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


cdef object fast_reduction(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    cdef int axis
    cdef Array x
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    if axis >= 0:
        # The sum of bools is one of integers, which the function in Python sees to.
        return None if x.code == BOOL and name == "sum" else reduce_array(name, x, (axis,), False, None)
    return reduce_whole(name, x) if x.c_contiguous else None


cdef object fast_sum(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_reduction(args, n, kwnames, "sum")


cdef object fast_all(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_reduction(args, n, kwnames, "all")


cdef object fast_any(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_reduction(args, n, kwnames, "any")


cdef object fast_extreme(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
    cdef Py_ssize_t steps[2]
    cdef char* places[2]
    cdef Array x, out
    cdef int number, axis
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    number = reduction_number(name)
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


cdef object fast_max(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_extreme(args, n, kwnames, "max")


cdef object fast_min(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_extreme(args, n, kwnames, "min")


cdef object fast_place(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, str name):
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


cdef object fast_argmax(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_place(args, n, kwnames, "argmax")


cdef object fast_argmin(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_place(args, n, kwnames, "argmin")


cdef object fast_mean(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef int axis
    cdef Array x, total
    if not reducible(args, n, kwnames, &axis) or (<Array>args[0]).code != FLOAT64 or not (<Array>args[0]).c_contiguous:
        return None
    x = <Array>args[0]
    total = reduce_array("sum", x, (axis,), False, None) if axis >= 0 else reduce_whole("sum", x)
    return mean_of_total(total, <double>(x.size // total.size))


cdef object fast_deviation(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, bint root):
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
    limit = FAR_OFF_CENTRE * c_sqrt(count)
    for i in range(squares.size):
        # Where the rounding of the mean shows, the function in Python corrects for it.
        if count > 1 and c_sqrt(total[i]) < c_fabs((<double*>middle.data)[i]) * limit:
            return None
    mean_of_total(squares, count)
    if root:
        for i in range(squares.size):
            total[i] = c_sqrt(total[i])
    return without_axes(squares, axes)


cdef object fast_std(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_deviation(args, n, kwnames, True)


cdef object fast_var(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return fast_deviation(args, n, kwnames, False)


cdef object fast_cumulative_sum(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef int axis
    cdef Array x
    if not reducible(args, n, kwnames, &axis):
        return None
    x = <Array>args[0]
    if letter_at(x.code) != c"f" or (axis < 0 and x.ndim != 1):
        return None
    return scan("cumulative_sum", x, 0 if axis < 0 else axis, dtype_at(x.code), False)


# --- products


cdef object fast_vecdot(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Array x1, x2
    if n != 2 or kwnames is not NULL or not is_plain(args[0]) or not is_plain(args[1]):
        return None
    x1, x2 = <Array>args[0], <Array>args[1]
    if x1.code != x2.code or x1.ndim == 0 or not same_shape(x1, x2) or (letter_at(x1.code) != c"f" and letter_at(x1.code) != c"c"):
        return None
    return accumulate("vecdot", 2, x1, x2, (x1.ndim - 1,), False, x1.code, x1.code)


cdef object one_product(Array x1, Array x2):
    """A row by a matrix, or a matrix by a matrix or column, in any layout; None where loops of our own do not make it."""
    cdef Py_ssize_t shape[2]
    cdef Product product
    cdef Array out
    if x1.ndim == 0 or x1.ndim > 2 or x2.ndim == 0 or x2.ndim > 2 or x1.ndim + x2.ndim == 2:
        return None
    product.count = 1
    product.m, product.n = x1.shape_[0] if x1.ndim == 2 else 1, x1.shape_[x1.ndim - 1]
    product.p = x2.shape_[1] if x2.ndim == 2 else 1
    # A single sum is the reduction "dot"; long sums, by one column, read rows that lie in a row.
    if x2.shape_[0] != product.n or product.m * product.p == 1 or (product.p == 1 and product.n >= SHORT_SUM):
        return None
    if not of_our_own(&product, x1.code):
        return None
    product.steps1[0] = product.steps2[0] = 0
    product.steps1[1], product.steps1[2] = x1.strides_[0] if x1.ndim == 2 else 0, x1.strides_[x1.ndim - 1]
    product.steps2[1], product.steps2[2] = x2.strides_[0], x2.strides_[1] if x2.ndim == 2 else 0
    shape[0] = product.m if x1.ndim == 2 else product.p
    shape[1] = product.p
    out = new_array(x1.code, x1.ndim + x2.ndim - 2, shape, NULL, False)
    product.left, product.right, product.out = x1.data, x2.data, out.data
    run_products(&product, x1.code)
    return out


cdef object fast_matmul(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    """Matrices in C order, or stacks of them, one after the other in memory: by as many, by one matrix, or by a vector; and `one_product`."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Product product
    cdef Array x1, x2, out
    cdef int axis, lead, other
    cdef Py_ssize_t count = 1
    cdef bint one = True, own
    if n != 2 or kwnames is not NULL or not is_plain(args[0]) or not is_plain(args[1]):
        return None
    x1, x2 = <Array>args[0], <Array>args[1]
    if x1.code != x2.code or x1.size == 0 or x2.size == 0:
        return None
    if x1.ndim == 1 or not x1.c_contiguous or not x2.c_contiguous:
        return one_product(x1, x2)
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
    FastPath function

cdef Listed[48] FAST_PATHS

cdef int listed = 0


cdef void enlist(const char* name, FastPath function) noexcept:
    global listed
    FAST_PATHS[listed].name = name
    FAST_PATHS[listed].function = function
    listed += 1

enlist(b"reshape", fast_reshape)
enlist(b"broadcast_to", fast_broadcast_to)
enlist(b"expand_dims", fast_expand_dims)
enlist(b"squeeze", fast_squeeze)
enlist(b"permute_dims", fast_permute_dims)
enlist(b"moveaxis", fast_moveaxis)
enlist(b"matrix_transpose", fast_matrix_transpose)
enlist(b"stack", fast_stack)
enlist(b"concat", fast_concat)
enlist(b"zeros", fast_zeros)
enlist(b"empty", fast_empty)
enlist(b"ones", fast_ones)
enlist(b"full", fast_full)
enlist(b"arange", fast_arange)
enlist(b"astype", fast_astype)
enlist(b"strided.contiguous", fast_contiguous)
enlist(b"sum", fast_sum)
enlist(b"all", fast_all)
enlist(b"any", fast_any)
enlist(b"max", fast_max)
enlist(b"min", fast_min)
enlist(b"mean", fast_mean)
enlist(b"std", fast_std)
enlist(b"var", fast_var)
enlist(b"cumulative_sum", fast_cumulative_sum)
enlist(b"argmax", fast_argmax)
enlist(b"argmin", fast_argmin)
enlist(b"matmul", fast_matmul)
enlist(b"unstack", fast_unstack)
enlist(b"vecdot", fast_vecdot)
enlist(b"sort", fast_sort)
enlist(b"argsort", fast_argsort)
enlist(b"searchsorted", fast_searchsorted)
enlist(b"unique_values", fast_unique_values)
enlist(b"take", fast_take)
enlist(b"count_nonzero", fast_count_nonzero)


cdef FastPath fast_path_for(str name) noexcept:
    cdef bytes text = name.encode()
    cdef int k
    for k in range(listed):
        if FAST_PATHS[k].name == text:
            return FAST_PATHS[k].function
    return NULL
