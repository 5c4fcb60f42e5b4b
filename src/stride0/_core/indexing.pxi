# Reading and writing elements: `x[key]` and `x[key] = value`. Included in `array.pyx`.
#
# Note [Offsets]
#     Integers, slices, `...` and None only change shape, strides and the first element: a view. Integer
#     arrays and masks are turned into one array of byte offsets, in which each axis that they index
#     has been checked against its size, so that the loops that move elements check nothing. What is left
#     (the axes not indexed by arrays) is the block that moves at every offset.

cdef enum:
    TAKE_ALL = -1


cdef Array swapped_matrix(Array x):
    """View with the last two axes swapped."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(steps, x.strides_, x.ndim * sizeof(Py_ssize_t))
    shape[x.ndim - 1], shape[x.ndim - 2] = shape[x.ndim - 2], shape[x.ndim - 1]
    steps[x.ndim - 1], steps[x.ndim - 2] = steps[x.ndim - 2], steps[x.ndim - 1]
    return view_of(x, x.data, x.ndim, shape, steps)


cdef object single(Array x, str operation):
    """The only element as a Python scalar."""
    if x.ndim != 0 and x.size != 1:
        raise ArgumentTypeError(operation, f"an array of shape {shape_tuple(x)} is not one value", (), "an array of one element")
    return read_scalar(x.data, x.code)


@cython.final
cdef class ArrayIterator:
    """The arrays along the first axis, as views."""

    cdef Array x
    cdef Py_ssize_t next_index

    def __cinit__(self, Array x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        cdef Array x = self.x
        cdef char* data
        if self.next_index >= x.shape_[0]:
            raise StopIteration
        data = x.data + self.next_index * x.strides_[0]
        self.next_index += 1
        return view_of(x, data, x.ndim - 1, x.shape_ + 1, x.strides_ + 1)


cdef struct Selection:
    # What basic indexing has made of the axes so far.
    char* data
    int ndim
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t strides[MAX_NDIM]


cdef Py_ssize_t index_value(object item, Py_ssize_t size, int axis) except? -1:
    """An integer index, wrapped; OutOfBoundsError where it is outside."""
    cdef Py_ssize_t index, given
    try:
        index = operator.index(item)
    except OverflowError:
        raise OutOfBoundsError("index", f"{item} is out of bounds for axis {axis} with size {size}") from None
    given = index
    if index < 0:
        index += size
    if index < 0 or index >= size:
        raise OutOfBoundsError("index", f"{given} is out of bounds for axis {axis} with size {size}", (),
                               f"indices from {-size} to {size - 1}" if size else "no index: the axis is empty")
    return index


cdef object classify(object item):
    """
    An item of a key in the form the rest works with: int, slice, None, Ellipsis or an Array.

    Sequences and arrays of other libraries become Arrays; an integer array without axes is an int.
    """
    cdef Array a
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, bool):
        return scalar_array(item, BOOL, "index")
    if type(item) is Array:
        a = <Array>item
    elif hasattr(type(item), "__index__") and getattr(item, "ndim", 0) == 0:
        return operator.index(item)
    elif isinstance(item, (list, tuple)) or hasattr(type(item), "__array__") or hasattr(type(item), "__dlpack__"):
        # An empty list says nothing of its dtype; as an index it can only be meant as integers.
        a = asarray(item, dtype=dtype_at(INT64)) if isinstance(item, (list, tuple)) and len(item) == 0 else asarray(item)
    else:
        raise OutOfBoundsError("index", f"a {type(item).__name__} is no index", (),
                               "integers, slices, ..., None, and integer or boolean arrays")
    if letter_at(a.code) not in b"iub":
        raise OutOfBoundsError("index", f"an array of dtype {dtype_at(a.code).name} is no index", (),
                               "an array of an integer dtype or of dtype bool")
    if a.ndim == 0 and a.code != BOOL:
        return read_scalar(a.data, a.code)
    return a


cdef int axes_taken(object item) except -1:
    """How many axes an item of a key uses up."""
    if item is None or item is Ellipsis:
        return 0
    if type(item) is Array and (<Array>item).code == BOOL:
        return (<Array>item).ndim
    return 1


cdef list expand_key(Array x, object key):
    """The key as a list that names every axis: one Ellipsis, replaced by the slices it stands for."""
    cdef list items = [classify(item) for item in key] if type(key) is tuple else [classify(key)]
    cdef int taken = 0, count = 0, missing
    for item in items:
        taken += axes_taken(item)
        count += item is Ellipsis
    if count > 1:
        raise OutOfBoundsError("index", "more than one ... in the key", (), "at most one ...")
    missing = x.ndim - taken
    if missing < 0:
        raise OutOfBoundsError("index", f"{taken} indices for an array of {x.ndim} axes", (("shape", f"{shape_tuple(x)}"),))
    if count == 0:
        items.append(Ellipsis)
    at = [item is Ellipsis for item in items].index(True)
    items[at:at + 1] = [slice(None)] * missing
    return items


cdef int take_slice(Selection* into, object item, Py_ssize_t size, Py_ssize_t step) except -1:
    start, stop, by = item.indices(size)
    cdef Py_ssize_t first = start, stride = by, count
    count = len(range(start, stop, by))
    into.shape[into.ndim] = count
    into.strides[into.ndim] = step * stride
    if count > 0:
        into.data += first * step
    into.ndim += 1
    return 0


cdef Array fast_view(Array x, object key):
    """The views of the commonest keys, without a list: one integer, or one slice, of the first axis."""
    cdef Selection out
    cdef Py_ssize_t index
    if type(key) is int and x.ndim > 0:
        index = index_value(key, x.shape_[0], 0)
        return view_of(x, x.data + index * x.strides_[0], x.ndim - 1, x.shape_ + 1, x.strides_ + 1)
    if type(key) is slice and x.ndim > 0:
        out.data = x.data
        out.ndim = 0
        take_slice(&out, key, x.shape_[0], x.strides_[0])
        memcpy(out.shape + 1, x.shape_ + 1, (x.ndim - 1) * sizeof(Py_ssize_t))
        memcpy(out.strides + 1, x.strides_ + 1, (x.ndim - 1) * sizeof(Py_ssize_t))
        return view_of(x, out.data, x.ndim, out.shape, out.strides)
    return None


cdef int check_axes(int ndim) except -1:
    if ndim > MAX_NDIM:
        raise ShapeError("index", f"the result would have {ndim} axes", (), f"an array has at most {MAX_NDIM} axes")
    return 0


cdef Array basic_view(Array x, list items):
    """The view that integers, slices and None make."""
    cdef Selection out
    cdef int axis = 0
    check_axes(x.ndim + sum([item is None for item in items]))
    out.data = x.data
    out.ndim = 0
    for item in items:
        if item is None:
            out.shape[out.ndim] = 1
            out.strides[out.ndim] = 0
            out.ndim += 1
            continue
        if isinstance(item, slice):
            take_slice(&out, item, x.shape_[axis], x.strides_[axis])
        else:
            out.data += index_value(item, x.shape_[axis], axis) * x.strides_[axis]
        axis += 1
    return view_of(x, out.data, out.ndim, out.shape, out.strides)


cdef class Gathering:
    """Where the elements of `x[key]` lie, for a key with arrays in it; Note [Offsets]."""

    cdef Array base      # the axes that arrays do not index, as a view
    cdef Array offsets   # bytes, of the arrays' broadcast shape
    cdef int at          # where that shape goes among the axes of `base`


cdef Array integer_offsets(Array index, Py_ssize_t size, Py_ssize_t step, int axis):
    """Byte offsets of an integer array used on an axis, checked and wrapped."""
    cdef Array out = copy_array(index, INT64, True)
    cdef int64_t* values = <int64_t*>out.data
    cdef Py_ssize_t i
    cdef int64_t value
    cdef Py_ssize_t bad = -1
    with nogil:
        for i in range(out.size):
            value = values[i]
            if value < 0:
                value += size
            if value < 0 or value >= size:
                bad = i
                break
            values[i] = value * step
    if bad >= 0:
        raise OutOfBoundsError("index", f"{values[bad]} is out of bounds for axis {axis} with size {size}", (),
                               f"indices from {-size} to {size - 1}" if size else "no index: the axis is empty")
    return out


cdef Array mask_offsets(Array mask, Array x, int axis):
    """Byte offsets of the elements that a mask over the axes from `axis` on selects, in C order."""
    cdef Array flat = mask if mask.c_contiguous else copy_array(mask, BOOL, True)
    cdef Array out
    cdef int d
    cdef Py_ssize_t count = 0, i, k = 0, run, size = flat.size
    cdef Py_ssize_t position[MAX_NDIM]
    cdef const uint8_t* bits = <const uint8_t*>flat.data
    cdef int64_t* values
    cdef int64_t offset = 0
    for d in range(mask.ndim):
        position[d] = 0
        if mask.shape_[d] != x.shape_[axis + d]:
            raise OutOfBoundsError(
                "index", f"the mask has size {mask.shape_[d]} where the array has size {x.shape_[axis + d]}, at axis {axis + d}",
                (("array", f"{shape_tuple(x)}"), ("mask", f"{shape_tuple(mask)}")), "a mask of the shape of the axes it selects from")
    for i in range(size):
        count += bits[i] != 0
    out = new_array(INT64, 1, &count, NULL, False)
    values = <int64_t*>out.data
    if mask.ndim == 0:
        for i in range(count):
            values[i] = 0
        return out
    run = mask.shape_[mask.ndim - 1]
    cdef Py_ssize_t step = x.strides_[axis + mask.ndim - 1]
    cdef Py_ssize_t first = 0
    with nogil:
        while k < count:
            for i in range(run):
                if bits[first + i] != 0:
                    values[k] = offset + i * step
                    k += 1
            first += run
            for d in range(mask.ndim - 2, -1, -1):
                position[d] += 1
                offset += x.strides_[axis + d]
                if position[d] < mask.shape_[d]:
                    break
                offset -= position[d] * x.strides_[axis + d]
                position[d] = 0
    return out


cdef Gathering gathering(Array x, list items):
    """Resolve a key with arrays in it, as NumPy combines them: integers count as arrays beside arrays."""
    cdef Gathering out = Gathering()
    cdef Selection kept
    cdef int axis = 0, runs = 0
    cdef bint inside = False
    cdef Array part, offsets = None
    cdef list shapes = []
    kept.data = x.data
    kept.ndim = 0
    out.at = 0
    check_axes(x.ndim + sum([item is None for item in items]))
    for item in items:
        if item is None:
            kept.shape[kept.ndim] = 1
            kept.strides[kept.ndim] = 0
            kept.ndim += 1
            inside = False
            continue
        if isinstance(item, slice):
            take_slice(&kept, item, x.shape_[axis], x.strides_[axis])
            axis += 1
            inside = False
            continue
        if not inside:
            runs += 1
            # Arrays side by side leave their axes where they are; arrays apart put theirs in front.
            out.at = kept.ndim if runs == 1 else 0
            inside = True
        if type(item) is Array:
            if (<Array>item).code == BOOL:
                part = mask_offsets(<Array>item, x, axis)
                axis += (<Array>item).ndim
            else:
                part = integer_offsets(<Array>item, x.shape_[axis], x.strides_[axis], axis)
                axis += 1
            shapes.append((f"index {len(shapes)}", shape_tuple(part)))
            try:
                offsets = part if offsets is None else <Array>add(offsets, part)
            except BroadcastError:
                raise BroadcastIndexError("index", shapes) from None
        else:
            kept.data += index_value(item, x.shape_[axis], axis) * x.strides_[axis]
            axis += 1
    out.base = view_of(x, kept.data, kept.ndim, kept.shape, kept.strides)
    out.offsets = offsets if offsets.c_contiguous else copy_array(offsets, INT64, True)
    check_axes(out.base.ndim + offsets.ndim)
    return out


class BroadcastIndexError(BroadcastError, IndexError):
    """Index arrays whose shapes do not broadcast."""


cdef Array empty_gathered(Gathering where_):
    """A new array of the shape of `x[key]`."""
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


ctypedef fused bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef void move_each(bits* kind, bint reading, char* base, const int64_t* offsets, char* other, Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    """One element at each offset, of the width of `kind`."""
    cdef Py_ssize_t i
    if reading:
        for i in range(n):
            (<bits*>(other + i * step))[0] = (<bits*>(base + offsets[i]))[0]
    else:
        for i in range(n):
            (<bits*>(base + offsets[i]))[0] = (<bits*>(other + i * step))[0]


cdef void move_runs(Py_ssize_t nbytes, bint reading, char* base, const int64_t* offsets, char* other, Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    """A run of bytes at each offset."""
    cdef Py_ssize_t i
    if reading:
        for i in range(n):
            memcpy(other + i * step, base + offsets[i], nbytes)
    else:
        for i in range(n):
            memcpy(base + offsets[i], other + i * step, nbytes)


cdef void move_block(Py_ssize_t nbytes, bint reading, char* base, const int64_t* offsets, char* other, Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    if nbytes == 8:
        move_each[uint64_t](NULL, reading, base, offsets, other, step, n)
    elif nbytes == 4:
        move_each[uint32_t](NULL, reading, base, offsets, other, step, n)
    elif nbytes == 2:
        move_each[uint16_t](NULL, reading, base, offsets, other, step, n)
    elif nbytes == 1:
        move_each[uint8_t](NULL, reading, base, offsets, other, step, n)
    else:
        move_runs(nbytes, reading, base, offsets, other, step, n)


cdef void move_gathered(Gathering where_, Array other, bint reading):
    """
    Move elements between the places of a gathering and `other`.

    `other` is in C order with the gathering's shape, or one element that is written everywhere.
    """
    cdef Array base = where_.base
    cdef Plan plan
    cdef Operand operands[2]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t step = itemsize_at(base.code), run = itemsize_at(base.code), n = where_.offsets.size
    cdef char* here = base.data
    cdef char* there = other.data
    cdef const int64_t* offsets = <const int64_t*>where_.offsets.data
    cdef bint one = other.ndim == 0 and (base.ndim > 0 or where_.offsets.ndim > 0)
    cdef int axis, d, first = 0
    if n == 0 or base.size == 0:
        return
    for axis in range(base.ndim - 1, -1, -1):
        if axis == where_.at - 1:
            step *= n
        steps[axis] = 0 if one else step
        step *= base.shape_[axis]
    # Bytes from one offset's element of `other` to the next: the size of the block behind the arrays' axes.
    step = itemsize_at(base.code)
    for axis in range(where_.at, base.ndim):
        step *= base.shape_[axis]
    operands[0] = operand_of(base)
    operands[1] = operand_of(base)
    operands[1].data = other.data
    operands[1].strides = steps
    set_strides(&plan, operands, 2, base.shape_, base.ndim)
    coalesce(&plan, 0)
    with nogil:
        if plan.ndim > 0 and plan.strides[0][0] == run and plan.strides[1][0] == run:
            run *= plan.shape[0]
            first = 1
        for d in range(plan.ndim):
            position[d] = 0
        while True:
            move_block(run, reading, here, offsets, there, 0 if one else step, n)
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


cdef bint has_arrays(list items):
    for item in items:
        if type(item) is Array:
            return True
    return False


cdef Array get_item(Array x, object key):
    cdef Array out = fast_view(x, key)
    cdef list items
    cdef Gathering where_
    if out is not None:
        return out
    items = expand_key(x, key)
    if not has_arrays(items):
        return basic_view(x, items)
    where_ = gathering(x, items)
    out = empty_gathered(where_)
    move_gathered(where_, out, True)
    return out


cdef int set_item(Array x, object key, object value) except -1:
    cdef Array target, source, room
    cdef list items
    cdef Gathering where_
    check_writable(x, "setitem")
    source = value_operand(x, value, "setitem")
    target = fast_view(x, key)
    if target is None:
        items = expand_key(x, key)
        if not has_arrays(items):
            target = basic_view(x, items)
    if target is not None:
        return assign_array(target, source, "setitem")
    where_ = gathering(x, items)
    check_cast(source.code, x.code, "setitem")
    room = empty_gathered(where_)
    if source.ndim == 0:
        if source.code != x.code or overlaps(x, source):
            source = copy_array(source, x.code, True)
    elif source.code != x.code or not source.c_contiguous or not same_shape(source, room) or overlaps(x, source) or source.data == x.data:
        assign_array(room, source, "setitem")
        source = room
    move_gathered(where_, source, False)
    return 0


def gather(Array x not None, Array indices not None, int axis):
    """`take`: the elements of x at integer indices along an axis; a new array."""
    return get_item(x, tuple([slice(None)] * axis + [indices]))


def nonzero(x, /):
    """
    Indices of the elements that are not zero.

    Parameters
    ----------
    x : Array
        Of any dtype, with at least one axis.

    Returns
    -------
    tuple of Array
        One one-dimensional array of dtype ``int64`` per axis, in C order of the elements.

    Raises
    ------
    ShapeError
        If `x` has no axes.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``nonzero``.
    """
    cdef Array a = as_array(x, "nonzero"), mask, indices
    cdef int axis
    cdef Py_ssize_t step = 1, i
    cdef int64_t* values
    if a.ndim == 0:
        raise ShapeError("nonzero", "the array has no axes", (), "an array of one or more axes")
    mask = copy_array(a, BOOL, True)
    # As a selection from itself the mask gives offsets of one byte per element: flat indices.
    flat = mask_offsets(mask, mask, 0)
    out = []
    for axis in range(a.ndim - 1, -1, -1):
        if axis == 0:
            indices = <Array>(flat if step == 1 else floor_divide(flat, step))
        else:
            indices = <Array>remainder(flat if step == 1 else floor_divide(flat, step), a.shape_[axis] if a.shape_[axis] else 1)
        step *= a.shape_[axis] if a.shape_[axis] else 1
        out.append(indices)
    return tuple(out[::-1])
