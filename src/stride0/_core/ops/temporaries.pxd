# Temporary elision: see `temporaries.pyx`.

from cpython.object cimport PyObject

from stride0._core.array.array cimport Array
from stride0._core.memory.dtype cimport itemsize_at
from stride0._core.memory.guards cimport s0_has_references

cdef enum:
    ELISION_BYTES = 1 << 20


cdef inline bint may_elide(object x) noexcept:
    """Whether an operand of an operator may be elided, before the C stack is inspected."""
    return type(x) is Array and (<Array>x).size * itemsize_at((<Array>x).code) >= ELISION_BYTES and s0_has_references(<PyObject*>x, 1)


cdef object into_temporary(int op, object x1, object x2, str name)
cdef object into_argument(int op, object x, str name)
cdef object watch_function(object function)
