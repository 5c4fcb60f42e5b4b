# To and from everything else: foreign memory, nested sequences, text. Included in `array.pyx`.

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromObject, PyMemoryView_GET_BUFFER

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def namespace_for(api_version):
    """The namespace, for a version of the standard that it implements."""
    if TESTBENCH.used and TESTBENCH.value() is not None:
        TESTBENCH.value().check_version(api_version)
    if api_version is not None and api_version not in VERSIONS:
        raise ArgumentValueError("__array_namespace__", f"there is no version {api_version!r} of the Array API standard here", (),
                                 f"one of {', '.join(VERSIONS)}")
    return sys.modules["stride0"]


# --- out: the buffer protocol


cdef int export_buffer(Array x, Py_buffer* buffer, int flags) except -1:
    """
    Lend the memory of x, as it is.

    Stretched memory is lent read-only: whoever wrote to it would write to several elements at once.
    """
    cdef Operand view = operand_of(x)
    cdef bint readonly = x.storage.readonly or (not x.c_contiguous and shares_location(&view))
    buffer.obj = None
    refuse_export(x, "buffer")
    if is_elsewhere(x):
        raise ExchangeError("buffer", f"the array is on the device {str(x.device)!r}", (), "to_device, which moves it to the CPU")
    readonly = readonly or lends_read_only()
    if flags & PyBUF_WRITABLE and readonly:
        raise BufferError("buffer: the memory of the array is read-only or stretched")
    if not x.c_contiguous and (flags & PyBUF_STRIDES != PyBUF_STRIDES or flags & PyBUF_C_CONTIGUOUS == PyBUF_C_CONTIGUOUS):
        raise BufferError("buffer: the array is not contiguous in C order")
    if flags & PyBUF_ANY_CONTIGUOUS == PyBUF_ANY_CONTIGUOUS and not x.c_contiguous and not is_f_contiguous(x):
        raise BufferError("buffer: the array is contiguous in no order")
    if flags & PyBUF_F_CONTIGUOUS == PyBUF_F_CONTIGUOUS and x.ndim > 1 and not is_f_contiguous(x):
        raise BufferError("buffer: the array is not contiguous in Fortran order")
    buffer.buf = x.data
    buffer.len = x.size * itemsize_at(x.code)
    buffer.itemsize = itemsize_at(x.code)
    buffer.readonly = readonly
    buffer.ndim = x.ndim
    buffer.format = <char*>format_at(x.code) if flags & PyBUF_FORMAT == PyBUF_FORMAT else NULL
    buffer.shape = x.shape_ if flags & PyBUF_ND == PyBUF_ND else NULL
    buffer.strides = x.strides_ if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
    buffer.suboffsets = NULL
    buffer.internal = NULL
    buffer.obj = x
    return 0


cdef bint is_f_contiguous(Array x) noexcept:
    cdef int axis
    cdef Py_ssize_t step = itemsize_at(x.code)
    for axis in range(x.ndim):
        if x.shape_[axis] != 1 and x.strides_[axis] != step:
            return x.size == 0
        step *= x.shape_[axis]
    return True


# --- in: the buffer protocol


cdef int code_of_format(const char* format, Py_ssize_t itemsize) except -2:
    """Dtype code of a PEP 3118 format; NO_DTYPE where it is none of ours, -1 included."""
    cdef bytes text = b"B" if format is NULL else format
    cdef bytes letters
    if text[:1] in b"@=<>!^" and len(text) > 1:
        text = text[1:]
    if text == b"?":
        return BOOL
    if text in (b"b", b"h", b"i", b"l", b"q", b"n"):
        letters = b"i"
    elif text in (b"B", b"H", b"I", b"L", b"Q", b"N"):
        letters = b"u"
    elif text in (b"f", b"d"):
        letters = b"f"
    elif text in (b"Zf", b"Zd"):
        letters = b"c"
    else:
        return NO_DTYPE
    for code in range(N_DTYPES):
        if letter_at(code) == letters[0] and itemsize_at(code) == itemsize:
            return code
    return NO_DTYPE


cdef bint is_swapped(const char* format) noexcept:
    """Whether the bytes of an element are in the order that is not this machine's."""
    if format is NULL:
        return False
    return format[0] == c">" or format[0] == c"!"


cdef bint is_aligned(Array x) noexcept:
    """Whether every element lies where the kernels may load it, a whole number of elements from the first."""
    cdef Py_ssize_t itemsize = itemsize_at(x.code)
    cdef Py_ssize_t unit = itemsize // 2 if letter_at(x.code) == c"c" else itemsize
    cdef int axis
    if x.size == 0:
        return True
    if <uintptr_t>x.data % unit:
        return False
    for axis in range(x.ndim):
        if x.shape_[axis] > 1 and x.strides_[axis] % itemsize:
            return False
    return True


cdef void lend(Array x, object owner, bint readonly):
    """
    Give an array on foreign memory its storage.

    It spans all that the array reaches, which for negative steps begins before the first element.
    """
    cdef Operand reach = operand_of(x)
    cdef char* low
    cdef char* high
    extent(&reach, &low, &high)
    x.storage = foreign_storage(low, high - low, owner, readonly)


cdef Array copy_unaligned(Array x):
    """A copy of elements that the kernels may not load: byte by byte, through NumPy."""
    import numpy

    return from_buffer(numpy.array(numpy.asarray(x), order="C", copy=True), "copy")


cdef Array from_buffer(object source, str operation):
    """
    A view on the memory that an object lends by the buffer protocol.

    None where the kernels cannot use that memory (bytes swapped, elements unaligned) but a copy could.
    """
    cdef object view
    try:
        view = PyMemoryView_FromObject(source)
    except (ValueError, BufferError, TypeError) as error:
        # NumPy's dtypes without a buffer format: times, variable-width strings.
        raise DTypeError(operation, f"Unsupported dtype: {error}", (), "the dtypes of the standard") from None
    cdef Py_buffer* buffer = PyMemoryView_GET_BUFFER(view)
    if buffer.suboffsets is not NULL:
        raise ExchangeError(operation, "the buffer is indirect: its rows are pointers", (), "a buffer of one block of memory")
    cdef int code = code_of_format(buffer.format, buffer.itemsize), axis
    cdef Py_ssize_t step = buffer.itemsize
    cdef Array x
    if code < 0:
        text = "?" if buffer.format is NULL else (<bytes>buffer.format).decode("ascii", "replace")
        raise DTypeError(operation, f"Unsupported dtype (buffer format {text!r}, {counted(buffer.itemsize, 'byte')})", (),
                         "bool, integers of 8 to 64 bits, float32, float64, complex64 and complex128")
    if is_swapped(buffer.format) and buffer.itemsize > 1:
        return None
    if buffer.ndim > MAX_NDIM:
        raise ShapeError(operation, f"{buffer.ndim} axes are too many", (), f"an array has at most {MAX_NDIM} axes")
    x = blank(code)
    set_ndim(x, buffer.ndim)
    for axis in range(buffer.ndim - 1, -1, -1):
        x.shape_[axis] = buffer.shape[axis]
        x.strides_[axis] = step if buffer.strides is NULL else buffer.strides[axis]
        step *= buffer.shape[axis]
    set_flags(x)
    x.data = <char*>buffer.buf
    lend(x, view, buffer.readonly)
    come_home(x, source)
    return x if is_aligned(x) else None


cdef int come_home(Array x, object source) except -1:
    """Give x the storage that its memory came from, if that was one of ours: writes are then seen by all its arrays."""
    cdef Storage home
    cdef int step
    for step in range(8):
        if type(source) is Array:
            home = (<Array>source).storage
            if home.readonly == x.storage.readonly and home.data <= x.storage.data and x.storage.data + x.storage.nbytes <= home.data + home.nbytes:
                x.storage = home
            return 0
        source = source.obj if type(source) is memoryview else getattr(source, "base", None)
        if source is None:
            return 0
    return 0


cdef Array foreign_array(object source, object copy, str operation):
    """An array on the memory of an object of another library, or a copy of it."""
    cdef Array x = None
    kind = getattr(getattr(source, "dtype", None), "kind", None) if type(source).__module__ == "numpy" else None
    if kind is not None and kind not in "biufc":
        raise DTypeError(operation, f"Unsupported dtype {source.dtype}", (), "the dtypes of the standard")
    if not lends_buffer(source):
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
        # NumPy's scalars lend read-only memory; an array of one's own is what was meant.
        x = copy_array(x, x.code, False)
    return x


cdef bint lends_buffer(object source):
    """Whether an object speaks the buffer protocol."""
    try:
        memoryview(source)
    except (TypeError, BufferError, ValueError):
        return type(source).__module__ == "numpy"
    return True


# --- in: nested sequences


cdef bint collect(object item, int outside, int depth, list shape, list leaves) except -1:
    """
    Flatten nested sequences of Python scalars, checking that each level has one length.

    False as soon as something else is met. `outside` counts the levels around them.
    """
    cdef Py_ssize_t length
    if isinstance(item, (list, tuple, range)):
        if outside + depth >= MAX_NDIM:
            raise ShapeError("asarray", "the sequences are nested too deeply", (), f"an array has at most {MAX_NDIM} axes")
        length = len(item)
        if depth == len(shape) and not leaves:
            shape.append(length)
        elif depth >= len(shape) or shape[depth] != length:
            refuse_ragged(outside + depth)
        for part in item:
            if not collect(part, outside, depth + 1, shape, leaves):
                return False
        return True
    if not is_python_scalar(item):
        return False
    if depth != len(shape):
        refuse_ragged(outside + depth)
    leaves.append(item)
    return True


cdef object refuse_ragged(int depth):
    raise ShapeError("asarray", f"the nested sequences are ragged at depth {depth}", (), "sequences of one length at each depth")


cdef Array from_sequence(object source, int code, int depth):
    """A new array of the elements of nested sequences; of dtype `code`, or of the dtype they ask for."""
    cdef list shape = [], leaves = []
    cdef Array out
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t i, itemsize
    cdef int found = NO_DTYPE, own, ndim
    if not collect(source, depth, 0, shape, leaves):
        return from_parts(source, code, depth)
    if code < 0:
        for leaf in leaves:
            own = scalar_code(leaf)
            found = own if found < 0 else promote_codes(found, own)
        code = FLOAT64 if found < 0 else found
    ndim = read_shape(tuple(shape), sizes, "asarray")
    out = new_array(code, ndim, sizes, NULL, False)
    itemsize = itemsize_at(code)
    if len(leaves) != out.size:
        # A subclass of list may have another length than it says.
        refuse_ragged(depth)
    for i in range(out.size):
        write_scalar(leaves[i], code, out.data + i * itemsize, "asarray")
    return out


cdef Array from_parts(object source, int code, int depth):
    """A new array of the items of a sequence, each an array or a sequence of one shape."""
    cdef list parts = []
    cdef Array out, part
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int found = NO_DTYPE, ndim
    cdef Py_ssize_t i
    for item in source:
        part = from_sequence(item, NO_DTYPE, depth + 1) if isinstance(item, (list, tuple, range)) else asarray(item)
        if parts and not same_shape(part, <Array>parts[0]):
            raise ShapeError("asarray", f"shapes {shape_tuple(<Array>parts[0])} and {shape_tuple(part)} side by side", (), "items of one shape")
        found = part.code if found < 0 else promote_codes(found, part.code)
        parts.append(part)
    if not parts:
        refuse_ragged(depth)
    if any([is_tracked(part) for part in parts]):
        out = traced("stack", (parts,))
        return out if code < 0 else asarray(out, dtype=dtype_at(code))
    ndim = read_shape((len(parts),) + shape_tuple(<Array>parts[0]), sizes, "asarray")
    out = new_array(found if code < 0 else code, ndim, sizes, NULL, False)
    for i in range(len(parts)):
        part = <Array>parts[i]
        assign_array(view_of(out, out.data + i * out.strides_[0], part.ndim, out.shape_ + 1, out.strides_ + 1), part, "asarray")
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
        lends memory; else a new array.

    Raises
    ------
    ArgumentValueError
        If `copy` is False and a copy would be needed.
    DTypeError
        If the elements are of a dtype that is not one of the standard's, or no numbers at all.
    CastError
        If complex elements are to become real.
    RangeError
        If a Python integer does not fit the dtype.
    ShapeError
        If nested sequences are ragged.

    References
    ----------
    Array API standard 2025.12, "Creation Functions", ``asarray``.
    """
    cdef int code = NO_DTYPE
    cdef Array x
    if guarding and at_door():
        return through_door("function", "asarray", asarray, (obj,), {"dtype": dtype, "device": device, "copy": copy})
    check_device("asarray", device)
    if dtype is not None:
        code = (<DType>dtype_argument("asarray", dtype)).code
    if copy is not None and not isinstance(copy, bool):
        raise ArgumentTypeError("asarray", f"copy is {copy!r}", (), "True, False or None")
    if is_python_scalar(obj):
        if copy is False:
            raise ArgumentValueError("asarray", "copy=False, but a Python scalar has to be copied")
        return scalar_array(obj, scalar_code(obj) if code < 0 else code, "asarray")
    if type(obj) is Array:
        x = <Array>obj
        if (copy is True or code >= 0 and code != x.code) and is_followed(x):
            return traced("asarray", (x,), {"dtype": dtype_at(x.code if code < 0 else code), "copy": copy})
        if copy is True:
            return copy_array(x, x.code if code < 0 else code, False)
    elif isinstance(obj, (list, tuple, range)):
        if copy is False:
            raise ArgumentValueError("asarray", "copy=False, but a sequence has to be copied")
        return from_sequence(obj, code, 0)
    elif isinstance(obj, (str, bytes)) or not speaks_array(obj):
        raise DTypeError("asarray", f"Unsupported type {type(obj).__name__}", (),
                         "arrays, Python scalars, nested sequences of them, or objects with the buffer protocol, __dlpack__ or __array__")
    else:
        x = foreign_array(obj, copy, "asarray")
    if code >= 0 and x.code != code:
        if copy is False:
            raise ArgumentValueError("asarray", f"copy=False, but {dtype_at(x.code).name} has to be cast to {dtype_at(code).name}")
        return copy_array(x, code, False)
    return x


cdef bint speaks_array(object obj):
    return lends_buffer(obj) or hasattr(type(obj), "__dlpack__") or hasattr(type(obj), "__array__")


cdef bytes c_bytes(Array x):
    """The elements in C order."""
    cdef Array c = x if x.c_contiguous else copy_array(x, x.code, True)
    return PyBytes_FromStringAndSize(c.data, c.size * itemsize_at(c.code))


# --- out: text


cdef str text_of(Array x):
    """The elements as NumPy writes them, summarised where they are many; a single one in as many digits as tell it from its neighbours."""
    import numpy

    return elements_of(x, "", "") if x.ndim else str(numpy.asarray(seen_by_others(x))[()])


cdef str elements_of(Array x, str prefix, str suffix):
    import numpy

    if x.size == 0 and x.ndim != 1:
        return "[]"
    return numpy.array2string(numpy.asarray(seen_by_others(x)), separator=", ", prefix=prefix, suffix=suffix)


cdef str repr_of(Array x):
    """The elements and, laid out as NumPy does it, facts about them: on a line of their own where the last one is full."""
    import numpy

    cdef list facts = [f"dtype={dtype_at(x.code).name}"]
    options = numpy.get_printoptions()
    # The elements that are written need not tell the shape.
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
    return format(read_scalar(x.data, x.code), spec)


# --- what `stride0.strided` shows and makes


def offset(Array x not None):
    """Place of the first element in its storage, in elements."""
    return (x.data - x.storage.data) // itemsize_at(x.code)


def is_c_contiguous(Array x not None):
    """Whether the elements lie side by side in C order."""
    return x.c_contiguous


def shares_storage(Array x not None, Array y not None):
    """Whether two arrays are views of one storage, or of storages that overlap in memory."""
    cdef Storage a = x.storage, b = y.storage
    return a is b or (a.data < b.data + b.nbytes and b.data < a.data + a.nbytes)


def storage_nbytes(Array x not None):
    """Size of the storage in bytes."""
    return x.storage.nbytes


def is_writable(Array x not None):
    """Whether elements may be assigned: neither read-only nor stretched."""
    cdef Operand view = operand_of(x)
    return not (x.storage.readonly or (not x.c_contiguous and shares_location(&view)))


def storage_bounds(Array x not None):
    """First and last offset, in elements relative to the first element, that the storage holds; empty if first > last."""
    cdef Py_ssize_t itemsize = itemsize_at(x.code)
    # Division towards minus infinity in front, so that a partial element counts as outside.
    first = -((x.data - x.storage.data) // itemsize)
    last = (x.storage.data + x.storage.nbytes - x.data) // itemsize - 1
    return first, last
