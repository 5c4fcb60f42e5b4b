# The interface of the tape, and errors for calls that would lose a gradient.

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


cdef object traced(str name, tuple args, dict kwargs=None):
    """Execute and record a call of a function."""
    cdef Py_ssize_t n = len(args)
    cdef tuple names = None
    if kwargs:
        names = tuple(kwargs)
        args += tuple(kwargs.values())
    return (<Tracer>hooks.tracer).call(name, s0_tuple_items(args), n, NULL if names is None else <PyObject*>names)


cdef int refuse_tracked(Array x, str operation, object error=GradientError) except -1:
    """Refuse a tracked or batched array, because its values would leave the tape unrecorded."""
    refuse_batched(x, operation, error if error is not GradientError else BatchingError)
    if x.node is not None and (<Tracer>hooks.tracer).is_tracked(x):
        raise lost_gradient(error, operation, shape_tuple(x))
    return 0


cdef int refuse_batched(Array x, str operation, object error=BatchingError) except -1:
    """Refuse a batched array, which has one value per example: Note [Batched arrays]."""
    if x.storage.batched:
        raise error(operation, "the array is batched: within vmap it has a value for each example", (("shape of an example", f"{shape_tuple(x)}"),),
                    "functions of the namespace; where() instead of a branch on values")
    return 0


cdef int not_completed(str name) except -1:
    """Raise the error of a call that did not complete: the exception of a signal handler, or MemoryError."""
    if PyErr_Occurred() is NULL:
        raise MemoryError(f"{name}: no memory for the buffers that operands are cast or transposed in")
    return -1


cdef int refuse_gradient(str operation) except -1:
    raise GradientError(operation, "there is no gradient rule for this call")
