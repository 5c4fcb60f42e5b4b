# See `binding.pyx`.

cimport cython
from cpython.object cimport PyObject

from stride0._core.memory.dtype cimport DType
from stride0._core.array.modes cimport is_only_device
from stride0._core.array.array cimport Array

# Arguments of compiled functions: see `arguments.pxi`.

cdef extern from "Python.h":
    # Does not raise if the argument is an int.
    long long s0_value "PyLong_AsLongLongAndOverflow"(PyObject* x, int* overflow) noexcept

cdef enum:
    MAX_PARAMETERS = 8

# A compiled function of the namespace. `given` has a borrowed reference for each parameter of the declaration.
ctypedef object (*Implementation)(str name, PyObject** given)


cdef class Signature:
    cdef readonly tuple names
    cdef tuple defaults       # defaults of the last parameters
    # The names and defaults as borrowed references; NULL if there is no default.
    cdef PyObject* keys[MAX_PARAMETERS]
    cdef PyObject* fallback[MAX_PARAMETERS]
    cdef int count
    cdef int required         # number of parameters without a default
    cdef int positional_only
    cdef int positional       # number of parameters that may be given by position
    cdef bint variadic        # whether a parameter such as *arrays collects arguments in a tuple
    cdef int leading          # number of parameters before the variadic parameter
    cdef bint bind(self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** given) noexcept
    cdef bint set_alone(self, PyObject** given) noexcept
    cdef Py_ssize_t index_of(self, str name, Py_ssize_t first) noexcept


cdef inline bint bind(Signature signature, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** given) noexcept:
    """`Signature.bind`, with a fast path for calls without keyword arguments."""
    cdef int k
    if kwnames is not NULL or n < signature.required or n > signature.positional:
        return signature.bind(args, n, kwnames, given)
    for k in range(signature.count):
        given[k] = args[k] if k < n else signature.fallback[k]
    return True


# All integers up to this magnitude are exact in float64.
cdef Py_ssize_t EXACT

cdef bint read_float(PyObject* x, double* out, bint* is_float) except -1

cdef void implement(str name, Implementation implementation)
cdef Implementation implementation_of(str name) noexcept

cdef Array refuse_argument(object x, str operation, str name)
cdef int convert_axis(PyObject* x, int ndim, str operation) except -1
cdef int convert_axes(PyObject* x, int ndim, str operation, int* axes) except -1
cdef tuple axes_tuple(PyObject* x, int ndim, str operation)
cdef int shape_argument(PyObject* x, str operation, Py_ssize_t* out) except -1
cdef int read_sizes(tuple sizes, Py_ssize_t* out) except -1
cdef int check_total(str operation, int ndim, const Py_ssize_t* shape) except -1
cdef bint convert_flag(PyObject* x, str operation, str name) except -1
cdef int convert_dtype(PyObject* x, str operation) except -1
cdef int check_other_device(PyObject* x, str operation) except -1
cdef int refuse_complex(Array x, str operation, str name) except -1


cdef inline Array array_argument(PyObject* x, str operation, str name):
    """Check that an argument is an array."""
    return <Array>x if type(<object>x) is Array else refuse_argument(<object>x, operation, name)


cdef inline bint flag_argument(PyObject* x, str operation, str name) except -1:
    """Check that an argument is True or False."""
    return <object>x is True if <object>x is True or <object>x is False else convert_flag(x, operation, name)


cdef inline int axes_argument(PyObject* x, int ndim, str operation, int* axes) except -1:
    """Write distinct, non-negative axes in the given order to `axes`; return the number of axes. None means all axes."""
    return 1 if read_axis(x, ndim, axes) else convert_axes(x, ndim, operation, axes)


cdef inline int dtype_code_argument(PyObject* x, str operation, int default) except -1:
    """The code of a dtype. None gives `default`; a negative `default` means that None is not allowed."""
    if x is <PyObject*>None and default >= 0:
        return default
    return (<DType>x).code if type(<object>x) is DType else convert_dtype(x, operation)


cdef inline int check_device_argument(PyObject* x, str operation) except -1:
    return 0 if x is <PyObject*>None or is_only_device(<object>x) else check_other_device(x, operation)


cdef inline bint read_int(PyObject* x, Py_ssize_t* out) noexcept:
    """Write the value of a Python int to `out`; return False if `x` is of another type (even bool) or too large."""
    cdef int overflow = 0
    if x is NULL or type(<object>x) is not int:
        return False
    out[0] = s0_value(x, &overflow)
    return overflow == 0


cdef inline bint read_axis(PyObject* x, int ndim, int* out) noexcept:
    """Write an axis as a non-negative number to `out`; return False if `x` is not an int or is out of range for `ndim` axes."""
    cdef Py_ssize_t axis
    if not read_int(x, &axis) or axis < -ndim or axis >= ndim:
        return False
    out[0] = <int>(axis + ndim if axis < 0 else axis)
    return True


# Functions of the namespace: see `primitive.pxi`.

cdef extern from *:
    """
    static inline void s0_enable_vectorcall(PyObject *object, Py_ssize_t offset) {
        PyTypeObject *type = (PyTypeObject *)object;
        type->tp_vectorcall_offset = offset;
        type->tp_call = PyVectorcall_Call;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    #define s0_nargs(n) PyVectorcall_NARGS(n)
    """
    void s0_enable_vectorcall(object type, Py_ssize_t offset)
    Py_ssize_t s0_nargs(size_t nargsf) noexcept

cdef extern from "Python.h":
    PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL
    ctypedef PyObject* (*s0_vectorcall "vectorcallfunc")(PyObject*, PyObject* const*, size_t, PyObject*) except NULL


@cython.final
cdef class Primitive:
    cdef s0_vectorcall vectorcall
    cdef Implementation implementation   # NULL if the function is written in Python
    cdef readonly Signature signature
    cdef object function                 # the declaration
    cdef bint differentiable             # whether the tape has a gradient rule for the function, or a reason why there is no rule
    cdef readonly str traced_name
    cdef dict __dict__
    cdef PyObject* run(self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) except NULL


cdef object call_implementation(
    Implementation implementation, str name, Signature signature, object declaration, PyObject* const* args, Py_ssize_t n, PyObject* kwnames
)
cdef bint argument_needs_tape(object x)
