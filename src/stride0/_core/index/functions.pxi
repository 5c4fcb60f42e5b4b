# Functions that take elements at indices or write them. Declared in `_chapters/`: `indexing.py`, `updates.py`.

cdef Array operand(PyObject* x, str operation, str name="x"):
    return <Array>x if type(<object>x) is Array else <Array?>as_array(<object>x, operation, None, name)


cdef Array indices_argument(PyObject* x, str operation):
    cdef Array indices = operand(x, operation, "indices")
    if letter_at(indices.code) != c"i" and letter_at(indices.code) != c"u":
        raise DTypeError(operation, f"Unsupported dtype {dtype_at(indices.code).name} of indices", (), "indices take integer dtypes")
    return indices


cdef object take(str name, PyObject** given):
    """`given`: x, indices, axis."""
    cdef Array x = operand(given[0], "take"), indices = indices_argument(given[1], "take")
    cdef int axis = 0
    if given[2] is <PyObject*>None:
        if x.ndim != 1:
            raise ShapeError("take", f"the array has {x.ndim} axes and none is named", (("shape", f"{x.shape}"),),
                             "axis=..., or an array of one axis")
    elif not read_axis(given[2], x.ndim, &axis):
        axis = convert_axis(given[2], x.ndim, "take")
    return gather(x, indices, axis)


cdef object take_along_axis(str name, PyObject** given):
    """`given`: x, indices, axis."""
    cdef PyThreadState* thread
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t x_strides[MAX_NDIM]
    cdef Py_ssize_t index_strides[MAX_NDIM]
    cdef Array x = operand(given[0], "take_along_axis"), indices = indices_argument(given[1], "take_along_axis"), out
    cdef const int64_t* places
    cdef const char* source
    cdef char* to
    cdef int at = 0, axis
    cdef bint differ = False, empty = False, valid
    if not read_axis(given[2], x.ndim, &at):
        at = convert_axis(given[2], x.ndim, "take_along_axis")
    if x.ndim != indices.ndim:
        raise ShapeError("take_along_axis", f"indices have {counted(indices.ndim, 'axis', 'axes')}, the array has {x.ndim}",
                         (("x", f"{x.shape}"), ("indices", f"{indices.shape}")), "as many axes in both")
    for axis in range(x.ndim):
        shape[axis] = indices.shape_[axis]
        if axis == at:
            continue
        if x.shape_[axis] != indices.shape_[axis]:
            differ = True
            if indices.shape_[axis] == 1:
                shape[axis] = x.shape_[axis]
            elif x.shape_[axis] != 1:
                raise BroadcastError("take_along_axis", [("x", x.shape), ("indices", indices.shape)])
        empty = empty or shape[axis] == 0
    if differ and not empty:
        pairs = [("x beside the axis", beside(x, at)), ("indices beside it", beside(indices, at))]
        check_broadcasting("take_along_axis", pairs, tuple([shape[axis] for axis in range(x.ndim) if axis != at]))
    out = new_array(x.code, x.ndim, shape, NULL, False)
    indices = checked_indices(indices, x.shape_[at], at, out.size == 0)
    if out.size == 0:
        return out
    c_strides_of(1, indices.ndim, indices.shape_, index_strides)
    for axis in range(x.ndim):
        # Broadcast axes of either have stride 0.
        x_strides[axis] = x.strides_[axis] if axis == at or x.shape_[axis] != 1 else 0
        if indices.shape_[axis] == 1:
            index_strides[axis] = 0
    source, to = data_of(x), data_of(out)
    places = <const int64_t*>data_of(indices)
    thread = release_lock(out.size)
    valid = move_along(True, itemsize_at(x.code), out.ndim, out.shape_, at, places, index_strides, source, x_strides, x.shape_[at], to, 1)
    take_lock(thread)
    if not valid:
        refuse_changed_indices(indices, x.shape_[at], at)
    return out


cdef tuple beside(Array x, int axis):
    """The shape without an axis."""
    return tuple([x.shape_[k] for k in range(x.ndim) if k != axis])


cdef object put_along_axis(str name, PyObject** given):
    """`given`: x, indices, values, axis. One value, or one for each index, that nothing records; others by the declaration."""
    cdef PyThreadState* thread
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t index_strides[MAX_NDIM]
    cdef Array x, indices, values
    cdef const int64_t* places
    cdef char* to
    cdef char* source
    cdef int at, axis
    cdef bint valid, one
    if guarding or type(<object>given[0]) is not Array or type(<object>given[1]) is not Array:
        return NotImplemented
    x, indices = <Array>given[0], <Array>given[1]
    if letter_at(indices.code) != c"i" and letter_at(indices.code) != c"u":
        return NotImplemented
    if indices.ndim != x.ndim or not read_axis(given[3], x.ndim, &at) or x.storage.logged or needs_tape(indices):
        return NotImplemented
    for axis in range(x.ndim):
        shape[axis] = indices.shape_[axis] if axis == at else x.shape_[axis]
        if indices.shape_[axis] != shape[axis] and indices.shape_[axis] != 1:
            return NotImplemented
    if type(<object>given[2]) is not Array and not is_python_scalar(<object>given[2]):
        return NotImplemented
    check_writable(x, "setitem")
    values = value_operand(x, <object>given[2], "setitem")
    one = values.ndim == 0
    if needs_tape(values) or x.size == 0 or indices.size == 0 or not (one or has_shape(values, x.ndim, shape)):
        return NotImplemented
    check_codes("setitem", values.code, x.code)
    if overlaps(x, indices) or data_of(indices) == data_of(x):
        indices = copy_array(indices, INT64, True)
    if values.code != x.code or not values.c_contiguous or overlaps(x, values) or data_of(values) == data_of(x):
        values = copy_array(values, x.code, True)
    indices = checked_indices(indices, x.shape_[at], at, True)
    c_strides_of(1, indices.ndim, indices.shape_, index_strides)
    for axis in range(x.ndim):
        if indices.shape_[axis] == 1:
            index_strides[axis] = 0
    # What is written to comes last: while operands are computed, a signal handler may defer what reads it.
    places, source = <const int64_t*>data_of(indices), data_of(values)
    to = writable_data(x)
    thread = release_lock(x.size)
    valid = move_along(False, itemsize_at(x.code), x.ndim, shape, at, places, index_strides, to, x.strides_, x.shape_[at], source, not one)
    take_lock(thread)
    if not valid:
        refuse_changed_indices(indices, x.shape_[at], at)
    return None


cdef bint has_shape(Array x, int ndim, const Py_ssize_t* shape) noexcept:
    return x.ndim == ndim and memcmp(x.shape_, shape, ndim * sizeof(Py_ssize_t)) == 0


cdef bint move_along(
    bint reading, int itemsize, int ndim, const Py_ssize_t* shape, int at, const int64_t* indices, const Py_ssize_t* index_strides,
    const char* here, const Py_ssize_t* strides, Py_ssize_t size, char* there, Py_ssize_t step
) noexcept nogil:
    """
    Copy the elements at indices along the axis `at` to `there`, or from there, lane by lane of the last axis; whether all indices
    are in bounds.

    `index_strides` are in elements, `strides` in bytes. `there` has an element for each index, or one for all where `step` is 0.
    """
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t n = shape[ndim - 1], lane = 0 if at == ndim - 1 else strides[ndim - 1], each = index_strides[ndim - 1]
    cdef bint valid = True
    cdef int d
    for d in range(ndim):
        position[d] = 0
    while True:
        if reading:
            valid = s0_gather_along(itemsize, indices, each, n, here, lane, strides[at], size, there) and valid
        else:
            valid = s0_scatter_along(itemsize, indices, each, n, <char*>here, lane, strides[at], size, there, step) and valid
        there += n * step * itemsize
        for d in range(ndim - 2, -1, -1):
            position[d] += 1
            indices += index_strides[d]
            here += strides[d] if d != at else 0
            if position[d] < shape[d]:
                break
            indices -= position[d] * index_strides[d]
            here -= position[d] * strides[d] if d != at else 0
            position[d] = 0
        else:
            return valid


cdef object nonzero_indices(str name, PyObject** given):
    cdef Array x = array_argument(given[0], name, "x")
    if x.ndim == 0:
        raise ShapeError(name, "x must have at least one axis", [("x", "()")], "A 0-d array has no indices.")
    return nonzero(x)


implement("put_along_axis", put_along_axis)
implement("take", take)
implement("take_along_axis", take_along_axis)
implement("nonzero", nonzero_indices)
