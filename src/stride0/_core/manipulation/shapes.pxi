# Manipulation functions that return views. Declared in `_chapters/manipulation.py`, `diagonal` in `linalg`.

# --- views


cdef int sizes_for_reshape(PyObject* shape, Py_ssize_t size, Py_ssize_t* out) except -1:
    """Write the shape for `reshape` to `out`, with an inferred size for -1; returns the number of axes."""
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
                "write copy=None: it copies only if a view is not possible")
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
    # A sequence may change its length meanwhile.
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
        raise ArgumentValueError("moveaxis", "source and destination must name equal numbers of axes",
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
    # Views of an empty array keep its offset, because there is no element to point to.
    stride = x.strides_[at] if x.size else 0
    for axis in range(x.ndim - 1):
        shape[axis], byte_strides[axis] = x.shape_[axis + (axis >= at)], x.strides_[axis + (axis >= at)]
    for k in range(x.shape_[at]):
        out.append(view_of(x, data_of(x) + k * stride, x.ndim - 1, shape, byte_strides))
    return tuple(out)


cdef object flip(str name, PyObject** given):
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axes[MAX_NDIM]
    cdef Array x = array_argument(given[0], "flip", "x")
    cdef char* data = data_of(x)
    cdef int k, axis
    memcpy(byte_strides, x.strides_, x.ndim * sizeof(Py_ssize_t))
    for k in range(axes_argument(given[1], x.ndim, "flip", axes)):
        axis = axes[k]
        if x.size:
            data += (x.shape_[axis] - 1) * x.strides_[axis]
        byte_strides[axis] = -x.strides_[axis]
    return view_of(x, data, x.ndim, x.shape_, byte_strides)


cdef object diagonal(str name, PyObject** given):
    return diagonal_of("diagonal", <object>given[0], <object>given[1])


def diagonal_of(str operation, x, offset):
    """The diagonal of each matrix, as a view."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Array matrix = array_argument(<PyObject*>x, operation, "x")
    cdef Py_ssize_t start, rows, columns, length
    cdef int last = matrix.ndim - 2
    if last < 0:
        raise ShapeError(operation, "x must be a matrix or a stack of them", [("x", f"{matrix.shape}")])
    rows, columns = matrix.shape_[last], matrix.shape_[last + 1]
    if not read_int(<PyObject*>offset, &start):
        # A diagonal beyond a corner is empty.
        start = max(-rows, min(normalize_index(operation, "offset", offset), columns))
    start = max(-rows, min(start, columns))
    length = min(rows, columns - start) if start >= 0 else min(rows + start, columns)
    memcpy(shape, matrix.shape_, last * sizeof(Py_ssize_t))
    memcpy(byte_strides, matrix.strides_, last * sizeof(Py_ssize_t))
    shape[last], byte_strides[last] = length, matrix.strides_[last] + matrix.strides_[last + 1]
    # An empty array keeps its offset, because there is no element to point to.
    start *= (matrix.strides_[last + 1] if start >= 0 else -matrix.strides_[last]) if length and matrix.size else 0
    return view_of(matrix, data_of(matrix) + start, last + 1, shape, byte_strides)


cdef bint merge_sizes(Py_ssize_t* shape, int ndim, const Py_ssize_t* sizes, int count) noexcept:
    """Broadcast a shape in place with sizes of as many or fewer axes; False if they do not fit."""
    cdef int k
    shape += ndim - count
    for k in range(count):
        if sizes[k] != 1 and sizes[k] != shape[k]:
            if shape[k] != 1:
                return False
            shape[k] = sizes[k]
    return True


cdef object broadcast_shapes(str name, PyObject** given):
    """`given`: a tuple of the arguments."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef tuple shapes = <tuple>given[0]
    cdef int axis, ndim = 0, count
    for axis in range(MAX_NDIM):
        shape[axis] = 1
    for entry in shapes:
        count = shape_argument(<PyObject*>entry, "broadcast_shapes", sizes)
        ndim = max(ndim, count)
        if not merge_sizes(shape, MAX_NDIM, sizes, count):
            # Names with a space get no hint, which would insert an axis into a shape.
            raise BroadcastError("broadcast_shapes", [(f"shape {i}", normalize_shape("broadcast_shapes", one)) for i, one in enumerate(shapes)])
    return tuple([shape[axis] for axis in range(MAX_NDIM - ndim, MAX_NDIM)])


cdef object broadcast_arrays(str name, PyObject** given):
    """`given`: a tuple of the arguments."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef tuple arrays = <tuple>given[0]
    cdef Array x
    cdef Py_ssize_t own
    cdef int k, axis, ndim = 0
    for k in range(<int>len(arrays)):
        if type(arrays[k]) is not Array:
            check_array("broadcast_arrays", arrays[k], f"arrays[{k}]")
        ndim = max(ndim, (<Array>arrays[k]).ndim)
    for axis in range(ndim):
        shape[axis] = 1
    for k in range(<int>len(arrays)):
        x = <Array>arrays[k]
        if not merge_sizes(shape, ndim, x.shape_, x.ndim):
            raise BroadcastError("broadcast_arrays", [(f"arrays[{i}]", (<Array>y).shape) for i, y in enumerate(arrays)])
    out = []
    for k in range(<int>len(arrays)):
        x = <Array>arrays[k]
        for axis in range(ndim):
            own = axis - (ndim - x.ndim)
            byte_strides[axis] = x.strides_[own] if own >= 0 and x.shape_[own] == shape[axis] else 0
        out.append(view_of(x, data_of(x), ndim, shape, byte_strides))
    return tuple(out)


implement("broadcast_to", broadcast_to)
implement("broadcast_arrays", broadcast_arrays)
implement("broadcast_shapes", broadcast_shapes)
implement("expand_dims", expand_dims)
implement("flip", flip)
implement("linalg.diagonal", diagonal)
implement("matrix_transpose", matrix_transpose)
implement("moveaxis", moveaxis)
implement("permute_dims", permute_dims)
implement("reshape", reshape)
implement("squeeze", squeeze)
implement("unstack", unstack)
