# Functions that write copies or blocks of an array to a new one: see `repeating.pyx`.

from stride0._core.array.array cimport Array


cdef Array rolled(Array x, const Py_ssize_t* moves)
