# Sorting: see `sort.pyx`.

from stride0._core.array.array cimport Array


cdef Array sorted_lanes(Array x, int axis, bint descending, bint indices)
cdef Array distinct_values(Array x)
cdef Array indices_in(Array among, Array wanted, bint right)
