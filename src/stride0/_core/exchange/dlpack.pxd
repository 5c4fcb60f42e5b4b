# DLPack: see `dlpack.pyx`.

from stride0._core.array.array cimport Array


cdef object export_dlpack(Array x, object stream, object max_version, object dl_device, object copy)
cdef Array import_dlpack(object x, object device, object copy, str operation)
