# Elements moved along axes: see `manipulation.pyx`.

from stride0._core.array.array cimport Array

cdef Array rolled(Array x, const Py_ssize_t* shifts)
