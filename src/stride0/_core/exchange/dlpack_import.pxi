# Arrays on memory of other libraries: Note [Ownership of a capsule], Note [Exchange in C].

@cython.final
@cython.no_gc
cdef class ImportedTensor:
    """Keeps the tensor of another library alive for the storage on its memory."""

    def __dealloc__(self):
        if self.old is not NULL and self.old.deleter is not NULL:
            self.old.deleter(self.old)
        if self.new is not NULL and self.new.deleter is not NULL:
            self.new.deleter(self.new)


cdef object request_capsule(object x, object device, object copy):
    """
    Ask an object for a capsule, with the necessary keywords.

    Producers that do not know `copy` or `max_version` are called again without them.
    """
    version = {"max_version": (DLPACK_MAJOR, DLPACK_MINOR)}
    more = {} if device is None else {"dl_device": (<int>kDLCPU, 0)}
    if copy is not None:
        more["copy"] = copy
    for keywords in ({**version, **more}, version):
        try:
            return x.__dlpack__(**keywords)
        except TypeError:
            pass
    return x.__dlpack__()


cdef int code_of_tensor(const DLTensor* tensor) noexcept nogil:
    cdef int code
    for code in range(N_DTYPES):
        if CODES[code] == tensor.dtype.code and 8 * itemsize_at(code) == tensor.dtype.bits and tensor.dtype.lanes == 1:
            return code
    return NO_DTYPE


cdef int check_tensor(const DLTensor* tensor, Py_ssize_t itemsize, str operation) except -1:
    """Refuse invalid tensors, because kernels trust shapes and strides; returns whether the tensor is empty."""
    cdef int axis
    cdef Py_ssize_t limit = (<Py_ssize_t>1) << 62, count = itemsize, reach, step
    cdef bint empty = False
    if tensor.ndim < 0 or tensor.ndim > MAX_NDIM:
        raise ExchangeError(operation, f"a tensor of {tensor.ndim} axes", (), f"pass a tensor of at most {MAX_NDIM} axes")
    if tensor.shape is NULL and tensor.ndim > 0:
        raise ExchangeError(operation, "a tensor without a shape")
    for axis in range(tensor.ndim):
        if tensor.shape[axis] < 0:
            raise ExchangeError(operation, f"a tensor with the negative size {tensor.shape[axis]}")
        empty = empty or tensor.shape[axis] == 0
    if empty:
        return 1
    if tensor.data is NULL:
        raise ExchangeError(operation, "a tensor without memory")
    reach = itemsize
    for axis in range(tensor.ndim):
        if tensor.shape[axis] > limit // count:
            raise ExchangeError(operation, "a tensor larger than any memory")
        count *= tensor.shape[axis]
        if tensor.strides is not NULL and tensor.shape[axis] > 1:
            step = tensor.strides[axis]
            if step < -limit // itemsize or step > limit // itemsize:
                raise ExchangeError(operation, "a tensor with a stride larger than any memory")
            step = (step if step > 0 else -step) * itemsize
            if step > 0 and tensor.shape[axis] - 1 > (limit - reach) // step:
                raise ExchangeError(operation, "a tensor that reaches farther than any memory")
            reach += (tensor.shape[axis] - 1) * step
    return 0


cdef int take_tensor(ImportedTensor owner, object capsule) except -1:
    """Take the tensor of a capsule, which only one caller may do; do nothing for another kind of capsule."""
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        owner.new = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        PyCapsule_SetName(capsule, "used_dltensor_versioned")
    elif PyCapsule_IsValid(capsule, "dltensor"):
        owner.old = <DLManagedTensor*>PyCapsule_GetPointer(capsule, "dltensor")
        PyCapsule_SetName(capsule, "used_dltensor")
    return 0


cdef Array import_dlpack(object x, object device, object copy, str operation):
    """An array on the memory of an object with DLPack's methods."""
    cdef ImportedTensor owner = ImportedTensor.__new__(ImportedTensor)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        # The standard specifies this exception.
        raise AttributeError(f"{operation}: a {type(x).__name__} has no __dlpack__ and __dlpack_device__")
    where_to = pair_of(x.__dlpack_device__(), "the result of __dlpack_device__")
    if where_to[0] != kDLCPU and device is None:
        raise ExchangeError(operation, f"the memory is on the device {where_to}", (), "move it to the CPU first, or pass device='cpu'")
    capsule = request_capsule(x, device, copy)
    with cython.critical_section(capsule):
        take_tensor(owner, capsule)
    if owner.new is NULL and owner.old is NULL:
        raise ExchangeError(operation, f"{type(x).__name__}.__dlpack__ did not return a new DLPack capsule")
    return array_on(owner, copy, operation, x)


cdef Array array_on(ImportedTensor owner, object copy, str operation, object exporter):
    """An array on the memory of a tensor, or a copy, as `copy` requires (see `from_dlpack`)."""
    cdef DLTensor* tensor
    cdef Array out
    # A capsule from before 1.0 has no flag for read-only memory, so all of it counts as read-only.
    cdef bint readonly = True, copied = False, empty
    cdef int code, axis
    cdef Py_ssize_t step, itemsize
    if owner.new is not NULL:
        if owner.new.version.major > DLPACK_MAJOR:
            raise ExchangeError(operation, f"the capsule is of DLPack {owner.new.version.major}.{owner.new.version.minor}", (),
                                f"export it with max_version=({DLPACK_MAJOR}, 0)")
        tensor = &owner.new.dl_tensor
        copied = owner.new.flags & DLPACK_IS_COPIED
        # A copy made on request is not shared, so it is writable.
        readonly = owner.new.flags & DLPACK_READ_ONLY and not (copied and copy is True)
        if copied and copy is False:
            raise ExchangeError(operation, f"copy=False, but {type(exporter).__name__}.__dlpack__ made a copy", (), "pass copy=None")
    else:
        tensor = &owner.old.dl_tensor
    if tensor.device.device_type != kDLCPU:
        raise ExchangeError(operation, "the capsule's memory is not on the CPU", (), "move it to the CPU first")
    code = code_of_tensor(tensor)
    if code < 0:
        raise ExchangeError(
            operation, f"Unsupported dtype (DLPack code {tensor.dtype.code}, {counted(tensor.dtype.bits, 'bit')}, {counted(tensor.dtype.lanes, 'lane')})", (),
            "cast first, to bool, integers of 8 to 64 bits, float16, bfloat16, float32, float64, complex64 or complex128")
    empty = check_tensor(tensor, itemsize_at(code), operation)
    itemsize = step = itemsize_at(code)
    out = blank(code)
    set_ndim(out, tensor.ndim)
    for axis in range(tensor.ndim - 1, -1, -1):
        out.shape_[axis] = tensor.shape[axis]
        # The stride of an axis of size 1 is arbitrary, and might overflow.
        if tensor.strides is NULL or tensor.shape[axis] < 2 or empty:
            out.strides_[axis] = step
        else:
            out.strides_[axis] = tensor.strides[axis] * itemsize
        step *= tensor.shape[axis] if tensor.shape[axis] > 0 else 1
    set_flags(out)
    out.address = <char*>out.small if empty else <char*>tensor.data + tensor.byte_offset
    set_foreign_storage(out, owner, readonly)
    if not is_aligned(out):
        if copy is False:
            raise ExchangeError(operation, "copy=False, but the memory is unaligned and has to be copied", (), "pass copy=None")
        return copy_unaligned(out)
    # A producer older than `copy` may have shared its memory.
    return copy_array(out, code, False) if copy is True and not copied else out


# --- import by C functions: Note [Exchange in C]


cdef DLPackExchangeAPI* exchange_api_of(object x) except? NULL:
    """The C functions of the type of x; NULL if it offers no known version."""
    cdef PyObject* found = s0_of_type(x, "__dlpack_c_exchange_api__")
    cdef DLPackExchangeAPI* api
    if found is NULL or not PyCapsule_IsValid(<object>found, "dlpack_exchange_api"):
        return NULL
    api = <DLPackExchangeAPI*>PyCapsule_GetPointer(<object>found, "dlpack_exchange_api")
    # A newer version may link to an older one.
    while api is not NULL and api.header.version.major > DLPACK_MAJOR:
        api = <DLPackExchangeAPI*>api.header.prev_api
    if api is NULL or api.header.version.major != DLPACK_MAJOR or api.managed_tensor_from_py_object_no_sync is NULL:
        return NULL
    return api


cdef Array import_by_exchange(object x, object copy):
    """`from_dlpack` by the C functions of the type of x; None if the type has no C functions or they refuse."""
    cdef ImportedTensor owner
    cdef DLPackExchangeAPI* api = exchange_api_of(x)
    if api is NULL or getattr(x, "requires_grad", False):
        return None
    owner = ImportedTensor.__new__(ImportedTensor)
    try:
        s0_check(api.managed_tensor_from_py_object_no_sync(<void*>x, &owner.new))
    except Exception:
        return None
    if owner.new is NULL or owner.new.version.major != DLPACK_MAJOR or owner.new.dl_tensor.device.device_type != kDLCPU:
        return None
    if owner.new.dl_tensor.dtype.code == kDLComplex and hasattr(x, "is_conj") and x.is_conj():
        return None
    return array_on(owner, copy, "from_dlpack", x)


def from_dlpack(x, /, *, device=None, copy=None):
    """
    Return an array on the memory of an array of another library.

    Parameters
    ----------
    x : object with ``__dlpack__`` and ``__dlpack_device__``
        The other array.
    device : Device, optional
        The CPU: then memory of other devices is requested as a copy on the CPU.
    copy : bool, optional
        True always copies, False never does, None copies only if it must.

    Returns
    -------
    Array
        A view on the memory of `x`, read-only if `x` says so; or a copy, as `copy` allows.

    Raises
    ------
        (A BufferError.) If `x` cannot export its memory, if its dtype is not in the standard, or if a copy would be needed
        and `copy` is False.
    AttributeError
        If `x` does not have DLPack's methods.

    References
    ----------
    Array API standard 2025.12, "Creation Functions", ``from_dlpack``, and "Data interchange mechanisms".

    Examples
    --------
    >>> a = np.zeros(3)
    >>> x = xp.from_dlpack(a)
    >>> a[0] = 7
    >>> x
    Array([7., 0., 0.], dtype=float64)
    >>> xp.from_dlpack(a, copy=True)[1:]
    Array([0., 0.], dtype=float64)
    """
    if guarding:
        return call_function("from_dlpack", (x, device, copy), ("device", "copy"), False, from_dlpack_body)
    return from_dlpack_raw(x, device, copy)


cdef object from_dlpack_body(Call* call):
    return from_dlpack_raw(<object>call.args[0], <object>call.args[1], <object>call.args[2])


cdef object from_dlpack_raw(x, device, copy):
    """`from_dlpack` without interceptors."""
    check_device("from_dlpack", device)
    if copy is not None and not isinstance(copy, bool):
        raise ArgumentTypeError("from_dlpack", f"copy is {copy!r}", (), "pass True, False or None")
    if type(x) is Array and (<Array>x).storage.device:
        # For a simulated device, the interceptor sets the result's device.
        refuse_tracked(<Array>x, "from_dlpack", ExchangeError)
        return copy_array(<Array>x, (<Array>x).code, False) if copy else alias(<Array>x)
    if type(x) is Array and copy is None and device is None:
        # Share the storage, so that writes through both arrays are in one log.
        refuse_tracked(<Array>x, "from_dlpack", ExchangeError)
        return alias(<Array>x)
    if device is None and copy is not True:
        found = import_by_exchange(x, copy)
        if found is not None:
            return found
    return import_dlpack(x, device, copy, "from_dlpack")
