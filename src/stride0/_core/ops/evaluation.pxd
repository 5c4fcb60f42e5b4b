# Computing deferred results: see `evaluation.pyx`.

from stride0._core.array.array cimport Array
from stride0._core.memory.storage cimport Storage


cdef bint assign_pending(Array x, Array source) except -1
cdef bint store_result(Array result, Array x, Storage spared) except -1
cdef bint copy_pending(Array out, Array source) except -1
