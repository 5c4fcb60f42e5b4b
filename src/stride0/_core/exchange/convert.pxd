# Conversion to arrays: see `convert.pyx`.

from stride0._core.array.array cimport Array

cdef Array from_sequence(object source, int code, int depth)
