# Functions that take elements at indices or write them. Declared in `_chapters/`: `indexing.py`, `updates.py`.

cdef Array operand(PyObject* x, str operation, str name="x"):
    return <Array>x if type(<object>x) is Array else <Array?>as_array(<object>x, operation, None, name)


cdef Array indices_argument(PyObject* x, str operation):
    cdef Array indices = operand(x, operation, "indices")
    if letter_at(indices.code) != c"i" and letter_at(indices.code) != c"u":
        raise DTypeError(operation, f"Unsupported dtype {dtype_at(indices.code).name} of indices", (), "pass integers: astype(indices, int64)")
    return indices


cdef object take(str name, PyObject** given):
    """`given`: x, indices, axis."""
    cdef Array x = operand(given[0], "take"), indices = indices_argument(given[1], "take"), out
    cdef int axis = 0
    if given[2] is <PyObject*>None:
        if x.ndim != 1:
            raise ShapeError("take", f"the array has {x.ndim} axes, and axis is not given", (("shape", f"{x.shape}"),),
                             "pass axis, or an array with one axis")
    elif not read_axis(given[2], x.ndim, &axis):
        axis = convert_axis(given[2], x.ndim, "take")
    out = gather(x, indices, axis)
    # One index gives a view, which shares the memory of x.
    return copy_array(out, out.code, True) if indices.ndim == 0 and out.storage is x.storage else out


cdef object take_along_axis(str name, PyObject** given):
    """`given`: x, indices, axis."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Array x = operand(given[0], "take_along_axis"), indices = indices_argument(given[1], "take_along_axis"), out
    cdef Along where_
    cdef int at = 0, axis
    cdef bint differ = False, empty = False
    if not read_axis(given[2], x.ndim, &at):
        at = convert_axis(given[2], x.ndim, "take_along_axis")
    if x.ndim != indices.ndim:
        raise ShapeError("take_along_axis", f"indices have {counted(indices.ndim, 'axis', 'axes')}, the array has {x.ndim}",
                         (("x", f"{x.shape}"), ("indices", f"{indices.shape}")), "pass arrays with equal numbers of axes")
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
        pairs = [("x without the axis", shape_without(x, at)), ("indices without it", shape_without(indices, at))]
        check_broadcasting("take_along_axis", pairs, tuple([shape[axis] for axis in range(x.ndim) if axis != at]))
    out = new_array(x.code, x.ndim, shape, NULL, False)
    indices = unchecked_indices(indices, x.shape_[at], at)
    align_along(&where_, x, indices, at)
    move_along(&where_, x, indices, out, S0_READ)
    return out


cdef tuple shape_without(Array x, int axis):
    """The shape without an axis."""
    return tuple([x.shape_[k] for k in range(x.ndim) if k != axis])


cdef object put_along_axis(str name, PyObject** given):
    """`given`: x, indices, values, axis. Handles one value, or one value per index, if no tape records the call; the
    declaration handles other calls."""
    cdef Along where_
    cdef Array x, indices, values
    cdef int at, axis
    if guarding or type(<object>given[0]) is not Array or type(<object>given[1]) is not Array:
        return NotImplemented
    x, indices = <Array>given[0], <Array>given[1]
    if letter_at(indices.code) != c"i" and letter_at(indices.code) != c"u":
        return NotImplemented
    if indices.ndim != x.ndim or not read_axis(given[3], x.ndim, &at) or x.storage.logged or needs_tape(indices):
        return NotImplemented
    for axis in range(x.ndim):
        if indices.shape_[axis] != 1 and indices.shape_[axis] != x.shape_[axis] and axis != at:
            return NotImplemented
    if type(<object>given[2]) is not Array and not is_python_scalar(<object>given[2]):
        return NotImplemented
    check_writable(x, "setitem")
    values = value_operand(x, <object>given[2], "setitem")
    align_along(&where_, x, indices, at)
    if needs_tape(values) or x.size == 0 or indices.size == 0:
        return NotImplemented
    if values.ndim and (values.ndim != x.ndim or memcmp(values.shape_, where_.shape, x.ndim * sizeof(Py_ssize_t)) != 0):
        return NotImplemented
    check_codes("setitem", values.code, x.code)
    indices = apart(x, checked_indices(indices, x.shape_[at], at, True))
    align_along(&where_, x, indices, at)
    move_along(&where_, x, indices, apart(x, values) if values.code == x.code else copy_array(values, x.code, True), S0_WRITE)
    return None


cdef object nonzero_indices(str name, PyObject** given):
    cdef Array x = array_argument(given[0], name, "x")
    if x.ndim == 0:
        raise ShapeError(name, "x must have at least one axis", [("x", "()")], "insert an axis: x[None]")
    return nonzero(x)


implement("put_along_axis", put_along_axis)
implement("take", take)
implement("take_along_axis", take_along_axis)
implement("nonzero", nonzero_indices)
