# DLPack: see `dlpack.pyx`.

from stride0._core.array.array cimport Array


cdef Array import_dlpack(object x, object device, object copy, str operation)
