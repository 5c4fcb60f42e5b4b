# Creating arrays: from a shape, like another array, as a view.

cdef int check_self(object x) except -1:
    """Refuse a `self` that is not an Array: methods that are not slots of the type get any object."""
    if type(x) is not Array:
        raise TypeError(f"pass a stride0 array, not an object of type {type(x).__name__}")
    return 0


cdef Array blank(int code):
    """An array without shape and memory, for the caller to complete."""
    cdef Array x = Array.__new__(Array)
    x.code = code
    return x


cdef int set_ndim(Array x, int ndim) except -1:
    """Set the number of axes of a new array and allocate its shape and strides."""
    if ndim <= 4:
        x.shape_ = x.small
    else:
        # With space for strides in elements behind them: `exchange/exchange_api.pxi`.
        x.block = PyBytes_FromStringAndSize(NULL, 3 * ndim * sizeof(Py_ssize_t))
        x.shape_ = <Py_ssize_t*>PyBytes_AS_STRING(x.block)
    x.strides_ = x.shape_ + ndim
    x.ndim = ndim
    return 0

# Limit of `nbytes`, which counts the elements of broadcast axes each time. Larger sizes and strides could overflow.
cdef Py_ssize_t LARGEST = (<Py_ssize_t>1) << 62


cdef Py_ssize_t checked_size(int code, int ndim, const Py_ssize_t* shape) except -1:
    """Number of elements of a shape; MemoryError if it exceeds the limit."""
    cdef Py_ssize_t size = 1
    cdef bint over = False
    cdef int axis
    for axis in range(ndim):
        if shape[axis] == 0:
            return 0
        over = over or shape[axis] < 0 or s0_times(&size, shape[axis])
    # Divide rarely: a division takes longer than everything else here.
    if over or (size > LARGEST // LARGEST_ITEM and size > LARGEST // itemsize_at(code)):
        raise MemoryError("allocate: an array of this shape is larger than any memory")
    return size


cdef int set_flags(Array x) except -1:
    """Set size and contiguity from the shape and the strides."""
    cdef int axis
    cdef Py_ssize_t itemsize = itemsize_at(x.code), size = 1, n
    cdef bint over = False, contiguous = True
    for axis in range(x.ndim - 1, -1, -1):
        n = x.shape_[axis]
        if n != 1:
            contiguous = contiguous and x.strides_[axis] == size * itemsize
            over = over or n < 0 or s0_times(&size, n)
    if over or size > LARGEST // LARGEST_ITEM:
        size = checked_size(x.code, x.ndim, x.shape_)
    x.size, x.c_contiguous = size, contiguous or size == 0
    return 0


cdef Array new_array(int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, bint zeroed):
    """A new array with its own storage; C order if `strides` is NULL."""
    cdef Array x = blank(code)
    cdef int axis
    cdef Py_ssize_t stride = itemsize_at(code), size = checked_size(code, ndim, shape), next_stride
    set_ndim(x, ndim)
    for axis in range(ndim - 1, -1, -1):
        x.shape_[axis] = shape[axis]
        x.strides_[axis] = stride if strides is NULL else strides[axis]
        next_stride = stride
        # If an axis has size 0, the product of the other sizes may overflow. No element uses these strides.
        if shape[axis] > 1 and not s0_times(&next_stride, shape[axis]):
            stride = next_stride
    if strides is NULL:
        x.size, x.c_contiguous = size, True
    else:
        set_flags(x)
    x.storage = allocate_storage(stride if size else 0, zeroed)
    x.address = x.storage.data
    return x


cdef int set_fortran_strides(Array x) except -1:
    """Set strides in Fortran order. An axis of size 1 has the stride that `result_strides` gives it."""
    cdef int axis
    cdef Py_ssize_t itemsize = itemsize_at(x.code), stride = itemsize
    for axis in range(x.ndim):
        x.strides_[axis] = stride
        stride *= x.shape_[axis]
    stride = itemsize
    for axis in range(x.ndim - 1, -1, -1):
        if x.shape_[axis] == 1:
            x.strides_[axis] = stride
        else:
            stride = max(stride, x.shape_[axis] * x.strides_[axis])
    x.c_contiguous = False
    return 0


cdef Array new_like(Array x, int code):
    """A new array with the shape of `x`: in Fortran order if `x` has that order, otherwise in C order."""
    cdef Array y = blank(code)
    cdef int axis
    cdef Py_ssize_t stride = itemsize_at(code)
    set_ndim(y, x.ndim)
    for axis in range(x.ndim - 1, -1, -1):
        y.shape_[axis] = x.shape_[axis]
        y.strides_[axis] = stride
        if x.shape_[axis] > 1:
            stride *= x.shape_[axis]
    y.size = x.size
    y.c_contiguous = True
    if not x.c_contiguous and x.ndim > 1:
        set_fortran_strides(y)
    y.storage = allocate_storage(x.size * itemsize_at(code), False)
    y.address = y.storage.data
    return y


cdef Array view_of(Array x, char* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    """A view on the storage of x; the caller guarantees the bounds."""
    cdef Array y = blank(x.code)
    cdef int axis
    set_ndim(y, ndim)
    for axis in range(ndim):
        y.shape_[axis] = shape[axis]
        y.strides_[axis] = strides[axis]
    set_flags(y)
    y.storage = x.storage
    y.seen = s0_peek_long(x.seen)
    y.is_view = True
    # If there is no element, the pointer stays inside the storage.
    y.address = data if y.size else data_of(x)
    return y


cdef tuple shape_tuple(Array x):
    cdef int axis
    cdef tuple out = PyTuple_New(x.ndim)
    cdef object size
    for axis in range(x.ndim):
        size = x.shape_[axis]
        Py_INCREF(size)
        PyTuple_SET_ITEM(out, axis, size)
    return out


cdef int read_shape(object shape, Py_ssize_t* out, str operation) except -1:
    """Copy a tuple of sizes to `out`; returns its length."""
    cdef int axis, ndim = <int>len(shape)
    if ndim > MAX_NDIM:
        raise ShapeError(operation, f"{ndim} axes are too many", (), f"use at most {MAX_NDIM} axes")
    for axis in range(ndim):
        try:
            out[axis] = shape[axis]
        except OverflowError:
            raise MemoryError(f"{operation}: an array of this shape is larger than any memory") from None
        if out[axis] < 0:
            raise ShapeError(operation, f"negative size in the shape {tuple(shape)}", (), "pass sizes of 0 or more")
    return ndim


def empty(tuple shape, DType dtype not None):
    """A new array in C order, not initialised."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int ndim = read_shape(shape, sizes, "empty")
    return new_array(dtype.code, ndim, sizes, NULL, False)


def zeros(tuple shape, DType dtype not None):
    """A new array of zeros in C order."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int ndim = read_shape(shape, sizes, "zeros")
    return new_array(dtype.code, ndim, sizes, NULL, True)


cdef Array component(Array x, Py_ssize_t offset):
    """One component of a complex array, as a view."""
    cdef Array y = view_of(x, data_of(x) + offset, x.ndim, x.shape_, x.strides_)
    y.code = FLOAT32 if x.code == COMPLEX64 else FLOAT64
    set_flags(y)
    return y


cdef Array swapped_matrix(Array x):
    """View with the last two axes swapped."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(strides, x.strides_, x.ndim * sizeof(Py_ssize_t))
    shape[x.ndim - 1], shape[x.ndim - 2] = shape[x.ndim - 2], shape[x.ndim - 1]
    strides[x.ndim - 1], strides[x.ndim - 2] = strides[x.ndim - 2], strides[x.ndim - 1]
    return view_of(x, data_of(x), x.ndim, shape, strides)


cdef object single(Array x, str operation):
    """The only element as a Python scalar."""
    if is_plain_value(x):
        return read_scalar(data_of(x), x.code)
    refuse_batched(x, operation)
    if x.ndim != 0:
        beyond_standard(operation, "the array is not 0-d", "Array object: only 0-d arrays convert to Python scalars")
    reads_value(operation)
    if x.ndim != 0 and x.size != 1:
        raise ArgumentTypeError(operation, f"an array of shape {shape_tuple(x)} is not a scalar", (), "pass an array of size 1")
    return read_scalar(data_of(x), x.code)
