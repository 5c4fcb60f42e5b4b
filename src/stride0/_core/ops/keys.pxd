# Keys of arrays: see `keys.pyx`.

from cpython.object cimport PyObject

from stride0._core.array.array cimport Array
from stride0._core.plan.plan cimport MAX_NDIM

cdef extern from "Python.h":
    # It does not raise for an int.
    long long s0_value "PyLong_AsLongLongAndOverflow"(PyObject* x, int* overflow) noexcept

cdef struct Selection:
    # The view that the items of a key have made so far.
    char* data
    int ndim
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t strides[MAX_NDIM]

cdef Py_ssize_t index_value(object item, Py_ssize_t size, int axis) except? -1
cdef list expand_key(Array x, object key)
cdef int take_item(Selection* into, object item, Array x, int axis) except -1
cdef Array plain_view(Array x, object key)
cdef int check_axes(int ndim) except -1
cdef Array basic_view(Array x, list items)


cdef inline bint read_int(PyObject* x, Py_ssize_t* out) noexcept:
    """Read the value of an exact int; False for another object or where it does not fit."""
    cdef int overflow = 0
    if x is NULL or type(<object>x) is not int:
        return False
    out[0] = s0_value(x, &overflow)
    return overflow == 0


cdef inline bint read_axis(PyObject* x, int ndim, int* out) noexcept:
    """Read one of `ndim` axes, counted from the first; False for another object or outside."""
    cdef Py_ssize_t axis
    if not read_int(x, &axis) or axis < -ndim or axis >= ndim:
        return False
    out[0] = <int>(axis + ndim if axis < 0 else axis)
    return True
