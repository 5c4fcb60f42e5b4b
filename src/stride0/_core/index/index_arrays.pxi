# Elements at one array of indices, or one for each axis.

cdef struct Runs:
    # Contiguous runs at indices along an axis, in chunks for several threads.
    const int64_t* places
    const char* source
    char* to
    Py_ssize_t n
    Py_ssize_t size
    Py_ssize_t run
    Py_ssize_t count        # of all: n for each index of the axes before
    Py_ssize_t each
    int failed


cdef void gather_chunk_of_runs(void* context, int chunk) noexcept nogil:
    cdef Runs* runs = <Runs*>context
    cdef Py_ssize_t first = chunk * runs.each
    if not s0_gather_runs(runs.places, runs.n, runs.source, runs.size, runs.run, first, min(runs.each, runs.count - first), runs.to):
        s0_write_int(runs.failed, True)


cdef int gather_runs(const int64_t* places, Py_ssize_t n, const char* source, Py_ssize_t size, Py_ssize_t run, Py_ssize_t lanes, char* to) except -1:
    """Contiguous runs of so many bytes at indices along an axis, `lanes` times; whether all indices are valid."""
    cdef Runs runs
    if n * lanes == 0:
        return True
    runs.places, runs.source, runs.to = places, source, to
    runs.n, runs.size, runs.run, runs.count, runs.failed = n, size, run, n * lanes, False
    run_shared(gather_chunk_of_runs, &runs, &runs.each, runs.count, runs.count * (tuning.gathered_run_ns + run // tuning.gathered_bytes_per_ns))
    return not runs.failed


cdef Array gather_by_indices(Array x, Array index, int axis):
    """The elements of x at indices along an axis."""
    cdef PyThreadState* thread
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t lanes = 1, run = itemsize_at(x.code), size, stride
    cdef int itemsize = itemsize_at(x.code), d, ndim = 0
    cdef Array out, own = None
    cdef const int64_t* places
    cdef const int64_t* offsets
    cdef char* source
    cdef char* to
    cdef bint valid = True, strided = False
    index = plain_indices(index)
    if index is None or x.size == 0 or axis >= x.ndim or x.ndim + index.ndim - 1 > MAX_NDIM:
        return None
    if not x.c_contiguous and x.ndim > 1:
        # Whole rows are read faster; a copy pays where half of them are.
        if 2 * index.size < x.shape_[axis]:
            return None
        strided = is_matrix_of_rows(x) and axis == 0 and index.size <= 2 * x.shape_[0]
        if not strided:
            x = copy_array(x, x.code, True)
    for d in range(axis):
        shape[ndim] = x.shape_[d]
        lanes *= x.shape_[d]
        ndim += 1
    for d in range(index.ndim):
        shape[ndim] = index.shape_[d]
        ndim += 1
    for d in range(axis + 1, x.ndim):
        shape[ndim] = x.shape_[d]
        run *= x.shape_[d]
        ndim += 1
    size, stride = x.shape_[axis], run if x.c_contiguous else x.strides_[0]
    out = new_array(x.code, ndim, shape, NULL, False)
    places, source, to = <const int64_t*>data_of(index), data_of(x), data_of(out)
    if strided:
        with nogil:
            valid = gather_strided_rows(x, places, index.size, source, to)
    elif run != itemsize:
        valid = gather_runs(places, index.size, source, size, run, lanes, to)
    elif lanes == 1:
        thread = release_lock(out.size)
        valid = s0_gather(itemsize, places, index.size, source, stride, size, to)
        take_lock(thread)
    else:
        own = index_offsets(index, size, 1)
        if not are_all_within(own, size):
            refuse_changed_indices(index, size, axis)
        offsets = <const int64_t*>data_of(own)
        thread = release_lock(out.size)
        s0_gather_lanes(itemsize, offsets, own.size, source, size * itemsize, lanes, to)
        take_lock(thread)
    if not valid:
        refuse_changed_indices(index, size, axis)
    return out


cdef bint is_matrix_of_rows(Array x) noexcept:
    """Whether the elements of a row are close to each other, the rows long, and further apart."""
    cdef Py_ssize_t near = abs(x.strides_[1]) if x.ndim == 2 else 0
    return near != 0 and near <= tuning.gathered_row_stride * itemsize_at(x.code) and x.shape_[1] >= tuning.gathered_row_elements and abs(x.strides_[0]) > near


cdef bint gather_strided_rows(Array x, const int64_t* places, Py_ssize_t count, const char* source, char* to) noexcept nogil:
    """Rows of a matrix at indices, which are read once; whether all are valid."""
    cdef Py_ssize_t[2] inner = [x.strides_[1], itemsize_at(x.code)]
    cdef Py_ssize_t[2] outer = [0, 0]
    cdef Py_ssize_t size = x.shape_[0], n = x.shape_[1], i
    cdef s0_loop move = loops_of(cast_kernel(x.code, x.code))[3]
    cdef char* args[2]
    cdef int64_t at
    cdef bint valid = True
    for i in range(count):
        at = places[i]
        if at < 0:
            at += size
        if <uint64_t>at >= <uint64_t>size:
            valid = False
            break
        args[0], args[1] = <char*>source + at * x.strides_[0], to + i * n * inner[1]
        move(args, inner, outer, n, 1)
    return valid


cdef bint are_all_within(Array own, Py_ssize_t size) except -1:
    """Whether indices, none negative, lie within an axis."""
    cdef const int64_t* values = <const int64_t*>data_of(own)
    cdef Py_ssize_t i
    cdef uint64_t bad = 0
    for i in range(own.size):
        bad |= <uint64_t>values[i] >= <uint64_t>size
    return bad == 0


cdef Array gather_points(Array x, tuple keys):
    """`x[i, j, ...]` with an array of indices for every axis, all of one shape."""
    cdef const int64_t* indices[4]
    cdef Py_ssize_t n, i
    cdef int64_t at, offset
    cdef uint64_t bad = 0
    cdef int d, ndim = x.ndim, itemsize = itemsize_at(x.code)
    cdef char* to
    cdef char* source
    cdef Array first, out
    if len(keys) != ndim or not 2 <= ndim <= 4 or x.size == 0:
        return None
    for d in range(ndim):
        if type(keys[d]) is not Array or not are_indices(<Array>keys[d]) or not same_shape(<Array>keys[0], <Array>keys[d]):
            return None
        if not (<Array>keys[d]).c_contiguous:
            return None
        indices[d] = <const int64_t*>data_of(<Array>keys[d])
    first = <Array>keys[0]
    n = first.size
    out = new_array(x.code, first.ndim, first.shape_, NULL, False)
    to, source = data_of(out), data_of(x)
    with nogil:
        for i in range(n):
            offset = 0
            for d in range(ndim):
                at = indices[d][i]
                at += x.shape_[d] if at < 0 else 0
                if <uint64_t>at >= <uint64_t>x.shape_[d]:
                    bad, at = 1, 0
                offset += at * x.strides_[d]
            if itemsize == 8:
                (<uint64_t*>to)[i] = (<uint64_t*>(source + offset))[0]
            elif itemsize == 4:
                (<uint32_t*>to)[i] = (<uint32_t*>(source + offset))[0]
            else:
                copy_item(to + i * itemsize, source + offset, x.code)
    # The general path raises the error, for the first axis that is wrong.
    return out if bad == 0 else None


cdef int refuse_indices(Array index, Py_ssize_t size, int axis) except -1:
    """Raise the error of the first index that is outside of the axis, if there still is one."""
    cdef const int64_t* values = <const int64_t*>data_of(index)
    cdef Py_ssize_t i
    for i in range(index.size):
        index_value(values[i], size, axis)
    return 0


cdef Array index_offsets(Array index, Py_ssize_t size, Py_ssize_t stride):
    """Byte offsets of checked indices."""
    cdef Array out = new_array(INT64, index.ndim, index.shape_, NULL, False)
    cdef const int64_t* values = <const int64_t*>data_of(index)
    cdef int64_t* offsets = <int64_t*>data_of(out)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.size):
            offsets[i] = (values[i] + (size if values[i] < 0 else 0)) * stride
    return out
