# DLPack, export and import: memory is shared with other libraries, and copied only on request.
#
# Note [Ownership of a capsule]
#     A capsule owns a managed tensor and is named "dltensor" or "dltensor_versioned". A consumer of the tensor renames the
#     capsule to "used_..." and calls the tensor's deleter when done. If a capsule has no consumer, its destructor calls the
#     deleter. So the deleter runs exactly once.
#
# Note [Exchange in C]
#     A type may offer C functions as `__dlpack_c_exchange_api__` (DLPack 1.3). The functions of stride0 are in
#     `exchange_api.pxi`. `from_dlpack` calls the C functions of another library if no argument asks for more than they provide,
#     and if the type itself has them: a subclass may redefine `__dlpack__`. The C functions may refuse less than `__dlpack__`: in
#     PyTorch they export tensors that require a gradient or a conjugation, so we test these cases. If they refuse a tensor, or if
#     it is not on the CPU, `__dlpack__` is called and gives the reason.

cdef extern from "Python.h":
    int Py_IsInitialized() nogil

cdef extern from *:
    """
    /* An attribute that the type of an object defines itself, without its bases: borrowed, or NULL. */
    static PyObject *s0_of_type(PyObject *x, PyObject *name) {
        PyObject *names = Py_TYPE(x)->tp_dict;
        return names == NULL ? NULL : PyDict_GetItem(names, name);
    }
    #define s0_zeros_behind(n) __builtin_ctzll((unsigned long long)(n))
    /* Check the result of a function of another library: not 0 is an error, for which it should set an exception. */
    static int s0_check(int failed) {
        if (failed && !PyErr_Occurred()) {
            PyErr_SetString(PyExc_BufferError, "the exchange failed");
        }
        return failed ? -1 : 0;
    }
    """
    PyObject* s0_of_type(object x, str name) noexcept
    int s0_check(int failed) except -1
    int s0_zeros_behind(Py_ssize_t n) noexcept nogil

# DLPack's codes of the dtypes.
cdef uint8_t[N_DTYPES] CODES


cdef int fill_codes() except -1:
    kinds = {"b": kDLBool, "i": kDLInt, "u": kDLUInt, "f": kDLFloat, "c": kDLComplex}
    for code, row in enumerate(ROWS):
        CODES[code] = row.dlpack if row.dlpack >= 0 else kinds[row.letter]
    return 0


fill_codes()


# --- export


cdef void end_lending(Array x) noexcept:
    cdef Storage root = root_of(x.storage)
    s0_count_int(root.exports, -1)


cdef void let_go(void* context) noexcept:
    """Release the array of a tensor."""
    end_lending(<Array>context)
    Py_DECREF(<Array>context)


cdef void release_array(void* context) noexcept nogil:
    """Release the array of a tensor; consumers may call it from any thread, with or without the GIL."""
    if Py_IsInitialized():
        with gil:
            let_go(context)


cdef void delete_unversioned(DLManagedTensor* managed) noexcept nogil:
    if managed is not NULL:
        release_array(managed.manager_ctx)
        free(managed)


cdef void delete_versioned(DLManagedTensorVersioned* managed) noexcept nogil:
    if managed is not NULL:
        release_array(managed.manager_ctx)
        free(managed)


cdef void destroy_unversioned(object capsule) noexcept:
    """The destructor of a capsule: delete the tensor, unless a consumer has it. The deleter itself would acquire the GIL again."""
    cdef DLManagedTensor* managed
    if PyCapsule_IsValid(capsule, "dltensor"):
        managed = <DLManagedTensor*>PyCapsule_GetPointer(capsule, "dltensor")
        if managed.deleter is delete_unversioned:
            let_go(managed.manager_ctx)
            free(managed)
        elif managed.deleter is not NULL:
            managed.deleter(managed)


cdef void destroy_versioned(object capsule) noexcept:
    cdef DLManagedTensorVersioned* managed
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        managed = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        if managed.deleter is delete_versioned:
            let_go(managed.manager_ctx)
            free(managed)
        elif managed.deleter is not NULL:
            managed.deleter(managed)


cdef void describe(DLTensor* tensor, Array x, int64_t* shape, int64_t* strides) noexcept:
    """Describe the memory of x, which is not deferred, in a tensor. `shape` may already hold the sizes."""
    cdef int axis
    tensor.data = data_of(x)
    tensor.device.device_type, tensor.device.device_id = kDLCPU, 0
    tensor.ndim = x.ndim
    tensor.dtype.code = CODES[x.code]
    tensor.dtype.bits = 8 * itemsize_at(x.code)
    tensor.dtype.lanes = 1
    tensor.shape, tensor.strides = shape, strides
    tensor.byte_offset = 0
    if shape is not <int64_t*>x.shape_:
        memcpy(shape, x.shape_, x.ndim * sizeof(int64_t))
    for axis in range(x.ndim):
        # A shift, because item sizes are powers of 2 and a division would take longer than everything else.
        strides[axis] = x.strides_[axis] >> s0_zeros_behind(itemsize_at(x.code))


cdef Storage begin_lending(Array x):
    """Count an export of the memory of x. It ends with the tensor; until then consumers may write to the memory."""
    data_of(x)
    return begin_export(x)


cdef bint is_locked(Array x, bint copied) except -1:
    """Whether a consumer must not write. A test configuration may make exports read-only, but not exported copies."""
    return x.storage.readonly or (not x.c_contiguous and not may_be_written(x)) or (not copied and exports_read_only())


cdef DLManagedTensorVersioned* export_versioned(Array x, bint locked, bint copied) except NULL:
    """A tensor on the memory of x; its deleter releases x."""
    cdef Storage root = begin_lending(x)
    cdef DLManagedTensorVersioned* new = <DLManagedTensorVersioned*>malloc(
        sizeof(DLManagedTensorVersioned) + 2 * x.ndim * sizeof(int64_t))
    if new is NULL:
        s0_count_int(root.exports, -1)
        raise MemoryError("__dlpack__: no memory for the capsule")
    describe(&new.dl_tensor, x, <int64_t*>(new + 1), <int64_t*>(new + 1) + x.ndim)
    new.version.major, new.version.minor = DLPACK_MAJOR, DLPACK_MINOR
    new.flags = (DLPACK_READ_ONLY if locked else 0) | (DLPACK_IS_COPIED if copied else 0)
    new.manager_ctx, new.deleter = <void*>x, delete_versioned
    Py_INCREF(x)
    return new


cdef object export_capsule(Array x, object max_version, object copy):
    """A capsule for x, in the newest layout that the consumer understands."""
    cdef DLManagedTensor* old
    cdef DLManagedTensorVersioned* new
    cdef size_t more = 2 * x.ndim * sizeof(int64_t)
    cdef Storage root
    cdef bint copied = copy is True
    cdef bint locked
    refuse_tracked(x, "__dlpack__", ExchangeError)
    if copied:
        x = copy_array(x, x.code, False)
    locked = is_locked(x, copied)
    if max_version is None or max_version[0] < DLPACK_MAJOR:
        if locked:
            # The old layout has no flag for read-only memory, so a consumer could write to it.
            raise ExchangeError("__dlpack__", "the memory of the array is read-only or broadcast, and DLPack before 1.0 cannot say so",
                                (), "pass max_version=(1, 0) or copy=True")
        root = begin_lending(x)
        old = <DLManagedTensor*>malloc(sizeof(DLManagedTensor) + more)
        if old is NULL:
            s0_count_int(root.exports, -1)
            raise MemoryError("__dlpack__: no memory for the capsule")
        describe(&old.dl_tensor, x, <int64_t*>(old + 1), <int64_t*>(old + 1) + x.ndim)
        old.manager_ctx, old.deleter = <void*>x, delete_unversioned
        Py_INCREF(x)
        try:
            return PyCapsule_New(old, "dltensor", destroy_unversioned)
        except MemoryError:
            delete_unversioned(old)
            raise
    new = export_versioned(x, locked, copied)
    try:
        return PyCapsule_New(new, "dltensor_versioned", destroy_versioned)
    except MemoryError:
        delete_versioned(new)
        raise


cdef tuple pair_of(object value, str argument):
    """Read a pair of integers: a version or a device."""
    try:
        first, second = value
        return operator.index(getattr(first, "value", first)), operator.index(second)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError("dlpack", f"{argument} is {value!r}", (), "pass a pair of integers") from error


cdef object export_dlpack(Array x, object stream, object max_version, object dl_device, object copy):
    if stream is not None:
        raise ArgumentValueError("__dlpack__", f"stream is {stream!r}", (), "pass stream=None: the CPU has no streams")
    if copy is not None and not isinstance(copy, bool):
        raise ArgumentTypeError("__dlpack__", f"copy is {copy!r}", (), "pass True, False or None")
    if max_version is not None:
        max_version = pair_of(max_version, "max_version")
    if dl_device is not None and pair_of(dl_device, "dl_device") != (kDLCPU, 0):
        raise ExchangeError("__dlpack__", f"the device {tuple(dl_device)} is not supported", (), "pass the CPU: dl_device=(1, 0)")
    return export_capsule(x, max_version, copy)


# --- methods of arrays


@add_special
def __dlpack__(Array self not None, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    """
    Export the memory of the array as a DLPack capsule, for ``from_dlpack`` of another library.

    Parameters
    ----------
    stream : None
        The CPU has no streams.
    max_version : tuple of int, optional
        Newest DLPack version that the consumer understands; by default the layout from before 1.0.
    dl_device : tuple of int, optional
        The requested device: ``(1, 0)``, the CPU.
    copy : bool, optional
        True exports a copy, marked as such; otherwise the memory is shared.

    Raises
    ------
    ExchangeError
        (A BufferError.) If the device is not the CPU, or if the memory is read-only or broadcast and the layout has no flag
        for that.

    References
    ----------
    Array API standard 2025.12, "Array object", ``__dlpack__``.
    """
    if guarding:
        check_method_version("__dlpack__", {"max_version": max_version, "dl_device": dl_device, "copy": copy})
    reads_value("__dlpack__")
    if dl_device is None:
        refuse_device(self, "__dlpack__")
    elif self.storage.device and copy is False:
        raise ExchangeError("__dlpack__", f"copy=False, and the array is on the device {str(self.device)!r}", (), "pass copy=None")
    return export_dlpack(self, stream, max_version, dl_device, True if self.storage.device else copy)


cdef tuple ON_CPU = (DLDeviceType.CPU, 0)


@add_special
def __dlpack_device__(Array self not None, /):
    """DLPack's device type and number: ``(1, 0)``, the CPU."""
    cdef int number = self.storage.device
    if number == 0:
        return ON_CPU
    configuration = test_configuration()
    # The array may outlive the configuration that created it.
    return (DLDeviceType.EXT_DEV, number) if configuration is None else configuration.dlpack_device(number)
