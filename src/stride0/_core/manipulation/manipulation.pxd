# See `manipulation.pyx`.

from stride0._core.array.array cimport Array

# Functions that write several arrays to a new one: see `joining.pxi`.


# Functions that write copies or blocks of an array to a new one: see `repeating.pxi`.

cdef Array rolled(Array x, const Py_ssize_t* moves)
