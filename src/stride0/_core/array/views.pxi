# Views of an array, and the functions that `stride0.strided` makes public.

def restride(Array x not None, tuple shape, tuple strides, Py_ssize_t offset=0):
    """
    A view on the storage of x with any shape and strides, in elements.

    Not bounds-checked: the caller guarantees that no index leaves the storage. `strided.as_strided` is
    the public form that checks.
    """
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t itemsize = itemsize_at(x.code)
    cdef int axis, ndim = read_shape(shape, sizes, "restride")
    if len(strides) != ndim:
        raise ShapeError("restride", f"{counted(ndim, 'size')} and {counted(len(strides), 'stride')}", (), "pass one stride per axis")
    for axis in range(ndim):
        byte_strides[axis] = strides[axis] * itemsize
    guard_gradient(x, "restride")
    return view_of(x, data_of(x) + offset * itemsize, ndim, sizes, byte_strides)


def strides(Array x not None):
    """Stride of each axis in elements."""
    refuse_batched(x, "strides")
    cdef int axis
    cdef Py_ssize_t itemsize = itemsize_at(x.code)
    return tuple([x.strides_[axis] // itemsize for axis in range(x.ndim)])


cdef bint is_broadcast_along(const Operand* operand, int axis, int ndim) noexcept:
    """Whether an axis of the common shape is a broadcast axis of an operand: it has stride 0, size 1, or is missing."""
    cdef int own = axis - (ndim - operand.ndim)
    return own < 0 or operand.shape[own] == 1 or operand.strides[own] == 0


def without_broadcast_axes(Array x not None, tuple axes):
    """A view of x with size 1 along the broadcast axes among `axes`: it has the same mean and extremes."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Operand view
    cdef int axis
    read_operand(&view, x)
    guard_gradient(x, "without_broadcast_axes")
    memcpy(sizes, x.shape_, x.ndim * sizeof(Py_ssize_t))
    for axis in axes:
        if sizes[axis] > 1 and is_broadcast_along(&view, axis, x.ndim):
            sizes[axis] = 1
    return view_of(x, data_of(x), x.ndim, sizes, x.strides_)


cdef Array without_axes(Array x, tuple axes):
    """x without `axes`, whose sizes are 1."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axis, ndim = 0
    if not axes:
        return x
    for axis in range(x.ndim):
        if axis not in axes:
            shape[ndim] = x.shape_[axis]
            byte_strides[ndim] = x.strides_[axis]
            ndim += 1
    return view_of(x, data_of(x), ndim, shape, byte_strides)


cdef bint is_f_contiguous(Array x) noexcept:
    cdef int axis
    cdef Py_ssize_t stride = itemsize_at(x.code)
    for axis in range(x.ndim):
        if x.shape_[axis] != 1 and x.strides_[axis] != stride:
            return x.size == 0
        stride *= x.shape_[axis]
    return True


cdef bint is_aligned(Array x) except -1:
    """Whether kernels may load every element: addresses are aligned, strides are multiples of the item size."""
    cdef Py_ssize_t itemsize = itemsize_at(x.code)
    cdef Py_ssize_t unit = itemsize // 2 if letter_at(x.code) == c"c" else itemsize
    cdef int axis
    if x.size == 0:
        return True
    if <uintptr_t>data_of(x) % unit:
        return False
    for axis in range(x.ndim):
        if x.shape_[axis] > 1 and x.strides_[axis] % itemsize:
            return False
    return True


def offset(Array x not None):
    """Offset of the first element in its storage, in elements."""
    refuse_batched(x, "offset")
    if is_deferred(x):
        return 0    # deferred: it is the whole storage
    return (data_of(x) - x.storage.data) // itemsize_at(x.code)


def is_c_contiguous(Array x not None):
    """Whether the elements are one contiguous run in C order."""
    refuse_batched(x, "is_contiguous")
    return x.c_contiguous


def shares_storage(Array x not None, Array y not None):
    """Whether two arrays are views of one storage, or of storages that overlap in memory."""
    cdef Storage a = x.storage, b = y.storage
    refuse_batched(x, "shares_storage")
    refuse_batched(y, "shares_storage")
    data_of(x)
    data_of(y)
    return a is b or (a.data < b.data + b.nbytes and b.data < a.data + a.nbytes)


def storage_nbytes(Array x not None):
    """Size of the storage in bytes."""
    refuse_batched(x, "storage_nbytes")
    return x.storage.nbytes


def is_writable(Array x not None):
    """Whether elements may be assigned: neither read-only nor broadcast."""
    return may_be_written(x)


cdef bint may_be_written(Array x) except -1:
    """See `is_writable`."""
    cdef Operand view
    refuse_batched(x, "is_writable")
    read_operand(&view, x)
    return not (x.storage.readonly or (not x.c_contiguous and shares_location(&view)))


def storage_bounds(Array x not None):
    """First and last offset, in elements relative to the first element, that the storage holds; empty if first > last."""
    cdef Py_ssize_t itemsize = itemsize_at(x.code)
    # Rounded down, so that a partial element at the front is outside.
    first = -((data_of(x) - x.storage.data) // itemsize)
    last = (x.storage.data + x.storage.nbytes - data_of(x)) // itemsize - 1
    return first, last


cdef void c_strides_of(Py_ssize_t stride, int ndim, const Py_ssize_t* shape, Py_ssize_t* out) noexcept:
    """Strides in C order, given the stride of the last axis; a size of 0 counts as 1."""
    cdef int axis
    for axis in range(ndim - 1, -1, -1):
        out[axis] = stride
        if shape[axis] > 1:
            stride *= shape[axis]


cdef bint strides_for_shape(Array x, int ndim, const Py_ssize_t* shape, Py_ssize_t* out) noexcept:
    """
    Find strides to view x in another shape of equal size; False if a copy is needed.

    Axes of size 1 never move the pointer and are dropped first. Adjacent axes with one common stride are merged. Then the
    merged axes are split into the new axes, from the last on; a new axis must not span two merged axes.
    """
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t left, stride = itemsize_at(x.code)
    cdef int axis, merged = 0, k = ndim - 1
    if x.c_contiguous or x.size == 0:
        c_strides_of(stride, ndim, shape, out)
        return True
    for axis in range(x.ndim):
        if x.shape_[axis] == 1:
            continue
        if merged and byte_strides[merged - 1] == x.shape_[axis] * x.strides_[axis]:
            sizes[merged - 1] *= x.shape_[axis]
            byte_strides[merged - 1] = x.strides_[axis]
        else:
            sizes[merged], byte_strides[merged] = x.shape_[axis], x.strides_[axis]
            merged += 1
    while merged:
        merged -= 1
        left, stride = sizes[merged], byte_strides[merged]
        while left > 1:
            if left % shape[k]:
                return False
            out[k] = stride
            stride *= shape[k]
            left //= shape[k]
            k -= 1
    for axis in range(k, -1, -1):
        out[axis] = stride
    return True


cdef Array without_leading(Array x, int count):
    return x if count == 0 else view_of(x, data_of(x), x.ndim - count, x.shape_ + count, x.strides_ + count)


# --- the same memory with another dtype


cpdef Array reinterpret(Array x, DType dtype):
    """
    A view of the memory of x as elements of another dtype, like NumPy's ``x.view(dtype)``.

    If the item size changes, so does the size of the last axis, which must be contiguous.

    Raises
    ------
    ShapeError
        If the last axis is not contiguous, or its bytes are not a whole number of elements.
    DTypeError
        If `dtype` is bool and x is not: only the bytes 0 and 1 are valid.
    """
    if dtype.code != x.code and dtype.code == BOOL:
        raise DTypeError("view", f"{dtype_at(x.code).name} elements cannot be viewed as bool", (), "write x != 0, or astype(x, bool)")
    if needs_tape(x):
        if not has_components_of(x.code, dtype.code):
            if x.storage.batched:
                guard_gradient(x, "view")
            else:
                refuse_tracked(x, "view")
        return traced("view", (x, dtype))
    return alias(x) if dtype.code == x.code else retyped(x, dtype.code, "view")


cdef bint has_components_of(int code, int other):
    """Whether elements of two dtypes consist of the same floating-point numbers, as float64 and complex128 do."""
    if letter_at(code) not in b"fc" or letter_at(other) not in b"fc" or is_stored(code) or is_stored(other):
        return code == other
    return itemsize_at(code) >> (letter_at(code) == c"c") == itemsize_at(other) >> (letter_at(other) == c"c")


cdef Array as_bits(Array x):
    """The memory of an array of a storage dtype as unsigned integers; other arrays unchanged."""
    cdef Array y = x
    if is_stored(x.code):
        y = view_of(x, data_of(x), x.ndim, x.shape_, x.strides_)
        y.code = UINT8 if itemsize_at(x.code) == 1 else UINT16
    return y


cdef Array retyped(Array x, int code, str operation):
    """The memory of x as elements of another dtype (see `reinterpret`)."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t old = itemsize_at(x.code), new = itemsize_at(code), nbytes
    cdef int last = x.ndim - 1
    cdef Array y
    memcpy(sizes, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(byte_strides, x.strides_, x.ndim * sizeof(Py_ssize_t))
    if old != new:
        if x.ndim == 0:
            raise ShapeError(operation, f"a 0-d array cannot change its element size from {old} to {counted(new, 'byte')}", (), "insert an axis: x[None]")
        if sizes[last] != 1 and byte_strides[last] != old and x.size:
            raise ShapeError(operation, "the last axis is not contiguous", (("shape", f"{shape_tuple(x)}"), ("strides", f"{strides(x)}")),
                             "copy first: asarray(x, copy=True)")
        nbytes = sizes[last] * old
        if nbytes % new:
            raise ShapeError(operation, f"{counted(nbytes, 'byte')} along the last axis cannot be elements of {counted(new, 'byte')}",
                             (("shape", f"{shape_tuple(x)}"), ("dtype", dtype_at(code).name)), f"pass a dtype whose size divides {nbytes}")
        sizes[last] = nbytes // new
        byte_strides[last] = new
    y = view_of(x, data_of(x), x.ndim, sizes, byte_strides)
    y.code = code
    set_flags(y)
    if not is_aligned(y):
        raise ShapeError(operation, f"elements of {dtype_at(code).name} would not be aligned", (("strides in bytes", f"{tuple([byte_strides[axis] for axis in range(x.ndim)])}"),),
                         "copy first: asarray(x, copy=True)")
    return y
