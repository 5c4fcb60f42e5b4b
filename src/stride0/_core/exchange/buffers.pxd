# The buffer protocol: see `buffers.pyx`.

from stride0._core.array.array cimport Array
from stride0._core.memory.storage cimport Storage


cdef bint is_elsewhere(Array x) except -1
cdef int refuse_device(Array x, str operation) except -1
cdef Array exportable(Array x)
cdef Storage begin_export(Array x)
cdef int export_buffer(Array x, Py_buffer* buffer, int flags) except -1
cdef void set_foreign_storage(Array x, object owner, bint readonly)
cdef Array copy_unaligned(Array x)
cdef Array from_buffer(object source, str operation)
cdef Array from_plain_buffer(object source)
cdef bytes c_bytes(Array x)
