# Functions of the namespace: see `primitive.pyx`.

cimport cython
from cpython.object cimport PyObject

from stride0._core.calls.arguments cimport Implementation, Signature

cdef extern from "Python.h":
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
