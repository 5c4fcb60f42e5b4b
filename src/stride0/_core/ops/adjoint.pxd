# Operations of backward passes: see `adjoint.pyx`.

from stride0._core.array.array cimport Array

cdef Array scaled(Array x, object factor)
cdef Array added(Array x1, Array x2)
cdef int add_at(Array x, key, Array values) except -1
cpdef Array sum_into(Array x, tuple shape)
cpdef Array dot_into(Array x1, Array x2, tuple shape)
