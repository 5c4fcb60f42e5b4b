# How planned elementwise operations run: see `apply.pyx`.

from stride0._core.array.array cimport Array
from stride0._core.plan.table cimport Kernel

cdef int check_writable(Array out, str operation) except -1
cdef bint overlaps(Array out, Array x) except -1
cdef Array apply(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names)
