# Counts and interpolation: see `counts.pyx`.

from stride0._core.array.array cimport Array


cdef Py_ssize_t largest_place(Array places) except? -1
cpdef Array counted(Array places, Array weights, Py_ssize_t size)
cdef Array interpolated(Array x, Array points, Array values, Array before, Array behind)
cdef Array intervals_of(Array x, Array edges, double first, double last)
