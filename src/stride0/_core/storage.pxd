# Reference-counted memory: what arrays are views of.

cdef class Storage:
    cdef char* data
    cdef Py_ssize_t nbytes
    cdef void* block
    cdef int bin
    cdef object owner
    cdef bint readonly
    cdef int device       # number of a virtual device; 0 is the CPU: see `doors.pxi`
    cdef object history  # None until gradients take an interest: see `tracing.pxi`


cdef Storage allocate_storage(Py_ssize_t nbytes, bint zeroed)
cdef Storage foreign_storage(char* data, Py_ssize_t nbytes, object owner, bint readonly)
