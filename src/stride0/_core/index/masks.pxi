# Masks: their true elements, and `x[mask]` for a mask of the shape of x.
#
# Note [Masks of a whole array]
#     The true elements are counted, and then read or written without making indices. Compared with a gather by the
#     indices of `nonzero`, this is 1.4 to 2.7 times as fast on the rows `x[m]` of compare.py, 1.4 to 9 times on
#     `x[m] = 0.0`.

cdef inline Array whole_mask(Array x, object key):
    """A mask of the shape of x, copied if it is not contiguous; None for another key and for an empty or 0-d mask."""
    if type(key) is not Array or (<Array>key).code != BOOL or (<Array>key).ndim == 0 or x.size == 0 or not same_shape(x, <Array>key):
        return None
    return <Array>key if (<Array>key).c_contiguous else copy_array(<Array>key, BOOL, True)


cdef void mask_lanes(Lanes* lanes, Array x, const char* data, const uint8_t* bits) noexcept nogil:
    """Lanes of x and of a contiguous mask of its shape."""
    cdef Py_ssize_t[2] strides = [0, 1]
    cdef int axis
    no_lanes(lanes, 2, 0)
    for axis in range(x.ndim - 1, -1, -1):
        strides[0] = x.strides_[axis]
        add_axis(lanes, 2, x.shape_[axis], strides)
        strides[1] *= x.shape_[axis]
    end_axes(lanes, 2)
    lanes.at[0], lanes.at[1] = <char*>data, <char*>bits


cdef Array gather_by_mask(Array x, Array mask):
    """The elements of x where a mask of its shape is true."""
    cdef Py_ssize_t count, found
    cdef const uint8_t* bits = <const uint8_t*>data_of(mask)
    cdef PyThreadState* thread = release_lock(x.size)
    cdef Array out
    count = s0_count_true(bits, x.size)
    take_lock(thread)
    out = new_array(x.code, 1, &count, NULL, False)
    source, to = data_of(x), data_of(out)
    thread = release_lock(x.size)
    found = read_true(x, source, bits, to, count)
    take_lock(thread)
    if found < count:
        truncate(out, found)
    return out


cdef Py_ssize_t read_true(Array x, const char* source, const uint8_t* bits, char* to, Py_ssize_t capacity) noexcept nogil:
    """Write at most `capacity` elements where the mask is true; return their number."""
    cdef Lanes lanes
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t found = 0
    cdef int d, itemsize = itemsize_at(x.code)
    if x.c_contiguous:
        return s0_gather_true(itemsize, bits, x.size, source, itemsize, to, capacity)
    mask_lanes(&lanes, x, source, bits)
    for d in range(lanes.ndim):
        position[d] = 0
    while True:
        found += s0_gather_true(itemsize, <const uint8_t*>lanes.at[1], lanes.shape[0], lanes.at[0], lanes.strides[0][0], to + found * itemsize, capacity - found)
        if not next_lanes(&lanes, position, lanes.at, 1):
            return found


cdef bint write_by_mask(Array x, Array mask, Array value) except -1:
    """`x[mask] = value` for a mask of the shape of x, and one value or one for each true element; False for any other call."""
    cdef PyThreadState* thread
    cdef const uint8_t* bits
    cdef const char* source
    cdef char* to
    if value.code != x.code or value.ndim > 1 or (value.ndim == 1 and not value.c_contiguous):
        return False
    # The general path copies what overlaps x before it writes.
    if overlaps(x, mask) or overlaps(x, value) or data_of(x) == data_of(mask) or data_of(x) == data_of(value):
        return False
    bits, source = <const uint8_t*>data_of(mask), data_of(value)
    if value.ndim == 1 and s0_count_true(bits, mask.size) != value.size:
        return False
    to = writable_data(x)
    thread = release_lock(x.size)
    write_true(x, to, bits, source, value.size if value.ndim else -1)
    take_lock(thread)
    return True


cdef void write_true(Array x, char* to, const uint8_t* bits, const char* source, Py_ssize_t count) noexcept nogil:
    """Write where the mask is true: successive elements of `source`, `count` in all, or its only value if `count` is -1."""
    cdef Lanes lanes
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t used
    cdef int d, itemsize = itemsize_at(x.code)
    if x.c_contiguous and count < 0:
        s0_fill_true(itemsize, bits, x.size, to, itemsize, source, TABLE.vector)
        return
    mask_lanes(&lanes, x, to, bits)
    for d in range(lanes.ndim):
        position[d] = 0
    while True:
        if count < 0:
            s0_fill_true(itemsize, <const uint8_t*>lanes.at[1], lanes.shape[0], lanes.at[0], lanes.strides[0][0], source, TABLE.vector)
        else:
            used = s0_scatter_true(itemsize, <const uint8_t*>lanes.at[1], lanes.shape[0], lanes.at[0], lanes.strides[0][0], source, count)
            source += used * itemsize
            count -= used
        if not next_lanes(&lanes, position, lanes.at, 1):
            return


cdef void truncate(Array x, Py_ssize_t n) noexcept:
    """Truncate a new array of one axis: the mask was changed after its true elements were counted."""
    x.shape_[0] = x.size = n


cdef tuple true_indices(Array mask):
    """The indices of the true elements of a contiguous mask, an array per axis, in C order."""
    cdef PyThreadState* thread
    cdef int64_t* columns[MAX_NDIM]
    cdef Py_ssize_t count, found
    cdef const uint8_t* bits = <const uint8_t*>data_of(mask)
    cdef int d
    cdef Array column
    thread = release_lock(mask.size)
    count = s0_count_true(bits, mask.size)
    take_lock(thread)
    # Most masks have one axis, which needs no list.
    out = (new_array(INT64, 1, &count, NULL, False),) if mask.ndim == 1 else tuple([new_array(INT64, 1, &count, NULL, False) for d in range(mask.ndim)])
    for d in range(mask.ndim):
        columns[d] = <int64_t*>data_of(<Array>(<tuple>out)[d])
    thread = release_lock(mask.size)
    found = s0_true_indices(bits, mask.ndim, mask.shape_, columns, count)
    take_lock(thread)
    if found < count:
        for column in out:
            truncate(column, found)
    return out
