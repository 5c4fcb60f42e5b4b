# Sorting: see `sort.pyx`.

from stride0._core.array.array cimport Array


cdef Array sorted_lanes(Array x, int axis, bint descending, bint indices)
cdef Array selected_lanes(Array x, int axis, Py_ssize_t first, Py_ssize_t last, bint descending, bint whole, bint indices=*)
cdef Array distinct_values(Array x)
cdef Array indices_in(Array among, Array wanted, bint right)
