"""
Methods of arrays.

Note [Methods]
    Most functions that are also methods are in higher layers, which the core cannot import. So `stride0._compat.methods` adds
    them to the type by `add_method`. (Python code cannot assign attributes of an extension type, but its dictionary can be
    written to before a method is looked up.) A `Method` is called without creating a bound object
    (Py_TPFLAGS_METHOD_DESCRIPTOR) and passes its arguments on without copying them.

    Methods that do more than pass the array to a function are declared there and implemented here, Note [Declarations]. They
    process arrays only by calling functions of the namespace, which are intercepted and recorded.

    Calls with arguments that only NumPy's methods take go to another function, written in Python: `wider`. The names of the
    arguments decide, so other calls only cost a test of these names.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from stride0._core.memory.guards cimport s0_immortalize
from stride0._core.memory.dtype cimport dtype_at, itemsize_at, letter_at, read_scalar
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.modes cimport guarding, reads_value, refuse_method
from stride0._core.array.array cimport (
    Array, alias, data_of, has_node, is_plain_value, needs_tape, refuse_tracked, reinterpret, shape_tuple, view_of,
)
from stride0._core.call.binding cimport (
    Implementation, MAX_PARAMETERS, Primitive, PyObject_Vectorcall, Signature, argument_needs_tape, array_argument, call_implementation,
    dtype_code_argument, implement, implementation_of, read_int, s0_enable_vectorcall, s0_nargs, s0_vectorcall,
)
from stride0._core.exchange.exchange cimport nested_lists

import operator

from stride0._base.errors import ArgumentValueError, OutOfBoundsError, ShapeError, counted, shown
from stride0._core.array.array import set_attribute
from stride0._core.elementwise.functions import conj as conj_function
from stride0._core.call.binding import PRIMITIVES
from stride0._core.exchange.exchange import asarray

cdef extern from *:
    """
    /* Cython passes a type as an object, hence the casts. */
    static void s0_mark_method_descriptor(PyObject *type) {
        ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    void s0_mark_method_descriptor(object type)
    PyObject* PyMethod_New(PyObject* function, PyObject* self) except NULL
    Py_ssize_t s0_tuple_size "PyTuple_GET_SIZE"(PyObject* tuple)
    PyObject* s0_tuple_item "PyTuple_GET_ITEM"(PyObject* tuple, Py_ssize_t k)
    bint s0_set_has "PySet_Contains"(object set, PyObject* key) except -1


@cython.final
cdef class Method:
    """A method of arrays that calls a function with the array first."""

    cdef s0_vectorcall vectorcall
    cdef object function
    cdef Py_ssize_t plain    # number of positional arguments of the function, including the array; -1 for any
    cdef tuple positional    # names of further arguments that the method takes by position
    cdef object wider        # function for calls with arguments of NumPy's methods, or None
    cdef frozenset keywords  # names of these arguments
    cdef bint flattening     # whether `wider` also takes calls without an axis for arrays whose ndim is not 1
    cdef Implementation implementation   # of the function, if this module implements it; otherwise NULL
    # For a call with only the array: the implementation to call directly, or NULL; its name; whether the tape may record the
    # call; the other arguments, borrowed.
    cdef Implementation direct
    cdef str direct_name
    cdef bint recorded
    cdef int parameters
    cdef PyObject* alone[MAX_PARAMETERS]
    cdef Signature signature
    cdef str name
    cdef dict __dict__

    def __cinit__(self, str name, function, Py_ssize_t plain, tuple positional, wider, frozenset keywords, bint flattening):
        self.vectorcall = call_method
        self.name = name
        self.implementation = implementation_of(f"Array.{name}")
        self.signature = None if self.implementation is NULL else Signature(function)
        self.function = function
        self.plain = plain
        self.positional = positional
        self.wider = wider
        self.keywords = keywords
        self.flattening = flattening
        self.find_direct()
        s0_immortalize(<PyObject*>self)
        if self.signature is not None:
            s0_immortalize(<PyObject*>self.signature)

    cdef int find_direct(self) except -1:
        cdef Primitive primitive
        cdef Signature signature = self.signature
        self.direct, self.direct_name = self.implementation, self.name
        if self.direct is NULL and type(self.function) is Primitive:
            primitive = <Primitive>self.function
            signature, self.recorded = primitive.signature, primitive.differentiable
            self.direct, self.direct_name = primitive.implementation, primitive.traced_name
        if self.direct is not NULL and (not signature.set_alone(self.alone) or (self.flattening and self.plain == 2)):
            self.direct = NULL
        self.parameters = signature.count if self.direct is not NULL else 0
        return 0

    def __get__(self, instance, owner):
        if instance is None:
            return self
        refuse_method(self.__name__)
        bound = <object>PyMethod_New(<PyObject*>self, <PyObject*>instance)
        Py_DECREF(bound)
        return bound

    @property
    def __doc__(self):
        # Imported late because it is seldom needed.
        from stride0._tables.documents import documented

        return documented(self.__qualname__, self.function)

    def __repr__(self):
        return f"<method {self.__name__} of stride0 arrays>"

    def __reduce__(self):
        return getattr, (Array, self.__name__)


cdef bint is_wider(Method self, PyObject* const* args, Py_ssize_t n, PyObject* names) except -1:
    """Whether only NumPy's method takes the arguments of a call; `n` is the number of positional arguments."""
    cdef Py_ssize_t k
    cdef PyObject* name
    cdef PyObject* axis = NULL
    if names is not NULL:
        for k in range(s0_tuple_size(names)):
            name = s0_tuple_item(names, k)
            if s0_set_has(self.keywords, name):
                return True
            if self.flattening and <object>name == "axis":
                axis = args[n + k]
    if not self.flattening:
        return False
    # Indices may be array-likes, for example a list, as in NumPy.
    if self.plain == 2 and n == 2 and type(<object>args[1]) is not Array:
        return True
    return (axis is NULL or axis is <PyObject*>None) and (<Array>args[0]).ndim != 1


cdef PyObject* call_method(PyObject* this, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL:
    """Call a method. Most calls have no named arguments, and most of these only the array."""
    cdef Method self = <Method>this
    cdef PyObject* given[MAX_PARAMETERS]
    cdef Py_ssize_t n = s0_nargs(nargsf)
    cdef int k
    if kwnames is not NULL or n != 1 or guarding or self.direct is NULL or type(<object>args[0]) is not Array:
        return call_usual(self, args, nargsf, kwnames)
    if (self.recorded and needs_tape(<Array>args[0])) or (self.flattening and (<Array>args[0]).ndim != 1):
        return call_usual(self, args, nargsf, kwnames)
    given[0] = args[0]
    for k in range(1, self.parameters):
        given[k] = self.alone[k]
    out = self.direct(self.direct_name, given)
    if out is NotImplemented:
        return call_usual(self, args, nargsf, kwnames)
    Py_INCREF(out)
    return <PyObject*>out


cdef PyObject* call_usual(Method self, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL:
    cdef Py_ssize_t n = s0_nargs(nargsf), more = n - self.plain
    cdef tuple names
    cdef object function = self.function
    if n == 0 or type(<object>args[0]) is not Array:
        raise TypeError(f"Array.{self.__name__}: the first argument has to be a stride0 array")
    if guarding:
        refuse_method(self.__name__)
    if self.plain < 0 or more <= 0:
        if self.wider is not None and (kwnames is not NULL or self.flattening):
            if is_wider(self, args, n, kwnames):
                return PyObject_Vectorcall(<PyObject*>self.wider, args, nargsf, kwnames)
        if self.implementation is not NULL:
            out = call_implementation(self.implementation, self.name, self.signature, function, args, n, kwnames)
            Py_INCREF(out)
            return <PyObject*>out
        return PyObject_Vectorcall(<PyObject*>function, args, nargsf, kwnames)
    if more > len(self.positional):
        raise TypeError(f"Array.{self.__name__}: {counted(n - 1, 'argument')} by position, at most {self.plain - 1 + len(self.positional)} accepted")
    # Named arguments follow positional ones. Positional arguments that now count as named come first among the names.
    names = self.positional[:more]
    if kwnames is not NULL:
        for name in names:
            if name in <tuple>kwnames:
                raise TypeError(f"Array.{self.__name__}: {name} is given by position and by name; pass it once")
        names = names + <tuple>kwnames
    if self.wider is not None and is_wider(self, args, self.plain, <PyObject*>names):
        function = self.wider
    return PyObject_Vectorcall(<PyObject*>function, args, self.plain, <PyObject*>names)


def add_method(
    str name, function, Py_ssize_t plain, tuple positional=(), wider=None, frozenset keywords=frozenset(), bint flattening=False
):
    """
    Make a function, which is called with the array first, a method of arrays.

    The function takes `plain` arguments by position, including the array (-1: any number). The method also takes the arguments
    named in `positional` by position after them. `wider` is called instead if one of the `keywords` is given, which only
    NumPy's method has. With `flattening`, `wider` also gets calls without `axis` or with `axis=None`, unless the array is
    one-dimensional, and calls of a function of two arrays whose second argument is not an Array.
    """
    method = Method(name, function, plain, positional, wider, keywords, flattening)
    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__module__ = "stride0"
    method.__wrapped__ = function
    set_attribute(name, method)

cdef Method _sample_method = Method("", None, 1, (), None, frozenset(), False)

s0_enable_vectorcall(Method, <char*>&_sample_method.vectorcall - <char*><PyObject*>_sample_method)

s0_mark_method_descriptor(Method)


# --- methods that do more than pass the array to a function; declared in `_compat/methods.py`.

cdef Primitive PERMUTE_DIMS = PRIMITIVES["permute_dims"]
cdef Primitive RESHAPE = PRIMITIVES["reshape"]
cdef Primitive SQUEEZE = PRIMITIVES["squeeze"]
cdef object CONJ = conj_function
cdef object ASARRAY = asarray
cdef tuple COPY = ("copy",)
cdef object ALWAYS = True
cdef tuple ONE_AXIS = (-1,)
cdef tuple REVERSED = tuple([tuple(range(ndim - 1, -1, -1)) for ndim in range(MAX_NDIM + 1)])


cdef object call_view(Primitive function, PyObject* x, PyObject* argument, PyObject* copy):
    """Call a function that returns views and takes these three arguments, or the first two."""
    cdef PyObject* given[3]
    if guarding or needs_tape(<Array>x) or argument_needs_tape(<object>argument):
        return call(function, x, argument, NULL if copy is <PyObject*>None else copy)
    # Call the implementation directly, without binding the arguments again.
    given[0], given[1], given[2] = x, argument, copy
    return function.implementation(function.traced_name, given)


cdef object call(object function, PyObject* x, PyObject* argument, PyObject* copy):
    """Call a function of the namespace with an array, an optional argument and an optional ``copy=``."""
    cdef PyObject* args[3]
    cdef Py_ssize_t n = 1
    args[0] = x
    if argument is not NULL:
        args[n] = argument
        n += 1
    args[n] = copy
    out = <object>PyObject_Vectorcall(<PyObject*>function, args, n, NULL if copy is NULL else <PyObject*>COPY)
    Py_DECREF(out)
    return out


cdef tuple one_tuple(PyObject* several):
    """The arguments of ``f(2, 3)``, ``f((2, 3))`` or ``f([2, 3])`` as a tuple."""
    cdef tuple values = <tuple>several
    if len(values) != 1:
        return values
    if type(values[0]) is tuple:
        return <tuple>values[0]
    return tuple(values[0]) if isinstance(values[0], (tuple, list)) else values


cdef object conj(str name, PyObject** given):
    # As in NumPy, a real array is its own conjugate. The function refuses other dtypes.
    cdef Array x = <Array>given[0]
    return x if letter_at(x.code) in b"iuf" else call(CONJ, given[0], NULL, NULL)


cdef object copy(str name, PyObject** given):
    return call(ASARRAY, given[0], NULL, <PyObject*>ALWAYS)


cdef object flatten(str name, PyObject** given):
    return call_view(RESHAPE, given[0], <PyObject*>ONE_AXIS, <PyObject*>ALWAYS)


cdef object ravel(str name, PyObject** given):
    cdef Array x = <Array>given[0]
    cdef Py_ssize_t stride = itemsize_at(x.code)
    if x.c_contiguous and not guarding and not needs_tape(x):
        return view_of(x, data_of(x), 1, &x.size, &stride)
    return call_view(RESHAPE, given[0], <PyObject*>ONE_AXIS, <PyObject*>None)


cdef object reshape(str name, PyObject** given):
    shape = one_tuple(given[1])
    return call_view(RESHAPE, given[0], <PyObject*>shape, given[2])


cdef object permute_dims(str name, PyObject** given):
    axes = one_tuple(given[1])
    return call_view(PERMUTE_DIMS, given[0], <PyObject*>axes, <PyObject*>None)


cdef object transpose(str name, PyObject** given):
    cdef tuple axes = one_tuple(given[1])
    cdef Array x = <Array>given[0]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int k
    if len(axes) == 0 or (len(axes) == 1 and axes[0] is None):
        if not guarding and not needs_tape(x):
            for k in range(x.ndim):
                shape[k], byte_strides[k] = x.shape_[x.ndim - 1 - k], x.strides_[x.ndim - 1 - k]
            return view_of(x, data_of(x), x.ndim, shape, byte_strides)
        axes = REVERSED[x.ndim]
    return call_view(PERMUTE_DIMS, given[0], <PyObject*>axes, <PyObject*>None)


cdef object squeeze(str name, PyObject** given):
    cdef Array x = <Array>given[0]
    cdef int k
    if given[1] is not <PyObject*>None:
        return call_view(SQUEEZE, given[0], given[1], <PyObject*>None)
    for k in range(x.ndim):
        if x.shape_[k] == 1:
            axes = tuple([axis for axis in range(x.ndim) if x.shape_[axis] == 1])
            return call_view(SQUEEZE, given[0], <PyObject*>axes, <PyObject*>None)
    # As in NumPy, return the array itself if it has no axis of size 1.
    return x


cdef object view(str name, PyObject** given):
    cdef Array x = <Array>given[0]
    if given[1] is <PyObject*>None and not needs_tape(x):
        return alias(x)
    return reinterpret(x, dtype_at(x.code if given[1] is <PyObject*>None else dtype_code_argument(given[1], "view", -1)))


cdef object item(str name, PyObject** given):
    cdef Array x = <Array>given[0]
    cdef tuple index
    cdef Py_ssize_t offset = 0, left
    cdef int axis
    if len(<tuple>given[1]) == 0 and is_plain_value(x) and not has_node(x):
        return read_scalar(data_of(x), x.code)
    index = one_tuple(given[1])
    if len(index) == 0:
        if x.size != 1:
            raise ShapeError("item", f"an array of {x.size} elements needs an index", [("shape", f"{shape_tuple(x)}")],
                             "write x.item(0) for one element, or tolist(x) for all elements")
    elif len(index) == 1 and x.ndim != 1:
        left = index_of(index[0], x.size, -1)
        for axis in range(x.ndim - 1, -1, -1):
            offset += left % x.shape_[axis] * x.strides_[axis]
            left //= x.shape_[axis]
    elif len(index) == x.ndim:
        for axis in range(x.ndim):
            offset += index_of(index[axis], x.shape_[axis], axis) * x.strides_[axis]
    else:
        raise ArgumentValueError("item", f"{counted(len(index), 'index', 'indices')} for {counted(x.ndim, 'axis', 'axes')}",
                                 [("index", shown(index))], "pass one index per axis, or one index into the flat array")
    if x.storage.batched or has_node(x):
        refuse_tracked(x, "item")
    reads_value("item")
    return read_scalar(data_of(x) + offset, x.code)


cdef Py_ssize_t index_of(object index, Py_ssize_t size, int axis) except -1:
    """Return an index as a non-negative number; OutOfBoundsError if it is not below `size`."""
    cdef Py_ssize_t number
    if not read_int(<PyObject*>index, &number):
        index = operator.index(index)
        if not read_int(<PyObject*>index, &number):
            number = size   # too large for any size
    if number < -size or number >= size:
        raise OutOfBoundsError("item", f"{index} is out of bounds for size {size}" + (f" along axis {axis}" if axis >= 0 else ""))
    return number + size if number < 0 else number


cdef object tolist(str name, PyObject** given):
    # An array on a simulated device is accepted, because Python's numbers are on no device.
    return nested_lists(array_argument(given[0], "tolist", "x"))


implement("Array.conj", conj)
implement("Array.conjugate", conj)
implement("Array.copy", copy)
implement("Array.flatten", flatten)
implement("Array.item", item)
implement("Array.permute_dims", permute_dims)
implement("Array.ravel", ravel)
implement("Array.reshape", reshape)
implement("Array.squeeze", squeeze)
implement("Array.transpose", transpose)
implement("Array.view", view)
implement("tolist", tolist)
