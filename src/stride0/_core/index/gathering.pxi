# `x[key]` and `x[key] = value`; gather and scatter by any integer arrays and masks.
#
# Note [Offsets]
#     Integers, slices, `...` and None only change shape, strides and the first element: a view. Integer
#     arrays and masks are converted to one array of offsets. The indices of each axis are checked against its
#     size before any element is copied. The other axes (not indexed by arrays) are the block that is copied at
#     every offset. An index array of the user's is read without a copy, and another thread may write to it
#     at the same time: the kernels check it again, so that nothing outside of the array is accessed.
#     A gather by one index array has only that check; its result is discarded if the check fails.

cdef enum:
    MASK_BLOCK = 512  # elements of a mask whose offsets are computed at once


@cython.final
cdef class Gathering:
    """The offsets of the elements of `x[key]`, for a key with arrays in it; Note [Offsets]."""


cdef Array checked_indices(Array index, Py_ssize_t size, int axis, bint check):
    """
    An index array as contiguous int64, every element within the axis.

    Without `check`, the caller checks each index when it uses it, and calls `refuse_indices` for the error.
    """
    cdef Array out = index if index.code == INT64 and index.c_contiguous else copy_array(index, INT64, True)
    cdef const int64_t* values = <const int64_t*>data_of(out)
    cdef bint bad
    if index.code == UINT64:
        # A uint64 above the greatest int64 would become negative, an index from the end.
        greatest = reduce_array("max", index, tuple(range(index.ndim)), False, None) if index.size else None
        if greatest is not None and <uint64_t>read_scalar(data_of(<Array>greatest), UINT64) >= <uint64_t>size:
            raise OutOfBoundsError("index", f"{int(greatest)} is out of bounds for axis {axis} with size {size}")
    if not check:
        return out
    with nogil:
        bad = not s0_are_within(values, out.size, size)
    if bad:
        refuse_indices(out, size, axis)
    return out


cdef Array mask_offsets(Array mask, Array x, int axis):
    """Byte offsets of the elements that a mask over the axes from `axis` on selects, in C order."""
    cdef Array flat = mask if mask.c_contiguous else copy_array(mask, BOOL, True)
    cdef Array out
    cdef int d
    cdef Py_ssize_t count, i, k = 0, run, size = flat.size
    cdef Py_ssize_t position[MAX_NDIM]
    cdef const uint8_t* bits = <const uint8_t*>data_of(flat)
    cdef int64_t* values
    cdef int64_t found[MASK_BLOCK]
    cdef int hits
    cdef int64_t offset = 0
    for d in range(mask.ndim):
        position[d] = 0
        # The standard allows a size of 0: such a mask selects nothing.
        if mask.shape_[d] != x.shape_[axis + d] and mask.shape_[d] != 0:
            raise OutOfBoundsError(
                "index", f"the mask has size {mask.shape_[d]} where the array has size {x.shape_[axis + d]}, at axis {axis + d}",
                (("array", f"{shape_tuple(x)}"), ("mask", f"{shape_tuple(mask)}")), "write a mask whose axes have the sizes of the axes that it selects from")
    with nogil:
        count = s0_count_true(bits, size)
    out = new_array(INT64, 1, &count, NULL, False)
    values = <int64_t*>data_of(out)
    if mask.ndim == 0:
        for i in range(count):
            values[i] = 0
        return out
    run = mask.shape_[mask.ndim - 1]
    cdef Py_ssize_t stride = x.strides_[axis + mask.ndim - 1]
    cdef Py_ssize_t first = 0, start, stop
    # Another thread may write to the mask meanwhile: both loops are bounded by sizes, not by the mask alone.
    with nogil:
        while first < size and k < count:
            for start from 0 <= start < run by MASK_BLOCK:
                # Without branches, which would be mispredicted: every offset is written, and kept if the bit is set.
                stop = min(start + MASK_BLOCK, run)
                hits = 0
                for i in range(start, stop):
                    found[hits] = offset + i * stride
                    hits += bits[first + i] != 0
                hits = <int>min(<Py_ssize_t>hits, count - k)
                memcpy(values + k, found, hits * sizeof(int64_t))
                k += hits
            first += run
            for d in range(mask.ndim - 2, -1, -1):
                position[d] += 1
                offset += x.strides_[axis + d]
                if position[d] < mask.shape_[d]:
                    break
                offset -= position[d] * x.strides_[axis + d]
                position[d] = 0
    if k < count:
        truncate(out, k)
    return out


cdef Gathering gathering(Array x, list items, bint reading):
    """
    Resolve a key with arrays in it, as NumPy combines them: integers count as arrays beside arrays.

    For a gather by one index array, its elements are not checked here but by the kernel.
    """
    cdef Gathering out = Gathering()
    cdef Selection kept
    cdef int axis = 0, runs = 0
    cdef bint inside = False, alone
    cdef Array part, offsets = None
    cdef list shapes = []
    kept.data = data_of(x)
    kept.ndim = 0
    out.at = 0
    out.wrap, out.scale = 0, 1
    check_axes(x.ndim + sum([item is None for item in items]))
    for item in items:
        if item is None or item is Ellipsis or isinstance(item, slice):
            axis += take_item(&kept, item, x, axis)
            inside = False
            continue
        if not inside:
            runs += 1
            # Adjacent arrays leave their axes in place; separated arrays put theirs in front.
            out.at = kept.ndim if runs == 1 else 0
            inside = True
        if type(item) is Array:
            if (<Array>item).code == BOOL:
                part = mask_offsets(<Array>item, x, axis)
                axis += (<Array>item).ndim
            else:
                alone = count_arrays(items) == 1
                # Without elements no kernel runs, but invalid indices have to be refused.
                part = checked_indices(<Array>item, x.shape_[axis], axis, not (alone and reading and x.size))
                if alone:
                    out.axis = axis
                    # The kernel converts the indices of a single array to offsets.
                    out.wrap, out.scale = x.shape_[axis], x.strides_[axis]
                else:
                    part = index_offsets(part, x.shape_[axis], x.strides_[axis])
                axis += 1
            shapes.append((f"index {len(shapes)}", shape_tuple(part)))
            try:
                offsets = part if offsets is None else <Array>binary(OP_ADD, offsets, part, "index", False)
            except BroadcastError:
                raise BroadcastIndexError("index", shapes) from None
        else:
            axis += take_item(&kept, item, x, axis)
    out.base = view_of(x, kept.data, kept.ndim, kept.shape, kept.strides)
    out.offsets = offsets if offsets.c_contiguous else copy_array(offsets, INT64, True)
    check_axes(out.base.ndim + offsets.ndim)
    return out


cdef Array empty_gathered(Gathering where_):
    """A new array of the shape of `x[key]`, not initialised."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int ndim = 0, axis
    for axis in range(where_.at):
        shape[ndim] = where_.base.shape_[axis]
        ndim += 1
    for axis in range(where_.offsets.ndim):
        shape[ndim] = where_.offsets.shape_[axis]
        ndim += 1
    for axis in range(where_.at, where_.base.ndim):
        shape[ndim] = where_.base.shape_[axis]
        ndim += 1
    return new_array(where_.base.code, ndim, shape, NULL, False)

ctypedef struct wide_element:
    uint64_t low, high

ctypedef fused bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    wide_element

ctypedef fused component_type:
    float
    double
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef struct Offsets:
    # The offsets of a gathering, in C.
    const int64_t* values
    Py_ssize_t n
    int64_t wrap   # 0 where the values are byte offsets in our own memory
    int64_t scale
    bint changed   # whether an index was out of bounds when it was used


cdef inline int64_t offset_at(Offsets* at, Py_ssize_t i) noexcept nogil:
    cdef int64_t value = at.values[i]
    if at.wrap == 0:
        return value
    value += at.wrap if value < 0 else 0
    if <uint64_t>value >= <uint64_t>at.wrap:
        at.changed = True
        return 0
    return value * at.scale


cdef void add_runs(component_type* kind, Py_ssize_t nbytes, char* base, Offsets* at, char* other, Py_ssize_t stride) noexcept nogil:
    """Add a run of numbers at each offset, in the order of the offsets; integers, which wrap around, as unsigned ones."""
    cdef Py_ssize_t i, k, count = nbytes // <Py_ssize_t>sizeof(component_type)
    cdef component_type* target
    cdef const component_type* source
    for i in range(at.n):
        target, source = <component_type*>(base + offset_at(at, i)), <const component_type*>(other + i * stride)
        for k in range(count):
            target[k] += source[k]


cdef void move_each(bits* kind, bint reading, char* base, Offsets* at, char* other, Py_ssize_t stride) noexcept nogil:
    """Copy one element of the item size of `kind` at each offset; it need not be aligned to its size, like complex64."""
    cdef Py_ssize_t i
    cdef Offsets here = at[0]
    if reading:
        for i in range(here.n):
            memcpy(other + i * stride, base + offset_at(&here, i), sizeof(bits))
    else:
        for i in range(here.n):
            memcpy(base + offset_at(&here, i), other + i * stride, sizeof(bits))
    at.changed = here.changed


cdef void move_runs(Py_ssize_t nbytes, bint reading, char* base, Offsets* at, char* other, Py_ssize_t stride) noexcept nogil:
    """Copy a run of bytes at each offset."""
    cdef Py_ssize_t i
    if reading:
        for i in range(at.n):
            memcpy(other + i * stride, base + offset_at(at, i), nbytes)
    else:
        for i in range(at.n):
            memcpy(base + offset_at(at, i), other + i * stride, nbytes)


cdef void move_block(Py_ssize_t nbytes, int mode, int code, char* base, Offsets* at, char* other, Py_ssize_t stride) noexcept nogil:
    cdef bint reading = mode == READ
    if mode == ADD:
        if code == FLOAT32 or code == COMPLEX64:
            add_runs[float](NULL, nbytes, base, at, other, stride)
        elif code == FLOAT64 or code == COMPLEX128:
            add_runs[double](NULL, nbytes, base, at, other, stride)
        elif itemsize_at(code) == 8:
            add_runs[uint64_t](NULL, nbytes, base, at, other, stride)
        elif itemsize_at(code) == 4:
            add_runs[uint32_t](NULL, nbytes, base, at, other, stride)
        elif itemsize_at(code) == 2:
            add_runs[uint16_t](NULL, nbytes, base, at, other, stride)
        else:
            add_runs[uint8_t](NULL, nbytes, base, at, other, stride)
    elif nbytes == 16:
        move_each[wide_element](NULL, reading, base, at, other, stride)
    elif nbytes == 8:
        move_each[uint64_t](NULL, reading, base, at, other, stride)
    elif nbytes == 4:
        move_each[uint32_t](NULL, reading, base, at, other, stride)
    elif nbytes == 2:
        move_each[uint16_t](NULL, reading, base, at, other, stride)
    elif nbytes == 1:
        move_each[uint8_t](NULL, reading, base, at, other, stride)
    else:
        move_runs(nbytes, reading, base, at, other, stride)

ctypedef struct GatherTask:
    # A gather of single elements or runs, in chunks for several threads.
    Py_ssize_t nbytes
    char* base
    const Offsets* offsets
    char* other
    Py_ssize_t stride
    Py_ssize_t extent   # offsets of a chunk
    bint changed


cdef void gather_chunk(void* context, int chunk) noexcept nogil:
    cdef GatherTask* task = <GatherTask*>context
    cdef Offsets own = task.offsets[0]
    cdef Py_ssize_t first = chunk * task.extent
    own.values += first
    own.n = min(task.extent, own.n - first)
    move_block(task.nbytes, READ, 0, task.base, &own, task.other + first * task.stride, task.stride)
    if own.changed:
        task.changed = True


cdef bint gather_block(Py_ssize_t nbytes, char* base, Offsets* offsets, char* other, Py_ssize_t stride) noexcept nogil:
    """
    `move_block` for a gather, on several threads where that is faster: each writes its own part of the result.

    False with the exception of a signal handler set.
    """
    # A read from a cache takes a nanosecond; one from memory much longer, most of it latency.
    cdef int64_t work = offsets.n * (1 + nbytes // 64)
    cdef int threads = threads_for(work)
    cdef Py_ssize_t chunks = chunks_for(work, threads)
    cdef GatherTask task
    cdef bint done
    if chunks < 2:
        move_block(nbytes, READ, 0, base, offsets, other, stride)
        return True
    task.nbytes, task.base, task.offsets, task.other, task.stride = nbytes, base, offsets, other, stride
    task.changed = False
    done = run_equal_chunks(gather_chunk, &task, &task.extent, offsets.n, chunks, threads)
    if task.changed:
        offsets.changed = True
    return done


cdef int move_gathered(Gathering where_, Array other, int mode) except -1:
    """
    Copy elements between the offsets of a gathering and `other`: READ, WRITE, or ADD to numbers.

    `other` is in C order with the gathering's shape, or one element that is written everywhere.
    """
    cdef Array base = where_.base
    cdef Plan plan
    cdef Operand operands[2]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t stride = itemsize_at(base.code), run = itemsize_at(base.code), n = where_.offsets.size
    # What is written to comes last: while operands are computed, a signal handler may defer what reads it.
    cdef char* offsets = data_of(where_.offsets)
    cdef char* there = data_of(other)
    cdef char* here = data_of(base) if mode == READ else writable_data(base)
    cdef Offsets at
    cdef bint done = True, one = other.ndim == 0 and (base.ndim > 0 or where_.offsets.ndim > 0)
    cdef int axis, d, first = 0
    if n == 0 or base.size == 0:
        # No kernel runs, so the indices are checked here.
        return refuse_indices(where_.offsets, where_.wrap, where_.axis) if where_.wrap else 0
    at.values, at.n, at.wrap, at.scale = <const int64_t*>offsets, n, where_.wrap, where_.scale
    at.changed = False
    for axis in range(base.ndim - 1, -1, -1):
        if axis == where_.at - 1:
            stride *= n
        strides[axis] = 0 if one else stride
        stride *= base.shape_[axis]
    # Bytes between the blocks of two offsets in `other`: the size of a block.
    stride = itemsize_at(base.code)
    for axis in range(where_.at, base.ndim):
        stride *= base.shape_[axis]
    read_operand(&operands[0], base)
    read_operand(&operands[1], base)
    operands[1].data = data_of(other)
    operands[1].strides = strides
    set_strides(&plan, operands, 2, base.shape_, base.ndim)
    coalesce(&plan, 0)
    with nogil:
        if plan.ndim > 0 and plan.strides[0][0] == run and plan.strides[1][0] == run:
            run *= plan.shape[0]
            first = 1
        for d in range(plan.ndim):
            position[d] = 0
        while True:
            if mode == READ:
                done = gather_block(run, here, &at, there, stride)
                if not done:
                    break
            else:
                move_block(run, mode, base.code, here, &at, there, 0 if one else stride)
            d = first
            while d < plan.ndim:
                position[d] += 1
                here += plan.strides[0][d]
                there += plan.strides[1][d]
                if position[d] < plan.shape[d]:
                    break
                here -= position[d] * plan.strides[0][d]
                there -= position[d] * plan.strides[1][d]
                position[d] = 0
                d += 1
            if d >= plan.ndim:
                break
    if not done:
        return -1  # with the exception of a signal handler
    if at.changed:
        if mode == READ:
            refuse_indices(where_.offsets, at.wrap, where_.axis)
        raise OutOfBoundsError("index", "an index array was changed while it was used, to something out of bounds")
    return 0
