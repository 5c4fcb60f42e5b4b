# What gradients need of a call: where operands are followed, the call goes to the tracer. Included in `array.pyx`.
#
# Note [Tracked storages]
#     An ordinary call pays one pointer test per operand: does its storage have a history? It gets one when one
#     of its arrays is watched, computed from watched arrays, or saved for a backward pass. Then the tracer is asked
#     whether a read of the array concerns a tape: a constant that was saved, and not written to, does not. Every call
#     with an array that does is handed to the tracer, as is every write to a storage with a history. The tracer
#     belongs to `stride0.autograd`; the core knows only its interface. Operations of the table are run as they are, on the operands as they are. To every other function
#     the tracer hands stripped operands: the same memory under a storage without a history, so that nothing is
#     recorded twice. What the function returns is recorded as a whole.


cdef class Tracer:
    """What is called instead of a function one of whose operands is tracked; `stride0.autograd` has the only real one."""

    cdef object unary(self, int op, Array x, str name):
        raise NotImplementedError

    cdef object binary(self, int op, object x1, object x2, str name):
        raise NotImplementedError

    cdef object call(self, str name, tuple args, dict kwargs):
        raise NotImplementedError

    cdef object in_place(self, str name, Array x, object other):
        raise NotImplementedError

    cdef object set_item(self, Array x, object key, object value):
        raise NotImplementedError

    cdef bint watched(self, Array x) except -1:
        raise NotImplementedError

    cdef bint concerns(self, Array x) noexcept:
        return False


cdef Tracer tracer = Tracer()


cdef void set_tracer(Tracer new) noexcept:
    global tracer
    tracer = new


cdef inline bint is_followed(Array x) noexcept:
    """Whether a read of x is handed to the tracer: Note [Tracked storages]."""
    return x.storage.history is not None and tracer.concerns(x)


cdef inline bint is_tracked(object x) noexcept:
    """The same of any value."""
    return type(x) is Array and is_followed(<Array>x)


cdef object traced(str name, tuple args, dict kwargs=None):
    return tracer.call(name, args, kwargs)


cdef int refuse_watched(Array x, str operation) except -1:
    """Refuse to hand out values that leave the tape unseen."""
    if x.node is not None and tracer.watched(x):
        raise GradientError(operation, "the array is watched, and its gradient would be lost",
                            (("shape", f"{shape_tuple(x)}"),), "stop_gradient(x), where that is meant")
    return 0


cdef int refuse_export(Array x, str operation) except -1:
    if x.node is not None and tracer.watched(x):
        raise ExchangeError(operation, "the array is watched, and its gradient would be lost",
                            (("shape", f"{shape_tuple(x)}"),), "stop_gradient(x), where that is meant")
    return 0


cdef inline int guard_gradient(Array x, str operation) except -1:
    """A piece of the package was handed an array that the tracer should have stripped: its gradient would be lost."""
    if x.node is not None and tracer.watched(x):
        raise GradientError(operation, "there is no gradient rule on this way")
    return 0


cdef Array bare(Array x):
    """The same memory under a storage of its own without a history."""
    cdef Array y = view_of(x, x.data, x.ndim, x.shape_, x.strides_)
    y.storage = foreign_storage(x.storage.data, x.storage.nbytes, x.storage, x.storage.readonly)
    y.storage.device = x.storage.device
    return y


cdef Array seen_by_others(Array x):
    """x for those to whom values may be shown, but who must not carry gradients on."""
    cdef Array y
    if x.node is None and x.storage.device == 0:
        return x
    y = bare(x)
    y.storage.device = 0
    return y


cdef Array rejoined(Array x):
    """A view that a function made of bare memory, back under the storage that it came from; x itself."""
    if x.storage.owner is not None and type(x.storage.owner) is Storage:
        x.storage = <Storage>x.storage.owner
    return x


cdef Array alias(Array x):
    """Another array on the same memory."""
    return view_of(x, x.data, x.ndim, x.shape_, x.strides_)


# --- functions written in Python

cdef extern from *:
    """
    static void s0_enable_vectorcall(PyObject *object, Py_ssize_t offset) {
        PyTypeObject *type = (PyTypeObject *)object;
        type->tp_vectorcall_offset = offset;
        type->tp_call = PyVectorcall_Call;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    #define s0_nargs(n) PyVectorcall_NARGS(n)
    """
    ctypedef PyObject* (*s0_vectorcall "vectorcallfunc")(PyObject*, PyObject* const*, size_t, PyObject*) except NULL
    void s0_enable_vectorcall(object type, Py_ssize_t offset)
    Py_ssize_t s0_nargs(size_t nargsf) noexcept

cdef extern from "Python.h":
    PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL


@cython.final
cdef class Primitive:
    """A function of the namespace that the tracer may take over; a door, Note [Doors]."""

    cdef s0_vectorcall vectorcall
    cdef Shortcut shortcut
    cdef object function
    cdef bint followed         # whether the tracer knows it
    cdef readonly str traced_name
    cdef dict __dict__

    def __cinit__(self, function, str name, bint followed):
        self.vectorcall = call_primitive
        self.followed = followed
        self.shortcut = shortcut_for(name)
        self.function = function
        self.traced_name = name

    def __get__(self, instance, owner):
        # A class that holds a function of the namespace is given the function, as of functions in C. That there is
        # a `__get__` makes it a routine to `inspect` and `pydoc`, which show the signatures of those.
        return self

    def __repr__(self):
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__


cdef PyObject* call_primitive(PyObject* this, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL:
    cdef Primitive self = <Primitive>this
    cdef Py_ssize_t i, n = s0_nargs(nargsf), named = 0 if kwnames is NULL else len(<tuple>kwnames)
    cdef bint found = False
    if self.followed:
        for i in range(n + named):
            if follows(<object>args[i]):
                found = True
                break
    if not found and not guarding:
        if self.shortcut is not NULL:
            out = self.shortcut(args, n, kwnames)
            if out is not None:
                Py_INCREF(out)
                return <PyObject*>out
        return PyObject_Vectorcall(<PyObject*>self.function, args, nargsf, kwnames)
    if not found and not at_door():
        return call_inside(self, args, nargsf, kwnames)
    given = tuple([<object>args[i] for i in range(n)])
    more = {(<tuple>kwnames)[i]: <object>args[n + i] for i in range(named)}
    out = tracer.call(self.traced_name, given, more) if not guarding else call_through(self, given, more, found)
    Py_INCREF(out)
    return <PyObject*>out


cdef PyObject* call_inside(Primitive self, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL:
    token = step_inside()
    try:
        return PyObject_Vectorcall(<PyObject*>self.function, args, nargsf, kwnames)
    finally:
        step_outside(token)


cdef object call_through(Primitive self, tuple args, dict kwargs, bint found):
    """The call while a switch is on: through the door if it comes from outside, then inside or to the tracer."""
    cdef bint outside = at_door()
    visit = gate_enter("function", self.traced_name, args, kwargs) if outside else None
    if found:
        token = PASSED.set(True) if outside else None
        try:
            out = tracer.call(self.traced_name, args, kwargs)
        finally:
            if token is not None:
                PASSED.reset(token)
    else:
        token = step_inside()
        try:
            out = self.function(*args, **kwargs)
        finally:
            step_outside(token)
    return out if visit is None else gate_leave(visit, out)


cdef bint follows(object x):
    """Whether an argument is a tracked array, or a sequence with one in it."""
    if type(x) is Array:
        return is_followed(<Array>x)
    if type(x) is tuple or type(x) is list:
        for item in x:
            if is_tracked(item):
                return True
    return False


PRIMITIVES = {}


def primitive(function, extension=""):
    """
    Let gradients follow a function: a decorator for functions of arrays that are written in Python.

    The function itself never sees a watched array. The tracer knows it under its name, those of an extension
    under ``"linalg.inv"`` and the like; its gradient rules stand in `stride0.autograd`.

    Parameters
    ----------
    function : callable
        With arrays, or lists and tuples of them, among its arguments.
    extension : str
        The namespace that the function is in, where that is not the main one.
    """
    cdef Primitive out = door(function, extension)
    out.followed = True
    PRIMITIVES[out.traced_name] = function
    return out


def door(function, extension=""):
    """
    Let strict mode and test benches look at the calls of a function that gradients have nothing to do with.

    It gets its shortcut as well, where there is one: Note [Shortcuts].

    Parameters
    ----------
    function : callable
        Of the namespace.
    extension : str
        The namespace that the function is in, where that is not the main one.
    """
    cdef str name = f"{extension}.{function.__name__}" if extension else function.__name__
    cdef Primitive out = Primitive(function, name, False)
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(out, attribute, getattr(function, attribute))
    out.__wrapped__ = function
    out.__annotations__ = function.__annotations__
    return out


def door_in(str extension):
    """The decorator `door` for the functions of an extension: ``@door_in("fft")``."""
    return lambda function: door(function, extension)


def primitive_in(str extension):
    """The decorator `primitive` for the functions of an extension: ``@primitive_in("linalg")``."""
    return lambda function: primitive(function, extension)


cdef Primitive _sample = Primitive(None, "", False)
s0_enable_vectorcall(Primitive, <char*>&_sample.vectorcall - <char*><PyObject*>_sample)


# --- what backward passes are made of


def multiply_masked(x1, x2, /):
    """`x1 * x2`, and `x1` wherever it is 0, even where `x2` is infinite or NaN. A new array."""
    return binary(OP_MULTIPLY_MASKED, x1, x2, "multiply_masked", False)


cdef Array masked_product(Array g, Array d):
    """`multiply_masked` of two arrays; on small ones every nanosecond of a backward pass counts."""
    if g.code == d.code and g.c_contiguous and d.c_contiguous and same_shape(g, d) and not is_followed(g) and not is_followed(d):
        return short_binary(OP_MULTIPLY_MASKED, g, d)
    return <Array>binary(OP_MULTIPLY_MASKED, g, d, "multiply_masked", False)


def conjugate(x):
    """The complex conjugate; what is real comes back as it is, without a copy."""
    if type(x) is Array:
        return unary(OP_CONJ, x, "conj") if letter_at((<Array>x).code) == c"c" else x
    return x.conjugate()


def unreduce(x, tuple shape, axis):
    """
    What a reduction over `axis` of an array of `shape` left, stretched back to that shape: a view.

    `axis` is as the reduction was given it; reduced axes may have been kept or not.
    """
    cdef Array a = <Array?>x
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int d, own = 0, ndim = <int>len(shape)
    cdef bint reduced[MAX_NDIM]
    if is_followed(a):
        return traced("unreduce", (x, shape, axis))
    read_shape(shape, sizes, "unreduce")
    for d in range(ndim):
        reduced[d] = axis is None
    if axis is not None:
        for item in axis if isinstance(axis, (tuple, list)) else (axis,):
            d = operator.index(item)
            reduced[d + ndim if d < 0 else d] = True
    for d in range(ndim):
        steps[d] = 0 if reduced[d] else a.strides_[own]
        if not reduced[d] or a.ndim == ndim:
            own += 1
    return view_of(a, a.data, ndim, sizes, steps)


cdef tuple axes_into(Array x, int ndim, const Py_ssize_t* shape, tuple target):
    """The axes along which a sum brings `shape` to the shape `target`, counted in `shape`."""
    cdef int axis, missing = ndim - <int>len(target)
    out = list(range(missing))
    for axis in range(missing, ndim):
        if target[axis - missing] == 1 and shape[axis] != 1:
            out.append(axis)
        elif target[axis - missing] != shape[axis]:
            raise GradientError("sum_to", "internal error: a gradient does not fit its operand",
                                (("operand", f"{target}"), ("gradient", f"{tuple([shape[axis] for axis in range(ndim)])}")))
    return tuple(out)


cdef Array without_leading(Array x, int count):
    return x if count == 0 else view_of(x, x.data, x.ndim - count, x.shape_ + count, x.strides_ + count)


cdef int check_fits(int ndim, tuple shape) except -1:
    if <int>len(shape) > ndim:
        raise GradientError("sum_to", "internal error: a gradient has fewer axes than its operand", (("operand", f"{shape}"),))
    return 0


cpdef Array sum_into(Array x, tuple shape):
    """x summed to a shape that broadcasts to its own: what undoes a broadcast. x itself where it has that shape."""
    cdef tuple axes
    check_fits(x.ndim, shape)
    axes = axes_into(x, x.ndim, x.shape_, shape)
    if not axes:
        return x
    return without_leading(accumulate("sum", 1, x, None, axes, True, x.code, x.code), x.ndim - <int>len(shape))


cpdef Array dot_into(Array x1, Array x2, tuple shape):
    """`multiply_masked(x1, x2)` summed to a shape, in one pass and without a temporary."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Operand operands[2]
    cdef int ndim, code = x1.code if x1.code == x2.code else promote_codes(x1.code, x2.code)
    cdef tuple axes
    operands[0], operands[1] = operand_of(x1), operand_of(x2)
    if broadcast(operands, 2, sizes, &ndim) != 0:
        raise BroadcastError("multiply_masked", named_shapes(TWO, x1, x2, None))
    check_fits(ndim, shape)
    axes = axes_into(x1, ndim, sizes, shape)
    if not axes:
        return masked_product(x1, x2)
    return without_leading(accumulate("dot_masked", 2, x1, x2, axes, True, code, code), ndim - <int>len(shape))


def add_at(Array x not None, key, Array values not None):
    """
    ``x[key] += values``, with elements that `key` names several times adding up.

    For the adjoint of indexing: `x` is contiguous in C order and of the dtype of `values`, whose shape
    broadcasts to that of ``x[key]``. The order of addition is that of the indices.
    """
    cdef Array target = plain_view(x, key), room
    cdef list items
    cdef Gathering where_
    if x.code != values.code or letter_at(x.code) not in b"fc":
        raise DTypeError("add_at", f"Unsupported dtype {dtype_at(values.code).name}")
    check_writable(x, "add_at")
    if target is None:
        items = expand_key(x, key)
        if count_arrays(items) == 0:
            target = basic_view(x, items)
    if target is not None:
        in_place(OP_ADD, target, values, "add_at")
        return
    where_ = gathering(x, items, False)
    room = empty_gathered(where_)
    if values.c_contiguous and same_shape(room, values):
        room = values
    else:
        assign_array(room, values, "add_at")
    move_gathered(where_, room, ADD)
