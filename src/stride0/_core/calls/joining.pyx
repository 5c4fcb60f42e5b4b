"""Manipulation functions that write several arrays to a new one: `stack`, `concat`. Declared in `_chapters/manipulation.py`."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport DType, itemsize_at
from stride0._core.memory.guards cimport FREE_THREADED
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.array cimport Array, data_of, new_array, s0_tuple_items, same_shape, view_of
from stride0._core.array.views cimport c_strides_of
from stride0._core.ops.copy cimport assign_array
from stride0._core.ops.keys cimport read_axis
from stride0._core.calls.arguments cimport check_total, convert_axis, implement, read_sizes

from stride0._base.errors import ShapeError
from stride0._base.shapes import check_ndim, normalize_shape
from stride0._core.calls.checks import check_arrays, promote_all

cdef Py_ssize_t MANY_ELEMENTS = <Py_ssize_t>1 << 62

cdef enum:
    FEW_PARTS = 16


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


implement("concat", join)
implement("stack", join)
