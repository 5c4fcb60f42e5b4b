# What users of NumPy, PyTorch and JAX expect of arrays beyond the standard. Included in `array.pyx`.

# --- dtypes under other names


def dtype_argument(str operation, value):
    """
    A ``dtype=`` argument as a dtype: one of the thirteen, or what NumPy's users write for it.

    Parameters
    ----------
    operation : str
        Named in the error.
    value : DType, type, str or numpy.dtype
        ``bool``, ``int``, ``float`` and ``complex`` stand for bool, int64, float64 and complex128; a string is
        the standard's name of a dtype, or one that NumPy knows, such as "f4" and "<i8".

    Raises
    ------
    DTypeError
        If `value` stands for no dtype of the standard.
    """
    cdef DType found
    if type(value) is DType:
        return value
    found = known_dtype(value)
    check_standard(operation, "a dtype that is no object of the namespace", "Data types: dtypes are objects of the namespace")
    if found is None:
        raise DTypeError(operation, f"Unsupported dtype {shown(value)}",
                         (), f"The dtypes are {', '.join([dtype_at(code).name for code in range(N_DTYPES)])}, as attributes of stride0.")
    return found


# --- the builtin function round


cdef object rounded(Array x, ndigits):
    """An array where a number of digits is given, a Python integer where none is, as of Python's and NumPy's numbers."""
    beyond_standard("round", "the builtin function is called with an array", "Array object: arrays have no method __round__")
    if ndigits is not None:
        return x.round(ndigits)
    value = single(x, "round")
    if isinstance(value, complex):
        raise DTypeError("round", "a complex array has no integer value", (), "a real-valued or boolean array, or a number of digits")
    return value.__round__()


# --- the same memory under another dtype


def reinterpret(Array x not None, DType dtype not None):
    """
    The memory of x as elements of another dtype, as ``x.view(dtype)`` gives it: a view.

    Elements of another size change the size of the last axis, along which x has to be contiguous then.

    Raises
    ------
    ShapeError
        If the last axis is not contiguous, or its bytes make no whole number of elements.
    DTypeError
        If bytes of another dtype are to be bool: only 0 and 1 are.
    """
    if dtype.code != x.code and dtype.code == BOOL:
        raise DTypeError("view", f"bytes of {dtype_at(x.code).name} are not bool", (), "x != 0, or astype(x, bool), which cast")
    if is_followed(x):
        if not has_components_of(x.code, dtype.code):
            refuse_watched(x, "view")
        return traced("view", (x, dtype))
    return alias(x) if dtype.code == x.code else retyped(x, dtype.code, "view")


cdef bint has_components_of(int code, int other):
    """Whether elements of two dtypes are made of the same floating-point numbers: float64 and complex128, for one."""
    if letter_at(code) not in b"fc" or letter_at(other) not in b"fc":
        return code == other
    return itemsize_at(code) >> (letter_at(code) == c"c") == itemsize_at(other) >> (letter_at(other) == c"c")


cdef Array retyped(Array x, int code, str operation):
    """The memory of x as elements of another dtype."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t old = itemsize_at(x.code), new = itemsize_at(code), nbytes
    cdef int last = x.ndim - 1
    cdef Array y
    memcpy(sizes, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(steps, x.strides_, x.ndim * sizeof(Py_ssize_t))
    if old != new:
        if x.ndim == 0:
            raise ShapeError(operation, f"an array without axes cannot change the size of its element from {old} to {counted(new, 'byte')}")
        if sizes[last] != 1 and steps[last] != old and x.size:
            raise ShapeError(operation, "the last axis is not contiguous", (("shape", f"{shape_tuple(x)}"), ("strides", f"{strides(x)}")),
                             "asarray(x, copy=True) makes it so")
        nbytes = sizes[last] * old
        if nbytes % new:
            raise ShapeError(operation, f"{counted(nbytes, 'byte')} along the last axis cannot be elements of {counted(new, 'byte')}",
                             (("shape", f"{shape_tuple(x)}"), ("dtype", dtype_at(code).name)))
        sizes[last] = nbytes // new
        steps[last] = new
    y = view_of(x, x.data, x.ndim, sizes, steps)
    y.code = code
    set_flags(y)
    if not is_aligned(y):
        raise ShapeError(operation, f"elements of {dtype_at(code).name} would not be aligned", (("strides in bytes", f"{tuple([steps[axis] for axis in range(x.ndim)])}"),),
                         "asarray(x, copy=True) aligns them")
    return y


# --- pickling
#
# Note [Pickling]
#     An array is pickled as the memory of its elements, each stored once: an axis that is stretched counts as
#     one of size 1. Protocol 5 hands that memory over as it is, in whatever order of axes it is contiguous, so
#     that out-of-band buffers are neither copied here nor where they are unpickled.

cdef extern from "Python.h":
    object PyPickleBuffer_FromObject(object lender)


cdef tuple order_in_memory(Array x):
    """The axes of x from the largest step to the smallest."""
    return tuple(sorted(range(x.ndim), key=lambda axis: -abs_step(x.strides_[axis])))


cdef inline Py_ssize_t abs_step(Py_ssize_t step) noexcept:
    return -step if step < 0 else step


cdef tuple packed(Array x):
    """A contiguous array of the elements of x, each once, and the steps in elements that make x of it again."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Array base = unstretched(x, tuple(range(x.ndim))), turned
    cdef int place, axis
    cdef tuple order = order_in_memory(base)
    cdef list out
    for place, axis in enumerate(order):
        sizes[place] = base.shape_[axis]
        steps[place] = base.strides_[axis]
    turned = view_of(base, base.data, base.ndim, sizes, steps)
    if not turned.c_contiguous:
        turned = copy_array(turned, turned.code, True)
    if order == tuple(range(x.ndim)) and base.size == x.size:
        return turned, None
    out = [0] * x.ndim
    for place, axis in enumerate(order):
        # An axis that was stretched stands still; one of size 1 moves nowhere.
        out[axis] = turned.strides_[place] // itemsize_at(x.code) if base.shape_[axis] > 1 else 0
    return turned, tuple(out)


cdef object reduced(Array x, int protocol):
    """What `__reduce_ex__` answers; Note [Pickling]."""
    refuse_watched(x, "pickle")
    # The array goes with its device: whoever unpickles it where there is none of that name is told so.
    cdef tuple more = (x.device,) if x.storage.device else ()
    block, steps = packed(seen_by_others(x))
    if protocol < 5:
        return _rebuild, (shape_tuple(x), dtype_at(x.code), steps, c_bytes(block), True, *more)
    # The pickler is no other library: a test bench of read-only arrays lends it memory that stays writable, by a
    # memoryview, since picklers may ask the lender again.
    token = PASSED.set(True)
    try:
        lent = PyPickleBuffer_FromObject(memoryview(block))
    finally:
        PASSED.reset(token)
    return _rebuild, (shape_tuple(x), dtype_at(x.code), steps, lent, *((False, *more) if more else ()))


def _rebuild(tuple shape not None, DType dtype not None, steps, data, bint copy=False, device=None):
    """
    An array on a block of memory that was pickled.

    Parameters
    ----------
    shape : tuple of int
        Of the array.
    dtype : DType
        Of its elements.
    steps : tuple of int, optional
        Step of each axis in elements, 0 or more; None for C order.
    data : bytes-like
        The block, which the array is a view of.
    copy : bool
        Of a copy of the block instead, which can be written to where `data` cannot.
    device : Device, optional
        Of a test bench, where the array is to be.
    """
    cdef Array x = rebuilt(shape, dtype, steps, data, copy)
    if device is not None:
        x.storage.device = check_device("unpickle", device).number
    return x


cdef Array rebuilt(tuple shape, DType dtype, steps, data, bint copy):
    cdef Array block
    lent = memoryview(data)
    if steps is None:
        steps = tuple([math.prod(shape[axis + 1:]) for axis in range(len(shape))])
    elif len(steps) != len(shape) or any(type(step) is not int or step < 0 for step in steps):
        raise ArgumentValueError("unpickle", f"steps {shown(steps)} for the shape {shown(shape)}")
    reach = 0 if 0 in shape else 1 + sum([(size - 1) * step for size, step in zip(shape, steps)])
    if lent.nbytes % dtype.itemsize or reach * dtype.itemsize > lent.nbytes:
        raise ArgumentValueError("unpickle", f"{counted(lent.nbytes, 'byte')} for the shape {shown(shape)}")
    if lent.nbytes == 0:
        return empty(shape, dtype)
    block = from_buffer(lent.cast("B"), "unpickle")
    if copy or <uintptr_t>block.data % dtype.itemsize:
        block = copy_array(block, UINT8, True)
    return restride(retyped(block, dtype.code, "unpickle"), shape, steps)


cdef Py_ssize_t size_in_memory(Array x):
    """Bytes of the object and, where it is the array that the memory was made for or the only one left on it, of the memory."""
    cdef Py_ssize_t own = Array.__basicsize__ if x.shape_ is x.small else Array.__basicsize__ + 2 * x.ndim * sizeof(Py_ssize_t)
    if x.storage.owner is None and (not x.is_view or s0_references(<PyObject*>x.storage) == 1):
        own += x.storage.nbytes
    return own
