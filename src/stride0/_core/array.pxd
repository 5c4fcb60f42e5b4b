# The array type in C: a strided view of a storage.

from stride0._core.plan cimport Operand
from stride0._core.storage cimport Storage


cdef class Array:
    cdef Storage storage
    cdef char* data           # the first element
    cdef Py_ssize_t size
    cdef int ndim
    cdef int code             # of the dtype
    cdef bint c_contiguous
    cdef Py_ssize_t* shape_   # ndim sizes
    cdef Py_ssize_t* strides_ # ndim steps in bytes, right behind the sizes
    cdef Py_ssize_t small[8]  # where both are kept for up to four axes
    cdef object __weakref__
