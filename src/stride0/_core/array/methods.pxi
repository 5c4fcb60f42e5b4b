# Functions of the namespace as methods of the array type. Included in `array.pyx`.
#
# Note [Methods]
#     The core cannot import the functions: they are made of it. So the type is filled in from above, by
#     `stride0._compat.methods`, through `add_method`: a type of C code has no assignable attributes from Python, but
#     its dictionary can be written to before anyone has looked a method up. A `Method` is called without a bound
#     object in between (Py_TPFLAGS_METHOD_DESCRIPTOR) and hands its arguments on where they lie.
#
#     What only NumPy's methods take goes to another function, in Python: `wider`. Which calls those are is told by
#     the names of their arguments, so that all others cost no more than a look at these.

cdef extern from *:
    """
    /* Cython passes a type as the object that it is, hence the casts. */
    static void s0_mark_method_descriptor(PyObject *type) {
        ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified((PyTypeObject *)type);
    }
    static int s0_set_in_type(PyObject *type, PyObject *name, PyObject *value) {
        int failed = PyDict_SetItem(((PyTypeObject *)type)->tp_dict, name, value);
        PyType_Modified((PyTypeObject *)type);
        return failed;
    }
    """
    void s0_mark_method_descriptor(object type)
    int s0_set_in_type(object type, object name, object value) except -1
    PyObject* PyMethod_New(PyObject* function, PyObject* self) except NULL
    Py_ssize_t s0_tuple_size "PyTuple_GET_SIZE"(PyObject* tuple)
    PyObject* s0_tuple_item "PyTuple_GET_ITEM"(PyObject* tuple, Py_ssize_t k)
    bint s0_set_has "PySet_Contains"(object set, PyObject* key) except -1


@cython.final
cdef class Method:
    """A function whose first argument is an array, as a method of arrays."""

    cdef s0_vectorcall vectorcall
    cdef object function
    cdef Py_ssize_t plain    # how many arguments the function takes by position, the array included; -1 any number
    cdef tuple positional    # names of those that a method takes by position after them
    cdef object wider        # takes the calls with arguments of NumPy's, or None
    cdef frozenset keywords  # names of these arguments
    cdef bint flattening     # and those that name no axis, of arrays that do not have just one
    cdef dict __dict__

    def __cinit__(self, function, Py_ssize_t plain, tuple positional, wider, frozenset keywords, bint flattening):
        self.vectorcall = call_method
        self.function = function
        self.plain = plain
        self.positional = positional
        self.wider = wider
        self.keywords = keywords
        self.flattening = flattening

    def __get__(self, instance, owner):
        if instance is None:
            return self
        refuse_method(self.__name__)
        bound = <object>PyMethod_New(<PyObject*>self, <PyObject*>instance)
        Py_DECREF(bound)
        return bound

    def __repr__(self):
        return f"<method {self.__name__} of stride0 arrays>"

    def __reduce__(self):
        return getattr, (Array, self.__name__)


cdef bint is_wider(Method self, PyObject* const* args, Py_ssize_t n, PyObject* names) except -1:
    """Whether a call is one of those that only NumPy's method takes; `n` arguments come before the named ones."""
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
    # Indices may be given as NumPy's may: a list, for one.
    if self.plain == 2 and n == 2 and type(<object>args[1]) is not Array:
        return True
    return (axis is NULL or axis is <PyObject*>None) and (<Array>args[0]).ndim != 1


cdef PyObject* call_method(PyObject* this, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL:
    cdef Method self = <Method>this
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
                function = self.wider
        return PyObject_Vectorcall(<PyObject*>function, args, nargsf, kwnames)
    if more > len(self.positional):
        raise TypeError(f"Array.{self.__name__}: {counted(n - 1, 'argument')} by position, at most {self.plain - 1 + len(self.positional)} are taken")
    # Behind the arguments by position lie the named ones: what is named from here on takes its place before them.
    names = self.positional[:more]
    if kwnames is not NULL:
        for name in names:
            if name in <tuple>kwnames:
                raise TypeError(f"Array.{self.__name__}: {name} is given by position and by name")
        names = names + <tuple>kwnames
    if self.wider is not None and is_wider(self, args, self.plain, <PyObject*>names):
        function = self.wider
    return PyObject_Vectorcall(<PyObject*>function, args, self.plain, <PyObject*>names)


def add_method(
    str name, function, Py_ssize_t plain, tuple positional=(), wider=None, frozenset keywords=frozenset(), bint flattening=False
):
    """
    Make a function a method of arrays.

    Parameters
    ----------
    name : str
        Of the method.
    function : callable
        Called with the array first.
    plain : int
        Number of arguments that `function` takes by position, the array included; -1 for any.
    positional : tuple of str
        Arguments of `function` that only a method takes by position, after those.
    wider : callable, optional
        Called in place of `function` where an argument is named that only NumPy's method takes.
    keywords : frozenset of str
        Names of these arguments.
    flattening : bool
        Whether `wider` is called as well where no axis is named and the array does not have just one, or where
        the second argument is no array.
    """
    method = Method(function, plain, positional, wider, keywords, flattening)
    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__module__ = "stride0"
    method.__doc__ = function.__doc__
    method.__wrapped__ = function
    s0_set_in_type(Array, name, method)


def set_attribute(str name, value):
    """Give the type of arrays an attribute that is made above the core, and is no method of Note [Methods]."""
    s0_set_in_type(Array, name, value)


cdef Method _sample_method = Method(None, 1, (), None, frozenset(), False)
s0_enable_vectorcall(Method, <char*>&_sample_method.vectorcall - <char*><PyObject*>_sample_method)
s0_mark_method_descriptor(Method)
