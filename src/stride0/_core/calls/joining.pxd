# Functions that write blocks to a new array: see `joining.pyx`.

from stride0._core.array.array cimport Array


cdef Array rolled(Array x, const Py_ssize_t* moves)
