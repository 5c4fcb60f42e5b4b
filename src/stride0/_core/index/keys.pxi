# Keys, the objects between the brackets, and the views that integers, slices and None make.

cdef extern from "Python.h":
    int PySlice_Unpack(object slice, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t step) noexcept


cdef Py_ssize_t index_value(object item, Py_ssize_t size, int axis) except? -1:
    """An integer index, counted from the front; raises OutOfBoundsError if it is out of bounds."""
    cdef Py_ssize_t index, given
    try:
        index = item
    except OverflowError:
        raise OutOfBoundsError("index", f"{brief(operator.index(item))} is out of bounds for axis {axis} with size {size}") from None
    given = index
    if index < 0:
        index += size
    if index < 0 or index >= size:
        raise OutOfBoundsError("index", f"{given} is out of bounds for axis {axis} with size {size}", (),
                               f"pass indices from {-size} to {size - 1}" if size else "pass a slice: the axis is empty")
    return index


cdef object refuse_index(str what):
    raise OutOfBoundsError("index", f"{what} is not an index", (), "use integers, slices, ..., None, and integer or boolean arrays")


cdef object plain_slice(object item):
    """
    A slice of Python integers.

    `__index__` of objects in a slice may run the user's code, which must end before index arrays are checked.
    """
    cdef Py_ssize_t start, stop, step
    PySlice_Unpack(item, &start, &stop, &step)
    return slice(start, stop, step)


cdef object classify(object item):
    """
    An item of a key as an int, slice, None, Ellipsis or Array.

    Sequences and arrays of other libraries become Arrays; a 0-d integer array is an int.
    """
    cdef Array a
    cdef bint is_array
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return plain_slice(item)
    if isinstance(item, bool):
        return scalar_array(item, BOOL, "index")
    if type(item) is Array:
        a = <Array>item
    else:
        # `__len__`: arrays and sequences are converted below. The integers of an enumeration have none.
        if isinstance(item, int) or (hasattr(type(item), "__index__") and not hasattr(type(item), "__len__")):
            try:
                return operator.index(item)
            except TypeError:
                pass  # NumPy's bool scalars
        is_array = not isinstance(item, (list, tuple, range))
        if is_array:
            is_array = hasattr(type(item), "__array__") or hasattr(type(item), "__dlpack__")
            if not is_array and (isinstance(item, bytes) or not exports_buffer(item)):
                refuse_index(f"a {type(item).__name__}")
        try:
            a = hooks.convert(item, NO_DTYPE)
        except (RangeError, DTypeError, ShapeError) as error:
            raise OutOfBoundsError("index", f"a {type(item).__name__} is not an index: {error.problem}") from error
        if a.size == 0 and not is_array:
            # An empty sequence has no dtype of its own; as an index it means integers.
            a = copy_array(a, INT64, True)
    if letter_at(a.code) not in b"iub":
        refuse_index(f"an array of dtype {dtype_at(a.code).name}")
    if a.ndim == 0 and a.code != BOOL:
        return read_scalar(data_of(a), a.code)
    return a


cdef inline bint is_index_array(object item) noexcept:
    """Whether an item of a key is an integer array with axes."""
    return type(item) is Array and (<Array>item).ndim > 0 and (letter_at((<Array>item).code) == c"i" or letter_at((<Array>item).code) == c"u")


cdef inline bint is_mask(object item) noexcept:
    return type(item) is Array and (<Array>item).code == BOOL


cdef inline int axes_indexed(object item) noexcept:
    return (<Array>item).ndim if is_mask(item) else 1


cdef struct Counts:
    # The items of a key, the number of arrays among them, and the number of axes without an item.
    int arrays
    int missing


cdef tuple classified(Array x, object key, Counts* out):
    """The key as a tuple of ints, slices, None, `...` and Arrays that fits the axes of x."""
    # Subclasses of tuple (namedtuples, `torch.Size`) are tuples too.
    cdef tuple items = <tuple>key if type(key) is tuple else (<tuple>key)[0:Py_SIZE(key)] if isinstance(key, tuple) else (key,)
    cdef int taken = 0, dots = 0, extra = 0
    for item in items:
        if not (type(item) is int or item is None or item is Ellipsis or is_mask(item) or is_index_array(item)):
            items = tuple([classify(each) for each in items])
            break
    out.arrays = 0
    for item in items:
        if item is None:
            extra += 1
        elif item is Ellipsis:
            dots += 1
        else:
            taken += axes_indexed(item)
            out.arrays += type(item) is Array
    if dots > 1:
        raise OutOfBoundsError("index", "more than one ... in the key", (), "write ... once")
    out.missing = x.ndim - taken
    if out.missing < 0:
        raise OutOfBoundsError("index", f"{counted(taken, 'index', 'indices')} for an array of {counted(x.ndim, 'axis', 'axes')}", (("shape", f"{shape_tuple(x)}"),), f"pass at most {counted(x.ndim, 'index', 'indices')}")
    check_axes(x.ndim + extra)
    return items


cdef int take_slice(Selection* into, object item, Py_ssize_t size, Py_ssize_t stride) except -1:
    cdef Py_ssize_t start, stop, step, count
    PySlice_Unpack(item, &start, &stop, &step)
    count = PySlice_AdjustIndices(size, &start, &stop, step)
    into.shape[into.ndim] = count
    # The step of a slice of length 1 is arbitrary, and the product could overflow.
    into.strides[into.ndim] = stride * step if count > 1 else stride
    if count > 0:
        into.data += start * stride
    into.ndim += 1
    return 0


cdef int take_item(Selection* into, object item, Array x, int axis) except -1:
    """Apply one integer, slice, None or empty `...` of a key; return the number of axes that it indexes."""
    if item is Ellipsis:
        return 0
    if item is None:
        into.shape[into.ndim] = 1
        into.strides[into.ndim] = 0
        into.ndim += 1
        return 0
    if isinstance(item, slice):
        take_slice(into, item, x.shape_[axis], x.strides_[axis])
    else:
        into.data += index_value(item, x.shape_[axis], axis) * x.strides_[axis]
    return 1


cdef Array element_view(Array x, char* data):
    """The 0-d view of an element."""
    cdef Array y = blank(x.code)
    set_ndim(y, 0)
    y.size = 1
    y.c_contiguous = True
    y.storage = x.storage
    y.seen = x.seen
    y.is_view = True
    y.address = data
    return y


cdef Array plain_view(Array x, object key):
    """The view that a key of integers, slices, None and `...` makes; None for any other key."""
    cdef Selection out
    cdef int axis = 0, taken = 0, extra = 0, dots = 0
    cdef Py_ssize_t index
    cdef char* data
    cdef tuple items
    if type(key) is int and x.ndim:
        if x.ndim == 1 and read_int(<PyObject*>key, &index) and -x.shape_[0] <= index < x.shape_[0]:
            return element_view(x, data_of(x) + (index + x.shape_[0] if index < 0 else index) * x.strides_[0])
        return view_of(x, data_of(x) + index_value(key, x.shape_[0], 0) * x.strides_[0], x.ndim - 1, x.shape_ + 1, x.strides_ + 1)
    if type(key) is slice and x.ndim:
        out.data = data_of(x)
        out.ndim = 0
        take_slice(&out, key, x.shape_[0], x.strides_[0])
        take_axes(&out, x, 1, x.ndim)
        return view_of(x, out.data, out.ndim, out.shape, out.strides)
    if type(key) is tuple and x.ndim and Py_SIZE(key) == x.ndim:
        data = data_of(x)
        for axis in range(x.ndim):
            if not read_int(<PyObject*>(<tuple>key)[axis], &index) or not -x.shape_[axis] <= index < x.shape_[axis]:
                break
            data += (index + x.shape_[axis] if index < 0 else index) * x.strides_[axis]
        else:
            return element_view(x, data)
        axis = 0
    items = <tuple>key if type(key) is tuple else (key,)
    for item in items:
        if type(item) is int or type(item) is slice:
            taken += 1
        elif item is None:
            extra += 1
        elif item is Ellipsis:
            dots += 1
        else:
            return None
    # An invalid key: the general path raises the error.
    if dots > 1 or taken > x.ndim or x.ndim + extra > MAX_NDIM:
        return None
    out.data = data_of(x)
    out.ndim = 0
    for item in items:
        if item is Ellipsis:
            axis = take_axes(&out, x, axis, axis + x.ndim - taken)
        else:
            axis += take_item(&out, item, x, axis)
    take_axes(&out, x, axis, x.ndim)
    return view_of(x, out.data, out.ndim, out.shape, out.strides)


cdef int take_axes(Selection* into, Array x, int first, int last) noexcept:
    """Keep axes unchanged; returns the axis after them."""
    cdef int axis
    for axis in range(first, last):
        into.shape[into.ndim] = x.shape_[axis]
        into.strides[into.ndim] = x.strides_[axis]
        into.ndim += 1
    return last


cdef int check_axes(int ndim) except -1:
    if ndim > MAX_NDIM:
        raise OutOfBoundsError("index", f"the result would have {ndim} axes", (), f"use at most {MAX_NDIM} axes")
    return 0
