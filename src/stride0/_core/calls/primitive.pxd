# Functions of the namespace: see `primitive.pyx`.

cimport cython
from cpython.object cimport PyObject

from stride0._core.calls.arguments cimport Implementation, Signature

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
    cdef Implementation implementation   # NULL where the function is written in Python
    cdef readonly Signature signature
    cdef object function                 # the declaration
    cdef bint differentiable             # whether the tape has a rule for it, or a reason why not
    cdef readonly str traced_name
    cdef dict __dict__
    cdef PyObject* run(self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) except NULL


cdef object call_implementation(
    Implementation implementation, str name, Signature signature, object declaration, PyObject* const* args, Py_ssize_t n, PyObject* kwnames
)
cdef bint argument_needs_tape(object x)
