"""Manipulation functions whose overhead matters: views, `stack` and `concat`. Declared in `_chapters/manipulation.py`."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport DType, itemsize_at
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.memory.guards cimport FREE_THREADED
from stride0._core.array.array cimport (
    Array, data_of, new_array, s0_times, s0_tuple_items, same_shape, swapped_matrix, view_of,
)
from stride0._core.array.views cimport c_strides_of, strides_for_shape
from stride0._core.ops.copy cimport assign_array, copy_array
from stride0._core.ops.keys cimport read_axis, read_int
from stride0._core.calls.arguments cimport (
    array_argument, axes_argument, check_total, convert_axis, flag_argument, implement, read_sizes, shape_argument,
)

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, AxisError, BroadcastError, ShapeError, shown
from stride0._base.shapes import check_ndim, infer_shape, normalize_axes, normalize_shape
from stride0._core.array.views import strides
from stride0._core.calls.checks import check_arrays, promote_all

cdef Py_ssize_t MANY_ELEMENTS = <Py_ssize_t>1 << 62

cdef enum:
    FEW_PARTS = 16
    FEW_ELEMENTS = 1 << 15  # up to which arrays are joined by memcpy, without a plan


# --- views


cdef int sizes_for_reshape(PyObject* shape, Py_ssize_t size, Py_ssize_t* out) except -1:
    """Write the sizes of the shape for `reshape` to `out`, a size of -1 inferred; returns how many."""
    cdef Py_ssize_t total = 1, k, ndim
    cdef Py_ssize_t unknown = -1
    if type(<object>shape) is tuple and len(<tuple>shape) <= MAX_NDIM and size > 0:
        ndim = len(<tuple>shape)
        for k in range(ndim):
            if not read_int(<PyObject*>(<tuple>shape)[k], &out[k]):
                break
            if out[k] == -1 and unknown < 0:
                unknown = k
            elif out[k] <= 0 or s0_times(&total, out[k]):
                break
        else:
            if unknown >= 0 and size % total == 0:
                out[unknown] = size // total
                return <int>ndim
            if unknown < 0 and total == size:
                return <int>ndim
    return read_sizes(infer_shape("reshape", size, <object>shape), out)


cdef object reshape(str name, PyObject** given):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Array x = array_argument(given[0], "reshape", "x")
    cdef int ndim = sizes_for_reshape(given[1], x.size, shape)
    cdef bint may_view = True, may_copy = True
    if given[2] is not <PyObject*>None:
        may_copy = flag_argument(given[2], "reshape", "copy")
        may_view = not may_copy
    if may_view:
        if strides_for_shape(x, ndim, shape, byte_strides):
            return view_of(x, data_of(x), ndim, shape, byte_strides)
        if not may_copy:
            raise ShapeError(
                "reshape", "a view is not possible, and copy=False forbids a copy",
                [("x", f"{x.shape}"), ("strides", f"{strides(x)}"), ("shape", f"{tuple([shape[k] for k in range(ndim)])}")],
                "copy=None copies where it must.")
    c_strides_of(itemsize_at(x.code), ndim, shape, byte_strides)
    x = copy_array(x, x.code, True)
    return view_of(x, data_of(x), ndim, shape, byte_strides)


cdef object broadcast_to(str name, PyObject** given):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Array x = array_argument(given[0], "broadcast_to", "x")
    cdef int ndim = shape_argument(given[1], "broadcast_to", shape), missing = ndim - x.ndim, axis
    cdef bint fits = missing >= 0
    for axis in range(ndim if fits else 0):
        byte_strides[axis] = 0
        if axis >= missing:
            if x.shape_[axis - missing] == shape[axis]:
                byte_strides[axis] = x.strides_[axis - missing]
            elif x.shape_[axis - missing] != 1:
                fits = False
    if not fits:
        target = tuple([shape[axis] for axis in range(ndim)])
        raise BroadcastError("broadcast_to", [("x", x.shape), ("the shape", target)], grow=("the shape", target))
    return view_of(x, data_of(x), ndim, shape, byte_strides)


cdef object expand_dims(str name, PyObject** given):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axes[MAX_NDIM]
    cdef Array x = array_argument(given[0], "expand_dims", "x")
    cdef int count = 1, k, ndim, axis, own = 0
    if type(<object>given[1]) is not int:
        if given[1] is <PyObject*>None:
            raise ArgumentTypeError("expand_dims", "axis must be an integer or a tuple of integers, not None")
        if isinstance(<object>given[1], (tuple, list)):
            count = <int>len(<object>given[1])
    ndim = x.ndim + count
    if ndim > MAX_NDIM:
        normalize_axes("expand_dims", <object>given[1], ndim)
        check_ndim("expand_dims", ndim)
    # A sequence may change its length while it is read.
    if axes_argument(given[1], ndim, "expand_dims", axes) != count:
        raise ArgumentValueError("expand_dims", "axis must be an integer or a tuple of integers", [("axis", shown(<object>given[1]))])
    for axis in range(ndim):
        shape[axis] = 0
    for k in range(count):
        shape[axes[k]], byte_strides[axes[k]] = 1, 0
    for axis in range(ndim):
        if shape[axis] == 0:
            shape[axis], byte_strides[axis] = x.shape_[own], x.strides_[own]
            own += 1
    return view_of(x, data_of(x), ndim, shape, byte_strides)


cdef object squeeze(str name, PyObject** given):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axes[MAX_NDIM]
    cdef bint removed[MAX_NDIM]
    cdef Array x = array_argument(given[0], "squeeze", "x")
    cdef int count, axis, k, ndim = 0
    if given[1] is <PyObject*>None:
        raise ArgumentTypeError("squeeze", "axis must be an integer or a tuple of integers, not None")
    count = axes_argument(given[1], x.ndim, "squeeze", axes)
    for axis in range(x.ndim):
        removed[axis] = False
    for k in range(count):
        if x.shape_[axes[k]] != 1:
            raise ShapeError("squeeze", f"axis {axes[k]} has size {x.shape_[axes[k]]}, not 1", [("x", f"{x.shape}")])
        removed[axes[k]] = True
    for axis in range(x.ndim):
        if not removed[axis]:
            shape[ndim], byte_strides[ndim] = x.shape_[axis], x.strides_[axis]
            ndim += 1
    return view_of(x, data_of(x), ndim, shape, byte_strides)


cdef Array permute(Array x, const int* order):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int k
    for k in range(x.ndim):
        shape[k], byte_strides[k] = x.shape_[order[k]], x.strides_[order[k]]
    return view_of(x, data_of(x), x.ndim, shape, byte_strides)


cdef object permute_dims(str name, PyObject** given):
    cdef int order[MAX_NDIM]
    cdef Array x = array_argument(given[0], "permute_dims", "x")
    if type(<object>given[1]) is not tuple and not isinstance(<object>given[1], (tuple, list)):
        raise ArgumentTypeError("permute_dims", "axes must be a tuple of integers", [("axes", shown(<object>given[1]))])
    if axes_argument(given[1], x.ndim, "permute_dims", order) != x.ndim:
        raise AxisError("permute_dims", "axes must name each axis of x once",
                        [("x", f"{x.shape}"), ("axes", shown(tuple(<object>given[1])))])
    return permute(x, order)


cdef object moveaxis(str name, PyObject** given):
    cdef int sources[MAX_NDIM]
    cdef int targets[MAX_NDIM]
    cdef int order[MAX_NDIM]
    cdef Array x = array_argument(given[0], "moveaxis", "x")
    cdef uint64_t moved = 0, taken = 0
    cdef int count, k, axis = 0
    if given[1] is <PyObject*>None or given[2] is <PyObject*>None:
        raise ArgumentTypeError("moveaxis", "source and destination must be integers or tuples of integers")
    count = axes_argument(given[1], x.ndim, "moveaxis", sources)
    if axes_argument(given[2], x.ndim, "moveaxis", targets) != count:
        raise ArgumentValueError("moveaxis", "source and destination must name equally many axes",
                                 [("source", shown(<object>given[1])), ("destination", shown(<object>given[2]))])
    for k in range(count):
        order[targets[k]] = sources[k]
        moved |= <uint64_t>1 << sources[k]
        taken |= <uint64_t>1 << targets[k]
    for k in range(x.ndim):
        if not taken >> k & 1:
            while moved >> axis & 1:
                axis += 1
            order[k] = axis
            axis += 1
    return permute(x, order)


cdef object matrix_transpose(str name, PyObject** given):
    cdef Array x = array_argument(given[0], "matrix_transpose", "x")
    if x.ndim < 2:
        raise ShapeError("matrix_transpose", "x must be a matrix or a stack of them", [("x", f"{x.shape}")])
    return swapped_matrix(x)


cdef object unstack(str name, PyObject** given):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t k, stride
    cdef int at, axis
    cdef Array x = array_argument(given[0], "unstack", "x")
    cdef list out = []
    if not read_axis(given[1], x.ndim, &at):
        at = convert_axis(given[1], x.ndim, "unstack")
    # Views of an empty array keep its offset: it has no element to point to.
    stride = x.strides_[at] if x.size else 0
    for axis in range(x.ndim - 1):
        shape[axis], byte_strides[axis] = x.shape_[axis + (axis >= at)], x.strides_[axis + (axis >= at)]
    for k in range(x.shape_[at]):
        out.append(view_of(x, data_of(x) + k * stride, x.ndim - 1, shape, byte_strides))
    return tuple(out)


# --- arrays that are joined


cdef struct Parts:
    # Arrays in a tuple or list.
    PyObject** items
    PyObject* few[FEW_PARTS]
    PyObject* every     # a tuple that keeps them alive, NULL where each of `few` has a reference of its own
    Py_ssize_t count
    int code            # of the dtype that theirs promote to
    bint alike          # whether all are of this dtype and contiguous


cdef int read_parts(PyObject* given, str operation, Parts* parts) except -1:
    """
    Read a tuple or list of arrays, which `release_parts` lets go, also after an exception.

    A list may change while memory is allocated, so its arrays get references: a tuple for a few would take a tenth of the call.
    In a free-threaded interpreter it may change at any time.
    """
    cdef Py_ssize_t k
    cdef bint one = True, contiguous
    if not FREE_THREADED and type(<object>given) is list and 0 < len(<list>given) <= FEW_PARTS:
        parts.count, parts.every, parts.items = len(<list>given), NULL, parts.few
        for k in range(parts.count):
            parts.few[k] = <PyObject*>(<list>given)[k]
            Py_INCREF(<object>parts.few[k])
    else:
        every = tuple(<object>given if type(<object>given) in (tuple, list) else check_arrays(operation, <object>given))
        parts.count, parts.every, parts.items = len(<tuple>every), <PyObject*>every, s0_tuple_items(every)
        Py_INCREF(every)
    contiguous = True
    for k in range(parts.count):
        if type(<object>parts.items[k]) is not Array:
            break
        if k == 0:
            parts.code = (<Array>parts.items[0]).code
        one = one and (<Array>parts.items[k]).code == parts.code
        contiguous = contiguous and (<Array>parts.items[k]).c_contiguous
    else:
        if parts.count:
            parts.alike = one and contiguous
            if not one:
                parts.code = (<DType>promote_all([(<Array>parts.items[k]).dtype for k in range(parts.count)])).code
            return 0
    # A list may be another one by now.
    check_arrays(operation, <object>given if parts.every is NULL else <object>parts.every)
    raise SystemError(f"{operation}: what is not an array was taken for one")


cdef void release_parts(Parts* parts) noexcept:
    cdef Py_ssize_t k
    if parts.every is not NULL:
        Py_DECREF(<object>parts.every)
        return
    for k in range(parts.count):
        Py_DECREF(<object>parts.few[k])


cdef Array join_along(str operation, Parts* parts, int ndim, const Py_ssize_t* shape, int at, bint stacked):
    """A new array of arrays joined along an axis: one of their own, or a new one where they are `stacked`."""
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t blocks = 1, run, j, k
    cdef int axis
    cdef Array x, out
    cdef char* to
    check_total(operation, ndim, shape)
    out = new_array(parts.code, ndim, shape, NULL, False)
    to = data_of(out)
    if out.size == 0:
        return out
    if parts.alike and out.size <= FEW_ELEMENTS:
        for axis in range(at):
            blocks *= shape[axis]
        for j in range(blocks):
            for k in range(parts.count):
                x = <Array>parts.items[k]
                run = (x.size if blocks == 1 else x.size // blocks) * itemsize_at(parts.code)
                memcpy(to, data_of(x) + j * run, run)
                to += run
        return out
    for axis in range(ndim - stacked):
        byte_strides[axis] = out.strides_[axis + (stacked and axis >= at)]
    for k in range(parts.count):
        x = <Array>parts.items[k]
        if x.size:
            assign_array(view_of(out, to, x.ndim, x.shape_, byte_strides), x, operation)
        to += (1 if stacked else x.shape_[at]) * out.strides_[at]
    return out


cdef object join(str name, PyObject** given):
    """`given`: arrays, axis."""
    cdef Parts parts
    parts.count, parts.every = 0, NULL
    try:
        read_parts(given[0], name, &parts)
        return stack_parts(&parts, given[1]) if name == "stack" else concat_parts(&parts, given[1])
    finally:
        release_parts(&parts)


cdef Array stack_parts(Parts* parts, PyObject* new_axis):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Array x, first = <Array>parts.items[0]
    cdef Py_ssize_t i
    cdef int at, axis
    for i in range(1, parts.count):
        x = <Array>parts.items[i]
        if not same_shape(x, first):
            raise ShapeError("stack", f"arrays[{i}] has another shape than arrays[0]",
                             [("arrays[0]", f"{first.shape}"), (f"arrays[{i}]", f"{x.shape}")], "All shapes must be equal.")
    if not read_axis(new_axis, first.ndim + 1, &at):
        at = convert_axis(new_axis, first.ndim + 1, "stack")
    check_ndim_of(first.ndim + 1, "stack")
    for axis in range(first.ndim + 1):
        shape[axis] = parts.count if axis == at else first.shape_[axis - (axis > at)]
    return join_along("stack", parts, first.ndim + 1, shape, at, True)


cdef int check_ndim_of(int ndim, str operation) except -1:
    if ndim > MAX_NDIM:
        check_ndim(operation, ndim)
    return 0


cdef Array concat_parts(Parts* parts, PyObject* given_axis):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Array x, out, first = <Array>parts.items[0]
    cdef Py_ssize_t total = 0, start = 0, i, k
    cdef bint fits
    cdef int at, axis
    if given_axis is <PyObject*>None:
        read_sizes(normalize_shape("concat", sum([(<Array>parts.items[k]).size for k in range(parts.count)])), &total)
        out = new_array(parts.code, 1, &total, NULL, False)
        for k in range(parts.count):
            x = <Array>parts.items[k]
            c_strides_of(out.strides_[0], x.ndim, x.shape_, byte_strides)
            assign_array(view_of(out, data_of(out) + start * out.strides_[0], x.ndim, x.shape_, byte_strides), x, "concat")
            start += x.size
        return out
    if not read_axis(given_axis, first.ndim, &at):
        at = convert_axis(given_axis, first.ndim, "concat")
    for i in range(parts.count):
        x = <Array>parts.items[i]
        fits = x.ndim == first.ndim
        for axis in range(first.ndim if fits else 0):
            fits = fits and (axis == at or x.shape_[axis] == first.shape_[axis])
        if not fits:
            raise ShapeError("concat", f"arrays[{i}] does not fit arrays[0]",
                             [("arrays[0]", f"{first.shape}"), (f"arrays[{i}]", f"{x.shape}")],
                             f"All sizes but those of axis {at} must be equal.")
    for k in range(parts.count):
        x = <Array>parts.items[k]
        if x.shape_[at] > MANY_ELEMENTS - total:
            normalize_shape("concat", first.shape[:at] + (sum([(<Array>parts.items[i]).shape_[at] for i in range(parts.count)]),) + first.shape[at + 1:])
        total += x.shape_[at]
    memcpy(shape, first.shape_, first.ndim * sizeof(Py_ssize_t))
    shape[at] = total
    return join_along("concat", parts, first.ndim, shape, at, False)


# --- rolling


cdef Array rolled(Array x, const Py_ssize_t* shifts):
    """Elements moved along each axis by a number of places, from 0 to its size; what leaves at the end enters in front."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Array out = new_array(x.code, x.ndim, x.shape_, NULL, False)
    cdef uint64_t block = 0
    cdef char* source
    cdef char* target
    cdef Py_ssize_t n, shift
    cdef int axis
    cdef bint wrapped
    if x.size == 0:
        return out
    while True:
        # A block has one of the two parts of each axis that is rolled: those that are moved on, or the others.
        source, target = data_of(x), data_of(out)
        for axis in range(x.ndim):
            n, shift = x.shape_[axis], shifts[axis]
            wrapped = block >> axis & 1
            shape[axis] = shift if wrapped else n - shift
            source += (n - shift) * x.strides_[axis] if wrapped else 0
            target += 0 if wrapped else shift * out.strides_[axis]
        assign_array(view_of(out, target, x.ndim, shape, out.strides_), view_of(x, source, x.ndim, shape, x.strides_), "roll")
        # The next number of a counter whose digits are the axes that are rolled.
        for axis in range(x.ndim):
            if shifts[axis] == 0:
                continue
            block ^= <uint64_t>1 << axis
            if block >> axis & 1:
                break
        else:
            return out


def roll_axes(Array x not None, tuple shifts):
    """
    Elements moved along axes: a new array.

    Parameters
    ----------
    x : Array
        Any array.
    shifts : tuple of int
        For each axis by how many places, from 0 to its size.
    """
    cdef Py_ssize_t places[MAX_NDIM]
    cdef Py_ssize_t k
    for k in range(x.ndim):
        places[k] = shifts[k]
    return rolled(x, places)


implement("broadcast_to", broadcast_to)
implement("concat", join)
implement("expand_dims", expand_dims)
implement("matrix_transpose", matrix_transpose)
implement("moveaxis", moveaxis)
implement("permute_dims", permute_dims)
implement("reshape", reshape)
implement("squeeze", squeeze)
implement("stack", join)
implement("unstack", unstack)
