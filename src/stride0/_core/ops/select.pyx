# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Elements selected directly: the usual keys with one mask or with plain index arrays (loops: `gathering.h`)."""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport BOOL, INT64, LARGEST_ITEM, itemsize_at
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.partition cimport LONG_RUN
from stride0._core.array.array cimport Array, new_array, same_shape
from stride0._core.ops.copy cimport WIDE, overlaps
from stride0._core.ops.keys cimport index_value

from stride0._base.errors import OutOfBoundsError

# The usual keys with arrays, without a gathering: one array of indices, one array of indices for each axis, one
#
# Note [Direct gather]
#     Such a key says at once where everything lies, so that no offsets are made: a mask is counted and then walked,
#     indices are checked while they are used. All functions here answer None or False, before anything is done, where there is
#     more to a key; `index.pyx` then does the work, and it alone knows what to say of an index that is out of bounds.

cdef enum:
    FEW_FILLED = 256  # elements that are filled without a plan


cdef Array gather_directly(Array x, object key):
    """`x[key]` for one of the usual keys with arrays; else None."""
    if type(key) is Array:
        return by_mask(x, <Array>key) if (<Array>key).code == BOOL else by_indices(x, <Array>key, 0)
    if type(key) is tuple:
        return by_points(x, <tuple>key)
    return None


cdef inline Py_ssize_t even_step(Array x, Array mask) noexcept:
    """The step from element to element in C order, for a mask over all of x; 0 where there is none."""
    cdef int axis
    if mask.ndim == 0 or mask.ndim != x.ndim or not mask.c_contiguous or mask.size == 0:
        return 0
    for axis in range(x.ndim):
        if mask.shape_[axis] != x.shape_[axis]:
            return 0
    return itemsize_at(x.code) if x.c_contiguous else x.strides_[0] if x.ndim == 1 else 0


cdef void shorten(Array x, Py_ssize_t n) noexcept:
    """Fewer elements for a new array of one axis: a mask was changed between counting and walking."""
    x.shape_[0] = x.size = n


cdef Array by_mask(Array x, Array mask):
    """The elements of x where a mask of its shape is true."""
    cdef Py_ssize_t step = even_step(x, mask), count, found
    cdef const uint8_t* bits = <const uint8_t*>mask.data
    cdef int width = itemsize_at(x.code)
    cdef Array out
    if step == 0:
        return None
    if x.size < LONG_RUN:
        count = s0_count_true(bits, x.size)
        out = new_array(x.code, 1, &count, NULL, False)
        found = s0_select(width, bits, x.size, x.data, step, out.data, count)
    else:
        with nogil:
            count = s0_count_true(bits, x.size)
        out = new_array(x.code, 1, &count, NULL, False)
        with nogil:
            found = s0_select(width, bits, x.size, x.data, step, out.data, count)
    if found < count:
        shorten(out, found)
    return out


cdef bint fill_by_mask(Array x, object key, Array value) except -1:
    """`x[mask] = value` for a mask of the shape of x and one value of its dtype; False where there is more to it."""
    cdef Py_ssize_t step
    cdef const uint8_t* bits
    cdef char one[LARGEST_ITEM]
    cdef int width = itemsize_at(x.code)
    if type(key) is not Array or (<Array>key).code != BOOL or value.ndim != 0 or value.code != x.code:
        return False
    step = even_step(x, <Array>key)
    # A mask that is x itself is read, element by element, before it is written to.
    if step == 0 or overlaps(x, <Array>key):
        return False
    bits = <const uint8_t*>(<Array>key).data
    memcpy(one, value.data, width)
    if x.size < LONG_RUN:
        s0_fill(width, bits, x.size, x.data, step, one, WIDE)
    else:
        with nogil:
            s0_fill(width, bits, x.size, x.data, step, one, WIDE)
    return True


cdef bint fill_lane(Array target, Array value) noexcept:
    """`target[...] = value` for a few elements of one axis and one value of its dtype; False where there is more to it."""
    cdef Py_ssize_t i, step, n = target.size
    cdef char* to = target.data
    cdef uint64_t eight
    cdef uint32_t four
    cdef int width = itemsize_at(target.code)
    if value.ndim != 0 or value.code != target.code or target.ndim != 1 or n > FEW_FILLED or value.storage is target.storage:
        return False
    step = target.strides_[0]
    if width == 8:
        eight = (<uint64_t*>value.data)[0]
        for i in range(n):
            (<uint64_t*>(to + i * step))[0] = eight
    elif width == 4:
        four = (<uint32_t*>value.data)[0]
        for i in range(n):
            (<uint32_t*>(to + i * step))[0] = four
    else:
        return False
    return True


cdef inline bint plain_indices(Array index) noexcept:
    return index.code == INT64 and index.c_contiguous and index.ndim > 0 and index.size > 0


cdef int refuse_them(Array index, Py_ssize_t size, int axis) except -1:
    """An index was out of bounds: say which one."""
    refuse_indices(index, size, axis)
    raise OutOfBoundsError("index", "an index array was changed while it was used, to something out of bounds")


cdef Array by_indices(Array x, Array index, int axis):
    """The elements of x at indices along an axis."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t lines = 1, run = itemsize_at(x.code), size, step
    cdef int width = itemsize_at(x.code), d, ndim = 0
    cdef Array out, own = None
    cdef bint fine = True, quick
    if not plain_indices(index) or x.size == 0 or axis >= x.ndim or x.ndim + index.ndim - 1 > MAX_NDIM or not (x.c_contiguous or (x.ndim == 1 and run <= 8)):
        return None
    for d in range(axis):
        shape[ndim] = x.shape_[d]
        lines *= x.shape_[d]
        ndim += 1
    for d in range(index.ndim):
        shape[ndim] = index.shape_[d]
        ndim += 1
    for d in range(axis + 1, x.ndim):
        shape[ndim] = x.shape_[d]
        run *= x.shape_[d]
        ndim += 1
    size, step = x.shape_[axis], run if x.c_contiguous else x.strides_[0]
    out = new_array(x.code, ndim, shape, NULL, False)
    if run > 8 or run != width:
        quick = out.size < LONG_RUN
        if quick:
            fine = s0_pick_runs(<const int64_t*>index.data, index.size, x.data, size, run, lines, out.data)
        else:
            with nogil:
                fine = s0_pick_runs(<const int64_t*>index.data, index.size, x.data, size, run, lines, out.data)
    elif lines == 1:
        if out.size < LONG_RUN:
            fine = s0_pick(width, <const int64_t*>index.data, index.size, x.data, step, size, out.data)
        else:
            with nogil:
                fine = s0_pick(width, <const int64_t*>index.data, index.size, x.data, step, size, out.data)
    else:
        own = index_offsets(index, size, 1)
        if not all_within(own, size):
            refuse_them(index, size, axis)
        if out.size < LONG_RUN:
            s0_pick_lines(width, <const int64_t*>own.data, own.size, x.data, size * width, lines, out.data)
        else:
            with nogil:
                s0_pick_lines(width, <const int64_t*>own.data, own.size, x.data, size * width, lines, out.data)
    if not fine:
        refuse_them(index, size, axis)
    return out


cdef bint all_within(Array own, Py_ssize_t size) noexcept:
    """Whether indices that count from the start lie within an axis."""
    cdef const int64_t* values = <const int64_t*>own.data
    cdef Py_ssize_t i
    cdef uint64_t bad = 0
    for i in range(own.size):
        bad |= <uint64_t>values[i] >= <uint64_t>size
    return bad == 0


cdef Array by_points(Array x, tuple keys):
    """`x[i, j, ...]` with an array of indices for every axis, all of one shape."""
    cdef const int64_t* indices[4]
    cdef Py_ssize_t n, i
    cdef int64_t at, offset
    cdef uint64_t bad = 0
    cdef int d, ndim = x.ndim, width = itemsize_at(x.code)
    cdef char* to
    cdef Array first, out
    if len(keys) != ndim or not 2 <= ndim <= 4 or x.size == 0:
        return None
    for d in range(ndim):
        if type(keys[d]) is not Array or not plain_indices(<Array>keys[d]) or not same_shape(<Array>keys[0], <Array>keys[d]):
            return None
        indices[d] = <const int64_t*>(<Array>keys[d]).data
    first = <Array>keys[0]
    n = first.size
    out = new_array(x.code, first.ndim, first.shape_, NULL, False)
    to = out.data
    with nogil:
        for i in range(n):
            offset = 0
            for d in range(ndim):
                at = indices[d][i]
                at += x.shape_[d] if at < 0 else 0
                if <uint64_t>at >= <uint64_t>x.shape_[d]:
                    bad, at = 1, 0
                offset += at * x.strides_[d]
            if width == 8:
                (<uint64_t*>to)[i] = (<uint64_t*>(x.data + offset))[0]
            elif width == 4:
                (<uint32_t*>to)[i] = (<uint32_t*>(x.data + offset))[0]
            else:
                memcpy(to + i * width, x.data + offset, width)
    # The general way finds the first axis that refuses.
    return out if bad == 0 else None


cdef tuple true_places(Array mask):
    """For each axis of a contiguous mask the indices of its true elements, in C order."""
    cdef int64_t* columns[MAX_NDIM]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t count, k = 0, now, i, first = 0, run = mask.shape_[mask.ndim - 1], size = mask.size
    cdef const uint8_t* bits = <const uint8_t*>mask.data
    cdef int d, last = mask.ndim - 1
    cdef Array column
    with nogil:
        count = s0_count_true(bits, size)
    out = []
    for d in range(mask.ndim):
        column = new_array(INT64, 1, &count, NULL, False)
        columns[d] = <int64_t*>column.data
        position[d] = 0
        out.append(column)
    with nogil:
        while first < size and k < count:
            now = s0_places(bits + first, run, columns[last] + k, count - k)
            for d in range(last):
                for i in range(k, k + now):
                    columns[d][i] = position[d]
            k += now
            first += run
            for d in range(last - 1, -1, -1):
                position[d] += 1
                if position[d] < mask.shape_[d]:
                    break
                position[d] = 0
    if k < count:
        for column in out:
            shorten(column, k)
    return tuple(out)


cdef int refuse_indices(Array index, Py_ssize_t size, int axis) except -1:
    """Raise the error of the first index that is outside of the axis, if there still is one."""
    cdef const int64_t* values = <const int64_t*>index.data
    cdef Py_ssize_t i
    for i in range(index.size):
        index_value(values[i], size, axis)
    return 0


cdef Array index_offsets(Array index, Py_ssize_t size, Py_ssize_t step):
    """Byte offsets of checked indices."""
    cdef Array out = new_array(INT64, index.ndim, index.shape_, NULL, False)
    cdef const int64_t* values = <const int64_t*>index.data
    cdef int64_t* offsets = <int64_t*>out.data
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.size):
            offsets[i] = (values[i] + (size if values[i] < 0 else 0)) * step
    return out
