# Exports of memory to other libraries: counts, and the buffer protocol.

cdef tuple NOT_MOVED = (("standard", "Device support: nothing is moved from one device to another implicitly"),)


cdef int refuse_device(Array x, str operation, object error=DeviceError) except -1:
    """Refuse the user's own code memory of a simulated device: Note [Simulated devices]."""
    if x.storage.device != 0 and is_users_call():
        raise error(operation, f"the array is on the device {str(x.device)!r}", NOT_MOVED, 'move it to the CPU first: x.to_device("cpu")')
    return 0


cdef Storage begin_export(Array x):
    """Count an export of the memory of x, which other libraries may write to from now on. Returns the storage that counts it."""
    cdef Storage root = root_of(x.storage)
    s0_count_int(root.exports, 1)      # first, so that results deferred while readers are evaluated do not read the memory later
    if not root.readonly:
        try:
            before_write(x)
        except BaseException:
            s0_count_int(root.exports, -1)
            raise
    return root


cdef int export_buffer(Array x, Py_buffer* buffer, int flags) except -1:
    """
    Export the memory of x without a copy.

    Broadcast memory is exported read-only: a write would change several elements at once.
    """
    cdef Operand view
    cdef bint readonly
    cdef Storage root
    buffer.obj = None
    data_of(x)
    readonly = x.storage.readonly
    if not x.c_contiguous:
        read_operand(&view, x)
        readonly = readonly or shares_location(&view)
    refuse_tracked(x, "buffer", ExchangeError)
    if x.storage.device != 0:
        refuse_device(x, "buffer", ExchangeError)
    reads_memory("buffer")
    if format_at(x.code)[0] == 0:
        raise BufferError(f"buffer: there is no format for {dtype_at(x.code).name}; view(uint16) has one for its bits")
    readonly = readonly or exports_read_only()
    if flags & PyBUF_WRITABLE and readonly:
        raise BufferError("buffer: the memory of the array is read-only or broadcast")
    if not x.c_contiguous and (flags & PyBUF_STRIDES != PyBUF_STRIDES or flags & PyBUF_C_CONTIGUOUS == PyBUF_C_CONTIGUOUS):
        raise BufferError("buffer: the array is not contiguous in C order")
    if flags & PyBUF_ANY_CONTIGUOUS == PyBUF_ANY_CONTIGUOUS and not x.c_contiguous and not is_f_contiguous(x):
        raise BufferError("buffer: the array is not contiguous")
    if flags & PyBUF_F_CONTIGUOUS == PyBUF_F_CONTIGUOUS and x.ndim > 1 and not is_f_contiguous(x):
        raise BufferError("buffer: the array is not contiguous in Fortran order")
    buffer.buf = data_of(x)
    buffer.len = x.size * itemsize_at(x.code)
    buffer.itemsize = itemsize_at(x.code)
    buffer.readonly = readonly
    buffer.ndim = x.ndim
    buffer.format = <char*>format_at(x.code) if flags & PyBUF_FORMAT == PyBUF_FORMAT else NULL
    buffer.shape = x.shape_ if flags & PyBUF_ND == PyBUF_ND else NULL
    buffer.strides = x.strides_ if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
    buffer.suboffsets = NULL
    root = begin_export(x)
    Py_INCREF(root)
    buffer.internal = <void*>root
    buffer.obj = x
    return 0


cdef extern from *:
    """
    static int s0_is_only_view(PyObject *view) {
        return PyMemoryView_Check(view) && s0_has_references(view, 1) && ((PyMemoryViewObject *)view)->mbuf->exports == 1;
    }
    """
    bint s0_is_only_view(PyObject* view) noexcept


cdef bint is_sole_owner(Storage storage) except -1:
    """
    Whether only the storage refers to its memory, which belongs to another library, or the memory never changes.

    Then the owner is a memoryview with one reference, of `bytes` or of a NumPy array that owns its memory and to which only the
    memoryview refers. The array may be a view of an array to which only this view refers, and so on.
    """
    cdef object source
    if not s0_is_only_view(<PyObject*>storage.owner):
        return False
    source = storage.owner.obj
    while type(source).__module__ == "numpy":
        import numpy

        # One reference is the local variable.
        if type(source) is not numpy.ndarray or not s0_has_references(<PyObject*>source, 2) or getweakrefcount(source):
            return False
        if source.base is None:
            return bool(source.flags.owndata)
        source = source.base
    return type(source) is bytes
