# Index arrays: their checks, and gather and scatter along an axis or at points.

cdef Array checked_indices(Array index, Py_ssize_t size, int axis, bint check):
    """
    An index array as contiguous int64, every element within the axis.

    Without `check`, the caller checks each index when it uses it, and calls `refuse_changed_indices` for the error.
    """
    cdef Array out = index if index.code == INT64 and index.c_contiguous else copy_array(index, INT64, True)
    cdef const int64_t* values = <const int64_t*>data_of(out)
    cdef PyThreadState* thread
    cdef bint bad
    if index.code == UINT64:
        # A uint64 above the greatest int64 would become negative, an index from the end.
        greatest = reduce_array("max", index, tuple(range(index.ndim)), False, None) if index.size else None
        if greatest is not None and <uint64_t>read_scalar(data_of(<Array>greatest), UINT64) >= <uint64_t>size:
            raise OutOfBoundsError("index", f"{int(greatest)} is out of bounds for axis {axis} with size {size}", (),
                                   f"pass indices from {-size} to {size - 1}" if size else "pass no index: the axis is empty")
    if check:
        thread = release_lock(out.size)
        bad = not s0_are_within(values, out.size, size)
        take_lock(thread)
        if bad:
            refuse_indices(out, size, axis)
    return out


cdef inline Array unchecked_indices(Array index, Py_ssize_t size, int axis):
    return index if index.code == INT64 and index.c_contiguous else checked_indices(index, size, axis, False)


cdef int refuse_indices(Array index, Py_ssize_t size, int axis) except -1:
    """Raise the error of the first index that is outside of the axis, if there still is one."""
    cdef const int64_t* values = <const int64_t*>data_of(index)
    cdef Py_ssize_t i
    for i in range(index.size):
        index_value(values[i], size, axis)
    return 0


cdef int refuse_changed_indices(Array index, Py_ssize_t size, int axis) except -1:
    """Raise the error for an index array in which an index was out of bounds."""
    refuse_indices(index, size, axis)
    raise OutOfBoundsError("index", "an index array was changed during the call, to an index out of bounds", (), "pass a copy of the index array")


cdef Array positive_indices(Array index, Py_ssize_t size, int axis):
    """Checked indices from 0 on, in our own memory."""
    cdef Array out = copy_array(index, INT64, True)
    cdef int64_t* values = <int64_t*>data_of(out)
    cdef PyThreadState* thread = release_lock(out.size)
    cdef bint within = s0_make_positive(values, out.size, size)
    take_lock(thread)
    if not within:
        refuse_changed_indices(index, size, axis)
    return out


cdef Array apart(Array x, Array source):
    """An operand that is read while elements of x are written: copied if it shares memory with x, as in `x[x] = x`."""
    return copy_array(source, source.code, True) if overlaps(x, source) or data_of(source) == data_of(x) else source


cdef inline Py_ssize_t stride_along(Array x, int axis) noexcept:
    """0 along an axis that x is broadcast along."""
    return 0 if axis < 0 or x.shape_[axis] == 1 else x.strides_[axis]


cdef int check_value(int ndim, const Py_ssize_t* shape, Array value, str operation) except -1:
    """Raise BroadcastError if a value does not broadcast to a shape."""
    cdef int back
    for back in range(1, value.ndim + 1):
        if back > ndim or (value.shape_[value.ndim - back] != 1 and value.shape_[value.ndim - back] != shape[ndim - back]):
            target = tuple([shape[axis] for axis in range(ndim)])
            raise BroadcastError(operation, [("x", target), ("value", shape_tuple(value))], ("x", target))
    return 0


cdef Array scattered(Array x, int ndim, const Py_ssize_t* shape, int first, Array value, str operation):
    """
    A value that is written to `x[key]` or added: cast to the dtype of x, and copied if it shares memory with x.

    The axes from `first` on are not indexed. A single value is repeated in memory along these axes if the copies fit into a
    cache, because runs are written faster than elements.
    """
    cdef Array out
    cdef Py_ssize_t size = 1
    cdef int axis
    check_value(ndim, shape, value, operation)
    for axis in range(first, ndim):
        size *= shape[axis]
    if value.ndim == 0 and 1 < size <= tuning.repeated_value_elements:
        out = new_array(x.code, ndim - first, shape + first, NULL, False)
        assign_array(out, value, operation)
        return out
    return apart(x, value) if value.code == x.code else copy_array(value, x.code, True)


cdef struct Along:
    # The iteration space of a gather by one index array, with the strides of the array and of the index array, in bytes.
    int axis            # the axis of the array that is indexed
    Py_ssize_t size     # its size; 0 if the indices are checked, not negative, and in our own memory
    int ndim
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t strides[MAX_NDIM]
    Py_ssize_t index_strides[MAX_NDIM]


cdef inline int spread_along(Along* out, Array x, Array index, int axis) except -1:
    """`x[index]` along an axis: the axes of the index array in the place of the axis."""
    cdef int d, own
    out.axis, out.size, out.ndim = axis, x.shape_[axis], x.ndim - 1 + index.ndim
    if out.ndim == 1:
        out.shape[0], out.strides[0], out.index_strides[0] = index.size, 0, sizeof(int64_t)
        return 0
    check_axes(out.ndim)
    for d in range(out.ndim):
        own = d if d < axis else d - index.ndim + 1
        if axis <= d < axis + index.ndim:
            out.shape[d], out.strides[d], out.index_strides[d] = index.shape_[d - axis], 0, index.strides_[d - axis]
        else:
            out.shape[d], out.strides[d], out.index_strides[d] = x.shape_[own], x.strides_[own], 0
    return 0


cdef void align_along(Along* out, Array x, Array index, int axis) noexcept:
    """`take_along_axis`: an index array with as many axes as x. Both are broadcast along all axes except `axis`."""
    cdef int d
    out.axis, out.size, out.ndim = axis, x.shape_[axis], x.ndim
    for d in range(x.ndim):
        out.shape[d] = index.shape_[d] if d == axis or x.shape_[d] == 1 else x.shape_[d]
        out.strides[d] = 0 if d == axis else stride_along(x, d)
        out.index_strides[d] = stride_along(index, d)


cdef inline bint has_few(const Along* at, Array other, int itemsize, s0_index_lanes* out, Py_ssize_t* run) noexcept:
    """
    Describe a small iteration space of one or two axes, of lanes or of runs; False for any other.

    Compared with the general loop, this is 1.19 times as fast on the row `x[i] float64 100` of compare.py, 1.23 times on
    `take_along_axis` of 10 elements of rows.py.
    """
    cdef int last = at.ndim - 1
    if at.ndim < 1 or at.ndim > 2:
        return False
    out.n, out.m = at.shape[last], at.shape[0] if last else 1
    if is_long_run(out.n * out.m):
        return False
    out.step, out.index_step, out.other_step = at.strides[last], at.index_strides[last], stride_along(other, other.ndim - 1)
    out.lane, out.index_lane, out.other_lane = at.strides[0], at.index_strides[0], stride_along(other, other.ndim - 2)
    run[0] = itemsize
    if out.index_step == 0 and last:
        if out.step != itemsize or out.other_step != itemsize:
            return False
        run[0], out.n, out.m = itemsize * out.n, out.m, 1
        out.step, out.index_step, out.other_step = out.lane, out.index_lane, out.other_lane
    return True


cdef int move_along(const Along* at, Array x, Array index, Array other, int mode) except -1:
    """Read or write x at indices, from or to an array that broadcasts to the iteration space."""
    cdef Lanes lanes
    cdef s0_index_lanes few
    cdef Py_ssize_t[3] strides
    cdef Py_ssize_t run
    cdef int d
    cdef bint valid
    if x.size == 0 or other.size == 0 or index.size == 0:
        # No kernel runs, so the indices are checked here.
        return refuse_indices(index, x.shape_[at.axis], at.axis)
    few.here, few.other, few.indices = data_of(x), data_of(other), data_of(index)
    # The target comes last: while operands are computed, a signal handler may defer a result that reads it.
    if mode != S0_READ:
        before_write(x)
    if has_few(at, other, itemsize_at(x.code), &few, &run):
        few.size, few.stride = at.size, x.strides_[at.axis]
        valid = s0_move_lanes(&few, mode, width_of_run(run), run)
    else:
        no_lanes(&lanes, 3, itemsize_at(x.code))
        for d in range(at.ndim - 1, -1, -1):
            strides[0], strides[1], strides[2] = at.strides[d], stride_along(other, d - (at.ndim - other.ndim)), at.index_strides[d]
            add_axis(&lanes, 3, at.shape[d], strides)
        end_axes(&lanes, 3)
        lanes.picks[0].size, lanes.picks[0].stride = at.size, x.strides_[at.axis]
        lanes.at[0], lanes.at[1], lanes.at[2] = few.here, few.other, <char*>few.indices
        valid = move_lanes(&lanes, x.code, mode)
    return 0 if valid else refuse_changed_indices(index, x.shape_[at.axis], at.axis)


cdef bint pays_copy(Array x, Py_ssize_t n, int axis) noexcept:
    """Whether n indices, half of an axis, are gathered faster from a contiguous copy; not if they are rows of near elements."""
    cdef int last = x.ndim - 1
    cdef bint rows = axis < last and x.shape_[last] >= tuning.gathered_row_elements
    return 2 * n >= x.shape_[axis] and not (rows and n <= 2 * x.shape_[axis] and abs(x.strides_[last]) <= tuning.gathered_row_stride * itemsize_at(x.code))


cdef Array gather_points(Array x, tuple key):
    """
    `x[i, j, ...]` for few int64 indices of one shape for every axis; None for any other key.

    Compared with the general loop, this is 1.4 to 2.7 times as fast on the rows `x[i, j]` of compare.py.
    """
    cdef const int64_t* indices[4]
    cdef Array first, index, out
    cdef int d
    if Py_SIZE(key) != x.ndim or not 2 <= x.ndim <= 4 or x.size == 0 or not is_index_array(key[0]):
        return None
    first = <Array>key[0]
    for d in range(x.ndim):
        if not is_index_array(key[d]):
            return None
        index = <Array>key[d]
        if index.code != INT64 or not index.c_contiguous or not same_shape(first, index) or is_long_run(index.size):
            return None
        indices[d] = <const int64_t*>data_of(index)
    out = new_array(x.code, first.ndim, first.shape_, NULL, False)
    # The general path raises the error for the first invalid axis.
    return out if s0_gather_points(x.ndim, itemsize_at(x.code), indices, x.shape_, x.strides_, first.size, data_of(x), data_of(out)) else None


cdef Array gather_along(Array x, Array index, int axis):
    """The elements of x at indices, of any integer dtype, along an axis."""
    cdef Along at
    cdef Array out
    if not x.c_contiguous and x.ndim > 1 and pays_copy(x, index.size, axis):
        x = copy_array(x, x.code, True)
    index = unchecked_indices(index, x.shape_[axis], axis)
    spread_along(&at, x, index, axis)
    out = new_array(x.code, at.ndim, at.shape, NULL, False)
    if axis and axis == x.ndim - 1 and out.size and x.size:
        # Each lane has the same indices. Checking them once is 1.2 times as fast on the row `take(x, i, axis=1)
        # float32 large` of compare.py.
        index = positive_indices(index, x.shape_[axis], axis)
        at.size = 0
    move_along(&at, x, index, out, S0_READ)
    return out


cdef int scatter_along(Array x, Array index, Array value, str operation) except -1:
    """`x[index] = value` for an index array."""
    cdef Along at
    index = apart(x, checked_indices(index, x.shape_[0], 0, True))
    check_codes(operation, value.code, x.code)
    spread_along(&at, x, index, 0)
    return move_along(&at, x, index, scattered(x, at.ndim, at.shape, index.ndim, value, operation), S0_WRITE)
