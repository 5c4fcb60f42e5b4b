# Devices of exported memory, and imports by the buffer protocol.

# --- devices: Note [Simulated devices]


def device_number(Array x not None):
    """Number of the device of an array; 0 is the CPU."""
    return x.storage.device


def put_on(Array x not None, int number):
    """Set the device of an array's storage, and thereby of all its views."""
    x.storage.device = number


def may_be_filled(Array x not None):
    """Whether another library may write to all elements: they are contiguous, on the CPU, and not saved by a tape."""
    return x.c_contiguous and x.storage.device == 0 and not x.storage.readonly and not x.storage.logged and not x.storage.batched


cdef Array exportable(Array x):
    """x, or an untracked array on the same memory and on the CPU, for text and pickles."""
    cdef Array y
    if not has_node(x) and x.storage.device == 0:
        return x
    y = without_history(x)
    y.storage.device = 0
    return y


# --- import by the buffer protocol


cdef char kind_of_format(const char* text) noexcept:
    """Letter of the kind of a PEP 3118 format without byte order: b, i, u, f or c; 0 if stride0 has no such kind."""
    cdef bint is_complex = text[0] == c"Z"
    text += is_complex
    if text[0] == 0 or text[1] != 0:
        return 0
    if is_complex:
        return c"c" if strchr("fd", text[0]) else 0
    return c"b" if text[0] == c"?" else c"i" if strchr("bhilqn", text[0]) else c"u" if strchr("BHILQN", text[0]) else c"f" if strchr("fde", text[0]) else 0


cdef int code_of_format(const char* format, Py_ssize_t itemsize) noexcept:
    """Dtype code of a PEP 3118 format; NO_DTYPE if stride0 has no such dtype."""
    cdef const char* text = "B"
    cdef char kind
    cdef int code
    if format is not NULL:
        text = format
    if text[0] != 0 and text[1] != 0 and strchr("@=<>!^", text[0]):
        text += 1
    kind = kind_of_format(text)
    if kind != 0:
        for code in range(N_DTYPES):
            if letter_at(code) == kind and itemsize_at(code) == itemsize and (not is_stored(code) or strcmp(text, format_at(code)) == 0):
                return code
    return NO_DTYPE


cdef bint is_swapped(const char* format) noexcept:
    """Whether the byte order of the elements is not the order of this machine."""
    if format is NULL:
        return False
    return format[0] == c">" or format[0] == c"!"


cdef void set_foreign_storage(Array x, object owner, bint readonly):
    """
    Set the storage of an array on memory of another library.

    It spans all elements of the array; with negative strides they begin before the first element.
    """
    cdef Operand reach
    cdef char* low
    cdef char* high
    read_operand(&reach, x)
    extent(&reach, &low, &high)
    x.storage = foreign_storage(low, high - low, owner, readonly)


cdef Array copy_unaligned(Array x):
    """Copy unaligned elements, which kernels cannot load, by NumPy."""
    import numpy

    cdef Array copied = from_buffer(numpy.array(numpy.asarray(as_bits(x)), order="C", copy=True), "copy")
    copied.code = x.code
    return copied


cdef Array from_buffer(object source, str operation):
    """
    A view on the memory that an object exports by the buffer protocol.

    None if the memory needs a copy: bytes swapped or elements unaligned.
    """
    cdef object view
    cdef Py_buffer* buffer
    cdef Py_ssize_t step
    cdef int code, axis
    cdef Array x
    try:
        view = PyMemoryView_FromObject(source)
    except (ValueError, BufferError, TypeError) as error:
        # NumPy's dtypes without a buffer format: times, variable-width strings.
        raise DTypeError(operation, f"Unsupported dtype: {error}", (), "cast first: source.astype('float64')") from None
    buffer = PyMemoryView_GET_BUFFER(view)
    step = buffer.itemsize
    if buffer.suboffsets is not NULL:
        raise ExchangeError(operation, "the buffer is indirect: its rows are pointers", (), "copy it to one block of memory first")
    code = code_of_format(buffer.format, buffer.itemsize)
    if code < 0:
        text = "?" if buffer.format is NULL else (<bytes>buffer.format).decode("ascii", "replace")
        raise DTypeError(operation, f"Unsupported dtype (buffer format {text!r}, {counted(buffer.itemsize, 'byte')})", (),
                         "cast first, to bool, integers of 8 to 64 bits, float16, float32, float64, complex64 or complex128")
    if is_swapped(buffer.format) and buffer.itemsize > 1:
        return None
    if buffer.ndim > MAX_NDIM:
        raise ShapeError(operation, f"{buffer.ndim} axes are too many", (), f"use at most {MAX_NDIM} axes")
    x = blank(code)
    set_ndim(x, buffer.ndim)
    for axis in range(buffer.ndim - 1, -1, -1):
        x.shape_[axis] = buffer.shape[axis]
        x.strides_[axis] = step if buffer.strides is NULL else buffer.strides[axis]
        step *= buffer.shape[axis]
    set_flags(x)
    x.address = <char*>buffer.buf if buffer.buf is not NULL else <char*>x.small  # without elements
    set_foreign_storage(x, view, buffer.readonly)
    use_own_storage(x, source)
    return x if is_aligned(x) else None


cdef Array from_plain_buffer(object source):
    """`from_buffer`, or None if it raises."""
    if not PyObject_CheckBuffer(source):
        return None
    try:
        return from_buffer(source, "asarray")
    except (DTypeError, ExchangeError, ShapeError):
        return None


cdef int use_own_storage(Array x, object source) except -1:
    """If a stride0 array exported the memory, give x the storage of that array, so that its writes are logged."""
    cdef Storage own
    cdef int depth
    for depth in range(8):
        if type(source) is Array:
            own = (<Array>source).storage
            if own.readonly == x.storage.readonly and own.data <= x.storage.data and x.storage.data + x.storage.nbytes <= own.data + own.nbytes:
                x.storage = own
            return 0
        source = source.obj if type(source) is memoryview else getattr(source, "base", None)
        if source is None:
            return 0
    return 0


cdef bytes c_bytes(Array x):
    """The bytes of the elements in C order."""
    cdef Array c = x if x.c_contiguous else copy_array(x, x.code, True)
    return PyBytes_FromStringAndSize(data_of(c), c.size * itemsize_at(c.code))

