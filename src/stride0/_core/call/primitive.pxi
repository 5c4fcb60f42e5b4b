# Functions of the namespace; their calls are intercepted and recorded.

cdef enum:
    VARIADIC = 4  # inspect.CO_VARARGS


cdef int positional_of(object function):
    """The number of arguments that a declaration takes by position."""
    code = getattr(function, "__code__", None)
    return INT_MAX if code is None or code.co_flags & VARIADIC else code.co_argcount


@cython.final
cdef class Primitive:
    """A function of the namespace. Calls are intercepted, Note [Interceptors], and recorded by the tape."""

    def __cinit__(self, function, str name, bint differentiable):
        self.vectorcall = call_primitive
        self.differentiable = differentiable
        self.implementation = implementation_of(name)
        self.signature = None if self.implementation is NULL else Signature(function)
        self.function = function
        self.positional = positional_of(function)
        self.traced_name = name
        s0_immortalize(<PyObject*>self)
        if self.signature is not None:
            s0_immortalize(<PyObject*>self.signature)

    @property
    def declaration(self):
        """The declaration in Python; it has no body if the implementation is compiled."""
        return self.function

    @property
    def __doc__(self):
        # Imported late because it is seldom needed.
        from stride0._tables.documents import documented

        return documented(self.traced_name, self.function)

    @property
    def __signature__(self):
        # Imported late because it takes long to import and is seldom needed.
        import inspect

        return inspect.signature(self.function)

    def __get__(self, instance, owner):
        # A class attribute of this type is not bound, as for C functions. `inspect` and `pydoc` take an object with `__get__`
        # for a routine and show its signature.
        return self

    def __repr__(self):
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__

    cdef PyObject* run(self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) except NULL:
        """Run the function itself, for a call that is neither recorded nor intercepted."""
        if self.implementation is NULL:
            if n > self.positional:
                refuse_call(self.function, args, n, kwnames)
            return run_declaration(self, args, n, kwnames)
        cdef PyObject* given[MAX_PARAMETERS]
        if not self.signature.variadic and bind(self.signature, args, n, kwnames, given):
            out = self.implementation(self.traced_name, given)
        else:
            out = call_implementation(self.implementation, self.traced_name, self.signature, self.function, args, n, kwnames)
        if out is NotImplemented:
            # The body of the declaration handles unusual arguments.
            return run_declaration(self, args, n, kwnames)
        Py_INCREF(out)
        return <PyObject*>out


cdef PyObject* run_declaration(Primitive self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) except NULL:
    """Run the body of a declaration; errors of inner functions are renamed to the declared function, which the user called."""
    try:
        return PyObject_Vectorcall(<PyObject*>self.function, args, n, kwnames)
    except Stride0Error as error:
        rename(error, self)
        raise


cdef int rename(object error, Primitive self) except -1:
    if error.operation != self.function.__name__ and error.operation != self.traced_name:
        error.operation, error.args = self.traced_name, (self.traced_name, *error.args[1:])
    return 0


cdef int refuse_call(object declaration, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) except -1:
    """Raise Python's TypeError by calling the declaration; the message names arguments that must be given by name."""
    cdef list named
    code = declaration.__code__
    try:
        PyObject_Vectorcall(<PyObject*>declaration, args, n, kwnames)
    except TypeError as error:
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        named = [f"{name}=..." for name in parameters[code.co_argcount : n]]
        # NumPy takes an axis, a dtype and more by position. But in reshape(x, 2, 3), the 3 is not meant as `copy`.
        if code.co_flags & VARIADIC or not named or named[0] == "copy=...":
            raise
        raise TypeError(f"{error}; by name: {', '.join(named)}") from None
    return 0


cdef object call_implementation(
    Implementation implementation, str name, Signature signature, object declaration, PyObject* const* args, Py_ssize_t n, PyObject* kwnames
):
    """Bind the arguments of a call to the parameters of a declaration, and run its implementation."""
    cdef PyObject* given[MAX_PARAMETERS]
    cdef tuple several = None
    cdef bint fits
    if signature.variadic:
        several = several_of(signature, args, n)
        fits = bind_variadic(signature, several, args, n, kwnames, given)
    else:
        fits = bind(signature, args, n, kwnames, given)
    if not fits:
        refuse_call(declaration, args, n, kwnames)
        raise SystemError(f"{name}: internal error: arguments that fit the declaration were refused")
    return implementation(name, given)


cdef PyObject* call_primitive(PyObject* this, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL:
    cdef Primitive self = <Primitive>this
    cdef Py_ssize_t i, n = s0_nargs(nargsf), named = 0 if kwnames is NULL else len(<tuple>kwnames)
    cdef bint recorded = False
    cdef Call call
    if self.differentiable:
        for i in range(n + named):
            if argument_needs_tape(<object>args[i]):
                recorded = True
                break
    if not recorded and not guarding:
        return self.run(args, n, kwnames) if self.differentiable else run_composed(self, args, n, kwnames)
    call = Call(CALL_FUNCTION, -1, <PyObject*>self.traced_name, <PyObject**>args, n, kwnames, recorded, call_in_package, this)
    out = make_call(&call)
    Py_INCREF(out)
    return <PyObject*>out


cdef PyObject* run_composed(Primitive self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) except NULL:
    """Run a function that calls others; errors of inner functions are renamed to the function that the user called."""
    try:
        return self.run(args, n, kwnames)
    except Stride0Error as error:
        rename(error, self)
        raise


cdef object call_in_package(Call* call):
    """The body of a call while a switch is on: the calls that the function makes are not checked, Note [Switches]."""
    cdef Primitive self = <Primitive>call.function
    cdef PyObject* result
    token = enter_package()
    try:
        result = self.run(call.args, call.n, call.kwnames) if self.differentiable else run_composed(self, call.args, call.n, call.kwnames)
    finally:
        leave_package(token)
    out = <object>result
    Py_DECREF(out)
    return out


cdef bint argument_needs_tape(object x):
    """Whether an argument is an array that needs the tape, or a sequence that contains one."""
    if type(x) is Array:
        return needs_tape(<Array>x)
    if type(x) is tuple or type(x) is list:
        for item in x:
            if operand_needs_tape(item):
                return True
    return False

PRIMITIVES = {}
FUNCTIONS = {}      # all intercepted functions by their names
cdef Primitive matmul = None    # what the operator @ calls


def primitive(function, extension=""):
    """
    Decorator for functions of arrays that are written in Python: let the tape record their calls.

    The function itself never sees a tracked array. The tracer knows it by its name, or by a name like ``"linalg.inv"`` if it
    belongs to an extension; its gradient rules are in `stride0.autograd`.

    Parameters
    ----------
    function : callable
        A function that takes arrays, or lists and tuples of arrays.
    extension : str
        The namespace of the function, if it is not the main one.
    """
    cdef Primitive out = intercepted(function, extension)
    global matmul
    out.differentiable = True
    if out.traced_name == "matmul":
        matmul = out
    PRIMITIVES[out.traced_name] = out
    return out


def intercepted(function, extension=""):
    """
    Decorator: let strict mode and test configurations check the calls of a function that has no gradient.

    If an implementation is registered under the function's name, it runs instead: Note [Declarations].

    Parameters
    ----------
    function : callable
        A function of the namespace.
    extension : str
        The namespace of the function, if it is not the main one.
    """
    cdef str name = f"{extension}.{function.__name__}" if extension else function.__name__
    cdef Primitive out = Primitive(function, name, False)
    for attribute in ("__module__", "__name__", "__qualname__"):
        setattr(out, attribute, getattr(function, attribute))
    if out.implementation is NULL:
        out.__wrapped__ = function
    out.__annotations__ = function.__annotations__
    FUNCTIONS[name] = out
    return out


def shared_by_threads(value):
    """
    Never free an object: otherwise the threads of a free-threaded interpreter would contend for its reference count.

    Parameters
    ----------
    value : object
        A module, or a function of a module. With the GIL this does nothing.
    """
    s0_immortalize(<PyObject*>value)


def intercepted_in(str extension):
    """The decorator `intercepted` for the functions of an extension: ``@intercepted_in("fft")``."""
    return lambda function: intercepted(function, extension)


def primitive_in(str extension):
    """The decorator `primitive` for the functions of an extension: ``@primitive_in("linalg")``."""
    return lambda function: primitive(function, extension)

cdef Primitive _sample = Primitive(None, "", False)

s0_enable_vectorcall(Primitive, <char*>&_sample.vectorcall - <char*><PyObject*>_sample)
