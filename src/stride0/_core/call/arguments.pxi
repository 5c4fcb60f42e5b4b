# Arguments of compiled functions: binding to parameters, and conversion.
#
# Note [Declarations]
#     A public function is declared once, in its chapter: a Python function with signature, annotations and docstring. Help,
#     type checkers, the stubs of methods and strict mode read that declaration. If the overhead of a call matters, the
#     declaration has no body and a compiled function runs instead: an `Implementation`, which takes the name and a pointer
#     for each parameter. A `Signature`, read from the declaration, binds the arguments of a call to the parameters; a
#     parameter `*arrays` gets a tuple. Methods that do more than pass the array to a function are declared and implemented in
#     the same way, with names like "Array.reshape".
#
#     If an implementation handles only usual calls, it returns NotImplemented for other calls before it has done anything.
#     Then the body of the declaration runs, which calls functions of the namespace. `interp` has a body for tracked and batched arrays.
#
#     Unusual arguments go to functions in Python: `call/checks.py` and `_base/shapes.py` convert them and raise the errors.

# The largest size of a shape that is accepted here; `normalize_shape` checks larger shapes.
cdef Py_ssize_t MANY_ELEMENTS = <Py_ssize_t>1 << 40
EXACT = <Py_ssize_t>1 << 53
cdef double MODERATE = 1e150


cdef tuple _no_more = ()
# The value of an empty `*arrays` parameter.
cdef PyObject* NO_MORE = <PyObject*>_no_more


cdef class Signature:
    """
    The parameters of a function written in Python.

    Parameters
    ----------
    function : function
        The declaration.
    """

    def __cinit__(self, function):
        code = function.__code__
        cdef int k
        keyword_only = code.co_kwonlyargcount
        self.positional_only, self.positional = code.co_posonlyargcount, code.co_argcount
        self.count = self.positional + keyword_only
        self.names = code.co_varnames[:self.count]
        self.variadic = code.co_flags & 4 != 0  # inspect.CO_VARARGS
        if self.variadic:
            self.leading = self.positional
            if function.__defaults__:
                raise ValueError(f"{function.__name__}: defaults before *{code.co_varnames[self.count]}")
            self.names = self.names[:self.leading] + code.co_varnames[self.count:self.count + 1] + self.names[self.leading:]
            self.positional_only = self.positional = self.leading + 1
            self.count += 1
        by_name = function.__kwdefaults__ or {}
        self.defaults = (function.__defaults__ or ()) + tuple([by_name[name] for name in self.names[self.positional:] if name in by_name])
        self.required = self.count - <int>len(self.defaults)
        if self.count > MAX_PARAMETERS:
            raise ValueError(f"{function.__name__}: more than {MAX_PARAMETERS} parameters")
        for k in range(self.count):
            self.keys[k] = <PyObject*>self.names[k]
            self.fallback[k] = NULL if k < self.required else <PyObject*>self.defaults[k - self.required]

    cdef bint bind(self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** given) noexcept:
        """Write a borrowed reference for each parameter to `given`; False if the arguments do not fit."""
        cdef Py_ssize_t k, j
        cdef PyObject* name
        if n > self.positional:
            return False
        for k in range(n):
            given[k] = args[k]
        for k in range(n, self.count):
            given[k] = self.fallback[k]
        if kwnames is not NULL:
            for j in range(len(<tuple>kwnames)):
                name = <PyObject*>(<tuple>kwnames)[j]
                # Names in code are interned; other names are compared.
                for k in range(max(n, <Py_ssize_t>self.positional_only), self.count):
                    if self.keys[k] is name:
                        break
                else:
                    k = self.index_of(<str>name, max(n, <Py_ssize_t>self.positional_only))
                    if k < 0:
                        return False
                given[k] = args[n + j]
        for k in range(n, self.required):
            if given[k] is NULL:
                return False
        return True

    cdef bint set_alone(self, PyObject** given) noexcept:
        """Write the defaults for a call with one argument, except for the first parameter; False if more arguments are required."""
        cdef int k
        for k in range(1, self.count):
            given[k] = NO_MORE if self.variadic and k == self.leading else self.fallback[k]
            if given[k] is NULL:
                return False
        return True

    cdef Py_ssize_t index_of(self, str name, Py_ssize_t first) noexcept:
        cdef Py_ssize_t k
        for k in range(first, self.count):
            if <str>self.names[k] == name:
                return k
        return -1


cdef tuple several_of(Signature signature, PyObject* const* args, Py_ssize_t n):
    """The arguments of a call that go to a `*arrays` parameter."""
    cdef Py_ssize_t k, count = max(n - signature.leading, 0)
    cdef tuple several = PyTuple_New(count)
    for k in range(count):
        Py_INCREF(<object>args[signature.leading + k])
        PyTuple_SET_ITEM(several, k, <object>args[signature.leading + k])
    return several


cdef bint bind_variadic(Signature signature, tuple several, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** given) noexcept:
    """`bind` for a signature with a `*arrays` parameter; its arguments are in a tuple that the caller owns."""
    cdef PyObject* packed[MAX_PARAMETERS]
    cdef Py_ssize_t k, named = 0 if kwnames is NULL else len(<tuple>kwnames)
    if n < signature.leading or signature.positional + named > MAX_PARAMETERS:
        return False
    if named == 0 and signature.required <= signature.positional:
        for k in range(signature.count):
            given[k] = args[k] if k < signature.leading else <PyObject*>several if k == signature.leading else signature.fallback[k]
        return True
    for k in range(signature.leading):
        packed[k] = args[k]
    packed[signature.leading] = <PyObject*>several
    for k in range(named):
        packed[signature.positional + k] = args[n + k]
    return bind(signature, packed, signature.positional, kwnames, given)


# --- the registered implementations

cdef struct Listed:
    PyObject* name
    Implementation implementation

cdef enum:
    MOST_FUNCTIONS = 128

cdef Listed[MOST_FUNCTIONS] LISTED
cdef int listed = 0


cdef void implement(str name, Implementation implementation):
    """Register the implementation of a declaration; functions of an extension have its name in front."""
    global listed
    if listed == MOST_FUNCTIONS:
        raise SystemError(f"implement: more than {MOST_FUNCTIONS} functions")
    Py_INCREF(name)
    LISTED[listed].name, LISTED[listed].implementation = <PyObject*>name, implementation
    listed += 1


cdef Implementation implementation_of(str name) noexcept:
    cdef int k
    for k in range(listed):
        if <str>LISTED[k].name == name:
            return LISTED[k].implementation
    return NULL


# --- arguments by kind


cdef Array refuse_argument(object x, str operation, str name):
    return check_array(operation, x, name)


cdef int convert_axis(PyObject* x, int ndim, str operation) except -1:
    return normalize_axis(operation, <object>x, ndim)


cdef int convert_axes(PyObject* x, int ndim, str operation, int* axes) except -1:
    """`axes_argument` for arguments other than one int."""
    cdef uint64_t seen = 0
    cdef Py_ssize_t k
    cdef int count
    if x is <PyObject*>None:
        for k in range(ndim):
            axes[k] = <int>k
        return ndim
    if type(<object>x) is tuple and len(<tuple>x) <= ndim:
        count = <int>len(<tuple>x)
        for k in range(count):
            if not read_axis(<PyObject*>(<tuple>x)[k], ndim, &axes[k]) or seen >> axes[k] & 1:
                break
            seen |= <uint64_t>1 << axes[k]
        else:
            return count
    found = normalize_axes(operation, <object>x, ndim)
    for k, axis in enumerate(found):
        axes[k] = axis
    return <int>len(found)


cdef tuple axes_tuple(PyObject* x, int ndim, str operation):
    """`axes_argument` as a tuple."""
    cdef int axes[MAX_NDIM]
    cdef int k, count = axes_argument(x, ndim, operation, axes)
    if count == 1:
        return (axes[0],)
    return tuple([axes[k] for k in range(count)])


cdef int read_sizes(tuple sizes, Py_ssize_t* out) except -1:
    cdef Py_ssize_t k
    for k in range(len(sizes)):
        out[k] = sizes[k]
    return <int>len(sizes)


cdef int shape_argument(PyObject* x, str operation, Py_ssize_t* out) except -1:
    """Write the sizes of a new array to `out`; returns the number of axes."""
    cdef Py_ssize_t k, size = 1
    if read_int(x, out) and 0 <= out[0] <= MANY_ELEMENTS:
        return 1
    if type(<object>x) is tuple and len(<tuple>x) <= MAX_NDIM:
        for k in range(len(<tuple>x)):
            if not read_int(<PyObject*>(<tuple>x)[k], &out[k]) or out[k] < 0 or s0_times(&size, out[k]) or size > MANY_ELEMENTS:
                break
        else:
            return <int>len(<tuple>x)
    return read_sizes(normalize_shape(operation, <object>x), out)


cdef int check_total(str operation, int ndim, const Py_ssize_t* shape) except -1:
    """Raise ShapeError if a shape has too many elements to count; sizes of 0 are ignored."""
    cdef Py_ssize_t size = 1
    cdef int k
    for k in range(ndim):
        if shape[k] and s0_times(&size, shape[k]):
            normalize_shape(operation, tuple([shape[k] for k in range(ndim)]))
    return 0


cdef bint read_float(PyObject* x, double* out, bint* is_float) except -1:
    """Read a float of moderate size, whose sums cannot overflow, or an integer that is exact in float64; False for other objects."""
    cdef Py_ssize_t number
    if type(<object>x) is float:
        out[0] = <double><object>x
        is_float[0] = True
        return -MODERATE < out[0] < MODERATE
    if not read_int(x, &number) or number < -EXACT or number > EXACT:
        return False
    out[0] = <double>number
    return True


cdef bint convert_flag(PyObject* x, str operation, str name) except -1:
    return check_bool(operation, name, <object>x)


cdef int convert_dtype(PyObject* x, str operation) except -1:
    return (<DType?>check_dtype(operation, <object>x)).code


cdef int check_other_device(PyObject* x, str operation) except -1:
    check_device(operation, <object>x)
    return 0


cdef int refuse_complex(Array x, str operation, str name) except -1:
    if letter_at(x.code) == c"c":
        refuse_dtype(operation, x.dtype, "a real dtype; complex numbers have no order", name)
    return 0
