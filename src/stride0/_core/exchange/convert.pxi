# Conversion to arrays: nested sequences, and objects that export memory.

def namespace_for(api_version):
    """The namespace; raises if it does not implement the version of the standard."""
    configuration = test_configuration()
    if configuration is not None:
        configuration.check_version(api_version)
    if api_version is not None and api_version not in VERSIONS and api_version != DRAFT:
        raise ArgumentValueError("__array_namespace__", f"unknown version {api_version!r} of the Array API standard", (),
                                 f"pass one of {', '.join(VERSIONS)}, or {DRAFT}")
    return sys.modules["stride0"]


cdef DType formatless(object source):
    """The dtype of a NumPy array or scalar, if it is a storage dtype without a buffer format."""
    cdef DType found
    if type(source).__module__ == "numpy" or is_numpy_scalar(source):
        found = known_dtype(source.dtype) if hasattr(source, "dtype") else None
        if found is not None and is_stored(found.code) and format_at(found.code)[0] == 0:
            return found
    return None


cdef Array foreign_array(object source, object copy, str operation):
    """An array on the memory of an object of another library, or a copy of it."""
    cdef Array x = None if isinstance(source, bytes) else from_plain_buffer(source)
    # NumPy scalars export read-only memory, and times are exported as bytes.
    if x is None or x.storage.readonly and is_numpy_scalar(source):
        return unusual_array(source, copy, operation)
    return copy_array(x, x.code, False) if copy is True else x


cdef Array unusual_array(object source, object copy, str operation):
    """`foreign_array` for an object without a buffer, or whose buffer has no suitable format or needs a copy."""
    cdef Array x = None
    cdef DType stored = formatless(source)
    if isinstance(source, (str, bytes)) or not is_array_like(source):
        raise DTypeError(operation, f"Unsupported type {type(source).__name__}", (),
                         "pass an array, a Python scalar, nested sequences of them, or an object with the buffer protocol, __dlpack__ or __array__")
    if stored is not None:
        import numpy

        # Unsigned integers with the same bits have a buffer format.
        x = foreign_array(numpy.asarray(source).view(f"u{stored.itemsize}"), copy, operation)
        x.code = stored.code
        return copy_array(x, x.code, False) if copy is None and is_numpy_scalar(source) else x
    kind = getattr(getattr(source, "dtype", None), "kind", None) if type(source).__module__ == "numpy" else None
    if kind is not None and kind not in "biufc":
        raise DTypeError(operation, f"Unsupported dtype {source.dtype}", (), "cast first: source.astype('float64')")
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
            raise ArgumentValueError(operation, "copy=False, but the memory is byte-swapped or unaligned and has to be copied", (), "pass copy=None")
        import numpy

        source = numpy.asarray(source)
        return from_buffer(source.astype(source.dtype.newbyteorder("="), copy=True), operation)
    if copy is True or (copy is None and is_numpy_scalar(source)):
        # From a NumPy scalar, users expect a new, writable array.
        x = copy_array(x, x.code, False)
    return x


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """
    Convert to an array.

    Parameters
    ----------
    obj : Array, Python scalar, nested sequence, or object with the buffer protocol, ``__dlpack__`` or ``__array__``
        What to convert. Nested sequences may hold Python scalars and arrays of one shape.
    dtype : DType, optional
        Dtype of the result; the dtype of `obj` if it has one, otherwise the default dtype of the kind of its
        elements (``bool``, ``int64``, ``float64``, ``complex128``; the highest kind among them).
    device : Device, optional
        The CPU.
    copy : bool, optional
        True always copies, False never does, None copies only if it must: Python scalars and
        sequences, another dtype, byte-swapped or unaligned memory.

    Returns
    -------
    Array
        `obj` itself if it is an Array that needs no change; a view on the memory of `obj` if it exports memory; otherwise a
        new array.

    Raises
    ------
    ArgumentValueError
        If `copy` is False and a copy would be needed.
    DTypeError
        If the elements are of a dtype that stride0 does not have, or are not numbers.
    CastError
        If complex elements would be cast to a real dtype.
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
    ...
    """
    if guarding:
        return call_function("asarray", (obj, dtype, device, copy), ("dtype", "device", "copy"), False, asarray_body)
    return asarray_raw(obj, dtype, device, copy)


cdef object asarray_body(Call* call):
    return asarray_raw(<object>call.args[0], <object>call.args[1], <object>call.args[2], <object>call.args[3])


cdef object asarray_raw(obj, dtype, device, copy):
    """`asarray` without interceptors."""
    cdef int code = NO_DTYPE
    cdef Array x
    if device is not None and not is_only_device(device):
        check_device("asarray", device)
    if dtype is not None:
        code = (<DType?>dtype_argument("asarray", dtype)).code
    if copy is not None and not isinstance(copy, bool):
        raise ArgumentTypeError("asarray", f"copy is {copy!r}", (), "pass True, False or None")
    if type(obj) is Array:
        x = <Array>obj
        if (copy is True or code >= 0 and code != x.code) and needs_tape(x):
            return traced("asarray", (x,), {"dtype": dtype_at(x.code if code < 0 else code), "copy": copy})
        if copy is True:
            return copy_array(x, x.code if code < 0 else code, False)
    elif is_python_scalar(obj):
        if copy is False:
            raise ArgumentValueError("asarray", "copy=False, but a Python scalar has to be copied", (), "pass copy=None")
        return scalar_array(obj, scalar_code(obj) if code < 0 else code, "asarray")
    elif isinstance(obj, (list, tuple, range)):
        if copy is False:
            raise ArgumentValueError("asarray", "copy=False, but a sequence has to be copied", (), "pass copy=None")
        return from_sequence(obj, code, 0)
    else:
        x = foreign_array(obj, copy, "asarray")
    if code >= 0 and x.code != code:
        if copy is False:
            raise ArgumentValueError("asarray", f"copy=False, but {dtype_at(x.code).name} has to be cast to {dtype_at(code).name}", (), "pass copy=None")
        return copy_array(x, code, False)
    return x


cdef bint is_array_like(object obj):
    return exports_buffer(obj) or hasattr(type(obj), "__dlpack__") or hasattr(type(obj), "__array__")


# --- dtypes by other names


def dtype_argument(str operation, value):
    """
    Convert a ``dtype=`` argument: a dtype of the namespace, or what NumPy users write for it. DTypeError for others.

    ``bool``, ``int``, ``float`` and ``complex`` stand for bool, int64, float64 and complex128; a string is the
    standard's name of a dtype, or a NumPy name such as "f4" or "<i8".
    """
    cdef DType found
    if type(value) is DType:
        return value
    found = known_dtype(value)
    check_standard(operation, "a dtype that is not an object of the namespace", "Data types: dtypes are objects of the namespace")
    if found is None:
        raise DTypeError(operation, f"Unsupported dtype {shown(value)}",
                         (), f"pass one of {', '.join([dtype_at(code).name for code in range(N_DTYPES)])}, as an attribute of stride0")
    return found
