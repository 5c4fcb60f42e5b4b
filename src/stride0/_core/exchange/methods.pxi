# Methods of arrays for Python's protocols and other libraries.

cdef list nested(const char* data, int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    cdef Py_ssize_t k
    cdef list out = PyList_New(shape[0])
    cdef object item
    if ndim == 1 and letter_at(code) == c"f" and itemsize_at(code) >= 4:
        for k in range(shape[0]):
            item = (<const double*>data)[0] if code == FLOAT64 else <double>(<const float*>data)[0]
            Py_INCREF(item)
            PyList_SET_ITEM(out, k, item)
            data += strides[0]
        return out
    if ndim == 1 and code == INT64:
        for k in range(shape[0]):
            item = (<const int64_t*>data)[0]
            Py_INCREF(item)
            PyList_SET_ITEM(out, k, item)
            data += strides[0]
        return out
    for k in range(shape[0]):
        item = nested(data, code, ndim - 1, shape + 1, strides + 1) if ndim > 1 else read_scalar(data, code)
        Py_INCREF(item)
        PyList_SET_ITEM(out, k, item)
        data += strides[0]
    return out


def to_scalar(Array x not None):
    """The element of a 0-d array as a Python scalar."""
    if letter_at(x.code) == c"f":
        return float(x)
    if letter_at(x.code) == c"c":
        return complex(x)
    return single(x, "bool" if letter_at(x.code) == c"b" else "int")


cdef object nested_lists(Array x):
    """
    The elements of an array as Python scalars, in lists nested as deep as there are axes.

    Refuses a tracked or batched array, because its gradient would be lost.
    """
    if x.ndim == 0:
        return to_scalar(x)
    if x.storage.batched or has_node(x):
        refuse_tracked(x, "tolist")
    return nested(data_of(x), x.code, x.ndim, x.shape_, x.strides_)


# --- the builtin function round


cdef object rounded(Array x, ndigits):
    """An array if `ndigits` is given, otherwise a Python integer, as for Python's and NumPy's numbers."""
    beyond_standard("round", "the builtin function is called with an array", "Array object: arrays have no method __round__")
    if ndigits is not None:
        return x.round(ndigits)
    value = single(x, "round")
    if isinstance(value, complex):
        raise DTypeError("round", "a complex array has no integer value", (), "pass the number of digits, or take real(x) first")
    return value.__round__()


cdef Array convert(object value, int code):
    """Convert any object to an array; a sequence to the dtype `code`, if that is not negative."""
    return from_sequence(value, code, 0) if isinstance(value, (list, tuple, range)) else asarray(value)


# --- methods of arrays


@add_special
def to_device(Array self not None, device, /, *, stream=None):
    """
    Return the array on a device: the array itself if it is there, otherwise a copy.

    Parameters
    ----------
    device : Device
        The CPU, or a simulated device of a test configuration.
    stream : None
        No device has streams.

    Raises
    ------
    DeviceError
        If there is no such device, or a stream is given.
    """
    cdef Array out
    if isinstance(device, str):
        beyond_standard("to_device", "device is a string", BY_NAME)
    elif device is None:
        beyond_standard("to_device", "device is None", BY_NAME)
    cdef int number = 0 if is_only_device(device) else check_device("to_device", device).number
    if stream is not None:
        raise DeviceError("to_device", f"stream is {stream!r}", (), "pass stream=None: the CPU has no streams")
    if number == self.storage.device:
        return self
    # With the device, so that a test configuration checks the dtype.
    out = asarray(self, copy=True, device=device)
    out.storage.device = number
    return out


@add_special
def __array_namespace__(Array self not None, /, *, api_version=None):
    """Return the namespace of the array: the module `stride0`."""
    return namespace_for(api_version)


@add_special
def __format__(Array self not None, spec):
    if spec:
        beyond_standard("format", "an array is formatted by a specification", "Array object: arrays have no method __format__")
        reads_value("format")
    return formatted(self, spec)


@add_special
def __round__(Array self not None, ndigits=None):
    return rounded(self, ndigits)


@add_special
def __bytes__(Array self not None):
    beyond_standard("bytes", "an array is converted to bytes", "Array object: arrays have no method __bytes__")
    if not guarding and not self.storage.logged:
        return c_bytes(self)
    return memoryview(as_bits(self)).tobytes()


@add_special
def __array__(Array self not None, dtype=None, copy=None):
    # NumPy requests the buffer first and calls this if that fails. This raises the error with the reason.
    refuse_tracked(self, "__array__")
    refuse_device(self, "__array__")
    reads_memory("__array__")
    import numpy

    cdef Array x = self
    if dtype is not None and is_stored(x.code) and known_dtype(dtype) is not None:
        x = copy_array(x, known_dtype(dtype).code, False)
    found = numpy.asarray(memoryview(as_bits(x)))
    if is_stored(x.code):
        found = found.view(numpy_dtype(dtype_at(x.code)))
    found = numpy.asarray(found, dtype=dtype)
    return found.copy() if copy else found


@add_special
def __copy__(Array self not None):
    return asarray(self, copy=True)


@add_special
def __deepcopy__(Array self not None, memo):
    return asarray(self, copy=True)


hooks.convert = convert
hooks.text = as_text
