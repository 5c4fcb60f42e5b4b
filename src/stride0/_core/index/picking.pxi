# `x[key]` and `x[key] = value` for keys that contain arrays: masks or index arrays, with or without slices.

cdef struct Picked:
    # `x[key]` for a key with arrays.
    Selection kept              # the axes that arrays do not index
    int at                      # the position among them of the axes of index arrays
    int ndim                    # of the shape that index arrays are broadcast to
    Py_ssize_t shape[MAX_NDIM]
    int count                   # of index arrays
    PyObject* indices[S0_MAX_PICKS] # contiguous, int64; borrowed
    s0_pick picks[S0_MAX_PICKS]


cdef bint add_pick(Picked* out, Array index, Py_ssize_t size, Py_ssize_t stride, int axis) noexcept:
    """Add an index array; return whether its shape broadcasts with the previous shapes."""
    cdef Operand pair[2]
    out.indices[out.count] = <PyObject*>index
    out.picks[out.count].size, out.picks[out.count].stride, out.picks[out.count].axis = size, stride, axis
    out.count += 1
    pair[0].ndim, pair[0].shape = out.ndim, out.shape
    describe_operand(&pair[1], index)
    return broadcast(pair, 2, out.shape, &out.ndim) == 0


cdef list pick_items(Picked* out, Array x, tuple items, const Counts* counts, bint reading):
    """
    A key with arrays in it, as NumPy combines them: integers next to arrays count as arrays. Returns the owners of indices.

    For a gather by one index array, the kernel checks the indices.
    """
    cdef int axis = 0, runs = 0
    cdef bint inside = False, fits
    cdef Array index
    cdef list kept = []
    out.kept.data, out.kept.ndim = data_of(x), 0
    out.at = out.ndim = out.count = 0
    for item in items:
        if item is None or item is Ellipsis or type(item) is slice:
            # `...` separates the arrays on its sides even if it stands for no axis.
            axis += take_item(&out.kept, item, x, axis)
            if item is Ellipsis:
                axis = take_axes(&out.kept, x, axis, axis + counts.missing)
            inside = False
            continue
        if not inside:
            runs += 1
            # Adjacent arrays leave their axes in place; the axes of separated arrays come first.
            out.at = out.kept.ndim if runs == 1 else 0
            inside = True
        if type(item) is not Array:
            axis += take_item(&out.kept, item, x, axis)
            continue
        if is_mask(item):
            fits = pick_mask(out, kept, x, <Array>item, axis)
        else:
            index = checked_indices(<Array>item, x.shape_[axis], axis, not reading or counts.arrays > 1)
            if not reading:
                index = apart(x, index)
            kept.append(index)
            fits = add_pick(out, index, x.shape_[axis], x.strides_[axis], axis)
        axis += axes_indexed(item)
        if not fits:
            raise BroadcastIndexError("index", [(f"index {k}", (owner[0] if type(owner) is tuple else owner).shape) for k, owner in enumerate(kept)])
    take_axes(&out.kept, x, axis, x.ndim)
    check_axes(out.kept.ndim + out.ndim)
    return kept


cdef bint pick_mask(Picked* out, list kept, Array x, Array mask, int axis) except -1:
    """
    Add the indices of the true elements of a mask that begins at `axis`; return what `add_pick` returns.

    If the axes of the mask can be merged, add one index array; otherwise one for each axis.
    """
    cdef Py_ssize_t one = 1
    cdef Array flat = mask if mask.c_contiguous else copy_array(mask, BOOL, True)
    cdef int d, last = axis + mask.ndim - 1
    cdef bint merged = True, fits = True
    cdef tuple columns
    for d in range(mask.ndim):
        # The standard allows a size of 0: such a mask selects nothing.
        if mask.shape_[d] != x.shape_[axis + d] and mask.shape_[d] != 0:
            raise OutOfBoundsError(
                "index", f"the mask has size {mask.shape_[d]} and the array size {x.shape_[axis + d]} at axis {axis + d}",
                (("array", f"{shape_tuple(x)}"), ("mask", f"{shape_tuple(mask)}")), "pass a mask whose sizes equal the sizes of the axes that it selects from")
        merged = merged and (axis + d == last or x.strides_[axis + d] == x.shape_[axis + d + 1] * x.strides_[axis + d + 1])
    if merged:
        flat = view_of(flat, data_of(flat), 1, &flat.size, &one)
    columns = true_indices(flat)
    kept.append(columns)
    for d in range(flat.ndim):
        if merged:
            fits = add_pick(out, <Array>columns[d], mask.size, x.strides_[last] if last >= axis else 0, axis)
        else:
            fits = add_pick(out, <Array>columns[d], x.shape_[axis + d], x.strides_[axis + d], axis + d)
    # All indices of a 0-d mask are 0. After another index array, only the shape of the mask matters, so drop its indices.
    out.count -= mask.ndim == 0 and out.count > 1
    return fits


cdef int picked_shape(const Picked* at, Py_ssize_t* shape) noexcept:
    """Write the shape of `x[key]`; return its number of axes."""
    cdef int axis, ndim = at.kept.ndim + at.ndim
    for axis in range(ndim):
        if axis < at.at:
            shape[axis] = at.kept.shape[axis]
        else:
            shape[axis] = at.shape[axis - at.at] if axis < at.at + at.ndim else at.kept.shape[axis - at.ndim]
    return ndim


cdef int move_picked(const Picked* at, Array x, Array other, int mode) except -1:
    """Move elements between `x[key]` and an array that broadcasts to it: S0_READ, S0_WRITE, or S0_ADD to numbers."""
    cdef Lanes lanes
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[S0_MAX_ROWS]
    cdef int ndim = picked_shape(at, shape), axis, own, k
    cdef Py_ssize_t size = x.size
    for axis in range(ndim):
        size *= shape[axis] != 0
    if size == 0:
        # No kernel runs, so the indices are checked here.
        for k in range(at.count):
            refuse_indices(<Array>at.indices[k], at.picks[k].size, at.picks[k].axis)
        return 0
    no_lanes(&lanes, 2 + at.count, itemsize_at(x.code))
    for axis in range(ndim - 1, -1, -1):
        own = axis - at.at
        strides[0] = 0 if 0 <= own < at.ndim else at.kept.strides[axis if own < 0 else axis - at.ndim]
        strides[1] = stride_along(other, axis - (ndim - other.ndim))
        for k in range(at.count):
            strides[2 + k] = stride_along(<Array>at.indices[k], own - (at.ndim - (<Array>at.indices[k]).ndim)) if 0 <= own < at.ndim else 0
        add_axis(&lanes, lanes.rows, shape[axis], strides)
    end_axes(&lanes, lanes.rows)
    for k in range(at.count):
        lanes.at[2 + k], lanes.picks[k] = data_of(<Array>at.indices[k]), at.picks[k]
    lanes.at[1] = data_of(other)
    # Call `before_write` last: while operands are computed, a signal handler may defer a result that reads x.
    if mode != S0_READ:
        before_write(x)
    lanes.at[0] = at.kept.data
    if not move_lanes(&lanes, x.code, mode):
        for k in range(at.count):
            refuse_indices(<Array>at.indices[k], at.picks[k].size, at.picks[k].axis)
        raise OutOfBoundsError("index", "an index array was changed during the call, to an index out of bounds", (), "pass a copy of the index array")
    return 0


cdef Array read_picked(const Picked* at, Array x):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int ndim = picked_shape(at, shape)
    cdef Array out = new_array(x.code, ndim, shape, NULL, False)
    move_picked(at, x, out, S0_READ)
    return out


cdef int scatter_picked(const Picked* at, Array x, Array value, int mode, str operation) except -1:
    """Write a value that broadcasts to `x[key]`, or add it."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int ndim = picked_shape(at, shape)
    return move_picked(at, x, scattered(x, ndim, shape, at.at + at.ndim, value, operation), mode)
