# Fast paths of indexing: the usual keys with one mask or with plain index arrays (kernels: `gathering.h`).

# The usual keys with arrays: one array of indices, one array of indices for each axis, one mask.
#
# Note [Fast gather]
#     No array of offsets is made for such a key: the true elements of a mask are counted and then read, indices are
#     checked while they are used. For any other key, the functions here return None or False before they change
#     anything; then `gathering.pxi` handles the key and raises the errors. Here only an index
#     array that changes during the call raises an error.


cdef Array gather_fast(Array x, object key):
    """`x[key]` for one of the usual keys with arrays; else None."""
    if type(key) is Array:
        return gather_by_mask(x, <Array>key) if (<Array>key).code == BOOL else gather_by_indices(x, <Array>key, 0)
    if type(key) is tuple:
        return gather_points(x, <tuple>key)
    return None


cdef inline Array plain_mask(Array x, Array mask):
    """The mask, copied if it is not contiguous; None if it is empty, 0-d or not of the shape of x."""
    if mask.ndim == 0 or mask.size == 0 or not same_shape(x, mask):
        return None
    return mask if mask.c_contiguous else copy_array(mask, BOOL, True)


cdef struct Rows:
    # The elements of an array in C order, as rows of one stride: one row where that is possible.
    Py_ssize_t count
    Py_ssize_t n
    Py_ssize_t stride
    Py_ssize_t offset           # in bytes, of the current row
    Py_ssize_t position[MAX_NDIM]


cdef void first_row(Array x, Rows* rows) noexcept nogil:
    """Begin at the first row of an array that has elements and an axis."""
    cdef int axis
    rows.count, rows.n, rows.offset, rows.stride = 1, x.size, 0, itemsize_at(x.code)
    if x.c_contiguous:
        return
    rows.n, rows.stride = x.shape_[x.ndim - 1], x.strides_[x.ndim - 1]
    rows.count = x.size // rows.n
    for axis in range(x.ndim - 1):
        rows.position[axis] = 0


cdef void next_row(Array x, Rows* rows) noexcept nogil:
    cdef int axis = x.ndim - 2
    rows.count -= 1
    while axis >= 0 and rows.count:
        rows.position[axis] += 1
        rows.offset += x.strides_[axis]
        if rows.position[axis] < x.shape_[axis]:
            return
        rows.offset -= rows.position[axis] * x.strides_[axis]
        rows.position[axis] = 0
        axis -= 1


cdef inline bint are_indices(Array index) noexcept:
    return index.code == INT64 and index.ndim > 0 and index.size > 0


cdef Array plain_indices(Array index):
    """The index array, copied if it is not contiguous; None if it is empty, 0-d or not int64."""
    if not are_indices(index):
        return None
    return index if index.c_contiguous else copy_array(index, INT64, True)


cdef void truncate(Array x, Py_ssize_t n) noexcept:
    """Truncate a new array of one axis: the mask was changed after its true elements were counted."""
    x.shape_[0] = x.size = n


cdef Array gather_by_mask(Array x, Array mask):
    """The elements of x where a mask of its shape is true."""
    cdef Py_ssize_t count, found
    cdef const uint8_t* bits
    cdef PyThreadState* thread
    cdef Array out
    mask = plain_mask(x, mask)
    if mask is None:
        return None
    bits = <const uint8_t*>data_of(mask)
    thread = release_lock(x.size)
    count = s0_count_true(bits, x.size)
    take_lock(thread)
    out = new_array(x.code, 1, &count, NULL, False)
    source, to = data_of(x), data_of(out)
    thread = release_lock(x.size)
    found = gather_rows(x, source, bits, to, count)
    take_lock(thread)
    if found < count:
        truncate(out, found)
    return out


cdef Py_ssize_t gather_rows(Array x, const char* source, const uint8_t* bits, char* to, Py_ssize_t capacity) noexcept nogil:
    """Write elements where the mask is true, `capacity` at most; return how many there were."""
    cdef Py_ssize_t found = 0
    cdef int itemsize = itemsize_at(x.code)
    cdef Rows rows
    if x.c_contiguous:
        return s0_gather_true(itemsize, bits, x.size, source, itemsize, to, capacity)
    first_row(x, &rows)
    while rows.count:
        found += s0_gather_true(itemsize, bits, rows.n, source + rows.offset, rows.stride, to + found * itemsize, capacity - found)
        bits += rows.n
        next_row(x, &rows)
    return found


cdef bint write_fast(Array x, object key, Array value) except -1:
    """`x[key] = value` for one of the usual keys with arrays, and elements or one value of x's dtype; False for any other call."""
    if type(key) is not Array or value.code != x.code or x.size == 0:
        return False
    # The general path copies what overlaps x before it writes.
    if overlaps(x, <Array>key) or overlaps(x, value) or data_of(x) == data_of(<Array>key) or data_of(x) == data_of(value):
        return False
    return write_by_mask(x, <Array>key, value) if (<Array>key).code == BOOL else write_by_indices(x, <Array>key, value)


cdef bint write_by_mask(Array x, Array mask, Array value) except -1:
    """`x[mask] = value` for a mask of the shape of x and one value, or one for each true element."""
    cdef PyThreadState* thread
    cdef const uint8_t* bits
    cdef const char* source
    cdef char* to
    mask = plain_mask(x, mask)
    if mask is None or value.ndim > 1 or (value.ndim == 1 and not value.c_contiguous):
        return False
    bits, source = <const uint8_t*>data_of(mask), data_of(value)
    if value.ndim == 1 and s0_count_true(bits, mask.size) != value.size:
        return False
    to = writable_data(x)
    thread = release_lock(x.size)
    write_rows(x, to, bits, source, value.size if value.ndim else -1)
    take_lock(thread)
    return True


cdef void write_rows(Array x, char* to, const uint8_t* bits, const char* source, Py_ssize_t count) noexcept nogil:
    """Write where the mask is true: successive elements of `source`, `count` in all, or its only value if `count` is -1."""
    cdef Py_ssize_t used
    cdef int itemsize = itemsize_at(x.code)
    cdef Rows rows
    if x.c_contiguous and count < 0:
        s0_fill(itemsize, bits, x.size, to, itemsize, source, TABLE.vector)
        return
    first_row(x, &rows)
    while rows.count:
        if count < 0:
            s0_fill(itemsize, bits, rows.n, to + rows.offset, rows.stride, source, TABLE.vector)
        else:
            # The mask may have been changed since its elements were counted.
            used = count if rows.count == 1 else min(count, s0_count_true(bits, rows.n))
            s0_scatter_true(itemsize, bits, rows.n, to + rows.offset, rows.stride, source, used)
            source += used * itemsize
            count -= used
        bits += rows.n
        next_row(x, &rows)


cdef bint write_by_indices(Array x, Array index, Array value) except -1:
    """`x[index] = value` along the only axis of x, for one value, or one for each index."""
    cdef PyThreadState* thread
    cdef Py_ssize_t step = 1 if value.ndim else 0
    cdef const int64_t* places
    cdef const char* source
    cdef char* to
    cdef int itemsize = itemsize_at(x.code)
    cdef bint valid
    index = plain_indices(index)
    if index is None or x.ndim != 1 or (step and not same_shape(value, index)):
        return False
    if not value.c_contiguous:
        value = copy_array(value, value.code, True)
    places, source = <const int64_t*>data_of(index), data_of(value)
    # Before any element is written.
    if not s0_are_within(places, index.size, x.size):
        return False
    to = writable_data(x)
    thread = release_lock(index.size)
    valid = s0_scatter(itemsize, places, index.size, to, x.strides_[0], x.size, source, step)
    take_lock(thread)
    if not valid:
        refuse_changed_indices(index, x.size, 0)
    return True


cdef bint assign_few(Array target, Array value) except -1:
    """`target[...] = value` for a small target, if `value` has its dtype and is 0-d or of its shape; otherwise False."""
    if not is_small(target) or value.code != target.code or is_deferred(value):
        return False
    if (value.ndim and not same_shape(target, value)) or overlaps(target, value):
        return False
    write_small(target, value)
    return True


cdef int refuse_changed_indices(Array index, Py_ssize_t size, int axis) except -1:
    """Raise the error for an index array in which an index was out of bounds."""
    refuse_indices(index, size, axis)
    raise OutOfBoundsError("index", "an index array was changed while it was used, to something out of bounds")


cdef tuple true_indices(Array mask):
    """For each axis of a contiguous mask the indices of its true elements, in C order."""
    cdef PyThreadState* thread
    cdef int64_t* columns[MAX_NDIM]
    cdef Py_ssize_t count, found
    cdef const uint8_t* bits = <const uint8_t*>data_of(mask)
    cdef int d
    cdef Array column
    thread = release_lock(mask.size)
    count = s0_count_true(bits, mask.size)
    take_lock(thread)
    # Most have one axis, for which no list is made.
    out = (new_array(INT64, 1, &count, NULL, False),) if mask.ndim == 1 else tuple([new_array(INT64, 1, &count, NULL, False) for d in range(mask.ndim)])
    for d in range(mask.ndim):
        columns[d] = <int64_t*>data_of(<Array>(<tuple>out)[d])
    thread = release_lock(mask.size)
    found = fill_columns(bits, mask.ndim, mask.shape_, columns, count)
    take_lock(thread)
    if found < count:
        for column in out:
            truncate(column, found)
    return out


cdef Py_ssize_t fill_columns(const uint8_t* bits, int ndim, const Py_ssize_t* shape, int64_t** columns, Py_ssize_t count) noexcept nogil:
    """Write the indices of the true elements along each axis, at most `count` of them; returns how many."""
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t k = 0, now, i, first = 0, run = shape[ndim - 1], size = 1
    cdef int d, last = ndim - 1
    for d in range(ndim):
        position[d] = 0
        size *= shape[d]
    while first < size and k < count:
        now = s0_true_indices(bits + first, run, columns[last] + k, count - k)
        for d in range(last):
            for i in range(k, k + now):
                columns[d][i] = position[d]
        k += now
        first += run
        for d in range(last - 1, -1, -1):
            position[d] += 1
            if position[d] < shape[d]:
                break
            position[d] = 0
    return k
