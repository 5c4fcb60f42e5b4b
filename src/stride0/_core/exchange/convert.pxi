# Conversion to arrays, of nested sequences and of all objects that export memory; arrays as text.

def namespace_for(api_version):
    """The namespace, for a version of the standard that it implements."""
    configuration = test_configuration()
    if configuration is not None:
        configuration.check_version(api_version)
    if api_version is not None and api_version not in VERSIONS and api_version != DRAFT:
        raise ArgumentValueError("__array_namespace__", f"there is no version {api_version!r} of the Array API standard here", (),
                                 f"one of {', '.join(VERSIONS)}, or {DRAFT}")
    return sys.modules["stride0"]


cdef DType formatless(object source):
    """The dtype of a NumPy array or scalar, where it is a storage dtype that buffers have no format for."""
    cdef DType found
    if type(source).__module__ == "numpy" or is_numpy_scalar(source):
        found = known_dtype(source.dtype) if hasattr(source, "dtype") else None
        if found is not None and is_stored(found.code) and format_at(found.code)[0] == 0:
            return found
    return None


cdef Array foreign_array(object source, object copy, str operation):
    """An array on the memory of an object of another library, or a copy of it."""
    cdef Array x = None if isinstance(source, bytes) else from_plain_buffer(source)
    # NumPy's scalars export read-only memory, those of times as bytes.
    if x is None or x.storage.readonly and is_numpy_scalar(source):
        return unusual_array(source, copy, operation)
    return copy_array(x, x.code, False) if copy is True else x


cdef Array unusual_array(object source, object copy, str operation):
    """As `foreign_array`, of an object whose buffer, if it has one, says too little or is not for the kernels."""
    cdef Array x = None
    cdef DType stored = formatless(source)
    if isinstance(source, (str, bytes)) or not is_array_like(source):
        raise DTypeError(operation, f"Unsupported type {type(source).__name__}", (),
                         "arrays, Python scalars, nested sequences of them, or objects with the buffer protocol, __dlpack__ or __array__")
    if stored is not None:
        import numpy

        # Its bits have a format.
        x = foreign_array(numpy.asarray(source).view(f"u{stored.itemsize}"), copy, operation)
        x.code = stored.code
        return copy_array(x, x.code, False) if copy is None and is_numpy_scalar(source) else x
    kind = getattr(getattr(source, "dtype", None), "kind", None) if type(source).__module__ == "numpy" else None
    if kind is not None and kind not in "biufc":
        raise DTypeError(operation, f"Unsupported dtype {source.dtype}", (), "the dtypes of the standard")
    if not exports_buffer(source):
        if hasattr(type(source), "__dlpack__"):
            try:
                return import_dlpack(source, None, copy, operation)
            except ExchangeError as error:
                raise DTypeError(operation, error.problem, error.facts, error.accepts) from error
        import numpy

        source = numpy.asarray(source)
    x = from_buffer(source, operation)
    if x is None:
        if copy is False:
            raise ArgumentValueError(operation, "copy=False, but the memory is byte-swapped or unaligned and has to be copied")
        import numpy

        source = numpy.asarray(source)
        return from_buffer(source.astype(source.dtype.newbyteorder("="), copy=True), operation)
    if copy is True or (copy is None and is_numpy_scalar(source)):
        # Of NumPy's scalars the user means a new array.
        x = copy_array(x, x.code, False)
    return x


# --- in: nested sequences


cdef enum:
    RANGE_RUN = 512         # integers of a range that are cast in one step


cdef struct Nesting:
    int ndim                      # -1 before the first element
    int code                      # of the dtype that the elements promote to
    Py_ssize_t count              # of the elements
    Py_ssize_t shape[MAX_NDIM]


cdef bint collect(object item, int outside, int depth, Nesting* found, list leaves) except -1:
    """
    Flatten nested sequences of Python scalars, and check that each level has one length; a range is one leaf.

    False if they contain anything else. `outside` counts the levels around them.
    """
    cdef Py_ssize_t length
    if is_python_scalar(item):
        add_elements(scalar_code(item), 1, outside, depth, found)
        leaves.append(item)
        return True
    if not isinstance(item, (list, tuple, range)):
        return False
    if outside + depth >= MAX_NDIM:
        raise ShapeError("asarray", "the sequences are nested too deeply", (), f"an array has at most {MAX_NDIM} axes")
    length = length_of_range(item) if type(item) is range else len(item)
    if found.shape[depth] < 0:
        found.shape[depth] = length
    elif found.shape[depth] != length:
        refuse_ragged(outside + depth)
    if 0 <= found.ndim <= depth:
        refuse_ragged(outside + depth)
    if type(item) is range:
        if length:
            add_elements(INT64, length, outside, depth + 1, found)
            leaves.append(item)
        return True
    for part in item:
        if not collect(part, outside, depth + 1, found, leaves):
            return False
    return True


cdef int add_elements(int code, Py_ssize_t count, int outside, int depth, Nesting* found) except -1:
    """Add elements of a dtype at a depth; all elements must have the same depth."""
    if found.ndim != depth:
        if found.ndim >= 0:
            refuse_ragged(outside + depth)
        found.ndim = depth
    if code != found.code:
        found.code = code if found.code < 0 else promote_codes(found.code, code)
    if count > PY_SSIZE_T_MAX - found.count:
        raise MemoryError("asarray: the sequences have more elements than any memory")
    found.count += count
    return 0


cdef Py_ssize_t length_of_range(object source) except -1:
    try:
        return len(source)
    except OverflowError:
        raise MemoryError(f"asarray: {source} has more elements than any memory") from None


cdef int write_range(object source, int code, char* to) except -1:
    """Write the integers of a range that is not empty to contiguous elements of a dtype, without creating Python integers."""
    cdef char[LARGEST_ITEM] buffer
    cdef uint64_t[RANGE_RUN] numbers
    cdef char* args[2]
    cdef Py_ssize_t strides[2]
    cdef Py_ssize_t count = len(source), done, size
    cdef uint64_t start, step
    cdef int wide
    least, most = sorted((source[0], source[count - 1]))
    if letter_at(code) == c"i" or letter_at(code) == c"u":
        # Raises an error if one of them does not fit.
        write_scalar(least, code, buffer, "asarray")
        write_scalar(most, code, buffer, "asarray")
    elif least < (0 if most >= 2.0 ** 63 else -2.0 ** 63) or most >= 2.0 ** 64:
        for done, number in enumerate(source):
            write_scalar(number, code, to + done * itemsize_at(code), "asarray")
        return 0
    # Modulo 2**64, which is right for all integers that int64 or uint64 holds.
    start, step = source.start & 0xFFFFFFFFFFFFFFFF, source.step & 0xFFFFFFFFFFFFFFFF
    wide = UINT64 if most >= 2.0 ** 63 else INT64
    if code == wide:
        count_up[uint64_t](<uint64_t*>to, count, start, step)
        return 0
    args[0], strides[0], strides[1] = <char*>numbers, itemsize_at(wide), itemsize_at(code)
    for done in range(0, count, RANGE_RUN):
        size = min(count - done, RANGE_RUN)
        count_up[uint64_t](numbers, size, start + <uint64_t>done * step, step)
        args[1] = to + done * itemsize_at(code)
        run_contiguous(cast_kernel(wide, code), 0, args, strides, size)
    return 0


cdef object refuse_ragged(int depth):
    raise ShapeError("asarray", f"the nested sequences are ragged at depth {depth}", (), "sequences of one length at each depth")


cdef Array from_sequence(object source, int code, int depth):
    """A new array of the elements of nested sequences; of dtype `code`, or of the dtype that they promote to."""
    cdef list leaves = []
    cdef Nesting found
    cdef Array out
    cdef Py_ssize_t itemsize
    cdef char* to
    cdef int ndim = 0, k
    found.ndim, found.code, found.count = -1, NO_DTYPE, 0
    for k in range(MAX_NDIM):
        found.shape[k] = -1
    if not collect(source, depth, 0, &found, leaves):
        return from_parts(source, code, depth)
    if code < 0:
        code = FLOAT64 if found.code < 0 else found.code
    while ndim < MAX_NDIM and found.shape[ndim] >= 0:
        ndim += 1
    out = new_array(code, ndim, found.shape, NULL, False)
    itemsize = itemsize_at(code)
    if found.count != out.size:
        # A subclass of list may yield another number of items than its length; and a level without items has none below it.
        refuse_ragged(depth)
    to = data_of(out)
    for leaf in leaves:
        if type(leaf) is range:
            write_range(leaf, code, to)
            to += len(leaf) * itemsize
        else:
            write_scalar(leaf, code, to, "asarray")
            to += itemsize
    return out


cdef Array from_parts(object source, int code, int depth):
    """A new array of the items of a sequence, each an array or a sequence of one shape."""
    cdef list parts = []
    cdef Array out, part
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int found = NO_DTYPE, ndim
    cdef Py_ssize_t i
    for item in source:
        part = from_sequence(item, code, depth + 1) if isinstance(item, (list, tuple, range)) else asarray(item)
        if parts and not same_shape(part, <Array>parts[0]):
            raise ShapeError("asarray", f"shapes {shape_tuple(<Array>parts[0])} and {shape_tuple(part)} side by side", (), "items of one shape")
        found = part.code if found < 0 else promote_codes(found, part.code)
        parts.append(part)
    if not parts:
        refuse_ragged(depth)
    if any([operand_needs_tape(part) for part in parts]):
        out = traced("stack", (parts,))
        return out if code < 0 else asarray(out, dtype=dtype_at(code))
    ndim = read_shape((len(parts),) + shape_tuple(<Array>parts[0]), sizes, "asarray")
    out = new_array(found if code < 0 else code, ndim, sizes, NULL, False)
    for i in range(len(parts)):
        part = <Array>parts[i]
        assign_array(view_of(out, data_of(out) + i * out.strides_[0], part.ndim, out.shape_ + 1, out.strides_ + 1), part, "asarray")
    return out


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """
    Convert to an array.

    Parameters
    ----------
    obj : Array, Python scalar, nested sequence, or object with the buffer protocol, ``__dlpack__`` or ``__array__``
        What to convert. Nested sequences may hold Python scalars and arrays of one shape.
    dtype : DType, optional
        Dtype of the result; that of `obj` where it has one, else the default dtype of the kind of its
        elements (``bool``, ``int64``, ``float64``, ``complex128``; the highest kind among them).
    device : Device, optional
        The CPU.
    copy : bool, optional
        True always copies, False never does, None copies only where it must: Python scalars and
        sequences, another dtype, byte-swapped or unaligned memory.

    Returns
    -------
    Array
        `obj` itself where it is an Array and nothing is to be done; a view on the memory of `obj` where it
        exports memory; else a new array.

    Raises
    ------
    ArgumentValueError
        If `copy` is False and a copy would be needed.
    DTypeError
        If the elements are of a dtype that stride0 does not have, or no numbers at all.
    CastError
        If complex elements are to become real.
    RangeError
        If a Python integer does not fit the dtype.
    ShapeError
        If nested sequences are ragged.

    References
    ----------
    Array API standard 2025.12, "Creation Functions", ``asarray``.

    Examples
    --------
    >>> xp.asarray([[1, 2.5], [True, 0]])
    Array([[1. , 2.5],
           [1. , 0. ]], dtype=float64)
    >>> xp.asarray([1, 2], dtype=xp.float32)
    Array([1., 2.], dtype=float32)
    >>> a = np.zeros(3)
    >>> x = xp.asarray(a)
    >>> x[0] = 7
    >>> a
    array([7., 0., 0.])
    >>> xp.asarray(a, dtype=xp.float32, copy=False)
    Traceback (most recent call last):
        ...
    stride0.ArgumentValueError: asarray: copy=False, but float64 has to be cast to float32
    """
    cdef int code = NO_DTYPE
    cdef Array x
    if guarding and is_intercepted():
        return intercept("function", "asarray", asarray, (obj,), {"dtype": dtype, "device": device, "copy": copy})
    if device is not None and not is_only_device(device):
        check_device("asarray", device)
    if dtype is not None:
        code = (<DType?>dtype_argument("asarray", dtype)).code
    if copy is not None and not isinstance(copy, bool):
        raise ArgumentTypeError("asarray", f"copy is {copy!r}", (), "True, False or None")
    if type(obj) is Array:
        x = <Array>obj
        if (copy is True or code >= 0 and code != x.code) and needs_tape(x):
            return traced("asarray", (x,), {"dtype": dtype_at(x.code if code < 0 else code), "copy": copy})
        if copy is True:
            return copy_array(x, x.code if code < 0 else code, False)
    elif is_python_scalar(obj):
        if copy is False:
            raise ArgumentValueError("asarray", "copy=False, but a Python scalar has to be copied")
        return scalar_array(obj, scalar_code(obj) if code < 0 else code, "asarray")
    elif isinstance(obj, (list, tuple, range)):
        if copy is False:
            raise ArgumentValueError("asarray", "copy=False, but a sequence has to be copied")
        return from_sequence(obj, code, 0)
    else:
        x = foreign_array(obj, copy, "asarray")
    if code >= 0 and x.code != code:
        if copy is False:
            raise ArgumentValueError("asarray", f"copy=False, but {dtype_at(x.code).name} has to be cast to {dtype_at(code).name}")
        return copy_array(x, code, False)
    return x


cdef bint is_array_like(object obj):
    return exports_buffer(obj) or hasattr(type(obj), "__dlpack__") or hasattr(type(obj), "__array__")


# --- out: text


cdef str text_of(Array x):
    """The elements as NumPy writes them, summarised where they are many; a single one in the fewest digits that identify it."""
    if x.storage.batched:
        return repr_of(x)
    if x.ndim == 0 and format_at(x.code)[0] == 0:
        return shortest(read_scalar(data_of(x), x.code), x.code)
    return elements_of(x, "", "") if x.ndim else str(shown_elements(x)[()])


cdef object shown_elements(Array x):
    """The elements for text, which every test configuration shows, as an array of NumPy."""
    import numpy

    token = suspend_checks()
    try:
        return numpy.asarray(exportable(x))
    finally:
        resume_checks(token)


cdef str shortest(object value, int code):
    """An element of a storage dtype in as few digits as tell it from its neighbours."""
    cdef char[LARGEST_ITEM] buffer
    cdef int digits
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        write_scalar(float(text), code, buffer, "str")
        if read_scalar(buffer, code) == value:
            break
    return str(float(text))


cdef str elements_of(Array x, str prefix, str suffix):
    import numpy

    if x.size == 0 and x.ndim != 1:
        return "[]"
    if format_at(x.code)[0] == 0:
        # NumPy's own dtypes print elements as themselves; others as what they compute in.
        x, code = exportable(x), x.code
        values = shown_elements(copy_array(x, arithmetic_code(code), False))
        return numpy.array2string(values, separator=", ", prefix=prefix, suffix=suffix,
                                  formatter={"float_kind": lambda value: shortest(float(value), code)})
    return numpy.array2string(shown_elements(x), separator=", ", prefix=prefix, suffix=suffix)


cdef str repr_of(Array x):
    """The elements and, laid out as in NumPy, the dtype and other facts: on a new line where the last one is full."""
    import numpy

    if x.storage.batched:
        return f"Array(<batched>, shape={shape_tuple(x)}, dtype={dtype_at(x.code).name})"
    cdef list facts = [f"dtype={dtype_at(x.code).name}"]
    options = numpy.get_printoptions()
    # The text of the elements does not always show the shape.
    if x.size > options["threshold"] or x.size == 0 and x.ndim != 1:
        facts.insert(0, f"shape={shape_tuple(x)}")
    if x.storage.device:
        facts.append(f"device={str(x.device)!r}")
    text = f"Array({elements_of(x, 'Array(', ')')},"
    more = f"{', '.join(facts)})"
    last = len(text) - text.rfind("\n") - 1
    return text + (" " if last + 1 + len(more) <= options["linewidth"] else "\n" + " " * len("Array(")) + more


cdef str formatted(Array x, str spec):
    if not spec:
        return text_of(x)
    if x.ndim:
        raise TypeError(f"format: an array of shape {shape_tuple(x)} takes no format, got {spec!r}")
    refuse_batched(x, "format")
    return format(read_scalar(data_of(x), x.code), spec)


# --- dtypes under other names


def dtype_argument(str operation, value):
    """
    A ``dtype=`` argument as a dtype: one of the namespace, or what NumPy's users write for it; DTypeError for any other.

    ``bool``, ``int``, ``float`` and ``complex`` stand for bool, int64, float64 and complex128; a string is the
    standard's name of a dtype, or one that NumPy knows, such as "f4" and "<i8".
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


# --- Python's numbers


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
    """The element of an array without axes as a Python scalar."""
    if letter_at(x.code) == c"f":
        return float(x)
    if letter_at(x.code) == c"c":
        return complex(x)
    return single(x, "bool" if letter_at(x.code) == c"b" else "int")


cdef object nested_lists(Array x):
    """
    The elements of an array as Python scalars, in lists nested as deep as there are axes.

    A tracked or batched array refuses, since its gradient would be lost.
    """
    if x.ndim == 0:
        return to_scalar(x)
    if x.storage.batched or has_node(x):
        refuse_tracked(x, "tolist")
    return nested(data_of(x), x.code, x.ndim, x.shape_, x.strides_)


# --- the builtin function round


cdef object rounded(Array x, ndigits):
    """An array where a number of digits is given, else a Python integer, as for Python's and NumPy's numbers."""
    beyond_standard("round", "the builtin function is called with an array", "Array object: arrays have no method __round__")
    if ndigits is not None:
        return x.round(ndigits)
    value = single(x, "round")
    if isinstance(value, complex):
        raise DTypeError("round", "a complex array has no integer value", (), "a real-valued or boolean array, or a number of digits")
    return value.__round__()


cdef Array convert(object value, int code):
    """An array of anything; of a sequence, with the dtype `code` where that is not negative."""
    return from_sequence(value, code, 0) if isinstance(value, (list, tuple, range)) else asarray(value)


# --- methods of arrays


@add_special
def to_device(Array self not None, device, /, *, stream=None):
    """
    The array on a device: the array itself if it is there, else a copy.

    Parameters
    ----------
    device : Device
        Where to: the CPU, or a simulated device of a test configuration.
    stream : None
        No device here has streams.

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
        raise DeviceError("to_device", f"stream is {stream!r}", (), "None: the CPU has no streams")
    if number == self.storage.device:
        return self
    # With the device, so that a test configuration checks the dtype.
    out = asarray(self, copy=True, device=device)
    out.storage.device = number
    return out


@add_special
def __array_namespace__(Array self not None, /, *, api_version=None):
    """The namespace that the array belongs to: the module `stride0`."""
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
    beyond_standard("bytes", "bytes are made of an array", "Array object: arrays have no method __bytes__")
    if not guarding and not self.storage.logged:
        return c_bytes(self)
    return memoryview(as_bits(self)).tobytes()


@add_special
def __array__(Array self not None, dtype=None, copy=None):
    # NumPy requests the buffer first and calls this where that failed: this raises the error that says why.
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
hooks.repr = repr_of
hooks.text = text_of
