# DLPack in C: the functions of `Array.__dlpack_c_exchange_api__` (DLPack 1.3), Note [Exchange in C].
#
# They accept and refuse the same calls as `__dlpack__` and `from_dlpack`, without calling Python. Except for the
# allocator, callers hold the GIL.

cdef str NAME = "__dlpack_c_exchange_api__"

ctypedef void (*SetError)(void* error_ctx, const char* kind, const char* message) noexcept nogil


cdef Array exported(void* object_, bint* copied):
    """The array to export: the object itself, or a copy if it is on a simulated device."""
    cdef Array x
    if type(<object>object_) is not Array:
        raise ArgumentTypeError(NAME, f"the object is a {type(<object>object_).__name__}", (), "pass a stride0 array")
    x = <Array>object_
    reads_value(NAME)
    refuse_device(x, NAME)
    refuse_tracked(x, NAME, ExchangeError)
    copied[0] = x.storage.device != 0
    return copy_array(x, x.code, False) if copied[0] else x


cdef int from_array(void* object_, DLManagedTensorVersioned** out) except -1:
    """A tensor that owns a reference to an array."""
    cdef bint copied = False
    cdef Array x = exported(object_, &copied)
    out[0] = export_versioned(x, is_locked(x, copied), copied)
    return 0


cdef int64_t* element_strides(Array x) except NULL:
    """Memory for strides in elements, behind the strides in bytes; it lives as long as the array."""
    cdef Py_ssize_t* block
    with cython.critical_section(x):
        if x.shape_ is x.small and 3 * x.ndim > <int>(sizeof(x.small) // sizeof(Py_ssize_t)):
            x.block = PyBytes_FromStringAndSize(NULL, 3 * x.ndim * sizeof(Py_ssize_t))
            block = <Py_ssize_t*>PyBytes_AS_STRING(x.block)
            # `small` keeps its contents for code that has its address.
            memcpy(block, x.small, 2 * x.ndim * sizeof(Py_ssize_t))
            x.shape_, x.strides_ = block, block + x.ndim
    return <int64_t*>(x.strides_ + x.ndim)


cdef int borrow_array(void* object_, DLTensor* out) except -1:
    """Describe an array of the caller in a tensor. It is valid as long as the array, and has no flag for read-only memory."""
    cdef bint copied = False
    cdef int64_t* strides
    cdef Array x = exported(object_, &copied)
    if copied or is_locked(x, False):
        raise ExchangeError(NAME, "the memory of the array is read-only, broadcast or on another device, and a DLTensor cannot say so", (),
                            "call managed_tensor_from_py_object_no_sync")
    data_of(x)
    # Compute deferred results that read the memory, before the caller may write.
    s0_count_int((<Storage>begin_export(x)).exports, -1)
    strides = element_strides(x)
    describe(out, x, <int64_t*>x.shape_, strides)
    return 0


cdef int to_array(DLManagedTensorVersioned* tensor, void** out) except -1:
    """An array on the memory of a tensor. This function takes over the tensor, also if it fails."""
    cdef ImportedTensor owner = ImportedTensor.__new__(ImportedTensor)
    cdef Array x
    owner.new = tensor
    if tensor is NULL:
        raise ExchangeError(NAME, "there is no tensor")
    if tensor.deleter is delete_versioned and not tensor.flags & DLPACK_READ_ONLY:
        # The tensor is from a stride0 array: share the storage, so that writes through both arrays are in one log.
        x = <Array>tensor.manager_ctx
        refuse_tracked(x, NAME, ExchangeError)
        x = alias(x)
    else:
        x = array_on(owner, None, NAME, None)
    Py_INCREF(x)
    out[0] = <void*>x
    return 0


cdef int current_stream(int32_t device_type, int32_t device_id, void** out) noexcept:
    """The CPU has no streams."""
    out[0] = NULL
    return 0


cdef void delete_allocated(DLManagedTensorVersioned* managed) noexcept nogil:
    free(managed.manager_ctx)


cdef int allocate_tensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx, SetError set_error) noexcept nogil:
    """A new tensor with the shape and dtype of `prototype`, in one block of memory; does not use Python."""
    cdef int axis, ndim = prototype.ndim
    cdef Py_ssize_t head, stride, size = 1, most = <Py_ssize_t>1 << 62
    cdef int64_t* shape
    cdef char* block
    cdef DLManagedTensorVersioned* new
    cdef int code = code_of_tensor(prototype)
    cdef Py_ssize_t itemsize
    if code < 0:
        set_error(error_ctx, "BufferError", "allocate: a dtype that stride0 does not have")
        return -1
    itemsize = itemsize_at(code)
    if prototype.device.device_type != kDLCPU:
        set_error(error_ctx, "BufferError", "allocate: a device that is not the CPU")
        return -1
    if ndim < 0 or ndim > MAX_NDIM or (ndim and prototype.shape is NULL):
        set_error(error_ctx, "BufferError", "allocate: a number of axes that stride0 does not have, or no shape")
        return -1
    for axis in range(ndim):
        if prototype.shape[axis] < 0:
            set_error(error_ctx, "BufferError", "allocate: a negative size")
            return -1
        size *= prototype.shape[axis] != 0
    for axis in range(ndim if size else 0):
        if prototype.shape[axis] > most // itemsize // size:
            set_error(error_ctx, "MemoryError", "allocate: a tensor larger than any memory")
            return -1
        size *= prototype.shape[axis]
    head = sizeof(DLManagedTensorVersioned) + 2 * ndim * sizeof(int64_t)
    block = <char*>malloc(head + size * itemsize + 64 + 8)
    if block is NULL:
        set_error(error_ctx, "MemoryError", "allocate: no memory for the tensor")
        return -1
    # The elements start at a cache line; their description follows them.
    new = <DLManagedTensorVersioned*>(block + ((64 - <uintptr_t>block % 64) % 64) + ((size * itemsize + 7) & ~<Py_ssize_t>7))
    shape = <int64_t*>(new + 1)
    new.version.major, new.version.minor = DLPACK_MAJOR, DLPACK_MINOR
    new.manager_ctx, new.deleter, new.flags = block, delete_allocated, 0
    new.dl_tensor = prototype[0]
    new.dl_tensor.device.device_id = 0
    new.dl_tensor.data = <char*>new - ((size * itemsize + 7) & ~<Py_ssize_t>7)
    new.dl_tensor.shape, new.dl_tensor.strides = shape, shape + ndim
    new.dl_tensor.byte_offset = 0
    stride = 1
    for axis in range(ndim - 1, -1, -1):
        shape[axis], shape[ndim + axis] = prototype.shape[axis], stride
        # In an empty tensor the other sizes may be arbitrarily large.
        if prototype.shape[axis] > 1:
            stride = stride * prototype.shape[axis] if prototype.shape[axis] <= most // stride else 1
    out[0] = new
    return 0


cdef DLPackExchangeAPI api
api.header.version.major, api.header.version.minor = DLPACK_MAJOR, DLPACK_MINOR
api.header.prev_api = NULL
api.managed_tensor_allocator = <int (*)(DLTensor*, DLManagedTensorVersioned**, void*, void (*)(void*, const char*, const char*) noexcept) noexcept>allocate_tensor
api.managed_tensor_from_py_object_no_sync = <int (*)(void*, DLManagedTensorVersioned**) noexcept>from_array
api.managed_tensor_to_py_object_no_sync = <int (*)(DLManagedTensorVersioned*, void**) noexcept>to_array
api.dltensor_from_py_object_no_sync = <int (*)(void*, DLTensor*) noexcept>borrow_array
api.current_work_stream = current_stream

set_attribute(NAME, PyCapsule_New(&api, "dlpack_exchange_api", NULL))
