# Conversions: see `convert.pyx`.

from stride0._core.array.array cimport Array

cdef object nested_lists(Array x)
