# The interface of the tape, arrays on the same memory, and errors for calls that would lose a gradient.

cdef class Tracer:
    """Executes and records functions with operands that need the tape; the only subclass is in `stride0.autograd`."""

    cdef object unary(self, int op, Array x, str name):
        raise NotImplementedError

    cdef object binary(self, int op, object x1, object x2, str name):
        raise NotImplementedError

    cdef object call(self, str name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
        raise NotImplementedError

    cdef object in_place(self, str name, Array x, object other):
        raise NotImplementedError

    cdef object set_item(self, Array x, object key, object value):
        raise NotImplementedError

    cdef bint is_tracked(self, Array x) except -1:
        raise NotImplementedError

    cdef bint needs_tape(self, Array x) noexcept:
        return False

# Keeps the tracer of the hooks alive.
cdef Tracer current_tracer = Tracer()
hooks.tracer = <PyObject*>current_tracer


cdef void set_tracer(Tracer new) noexcept:
    global current_tracer
    current_tracer = new
    hooks.tracer = <PyObject*>new


cdef int refuse_tracked(Array x, str operation, object error=GradientError) except -1:
    """Refuse a tracked or batched array, because its values would leave the tape unrecorded."""
    refuse_batched(x, operation, error if error is not GradientError else BatchingError)
    if x.node is not None and (<Tracer>hooks.tracer).is_tracked(x):
        raise lost_gradient(error, operation, shape_tuple(x))
    return 0


cdef int refuse_batched(Array x, str operation, object error=BatchingError) except -1:
    """Refuse a batched array, which has one value per example: Note [Batched arrays]."""
    if x.storage.batched:
        x.storage.history.refuse(operation)
        raise error(operation, "the array is batched: within vmap it has a value for each example", (("shape of an example", f"{shape_tuple(x)}"),),
                    "call functions of the namespace, and where() instead of a branch on values")
    return 0


cdef int not_completed(str name) except -1:
    """Raise the error of a call that did not complete: the exception of a signal handler, or MemoryError."""
    if PyErr_Occurred() is NULL:
        raise MemoryError(f"{name}: no memory for casts or transposed copies of operands")
    return -1


cdef int refuse_gradient(str operation) except -1:
    raise GradientError(operation, "there is no gradient rule for this call", (), "write a rule with custom_vjp, or call stop_gradient(x) first")


cdef Array without_history(Array x):
    """The same memory under a new storage without a history; a deferred array stays deferred."""
    cdef Array y = alias(x)
    y.storage = foreign_storage(x.storage.data, x.storage.nbytes, x.storage, x.storage.readonly)
    y.storage.device = x.storage.device
    return y


cdef Array restore_storage(Array x):
    """Replace the storage of a view made by `without_history` by the original storage; returns x."""
    if x.storage.owner is not None and type(x.storage.owner) is Storage:
        x.storage = <Storage>x.storage.owner
    return x


cdef Storage root_of(Storage storage):
    """The storage that owns the memory: `without_history` makes others on the same memory."""
    while type(storage.owner) is Storage:
        storage = <Storage>storage.owner
    return storage


cdef Array alias(Array x):
    """Another array on the same memory; a deferred array stays deferred, a batched one batched."""
    cdef Array y
    if not x.storage.batched:
        return view_of(x, s0_read(x.address), x.ndim, x.shape_, x.strides_)
    y = blank(x.code)
    set_ndim(y, x.ndim)
    memcpy(y.shape_, x.shape_, 2 * x.ndim * sizeof(Py_ssize_t))
    y.size, y.c_contiguous = x.size, x.c_contiguous
    y.storage, y.seen, y.is_view = x.storage, s0_peek_long(x.seen), True
    return y
